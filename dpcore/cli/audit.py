"""``dpcore audit [NAME]``: how much an attack really shows, beside what is claimed and proved."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any

from dpcore.accounting import ACCOUNTANTS
from dpcore.auditing.api import AUDITS
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
from dpcore.registry import EXHIBITS

_EXAMPLES = """examples:
  dpcore audit                        what can be audited
  dpcore audit gmm --mode paper       one model as published
  dpcore audit --all                  every mechanism and model, in every mode (minutes)
  dpcore audit exhibits               the published claims that do not cover a case
  dpcore audit centred-scatter        one of them"""
_LISTED = "exhibits"
_OF_ATTACKS = (
    "runs", "epsilon", "delta", "mode", "adjacency", "accountant", "seed", "confidence",
)  # fmt: skip


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EXAMPLES
    parser.add_argument(
        "name", nargs="?", metavar="NAME", help="a mechanism, model or exhibit [list them]"
    )
    parser.add_argument("--all", action="store_true", help="a table of all audits [one audit]")
    parser.add_argument("--runs", metavar="R", help="runs of each of the two tables [its default]")
    parser.add_argument("--epsilon", metavar="E", help="budget that is attacked [its default]")
    parser.add_argument("--delta", metavar="D", help="with epsilon [its default]")
    parser.add_argument("--mode", metavar="M", help="proved or paper [proved; with --all both]")
    parser.add_argument("--adjacency", metavar="A", help=f"{', '.join(ADJACENCIES)} [its default]")
    parser.add_argument("--accountant", metavar="METHOD", help="how noise is found [its default]")
    parser.add_argument("--seed", metavar="S", help="of the attack [0]")
    parser.add_argument("--confidence", metavar="C", help="of the lower bound [0.95]")
    parser.add_argument("--json", action="store_true", help="JSON [a table for people]")


def run(args: argparse.Namespace) -> None:
    """List, or attack and print."""
    _check_words(args)
    if args.all:
        _all(args)
    elif args.name in AUDITS:
        _one(args)
    else:
        {None: _list, _LISTED: _exhibits}.get(args.name, _exhibit)(args)


def _check_words(args: argparse.Namespace) -> None:
    """Every word that a choice may be; a list has no settings, and an exhibit has its own."""
    if args.name is not None:
        one_of("name", args.name, (*AUDITS, _LISTED, *EXHIBITS))
    for name, known in (("mode", MODES), ("adjacency", ADJACENCIES), ("accountant", ACCOUNTANTS)):
        if getattr(args, name) is not None:
            one_of(name, getattr(args, name), known)
    for name in () if args.all or args.name in AUDITS else _OF_ATTACKS:
        if getattr(args, name) is not None:
            raise InputError(name, "it applies to attacks on mechanisms and models", "leave it out")


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
        raise InputError("all", "a single audit or budget was named as well", "leave it out")
    every = [(name, mode) for name in AUDITS for mode in modes(name) if args.mode in (None, mode)]
    found = _with_progress(every, lambda one: _audited(one[0], one[1], args))
    if args.json:
        print_json(found)
        return
    print_table([_row(each) for each in found])
    print_prose(_scope(found[0]["confidence"]))


def _audited(name: str, mode: str, args: argparse.Namespace) -> dict[str, Any]:
    from dataclasses import replace

    from dpcore.auditing.api import audit, budget

    request = budget(name, mode)
    given = {word: value for word in _OF_ATTACKS if (value := getattr(args, word)) is not None}
    attack = {word: given[word] for word in ("runs", "seed", "confidence") if word in given}
    asked: dict[str, Any] = {
        word: given[word] for word in ("adjacency", "accountant") if word in given
    }
    if "epsilon" in given:
        asked["epsilon"] = positive("epsilon", args.epsilon)
    if "delta" in given:
        asked["delta"] = probability("delta", args.delta)
    return audit(name, replace(request, **asked), **attack).as_dict()


def _row(found: dict[str, Any]) -> dict[str, Any]:
    """One line of the table: what is proved is rounded up, what was measured down."""
    return {
        "name": found["name"],
        "mode": found["mode"],
        "adjacency": found["adjacency"],
        "delta": rounded_up(found["delta"]),
        "claim": rounded_up(found["claim"]),
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
    if found["contradicts_claim"]:
        return "claim"
    return "inconclusive" if found["inconclusive"] else "nothing"


def _meaning(found: dict[str, Any]) -> str:
    told = _scope(found["confidence"])
    if found["contradicts_proof"]:
        return f"The attack shows more than is proved: something is broken. {told}"
    if found["contradicts_claim"]:
        return f"The attack shows more than the paper states: the claim fails here. {told}"
    return f"{_too_few(found)} {told}" if found["inconclusive"] else told


def _too_few(found: dict[str, Any]) -> str:
    """Why nothing follows from so few runs, and how many would be enough."""
    runs, most = found["runs"] // 2, rounded_up(found["largest_detectable"], 3)
    half = found["caught_half"] is False
    missed = "they do not detect half the noise" if half else "they cannot show the stated epsilon"
    needed = "This attack cannot succeed with any number of runs"
    if found["runs_needed"] is not None:
        needed = f"About {found['runs_needed']:,} are needed: --runs {found['runs_needed']}"
    return (
        f"Inconclusive with {runs:,} runs of each table: {missed}. Even for a mechanism without "
        f"any privacy they could show at most epsilon = {most}. {needed}."
    )


def _scope(confidence: float) -> str:
    return (
        "Claim and proof: epsilon at that delta, one row changed as the adjacency says. Measured: "
        f"with {100.0 * confidence:g}% confidence the true epsilon is at least this. An attack "
        "can refute a guarantee but never prove one. At half: with half the noise, which a good "
        "attack detects."
    )


def _exhibits(args: argparse.Namespace) -> None:
    from dpcore.auditing.exhibits import exhibits

    found = [shown.as_dict() for shown in _with_progress([*EXHIBITS], exhibits)]
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


def _with_progress(every: Sequence[Any], show: Callable[[Any], Any]) -> list[Any]:
    found = []
    for done, one in enumerate(every):
        print_progress(done / len(every))
        found.append(show(one))
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
