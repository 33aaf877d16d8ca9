"""The collections of documents that come with the package, each with how to begin with it.

``catalogue.toml`` lists them. The bars are drawn; help texts are counts of words, in a file.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from dpcore.datasets.catalogue import CATALOGUE, BundledCorpus, entry
from dpcore.datasets.files import home
from dpcore.datasets.words import read_bags, read_vocabulary, vocabulary_path

if TYPE_CHECKING:
    from dpcore.wall.data.corpus import PrivateCorpus


def _bars(count: int) -> PrivateCorpus:
    from dpcore.datasets.bars import SIDE, WORDS, bar_documents
    from dpcore.schema import Image
    from dpcore.wall.data.corpus import PrivateCorpus, Vocabulary

    table = bar_documents(count, np.random.default_rng(2004))
    where, words = np.nonzero(table)
    starts = np.concatenate([[0], np.cumsum(np.bincount(where, minlength=len(table)))])
    vocabulary = Vocabulary(WORDS, title="Bars", image=Image(SIDE, SIDE))
    counts = table[where, words].astype(float)
    return PrivateCorpus.seal(starts, words, counts, vocabulary, open_to_all=True)


def _docstrings(words: int) -> PrivateCorpus:
    from dpcore.wall.data.corpus import PrivateCorpus, Vocabulary

    path = home() / "docstrings.npz"
    title = "Docstrings of scientific libraries"
    vocabulary = Vocabulary(read_vocabulary(vocabulary_path(path)), title=title)
    bags = read_bags(path, vocabulary.size)
    return PrivateCorpus.seal(*bags, vocabulary, open_to_all=True).with_first_words(words)


def _corpora() -> tuple[BundledCorpus, ...]:
    listed = []
    for name, facts in CATALOGUE["corpora"].items():
        bars = "bars" in name
        make = partial(_bars, facts["rows"]) if bars else partial(_docstrings, facts["features"])
        listed.append(BundledCorpus(name, **facts, make=make))
    return tuple(listed)


CORPORA = _corpora()


def corpora() -> tuple[BundledCorpus, ...]:
    """The listed collections.

    >>> [corpus.title for corpus in corpora()]
    ['Bars', 'Library help texts']
    """
    return tuple(corpus for corpus in CORPORA if corpus.listed)


def is_corpus(name: str) -> bool:
    """Whether a bundled name is one of documents."""
    return any(corpus.name == name for corpus in CORPORA)


def find_corpus(name: str) -> BundledCorpus:
    """The bundled collection of this name; InputError if there is none."""
    return entry(CORPORA, name, "bundled corpus")
