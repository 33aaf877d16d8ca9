"""Where limits can be narrowed: from noisy counts of numbers in equal bins between them.

Whatever is worked out here comes from released counts, and is total.
"""

from __future__ import annotations

import math

import numpy as np

from dpcore.arrays import Array, Indices
from dpcore.models.shared.moments import TINY, finite

BINS = 16  # between the limits of a column; one more on either side
SURE = 3.5  # deviations of its noise that a count exceeds where there are numbers
TAIL = 0.002  # of a column's numbers: bins with fewer may be left out
SLACK = 1.0  # deviations of noise beyond twice that, which what is left out may seem to hold
HIDDEN = ((3, 0.15), (6, 0.08), (10, 0.03), (16, 0.005))  # bins left; what noise may hide in one
OUTSIDE, DOUBT = 0.02, 1.5  # of a column's numbers on one side, and noise: limits go back
CONFIDENT = 2.5  # deviations of noise in what lies outside: 95% of what is stated holds
WIDENED = 30.0  # widths by which limits are widened, for a noise of as many numbers as there are


def edges(lower: Array, upper: Array) -> Array:
    """Edges ``(B, d, 17)`` of equal bins between limits ``(B, d)``."""
    return np.asarray(np.linspace(lower, upper, BINS + 1, axis=-1))


def noise_share(counts: Array, sd: Array) -> Array:
    """The noise ``(B,)`` of a count as a share of its column's numbers ``(B, d)``."""
    many = np.maximum(finite(counts).sum(axis=2), math.sqrt(BINS + 2.0) * sd[:, None])
    return np.asarray(sd[:, None] / np.maximum(many, TINY))


def narrowed(lower: Array, upper: Array, counts: Array, sd: Array) -> tuple[Array, Array]:
    """Limits ``(B, d)`` around the bins that surely hold numbers, and one more on either side.

    counts ``(B, d, 18)``: of numbers below the lower limit, in the bins of :func:`edges`, and above
    the upper limit, with noise ``sd (B,)``. What is left out seems to hold no more than twice
    :data:`TAIL` of the numbers and the noise. Limits stay where noise may hide too large a share of
    the numbers in a bin (:data:`HIDDEN`), the less the more bins would be left: the wider the rows
    spread, the more it would cut off, and the less is gained. A group in a bin far from the rest
    that has no more numbers than noise may hide can be cut off whole.
    """
    counts = finite(counts)
    inside = counts[..., 1:-1].copy()
    inside[..., 0] += counts[..., 0]
    inside[..., -1] += counts[..., -1]
    share = noise_share(counts, sd)
    whole = np.maximum(counts.sum(axis=2), TINY)
    held = inside / whole[..., None]
    sure = held > np.maximum(SURE * share, TAIL)[..., None]
    left = _left_out(held, np.argmax(sure, axis=2) - 1, share)
    right = _left_out(held[..., ::-1], np.argmax(sure[..., ::-1], axis=2) - 1, share)
    hidden, remaining = SURE * share, BINS - left - right
    clear = [(remaining <= bins) & (hidden <= most) for bins, most in HIDDEN]
    moves = np.any(sure, axis=2) & np.any(clear, axis=0)
    width = (upper - lower) / BINS
    left, right = (np.where(moves, bins, 0) for bins in (left, right))
    return lower + left * width, upper - right * width


def _left_out(held: Array, most: Indices, share: Array) -> Indices:
    """How many of the first bins ``(B, d)`` of shares ``(B, d, 16)`` can be left out, at most so
    many; share ``(B, d)``: noise in each."""
    bins = np.arange(held.shape[2] + 1)
    out = np.concatenate([np.zeros((*held.shape[:2], 1)), np.cumsum(held, axis=2)], axis=2)
    allowed = out <= 2.0 * TAIL + SLACK * share[..., None] * np.sqrt(bins)
    return np.asarray(np.where(allowed & (bins <= most[..., None]), bins, 0).max(axis=2))


def shares_outside(counts: Array) -> Array:
    """Shares ``(B, d, 2)`` of a column's numbers below and above the limits of its histogram."""
    counts = finite(counts)
    return np.asarray(counts[..., [0, -1]] / np.maximum(counts.sum(axis=2), TINY)[..., None])


def put_back(lower: Array, upper: Array, outside: Array, share: Array) -> tuple[Array, Array]:
    """Limits ``(B, d)``, but the public ones on a side where many numbers were cut off.

    outside ``(T, B, d, 2)``: what later histograms show outside, at least as much as earlier ones
    have cut off; share ``(B, d)``: noise in each. A group far from the rest that noise hid in one
    bin of one histogram stands outside in all that follow.
    """
    most = OUTSIDE + DOUBT * share / math.sqrt(len(outside))
    below, above = np.moveaxis(outside.mean(axis=0), -1, 0)
    return np.where(below > most, -1.0, lower), np.where(above > most, 1.0, upper)


def widened(lower: Array, upper: Array, share: Array) -> tuple[Array, Array]:
    """Limits ``(B, d)`` moved outwards by as much as noise of such a share ``(B, d)`` may have cut
    off, up to half of their width on either side; none beyond -1 and 1, and none that is there."""
    more = np.minimum(WIDENED * share, 1.0) * (upper - lower) / 2.0
    return np.maximum(lower - more, -1.0), np.minimum(upper + more, 1.0)


def outside_at_most(lower: Array, upper: Array, ends: Array, counts: Array, sd: Array) -> Array:
    """Share ``(B, d)`` of a column's numbers that lies outside limits ``(B, d)`` at most.

    ends ``(B, d, 17)``, counts ``(B, d, 18)``, sd ``(B,)``: of the last histogram. What it shows in
    bins that reach outside, and :data:`CONFIDENT` deviations of the noise in them; nothing lies
    outside a public limit. Bins are left out because they seem empty, so noise has more often made
    them seem emptier than fuller; the deviations allow for that.
    """
    counts, public = finite(counts), np.ones((*lower.shape, 1))
    edges = np.concatenate([-public, ends, public], axis=-1)
    cut = (edges[..., :-1] < lower[..., None]) | (edges[..., 1:] > upper[..., None])
    many = cut.sum(axis=2)
    outside = np.maximum((counts * cut).sum(axis=2), 0.0)
    outside += CONFIDENT * sd[:, None] * np.sqrt(many)
    whole = np.maximum(counts.sum(axis=2), math.sqrt(BINS + 2.0) * sd[:, None])
    return np.asarray(np.minimum(outside / np.maximum(whole, TINY), 1.0))


def rounded(lower: Array, upper: Array, center: Array, half_range: Array) -> tuple[Array, Array]:
    """Limits ``(B, d)`` moved outwards to two digits of their width in own units, as unit
    coordinates; center, half_range ``(d,)``: of the public limits."""
    width = np.maximum((upper - lower) * half_range, TINY)
    step = 10.0 ** (np.floor(np.log10(width)) - 1.0)
    ends = (
        np.floor((center + half_range * lower) / step),
        np.ceil((center + half_range * upper) / step),
    )
    below, above = ((end * step - center) / half_range for end in ends)
    below = np.where(np.isfinite(below), np.minimum(below, lower), lower)
    above = np.where(np.isfinite(above), np.maximum(above, upper), upper)
    return np.maximum(below, -1.0), np.minimum(above, 1.0)
