"""A schema as a TOML file that people write by hand: read strictly, and written back."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import date
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from dpcore.errors import InputError
from dpcore.schema.columns import Ball, Column, Image
from dpcore.schema.forms import FileFormat, day_of

Shape = TypeVar("Shape", Ball, Image)

LARGEST_FILE = 1 << 20  # bytes; a schema is written by hand
TABLE_KEYS = ("title", "unit", "rows_per_person", "equal_weight", "id", "rehearsal")
COLUMN_KEYS = tuple(field.name for field in fields(Column) if field.name != "name")
FILE_KEYS = tuple(field.name for field in fields(FileFormat))
OF_SECTIONS = {"table": TABLE_KEYS, "file": FILE_KEYS}


def read(path: Path) -> str:
    """The text of a schema file. Raises InputError where there is none that can be read."""
    try:
        with path.open("rb") as file:
            raw = file.read(LARGEST_FILE + 1)
    except IsADirectoryError:
        _refuse(path, "it is a folder", "give a .toml file")
    except (OSError, ValueError) as problem:
        if "\n" in str(path):
            remedy = "give the path of a .toml file"
            raise InputError("schema", "it is the text of a schema", remedy) from None
        if isinstance(problem, FileNotFoundError):
            _refuse(path, "there is no such schema file", "check the path")
        _refuse(path, "the schema file cannot be opened", "check its path and permissions")
    if len(raw) > LARGEST_FILE:
        _refuse(path, "it is too large for a schema", "give a .toml file below 1 MiB")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        _refuse(path, "it is not UTF-8 text", "save the schema file as UTF-8")


def parsed(text: str, name: str) -> dict[str, Any]:
    """What the text of a schema file says, as the arguments of a schema.

    Raises InputError for text that is not TOML or not a schema.
    """
    try:
        if len(text) > LARGEST_FILE or any(line.count(".") > 5000 for line in text.splitlines()):
            raise ValueError  # a key of many parts takes tomllib the square of their number
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(name, f"it is not valid TOML ({error})", "correct that line") from None
    except (RecursionError, ValueError):
        raise InputError(name, "it is too deeply nested or too large", "simplify it") from None
    return sections(document)


def sections(document: Mapping[str, Any]) -> dict[str, Any]:
    """The sections of a schema file that was read, as the arguments of a schema."""
    _only_keys("schema", document, ("table", "file", "columns", "ball", "image"))
    table = _section("table", document.get("table", {}))
    _only_keys("table", table, TABLE_KEYS)
    named = {
        "columns": _columns_of(document),
        "file": _file_of(document),
        "ball": _both(document, "ball", Ball),
        "image": _both(document, "image", Image),
    }
    return named | table


def written(contents: Mapping[str, Any]) -> str:
    """The text of a schema file that says this; :func:`parsed` reads it back."""
    table = {key: contents[key] for key in TABLE_KEYS if contents[key] is not False}
    parts = [_toml_table("table", table)]
    if contents["file"] is not None:
        parts.append(
            _toml_table("file", {key: getattr(contents["file"], key) for key in FILE_KEYS})
        )
    for column in contents["columns"]:
        entries = {key: as_written(column, key) for key in COLUMN_KEYS}
        parts.append(_toml_table(f"columns.{toml_key(column.name)}", entries))
    sections = [name for name in ("ball", "image") if contents[name] is not None]
    return "\n".join([*parts, *(_toml_table(name, vars(contents[name])) for name in sections)])


def _columns_of(document: Mapping[str, Any]) -> tuple[Column, ...]:
    """The columns of a schema file."""
    columns = []
    for name, entries in _section("columns", document.get("columns", {})).items():
        _only_keys(f"columns.{name}", _section(f"columns.{name}", entries), COLUMN_KEYS)
        columns.append(Column(name, **entries))
    return tuple(columns)


def as_written(column: Column, key: str) -> Any:
    """A setting of a column: limits of dates are dates, where they are whole days."""
    value = getattr(column, key)
    if column.type == "date" and isinstance(value, float):
        return day_of(value) or value
    return value


def _file_of(document: Mapping[str, Any]) -> FileFormat | None:
    """How the data file is written, if the schema file says it."""
    if "file" not in document:
        return None
    entries = _section("file", document["file"])
    _only_keys("file", entries, FILE_KEYS)
    return FileFormat(**entries)


def _both(document: Mapping[str, Any], name: str, kind: type[Shape]) -> Shape | None:
    """The ball or the picture of a schema file, whose section has both settings; or None if it is
    not there."""
    if name not in document:
        return None
    entries, keys = _section(name, document[name]), [field.name for field in fields(kind)]
    _only_keys(name, entries, keys)
    for key in keys:
        if key not in entries:
            raise InputError(name, f"{key} is missing", f"give both {' and '.join(keys)}")
    return kind(**entries)


def _section(field: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError(field, "it is not a table of settings", f"start it with [{field}]")
    return value


def _only_keys(field: str, entries: Mapping[str, Any], allowed: Sequence[str]) -> None:
    for key in entries:
        if key not in allowed:
            near = get_close_matches(key.lower(), allowed, 1)
            remedy = f"write {near[0]}" if near else "use " + ", ".join(allowed)
            if field in OF_SECTIONS and not near:
                others = [name for name, keys in OF_SECTIONS.items() if key in keys]
                remedy = f"write it below [{others[0]}]" if others else remedy
            raise InputError(field, f"{key!r} is not known", remedy)


def _refuse(path: Path, problem: str, remedy: str) -> NoReturn:
    raise InputError(path.name or str(path), problem, remedy) from None


def _toml_table(header: str, entries: Mapping[str, Any]) -> str:
    stated = {key: value for key, value in entries.items() if value is not None and value != ()}
    lines = [f"{key} = {toml_value(value)}" for key, value in stated.items()]
    return "\n".join([f"[{header}]", *lines]) + "\n"


def toml_value(value: Any) -> str:
    """A value as TOML writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return _toml_text(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, tuple):
        return "[" + ", ".join(toml_value(item) for item in value) + "]"
    whole_number = float(value).is_integer() and abs(value) < 1e15
    return str(int(value)) if whole_number else repr(float(value))


def _toml_text(text: str) -> str:
    """A TOML basic string: JSON's escapes, and DEL, which TOML wants escaped as well."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_key(name: str) -> str:
    """A key as TOML writes it, quoted where it must be."""
    bare = name.isascii() and name.replace("-", "").replace("_", "").isalnum()
    return name if bare else _toml_text(name)
