"""Options about data, shared by every command that reads a file: bounds, columns, roles."""

from __future__ import annotations

import argparse
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpcore.checks import number, one_of, positive, rows_of_one, whole
from dpcore.cli.output import pass_bar
from dpcore.declaration import declaration
from dpcore.errors import InputError
from dpcore.schema import Ball, Column, Schema
from dpcore.schema.cells import are_numbers

if TYPE_CHECKING:
    import pandas as pd

    from dpcore.wall.data.corpus import PrivateCorpus
    from dpcore.wall.data.partitions import Engine
    from dpcore.wall.table import PrivateTable

OWN_NORM = "data"  # instead of a radius
DATA = """
# data and its public bounds
file FILE: .csv, .tsv (also .gz), .parquet, .npz, a folder of these, bundled:NAME or published:NAME;
    for documents also a folder or .zip of .txt files
--out-of-core: read the rows in blocks at every step, never all at once [for a folder, and for a
    file above 1 GiB where that is possible]
--engine dask: sum the blocks on the workers of a Dask cluster [in this process]
--scheduler ADDRESS: address of the cluster, whose workers must see FILE under the same path [start
    workers here]
--schema FILE.toml: bounds, units and roles [the .toml next to FILE]
--norm-bound R: radius of a public ball that bounds the rows, in the data's units; 'data' takes the
    largest norm in the data: a rehearsal, which proves nothing [the schema's bounds]
--center C1,C2,...: the ball's centre [the origin]
--infer-schema: read the bounds from the data: a rehearsal, which proves nothing [off]
--columns A,B: columns to fit [the schema's features, or all]
--label NAME: column that holds a label [the schema's]
--target NAME: column that holds a target [the schema's]
--rows-per-person M: the most rows that one person may have; with an id column, further rows do
    not count [the schema's, or 1]
--array NAME: array in an .npz file [X, with y]
--pool F: for rows that are images: average over squares of F x F pixels [no averaging]

# documents (lda)
--text COLUMN: column that holds the texts [the schema's, the only one, or the one called text]
--vocabulary WORDS.txt: the public list of words to count, one per line [the .vocab.txt next to
    FILE]
--infer-vocabulary: read the words from the documents: a rehearsal, which proves nothing [off]
"""


def read_table(args: argparse.Namespace) -> Any:
    """The sealed table or corpus that the options describe, as it is fitted; raises InputError."""
    from dpcore.datasets.blocks import is_for_blocks, is_large_file
    from dpcore.datasets.documents import is_documents
    from dpcore.datasets.load import EVERYONES
    from dpcore.wall.table import PrivateTable

    args.file = _with_a_name(args.file)
    if declaration(args.model).reads == "documents":
        return _documents(args)
    for name in _TEXTS:
        if getattr(args, name):
            raise InputError(name, f"{args.model} reads no texts", "leave it out, or fit lda")
    if is_documents(args.file) and not Path(args.file).is_dir():
        raise InputError(
            "model",
            "the file is a .zip or holds word counts, which only lda reads",
            "choose lda, or unpack the table",
        )
    if args.out_of_core or args.engine or args.scheduler:
        return _in_blocks(args)
    if is_for_blocks(args.file) and not is_large_file(args.file):
        return _in_blocks(args)
    by_size = _by_size(args)
    if by_size is not None:
        return by_size
    factor = None if args.pool is None else whole("pool", args.pool)
    rows, schema = _read(args)
    # What comes with the package or was added to it is published or simulated: nothing to lock.
    table = PrivateTable.seal(rows, schema, open_to_all=args.file.startswith(EVERYONES))
    return table if factor is None else table.pooled(factor)


_TEXTS = ("text", "vocabulary", "infer_vocabulary")
_OF_ROWS = (
    "out_of_core", "engine", "scheduler", "norm_bound", "center", "infer_schema", "columns",
    "label", "target", "array", "pool",
)  # fmt: skip


def _with_a_name(file: str) -> str:
    """The path, ending in a name for what lies beside it: of ``.`` the folder's own."""
    if file in (".", ".."):
        file = str(Path(file).resolve())
    if not Path(file).name:
        raise InputError("file", "the path does not end in a name", "give a file or a folder")
    return file


