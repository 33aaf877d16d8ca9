"""Private logistic regression on sparse binary columns, every method at the same proved guarantee.

Park, Foulds, Chaudhuri, Welling 2020, Figure 5, has 12,586 patients with 4,146 binary columns. That
table is not public: a simulated one of its size stands here, and film reviews as words that occur
or not. VIPS gets the noise at which its proved epsilon is the budget, not the printed one, so that
all curves cost the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import expit

from dpcore.accounting import calibrate
from dpcore.datasets.load import load
from dpcore.fitting.api import Grid, fit_grid
from dpcore.models.logistic_regression.dpvi import COINS
from dpcore.models.logistic_regression.private import PRINTED
from dpcore.models.logistic_regression.scoring import YARDSTICK, OutcomeScorer
from dpcore.papers.claims import Row, beside, ordered, trend
from dpcore.papers.reproduction import Ask, Run, experiment, values
from dpcore.papers.vips_logistic import AUC, DELTA, GRADIENTS, OBJECTIVE, ONE_RELEASE, PLAIN, WHOLE
from dpcore.papers.ways import Way
from dpcore.privacy import Event, Gaussian, Privacy
from dpcore.privacy.guarantee import delta_text
from dpcore.schema import Column, Schema
from dpcore.schema.columns import Ball
from dpcore.wall.data.design_matrix import Design
from dpcore.wall.statistics import OutcomeMoments
from dpcore.wall.table import PrivateTable

BUDGETS = (1.0, 4.0)
PATIENTS, CONDITIONS = 12_586, 4_146  # of the paper
REVIEWS, WORDS = 5_000, 1_000
HELD_OUT = 0.2
FULL = 64  # ones of a row that count in full: public, and the same for both tables
ONES, YES, EFFECTIVE = 30.0, 0.14, 200  # of a patient; share with the outcome; columns that matter
CLIMB: dict[str, Any] = {"algorithm": "dpvi", "rate": 0.05, "iterations": 20}
VIPS = "VIPS as printed, at its proved epsilon"
NOTHING = "no model"

LONGEST, LARGEST = 3600.0, 8e9  # seconds of the whole figure, bytes of one method
# Seconds of one slow core that other work shares, measured: of a multiplication or addition in a
# product, of eigenvectors by p^3, of a cell that is passed over. Alone it is twice as fast.
FLOP, EIGEN, CELL = 5e-11, 1.5e-9, 2e-8
NEWTON, CLIMBS, MATRICES = 6, 500, 10  # steps of solvers; matrices that one estimate needs at once


@dataclass(frozen=True)
class Size:
    """What a method's cost follows from: rows to learn from, coordinates with the intercept, and
    fits, one for each budget and draw."""

    rows: int
    coordinates: int
    fits: int

    @property
    def table(self) -> float:
        """Bytes of the rows."""
        return 8.0 * self.rows * self.coordinates

    @property
    def matrix(self) -> float:
        """Bytes of one second-moment matrix."""
        return 8.0 * self.coordinates**2

    @property
    def product(self) -> float:
        """Seconds of ``X^T X``."""
        return 2.0 * FLOP * self.rows * self.coordinates**2

    @property
    def cube(self) -> float:
        """Seconds of a product of two such matrices."""
        return 2.0 * FLOP * self.coordinates**3

    @property
    def eigen(self) -> float:
        """Seconds of all eigenvectors."""
        return EIGEN * self.coordinates**3


@dataclass(frozen=True)
class Cost:
    """Seconds on one core and bytes, estimated before a method begins."""

    seconds: float
    bytes: float

    def refusal(self, seconds: float) -> str:
        """Why a method does not fit into its share of the time and into memory; empty if it does.

        >>> Cost(7200.0, 3e9).refusal(360.0)
        'does not fit: needs about 120 minutes (its share is 6)'
        """
        reasons = []
        if self.bytes > LARGEST:
            reasons.append(f"about {self.bytes / 1e9:.3g} GB ({LARGEST / 1e9:.3g} are allowed)")
        if self.seconds > seconds:
            minutes = f"about {self.seconds / 60:.3g} minutes (its share is {seconds / 60:.3g})"
            reasons.append(minutes)
        return f"does not fit: needs {' and '.join(reasons)}" if reasons else ""


def cost_plain(size: Size) -> Cost:
    """scikit-learn's climb on the rows, and its information matrix."""
    climb = 4.0 * FLOP * CLIMBS * size.rows * size.coordinates * 10.0  # it waits for memory
    return Cost(climb + size.product + 2.0 * size.cube, 2.0 * size.table + 4.0 * size.matrix)


def cost_one_release(size: Size) -> Cost:
    """One sum of squares for all fits; eigenvectors and four products for each."""
    fit = size.eigen + 4.0 * size.cube
    return Cost(size.product + size.fits * fit, size.table + MATRICES * size.fits * size.matrix)


