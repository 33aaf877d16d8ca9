"""The portrait of probabilistic PCA: that of factor analysis, of the factors that the exact fit
has."""

from __future__ import annotations

from dataclasses import replace

from dpcore.figures.model_plot import Drawing, Portrait, Subject
from dpcore.models.factor_analysis.picture import RECONSTRUCTIONS, draw
from dpcore.models.probabilistic_pca.mathematics import factors_there

__all__ = ["PORTRAIT", "RECONSTRUCTIONS"]


def draw_factors(subject: Subject) -> Drawing:
    """Exact loadings that are not 0 beside the private ones that are turned to look like them."""
    there = factors_there(subject.exact)
    exact, private = (
        replace(fits, loadings=fits.loadings[..., there])
        for fits in (subject.exact, subject.private)
    )
    return draw(replace(subject, exact=exact, private=private))


PORTRAIT: Portrait = draw_factors
