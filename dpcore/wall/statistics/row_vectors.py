"""Vectors: one vector a row, asked of a model and put inside a public set before it is summed.

Gradients are such vectors. The wall gives the model rows, target and what is missing, and projects
whatever comes back onto a ball (:class:`BallVector`) or a box (:class:`BoxVector`). A model whose
vector for a row comes from that row alone may err: it costs utility, never privacy.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcore.arrays import Array, Indices, Mask
from dpcore.checks import positive, whole
from dpcore.errors import InputError, WallError
from dpcore.wall.data.clipping import clip_to_ball, demand_squares
from dpcore.wall.data.regression_target import MaskedRows
from dpcore.wall.kernels.row_blocks import filled_up, tiles
from dpcore.wall.session import Noise, Session
from dpcore.wall.statistics.statistic import Part, Sensitivity, Summed, by_adjacency

if TYPE_CHECKING:
    from dpcore.wall.subsample import Minibatches


TILE_NUMBERS = 1 << 17  # numbers of the vectors that are made at once: 1 MiB
TILE_ROWS = 4096
ONE_EACH = "a model must give one vector for each run and row"
COUNT_WEIGHT = 0.1  # of the count beside a vector of norm 1: half a percent of its noise
FREE_WEIGHT = math.sqrt(3.0)  # the largest that costs nothing where persons are replaced


@dataclass(frozen=True, repr=False)
class VectorRows:
    """Some rows as a model of vectors sees them; nothing here can be written to.

    rows ``(d, m)``: features, 0 where missing. targets ``(m,)``: ``None`` without a target.
    observed ``(d, m)``: which features are there; ``None`` where all are.
    """

    rows: Array
    targets: Array | None
    observed: Mask | None

    def __post_init__(self) -> None:
        for array in (self.rows, self.targets, self.observed):
            if array is not None:
                array.flags.writeable = False

    @property
    def count(self) -> int:
        """How many rows, m."""
        return int(self.rows.shape[-1])

    def part(self, members: slice | Indices) -> VectorRows:
        """Some of the rows."""
        return VectorRows(
            self.rows[:, members],
            None if self.targets is None else self.targets[members],
            None if self.observed is None else self.observed[:, members],
        )

    def filled_up(self, size: int) -> VectorRows:
        """The same with zeros after them, as blocks of one size have
        (:mod:`dpcore.wall.kernels.row_blocks`)."""
        return VectorRows(
            np.ascontiguousarray(filled_up(self.rows.T, size).T),
            None if self.targets is None else filled_up(self.targets, size),
            None if self.observed is None else filled_up(self.observed.T, size).T,
        )


VectorStep = Callable[[VectorRows, slice], Array]


@dataclass(frozen=True)
class NoisyVectors:
    """What left: counts ``(B,)`` and sums ``(B, d)`` of the projected vectors.

    ``*_sd (B,)``: standard deviation of the noise in each coordinate.
    """

    counts: Array
    sums: Array
    counts_sd: Array
    sums_sd: Array


@dataclass(frozen=True)
class Vectors:
    """One vector a row, as a model gives it.

    step: given rows and a slice of the runs, the vectors ``(b, d, m)``. own: rows and target are
    shown in the data's own units about 0, not in public unit coordinates. hidden: share of the
    observed numbers that is hidden on top, by a coin for each cell that reads no data. alike: all
    runs ask the same, so that ``step`` is called for the first alone.
    """

    step: VectorStep
    own: bool = True
    hidden: float = 0.0
    alike: bool = False
    _part: VectorRows | None = None  # of the rows, those that are summed


@dataclass(frozen=True)
class _OneVector(Summed[Vectors, NoisyVectors]):
    """What both sets have in common: features ``(1, v)`` of a row, in blocks counts and sums.

    The count weighs ``a = count_weight`` beside a vector at its bound. It is for divisors where the
    number of rows is not public; where it is, a row replaced leaves the count, which then costs
    nothing. Where a person's rows are replaced, by as many or fewer, the count costs nothing up to
    ``a = sqrt 3``: a row removed then moves count and vector together no further than a row
    replaced moves the vector (lemma 2 of :mod:`dpcore.wall.data.persons`).
    """

    dim: int
    bound: float
    count_weight: float = COUNT_WEIGHT

    components = 1

    def __post_init__(self) -> None:
        whole("dim", self.dim)
        positive("count_weight", self.count_weight)
        if self.bound != math.inf:  # no bound: only without privacy
            demand_squares("bound", positive("bound", self.bound))

    @property
    @abstractmethod
    def reach(self) -> float:
        """L2 norm of the longest vector, in units of the bound."""

    @property
    @abstractmethod
    def l1_reach(self) -> float:
        """L1 norm of the largest vector, in units of the bound."""

    @cached_property
    def parts(self) -> dict[str, Part]:
        """The count and the vector."""
        bound = self.bound if math.isfinite(self.bound) else 1.0
        return {
            "counts": Part(1, 1.0 / (self.count_weight * self.reach)),
            "sums": Part(self.dim, bound),
        }

    def sensitivity(self, adjacency: str) -> Sensitivity:
        """Of count and vector together, and of each alone; a replaced row leaves the count."""
        count = self.count_weight * self.reach
        moved, moved_l1 = 2.0 * self.reach, 2.0 * self.l1_reach
        return by_adjacency(
            adjacency,
            replace_one=Sensitivity(moved, {"counts": (0.0, 0.0), "sums": (moved, moved_l1)}),
            add_remove=Sensitivity(
                self.reach * math.hypot(1.0, self.count_weight),
                {"counts": (count, count), "sums": (self.reach, self.l1_reach)},
            ),
            why="where a row's vector depends on the whole row",
        )

    @abstractmethod
    def sum(self, vectors: Array) -> Array:
        """``(b, d)``: the sum over rows of vectors ``(b, d, m)``, each put inside the set."""

    def checked(self, session: Session[Any], of: Vectors) -> Vectors:
        """Refuses, under privacy, a vector without a bound."""
        if session.private and not math.isfinite(self.bound):
            raise WallError("a vector without a bound cannot be released privately")
        return of

    def bounds(self, session: Session[Any], of: Vectors) -> tuple[float, float]:
        return self.bound, self.bound

    def total(
        self, session: Session[Any], of: Vectors, batches: Minibatches | None
    ) -> tuple[Array, None]:
        if batches is not None:
            raise WallError("these rows cannot be subsampled")
        visible = rows_seen(session, of.own, of.hidden) if of._part is None else of._part
        count = 1 if of.alike else session.runs
        total = np.zeros((count, 1, self.size))
        for runs, members in _tiles(count, visible.count, self.dim):
            part = visible.part(members)
            if session._for_good:
                part = part.filled_up(_height(self.dim))
            with session._threads():
                vectors = vectors_of(session, of.step, part, runs, self.dim)
            total[runs, 0, 1:] += self.sum(alone(vectors, members))
        total[:, 0, 0] = visible.count
        return np.repeat(total, session.runs // count, axis=0), None

    def released(
        self, session: Session[Any], total: Array, scales: dict[str, Array], unnoised: None
    ) -> NoisyVectors:
        return NoisyVectors(total[:, 0, 0], total[:, 0, 1:], scales["counts"], scales["sums"])


@dataclass(frozen=True)
class BallVector(_OneVector):
    r"""A count of 1 and a vector v with ``|v| <= bound = C``, released as ``(a, v / C)``.

    **Guarantee.** The L2 sensitivity is 2 when a row is replaced and ``sqrt(1 + a^2)`` when one is
    added or removed; both are attained.

    *Proof.* A replaced row leaves the count and changes ``v/C`` to ``v'/C`` in the unit ball, whose
    diameter is 2: opposite vectors. An added row adds ``(a, v/C)``. QED. The wall draws a vector
    towards the origin until its norm is C; one that is undefined or infinite becomes the origin.
    """

    lemma = "diameter of a ball of clipped vectors and a count"
    adds_up = True

    @property
    def reach(self) -> float:
        return 1.0

    @property
    def l1_reach(self) -> float:
        return math.sqrt(self.dim)

    def sum(self, vectors: Array) -> Array:
        """Sum over rows ``(b, d)``; one pass over the vectors where none is wild."""
        if math.isinf(self.bound):
            return np.asarray(vectors.sum(axis=-1))
        with np.errstate(over="ignore", invalid="ignore"):
            norm = np.sqrt(np.einsum("bdm,bdm->bm", vectors, vectors))
            tame = norm.size == 0 or bool(np.isfinite(norm.max()))
        if not tame:
            return np.asarray(clip_to_ball(vectors, self.bound, axis=-2).sum(axis=-1))
        shrink = self.bound / np.maximum(norm, self.bound)
        return np.asarray((vectors @ shrink[..., None])[..., 0])


@dataclass(frozen=True)
class BoxVector(_OneVector):
    r"""A count of 1 and a vector with each ``|v_j| <= bound = M``, as ``(a sqrt d, v / M)``.

    **Guarantee.** The L2 sensitivity is ``2 sqrt d`` when a row is replaced and
    ``sqrt(d (1 + a^2))`` when one is added or removed; both are attained. L1: d for ``sqrt d``.

    *Proof.* The box ``[-1, 1]^d`` has diagonal ``2 sqrt d`` and norm ``sqrt d`` in a corner; the
    count is as in :class:`BallVector`. QED. It is the price of bounding coordinates alone: only
    a joint bound is smaller, and that is a ball. The wall puts each coordinate at the nearest end;
    an undefined one becomes 0.
    """

    lemma = "diameter of a box of truncated coordinates and a count"
    adds_up = True

    @property
    def reach(self) -> float:
        return math.sqrt(self.dim)

    @property
    def l1_reach(self) -> float:
        return float(self.dim)

    def sum(self, vectors: Array) -> Array:
        """Sum over rows ``(b, d)``."""
        if math.isinf(self.bound) or bool(np.all(np.abs(vectors) <= self.bound)):  # false for NaN
            return np.asarray(vectors.sum(axis=-1))
        inside = np.clip(np.where(np.isnan(vectors), 0.0, vectors), -self.bound, self.bound)
        return np.asarray(inside.sum(axis=-1))


class Parts:
    r"""Disjoint parts of the rows, each measured once: together they cost what one part costs.

    Where a row is replaced in its place, places are shuffled by a public coin and cut into parts of
    ``floor(n / parts)`` rows; what is left over is not used. Where a row is added, each row falls
    into a part by a coin of its own, drawn in order.

    **Guarantee.** Every row is in at most one part, the same whatever the other rows are, and each
    part is measured once with one noise multiplier. So for a given outcome of the coins all
    releases together are one release of that noise multiplier: earlier parts do not depend on the
    row that changes, later ones only through what its part gave away (post-processing). Averaging
    over coins that are equal for both tables keeps it (McSherry 2009, Theorem 4). One ledger entry.
    Where a row is removed its coin goes with it, and each other row's coins have the same law in
    both tables. Coins of a rehearsal are fixed to places: for given ones this is so if the row is
    the last, and over all coins whichever it is. A person's k rows may fall into several parts:
    every part has the noise for all k, and ``k_1^2 + k_2^2 + ... <= k^2``.
    """

    def __init__(
        self, session: Session[MaskedRows], count: int, *, own: bool = True, hidden: float = 0.0
    ) -> None:
        self._session, self.count = session, whole("parts", count)
        self._seen, self._next = rows_seen(session, own, hidden), 0
        self._places = _places(session, self._seen.count, count)
        self._multiplier: Array | None = None

    def release_next(
        self, what: str, statistic: BallVector | BoxVector, step: VectorStep, noise: Noise
    ) -> NoisyVectors:
        """As :meth:`Session.release`, on the next part.

        Raises WallError when every part has been measured, or the noise multiplier is not that of
        the first.
        """
        if self._next == self.count:
            raise WallError("every part has been measured already")
        noise_multiplier = np.asarray(noise.noise_multiplier, dtype=float)
        if self._multiplier is not None and not np.array_equal(self._multiplier, noise_multiplier):
            raise WallError("parts that are charged as one release need the same noise multiplier")
        if noise.law != "gaussian":
            raise WallError("parts can be released only with Gaussian noise")
        session, part = self._session, self._seen.part(self._places[self._next])
        noisy = self._measured(what, statistic, Vectors(step, _part=part), noise)
        if self._multiplier is None:
            lemma = f"{session._entries[-1].proof}; each row in one of {self.count} disjoint parts"
            session._entries[-1] = replace(session._entries[-1], proof=lemma)
        else:
            del session._entries[-1]  # the first part's entry stands for all
        self._multiplier, self._next = noise_multiplier.copy(), self._next + 1
        return noisy

    def _measured(
        self, what: str, statistic: BallVector | BoxVector, of: Vectors, noise: Noise
    ) -> NoisyVectors:
        """One part's release, with its ledger entry."""
        return self._session.release(what, statistic, of, noise)


