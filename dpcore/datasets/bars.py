"""The bars: simulated documents whose ten topics are the rows and columns of a small picture.

Griffiths, Steyvers 2004, "Finding scientific topics", Figure 1. A word is a pixel; a topic puts the
same probability on the five pixels of one bar, so a topic found is seen at a glance.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpcore.arrays import Array
from dpcore.checks import whole

SIDE = 5
TOKENS = 100  # words of a document
SPARSE = 0.1  # concentration of its mix
WORDS = tuple(f"row{row}column{column}" for row in range(SIDE) for column in range(SIDE))


def bars() -> Array:
    """The true topics ``(10, 25)``: five rows, then five columns.

    >>> bars()[0, :6].tolist()
    [0.2, 0.2, 0.2, 0.2, 0.2, 0.0]
    """
    pictures = np.zeros((2 * SIDE, SIDE, SIDE))
    for at in range(SIDE):
        pictures[at, at] = pictures[SIDE + at, :, at] = 1.0 / SIDE
    return pictures.reshape(2 * SIDE, -1)


def bar_documents(count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Counts of the words ``(count, 25)`` of simulated documents, each of a few bars.

    >>> bar_documents(2, np.random.default_rng(0)).sum(axis=1)
    array([100, 100])
    """
    mixes = rng.dirichlet(np.full(2 * SIDE, SPARSE), size=whole("documents", count))
    return np.asarray(rng.multinomial(TOKENS, mixes @ bars()))
