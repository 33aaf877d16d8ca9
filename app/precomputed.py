"""What bundled tables open with: studies that are kept in files, so that nobody waits for them.

A file for each table: its exact fit, its private fits over epsilon and over the dials beside it.
What is kept counts only for the table and the choices it was made with; for all others it is worked
out when it is asked for.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from app import stored
from app.result_store import Data
from dpcore.evaluation.study import BudgetGrid, Curves, References, Setting, Sweep
from dpcore.evaluation.yardstick import scorer_of

FOLDER = Path(__file__).with_name("openings")
DECIMALS = 4  # of a cell by which a table is known: later ones may differ between processors
MODEL = ("model", "components", "covariance", "words")  # on which an exact fit depends
STEPS = (*MODEL, "algorithm", "iterations", "clip", "metric")  # and the other references
EVERY = tuple(part.name for part in fields(Setting) if part.name != "secret")

_marks: dict[str, tuple[Data, str]] = {}


def kept_fit(data: Data, setting: Setting) -> Any | None:
    """The kept exact fit, a batch of one; ``None`` where none is kept of this table and model."""
    references: References | None = _part("references", data, setting, MODEL)
    return None if references is None else references.converged


def kept_references(data: Data, setting: Setting) -> References | None:
    """The kept fit with what a study is held against; ``None`` as above, and for other steps."""
    return _part("references", data, setting, STEPS)


def kept_study(
    data: Data, setting: Setting, budgets: Sequence[float], methods: Sequence[str], draws: int
) -> tuple[BudgetGrid, Curves] | None:
    """The kept private fits at all budgets, with the curves of composition methods; ``None``
    where these are not kept."""
    grid: BudgetGrid | None = _part("grid", data, setting, EVERY)
    if grid is None or grid.stops != tuple(budgets) or grid.utility.shape[1] != draws:
        return None
    curves: Curves | None = _read(_name(data), "curves")
    if curves is None or tuple(curves.methods) != tuple(methods):
        return None
    return grid, curves


def kept_sweep(
    data: Data, setting: Setting, epsilon: float, dial: str, stops: Sequence[float], draws: int
) -> Sweep | None:
    """The kept private fits over a dial beside epsilon, wherever that stands now; ``None`` where
    these are not kept."""
    sweep: Sweep | None = _part(dial, data, setting, EVERY, sliding=dial)
    if sweep is None or sweep.grid.stops != tuple(stops) or sweep.grid.utility.shape[1] != draws:
        return None
    return sweep if set(sweep.grid.epsilons) == {epsilon} else None


def _part(
    name: str, data: Data, setting: Setting, choices: Sequence[str], sliding: str = ""
) -> Any | None:
    """A part of the file of the data, where it was made with the same table and choices.

    sliding: a dial whose value does not matter."""
    if data.provenance == "upload" or setting.secret:
        return None
    opening = _read(_name(data), "opening")
    if opening is None or opening["data"] != data.key:
        return None
    made_with = Setting(**opening["setting"])
    if sliding:
        made_with, setting = (choices_at.at(sliding, 1) for choices_at in (made_with, setting))
    if any(getattr(made_with, choice) != getattr(setting, choice) for choice in choices):
        return None
    part = _read(_name(data), name)
    return part if part is None or opening["table"] == _mark(data, setting) else None


def _name(data: Data) -> str:
    """Of the file: that of the table as it was before rows were held out of it."""
    return data.key.partition("/")[0]


@cache
def _read(table: str, part: str) -> Any | None:
    file = FOLDER / f"{table}.zip"
    return stored.read(file, part) if file.is_file() else None


def _mark(data: Data, setting: Setting) -> str:
    """:func:`mark_of`, once for a table."""
    of, mark = _marks.get(data.key, (None, ""))
    if of is None or of.table is not data.table or of.held_out is not data.held_out:
        mark = mark_of(data, setting)
        _marks[data.key] = data, mark
    return mark


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
