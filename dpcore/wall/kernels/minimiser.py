r"""Where a logistic loss with a ridge is least: a point at which the true gradient is short.

The gradient is computed with a bound of all that rounding did to it, and a point is taken where
length and bound together are short enough. Where floating point cannot get there, decimal numbers
of more and more digits do: what is promised holds for any rows, and none of them are refused.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from scipy.special import expit

from dpcore.arrays import Array
from dpcore.wall.grid import ROUNDING_UNIT
from dpcore.wall.kernels.row_blocks import GRID_BITS
from dpcore.wall.kernels.threads import one_thread

WHOLE_BITS = 52 - GRID_BITS  # of numbers whose products with coordinates are summed exactly
BLOCK = 1 << 10  # rows of one exact sum
CHANCE_STEP = BLOCK * 2.0**-WHOLE_BITS  # 2^-12
LEAST_EXPONENT = -500  # of a coarse part: its products with rows do not vanish
OVERFLOWING = 1e300  # beyond it sums may
SLACK = 0.99  # of an accuracy: the rest is for rounding in length and bound themselves
STEPS = 1000  # of Newton's method, in floating point and at first in decimal numbers
DIGITS = 50  # of the first decimal numbers


def minimiser(
    rows: Array, noise: Array, ridge: float, accuracy: float, radius: float
) -> list[Fraction]:
    r"""Where the gradient of ``sum log(1 + exp(f.x)) + (ridge/2) |f|^2 + noise.f`` is short.

    rows ``(n, p)``: each x within the radius R, turned so that the loss grows with ``f.x``, its
    coordinates multiples of ``2^-GRID_BITS`` of R rounded up to a power of 2. noise ``(p,)``.
    Returns ``p`` fractions: the point f, not rounded.

    **Guarantee.** The gradient g of these real numbers is at most ``accuracy`` long at f, and f is
    always found. *Proof.* No point is returned but by the bound of :class:`_Floats` or
    :class:`_Decimals`. *A search ends:* along a Newton step d, ``d.g(f - s d)`` falls with s from
    ``d.g = d.Hd > 0`` to below 0, so bisection meets an s where it is between 0 and ``d.g/2``.
    *Steps end:* with ``L = ridge + n R^2/4``, an s of this kind lowers the objective by at least
    ``3/8 (d.g)^2 / (L |d|^2) >= 3/8 |g|^2 ridge^2 / L^3``, and the objective is bounded below; an s
    of the other kind halves the shortest g so far. So K exact steps are enough from where floating
    point has come to, with shares above an s0 > 0. On the compact set of points within reach, what
    is computed with D digits tends to the exact as D grows: from some D on, the tests above leave
    room for the difference, and the bound is below half the accuracy. Digits, steps and halvings
    are doubled until then. QED.
    """
    goal = SLACK * accuracy
    with np.errstate(over="ignore", invalid="ignore"):
        start = np.zeros((2, rows.shape[1]))
        point, reached = _descend(_Floats(rows, noise, ridge, radius), start, goal, STEPS)
        if reached:
            return [Fraction(coarse) + Fraction(fine) for coarse, fine in point.T]
        return _in_decimals(rows, noise, ridge, radius, point, goal)


def _in_decimals(
    rows: Array, noise: Array, ridge: float, radius: float, start: Array, goal: float
) -> list[Fraction]:
    """The same from where floating point has come to, with more and more digits."""
    times, reached = 1, False
    while not reached:
        digits = DIGITS * times
        # Nothing is trapped: what is undefined compares as false, and more digits are taken.
        with localcontext(Context(prec=digits, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[])):
            loss = _Decimals(rows, noise, ridge, radius, digits)
            first = _decimals(start).sum(axis=0)
            point, reached = _descend(loss, first, goal, STEPS * times)
        times *= 2
    return [Fraction(number) for number in point]


@dataclass(frozen=True, repr=False)
class _Look:
    """The gradient ``(p,)`` at a point, its length, a bound of the rounding in it, and the second
    derivatives ``(n,)`` of the rows' losses."""

    gradient: Any
    length: Any
    error: Any
    bends: Any


