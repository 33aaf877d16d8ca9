"""The schema that came with the data: a file beside it, or what its type says."""

from __future__ import annotations

from os import PathLike
from os.path import isfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dpcore.datasets.columnar import schema_in_archive, schema_of_pictures
from dpcore.datasets.files import extension
from dpcore.schema import Schema

if TYPE_CHECKING:
    from dpcore.datasets.files import Source


def schema_with(source: Source, array: str | None = None) -> Schema | None:
    """The schema that came with the data, if any: a file beside it, or what its type says.

    Pictures ``(n, height, width)`` of bytes, in memory or in an ``.npz``, need no schema file: a
    byte lies in 0 to 255.
    """
    if isinstance(source, np.ndarray):
        return schema_of_pictures(source.shape, source.dtype)
    beside = schema_beside(source)
    if beside is not None or not isinstance(source, str | PathLike):
        return beside
    path = Path(source)
    archive = extension(path) == ".npz" and isfile(path)
    return schema_in_archive(path, array) if archive else None


def schema_beside(source: Source) -> Schema | None:
    """The schema of the ``.toml`` beside a data file, if there is one."""
    if not isinstance(source, str | PathLike) or not extension(Path(source)):
        return None
    beside = schema_path(source)
    return Schema.from_toml(beside) if isfile(beside) else None


def schema_path(path: str | PathLike[str]) -> Path:
    """Where the schema of a data file is looked for: the ``.toml`` beside it.

    >>> schema_path("folder/people.csv.gz").name
    'people.toml'
    >>> schema_path("PEOPLE.CSV").name, schema_path("people.xlsx").name, schema_path("people").name
    ('PEOPLE.toml', 'people.toml', 'people.toml')
    """
    data = Path(path)
    ending = extension(data) or data.suffix
    return data.with_name(data.name[: len(data.name) - len(ending)] + ".toml")
