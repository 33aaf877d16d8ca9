"""Names of a package that are imported when they are first asked for.

A package's own list costs nothing until somebody uses a name of it, so importing one file of a
folder does not read all the others. (``lazy_loader`` of the scientific Python projects does the
same from a stub file; here the list is what type checkers read in any case.)
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any


def attach(package: str) -> Callable[[str], Any]:
    """The ``__getattr__`` of a package whose names are imported under ``if TYPE_CHECKING``.

    package: its ``__name__``. Raises AttributeError for a name that it does not list.
    """

    def look_up(name: str) -> Any:
        home = _homes(package).get(name)
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(home), name)
        setattr(sys.modules[package], name, value)  # asked for once
        return value

    return look_up


@cache
def _homes(package: str) -> dict[str, str]:
    """The module of each name that the package's file imports from its own project."""
    loader = sys.modules[package].__loader__
    source = loader.get_source(package)  # type: ignore[union-attr]
    return {
        alias.name: node.module
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("dpcore.")
        for alias in node.names
        if node.module is not None and node.module != __name__
    }
