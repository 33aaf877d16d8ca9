"""In front of a class: one card at a time, on paper, on a phone, and everybody's guesses."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from studio.stage import wait_until_still

from app.texts import learn as learn_texts

SMALL = "data=generated&made=200x2x2x1"
PANELS = """() => [...document.querySelectorAll(".dpl-card")]
  .filter((card) => card.checkVisibility()).map((card) => card.dataset.panel)"""
CLEAR = """() => {
  const at = (what) => document.querySelector(what).getBoundingClientRect();
  return at(".st-key-epsilon_step").bottom <= at(".dp-says").top;
}"""
LARGE = "parseFloat(getComputedStyle(document.documentElement).fontSize)"


def drawn(page: Any, address: str) -> Any:
    page.goto(address)
    page.wait_for_selector(".dpl[data-step]", timeout=60_000)
    wait_until_still(page)
    return page


def test_one_card_at_a_time_in_large_type(page: Any, server: Callable[..., str]) -> None:
    drawn(page, f"{server(None)}/?{SMALL}&present=1")
    assert page.evaluate(PANELS) == ["exact", "private"], "which share their axes"
    assert "present" not in page.evaluate("location.search")
    assert page.evaluate(LARGE) >= 20
    assert page.locator(".dp-says").first.is_visible()
    slider = page.locator(".st-key-epsilon_step input[type=range]")
    before = slider.get_attribute("aria-valuetext")
    slider.press("ArrowLeft")
    assert page.evaluate(PANELS) == ["exact", "private"], "arrows on a slider move it"
    assert slider.get_attribute("aria-valuetext") != before
    slider.press("PageDown")
    assert page.evaluate(PANELS) == ["curve"]
    box = page.locator('[data-panel="curve"]').bounding_box()
    assert box["width"] > 1000
    assert 400 < box["height"] < 900
    for hidden in (page.get_by_role("button", name="New noise"), page.locator("header")):
        assert not hidden.first.is_visible()
    page.get_by_role("button", name="Previous card").click()
    assert page.evaluate(PANELS) == ["exact", "private"]
    page.keyboard.press("Escape")
    assert page.evaluate(PANELS) == ["exact", "private", "curve"]
    assert page.evaluate(LARGE) == 15
    page.keyboard.press("p")
    assert page.evaluate(PANELS) == ["exact", "private"]
    page.set_viewport_size({"width": 1024, "height": 768})  # a projector: the slider sticks
    page.wait_for_function(CLEAR)


@pytest.mark.full
def test_the_path_and_then_the_questions_are_presented(
    page: Any, server: Callable[..., str]
) -> None:
    drawn(page, f"{server(None)}/learn?present=1")
    shown = """() => [...document.querySelectorAll('[class*="st-key-question_"]')]
      .filter((one) => one.checkVisibility()).map((one) => one.innerText.slice(0, 2))"""
    screens = page.locator(".dpp-dots button").count()
    heading = page.locator(".dpp h2")
    for screen in range(1, screens + 1):
        assert heading.is_visible()
        assert heading.inner_text().startswith(f"{screen} ")
        assert page.locator(".dpp .dpl-card:visible").count() > 0
        assert page.evaluate(shown) == []
        page.keyboard.press("PageDown" if screen % 2 else "ArrowRight")
    page.wait_for_function(f"({shown})().length === 1")
    assert page.evaluate(shown) == ["1 "]
    assert not page.locator(".dpp").is_visible()
    page.keyboard.press("ArrowRight")
    assert page.evaluate(shown) == ["2 "]
    page.keyboard.press("Escape")
    assert len(page.evaluate(shown)) > 20
    page.get_by_role("button", name="Present").last.click()
    assert heading.is_visible()


@pytest.mark.full
@pytest.mark.parametrize("path", ["", "compose", "attack"])
def test_a_page_prints_without_controls_and_breaks_no_card(
    path: str, page: Any, server: Callable[..., str]
) -> None:
    drawn(page, f"{server(None)}/{path}")
    printed = page.pdf(format="A4")
    assert 1 <= len(re.findall(rb"/Type\s*/Page\b", printed)) <= 4
    page.emulate_media(media="print")
    for control in ("input[type=range]", "button", "select", ".dpl-tools", "header"):
        assert page.locator(control).evaluate_all("all => all.every((n) => !n.checkVisibility())")
    cards = page.locator(".dpl-card:visible")
    assert cards.count() >= 2
    assert cards.evaluate_all(
        "all => all.every((n) => getComputedStyle(n).breakInside === 'avoid'"
        " && n.querySelector('svg').getBoundingClientRect().right <= innerWidth)"
    )


@pytest.mark.full
@pytest.mark.parametrize(
    ("path", "key"), [("", "epsilon"), ("compose", "repeats"), ("attack", "attack")]
)
@pytest.mark.parametrize(("width", "height"), [(390, 844), (1024, 768)])
def test_the_slider_stays_in_sight_beside_the_last_card(
    path: str, key: str, width: int, height: int, new_page: Callable[..., Any], server: Any
) -> None:
    page = drawn(new_page(width, height), f"{server(None)}/{path}")
    card = page.locator(".dpl").first.locator(".dpl-card").last
    card.evaluate("n => n.scrollIntoView({ block: 'end' })")
    page.wait_for_timeout(300)
    slider = page.locator(f".st-key-{key}_step [data-testid=stSlider]").bounding_box()
    assert 0 <= slider["y"] < height / 3
    box = card.bounding_box()
    assert slider["y"] + slider["height"] < box["y"] + box["height"] / 2
    on_top = (
        "([x, y]) => Boolean(document.elementFromPoint(x, y)?.closest('[data-testid=stSlider]'))"
    )
    middle = [slider["x"] + slider["width"] / 2, slider["y"] + slider["height"] - 12]
    assert page.evaluate(on_top, middle), "something covers it"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.full
def test_the_screen_follows_the_guesses_of_a_class(
    new_page: Callable[..., Any], server: Callable[..., str]
) -> None:
    screen, student = new_page(), new_page(390, 844)
    url, code = server(None), f"stats-{uuid4().hex[:8]}"  # a second run finds no guess of the first
    screen.goto(f"{url}/learn?class={code}&screen=1")
    screen.get_by_role("button", name=learn_texts.SHOW_ANSWER).first.click(timeout=60_000)
    screen.get_by_text(learn_texts.NO_GUESS).wait_for(timeout=60_000)
    student.goto(f"{url}/learn?class={code}")
    student.get_by_role("button", name=learn_texts.MY_GUESS).first.click(timeout=60_000)
    for page in (student, screen):
        page.get_by_role("img", name="Dot plot of guesses by option, 1 in all").wait_for(
            timeout=60_000
        )
    assert screen.locator(".dp-own").count() == 0
    assert student.locator(".dp-own").count() == 1
    screen.get_by_text("question 1: 1").wait_for(timeout=60_000)
