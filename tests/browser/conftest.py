"""A Streamlit server on a free port and a Chromium page that cannot leave this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from studio import stage
from studio.stage import SIZE, Visits, serve
from support import require

collect_ignore = ["live_demo.py", "floor_demo.py"]  # Streamlit scripts, not modules to import


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is here: a browser is needed, and a failure is tried once more and reported.

    A page, its server and a hand meet here in real time. What fails twice is a bug.
    """
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.flaky(reruns=1))


def require_browser() -> None:
    """Go on where there is a Chromium and what drives it."""
    require("browser", find_spec("playwright") is not None, "playwright is not installed")
    require("browser", stage.chromium() is not None, "no Chromium is installed")


@pytest.fixture(scope="session")
def server() -> Iterator[Callable[..., str]]:
    """``server(script, *options)`` starts a script (``None``: the explorer) once a process."""
    require_browser()
    running: dict[tuple[Any, ...], str] = {}
    with ExitStack() as stack:

        def start(script: Path | None, *options: str, env: dict[str, str] | None = None) -> str:
            name = (script, options, tuple(sorted((env or {}).items())))
            if name not in running:
                running[name] = stack.enter_context(serve(script, *options, env=env))
            return running[name]

        yield start


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """One Chromium a process, with an empty profile."""
    require_browser()
    with stage.browser() as launched:
        yield launched


@pytest.fixture
def visits() -> Visits:
    return Visits()


@pytest.fixture(scope="session")
def contexts(browser: Any) -> Iterator[dict[tuple[Any, ...], Any]]:
    """Browser contexts of a process by size and theme: pages of one share the cache of files."""
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

    def open_page(
        width: int = SIZE["width"], height: int = SIZE["height"], theme: str = "light"
    ) -> Any:
        shape = (width, height, theme)
        if shape not in contexts:
            contexts[shape] = browser.new_context(
                viewport={"width": width, "height": height},
                color_scheme=theme,
                accept_downloads=True,
            )
        page = contexts[shape].new_page()
        pages.append(page)
        visits.watch(page)
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
