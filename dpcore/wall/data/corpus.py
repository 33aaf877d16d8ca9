"""A private corpus: documents under seal, together with the public vocabulary they are counted in.

Nothing here prints, counts, iterates or pickles documents. They leave only through a door, with
noise, or through the custodian's exit, marked as such.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

from dpcore.arrays import Array, Indices
from dpcore.checks import rows_of_one, whole
from dpcore.errors import InputError
from dpcore.schema import Column, Image, Schema
from dpcore.wall.data.sources import Opening, a_share
from dpcore.wall.data.word_counts import Bags
from dpcore.wall.noise import PublicCoins
from dpcore.wall.table import Sealed

MOST_WORDS = 200_000


@dataclass(frozen=True)
class Vocabulary:
    """What is public about a corpus.

    words: those that are counted; all others are left out. unit: whose document is protected.
    rows_per_person: how many documents one of them can have. rehearsal: the words were read off
    the documents, so nothing is proved. image: the picture whose pixels the words are, row after
    row. column: of a table, the name of the one that holds the texts.
    """

    words: tuple[str, ...]
    unit: str = "author"
    rows_per_person: int = 1
    rehearsal: bool = False
    title: str | None = None
    image: Image | None = None
    column: str = field(default="text", repr=False)
    thing: ClassVar[str] = "document"
    person: ClassVar[None] = None  # no column says whose a document is
    equal_weight: ClassVar[bool] = False
    target: ClassVar[None] = None  # documents have neither
    label: ClassVar[None] = None

    def __post_init__(self) -> None:
        rows_of_one(self.rows_per_person)
        if not 0 < len(self.words) <= MOST_WORDS:
            raise InputError(
                "vocabulary",
                f"it has no words or more than {MOST_WORDS:,}",
                f"give 1 to {MOST_WORDS:,} words, one per line",
            )
        if not all(isinstance(word, str) for word in self.words):
            raise InputError("vocabulary", "a word is not a text", "give texts, such as 'people'")
        if len(set(self.words)) < len(self.words):
            raise InputError("vocabulary", "a word is listed twice", "list every word once")

    @property
    def size(self) -> int:
        """How many words are counted."""
        return len(self.words)

    @property
    def dim(self) -> int:
        """The same, as a table's columns are counted."""
        return len(self.words)

    @property
    def names(self) -> tuple[str, ...]:
        """The same words, as a table's columns are named."""
        return self.words

    @property
    def table(self) -> Schema:
        """The schema of a table of such documents, one text a row."""
        texts = Column(self.column, type="text")
        return Schema(
            (texts,), unit=self.unit, rows_per_person=self.rows_per_person, title=self.title
        )

    def cut(self, size: int) -> Vocabulary:
        """The first words alone."""
        words = self.words[: whole("words", size)]
        return replace(self, words=words, image=self.image if words == self.words else None)


class PrivateCorpus(Sealed):
    """Documents of one corpus, sealed. Make one with ``dpcore.load_documents``.

    ``schema``: the vocabulary and whatever else is public.
    """

    __slots__ = ("_bags",)

    kind = "corpus"
    things = "documents"
    maker = "load_documents(...)"

    _bags: Bags
    schema: Vocabulary

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
        """Seal documents ``words[starts[d]:starts[d + 1]]``; see :meth:`Bags.of` for odd ones.

        starts: ``(documents + 1,)``. words, counts: one of each distinct word of a document.
        """
        bags = Bags.of(starts, words, counts, vocabulary.size)
        return cls._made(bags, vocabulary, open_to_all, is_part)

    @classmethod
    def _made(cls, bags: Bags, vocabulary: Vocabulary, open_to_all: bool, is_part: bool) -> Self:
        corpus = object.__new__(cls)
        corpus._bags, corpus.schema = bags, vocabulary
        corpus.open_to_all, corpus.is_part = open_to_all, is_part
        return corpus

    @property
    def _count(self) -> int:
        return self._bags.count

    def with_first_words(self, size: int) -> PrivateCorpus:
        """The same documents in the first words of the vocabulary: a public map of each alone."""
        vocabulary = self.schema.cut(size)
        return self._made(
            self._bags.cut(vocabulary.size), vocabulary, self.open_to_all, self.is_part
        )

    def _part(self, positions: Indices) -> Self:
        return self._made(self._bags.take(positions), self.schema, self.open_to_all, self.is_part)


class Documents:
    """Documents of one corpus. length: how many words each stands for; ``None``: as many as it has.

    clip: radius of the ball that a document is drawn into, as a share of the length; without
    privacy (unless ``as_private``) a document stands for as many words as it has. resample: a
    document becomes so many words drawn from it, as published, and is not just scaled.
    """

    def __init__(
        self, corpus: PrivateCorpus, opening: Opening, *, length: int = 500, resample: bool = False
    ) -> None:
        if opening.adjacency not in ("replace_one", "add_remove"):
            raise InputError(
                "adjacency", "documents have no labels", "choose replace_one or add_remove"
            )
        opening.demand_whole(corpus, "documents", "one")
        self.public: Vocabulary = corpus.schema
        self.length = length if opening.filled else None
        unclipped = math.isinf(opening.clip) and not opening.private
        self.radius = math.inf
        if not unclipped:
            self.radius = length * a_share(opening.clip, "a document's length")
        self._bags = corpus._bags
        if resample:
            coins = PublicCoins(0) if opening.noise is None else opening.noise.coins[0]
            self._bags = self._bags.resampled(length, coins)

    @property
    def _count(self) -> int:
        return self._bags.count
