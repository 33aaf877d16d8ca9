"""What a labelled release is good for: every way of releasing side by side, and a rule it teaches.

Ways are held against the exact classes by the Kullback-Leibler divergence of the release from them
(what Liu, Scaglione, Peisert 2025 print). Two rules name the class of a row: the released mixture
itself, and a vote of the nearest synthetic rows (Fix, Hodges 1951), which knows nothing of
Gaussians. Exact rows are read, so all of it is for the custodian's eyes unless rows are simulated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from time import perf_counter

import numpy as np

from dpcore.accounting.gaussian import all_gaussian, epsilon_of, total_mu
from dpcore.arrays import Array, Indices
from dpcore.errors import DPCoreError
from dpcore.evaluation.study import BudgetGrid, Setting, fitted
from dpcore.evaluation.yardstick import mapped
from dpcore.models.gaussian_mixture import mathematics as gmm
from dpcore.models.gaussian_mixture.mathematics import Mixture
from dpcore.models.labelled_mixture import staged as labelled_staged
from dpcore.models.labelled_mixture.mathematics import LabelledMixture
from dpcore.models.labelled_mixture.min_trace import SOLVERS, min_trace_covariance
from dpcore.models.labelled_mixture.published_mathematics import Class, classes_of, design
from dpcore.models.labelled_mixture.scoring import (
    YARDSTICK,
    ClassScorer,
    accuracy,
    class_divergence,
    divergence,
)
from dpcore.wall.table import PrivateTable

EVERY = 4  # budget of a study at which other ways are tried
DRAWS, SLOW_DRAWS, TAUGHT_DRAWS, NAMED_DRAWS = 5, 3, 3, 5
NEIGHBOURS = 15  # rows that vote on the class of another
MOST_ROWS = {"mte": 5_000, "public_features": 20_000}  # up to which slow ways are tried

TITLES = {
    "staged": "releases step by step",
    "public_features": "shapes of the public columns",
    "mte": "noise shaped by the public columns",
    "gaussian": "plain Gaussian noise",
    "colored": "shaped noise on the means alone",
    "laplace": "plain Laplace noise",
    "paper": "as published, not proved",
}
OF_LABELS = ("public_features", "mte", "colored", "paper")  # ways that take features as public


@dataclass(frozen=True)
class Worth:
    """Ways at budgets E, and the share of rows rightly named by what the study's own way teaches.

    ways: the divergences ``(E, D)`` of each from the exact classes. taught ``(E, T)``: by votes of
    synthetic rows, as many as ``rows``; exact: of so many exact rows, none of which is asked about.
    left_out: ways too slow for so many rows.
    """

    epsilons: tuple[float, ...]
    ways: dict[str, Array]
    taught: Array
    exact: float
    rows: int
    left_out: tuple[str, ...] = ()


def worth_of(
    table: PrivateTable,
    setting: Setting,
    grid: BudgetGrid,
    exact: LabelledMixture,
    held_out: PrivateTable | None = None,
) -> Worth:
    """Every other way at some of the grid's budgets, and what its synthetic rows teach.

    exact: the exact classes, a batch of one. held_out: rows that no fit sees, whose class is named
    [those that are fitted]. Left out: ways that the adjacency rules out, slow
    ones beyond :data:`MOST_ROWS`, and what the table refuses (as published, small classes).
    """
    chosen = list(range(0, len(grid.epsilons), EVERY))
    epsilons = tuple(grid.epsilons[i] for i in chosen)
    scorer = YARDSTICK.scorer(table, held_out=held_out)
    lawful = [
        name
        for name in TITLES
        if name != own_way(setting) and (setting.adjacency == "label" or name not in OF_LABELS)
    ]
    slow = [name for name in lawful if exact.sizes.sum() > MOST_ROWS.get(name, np.inf)]
    ways = {
        name: _way(name, table, setting, epsilons, exact) for name in lawful if name not in slow
    }
    measured = {name: away for name, away in ways.items() if away is not None}
    taught, best, rows = _taught(grid, chosen, scorer, setting.seed)
    return Worth(epsilons, measured, taught, best, rows, tuple(TITLES[name] for name in slow))


def own_way(setting: Setting) -> str:
    """The method of a study's setting."""
    usual = "paper" if setting.mode == "paper" else "staged"
    return str(dict(setting.words).get("method", usual))


