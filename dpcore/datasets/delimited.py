"""Text tables: CSV and TSV, plain or gzipped, read strictly.

Two passes over the file. The first checks the form (encoding, header, equally long rows, size), so
that pandas in the second has nothing to guess, rename or fill up on its own.
"""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

from dpcore.datasets.files import File, check_names, demand_rows, most_bytes
from dpcore.errors import InputError
from dpcore.schema import MISSING_TOKENS, MOST_COLUMNS

if TYPE_CHECKING:
    import pandas as pd

LARGEST_TEXT = 4 << 30  # bytes after decompression
LONGEST_CELL = 1 << 26  # characters; a document may be one cell
DELIMITERS = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar"}
BINARY_STARTS = (b"\x1f\x8b", b"PK\x03\x04", b"PAR1", b"\x93NUMPY", b"\x89PNG", b"%PDF", b"BZh")
UTF16_STARTS = (b"\xff\xfe", b"\xfe\xff")


def read_delimited(
    path: File, delimiter: str, categories: Mapping[str, Sequence[str]] | None = None
) -> pd.DataFrame:
    """The frame in a delimited text file with one header line; every flaw raises InputError.

    categories: columns to keep as they are written, with the texts that are no missing cells there.
    """
    import pandas as pd

    listed = categories or {}
    with _one_sentence(path):
        names = _checked_header(path, delimiter)
        with _text(path) as file:
            frame = pd.read_csv(
                file,
                sep=delimiter,
                header=0,
                names=names,
                index_col=False,
                dtype={name: str for name in names if name in listed},
                na_values=_missing(names, listed),
                keep_default_na=False,
                skipinitialspace=True,
                low_memory=False,
            )
    demand_rows(frame, path.name)
    return frame


def _missing(names: list[str], listed: Mapping[str, Sequence[str]]) -> Any:
    """The words that mean a missing cell, for each column where some of them mean something."""
    if not listed:
        return list(MISSING_TOKENS)
    return {name: [t for t in MISSING_TOKENS if t not in listed.get(name, ())] for name in names}


def _checked_header(path: File, delimiter: str) -> list[str]:
    """The header's names, once the whole file has the form of one table."""
    limit = csv.field_size_limit(LONGEST_CELL)
    try:
        with _text(path) as file:
            rows = filter(None, csv.reader(file, delimiter=delimiter, skipinitialspace=True))
            header = next(rows, None)
            if header is None:
                raise InputError(path.name, "the file is empty", "give a table with a header line")
            names = [name.strip() for name in header]
            _check_header(names, delimiter, path.name)
            if set(map(len, rows)) - {len(names)}:
                raise InputError(
                    path.name,
                    "some rows have more or fewer cells than the header",
                    "give every row one cell per column, and quote cells that hold the delimiter",
                )
    finally:
        csv.field_size_limit(limit)
    return names


def _check_header(names: list[str], delimiter: str, where: str) -> None:
    """Refuse a header that is none: another delimiter's, or numbers."""
    if len(names) > MOST_COLUMNS:  # at once: nothing else is asked of a million names
        check_names(names, where)
    if len(names) == 1:
        for other, word in DELIMITERS.items():
            if other != delimiter and other in names[0]:
                raise InputError(
                    where,
                    f"it has one column, whose header holds {word}",
                    f"separate the columns by {DELIMITERS[delimiter]}",
                )
    if 2 * sum(map(_is_number, names)) >= len(names):
        raise InputError(
            where,
            "its first line holds numbers, not names",
            "add a header line whose names are words",
        )
    check_names(names, where)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


@contextmanager
def _text(path: File) -> Iterator[IO[str]]:
    """The file as UTF-8 text, decompressed, within the size cap."""
    with path.open("rb") as raw:
        packed = path.name.lower().endswith(".gz")
        unpacked: Any = gzip.GzipFile(fileobj=raw) if packed else raw
        counted = io.BufferedReader(
            _Watched(unpacked, path.name, most_bytes(path, LARGEST_TEXT)), buffer_size=1 << 18
        )
        with io.TextIOWrapper(counted, encoding="utf-8-sig", newline="") as text:
            yield text


class _Watched(io.RawIOBase):
    """Bytes on their way in, stopped where they are not text or too many."""

    def __init__(self, source: IO[bytes], name: str, most: int) -> None:
        self._source, self._name, self._most, self._seen = source, name, most, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        block = self._source.read(len(buffer))
        if not self._seen and block.startswith(UTF16_STARTS):
            raise InputError(self._name, "it is not UTF-8 text", "save it as UTF-8")
        if b"\0" in block or (not self._seen and block.startswith(BINARY_STARTS)):
            raise InputError(
                self._name, "it holds binary data, not text", "give the extension of its format"
            )
        self._seen += len(block)
        if self._seen > self._most:
            raise InputError(
                self._name,
                f"it expands to more than {self._most >> 30} GiB",
                "give a smaller table or a .parquet file",
            )
        buffer[: len(block)] = block
        return len(block)


@contextmanager
def _one_sentence(path: File) -> Iterator[None]:
    """Every way in which a text file can be broken, as an InputError without its content."""
    import pandas as pd

    try:
        yield
    except InputError:
        raise
    except UnicodeError:
        problem = ("it is not UTF-8 text", "save it as UTF-8")
    except (gzip.BadGzipFile, EOFError, zlib.error):
        problem = ("the gzip file is damaged", "compress the table again")
    except csv.Error:
        problem = ("its cells cannot be told apart", "check quotes and line ends")
    except OSError:
        problem = ("it cannot be opened", "check its permissions")
    except (pd.errors.ParserError, pd.errors.EmptyDataError, ValueError, OverflowError):
        problem = ("it cannot be read as a table", "check quotes and line ends")
    else:
        return
    raise InputError(path.name, *problem) from None
