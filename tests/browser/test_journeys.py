"""Journeys: four people with a mouse, then from a page to a budget, a drawer, a lesson without."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from studio.journeys import (
    COMMAND,
    Walk,
    lecturer,
    messy,
    newcomer,
    steward,
    student,
    table,
    walking,
)
from studio.latency import THUMB
from studio.path import walk_path
from studio.stage import wait_until_idle
from support import ROOT

from app.texts import learn as learn_texts
from dpcore.releases.dossier import verify
from dpcore.releases.ledger import BudgetLedger

FOCUSED = """() => {
  const node = document.activeElement;
  return node.ariaLabel || (node.tagName !== "MAIN" && node.innerText) || node.tagName;
}"""
SHOWN = """budget => document.querySelector('.dpl')?.dataset.epsilon === budget
  && document.querySelector('[data-live=guarantee]')?.innerText.includes(`epsilon = ${budget},`)"""
ALT = """(panel) => document.querySelector(`[data-panel="${panel}"] svg`).ariaLabel"""


@pytest.fixture
def walk(browser: Any, tmp_path: Path) -> Iterator[Walk]:
    """A way; its pictures lie in the test's folder, and nothing went wrong on any page of it."""
    with walking(tmp_path / "pictures", browser) as way:
        yield way
    print(table({"this way": way}))
    assert way.faults == []


def test_a_newcomer_comes_from_the_readme_to_a_changed_slider(walk: Walk) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    block = readme.split("<!-- run command -->")[1].split("```")[1]
    assert block.strip().endswith(f".venv/bin/{COMMAND}")
    at_once, first, held, little, much = newcomer(walk)
    assert first.epsilon == "1.00"
    assert "All three groups are found" in str(first.sentence)
    assert float(held.epsilon) < 0.2
    assert held.fits != first.fits
    assert little == held, "the page jumped when the slider was let go"
    assert "none of the three groups" in str(little.sentence)
    assert f"epsilon = {little.epsilon}," in str(little.promise)
    assert float(much.epsilon) > 5
    assert much.fits != little.fits
    tops = {round(one.top) for one in (at_once, first, held, little, much)}
    assert len(tops) == 1, "the pictures moved"
    assert walk.clicks == 2, "two drags make the point"


def test_a_lecturer_s_link_hides_the_answer_and_shows_the_same(walk: Walk, server: Any) -> None:
    asked, covered, shown = lecturer(walk, server(None))
    assert asked.epsilon == covered.epsilon == "0.500"
    assert "The paper says epsilon = 0.500" in str(asked.promise)
    assert None not in (asked.sentence, asked.promise)
    assert (covered.sentence, covered.promise) == (None, None)
    assert covered.fits == asked.fits
    assert covered.panels == asked.panels
    assert shown == asked
    (printed,) = walk.folder.glob("*.pdf")
    assert printed.read_bytes().startswith(b"%PDF")


@pytest.mark.full
def test_a_student_walks_the_path(walk: Walk, server: Any) -> None:
    """Every mark follows the hand, and every screen has a sentence about what was drawn."""
    passed = walk_path(walk, server(None))
    assert len(passed) == 9
    for screen in passed:
        assert screen.before != screen.after, screen.name
        assert screen.verdict.startswith("You drew "), screen.name


def test_a_student_walks_one_lesson(walk: Walk, server: Any) -> None:
    answer = student(walk, server(None))
    assert "You said 4." in answer
    assert re.search(r"\b([0-9]|1[0-3]) of 13\.", answer)


def test_a_steward_comes_from_an_upload_to_a_verified_release(
    walk: Walk, server: Any, tmp_path: Path
) -> None:
    """On a server that shows nothing computed from an upload."""
    env = {"DPCORE_LOCK_TRUTH": "1", "DPCORE_LEDGERS": str(tmp_path)}
    place = tmp_path / "steward.sqlite"
    path = steward(walk, server(None, env=env), place, place.name)
    assert 0.99 < verify(path, place)["epsilon"] <= 1.0
    dossier = json.loads(path.read_text(encoding="utf-8"))
    assert dossier["guarantee"]["unit"] == "patient"
    assert dossier["settings"]["chosen_on"] == "stand-in"
    assert len(BudgetLedger(place).state().releases) == 1


