"""``dpcore fit MODEL FILE``: parameters in own units, with their guarantee and ledger."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dpcore.accounting import ACCOUNTANTS
from dpcore.checks import one_of, probability, rows_of_one, whole
from dpcore.cli.data import DATA, optional_number, read_table, rows_per_person
from dpcore.cli.models import TRUSTS, model_options, trusts, usual_method
from dpcore.cli.output import FITTING, print_json, print_prose, print_table, said_if_slow
from dpcore.declaration import declaration
from dpcore.errors import InputError
from dpcore.privacy import Privacy
from dpcore.privacy.adjacency import ADJACENCIES
from dpcore.privacy.budget import MODES
from dpcore.privacy.guarantee import delta_text, show_bound
from dpcore.registry import MODELS

if TYPE_CHECKING:
    from dpcore.fitting.result import Fit
    from dpcore.schema import NumericColumn
    from dpcore.wall.data.corpus import PrivateCorpus
    from dpcore.wall.table import PrivateTable

PROTECTION = f"""
# protection
--delta D: total delta, in (0, 1); required with an epsilon [none]
--adjacency A=replace_one: replace_one, add_remove, label or feature [replace_one]
--trust T={TRUSTS[0]}: trust model: central; for mean and gradient EM also local, for mean also
    local_onebit [central]
"""
OPTIONS = f"""
model MODEL: {", ".join(MODELS)}
{DATA}
# privacy: exactly one of the first three
--epsilon E: budget, above 0 [none]
--noise-multiplier M: noise multiplier of each repeated release [none]
--privacy none: 'none' adds no noise at all [unset]
--accountant A: composition method: {", ".join(ACCOUNTANTS)} [exact; where it does not
    apply, pld or linear]
--mode M=proved: proved or paper [proved]
--seed S: makes the fit repeatable, as a rehearsal [system entropy]
{PROTECTION}
--test-fraction F: share of the rows held out for metrics [none]
--test-seed S: seed of the coin flips, one per row number, that decide which rows are held out,
    independently of the noise [shuffle with --seed]
--json: one JSON object [a readable table]
"""
UNBOOKED = (
    "No budget ledger records this fit, and its proof assumes exact arithmetic. To publish a "
    "fit, use dpcore release."
)


def run(args: argparse.Namespace) -> None:
    """Fit and print."""
    record = fit_record(args)
    if args.json:
        print_json(record)
    else:
        _print(record)


def fit_record(args: argparse.Namespace) -> dict[str, Any]:
    """The JSON object of one fit. Raises InputError for options that do not go together."""
    import dpcore
    from dpcore.fitting.api import fit

    check_words(args)
    seed = None if args.seed is None else whole("seed", args.seed, least=0)
    options = model_options(args)
    privacy = request(args, options)
    held_out_share = args.test_fraction
    if held_out_share is not None:
        held_out_share = probability("test_fraction", held_out_share, example="0.1")
    test_seed = None if args.test_seed is None else whole("test_seed", args.test_seed, least=0)
    if test_seed is not None and held_out_share is None:
        raise InputError("test_seed", "no rows are held out", "give --test-fraction as well")
    table = read_table(args)
    if privacy is None:
        options.update(clip=None, mode=args.mode)
    else:
        privacy = replace(privacy, rows_per_person=rows_per_person(args, table))
    rows, held_out = table, None
    if held_out_share is not None:
        rows, held_out = _split(table, held_out_share, privacy, seed, test_seed)
    with said_if_slow(FITTING):
        result = fit(args.model, rows, privacy=privacy, seed=seed, **options)
    metrics: dict[str, Any] = {}
    if held_out is not None:
        metrics = _metrics(result, held_out, shown=privacy is None or seed is not None)
    return {
        "model": args.model,
        "parameters": result.parameters.as_dict(),
        "units": [column.unit for column in _columns(table)],
        "bounds": [[column.lower, column.upper] for column in _columns(table)],
        "guarantee": _guarantee(result, table),
        "ledger": result.ledger.as_list(),
        "told_apart": result.told_apart,
        "metrics": metrics,
        "seed": seed,
        "version": dpcore.__version__,
    }


def _split(
    table: Any, share: float, privacy: Privacy | None, seed: int | None, test_seed: int | None
) -> tuple[Any, Any]:
    """The rows to fit, and a share of all that is held out. Raises InputError where another row
    would move the choice, and nothing says that this is a rehearsal."""
    has_ids = table.schema is not None and table.schema.person is not None  # more rows, more places
    moving = privacy is not None and (privacy.adjacency == "add_remove" or has_ids)
    if moving and seed is None:
        raise InputError(
            "test_fraction",
            "the choice of held-out rows would change with every row added or removed",
            "fit all rows, or give a seed for a rehearsal",
        )
    if test_seed is not None:  # coins that go by numbers, as where rows may be added or removed
        parts: tuple[Any, Any] = table.split(share, test_seed, "add_remove")
    else:
        adjacency = "replace_one" if privacy is None else privacy.adjacency
        parts = table.split(share, seed or 0, adjacency)
    return parts


def check_words(args: argparse.Namespace) -> None:
    """Every word that a choice may be, before anything is read."""
    one_of("model", args.model, MODELS)
    one_of("trust", args.trust, trusts(args.model))
    one_of("adjacency", args.adjacency, ADJACENCIES)
    if hasattr(args, "accountant"):
        one_of("mode", args.mode, MODES)
        if args.accountant is not None:
            one_of("accountant", args.accountant, ACCOUNTANTS)
    if args.rows_per_person is not None:
        rows_of_one(args.rows_per_person)


def request(args: argparse.Namespace, options: dict[str, Any]) -> Privacy | None:
    """The privacy asked for; exactly one of epsilon, noise multiplier and 'none'. Raises InputError
    for more than one.

    options: the model's, which decide how a fit is counted unless one says so.
    """
    if args.privacy is not None:
        one_of("privacy", args.privacy, ("none",))
        if args.epsilon is not None or args.noise_multiplier is not None:
            raise InputError(
                "privacy", "'none' was given together with a budget", "give only one of the two"
            )
        return None
    return Privacy(
        epsilon=optional_number("epsilon", args.epsilon),
        delta=optional_number("delta", args.delta),
        noise_multiplier=optional_number("noise_multiplier", args.noise_multiplier),
        adjacency=args.adjacency,
        accountant=args.accountant or usual_method(args.model, args.mode, options),
        mode=args.mode,
    )


def _columns(table: PrivateTable | PrivateCorpus) -> tuple[NumericColumn, ...]:
    """What is public of each of the parameters' columns; words have no limits."""
    schema: Any = table.schema
    return schema.numeric_columns() if hasattr(schema, "numeric_columns") else ()


