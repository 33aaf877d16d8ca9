"""The ways in which the fuzzer narrows limits."""

from __future__ import annotations

from dpcore.fuzzing.ways import Way

WAYS = (Way({}, grid=True, blocks=True, steps=False, most=1),)
