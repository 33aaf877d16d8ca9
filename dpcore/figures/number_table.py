"""The portrait that is a table: numbers in own units, each with the error that noise adds."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from dpcore.arrays import Array
from dpcore.figures.layers import Cells
from dpcore.figures.model_plot import NO_FIT, Drawing, brief
from dpcore.figures.scene import Axis

LINE, AROUND = 24, 64  # pixels of a row, and of all else on a card
LEAST_HEIGHT = 260
MOST_LINES = 40
FROM_EXACT = "± RMS error of {} draws"
AMONG_DRAWS = "± sd of {} draws"


def drawing(
    heads: Sequence[str],
    names: Sequence[str],
    exact: Array,
    private: Array,
    *,
    outlines: bool,
    shares: Sequence[int] = (),
) -> Drawing:
    """Both panels of a portrait that is a table of numbers.

    exact ``(R, C)``, private ``(S, D, R, C)`` in own units; draw 0 is shown, all draws say how far
    noise moves it. outlines: whether distances from the exact fit may be told. shares: rows that
    are shares.
    """
    drawn = slice(None, MOST_LINES)
    heads, names = tuple(heads), tuple(names)[drawn]
    exact, private = exact[drawn], private[..., drawn, :]
    draws = private.shape[1]
    middle = exact if outlines else private.mean(axis=1, keepdims=True)
    freedom = draws if outlines else max(draws - 1, 1)
    spread = np.sqrt(np.sum((private - middle) ** 2, axis=1) / freedom)  # (S, R, C)

    def text(row: int, value: float, off: float | None = None) -> str:
        if not np.isfinite(value):
            return "–"
        error = None if off is None or not np.isfinite(off) else off
        form = "{:.1%}".format if row in shares else _as_fine_as(error) if error else brief
        number = form(value).replace("-", "−")
        return number if error is None else f"{number} ± {form(error)}"

    def flat(values: Array, errors: Array | None) -> tuple[str, ...]:
        return tuple(
            text(row, float(values[row, k]), None if errors is None else float(errors[row, k]))
            for row in range(len(names))
            for k in range(len(heads))
        )

    steps = tuple(
        flat(values, errors if draws > 1 else None)
        for values, errors in zip(private[:, 0], spread, strict=True)
    )
    exactly = flat(exact, None)
    key = (FROM_EXACT if outlines else AMONG_DRAWS).format(draws) if draws > 1 else ""
    return Drawing(
        exact=(Cells(heads, names, exactly),),
        private=(Cells(heads, names, steps),),
        exact_alt=_told(heads, names, exactly),
        private_alts=tuple(
            _told(heads, names, step) if np.isfinite(values).any() else NO_FIT
            for step, values in zip(steps, private[:, 0], strict=True)
        ),
        x=Axis("column", (0.5, len(heads) + 0.5)),
        y=Axis("number", (0.0, float(len(names)))),
        bare=True,
        height=max(LEAST_HEIGHT, AROUND + LINE * (1 + len(names))),
        key=key,
    )


def _as_fine_as(error: float) -> Callable[[float], str]:
    """Writes a number with as many decimals as two figures of its error have.

    >>> form = _as_fine_as(0.323)
    >>> form(1.0361), form(0.323)
    ('1.04', '0.32')
    """
    decimals = min(max(1 - math.floor(math.log10(error)), 0), 6)
    return f"{{:.{decimals}f}}".format


def _told(heads: tuple[str, ...], names: tuple[str, ...], texts: tuple[str, ...]) -> str:
    """The table in words, column by column."""
    across = len(heads)
    return " ".join(
        f"{head}: "
        + ", ".join(f"{name} {texts[row * across + k]}" for row, name in enumerate(names))
        + "."
        for k, head in enumerate(heads)
    )
