"""``dpcore account``: the epsilon of a composition, by any or all methods."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from dpcore.accounting import ACCOUNTANTS, accountant
from dpcore.checks import one_of, whole
from dpcore.cli.output import print_json, print_prose, print_table, rounded_down, rounded_up
from dpcore.cli.questions import (
    CONVERSIONS,
    HIGHEST_LAMBDA,
    MECHANISMS,
    adjacency_of,
    answer,
    answers,
    by_each_method,
    methods,
)
from dpcore.cli.sources import read_events, read_questions
from dpcore.errors import InputError
from dpcore.privacy.adjacency import ADJACENCIES, protects

Answer = dict[str, Any]
Cell = Callable[[Answer], Any]
_FIELDS = (  # of an event, by the options
    "mechanism", "count", "sampling", "sampling_rate", "delta_each", "l2_ratio", "steps",
    "noise_steps", "noise_multiplier", "scale",
)  # fmt: skip
_WAYS = ("wbk9", "wbk27", "ma", "rdp")  # methods that --conversion may be about
ADJACENCY = f"""
--adjacency A: which change is protected: {", ".join(ADJACENCIES)} [that of the events, else
    replace_one]
""".strip()
EVENT = f"""
# what was run
--mechanism NAME: one of {", ".join(MECHANISMS)} [gaussian]
--count N: number of releases, one after another [1]
--sampling S: sampling of each release: none (all rows), poisson, without_replacement [none]
--sampling-rate Q: share of the rows that each release uses [all]
--delta-each D: delta of each release [delta / (2 count); 0 for epsilon_delta]
--l2-ratio R: for Laplace noise on a vector: L2 / L1 sensitivity, at most 1 [1]
--steps K: for discrete Gaussian noise on one number: sensitivity / grid step [1]
--noise-steps K: the same on a vector: standard deviation / grid step [one number]
""".rstrip()
EVENTS_FILE = """
# events from a file
--events FILE: several events with their counts, as a JSON or TOML list or as printed by dpcore fit
    --json [the options describe one]
""".rstrip()
METHODS = f"""
# composition methods
--method M1,M2,...=all: one or more of {", ".join(ACCOUNTANTS)} [all]
--conversion C: conversion from moments to (epsilon, delta), for wbk9 and wbk27: classic (as in the
    papers) or best [best]
--max-lambda L: highest order for method ma [64; 255 with poisson]

--json: a JSON list [a readable table]
""".rstrip()
OPTIONS = f"""
# the question
--delta D: total delta, in (0, 1); 0 for pure differential privacy [required]
{ADJACENCY}
--solve WHAT: count, the number of times that all releases fit into the budget --epsilon [compute
    epsilon]
--epsilon E: epsilon of each epsilon_delta event; with --solve, the budget [none]
{EVENT}
--noise-multiplier M: Gaussian noise: standard deviation / L2 sensitivity [none]
--scale B: Laplace noise: scale / L1 sensitivity [none]
{EVENTS_FILE}
--file FILE: a file of complete questions, JSON or TOML [the options state one question]
{METHODS}
---
examples:
  dpcore account --noise-multiplier 12 --count 10 --delta 1e-5
  dpcore account --noise-multiplier 4 --count 1000 --sampling poisson --sampling-rate 0.01 \\
                 --adjacency add_remove --delta 1e-5 --method pld,rdp,ma
  dpcore account --noise-multiplier 12 --delta 1e-5 --solve count --epsilon 1
  dpcore fit gmm bundled:iris --epsilon 1 --delta 1e-3 --json > fit.json
  dpcore account --events fit.json --delta 1e-3
"""


def run(args: argparse.Namespace) -> None:
    """Answer and print."""
    if args.file is not None:
        _answer_file(args)
        return
    solving = {} if args.solve is None else {"solve": args.solve, "epsilon": args.epsilon}
    if args.solve is not None:
        one_of("solve", args.solve, ("count",))
    results = by_each_method(methods(args.method), lambda name: question(args, name, **solving))
    if args.json:
        print_json(results)
        return
    print_answers(results, "method", [result["method"] for result in results])
    if solving:
        print_prose("count: how many times the whole list of releases fits into the budget.")
    print_scope(args)


def _answer_file(args: argparse.Namespace) -> None:
    """Every question's own answer; a file that is a single question may also fail as one."""
    _check_alone(args)
    questions, single = read_questions(Path(args.file))
    results = answers(questions) if single else [answer(result) for result in questions]
    if args.json:
        print_json(results)
        return
    print_answers(results, "question", [str(i) for i in range(1, len(results) + 1)])
    if any("error" not in result for result in results):
        print_prose("Each epsilon holds for its question's delta and adjacency.")


