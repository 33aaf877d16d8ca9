"""Releases of two fits beside each other: by how much the sums behind them differ.

While :func:`watching` lasts, every door shows what it is about to release. Of the first fit that is
written down together with what came out; of the second it is compared, and what came out of the
first is put in its place. Four seams serve all doors:

=======================  ==========================================================
all sums                 the exact sum, just before its noise
releases on a grid       the same, and the whole numbers that it was rounded to
one bit a number         the probabilities of both bits
objective perturbation   the gradient and the curvature of the objective at what was
                         found: for which noise either table would have found it
=======================  ==========================================================
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from threading import get_ident
from typing import Any
from unittest import mock

import numpy as np

from dpcore.arrays import Array
from dpcore.fitting import api
from dpcore.fuzzing.forced import Coins, ForcedGrid, ForcedNoise
from dpcore.mechanisms.discrete_gaussian import SCALE
from dpcore.wall.data import LogisticRows, MaskedRows
from dpcore.wall.session import Session
from dpcore.wall.statistics import local_vectors as local
from dpcore.wall.statistics.perturbed_objective import PerturbedObjective


class Different(Exception):
    """The two fits did not ask for the same releases."""


@dataclass
class Compared:
    """What was released of the first table, and how far the second one's is from it.

    ratios: of each release, the difference as a share of what its entry states; parts of the rows
    that share an entry are taken together. by_entry: squares of the shares of one entry. rows: of
    the larger table. absent: those that the second table has not; turned: that the first has not.
    """

    seed: int
    rows: int
    absent: tuple[int, ...] = ()
    rehearsal: bool = True
    turned: bool = False
    shown: list[tuple[str, Any, Any]] = field(default_factory=list)
    on_second: bool = False
    at: int | None = None
    by_entry: dict[tuple[int, str], float] = field(default_factory=dict)
    slopes: list[tuple[Array, float]] = field(default_factory=list)
    bits: list[float] = field(default_factory=list)

    def begin(self, *, second: bool, compare: bool) -> None:
        """From now on that table is fitted. compare: with what was written down of the first."""
        self.on_second, self.at = second, 0 if compare else None

    @property
    def releases(self) -> int:
        """How many there were of the first table."""
        return len(self.shown)

    @property
    def ratios(self) -> list[float]:
        """One for each entry and norm."""
        return [float(np.sqrt(square)) for square in self.by_entry.values()]

    def next(self, kind: str, exact: Any, released: Any) -> tuple[Any, Any] | None:
        """Write a release down, or give the first table's in its place.

        Raises Different where the second fit asks for another release.
        """
        if self.at is None:
            self.shown.append((kind, exact, released))
            return None
        if self.at >= len(self.shown):
            raise Different("the second fit makes more releases")
        before, value, answer = self.shown[self.at]
        self.at += 1
        if before != kind:
            raise Different("the second fit makes a different release")
        return value, answer

    def coming(self) -> Any:
        """What came out of the first table's next release, if that has been fitted."""
        if self.at is None or self.at >= len(self.shown):
            return None
        return self.shown[self.at][2]

    def note(self, entry: int, norm: str, ratio: float) -> None:
        """A share of a sensitivity; one that is no number counts as infinite."""
        key = (entry, norm)
        square = ratio**2 if np.isfinite(ratio) else np.inf
        self.by_entry[key] = self.by_entry.get(key, 0.0) + square

    def coins(self, *key: int) -> Coins:
        """Coins for the table that is being fitted."""
        absent = self.absent if self.on_second != self.turned else ()
        return Coins([self.seed, *key], self.rows, absent)


@contextmanager
def watching(comparison: Compared) -> Iterator[None]:
    """Every door shows its releases to ``comparison``, and all chance is forced."""
    seams = (
        (Session, "_add_noise", _sums(comparison, Session._add_noise)),
        (Session, "_coin", _coin(comparison)),
        (api, "NoiseSource", _source(comparison)),
        (local, "_chance", _bits(comparison, local._chance)),
        (PerturbedObjective, "release", _minimised(comparison, PerturbedObjective.release)),
    )
    with ExitStack() as stack:
        for owner, name, replaced in seams:
            watched = _in_this_thread(replaced, getattr(owner, name))
            stack.enter_context(mock.patch.object(owner, name, watched))
        yield


def _in_this_thread(replaced: Callable[..., Any], otherwise: Callable[..., Any]) -> Any:
    """A seam for the fit that is compared: fits of other threads go on as they are."""
    here = get_ident()

    def called(*args: Any, **options: Any) -> Any:
        return (replaced if get_ident() == here else otherwise)(*args, **options)

    return called


def _source(comparison: Compared) -> Callable[..., ForcedNoise]:
    def forced(*_: Any) -> ForcedNoise:
        return ForcedNoise(comparison.coins(0), rehearsal=comparison.rehearsal)

    return forced


def _coin(comparison: Compared) -> Callable[..., Coins]:
    def forced(session: Session[MaskedRows], use: int) -> Coins:
        return comparison.coins(2, use)

    return forced


