"""Gaussian mixtures against scikit-learn: the same EM from the same start, iteration by iteration.

Seconds per iteration are the difference of two fits with few and with many iterations, so neither
reading the data, nor checking it, nor making a start counts on either side. scikit-learn is given
the start (no k-means), no tolerance to test and no regularisation. Both use every core, as they do
by default, and that is the ratio; the peer is also measured with its linear algebra on one core,
which for small matrices is often faster, and stands beside it.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpcore.arrays import Array
from dpcore.bench.measure import Case, Row, least_seconds
from dpcore.bench.peers import on_one_core
from dpcore.datasets.generators import gaussian_mixture, stroke_like
from dpcore.evaluation.study import EPSILONS
from dpcore.fitting.api import Grid, fit, fit_grid
from dpcore.fitting.result import Fit
from dpcore.models.gaussian_mixture import mathematics as gmm
from dpcore.privacy import Privacy
from dpcore.schema import Schema
from dpcore.wall.table import PrivateTable

if TYPE_CHECKING:
    from sklearn.mixture import GaussianMixture

CONDITIONS = "The peer starts from the same point."
JUDGED_BY = "mean log-likelihood per row"
WIDE = 50  # from this dimension on, rows whose scales fall like principal components


@dataclass(frozen=True)
class Data:
    """A simulated table: its shape, and how many groups it has and is fitted with."""

    rows: int
    dim: int
    components: int

    def simulate(self) -> Array:
        """Rows ``(n, d)`` inside the unit ball, the same at every call."""
        rng = np.random.default_rng(0)
        count, dim = self.components, self.dim
        if dim >= WIDE:
            rows = stroke_like(self.rows, dim, count, rng=rng)[0]
        else:
            means = 2.0 * rng.standard_normal((count, dim))
            turns = np.linalg.qr(rng.standard_normal((count, dim, dim)))[0]
            shapes = turns * rng.uniform(0.3, 1.5, (count, 1, dim)) @ np.swapaxes(turns, 1, 2)
            shares = rng.dirichlet(np.full(count, 5.0))
            rows = gaussian_mixture(self.rows, shares, means, shapes, rng)[0]
        return np.asarray(rows / np.linalg.norm(rows, axis=1).max())

    def seal(self, rows: Array) -> PrivateTable:
        """The rows ``(n, d)`` behind the wall, bounded by the unit ball."""
        import pandas as pd

        names = [f"x{i + 1}" for i in range(self.dim)]
        schema = Schema.ball_of(names, None, 1.0)
        return PrivateTable.seal(pd.DataFrame(rows, columns=names), schema)

    def __str__(self) -> str:
        return f"{self.rows} x {self.dim}, K={self.components}"


class Mixtures(Case):
    """Both sides at the same start."""

    package, peer_model = "scikit-learn", "GaussianMixture"


@dataclass(frozen=True)
class Iterations(Mixtures):
    """One plain fit, noise zero: seconds of an iteration between the ``few``-th and ``many``-th.

    quality: mean log-likelihood of a row after ``many`` iterations, each side by its own code.
    """

    data: Data
    few: int
    many: int
    repetitions: int = 4

    def measure(self) -> Row:
        rows, components = self.data.simulate(), self.data.components
        table, start = self.data.seal(rows), _start(rows, components)
        least = least_seconds(
            [
                lambda: _ours(table, components, self.few),
                lambda: _ours(table, components, self.many),
                lambda: _peer(rows, start, self.few),
                lambda: _peer(rows, start, self.many),
                on_one_core(lambda: _peer(rows, start, self.few)),
                on_one_core(lambda: _peer(rows, start, self.many)),
            ],
            self.repetitions,
        )
        step_seconds = np.diff(np.reshape(least, (3, 2)))[:, 0] / (self.many - self.few)
        ours, every_core, one_core = step_seconds.tolist()
        return self.row(
            f"gmm {self.data}",
            "EM iteration",
            (ours, every_core),
            (
                _ours(table, components, self.many).score(table),
                float(_peer(rows, start, self.many).score(rows)),
            ),
            self.alone,
            one_core,
        )

    def alone(self) -> None:
        """Simulate and fit."""
        _ours(self.data.seal(self.data.simulate()), self.data.components, self.many)


@dataclass(frozen=True)
class Batch(Mixtures):
    """A grid of private fits, as an explorer wants it, against as many separate plain fits, one
    after another (the peer has no private fit).

    quality: mean log-likelihood of a row; ours: median over the draws at the largest budget.
    """

    data: Data
    iterations: int
    epsilons: Sequence[float] = EPSILONS
    draws: int = 13
    repetitions: int = 2

    def measure(self) -> Row:
        rows, components = self.data.simulate(), self.data.components
        table, start = self.data.seal(rows), _start(rows, components)
        count = len(self.epsilons) * self.draws

        def peer() -> list[GaussianMixture]:
            return [_peer(rows, start, self.iterations) for _ in range(count)]

        ours, every_core, one_core = least_seconds(
            [lambda: self._grid(table), peer, on_one_core(peer)], self.repetitions
        )
        # own units are unit coordinates here
        scores = gmm.log_density(self._grid(table).runs.final, rows)
        return self.row(
            f"gmm {self.data}, {count} fits",
            f"{len(self.epsilons)} budgets x {self.draws} draws, {self.iterations} iterations",
            (ours, every_core),
            (
                float(np.median(scores.reshape(-1, self.draws)[-1])),
                float(_peer(rows, start, self.iterations).score(rows)),
            ),
            self.alone,
            one_core,
        )

    def alone(self) -> None:
        """Simulate and fit the grid."""
        self._grid(self.data.seal(self.data.simulate()))

    def _grid(self, table: PrivateTable) -> Grid:
        return fit_grid(
            "gmm",
            table,
            privacy=[Privacy(epsilon=epsilon, delta=1e-5) for epsilon in self.epsilons],
            draws=range(self.draws),
            n_components=self.data.components,
            iterations=self.iterations,
            seed=0,
        )


def _ours(table: PrivateTable, components: int, iterations: int) -> Fit:
    return fit("gmm", table, privacy=None, n_components=components, iterations=iterations)


def _start(rows: Array, components: int) -> dict[str, Array]:
    """Our data-free start in the frame where all rows have mean 0 and covariance 1, as the peer
    takes it."""
    start = gmm.start(1, components, rows.shape[1], 0)
    covariance = np.cov(rows, rowvar=False, bias=True)
    values, vectors = np.linalg.eigh(covariance)
    root = (vectors * np.sqrt(values)) @ vectors.T
    shapes = root @ start.covariances[0] @ root
    return {
        "weights_init": start.weights[0],
        "means_init": rows.mean(axis=0) + start.means[0] @ root,
        "precisions_init": np.linalg.inv(shapes),
    }


def _peer(rows: Array, start: dict[str, Array], iterations: int) -> GaussianMixture:
    """The peer, fitted: exactly so many iterations, hence its warning that it did not converge."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.mixture import GaussianMixture

    count = len(start["weights_init"])
    model = GaussianMixture(count, max_iter=iterations, tol=0.0, reg_covar=0.0, **start)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(rows)


CASES = (
    Iterations(Data(26_733, 10, 3), few=2, many=42),
    Iterations(Data(1_250_000, 2, 10), few=1, many=5),
    Iterations(Data(50_000, 100, 10), few=1, many=4),
    Batch(Data(5_000, 2, 3), iterations=5),
)
