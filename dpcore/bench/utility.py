"""Utility of private fits on many tables, half of which no method was chosen on.

``share = (ours - baseline) / (exact - baseline)`` on rows that no fit saw. baseline: the simplest
model without privacy (one Gaussian, one centre, word frequencies, the majority, independent
columns). exact: the converged fit without privacy, the best of several starts. A share of 1 is as
good as exact, 0 as good as the simplest exact model. Belief networks are compared by the exact
likelihood of a row, summed over all states of their hidden units. Correlations are those of the
fitted rows, as their yardstick has it. Where ``exact - baseline`` is below twice its standard error
over parts of the held-out rows, there is nothing to have a share of.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np

from dpcore.arrays import Array, Indices
from dpcore.bench.utility_tables import HALVES, TABLES, Table
from dpcore.checks import one_of, whole
from dpcore.errors import InputError
from dpcore.evaluation.yardstick import Scorer, Yardstick, yardstick
from dpcore.fitting.api import fit_grid
from dpcore.privacy import Privacy

Row = dict[str, Any]

EPSILONS = (0.1, 0.3, 1.0, 4.0)
DELTA = 1e-5
DRAWS = 5
HELD_OUT = 0.25  # of the rows
PARTS = 10  # of the held-out rows, for the standard error
LEAST = 2.0  # standard errors from which a difference has shares


def run(
    half: str | None = None,
    model: str | None = None,
    draws: int = DRAWS,
    epsilons: Sequence[float] = EPSILONS,
    tables: Sequence[Table] | None = None,
    on_table: Callable[[str, float], None] | None = None,
) -> list[Row]:
    """Rows of every table, model and epsilon of one half (of both without one).

    Row: ``table, half, model, epsilon, share, low, high, baseline, simplest``. share, low, high:
    median, 10% and 90% quantile over the noise draws. baseline: utility of the simplest exact
    model, in the model's own measure; also ``exact``, ``ours`` (median) and ``error``, the standard
    error of exact - baseline. simplest: the median share of the simplest private rival, whose
    utility is ``rival``. ``None`` stands for a share that does not exist; ``absent`` says why a
    table is not here. on_table: called with the fit that was measured, and its seconds.
    Raises InputError for an unknown half, or a model that no table is for.
    """
    whole("draws", draws)
    tables = TABLES if tables is None else tables
    if half is not None:
        one_of("half", half, HALVES)
    models = tuple(dict.fromkeys(name for table in tables for name, _ in table.models))
    if model is not None:
        one_of("model", model, models)
    rows: list[Row] = []
    for table in tables:
        fits = [fit for fit in table.models if model in (None, fit[0])]
        if not fits or half not in (None, table.half):
            continue
        try:
            train, test = table.read().split(HELD_OUT, seed=0)
        except InputError as error:
            rows += [_empty(table, name, None, error.problem) for name, _ in fits]
            continue
        for name, parts in fits:
            began = perf_counter()
            rows += Measured.of(name, parts, train, test).rows(table, epsilons, draws)
            if on_table is not None:
                on_table(f"{name} on {table.name}", perf_counter() - began)
    return rows


def medians(rows: Sequence[Row]) -> list[Row]:
    """Of rows with a share: the median share over the tables of a half, by model and epsilon; how
    many tables these are; on how many of them the simplest private model is better."""
    cells: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        cells.setdefault(tuple(row[key] for key in ("half", "model", "epsilon")), []).append(row)
    return [
        {
            "half": half,
            "model": model,
            "epsilon": epsilon,
            "median share": float(np.median([row["share"] for row in cell])),
            "of the simplest": float(np.median([row["simplest"] for row in cell])),
            "tables": len(cell),
            "simplest better": sum(row["simplest"] > row["share"] for row in cell),
        }
        for (half, model, epsilon), cell in cells.items()
    ]


def _empty(table: Table, model: str, epsilon: float | None, absent: str | None = None) -> Row:
    nothing = dict.fromkeys(
        ("share", "low", "high", "baseline", "simplest", "exact", "ours", "rival", "error")
    )
    named = {"table": table.name, "half": table.half, "model": model, "epsilon": epsilon}
    return {**named, **nothing, "absent": absent}


@dataclass(frozen=True)
class Measured:
    """One model on one table, with its references without privacy; utilities on held-out rows."""

    model: str
    parts: int
    train: Any
    judge: Yardstick
    scorer: Scorer
    converged: Any
    simplest: Any

    @classmethod
    def of(cls, model: str, parts: int, train: Any, test: Any) -> Measured:
        """With the exact fit and the simplest model of the train rows."""
        judge = yardstick(model)
        scorer = judge.scorer(train, None, most=None, held_out=test)
        converged = judge.best_fit(train, parts)
        simplest = judge.silent(converged)
        if judge.fits_rival:
            rival, options = judge.rival_model or model, _alone(judge)
            simplest = judge.from_rival(
                fit_grid(
                    rival, train, privacy=None, as_private=True, clip=math.inf, **options
                ).runs.final
            )
        return cls(model, parts, train, judge, scorer, converged, simplest)

    def rows(self, table: Table, epsilons: Sequence[float], draws: int) -> Iterator[Row]:
        """A row for each epsilon."""
        baseline, exact = (
            float(self.judge.bench_score(batch, self.scorer)[0])
            for batch in (self.simplest, self.converged)
        )
        gain, error = exact - baseline, self._error()
        own = {"n_components": self.parts, **self.judge.for_score}
        ours = self._private(self.model, epsilons, draws, own)
        rival = np.full_like(ours, baseline)
        if self.judge.fits_rival:
            name = self.judge.rival_model or self.model
            rival = self._private(name, epsilons, draws, _alone(self.judge))
        for epsilon, scores, others in zip(epsilons, ours, rival, strict=True):
            row = _empty(table, self.model, epsilon)
            row |= {"baseline": baseline, "exact": exact, "error": error}
            row |= {"ours": float(np.median(scores)), "rival": float(np.median(others))}
            if gain > 0.0 and gain >= LEAST * error:
                shares = (scores - baseline) / gain
                low, share, high = np.quantile(shares, [0.1, 0.5, 0.9])
                row |= {"share": float(share), "low": float(low), "high": float(high)}
                row["simplest"] = float(np.median(others) - baseline) / gain
            yield row

    def _private(self, model: str, epsilons: Sequence[float], draws: int, options: Row) -> Array:
        """Utility ``(S, D)`` of private fits of the model, or of the simplest rival's."""
        requests = [Privacy(epsilon=epsilon, delta=DELTA) for epsilon in epsilons]
        grid = fit_grid(model, self.train, privacy=requests, draws=range(draws), seed=0, **options)
        final = grid.runs.final
        batch = final if model == self.model else self.judge.from_rival(final)
        scores = self.judge.bench_score(batch, self.scorer)
        return scores.reshape(len(epsilons), draws)

    def _error(self) -> float:
        """Standard error of exact - baseline, from parts of the held-out rows."""
        rows, gains = self.scorer.rows, []
        parts = min(PARTS, len(rows))
        for first in range(parts):
            scorer = _part(self.scorer, np.arange(first, len(rows), parts))
            exact, baseline = (
                float(self.judge.bench_score(batch, scorer)[0])
                for batch in (self.converged, self.simplest)
            )
            gains.append(exact - baseline)
        return float(np.std(gains, ddof=1) / math.sqrt(parts)) if parts > 1 else math.inf


def _alone(judge: Yardstick) -> Row:
    """Options of the simplest model."""
    return {"n_components": judge.simplest, **judge.for_score, **judge.rival_options}


def _part(scorer: Scorer, at: Indices) -> Scorer:
    """The scorer on some of its rows."""
    from dpcore.wall.data import Bags

    rows = scorer.rows.take(at) if isinstance(scorer.rows, Bags) else scorer.rows[at]
    beside = {
        name: getattr(scorer, name)[at] for name in ("outcomes", "codes") if hasattr(scorer, name)
    }
    return replace(scorer, rows=rows, **beside)