def _guarantee(result: Fit, table: PrivateTable | PrivateCorpus) -> dict[str, Any]:
    """The guarantee; bounds read off the data make any fit a rehearsal."""
    inferred = table.schema is not None and table.schema.rehearsal
    guarantee = result.guarantee
    return replace(guarantee, rehearsal=guarantee.rehearsal or inferred).as_dict()


def _metrics(result: Fit, held_out: PrivateTable | PrivateCorpus, *, shown: bool) -> dict[str, Any]:
    """Held-out metrics, or why there are none: a metric on private rows is itself a release."""
    from dpcore.evaluation.metrics import metrics

    if not shown:
        return {
            "withheld": "a metric on private rows is a separate release; give a seed to rehearse"
        }
    scores = metrics(result, held_out)
    if not scores:
        return {"withheld": "the held-out share is less than one row; give a larger share"}
    return {
        **scores,
        "note": "computed from private rows: for the custodian only, not part of a release",
    }


def _print(record: dict[str, Any]) -> None:
    guarantee = record["guarantee"]
    print_prose(guarantee["sentence"])
    claim = guarantee["claim"]
    if claim is not None:
        _print_claim(claim, guarantee["epsilon"], guarantee["delta"])
    for note in guarantee["notes"]:
        print_prose(f"Note: {note}.")
    if guarantee["epsilon"] is not None and not guarantee["rehearsal"]:
        print_prose(UNBOOKED)
    model = declaration(record["model"])
    heading, lines = model.load(model.table)(record)
    print()
    print_prose(heading)
    print()
    print_table(lines)
    if record["told_apart"]:
        print()
        print_prose(record["told_apart"])
    if record["metrics"]:
        print()
        for name, value in record["metrics"].items():
            print_prose(f"{name}: {value:.4f}" if isinstance(value, float) else f"{name}: {value}")


def _print_claim(claim: dict[str, Any], proved: float | None, delta: float) -> None:
    """What the paper says, what is proved, and why they differ; deltas only where they differ."""
    pure = claim["delta"] == 0.0
    printed = f"epsilon = {claim['epsilon']:g}" + (" with delta = 0" if pure else "")
    says = "which holds here"
    if not claim["holds"]:
        what = "nothing"
        if proved is not None:
            what = f"epsilon = {show_bound(proved)}"
            what += f" with delta = {delta_text(delta)}" if pure else ""
        says = f"but {what} is proved here"
    print_prose(f"The paper says {printed}, {says} ({claim['source']}).")
    if not claim["holds"]:
        for reason in claim["reasons"]:
            print_prose(f"Why: {reason}.")
