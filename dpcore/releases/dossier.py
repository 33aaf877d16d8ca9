"""The dossier: one JSON document that says what left, for whom, under which promise, and proves it.

It holds only what passed a door or was public before: two neighbouring tables with the same noise
give dossiers that differ in noisy values alone. Anybody can replay its proof without the data.
"""

from __future__ import annotations

import json
import platform
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zipfile import is_zipfile

import numpy as np

from dpcore.accounting import replay
from dpcore.checks import path_of
from dpcore.declaration import declaration
from dpcore.errors import InputError, ReplayError
from dpcore.fitting.result import Fit
from dpcore.privacy import Guarantee, Ledger, Proof
from dpcore.privacy.guarantee import show_bound
from dpcore.privacy.ledger import LedgerEntry
from dpcore.releases.beside import (
    DOSSIER,
    REPORT,
    ROWS,
    compare,
    compare_rows,
    demand_content,
    described,
)
from dpcore.releases.ledger import BudgetLedger, State
from dpcore.releases.report import EDITION
from dpcore.schema import Schema
from dpcore.wall.grid import MOST_PERSONS, MOST_ROWS

FIRST = "dpcore dossier 1"  # without the hashes of all its files
SECOND = "dpcore dossier 2"  # without the hash of its own content, and who answers for it
THIRD = "dpcore dossier 3"  # its sentence has a decimal delta: 0.00001, not 1e-5
FOURTH = "dpcore dossier 4"  # its report has other words
FIFTH = "dpcore dossier 5"  # so has this one
SIXTH = "dpcore dossier 6"  # and this one
SEVENTH = "dpcore dossier 7"  # its entries do not state how fine the grid of their noise is
FORMAT = "dpcore dossier 8"
FORMATS = (FIRST, SECOND, THIRD, FOURTH, FIFTH, SIXTH, SEVENTH, FORMAT)
NAME_IT = "name the folder of a release, or its dossier.json"
NEWER = "use the version of dpcore that its report names, or a newer one"
_OF_A_DOSSIER = re.compile(r"dpcore dossier \d{1,9}")
CHOSEN = {
    "unsaid": "it was not stated what was looked at while settings were chosen",
    "stand-in": "settings were chosen while looking at a stand-in drawn from public bounds, which "
    "may have as many rows as the table",
    "real data": "settings were chosen while looking at exact values of these rows, which no "
    "guarantee covers",
}
NOISE = (
    "noise is a whole number drawn exactly from the discrete Gaussian distribution with the "
    "operating system's entropy, and sums are rounded to a grid before it is added"
)
ALIKE = (
    "each row's numbers come out the same wherever in the table the row stands: they are computed "
    "in blocks of one size, padded with empty rows at the end, and matrix products treat all other "
    "rows alike"
)
NO_TEXT = (
    "number columns contain no text: a file is refused if a cell of such a column is not a number, "
    "a Boolean or a mark for a missing cell"
)
OF_TEXTS = (
    "only words of the public list are counted, in lower case; everything else in the texts is "
    "left out",
    "each document's numbers come out the same whatever other documents there are: they are "
    "added up within the document alone, in its own order, and products treat all documents alike",
)
PROVED = ("epsilon", "delta", "adjacency", "proof", "rehearsal", "protects", "sentence")
_FLOATING = "noise is drawn in floating point"


def dossier_of(
    fit: Fit,
    schema: Schema,
    state: State,
    chosen_on: str,
    synthetic: str | None,
    rows: int,
    statements: Mapping[str, Any],
) -> dict[str, Any]:
    """All but the hashes of its content and of the files beside it.

    state: of the ledger, whose last line paid. synthetic: the rows' file as text; rows: how many it
    has. said: the data's ``file``, how many ``rows`` or ``persons`` it has where that is public,
    ``controller`` and ``purpose``.
    """
    import dpcore

    guarantee = fit.guarantee.as_dict()
    assumptions = [line for line in guarantee["assumptions"] if not line.startswith(_FLOATING)]
    documents = declaration(fit.model).reads == "documents"
    readings = OF_TEXTS if documents else (NO_TEXT,)
    guarantee["assumptions"] = [*assumptions, *readings, NOISE, *_more(fit), CHOSEN[chosen_on]]
    return {
        "format": FORMAT,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "model": fit.model,
        "title": schema.title or statements.get("file") or "",
        **statements,
        "settings": {**fit.settings, "chosen_on": chosen_on},
        "clip": fit.clip,
        "distances": None if fit.distances is None else fit.distances.as_dict(),
        "told_apart": _told_apart(fit),
        "schema": schema.to_toml(),
        "columns": [
            {"name": c.name, "unit": c.unit, "lower": c.lower, "upper": c.upper}
            for c in schema.numeric_columns()
        ],
        "parameters": fit.parameters.as_dict(),
        "guarantee": guarantee,
        "entries": [_entry(entry) for entry in fit.ledger],
        "ledger": {
            "name": state.terms.name,
            "filter": state.terms.filter,
            "limit": asdict(state.terms.limit),
        },
        "line": line_of(state, len(state.lines)),
        "synthetic": None if synthetic is None else described(synthetic, rows),
        "versions": {
            "dpcore": dpcore.__version__,
            "python": platform.python_version(),
            "numpy": np.__version__,
            "report": EDITION,
        },
    }


