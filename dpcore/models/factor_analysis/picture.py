"""The portrait of factor analysis: its loadings, as small images or as columns of one table.

A factor that is not found is drawn as what it is, noise; the word under it says how much it has to
do with the exact one: the cosine of the angle between them, in per cent.
"""

from __future__ import annotations

import numpy as np

from dpcore.arrays import Array
from dpcore.evaluation.yardstick import mapped
from dpcore.figures.component_images import ALIGNED, VISIBLE, Parts, cosines, drawing, given_back
from dpcore.figures.model_plot import Drawing, Portrait, Subject
from dpcore.models.factor_analysis.mathematics import Factors, reconstruct
from dpcore.wall.data import PublicFrame

SHOWN = 6  # rows that are reconstructed


def draw(subject: Subject) -> Drawing:
    """Exact loadings beside private ones; no rows and no other draws."""
    fits: Factors = subject.private
    truth, scale, label = _in_units(subject.public, subject.exact.loadings[0])
    private = fits.loadings[:, 0] * scale
    return drawing(
        Parts(
            exact=truth,
            private=private,
            label=label,
            part="factor",
            columns=subject.public.names,
            verb="moves",
            likeness=cosines(private, truth),
            note=ALIGNED,
            least=VISIBLE,
            alike="cosine {:.2f} with the exact one",
        ),
        subject.image,
        bars=True,
        outlines=subject.outlines,
    )


def draw_reconstructions(subject: Subject) -> Drawing:
    """Rows that are pictures, as their expected factors draw them."""
    public, rows, image = subject.public, subject.rows, subject.image
    if rows is None or image is None or not subject.outlines:  # what is given back tells of rows
        return draw(subject)
    units = (rows[:SHOWN] - public.center) / public.half_range
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


def _in_units(public: PublicFrame, loadings: Array) -> tuple[Array, float, str]:
    """Loadings in the columns' own unit where they share one, else in half ranges of each."""
    spread, units = public.half_range, set(public.units)
    if len(units) == 1 and np.ptp(spread) <= 1e-9 * spread[0]:
        unit = public.units[0]
        return loadings * spread[0], float(spread[0]), f"loading ({unit})" if unit else "loading"
    return loadings, 1.0, "loading (share of each column's half range)"


PORTRAIT: Portrait = draw
RECONSTRUCTIONS: Portrait = draw_reconstructions
