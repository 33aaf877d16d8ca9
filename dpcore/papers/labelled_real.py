"""The labelled release on measured rows: flowers, electricity by the hour, digits.

Liu, Scaglione, Peisert 2025, Figures 6 to 12. Electricity: their meter data are private, so the
published Swiss profiles stand in, one row a household. In Figure 8 its class is the heating; in
Figure 9 it comes from k-means on the same features, as theirs did, which label protection cannot
cover. Digits: principal components of
the images, which are public where labels alone are protected, and only there.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcore.arrays import Array
from dpcore.datasets.labelled import labelled_table
from dpcore.models.labelled_mixture.scoring import YARDSTICK
from dpcore.papers.claims import best, ordered, trend
from dpcore.papers.labelled_runs import (
    CLASS_ROWS,
    LARGER,
    NEAREST,
    OURS,
    PROVED,
    RIVAL,
    RIVALS,
    WAYS,
    Release,
    class_sizes,
    figure,
    fitted,
    marginals,
    over_budgets,
    overlapping,
    proposed,
)
from dpcore.papers.reproduction import Ask, Run, experiment, values
from dpcore.wall.table import PrivateTable

EPSILONS = (0.5, 1.0, 2.0, 3.0, 5.0)
DRAWS = 20
LABELS = tuple(way for way in WAYS if way.adjacency == "label")
QUICK = tuple(way for way in LABELS if way.method != "mte")
SHOWN = tuple(
    way
    for way in WAYS
    if way.name in ("proposed, one row removed", "Laplace", "Gaussian", "public features, label")
)
SPECIES = ("setosa", "versicolor", "virginica")
PARTS_OF_A_FLOWER = ("sepal length", "sepal width", "petal length", "petal width")
LEAST = 0.01  # kilowatt-hours that are added before the logarithm
VACANT = np.log(1.1 * LEAST)  # of two hours, on the mean day of a home where nobody lives
TYPES, SMALL = 6, 50  # classes of households by k-means, and rows of one that is large
DIGITS, PARTS = 5000, 5
BATCH, EVERY = 128, 3  # rows of an iteration, and iterations from one look to the next
SHOWN_EPSILON = 2.0  # of the curves by iteration
HOURS = 12  # two-hourly sums
METERS = "electricity, by k-means"
SWISS = "published Swiss profiles in place of meter data that are not public"


def iris() -> PrivateTable:
    """Fisher's irises, standardised: 150 rows, three classes, four columns."""
    from sklearn.datasets import load_iris

    rows, kinds = load_iris(return_X_y=True)
    return labelled_table((rows - rows.mean(axis=0)) / rows.std(axis=0), kinds)


