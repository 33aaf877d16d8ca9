"""Everybody can read every page: axe-core in both themes, contrast, colour vision, visible focus.

axe-core (Deque) looks for failures of the Web Content Accessibility Guidelines 2.2. Colour-vision
deficiency: Machado, Oliveira and Fernandes (2009), "A Physiologically-based Model for Simulation of
Color Vision Deficiency", table 1.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib.resources import files
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import wording
from studio.stage import wait_until_still

from app.texts import frame as frame_texts
from app.texts import learn as learn_texts
from app.texts import release as release_texts
from app.texts import upload as upload_texts
from dpcore.arrays import Array
from dpcore.figures.scene import PALETTE_DARK, PALETTE_LIGHT

THEMED = "theme => getComputedStyle(document.querySelector('.stApp')).colorScheme === theme"


# ---------------------------------------------------------------- axe-core on every page


def serious(page: Any, theme: str) -> list[str]:
    """Serious and critical findings of axe-core on the page as it stands."""
    if not page.evaluate("'axe' in window"):
        script = files("axe_playwright_python").joinpath("axe.min.js")
        page.evaluate(script.read_text(encoding="utf-8"))
    told = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
    assert len(told["passes"]) > 10, "axe-core looked at an empty page"
    return [
        f"{theme}, {rule['id']}: {node['html'][:120]} {[why['message'] for why in node['any']]}"
        for rule in told["violations"]
        if rule["impact"] in ("serious", "critical")
        for node in rule["nodes"]
    ]


# axe-core does not judge text in pictures: each text's contrast against its card.
CONTRASTS = """
() => {
  const pen = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const light = (colours) => {
    pen.clearRect(0, 0, 1, 1);
    for (const [colour, opacity] of colours) {
      pen.globalAlpha = opacity;
      pen.fillStyle = colour;
      pen.fillRect(0, 0, 1, 1);
    }
    const [r, g, b] = [...pen.getImageData(0, 0, 1, 1).data].map((byte) => {
      const share = byte / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
  };
  const texts = [...document.querySelectorAll(".dpl svg text")]
    .filter((node) => node.textContent && node.checkVisibility());
  return texts.map((node) => {
    const { fill, fillOpacity } = getComputedStyle(node);
    const ground = [getComputedStyle(node.closest(".dpl-card")).backgroundColor, 1];
    const [one, other] = [light([ground]), light([ground, [fill, fillOpacity]])];
    return [node.textContent, Math.max(one, other) / Math.min(one, other)];
  });
}
"""


def faint(page: Any, theme: str) -> list[str]:
    """Texts in the pictures with less than 4.5:1."""
    return [
        f"{theme}: {text} has {contrast:.2f}:1"
        for text, contrast in page.evaluate(CONTRASTS)
        if contrast < 4.5
    ]


def findings(page: Any) -> list[str]:
    """What is wrong in either theme."""
    found = []
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        page.wait_for_function(THEMED, arg=theme)
        wait_until_still(page)  # what fades would be judged on its way
        found += serious(page, theme) + faint(page, theme)
    return found


# Runs when a Python starts: calls to other machines fail, and are written down.
GUARD = """
import sys

def watch(event, args):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto"):
        place = args[0] if event == "socket.getaddrinfo" else args[1]
        host = place[0] if isinstance(place, tuple) else place
        if isinstance(place, tuple) or event == "socket.getaddrinfo":
            if host not in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "", None):
                open({log!r}, "a").write(f"{{event}} {{host}}\\n")
                raise OSError("no way out")

sys.addaudithook(watch)
open({log!r}, "a").write("watching\\n")
"""


@dataclass
class Guarded:
    """A server that can reach nobody, and what its processes tried."""

    url: str
    env: dict[str, str]
    log: Path

    def tried(self) -> list[str]:
        """What was tried; there is at least one line, that of the server's start."""
        lines = self.log.read_text(encoding="utf-8").splitlines()
        assert lines.count("watching") >= 1
        return [line for line in lines if line != "watching"]


@pytest.fixture(scope="module")
def guarded(server: Any, tmp_path_factory: pytest.TempPathFactory) -> Guarded:
    folder = tmp_path_factory.mktemp("guard")
    log = folder / "tried.txt"
    (folder / "sitecustomize.py").write_text(GUARD.format(log=str(log)), encoding="utf-8")
    env = {"PYTHONPATH": str(folder)}
    return Guarded(server(None, env=env), env, log)


def test_a_server_that_calls_out_would_be_caught(guarded: Guarded) -> None:
    for call in ('create_connection(("192.0.2.1", 80), 1)', 'getaddrinfo("example.org", 80)'):
        code = f"import socket; socket.{call}"
        done = subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | guarded.env,
            capture_output=True,
            text=True,
            timeout=20,
        )
        assert "no way out" in done.stderr
    assert sorted({line.split()[1] for line in guarded.tried()}) == ["192.0.2.1", "example.org"]
    guarded.log.write_text("watching\n", encoding="utf-8")


