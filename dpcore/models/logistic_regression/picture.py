"""The portrait of a logistic regression: one coefficient a column, private beside exact."""

from __future__ import annotations

from dpcore.figures import stem_plot
from dpcore.figures.model_plot import Drawing, Portrait, Subject


def draw(subject: Subject) -> Drawing:
    """Coefficients without the intercept, which says how many say yes, not who: the log odds that
    are added from the middle of a column's limits to its upper end, or by being of a category."""
    exact, private = subject.exact.mean[0, :-1], subject.private.mean[..., :-1]
    names = subject.public.names
    label = f"log odds of {subject.public.outcome or 'a yes'}"
    short = tuple(name.rpartition("=")[2] for name in names)
    return stem_plot.drawing(names, exact, private, label, short)


PORTRAIT: Portrait = draw
