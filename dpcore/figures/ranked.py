"""Lists of words, the likeliest first: each word on a bar, and what both fits list is marked.

A layer of `dpcore.figures.scene`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

ACROSS = 5  # lists side by side


@dataclass(frozen=True, eq=False)
class Ranked:
    """Lists ``words`` (S or 1, K, T) as places in a ``vocabulary``, with a bar for each value.

    values ``(S or 1, K, T)``; NaN: the list is not drawn. marked ``(S or 1, K, T)``: whether a word
    is in the other fit's list too. names: one a list. notes: a word beside each name, (K,), or
    (S, K) when they move. limits ``(K,)``: the value whose bar fills its column, list by list.
    label: what a value is. exact ``(S, K, T)``: what the other fit gives to each word, as outlines;
    words that it does not list are struck through.
    """

    kind: ClassVar[str] = "ranked"
    vocabulary: tuple[str, ...]
    words: ArrayLike
    values: ArrayLike
    marked: ArrayLike
    names: tuple[str, ...]
    notes: tuple[Any, ...]
    limits: tuple[float, ...]
    label: str
    exact: ArrayLike | None = None

    @property
    def across(self) -> int:
        """Lists side by side."""
        return min(len(self.names), ACROSS)

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready data; numbers with three digits."""
        values = np.asarray(self.values, dtype=float)
        rounded = np.where(np.isfinite(values), np.round(values, 5), None)  # type: ignore[call-overload]
        return {
            "vocabulary": self.vocabulary,
            "words": np.asarray(self.words).tolist(),
            "values": rounded.tolist(),
            "marked": np.asarray(self.marked).astype(int).tolist(),
            "names": self.names,
            "notes": self.notes,
            "limits": self.limits,
            "label": self.label,
            "exact": None
            if self.exact is None
            else np.round(np.asarray(self.exact, float), 5).tolist(),
            "across": self.across,
        }