def _documents(args: argparse.Namespace) -> PrivateCorpus:
    """The sealed corpus that the options describe."""
    from dpcore.datasets.documents import load_documents

    for name in _OF_ROWS:
        if getattr(args, name):
            raise InputError(
                name, "it applies to rows of numbers, not to documents", "leave it out for lda"
            )
    if args.vocabulary is not None and args.infer_vocabulary:
        raise InputError(
            "vocabulary and infer_vocabulary", "both were given", "give only one source of words"
        )
    many = args.rows_per_person
    return load_documents(
        args.file,
        schema=None if args.schema is None else Schema.from_toml(Path(args.schema)),
        vocabulary=args.vocabulary,
        text=args.text,
        infer_vocabulary=args.infer_vocabulary,
        documents_per_unit=None if many is None else rows_of_one(many),
    )


def _read(args: argparse.Namespace) -> tuple[pd.DataFrame, Schema | None]:
    """The rows as they lie there, and their bounds if there are any."""
    from dpcore.datasets.files import check_path
    from dpcore.datasets.load import named, read_described, read_frame

    _check_sources(args)
    source, own = named(args.file)
    if isinstance(source, str | Path):
        check_path(source)
    stated = _stated(args, source, own)
    if args.norm_bound is None and not args.infer_schema:
        if stated is None:
            return read_frame(source, array=args.array), None
        schema = _with_roles(stated, args)
        return read_described(source, schema, array=args.array), schema
    separator = None if stated is None else stated.separator
    frame = read_frame(source, array=args.array, separator=separator)
    columns = _features(args, frame, stated, archive=str(source).lower().endswith(".npz"))
    schema = _bounds(args, frame, columns)
    schema = replace(schema, columns=(*schema.columns, *_aside(args, frame, stated)))
    if stated is not None:  # other bounds, but the same people
        image = stated.image if schema.features == stated.features else None
        schema = _of_the_same(stated, replace(schema, image=image))
    return frame, schema


def _of_the_same(stated: Schema, schema: Schema) -> Schema:
    """Other bounds, but the same file and people: their unit, their limit of rows, what they
    weigh and their ids."""
    own = [column.name for column in schema.columns]
    if stated.person in own:
        raise InputError(
            "columns",
            f"{stated.person!r} identifies the person of each row",
            "leave that column out",
        )
    ids = () if stated.person is None else (Column(stated.person, role="id", type="text"),)
    return replace(
        schema,
        columns=(*schema.columns, *ids),
        unit=stated.unit,
        rows_per_person=stated.rows_per_person,
        equal_weight=stated.equal_weight,
        file=stated.file,
    )


def _by_size(args: argparse.Namespace) -> PrivateTable | None:
    """A large file under its stated schema, in blocks; ``None`` where it is read into memory."""
    from dpcore.datasets.blocks import is_large_file, parted
    from dpcore.datasets.load import in_memory

    looks_first = args.norm_bound is not None or args.infer_schema or args.pool is not None
    if looks_first or not is_large_file(args.file):
        return None
    _check_sources(args)
    stated = _stated(args, args.file, None)
    if stated is None:
        return None
    schema = _with_roles(stated, args)
    whole = in_memory(args.file, schema, args.array)
    with suppress(InputError):  # what cannot be read in blocks may fit into memory
        return parted(args.file, schema, array=args.array, on_share=pass_bar(), whole=whole)
    return None


def _in_blocks(args: argparse.Namespace) -> PrivateTable:
    """The sealed table whose rows stay where they are, with a bar for each pass over them."""
    from dpcore.datasets.blocks import parted, schema_of_files
    from dpcore.datasets.load import EVERYONES

    _check_sources(args)
    for field, value in (
        ("pool", args.pool),
        ("infer_schema", args.infer_schema or None),
        ("norm bound", args.norm_bound if args.norm_bound == OWN_NORM else None),
    ):
        if value is not None:
            raise InputError(
                field, "it needs all rows at once, but they are read in blocks", "leave it out"
            )
    if args.file.startswith(EVERYONES):
        raise InputError(
            "file",
            "its rows are already in memory",
            "leave out --out-of-core, --engine and --scheduler",
        )
    path = args.schema
    schema = Schema.from_toml(Path(path)) if path else schema_of_files(args.file, args.array)
    if args.norm_bound is not None:
        names = _names(args.columns) or (() if schema is None else schema.features)
        if not names:
            raise InputError("columns", "no columns to fit were named", "name them with --columns")
        stated, schema = schema, _ball(args, [Column(name) for name in names])
        if stated is not None:
            schema = _of_the_same(stated, schema)
    elif schema is not None:
        schema = _with_roles(schema, args)
    return parted(args.file, schema, array=args.array, engine=_engine(args), on_share=pass_bar())


