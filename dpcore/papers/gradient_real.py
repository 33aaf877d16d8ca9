"""Figure 5 of robust gradient EM: the symmetric mixture on census tables.

Wang, Ding, Hu, Xie, Pan, Xu 2023, section 5. The paper does not say what the truth is; here it is
the best fit without privacy. ``acs`` stands for its IPUMS-US, which could not be had.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dpcore.arrays import Array
from dpcore.datasets.load import load
from dpcore.datasets.published import bounds_of
from dpcore.models.gradient_em.mathematics import apart, default_tau
from dpcore.models.gradient_em.scoring import SYMMETRIC_MIXTURE
from dpcore.papers.claims import trend
from dpcore.papers.gradient_settings import (
    CLAIMS,
    DELTA,
    EM,
    EXACT,
    OURS,
    ROBUST,
    SEED,
    clipped_at,
    finding,
    same_tau,
)
from dpcore.papers.reproduction import Ask, Run, experiment
from dpcore.privacy.guarantee import delta_text
from dpcore.schema import Column, Schema
from dpcore.wall.table import PrivateTable

EPSILONS = (0.25, 0.5, 1.0, 2.0)
SIGMA = 0.5  # in half ranges of the public bounds, for every table
STEPS = 5
START = 0.5  # distance of the start from the truth, in lengths of the truth
PLAIN = replace(EM, options={"as_private": True, "algorithm": "em"})
WAYS = (PLAIN, clipped_at(1.0), ROBUST, EXACT, OURS)


@experiment(
    "Robust gradient EM, Figure 5: census tables",
    *CLAIMS,
    trend("a larger epsilon gives less error", ROBUST.name, -1),
    stands_in="the best fit in place of the truth, another census table in place of one of three",
)
def figure_5(run: Run) -> str:
    """Error of a symmetric mixture of census rows by epsilon.

    Needs ``adult.csv.gz``, ``ipums_br.npz`` and ``acs.npz``. Columns are in half ranges of public
    bounds (of IPUMS-BR read off the data, so nothing is proved there). A few seconds.
    """
    tables = {"Adult": _adult, "IPUMS-BR": _coded, "ACS": _acs}
    for name, table in run.progress(tables.items()):
        run.panel(
            name,
            f"total epsilon (delta = {delta_text(DELTA)}, one row replaced)",
            "distance of beta from the best fit (up to sign), half ranges",
            f"{name}: sigma {SIGMA:g}, {STEPS} steps",
            log_y=True,
        )
        _by_epsilon(run, table(run.ask))
    return finding(run.rows)


def _by_epsilon(run: Run, table: PrivateTable) -> None:
    """The final error of every way and budget, from several starts."""
    truth = SYMMETRIC_MIXTURE.converged(table, 1, {"sigma": SIGMA, "own": False}).beta[0]
    for split, draws in run.splits(4, 5):
        toward = np.random.default_rng([SEED, split]).standard_normal(len(truth))
        initial = truth + START * np.linalg.norm(truth) * toward / np.linalg.norm(toward)
        for way in WAYS:
            grid = way.fit(
                "symmetric-mixture",
                table,
                EPSILONS,
                DELTA,
                draws=draws,
                seed=SEED,
                sigma=SIGMA,
                own=False,
                initial=tuple(initial.tolist()),
                iterations=STEPS,
                **same_tau(way, default_tau(SIGMA), len(truth)),
            )
            errors = apart(grid.runs.final.beta, truth, mirrored=True)
            shape = len(EPSILONS), len(draws) if way.privacy is not None else 1
            for epsilon, scores_at in zip(
                EPSILONS, np.broadcast_to(errors.reshape(-1, shape[1]), shape), strict=True
            ):
                run.scores(way.name, epsilon, scores_at)


def _adult(ask: Ask) -> PrivateTable:
    import pandas as pd

    bounds = bounds_of("adult")
    frame = pd.read_csv(ask.file("adult.csv.gz"), usecols=list(bounds))
    return load(frame, schema=Schema.from_bounds(bounds))


def _acs(ask: Ask) -> PrivateTable:
    """Columns of 0 and 1, in public."""
    cells = ask.array("acs.npz", "X")
    return _sealed(cells, np.zeros(cells.shape[1]), np.ones(cells.shape[1]), rehearsal=False)


def _coded(ask: Ask) -> PrivateTable:
    """Columns of small whole numbers whose code books are not at hand."""
    cells = ask.array("ipums_br.npz", "X")
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
