"""Options about data, shared by every command that reads a file: bounds, columns, roles."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpcore.checks import positive, whole
from dpcore.errors import InputError
from dpcore.schema import Column, Schema

if TYPE_CHECKING:
    import pandas as pd

    from dpcore.wall.table import PrivateTable


def data_arguments(parser: argparse.ArgumentParser) -> None:
    """Options that name the data and its public bounds."""
    parser.add_argument("file", metavar="FILE", help=".csv, .tsv (also .gz), .parquet or .npz")
    parser.add_argument("--schema", metavar="FILE.toml", help="bounds [the .toml beside FILE]")
    parser.add_argument(
        "--norm-bound", metavar="R", help="public ball: radius, in the data's units"
    )
    parser.add_argument("--center", metavar="C1,C2,...", help="public ball: centre [0]")
    parser.add_argument("--columns", metavar="A,B", help="use these columns only")
    parser.add_argument("--label", metavar="NAME", help="column that holds a label")
    parser.add_argument("--target", metavar="NAME", help="column that holds a target")
    parser.add_argument("--array", metavar="NAME", help="array of an .npz file [X]")
    parser.add_argument(
        "--infer-schema",
        action="store_true",
        help="read the bounds off the data: a rehearsal, nothing is proved",
    )


def read_table(args: argparse.Namespace) -> PrivateTable:
    """The sealed table that the options describe; raises InputError."""
    from dpcore.datasets.load import named, read_frame
    from dpcore.wall.table import PrivateTable

    args.file, given = named(args.file)
    frame = read_frame(args.file, array=args.array)
    schema = _schema(args, frame)
    if schema is None:
        schema = given
    wanted = _names(args.columns)
    if schema is not None:
        schema = _with_roles(schema, wanted, args)
    return PrivateTable.seal(frame, schema)


def _schema(args: argparse.Namespace, frame: pd.DataFrame) -> Schema | None:
    from dpcore.datasets.load import schema_path

    given = [
        name
        for name, value in (
            ("--schema", args.schema),
            ("--norm-bound", args.norm_bound),
            ("--infer-schema", args.infer_schema or None),
        )
        if value is not None
    ]
    if len(given) > 1:
        raise InputError(" and ".join(given), "both were given", "give one source of bounds")
    if args.infer_schema:
        return Schema.infer_for_rehearsal(frame[_numbers(args, frame)])
    if args.norm_bound is not None:
        return _ball(args, frame)
    if args.center is not None:
        raise InputError("--center", "there is no ball to centre", "give --norm-bound as well")
    if args.schema is not None:
        return Schema.from_toml(Path(args.schema))
    if not isinstance(args.file, str | Path):
        return None
    beside = schema_path(args.file)
    return Schema.from_toml(beside) if beside.exists() else None


def _ball(args: argparse.Namespace, frame: pd.DataFrame) -> Schema:
    radius = positive("norm bound", args.norm_bound)
    columns = _numbers(args, frame)
    center = [0.0] * len(columns)
    if args.center is not None:
        center = [_coordinate(word) for word in args.center.split(",")]
    return Schema.ball_of(columns, center, radius)


def _coordinate(word: str) -> float:
    try:
        return float(word)
    except ValueError:
        raise InputError("center", f"{word!r} is not a number", "give numbers and commas") from None


def _numbers(args: argparse.Namespace, frame: pd.DataFrame) -> list[str]:
    """The columns asked for, or every number column that is not a label or a target."""
    from pandas.api.types import is_numeric_dtype

    chosen = _names(args.columns)
    if chosen is not None:
        for name in chosen:
            if name not in frame.columns:
                raise InputError(
                    "columns", f"there is no column {name!r}", "name columns of the file"
                )
        return chosen
    aside = {args.label, args.target}
    if str(args.file).endswith(".npz") and args.array is None:
        aside.add("y")
    names = [str(c) for c in frame.columns if c not in aside and is_numeric_dtype(frame[c])]
    if not names:
        raise InputError("file", "it has no numeric column", "bring numbers to fit")
    return names


def _with_roles(schema: Schema, wanted: list[str] | None, args: argparse.Namespace) -> Schema:
    """The schema with columns left out or given another role by the options."""
    known = [column.name for column in schema.columns]
    for field, names in (
        ("columns", wanted),
        ("label", _one(args.label)),
        ("target", _one(args.target)),
    ):
        for name in names or ():
            if name not in known and not (field != "columns" and args.norm_bound is not None):
                raise InputError(
                    field, f"the schema has no column {name!r}", "name one of its columns"
                )
    if wanted is not None and schema.ball is not None and set(wanted) != set(schema.features):
        raise InputError(
            "columns",
            "the schema's ball is stated for other columns",
            "give --norm-bound for these",
        )

    def role(column: Column) -> Column:
        if column.name in (args.label, args.target):
            return replace(column, role="label" if column.name == args.label else "target")
        if wanted is not None and column.role == "feature" and column.name not in wanted:
            return replace(column, role="ignore")
        return column

    return replace(schema, columns=tuple(role(column) for column in schema.columns))


def _names(text: str | None) -> list[str] | None:
    return None if text is None else [word.strip() for word in text.split(",") if word.strip()]


def _one(name: str | None) -> list[str] | None:
    return None if name is None else [name]


def number_list(field: str, text: str) -> list[float]:
    """Numbers above 0, with commas between them."""
    return [positive(field, word) for word in text.split(",") if word.strip()]


def optional_whole(field: str, value: Any) -> int | None:
    """A whole number >= 0, or nothing."""
    return None if value is None else whole(field, value, least=0)
