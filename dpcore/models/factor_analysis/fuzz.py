"""The ways in which the fuzzer fits factor analysis and probabilistic PCA."""

from __future__ import annotations

from dpcore.fuzzing.ways import Way

FACTOR_ANALYSIS = (Way({"iterations": 5}, grid=True, blocks=True, most=1),)
PROBABILISTIC_PCA = (Way({}, grid=True, blocks=True, steps=False, most=1),)
