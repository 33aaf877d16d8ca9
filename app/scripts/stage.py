"""A Streamlit server on a free port of this machine, and a Chromium to look at it."""

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
from pathlib import Path
from typing import Any

from app.settings import entry, flags

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
NAMES = ("chromium", "chromium-browser", "google-chrome")


def chromium() -> str | None:
    """Path of a Chromium: the environment variable DPCORE_CHROMIUM, or the first one installed."""
    named = os.environ.get("DPCORE_CHROMIUM")
    return named or next(filter(None, map(shutil.which, NAMES)), None)


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


@contextmanager
def browser() -> Iterator[Any]:
    """A Chromium with an empty profile; without one or its driver, one sentence and exit code 2."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise SystemExit(_missing("playwright is not installed: pip install '.[test]'")) from None
    path = chromium()
    if path is None:
        raise SystemExit(_missing("no Chromium was found: install one or set DPCORE_CHROMIUM"))
    with sync_playwright() as tool:
        launched = tool.chromium.launch(executable_path=path, headless=True, args=FLAGS)
        yield launched
        launched.close()


def wait_until_complete(page: Any, seconds: float = 60) -> None:
    """Wait until the picture has held every noise draw and every curve for a quarter of a second.

    One look is not enough: a page is marked as at rest a frame or two before its picture is drawn.
    """
    page.wait_for_function(_rested(f"({COMPLETE.strip()})()"), timeout=1000 * seconds)


def wait_until_idle(page: Any, seconds: float = 30) -> None:
    """Wait until Streamlit has rested for a quarter of a second.

    One look is not enough: the address bar follows a run before the page is marked as running, and
    one run may be broken off by the next.
    """
    page.wait_for_function(_rested(IDLE), timeout=1000 * seconds)


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


IDLE = "document.querySelector('[data-testid=stApp]')?.dataset.testScriptState === 'notRunning'"

# Thirteen draws of K groups are two outlines and a centre each for the bold one, one for a ghost.
COMPLETE = f"""
() => {{
  const bold = document.querySelectorAll('[data-panel="private"] .dpl-bold .dpl-centre').length;
  const ghosts = document.querySelectorAll('[data-panel="private"] .dpl-ghost .dpl-ellipse').length;
  const labels = document.querySelectorAll('[data-panel="curve"] .dpl-label').length;
  return bold > 0 && ghosts === 12 * bold && labels > 2 && {IDLE};
}}
"""


def _missing(sentence: str) -> int:
    print(sentence, file=sys.stderr)
    return 2


def free_port() -> int:
    """A port of this machine that nobody uses."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for_health(url: str, process: subprocess.Popen[Any], seconds: float = 40) -> None:
    """Wait until the server that a process runs answers."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=1) as answer:
                if answer.status == 200:
                    return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError("the Streamlit server did not become healthy")
