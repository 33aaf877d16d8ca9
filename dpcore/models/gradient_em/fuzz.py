"""The ways in which the fuzzer fits the three gradient models."""

from __future__ import annotations

from functools import partial

import numpy as np

from dpcore.fuzzing.schemas import Needs
from dpcore.fuzzing.ways import GAPS, NUMBER, OWN, REPLACED, Way


def _sigma(rng: np.random.Generator) -> float:
    return float(10.0 ** rng.uniform(-1.0, 1.0))


_Cloud = partial(Way, drawn={"sigma": _sigma})

SYMMETRIC_MIXTURE = (
    _Cloud({"algorithm": "clipped"}, needs=OWN, grid=True),
    _Cloud({"algorithm": "robust"}, needs=OWN, grid=True),
    _Cloud({"algorithm": "clipped", "split": True}, needs=OWN),
    _Cloud({"algorithm": "clipped", "own": False}),
    _Cloud({"trust": "local"}, REPLACED, needs=OWN),
)
MIXTURE_REGRESSION = (
    Way({"algorithm": "clipped"}, needs=NUMBER, grid=True),
    Way({"algorithm": "robust"}, needs=NUMBER, grid=True),
    Way({"algorithm": "robust", "split": True}, needs=NUMBER),
    Way({"algorithm": "clipped", "own": False}, needs=Needs("number")),
)
MISSING_REGRESSION = (
    Way({"algorithm": "clipped"}, needs=GAPS, grid=True),
    Way({"algorithm": "robust", "missing_rate": 0.2}, needs=GAPS),
    Way({"algorithm": "robust", "split": True}, needs=GAPS),
    Way({"algorithm": "clipped", "own": False}, needs=Needs("number", gaps=True)),
)
