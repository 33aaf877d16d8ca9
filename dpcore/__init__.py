"""Differentially private latent-variable models: private fits beside exact ones, with guarantees.

>>> import dpcore as dp
>>> round(dp.compose([dp.Event(dp.Gaussian(5.0), count=100)], "exact", delta=1e-5).epsilon, 2)
10.0

The public names below are imported when first used, so that ``import dpcore`` costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpcore.lazy import attach

__version__ = "0.1.0"

if TYPE_CHECKING:
    from dpcore.accounting import best_proof, calibrate, compose, covers, replay
    from dpcore.auditing.api import audit
    from dpcore.datasets.documents import load_documents
    from dpcore.datasets.load import load
    from dpcore.errors import DPCoreError, InputError, NotCovered
    from dpcore.evaluation.study import Setting, study
    from dpcore.evaluation.sweep import sweep
    from dpcore.figures.plotly import figure
    from dpcore.fitting.api import fit
    from dpcore.planning.plan import Planner, WantedRelease, plan_releases
    from dpcore.privacy import EpsilonDelta, Event, Gaussian, Guarantee, Laplace, Ledger, Privacy
    from dpcore.releases.api import release
    from dpcore.releases.dossier import verify
    from dpcore.releases.filter import Amount
    from dpcore.releases.ledger import BudgetLedger
    from dpcore.releases.opened import open_release
    from dpcore.releases.paid import paid_fit
    from dpcore.schema import Column, Schema
else:
    __getattr__ = attach(__name__)

__all__ = [
    "Amount",
    "BudgetLedger",
    "Column",
    "DPCoreError",
    "EpsilonDelta",
    "Event",
    "Gaussian",
    "Guarantee",
    "InputError",
    "Laplace",
    "Ledger",
    "NotCovered",
    "Planner",
    "Privacy",
    "Schema",
    "Setting",
    "WantedRelease",
    "audit",
    "best_proof",
    "calibrate",
    "compose",
    "covers",
    "figure",
    "fit",
    "load",
    "load_documents",
    "open_release",
    "paid_fit",
    "plan_releases",
    "release",
    "replay",
    "study",
    "sweep",
    "verify",
]


def __dir__() -> list[str]:
    return sorted(__all__)
