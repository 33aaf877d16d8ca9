"""Text tables: CSV and TSV, plain or gzipped, read strictly, and every cell as the text it is.

The form alone says where a cell begins and ends (Arrow's reader, RFC 4180); what it means is for
:mod:`dpcore.schema.cells`. So nothing in one cell changes how another is read.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import zlib
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import IO, TYPE_CHECKING, Any

from dpcore.datasets.files import File, check_names, demand_rows, most_bytes
from dpcore.errors import InputError
from dpcore.schema import MOST_COLUMNS, plain
from dpcore.schema.forms import DECIMAL

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

LARGEST_TEXT = 4 << 30  # bytes after decompression
CHUNKS = (1 << 20, 1 << 27)  # bytes read at once: the second where a row is longer than the first
DELIMITERS = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar"}
NOT_UTF8 = ("it is not UTF-8 text", "save it as UTF-8 (in a spreadsheet program: “CSV UTF-8”)")
BINARY_STARTS = (b"\x1f\x8b", b"PK\x03\x04", b"PAR1", b"\x93NUMPY", b"\x89PNG", b"%PDF", b"BZh")
UTF16_STARTS = (b"\xff\xfe", b"\xfe\xff")
_LIMIT = Lock()


def read_delimited(path: File, delimiter: str) -> pd.DataFrame:
    """The texts in a delimited file with one header line; every flaw raises InputError."""
    import pyarrow as pa

    with _one_sentence(path):
        names = checked_header(path, delimiter)
        batches = list(text_batches(path, delimiter, names, names))
    if not batches:
        raise InputError(path.name, "it has a header but no rows", "give a table with rows")
    frame: pd.DataFrame = pa.Table.from_batches(batches).to_pandas()
    demand_rows(frame, path.name)
    return frame


def text_batches(
    path: File,
    delimiter: str,
    names: Sequence[str],
    wanted: Sequence[str],
    *,
    check: bool = True,
) -> Iterator[pa.RecordBatch]:
    """The columns ``wanted`` as texts, in batches of some rows that follow the header.

    names: the header's, as :func:`checked_header` gives them. A row that is longer than a chunk has
    the file read anew in larger chunks, from where it was. check: look at the quotes as well.
    """
    import pyarrow as pa

    done = 0
    for chunk in CHUNKS:
        ahead = done
        try:
            for batch in _batches(path, delimiter, names, wanted, chunk, check):
                skipped = min(ahead, len(batch))
                ahead -= skipped
                if skipped < len(batch):
                    yield batch.slice(skipped)
                    done += len(batch) - skipped
            return
        except pa.ArrowInvalid as error:
            if "straddling" not in str(error) or chunk == CHUNKS[-1]:
                raise


def _batches(
    path: File,
    delimiter: str,
    names: Sequence[str],
    wanted: Sequence[str],
    chunk: int,
    check: bool,
) -> Iterator[pa.RecordBatch]:
    """All rows below the header, once; then the quotes are checked, if there are any."""
    import pyarrow as pa
    import pyarrow.csv as arrow

    places = [f"f{list(names).index(name)}" for name in wanted]
    with _bytes(path) as (_, watched):
        # The header is a row like others here: its names were looked at before.
        reader = arrow.open_csv(
            watched,
            read_options=arrow.ReadOptions(autogenerate_column_names=True, block_size=chunk),
            parse_options=arrow.ParseOptions(
                delimiter=delimiter, newlines_in_values=True, ignore_empty_lines=len(names) > 1
            ),
            convert_options=arrow.ConvertOptions(
                column_types={f"f{at}": pa.string() for at in range(len(names))},
                include_columns=places,
                strings_can_be_null=False,
            ),
        )
        ahead = 1
        for batch in reader:
            rows = batch.slice(ahead)
            ahead = max(0, ahead - len(batch))
            if len(rows):
                yield pa.record_batch(rows.columns, names=list(wanted))
    if check and watched.quoted:
        with _records(path, delimiter) as records:
            deque(records, maxlen=0)  # a quote that is not closed at a cell's end swallows rows


def header_line(path: File) -> str:
    """The first line that is not empty; no more is kept. Raises InputError where there is none."""
    with (
        _one_sentence(path),
        _bytes(path) as (file, _),
        io.TextIOWrapper(file, encoding="utf-8-sig") as text,
    ):
        for line in text:
            if line.strip():
                return line
    raise InputError(path.name, "the file is empty", "give a table with a header line")


def checked_header(path: File, delimiter: str) -> list[str]:
    """The header's names, which are those of a table; every flaw raises InputError."""
    with _one_sentence(path):
        with _records(path, delimiter) as records:
            header = next(records, None)
        if header is None:
            raise InputError(path.name, "the file is empty", "give a table with a header line")
        names = [plain(name) for name in header]
        _check_header(names, delimiter, path.name)
    return names


