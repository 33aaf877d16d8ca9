"""The portraits of a mixture: groups as ellipses, as one density, column by column, in numbers, and
rows drawn from them. Groups of one column are densities over a histogram of the rows.

Beside the private groups the exact ones are dashed, where they may be seen. Groups with labels are
classes, and have names of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dpcore.arrays import Array, Indices, Mask
from dpcore.figures import number_table
from dpcore.figures.density import Density, levels_of
from dpcore.figures.marginals import POINTS, TALL, Marginals, histograms, mixed
from dpcore.figures.model_plot import (
    NO_FIT,
    Drawing,
    Portrait,
    Subject,
    cloud,
    column_axis,
    column_title,
    own_units,
    place_text,
    ring,
)
from dpcore.figures.scene import Axis, Ellipses, Layer, Points, Spots
from dpcore.models.gaussian_mixture.mathematics import Mixture
from dpcore.models.labelled_mixture.mathematics import LabelledMixture
from dpcore.privacy.guarantee import show
from dpcore.wall.data import PublicFrame

ROOM = 3.6  # standard deviations around each exact group that the axes hold
ROW, AROUND, LEAST_HEIGHT = 48, 34, 260  # pixels of a column's marginal, and of all else on a card
LEAST_ROOM = 0.08  # around a centre, as a share of how far centres lie apart
MOST_COLUMNS = 20  # that have a marginal: those in which exact groups lie farthest apart
MOST_CURVES = 12_000  # numbers of the faint draws of all marginals
DRAWN = 300  # synthetic rows
HALF = 0.5  # of the disc of a group that lies in the window, or its outlines fade
DISC = 64  # points that stand for a disc


def draw(subject: Subject) -> Drawing:
    """Exact rows and groups; private groups over the faint ones of the other noise draws."""
    if subject.public.dim == 1:
        return _one_column(subject)
    x, y = (_axis(subject, column) for column in subject.pair)
    exact = _params(subject.exact, subject.public, subject.pair)[None]
    private = _params(subject.private, subject.public, subject.pair)
    names = _names(subject.exact, private.shape[2])
    wider = _wider(private, x, y)
    ghosts: tuple[Ellipses, ...] = ()
    if private.shape[1] > 1:
        ghosts = (
            Ellipses(
                private[:, 1:],
                levels=(2.0,),
                style="ghost",
                fill=False,
                centre=False,
                names=names,
                faint=wider[:, 1:],
            ),
        )
    clipping = ring(subject)
    called = names if isinstance(subject.exact, LabelledMixture) else ()
    return Drawing(
        exact=(
            *cloud(subject),
            *clipping,
            Ellipses(exact, names=names, centre=not called),
            *_called(called, exact[0, 0]),
        ),
        private=(
            *clipping,
            *ghosts,
            *_exact_outlines(subject, exact, names),
            Ellipses(private[:, :1], names=names, centre=not called, faint=wider[:, :1]),
            *_called(called, private[:, 0]),
        ),
        exact_alt=_described(exact[0, 0], names, x, y),
        private_alts=tuple(_described(params, names, x, y) for params in private[:, 0]),
        x=x,
        y=y,
        outside=tuple(_said_wider(int(count), wider.shape[2]) for count in wider[:, 0].sum(axis=1)),
        key="dashed: exact" if subject.outlines else "",
    )


def _one_column(subject: Subject) -> Drawing:
    """The densities of all groups and of each, with its middle, on the axis of the only column."""
    drawn, x, public = draw_marginals(subject), _axis(subject, 0), subject.public
    params = _params(subject.private, public, subject.pair)[:, 0]
    wider, names = _wider(params, x, x), _names(subject.exact, params.shape[1])
    labels = names if isinstance(subject.exact, LabelledMixture) else ()
    top = float(np.asarray(_marginals(drawn.exact)[0].tops)[0]) / TALL

    def on_axes(layers: Sequence[Layer], params: Array) -> tuple[Layer, ...]:
        places, weights = params[..., 0], params[..., 5]
        with np.errstate(invalid="ignore", divide="ignore"):
            peaks = np.minimum(weights / np.sqrt(2.0 * np.pi * params[..., 2]), top)
        shown = (replace(layer, on_axes=True) for layer in _marginals(layers))
        return (*shown, *ring(subject, top), Spots(places, peaks, names, labels, weights))

    return replace(
        drawn,
        exact=on_axes(drawn.exact, _params(subject.exact, public, subject.pair)[0]),
        private=on_axes(drawn.private, params),
        x=x,
        y=Axis("density", (0.0, top)),
        bare=False,
        height=None,
        outside=tuple(_said_wider(int(count), wider.shape[1]) for count in wider.sum(axis=1)),
    )


def _marginals(layers: Sequence[Layer]) -> list[Marginals]:
    return [layer for layer in layers if isinstance(layer, Marginals)]


def _wider(params: Array, x: Axis, y: Axis) -> Mask:
    """Which groups ``(..., 6)`` have less than half of their disc, two standard deviations around
    the centre, in the window; of no fit, none."""
    turn = np.pi * (3.0 - np.sqrt(5.0)) * np.arange(DISC)  # evenly over the disc, as a sunflower's
    radius = 2.0 * np.sqrt((np.arange(DISC) + 0.5) / DISC)
    across, up = radius * np.cos(turn), radius * np.sin(turn)
    mean_x, mean_y, xx, xy, yy, _ = np.moveaxis(params[..., None, :], -1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        sd = np.sqrt(xx)
        lean = np.where(sd > 0.0, xy / sd, 0.0)
        places_x = mean_x + sd * across
        places_y = mean_y + lean * across + np.sqrt(np.maximum(yy - lean**2, 0.0)) * up
    inside = (x.range[0] <= places_x) & (places_x <= x.range[1])
    inside &= (y.range[0] <= places_y) & (places_y <= y.range[1])
    there = np.all(np.isfinite(params), axis=-1)
    return np.asarray((inside.mean(axis=-1) < HALF) & there)


def _said_wider(count: int, groups: int) -> str:
    """How many of the groups' outlines fade."""
    return f"{count} of {groups} groups wider than the window" if count else ""


