"""Settings shared by the figures of robust gradient EM: models, curves, and simulated points.

Wang, Ding, Hu, Xie, Pan, Xu 2023, section 5. The paper names what it sweeps and prints hardly any
values; those here are proposed in their place and stated in every panel. Two curves stand beside
the paper's: its own algorithm with exact noise, and clipping with the same public tau.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcore.arrays import Array
from dpcore.datasets import gradient_models as generated
from dpcore.datasets.load import load
from dpcore.models.gradient_em.mathematics import (
    MISSING,
    REGRESSIONS,
    SYMMETRIC,
    GradientModel,
    apart,
)
from dpcore.papers.claims import Row, beside, ordered
from dpcore.papers.reproduction import Run, values
from dpcore.papers.ways import Way
from dpcore.wall.table import PrivateTable

DELTA = 1e-5
FAILURE = 0.05
SEED = 2023
PILOT = 20_000  # simulated rows from which an oracle's tau is read
CROWD, DIRECTIONS = 100_000, 4  # simulated rows, and points at each distance, for a contraction


@dataclass(frozen=True)
class Case:
    """One setting: n rows, d columns, epsilon, noise level, ``|beta*|``, distance of the start."""

    model: GradientModel
    norm: float
    away: float
    rows: int = 20_000
    columns: int = 10
    epsilon: float = 1.0
    sigma: float = 1.0
    iterations: int = 5
    missing_rate: float = 0.2

    @property
    def words(self) -> str:
        """The setting in a panel's title."""
        return f"{self.rows:,} rows, {self.words_of_any_size}"

    @property
    def words_of_any_size(self) -> str:
        """The same without the number of rows."""
        return (
            f"{self.columns} columns, epsilon {self.epsilon:g}, sigma {self.sigma:g}, "
            f"|beta*| {self.norm:g}, {self.iterations} steps"
        )


MIXTURE = Case(SYMMETRIC, 3.0, 1.5)
TWO_LINES = Case(REGRESSIONS, 2.0, 0.6)
INCOMPLETE = Case(MISSING, 1.5, 0.75)


EM = Way("gradient EM, no privacy", None)
ROBUST = Way("Algorithm 2 as printed", {"mode": "paper"}, {"algorithm": "robust"})
EXACT = Way(
    "Algorithm 2, exact noise", options={"algorithm": "robust", "split": True, "bend": "printed"}
)
OURS = Way("clipping at sqrt(d tau), all rows, exact noise", options={"algorithm": "clipped"})
LOCAL = Way(
    "clipping at sqrt(d tau), local model", options={"algorithm": "clipped", "trust": "local"}
)


def same_tau(way: Way, tau: float, columns: int) -> dict[str, float]:
    """Of our ways the norm to clip at, whatever the noise: that of a gradient at the bound tau."""
    return {"threshold": math.sqrt(columns * tau)} if way in (OURS, LOCAL) else {}


def clipped_at(threshold: float) -> Way:
    """Algorithm 1 with one threshold, counted as Algorithm 2 is."""
    options = {"algorithm": "clipped", "threshold": threshold}
    return Way(f"Algorithm 1, C = {threshold:g}", {"mode": "paper"}, options)


WAYS = (EM, clipped_at(1.0), ROBUST, EXACT, OURS)


@dataclass(frozen=True)
class Problem:
    """A table with its truth ``(d,)``, a start ``(d,)`` and an oracle's tau: the paper's best
    case."""

    table: PrivateTable
    truth: Array
    initial: Array
    tau: float


def problem(case: Case, split: int) -> Problem:
    """Simulated rows with a known truth; tau is the largest mean square on another sample."""
    rng = np.random.default_rng([SEED, split, case.columns, case.rows])
    truth = case.norm * _direction(case.columns, rng)
    initial = truth + case.away * _direction(case.columns, rng)
    frame, schema = _drawn(case, case.rows, truth, rng)
    return Problem(load(frame, schema=schema), truth, initial, _tau(case, truth, initial, rng))


def contraction(case: Case, made_of: Problem) -> float:
    """How much of the distance from the truth a step with very many rows leaves: the largest share
    at some points between the start and the truth, measured on simulated rows."""
    rng = np.random.default_rng([SEED, case.columns])
    gradients = _gradients(case, _drawn(case, CROWD, made_of.truth, rng)[0])
    at_truth = gradients(made_of.truth[None]).mean(axis=2)
    shares = []
    for distance in (case.away, case.away / 2.0, case.away / 4.0):
        moves = np.stack([distance * _direction(case.columns, rng) for _ in range(DIRECTIONS)])
        steps = gradients(made_of.truth + moves).mean(axis=2) - at_truth
        shares.append(np.linalg.norm(moves + steps, axis=1) / distance)
    return float(np.max(shares))


