"""Plant each bug of ``bugs.toml`` in a copy of the tree and see which test catches it.

    python -m tests.power.plant map FOLDER        run the quick lane once, under coverage; --tests
                                                  PATH ...: add these alone to what is known
    python -m tests.power.plant quick FOLDER      plant every bug: tests that run the changed lines
                                                  first, the whole quick lane where these all pass
    python -m tests.power.plant merge FOLDER      the merge lane on what the quick one let pass

Tests that run a changed line are tests of the lane in another order: with ``-x`` the verdict is
that of the lane. What they let pass is planted together, and the lane runs once: a test that fails
is then run on each bug alone. ``--only 3,17`` plants these alone. ``results.json`` says which test
caught which bug.
"""

from __future__ import annotations

import argparse
import json
import tomllib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import Queue
from typing import Any, Protocol

from .lanes import ROOT, Cover, Verdict, copied, mapped, run, statement_lines

HERE = Path(__file__).resolve().parent
WHOLE_LANE = 900.0  # seconds that a lane takes on a busy machine
KNOWS = (
    "tests/test_power.py"  # it fails on any planted bug, for the text that the list quotes is gone
)
ROOMS = (
    "wall", "accounting", "releases", "models", "evaluation", "loader", "pages", "command line",
)  # fmt: skip


class Change(Protocol):
    """What can be planted: a bug of the list, or a mutant."""

    @property
    def file(self) -> str:
        """The file that it changes."""

    def planted_in(self, source: str) -> str:
        """The source with it."""

    def lines(self) -> range:
        """Lines of the statements that change."""


@dataclass(frozen=True)
class Bug:
    """One change of one file: what stands there, what is planted instead, who suffers."""

    number: int
    room: str
    file: str
    old: str
    new: str
    harm: str

    def planted_in(self, source: str) -> str:
        """The source with the bug. Raises ValueError where the old text does not stand once."""
        if source.count(self.old) != 1:
            raise ValueError(f"bug {self.number}: its text stands {source.count(self.old)} times")
        return source.replace(self.old, self.new)

    def lines(self) -> range:
        """Lines of the statements that change."""
        source = (ROOT / self.file).read_text(encoding="utf-8")
        first = source[: source.index(self.old)].count("\n") + 1
        return statement_lines(source, first, first + self.old.rstrip("\n").count("\n"))


def bugs() -> list[Bug]:
    """All bugs of the list."""
    listed = tomllib.loads((HERE / "bugs.toml").read_text(encoding="utf-8"))["bug"]
    return [Bug(number, **record) for number, record in enumerate(listed, start=1)]


@contextmanager
def planted(tree: Path, some: Sequence[Change]) -> Iterator[None]:
    """The tree with these changes, and afterwards without."""
    before = {change.file: (tree / change.file).read_text(encoding="utf-8") for change in some}
    now = dict(before)
    for change in some:
        now[change.file] = change.planted_in(now[change.file])
    try:
        for file, text in now.items():
            (tree / file).write_text(text, encoding="utf-8")
        yield
    finally:
        for file, text in before.items():
            (tree / file).write_text(text, encoding="utf-8")


def by_covering_tests(tree: Path, change: Change, cover: Cover) -> Verdict:
    """What the quick tests say that run the changed lines."""
    with planted(tree, [change]):
        tests = cover.tests(change.file, change.lines()) if change.file.endswith(".py") else ()
        for some in cover.staged(tests):
            verdict = run(tree, some, cover.expected(some))
            if verdict.caught:
                return verdict
    return Verdict(None)


def verdicts(folder: Path, some: Sequence[Change]) -> Iterator[Verdict]:
    """What those tests say of each change, in their order; two are planted at a time."""
    cover, trees = Cover(folder), Queue[Path]()
    for worker in range(2):
        trees.put(copied(folder / f"tree-{worker}"))

    def look(change: Change) -> Verdict:
        tree = trees.get()
        try:
            return by_covering_tests(tree, change, cover)
        finally:
            trees.put(tree)

    with ThreadPoolExecutor(2) as pool:
        yield from pool.map(look, some)


def by_lane(tree: Path, some: Sequence[Bug], words: Sequence[str]) -> dict[int, str]:
    """The test that catches each bug in a lane; those that none catches are not in it."""
    caught: dict[int, str] = {}
    while left := [bug for bug in some if bug.number not in caught]:
        with planted(tree, left):
            together = run(tree, (), WHOLE_LANE, "--deselect", KNOWS, *words)
        if together.caught_by is None:
            return caught
        told = len(caught)
        for bug in left:
            with planted(tree, [bug]):
                alone = run(tree, [together.caught_by], 60.0, *words)
            if alone.caught_by is not None:
                caught[bug.number] = alone.caught_by
        if len(caught) == told:
            raise RuntimeError(f"{together.caught_by} fails, and on no bug alone")
    return caught


def quick(folder: Path, some: Sequence[Bug], keep: Callable[[Bug, str | None], None]) -> None:
    """Plant every bug for the quick lane."""
    left: list[Bug] = []
    for bug, verdict in zip(some, verdicts(folder, some), strict=True):
        if verdict.caught:
            keep(bug, verdict.caught_by)
        else:
            left.append(bug)
    lane = by_lane(folder / "tree-0", left, ("-n", "2", "--dist", "worksteal"))
    for bug in left:
        keep(bug, lane.get(bug.number))


def merge(folder: Path, some: Sequence[Bug], keep: Callable[[Bug, str | None], None]) -> None:
    """Plant what the quick lane let pass for the merge lane."""
    lane = by_lane(copied(folder / "tree-0"), some, ("-m", "merge"))
    for bug in some:
        keep(bug, lane.get(bug.number))


def results() -> dict[str, dict[str, str | None]]:
    """Of each lane, the test that caught each bug, by the bug's text."""
    path = HERE / "results.json"
    known: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    return {lane: known.get(lane, {}) for lane in ("quick", "merge")}


def main() -> None:
    """Read the command line and do what it says."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=("map", "quick", "merge"))
    parser.add_argument("folder", type=Path, help="for copies of the tree and the map of lines")
    parser.add_argument("--only", help="numbers of bugs, with commas")
    parser.add_argument("--tests", nargs="*", default=(), help="tests to add to a map")
    asked = parser.parse_args()
    folder = asked.folder.resolve()
    if asked.what == "map":
        mapped(folder, asked.tests)
        return
    wanted = None if asked.only is None else set(map(int, asked.only.split(",")))
    some = [bug for bug in bugs() if wanted is None or bug.number in wanted]
    known = results()

    def keep(bug: Bug, caught_by: str | None) -> None:
        known[asked.what][bug.harm] = caught_by
        text = json.dumps(known, indent=1, sort_keys=True)
        (HERE / "results.json").write_text(text + "\n", encoding="utf-8")
        print(f"{bug.number:3} {bug.room:12} {caught_by or 'SURVIVES'}", flush=True)

    if asked.what == "quick":
        quick(folder, some, keep)
    else:
        merge(folder, [bug for bug in some if known["quick"].get(bug.harm) is None], keep)


if __name__ == "__main__":
    main()