def _names(exact: Mixture | LabelledMixture, count: int) -> tuple[str, ...]:
    if isinstance(exact, LabelledMixture):
        return tuple(str(name) for name in exact.names[0])
    return tuple(f"group {k + 1}" for k in range(count))


def _exact_outlines(subject: Subject, exact: Array, names: tuple[str, ...]) -> tuple[Ellipses, ...]:
    """The exact groups, two standard deviations out, so that the eye need not jump."""
    if not subject.outlines:
        return ()
    called = tuple(f"exact {name}" for name in names)
    return (
        Ellipses(exact, levels=(2.0,), style="outline", fill=False, centre=False, names=called),
    )


def _called(names: tuple[str, ...], params: Array) -> tuple[Spots, ...]:
    """Classes by their names, written at their centres ``(..., K, 6)``."""
    return (Spots(params[..., 0], params[..., 1], names, labels=names),) if names else ()


def _params(mixture: Mixture, public: PublicFrame, pair: tuple[int, int]) -> Array:
    """``(..., K, 6)``: mean x, mean y, covariance xx, xy, yy, weight, in own units."""
    i, j = pair
    spread, means, shapes = public.half_range, mixture.means, mixture.covariances
    return np.stack(
        [
            own_units(public, means[..., i], i),
            own_units(public, means[..., j], j),
            spread[i] ** 2 * shapes[..., i, i],
            spread[i] * spread[j] * shapes[..., i, j],
            spread[j] ** 2 * shapes[..., j, j],
            mixture.weights,
        ],
        axis=-1,
    )


def _axis(subject: Subject, column: int) -> Axis:
    """Holds the window's groups with room around them, also around a group without width."""
    framed: Mixture = subject.window[0]
    means = framed.means[0, :, column]
    widths = ROOM * np.sqrt(framed.covariances[0, :, column, column])
    room = np.maximum(widths, LEAST_ROOM * np.ptp(means))
    return column_axis(subject, column, float((means - room).min()), float((means + room).max()))


def _place(axis: Axis, value: float) -> str:
    text = place_text(axis, value) if axis.days else show(round(float(value), 1))
    return f"{axis.label} {text}"


