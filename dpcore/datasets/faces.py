"""Simulated faces of known rank: a drawn face, and ten ways in which faces differ from it.

Each picture is the mean face plus a random amount of each way plus noise in every pixel: exactly
the model of factor analysis (Bartholomew, Knott and Moustaki 2011, chapter 3). Nobody is shown.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpcore.arrays import Array
from dpcore.checks import whole

WHITE = 255.0
GRAIN = 6.0  # standard deviation of the noise in a pixel, in grey levels
# How far one standard deviation goes in each way that a face can differ, in the units of _drawn.
WAYS = {
    "light": 0.22,
    "tone": 0.12,
    "hair": 0.13,
    "width": 0.07,
    "length": 0.06,
    "eye_gap": 0.05,
    "eye_height": 0.04,
    "brow": 0.15,
    "smile": 1.2,
    "mouth_height": 0.05,
}


@dataclass(frozen=True)
class Faces:
    """What faces were simulated from: a mean ``(d,)``, loadings ``(d, k)`` and a noise, in greys.

    d is height times width; pixels run row by row from the top left.
    """

    mean: Array
    loadings: Array
    noise: float


def faces_like(n: int = 2_000, side: int = 32, *, rng: np.random.Generator) -> tuple[Array, Faces]:
    """n simulated faces ``(n, side * side)`` in whole grey levels 0 to 255, with the truth.

    >>> rows, truth = faces_like(3, 16, rng=np.random.default_rng(0))
    >>> rows.shape, truth.loadings.shape
    ((3, 256), (256, 10))
    """
    truth = truth_of(whole("side", side, least=8))
    amounts = rng.standard_normal((whole("n", n), len(WAYS)))
    grain = truth.noise * rng.standard_normal((n, side * side))
    return np.clip(truth.mean + amounts @ truth.loadings.T + grain, 0, WHITE).round(), truth


def truth_of(side: int) -> Faces:
    """The mean face and the ways faces differ: slopes of the drawing, one way at a time."""
    slopes = [
        (_drawn(side, {way: far}) - _drawn(side, {way: -far})) / 2 for way, far in WAYS.items()
    ]
    return Faces(_drawn(side, {}), np.column_stack(slopes), GRAIN)


def _drawn(side: int, by: dict[str, float]) -> Array:
    """A soft drawing of a face ``(side * side,)`` in grey levels, changed ``by`` some amounts.

    Coordinates run from -1 to 1, to the right and downwards.
    """
    steps = (np.arange(side) + 0.5) / side * 2 - 1
    y, x = np.meshgrid(steps, steps, indexing="ij")
    changed = {way: by.get(way, 0.0) for way in WAYS}
    across, along = 0.66 + changed["width"], 0.86 + changed["length"]
    skin = _inside(np.hypot(x / across, (y - 0.05) / along))
    round_shade = 0.10 * (x / across) ** 2 + 0.06 * (y / along) ** 2
    face = 0.72 + changed["tone"] + changed["light"] * x - round_shade
    face = face - _features(x, y, changed)
    hairline = -0.52 + changed["hair"] + 0.25 * x**2
    hair = _inside(np.hypot(x / (across + 0.10), (y + 0.06) / (along + 0.06)))
    hair = hair / (1 + np.exp((y - hairline) / 0.05))
    grey = 0.42 + skin * (face - 0.42)
    return np.asarray(WHITE * np.clip(grey + hair * (0.18 - grey), 0.05, 0.95)).ravel()


def _features(x: Array, y: Array, by: dict[str, float]) -> Array:
    """How much darker eyes, brows, nose and mouth make each pixel."""
    gap, eyes = 0.27 + by["eye_gap"], -0.12 + by["eye_height"]
    mouth = 0.48 + by["mouth_height"] - by["smile"] * (x**2 - 0.015)
    beside = np.abs(x)  # left and right alike
    return np.asarray(
        0.48 * _blob(beside - gap, y - eyes, 0.075, 0.05)
        + (0.30 + by["brow"]) * _blob(beside - gap, y - eyes + 0.15, 0.13, 0.04)
        + 0.14 * _blob(beside - 0.06, y - 0.2, 0.05, 0.05)
        + 0.07 * _blob(beside - 0.09, y - 0.05, 0.03, 0.16)
        + 0.36 * _blob(x, y - mouth, 0.19, 0.045)
    )


def _inside(distance: Array) -> Array:
    """1 inside the line ``distance = 1``, 0 outside, softly."""
    return np.asarray(1 / (1 + np.exp((distance - 1) / 0.05)))


def _blob(x: Array, y: Array, wide: float, high: float) -> Array:
    return np.asarray(np.exp(-0.5 * ((x / wide) ** 2 + (y / high) ** 2)))
