"""The curve of a study: what each stop of a dial buys; of epsilon, a line for each accountant."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from dpcore.arrays import Array
from dpcore.declaration import declaration
from dpcore.evaluation.study import BudgetGrid, Curves, References
from dpcore.evaluation.yardstick import metric_of, yardstick
from dpcore.figures.composition import COLOURS
from dpcore.figures.model_plot import brief
from dpcore.figures.scene import Axis, Cursor, Curve, Mark, Panel, Rule
from dpcore.privacy.guarantee import show, show_delta

Marks = tuple[tuple[float, str], ...]

CURVE = "curve"
SPREAD = 25.0  # of stops, from which their axis is logarithmic


@dataclass(frozen=True)
class DialAxis:
    """A dial as the axis of the curve.

    symbol: its name in tables. title: of the panel. alt: one stop in a sentence, from its text.
    label: of the axis. show: a stop as text.
    """

    symbol: str
    title: str
    alt: str
    label: str
    show: Callable[[float], str] = show
    scale: Literal["linear", "log"] = "log"
    ticks: tuple[float, ...] | None = None


EPSILON = DialAxis(
    "ε",
    "What each ε buys",
    "epsilon {}",
    "ε",
    ticks=(0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0),
)
AXES = {
    "epsilon": EPSILON,
    "delta": DialAxis(
        "δ",
        "What each δ buys",
        "delta {}",
        "δ",
        show=show_delta,
        ticks=tuple(10.0**power for power in range(-12, -1, 2)),
    ),
    "clip": DialAxis(
        "clipping",
        "What each clipping norm buys",
        "clipping {}",
        "clipping norm, as a share of the limits",
        show="{:.2f}".format,
        scale="linear",
        ticks=(0.1, 0.2, 0.4, 0.6, 0.8, 1.0),
    ),
    "noise_multiplier": DialAxis(
        "noise multiplier",
        "What each noise multiplier buys",
        "noise multiplier {}",
        "noise multiplier (standard deviation / sensitivity)",
    ),
    "fitted_rows": DialAxis(
        "n",
        "What each number of rows buys",
        "n = {}",
        "number of rows n",
        show="{:,.0f}".format,
    ),
    "rows_per_person": DialAxis(
        "rows per person",
        "What each number of rows per person buys",
        "{} rows per person",
        "rows per person",
        show="{:.0f}".format,
        ticks=(1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0),
    ),
}


def axis_of(model: str, dial: str) -> DialAxis:
    """The axis of epsilon, delta, clipping, the number of parts, or of an option that the model's
    declaration lets slide."""
    if dial in AXES:
        return AXES[dial]
    if dial == "components":
        parts = declaration(model).parts
        name = f"number of {parts}"
        whole = "{:.0f}".format
        return DialAxis(parts, f"What each {name} buys", f"{name} {{}}", name, whole, "linear")
    dial_of_option = declaration(model).dials()[dial].dial
    assert dial_of_option is not None  # the declaration gives no others
    assert dial_of_option.slide is not None  # a dial that cannot slide has no curve
    slide = dial_of_option.slide
    name = slide.name[:1].lower() + slide.name[1:]
    even = bool(slide.stops) and slide.stops[-1] < SPREAD * slide.stops[0]
    return DialAxis(
        name,
        f"What each {slide.buys} buys",
        f"{name} {{}}",
        name,
        show=str if dial_of_option.form == "%d" else brief,
        scale="linear" if even else "log",
        ticks=slide.stops[:: max(1, len(slide.stops) // 6)] or None,
    )


def buys_panel(
    grid: BudgetGrid,
    references: Sequence[References],
    curves: Curves | None,
    *,
    verdicts: tuple[str, ...],
    unit: str = "person",
    titles: Mapping[str, str] | None = None,
    chosen: str = "exact",
    held: str = "",
    marks: Marks = (),
    judged: str = "",
) -> Panel:
    """Median utility against a dial, with the references as lines and the current point.

    references: one for all stops, or one for each. verdicts: one a stop. unit: who one row is
    about. titles: how a method is called on screen. chosen: the method whose curve is bold. held:
    what the other dials say. marks: stops to mark, each with its label. judged: on which rows
    utility is measured, as the title ends.
    """
    judge, titles = yardstick(grid.model), titles or {}
    wording, metric = judge.wording, metric_of(grid.model, grid.metric)
    heights = _heights(grid, references, curves, falls=metric.falls)
    if metric.falls:  # studies turn what falls; a reader sees it as it is
        grid, references, curves = _turned(grid, references, curves)
        heights = (-heights[1], -heights[0])
        judged = f"{judged} (lower is better)"
    rival = f"{wording.simplest}, private" if judge.fits_rival else wording.simplest
    dial, ends = axis_of(grid.model, grid.dial), (min(grid.stops), max(grid.stops))
    if len(grid.stops) == 1:
        ends = (0.9 * ends[0], 1.1 * ends[1])
    middle = np.median(grid.utility, axis=1)
    high = references[0].converged_utility
    return Panel(
        id=CURVE,
        title=" ".join(f"{dial.title} {judged}".split()),
        subtitle=verdicts,
        alt=tuple(
            f"At {dial.alt.format(dial.show(stop))} "
            + (
                f"the {metric.worth} is {u:.2f} for the median private fit and {high:.2f}"
                if np.isfinite(u)
                else f"there is no private fit; the {metric.worth} is {high:.2f}"
            )
            + f" for the exact fit. {verdict}"
            for stop, u, verdict in zip(grid.stops, middle, verdicts, strict=True)
        ),
        x=Axis(f"{dial.label} {held}".strip(), ends, scale=dial.scale, ticks=dial.ticks),
        y=Axis(metric.axis.format(unit=unit), heights),
        layers=(
            Rule(high, "exact fit (converged)"),
            *_clipped(grid, references),
            *_marks(marks, ends),
            *_rivals(grid, curves, titles, chosen, rival),
            *_own(grid, titles, chosen),
            Cursor(np.array(grid.stops), middle),
        ),
        width="full",
    )


def _turned(
    grid: BudgetGrid, references: Sequence[References], curves: Curves | None
) -> tuple[BudgetGrid, tuple[References, ...], Curves | None]:
    """The same with the metric's own sign."""
    names = [entry.name for entry in fields(References) if entry.name.endswith("_utility")]
    return (
        replace(grid, utility=-grid.utility),
        tuple(
            replace(entry, **{name: -getattr(entry, name) for name in names})
            for entry in references
        ),
        curves
        and replace(
            curves,
            methods={name: -values for name, values in curves.methods.items()},
            single=-curves.single,
        ),
    )


