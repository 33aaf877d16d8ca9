"""What stands beside a fit: the paper's claim, our proof from the ledger, and what both assume."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dpcore.accounting import compose
from dpcore.errors import WallError
from dpcore.fitting.plan import NoisePlan
from dpcore.fitting.recipe import Printed, recipe
from dpcore.privacy import Claim, Guarantee, Ledger, Privacy, Proof
from dpcore.privacy.guarantee import NOISELESS, delta_text, show, show_bound
from dpcore.schema import Schema

ROUNDING = 1e-7  # relative, of a sum of many equal releases: noise scales are rounded up
MORE = 1.0 + 1e-3  # times the epsilon asked for: no more is the rounding of any accountant
NAMED = "; one of a feature with categories as none of them, or as the first of a no and a yes"
MOVED = "adding or removing a row would change which rows are held out, so nothing is proved"


def guarantee_of(
    ledger: Ledger,
    plan: NoisePlan,
    budget: int,
    settings: Any,
    model: str,
    schema: Schema,
    seed: int | None,
    rows: int | None,
    runs: int = 1,
    *,
    is_part: bool = False,
    limited: bool = False,
) -> Guarantee:
    """The guarantee of one run, computed from its ledger; ``rows``, or persons where an id column
    tells them apart, only where public.

    runs: how many were fitted together. More than one is a rehearsal, because the guarantee covers
    one of them alone: budgets of a grid share noise, and draws add up. is_part: other rows of the
    table were held out, chosen by their places. limited: an id column says whose a row is.
    """
    of_model = recipe(model).notes(settings, schema)
    if plan.requests is None:
        return Guarantee(
            None,
            None,
            "replace_one",
            schema.unit,
            1,
            None,
            None,
            (NOISELESS,),
            rehearsal=True,
            notes=of_model,
            thing=schema.thing,
        )
    request = plan.requests[budget]
    moved = is_part and (limited or request.adjacency == "add_remove")
    proof = None if moved else _proof(ledger, request, schema)
    printed = recipe(model).printed(request, settings) if request.mode == "paper" else None
    guarantee = Guarantee(
        epsilon=None if proof is None else proof.epsilon,
        delta=request.delta,
        adjacency=request.adjacency,
        unit=schema.unit,
        rows_per_person=request.rows_per_person,
        claim=_claim(ledger, request, printed, proof, schema),
        proof=proof,
        assumptions=_assumptions(request, schema, limited),
        rehearsal=seed is not None or runs > 1 or schema.rehearsal,
        notes=(*((MOVED,) if moved else ()), *_notes(request, schema, rows), *of_model),
        thing=schema.thing,
        limited=limited,
    )
    return replace(guarantee, assumptions=recipe(model).assumptions(settings, guarantee, schema))


def _proof(ledger: Ledger, request: Privacy, schema: Schema) -> Proof | None:
    """Proved mode: by the accountant asked for. Paper mode: by the tightest that applies."""
    if request.delta is None or schema.rehearsal or not ledger.proved:
        return None
    if request.mode == "paper":
        from dpcore.accounting import best_proof

        return replace(best_proof(ledger.events, request.delta), ledger=ledger.fingerprint())
    bound = compose(ledger.events, request.accountant, delta=request.delta, lower=False)
    if request.epsilon is not None and not bound.epsilon <= request.epsilon * MORE:
        raise WallError(
            f"the releases of this fit cost epsilon = {show_bound(float(bound.epsilon))}, but the "
            f"model plans {show(request.epsilon)}: its fit and its events do not agree"
        )
    return Proof(
        float(bound.epsilon),
        request.delta,
        request.accountant,
        bound.kind,
        bound.source,
        ledger.fingerprint(),
    )


def _claim(
    ledger: Ledger,
    request: Privacy,
    printed: Printed | None,
    proof: Proof | None,
    schema: Schema,
) -> Claim | None:
    """The paper's epsilon and delta, where it states them, and whether they hold here."""
    if printed is None or request.epsilon is None or request.delta is None:
        return None
    delta = 0.0 if printed.pure else request.delta
    proved = None if proof is None else proof.epsilon
    if printed.pure and proof is not None:
        proved = float(compose(ledger.events, "linear", delta=0.0).epsilon)
    holds = proved is not None and proved <= request.epsilon * (1.0 + ROUNDING)
    reasons = printed.reasons if holds else (*printed.reasons, *printed.unless)
    if schema.rehearsal:
        reasons = (f"{_read_off(schema)} were read from the data, so nothing is proved",)
    return Claim(request.epsilon, delta, printed.source, holds, reasons)


def _assumptions(request: Privacy, schema: Schema, limited: bool) -> tuple[str, ...]:
    lines = [
        "bounds, column types, iterations and the start were chosen without looking at the data, "
        "or from earlier releases that were paid for",
        "a missing cell counts as its column's public fill (by default the middle of the limits)"
        + NAMED * any(c.categories and c.role == "feature" for c in getattr(schema, "columns", ())),
        "noise is drawn in floating point, which the proof treats as exact",
    ]
    if request.adjacency != "add_remove":
        counted = f"different ids in the column {schema.person}" if limited else "rows"
        lines.append(f"the number of {counted} is public")
    if request.adjacency == "label":
        lines.append("every column but the label is public: only labels are protected")
    if request.adjacency == "feature":
        lines.append("labels are public: only the other columns are protected")
    if limited:
        lines.append(f"the column {schema.person} has one id for each {schema.unit}")
        lines.append(
            f"at most {request.rows_per_person} of one {schema.unit}'s rows count, chosen by "
            "looking at these rows alone; a row without an id does not count"
        )
        if schema.equal_weight:
            lines.append(f"each {schema.unit} has the same weight, whatever the number of rows")
    elif request.rows_per_person == 1:
        lines.append(f"each {schema.unit} has one row")
    else:
        lines.append(f"each {schema.unit} has at most {request.rows_per_person} rows")
    return tuple(lines)


def _notes(request: Privacy, schema: Schema, rows: int | None) -> tuple[str, ...]:
    notes = []
    if schema.rehearsal:
        notes.append(f"{_read_off(schema)} were read from the data: a rehearsal proves nothing")
    if request.delta is not None and rows is not None and request.delta * rows > 1.0:
        notes.append(
            f"delta = {delta_text(request.delta)} is above 1/n: such a delta would allow one "
            f"{schema.unit}'s row to be published"
        )
    return tuple(notes)


def _read_off(schema: Schema) -> str:
    """What a rehearsal took from the data."""
    if schema.thing == "document":
        return "the words"
    if schema.label is not None:
        return "the bounds or the classes"
    return "the bounds" if schema.target is None else "the bounds or the outcomes"
