"""``dpcore reference`` writes pages of everything public, or says in one sentence why not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from commands import Run
from support import ROOT

import dpcore as dp
from dpcore.cli import reference

MAIN = "import sys, dpcore.cli; sys.exit(dpcore.cli.main())"
COMMAND = (sys.executable, "-W", "error", "-c", MAIN)


@pytest.mark.full
def test_it_builds_without_a_warning(tmp_path: Path) -> None:
    done = subprocess.run(
        [*COMMAND, "reference", "made"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{Path('made') / 'index.html'}\n"
    pages = {path.relative_to(tmp_path / "made").as_posix() for path in tmp_path.rglob("*.html")}
    modules = {f"{name.replace('.', '/')}.html" for name in reference.MODULES}
    assert pages == {"index.html", *modules}
    page = (tmp_path / "made/dpcore.html").read_text(encoding="utf-8")
    assert all(f'id="{name}"' in page for name in dp.__all__)


def test_the_json_names_the_first_page(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reference, "_make", Path.mkdir)
    answer = run("reference", tmp_path / "made", "--json").json
    assert answer == {
        "index": str(tmp_path / "made" / "index.html"),
        "modules": list(reference.MODULES),
    }


def test_a_file_in_the_folder_s_place_is_kept(run: Run, tmp_path: Path) -> None:
    taken = tmp_path / "notes"
    taken.write_text("mine")
    answer = run("reference", taken)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err == "dpcore: folder: a file with that name exists; name another folder.\n"
    assert taken.read_text() == "mine"


def test_without_its_extra_it_says_how_to_install_it(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reference, "find_spec", lambda name: None)
    answer = run("reference", tmp_path / "made")
    assert answer.code == 2
    assert answer.err.endswith("install its extra with pip install '.[docs]'.\n")
    assert not (tmp_path / "made").exists()
