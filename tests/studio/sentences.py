"""Every sentence that a user can meet, with its place: pages, messages, documentation, notebooks.

python -m tests.studio.sentences                    one line a sentence: place, tab, sentence
python -m tests.studio.sentences --random 200       so many of them, drawn with --seed
python -m tests.studio.sentences --count            how many, and how long, by where they stand
"""

from __future__ import annotations

import argparse
import ast
import json
import random
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from support import syntax

ROOT = Path(__file__).resolve().parents[2]
LEAST_WORDS = 4  # fewer are a name or a label
CODE = re.compile(r"</|/>|\bINSERT INTO\b|\bSELECT\b|[;{]\s*[\w-]+:\s*[\w#.-]+;|\(\s*\{")
END = re.compile(r"(?<=[.?!:;])\s+(?=[A-Z0-9{\"'(*`])")
FENCE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)

Placed = tuple[str, str]


def sentences() -> Iterator[Placed]:
    """Places and sentences, in the order of the files."""
    for path in sorted((ROOT / "app").rglob("*.py")) + sorted((ROOT / "dpcore").rglob("*.py")):
        yield from of_code(path)
    for path in [ROOT / "README.md", *sorted((ROOT / "app").rglob("*.md"))]:
        yield from _of_markdown(_name(path), path.read_text(encoding="utf-8"))
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        for number, cell in enumerate(cells, start=1):
            if cell["cell_type"] == "markdown":
                yield from _of_markdown(f"{_name(path)}[{number}]", "".join(cell["source"]))


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def of_code(path: Path) -> Iterator[Placed]:
    """Strings that are not docstrings; what is put in stands as ``{name}``."""
    passed: set[ast.AST] = set()
    for node in ast.walk(syntax(path)):  # from outside inwards
        if isinstance(node, ast.Expr):
            passed.add(node.value)
        elif isinstance(node, ast.JoinedStr):
            passed.update(node.values)
            yield from _split(f"{_name(path)}:{node.lineno}", "".join(map(_part, node.values)))
        elif isinstance(node, ast.Constant) and node not in passed:
            text = node.value if isinstance(node.value, str) else ""
            yield from _split(f"{_name(path)}:{node.lineno}", text)


def _part(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    return f"{{{ast.unparse(node.value)}}}" if isinstance(node, ast.FormattedValue) else ""


def _of_markdown(name: str, text: str) -> Iterator[Placed]:
    """Paragraphs, points and cells of tables; no code."""
    text = FENCE.sub(lambda code: "\n" * code[0].count("\n"), text)
    line = 1
    for block in re.split(r"(\n\s*\n|\n(?=\s*(?:[-*|#]|\d+\.)\s?))", text):
        if block.strip():
            parts = block.split("|") if block.lstrip().startswith("|") else [block]
            for part in parts:
                yield from _split(f"{name}:{line}", part.lstrip(" \n-*#"))
        line += block.count("\n")


def _split(place: str, text: str) -> Iterator[Placed]:
    for sentence in END.split(" ".join(text.split())):
        words = re.findall(r"(?<!\S)[\"'(*`]*[A-Za-z']{2,}", re.sub(r"\{.*?\}", "", sentence))
        if len(words) >= LEAST_WORDS and not CODE.search(sentence):
            yield place, sentence


def _counted(placed: Iterable[Placed]) -> str:
    """Sentences and their mean length in words: pages, package, documentation, notebooks."""
    rooms: dict[str, list[int]] = {}
    for place, sentence in placed:
        room = "documentation" if ".md:" in place else place.partition("/")[0]
        for name in (room, "all"):
            rooms.setdefault(name, []).append(len(sentence.split()))
    return "\n".join(
        f"{len(words):6,} {sum(words) / len(words):5.1f}  {room}" for room, words in rooms.items()
    )


def main() -> None:
    """Read the command line and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--random", type=int, help="so many of them")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", action="store_true")
    arguments = parser.parse_args()
    placed = list(sentences())
    if arguments.count:
        print(_counted(placed))
        return
    if arguments.random:
        placed = random.Random(arguments.seed).sample(placed, arguments.random)
    print("\n".join(f"{place}\t{sentence}" for place, sentence in placed))


if __name__ == "__main__":
    main()
