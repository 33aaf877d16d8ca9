"""Parts that are one number a column each, private beside exact: small images, or one table.

Factors, topics and hidden units are such parts. All are drawn on one scale, the exact ones'.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpcore.figures.heat import Heat, as_images, images_across
from dpcore.figures.portrait import NO_FIT, Drawing, said
from dpcore.figures.scene import Axis

Array = NDArray[np.float64]

MOST_ROWS = 50  # columns of a table that are drawn: those with the largest exact numbers
ROW, AROUND = 13, 110  # pixels of a row, and of all else on a card
LEAST_HEIGHT = 340
LARGEST = 3  # numbers named in words
LONGEST = 24  # letters of a column's name on a card


@dataclass(frozen=True)
class Parts:
    """k parts over d columns.

    exact ``(d, k)``, private ``(S, d, k)``, in what ``label`` says. part: what one is. columns: the
    names of the d. verb: what a part does to a column, "moves". likeness ``(S, k)``: how like each
    private part is to the exact one, told by ``note`` on the card and ``alike`` in words. above: no
    number can be below zero. rows: which columns a table shows, in this order [those with the
    largest exact numbers, in their own].
    """

    exact: Array
    private: Array
    label: str
    part: str
    columns: Sequence[str]
    verb: str
    likeness: Array
    note: str
    alike: str
    column: str = "column"
    above: bool = False
    rows: Sequence[int] | None = None


def drawing(parts: Parts, image: tuple[int, int] | None, most: int = MOST_ROWS) -> Drawing:
    """Both panels; image: height and width where the columns are pixels. most: rows of a table."""
    count, total = parts.exact.shape[1], parts.exact.shape[0]
    names = tuple(f"{parts.part} {k + 1}" for k in range(count))
    limit, label = float(np.max(np.abs(parts.exact), initial=0.0)) or 1.0, parts.label
    if image is None:
        kept = largest(parts.exact, most) if parts.rows is None else np.array(parts.rows)
        views = (as_table(parts.exact[None, kept]), as_table(parts.private[:, kept]))
        rows = tuple(short(parts.columns[i]) for i in kept)
        height, across = max(LEAST_HEIGHT, AROUND + ROW * len(kept)), count
        if len(kept) < total:
            which = "largest" if parts.rows is None else "top"
            label += f", {which} {len(kept)} of {total} {parts.column}s"
    else:
        views = as_images(parts.exact[None], parts.private, image)
        rows, height, across = (), LEAST_HEIGHT, images_across(count, image)
    numbers = tuple(str(k + 1) for k in range(count))
    notes = tuple(
        tuple(_note(k, one, parts.note) for k, one in zip(numbers, step, strict=True))
        for step in parts.likeness
    )
    return Drawing(
        exact=(Heat(views[0], limit, label, names, numbers, rows, across, parts.above),),
        private=(Heat(views[1], limit, label, names, notes, rows, across, parts.above),),
        exact_alt=_described(parts, table=image is None),
        private_alts=tuple(
            _compared(parts, private, likeness, table=image is None)
            for private, likeness in zip(parts.private, parts.likeness, strict=True)
        ),
        x=Axis(parts.part, (0.5, count + 0.5)),
        y=Axis(parts.column if image is None else "pixel row", (0.0, float(views[0].shape[2]))),
        bare=True,
        height=height,
    )


def cosines(private: Array, truth: Array) -> Array:
    """Cosine ``(S, k)`` of the angle between parts ``(S, d, k)`` and ``(d, k)``; 0 for none."""
    lengths = np.linalg.norm(private, axis=1) * np.linalg.norm(truth, axis=0)
    return np.asarray(np.sum(private * truth, axis=1) / np.where(lengths > 0.0, lengths, 1.0))


def largest(exact: Array, most: int) -> Array:
    """The columns to draw, in their own order: all, or those with the largest numbers."""
    size = np.linalg.norm(exact, axis=-1)
    return np.sort(np.argsort(-size, kind="stable")[:most])


def as_table(numbers: Array) -> Array:
    """``(S, d, k)`` as k images, each one column of a table: ``(S, k, d, 1)``."""
    return np.swapaxes(numbers, 1, 2)[..., None]


def short(name: str) -> str:
    """A column's name as a card has room for it."""
    return name if len(name) <= LONGEST else name[: LONGEST - 1] + "…"


def _note(number: str, likeness: float, note: str) -> str:
    if not np.isfinite(likeness):
        return number
    return f"{number} · {note.format(likeness)}".replace("-", "−")


def _described(parts: Parts, *, table: bool) -> str:
    """Each exact part in words: the columns it moves most. Pixels have no names to say."""
    if not table:
        return f"{parts.exact.shape[1]} {parts.part}s as images."
    told = (
        f"{parts.part} {k + 1} {parts.verb} {_most(parts.columns, column)}"
        for k, column in enumerate(parts.exact.T)
    )
    return "; ".join(told) + "."


def _compared(parts: Parts, private: Array, likeness: Array, *, table: bool) -> str:
    """Each private part in words: how like the exact one it is, and what it moves most."""
    if not np.all(np.isfinite(private)):
        return NO_FIT
    told = (
        f"{parts.part} {k + 1}: {parts.alike.format(one)}"
        + (f", {parts.verb} {_most(parts.columns, column)}" if table else "")
        for k, (one, column) in enumerate(zip(likeness, private.T, strict=True))
    )
    return "; ".join(told) + "."


def _most(columns: Sequence[str], numbers: Array) -> str:
    """The largest numbers of a part, with their columns."""
    order = np.argsort(-np.abs(numbers), kind="stable")[:LARGEST]
    return ", ".join(f"{columns[i]} {said(float(numbers[i]))}" for i in order)
