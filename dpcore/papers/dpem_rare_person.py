"""One rare person in a crowd: seen by an exact fit, hidden by a private one, and by how much.

Park, Foulds, Chaudhuri, Welling 2017, Figure 1, with the attacker's success measured.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from dpcore.datasets.load import load
from dpcore.evaluation.exposure import OBSERVED, success_rate
from dpcore.evaluation.metrics import loneliest_row
from dpcore.evaluation.study import Setting
from dpcore.evaluation.yardstick import yardstick
from dpcore.fitting.api import fit_grid
from dpcore.papers.claims import Row, beside, holds, points
from dpcore.papers.reproduction import Run, experiment, values
from dpcore.wall.custodian import custodian_rows
from dpcore.wall.table import PrivateTable

Array = NDArray[np.float64]

TABLES = {"rare_person": "104 others", "rare_person_50x": "5,200 others"}
FEW, MANY = TABLES.values()
NEAR = 1.0  # standard deviations of a crowd: a centre that sits on a person
EPSILONS = (0.5, 1.0, 2.0, 4.0, 8.0)
SETTING = Setting(components=3, iterations=10, delta=1e-4)
DRAWS = 2000  # of an attack; distances take a tenth
EXACT = "without privacy, converged"
OWN_STEPS = "the same steps without noise"
PRIVATE = "private"
NOISELESS = "no noise"
CEILING = "proved: no attacker above"


@experiment(
    "DP-EM, Figure 1: one rare person",
    holds(
        "without privacy a centre sits on the rare person",
        lambda rows: (y < NEAR for y in points(rows, f"{EXACT}, {FEW}").values()),
    ),
    holds(
        "with privacy none does",
        lambda rows: (y > NEAR for y in points(rows, f"{PRIVATE}, {FEW}").values()),
    ),
    holds(
        "in a crowd fifty times as large the private centres are where the exact ones are",
        lambda rows: (
            abs(y - points(rows, f"{EXACT}, {MANY}")[at]) < NEAR
            for at, y in points(rows, f"{PRIVATE}, {MANY}").items()
        ),
    ),
    beside(
        holds(
            "no measured attack is better than what is proved allows",
            lambda rows: (row["low"] <= row["ceiling"] for row in rows if "ceiling" in row),
        )
    ),
    stands_in="simulated persons for a survey that is not public",
)
def figure_1(run: Run) -> str:
    """One rare person: how near a fit's centres come, and how often an attacker guesses the row.

    The table is bundled. Distances are in standard deviations of the crowd along the way to the
    person.
    """
    budgets = f"epsilon (delta = {SETTING.delta:g}, one person replaced)"
    distance = "distance of the nearest centre, standard deviations of the crowd"
    run.panel("distance", budgets, distance, "The person in the fit", log_y=True)
    run.panel("attack", budgets, "share of right guesses", "The person guessed")
    draws = run.ask.drawn(DRAWS)
    for name, words in run.each(TABLES.items()):
        table = load(f"bundled:{name}")
        _distances(run, table, words, max(10, draws // 10))
        _attacks(run, table, words, draws)
    return _finding(run.rows)


def _distances(run: Run, table: PrivateTable, words: str, draws: int) -> None:
    """How far the person is from the nearest centre, by budget and without noise."""
    position, (_, exact) = loneliest_row(table), custodian_rows(table)
    person, crowd = exact[position], np.delete(exact, position, axis=0)
    away = person - crowd.mean(axis=0)
    unit = float(np.std(crowd @ (away / np.linalg.norm(away))))
    options = SETTING.options()
    best = yardstick("gmm").converged(table, SETTING.components, options)
    plain = fit_grid("gmm", table, privacy=None, as_private=True, **options)
    requests = [SETTING.request(epsilon) for epsilon in EPSILONS]
    noisy = fit_grid("gmm", table, privacy=requests, draws=range(draws), seed=0, **options)
    hidden = _nearest(noisy.runs.final.means, person).reshape(len(EPSILONS), draws) / unit
    for name, means in ((EXACT, best.means), (OWN_STEPS, plain.runs.final.means)):
        for epsilon in EPSILONS:
            near = float(_nearest(means, person)[0]) / unit
            run.row(f"{name}, {words}", epsilon, near, panel="distance")
    for epsilon, found in zip(EPSILONS, hidden, strict=True):
        run.scores(f"{PRIVATE}, {words}", epsilon, found, panel="distance")


def _nearest(means: Array, person: Array) -> Array:
    """Distance ``(B,)`` of the nearest of the centres ``(B, K, d)``."""
    return np.asarray(np.min(np.linalg.norm(means - person, axis=-1), axis=-1))


def _attacks(run: Run, table: PrivateTable, words: str, draws: int) -> None:
    """Measured success by budget, adjacency and what is seen, with what is proved."""
    exact: list[float] = []
    ceilings = dict.fromkeys(EPSILONS, 0.5)
    for adjacency, sees in product(("replace_one", "add_remove"), OBSERVED):
        setting = replace(SETTING, adjacency=adjacency)
        exact.append(success_rate(table, setting, None, sees=sees).rate)
        for epsilon in EPSILONS:
            found = success_rate(table, setting, epsilon, draws, sees=sees)
            run.row(
                f"{adjacency}, {sees} seen, {words}",
                epsilon,
                found.rate,
                low=found.low,
                high=found.high,
                ceiling=found.ceiling,
            )
            ceilings[epsilon] = max(found.ceiling, ceilings[epsilon])
    for epsilon in EPSILONS:
        run.row(f"{NOISELESS}, {words}", epsilon, min(exact))
        run.row(f"{CEILING}, {words}", epsilon, ceilings[epsilon])


def _finding(rows: list[Row]) -> str:
    said = []
    for words in TABLES.values():
        exact, own, private = (
            values(rows, f"{name}, {words}", "distance")[1.0]
            for name in (EXACT, OWN_STEPS, PRIVATE)
        )
        said.append(
            f"with {words} {exact:.1f} converged without privacy, {own:.1f} after as many of our "
            f"clipped steps without noise, {private:.1f} at epsilon 1"
        )
    attacks = [each for each in rows if "ceiling" in each]
    worst = max((each for each in attacks if each["x"] == 1.0), key=lambda each: float(each["y"]))
    above = sum(each["low"] > each["ceiling"] for each in attacks)
    exact_rate = min(
        each["y"]
        for each in rows
        if each["panel"] == "attack" and each["curve"].startswith(NOISELESS)
    )
    return (
        f"Distance of the nearest centre to the person, in standard deviations of the crowd: "
        f"{'; '.join(said)}. The attacker is right about {exact_rate:.0%} of fits without privacy; "
        f"at epsilon 1 the best of {sum(each['x'] == 1.0 for each in attacks)} attacks is right "
        f"in {worst['y']:.1%} ({worst['low']:.1%} to {worst['high']:.1%}), proved to be at most "
        f"{worst['ceiling']:.1%}; of {len(attacks)} intervals {above} lie above their ceiling."
    )
