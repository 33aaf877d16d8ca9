"""Topics (latent Dirichlet allocation): a topic is a list of words, a document a mix of topics.

Variational Bayes: every document's mix is found from its words and the topics (E step), then the
words that each topic was given make the topic anew (M step). Blei, Ng, Jordan 2003; minibatches:
Hoffman, Blei, Bach 2010; with noise: Park, Foulds, Chaudhuri, Welling 2020, Algorithm 3.

Concentrations are those of q(topic) = Dirichlet(concentration); both priors are 1/K.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfcx, gammaln, psi

from dpcore.arrays import Array, Indices, Mask
from dpcore.short_rows import row_maxima, row_sums
from dpcore.wall.data import Bags
from dpcore.wall.kernels.threads import in_order, most_threads, one_thread, pool
from dpcore.wall.statistics import NoisyTopics

Small = NDArray[np.float32]

TOLERANCE = 1e-3  # mean change of a document's mix, in words, below which it is found
ROUNDS = 30  # of the E step at most: as far as a hundred plain ones
FINE, LONG = 5e-4, 200  # the same where documents are judged: flat topics are slow to part
CELLS = 1 << 20  # numbers of a block of documents: one that a cache nearly holds
ROOM = 1 << 18  # numbers of blocks that share their rounds
PIECE = 1 << 15  # entries of documents, or cells of topics, that are worked on together
TINY = np.float32(1e-30)
FARTHEST = np.float32(100.0)  # of a jump ahead, in steps
SINGLE_1, SINGLE_2, SINGLE_3 = np.float32(1.0), np.float32(2.0), np.float32(3.0)
MIDDLE, CURVE, OFFSET = np.float32(2.5), np.float32(24.0), np.float32(3.7)  # of exp psi(x + 3)
BEGUN = 10.0  # words that the start counts in each cell; 50 delays steps where a cell has hundreds
HIGHEST = 1e12  # of a concentration
VAST = 1e100  # deviations; beyond, powers may overflow
RUNGS = np.linspace(0.0, 1.0, 6) ** 3  # shares of a document's words by which its mixes are drawn
REPEATS = 3  # draws by each share; a thousand add 0.001 to 0.003 nats a word, 0.02 for fifty topics
DRAWS = 0  # their seed


@dataclass(frozen=True)
class Topics:
    """B sets of K topics over V words: ``concentration (B, K, V)``, above 0."""

    concentration: Array

    @property
    def runs(self) -> int:
        """How many fits the batch holds, B."""
        return len(self.concentration)

    @property
    def words(self) -> Array:
        """Probability of each word in each topic ``(B, K, V)``."""
        return np.asarray(self.concentration / self.concentration.sum(axis=2, keepdims=True))


def start(runs: int, components: int, words: int, seed: int) -> Topics:
    """The data-free start of section 4.2: Gamma(100, 1/100) in every cell."""
    rng = np.random.default_rng([seed, components, words])
    drawn = rng.gamma(100.0, 0.01, size=(components, words))
    return Topics(np.broadcast_to(drawn, (runs, components, words)).copy())


def expected(topics: Topics) -> Array:
    """``exp E[log p(word | topic)]`` under q, ``(B, K, V)``: below the probability itself."""
    cells = topics.concentration
    total = psi(cells.sum(axis=2, keepdims=True))
    return in_parts(lambda some: np.exp(psi(cells[:, some]) - total[:, some]), cells.shape)


def in_parts(of: Callable[[slice], Array], shape: tuple[int, ...]) -> Array:
    """An array ``(B, K, ...)`` from what ``of`` gives of some of the K, where none depends on
    another: a part to each core, the same bits as all at once."""
    out = np.empty(shape)
    step = max(1, PIECE * shape[1] // max(1, out.size))
    parts = [slice(at, at + step) for at in range(0, shape[1], step)]

    def put(index: int, part: Array) -> None:
        out[:, parts[index]] = part

    in_order(lambda index: of(parts[index]), put, len(parts))
    return out


# --- E step --------------------------------------------------------------------------------------


def mixes(
    bags: Bags,
    words: Array,
    prior: Array | float,
    tolerance: float | None = None,
    rounds: int | None = None,
) -> Array:
    """Dirichlet parameters ``(m, K)`` of each document's mix of topics.

    words ``(K, V)``: how much of a word each topic has, up to a factor a word. prior: of the mix,
    one number or one for each topic ``(K,)``.
    Documents of like many words share a matrix, and some matrices their rounds, in single
    precision; each document is worked on until it moves by less than ``tolerance``
    (:data:`TOLERANCE`), so many ``rounds`` at most (:data:`ROUNDS`); the cores share what is worked
    on together.
    """
    end = tolerance or TOLERANCE, rounds or ROUNDS
    by_word = np.ascontiguousarray(_scaled(words).T, dtype=np.float32)
    out = np.empty((bags.count, len(words)))

    def solve(together: Sequence[tuple[int, Indices]]) -> None:
        which = np.concatenate([block for _, block in together])
        out[which] = _mixes_of_blocks(bags, together, by_word, prior, end)

    rooms = list(_rooms(_alike(bags, len(words)), len(words)))
    with one_thread():
        list((pool("rooms").map if len(rooms) > 1 and most_threads() > 1 else map)(solve, rooms))
    return out


def weights_of_runs(bags: Bags, words: Array, prior: float) -> Array:
    """:func:`weights` of the :func:`mixes` of several runs ``(B, m, K)``, words ``(B, K, V)``: the
    same to the last bit, but where documents are few a round of all runs takes little longer than
    one of a single run."""
    runs, topics, size = words.shape
    together = words.transpose(1, 0, 2).reshape(topics, runs * size)
    mix = mixes(bags.repeated(runs), together, prior)
    return weights(mix).reshape(runs, bags.count, topics)


def weights(mix: Array) -> Array:
    """``exp E[log share of a topic]`` up to a factor for each document, ``(m, K)``."""
    logs = psi(mix)
    return np.asarray(np.exp(logs - row_maxima(logs)))


def _scaled(words: Array) -> Array:
    """Each word's largest is 1: the factor cancels, and single precision suffices."""
    most = words.max(axis=0, keepdims=True)
    return np.asarray(words / np.where(most > 0.0, most, 1.0))