def _told_apart(fit: Fit) -> str | None:
    """What can be told apart at the fit's noise. The release is paid for by now: nothing that is
    said of it may cost it."""
    try:
        return fit.told_apart
    except Exception:
        return None


def _more(fit: Fit) -> tuple[str, ...]:
    """What is taken for granted where other rows may move up a place, in the table or in a class;
    and where public limits stand for the number of rows."""
    hidden = fit.guarantee.adjacency == "add_remove"
    reads = declaration(fit.model).reads
    moves = hidden or fit.guarantee.limited
    moves = moves or (reads == "label" and fit.guarantee.adjacency != "feature")
    same = () if reads == "documents" else (ALIKE,)
    things = "collection has 1 to" if reads == "documents" else "table has 1 to"
    most = f"{MOST_ROWS:,} {fit.guarantee.thing}s"
    if fit.guarantee.limited and fit.schema is not None and fit.schema.equal_weight:
        most = f"{MOST_PERSONS:,} different ids"
    cap = (f"the {things} {most}",)  # a file without any is refused
    return (same if moves else ()) + (cap if hidden else ())


def _entry(entry: LedgerEntry) -> dict[str, Any]:
    record = asdict(entry)
    record["noise_scale"] = float(np.asarray(entry.noise_scale).reshape(-1)[0])
    return record


def line_of(state: State, number: int) -> dict[str, Any]:
    """What a dossier says of the line that paid, and of what was left."""
    line, before, after = state.lines[number - 1], state.up_to(number - 1), state.up_to(number)
    return {
        "number": line.number,
        "hash": line.hash,
        "time": line.time,
        "left_before": asdict(before.left_amount),
        "left_after": asdict(after.left_amount),
        "fingerprint": after.fingerprint,
    }


