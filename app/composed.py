"""Slow prices of Compose's presets: kept in a file, so that nobody waits for them.

A line for each preset. What is kept counts only for the list it was worked out for; for any other
one it is worked out when it is asked for.
"""

from __future__ import annotations

import json
from collections.abc import Hashable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from app.composing import Composition

FILE = Path(__file__).with_name("composed.jsonl")


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


def stored(composition: Composition) -> dict[Hashable, StoredPrice]:
    """The kept prices of a list by count and slot; none where other methods are compared."""
    return {} if composition.methods else _records().get(question(composition), {})


@cache
def _records() -> dict[str, dict[Hashable, StoredPrice]]:
    records = map(json.loads, FILE.read_text(encoding="utf-8").splitlines())
    return {
        record["question"]: {
            (count, slot): StoredPrice({slot: [value]}, {slot: [low]})
            for slot, ends in record["prices"].items()
            for count, low, value in ends
        }
        for record in records
    }
