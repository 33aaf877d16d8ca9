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
    "gmm-release": "dpcore.fitting.labelled:RECIPE",
    "symmetric-mixture": "dpcore.fitting.gradient:SYMMETRIC_MIXTURE",
    "mixture-regression": "dpcore.fitting.gradient:MIXTURE_REGRESSION",
    "missing-regression": "dpcore.fitting.gradient:MISSING_REGRESSION",
    "mean": "dpcore.fitting.mean:RECIPE",
    "lda": "dpcore.fitting.topics:RECIPE",
    "logistic": "dpcore.fitting.logistic:RECIPE",
    "sbn": "dpcore.fitting.belief:RECIPE",
}
YARDSTICKS = {
    "gmm": "dpcore.evaluation.mixture:YARDSTICK",
    "kmeans": "dpcore.evaluation.kmeans:YARDSTICK",
    "fa": "dpcore.evaluation.factors:YARDSTICK",
    "symmetric-mixture": "dpcore.evaluation.gradient:SYMMETRIC_MIXTURE",
    "mixture-regression": "dpcore.evaluation.gradient:MIXTURE_REGRESSION",
    "missing-regression": "dpcore.evaluation.gradient:MISSING_REGRESSION",
    "mean": "dpcore.evaluation.means:YARDSTICK",
    "lda": "dpcore.evaluation.topics:YARDSTICK",
    "gmm-release": "dpcore.evaluation.labelled:YARDSTICK",
    "logistic": "dpcore.evaluation.logistic:YARDSTICK",
    "sbn": "dpcore.evaluation.belief:YARDSTICK",
}
PORTRAITS = {
    "gmm": "dpcore.figures.mixture:PORTRAIT",
    "kmeans": "dpcore.figures.kmeans:PORTRAIT",
    "fa": "dpcore.figures.factors:PORTRAIT",
    "symmetric-mixture": "dpcore.figures.gradient:CLOUD_PORTRAIT",
    "mixture-regression": "dpcore.figures.gradient:LINES_PORTRAIT",
    "missing-regression": "dpcore.figures.gradient:LINE_PORTRAIT",
    "mean": "dpcore.figures.means:PORTRAIT",
    "gmm-release": "dpcore.figures.mixture:PORTRAIT",
    "lda": "dpcore.figures.topics:PORTRAIT",
    "logistic": "dpcore.figures.logistic:PORTRAIT",
    "sbn": "dpcore.figures.belief:PORTRAIT",
}
AUDITS = {
    "gaussian": "dpcore.auditing.mechanisms:GAUSSIAN",
    "laplace": "dpcore.auditing.mechanisms:LAPLACE",
    "discrete-gaussian": "dpcore.auditing.mechanisms:DISCRETE_GAUSSIAN",
    "gmm": "dpcore.auditing.tables:GMM",
    "kmeans": "dpcore.auditing.tables:KMEANS",
    "fa": "dpcore.auditing.tables:FA",
    "gmm-release": "dpcore.auditing.release:GMM_RELEASE",
    "symmetric-mixture": "dpcore.auditing.tables:SYMMETRIC_MIXTURE",
    "mixture-regression": "dpcore.auditing.tables:MIXTURE_REGRESSION",
    "missing-regression": "dpcore.auditing.tables:MISSING_REGRESSION",
    "mean": "dpcore.auditing.tables:MEAN",
    "mean-local": "dpcore.auditing.tables:MEAN_LOCAL",
    "mean-one-bit": "dpcore.auditing.tables:MEAN_ONE_BIT",
    "lda": "dpcore.auditing.tables:LDA",
    "logistic": "dpcore.auditing.tables:LOGISTIC",
    "logistic-objective": "dpcore.auditing.tables:LOGISTIC_OBJECTIVE",
    "sbn": "dpcore.auditing.tables:SBN",
}
EXHIBITS = {
    "centred-scatter": "dpcore.auditing.exhibits.dpem:centred_scatter",
    "counts-in-scale": "dpcore.auditing.exhibits.dpem:counts_in_scale",
    "counts-unpaid": "dpcore.auditing.exhibits.dpem:counts_unpaid",
    "lloyd-replaced": "dpcore.auditing.exhibits.dpem:lloyd_replaced",
    "classic-gaussian": "dpcore.auditing.exhibits.dpem:classic_gaussian",
    "variance-as-deviation": "dpcore.auditing.exhibits.dpem:variance_as_deviation",
    "own-largest-norm": "dpcore.auditing.exhibits.dpem:own_largest_norm",
    "topics-replaced": "dpcore.auditing.exhibits.vips:topics_replaced",
    "topics-epsilon": "dpcore.auditing.exhibits.vips:topics_epsilon",
    "logistic-constants": "dpcore.auditing.exhibits.vips:logistic_constants",
    "truncation-unbounded": "dpcore.auditing.exhibits.gradient:truncation_unbounded",
    "second-noise": "dpcore.auditing.exhibits.gradient:second_noise",
    "one-sided-noise": "dpcore.auditing.exhibits.labelled:one_sided_noise",
    "noise-that-reads": "dpcore.auditing.exhibits.labelled:noise_that_reads",
    "two-classes": "dpcore.auditing.exhibits.labelled:two_classes",
    "mapping-support": "dpcore.auditing.exhibits.labelled:mapping_support",
    "empty-neighbours": "dpcore.auditing.exhibits.labelled:empty_neighbours",
    "rank-one-noise": "dpcore.auditing.exhibits.labelled:rank_one_noise",
    "radius-not-squared": "dpcore.auditing.exhibits.labelled:radius_not_squared",
}

