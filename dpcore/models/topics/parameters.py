"""What a topic fit found: each topic's words with their probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcore.arrays import Array
from dpcore.fitting.result_table import Table
from dpcore.models.topics.mathematics import Topics, top_words
from dpcore.wall.data import Vocabulary

if TYPE_CHECKING:
    import pandas as pd


TOP = 10  # words that stand for a topic
TOKENS = 100  # of a synthetic document
SURE = 1e-6  # share of the prior by which a word must exceed it


@dataclass(frozen=True)
class TopicParameters:
    """K topics, largest first: ``probabilities (K, V)``, each row adds up to 1.

    columns: the vocabulary. mass ``(K,)``: how many words, prior included, each topic was found
    from; of a private fit, after noise.
    """

    columns: tuple[str, ...]
    probabilities: Array
    mass: Array

    @classmethod
    def from_batch(cls, topics: Topics, run: int, public: Vocabulary) -> TopicParameters:
        """One run of a batch."""
        mass = topics.concentration[run].sum(axis=1)
        order = np.argsort(-mass, kind="stable")
        return cls(public.words, topics.words[run][order], mass[order])

    def in_units(self, public: Any) -> Topics:
        """The same as a batch of one."""
        return Topics((self.probabilities * self.mass[:, None])[None])

    def top(self, count: int = TOP) -> tuple[tuple[str, ...], ...]:
        """The most likely words of each topic, most likely first.

        Words that a topic has by its prior alone are left out: those that were not kept are never
        named.
        """
        prior = 1.0 / len(self.mass)
        above_prior = self.probabilities * self.mass[:, None] > prior * (1.0 + SURE)
        return tuple(
            tuple(self.columns[word] for word in topic if own[word])
            for topic, own in zip(top_words(self.probabilities, count), above_prior, strict=True)
        )

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "vocabulary": list(self.columns),
            "top_words": [list(words) for words in self.top()],
            "shares": (self.mass / self.mass.sum()).tolist(),
            "mass": self.mass.tolist(),
            "topics": self.probabilities.tolist(),
        }

    def sample(self, count: int, rng: np.random.Generator) -> pd.DataFrame:
        """Synthetic documents, one text a row: words drawn from a mix of topics, without order."""
        import pandas as pd

        topics = len(self.mass)
        texts = []
        for mix in rng.dirichlet(np.full(topics, 1.0 / topics), size=count):
            shares = mix @ self.probabilities
            words = rng.choice(len(self.columns), size=TOKENS, p=shares / shares.sum())
            texts.append(" ".join(self.columns[word] for word in words))
        return pd.DataFrame({"text": texts})


def result_table(record: dict[str, Any]) -> Table:
    """A line for each topic: its share and its words."""
    parameters = record["parameters"]
    lines: list[dict[str, Any]] = [
        {"topic": str(k + 1), "share": f"{share:.1%}", "most likely words": ", ".join(words)}
        for k, (share, words) in enumerate(
            zip(parameters["shares"], parameters["top_words"], strict=True)
        )
    ]
    return (
        "Each topic: its share of all words, and the words that are most likely in it "
        f"(--json has all {len(parameters['vocabulary'])}).",
        lines,
    )
