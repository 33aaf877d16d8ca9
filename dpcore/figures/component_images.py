"""Parts that are one number a column each, private beside exact: images, a table, or word lists.

Factors, topics and hidden units are such parts. All are drawn on one scale, the exact ones', but
for parts with a scale of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from dpcore.arrays import Array, Indices
from dpcore.figures.heatmap import Heat, as_images, images_across
from dpcore.figures.model_plot import NO_FIT, Drawing, brief
from dpcore.figures.ranked import ACROSS, Ranked
from dpcore.figures.scene import Axis

MOST_ROWS = 50  # columns of a table that are drawn: those with the largest exact numbers
ROW, AROUND = 13, 110  # pixels of a row, and of all else on a card
LEAST_HEIGHT = 340
LOW = 260  # of two rows of images
BELOW = 20  # pixels under an image for its word
LARGEST = 3  # numbers named in words
LONGEST = 24  # letters of a column's name on a card
LONG, SHORT = 10, 7  # words of a list: where all lists stand side by side, and where not
ALIGNED = "{:.0%} aligned"
UNSEEN, UNSEEN_IN_WORDS = "not seen", "not visible at this noise level"
BLANK = "blank in the exact fit"
VISIBLE = 0.5  # cosine with the exact part (60 degrees) from which a private one is seen
WIDTH = 520  # pixels of a card's images, about
LINE, HEAD = 17, 56  # pixels of a word, and of a list's heading


@dataclass(frozen=True)
class Parts:
    """k parts over d columns.

    exact ``(d, k)``, private ``(S, d, k)``, in what ``label`` says. part: what one is. columns: the
    names of the d. verb: what a part does to a column, "moves". likeness ``(S, k)``: how like each
    private part is to the exact one, told by ``note`` on the card and ``alike`` in words; below
    ``least`` it is not seen. above: no number can be below zero. own_scale: private parts fill the
    colours up to their own largest number.
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
    above: bool = False
    least: float = -np.inf
    own_scale: bool = False

    def likeness_text(self, likeness: float) -> str:
        """How like the exact part a private one is; nothing without a fit or with a blank part."""
        if not np.isfinite(likeness):
            return ""
        return UNSEEN if likeness < self.least else self.note.format(likeness)

    def alike_text(self, likeness: float) -> str:
        """The same in a sentence."""
        if not np.isfinite(likeness):
            return BLANK
        return UNSEEN_IN_WORDS if likeness < self.least else self.alike.format(likeness)

    def unseen(self) -> tuple[str, ...]:
        """How many parts are not seen, one text a budget."""
        count = self.exact.shape[1]
        lost = np.sum(np.nan_to_num(self.likeness, nan=np.inf) < self.least, axis=1)
        return tuple(f"{k} of {count} {UNSEEN_IN_WORDS}" if k else "" for k in lost)


def aligned(
    exact: Array,
    private: Array,
    label: str,
    part: str,
    columns: Sequence[str],
    verb: str,
    *,
    own_scale: bool = False,
) -> Parts:
    """Parts that are as like the exact ones as their directions are: exact ``(d, k)``, private
    ``(S, d, k)``; see :class:`Parts`."""
    return Parts(
        exact,
        private,
        label,
        part,
        columns,
        verb,
        likeness=cosines(private, exact),
        note=ALIGNED,
        alike="cosine {:.2f} with the exact one",
        least=VISIBLE,
        own_scale=own_scale,
    )


