"""The labelled release on measured rows: flowers, electricity by the hour, digits.

Liu, Scaglione, Peisert 2025, Figures 6 to 12. Electricity: their meter data are private, so the
published Swiss profiles stand in, one row a household, its class the heating (theirs came from
k-means on the same features, which label protection cannot cover). Digits: principal components of
the images, which are public where labels alone are protected, and only there.
"""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from dpcore.datasets.labelled import labelled_table
from dpcore.models.labelled_mixture.scoring import YARDSTICK
from dpcore.papers.labelled_runs import (
    OURS,
    PROVED,
    RIVAL,
    WAYS,
    figure,
    fitted,
    marginals,
    over_budgets,
)
from dpcore.papers.reproduction import Ask, Panel, Reproduction, spread_row
from dpcore.wall.table import PrivateTable

Array = NDArray[np.float64]

EPSILONS = (0.5, 1.0, 2.0, 3.0, 5.0)
DRAWS = 20
LABELS = tuple(way for way in WAYS if way.adjacency == "label")
SHOWN = tuple(
    way
    for way in WAYS
    if way.name in ("proposed, rows that leave", "staged, label", "public features, label")
)
DIGITS, PARTS = 5000, 5
HOURS = 12  # two-hourly sums


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


def figure_6(ask: Ask) -> Reproduction:
    """Irises: every method over the budget, as printed and proved."""
    points = over_budgets([iris()], EPSILONS)
    return figure("Labelled release, Figure 6: irises", "epsilon", points, ask, draws=DRAWS)


def figure_7(ask: Ask) -> Reproduction:
    """Irises at epsilon 2: the first column in every class, exact and released."""
    title = "Labelled release, Figure 7: irises"
    return marginals(title, iris(), 0, 2.0, "standard deviations", SHOWN, ask.say)


def figure_8(ask: Ask) -> Reproduction:
    """Electricity profiles by heating: every method over the budget.

    Needs ``swiss_smart_meter.npz``.
    """
    points = over_budgets([profiles(ask)], EPSILONS)
    ways = [way for way in LABELS if way.method != "mte"]
    title = "Labelled release, Figure 8: electricity"
    return figure(title, "epsilon", points, ask, ways=ways, draws=DRAWS)


def figure_9(ask: Ask) -> Reproduction:
    """Electricity at six in the evening by heating, epsilon 2: exact and released.

    Needs ``swiss_smart_meter.npz``.
    """
    title = "Labelled release, Figure 9: electricity"
    return marginals(title, profiles(ask), 9, 2.0, "log kWh in two hours", SHOWN, ask.say)


def figure_10(ask: Ask) -> Reproduction:
    """Digits in five principal components: every method over the budget.

    Needs ``mnist.npz``.
    """
    points = over_budgets([digits(ask)[0]], EPSILONS)
    ways = [way for way in LABELS if way.method != "mte"]
    title = "Labelled release, Figure 10: digits"
    return figure(title, "epsilon", points, ask, ways=ways, draws=DRAWS)


def figure_11(ask: Ask) -> Reproduction:
    """Digits: share of the rows whose class the release itself names rightly, over the budget.

    Needs ``mnist.npz``.
    """
    points = over_budgets([digits(ask)[0]], EPSILONS)
    ways = [way for way in LABELS if way.method not in ("mte", "r1smg")]
    return figure(
        "Labelled release, Figure 11: digits",
        "epsilon",
        points,
        ask,
        ways=ways,
        metric="accuracy",
        label="share of rows classified rightly",
        draws=DRAWS,
    )


def figure_12(ask: Ask) -> Reproduction:
    """Digits: a neural network taught by synthetic rows alone, judged on real test digits.

    Layers 256 and 128, stochastic gradient descent at rate 0.01, batches of 128, one epoch; needs
    ``mnist.npz``.
    """
    table, test, answers = digits(ask)
    draws = ask.drawn(5)
    scorer = YARDSTICK.scorer(table, None)
    ways = [way for way in WAYS if way.name in ("proposed, rows that leave", OURS, RIVAL)]
    ways += [way for way in WAYS if way.name == "public features, label"]
    spread, middle = scorer.public.half_range, scorer.public.center
    exact = _taught(scorer.rows * spread + middle, scorer.codes, test, answers)
    rows = [spread_row(PROVED, "real rows", e, np.array([exact]), note="") for e in EPSILONS]
    for number, way in enumerate(ways):
        for at, epsilon in enumerate(EPSILONS):
            grid = fitted(way, table, [epsilon], draws)
            scores = []
            for draw in range(draws):
                fit = grid.fit(0, draw)
                frame = fit.sample(DIGITS, seed=draw)
                kinds = frame.pop(fit.parameters.label).to_numpy().astype(int)
                scores.append(_taught(frame.to_numpy(), kinds, test, answers))
            facts = {"proved": way.panel == PROVED}
            rows.append(spread_row(PROVED, way.name, epsilon, np.array(scores), note="", **facts))
            ask.say((number * len(EPSILONS) + at + 1) / (len(ways) * len(EPSILONS)))
    best = max((r for r in rows if r["curve"] == OURS), key=lambda r: float(r["x"]))
    said = (
        f"Taught by real rows the network names {exact:.2f} of the test digits; by the staged "
        f"release at epsilon {best['x']:g}, {best['y']:.2f}."
    )
    title = "Labelled release, Figure 12: a network taught by synthetic digits"
    panel = Panel(PROVED, title, "epsilon", "share of test digits named rightly", False)
    return Reproduction(title, tuple(rows), said, (panel,))


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
