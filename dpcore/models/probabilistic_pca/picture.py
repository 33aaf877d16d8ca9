"""The portrait of probabilistic PCA: that of factor analysis, of the factors that the exact fit
has."""

from __future__ import annotations

from dataclasses import replace

from dpcore.figures.model_plot import Drawing, Portrait, Subject
from dpcore.models.factor_analysis.picture import RECONSTRUCTIONS, draw, draw_around_the_mean
from dpcore.models.probabilistic_pca.mathematics import factors_there

__all__ = ["AROUND_THE_MEAN", "PORTRAIT", "RECONSTRUCTIONS"]


def _there(subject: Subject) -> Subject:
    """Exact loadings that are not 0 beside the private ones that are turned to look like them."""
    there = factors_there(subject.exact)
    exact, private = (
        replace(fits, loadings=fits.loadings[..., there])
        for fits in (subject.exact, subject.private)
    )
    return replace(subject, exact=exact, private=private)


def draw_factors(subject: Subject) -> Drawing:
    """The loadings of the factors that the exact fit has."""
    return draw(_there(subject))


def draw_factors_around_the_mean(subject: Subject) -> Drawing:
    """The mean and these factors above and below it."""
    return draw_around_the_mean(_there(subject))


PORTRAIT: Portrait = draw_factors
AROUND_THE_MEAN: Portrait = draw_factors_around_the_mean
