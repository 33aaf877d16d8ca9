"""Rows read in blocks from files: seconds of an EM iteration as they grow, and what privacy adds.

Rows are generated in Parquet files and read anew in every iteration, by this process alone or by
the workers of a Dask cluster on this machine. An iteration is timed from the end of a pass over the
rows to the end of the next, the least of all. The peer of the private fit is the same
fit without noise, and that of a cluster is the private fit in one process: ratios near 1 say that
privacy costs little, ratios above 1 that workers help.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Any, TypeAlias

import numpy as np

from dpcore.bench import peers
from dpcore.bench.measure import Case, Row
from dpcore.datasets.blocks import files_of, parted
from dpcore.datasets.parts import write_parts
from dpcore.fitting.api import fit
from dpcore.models.gaussian_mixture.mathematics import Mixture, log_density
from dpcore.privacy import Privacy
from dpcore.wall.data.partitions import Engine, PartedTable

CONDITIONS = (
    "Private fits of rows read in blocks. The peer is the same fit without noise; in the cases "
    "with one-thread workers, it is the same private fit in one process."
)
JUDGED_BY = "mean log-likelihood per row of the first file"
STEPS = 3  # iterations of a fit
BUDGET = Privacy(epsilon=1.0, delta=1e-9)


@dataclass(frozen=True)
class InBlocks(Case):
    """One process: a private iteration beside one without noise.

    quality: mean log-likelihood of the rows of the first file under either fit.
    """

    rows: int
    columns: int = 10
    components: int = 3
    repetitions: int = 3

    peer_model = "without noise"

    def measure(self) -> Row:
        with _written(self.rows, self.columns) as folder:
            timed = _Timed.of(folder)
            return self._compared(folder, [(timed, BUDGET), (timed, None)])

    def _compared(self, folder: Path, sides: list[_Side], suffix: str = "") -> Row:
        """Our side and the peer's, in turns."""
        seconds = _least(sides, self.components, self.repetitions)
        ours, theirs = (_quality(folder, *side, self.components) for side in sides)
        alone = partial(run_alone, str(folder), "gmm", 1)
        return self.row(
            f"gmm {self.rows} x {self.columns} in files, K={self.components}{suffix}",
            "EM iteration",
            (seconds[0], seconds[1]),
            (ours, theirs),
            alone,
        )


@dataclass(frozen=True)
class OnCluster(InBlocks):
    """Workers of one thread each on this machine, beside one process that uses every core."""

    workers: int = 2

    peer_model = "in one process"

    def why_missing(self) -> str | None:
        """Dask is an extra."""
        return peers.why_missing("distributed")

    def measure(self) -> Row:
        with _written(self.rows, self.columns) as folder, _cluster(self.workers) as engine:
            sides: list[_Side] = [(_Timed.of(folder, engine), BUDGET), (_Timed.of(folder), BUDGET)]
            return self._compared(folder, sides, f", {self.workers} workers")


def run_alone(folder: str, model: str, iterations: int) -> None:
    """A private fit of the rows in a folder: what a fresh process does whose memory is measured."""
    fit(model, parted(folder, None), privacy=BUDGET, n_components=3, iterations=iterations)


@contextmanager
def _written(rows: int, columns: int) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home) / "rows"
        write_parts(folder, rows, columns)
        yield folder


@contextmanager
def _cluster(workers: int) -> Iterator[Engine]:
    from dpcore.wall.data.dask_engine import OnWorkers

    distributed = import_module("distributed")
    with (
        distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield OnWorkers(client)


@dataclass(frozen=True)
class _Timed:
    """A table whose passes are timed. ends: when each pass over the rows was done."""

    table: PartedTable
    ends: list[float]

    @classmethod
    def of(cls, folder: Path, engine: Engine | None = None) -> _Timed:
        ends: list[float] = []

        def end(share: float) -> None:
            if share >= 1.0:
                ends.append(perf_counter())

        return cls(parted(folder, None, engine=engine, on_share=end), ends)

    def iterations(self, budget: Privacy | None, components: int) -> list[float]:
        """Seconds of each iteration of one fit, from the end of a pass to that of the next."""
        self.ends.clear()
        fit("gmm", self.table, privacy=budget, n_components=components, iterations=STEPS, seed=0)
        return list(np.diff(self.ends)[-STEPS:])


_Side: TypeAlias = tuple[_Timed, Privacy | None]


def _least(sides: list[_Side], components: int, turns: int) -> list[float]:
    """The least seconds of an iteration of each side; the sides take turns."""
    seconds: list[list[float]] = [[] for _ in sides]
    for _ in range(turns):
        for times, (timed, budget) in zip(seconds, sides, strict=True):
            times += timed.iterations(budget, components)
    return [float(min(times)) for times in seconds]


def _quality(folder: Path, timed: _Timed, budget: Privacy | None, components: int) -> float:
    """Mean log-likelihood of the rows of the first file, in own units."""
    import pandas as pd

    parameters: Any = fit(
        "gmm", timed.table, privacy=budget, n_components=components, iterations=STEPS, seed=0
    ).parameters
    mixture = Mixture(
        parameters.weights[None], parameters.means[None], parameters.covariances[None]
    )
    rows = pd.read_parquet(files_of(folder)[0]).to_numpy()
    return float(log_density(mixture, rows)[0])


CASES = (
    InBlocks(100_000),
    InBlocks(1_000_000),
    InBlocks(10_000_000, repetitions=2),
    OnCluster(10_000_000, repetitions=2, workers=2),
    OnCluster(10_000_000, repetitions=2, workers=4),
)
