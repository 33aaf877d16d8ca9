"""Learn in a real browser: a guess is remembered, a cover comes off and on, a sheet is printed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import wording
from studio.stage import wait_until_idle

from app.exercise_sheet import sheet
from app.learning import hundred_together
from app.site_lessons import path_html
from app.texts import learn as learn_texts
from app.texts import static as texts
from dpcore.privacy.guarantee import show_bound

COMPOSE = "3 · What does composition buy?"


def of(page: Any, title: str) -> Any:
    """The card of a lesson."""
    cards = page.locator("[data-testid=stVerticalBlock]").filter(has_text=title)
    return cards.last


def test_guess_then_see_then_back(new_page: Any, server: Any, visits: Any) -> None:
    """A guess opens the answer and the link; both are there when the reader comes back."""
    page = new_page()
    page.goto(f"{server(None)}/learn")
    of(page, COMPOSE).get_by_role("link", name="Look first").click()
    page.get_by_text(wording.HIDDEN_BY_LINK).wait_for(timeout=30_000)
    assert page.locator('[data-panel="curve"]').count() == 0
    page.get_by_role("link", name="Learn", exact=True).click()
    page.get_by_role("heading", name=learn_texts.TITLE).wait_for()
    wait_until_idle(page)  # a press while the page is still drawn can be lost
    of(page, COMPOSE).get_by_role("button", name=learn_texts.MY_GUESS).click()
    answer = f"ε = {show_bound(hundred_together())}"
    page.get_by_text(f"{answer}.").wait_for(timeout=30_000)
    page.wait_for_function("location.search.includes('guesses=')")
    kept = page.evaluate("location.href")
    wait_until_idle(page)
    of(page, COMPOSE).get_by_role("link", name="See it").click()
    page.locator('[data-live="promise"]', has_text=answer).wait_for(timeout=30_000)
    wait_until_idle(page)
    page.go_back()
    page.get_by_text("You said 1.6").wait_for(timeout=30_000)
    page.goto(kept)  # a new session, as on another machine
    page.get_by_text("You said 1.6").wait_for(timeout=30_000)
    assert visits.outside == []


def test_the_cover_comes_off_and_the_back_button_puts_it_on(page: Any, server: Any) -> None:
    page.goto(f"{server(None)}/?data=generated&made=200x2x2x1&hide=says,curve,odd")
    page.wait_for_selector('[data-panel="private"]', timeout=30_000)
    page.wait_for_function("!location.search.includes('odd')")
    assert page.locator('[data-live="sentence"]').count() == 0
    assert page.locator('[data-panel="curve"]').count() == 0
    page.wait_for_timeout(2500)  # until an old address is no longer taken for a late one
    page.get_by_role("button", name="Show it").click()
    page.wait_for_selector('[data-panel="curve"]', timeout=30_000)
    page.wait_for_selector('[data-live="sentence"]')
    page.wait_for_function("!location.search.includes('hide')")
    page.wait_for_timeout(2500)
    page.go_back()
    page.get_by_text(wording.HIDDEN_BY_LINK).wait_for(timeout=30_000)
    page.locator('[data-panel="curve"]').wait_for(state="detached")


def test_the_path_is_walked_with_the_hand_and_with_keys(new_page: Any, tmp_path: Path) -> None:
    """A mark is dragged, a curve drawn, the truth laid over it, and a sentence says how far off."""
    page = new_page()
    (tmp_path / "path.html").write_text(path_html(), encoding="utf-8")
    page.goto((tmp_path / "path.html").as_uri())
    truth = page.get_by_role("button", name="Show the truth")
    assert truth.is_disabled()
    value = page.locator(".dpp-dial output")
    before = value.inner_text()
    mark = page.locator(".dpp-mark").bounding_box()
    page.mouse.move(mark["x"] + 9, mark["y"] + 9)
    page.mouse.down()
    page.mouse.move(mark["x"] + 120, mark["y"] + 9, steps=4)
    page.mouse.up()
    assert float(value.inner_text()) < float(before), "wider noise, smaller epsilon"
    pad = page.locator(".dpp-pad")
    box = page.locator("[data-panel=guess] svg[role=group]").bounding_box()
    page.mouse.move(box["x"] + 2, box["y"] + 20)  # on the numbers of the axis, which stays as it is
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 2, box["y"] + 20, steps=12)
    page.mouse.up()
    dragged = value.inner_text()
    truth.click()
    told = page.locator(".dpp-told")
    page.locator(f".dpl[data-epsilon='{dragged}']").wait_for()  # the mark stays where it was left
    assert value.inner_text() == dragged
    assert re.match(r"You drew 9\d% where the truth is 5\d%", told.inner_text())
    page.reload()  # this tab keeps the screen, what was drawn and that it was compared
    assert re.match(r"You drew 9\d% where the truth is 5\d%", told.inner_text())
    assert page.locator(".dpp-done").count() == 1
    page.get_by_role("button", name="Next").click()
    assert page.url.endswith("#bet")
    assert told.inner_text() == ""
    for key in ("ArrowUp", *["ArrowRight"] * 25):
        pad.press(key)
    truth.click()
    assert "You drew 5" in told.inner_text()
    page.get_by_role("button", name="Present").click()
    large = "parseFloat(getComputedStyle(document.querySelector('.dpp')).fontSize)"
    assert page.evaluate(large) > 20
    assert not page.get_by_role("heading", level=1).is_visible()
    page.keyboard.press("ArrowRight")
    assert page.url.endswith("#sensitivity")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Escape")
    assert page.evaluate(large) < 16
    page.get_by_role("button", name="Back").click()
    assert "You drew 9" in told.inner_text(), "what was drawn stays"


@pytest.mark.parametrize(("solved", "most"), [(False, 6), (True, 7)])
def test_a_sheet_prints_on_few_pages(
    new_page: Any, tmp_path: Path, *, solved: bool, most: int
) -> None:
    page = new_page()
    (tmp_path / "sheet.html").write_text(sheet(solved=solved), encoding="utf-8")
    page.goto((tmp_path / "sheet.html").as_uri())
    printed = page.pdf(format="A4", prefer_css_page_size=True)
    assert 1 <= len(re.findall(rb"/Type\s*/Page\b", printed)) <= most
    page.emulate_media(media="print")
    assert not page.get_by_text(texts.PRINT).is_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
