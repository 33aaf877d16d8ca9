"""The ways in which the fuzzer fits means."""

from __future__ import annotations

from functools import partial

from dpcore.fuzzing.ways import REPLACED, Way

_Once = partial(Way, steps=False)

WAYS = (
    _Once({"rows": 30}, grid=True),
    _Once({"rows": 30, "method": "improved"}),
    _Once({"trust": "local"}, REPLACED),
    _Once({"trust": "local", "method": "improved"}, REPLACED),
    _Once({"trust": "local_onebit"}, REPLACED, budget=True),
)