def _way(
    name: str,
    table: PrivateTable,
    setting: Setting,
    epsilons: Sequence[float],
    exact: LabelledMixture,
) -> Array | None:
    """Divergences ``(E, D)`` of one way with fresh noise at the same budgets; ``None`` where it is
    refused."""
    target = tuple((word, value) for word, value in setting.words if word == "target")
    other = replace(
        setting,
        mode="paper" if name == "paper" else "proved",
        accountant="linear" if name in ("laplace", "paper") else "exact",
        words=(*target, ("method", name)),
    )
    draws = SLOW_DRAWS if name in MOST_ROWS else DRAWS
    try:
        grid = fitted(table, other, [other.request(e) for e in epsilons], range(draws))
    except DPCoreError:
        return None
    return divergence(grid.runs.final, exact).reshape(len(epsilons), draws)


def divergences(grid: BudgetGrid, exact: LabelledMixture) -> Array:
    """Divergence ``(S, D)`` of a study's own releases from the exact classes."""
    return _each(grid.fits, lambda fits: divergence(fits, exact))


def class_divergences(grid: BudgetGrid, exact: LabelledMixture) -> Array:
    """Divergence ``(S, K)`` of each class of the first draws from the exact one."""
    first = mapped(grid.fits, lambda array: array[:, :1])
    return _each(first, lambda fits: class_divergence(fits, exact))[:, 0]


def rightly_named(grid: BudgetGrid, scorer: ClassScorer) -> Array:
    """Share ``(S, D)`` of rows whose class the released mixtures name, of the first draws."""
    few = mapped(grid.fits, lambda array: array[:, :NAMED_DRAWS])
    return _each(few, lambda fits: accuracy(fits, scorer.rows, scorer.codes))


def _each(fits: LabelledMixture, number: Callable[[LabelledMixture], Array]) -> Array:
    """Numbers of each of the fits ``(S, D, ...)``; NaN where there is no fit."""
    there = np.isfinite(fits.weights).all(axis=2)
    values = number(mapped(fits, lambda array: array[there]))
    out = np.full((*there.shape, *values.shape[1:]), np.nan)
    out[there] = values
    return out


def _taught(
    grid: BudgetGrid, chosen: list[int], scorer: ClassScorer, seed: int
) -> tuple[Array, float, int]:
    """Share rightly named ``(E, T)`` by synthetic rows and by exact ones, and how many of each."""
    rows, codes = scorer.rows[0::2], scorer.codes[0::2]
    queries, answers = scorer.rows[1::2], scorer.codes[1::2]
    draws = min(TAUGHT_DRAWS, grid.utility.shape[1])
    shares = np.full((len(chosen), draws), np.nan)
    if not len(queries):
        return shares, float("nan"), len(rows)
    for at, i in enumerate(chosen):
        for draw in range(draws):
            fitted_once = mapped(grid.fits, lambda a, i=i, d=draw: a[i, d][None])
            if not np.all(np.isfinite(fitted_once.weights)):
                continue
            mixture = Mixture(fitted_once.weights, fitted_once.means, fitted_once.covariances)
            drawn, kinds = gmm.sample(mixture, len(rows), np.random.default_rng([seed, i, draw]))
            shares[at, draw] = np.mean(voted(drawn, kinds, queries) == answers)
    return shares, float(np.mean(voted(rows, codes, queries) == answers)), len(rows)


