"""``dpcore notebooks`` writes all of them, and never over somebody's answers."""

from __future__ import annotations

import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest
from commands import Run
from support import ROOT

from dpcore.cli import notebooks

SHIPPED = sorted(
    path.relative_to(notebooks.HOME).as_posix()
    for path in notebooks.HOME.rglob("*")
    if path.is_file()
)


def test_all_of_them_are_written_with_the_release_that_one_opens(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "lessons"
    answer = run("notebooks", folder)
    assert (answer.code, answer.err) == (0, "")
    assert f"jupyter lab {folder}" in answer.out
    made = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*.*")}
    assert sorted(made) == SHIPPED
    for name, path in made.items():
        assert path.read_bytes() == (ROOT / "notebooks" / name).read_bytes()


def test_the_json_names_the_files(run: Run, tmp_path: Path) -> None:
    files = run("notebooks", tmp_path, "--json").json["files"]
    assert files == [str(tmp_path / name) for name in SHIPPED]


def test_an_answer_in_one_of_them_is_kept(run: Run, tmp_path: Path) -> None:
    mine = tmp_path / "02_composition.ipynb"
    mine.write_text("my answers")
    answer = run("notebooks", tmp_path)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(f"dpcore: folder: {mine.name} already exists")
    assert answer.err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == [mine.name]
    assert mine.read_text() == "my answers"
    assert run("notebooks", mine).code == 2


def test_what_they_need_and_is_absent_is_said(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notebooks, "find_spec", lambda name: None if name == "plotly" else name)
    assert run("notebooks", tmp_path).out.endswith("pip install plotly\n")


def test_they_are_in_the_wheel() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    assert "notebooks" in settings["packages"]["find"]["include"]
    globs = settings["package-data"]["notebooks"]
    assert [name for name in SHIPPED if not any(fnmatch(name, glob) for glob in globs)] == []
