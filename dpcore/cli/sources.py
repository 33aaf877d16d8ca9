"""Questions and events from files: JSON, or TOML where the name ends in .toml."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

from dpcore.errors import InputError


def read_questions(path: Path) -> tuple[list[Any], bool]:
    """(questions, whether the file is a single one).

    A list of questions, an object with ``questions`` (in TOML ``[[questions]]``), or one question
    by itself, with its ``events``.

    Raises InputError for a file that cannot be read or holds no question.
    """
    content = document("file", path)
    if isinstance(content, dict) and "questions" in content:
        content = content["questions"]
    if isinstance(content, dict):
        return [content], True
    if not isinstance(content, list):
        raise InputError("file", "it contains no question", "give one question or a list of them")
    return content, False


def read_events(path: Path) -> list[Any]:
    """A list of events, or an object with ``events``, or what ``dpcore fit --json`` printed. Raises
    InputError where the file has no such list."""
    content = document("events", path)
    if isinstance(content, dict):
        content = content.get("events", content.get("ledger"))
    if not isinstance(content, list):
        raise InputError(
            "events",
            "the file contains no list of events",
            "give a list, or the output of dpcore fit --json",
        )
    return content


def document(field: str, path: Path) -> Any:
    """What a JSON or TOML file holds. Raises InputError where it cannot be read."""
    kind = "TOML" if path.suffix == ".toml" else "JSON"
    try:
        text = path.read_text(encoding="utf-8-sig")
        if kind == "TOML":
            return tomllib.loads(text)
        from dpcore.releases.dossier import unique_keys

        return json.loads(text, object_pairs_hook=unique_keys)
    except InputError as refusal:
        raise InputError(field, refusal.problem, refusal.remedy) from None
    except OSError:
        raise InputError(
            field, "it cannot be read", "give the path of a JSON or TOML file"
        ) from None
    except (ValueError, RecursionError):
        raise InputError(field, f"it is not {kind}", _REMEDIES[kind]) from None


_REMEDIES = {
    "JSON": "check its commas and brackets, or rename it to .toml if it is TOML",
    "TOML": "correct it, or rename it to .json if it is JSON",
}