PAPERS = {
    "dp-em-table-noise": "dpcore.papers.dpem_noise:table_noise",
    "dp-em-figure-1": "dpcore.papers.dpem_rare_person:figure_1",
    "dp-em-figure-2": "dpcore.papers.dpem_mixture:figure_2",
    "dp-em-figure-3": "dpcore.papers.dpem_mixture:figure_3",
    "dp-em-figure-4": "dpcore.papers.dpem_kmeans:figure_4",
    "dp-em-table-kmeans": "dpcore.papers.dpem_kmeans:table_kmeans",
    "dp-em-figure-5": "dpcore.papers.dpem_faces:figure_5",
    "vips-table-epsilon": "dpcore.papers.vips_epsilon:table_epsilon",
    "vips-figure-2": "dpcore.papers.vips_topics:figure_2",
    "vips-figure-3": "dpcore.papers.vips_topics:figure_3",
    "vips-table-3": "dpcore.papers.vips_topics:table_3",
    "gmm-release-figure-1": "dpcore.papers.labelled_synthetic:figure_1",
    "gmm-release-figure-2": "dpcore.papers.labelled_synthetic:figure_2",
    "gmm-release-figure-3": "dpcore.papers.labelled_synthetic:figure_3",
    "gmm-release-figure-4": "dpcore.papers.labelled_synthetic:figure_4",
    "gmm-release-figure-5": "dpcore.papers.labelled_synthetic:figure_5",
    "gmm-release-figure-6": "dpcore.papers.labelled_real:figure_6",
    "gmm-release-figure-7": "dpcore.papers.labelled_real:figure_7",
    "gmm-release-figure-8": "dpcore.papers.labelled_real:figure_8",
    "gmm-release-figure-9": "dpcore.papers.labelled_real:figure_9",
    "gmm-release-figure-10": "dpcore.papers.labelled_real:figure_10",
    "gmm-release-figure-11": "dpcore.papers.labelled_real:figure_11",
    "gmm-release-figure-12": "dpcore.papers.labelled_real:figure_12",
    "gmm-release-figure-13": "dpcore.papers.labelled_synthetic:figure_13",
    "robust-em-figure-1": "dpcore.papers.gradient_simulated:figure_1",
    "robust-em-figure-2": "dpcore.papers.gradient_simulated:figure_2",
    "robust-em-figure-3": "dpcore.papers.gradient_simulated:figure_3",
    "robust-em-figure-4": "dpcore.papers.gradient_simulated:figure_4",
    "robust-em-figure-5": "dpcore.papers.gradient_real:figure_5",
    "robust-em-means": "dpcore.papers.heavy_means:heavy_means",
    "vips-figure-5": "dpcore.papers.vips_logistic:figure_5",
    "vips-figure-6": "dpcore.papers.vips_logistic:figure_6",
    "vips-figure-8": "dpcore.papers.vips_belief:figure_8",
}


def load(target: str) -> Any:
    """The module or ``module:object`` that a registry line names."""
    module, _, name = target.partition(":")
    found = import_module(module)
    return getattr(found, name) if name else found
