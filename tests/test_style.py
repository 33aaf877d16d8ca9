"""The house style that tools can check: formatting, lint, strict types and spelling."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec

import pytest
from studio.sentences import of_code
from support import ROOT, require, syntax

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


def test_no_mark_of_a_merge_is_left() -> None:
    marked = [
        str(path.relative_to(ROOT))
        for folder in ("app", "dpcore", "notebooks", "tests")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".md", ".py", ".js", ".ipynb", ".toml")
        if re.search(r"<{7} |>{7} ", path.read_text(encoding="utf-8"))
    ]
    assert not marked


def _quoted() -> Iterator[tuple[str, str]]:
    """Every string of the tests but their docstrings, and where it stands."""
    for path in sorted((ROOT / "tests").rglob("*.py")):
        docstrings = set()
        for node in ast.walk(syntax(path)):  # from outside inwards
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


# Sentences that stand in the app's code: titles, subtitles and descriptions beside the picture that
# they belong to, generated code, formulas, a policy, a command of its own.
BESIDE_THEIR_CODE = {
    "app/path.py": 43,
    "app/explore_scene.py": 4,
    "app/steps.py": 1,
    "app/class_guesses.py": 1,
    "app/exports.py": 3,
    "app/methods.py": 6,
    "app/static_page.py": 1,
    "app/stored.py": 1,
    "app/page_times.py": 2,
}


def test_what_a_page_says_stands_in_its_texts() -> None:
    places = [
        place
        for path in sorted((ROOT / "app").rglob("*.py"))
        if path.parent.name != "texts"
        for place, _ in of_code(path)
    ]
    counts = Counter(place.partition(":")[0] for place in places)
    assert counts == BESIDE_THEIR_CODE, "a page's sentences stand in app/texts"


ROLES = frozenset(
    ["asked", "each", "found", "given", "kept", "known", "made", "one", "said", "seen", "told"]
)


LINK_WORDS = ("app/scenario.py: made",)  # fields that links name, which never change


@pytest.mark.parametrize("room", ["dpcore", "app", "tests/studio"])
def test_no_name_says_its_grammatical_role(room: str) -> None:
    """Public or local, of a value, a parameter, a function or a class."""
    named = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in sorted((ROOT / room).rglob("*.py"))
        for name in _bound_names(syntax(path))
        if name.lower() in ROLES
    ]
    assert sorted(set(named) - set(LINK_WORDS)) == []


def _bound_names(tree: ast.AST) -> Iterator[str]:
    """Every name that a file binds: variables, parameters, functions, classes, imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.MatchAs | ast.MatchStar | ast.ExceptHandler):
            yield node.name or ""
        elif isinstance(node, ast.alias):
            yield node.asname or node.name


def test_a_name_that_says_its_role_is_found_wherever_it_is_bound() -> None:
    code = "class Told:\n    kept: int\n    def seen(self, *, found): one = each = 1\nMADE = 1"
    named = set(_bound_names(ast.parse(code)))
    assert {name.lower() for name in named} & ROLES == {
        *("told", "kept", "seen", "found", "one", "each", "made")
    }


@pytest.mark.parametrize("room", ["dpcore", "app"])
def test_docstrings_say_what_arrays_hold_and_what_is_raised(room: str) -> None:
    """Of whatever is public; a method without one, or whose first words are "As ...", takes that of
    the class above."""
    silent = [
        f"{path.relative_to(ROOT)}: {name} says nothing of {what}"
        for path in sorted((ROOT / room).rglob("*.py"))
        for name, function in _public(syntax(path).body)
        for what in _unsaid(name, function)
    ]
    assert not silent, "\n".join(silent)


def _public(body: list[ast.stmt], above: str = "") -> Iterator[tuple[str, ast.FunctionDef]]:
    """Functions and methods of a file that are public, by name."""
    for node in body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            yield above + node.name, node
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from _public(node.body, f"{above}{node.name}.")


def _unsaid(name: str, function: ast.FunctionDef) -> Iterator[str]:
    """What a function's docstring should say and does not."""
    text = ast.get_docstring(function)
    if text is None and "." not in name:
        yield "anything"
    if text is None or text.startswith("As :"):
        return
    arguments = (*function.args.args, *function.args.kwonlyargs)
    annotations = (*(argument.annotation for argument in arguments), function.returns)
    arrays = any(note is not None and ast.unparse(note) == "Array" for note in annotations)
    if arrays and not ("(" in text or "shape" in text):
        yield "the shape of its arrays"
    for node in ast.walk(function):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            error = ast.unparse(node.exc.func)
            if error.endswith(("Error", "Exceeded", "NotCovered")) and error not in text:
                yield error


def test_a_docstring_that_leaves_something_out_is_found() -> None:
    code = (
        'def f(x: Array) -> None:\n    """F."""\n    raise InputError("x")\n'
        "def g() -> None: ...\n"
        "class C:\n    def h(self) -> None: raise InputError('x')\n"
        '    def i(self) -> Array:\n        """As :class:`B` says."""\n'
        '    def j(self) -> Array:\n        """Ones ``(n,)``."""\n'
        "def _k() -> None: ...\n"
    )
    unsaid = {name: [*_unsaid(name, node)] for name, node in _public(ast.parse(code).body)}
    of_f = ["the shape of its arrays", "InputError"]
    assert unsaid == {"f": of_f, "g": ["anything"], "C.h": [], "C.i": [], "C.j": []}