def _described(params: Array, names: tuple[str, ...], x: Axis, y: Axis) -> str:
    """Each group in words: share and centre."""
    if not np.all(np.isfinite(params)):
        return NO_FIT
    parts = [
        f"{name}: {p[5]:.0%} at {_place(x, p[0])}, {_place(y, p[1])}"
        for name, p in zip(names, params, strict=True)
    ]
    return "; ".join(parts) + "."


def draw_density(subject: Subject) -> Drawing:
    """The density in the plane of two columns, at the same levels exact and private."""
    usual = draw(subject)
    x, y = usual.x, usual.y
    exact = _params(subject.exact, subject.public, subject.pair)[None]
    private = _params(subject.private, subject.public, subject.pair)[:, :1]
    names = _names(subject.exact, private.shape[2])
    levels = levels_of(exact[0, 0], x.range, y.range)

    def layers(params: Array) -> tuple[Density, Ellipses]:
        return Density(params, levels, names), Ellipses(params, levels=(), names=names)

    below, centres = layers(private)
    exact_below, exact_centres = layers(exact)
    return replace(
        usual,
        exact=(exact_below, *cloud(subject), *ring(subject), exact_centres),
        private=(below, *ring(subject), *_exact_outlines(subject, exact, names), centres),
        key="same levels" + (" · dashed: exact" if subject.outlines else ""),
    )


