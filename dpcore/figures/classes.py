"""A labelled release class by class: sizes, marginals, where its budget goes, and what it is worth.

Marginals stand over a histogram of the exact rows (Liu, Scaglione, Peisert 2025, Figure 7); the
divergence of every way of releasing against epsilon is their Figure 2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpcore.evaluation.classes import Allocation, Worth, class_divergences
from dpcore.evaluation.study import BudgetGrid
from dpcore.evaluation.yardstick import mapped
from dpcore.figures.model_plot import NO_FIT, column_title, own_units, said
from dpcore.figures.scene import Axis, Bars, Cursor, Curve, Layer, Panel, Rule, Scene
from dpcore.figures.utility_curve import EPSILON
from dpcore.models.labelled_mixture.mathematics import LabelledMixture
from dpcore.privacy.guarantee import show, show_bound

Array = NDArray[np.float64]

BINS, POINTS = 30, 61
MOST = 8  # classes that are drawn: the largest exact ones
ROW, AROUND = 44, 70  # pixels of a bar, and of all else on its card
LEAST, LARGEST = 1e-3, 1e3  # divergences that are drawn
LOW, HIGH = 0.1, 0.9  # of noise draws in a band


@dataclass(frozen=True)
class Classes:
    """What the pictures are made of.

    exact: the exact classes, a batch of one. rows ``(n, d)``: exact ones in own units. away and
    named ``(S, D)``: divergence of each release from the exact classes, and the share of rows whose
    class it names rightly; best: that of the exact classes. worth: ``None`` until it is worked out.
    own: what the study's way of releasing is called. delta_text: beside epsilon on an axis.
    """

    grid: BudgetGrid
    exact: LabelledMixture
    rows: Array
    away: Array
    named: Array
    best: float
    division: Allocation | None
    worth: Worth | None
    own: str
    thing: str = "row"
    delta_text: str = ""


def classes_scene(
    known: Classes, pair: tuple[int, int], positions: tuple[int, ...], step: int
) -> Scene:
    """All pictures, which follow the slider of the study."""
    kept = _drawn(known.exact)
    columns = dict.fromkeys(pair)
    panels = [_marginal(known, column, kept) for column in columns]
    panels.append(_sizes(known, kept))
    if known.division is not None:
        panels.append(_division(known, known.division))
    panels += [_divergence(known), _naming(known)]
    return Scene(
        steps=known.grid.epsilons,
        step_labels=tuple(show(e) for e in known.grid.epsilons),
        panels=tuple(panels),
        positions=positions,
        step=step,
    )


def _drawn(exact: LabelledMixture) -> list[int]:
    """Classes that there is room for, in their own order."""
    largest = np.argsort(-exact.sizes[0], kind="stable")[:MOST]
    return sorted(int(k) for k in largest)


def _marginal(known: Classes, column: int, kept: list[int]) -> Panel:
    """One column: histogram of exact rows, exact classes thin and private ones bold."""
    public = known.grid.public
    own = known.rows[:, column]
    low, high = (float(v) for v in np.quantile(own, [0.0, 1.0]))
    room = 0.06 * (high - low or float(public.half_range[column]))
    edges = np.linspace(low - room, high + room, BINS + 1)
    per_bin = 100.0 * np.histogram(own, edges)[0] / len(own)
    x = np.linspace(edges[0], edges[-1], POINTS)
    width = float(edges[1] - edges[0])
    exact = 100.0 * width * _densities(known.exact, known, column, kept, x)[0]
    private = 100.0 * width * _densities(_bold(known), known, column, kept, x)
    names = known.exact.names[0]
    layers: list[Layer] = [
        Curve(np.repeat(edges, 2)[1:-1], np.repeat(per_bin, 2), colour=None, label_at="none")
    ]
    for at, k in enumerate(kept):
        colour, name = at % 6, str(names[k])
        layers += [
            Curve(x, exact[at], colour=colour, dash=3, label_at="none", name=f"{name}, exact"),
            Curve(x, private[:, at], colour=colour, dash=0, bold=True, label_at="none", name=name),
        ]
    title = column_title(public, column)
    return Panel(
        id=f"marginal_{column}",
        title=public.names[column],
        subtitle="private classes bold, exact ones dotted, over all rows",
        alt=tuple(_marginal_told(one, names, kept, title) for one in _means(known, column)),
        x=Axis(title, (float(edges[0]), float(edges[-1]))),
        y=Axis(f"{known.thing}s (% a bin)", (0.0, 1.15 * max(per_bin.max(), exact.max()))),
        layers=tuple(layers),
        height=280,
    )


def _bold(known: Classes) -> LabelledMixture:
    """The bold draw at each step, a batch of S."""
    found: LabelledMixture = mapped(known.grid.fits, lambda one: one[:, 0])
    return found


def _densities(
    mixture: LabelledMixture, known: Classes, column: int, kept: list[int], x: Array
) -> Array:
    """Density ``(B, k, m)`` of each class kept, times its share, at x in own units."""
    spread = known.grid.public.half_range[column]
    mean = own_units(known.grid.public, mixture.means[:, kept, column], column)[..., None]
    sd = spread * np.sqrt(mixture.covariances[:, kept, column, column])[..., None]
    share = mixture.weights[:, kept, None]
    with np.errstate(under="ignore", over="ignore"):
        height = np.exp(-0.5 * ((x - mean) / sd) ** 2) / (sd * np.sqrt(2.0 * np.pi))
    return np.where(
        height < 1e-9 * height.max(initial=0.0, where=height == height), 0.0, share * height
    )


def _means(known: Classes, column: int) -> Array:
    return own_units(known.grid.public, _bold(known).means[:, :, column], column)


def _marginal_told(means: Array, names: Array, kept: list[int], title: str) -> str:
    if not np.all(np.isfinite(means)):
        return NO_FIT
    told = "; ".join(f"{names[k]} around {said(float(means[k]))}" for k in kept)
    return f"Private classes along {title}: {told}."


def _sizes(known: Classes, kept: list[int]) -> Panel:
    """The class table: private sizes as bars, the exact ones and how far off the class is."""
    bold = _bold(known)
    off = class_divergences(known.grid, known.exact)[:, kept]
    sizes, exact = bold.sizes[:, kept], known.exact.sizes[0, kept]
    names = tuple(str(known.exact.names[0, k]) for k in kept)
    labels = tuple(
        tuple(
            f"{size:,.0f}, exactly {true:,.0f}" if np.isfinite(size) else "no fit at this budget"
            for size, true in zip(line, exact, strict=True)
        )
        for line in sizes
    )
    notes = tuple(
        tuple(f"off by {show(float(one))}" if np.isfinite(one) else "" for one in line)
        for line in off
    )
    left = known.exact.sizes.shape[1] - len(kept)
    return Panel(
        id="class_sizes",
        title=f"{known.thing.capitalize()}s of each class",
        subtitle="divergence of its Gaussian from the exact one"
        + (f" · {left} smaller classes not shown" if left else ""),
        alt=tuple(
            "; ".join(f"{name} {label}" for name, label in zip(names, line, strict=True)) + "."
            for line in labels
        ),
        x=Axis(f"{known.thing}s", (0.0, max(1.0, float(exact.max())))),
        y=Axis("class", (0.0, 1.0)),
        layers=(Bars(sizes, names=names, labels=labels, notes=notes),),
        height=AROUND + ROW * max(len(names), 4),
        bare=True,
    )


def _division(known: Classes, division: Allocation) -> Panel:
    """Where the budget goes: a bar for each release, and what it would cost alone."""
    written = show_bound if division.proved else show
    labels = tuple(
        tuple(
            f"{share:.0%}, alone ε = {written(float(alone))}" if np.isfinite(share) else "no fit"
            for share, alone in zip(shares, alones, strict=True)
        )
        for shares, alones in zip(division.shares, division.alone, strict=True)
    )
    return Panel(
        id="division",
        title="Where the budget goes",
        subtitle=f"shares of μ²; each ε alone {known.delta_text}"
        if division.proved
        else "as printed: nothing about it is proved",
        alt=tuple(
            "; ".join(f"{n} {label}" for n, label in zip(division.names, line, strict=True)) + "."
            for line in labels
        ),
        x=Axis("share of the budget", (0.0, 1.0)),
        y=Axis("release", (0.0, 1.0)),
        layers=(
            Bars(
                division.shares,
                names=division.names,
                labels=labels,
                notes=division.notes,
                colours=(0,) * len(division.names),
            ),
        ),
        height=AROUND + ROW * max(len(_drawn(known.exact)), 4, len(division.names)),
        bare=True,
    )


def _divergence(known: Classes) -> Panel:
    """Divergence of every way of releasing from the exact classes, with bands."""
    grid = known.grid
    low, middle, high = _band(known.away)
    others = _other_ways(known.worth)
    order = np.argsort(grid.epsilons)
    own = Curve(
        np.array(grid.epsilons)[order],
        _inside(middle[order]),
        lo=_inside(low[order]),
        hi=_inside(high[order]),
        bold=True,
        label=known.own,
        name=known.own,
    )
    seen = np.concatenate([np.asarray(curve.y) for curve in (*others, own)])
    seen = seen[np.isfinite(seen)]
    ends = (0.5 * seen.min(initial=1.0), 2.0 * seen.max(initial=1.0))
    return Panel(
        id="divergence",
        title="Distance of each release method from the exact classes",
        subtitle=_compared(known.worth),
        alt=tuple(
            f"At epsilon {show(e)} the divergence of the median release is {show(float(m))}."
            for e, m in zip(grid.epsilons, middle, strict=True)
        ),
        x=Axis(f"ε {known.delta_text}".strip(), _ends(grid), scale="log", ticks=EPSILON.ticks),
        y=Axis("KL divergence (nats)", ends, scale="log"),
        layers=(*others, own, Cursor(np.array(grid.epsilons), _inside(known.away[:, 0]))),
        width="full",
        height=300,
    )


def _other_ways(worth: Worth | None) -> list[Curve]:
    """The rivals, if they are worked out."""
    if worth is None:
        return []
    curves = []
    for at, way in enumerate(worth.ways):
        low, middle, high = _band(way.divergence)
        colour = 1 + at % 5
        curves.append(
            Curve(
                worth.epsilons,
                _inside(middle),
                lo=_inside(low),
                hi=_inside(high),
                colour=colour,
                dash=colour if at < 5 else 0,
                label=way.title,
                name=way.title,
            )
        )
    return curves


def _compared(worth: Worth | None) -> str:
    if worth is None:
        return "comparing…"
    slow = f" · too slow for so many rows: {', '.join(worth.left_out)}" if worth.left_out else ""
    return "bands: the middle 80% of the noise draws" + slow


def _naming(known: Classes) -> Panel:
    """Share of rows rightly named by the release, and by what its synthetic rows teach."""
    grid = known.grid
    low, middle, high = (100.0 * one for one in _band(known.named))
    order = np.argsort(grid.epsilons)
    x = np.array(grid.epsilons)[order]
    most = 100.0 * float(known.exact.weights.max())
    layers: list[Layer] = [
        Rule(100.0 * known.best, "the exact classes"),
        Rule(most, "always the largest class", side="right"),
        Curve(
            x,
            middle[order],
            lo=low[order],
            hi=high[order],
            bold=True,
            label="the released classes",
            name="the released classes",
        ),
    ]
    subtitle = "by the most likely released class"
    if known.worth is not None:
        worth = known.worth
        lo, mid, hi = (100.0 * one for one in _band(worth.taught))
        taught = f"nearest of {worth.rows:,} synthetic {known.thing}s"
        layers.append(Curve(worth.epsilons, mid, lo=lo, hi=hi, colour=1, label=taught, name=taught))
        subtitle += (
            f", and by a vote of the nearest synthetic {known.thing}s (with as many exact ones: "
            f"{worth.exact:.0%})"
        )
    layers.append(Cursor(np.array(grid.epsilons), 100.0 * known.named[:, 0]))
    return Panel(
        id="naming",
        title=f"{known.thing.capitalize()}s whose class is named rightly",
        subtitle=subtitle,
        alt=tuple(
            f"At epsilon {show(e)} the median release names {m:.0f}% rightly."
            if np.isfinite(m)
            else NO_FIT
            for e, m in zip(grid.epsilons, middle, strict=True)
        ),
        x=Axis(f"ε {known.delta_text}".strip(), _ends(grid), scale="log", ticks=EPSILON.ticks),
        y=Axis(f"{known.thing}s (%)", (0.0, 100.0)),
        layers=tuple(layers),
        width="full",
    )


def _ends(grid: BudgetGrid) -> tuple[float, float]:
    return min(grid.epsilons), max(grid.epsilons)


def _band(numbers: Array) -> tuple[Array, Array, Array]:
    """Lower end, median and upper end over draws ``(S, D)``; NaN where any draw is."""
    low, middle, high = np.quantile(numbers, [LOW, 0.5, HIGH], axis=1)
    return low, middle, high


def _inside(numbers: Array) -> Array:
    """Divergences as they are drawn: what is beyond the picture stands at its edge."""
    return np.where(np.isfinite(numbers), np.clip(numbers, LEAST, LARGEST), np.nan)
