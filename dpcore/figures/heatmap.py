"""Numbers as colours: blue below zero, orange above, the page's ground between; one byte a cell.

A layer of `dpcore.figures.scene`. What is seen has 127 tones on either side of zero, so that is
what is sent.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpcore.errors import InputError

Array = NDArray[np.float64]

BLUE, WHITE, ORANGE = "#0072B2", "#FFFFFF", "#D55E00"
TONES = 127  # on either side of zero
MOST_SENT = 200_000  # cells of all steps of a panel: what a browser is sent at once
CARD = 2.3  # width of a card's images over their height, about


@dataclass(frozen=True, eq=False)
class Heat:
    """Images ``values`` (S or 1, images, height, width), coloured from -limit to limit.

    What lies beyond the limit has its colour; NaN has none. ``names``: one an image, for readouts
    and tables. ``notes``: a word under each, (images,), or (S, images) when they move. ``rows``:
    names of the rows; the images then stand side by side as the columns of one table. ``across``:
    images side by side [all]. ``label``: what a value is, with its unit. ``above``: no value can be
    below zero, so the key begins there. Tables and files hold the tones' values, which are whole
    steps of 1/127 of the limit.
    """

    kind: ClassVar[str] = "heatmap"
    values: ArrayLike
    limit: float
    label: str
    names: tuple[str, ...]
    notes: tuple[Any, ...] = ()
    rows: tuple[str, ...] = ()
    across: int = 0
    above: bool = False

    def __post_init__(self) -> None:
        values = np.asarray(self.values, dtype=float)
        object.__setattr__(self, "values", values)
        if values.ndim != 4 or values.shape[1] != len(self.names):
            raise InputError(
                "heat values", f"the shape is {values.shape}", "give (steps, images, height, width)"
            )
        if not 0.0 < self.limit < np.inf:
            raise InputError("heat limit", "it is not a finite number above 0", "give limit > 0")
        notes = tuple(self.notes) or ("",) * len(self.names)
        moving = not isinstance(notes[0], str)
        if any(
            len(step_notes) != len(self.names) for step_notes in (notes if moving else (notes,))
        ):
            raise InputError("heat notes", "they do not match the images", "give one an image")
        object.__setattr__(self, "notes", notes)
        if self.rows and len(self.rows) != values.shape[2]:
            raise InputError("heat rows", "they do not match the height", "give one name per row")
        object.__setattr__(self, "across", self.across or len(self.names))

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready data; the cells in base64, in the order of their axes."""
        low = "0" if self.above else f"−{self.limit:.2g}"
        return {
            "shape": np.shape(self.values),
            "cells": base64.b64encode(tones(self.values, self.limit).tobytes()).decode(),
            "limit": float(f"{self.limit:.5g}"),
            "above": self.above,
            "ends": (low, f"{self.limit:.2g} · {self.label}"),
            "across": self.across,
            "names": self.names,
            "notes": self.notes,
            "rows": self.rows,
        }


def tones(values: ArrayLike, limit: float) -> NDArray[np.uint8]:
    """Values as bytes: 1 is -limit, 128 is 0, 255 is limit; 0 is no number.

    >>> tones([-2.0, -1.0, 0.0, 0.5, np.nan], 1.0)
    array([  1,   1, 128, 192,   0], dtype=uint8)
    """
    array = np.asarray(values, dtype=float)
    share = np.clip(np.nan_to_num(array, nan=0.0, posinf=limit, neginf=-limit) / limit, -1.0, 1.0)
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
