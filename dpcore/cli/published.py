"""``dpcore data``: the papers' data sets, where to get them, and how they come into the list."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from dpcore.checks import one_of
from dpcore.cli.output import print_json, print_prose
from dpcore.errors import InputError

if TYPE_CHECKING:
    from dpcore.datasets.published import PublishedSet

OPTIONS = """
verb [add]: add a set [list them all]
name [NAME]: name of the set
file [FILE]: the downloaded file or folder
--json: print JSON [readable text]
---
FILE is the published original, or a file in the stored form (.npz or .csv.gz). Shape and column
sums are checked, and so is an original's checksum if one is published. An added set loads as
published:NAME, appears in the explorer's list and is used by dpcore reproduce. It is stored in
DPCORE_DATA, or in the usual folder for user data.
"""


def run(args: argparse.Namespace) -> None:
    """List the sets, or convert, check and keep one. Raises InputError where one cannot be."""
    from dpcore.datasets.published import SETS, add, folder

    if args.verb is not None:
        one_of("data", args.verb, ("add",))
        if args.name is None or args.file is None:
            raise InputError(
                "data", "the name or the file is missing", "run dpcore data add NAME FILE"
            )
        added = add(args.name, args.file)
        if args.json:
            print_json({"name": added.name, "file": str(added.path)})
        else:
            print(f"{added.title} is in {added.path}. Load it as published:{added.name}.")
        return
    records = [_record(published_set) for published_set in SETS]
    if args.json:
        print_json({"folder": str(folder()), "sets": records})
        return
    for record in records:
        _print(record)
    print(f"Added sets are kept in {folder()}.")


def _record(published_set: PublishedSet) -> dict[str, Any]:
    """What is said of a set."""
    rows, features = published_set.size
    return {
        "name": published_set.name,
        "title": published_set.title,
        "about": published_set.story,
        "rows": rows,
        "features": features,
        "documents": published_set.schema is None,
        "owner": published_set.owner,
        "source": published_set.source,
        "licence": published_set.licence,
        "checksums": dict(published_set.checksums or {}),
        "original": published_set.original,
        "limits": published_set.limits,
        "here": published_set.is_here,
    }


def _print(record: dict[str, Any]) -> None:
    """One set, as a short paragraph."""
    parts = ("documents", "words") if record["documents"] else ("rows", "columns")
    size = f"{record['rows']:,} {parts[0]}, {record['features']:,} {parts[1]}"
    here = "added" if record["here"] else "not added"
    print(f"{record['name']}: {record['title']} ({size}; {here})")
    print_prose(f"  {record['about']}")
    print_prose(f"  Whose: {record['owner']}.")
    print(f"  Where: {record['source']}")
    print_prose(f"  Licence: {record['licence']}.")
    sums = ", ".join(f"{file} {sum_}" for file, sum_ in record["checksums"].items())
    print_prose(f"  Checksum: {sums or 'none published; shape and column sums are checked'}.")
    original = record["original"].removeprefix("give ")
    print_prose(f"  Limits: {record['limits']}.")
    print_prose(f"  Add it: dpcore data add {record['name']} FILE, where FILE is {original}.")
    print()
