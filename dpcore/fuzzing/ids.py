"""Ids at random: the same person, spelled in all ways that mean the same."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpcore.fuzzing.cells import pick
from dpcore.schema import MISSING_TOKENS, Column

COLUMN = Column("who", role="id", type="text")
NUMBERS = ("int64", "int64?", "float64", "float64?")
TEXTS = ("string", "string?", "dictionary")


def storage(rng: np.random.Generator, kind: str) -> str:
    """How the column of ids is stored in a kind of table."""
    if kind == "records":
        return "object"
    if kind not in (".parquet", "frame"):
        return "text"
    fits = (*NUMBERS, *TEXTS, "object") if kind == "frame" else (*NUMBERS, *TEXTS)
    return pick(rng, fits)


def base(rng: np.random.Generator) -> int:
    """The first of some ids in a row."""
    return int(rng.choice([1, 90, 10**12]))


def spelled(rng: np.random.Generator, person: int | None, stored: str) -> Any:
    """The cell of a person with that number, who keeps it however it is spelled; or of nobody.

    Every third person has a word for an id, where the column takes words.
    """
    kind = stored.removesuffix("?")
    if kind in ("int64", "float64"):
        if person is None:
            return None if kind != stored else math.nan if kind == "float64" else 0
        return float(person) if kind == "float64" else person
    if person is None:
        return None if kind == "object" else pick(rng, MISSING_TOKENS)
    if person % 3 == 0:
        return pick(rng, (f"p{person}", f" p{person}", f"p{person}  "))
    if kind == "object" and rng.random() < 0.5:
        return float(person) if rng.random() < 0.5 else person
    spellings = (str(person), f"0{person}", f"{person}.0", f" {person}", f"+{person}")
    return pick(rng, (*spellings, f"{person}.000e0"))
