"""Behind the Learn page: lessons that ask for a guess first, then work the answer out."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from urllib.parse import urlencode

import numpy as np

from app.composing import Line
from app.scenario import Scenario, opening
from dpcore.accounting import calibrate, compose, epsilon_of, guess_rate, mu_of
from dpcore.datasets.load import load
from dpcore.evaluation.factors import sight
from dpcore.evaluation.study import budget_grid, references
from dpcore.figures.portrait import said
from dpcore.fitting.api import fit
from dpcore.papers.results import record_of
from dpcore.privacy import Event, Gaussian, Privacy
from dpcore.privacy.guarantee import show_bound
from dpcore.registry import PAPERS
from dpcore.wall.clip import PublicFrame

DELTA = 1e-5
TERMS = "Every ε: δ = 0.00001, one person's (or one image's) row replaced."


@dataclass(frozen=True)
class Lesson:
    """One question.

    ask: what is asked, in a sentence or two. options: what may be guessed. page: where it can be
    tried out. look: the link to it before the guess, which hides the answer. query: the link
    afterwards, which shows it. answer: works out the number. told: what the answer teaches, with
    ``{}`` for the number. written: the number in words [three figures]; a bound is rounded up.
    """

    name: str
    title: str
    ask: str
    options: tuple[float, ...]
    page: str
    look: Mapping[str, str]
    query: Mapping[str, str]
    answer: Callable[[], float]
    told: str
    written: Callable[[float], str] = said

    def nearest(self, truth: float) -> float:
        """The option that is the answer, on the scale of the options."""
        return min(self.options, key=lambda one: abs(np.log1p(one) - np.log1p(truth)))

    def explained(self) -> str:
        """The answer in words."""
        return self.told.format(self.written(self.answer()))

    def state(self, query: Mapping[str, str]) -> str:
        """A link as ``dpcore explore "..."`` takes it, on any machine; Explore opens first."""
        page = "" if self.page == "explore" else self.page
        return f"{page}?{urlencode(query, safe=',')}"


@cache
def groups_found() -> float:
    """In how many of 13 draws all three groups are found at epsilon 0.5."""
    table, setting = load("bundled:three_groups"), Scenario().setting()
    known = references(table, setting)
    grid = budget_grid(table, setting, known.converged, (0.5,), range(13))
    return float(grid.found[0].all(axis=1).sum())


NOISE = 30.75  # of one release; a test holds it to what epsilon 0.1 needs


@cache
def hundred_together() -> float:
    """Exact epsilon of a hundred Gaussians of epsilon 0.1 each."""
    each = Event(Gaussian(NOISE))
    return float(compose([replace(each, count=100)], "exact", delta=DELTA).epsilon)


@cache
def attacker_at_one() -> float:
    """Right guesses in 100 of the best attacker at epsilon 1."""
    noise = float(calibrate([Event(Gaussian(1.0))], 1.0, DELTA))
    return 100.0 * float(guess_rate([Event(Gaussian(noise))]))


@cache
def ten_times_the_people() -> float:
    """The epsilon that gives with ten times the rows what 1 gives: a tenth of the noise."""
    return float(epsilon_of(DELTA, mu_of(1.0, DELTA) / 10.0))


@cache
def a_face_shows() -> float:
    """From which epsilon the first factor of the simulated faces can show."""
    scenario = opening("faces_like")
    table = load("bundled:faces_like").pooled(scenario.pool)
    setting = scenario.setting()
    known = references(table, setting)
    assert table.schema is not None  # it comes with one
    public = PublicFrame.of(table.schema)
    return sight(setting, public, 2_000, known.converged).each[0]


@cache
def really_paid() -> float:
    """What is proved of a published fit that claims epsilon 1."""
    privacy = Privacy(epsilon=1.0, delta=DELTA, mode="paper", accountant="zcdp")
    found = fit("gmm", load("bundled:three_groups"), privacy=privacy, seed=0, iterations=5)
    return float(found.guarantee.epsilon or np.nan)


LESSONS = (
    Lesson(
        "hide",
        "What does ε hide?",
        "Three groups among 5,000 people, looked for privately thirteen times at ε = 0.5, each "
        "time with other noise. In how many of the thirteen are all three groups found?",
        tuple(range(14)),
        "explore",
        {"epsilon": "0.5", "hide": "says"},
        {"epsilon": "0.5"},
        groups_found,
        "**{} of 13.** Noise does not shrink a group, it moves it: whether a group survives is a "
        "matter of luck in between, and certain only at both ends. Drag and watch the faint draws.",
    ),
    Lesson(
        "attack",
        "What does ε promise?",
        "A release with ε = 1 and δ = 0.00001. Somebody knows every row but yours, and two "
        "candidates for it. How often, of 100 guesses, is the best possible attacker right?",
        tuple(range(50, 101, 2)),
        "attack",
        {"epsilon": "1", "hide": "says,hits,ruler"},
        {"epsilon": "1"},
        attacker_at_one,
        "**At most {} times in 100**, where a coin is right 50 times. No cleverness and no "
        "computer changes that: it is a property of the noise.",
        lambda truth: f"{math.ceil(truth)}",
    ),
    Lesson(
        "compose",
        "What does composition buy?",
        "A hundred releases about the same people, each with ε = 0.1. Added up they cost 10. What "
        "do they cost together, counted exactly?",
        (0.1, 0.2, 0.5, 0.8, 1.2, 1.6, 2, 3, 5, 7, 10),
        "compose",
        {"k": "1", "lines": str(Line(noise=NOISE)), "hide": "k,says,curve,more"},
        {"lines": str(Line(noise=NOISE))},
        hundred_together,
        "**ε = {}.** Independent noises partly cancel: cost grows about with the square root of "
        "the number of releases, not with the number. What counting well buys is the difference: "
        "for the same noise a far smaller price, or for the same price far less noise.",
        show_bound,
    ),
    Lesson(
        "people",
        "What do more people buy?",
        "5,000 people and ε = 1 give a picture you like. Now 50,000 people are asked. Which ε "
        "gives as good a picture?",
        (0.01, 0.02, 0.05, 0.08, 0.1, 0.2, 0.3, 0.5, 0.8, 1),
        "explore",
        {"data": "generated", "made": "5000x2x3x0"},
        {"data": "generated", "made": "50000x2x3x0", "epsilon": "0.081"},
        ten_times_the_people,
        "**About ε = {}.** Noise hides one person, however many there are; among ten times as "
        "many it is a tenth as loud.",
    ),
    Lesson(
        "claims",
        "Is the printed ε the true one?",
        "A published way of fitting a mixture claims ε = 1. Its noise is what it is. Which ε can "
        "be proved of that very noise, counted exactly with the true sensitivities?",
        (0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1, 1.5, 2, 3),
        "explore",
        {"method": "dpem_gaussian", "count_by": "zcdp", "hide": "says,promise"},
        {"method": "dpem_gaussian", "count_by": "zcdp"},
        really_paid,
        "**ε = {}.** Loose sensitivities and loose counting charge for noise that is already "
        "there; the same budget, well counted, buys a far better picture. Some papers err the "
        "other way: see the exhibits on Attack.",
        show_bound,
    ),
    Lesson(
        "face",
        "When can anything be seen at all?",
        "Two thousand simulated faces, 64 pixels each. Below some ε the noise drowns even the "
        "strongest way in which they differ. Where is it?",
        (0.05, 0.1, 0.2, 0.4, 0.7, 1, 2, 4, 8, 16),
        "explore",
        {"data": "faces_like", "model": "fa", "hide": "says,curve"},
        {"data": "faces_like", "model": "fa"},
        a_face_shows,
        "**From about ε = {} on it can show**; near the line luck decides. A direction shows once "
        "it is stronger than what noise makes of 64 by 64 numbers at random. Fewer pixels, or more "
        "people, move the line.",
    ),
)


def lesson(name: str) -> Lesson:
    """The lesson of a name."""
    return next(one for one in LESSONS if one.name == name)


def question(page: str, hide: str, data: str | None = None) -> int | None:
    """The number of the lesson whose look hides these words on a page (on this table), if any.

    >>> question("attack", "says,hits,ruler"), question("explore", "says", "iris")
    (2, None)
    """
    for number, one in enumerate(LESSONS, start=1):
        table = one.look.get("data", Scenario.data)
        if (one.page, one.look.get("hide")) == (page, hide) and data in (None, table):
            return number
    return None


def read_guesses(text: str) -> dict[str, float]:
    """Guesses as an address carries them; what is odd is left out.

    >>> read_guesses("hide:4,attack:60,odd:x")
    {'hide': 4.0, 'attack': 60.0}
    """
    known = {one.name: one for one in LESSONS}
    found = {}
    for part in text.split(","):
        name, _, number = part.partition(":")
        try:
            value = float(number)
        except ValueError:
            continue
        if name in known and value in known[name].options:
            found[name] = value
    return found


def write_guesses(guesses: Mapping[str, float]) -> str:
    """The same as one word."""
    return ",".join(f"{name}:{value:g}" for name, value in guesses.items())


@cache
def figures() -> dict[str, str]:
    """Every regenerated figure and table of the papers: name -> title."""
    return {name: str(record_of(name)["title"]) for name in PAPERS}


DOCUMENTS = {
    "which-composition": ("Which composition should I use?", "One table: your question, the way."),
    "glossary": ("Glossary", "Every word of the screen, in plain ones."),
    "methods": ("Methods", "Claim, proof and evidence of every model."),
    "accounting": ("How costs are counted", "The theorem behind each way of counting."),
    "printed-figures": ("Printed privacy figures", "What papers print, and what is true."),
    "security": ("What the promise rests on", "What to believe before believing an epsilon."),
    "stewards": ("For data stewards", "From public limits to a release that can be checked."),
    "results": ("Measured results", "Speed and usefulness, with command, date and machine."),
    "extending": ("Adding a model, accountant or page", "One file and one line, shown on a model."),
    "changelog": ("Changelog", "What changed, and when."),
}
NOTEBOOKS = {
    "01_what_epsilon_means": "the attacker who guesses, and how often the guess is right",
    "02_composition": "what many releases cost together, counted in five ways",
    "03_private_em_from_scratch": "the algorithm in 40 lines, then the same by `dp.fit`",
    "04_clipping_and_subsampling": "two dials that decide what noise is worth",
    "05_release_and_audit": "what leaves for good, and whether to believe it",
    "dp_em": "DP-EM (2017): every figure and table, ours beside it",
    "vips": "VIPS (2020): every figure and table, ours beside it",
    "gradient_em": "robust gradient EM (2023): every figure, ours beside it",
    "labelled_mixtures": "labelled mixtures (2025): every figure, ours beside it",
}


def document(name: str) -> str:
    """The text of a page of ``app/docs``, to stand inside another page: headings are smaller, and
    pages that it links to, which are all on the same list, are only named.
    """
    text = files("app").joinpath(f"docs/{name}.md").read_text(encoding="utf-8")
    parts = text.split("```")  # every second one is code
    for i in range(0, len(parts), 2):
        unlinked = re.sub(r"\[([^\]]+)\]\((?!https?:)[^)]+\)", r"*\1*", parts[i])
        parts[i] = re.sub(r"^#(?=#* )", "####", unlinked, flags=re.MULTILINE)
    return "```".join(parts)


def notebooks() -> str:
    """The notebooks as a list."""
    return "\n".join(f"- `{name}`: {about}" for name, about in NOTEBOOKS.items())
