"""Slow tests run only when the full gate asks for them; no test fails for being slow."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

settings.register_profile("unhurried", settings.default, deadline=None)
settings.load_profile("unhurried")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave slow tests out unless ``DPCORE_FULL=1``."""
    if os.environ.get("DPCORE_FULL") == "1":
        return
    slow = [item for item in items if "slow" in item.keywords]
    if slow:
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if "slow" not in item.keywords]
