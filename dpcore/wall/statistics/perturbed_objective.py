r"""Objective perturbation: noise goes into a convex objective, and its minimiser leaves.

Chaudhuri, Monteleoni, Sarwate 2011, Algorithm 2 and Theorem 9 (there with means over rows in the
unit ball; here with sums, and rows ``|x| <= R``). Logistic regression minimises

``J(f) = sum over rows of [log(1 + exp(f.x)) - y f.x] + (ridge/2) |f|^2 + b.f``

where b is noise of density proportional to ``exp(-|b| / noise_scale)``: epsilon alone, no delta.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpcore.arrays import Array
from dpcore.checks import positive, whole
from dpcore.errors import InputError, WallError
from dpcore.privacy.ledger import LedgerEntry
from dpcore.privacy.objective_entry import BoxedEntry
from dpcore.wall.data.clipping import HUGE
from dpcore.wall.data.design_matrix import LogisticRows
from dpcore.wall.kernels.minimiser import minimiser
from dpcore.wall.kernels.row_blocks import cut_to_grid
from dpcore.wall.session import Session
from dpcore.wall.statistics.statistic import ROUNDING

STEEPEST = 0.25  # the largest second derivative of the loss
SOLVED = 1e-3  # share of epsilon that pays for the minimiser being found almost exactly
ACCURACY = 1e-9  # of the gradient that a minimiser may have left
LEAST_RIDGE = 1e-8  # of the squared radius: below it Newton's method takes thousands of steps
PLAIN = 1e-6  # the same accuracy without privacy, where nothing rests on it


@dataclass(frozen=True)
class NoisyMinimiser:
    """What left: coefficients ``(B, p)``, with the public ridge and noise scale ``(B,)``."""

    coefficients: Array
    ridge: Array
    noise_scale: Array


@dataclass(frozen=True)
class PerturbedObjective:
    r"""The logistic loss over rows ``|x| <= radius = R`` with noise and a ridge inside.

    **Guarantee.** The minimiser, were it found exactly, has ``epsilon = S / noise_scale + surplus``
    with no delta:

    =====================  ======  ====================================
    adjacency              S       surplus
    =====================  ======  ====================================
    a row is replaced      2 R     ``log(1 + R^2 / (4 ridge))``
    one is added, removed  R       the same
    a label is replaced    R       0
    =====================  ======  ====================================

    *Proof.* Write ``s = 1/(1 + exp(-f.x))``. J is strictly convex with a gradient that must vanish,
    so noise and minimiser determine each other: ``b = -ridge f - sum (s - y) x``. The density of
    the minimiser at f is that of b there, times ``|det H|`` with
    ``H = ridge I + sum s (1 - s) x x^T``. (1) A row's ``(s - y) x`` is shorter than R; two of them
    differ by less than 2R; with another label only, ``(s - y) x`` moves by x. As
    ``| |b| - |b'| | <= |b - b'|``, the densities of b differ by a factor of at most
    ``exp(S / noise_scale)``. (2) Let G be H without the row: ``G >= ridge I`` and
    ``det H = det G (1 + s (1 - s) x^T G^-1 x)``, where the bracket is between 1 and
    ``1 + R^2 / (4 ridge)``. Replacing the row divides one such bracket by another; a label is not
    in H at all. QED. Theorem 9 bounds (2) by the square of the same bracket.

    *Solved almost exactly.* What is found lies within ``r = accuracy / ridge`` of the minimiser,
    because J is strongly convex and what is left of its gradient, rounding and all, is at most
    ``accuracy`` (:func:`~dpcore.wall.kernels.minimiser.minimiser`, for any number of rows, and it
    is always found). A second vector of density proportional to ``exp(-|u| / spread)`` is added to
    it, and the sum is rounded once: a shift by r changes its density by at most
    ``exp(r / spread)``, on either table, so this costs ``2 r / spread``, and spread is chosen to
    make that :data:`SOLVED` of epsilon. J is that of rows cut towards 0 to a public grid, a part in
    10^9: they are no longer for it. *Groups.* k rows cost k times one row.
    """

    dim: int
    radius: float

    lemma = "objective perturbation of a convex loss with bounded gradients, to a stated accuracy"

    def __post_init__(self) -> None:
        whole("dim", self.dim)
        positive("radius", self.radius)

    def slope_sensitivity(self, adjacency: str) -> float:
        """S of the guarantee, inflated by 1e-8 for rounding.

        Raises InputError for another adjacency.
        """
        factor = {"replace_one": 2.0, "add_remove": 1.0, "label": 1.0}.get(adjacency)
        if factor is None:
            raise InputError(
                "adjacency",
                f"{adjacency} is not covered by objective perturbation",
                "choose replace_one, add_remove or label",
            )
        return factor * self.radius * ROUNDING

    def surplus(self, ridge: Array, adjacency: str) -> Array:
        """What the ridge's size costs ``(B,)``."""
        bends = 0.0 if adjacency == "label" else STEEPEST * self.radius**2 * ROUNDING
        return np.asarray(np.log1p(bends / ridge))

    def accuracy(self, ridge: Array, scale: Array) -> Array:
        """Of the gradient, how much may be left ``(B,)``: a share of its public parts.

        The noise is ``dim * scale`` long on average. Three radii let floating point get there with
        4 million rows; more of them, or more accuracy, take decimal numbers and their time.
        """
        return ACCURACY * (1.0 + ridge + self.dim * scale + 3.0 * self.radius)

    def plan(
        self, epsilon: Array, ridge: Array, adjacency: str, *, as_printed: bool = False
    ) -> tuple[Array, Array]:
        """Ridge and noise scale ``(B,)`` for one row at epsilon ``(B,)``.

        The ridge is raised where it would eat more than half of epsilon. As printed: raised only
        where it would eat all, its cost counted twice, nothing paid for the solver.
        """
        bends = 0.0 if adjacency == "label" else STEEPEST * self.radius**2 * ROUNDING
        if as_printed:
            left = epsilon - 2.0 * np.log1p(bends / ridge)
            enough = left > 0.0
            ridge = np.where(enough, ridge, bends / np.expm1(epsilon / 4.0))
            left = np.where(enough, left, epsilon / 2.0)
        else:
            whole_of_it = (1.0 - SOLVED) * epsilon
            ridge = np.maximum(ridge, bends / np.expm1(whole_of_it / 2.0))
            left = whole_of_it - np.log1p(bends / ridge)
        return ridge, self.slope_sensitivity(adjacency) / left

    def release(
        self,
        session: Session[LogisticRows],
        what: str,
        epsilon: Array,
        ridge: Array,
        *,
        as_printed: bool = False,
    ) -> NoisyMinimiser:
        """Release the minimiser of the perturbed objective, and write the ledger.

        epsilon, ridge ``(B,)``: the budget of each run (not read without privacy) and the least
        ridge.

        **Guarantee.** One ledger entry each, a black box whose epsilon is at most the one asked for
        (as printed: whatever the printed noise comes to). **Assumes** a density where floating
        point has a grid: no release to disk uses this door.
        Raises WallError where rows may be longer than the objective says; InputError for a budget
        or ridge that is not above 0, or too small to compute with. ValueError for rows of another
        dimension. Nothing it raises depends on the rows.
        """
        if self.dim != session.source.design.size:
            raise ValueError("the objective and the rows differ in dimension")
        ridge = _positive("ridge", ridge, session.runs)
        noise = session._noise
        if noise is None:
            nothing = np.zeros((session.runs, self.dim))
            _demand_computable(ridge, np.zeros(1), self.radius)
            accuracy = np.full(session.runs, PLAIN)
            coefficients = _released(session, self, nothing, ridge, accuracy, nothing)
            none = np.zeros(session.runs)
            session._entries.append(LedgerEntry(what, "none", none, 1.0, session.adjacency, None))
            return NoisyMinimiser(coefficients, ridge, none)
        if noise.on_grid:
            raise InputError(
                "algorithm",
                "a release uses integer noise, which objective perturbation does not add",
                "choose one_shot",
            )
        if session.source.bound > self.radius * (1.0 + 1e-12):
            raise WallError("the rows' ball is larger than the objective's")
        people = float(session.rows_per_person)
        person_epsilon = _positive("epsilon", epsilon, session.runs) / people
        ridge, scale = self.plan(person_epsilon, ridge, session.adjacency, as_printed=as_printed)
        _demand_computable(ridge, scale, self.radius)
        accuracy = self.accuracy(ridge, scale)
        spread = 2.0 * accuracy / ridge / (SOLVED * person_epsilon * people)
        session._ask_rows()
        session._entries.append(
            BoxedEntry(
                what=what,
                noise="exponential in the norm",
                noise_scale=scale,
                sensitivity=people * self.slope_sensitivity(session.adjacency),
                adjacency=session.adjacency,
                proof=self.lemma,
                surplus=people * self.surplus(ridge, session.adjacency)
                + 2.0 * accuracy / ridge / spread,
            )
        )
        inside, outside = (noise.long_tailed(self.dim)[session._draws] for _ in range(2))
        inside, outside = scale[:, None] * inside, spread[:, None] * outside
        coefficients = _released(session, self, inside, ridge, accuracy, outside)
        return NoisyMinimiser(coefficients, ridge, scale)


