"""Topics against scikit-learn's online LDA and gensim's: tokens a second, at the same questions.

Equal on all sides: documents, topics, both priors (1/K), size and number of minibatches, step size
``(1 + t)^-0.6``, when an E step ends (a document's mix moves by less than 0.001 on average) and its
single precision. Not equal: how many rounds it has at most (ours 30, with a jump ahead after every
second; the peers 100), which documents stand together in a minibatch (ours draws each step anew,
the peers go through the list), where a document's mix starts (ours: its words spread evenly;
scikit-learn: Gamma draws in a fit, ones afterwards; gensim: Gamma draws), what the start of the
topics counts in each cell while it fades (ours: up to 10 words; scikit-learn: 1), and the noise of
ours where it says so. Ours uses every core; so does scikit-learn with ``n_jobs=-1``; gensim has
``LdaMulticore``, whose workers share a minibatch, and no E step on many cores.

Quality is the perplexity of documents that no side has seen, all by our own formula from the
topics that each side found. For an E step alone all sides are given the same topics, and quality
is the perplexity of the same documents by the variational bound at the mixes that each side found.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np

from dpcore.arrays import Array
from dpcore.bench import peers
from dpcore.bench.measure import Case, Row, least_processor_seconds
from dpcore.fitting.api import fit
from dpcore.models.topics import mathematics as lda
from dpcore.privacy import Privacy
from dpcore.wall.data.corpus import PrivateCorpus, Vocabulary
from dpcore.wall.data.word_counts import Bags
from dpcore.wall.kernels import threads

CONDITIONS = (
    "All sides use the same documents, steps, priors and tolerance in the E step. Tokens/s: "
    "ours. Its best: the peer's tokens/s at its faster setting. Cores: the peer's processor "
    "seconds on one core, divided by ours on all cores; other programs hardly affect this ratio."
)
JUDGED_BY = (
    "perplexity of held-out documents by our formula (E step alone: of the same documents, with "
    "the topic mixtures found), lower is better"
)

SKLEARN, GENSIM = "scikit-learn", "gensim"
CALLED = {SKLEARN: "LatentDirichletAllocation", GENSIM: "LdaModel or LdaMulticore"}
QUALITY = "perplexity of held-out documents by our formula (lower is better)"
HELD_OUT = 500
ROUNDS = 100  # of the peers' E step at most
DELAY, FORGETTING = 1.0, 0.6
DELTA = 1e-6
SETTINGS = ("every core", "one core")


@dataclass(frozen=True)
class Corpus:
    """Simulated documents of about ``tokens`` words each, of a few of the topics."""

    documents: int
    words: int
    topics: int = 50
    tokens: int = 100

    @cached_property
    def bags(self) -> tuple[Bags, Bags]:
        """Documents to learn from and unseen ones, the same at every call."""
        rng = np.random.default_rng(0)
        count = self.documents + HELD_OUT
        usual = np.arange(1, self.words + 1) ** -0.9
        topics = rng.dirichlet(200.0 * usual / usual.sum(), size=self.topics)
        mixes = rng.dirichlet(np.full(self.topics, 0.1), size=count).cumsum(axis=1)
        lengths = 1 + rng.poisson(self.tokens - 1, size=count)
        topic = np.concatenate(
            [
                np.searchsorted(mix[:-1], rng.random(length))
                for mix, length in zip(mixes, lengths, strict=True)
            ]
        )
        words = np.empty(len(topic), dtype=np.intp)
        for k, chances in enumerate(topics):
            here = topic == k
            words[here] = rng.choice(self.words, size=np.count_nonzero(here), p=chances)
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.intp)
        every = Bags.of(starts, words, np.ones(len(words)), self.words)
        return every.take(np.arange(self.documents)), every.take(np.arange(self.documents, count))

    @property
    def prior(self) -> float:
        """Of all sides, for mixes and for topics."""
        return 1.0 / self.topics

    @cached_property
    def sealed(self) -> PrivateCorpus:
        """The documents behind the wall."""
        bags, vocabulary = self.bags[0], tuple(f"w{i}" for i in range(self.words))
        return PrivateCorpus.seal(
            bags.starts, bags.words, bags.counts, Vocabulary(vocabulary), open_to_all=True
        )

    @cached_property
    def as_matrix(self) -> Any:
        """As scikit-learn reads it fastest."""
        from scipy.sparse import csr_matrix

        bags = self.bags[0]
        shape = bags.count, self.words
        return csr_matrix((bags.counts.astype(np.float32), bags.words, bags.starts), shape=shape)

    @cached_property
    def as_lists(self) -> list[list[tuple[int, int]]]:
        """As gensim reads it fastest."""
        bags = self.bags[0]
        words, counts = bags.words.tolist(), bags.counts.astype(int).tolist()
        ends = bags.starts.tolist()
        return [list(zip(words[a:b], counts[a:b], strict=True)) for a, b in pairwise(ends)]

    def perplexity(self, words: Array) -> float:
        """Of the unseen documents under topics ``(K, V)``."""
        unseen = self.bags[1]
        score = lda.log_likelihood(unseen, words, self.prior).sum()
        return float(np.exp(-score / unseen.counts.sum()))

    def perplexity_at(self, mix: Array, words: Array) -> float:
        """Of the known documents by the bound at mixes ``(documents, K)`` that somebody found."""
        bags = self.bags[0]
        score = lda.bound_at(bags, words, mix, self.prior).sum()
        return float(np.exp(-score / bags.counts.sum()))

    def __reduce__(self) -> tuple[type[Corpus], tuple[int, ...]]:
        """Another process simulates the documents anew."""
        return Corpus, (self.documents, self.words, self.topics, self.tokens)

    def __str__(self) -> str:
        return f"{self.documents} documents x {self.words} words, K={self.topics}"


Job = Callable[[int], Array]  # given a seed, what was found: topics (K, V) or mixes (documents, K)


@dataclass(frozen=True)
class Measured:
    """Of each job by its name: least seconds by the clock and of processors, median quality."""

    seconds: Mapping[str, float]
    processor: Mapping[str, float]
    quality: Mapping[str, float]


def _measured(
    jobs: Mapping[str, Job], judge: Callable[[Array], float], repetitions: int
) -> Measured:
    """The jobs take turns; every turn has another seed."""
    results: dict[str, list[Array]] = defaultdict(list)

    def run(name: str) -> None:
        results[name].append(jobs[name](len(results[name])))

    least = least_processor_seconds([partial(run, name) for name in jobs], repetitions)
    quality = {name: float(np.median([judge(run) for run in results[name]])) for name in jobs}
    clock, processor = (dict(zip(jobs, times, strict=True)) for times in zip(*least, strict=True))
    return Measured(clock, processor, quality)


class Topics(Case):
    """Ours beside one peer at both of its settings."""

    peer: str

    @property
    def package(self) -> str:  # type: ignore[override]
        """The peer's package."""
        return self.peer

    @property
    def peer_title(self) -> str:
        """The peer's package and classes."""
        return f"{self.peer} {CALLED[self.peer]}"

    @property
    def optional(self) -> bool:  # type: ignore[override]
        """Whether the peer is not scikit-learn."""
        return self.peer != SKLEARN

    @abstractmethod
    def alone(self) -> None:
        """What a fresh process does whose memory is measured."""

    def compared(
        self,
        case: str,
        per: str,
        measured: Measured,
        ours: str,
        *,
        tokens: float,
        quality: str = QUALITY,
    ) -> Row:
        """tokens: that are read in what the seconds are of. The peer's rate is at its faster
        setting, and so is its quality; its processor seconds are those on one core, where all of
        them are this process's."""
        seconds, peer = measured.seconds[ours], self.peer
        one_core = measured.seconds[f"{peer}, one core"]
        every_core = measured.seconds.get(f"{peer}, every core", one_core)
        fastest = min(("one core", one_core), ("every core", every_core), key=lambda pair: pair[1])
        missing = peers.why_missing(GENSIM)
        return self.row(
            case,
            per,
            (seconds, every_core),
            (measured.quality[ours], measured.quality[f"{peer}, {fastest[0]}"]),
            self.alone,
            one_core,
            ratio_fastest=fastest[1] / seconds,
            ours_tokens_per_second=tokens / seconds,
            peer_tokens_per_second=tokens / fastest[1],
            ours_processor_seconds=measured.processor[ours],
            peer_processor_seconds=measured.processor[f"{peer}, one core"],
            quality=quality,
            left_out=[] if missing is None else [missing],
        )


