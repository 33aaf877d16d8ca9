"""Simulated rows with a class each: the synthetic setting of the labelled release, and profiles.

Liu, Scaglione, Peisert 2025 draw K classes in d dimensions with random sizes, means and shapes;
their numbers are not printed, so these are chosen to give a like spread of class sizes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpcore.arrays import Array
from dpcore.checks import whole
from dpcore.datasets.generators import Mixture, gaussian_mixture
from dpcore.schema import Ball, Column, Schema
from dpcore.wall.table import PrivateTable

if TYPE_CHECKING:
    import pandas as pd

REACH = 1.5  # radius of the public ball, in that of the rows: a stand-in for public knowledge


def labelled_classes(
    n: int, classes: int, d: int, rng: np.random.Generator
) -> tuple[Array, NDArray[np.int64], Mixture]:
    """Rows ``(n, d)``, their classes and the truth.

    Sizes are a draw from a Dirichlet law of concentration 5, so some classes are small, but of
    ``d + 2`` rows at least; means are uniform in a cube of side 12; shapes are Wishart draws.

    >>> rows, kinds, truth = labelled_classes(100, 5, 3, np.random.default_rng(0))
    >>> rows.shape, bool(np.bincount(kinds).min() >= 5)
    ((100, 3), True)
    """
    count, dim = whole("classes", classes), whole("d", d)
    weights = rng.dirichlet(np.full(count, 5.0))
    means = rng.uniform(-6.0, 6.0, (count, dim))
    factors = rng.standard_normal((count, dim, dim + 2))
    shapes = factors @ np.swapaxes(factors, 1, 2) / (dim + 2)
    while True:
        rows, kinds = gaussian_mixture(whole("n", n), weights, means, shapes, rng)
        if np.bincount(kinds, minlength=count).min() >= dim + 2:
            return rows, kinds, Mixture(weights, means, shapes)


def labelled_frame(rows: Array, kinds: NDArray[np.integer]) -> tuple[pd.DataFrame, Schema]:
    """A table of simulated rows ``(n, d)`` and its schema, whose ball is wider than the rows.

    Columns ``x1`` ... and ``kind`` with categories ``"0"`` ... .
    """
    import pandas as pd

    names = [f"x{i + 1}" for i in range(rows.shape[1])]
    frame = pd.DataFrame(rows, columns=names)
    categories = tuple(str(k) for k in range(int(kinds.max()) + 1))
    frame["kind"] = [str(kind) for kind in kinds]
    center = rows.mean(axis=0)
    reach = REACH * float(np.linalg.norm(rows - center, axis=1).max())
    label = Column("kind", role="label", type="category", categories=categories)
    columns = (*(Column(name) for name in names), label)
    return frame, Schema(columns, ball=Ball(tuple(center.tolist()), reach))


def labelled_table(rows: Array, kinds: NDArray[np.integer]) -> PrivateTable:
    """Simulated rows ``(n, d)`` of the classes ``(n,)`` behind the wall, open to all."""
    frame, schema = labelled_frame(rows, kinds)
    return PrivateTable.seal(frame, schema, open_to_all=True)
