"""Figures 1 to 4 of robust gradient EM, on simulated tables whose truth is known.

Wang, Ding, Hu, Xie, Pan, Xu 2023, section 5.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dpcore.papers.gradient_settings import (
    EM,
    INCOMPLETE,
    MIXTURE,
    OURS,
    ROBUST,
    TWO_LINES,
    WAYS,
    Case,
    clipped_at,
    errors,
    finding,
    point,
    problem,
    slope,
)
from dpcore.papers.reproduction import Ask, Panel, Reproduction, Row, row, spread_row, values

Array = NDArray[np.float64]

ERROR = "distance of beta from the truth (nearer sign), in the data's units"
THRESHOLDS = (0.1, 0.5, 1.0, 5.0, 10.0)
MORE_THRESHOLDS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0)
BUDGETS = (0.25, 1.0, 4.0)
RATIO = "error of Algorithm 1 / error of Algorithm 2 as printed"
SMALL = Case(MIXTURE.model, 1.2, 0.6, rows=5000, sigma=0.4, iterations=10)
# A step's noise and the truncation's bias at the printed scale, tau held (Theorem 4, Remark 1).
RATES = {"epsilon": -0.5, "columns": 1.0, "rows": -0.5}
GUIDE = "slope of the rate d sqrt(tau T / (n epsilon))"
EPSILONS, COLUMNS, ROWS = (0.25, 0.5, 1.0, 2.0), (5, 10, 20), (5_000, 20_000, 60_000)


def figure_1(ask: Ask) -> Reproduction:
    """Error of a symmetric mixture by step, for five clipping thresholds; where clipping is better.

    Two settings: one where C = 1 is near the best threshold, and the base one, where it is far too
    small. Half a minute.
    """
    cases = (SMALL, MIXTURE)
    rows: list[Row] = []
    panels = []
    for number, case in enumerate(cases):
        name = case.words
        panels.append(Panel(name, name, "step", ERROR, log_x=False, log_y=True))
        rows += _by_step(name, case, ask)
        ask.say((number + 1) / 4)
    said = " ".join(_order(rows, panel.id) for panel in panels)
    better = []
    for number, case in enumerate(cases):
        name = f"where clipping is better: {case.rows:,} rows, sigma {case.sigma:g}"
        panels.append(Panel(name, f"{name} (below 1 it is)", "threshold C", RATIO, log_y=True))
        against = _against_robust(name, case, ask)
        better.append(_better(against, case))
        rows += against
        ask.say((number + 3) / 4)
    return Reproduction(
        "Robust gradient EM, Figure 1: the clipping threshold",
        tuple(rows),
        f"{said} A threshold means something only beside sigma sqrt(d), the size of a gradient: "
        f"clipping is better than Algorithm 2 {' and '.join(better)}.",
        tuple(panels),
    )


def _against_robust(panel: str, case: Case, ask: Ask) -> list[Row]:
    """Final error of clipping / that of Algorithm 2 as printed, by threshold and epsilon."""
    rows: list[Row] = []
    for epsilon in BUDGETS:
        here = replace(case, epsilon=epsilon)
        ways = (ROBUST, *map(clipped_at, MORE_THRESHOLDS))
        robust, *clipped = (each["y"] for each in point(panel, 1.0, here, ways, ask))
        rows += [
            row(panel, f"epsilon {epsilon:g}", threshold, error / robust)
            for threshold, error in zip(MORE_THRESHOLDS, clipped, strict=True)
        ]
    return rows


def _better(rows: list[Row], case: Case) -> str:
    """Between which thresholds clipping is better whatever the budget."""
    worst = {c: max(each["y"] for each in rows if each["x"] == c) for c in MORE_THRESHOLDS}
    kept = [c for c, ratio in worst.items() if ratio < 1.0]
    size = case.sigma * case.columns**0.5
    where = f"from C = {min(kept):g} to {max(kept):g}" if kept else "at no C"
    return f"{where} where that is {size:.2g}"


def figure_2(ask: Ask) -> Reproduction:
    """Error of a symmetric mixture by epsilon, columns and rows.

    A few seconds.
    """
    return _sweeps("Robust gradient EM, Figure 2: symmetric mixture", MIXTURE, ask)


def figure_3(ask: Ask) -> Reproduction:
    """Error of a mixture of two regressions by epsilon, columns and rows.

    A few seconds.
    """
    return _sweeps("Robust gradient EM, Figure 3: mixture of regressions", TWO_LINES, ask)


def figure_4(ask: Ask) -> Reproduction:
    """Error of a regression with missing covariates by epsilon, columns and rows.

    A few seconds.
    """
    return _sweeps("Robust gradient EM, Figure 4: missing covariates", INCOMPLETE, ask)


def _by_step(panel: str, case: Case, ask: Ask) -> list[Row]:
    splits, draws = ask.split(4), ask.drawn(5)
    ways = (EM, *map(clipped_at, THRESHOLDS), ROBUST, OURS)
    found: dict[str, list[Array]] = {way.name: [] for way in ways}
    for split in range(splits):
        made_of = problem(case, split)
        for way in ways:
            many = range(split * draws, (split + 1) * draws)
            found[way.name].append(errors(case, way, made_of, many))
    return [
        spread_row(panel, name, step + 1, np.concatenate(each, axis=1)[step])
        for name, each in found.items()
        for step in range(case.iterations)
    ]


def _order(rows: list[Row], panel: str) -> str:
    """Which threshold is best after the last step of a panel, and how Algorithm 2 compares."""
    last = {
        name: found[max(found)]
        for name in (ROBUST.name, *(clipped_at(t).name for t in THRESHOLDS))
        if (found := values(rows, name, panel))
    }
    thresholds = {t: last[clipped_at(t).name] for t in THRESHOLDS}
    best = min(thresholds, key=lambda t: thresholds[t])
    robust, one = last[ROBUST.name], thresholds[1.0]
    verb = "beats" if robust < one else "does not beat"
    return (
        f"{panel}: of the five thresholds C = {best:g} is best ({thresholds[best]:.3f}); "
        f"Algorithm 2 as printed ({robust:.3f}) {verb} C = 1 ({one:.3f})."
    )


def _sweeps(title: str, base: Case, ask: Ask) -> Reproduction:
    swept = [
        ("epsilon", "total epsilon (delta = 1e-05, one row replaced)", EPSILONS),
        ("columns", "columns", COLUMNS),
        ("rows", "rows", ROWS),
    ]
    total = sum(len(points) for _, _, points in swept)
    rows: list[Row] = []
    panels, done = [], 0
    for name, label, points in swept:
        panels.append(Panel(name, f"by {name}; otherwise {base.words}", label, ERROR, log_y=True))
        for x in points:
            case = {
                "epsilon": replace(base, epsilon=float(x)),
                "columns": replace(base, columns=int(x)),
                "rows": replace(base, rows=int(x)),
            }[name]
            rows += point(name, float(x), case, WAYS, ask)
            done += 1
            ask.say(done / total)
    said = f"{finding(rows)} {_slopes(rows)}"
    guides = [each for name in RATES for each in _guide(rows, name)]
    return Reproduction(title, (*rows, *guides), said, tuple(panels))


def _slopes(rows: list[Row]) -> str:
    words = ", ".join(
        f"{slope(rows, ROBUST.name, panel):.2f} by {panel} ({rate:g})"
        for panel, rate in RATES.items()
    )
    return (
        "Slopes of Algorithm 2's error on logarithmic axes, in brackets those of the rate "
        f"d sqrt(tau T / (n epsilon)): {words}."
    )


def _guide(rows: list[Row], panel: str) -> list[Row]:
    """The rate through the first point of Algorithm 2: only its slope means anything."""
    found = values(rows, ROBUST.name, panel)
    first = min(found)
    return [row(panel, GUIDE, x, found[first] * (x / first) ** RATES[panel]) for x in sorted(found)]