@pytest.mark.parametrize(
    ("kind", "features"),
    [
        pytest.param(
            "german",
            ["Alter", "Blutdruck", "Kosten", "Aufnahme"],
            marks=pytest.mark.alone,  # a click is lost now and then while other browsers are busy
        ),
        pytest.param("english", ["age", "sbp", "cost", "admitted"], marks=pytest.mark.full),
        pytest.param("persons", ["weight", "height"], marks=[pytest.mark.full, pytest.mark.alone]),
        pytest.param("million", ["x", "y"], marks=pytest.mark.full),
    ],
)
def test_a_table_that_nobody_prepared_comes_to_a_verified_release(
    walk: Walk, server: Any, kind: str, features: list[str]
) -> None:
    """Without a schema file: what the form proposes is confirmed, and limits are typed in."""
    place = walk.folder / "budget.sqlite"
    path = messy(walk, server(None), place, kind)
    assert 0.99 < verify(path, place)["epsilon"] <= 1.0
    dossier = json.loads(path.read_text(encoding="utf-8"))
    assert dossier["parameters"]["columns"] == features
    assert dossier["guarantee"]["delta"] == (1e-7 if kind == "million" else 1e-5)  # below 1 / rows
    assert ("of whose rows at most" in dossier["guarantee"]["sentence"]) == (kind == "persons")


@pytest.mark.full
def test_letters_in_a_zip_come_to_a_verified_release_of_topics(walk: Walk, server: Any) -> None:
    place = walk.folder / "budget.sqlite"
    path = messy(walk, server(None), place, "documents")
    assert 0.99 < verify(path, place)["epsilon"] <= 1.0
    dossier = json.loads(path.read_text(encoding="utf-8"))
    assert "replacing one author's document. Proved." in dossier["guarantee"]["sentence"]
    assert len(dossier["parameters"]["vocabulary"]) == 15


class Keyboard:
    """Keys pressed on a page, counted."""

    def __init__(self, page: Any) -> None:
        self.page, self.pressed, self.began = page, 0, time.monotonic()

    def press(self, key: str, times: int = 1) -> None:
        for _ in range(times):
            self.page.keyboard.press(key)
        self.pressed += times

    def on(self, name: str) -> bool:
        """Whether something of this name has the focus (an icon's name may stand beside it)."""
        return name in str(self.page.evaluate(FOCUSED)).splitlines()

    def reach(self, name: str, key: str = "Tab", most: int = 45) -> int:
        """Press a key until something of this name has the focus; how often it took."""
        for times in range(1, most + 1):
            self.press(key)
            if self.on(name):
                return times
        raise AssertionError(f"{name} is not reached by {most} times {key}")

    def told(self, journey: str) -> None:
        took = time.monotonic() - self.began
        print(f"{journey}: {self.pressed} keys, {took:.1f} s")


@pytest.fixture
def opened(page: Any, server: Any) -> Keyboard:
    """The first screen, just opened."""
    page.goto(server(None))
    page.wait_for_selector(".dpl[data-step]", timeout=30_000)
    wait_until_idle(page)
    return Keyboard(page)


def numbers(alt: str) -> list[str]:
    """The decimals of an alt text but its first, the budget."""
    return re.findall(r"\d+\.\d+", alt)[1:]


