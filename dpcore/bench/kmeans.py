"""k-means against scikit-learn's Lloyd, and against diffprivlib's private one, in whole fits.

Plain: scikit-learn begins where our fit stands after its first step and takes the steps that are
left, so both end at the same centres. Ours is the fit with all it does: rows are checked, bounded
and put in a tree of boxes (up to three dimensions), and a start is found; the peer checks and
centres the rows, is given its start, and stops where nothing moves.

Private: the seconds of a whole fit from the rows to the centres, and how near the rows are to the
centres, at the epsilon that each side states. diffprivlib spends it as pure epsilon, after Su et
al. 2016 (a row added or removed), and takes as many steps as it sees fit. Ours is asked twice:
by the same paper's algorithm under the same promise, and by the proved recipe, which has a delta
and protects the replacement of a row. Rows are in [-1, 1], which both sides are told.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcore.arrays import Array
from dpcore.bench import peers
from dpcore.bench.measure import Case, Row, fastest_ratio, least_seconds
from dpcore.datasets.generators import gaussian_mixture
from dpcore.datasets.places import DEGREES, check_ins
from dpcore.fitting.api import Grid, fit, fit_grid
from dpcore.fitting.result import Fit
from dpcore.privacy import Privacy
from dpcore.schema import Schema
from dpcore.wall.kernels.nearest_centres import NearestRows
from dpcore.wall.table import PrivateTable

if TYPE_CHECKING:
    from sklearn.cluster import KMeans

CONDITIONS = (
    "Plain: our complete fit; the peer is given the centres that our fit has after its first step, "
    "and does the remaining steps. Private: complete fits, at the same stated epsilon; the case "
    "states what our fit protects, and the peer states delta 0."
)
JUDGED_BY = (
    "mean squared distance of a row from its centre, lower is better; private: the median over fits"
)
PRIVATE_PEER = "diffprivlib"
QUALITY = "mean squared distance of a row from its centre"
PROMISES: Mapping[str, Mapping[str, Any]] = {
    "proved": {"delta": 1e-7, "adjacency": "replace_one", "accountant": "exact"},
    "dplloyd": {"delta": 1e-7, "adjacency": "add_remove", "accountant": "linear"},  # spends none
}
WORDS = {"proved": "delta 1e-7, a row replaced", "dplloyd": "delta 0, a row added or removed"}


@dataclass(frozen=True)
class Data:
    """A simulated table: check-ins on a map, points spread evenly, or groups in any dimension."""

    kind: str
    rows: int
    dim: int
    components: int

    def simulate(self) -> Array:
        """Rows ``(n, d)`` inside the box ``[-1, 1]^d``, the same at every call."""
        rng = np.random.default_rng(0)
        if self.kind == "check-ins":
            return np.asarray(check_ins(self.rows, rng)[0] / np.max(DEGREES, axis=1))
        if self.kind == "even":
            return rng.uniform(-1.0, 1.0, (self.rows, self.dim))
        count, dim = self.components, self.dim
        shapes = np.tile(0.16 * np.eye(dim), (count, 1, 1))
        means = rng.uniform(-0.6, 0.6, (count, dim))
        rows = gaussian_mixture(self.rows, np.full(count, 1.0 / count), means, shapes, rng)[0]
        return np.clip(rows, -1.0, 1.0)

    def seal(self, rows: Array) -> PrivateTable:
        """The rows ``(n, d)`` behind the wall, bounded by the box."""
        import pandas as pd

        names = [f"x{i + 1}" for i in range(self.dim)]
        schema = Schema.from_bounds({name: (-1.0, 1.0) for name in names})
        return PrivateTable.seal(pd.DataFrame(rows, columns=names), schema, open_to_all=True)

    def __str__(self) -> str:
        return f"{self.kind} {self.rows} x {self.dim}, K={self.components}"


@dataclass(frozen=True)
class Plain(Case):
    """One fit without noise, of so many steps.

    apart: how far any coordinate of any centre of ours is from the peer's at the end.
    """

    data: Data
    iterations: int
    repetitions: int = 5

    package, peer_model = "scikit-learn", "KMeans"

    def measure(self) -> Row:
        data = self.data
        rows = data.simulate()
        table = data.seal(rows)
        start = _ours(table, data, 1).parameters.centers
        seconds = least_seconds(
            [
                lambda: _ours(table, data, self.iterations),
                lambda: _peer(rows, start, self.iterations - 1),
                peers.on_one_core(lambda: _peer(rows, start, self.iterations - 1)),
            ],
            self.repetitions,
        )
        ours = _ours(table, data, self.iterations).parameters.centers
        theirs = _peer(rows, start, self.iterations - 1).cluster_centers_
        apart = np.abs(ours - theirs[np.lexsort(theirs.T[::-1])]).max()
        return self.row(
            f"k-means {data}",
            f"fit of {self.iterations} steps",
            (seconds[0], seconds[1]),
            (_spread(rows, ours[None]), _spread(rows, theirs[None])),
            self.alone,
            seconds[2],
            **_facts(*seconds),
            apart=float(apart),
        )

    def alone(self) -> None:
        """Simulate and fit."""
        _ours(self.data.seal(self.data.simulate()), self.data, self.iterations)


@dataclass(frozen=True)
class Private(Case):
    """One private fit, from the rows to the centres, both at the same epsilon.

    quality: :data:`QUALITY`, the median over ``draws`` fits of ours and ``peer_draws`` of theirs.
    """

    data: Data
    epsilon: float
    algorithm: str
    draws: int = 13
    peer_draws: int = 13
    repetitions: int = 3

    package, peer_model = PRIVATE_PEER, "KMeans"

    def why_missing(self) -> str | None:
        """Why the case is left out: the peer needs an interpreter of its own."""
        return peers.why_missing_elsewhere(PRIVATE_PEER)

    def installed(self) -> str:
        """The peer's own interpreter tells its version, with its answers."""
        return ""

    def measure(self) -> Row:
        data = self.data
        rows = data.simulate()
        table = data.seal(rows)
        (seconds,) = least_seconds(
            [lambda: _private(table, data, self.epsilon, self.algorithm)], self.repetitions
        )
        grid = _private(table, data, self.epsilon, self.algorithm, self.draws)
        theirs = _private_peer(data, self.epsilon, self.peer_draws)
        return self.row(
            f"private k-means {data}, epsilon {self.epsilon:g}: {self.algorithm}, "
            f"{WORDS[self.algorithm]}; the peer states delta 0",
            f"private fit ({self.draws} and {self.peer_draws} judged)",
            (seconds, theirs.seconds),
            (_spread(rows, grid.runs.final.centres), _spread(rows, theirs.centres)),
            self.alone,
            **{**_facts(seconds, theirs.seconds, None), "peer_version": theirs.version},
        )

    def alone(self) -> None:
        """Simulate and fit."""
        table = self.data.seal(self.data.simulate())
        _private(table, self.data, self.epsilon, self.algorithm)


