"""A Streamlit server on a free port of this machine, and a Chromium that cannot leave it."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from app.settings import entry, flags
from app.texts.explore import COMING, COMPARING

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # Names and addresses of other machines lead nowhere. (Aborting requests one by one would turn
    # the browser's cache off, and every page would load megabytes anew.)
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
]
# Without windows it takes three quarters of the processor time.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
LOCAL = ("127.0.0.1", "localhost", "::1")
SIZE = {"width": 1280, "height": 1000}


# ---------------------------------------------------------------- the server


@contextmanager
def serve(
    script: Path | None = None, *options: str, env: dict[str, str] | None = None
) -> Iterator[str]:
    """Run a Streamlit script (the explorer, if none is named) in its own process; its address."""
    port = free_port()
    command = [
        *(sys.executable, "-m", "streamlit", "run", str(script or entry())),
        f"--server.port={port}",
        *flags(),
        *options,
    ]
    process = subprocess.Popen(
        command,
        env=os.environ | (env or {}),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        url = f"http://127.0.0.1:{port}"
        wait_for_health(url, process)
        yield url
    finally:
        process.terminate()
        process.wait(timeout=20)


def free_port() -> int:
    """A port of this machine that nobody uses."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for_health(url: str, process: subprocess.Popen[Any]) -> None:
    """Wait until the server that a process runs answers."""
    end = time.monotonic() + 40
    while time.monotonic() < end and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=1) as answer:
                if answer.status == 200:
                    return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError("the Streamlit server did not become healthy")


# ---------------------------------------------------------------- the browser


def chromium() -> str | None:
    """Path of a Chromium: the environment variable DPCORE_CHROMIUM, or the first one installed."""
    named = os.environ.get("DPCORE_CHROMIUM")
    return named or next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def browser() -> Iterator[Any]:
    """A Chromium with an empty profile; without one, one sentence and exit code 1."""
    from playwright.sync_api import sync_playwright

    path = chromium()
    if path is None:
        raise SystemExit("no Chromium was found: install one or set DPCORE_CHROMIUM")
    with sync_playwright() as driver:
        launched = driver.chromium.launch(executable_path=path, headless=True, args=FLAGS)
        yield launched
        launched.close()


@dataclass
class Visits:
    """Requests that tried to leave this machine (none can), and errors on the pages."""

    outside: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def watch(self, page: Any) -> None:
        """Write down what a page asks for and complains of from now on."""
        page.on("request", lambda request: self._request(request.url))
        page.on("websocket", lambda socket: self._request(socket.url))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", self._message)

    def _request(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("blob", "data", "file") and parts.hostname not in LOCAL:
            self.outside.append(url)

    def _message(self, message: Any) -> None:
        """Errors; not those of Streamlit asking for itself below the page's own address first."""
        url = message.location["url"]
        if message.type == "error" and "/_stcore/" not in urlsplit(url).path[1:]:
            self.errors.append(f"{message.text} {url}".strip())


# ---------------------------------------------------------------- a page at rest

IDLE = "document.querySelector('[data-testid=stApp]')?.dataset.testScriptState === 'notRunning'"
UNMOVED = "document.getAnimations().every((one) => one.playState !== 'running')"

SOON = f"{COMPARING}|{COMING}".replace(".", "[.]")  # what a curve says of fits that are to come

# Thirteen draws of K groups are two outlines and a centre each for the bold one, one for a ghost;
# other pictures have no outlines, and are whole once no part of the curve is still to come.
COMPLETE = f"""
() => {{
  const count = (selector) => document.querySelectorAll(selector).length;
  const outlines = count('[data-panel="private"] .dpl-bold .dpl-ellipse');
  const bold = count('[data-panel="private"] .dpl-bold .dpl-centre');
  const ghosts = count('[data-panel="private"] .dpl-ghost .dpl-ellipse');
  const curve = document.querySelector('[data-panel="curve"]');
  const labels = count('[data-panel="curve"] .dpl-label');
  const drawn = outlines > 0 ? bold > 0 && ghosts === 12 * bold && labels > 2
    : count('[data-panel="private"]') > 0 && labels > 0 && !/{SOON}/.test(curve.textContent);
  return drawn && {IDLE};
}}
"""


def wait_until_complete(page: Any) -> None:
    """Wait until the picture has held every noise draw and every curve for a quarter of a second.

    One look is not enough: a page is marked as at rest a frame or two before its picture is drawn.
    """
    page.wait_for_function(_rested(f"({COMPLETE.strip()})()"), timeout=60_000)


def wait_until_idle(page: Any, seconds: float = 30) -> None:
    """Wait until Streamlit has rested for a quarter of a second.

    One look is not enough: the address bar follows a run before the page is marked as running, and
    one run may be broken off by the next.
    """
    page.wait_for_function(_rested(IDLE), timeout=1000 * seconds)


def wait_until_still(page: Any, seconds: float = 60) -> None:
    """Wait until nothing is worked out, moved or faded."""
    wait_until_idle(page, seconds)
    page.wait_for_function(UNMOVED)


def _rested(condition: str) -> str:
    """That a condition has held for a quarter of a second, looked at more than ten times."""
    return f"""
() => new Promise((rested) => {{
  let since = performance.now(), looks = 0;
  const look = () => {{
    if ({condition}) looks += 1;
    else [since, looks] = [performance.now(), 0];
    if (looks > 10 && performance.now() - since > 250) rested(true);
    else setTimeout(look, 20);
  }};
  look();
}})
"""


# ---------------------------------------------------------------- the slider


def thumb(key: str) -> str:
    """Selector of the thumb of a slider, by the key that Streamlit knows it by."""
    return f".st-key-{key} [role=slider], .st-key-{key} input[type=range]"


def grasp(page: Any, key: str = "epsilon_step") -> tuple[float, float, float, float]:
    """Put the mouse down on the thumb: its centre, then left end and width of the track.

    A thumb that the bar on top may cover is scrolled down first.
    """
    x, y = page.locator(thumb(key)).first.evaluate(
        "n => { const thumb = n.closest('[class*=humb]') ?? n.parentElement;"
        " if (thumb.getBoundingClientRect().top < 100) thumb.scrollIntoView({ block: 'center' });"
        " const b = thumb.getBoundingClientRect();"
        " return [b.x + b.width / 2, b.y + b.height / 2] }"
    )
    track = page.locator(f".st-key-{key} [data-testid=stSlider]").bounding_box()
    page.mouse.move(x, y)
    page.mouse.down()
    return x, y, track["x"], track["width"]


def open_cell(page: Any, cells: Any, column: int) -> None:
    """Open a cell of an editor's first line for typing; it takes no keys until it is drawn."""
    for _ in range(6):
        box = cells.bounding_box()
        page.mouse.click(box["x"] + 60, box["y"] + 35 + 12)
        page.wait_for_timeout(100)
        for _ in range(column):
            page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
        for _ in range(30):
            if page.locator("input.gdg-input:focus").count():
                return
            page.wait_for_timeout(100)
    raise AssertionError("the cell never opened")
