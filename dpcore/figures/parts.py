"""What each number of parts buys: utility of private and exact fits against it. A number can be
picked."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dpcore.arrays import Array
from dpcore.declaration import Metric
from dpcore.figures.columns import Columns
from dpcore.figures.scene import Axis, Curve, Mark, Panel
from dpcore.privacy.guarantee import show


def parts_panel(
    private: Mapping[int, Array],
    exact: Mapping[int, float],
    *,
    parts: str,
    metric: Metric,
    unit: str,
    now: int,
    subtitle: str = "",
    pick: str = "",
) -> Panel:
    """Median utility of private fits over their draws, with a band that holds 8 of 10, and that of
    the exact fit, against the number of parts.

    private: utility ``(D,)`` of D draws by number of parts; exact: likewise. Utilities fall where
    the metric does. parts: what a model has several of. unit: who one row is about. now: the number
    in use, which is marked. pick: what a picked place is read under; empty: none can be.
    """
    counts = np.array(sorted(private), dtype=float)
    draws = np.stack([private[int(count)] for count in counts])
    low, middle, high = np.quantile(draws, [0.1, 0.5, 0.9], axis=1)
    best = np.array([exact[int(count)] for count in counts])
    held = np.concatenate([middle, best])
    room = 0.1 * (float(np.ptp(held)) or 1.0)
    names = tuple(
        f"{count:.0f} {parts}: {metric.worth} of the private fit {show(float(value))}, of the "
        f"exact fit {show(float(reached))}." + (" Click to take them." if pick else "")
        for count, value, reached in zip(counts, middle, best, strict=True)
    )
    end, nothing = max(2.0, counts[-1]), np.full_like(counts, np.nan)
    return Panel(
        id="parts",
        title=f"What each number of {parts} buys",
        subtitle=subtitle,
        alt=" ".join(names),
        x=Axis(f"number of {parts}", (counts[0] - 0.5, end + 0.5), ticks=_ticks(counts)),
        y=Axis(metric.axis.format(unit=unit), (held.min() - room, held.max() + room)),
        layers=(
            Mark(float(now), "now"),
            Curve(counts, best, colour=5, dash=2, label="exact fit", name="exact fit"),
            Curve(
                counts,
                middle,
                lo=low,
                hi=high,
                label="private fit",
                name="private fit",
                bold=True,
            ),
            Columns(counts, nothing, nothing, names, pick),
        ),
        width="full",
        height=240,
    )


def _ticks(counts: Array) -> tuple[float, ...]:
    """The numbers that were fitted, as far as their labels have room."""
    return tuple(
        float(count) for count in counts if counts[-1] <= 12.0 or count in (1, 5, 10, 20, 30, 50)
    )
