"""The noise that each composition method asks of DP-EM, and what that noise really proves.

Park, Foulds, Chaudhuri, Welling 2017, section 5, at the settings of Figures 2 and 3.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from dpcore.accounting import mu_of
from dpcore.papers.claims import Row, holds, points
from dpcore.papers.counting import CURVES, Size, counted, true_epsilon
from dpcore.papers.dpem_mixture import FIGURE_2, FIGURE_3
from dpcore.papers.reproduction import Run, experiment, values
from dpcore.privacy.guarantee import delta_text

EPSILONS = (0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 3.0, 4.0)
SIZES = {"figure 2": FIGURE_2.size, "figure 3": FIGURE_3.size}
SAME = "exact, the same releases"
JOINT = "exact, one release per iteration"


def _less_than_capped(rows: Sequence[Row]) -> Iterator[bool]:
    """At the smallest epsilon, whether zCDP needs less noise than the capped moments accountant."""
    capped = points(rows, "GGG, moments accountant, orders up to 100")
    at_least = points(rows, "GGG, zCDP")
    smallest = min(x for _, x in at_least)
    for at, noise in at_least.items():
        if at[1] == smallest:
            yield at not in capped or noise < 0.99 * capped[at]


def _countable(rows: Sequence[Row]) -> list[bool]:
    """Whether advanced composition took the printed delta, for every size and combination."""
    notes = {(r["panel"], r["curve"]): r["note"] for r in rows if r["curve"].endswith(", advanced")}
    return ["refused" not in note for note in notes.values()]


@experiment(
    "DP-EM: noise by composition method",
    holds(
        "with Gaussian noise alone, every claimed epsilon holds",
        lambda rows: (
            row["proved_epsilon"] <= row["x"]
            for row in rows
            if row["curve"].startswith("GGG") and row.get("proved_epsilon") is not None
        ),
    ),
    holds(
        "zCDP needs less noise than the moments accountant (orders up to 100) at small epsilon",
        _less_than_capped,
    ),
    holds("the printed delta of each release is feasible under advanced composition", _countable),
)
def table_noise(run: Run) -> str:
    """Noise multipliers of DP-EM's releases by each composition method, and what they really prove.

    Needs no data, draws no noise: quick and always the same.
    """
    for name, size in SIZES.items():
        run.panel(
            name,
            f"total epsilon claimed (delta = {delta_text(size.delta)}, one row replaced)",
            "noise standard deviation / sensitivity of a release",
            f"{name.capitalize()}: K = {size.components}, J = {size.iterations}",
            log_y=True,
        )
        _published(run, size)
        _exact(run, size)
    return _finding(run.rows)


def _published(run: Run, size: Size) -> None:
    for curve in CURVES:
        counts = counted(curve, size, EPSILONS)
        true = true_epsilon(counts.noise, size) if curve.combination == "GGG" else None
        for i, (epsilon, noise) in enumerate(zip(EPSILONS, counts.noise, strict=True)):
            epsilon_each = math.sqrt(2.0 * math.log(1.25 / counts.delta_each)) / noise
            run.row(
                curve.name,
                epsilon,
                noise,
                note=counts.note,
                epsilon_each=None if math.isnan(epsilon_each) else epsilon_each,
                delta_each=counts.delta_each,
                proved_epsilon=None if true is None or math.isnan(noise) else float(true[i]),
            )


def _exact(run: Run, size: Size) -> None:
    """What exact counting needs for the same budgets."""
    mu = np.asarray(mu_of(np.array(EPSILONS), size.delta))
    for words, releases in ((SAME, size.gaussian("GGG")), (JOINT, size.iterations)):
        for epsilon, mu_at in zip(EPSILONS, mu, strict=True):
            noise = math.sqrt(releases) / float(mu_at)
            run.row(
                words, epsilon, noise, epsilon_each=None, delta_each=None, proved_epsilon=epsilon
            )


def _finding(rows: list[Row]) -> str:
    parts = []
    for name in SIZES:
        zcdp, joint = values(rows, "GGG, zCDP", name), values(rows, JOINT, name)
        true = points(rows, ("GGG, zCDP", "proved_epsilon"))[name, 1.0]
        parts.append(
            f"{name.capitalize()}: at epsilon 1 zCDP needs noise of {zcdp[1.0]:.4g} times the "
            f"sensitivity, for which the proved epsilon is {true:.3g}; one joint release per "
            f"iteration, composed exactly, needs {joint[1.0]:.4g}"
        )
    refused = sorted({(row["panel"], row["curve"]) for row in rows if "refused" in row["note"]})
    names = " and ".join(f"{curve} ({name})" for name, curve in refused)
    return ". ".join(parts) + f". Refused at the printed delta_i: {names or 'none'}."
