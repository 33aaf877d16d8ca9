"""One rare person in a crowd: seen by an exact fit, hidden by a private one, and by how much.

Park, Foulds, Chaudhuri, Welling 2017, Figure 1, with the attacker's success measured.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np

from dpcore.arrays import Array
from dpcore.datasets.load import load
from dpcore.evaluation.exposure import OBSERVED, success_rate
from dpcore.evaluation.study import Setting
from dpcore.evaluation.yardstick import yardstick
from dpcore.fitting.api import fit_grid
from dpcore.papers.claims import Row, beside, holds, points
from dpcore.papers.reproduction import Run, experiment, values
from dpcore.privacy.guarantee import delta_text, show_bound
from dpcore.wall.custodian import custodian_rows
from dpcore.wall.table import PrivateTable

# Each table, and how many rare persons stand at its end.
TABLES = {"rare_person": ("one rare person", 1), "rare_people": ("fifty rare people", 50)}
FEW, MANY = (words for words, _ in TABLES.values())
DRAWN, SHOWN = 500, 10  # persons of a map, and noise draws of its private centres
AT = 8.0  # their epsilon
NEAR = 1.0  # standard deviations of a crowd: a centre that sits on a person
EPSILONS = (0.5, 1.0, 2.0, 4.0, 8.0)
SETTING = Setting(components=3, iterations=10, delta=1e-4)
KMEANS = replace(SETTING, model="kmeans", iterations=3)
DRAWS = 2000  # of an attack; distances take a tenth
EXACT = "without privacy, converged"
OWN_STEPS = "the same steps without noise"
PRIVATE, MOVED = "private", "private, k-means"
NOISELESS = "no noise"
CEILING = "proved bound for every attacker"


@experiment(
    "DP-EM, Figure 1: one rare person",
    holds(
        "without privacy a centre sits on the rare person",
        lambda rows: (y < NEAR for y in points(rows, f"{EXACT}, {FEW}").values()),
    ),
    holds(
        "with privacy no centre sits on the rare person",
        lambda rows: (y > NEAR for y in points(rows, f"{PRIVATE}, {FEW}").values()),
    ),
    holds(
        "with fifty rare people a private centre is about as near to them as the exact one",
        lambda rows: (
            y < points(rows, f"{EXACT}, {MANY}")[at] + NEAR
            for at, y in points(rows, f"{PRIVATE}, {MANY}").items()
        ),
    ),
    beside(
        holds(
            "a private centre of k-means sits on the fifty rare people",
            lambda rows: (y < NEAR for y in points(rows, f"{MOVED}, {MANY}").values()),
        )
    ),
    beside(
        holds(
            "no private centre of k-means sits on the one rare person",
            lambda rows: (y > NEAR for y in points(rows, f"{MOVED}, {FEW}").values()),
        )
    ),
    beside(
        holds(
            "no attack's confidence interval lies above the proved bound",
            lambda rows: (row["low"] <= row["ceiling"] for row in rows if "ceiling" in row),
        )
    ),
    stands_in="simulated people in place of a survey that is not public",
)
def figure_1(run: Run) -> str:
    """One rare person, or fifty: where a fit's centres are, and how often an attacker is right.

    The tables are bundled. Distances are from the middle of the rare people, in standard
    deviations of the crowd along the way there.
    """
    for words in (FEW, MANY):
        axes = "age (years)", "income (thousand per year)"
        run.panel(words, *axes, f"The map: {words}", kind="points", across=2)
    budgets = f"epsilon (delta = {delta_text(SETTING.delta)}, one person replaced)"
    distance = "distance to the nearest centre, standard deviations of the crowd"
    run.panel("distance", budgets, distance, "How near a centre comes to the rare people")
    run.panel("attack", budgets, "share of right guesses", "Attacks on a rare person")
    draws = run.ask.drawn(DRAWS)
    for name, (words, rare) in run.progress(TABLES.items()):
        table = load(f"bundled:{name}")
        _centres(run, table, words, rare, max(SHOWN, draws // 10))
        _attacks(run, table, words, draws)
    return _finding(run.rows)


def _centres(run: Run, table: PrivateTable, words: str, rare: int, draws: int) -> None:
    """Where the centres are, and how far the rare persons from the nearest, by budget."""
    public, exact = custodian_rows(table)
    persons, crowd = exact[-rare:], exact[:-rare]
    middle = persons.mean(axis=0)
    away = middle - crowd.mean(axis=0)
    unit = float(np.std(crowd @ (away / np.linalg.norm(away))))
    people = public.center + public.half_range * np.vstack(
        [crowd[:: max(1, len(crowd) // DRAWN)], persons]
    )
    run.row("people", 0.0, None, panel=words, cloud=np.round(people, 1).tolist())
    best = yardstick("gmm").converged(table, SETTING.components, SETTING.options())
    plain = fit_grid("gmm", table, privacy=None, as_private=True, **SETTING.options())
    for name, batch in ((EXACT, best), (OWN_STEPS, plain.runs.final)):
        for epsilon in EPSILONS:
            near = float(_nearest(batch.means, middle)[0]) / unit
            run.row(f"{name}, {words}", epsilon, near, panel="distance")
    marked = {EXACT: best.means}
    for curve, setting in ((PRIVATE, SETTING), (MOVED, KMEANS)):
        requests = [setting.request(epsilon) for epsilon in EPSILONS]
        noisy = fit_grid(
            setting.model,
            table,
            privacy=requests,
            draws=range(draws),
            seed=0,
            **setting.options(),
        )
        final = noisy.runs.final
        means = final.means if setting is SETTING else final.centres
        means = means.reshape(len(EPSILONS), draws, setting.components, -1)
        marked[f"{curve}, epsilon {AT:g}"] = means[EPSILONS.index(AT), :SHOWN]
        for epsilon, centres in zip(EPSILONS, means, strict=True):
            away_from = _nearest(centres, middle) / unit
            run.scores(f"{curve}, {words}", epsilon, away_from, panel="distance")
    for curve, centres in marked.items():
        for x, y in public.center + public.half_range * centres.reshape(-1, 2):
            run.row(curve, x, y, panel=words)


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
            attack = success_rate(table, setting, epsilon, draws, sees=sees)
            run.row(
                f"{adjacency}, {sees} seen, {words}",
                epsilon,
                attack.rate,
                low=attack.low,
                high=attack.high,
                ceiling=attack.ceiling,
            )
            ceilings[epsilon] = max(attack.ceiling, ceilings[epsilon])
    for epsilon in EPSILONS:
        run.row(f"{NOISELESS}, {words}", epsilon, min(exact))
        run.row(f"{CEILING}, {words}", epsilon, ceilings[epsilon])


def _finding(rows: list[Row]) -> str:
    sentences = []
    for words in (FEW, MANY):
        exact, own, private, moved = (
            values(rows, f"{name}, {words}", "distance")[1.0]
            for name in (EXACT, OWN_STEPS, PRIVATE, MOVED)
        )
        sentences.append(
            f"{words}: {exact:.1f} for the converged fit without privacy, {own:.1f} for the "
            f"private fit's clipped steps without noise, {private:.1f} for the private fit and "
            f"{moved:.1f} for private k-means at epsilon 1"
        )
    attacks = [row for row in rows if "ceiling" in row]
    worst = max((row for row in attacks if row["x"] == 1.0), key=lambda row: float(row["y"]))
    above = sum(row["low"] > row["ceiling"] for row in attacks)
    exact_rate = min(
        row["y"] for row in rows if row["panel"] == "attack" and row["curve"].startswith(NOISELESS)
    )
    return (
        "Distance from the rare people to the nearest centre, in standard deviations of the crowd: "
        f"{'; '.join(sentences)}. Without privacy, the attacker is right in {exact_rate:.0%} "
        f"of cases; at epsilon 1 the best of {sum(row['x'] == 1.0 for row in attacks)} attacks is "
        f"right in {worst['y']:.1%} of cases ({worst['low']:.1%} to {worst['high']:.1%}; proved: "
        f"at most {show_bound(100.0 * worst['ceiling'])}%); of {len(attacks)} confidence "
        f"intervals, {above} lie above the proved bound."
    )