def voted(rows: Array, codes: Indices, queries: Array) -> Indices:
    """Class ``(m,)`` of queries ``(m, d)``: that of most of the nearest rows ``(n, d)``.

    >>> voted(np.array([[0.0], [1.0]]), np.array([0, 1]), np.array([[0.1], [0.8]]))
    array([0, 1])
    """
    from scipy.spatial import cKDTree

    count = max(1, min(NEIGHBOURS, len(rows) // (2 * (int(codes.max(initial=0)) + 1))))
    _, near = cKDTree(rows).query(queries, k=[*range(1, count + 1)])
    votes = (codes[near][..., None] == np.arange(int(codes.max(initial=0)) + 1)).sum(axis=1)
    return np.asarray(votes.argmax(axis=1), dtype=np.intp)


@dataclass(frozen=True)
class Allocation:
    """What each part of a release takes: share ``(S, P)`` of the whole, epsilon ``(S, P)`` alone.

    names: of the parts. proved: whether the epsilons are bounds; else they are what is printed.
    notes: a word on each part, or none.
    """

    names: tuple[str, ...]
    shares: Array
    alone: Array
    proved: bool
    notes: tuple[str, ...] = ()


def allocation(grid: BudgetGrid, delta: float) -> Allocation | None:
    """How a proved release divides its budget, from its ledgers; ``None`` where nothing is proved.

    Shares are of mu squared, which adds up (Dong, Roth, Su 2022). Noise of a single release that is
    not normal has all of it.
    """
    first = next((candidate for candidate in grid.ledgers if candidate is not None), None)
    if first is None or any(entry.proof is None for entry in first):
        return None
    names = tuple(entry.what for entry in first)
    shares = np.full((len(grid.epsilons), len(names)), np.nan)
    alone = shares.copy()
    for i, ledger in enumerate(grid.ledgers):
        if ledger is None:
            continue
        if all_gaussian(ledger.events):
            mu = np.array([float(total_mu([event])) for event in ledger.events])
            shares[i], alone[i] = mu**2 / np.sum(mu**2), epsilon_of(delta, mu)
        elif len(names) == 1:
            shares[i], alone[i] = 1.0, grid.epsilons[i]
    labels_stay = next(iter(first)).adjacency == "feature"  # then counts cost nothing
    inner = {} if labels_stay else labelled_staged.inside_of(grid.public.dim)
    notes = tuple(_told(inner[name]) if name in inner else "" for name in names)
    return Allocation(names, shares, alone, True, notes)


def _told(parts: tuple[float, float, float]) -> str:
    """What counts, means and squares take of one release."""
    named = zip(("counts", "means", "squares"), parts, strict=True)
    return ", ".join(f"{name} {part:.0%}" for name, part in named if part > 0.0)


def printed_allocation(table: PrivateTable, epsilons: Sequence[float], delta: float) -> Allocation:
    """How Algorithm 1 divides each budget: to class sizes, means and covariances, of all classes.

    Raises InputError where a class has too few rows for it.
    """
    classes = list(_printed_classes(table).values())
    counts = np.array([group.count for group in classes], dtype=float)
    parts = []
    for epsilon in epsilons:
        plan = design(classes, epsilon, delta)
        wishart = 1.5 * plan.gammas / counts
        parts.append([plan.mapping, float(plan.means.max()), float(wishart.max())])
    alone = np.array(parts)
    names = ("sizes of classes", "means, at most", "covariances, at most")
    return Allocation(names, alone / np.array(epsilons)[:, None], alone, False)


def _printed_classes(table: PrivateTable) -> dict[str, Class]:
    """Exact classes by name, in own units, on which what is printed depends."""
    scorer = ClassScorer.judging(table, None)
    rows = scorer.public.center + scorer.public.half_range * scorer.rows
    names = [str(name) for name in scorer.exact.names[0]]
    return dict(zip(names, classes_of(rows, scorer.codes, len(names), "all"), strict=True))


@dataclass(frozen=True)
class Solved:
    """The minimum-trace problem of one class by two solvers, in their order in :data:`SOLVERS`.

    objectives: the trace that each reaches. gaps: certified relative distance of each from the
    least. seconds: of the whole answer.
    """

    name: str
    objectives: tuple[float, ...]
    gaps: tuple[float, ...]
    seconds: tuple[float, ...]


def solvers_compared(table: PrivateTable) -> tuple[Solved, ...]:
    """Noise that hides what a label does to each class's mean (Liu, Scaglione, Peisert 2025,
    problem 23), by each solver. Exact rows are read. Raises InputError where a class has too few
    rows for it.
    """
    import_module("cvxpy")  # which is no part of an answer
    solved = []
    for name, group in _printed_classes(table).items():
        answers, ends = [], [perf_counter()]
        for solver in SOLVERS:
            answers.append(min_trace_covariance(group.shifts, group.covariance, solver=solver))
            ends.append(perf_counter())
        solved.append(
            Solved(
                name,
                tuple(answer.upper for answer in answers),
                tuple(answer.gap for answer in answers),
                tuple(float(seconds) for seconds in np.diff(ends)),
            )
        )
    return tuple(solved)
