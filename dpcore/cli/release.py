"""``dpcore release MODEL FILE``: spend budget once, and write what may leave."""

from __future__ import annotations

import argparse
import sys
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import Any

from dpcore.checks import one_of, positive, probability, whole
from dpcore.cli.data import DATA, read_table, rows_per_person
from dpcore.cli.ledger import told_left
from dpcore.cli.models import model_options
from dpcore.cli.output import FITTING, print_json, print_prose, said_if_slow
from dpcore.cli.pages import demand_no_release
from dpcore.errors import InputError
from dpcore.privacy import Privacy
from dpcore.privacy.adjacency import ADJACENCIES, protects

OPTIONS = f"""
model MODEL: a model of dpcore fit
{DATA}
# what is spent, and where the files go
--ledger L!: the budget ledger [required]
--epsilon E!: epsilon of this release [required]
--delta D!: delta of this release [required]
--out DIR!: a folder, new or empty [required]
--yes: do not ask for confirmation [ask]
--adjacency A: replace_one, add_remove, label or feature [the ledger's]
--accountant A=exact: exact, zcdp_tight or rdp; in a ledger of zCDP, exact means zcdp_tight [exact]
--accept-delta: accept a delta above 1/n [refuse it]
--chosen-on WHAT=unsaid: what you looked at while you chose the settings: 'stand-in' or 'real data'
    [unsaid]
--synthetic-rows N=1000: number of synthetic rows [1000]
--controller TEXT=: who is responsible for the data [not stated]
--purpose TEXT=: what the release is for [not stated]

--json: the dossier [a few lines]
"""


def run(args: argparse.Namespace) -> None:
    """Ask once, release, print. Raises PaidError where a release that is made cannot be printed."""
    from dpcore.registry import MODELS
    from dpcore.releases.api import COUNTED_BY, planned_noise, release, suited
    from dpcore.releases.filter import Amount
    from dpcore.releases.ledger import BudgetLedger
    from dpcore.releases.paid import PaidError

    one_of("model", args.model, MODELS)
    one_of("accountant", args.accountant, COUNTED_BY)
    demand_no_release("out", args.out)
    book = BudgetLedger(args.ledger)
    terms = book.state().terms
    adjacency = one_of("adjacency", args.adjacency or terms.who.adjacency, ADJACENCIES)
    options = model_options(args)
    options["synthetic_rows"] = whole("synthetic_rows", args.synthetic_rows)
    stated = Amount(positive("epsilon", args.epsilon), probability("delta", args.delta))
    request = Privacy(
        epsilon=stated.epsilon,
        delta=stated.delta,
        adjacency=adjacency,
        accountant=args.accountant,
    )
    noise = planned_noise(suited(request, book), stated)
    book.check(noise, stated, replace(terms.who, adjacency=adjacency))  # before a row is read
    table = read_table(args)
    privacy = replace(request, rows_per_person=rows_per_person(args, table))
    if not args.yes:
        _ask(args, terms.who.unit, privacy, limited=bool(table.schema and table.schema.person))
    with said_if_slow(FITTING):
        written = release(
            args.model,
            table,
            privacy=privacy,
            ledger=args.ledger,
            out=args.out,
            accept_delta=args.accept_delta,
            chosen_on=args.chosen_on,
            file=Path(args.file).name,
            controller=args.controller,
            purpose=args.purpose,
            **options,
        )
    try:
        if args.json:
            print_json(written.dossier)
        else:
            _print(written.dossier, args.out)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as problem:  # exit code 2 would say that nothing was spent
        raise PaidError(
            f"The release was made and paid for as line {written.dossier['line']['number']}, and "
            f"its files are in {args.out}, but the result could not be printed "
            f"({problem.strerror})."
        ) from None


def _ask(args: argparse.Namespace, unit: str, privacy: Privacy, *, limited: bool) -> None:
    """Spending cannot be undone, so it is confirmed once; the question is on standard error, since
    the dossier may go into a file."""
    who = protects(privacy.adjacency, unit, privacy.rows_per_person, limited=limited)
    answer = ""
    if sys.stdin.isatty():
        with redirect_stdout(sys.stderr):
            print_prose(
                f"This permanently spends epsilon = {args.epsilon} at delta = {args.delta} from "
                f"{args.ledger}. The guarantee covers {who}."
            )
            print("Spend it? [y/N] ", end="", flush=True)
        answer = sys.stdin.readline()  # nothing where the input ends
    if answer.strip().lower() not in ("y", "yes"):
        raise InputError(
            "yes",
            "the release was not confirmed, and nothing was spent",
            "answer y or pass --yes",
        )


def _written(out: str) -> tuple[str, ...]:
    """The files that are there; a model that does not say what rows look like has no rows."""
    from dpcore.releases.beside import FILES

    return tuple(name for name in FILES if (Path(out) / name).is_file())


def _print(dossier: dict[str, Any], out: str) -> None:
    line, left = dossier["line"], dossier["line"]["left_after"]
    print_prose(dossier["guarantee"]["sentence"])
    if dossier["told_apart"]:
        print_prose(dossier["told_apart"])
    print_prose(
        f"Written to {out}: {', '.join(_written(out))}. The release is line {line['number']} of "
        f"the ledger. {told_left(left)}"
    )
