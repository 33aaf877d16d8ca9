"""The portrait of groups by their number in each column: one table, private beside exact."""

from __future__ import annotations

import numpy as np

from dpcore.arrays import Array
from dpcore.figures.component_images import Parts, drawing
from dpcore.figures.model_plot import Drawing, Portrait, Subject
from dpcore.models.exponential_family.bernoulli import chances
from dpcore.models.exponential_family.poisson import rates


def profiles(subject: Subject, exact: Array, private: Array, label: str, verb: str) -> Drawing:
    """exact ``(K, d)``, private ``(S, K, d)``: each group's numbers; label: what they are."""
    return drawing(
        Parts(
            exact=exact.T,
            private=np.swapaxes(private, 1, 2),
            label=label,
            part="group",
            columns=subject.public.names,
            verb=verb,
            likeness=np.abs(private - exact).mean(axis=-1),
            note="off by {:.2g}",
            alike="differs from the exact one by {:.2g} on average",
            above=True,
        ),
        subject.image,
    )


def draw_chances(subject: Subject) -> Drawing:
    """Chances of a yes, a column of the table for each group."""
    exact, private = chances(subject.exact.means[0]), chances(subject.private.means[:, 0])
    return profiles(subject, exact, private, "chance of a yes", "answers yes to")


def draw_rates(subject: Subject) -> Drawing:
    """Rates in own units, a column of the table for each group."""
    exact = rates(subject.exact.means[0], subject.public)
    private = rates(subject.private.means[:, 0], subject.public)
    return profiles(subject, exact, private, "mean count", "counts")


BERNOULLI: Portrait = draw_chances
POISSON: Portrait = draw_rates
