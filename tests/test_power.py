"""The list of planted bugs: every one still fits the code, and is another program."""

from __future__ import annotations

import ast
from collections import Counter
from functools import cache

from power.plant import ROOMS, bugs
from support import ROOT, every


def test_there_are_a_hundred_bugs_in_all_rooms() -> None:
    listed = bugs()
    assert len(listed) == 100
    assert set(Counter(bug.room for bug in listed)) == set(ROOMS)
    assert len({bug.harm for bug in listed}) == 100


@cache
def read(file: str) -> tuple[str, str]:
    """A file, and what it says to Python."""
    source = (ROOT / file).read_text(encoding="utf-8")
    return source, ast.dump(ast.parse(source)) if file.endswith(".py") else ""


@every("bug", bugs())
def test_a_planted_bug_fits_the_code(bug) -> None:
    source, meaning = read(bug.file)
    planted = bug.planted_in(source)
    if meaning:
        assert ast.dump(ast.parse(planted)) != meaning
    assert planted != source
