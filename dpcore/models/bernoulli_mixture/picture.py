"""The portrait of a mixture of Bernoullis: how likely each group's members answer yes."""

from __future__ import annotations

from dpcore.figures.model_plot import Drawing, Portrait, Subject
from dpcore.models.bernoulli_mixture.mathematics import chances
from dpcore.models.exponential_family.picture import profiles


def draw(subject: Subject) -> Drawing:
    """Chances of a yes, a column of the table for each group."""
    exact, private = chances(subject.exact.means[0]), chances(subject.private.means[:, 0])
    return profiles(subject, exact, private, "chance of a yes", "answers yes to")


PORTRAIT: Portrait = draw
