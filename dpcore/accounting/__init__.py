"""Composition: pure maths from events to (epsilon, delta), one file per method."""

from dpcore.accounting.base import Accountant, Bound
from dpcore.accounting.catalogue import ACCOUNTANTS, accountant
from dpcore.accounting.compose import calibrate, compose, covers
from dpcore.accounting.gaussian import delta_of, epsilon_of, mu_of
from dpcore.accounting.guess import guess_rate
from dpcore.accounting.proofs import best_proof, replay

__all__ = [
    "ACCOUNTANTS",
    "Accountant",
    "Bound",
    "accountant",
    "best_proof",
    "calibrate",
    "compose",
    "covers",
    "delta_of",
    "epsilon_of",
    "guess_rate",
    "mu_of",
    "replay",
]
