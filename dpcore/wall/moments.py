"""The bounded sum: each row's contribution, inside its public bound, added up.

Why it is fast. The E step of a mixture is linear in the features ``[1, y, s(y)]`` of a row, and so
is the sum it asks for: with the features of a frame kept as one matrix ``(p, n)``, an iteration is
two thin matrix products and an exponential, done in blocks that stay in the processor's cache and
with rows along the last axis, where vector instructions reach them. In high dimension the matrix
would be ``n d^2 / 2`` numbers; there the same two products are done from the rows, which costs
more arithmetic and far less memory. Blocks are added in a fixed order, so the number of threads
never changes a result.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dpcore.mechanisms.gaussian import symmetric_from_coordinates, symmetric_to_coordinates
from dpcore.wall.contributions import MixtureMoments
from dpcore.wall.frames import Frame

Array = NDArray[np.float64]

KEPT_BYTES = 768 * 2**20  # features of one frame are kept up to this size
BLOCK_NUMBERS = 1 << 18  # numbers a block may hold: 2 MiB, measured best on two machines
FROM_ROWS_DIM = 32  # from this dimension on, full squares are formed by matrix products


class Block(Protocol):
    """Some clipped rows, seen by a model's E step."""

    @property
    def count(self) -> int:
        """How many rows."""

    def scores(self, coefficients: Array) -> Array:
        """``(b, K, m)``: for each row the inner products of its features with ``(b, p, K)``."""

    def weighted_sum(self, weights: Array) -> Array:
        """``(b, K, p)``: sum over the block's rows of weights ``(b, K, m)`` times features."""


EStep = Callable[[Block, slice], Array]


@dataclass(frozen=True)
class _Features:
    """A block with its features ``(F, p, m)`` at hand."""

    features: Array

    @property
    def count(self) -> int:
        return int(self.features.shape[-1])

    def scores(self, coefficients: Array) -> Array:
        return np.asarray(np.swapaxes(coefficients, -1, -2) @ self.features)

    def weighted_sum(self, weights: Array) -> Array:
        return np.asarray(weights @ np.swapaxes(self.features, -1, -2))


@dataclass(frozen=True)
class _FromRows:
    """A block of rows ``(1, d, m)`` in high dimension, full squares: no features are formed."""

    rows: Array

    @property
    def count(self) -> int:
        return int(self.rows.shape[-1])

    def scores(self, coefficients: Array) -> Array:
        dim, rows = self.rows.shape[1], self.rows[0]
        runs, _, components = coefficients.shape
        forms = symmetric_from_coordinates(np.swapaxes(coefficients[:, 1 + dim :], 1, 2), dim)
        product = (forms.reshape(-1, dim) @ rows).reshape(runs, components, dim, -1)  # one, large
        out = np.einsum("bkdm,dm->bkm", product, rows)
        out += np.swapaxes(coefficients[:, 1 : 1 + dim], 1, 2) @ rows
        out += coefficients[:, 0, :, None]
        return np.asarray(out)

    def weighted_sum(self, weights: Array) -> Array:
        dim, rows = self.rows.shape[1], self.rows[0]
        squares = np.empty((*weights.shape[:2], dim, dim))
        for run, component in np.ndindex(weights.shape[:2]):
            half = rows * np.sqrt(weights[run, component])
            squares[run, component] = half @ half.T  # same operand twice: half the arithmetic
        sums = weights @ rows.T
        counts = weights.sum(axis=-1)[..., None]
        return np.concatenate([counts, sums, symmetric_to_coordinates(squares)], axis=-1)


@dataclass
class Rows:
    """Clipped rows of one table in public unit coordinates ``(n, d)``, ready to be summed."""

    units: Array
    _kept: list[tuple[Frame, str, Array]] = field(default_factory=list)

    def block(self, frame: Frame, shape: MixtureMoments, runs: slice, members: slice) -> Block:
        """Rows ``members`` in the frames of ``runs``."""
        frames = runs if frame.runs > 1 else slice(None)
        if _from_rows(frame, shape):
            return _FromRows(frame.apply(self.units[members], frames))
        kept = self._features(frame, shape)
        if kept is not None:
            return _Features(kept[frames, :, members])
        return _Features(shape.features(frame.apply(self.units[members], frames)))

    def _features(self, frame: Frame, shape: MixtureMoments) -> Array | None:
        """All features ``(F, p, n)`` of a frame, or ``None`` where they would take too much."""
        for known, structure, features in self._kept:
            if known is frame and structure == shape.structure:
                return features
        count = len(self.units)
        if 8 * frame.runs * count * shape.size > KEPT_BYTES:
            return None
        features = np.empty((frame.runs, shape.size, count))
        for runs, members in _blocks(frame.runs, count, shape.size):
            rows = frame.apply(self.units[members], runs)
            features[runs, :, members] = shape.features(rows)
        self._kept[:] = [(frame, shape.structure, features)]
        return features


def bounded_sum(
    rows: Rows, frame: Frame, contribution: MixtureMoments, e_step: EStep, runs: int
) -> Array:
    """Sum over rows of ``weights (x) features``, ``(runs, K, p)``, every row inside its bound.

    ``e_step(block, runs)`` gives weights ``(b, K, m)``; they are projected before they are used.
    A wrong shape raises; wrong numbers cannot do harm.
    """
    count, components = len(rows.units), contribution.components
    total = np.zeros((runs, components, contribution.size))

    def part(which: slice, members: slice) -> Array:
        block = rows.block(frame, contribution, which, members)
        weights = contribution.project(e_step(block, which))
        expected = (which.stop - which.start, components, members.stop - members.start)
        if weights.shape != expected:
            raise ValueError(f"e_step gave weights {weights.shape}, expected {expected}")
        return block.weighted_sum(weights)

    width = 3 * contribution.dim if _from_rows(frame, contribution) else contribution.size
    blocks = list(_blocks(runs, count, width + 2 * components))
    if not _from_rows(frame, contribution):
        rows._features(frame, contribution)  # once, before threads ask for it
    work = runs * count * components * contribution.size
    for (which, _), partial in zip(blocks, _map(part, blocks, work), strict=True):
        total[which] += partial
    return total


def _from_rows(frame: Frame, shape: MixtureMoments) -> bool:
    return shape.structure == "full" and shape.dim >= FROM_ROWS_DIM and frame.runs == 1


def _blocks(runs: int, count: int, width: int) -> Iterator[tuple[slice, slice]]:
    """Pairs (runs, rows): ``width`` numbers for each run and row, ``BLOCK_NUMBERS`` in all."""
    target = max(256, BLOCK_NUMBERS // width)
    rows = max(1, min(count, target))
    together = max(1, target // rows)
    for run in range(0, runs, together):
        for row in range(0, count, rows):
            yield slice(run, min(runs, run + together)), slice(row, min(count, row + rows))


def _map(
    part: Callable[[slice, slice], Array], blocks: list[tuple[slice, slice]], work: int
) -> Iterator[Array]:
    """Results in the order of the blocks: plainly for little work, else on every core."""
    if work < 1_000_000 or len(blocks) < 2:
        yield from (part(*block) for block in blocks)
        return
    pool, blas = _workers()
    with blas.limit(limits=1, user_api="blas"):  # one level of threads, not two
        yield from pool.map(lambda block: part(*block), blocks)


@cache
def _workers() -> tuple[ThreadPoolExecutor, Any]:
    from threadpoolctl import ThreadpoolController

    return ThreadPoolExecutor(os.cpu_count() or 1, "dpcore-sum"), ThreadpoolController()
