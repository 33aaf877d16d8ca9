"""Collection is paid for by every process of every run, so it does no more than it has to."""

from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path

import pytest
from _pytest.doctest import DoctestModule

BACKWARDS = os.environ.get("PYTEST_XDIST_WORKER", "gw0").endswith(("1", "3"))


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(
    file_path: Path,
) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """A file without an example is not imported in search of one."""
    collectors = yield
    if file_path.suffix == ".py" and b">>> " not in file_path.read_bytes():
        return [each for each in collectors if not isinstance(each, DoctestModule)]
    return collectors


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Every second process goes through the files from the last to the first: on a fresh clone
    each finds half of them compiled by the other."""
    report = yield
    if BACKWARDS and isinstance(collector, pytest.Directory):
        report.result.reverse()
    return report
