"""The cells of a set of centres: which centre is nearest, drawn as the borders between them.

A border is the part of a bisector where no third centre is nearer: one interval of a line, cut by
one inequality for each other centre and one for each side of a window (Voronoi 1908).
"""

from __future__ import annotations

import numpy as np

from dpcore.arrays import Array

FLAT = 1e-12  # slopes below it are level: the inequality holds along the whole line, or nowhere


def borders(centres: Array, window: tuple[float, float, float, float]) -> Array:
    """Borders of the cells of ``centres`` ``(S, K, 2)`` inside a window (left, right, bottom, top).

    Gives ``(S, m, 2)``: ends of segments with a row of NaN after each; steps with fewer borders
    than others end in NaN. Centres that coincide, or are no numbers, have no border between them.

    >>> borders(np.array([[[-1.0, 0.0], [1.0, 0.0]]]), (-2.0, 2.0, -1.0, 1.0)).tolist()
    [[[0.0, -1.0], [0.0, 1.0], [nan, nan]]]
    """
    steps, count = centres.shape[:2]
    left, right = np.triu_indices(count, 1)
    if not len(left):
        return np.full((steps, 0, 2), np.nan)
    a, b = centres[:, left], centres[:, right]  # (S, P, 2)
    middle, along = (a + b) / 2.0, (b - a) @ np.array([[0.0, 1.0], [-1.0, 0.0]])
    offset, slope = _conditions(centres, a, middle, along, window)
    third = np.arange(count)
    own = (third == left[:, None]) | (third == right[:, None])
    offset[..., :count][:, own], slope[..., :count][:, own] = 1.0, 0.0  # no third centre
    low, high = _interval(offset, slope)
    drawn = np.isfinite(low) & np.isfinite(high) & (low < high)
    ends = np.full((steps, len(left), 3, 2), np.nan)
    for place, t in enumerate((low, high)):
        ends[:, :, place] = np.where(
            drawn[..., None], middle + np.where(drawn, t, 0.0)[..., None] * along, np.nan
        )
    first = np.argsort(~drawn, axis=1, kind="stable")[:, : max(1, int(drawn.sum(1).max()))]
    segments = np.take_along_axis(ends, first[:, :, None, None], axis=1)
    return segments.reshape(steps, -1, 2)


def _conditions(
    centres: Array,
    near: Array,
    middle: Array,
    along: Array,
    window: tuple[float, float, float, float],
) -> tuple[Array, Array]:
    """Inequalities ``offset + slope t >= 0`` on each line, ``(S, P, K + 4)``: no centre is nearer
    than the two of the line, and the point lies in the window."""
    gap = near[:, :, None] - centres[:, None]  # |x - c|^2 >= |x - near|^2 is linear in x
    size = np.sum(centres**2, axis=-1)[:, None] - np.sum(near**2, axis=-1)[..., None]
    offset = size + 2.0 * np.einsum("spkd,spd->spk", gap, middle)
    slope = 2.0 * np.einsum("spkd,spd->spk", gap, along)
    left, right, bottom, top = window
    x, y = middle[..., 0], middle[..., 1]
    sides = np.stack([x - left, right - x, y - bottom, top - y], axis=-1)
    turns = np.stack([along[..., 0], -along[..., 0], along[..., 1], -along[..., 1]], axis=-1)
    return np.concatenate([offset, sides], axis=-1), np.concatenate([slope, turns], axis=-1)


def _interval(offset: Array, slope: Array) -> tuple[Array, Array]:
    """Where on each line all its inequalities hold; empty (or NaN) where they never do."""
    level = np.abs(slope) < FLAT
    at = -offset / np.where(level, 1.0, slope)
    low = np.max(np.where(~level & (slope > 0), at, -np.inf), axis=-1)
    high = np.min(np.where(~level & (slope < 0), at, np.inf), axis=-1)
    never = np.any(level & ~(offset >= -FLAT), axis=-1) | np.any(np.isnan(offset + slope), axis=-1)
    return np.where(never, np.nan, low), np.where(never, np.nan, high)
