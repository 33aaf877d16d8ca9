"""Slow tests run only when the full gate asks for them."""

from __future__ import annotations

import os

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if os.environ.get("DPCORE_FULL") == "1":
        return
    skip = pytest.mark.skip(reason="slow: set DPCORE_FULL=1")
    for item in items:
        if "slow" in item.keywords:
            item.add_marker(skip)
