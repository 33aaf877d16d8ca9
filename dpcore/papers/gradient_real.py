"""Figure 5 of robust gradient EM: the symmetric mixture on census tables.

Wang, Ding, Hu, Xie, Pan, Xu 2023, section 5. The paper does not say what the truth is; here it is
the best fit without privacy. ``acs`` stands for its IPUMS-US, which could not be had.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcore.datasets.load import load
from dpcore.fitting.api import fit_grid
from dpcore.models.gradient_em.mathematics import apart
from dpcore.models.gradient_em.scoring import SYMMETRIC_MIXTURE
from dpcore.papers.gradient_settings import (
    DELTA,
    EM,
    EXACT,
    OURS,
    ROBUST,
    SEED,
    Way,
    clipped_at,
    finding,
)
from dpcore.papers.reproduction import Ask, Panel, Reproduction, Row, spread_row
from dpcore.papers.vips_logistic import ADULT
from dpcore.privacy import Privacy
from dpcore.schema import Column, Schema
from dpcore.wall.table import PrivateTable

Array = NDArray[np.float64]

EPSILONS = (0.25, 0.5, 1.0, 2.0)
SIGMA = 0.5  # in half ranges of the public bounds, for every table
STEPS = 5
START = 0.5  # distance of the start from the truth, in lengths of the truth
WAYS = (EM, clipped_at(1.0), ROBUST, EXACT, OURS)


def figure_5(ask: Ask) -> Reproduction:
    """Error of a symmetric mixture of census rows by epsilon.

    Needs ``adult.csv.gz``, ``ipums_br.npz`` and ``acs.npz``. Columns are in half ranges of public
    bounds (of IPUMS-BR read off the data, so nothing is proved there). A few seconds.
    """
    tables = {"Adult": _adult(ask), "IPUMS-BR": _coded(ask, "ipums_br.npz"), "ACS": _acs(ask)}
    rows: list[Row] = []
    panels = []
    for number, (name, table) in enumerate(tables.items()):
        panels.append(
            Panel(
                name,
                f"{name}: sigma {SIGMA:g}, {STEPS} steps",
                f"total epsilon (delta = {DELTA:g}, one row replaced)",
                "distance of beta from the best fit (nearer sign), half ranges",
                log_y=True,
            )
        )
        rows += _by_epsilon(name, table, ask)
        ask.say((number + 1) / len(tables))
    return Reproduction(
        "Robust gradient EM, Figure 5: census tables", tuple(rows), finding(rows), tuple(panels)
    )


def _by_epsilon(panel: str, table: PrivateTable, ask: Ask) -> list[Row]:
    """The final error of every way and budget, from several starts."""
    judge = SYMMETRIC_MIXTURE
    truth = judge.converged(table, 1, {"sigma": SIGMA, "own": False}).beta[0]
    splits, draws = ask.split(4), ask.drawn(5)
    found: dict[tuple[str, float], list[Array]] = {}
    for split in range(splits):
        toward = np.random.default_rng([SEED, split]).standard_normal(len(truth))
        initial = truth + START * np.linalg.norm(truth) * toward / np.linalg.norm(toward)
        many = range(split * draws, (split + 1) * draws)
        for way in WAYS:
            beta = _fitted(way, table, tuple(initial.tolist()), many)
            for epsilon, each in zip(EPSILONS, beta, strict=True):
                errors = apart(each, truth, mirrored=True)
                found.setdefault((way.name, epsilon), []).append(errors)
    return [spread_row(panel, name, x, np.concatenate(each)) for (name, x), each in found.items()]


def _fitted(way: Way, table: PrivateTable, initial: tuple[float, ...], draws: range) -> Array:
    """Beta ``(budgets, draws, d)``; without privacy the same for every budget."""
    words: dict[str, Any] = {
        "sigma": SIGMA,
        "own": False,
        "initial": initial,
        "iterations": STEPS,
        **way.options,
    }
    if way.mode is None:
        plain = fit_grid(
            "symmetric-mixture", table, privacy=None, as_private=True, algorithm="em", **words
        )
        return np.repeat(plain.runs.final.beta[None], len(EPSILONS), axis=0)
    asked = tuple(Privacy(epsilon=e, delta=DELTA, mode=way.mode) for e in EPSILONS)
    grid = fit_grid("symmetric-mixture", table, privacy=asked, draws=draws, seed=SEED, **words)
    return np.asarray(grid.runs.final.beta.reshape(len(EPSILONS), len(draws), -1))


def _adult(ask: Ask) -> PrivateTable:
    import pandas as pd

    frame = pd.read_csv(ask.file("adult.csv.gz"), usecols=list(ADULT))
    return load(frame, schema=Schema.from_bounds(ADULT))


def _acs(ask: Ask) -> PrivateTable:
    """Columns of 0 and 1, in public."""
    cells = ask.array("acs.npz", "X")
    return _sealed(cells, np.zeros(cells.shape[1]), np.ones(cells.shape[1]), rehearsal=False)


def _coded(ask: Ask, file: str) -> PrivateTable:
    """Columns of small whole numbers whose code books are not at hand."""
    cells = ask.array(file, "X")
    low, high = cells.min(axis=0), cells.max(axis=0)
    return _sealed(cells[:, high > low], low[high > low], high[high > low], rehearsal=True)


def _sealed(cells: Array, low: Array, high: Array, *, rehearsal: bool) -> PrivateTable:
    import pandas as pd

    names = [f"x{i + 1}" for i in range(cells.shape[1])]
    columns = tuple(
        Column(name, lower=float(a), upper=float(b))
        for name, a, b in zip(names, low, high, strict=True)
    )
    return load(pd.DataFrame(cells, columns=names), schema=Schema(columns, rehearsal=rehearsal))
