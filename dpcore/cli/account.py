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
_EVENT = (
    ("mechanism", "NAME", f"one of {', '.join(MECHANISMS)} [gaussian]"),
    ("count", "N", "number of releases, one after another [1]"),
    (
        "sampling",
        "S",
        "sampling of each release: none (all rows), poisson, without_replacement [none]",
    ),
    ("sampling_rate", "Q", "share of the rows that each release uses [all]"),
    ("delta_each", "D", "delta of each release [delta / (2 count); black boxes 0]"),
    ("l2_ratio", "R", "of a Laplace vector: L2 / L1 sensitivity, at most 1 [1]"),
    ("steps", "K", "for discrete Gaussian noise: sensitivity / grid step [1]"),
)
_NOISE = (
    ("noise_multiplier", "M", "Gaussian noise: standard deviation / L2 sensitivity [none]"),
    ("scale", "B", "Laplace noise: scale / L1 sensitivity [none]"),
)
_WAYS = ("wbk9", "wbk27", "ma", "rdp")  # methods that --conversion may be about
_EXAMPLES = """examples:
  dpcore account --noise-multiplier 12 --count 10 --delta 1e-5
  dpcore account --noise-multiplier 4 --count 1000 --sampling poisson --sampling-rate 0.01 \\
                 --adjacency add_remove --delta 1e-5 --method pld,rdp,ma
  dpcore account --noise-multiplier 12 --delta 1e-5 --solve count --epsilon 1
  dpcore fit gmm bundled:iris --epsilon 1 --delta 1e-3 --json > fit.json
  dpcore account --events fit.json --delta 1e-3"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EXAMPLES
    asked = parser.add_argument_group("the question")
    delta_argument(asked, "total delta, in (0, 1); 0 for pure epsilon")
    asked.add_argument(
        "--solve",
        metavar="WHAT",
        help="count: how often all of it fits a budget of --epsilon [compute the cost]",
    )
    asked.add_argument(
        "--epsilon", metavar="E", help="of each epsilon_delta event; with --solve the budget [none]"
    )
    event = event_arguments(parser)
    for name, metavar, text in _NOISE:
        event.add_argument(_option(name), metavar=metavar, help=text)
    files = file_argument(parser)
    files.add_argument(
        "--file",
        metavar="FILE",
        help="a file of complete questions, JSON or TOML [the options are one question]",
    )
    method_arguments(parser)


def delta_argument(group: argparse._ArgumentGroup, text: str) -> None:
    """The total delta and who is protected."""
    group.add_argument("--delta", metavar="D", help=f"{text} [required]")
    group.add_argument(
        "--adjacency",
        metavar="A",
        help=f"which change is protected: {', '.join(ADJACENCIES)} [that of the events, else "
        "replace_one]",
    )


def event_arguments(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Options that describe one mechanism, run ``--count`` times."""
    group = parser.add_argument_group("what was run")
    for name, metavar, text in _EVENT:
        group.add_argument(_option(name), metavar=metavar, help=text)
    return group


