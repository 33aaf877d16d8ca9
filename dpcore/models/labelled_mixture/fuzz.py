"""The ways in which the fuzzer fits labelled mixtures."""

from __future__ import annotations

from functools import partial

from dpcore.fuzzing.ways import ALL, LABEL, Way

_Release = partial(Way, needs=LABEL, steps=False)

WAYS = (
    _Release({"method": "staged"}, ALL, grid=True),
    _Release({"method": "auto"}, ALL),
    _Release({"method": "pooled"}, ALL, grid=True),
    _Release({"method": "gaussian"}, ALL, grid=True),
    _Release({"method": "laplace"}, ALL),
    _Release({"method": "public_features"}, ("label",), grid=True),
    _Release({"method": "mte"}, ("label",)),
    _Release({"method": "colored"}, ("label",)),
)