def drawing(
    parts: Parts,
    image: tuple[int, int] | None,
    most: int = MOST_ROWS,
    *,
    bars: bool = False,
    outlines: bool = True,
) -> Drawing:
    """Both panels; image: height and width where the columns are pixels. most: rows of a table;
    bars: that its numbers are bars, not colours; outlines: that the exact ones may be seen over
    the private ones."""
    count, total = parts.exact.shape[1], parts.exact.shape[0]
    names = tuple(f"{parts.part} {k + 1}" for k in range(count))
    limit, label = float(np.max(np.abs(parts.exact), initial=0.0)) or 1.0, parts.label
    if image is None:
        drawn = largest(parts.exact, most)
        views = (as_table(parts.exact[None, drawn]), as_table(parts.private[:, drawn]))
        rows = tuple(short(parts.columns[i]) for i in drawn)
        height, across = max(LEAST_HEIGHT, AROUND + ROW * len(drawn)), count
        none = np.full(views[0][0].shape, np.nan)
        edges = (none, views[0][0] if outlines else none) if bars else (None, None)
        if len(drawn) < total:
            label += f", largest {len(drawn)} of {total} columns"
    else:
        views = as_images(parts.exact[None], parts.private, image)
        rows, edges, across = (), (None, None), images_across(count, image)
        tall = WIDTH / across * image[0] / image[1] + BELOW
        height = min(LEAST_HEIGHT, round(AROUND / 1.3 + tall * -(-count // across)))
    numbers = tuple(str(k + 1) for k in range(count))
    notes = tuple(
        tuple(f"{k} · {text}" if text else k for k, text in zip(numbers, step, strict=True))
        for step in (
            tuple(map(parts.likeness_text, step_likeness)) for step_likeness in parts.likeness
        )
    )
    own, own_label = _own_scale(parts, limit, label)
    if bars and outlines and image is None:
        own_label += " · outlines: exact"
    same = rows, across, parts.above
    return Drawing(
        exact=(Heat(views[0], limit, label, names, numbers, *same, edges[0]),),
        private=(Heat(views[1], own, own_label, names, notes, *same, edges[1]),),
        exact_alt=described(parts, table=image is None),
        private_alts=tuple(
            compared(parts, private, likeness, table=image is None)
            for private, likeness in zip(parts.private, parts.likeness, strict=True)
        ),
        x=Axis(parts.part, (0.5, count + 0.5)),
        y=Axis("column" if image is None else "pixel row", (0.0, float(views[0].shape[2]))),
        bare=True,
        height=height,
        outside=parts.unseen(),
    )


def _own_scale(parts: Parts, limit: float, label: str) -> tuple[Any, str]:
    """The end of the private parts' scale, one a budget, and what it says."""
    if not parts.own_scale:
        return limit, label
    largest_ones = np.max(np.abs(np.nan_to_num(parts.private)), axis=(1, 2))
    return tuple(np.where(largest_ones > 0.0, largest_ones, limit)), f"{label}, own scale"


def given_back(
    rows: Array, exact: Array, private: Array, image: tuple[int, int], limit: float, label: str
) -> Drawing:
    """Rows that are pictures above what fits make of them.

    rows, exact ``(n, d)``, private ``(S, n, d)``: from the lowest value up, at most ``limit``, in
    what ``label`` says.
    """
    count = len(rows)
    names = tuple(f"row {i + 1}" for i in range(count))
    both = (*names, *(f"{name}, reconstructed" for name in names))
    steps = np.concatenate([np.broadcast_to(rows, private.shape), private], axis=1)
    still = np.concatenate([rows, exact])[None]
    true, tiles = as_images(np.swapaxes(still, 1, 2), np.swapaxes(steps, 1, 2), image)

    def described_fit(fit: Array) -> str:
        if not np.isfinite(fit).all():
            return NO_FIT
        off = float(np.abs(fit - rows).mean())
        return (
            f"{count} rows, each above its reconstruction, with a mean absolute error of "
            f"{brief(off)}."
        )

    def heat(values: Array) -> Heat:
        return Heat(values, limit, label, both, ("",) * len(both), across=count, above=True)

    return Drawing(
        exact=(heat(true),),
        private=(heat(tiles),),
        exact_alt=described_fit(exact),
        private_alts=tuple(map(described_fit, private)),
        x=Axis("row", (0.5, count + 0.5)),
        y=Axis("pixel row", (0.0, float(image[0]))),
        bare=True,
        height=LOW,
        key="above: exact rows, below: reconstructed",
    )


def cosines(private: Array, truth: Array) -> Array:
    """Cosine ``(S, k)`` of the angle between parts ``(S, d, k)`` and ``(d, k)``; 0 for none."""
    lengths = np.linalg.norm(private, axis=1) * np.linalg.norm(truth, axis=0)
    return np.asarray(np.sum(private * truth, axis=1) / np.where(lengths > 0.0, lengths, 1.0))


def largest(exact: Array, most: int) -> Indices:
    """The columns to draw, at most ``most``, of an exact fit ``(d, k)``: those with the largest
    numbers, in the table's order."""
    size = np.linalg.norm(exact, axis=-1)
    return np.sort(np.argsort(-size, kind="stable")[:most])


def as_table(numbers: Array) -> Array:
    """``(S, d, k)`` as k images, each one column of a table: ``(S, k, d, 1)``."""
    return np.swapaxes(numbers, 1, 2)[..., None]


def short(name: str) -> str:
    """A column's name as a card has room for it: names of one table often differ in their ends.

    >>> short("monthly_expenditure_on_heating"), short("monthly_expenditure_on_food")
    ('monthly_expendi…_heating', 'monthly_expendi…_on_food')
    """
    end = LONGEST // 3
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1 - end]}…{name[-end:]}"


def described(parts: Parts, *, table: bool = True) -> str:
    """Each exact part in words: the columns it moves most. Pixels have no names to say."""
    if not table:
        return f"{parts.exact.shape[1]} {parts.part}s as images."
    sentences = (
        f"{parts.part} {k + 1} {parts.verb} {_most(parts.columns, column)}"
        for k, column in enumerate(parts.exact.T)
    )
    return "; ".join(sentences) + "."


def compared(parts: Parts, private: Array, likeness: Array, *, table: bool = True) -> str:
    """Each private part, a column of ``(d, k)``, in words: how like the exact one it is, by its
    likeness ``(k,)``, and what it moves most."""
    if not np.all(np.isfinite(private)):
        return NO_FIT
    sentences = (
        f"{parts.part} {k + 1}: {parts.alike_text(alike)}"
        + (f", {parts.verb} {_most(parts.columns, column)}" if table else "")
        for k, (alike, column) in enumerate(zip(likeness, private.T, strict=True))
    )
    return "; ".join(sentences) + "."


def _most(columns: Sequence[str], numbers: Array) -> str:
    """The largest numbers of a part, with their columns."""
    order = np.argsort(-np.abs(numbers), kind="stable")[:LARGEST]
    return ", ".join(f"{columns[i]} {brief(float(numbers[i]))}" for i in order)


def top(weights: Array, length: int) -> Indices:
    """Places ``(..., K, T)`` of the largest weights ``(..., V, K)`` of each part, largest first."""
    by_part = np.swapaxes(np.nan_to_num(weights), -1, -2)
    return np.argsort(-by_part, axis=-1, kind="stable")[..., :length]


def ranked_drawing(parts: Parts, *, outlines: bool = True) -> Drawing:
    """Both panels: the exact lists beside the private ones; outlines: as of :func:`drawing`."""
    exact, private = parts.exact, parts.private
    count = exact.shape[1]
    length = min(LONG if count <= ACROSS else SHORT, len(parts.columns))
    picks, other = top(exact[None], length), top(private, length)
    listed = np.unique(np.concatenate([picks.ravel(), other.ravel()]))
    words = tuple(str(parts.columns[i]) for i in listed)
    names = tuple(f"{parts.part} {k + 1}" for k in range(count))
    limits = tuple(float(largest_one) for largest_one in np.max(exact, axis=0))
    there = picks[..., None] == other[:, :, None, :]  # (S, K, T, T)
    right = there.any(axis=-2).sum(axis=-1)
    notes = tuple(
        tuple(
            f"{n} of {length} right" if np.isfinite(alike) else ""
            for n, alike in zip(counts, step, strict=True)
        )
        for counts, step in zip(right, parts.likeness, strict=True)
    )
    of_exact = np.take_along_axis(exact.T[None].repeat(len(other), 0), other, axis=-1)
    height = AROUND // 2 + -(-count // ACROSS) * (HEAD + LINE * length)

    def layer(
        chosen: Indices,
        weights: Array,
        marked: Any,
        texts: tuple[Any, ...],
        under: Array | None = None,
    ) -> Ranked:
        values = np.take_along_axis(np.swapaxes(weights, -1, -2), chosen, axis=-1)
        at = np.searchsorted(listed, chosen)
        return Ranked(words, at, values, marked, names, texts, limits, parts.label, under)

    return Drawing(
        exact=(layer(picks, exact[None], there.any(axis=-1), ("",) * count),),
        private=(layer(other, private, there.any(axis=-2), notes, of_exact if outlines else None),),
        exact_alt=described(parts),
        private_alts=tuple(map(partial(compared, parts), private, parts.likeness)),
        x=Axis(parts.part, (0.5, count + 0.5)),
        y=Axis("word", (0.0, float(length))),
        bare=True,
        height=height,
        key="bold: in both lists" + (" · outlines: exact" if outlines else ""),
    )
