"""What stands beside a fit: the paper's claim, our proof from the ledger, and what both assume."""

from __future__ import annotations

from dataclasses import replace

from dpcore.accounting import best_proof, compose
from dpcore.fitting.plan import NoisePlan
from dpcore.privacy import Claim, Guarantee, Ledger, Privacy, Proof
from dpcore.privacy.guarantee import NOISELESS, show
from dpcore.schema import Schema

_SECTION = {
    "linear": "linear composition",
    "advanced": "advanced composition",
    "zcdp": "zero-concentrated differential privacy",
    "ma": "the moments accountant",
}


def guarantee_of(
    ledger: Ledger,
    plan: NoisePlan,
    budget: int,
    schema: Schema,
    seed: int | None,
    rows: int | None,
    runs: int = 1,
) -> Guarantee:
    """The guarantee of one run, computed from its ledger; ``rows`` only where public.

    runs: how many were fitted together. More than one is a rehearsal, because the guarantee covers
    one of them alone: budgets of a grid share noise, and draws add up.
    """
    if plan.requests is None:
        return Guarantee(None, None, "replace_one", schema.unit, 1, None, None, (NOISELESS,), True)
    request = plan.requests[budget]
    proof = _proof(ledger, request, schema)
    return Guarantee(
        epsilon=None if proof is None else proof.epsilon,
        delta=request.delta,
        adjacency=request.adjacency,
        unit=schema.unit,
        rows_per_person=request.rows_per_person,
        claim=_claim(request, plan, proof),
        proof=proof,
        assumptions=_assumptions(request, schema),
        rehearsal=seed is not None or runs > 1 or schema.rehearsal,
        notes=_notes(request, schema, rows),
    )


def _proof(ledger: Ledger, request: Privacy, schema: Schema) -> Proof | None:
    """Proved mode: by the accountant asked for. Paper mode: by the tightest that applies."""
    if request.delta is None or schema.rehearsal or not ledger.proved:
        return None
    if request.mode == "paper":
        return replace(best_proof(ledger.events, request.delta), ledger=ledger.fingerprint())
    bound = compose(ledger.events, request.accountant, delta=request.delta)
    return Proof(
        float(bound.epsilon),
        request.delta,
        request.accountant,
        bound.kind,
        bound.source,
        ledger.fingerprint(),
    )


def _claim(request: Privacy, plan: NoisePlan, proof: Proof | None) -> Claim | None:
    if request.mode != "paper" or request.epsilon is None or request.delta is None:
        return None
    if request.accountant not in _SECTION:  # exact counting: no paper claims anything by it
        return None
    holds = proof is not None and proof.epsilon <= request.epsilon
    reasons = [
        "as printed, Eqs. 12 and 16 divide by exact counts, which the stated noise does not cover; "
        "here every division is by released counts",
        "the paper scales by the data's own largest norm, which is not private; here the norm "
        "bound is public",
        "all counts, sums and squares of an iteration are one vector with one sensitivity, so the "
        "paper charges for more than it spends",
    ]
    if proof is None:
        reasons = ["the bounds were read from the data, so nothing is proved"]
    source = f"Park, Foulds, Chaudhuri, Welling 2017, section 5: {_SECTION[request.accountant]}"
    return Claim(request.epsilon, request.delta, source, holds, tuple(reasons))


def _assumptions(request: Privacy, schema: Schema) -> tuple[str, ...]:
    lines = [
        "bounds, column types, iterations and start were chosen without looking at the data",
        "a missing cell counts as its column's public fill, the middle of the limits unless stated",
        "noise is drawn in floating point, treated as real arithmetic",
    ]
    if request.adjacency == "replace_one":
        lines.append("the number of rows is public")
    if request.rows_per_person == 1:
        lines.append(f"each {schema.unit} has one row")
    else:
        lines.append(f"each {schema.unit} has at most {request.rows_per_person} rows")
    return tuple(lines)


def _notes(request: Privacy, schema: Schema, rows: int | None) -> tuple[str, ...]:
    notes = []
    if schema.rehearsal:
        notes.append("bounds were read from the data: a rehearsal, nothing is proved")
    if request.delta is not None and rows is not None and request.delta * rows > 1.0:
        notes.append(
            f"delta = {show(request.delta)} is above 1/n: it would allow one {schema.unit}'s "
            "row to be published"
        )
    return tuple(notes)