def print_answers(results: Sequence[Answer], heading: str, names: Sequence[str]) -> None:
    """A table: methods that answer before those that refuse; only columns that hold something."""
    lines = list(zip(names, results, strict=True))
    if heading == "method":
        lines.sort(key=lambda line: "error" in line[1])
    columns: dict[str, Cell] = {
        "count": lambda result: result.get("count"),
        "noise": _noise,
        "epsilon": lambda result: rounded_up(result.get("epsilon")),
        "at least": lambda result: rounded_down(result.get("lower")),
    }
    filled = {
        title: cell
        for title, cell in columns.items()
        if title == "epsilon" or any(cell(result) is not None for result in results)
    }
    print_table([_line(heading, name, result, filled) for name, result in lines])
    if heading == "method":
        _print_conditions(lines)


def _print_conditions(lines: Sequence[tuple[str, Answer]]) -> None:
    """What a method assumes for these events beyond what it always does."""
    methods_by_assumption: dict[str, list[str]] = {}
    for name, result in lines:
        for assumption in result.get("assumptions", ()):
            if assumption not in accountant(name).assumptions:
                methods_by_assumption.setdefault(assumption, []).append(name)
    for assumption, names in methods_by_assumption.items():
        print_prose(f"Assumed by {', '.join(names)}: {assumption}.")


def _line(heading: str, name: str, result: Answer, columns: dict[str, Cell]) -> Answer:
    refused = "error" in result
    return {
        heading: name,
        **{title: cell(result) for title, cell in columns.items()},
        "kind": "refused" if refused else result.get("kind"),
        "source, or reason for refusal": result["error"] if refused else result.get("source"),
    }


def _noise(result: Answer) -> Any:
    """The noise that was solved for; of several events, each one's."""
    noises = result.get("noise_multipliers")
    if noises is None or len(noises) == 1:
        return rounded_up(result.get("noise_multiplier"))
    shown = [f"{rounded_up(noise):.4g}" for noise in dict.fromkeys(noises)]
    return ", ".join(shown[:3]) + (", ..." if len(shown) > 3 else "")


def print_scope(args: argparse.Namespace) -> None:
    """What an epsilon above holds for: its delta, and who is protected."""
    who = protects(adjacency_of({"adjacency": args.adjacency}, _events(args)))
    print_prose(f"Each epsilon holds at a total delta of {args.delta}, for {who}.")


def question(args: argparse.Namespace, method: str, **more: Any) -> dict[str, Any]:
    """The question that the options ask of one method. Raises InputError without a delta and for a
    setting that no method named has."""
    if args.delta is None:
        raise InputError("delta", "none was given", "give one, for example 1e-5")
    _check_settings(args)
    chosen = ("wbk9", "wbk27") if args.method.strip() == "all" else _WAYS  # of those with a choice
    return {
        "events": _events(args),
        "delta": args.delta,
        "adjacency": args.adjacency,
        "method": method,
        "max_lambda": args.max_lambda if method == "ma" else None,
        "conversion": args.conversion if method in chosen else None,
        **more,
    }


def _check_settings(args: argparse.Namespace) -> None:
    """A setting needs a method that has it among those named."""
    if args.max_lambda is not None:
        whole("max_lambda", args.max_lambda, most=HIGHEST_LAMBDA)
        if "ma" not in methods(args.method):
            raise InputError("max_lambda", "only method ma has a highest order", "leave it out")
    if args.conversion is None:
        return
    one_of("conversion", args.conversion, CONVERSIONS)
    if not set(_WAYS) & set(methods(args.method)):
        raise InputError(
            "conversion",
            "none of the methods named has a choice of conversions",
            "add wbk9 or wbk27 to --method",
        )


def _events(args: argparse.Namespace) -> list[Any]:
    """The events of the file, which is read once, or the one that the options describe."""
    if args.events is None:
        return [_event_record(args)]
    if isinstance(args.events, str):
        _check_absent(args, "events", _FIELDS)
        args.events = read_events(Path(args.events))
    return list(args.events)


def _event_record(args: argparse.Namespace) -> dict[str, Any]:
    """The event that the options describe; ``--epsilon`` belongs to it where nothing is solved."""
    mechanism = one_of("mechanism", args.mechanism or "gaussian", MECHANISMS)
    fields = [name for name in _FIELDS if name not in ("mechanism", "count")]
    if args.command == "account" and args.solve is None:
        fields.append("epsilon")
    elif mechanism == "epsilon_delta" and args.command == "account":
        raise InputError(
            "solve",
            "with --solve, --epsilon is the budget, not the epsilon of an event",
            "describe the event with --events",
        )
    record = {name: getattr(args, name, None) for name in fields}
    return {
        "mechanism": mechanism,
        "count": "1" if args.count is None else args.count,
        **{name: value for name, value in record.items() if value is not None},
    }


def _check_alone(args: argparse.Namespace) -> None:
    """A file of questions says everything itself."""
    others = ["delta", "adjacency", "epsilon", "solve", "events", "conversion", "max_lambda"]
    _check_absent(args, "file", [*_FIELDS, *others])
    if args.method != "all":
        raise InputError("file", "--method was given as well", "set it in the file")


def _check_absent(args: argparse.Namespace, field: str, names: Sequence[str]) -> None:
    for name in names:
        if getattr(args, name, None) is not None:
            raise InputError(
                field, f"--{name.replace('_', '-')} was given as well", "set it in the file"
            )