def _engine(args: argparse.Namespace) -> Engine | None:
    """The workers asked for; without an address as many of one thread as there are cores."""
    if args.engine is None and args.scheduler is None:
        return None
    from dpcore.wall.data.dask_engine import connect

    one_of("engine", args.engine or "dask", ("dask",))
    return connect(args.scheduler)


def rows_per_person(args: argparse.Namespace, table: PrivateTable | PrivateCorpus) -> int:
    """The option, or what the schema says."""
    if args.rows_per_person is not None:
        return rows_of_one(args.rows_per_person)
    return table.schema.rows_per_person if table.schema else 1


def _check_sources(args: argparse.Namespace) -> None:
    """One source of bounds; no column in two roles."""
    sources = [
        name
        for name, value in (
            ("--schema", args.schema),
            ("--norm-bound", args.norm_bound),
            ("--infer-schema", args.infer_schema or None),
        )
        if value is not None
    ]
    if len(sources) > 1:
        raise InputError(
            " and ".join(sources), "more than one was given", "give only one source of bounds"
        )
    if args.center is not None and args.norm_bound is None:
        raise InputError("center", "there is no ball to centre", "give --norm-bound as well")
    if args.norm_bound == OWN_NORM and args.center is not None:
        raise InputError(
            "center", "the largest norm in the data is measured from the origin", "leave it out"
        )
    if args.norm_bound not in (None, OWN_NORM):
        positive("norm bound", args.norm_bound)
    roles = [*(_names(args.columns) or ()), *filter(None, (args.label, args.target))]
    for name in roles:
        if roles.count(name) > 1:
            raise InputError(
                "columns, label, target", f"{name!r} is named twice", "give each column one role"
            )


def _stated(args: argparse.Namespace, source: Any, own: Schema | None) -> Schema | None:
    """The schema that came with the table: named, beside the file, or made with it."""
    from dpcore.datasets.described import schema_with

    if args.schema is not None:
        return Schema.from_toml(Path(args.schema))
    return schema_with(source, args.array) if own is None else own


def _ball(args: argparse.Namespace, columns: list[Column]) -> Schema:
    center = (0.0,) * len(columns)
    if args.center is not None:
        center = tuple(number("center", word) for word in args.center.split(","))
    return Schema(tuple(columns), ball=Ball(center, positive("norm bound", args.norm_bound)))


def _bounds(args: argparse.Namespace, frame: pd.DataFrame, columns: list[Column]) -> Schema:
    """A public ball, or bounds read off the data: a rehearsal."""
    if args.norm_bound is not None and args.norm_bound != OWN_NORM:
        return _ball(args, columns)
    read_off = Schema.infer_for_rehearsal if args.infer_schema else Schema.ball_for_rehearsal
    schema = read_off(frame, columns=[column.name for column in columns])
    units = {column.name: column.unit for column in columns}
    return replace(schema, columns=tuple(replace(c, unit=units[c.name]) for c in schema.columns))