def draw_marginals(subject: Subject) -> Drawing:
    """The density of each column, over a histogram of the rows where any may be shown."""
    public, fits, best = subject.public, subject.private, subject.exact
    columns = _apart(best)
    axes = [_axis(subject, int(column)) for column in columns]
    ranges = np.array([axis.range for axis in axes])
    steps, _, count = fits.weights.shape
    most = max(1, 1 + MOST_CURVES // (steps * count * len(columns)))
    exact, private = _columns(best, public, columns), _columns(fits, public, columns)
    bars = np.empty(0)
    if subject.rows is not None and len(subject.rows):
        bars = histograms(subject.rows[:, columns], ranges)
    tops = _tops(best.weights[0], exact[0][0], exact[1][0], ranges)
    if bars.size:
        tops = np.maximum(tops, bars.max(axis=1))
    names, days = tuple(axis.label for axis in axes), tuple(axis.days for axis in axes)

    def layer(weights: Array, means: Array, sds: Array, **more: Any) -> Marginals:
        return Marginals(weights, means, sds, ranges, tops, names, days=days, **more)

    true = best.weights[None], exact[0][None], exact[1][None]
    outlines = (layer(*true, style="outline"),) if subject.outlines else ()
    shown = bars if subject.outlines else ()
    return Drawing(
        exact=(layer(*true, bars=bars),),
        private=(
            layer(fits.weights[:, :most], *(array[:, :most] for array in private), bars=shown),
            *outlines,
        ),
        exact_alt=_said_columns(axes, exact[0][0]),
        private_alts=tuple(_said_columns(axes, means) for means in private[0][:, 0]),
        x=Axis("position on each column's own axis", (0.0, 1.0)),
        y=Axis("column", (0.0, len(columns) - 1.0 + TALL + 0.2)),
        bare=True,
        height=max(LEAST_HEIGHT, AROUND + ROW * len(columns)),
        key="dashed: exact" if subject.outlines else "",
    )


def _apart(exact: Mixture) -> Indices:
    """The columns in which exact groups lie farthest apart, in their own order."""
    means = exact.means[0]
    variances = np.diagonal(exact.covariances[0], axis1=1, axis2=2)
    apart = np.var(means, axis=0) / np.mean(variances, axis=0)
    return np.sort(np.argsort(-apart, kind="stable")[:MOST_COLUMNS])


def _columns(mixture: Mixture, public: PublicFrame, columns: Any) -> tuple[Array, Array]:
    """Means and standard deviations ``(..., K, d)`` of some columns, in own units."""
    variances = np.diagonal(mixture.covariances, axis1=-2, axis2=-1)
    means = public.center + public.half_range * mixture.means
    sds = public.half_range * np.sqrt(np.maximum(variances, 0.0))
    return means[..., columns], sds[..., columns]


def _tops(weights: Array, means: Array, sds: Array, ranges: Array) -> Array:
    """The highest density of groups in each column ``(d,)``."""
    return np.array(
        [
            mixed(weights, means[:, i], sds[:, i], np.linspace(ends[0], ends[1], POINTS)).max()
            for i, ends in enumerate(ranges)
        ]
    )


def _said_columns(axes: Sequence[Axis], means: Array) -> str:
    """Where the groups' means ``(K, d)`` are, column by column."""
    if not np.all(np.isfinite(means)):
        return NO_FIT
    columns = (
        f"{axis.label}: means {', '.join(place_text(axis, float(mean)) for mean in column)}"
        for axis, column in zip(axes, means.T, strict=True)
    )
    return "; ".join(columns) + "."


def draw_numbers(subject: Subject) -> Drawing:
    """Share, means, standard deviations and the correlation of each group, in own units."""
    public, (i, j) = subject.public, subject.pair
    columns = np.unique([i, j, *range(public.dim)]) if public.dim <= 12 else np.array([i, j])
    two = public.dim > 1 and i != j

    def numbers(mixture: Any) -> Array:
        means, sds = _columns(mixture, public, columns)  # (..., K, d)
        rows = [mixture.weights[..., None]]
        for place in range(len(columns)):
            rows += [means[..., place, None], sds[..., place, None]]
        if two:
            shapes = mixture.covariances
            sizes = np.sqrt(shapes[..., i, i] * shapes[..., j, j])
            rows.append((shapes[..., i, j] / sizes)[..., None])
        return np.swapaxes(np.concatenate(rows, axis=-1), -1, -2)

    titles = [column_title(public, int(column)) for column in columns]
    names = ["share of the rows"]
    for title in titles:
        names += [f"{title}, mean", f"{title}, sd"]
    if two:
        of = f" of {public.names[i]}, {public.names[j]}" if public.dim > 2 else ""
        names.append(f"correlation{of}")
    exact, private = numbers(subject.exact)[0], numbers(subject.private)
    heads = _names(subject.exact, private.shape[3])
    return number_table.drawing(
        heads, names, exact, private, outlines=subject.outlines, shares=(0,)
    )


def draw_synthetic(subject: Subject) -> Drawing:
    """Rows drawn from the private fit, the same draw at every step, beside exact rows; where no row
    may be shown, beside rows drawn from the exact fit."""
    usual = draw(subject)
    public, pair = subject.public, subject.pair
    exact = _params(subject.exact, public, pair)[None, :1]
    shown = cloud(subject) or (_synthetic(exact[:, 0], "drawn from the exact fit"),)
    private = _synthetic(_params(subject.private, public, pair)[:, 0], "synthetic rows")
    top = 0.0
    if public.dim == 1:
        usual, top = replace(usual, y=Axis("spread vertically for legibility", (0.0, 1.0))), 1.0
        shown, private = tuple(map(_spread_upwards, shown)), _spread_upwards(private)
    return replace(
        usual,
        exact=(*shown, *ring(subject, top)),
        private=(private, *ring(subject, top)),
        key=f"{DRAWN} synthetic rows",
    )


def _spread_upwards(points: Points) -> Points:
    """Points of one column, evenly over the height of the other axis."""
    x = np.asarray(points.x)
    heights = 0.618 * np.arange(1, x.shape[-1] + 1) % 1.0
    return replace(points, y=np.broadcast_to(heights, x.shape))


def _synthetic(params: Array, name: str) -> Points:
    """Rows ``(S, n)`` drawn from Gaussian groups ``(S, K, 6)`` with common random numbers."""
    rng = np.random.default_rng(0)
    share, normals = rng.random(DRAWN), rng.standard_normal((2, DRAWN))
    ends = np.cumsum(np.nan_to_num(params[..., 5]), axis=1)
    group = np.sum(share[:, None] > ends[:, None, :-1], axis=-1)  # (S, n)
    of = np.take_along_axis(params, group[..., None], axis=1)  # (S, n, 6)
    across = np.sqrt(of[..., 2])
    lean = of[..., 3] / across
    up = np.sqrt(np.maximum(of[..., 4] - lean**2, 0.0))
    x = of[..., 0] + across * normals[0]
    return Points(x, of[..., 1] + lean * normals[0] + up * normals[1], opacity=0.5, name=name)


PORTRAIT: Portrait = draw
DENSITY: Portrait = draw_density
MARGINALS: Portrait = draw_marginals
NUMBERS: Portrait = draw_numbers
SYNTHETIC: Portrait = draw_synthetic
