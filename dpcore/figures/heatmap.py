"""Numbers as colours, or as bars: blue below zero, orange above; one byte a cell.

A layer of `dpcore.figures.scene`. What is seen has 127 tones on either side of zero, so that is
what is sent.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpcore.arrays import Array
from dpcore.errors import InputError

Text = str | tuple[str, ...]

BLUE, WHITE, ORANGE = "#0072B2", "#FFFFFF", "#D55E00"
TONES = 127  # on either side of zero
MOST_SENT = 200_000  # cells of all steps of a panel: what a browser is sent at once
CARD = 2.6  # width of a card's images over their height, about


@dataclass(frozen=True, eq=False)
class Heat:
    """Images ``values`` (S or 1, images, height, width), coloured from -limit to limit.

    What lies beyond the limit has its colour; NaN has none. ``limit`` and ``label``: one, or one a
    step (S,). ``names``: one an image, for readouts and tables. ``notes``: a word under each,
    (images,), or (S, images) when they move. ``rows``: names of the rows; the images then stand
    side by side as the columns of one table. ``across``: images side by side [all]. ``label``: what
    a value is, with its unit. ``above``: no value can be below zero, so the key begins there.
    ``outlines`` (images, height, 1): the cells of a table are bars from the middle of their column,
    with these drawn as outlines over them; NaN has none. Tables and files hold the tones' values,
    which are whole steps of 1/127 of the limit.
    """

    kind: ClassVar[str] = "heatmap"
    values: ArrayLike
    limit: float | tuple[float, ...]
    label: Text
    names: tuple[str, ...]
    notes: tuple[Any, ...] = ()
    rows: tuple[str, ...] = ()
    across: int = 0
    above: bool = False
    outlines: ArrayLike | None = None

    def __post_init__(self) -> None:
        values = np.asarray(self.values, dtype=float)
        object.__setattr__(self, "values", values)
        if values.ndim != 4 or values.shape[1] != len(self.names):
            raise InputError(
                "heat values",
                f"the shape is {values.shape}",
                "give an array (steps, images, height, width)",
            )
        limits = np.asarray(self.limit, dtype=float)
        if not np.all((limits > 0.0) & (limits < np.inf)):
            raise InputError(
                "heat limit", "a limit is not a finite number above 0", "give limits > 0"
            )
        if limits.size not in (1, len(values)):
            raise InputError(
                "heat limit", "the limits do not match the steps", "give one, or one per step"
            )
        notes = tuple(self.notes) or ("",) * len(self.names)
        moving = not isinstance(notes[0], str)
        if any(
            len(step_notes) != len(self.names) for step_notes in (notes if moving else (notes,))
        ):
            raise InputError(
                "heat notes", "the notes do not match the images", "give one per image"
            )
        object.__setattr__(self, "notes", notes)
        if self.rows and len(self.rows) != values.shape[2]:
            raise InputError(
                "heat rows", "the names do not match the height", "give one name per row"
            )
        object.__setattr__(self, "across", self.across or len(self.names))

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready data; the cells in base64, in the order of their axes."""
        limits, moving = np.atleast_1d(self.limit), isinstance(self.label, tuple)
        steps = range(max(len(limits), len(self.label) if moving else 1))
        ends = tuple(self._ends(step) for step in steps)
        sent = [float(f"{limit:.5g}") for limit in limits]
        data = {
            "shape": np.shape(self.values),
            "cells": _coded(self.values, limits[:, None, None, None]),
            "limit": sent if len(sent) > 1 else sent[0],
            "above": self.above,
            "ends": ends if len(ends) > 1 else ends[0],
            "across": self.across,
            "names": self.names,
            "notes": self.notes,
            "rows": self.rows,
        }
        if self.outlines is not None:
            data["outlines"] = _coded(self.outlines, limits[0])
        return data

    def limit_at(self, step: int) -> float:
        """The limit of a step."""
        limits = np.atleast_1d(self.limit)
        return float(limits[step if len(limits) > 1 else 0])

    def _ends(self, step: int) -> tuple[str, str]:
        """The texts beside the key."""
        limit = self.limit_at(step)
        label = self.label if isinstance(self.label, str) else self.label[step]
        end = f"{limit:.2g}" if limit < 100.0 else f"{limit:.0f}"
        return "0" if self.above else f"−{end}", f"{end} · {label}"


def _coded(values: ArrayLike, limit: float | Array) -> str:
    """Tones in base64, in the order of their axes."""
    return base64.b64encode(tones(values, limit).tobytes()).decode()


def tones(values: ArrayLike, limit: float | Array) -> NDArray[np.uint8]:
    """Values as bytes: 1 is -limit, 128 is 0, 255 is limit; 0 is no number.

    >>> tones([-2.0, -1.0, 0.0, 0.5, np.nan], 1.0)
    array([  1,   1, 128, 192,   0], dtype=uint8)
    """
    array = np.asarray(values, dtype=float)
    share = np.clip(np.nan_to_num(array, nan=0.0, posinf=1e300, neginf=-1e300) / limit, -1.0, 1.0)
    cells = TONES + 1 + np.round(TONES * share)
    return np.where(np.isnan(array), 0.0, cells).astype(np.uint8)


def as_images(truth: Array, private: Array, image: tuple[int, int]) -> tuple[Array, Array]:
    """``(S, d, k)`` as k images, of which squares of pixels are averaged until all steps of them
    are few enough for a browser."""
    step = next(
        s for s in range(1, max(image) + 1) if private.size / s**2 <= MOST_SENT or s == max(image)
    )
    exact_images, private_images = (
        _averaged(np.swapaxes(part, 1, 2), image, step) for part in (truth, private)
    )
    return exact_images, private_images


def _averaged(flat: Array, image: tuple[int, int], step: int) -> Array:
    """Images ``(S, k, h w)`` with squares of ``step`` pixels averaged; odd ends are left out."""
    high, wide = (max(1, side // step) for side in image)
    pixels = flat.reshape(*flat.shape[:2], *image)[..., : high * step, : wide * step]
    split = pixels.reshape(*flat.shape[:2], high, -1, wide, pixels.shape[-1] // wide)
    return np.asarray(split.mean(axis=(3, 5)))


def images_across(count: int, image: tuple[int, int]) -> int:
    """How many images side by side make the largest ones on a card.

    >>> images_across(10, (16, 16)), images_across(3, (16, 16))
    (5, 3)
    """
    high, wide = image

    def size(across: int) -> float:
        return min(CARD / (across * wide), 1.0 / (-(-count // across) * high))

    return max(range(1, count + 1), key=size)