def file_argument(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """A file of events in place of the options for one."""
    group = parser.add_argument_group("files instead")
    group.add_argument(
        "--events",
        metavar="FILE",
        help="several events with their counts: a JSON or TOML list, or the output of dpcore fit "
        "--json [the options describe one]",
    )
    return group


def method_arguments(parser: argparse.ArgumentParser) -> None:
    """Options that choose the composition methods, and how answers are printed."""
    group = parser.add_argument_group("composition methods")
    group.add_argument(
        "--method", default="all", metavar="M1,M2,...", help=f"of {', '.join(ACCOUNTANTS)} [all]"
    )
    group.add_argument(
        "--conversion",
        metavar="C",
        help="conversion from moments to (epsilon, delta), for wbk9 and wbk27: classic (as in the "
        "papers) or best [best]",
    )
    group.add_argument(
        "--max-lambda", metavar="L", help="highest order for method ma [64; 255 with poisson]"
    )
    parser.add_argument("--json", action="store_true", help="a JSON list [a table for people]")


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")


def run(args: argparse.Namespace) -> None:
    """Answer and print."""
    if args.file is not None:
        _answer_file(args)
        return
    solving = {} if args.solve is None else {"solve": args.solve, "epsilon": args.epsilon}
    if args.solve is not None:
        one_of("solve", args.solve, ("count",))
    found = by_each_method(methods(args.method), lambda name: question(args, name, **solving))
    if args.json:
        print_json(found)
        return
    print_answers(found, "method", [each["method"] for each in found])
    if solving:
        print_prose("count: how often all of it may be run within the budget.")
    print_scope(args)


def _answer_file(args: argparse.Namespace) -> None:
    """Every question's own answer; a file that is a single question may also fail as one."""
    _check_alone(args)
    questions, single = read_questions(Path(args.file))
    found = answers(questions) if single else [answer(each) for each in questions]
    if args.json:
        print_json(found)
        return
    print_answers(found, "question", [str(i) for i in range(1, len(found) + 1)])
    if any("error" not in each for each in found):
        print_prose("Each epsilon: at its question's delta and adjacency.")


def print_answers(found: Sequence[Answer], heading: str, names: Sequence[str]) -> None:
    """A table: methods that answer before those that refuse; only columns that hold something."""
    lines = list(zip(names, found, strict=True))
    if heading == "method":
        lines.sort(key=lambda line: "error" in line[1])
    columns: dict[str, Cell] = {
        "count": lambda each: each.get("count"),
        "noise": _noise,
        "epsilon": lambda each: rounded_up(each.get("epsilon")),
        "at least": lambda each: rounded_down(each.get("lower")),
    }
    kept = {
        title: cell
        for title, cell in columns.items()
        if title == "epsilon" or any(cell(each) is not None for each in found)
    }
    print_table([_line(heading, name, each, kept) for name, each in lines])
    if heading == "method":
        _print_conditions(lines)


def _print_conditions(lines: Sequence[tuple[str, Answer]]) -> None:
    """What a method assumes for these events beyond what it always does."""
    said: dict[str, list[str]] = {}
    for name, each in lines:
        for assumed in each.get("assumptions", ()):
            if assumed not in accountant(name).assumptions:
                said.setdefault(assumed, []).append(name)
    for assumed, names in said.items():
        print_prose(f"Assumed by {', '.join(names)}: {assumed}.")


def _line(heading: str, name: str, each: Answer, columns: dict[str, Cell]) -> Answer:
    refused = "error" in each
    return {
        heading: name,
        **{title: cell(each) for title, cell in columns.items()},
        "kind": "refused" if refused else each.get("kind"),
        "source, or reason for refusal": each["error"] if refused else each.get("source"),
    }


def _noise(each: Answer) -> Any:
    """The noise that was solved for; of several events, each one's."""
    noises = each.get("noise_multipliers")
    if noises is None or len(noises) == 1:
        return rounded_up(each.get("noise_multiplier"))
    shown = [f"{rounded_up(noise):.4g}" for noise in dict.fromkeys(noises)]
    return ", ".join(shown[:3]) + (", ..." if len(shown) > 3 else "")


def print_scope(args: argparse.Namespace) -> None:
    """What an epsilon above holds for: its delta, and who is protected."""
    who = protects(adjacency_of({"adjacency": args.adjacency}, _events(args)))
    print_prose(f"Each epsilon: at delta = {args.delta} in total, {who}.")


def question(args: argparse.Namespace, method: str, **more: Any) -> dict[str, Any]:
    """The question that the options ask of one method."""
    if args.delta is None:
        raise InputError("delta", "none was given", "give one, for example 0.00001")
    _check_settings(args)
    return {
        "events": _events(args),
        "delta": args.delta,
        "adjacency": args.adjacency,
        "method": method,
        "max_lambda": args.max_lambda if method == "ma" else None,
        "conversion": args.conversion if method in _conversions(args) else None,
        **more,
    }


def _check_settings(args: argparse.Namespace) -> None:
    """A setting needs a method that has it among those named."""
    if args.max_lambda is not None:
        whole("max_lambda", args.max_lambda, most=HIGHEST_LAMBDA)
        if "ma" not in methods(args.method):
            raise InputError("max_lambda", "only method ma has such a cap", "leave it out")
    if args.conversion is None:
        return
    one_of("conversion", args.conversion, CONVERSIONS)
    if not set(_WAYS) & set(methods(args.method)):
        raise InputError(
            "conversion", "no method named has a choice of conversions", "add wbk9 or wbk27"
        )


def _conversions(args: argparse.Namespace) -> tuple[str, ...]:
    """The methods that --conversion is about: of all, those with a choice; else those named."""
    return ("wbk9", "wbk27") if args.method.strip() == "all" else _WAYS


def _events(args: argparse.Namespace) -> list[Any]:
    """The events of the file, or the one that the options describe."""
    if args.events is None:
        return [_event_record(args)]
    _check_absent(args, "events", [name for name, *_ in (*_EVENT, *_NOISE)])
    return read_events(Path(args.events))


def _event_record(args: argparse.Namespace) -> dict[str, Any]:
    """The event that the options describe; ``--epsilon`` belongs to it where nothing is solved."""
    mechanism = one_of("mechanism", args.mechanism or "gaussian", MECHANISMS)
    fields = [name for name, *_ in (*_EVENT, *_NOISE) if name not in ("mechanism", "count")]
    if args.command == "account" and args.solve is None:
        fields.append("epsilon")
    elif mechanism == "epsilon_delta" and args.command == "account":
        raise InputError(
            "solve", "--epsilon is the budget, not a black box's own", "describe it with --events"
        )
    record = {name: getattr(args, name, None) for name in fields}
    return {
        "mechanism": mechanism,
        "count": "1" if args.count is None else args.count,
        **{name: value for name, value in record.items() if value is not None},
    }


def _check_alone(args: argparse.Namespace) -> None:
    """A file of questions says everything itself."""
    names = [name for name, *_ in (*_EVENT, *_NOISE)]
    others = ["delta", "adjacency", "epsilon", "solve", "events", "conversion", "max_lambda"]
    _check_absent(args, "file", [*names, *others])
    if args.method != "all":
        raise InputError("file", "--method was given as well", "set it in the file")


def _check_absent(args: argparse.Namespace, field: str, names: Sequence[str]) -> None:
    for name in names:
        if getattr(args, name, None) is not None:
            raise InputError(field, f"{_option(name)} was given as well", "set it in the file")
