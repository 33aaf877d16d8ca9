"""What every bundled table shows as it opens, at both ends of its slider and where it stands:
``python -m tests.studio.openings [NAME ...]``.

A table makes its point where the verdicts at the ends differ, and where at the budget with which
it opens at least one part is found in a usual draw. Each part has the smallest budget from which
it is found in most draws, at that budget and at all larger ones that were tried.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from app import compute
from app.result_store import ResultStore
from app.scenario import offered
from app.scenario import opening as scenario_of
from app.tables import data_of
from dpcore.evaluation.study import BudgetGrid, budget_grid, curves
from dpcore.evaluation.verdict import Verdict, verdicts

TRIED = 12  # budgets, evenly among the slider's
DRAWS, FEW = 9, 3  # of the noise; of a slow model
LARGE = 100_000  # rows from which few draws must do
WORDS = ("nothing", "simplest as good", "part kept", "as exact")  # of a verdict's level


@dataclass(frozen=True)
class Opening:
    """What a table shows: verdicts and parts found in a usual draw, at the lowest, the opening's
    and the highest budget; and from where each part is found, infinite where never."""

    name: str
    model: str
    budgets: tuple[float, float, float]
    verdicts: tuple[Verdict, Verdict, Verdict]
    recovered: tuple[int, int, int]
    parts: int
    since: tuple[float, ...]
    seconds: float

    @property
    def fails(self) -> str:
        """Why the opening does not make its point; empty where it does."""
        low, _, high = self.verdicts
        flaws = ["one verdict at both ends"] * (low.text == high.text)
        flaws += ["nothing to see"] * (self.recovered[1] == 0)
        return ", ".join(flaws)

    def __str__(self) -> str:
        cells = (
            f"{WORDS[verdict.level]}, {recovered} of {self.parts}"
            for verdict, recovered in zip(self.verdicts, self.recovered, strict=True)
        )
        since = ", ".join(
            f"{epsilon:g}" if np.isfinite(epsilon) else "never" for epsilon in self.since
        )
        low, middle, high = (f"{epsilon:g}" for epsilon in self.budgets)
        return (
            f"| {self.name} | {self.model} | {low} / {middle} / {high} | {' | '.join(cells)} "
            f"| {since} | {self.fails or 'yes'} |"
        )


def opening(name: str) -> Opening:
    """Measure one table or collection of documents as it opens."""
    begun, scenario, store = perf_counter(), scenario_of(name), ResultStore()
    data = data_of(scenario)
    assert data is not None
    setting, slider = scenario.setting(data.secret), scenario.budgets(data.rows)
    reference = compute.references_of(setting, data, store)
    here = min(slider, key=lambda epsilon: abs(np.log(epsilon / scenario.epsilon)))
    tried = slider[:: max(1, len(slider) // TRIED)]
    budgets = tuple(sorted({*tried, slider[0], here, slider[-1]}))
    few = scenario.cost > 1.0 or (data.rows or 0) > LARGE
    draws = range(FEW if few else DRAWS)
    grid = budget_grid(data.table, setting, reference.converged, budgets, draws, data.held_out)
    rival = curves(data.table, setting, grid, (scenario.count_by,), draws, data.held_out).single
    judged, usual = verdicts(grid, reference, rival), np.median(grid.recovered.sum(axis=-1), axis=1)
    places = (0, budgets.index(here), len(budgets) - 1)
    low, middle, high = (judged[at] for at in places)
    few_recovered, middle_recovered, most = (int(usual[at]) for at in places)
    return Opening(
        name,
        scenario.title,
        (budgets[0], here, budgets[-1]),
        (low, middle, high),
        (few_recovered, middle_recovered, most),
        grid.recovered.shape[-1],
        found_since(grid),
        perf_counter() - begun,
    )


def found_since(grid: BudgetGrid) -> tuple[float, ...]:
    """From which of rising budgets on each part is found in most draws, sorted."""
    often = grid.recovered.mean(axis=1) > 0.5  # (S, K)
    lasting = np.logical_and.accumulate(often[::-1], axis=0).sum(axis=0)
    budgets = np.append(np.array(grid.epsilons)[::-1], np.inf)
    return tuple(sorted(float(budgets[many - 1]) if many else np.inf for many in lasting))


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print, each table when it is there."""
    parser = argparse.ArgumentParser(prog="python -m tests.studio.openings", description=__doc__)
    names = [recipe.name for recipe in offered()]
    parser.add_argument("names", nargs="*", metavar="NAME", default=names)
    print("| table | model | ε | low end | as it opens | high end | found from | makes its point |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for name in parser.parse_args(arguments).names:
        print(opening(name), flush=True)


if __name__ == "__main__":
    main()