def _heights(
    grid: BudgetGrid, references: Sequence[References], curves: Curves | None, *, falls: bool
) -> tuple[float, float]:
    """What the axis holds: all that is drawn, unless bad fits would flatten the rest; and at least
    a fifth of what the exact fit gains over the limits, so that no small difference looks large.
    Where all fits are so bad, it holds the best of them: an empty picture would say nothing.

    Of rows as even as their limits the limits alone say more than the exact fit: then the worst.
    Where utility falls, the exact fit is the lowest line, and its label may stand below it.
    """
    limits, high = references[0].bounds_utility, references[0].converged_utility
    single = [] if curves is None else [curves.single]
    worst = _least(min(limits, high), np.median(grid.utility, axis=1), *single)
    low, high = (limits, high) if limits < high else (worst, limits)
    span = (high - low) or 1.0
    others = () if curves is None else curves.methods.values()
    lines = [[entry.single_utility, entry.clipped_utility] for entry in references]
    drawn = _least(high, *np.quantile(grid.utility, [0.1, 0.5], axis=1), *lines, *single, *others)
    low = max(worst, low - span / 2, min(drawn, high - span / 5))
    best = float(np.fmax.reduce(np.median(grid.utility, axis=1), initial=-np.inf))
    if -np.inf < best < low:
        low = best - (high - best) / 5
    room = (high - low) or span
    return float(low - 0.06 * room), float(high + (0.26 if falls else 0.1) * room)


def _least(most: float, *values: ArrayLike) -> float:
    """The smallest of some numbers that are there, at most so much."""
    return min(float(np.fmin.reduce(row, axis=None, initial=most)) for row in values)