def errors(run: Run, case: Case, ways: Sequence[Way]) -> Iterator[tuple[str, Array]]:
    """Each way's distances from the truth ``(iterations, draws)``, on one table after another."""
    for split, draws in run.splits(4, 5):
        made_of = problem(case, split)
        for way in ways:
            grid = way.fit(
                case.model.name,
                made_of.table,
                [case.epsilon],
                DELTA,
                draws=draws,
                seed=SEED,
                sigma=case.sigma,
                tau=made_of.tau,
                initial=tuple(made_of.initial),
                iterations=case.iterations,
                failure=FAILURE,
                norm=2.0 * (case.norm + case.away),
                **same_tau(way, made_of.tau, case.columns),
            )
            mirrored = case.model.mirrored
            steps = [apart(s.beta, made_of.truth, mirrored=mirrored) for s in grid.runs.history]
            yield way.name, np.stack(steps)


ALGORITHMS = ordered(
    "Algorithm 2 is more accurate than Algorithm 1 with C = 1", ROBUST.name, clipped_at(1.0).name
)
CLAIMS = (
    ordered("EM without privacy is more accurate than Algorithm 2", EM.name, ROBUST.name),
    ALGORITHMS,
    beside(
        ordered(
            "Algorithm 2 is more accurate than clipping that uses the same tau",
            ROBUST.name,
            OURS.name,
        )
    ),
    beside(
        ordered(
            "Algorithm 2 is more accurate as printed than with exact noise",
            ROBUST.name,
            EXACT.name,
        )
    ),
)


def finding(rows: list[Row]) -> str:
    """In how many points each order holds."""
    places = {(row["panel"], row["x"]) for row in rows}
    ours, order, exact = 0, 0, 0
    for panel, x in places:
        here = {
            row["curve"]: float(row["y"]) for row in rows if (row["panel"], row["x"]) == (panel, x)
        }
        private = {name: y for name, y in here.items() if name != EM.name}
        ours += min(private, key=lambda name: private[name]) == OURS.name
        order += here[EM.name] < here[ROBUST.name] < here[clipped_at(1.0).name]
        exact += here[EXACT.name] < here[ROBUST.name]
    count = len(places)
    return (
        f"The paper's order (no privacy, then Algorithm 2, then Algorithm 1 with C = 1) holds at "
        f"{order} of {count} points. Algorithm 2 is better with exact noise than as printed at "
        f"{exact} of {count}. Clipping at sqrt(d tau), "
        f"which uses the same tau, is the most accurate private method at {ours} of {count}."
    )


def slope(rows: list[Row], curve: str, panel: str) -> float:
    """The slope of a curve on logarithmic axes, by least squares."""
    errors_at = values(rows, curve, panel)
    return float(np.polyfit(np.log(list(errors_at)), np.log(list(errors_at.values())), 1)[0])


def _drawn(case: Case, rows: int, truth: Array, rng: np.random.Generator) -> Any:
    if case.model is SYMMETRIC:
        return generated.mixture_table(rows, truth, case.sigma, rng)
    if case.model is REGRESSIONS:
        return generated.regressions_table(rows, truth, case.sigma, rng)
    return generated.incomplete_table(rows, truth, case.sigma, case.missing_rate, rng)


def _tau(case: Case, truth: Array, initial: Array, rng: np.random.Generator) -> float:
    """The largest mean square of a gradient's coordinate, at the start and at the truth."""
    gradients = _gradients(case, _drawn(case, PILOT, truth, rng)[0])
    return float(np.mean(gradients(np.stack([truth, initial])) ** 2, axis=2).max())


def _gradients(case: Case, frame: Any) -> Callable[[Array], Array]:
    """Each simulated row's gradient ``(B, d, n)`` at given ``(B, d)``."""
    names = [name for name in frame.columns if name != "y"]
    cells = frame[names].to_numpy(dtype=float).T
    observed = np.isfinite(cells)
    targets = frame["y"].to_numpy(dtype=float) if case.model.target else None
    shown = np.where(observed, cells, 0.0)
    mask = observed if case.model.masked else None
    return lambda beta: case.model.gradients(beta, case.sigma, shown, targets, mask)


def _direction(columns: int, rng: np.random.Generator) -> Array:
    drawn = rng.standard_normal(columns)
    return np.asarray(drawn / np.linalg.norm(drawn))
