"""``dpcore bench [NAME]``: speed and quality against peers, measured in one run."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from dpcore.cli.output import print_json, print_prose, print_table

Row = dict[str, Any]


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("name", nargs="?", metavar="NAME", help="gmm or accounting [all]")
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
    for bench in (_is_accounting, lambda row: not _is_accounting(row)):
        chosen = [row for row in rows if bench(row)]
        if chosen:
            (_accounting if _is_accounting(chosen[0]) else _fits)(chosen)


def _is_accounting(row: Row) -> bool:
    return "left_out" in row


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
    for why in dict.fromkeys(why for row in rows for why in row["left_out"]):
        print(f"Left out: {why}.")


def _fits(rows: list[Row]) -> None:
    """Fits against a peer from the same start."""
    print_table(
        [
            {
                "case": row["case"],
                "seconds per": row["per"],
                "ours": row["ours_seconds"],
                "peer": row["peer_seconds"],
                "ratio": row["ratio"],
                "peer on one core": row["peer_seconds_one_core"],
                "quality ours": f"{row['quality_ours']:.6f}",
                "quality peer": f"{row['quality_peer']:.6f}",
                "peak MiB": f"{row['peak_mib']:.0f}",
            }
            for row in rows
        ]
    )
    _name_peers(rows)
    print("The peer is given the same start. Ratio: peer / ours, both on every core.")
    print(
        "Quality: mean log-likelihood of a row. Peak: resident memory of a fresh process that "
        "simulates the data and runs ours, everything in it counted."
    )


def _name_peers(rows: list[Row]) -> None:
    for peer in dict.fromkeys(f"{row['peer']} {row['peer_version']}" for row in rows):
        print(f"Peer: {peer}.")
