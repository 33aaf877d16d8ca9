"""The house style that tools can check: formatting, lint, and strict types."""

from __future__ import annotations

import subprocess
import sys

import pytest
from support import ROOT

TOOLS = {
    "lint": ["ruff", "check", "--quiet", "."],
    "format": ["ruff", "format", "--quiet", "--check", "."],
    "types": ["mypy", "--no-error-summary"],
}


@pytest.mark.parametrize("name", TOOLS)
def test_the_tools_have_nothing_to_say(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *TOOLS[name]], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
