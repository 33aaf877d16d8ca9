"""The session: a number leaves the wall only with its noise, and only into the ledger.

:meth:`Session.release` asks the session's source for a statistic's sum, adds noise and writes the
ledger entry in one call. There is no way to have the sum without the entry. ``exhibit`` runs what a
paper prints without noise, and its entry says so; ``public_features`` gives what an adjacency does
not protect; ``plain_rows`` serves fits without privacy alone.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar

import numpy as np

from dpcore.arrays import Array, Indices
from dpcore.errors import InputError, RowError, WallError
from dpcore.mechanisms.gaussian import noise_scale
from dpcore.privacy.ledger import Ledger, LedgerEntry
from dpcore.privacy.sampled_entry import SampledEntry
from dpcore.wall.data.clipping import HUGE, TINY
from dpcore.wall.data.sources import FeatureRows, Opening, Opens, Source
from dpcore.wall.grid import MOST_PERSONS, MOST_ROWS, Grid, demand_few, grid_for, on_grid
from dpcore.wall.kernels.bounded_sums import Rows
from dpcore.wall.kernels.threads import one_thread, silence
from dpcore.wall.noise import GridNoise, NoiseSource
from dpcore.wall.table import locked

if TYPE_CHECKING:
    from dpcore.wall.statistics.statistic import Statistic, Summed
    from dpcore.wall.subsample import Minibatches

OfCount = Callable[[int], None]
S = TypeVar("S", bound=Source)
Of = TypeVar("Of")
Left = TypeVar("Left")

OTHER_NOISE = (
    "a release can use only discrete Gaussian noise, but this fit needs another kind",
    "choose the recommended method",
)


@dataclass(frozen=True)
class OfRows:
    """A model's function of rows, whose exceptions say no more than their kind."""

    function: Callable[..., Any]

    def __call__(self, *rows: Any) -> Array:
        """Its numbers. Raises RowError where it fails."""
        try:
            return np.asarray(self.function(*rows), dtype=np.float64)
        except Exception as problem:
            raise RowError(f"it failed on some row ({type(problem).__name__})") from None


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


