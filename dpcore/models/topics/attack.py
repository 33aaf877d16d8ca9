"""The neighbouring tables on which fits of topics are attacked."""

from __future__ import annotations

import numpy as np

from dpcore.auditing.fits import FitAttack, Pair
from dpcore.auditing.neighbours import CROWD_IN_STEPS, both
from dpcore.wall.data import PrivateCorpus, Vocabulary


def _documents(adjacency: str) -> Pair:
    """One word again and again, among documents of another (or among empty ones)."""
    vocabulary = Vocabulary(("alpha", "beta", "gamma"))
    crowd = 0.0 if adjacency == "add_remove" else 500.0

    def corpus(first: int | None) -> PrivateCorpus:
        words = np.zeros(CROWD_IN_STEPS + 1, dtype=np.intp)
        counts = np.full(CROWD_IN_STEPS + 1, crowd)
        if first is not None:
            words[0], counts[0] = first, 500.0
        starts = np.arange(CROWD_IN_STEPS + 2)
        if first is None:
            words, counts, starts = words[1:], counts[1:], starts[:-1]
        return PrivateCorpus.seal(starts, words, counts, vocabulary, open_to_all=True)

    first = corpus(None if adjacency == "add_remove" else 0)
    return Pair(
        first,
        corpus(1),
        "one document that repeats one word, present or absent; all others are empty"
        if adjacency == "add_remove"
        else "one document that repeats the word of all other documents or another word",
    )


LDA = FitAttack(
    "lda",
    "topics of documents",
    _documents,
    both("wbk27"),
    {"n_components": 2, "rate": 1.0, "iterations": 1},
    runs=500,
)
