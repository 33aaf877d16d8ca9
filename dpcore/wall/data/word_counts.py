"""Bags of words: documents as counts of distinct words, in compressed rows.

Document d holds ``words[starts[d]:starts[d + 1]]``, each once, with their counts. Behind the wall
only; a model's E step sees a few documents at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpcore.arrays import Array, Indices
from dpcore.errors import InputError
from dpcore.wall.noise import SecretCoins

MOST = 1e9  # of one word in a document; beyond it sums would lose small counts


@dataclass(frozen=True, repr=False)
class Bags:
    """Documents ``starts (m + 1,)``, ``words (e,)`` from 0 to ``size`` - 1, ``counts (e,)`` > 0."""

    starts: Indices
    words: Indices
    counts: Array
    size: int

    def __post_init__(self) -> None:
        for part in (self.starts, self.words, self.counts):
            part.flags.writeable = False  # a model looks, and leaves them as they are

    @classmethod
    def of(cls, starts: Indices, words: Indices, counts: Array, size: int) -> Bags:
        """Total: words outside the vocabulary and counts that are none are left out, and a word
        that stands twice in a document is counted together.

        Raises InputError for arrays that do not fit together.

        >>> bags = Bags.of(np.array([0, 3]), np.array([1, 1, 9]), np.array([2.0, 3.0, 1.0]), 2)
        >>> bags.words.tolist(), bags.counts.tolist()
        ([1], [5.0])
        """
        from scipy.sparse import csr_array

        starts, words = np.array(starts, dtype=np.intp), np.asarray(words, dtype=np.intp)
        counts = np.asarray(counts, dtype=float)
        if (
            starts.ndim != 1
            or not starts.size
            or starts[0] != 0
            or starts[-1] != len(words)
            or len(words) != len(counts)
            or np.any(np.diff(starts) < 0)
        ):
            raise InputError(
                "corpus", "its word counts do not match its documents", "build the file again"
            )
        counts = np.fmin(np.fmax(counts, 0.0), MOST)
        counts = np.where((words >= 0) & (words < size), counts, 0.0)
        words = np.clip(words, 0, max(size - 1, 0))
        table = csr_array((counts, words, starts), shape=(len(starts) - 1, max(size, 1)))
        table.sum_duplicates()
        table.eliminate_zeros()
        return cls(
            table.indptr.astype(np.intp),
            table.indices.astype(np.intp),
            np.fmin(table.data.astype(float), MOST),
            size,
        )

    @property
    def count(self) -> int:
        """How many documents."""
        return len(self.starts) - 1

    def __len__(self) -> int:
        return self.count

    @property
    def distinct(self) -> Indices:
        """Distinct words of each document ``(m,)``."""
        return np.diff(self.starts)

    @property
    def lengths(self) -> Array:
        """Tokens of each document ``(m,)``, each added up by itself: in a running sum a long
        document would take digits from those behind it."""
        return np.bincount(self.owner, self.counts, minlength=self.count).astype(float)

    @cached_property
    def owner(self) -> Indices:
        """The document ``(e,)`` of each entry."""
        owner = np.repeat(np.arange(self.count), self.distinct)
        owner.flags.writeable = False
        return owner

    def take(self, positions: Indices) -> Bags:
        """Some of the documents, in the order asked for."""
        distinct = self.distinct[positions]
        starts = np.concatenate([[0], np.cumsum(distinct)]).astype(np.intp)
        shift = self.starts[positions] - starts[:-1]
        at = np.arange(starts[-1]) + np.repeat(shift, distinct)
        return Bags(starts, self.words[at], self.counts[at], self.size)

    def repeated(self, times: int) -> Bags:
        """The same documents so many times, each time in words of their own: as many ``size``."""
        if times == 1:
            return self
        starts = self.starts[:-1] + len(self.words) * np.arange(times)[:, None]
        words = self.words + self.size * np.arange(times)[:, None]
        return Bags(
            np.append(starts.ravel(), words.size),
            words.ravel(),
            np.tile(self.counts, times),
            self.size * times,
        )

    def cut(self, size: int) -> Bags:
        """The same documents in the first ``size`` words alone."""
        return Bags.of(self.starts, self.words, self.counts, min(size, self.size))

    def blocks(self, entries: int) -> Iterator[tuple[slice, Bags]]:
        """Consecutive documents of about so many entries, at least one at a time."""
        first = 0
        while first < self.count:
            end = np.searchsorted(self.starts, self.starts[first] + entries, side="right") - 1
            last = min(self.count, max(first + 1, int(end)))
            at = slice(int(self.starts[first]), int(self.starts[last]))
            starts = self.starts[first : last + 1] - self.starts[first]
            yield slice(first, last), Bags(starts, self.words[at], self.counts[at], self.size)
            first = last

    def resampled(self, length: int, coins: SecretCoins) -> Bags:
        """Every document as so many words drawn from it with replacement, as one paper does.

        Each document has coins of its own, as many as any other: a map of each document alone.
        """
        out_words, out_counts, distinct = [], [], [np.zeros(1, dtype=np.intp)]
        for _, block in self.blocks(1 << 17):
            words, counts, present = _drawn(block, coins.random((block.count, length)))
            out_words.append(words)
            out_counts.append(counts)
            distinct.append(present)
        starts = np.cumsum(np.concatenate(distinct)).astype(np.intp)
        if not out_words:
            return self
        return Bags(starts, np.concatenate(out_words), np.concatenate(out_counts), self.size)


def _drawn(bags: Bags, coins: Array) -> tuple[Indices, Array, Indices]:
    """Words ``(e,)``, counts ``(e,)`` and distinct words ``(m,)`` of drawn documents, each drawn
    by itself: in a running sum of all, a long document would move what those behind it draw."""
    drawn = np.zeros(len(bags.words), dtype=np.intp)
    for first, last, own in zip(bags.starts[:-1], bags.starts[1:], coins, strict=True):
        running = np.cumsum(bags.counts[first:last])
        if running.size:
            place = np.searchsorted(running, own * running[-1], side="right")
            place = np.minimum(place, running.size - 1)
            drawn[first:last] = np.bincount(place, minlength=running.size)
    present = np.flatnonzero(drawn)
    distinct = np.bincount(bags.owner[present], minlength=bags.count)
    return bags.words[present], drawn[present].astype(float), distinct.astype(np.intp)
