"""``dpcore audit [NAME]``: how much an attack really shows, beside what is claimed and proved."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any

from dpcore.accounting import ACCOUNTANTS
from dpcore.auditing.api import AUDITS
from dpcore.checks import listed, one_of, positive, probability
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

_LISTED = "exhibits"
_OF_ATTACKS = (
    "runs", "epsilon", "delta", "mode", "adjacency", "accountant", "seed", "confidence",
)  # fmt: skip
OPTIONS = f"""
name [NAME]: a mechanism, model or exhibit [list them]
--all: a table of all audits [one audit]
--runs R: runs on each of the two tables [the audit's default]
--epsilon E: budget under attack [the audit's default]
--delta D: delta of that budget [the audit's default]
--mode M: proved or paper [proved; with --all both]
--adjacency A: {", ".join(ADJACENCIES)} [the audit's default]
--accountant METHOD: composition method that sets the noise [the audit's default]
--seed S: seed of the attack [0]
--confidence C: confidence of the lower bound [0.95]
--json: JSON [a readable table]
---
examples:
  dpcore audit                        what can be audited
  dpcore audit gmm --mode paper       one model as published
  dpcore audit --all                  every mechanism and model, in every mode (minutes)
  dpcore audit exhibits               published claims that fail in some case
  dpcore audit centred-scatter        one of them
"""


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
    for name, allowed in (("mode", MODES), ("adjacency", ADJACENCIES), ("accountant", ACCOUNTANTS)):
        if getattr(args, name) is not None:
            one_of(name, getattr(args, name), allowed)
    for name in () if args.all or args.name in AUDITS else _OF_ATTACKS:
        if getattr(args, name) is not None:
            raise InputError(
                name, "it applies only to attacks on mechanisms and models", "leave it out"
            )


def _list(args: argparse.Namespace) -> None:
    from dpcore.auditing.api import audits

    rows = [{"name": name, "what": about} for name, about in audits().items()]
    if args.json:
        print_json({"audits": [*AUDITS], "exhibits": [*EXHIBITS]})
        return
    print_table(rows)
    print_prose("For published claims that fail in some case, see dpcore audit exhibits.")


def _one(args: argparse.Namespace) -> None:
    record = _audited(args.name, args.mode or "proved", args)
    if args.json:
        print_json(record)
        return
    print_table([_row(record)])
    print_prose(f"The attack: {record['attack']}; {record['runs']:,} runs.")
    print_prose(_meaning(record))


def _all(args: argparse.Namespace) -> None:
    from dpcore.auditing.api import modes

    if args.name is not None or args.epsilon is not None:
        raise InputError("all", "a single audit or budget was named as well", "leave it out")
    every = [(name, mode) for name in AUDITS for mode in modes(name) if args.mode in (None, mode)]
    refused = dict[str, InputError]()

    def record(case: tuple[str, str]) -> dict[str, Any] | None:
        try:
            return _audited(*case, args)
        except InputError as refusal:
            if args.adjacency is None and args.accountant is None:
                raise
            refused[" ".join(case)] = refusal  # what one refuses, another may take
            return None

    records = [row for row in _with_progress(every, record) if row is not None]
    if not records:
        raise next(iter(refused.values()))
    if args.json:
        print_json(records)
        return
    print_table([_row(row) for row in records])
    print_prose(_scope(records[0]["confidence"]))
    if refused:
        print_prose(f"Left out, because these settings do not suit them: {listed([*refused])}.")


def _audited(name: str, mode: str, args: argparse.Namespace) -> dict[str, Any]:
    from dataclasses import replace

    from dpcore.auditing.api import audit, budget

    request = budget(name, mode)
    settings = {word: value for word in _OF_ATTACKS if (value := getattr(args, word)) is not None}
    attack = {word: settings[word] for word in ("runs", "seed", "confidence") if word in settings}
    changes: dict[str, Any] = {
        word: settings[word] for word in ("adjacency", "accountant") if word in settings
    }
    if "epsilon" in settings:
        changes["epsilon"] = positive("epsilon", args.epsilon)
    if "delta" in settings:
        changes["delta"] = probability("delta", args.delta)
    return audit(name, replace(request, **changes), **attack).as_dict()


def _row(record: dict[str, Any]) -> dict[str, Any]:
    """One line of the table: what is proved is rounded up, what was measured down."""
    return {
        "name": record["name"],
        "mode": record["mode"],
        "adjacency": record["adjacency"],
        "delta": rounded_up(record["delta"]),
        "claim": rounded_up(record["claim"]),
        "proof": rounded_up(record["proof"]),
        "measured": rounded_down(record["lower"], 3),
        "at half": rounded_down(record["half_lower"], 3),
        "caught": {None: "-", True: "yes", False: "NO"}[record["caught_half"]],
        "breaks": _broken(record),
    }


def _broken(record: dict[str, Any]) -> str:
    """What the attack shows to be too small, if anything."""
    if record["contradicts_proof"]:
        return "PROOF"
    if record["contradicts_claim"]:
        return "claim"
    return "inconclusive" if record["inconclusive"] else "nothing"


def _meaning(record: dict[str, Any]) -> str:
    scope = _scope(record["confidence"])
    if record["contradicts_proof"]:
        return f"The attack shows more than is proved: the proof or the code is wrong. {scope}"
    if record["contradicts_claim"]:
        return f"The attack shows more than the paper states: the claim fails here. {scope}"
    return f"{_too_few(record)} {scope}" if record["inconclusive"] else scope


def _too_few(record: dict[str, Any]) -> str:
    """Why nothing follows from so few runs, and how many would be enough."""
    runs, most = record["runs"] // 2, rounded_up(record["largest_detectable"], 3)
    half = record["caught_half"] is False
    missed = "do not reveal that the noise was halved" if half else "cannot show the stated epsilon"
    needed = "Judging by these runs, even millions would not be enough"
    if record["runs_needed"] is not None:
        needed = (
            f"Judging by these runs, about {record['runs_needed']:,} would be enough: "
            f"--runs {record['runs_needed']}"
        )
    return (
        f"Inconclusive: {runs:,} runs on each table {missed}. Even for a mechanism without any "
        f"privacy, that many runs could show at most epsilon = {most}. {needed}."
    )


def _scope(confidence: float) -> str:
    return (
        "Claim and proof: epsilon at the delta shown, for one row changed as the adjacency states. "
        f"Measured: with {100.0 * confidence:g}% confidence, the true epsilon is at least this "
        "value. An attack can refute a guarantee but never prove one. At half: measured with half "
        "the noise. Caught: whether this exceeds the proof or, without one, the claim. Breaks: "
        "what the attack refutes; inconclusive: it would not reveal far too little noise either."
    )


def _exhibits(args: argparse.Namespace) -> None:
    from dpcore.auditing.exhibits import exhibits

    records = [counterexample.as_dict() for counterexample in _with_progress([*EXHIBITS], exhibits)]
    if args.json:
        print_json(records)
        return
    print_table(
        [
            {
                "name": record["name"],
                "epsilon": record["epsilon"],
                "claimed delta": record["delta"],
                "shown": rounded_down(record["found"]),
                "corrected": rounded_up(record["corrected"]),
                "sentence": record["sentence"],
            }
            for record in records
        ]
    )


def _with_progress(every: Sequence[Any], show: Callable[[Any], Any]) -> list[Any]:
    results = []
    for done, case in enumerate(every):
        print_progress(done / len(every))
        results.append(show(case))
    print_progress(1.0)
    return results


def _exhibit(args: argparse.Namespace) -> None:
    from dpcore.auditing.exhibits import exhibits

    counterexample = exhibits(args.name)
    if args.json:
        print_json(counterexample.as_dict())
        return
    for line in counterexample.sentences():
        print_prose(line)
