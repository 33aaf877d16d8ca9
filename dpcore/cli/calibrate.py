"""``dpcore calibrate``: the smallest noise that meets a budget, by any or all methods."""

from __future__ import annotations

import argparse

from dpcore.checks import positive
from dpcore.cli.account import (
    delta_argument,
    event_arguments,
    file_argument,
    method_arguments,
    print_answers,
    print_scope,
    question,
)
from dpcore.cli.output import print_json, print_prose
from dpcore.cli.questions import by_each_method, methods

_EXAMPLES = """examples:
  dpcore calibrate --epsilon 1 --delta 1e-5 --count 10
  dpcore calibrate --epsilon 1 --delta 1e-5 --mechanism laplace --count 40 --method linear,kov,pld
  dpcore calibrate --epsilon 1 --delta 1e-5 --events steps.toml

Events of a file keep the proportions of the noise written there (1 where there is none)."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EXAMPLES
    asked = parser.add_argument_group("the budget")
    asked.add_argument("--epsilon", required=True, metavar="E", help="above 0 [required]")
    delta_argument(asked, "total delta, above 0 and below 1")
    event_arguments(parser)
    file_argument(parser)
    method_arguments(parser)


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
    print_answers(found, "method", [each["method"] for each in found])
    if any(len(each.get("noise_multipliers", ())) > 1 for each in found):
        print_prose("noise: for the events in their order, equal ones once.")
    print_scope(args)
