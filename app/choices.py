"""Settings that few models have: an option of :func:`dpcore.fit` each, asked for and linked."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from app.links import read, written
from app.models import GRADIENT, MIRRORED, SAMPLED


@dataclass(frozen=True)
class Choice:
    """A setting that few models have: an option of :func:`dpcore.fit`, and how to ask for it.

    usual: from the other settings and the number of columns, what it is unless said. low, high,
    step, form: of its box; a choice without them is between two. methods: with which it is offered;
    empty: with all.
    """

    label: str
    help: str
    models: tuple[str, ...]
    usual: Callable[[Mapping[str, Any], int], Any]
    low: float = 0.0
    high: float = 1.0
    step: float = 1.0
    form: str = ""
    methods: tuple[str, ...] = ()
    whole: bool = False

    def suits(self, model: str, method: str) -> bool:
        """Whether it is offered."""
        return model in self.models and (not self.methods or method in self.methods)

    def read(self, text: str) -> Any:
        """What a link says, or ``None`` where that cannot be."""
        if not self.form:
            return {"0": False, "1": True}.get(text)
        value = read(0 if self.whole else 0.0, text)
        return value if value is not None and self.low <= value <= self.high else None


def _tau(known: Mapping[str, Any]) -> float:
    return float(known.get("tau", 4.0 * known.get("sigma", 1.0) ** 2))


CHOICES = {
    "sigma": Choice(
        "Noise level of the model",
        "How far rows lie from a cloud or a line. The model takes it as known, so it must be known "
        "from elsewhere, never from these rows.",
        GRADIENT, lambda known, columns: 1.0, 0.001, 1e6, 0.5, "%.4g",
    ),
    "tau": Choice(
        "Public bound on a gradient's mean square",
        "How strongly one row may pull at one coefficient, squared and on average; 4 times the "
        "squared noise level unless you know better. A wrong one hurts the fit, never privacy.",
        GRADIENT, lambda known, columns: _tau(known), 1e-6, 1e12, 1.0, "%.4g",
    ),
    "threshold": Choice(
        "Longest pull that counts fully",
        "A row that pulls harder at the coefficients is drawn in to this length: less noise is "
        "needed, but strong pulls count less.",
        GRADIENT, lambda known, columns: math.sqrt(columns * _tau(known)), 1e-6, 1e6, 1.0, "%.4g",
        ("recommended",),
    ),
    "missing_rate": Choice(
        "Share of the answers to hide on top",
        "A coin that reads no answer hides so many of those that are there.",
        GRADIENT[2:], lambda known, columns: 0.0, 0.0, 0.9, 0.05, "%.2f",
    ),
    "start": Choice(
        "Start",
        "Which of the public random starts: none of them knows the rows.",
        MIRRORED, lambda known, columns: 0, 0, 999, 1, "%d", whole=True,
    ),
    "start_norm": Choice(
        "How far from 0 it starts",
        "Gradient EM finds the answer only from a start that is near enough, and not too near 0.",
        MIRRORED, lambda known, columns: float(known.get("sigma", 1.0)), 1e-3, 1e6, 0.5, "%.4g",
    ),
    "rate": Choice(
        "Share of the data in a step",
        "Below 1 each step reads a secret sample: less noise a step, but less to learn from. "
        "Samples take up to half a minute to count.",
        SAMPLED, lambda known, columns: 0.25, 0.01, 1.0, 0.05, "%.2f",
    ),
    "length": Choice(
        "Words that a document stands for",
        "Every document counts as so many words, however long it is.",
        SAMPLED[:1], lambda known, columns: 500, 1, 100_000, 50, "%d", whole=True,
    ),
    "forgetting": Choice(
        "How fast earlier steps are forgotten",
        "Small: each step begins almost anew. Large: steps are averaged, which evens out noise.",
        SAMPLED, lambda known, columns: 0.6, 0.01, 1.0, 0.1, "%.2f",
    ),
    "own": Choice(
        "Measured in the columns' own units, about 0",
        "Otherwise in shares of the limits, about their middle.",
        GRADIENT, lambda known, columns: True,
    ),
}  # fmt: skip


def read_words(text: str) -> dict[str, Any]:
    """Options written ``name:value;name:value``, in one order; others are left out.

    >>> read_words("tau:9;sigma:1.5;rate:x;own:0")
    {'sigma': 1.5, 'tau': 9.0, 'own': False}
    """
    given = dict(part.split(":", 1) for part in text.split(";") if ":" in part)
    read = {name: one.read(given[name]) for name, one in CHOICES.items() if name in given}
    return {name: value for name, value in read.items() if value is not None}


def write_words(words: Mapping[str, Any]) -> str:
    """The same back as text.

    >>> write_words({"sigma": 1.5, "own": False})
    'sigma:1.5;own:0'
    """
    return ";".join(f"{name}:{written(words[name])}" for name in CHOICES if name in words)
