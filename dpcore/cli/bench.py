"""``dpcore bench [NAME]``: speed and quality against peers, or utility on many tables."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from importlib import import_module
from typing import Any

from dpcore.bench import BENCHES
from dpcore.checks import whole
from dpcore.cli.explore import demand_app
from dpcore.cli.output import print_json, print_prose, print_table
from dpcore.cli.pages import place_for_file, place_for_page, write_page
from dpcore.errors import InputError
from dpcore.privacy.guarantee import delta_text

_TITLE = "Speed against peers"
_OF_ONE = {"half": "utility", "model": "utility", "draws": "utility", "only": "page"}
_SHOWN = 0.01  # of all seconds, for a room to have its column
UTILITY = "utility"  # a bench of another kind: no peer, no clock
PAGE = "page"  # of another kind too: no peer
Row = dict[str, Any]
Run = dict[str, Any]
OPTIONS = f"""
name [NAME]: {", ".join(BENCHES)} [all of these], or {UTILITY}: the utility of private fits on many
    tables, or {PAGE}: where the time of the explorer's first page goes, by table, action and room
    (part of the package)
--history FILE: a file of earlier runs, with which this run is compared and to which it is appended
    as one JSON line; slowdowns are marked [none]
--page FILE.html: also write tables and figures as one page [none]

# for {UTILITY} only
--half HALF: develop: the tables on which methods are chosen; report: those on which they are judged
    [both]
--model M: fits of one model [all]
--draws N: noise draws for each fit [5]

# for {PAGE} only
--only NAME+: only this table; repeatable [all]

