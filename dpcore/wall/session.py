"""The doors: a number leaves the wall only with its noise, and only into the ledger.

A door clips, sums, adds noise and writes the ledger entry in one call. There is no way to have the
sum without the entry. There are three: ``measure`` sums what a model's E step makes of the rows,
``measure_nearest`` what is nearest to given centres, ``measure_squares`` second moments alone. The
last two ask no model, and show it nothing. A fourth, ``exhibit_nearest``, runs what a paper prints
without noise, and its entry says so; ``plain_rows`` serves fits without privacy alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from dpcore.errors import InputError, WallError
from dpcore.mechanisms.gaussian import noise_scale, symmetric_from_coordinates
from dpcore.privacy.ledger import Ledger, LedgerEntry
from dpcore.wall.data.clipping import (
    HUGE,
    TINY,
    PublicFrame,
    bounded_rows,
    clip_to_ball,
    demand_bounds,
)
from dpcore.wall.data.clipping_frame import Frame
from dpcore.wall.data.partitions import PartedRows, PartedTable
from dpcore.wall.grid import MOST_ROWS, Grid, demand_few_rows, grid_for, on_grid
from dpcore.wall.kernels.bounded_sums import EStep, Rows, bounded_sum, whole_sum
from dpcore.wall.kernels.nearest_centres import nearest_sums
from dpcore.wall.kernels.threads import one_thread
from dpcore.wall.noise import GridNoise, NoiseSource
from dpcore.wall.statistics.cluster_moments import ClusterMoments
from dpcore.wall.statistics.mixture_moments import MixtureMoments
from dpcore.wall.statistics.second_moments import SecondMoments
from dpcore.wall.statistics.statistic import Statistic
from dpcore.wall.table import PrivateTable, locked

Array = NDArray[np.float64]
OfCount = Callable[[int], None]

OTHER_NOISE = (
    "a release has discrete Gaussian noise, drawn once, and this one asks for another",
    "choose the recommended method",
)
LEAST_SHARE = 1e-12  # of the bounds, to clip at: below it squares of rows may vanish


@dataclass(frozen=True)
class Noise:
    """Noise for some blocks of a contribution: its law and its size relative to sensitivity.

    law: ``gaussian`` or ``laplace``. noise_multiplier: noise scale / sensitivity, a number or
    ``(runs,)``.
    blocks: released together as one vector; ``None``: all of them. widen_off_diagonal: more noise
    than needed on the entries off the diagonal (a factor >= 1), as one paper prints it.
    """

    law: str
    noise_multiplier: Array | float
    blocks: tuple[str, ...] | None = None
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


@dataclass(frozen=True)
class NoisyClusters:
    """Counts ``(B, K)`` and sums ``(B, K, d)`` of rows by nearest centre, in unit coordinates.

    ``*_sd (B,)``: standard deviation of the noise in each coordinate.
    """

    counts: Array
    sums: Array
    counts_sd: Array
    sums_sd: Array


@dataclass(frozen=True)
class NoisySquares:
    """The sum of ``y y^T`` over rows ``(B, d, d)``, in unit coordinates.

    squares_sd ``(B,)``: standard deviation of the noise in each norm-keeping coordinate: in an
    entry on the diagonal, and in an entry off it times ``sqrt 2``.
    """

    squares: Array
    squares_sd: Array


class Session:
    """One run (or a grid of runs) on one table: the table, the noise, and the ledger being written.

    table: sealed rows with public bounds. adjacency: who is protected. noise: the source, or
    ``None`` for a fit without privacy. draws ``(runs,)``: the source's draw of each run.
    clip: radius of the clipping ball as a share of the radius that the bounds allow (infinite: no
    clipping, only without noise). as_private: without noise, fill cells as privacy would instead
    of refusing them. demand: refuses a number of rows; see :meth:`_ask`.
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
        demand: OfCount | None = None,
    ) -> None:
        self._open = table.open_to_all
        # Two budgets of one draw give the exact sums away, and many draws average them out.
        if noise is None or noise.rehearsal or len(draws) > 1:
            table.demand_open()
        if (
            noise is not None
            and not noise.rehearsal
            and adjacency == "add_remove"
            and table.is_part
        ):
            raise InputError(
                "test_fraction",
                "which rows are in this part would change with every row added or removed",
                "fit all rows, or give a seed for a rehearsal",
            )
        filled = noise is not None or as_private
        if isinstance(table, PartedTable):
            self.public = PublicFrame.of(demand_bounds(table))
            self.radius = _clipping_radius(clip, self.public, private=noise is not None)
            self._rows: Rows | PartedRows = table.opened(self.public, self.radius, private=filled)
        else:
            self.public, units = bounded_rows(table, private=filled)
            self.radius = _clipping_radius(clip, self.public, private=noise is not None)
            self._rows = Rows(clip_to_ball(units, self.radius), self.radius)
        self.adjacency, self.rows_per_person = adjacency, rows_per_person
        self._noise, self._draws = noise, draws
        self._entries: list[LedgerEntry] = []
        self._demands: list[OfCount] = []
        self._ask(demand)

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
        return self._size if known else None

    @property
    def _for_good(self) -> bool:
        """Whether this is a release, where nothing made of a row may hang on its place."""
        return self._noise is not None and self._noise.on_grid

    def _threads(self) -> AbstractContextManager[None]:
        """In a release, linear algebra on one thread: two would share a block, with an end each."""
        return one_thread() if self._for_good else nullcontext()

    @property
    def _size(self) -> int:
        """Number of rows, public or not: for the wall alone."""
        return self._rows.count

    @property
    def ledger(self) -> Ledger:
        """Everything that has left so far."""
        return Ledger(tuple(self._entries))

    def measure(
        self,
        what: str,
        contribution: MixtureMoments,
        e_step: EStep | None,
        frame: Frame,
        noises: tuple[Noise, ...],
    ) -> NoisyMoments:
        """Release the contribution's sum with noise, and write the ledger.

        e_step: the weights of the rows; ``None``: every row wholly in the one component, which is
        much faster than a step that says so.

        **Guarantee.** Each noise's blocks leave with noise = noise multiplier x their joint
        sensitivity under the session's adjacency (times rows per person); one ledger entry each.
        Raises WallError when a block has no noise or two, or the frame does not bound the rows;
        InputError, under privacy, for a noise multiplier that is not a finite number above 0.
        """
        if e_step is None and contribution.components != 1:
            raise ValueError("without an e_step there is one component")
        self._check(contribution, contribution.radius, frame.radius, noises)
        if e_step is None:
            total = self._whole(frame, contribution)
        else:
            total = self._rows.total(
                partial(
                    bounded_sum,
                    frame=frame,
                    contribution=contribution,
                    e_step=e_step,
                    runs=self.runs,
                    even=self._for_good,
                )
            )
        scales = self._release(what, total, contribution, noises)
        return _as_moments(total, contribution, scales)

    def measure_nearest(
        self, what: str, contribution: ClusterMoments, centres: Array, noises: tuple[Noise, ...]
    ) -> NoisyClusters:
        """Release counts and sums of the rows nearest to each of centres ``(B, K, d)``.

        Centres are in unit coordinates and public or released; equally near ones: the first has
        the row. One that is not finite attracts nobody; if none is, the first has all rows.
        Guarantee and refusals as :meth:`measure`.
        """
        return self._of_nearest(what, contribution, centres, noises, ())

    def exhibit_nearest(
        self, what: str, contribution: ClusterMoments, centres: Array, noises: tuple[Noise, ...]
    ) -> NoisyClusters:
        """The same as :meth:`measure_nearest` for a mechanism that a paper prints and nobody can
        prove: blocks without a noise leave as they are, under an entry that names no lemma.

        **Guarantee:** none for such a ledger. Raises InputError on rows that are not open to all,
        unless the noise is a rehearsal's.
        """
        if self._noise is not None and not (self._noise.rehearsal or self._open):
            raise InputError(
                "algorithm",
                "as printed, a part of what it releases has no noise",
                "choose one that is proved, or give a seed to rehearse",
            )
        covered = [block for noise in noises for block in _blocks(noise, contribution)]
        bare = tuple(block for block in contribution.blocks if block not in covered)
        if bare:
            self._entries.append(_unproved(what, bare, self.adjacency, self.runs))
        return self._of_nearest(what, contribution, centres, noises, bare)

    def _of_nearest(
        self,
        what: str,
        contribution: ClusterMoments,
        centres: Array,
        noises: tuple[Noise, ...],
        bare: tuple[str, ...],
    ) -> NoisyClusters:
        """bare: blocks that leave without noise."""
        centres = np.array(centres, dtype=np.float64)  # plain numbers: no object that looks around
        if centres.shape != (self.runs, contribution.components, contribution.dim):
            raise ValueError("centres must have the shape (runs, components, dim)")
        self._check(contribution, contribution.radius, self.radius, noises, bare)
        total = self._rows.total(partial(nearest_sums, centres=centres))
        scales = self._release(what, total, contribution, noises)
        scales |= {block: np.zeros(self.runs) for block in bare}
        return NoisyClusters(total[..., 0], total[..., 1:], scales["counts"], scales["sums"])

    def measure_squares(self, what: str, contribution: SecondMoments, noise: Noise) -> NoisySquares:
        """Release the sum of squares of all rows, in unit coordinates, and nothing else.

        Guarantee and refusals as :meth:`measure`. The noise is symmetric and, unless widened, of
        one size in every direction.
        """
        if contribution.dim != self.public.dim:
            raise ValueError("the contribution has another dimension than the rows")
        self._check(contribution, contribution.radius, self.radius, (noise,))
        frame = Frame.identity(contribution.dim, self.radius)
        total = self._whole(frame, contribution)
        scales = self._release(what, total, contribution, (noise,))
        squares = symmetric_from_coordinates(total[:, 0], contribution.dim)
        return NoisySquares(squares, scales["squares"])

    def plain_rows(self) -> Array | None:
        """The rows ``(n, d)`` themselves, in unit coordinates, for a fit without privacy.

        ``None`` where they are not in memory as one table. No door, and the ledger says so: raises
        WallError under privacy.
        """
        if self.private:
            raise WallError("rows leave the wall in a fit without privacy alone")
        if not isinstance(self._rows, Rows):
            return None
        self._entries.append(_unproved("rows", ("all columns",), self.adjacency, self.runs))
        rows = self._rows.units.view()
        rows.flags.writeable = False
        return rows

    def __reduce__(self) -> NoReturn:
        raise WallError("a session is not pickled: its rows would leave the wall")

    def _ask(self, demand: OfCount | None) -> None:
        """Demand something of how many rows there are, where that is public. Under a lock last,
        where noise is about to be drawn: who could be refused for another reason after that would
        learn the number by questions that cost nothing.
        """
        if demand is not None and self.rows is not None:
            self._demands.append(demand)
        if self._open or not (self.private and locked()):
            self._ask_rows()

    def _ask_rows(self) -> None:
        """Make all demands on the number of rows."""
        for demand in self._demands:
            demand(self._size)

    def _whole(self, frame: Frame, contribution: MixtureMoments | SecondMoments) -> Array:
        """The sum of all rows, for each run its own to add noise to."""
        total = self._rows.total(partial(whole_sum, frame=frame, shape=contribution))
        return total if len(total) == self.runs else np.repeat(total, self.runs, axis=0)

    def _check(
        self,
        contribution: Statistic,
        bound: float,
        radius: float,
        noises: tuple[Noise, ...],
        bare: tuple[str, ...] = (),
    ) -> None:
        """Refuse, before rows are touched, a release that would not be what it says."""
        if self.private and not TINY <= radius <= min(bound, HUGE):
            raise WallError("the rows' ball is larger than the contribution's bound, or no bound")
        covered = [block for noise in noises for block in _blocks(noise, contribution)]
        if sorted([*covered, *bare]) != sorted(contribution.blocks):
            raise WallError("each block needs exactly one noise")
        for noise in noises:
            _check_noise(noise, private=self.private)

    def _release(
        self, what: str, total: Array, contribution: Statistic, noises: tuple[Noise, ...]
    ) -> dict[str, Array]:
        """Add all noises to ``total (B, K, p)`` in place; returns the deviations ``(B,)``."""
        scales = {}
        for noise in noises:
            scales.update(self._add_noise(what, total, contribution, noise))
        return scales

    def _add_noise(
        self, what: str, total: Array, contribution: Statistic, noise: Noise
    ) -> dict[str, Array]:
        """Add one noise to its blocks of ``total (B, K, p)`` in place; returns their deviations."""
        if isinstance(self._noise, GridNoise):
            return self._add_whole_numbers(what, total, contribution, noise, self._noise)
        laplace, blocks = noise.law == "laplace", _blocks(noise, contribution)
        l2 = _joint(contribution, blocks, self.adjacency) * self.rows_per_person
        bound = l2
        if laplace:
            bound = sum(contribution.l1_sensitivity(self.adjacency, b) for b in blocks)
            bound *= self.rows_per_person
        multipliers = np.broadcast_to(np.asarray(noise.noise_multiplier, dtype=float), (self.runs,))
        scale = noise_scale(multipliers, bound) if self.private else np.zeros(self.runs)
        self._ask_rows()
        self._entries.append(
            LedgerEntry(
                what=_named(what, blocks, contribution),
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
            for block in blocks:
                span = contribution.slice(block)
                standard = draw((contribution.components, span.stop - span.start))
                standard[..., contribution.off_diagonal(block)] *= noise.widen_off_diagonal
                size = scale * contribution.scale(block)
                for run, which in enumerate(self._draws):
                    total[run, :, span] += size[run] * standard[which]
        spread = np.sqrt(2.0) * scale if laplace else scale
        return {block: spread * contribution.scale(block) for block in blocks}

    def _add_whole_numbers(
        self,
        what: str,
        total: Array,
        contribution: Statistic,
        noise: Noise,
        source: GridNoise,
    ) -> dict[str, Array]:
        """The same for a release: sums are put on a grid and get whole numbers as noise."""
        if noise.law != "gaussian" or noise.widen_off_diagonal != 1.0 or self.runs != 1:
            raise InputError("method", *OTHER_NOISE)
        blocks = _blocks(noise, contribution)
        (noise_multiplier,) = np.broadcast_to(np.asarray(noise.noise_multiplier, dtype=float), (1,))
        known = self.rows
        grid: Grid = grid_for(
            float(noise_multiplier),
            _joint(contribution, blocks, self.adjacency) * self.rows_per_person,
            _joint(contribution, blocks, "add_remove"),
            MOST_ROWS if known is None else known,
            sum(total[:, :, contribution.slice(block)].size for block in blocks),
        )
        self._ask_rows()
        if known is None:
            demand_few_rows(self._size)
        for block in blocks:
            values = total[:, :, contribution.slice(block)]
            whole = source.whole_numbers(values.size).reshape(values.shape)
            values[...] = on_grid(values, grid, contribution.scale(block), whole)
        self._entries.append(
            LedgerEntry(
                what=_named(what, blocks, contribution),
                noise="discrete_gaussian",
                noise_scale=np.array([grid.scale]),
                sensitivity=grid.sensitivity,
                adjacency=self.adjacency,
                proof=f"{contribution.lemma}; sums rounded to a grid",
            )
        )
        return {block: np.array([grid.scale * contribution.scale(block)]) for block in blocks}


def _named(what: str, blocks: tuple[str, ...], contribution: Statistic) -> str:
    """A release with the blocks it is of, where those are not all."""
    return what if len(blocks) == len(contribution.blocks) else f"{what}: {', '.join(blocks)}"


def _unproved(what: str, blocks: tuple[str, ...], adjacency: str, runs: int) -> LedgerEntry:
    """The entry of what leaves without noise: infinitely expensive, and proved by nothing."""
    return LedgerEntry(
        what=f"{what}: {', '.join(blocks)}, as they are",
        noise="none",
        noise_scale=np.zeros(runs),
        sensitivity=1.0,
        adjacency=adjacency,
        proof=None,
    )


def _blocks(noise: Noise, contribution: Statistic) -> tuple[str, ...]:
    return contribution.blocks if noise.blocks is None else noise.blocks


def _check_noise(noise: Noise, *, private: bool) -> None:
    """Refuse, before anything is summed, noise that would not protect."""
    if noise.law not in ("gaussian", "laplace") or not noise.widen_off_diagonal >= 1.0:
        raise InputError("noise", "an unknown law or a narrowed one", "use gaussian or laplace")
    noise_multiplier = np.asarray(noise.noise_multiplier, dtype=float)
    if private and not np.all((noise_multiplier > 0.0) & np.isfinite(noise_multiplier)):
        raise InputError(
            "noise_multiplier",
            "a value is not a finite number above 0",
            "give one; for a fit without noise pass privacy=None",
        )


def _clipping_radius(clip: float, public: PublicFrame, *, private: bool) -> float:
    if math.isinf(clip) and not private:
        return math.inf
    return public.radius * a_share(clip, "the bounds")


def a_share(clip: float, whole: str) -> float:
    """A share above 0 of something public to clip at; InputError for another."""
    if LEAST_SHARE <= clip <= 1.0:
        return clip
    near = 0.0 < clip < LEAST_SHARE
    found = "too near 0 to compute with" if near else "not above 0 and at most 1"
    raise InputError("clip", f"{clip} is {found}", f"give a share of {whole}")


def _joint(contribution: Statistic, blocks: tuple[str, ...], adjacency: str) -> float:
    """L2 sensitivity of some blocks together: the lemma for all, else the sum of squares."""
    if len(blocks) == len(contribution.blocks):
        return contribution.l2_sensitivity(adjacency)
    parts = [contribution.l2_sensitivity(adjacency, block) for block in blocks]
    return float(np.sqrt(np.sum(np.square(parts))))


def _as_moments(total: Array, shape: MixtureMoments, sd: dict[str, Array]) -> NoisyMoments:
    squares = total[..., shape.slice("squares")]
    if shape.structure == "full":
        squares = symmetric_from_coordinates(squares, shape.dim)
    elif shape.structure == "spherical":
        squares = squares[..., 0]
    sums = total[..., shape.slice("sums")]
    return NoisyMoments(total[..., 0], sums, squares, sd["counts"], sd["sums"], sd["squares"])