class _Loss(Protocol):
    """The objective in numbers of one kind."""

    @property
    def searches(self) -> int:
        """How often a share may be halved or doubled."""

    @property
    def whole(self) -> Any:
        """The share 1."""

    def look(self, point: Any) -> _Look:
        """Gradient and bound at a point."""

    def step(self, look: _Look) -> Any:
        """Newton's step ``(p,)``; numbers that are undefined where rounding lets none be found."""

    def moved(self, point: Any, step: Any) -> Any:
        """The point less a step."""


def _descend(loss: _Loss, point: Any, goal: float, steps: int) -> tuple[Any, bool]:
    """Where Newton's method comes to, and whether length and bound are within the goal there."""
    here = loss.look(point)
    record = here.length
    for _ in range(steps):
        if here.length + here.error <= goal:
            return point, True
        further = _searched(loss, point, here, record) if here.length > here.error else None
        if further is None:
            break
        point, here = further
        record = min(record, here.length)
    return point, False


def _searched(loss: _Loss, point: Any, here: _Look, record: Any) -> tuple[Any, _Look] | None:
    """The next point along Newton's step: one that halves the record, or one that is well on the
    way down and not past the bottom. ``None`` where rounding hides it."""
    step = loss.step(here)
    steepest = here.gradient @ step
    low, high, share = 0, math.inf, loss.whole
    for _ in range(loss.searches):
        trial = loss.moved(point, share * step)
        there = loss.look(trial)
        slope = there.gradient @ step
        if there.length <= record / 2 or 0 <= slope <= steepest / 2:
            return trial, there
        if slope < 0:
            high = share
        elif slope > 0:
            low = share
        else:
            return None
        share = 2 * share if high == math.inf else (low + high) / 2
    return None


@dataclass(frozen=True, repr=False)
class _Floats:
    r"""The objective in floating point; a point ``(2, p)`` is the sum of a coarse and a fine part.

    *Bound.* ``u = 2^-53``. (1) The product of a row and the coarse part is exact: its terms and
    their sums are whole numbers of steps below 2^53. That with the fine part is off by ``(p + 1) u
    R |fine|``, which moves the logistic function by at most a quarter of it. (2) Adding the two
    products is off by u of their sum z, and ``|z|`` times the function's derivative is below 0.23.
    (3) The function itself is right to 6u of its value, the factor of the row: two units in the
    last place of the exponential are taken as given. (4) Factors are split at 2^-12 without error:
    the high parts of 1024 rows are summed exactly, the others are off by ``1024 u 2^-13``. Sums of
    blocks are added by ``fsum``, which rounds once. (5) Products with the ridge are off by u of
    themselves. With Q the sum of the factors, all this is at most
    ``u (R (8 Q + n/4 (2 + (p + 1) R |fine|)) + ridge (|coarse| + |fine|))``, and u of the gradient.
    """

    rows: Array
    noise: Array
    ridge: float
    radius: float

    searches = 60
    whole = 1.0

    @one_thread()
    def look(self, point: Array) -> _Look:
        """Gradient and bound at a point."""
        chances = expit(np.add(*(point @ self.rows.T)))
        bends = chances * (1.0 - chances)
        high = np.rint(chances / CHANCE_STEP) * CHANCE_STEP
        gradient = self._summed(np.stack([high, chances - high]), self.ridge * point)
        coarse, fine = np.sqrt(np.einsum("kp,kp->k", point, point))
        per_row = 2.0 + (len(gradient) + 1) * self.radius * fine
        of_rows = self.radius * (8.0 * chances.sum() + len(self.rows) / 4.0 * per_row)
        error = ROUNDING_UNIT * (of_rows + self.ridge * (coarse + fine))
        return _Look(gradient, math.sqrt(gradient @ gradient), float(error), bends)

    def _summed(self, factors: Array, others: Array) -> Array:
        """``sum factor x`` over rows, plus others ``(k, p)`` and the noise."""
        starts = range(0, len(self.rows), BLOCK)
        parts = [factors[:, at : at + BLOCK] @ self.rows[at : at + BLOCK] for at in starts]
        terms = np.concatenate([*parts, others, self.noise[None]])
        if not np.abs(terms).max() < OVERFLOWING:
            return np.full(len(self.noise), np.nan)
        return np.array([math.fsum(column) for column in terms.T])

    def step(self, look: _Look) -> Array:
        """Newton's step ``(p,)``."""
        curved = (self.rows * look.bends[:, None]).T @ self.rows
        curved[np.diag_indices_from(curved)] += self.ridge
        try:
            return np.linalg.solve(curved, look.gradient)
        except np.linalg.LinAlgError:  # the ridge is lost in rounding
            return np.full(len(curved), np.nan)

    def moved(self, point: Array, step: Array) -> Array:
        """The point less a step, split anew; rounding makes it another point, and no harm."""
        fine = point[1] - step
        whole = point[0] + fine
        bits = WHOLE_BITS - len(step).bit_length()
        exponent = max(int(np.frexp(np.abs(whole).max())[1]), LEAST_EXPONENT)
        coarse = np.ldexp(np.rint(np.ldexp(whole, bits - exponent)), exponent - bits)
        return np.stack([coarse, (point[0] - coarse) + fine])


