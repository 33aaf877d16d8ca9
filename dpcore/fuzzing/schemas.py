"""Public descriptions at random: bounds of any size, categories, labels, targets, balls."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpcore.fuzzing.cells import WORDS, pick
from dpcore.fuzzing.typed import is_whole
from dpcore.schema import Ball, Column, Image, Schema

Span = tuple[float, float]

WILD = 0.1  # how often bounds are so far out that most fits refuse them


@dataclass(frozen=True)
class Needs:
    """What a model asks of a schema.

    last: the column beside the features, ``label`` | ``yes`` | ``number`` or none. own: it computes
    in the data's own units, so most bounds should be near 1. gaps: a missing cell may be its
    business. numbers: every column is a number; array: and has no name but its place. pictures:
    they are pixels. box: every column has bounds of its own; counts: from 0 on.
    """

    last: str | None = None
    own: bool = False
    gaps: bool = False
    numbers: bool = False
    array: bool = False
    pictures: bool = False
    box: bool = False
    counts: bool = False


def spans(schema: Schema) -> dict[str, Span]:
    """About where honest numbers of each column lie."""
    ball = schema.ball
    intervals = {}
    for place, column in enumerate(schema.columns):
        low, high = column.low, column.high
        if not math.isfinite(low) and ball is not None and place < len(ball.center):
            low, high = ball.center[place] - ball.radius, ball.center[place] + ball.radius
        intervals[column.name] = (low, high) if math.isfinite(low) else (0.0, 1.0)
    return intervals


def random_schema(rng: np.random.Generator, needs: Needs) -> Schema:
    """A schema that suits a model; its features are called x1, x2, ..., the last column y."""
    if needs.pictures:
        image = Image(2 * int(rng.integers(1, 3)), 2 * int(rng.integers(1, 3)))
        return Schema(image.columns(0, 255), image=image)
    width = int(rng.integers(1, 7))
    wild = rng.random() < WILD
    features = [_feature(rng, f"x{place + 1}", needs, wild) for place in range(width)]
    ball = None
    may_be_round = not (needs.own or needs.box)
    if rng.random() < 0.12 and may_be_round and all(c.type == "number" for c in features):
        ball = _ball(rng, width)
        features = [Column(c.name) if rng.random() < 0.7 else c for c in features]
    last = [] if needs.last is None else [_last(rng, needs, wild)]
    if needs.array:
        last = [replace(column, name=f"x{width + 1}") for column in last]
    if last == [] and not needs.numbers and rng.random() < 0.2:
        last = [Column("y", role="ignore")]
    rows = int(rng.choice([1, 1, 1, 2, 3]))
    return Schema((*features, *last), rows_per_person=rows, ball=ball)


def bounds(rng: np.random.Generator, *, own: bool, wild: bool) -> Span:
    """Two public ends. own: mostly near 1; wild: of any size that a number has."""
    kind = int(rng.integers(12 if wild else 4 if own else 10))
    size = float(10.0 ** rng.uniform(-2.0, 3.0))
    low, high = {
        0: (0.0, 10.0),
        1: (-1.0, 1.0),
        2: (0.0, 1.0),
        3: (-size, size),
        4: (float(rng.uniform(-1e3, 0.0)), float(rng.uniform(0.0, 1e3))),
        5: (1.7e18, 1.7e18 + 8192.0),
        6: (-110.0, -40.0),
        7: (1e9, 1e9 + 1e-3),
        8: _of_size(rng, -70.0, 70.0),
        9: (0.0, 110.0),
        10: _of_size(rng, 70.0, 300.0),
        11: _of_size(rng, -300.0, -70.0),
    }[kind]
    return low, high


def _of_size(rng: np.random.Generator, least: float, most: float) -> Span:
    size = float(10.0 ** rng.uniform(least, most))
    return (-size, size) if rng.random() < 0.5 else (0.0, size)


def _feature(rng: np.random.Generator, name: str, needs: Needs, wild: bool) -> Column:
    if not needs.numbers and rng.random() < 0.2:
        return Column(name, type="category", categories=pick(rng, WORDS))
    if rng.random() < 0.1:
        return Column(name, type="binary")
    low, high = bounds(rng, own=needs.own, wild=wild)
    if needs.counts:
        low, high = 0.0, high - low
    missing: Any = None
    if rng.random() < 0.3:
        missing = low + 0.25 * (high - low)
    elif needs.gaps and rng.random() < 0.7:
        missing = "role"
    return Column(name, lower=low, upper=high, missing=missing)


def _last(rng: np.random.Generator, needs: Needs, wild: bool) -> Column:
    if needs.last == "number":
        low, high = bounds(rng, own=needs.own, wild=wild)
        return Column("y", role="target", lower=low, upper=high)
    role = "label" if needs.last == "label" else "target"
    kind = int(rng.integers(3))
    if kind == 0 or (needs.numbers and kind == 1):
        return Column("y", role=role, type="binary")
    if kind == 2 and role == "label":
        return Column("y", role=role, lower=0, upper=int(rng.integers(1, 4)))
    whole = [words for words in WORDS if all(map(is_whole, words))]
    words = pick(rng, whole if needs.numbers else WORDS)
    return Column("y", role=role, type="category", categories=words[: 2 if role == "target" else 3])


def _ball(rng: np.random.Generator, width: int) -> Ball:
    low, high = bounds(rng, own=False, wild=False)
    center = float(low + 0.5 * (high - low))
    return Ball((center,) * width, (high - low) * float(rng.uniform(0.3, 3.0)))
