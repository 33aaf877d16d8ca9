"""One pair from its seed and number: made, written, loaded, fitted twice, compared."""

from __future__ import annotations

import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from dpcore.declaration import declaration
from dpcore.errors import DPCoreError
from dpcore.fitting.api import Grid, fit_grid
from dpcore.fitting.recipe import takes_equal_persons, takes_some_persons
from dpcore.fuzzing import documents, files
from dpcore.fuzzing.cells import pick
from dpcore.fuzzing.compare import Compared, Different, watching, weigh_pure
from dpcore.fuzzing.documents import Documents, random_documents
from dpcore.fuzzing.forced import ForcedGrid
from dpcore.fuzzing.readings import otherwise_read
from dpcore.fuzzing.requests import MODEL_NAMES, FitRequest, random_fit, ways_of
from dpcore.fuzzing.tables import Neighbours, random_tables
from dpcore.wall.kernels import balls
from dpcore.wall.kernels import bounded_sums as moments
from dpcore.wall.kernels import nearest_centres as nearest
from dpcore.wall.statistics import logistic_statistics as outcomes
from dpcore.wall.statistics import row_vectors as vectors
from dpcore.wall.statistics import sigmoid_belief as belief
from dpcore.wall.statistics import topic_words as topics

SMALL_BLOCKS = (  # so that a few rows fill several
    (vectors, "TILE_ROWS", 5),
    (outcomes, "TILE", 6),
    (outcomes, "WEIGHED_NUMBERS", 24),
    (outcomes, "FRAMED_NUMBERS", 24),
    (belief, "TILE", 6),
    (moments, "BLOCK_NUMBERS", 64),
    (moments, "WHOLE_NUMBERS", 64),
    (nearest, "BLOCK_NUMBERS", 64),
    (balls, "BLOCK_NUMBERS", 64),
    (topics, "CELLS", 27),
)


@dataclass(frozen=True)
class Pair:
    """Two neighbouring files, and how both are fitted.

    turned: the second of the tables is fitted first. small: in small blocks.
    """

    seed: int
    number: int
    request: FitRequest
    tables: Neighbours
    turned: bool
    small: bool

    @property
    def model(self) -> str:
        """The name of the model that is fitted."""
        return self.request.model

    @property
    def adjacency(self) -> str:
        """The relation in which the two tables are neighbours."""
        return self.request.privacy.adjacency

    @property
    def ordered(self) -> tuple[tuple[str, Any], tuple[str, Any]]:
        """Both tables with their names, the one that is fitted first before the other."""
        first, second = ("one", self.tables.first), ("other", self.tables.second)
        return (second, first) if self.turned else (first, second)


@dataclass(frozen=True)
class Verdict:
    """What became of a pair.

    outcome: ``compared``, ``refused`` (both), ``refused one`` (for a word among numbers) or
    ``violation``. ratio: the largest share of a sensitivity. finding: what is wrong, or the
    refusal.
    """

    outcome: str
    ratio: float = 0.0
    releases: int = 0
    finding: str = ""


def pair(seed: int, number: int) -> Pair:
    """Pair ``number`` of a seed; models take turns."""
    rng = np.random.default_rng([seed, number])
    model = MODEL_NAMES[number % len(MODEL_NAMES)]
    way = pick(rng, ways_of(model))
    request = random_fit(rng, model, way)
    if declaration(model).reads == "documents":
        tables = random_documents(rng, request.privacy.adjacency, sampled=way.sampled)
    else:
        equal = 0.3 if takes_some_persons(model) else 1.0 if takes_equal_persons(model) else None
        equal = None if way.sampled else equal
        tables = random_tables(rng, way, request.privacy.adjacency, equal=equal)
    return Pair(seed, number, request, tables, bool(rng.random() < 0.5), bool(rng.random() < 0.2))


