"""Rows read in blocks from files: seconds of an EM iteration as they grow, and what privacy adds.

Rows are generated in Parquet files and read anew in every iteration, by this process alone or by
the workers of a Dask cluster on this machine. An iteration is timed from the end of a pass over the
rows to the end of the next, the least of all. The peer of the private fit is the same fit without
noise, or exact EM in bare NumPy; that of a cluster is the private fit in one process or on one
worker. Ratios near 1 say that privacy costs little, ratios above 1 that workers help.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Any, Literal, TypeAlias

import numpy as np

from dpcore.arrays import Array
from dpcore.bench import peers
from dpcore.bench.measure import Case, Row
from dpcore.datasets.blocks import BLOCK_NUMBERS, files_of, parted
from dpcore.datasets.parts import write_parts
from dpcore.fitting.api import fit
from dpcore.models.gaussian_mixture.mathematics import Mixture, log_density
from dpcore.privacy import Privacy
from dpcore.wall.data.partitions import Engine, PartedTable

CONDITIONS = (
    "Private fits of rows read in blocks. The peer is the same fit without noise; in the cases "
    "with one-thread workers, the same private fit in one process or on one such worker; in the "
    "case 'bare NumPy', an exact EM iteration in a few lines of NumPy on the same files."
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
            return self._compared(folder, [timed.side(BUDGET, self), timed.side(None, self)])

    def _compared(self, folder: Path, sides: list[_Side], suffix: str = "") -> Row:
        """Our side and the peer's, in turns: the least seconds of each, and its last mixture."""
        seconds: list[list[float]] = [[] for _ in sides]
        for _ in range(self.repetitions):
            mixtures = []
            for times, side in zip(seconds, sides, strict=True):
                mixture, more = side()
                times += more
                mixtures.append(mixture)
        ours, theirs = (_likelihood(folder, mixture) for mixture in mixtures)
        return self.row(
            f"gmm {self.rows} x {self.columns} in files, K={self.components}{suffix}",
            "EM iteration",
            (min(seconds[0]), min(seconds[1])),
            (ours, theirs),
            partial(run_alone, str(folder), "gmm", 1),
        )


@dataclass(frozen=True)
class BesideNumPy(InBlocks):
    """One process: a private iteration beside EM as a few lines of NumPy would do it."""

    package = "numpy"
    peer_model = "EM of a few lines"

    def measure(self) -> Row:
        with _written(self.rows, self.columns) as folder:
            plain = partial(_in_numpy, folder, self.components)
            sides: list[_Side] = [_Timed.of(folder).side(BUDGET, self), plain]
            return self._compared(folder, sides, ", bare NumPy")


@dataclass(frozen=True)
class OnCluster(InBlocks):
    """Workers of one thread each on this machine, beside one process that uses every core, or
    beside one such worker."""

    workers: int = 2
    beside: Literal["process", "worker"] = "process"

    @property
    def peer_title(self) -> str:
        return "dpcore in one process" if self.beside == "process" else "dpcore on one worker"

    def why_missing(self) -> str | None:
        """Dask is an extra."""
        return peers.why_missing("distributed")

    def measure(self) -> Row:
        many = _cluster(self.workers)
        few = nullcontext() if self.beside == "process" else _cluster(1)
        with _written(self.rows, self.columns) as folder, many as engine, few as rival:
            sides = [_Timed.of(folder, on).side(BUDGET, self) for on in (engine, rival)]
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

    def side(self, budget: Privacy | None, case: InBlocks) -> _Side:
        """A fit with that budget, when called."""

        def fitted() -> tuple[Mixture, list[float]]:
            self.ends.clear()
            words: dict[str, Any] = {
                "n_components": case.components,
                "iterations": STEPS,
                "seed": 0,
            }
            released: Any = fit("gmm", self.table, privacy=budget, **words).parameters
            means, covariances = released.means[None], released.covariances[None]
            seconds = np.diff(self.ends)[-STEPS:].tolist()
            return Mixture(released.weights[None], means, covariances), seconds

        return fitted


# One fit: its mixture, and the seconds of each iteration, from the end of a pass to that of the
# next.
_Side: TypeAlias = Callable[[], tuple[Mixture, list[float]]]


def _likelihood(folder: Path, mixture: Mixture) -> float:
    """Mean log-likelihood of the rows of the first file."""
    import pandas as pd

    rows = pd.read_parquet(files_of(folder)[0]).to_numpy()
    return float(log_density(mixture, rows)[0])


def _in_numpy(folder: Path, components: int) -> tuple[Mixture, list[float]]:
    """Exact EM from the first rows as means: its mixture, and the seconds of each iteration."""
    rows = next(_blocks(folder))
    means = rows[:components].copy()
    covariances = np.repeat(np.cov(rows.T)[None], components, axis=0)
    weights, seconds = np.full(components, 1.0 / components), []
    for _ in range(STEPS):
        begun = perf_counter()
        counts, sums, squares = np.zeros(components), 0.0 * means, 0.0 * covariances
        roots = np.linalg.inv(np.linalg.cholesky(covariances))
        for rows in _blocks(folder):
            scores = np.empty((len(rows), components))
            for k, root in enumerate(roots):
                apart = (rows - means[k]) @ root.T
                scores[:, k] = np.log(weights[k] * np.linalg.det(root))
                scores[:, k] -= 0.5 * np.einsum("nd,nd->n", apart, apart)
            shares = np.exp(scores - scores.max(axis=1, keepdims=True))
            shares /= shares.sum(axis=1, keepdims=True)
            counts += shares.sum(axis=0)
            sums += shares.T @ rows
            for k in range(components):
                squares[k] += (rows * shares[:, k, None]).T @ rows
        weights, means = counts / counts.sum(), sums / counts[:, None]
        covariances = squares / counts[:, None, None] - means[:, :, None] * means[:, None]
        seconds.append(perf_counter() - begun)
    return Mixture(weights[None], means[None], covariances[None]), seconds


def _blocks(folder: Path) -> Iterator[Array]:
    """The rows of all files, as many at once as the package reads."""
    from pyarrow import parquet

    for path in files_of(folder):
        with parquet.ParquetFile(path) as file:
            rows = BLOCK_NUMBERS // file.metadata.num_columns
            for batch in file.iter_batches(rows):
                yield np.column_stack([column.to_numpy() for column in batch.columns])


CASES = (
    InBlocks(100_000),
    InBlocks(1_000_000),
    InBlocks(10_000_000, repetitions=2),
    BesideNumPy(10_000_000, repetitions=2),
    OnCluster(10_000_000, repetitions=2, workers=2),
    OnCluster(10_000_000, repetitions=2, workers=2, beside="worker"),
    OnCluster(10_000_000, repetitions=2, workers=4),
)
