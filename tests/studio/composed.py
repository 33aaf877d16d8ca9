"""Work out anew what Compose keeps of its presets: ``python -m tests.studio.composed [PRESET...]``.

A preset whose noise is Gaussian on the whole table has closed forms but for the noise that a budget
needs.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np

from app.compose_prices import counts_of, slow_of
from app.composed import FILE, PARTS, PICTURES, member, packed, question
from app.composing import PRESETS, opening
from dpcore.errors import NotCovered
from dpcore.evaluation.composition import (
    COUNTS,
    Picture,
    joined,
    picture_of,
    price_list,
    slow_slots,
)


def kept_presets() -> tuple[str, ...]:
    """The presets that have something to keep."""
    lists = {name: opening(name) for name in PRESETS}
    return tuple(name for name, preset in lists.items() if slow_of(preset, preset.epsilon))


def drawn_presets() -> tuple[str, ...]:
    """Those of them whose pictures are kept too."""
    return tuple(name for name in kept_presets() if slow_slots(opening(name).events))


def ends(name: str, slot: str, count: int, target: float | None = None) -> list[float]:
    """A price, or the noise for a target epsilon: count, its lower end, itself."""
    preset = opening(name)
    prices = price_list(preset.events, preset.delta, (count,), epsilon=target, only={slot})
    return [count, float(prices.lowers[slot][0]), float(prices.values[slot][0])]


def record_of(name: str) -> dict[str, Any]:
    """The line of a preset."""
    scenario = opening(name)
    counts = sorted({*COUNTS, scenario.k})
    slots = sorted(slow_slots(scenario.events))
    prices = {slot: [ends(name, slot, count) for count in counts] for slot in slots}
    target = scenario.epsilon
    counts = sorted({*counts_of(scenario, target), scenario.k})
    noises = {
        slot: [ends(name, slot, count, target) for count in counts]
        for slot in sorted(slow_of(scenario, target))
    }
    named = {"preset": name, "question": question(scenario)}
    return named | {"prices": prices, "noises": noises}


def arrays_of(name: str) -> dict[str, Any]:
    """The pictures of a preset, part by part; none of a kind that no theorem gives."""
    scenario, arrays = opening(name), dict[str, Any]()
    counts = sorted({*COUNTS, scenario.k})
    for kind in PARTS:
        try:
            pictures = [picture_of(kind, scenario.events, (count,)) for count in counts]
        except NotCovered:
            continue
        arrays |= named(name, kind, counts, joined(pictures))
    return arrays


def named(name: str, kind: str, counts: list[int], picture: Picture) -> dict[str, Any]:
    """The arrays of a picture under the names that the file has for them."""
    parts = {"counts": np.array(counts)} | packed(picture)
    return {member(opening(name), kind, part): array for part, array in parts.items()}


def main(names: list[str]) -> None:
    """Write the files; with names, only their lines and pictures are new."""
    lines = FILE.read_text(encoding="utf-8").splitlines() if FILE.exists() else []
    records = {record["preset"]: record for record in map(json.loads, lines)}
    for name in names or kept_presets():
        records[name] = record_of(name)
    chosen = [json.dumps(records[name]) for name in kept_presets() if name in records]
    FILE.write_text("\n".join(chosen) + "\n", encoding="utf-8")
    arrays = {}
    if PICTURES.exists():
        with np.load(PICTURES) as file:
            arrays = {key: file[key] for key in file}
    for name in set(drawn_presets()).intersection(names or kept_presets()):
        arrays |= arrays_of(name)
    np.savez_compressed(PICTURES, **arrays)


if __name__ == "__main__":
    main(sys.argv[1:])
