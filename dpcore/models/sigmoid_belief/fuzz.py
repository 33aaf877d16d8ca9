"""The ways in which the fuzzer fits belief networks."""

from __future__ import annotations

from dpcore.fuzzing.ways import REPLACED, Way

WAYS = (
    Way({"rate": 1.0}, grid=True),
    Way({"rate": 0.4}, sampled=True),
    Way({"minibatch": 3}, REPLACED, sampled=True),
)
