"""``dpcore audit [NAME]``: how much an attack really shows, beside what is claimed and proved."""

from __future__ import annotations

import argparse
from typing import Any

from dpcore.checks import one_of, positive, probability
from dpcore.cli.output import (
    print_json,
    print_progress,
    print_prose,
    print_table,
    rounded_down,
    rounded_up,
)
from dpcore.errors import InputError
from dpcore.privacy.adjacency import ADJACENCIES
from dpcore.privacy.budget import MODES
from dpcore.registry import AUDITS, EXHIBITS

_EXAMPLES = """examples:
  dpcore audit                        what can be audited
  dpcore audit gmm --mode paper       one model as published
  dpcore audit --all                  every mechanism and model, in every mode (minutes)
  dpcore audit exhibits               the published claims that do not cover a case
  dpcore audit centred-scatter        one of them"""
_LISTED = "exhibits"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EXAMPLES
    parser.add_argument(
        "name", nargs="?", metavar="NAME", help="a mechanism, model or exhibit [list what there is]"
    )
    parser.add_argument("--all", action="store_true", help="a table of all audits [one audit]")
    parser.add_argument("--runs", metavar="R", help="runs of each of the two tables [its own]")
    parser.add_argument("--epsilon", metavar="E", help="budget that is attacked [its own]")
    parser.add_argument("--delta", metavar="D", help="with epsilon [0.00001]")
    for name, words, usual in (
        ("mode", MODES, "proved"),
        ("adjacency", ADJACENCIES, "its own"),
    ):
        parser.add_argument(f"--{name}", metavar="|".join(words), help=f"[{usual}]")
    parser.add_argument("--accountant", metavar="METHOD", help="with epsilon [its own]")
    parser.add_argument("--seed", metavar="S", default="0", help="of the attack [0]")
    parser.add_argument("--confidence", metavar="C", default="0.95", help="[0.95]")
    parser.add_argument("--json", action="store_true", help="JSON [a table for people]")


def run(args: argparse.Namespace) -> None:
    """List, or attack and print."""
    if args.all:
        _all(args)
    elif args.name is None:
        _list(args)
    elif args.name == _LISTED:
        _exhibits(args)
    elif one_of("name", args.name, (*AUDITS, *EXHIBITS)) in EXHIBITS:
        _exhibit(args)
    else:
        _one(args)


def _list(args: argparse.Namespace) -> None:
    from dpcore.auditing.api import audits

    rows = [{"name": name, "what": about} for name, about in audits().items()]
    if args.json:
        print_json({"audits": [*AUDITS], "exhibits": [*EXHIBITS]})
        return
    print_table(rows)
    print_prose("Published claims that do not cover a case: dpcore audit exhibits.")


def _one(args: argparse.Namespace) -> None:
    found = _audited(args.name, args.mode or "proved", args)
    if args.json:
        print_json(found)
        return
    print_table([_row(found)])
    print_prose(f"The attack: {found['attack']}; {found['runs']:,} runs.")
    print_prose(_meaning(found))


def _all(args: argparse.Namespace) -> None:
    from dpcore.auditing.api import modes

    if args.name is not None or args.epsilon is not None:
        raise InputError("all", "one audit or one budget was named too", "leave it out")
    every = [(name, mode) for name in AUDITS for mode in modes(name)]
    every = [(name, mode) for name, mode in every if args.mode in (None, mode)]
    found = []
    for done, (name, mode) in enumerate(every):
        print_progress(done / len(every))
        found.append(_audited(name, mode, args))
    print_progress(1.0)
    if args.json:
        print_json(found)
        return
    print_table([_row(each) for each in found])
    print_prose(_scope(found[0]["confidence"]))


def _audited(name: str, mode: str, args: argparse.Namespace) -> dict[str, Any]:
    from dataclasses import replace

    from dpcore.auditing.api import audit, budget

    request = budget(name, mode)
    asked: dict[str, Any] = {}
    if args.epsilon is not None:
        asked["epsilon"] = positive("epsilon", args.epsilon)
    if args.delta is not None:
        asked["delta"] = probability("delta", args.delta)
    if args.adjacency is not None:
        asked["adjacency"] = args.adjacency
    if args.accountant is not None:
        asked["accountant"] = args.accountant
    return audit(
        name,
        replace(request, **asked),
        runs=args.runs,
        seed=args.seed,
        confidence=args.confidence,
    ).as_dict()


def _row(found: dict[str, Any]) -> dict[str, Any]:
    """One line of the table: what is proved is rounded up, what was measured down."""
    return {
        "name": found["name"],
        "mode": found["mode"],
        "adjacency": found["adjacency"],
        "delta": found["delta"],
        "claim": found["claim"],
        "proof": rounded_up(found["proof"]),
        "measured": rounded_down(found["lower"], 3),
        "at half": rounded_down(found["half_lower"], 3),
        "caught": {None: "-", True: "yes", False: "NO"}[found["caught_half"]],
        "breaks": _broken(found),
    }


def _broken(found: dict[str, Any]) -> str:
    """What the attack shows to be too small, if anything."""
    if found["contradicts_proof"]:
        return "PROOF"
    return "claim" if found["contradicts_claim"] else "nothing"


def _meaning(found: dict[str, Any]) -> str:
    told = _scope(found["confidence"])
    if found["contradicts_proof"]:
        return f"The attack shows more than is proved: something is broken. {told}"
    if found["contradicts_claim"]:
        return f"The attack shows more than the paper states: the claim fails here. {told}"
    return told


def _scope(confidence: float) -> str:
    return (
        "Claim and proof: epsilon at that delta, one row changed as the adjacency says. Measured: "
        f"with {100.0 * confidence:g}% confidence the true epsilon is at least this. An attack can "
        "break a promise, never prove one. At half: with half the noise drawn, which a good attack "
        "catches."
    )


def _exhibits(args: argparse.Namespace) -> None:
    from dpcore.auditing.exhibits import exhibits

    found = [shown.as_dict() for shown in _with_progress([*EXHIBITS], lambda name: exhibits(name))]
    if args.json:
        print_json(found)
        return
    print_table(
        [
            {
                "name": each["name"],
                "epsilon": each["epsilon"],
                "claimed delta": each["delta"],
                "shown": each["found"],
                "corrected": rounded_up(each["corrected"]),
                "sentence": each["sentence"],
            }
            for each in found
        ]
    )


def _with_progress(names: list[str], show: Any) -> list[Any]:
    found = []
    for done, name in enumerate(names):
        print_progress(done / len(names))
        found.append(show(name))
    print_progress(1.0)
    return found


def _exhibit(args: argparse.Namespace) -> None:
    from dpcore.auditing.exhibits import exhibits

    shown = exhibits(args.name)
    if args.json:
        print_json(shown.as_dict())
        return
    for line in shown.told():
        print_prose(line)
