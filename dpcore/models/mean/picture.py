"""The portrait of a mean: one number a column, private beside exact, inside the limits."""

from __future__ import annotations

from dpcore.figures import stem_plot
from dpcore.figures.model_plot import Drawing, Portrait, Subject, column_title


def draw(subject: Subject) -> Drawing:
    """Each column's mean in half ranges of its limits from their middle; of one column, in its own
    unit."""
    public = subject.public
    exact, private, ends = subject.exact.mean[0], subject.private.mean, subject.intervals
    if ends is not None and public.dim > 1:
        ends = (ends - public.center[:, None]) / public.half_range[:, None]
    label = "mean (half ranges from the middle of the limits)"
    if public.dim == 1:
        exact = public.center + public.half_range * exact
        private = public.center + public.half_range * private
        label = f"mean {column_title(public, 0)}"
    return stem_plot.drawing(public.names, exact, private, label, intervals=ends)


PORTRAIT: Portrait = draw