def _places(session: Session[Any], rows: int, parts: int) -> list[Indices]:
    """Which rows are in each part."""
    coin = session._coin(2)
    if session.private and session.adjacency == "add_remove":
        fell = coin.integers(parts, size=rows)
        return [np.flatnonzero(fell == part) for part in range(parts)]
    session._ask(partial(_demand_as_many, parts))
    size = rows // parts
    order = coin.permutation(rows)
    return [np.sort(order[at * size : (at + 1) * size]) for at in range(parts)]


def _demand_as_many(parts: int, rows: int) -> None:
    """Raise InputError for fewer rows than parts."""
    if rows < parts:
        raise InputError("iterations", "there are more parts than rows", "use fewer iterations")


def rows_seen(session: Session[Any], own: bool, hidden: float) -> VectorRows:
    """All rows in the coordinates asked for; the last are remembered."""
    source: MaskedRows = session.source
    if source._sight is None or source._sight[0] != (own, hidden):
        source._sight = (own, hidden), _look(session, source, own, hidden)
    visible: VectorRows = source._sight[1]
    return visible


def _look(session: Session[Any], source: MaskedRows, own: bool, hidden: float) -> VectorRows:
    for public in (source.public, source.target):
        if own and public is not None:
            demand_squares("limits", public.half_range, public.center)
    rows, targets, observed = source._rows.units.T, source._targets, source._observed
    if own:
        rows = source.public.center[:, None] + source.public.half_range[:, None] * rows
    if own and targets is not None and source.target is not None:
        targets = source.target.center[0] + source.target.half_range[0] * targets
    if hidden > 0.0:
        shown = _shown(session, hidden, rows.shape)
        observed = shown if observed is None else observed & shown
    rows = np.ascontiguousarray(rows if observed is None else np.where(observed, rows, 0.0))
    return VectorRows(rows, None if targets is None else targets.copy(), observed)


