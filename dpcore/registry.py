"""The registry: every model, yardstick and audit, by the name scripts use, and what implements it.

Each is one line here and one file; it then inherits the contract tests of its kind.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

MODELS = {
    "gmm": "dpcore.fitting.mixture:RECIPE",
}
YARDSTICKS = {
    "gmm": "dpcore.evaluation.mixture:YARDSTICK",
}
AUDITS = {
    "gmm": "dpcore.auditing.mixture:audit_mixture",
}


def load(target: str) -> Any:
    """The module or ``module:object`` that a registry line names."""
    module, _, name = target.partition(":")
    found = import_module(module)
    return getattr(found, name) if name else found