def _clipped(grid: BudgetGrid, references: Sequence[References]) -> Iterator[Rule | Curve]:
    """Our steps with clipping and without noise: a line, or a curve where clipping is the dial."""
    clips = declaration(grid.model).clips_rows
    label = "same algorithm, clipping but no noise" if clips else "same algorithm, no noise"
    if len({reference.clipped_utility for reference in references}) == 1:
        if not np.isnan(references[0].clipped_utility):
            yield Rule(references[0].clipped_utility, label, side="right")
        return
    heights = np.array([reference.clipped_utility for reference in references])
    yield Curve(*_there(grid, heights), colour=2, dash=1, label=label, name=label)


def _there(grid: BudgetGrid, values: Array) -> tuple[Array, Array]:
    """The stops in order that have a value, and it."""
    order = [i for i in np.argsort(grid.stops) if np.isfinite(values[i])]
    return np.array(grid.stops)[order], values[order]


def _marks(marks: Marks, ends: tuple[float, float]) -> Iterator[Mark]:
    """Marks on the axis; what would stand to its right is told at its end."""
    low, high = ends
    beyond = [(x, label) for x, label in marks if x > high]
    yield from (Mark(x, label) for x, label in marks if low <= x <= high)
    if len(beyond) == 1:
        yield Mark(high, f"{beyond[0][1]}: beyond, at ε = {brief(beyond[0][0])}", dash=5)
    elif beyond:
        yield Mark(high, f"{beyond[0][1]} to {beyond[-1][1]}: beyond ε = {brief(high)}", dash=5)


def _rivals(
    grid: BudgetGrid,
    curves: Curves | None,
    titles: Mapping[str, str],
    chosen: str,
    simplest: str,
) -> Iterator[Curve]:
    """The other composition methods, and the simplest thing to release instead."""
    if curves is None:
        return
    order = np.argsort(grid.stops)
    stops = np.array(grid.stops)[order]
    for name, values in curves.methods.items():
        if name != chosen and np.isfinite(values).any():
            title = titles.get(name, name)
            yield Curve(
                stops,
                values[order],
                colour=COLOURS.get(name, 0),
                label=_says(title, curves.says[name], beyond=_beyond(grid.epsilons, curves, name)),
                name=title,
            )
    yield Curve(*_there(grid, curves.single), colour=5, dash=3, label=simplest, name=simplest)


def _own(grid: BudgetGrid, titles: Mapping[str, str], chosen: str) -> Iterator[Curve]:
    """The chosen composition method: median of the fits, and where eight of ten of them lie."""
    stops = np.array(grid.stops)
    fitted = [i for i in np.argsort(stops) if np.isfinite(grid.noise[i])]
    if not fitted:
        return
    utility = grid.utility[fitted]
    low, high = np.quantile(utility, [0.1, 0.9], axis=1)
    title = titles.get(chosen, chosen)
    yield Curve(
        stops[fitted],
        np.median(utility, axis=1),
        lo=low,
        hi=high,
        colour=COLOURS.get(chosen, 0),
        dash=0,
        label=_says(title, np.array(grid.epsilons), sign="="),
        bold=True,
        name=title,
    )


def _beyond(budgets: Sequence[float], curves: Curves, name: str) -> tuple[str, ...]:
    """What a method states where that is read off no curve: more than the last budget of its own,
    or less than the first. Of budgets that are typed, and outside the axis, nothing is known."""
    epsilons, states = np.array(budgets), np.isfinite(curves.says[name])
    inside = np.isfinite(list(curves.says.values())).any(axis=0)
    own = epsilons[inside & np.isfinite(curves.methods[name])]
    if not states.any() or not own.size:
        return ("",) * len(epsilons)
    more = inside & (epsilons > epsilons[states].max())
    less = inside & (epsilons < epsilons[states].min())
    ends = f"> {show(own.max())}", f"< {show(own.min())}"
    return tuple(ends[0] if m else ends[1] if n else "" for m, n in zip(more, less, strict=True))


def _says(
    title: str, epsilons: Array, sign: str = "≈", beyond: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """What a method states; ``≈`` where it is read off a curve and so is no upper bound."""
    stated = [f"{sign} {show(e)}" if np.isfinite(e) else "" for e in epsilons]
    either = [own or other for own, other in zip(stated, beyond or stated, strict=True)]
    return tuple(f"{title}: ε {number}" if number else title for number in either)
