"""DP-EM's mixtures: held-out likelihood against epsilon, by every published composition method.

Park, Foulds, Chaudhuri, Welling 2017, Figures 2 and 3: Laplace or Gaussian noise (LLG, GGG) by
linear and advanced composition, zCDP and the moments accountant; beside them the proved recipe.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from dpcore.arrays import Array
from dpcore.datasets.load import load
from dpcore.evaluation.yardstick import Scorer, yardstick
from dpcore.fitting.api import fit_grid
from dpcore.papers.claims import Claim, Row, ordered
from dpcore.papers.counting import CURVES, WORDS, Counting, Size, counted
from dpcore.papers.reproduction import Run, experiment, values
from dpcore.privacy import Privacy
from dpcore.privacy.guarantee import delta_text
from dpcore.schema import Schema
from dpcore.wall.table import PrivateTable

PROVED = "proved, exact"
PRINTED_STEPS = "printed steps, no noise"
OWN_STEPS = "without privacy"
ONE_GAUSSIAN = "one Gaussian, without privacy"
ORDER = ("linear", "advanced", "ma", "zcdp")  # as printed, worst first
SAME = 0.01  # nats by which equal curves differ: whole orders cost a little noise
SPLITS, TEST = 10, 0.1  # of the rows, and the share held out
WITHIN = 0.1  # of the gap between one Gaussian and the mixture, both without privacy
NORM_BOUND = 16.25  # of a Life Science row, public by assumption


@dataclass(frozen=True)
class Comparison:
    """One figure: which table, how large a mixture, which budgets."""

    size: Size
    epsilons: tuple[float, ...]


FIGURE_2 = Comparison(
    Size(components=10, iterations=20, delta=1e-4, delta_each=1e-6),
    (0.1, 0.2, 0.5, 1.0, 2.0, 4.0),
)
FIGURE_3 = Comparison(
    Size(components=3, iterations=10, delta=1e-4, delta_each=1e-8),
    (0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 4.0),
)


def _claims() -> Iterator[Claim]:
    """The printed order of the composition methods, and of the two combinations of noise."""
    words = {"GGG": "Gaussian noise alone", "LLG": "Laplace and Gaussian noise"}
    for kind, noise in words.items():
        order = "linear, advanced, moments accountant, zCDP"
        says = f"with {noise} the order from worst to best is {order}"
        yield ordered(says, *(f"{kind}, {WORDS[method]}" for method in ORDER), slack=SAME)
    for way in (WORDS[method] for method in ORDER):
        says = f"{words['GGG']} is better than {words['LLG']} ({way})"
        yield ordered(says, f"LLG, {way}", f"GGG, {way}", slack=SAME)


@experiment(
    "DP-EM, Figure 2: a wide table like Stroke",
    *_claims(),
    stands_in="a simulated table in place of Stroke, which is not public",
)
def figure_2(run: Run) -> str:
    """Mixture of ten Gaussians on a wide table like Stroke: likelihood by every composition method.

    The table is simulated and bundled; ten splits, each of which takes five minutes.
    """
    return compare(run, load("bundled:stroke_like"), FIGURE_2)


@experiment("DP-EM, Figure 3: Life Science", *_claims())
def figure_3(run: Run) -> str:
    """Mixture of three Gaussians on the Life Science data: likelihood by every composition method.

    Needs ``lifesci.npz``; seconds a split. Rows lie in a ball whose radius is taken as public.
    """
    rows = run.ask.array("lifesci.npz", "X")
    names = [f"x{i + 1}" for i in range(rows.shape[1])]
    return compare(run, load(rows, schema=Schema.ball_of(names, None, NORM_BOUND)), FIGURE_3)


def compare(run: Run, table: PrivateTable, comparison: Comparison) -> str:
    """Every curve of a figure on random splits of one table."""
    size, epsilons = comparison.size, comparison.epsilons
    run.panel(
        "likelihood",
        f"epsilon (delta = {delta_text(size.delta)}, one row replaced)",
        "held-out log-likelihood of x / R per row, nats",
        run.title,
    )
    proved = tuple(Privacy(epsilon=e, delta=size.delta) for e in epsilons)
    curves = [
        _Curve(OWN_STEPS, epsilons, options={"as_private": True}),
        _Curve(PRINTED_STEPS, epsilons, options={"as_private": True, "mode": "paper"}),
        _Curve(ONE_GAUSSIAN, epsilons, options={"as_private": True, "n_components": 1}),
        _Curve(PROVED, epsilons, proved),
        *(_published(curve, size, epsilons) for curve in CURVES),
    ]
    for split, draws in run.splits(SPLITS):
        train, test = table.split(TEST, seed=split)
        rows = Scorer.of(test, most=None)
        for curve in run.progress(curves):
            scores = curve.scores(train, rows, size, draws)
            for epsilon, values_at in zip(curve.epsilons, scores, strict=True):
                run.scores(curve.name, epsilon, values_at, note=curve.note)
    return finding(run.rows, epsilons)


@dataclass(frozen=True)
class _Curve:
    """What is asked for at each epsilon; one fit for all of them without privacy."""

    name: str
    epsilons: tuple[float, ...]
    requests: tuple[Privacy, ...] | None = None
    note: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)

    def scores(self, train: PrivateTable, rows: Scorer, size: Size, draws: range) -> Array:
        """Held-out likelihoods ``(epsilons, draws)``."""
        if self.requests == ():
            return np.empty((0, len(draws)))
        many: dict[str, Any] = {
            "n_components": size.components,
            "iterations": size.iterations,
            **self.options,
        }
        noise: dict[str, Any] = {} if self.requests is None else {"draws": draws, "seed": 0}
        grid = fit_grid("gmm", train, privacy=self.requests, **noise, **many)
        measured = yardstick("gmm").measure(grid.runs.final, rows, "test_log_likelihood_scaled")
        shape = len(self.epsilons), len(draws)
        return np.broadcast_to(measured, shape) if len(measured) == 1 else measured.reshape(shape)


def _published(curve: Counting, size: Size, epsilons: Sequence[float]) -> _Curve:
    """A published count at the budgets that it can meet."""
    counts = counted(curve, size, epsilons)
    met = [(e, float(z)) for e, z in zip(epsilons, counts.noise, strict=True) if np.isfinite(z)]
    requests = (Privacy(noise_multiplier=z, delta=size.delta, mode="paper") for _, z in met)
    options = {"combination": curve.combination, "delta_each": counts.delta_each}
    return _Curve(curve.name, tuple(e for e, _ in met), tuple(requests), counts.note, options)


def finding(rows: Sequence[Row], epsilons: Sequence[float]) -> str:
    """Where each curve comes near the fit without privacy, and whether the order is as printed."""
    return f"{_reached(rows)} {_order(rows, epsilons)}"


def _reached(rows: Sequence[Row]) -> str:
    """The least budget of the grid from which a curve stays within a tenth of the gap."""
    best, least = (max(values(rows, name).values()) for name in (OWN_STEPS, ONE_GAUSSIAN))
    if best <= least:
        return f"No gap: one Gaussian reaches {least:.2f} nats, the mixture {best:.2f}."
    level = best - WITHIN * (best - least)
    near = []
    curves = (PROVED, PRINTED_STEPS, *(curve.name for curve in CURVES))
    for name in curves:
        epsilon = reaches(values(rows, name), level)
        if epsilon is not None:
            near.append(f"{name} from epsilon {epsilon:g}")
    gap = f"Without privacy, one Gaussian reaches {least:.2f} nats and the mixture {best:.2f}."
    if not near:
        return f"{gap} No curve closes {1.0 - WITHIN:.0%} of that gap at any budget here."
    rest = "; no other curve at any budget here" if len(near) < len(curves) else ""
    return f"{gap} Curves that close {1.0 - WITHIN:.0%} of that gap: {'; '.join(near)}{rest}."


def reaches(curve: dict[float, float], level: float) -> float | None:
    """The least budget from which a curve (epsilon to value) never falls below a level again.

    >>> reaches({0.1: 1.0, 1.0: 3.0, 4.0: 4.0}, 2.0), reaches({1.0: 3.0, 4.0: 1.0}, 2.0)
    (1.0, None)
    """
    first = None
    for epsilon in sorted(curve, reverse=True):
        if curve[epsilon] < level:
            break
        first = epsilon
    return first


def _order(rows: Sequence[Row], epsilons: Sequence[float]) -> str:
    """At how many budgets each part of the printed order holds."""
    orders = []
    for combination in ("GGG", "LLG"):
        lines = {m: values(rows, Counting(combination, m).name) for m in ORDER}
        pairs = [
            f"{WORDS[low]} below {WORDS[high]} at {_below(lines[low], lines[high], epsilons)}"
            for low, high in pairwise(ORDER)
        ]
        orders.append(f"{combination}: {', '.join(pairs)}")
    above = []
    for method in ORDER:
        mixed, gaussian = (values(rows, Counting(c, method).name) for c in ("LLG", "GGG"))
        above.append(f"{WORDS[method]} at {_below(mixed, gaussian, epsilons)}")
    return (
        f"Number of budgets, of {len(epsilons)}, at which the printed order holds to within {SAME} "
        f"nats: {'; '.join(orders)}; GGG above LLG: {', '.join(above)}."
    )


def _below(first: dict[float, float], second: dict[float, float], epsilons: Sequence[float]) -> int:
    """At how many budgets one curve is no better than another; out of reach is below all."""
    return sum(first.get(e, -np.inf) <= second.get(e, -np.inf) + SAME for e in epsilons)
