"""Published originals as the files that are kept: read, checked by shape and column sums, written.

What is kept is the form that the papers' figures read: arrays in an ``.npz``, a table as
``.csv.gz``. Column sums do not ask in which order a copy has its rows.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dpcore.arrays import Array
from dpcore.datasets.words import read_vocabulary, vocabulary_path
from dpcore.errors import InputError

TABLE = "table"  # what a file of columns holds, where an archive holds arrays
WORDS = "words"
Content = dict[str, Any]
IDX = {
    "train_images": "train-images-idx3-ubyte",
    "train_labels": "train-labels-idx1-ubyte",
    "test_images": "t10k-images-idx3-ubyte",
    "test_labels": "t10k-labels-idx1-ubyte",
}
ADULT_COLUMNS = (
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation",
    "relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week",
    "native-country", "income",
)  # fmt: skip
LARGEST_MEMBER = 1 << 30  # bytes of a file in a zip


@dataclass(frozen=True)
class Fact:
    """What a published array or table is known by: its shape, and :func:`sums_of` its columns."""

    shape: tuple[int, ...]
    sums: str


def sums_of(values: Any) -> str:
    """The first 16 digits of the SHA-256 of all column sums, to two decimals.

    values: an array, whose first axis is rows, or a data frame, of which columns of numbers count;
    of words, the words themselves are hashed.

    >>> sums_of(np.array([[1, 2], [3, 4]])) == sums_of(np.array([[3.0, 4.0], [1.0, 2.0]]))
    True
    """
    if not isinstance(values, np.ndarray):
        values = values.select_dtypes("number").to_numpy(dtype=float)
    if values.dtype.kind == "U":
        return _digest("\n".join(values.tolist()).encode())
    total = np.nansum(values.reshape(len(values), -1), axis=0, dtype=float)
    return _digest((np.round(total, 2) + 0.0).astype("<f8").tobytes())


def _digest(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()[:16]


def check(content: Content, facts: Mapping[str, Fact], name: str) -> None:
    """Raise InputError unless everything has the shape and the column sums that are known."""
    remedy = "download the published file again (dpcore data says which)"
    for key, fact in facts.items():
        shape = content[key].shape
        if shape != fact.shape:
            actual, published = (
                " x ".join(f"{n:,}" for n in sizes) for sizes in (shape, fact.shape)
            )
            raise InputError(
                "file", f"{key} of {name} has the shape {actual}, not {published}", remedy
            )
        if sums_of(content[key]) != fact.sums:
            raise InputError(
                "file", f"the values of {key} differ from those of the published {name}", remedy
            )


def check_sums(path: Path, checksums: Mapping[str, str]) -> None:
    """Raise InputError where a file has not the checksum published for it: SHA-256, or MD5 where
    it is short. ``path`` is the file, or its folder; files that are not there are not asked for."""
    for name, checksum in checksums.items():
        file = _named(path, name)
        if not file.is_file():
            continue
        kind = "sha256" if len(checksum) == 64 else "md5"
        if hashlib.new(kind, _plain(file)).hexdigest() != checksum:
            raise InputError(
                "file", f"{name} does not have the published checksum", "download the file again"
            )


def converted(path: Path, facts: Mapping[str, Fact]) -> Content:
    """What a file of the kept form holds of a set. Raises InputError where that is missing."""
    with one_sentence("give a new copy of the file"):
        if TABLE in facts:
            return delimited(path)
        with np.load(path, allow_pickle=False) as archive:
            lacking = next((key for key in facts if key not in (*archive.files, WORDS)), None)
            if lacking is not None:
                raise InputError(
                    "file", f"it holds no array {lacking!r}", "give a new copy of the file"
                )
            content = {key: np.asarray(archive[key]) for key in facts if key != WORDS}
    if WORDS in facts:
        content[WORDS] = np.array(read_vocabulary(vocabulary_path(path)))
    return content


def write(path: Path, content: Content, beside: Mapping[str, str]) -> None:
    """Keep a set: what lies beside it first, then the file, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    texts = dict(beside)
    if WORDS in content:
        texts[vocabulary_path(path).name] = "\n".join(content[WORDS].tolist()) + "\n"
    for name, text in texts.items():
        _replaced(path.with_name(name), text.encode())
    raw = io.BytesIO()
    if TABLE in content:
        text = content[TABLE].to_csv(index=False, lineterminator="\n")
        raw.write(gzip.compress(text.encode(), mtime=0))
    else:
        np.savez_compressed(raw, **{key: content[key] for key in content if key != WORDS})
    _replaced(path, raw.getvalue())