--json: a JSON list [readable tables]
"""


def _say(case: int, cases: int) -> None:
    """Where it is, on the side of errors: a bench takes minutes."""
    print(f"measuring case {case} of {cases} ...", file=sys.stderr, flush=True)


def run(args: argparse.Namespace) -> None:
    """Measure, compare with earlier runs, and print. Raises InputError for an option that belongs
    to the other kind of bench."""
    for word, name in _OF_ONE.items():
        if getattr(args, word) is not None and args.name != name:
            raise InputError(word, f"it applies only to {name}", f"run dpcore bench {name}")
    for word in ("history", "page"):
        if getattr(args, word) is not None and args.name in (UTILITY, PAGE):
            raise InputError(word, f"bench {args.name} has no such option", "leave it out")
    if args.name == UTILITY:
        _utility(args)
        return
    if args.name == PAGE:
        _page_times(args)
        return
    from dpcore.bench import history
    from dpcore.bench import run as measured

    path, page = place_for_file("history", args.history), place_for_page("page", args.page)
    before = [] if path is None else history.earlier(path)
    this = history.this_run(measured(args.name, None if args.json else _say))
    rows: list[Row] = this["rows"] if path is None else history.compared(this, before)
    if path is not None:
        history.append(path, this)
    if page is not None:
        write_page("page", page, _TITLE, _page(rows, [*before, this]))
    if args.json:
        print_json(rows)
        return
    for bench in dict.fromkeys(row["bench"] for row in rows):
        chosen = [row for row in rows if row["bench"] == bench]
        (_OWN.get(bench, _fits))(chosen)
    if path is not None:
        _changes(rows)


def _utility(args: argparse.Namespace) -> None:
    """Shares of what exact fits gain, on held-out rows."""
    from dpcore.bench import utility

    def say(fit: str, seconds: float) -> None:
        print(f"{fit}: {seconds:.1f} s", file=sys.stderr, flush=True)

    draws = utility.DRAWS if args.draws is None else whole("draws", args.draws)
    rows = utility.run(args.half, args.model, draws, on_table=None if args.json else say)
    if args.json:
        print_json(rows)
        return
    columns = ("table", "half", "model", "epsilon", "share", "low", "high", "simplest")
    with_shares = [row for row in rows if row["share"] is not None]
    print_table([{name: row[name] for name in columns} for row in with_shares])
    print()
    print_table(utility.medians(with_shares))
    print_prose(
        "Share: (ours - baseline) / (exact - baseline) on held-out rows, as the median over draws; "
        "low and high are the 10% and 90% quantiles. Baseline: the simplest model without privacy. "
        "Exact: the converged fit without privacy. Simplest: the share of the simplest private "
        f"model. Delta: {delta_text(utility.DELTA)}."
    )
    without = [row for row in rows if row["share"] is None and row["absent"] is None]
    for fit in dict.fromkeys(f"{row['model']} on {row['table']}" for row in without):
        print(f"No share, because exact and baseline hardly differ: {fit}.")
    absent = dict.fromkeys(row["table"] for row in rows if row["absent"])
    if absent:
        print_prose(
            f"Absent: {', '.join(absent)}. Set DPCORE_SHARED to the folder that holds data/; "
            "dpcore data lists the sources of published data sets."
        )


def _page_times(args: argparse.Namespace) -> None:
    """Seconds by room of the package."""
    demand_app("bench")
    from app.page_times import times

    def say(table: str) -> None:
        print(f"measuring {table} ...", file=sys.stderr, flush=True)

    rows = list(times(args.only or (), say))
    if args.json:
        print_json(rows)
        return
    rooms = Counter[str]()
    for row in rows:
        rooms.update(row["rooms"])
    most = [room for room, seconds in rooms.most_common() if seconds > _SHOWN * rooms.total()]
    for row in rows:
        shown = {room: f"{row['rooms'].get(room, 0.0):.3f}" for room in most}
        row["s"] = f"{row.pop('seconds'):.3f}"
        row |= shown
        del row["rooms"]
    print_table(rows)
    print_prose(
        "Seconds until the picture is complete, without a browser: the median of five runs or, for "
        "a new process, one run timed from its first import. Rooms: the parts of the package in "
        "which the threads spent their time. A library's time is counted in the room that called "
        "it; rooms below 1% of the total are left out."
    )


def _changes(rows: Sequence[Row]) -> None:
    """Every ratio beside the earlier ones."""
    from dpcore.bench.history import SLOWER

    print_table(
        [
            {
                "ratio": row["ratio"],
                "before": row["ratio_before"],
                "runs": row["runs_before"],
                "": "SLOWER" if row["slower"] else "",
                "case": f"{row['bench']}: {row['case']} ({row['peer']})",
            }
            for row in rows
        ]
    )
    print_prose(
        "Before: the median ratio of earlier runs with the same case, peer, peer version and "
        f"number of cores. Slower: a ratio below {SLOWER:g} times that median."
    )


def _page(rows: Sequence[Row], runs: Sequence[Run]) -> str:
    """Figures and the table."""
    from dpcore.figures.bench import growth_figure, history_figure, ratio_figure

    drawn = (ratio_figure(rows), growth_figure(rows), history_figure(runs))
    figures = "\n".join(
        figure.to_html(full_html=False, include_plotlyjs=not number)
        + f"<p>{escape(figure.layout.meta['alt'])}</p>"
        for number, figure in enumerate(figure for figure in drawn if figure is not None)
    )
    now = runs[-1]
    caption = escape(f"dpcore {now['version']}, {now['date']}, {now['cores']} cores.")
    cells = [_page_cells(row) for row in rows]
    heads = "".join(f"<th>{escape(name)}</th>" for name in cells[0]) if cells else ""
    lines = "\n".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in line.values()) + "</tr>"
        for line in cells
    )
    return (
        f"<h1>{_TITLE}</h1>\n<p>{caption}</p>\n{figures}\n<table><thead><tr>{heads}</tr></thead>\n"
        f"<tbody>\n{lines}\n</tbody></table>"
    )


_FORMS = {"quality_ours": ".6f", "quality_peer": ".6f", "peak_mib": ".0f"}
_SECONDS = {"ours s": "ours_seconds", "peer s": "peer_seconds"}


def _cells(row: Row, columns: Mapping[str, str]) -> Row:
    """A line of a table. columns: heading to the key of a row."""
    cells = {head: row[key] for head, key in columns.items()}
    forms = {head: _FORMS[key] for head, key in columns.items() if key in _FORMS}
    return {head: format(v, forms[head]) if head in forms else v for head, v in cells.items()}


def _page_cells(row: Row) -> dict[str, str]:
    numbers = {
        "ours, s": row["ours_seconds"],
        "peer, s": row["peer_seconds"],
        "ratio": row["ratio"],
        "quality": row["quality_ours"],
        "peer's": row["quality_peer"],
        "MiB": row["peak_mib"],
    }
    names = {
        "case": f"{row['bench']}: {row['case']}, per {row['per']}",
        "peer": f"{row['peer']} {row['peer_version']}",
    }
    cells = {name: f"{number:.4g}" for name, number in numbers.items()}
    if "slower" in row:
        cells["before"] = "-" if row["ratio_before"] is None else f"{row['ratio_before']:.4g}"
        cells[""] = "slower" if row["slower"] else ""
    return {**names, **cells}


def _growth(rows: list[Row]) -> None:
    """Curves, and the power of the size with which seconds grow."""
    from dpcore.bench.growth import power

    columns = {name: name for name in ("curve", "axis", "size")} | _SECONDS
    columns |= {"ratio": "ratio", "MiB": "peak_mib"}
    print_table(
        [
            {**_cells(row, columns), "of": f"{row['case']} (seconds per {row['per']})"}
            for row in rows
        ]
    )
    for curve, axis in dict.fromkeys((row["curve"], row["axis"]) for row in rows):
        here = [row for row in rows if (row["curve"], row["axis"]) == (curve, axis)]
        sizes = [row["size"] for row in here]
        ours, peer = (
            power(sizes, [row[side] for row in here]) for side in ("ours_seconds", "peer_seconds")
        )
        print(f"{curve}: our seconds grow as {axis}^{ours:z.2f}; the peer's as {axis}^{peer:z.2f}.")
    _name_peers(rows)


def _accounting(rows: list[Row]) -> None:
    """Answers against peers."""
    columns = {**_SECONDS, "ratio": "ratio", "ours": "quality_ours", "peer": "quality_peer"}
    columns["MiB"] = "peak_mib"
    print_table(
        [{**_cells(row, columns), "case": f"{row['case']} ({row['peer']})"} for row in rows]
    )
    _name_peers(rows)
    print_prose(
        "Seconds: medians of alternating rounds, with our caches emptied before each and, except "
        "for the first answer of a fresh process, without imports. Ratio: peer's seconds / ours. "
        "Ours, peer: the epsilon or noise multiplier that each computed; for a grid, the mean over "
        "the cells that both answered. A smaller upper bound is better. MiB: peak resident memory "
        "of a fresh process that runs only ours."
    )
    _name_left_out(rows)


def _fits(rows: list[Row]) -> None:
    """Fits against a peer."""
    bench = import_module(BENCHES[rows[0]["bench"]])
    print_table([_fit(row) for row in rows])
    _name_peers(rows)
    print_prose(
        bench.CONDITIONS
        + " Ratio: peer's seconds / ours; both sides may use all cores unless stated otherwise."
        + (_FASTEST if "ratio_fastest" in rows[0] else "")
    )
    print_prose(
        f"Quality: {bench.JUDGED_BY}. MiB: peak resident memory of a fresh process that "
        "runs only ours, including any simulation of data."
    )
    apart = [row["apart"] for row in rows if "apart" in row]
    if apart:
        print(f"After the same steps, our centres are within {max(apart):.1e} of the peer's.")
    _name_left_out(rows)


_LONG = {
    "case": "case",
    "seconds per": "per",
    "ours": "ours_seconds",
    "peer": "peer_seconds",
    "ratio": "ratio",
    "peer on one core": "peer_seconds_one_core",
    "quality ours": "quality_ours",
    "quality peer": "quality_peer",
    "peak MiB": "peak_mib",
}
_SHORT = {
    **_SECONDS,
    "one core": "peer_seconds_one_core",
    "ratio": "ratio",
    "fastest": "ratio_fastest",
    "quality": "quality_ours",
    "peer's": "quality_peer",
    "MiB": "peak_mib",
}


def _fit(row: Row) -> Row:
    """The one ratio is at equal threads; a second one, to the peer's faster setting, where known.
    Long cases stand last, where they are wrapped."""
    if "ratio_fastest" not in row:
        return _cells(row, _LONG)
    cells = _cells(row, _SHORT)
    if "ours_tokens_per_second" in row:
        cells["tokens/s"] = f"{row['ours_tokens_per_second']:.0f}"
        cells["its best"] = f"{row['peer_tokens_per_second']:.0f}"
        cells["cores"] = row["peer_processor_seconds"] / row["ours_processor_seconds"]
    return {**cells, "case": f"{row['case']} (seconds per {row['per']})"}


_FASTEST = " Fastest: the same ratio for the faster of the peer's two settings."
_OWN = {"accounting": _accounting, "growth": _growth}


def _name_left_out(rows: list[Row]) -> None:
    for why in dict.fromkeys(why for row in rows for why in row.get("left_out", [])):
        print(f"Left out: {why}.")


def _name_peers(rows: list[Row]) -> None:
    for peer in dict.fromkeys(f"{row['peer']} {row['peer_version']}" for row in rows):
        print(f"Peer: {peer}.")
