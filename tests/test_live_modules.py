"""The live picture's JavaScript: one text for the browser, checked types, and tests in Node."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from support import ROOT, every, require

from app.frame import SCRIPTS
from app.live import joined

LIVE = ROOT / "app" / "live"
MODULES = sorted(LIVE.glob("*.js"))
# The component, the scripts of every page, and a page that needs no server.
ENTRIES = ("component", *SCRIPTS, "site")


def tool(name: str) -> str:
    """Path of a program that is no Python package."""
    path = shutil.which(name)
    require("node", path is not None, f"{name} is not installed")
    return str(path)


def ran(*command: str | Path) -> str:
    """What a program printed that found nothing wrong."""
    done = subprocess.run(list(map(str, command)), cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_component_stays_small_and_every_module_is_part_of_it() -> None:
    texts = {name: joined(name) for name in ENTRIES}
    explorer = "".join(texts[name] for name in ("component", *SCRIPTS))
    assert len(explorer.encode()) < 120_300
    assert len(texts["site"].encode()) < 114_800
    for module in MODULES:
        about = module.read_text(encoding="utf-8").splitlines()[1]
        times = [text.count(about) for text in texts.values()]
        assert max(times) == 1, module.name
        assert sum(times) == 1 or module.stem not in ENTRIES, module.name


@every("name", ENTRIES)
def test_nothing_but_the_entry_is_imported_or_exported(name: str) -> None:
    assert not re.search(r"\S +// ", joined(name)), "remarks are for readers of the source"
    left = re.findall(r"^(?:import|export)\b.*$", joined(name), re.MULTILINE)
    assert left == (["export default function (delivery) {"] if name == "component" else [])


@every("name", ENTRIES)
def test_no_two_modules_declare_the_same_name(name: str) -> None:
    """Joined, they share one scope: a second declaration leaves every picture empty."""
    declared = r"^(?:export )?(?:const|let|class|(?:async )?function)\s+(\w+)"
    names = Counter(re.findall(declared, joined(name), re.MULTILINE))
    assert len(names) > 2
    assert not [each for each, times in names.items() if times > 1]


@every("name", SCRIPTS)
def test_nothing_in_a_script_of_the_frame_looks_like_markup(name: str) -> None:
    """The browser would be given no script at all: its text is cleaned as markup."""
    assert not re.search(r"<[/\w!]", joined(name))


@every("name", ENTRIES)
def test_what_a_module_needs_stands_before_it(name: str) -> None:
    text = joined(name)
    for module in MODULES:
        source = module.read_text(encoding="utf-8")
        if source.splitlines()[1] not in text:
            continue
        for other in re.findall(r'^import .* from "\./(\w+)\.js";$', source, re.MULTILINE):
            needed = (LIVE / f"{other}.js").read_text(encoding="utf-8").splitlines()[1]
            assert text.index(needed) < text.index(source.splitlines()[1]), (module, other)


@pytest.mark.merge
@pytest.mark.parametrize("name", ENTRIES)
def test_the_joined_text_has_no_name_twice(name: str, tmp_path: Path) -> None:
    (tmp_path / "joined.mjs").write_text(joined(name), encoding="utf-8")
    ran(tool("node"), "--check", tmp_path / "joined.mjs")


@pytest.mark.merge
def test_types_hold() -> None:
    ran(tool("tsc"), "--noEmit", "--checkJs", "--project", LIVE)


@pytest.mark.merge
def test_a_wrong_type_would_be_found(tmp_path: Path) -> None:
    copy = Path(shutil.copytree(LIVE, tmp_path / "live"))
    axes = copy / "axes.js"
    text = axes.read_text(encoding="utf-8")
    assert text.count("share * (high - low)") > 0
    axes.write_text(text.replace("share * (high - low)", "share * (high - low.x)"), "utf-8")
    command = [tool("tsc"), "--noEmit", "--checkJs", "--project", str(copy)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode != 0
    assert "axes.js" in done.stdout


@pytest.mark.merge
def test_its_pure_functions_pass_their_tests_in_node() -> None:
    files = sorted((ROOT / "tests" / "live").glob("*.test.mjs"))
    told = ran(tool("node"), "--test", "--test-reporter=tap", *files)
    counts = dict(re.findall(r"^# (tests|pass|skipped) (\d+)$", told, re.MULTILINE))
    assert int(counts["pass"]) == int(counts["tests"]) > 40
    assert counts["skipped"] == "0"