def test_budget_and_drawer_without_a_mouse(opened: Keyboard) -> None:
    keys, page = opened, opened.page
    keys.press("Tab")
    assert keys.on("Skip to main content")
    keys.press("Enter")
    assert keys.reach("Privacy budget ε") <= 12
    before = page.evaluate(ALT, "private")
    assert "epsilon 1.00" in before
    keys.press("ArrowLeft", 3)
    page.wait_for_function("document.querySelector('.dpl').dataset.epsilon === '0.710'")
    after = page.evaluate(ALT, "private")
    assert "epsilon 0.710" in after
    assert numbers(after) != numbers(before), "the alt text carries numbers that do not move"
    page.wait_for_function("location.search.includes('epsilon=0.71')")
    assert keys.on("Privacy budget ε"), "the slider lost the focus"

    keys.reach("Compose", "Shift+Tab")
    keys.press("Enter")
    page.wait_for_selector(".dpl [data-bar]", state="attached")
    wait_until_idle(page)
    keys.reach("What is released")
    keys.press("Enter")
    page.get_by_test_id("stPopoverBody").wait_for()
    keys.reach("δ in total")
    assert page.evaluate("!!document.activeElement.closest('[data-testid=stPopoverBody]')")
    keys.press("Escape")
    page.get_by_test_id("stPopoverBody").wait_for(state="detached")
    assert keys.on("What is released"), "the focus is lost when the drawer closes"
    keys.told("From the first screen to a drawer of Compose")


def test_a_lesson_without_a_mouse(opened: Keyboard) -> None:
    keys, page = opened, opened.page
    keys.reach("Learn")
    keys.press("Enter")
    page.get_by_text(learn_texts.TITLE).wait_for()
    wait_until_idle(page)
    keys.reach("Your guess")
    keys.press("ArrowLeft", 2)
    page.wait_for_function("document.activeElement.ariaValueText === '4'")
    keys.reach(learn_texts.MY_GUESS)
    keys.press("Enter")
    page.get_by_text("You said 4").wait_for()
    wait_until_idle(page)
    while not page.evaluate("document.activeElement.dataset.testid === 'stPageLink-NavLink'"):
        keys.press("Tab")
        assert keys.pressed < 100, "the lesson's link is not reached"
    keys.press("Enter")
    page.wait_for_url(lambda url: "/learn" not in url, timeout=30_000)
    page.wait_for_selector(".dpl[data-step]", timeout=30_000)
    keys.told("From the first screen through a lesson and back")


@pytest.mark.alone
@pytest.mark.full
def test_ten_readers_at_once_see_their_own_numbers(new_page: Any, server: Any) -> None:
    """Ten links on one server: each page shows its own budget, and follows its own slider."""
    budgets = ["0.100", "0.200", "0.400", "0.500", "0.710", "1.00", "2.00", "4.00", "10.0", "20.0"]
    url, began = server(None), time.monotonic()
    pages = [new_page() for _ in budgets]
    for page, budget in zip(pages, budgets, strict=True):
        page.goto(f"{url}/?epsilon={float(budget)}", wait_until="commit")
    for page, budget in zip(pages, budgets, strict=True):
        page.wait_for_function(SHOWN, arg=budget, timeout=60_000)
    opened = time.monotonic() - began
    for page in pages:
        page.locator(THUMB).first.press("ArrowLeft")
    pressed = time.monotonic()
    for page, budget in zip(pages, budgets, strict=True):
        page.wait_for_function(
            "was => Number(document.querySelector('.dpl')?.dataset.epsilon) < Number(was)",
            arg=budget,
        )
        page.wait_for_function(
            "() => Math.abs(new URLSearchParams(location.search).get('epsilon')"
            " - document.querySelector('.dpl').dataset.epsilon) < 1e-6",
            timeout=20_000,
        )
    answered = time.monotonic() - pressed
    lower = [
        float(page.evaluate("document.querySelector('.dpl').dataset.epsilon")) for page in pages
    ]
    assert lower == sorted(set(lower)), "two readers see the same budget"
    assert all(now < float(was) for now, was in zip(lower, budgets, strict=True))
    print(f"Ten sessions: all shown after {opened:.1f} s, all answered after {answered:.1f} s")
    assert answered < 15
