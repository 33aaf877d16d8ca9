"""A plan of several releases follows the total while it is dragged."""

from __future__ import annotations

from typing import Any

from studio.stage import grasp, wait_until_still

TOGGLE = "Plan several releases together"


def test_shares_and_prices_move_with_the_hand_and_stay(page: Any, server: Any) -> None:
    page.goto(f"{server(None)}/release?data=iris")
    page.get_by_text(TOGGLE).click(timeout=60_000)
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