def read_dossier(path: str | Path) -> dict[str, Any]:
    """The record of a dossier, from its file. Raises InputError for a file that cannot be read, is
    not JSON or is not a dossier of a known format. Nothing in it is verified yet: see
    :func:`verify`.
    """
    file = path_of("dossier", path)
    if file.exists() and not (file.is_file() or file.is_dir()):  # which would be waited for
        raise InputError("dossier", "it is a pipe or a device", NAME_IT)
    try:
        text = file.read_text(encoding="utf-8")
        record = json.loads(text, object_pairs_hook=unique_keys)
    except OSError as problem:
        raise InputError("dossier", f"it cannot be read ({problem.strerror})", NAME_IT) from None
    except (ValueError, RecursionError):
        if is_zipfile(file):
            remedy = f"unpack it, then {NAME_IT}"
            raise InputError("dossier", "it is a zip archive", remedy) from None
        raise InputError("dossier", "the file is not JSON", NAME_IT) from None
    written = record.get("format") if isinstance(record, dict) else None
    if isinstance(record, dict) and written in FORMATS:
        return record
    if isinstance(written, str) and _OF_A_DOSSIER.fullmatch(written):
        raise InputError("dossier", f"this version does not know its format, {written!r}", NEWER)
    raise InputError("dossier", "the file is not a dossier of a known format", NAME_IT)


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object of its pairs. Raises InputError where a key occurs twice: readers would not
    agree on it."""
    entries = dict(pairs)
    if len(entries) < len(pairs):
        raise InputError("file", "a key occurs twice in one object", "keep one of the two")
    return entries


def verify(path: str | Path, ledger: str | Path | None = None) -> dict[str, Any]:
    """Replay a dossier's proof from its own entries, and compare it with its files and its ledger.

    path: the dossier's file, whose neighbours are compared where they are there, or the folder of a
    release, in which nothing may be missing and nothing else lie. ledger: the budget ledger's;
    without it the proof is replayed and the files compared, and the rest is listed.
    Returns ``{"epsilon", "delta", "accountant", "ledger", "files", "unvouched"}``: how each file
    was compared, and the fields and files for which nothing vouches. Dossiers of the first format
    know their rows alone. How many rows of one person the entries' sensitivities cover, only the
    ledger tells. Raises ReplayError, in one sentence, where anything does not hold; InputError for
    files that cannot be read.
    """
    return read_verified(path, ledger)[1]


def read_verified(
    path: str | Path, ledger: str | Path | None = None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """A dossier's record, and what :func:`verify` says of it.

    Raises ReplayError where a check fails, InputError for no dossier.
    """
    place = path_of("dossier", path)
    whole = place.is_dir()
    if whole:
        place /= DOSSIER
    record = read_dossier(place)
    try:
        ledger_read = ledger_of(record)
        stated = record["guarantee"]
        proof = Proof(**stated["proof"])
        agreed = stated["epsilon"] == proof.epsilon and stated["delta"] == proof.delta
        powers = record["format"] not in (FIRST, SECOND, THIRD)
        worded = _worded(stated, proof, None if powers else show_bound)
        adjacency = {entry.adjacency for entry in ledger_read}
        rehearsal = stated["rehearsal"]
        bound = replay(ledger_read, proof)
    except ReplayError:
        raise
    except ODD:
        raise odd() from None
    if not agreed or adjacency != {stated["adjacency"]} or rehearsal:
        raise ReplayError("The guarantee does not match the proof.")
    if worded != (stated.get("protects"), stated.get("sentence")):
        raise ReplayError("The guarantee's sentence does not match its numbers.")
    files = _compared(place.parent, record, whole=whole)
    if ledger is not None:
        _find(record, BudgetLedger(ledger))
    return record, {
        "epsilon": float(bound.epsilon),
        "delta": proof.delta,
        "accountant": proof.accountant,
        "ledger": None if ledger is None else record["ledger"]["name"],
        "files": files,
        "unvouched": [
            *(_unvouched(record) if ledger is None else ()),
            *(_unlisted(place, whole=whole) if record["format"] == FIRST else ()),
        ],
    }


# Of a record's parts; the last where they are nested deeper than can be written.
ODD = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)


def odd() -> InputError:
    """What is said of a dossier whose parts do not fit together."""
    return InputError("dossier", "a part of it is missing or malformed", "ask for a new copy")


def _demand_registered(model: object) -> None:
    try:
        if isinstance(model, str):
            declaration(model)
    except InputError:
        raise InputError(
            "dossier",
            f"its model {model!r} is not registered here",
            "register it as its author did (app/docs/extending.md)",
        ) from None


def _compared(folder: Path, record: dict[str, Any], *, whole: bool) -> dict[str, str]:
    try:
        if record["format"] not in (FIRST, SECOND):
            demand_content(record)
        _demand_registered(record.get("model"))
        if record["format"] == FIRST:
            return compare_rows(folder, record)
        return compare(folder, record, whole=whole, anew=record["format"] == FORMAT)
    except OSError as problem:
        raise InputError(
            "dossier",
            f"a file beside it cannot be read ({problem.strerror})",
            "check its permissions",
        ) from None
    except InputError:
        raise
    except ODD:
        raise odd() from None


def _unvouched(record: dict[str, Any]) -> list[str]:
    """The fields that the proof says nothing about: only a ledger does."""
    others = sorted(record.keys() - {"format", "guarantee"})
    stated = [*(k for k in sorted(record["guarantee"]) if k not in PROVED), "proof.source"]
    return [*others, *(f"guarantee.{name}" for name in stated)]


def _unlisted(place: Path, *, whole: bool) -> list[str]:
    """The files beside a dossier of the first format, which knows its rows alone."""
    beside = {path.name for path in place.parent.iterdir()} - {place.name, ROWS}
    return sorted(beside if whole else beside & {REPORT})


def _worded(
    stated: dict[str, Any], proof: Proof, form: Callable[[float], str] | None
) -> tuple[str, str]:
    """Whom a guarantee protects, and its sentence, as its other fields have them. form: how delta
    is written in it, by default as today.

    Other words for the same need another :data:`FORMAT`, or dossiers that are out fail.
    """
    terms = (stated["adjacency"], stated["unit"], stated["rows_per_person"])
    guarantee = Guarantee(
        stated["epsilon"],
        stated["delta"],
        *terms,
        None,
        proof,
        (),
        False,
        thing=stated["thing"],
        limited=stated.get("limited", False),
    )
    return guarantee.protects, guarantee.sentence(form)


def ledger_of(record: dict[str, Any]) -> Ledger:
    """The ledger of the releases that a dossier records. Raises ReplayError for an entry that no
    release makes, ValueError for a proof without a ledger.
    """
    entries = tuple(LedgerEntry(**entry) for entry in record["entries"])
    if not entries or not all(map(_is_sound, entries)):
        raise ReplayError("An entry is not of the kind that a release writes.")
    if not isinstance(record["guarantee"]["proof"]["ledger"], str):
        raise ValueError("the proof names no ledger")
    return Ledger(entries)


def _is_sound(entry: LedgerEntry) -> bool:
    """Whether an entry is one that a release writes."""
    numbers = (entry.noise_scale, entry.sensitivity)
    finite = all(isinstance(n, float) and 0.0 < n < np.inf for n in numbers)
    whole = entry.noise_steps is None or (type(entry.noise_steps) is int and entry.noise_steps > 0)
    return finite and whole and entry.noise == "discrete_gaussian" and entry.count == 1


def _find(record: dict[str, Any], ledger: BudgetLedger) -> None:
    """The dossier, word for word, in the line it names."""
    line = record.get("line")
    state = ledger.demand_intact()
    number = line.get("number") if isinstance(line, dict) else None
    if number not in [line.number for line in state.releases]:
        raise ReplayError("The ledger has no release with the line number that the dossier states.")
    assert isinstance(number, int)  # it is one of theirs
    then = json.loads(json.dumps(line_of(state, number)))
    held = ledger.output(number).get("dossier")
    if record["format"] == FIRST and isinstance(held, dict):  # it was written down without its line
        held = {**held, "line": line}
    if held != record:
        raise ReplayError("The ledger's line belongs to another dossier.")
    if then != line:
        raise ReplayError("The line in the dossier differs from the line in the ledger.")