def _features(
    args: argparse.Namespace, frame: pd.DataFrame, stated: Schema | None, *, archive: bool
) -> list[Column]:
    """Columns to fit, without bounds: those asked for, the schema's, or all."""
    units = {} if stated is None else {column.name: column.unit for column in stated.columns}
    names = _names(args.columns)
    if names is not None:
        for name in names:
            _demand("columns", name, frame)
    elif stated is not None:
        names = [c.name for c in stated.columns if c.role == "feature" and not c.categories]
    else:
        aside = {args.label, args.target, "y" if archive and args.array is None else None}
        names = [str(c) for c in frame.columns if c not in aside]
        numbers = [name for name in names if are_numbers(frame[name])]
        if args.infer_schema:  # a rehearsal may choose by what the cells hold
            _demand_usual(frame[[name for name in names if name not in numbers]])
            names = numbers
        elif numbers != names:
            raise InputError(
                "columns", "some hold text", "use --columns to name the columns to fit"
            )
    names = [name for name in names if name not in (args.label, args.target)]
    if not names:
        raise InputError("columns", "no number column is left to fit", "name some with --columns")
    return [Column(name, unit=units.get(name)) for name in names]


def _demand_usual(frame: pd.DataFrame) -> None:
    """Refuse to leave out, as texts, columns of numbers or dates that are written otherwise."""
    from dpcore.schema.proposals import proposed

    kinds = proposed(frame, None).columns
    odd = [name for name, column in kinds.items() if column.type != "text"]
    if odd:
        raise InputError(
            f"column {odd[0]}",
            "it seems to hold numbers or dates in another notation",
            "run dpcore schema FILE --propose, complete that schema and pass it with --schema, or "
            "name other columns with --columns",
        )


def _aside(args: argparse.Namespace, frame: pd.DataFrame, stated: Schema | None) -> list[Column]:
    """The columns of ``--label`` and ``--target``, of public types: the schema's, or a text and a
    number. Only a rehearsal that reads its bounds off the data may look at their cells."""
    types = {} if stated is None else {column.name: column.type for column in stated.columns}
    columns = []
    for role, name in (("label", args.label), ("target", args.target)):
        if name is not None:
            _demand(role, name, frame)
            kind = types.get(name, "text" if role == "label" else "number")
            if args.infer_schema:
                kind = "number" if are_numbers(frame[name]) else "text"
            columns.append(Column(name, role=role, type=kind))
    return columns


def _demand(field: str, name: str, frame: pd.DataFrame) -> None:
    if name not in frame.columns:
        raise InputError(field, f"the table has no column {name!r}", "name one of its columns")


def _with_roles(schema: Schema, args: argparse.Namespace) -> Schema:
    """The schema with columns left out or given another role by the options."""
    wanted = _names(args.columns)
    for field, names in (("columns", wanted), ("label", [args.label]), ("target", [args.target])):
        for name in filter(None, names or ()):
            if name not in [column.name for column in schema.columns]:
                raise InputError(
                    field, f"the schema has no column {name!r}", "name one of its columns"
                )
    columns = tuple(_with_role(column, wanted, args) for column in schema.columns)
    if schema.person in [c.name for c in columns if c.role not in ("id", "ignore")]:
        raise InputError(
            "columns",
            f"{schema.person!r} identifies the person of each row",
            "leave that column out",
        )
    features = tuple(column.name for column in columns if column.role == "feature")
    if schema.ball is not None and features != schema.features:
        raise InputError(
            "columns",
            "the schema states its ball for other columns",
            "give --norm-bound for these",
        )
    image = schema.image if features == schema.features else None  # a part is no picture
    return replace(schema, columns=columns, image=image)


def _with_role(column: Column, wanted: list[str] | None, args: argparse.Namespace) -> Column:
    """One column with the role that the options give it."""
    for role, name in (("label", args.label), ("target", args.target)):
        if name == column.name:
            return replace(column, role=role)
        if name is not None and column.role == role:  # the option's column takes its place
            return replace(column, role="ignore")
    if wanted is None:
        return column
    if column.name in wanted:
        return replace(column, role="feature")
    return replace(column, role="ignore") if column.role == "feature" else column


def _names(text: str | None) -> list[str] | None:
    return None if text is None else word_list("columns", text)


def word_list(field: str, text: str) -> list[str]:
    """Words with commas between them, at least one. Raises InputError where there is none."""
    words = [word.strip() for word in text.split(",") if word.strip()]
    if not words:
        raise InputError(field, "none was named", "give some, separated by commas")
    return words


def optional_number(field: str, text: str | None) -> float | None:
    """A number, or nothing; what range it must have is said where it is used."""
    return None if text is None else number(field, text)