@pytest.fixture
def drawn(
    new_page: Callable[..., Any], guarded: Guarded, visits: Any
) -> Iterator[Callable[..., Any]]:
    """``drawn(address)`` opens a page and waits for its picture, or for one of its words.

    All it asked for until the end came from the server, and the server asked nobody.
    """
    page, asked = new_page(), []
    page.on("request", lambda request: asked.append(request.url))
    page.on("websocket", lambda socket: asked.append(socket.url.replace("ws:", "http:")))

    def open_address(address: str, words: str = "") -> Any:
        page.goto(f"{guarded.url}/{address}")
        if words:
            page.get_by_text(words).first.wait_for(timeout=30_000)
        else:
            page.wait_for_selector(".dpl[data-step]", timeout=60_000)
        wait_until_still(page)
        return page

    yield open_address
    assert any("/stream" in url for url in asked), "no request was seen"
    assert [url for url in asked if not url.startswith((guarded.url, "blob:", "data:"))] == []
    assert guarded.tried() == []
    assert visits.outside == []


FIRST = {
    "": "",
    "compose": "",
    "attack": "",
    "release": release_texts.NO_LEDGER,
    "learn": learn_texts.MY_GUESS,
    "?data=upload": upload_texts.NOTHING_READ,
}


@pytest.mark.parametrize("address", FIRST)
def test_axe_finds_nothing_serious(address: str, drawn: Callable[..., Any]) -> None:
    assert findings(drawn(address, FIRST[address])) == []


def popover(page: Any, name: str) -> None:
    page.keyboard.press("Escape")
    page.get_by_role("button", name=name).click()
    page.get_by_test_id("stPopoverBody").wait_for()


def explored(page: Any, _: Path) -> Iterator[str]:
    for name in ("More settings", frame_texts.SHARE):
        popover(page, name)
        yield name
    page.get_by_text(frame_texts.HIDEABLE["explore"]["says"], exact=True).click()
    yield "a link that hides something"
    page.keyboard.press("Escape")
    panel = page.locator('[data-panel="private"]')
    panel.hover()
    panel.get_by_text("Table", exact=True).click()
    yield "a picture's table"
    page.get_by_role("button", name="Pin this view").click()
    page.get_by_role("button", name="Unpin A").wait_for()
    yield "a pinned view"
    page.get_by_role("button", name="Step by step").click()
    page.locator(".dpl-column").first.wait_for(timeout=60_000)
    yield "what the steps spend"


def composed(page: Any, _: Path) -> Iterator[str]:
    popover(page, "What is released")
    yield "the list of releases"
    page.keyboard.press("Escape")
    page.get_by_text("More methods").click()
    page.wait_for_selector(".dp-methods")
    yield "all methods"


def unfold(page: Any, name: str) -> Any:
    """The first entry of a list that is open; one that a page closed as it was drawn anew is opened
    again."""
    from playwright.sync_api import TimeoutError

    first = page.get_by_role("option").first
    for _ in range(10):
        if first.is_visible():
            break
        page.get_by_role("combobox", name=name).click()
        with suppress(TimeoutError):
            first.wait_for(timeout=4_000)
    return first


def attacked(page: Any, _: Path) -> Iterator[str]:
    wait_until_still(page)
    unfold(page, "Exhibit")
    yield "the list of exhibits"
    unfold(page, "Exhibit").click()
    page.get_by_text("dpcore audit").wait_for(timeout=30_000)
    yield "an exhibit"


def released(page: Any, folder: Path) -> Iterator[str]:
    page.get_by_test_id("stTextInputField").first.fill(str(folder / "budget.sqlite"))
    page.keyboard.press("Enter")
    wait_until_still(page)
    page.get_by_role("button", name="Start this ledger").click()
    page.get_by_text("left after it").wait_for(timeout=30_000)
    yield "a plan"


def learned(page: Any, _: Path) -> Iterator[str]:
    page.get_by_role("button", name=learn_texts.MY_GUESS).first.click()
    page.get_by_text("You said").first.wait_for(timeout=60_000)
    yield "an answer"
    page.locator(".dpp-pad").press("ArrowUp")
    page.get_by_role("button", name="Show the truth").click()
    page.get_by_text("You drew").wait_for()
    yield "a curve of one's own under the true one"


def handed_in(page: Any, _: Path) -> Iterator[str]:
    hand = page.locator("[data-testid=stFileUploader] input[type=file]").first
    hand.set_input_files({"name": "t.csv", "mimeType": "text/csv", "buffer": b"a,b\n1,2,3\n"})
    page.get_by_test_id("stAlertContentError").wait_for()
    yield "a refused file"
    hand.set_input_files({"name": "t.csv", "mimeType": "text/csv", "buffer": b"a,b\n1,2\n3,4\n"})
    page.get_by_text(wording.LOOKED_AT).wait_for()
    yield "the limits"


def only(page: Any, _: Path) -> Iterator[str]:
    yield "another picture"


