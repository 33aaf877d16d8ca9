"""Factor analysis: a few hidden causes move many numbers together; the rest is each number's own.

A row is ``mean + W z + noise`` with k hidden normal factors z and noise of its own variance in each
coordinate. All that a fit needs to know of the data is one matrix of second moments. Once that is
released with noise, every step here is free. Each array carries a leading axis of runs.
Sources: Rubin, Thayer 1982 (EM); Park, Foulds, Chaudhuri, Welling 2017, section 6; Dwork, Talwar,
Thakurta, Zhang 2014 (Analyze Gauss: release once); Baik, Ben Arous, Peche 2005 and Capitaine,
Donati-Martin, Feral 2009 (what noise leaves visible).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from dpcore.models.moments import LEAST_VARIANCE, TINY, drawn_in, finite

Array = NDArray[np.float64]
PsiUpdate = Literal["paper", "exact"]

FULL_SPECTRUM_DIM = 512  # up to here every eigenvalue is found; beyond, only the largest ones
SPARE = 10  # eigenpairs sought beyond the factors where not all are
BLOCK_NUMBERS = 1 << 22  # numbers a product with rows may hold: 32 MiB
REACH = 1e3  # loadings beyond this many standard deviations of the data are cut: EM ran away


@dataclass(frozen=True)
class Factors:
    """B factor analyses: mean ``(B, d)``, loadings ``(B, d, k)``, noise_variance ``(B, d)``."""

    mean: Array
    loadings: Array
    noise_variance: Array

    def at(self, runs: slice) -> Factors:
        """Some of the runs."""
        return Factors(self.mean[runs], self.loadings[runs], self.noise_variance[runs])

    @property
    def runs(self) -> int:
        return int(self.mean.shape[0])

    @property
    def dim(self) -> int:
        return int(self.mean.shape[1])

    @property
    def factors(self) -> int:
        return int(self.loadings.shape[2])

    def covariance(self) -> Array:
        """``W W' + Psi`` as matrices ``(B, d, d)``."""
        shared = self.loadings @ _turned(self.loadings)
        step = np.arange(self.dim)
        shared[:, step, step] += self.noise_variance
        return np.asarray(shared)


class SecondMoment(Protocol):
    """A symmetric matrix for each run that is only ever multiplied with thin ones."""

    def times(self, thin: Array) -> Array:
        """The product with ``(B, d, m)``: ``(B, d, m)``."""
        ...

    def diagonal(self) -> Array:
        """``(B, d)``, or ``(1, d)`` where the runs share one matrix."""
        ...


@dataclass(frozen=True)
class Dense:
    """Matrices ``(B, d, d)`` that are there in full."""

    matrices: Array

    def times(self, thin: Array) -> Array:
        return np.asarray(self.matrices @ thin)

    def diagonal(self) -> Array:
        return np.asarray(np.diagonal(self.matrices, axis1=-2, axis2=-1))


@dataclass(frozen=True)
class Gram:
    """``X'X / n`` of rows ``(n, d)``, never formed: two thin products take its place."""

    rows: Array

    def times(self, thin: Array) -> Array:
        out = np.empty_like(thin)
        step = max(1, BLOCK_NUMBERS // (max(1, len(self.rows)) * thin.shape[2]))
        for first in range(0, len(thin), step):
            some = thin[first : first + step]
            flat = np.swapaxes(some, 0, 1).reshape(some.shape[1], -1)  # all runs in one product
            product = self.rows.T @ (self.rows @ flat) / max(1, len(self.rows))
            out[first : first + step] = np.swapaxes(product.reshape(-1, *some.shape[::2]), 0, 1)
        return out

    def diagonal(self) -> Array:
        return np.asarray(np.mean(self.rows * self.rows, axis=0)[None])


@dataclass(frozen=True)
class Spiked:
    """``matrix + V diag(gain) V'``: a matrix with some of its eigenvalues moved.

    base: the matrices, or only their diagonal part; vectors ``(B, d, m)``, gain ``(B, m)``.
    """

    base: SecondMoment
    vectors: Array
    gain: Array

    def times(self, thin: Array) -> Array:
        inner = self.gain[..., None] * (_turned(self.vectors) @ thin)
        return np.asarray(self.base.times(thin) + self.vectors @ inner)

    def diagonal(self) -> Array:
        moved = np.einsum("bij,bj,bij->bi", self.vectors, self.gain, self.vectors)
        return np.asarray(self.base.diagonal() + moved)


@dataclass(frozen=True)
class Diagonal:
    """Matrices with nothing beside their diagonal ``(B, d)``."""

    entries: Array

    def times(self, thin: Array) -> Array:
        return np.asarray(self.entries[..., None] * thin)

    def diagonal(self) -> Array:
        return self.entries
