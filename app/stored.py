"""Values of the package's own classes in one file, part by part: arrays as they are, all else JSON.

A file is read without running anything of it: it names classes of this package alone, and a class
gets its fields. Written twice from equal values, it is the same to the last byte.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcore.registry import load

ROOM = "dpcore."  # where a class that a file names may lie
WHEN = (1980, 1, 1, 0, 0, 0)  # the date of every member of a file


def write(path: Path, parts: Mapping[str, Any]) -> None:
    """Write parts under their names. A part holds data classes of dpcore, tuples, mappings with
    words as keys, arrays, numbers, words and nothings.

    Arrays of 32 bits are read back as those of 64. Raises TypeError for anything else.
    """
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as file:

        def add(name: str, content: bytes) -> None:
            file.writestr(zipfile.ZipInfo(name, WHEN), content, zipfile.ZIP_DEFLATED, 9)

        for name, part in parts.items():
            arrays: dict[int, NDArray[Any]] = {}  # one that is met again is written once
            tree = _tree(part, arrays)
            add(f"{name}.json", json.dumps(tree, separators=(",", ":")).encode())
            for number, array in enumerate(arrays.values()):
                content = io.BytesIO()
                np.lib.format.write_array(content, np.ascontiguousarray(array), allow_pickle=False)
                add(f"{name}.{number}.npy", content.getvalue())


def read(path: Path, name: str) -> Any:
    """A part by its name; ``None`` where the file has no such part."""
    with zipfile.ZipFile(path) as file:
        members = set(file.namelist())
        if f"{name}.json" not in members:
            return None
        tree, arrays = json.loads(file.read(f"{name}.json")), list[NDArray[Any]]()
        while (member := f"{name}.{len(arrays)}.npy") in members:
            content = io.BytesIO(file.read(member))
            array = np.lib.format.read_array(content, allow_pickle=False)
            arrays.append(array.astype(float) if array.dtype == np.float32 else array)
        return _value(tree, arrays)


def _tree(value: Any, arrays: dict[int, NDArray[Any]]) -> Any:
    """A value as JSON, its arrays by their numbers."""
    if isinstance(value, np.ndarray):
        arrays.setdefault(id(value), value)
        return {"array": list(arrays).index(id(value))}
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, tuple):
        return [_tree(item, arrays) for item in value]
    if isinstance(value, Mapping):
        return {"map": {key: _tree(item, arrays) for key, item in value.items()}}
    kind = type(value)
    if is_dataclass(value) and kind.__module__.startswith(ROOM):
        parts = {part.name: _tree(getattr(value, part.name), arrays) for part in fields(value)}
        return {"of": f"{kind.__module__}:{kind.__qualname__}", "fields": parts}
    raise TypeError(f"{kind.__name__} cannot be stored")


def _value(tree: Any, arrays: list[NDArray[Any]]) -> Any:
    """The value again."""
    if isinstance(tree, list):
        return tuple(_value(item, arrays) for item in tree)
    if not isinstance(tree, dict):
        return tree
    if "array" in tree:
        return arrays[tree["array"]]
    if "map" in tree:
        return {key: _value(item, arrays) for key, item in tree["map"].items()}
    if not tree["of"].startswith(ROOM):
        raise ValueError(f"{tree['of']} is not a class of this package")
    return load(tree["of"])(**{name: _value(item, arrays) for name, item in tree["fields"].items()})
