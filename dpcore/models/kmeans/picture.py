"""The portrait of k-means: centres, and the borders of the cells that are nearest to each."""

from __future__ import annotations

import numpy as np

from dpcore.arrays import Array, Mask
from dpcore.figures import number_table
from dpcore.figures.basemap import base_map, graticule, is_map
from dpcore.figures.heatmap import Heat, as_images, images_across
from dpcore.figures.model_plot import (
    NO_FIT,
    Drawing,
    Portrait,
    Subject,
    brief,
    cloud,
    column_axis,
    column_title,
    own_units,
    ring,
)
from dpcore.figures.scene import GROUPS, Axis, Curve, Layer, Points, Spots
from dpcore.figures.voronoi import borders
from dpcore.models.kmeans.mathematics import Centres
from dpcore.wall.data import PublicFrame

ROOM = 0.25  # of the centres' range, on either side of it
LEAST_ROOM = 0.05  # of the half range of the bounds
MOST_CELLS = 10  # beyond, borders hide what they part
BOUNDS = (-1.04, 1.04, -1.04, 1.04)


def draw(subject: Subject) -> Drawing:
    """Exact rows, centres and cells; private ones over the faint centres of the other draws.

    Where rows are pictures, so are centres.
    """
    if subject.image is not None:
        return _pictures(subject, subject.image)
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
        outside=_beyond(_spots(public, bold, pair), x, y),
    )


def _beyond(spots: Spots, x: Axis, y: Axis) -> tuple[str, ...]:
    """How many of the centres noise has put beyond the axes, where it has; one text a step."""
    inside: Mask = np.ones(np.shape(spots.x), dtype=bool)
    for places, axis in ((np.asarray(spots.x), x), (np.asarray(spots.y), y)):
        low, high = axis.range
        inside &= ~((places < low) | (places > high))  # of a fit that is none, NaN is not
    return tuple(
        f"{within.size - within.sum()} of {within.size} centres outside" if not within.all() else ""
        for within in inside
    )


def _pictures(subject: Subject, image: tuple[int, int]) -> Drawing:
    """The centres as images, from the lowest value that the bounds allow (white) up."""
    public, exact = subject.public, subject.exact
    spread = 2.0 * public.half_range
    truth = (exact.centres + 1.0) / 2.0 * spread
    private = (subject.private.centres[:, 0] + 1.0) / 2.0 * spread
    count = truth.shape[1]
    names = tuple(f"centre {k + 1}" for k in range(count))
    unit = public.units[0] or "value"
    limit = float(spread.max())
    views = as_images(np.swapaxes(truth, 1, 2), np.swapaxes(private, 1, 2), image)
    across = images_across(count, image)

    def shares(fits: Array) -> tuple[tuple[str, ...], ...]:
        return tuple(
            tuple(
                f"{k} · {share:.0%}" if share == share else f"{k}"
                for k, share in enumerate(weights, 1)
            )
            for weights in fits
        )

    return Drawing(
        exact=(Heat(views[0], limit, unit, names, shares(exact.shares)[0], (), across),),
        private=(
            Heat(views[1], limit, unit, names, shares(subject.private.shares[:, 0]), (), across),
        ),
        exact_alt=_said_shares(exact.shares)[0],
        private_alts=_said_shares(subject.private.shares[:, 0]),
        x=Axis("centre", (0.5, count + 0.5)),
        y=Axis("pixel row", (0.0, float(image[0]))),
        bare=True,
    )


def _said_shares(shares: Array) -> tuple[str, ...]:
    return tuple(
        "; ".join(f"centre {k}: {share:.0%} of the rows" for k, share in enumerate(row, 1)) + "."
        if np.all(np.isfinite(row))
        else NO_FIT
        for row in shares
    )


def _axis(subject: Subject, column: int) -> Axis:
    """Holds the window's centres with room around them, and the rows that are drawn."""
    public, rows = subject.public, subject.rows
    held = subject.window[0].centres[0, :, column]
    room = max(ROOM * float(np.ptp(held)), LEAST_ROOM)
    low, high = float(held.min()) - room, float(held.max()) + room
    if rows is not None and len(rows):
        cells = (rows[:, column] - public.center[column]) / public.half_range[column]
        low, high = min(low, float(cells.min())), max(high, float(cells.max()))
    return column_axis(subject, column, low, high)


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
            colour=k % GROUPS,
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
    return (Curve(x, y, colour=None, bold=True),)


def _described(public: PublicFrame, fits: Centres, pair: tuple[int, int]) -> tuple[str, ...]:
    """Each centre in words: where it is, and its share of the rows; one text a step."""
    places = np.stack(
        [own_units(public, fits.centres[..., column], column) for column in pair], axis=-1
    )
    first, second = (public.names[column] for column in pair)
    return tuple(
        "; ".join(
            f"centre {k + 1} at {first} {brief(float(x))}, {second} {brief(float(y))}, "
            f"{share:.0%} of the rows"
            for k, ((x, y), share) in enumerate(zip(centres, shares, strict=True))
        )
        + "."
        if np.all(np.isfinite(centres))
        else NO_FIT
        for centres, shares in zip(places, fits.shares, strict=True)
    )


def draw_numbers(subject: Subject) -> Drawing:
    """Share and place of each centre, in own units."""
    public = subject.public

    def numbers(fits: Centres) -> Array:
        places = public.center + public.half_range * fits.centres
        return np.swapaxes(np.concatenate([fits.shares[..., None], places], axis=-1), -1, -2)

    exact, private = numbers(subject.exact)[0], numbers(subject.private)
    heads = [f"centre {k + 1}" for k in range(exact.shape[1])]
    names = ["share of the rows", *(column_title(public, i) for i in range(public.dim))]
    return number_table.drawing(
        heads, names, exact, private, outlines=subject.outlines, shares=(0,)
    )


PORTRAIT: Portrait = draw
NUMBERS: Portrait = draw_numbers
