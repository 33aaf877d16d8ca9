"""``dpcore bench [NAME]``: speed and quality against peers, measured in one run."""

from __future__ import annotations

import argparse
import sys

from dpcore.cli.output import print_json, print_table


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("name", nargs="?", metavar="NAME", help="gmm [all]")
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
    for peer in dict.fromkeys(f"{row['peer']} {row['peer_version']}" for row in rows):
        print(f"Peer: {peer}, given the same start. Ratio: peer / ours, both on every core.")
    print(
        "Quality: mean log-likelihood of a row. Peak: resident memory of a fresh process that "
        "simulates the data and runs ours, everything in it counted."
    )
