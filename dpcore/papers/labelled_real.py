"""The labelled release on measured rows: flowers, electricity by the hour, digits.

Liu, Scaglione, Peisert 2025, Figures 6 to 12. Electricity: their meter data are private, so the
published Swiss profiles stand in, one row a household, its class the heating (theirs came from
k-means on the same features, which label protection cannot cover). Digits: principal components of
the images, which are public where labels alone are protected, and only there.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from dpcore.datasets.labelled import labelled_table
from dpcore.models.labelled_mixture.scoring import YARDSTICK
from dpcore.papers.claims import best, ordered, trend
from dpcore.papers.labelled_runs import (
    LARGER,
    NEAREST,
    OURS,
    OVERLAP,
    PROVED,
    RIVAL,
    RIVALS,
    WAYS,
    Release,
    figure,
    fitted,
    marginals,
    over_budgets,
    proposed,
)
from dpcore.papers.reproduction import Ask, Run, experiment, values
from dpcore.wall.table import PrivateTable

Array = NDArray[np.float64]

EPSILONS = (0.5, 1.0, 2.0, 3.0, 5.0)
DRAWS = 20
LABELS = tuple(way for way in WAYS if way.adjacency == "label")
QUICK = tuple(way for way in LABELS if way.method != "mte")
SHOWN = tuple(
    way
    for way in WAYS
    if way.name in ("proposed, rows that leave", "staged, label", "public features, label")
)
DIGITS, PARTS = 5000, 5
HOURS = 12  # two-hourly sums
SWISS = "published Swiss profiles for meters that are not public"


def iris() -> PrivateTable:
    """Fisher's irises, standardised: 150 rows, three classes, four columns."""
    from sklearn.datasets import load_iris

    rows, kinds = load_iris(return_X_y=True)
    return labelled_table((rows - rows.mean(axis=0)) / rows.std(axis=0), kinds)