def _sums(comparison: Compared, add_noise: Callable[..., Any]) -> Callable[..., Any]:
    """The seam of all sums."""

    def watched(
        session: Session[Any], what: str, total: Array, contribution: Any, noise: Any
    ) -> Any:
        blocks = contribution.blocks if noise.blocks is None else noise.blocks
        spans = [contribution.slice(block) for block in blocks]
        units = [contribution.scale(block) for block in blocks]
        exact = _joined(total, spans, units)
        scales = add_noise(session, what, total, contribution, noise)
        entry, number = session._entries[-1], len(session._entries)
        steps = _steps(session._noise, _joined(total, spans, units), entry)
        before = comparison.next(
            "sums", (exact, steps, entry), [total[..., s].copy() for s in spans]
        )
        if before is None:
            return scales
        (first, first_steps, first_entry), released = before
        if first.shape != exact.shape or not _state_the_same(first_entry, entry):
            raise Different("the second fit's ledger entry differs")
        order = 1 if noise.law == "laplace" else 2
        comparison.note(number, f"l{order}", _share(exact - first, order, entry.sensitivity))
        if entry.l2_sensitivity is not None:
            comparison.note(number, "l2 beside", _share(exact - first, 2, entry.l2_sensitivity))
        if steps is not None:
            step = float(np.ravel(entry.noise_scale)[0]) / SCALE
            comparison.note(
                number, "grid", _share(step * (steps - first_steps), 2, entry.sensitivity)
            )
        for span, part in zip(spans, released, strict=True):
            total[..., span] = part
        return scales

    return watched


def _joined(total: Array, spans: list[slice], units: list[float]) -> Array:
    """The blocks as one vector in the units of its sensitivity."""
    parts = [(total[..., s] / unit).ravel() for s, unit in zip(spans, units, strict=True)]
    return np.concatenate(parts)


def _steps(source: Any, released: Array, entry: Any) -> Array | None:
    """The whole numbers that a sum was rounded to, where there is a grid."""
    if not isinstance(source, ForcedGrid):
        return None
    noise, source.last = np.concatenate(source.last), []
    step = float(np.ravel(entry.noise_scale)[0]) / SCALE
    return np.asarray(np.rint(released / step) - noise)


def _state_the_same(first: Any, second: Any) -> bool:
    """Whether two entries say the same, up to the rounding of a scale that is worked out from what
    left: linear algebra may round otherwise where its arrays lie elsewhere in memory.
    """
    words = [
        (e.what, e.noise, e.adjacency, e.proof, np.shape(e.noise_scale)) for e in (first, second)
    ]
    sizes = [np.append(np.ravel(e.noise_scale), e.sensitivity) for e in (first, second)]
    return words[0] == words[1] and np.allclose(sizes[0], sizes[1], rtol=1e-9, atol=0.0)


def _share(difference: Array, order: int, sensitivity: float) -> float:
    length = float(np.linalg.norm(difference, order))
    return length / sensitivity if length else 0.0


def _bits(comparison: Compared, chance: Callable[..., Array]) -> Callable[..., Array]:
    """The seam of one bit a number: the log of how much likelier the bits can be, in all."""

    def watched(numbers: Array, epsilon: Array) -> Array:
        here = chance(numbers, epsilon)
        if here.ndim < 3:  # not a table's: a question about the law itself
            return here
        before = comparison.next("bits", None, here)
        if before is None:
            return here
        there = before[1]
        with np.errstate(divide="ignore", invalid="ignore"):
            both = ((here, there), (1.0 - here, 1.0 - there))
            likelier = [np.abs(np.log(p) - np.log(q)) for p, q in both]
        comparison.bits.append(float(np.maximum(*likelier).sum()))
        return np.asarray(there)

    return watched


def _minimised(comparison: Compared, release: Callable[..., Any]) -> Callable[..., Any]:
    """The seam of objective perturbation: slopes and bends where the first table's minimiser is."""

    def watched(
        objective: PerturbedObjective, session: Session[LogisticRows], *words: Any, **more: Any
    ) -> Any:
        minimiser = release(objective, session, *words, **more)
        coming = comparison.coming()
        point = minimiser.coefficients if coming is None else coming.coefficients
        slopes, bends = _slopes(session, point, minimiser.ridge)
        before = comparison.next("minimiser", (slopes, bends, minimiser.ridge), minimiser)
        if before is None:
            return minimiser
        (first_slopes, first_bends, first_ridge), first = before
        if not np.array_equal(first_ridge, minimiser.ridge):
            raise Different("the second fit has a different ridge")
        comparison.slopes.append((slopes - first_slopes, float(np.abs(bends - first_bends).max())))
        return first

    return watched


def _slopes(session: Session[LogisticRows], points: Array, ridge: Array) -> tuple[Array, Array]:
    """Of each run the gradient of the loss ``(B, p)`` and the log of the curvature's determinant.

    The ridge's own part of the gradient and the noise's are the same for both tables.
    """
    from scipy.special import expit

    rows, outcomes = session.source._designed, session.source._outcomes
    chance = expit(points @ rows.T)
    slopes = (chance - outcomes) @ rows
    curved = np.einsum("bn,ni,nj->bij", chance * (1.0 - chance), rows, rows)
    curved += ridge[:, None, None] * np.eye(rows.shape[1])
    return slopes, np.linalg.slogdet(curved)[1]


def weigh_pure(comparison: Compared, entries: tuple[Any, ...]) -> None:
    """Note the shares of entries that state an epsilon alone: bits, and minimisers."""
    for likelier in comparison.bits:
        entry = entries[-1]
        epsilon = float(np.ravel(entry.sensitivity / np.asarray(entry.noise_scale))[0])
        comparison.note(len(entries), "epsilon", likelier / epsilon)
    for slope, bent in comparison.slopes:
        entry = entries[-1]
        scale, surplus = (float(np.ravel(x)[0]) for x in (entry.noise_scale, entry.surplus))
        length = float(np.linalg.norm(slope))
        comparison.note(len(entries), "slope", length / entry.sensitivity)
        epsilon = entry.sensitivity / scale + surplus
        comparison.note(len(entries), "epsilon", (length / scale + bent) / epsilon)
