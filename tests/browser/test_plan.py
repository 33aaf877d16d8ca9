"""A plan of several releases follows the total while it is dragged."""

from __future__ import annotations

import csv
import json
from typing import Any

import pytest
from studio.stage import grasp, wait_until_idle, wait_until_still

from app.texts import release as release_texts


def test_shares_and_prices_move_with_the_hand_and_stay(page: Any, server: Any) -> None:
    page.goto(f"{server(None)}/release")
    page.get_by_text(release_texts.SEVERAL).click(timeout=60_000)
    page.locator('[data-panel="plan_shares"]').wait_for(timeout=120_000)
    wait_until_still(page, 60)
    said = page.locator('[data-live="plan"]')
    seen = {said.inner_text()}
    page.locator(".st-key-plan_step").scroll_into_view_if_needed()
    _, y, left, width = grasp(page, "plan_step")
    for part in (0.2, 0.4, 0.6, 0.9):
        page.mouse.move(left + part * width, y)
        page.wait_for_timeout(100)
        seen.add(said.inner_text())
    held = said.inner_text()
    assert len(seen) > 3, "nothing moved before the slider was let go"
    page.mouse.up()
    wait_until_still(page, 60)
    assert said.inner_text() == held, "the page says what the hand saw"
    with page.expect_download() as taken:
        page.get_by_text("plan.html").click()
    assert "A plan of releases" in taken.value.path().read_text(encoding="utf-8")
    page.reload()
    page.locator('[data-panel="plan_shares"]').wait_for(timeout=120_000)
    wait_until_still(page, 60)
    assert said.inner_text() == held, "it stands in the address"


GRID = "[class*=st-key-plan_table] [data-testid=data-grid-canvas]"
RANGED = "!document.body.innerText.includes('still being simulated')"  # else it is drawn anew
NAME, MODEL, TIMES, AT_LEAST, EPSILON, LOCKED = 1, 2, 4, 5, 6, 7  # columns of the table of wishes


def go_to(page: Any, line: int, column: int) -> None:
    """Select a cell: the first of the table, then by the arrow keys; again where the page was drawn
    anew meanwhile."""
    grid = page.locator(GRID).first
    target = page.locator(f"#glide-cell-{column}-{line}[aria-selected=true]")
    for _ in range(20):
        page.wait_for_function(RANGED, timeout=180_000)
        wait_until_idle(page)
        grid.evaluate("grid => grid.scrollIntoView({block: 'center'})")
        page.wait_for_timeout(100)  # scrolled to, it is drawn in the next frame
        box = grid.bounding_box()
        page.mouse.click(box["x"] + 100, box["y"] + 35 * 1.5)
        page.wait_for_timeout(100)
        for key, times in (("ArrowDown", line), ("ArrowRight", column - NAME)):
            for _ in range(times):
                page.keyboard.press(key)
        page.wait_for_timeout(200)
        if target.count():
            return
        page.keyboard.press("Escape")
    raise AssertionError(f"cell {column} of line {line} was never selected")


def wish(page: Any, line: int, column: int, text: str) -> None:
    """Type into a cell of the wishes, and leave it."""
    go_to(page, line, column)
    page.keyboard.press("Enter")
    box = page.locator("#portal :is(input, textarea)").first
    box.wait_for()
    page.wait_for_timeout(200)  # the cell opens with a transition, and loses keys until then
    page.keyboard.type(text, delay=20)
    page.keyboard.press("Enter")
    box.wait_for(state="detached")


def taken(page: Any, name: str) -> str:
    """A file of the plan."""
    with page.expect_download() as download:
        page.get_by_text(name, exact=True).click()
    return str(download.value.path().read_text(encoding="utf-8"))


def says(page: Any, words: str) -> str:
    """Wait until the live line of the plan says something; all of it."""
    page.wait_for_function(
        "words => document.querySelector('[data-live=plan]')?.innerText.includes(words)",
        arg=words,
        timeout=120_000,
    )
    return str(page.locator('[data-live="plan"]').inner_text())


@pytest.mark.alone
@pytest.mark.full
def test_wishes_locks_and_what_ifs_change_the_plan_on_the_page(page: Any, server: Any) -> None:
    """A share asked for, one that cannot be, a lock, one release more, and the plan as files."""
    page.goto(f"{server(None)}/release")
    page.get_by_text(release_texts.SEVERAL).click(timeout=60_000)
    said = says(page, "for each 'every quarter' would take more than the others can give.")
    assert "One percent more budget gains" in said
    wait_until_still(page, 60)

    wish(page, 1, AT_LEAST, "80")
    says(page, "80% for 'once' takes ε = ")
    wish(page, 1, TIMES, "1000")
    refused = says(page, "do not fit: drop the request for 'once' (at least 80%)")
    assert "One percent more" not in refused, "a plan that does not fit has no prices"
    wait_until_still(page, 60)
    assert not json.loads(taken(page, "plan.json"))["feasible"]

    wish(page, 1, TIMES, "1")
    go_to(page, 1, AT_LEAST)
    page.keyboard.press("Delete")
    says(page, "One percent more")
    wait_until_still(page, 60)
    free = json.loads(taken(page, "plan.json"))["releases"][1]["epsilon"]
    wish(page, 1, EPSILON, "0,2")
    go_to(page, 1, LOCKED)
    page.keyboard.press("Enter")
    wait_until_still(page, 60)
    locked = json.loads(taken(page, "plan.json"))["releases"][1]["epsilon"]
    assert locked == pytest.approx(0.2, rel=1e-6)
    assert locked < free

    page.locator("[class*=st-key-plan_table] .dvn-scroller").first.hover()
    page.get_by_role("button", name="Add row").first.click()
    page.locator(f"#glide-cell-{NAME}-2").wait_for(state="attached")
    wish(page, 2, NAME, "one more")
    wish(page, 2, MODEL, "kmeans")
    says(page, "for 'once' costs the others")
    page.locator('[data-panel="plan_shares"]').get_by_text("one more").first.wait_for(
        timeout=120_000
    )
    wait_until_still(page, 60)
    plan = json.loads(taken(page, "plan.json"))
    names = [one["name"] for one in plan["releases"]]
    assert names == ["every quarter", "once", "one more"]
    changes = [one["change"] for one in plan["what_if"]]
    assert changes == ["twice the rows", *(f"one more {name!r}" for name in names)]
    lines = csv.DictReader(taken(page, "plan.csv").splitlines())
    assert [line["name"] for line in lines] == names
    assert "<h2>What if</h2>" in taken(page, "plan.html")