def profiles(ask: Ask) -> PrivateTable:
    """Mean day of each household in two-hourly kilowatt-hours; its class the known heating."""
    name = "swiss_smart_meter.npz"
    hourly, heating = ask.array(name, "hourly_wh"), ask.array(name, "heating_type").astype(int)
    clean = ask.array(name, "clean").astype(bool) & (heating > 0)
    days = hourly[clean].reshape(int(clean.sum()), -1, HOURS, 24 // HOURS).sum(axis=3) / 1000.0
    rows, kinds = np.log(days.mean(axis=1) + 0.01), heating[clean]
    common = [k for k in np.unique(kinds) if np.sum(kinds == k) >= HOURS + 2]
    kept = np.isin(kinds, common)
    return labelled_table(rows[kept], np.searchsorted(common, kinds[kept]))


def digits(ask: Ask) -> tuple[PrivateTable, Array, NDArray[np.int_]]:
    """Five principal components of 5000 digits, a table; those of the test digits, their names."""
    from sklearn.decomposition import PCA

    train = ask.array("mnist.npz", "train_images")[:DIGITS].reshape(DIGITS, -1) / 255.0
    kinds = ask.array("mnist.npz", "train_labels")[:DIGITS].astype(int)
    test = ask.array("mnist.npz", "test_images").reshape(-1, train.shape[1]) / 255.0
    parts = PCA(PARTS, random_state=0).fit(train)
    answers = ask.array("mnist.npz", "test_labels").astype(int)
    return labelled_table(parts.transform(train), kinds), parts.transform(test), answers


def _over_budgets(run: Run, table: PrivateTable, ways: Sequence[Release], **words: str) -> str:
    points = over_budgets([table], EPSILONS)
    return figure(run, "epsilon", points, ways=ways, draws=DRAWS, **words)  # type: ignore[arg-type]


@experiment("Labelled release, Figure 6: irises", NEAREST, LARGER)
def figure_6(run: Run) -> str:
    """Irises: every method over the budget, as printed and proved."""
    return _over_budgets(run, iris(), WAYS)


@experiment("Labelled release, Figure 7: irises", OVERLAP)
def figure_7(run: Run) -> str:
    """Irises at epsilon 2: the first column in every class, exact and released."""
    return marginals(run, iris(), 0, 2.0, "standard deviations", SHOWN)


@experiment("Labelled release, Figure 8: electricity", NEAREST, LARGER, stands_in=SWISS)
def figure_8(run: Run) -> str:
    """Electricity profiles by heating: every method over the budget.

    Needs ``swiss_smart_meter.npz``.
    """
    return _over_budgets(run, profiles(run.ask), QUICK)


@experiment("Labelled release, Figure 9: electricity", OVERLAP, stands_in=SWISS)
def figure_9(run: Run) -> str:
    """Electricity at six in the evening by heating, epsilon 2: exact and released.

    Needs ``swiss_smart_meter.npz``.
    """
    return marginals(run, profiles(run.ask), 9, 2.0, "log kWh in two hours", SHOWN)


@experiment("Labelled release, Figure 10: digits", NEAREST, LARGER)
def figure_10(run: Run) -> str:
    """Digits in five principal components: every method over the budget.

    Needs ``mnist.npz``.
    """
    return _over_budgets(run, digits(run.ask)[0], QUICK)


@experiment(
    "Labelled release, Figure 11: digits",
    best("the proposed release is the best of the printed methods", proposed, RIVALS, -1),
    trend("a larger budget is better", proposed, 1),
)
def figure_11(run: Run) -> str:
    """Digits: share of the rows whose class the release itself names rightly, over the budget.

    Needs ``mnist.npz``.
    """
    ways = [way for way in QUICK if way.method != "r1smg"]
    label = "share of rows classified rightly"
    table = digits(run.ask)[0]
    return _over_budgets(run, table, ways, metric="accuracy", label=label)


@experiment(
    "Labelled release, Figure 12: a network taught by synthetic digits",
    ordered(
        "a network taught by the proposed rows is better than by Gaussian noise", RIVAL, proposed
    ),
    ordered("and worse than one taught by real rows", proposed, "real rows"),
    trend("a larger budget is better", proposed, 1),
)
def figure_12(run: Run) -> str:
    """Digits: a neural network taught by synthetic rows alone, judged on real test digits.

    Layers 256 and 128, stochastic gradient descent at rate 0.01, batches of 128, one epoch; needs
    ``mnist.npz``.
    """
    label = "share of test digits named rightly"
    run.panel(PROVED, "epsilon", label, run.title, log_x=False)
    table, test, answers = digits(run.ask)
    scorer, draws = YARDSTICK.scorer(table, None), run.ask.drawn(5)
    spread, middle = scorer.public.half_range, scorer.public.center
    exact = _taught(scorer.rows * spread + middle, scorer.codes, test, answers)
    for epsilon in EPSILONS:
        run.scores("real rows", epsilon, np.array(exact))
    names = ("proposed, rows that leave", OURS, RIVAL, "public features, label")
    ways = sorted((way for way in WAYS if way.name in names), key=lambda way: names.index(way.name))
    for way, epsilon in run.each(product(ways, EPSILONS)):
        grid = fitted(way, table, [epsilon], draws)
        for draw in range(draws):
            fit = grid.fit(0, draw)
            frame = fit.sample(DIGITS, seed=draw)
            kinds = frame.pop(fit.parameters.label).to_numpy().astype(int)
            score = _taught(frame.to_numpy(), kinds, test, answers)
            run.scores(way.name, epsilon, np.array(score), proved=way.panel == PROVED)
    shown = values(run.rows, OURS)
    last = max(shown)
    return (
        f"Taught by real rows the network names {exact:.2f} of the test digits; by the staged "
        f"release at epsilon {last:g}, {shown[last]:.2f}."
    )


def _taught(rows: Array, kinds: NDArray[np.int_], test: Array, answers: NDArray[np.int_]) -> float:
    """Accuracy on the test rows of a network that saw the rows once."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.neural_network import MLPClassifier

    if len(np.unique(kinds)) < 2:
        return float(np.mean(answers == kinds[0]))
    network = MLPClassifier(
        (256, 128),
        solver="sgd",
        learning_rate_init=0.01,
        batch_size=128,
        max_iter=1,
        random_state=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # one epoch is what is asked
        network.fit(np.clip(rows, -1e6, 1e6), kinds)
    return float(network.score(test, answers))
