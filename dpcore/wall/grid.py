"""Sums on a grid: what leaves for good is a whole number of steps, and so is its noise.

A sum in floating point is rounded, so two neighbouring tables may differ by a little more than the
lemma of their contribution says; then both are rounded to the grid. Either is bounded here and
added to the sensitivity, so that what is proved of whole numbers holds of what leaves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpcore.arrays import Array
from dpcore.errors import InputError
from dpcore.mechanisms.discrete_gaussian import SCALE, Integers
from dpcore.privacy.events import NORMAL_SHARE

ROUNDING_UNIT = 2.0**-53
MOST_ROWS = 1 << 22  # where their number is private: the public cap from which errors are bounded
MOST_PERSONS = 1 << 20  # the same of persons of equal weight, each with as many rows as asked for
LARGEST = 2.0**61  # steps of a sum: beyond it whole numbers would not fit
FINEST = 0.25  # share of the sensitivity that rounding to the grid may add


@dataclass(frozen=True)
class Grid:
    """A grid for one joint release, in the contribution's weighted coordinates.

    step: between neighbouring values. scale: deviation of the noise, :data:`SCALE` steps.
    sensitivity: how far two neighbouring sums on the grid can be apart.
    """

    step: float
    scale: float
    sensitivity: float


def grid_for(
    noise_multiplier: float, sensitivity: float, row_bound: float, rows: int, coordinates: int
) -> Grid:
    """The grid with noise that counts as normal noise (:attr:`dpcore.Event.continuous`) of at least
    ``noise_multiplier`` times all that a sum can change by.

    sensitivity: of exact sums. row_bound: norm of one row's contribution. rows: how many are added
    up, at most.

    *Proof.* A sum of n products, in any order, with at most 16 roundings besides, is off by at most
    ``(n + 16) u / (1 - (n + 16) u)`` times the sum of their sizes, u = 2^-53 (Higham 2002, section
    3.1); over all coordinates the sizes come to a norm of at most ``n * row_bound``. Two sums may
    both be off. A row is clipped by a norm of at most p numbers, which rounding makes too small by
    at most p + 16 units, all terms being positive; a contribution is of degree at most 2 in the
    row, so it and the sensitivity are larger by at most 4 (p + 16) u. Rounding to steps g moves
    each of p coordinates by at most g/2, so two sums by at most ``g sqrt p``. A row's contribution
    is the same bits in both tables: where a row is replaced no other changes its place, nor a block
    its size. Where one is added, or moves to another class, or counts with all that are alike,
    others do move, and what is made of each comes from blocks of one size that end with empty rows
    (:mod:`dpcore.wall.kernels.row_blocks`), or from no product of matrices at all; of documents,
    from sums within each (:class:`dpcore.wall.statistics.topic_words.TopicWords`). Taken as given
    is that a product treats the rows of a block alike but for the last few; the dossier names this,
    and ``test_wall_places.py`` looks for it. Empty rows add nothing to a sum. Where a row is added
    the bound is that of :data:`MOST_ROWS` rows, 0.004 rows; where a person is replaced, that of as
    many rows as all persons may have; where one of m rows of equal weight is added, that of m times
    :data:`MOST_PERSONS`, m/4096 of what the person adds. QED.

    *Why the number of rows is in it.* Not because of the grid, but because of the sum before it: it
    is a product of matrices in floating point, in which one changed row moves the rounding of every
    partial sum. Each row's contribution put on the grid first would make sums exact and n go, and
    would take each contribution by itself: no matrix products. The bound grows with n^2 and costs
    nothing that shows: noise grows by 0.02% at a million rows and 1.6% at ten million, where noise
    for one row is nothing beside the data; 2.6-fold at a hundred million.
    Raises InputError for noise that no grid of 64-bit numbers holds.
    """
    terms = (rows + 16) * ROUNDING_UNIT
    error = terms / (1.0 - terms) * rows * row_bound
    drawn_in = 4.0 * (coordinates + 16) * ROUNDING_UNIT  # by a norm that was computed too small
    apart = sensitivity * (1.0 + drawn_in) + 2.0 * error
    drawn = noise_multiplier / NORMAL_SHARE
    share = drawn * math.sqrt(coordinates) / SCALE
    if not share < FINEST:
        raise InputError(
            "noise",
            "it is too large for this many numbers on one grid",
            "give a larger epsilon or fewer columns",
        )
    scale = _up(drawn * apart / (1.0 - share), 64)
    step = scale / SCALE
    if not rows * row_bound / step < LARGEST:
        raise InputError(
            "noise", "it is too small: the sums would not fit in 64 bits", "give a smaller epsilon"
        )
    return Grid(step, scale, _up(apart + step * math.sqrt(coordinates), 8))


def on_grid(values: Array, grid: Grid, unit: float | Array, noise: Integers) -> Array:
    """Values ``(...)`` moved to the grid with noise of their shape; unit: of their own coordinates,
    a number, or one ``(1,)`` of the one run.

    Which step a value is on is decided before any noise is added, and the sum of the two whole
    numbers is all that is kept.
    """
    steps = np.rint(values / unit / grid.step)
    return np.asarray((steps.astype(np.int64) + noise).astype(float) * grid.step * unit)


def demand_few(count: int, most: int, things: str = "rows") -> None:
    """Raise InputError for more rows than errors are bounded for, where their number is private.

    Of persons of equal weight it is they who are counted: a bound on their rows would tell how many
    there are to whoever asks for ever fewer rows each, since a refusal costs nothing.
    """
    if count > most:
        raise InputError(
            "adjacency",
            f"a release under add_remove takes at most {most:,} {things}",
            "choose replace_one, where their number is public",
        )


def _up(value: float, roundings: int) -> float:
    """A little more than the value, which so many roundings may have made too small."""
    return value * (1.0 + 2.0 * roundings * ROUNDING_UNIT)
