"""The reference is made from docstrings: they leave nothing unsaid."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import Any, get_origin

import pytest
from support import ROOT, every, syntax

import dpcore as dp
from dpcore.accounting import ACCOUNTANTS
from dpcore.cli.reference import MODULES
from dpcore.registry import EXHIBITS, MODELS, PAPERS

README = (ROOT / "README.md").read_text(encoding="utf-8")
EXTENDING = (ROOT / "app/docs/extending.md").read_text(encoding="utf-8")


def test_it_holds_what_the_pages_import_from() -> None:
    imported = set(re.findall(r"^(?:>>> )?from (dpcore[\w.]*) import", README + EXTENDING, re.M))
    example = {name for name in imported if name.startswith("dpcore.models.yes_or_no")}
    assert example
    assert imported - example <= set(MODULES)


def test_one_extra_installs_what_makes_it() -> None:
    import tomllib

    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
        "optional-dependencies"
    ]
    assert any(line.startswith("pdoc") for line in extras["docs"])
    assert "docs" in re.findall(r"[\w-]+", extras["test"][0])
    assert "'.[docs]'" in README


def said_of(thing: Any) -> str:
    return inspect.getdoc(thing) or ""


def asked_of(thing: Any) -> list[str]:
    """Names that a caller may give."""
    if dataclasses.is_dataclass(thing):
        return [field.name for field in dataclasses.fields(thing)]
    return list(inspect.signature(thing).parameters) if inspect.isfunction(thing) else []


def unsaid(thing: Any) -> list[str]:
    return [name for name in asked_of(thing) if not re.search(rf"\b{name}\b", said_of(thing))]


@every("name", dp.__all__)
def test_a_public_name_says_what_it_takes_and_what_it_refuses(name: str) -> None:
    thing = getattr(dp, name)
    text = said_of(thing)
    assert re.search(r"[.`]$", text.split("\n\n")[0].strip()), text
    if len(asked_of(thing)) > 2:
        assert unsaid(thing) == []
    if inspect.isfunction(thing) or "__post_init__" in vars(thing):
        assert re.search(r"\bRaises\b", text), f"{name} says nothing of errors"


def _raising(body: list[ast.stmt], owner: str = "") -> Iterator[tuple[str, str]]:
    """Public functions that raise an exception by name, each with its docstring."""
    for node in body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from _raising(node.body, f"{owner}{node.name}.")
        elif isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            raised = [part.exc for part in ast.walk(node) if isinstance(part, ast.Raise)]
            if any(isinstance(exc, ast.Call) and isinstance(exc.func, ast.Name) for exc in raised):
                yield owner + node.name, ast.get_docstring(node) or ""


def test_a_public_function_that_raises_says_so() -> None:
    silent = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in sorted((ROOT / "dpcore").rglob("*.py"))
        for name, text in _raising(syntax(path).body)
        if text and not re.search(r"[Rr]aises?\b|Error\b|NotCovered", text)  # none: inherited
    ]
    assert not silent, "\n".join(silent)


def test_what_is_not_said_is_found() -> None:
    def told(model: str, seed: int) -> None:
        """Fit the model."""

    assert unsaid(told) == ["seed"]


def members(thing: type) -> list[str]:
    """Public methods and properties of a class."""
    kinds = (classmethod, staticmethod, property)
    return [
        name
        for name, value in vars(thing).items()
        if not name.startswith("_") and (inspect.isfunction(value) or isinstance(value, kinds))
    ]


@pytest.mark.parametrize("name", [name for name in dp.__all__ if name[0].isupper()])
def test_every_method_of_a_public_class_says_what_it_does(name: str) -> None:
    thing = getattr(dp, name)
    silent = [member for member in members(thing) if not said_of(getattr(thing, member))]
    assert silent == []


def public(module: ModuleType) -> list[Any]:
    names = getattr(module, "__all__", None) or [
        name
        for name, value in vars(module).items()
        if getattr(value, "__module__", None) == module.__name__ and not name.startswith("_")
    ]
    return [getattr(module, name) for name in names]


@pytest.mark.parametrize("name", MODULES)
def test_every_module_of_it_and_what_is_in_it_says_what_it_is(name: str) -> None:
    module = import_module(name)
    assert said_of(module).split("\n\n")[0].rstrip().endswith((".", ":"))
    described = [t for t in public(module) if callable(t) and get_origin(t) is None]  # no aliases
    silent = [thing.__name__ for thing in described if not thing.__doc__]
    assert silent == []


FOLLOWING = sorted(  # files that do what a paper says
    {
        target.partition(":")[0]
        for registry in (ACCOUNTANTS, MODELS, EXHIBITS, PAPERS)
        for target in registry.values()
    }
    | {f"dpcore.mechanisms.{path.stem}" for path in (ROOT / "dpcore/mechanisms").glob("[!_]*.py")}
)
SOURCE = re.compile(r"\b(?:19|20)\d\d\b")  # the year of a paper


@every("name", FOLLOWING)
def test_what_follows_a_paper_names_it(name: str) -> None:
    place = ROOT / name.replace(".", "/")
    file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    text = file.read_text(encoding="utf-8")
    told = [part for part in re.findall(r'"""(.*?)"""', text, re.DOTALL) if SOURCE.search(part)]
    assert told, f"{name} names no author and year"
