"""Simulated tables whose truth is known: what a fit finds can be compared with what was put in.

Every function takes the numpy Generator of its public draws, so one seed gives one table. The
shapes follow Park, Foulds, Chaudhuri and Welling, DP-EM (AISTATS 2017), section 5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpcore.arrays import Array, Indices
from dpcore.checks import whole
from dpcore.declaration import World
from dpcore.errors import InputError
from dpcore.schema import NumericColumn, Schema

if TYPE_CHECKING:
    import pandas as pd


ROOTS = 1 << 20  # numbers in the roots that rows are drawn with at a time
TOPICS, TOKENS, SPARSE = 10, 100, 0.1  # of stand-in documents
EASY = World()


@dataclass(frozen=True)
class Mixture:
    """What a table was simulated from: weights ``(K,)``, means ``(K, d)``, covariances."""

    weights: Array
    means: Array
    covariances: Array


def gaussian_mixture(
    n: int,
    weights: ArrayLike,
    means: ArrayLike,
    covariances: ArrayLike,
    rng: np.random.Generator,
) -> tuple[Array, NDArray[np.int64]]:
    """n draws ``(n, d)`` from a Gaussian mixture, and the component ``(n,)`` of each.

    weights ``(K,)`` are scaled to sum to 1; means ``(K, d)``; covariances ``(K, d, d)``.

    Raises InputError on shapes that do not fit or a covariance that is not positive definite.

    >>> rng = np.random.default_rng(0)
    >>> rows, group = gaussian_mixture(4, [1, 1], [[0.0], [9.0]], [[[1.0]]] * 2, rng)
    >>> rows.shape, group.shape
    ((4, 1), (4,))
    """
    truth = _checked(weights, means, covariances)
    count = whole("n", n, least=0)
    group = rng.choice(len(truth.weights), size=count, p=truth.weights)
    standard = rng.standard_normal((count, truth.means.shape[1]))
    roots = np.linalg.cholesky(truth.covariances)
    rows, at_once = truth.means[group], 1 + ROOTS // (1 + truth.means.shape[1] ** 2)
    for start in range(0, count, at_once):  # a root for every row would take n d^2 numbers
        some = slice(start, start + at_once)
        rows[some] += np.einsum("nij,nj->ni", roots[group[some]], standard[some])
    return rows, group.astype(np.int64)


def stroke_like(
    n: int = 50_000,
    d: int = 100,
    components: int = 10,
    *,
    decay: float = 0.5,
    between: float = 1 / 3,
    rng: np.random.Generator,
) -> tuple[Array, NDArray[np.int64], Mixture]:
    """A wide table like the leading principal components of a patient file, with its truth.

    Column standard deviations fall as the column's number to the power ``-decay``, as those of
    principal components do; the share ``between`` of the variance lies between the groups.
    """
    count = whole("components", components)
    scales = np.arange(1, whole("d", d) + 1) ** -decay
    weights = rng.dirichlet(np.full(count, 5.0))
    means = rng.standard_normal((count, d)) * scales * np.sqrt(between)
    covariances = np.stack([_tilted(scales * np.sqrt(1 - between), rng) for _ in range(count)])
    rows = np.empty((whole("n", n), d))
    group = rng.choice(count, size=n, p=weights).astype(np.int64)
    for k in range(count):  # a root for every row would take n d^2 numbers
        members = group == k
        standard = rng.standard_normal((int(members.sum()), d))
        rows[members] = means[k] + standard @ np.linalg.cholesky(covariances[k]).T
    return rows, group, Mixture(weights, means, covariances)


def covariance_2d(sd_x: float, sd_y: float, correlation: float) -> Array:
    """The covariance ``(2, 2)`` with these standard deviations and this correlation.

    >>> covariance_2d(2, 1, 0.5).tolist()
    [[4.0, 1.0], [1.0, 1.0]]
    """
    across = correlation * sd_x * sd_y
    return np.array([[sd_x**2, across], [across, sd_y**2]], dtype=float)


def _tilted(scales: Array, rng: np.random.Generator, share: float = 0.3) -> Array:
    """A random covariance with the given scales ``(d,)``: a low-rank part, which has a share of the
    variance, and a diagonal rest."""
    rank = max(1, len(scales) // 10)
    loadings = rng.standard_normal((len(scales), rank)) / np.sqrt(rank)
    common = share * loadings @ loadings.T + (1.0 - share) * np.eye(len(scales))
    spread = np.sqrt(np.diag(common))
    return np.asarray(common / np.outer(spread, spread) * np.outer(scales, scales))


def _checked(weights: ArrayLike, means: ArrayLike, covariances: ArrayLike) -> Mixture:
    """The three arrays, if they describe one mixture."""
    w, m, c = (np.asarray(part, dtype=float) for part in (weights, means, covariances))
    if w.ndim != 1 or m.ndim != 2 or c.shape != (*m.shape, m.shape[1]) or len(w) != len(m):
        raise InputError(
            "mixture",
            "the shapes do not fit together",
            "give weights (K,), means (K, d) and covariances (K, d, d)",
        )
    if not np.all(np.isfinite(w)) or np.any(w < 0) or w.sum() <= 0:
        raise InputError(
            "weights", "they are not shares", "give numbers of 0 or more, not all of them 0"
        )
    symmetric = np.all(np.isfinite(c)) and np.allclose(c, np.swapaxes(c, 1, 2))
    if not symmetric or np.any(np.linalg.eigvalsh(c) <= 0):
        raise InputError(
            "covariances",
            "not every matrix is symmetric and positive definite",
            "give matrices that are",
        )
    return Mixture(w / w.sum(), m, c)


def generated_table(rows: int, columns: int, groups: int, seed: int) -> tuple[pd.DataFrame, Schema]:
    """A simulated table of ``groups`` clouds in the box ``[0, 100]^d``, and its schema. Raises
    InputError where one of the three is below 1.

    >>> frame, schema = generated_table(50, 2, 3, 0)
    >>> frame.shape, schema.features
    ((50, 2), ('x1', 'x2'))
    """
    names = [f"x{i + 1}" for i in range(whole("columns", columns))]
    schema = Schema.from_bounds({name: (0.0, 100.0) for name in names})
    return stand_in(schema, whole("rows", rows), seed, groups=groups), schema


def stand_in(
    schema: Schema, rows: int, seed: int = 0, *, groups: int = 3, world: World = EASY
) -> pd.DataFrame:
    """Rows drawn from the public schema alone, to plan on before a real table is read.

    Number columns hold ``groups`` clouds inside the bounds, at least one for each class of a label,
    which says which cloud a row is of; a world says how they lie there. A target follows from a sum
    of the numbers, with noise; answers of yes or no have their cloud's chance; other categories are
    drawn evenly. Each id has as many rows as one may have.
    Nothing of any table enters.
    """
    import pandas as pd

    rng, where = np.random.default_rng([seed, rows, groups]), np.random.default_rng([seed, groups])
    numbers = [c for c in schema.numeric_columns() if c.category is None]
    classes = () if schema.label is None else schema.column(schema.label).categories
    dim, count = max(1, len(numbers)), max(whole("groups", groups), len(classes))
    units, cloud = _clouds(rows, dim, count, world, rng)
    signs = where.choice([-1.0, 1.0], size=rows) if world.mirrored else np.ones(rows)
    if world.mirrored and schema.target is None:
        units = 0.5 + signs[:, None] * (units - 0.5)
    units = np.clip(units, 0.0, 1.0)
    fills = world.width ** (0.5 + where.random(dim))
    units = fills * units + (0.0 if world.counts else where.random(dim)) * (1.0 - fills)
    if world.edges:
        at = rng.random(units.shape) < world.edges
        units = np.where(at, np.round(rng.random(units.shape)), units)
    if schema.ball is not None:  # a ball's column bounds are those of the box around it
        units = 0.5 + (units - 0.5) / np.sqrt(dim)
    cells = _cells_of_numbers(schema, numbers, units, world, rng)
    pull = (units - units.mean(axis=0)) @ rng.standard_normal(dim)
    noise = rng.logistic(size=rows)
    pull = signs * world.related * pull / max(float(pull.std()), 1e-9) + noise
    for column in schema.columns:
        if column.name in cells:
            continue
        choices = np.array(column.categories or ("0", "1"))
        if column.role == "target" and column.is_number and column.bounded:
            middle, spread = (column.low + column.high) / 2, (column.high - column.low) / 20
            middle -= 10.0 * world.away * spread
            cells[column.name] = np.clip(middle + spread * pull, column.low, column.high)
        elif column.role == "target" and len(choices) == 2:
            often = np.log(world.yes / (1.0 - world.yes))
            cells[column.name] = choices[(pull + often > 0.0).astype(int)]
        elif column.name == schema.label and classes:
            cells[column.name] = choices[cloud % len(choices)]
        elif column.name == schema.person:  # each with as many rows as one may have
            cells[column.name] = np.arange(rows) // schema.rows_per_person
        else:
            cells[column.name] = rng.choice(choices, size=rows)
    return pd.DataFrame({column.name: cells[column.name] for column in schema.columns})


def _clouds(
    rows: int, dim: int, count: int, world: World, rng: np.random.Generator
) -> tuple[Array, NDArray[np.int64]]:
    """Rows ``(rows, dim)`` of ``count`` clouds, most in the unit box, and the cloud of each. Of 64
    draws of the centres, those that lie farthest apart are taken."""
    centres = 0.18 + 0.64 * rng.random((64, count, dim))
    apart = np.linalg.norm(centres[:, :, None] - centres[:, None], axis=-1) + 9 * np.eye(count)
    centres = centres[np.argmax(apart.min(axis=(1, 2)))]
    centres = world.apart * centres + (1.0 - world.apart) * 0.5
    spreads = (world.spread * (0.05 + 0.06 * rng.random(dim)) for _ in range(count))
    shapes = np.stack([_tilted(spread, rng, world.common) for spread in spreads])
    sizes = rng.dirichlet(np.full(count, world.even))
    return gaussian_mixture(rows, sizes, centres, shapes, rng)


def _cells_of_numbers(
    schema: Schema,
    numbers: list[NumericColumn],
    units: Array,
    world: World,
    rng: np.random.Generator,
) -> dict[str, NDArray[Any]]:
    """The cells of number columns, by name: rows ``units (n, d)`` of the unit box as the columns
    have them; a yes or no as often as its cloud says."""
    n, dim = units.shape
    together = rng.random((n, dim)) < world.alike if world.alike else np.zeros((n, dim), bool)
    of_row = rng.random(n) if world.alike else np.zeros(n)
    cells: dict[str, NDArray[Any]] = {}
    for i, number in enumerate(numbers):
        cell = number.lower + units[:, i] * (number.upper - number.lower)
        if schema.column(number.name).type == "binary":
            chance = np.where(together[:, i], of_row, rng.random(n))
            cell = (chance < units[:, i]).astype(float)
        elif world.counts:
            cell = np.clip(rng.poisson(cell.clip(0)), number.lower, number.upper)
        cells[number.name] = cell
    return cells


def stand_in_documents(words: int, documents: int) -> tuple[Indices, Indices, Array]:
    """Bags of words, drawn to plan on before a document is read: starts, words, counts.

    Each document has :data:`TOKENS` words of a few of :data:`TOPICS` topics. Of real documents only
    the length of the list of words and their number enter, both public.

    >>> starts, words, counts = stand_in_documents(40, 3)
    >>> len(starts), bool(words.max() < 40), float(counts.sum())
    (4, True, 300.0)
    """
    rng = np.random.default_rng([0, words, documents])
    mixes = rng.dirichlet(np.full(TOPICS, SPARSE), size=whole("documents", documents))
    ends = np.cumsum(mixes, axis=1)[:, None]
    topic = np.sum(rng.random((documents, TOKENS, 1)) > ends, axis=2).clip(max=TOPICS - 1)
    chosen = np.empty((documents, TOKENS), dtype=np.intp)
    for k in range(TOPICS):
        shares = rng.dirichlet(np.full(whole("words", words), SPARSE))
        chosen[topic == k] = rng.choice(words, size=int(np.sum(topic == k)), p=shares)
    places, counts = np.unique(np.arange(documents)[:, None] * words + chosen, return_counts=True)
    starts = np.searchsorted(places, np.arange(documents + 1) * words)
    return starts, places % words, counts.astype(float)
