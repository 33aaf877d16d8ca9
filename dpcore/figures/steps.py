"""What a fit is worth after each step: one line a method, with a band over the noise draws."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from dpcore.figures.scene import Axis, Curve, Panel, Rule, Scene

Array = NDArray[np.float64]


def steps_scene(
    walks: Mapping[str, Array],
    plain: Array,
    *,
    utility: str,
    best: float,
    least: float,
    subtitle: str,
) -> Scene:
    """One panel over the steps.

    walks: a method's title -> utility ``(T, D)`` of T steps and D draws, the chosen method first;
    plain ``(T,)``: the first one's steps without noise. utility: what the axis says. best, least:
    the exact fit, and knowing nothing but the limits.
    """
    steps = np.arange(1.0, 1 + max(len(plain), *map(len, walks.values())))
    layers = [_line(title, found, number) for number, (title, found) in enumerate(walks.items())]
    ends = {title: found[-1] for title, found in walks.items()}
    told = "; ".join(f"{title}: {np.median(end):.3g}" for title, end in ends.items())
    panel = Panel(
        id="steps",
        title="After each step",
        subtitle=subtitle,
        alt=f"{utility} after the last of {len(steps)} steps, the median of draws: {told}; "
        f"without noise {plain[-1]:.3g}, exact fit {best:.3g}.",
        x=Axis("steps taken", (1.0, float(len(steps))), ticks=_ticks(len(steps))),
        y=Axis(utility, _heights(walks, plain, best, least)),
        layers=(
            Rule(best, "exact fit (converged)"),
            Curve(steps[: len(plain)], plain, dash=2, label="without noise", name="without noise"),
            *layers,
        ),
        width="full",
        height=360,
    )
    return Scene(steps=(0.0,), step_labels=("",), panels=(panel,))


def _line(title: str, found: Array, number: int) -> Curve:
    low, middle, high = np.quantile(found, [0.1, 0.5, 0.9], axis=1)
    band = {"lo": low, "hi": high} if number == 0 else {}
    steps = np.arange(1.0, len(found) + 1)
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
    worst = min(float(np.median(one, axis=1).min()) for one in (*walks.values(), plain[:, None]))
    if best <= least:  # rows as even as their limits, which say more than the exact fit
        least, best = min(worst, best), least
    span = (best - least) or 1.0
    return max(worst, least - span / 2) - 0.06 * span, best + 0.1 * span


def _ticks(count: int) -> tuple[float, ...]:
    apart = max(1, -(-count // 10))
    return tuple(float(step) for step in range(1, count + 1) if step == 1 or step % apart == 0)
