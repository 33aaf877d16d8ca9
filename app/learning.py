"""Behind the Learn page: lessons that ask for a guess first, then work the answer out."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files

import numpy as np

from app.composing import Line
from app.exercises import EXERCISES
from app.lesson import Lesson
from app.links import Reader, among
from app.scenario import Scenario, opening
from app.tables import data_of
from app.texts import learn as texts
from dpcore.accounting import compose, epsilon_of, guess_rate, mu_of
from dpcore.datasets.catalogue import find
from dpcore.datasets.load import load
from dpcore.evaluation.study import EPSILONS, BudgetGrid, Setting, budget_grid, references
from dpcore.figures.model_plot import brief
from dpcore.fitting.api import fit
from dpcore.models.factor_analysis.mathematics import Factors
from dpcore.models.factor_analysis.scoring import sight
from dpcore.models.gaussian_mixture.mathematics import Mixture
from dpcore.papers.results import record_of
from dpcore.privacy import EpsilonDelta, Event, Gaussian, Laplace, Privacy
from dpcore.privacy.events import Mechanism
from dpcore.privacy.guarantee import show_bound
from dpcore.registry import PAPERS
from dpcore.wall.data.clipping import PublicFrame
from dpcore.wall.table import PrivateTable

DELTA = 1e-5
DRAWS = range(13)  # what Explore shows of one budget


@cache
def _three_groups() -> tuple[BudgetGrid, Mixture]:
    """Thirteen fits of three groups at epsilon 0.1, those that Explore shows, and the exact one."""
    table, setting = fitted_on_explore(Scenario())
    exact = references(table, setting).converged
    return budget_grid(table, setting, exact, (0.1,), DRAWS), exact


def fitted_on_explore(scenario: Scenario) -> tuple[PrivateTable, Setting]:
    """The rows of a bundled table that Explore fits, and its setting."""
    data = data_of(scenario)
    assert data is not None  # it comes with the package
    return data.table, scenario.setting(data.secret)


def groups_found() -> float:
    """In how many of 13 draws all three groups are found at epsilon 0.1."""
    grid, _ = _three_groups()
    return float(grid.recovered[0].all(axis=1).sum())


def areas() -> dict[str, str]:
    """10% and 90% quantiles of the areas of private ellipses at epsilon 0.1, relative to the exact
    ones."""
    grid, exact = _three_groups()
    shares = np.sqrt(np.linalg.det(grid.fits.covariances[0]) / np.linalg.det(exact.covariances))
    narrow, wide = np.quantile(shares, [0.1, 0.9])
    return {"narrow": f"{narrow:.1f}", "wide": f"{wide:.1f}"}


@cache
def attacker_at_one() -> float:
    """Right guesses in 100 of the best attacker on Gaussian noise of epsilon 1."""
    return _right(Gaussian(1.0 / float(mu_of(1.0, DELTA))))


def attackers_elsewhere() -> dict[str, str]:
    """The same for other mechanisms of epsilon 1, and for whichever is worst."""
    others = {"any": _right(EpsilonDelta(1.0, DELTA)), "laplace": _right(Laplace(1.0))}
    return {name: f"{right:.0f}" for name, right in others.items()}


def _right(mechanism: Mechanism) -> float:
    return 100.0 * float(guess_rate([Event(mechanism)]))


NOISE = 30.75  # of one release; a test holds it to what epsilon 0.1 needs


@cache
def hundred_together() -> float:
    """Exact epsilon of a hundred Gaussians of epsilon 0.1 each."""
    return _hundred(Gaussian(NOISE), "exact")


@cache
def hundreds_of_others() -> dict[str, str]:
    """Epsilon of a hundred other mechanisms of epsilon 0.1 each, delta 0."""
    laplace, worst = _hundred(Laplace(10.0), "pld"), _hundred(EpsilonDelta(0.1, 0.0), "kov")
    return {"laplace": show_bound(laplace), "any": show_bound(worst)}


def _hundred(mechanism: Mechanism, accountant: str) -> float:
    return float(compose([Event(mechanism, count=100)], accountant, delta=DELTA).epsilon)


@cache
def ten_times_the_people() -> float:
    """The epsilon of ten times the Gaussian noise that epsilon 1 needs."""
    return _tenth(DELTA)


def smaller_delta() -> dict[str, str]:
    """The same where delta falls with the number of people."""
    return {"smaller": brief(_tenth(DELTA / 10.0))}


def _tenth(delta: float) -> float:
    return float(epsilon_of(delta, mu_of(1.0, DELTA) / 10.0))


@cache
def really_paid() -> float:
    """What is proved of a published fit that claims epsilon 1."""
    privacy = Privacy(epsilon=1.0, delta=DELTA, mode="paper", accountant="zcdp")
    (model, *_), table = find("three_groups").models, load("bundled:three_groups")
    published = fit(model, table, privacy=privacy, seed=0, iterations=5)
    return float(published.guarantee.epsilon or np.nan)


RELEASES, PRINTED = 35, 28.99  # of that fit as it is printed: how many, and the noise multiplier


def only_counted_better() -> dict[str, str]:
    """The same with the printed sensitivities, counted exactly."""
    events = [Event(Gaussian(PRINTED), count=RELEASES)]
    return {"counted": show_bound(float(compose(events, "exact", delta=DELTA).epsilon))}


FACES = 1_581  # images that Explore fits; a test holds it to them


@cache
def _faces() -> tuple[PrivateTable, Setting, Factors]:
    table, setting = fitted_on_explore(opening("faces_like"))
    setting = replace(setting, words=(("ball", "limits"),))
    return table, setting, references(table, setting).converged


@cache
def a_face_is_found(clip: float = 1.0) -> float:
    """From which budget of Explore's slider on most of 13 draws find the strongest factor.

    clip: to this share of the public limits.
    """
    table, setting, exact = _faces()
    low, high = 0.2 * clip * _trace(), 5.0 * clip * _trace()  # below none is found
    near = tuple(e for e in EPSILONS if low <= e <= high)
    grid = budget_grid(table, replace(setting, clip=clip), exact, near, DRAWS)
    seldom = np.flatnonzero(grid.recovered[:, :, 0].mean(axis=1) <= 0.5)
    return near[int(seldom[-1]) + 1]


@cache
def _trace() -> float:
    """The epsilon below which noise leaves no trace of that factor."""
    table, setting, exact = _faces()
    assert table.schema is not None  # it comes with one
    return sight(setting, PublicFrame.of(table.schema), FACES, exact)[0]


CLIPPED = 0.3  # of the public limits, in the other answer


def a_face_can_show() -> dict[str, str]:
    """The threshold of theory, and from where it is found in clipped faces, in words."""
    return {"trace": brief(_trace()), "clipped": brief(a_face_is_found(CLIPPED))}


LESSONS = (
    Lesson(
        "hide",
        (*range(10), 11, 13),
        groups_found,
        others=areas,
        page="explore",
        look={"epsilon": "0.1", "hide": "says"},
        query={"epsilon": "0.1"},
    ),
    Lesson(
        "attack",
        tuple(range(50, 101, 2)),
        attacker_at_one,
        lambda truth: f"{math.ceil(truth)}",
        attackers_elsewhere,
        page="attack",
        look={"epsilon": "1", "hide": "says,hits,ruler"},
        query={"epsilon": "1"},
    ),
    Lesson(
        "compose",
        (0.1, 0.2, 0.5, 0.8, 1.2, 1.6, 2, 3, 5, 7, 10),
        hundred_together,
        show_bound,
        hundreds_of_others,
        page="compose",
        look={"k": "1", "lines": str(Line(noise=NOISE)), "hide": "k,says,curve,more"},
        query={"lines": str(Line(noise=NOISE))},
    ),
    Lesson(
        "people",
        (0.01, 0.02, 0.05, 0.08, 0.1, 0.2, 0.3, 0.5, 0.8, 1),
        ten_times_the_people,
        others=smaller_delta,
        page="explore",
        look={"data": "generated", "made": "5000x2x3x0"},
        query={"data": "generated", "made": "50000x2x3x0", "epsilon": "0.081"},
    ),
    Lesson(
        "claims",
        (0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1, 1.5, 2, 3),
        really_paid,
        show_bound,
        only_counted_better,
        page="explore",
        look={"method": "dpem_gaussian", "count_by": "zcdp", "hide": "says,promise"},
        query={"method": "dpem_gaussian", "count_by": "zcdp"},
    ),
    Lesson(
        "face",
        (0.05, 0.1, 0.2, 0.4, 0.7, 1, 1.5, 2, 4, 8, 16),
        a_face_is_found,
        others=a_face_can_show,
        page="explore",
        look={
            "data": "faces_like",
            "words": "ball:limits",
            "epsilon": "1.0",
            "hide": "says,curve",
        },
        query={"data": "faces_like", "words": "ball:limits", "epsilon": "2.0"},
    ),
    *EXERCISES,
)


def lesson(name: str) -> Lesson:
    """The lesson of a name."""
    return next(candidate for candidate in LESSONS if candidate.name == name)


def question(page: str, hide: str, data: str | None = None) -> int | None:
    """The number of the lesson whose look hides these words on a page (on this table), if any.

    >>> question("attack", "says,hits,ruler"), question("explore", "says", "iris")
    (2, None)
    """
    for number, candidate in enumerate(LESSONS, start=1):
        table = candidate.look.get("data", Scenario.data)
        if (candidate.page, candidate.look.get("hide")) == (page, hide) and data in (None, table):
            return number
    return None


def read_guesses(text: str) -> dict[str, float]:
    """Guesses as an address carries them; what is odd is left out.

    >>> read_guesses("hide:4,attack:60,odd:x")
    {'hide': 4.0, 'attack': 60.0}
    """
    by_name = {candidate.name: candidate for candidate in LESSONS}
    guesses = {}
    for part in text.split(","):
        name, _, number = part.partition(":")
        try:
            value = float(number)
        except ValueError:
            continue
        if name in by_name and value in by_name[name].options:
            guesses[name] = value
    return guesses


def _guesses(text: str) -> dict[str, float]:
    guesses = read_guesses(text)
    if len(guesses) < len([part for part in text.split(",") if part]):
        raise ValueError(text)
    return guesses


READERS: dict[str, Reader] = {  # of a link
    "guesses": _guesses,
    "figure": among(PAPERS),
    "read": among(texts.DOCUMENTS),
}


def write_guesses(guesses: Mapping[str, float]) -> str:
    """The same as one word."""
    return ",".join(f"{name}:{value:g}" for name, value in guesses.items())


@cache
def figures() -> dict[str, str]:
    """Every regenerated figure and table of the papers: name -> title."""
    return {name: str(record_of(name)["title"]) for name in PAPERS}


def document(name: str) -> str:
    """The text of a page of ``app/docs``, to stand inside another page: headings are smaller, links
    to other pages of the list open them on Learn, and other files are only named.
    """
    text = files("app").joinpath(f"docs/{name}.md").read_text(encoding="utf-8")
    parts = text.split("```")  # every second one is code
    for i in range(0, len(parts), 2):
        linked = re.sub(r"\[([^\]]+)\]\((?!https?:)([^)#]*)(#[^)]+)?\)", _link, parts[i])
        parts[i] = re.sub(r"^#(?=#* )", "####", linked, flags=re.MULTILINE)
    return "```".join(parts)


def _link(written: re.Match[str]) -> str:
    words, file, section = written[1], written[2], written[3] or ""
    name = file.removesuffix(".md")
    if file and (name == file or name not in texts.DOCUMENTS):
        return f"*{words}*"
    return f"[{words}]({f'?read={name}' if file else ''}{section})"


def notebooks() -> str:
    """The notebooks as a list."""
    return "\n".join(f"- `{name}`: {about}" for name, about in texts.NOTEBOOKS.items())
