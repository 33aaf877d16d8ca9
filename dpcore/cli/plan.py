"""``dpcore plan PLAN.toml``: split one budget among several releases, before any ledger is started.

A plan file has ``[budget]`` (epsilon, delta, adjacency) and one ``[[release]]`` for each: name,
model, file (whose schema is read, never its rows), rows, times, at_least or epsilon, locked, and
options by the names that ``dpcore release`` takes.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpcore.checks import number, one_of
from dpcore.cli.models import keyword
from dpcore.cli.output import print_prose, print_table
from dpcore.cli.pages import place_for_file, write_whole
from dpcore.cli.sources import document
from dpcore.declaration import declaration
from dpcore.errors import BudgetExceeded, InputError
from dpcore.registry import MODELS

if TYPE_CHECKING:
    from dpcore.planning.plan import Planner, WantedRelease
    from dpcore.schema import Schema

BUDGET = ("epsilon", "delta", "adjacency")
RELEASE = (
    "name", "model", "file", "rows", "times", "at_least", "epsilon", "locked", "options",
)  # fmt: skip
OPTIONS = """
plan PLAN.toml: a file with the budget and the releases wanted
--epsilon E: total [the plan's]
--delta D: total [the plan's]
--out FILE: write the plan to FILE, .csv, .json or .html [not written]
--json: one JSON object [readable tables]
"""


def run(args: argparse.Namespace) -> None:
    """Plan, and print or write; exit code 3 where the wishes do not fit, after what they need.
    Raises BudgetExceeded then, and InputError for a place that no plan can have."""
    from dpcore.planning import export

    if args.out is not None:
        one_of("out", Path(args.out).suffix, (".csv", ".json", ".html"))
    out = place_for_file("out", args.out)
    if out is not None and out.resolve() == Path(args.plan).resolve():
        raise InputError("out", "it is the plan itself", "name another file")
    planner, budget = read_plan(Path(args.plan))
    total = tuple(
        number(name, option if option is not None else budget.get(name))
        for name, option in (("epsilon", args.epsilon), ("delta", args.delta))
    )
    plan = planner.plan(*total)
    what_ifs = planner.what_ifs(*total) if plan.feasible else ()
    writers: dict[str, Callable[[], str]] = {
        ".csv": lambda: export.plan_csv(plan),
        ".json": lambda: export.as_json(plan, what_ifs),
        ".html": lambda: export.plan_page(plan, what_ifs),
    }
    if out is not None:
        write_whole(out, writers[out.suffix]())
    if args.json:
        print(writers[".json"]())
    else:
        sentences = export.summary(plan)
        if plan.feasible:
            print_table(export.lines(plan))
        else:
            sentences = sentences[1:]  # the first is the refusal
        for sentence in sentences:
            print_prose(sentence)
        if what_ifs:
            print()
            print_table(export.changes(plan, what_ifs))
        print_prose(f"Protected change: {plan.protects}. {export.how(plan)}")
    if plan.conflict is not None:
        raise BudgetExceeded(f"The requests do not fit: {plan.conflict}.")


def read_plan(path: Path) -> tuple[Planner, dict[str, Any]]:
    """The planner of a file's releases, and what it says of the budget. Raises InputError."""
    from dpcore.planning.plan import Planner

    content = document("plan", path)
    _demand_keys("plan", content, ("budget", "release"))
    budget, releases = content.get("budget", {}), content.get("release", [])
    _demand_keys("budget", budget, BUDGET)
    if not isinstance(releases, list) or not releases:
        raise InputError(
            "release", "the plan lists no release", "begin each release with [[release]]"
        )
    wanted = [_wanted(release, path.parent) for release in releases]
    return Planner(wanted, adjacency=budget.get("adjacency", "replace_one")), budget


def _wanted(entry: Any, folder: Path) -> WantedRelease:
    """One release of a plan file."""
    from dpcore.planning.plan import WantedRelease, about

    _demand_keys("release", entry, RELEASE)
    with about(entry.get("name", "without a name")):
        schema, rows = _public(entry.get("file"), folder)
        model = one_of("model", entry.get("model"), tuple(MODELS))
        words = {k: v for k, v in entry.items() if k not in ("file", "rows", "options")}
        rows = entry.get("rows", rows)
        if rows is None:
            raise InputError("rows", "none was given", "give a public number of rows")
        options = _options(model, entry.get("options", {}))
        return WantedRelease(**{"name": "", **words}, schema=schema, rows=rows, options=options)


def _public(file: Any, folder: Path) -> tuple[Schema, int | None]:
    """Schema and, where they are everybody's, number of rows of what a plan names."""
    from dpcore.datasets.catalogue import find
    from dpcore.datasets.described import schema_path
    from dpcore.datasets.load import named
    from dpcore.datasets.published import find_set
    from dpcore.schema import Schema

    if not isinstance(file, str) or not Path(file).name:
        raise InputError("file", "none was given", "name a table or its schema (.toml)")
    if file.startswith("bundled:"):
        table = find(file.removeprefix("bundled:"))
        return table.schema, table.rows
    if file.startswith("published:"):
        table = find_set(file.removeprefix("published:")).table_of_rows()
        return table.schema, table.rows
    if file.startswith("generated:"):
        frame, schema = named(file)
        assert schema is not None  # it is drawn inside its limits
        return schema, len(frame)
    place = folder / file
    return Schema.from_toml(place if place.suffix == ".toml" else schema_path(place)), None


def _options(model: str, entry: Any) -> tuple[tuple[str, Any], ...]:
    """A model's options by the names of its flags, as a fit takes them."""
    flags = declaration(model).flags()
    _demand_keys("options", entry, tuple(flags))
    return tuple(
        (keyword(flags[flag].name), flags[flag].read(flag, str(value)))
        for flag, value in entry.items()
    )


def _demand_keys(field: str, table: Any, allowed: tuple[str, ...]) -> None:
    if not isinstance(table, dict):
        raise InputError(field, "it is not a table of settings", "give lines of name = value")
    for key in table:
        if key not in allowed:
            raise InputError(field, f"{json.dumps(key)} is not known", "use " + ", ".join(allowed))
