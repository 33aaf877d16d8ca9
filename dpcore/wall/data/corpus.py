"""A private corpus: documents under seal, together with the public vocabulary they are counted in.

Nothing here prints, counts, iterates or pickles documents. They leave only through a door, with
noise, or through the custodian's exit, marked as such.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, NoReturn

import numpy as np
from numpy.typing import NDArray

from dpcore.checks import rows_of_one, whole
from dpcore.errors import InputError, WallError
from dpcore.schema import Image
from dpcore.wall.data.word_counts import Bags
from dpcore.wall.table import PrivateTable, divided, locked

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

MOST_WORDS = 200_000


@dataclass(frozen=True)
class Vocabulary:
    """What is public about a corpus.

    words: those that are counted; all others are left out. unit: whose document is protected.
    rows_per_person: how many documents one of them can have. rehearsal: the words were read off
    the documents, so nothing is proved. image: the picture whose pixels the words are, row after
    row.
    """

    words: tuple[str, ...]
    unit: str = "author"
    rows_per_person: int = 1
    rehearsal: bool = False
    title: str | None = None
    image: Image | None = None
    thing: ClassVar[str] = "document"
    person: ClassVar[None] = None  # no column says whose a document is
    target: ClassVar[None] = None  # documents have neither
    label: ClassVar[None] = None

    def __post_init__(self) -> None:
        rows_of_one(self.rows_per_person)
        if not 0 < len(self.words) <= MOST_WORDS:
            raise InputError(
                "vocabulary",
                f"it has no words or more than {MOST_WORDS:,}",
                "give one word per line, the most important words first",
            )
        if len(set(self.words)) < len(self.words):
            raise InputError("vocabulary", "a word is listed twice", "list every word once")

    @property
    def size(self) -> int:
        return len(self.words)

    @property
    def dim(self) -> int:
        """The same, as a table's columns are counted."""
        return len(self.words)

    @property
    def names(self) -> tuple[str, ...]:
        """The same words, as a table's columns are named."""
        return self.words

    def cut(self, size: int) -> Vocabulary:
        """The first words alone."""
        words = self.words[: whole("words", size)]
        return replace(self, words=words, image=self.image if words == self.words else None)


class PrivateCorpus:
    """Documents of one corpus, sealed. Make one with ``dpcore.datasets.documents``.

    ``schema``: the vocabulary and whatever else is public. ``open_to_all``: the documents are
    simulated or published, so no lock applies to them. ``is_part``: which documents are here was
    chosen by their places.
    """

    __slots__ = ("_bags", "is_part", "open_to_all", "schema")

    _bags: Bags
    is_part: bool
    open_to_all: bool
    schema: Vocabulary

    def __init__(self) -> None:
        raise WallError("a private corpus is made by load_documents(...)")

    @classmethod
    def seal(
        cls,
        starts: Indices,
        words: Indices,
        counts: Array,
        vocabulary: Vocabulary,
        *,
        open_to_all: bool = False,
        is_part: bool = False,
    ) -> PrivateCorpus:
        """Seal documents ``words[starts[d]:starts[d + 1]]``; see :meth:`Bags.of` for odd ones."""
        bags = Bags.of(starts, words, counts, vocabulary.size)
        return cls._made(bags, vocabulary, open_to_all, is_part)

    @classmethod
    def _made(
        cls, bags: Bags, vocabulary: Vocabulary, open_to_all: bool, is_part: bool
    ) -> PrivateCorpus:
        corpus = object.__new__(cls)
        corpus._bags, corpus.schema = bags, vocabulary
        corpus.open_to_all, corpus.is_part = open_to_all, is_part
        return corpus

    def demand_open(self) -> None:
        """Raise WallError where exact values, or noise that can be drawn again, are locked."""
        if locked() and not self.open_to_all:
            raise WallError(
                "exact values and rehearsals are locked on this server (DPCORE_LOCK_TRUTH)"
            )

    def with_first_words(self, size: int) -> PrivateCorpus:
        """The same documents in the first words of the vocabulary: a public map of each alone."""
        vocabulary = self.schema.cut(size)
        return self._made(
            self._bags.cut(vocabulary.size), vocabulary, self.open_to_all, self.is_part
        )

    def split(
        self, fraction: float, seed: int, adjacency: str = "replace_one"
    ) -> tuple[PrivateCorpus, PrivateCorpus]:
        """Two disjoint corpora: (rest, ``fraction`` of the documents), chosen by public coins, as
        those of a table are.
        """
        rest, part = map(self._part, divided(self._bags.count, fraction, seed, adjacency))
        rest.is_part = part.is_part = True
        return rest, part

    def neighbour(self, position: int, adjacency: str) -> PrivateCorpus:
        """A neighbouring corpus: one document replaced by a copy of the next, or absent. Raises
        WallError where exact values are locked."""
        self.demand_open()
        order = np.arange(self._bags.count)
        if adjacency == "add_remove":
            return self._part(np.delete(order, position))
        order[position] = order[(position + 1) % len(order)]
        return self._part(order)

    def _part(self, positions: Indices) -> PrivateCorpus:
        return self._made(self._bags.take(positions), self.schema, self.open_to_all, self.is_part)

    def __repr__(self) -> str:
        return "PrivateCorpus(sealed)"

    def __reduce__(self) -> NoReturn:
        raise WallError("a private corpus is not pickled: its documents would leave the wall")

    def __iter__(self) -> NoReturn:
        raise WallError("a private corpus is not iterated: measure it through a door")

    def __len__(self) -> NoReturn:
        raise WallError("the number of documents is private unless the adjacency says otherwise")


def demand_loaded(table: object) -> None:
    """Raise InputError for rows or documents that nothing seals."""
    if not isinstance(table, PrivateTable | PrivateCorpus):
        raise InputError(
            "table",
            f"it is a {type(table).__name__} that has not been loaded",
            "load it first, with its limits: dpcore.load(table, schema=...)",
        )
