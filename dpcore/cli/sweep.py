"""``dpcore sweep MODEL FILE``: held-out utility for every budget, way of counting and mode."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict

from dpcore.checks import one_of, probability, whole
from dpcore.cli.data import data_arguments, number_list, optional_whole, read_table
from dpcore.cli.fit import mixture_arguments, mixture_options, privacy_arguments
from dpcore.cli.output import print_json, print_table
from dpcore.errors import InputError


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("model", metavar="MODEL", help="gmm")
    data_arguments(parser)
    parser.add_argument("--epsilons", default="0.1,0.5,1,2,4", metavar="E1,E2,...")
    parser.add_argument("--methods", default="exact", metavar="M1,M2,...")
    parser.add_argument("--modes", default="proved", metavar="proved,paper")
    parser.add_argument("--draws", default="1", metavar="B", help="noise draws of each split")
    parser.add_argument("--splits", default="10", metavar="S", help="random splits of the rows")
    parser.add_argument("--test-fraction", default="0.1", metavar="F")
    parser.add_argument("--metric", default="test_log_likelihood", metavar="NAME")
    parser.add_argument("--seed", default="0", metavar="S")
    parser.add_argument("--json", action="store_true")
    privacy_arguments(parser)
    mixture_arguments(parser)


def run(args: argparse.Namespace) -> None:
    """Sweep and print."""
    from dpcore.evaluation.sweep import sweep
    from dpcore.registry import MODELS

    one_of("model", args.model, MODELS)
    if args.delta is None:
        raise InputError("delta", "none was given", "give one, for example 0.00001")
    delta = probability("delta", args.delta)
    epsilons = number_list("epsilons", args.epsilons)
    if not epsilons:
        raise InputError("epsilons", "none was given", "give some, for example 0.1,1,10")
    draws, splits = whole("draws", args.draws), whole("splits", args.splits)
    options = mixture_options(args)
    table = read_table(args)
    given = args.rows_per_person
    default = table.schema.rows_per_person if table.schema else 1
    rows = sweep(
        args.model,
        table,
        epsilons=epsilons,
        delta=delta,
        methods=args.methods.split(","),
        modes=args.modes.split(","),
        draws=draws,
        splits=splits,
        test_fraction=float(args.test_fraction),
        metric=args.metric,
        adjacency=args.adjacency,
        rows_per_person=default if given is None else whole("rows_per_person", given),
        seed=optional_whole("seed", args.seed) or 0,
        on_progress=None if args.json else _progress,
        **options,
    )
    records = [asdict(row) for row in rows]
    if args.json:
        print_json(records)
    else:
        print_table(records)
        print("Scores of exact rows: for the custodian's eyes, not part of a release.")


def _progress(share: float) -> None:
    """A bar on a terminal, nothing elsewhere."""
    if sys.stderr.isatty():
        filled = round(30 * share)
        end = "\n" if share >= 1.0 else ""
        print(f"\r[{'#' * filled}{'.' * (30 - filled)}] {share:4.0%}", end=end, file=sys.stderr)
