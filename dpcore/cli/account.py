"""``dpcore account``: the epsilon of a composition, by any or all methods."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from dpcore.cli.output import print_json, print_table
from dpcore.cli.questions import answer, answers, methods
from dpcore.errors import InputError


def event_arguments(parser: argparse.ArgumentParser) -> None:
    """Options that describe one mechanism, run ``--count`` times."""
    parser.add_argument("--mechanism", default="gaussian", metavar="gaussian|laplace|epsilon_delta")
    parser.add_argument("--count", default="1", metavar="N")
    parser.add_argument("--delta", default=None, metavar="D")
    parser.add_argument("--delta-each", default=None, metavar="D", help="delta of each release")
    parser.add_argument("--method", default="all", metavar="M1,M2,...", help="[all]")
    parser.add_argument("--max-lambda", default=None, metavar="L", help="cap of method ma")
    parser.add_argument("--json", action="store_true")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("--file", metavar="QUESTIONS.json", help="a list of questions")
    parser.add_argument("--noise-multiplier", metavar="M", help="noise deviation / L2 sensitivity")
    parser.add_argument("--scale", metavar="B", help="Laplace scale / L1 sensitivity")
    parser.add_argument("--epsilon", metavar="E", help="of each epsilon_delta black box")
    event_arguments(parser)


def run(args: argparse.Namespace) -> None:
    """Answer and print."""
    if args.file is not None:
        found = [answer(question) for question in _read(Path(args.file))]
        if args.json:
            print_json(found)
        else:
            print_table([_line(str(i), each) for i, each in enumerate(found, start=1)])
        return
    names = methods(args.method)
    found = answers([_question(args, name) for name in names])
    if args.json:
        print_json([{"method": name, **each} for name, each in zip(names, found, strict=True)])
    else:
        print_table([_line(name, each) for name, each in zip(names, found, strict=True)])


def event_record(args: argparse.Namespace) -> dict[str, Any]:
    """The event that the options describe."""
    noise = {
        "gaussian": {
            "noise_multiplier": as_number("noise_multiplier", _get(args, "noise_multiplier"))
        },
        "laplace": {"scale": as_number("scale", _get(args, "scale"))},
        "epsilon_delta": {"epsilon": as_number("epsilon", _get(args, "epsilon"))},
    }.get(args.mechanism, {})
    each = as_number("delta_each", args.delta_each)
    record = {"mechanism": args.mechanism, "count": as_number("count", args.count), **noise}
    if each is not None:
        record["delta_each"] = each
    return {name: value for name, value in record.items() if value is not None}


def _question(args: argparse.Namespace, method: str) -> dict[str, Any]:
    if args.delta is None:
        raise InputError("delta", "none was given", "give one, for example 0.00001")
    return {
        "events": [event_record(args)],
        "delta": as_number("delta", args.delta),
        "method": method,
        "max_lambda": as_number("max_lambda", args.max_lambda) if method == "ma" else None,
    }


def _get(args: argparse.Namespace, name: str) -> str | None:
    value: str | None = getattr(args, name, None)
    return value


def as_number(field: str, text: str | None) -> float | None:
    """An option as a number, if it was given."""
    if text is None:
        return None
    try:
        return float(text)
    except ValueError:
        raise InputError(field, f"{text!r} is not a number", "give a number") from None


def _read(path: Path) -> list[Any]:
    try:
        questions = json.loads(path.read_text(encoding="utf-8"))
    except OSError:
        raise InputError("file", "it cannot be read", "give the path of a JSON file") from None
    except (UnicodeDecodeError, json.JSONDecodeError):
        raise InputError("file", "it is not JSON", "give a list of questions") from None
    if not isinstance(questions, list):
        raise InputError("file", "it holds no list", "give a list of questions")
    return questions


def _line(name: str, found: dict[str, Any]) -> dict[str, Any]:
    noise = found.get("noise_multiplier")
    return {
        "question": name,
        "epsilon": found.get("epsilon"),
        "noise": noise,
        "kind": found.get("kind"),
        "source or remedy": found.get("error") or found.get("source"),
    }
