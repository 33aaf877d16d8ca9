"""The ways in which the fuzzer fits Gaussian mixtures."""

from __future__ import annotations

from dpcore.fuzzing.ways import Way

WAYS = (
    Way({"covariance": "full"}, grid=True, blocks=True),
    Way({"covariance": "diag"}, grid=True, blocks=True),
    Way({"covariance": "spherical", "prior": "map"}, grid=True, blocks=True),
    Way({"combination": "LLG"}, blocks=True),
)