def cost_vips(size: Size) -> Cost:
    """Every step of every fit: curvature and sums, eigenvectors, an inverse, two products; and a
    posterior with its noise is kept of each step."""
    steps = int(WHOLE["iterations"])
    step = 2.0 * size.product + size.eigen + 5.0 * size.cube
    matrices = size.fits * size.matrix * (2 * steps + MATRICES)
    return Cost(steps * size.fits * step, size.table + matrices)


def cost_objective(size: Size) -> Cost:
    """Newton's steps of every fit."""
    climb = NEWTON * (size.product + size.cube)
    return Cost(size.fits * climb, 2.0 * size.table + 4.0 * size.fits * size.matrix)


def cost_gradients(size: Size) -> Cost:
    """Gradients of a step's rows, two a coordinate and draw; the posterior of each step is kept."""
    steps = int(CLIMB["iterations"])
    passes = steps * CLIMB["rate"]
    cells = 2.0 * passes * COINS * size.rows * size.coordinates * size.fits
    return Cost(CELL * cells, size.table + size.fits * size.matrix * (steps + 4))


def printed_vips(train: PrivateTable, draws: range) -> Grid:
    """VIPS with the noise of Algorithm 5, of the size at which :data:`BUDGETS` are proved.

    A step is one Gaussian release of ``sigma / D``, D the joint sensitivity of its two sums in the
    units of their printed noise (:class:`~dpcore.wall.statistics.OutcomeMoments`).
    """
    assert train.schema is not None
    design = Design.of(train.schema)
    sums = OutcomeMoments(design.size, design.reach(), *PRINTED, least=0.0)
    steps = [Event(Gaussian(1.0), count=int(WHOLE["iterations"]))]
    sensitivity = sums.l2_sensitivity("replace_one")
    sigmas = [sensitivity * float(calibrate(steps, budget, DELTA)) for budget in BUDGETS]
    requests = [
        Privacy(noise_multiplier=sigma, delta=DELTA, mode="paper", accountant="pld")
        for sigma in sigmas
    ]
    return fit_grid("logistic", train, privacy=requests, draws=draws, seed=0, **WHOLE)


def asked_by(way: Way) -> Callable[[PrivateTable, range], Grid]:
    """Fits of one way at all budgets."""
    return lambda train, draws: way.fit("logistic", train, BUDGETS, DELTA, draws=draws)


METHODS: dict[str, tuple[Callable[[Size], Cost], Callable[[PrivateTable, range], Grid]]] = {
    ONE_RELEASE: (cost_one_release, asked_by(Way(ONE_RELEASE))),
    VIPS: (cost_vips, printed_vips),
    OBJECTIVE: (
        cost_objective,
        asked_by(Way(OBJECTIVE, {"accountant": "linear"}, {"algorithm": "objective"})),
    ),
    GRADIENTS: (cost_gradients, asked_by(Way(GRADIENTS, options=CLIMB))),
}


@experiment(
    "VIPS, Figure 5 on sparse binary columns",
    ordered("the fit without privacy is better than the private one", VIPS, PLAIN),
    trend("a larger budget is better", VIPS, 1),
    ordered("VIPS is better than objective perturbation", OBJECTIVE, VIPS),
    beside(ordered("one release, proved, is better than VIPS", VIPS, ONE_RELEASE)),
    beside(
        ordered(
            "DPVI, which releases no squares, is better than one release", ONE_RELEASE, GRADIENTS
        )
    ),
    beside(ordered("one release is better than no model", NOTHING, ONE_RELEASE)),
    stands_in="a simulated medical table and film reviews in place of Stroke, which is not public",
)
def figure_5_sparse(run: Run) -> str:
    """AUC on thousands of sparse binary columns, every method at the same proved epsilon and delta.

    Needs ``imdb_reviews.npz``, 8 GB and ten minutes of one core; one split and one draw, unless
    more are asked for. The simulated table has the paper's 12,586 rows and 4,146 columns. How
    sparse the original is was not at hand, and this is assumed: 30 ones in a row on average; in a
    column as many as a falling law of its rank gives, 1 / (10 + rank); some patients with more of
    everything; and an outcome in 14% of the rows. The other table holds 5,000 labelled reviews as
    which of the 1,000 most frequent words occur; that list is treated as public.

    A row of m ones is sqrt(m) long, and rows are clipped to sqrt(64): the number was chosen as
    about twice the assumed mean, and not by looking. Objective perturbation has no delta; DPVI
    takes 20 steps on a twentieth of the rows. A method that would need more than 8 GB, or more than
    its equal share of an hour, is not begun, and its row says so.
    """
    tables = {"medical, simulated": (medical, PATIENTS), "reviews": (reviews, REVIEWS)}
    for name, (build, rows) in run.progress(tables.items()):
        table = build(run.ask)
        assert table.schema is not None
        columns = table.schema.numeric_columns()
        label = f"epsilon proved (delta = {delta_text(DELTA)}, one row replaced)"
        run.panel(name, label, AUC, f"{name.capitalize()}, {len(columns):,} columns")
        for split, draws in run.splits(1):
            train, test = table.split(HELD_OUT, seed=split)
            size = Size(round((1.0 - HELD_OUT) * rows), len(columns) + 1, len(BUDGETS) * len(draws))
            share = LONGEST / len(tables) / (1 + len(METHODS)) / run.ask.split(1)
            _measured(run, train, OutcomeScorer.of(test, None), size, share, draws)
    return _told(run.rows)


