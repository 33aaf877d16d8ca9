"""Mixtures of groups within which columns are independent, each of a one-parameter family.

Rows and means are in public unit coordinates, ``[-1, 1]`` from a column's lower to its upper bound.
A row's log density in a group is linear in the row, up to what all groups share; so the E step is
one product, and the M step needs each group's count and sum alone (Park, Foulds, Chaudhuri,
Welling, DP-EM, AISTATS 2017, Eqs. 9 and 10). Every array carries a leading axis of runs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy.special import softmax

from dpcore.arrays import Array
from dpcore.errors import InputError
from dpcore.models.shared.group_means import farthest_first, within
from dpcore.models.shared.moments import TINY, finite
from dpcore.schema import Schema
from dpcore.wall.data import PublicFrame
from dpcore.wall.statistics import Block, EStep, NoisyClusters

CANDIDATES = 512  # points among which a start is spread
MARGIN = 0.5  # deviations of the noise in a mean, between it and where a row is impossible
SPREAD = 0.5  # of a column's deviation within one group, between the mean and a start
GONE = 0.5  # deviations of the noise: so few rows of a group are taken for none
WORTH = 8.0  # deviations of the noise that a group has rows for, to be divided
LEAST_WEIGHT = 1e-300


@dataclass(frozen=True)
class Groups:
    """B mixtures: weights ``(B, K)``, means ``(B, K, d)``."""

    weights: Array
    means: Array

    def at(self, runs: slice) -> Groups:
        """Some of the runs."""
        return Groups(self.weights[runs], self.means[runs])

    @property
    def runs(self) -> int:
        """How many fits the batch holds, B."""
        return len(self.weights)


@dataclass(frozen=True)
class Window:
    """How the runs of a fit see the rows: from a middle ``(F, d)``, each column divided by a scale
    ``(F, d)``; F is 1 or the number of runs."""

    middle: Array
    scale: Array


class Family(ABC):
    """The law of one cell, given its mean; everything in public unit coordinates.

    narrow: whether cells can lie in a small part of their limits, so that it is worth a part of the
    budget to ask where (:meth:`scales`).
    """

    narrow = False

    def scales(self, mean: Array, square: Array, public: PublicFrame) -> Array:
        """In what proportions the columns of a narrow family are scaled ``(B, d)``, from the mean
        ``(B, d)`` of all rows and the mean square ``(B,)`` of their distance from it; alike, unless
        a family knows better."""
        return np.ones_like(mean)

    def demand(self, public: PublicFrame) -> None:
        """Raise InputError for columns whose public bounds do not suit the law."""
        if public.is_ball:
            raise InputError(
                "ball", "each column needs its own bounds", "give each a lower and an upper bound"
            )

    def notes(self, schema: Schema) -> tuple[str, ...]:
        """What a careful reader should know of a fit within these limits."""
        return ()

    @abstractmethod
    def allowed(self, means: Array, public: PublicFrame, margin: Array | float = 0.0) -> Array:
        """Means ``(..., d)`` moved to where every row has a density above zero, and ``margin``
        away from where it would be zero."""

    @abstractmethod
    def coefficients(self, means: Array, public: PublicFrame) -> tuple[Array, Array]:
        """``(...)`` and ``(..., d)``: constant and slopes of a row's log density, but for what does
        not depend on the means."""

    @abstractmethod
    def base(self, rows: Array, public: PublicFrame) -> Array:
        """What does not depend on the means ``(n,)``, of rows ``(n, d)``."""

    @abstractmethod
    def deviation(self, means: Array, public: PublicFrame) -> Array:
        """Standard deviation of a cell whose mean that is, ``(..., d)``."""

    @abstractmethod
    def uniform(self, public: PublicFrame) -> float:
        """Log probability of a row, where nothing but the bounds is known."""


def start(mean: Array, components: int, family: Family, public: PublicFrame, seed: int) -> Groups:
    """Groups around a released mean ``(B, d)``, in directions that know no data, each farthest from
    those before it; ``components = 1``: the mean itself."""
    runs, dim = mean.shape
    weights = np.full((runs, components), 1.0 / components)
    middle = family.allowed(mean, public)[:, None]
    if components == 1:
        return Groups(weights, middle)
    shape = SPREAD * _directions(components, dim, seed)
    return Groups(
        weights, family.allowed(middle + family.deviation(middle, public) * shape, public)
    )


def log_coefficients(groups: Groups, family: Family, public: PublicFrame) -> Array:
    """``(B, 1 + d, K)`` such that ``(1, row) @ coefficients`` is each group's joint log density, up
    to :meth:`Family.base`."""
    constant, slopes = family.coefficients(groups.means, public)
    constant = constant + np.log(np.maximum(groups.weights, LEAST_WEIGHT))
    stacked = np.concatenate([constant[..., None], slopes], axis=-1)
    return np.ascontiguousarray(np.swapaxes(stacked, -1, -2))


def responsibilities(groups: Groups, family: Family, public: PublicFrame, window: Window) -> EStep:
    """The E step: how likely each row belongs to each group, ``(b, K, m)``."""
    coefficients = log_coefficients(groups, family, public)
    coefficients[:, 0] += np.sum(coefficients[:, 1:] * window.middle[:, :, None], axis=1)
    coefficients[:, 1:] *= window.scale[:, :, None]

    def e_step(block: Block, runs: slice) -> Array:
        weights = block.scores(coefficients[runs])
        weights -= weights.max(axis=-2, keepdims=True)
        np.exp(weights, out=weights)
        weights /= weights.sum(axis=-2, keepdims=True)
        return weights

    return e_step


@dataclass(frozen=True)
class Memory:
    """What a step remembers of earlier releases: how many, and the mean of their total sums."""

    steps: int
    total_sums: Array


def m_step(
    released: NoisyClusters,
    rows: Array | float,
    before: Groups,
    memory: Memory | None,
    family: Family,
    public: PublicFrame,
    window: Window,
    radius: float,
) -> tuple[Groups, Memory]:
    """New groups from noisy counts and sums of rows in a window; total, and plain EM without noise.

    rows: the number of rows where public, or a noisy one ``(B,)``. It corrects, by amounts that
    vanish with the noise: (1) counts are shifted to add up to the number of rows; (2) sums to the
    average, over iterations, of their totals, which are the same in all; (3) a group whose rows are
    no more than the noise stays near where it was: it moves by the share of signal in its count;
    (4) means stay where the bounds allow, and a margin away from where hardly a row is possible,
    which would drive rows out of a group for good.
    """
    scale, middle = window.scale[:, None], window.middle[:, None]
    counts, sums = finite(released.counts), finite(scale * released.sums)
    sums_sd = window.scale * released.sums_sd[:, None]
    components, dim = sums.shape[1:]
    public_rows = np.broadcast_to(np.asarray(rows, dtype=float), counts.shape[:1])
    counts = counts + ((public_rows - counts.sum(-1)) / components)[:, None]
    total, steps = sums.sum(1), 1
    if memory is not None:
        steps = memory.steps + 1
        total = memory.total_sums + (total - memory.total_sums) / steps
    sums = sums + (total - sums.sum(1))[:, None] / components
    least = TINY * np.maximum(public_rows, 1.0)[:, None]
    counts = np.maximum(counts, least)
    mean_sd = np.sqrt(np.mean(sums_sd**2, axis=1))
    noise = released.counts_sd[:, None] ** 2 + dim * mean_sd[:, None] ** 2
    trust = counts**2 / (counts**2 + noise)
    empty = counts <= least  # nobody is in the group: its mean stays
    moved = np.where(empty[..., None], before.means, middle + sums / counts[..., None])
    moved = before.means + trust[..., None] * (within(moved, False, radius) - before.means)
    weights = counts / counts.sum(axis=-1, keepdims=True)
    counts = np.maximum(weights * np.reshape(rows, (-1, 1)), 1.0)
    margin = np.minimum(MARGIN * sums_sd[:, None] / counts[..., None], 1.0)
    means = family.allowed(within(moved, False, radius), public, margin)
    return Groups(weights, means), Memory(steps, total)


def revived(groups: Groups, released: NoisyClusters, family: Family, public: PublicFrame) -> Groups:
    """Groups that stand where no rows are start once more, as parts of the largest one.

    Reads released values alone, is the same for a run alone and in a batch, and changes nothing
    where there is no noise.
    """
    runs, components, dim = groups.means.shape
    noise = np.sqrt(released.counts_sd**2 + dim * released.sums_sd**2)[:, None]
    counts = finite(released.counts)
    largest = np.argmax(counts, axis=1)
    every = np.arange(runs)
    gone = (counts < GONE * noise) & (counts[every, largest][:, None] > WORTH * noise)
    if not gone.any():
        return groups
    mean = groups.means[every, largest][:, None]
    apart = SPREAD * family.deviation(mean, public) * _directions(components, dim, 0)
    gone[every, largest] = gone.any(axis=1)
    share = np.sum(groups.weights * gone, axis=1) / np.maximum(gone.sum(axis=1), 1)
    return Groups(
        np.where(gone, share[:, None], groups.weights),
        np.where(gone[..., None], family.allowed(mean + apart, public), groups.means),
    )


def _directions(components: int, dim: int, seed: int) -> Array:
    """Directions ``(K, d)`` that know no data, each farthest from those before it."""
    points = np.random.default_rng([seed, components, dim, 7]).standard_normal((CANDIDATES, dim))
    return farthest_first(points, components, 0)


def log_density(groups: Groups, rows: Array, family: Family, public: PublicFrame) -> Array:
    """Mean log probability ``(B,)`` of rows ``(n, d)``."""
    joint = _log_joint(groups, rows, family, public)
    top = joint.max(axis=-1)
    density = np.log(np.exp(joint - top[..., None]).sum(axis=-1)) + top
    return np.asarray((density + family.base(rows, public)).mean(axis=-1))


def _log_joint(groups: Groups, rows: Array, family: Family, public: PublicFrame) -> Array:
    """Joint log density of each row with each group ``(B, n, K)``, up to the base."""
    coefficients = log_coefficients(groups, family, public)
    return np.asarray(rows @ coefficients[:, 1:] + coefficients[:, None, 0])


def exact_step(groups: Groups, rows: Array, family: Family, public: PublicFrame) -> Groups:
    """One step of plain EM on exact rows ``(n, d)``."""
    joint = _log_joint(groups, rows, family, public)
    weights = softmax(joint, axis=-1)
    counts = weights.sum(axis=1)
    means = np.swapaxes(weights, 1, 2) @ rows / np.maximum(counts, LEAST_WEIGHT)[..., None]
    means = np.where(counts[..., None] > LEAST_WEIGHT, means, groups.means)
    return Groups(counts / len(rows), family.allowed(means, public))
