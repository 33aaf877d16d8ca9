"""Documents from a table with a column of texts, a folder of text files, or bags of words.

A document is counted in a public vocabulary: one given, or one beside the file
(``people.vocab.txt`` for ``people.csv`` or ``people.npz``, one word a line). One read off the
documents themselves makes every fit a rehearsal.

==========================  ==========================================================
``.csv``, ``.tsv`` (.gz)    a column of texts
folder, ``.zip``            its ``.txt`` files, by name, one document each
``.npz``                    ``indptr``, ``indices``, ``counts``, ``shape`` (documents, words)
``bundled:bars``            the simulated bars
``bundled:docstrings``      docstrings of installed scientific libraries
``bundled:few_bars``        a thousand of the bars
``bundled:help_texts``      the docstrings in 300 words
==========================  ==========================================================

A schema of a table of texts (the file beside it: ``people.toml``) says which column holds them
(``type = "text"``), how the file is written, whose documents they are and how many one of them has.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile, ZipFile, ZipInfo

import numpy as np

from dpcore.checks import path_of, words_of
from dpcore.datasets.corpora import find_corpus, is_corpus
from dpcore.datasets.described import schema_beside
from dpcore.datasets.files import File, InMemory, most_bytes
from dpcore.datasets.words import (
    LARGEST,
    TABLES,
    counted,
    decoded,
    frequent,
    letters_of,
    read_bags,
    read_text,
    read_vocabulary,
    vocabulary_path,
)
from dpcore.errors import InputError
from dpcore.schema import Schema

if TYPE_CHECKING:
    from dpcore.wall.data.corpus import PrivateCorpus, Vocabulary

LARGEST_ZIP = 1 << 32  # bytes of all texts of an archive


def load_documents(
    source: str | PathLike[str] | InMemory,
    *,
    schema: Schema | str | PathLike[str] | None = None,
    vocabulary: Vocabulary | Sequence[str] | str | PathLike[str] | None = None,
    text: str | None = None,
    words: int | None = None,
    infer_vocabulary: bool = False,
    unit: str | None = None,
    documents_per_unit: int | None = None,
) -> PrivateCorpus:
    """A private corpus from texts or bags of words.

    source: a folder or ``.zip`` of texts, a table with a column of texts, an archive of counts,
    ``bundled:NAME`` or ``published:NAME``. schema: of a table, or its path [that beside it].
    vocabulary: public words, or the path of a file with one a line. text: the column of texts
    (that of the schema beside the table, the only one, or the one called text). words: only the
    first so many words. infer_vocabulary: read the words off the documents, which makes a
    rehearsal. unit: whose documents are protected (default: the schema's, or author);
    documents_per_unit: the most that one of them has.

    **Guarantee**: the documents are sealed; see :class:`dpcore.wall.data.corpus.PrivateCorpus`.
    **Raises** InputError; the message holds nothing of the documents.

    >>> load_documents("bundled:bars")
    PrivateCorpus(sealed)
    """
    facts: dict[str, Any] = {}
    if isinstance(source, str) and source.startswith(("bundled:", "published:")):
        how = {"schema": schema, "vocabulary": vocabulary, "text": text}
        for name, value in (how | {"infer_vocabulary": infer_vocabulary or None}).items():
            if value is not None:
                raise InputError(name, "these documents come with their words", "leave it out")
    if isinstance(source, str) and source.startswith("bundled:"):
        corpus = find_corpus(source.removeprefix("bundled:")).make()
    elif isinstance(source, str) and source.startswith("published:"):
        from dpcore.datasets.published import find_set

        corpus = find_set(source.removeprefix("published:")).corpus()
    else:
        path = source if isinstance(source, InMemory) else path_of("documents", source)
        if schema is None and path.name.lower().endswith(TABLES):
            schema = schema_beside(path)
        if not isinstance(schema, Schema | None):
            schema = Schema.from_toml(schema)
        if schema is not None:
            facts = {"unit": schema.unit, "rows_per_person": schema.rows_per_person}
            facts["title"] = schema.title
            if schema.person is not None:
                raise InputError(
                    schema.person,
                    "an id column does not limit the documents per person",
                    'set role = "ignore", and state the largest number of documents per person in '
                    "rows_per_person",
                )
        public = _public(path, vocabulary, text, infer_vocabulary, schema)
        corpus = _sealed(path, public, text, schema)
    if unit is not None:
        facts["unit"] = unit
    if documents_per_unit is not None:
        facts["rows_per_person"] = documents_per_unit
    if facts:
        corpus.schema = replace(corpus.schema, **facts)
    return corpus if words is None else corpus.with_first_words(words)


def is_documents(source: Any) -> bool:
    """Whether a source holds documents whatever is asked of it: a folder or zip, bags of words."""
    if not isinstance(source, str | PathLike):
        return False
    if str(source).startswith("bundled:"):
        return is_corpus(str(source).removeprefix("bundled:"))
    if str(source).startswith("published:"):
        from dpcore.datasets.published import is_documents_set

        return is_documents_set(str(source).removeprefix("published:"))
    path = Path(source)
    if path.suffix == ".npz" and path.is_file():
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
                return {"indptr", "indices", "counts"} <= set(archive.files)
        except (OSError, ValueError, EOFError, BadZipFile):
            return False
    return path.is_dir() or path.suffix.lower() == ".zip"


def _public(
    path: File, vocabulary: Any, text: str | None, infer: bool, schema: Schema | None
) -> Vocabulary:
    """The vocabulary that was given, or lies beside the file, or is read off the documents."""
    from dpcore.wall.data.corpus import Vocabulary

    if isinstance(vocabulary, Vocabulary):
        return vocabulary
    if vocabulary is not None:
        listed = isinstance(vocabulary, str | PathLike)
        return Vocabulary(
            read_vocabulary(path_of("vocabulary", vocabulary))
            if listed
            else words_of("vocabulary", vocabulary)
        )
    if infer and not _ends(path, ".npz"):
        return Vocabulary(frequent(texts_of(path, text, schema)[0]), rehearsal=True)
    usual = vocabulary_path(Path(path.name) if isinstance(path, InMemory) else path)
    if not isinstance(path, InMemory) and usual.is_file():
        return Vocabulary(read_vocabulary(usual))
    if _ends(path, ".npz"):
        raise InputError(
            "vocabulary",
            "bags of words refer to words by number and do not contain them",
            f"give a file with one word per line, for example {usual.name} next to the counts",
        )
    raise InputError(
        "vocabulary",
        "no public list of words was given",
        f"give a file with one word per line, for example {usual.name} next to the documents, or "
        "let a rehearsal read the words from the documents (infer_vocabulary)",
    )


def _sealed(
    path: File, vocabulary: Vocabulary, text: str | None, schema: Schema | None
) -> PrivateCorpus:
    from dpcore.wall.data.corpus import PrivateCorpus

    if _ends(path, ".npz"):
        return PrivateCorpus.seal(*read_bags(path, vocabulary.size), vocabulary)
    never = next((word for word in vocabulary.words if letters_of(word) != [word]), None)
    if never is not None:
        raise InputError(
            "vocabulary",
            f"{never!r} can never occur: texts are read as runs of lower-case letters",
            "write the word in that form, or leave it out",
        )
    texts, column = texts_of(path, text, schema)
    if column is not None:
        vocabulary = replace(vocabulary, column=column)
    return PrivateCorpus.seal(*counted(texts, vocabulary.words), vocabulary)


def _ends(path: File, ending: str) -> bool:
    return path.name.lower().endswith(ending)


def texts_of(path: File, column: str | None, schema: Schema | None) -> tuple[list[str], str | None]:
    """The texts of a folder, an archive or a table, and of a table the column that holds them.

    column: its name; by default the only column of texts that the schema states, the only one of
    the table, or the one called text. Raises InputError where there is none.
    """
    if isinstance(path, Path) and path.is_dir():
        files = sorted(path.glob("*.txt"))
        if not files:
            raise InputError(path.name, "the folder has no .txt file", "give one file per document")
        if odd := next((file for file in files if not file.is_file()), None):
            raise InputError(odd.name, "it is not a file", "give one file per document")
        return [read_text(file) for file in files], None
    if _ends(path, ".zip"):
        return _zipped(path), None
    if not path.name.lower().endswith(TABLES):
        raise InputError(
            path.name,
            "it is not a source of documents",
            "give a CSV with a column of texts, a folder or .zip of .txt files, or counts (.npz)",
        )
    from dpcore.datasets.load import read_frame

    columns = () if schema is None else schema.columns
    stated = [c.name for c in columns if (c.type, c.role) == ("text", "feature")]
    frame = read_frame(path, separator=None if schema is None else schema.separator)
    if column is None and len(stated) == 1:
        column = stated[0]
    if column is None:  # by the header alone: what cells hold would be one document's choice
        column = frame.columns[0] if frame.shape[1] == 1 else "text"
        if column not in frame.columns:
            raise InputError(
                "text", "it is not clear which column holds the texts", "name the right one"
            )
    if column not in frame.columns:
        raise InputError(
            "text", f"there is no column {column!r}", "name one of the table's columns"
        )
    return frame[column].tolist(), column


def demand_texts(path: File) -> None:
    """Raise InputError for an archive that is damaged or has no text; its list of files is read,
    and no file."""
    with _opened(path):
        pass


@contextmanager
def _opened(path: File) -> Iterator[tuple[ZipFile, list[ZipInfo]]]:
    """An archive and its ``.txt`` files by name, read where they lie; nothing is unpacked."""
    try:
        with path.open("rb") as opened, ZipFile(opened) as archive:
            files = [member for member in archive.infolist() if _is_text(member.filename)]
            most = most_bytes(path, LARGEST_ZIP)
            if sum(member.file_size for member in files) > most:
                raise InputError(
                    path.name, f"its texts exceed {most >> 30} GiB", "give fewer texts"
                )
            if not files:
                raise InputError(
                    path.name, "it has no .txt file", "pack one .txt file per document"
                )
            yield archive, sorted(files, key=lambda member: member.filename)
    except FileNotFoundError:
        raise InputError(path.name, "there is no such file", "check the path") from None
    except (BadZipFile, OSError, EOFError, NotImplementedError, RuntimeError, zlib.error):
        raise InputError(
            path.name,
            "the zip file is damaged or encrypted",
            "pack the texts again, without a password",
        ) from None


def _zipped(path: File) -> list[str]:
    """The texts of an archive."""
    texts = []
    with _opened(path) as (archive, files):
        for member in files:
            with archive.open(member) as file:
                texts.append(decoded(path.name, file.read(LARGEST + 1)))
    return texts


def _is_text(name: str) -> bool:
    """Whether a member is a document: what systems add beside them begins with two underscores."""
    return name.lower().endswith(".txt") and not name.startswith("__")
