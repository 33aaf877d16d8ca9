"""``dpcore bench [NAME]``: speed and quality against peers, measured in one run."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from dpcore.cli.output import print_json, print_prose, print_table

Row = dict[str, Any]


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument(
        "name", nargs="?", metavar="NAME", help="gmm, kmeans, fa or accounting [all]"
    )
    parser.add_argument("--json", action="store_true")


def _say(case: int, cases: int) -> None:
    """Where it is, on the side of errors: a bench takes minutes."""
    print(f"measuring case {case} of {cases} ...", file=sys.stderr, flush=True)


def run(args: argparse.Namespace) -> None:
    """Measure and print."""
    from dpcore.bench import run as measured

    rows = measured(args.name, None if args.json else _say)
    if args.json:
        print_json(rows)
        return
    for bench in dict.fromkeys(row["bench"] for row in rows):
        chosen = [row for row in rows if row["bench"] == bench]
        (_accounting if bench == "accounting" else _fits)(chosen)


def _accounting(rows: list[Row]) -> None:
    """Answers against peers."""
    print_table(
        [
            {
                "ours s": row["ours_seconds"],
                "peer s": row["peer_seconds"],
                "ratio": row["ratio"],
                "ours": f"{row['quality_ours']:.6f}",
                "peer": f"{row['quality_peer']:.6f}",
                "MiB": f"{row['peak_mib']:.0f}",
                "case": f"{row['case']} ({row['peer']})",
            }
            for row in rows
        ]
    )
    _name_peers(rows)
    print_prose(
        "Seconds: medians of rounds that take turns, our caches emptied before each, everything "
        "imported. Ratio: peer / ours. Ours, peer: the epsilon, or the noise multiplier where "
        "noise is asked; a grid's mean over the cells both answered. A smaller upper bound is the "
        "better one. MiB: resident memory of a fresh process that asks ours alone."
    )
    _name_left_out(rows)


def _fits(rows: list[Row]) -> None:
    """Fits against a peer."""
    print_table([_fit(row) for row in rows])
    _name_peers(rows)
    print_prose(
        _SAME[rows[0]["bench"]]
        + " Ratio: peer / ours, both on every core."
        + (_FASTEST if "ratio_fastest" in rows[0] else "")
    )
    print_prose(
        f"Quality: {_QUALITY[rows[0]['bench']]}. Peak: resident memory of a fresh process that "
        "simulates the data and runs ours, everything in it counted."
    )
    apart = [row["apart"] for row in rows if "apart" in row]
    if apart:
        print(f"Centres after the same steps are at most {max(apart):.1e} apart.")
    _name_left_out(rows)


def _fit(row: Row) -> Row:
    """The one ratio is at equal threads; a second one, to the peer's faster setting, where known.
    Long cases stand last, where they are wrapped."""
    named = {"case": row["case"], "seconds per": row["per"]}
    numbers = {
        "ours": row["ours_seconds"],
        "peer": row["peer_seconds"],
        "ratio": row["ratio"],
        "peer on one core": row["peer_seconds_one_core"],
        "quality ours": f"{row['quality_ours']:.6f}",
        "quality peer": f"{row['quality_peer']:.6f}",
        "peak MiB": f"{row['peak_mib']:.0f}",
    }
    if "ratio_fastest" not in row:
        return {**named, **numbers}
    short = {
        "ours s": row["ours_seconds"],
        "peer s": row["peer_seconds"],
        "one core": row["peer_seconds_one_core"],
        "ratio": row["ratio"],
        "fastest": row["ratio_fastest"],
        "quality": numbers["quality ours"],
        "peer's": numbers["quality peer"],
        "MiB": numbers["peak MiB"],
    }
    return {**short, "case": f"{row['case']} (seconds per {row['per']})"}


_SAME = {
    "gmm": "The peer is given the same start.",
    "kmeans": "Plain: the peer is given our centres after the first step, then both take the same "
    "steps. Private: both fits whole, at the epsilon that each states; the case says what ours "
    "protects, and the peer states pure epsilon.",
    "fa": "Each side starts as it does; the case says where the two stop.",
}
_FASTEST = " Fastest: the same to whichever of the peer's two settings is faster."
_QUALITY = {
    "gmm": "mean log-likelihood of a row",
    "kmeans": "mean squared distance of a row to its centre, less is better; private: the median",
    "fa": "mean log-likelihood of a row, each side by its own code",
}


def _name_left_out(rows: list[Row]) -> None:
    for why in dict.fromkeys(why for row in rows for why in row.get("left_out", [])):
        print(f"Left out: {why}.")


def _name_peers(rows: list[Row]) -> None:
    for peer in dict.fromkeys(f"{row['peer']} {row['peer_version']}" for row in rows):
        print(f"Peer: {peer}.")
