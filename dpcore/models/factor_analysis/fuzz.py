"""The ways in which the fuzzer fits factor analysis."""

from __future__ import annotations

from dpcore.fuzzing.ways import Way

WAYS = (Way({"iterations": 5}, grid=True, blocks=True, most=1),)