# --- whole fits ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Setup:
    """Fits of some passes over a corpus in minibatches of some documents."""

    corpus: Corpus
    minibatch: int
    passes: int
    repetitions: int = 2


@dataclass(frozen=True)
class Fit(Topics):
    """A whole fit beside a peer's plain one. epsilon: of ours; ``None``: without noise."""

    setup: Setup
    peer: str
    epsilon: float | None = None

    def measure(self) -> Row:
        setup, corpus = self.setup, self.setup.corpus
        measured = _fits(setup, PRIVATE_EPSILON if self.epsilon is None else self.epsilon)
        title = "plain" if self.epsilon is None else f"private, epsilon {self.epsilon:g}"
        return self.compared(
            f"lda {corpus}, {setup.minibatch} a step, {title}",
            f"fit of {setup.passes} passes",
            measured,
            "plain" if self.epsilon is None else "private",
            tokens=setup.passes * float(corpus.bags[0].counts.sum()),
        )

    def alone(self) -> None:
        """Simulate and fit, one pass."""
        _ours(replace(self.setup, passes=1), self.epsilon, 0)


@cache
def _fits(setup: Setup, epsilon: float) -> Measured:
    """All sides, measured once for the rows of all peers; their inputs are made before."""
    matrix = setup.corpus.as_matrix
    jobs: dict[str, Job] = {
        "plain": partial(_ours, setup, None),
        "private": partial(_ours, setup, epsilon),
        **{
            f"{SKLEARN}, {cores}": partial(_sklearn_fit, setup, matrix, cores) for cores in SETTINGS
        },
    }
    if peers.why_missing(GENSIM) is None:
        documents = setup.corpus.as_lists
        jobs |= {
            f"{GENSIM}, {cores}": partial(_gensim_fit, setup, documents, cores)
            for cores in SETTINGS
        }
    return _measured(jobs, setup.corpus.perplexity, setup.repetitions)


