"""``dpcore reproduce [NAME]``: one figure or table of a paper, regenerated."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpcore.checks import one_of, whole
from dpcore.cli.output import print_json, print_progress, print_prose, print_table
from dpcore.cli.pages import place_for_page, write_page
from dpcore.registry import PAPERS

if TYPE_CHECKING:
    from dpcore.papers.claims import Row
    from dpcore.papers.reproduction import Reproduction

# facts of a row, beside its y, that get a table of their own
FACTS = {"proved_epsilon": "showing the epsilon that is actually proved"}
OPTIONS = """
name [NAME]: what to regenerate [list everything]
--data FOLDER: folder with the published data sets, which are not part of the package [the folder
    data in DPCORE_SHARED, then the folder that dpcore data add fills]
--draws B: noise draws for each split [the figure's own]
--splits S: random splits of the rows [the figure's own]
--html FILE: also write the figure as a page [none]
--json: JSON [a readable table]
"""


def run(args: argparse.Namespace) -> None:
    """List, or regenerate and print."""
    from dpcore.papers.reproduction import Ask, described, reproduce, reproductions

    if args.name is None:
        listed = reproductions()
        if args.json:
            print_json(listed)
            return
        print_table([{"name": name, "shows": described(name)} for name in listed])
        print_prose(
            "A quick look: --splits 1. For a published data set, name its folder with --data."
        )
        return
    one_of("name", args.name, tuple(PAPERS))
    place = place_for_page("html", args.html)
    ask = Ask(
        data=None if args.data is None else Path(args.data),
        draws=None if args.draws is None else whole("draws", args.draws),
        splits=None if args.splits is None else whole("splits", args.splits),
        **({} if args.json else {"say": print_progress}),
    )
    reproduction = reproduce(args.name, ask)
    if place is not None:
        write_page("html", place, reproduction.title, _page(reproduction))
    if args.json:
        print_json(
            {
                "title": reproduction.title,
                "finding": reproduction.finding,
                "rows": list(reproduction.rows),
            }
        )
        return
    _show(reproduction)


def _show(reproduction: Reproduction) -> None:
    """One table for each panel: curves down, budgets across; of a picture its points."""
    print(reproduction.title)
    for panel in reproduction.panels:
        here = [row for row in reproduction.rows if row["panel"] == panel.id]
        print()
        heading = "" if panel.title == reproduction.title else panel.title
        if panel.kind != "lines":
            axes = ", ".join(filter(None, (panel.x, panel.y)))
            print_prose("".join(f"{words}. " for words in (heading, axes) if words).rstrip())
            print_table(_listed(panel.kind, here))
            continue
        print_prose(f"{heading}. Cells: {panel.y}. Across: {panel.x}.".removeprefix(". "))
        print_table(_crossed(here, "y"))
        for fact, words in FACTS.items():
            proved = [row for row in here if row.get(fact) is not None]
            if proved:
                print()
                print_prose(f"The same table, {words}.")
                print_table(_crossed(proved, fact))
    print()
    print_prose(reproduction.finding)
    for note in _notes(reproduction):
        print_prose(note)


def _notes(reproduction: Reproduction) -> list[str]:
    """What was refused, and what is shown instead; the notes of bars, points and words are names
    of theirs."""
    lines = {panel.id for panel in reproduction.panels if panel.kind == "lines"}
    noted = (row for row in reproduction.rows if row["note"] and row["panel"] in lines)
    notes = {(row["curve"], row["note"]) for row in noted}
    return [f"{curve}: {note}." for curve, note in sorted(notes)]


def _listed(kind: str, rows: Sequence[Row]) -> list[dict[str, Any]]:
    """A line for each point or bell, or for each rank with every curve's word."""
    points = [row for row in rows if row["y"] is not None]
    if kind != "words":
        return [{name: row[name] for name in ("curve", "x", "y", "note")} for row in points]
    lines: dict[float, dict[str, Any]] = {}
    for row in points:
        line = lines.setdefault(row["x"], {"rank": row["x"]})
        line[row["curve"]] = f"{row['note']} {row['y']:.3f}"
    return list(lines.values())


def _crossed(rows: Sequence[Row], field: str) -> list[dict[str, Any]]:
    """One line a curve, one column an x; a single x has room for its spread."""
    across = sorted({row["x"] for row in rows})
    lines: dict[str, dict[str, Any]] = {}
    for row in rows:
        empty = {"curve": row["curve"], **{f"{x:g}": None for x in across}}
        line = lines.setdefault(row["curve"], empty)
        line[f"{row['x']:g}"] = None if row[field] is None else round(row[field], 12)
        if field == "y" and len(across) == 1:
            line.update({"10%": row["low"], "90%": row["high"]})
    return list(lines.values())


def _page(reproduction: Reproduction) -> str:
    """The figure, its finding and its notes."""
    from dpcore.papers.drawing import reproduction_figure

    figure = reproduction_figure(reproduction)
    page: str = figure.to_html(full_html=False, include_plotlyjs=True)
    notes = (reproduction.finding, *_notes(reproduction))
    return page + "".join(f"\n<p>{escape(text)}</p>" for text in notes)