def _households(ask: Ask) -> tuple[Array, NDArray[np.int_]]:
    """Mean day of each household in logarithms of two-hourly kilowatt-hours, and its heating."""
    name = "swiss_smart_meter.npz"
    clean = ask.array(name, "clean").astype(bool)
    hourly = ask.array(name, "hourly_wh")[clean]
    days = hourly.reshape(len(hourly), -1, HOURS, 24 // HOURS).sum(axis=3) / 1000.0
    return np.log(days.mean(axis=1) + LEAST), ask.array(name, "heating_type").astype(int)[clean]


def profiles(ask: Ask) -> PrivateTable:
    """Households whose heating is known and not rare; it is their class."""
    rows, heating = _households(ask)
    common = [k for k in np.unique(heating) if k > 0 and np.sum(heating == k) >= HOURS + 2]
    members = np.isin(heating, common)
    return labelled_table(rows[members], np.searchsorted(common, heating[members]))


def types(ask: Ask) -> tuple[PrivateTable, NDArray[np.int_]]:
    """Households that always use some, in classes by k-means of their days, largest first.

    A class depends on the rows of others, so nothing that protects labels holds for these.
    """
    from sklearn.cluster import KMeans

    rows, _ = _households(ask)
    rows = rows[rows.min(axis=1) > VACANT]
    labels = KMeans(TYPES, n_init=10, random_state=0).fit(rows).labels_
    order = np.argsort(-np.bincount(labels), kind="stable")
    kinds = np.argsort(order)[labels]
    return labelled_table(rows, kinds), np.bincount(kinds)


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


EVERYWHERE = overlapping("the released density overlaps the exact one by at least 3/4", (0, np.inf))


@experiment("Labelled release, Figure 7: irises", EVERYWHERE, one_draw=True)
def figure_7(run: Run) -> str:
    """Irises at epsilon 2: histograms and densities of four columns by species, one draw.

    Columns are standardised.
    """
    return marginals(run, iris(), SHOWN, classes=SPECIES, columns=PARTS_OF_A_FLOWER)


@experiment("Labelled release, Figure 8: electricity", NEAREST, LARGER, stands_in=SWISS)
def figure_8(run: Run) -> str:
    """Electricity profiles by heating: every method over the budget.

    Needs ``swiss_smart_meter.npz``.
    """
    return _over_budgets(run, profiles(run.ask), QUICK)


@experiment(
    "Labelled release, Figure 9: electricity",
    overlapping(f"in classes of {SMALL} rows or more the overlap is at least 3/4", (SMALL, np.inf)),
    overlapping("in smaller classes the overlap is below 3/4", (0, SMALL), least=False),
    stands_in=SWISS,
    one_draw=True,
)
def figure_9(run: Run) -> str:
    """Electricity, six classes by twelve times of day, epsilon 2: histograms and densities, one
    draw.

    Needs ``swiss_smart_meter.npz``. The classes come from k-means on the rows, as in the paper, so
    that nothing is proved of any curve here.
    """
    table, sizes = types(run.ask)
    classes = [f"class {k + 1}" for k in range(len(sizes))]
    hours = [f"{h * 24 // HOURS} h" for h in range(HOURS)]
    ways = [way for way in SHOWN if way.panel == "as printed"]
    return marginals(run, table, ways, classes=classes, columns=hours)


@experiment(
    "Labelled release, Table I: class sizes",
    trend("the classes of the meter data differ in size", CLASS_ROWS, -1, (METERS,)),
    stands_in=SWISS,
)
def table_1(run: Run) -> str:
    """Rows of every class of the three measured tables.

    Needs ``swiss_smart_meter.npz`` and ``mnist.npz``.
    """
    households, sizes = types(run.ask)
    heating = ("electric heating", "heat pump")
    tables = {
        "irises": (iris(), SPECIES),
        METERS: (households, [f"class {k + 1}" for k in range(len(sizes))]),
        "electricity, by heating": (profiles(run.ask), heating),
        "digits": (digits(run.ask)[0], [str(digit) for digit in range(10)]),
    }
    for name, (table, classes) in tables.items():
        run.panel(name, "", "rows", name, kind="bars", across=2)
        class_sizes(run, np.bincount(YARDSTICK.scorer(table, most=None).codes).tolist(), classes)
    counts = "; ".join(
        f"{name} {', '.join(f'{y:.0f}' for y in values(run.rows, CLASS_ROWS, name).values())}"
        for name in tables
    )
    return f"Rows of each class: {counts}."


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
    """Digits: share of the rows that the release itself classifies correctly, over the budget.

    Needs ``mnist.npz``.
    """
    ways = [way for way in QUICK if way.method != "r1smg"]
    label = "share of rows classified correctly"
    table = digits(run.ask)[0]
    return _over_budgets(run, table, ways, metric="accuracy", label=label)


@experiment(
    "Labelled release, Figure 12: a network trained on synthetic digits",
    ordered(
        "a network trained on the proposed release is better than one trained on "
        "the Gaussian release",
        RIVAL,
        proposed,
    ),
    ordered(
        "a network trained on the proposed release is worse than one trained on real rows",
        proposed,
        "real rows",
    ),
    trend("a larger budget is better", proposed, 1, (PROVED,)),
)
def figure_12(run: Run) -> str:
    """Digits: a neural network trained on synthetic rows alone, judged on real test digits.

    At the end of its epoch over the budget, and by iteration at epsilon 2. Layers 256 and 128,
    stochastic gradient descent at rate 0.01, batches of 128; needs ``mnist.npz``.
    """
    label = "share of test digits classified correctly"
    by_iteration = "by iteration"
    run.panel(by_iteration, "iteration", label, f"At epsilon {SHOWN_EPSILON:g}", log_x=False)
    run.panel(PROVED, "epsilon", label, "After one epoch", log_x=False)
    table, test, answers = digits(run.ask)
    scorer, draws = YARDSTICK.scorer(table, most=None), run.ask.drawn(5)
    spread, middle = scorer.public.half_range, scorer.public.center

    def add(curve: str, epsilon: float, scores: dict[int, float], **facts: Any) -> None:
        run.scores(curve, epsilon, np.array(scores[max(scores)]), **facts)
        for iteration, score in scores.items() if epsilon == SHOWN_EPSILON else ():
            run.scores(curve, iteration, np.array(score), panel=by_iteration, **facts)

    exact = _trained(scorer.rows * spread + middle, scorer.codes, test, answers)
    for epsilon in EPSILONS:
        add("real rows", epsilon, exact)
    names = ("proposed, one row removed", OURS, RIVAL, "public features, label")
    ways = sorted((way for way in WAYS if way.name in names), key=lambda way: names.index(way.name))
    for way, epsilon in run.progress(product(ways, EPSILONS)):
        grid = fitted(way, table, [epsilon], draws)
        for draw in range(draws):
            fit = grid.fit(0, draw)
            frame = fit.sample(DIGITS, seed=draw)
            kinds = frame.pop(fit.parameters.label).to_numpy().astype(int)
            scores = _trained(frame.to_numpy(), kinds, test, answers)
            add(way.name, epsilon, scores, proved=way.panel == PROVED)
    shown = values(run.rows, OURS, PROVED)
    last = max(shown)
    return (
        f"Trained on real rows, the network classifies {exact[max(exact)]:.2f} of the test digits "
        f"correctly; trained on the staged release at epsilon {last:g}, {shown[last]:.2f}."
    )


def _trained(
    rows: Array, kinds: NDArray[np.int_], test: Array, answers: NDArray[np.int_]
) -> dict[int, float]:
    """Accuracy on the test rows, by iteration, of a network that sees the rows once."""
    from sklearn.neural_network import MLPClassifier

    network = MLPClassifier(
        (256, 128), solver="sgd", learning_rate_init=0.01, batch_size=BATCH, random_state=0
    )
    order = np.random.default_rng(0).permutation(len(rows))
    batches = [order[start : start + BATCH] for start in range(0, len(rows) - BATCH + 1, BATCH)]
    scores = {}
    for iteration, batch in enumerate(batches, start=1):
        network.partial_fit(
            np.clip(rows[batch], -1e6, 1e6), kinds[batch], classes=np.unique(answers)
        )
        if iteration % EVERY == 0 or iteration == len(batches):
            scores[iteration] = float(network.score(test, answers))
    return scores
