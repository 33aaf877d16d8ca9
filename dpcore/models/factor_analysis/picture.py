"""The portrait of factor analysis: its loadings, as small images or as columns of one table; of
probabilistic PCA, those of the factors that the exact fit has.

A factor that is not found is drawn as what it is, noise; the word under it says how much it has to
do with the exact one: the cosine of the angle between them, in per cent.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dpcore.arrays import Array
from dpcore.evaluation.yardstick import mapped
from dpcore.figures.component_images import (
    LOW,
    UNSEEN,
    VISIBLE,
    aligned,
    cosines,
    drawing,
    given_back,
)
from dpcore.figures.heatmap import Heat, as_images
from dpcore.figures.model_plot import NO_FIT, Drawing, Portrait, Subject
from dpcore.figures.scene import Axis
from dpcore.models.factor_analysis.mathematics import Factors, reconstruct
from dpcore.models.factor_analysis.probabilistic_pca import factors_there
from dpcore.wall.data import PublicFrame

SHOWN = 6  # rows that are reconstructed
MOST = 10  # factors on one card, above and below the mean
AROUND_KEY = "+ 2 above, − 2 below · % aligned"


def draw(subject: Subject) -> Drawing:
    """Exact loadings beside private ones; no rows and no other draws."""
    fits: Factors = subject.private
    truth, scale, label = _in_units(subject.public, subject.exact.loadings[0])
    private = fits.loadings[:, 0] * scale
    parts = aligned(truth, private, label, "factor", subject.public.names, "moves")
    return drawing(parts, subject.image, bars=True, outlines=subject.outlines)


def draw_reconstructions(subject: Subject) -> Drawing:
    """Rows that are pictures, as their expected factors draw them."""
    public, rows, image = subject.public, subject.rows, subject.image
    if rows is None or image is None or not subject.outlines:  # what is given back tells of rows
        return draw(subject)
    units = public.to_units(rows[:SHOWN])
    bold: Factors = mapped(subject.private, lambda array: array[:, 0])
    finite = np.asarray(np.isfinite(bold.mean).all(axis=1))
    private = np.full((len(finite), *units.shape), np.nan)
    if finite.any():
        private[finite] = reconstruct(mapped(bold, lambda array: array[finite]), units)
    original, exact, private = (
        (np.clip(array, -1.0, 1.0) + 1.0) * public.half_range
        for array in (units, reconstruct(subject.exact, units)[0], private)
    )
    limit = 2.0 * float(public.half_range.max())
    return given_back(original, exact, private, image, limit, public.units[0] or "value")


def draw_around_the_mean(subject: Subject) -> Drawing:
    """Pictures that lie two standard deviations of each factor above and below the mean."""
    public, image = subject.public, subject.image
    if image is None:
        return draw(subject)
    first, second = subject.exact, mapped(subject.private, lambda array: array[:, 0])
    exact, private = (_around(fits.mean, fits.loadings, public) for fits in (first, second))
    count = exact.shape[-1] // 2 - 1
    likeness = cosines(second.loadings[..., :count], first.loadings[0, :, :count])
    numbers = [str(k + 1) for k in range(count)]
    ends = [["mean", *(f"factor {k}, {end}" for k in numbers)] for end in ("above", "below")]
    above = ("mean", *numbers, "mean")
    pictures = "The mean, and for each factor the mean plus and minus twice its loadings."

    def heat(flat: Array, notes: tuple[Any, ...]) -> Heat:
        limit, label = 2.0 * float(public.half_range.max()), public.units[0] or "value"
        return Heat(flat, limit, label, (*ends[0], *ends[1]), notes, across=count + 1, above=True)

    def words(step: Array) -> tuple[str, ...]:
        return tuple(UNSEEN if cosine < VISIBLE else f"{cosine:.0%}" for cosine in step)

    def described(step: Array) -> str:
        if not np.isfinite(step).all():
            return NO_FIT
        visible = int(np.sum(step >= VISIBLE))
        return f"{pictures} Factors visible at this noise level: {visible} of {count}."

    tiles = as_images(exact, private, image)
    below = tuple(words(step) if np.isfinite(step).all() else ("",) * count for step in likeness)
    moving = tuple((*above, *notes) for notes in below)
    return Drawing(
        exact=(heat(tiles[0], (*above, *[""] * count)),),
        private=(heat(tiles[1], moving),),
        exact_alt=pictures,
        private_alts=tuple(map(described, likeness)),
        x=Axis("factor", (0.5, count + 1.5)),
        y=Axis("pixel row", (0.0, float(image[0]))),
        bare=True,
        height=LOW,
        key=AROUND_KEY,
    )


def _around(mean: Array, loadings: Array, public: PublicFrame) -> Array:
    """In own units from the lowest value up, ``(S, d, 2 (k + 1))``: the mean and what lies two
    loadings above it, the mean and what lies two below. At most ``MOST`` factors."""
    moves, middle = 2.0 * loadings[..., :MOST], mean[..., None]
    both = np.concatenate([middle, middle + moves, middle, middle - moves], axis=-1)
    return np.asarray((np.clip(both, -1.0, 1.0) + 1.0) * public.half_range[:, None])


def _in_units(public: PublicFrame, loadings: Array) -> tuple[Array, float, str]:
    """Loadings in the columns' own unit where they share one, else in half ranges of each."""
    spread, units = public.half_range, set(public.units)
    if len(units) == 1 and np.ptp(spread) <= 1e-9 * spread[0]:
        unit = public.units[0]
        return loadings * spread[0], float(spread[0]), f"loading ({unit})" if unit else "loading"
    return loadings, 1.0, "loading (share of each column's half range)"


def _there(subject: Subject) -> Subject:
    """Exact loadings that are not 0 beside the private ones that are turned to look like them."""
    there = factors_there(subject.exact)
    exact, private = (
        replace(fits, loadings=fits.loadings[..., there])
        for fits in (subject.exact, subject.private)
    )
    return replace(subject, exact=exact, private=private)


def draw_factors_there(subject: Subject) -> Drawing:
    """The loadings of the factors that the exact fit has."""
    return draw(_there(subject))


def draw_factors_around_the_mean(subject: Subject) -> Drawing:
    """The mean and these factors above and below it."""
    return draw_around_the_mean(_there(subject))


FACTOR_ANALYSIS: Portrait = draw
PROBABILISTIC_PCA: Portrait = draw_factors_there
RECONSTRUCTIONS: Portrait = draw_reconstructions
AROUND_THE_MEAN: Portrait = draw_around_the_mean
FEWER_AROUND_THE_MEAN: Portrait = draw_factors_around_the_mean
