"""How topics are judged: by how well they foretell the words of documents, beside word frequencies.

Perplexity: the number of equally likely words that would be as hard to guess (Blei, Ng, Jordan
2003, section 7.1). A document's likelihood is bounded from below, so perplexity from above; for a
single topic, which is the list of word frequencies, both are exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from dpcore.evaluation.yardstick import Scorer, Wording
from dpcore.fitting.api import fit_grid
from dpcore.models.lda import Topics, log_likelihood, mixes, weights
from dpcore.wall.corpus import PrivateCorpus
from dpcore.wall.documents import reaches

Array = NDArray[np.float64]

PASSES = 40  # of the reference fit over all documents
FOUND = 0.5  # total variation distance up to which two topics are one


class TopicYardstick:
    """``test_perplexity`` of documents, and that of all topics in one list: the fit's own word
    frequencies. Utility: log-likelihood per word, in nats.
    """

    wording = Wording(
        part="topic",
        parts="topics",
        simplest="a list of word frequencies",
        utility="log-likelihood of a word (nats)",
        worth="log-likelihood of a word",
    )
    simplest = 1
    alike = 0.99
    metrics = ("test_perplexity", "test_perplexity_word_frequencies")
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
        found: Topics = grid.runs.final
        return found

    def score(self, batch: Topics, scorer: Scorer) -> Array:
        tokens = max(1.0, float(scorer.rows.counts.sum()))
        prior = 1.0 / batch.concentration.shape[1]
        return np.array(
            [log_likelihood(scorer.rows, words, prior).sum() / tokens for words in batch.words]
        )

    def measure(self, batch: Topics, scorer: Scorer, metric: str) -> Array:
        if metric == "test_perplexity_word_frequencies":
            batch = Topics(batch.concentration.sum(axis=1, keepdims=True))
        return np.asarray(np.exp(-self.score(batch, scorer)))

    def nothing(self, scorer: Scorer) -> float:
        """Every word of the vocabulary as likely as any other."""
        words: Any = scorer.public
        return -float(np.log(words.size))

    def moved_share(self, best: Topics, scorer: Scorer, clip: float) -> float:
        """At the best fit's topics, towards which the steps go."""
        bags, words = scorer.rows, best.words[0]
        if not bags.count:
            return 0.0
        near = weights(mixes(bags, words, 1.0 / len(words)))
        return float(np.mean(reaches(bags, words, near) > clip))

    def align(self, batch: Topics, reference: Topics) -> tuple[Topics, NDArray[np.bool_]]:
        """Topics matched by their distances; found: more than half of the probability is shared."""
        return align(batch, reference)


def distances(batch: Topics, reference: Topics) -> Array:
    """Total variation distance of every pair of topics ``(B, K, L)``; reference: a batch of one."""
    gaps = [np.abs(one[:, None] - reference.words[0]).sum(axis=2) / 2.0 for one in batch.words]
    return np.stack(gaps)


def align(batch: Topics, reference: Topics) -> tuple[Topics, NDArray[np.bool_]]:
    """B sets of topics in the order of one reference (a batch of one), and which are found."""
    gaps = distances(batch, reference)
    order = np.stack([linear_sum_assignment(table.T)[1] for table in gaps])
    runs = np.arange(batch.runs)[:, None]
    aligned = Topics(batch.concentration[runs, order])
    places = np.arange(order.shape[1])
    return aligned, gaps[runs, order, places] <= FOUND


YARDSTICK = TopicYardstick()
