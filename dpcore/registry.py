"""The registry: every model, exhibit and regenerated figure by name, and what implements it.

Each is one line here, and inherits the contract tests of its kind; a model's names its declaration.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

MODELS = {
    "gmm": "dpcore.models.gaussian_mixture:MODEL",
    "kmeans": "dpcore.models.kmeans:MODEL",
    "fa": "dpcore.models.factor_analysis:FACTOR_ANALYSIS",
    "gmm-release": "dpcore.models.labelled_mixture:MODEL",
    "symmetric-mixture": "dpcore.models.gradient_em:SYMMETRIC_MIXTURE",
    "mixture-regression": "dpcore.models.gradient_em:MIXTURE_REGRESSION",
    "missing-regression": "dpcore.models.gradient_em:MISSING_REGRESSION",
    "mean": "dpcore.models.mean:MODEL",
    "lda": "dpcore.models.topics:MODEL",
    "logistic": "dpcore.models.logistic_regression:MODEL",
    "sbn": "dpcore.models.sigmoid_belief:MODEL",
    "bernoulli": "dpcore.models.exponential_family:BERNOULLI",
    "poisson": "dpcore.models.exponential_family:POISSON",
    "covariance": "dpcore.models.covariance:MODEL",
    "ppca": "dpcore.models.factor_analysis:PROBABILISTIC_PCA",
    "limits": "dpcore.models.limits:MODEL",
}
FIRST = next(iter(MODELS))  # what is meant where no model is named
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
    "logistic-variance": "dpcore.auditing.exhibits.vips:logistic_variance",
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
    "gmm-release-table-1": "dpcore.papers.labelled_real:table_1",
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
    "robust-em-local": "dpcore.papers.gradient_simulated:in_the_local_model",
    "robust-em-means": "dpcore.papers.heavy_means:heavy_means",
    "vips-figure-4": "dpcore.papers.vips_logistic:figure_4",
    "vips-figure-5": "dpcore.papers.vips_logistic:figure_5",
    "vips-figure-5-sparse": "dpcore.papers.vips_sparse:figure_5_sparse",
    "vips-figure-6": "dpcore.papers.vips_logistic:figure_6",
    "vips-figure-8": "dpcore.papers.vips_belief:figure_8",
}


@cache  # pages look the same lines up thousands of times
def load(target: str) -> Any:
    """The module or ``module:object`` that a registry line names."""
    module, _, name = target.partition(":")
    loaded = import_module(module)
    return getattr(loaded, name) if name else loaded
