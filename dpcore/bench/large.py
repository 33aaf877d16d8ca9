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
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from dpcore.bench.measure import peak_mib, peer_version
from dpcore.datasets.blocks import files_of, parted
from dpcore.datasets.parts import write_parts
from dpcore.fitting.api import fit
from dpcore.models.gmm import Mixture, log_density
from dpcore.privacy import Privacy
from dpcore.wall.partitions import Engine, PartedTable

STEPS = 3  # iterations of a fit
BUDGET = Privacy(epsilon=1.0, delta=1e-9)


@dataclass(frozen=True)
class InBlocks:
    """One process: a private iteration beside one without noise.

    quality: mean log-likelihood of the rows of the first file under either fit.
    """

    rows: int
    columns: int = 10
    components: int = 3
    repetitions: int = 3

    def __call__(self) -> dict[str, Any]:
        with _written(self.rows, self.columns) as folder:
            timed = _Timed.of(folder)
            sides: list[Any] = [(timed, BUDGET), (timed, None)]
            ours, peer = _least(sides, self.components, self.repetitions)
            qualities = [_quality(folder, timed.table, b, self.components) for b in (BUDGET, None)]
            words = {"folder": str(folder), "model": "gmm", "iterations": 1}
            peak = peak_mib(__name__, "run_alone", **words)
        case = f"gmm {self.rows} x {self.columns} in files, K={self.components}"
        return _row(case, "dpcore without noise", "dpcore", ours, peer, qualities, peak)


@dataclass(frozen=True)
class OnCluster:
    """Workers of one thread each on this machine, beside one process that uses every core."""

    rows: int
    workers: int
    columns: int = 10
    components: int = 3
    repetitions: int = 3

    def why_missing(self) -> str | None:
        """Dask is an extra."""
        try:
            import_module("distributed")
        except ImportError:
            return "distributed is not installed"
        return None

    def __call__(self) -> dict[str, Any]:
        with (
            _written(self.rows, self.columns) as folder,
            _cluster(self.workers) as engine,
        ):
            sides = [(_Timed.of(folder, engine), BUDGET), (_Timed.of(folder), BUDGET)]
            ours, peer = _least([*sides], self.components, self.repetitions)
            qualities = [
                _quality(folder, timed.table, BUDGET, self.components) for timed, _ in sides
            ]
            words = {"folder": str(folder), "model": "gmm", "iterations": 1}
            peak = peak_mib(__name__, "run_alone", **words)
        case = f"gmm {self.rows} x {self.columns} in files, K={self.components}"
        case += f", {self.workers} workers"
        return _row(case, "dpcore in one process", "dpcore", ours, peer, qualities, peak)


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
    from dpcore.wall.cluster import OnWorkers

    distributed = import_module("distributed")
    with (
        distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address=None
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


def _least(sides: list[tuple[_Timed, Privacy | None]], components: int, turns: int) -> list[float]:
    """The least seconds of an iteration of each side; the sides take turns."""
    found: list[list[float]] = [[] for _ in sides]
    for _ in range(turns):
        for times, (timed, budget) in zip(found, sides, strict=True):
            times += timed.iterations(budget, components)
    return [float(min(times)) for times in found]


def _quality(folder: Path, table: PartedTable, budget: Privacy | None, components: int) -> float:
    """Mean log-likelihood of the rows of the first file, in own units."""
    import pandas as pd

    found: Any = fit(
        "gmm", table, privacy=budget, n_components=components, iterations=STEPS, seed=0
    ).parameters
    mixture = Mixture(found.weights[None], found.means[None], found.covariances[None])
    rows = pd.read_parquet(files_of(folder)[0]).to_numpy()
    return float(log_density(mixture, rows)[0])


def _row(
    case: str,
    peer: str,
    package: str,
    ours: float,
    peer_seconds: float,
    qualities: list[float],
    peak: float,
) -> dict[str, Any]:
    return {
        "case": case,
        "per": "EM iteration",
        "ours_seconds": ours,
        "peer": peer,
        "peer_version": peer_version(package),
        "peer_seconds": peer_seconds,
        "peer_seconds_one_core": None,
        "ratio": peer_seconds / ours if ours > 0 else float("nan"),
        "quality_ours": qualities[0],
        "quality_peer": qualities[1],
        "peak_mib": peak,
    }


CASES = (
    InBlocks(100_000),
    InBlocks(1_000_000),
    InBlocks(10_000_000, repetitions=2),
    OnCluster(10_000_000, 2, repetitions=2),
    OnCluster(10_000_000, 4, repetitions=2),
)
