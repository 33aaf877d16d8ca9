"""``dpcore sweep MODEL FILE``: held-out utility for every budget, composition method and mode."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from dpcore.checks import one_of, positive, probability, whole
from dpcore.cli.data import DATA, read_table, rows_per_person, word_list
from dpcore.cli.fit import PROTECTION, check_words
from dpcore.cli.models import model_options, settings, usual_method
from dpcore.cli.output import print_json, print_progress, print_prose, print_table
from dpcore.cli.questions import methods
from dpcore.errors import InputError
from dpcore.privacy import Privacy
from dpcore.privacy.adjacency import protects
from dpcore.privacy.budget import MODES
from dpcore.registry import MODELS

if TYPE_CHECKING:
    from dpcore.wall.table import PrivateTable

Cell = tuple[str, str, float]  # mode, method, epsilon
_NAMES = (
    "epsilon", "method", "mode", "mean", "std", "median", "q10", "q90", "nonprivate", "converged",
    "baseline",
)  # fmt: skip
OPTIONS = f"""
model MODEL: {", ".join(MODELS)}
{DATA}
# what is compared
--epsilons E1,E2,...=0.1,0.5,1,2,4: budgets [0.1,0.5,1,2,4]
--modes M1,M2=proved: proved, paper [proved]
--draws B=1: noise draws for each split [1]
--splits S=10: random splits of the rows [10]
--test-fraction F=0.1: share of the rows held out [0.1]
--seed S=0: seed of splits and noise [0]
--methods M1,M2,...: composition methods, or all [exact; where it does not apply, pld or
    linear]
--metric NAME: score on the held-out rows [the model's default]
{PROTECTION}
--json: a JSON list [a readable table]
"""


def run(args: argparse.Namespace) -> None:
    """Sweep and print. Raises InputError without a delta."""
    from dpcore.evaluation.yardstick import yardstick

    check_words(args)
    metrics = yardstick(args.model).metrics
    if args.delta is None:
        raise InputError("delta", "none was given", "give one, for example 1e-5")
    options = model_options(args)
    modes = [one_of("modes", mode, MODES) for mode in word_list("modes", args.modes)]
    usual = usual_method(args.model, "proved" if "proved" in modes else "paper", options)
    choices = {
        "epsilons": [positive("epsilons", word) for word in word_list("epsilons", args.epsilons)],
        "delta": probability("delta", args.delta),
        "methods": [usual] if args.methods is None else methods(args.methods),
        "modes": modes,
        "draws": whole("draws", args.draws),
        "splits": whole("splits", args.splits),
        "test_fraction": probability("test_fraction", args.test_fraction, example="0.1"),
        "metric": one_of("metric", args.metric or metrics[0], metrics),
        "adjacency": args.adjacency,
        "seed": whole("seed", args.seed, least=0),
    }
    table = read_table(args)
    choices["rows_per_person"] = rows_per_person(args, table)
    records = sweep_records(args.model, table, choices, options, quiet=args.json)
    if args.json:
        print_json(records)
        return
    print_table([{name: row[name] for name in _NAMES} for row in records])
    for sentence in dict.fromkeys(row["error"] for row in records if "error" in row):
        print_prose(f"Left out: {sentence}")
    schema = table.schema
    unit, thing = ("person", "row") if schema is None else (schema.unit, schema.thing)
    limited = schema is not None and schema.person is not None
    rows = choices["rows_per_person"] if limited else 1
    who = protects(args.adjacency, unit, rows, thing, limited=limited)
    print_prose(f"Each epsilon is the total of one fit at delta = {args.delta}, for {who}.")
    print_prose(
        f"{choices['metric']}: computed from private rows, for the custodian only, not part of a "
        "release."
    )


def sweep_records(
    model: str,
    table: PrivateTable,
    choices: dict[str, Any],
    options: dict[str, Any],
    *,
    quiet: bool = True,
) -> list[dict[str, Any]]:
    """The rows of :func:`dpcore.sweep`; a budget that a method cannot meet says why in its row.

    Raises InputError where no method meets any budget.
    """
    from dpcore.evaluation.sweep import cells_of, sweep

    cells = cells_of(choices["modes"], choices["methods"], choices["epsilons"])
    refusals = {cell: _refusal(model, cell, choices, options) for cell in cells}
    first = next(iter(refusals.values()))
    if first is not None and None not in refusals.values():
        raise first
    calls = _calls(refusals)
    rows_by_cell = {}
    for number, call in enumerate(calls):
        rows = sweep(
            model,
            table,
            on_progress=None if quiet else _bar(number, len(calls)),
            **{**choices, **call},
            **options,
        )
        rows_by_cell.update({(row.mode, row.method, row.epsilon): asdict(row) for row in rows})
    return [
        rows_by_cell[cell] if refusal is None else _left_out(cell, refusal)
        for cell, refusal in refusals.items()
    ]


def _refusal(
    model: str, cell: Cell, choices: dict[str, Any], options: dict[str, Any]
) -> InputError | None:
    """Why a method cannot meet a budget, for the fit or for the simplest rival beside it."""
    from dpcore.evaluation.yardstick import yardstick
    from dpcore.fitting.plan import plan_noise
    from dpcore.fitting.recipe import recipe

    mode, method, epsilon = cell
    privacy = Privacy(epsilon, choices["delta"], adjacency=choices["adjacency"], accountant=method)
    how = recipe(model)
    try:
        own = settings(model, mode, options)
        if how.sampled:  # what a step costs depends on how many rows there are
            return None
        plan_noise(how, (replace(privacy, mode=mode),), own)
        if yardstick(model).fits_rival:
            plan_noise(how, (privacy,), how.settings(components=yardstick(model).simplest))
    except InputError as refusal:
        return refusal
    return None


def _calls(refusals: dict[Cell, InputError | None]) -> list[dict[str, Any]]:
    """One sweep where every method meets every budget, otherwise one for each set of budgets."""
    if not any(refusals.values()):
        return [{}]
    met: dict[tuple[str, str], list[float]] = {}
    for (mode, method, epsilon), refusal in refusals.items():
        if refusal is None:
            met.setdefault((mode, method), []).append(epsilon)
    together: dict[tuple[str, tuple[float, ...]], list[str]] = {}
    for (mode, method), epsilons in met.items():
        together.setdefault((mode, tuple(epsilons)), []).append(method)
    return [
        {"modes": [mode], "methods": names, "epsilons": epsilons}
        for (mode, epsilons), names in together.items()
    ]


def _left_out(cell: Cell, refusal: InputError) -> dict[str, Any]:
    mode, method, epsilon = cell
    named = {"epsilon": epsilon, "method": method, "mode": mode}
    return {**dict.fromkeys(_NAMES), **named, "error": str(refusal)}


def _bar(number: int, calls: int) -> Callable[[float], None]:
    """The progress of one sweep out of several."""
    return lambda share: print_progress((number + share) / calls)
