"""Slow prices and pictures of Compose's presets: kept in files, so that nobody waits for them.

Of prices a line for each preset, of pictures an array for each part. What is kept counts only for
the list it was worked out for; for any other one it is worked out when it is asked for.
"""

from __future__ import annotations

import json
from collections.abc import Hashable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from app.composing import Composition
from dpcore.evaluation.composition import (
    ALARMS,
    DELTAS,
    EPSILONS,
    Attack,
    Loss,
    Picture,
    Profile,
    ways,
)

FILE = Path(__file__).with_name("composed.jsonl")
PICTURES = FILE.with_suffix(".npz")
PARTS = {"profile": ("epsilons",), "attack": ("misses",), "loss": ("ends", "density", "deltas")}
_BITS = 11  # of a number in the file: a relative error of 0.05% at most
_LEAST = 1e-37  # of a positive one


@dataclass(frozen=True)
class StoredPrice:
    """A price as :class:`dpcore.evaluation.composition.Prices` has it: of one count and slot."""

    values: dict[str, list[float]]
    lowers: dict[str, list[float]]


def question(composition: Composition) -> str:
    """What a price depends on besides its count."""
    return " ".join(
        ["_".join(map(str, composition.lines)), repr(composition.delta), composition.adjacency]
    )


def stored(composition: Composition, target: float | None = None) -> dict[Hashable, StoredPrice]:
    """The kept prices of a list by count and slot, or with a target epsilon the noise for it; none
    where other methods are compared."""
    if composition.methods:
        return {}
    return _records().get((question(composition), target), {})


@cache
def _records() -> dict[tuple[str, float | None], dict[Hashable, StoredPrice]]:
    records = map(json.loads, FILE.read_text(encoding="utf-8").splitlines())
    return {
        (record["question"], target): {
            (count, slot): StoredPrice({slot: [value]}, {slot: [low]})
            for slot, ends in record[part].items()
            for count, low, value in ends
        }
        for record in records
        for part, target in (("prices", None), ("noises", Composition.epsilon))
    }


# ---------------------------------------------------------------- pictures


def stored_pictures(name: str, composition: Composition) -> dict[Hashable, Picture]:
    """The kept pictures of a list by count: upper bounds a little above, lower ones below."""
    if name not in PARTS or (name == "profile" and composition.methods):
        return {}
    return _pictures(name, composition.lines, composition.adjacency)


@cache
def _pictures(name: str, lines: Any, adjacency: str) -> dict[Hashable, Picture]:
    composition = Composition(lines=lines, adjacency=adjacency)
    with np.load(PICTURES) as file:
        if member(composition, name, "counts") not in file:
            return {}
        counts = file[member(composition, name, "counts")].tolist()
        parts = [file[member(composition, name, part)].astype(float) for part in PARTS[name]]
    slots = [way.slot for way in ways(composition.events)]
    return {
        count: unpacked(name, [part[i : i + 1] for part in parts], slots)
        for i, count in enumerate(counts)
    }


def member(composition: Composition, name: str, part: str) -> str:
    """Name of an array: what a picture depends on besides its count, and which part it is."""
    listed = "_".join(map(str, composition.lines))
    return f"{listed} {composition.adjacency} {name} {part}"


def packed(picture: Picture) -> dict[str, Any]:
    """The parts of a picture of some counts as short numbers, rounded to the safe side. Raises
    TypeError for a picture of another kind."""
    match picture:
        case Profile():
            return {"epsilons": _short(np.stack([*picture.epsilons.values()], axis=1), np.ceil)}
        case Attack():
            return {"misses": _short(picture.misses, np.floor)}
        case Loss():
            return {
                "ends": picture.losses[:, [0, -1]],
                "density": _short(picture.density, np.rint),
                "deltas": np.minimum(_short(picture.deltas, np.ceil), np.float32(1.0)),
            }
    raise TypeError(type(picture).__name__)


def unpacked(name: str, parts: list[Any], slots: list[str]) -> Picture:
    """The picture again, from its parts."""
    if name == "profile":
        return Profile(DELTAS, {slot: parts[0][:, i] for i, slot in enumerate(slots)})
    if name == "attack":
        return Attack(ALARMS, parts[0])
    ends, density, deltas = parts
    losses = np.linspace(ends[:, 0], ends[:, 1], density.shape[1], axis=1)
    return Loss(losses, density, EPSILONS, deltas)


def _short(values: Any, towards: Any) -> Any:
    """Numbers of few bits, which a file packs well."""
    mantissa, exponent = np.frexp(np.where(values > 0.0, np.maximum(values, _LEAST), values))
    return np.ldexp(towards(mantissa * 2.0**_BITS) / 2.0**_BITS, exponent).astype(np.float32)
