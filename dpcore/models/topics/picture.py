"""The portrait of topics: each a list of its likeliest words, private beside exact.

Words that both fits list stand bold, and beside a topic how many do. Where the words are cells of
a small picture, topics are pictures, each with the share of its probability in the exact one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dpcore.arrays import Array
from dpcore.figures.component_images import Parts, drawing, ranked_drawing
from dpcore.figures.model_plot import Drawing, Portrait, Subject
from dpcore.models.topics.mathematics import Topics


def draw(subject: Subject) -> Drawing:
    """Exact topics beside private ones; no documents and no other draws."""
    truth, private = _words(subject.exact)[0], _words(subject.private)[:, 0]
    vocabulary: Any = subject.public
    parts = Parts(
        exact=truth,
        private=private,
        label="probability of a word",
        part="topic",
        columns=vocabulary.words,
        verb="is about",
        likeness=np.minimum(private, truth).sum(axis=1) + 0.0 * private.sum(axis=1),
        note="{:.0%} shared",
        alike="shares {:.0%} of its probability with the exact one",
        above=True,
    )
    if subject.image is None:
        return ranked_drawing(parts, outlines=subject.outlines)
    return drawing(parts, subject.image)


def _words(topics: Topics) -> Array:
    """Probability of each word in each topic ``(..., V, K)``."""
    total = topics.concentration.sum(axis=-1, keepdims=True)
    return np.asarray(np.swapaxes(topics.concentration / total, -1, -2))


PORTRAIT: Portrait = draw
