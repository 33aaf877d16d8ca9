"""The table of models on the documentation's page of methods, written from their declarations.

``python -m tests.studio.statements`` writes it anew into ``app/docs/methods.md``.
"""

from __future__ import annotations

import re
from itertools import groupby
from pathlib import Path

from dpcore.declaration import Statement, declarations

PAGE = Path(__file__).parents[2] / "app" / "docs" / "methods.md"
HEAD = (
    "| model | what one row adds, and the lemma | proved here | claim, and whether it holds "
    "|\n"
    "| --- | --- | --- | --- |\n"
)


def table() -> str:
    """A line for each statement; neighbours in the registry with the same one share a line."""
    lines = []
    models = groupby(declarations().items(), key=lambda pair: pair[1].statement)
    for statement, pairs in models:
        assert isinstance(statement, Statement)  # every model of the registry has one
        names = ", ".join(f"`{name}`" for name, _ in pairs)
        lines.append(f"| {names} | {statement.adds} | {statement.proved} | {statement.claim} |\n")
    return HEAD + "".join(lines)


def page() -> str:
    """The whole page, with its table of models written anew."""
    text = PAGE.read_text(encoding="utf-8")
    return re.sub(r"\| model \|.*?\n(?=\n)", lambda _: table(), text, count=1, flags=re.DOTALL)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
