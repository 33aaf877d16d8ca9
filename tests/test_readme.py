"""What the README shows is executed, and what it tabulates is there."""

from __future__ import annotations

import doctest
import re

from support import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_example_gives_what_it_prints() -> None:
    parser = doctest.DocTestParser()
    example = parser.get_doctest(README, {}, "README", "README.md", 0)
    assert len(example.examples) >= 6
    results = doctest.DocTestRunner().run(example)
    assert results.failed == 0


def test_the_map_names_every_room_and_no_other() -> None:
    named = set(re.findall(r"`dpcore/(\w+)/`", README))
    rooms = {path.parent.name for path in (ROOT / "dpcore").glob("*/__init__.py")}
    assert named == rooms


def test_every_accountant_is_named() -> None:
    from dpcore.accounting import ACCOUNTANTS

    assert f"`{' '.join(ACCOUNTANTS)}`" in README


def test_every_linked_file_is_there() -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", README):
        assert (ROOT / target).exists(), target


def test_the_gate_runs_the_printed_test_command() -> None:
    gate = (ROOT / ".ci/run").read_text(encoding="utf-8")
    block = README.split("<!-- test command -->")[1].split("```")[1]
    assert "<!-- test command -->" in gate
    assert block.strip().splitlines()[1].startswith("python3 -m venv")
