"""``dpcore calibrate``: the smallest noise that meets a budget, by any or all methods."""

from __future__ import annotations

import argparse

from dpcore.checks import positive
from dpcore.cli.account import (
    ADJACENCY,
    EVENT,
    EVENTS_FILE,
    METHODS,
    print_answers,
    print_scope,
    question,
)
from dpcore.cli.output import print_json, print_prose
from dpcore.cli.questions import by_each_method, methods

OPTIONS = f"""
# the budget
--epsilon E!: total epsilon, above 0 [required]
--delta D: total delta, above 0 and below 1 [required]
{ADJACENCY}
{EVENT}
{EVENTS_FILE}
{METHODS}
---
examples:
  dpcore calibrate --epsilon 1 --delta 1e-5 --count 10
  dpcore calibrate --epsilon 1 --delta 1e-5 --mechanism laplace --count 40 --method linear,kov,pld
  dpcore calibrate --epsilon 1 --delta 1e-5 --events steps.toml

The noise of events from a file keeps the proportions stated there; noise that
is not stated counts as 1.
"""


def run(args: argparse.Namespace) -> None:
    """Solve and print."""
    positive("epsilon", args.epsilon)
    results = by_each_method(
        methods(args.method),
        lambda name: question(args, name, solve="noise_multiplier", epsilon=args.epsilon),
    )
    if args.json:
        print_json(results)
        return
    print_answers(results, "method", [result["method"] for result in results])
    if any(len(result.get("noise_multipliers", ())) > 1 for result in results):
        print_prose("noise: its distinct values, in the order of the events.")
    print_scope(args)
