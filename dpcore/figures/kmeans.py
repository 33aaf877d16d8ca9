"""The portrait of k-means: centres, and the borders of the cells that are nearest to each."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpcore.figures.basemap import base_map, graticule, is_map
from dpcore.figures.cells import borders
from dpcore.figures.portrait import (
    NO_FIT,
    Drawing,
    Portrait,
    Subject,
    cloud,
    column_axis,
    own_units,
    ring,
    said,
)
from dpcore.figures.scene import PALETTE_LIGHT, Axis, Curve, Layer, Points, Spots
from dpcore.models.kmeans import Centres
from dpcore.wall.clip import PublicFrame

Array = NDArray[np.float64]

ROOM = 0.25  # of the centres' range, on either side of it
LEAST_ROOM = 0.05  # of the half range of the bounds
MOST_CELLS = 10  # beyond, borders hide what they part
BOUNDS = (-1.04, 1.04, -1.04, 1.04)


def draw(subject: Subject) -> Drawing:
    """Exact rows, centres and cells; private ones over the faint centres of the other draws."""
    pair, public = subject.pair, subject.public
    x, y = (_axis(subject, column) for column in pair)
    under: tuple[Layer, ...] = ()
    if is_map(public, pair):
        x, y = graticule(x), graticule(y)
        under = base_map(public, pair, x, y, subject.places)
    exact: Centres = subject.exact
    private: Centres = subject.private
    bold = Centres(private.centres[:, 0], private.shares[:, 0])
    outline = ring(subject)
    return Drawing(
        exact=(
            *cloud(subject),
            *under,
            *_cells(public, exact, pair),
            *outline,
            _spots(public, exact, pair),
        ),
        private=(
            *_ghosts(public, private, pair),
            *under,
            *_cells(public, bold, pair),
            *outline,
            _spots(public, bold, pair),
        ),
        exact_alt=_described(public, exact, pair)[0],
        private_alts=_described(public, bold, pair),
        x=x,
        y=y,
    )


def _axis(subject: Subject, column: int) -> Axis:
    """Holds the window's centres with room around them."""
    centres = subject.window[0].centres[0, :, column]
    room = max(ROOM * float(np.ptp(centres)), LEAST_ROOM)
    return column_axis(subject, column, float(centres.min()) - room, float(centres.max()) + room)


def _spots(public: PublicFrame, fits: Centres, pair: tuple[int, int]) -> Spots:
    """The centres, one set a step, in the colours and markers that groups have."""
    count = fits.centres.shape[-2]
    x, y = (own_units(public, fits.centres[..., column], column) for column in pair)
    return Spots(
        x,
        y,
        names=tuple(f"centre {k + 1}" for k in range(count)),
        labels=tuple(str(k + 1) for k in range(count)),
        weights=fits.shares,
    )


def _ghosts(public: PublicFrame, fits: Centres, pair: tuple[int, int]) -> tuple[Points, ...]:
    """The centres of the other noise draws, one cloud a centre."""
    if fits.centres.shape[1] < 2:
        return ()
    across, up = (own_units(public, fits.centres[:, 1:, :, column], column) for column in pair)
    return tuple(
        Points(
            across[..., k],
            up[..., k],
            opacity=0.5,
            colour=k % len(PALETTE_LIGHT),
            name=f"centre {k + 1}, other draws",
        )
        for k in range(across.shape[2])
    )


def _cells(public: PublicFrame, fits: Centres, pair: tuple[int, int]) -> tuple[Curve, ...]:
    """Borders between cells, in a plane of two columns only where there are no more columns."""
    count = fits.centres.shape[-2]
    if public.dim != 2 or not 1 < count <= MOST_CELLS:
        return ()
    lines = borders(fits.centres[..., list(pair)], BOUNDS)  # nearest in unit coordinates
    x, y = (own_units(public, lines[..., place], column) for place, column in enumerate(pair))
    return (Curve(x, y, colour=None),)


def _described(public: PublicFrame, fits: Centres, pair: tuple[int, int]) -> tuple[str, ...]:
    """Each centre in words: where it is, and its share of the rows; one text a step."""
    places = np.stack(
        [own_units(public, fits.centres[..., column], column) for column in pair], axis=-1
    )
    first, second = (public.names[column] for column in pair)
    return tuple(
        "; ".join(
            f"centre {k + 1} at {first} {said(float(x))}, {second} {said(float(y))}, "
            f"{share:.0%} of the rows"
            for k, ((x, y), share) in enumerate(zip(centres, shares, strict=True))
        )
        + "."
        if np.all(np.isfinite(centres))
        else NO_FIT
        for centres, shares in zip(places, fits.shares, strict=True)
    )


PORTRAIT: Portrait = draw
