"""Private logistic regression as VIPS prints it, its rivals, and one release that serves all steps.

Park, Foulds, Chaudhuri, Welling 2020, Figures 5 and 6. The rivals are objective
perturbation (Chaudhuri, Monteleoni, Sarwate 2011) and DPVI (Jalko, Dikmen, Honkela 2017), accounted
as proved. The Stroke table is not public; two public medical tables stand in for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dpcore.accounting import compose
from dpcore.accounting.wbk import as_printed
from dpcore.arrays import Array
from dpcore.datasets.load import load
from dpcore.datasets.published import bounds_of, find_set
from dpcore.fitting.api import Grid, fit_grid
from dpcore.models.logistic_regression.scoring import YARDSTICK, OutcomeScorer
from dpcore.models.sigmoid_belief.mathematics import curvature_at
from dpcore.papers.claims import Row, beside, holds, ordered, points, trend
from dpcore.papers.reproduction import Ask, Run, experiment, values
from dpcore.papers.ways import Way
from dpcore.privacy import Gaussian, Privacy
from dpcore.privacy.guarantee import delta_text
from dpcore.schema import Column, Schema
from dpcore.wall.table import PrivateTable

EPSILONS = (0.5, 1.0, 2.0, 4.0)
WHOLE: dict[str, Any] = {"rate": 1.0, "iterations": 10, "delay": 0.0}  # steps on all rows
DELTA = 1e-4
ADULT_DELTA = 1e-3
ADULT_STEPS, ADULT_RATE = 100, 0.004
SIGMAS = {1.0: "wbk9", 6.0: "wbk27", 12.0: "wbk27"}  # and the theorem of the printed epsilon
PLAIN = "without privacy"
ONE_RELEASE = "one release, proved"
PRINTED = {"ma": "VIPS as printed, moments accountant", "advanced": "VIPS as printed, strong"}
OBJECTIVE = "objective perturbation, proved"
OBJECTIVE_PRINTED = "objective perturbation as printed"
GRADIENTS = "DPVI, proved"
MINIBATCHES = "VIPS as printed"
SAME_PROOF = "one release, at the epsilon proved for the printed steps"
GRADIENTS_SAME = "DPVI, at the epsilon proved for the printed steps"
SAME_NOISE, SAME_NOISE_DPVI = "VIPS, the same noise", "DPVI, the same noise"
PROGRAM = "VIPS, noise of the authors' program before December 2020"
CLIMB: dict[str, Any] = {"algorithm": "dpvi", "rate": 0.05, "iterations": 50}
MEAN, SIMULATED, TERMS = "tanh(t/2) / 2t", "mean of simulated draws", 200
AUC = "AUC on held-out rows"


WAYS = (
    Way(ONE_RELEASE),
    *(
        Way(name, {"mode": "paper", "accountant": accountant}, WHOLE)
        for accountant, name in PRINTED.items()
    ),
    Way(OBJECTIVE, {"accountant": "linear"}, {"algorithm": "objective"}),
    Way(OBJECTIVE_PRINTED, {"mode": "paper", "accountant": "linear"}, {"algorithm": "objective"}),
    Way(GRADIENTS, options=CLIMB),
)


@experiment(
    "VIPS, Figure 5: logistic regression",
    ordered("the fit without privacy is better than the private one", PRINTED["ma"], PLAIN),
    ordered(
        "the moments accountant is better than strong composition",
        PRINTED["advanced"],
        PRINTED["ma"],
    ),
    trend("results improve with the budget", PRINTED["ma"], 1),
    ordered("VIPS is better than objective perturbation", OBJECTIVE_PRINTED, PRINTED["ma"]),
    beside(
        ordered("one release, proved, is better than VIPS as printed", PRINTED["ma"], ONE_RELEASE)
    ),
    stands_in="two public medical tables in place of Stroke, which is not public",
)
def figure_5(run: Run) -> str:
    """Logistic regression on two medical tables: AUC by budget, as printed, rivals, one release.

    Needs ``stroke_prediction.csv.gz`` and ``brfss2020_heart.csv.gz``; ten minutes. Objective
    perturbation has no delta.
    """
    ask = run.ask
    tables = {
        "stroke": described(ask, "stroke_prediction", "stroke", ("0", "1"), ("id",)),
        "heart disease": described(ask, "brfss2020_heart", "HeartDisease", ("No", "Yes"), ()),
    }
    for name, table in run.progress(tables.items()):
        label = f"epsilon (delta = {delta_text(DELTA)}, one row replaced)"
        run.panel(name, label, AUC, f"Logistic regression: {name}")
        for split, _ in run.splits(5):
            train, test = table.split(0.1, seed=split)
            scorer = OutcomeScorer.of(test, None)
            exact = YARDSTICK.score(YARDSTICK.converged(train, 1, {}), scorer)
            for epsilon in EPSILONS:
                run.scores(PLAIN, epsilon, exact)
            for way in WAYS:
                numbers = range(split, split + 1)
                grid = way.fit("logistic", train, EPSILONS, DELTA, draws=numbers)
                for epsilon, scores_at in zip(EPSILONS, _scored(grid, scorer), strict=True):
                    run.scores(way.name, epsilon, scores_at)
    return _order(run.rows)


@experiment(
    "VIPS, Figure 4: the Polya-Gamma mean",
    holds(
        "the mean is at most 1/4",
        lambda rows: (y <= 0.25 for y in points(rows, MEAN).values()),
    ),
    trend("the mean falls as the argument grows", MEAN, -1),
    beside(
        holds(
            "the mean of simulated draws agrees with the formula",
            lambda rows: (
                row["low"] <= points(rows, MEAN)["mean", row["x"]] <= row["high"]
                for row in rows
                if row["curve"] == SIMULATED
            ),
        )
    ),
)
def figure_4(run: Run) -> str:
    """The mean of a Polya-Gamma variable, which bounds what one row can add to VIPS's statistics.

    ``tanh(t/2) / 2t``, and the mean of draws by the series that defines the law. Needs no data.
    """
    run.panel("mean", "t", "mean of PG(1, t)", run.title, log_x=False)
    for t in np.linspace(0.0, 12.0, 49):
        run.row(MEAN, t, float(curvature_at(np.array(t))))
    rng, terms = np.random.default_rng(2020), np.arange(1, TERMS + 1) - 0.5
    for tilt in (0.0, 2.0, 4.0, 8.0, 12.0):
        weights = 0.5 / (np.pi**2 * (terms**2 + (tilt / (2.0 * np.pi)) ** 2))
        drawn = rng.exponential(size=(run.ask.drawn(4000), TERMS)) @ weights
        mean, error = drawn.mean(), drawn.std() / np.sqrt(len(drawn))
        beyond = 0.5 / np.pi**2 / TERMS  # the mean of the terms left out, at most
        run.row(SIMULATED, tilt, mean, low=mean - 3.0 * error, high=mean + 3.0 * error + beyond)
    return (
        "The mean falls from 1/4 at t = 0: whatever a row holds, its weight in the statistics of "
        "logistic regression and of belief networks is at most 1/4, as their sensitivities assume."
    )


@experiment(
    "VIPS, Figure 6: Adult",
    trend("less noise is better", MINIBATCHES, 1),
    holds(
        "the printed epsilon holds",
        lambda rows: (
            y <= x for (_, x), y in points(rows, (MINIBATCHES, "proved_epsilon")).items()
        ),
    ),
    ordered("VIPS is better than DPVI at the same noise and steps", SAME_NOISE_DPVI, SAME_NOISE),
    beside(ordered("VIPS is better than DPVI at the same epsilon", GRADIENTS, MINIBATCHES)),
    beside(
        ordered(
            "VIPS with the noise of the authors' program before December 2020 is better than DPVI",
            SAME_NOISE_DPVI,
            PROGRAM,
        )
    ),
)
def figure_6(run: Run) -> str:
    """Logistic regression on Adult with the printed noise: AUC by claimed epsilon, and one release.

    Needs ``adult.csv.gz``; four minutes. DPVI at the same noise and at the same epsilon, and the
    tight epsilon beside the claimed one. Before December 2020 the authors' program took the
    variance of its noise for the standard deviation.
    """
    label = f"epsilon claimed (delta = {delta_text(ADULT_DELTA)}, one row replaced)"
    run.panel("adult", label, AUC, "Logistic regression: Adult")
    sizes = ("<=50K", ">50K")
    table = described(run.ask, "adult", "income", sizes, ("fnlwgt", "split"))
    train, test = table.split(0.2, seed=0)
    scorer, draws = OutcomeScorer.of(test, None), range(run.ask.drawn(20))
    exact = YARDSTICK.score(YARDSTICK.converged(train, 1, {}), scorer)
    for sigma, theorem in run.progress(SIGMAS.items()):
        privacy = Privacy(noise_multiplier=sigma, delta=ADULT_DELTA, mode="paper", accountant="pld")
        steps: dict[str, Any] = {"rate": ADULT_RATE, "iterations": ADULT_STEPS}
        printed = fit_grid("logistic", train, privacy=[privacy], draws=draws, seed=0, **steps)
        claimed, proved = claimed_epsilon(printed, sigma, theorem), printed.guarantee().epsilon
        facts: dict[str, Any] = {"sigma": sigma, "proved_epsilon": proved}
        run.scores(MINIBATCHES, claimed, _scored(printed, scorer), **facts)
        for way, epsilon in (
            (Way(ONE_RELEASE), claimed),
            (Way(SAME_PROOF), proved),
            (Way(GRADIENTS, options=CLIMB), claimed),
            (Way(GRADIENTS_SAME, options=CLIMB), proved),
        ):
            grid = way.fit("logistic", train, [epsilon], ADULT_DELTA, draws=draws)
            facts = {"sigma": sigma, "proved_epsilon": epsilon}
            run.scores(way.name, claimed, _scored(grid, scorer), **facts)
        run.scores(PLAIN, claimed, exact, sigma=sigma, proved_epsilon=None)
    _at_equal_noise(run, train, scorer, draws)
    return _prices(run.rows)


def _at_equal_noise(run: Run, train: PrivateTable, scorer: OutcomeScorer, draws: range) -> None:
    """As printed: both with the same sigma, rate and steps, whatever epsilon that is.

    The program's noise in the mean of S rows and of their squares, ``(sigma/S)^2`` and
    ``(sigma/2S)^2``, is the printed one at the sigma ``sigma^2 / 2S``.
    """
    label = "sigma: noise / sensitivity, of VIPS's statistics or of DPVI's gradients"
    title = f"Adult, both at sampling rate {ADULT_RATE:g} for {ADULT_STEPS} steps"
    run.panel("same noise", label, AUC, title, log_x=False)
    steps: dict[str, Any] = {"rate": ADULT_RATE, "iterations": ADULT_STEPS}
    minibatch = round(ADULT_RATE * (train.public_rows("replace_one") or 0))
    for curve, algorithm, mode in run.progress(
        (
            (SAME_NOISE, "vips", "paper"),
            (PROGRAM, "vips", "paper"),
            (SAME_NOISE_DPVI, "dpvi", "proved"),
        )
    ):
        plain = fit_grid(
            "logistic",
            train,
            privacy=None,
            as_private=True,
            mode=mode,
            algorithm=algorithm,
            **steps,
        )
        run.scores(curve, 0.0, _scored(plain, scorer), proved_epsilon=None)
        for sigma in SIGMAS:
            noise = sigma**2 / (2.0 * minibatch) if curve == PROGRAM else sigma
            privacy = Privacy(
                noise_multiplier=noise, delta=ADULT_DELTA, mode=mode, accountant="pld"
            )
            grid = fit_grid(
                "logistic",
                train,
                privacy=[privacy],
                draws=draws,
                seed=0,
                algorithm=algorithm,
                **steps,
            )
            proved = grid.guarantee().epsilon
            run.scores(curve, sigma, _scored(grid, scorer), proved_epsilon=proved)


def claimed_epsilon(grid: Grid, sigma: float, theorem: str) -> float:
    """What the paper's accountant says of the noise sigma on a fit's samples."""
    first = grid.ledger.at(0).events[0]
    event = replace(first, mechanism=Gaussian(sigma), count=len(grid.ledger))
    return float(np.asarray(compose([event], as_printed(theorem), delta=ADULT_DELTA).epsilon))


def described(
    ask: Ask, name: str, target: str, answers: Sequence[str], ignored: Sequence[str]
) -> PrivateTable:
    """A published table: numbers in public bounds, all else categories as published."""
    import pandas as pd

    bounds = bounds_of(name)
    frame = pd.read_csv(ask.file(find_set(name).file), na_values=["?"])
    frame[target] = frame[target].astype(str)
    columns = [Column(number, lower=low, upper=high) for number, (low, high) in bounds.items()]
    described_columns = {*bounds, target, *ignored}
    for column in (column for column in frame.columns if column not in described_columns):
        kinds = sorted(str(kind) for kind in frame[column].dropna().unique())
        columns.append(Column(column, type="category", categories=tuple(kinds)))
    columns.append(Column(target, "target", "category", categories=tuple(answers)))
    return load(frame, schema=Schema(tuple(columns)))


def _scored(grid: Grid, scorer: OutcomeScorer) -> Array:
    return YARDSTICK.score(grid.runs.final, scorer)


def _order(rows: Sequence[Row]) -> str:
    """Median AUC of each curve at the smallest and the largest budget, by table."""
    panels = []
    for panel in dict.fromkeys(row["panel"] for row in rows):
        curves = dict.fromkeys(row["curve"] for row in rows if row["panel"] == panel)
        parts = []
        for curve in curves:
            points = values(rows, curve, panel)
            parts.append(f"{curve} {points[min(points)]:.3f} to {points[max(points)]:.3f}")
        panels.append(f"{panel}: {'; '.join(parts)}")
    return f"Median AUC from epsilon {EPSILONS[0]:g} to {EPSILONS[-1]:g}. {'. '.join(panels)}."


def _prices(rows: Sequence[Row]) -> str:
    """Claimed and proved epsilon of each noise, and what each fit is worth there."""
    sentences = []
    for row in (row for row in rows if row["curve"] == MINIBATCHES):
        other = values(rows, ONE_RELEASE)[row["x"]]
        same = values(rows, SAME_PROOF)[row["x"]]
        climbed = values(rows, GRADIENTS)[row["x"]]
        climbed_same = values(rows, GRADIENTS_SAME)[row["x"]]
        sentences.append(
            f"Sigma {row['sigma']:g}: epsilon {row['x']:.3g} is claimed and "
            f"{row['proved_epsilon']:.2g} proved. AUC: VIPS {row['y']:.3f}; one release "
            f"{other:.3f} at the claimed and {same:.3f} at the proved epsilon; DPVI {climbed:.3f} "
            f"and {climbed_same:.3f}"
        )
    program = ", ".join(
        f"{row['y']:.3f} at sigma {row['x']:g} (epsilon at most {row['proved_epsilon']:.2g})"
        for row in rows
        if row["curve"] == PROGRAM and row["x"] > 0.0
    )
    sentences.append(f"{PROGRAM}: {program}")
    return " ".join(f"{sentence}." for sentence in sentences)