@cache
def _private_peer(data: Data, epsilon: float, draws: int) -> peers.PrivateCentres:
    """Asked once for all algorithms of ours that it stands beside."""
    return peers.private_centres(data.simulate(), data.components, epsilon, draws)


def _facts(ours: float, every_core: float, one_core: float | None) -> dict[str, Any]:
    missing = peers.why_missing_elsewhere(PRIVATE_PEER)
    return {
        "quality": QUALITY,
        "ratio_fastest": fastest_ratio(ours, every_core, one_core),
        "left_out": [] if missing is None else [missing],
    }


def _spread(rows: Array, centres: Array) -> float:
    """The median over centres ``(B, K, d)`` of the mean squared distance to the nearest."""
    return float(np.median(NearestRows(rows).squared_distance(centres)) / len(rows))


def _ours(table: PrivateTable, data: Data, iterations: int) -> Fit:
    return fit("kmeans", table, privacy=None, n_components=data.components, iterations=iterations)


def _private(
    table: PrivateTable, data: Data, epsilon: float, algorithm: str, draws: int = 1
) -> Grid:
    return fit_grid(
        "kmeans",
        table,
        privacy=[Privacy(epsilon=epsilon, **PROMISES[algorithm])],
        draws=range(draws),
        seed=0,
        n_components=data.components,
        algorithm=algorithm,
    )


def _peer(rows: Array, start: Array, iterations: int) -> KMeans:
    """The peer, fitted in so many steps, or in fewer where nothing moves any more."""
    from sklearn.cluster import KMeans

    return KMeans(
        len(start), init=start, n_init=1, max_iter=iterations, tol=0.0, algorithm="lloyd"
    ).fit(rows)


_CHECK_INS = Data("check-ins", 1_256_384, 2, 10)
_EVEN = Data("even", 1_256_384, 2, 10)
_TEN = Data("groups", 200_000, 10, 10)
_FEW_CHECK_INS = Data("check-ins", 12_500, 2, 10)
CASES: tuple[Plain | Private, ...] = (
    *(Plain(data, iterations) for data in (_CHECK_INS, _EVEN, _TEN) for iterations in (5, 10, 40)),
    *(
        Private(_FEW_CHECK_INS, epsilon, algorithm)
        for epsilon in (0.1, 1.0)
        for algorithm in PROMISES
    ),
    *(
        Private(_CHECK_INS, epsilon, algorithm, peer_draws=3)
        for epsilon in (0.1, 1.0)
        for algorithm in PROMISES
    ),
)
