"""A history of bench runs, one JSON line each, so that a slowdown is seen.

Seconds of two days cannot be compared on a machine that others use, but ratios to a peer can: both
sides of a ratio are measured in one run and meet the same load. A row is slower when its ratio is
below three quarters of the median of the earlier runs with the same case, peer, version of the
peer and number of cores.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

import dpcore
from dpcore.errors import InputError
from dpcore.wall.kernels.threads import cores

Row = dict[str, Any]
Run = dict[str, Any]  # date, version, cores, rows

SLOWER = 0.75  # of the median ratio before
_SAME = ("bench", "case", "per", "peer", "peer_version", "curve", "axis")


def earlier(path: Path) -> list[Run]:
    """The runs of a history, oldest first; none where there is no file yet. Raises InputError for
    lines of another kind."""
    if not path.exists():
        return []
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        runs = [json.loads(line) for line in lines if line.strip()]
        ratios = [row["ratio"] for run in runs for row in run["rows"]]
        valid = all(isinstance(ratio, float | int | None) for ratio in ratios)
        valid = valid and all({"date", "cores"} <= run.keys() for run in runs)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        valid = False
    if not valid:
        raise InputError(
            "history",
            "it has lines that dpcore bench did not write",
            "give a history file, or a path where no file exists yet",
        )
    return runs


def this_run(rows: Sequence[Row]) -> Run:
    """Measured rows as one run of now."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "version": dpcore.__version__,
        "cores": cores(),
        "rows": list(rows),
    }


def append(path: Path, run: Run) -> None:
    """Add a run as one line. Raises InputError where the file cannot be written."""
    line = json.dumps(_finite(run), allow_nan=False)
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")
    except OSError:
        raise InputError("history", "it cannot be written", "give another path") from None


def compared(run: Run, runs: Sequence[Run]) -> list[Row]:
    """The run's rows, each with ``ratio_before`` (the median of earlier runs, or ``None``), how
    many ``runs_before`` there were, and whether it is ``slower``."""
    ratios = _ratios(runs)
    return [_marked(row, ratios.get(_key(run, row), [])) for row in run["rows"]]


def _marked(row: Row, before: list[float]) -> Row:
    usual = median(before) if before else None
    slower = usual is not None and _known(row["ratio"]) and row["ratio"] < SLOWER * usual
    return {**row, "ratio_before": usual, "runs_before": len(before), "slower": slower}


def _ratios(runs: Sequence[Run]) -> dict[tuple[Any, ...], list[float]]:
    ratios: dict[tuple[Any, ...], list[float]] = {}
    for run in runs:
        for row in run["rows"]:
            if _known(row["ratio"]):
                ratios.setdefault(_key(run, row), []).append(float(row["ratio"]))
    return ratios


def _key(run: Run, row: Row) -> tuple[Any, ...]:
    return run["cores"], *(row.get(name) for name in _SAME)


def _known(ratio: float | None) -> bool:
    return ratio is not None and math.isfinite(ratio)


def _finite(value: Any) -> Any:
    """JSON has no word for what is undefined."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
