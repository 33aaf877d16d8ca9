"""Sweeps: how useful a private fit is, for each budget, composition method and mode, over draws of
the noise and splits of the data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from dpcore.arrays import Array
from dpcore.checks import one_of, whole, words_of
from dpcore.errors import InputError
from dpcore.evaluation.study import MOST_DRAWS, budgets_of
from dpcore.evaluation.yardstick import scorer_of, yardstick
from dpcore.fitting.api import fit_grid
from dpcore.privacy import Privacy
from dpcore.privacy.budget import MODES
from dpcore.wall.table import PrivateTable, demand_loaded

Score = Callable[[Any], Array]  # of a batch, on rows held out


@dataclass(frozen=True)
class SweepRow:
    """One cell of a privacy-utility table; statistics over draws and splits.

    nonprivate: our own steps without noise. converged: the best that is not private. baseline: the
    model's simplest private rival with the same budget. Metrics come from exact rows: for the
    custodian's eyes.
    """

    epsilon: float
    method: str
    mode: str
    mean: float
    std: float
    median: float
    q10: float
    q90: float
    nonprivate: float
    converged: float
    baseline: float


def sweep(
    model: str,
    table: PrivateTable,
    *,
    epsilons: Sequence[float],
    delta: float,
    methods: Sequence[str] = ("exact",),
    modes: Sequence[str] = ("proved",),
    draws: int = 1,
    splits: int = 10,
    test_fraction: float = 0.1,
    metric: str | None = None,
    adjacency: str = "replace_one",
    rows_per_person: int = 1,
    seed: int = 0,
    n_components: int = 3,
    on_progress: Callable[[float], None] | None = None,
    **options: Any,
) -> list[SweepRow]:
    """A table of utility against budget, held out, over ``splits`` random splits and noise draws.

    epsilons, delta, adjacency, rows_per_person: the budgets, and who is protected. methods, modes:
    composition methods, and ``proved`` or ``paper``; methods that a mode does not offer (``exact``
    is not the paper's) are left out of it. test_fraction: of the rows, held out. metric: a name of
    the model's yardstick [its first]. seed: of splits and noise. on_progress: called with the share
    that is done. n_components, options: as :func:`dpcore.fit` takes them.
    The result is not private: it scores exact rows. Raises InputError as :func:`dpcore.fit` does.
    """
    judge = yardstick(model)
    demand_loaded(table)
    metric = one_of("metric", judge.metrics[0] if metric is None else metric, judge.metrics)
    methods, modes = (
        words_of(field, words, least=1) for field, words in (("methods", methods), ("modes", modes))
    )
    for mode in modes:
        one_of("modes", mode, MODES)
    epsilons, seed = budgets_of(epsilons), whole("seed", seed, least=0)
    draws, splits = (
        whole(field, count, most=MOST_DRAWS)
        for field, count in (("draws", draws), ("splits", splits))
    )
    base = Privacy(
        epsilon=epsilons[0],
        delta=delta,
        adjacency=adjacency,
        rows_per_person=rows_per_person,
    )
    cells = [
        replace(base, epsilon=e, accountant=method, mode=mode)
        for mode, method, e in cells_of(modes, methods, epsilons)
    ]
    options = {"n_components": whole("n_components", n_components), **options}
    scores: list[Array] = []
    references: list[tuple[float, float]] = []
    baselines: list[Array] = []
    for split in range(splits):
        train, test = table.split(test_fraction, seed=seed + split)
        held_out = scorer_of(model, test, options, most=None)
        if not len(held_out.rows):
            raise InputError(
                "test_fraction",
                "it holds out no row",
                "give a larger fraction or use more rows",
            )
        score = partial(judge.measure, scorer=held_out, metric=metric)
        noise: dict[str, Any] = {"draws": range(split * draws, (split + 1) * draws), "seed": seed}
        scores.append(
            np.concatenate(
                [
                    score(fit_grid(model, train, privacy=group, **noise, **options).runs.final)
                    for group in _by_mode(cells)
                ]
            )
        )
        best = judge.converged(train, options["n_components"], options)
        baselines.append(_baseline(model, train, cells, score, noise, options, best))
        references.append(_references(model, train, score, options, best))
        if on_progress is not None:
            on_progress((split + 1) / splits)
    table_of_scores = np.stack(scores).reshape(splits, len(cells), draws)
    nonprivate, best = np.mean(references, axis=0)
    baseline = np.stack(baselines).reshape(splits, len(cells), draws).mean(axis=(0, 2))
    return [
        _row(cell, table_of_scores[:, i].ravel(), nonprivate, best, baseline[i])
        for i, cell in enumerate(cells)
    ]


def cells_of(
    modes: Sequence[str], methods: Sequence[str], epsilons: Sequence[float]
) -> list[tuple[str, str, float]]:
    """(mode, method, epsilon) of a table's rows in order; exact counting is not the paper's, and
    stays away where there are others.

    >>> cells_of(["proved", "paper"], ["exact", "zcdp"], [1.0])
    [('proved', 'exact', 1.0), ('proved', 'zcdp', 1.0), ('paper', 'zcdp', 1.0)]
    """
    return [
        (mode, method, epsilon)
        for mode, method, epsilon in product(modes, methods, epsilons)
        if not (mode == "paper" and method == "exact" and len(methods) > 1)
    ]


def _by_mode(cells: Sequence[Privacy]) -> Iterator[list[Privacy]]:
    for mode in dict.fromkeys(cell.mode for cell in cells):
        yield [cell for cell in cells if cell.mode == mode]


def _baseline(
    model: str,
    train: PrivateTable,
    cells: Sequence[Privacy],
    score: Score,
    noise: dict[str, Any],
    options: dict[str, Any],
    best: Any,
) -> Array:
    """The simplest private rival with the whole budget, counted by the same method: scores of all
    cells and draws."""
    judge = yardstick(model)
    if not judge.fits_rival:
        return np.repeat(score(judge.silent(best)), len(cells) * len(noise["draws"]))
    requests = [replace(cell, mode="proved") for cell in cells]
    alone = {k: v for k, v in options.items() if k in judge.rival_words}
    alone |= {"n_components": judge.simplest, **judge.rival_options}
    return score(fit_grid(model, train, privacy=requests, **noise, **alone).runs.final)


def _references(
    model: str, train: PrivateTable, score: Score, options: dict[str, Any], best: Any
) -> tuple[float, float]:
    """(our steps without noise, converged) on one split."""
    plain = {k: v for k, v in options.items() if k not in ("combination", "delta_each")}
    plain = yardstick(model).noiseless(plain)
    own = fit_grid(model, train, privacy=None, as_private=True, **plain)
    return float(score(own.runs.final)[0]), float(score(best)[0])


def _row(cell: Privacy, scores: Array, nonprivate: float, best: float, baseline: float) -> SweepRow:
    assert cell.epsilon is not None
    with np.errstate(invalid="ignore"):  # a divergence may be infinite, and its spread undefined
        q10, median, q90 = np.quantile(scores, [0.1, 0.5, 0.9])
        std = float(np.std(scores, ddof=1)) if scores.size > 1 else 0.0
    return SweepRow(
        epsilon=cell.epsilon,
        method=cell.accountant,
        mode=cell.mode,
        mean=float(np.mean(scores)),
        std=std,
        median=float(median),
        q10=float(q10),
        q90=float(q90),
        nonprivate=float(nonprivate),
        converged=float(best),
        baseline=float(baseline),
    )
