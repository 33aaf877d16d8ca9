"""The portrait of a mixture of Poissons: how many events each group has, column by column."""

from __future__ import annotations

from dpcore.figures.model_plot import Drawing, Portrait, Subject
from dpcore.models.exponential_family.picture import profiles
from dpcore.models.poisson_mixture.mathematics import rates


def draw(subject: Subject) -> Drawing:
    """Rates in own units, a column of the table for each group."""
    exact = rates(subject.exact.means[0], subject.public)
    private = rates(subject.private.means[:, 0], subject.public)
    return profiles(subject, exact, private, "mean count", "counts")


PORTRAIT: Portrait = draw
