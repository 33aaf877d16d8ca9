"""The collections of documents that come with the package, each with how to begin with it.

The bars are drawn; help texts are counts of words, in a file.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from dpcore.checks import choose
from dpcore.datasets.catalogue import Opening
from dpcore.errors import InputError

if TYPE_CHECKING:
    from dpcore.wall.data.corpus import PrivateCorpus

FEW, HELP_WORDS = 1_000, 300
FORGETTING = ("forgetting", 0.3)  # few steps: an early one must not weigh long


@dataclass(frozen=True)
class BundledCorpus:
    """One bundled collection and how to begin with it.

    rows: documents. features: words that are counted. provenance: ``"simulated"`` or ``"public"``.
    openings: as of a table. listed: whether :func:`corpora` shows it; ``bundled:NAME`` loads it
    either way.
    """

    name: str
    title: str
    story: str
    rows: int
    features: int
    provenance: str
    openings: tuple[Opening, ...]
    make: Callable[[], PrivateCorpus]
    listed: bool = True

    @property
    def models(self) -> tuple[str, ...]:
        """The models that suit it, best first."""
        return tuple(opening.model for opening in self.openings)


def _bars(count: int | None = None) -> PrivateCorpus:
    from dpcore.datasets.bars import DOCUMENTS, SIDE, WORDS, bar_documents
    from dpcore.schema import Image
    from dpcore.wall.data.corpus import PrivateCorpus, Vocabulary

    table = bar_documents(count or DOCUMENTS, rng=np.random.default_rng(2004))
    where, words = np.nonzero(table)
    starts = np.concatenate([[0], np.cumsum(np.bincount(where, minlength=len(table)))])
    vocabulary = Vocabulary(WORDS, title="Bars", image=Image(SIDE, SIDE))
    counts = table[where, words].astype(float)
    return PrivateCorpus.seal(starts, words, counts, vocabulary, open_to_all=True)


def _docstrings() -> PrivateCorpus:
    from dpcore.datasets.catalogue import home
    from dpcore.datasets.documents import load_documents

    corpus = load_documents(home() / "docstrings.npz")
    corpus.schema = replace(corpus.schema, title="Docstrings of scientific libraries")
    corpus.open_to_all = True
    return corpus


CORPORA = (
    BundledCorpus(
        "few_bars",
        "Bars",
        "Simulated documents of a hundred words; a word is a pixel, and a topic a bar of five "
        "pixels.",
        rows=FEW,
        features=25,
        provenance="simulated",
        openings=(
            Opening("lda", 10, iterations=8, words=(("rate", 1.0), ("length", 100), FORGETTING)),
        ),
        make=lambda: _bars(FEW),
    ),
    BundledCorpus(
        "help_texts",
        "Library help texts",
        "What the authors of scientific libraries wrote to explain their code.",
        rows=4_909,
        features=HELP_WORDS,
        provenance="public",
        openings=(
            Opening("lda", 5, iterations=5, words=(("rate", 1.0), ("length", 100), FORGETTING)),
        ),
        make=lambda: _docstrings().with_first_words(HELP_WORDS),
    ),
    BundledCorpus(
        "bars", "Bars", "The same, with five times as many documents.", 5_000, 25, "simulated",
        (Opening("lda", 10),), _bars, listed=False,
    ),
    BundledCorpus(
        "docstrings", "Docstrings of scientific libraries", "The same, with a list of 2,000 "
            "words.", 4_909,
        2_000, "public", (Opening("lda", 20),), _docstrings, listed=False,
    ),
)  # fmt: skip


def corpora() -> tuple[BundledCorpus, ...]:
    """The listed collections.

    >>> [one.title for one in corpora()]
    ['Bars', 'Library help texts']
    """
    return tuple(one for one in CORPORA if one.listed)


def is_corpus(name: str) -> bool:
    """Whether a bundled name is one of documents."""
    return any(one.name == name for one in CORPORA)


def find_corpus(name: str) -> BundledCorpus:
    """The bundled collection of this name; InputError if there is none."""
    for one in CORPORA:
        if one.name == name:
            return one
    known = [one.name for one in CORPORA]
    raise InputError("data", f"{name!r} is not a bundled corpus", choose(name, known))
