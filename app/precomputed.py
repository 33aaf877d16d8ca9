"""Exact fits with which bundled tables open: kept in a file, so that nobody waits for them.

A line for each table. What is kept counts only for the table and the choices it was made with; for
all others it is worked out when it is asked for.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from app.result_store import Data
from dpcore.evaluation.study import References, Setting
from dpcore.evaluation.yardstick import scorer_of

FILE = Path(__file__).with_name("kept.jsonl")
DECIMALS = 4  # of a cell by which a table is known: later ones may differ between processors


def kept_fit(data: Data, setting: Setting) -> Any | None:
    """The kept exact fit, a batch of one; ``None`` where none is kept of this table and model."""
    record = _record(data, setting)
    return None if record is None else _fit_of(record)


def kept_references(data: Data, setting: Setting) -> References | None:
    """The kept fit with what a study is held against; ``None`` as above, and for other steps."""
    record = _record(data, setting)
    if record is None or record["steps"] != steps_of(setting):
        return None
    return References(converged=_fit_of(record), **record["numbers"])


def _record(data: Data, setting: Setting) -> dict[str, Any] | None:
    record = _records().get(data.key)
    if record is None or data.provenance == "upload" or record["model"] != model_of(setting):
        return None
    return record if record["table"] == mark_of(data, setting) else None


@cache
def _records() -> dict[str, dict[str, Any]]:
    lines = FILE.read_text(encoding="utf-8").splitlines()
    return {record["data"]: record for record in map(json.loads, lines)}


def _fit_of(record: Mapping[str, Any]) -> Any:
    module, name = record["kind"]
    parts = {part: np.array(cells) for part, cells in record["fit"].items()}
    return getattr(import_module(module), name)(**parts)


def model_of(setting: Setting) -> list[Any]:
    """The choices on which an exact fit depends, as they stand in the file."""
    words = [list(pair) for pair in setting.words]
    return [setting.model, setting.components, setting.covariance, words]


def steps_of(setting: Setting) -> list[Any]:
    """Those on which the other references depend as well."""
    return [setting.algorithm, setting.iterations, setting.clip, setting.metric]


def mark_of(data: Data, setting: Setting) -> str:
    """Tells tables apart by the rows on which fits are judged."""
    digest = hashlib.sha256()
    for judged in (None, data.held_out)[: 1 if data.held_out is None else 2]:
        for cells in _cells(
            scorer_of(setting.model, data.table, setting.options(), held_out=judged)
        ):
            digest.update((np.round(cells, DECIMALS) + 0.0).tobytes())  # there is one zero
    return digest.hexdigest()[:16]


def _cells(part: Any) -> Iterator[Any]:
    """Every array of numbers in it."""
    if isinstance(part, np.ndarray) and part.dtype.kind in "if":
        yield part
    elif is_dataclass(part):
        for field in fields(part):
            yield from _cells(getattr(part, field.name))
