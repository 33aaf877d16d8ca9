"""What privacy adds to an iteration: each fit with noise beside the same fit without.

Seconds of an iteration are the difference of a fit of few and one of many iterations, so reading,
checking and bounding the rows, and finding the noise for a budget, count on neither side. They are
seconds of processors, because a few hundredths are not to be seen by the clock of a machine that
others use. Both sides take turns; the least of all repetitions counts. The peer is this package
without noise: ratios near 1 say that privacy costs little. Factor analysis releases one sum and
then reads no row any more, so its whole fit is timed.

Quality is what :meth:`dpcore.fitting.result.Fit.score` says of the same rows, more is better.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from dpcore.bench import gmm, kmeans, topics
from dpcore.bench.measure import Case, Row, least_processor_seconds
from dpcore.fitting.api import fit
from dpcore.fitting.result import Fit
from dpcore.privacy import Privacy
from dpcore.schema import Schema
from dpcore.wall.data.corpus import PrivateCorpus
from dpcore.wall.table import PrivateTable

CONDITIONS = "Our fit with noise is compared with our fit without noise, in processor seconds."
JUDGED_BY = (
    "mean log-likelihood per row or word; for k-means, the share of the variance that the centres "
    "explain"
)
Sealed: TypeAlias = PrivateTable | PrivateCorpus
BUDGET = Privacy(epsilon=1.0, delta=1e-7)
BITS = 196, 20  # columns of on and off, and what makes them


@dataclass(frozen=True)
class Added(Case):
    """One model on one simulated table. many = few: whole fits are timed."""

    model: str
    size: str
    data: Callable[[], Sealed]
    components: int
    few: int
    many: int
    options: Mapping[str, Any] = field(default_factory=dict)
    repetitions: int = 3

    peer_model = "without noise"

    def measure(self) -> Row:
        data = self.data()
        jobs = [(b, steps) for b in (BUDGET, None) for steps in (self.few, self.many)]
        calls = [self._job(data, *job) for job in jobs]
        least = [cores for _, cores in least_processor_seconds(calls, self.repetitions)]
        private, plain = self._each(*least[:2]), self._each(*least[2:])
        qualities = [self._fit(data, b, self.many).score(data) for b in (BUDGET, None)]
        return self.row(
            f"{self.model} {self.size}, epsilon 1",
            ("fit" if self.many == self.few else "iteration") + ", processor seconds",
            (private, plain),
            (qualities[0], qualities[1]),
            partial(run_alone, self.model, self.size),
        )

    def _each(self, few: float, many: float) -> float:
        return many if self.many == self.few else (many - few) / (self.many - self.few)

    def _job(self, data: Sealed, budget: Privacy | None, steps: int) -> Callable[[], object]:
        return lambda: self._fit(data, budget, steps)

    def _fit(self, data: Sealed, budget: Privacy | None, steps: int) -> Fit:
        return fit(
            self.model,
            data,
            privacy=budget,
            n_components=self.components,
            iterations=steps,
            seed=None if budget is None else 0,
            **self.options,
        )


def run_alone(model: str, size: str) -> None:
    """Simulate and fit with noise: what a fresh process does whose memory is measured."""
    case = next(
        candidate for candidate in CASES if (candidate.model, candidate.size) == (model, size)
    )
    case._fit(case.data(), BUDGET, case.few)


def _bits(rows: int) -> PrivateTable:
    """Columns of on and off, which a few hidden causes switch."""
    import pandas as pd

    rng = np.random.default_rng(0)
    columns, causes = BITS
    hidden = rng.random((rows, causes)) < 0.2
    pulls = 2.0 * rng.standard_normal((causes, columns))
    on = rng.random((rows, columns)) < 1.0 / (1.0 + np.exp(1.0 - hidden @ pulls))
    names = [f"x{i + 1}" for i in range(columns)]
    schema = Schema.from_bounds({name: (0.0, 1.0) for name in names})
    return PrivateTable.seal(pd.DataFrame(on.astype(float), columns=names), schema)


def _sealed(data: gmm.Data | kmeans.Data) -> Callable[[], Sealed]:
    return lambda: data.seal(data.simulate())


_PAIRS, _TENS = gmm.Data(1_250_000, 2, 10), gmm.Data(200_000, 10, 5)
_CENTRES, _WIDE = kmeans.Data("groups", 200_000, 10, 10), gmm.Data(50_000, 100, 10)
CASES = (
    Added("gmm", "1250000 x 2, K=10", _sealed(_PAIRS), 10, few=1, many=4),
    Added("gmm", "200000 x 10, K=5", _sealed(_TENS), 5, few=1, many=4),
    Added("kmeans", "200000 x 10, K=10", _sealed(_CENTRES), 10, few=2, many=12),
    Added("fa", "50000 x 100, K=10", _sealed(_WIDE), 10, few=50, many=50),
    Added(
        "lda",
        f"{topics.SMALL.corpus}, 500 a step",
        lambda: topics.SMALL.corpus.sealed,
        50,
        few=4,
        many=12,
        options={"minibatch": 500},
    ),
    Added(
        "sbn",
        "20000 x 196, K=50, 2000 a step",
        lambda: _bits(20_000),
        50,
        few=2,
        many=8,
        options={"minibatch": 2000},
    ),
)