OPENED: list[tuple[str, str, Callable[[Any, Path], Iterator[str]]]] = [
    ("", "", explored),
    ("compose", "", composed),
    ("attack", "", attacked),
    ("release", release_texts.NO_LEDGER, released),
    ("learn", learn_texts.MY_GUESS, learned),
    ("?data=upload", upload_texts.NOTHING_READ, handed_in),
    ("?data=rare_person&components=2&without=1", "", only),
    ("?data=places&model=kmeans&components=6", "", only),
    ("?data=who_comes_back&model=logistic", "", only),
]


@pytest.mark.full
@pytest.mark.parametrize(("address", "words", "states"), OPENED)
def test_axe_finds_nothing_serious_in_what_can_be_opened(
    address: str, words: str, states: Any, drawn: Callable[..., Any], tmp_path: Path
) -> None:
    page = drawn(address, words)
    found = []
    for state in states(page, tmp_path):
        wait_until_still(page)
        found += [f"{state}: {one}" for one in findings(page)]
    assert found == []


# ---------------------------------------------------------------- where the keyboard is

WHERE = """
() => {
  const node = document.activeElement;
  const box = (node.type === "range" ? node.closest("[data-testid=stSlider]") : node)
    .getBoundingClientRect();
  const kind = `${node.tagName} ${node.closest("[data-testid]")?.dataset.testid}`;
  return { kind, x: box.x, y: box.y, width: box.width, height: box.height };
}
"""


def luminance(page: Any, box: dict[str, float]) -> Array:
    """Relative luminance of a part of the screen, with a border around it."""
    from PIL import Image

    left, top = max(box["x"] - 6, 0), max(box["y"] - 6, 0)
    size = {"width": min(box["width"] + 12, 1279 - left), "height": min(box["height"] + 12, 600)}
    shot = page.screenshot(clip={"x": left, "y": top, **size})
    return linear(np.asarray(Image.open(io.BytesIO(shot)).convert("RGB")) / 255.0) @ LIGHT


def linear(share: Array) -> Array:
    """Linear light of sRGB shares."""
    return np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)


LIGHT = np.array([0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize("theme", ["light", pytest.param("dark", marks=pytest.mark.full)])
def test_the_keyboard_s_place_is_seen(theme: str, drawn: Callable[..., Any]) -> None:
    """Focus changes at least 60 pixels by 3:1, on everything of the first screen that takes it."""
    page = drawn("")
    page.emulate_media(color_scheme=theme)
    page.wait_for_function(THEMED, arg=theme)
    seen: dict[str, int] = {}
    for _ in range(60):
        page.keyboard.press("Tab")
        box = page.evaluate(WHERE)
        kind = box.pop("kind")
        if kind.startswith("BODY"):
            break
        if kind in seen:
            continue
        page.wait_for_timeout(200)  # rings fade in
        on = luminance(page, box)
        page.evaluate("(window.was = document.activeElement).blur()")
        page.wait_for_timeout(200)
        off = luminance(page, box)
        page.evaluate("window.was.focus({ focusVisible: true })")
        ratio = (np.maximum(on, off) + 0.05) / (np.minimum(on, off) + 0.05)
        seen[kind] = int((ratio >= 3.0).sum())
    print(seen)
    assert len(seen) >= 8
    assert {kind: pixels for kind, pixels in seen.items() if pixels < 60} == {}


# ---------------------------------------------------------------- colour vision

DEFICIENT = {
    "none": [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}


def lab(light: Array) -> Array:
    """CIELAB (1976) of linear sRGB, for daylight (D65)."""
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], LIGHT, [0.0193, 0.1192, 0.9505]])
    share = to_xyz @ np.clip(light, 0.0, 1.0) / to_xyz.sum(axis=1)
    x, y, z = np.where(share > (6 / 29) ** 3, np.cbrt(share), share / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def apart(one: str, other: str, eyes: str) -> float:
    """How far apart two colours look: 2.3 can just be told apart, black and white are at 100."""
    seen = [
        lab(np.array(DEFICIENT[eyes]) @ linear(np.array(list(bytes.fromhex(hue[1:]))) / 255.0))
        for hue in (one, other)
    ]
    return float(np.linalg.norm(seen[0] - seen[1]))


@pytest.mark.parametrize("palette", [PALETTE_LIGHT, PALETTE_DARK])
@pytest.mark.parametrize("eyes", DEFICIENT)
def test_colours_stay_apart_for_all_eyes(eyes: str, palette: tuple[str, ...]) -> None:
    """All twelve; the first two, which tell proved from measured and yes from no, twice as far."""
    assert min(apart(a, b, eyes) for a, b in combinations(palette, 2)) > 15
    assert apart(palette[0], palette[1], eyes) > 35


def test_red_and_green_would_not_do() -> None:
    assert apart("#D62728", "#2CA02C", "none") > 60
    assert apart("#888800", "#A07A00", "deuteranopia") < 15
