"""Proofs that travel: the best bound for a ledger's events, and its recomputation by a reader."""

from __future__ import annotations

import math

import numpy as np

from dpcore.accounting.base import Bound, Events, event_list
from dpcore.accounting.compose import compose, covers
from dpcore.accounting.pairs import SharesExceedDelta
from dpcore.errors import InputError, NotCovered, ReplayError
from dpcore.privacy import Ledger, Proof

AGREEMENT = 1e-9  # relative; recomputation differs in the last digits at most


def best_proof(events: Events, delta: float) -> Proof:
    """The smallest epsilon that can be proved for the events of one run at ``delta``, within parts
    in 1e4; of very rare samples (one row in a million) a bound that is less close.

    Gaussian events alone are counted exactly, others by their privacy-loss distributions, or by
    Rényi divergences where these know more (Laplace vectors bounded in L2).
    Raises NotCovered where no method has a theorem.

    >>> from dpcore.privacy import Event, Gaussian, Laplace
    >>> best_proof([Event(Laplace(2.0)), Event(Gaussian(9.0))], 1e-5).accountant
    'pld'
    """
    events = event_list(events)
    if covers("exact", events) is None:
        return _proof(compose(events, "exact", delta=delta))
    proofs, refusals = [], []
    for name in ("pld", "rdp", "linear"):
        try:
            proofs.append(_proof(compose(events, name, delta=delta, lower=False)))
        except (NotCovered, SharesExceedDelta) as refusal:
            refusals.append(refusal)
    if not proofs:
        raise refusals[0]
    return min(proofs, key=lambda proof: proof.epsilon)


def _proof(bound: Bound) -> Proof:
    if np.ndim(bound.epsilon) != 0:
        raise InputError("events", "they describe a grid of runs", "give the events of one run")
    return Proof(float(bound.epsilon), bound.delta, bound.accountant, bound.kind, bound.source)


def replay(ledger: Ledger, proof: Proof) -> Bound:
    """Recompute a proof from the ledger's events alone.

    Returns the recomputed bound. Raises ReplayError when it differs from ``proof.epsilon`` by more
    than 1e-9 relative, when the ledger is not the one the proof names, when an entry has no proof
    of its sensitivity, when the entries are under different adjacencies, or when the accountant
    refuses. Raises InputError where there is no ledger, or no proof, as of a fit as published.
    """
    if not isinstance(ledger, Ledger) or not isinstance(proof, Proof):
        raise InputError(
            "proof", "the proof or the ledger is missing", "give both, from a fit in proved mode"
        )
    if proof.ledger is not None and proof.ledger != ledger.fingerprint():
        raise ReplayError("The ledger is not the one that the proof was computed from.")
    if not ledger.proved:
        raise ReplayError("The ledger has an entry without a proof of its sensitivity.")
    if len({entry.adjacency for entry in ledger}) > 1:
        raise ReplayError("The ledger's entries have different adjacencies.")
    try:
        bound = compose(ledger.events, proof.accountant, delta=proof.delta, lower=False)
    except InputError as refusal:
        raise ReplayError(f"The proof's accountant refuses the ledger: {refusal}") from refusal
    if np.ndim(bound.epsilon) != 0:
        raise ReplayError("The ledger describes a grid of runs; replay one run of it.")
    if bound.kind != proof.kind:
        raise ReplayError(
            f"The proof states kind {proof.kind!r}, but the method gives {bound.kind!r}."
        )
    if not _agree(float(bound.epsilon), proof.epsilon):
        raise ReplayError(
            f"The ledger gives epsilon {bound.epsilon:.12g}, "
            f"but the proof states {proof.epsilon:.12g}."
        )
    return bound


def _agree(recomputed: float, stated: float) -> bool:
    if math.isinf(recomputed) or math.isinf(stated):
        return recomputed == stated
    return abs(recomputed - stated) <= AGREEMENT * abs(stated)
