"""What lies beside a dossier: are the report and the rows the ones that it was written with?

The dossier holds the SHA-256 of its own content and of each of its files, which decides. Where the
running code is of the dossier's own version and format, and of the same edition of the report, the
report is made from the dossier again and compared as well; another one may word it otherwise.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from pathlib import Path
from typing import Any

from dpcore.errors import InputError, ReplayError
from dpcore.releases.report import EDITION, report

DOSSIER, ROWS, REPORT = "dossier.json", "synthetic.csv", "report.html"
FILES = (DOSSIER, ROWS, REPORT)
HASH, ANEW, ABSENT = "by its hash", "by its hash and by regenerating it", "not there"


def sealed(dossier: dict[str, Any], synthetic: str | None) -> tuple[dict[str, Any], dict[str, str]]:
    """A dossier with the hash of its content and of each file beside it, and the texts of these
    files by name."""
    plain = _in_order(dossier)
    plain["content"] = content_of(plain)
    files = {REPORT: report(plain)} | ({} if synthetic is None else {ROWS: synthetic})
    return {**plain, "files": {name: sha256(text.encode()) for name, text in files.items()}}, files


def text_of(dossier: dict[str, Any]) -> str:
    """The file of a dossier."""
    return json.dumps(dossier, indent=2, sort_keys=True, allow_nan=False)


def content_of(dossier: dict[str, Any]) -> str:
    """The hash of all that a dossier says, but for this one and those of the files beside it."""
    parts = {name: part for name, part in dossier.items() if name not in ("content", "files")}
    return sha256(text_of(parts).encode())


def demand_content(record: dict[str, Any]) -> None:
    """Raise ReplayError for a dossier in which something was changed since it was written."""
    if content_of(record) != record.get("content"):
        raise ReplayError(
            "The dossier was changed: the hash of its content differs from the hash it states."
        )


def described(synthetic: str, rows: int) -> dict[str, Any]:
    """What a dossier says of its synthetic rows."""
    header = _lines(synthetic.partition("\n")[0])
    columns = header[0] if header else []
    return {"rows": rows, "columns": columns, "sha256": sha256(synthetic.encode())}


def compare(folder: Path, record: dict[str, Any], *, whole: bool, anew: bool) -> dict[str, str]:
    """How each file that a dossier lists was compared with it, by name.

    whole: the folder is the release's: nothing may be missing, and nothing else lie there. anew:
    the report is of the format that is written today. Raises
    ReplayError where a file is not the one that the dossier was written with; InputError for a
    dossier that lists what no release writes.
    """
    listed = record.get("files")
    if not isinstance(listed, dict) or not {REPORT} <= listed.keys() <= {REPORT, ROWS}:
        raise InputError("dossier", "it does not list its files", "ask for a new copy")
    if (ROWS in listed) != (record["synthetic"] is not None):
        raise ReplayError(
            "The dossier's list of files and its description of the synthetic rows do not agree."
        )
    if whole:
        _demand_all(folder, [DOSSIER, *listed])
    anew = anew and _is_of_this_version(record)
    return {name: _compared(folder / name, listed[name], record, anew) for name in sorted(listed)}


def compare_rows(folder: Path, record: dict[str, Any]) -> dict[str, str]:
    """The same for a dossier of the first format, which knows the hash of its rows alone."""
    if not (folder / ROWS).is_file():
        return {}
    stated = record.get("synthetic")
    _demand_hash(folder / ROWS, stated.get("sha256") if isinstance(stated, dict) else None)
    return {ROWS: HASH}


def sha256(content: bytes) -> str:
    """The hash of a file's content."""
    return hashlib.sha256(content).hexdigest()


def _demand_all(folder: Path, names: list[str]) -> None:
    there = {path.name for path in folder.iterdir()}
    if missing := sorted(set(names) - there):
        raise ReplayError(f"The folder lacks {', '.join(missing)}, which the dossier lists.")
    if strange := sorted(there - set(names)):
        raise ReplayError(
            f"The folder holds {', '.join(strange)}, which the dossier does not list: move "
            f"{'it' if len(strange) == 1 else 'them'} elsewhere."
        )


def _compared(path: Path, stated: Any, record: dict[str, Any], anew: bool) -> str:
    if not path.is_file():
        return ABSENT
    content = _demand_hash(path, stated)
    if path.name == ROWS:
        _demand_described(content, record["synthetic"])
        return HASH
    if not anew:
        return HASH
    if _made_anew(record) != content:
        raise ReplayError(f"{path.name} does not agree with the dossier.")
    return ANEW


def _demand_hash(path: Path, stated: Any) -> bytes:
    """A file's content. Raises ReplayError where it has another hash."""
    content = path.read_bytes()
    if sha256(content) != stated:
        raise ReplayError(f"{path.name} is not the file written with the dossier.")
    return content


def _demand_described(content: bytes, stated: Any) -> None:
    """Raise ReplayError for rows of other columns, or another number, than the dossier says."""
    text = content.decode()
    if described(text, len(_lines(text)) - 1) != stated:
        raise ReplayError(
            f"{ROWS} does not have the columns or the number of rows that the dossier states."
        )


def _lines(text: str) -> list[list[str]]:
    """The lines of a CSV; none where it is odd."""
    try:
        return list(csv.reader(io.StringIO(text)))
    except csv.Error:  # a cell that is longer than any that a release writes
        return []


def _is_of_this_version(record: dict[str, Any]) -> bool:
    import dpcore

    versions = record["versions"]  # those of before state no edition of the report
    return bool((versions["dpcore"], versions.get("report")) == (dpcore.__version__, EDITION))


def _made_anew(record: dict[str, Any]) -> bytes:
    return report(_in_order({k: v for k, v in record.items() if k != "files"})).encode()


def _in_order(dossier: dict[str, Any]) -> dict[str, Any]:
    """As it is read back from its file, where keys stand in order: a report follows that order."""
    plain: dict[str, Any] = json.loads(text_of(dossier))
    return plain
