"""The registry: every model, yardstick, portrait and audit by name, and what implements it.

Each is one line here and one file; it then inherits the contract tests of its kind.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

MODELS = {
    "gmm": "dpcore.models.gaussian_mixture.private:RECIPE",
    "kmeans": "dpcore.models.kmeans.mathematics.private:RECIPE",
    "fa": "dpcore.models.factor_analysis.private:RECIPE",
    "gmm-release": "dpcore.models.labelled_mixture.private:RECIPE",
    "symmetric-mixture": "dpcore.models.gradient_em.private:SYMMETRIC_MIXTURE",
    "mixture-regression": "dpcore.models.gradient_em.private:MIXTURE_REGRESSION",
    "missing-regression": "dpcore.models.gradient_em.private:MISSING_REGRESSION",
    "mean": "dpcore.models.mean.private:RECIPE",
    "lda": "dpcore.models.topics.private:RECIPE",
    "logistic": "dpcore.models.logistic_regression.private:RECIPE",
    "sbn": "dpcore.models.sigmoid_belief.private:RECIPE",
}
YARDSTICKS = {
    "gmm": "dpcore.models.gaussian_mixture.scoring:YARDSTICK",
    "kmeans": "dpcore.models.kmeans.mathematics.scoring:YARDSTICK",
    "fa": "dpcore.models.factor_analysis.scoring:YARDSTICK",
    "symmetric-mixture": "dpcore.models.gradient_em.scoring:SYMMETRIC_MIXTURE",
    "mixture-regression": "dpcore.models.gradient_em.scoring:MIXTURE_REGRESSION",
    "missing-regression": "dpcore.models.gradient_em.scoring:MISSING_REGRESSION",
    "mean": "dpcore.models.mean.scoring:YARDSTICK",
    "lda": "dpcore.models.topics.scoring:YARDSTICK",
    "gmm-release": "dpcore.models.labelled_mixture.scoring:YARDSTICK",
    "logistic": "dpcore.models.logistic_regression.scoring:YARDSTICK",
    "sbn": "dpcore.models.sigmoid_belief.scoring:YARDSTICK",
}
PORTRAITS = {
    "gmm": "dpcore.models.gaussian_mixture.picture:PORTRAIT",
    "kmeans": "dpcore.models.kmeans.mathematics.picture:PORTRAIT",
    "fa": "dpcore.models.factor_analysis.picture:PORTRAIT",
    "symmetric-mixture": "dpcore.models.gradient_em.picture:CLOUD_PORTRAIT",
    "mixture-regression": "dpcore.models.gradient_em.picture:LINES_PORTRAIT",
    "missing-regression": "dpcore.models.gradient_em.picture:LINE_PORTRAIT",
    "mean": "dpcore.models.mean.picture:PORTRAIT",
    "gmm-release": "dpcore.models.gaussian_mixture.picture:PORTRAIT",
    "lda": "dpcore.models.topics.picture:PORTRAIT",
    "logistic": "dpcore.models.logistic_regression.picture:PORTRAIT",
    "sbn": "dpcore.models.sigmoid_belief.picture:PORTRAIT",
}
AUDITS = {
    "gaussian": "dpcore.auditing.mechanisms:GAUSSIAN",
    "laplace": "dpcore.auditing.mechanisms:LAPLACE",
    "discrete-gaussian": "dpcore.auditing.mechanisms:DISCRETE_GAUSSIAN",
    "gmm": "dpcore.models.gaussian_mixture.attack:GMM",
    "kmeans": "dpcore.models.kmeans.attack:KMEANS",
    "fa": "dpcore.models.factor_analysis.attack:FA",
    "gmm-release": "dpcore.auditing.release:GMM_RELEASE",
    "symmetric-mixture": "dpcore.models.gradient_em.attack:SYMMETRIC_MIXTURE",
    "mixture-regression": "dpcore.models.gradient_em.attack:MIXTURE_REGRESSION",
    "missing-regression": "dpcore.models.gradient_em.attack:MISSING_REGRESSION",
    "mean": "dpcore.models.mean.attack:MEAN",
    "mean-local": "dpcore.models.mean.attack:MEAN_LOCAL",
    "mean-one-bit": "dpcore.models.mean.attack:MEAN_ONE_BIT",
    "lda": "dpcore.models.topics.attack:LDA",
    "logistic": "dpcore.models.logistic_regression.attack:LOGISTIC",
    "logistic-objective": "dpcore.models.logistic_regression.attack:LOGISTIC_OBJECTIVE",
    "sbn": "dpcore.models.sigmoid_belief.attack:SBN",
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
