"""The portrait of a mixture: every group an ellipse, one and two standard deviations out.

Beside the private groups the exact ones are dashed, where they may be seen. Groups with labels are
classes, and have names of their own.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpcore.figures.model_plot import (
    NO_FIT,
    Drawing,
    Portrait,
    Subject,
    cloud,
    column_axis,
    own_units,
    ring,
)
from dpcore.figures.scene import Axis, Ellipses, Spots
from dpcore.models.gaussian_mixture.mathematics import Mixture
from dpcore.models.labelled_mixture.mathematics import LabelledMixture
from dpcore.privacy.guarantee import show
from dpcore.wall.data import PublicFrame

Array = NDArray[np.float64]

ROOM = 3.6  # standard deviations around each exact group that the axes hold


def draw(subject: Subject) -> Drawing:
    """Exact rows and groups; private groups over the faint ones of the other noise draws."""
    x, y = (_axis(subject, column) for column in subject.pair)
    exact = _params(subject.exact, subject.public, subject.pair)[None]
    private = _params(subject.private, subject.public, subject.pair)
    names = _names(subject.exact, private.shape[2])
    ghosts: tuple[Ellipses, ...] = ()
    if private.shape[1] > 1:
        ghosts = (
            Ellipses(
                private[:, 1:], levels=(2.0,), style="ghost", fill=False, centre=False, names=names
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
            Ellipses(private[:, :1], names=names, centre=not called),
            *_called(called, private[:, 0]),
        ),
        exact_alt=_described(exact[0, 0], names, x, y),
        private_alts=tuple(_described(params, names, x, y) for params in private[:, 0]),
        x=x,
        y=y,
        key="dashed: exact" if subject.outlines else "",
    )


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
    """Holds the window's groups with room around them."""
    framed: Mixture = subject.window[0]
    means = framed.means[0, :, column]
    room = ROOM * np.sqrt(framed.covariances[0, :, column, column])
    return column_axis(subject, column, float((means - room).min()), float((means + room).max()))


def _described(params: Array, names: tuple[str, ...], x: Axis, y: Axis) -> str:
    """Each group in words: share and centre."""
    if not np.all(np.isfinite(params)):
        return NO_FIT
    parts = [
        f"{name}: {p[5]:.0%} at {x.label} {show(round(float(p[0]), 1))}, "
        f"{y.label} {show(round(float(p[1]), 1))}"
        for name, p in zip(names, params, strict=True)
    ]
    return "; ".join(parts) + "."


PORTRAIT: Portrait = draw
