"""A page of figures and words that needs no network, written to where an option says."""

from __future__ import annotations

import os
from html import escape
from importlib.util import find_spec
from pathlib import Path

from dpcore.checks import path_of
from dpcore.errors import InputError

_PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>{title}</title>
<style>
body {{ font-family: sans-serif; max-width: 75rem; margin: 1rem auto; }}
td, th {{ padding: 0.2rem 0.6rem; text-align: right; border-bottom: 1px solid #ccc; }}
td:nth-child(-n+2), th:nth-child(-n+2) {{ text-align: left; }}
</style></head>
<body>
{body}</body>
</html>
"""


def place_for_page(field: str, name: str | None) -> Path | None:
    """The place that an option names, if any; it is looked at before minutes are spent.

    Raises InputError without the package plotly, and where no file can be written.
    """
    if name is not None and find_spec("plotly") is None:
        raise InputError(field, "the package plotly is not installed", "install dpcore[app]")
    return place_for_file(field, name)


def place_for_file(field: str, name: str | None) -> Path | None:
    """The same for any file; also raises InputError in a release's folder."""
    if name is None:
        return None
    path = Path(name)
    demand_no_release(field, path)
    if path.is_dir() or not os.access(path if path.exists() else path.parent, os.W_OK):
        raise _unwritable(field)
    return path


def place_for_folder(name: str) -> Path:
    """A folder that is there or can be made. Raises InputError where a file has its name, and in a
    release's folder."""
    folder = Path(name)
    demand_no_release("folder", folder / "any file")
    if folder.exists() and not folder.is_dir():
        raise InputError("folder", "a file with that name exists", "name another folder")
    return folder


def demand_no_release(field: str, place: str | Path) -> None:
    """Raise InputError for a new file or folder in a release's folder, which would no longer verify
    with it."""
    from dpcore.releases.beside import DOSSIER

    folder = path_of(field, place).resolve().parent
    while not folder.exists():
        folder = folder.parent
    if (folder / DOSSIER).is_file():
        raise InputError(
            field,
            "it is in a release's folder, which may hold only the release's own files",
            "name another folder",
        )


def write_whole(place: Path, text: str) -> None:
    """A text in UTF-8, as it would be printed. Where it cannot be written to its end, as on a full
    disk, no part of it stays, which could pass for all of it. Raises OSError where the system
    refuses."""
    content, place = text.encode(errors="backslashreplace"), place.resolve()
    with place.open("wb") as file:
        try:
            file.write(content)
            file.flush()
        except BaseException:
            if place.is_file():
                place.unlink()
            raise


def write_page(field: str, path: Path, title: str, body: str) -> None:
    """body: HTML. Raises InputError where the system refuses."""
    try:
        write_whole(path, _PAGE.format(title=escape(title), body=body))
    except OSError:
        raise _unwritable(field) from None


def _unwritable(field: str) -> InputError:
    return InputError(field, "the file cannot be written", "give another path")
