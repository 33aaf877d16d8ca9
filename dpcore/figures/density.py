"""A density in the plane of two columns, as filled contours.

A layer of `dpcore.figures.scene`. Levels are those of highest-density regions, so a tone means the
same share of a fit's people wherever the groups lie.

Source: Hyndman (1996), "Computing and graphing highest density regions".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from dpcore.arrays import Array
from dpcore.errors import InputError

HELD = (0.95, 0.8, 0.6, 0.4, 0.2)
"""Shares of the probability inside each contour of :func:`levels_of`, outermost first."""
CELLS = 160  # along each axis, of the grid on which levels are read


@dataclass(frozen=True, eq=False)
class Density:
    """Gaussian groups ``params`` (S or 1, 1, K, 6) as one density, in tones between ``levels``.

    The six numbers are those of :class:`dpcore.figures.layers.Ellipses`. levels: densities in data
    units, lowest first.A step with NaN is not drawn.
    """

    kind: ClassVar[str] = "density"
    params: ArrayLike
    levels: tuple[float, ...]
    names: tuple[str, ...]
    colour: int = 0
    style: str = "bold"

    def __post_init__(self) -> None:
        params = np.asarray(self.params, dtype=float)
        object.__setattr__(self, "params", params)
        if params.ndim != 4 or params.shape[3] != 6 or list(self.levels) != sorted(self.levels):
            raise InputError(
                "density",
                "params do not have six numbers per group, or the levels are not in order",
                "give params of shape (steps or 1, 1, K, 6), and levels from low to high",
            )

    def values(self, step: int, x: Array, y: Array) -> Array:
        """The density ``(len(y), len(x))`` at a step; NaN where there is no fit."""
        params = np.asarray(self.params)
        return density(params[step if len(params) > 1 else 0, 0], x, y)


def density(params: Array, x: Array, y: Array) -> Array:
    """Density ``(len(y), len(x))`` of Gaussian groups ``params`` (K, 6) on a grid."""
    total = np.zeros((len(y), len(x)))
    for mean_x, mean_y, xx, xy, yy, weight in params:
        across, up = x[None] - mean_x, y[:, None] - mean_y
        size = xx * yy - xy * xy
        square = (yy * across**2 - 2.0 * xy * across * up + xx * up**2) / size
        total += weight * np.exp(-0.5 * square) / (2.0 * np.pi * np.sqrt(size))
    return total


def levels_of(params: Array, x: tuple[float, float], y: tuple[float, float]) -> tuple[float, ...]:
    """The densities whose regions hold :data:`HELD` of what groups ``params`` (K, 6) put into a
    window, lowest first.

    >>> one = np.array([[0.0, 0.0, 1.0, 0.0, 1.0, 1.0]])
    >>> [round(2.0 * np.pi * level, 2) for level in levels_of(one, (-5.0, 5.0), (-5.0, 5.0))]
    [0.05, 0.2, 0.4, 0.6, 0.8]
    """
    heights = np.sort(density(params, *(np.linspace(*ends, CELLS) for ends in (x, y))), axis=None)
    inside = np.cumsum(heights[::-1]) / heights.sum()
    places = np.searchsorted(inside, HELD)
    return tuple(float(level) for level in heights[::-1][np.minimum(places, heights.size - 1)])