class Session(Generic[S]):
    """One run (or a grid of runs) on one table: its source, the noise, the ledger being written.

    table: sealed rows with public bounds, or sealed documents; with an id column at most
    rows_per_person rows of each person count (:mod:`dpcore.wall.data.persons`). opens: how they are
    read, one of :mod:`dpcore.wall.data.sources`. adjacency: who is protected. noise: the noise
    source, or ``None`` for a fit without privacy. draws ``(runs,)``: the noise source's draw of
    each run. clip, as_private: see :class:`~dpcore.wall.data.sources.Opening`. demand: refuses a
    number of rows; see :meth:`_ask`.
    """

    def __init__(
        self,
        table: Any,
        opens: Opens = FeatureRows,
        *,
        adjacency: str,
        noise: NoiseSource | None,
        draws: Indices,
        rows_per_person: int = 1,
        clip: float = 1.0,
        as_private: bool = False,
        demand: OfCount | None = None,
    ) -> None:
        self._open = table.open_to_all
        # Two budgets of one draw give the exact sums away, and many draws average them out.
        if noise is None or noise.rehearsal or len(draws) > 1:
            table.demand_open()
        self._noise = noise
        opening = Opening(noise, adjacency, clip, as_private)
        schema = table.schema
        column = schema.person if schema and (opening.filled or schema.equal_weight) else None
        self.limited, self._persons = column is not None, 0
        self._equal = self.limited and schema.equal_weight
        if column is not None:
            from dpcore.wall.data.persons import demand_all_of_a_row, limited

            demand_all_of_a_row(adjacency)
            opening.demand_whole(table, "rows", "row", moving=True)
            rows_per_person = max(rows_per_person, schema.rows_per_person)
            table, self._persons = limited(table, column, rows_per_person)
        with self._quiet():
            self.source: S = opens(table, opening)
        # Where one row after another is replaced, whatever is proved of a row is enough (lemma 4).
        self._added_up = self.limited and not (self._equal and adjacency == "replace_one")
        bounded = vars(type(self.source)).get("takes_persons")
        if self._added_up and self.private and not bounded:
            raise WallError("no bound is proved for several rows of one person in this source")
        self.adjacency, self.rows_per_person = adjacency, rows_per_person
        self.as_private = as_private
        self._draws = draws
        self._entries: list[LedgerEntry] = []
        self._demands: list[OfCount] = []
        self._ask(demand)

    @property
    def public(self) -> Any:
        """The public coordinates of the source."""
        return self.source.public

    @property
    def radius(self) -> float:
        """The clipping radius of the source."""
        return self.source.radius

    @property
    def private(self) -> bool:
        """Whether its releases have noise."""
        return self._noise is not None

    @property
    def runs(self) -> int:
        """How many fits it serves at once: B."""
        return len(self._draws)

    @property
    def rows(self) -> int | None:
        """Number of rows where it is public (a row is replaced, or a person who weighs as much as
        any other, or no privacy); else ``None``."""
        moves = self.adjacency == "add_remove" or (self.limited and not self._equal)
        public = not self.private or not moves
        return self.source._count if public else None

    @property
    def persons(self) -> int | None:
        """Number of persons where an id column says it and it is public; else ``None``."""
        return self._persons if self.limited and self.adjacency != "add_remove" else None

    @property
    def ledger(self) -> Ledger:
        """Everything that has left so far."""
        return Ledger(tuple(self._entries))

    def release(
        self,
        what: str,
        statistic: Summed[Of, Left],
        of: Of,
        noises: Noise | tuple[Noise, ...],
        batches: Minibatches | None = None,
    ) -> Left:
        """Release a statistic's sum over the rows with noise, and write the ledger.

        of: what is asked of the rows, as the statistic takes it: a frame with the model's weights,
        centres, a rule for one row. batches: a fresh secret sample for each noise draw; ``None``:
        all rows.

        **Guarantee.** Each noise's blocks leave with noise = noise multiplier x their joint
        sensitivity under the session's adjacency (times rows per person); one ledger entry each.
        Raises WallError when a block has no noise or two, or the source does not bound the rows;
        InputError, under privacy, for a noise multiplier that is not a finite number above 0.
        """
        return self._leave(what, statistic, of, _each(noises), (), batches)

    def exhibit(
        self,
        what: str,
        statistic: Summed[Of, Left],
        of: Of,
        noises: Noise | tuple[Noise, ...],
    ) -> Left:
        """The same for a mechanism that a paper prints and nobody can prove: blocks without a noise
        leave as they are, under an entry that names no lemma.

        **Guarantee:** none for such a ledger. Raises InputError on rows that are not open to all,
        unless the noise is a rehearsal's.
        """
        if self._noise is not None and not (self._noise.rehearsal or self._open):
            raise InputError(
                "algorithm",
                "as published, part of what it releases has no noise",
                "choose a proved algorithm, or give a seed for a rehearsal",
            )
        covered = [block for noise in _each(noises) for block in _blocks(noise, statistic)]
        bare = tuple(block for block in statistic.blocks if block not in covered)
        if bare:
            self._entries.append(_unproved(what, bare, self.adjacency, self.runs))
        return self._leave(what, statistic, of, _each(noises), bare, None)

    def _leave(
        self,
        what: str,
        statistic: Summed[Of, Left],
        of: Of,
        noises: tuple[Noise, ...],
        bare: tuple[str, ...],
        batches: Minibatches | None,
    ) -> Left:
        """bare: blocks that leave without noise."""
        of = statistic.checked(self, of)
        self._check(statistic, *statistic.bounds(self, of), noises, bare)
        try:
            with self._quiet():
                total, unnoised = statistic.total(self, of, batches)
        except RowError as problem:
            if not self._lasts:
                raise
            raise self._paid_failure(f"a model's function of rows: {problem}") from None
        scales = self._release(what, total, statistic, noises, batches)
        scales |= {block: np.zeros(self.runs) for block in bare}
        return statistic.released(self, total, scales, unnoised)

    def public_features(self) -> Array:
        """The rows in unit coordinates ``(n, d)``, where one row's label alone is protected: what
        leaves is not, and the guarantee says so among its assumptions.

        Raises WallError, under privacy, unless the adjacency is ``label``.
        """
        self._demand_public_features("these columns are protected")
        rows: Array = self._features.units
        return rows.copy()

    def plain_rows(self) -> Array | None:
        """The rows ``(n, d)`` themselves, in unit coordinates, for a fit without privacy.

        ``None`` where they are not in memory as one table. No release, and the ledger says so:
        raises WallError under privacy.
        """
        if self.private:
            raise WallError("rows leave the wall only in a fit without privacy")
        if not isinstance(self._features, Rows):
            return None
        self._entries.append(_unproved("rows", ("all columns",), self.adjacency, self.runs))
        rows = self._features.units.view()
        rows.flags.writeable = False
        return rows

    @property
    def _features(self) -> Any:
        """Clipped rows of numbers, of a source that has them."""
        if not isinstance(self.source, FeatureRows):
            raise WallError("this source has no rows of numbers")
        return self.source._rows

    def _demand_public_features(self, what: str) -> None:
        """Refuse, before rows are touched, to let features leave that are protected."""
        if self.private and self.adjacency != "label":
            raise WallError(f"{what}: the adjacency is {self.adjacency}")

    @property
    def _for_good(self) -> bool:
        """Whether this is a release, where nothing made of a row may hang on its place."""
        return self._noise is not None and self._noise.on_grid

    @property
    def _lasts(self) -> bool:
        """Whether nobody can draw its noise again: a release, or a fit that is paid for."""
        return self._noise is not None and not self._noise.rehearsal

    def _of_rows(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A model's function of rows as sums ask it; who rehearses may see what it raises."""
        return OfRows(function) if self._lasts else function

    def _paid_failure(self, problem: str) -> WallError:
        """What is said once a failure is paid for that some row may be the reason of."""
        assert self._noise is not None  # it lasts
        self._noise._paid()
        return WallError(problem)

    def _quiet(self) -> AbstractContextManager[None]:
        """Under privacy no warning tells of a row, such as one too large to compute with."""
        return silence() if self.private else nullcontext()

    def _threads(self) -> AbstractContextManager[None]:
        """In a release, linear algebra on one thread: two would share a block, with an end each."""
        return one_thread() if self._for_good else nullcontext()

    def _coin(self, use: int) -> np.random.Generator:
        """Coins that read no data: one for each place in the table where a row is replaced in its
        place; fresh ones where places move because a row is added. In a rehearsal these come from
        a stream that knows no n: drawn row by row, the first n are the same however many follow.
        """
        if self.limited and self.private:
            raise WallError(
                "no theorem covers random numbers drawn by row position if changing one person "
                "moves other people's rows"
            )
        if self.adjacency != "add_remove":
            return np.random.default_rng([use, self.source._count])
        fresh = self._noise is not None and not self._noise.rehearsal
        return np.random.default_rng(None if fresh else [0, use])

    def _samples(self, batches: Minibatches | None) -> list[tuple[Indices | None, Indices]]:
        """Positions of the rows (``None``: all), and the runs that see them."""
        if batches is None:
            return [(None, np.arange(self.runs))]
        return list(zip(batches._next(), batches.runs, strict=True))

    def __reduce__(self) -> NoReturn:
        raise WallError("a session cannot be pickled: its rows would leave the wall")

    def _ask(self, demand: OfCount | None) -> None:
        """Demand something of how many rows there are (with an id column, persons), where that is
        public. Under a lock last, where noise is about to be drawn: who could be refused for
        another reason after that would learn the number by questions that cost nothing.
        """
        if demand is not None and (self.rows is not None or self.persons is not None):
            self._demands.append(demand)
        if self._open or not (self.private and locked()):
            self._ask_rows()

    def _ask_rows(self) -> None:
        """Make all demands on the number of rows, or of persons."""
        for demand in self._demands:
            demand(self._persons if self.limited else self.source._count)

    def _check(
        self,
        contribution: Statistic,
        bound: float,
        radius: float,
        noises: tuple[Noise, ...],
        bare: tuple[str, ...] = (),
    ) -> None:
        """Refuse, before rows are touched, a release that would not be what it says."""
        if self._added_up and self.private and not contribution.adds_up:
            raise WallError(
                "no bound is proved for how much several rows of one person can change this sum"
            )
        if self.private and not TINY <= radius <= min(bound, HUGE):
            raise WallError(
                "the radius of the rows' ball is above the contribution's bound, or not known"
            )
        covered = [block for noise in noises for block in _blocks(noise, contribution)]
        if sorted([*covered, *bare]) != sorted(contribution.blocks):
            raise WallError("each block needs exactly one noise setting")
        for noise in noises:
            _check_noise(noise, private=self.private)
            self._sensitivities(contribution, noise)  # which an adjacency may not have

    def _sensitivities(self, contribution: Statistic, noise: Noise) -> tuple[float, float]:
        """How far all rows of one person move a noise's blocks: in L2, and in the norm of its law.

        Raises InputError for an adjacency or a law that the contribution does not cover.
        """
        blocks = _blocks(noise, contribution)
        l2 = self._moved(partial(_joint, contribution, blocks))
        if noise.law != "laplace":
            return l2, l2
        return l2, self._moved(
            lambda adjacency: sum(contribution.l1_sensitivity(adjacency, b) for b in blocks)
        )

    def _moved(self, by_a_row: Callable[[str], float]) -> float:
        """How far all rows of one person move a sum, from how far one row does. With an id column
        they may also be fewer than before, unless persons have equal weight: lemmas 2 and 3 of
        :mod:`dpcore.wall.data.persons`."""
        fewer = ("add_remove",) if self.limited and not self._equal else ()
        return max(map(by_a_row, (self.adjacency, *fewer))) * self.rows_per_person

    def _lemma(self, contribution: Statistic) -> str:
        """What is proved, in words for the ledger."""
        if not self.limited:
            return contribution.lemma
        rows = "" if self._equal else "0 to "
        return f"{contribution.lemma}; {rows}{self.rows_per_person} rows of one person"

    def _release(
        self,
        what: str,
        total: Array,
        contribution: Statistic,
        noises: tuple[Noise, ...],
        batches: Minibatches | None = None,
    ) -> dict[str, Array]:
        """Add all noises to ``total (B, K, p)`` in place; returns the deviations ``(B,)``.

        batches: what the rows were drawn by, which the entries say too.
        """
        scales, first = dict[str, Array](), len(self._entries)
        for noise in noises:
            scales.update(self._add_noise(what, total, contribution, noise))
        if batches is not None and batches.sample.sampling != "none" and self.private:
            self._entries[first:] = [
                SampledEntry.of(entry, batches.sample.sampling, batches.rate)
                for entry in self._entries[first:]
            ]
        return scales

    def _add_noise(
        self, what: str, total: Array, contribution: Statistic, noise: Noise
    ) -> dict[str, Array]:
        """Add one noise to its blocks of ``total (B, K, p)`` in place; returns their deviations."""
        if isinstance(self._noise, GridNoise):
            return self._add_whole_numbers(what, total, contribution, noise, self._noise)
        laplace, blocks = noise.law == "laplace", _blocks(noise, contribution)
        l2, bound = self._sensitivities(contribution, noise)
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
                proof=self._lemma(contribution),
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
                for group in range(contribution.components):
                    total[:, group, span] += size[:, None] * standard[self._draws, group]
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
        public_rows = self.rows if self.persons is None else self.persons * self.rows_per_person
        most = MOST_PERSONS * self.rows_per_person if self._equal else MOST_ROWS
        grid: Grid = grid_for(
            float(noise_multiplier),
            self._sensitivities(contribution, noise)[0],
            _joint(contribution, blocks, "add_remove"),
            most if public_rows is None else public_rows,
            sum(total[:, :, contribution.slice(block)].size for block in blocks),
        )
        self._ask_rows()
        if public_rows is None and self._equal:
            demand_few(self._persons, MOST_PERSONS, "different ids")
        elif public_rows is None:
            demand_few(self.source._count, MOST_ROWS)
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
                proof=f"{self._lemma(contribution)}; sums rounded to a grid",
                noise_steps=source.steps,
            )
        )
        return {block: grid.scale * np.reshape(contribution.scale(block), 1) for block in blocks}


def _each(noises: Noise | tuple[Noise, ...]) -> tuple[Noise, ...]:
    return (noises,) if isinstance(noises, Noise) else noises


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
        raise InputError(
            "noise",
            "the distribution is unknown, or too narrow off the diagonal",
            "use gaussian or laplace",
        )
    noise_multiplier = np.asarray(noise.noise_multiplier, dtype=float)
    if private and not np.all((noise_multiplier > 0.0) & np.isfinite(noise_multiplier)):
        raise InputError(
            "noise_multiplier",
            "a value is not a finite number above 0",
            "give one, or pass privacy=None for a fit without noise",
        )


def _joint(contribution: Statistic, blocks: tuple[str, ...], adjacency: str) -> float:
    """L2 sensitivity of some blocks together: the lemma for all, else the sum of squares."""
    if len(blocks) == len(contribution.blocks):
        return contribution.l2_sensitivity(adjacency)
    parts = [contribution.l2_sensitivity(adjacency, block) for block in blocks]
    return float(np.sqrt(np.sum(np.square(parts))))
