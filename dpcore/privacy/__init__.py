"""The vocabulary of privacy as frozen values: who is protected, what was done, what is promised."""

from dpcore.privacy.adjacency import ADJACENCIES, protects
from dpcore.privacy.budget import Privacy
from dpcore.privacy.events import DiscreteGaussian, EpsilonDelta, Event, Gaussian, Laplace
from dpcore.privacy.guarantee import Claim, Evidence, Guarantee, Proof
from dpcore.privacy.ledger import Ledger, LedgerEntry

__all__ = [
    "ADJACENCIES",
    "Claim",
    "DiscreteGaussian",
    "EpsilonDelta",
    "Event",
    "Evidence",
    "Gaussian",
    "Guarantee",
    "Laplace",
    "Ledger",
    "LedgerEntry",
    "Privacy",
    "Proof",
    "protects",
]
