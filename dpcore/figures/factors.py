"""The portrait of factor analysis: its loadings, as small images or as columns of one table.

Loadings are drawn factor by factor beside the exact ones, on one scale for both panels, the exact
fit's. A factor that is not found is drawn as what it is, noise; the word under it says how much it
has to do with the exact one: the cosine of the angle between them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpcore.figures.heat import Heat, as_images, images_across
from dpcore.figures.portrait import NO_FIT, Drawing, Portrait, Subject, said
from dpcore.figures.scene import Axis
from dpcore.models.factors import Factors
from dpcore.wall.clip import PublicFrame

Array = NDArray[np.float64]

MOST_ROWS = 50  # columns of a table that are drawn: those with the largest exact loadings
ROW, AROUND = 13, 110  # pixels of a row, and of all else on a card
LEAST_HEIGHT = 340
LARGEST = 3  # loadings named in words
LONGEST = 24  # letters of a column's name on a card


def draw(subject: Subject) -> Drawing:
    """Exact loadings beside private ones; no rows and no other draws."""
    public, exact, image = subject.public, subject.exact, subject.image
    fits: Factors = subject.private
    truth, scale, label = _in_units(public, exact.loadings)
    private = fits.loadings[:, 0] * scale
    cosines = _cosines(private, truth)
    names = tuple(f"factor {k + 1}" for k in range(truth.shape[-1]))
    limit = float(np.max(np.abs(truth), initial=0.0)) or 1.0
    if image is None:
        kept = _largest(truth[0])
        views = (_as_table(truth[:, kept]), _as_table(private[:, kept]))
        rows = tuple(_short(public.names[i]) for i in kept)
        height = max(LEAST_HEIGHT, AROUND + ROW * len(kept))
        if len(kept) < public.dim:
            label += f", largest {len(kept)} of {public.dim} columns"
    else:
        views = as_images(truth, private, image)
        rows, height = (), LEAST_HEIGHT
    across = len(names) if image is None else images_across(len(names), image)
    short = tuple(str(k + 1) for k in range(len(names)))
    notes = tuple(tuple(_note(k, c) for k, c in zip(short, step, strict=True)) for step in cosines)
    return Drawing(
        exact=(Heat(views[0], limit, label, names, short, rows, across),),
        private=(Heat(views[1], limit, label, names, notes, rows, across),),
        exact_alt=_described(public, truth[0], image is None),
        private_alts=tuple(
            _compared(public, loadings, cosine, image is None)
            for loadings, cosine in zip(private, cosines, strict=True)
        ),
        x=Axis("factor", (0.5, len(names) + 0.5)),
        y=Axis("column" if image is None else "pixel row", (0.0, float(views[0].shape[2]))),
        bare=True,
        height=height,
    )


def _in_units(public: PublicFrame, loadings: Array) -> tuple[Array, Array | float, str]:
    """Loadings in the columns' own unit where they share one, else in half ranges of each."""
    spread, units = public.half_range, set(public.units)
    if len(units) == 1 and np.ptp(spread) <= 1e-9 * spread[0]:
        unit = public.units[0]
        return loadings * spread[0], float(spread[0]), f"loading ({unit})" if unit else "loading"
    return loadings, 1.0, "loading (share of each column's half range)"


def _cosines(private: Array, truth: Array) -> Array:
    """Cosine ``(S, k)`` of the angle between each loading and the exact one; 0 for no loading."""
    lengths = np.linalg.norm(private, axis=1) * np.linalg.norm(truth, axis=1)
    return np.asarray(np.sum(private * truth, axis=1) / np.where(lengths > 0.0, lengths, 1.0))


def _largest(loadings: Array) -> Array:
    """The columns to draw, in their own order: all, or those with the largest loadings."""
    size = np.linalg.norm(loadings, axis=-1)
    return np.sort(np.argsort(-size, kind="stable")[:MOST_ROWS])


def _as_table(loadings: Array) -> Array:
    """``(S, d, k)`` as k images, each one column of a table: ``(S, k, d, 1)``."""
    return np.swapaxes(loadings, 1, 2)[..., None]


def _short(name: str) -> str:
    return name if len(name) <= LONGEST else name[: LONGEST - 1] + "…"


def _note(number: str, cosine: float) -> str:
    if not np.isfinite(cosine):
        return number
    return f"{number} · cos {cosine:.2f}".replace("-", "−")


def _described(public: PublicFrame, loadings: Array, table: bool) -> str:
    """Each exact factor in words: the columns it moves most. Pixels have no names to say."""
    if not table:
        return f"{loadings.shape[1]} factors as images."
    return (
        "; ".join(
            f"factor {k + 1} moves {_most(public, column)}" for k, column in enumerate(loadings.T)
        )
        + "."
    )


def _compared(public: PublicFrame, loadings: Array, cosines: Array, table: bool) -> str:
    """Each private factor in words: how like the exact one it is, and what it moves most."""
    if not np.all(np.isfinite(loadings)):
        return NO_FIT
    return (
        "; ".join(
            f"factor {k + 1}: cosine {cosine:.2f} with the exact one"
            + (f", moves {_most(public, column)}" if table else "")
            for k, (cosine, column) in enumerate(zip(cosines, loadings.T, strict=True))
        )
        + "."
    )


def _most(public: PublicFrame, loadings: Array) -> str:
    """The largest loadings of a factor, with their columns."""
    order = np.argsort(-np.abs(loadings), kind="stable")[:LARGEST]
    return ", ".join(f"{public.names[i]} {said(float(loadings[i]))}" for i in order)


PORTRAIT: Portrait = draw
