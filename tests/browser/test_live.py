"""The live picture follows the hand, keeps its zoom, and never leaves this machine."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from studio.stage import grasp, thumb
from support import keeps_up

from app.first_picture import stored_picture
from app.live import joined

DEMO = Path(__file__).with_name("live_demo.py")
SLIDER = "eps-ilon"
THUMB = thumb(SLIDER)
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


@pytest.fixture
def everything(page: Any, server: Any) -> Any:
    """The same page with every kind of layer there is."""
    page.goto(server(DEMO) + "?everything")
    page.wait_for_selector(".dpl[data-step]", timeout=30_000)
    page.wait_for_selector("#python")
    return page


@pytest.mark.parametrize("drawn_first", ["above", "below"])
def test_of_two_pictures_with_texts_of_one_name_the_lower_fills_them(
    page: Any, server: Any, drawn_first: str
) -> None:
    """Each filled them anew after the other, for ever, and the page stood still: so did Explore's
    first picture and its own on a slow machine, where they differ in a digit."""
    page.goto(server(DEMO) + f"?twice={drawn_first}")
    page.wait_for_function("document.querySelectorAll('.dpl[data-step]').length === 2")
    page.wait_for_function(
        "document.querySelector('[data-live]').innerText === 'Said twice at 26.'"
    )


@pytest.mark.parametrize("which", ["demo", "everything"])
def test_a_drag_redraws_20_times_a_second_each_with_its_own_epsilon(
    request: pytest.FixtureRequest, which: str
) -> None:
    demo = request.getfixturevalue(which)
    demo.evaluate(RECORD, BOLD)
    _, y, left, width = grasp(demo, SLIDER)
    began = demo.evaluate("performance.now()")
    for i in range(1, 49):
        demo.mouse.move(left + width * (0.5 - 0.48 * i / 48), y)
    demo.wait_for_timeout(100)
    seen = demo.evaluate("window.seen")
    python = demo.locator("#python").text_content()
    demo.mouse.up()
    assert "python:26" in python, "Streamlit is only asked after release"
    assert len(seen) >= 15
    keeps_up(seen, began)
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
    _, y, left, width = grasp(demo, SLIDER)
    for i in range(20):
        demo.mouse.move(left + width * (0.5 + 0.01 * i), y)
    demo.wait_for_timeout(60)
    demo.evaluate(RECORD, BOLD)
    card = demo.locator('[data-panel="private"] svg[role]').element_handle()
    dragged = int(root(demo, "step"))
    demo.mouse.up()
    wait_python(demo, f"python:{dragged}")
    demo.wait_for_timeout(200)
    assert dragged != 26
    assert {one["step"] for one in demo.evaluate("window.seen")} <= {dragged}
    assert int(root(demo, "step")) == dragged
    assert ticks(demo, "private") == zoomed
    assert card.evaluate("node => node.isConnected"), "the card was rebuilt"


LATE = """
async ([code, scene]) => {
  const module = await import(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
  const parentElement = document.body.appendChild(document.createElement("div"));
  const data = () => new TextEncoder().encode(`{"pictures":[{"slider":"x","scene":${scene}}]}`);
  const leave = [0, 1].map(() => module.default({ data: data(), parentElement }));
  return leave.map((left) => (left(), parentElement.querySelectorAll(".dpl svg").length > 0));
}
"""


def test_a_late_removal_of_an_earlier_picture_leaves_the_later_one(demo: Any) -> None:
    """Streamlit removes what it drew before its data changed only once the new picture is there,
    where they change while the module loads."""
    asked = [joined("component"), stored_picture()["scene"]]
    assert demo.evaluate(LATE, asked) == [True, False]


def test_a_new_scene_updates_in_place_and_keeps_the_zoom(demo: Any) -> None:
    demo.locator('[data-panel="exact"]').hover()
    demo.locator('[data-panel="exact"] button[title="Zoom in"]').click()
    demo.wait_for_timeout(50)
    zoomed, before = ticks(demo, "private"), demo.locator(BOLD).first.get_attribute("d")
    assert zoomed == ticks(demo, "exact"), "panels of one link share the zoom"
    card = demo.locator('[data-panel="private"] svg[role]').element_handle()
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
    box = demo.locator('[data-panel="private"] svg[role]').bounding_box()
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
    box = demo.locator('[data-panel="curve"] svg[role]').bounding_box()
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


def test_live_texts_are_text_never_markup_and_late_ones_are_filled(demo: Any) -> None:
    line = demo.locator("[data-live]").first
    assert line.inner_text() == "At ε = 1 <i>nothing</i> is lost."
    assert line.locator("strong").inner_text() == "ε = 1"
    assert line.locator("i").count() == 0
    demo.get_by_text("run again").click()
    demo.wait_for_function("document.querySelector('#late')?.textContent.startsWith('At ε')")


def test_every_picture_has_current_alt_text_and_named_buttons(demo: Any) -> None:
    alt = demo.locator('[data-panel="private"] svg[role]').get_attribute("aria-label")
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


# Colours of the canvas of a panel at places given in pixels of the card.
COLOURS = """
([panel, places]) => {
  const canvas = document.querySelector(`[data-panel="${panel}"] canvas`);
  const ratio = canvas.width / canvas.clientWidth;
  const pen = canvas.getContext("2d");
  return places.map(([x, y]) => [...pen.getImageData(x * ratio, y * ratio, 1, 1).data]);
}
"""


def tile(page: Any, panel: str, index: int) -> dict[str, float]:
    """Place of an image on its card."""
    box = page.locator(f'[data-panel="{panel}"] [data-tile="{index}"]')
    return {name: float(box.get_attribute(name)) for name in ("x", "y", "width", "height")}


def middles(page: Any, panel: str, index: int, rows: int) -> list[list[float]]:
    """Middle of each row of an image."""
    box = tile(page, panel, index)
    return [
        [box["x"] + box["width"] / 2, box["y"] + box["height"] * (row + 0.5) / rows]
        for row in range(rows)
    ]


def test_cells_have_the_colour_of_their_value(everything: Any) -> None:
    a, b = (
        everything.evaluate(COLOURS, ["cells", middles(everything, "cells", k, 2)]) for k in (0, 1)
    )
    assert a[0] == pytest.approx([234, 174, 127, 255], abs=3), "halfway from white to orange"
    assert a[1] == [0, 114, 178, 255]
    assert b[0] == [255, 255, 255, 255]
    assert b[1] == [213, 94, 0, 255]


def test_images_and_their_words_move_with_the_slider(everything: Any) -> None:
    places = middles(everything, "heat", 3, 16)
    before = everything.evaluate(COLOURS, ["heat", places])
    words = everything.locator('[data-panel="heat"] .dpl-note')
    assert "3 at 1" in words.all_text_contents()
    everything.locator(THUMB).first.focus()
    everything.keyboard.press("ArrowLeft")
    everything.wait_for_function("document.querySelector('.dpl').dataset.step === '25'")
    assert everything.evaluate(COLOURS, ["heat", places]) != before
    assert "3 at 0.915" in words.all_text_contents()


def test_a_cell_under_the_pointer_says_its_name_and_value(everything: Any) -> None:
    box = everything.locator('[data-panel="cells"] [data-tile="1"]')
    box.scroll_into_view_if_needed()
    place = box.bounding_box()
    readout = everything.locator('[data-panel="cells"] .dpl-readout')
    for share, text in ((0.25, "b: up 0"), (0.75, "b: down 1")):
        everything.mouse.move(place["x"] + 9, place["y"] + place["height"] * share)
        assert readout.inner_text() == text
    everything.mouse.move(place["x"] + 9, place["y"] + place["height"] + 30)
    assert readout.is_hidden()


def test_cells_are_in_the_table_and_in_every_file(everything: Any) -> None:
    panel = everything.locator('[data-panel="cells"]')
    panel.scroll_into_view_if_needed()
    panel.hover()
    panel.get_by_text("Table", exact=True).click()
    assert panel.locator("tbody tr").all_inner_texts() == [
        "cell\ta: up\t1\t0.504",
        "cell\ta: down\t2\t-1",
        "cell\tb: up\t3\t0",
        "cell\tb: down\t4\t1",
    ]
    files = {}
    for button in ("CSV", "SVG", "PNG"):  # also while the table is open
        with everything.expect_download() as waiting:
            panel.get_by_text(button, exact=True).click()
        files[button] = Path(waiting.value.path()).read_bytes()
    assert b'1,"cell","a: down",2,,,,,,,,,,,-1' in files["CSV"]
    assert b'<image href="data:image/png;base64,' in files["SVG"]
    assert b">up</text>" in files["SVG"]
    assert (
        everything.evaluate(
            """async (bytes) => {
          const picture = await createImageBitmap(new Blob([new Uint8Array(bytes)]));
          const pen = new OffscreenCanvas(picture.width, picture.height).getContext("2d");
          pen.drawImage(picture, 0, 0);
          const all = pen.getImageData(0, 0, picture.width, picture.height).data;
          let blue = 0;
          for (let i = 0; i < all.length; i += 4) {
            blue += all[i] === 0 && all[i + 1] === 114 && all[i + 2] === 178;
          }
          return blue / (all.length / 4);
        }""",
            list(files["PNG"]),
        )
        > 0.1
    ), "a quarter of the table is blue"


def test_labels_of_marks_and_places_cover_no_other(everything: Any) -> None:
    for panel, least in (("curve", 5), ("centres", 2)):
        boxes = everything.locator(f'[data-panel="{panel}"] .dpl-note').evaluate_all(
            "nodes => nodes.filter(n => n.style.display !== 'none')"
            ".map(n => n.getBoundingClientRect()).map(b => [b.x, b.right, b.y, b.bottom])"
        )
        assert len(boxes) >= least
        for i, (left, right, top, bottom) in enumerate(boxes):
            for other in boxes[:i]:
                apart = right <= other[0] or left >= other[1]
                # A line of text is higher than its letters: a few pixels may touch.
                assert apart or bottom <= other[2] + 5 or top >= other[3] - 5


def test_no_line_is_drawn_over_a_label_of_a_mark(everything: Any) -> None:
    """A label has a halo, which hides only what is drawn before it."""
    drawn = everything.locator('[data-panel="curve"] :is(.dpl-rule, .dpl-note)').evaluate_all(
        "nodes => nodes.map(n => n.classList[0])"
    )
    assert drawn.count("dpl-rule") >= 5
    assert drawn == sorted(drawn, reverse=True)


def test_columns_have_round_numbers_at_their_places(everything: Any) -> None:
    """Not the ends of the axis, such as -0.962 visits."""
    card = everything.locator('[data-panel="marginals"]')
    texts = card.locator("svg .dpl-note:not(.dpl-pinned)").evaluate_all(
        "nodes => nodes.map(n => n.getBoundingClientRect()).map(b => [b.x, b.right, b.y])"
    )
    numbers = card.locator("svg .dpl-note:not(.dpl-pinned)").all_text_contents()
    paths = card.locator("path.dpl-rule").evaluate_all(
        "nodes => nodes.map(n => n.getAttribute('d'))"
    )
    assert numbers == ["age (years)", "10", "110", "visits per year", "0", "70"]
    assert [path.count("v4") for path in paths] == [2, 2]
    for row in (texts[:3], texts[3:]):
        title, low, high = row
        assert low[1] < title[0] < title[1] < high[0]


def test_several_clouds_share_a_card_and_all_of_them_move(everything: Any) -> None:
    count = """() => {
      const canvas = document.querySelector('[data-panel="centres"] canvas');
      const all = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
      const seen = {};
      for (let i = 0; i < all.length; i += 4) {
        if (!all[i + 3]) continue;
        const hue = [0, 1, 2].map((k) => (all[i + k] > 127 ? 1 : 0)).join("");
        seen[hue] = (seen[hue] ?? 0) + 1;
      }
      return seen;
    }"""
    before = everything.evaluate(count)
    assert len([hue for hue, pixels in before.items() if pixels > 30]) >= 4
    spot = everything.locator('[data-spot="centre 3"]')
    border = everything.locator('[data-panel="centres"] .dpl-quiet')
    was = spot.get_attribute("transform"), border.get_attribute("d")
    everything.locator(THUMB).first.focus()
    everything.keyboard.press("ArrowLeft")
    everything.wait_for_function("document.querySelector('.dpl').dataset.step === '25'")
    assert everything.evaluate(count) != before
    assert spot.get_attribute("transform") != was[0]
    assert border.get_attribute("d") != was[1]