def _positive(field: str, numbers: Array, runs: int) -> Array:
    values = np.broadcast_to(np.asarray(numbers, dtype=float), (runs,))
    if not np.all((values > 0.0) & np.isfinite(values)):
        raise InputError(field, "a value is not a finite number above 0", "give one")
    return values.copy()


def _demand_computable(ridge: Array, scale: Array, radius: float) -> None:
    """Raise InputError, before rows are touched, for public sizes that would take Newton's method
    too long, or overflow."""
    least = LEAST_RIDGE * radius**2
    if not np.all(ridge >= least):
        raise InputError(
            "ridge", "it is too small to compute with", f"give {2.0 * least:.0e} or more"
        )
    if not np.all(np.maximum(ridge, scale) <= HUGE):
        raise InputError(
            "epsilon",
            "noise or ridge is too large to compute with",
            "give a larger epsilon or a smaller ridge",
        )


def _released(
    session: Session[LogisticRows],
    objective: PerturbedObjective,
    inside: Array,
    ridge: Array,
    accuracy: Array,
    outside: Array,
) -> Array:
    """Minimisers with noise inside, each with at most ``accuracy (B,)`` of its gradient left, and
    with noise added to them ``(B, p)``: rounded once, when it is in."""
    turned = cut_to_grid(session.source._designed, objective.radius)
    turned *= (1.0 - 2.0 * session.source._outcomes)[:, None]
    out = np.empty_like(outside)
    for run, added in enumerate(outside):
        exact = minimiser(
            turned, inside[run], float(ridge[run]), float(accuracy[run]), objective.radius
        )
        out[run] = [float(f + Fraction(noise)) for f, noise in zip(exact, added, strict=True)]
    return out