def examine(examined: Pair, keep: Path | None = None) -> Verdict:
    """Write, load and fit both tables, and compare. keep: a folder for a copy of the files."""
    comparison = Compared(
        examined.request.seed,
        len(examined.tables.first.rows),
        () if examined.tables.new else examined.tables.absent,
        examined.request.rehearsal,
        examined.turned,
    )
    with watching(comparison), _blocks(examined.small):
        (name, table), (later, other) = examined.ordered
        read: list[Any] = []
        first = _fitted(examined, table, read, None if keep is None else keep / name)
        comparison.begin(second=True, compare=isinstance(first, Grid))
        second = _fitted(examined, other, read, None if keep is None else keep / later)
        if len(read) == 2 and otherwise_read(
            examined.tables, *(read[::-1] if examined.turned else read)
        ):
            return Verdict("violation", finding="one cell changes how another row is read")
        if isinstance(first, Grid) and isinstance(second, Grid):
            return _compared(comparison, first, second)
        if isinstance(second, Different):
            return Verdict("violation", finding=f"{second}")
        return _refused(examined, comparison, first, second)


@contextmanager
def _blocks(small: bool) -> Iterator[None]:
    with ExitStack() as stack:
        for module, name, size in SMALL_BLOCKS if small else ():
            stack.enter_context(mock.patch.object(module, name, size))
        yield


def _fitted(examined: Pair, table: Any, read: list[Any], keep: Path | None) -> Grid | Exception:
    """A fit of one table, or what was raised. read: gets the table as it was loaded."""
    request = examined.request
    on_grid = ForcedGrid(request.seed) if request.on_grid else None
    with tempfile.TemporaryDirectory(prefix="dpcore-fuzz-") as name, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        folder = Path(name)
        try:
            load = documents.loaded if isinstance(table, Documents) else files.loaded
            read.append(load(table, folder))
            return fit_grid(
                examined.model,
                read[-1],
                privacy=(request.privacy,),
                seed=0 if on_grid is None and request.rehearsal else None,
                on_grid=on_grid,
                **request.options,
            )
        except Exception as problem:
            return problem
        finally:
            if keep is not None:
                shutil.copytree(folder, keep)


def _compared(comparison: Compared, first: Grid, second: Grid) -> Verdict:
    """Two fits: as many releases, no larger differences, and nothing else that differs."""
    weigh_pure(comparison, first.ledger.entries)
    ratio = max(comparison.ratios, default=0.0)
    problem = ""
    if ratio > 1.0:
        problem = f"a release changes by {ratio:.9g} times its sensitivity"
    elif comparison.at != comparison.releases:
        problem = "the second fit makes fewer releases"
    elif not same(first.ledger, second.ledger):
        problem = "the ledgers differ"
    elif not same(first.runs.final, second.runs.final):
        problem = "the parameters differ although all releases are alike"
    outcome = "violation" if problem else "compared"
    return Verdict(outcome, ratio, comparison.releases, problem)


def _refused(examined: Pair, comparison: Compared, first: Any, second: Any) -> Verdict:
    """One of the two or both were refused."""
    raised = [problem for problem in (first, second) if isinstance(problem, Exception)]
    strange = [problem for problem in raised if not isinstance(problem, DPCoreError)]
    if strange:
        return Verdict("violation", finding=f"{type(strange[0]).__name__}: {strange[0]}")
    sentence = f"{getattr(raised[0], 'found', raised[0])}"
    if len(raised) == 2:
        return Verdict("refused", finding=sentence)
    if not examined.tables.odd:
        return Verdict("violation", finding=f"only one table is refused: {raised[0]}")
    table = examined.ordered[0 if raised[0] is first else 1][1]
    comparison.begin(second=raised[0] is second, compare=False)
    turned = _fitted(examined, table.ordered(range(len(table.rows))[::-1]), [], None)
    if not isinstance(turned, DPCoreError) or str(turned) != str(raised[0]):
        return Verdict(
            "violation", finding=f"a refusal depends on the position of a cell: {raised[0]}"
        )
    return Verdict("refused one", finding=sentence)


def same(first: Any, second: Any) -> bool:
    """Whether two values are the same; numbers of arrays up to a part in 10^9, for rounding."""
    if type(first) is not type(second):
        return False
    if isinstance(first, np.ndarray):
        if first.dtype.kind not in "fc" or first.shape != second.shape:
            return bool(np.array_equal(first, second))
        size = float(np.max(np.abs(first), initial=0.0, where=np.isfinite(first)))
        return np.allclose(first, second, rtol=1e-9, atol=1e-9 * size, equal_nan=True)
    if isinstance(first, tuple | list):
        return len(first) == len(second) and all(map(same, first, second))
    if is_dataclass(first):
        return all(same(getattr(first, f.name), getattr(second, f.name)) for f in fields(first))
    return bool(first == second or (first != first and second != second))
