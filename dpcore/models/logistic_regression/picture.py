"""The portrait of a logistic regression: one coefficient a column, private beside exact."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dpcore.figures import dot_plot
from dpcore.figures.model_plot import Drawing, Portrait, Subject
from dpcore.models.logistic_regression.parameters import INCLUDED, first_order

LEVEL = 0.95
INTERVAL = "95% interval, to first order"


def draw(subject: Subject) -> Drawing:
    """Coefficients without the intercept, which says how many say yes, not who: the log odds that
    are added from the middle of a column's limits to its upper end, or by being of a category."""
    exact, private = subject.exact.mean[0, :-1], subject.private.mean[..., :-1]
    names = subject.public.names
    label = f"log odds of {subject.public.outcome or 'a yes'}"
    bold = subject.private
    parts = bold.mean[:, 0], bold.covariance[:, 0], bold.noise_covariance[:, 0]
    ends = first_order(*parts, level=LEVEL)[:, :-1]
    drawn = dot_plot.drawing(
        names, exact, private, label, ends, INTERVAL, outlines=subject.outlines
    )
    if not np.isfinite(ends).any():
        return drawn
    return replace(drawn, note=f"The 95% {INCLUDED}.")


PORTRAIT: Portrait = draw
