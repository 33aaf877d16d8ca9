"""Pages of the app as the test runner of its framework draws them: opened by a link, and read."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Future
from typing import Any

from streamlit.testing.v1 import AppTest
from support import ROOT

from app import tables
from app.result_store import Data, ResultStore
from app.scenario import Scenario


def explorer(timeout: float = 300, **query: str) -> AppTest:
    """The app as a visitor finds it who follows this link."""
    page = AppTest.from_file(str(ROOT / "app" / "explorer.py"), default_timeout=timeout)
    page.query_params.update(query)
    return page.run()


def data_of(scenario: Scenario) -> Data:
    """The data of a scenario that is no upload: it is always there."""
    data = tables.data_of(scenario)
    assert data is not None
    return data


def at_once(store: ResultStore, key: Hashable, work: Callable[[], None]) -> None:
    """What would be worked out behind a page, worked out before the page goes on."""
    store.waiting[key] = Future()
    work()


def elements(block: Any, skip: str = "") -> Iterator[Any]:
    """Every element below a block, in order; blocks of the type ``skip`` are left out."""
    for child in block.children.values():
        if skip and child.type == skip:
            continue
        if hasattr(child, "children"):
            yield from elements(child, skip)
        else:
            yield child


def texts(page: AppTest) -> list[str]:
    """Its pieces of HTML, scripts left out."""
    html = [node.value for node in elements(page.main) if node.type == "html"]
    return [text for text in html if not text.startswith("<script")]


def scenes(page: AppTest) -> list[dict[str, Any]]:
    """The first scene of every live picture, as the browser gets it."""
    live = (node for node in elements(page.main) if node.type == "bidi_component")
    return [json.loads(node.proto.bytes)["pictures"][0]["scene"] for node in live]


def control(page: AppTest, kind: str, label: str) -> Any:
    """The one control of a kind whose label begins so."""
    found = [one for one in getattr(page, kind) if one.label.startswith(label)]
    assert len(found) == 1, (kind, label, [one.label for one in getattr(page, kind)])
    return found[0]
