"""Work out anew what Compose keeps of its presets: ``python -m tests.studio.composed [PRESET...]``.

A preset whose noise is Gaussian on the whole table has closed forms, and nothing to keep.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from app.composed import FILE, question
from app.composing import PRESETS, opening
from dpcore.evaluation.composition import COUNTS, price_list, slow_slots


def kept_presets() -> tuple[str, ...]:
    """The presets that have something to keep."""
    lists = {name: opening(name) for name in PRESETS}
    return tuple(
        name for name, preset in lists.items() if slow_slots(preset.events, preset.methods)
    )


def ends(name: str, slot: str, count: int) -> list[float]:
    """A price: count, its lower end, the price."""
    question_at = opening(name)
    prices = price_list(question_at.events, question_at.delta, (count,), only={slot})
    return [count, float(prices.lowers[slot][0]), float(prices.values[slot][0])]


def record_of(name: str) -> dict[str, Any]:
    """The line of a preset."""
    scenario = opening(name)
    counts = sorted({*COUNTS, scenario.k})
    slots = sorted(slow_slots(scenario.events))
    prices = {slot: [ends(name, slot, count) for count in counts] for slot in slots}
    return {"preset": name, "question": question(scenario), "prices": prices}


def main(names: list[str]) -> None:
    """Write the file; with names, only their lines are new."""
    lines = FILE.read_text(encoding="utf-8").splitlines() if FILE.exists() else []
    records = {record["preset"]: record for record in map(json.loads, lines)}
    for name in names or kept_presets():
        records[name] = record_of(name)
    chosen = [json.dumps(records[name]) for name in kept_presets() if name in records]
    FILE.write_text("\n".join(chosen) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
