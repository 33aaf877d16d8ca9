"""Ways to fit a model, as its ``fuzz.py`` lists them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpcore.fuzzing.schemas import Needs

ROWS = ("replace_one", "add_remove")
ALL = ("replace_one", "add_remove", "label", "feature")
REPLACED = ("replace_one",)
LABEL, YES, NUMBER = Needs("label"), Needs("yes"), Needs("number", own=True)
PLAIN, OWN, GAPS = Needs(), Needs(own=True), Needs("number", own=True, gaps=True)


@dataclass(frozen=True)
class Way:
    """A way to fit a model: its own words, whom it can protect, and what rows it needs.

    drawn: further words, each drawn at random. steps: it takes as many as are drawn. most: parts.
    grid: it can be a release, whose sums and noise are whole numbers. blocks: its rows may be read
    in blocks. budget: it takes an epsilon and no noise multiplier, composed by ``linear``. sampled:
    its steps draw samples, whose composition is proved for one row a person.
    """

    words: dict[str, Any] = field(default_factory=dict)
    adjacencies: tuple[str, ...] = ROWS
    needs: Needs = PLAIN
    grid: bool = False
    blocks: bool = False
    budget: bool = False
    sampled: bool = False
    steps: bool = True
    most: int = 3
    drawn: Mapping[str, Callable[[np.random.Generator], Any]] = field(default_factory=dict)
