"""``dpcore fit MODEL FILE``: parameters in own units, with their guarantee and ledger."""

from __future__ import annotations

import argparse
from typing import Any

from dpcore.checks import one_of, whole
from dpcore.cli.data import data_arguments, optional_whole, read_table
from dpcore.cli.output import print_json, print_table
from dpcore.errors import InputError
from dpcore.privacy import Privacy


def privacy_arguments(parser: argparse.ArgumentParser) -> None:
    """Options that name the unit of protection and the mode."""
    parser.add_argument("--delta", metavar="D", help="required with an epsilon")
    parser.add_argument("--adjacency", default="replace_one", metavar="A")
    parser.add_argument("--rows-per-person", default=None, metavar="M", help="[the schema's]")


def mixture_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the Gaussian mixture."""
    parser.add_argument("--components", default="3", metavar="K")
    parser.add_argument("--iterations", default="10", metavar="J")
    parser.add_argument("--covariance", default="full", metavar="full|diag|spherical")
    parser.add_argument(
        "--combination", default="GGG", metavar="GGG|LLG", help="paper mode's noise"
    )
    parser.add_argument("--prior", default=None, metavar="map|mle")
    parser.add_argument("--clip", default=None, metavar="SHARE", help="of the public radius [1]")


def mixture_options(args: argparse.Namespace) -> dict[str, Any]:
    """The mixture's options as ``dpcore.fit`` takes them."""
    return {
        "n_components": whole("components", args.components),
        "iterations": whole("iterations", args.iterations),
        "covariance": args.covariance,
        "combination": args.combination,
        "prior": args.prior,
        "clip": None if args.clip is None else _share(args.clip),
    }


def _share(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(
            "clip", f"{text!r} is not a number", "give a share above 0, at most 1"
        ) from None


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("model", metavar="MODEL", help="gmm")
    data_arguments(parser)
    parser.add_argument("--epsilon", metavar="E", help="budget")
    parser.add_argument("--noise-multiplier", metavar="M", help="noise of each repeated release")
    parser.add_argument("--privacy", metavar="none", help="'none' for a fit without privacy")
    parser.add_argument("--accountant", default="exact", metavar="A")
    parser.add_argument("--mode", default="proved", metavar="proved|paper")
    parser.add_argument("--seed", metavar="S", help="makes a rehearsal that can be repeated")
    parser.add_argument("--test-fraction", metavar="F", help="hold out a share of the rows")
    parser.add_argument("--json", action="store_true")
    privacy_arguments(parser)
    mixture_arguments(parser)


def run(args: argparse.Namespace) -> None:
    """Fit and print."""
    record = fit_record(args)
    if args.json:
        print_json(record)
        return
    _print(record)


def fit_record(args: argparse.Namespace) -> dict[str, Any]:
    """The JSON object of one fit."""
    import dpcore
    from dpcore.fitting.api import fit
    from dpcore.registry import MODELS

    one_of("model", args.model, MODELS)
    seed = optional_whole("seed", args.seed)
    options = mixture_options(args)
    table = read_table(args)
    privacy = request(args, table.schema.rows_per_person if table.schema else 1)
    rows, held_out = table, None
    if args.test_fraction is not None:
        rows, held_out = table.split(_fraction(args.test_fraction), seed or 0)
    if privacy is None:
        options["clip"] = None
    result = fit(args.model, rows, privacy=privacy, seed=seed, **options)
    metrics: dict[str, Any] = {}
    if held_out is not None:
        metrics = _metrics(result, held_out, shown=privacy is None or seed is not None)
    return {
        "model": args.model,
        "parameters": result.parameters.as_dict(),
        "guarantee": result.guarantee.as_dict(),
        "ledger": result.ledger.as_list(),
        "metrics": metrics,
        "seed": seed,
        "version": dpcore.__version__,
    }


def request(args: argparse.Namespace, rows_per_person: int) -> Privacy | None:
    """The privacy asked for; exactly one of epsilon, noise multiplier and 'none'."""
    if args.privacy is not None:
        one_of("privacy", args.privacy, ("none",))
        if args.epsilon is not None or args.noise_multiplier is not None:
            raise InputError("privacy", "'none' was given beside a budget", "give one of them")
        return None
    given = args.rows_per_person
    return Privacy(
        epsilon=_number("epsilon", args.epsilon),
        delta=_number("delta", args.delta),
        noise_multiplier=_number("noise_multiplier", args.noise_multiplier),
        adjacency=args.adjacency,
        accountant=args.accountant,
        mode=args.mode,
        rows_per_person=rows_per_person if given is None else whole("rows_per_person", given),
    )


def _number(field: str, text: str | None) -> float | None:
    if text is None:
        return None
    try:
        return float(text)
    except ValueError:
        raise InputError(field, f"{text!r} is not a number", "give a number") from None


def _fraction(text: str) -> float:
    value = _number("test_fraction", text)
    assert value is not None
    return value


def _metrics(result: Any, held_out: Any, *, shown: bool) -> dict[str, Any]:
    """Held-out metrics, or why there are none: a metric on private rows is itself a release."""
    from dpcore.evaluation.metrics import log_likelihood, log_likelihood_scaled

    if not shown:
        return {
            "withheld": "a metric of private rows is a release of its own; give a seed to rehearse"
        }
    return {
        "test_log_likelihood": log_likelihood(result, held_out),
        "test_log_likelihood_scaled": log_likelihood_scaled(result, held_out),
        "note": "computed from private rows: for the custodian's eyes, not part of a release",
    }


def _print(record: dict[str, Any]) -> None:
    parameters = record["parameters"]
    print(record["guarantee"]["sentence"])
    claim = record["guarantee"]["claim"]
    if claim is not None:
        print(f"The paper says epsilon = {claim['epsilon']:g} ({claim['source']}).")
    for note in record["guarantee"]["notes"]:
        print(f"Note: {note}.")
    print()
    rows = []
    for k, (weight, mean) in enumerate(
        zip(parameters["weights"], parameters["means"], strict=True), start=1
    ):
        named = dict(zip(parameters["columns"], mean, strict=True))
        rows.append({"group": k, "weight": weight, **named})
    print_table(rows)
    if record["metrics"]:
        print()
        for name, value in record["metrics"].items():
            print(f"{name}: {value:.4f}" if isinstance(value, float) else f"{name}: {value}")
