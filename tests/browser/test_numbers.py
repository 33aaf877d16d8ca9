"""Boxes of numbers take a decimal comma: 0,5 is a half, never 5."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from typing import Any

import pytest
from studio.stage import open_cell, wait_until_idle

from app.texts import attack as attack_texts
from app.texts import release as release_texts
from app.texts import upload as upload_texts

BOXES = "[data-testid=stNumberInputField]"
SMALL = "data=generated&made=200x2x2x1"
ON = f"on={SMALL.replace('=', '%3D').replace('&', '%26')}"
UNDERSTOOD = (
    ("0,5", "0.5"),
    ("2,5e-1", "2.5e-1"),
    ("1.5", "1.5"),
    ("1.234,5", "1234.5"),  # a second mark shows that the first one parted thousands
    ("1,234.5", "1234.5"),
)
REFUSED = ("1,000", "1,2,3", "1,234,567", "1.000.000")
WHOLE = "b => [b.step, b.min].every(text => /^-?\\d+$/.test(text))"


def opens(words: str) -> Callable[[Any], None]:
    """What opens a drawer or a part of a page."""
    return lambda page: page.get_by_text(words).first.click()


def chooses_a_row(page: Any) -> None:
    page.get_by_label("Whose row?").click()
    page.get_by_role("option", name=attack_texts.WHOSE["row"]).click()


def takes_a_file(page: Any) -> None:
    table = {"name": "a.csv", "mimeType": "text/csv", "buffer": b"x,y\n1,2\n3,4\n"}
    page.locator("[data-testid=stFileUploader] input[type=file]").first.set_input_files(table)
    page.get_by_text(upload_texts.things_per_person("row")).wait_for()


PLACES: dict[str, tuple[str, Callable[[Any], None] | None]] = {
    "explore": (f"?{SMALL}", opens("More settings")),
    "upload": ("?data=upload", takes_a_file),
    "compose": ("compose", opens("What is released")),
    "release": (f"release?{ON}", None),
    "plan": (f"release?{ON}", opens(release_texts.SEVERAL)),
    "attack": (f"attack?{ON}", chooses_a_row),
}
MERGED = (("explore", "de-DE"), ("upload", "de-DE"), ("release", "de-DE"))  # boxes of each kind


def type_into(page: Any, box: Any, text: str) -> None:
    box.focus()
    page.keyboard.press("ControlOrMeta+A")
    page.keyboard.type(text)


@pytest.mark.parametrize(
    ("place", "locale"),
    [
        pytest.param(place, locale, marks=[pytest.mark.full] * ((place, locale) not in MERGED))
        for place, locale in itertools.product(PLACES, ("de-DE", "en-US"))
    ],
)
def test_every_box_takes_a_decimal_comma_or_refuses_it(
    place: str, locale: str, browser: Any, server: Callable[..., str], exhaustive: bool
) -> None:
    """Every text into the first box of a page, and one of each kind into the others; in the full
    lane, every text into each."""
    context = browser.new_context(locale=locale)
    page = context.new_page()
    address, opened = PLACES[place]
    page.goto(f"{server(None)}/{address}")
    page.locator("[data-testid=stApp] h1").first.wait_for(timeout=30_000)
    wait_until_idle(page)
    if opened is not None:
        opened(page)
        page.wait_for_timeout(300)  # a drawer opens with a transition
        wait_until_idle(page)
    names = page.locator(BOXES).evaluate_all(
        "boxes => boxes.filter(b => b.offsetParent).map(b => b.ariaLabel)"
    )
    assert names
    for place_of_box, name in enumerate(names):
        most = None if exhaustive or not place_of_box else 1
        box = page.locator(f'{BOXES}[aria-label="{name}"]').first
        before = box.input_value()
        for typed, meant in UNDERSTOOD[:most]:
            type_into(page, box, typed)
            assert box.input_value() == meant, name
        refused = (*REFUSED, "2,5") if box.evaluate(WHOLE) else REFUSED
        for number, typed in enumerate(refused[:most]):
            type_into(page, box, typed)
            said = page.locator(".dp-doubt")
            assert re.fullmatch(r"[^;]+; [^;]+\.", said.inner_text()), (name, typed)
            page.keyboard.press("Enter" if number % 2 else "Tab")
            assert said.is_visible(), (name, typed)
            assert box.input_value() == before, (name, typed)
        page.keyboard.press("Tab")
        assert box.get_attribute("type") == "number"
    context.close()


@pytest.mark.parametrize("locale", ["de-DE", "en-US"])
def test_a_comma_or_a_point_is_the_budget_that_is_fitted(
    locale: str, browser: Any, server: Callable[..., str]
) -> None:
    context = browser.new_context(locale=locale)
    page = context.new_page()
    page.goto(f"{server(None)}/?{SMALL}")
    box = page.locator(".st-key-epsilon_exact input")
    box.wait_for(timeout=30_000)
    wait_until_idle(page)
    assert page.evaluate("navigator.language") == locale
    for typed, meant in (("0,5", "0.5"), ("1.5", "1.5"), ("2,5", "2.5")):
        box.focus()
        page.keyboard.press("ControlOrMeta+A")
        page.keyboard.type(typed)
        page.keyboard.press("Enter")
        page.wait_for_url(re.compile(rf"epsilon={re.escape(meant)}"))
        assert box.input_value() == meant
    context.close()


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
    page.keyboard.press("ControlOrMeta+A")
    page.keyboard.type("1,000")
    page.keyboard.press("Enter")
    assert "1,000 can be read in two ways" in page.locator(".dp-doubt").inner_text()
    page.locator("input.gdg-input").wait_for(state="detached")
    wait_until_idle(page)
    assert "lines=g7~3~f" in page.url, "the cell holds what it held before"