def _shown(session: Session[Any], hidden: float, shape: tuple[int, ...]) -> Mask:
    """Which numbers ``(d, n)`` are not hidden; where rows come and go, drawn row by row."""
    if session.adjacency == "add_remove":
        return (session._coin(1).random(shape[::-1]) >= hidden).T
    return session._coin(1).random(shape) >= hidden


def vectors_of(
    session: Session[Any], step: VectorStep, part: VectorRows, runs: slice, dim: int
) -> Array:
    """Vectors ``(b, dim, m)`` as a model gives them. Raises WallError where it gives none: of a
    release or a fit that is paid for once that is paid, and without what the model says of it,
    since some row may be the reason."""
    try:
        with session._quiet():
            vectors = np.asarray(step(part, runs), dtype=np.float64)
        if vectors.shape != (runs.stop - runs.start, dim, part.count):
            raise WallError(ONE_EACH)
    except Exception as problem:
        if not session._lasts:
            raise
        kind = type(problem).__name__
        raise session._paid_failure(f"{ONE_EACH}, but failed on these ({kind})") from None
    return vectors


def _tiles(runs: int, rows: int, dim: int) -> Iterator[tuple[slice, slice]]:
    """Pairs (runs, rows) whose vectors fit the processor's cache, runs outermost."""
    height = max(1, min(rows, _height(dim)))
    width = max(1, TILE_NUMBERS // (dim * height))
    return tiles(runs, rows, width, height)


def _height(dim: int) -> int:
    """Rows whose vectors fit the processor's cache: public."""
    return max(1, min(TILE_ROWS, TILE_NUMBERS // dim))


def alone(vectors: Array, members: slice) -> Array:
    """Vectors ``(..., m)`` of some rows, and nothing of those that only fill a block up."""
    count = members.stop - members.start
    if vectors.shape[-1] == count:
        return vectors
    return np.where(np.arange(vectors.shape[-1]) < count, vectors, 0.0)
