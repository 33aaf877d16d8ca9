"""Results of full runs, kept as small files with the command, version and time that made them.

``python -m dpcore.papers.results NAME ...`` makes them, in the folder ``kept`` beside this file; a
reader in a hurry, or without the published data, is shown what is kept, and told so.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dpcore.errors import InputError
from dpcore.papers.claims import Row, Verdict
from dpcore.papers.reproduction import Ask, Panel, Reproduction, reproduce, verdict
from dpcore.registry import PAPERS

STORED = Path(__file__).parent / "kept"
FIGURES = 5  # of a kept number
BESIDE = Path("../../shared/data")  # published data, seen from a notebook in a checkout

# What a short run asks of a reproduction (splits, draws); the others take minutes and are kept.
SHORT: dict[str, tuple[int | None, int | None]] = {
    "dp-em-table-noise": (None, None),
    "dp-em-figure-1": (None, 5),
    "dp-em-figure-3": (1, 1),
    "robust-em-figure-1": (1, 1),
    "robust-em-figure-2": (1, 1),
    "robust-em-means": (1, 1),
    **{f"gmm-release-figure-{number}": (1, 1) for number in (1, 3, 6, 7, 8, 9, 13)},
}


@dataclass(frozen=True)
class Regenerated:
    """A reproduction and how it came about, in a sentence."""

    name: str
    reproduction: Reproduction
    how: str

    @property
    def verdict(self) -> Verdict:
        """What agrees and what does not, counted."""
        return verdict(self.name, self.reproduction.rows)


def regenerate(name: str, *, short: bool, data: Path | None = None) -> Regenerated:
    """A reproduction made anew; short: with few splits and draws, or as it is kept.

    Where the published data are not at hand, the kept one. Raises InputError where there is none.
    """
    if short and name not in SHORT:
        return stored_result(name)
    splits, draws = SHORT[name] if short else (None, None)
    began = time.perf_counter()
    try:
        result = reproduce(name, Ask(data, draws, splits))
    except InputError as absent:
        if absent.field != "data" or not _file(name).is_file():
            raise
        return stored_result(name)
    words = ", ".join(f"{word} {number}" for word, number in _limits(splits, draws))
    took = time.perf_counter() - began
    return Regenerated(
        name, result, f"Made now{' with ' + words if words else ''}, in {took:.0f} s."
    )


def see(name: str) -> Regenerated | None:
    """Show a reproduction in a notebook: its picture, how it was made, and its verdict; or, in the
    short version, that it takes long and none is kept. Where a kernel runs, a slider reads it:
    panel by panel, along x, with the value of every curve."""
    from dpcore.figures.notebook import fast, interactive, play, show
    from dpcore.papers.drawing import reading_figure, readings, reproduction_figure

    beside = BESIDE if "DPCORE_SHARED" not in os.environ and BESIDE.is_dir() else None
    if fast() and name not in SHORT and not _file(name).is_file():
        print(f"{name} takes minutes and has no stored result: run dpcore reproduce {name}.")
        return None
    regenerated = regenerate(name, short=fast(), data=beside)
    show(reproduction_figure(regenerated.reproduction))
    print(regenerated.how)
    print(f"Verdict: {regenerated.verdict.sentence}")
    result = regenerated.reproduction
    if (places := readings(result)) and interactive():
        play(lambda at: reading_figure(result, at), at=places)
    return regenerated


def keep(name: str, ask: Ask) -> Path:
    """Make a reproduction, and keep it."""
    import dpcore

    began = time.perf_counter()
    result = reproduce(name, ask)
    limits = _limits(ask.splits, ask.draws)
    words = "".join(f" --{word} {number}" for word, number in limits)
    record = {
        "name": name,
        "command": f"dpcore reproduce {name}{words}",
        "seed": "fixed in the code",
        "version": dpcore.__version__,
        "date": datetime.now(UTC).date().isoformat(),
        "seconds": round(time.perf_counter() - began, 1),
        "title": result.title,
        "finding": result.finding,
        "panels": [asdict(panel) for panel in result.panels],
        "rows": [_short_row(row) for row in result.rows],
    }
    path = _file(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_as_text(record), encoding="utf-8")
    return path


def stored_result(name: str) -> Regenerated:
    """A kept reproduction. Raises InputError where there is none."""
    record = record_of(name)
    result = Reproduction(
        record["title"],
        tuple({"y": None, "low": None, "high": None, "note": "", **row} for row in record["rows"]),
        record["finding"],
        tuple(Panel(**panel) for panel in record["panels"]),
    )
    how = (
        f"Kept from {record['date']}: {record['command']}, version {record['version']}, "
        f"{record['seconds']:.0f} seconds."
    )
    return Regenerated(name, result, how)


def record_of(name: str) -> dict[str, Any]:
    """The file of a kept reproduction. Raises InputError where there is none."""
    path = _file(name)
    if not path.is_file():
        raise InputError(
            "name", f"there is no stored result for {name}", f"run dpcore reproduce {name}"
        )
    record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return record


def results_table(names: Sequence[str]) -> list[dict[str, Any]]:
    """One line for each figure and table: what became of it, from the kept full runs."""
    lines = []
    for name in names:
        if not _file(name).is_file():
            lines.append({"what": name, "verdict": "not kept yet", "why": "", "made by": ""})
            continue
        stored = stored_result(name)
        judged = verdict(name, stored.reproduction.rows)
        record = record_of(name)
        lines.append(
            {
                "what": name,
                "verdict": judged.word,
                "why": judged.sentence.removeprefix(judged.word.capitalize()).lstrip(". "),
                "made by": f"{record['command']} ({record['seconds']:.0f} s)",
            }
        )
    return lines


def names_of(paper: str) -> tuple[str, ...]:
    """The registered figures and tables of one paper: ``dp-em``, ``vips``, ..."""
    return tuple(name for name in PAPERS if name.startswith(f"{paper}-"))


def _limits(splits: int | None, draws: int | None) -> list[tuple[str, int]]:
    """What is asked for in place of the figure's own numbers."""
    limits = (("splits", splits), ("draws", draws))
    return [(word, number) for word, number in limits if number is not None]


def _file(name: str) -> Path:
    return STORED / f"{name}.json"


def _short_row(row: Row) -> Row:
    """Without what is absent, and numbers to a few figures."""
    return {
        key: float(f"{value:.{FIGURES}g}") if isinstance(value, float) else value
        for key, value in row.items()
        if value is not None and value != ""
    }


def _as_text(record: dict[str, Any]) -> str:
    """JSON with one row a line, so that a change reads as one."""
    head = json.dumps({key: value for key, value in record.items() if key != "rows"}, indent=1)
    rows = ",\n".join(json.dumps(row, ensure_ascii=False) for row in record["rows"])
    return f'{head[:-2]},\n "rows": [\n{rows}\n ]\n}}\n'


def main(words: Sequence[str]) -> None:
    """Keep the named reproductions; NAME:SPLITS asks for so many splits."""
    for word in words:
        name, _, splits = word.partition(":")
        path = keep(name, Ask(splits=int(splits) if splits else None))
        print(f"{path.name}: {record_of(name)['seconds']:.0f} seconds", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
