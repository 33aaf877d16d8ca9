"""Composition: pure maths from events to (epsilon, delta), one file per method."""

from typing import TYPE_CHECKING

from dpcore.accounting.compose import calibrate, compose, covers
from dpcore.lazy import attach

if TYPE_CHECKING:
    from dpcore.accounting.base import Accountant, Bound
    from dpcore.accounting.bayes_success import guess_rate
    from dpcore.accounting.catalogue import ACCOUNTANTS, accountant
    from dpcore.accounting.gaussian import delta_of, epsilon_of, mu_of
    from dpcore.accounting.proofs import best_proof, replay
    from dpcore.accounting.questions import (
        PerRelease,
        against_count,
        attacker_success,
        delta_at,
        most_repeats,
        per_release,
        posterior,
        worst_posterior,
    )
else:
    __getattr__ = attach(__name__)

__all__ = [
    "ACCOUNTANTS",
    "Accountant",
    "Bound",
    "PerRelease",
    "accountant",
    "against_count",
    "attacker_success",
    "best_proof",
    "calibrate",
    "compose",
    "covers",
    "delta_at",
    "delta_of",
    "epsilon_of",
    "guess_rate",
    "most_repeats",
    "mu_of",
    "per_release",
    "posterior",
    "replay",
    "worst_posterior",
]
