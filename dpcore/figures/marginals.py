"""Columns of a table one below another: the density of Gaussian groups over a histogram of each;
of one column on the axes of its panel.

A layer of `dpcore.figures.scene`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from dpcore.arrays import Array
from dpcore.errors import InputError

BINS = 24  # of a histogram
POINTS = 97  # of a curve
TALL = 0.8  # of a row that its highest curve fills


@dataclass(frozen=True, eq=False)
class Marginals:
    """Densities of K groups in d columns, all draws of a step; draw 0 is bold, the others faint.

    weights ``(S or 1, D, K)``; means and sds ``(S or 1, D, K, d)``, in own units; NaN: not drawn.
    ranges ``(d, 2)``: what the axis of each column holds. tops ``(d,)``: the density that fills a
    row. bars ``(d, B)``: heights of a histogram with B equal bins over each range; empty: none.
    names: of the columns, with their units. style: "bold", or "outline" for a reference. on_axes:
    of one column, whose values and densities are those of the panel's axes. days: columns whose
    numbers are days since 1970-01-01, and are read as dates [none].
    """

    kind: ClassVar[str] = "marginals"
    weights: ArrayLike
    means: ArrayLike
    sds: ArrayLike
    ranges: ArrayLike
    tops: ArrayLike
    names: tuple[str, ...]
    bars: ArrayLike = ()
    style: str = "bold"
    on_axes: bool = False
    days: tuple[bool, ...] = ()

    def __post_init__(self) -> None:
        for name in ("weights", "means", "sds", "ranges", "tops", "bars"):
            object.__setattr__(self, name, np.asarray(getattr(self, name), dtype=float))
        means, count = np.shape(self.means), len(self.names)
        object.__setattr__(self, "days", self.days or (False,) * count)
        if (
            len(means) != 4
            or np.shape(self.sds) != means
            or np.shape(self.weights) != means[:3]
            or not means[3] == len(np.asarray(self.ranges)) == np.size(self.tops) == count
        ):
            raise InputError(
                "marginals",
                "weights, means, sds and names do not match",
                "give shapes (S, D, K), (S, D, K, d), (S, D, K, d) and (d,)",
            )

    def curves(self, step: int) -> Iterator[tuple[Array, Array, str]]:
        """Lines ``x``, ``y`` (m,) of a step with what each is (``"bars"``, ``"bold"``, ``"ghost"``
        or ``"outline"``): on the panel's axes, or x as a share of each column's range, columns from
        the top down."""
        ranges, tops, bars = map(np.asarray, (self.ranges, self.tops, self.bars))
        weights, means, sds = (
            np.asarray(array)[step if len(np.asarray(array)) > 1 else 0]
            for array in (self.weights, self.means, self.sds)
        )
        for row, (low, high) in enumerate(ranges):
            foot, scale = len(ranges) - 1.0 - row, TALL / tops[row]
            lines: list[tuple[Array, Array, str]] = []
            if bars.size:
                edges = np.repeat(np.linspace(low, high, bars.shape[1] + 1), 2)
                lines.append(
                    (edges, np.concatenate([[0.0], np.repeat(bars[row], 2), [0.0]]), "bars")
                )
            x = np.linspace(low, high, POINTS)
            for draw in range(len(means)):
                y = mixed(weights[draw], means[draw, :, row], sds[draw, :, row], x)
                lines.append((x, y, "ghost" if draw else self.style))
            for x, y, kind in lines:
                if self.on_axes:
                    yield x, y, kind
                else:
                    yield (x - low) / (high - low), foot + np.minimum(scale * y, 1.0), kind


def mixed(weights: Array, means: Array, sds: Array, x: Array) -> Array:
    """Density of Gaussian groups (K,) at ``x`` (m,)."""
    z = (x[:, None] - means) / sds
    return np.asarray(np.exp(-0.5 * z**2) @ (weights / (sds * np.sqrt(2.0 * np.pi))))


def histograms(rows: Array, ranges: Array) -> Array:
    """Heights ``(d, BINS)`` of histograms of rows ``(n, d)`` over ranges ``(d, 2)``, as densities
    of all rows: what lies outside a range is in no bar."""
    heights = []
    for cells, (low, high) in zip(rows.T, ranges, strict=True):
        counts, _ = np.histogram(cells, BINS, (low, high))
        heights.append(counts * (BINS / (high - low) / max(np.isfinite(cells).sum(), 1)))
    return np.array(heights)