def _measured(
    run: Run,
    train: PrivateTable,
    scorer: OutcomeScorer,
    size: Size,
    share: float,
    draws: range,
) -> None:
    """All methods on one split, those that fit. share: seconds of each."""
    plain = cost_plain(replace(size, fits=1)).refusal(share)
    exact = None if plain else YARDSTICK.score(YARDSTICK.converged(train, 1, {}), scorer)
    for budget in BUDGETS:
        if exact is None:
            run.row(PLAIN, budget, None, note=plain, proved_epsilon=None)
        else:
            run.scores(PLAIN, budget, exact, proved_epsilon=None)
        run.scores(NOTHING, budget, np.array([YARDSTICK.nothing(scorer)]), proved_epsilon=0.0)
    for name, (cost, fit) in run.progress(METHODS.items()):
        if note := cost(size).refusal(share):
            for budget in BUDGETS:
                run.row(name, budget, None, note=note, proved_epsilon=None)
            continue
        grid = fit(train, draws)
        scores = YARDSTICK.score(grid.runs.final, scorer).reshape(len(BUDGETS), len(draws))
        for place, budget in enumerate(BUDGETS):
            proved = grid.guarantee(place).epsilon
            run.scores(name, budget, scores[place], proved_epsilon=proved)


def medical(ask: Ask) -> PrivateTable:
    """Simulated patients, by a public seed: see :func:`figure_5_sparse`."""
    rng = np.random.default_rng(4146)
    common = 1.0 / (10.0 + np.arange(CONDITIONS))
    common *= ONES / common.sum()
    ill = rng.lognormal(-0.125, 0.5, PATIENTS)  # mean 1
    has = rng.random((PATIENTS, CONDITIONS)) < np.minimum(ill[:, None] * common, 0.9)
    effects = np.zeros(CONDITIONS)
    matter = rng.choice(CONDITIONS, min(EFFECTIVE, CONDITIONS), replace=False, p=common / ONES)
    effects[matter] = rng.normal(0.0, 0.7, len(matter))
    scores = has @ effects
    low, high = -50.0, 50.0
    for _ in range(60):
        middle = (low + high) / 2.0
        low, high = (middle, high) if expit(scores + middle).mean() < YES else (low, middle)
    return sparse(has, rng.random(PATIENTS) < expit(scores + low))


def reviews(ask: Ask) -> PrivateTable:
    """Labelled film reviews as which of the most frequent words occur; yes: the review is positive.

    Raises InputError where the data are absent."""
    name = "imdb_reviews.npz"
    sentiment = ask.array(name, "sentiment", np.int64)
    first, words = (ask.array(name, key, np.int64) for key in ("indptr", "indices"))
    labelled = np.flatnonzero(sentiment < 2)
    some = np.random.default_rng(0).permutation(labelled)[:REVIEWS]
    has = np.zeros((len(some), WORDS), dtype=bool)
    for place, review in enumerate(some):
        occurring = words[first[review] : first[review + 1]]
        has[place, occurring[occurring < WORDS]] = True
    return sparse(has, sentiment[some] == 1)


def sparse(has: Any, yes: Any) -> PrivateTable:
    """A table of binary columns ``(n, d)`` in the ball of :data:`FULL` ones, with outcomes."""
    import pandas as pd

    names = [f"column {place + 1}" for place in range(has.shape[1])]
    frame = pd.DataFrame(has.astype(float), columns=names).assign(outcome=yes.astype(float))
    columns = (*(Column(name) for name in names), Column("outcome", "target", "binary"))
    ball = Ball((0.0,) * len(names), FULL**0.5)
    return load(frame, schema=Schema(columns, ball=ball))


def _told(rows: Sequence[Row]) -> str:
    """AUC of each curve at the smallest and the largest budget, and what did not fit."""
    panels = []
    for panel in dict.fromkeys(row["panel"] for row in rows):
        parts = []
        for curve in dict.fromkeys(row["curve"] for row in rows if row["panel"] == panel):
            curve_values = values(rows, curve, panel)
            notes = [row["note"] for row in rows if (row["panel"], row["curve"]) == (panel, curve)]
            ends = [curve_values[end(curve_values)] for end in (min, max) if curve_values]
            parts.append(f"{curve} {' to '.join(f'{y:.3f}' for y in ends) or notes[0]}")
        panels.append(f"{panel}: {'; '.join(parts)}")
    return f"AUC at proved epsilon {BUDGETS[0]:g} to {BUDGETS[-1]:g}.  {'. '.join(panels)}."
