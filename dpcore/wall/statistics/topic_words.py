"""The door for documents: a noisy sum of each document's words, shared out among topics.

The wall shares out the words itself, from the model's weights of a document and public topics, and
draws every document into a ball before it sums; no matrix of one document is ever formed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from dpcore.arrays import Array
from dpcore.checks import positive
from dpcore.errors import RowError
from dpcore.short_rows import row_maxima, row_sums
from dpcore.wall.data.word_counts import Bags
from dpcore.wall.kernels.threads import most_threads, one_thread, pool, single_threaded
from dpcore.wall.statistics.statistic import Part, Sensitivity, Summed, by_adjacency

if TYPE_CHECKING:
    from dpcore.wall.session import Session
    from dpcore.wall.subsample import Minibatches

_T = TypeVar("_T")

CELLS = 1 << 18  # shares of documents that are weighed together: they should fit a cache
LEAST = 1e-100  # weight of a word below which no topic is taken to have it; squares stay normal
ROUNDED = 2.0**-51  # of a norm, for each number in it: four units of rounding


class DocumentStep(Protocol):
    """A model's E step."""

    def __call__(self, bags: Bags, runs: Sequence[int]) -> Array:
        """Weights of the topics in each document ``(runs, m, K)``, up to a factor."""


@dataclass(frozen=True)
class NoisyTopics:
    """Words in topics ``counts (B, K, V)``, summed over a minibatch, with noise.

    counts_sd ``(B,)``: standard deviation of the noise in each cell.
    """

    counts: Array
    counts_sd: Array


@dataclass(frozen=True)
class SharedOut:
    """Documents shared out among topics.

    topics ``(B, K, V)``: public or released, by which words are shared out; e_step: the weights of
    the topics in documents.
    """

    topics: Array
    e_step: DocumentStep


