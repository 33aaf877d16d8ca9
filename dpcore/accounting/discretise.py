"""A pair's privacy loss on a lattice, from above and from below.

From above (Doroshenko, Ghazi, Kamath, Kumar, Manurangsi 2022, "connect the dots"): the mass between
two lattice points is split between them so that its probability under P and under Q both stay. The
curve delta(epsilon) is then the true one at every lattice point and linear in e^epsilon between, so
never below it.

From below: the lattice point stands for the stretch of losses around it; all outputs of the stretch
are merged into one. Merging is post-processing, so nothing is gained by an attacker. The ends of
the stretches are chosen so that the merged loss is the lattice point itself; where it misses, it is
rounded down. Both errors are of second order in the step, however many releases follow.

Integrals are by 3-point Gauss quadrature on stretches much shorter than anything changes in, with
positive terms only: every mass has nearly full relative precision.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpcore.accounting.dominating import Pair, Piece
from dpcore.accounting.lattice import Lattice, check_length
from dpcore.arrays import Array

Integers = NDArray[np.int64]
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(3)
_FINE = 0.01  # longest stretch, in widths of the piece
_LONGEST = 2**21
_EXACT = 1e-9  # of a step: a loss this near to a lattice point is on it


@dataclass(frozen=True, eq=False)
class Below:
    """A lattice from below whose losses may be too large by ``raised`` each."""

    lattice: Lattice
    raised: float


def from_above(pair: Pair, step: float, offset: float) -> Lattice:
    """A lattice law that is at least as revealing as the pair.

    step: distance of lattice points. offset: the loss of one of them; 0 for a filled pair.
    """
    places: list[Integers] = []
    masses: list[Array] = []
    for piece in pair.pieces:
        x, weight, place = _nodes(piece, _lattice_points(piece, step, offset), step, offset)
        mass = weight * np.exp(piece.log_p(x))
        _split(
            places,
            masses,
            mass,
            piece.loss(x),
            np.broadcast_to(place[:, None], x.shape),
            step,
            offset,
        )
    bounded = np.isfinite(pair.loss)
    if np.any(bounded):
        loss = pair.loss[bounded]
        place = np.floor((loss - offset) / step + _EXACT).astype(np.int64)
        _split(places, masses, pair.p[bounded], loss, place, step, offset)
    infinite = float(np.sum(pair.p[np.isposinf(pair.loss)])) + 2.0 * pair.tail
    if pair.filled:
        places.append(np.array([round(-offset / step)]))
        masses.append(np.array([max(0.0, 1.0 - infinite - sum(float(np.sum(m)) for m in masses))]))
    return _lattice(places, masses, step, offset, infinite)


def _split(
    places: list[Integers],
    masses: list[Array],
    mass: Array,
    loss: Array,
    place: Integers,
    step: float,
    offset: float,
) -> None:
    """Masses at the lattice points below and above each loss, with the same totals of P and Q."""
    ahead = np.clip(loss - (offset + step * place), 0.0, step)
    up = mass * (np.expm1(-ahead) / math.expm1(-step))
    down = mass * np.exp(-ahead) * (np.expm1(ahead - step) / math.expm1(-step))
    places += [place.ravel(), place.ravel() + 1]
    masses += [down.ravel(), up.ravel()]


def from_below(pair: Pair, step: float, offset: float) -> Below:
    """A lattice law that is at most as revealing as the pair once ``raised`` is taken off.

    Probability that is left out (tails, losses of exactly 0) is not counted, which reveals less.
    """
    places: list[Integers] = []
    masses: list[Array] = []
    raised = _EXACT * step
    for piece in pair.pieces:
        place, mass, missed = _merged(piece, step, offset)
        raised = max(raised, missed)
        places.append(place)
        masses.append(mass)
    bounded = np.isfinite(pair.loss)
    if np.any(bounded):
        places.append(np.floor((pair.loss[bounded] - offset) / step + _EXACT).astype(np.int64))
        masses.append(pair.p[bounded])
    infinite = float(np.sum(pair.p[np.isposinf(pair.loss)]))
    return Below(_lattice(places, masses, step, offset, infinite), raised)


def spike(pair: Pair, step: float) -> float:
    """The offset that puts the heaviest stretch of losses on the lattice.

    Sampling leaves most of the probability at nearly one loss; a lattice that misses it is coarse.
    """
    if pair.filled or not pair.pieces:
        return 0.0
    piece = pair.pieces[0]
    _, p, loss = _stretches(piece, _edges(piece, step, 0.0), step, 0.0)
    return math.remainder(float(loss[np.argmax(p)]), step)


def _merged(piece: Piece, step: float, offset: float) -> tuple[Integers, Array, float]:
    """Stretches merged: (lattice points, masses, how far a merged loss may lie below its point)."""
    edges = _edges(piece, step, offset)
    place, _, loss = _stretches(piece, edges, step, offset)
    moved = np.clip(_smoothed(loss - (offset + step * place)), -0.4 * step, 0.4 * step)
    edges = _Edges(edges.first, edges.losses - moved)
    place, p, loss = _stretches(piece, edges, step, offset)
    short = np.asarray(offset + step * place - loss, dtype=float)
    raised = _tolerance(short, p, step)
    lower = np.maximum(0, np.ceil((short - raised) / step)).astype(np.int64)
    return place - lower, p, raised


def _smoothed(miss: Array) -> Array:
    """Correction of every inner edge: the mean of what the stretches on its two sides miss."""
    padded = np.concatenate([miss[:1], miss, miss[-1:]])
    return np.asarray(0.5 * (padded[:-1] + padded[1:]))


def _tolerance(short: Array, mass: Array, step: float) -> float:
    """How much all losses may be raised: the least sum of that and of what is rounded down then."""
    order = np.argsort(short)
    rest = np.append(np.cumsum(mass[order][:0:-1])[::-1], 0.0)  # mass that misses by more
    raised = np.maximum(short[order], _EXACT * step)
    return float(raised[np.argmin(raised + step * rest)])


@dataclass(frozen=True, eq=False)
class _Edges:
    """Losses that separate the stretches; ``losses[0]`` begins that of lattice point ``first``."""

    first: int
    losses: Array


def _edges(piece: Piece, step: float, offset: float) -> _Edges:
    """Half way between lattice points, over all losses of the piece."""
    low, high = _ends(piece)
    first = math.floor((low - offset) / step + 0.5)
    last = math.ceil((high - offset) / step + 0.5)
    check_length(last - first, _LONGEST)
    return _Edges(first, np.asarray(offset + step * (np.arange(first, last + 1) - 0.5)))


def _stretches(
    piece: Piece, edges: _Edges, step: float, offset: float
) -> tuple[Integers, Array, Array]:
    """(lattice point, probability under P, loss when merged) of every stretch between edges.

    The merged loss is log P/Q with Q the integral of p e^(-loss), taken relative to the point.
    """
    breaks = _breaks(piece, edges.losses)
    x, weight = _gauss(breaks)
    middle = 0.5 * (breaks[:-1] + breaks[1:])
    stretch = np.searchsorted(edges.losses, piece.loss(middle)) - 1
    stretch = np.clip(stretch, 0, len(edges.losses) - 2)
    count = len(edges.losses) - 1
    place = edges.first + np.arange(count, dtype=np.int64)
    point = np.asarray(offset + step * place, dtype=float)
    mass = weight * np.exp(piece.log_p(x))
    p = np.asarray(np.bincount(stretch, np.sum(mass, axis=1), count), dtype=float)
    if step > 1.0:
        log_q = np.asarray(np.log(weight) + piece.log_q(x), dtype=float)
        return place, p, _far_apart(log_q, stretch, p, point)
    ahead = piece.loss(x) - point[stretch][:, None]
    less = np.bincount(stretch, np.sum(mass * np.expm1(-ahead), axis=1), count)
    return place, p, np.asarray(point - np.log1p(less / np.where(p > 0.0, p, 1.0)))


def _far_apart(log_q: Array, stretch: Integers, p: Array, point: Array) -> Array:
    """log P/Q of every stretch where Q may be too small to be written down."""
    highest = np.full(len(p), -np.inf)
    np.maximum.at(highest, stretch, np.max(log_q, axis=1))
    highest = np.where(np.isfinite(highest), highest, 0.0)
    q = np.bincount(stretch, np.sum(np.exp(log_q - highest[stretch][:, None]), axis=1), len(p))
    held = (p > 0.0) & (q > 0.0)
    loss = np.log(np.where(held, p, 1.0)) - np.log(np.where(held, q, 1.0)) - highest
    return np.asarray(np.where(held, loss, point))


def _lattice_points(piece: Piece, step: float, offset: float) -> Array:
    """All lattice points between the piece's losses."""
    low, high = _ends(piece)
    first, last = math.ceil((low - offset) / step), math.floor((high - offset) / step)
    check_length(last - first, _LONGEST)
    return np.asarray(offset + step * np.arange(first, last + 1))


