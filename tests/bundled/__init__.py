"""The scripts behind ``sample_data``: ``python -m tests.bundled`` rebuilds every file.

Each script fixes its seed, so a rebuild gives the same bytes; a test compares them. Only the texts
of installed libraries are as their versions are (``docstrings.py``).
"""

from __future__ import annotations

from . import (
    digits,
    iris,
    life_science_like,
    places,
    rare_person,
    stewards_table,
    three_groups,
    wine,
)
from .files import GeneratedFile

SCRIPTS = (
    three_groups,
    rare_person,
    stewards_table,
    life_science_like,
    iris,
    wine,
    places,
    digits,
)


def make_all() -> tuple[GeneratedFile, ...]:
    """Every bundled table, built afresh."""
    return tuple(file for script in SCRIPTS for file in script.make())
