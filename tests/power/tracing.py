"""A plugin for pytest: which test runs which line and branch, and how long each test takes.

It writes into the folder that POWER_FOLDER names: ``cover.*``, of each process, and ``times.json``.
Coverage is begun again where a test has ended it.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(os.environ.get("POWER_FOLDER", "."))
WORKER = os.environ.get("PYTEST_XDIST_WORKER", "")
_seconds: Counter[str] = Counter()
_coverage: list[Any] = []


def pytest_configure(config: pytest.Config) -> None:
    if WORKER or not getattr(config.option, "numprocesses", None):
        from coverage import Coverage  # of the lanes no test needs it

        os.environ["COVERAGE_CORE"] = "ctrace"  # the only one that knows contexts
        here = os.getcwd()
        found = Coverage(
            str(FOLDER / "cover"), data_suffix=WORKER or "alone", branch=True,
            source=[f"{here}/dpcore", f"{here}/app"], config_file=False,
        )  # fmt: skip
        found.start()
        _coverage.append(found)


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    for found in _coverage:
        if sys.gettrace() is None:
            found.stop()
            found.start()
        found.switch_context(item.nodeid)
    yield


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    _seconds[report.nodeid] += report.duration


def pytest_sessionfinish() -> None:
    for found in _coverage:
        found.stop()
        found.save()
    if not WORKER:
        (FOLDER / "times.json").write_text(json.dumps(_seconds), encoding="utf-8")
