"""The ways in which the fuzzer fits means."""

from __future__ import annotations

from functools import partial

from dpcore.fuzzing.ways import ONE, Way

_Once = partial(Way, steps=False)

WAYS = (
    _Once({"rows": 30}, grid=True),
    _Once({"rows": 30, "method": "improved"}),
    _Once({"trust": "local"}, ONE),
    _Once({"trust": "local", "method": "improved"}, ONE),
    _Once({"trust": "local_onebit"}, ONE, budget=True),
)
