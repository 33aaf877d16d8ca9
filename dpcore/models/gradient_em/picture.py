"""The portraits of gradient models: two mirrored clouds, the lines of a regression, or slopes.

Clouds are drawn one and two known standard deviations out. Regressions on one column are lines over
their rows; on more columns, one slope a column, private beside exact.
"""

from __future__ import annotations

import numpy as np

from dpcore.arrays import Array
from dpcore.evaluation.yardstick import mapped
from dpcore.figures import dot_plot
from dpcore.figures.model_plot import (
    NO_FIT,
    Drawing,
    Portrait,
    Subject,
    brief,
    cloud,
    column_axis,
    column_title,
    place_text,
)
from dpcore.figures.scene import Axis, Curve, Ellipses, Layer, Points
from dpcore.models.gradient_em.mathematics import Coefficients
from dpcore.wall.data import PublicFrame

ROOM = 3.6  # standard deviations around each exact cloud that the axes hold
CLOUDS = ("one cloud", "its mirror image")
LINES = ("one line", "the opposite line")


def draw_clouds(subject: Subject) -> Drawing:
    """Exact rows and clouds; private clouds over the faint ones of the other noise draws."""
    if subject.public.dim == 1:
        places = _places(subject.exact)[0], _places(subject.private)
        title = column_title(subject.public, 0)
        return dot_plot.drawing(subject.public.names, *places, title, outlines=subject.outlines)
    x, y = (_cloud_axis(subject, column) for column in subject.pair)
    exact = _clouds(subject.exact, subject.pair)[None]
    private = _clouds(subject.private, subject.pair)
    ghosts: tuple[Ellipses, ...] = ()
    if private.shape[1] > 1:
        faint = {"style": "ghost", "fill": False, "centre": False}
        ghosts = (Ellipses(private[:, 1:], levels=(2.0,), names=CLOUDS, **faint),)  # type: ignore[arg-type]
    return Drawing(
        exact=(*cloud(subject), Ellipses(exact, names=CLOUDS)),
        private=(*ghosts, Ellipses(private[:, :1], names=CLOUDS)),
        exact_alt=_told_clouds(exact[0, 0], x, y),
        private_alts=tuple(_told_clouds(params, x, y) for params in private[:, 0]),
        x=x,
        y=y,
    )


def _places(fits: Coefficients) -> Array:
    """Where the first cloud is, in own units."""
    return fits.origin + fits.scale * fits.beta


def _clouds(fits: Coefficients, pair: tuple[int, int]) -> Array:
    """``(..., 2, 6)``: mean x, mean y, covariance xx, xy, yy, weight, in own units."""
    i, j = pair
    place_of_one, other = _places(fits), fits.origin - fits.scale * fits.beta
    spread = fits.sigma[..., None] * fits.scale
    both = []
    for place in (place_of_one, other):
        shown = np.where(np.isfinite(place[..., i]), 0.0, np.nan)
        across, up = spread[..., i] ** 2, spread[..., j] ** 2
        both.append(
            np.stack([place[..., i], place[..., j], across, shown, up, shown + 0.5], axis=-1)
        )
    return np.stack(both, axis=-2)


def _cloud_axis(subject: Subject, column: int) -> Axis:
    """Holds the window's clouds with room around them."""
    public, framed = subject.public, subject.window[0]
    places = np.array([_places(framed)[0], framed.origin[0] - framed.scale[0] * framed.beta[0]])
    room = ROOM * framed.sigma[0] * framed.scale[0]
    ends = np.array([(places - room).min(axis=0), (places + room).max(axis=0)])
    low, high = (ends[:, column] - public.center[column]) / public.half_range[column]
    return column_axis(subject, column, float(low), float(high))


def _told_clouds(params: Array, x: Axis, y: Axis) -> str:
    if not np.all(np.isfinite(params)):
        return NO_FIT
    return (
        "; ".join(
            f"{name} at {x.label} {place_text(x, float(p[0]))}, "
            f"{y.label} {place_text(y, float(p[1]))}"
            for name, p in zip(CLOUDS, params, strict=True)
        )
        + "."
    )


def draw_lines(subject: Subject) -> Drawing:
    """Two lines through the rows of one column and a target; of more columns, their slopes."""
    return _regression(subject, (1.0, -1.0))


def draw_line(subject: Subject) -> Drawing:
    """One line through the rows of one column and a target; of more columns, their slopes."""
    return _regression(subject, (1.0,))


