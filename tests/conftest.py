"""Every test is in one lane: quick, merge or full. What a run took is told at its end."""

from __future__ import annotations

import gc
import os
import sys
from collections import Counter
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import collecting
import pytest
from hypothesis import settings

if "PYTEST_XDIST_WORKER" in os.environ:  # as many threads as processes, or they wait for each other
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("OMP_NUM_THREADS", "1")

# A container's setting; here every process and every run would compile the package and tests anew.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

os.environ["DPCORE_DATA"] = os.devnull + "/none"  # sets that somebody has added stay out of tests

settings.register_profile("thorough", deadline=None)  # no test fails for being slow
settings.register_profile("quick", deadline=None, max_examples=20)


def pytest_configure(config: pytest.Config) -> None:
    """Fewer examples outside the full lane, and the hooks of collection for every folder."""
    few = config.option.markexpr.startswith(("quick", "merge"))
    settings.load_profile("quick" if few else "thorough")
    providers = sys.modules.get("hypothesis.internal.conjecture.providers")
    if _quick(config) and providers:  # a second per process for constants that few examples use
        setattr(providers, "is_local_module_file", lambda path: False)  # noqa: B010
    config.pluginmanager.register(collecting)


def _quick(config: pytest.Config) -> bool:
    return bool(config.option.markexpr == "quick")


@pytest.fixture(scope="session")
def exhaustive(request: pytest.FixtureRequest) -> bool:
    """False in the quick and the merge lane, where a test that asks for this tries fewer cases; it
    is met in the full lane again."""
    return not request.config.option.markexpr.startswith(("quick", "merge"))


@pytest.fixture(autouse=True)
def closed_pages() -> Iterator[None]:
    """What a test's page has begun does not go on behind the tests that follow."""
    yield
    if "app.result_store" in sys.modules:
        sys.modules["app.result_store"].let_go()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is collected stays to the end: no search for garbage looks through it."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """The quick lane need not import what browsers are tested with."""
    return True if collection_path.name == "browser" and _quick(config) else None


def pytest_make_parametrize_id(val: object) -> str | None:
    """A compressed file holds the second in which it was made; processes would differ in names."""
    return "compressed" if isinstance(val, bytes) and val.startswith(b"\x1f\x8b") else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Browsers are of the merge lane; what is in no lane is quick; what is marked for the
    merge and the full lane is in the full one; a property is met again there, with more cases.

    What takes longest comes first: no process has to wait for it at the end. All processes have
    the items in one order, whichever they collected first.
    """
    items.sort(key=lambda item: ("[types]" not in item.name, str(item.path)))
    for item in items:
        marks = {mark.name for mark in item.iter_markers()}
        if "full" in marks:
            item.own_markers[:] = [mark for mark in item.own_markers if mark.name != "merge"]
        if not marks & {"merge", "full"}:
            item.add_marker("merge" if "browser" in marks else "quick")
            drawn = getattr(getattr(item, "function", None), "is_hypothesis_test", False)
            if drawn:
                item.add_marker("full")
        if "exhaustive" in getattr(item, "fixturenames", ()):
            item.add_marker("full")


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Where the time went, by file."""
    spent: Counter[str] = Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            spent[report.nodeid.partition("::")[0]] += getattr(report, "duration", 0.0)
    total = sum(spent.values())
    terminalreporter.section(f"{total:.0f} seconds of tests, by file")
    for name, seconds in spent.most_common(15):
        terminalreporter.line(f"{seconds:7.1f}s  {name}")
