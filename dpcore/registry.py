"""The registry: every model, yardstick, portrait and audit by name, and what implements it.

Each is one line here and one file; it then inherits the contract tests of its kind.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

MODELS = {
    "gmm": "dpcore.fitting.mixture:RECIPE",
    "kmeans": "dpcore.fitting.kmeans:RECIPE",
    "fa": "dpcore.fitting.factors:RECIPE",
}
YARDSTICKS = {
    "gmm": "dpcore.evaluation.mixture:YARDSTICK",
    "kmeans": "dpcore.evaluation.kmeans:YARDSTICK",
    "fa": "dpcore.evaluation.factors:YARDSTICK",
}
PORTRAITS = {
    "gmm": "dpcore.figures.mixture:PORTRAIT",
    "kmeans": "dpcore.figures.kmeans:PORTRAIT",
    "fa": "dpcore.figures.factors:PORTRAIT",
}
AUDITS = {
    "gmm": "dpcore.auditing.mixture:audit_mixture",
}

PAPERS = {
    "dp-em-table-noise": "dpcore.papers.dpem_noise:table_noise",
    "dp-em-figure-1": "dpcore.papers.dpem_rare_person:figure_1",
    "dp-em-figure-2": "dpcore.papers.dpem_mixture:figure_2",
    "dp-em-figure-3": "dpcore.papers.dpem_mixture:figure_3",
    "dp-em-figure-4": "dpcore.papers.dpem_kmeans:figure_4",
    "dp-em-table-kmeans": "dpcore.papers.dpem_kmeans:table_kmeans",
    "dp-em-figure-5": "dpcore.papers.dpem_faces:figure_5",
}


def load(target: str) -> Any:
    """The module or ``module:object`` that a registry line names."""
    module, _, name = target.partition(":")
    found = import_module(module)
    return getattr(found, name) if name else found