def _regression(subject: Subject, signs: tuple[float, ...]) -> Drawing:
    public = subject.public  # the target is its last column
    if public.dim != 2:
        return _slopes(subject)
    x = column_axis(subject, 0, -1.0, 1.0)
    exact, private = subject.exact, subject.private
    y = _target_axis(subject, x)
    ghosts = _ghost_lines(private, x, signs) if private.beta.shape[1] > 1 else ()
    bold: Coefficients = mapped(private, lambda array: array[:, 0])  # a batch of S
    return Drawing(
        exact=(*_rows(subject), *_lines(exact, x, signs)),
        private=(*ghosts, *_lines(bold, x, signs)),
        exact_alt=_told_lines(float(_slope(exact)[0, 0]), public, signs),
        private_alts=tuple(
            _told_lines(float(array), public, signs) for array in _slope(bold)[:, 0]
        ),
        x=x,
        y=y,
    )


def _slope(fits: Coefficients) -> Array:
    """Slopes ``(..., d)``: units of the target for one unit of each column."""
    return np.asarray(fits.target_scale[..., None] / fits.scale * fits.beta)


def _ends(fits: Coefficients, x: Axis, sign: float) -> tuple[Array, Array]:
    """Both ends ``(..., 2)`` of a line over an axis."""
    across = np.broadcast_to(np.array(x.range), (*fits.sigma.shape, 2))
    rise = _slope(fits) * (across - fits.origin)
    return np.asarray(across), np.asarray(fits.target_origin[..., None] + sign * rise)


def _lines(fits: Coefficients, x: Axis, signs: tuple[float, ...]) -> tuple[Curve, ...]:
    layers = []
    for colour, sign in enumerate(signs):
        across, up = _ends(fits, x, sign)
        if len(across) == 1:
            across, up = across[0], up[0]
        layers.append(Curve(across, up, colour=colour, bold=True, name=LINES[colour]))
    return tuple(layers)


def _ghost_lines(fits: Coefficients, x: Axis, signs: tuple[float, ...]) -> tuple[Layer, ...]:
    """The lines of the other noise draws."""
    drawn: list[Layer] = []
    for sign in signs:
        across, up = (array[:, 1:] for array in _ends(fits, x, sign))
        gap = np.full((*across.shape[:2], 1), np.nan)
        steps = len(across)
        drawn.append(
            Curve(
                np.concatenate([across, gap], axis=2).reshape(steps, -1),
                np.concatenate([up, gap], axis=2).reshape(steps, -1),
                colour=None,
            )
        )
    return tuple(drawn)


def _rows(subject: Subject) -> tuple[Points, ...]:
    """The exact rows with their targets, where any may be shown; rows without a number are not."""
    rows = subject.rows
    if rows is None:
        return ()
    whole = rows[np.all(np.isfinite(rows), axis=1)]
    return (Points(whole[:, 0], whole[:, 1], name=subject.unit),)


def _target_axis(subject: Subject, x: Axis) -> Axis:
    """Holds the window's line with room beside it, and the rows that are drawn."""
    public, rows = subject.public, subject.window[1]
    _, up = _ends(subject.window[0], x, 1.0)
    middle = float(subject.window[0].target_origin[0])
    reach = 1.15 * float(np.abs(up - middle).max())
    if rows is not None and len(rows):
        reach = max(reach, 1.05 * float(np.abs(rows[:, 1] - middle).max()))
    low = max(middle - reach, float(public.center[1] - 1.04 * public.half_range[1]))
    high = min(middle + reach, float(public.center[1] + 1.04 * public.half_range[1]))
    return Axis(column_title(public, 1), (low, high))


def _told_lines(slope: float, public: PublicFrame, signs: tuple[float, ...]) -> str:
    if not np.isfinite(slope):
        return NO_FIT
    x, y = (column_title(public, column) for column in (0, 1))
    both = f" or {brief(-slope)}" if len(signs) > 1 else ""
    return f"{y} changes by {brief(slope)}{both} when {x} rises by 1."


def _slopes(subject: Subject) -> Drawing:
    """One slope a column; of columns with different limits, over half of the limits of each."""
    public = subject.public
    width = public.half_range[:-1]
    target, alike = public.names[-1], np.ptp(width) <= 1e-9 * width[0]
    alike = alike and len(set(public.units[:-1])) == 1
    per = np.ones_like(width) if alike else width
    unit = public.units[0] or "unit"
    label = f"{target} per {unit}" if alike else f"{target} per half range of the column"
    exact, private = _slope(subject.exact)[0] * per, _slope(subject.private) * per
    ends = None if subject.intervals is None else subject.intervals * per[:, None]
    return dot_plot.drawing(
        public.names[:-1], exact, private, label, ends, outlines=subject.outlines
    )


SYMMETRIC_MIXTURE: Portrait = draw_clouds
MIXTURE_REGRESSION: Portrait = draw_lines
MISSING_REGRESSION: Portrait = draw_line