def _check_header(names: list[str], delimiter: str, where: str) -> None:
    """Refuse a header that is none: another delimiter's, or numbers."""
    if len(names) > MOST_COLUMNS:  # at once: nothing else is asked of a million names
        check_names(names, where)
    if names[0].lower().startswith("sep=") and not any(names[1:]):
        raise InputError(
            where, "its first line is for a spreadsheet program, not a header", "delete that line"
        )
    if len(names) == 1:
        for other, word in DELIMITERS.items():
            if other != delimiter and other in names[0]:
                raise InputError(
                    where,
                    f"it has one column, whose header contains {word}",
                    f"separate the columns with {DELIMITERS[delimiter]}, or state the separator "
                    "in the schema (dpcore schema FILE writes one)",
                )
    if 2 * sum(map(_is_numeral, names)) >= len(names):
        raise InputError(
            where,
            "its first line has numbers, not names",
            "add a header line whose names are words",
        )
    check_names(names, where)


def _is_numeral(name: str) -> bool:
    return re.fullmatch(DECIMAL, name) is not None


@contextmanager
def _records(path: File, delimiter: str) -> Iterator[Iterator[list[str]]]:
    """The file's rows as a strict reader cuts them, from its first line that is not empty."""
    with _LIMIT:  # that of the process, which another thread would set back
        limit = csv.field_size_limit(CHUNKS[-1])
        try:
            with (
                _bytes(path) as (file, _),
                io.TextIOWrapper(file, encoding="utf-8-sig", newline="") as text,
            ):
                yield filter(None, csv.reader(text, delimiter=delimiter, strict=True))
        finally:
            csv.field_size_limit(limit)


@contextmanager
def _bytes(path: File) -> Iterator[tuple[IO[bytes], _Watched]]:
    """The file's bytes, decompressed: UTF-8 text within the size cap; and who watches them."""
    with path.open("rb") as raw:
        packed = path.name.lower().endswith(".gz")
        unpacked: Any = gzip.GzipFile(fileobj=raw) if packed else raw
        watched = _Watched(unpacked, path.name, most_bytes(path, LARGEST_TEXT))
        with io.BufferedReader(watched, buffer_size=1 << 18) as file:
            yield file, watched


class _Watched(io.RawIOBase):
    """Bytes on their way in, stopped where they are not text or too many.

    quoted: whether there was a quote among them.
    """

    def __init__(self, source: IO[bytes], name: str, most: int) -> None:
        self._source, self._name, self._most, self._seen = source, name, most, 0
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._held = b""
        self.quoted, self._begun = False, False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        block = self._source.read(len(buffer) - len(self._held))
        if not self._seen and block.startswith(UTF16_STARTS):
            raise InputError(self._name, *NOT_UTF8)
        if b"\0" in block or (not self._seen and block.startswith(BINARY_STARTS)):
            raise InputError(
                self._name,
                "it contains binary data, not text",
                "rename it with the extension of its format",
            )
        self._decoder.decode(block, final=not block)
        self.quoted |= b'"' in block
        self._seen += len(block)
        if self._seen > self._most:
            raise InputError(
                self._name,
                f"it expands to more than {self._most >> 30} GiB",
                "give a smaller table or a .parquet file",
            )
        block = self._shaped(block, len(buffer))
        buffer[: len(block)] = block
        return len(block)

    def _shaped(self, block: bytes, room: int) -> bytes:
        """Without the empty lines before the header, and never with one end of a line in two: of a
        quoted one, the reader would lose the half that comes next."""
        if not self._begun:
            block = block.removeprefix(codecs.BOM_UTF8)
            while block and not (block := block.lstrip(b"\r\n")):
                block = self._source.read(room)
                self._decoder.decode(block, final=not block)
            self._begun = bool(block)
        if self._held and not block:  # the last line's end, alone: no reader's block
            block = b"\n"
        block, self._held = self._held + block, b""
        if block.endswith(b"\r") and (b"\n" in block or b"\r" in block[:-1]):
            block, self._held = block[:-1], b"\r"
        return block


@contextmanager
def _one_sentence(path: File) -> Iterator[None]:
    """Every way in which a text file can be broken, as an InputError without its content."""
    from pyarrow import ArrowException

    try:
        yield
    except InputError:
        raise
    except UnicodeError:
        problem = NOT_UTF8
    except (gzip.BadGzipFile, EOFError, zlib.error):
        problem = ("the gzip file is damaged", "compress the table again")
    except MemoryError:
        problem = ("it does not fit into memory", "give a smaller table")
    except (csv.Error, ArrowException) as error:
        problem = ("its cells cannot be separated", "check its quotes and line endings")
        if "straddling" in str(error):
            longest = CHUNKS[-1] >> 20
            problem = (
                f"a row is longer than {longest} MiB",
                "check its quotes, or leave the row out",
            )
        if "columns, got" in str(error):
            problem = (
                "some rows have more or fewer cells than the header",
                "start with the header, not with a title; give every row one cell per column, and "
                "quote cells that contain the separator, with no space before the quote",
            )
    except OSError:
        problem = ("it cannot be opened", "check its permissions")
    else:
        return
    raise InputError(path.name, *problem) from None