def _ours(setup: Setup, epsilon: float | None, seed: int) -> Array:
    budget = None if epsilon is None else Privacy(epsilon=epsilon, delta=DELTA)
    fitted = fit(
        "lda",
        setup.corpus.sealed,
        privacy=budget,
        n_components=setup.corpus.topics,
        minibatch=setup.minibatch,
        epochs=setup.passes,
        delay=DELAY,
        forgetting=FORGETTING,
        start=seed,
        seed=None if budget is None else seed,
    )
    words: Array = fitted.parameters.probabilities
    return words


def _sklearn(corpus: Corpus, cores: str, **words: Any) -> Any:
    from sklearn.decomposition import LatentDirichletAllocation

    return LatentDirichletAllocation(
        corpus.topics,
        learning_method="online",
        doc_topic_prior=corpus.prior,
        topic_word_prior=corpus.prior,
        learning_offset=DELAY,
        learning_decay=FORGETTING,
        mean_change_tol=lda.TOLERANCE,
        max_doc_update_iter=ROUNDS,
        evaluate_every=-1,
        n_jobs=-1 if cores == "every core" else 1,
        **words,
    )


def _sklearn_fit(setup: Setup, matrix: Any, cores: str, seed: int) -> Array:
    """One ``partial_fit`` a pass: ``fit`` would go over all documents once more to score itself."""
    corpus = setup.corpus
    model = _sklearn(
        corpus,
        cores,
        batch_size=setup.minibatch,
        total_samples=corpus.documents,
        random_state=seed,
    )
    for _ in range(setup.passes):
        model.partial_fit(matrix)
    return _shares(model.components_)


