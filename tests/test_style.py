"""The house style that tools can check: formatting, lint, strict types and spelling."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec

import pytest
from support import ROOT, require

TOOLS = {
    "lint": ["ruff", "check", "--quiet", "."],
    "format": ["ruff", "format", "--quiet", "--check", "."],
    "types": ["mypy", "--no-error-summary"],
    "spelling": ["codespell_lib"],
}


COLD = () if (ROOT / ".mypy_cache").exists() else [pytest.mark.merge]  # a minute without a cache


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=COLD if name == "types" else ()) for name in TOOLS]
)
def test_the_tools_have_nothing_to_say(name: str) -> None:
    module = TOOLS[name][0]
    require(module, find_spec(module) is not None, f"{module} is not installed")
    done = subprocess.run(
        [sys.executable, "-m", *TOOLS[name]], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def _quoted() -> Iterator[tuple[str, str]]:
    """Every string of the tests but their docstrings, and where it stands."""
    for path in sorted((ROOT / "tests").rglob("*.py")):
        docstrings = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):  # from outside inwards
            if isinstance(node, ast.Expr):
                docstrings.add(node.value)
            elif isinstance(node, ast.Constant) and node not in docstrings:
                yield f"{path.relative_to(ROOT)}:{node.lineno}", str(node.value)


def test_tests_quote_a_sentence_of_the_product_in_one_place() -> None:
    places: dict[str, list[str]] = {}
    for place, text in _quoted():
        sentence = re.sub(r"\\([().?+*\[\]])", r"\1", text)  # of a pattern, what it matches
        if len(re.findall(r"[A-Za-z']+", sentence)) >= 4 and " " in sentence:
            places.setdefault(sentence, []).append(place)
    files = (path for folder in ("dpcore", "app") for path in (ROOT / folder).rglob("*.py"))
    product = "\n".join(path.read_text(encoding="utf-8") for path in files)
    product = re.sub(r'"\s+f?"', "", product)  # one string over several lines
    often = {text: some for text, some in places.items() if len(some) > 1 and text in product}
    assert not often, "a sentence that tests quote twice stands in tests/wording.py"


ROLES = frozenset(
    ["asked", "each", "found", "given", "kept", "known", "made", "one", "said", "seen", "told"]
)
LEFT = {"app": 5, "dpcore": 0}  # public names of these that are to be renamed: only ever fewer


def _public_names(body: list[ast.stmt]) -> Iterator[str]:
    """Functions, classes, fields and constants that others may use, and parameters of functions."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            if node.name.startswith("_") and not node.name.endswith("__"):
                continue
            yield node.name
            if isinstance(node, ast.ClassDef):
                yield from _public_names(node.body)
            else:
                given = node.args
                yield from (one.arg for one in given.posonlyargs + given.args + given.kwonlyargs)
        elif isinstance(node, ast.AnnAssign | ast.Assign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (target.id for target in targets if isinstance(target, ast.Name))


@pytest.mark.parametrize("room", LEFT)
def test_a_public_name_says_the_thing_and_not_its_grammatical_role(room: str) -> None:
    named = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in sorted((ROOT / room).rglob("*.py"))
        for name in _public_names(ast.parse(path.read_text(encoding="utf-8")).body)
        if name.lower() in ROLES
    ]
    assert len(named) <= LEFT[room], "\n".join(named)


# Rooms in which no name at all is one of these, locals and parameters of any function included.
CLEAN = ("dpcore", "tests/studio")


@pytest.mark.parametrize("room", CLEAN)
def test_no_name_of_a_finished_room_says_its_role(room: str) -> None:
    named = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {name}"
        for path in sorted((ROOT / room).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.arg | ast.Name | ast.FunctionDef | ast.ClassDef | ast.MatchAs)
        if not isinstance(getattr(node, "ctx", None), ast.Load)  # which others have named
        for name in [getattr(node, "id", getattr(node, "arg", getattr(node, "name", None)))]
        if str(name).lower() in ROLES
    ]
    assert not named, "\n".join(named)


def test_a_name_that_says_its_role_is_found_wherever_it_is_public() -> None:
    code = "class Told:\n    kept: int\n    def seen(self, *, found): ...\nMADE = 1"
    named = list(_public_names(ast.parse(code).body))
    assert named == ["Told", "kept", "seen", "self", "found", "MADE"]


def test_a_docstring_refers_to_names_that_exist() -> None:
    """The last part of ``:func:`name``` and its like is defined somewhere, or is a package's."""
    sources = [
        path.read_text(encoding="utf-8")
        for folder in ("dpcore", "app", "tests")
        for path in (ROOT / folder).rglob("*.py")
    ]
    defined = set(sys.stdlib_module_names)
    for folder in ("dpcore", "app"):
        defined |= {path.stem for path in (ROOT / folder).rglob("*.py")}
        defined |= {path.name for path in (ROOT / folder).rglob("*") if path.is_dir()}
    for source in sources:
        defined |= set(re.findall(r"(?m)^\s*(?:def|class)\s+(\w+)", source))
        for names in re.findall(r"(?m)^\s*([\w., ]+?)(?:\s*:[^=\n]+)?\s*=", source):
            defined |= {name.strip().removeprefix("self.") for name in names.split(",")}
        defined |= set(re.findall(r"(?m)^\s+(\w+): ", source))  # fields without a value
    mentioned = {
        name
        for source in sources
        for name in re.findall(r":(?:attr|class|data|exc|func|meth|mod):`~?([\w.]+)`", source)
    }
    unknown = {name for name in mentioned if name.rpartition(".")[2] not in defined}
    assert not unknown
