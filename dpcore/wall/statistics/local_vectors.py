"""The local model: every person randomises an own row, and only what was randomised is collected.

The door :func:`randomise` gives back one noisy vector a row. Whoever sums them never had the rows:
here the wall stands for the persons. Kasiviswanathan, Lee, Nissim, Raskhodnikova, Smith 2011.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dpcore.arrays import Array, Mask
from dpcore.checks import positive, whole
from dpcore.errors import InputError, WallError
from dpcore.privacy.events import EpsilonDelta
from dpcore.privacy.ledger import LedgerEntry
from dpcore.wall.data.clipping import clip_to_ball
from dpcore.wall.data.regression_target import MaskedRows
from dpcore.wall.session import Noise, Session
from dpcore.wall.statistics.row_vectors import (
    BallVector,
    BoxVector,
    NoisyVectors,
    Parts,
    VectorRows,
    Vectors,
    rows_seen,
    vectors_of,
)
from dpcore.wall.statistics.statistic import ROUNDING, Part, Sensitivity, Statistic

OfRows = Callable[[VectorRows, slice], Array]

SUREST = 20.0  # epsilon of one bit, at most: the rarer bit of a surer one is lost in rounding


@dataclass(frozen=True)
class LocalVectors(Statistic):
    r"""The list of all rows' vectors, each in ``[-bound, bound]^d``, or in the ball of radius
    ``bound``: n components, none summed.

    **Guarantee.** A replaced row changes one vector: L2 sensitivity ``2 sqrt d`` in a box, 2 in a
    ball, L1 ``2 d`` and ``2 sqrt d``, in units of the bound, all attained by opposite corners. So
    one release of the whole list with
    noise for that sensitivity is, seen from one person, that person's own vector with the same
    noise (*Proof.* noise of different rows is independent, and no other vector changes. QED.)
    """

    components: int
    dim: int
    bound: float
    ball: bool = False

    @property
    def lemma(self) -> str:  # type: ignore[override]
        """What is proved, in words for the ledger."""
        shape = "ball" if self.ball else "box"
        return f"diameter of one row's {shape}; every row gets its noise before any sum"

    def __post_init__(self) -> None:
        whole("dim", self.dim)
        positive("bound", self.bound)

    @cached_property
    def parts(self) -> dict[str, Part]:
        """One block: the vector."""
        return {"sums": Part(self.dim, self.bound)}

    def sensitivity(self, adjacency: str) -> Sensitivity:
        """The lemma's, where a row is replaced; InputError elsewhere."""
        if adjacency != "replace_one":
            raise InputError(
                "adjacency",
                "in the local model it is public who takes part",
                "choose replace_one",
            )
        wide = 2.0 * math.sqrt(self.dim)
        l2, l1 = (2.0, wide) if self.ball else (wide, 2.0 * self.dim)
        return Sensitivity(l2, {"sums": (l2, l1)})


@dataclass(frozen=True)
class OneBitEntry(LedgerEntry):
    """One bit a number, by randomised response: epsilon in all, delta 0, and nothing better.

    noise_scale, sensitivity: their quotient is ``1/epsilon``.
    """

    def _mechanism(self) -> EpsilonDelta:
        with np.errstate(divide="ignore"):
            epsilon = self.sensitivity / np.asarray(self.noise_scale, dtype=float)
        return EpsilonDelta(float(epsilon) if epsilon.ndim == 0 else epsilon)

    def as_dict(self) -> dict[str, Any]:
        """A JSON-ready record."""
        box = {"epsilon": self._mechanism().epsilon, "delta_each": 0.0, "proof": self.proof}
        return {**self._head("epsilon_delta"), **box}


def randomise(
    session: Session[MaskedRows], what: str, bound: float, of_rows: OfRows, noise: Noise
) -> Array:
    """Each row's vector with noise of its own ``(B, n, d)``, and one ledger entry.

    of_rows: given rows and a slice of the runs, vectors ``(b, d, m)``; the wall puts them into
    ``[-bound, bound]^d``.

    **Guarantee.** Every row leaves with noise = noise multiplier x the diameter of its own box.
    Raises InputError unless a row is replaced: who takes part is not hidden in the local model.
    """
    vectors = _inside(session, of_rows, bound)
    shape = LocalVectors(vectors.shape[1], vectors.shape[2], bound)
    session._check(shape, bound, bound, (noise,))
    session._release(what, vectors, shape, (noise,))
    return vectors


