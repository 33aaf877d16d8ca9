"""The live picture follows the hand, keeps its zoom, and never leaves this machine."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

DEMO = Path(__file__).with_name("live_demo.py")
THUMB = ".st-key-eps-ilon [role=slider], .st-key-eps-ilon input[type=range]"
BOLD = '[data-panel="private"] .dpl-bold .dpl-ellipse[data-level="2"]'

# Every redraw as the page itself sees it, once a frame: time, epsilon, thumb, place of the first
# bold ellipse, and whether the path on screen has moved with its numbers.
RECORD = """
(bold) => {
  const root = document.querySelector(".dpl");
  const ellipse = document.querySelector(bold);
  window.seen = [];
  new MutationObserver(() => window.seen.push({
    time: performance.now(), epsilon: root.dataset.epsilon, step: Number(root.dataset.step),
    updates: Number(root.dataset.updates), ms: Number(root.dataset.ms),
    cx: ellipse.dataset.cx, path: ellipse.getAttribute("d"),
    sentence: document.querySelector("[data-live]").textContent,
  })).observe(root, { attributes: true, attributeFilter: ["data-updates"] });
}
"""


@pytest.fixture
def demo(page: Any, server: Any) -> Any:
    page.goto(server(DEMO))
    page.wait_for_selector(".dpl[data-step]", timeout=30_000)
    page.wait_for_selector("#python")
    return page


def root(page: Any, name: str) -> str:
    return str(page.evaluate(f"document.querySelector('.dpl').dataset.{name}"))


def wait_python(page: Any, text: str) -> None:
    page.wait_for_function(
        "t => document.querySelector('#python')?.textContent.includes(t)", arg=text, timeout=15_000
    )


def ticks(page: Any, panel: str) -> list[str]:
    return list(page.locator(f'[data-panel="{panel}"] .dpl-grid text').all_text_contents())


def grasp(page: Any, share: float = 0.5) -> tuple[float, float, float]:
    """Puts the mouse down on the thumb; gives left end, width and height of the track."""
    box = page.locator(".st-key-eps-ilon [data-testid=stSlider]").bounding_box()
    thumb = page.locator(THUMB).first.evaluate(
        "n => { const b = (n.closest('[class*=humb]') ?? n.parentElement)"
        ".getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2] }"
    )
    page.mouse.move(*thumb)
    page.mouse.down()
    return box["x"], box["width"], thumb[1]


def test_a_drag_redraws_20_times_a_second_each_with_its_own_epsilon(demo: Any) -> None:
    demo.evaluate(RECORD, BOLD)
    left, width, y = grasp(demo)
    began = demo.evaluate("performance.now()")
    for i in range(1, 49):
        demo.mouse.move(left + width * (0.5 - 0.48 * i / 48), y)
    demo.wait_for_timeout(100)
    seen = demo.evaluate("window.seen")
    python = demo.locator("#python").text_content()
    demo.mouse.up()
    seconds = (seen[-1]["time"] - began) / 1000
    rate = len(seen) / seconds
    worst = max(one["ms"] for one in seen)
    print(f"{len(seen)} updates in {seconds:.2f} s: {rate:.0f}/s, slowest drawing {worst:.1f} ms")
    assert "python:26" in python, "Streamlit is only asked after release"
    assert len(seen) >= 15
    assert rate >= 20
    for before, after in pairwise(seen):
        assert before["epsilon"] != after["epsilon"]
        assert before["cx"] != after["cx"]
        assert before["path"] != after["path"]
        assert f"ε = {after['epsilon']}" in after["sentence"]


def test_after_release_nothing_jumps_and_zoom_is_kept(demo: Any) -> None:
    demo.locator('[data-panel="private"]').hover()
    demo.locator('[data-panel="private"] button[title="Zoom in"]').click()
    demo.wait_for_timeout(50)
    zoomed = ticks(demo, "private")
    left, width, y = grasp(demo)
    for i in range(20):
        demo.mouse.move(left + width * (0.5 + 0.01 * i), y)
    demo.wait_for_timeout(60)
    demo.evaluate(RECORD, BOLD)
    card = demo.locator('[data-panel="private"] svg').element_handle()
    dragged = int(root(demo, "step"))
    demo.mouse.up()
    wait_python(demo, f"python:{dragged}")
    demo.wait_for_timeout(200)
    assert dragged != 26
    assert {one["step"] for one in demo.evaluate("window.seen")} <= {dragged}
    assert int(root(demo, "step")) == dragged
    assert ticks(demo, "private") == zoomed
    assert card.evaluate("node => node.isConnected"), "the card was rebuilt"


def test_the_keyboard_moves_the_picture(demo: Any) -> None:
    demo.locator(THUMB).first.focus()
    demo.keyboard.press("ArrowRight")
    demo.keyboard.press("ArrowRight")
    demo.wait_for_function("document.querySelector('.dpl').dataset.step === '28'")
    wait_python(demo, "python:28")
    demo.wait_for_timeout(100)
    assert root(demo, "step") == "28"


def test_a_new_scene_updates_in_place_and_keeps_the_zoom(demo: Any) -> None:
    demo.locator('[data-panel="exact"]').hover()
    demo.locator('[data-panel="exact"] button[title="Zoom in"]').click()
    demo.wait_for_timeout(50)
    zoomed, before = ticks(demo, "private"), demo.locator(BOLD).first.get_attribute("d")
    assert zoomed == ticks(demo, "exact"), "panels of one link share the zoom"
    card = demo.locator('[data-panel="private"] svg').element_handle()
    scene = root(demo, "scene")
    demo.locator("[data-testid=stSelectbox] input").click()
    demo.get_by_role("option", name="1").click()
    demo.wait_for_function("s => document.querySelector('.dpl').dataset.scene !== s", arg=scene)
    assert demo.locator(BOLD).first.get_attribute("d") != before
    assert ticks(demo, "private") == zoomed
    assert card.evaluate("node => node.isConnected")


def test_an_exact_value_off_the_grid_is_shown_until_the_slider_moves(demo: Any) -> None:
    demo.get_by_text("1.07 exactly").click()
    demo.wait_for_function("document.querySelector('.dpl').dataset.epsilon === '1.07'")
    demo.locator(THUMB).first.focus()
    demo.keyboard.press("ArrowLeft")
    demo.wait_for_function("document.querySelector('.dpl').dataset.step === '25'")


def test_wheel_zooms_at_the_pointer_drag_pans_and_double_click_resets(demo: Any) -> None:
    whole = ticks(demo, "private")
    box = demo.locator('[data-panel="private"] svg').bounding_box()
    demo.mouse.move(box["x"] + box["width"] / 2, box["y"] + 80)
    demo.mouse.wheel(0, -400)
    demo.wait_for_timeout(80)
    near = ticks(demo, "private")
    assert near != whole
    assert ticks(demo, "exact") == near
    demo.mouse.down()
    demo.mouse.move(box["x"] + box["width"] / 2 + 120, box["y"] + 120, steps=4)
    demo.mouse.up()
    demo.wait_for_timeout(80)
    assert ticks(demo, "private") != near
    demo.mouse.dblclick(box["x"] + 300, box["y"] + 100)
    demo.wait_for_timeout(80)
    assert ticks(demo, "private") == whole


def test_hover_reads_every_curve_at_a_computed_epsilon(demo: Any) -> None:
    box = demo.locator('[data-panel="curve"] svg').bounding_box()
    demo.mouse.move(box["x"] + box["width"] * 0.4, box["y"] + 80)
    text = demo.locator('[data-panel="curve"] .dpl-readout').inner_text()
    for name in ("exact", "basic", "zCDP", "advanced", "moments"):
        assert re.search(rf"{name}: 0\.\d+", text)


def test_end_labels_never_overlap(demo: Any) -> None:
    heights = demo.locator('[data-panel="curve"] .dpl-label').evaluate_all(
        "nodes => nodes.map(n => n.getBoundingClientRect().y).sort((a, b) => a - b)"
    )
    assert len(heights) == 5
    assert all(b - a >= 15 for a, b in pairwise(heights))


def test_the_clipping_ring_sends_its_factor_on_release_only(demo: Any) -> None:
    # Without the stroke: the grip is wider than the line it moves.
    left, y, half = demo.locator('[data-ring="clip"]').evaluate(
        "n => { const b = n.getBBox(), s = n.ownerSVGElement.getBoundingClientRect();"
        " return [s.x + b.x, s.y + b.y + b.height / 2, b.width / 2] }"
    )
    right = left + 2 * half
    demo.mouse.move(right, y)
    demo.mouse.down()
    demo.mouse.move(right - half * 0.25, y, steps=5)
    factor = float(demo.locator('[data-ring="clip"]').get_attribute("data-factor"))
    assert factor == pytest.approx(0.75, abs=0.03)
    assert "ring:None" in demo.locator("#python").text_content()
    demo.mouse.up()
    wait_python(demo, f"'factor': {str(factor)[:6]}")
    demo.locator('[data-ring="clip"]').focus()
    demo.keyboard.press("ArrowUp")
    wait_python(demo, f"'factor': {str(factor + 0.05)[:5]}")


@pytest.mark.parametrize(
    ("button", "start", "size"),
    [("CSV", b'"', 2000), ("SVG", b"<svg", 5000), ("PNG", b"\x89PNG", 5000)],
)
def test_downloads_are_whole_files(demo: Any, button: str, start: bytes, size: int) -> None:
    demo.locator('[data-panel="private"]').hover()
    with demo.expect_download() as waiting:
        demo.locator('[data-panel="private"]').get_by_text(button, exact=True).click()
    content = Path(waiting.value.path()).read_bytes()
    assert waiting.value.suggested_filename == f"private.{button.lower()}"
    assert content.startswith(start)
    assert len(content) > size
    if button == "CSV":
        mean = demo.locator(BOLD).first.get_attribute("data-cx")
        assert f'1,"groups","group 1",1,{mean},'.encode() in content
    if button == "SVG":
        assert b"color-mix" not in content
        assert b"color(" not in content


def test_the_table_shows_the_numbers_of_the_current_step(demo: Any) -> None:
    panel = demo.locator('[data-panel="private"]')
    panel.hover()
    panel.get_by_text("Table", exact=True).click()
    row = panel.locator("tbody tr", has_text="groups").first
    assert "ε = 1" in panel.locator("caption").inner_text()
    before = row.inner_text()
    assert f"{float(demo.locator(BOLD).first.get_attribute('data-cx')):.4g}" in before
    demo.locator(THUMB).first.focus()
    demo.keyboard.press("ArrowLeft")
    demo.wait_for_function(
        "() => !document.querySelector('[data-panel=private] caption')"
        ".textContent.includes('ε = 1')"
    )
    assert row.inner_text() != before


def test_slots_are_text_never_markup_and_late_ones_are_filled(demo: Any) -> None:
    slot = demo.locator("[data-live]").first
    assert slot.inner_text() == "At ε = 1 <i>nothing</i> is lost."
    assert slot.locator("strong").inner_text() == "ε = 1"
    assert slot.locator("i").count() == 0
    demo.get_by_text("run again").click()
    demo.wait_for_function("document.querySelector('#late')?.textContent.startsWith('At ε')")


def test_every_picture_has_current_alt_text_and_named_buttons(demo: Any) -> None:
    alt = demo.locator('[data-panel="private"] svg').get_attribute("aria-label")
    assert alt == "Private fit. Three groups at ε = 1."
    demo.locator(THUMB).first.focus()
    demo.keyboard.press("ArrowRight")
    demo.wait_for_function(
        "document.querySelector('[data-panel=private] svg').ariaLabel.includes('1.09')"
    )
    names = demo.locator(".dpl-tools button").evaluate_all("n => n.map(b => b.ariaLabel)")
    assert len(names) == 21
    assert all(names)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 1920])
def test_lines_stand_out_and_nothing_overflows(
    new_page: Any, server: Any, theme: str, width: int
) -> None:
    page = new_page(width, 1000, theme)
    page.goto(server(DEMO))
    page.wait_for_selector(".dpl[data-step]", timeout=30_000)
    assert root(page, "theme") == theme
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    inside = page.locator('[data-panel="curve"] .dpl-label').evaluate_all(
        "n => n.every(t => t.getBoundingClientRect().right <= "
        "t.closest('.dpl-card').getBoundingClientRect().right)"
    )
    assert inside
