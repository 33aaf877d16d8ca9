"""``dpcore schema FILE``: a schema to fill in, from the header, or one with released limits."""

from __future__ import annotations

import argparse
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

from dpcore.cli.output import print_json, print_note, print_prose, print_table
from dpcore.cli.pages import place_for_file, write_whole
from dpcore.errors import InputError

OPTIONS = """
file FILE: .csv, .tsv (also .gz), .parquet, a folder of these, or of a release of narrower limits
--separator S: column separator: "," ";" "|" or tab [the header line's]
--decimal D: decimal mark: "." or "," [not stated]
--missing-marks A,B: marks for missing cells, such as "-,n. a." [not stated]
--propose: also read the private rows, and propose the notation of their cells [off]
--check FILE.toml: write no schema, but read the private rows of one file as this schema says, and
    count the cells that hold none of the names it lists [off]
--out FILE.toml: where to write; no file is overwritten [standard output]
--json: what was read, as JSON [the schema]
---
Only the header is read: names and separator from the first line of a delimited file, names and
types from a Parquet file. No limits are proposed: limits read from the rows would reveal something
about them. --propose also reads the rows, and adds the decimal, thousands and missing marks, column
types, symbols and date formats as comments, marked as read from private rows: remove the # from
those that your codebook confirms.
Of a release of narrower limits (dpcore release limits), the schema that it was made with is
written, with the released limits: later fits and releases of the same table may use it.
"""

COUNTS_NOTE = "the private rows were read; these numbers are for the custodian only."
NAMED = (
    "A missing cell, and one that holds no listed name, counts as none of the categories, or as "
    "the first of two names for no and yes. Words are compared letter by letter."
)


def _stated(args: argparse.Namespace) -> dict[str, Any]:
    """What is known of how the file is written: keys of ``[file]``."""
    from dpcore.cli.data import word_list
    from dpcore.schema.forms import FileFormat

    marks = args.missing_marks
    options = {
        "separator": "\t" if args.separator == "tab" else args.separator,
        "decimal": args.decimal,
        "missing_marks": None if marks is None else tuple(word_list("missing_marks", marks)),
    }
    stated = {key: value for key, value in options.items() if value is not None}
    FileFormat(**stated)
    return stated


def _with_released_limits(args: argparse.Namespace, place: Path | None) -> None:
    """Print or write the schema of a release of narrower limits. Raises InputError for another
    release, and for options that say how a table is written."""
    import dpcore
    from dpcore.schema import Schema

    if args.propose or _stated(args):
        raise InputError(
            "command line",
            "a release is not a table",
            "leave out --separator, --decimal, --missing-marks and --propose",
        )
    release = dpcore.open_release(args.file)
    narrowed = getattr(release.fit.parameters, "narrowed", None)
    if narrowed is None:
        raise InputError(
            "release", f"{release.fit.model} releases no limits", "name a release of limits"
        )
    schema: Schema = narrowed(Schema.parse(release.dossier["schema"]), release.guarantee)
    text = schema.to_toml()
    if args.json:
        print_json({"schema": text, "guarantee": release.guarantee.as_dict()})
    elif place is None:
        print(text, end="")
    if place is not None:
        write_whole(place, text)


def _check(args: argparse.Namespace) -> None:
    """Print how many cells of each column with stated names hold none of these. Raises InputError
    for options of another schema."""
    from dpcore.datasets.load import read_described
    from dpcore.schema import Schema
    from dpcore.schema.cells import categories_meant, category_meant
    from dpcore.schema.forms import MISSING_TOKENS

    if args.propose or args.out is not None or _stated(args):
        raise InputError("check", "no schema is written then", "leave out the other options")
    schema = Schema.from_toml(Path(args.check))
    frame = read_described(args.file, schema)
    marks = {
        *map(category_meant, MISSING_TOKENS),
        *(schema.file.missing_marks if schema.file else ()),
    }
    lines = []
    for column in schema.columns:
        if not column.categories or column.role in ("ignore", "id"):
            continue
        meant = categories_meant(frame[column.name]).tolist()
        listed = set(map(category_meant, column.categories))
        missing = sum(cell not in listed and cell in marks for cell in meant)
        others = sum(cell not in listed and cell not in marks for cell in meant)
        counts = {"cells": len(meant), "missing": missing, "of no listed name": others}
        lines.append({"column": column.name, **counts})
    if args.json:
        print_json({"columns": lines})
        return
    print_note(COUNTS_NOTE)
    print_table(lines)
    print_prose(NAMED if lines else "No column has stated names.")


def run(args: argparse.Namespace) -> None:
    """Read the header, and the rows where that is asked for; print or write. Raises InputError
    where a file of that name exists and for options that do not suit it."""
    from dpcore.datasets.blocks import files_of
    from dpcore.datasets.header import header_of
    from dpcore.datasets.load import read_frame
    from dpcore.releases.beside import DOSSIER
    from dpcore.schema.proposals import proposed
    from dpcore.schema.template import template

    if args.file.lower().endswith(".zip"):
        raise InputError(
            Path(args.file).name,
            "a .zip of texts has no columns",
            "fit it as it is: dpcore fit lda FILE --vocabulary WORDS.txt",
        )
    if args.check is not None:
        _check(args)
        return
    place = place_for_file("out", args.out)
    if place is not None and place.exists():
        raise InputError("out", f"{place.name} already exists", "name another file")
    stated = _stated(args)
    if Path(args.file).name == DOSSIER or (Path(args.file) / DOSSIER).is_file():
        _with_released_limits(args, place)
        return
    header, proposal = header_of(args.file, stated.get("separator")), None
    if args.propose:
        first = files_of(args.file)[0]
        proposal = proposed(read_frame(first, separator=header.separator), header.separator)
        if not args.json:
            print_note("the private rows were read; the proposals are for the custodian only.")
    if stated and header.separator is None:
        raise InputError(
            "command line",
            f"{Path(args.file).name} is not a text file",
            "leave out --separator, --decimal and --missing-marks",
        )
    text = template(
        Path(os.path.abspath(args.file)).name, header.types, header.separator, proposal, stated
    )
    if args.json:
        notation = None if proposal is None else asdict(proposal)
        typed = header.separator is None  # a text file states no types
        print_json(
            {
                "types": {name: kind if typed else None for name, kind in header.types.items()},
                "separator": header.separator,
                "proposed_from_private_rows": notation,
                "schema": text,
            }
        )
    elif place is None:
        print(text, end="")
    if place is not None:
        write_whole(place, text)
