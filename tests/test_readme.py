"""What the README shows is executed, and what it tabulates is there."""

from __future__ import annotations

import doctest
import re
import tomllib

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


def test_the_gate_runs_the_printed_test_command() -> None:
    gate = (ROOT / ".ci/run").read_text(encoding="utf-8")
    block = README.split("<!-- test command -->")[1].split("```")[1]
    assert "<!-- test command -->" in gate
    assert block.strip().splitlines()[1].startswith("python3 -m venv")


def test_every_lane_is_a_marker_with_its_line() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    markers = [
        line.partition(":")[0] for line in project["tool"]["pytest"]["ini_options"]["markers"]
    ]
    table = README.partition("| lane |")[2].partition("\n\n")[0]
    lanes = re.findall(r"^\| `(\w+)` \|", table, flags=re.MULTILINE)
    assert lanes == [name for name in markers if name not in ("realdata", "browser", "alone")]
