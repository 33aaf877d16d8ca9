"""Audit: run a private method many times on two neighbouring tables and try to tell them apart.

What an attacker achieves is a lower bound on epsilon: it can refute a claim, never prove one.
"""

from __future__ import annotations

from typing import Any

from dpcore.checks import one_of
from dpcore.privacy import Evidence, Privacy
from dpcore.registry import AUDITS, load


def audit(
    name: str, privacy: Privacy, *, runs: int = 2000, seed: int = 0, **options: Any
) -> Evidence:
    """The lower bound that an attack on model ``name`` shows, with its confidence.

    runs: fits of each of the two tables. options: the model's own.
    Raises InputError for a model without an attack, and for a budget without a delta.

    >>> from dpcore.privacy import Privacy
    >>> audit("gmm", Privacy(epsilon=1.0, delta=1e-5), runs=400, iterations=2).lower < 1.0
    True
    """
    attack = load(AUDITS[one_of("model", name, tuple(AUDITS))])
    evidence: Evidence = attack(privacy, runs=runs, seed=seed, **options)
    return evidence
