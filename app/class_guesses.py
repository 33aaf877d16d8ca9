"""Guesses of a class: kept under a code that its lecturer chooses, without names, in memory alone.

A seat stands for a session; it has one guess a question. Nothing is written to disk, and a class
that guesses no more is forgotten.
"""

from __future__ import annotations

import math
import re
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from html import escape
from statistics import median_low
from threading import Lock
from time import monotonic

from app.lesson import Lesson
from app.texts import learn as texts
from dpcore.errors import InputError
from dpcore.figures.model_plot import brief

CODES, SEATS = 50, 300  # kept at most: classes, and guesses of each question in one
HOURS = 6  # after its last guess until a class is forgotten
HIGHEST = 60  # dots on one another, at most
LABELS = 9  # below the dots, at most


def code_of(text: str) -> str:
    """A class code as it is kept.

    >>> code_of(" Stats 7 ")
    'stats-7'

    Raises InputError for a text that is none.
    """
    code = "-".join(text.lower().split())
    if not re.fullmatch(r"[a-z0-9-]{3,24}", code):
        raise InputError("class code", *texts.CODE_ERROR)
    return code


@dataclass
class _Class:
    """Guesses by question and seat, and when the last one was made."""

    guesses: dict[str, dict[str, float]] = field(default_factory=dict)
    last: float = 0.0


class GuessBook:
    """Guesses of all classes. Beyond `CODES`, the class that was looked at least recently goes."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock, self._lock = clock, Lock()
        self._classes: OrderedDict[str, _Class] = OrderedDict()

    def put(self, code: str, seat: str, question: str, guess: float) -> bool:
        """Keep a guess in place of the seat's former one; False where the question is full."""
        with self._lock:
            existing = self._find(code)
            of_class = _Class() if existing is None else existing
            seats = of_class.guesses.setdefault(question, {})
            if seat not in seats and len(seats) >= SEATS:
                return False
            seats[seat], of_class.last = guess, self._clock()
            self._classes[code] = of_class
            while len(self._classes) > CODES:
                self._classes.popitem(last=False)
            return True

    def guesses(self, code: str) -> dict[str, list[float]]:
        """What was guessed in a class, by question."""
        with self._lock:
            existing = self._find(code)
            questions = {} if existing is None else existing.guesses
            return {name: list(seats.values()) for name, seats in questions.items()}

    def _find(self, code: str) -> _Class | None:
        since = self._clock() - 3600.0 * HOURS
        for name in [name for name, of_class in self._classes.items() if of_class.last < since]:
            del self._classes[name]
        if code in self._classes:
            self._classes.move_to_end(code)
        return self._classes.get(code)


@cache
def book() -> GuessBook:
    """That of this process."""
    return GuessBook()


def dot_plot(lesson: Lesson, guesses: list[float], own: float | None) -> str:
    """A dot for each guess, above its option, with the answer marked, as HTML.

    own: the reader's guess, whose option is framed.
    """
    if not guesses:
        return f'<p class="dp-dots-told">{texts.NO_GUESS}</p>'
    piles, right = Counter(guesses), lesson.nearest(lesson.answer())
    per_dot = math.ceil(max(piles.values()) / HIGHEST)
    median = brief(median_low(guesses))
    sentence = texts.class_guesses(len(guesses), piles[right], brief(right), median)
    sentence += f" {texts.FRAMED}" if own in piles else ""
    sentence += f" {texts.per_dot(per_dot)}" if per_dot > 1 else ""
    counts = "; ".join(
        f"{brief(option)}: {piles[option]}" for option in lesson.options if piles[option]
    )
    alt = f"Dot plot of guesses by option, {len(guesses)} in all. {counts}. Answer: {brief(right)}."
    columns = ""
    for option, label in _labelled(lesson.options, right).items():
        marks = "dp-right " * (option == right) + "dp-own" * (option == own)
        dots = "<i></i>" * math.ceil(piles[option] / per_dot)
        columns += f'<div class="{marks}"><p>{dots}</p><span>{label}</span></div>'
    return (
        f'<div class="dp-dots" role="img" aria-label="{escape(alt)}">{columns}</div>'
        f'<p class="dp-dots-told">{sentence}</p>'
    )


def _labelled(options: tuple[float, ...], right: float) -> Mapping[float, str]:
    """Options with their labels: that of the answer, and as many others as there is room for."""
    step, place = math.ceil(len(options) / LABELS), options.index(right)
    return {
        option: brief(option) if i == place or (i % step == 0 and abs(i - place) >= step) else ""
        for i, option in enumerate(options)
    }
