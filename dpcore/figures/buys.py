"""The curve of a study: what each epsilon buys, one line for each way of counting its cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from dpcore.evaluation.study import BudgetGrid, Curves, References
from dpcore.evaluation.yardstick import yardstick
from dpcore.figures.portrait import said
from dpcore.figures.scene import Axis, Cursor, Curve, Mark, Panel, Rule
from dpcore.privacy.guarantee import show

Array = NDArray[np.float64]
Marks = tuple[tuple[float, str], ...]

CURVE = "curve"
TICKS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0)


def buys_panel(
    grid: BudgetGrid,
    references: References,
    curves: Curves | None,
    *,
    verdicts: tuple[str, ...],
    unit: str = "person",
    titles: Mapping[str, str] | None = None,
    chosen: str = "exact",
    delta_text: str = "",
    marks: Marks = (),
) -> Panel:
    """Median utility against epsilon, with the references as lines and the current point.

    verdicts: one a budget. unit: who one row is about. titles: how a method is called on screen.
    chosen: the method whose curve is bold. marks: epsilons to mark, each with its label.
    """
    judge, titles = yardstick(grid.model), titles or {}
    wording = judge.wording
    rival = f"{wording.simplest}, private" if judge.fits_rival else wording.simplest
    ends = min(grid.epsilons), max(grid.epsilons)
    middle = np.median(grid.utility, axis=1)
    high = references.converged_utility
    return Panel(
        id=CURVE,
        title="What each ε buys",
        subtitle=verdicts,
        alt=tuple(
            f"At epsilon {show(e)} the {wording.worth} of the median private fit is {u:.2f}, "
            f"of the exact fit {high:.2f}. {verdict}"
            for e, u, verdict in zip(grid.epsilons, middle, verdicts, strict=True)
        ),
        x=Axis(f"ε {delta_text}".strip(), ends, scale="log", ticks=TICKS),
        y=Axis(wording.utility.format(unit=unit), _heights(references, curves, middle)),
        layers=(
            Rule(high, "exact fit (converged)"),
            Rule(references.clipped_utility, "our steps, clipped, without noise", side="right"),
            *_marks(marks, ends),
            *_rivals(grid, curves, titles, chosen, rival),
            *_own(grid, curves, titles, chosen),
            Cursor(np.array(grid.epsilons), middle),
        ),
        width="full",
    )


def _heights(references: References, curves: Curves | None, middle: Array) -> tuple[float, float]:
    """What the axis holds: the worst fit too, unless that would flatten all the rest.

    Of rows as even as their limits the limits alone say more than the exact fit: then the worst.
    """
    limits, high = references.bounds_utility, references.converged_utility
    worst = np.nanmin(middle, initial=min(limits, high))
    if curves is not None:
        worst = np.nanmin(curves.single, initial=worst)
    low, high = (limits, high) if limits < high else (worst, limits)
    span = (high - low) or 1.0
    low = max(worst, low - span / 2)
    return float(low - 0.06 * span), float(high + 0.1 * (high - low or span))


def _marks(marks: Marks, ends: tuple[float, float]) -> Iterator[Mark]:
    """Marks on the axis; what would stand to its right is told at its end."""
    low, high = ends
    beyond = [(x, label) for x, label in marks if x > high]
    yield from (Mark(x, label) for x, label in marks if low <= x <= high)
    if len(beyond) == 1:
        yield Mark(high, f"{beyond[0][1]}: beyond, at ε = {said(beyond[0][0])}", dash=5)
    elif beyond:
        yield Mark(high, f"{beyond[0][1]} to {beyond[-1][1]}: beyond ε = {said(high)}", dash=5)


def _rivals(
    grid: BudgetGrid,
    curves: Curves | None,
    titles: Mapping[str, str],
    chosen: str,
    simplest: str,
) -> Iterator[Curve]:
    """The other ways of counting, and the simplest thing to release instead."""
    if curves is None:
        return
    order = np.argsort(grid.epsilons)
    epsilons = np.array(grid.epsilons)[order]
    for colour, (name, values) in enumerate(curves.methods.items()):
        if name != chosen and np.isfinite(values).any():
            title = titles.get(name, name)
            yield Curve(
                epsilons,
                values[order],
                colour=colour,
                label=_says(title, curves.says[name]),
                name=title,
            )
    yield Curve(epsilons, curves.single[order], colour=5, dash=3, label=simplest, name=simplest)


def _own(
    grid: BudgetGrid, curves: Curves | None, titles: Mapping[str, str], chosen: str
) -> Iterator[Curve]:
    """The chosen way of counting: median of the fits, and where eight of ten of them lie."""
    epsilons = np.array(grid.epsilons)
    known = [i for i in np.argsort(epsilons) if np.isfinite(grid.noise[i])]
    if not known:
        return
    utility = grid.utility[known]
    low, high = np.quantile(utility, [0.1, 0.9], axis=1)
    names = [] if curves is None else list(curves.methods)
    title = titles.get(chosen, chosen)
    yield Curve(
        epsilons[known],
        np.median(utility, axis=1),
        lo=low,
        hi=high,
        colour=names.index(chosen) if chosen in names else 0,
        dash=0,
        label=_says(title, epsilons, sign="="),
        bold=True,
        name=title,
    )


def _says(title: str, epsilons: Array, sign: str = "≈") -> tuple[str, ...]:
    """What a method states; ``≈`` where it is read off a curve and so is no upper bound."""
    return tuple(f"{title} says ε {sign} {show(e)}" if np.isfinite(e) else title for e in epsilons)
