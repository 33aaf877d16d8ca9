"""Factor analysis against scikit-learn's (``svd_method="lapack"``), both stopped equally far up.

The two climb differently: ours by EM from the principal components of a released matrix, each step
cheap; the peer by a decomposition of all rows in each of few steps. So seconds are those of whole
fits that end equally well. The summit is what the peer reaches with its default tolerance. Ours
takes the fewest steps of :data:`LADDER` that come within ``slack`` of it (nats per row); so does
the peer where that is sooner than its default. Should ours not come there, each case says where the
two stopped. Both are judged by one formula on the rows they were fitted to.

The peer is measured on every core and with its linear algebra on one, which is often faster for
matrices of this size; ours chooses for itself. A private fit, which the peer does not have, stands
beside the peer's plain one.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np

from dpcore.arrays import Array
from dpcore.bench import peers
from dpcore.bench.measure import Case, Row, fastest_ratio, least_seconds
from dpcore.datasets.faces import faces_like
from dpcore.fitting.api import fit
from dpcore.fitting.result import Fit
from dpcore.models.factor_analysis import mathematics as factors
from dpcore.models.factor_analysis.mathematics import Factors
from dpcore.privacy import Privacy
from dpcore.privacy.guarantee import delta_text
from dpcore.schema import Schema
from dpcore.wall.kernels.threads import one_thread
from dpcore.wall.table import PrivateTable

if TYPE_CHECKING:
    from sklearn.decomposition import FactorAnalysis

CONDITIONS = "Each side uses its own starting point; the case states where each stops."
JUDGED_BY = "mean log-likelihood per row, both sides by the same formula"
QUALITY = "mean log-likelihood per row"
LADDER = (1, 2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 200, 300, 500, 1000)  # EM steps of ours
DELTA = 1e-5


@dataclass(frozen=True)
class Data:
    """Simulated faces: how many, pixels along a side, the factors that are sought, and whether each
    picture is given the same contrast, as is usual with photographs. As drawn they are what the
    model assumes, and the peer is done in a few steps; of equal contrast they are not quite.
    """

    rows: int
    side: int
    components: int
    equal_contrast: bool = False

    def simulate(self) -> Array:
        """Rows ``(n, side^2)`` of mean 0 and norm at most 1, the same at every call."""
        rows = faces_like(self.rows, self.side, rng=np.random.default_rng(0))[0]
        rows -= rows.mean(axis=1, keepdims=True)
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.asarray(rows / (norms if self.equal_contrast else norms.max()))

    def seal(self, rows: Array) -> PrivateTable:
        """The rows ``(n, d)`` behind the wall, bounded by the unit ball."""
        import pandas as pd

        names = [f"p{i + 1}" for i in range(rows.shape[1])]
        schema = Schema.ball_of(names, None, 1.0)
        return PrivateTable.seal(pd.DataFrame(rows, columns=names), schema, open_to_all=True)

    def __str__(self) -> str:
        contrast = "of equal contrast" if self.equal_contrast else "as drawn"
        return f"{self.rows} x {self.side**2} {contrast}, {self.components} factors"


@dataclass(frozen=True)
class Peer:
    """A plain fit of the peer: its steps, quality, and seconds on every core and on one."""

    steps: int
    quality: float
    every_core: float
    one_core: float


class Faces(Case):
    """Both sides judged by one formula."""

    package, peer_model = "scikit-learn", "FactorAnalysis"

    def _measured(
        self, case: str, seconds: float, peer: Peer, quality: float, alone: Callable[[], object]
    ) -> Row:
        fastest = fastest_ratio(seconds, peer.every_core, peer.one_core)
        return self.row(
            f"factor analysis {case}",
            "fit",
            (seconds, peer.every_core),
            (quality, peer.quality),
            alone,
            peer.one_core,
            quality=QUALITY,
            ratio_fastest=fastest,
        )


@dataclass(frozen=True)
class Plain(Faces):
    """One plain fit of each, both stopped ``slack`` nats per row below the peer's default end."""

    data: Data
    slack: float
    repetitions: int = 2

    def measure(self) -> Row:
        data, rows = self.data, self.data.simulate()
        table = data.seal(rows)
        target = _summit(data)[-1] - self.slack
        peer = _peer_measured(data, _peer_steps(data, target), self.repetitions)
        steps = _fewest(lambda count: _quality(_ours(table, data, count), rows), target)
        (seconds,) = least_seconds([lambda: _ours(table, data, steps)], self.repetitions)
        quality = _quality(_ours(table, data, steps), rows)
        where = "both stop"
        if quality < target:
            where = f"ours stays {target - quality:.2g} nats below the target; the peer stops"
        return self._measured(
            f"{data}: {where} within {self.slack:g} nats of the peer's default result; steps: "
            f"ours {steps}, the peer's {peer.steps}",
            seconds,
            peer,
            quality,
            partial(self.alone, steps),
        )

    def alone(self, steps: int) -> None:
        """Simulate and fit."""
        _ours(self.data.seal(self.data.simulate()), self.data, steps)


