"""The ways in which the fuzzer fits topics."""

from __future__ import annotations

from functools import partial

import numpy as np

from dpcore.fuzzing.ways import REPLACED, Way


def _length(rng: np.random.Generator) -> int:
    return int(rng.choice([1, 10, 500]))


_Topics = partial(Way, drawn={"length": _length})

WAYS = (
    _Topics({"rate": 1.0}),
    _Topics({"rate": 0.4}, sampled=True),
    _Topics({"minibatch": 3}, REPLACED, sampled=True),
    _Topics({"rate": 1.0, "keep": 2}),
)