@dataclass(frozen=True)
class TopicWords(Summed[SharedOut, NoisyTopics]):
    r"""Counts of words in topics, summed over documents: a document adds a K x V matrix.

    A document with counts ``c >= 0``, weights ``t >= 0`` and public topics ``E >= 0`` adds
    ``s[k, v] = c_v t_k E_kv / sum_j t_j E_jv``, drawn towards 0 until its Frobenius norm is at most
    ``radius = C``, divided by C.

    **Guarantee.** The L2 sensitivity of the sum is 1 when a document is added or removed and
    ``sqrt 2`` when one is replaced; both are attained.

    *Proof.* Put C = 1. Whatever the weights are, ``|s| <= 1`` and all entries are ``>= 0``; this is
    the first claim. So ``<s, s'> >= 0`` for any two documents, and
    ``|s - s'|^2 = |s|^2 + |s'|^2 - 2 <s, s'> <= 2``. Two documents of one word each, of different
    words, long enough to reach the ball and each wholly in one topic, attain it. QED. (The clipped
    sensitivity in Park, Foulds, Chaudhuri, Welling 2020, equation 28, leaves the ``sqrt 2`` out:
    it holds where a document is added or removed.)

    *As it is computed.* A document's amounts and weights are the same bits whatever stands beside
    it and wherever it stands: lengths, norms and mixes are added up within the document alone, in
    its own order (:func:`dpcore.models.topics.mathematics.mixes`; ``test_wall_places.py`` moves and
    replaces documents). What it adds is the product of these numbers and the public topics, and
    :func:`shared_out` counts its norm larger than all rounding can have made it smaller, so that
    the lemma holds of that product exactly. Adding up n documents takes at most n + 2 roundings of
    each cell, in the documents' order and without a product of matrices, which
    :func:`dpcore.wall.grid.grid_for` counts.
    """

    components: int
    words: int
    radius: float

    lemma = "diameter of non-negative matrices in a ball, a document's words shared among topics"

    def __post_init__(self) -> None:
        for field in ("components", "words", "radius"):
            positive(field, getattr(self, field))

    @cached_property
    def parts(self) -> dict[str, Part]:
        """One block: all words."""
        return {"counts": Part(self.words, self.radius)}

    def sensitivity(self, adjacency: str) -> Sensitivity:
        """The lemma's. L1: that of all cells at once, ``|s|_1 <= sqrt(K V) |s|``."""
        root, most = math.sqrt(2.0), math.sqrt(self.components * self.words)
        return by_adjacency(
            adjacency,
            replace_one=Sensitivity(root, {"counts": (root, root * most)}),
            add_remove=Sensitivity(1.0, {"counts": (1.0, most)}),
        )

    def checked(self, session: Session[Any], of: SharedOut) -> SharedOut:
        topics = np.array(of.topics, dtype=np.float64)  # plain numbers: none that looks around
        if topics.shape != (session.runs, self.components, self.words):
            raise ValueError("topics must have the shape (runs, components, words)")
        if self.words != session.public.size:
            raise ValueError("the contribution and the corpus differ in their number of words")
        return SharedOut(topics, of.e_step)

    def bounds(self, session: Session[Any], of: SharedOut) -> tuple[float, float]:
        return self.radius, session.radius

    def total(
        self, session: Session[Any], of: SharedOut, batches: Minibatches | None
    ) -> tuple[Array, None]:
        source, e_step = session.source, session._of_rows(of.e_step)
        total = np.zeros(of.topics.shape)
        for positions, runs in session._samples(batches):
            bags = source._bags if positions is None else source._bags.take(positions)

            def share_out(some: Sequence[int], bags: Bags = bags) -> None:
                weights = np.asarray(e_step(bags, some), dtype=np.float64)
                if weights.shape != (len(some), bags.count, self.components):
                    raise RowError("weights must have the shape (runs, documents, topics)")
                for run, own in zip(some, weights, strict=True):
                    total[run] = shared_out(bags, of.topics[run], own, source.radius, source.length)

            size = max(1, len(bags.words), bags.count)  # documents may have no words
            count = max(1, _entries(self.components) // size)
            parts = [runs[at : at + count].tolist() for at in range(0, len(runs), count)]
            _on_every_core(share_out, parts)
        return total, None

    def released(
        self, session: Session[Any], total: Array, scales: dict[str, Array], unnoised: None
    ) -> NoisyTopics:
        return NoisyTopics(total, scales["counts"])


def shared_out(
    bags: Bags, topics: Array, weights: Array, radius: float, length: float | None = None
) -> Array:
    """``(K, V)``: the sum over documents of their words by topic, each document in the ball.

    length: what each document is drawn out or shrunk to first; ``None``: as long as it is. Total in
    topics ``(K, V)`` and weights ``(m, K)``: what is negative or undefined counts as 0.

    **Guarantee.** No document's norm exceeds ``radius``, in exact arithmetic on the numbers that
    are multiplied. *Proof.* The computed norm has at most V + K + 8 roundings (products, K of a
    word's shares, V words, a root, the scaling), each of relative size at most 2^-53, and all terms
    are positive, so it is too small by at most twice as many units (Higham 2002, section 3.1); it
    is taken to be larger by four units for each of V + K + 16. Squares of shares that underflow are
    1e-100 of the largest and below what that adds. QED.
    Raises ValueError for weights of another shape.
    """
    from scipy.sparse import csr_array

    by_word = _largest_is_one(topics.T)
    weights = np.asarray(weights, dtype=np.float64)
    if weights.shape != (bags.count, len(topics)):
        raise ValueError("weights must have the shape (documents, topics)")
    weights = _largest_is_one(weights)
    amounts = drawn_in(bags, by_word, weights, radius, length)
    table = csr_array((amounts, bags.words, bags.starts), shape=(bags.count, bags.size))
    return np.ascontiguousarray((np.asarray(table.T @ weights) * by_word).T)


def drawn_in(
    bags: Bags, by_word: Array, weights: Array, radius: float, length: float | None
) -> Array:
    """What each entry counts ``(e,)`` for a unit of its topics' shares, every document in the ball.

    by_word ``(V, K)``, weights ``(m, K)``: as :func:`shared_out` has made them plain.
    **Guarantee.** A document's are the same bits wherever it stands and whatever stands beside it.
    """
    amounts = np.empty(len(bags.words))
    at_most = 1.0 + ROUNDED * (sum(by_word.shape) + 16)  # of what a computed norm stands for

    def weigh(block: tuple[slice, Bags]) -> None:
        at, some = block
        amount, norms = _amounts(some, by_word, weights[at], length)
        if math.isfinite(radius):
            amount *= (radius / np.maximum(norms * at_most, radius))[some.owner]
        amounts[bags.starts[at.start] : bags.starts[at.stop]] = amount

    _on_every_core(weigh, list(bags.blocks(_entries(weights.shape[1]))))
    return amounts


def _on_every_core(work: Callable[[_T], None], parts: Sequence[_T]) -> None:
    """Work on parts that need nothing of each other, each on one core. A part that is alone stays
    on this thread, and may be cut into parts of its own."""
    if len(parts) < 2 or most_threads() < 2:
        for part in parts:
            work(part)
        return

    def alone(part: _T) -> None:
        with single_threaded():
            work(part)

    with one_thread():
        list(pool("documents").map(alone, parts))


def _entries(topics: int) -> int:
    """How many entries are weighed together."""
    return max(1, CELLS // topics)


def reaches(bags: Bags, topics: Array, weights: Array) -> Array:
    """Norm of each document's words by topic, as a share of its length: beyond the clip it is drawn
    in. topics ``(K, V)``, weights ``(m, K)``."""
    by_word, weights = _largest_is_one(topics.T), _largest_is_one(weights)
    norms = np.empty(bags.count)
    for at, block in bags.blocks(_entries(len(topics))):
        norms[at] = _amounts(block, by_word, weights[at], 1.0)[1]
    return norms


def _amounts(block: Bags, by_word: Array, own: Array, length: float | None) -> tuple[Array, Array]:
    """(what an entry counts for a unit of its topics' shares, norm of each document)."""
    owner = block.owner
    share = np.take(by_word, block.words, axis=0)
    share *= np.take(own, owner, axis=0)
    whole = row_sums(share)
    shared = whole >= LEAST
    amount = np.where(shared, block.counts / np.where(shared, whole, 1.0), 0.0)
    if length is not None:
        amount *= (length / np.maximum(block.lengths, 1e-9))[owner]
    squares = amount**2 * np.einsum("ek,ek->e", share, share)
    return amount, np.sqrt(np.bincount(owner, squares, minlength=block.count))


def _largest_is_one(table: Array) -> Array:
    """Rows scaled so that their largest number is 1; undefined and negative numbers become 0."""
    safe = np.fmin(np.fmax(table, 0.0), 1e300)
    most = row_maxima(safe)
    return np.asarray(safe / np.where(most > 0.0, most, 1.0))
