"""Compose in a real browser: the bars follow the hand, and the link brings everything back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from studio.stage import grasp, open_cell, thumb, wait_until_complete, wait_until_idle
from support import keeps_up

from dpcore.accounting import compose
from dpcore.privacy import Event, Gaussian

THUMB = thumb("repeats_step")
BOX = ".st-key-repeats_exact input"
# Streamlit looks for its own server below the page's name first, and then where it is.
ELSEWHERE = "Failed to load resource: the server responded with a status of 404 (Not Found)"

RECORD = """
() => {
  const root = document.querySelector(".dpl");
  window.seen = [];
  new MutationObserver(() => window.seen.push({
    time: performance.now(), k: root.dataset.epsilon, ms: Number(root.dataset.ms),
    values: [...document.querySelectorAll("[data-bar]")].map((b) => Number(b.dataset.value)),
    widths: [...document.querySelectorAll(".dpl-bar")].map((b) => Number(b.getAttribute("width"))),
    cursor: document.querySelector('[data-panel="curve"] .dpl-cursor')?.getAttribute("x1"),
    promise: document.querySelector("[data-live=promise]").textContent,
  })).observe(root, { attributes: true, attributeFilter: ["data-updates"] });
}
"""


@pytest.fixture
def page(new_page: Callable[..., Any], visits: Any) -> Iterator[Any]:
    yield new_page()
    assert visits.outside == []
    assert [error for error in visits.errors if error != ELSEWHERE] == []


@pytest.fixture
def composed(page: Any, server: Any) -> Callable[..., Any]:
    """``composed(link)`` opens the page and waits for the first bars."""

    def open_link(link: str = "") -> Any:
        page.goto(f"{server(None)}/compose{link}")
        page.wait_for_selector(".dpl[data-step]", timeout=30_000)
        wait_until_idle(page)
        return page

    return open_link


def bars(page: Any) -> dict[str, str]:
    """name -> what stands at the end of the bar."""
    return dict(
        page.locator("[data-bar]").evaluate_all(
            "n => n.map(b => [b.dataset.bar, b.querySelector('.dpl-barlabel').textContent])"
        )
    )


@pytest.mark.alone
def test_the_bars_follow_the_hand_without_asking_the_server(
    composed: Any, record_property: Any
) -> None:
    page = composed()
    page.evaluate(RECORD)
    _, y, left, width = grasp(page, "repeats_step")
    began = page.evaluate("performance.now()")
    for i in range(1, 61):
        page.mouse.move(left + width * (i / 61), y)
    page.wait_for_timeout(60)
    seen = page.evaluate("window.seen")
    assert page.url.endswith("/compose"), "Streamlit was asked before the release"
    assert page.locator(BOX).input_value() == "100"
    assert len(seen) >= 20
    record_property("updates_per_second", keeps_up(seen, began))
    for before, after in pairwise(seen):
        assert before["k"] != after["k"]
        assert before["values"] != after["values"]
        assert before["cursor"] != after["cursor"]
        assert before["promise"] != after["promise"]
    slopes: list[float] = []
    for one in seen[::7]:
        events = [Event(Gaussian(20.0), count=int(one["k"].replace(",", "")))]
        for i, method in enumerate(("linear", "advanced", "zcdp", "ma", "exact")):
            epsilon = float(compose(events, method, delta=1e-5).epsilon)
            assert one["values"][i] == pytest.approx(epsilon, rel=1e-4)
        logs = np.log(one["values"])  # on one axis, the same at every k
        slope, foot = np.polyfit(logs, one["widths"], 1)
        assert one["widths"] == pytest.approx(list(slope * logs + foot), abs=2.5)
        slopes.append(slope)
    assert slopes == pytest.approx([slopes[0]] * len(slopes), rel=0.02)
    page.mouse.up()
    label = seen[-1]["k"]
    page.wait_for_function(
        "([box, k]) => document.querySelector(box).value === k"
        " && new URLSearchParams(location.search).get('k') === k",
        arg=[BOX, label.replace(",", "")],
        timeout=15_000,
    )
    assert page.evaluate("document.querySelector('.dpl').dataset.epsilon") == label


def test_a_click_on_a_method_typesets_its_derivation(composed: Any) -> None:
    page = composed()
    derived = page.locator("[data-panel=bars] .dpl-derived")
    page.locator('[data-bar="zCDP"]').click()
    assert derived.locator("math").count() == 2
    assert derived.locator("msqrt").bounding_box()["width"] > 20  # set as a root, not as text
    dial = page.locator(".st-key-repeats_step")
    derived.locator(".dpl-symbol", has_text="k").first.hover()
    assert "dpl-pointed" in dial.get_attribute("class")
    page.locator('[data-bar="Exact"]').press("Enter")
    assert derived.locator("strong").inner_text() == "Exact"
    page.locator('[data-bar="Exact"]').press("Enter")
    assert derived.is_hidden()


def test_the_film_plays_to_the_slider_and_epsilon_is_dragged_to_read_delta(composed: Any) -> None:
    page = composed("?show=loss&k=10")
    card = page.locator("[data-panel=loss]")
    grip = card.locator("[role=slider]")
    before = grip.get_attribute("aria-valuetext")
    box = grip.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 20, y, steps=6)
    page.mouse.up()
    epsilon = grip.get_attribute("aria-valuenow")
    assert grip.get_attribute("aria-valuetext") != before
    grip.press("ArrowLeft")
    assert float(grip.get_attribute("aria-valuenow")) < float(epsilon)
    epsilon = grip.get_attribute("aria-valuenow")
    page.evaluate(RECORD)
    card.get_by_role("button", name="Play").click()
    page.wait_for_function("window.seen.length > 1 && window.seen.at(-1).k === '10'")
    assert [one["k"] for one in page.evaluate("window.seen")] == [str(k) for k in range(1, 11)]
    assert grip.get_attribute("aria-valuenow") == epsilon, "epsilon stays, delta grows"
    assert "k=10" in page.url, "Streamlit was not asked"
    grip.press("Escape")
    assert grip.get_attribute("aria-valuetext") == before


def test_the_crossover_is_in_reach_of_the_slider(composed: Any) -> None:
    """At the k that the sentence names advanced is the shorter bar; one before, it is not."""
    page = composed()
    said = page.locator("[data-live=sentence]").inner_text()
    first = int(said.split("from ")[1].split(" on")[0].replace(",", ""))
    for k, wanted in ((first, True), (first - 1, False)):
        page.locator(BOX).fill(str(k))
        page.locator(BOX).press("Enter")
        page.wait_for_function(f"document.querySelector('.dpl').dataset.epsilon === '{k:,}'")
        values = page.locator("[data-bar]").evaluate_all("n => n.map(b => Number(b.dataset.value))")
        assert (values[1] < values[0]) is wanted


def test_a_link_and_the_back_button_bring_the_same_page_back(composed: Any) -> None:
    page = composed("?hold=budget&epsilon=2&k=30")
    before = bars(page)
    page.reload()
    page.wait_for_selector(".dpl[data-step]", timeout=30_000)
    assert bars(page) == before
    page.get_by_role("radio", name="the noise").or_(
        page.get_by_role("button", name="the noise")
    ).first.click()
    page.wait_for_function("!location.search.includes('hold')")
    wait_until_idle(page)
    assert bars(page) != before
    page.wait_for_timeout(2500)  # until an old address is no longer taken for a late one
    page.go_back()
    page.wait_for_function(
        "label => document.querySelector('.dpl-barlabel')?.textContent === label",
        arg=before["Basic"],
        timeout=15_000,
    )
    assert "hold=budget" in page.url


def test_the_bar_on_top_leads_from_page_to_page_and_each_keeps_its_choices(
    page: Any, server: Any
) -> None:
    page.goto(f"{server(None)}/?epsilon=2&data=generated&made=200x2x2x1")
    wait_until_complete(page)
    page.get_by_role("link", name="Compose").click()
    page.wait_for_selector("[data-bar]", timeout=20_000)
    page.locator(BOX).fill("30")
    page.locator(BOX).press("Enter")
    page.wait_for_function("location.search.includes('k=30')")
    page.get_by_role("link", name="Explore").click()
    page.wait_for_selector('[data-panel="private"]', timeout=20_000)
    page.wait_for_function("location.search.includes('epsilon=2')")
    wait_until_complete(page)
    assert page.evaluate("document.querySelector('.dpl').dataset.epsilon") == "2.00"
    page.get_by_role("link", name="Compose").click()
    page.wait_for_selector("[data-bar]", timeout=20_000)
    page.wait_for_function("location.search.includes('k=30')")
    assert page.locator(BOX).input_value() == "30"


def test_slow_prices_arrive_while_the_others_are_there(composed: Any) -> None:
    page = composed("?preset=vips_lda")
    assert bars(page)["Basic"][0].isdigit()
    page.wait_for_function(
        "[...document.querySelectorAll('.dpl-barlabel')].every(n => /^\\d/.test(n.textContent))",
        timeout=30_000,
    )
    found = bars(page)
    assert float(found["Loss distribution"]) == pytest.approx(0.984, abs=2e-3)
    assert float(found["Fixed size, classic"]) == pytest.approx(2.39, abs=0.011)


@pytest.mark.parametrize("show", ["profile", "attack", "loss", "noise"])
def test_every_picture_moves_with_the_slider(composed: Any, show: str) -> None:
    page = composed(f"?show={show}")
    panel = page.locator(".dpl-card").nth(1)

    def drawn() -> str:
        return str(panel.locator("svg[role]").inner_html())

    before = drawn()
    page.locator(THUMB).first.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("document.querySelector('.dpl').dataset.epsilon === '120'")
    assert drawn() != before


def test_all_methods_are_listed_when_the_drawer_is_opened(composed: Any) -> None:
    page = composed()
    page.get_by_text("More methods").click()
    page.wait_for_function("document.querySelectorAll('.dp-methods tbody tr').length >= 11")
    page.get_by_text("must agree").wait_for()


def test_a_drawer_opened_late_shows_what_is_asked_and_changes_nothing(composed: Any) -> None:
    """The browser builds its widgets when it is opened, runs after their values were set."""
    page = composed("?preset=abadi")
    page.locator(BOX).fill("60")
    page.locator(BOX).press("Enter")
    page.wait_for_function("location.search.includes('k=60')")
    wait_until_idle(page)
    page.get_by_role("button", name="What is released").click()
    body = page.get_by_test_id("stPopoverBody")
    assert body.get_by_test_id("stNumberInputField").input_value() == "1e-5"
    assert body.get_by_role("combobox").input_value() == "adding or removing one person's row"
    page.keyboard.press("Escape")
    page.locator(BOX).fill("61")
    page.locator(BOX).press("Enter")
    page.wait_for_function("location.search.includes('k=61')")
    assert "delta" not in page.url
    assert "adjacency" not in page.url


def test_nothing_overflows_and_dark_follows_the_system(
    new_page: Callable[..., Any], server: Any
) -> None:
    for width, theme in ((1280, "dark"), (1920, "light")):
        page = new_page(width, 1000, theme)
        page.goto(f"{server(None)}/compose")
        page.wait_for_selector(f".dpl[data-theme={theme}]", timeout=30_000)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        inside = page.evaluate(
            "[...document.querySelectorAll('.dpl-barlabel')].every(n => {"
            " const card = n.closest('.dpl-card').getBoundingClientRect();"
            " return n.getBoundingClientRect().right <= card.right })"
        )
        assert inside


def test_a_line_that_is_typed_is_priced_and_stands_in_the_link(composed: Any) -> None:
    page = composed("?lines=g7~3~f&k=1")
    before = bars(page)
    page.get_by_role("button", name="What is released").click()
    cells = page.locator("[data-testid=stDataFrame] canvas").first
    cells.wait_for()
    page.wait_for_selector("#glide-cell-2-0, #glide-cell-3-0", state="attached")
    page.wait_for_timeout(500)  # the drawer opens with a transition
    for column, value in ((1, "14"), (2, "12")):  # noise, times
        open_cell(page, cells, column)
        page.wait_for_timeout(100)  # the cell opens with a transition, and loses keys until then
        page.keyboard.type(value)
        page.wait_for_timeout(100)
        page.keyboard.press("Enter")
        wait_until_idle(page)
    page.wait_for_function("decodeURIComponent(location.search).includes('lines=g14~12~f')")
    wait_until_idle(page)
    found = bars(page)
    assert found["Exact"] == before["Exact"], "12 releases of twice the noise cost what 3 do"
    assert found["Basic"] != before["Basic"]
    page.locator("[data-testid=stDataFrame]").wait_for()  # the drawer is still open
    page.keyboard.press("Escape")
    page.get_by_role("link", name="Learn").first.click()
    page.wait_for_function("location.pathname.endsWith('learn')")
    page.get_by_role("link", name="Compose").first.click()
    page.get_by_role("button", name="What is released").click()
    noise = page.locator("#glide-cell-2-0")
    noise.wait_for(state="attached")
    assert noise.inner_text() == "14", "not the line from before it was typed"
