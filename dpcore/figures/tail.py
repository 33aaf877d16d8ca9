"""The tail of a privacy-loss distribution beyond a line that a hand can drag.

A layer of `dpcore.figures.scene`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, eq=False)
class Tail:
    """The density ``y`` over losses ``x``, each (S, m), shaded beyond epsilon with the weight
    1 - e^(epsilon - loss); the shaded area is delta.

    epsilons (n,): where the line may stand. deltas (S, n): what each of them has, an upper bound.
    start (S,): where it stands until a hand moves it; NaN: nowhere.
    """

    kind: ClassVar[str] = "tail"
    x: ArrayLike
    y: ArrayLike
    epsilons: ArrayLike
    deltas: ArrayLike
    start: ArrayLike
    name: str = "delta at epsilon"
    colour: int = 1

    def __post_init__(self) -> None:
        for name in ("x", "y", "epsilons", "deltas", "start"):
            object.__setattr__(self, name, np.asarray(getattr(self, name), dtype=float))


def shaded(
    losses: NDArray[np.float64], density: NDArray[np.float64], epsilon: float
) -> NDArray[np.float64]:
    """The density times 1 - e^(epsilon - loss), 0 up to epsilon; all ``(m,)``.

    >>> shaded(np.array([0.0, 1.0, 2.0]), np.ones(3), 1.0).round(3)
    array([0.   , 0.   , 0.632])
    """
    return np.asarray(density * np.maximum(-np.expm1(epsilon - losses), 0.0))
