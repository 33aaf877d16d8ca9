"""Boxes of numbers take a decimal comma: 0,5 is a half, never 5."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
import wording
from studio.stage import wait_until_idle

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
        ):
            box.focus()
            page.keyboard.press("ControlOrMeta+A")
            page.keyboard.type(typed)
            assert box.input_value() == meant, name
        page.keyboard.press("Tab")
        wait_until_idle(page)
        assert box.get_attribute("type") == "number"


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
    page.goto(f"{server(None)}/?data=upload")
    page.get_by_text(wording.NOTHING_READ).wait_for(timeout=30_000)
    file = {"name": "t.csv", "mimeType": "text/csv", "buffer": b"a,b\n1,2\n3,4\n"}
    page.locator("[data-testid=stFileUploader] input[type=file]").first.set_input_files(file)
    limits = page.locator("[data-testid=stDataFrame] canvas").first
    limits.wait_for(timeout=30_000)
    wait_until_idle(page)
    limits.click(position={"x": 30, "y": 35 + 12}, force=True)
    for column in range(4):
        page.wait_for_selector(f"#glide-cell-{column}-0[aria-selected=true]", state="attached")
        if column < 3:
            page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.wait_for_selector("input.gdg-input:focus")
    page.wait_for_timeout(100)  # the cell opens with a transition, and loses keys until then
    page.keyboard.type("0,5")
    page.wait_for_function("document.activeElement.value === '0.5'")
