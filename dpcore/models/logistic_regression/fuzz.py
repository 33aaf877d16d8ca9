"""The ways in which the fuzzer fits logistic regressions."""

from __future__ import annotations

from functools import partial

from dpcore.fuzzing.ways import REPLACED, ROWS, YES, Way

_Yes = partial(Way, needs=YES, steps=False)

WAYS = (
    _Yes({}, (*ROWS, "label"), grid=True),
    _Yes({"algorithm": "objective"}, (*ROWS, "label"), budget=True),
    _Yes({"algorithm": "vb", "iterations": 2}, grid=True),
    _Yes({"algorithm": "vips", "rate": 1.0, "iterations": 2}, grid=True),
    _Yes({"algorithm": "vips", "rate": 0.4, "iterations": 3}, sampled=True),
    _Yes({"algorithm": "vips", "minibatch": 4, "iterations": 3}, REPLACED, sampled=True),
    _Yes({"algorithm": "dpvi", "rate": 1.0, "iterations": 2}),
    _Yes({"algorithm": "dpvi", "rate": 0.4, "iterations": 3}, sampled=True),
)
