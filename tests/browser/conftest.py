"""A Streamlit server on a free port and a Chromium page that cannot leave this machine."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from support import ROOT, chromium

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
collect_ignore = ["live_demo.py"]  # a Streamlit script, not a module to import
LOCAL = {"127.0.0.1", "localhost", "::1"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.browser)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for_health(url: str, process: subprocess.Popen[bytes], seconds: float = 40) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if process.poll() is not None:
            break
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=1) as answer:
                if answer.status == 200:
                    return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError("the Streamlit server did not become healthy")


@contextmanager
def serve(script: Path, *options: str, env: dict[str, str] | None = None) -> Iterator[str]:
    """Run a Streamlit script in a process of its own; gives its address."""
    port = _free_port()
    command = [
        *(sys.executable, "-m", "streamlit", "run", str(script)),
        "--server.address=127.0.0.1",
        f"--server.port={port}",
        "--server.headless=true",
        "--server.fileWatcherType=none",
        "--browser.gatherUsageStats=false",
        *options,
    ]
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=os.environ | (env or {}),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        url = f"http://127.0.0.1:{port}"
        _wait_for_health(url, process)
        yield url
    finally:
        process.terminate()
        process.wait(timeout=20)


@pytest.fixture(scope="module")
def server() -> Iterator[Callable[..., str]]:
    """``server(script, *options)`` starts a script once a module and gives its address."""
    chromium()
    running: dict[tuple[Any, ...], str] = {}
    with ExitStack() as stack:

        def start(script: Path, *options: str, env: dict[str, str] | None = None) -> str:
            name = (script, options, tuple(sorted((env or {}).items())))
            if name not in running:
                running[name] = stack.enter_context(serve(script, *options, env=env))
            return running[name]

        yield start


@dataclass
class Visits:
    """Requests that tried to leave this machine (each was aborted), and errors of the pages."""

    outside: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """One Chromium a module, with an empty profile."""
    path = chromium()
    sync_api = pytest.importorskip("playwright.sync_api") if not _required() else _playwright()
    with sync_api.sync_playwright() as tool:
        launched = tool.chromium.launch(executable_path=path, headless=True, args=FLAGS)
        yield launched
        launched.close()


def _required() -> bool:
    return "browser" in os.environ.get("DPCORE_REQUIRE", "").split(",")


def _playwright() -> Any:
    import playwright.sync_api

    return playwright.sync_api


@pytest.fixture
def visits() -> Visits:
    return Visits()


@pytest.fixture
def new_page(browser: Any, visits: Visits) -> Iterator[Callable[..., Any]]:
    """``new_page(width=1280, height=1000, theme="light")`` opens a page in a fresh context."""
    contexts = []

    def open_page(width: int = 1280, height: int = 1000, theme: str = "light") -> Any:
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=theme, accept_downloads=True
        )
        contexts.append(context)

        def guard(route: Any) -> None:
            if urlsplit(route.request.url).hostname in LOCAL:
                route.continue_()
            else:
                visits.outside.append(route.request.url)
                route.abort()

        context.route(re.compile(r"^(http|ws)"), guard)
        page = context.new_page()
        page.on("pageerror", lambda error: visits.errors.append(str(error)))
        return page

    yield open_page
    for context in contexts:
        context.close()


@pytest.fixture
def page(new_page: Callable[..., Any], visits: Visits) -> Iterator[Any]:
    """A page of 1280 x 1000; at the end, no request may have left this machine."""
    yield new_page()
    assert visits.outside == []
    assert visits.errors == []