@dataclass(frozen=True, repr=False)
class _Decimals:
    r"""The objective in decimal numbers with some digits; a point is ``(p,)`` of them.

    *Bound.* Every operation, the exponential among them, is off by less than ``v = 10^(1 -
    digits)`` of its result. So ``f.x`` is off by ``(p + 1) v R |f|``, a factor by a quarter of this
    and 3v, and a sum of n + 2 terms by ``(n + 2) v`` of their sizes: together less than
    ``(n + p + 8) v (n R (1 + R |f|) + ridge |f| + |noise|)``.
    """

    rows: Array
    noise: Array
    ridge: float
    radius: float
    digits: int

    whole = Decimal(1)

    @property
    def searches(self) -> int:
        """How often a share may be halved or doubled."""
        return 4 * self.digits

    def look(self, point: Any) -> _Look:
        """Gradient and bound at a point."""
        ridge, size, noise = Decimal(self.ridge), Decimal(self.radius), _decimals(self.noise)
        gradient, bends = ridge * point + noise, []
        for at in range(0, len(self.rows), BLOCK):
            rows = _decimals(self.rows[at : at + BLOCK])
            chances = 1 / (1 + np.exp(-(rows @ point)))
            gradient = gradient + chances @ rows
            bends.append(chances * (1 - chances))
        count, far = len(self.rows), (point @ point).sqrt()
        sizes = count * size * (1 + size * far) + ridge * far + (noise @ noise).sqrt()
        error = (count + len(point) + 8) * Decimal(10) ** (1 - self.digits) * sizes
        return _Look(gradient, (gradient @ gradient).sqrt(), error, bends)

    def step(self, look: _Look) -> Any:
        """Newton's step ``(p,)``, by elimination: no pivot is below the ridge but for rounding."""
        curved, right = _decimals(self.ridge * np.eye(len(look.gradient))), look.gradient.copy()
        for at, bends in zip(range(0, len(self.rows), BLOCK), look.bends, strict=True):
            rows = _decimals(self.rows[at : at + BLOCK])
            curved = curved + (rows * bends[:, None]).T @ rows
        for i in range(len(right)):
            shares = curved[i + 1 :, i] / curved[i, i]
            curved[i + 1 :] -= shares[:, None] * curved[i]
            right[i + 1 :] -= shares * right[i]
        for i in reversed(range(len(right))):
            right[i] = (right[i] - (curved[i, i + 1 :] * right[i + 1 :]).sum()) / curved[i, i]
        return right

    def moved(self, point: Any, step: Any) -> Any:
        """The point less a step."""
        return point - step


def _decimals(numbers: Array) -> Any:
    """The same numbers, to the last bit, as decimal ones."""
    return np.frompyfunc(Decimal, 1, 1)(numbers)
