"""``dpcore calibrate``: the smallest noise that meets a budget, by any or all methods."""

from __future__ import annotations

import argparse

from dpcore.checks import positive
from dpcore.cli.account import as_number, event_arguments, event_record
from dpcore.cli.output import print_json, print_table
from dpcore.cli.questions import answers, methods
from dpcore.errors import InputError


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("--epsilon", required=True, metavar="E", help="budget")
    event_arguments(parser)


def run(args: argparse.Namespace) -> None:
    """Solve and print."""
    if args.delta is None:
        raise InputError("delta", "none was given", "give one, for example 0.00001")
    epsilon = positive("epsilon", args.epsilon)
    if args.mechanism == "epsilon_delta":
        raise InputError("mechanism", "a black box has no noise to solve for", "name a mechanism")
    names = methods(args.method)
    common = {
        "events": [event_record(args)],
        "delta": as_number("delta", args.delta),
        "solve": "noise_multiplier",
        "epsilon": epsilon,
    }
    cap = as_number("max_lambda", args.max_lambda)
    found = answers(
        [{**common, "method": name, "max_lambda": cap if name == "ma" else None} for name in names]
    )
    rows = [{"method": name, **each} for name, each in zip(names, found, strict=True)]
    if args.json:
        print_json(rows)
        return
    print_table(
        [
            {
                "method": row["method"],
                "noise": row.get("noise_multiplier"),
                "kind": row.get("kind"),
                "source or remedy": row.get("error") or row.get("source"),
            }
            for row in rows
        ]
    )
