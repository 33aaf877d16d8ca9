"""``dpcore reproduce [NAME]``: one figure or table of a paper, regenerated."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from dpcore.checks import one_of, whole
from dpcore.cli.output import print_json, print_prose, print_table
from dpcore.errors import InputError
from dpcore.registry import PAPERS

if TYPE_CHECKING:
    from dpcore.papers.exhibit import Exhibit

_HIDDEN = ("note",)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("name", nargs="?", metavar="NAME", help="what to regenerate [list all]")
    parser.add_argument(
        "--data", metavar="FOLDER", help="where the real data sets lie [DPCORE_SHARED/data]"
    )
    for name, metavar, text in (
        ("draws", "B", "noise draws of each split"),
        ("splits", "S", "random splits of the rows"),
    ):
        parser.add_argument(f"--{name}", metavar=metavar, help=f"{text} [the figure's own]")
    parser.add_argument("--html", metavar="FILE", help="also write the figure as a page")
    parser.add_argument("--json", action="store_true", help="JSON [a table for people]")


def run(args: argparse.Namespace) -> None:
    """List, or regenerate and print."""
    from dpcore.papers.exhibit import Ask, exhibits, reproduce

    if args.name is None:
        known = exhibits()
        if args.json:
            print_json(known)
            return
        print_table([{"name": name, "shows": text} for name, text in known.items()])
        return
    one_of("name", args.name, tuple(PAPERS))
    ask = Ask(
        data=None if args.data is None else Path(args.data),
        draws=None if args.draws is None else whole("draws", args.draws),
        splits=None if args.splits is None else whole("splits", args.splits),
        **({} if args.json else {"say": _progress}),
    )
    found = reproduce(args.name, ask)
    if args.html is not None:
        _write(found, Path(args.html))
    if args.json:
        print_json({"title": found.title, "finding": found.finding, "rows": list(found.rows)})
        return
    _show(found)


def _show(found: Exhibit) -> None:
    print(found.title)
    everywhere = set.intersection(*(set(row) for row in found.rows))
    names = [name for name in found.rows[0] if name in everywhere and name not in _HIDDEN]
    print_table([{name: row[name] for name in names} for row in found.rows])
    print_prose(found.finding)
    notes = {(row["curve"], row["note"]) for row in found.rows if row["note"]}
    for curve, note in sorted(notes):
        print_prose(f"{curve}: {note}.")


def _write(found: Exhibit, path: Path) -> None:
    """The figure as one page that needs no network."""
    try:
        from dpcore.papers.drawing import exhibit_figure

        page = exhibit_figure(found).to_html(include_plotlyjs=True)
    except ImportError:
        raise InputError(
            "html", "the package plotly is not installed", "install dpcore[app]"
        ) from None
    try:
        path.write_text(page, encoding="utf-8")
    except OSError:
        raise InputError("html", "the file cannot be written", "give another path") from None


def _progress(share: float) -> None:
    """A bar on a terminal, nothing elsewhere."""
    if sys.stderr.isatty():
        filled = round(30 * share)
        end = "\n" if share >= 1.0 else ""
        print(f"\r[{'#' * filled}{'.' * (30 - filled)}] {share:4.0%}", end=end, file=sys.stderr)
