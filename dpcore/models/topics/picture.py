"""The portrait of topics: how likely each word is in each, private beside exact.

The words are rows of one table, the topics its columns, and each exact topic's top words stand
together; where the words are cells of a small picture, topics are pictures. Under a topic stands
how much of its probability it shares with the exact one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcore.figures.parts import Parts, drawing
from dpcore.figures.portrait import Drawing, Portrait, Subject
from dpcore.models.topics.mathematics import Topics

Array = NDArray[np.float64]

WORDS = 30  # rows of the table, about
LEAST = 2  # of each topic


def draw(subject: Subject) -> Drawing:
    """Exact topics beside private ones; no documents and no other draws."""
    truth, private = _words(subject.exact)[0], _words(subject.private)[:, 0]
    vocabulary: Any = subject.public
    return drawing(
        Parts(
            exact=truth,
            private=private,
            label="probability of a word",
            part="topic",
            columns=vocabulary.words,
            verb="is about",
            likeness=np.minimum(private, truth).sum(axis=1) + 0.0 * private.sum(axis=1),
            note="{:.0%} shared",
            alike="shares {:.0%} with the exact one",
            column="word",
            above=True,
            rows=by_topic(truth),
        ),
        subject.image,
    )


def by_topic(words: Array) -> tuple[int, ...]:
    """The top words ``(V, K)`` of each topic, each in the topic where it is likeliest, the
    likeliest first.

    >>> by_topic(np.array([[0.1, 0.6], [0.7, 0.3], [0.2, 0.1]]))
    (1, 2, 0)
    """
    own, most = words.argmax(axis=1), words.max(axis=1)
    each = max(LEAST, WORDS // words.shape[1])
    order = np.argsort(-most, kind="stable")
    return tuple(int(v) for k in range(words.shape[1]) for v in order[own[order] == k][:each])


def _words(topics: Topics) -> Array:
    """Probability of each word in each topic ``(..., V, K)``."""
    total = topics.concentration.sum(axis=-1, keepdims=True)
    return np.asarray(np.swapaxes(topics.concentration / total, -1, -2))


PORTRAIT: Portrait = draw
