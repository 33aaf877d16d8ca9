"""Branches of the trusted base that no quick test takes.

    python -m tests.power.branches FOLDER      FOLDER: that of tests.power.plant map

``branches.toml`` names every exception, with its reason: branches stand there by their file and the
texts of the lines that they leave. What is left must be nothing; other rooms are shown as shares.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .lanes import ROOT

TRUSTED = ("wall", "privacy", "mechanisms", "releases")
EXCEPTIONS = Path(__file__).with_name("branches.toml")


@dataclass(frozen=True)
class Branch:
    """One way out of a line that is never taken; ``to`` is where it leads (0: out of the code)."""

    file: str
    line: int
    to: int
    text: str


def measured(folder: Path) -> dict[str, Any]:
    """What coverage says of each file, by its path in the tree."""
    from coverage import Coverage

    cover = Coverage(str(folder / "cover"), config_file=False, branch=True)
    cover.load()
    report = folder / "branches.json"
    rooms = [f"{ROOT}/dpcore/*", f"{ROOT}/app/*"]
    with contextlib.redirect_stdout(io.StringIO()):  # a test may run a file that it makes up
        cover.json_report(outfile=str(report), include=rooms, ignore_errors=True)
    files = json.loads(report.read_text(encoding="utf-8"))["files"]
    return {str(Path(path).absolute().relative_to(ROOT)): told for path, told in files.items()}


def not_taken(file: str, told: dict[str, Any]) -> Iterator[Branch]:
    """Lines never run and branches never taken of one file."""
    lines = (ROOT / file).read_text(encoding="utf-8").splitlines()
    for line in told["missing_lines"]:
        yield Branch(file, line, line, lines[line - 1].strip())
    for line, to in told["missing_branches"]:
        if line not in told["missing_lines"]:
            yield Branch(file, line, max(to, 0), lines[line - 1].strip())


def exceptions() -> dict[tuple[str, str], str]:
    """The reason of each exception, by file and text."""
    listed = tomllib.loads(EXCEPTIONS.read_text(encoding="utf-8")).get("exception", [])
    return {(one["file"], line): one["why"] for one in listed for line in one["lines"]}


def main() -> None:
    """Print the share of each room, and every branch of the trusted base that is left."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    folder, excepted = parser.parse_args().folder.resolve(), exceptions()
    left: list[Branch] = []
    taken: dict[str, int] = defaultdict(int)
    every: dict[str, int] = defaultdict(int)
    for file, told in measured(folder).items():
        room = "/".join(Path(file).parts[:2]) if Path(file).parts[0] == "dpcore" else "app"
        taken[room] += told["summary"]["covered_branches"]
        every[room] += told["summary"]["num_branches"]
        if room.removeprefix("dpcore/") in TRUSTED:
            missed = not_taken(file, told)
            left += [one for one in missed if (file, one.text) not in excepted]
    for room in sorted(every):
        if every[room]:
            print(f"{room:24} {taken[room]:5} of {every[room]:5} {taken[room] / every[room]:7.1%}")
    print(f"\n{len(excepted)} exceptions by name; left in the trusted base: {len(left)}")
    for one in left:
        print(f"{one.file}:{one.line} -> {one.to or 'out'}  {one.text}")


if __name__ == "__main__":
    main()
