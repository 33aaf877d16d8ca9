"""What a fit is worth after each step, one line a method with a band over the noise draws; and what
each step spends, one column a step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dpcore.arrays import Array
from dpcore.evaluation.steps import Spending
from dpcore.figures.composition import COLOURS
from dpcore.figures.layers import Columns
from dpcore.figures.scene import Axis, Cursor, Curve, Panel, Rule, Scene
from dpcore.privacy.guarantee import show

MOST = 2.5  # times the columns' height, of the axis that holds other methods' lines
LEAST = 0.05  # of what there is to gain, that the axis shows at least


def steps_scene(
    walks: Mapping[str, Array],
    plain: Array,
    *,
    utility: str,
    best: float,
    least: float,
    subtitle: str,
    strip: Panel | None = None,
    falls: bool = False,
    above: Sequence[Panel] = (),
) -> Scene:
    """One panel over the steps, and below it the strip of :func:`spending_strip`, if there is one;
    each step of the first walk is a step of the scene.

    walks: a method's title -> utility ``(T, D)`` of T steps and D draws, the chosen method first;
    plain ``(T,)``: the first one's steps without noise. utility: what the axis says. best, least:
    the exact fit, and knowing nothing but the limits. falls: whether less is better. above: panels
    with the fits after each step.
    """
    steps = np.arange(1.0, 1 + max(len(plain), *map(len, walks.values())))
    first = next(iter(walks.values()))
    taken = np.arange(1.0, 1 + len(first))
    layers = [_line(title, values, number) for number, (title, values) in enumerate(walks.items())]
    ends = {title: values[-1] for title, values in walks.items()}
    medians = "; ".join(f"{title}: {np.median(end):.3g}" for title, end in ends.items())
    heights = _heights(walks, plain, best, least)
    if falls:  # seen from the other side
        turned = {title: -values for title, values in walks.items()}
        low, high = _heights(turned, -plain, -best, -least)
        heights = -high, -low
    panel = Panel(
        id="steps",
        title="After each step",
        subtitle=subtitle,
        alt=f"Median {utility} of the draws after each method's last step: {medians}; "
        f"without noise: {plain[-1]:.3g}; exact fit: {best:.3g}.",
        x=Axis("steps taken", (1.0, float(len(steps))), ticks=_ticks(len(steps))),
        y=Axis(utility, heights),
        layers=(
            Rule(best, "exact fit (converged)"),
            Curve(steps[: len(plain)], plain, dash=2, label="without noise", name="without noise"),
            *layers,
            Cursor(taken, np.median(first, axis=1)),
        ),
        width="full",
        height=360,
    )
    below = () if strip is None else (strip,)
    return Scene(
        steps=tuple(taken),
        step_labels=tuple(f"{step:.0f}" for step in taken),
        panels=(*above, panel, *below),
        step=len(taken) - 1,
        symbol="step",
    )


def spending_strip(
    spent: Spending,
    utilities: Array,
    *,
    method: str,
    clipped: Sequence[str],
    worth: str,
    pick: str = "",
    titles: Mapping[str, str] | None = None,
    badge: str = "",
) -> Panel:
    """What each step spends: a column as high as epsilon so far, the step's own epsilon inside, and
    a line for epsilon so far by each other method.

    utilities ``(T,)``: after each step. method: that composes. clipped: what each step clips, in
    words. worth: what a utility is called. pick: what a picked step is read under; empty: none can
    be. titles: what other methods are called. badge: behind the subtitle.
    """
    steps = np.arange(1.0, 1 + len(spent.so_far))
    others = {name: values for name, values in spent.others.items() if np.isfinite(values).any()}
    top = 1.12 * float(np.max(spent.so_far))
    highest = max((float(np.nanmax(values)) for values in others.values()), default=top)

    def in_words(step: int) -> str:
        sensitivity, noise = (
            ", ".join(dict.fromkeys(map(show, releases[step])))
            for releases in (spent.sensitivity, spent.noise)
        )
        alone, so_far = show(spent.alone[step]), show(spent.so_far[step])
        worth_now = show(float(utilities[step]))
        return (
            f"Step {step + 1}: sensitivity {sensitivity}; noise / sensitivity {noise}; "
            f"{clipped[step]}; ε of this step {alone}, so far {so_far}{by_others(step)}; "
            f"{worth} so far {worth_now}." + (" Click to stop here." if pick else "")
        ).replace(" -", " −")

    def by_others(step: int) -> str:
        parts = (f"{called(name)} {show(values[step])}" for name, values in others.items())
        return f" ({', '.join(parts)})" if others else ""

    def called(name: str) -> str:
        return (titles or {}).get(name, name)

    names = tuple(map(in_words, range(len(steps))))
    return Panel(
        id="spending",
        title="What each step spends",
        subtitle=f"ε so far, composed by {method}; dark: ε of the step alone{badge}",
        alt=" ".join(names),
        x=Axis("steps taken", (0.5, len(steps) + 0.5), ticks=_ticks(len(steps))),
        y=Axis("ε so far", (0.0, max(top, min(1.04 * highest, MOST * top)))),
        layers=(
            Columns(steps, spent.so_far, spent.alone, names, pick),
            *(
                Curve(
                    steps,
                    values,
                    colour=COLOURS.get(name, 0),
                    label=f"{called(name)}: {show(values[-1])}",
                    name=called(name),
                )
                for name, values in others.items()
            ),
        ),
        width="full",
        height=240,
    )


def _line(title: str, values: Array, number: int) -> Curve:
    low, middle, high = np.quantile(values, [0.1, 0.5, 0.9], axis=1)
    band = {"lo": low, "hi": high} if number == 0 else {}
    steps = np.arange(1.0, len(values) + 1)
    return Curve(
        steps,
        middle,
        **band,
        colour=number,
        label=title,
        name=title,
        bold=number == 0,
    )


def _heights(
    walks: Mapping[str, Array], plain: Array, best: float, least: float
) -> tuple[float, float]:
    """From the worst median to the exact fit; below what the limits alone tell there is nothing to
    compare, so half as far again must do."""
    worst = min(
        float(np.median(values, axis=1).min()) for values in (*walks.values(), plain[:, None])
    )
    if best <= least:  # rows as even as their limits, which say more than the exact fit
        least, best = min(worst, best), least
    span = (best - least) or 1.0
    lowest = max(worst, least - span / 2)
    margin = max(best - lowest, LEAST * span)
    return lowest - 0.06 * margin, best + 0.1 * margin


def _ticks(count: int) -> tuple[float, ...]:
    apart = max(1, -(-count // 10))
    return tuple(float(step) for step in range(1, count + 1) if step == 1 or step % apart == 0)
