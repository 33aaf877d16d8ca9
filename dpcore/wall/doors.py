"""The doors: a number leaves the wall only with its noise, and only into the ledger.

``Session.measure`` clips, runs the model's E step, projects, sums, adds noise and writes the ledger
entry in one call. There is no way to have the sum without the entry.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpcore.errors import InputError, WallError
from dpcore.mechanisms.gaussian import noise_scale, symmetric_from_coordinates
from dpcore.privacy.ledger import Ledger, LedgerEntry
from dpcore.wall.clip import PublicFrame, bounded_rows, clip_to_ball
from dpcore.wall.contributions import BLOCKS, Block, MixtureMoments
from dpcore.wall.frames import Frame
from dpcore.wall.moments import EStep, Rows, bounded_sum
from dpcore.wall.noise import NoiseSource
from dpcore.wall.table import PrivateTable

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Noise:
    """Noise for some blocks of a contribution: its law and its size relative to sensitivity.

    law: ``gaussian`` or ``laplace``. multiplier: scale / sensitivity, a number or ``(runs,)``.
    blocks: released together as one vector. widen_off_diagonal: more noise than needed on the
    entries beside the diagonal (a factor >= 1), as one paper prints it.
    """

    law: str
    multiplier: Array | float
    blocks: tuple[Block, ...] = BLOCKS
    widen_off_diagonal: float = 1.0


@dataclass(frozen=True)
class NoisyMoments:
    """What left the wall, in the coordinates of its frame, with the noise that is in it.

    counts ``(B, K)``, sums ``(B, K, d)``, squares ``(B, K, d, d)`` | ``(B, K, d)`` | ``(B, K)`` as
    the structure says. ``*_sd (B,)``: standard deviation of the noise in each coordinate.
    """

    counts: Array
    sums: Array
    squares: Array
    counts_sd: Array
    sums_sd: Array
    squares_sd: Array


class Session:
    """One run (or a grid of runs) on one table: the table, the noise, and the ledger being written.

    table: sealed rows with public bounds. adjacency: who is protected. noise: the source, or
    ``None`` for a fit without privacy. draws ``(runs,)``: the source's draw of each run.
    clip: radius of the clipping ball as a share of the radius that the bounds allow (infinite: no
    clipping, only without noise). as_private: without noise, fill cells as privacy would instead
    of refusing them.
    """

    def __init__(
        self,
        table: PrivateTable,
        *,
        adjacency: str,
        noise: NoiseSource | None,
        draws: NDArray[np.intp],
        rows_per_person: int = 1,
        clip: float = 1.0,
        as_private: bool = False,
    ) -> None:
        if noise is None or noise.rehearsal:  # two budgets of one draw give the exact sums away
            table.demand_open()
        self.public, units = bounded_rows(table, private=noise is not None or as_private)
        self.radius = _clipping_radius(clip, self.public, private=noise is not None)
        self.adjacency, self.rows_per_person = adjacency, rows_per_person
        self._noise, self._draws = noise, draws
        self._rows = Rows(clip_to_ball(units, self.radius), self.radius)
        self._entries: list[LedgerEntry] = []

    @property
    def private(self) -> bool:
        return self._noise is not None

    @property
    def runs(self) -> int:
        return len(self._draws)

    @property
    def rows(self) -> int | None:
        """Number of rows where it is public (a row is replaced, or no privacy); else ``None``."""
        known = self.adjacency != "add_remove" or not self.private
        return len(self._rows.units) if known else None

    @property
    def ledger(self) -> Ledger:
        """Everything that has left so far."""
        return Ledger(tuple(self._entries))

    def measure(
        self,
        what: str,
        contribution: MixtureMoments,
        e_step: EStep,
        frame: Frame,
        noises: tuple[Noise, ...],
    ) -> NoisyMoments:
        """Release the contribution's sum with noise, and write the ledger.

        **Guarantee.** Each noise's blocks leave with noise = multiplier x their joint sensitivity
        under the session's adjacency (times rows per person); one ledger entry each.
        Raises WallError when a block has no noise or two, or the frame does not bound the rows;
        InputError, under privacy, for a noise multiplier that is not a finite number above 0.
        """
        if self.private and not 0.0 < frame.radius <= contribution.radius:
            raise WallError("the frame's ball is larger than the contribution's bound")
        covered = sorted(block for noise in noises for block in noise.blocks)
        if covered != sorted(BLOCKS):
            raise WallError("each block needs exactly one noise")
        for noise in noises:
            _check_noise(noise, private=self.private)
        total = bounded_sum(self._rows, frame, contribution, e_step, self.runs)
        scales = {}
        for noise in noises:
            scales.update(self._add_noise(what, total, contribution, noise))
        return _as_moments(total, contribution, scales)

    def _add_noise(
        self, what: str, total: Array, contribution: MixtureMoments, noise: Noise
    ) -> dict[Block, Array]:
        """Add one noise to its blocks of ``total (B, K, p)`` in place; returns their scales."""
        laplace = noise.law == "laplace"
        l2 = _joint(contribution, noise.blocks, self.adjacency) * self.rows_per_person
        bound = l2
        if laplace:
            bound = sum(contribution.block_l1_diameter(b, self.adjacency) for b in noise.blocks)
            bound *= self.rows_per_person
        multiplier = np.broadcast_to(np.asarray(noise.multiplier, dtype=float), (self.runs,))
        scale = noise_scale(multiplier, bound) if self.private else np.zeros(self.runs)
        self._entries.append(
            LedgerEntry(
                what=what
                if len(noise.blocks) == len(BLOCKS)
                else f"{what}: {', '.join(noise.blocks)}",
                noise=noise.law if self.private else "none",
                noise_scale=scale,
                sensitivity=bound,
                adjacency=self.adjacency,
                proof=contribution.lemma,
                l2_sensitivity=l2 if laplace else None,
            )
        )
        if self._noise is not None:
            draw = self._noise.laplace if laplace else self._noise.normal
            for block in noise.blocks:
                span = contribution.span(block)
                standard = draw((contribution.components, span.stop - span.start))[self._draws]
                if block == "squares" and contribution.structure == "full":
                    standard[..., contribution.dim :] *= noise.widen_off_diagonal
                total[..., span] += scale[:, None, None] * contribution.unit(block) * standard
        spread = np.sqrt(2.0) * scale if laplace else scale
        return {block: spread * contribution.unit(block) for block in noise.blocks}


def _check_noise(noise: Noise, *, private: bool) -> None:
    """Refuse, before anything is summed, noise that would not protect."""
    if noise.law not in ("gaussian", "laplace") or not noise.widen_off_diagonal >= 1.0:
        raise InputError("noise", "an unknown law or a narrowed one", "use gaussian or laplace")
    multiplier = np.asarray(noise.multiplier, dtype=float)
    if private and not np.all((multiplier > 0.0) & np.isfinite(multiplier)):
        raise InputError(
            "noise_multiplier",
            "a value is not a finite number above 0",
            "give one; for a fit without noise pass privacy=None",
        )


def _clipping_radius(clip: float, public: PublicFrame, *, private: bool) -> float:
    if math.isinf(clip) and not private:
        return math.inf
    if not 0.0 < clip <= 1.0:
        raise InputError(
            "clip", f"{clip} is not above 0 and at most 1", "give a share of the bounds"
        )
    return public.radius * clip


def _joint(contribution: MixtureMoments, blocks: tuple[Block, ...], adjacency: str) -> float:
    """L2 sensitivity of some blocks together: the lemma for all, else the sum of squares."""
    if len(blocks) == len(BLOCKS):
        return contribution.diameter(adjacency)
    parts = [contribution.block_diameter(block, adjacency) for block in blocks]
    return float(np.sqrt(np.sum(np.square(parts))))


def _as_moments(total: Array, shape: MixtureMoments, sd: dict[Block, Array]) -> NoisyMoments:
    squares = total[..., shape.span("squares")]
    if shape.structure == "full":
        squares = symmetric_from_coordinates(squares, shape.dim)
    elif shape.structure == "spherical":
        squares = squares[..., 0]
    sums = total[..., shape.span("sums")]
    return NoisyMoments(total[..., 0], sums, squares, sd["counts"], sd["sums"], sd["squares"])