@dataclass(frozen=True)
class Private(Faces):
    """One private fit beside the peer's plain one with its default tolerance."""

    data: Data
    epsilon: float
    repetitions: int = 2

    def measure(self) -> Row:
        data, rows = self.data, self.data.simulate()
        table = data.seal(rows)
        (seconds,) = least_seconds([lambda: _private(table, data, self.epsilon)], self.repetitions)
        return self._measured(
            f"{data}: private, epsilon {self.epsilon:g}, delta {delta_text(DELTA)}, a row "
            "replaced; the peer without privacy",
            seconds,
            _peer_measured(data, len(_summit(data)), self.repetitions),
            _quality(_private(table, data, self.epsilon), rows),
            self.alone,
        )

    def alone(self) -> None:
        """Simulate and fit."""
        _private(self.data.seal(self.data.simulate()), self.data, self.epsilon)


def _ours(table: PrivateTable, data: Data, steps: int) -> Fit:
    return fit("fa", table, privacy=None, n_components=data.components, iterations=steps)


def _private(table: PrivateTable, data: Data, epsilon: float) -> Fit:
    privacy = Privacy(epsilon=epsilon, delta=DELTA)
    return fit("fa", table, privacy=privacy, n_components=data.components, seed=0)


def _quality(fitted: Fit, rows: Array) -> float:
    return float(factors.log_density(fitted.parameters.as_factors(), rows)[0])


def _fewest(quality: Callable[[int], float], target: float) -> int:
    """The first number of steps on the ladder whose quality, which never falls, is the target's."""
    low, high = 0, len(LADDER) - 1
    while low < high:
        middle = (low + high) // 2
        if quality(LADDER[middle]) >= target:
            high = middle
        else:
            low = middle + 1
    return LADDER[low]


@cache
def _summit(data: Data) -> tuple[float, ...]:
    """What the peer says of its quality in each of its steps, with its default tolerance."""
    rows = data.simulate()
    with one_thread():  # not measured
        return tuple(float(value) / len(rows) for value in _peer(rows, data, None).loglike_)


def _peer_steps(data: Data, target: float) -> int:
    """The fewest steps after which the peer's quality is the target's.

    A fit that is stopped has updated its noise variances once more than its trace tells, so one
    step less may be enough.
    """
    steps = next(i for i, quality in enumerate(_summit(data), start=1) if quality >= target)
    if steps == 1:
        return 1
    rows = data.simulate()
    with one_thread():
        sooner = _peer_quality(_peer(rows, data, steps - 1), rows) >= target
    return steps - 1 if sooner else steps


@cache
def _peer_measured(data: Data, steps: int, repetitions: int) -> Peer:
    """Measured once for all cases that ask for it."""
    rows = data.simulate()

    def job() -> FactorAnalysis:
        return _peer(rows, data, steps)

    every_core, one_core = least_seconds([job, peers.on_one_core(job)], repetitions)
    with one_thread():
        quality = _peer_quality(job(), rows)
    return Peer(steps, quality, every_core, one_core)


def _peer(rows: Array, data: Data, steps: int | None) -> FactorAnalysis:
    """The peer, fitted in so many steps, or with its default tolerance."""
    from sklearn.decomposition import FactorAnalysis
    from sklearn.exceptions import ConvergenceWarning

    stop = {} if steps is None else {"max_iter": steps, "tol": 0.0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return FactorAnalysis(data.components, svd_method="lapack", **stop).fit(rows)


def _peer_quality(model: FactorAnalysis, rows: Array) -> float:
    """The peer's fit by the formula that ours is judged by."""
    parameters = Factors(model.mean_[None], model.components_.T[None], model.noise_variance_[None])
    return float(factors.log_density(parameters, rows)[0])


_DRAWN = Data(400, 64, 10)
_PHOTOGRAPHED = Data(400, 64, 10, equal_contrast=True)
_SMALL = Data(5_000, 16, 10)
CASES: tuple[Plain | Private, ...] = (
    Plain(_DRAWN, 1e-3),
    Plain(_PHOTOGRAPHED, 1e-3),
    Plain(_PHOTOGRAPHED, 1.0),
    Private(_PHOTOGRAPHED, 1.0),
    Plain(_SMALL, 1e-3),
    Private(_SMALL, 1.0),
)
