"""A Streamlit server on a free port and a Chromium page that cannot leave this machine."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from support import chromium

from app.scripts.stage import FLAGS, serve

collect_ignore = ["live_demo.py", "floor_demo.py"]  # Streamlit scripts, not modules to import
# Names and addresses of other machines lead nowhere. (Aborting requests one by one would turn the
# browser's cache off, and every page would load megabytes anew.)
NOWHERE = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"
LOCAL = {"127.0.0.1", "localhost", "::1"}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="module")
def server() -> Iterator[Callable[..., str]]:
    """``server(script, *options)`` starts a script (``None``: the explorer) once a module."""
    chromium()
    running: dict[tuple[Any, ...], str] = {}
    with ExitStack() as stack:

        def start(script: Path | None, *options: str, env: dict[str, str] | None = None) -> str:
            name = (script, options, tuple(sorted((env or {}).items())))
            if name not in running:
                running[name] = stack.enter_context(serve(script, *options, env=env))
            return running[name]

        yield start


@dataclass
class Visits:
    """Requests that tried to leave this machine (none can), and errors on the pages."""

    outside: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """One Chromium a module, with an empty profile."""
    path = chromium()
    sync_api = pytest.importorskip("playwright.sync_api") if not _required() else _playwright()
    with sync_api.sync_playwright() as tool:
        launched = tool.chromium.launch(executable_path=path, headless=True, args=[*FLAGS, NOWHERE])
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


@pytest.fixture(scope="module")
def contexts(browser: Any) -> Iterator[dict[tuple[Any, ...], Any]]:
    """Browser contexts of a module by size and theme: pages of one share the cache of files."""
    opened: dict[tuple[Any, ...], Any] = {}
    yield opened
    for context in opened.values():
        context.close()


@pytest.fixture
def new_page(
    browser: Any, contexts: dict[tuple[Any, ...], Any], visits: Visits
) -> Iterator[Callable[..., Any]]:
    """``new_page(width=1280, height=1000, theme="light")`` opens a page of a new session."""
    pages = []

    def watch(url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme in ("http", "https", "ws", "wss") and parts.hostname not in LOCAL:
            visits.outside.append(url)

    def open_page(width: int = 1280, height: int = 1000, theme: str = "light") -> Any:
        shape = (width, height, theme)
        if shape not in contexts:
            contexts[shape] = browser.new_context(
                viewport={"width": width, "height": height},
                color_scheme=theme,
                accept_downloads=True,
            )
        page = contexts[shape].new_page()
        pages.append(page)
        page.on("request", lambda request: watch(request.url))
        page.on("websocket", lambda socket: watch(socket.url))
        page.on("pageerror", lambda error: visits.errors.append(str(error)))
        page.on("console", lambda said: said.type == "error" and visits.errors.append(said.text))
        return page

    yield open_page
    for page in pages:
        page.close()


@pytest.fixture
def page(new_page: Callable[..., Any], visits: Visits) -> Iterator[Any]:
    """A page of 1280 x 1000; at the end, no request has left this machine, no error was shown."""
    yield new_page()
    assert visits.outside == []
    assert visits.errors == []