class LocalParts(Parts):
    """Disjoint groups of persons, each of whom sends one noisy vector in the step of the group.

    A step's question is made of what earlier groups sent, which is public in the local model.

    **Guarantee.** As :class:`Parts` says of a step's release, where the release is the list of all
    noisy vectors of the group and not their sum: each leaves with noise = noise multiplier x the
    diameter of its own set (:class:`LocalVectors`). *Proof.* A person is in one group and answers
    once; groups before do not depend on that row, later ones only on what was sent. QED. Whoever
    sums them never had the rows. Raises InputError unless a row is replaced.
    """

    def __init__(
        self, session: Session[MaskedRows], count: int, *, own: bool = True, hidden: float = 0.0
    ) -> None:
        LocalVectors(1, session.public.dim, 1.0).sensitivity(session.adjacency)
        super().__init__(session, count, own=own, hidden=hidden)

    def _measured(
        self, what: str, statistic: BallVector | BoxVector, of: Vectors, noise: Noise
    ) -> NoisyVectors:
        session, part = self._session, of._part
        assert part is not None  # of one group
        ball = isinstance(statistic, BallVector)
        vectors = vectors_of(session, of.step, part, slice(0, session.runs), statistic.dim)
        sent = _bounded(vectors, statistic.bound, ball=ball)
        shape = LocalVectors(part.count, statistic.dim, statistic.bound, ball)
        session._check(shape, statistic.bound, statistic.bound, (noise,))
        scales = session._release(what, sent, shape, (noise,))
        count, root = np.full(session.runs, float(part.count)), math.sqrt(part.count)
        return NoisyVectors(count, sent.sum(axis=1), 0.0 * count, root * scales["sums"])


def randomise_bits(
    session: Session[MaskedRows], what: str, of_rows: OfRows, noise_multiplier: Array
) -> Mask:
    r"""One bit for each number ``t`` in [-1, 1] of each row ``(B, n, d)``; True with probability
    ``1/2 + t/2B``, ``B = (e^a + 1)/(e^a - 1)`` with a as :func:`epsilon_of_a_bit` has it.

    **Guarantee.** ``epsilon = 1/noise_multiplier`` with delta 0. *Proof.* Either bit has a
    probability between ``(1 - 1/B)/2`` and ``(1 + 1/B)/2``, whose ratio is
    ``(B + 1)/(B - 1) = e^a``; the d bits of a row are independent, and so are the rows of one
    person; d a for each of them comes to ``1/noise_multiplier`` at most. QED. Duchi, Jordan,
    Wainwright 2018, section 3.

    Raises WallError without privacy.
    """
    numbers = _inside(session, of_rows, 1.0)
    runs, rows, dim = numbers.shape
    drawn = np.zeros_like(numbers)
    shape, noise = LocalVectors(rows, dim, 1.0), Noise("laplace", noise_multiplier)
    session._check(shape, 1.0, 1.0, (noise,))
    if not session.private:
        raise WallError("one-bit answers need a run with privacy")
    session._release(what, drawn, shape, (noise,))
    entry = session._entries[-1]
    scale = np.asarray(entry.noise_scale).reshape(-1, 1, 1)
    lemma = "the bits of a row are at most e^epsilon times as likely for one row as for another"
    fields = asdict(entry) | {"proof": lemma, "noise": "one_bit", "l2_sensitivity": None}
    session._entries[-1] = OneBitEntry(**fields)
    epsilon = np.broadcast_to(epsilon_of_a_bit(session, noise_multiplier), (runs,)).reshape(
        -1, 1, 1
    )
    return np.asarray(_uniform(drawn / scale) < _chance(numbers, epsilon))


def epsilon_of_a_bit(session: Session[MaskedRows], noise_multiplier: Array) -> Array:
    """The share ``(B,)`` of ``epsilon = 1/noise_multiplier`` for each number of each row of one
    person; of a share above :data:`SUREST` the rest is not used; each share is deflated by 1e-8
    for rounding."""
    bits = session.public.dim * session.rows_per_person
    share = 1.0 / (np.asarray(noise_multiplier, dtype=float) * bits * ROUNDING)
    return np.asarray(np.minimum(share, SUREST))


def _chance(numbers: Array, epsilon: Array) -> Array:
    """Of a True bit, for numbers in [-1, 1] and the epsilon of each."""
    return np.asarray(0.5 + 0.5 * numbers * np.tanh(0.5 * epsilon))


def _uniform(laplace: Array) -> Array:
    """Standard Laplace noise as noise that is even on (0, 1): its own distribution function."""
    tail = 0.5 * np.exp(-np.abs(laplace))
    return np.asarray(np.where(laplace < 0.0, tail, 1.0 - tail))


def _inside(session: Session[MaskedRows], of_rows: OfRows, bound: float) -> Array:
    """The rows' vectors ``(B, n, d)`` inside their box; undefined numbers count as 0."""
    visible = rows_seen(session, False, 0.0)
    every = slice(0, session.runs)
    vectors = vectors_of(session, of_rows, visible, every, session.public.dim)
    return _bounded(vectors, bound, ball=False)


def _bounded(vectors: Array, bound: float, *, ball: bool) -> Array:
    """Vectors ``(B, d, m)`` as ``(B, m, d)`` inside the box or the ball, in an array of their own,
    to which noise is added; what is undefined counts as 0."""
    if ball:
        inside = clip_to_ball(vectors, bound, axis=-2)
    else:
        inside = np.clip(np.where(np.isnan(vectors), 0.0, vectors), -bound, bound)
    return np.array(np.swapaxes(inside, 1, 2), order="C")
