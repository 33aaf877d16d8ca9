"""The ways in which the fuzzer fits k-means."""

from __future__ import annotations

from dpcore.fuzzing.ways import Way

WAYS = (
    Way({}, grid=True, blocks=True),
    Way({"algorithm": "dplloyd"}, blocks=True),
)
