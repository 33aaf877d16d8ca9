"""``dpcore ledger FILE``: what a budget was, what has been spent on what, and what is left."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import Any

from dpcore.checks import positive, probability, rows_of_one, whole
from dpcore.cli.output import print_json, print_prose, print_table, rounded_up
from dpcore.cli.pages import demand_no_release
from dpcore.errors import InputError
from dpcore.privacy.guarantee import delta_text, show_bound, show_most

OPTIONS = """
ledger FILE: the ledger, for example budget.sqlite

# a new ledger: its terms never change
--create: make a new ledger [read one]
--epsilon E: total epsilon of all releases that will ever be made [none]
--delta D: total delta of all releases that will ever be made [none]
--adjacency A: replace_one, add_remove, label or feature [replace_one]
--unit TEXT: who is protected [person]
--rows-per-person M: rows of one unit, protected together [1]
--filter F: composition method, gdp (Gaussian DP), zcdp or sums [gdp]

# earlier releases
--write LINE: write the files of this line again [none]
--out DIR: folder for those files [none]

--json: one JSON object [readable tables]
"""


def run(args: argparse.Namespace) -> None:
    """Create, or read and print."""
    from dpcore.releases.ledger import BudgetLedger

    _check_together(args)
    if args.write is not None:
        _write(args)
        return
    if args.create:
        _create(args)
    record = ledger_record(BudgetLedger(args.ledger))
    if args.json:
        print_json(record)
    else:
        _print(record)


def _check_together(args: argparse.Namespace) -> None:
    """Options that need or exclude one another."""
    terms = (args.epsilon, args.delta, args.adjacency, args.unit, args.rows_per_person, args.filter)
    if not args.create and any(term is not None for term in terms):
        raise InputError("ledger", "its terms never change", "leave them out, or add --create")
    if args.create and args.write is not None:
        raise InputError("create and write", "both were given", "give one")
    if (args.out is None) != (args.write is None):
        raise InputError("write and out", "only one was given", "give both, or neither")


def _create(args: argparse.Namespace) -> None:
    from dpcore.releases.filter import USUAL, Amount
    from dpcore.releases.ledger import BudgetLedger

    demand_no_release("ledger", args.ledger)
    limit = Amount(positive("epsilon", args.epsilon), probability("delta", args.delta))
    BudgetLedger.create(
        args.ledger,
        limit,
        adjacency=args.adjacency or "replace_one",
        unit="person" if args.unit is None else args.unit,
        rows_per_person=rows_of_one(args.rows_per_person or 1),
        filter=args.filter or USUAL,
    )


def _write(args: argparse.Namespace) -> None:
    from dpcore.releases.api import rewrite

    demand_no_release("out", args.out)
    rewrite(args.ledger, whole("write", args.write, least=2), args.out)
    if args.json:
        print_json({"written": args.out})
    else:
        print_prose(f"The files were written again, to {args.out}; nothing was spent.")


def ledger_record(ledger: Any) -> dict[str, Any]:
    """The JSON object of a ledger, whose lines and outputs have been checked."""
    from dpcore.releases.whatif import counted_otherwise

    state, outputs = ledger.outputs()
    spent, left = state.spent_amount, state.left_amount
    return {
        "budget": {"epsilon": state.terms.limit.epsilon, "delta": state.terms.limit.delta},
        "spent": {"epsilon": spent.epsilon, "delta": spent.delta},
        "left": {"epsilon": left.epsilon, "delta": left.delta},
        "adjacency": state.terms.who.adjacency,
        "unit": state.terms.who.unit,
        "rows_per_person": state.terms.who.rows,
        "filter": state.terms.filter,
        "entries": [
            {
                "line": line.number,
                "time": line.time,
                **_what(outputs[line.number]),
                "epsilon": line.body["epsilon"],
                "delta": line.body["delta"],
                "cost": line.body["cost"],
                "events": line.body["events"],
                "output": line.body["output"],
            }
            for line in state.releases
        ],
        "open": list(state.open),
        "what_if": [asdict(row) for row in counted_otherwise(state)],
        "intact": True,
        "fingerprint": state.fingerprint,
    }


def _what(output: dict[str, Any]) -> dict[str, str]:
    """Model and data of what left, as far as they were written down: a fit in Python has no file,
    and a release that was broken off neither."""
    content = output.get("dossier") or output.get("fit")
    record = content if isinstance(content, dict) else {}
    return {"model": str(record.get("model", "")), "data": str(record.get("file", ""))}


def told_left(left: dict[str, float]) -> str:
    """What a ledger's rest allows, an epsilon and a delta, in a sentence."""
    from dpcore.releases.ledger import ALL_SPENT

    if left["epsilon"] <= 0.0:
        return f"{ALL_SPENT[0].upper()}{ALL_SPENT[1:]}."
    epsilon, delta = show_most(left["epsilon"]), delta_text(left["delta"], down=True)
    return f"One more release could have at most epsilon = {epsilon} at delta = {delta}."


def _print(record: dict[str, Any]) -> None:
    from dpcore.releases.ledger import covered, told_open

    budget, spent, left = record["budget"], record["spent"], record["left"]
    print_prose(
        f"Budget for all releases together: epsilon = {show_bound(budget['epsilon'])}, delta = "
        f"{delta_text(budget['delta'])}, for "
        f"{covered(record['adjacency'], record['unit'], record['rows_per_person'])}."
    )
    amount = "nothing"
    if record["entries"]:
        epsilon, delta = show_bound(spent["epsilon"]), delta_text(spent["delta"])
        amount = f"epsilon = {epsilon} at delta = {delta}"
    print_prose(f"Spent: {amount}. {told_left(left)}")
    for line in record["open"]:
        print_prose(told_open(line))
    print_prose(
        f"Intact. Fingerprint {record['fingerprint']}. A copy of this file would be a second "
        "budget."
    )
    if record["entries"]:
        print()
        print_table(
            [
                {
                    "line": entry["line"],
                    "time": entry["time"],
                    "model": entry["model"],
                    "data": entry["data"],
                    "epsilon": rounded_up(entry["epsilon"]),
                    "delta": rounded_up(entry["delta"]),
                }
                for entry in record["entries"]
            ]
        )
