"""``dpcore calibrate``: the smallest noise that meets a budget, by any or all methods."""

from __future__ import annotations

import argparse

from dpcore.checks import positive
from dpcore.cli.account import event_arguments, print_scope, question
from dpcore.cli.output import print_json, print_table
from dpcore.cli.questions import by_each_method, methods


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("--epsilon", required=True, metavar="E", help="budget, above 0 [required]")
    event_arguments(parser)


def run(args: argparse.Namespace) -> None:
    """Solve and print."""
    positive("epsilon", args.epsilon)
    found = by_each_method(
        methods(args.method),
        lambda name: question(args, name, solve="noise_multiplier", epsilon=args.epsilon),
    )
    if args.json:
        print_json(found)
        return
    print_table(
        [
            {
                "method": each["method"],
                "noise": each.get("noise_multiplier"),
                "epsilon": each.get("epsilon"),
                "kind": each.get("kind"),
                "source or remedy": each.get("error") or each.get("source"),
            }
            for each in found
        ]
    )
    print_scope(args)