def _nodes(
    piece: Piece, points: Array, step: float, offset: float
) -> tuple[Array, Array, Integers]:
    """Nodes and weights (cells, 3), and the lattice point at or below each cell."""
    breaks = _breaks(piece, points)
    x, weight = _gauss(breaks)
    middle = piece.loss(0.5 * (breaks[:-1] + breaks[1:]))
    return x, weight, np.floor((middle - offset) / step).astype(np.int64)


def _breaks(piece: Piece, losses: Array) -> Array:
    """Positions of the losses, and enough others that every stretch is short."""
    at = piece.position(losses)
    at = at[(at > piece.low) & (at < piece.high)]
    count = math.ceil((piece.high - piece.low) / (_FINE * piece.width))
    even = np.linspace(piece.low, piece.high, min(count, 200_000) + 1)
    return np.union1d(even, at)


def _gauss(breaks: Array) -> tuple[Array, Array]:
    half = 0.5 * np.diff(breaks)[:, None]
    middle = 0.5 * (breaks[:-1] + breaks[1:])[:, None]
    return middle + half * _NODES, half * _WEIGHTS


def _ends(piece: Piece) -> tuple[float, float]:
    ends = piece.loss(np.array([piece.low, piece.high]))
    return float(ends[0]), float(ends[1])


def _lattice(
    places: list[Integers], masses: list[Array], step: float, offset: float, infinite: float
) -> Lattice:
    """Masses added up by lattice point."""
    if not places:
        return Lattice(step, offset, 0, np.ones(1) - infinite, infinite)
    place, mass = np.concatenate(places), np.concatenate(masses)
    first = int(np.min(place))
    total = np.asarray(np.bincount(place - first, mass), dtype=float)
    return Lattice(step, offset, first, total, infinite)