def _replaced(path: Path, raw: bytes) -> None:
    draft = path.with_name(path.name + ".part")
    draft.write_bytes(raw)
    os.replace(draft, path)


@contextmanager
def one_sentence(original: str) -> Iterator[None]:
    """Every way in which a file can be another than it should, as an InputError with no cell."""
    try:
        yield
    except (InputError, MemoryError):
        raise
    except FileNotFoundError as absent:
        name = Path(str(absent.filename)).name
        raise InputError("file", f"{name} is not there", f"give {_bare(original)}") from None
    except Exception:
        raise InputError(
            "file", "it cannot be read as the published data set", f"give {_bare(original)}"
        ) from None


def _bare(original: str) -> str:
    return original.removeprefix("give ")


# --- originals -------------------------------------------------------------------------------


def numbers(path: Path) -> Content:
    """A text file of numbers, one row a line, with commas or blanks between them."""
    return {"X": _lines(path).astype(np.uint8)}


def numbers_and_answer(path: Path) -> Content:
    """The same, whose last number is the answer ``y``."""
    rows = _lines(path).astype(np.uint8)
    return {"X": rows[:, :-1], "y": rows[:, -1]}


def life_science(path: Path) -> Content:
    """Components, and an activity of 0 or 1."""
    rows = _lines(path)
    return {"X": rows[:, :-1].astype(np.float32), "y": rows[:, -1].astype(np.uint8)}


def _lines(path: Path) -> Array:
    text = _plain(path).decode("ascii").replace(",", " ")
    return np.loadtxt(io.StringIO(text), ndmin=2)


def olivetti(path: Path) -> Content:
    """Matlab's file, whose array ``faces`` has a picture a column, column by column."""
    from scipy.io import loadmat

    faces = np.asarray(loadmat(path)["faces"], dtype=np.uint8).T
    side = round(faces.shape[1] ** 0.5)
    return {"images": faces.reshape(-1, side, side).transpose(0, 2, 1)}


def grid(path: Path) -> Content:
    """A grid of counts as an ``.npy``."""
    return {"gowalla": np.load(path, allow_pickle=False).astype(np.uint32)}


def mnist(path: Path) -> Content:
    """The four files in LeCun's format: a magic number, the sizes, then bytes."""
    arrays = {}
    for key, name in IDX.items():
        raw = _plain(_named(path, name))
        axes = raw[3]
        sizes = np.frombuffer(raw, ">i4", axes, offset=4)
        arrays[key] = np.frombuffer(raw, np.uint8, offset=4 + 4 * axes).reshape(sizes)
    return arrays


def adult(path: Path) -> Content:
    """``adult.data`` and ``adult.test``, in a folder or zip; the column split says which."""
    import pandas as pd

    parts = []
    for split, name in (("train", "adult.data"), ("test", "adult.test")):
        text = _member(path, name).decode("ascii")
        lines = "\n".join(line for line in text.splitlines() if line.count(",") == 14)
        frame = pd.read_csv(
            io.StringIO(lines),
            names=list(ADULT_COLUMNS),
            skipinitialspace=True,
            keep_default_na=False,
        )
        frame["income"] = frame["income"].str.rstrip(".")
        parts.append(frame.assign(split=split))
    return {TABLE: pd.concat(parts, ignore_index=True)}


def delimited(path: Path) -> Content:
    """A table with a header line, also as ``.gz``; ``N/A`` is missing, other texts are kept."""
    import pandas as pd

    raw = io.BytesIO(_plain(path))
    return {TABLE: pd.read_csv(raw, keep_default_na=False, na_values=["", "N/A"])}


def _named(path: Path, name: str) -> Path:
    """Where a file of this name lies, packed or not: it is the path itself, or in that folder."""
    plain, packed = path / name, path / f"{name}.gz"
    if path.name in (plain.name, packed.name) and path.is_file():
        return path
    return packed if packed.is_file() and not plain.is_file() else plain


def _plain(path: Path) -> bytes:
    raw = path.read_bytes()
    return gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw


def _member(path: Path, name: str) -> bytes:
    """A file of a folder or zip."""
    if path.is_dir():
        return _plain(path / name)
    with zipfile.ZipFile(path) as archive:
        if archive.getinfo(name).file_size > LARGEST_MEMBER:
            raise InputError("file", f"{name} is too large", "download the file again")
        return archive.read(name)
