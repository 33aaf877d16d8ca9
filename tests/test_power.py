"""The list of planted bugs: every one still fits the code, and is another program."""

from __future__ import annotations

import ast
from collections import Counter

from power.plant import ROOMS, bugs
from support import ROOT, every


def test_there_are_a_hundred_bugs_in_all_rooms() -> None:
    listed = bugs()
    assert len(listed) == 100
    assert set(Counter(bug.room for bug in listed)) == set(ROOMS)
    assert len({bug.harm for bug in listed}) == 100


@every("bug", bugs())
def test_a_planted_bug_fits_the_code(bug) -> None:
    source = (ROOT / bug.file).read_text(encoding="utf-8")
    planted = bug.planted_in(source)
    if bug.file.endswith(".py"):
        assert ast.dump(ast.parse(planted)) != ast.dump(ast.parse(source))
    assert planted != source
