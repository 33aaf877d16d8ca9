"""The noise that each way of counting asks of DP-EM, and what that noise really proves.

Park, Foulds, Chaudhuri, Welling 2017, section 5, at the settings of Figures 2 and 3.
"""

from __future__ import annotations

import math

import numpy as np

from dpcore.accounting import mu_of
from dpcore.papers.counting import CURVES, Size, counted, true_epsilon
from dpcore.papers.dpem_mixture import FIGURE_2, FIGURE_3
from dpcore.papers.reproduction import Ask, Panel, Reproduction, Row, row, values

EPSILONS = (0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 3.0, 4.0)
SIZES = {"figure 2": FIGURE_2.size, "figure 3": FIGURE_3.size}
SAME = "exact, the same releases"
JOINT = "exact, one release per iteration"


def table_noise(ask: Ask) -> Reproduction:
    """Noise multipliers of DP-EM's releases by every way of counting, and what they really prove.

    Needs no data, draws no noise: quick and always the same.
    """
    rows = [each for name, size in SIZES.items() for each in _rows(name, size)]
    panels = tuple(
        Panel(
            name,
            f"{name.capitalize()}: K = {size.components}, J = {size.iterations}",
            f"total epsilon claimed (delta = {size.delta:g}, one row replaced)",
            "noise standard deviation / sensitivity of a release",
            log_y=True,
        )
        for name, size in SIZES.items()
    )
    return Reproduction("DP-EM: noise by way of counting", tuple(rows), _finding(rows), panels)


def _rows(name: str, size: Size) -> list[Row]:
    rows = []
    for curve in CURVES:
        found = counted(curve, size, EPSILONS)
        true = true_epsilon(found.noise, size) if curve.combination == "GGG" else None
        for i, (epsilon, noise) in enumerate(zip(EPSILONS, found.noise, strict=True)):
            proved = None if true is None or math.isnan(noise) else float(true[i])
            each = math.sqrt(2.0 * math.log(1.25 / found.delta_each)) / noise
            rows.append(
                row(
                    name,
                    curve.name,
                    epsilon,
                    noise,
                    note=found.note,
                    epsilon_each=None if math.isnan(each) else each,
                    delta_each=found.delta_each,
                    proved_epsilon=proved,
                )
            )
    mu = np.asarray(mu_of(np.array(EPSILONS), size.delta))
    for words, releases in ((SAME, size.gaussian("GGG")), (JOINT, size.iterations)):
        for epsilon, one in zip(EPSILONS, mu, strict=True):
            noise = math.sqrt(releases) / float(one)
            facts = {"delta_each": None, "proved_epsilon": epsilon}
            rows.append({**row(name, words, epsilon, noise, epsilon_each=None), **facts})
    return rows


def _finding(rows: list[Row]) -> str:
    parts = []
    for name in SIZES:
        zcdp, joint = values(rows, "GGG, zCDP", name), values(rows, JOINT, name)
        true = next(
            each["proved_epsilon"]
            for each in rows
            if (each["panel"], each["curve"], each["x"]) == (name, "GGG, zCDP", 1.0)
        )
        parts.append(
            f"{name.capitalize()}: at epsilon 1 zCDP asks for {zcdp[1.0]:.4g} times the "
            f"sensitivity, which really proves epsilon {true:.3g}; one joint release an iteration, "
            f"counted exactly, needs {joint[1.0]:.4g}"
        )
    refused = sorted({(each["panel"], each["curve"]) for each in rows if "refused" in each["note"]})
    names = " and ".join(f"{curve} ({name})" for name, curve in refused)
    return ". ".join(parts) + f". Refused at the printed delta_i: {names or 'none'}."
