"""How topics are judged: by how well they foretell the words of documents, beside word frequencies.

Perplexity: the number of equally likely words that would be as hard to guess (Blei, Ng, Jordan
2003, section 7.1). A document's likelihood is an integral over its mix of topics, estimated by
importance sampling. On average the estimate is slightly below it, so perplexity is slightly too
high; for a single topic, which is the list of word frequencies, both are exact. The variational
bound would charge many topics heavily in short documents.

Document completion: from a random half of a document's words its mix of topics is found, and the
other half is foretold by it (Rosen-Zvi et al. 2004; Wallach et al. 2009, section 5; the formula is
that of Hoffman, Blei, Wang, Paisley 2013, section 4). Nothing is drawn for it but the halves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dpcore.arrays import Array, Mask
from dpcore.evaluation.alignment import matched
from dpcore.evaluation.yardstick import Scorer, Wording, Yardstick
from dpcore.fitting.api import fit_grid
from dpcore.models.topics.mathematics import (
    FINE,
    LONG,
    PIECE,
    Topics,
    log_likelihood,
    mixes,
    weights,
)
from dpcore.wall.data import Bags, PrivateCorpus
from dpcore.wall.statistics import reaches

COINS = 0  # seed of the halves of documents
PASSES = 40  # of the reference fit over all documents
RECOVERED = 0.5  # total variation distance up to which two topics are one


class TopicYardstick(Yardstick):
    """``test_perplexity`` of documents, ``test_completion_perplexity`` of halves of them, and both
    of all topics in one list: the fit's own word frequencies. Utility: log-likelihood per word, in
    nats.
    """

    wording = Wording(
        part="topic",
        parts="topics",
        simplest="a list of word frequencies",
        utility="log-likelihood per word (nats)",
        worth="log-likelihood per word",
    )
    alike = 0.99
    metrics = (
        "test_perplexity",
        "test_perplexity_word_frequencies",
        "test_completion_perplexity",
        "test_completion_perplexity_word_frequencies",
    )
    rival_words = (
        "minibatch", "rate", "iterations", "epochs", "length", "delay", "forgetting", "keep",
        "clip",
    )  # fmt: skip

    def converged(self, table: PrivateCorpus, parts: int, options: Mapping[str, Any]) -> Topics:
        """Our own variational Bayes without noise, on all documents in every step."""
        grid = fit_grid(
            "lda",
            table,
            privacy=None,
            n_components=parts,
            rate=1.0,
            iterations=PASSES,
            forgetting=1e-9,  # each step starts the sums anew
        )
        topics: Topics = grid.runs.final
        return topics

    def score(self, batch: Topics, scorer: Scorer) -> Array:
        return per_word(batch, scorer.rows, log_likelihood)

    def measure(self, batch: Topics, scorer: Scorer, metric: str) -> Array:
        if metric.endswith("_word_frequencies"):
            batch = Topics(batch.concentration.sum(axis=1, keepdims=True))
        if metric.startswith("test_completion_perplexity"):
            return np.asarray(np.exp(-self.foretold(batch, scorer)))
        return np.asarray(np.exp(-self.score(batch, scorer)))

    def foretold(self, batch: Topics, scorer: Scorer) -> Array:
        """Log-likelihood of a word of the unseen halves, given the seen ones, ``(B,)``, in nats."""
        visible, unseen = split_words(scorer.rows)
        tokens = max(1.0, float(unseen.counts.sum()))
        logs = [completion(visible, unseen, words).sum() for words in batch.words]
        return np.array(logs) / tokens

    def nothing(self, scorer: Scorer) -> float:
        """Every word of the vocabulary as likely as any other."""
        words: Any = scorer.public
        return -float(np.log(words.size))

    def nothing_by(self, scorer: Scorer, metric: str) -> float:
        """As many equally likely words as there are."""
        words: Any = scorer.public
        return float(words.size)

    def clipped_share(
        self, table: Any, options: Mapping[str, Any], clip: float, best: Topics, scorer: Scorer
    ) -> float:
        """At the best fit's topics, towards which the steps go."""
        bags, words = scorer.rows, best.words[0]
        if not bags.count:
            return 0.0
        near = weights(mixes(bags, words, 1.0 / len(words)))
        return float(np.mean(reaches(bags, words, near) > clip))

    def clipped_in_steps(
        self, clipping: Sequence[Any], settings: Any, clip: float, scorer: Scorer
    ) -> Array:
        """As :class:`Yardstick` says; clipping: how much of a word each topic has ``(K, V)``."""
        bags = scorer.rows
        if not bags.count:
            return np.zeros(len(clipping))
        shares = []
        for words in clipping:
            near = weights(mixes(bags, words, settings.prior))
            shares.append(np.mean(reaches(bags, words, near) > clip))
        return np.array(shares, dtype=float)

    def align(self, batch: Topics, reference: Topics) -> tuple[Topics, Mask]:
        """Topics matched by their distances; recovered: those that share more than half of
        their probability."""
        gaps = distances(batch, reference)
        order, runs = matched(gaps), np.arange(batch.runs)[:, None]
        aligned = Topics(batch.concentration[runs, order])
        places = np.arange(order.shape[1])
        return aligned, gaps[runs, order, places] <= RECOVERED


def per_word(batch: Topics, bags: Bags, of: Callable[[Bags, Array, float], Array]) -> Array:
    """Log-likelihood of a word ``(B,)``, in nats; ``of``: that of documents, by ``log_likelihood``
    or ``bound``. Priors of mixes are 1/K."""
    tokens = max(1.0, float(bags.counts.sum()))
    prior = 1.0 / batch.concentration.shape[1]
    return np.array([of(bags, words, prior).sum() / tokens for words in batch.words])


def split_words(bags: Bags) -> tuple[Bags, Bags]:
    """The same documents twice: with about half of their words, and with the rest of them.

    A fair coin for each word, the same at every call. What is less than one word is in the second.
    """
    coins = np.random.default_rng(COINS)
    drawn = coins.binomial(bags.counts.astype(np.int64), 0.5).astype(float)
    first, second = (
        Bags.of(bags.starts, bags.words, counts, bags.size)
        for counts in (drawn, bags.counts - drawn)
    )
    return first, second


def completion(visible: Bags, unseen: Bags, words: Array) -> Array:
    """Log-likelihood ``(m,)`` of each document's unseen words under topics ``words (K, V)``, at the
    mean of its mix given the seen ones. Priors of mixes are 1/K.
    """
    mix = mixes(visible, words, 1.0 / len(words), FINE, LONG)
    share = mix / mix.sum(axis=1, keepdims=True)
    by_word, logs = np.ascontiguousarray(words.T), np.zeros(unseen.count)
    for at, block in unseen.blocks(PIECE):
        chance = np.einsum("ek,ek->e", by_word[block.words], share[at][block.owner])
        score = block.counts * np.log(np.maximum(chance, 1e-300))
        logs[at] = np.bincount(block.owner, score, minlength=block.count)
    return logs


def distances(batch: Topics, reference: Topics) -> Array:
    """Total variation distance of every pair of topics ``(B, K, L)``; reference: a batch of one."""
    gaps = [
        np.abs(topics[:, None] - reference.words[0]).sum(axis=2) / 2.0 for topics in batch.words
    ]
    return np.stack(gaps)


YARDSTICK = TopicYardstick()
