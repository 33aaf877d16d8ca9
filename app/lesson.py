"""A question of the Learn page: what is asked, what may be guessed, and how its answer is found."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from urllib.parse import urlencode

import numpy as np

from dpcore.figures.model_plot import brief


@cache
def sections(file: str) -> dict[str, list[str]]:
    """Title and paragraphs of every section of a text file of the app, by the section's name."""
    text = files("app").joinpath(file).read_text(encoding="utf-8")
    parts: dict[str, list[str]] = {}
    for part in text.split("\n## ")[1:]:
        heading, *paragraphs = part.strip().split("\n\n")
        name, _, title = heading.partition(": ")
        parts[name] = [title, *(paragraph.replace("\n", " ") for paragraph in paragraphs)]
    return parts


@dataclass(frozen=True)
class Lesson:
    """One question; its words stand in ``lessons.md``.

    options: what may be guessed. answer: works out the number. written: the number in words [three
    figures]; a bound is rounded up. others: the other numbers, worked out. page: where it can be
    tried out [nowhere: it is arithmetic]. look: the link to it before the guess, which hides the
    answer. query: the link afterwards, which shows it.
    """

    name: str
    options: tuple[float, ...]
    answer: Callable[[], float]
    written: Callable[[float], str] = brief
    others: Callable[[], Mapping[str, str]] = dict
    page: str = ""
    look: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)

    @property
    def words(self) -> list[str]:
        """Title, question, hint and answer."""
        return sections("lessons.md")[self.name]

    @property
    def title(self) -> str:
        """What it is about, as a question."""
        return self.words[0]

    @property
    def ask(self) -> str:
        """What is asked, in a sentence or two."""
        return self.words[1]

    @property
    def hint(self) -> str:
        """How one may begin."""
        return self.words[2].removeprefix("Hint: ")

    @property
    def teaching(self) -> str:
        """What the answer teaches, and why another answer is plausible, with ``{}`` for the number
        and names for others."""
        return self.words[3]

    def nearest(self, truth: float) -> float:
        """The option that is the answer, on the scale of the options."""
        return min(self.options, key=lambda option: abs(np.log1p(option) - np.log1p(truth)))

    def explained(self) -> str:
        """The answer in words."""
        return self.teaching.format(self.written(self.answer()), **self.others())

    def state(self, query: Mapping[str, str]) -> str:
        """A link as ``dpcore explore "..."`` takes it, on any machine; Explore opens first."""
        page = "" if self.page == "explore" else self.page
        return f"{page}?{urlencode(query, safe=',')}"
