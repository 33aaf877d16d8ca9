"""``dpcore apply FOLDER FILE``: what a release says of other rows, one line each."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dpcore.arrays import Array
from dpcore.cli.data import word_list
from dpcore.cli.output import print_json, print_note, visible
from dpcore.cli.pages import place_for_file, write_whole
from dpcore.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from dpcore.releases.opened import OpenedRelease
    from dpcore.schema import Schema

OPTIONS = """
release FOLDER: a release's folder, or its dossier.json
file [FILE]: other rows: .csv, .tsv (also .gz), .parquet, .npz; for texts also a folder or .zip of
    .txt files
--what A,B: one or more of predict, predict_proba, score_samples, transform [all that the model
    has]
--keep A,B: columns of FILE to copy in front of the answers [none]
--array NAME: array in an .npz file [X, with y]
--out FILE.csv: where to write [standard output]
--json: columns and rows as JSON [CSV]
---
The release is verified first; its data and its ledger are not needed, and nothing is spent. FILE
must have the columns of the release's schema, in its units; the separator is read from the header
line. If the schema states this separator, cells are read in the schema's notation (decimal mark,
missing marks), and a note says so; otherwise numbers must use a decimal point. Missing cells and
numbers outside the public limits are treated as in the fit, and a note on standard error says how
many there were. Without FILE, a JSON Schema of one row and its answer is printed.
Exit codes: 0 done; 1 the release fails verification; 2 bad input.
"""


def run(args: argparse.Namespace) -> None:
    """Open, read, answer. Nothing is written before all of it is known. Raises InputError for what
    cannot be read, and for options about rows where there are none."""
    from dpcore.releases.opened import open_release
    from dpcore.releases.sheet import as_csv

    what = None if args.what is None else word_list("what", args.what)
    copied = [] if args.keep is None else word_list("keep", args.keep)
    release = open_release(args.release)
    if args.file is None:
        for name in ("what", "keep", "array", "out"):
            if getattr(args, name) is not None:
                raise InputError(
                    name, "there are no rows to answer for", "name a FILE, or leave it out"
                )
        print_json(release.to_json_schema())
        return
    place = _place(args)
    frame = _read_texts(args, release, copied) if release.model.reads == "documents" else None
    if frame is None:
        release = _as_written(args, release)
        frame = _read(args, release, copied)
    cells = release.cells(frame)
    rows = release.rows(cells)
    table = _beside(frame, copied, release.answers(rows, what))
    if args.json:
        print_json({"columns": list(table.columns), "rows": table.to_numpy(dtype=object).tolist()})
    elif place is None:
        text = as_csv(table, "%.6g")
        print(visible(text) if sys.stdout.isatty() else text, end="")
    else:
        write_whole(place, as_csv(table, "%.6g"))
    if release.model.reads != "documents":
        _note(cells, rows, _unlisted(release.schema, cells))


def _place(args: argparse.Namespace) -> Path | None:
    """Where the answers go: never into the release, nor in the place of the rows."""
    place = place_for_file("out", args.out)
    if place is None:
        return None
    if args.json:
        raise InputError("out", "only CSV can be written to a file", "leave out --out or --json")
    if place.resolve() == Path(args.file).resolve():
        raise InputError("out", "it is the input file", "name another file")
    return place


def _read(args: argparse.Namespace, release: OpenedRelease, copied: list[str]) -> pd.DataFrame:
    from dpcore.datasets.load import read_frame

    wanted = [*release.schema.features, *copied] if args.file.endswith(".parquet") else None
    frame = read_frame(
        args.file, array=args.array, columns=wanted, separator=release.schema.separator
    )
    for name in copied:
        if name not in frame.columns:
            raise InputError("keep", f"the table has no column {name!r}", "name one of its columns")
    return frame


def _read_texts(
    args: argparse.Namespace, release: OpenedRelease, copied: list[str]
) -> pd.DataFrame | None:
    """The texts of a folder or a zip; ``None`` for a table, which is read as any other."""
    import pandas as pd

    from dpcore.datasets.documents import texts_of

    path = Path(args.file)
    if not (path.is_dir() or path.name.lower().endswith(".zip")):
        return None
    if copied:
        raise InputError("keep", "a folder or .zip of texts has no columns", "leave it out")
    return pd.DataFrame({release.schema.features[0]: texts_of(path, None, None)[0]})


def _as_written(args: argparse.Namespace, release: OpenedRelease) -> OpenedRelease:
    """The release for rows that are written as its schema says, if the header line has the
    separator that this schema states; else for rows with what separates them there."""
    from dpcore.datasets.delimited import header_line
    from dpcore.datasets.files import check_path, extension, usual_separator
    from dpcore.datasets.header import separator_of
    from dpcore.schema import FileFormat, Schema

    path = Path(args.file)
    check_path(path)
    if extension(path) in (".npz", ".parquet"):
        return release
    line, stated = header_line(path), Schema.parse(release.dossier["schema"]).file
    written = FileFormat(separator_of(line, usual_separator(path)))
    if stated is not None and stated.separator is not None and stated.separator in line:
        written = stated
        print_note("cells are read in the notation that the release's schema states ([file]).")
    return replace(release, schema=replace(release.schema, file=written))


def _beside(frame: pd.DataFrame, copied: list[str], answers: pd.DataFrame) -> pd.DataFrame:
    """The kept columns, as they stand there, and the answers."""
    import pandas as pd

    for name in copied:
        if name in answers.columns:
            raise InputError(
                "keep", f"{name!r} is a column of the answers as well", "rename it in FILE"
            )
    return pd.concat([frame[copied].reset_index(drop=True), answers], axis=1)


def _unlisted(schema: Schema, cells: Array) -> int:
    """How many cells of categories hold none of the listed ones: all their indicators are 0."""
    from dpcore.schema.columns import indicators

    first = count = 0
    for column in schema.columns:
        width = len(indicators(column)) if column.role == "feature" else 0
        if width and column.type == "category":
            count += int(np.sum(~cells[:, first : first + width].any(axis=1)))
        first += width
    return count


def _note(cells: Array, rows: Array, unlisted: int) -> None:
    """How many cells were not read as they stand there."""
    missing, still = (int(np.sum(~np.isfinite(numbers))) for numbers in (cells, rows))
    moved = int(np.sum(np.isfinite(cells) & (cells != rows)))
    if unlisted:
        print_note(f"cells that hold no listed category, read as none of them: {unlisted:,}.")
    if missing or moved:
        fate = "which stay missing" if still else "replaced by their public fill"
        print_note(
            f"missing or infinite cells, {fate}: {missing:,}; cells "
            "moved because they or their row lay outside the public limits: "
            f"{moved:,}."
        )
