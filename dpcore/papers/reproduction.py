"""What a regenerated figure or table is: rows, one finding computed from them, and its axes."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from dpcore.checks import one_of, whole
from dpcore.errors import InputError
from dpcore.registry import PAPERS, load

Row = dict[str, Any]


def _quiet(share: float) -> None:
    """Nobody listens."""


@dataclass(frozen=True)
class Ask:
    """How a reproduction is wanted.

    data: the folder with the real data sets; by default ``DPCORE_SHARED/data``. draws, splits:
    noise draws of each split, and random splits; ``None`` for the usual number. say: told the
    share that is done.
    """

    data: Path | None = None
    draws: int | None = None
    splits: int | None = None
    say: Callable[[float], None] = _quiet

    def drawn(self, usual: int) -> int:
        """Noise draws of each split."""
        return usual if self.draws is None else whole("draws", self.draws)

    def split(self, usual: int) -> int:
        """Random splits."""
        return usual if self.splits is None else whole("splits", self.splits)

    def file(self, name: str) -> Path:
        """A real data set. Raises InputError where it is not there."""
        home = self.data
        if home is None and "DPCORE_SHARED" in os.environ:
            home = Path(os.environ["DPCORE_SHARED"]) / "data"
        if home is None or not (home / name).is_file():
            raise InputError(
                "data", f"{name} is not there", "name the folder that holds it with --data FOLDER"
            )
        return home / name

    def array(self, name: str, key: str, dtype: type = float) -> NDArray[Any]:
        """An array of a real data set. Raises InputError where it cannot be read."""
        path = self.file(name)
        try:
            with np.load(path) as archive:
                return np.asarray(archive[key], dtype=dtype)
        except (OSError, EOFError, ValueError, KeyError, BadZipFile):
            raise InputError(
                "data", f"{name} holds no array {key!r}", "get the published file again"
            ) from None


@dataclass(frozen=True)
class Panel:
    """One pair of axes; ``id`` is the ``panel`` of its rows. x, y: labels with units."""

    id: str
    title: str
    x: str
    y: str
    log_x: bool = True
    log_y: bool = False


@dataclass(frozen=True)
class Reproduction:
    """A regenerated figure or table.

    rows: JSON-ready, each with ``panel``, ``curve``, ``x``, ``y``, ``low``, ``high`` (the 10% and
    90% quantiles, or an interval; ``None`` where there is none) and ``note``, and more facts.
    finding: one or two sentences computed from the rows.
    """

    title: str
    rows: tuple[Row, ...]
    finding: str
    panels: tuple[Panel, ...]


class Reproduce(Protocol):
    """One function of the registry; the first line of its docstring says what it shows."""

    def __call__(self, ask: Ask) -> Reproduction: ...


def reproductions() -> dict[str, str]:
    """What can be reproduced: name, and a sentence."""
    return {name: _summary(load(target)) for name, target in PAPERS.items()}


def described(name: str) -> str:
    """All that is said of one: the sentence, what it needs, how long it takes."""
    made = load(PAPERS[one_of("name", name, tuple(PAPERS))])
    return " ".join((made.__doc__ or "").replace("``", "").split())


def reproduce(name: str, ask: Ask | None = None) -> Reproduction:
    """Regenerate one figure or table. Raises InputError for an unknown name or absent data."""
    made: Reproduce = load(PAPERS[one_of("name", name, tuple(PAPERS))])
    return made(ask or Ask())


def _summary(made: Reproduce) -> str:
    text = " ".join((made.__doc__ or "").split("\n\n")[0].split())
    return text.rstrip(".") + "."


def row(
    panel: str,
    curve: str,
    x: float,
    y: float | None,
    *,
    low: float | None = None,
    high: float | None = None,
    note: str = "",
    **facts: Any,
) -> Row:
    """One row of a reproduction."""
    return {
        "panel": panel,
        "curve": curve,
        "x": float(x),
        "y": _number(y),
        "low": _number(low),
        "high": _number(high),
        "note": note,
        **facts,
    }


def spread_row(panel: str, curve: str, x: float, scores: NDArray[np.float64], **facts: Any) -> Row:
    """A row of many scores: their median with the 10% and 90% quantiles."""
    low, middle, high = (float(value) for value in np.quantile(scores, [0.1, 0.5, 0.9]))
    return row(panel, curve, x, middle, low=low, high=high, runs=int(np.size(scores)), **facts)


def values(rows: Sequence[Row], curve: str, panel: str | None = None) -> dict[float, float]:
    """x to y of one curve, without what could not be."""
    return {
        each["x"]: each["y"]
        for each in rows
        if each["curve"] == curve and panel in (None, each["panel"]) and each["y"] is not None
    }


def _number(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else float(value)
