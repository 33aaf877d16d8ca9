"""Columns that stand on an axis, each with a shorter one inside, of which one can be picked.

A layer of `dpcore.figures.scene`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from numpy.typing import ArrayLike


@dataclass(frozen=True, eq=False)
class Columns:
    """Columns at ``x`` (B,), ``values`` (B,) high, with ``inner`` (B,) inside; the same at every
    step of a slider.

    names: a sentence for each, for readouts and tables. pick: what the app reads a picked one
    under; empty: none can be picked.
    """

    kind: ClassVar[str] = "columns"
    x: ArrayLike
    values: ArrayLike
    inner: ArrayLike
    names: tuple[str, ...]
    pick: str = ""
