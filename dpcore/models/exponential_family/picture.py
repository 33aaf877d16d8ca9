"""The portrait of groups by their number in each column: one table, private beside exact."""

from __future__ import annotations

import numpy as np

from dpcore.arrays import Array
from dpcore.figures.component_images import Parts, drawing
from dpcore.figures.model_plot import Drawing, Subject


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
