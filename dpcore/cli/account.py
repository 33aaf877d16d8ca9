"""``dpcore account``: the epsilon of a composition, by any or all methods."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from dpcore.accounting import ACCOUNTANTS
from dpcore.checks import one_of
from dpcore.cli.output import print_json, print_prose, print_table
from dpcore.cli.questions import MECHANISMS, answer, by_each_method, methods
from dpcore.errors import InputError
from dpcore.privacy.adjacency import protects

_DESCRIBED = (
    ("mechanism", "what was run: gaussian, laplace or epsilon_delta [gaussian]"),
    ("count", "how often, one after another [1]"),
    ("delta", "total delta, in (0, 1); 0 for pure epsilon [required]"),
    ("adjacency", "replace_one, add_remove, label or feature [replace_one]"),
    ("delta_each", "delta of each release [delta / (2 count); black boxes 0]"),
    ("sampling", "none, poisson or without_replacement [none]"),
    ("sampling_rate", "share of the rows that each release sees [all]"),
    ("l2_ratio", "of a Laplace vector: L2 / L1 sensitivity, at most 1 [1]"),
)


def event_arguments(parser: argparse.ArgumentParser) -> None:
    """Options that describe one mechanism, run ``--count`` times."""
    for name, text in _DESCRIBED:
        parser.add_argument(f"--{name.replace('_', '-')}", metavar=name.upper(), help=text)
    parser.add_argument(
        "--method",
        default="all",
        metavar="M1,M2,...",
        help=f"ways of counting, of {', '.join(ACCOUNTANTS)} [all]",
    )
    parser.add_argument("--max-lambda", metavar="L", help="highest order of method ma [64]")
    parser.add_argument("--json", action="store_true", help="a JSON list [a table for people]")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument(
        "--file",
        metavar="QUESTIONS.json",
        help="a list of questions, instead of the options [none]",
    )
    parser.add_argument(
        "--noise-multiplier", metavar="M", help="Gaussian noise deviation / L2 sensitivity [none]"
    )
    parser.add_argument("--scale", metavar="B", help="Laplace scale / L1 sensitivity [none]")
    parser.add_argument("--epsilon", metavar="E", help="of each epsilon_delta black box [none]")
    event_arguments(parser)


def run(args: argparse.Namespace) -> None:
    """Answer and print."""
    if args.file is not None:
        _check_alone(args)
        found = [answer(question) for question in _read(Path(args.file))]
        if args.json:
            print_json(found)
        else:
            print_table([_line(str(i), each) for i, each in enumerate(found, start=1)])
        return
    found = by_each_method(methods(args.method), lambda name: question(args, name))
    if args.json:
        print_json(found)
    else:
        print_table([_line(each["method"], each) for each in found])
        print_scope(args)


def print_scope(args: argparse.Namespace) -> None:
    """What an epsilon above holds for: its delta, and who is protected."""
    who = protects(args.adjacency or "replace_one")
    print_prose(f"Each epsilon: at delta = {args.delta} in total, {who}.")


def question(args: argparse.Namespace, method: str, **more: Any) -> dict[str, Any]:
    """The question that the options ask of one method."""
    if args.delta is None:
        raise InputError("delta", "none was given", "give one, for example 0.00001")
    asked = {
        "events": [_event_record(args)],
        "delta": args.delta,
        "adjacency": args.adjacency or "replace_one",
        "method": method,
        "max_lambda": args.max_lambda if method == "ma" else None,
        **more,
    }
    if args.max_lambda is not None and args.method != "all" and "ma" not in methods(args.method):
        raise InputError("max_lambda", "only method ma has such a cap", "leave it out")
    return asked


def _event_record(args: argparse.Namespace) -> dict[str, Any]:
    """The event that the options describe; ``--epsilon`` belongs to it where nothing is solved."""
    fields = ["noise_multiplier", "scale", "delta_each", "sampling", "sampling_rate", "l2_ratio"]
    if args.command == "account":
        fields.append("epsilon")
    record = {name: getattr(args, name, None) for name in fields}
    return {
        "mechanism": one_of("mechanism", args.mechanism or "gaussian", MECHANISMS),
        "count": "1" if args.count is None else args.count,
        **{name: value for name, value in record.items() if value is not None},
    }


def _check_alone(args: argparse.Namespace) -> None:
    """A file says everything about its events itself."""
    names = ["noise_multiplier", "scale", "epsilon", "max_lambda", *(n for n, _ in _DESCRIBED)]
    for name in names:
        if getattr(args, name) is not None:
            raise InputError(
                "file", f"--{name.replace('_', '-')} was given beside it", "say it in the file"
            )


def _read(path: Path) -> list[Any]:
    try:
        questions = json.loads(path.read_text(encoding="utf-8"))
    except OSError:
        raise InputError("file", "it cannot be read", "give the path of a JSON file") from None
    except (ValueError, RecursionError):
        raise InputError("file", "it is not JSON", "give a list of questions") from None
    if not isinstance(questions, list):
        raise InputError("file", "it holds no list", "give a list of questions")
    return questions


def _line(name: str, found: dict[str, Any]) -> dict[str, Any]:
    return {
        "question": name,
        "epsilon": found.get("epsilon"),
        "noise": found.get("noise_multiplier"),
        "kind": found.get("kind"),
        "source or remedy": found.get("error") or found.get("source"),
    }
