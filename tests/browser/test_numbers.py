"""Boxes of numbers take a decimal comma: 0,5 is a half, never 5."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from studio.stage import open_cell, wait_until_idle

BOXES = "input[type=number]"
SMALL = "data=generated&made=200x2x2x1"


@pytest.mark.parametrize("place", [f"?{SMALL}", "compose", f"release?{SMALL}"])
def test_every_box_takes_a_decimal_comma(
    place: str, new_page: Callable[..., Any], server: Callable[..., str]
) -> None:
    page = new_page()
    page.goto(f"{server(None)}/{place}")
    page.locator(BOXES).first.wait_for(state="attached", timeout=30_000)
    wait_until_idle(page)
    names = page.locator(BOXES).evaluate_all(
        "boxes => boxes.filter(b => b.offsetParent).map(b => b.ariaLabel)"
    )
    assert names
    for name in names:
        box = page.get_by_label(name, exact=True).first
        for typed, meant in (
            ("0,5", "0.5"),
            ("1,5", "1.5"),
            ("2,5e-1", "2.5e-1"),
            ("1,2,3", "1.23"),
            ("1.234,5", "1234.5"),  # a second mark shows that the first one parted thousands
            ("1,234.5", "1234.5"),
        ):
            box.focus()
            page.keyboard.press("ControlOrMeta+A")
            page.keyboard.type(typed)
            assert box.input_value() == meant, name
        page.keyboard.press("Tab")
        wait_until_idle(page)
        assert box.get_attribute("type") == "number"


def test_a_german_browser_takes_a_comma_and_a_point(
    browser: Any, server: Callable[..., str]
) -> None:
    context = browser.new_context(locale="de-DE")
    page = context.new_page()
    page.goto(f"{server(None)}/?{SMALL}")
    box = page.locator(".st-key-epsilon_exact input")
    box.wait_for(timeout=30_000)
    wait_until_idle(page)
    assert page.evaluate("navigator.language") == "de-DE"
    for typed, meant in (("0,5", "0.5"), ("1.5", "1.5"), ("2,5", "2.5")):
        box.focus()
        page.keyboard.press("ControlOrMeta+A")
        page.keyboard.type(typed)
        page.keyboard.press("Enter")
        page.wait_for_url(re.compile(rf"epsilon={re.escape(meant)}"))
        assert box.input_value() == meant
    context.close()


def test_what_is_typed_with_a_comma_is_the_budget_that_is_fitted(
    page: Any, server: Callable[..., str]
) -> None:
    page.goto(f"{server(None)}/?{SMALL}")
    box = page.locator(".st-key-epsilon_exact input")
    box.wait_for(timeout=30_000)
    box.click()
    page.keyboard.press("ControlOrMeta+A")
    page.keyboard.type("0,5")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"epsilon=0\.5"))
    assert box.input_value() == "0.5"


def test_a_cell_of_a_table_takes_a_decimal_comma(page: Any, server: Callable[..., str]) -> None:
    page.goto(f"{server(None)}/compose?lines=g7~3~f&k=1")
    page.get_by_role("button", name="What is released").click(timeout=30_000)
    cells = page.locator("[data-testid=stDataFrame] canvas").first
    cells.wait_for(timeout=30_000)
    page.wait_for_selector("#glide-cell-2-0, #glide-cell-3-0", state="attached")
    page.wait_for_timeout(500)  # the drawer opens with a transition
    open_cell(page, cells, 1)
    page.wait_for_timeout(100)  # the cell opens with a transition, and loses keys until then
    page.keyboard.type("0,5")
    page.wait_for_function("document.activeElement.value === '0.5'")