def _alike(bags: Bags, components: int) -> Iterator[tuple[int, Indices]]:
    """Documents in blocks of one width, and that width."""
    widths = _widths(np.diff(bags.starts))
    order = np.argsort(widths, kind="stable")
    edges = np.flatnonzero(np.diff(widths[order])) + 1
    for same in np.split(order, edges):
        if same.size:
            width = int(widths[same[0]])
            size = max(1, CELLS // (components * width))
            yield from ((width, same[at : at + size]) for at in range(0, len(same), size))


def _rooms(
    blocks: Iterable[tuple[int, Indices]], components: int
) -> Iterator[list[tuple[int, Indices]]]:
    """Blocks that are worked on together, of :data:`ROOM` numbers or one block: each of their
    rounds costs one call of what reads no words, where small blocks would cost one each."""
    together, numbers = list[tuple[int, Indices]](), 0
    for width, which in blocks:
        more = components * width * len(which)
        if together and numbers + more > ROOM:
            yield together
            together, numbers = [], 0
        together.append((width, which))
        numbers += more
    if together:
        yield together


def _widths(distinct: Indices) -> Indices:
    """The width to which a document of so many distinct words is padded, by nothing but that
    number: a quarter above it at most, and a multiple of 8. Finer, and blocks are small: slower."""
    octave = np.frexp(np.maximum(distinct, 32))[1]
    step = 2 ** np.maximum(octave - 3, 3)
    return np.asarray(np.maximum(-(-distinct // step), 1) * step)


@dataclass(frozen=True)
class Padded:
    """Documents of one width, padded with words that do not count.

    counts ``(m, width)``; shares ``(m, width, K)``: how much of each word the topics have.
    """

    counts: Small
    shares: Small

    @classmethod
    def of(cls, bags: Bags, which: Indices, width: int, by_word: Small) -> Padded:
        """Some of the documents."""
        starts, distinct = bags.starts[which], np.diff(bags.starts)[which]
        inside = np.arange(width) < distinct[:, None]
        at = np.where(inside, starts[:, None] + np.arange(width), 0)
        counts = np.where(inside, np.take(bags.counts, at), 0.0).astype(np.float32)
        words = np.where(inside, np.take(bags.words, at), 0)
        return cls(counts, np.take(by_word, words, axis=0))  # by an index as such it takes longer

    def taken(self, which: Mask) -> Padded:
        """Some of them."""
        if which.all():
            return self
        return Padded(self.counts.compress(which, axis=0), self.shares.compress(which, axis=0))

    def share_out(self, weight: Small, out: Small) -> None:
        """Their words in topics of such weights, up to the weights themselves; both ``(m, K)``."""
        whole = np.matmul(self.shares, weight[:, :, None])[:, :, 0]
        whole += TINY
        np.divide(self.counts, whole, out=whole)
        np.matmul(whole[:, None, :], self.shares, out=out[:, None, :])


def _mixes_of_blocks(
    bags: Bags,
    blocks: Sequence[tuple[int, Indices]],
    by_word: Small,
    prior: Array | float,
    end: tuple[float, int],
) -> Array:
    """:func:`mixes` of some documents, block after block.

    A document's mix is the same to the last bit whatever others stand beside it: it stops when it
    has been found itself, and its sums have the width of its own. Otherwise a document that is
    replaced could change what others add.
    """
    count, topics = sum(len(which) for _, which in blocks), by_word.shape[1]
    small = np.asarray(prior, dtype=np.float32)
    if not len(bags.words):
        return np.full((count, topics), small)
    placed = _placed([Padded.of(bags, which, width, by_word) for width, which in blocks])
    words = np.concatenate([block.counts.sum(axis=1, keepdims=True) for _, block in placed])
    mix = small + np.repeat(words / np.float32(topics), topics, axis=1)
    out = np.empty(mix.shape)
    left = np.arange(count)
    going = np.ones(count, dtype=bool)
    tolerance, rounds = end
    before: tuple[Small, Small] | None = None
    for number in range(rounds):
        weight, moved = _weights(mix), np.empty_like(mix)
        for at, block in placed:
            block.share_out(weight[at], moved[at])
        moved *= weight
        moved += small
        step = moved - mix
        settled = row_sums(np.abs(step)) / topics < tolerance
        ended = going & settled if number < rounds - 1 else going
        out[left[ended]] = moved[ended]
        going = going & ~ended
        staying = np.count_nonzero(going)
        if staying == 0:
            break
        if before is None:
            before, mix = (mix, step), moved
        else:
            least = np.maximum(moved / SINGLE_2, small)  # a topic may come back
            mix, before = np.maximum(_ahead(*before, step), least), None
        if staying <= 0.75 * len(left):
            placed = _placed([block.taken(going[at]) for at, block in placed])
            left, mix = left[going], mix[going]
            before = None if before is None else (before[0][going], before[1][going])
            going = going[going]
    return out


def _placed(blocks: Iterable[Padded]) -> list[tuple[slice, Padded]]:
    """Those that have documents, and where these stand."""
    placed, first = list[tuple[slice, Padded]](), 0
    for block in blocks:
        last = first + len(block.counts)
        if last > first:
            placed.append((slice(first, last), block))
        first = last
    return placed


def _ahead(mix: Small, first: Small, second: Small) -> Small:
    """Where steps lead to that go on as the first two from a mix: a third of the rounds (SQUAREM,
    Varadhan, Roland 2008, steplength S3). All ``(m, K)``."""
    bend = second - first
    length, turn = (np.sqrt(row_sums(a * a)) for a in (first, bend))
    length /= np.maximum(np.maximum(turn, length / FARTHEST), TINY)
    length = np.maximum(length, SINGLE_1)[:, None]
    return np.asarray(mix + length * (SINGLE_2 * first + length * bend))


def _weights(mix: Small) -> Small:
    """:func:`weights` to 2e-5 of each, by few plain steps: digamma itself took half of the time.

    ``psi(x) = psi(x + 3) - 1/x - 1/(x + 1) - 1/(x + 2)``, and ``exp psi(y + 1/2)`` is
    ``y + y / (24 y^2 + 3.7)``, up to powers beyond ``y^-3`` (DLMF 5.11.2, exponentiated).
    """
    above = mix + SINGLE_1
    below = mix + SINGLE_2
    below *= mix  # x (x + 2), so that the three fractions are -(3 + 2 / below) / (x + 1)
    np.divide(-SINGLE_2, below, out=below)
    below -= SINGLE_3
    below /= above
    below -= row_maxima(below)
    np.exp(below, out=below)
    middle = mix + MIDDLE
    np.multiply(middle, middle, out=above)
    above *= CURVE
    above += OFFSET
    np.divide(middle, above, out=above)
    above += middle
    above *= below
    return np.asarray(above)


# --- M step --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Memory:
    """What the releases so far say of one pass over all documents.

    counts ``(B, K, V)``: the weighted mean of the raw noisy sums; counts_sd ``(B,)``: noise in it.
    start ``(B,)``: what the start still weighs beside it, from 1 before the first step down to 0.
    """

    counts: Array
    counts_sd: Array
    start: Array | float = 0.0


def nothing(start: Topics) -> Memory:
    """The memory before the first step."""
    runs = start.runs
    return Memory(np.zeros_like(start.concentration), np.zeros(runs), np.ones(runs))


def remember(released: NoisyTopics, rate: float, memory: Memory, step: Array) -> Memory:
    """The mean of raw noisy sums, newest with weight ``step (B,)``; rate: a document's chance.
    A step of weight 0 leaves a run as it was.

    The weights are those of Hoffman, Blei, Bach 2010, without what theirs leave to the start.
    Nothing is cut off before it is averaged: cutting makes noise positive, and it would add up.
    """
    counts, sd = _tame(released.counts) / rate, released.counts_sd / rate
    start = (1.0 - step) * memory.start
    new = step / np.where(start < 1.0, 1.0 - start, 1.0)
    cells = new[:, None, None]
    mixed = (1.0 - cells) * memory.counts + cells * counts
    return Memory(mixed, np.hypot((1.0 - new) * memory.counts_sd, new * sd), start)


@dataclass(frozen=True)
class Frequencies:
    """Noisy words of all documents ``counts (B, 1, V)``, with noise ``counts_sd (B,)`` in each.

    allowed ``(B, 1, V)``: 1 for words that topics may have, 0 for others.
    """

    counts: Array
    counts_sd: Array
    allowed: Array

    @property
    def clearness(self) -> Array:
        """The mean count of an allowed word in deviations of its noise ``(B,)``, at least 0."""
        many = np.maximum(self.allowed.sum(axis=(1, 2)), 1.0)
        mean = (_tame(self.counts) * self.allowed).sum(axis=(1, 2)) / many
        return np.asarray(np.maximum(mean, 0.0) / np.maximum(self.counts_sd, 1.0 / VAST))

    def beside(self, released: NoisyTopics, rate: float, which: Mask) -> Frequencies:
        """With a noisy sum of the words of a sample in the first topic, in some runs ``(B,)``: the
        two are weighed by their precision; rate: a document's chance."""
        counts, sd = _tame(released.counts[:, :1]) / rate, released.counts_sd / rate
        both = np.hypot(sd, self.counts_sd)
        new = np.where(which, self.counts_sd / np.maximum(both, 1.0 / VAST), 0.0) ** 2
        part = new[:, None, None]
        mixed = (1.0 - part) * _tame(self.counts) + part * counts
        return Frequencies(mixed, np.hypot((1.0 - new) * self.counts_sd, new * sd), self.allowed)

    @property
    def expected(self) -> Array:
        """The mean of each count given what was released, ``(runs, topics, words)``."""
        counts = _tame(self.counts) * self.allowed
        many = np.maximum(self.allowed.sum(axis=2, keepdims=True), 1.0)
        mean = np.maximum(counts.sum(axis=2, keepdims=True) / many, 0.0)
        return unnoised(counts, self.counts_sd[:, None, None] * self.allowed, mean)


def topics_of(memory: Memory, prior: float, words: Frequencies | None = None) -> Topics:
    """Topics from averaged noisy counts: cut off last, by what the noise can have been.

    A cell is expected to hold its word's share of all words, spread over the topics; the estimate
    is the mean of the count given what was released, :func:`unnoised`. Without noise it is the
    count. words: their released frequencies; without, those that the topics add up to. Total: any
    real counts give concentrations above 0.
    """
    counts, sd = _tame(memory.counts), memory.counts_sd
    topics = counts.shape[1]
    if words is None:
        whole = counts.sum(axis=1, keepdims=True)
        words = Frequencies(whole, sd * np.sqrt(topics), np.ones_like(whole))
    even, noise = even_shares(counts, words), sd[:, None, None]
    estimate = in_parts(lambda some: unnoised(counts[:, some], noise, even), counts.shape)
    return _bounded(prior + words.allowed * estimate)


def even_shares(counts: Array, words: Frequencies) -> Array:
    """What each topic has of each word where all have alike, ``(B, 1, V)``: counts ``(B, K, V)``
    say how many words there are, and ``words`` which."""
    expected = words.expected
    share = expected / np.maximum(expected.sum(axis=2, keepdims=True), 1e-9)
    every = np.maximum((counts * words.allowed).sum(axis=(1, 2), keepdims=True), 0.0)
    return np.asarray(share * every / counts.shape[1])


def begun(topics: Topics, start: Topics, memory: Memory) -> Topics:
    """Topics by which the next step shares out words: the start stands beside what was found.

    It counts :data:`BEGUN` words a cell, not more than all documents have, and fades with the
    steps. Without it a word that the first minibatch gave to other topics is lost to one for long.
    """
    shape, left = start.concentration.shape[1:], np.asarray(memory.start)[..., None, None]
    most = np.minimum(topics.concentration.sum(axis=(1, 2)), BEGUN * np.prod(shape))
    share = start.concentration / start.concentration.sum(axis=(1, 2), keepdims=True)
    beside = left * most[:, None, None] * share
    begun = (1.0 - left) * topics.concentration + beside
    return _bounded(np.where(left < 1.0, begun, start.concentration))


def unnoised(counts: Array, sd: Array, mean: Array) -> Array:
    """The mean of counts >= 0 given counts + noise, where they are exponential with ``mean``.

    The posterior is normal with mean ``counts - sd^2 / mean``, cut off at 0. Without noise: the
    counts, cut off at 0.

    >>> unnoised(np.array([4.0, -1.0]), np.zeros(1), np.ones(1))
    array([4., 0.])
    """
    quiet = np.maximum(counts, 0.0)
    if not np.any(sd > 0.0):
        return np.asarray(quiet)
    sd, mean = np.broadcast_to(sd, counts.shape), np.broadcast_to(mean, counts.shape)
    noisy, some = sd > 0.0, mean > 0.0
    safe = np.where(noisy, sd, 1.0)
    with np.errstate(over="ignore"):
        lower = np.minimum(safe / np.where(some, mean, 1.0), VAST)
        at = np.clip(counts / safe, -VAST, VAST) - lower
    tail = np.where(at > 30.0, counts - safe * lower, safe * cut_normal(at))  # then never cut off
    means = np.where(some, tail, 0.0)
    return np.asarray(np.where(noisy, means, quiet))


def cut_normal(at: Array) -> Array:
    """Means of normal variables of means ``at <= 30``, ``(...)``, and deviation 1, given that they
    are above 0."""
    middle = np.clip(at, -30.0, 30.0)
    hazard = np.sqrt(2.0 / np.pi) / erfcx(-middle / np.sqrt(2.0))  # density / distribution function
    low = np.minimum(at, -30.0)  # its tail: an error below 1e-5 of it
    tail = (2.0 / (low * low) - 1.0) / low  # a power of 3 takes ten times as long as all else
    return np.where(at < -30.0, tail, np.maximum(middle + hazard, 0.0))


def published_step(
    released: NoisyTopics, rate: float, before: Topics, prior: float, step: float
) -> Topics:
    """Algorithm 3: what is below 0 is cut off, then mixed into the topics."""
    counts = np.maximum(_tame(released.counts), 0.0) / rate
    return _bounded((1.0 - step) * before.concentration + step * (prior + counts))


def step_size(iteration: int, delay: float, forgetting: float) -> float:
    """``(delay + iteration)^-forgetting``, iterations from 1 (Hoffman, Blei, Bach 2010)."""
    return min(1.0, float((delay + iteration) ** -forgetting))


def _tame(counts: Array) -> Array:
    return np.clip(np.nan_to_num(counts, nan=0.0), -HIGHEST, HIGHEST)


def _bounded(concentration: Array) -> Topics:
    return Topics(np.clip(concentration, 1e-12, HIGHEST))


# --- what topics are worth -----------------------------------------------------------------------


def log_likelihood(bags: Bags, words: Array, prior: float) -> Array:
    """The log-likelihood of each document ``(m,)`` under topics ``(K, V)``, estimated by sampling;
    on average it is not above the true one.

    words: probabilities. Importance sampling (Wallach, Murray, Salakhutdinov, Mimno 2009, section
    4; on average a lower bound: Burda, Grosse, Salakhutdinov 2016). Mixes are drawn from Dirichlet
    distributions between the prior and that of :func:`mixes`, which alone is too narrow, and
    weighed against all of these together (Veach, Guibas 1995, the balance heuristic). The draws
    are public: the same call gives the same bits, in whatever order the topics are.

    For one topic it is exact. Topics that are equal count as one, of their joint prior, which
    changes no likelihood and makes the estimate better.
    """
    words, priors = _distinct(words, prior)
    mix = mixes(bags, words, priors, FINE, LONG)
    if len(words) == 1:
        return bound_at(bags, words, mix, priors)
    by_word = np.ascontiguousarray(_scaled(words).T, dtype=np.float32)
    most = np.log(np.maximum(words.max(axis=0), 1e-300))
    values = np.zeros(bags.count)
    values += np.bincount(bags.owner, bags.counts * most[bags.words], minlength=bags.count)
    blocks = list(_alike(bags, len(words) * len(RUNGS) * REPEATS))

    def estimate(number: int) -> Array:
        width, which = blocks[number]
        counted = np.maximum(mix[which] - priors, 0.0)
        rng = np.random.default_rng([DRAWS, number])
        return _estimated(Padded.of(bags, which, width, by_word), priors, counted, rng)

    def put(number: int, value: Array) -> None:
        values[blocks[number][1]] += value

    in_order(estimate, put, len(blocks))
    return values


def _estimated(block: Padded, priors: Array, counted: Array, rng: np.random.Generator) -> Array:
    """:func:`log_likelihood` of some documents ``(m,)``, up to the factors of their words; counted
    ``(m, K)``: their words in each topic."""
    own = priors[:, None] + counted[:, :, None] * RUNGS
    drawn = np.maximum(rng.standard_gamma(np.repeat(own, REPEATS, axis=2)), 1e-300)
    mix = drawn / drawn.sum(axis=1, keepdims=True)
    whole = np.matmul(block.shares, mix.astype(np.float32))
    whole += TINY
    score = np.matmul(block.counts[:, None], np.log(whole, out=whole))[:, 0]
    powers = np.matmul(counted[:, None], np.log(mix))
    constants = gammaln(own.sum(axis=1)) - gammaln(own).sum(axis=1)
    constants -= gammaln(priors.sum()) - gammaln(priors).sum()
    above = constants[:, :, None] + RUNGS[:, None] * powers  # log density over that of the prior
    return _log_mean(score - _log_mean(above))


def _log_mean(logs: Array) -> Array:
    """Log of the mean over the second axis of what the logs ``(m, J, ...)`` are of."""
    top = logs.max(axis=1, keepdims=True)
    return np.asarray(np.log(np.exp(logs - top).mean(axis=1)) + top[:, 0])


def _distinct(words: Array, prior: float) -> tuple[Array, Array]:
    """Different topics, sorted, and the joint prior of those that are equal."""
    lists, times = np.unique(words, axis=0, return_counts=True)
    return lists, np.asarray(times * prior, dtype=float)


def bound(bags: Bags, words: Array, prior: float) -> Array:
    """A lower bound on the log-likelihood of each document ``(m,)`` under topics ``(K, V)``.

    words: probabilities. The bound of Blei, Ng, Jordan 2003, section 5.3, with the topics fixed;
    for one topic it is exact. Topics that are equal count as one, of their joint prior, which
    changes no likelihood and makes the bound tighter.
    """
    words, priors = _distinct(words, prior)
    return bound_at(bags, words, mixes(bags, words, priors, FINE, LONG), priors)


def bound_at(bags: Bags, words: Array, mix: Array, prior: Array | float) -> Array:
    """The same bound at given mixes ``(m, K)``: largest where they are those of :func:`mixes`."""
    priors = np.broadcast_to(prior, len(words))
    owner = np.repeat(np.arange(bags.count), np.diff(bags.starts))
    total = mix.sum(axis=1)
    logs = psi(mix) - psi(total)[:, None]
    weight = np.exp(logs)
    values = np.zeros(bags.count)
    by_word = np.ascontiguousarray(words.T)
    for first in range(0, len(owner), PIECE):
        at = slice(first, first + PIECE)
        shares = np.take(by_word, bags.words[at], axis=0)
        own = np.take(weight, owner[at], axis=0)
        whole = np.einsum("ek,ek->e", shares, own)
        score = bags.counts[at] * np.log(np.maximum(whole, 1e-300))
        values += np.bincount(owner[at], score, minlength=bags.count)
    prior_term = gammaln(priors.sum()) - gammaln(priors).sum() + logs @ (priors - 1.0)
    entropy = gammaln(mix).sum(axis=1) - gammaln(total) - ((mix - 1.0) * logs).sum(axis=1)
    return np.asarray(values + prior_term + entropy)


def top_words(words: Array, count: int) -> Indices:
    """Positions of the most likely words of each topic ``(..., count)``, most likely first."""
    return np.argsort(-words, axis=-1, kind="stable")[..., :count]
