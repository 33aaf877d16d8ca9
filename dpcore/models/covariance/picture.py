"""The portrait of a covariance: correlations and the first principal components, as one table.

Rows are columns of the data, with their numbers; across stand the same numbers, then components;
the key says what share of the variance each explains. Where rows are pictures, components are drawn
as pictures. A correlation whose sign differs between draws of the noise is left blank.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpcore.arrays import Array, Indices
from dpcore.figures.component_images import (
    AROUND,
    LEAST_HEIGHT,
    aligned,
    as_table,
    drawing,
    largest,
    short,
)
from dpcore.figures.heatmap import Heat
from dpcore.figures.model_plot import NO_FIT, Drawing, Portrait, Subject
from dpcore.figures.scene import Axis
from dpcore.models.covariance.mathematics import correlations, pairs, principal, shares

MOST_COLUMNS, ROW = 10, 17  # that are drawn: those with the largest exact correlations; pixels
COMPONENTS, IMAGES = 3, 6  # beside correlations, and as pictures
PAIRS_IN_WORDS = 3  # correlations in words
BAND = (0.05, 0.95)  # of the draws


@dataclass(frozen=True)
class Drawn:
    """What is drawn of S fits: correlations ``(S, d, d)``, NaN where blank; axes ``(S, d, k)`` and
    the shares ``(S, k)`` of the variance along them."""

    correlation: Array
    axes: Array
    explained: Array

    @classmethod
    def of(cls, covariance: Array, own: Array, count: int) -> Drawn:
        """From covariances ``(S, d, d)`` in unit coordinates; own ``(d, d)``: their units."""
        there = np.all(np.isfinite(covariance), axis=(1, 2))
        variances, axes = principal(np.where(there[:, None, None], covariance, 0.0) * own)
        axes, explained = np.swapaxes(axes[:, :count], 1, 2), shares(variances)[:, :count]
        axes[~there], explained[~there] = np.nan, np.nan
        return cls(correlations(covariance), axes, explained)


def draw(subject: Subject) -> Drawing:
    """Correlations and components, private beside exact."""
    public, draws = subject.public, subject.private.covariance
    own = public.half_range[:, None] * public.half_range
    count = min(public.dim, COMPONENTS if subject.image is None else IMAGES)
    exact = Drawn.of(subject.exact.covariance, own, count)
    private = Drawn.of(draws[:, 0], own, count)
    along = np.sum(private.axes * exact.axes, axis=1, keepdims=True)
    axes = private.axes * np.where(along < 0.0, -1.0, 1.0)  # an axis may point either way
    if subject.image is not None:
        label = "weight of a pixel in the component"
        parts = aligned(exact.axes[0], axes, label, "PC", public.names, "moves")
        return drawing(parts, subject.image)
    signs = np.sign(correlations(draws))
    blank = np.any(signs != signs[:, :1], axis=1) & np.isfinite(private.correlation)
    private = Drawn(np.where(blank, np.nan, private.correlation), axes, private.explained)
    shown = largest(exact.correlation[0] - np.eye(public.dim), MOST_COLUMNS)
    return Drawing(
        exact=(_table(exact, shown, public.names),),
        private=(_table(private, shown, public.names),),
        exact_alt=_told(exact, 0, public.names),
        private_alts=tuple(_told(private, step, public.names) for step in range(len(draws))),
        x=Axis("column", (0.5, len(shown) + count + 0.5)),
        y=Axis("column", (0.0, float(len(shown)))),
        bare=True,
        height=max(LEAST_HEIGHT, AROUND + ROW * len(shown)),
        outside=_bands(draws * own),
        key="blank: sign unclear" if draws.shape[1] > 1 else "",
    )


def _table(drawn: Drawn, shown: Indices, columns: Sequence[str]) -> Heat:
    """Correlations of some columns, then their places on the components."""
    count = drawn.axes.shape[2]
    title = "correlation"
    if len(shown) < len(columns):
        title += f" of {len(shown)} of {len(columns)} columns"
    labels = tuple(
        f"{title}; PC1 to PC{count}: {', '.join(f'{share:.0%}' for share in step)} of the variance"
        if np.all(np.isfinite(step))
        else title
        for step in drawn.explained
    )
    matrix = drawn.correlation[:, shown][:, :, shown]
    return Heat(
        as_table(np.concatenate([matrix, drawn.axes[:, shown]], axis=2)),
        1.0,
        labels if len(labels) > 1 else labels[0],
        (
            *(f"correlation with {columns[i]}" for i in shown),
            *(f"PC{k + 1}" for k in range(count)),
        ),
        (*(str(i + 1) for i in shown), *(f"PC{k + 1}" for k in range(count))),
        tuple(f"{i + 1} {short(columns[i])}" for i in shown),
    )


def _bands(covariance: Array) -> tuple[str, ...]:
    """What the first component explains in most draws ``(S, D, d, d)``, one text a budget."""
    if covariance.shape[1] == 1:
        return ("",) * len(covariance)
    there = np.all(np.isfinite(covariance), axis=(1, 2, 3))
    explained = shares(principal(np.where(there[:, None, None, None], covariance, 0.0))[0])[..., 0]
    ends = np.quantile(explained, BAND, axis=1).T
    ranges = (" to ".join(dict.fromkeys(f"{end:.0%}" for end in pair)) for pair in ends)
    return tuple(f"PC1 {text}" if fits else "" for fits, text in zip(there, ranges, strict=True))


def _told(drawn: Drawn, step: int, columns: Sequence[str]) -> str:
    """The largest correlations and what PC1 explains, in words."""
    if not np.all(np.isfinite(drawn.explained[step])):
        return NO_FIT
    values = np.nan_to_num(pairs(drawn.correlation[step]))
    above, below = np.triu_indices(len(columns), 1)
    strongest = np.argsort(-np.abs(values), kind="stable")[:PAIRS_IN_WORDS]
    pairs_text = "; ".join(
        f"{columns[above[at]]} with {columns[below[at]]} {values[at]:.2f}" for at in strongest
    )
    return f"Correlations: {pairs_text}. PC1 explains {drawn.explained[step, 0]:.0%}."


PORTRAIT: Portrait = draw
