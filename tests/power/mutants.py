"""A random sample of mutants of each trusted room, each run against the tests that cover its line.

    python -m tests.power.mutants FOLDER [ROOM ...]      FOLDER: that of tests.power.plant map

The mutants are those of cosmic-ray's operators, one of each place before a second one of any, for a
sum has eleven mutants and a comparison few. What changes annotations alone is no mutant. A
mutant is written into a copy of the tree and its tests run there. One that takes 60 seconds and 8
times as long as whole code does is killed by the time limit. What is recorded in the folder is not
run again.
"""

from __future__ import annotations

import argparse
import ast
import json
import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

from dpcore.accounting.binomial_bounds import rate_bounds

from .lanes import ROOT, statement_lines
from .plant import verdicts

ROOMS = ("wall", "privacy", "mechanisms", "releases")
SAMPLE, SEED = 160, 2026
OPERATORS = (
    "BinaryOperatorReplacement", "ComparisonOperatorReplacement", "NumberReplacer", "ReplaceTrue",
    "ReplaceFalse", "ReplaceAnd", "ReplaceOr", "ReplaceUnary", "ReplaceBreak", "ReplaceContinue",
    "AddNot", "ZeroIterationForLoop", "ExceptionReplacer", "RemoveDecorator",
)  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """One change of one place: the operator and which of its places in the file."""

    room: str
    file: str
    line: int
    operator: str
    occurrence: int

    def planted_in(self, source: str) -> str:
        """The source with the mutant."""
        from cosmic_ray.mutating import mutate_code
        from cosmic_ray.plugins import get_operator

        found = mutate_code(source, get_operator(self.operator)(), self.occurrence)
        assert isinstance(found, str)
        return found

    def lines(self) -> range:
        """Lines of the statement that changes."""
        return statement_lines((ROOT / self.file).read_text("utf-8"), self.line, self.line)

    def change(self) -> str:
        """The changed line, before and after."""
        known = (ROOT / self.file).read_text(encoding="utf-8")
        before, after = known.splitlines(), self.planted_in(known).splitlines()
        if len(before) != len(after):
            return before[self.line - 1].strip() + "  ->  (removed)"
        pairs = [(b, a) for b, a in zip(before, after, strict=True) if a != b]
        return "  ->  ".join(text.strip() for text in pairs[0]) if pairs else ""


def places(room: str) -> dict[tuple[str, int, int], list[Mutant]]:
    """All mutants of a room, by the place that they change."""
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.plugins import get_operator, operator_names

    found: dict[tuple[str, int, int], list[Mutant]] = {}
    for path in sorted((ROOT / "dpcore" / room).rglob("*.py")):
        file = str(path.relative_to(ROOT))
        tree = get_ast(path.read_text(encoding="utf-8"))
        for name in operator_names():
            if not any(word in name for word in OPERATORS):
                continue
            operator = get_operator(name)()
            spots = (
                start for node in ast_nodes(tree) for start, _ in operator.mutation_positions(node)
            )
            for occurrence, (line, column) in enumerate(spots):
                mutant = Mutant(room, file, line, name, occurrence)
                found.setdefault((file, line, column), []).append(mutant)
    return found


def sample(room: str) -> list[Mutant]:
    """``SAMPLE`` mutants of a room, or all: first one of each place, in a random order."""
    coins, known = random.Random(f"{SEED} {room}"), places(room)
    order = sorted(known)
    coins.shuffle(order)
    for mutants in known.values():
        coins.shuffle(mutants)
    rounds = zip_longest(*(known[place] for place in order))
    every = (mutant for some in rounds for mutant in some if mutant is not None)
    return list(islice(filter(_differs, every), SAMPLE))


class _Bare(ast.NodeTransformer):
    """Code without what is never run: annotations, and the imports of a type checker."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        self.generic_visit(node)
        node.annotation = ast.Constant(None)
        return node

    def visit_arg(self, node: ast.arg) -> Any:
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        self.generic_visit(node)
        node.returns = None
        return node


def _differs(mutant: Mutant) -> bool:
    """Whether the mutant is code, and other code than the whole one."""
    known = (ROOT / mutant.file).read_text(encoding="utf-8")
    try:
        mutated = ast.parse(mutant.planted_in(known))
    except SyntaxError:
        return False
    return ast.dump(_Bare().visit(mutated)) != ast.dump(_Bare().visit(ast.parse(known)))


# --- the table ------------------------------------------------------------------------------------


def recorded(folder: Path, rooms: Sequence[str]) -> dict[tuple[Any, ...], dict[str, Any]]:
    """What is known of the mutants of some rooms."""
    paths = [folder / f"mutants-{room}.jsonl" for room in rooms]
    lines = [
        line for path in paths if path.exists() for line in path.read_text("utf-8").splitlines()
    ]
    names = [one.name for one in fields(Mutant)]
    records = map(json.loads, lines)
    return {tuple(record[name] for name in names): record for record in records}


def main() -> None:
    """Read the command line, run the samples and write ``FOLDER/mutants-ROOM.jsonl``."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("rooms", nargs="*", default=ROOMS)
    asked = parser.parse_args()
    folder = asked.folder.resolve()
    samples = zip_longest(*(sample(room) for room in asked.rooms))
    kept = recorded(folder, asked.rooms)
    every = (mutant for some in samples for mutant in some if mutant is not None)
    todo = [mutant for mutant in every if tuple(asdict(mutant).values()) not in kept]
    for mutant, verdict in zip(todo, verdicts(folder, todo), strict=True):
        record = asdict(mutant) | {"change": mutant.change(), "killed_by": verdict.caught_by}
        with (folder / f"mutants-{mutant.room}.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
    for room in asked.rooms:
        records = list(recorded(folder, [room]).values())
        left = [record for record in records if record["killed_by"] is None]
        low, high = rate_bounds(len(left), len(records), 0.95)
        print(f"{room}: {len(left)} of {len(records)} survive ({low:.1%} to {high:.1%})")
        for record in left:
            print(f"  {record['file']}:{record['line']}  {record['operator']}  {record['change']}")


if __name__ == "__main__":
    main()