def _gensim(corpus: Corpus, cores: str, documents: Any, minibatch: int = 1, **words: Any) -> Any:
    module = import_module("gensim.models")
    workers = threads.cores()
    chosen: dict[str, Any] = {"chunksize": minibatch}
    if cores == "every core":  # its workers' chunks together are one step
        chosen = {"workers": workers, "chunksize": max(1, minibatch // workers)}
    model_class = module.LdaMulticore if cores == "every core" else module.LdaModel
    return model_class(
        documents,
        num_topics=corpus.topics,
        id2word={i: f"w{i}" for i in range(corpus.words)},
        alpha="symmetric",
        eta=corpus.prior,
        offset=DELAY,
        decay=FORGETTING,
        gamma_threshold=lda.TOLERANCE,
        iterations=ROUNDS,
        eval_every=None,
        **chosen,
        **words,
    )


def _gensim_fit(setup: Setup, documents: Any, cores: str, seed: int) -> Array:
    model = _gensim(
        setup.corpus,
        cores,
        documents,
        setup.minibatch,
        passes=setup.passes,
        random_state=seed,
    )
    return _shares(model.get_topics())


def _shares(topics: Any) -> Array:
    whole = np.asarray(topics, dtype=float)
    return np.asarray(whole / whole.sum(axis=1, keepdims=True))


# --- the E step alone ----------------------------------------------------------------------------


@dataclass(frozen=True)
class EStep(Topics):
    """The mixes of all documents under topics that ours has found and all sides are given."""

    corpus: Corpus
    peer: str
    repetitions: int = 3

    def measure(self) -> Row:
        corpus = self.corpus
        return self.compared(
            f"lda {corpus}, topic mixtures of all documents",
            "E step",
            _e_steps(corpus, self.repetitions),
            "ours",
            tokens=float(corpus.bags[0].counts.sum()),
            quality="perplexity of the documents at the topic mixtures found, lower is better",
        )

    def alone(self) -> None:
        """Simulate, and find the mixes under evenly spread topics."""
        corpus = self.corpus
        start = lda.start(1, corpus.topics, corpus.words, 0)
        lda.mixes(corpus.bags[0], lda.expected(start)[0], corpus.prior)


@cache
def _e_steps(corpus: Corpus, repetitions: int) -> Measured:
    setup = Setup(corpus, max(1, corpus.documents // 10), 1)
    words = _ours(setup, None, 0)
    topics = lda.Topics((corpus.prior + words * corpus.bags[0].counts.sum() / corpus.topics)[None])
    models = _sklearn_given(corpus, topics)
    jobs: dict[str, Job] = {
        "ours": lambda _: lda.mixes(corpus.bags[0], lda.expected(topics)[0], corpus.prior),
        **{
            f"{SKLEARN}, {cores}": partial(_sklearn_mixes, corpus, models[cores])
            for cores in models
        },
    }
    if peers.why_missing(GENSIM) is None:
        model, documents = _gensim_given(corpus, topics), corpus.as_lists
        jobs[f"{GENSIM}, one core"] = lambda _: np.asarray(model.inference(documents)[0], float)
    return _measured(jobs, lambda mix: corpus.perplexity_at(mix, topics.words[0]), repetitions)


def _sklearn_given(corpus: Corpus, topics: lda.Topics) -> dict[str, Any]:
    models = {}
    for cores in SETTINGS:
        model = _sklearn(corpus, cores).partial_fit(corpus.as_matrix[:2])
        model.components_ = topics.concentration[0].astype(np.float32)
        model.exp_dirichlet_component_ = lda.expected(topics)[0].astype(np.float32)
        models[cores] = model
    return models


def _sklearn_mixes(corpus: Corpus, model: Any, _: int) -> Array:
    """Its shares, times what Dirichlet parameters of such a document add up to."""
    bags = corpus.bags[0]
    shares = np.asarray(model.transform(corpus.as_matrix), dtype=float)
    return np.asarray(shares * (bags.lengths + 1.0)[:, None])  # K priors of 1/K


def _gensim_given(corpus: Corpus, topics: lda.Topics) -> Any:
    model = _gensim(corpus, "one core", None, random_state=0)
    model.state.sstats = (topics.concentration[0] - corpus.prior).astype(np.float32)
    model.sync_state()
    return model


PRIVATE_EPSILON = 1.0
SMALL = Setup(Corpus(5_000, 2_000), minibatch=500, passes=2)
LARGE = Setup(Corpus(20_000, 5_000), minibatch=1_000, passes=1, repetitions=1)
CASES: tuple[EStep | Fit, ...] = (
    *(EStep(SMALL.corpus, peer) for peer in CALLED),
    *(
        Fit(setup, peer, epsilon)
        for setup in (SMALL, LARGE)
        for peer in CALLED
        for epsilon in (None, PRIVATE_EPSILON)
    ),
)
