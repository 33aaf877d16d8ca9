"""The convex programme: shares of a budget that keep the most of all releases together.

Costs ``rho = 1 / (2 z^2)`` of normal noise add up (Dong, Roth, Su 2022, Corollary 3.3). With x_i
the share of the total that each of t_i equal releases takes, and f_i the concave majorant of the
share of the exact gain it keeps,

    maximise sum t_i f_i(x_i)  subject to  sum t_i x_i <= 1,  low_i <= x_i <= high_i.

A lower bound on accuracy is one on the cost, since curves rise. Each f_i is a sum over the pieces
of its curve, and a variable between 0 and 1 says how much of a piece is taken: all numbers keep
their size whatever the budget and the tables. The problem is compiled once; what changes while a
slider is dragged are its parameters (Agrawal et al. 2019, disciplined parametrised programming).

Where a curve is not concave, a release may get a share between two corners of its majorant and keep
less than the programme counts on. Then two more divisions are tried, with at most the lower corner
and with at least the upper one (branch and bound); the division that keeps most in simulation is
taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock

import numpy as np

from dpcore.arrays import Array
from dpcore.planning.curves import UtilityCurve

NEAR = 1e-6  # part of a piece, or of the budget, that is the solver's last digits
GAP = 0.02  # between what the programme counts on and what was simulated, above which it matters
MOST_BRANCHES = 20  # two or three usually suffice


@dataclass(frozen=True)
class Division:
    """A solution: shares ``(N,)`` of the whole that each single release takes, what the programme
    counts on, what releases keep as simulated, and the marginal gain of the budget (the dual
    value)."""

    shares: Array
    counted_on: Array
    simulated: Array
    budget_dual: float


class Split:
    """The programme of some curves, compiled. :meth:`solve` may be called from several threads."""

    def __init__(self, curves: Sequence[UtilityCurve]) -> None:
        import cvxpy

        self.curves, self.corners = curves, [curve.majorant() for curve in curves]
        shape = (len(curves), max(2, *(len(rho) for rho, _ in self.corners)) - 1)
        self._lock, self._part = Lock(), cvxpy.Variable(shape)
        self._gains, self._costs = (cvxpy.Parameter(shape, nonneg=True) for _ in range(2))
        self._room = cvxpy.Parameter(nonneg=True)
        self._budget = cvxpy.sum(cvxpy.multiply(self._costs, self._part)) <= self._room
        self._problem = cvxpy.Problem(
            cvxpy.Maximize(cvxpy.sum(cvxpy.multiply(self._gains, self._part))),
            [self._budget, self._part >= 0, self._part <= 1],
        )

    def solve(
        self, total: float, times: Array, low: Array, high: Array, *, rows: float = 1.0
    ) -> Division:
        """The division of a total rho that keeps most; a feasible one exists.

        times ``(N,)``: how many of each. low, high ``(N,)``: the least and the most rho of one.
        rows: so many times the rows of the curves.
        """
        best, branches = None, [(low, high)]
        for _ in range(MOST_BRANCHES):
            if not branches:
                break
            low, high = branches.pop()
            division = self.concave(total, times, low, high, rows=rows)
            if best is None or times @ division.simulated > times @ best.simulated + NEAR:
                best = division
            gaps = times * (division.counted_on - division.simulated)
            i = int(np.argmax(gaps))
            if gaps[i] <= GAP or times @ division.counted_on <= times @ best.simulated + GAP:
                continue
            corners, rho = self.corners[i][0] / rows**2, total * division.shares[i]
            below, above = np.array(high), np.array(low)
            below[i] = max(low[i], corners[corners < rho].max())
            above[i] = corners[corners > rho].min()
            if low[i] < above[i] <= high[i] and times @ above <= total:
                branches.append((above, high))
            if below[i] < high[i]:
                branches.append((low, below))
        assert best is not None
        return best

    def concave(
        self, total: float, times: Array, low: Array, high: Array, *, rows: float = 1.0
    ) -> Division:
        """As :meth:`solve`, but best by the concave majorants."""
        corners = [(rho / rows**2 / total, share) for rho, share in self.corners]
        low, most = low / total, high / total
        gains, steps = np.zeros(self._part.shape), np.zeros(self._part.shape)
        for i, (at, share) in enumerate(corners):  # beyond its top nothing is gained
            end = max(low[i], min(most[i], at[-1]))
            ends = np.array([low[i], *at[(at > low[i]) & (at < end)], end])
            gains[i, : len(ends) - 1] = times[i] * np.diff(np.interp(ends, at, share))
            steps[i, : len(ends) - 1] = np.diff(ends)
        room = 1.0 - float(times @ low)
        part, dual = np.zeros(steps.shape), None
        if room > NEAR:  # else wishes take all of it
            with self._lock:
                self._gains.value, self._costs.value = gains, times[:, None] * steps
                self._room.value = room
                self._problem.solve(solver="CLARABEL")
                part, dual = np.array(self._part.value), float(self._budget.dual_value)
            part = np.where(part < NEAR, 0.0, np.where(part > 1.0 - NEAR, 1.0, part))
        taken = np.sum(part * steps, axis=1)
        shares = low + taken * min(1.0, max(room, 0.0) / max(float(times @ taken), 1e-300))
        counted = np.array(
            [np.interp(x, *corner) for x, corner in zip(shares, corners, strict=True)]
        )
        simulated = np.array(
            [
                np.interp(x * total * rows**2, curve.rho, curve.median)
                for x, curve in zip(shares, self.curves, strict=True)
            ]
        )
        if dual is None:
            dual = max(_slope_above(x, *corner) for x, corner in zip(shares, corners, strict=True))
        return Division(shares, counted, simulated, dual)


def _slope_above(share: float, corners: Array, values: Array) -> float:
    """Gain a share of the budget, of the piece above a point."""
    steps = np.append(np.diff(values) / np.diff(corners), 0.0)
    above = int(np.searchsorted(corners, share * (1.0 + NEAR), side="right")) - 1
    return float(steps[above])
