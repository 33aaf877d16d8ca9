"""The portrait of k-means: centres, and the borders of the cells that are nearest to each."""

from __future__ import annotations

import numpy as np

from dpcore.arrays import Array, Mask
from dpcore.figures import number_table
from dpcore.figures.basemap import base_map, graticule, is_map
from dpcore.figures.heatmap import Heat, as_images, images_across
from dpcore.figures.marginals import BINS
from dpcore.figures.model_plot import (
    NO_FIT,
    Drawing,
    Portrait,
    Subject,
    cloud,
    column_axis,
    column_title,
    histogram,
    own_units,
    place_text,
    ring,
)
from dpcore.figures.scene import GROUPS, Axis, Curve, Layer, Points, Spots
from dpcore.figures.voronoi import borders
from dpcore.models.kmeans.mathematics import Centres
from dpcore.wall.data import PublicFrame

ROOM = 0.25  # of the centres' range, on either side of it
LEAST_ROOM = 0.05  # of the half range of the bounds
HIGHEST = 1.5  # axis of one column's shares, as a multiple of the largest
MOST_CELLS = 10  # beyond, borders hide what they part
BOUNDS = (-1.04, 1.04, -1.04, 1.04)


def draw(subject: Subject) -> Drawing:
    """Exact rows, centres and cells; private ones over the faint centres of the other draws.

    Where rows are pictures, so are centres. Centres of one column stand as high as they have rows.
    """
    if subject.image is not None:
        return _pictures(subject, subject.image)
    pair, public = subject.pair, subject.public
    x, y = (_axis(subject, column) for column in pair)
    under: tuple[Layer, ...] = ()
    top = 0.0
    if public.dim == 1:
        top = min(100.0, HIGHEST * 100.0 * float(subject.exact.shares.max()))
        y = Axis("share of the rows (%)", (0.0, top))
    if is_map(public, pair):
        x, y = graticule(x), graticule(y)
        under = base_map(public, pair, x, y, subject.places)
    exact: Centres = subject.exact
    private: Centres = subject.private
    bold = Centres(private.centres[:, 0], private.shares[:, 0])
    outline = ring(subject, top)
    spots, others = _spots(public, exact, pair), _spots(public, bold, pair)
    return Drawing(
        exact=(
            *(cloud(subject) if not top else _histogram(subject, x)),
            *under,
            *_cells(public, exact, pair, top),
            *outline,
            spots,
        ),
        private=(
            *_ghosts(public, private, pair),
            *under,
            *_cells(public, bold, pair, top),
            *outline,
            others,
        ),
        exact_alt=_described(public, spots, pair, (x, y))[0],
        private_alts=_described(public, others, pair, (x, y)),
        x=x,
        y=y,
        outside=_beyond(others, x, y),
    )


def _histogram(subject: Subject, axis: Axis) -> tuple[Curve, ...]:
    """The shares of the exact rows of one column in narrow bins, where any may be shown."""
    if subject.rows is None:
        return ()
    counts, edges = np.histogram(subject.rows[:, 0], BINS, axis.range)
    return (histogram(edges, 100.0 * counts / max(1, len(subject.rows)), f"{subject.unit}s"),)


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
    return Spots(
        *_places(public, fits, pair),
        names=tuple(f"centre {k + 1}" for k in range(count)),
        labels=tuple(str(k + 1) for k in range(count)),
        weights=fits.shares,
    )


def _places(public: PublicFrame, fits: Centres, pair: tuple[int, int]) -> tuple[Array, Array]:
    """Where centres are on the axes; of one column, as high as their share of the rows."""
    x, y = (own_units(public, fits.centres[..., column], column) for column in pair)
    return x, 100.0 * fits.shares if public.dim == 1 else y


def _ghosts(public: PublicFrame, fits: Centres, pair: tuple[int, int]) -> tuple[Points, ...]:
    """The centres of the other noise draws, one cloud a centre."""
    if fits.centres.shape[1] < 2:
        return ()
    across, up = (places[:, 1:] for places in _places(public, fits, pair))
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


def _cells(
    public: PublicFrame, fits: Centres, pair: tuple[int, int], top: float
) -> tuple[Curve, ...]:
    """Borders between cells, where the table has one column or two; top: where the other axis of
    one column ends."""
    count = fits.centres.shape[-2]
    if public.dim > 2 or not 1 < count <= MOST_CELLS:
        return ()
    if public.dim == 1:
        ends = np.sort(_places(public, fits, pair)[0], axis=-1)
        x = np.repeat((ends[..., 1:] + ends[..., :-1]) / 2.0, 3, axis=-1)
        y = np.broadcast_to(np.tile([0.0, top, np.nan], count - 1), x.shape)
        return (Curve(x, y, colour=None, bold=True),)
    lines = borders(fits.centres[..., list(pair)], BOUNDS)  # nearest in unit coordinates
    x, y = (own_units(public, lines[..., place], column) for place, column in enumerate(pair))
    return (Curve(x, y, colour=None, bold=True),)


def _described(
    public: PublicFrame, spots: Spots, pair: tuple[int, int], axes: tuple[Axis, Axis]
) -> tuple[str, ...]:
    """Each centre in words: where it is, and its share of the rows; one text a step."""
    columns = slice(1 if public.dim == 1 else 2)
    named = [(public.names[column], axis) for column, axis in zip(pair, axes, strict=True)][columns]
    places = np.stack([spots.x, spots.y], axis=-1)[..., columns]  # (S, K, 1 or 2)

    def centre(number: int, place: Array, share: float) -> str:
        of = zip(named, place, strict=True)
        at = ", ".join(f"{name} {place_text(axis, float(value))}" for (name, axis), value in of)
        return f"centre {number} at {at}, {share:.0%} of the rows"

    return tuple(
        "; ".join(map(centre, range(1, len(shares) + 1), step, shares)) + "."
        if np.all(np.isfinite(step))
        else NO_FIT
        for step, shares in zip(places, np.asarray(spots.weights), strict=True)
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
