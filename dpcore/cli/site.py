"""``dpcore site FOLDER``: the explorer's openings as files that need no server."""

from __future__ import annotations

import argparse
import sys

from dpcore.cli.explore import demand_app
from dpcore.cli.output import print_json
from dpcore.cli.pages import place_for_folder

OPTIONS = """
folder FOLDER: folder for the pages; those of an earlier run are replaced
--only NAME+: only this page: the name of a bundled table or collection, compose or lessons;
    repeatable [all; with --release, none]
--release RELEASE+: a release's folder; its page shows what was released, and no rows;
    repeatable [none]
--base URL=: also write the exercise sheet, with and without answers, with links to the explorer at
    this address, and with QR codes if segno is installed [no sheet]
--json: print the paths of the index and the pages as JSON [that of the index]
---
Each page is one file with its pictures and code: it opens from a disk or an email, or in an iframe,
and loads nothing from elsewhere. Progress is reported on standard error.
"""


def run(args: argparse.Namespace) -> None:
    """Write the pages, ``index.html`` first.

    Raises InputError without the explorer, for a name that no page has, for a base that is no
    address, and where a file stands in the folder's place; ReplayError for a release that does not
    verify.
    """
    folder = place_for_folder(args.folder)
    demand_app("site")
    from app.site import write_site

    index, *pages = write_site(folder, args.only or (), args.release or (), _tell, args.base)
    if args.json:
        print_json({"index": str(index), "pages": [str(page) for page in pages]})
    else:
        print(index)


def _tell(what: str) -> None:
    print(f"working out {what} ...", file=sys.stderr, flush=True)
