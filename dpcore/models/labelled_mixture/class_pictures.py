"""A labelled release class by class: sizes, marginals, where its budget goes, and what it is worth.

Marginals stand over a histogram of the exact rows (Liu, Scaglione, Peisert 2025, Figure 7); the
divergence of every way of releasing against epsilon is their Figure 2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpcore.arrays import Array
from dpcore.evaluation.study import BudgetGrid
from dpcore.evaluation.yardstick import mapped
from dpcore.figures.model_plot import NO_FIT, brief, column_title, own_axis, own_units
from dpcore.figures.scene import Axis, Bars, Cursor, Curve, Layer, Panel, Rule, Scene
from dpcore.figures.utility_curve import EPSILON
from dpcore.models.labelled_mixture.mathematics import LabelledMixture
from dpcore.models.labelled_mixture.worth import TITLES, Allocation, Worth, class_divergences
from dpcore.privacy.guarantee import show, show_bound

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
    facts: Classes, pair: tuple[int, int], positions: tuple[int, ...], step: int
) -> Scene:
    """All pictures, which follow the slider of the study."""
    drawn = _drawn(facts.exact)
    columns = dict.fromkeys(pair)
    panels = [_marginal(facts, column, drawn) for column in columns]
    panels.append(_sizes(facts, drawn))
    if facts.division is not None:
        panels.append(_division(facts, facts.division))
    panels += [_divergence(facts), _naming(facts)]
    return Scene(
        steps=facts.grid.epsilons,
        step_labels=tuple(show(e) for e in facts.grid.epsilons),
        panels=tuple(panels),
        positions=positions,
        step=step,
    )


def _drawn(exact: LabelledMixture) -> list[int]:
    """Classes that there is room for, in their own order."""
    largest = np.argsort(-exact.sizes[0], kind="stable")[:MOST]
    return sorted(int(k) for k in largest)


def _marginal(facts: Classes, column: int, drawn: list[int]) -> Panel:
    """One column: histogram of exact rows, exact classes thin and private ones bold."""
    public = facts.grid.public
    own = facts.rows[:, column]
    low, high = (float(v) for v in np.quantile(own, [0.0, 1.0]))
    room = 0.06 * (high - low or float(public.half_range[column]))
    edges = np.linspace(low - room, high + room, BINS + 1)
    per_bin = 100.0 * np.histogram(own, edges)[0] / len(own)
    x = np.linspace(edges[0], edges[-1], POINTS)
    width = float(edges[1] - edges[0])
    exact = 100.0 * width * _densities(facts.exact, facts, column, drawn, x)[0]
    private = 100.0 * width * _densities(_bold(facts), facts, column, drawn, x)
    names = facts.exact.names[0]
    layers: list[Layer] = [
        Curve(np.repeat(edges, 2)[1:-1], np.repeat(per_bin, 2), colour=None, label_at="none")
    ]
    for at, k in enumerate(drawn):
        colour, name = at % 6, str(names[k])
        layers += [
            Curve(x, exact[at], colour=colour, dash=3, label_at="none", name=f"{name}, exact"),
            Curve(x, private[:, at], colour=colour, dash=0, bold=True, label_at="none", name=name),
        ]
    title = column_title(public, column)
    means = own_units(public, _bold(facts).means[:, :, column], column)
    return Panel(
        id=f"marginal_{column}",
        title=public.names[column],
        subtitle="private classes bold, exact ones dotted · grey: all rows",
        alt=tuple(_marginal_told(own_means, names, drawn, title) for own_means in means),
        x=own_axis(public, column, float(edges[0]), float(edges[-1])),
        y=Axis(f"{facts.thing}s (% a bin)", (0.0, 1.15 * max(per_bin.max(), exact.max()))),
        layers=tuple(layers),
        height=280,
    )


def _bold(facts: Classes) -> LabelledMixture:
    """The bold draw at each step, a batch of S."""
    bold: LabelledMixture = mapped(facts.grid.fits, lambda array: array[:, 0])
    return bold


def _densities(
    mixture: LabelledMixture, facts: Classes, column: int, drawn: list[int], x: Array
) -> Array:
    """Density ``(B, k, m)`` of each class kept, times its share, at x in own units."""
    spread = facts.grid.public.half_range[column]
    mean = own_units(facts.grid.public, mixture.means[:, drawn, column], column)[..., None]
    sd = spread * np.sqrt(mixture.covariances[:, drawn, column, column])[..., None]
    share = mixture.weights[:, drawn, None]
    with np.errstate(under="ignore", over="ignore"):
        height = np.exp(-0.5 * ((x - mean) / sd) ** 2) / (sd * np.sqrt(2.0 * np.pi))
    return np.where(
        height < 1e-9 * height.max(initial=0.0, where=height == height), 0.0, share * height
    )


def _marginal_told(means: Array, names: Array, drawn: list[int], title: str) -> str:
    if not np.all(np.isfinite(means)):
        return NO_FIT
    places = "; ".join(f"{names[k]} around {brief(float(means[k]))}" for k in drawn)
    return f"Private classes along {title}: {places}."


def _sizes(facts: Classes, drawn: list[int]) -> Panel:
    """The class table: private sizes as bars, the exact ones and how far off the class is."""
    bold = _bold(facts)
    off = class_divergences(facts.grid, facts.exact)[:, drawn]
    sizes, exact = bold.sizes[:, drawn], facts.exact.sizes[0, drawn]
    names = tuple(str(facts.exact.names[0, k]) for k in drawn)
    labels = tuple(
        tuple(
            f"{size:,.0f}, exactly {true:,.0f}" if np.isfinite(size) else "no fit at this budget"
            for size, true in zip(line, exact, strict=True)
        )
        for line in sizes
    )
    notes = tuple(
        tuple(
            f"off by {show(float(divergence))}" if np.isfinite(divergence) else ""
            for divergence in line
        )
        for line in off
    )
    left = facts.exact.sizes.shape[1] - len(drawn)
    return Panel(
        id="class_sizes",
        title=f"{facts.thing.capitalize()}s of each class",
        subtitle="off by: divergence from the exact class (nats)"
        + (f" · {left} smaller classes not shown" if left else ""),
        alt=tuple(
            "; ".join(f"{name} {label}" for name, label in zip(names, line, strict=True)) + "."
            for line in labels
        ),
        x=Axis(f"{facts.thing}s", (0.0, max(1.0, float(exact.max())))),
        y=Axis("class", (0.0, 1.0)),
        layers=(Bars(sizes, names=names, labels=labels, notes=notes),),
        height=AROUND + ROW * max(len(names), 4),
        bare=True,
    )


def _division(facts: Classes, division: Allocation) -> Panel:
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
        subtitle=f"shares of μ²; ε of each release alone {facts.delta_text}"
        if division.proved
        else "as printed; no privacy is proved",
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
        height=AROUND + ROW * max(len(_drawn(facts.exact)), 4, len(division.names)),
        bare=True,
    )


def _divergence(facts: Classes) -> Panel:
    """Divergence of every way of releasing from the exact classes, with bands."""
    grid = facts.grid
    low, middle, high = _band(facts.away)
    others = _other_ways(facts.worth)
    order = np.argsort(grid.epsilons)
    own = Curve(
        np.array(grid.epsilons)[order],
        _inside(middle[order]),
        lo=_inside(low[order]),
        hi=_inside(high[order]),
        bold=True,
        label=facts.own,
        name=facts.own,
    )
    heights = np.concatenate([np.asarray(curve.y) for curve in (*others, own)])
    heights = heights[np.isfinite(heights)]
    ends = (0.5 * heights.min(initial=1.0), 2.0 * heights.max(initial=1.0))
    return Panel(
        id="divergence",
        title="Divergence of each method's release from the exact classes",
        subtitle=_compared(facts.worth),
        alt=tuple(
            f"At epsilon {show(e)} the divergence of the median release is {show(float(m))}."
            if np.isfinite(m)
            else NO_FIT
            for e, m in zip(grid.epsilons, middle, strict=True)
        ),
        x=Axis(f"ε {facts.delta_text}".strip(), _ends(grid), scale="log", ticks=EPSILON.ticks),
        y=Axis("KL divergence (nats)", ends, scale="log"),
        layers=(*others, own, Cursor(np.array(grid.epsilons), _inside(facts.away[:, 0]))),
        width="full",
        height=300,
    )


def _other_ways(worth: Worth | None) -> list[Curve]:
    """The rivals, if they are worked out."""
    if worth is None:
        return []
    curves = []
    for at, (way, divergence) in enumerate(worth.ways.items()):
        low, middle, high = _band(divergence)
        colour = 1 + at % 5
        curves.append(
            Curve(
                worth.epsilons,
                _inside(middle),
                lo=_inside(low),
                hi=_inside(high),
                colour=colour,
                dash=colour if at < 5 else 0,
                label=TITLES[way],
                name=TITLES[way],
            )
        )
    return curves


def _compared(worth: Worth | None) -> str:
    if worth is None:
        return "comparing…"
    slow = f" · too slow for this many rows: {', '.join(worth.left_out)}" if worth.left_out else ""
    return "bands: the middle 80% of the noise draws" + slow


def _naming(facts: Classes) -> Panel:
    """Share of rows rightly named by the release, and by what its synthetic rows teach."""
    grid = facts.grid
    low, middle, high = (100.0 * share for share in _band(facts.named))
    order = np.argsort(grid.epsilons)
    x = np.array(grid.epsilons)[order]
    most = 100.0 * float(facts.exact.weights.max())
    layers: list[Layer] = [
        Rule(100.0 * facts.best, "the exact classes"),
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
    if facts.worth is not None:
        worth = facts.worth
        lo, mid, hi = (100.0 * share for share in _band(worth.taught))
        taught = f"nearest of {worth.rows:,} synthetic {facts.thing}s"
        layers.append(Curve(worth.epsilons, mid, lo=lo, hi=hi, colour=1, label=taught, name=taught))
        subtitle += (
            f", and by a vote of the nearest synthetic {facts.thing}s (with as many real ones: "
            f"{worth.exact:.0%})"
        )
    layers.append(Cursor(np.array(grid.epsilons), 100.0 * facts.named[:, 0]))
    return Panel(
        id="naming",
        title=f"{facts.thing.capitalize()}s classified correctly",
        subtitle=subtitle,
        alt=tuple(
            f"At epsilon {show(e)} the median release classifies {m:.0f}% of the rows correctly."
            if np.isfinite(m)
            else NO_FIT
            for e, m in zip(grid.epsilons, middle, strict=True)
        ),
        x=Axis(f"ε {facts.delta_text}".strip(), _ends(grid), scale="log", ticks=EPSILON.ticks),
        y=Axis(f"{facts.thing}s (%)", (0.0, 100.0)),
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
