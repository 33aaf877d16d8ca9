"""Topics as they are handed out: what is believed of their cells is learned from all noisy counts.

A word is rare in most topics and frequent in a few. So a cell (a word in a topic) is believed to
hold a multiple of the word's even share, just so or exponentially spread about it; how many cells
have each multiple is learned from the released counts (empirical Bayes: Robbins 1956; by the EM
algorithm: Laird 1978). Post-processing, every bit of it.

The E step keeps the plain belief of ``mathematics.topics_of``: a sharp one there takes
noise for a topic, and the words of the next step are shared out by it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from dpcore.arrays import Array, Indices, Mask
from dpcore.models.topics.mathematics import (
    HIGHEST,
    VAST,
    Frequencies,
    Memory,
    Topics,
    cut_normal,
    in_parts,
    topics_of,
)

EXACT = (0.3, 0.6, 1.0, 1.7, 3.0)  # multiples of a word's even share that a cell may hold just so
SPREAD = (0.1, 0.6, 4.0, 25.0)  # and means of what it may hold otherwise
ROUNDS = 30  # from even weights; where the counts tell nothing, these stay
DOUBT = 2.0  # deviations of its noise that are taken off what topics differ by
APART = 0.05  # spread of topics of which half is kept, where noise is as large as counts
CLEAR = 0.5  # noise of a cell, as a share of a usual count, below which they have less
FAINT = 0.25  # of the differences: fewer are none, and all topics are the words of all documents
HARDLY = 0.15  # spread of topics that may be no more than what noise makes of equal ones
LEAST = 1e-6  # of the weights is even: no multiple is ruled out
LEARNED = 20_000  # cells by which the weights are found
BLOCK = 1 << 16  # cells of runs that are worked on together
ROOT = np.log(2.0 * np.pi) / 2.0


def sharpened(memory: Memory, prior: float, words: Frequencies | None = None) -> Topics:
    """Topics from averaged noisy counts: each cell's mean given all that was released.

    A word's cells add up to its released frequency and their own sum, each by its precision, of
    which the mean is taken by the same beliefs. Where noise hides the topics they are that list,
    all of them. Without noise as ``mathematics.topics_of``. Total: any real counts give
    concentrations above 0.
    """
    estimate = topics_of(memory, prior, words).concentration
    for at, counts, sd, even in _evenly(memory, words):
        estimate[at] = prior + _cells(counts, sd, even)
    return Topics(np.clip(estimate, 1e-12, HIGHEST))


def hidden(memory: Memory, words: Frequencies | None) -> Mask:
    """Whether topics hardly differ ``(B,)``, even if a deviation of noise hides what they differ
    by."""
    faint = np.zeros(len(memory.counts), dtype=bool)
    if memory.counts.shape[1] > 1:
        for at, counts, sd, even in _evenly(memory, words):
            faint[at] = _spread(counts, sd, even, -1.0)[0] < HARDLY
    return faint


def _evenly(
    memory: Memory, words: Frequencies | None
) -> Iterator[tuple[Indices, Array, Array, Array]]:
    """Noisy runs, some at a time: which, their counts ``(R, K, V)``, the noise in them ``(R,)`` and
    even shares ``(R, 1, V)``. Counts before a run's first step say nothing."""
    counts = np.clip(np.nan_to_num(memory.counts, nan=0.0), -HIGHEST, HIGHEST)
    sd = np.where(np.asarray(memory.start) < 1.0, memory.counts_sd, VAST)
    together = _together(counts, sd, words)
    topics, size = counts.shape[1:]
    noisy = np.flatnonzero(together.counts_sd > 0.0)
    group = max(1, BLOCK // max(1, topics * size))
    for first in range(0, len(noisy), group):
        at = noisy[first : first + group]
        yield at, counts[at], sd[at], _words(together, at) / topics


def _words(together: Frequencies, at: Indices) -> Array:
    """Means ``(R, 1, V)`` of the words of R runs, each a multiple of what all have on average."""
    allowed, counts = together.allowed[at, 0], together.counts[at, 0]
    many, sd = np.maximum(allowed.sum(axis=1, keepdims=True), 1.0), together.counts_sd[at, None]
    whole = np.maximum((counts * allowed).sum(axis=1, keepdims=True), sd * np.sqrt(many))
    means = _learned(counts, sd, whole / many * allowed, HIGHEST) * allowed
    return np.asarray(means * whole / np.maximum(means.sum(axis=1, keepdims=True), 1e-9))[:, None]


def _together(counts: Array, sd: Array, words: Frequencies | None) -> Frequencies:
    """Words of all topics: the sums of their cells and the released ones, by their precision."""
    topics = counts.shape[1]
    own, own_sd = counts.sum(axis=1, keepdims=True), sd * np.sqrt(topics)
    if words is None:
        return Frequencies(own, own_sd, np.ones_like(own))
    released = np.clip(np.nan_to_num(words.counts, nan=0.0), -HIGHEST, HIGHEST) * words.allowed
    own = own * words.allowed
    every, of = (np.maximum(table.sum(axis=2)[:, 0], 1e-9) for table in (own, released))
    unsure = own_sd * np.sqrt(words.allowed.sum(axis=(1, 2)))
    every = np.where(unsure < VAST, np.maximum(every, unsure), of)
    times = every / of
    released_sd = words.counts_sd * times
    both = np.maximum(np.hypot(own_sd, released_sd), 1e-300)
    part = ((released_sd / both) ** 2)[:, None, None]
    mixed = part * own + (1.0 - part) * times[:, None, None] * released
    return Frequencies(mixed, own_sd * (released_sd / both), words.allowed)


def _cells(counts: Array, sd: Array, even: Array) -> Array:
    """Means ``(R, K, V)`` of cells; those of a word add up to K even shares of it."""
    runs, topics, size = counts.shape
    if topics == 1:
        return even
    flat = runs, topics * size
    prior = np.broadcast_to(even, counts.shape).reshape(flat)
    cells = _learned(counts.reshape(flat), sd[:, None], prior, topics).reshape(counts.shape)
    whole = np.maximum(cells.sum(axis=1, keepdims=True), 1e-9)
    part = trusted(counts, sd, even)[:, None, None]
    part = np.where(part < FAINT, 0.0, part)
    return np.asarray((part * (topics * cells / whole) + (1.0 - part)) * even)


def trusted(counts: Array, sd: Array, even: Array) -> Array:
    """How much of what topics differ by is kept ``(R,)``: 0 where noise can have made all of it, 1
    without noise. counts ``(R, K, V)``, noise ``sd (R,)``, even shares ``(R, 1, V)``.

    Documents of equal topics are shared out by noise, and then by what noise had made of the
    topics: so even equal topics spread, by about :data:`APART`, less where noise is weak.
    """
    spread, noise = _spread(counts, sd, even, DOUBT)
    times = np.minimum(spread / APART * (1.0 + (CLEAR / noise) ** 2), HIGHEST) ** 4
    return np.asarray(times / (1.0 + times))


def _spread(counts: Array, sd: Array, even: Array, doubt: float) -> tuple[Array, Array]:
    """What topics differ by ``(R,)``, less so many deviations of its noise; and the noise of a cell
    as a share of a usual count ``(R,)``. Arguments as of :func:`trusted`.

    Topics that are one list in different amounts leave counts of rank one. What is beside that,
    less its noise, is a share of the squares of the counts: the spread, in units of sqrt(K - 1).
    """
    topics, inside = counts.shape[1], even > 0.0
    size = np.maximum(inside.sum(axis=(1, 2)), 1)
    counts = np.where(inside, counts, 0.0)
    square = np.maximum((even**2).sum(axis=(1, 2)), 1e-18)
    amounts = (counts * even).sum(axis=2) / square[:, None]
    line, noise = (amounts**2).sum(axis=1) * square, sd**2
    cells = topics * (size - 1)
    beside = (counts**2).sum(axis=(1, 2)) - line - noise * (cells + doubt * np.sqrt(2.0 * cells))
    whole = np.maximum(line - noise * topics, topics * square)
    spread = np.maximum(beside / whole, 0.0) / np.sqrt(topics - 1)
    return spread, np.maximum(sd / np.sqrt(square / size), 1.0 / HIGHEST)


def _learned(counts: Array, sd: Array, even: Array, topics: float) -> Array:
    """Means ``(R, C)`` of the cells of R runs, noise ``sd (R, 1)``, at their own weights."""
    every = max(1, counts.shape[1] // LEARNED)
    some = slice(None, None, every)
    sample = _believed(counts[:, some], sd, even[:, some], topics)
    weights = _weights(sample[0], even[:, some] > 0.0)
    if every == 1:
        return _mixed(*sample, weights)

    def mixed(some: slice) -> Array:
        sample = _believed(counts[:, some], sd, even[:, some], topics)
        return _mixed(*sample, weights)

    return in_parts(mixed, counts.shape)


def _mixed(likely: Array, means: Array, weights: Array) -> Array:
    """Means ``(R, C)`` over beliefs, each weighed by ``weights (J, R)`` and how likely it is."""
    chances = likely * weights[:, :, None]
    return np.asarray(np.einsum("jrc,jrc->rc", chances, means) / chances.sum(axis=0))


def _believed(counts: Array, sd: Array, even: Array, topics: float) -> tuple[Array, Array]:
    """(how likely counts ``(R, C)`` are, their means) under each belief, both ``(J, R, C)``: first
    just so, then spread. The likelihood is up to a factor of each cell, by which the largest is 1.

    A count ``z`` in units of the noise with ``z ~ N(x, 1)`` and ``x`` exponential of mean ``m`` has
    density ``phi(z) / (m h)`` and mean ``h - (1 / m - z)``, with ``h`` the hazard of a standard
    normal variable at ``1 / m - z``.
    """
    with np.errstate(over="ignore"):
        count, share = (np.clip(values / sd, -VAST, VAST) for values in (counts, even))
    just, spread = (_multiples(scales, share, topics) for scales in (EXACT, SPREAD))
    below = 1.0 / spread - count
    mean = np.where(below < -30.0, -below, cut_normal(np.minimum(-below, 30.0)))
    hazard = np.log(np.maximum(mean + below, 1e-300))
    dense = np.where(below < -5.0, np.minimum(below, 0.0) ** 2 / 2.0, -ROOT - hazard)  # to 1e-6
    logs = np.concatenate([just * count - just * just / 2.0 - ROOT, dense - np.log(spread)])
    return np.exp(logs - logs.max(axis=0)), sd * np.concatenate([just, mean])


def _multiples(scales: Sequence[float], even: Array, topics: float) -> Array:
    """Multiples ``(J, R, C)`` of even shares ``(R, C)``; none is above the whole."""
    some = np.array([scale for scale in scales if scale <= topics])[:, None, None]
    return np.asarray(np.clip(some * even, 1.0 / VAST, VAST))


def _weights(likely: Array, counted: Mask) -> Array:
    """Weight ``(J, R)`` of each belief among the cells that count: maximum likelihood, by EM."""
    beliefs = len(likely)
    likely = likely * counted
    weights = np.full(likely.shape[:2], 1.0 / beliefs)
    many = np.maximum(counted.sum(axis=1), 1)
    for _ in range(ROUNDS):
        whole = np.einsum("jrc,jr->rc", likely, weights)
        share = np.einsum("jrc,rc->jr", likely, 1.0 / np.where(counted, whole, 1.0))
        weights = (1.0 - LEAST) * weights * share / many + LEAST / beliefs
    return weights
