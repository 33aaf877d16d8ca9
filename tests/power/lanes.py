"""Which test runs which line, and what tests say of a copy of the tree with a bug in it."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LEFT_OUT = shutil.ignore_patterns(
    ".git", ".venv*", "__pycache__", ".hypothesis", ".*_cache", "*.egg-info"
)
LEAST_SECONDS, TIMES = 60.0, 8.0  # time limit: so long, and so many times what whole code takes
FIRST_SECONDS = 40.0  # of the tests that are tried first


def copied(folder: Path) -> Path:
    """A fresh copy of the tree. Raises SystemExit for a folder inside it."""
    if folder.is_relative_to(ROOT):
        raise SystemExit("give a folder outside of the tree, for example ../power")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT, folder, ignore=LEFT_OUT)
    return folder


def mapped(folder: Path, tests: Sequence[str] = ()) -> None:
    """Run the quick lane once under coverage; leaves ``cover`` and ``times.json`` in the folder.

    tests: these alone, added to what the folder holds.
    """
    from coverage import CoverageData

    folder.mkdir(parents=True, exist_ok=True)
    for part in folder.glob("cover.*" if tests else "cover*"):
        part.unlink()
    times = folder / "times.json"
    known = json.loads(times.read_text(encoding="utf-8")) if tests else {}
    words = "-n 2 --dist worksteal -q -p tests.power.tracing"
    command = [sys.executable, "-m", "pytest", *words.split(), *tests]
    environment = _environment(ROOT) | {"POWER_FOLDER": str(folder)}
    subprocess.run(command, cwd=ROOT, env=environment, check=True)
    known |= json.loads(times.read_text(encoding="utf-8"))
    times.write_text(json.dumps(known), encoding="utf-8")
    both = CoverageData(str(folder / "cover"))
    if tests:
        both.read()
    for part in sorted(folder.glob("cover.*")):
        found = CoverageData(str(part))
        found.read()
        both.update(found)
    both.write()


@dataclass
class Cover:
    """Which test runs which line of which file, and how long each test takes."""

    folder: Path

    def __post_init__(self) -> None:
        from coverage import CoverageData  # of the lanes no test needs it

        data = CoverageData(str(self.folder / "cover"))
        data.read()
        self._known: dict[str, dict[int, set[str]]] = {}
        self._width: Counter[str] = Counter()
        for path in data.measured_files():  # all of it now: a process that forks would begin anew
            of_lines = {
                line: {sys.intern(_test(one)) for one in tests} - {""}
                for line, tests in data.contexts_by_lineno(path).items()
            }
            self._known[_inside(path)] = of_lines
            for tests in of_lines.values():
                self._width.update(tests)
        if not self._known:
            raise ValueError(f"{self.folder} holds no map of lines: make one first")
        self.seconds: dict[str, float] = json.loads((self.folder / "times.json").read_text())

    def tests(self, file: str, lines: Iterable[int]) -> list[str]:
        """Tests that run one of the lines, the most specific first (those that run least code).

        Lines that are run on import alone: whatever runs anything of that file.
        """
        known = self._known.get(file, {})
        found = set().union(*(known.get(line, ()) for line in lines))
        found = found or set().union(*known.values())
        return sorted(found & self.seconds.keys(), key=lambda one: (self._width[one], one))

    def expected(self, tests: Iterable[str]) -> float:
        """Seconds that the tests take where nothing is wrong."""
        return sum(self.seconds[test] for test in tests)

    def staged(self, tests: Sequence[str]) -> list[list[str]]:
        """The first few tests, and all others."""
        spent, first = 0.0, 0
        while first < len(tests) and spent < FIRST_SECONDS and first < 80:
            spent += self.seconds[tests[first]]
            first += 1
        return [part for part in (list(tests[:first]), list(tests[first:])) if part]


def _test(context: str) -> str:
    return context.partition("|")[0]


def _inside(path: str) -> str:
    """A file's path in the tree: the copy that was measured lay elsewhere."""
    return re.sub(r".*/(?=(dpcore|app)/)", "", path)


def statement_lines(source: str, first: int, last: int) -> range:
    """Lines of the smallest statements that hold the lines ``first`` to ``last``."""
    smallest = range(first, last + 1)
    best = len(source)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.stmt) and node.end_lineno is not None:
            size = node.end_lineno - node.lineno
            if node.lineno <= first and last <= node.end_lineno and size < best:
                best, smallest = size, range(node.lineno, node.end_lineno + 1)
    return smallest


@dataclass(frozen=True)
class Verdict:
    """What a run of tests said: the first one that failed, or none."""

    caught_by: str | None
    seconds_over: bool = False

    @property
    def caught(self) -> bool:
        return self.caught_by is not None


def run(tree: Path, tests: Sequence[str], seconds: float, *words: str) -> Verdict:
    """Run the tests in the tree until one fails. Raises RuntimeError if they could not be run."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *words, *tests]
    try:
        done = subprocess.run(
            command, cwd=tree, env=_environment(tree), capture_output=True, text=True,
            timeout=LEAST_SECONDS + TIMES * seconds,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return Verdict("the time limit", seconds_over=True)
    if done.returncode == 0:
        return Verdict(None)
    failed = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", done.stdout, re.MULTILINE)
    if (done.returncode == 1 and failed) or (done.returncode == 2 and failed):
        return Verdict(failed[1])
    if done.returncode == 4 and "not found" in done.stdout + done.stderr and tests:
        files = list(dict.fromkeys(test.partition("::")[0] for test in tests))
        if files != list(tests):  # a test whose name tells the time: its whole file instead
            return run(tree, files, 20.0 * len(files), *words)
    raise RuntimeError(done.stdout[-2000:] + done.stderr[-2000:])


def _environment(tree: Path) -> dict[str, str]:
    shared = os.environ.get("DPCORE_SHARED", str(ROOT.parent / "shared"))
    scratch = Path(f"{tree}-tmp") if tree != ROOT else Path(tempfile.mkdtemp())
    scratch.mkdir(exist_ok=True)  # its own: another run of pytest would sweep a common one
    return os.environ | {
        "PYTEST_DEBUG_TEMPROOT": str(scratch),
        "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1", "DPCORE_SHARED": shared,
        "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
    }  # fmt: skip
