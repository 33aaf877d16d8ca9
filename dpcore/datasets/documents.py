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

A schema file beside a table of texts (``people.toml``) says which column holds them (``type =
"text"``), how the file is written, whose documents they are and how many one of them has.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile, ZipFile

import numpy as np

from dpcore.datasets.corpora import find_corpus, is_corpus
from dpcore.datasets.described import schema_beside
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

if TYPE_CHECKING:
    from dpcore.schema import Column
    from dpcore.wall.data.corpus import PrivateCorpus, Vocabulary

LARGEST_ZIP = 1 << 32  # bytes of all texts of an archive


def load_documents(
    source: str | PathLike[str],
    *,
    vocabulary: Vocabulary | Sequence[str] | str | PathLike[str] | None = None,
    text: str | None = None,
    words: int | None = None,
    infer_vocabulary: bool = False,
    unit: str | None = None,
    documents_per_unit: int | None = None,
) -> PrivateCorpus:
    """A private corpus from texts or bags of words.

    source: a folder or ``.zip`` of texts, a table with a column of texts, an archive of counts,
    ``bundled:NAME`` or ``published:NAME``.
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
    if isinstance(source, str) and source.startswith("bundled:"):
        corpus = find_corpus(source.removeprefix("bundled:")).make()
    elif isinstance(source, str) and source.startswith("published:"):
        from dpcore.datasets.published import find_set

        corpus = find_set(source.removeprefix("published:")).corpus()
    else:
        path = Path(source)
        public = _public(path, vocabulary, text, infer_vocabulary)
        corpus = _sealed(path, public, text)
        beside = schema_beside(source) if path.name.lower().endswith(TABLES) else None
        if beside is not None:
            facts = {"unit": beside.unit, "rows_per_person": beside.rows_per_person}
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
            with np.load(path, allow_pickle=False) as archive:
                return {"indptr", "indices", "counts"} <= set(archive.files)
        except (OSError, ValueError, EOFError, BadZipFile):
            return False
    return path.is_dir() or path.suffix.lower() == ".zip"


def _public(path: Path, given: Any, text: str | None, infer: bool) -> Vocabulary:
    """The vocabulary that was given, or lies beside the file, or is read off the documents."""
    from dpcore.wall.data.corpus import Vocabulary

    if isinstance(given, Vocabulary):
        return given
    if given is not None:
        listed = isinstance(given, str | PathLike)
        return Vocabulary(read_vocabulary(given) if listed else tuple(given))
    if vocabulary_path(path).is_file():
        return Vocabulary(read_vocabulary(vocabulary_path(path)))
    if path.suffix == ".npz":
        raise InputError(
            "vocabulary",
            "bags of words contain numbers of words, not the words",
            f"give a file with one word per line, for example {vocabulary_path(path).name} next "
            "to it",
        )
    if infer:
        return Vocabulary(frequent(_texts(path, text)), rehearsal=True)
    raise InputError(
        "vocabulary",
        "no public list of words was given",
        f"give a file with one word per line, for example {vocabulary_path(path).name} next to "
        "it, or let a rehearsal read them from the documents (infer_vocabulary)",
    )


def _sealed(path: Path, vocabulary: Vocabulary, text: str | None) -> PrivateCorpus:
    from dpcore.wall.data.corpus import PrivateCorpus

    if path.suffix == ".npz":
        return PrivateCorpus.seal(*read_bags(path, vocabulary.size), vocabulary)
    never = next((word for word in vocabulary.words if letters_of(word) != [word]), None)
    if never is not None:
        raise InputError(
            "vocabulary",
            f"{never!r} can never occur: texts are read as runs of lower-case letters",
            "write it in that form, or leave it out",
        )
    return PrivateCorpus.seal(*counted(_texts(path, text), vocabulary.words), vocabulary)


def _texts(path: Path, column: str | None) -> list[str]:
    if path.is_dir():
        files = sorted(path.glob("*.txt"))
        if not files:
            raise InputError(path.name, "the folder has no .txt file", "give one file per document")
        return [read_text(file) for file in files]
    if path.suffix.lower() == ".zip":
        return _zipped(path)
    if not path.name.lower().endswith(TABLES):
        raise InputError(
            path.name,
            "it is not a source of documents",
            "give a CSV with a column of texts, a folder or .zip of .txt files, or counts (.npz)",
        )
    from dpcore.datasets.load import read_frame

    schema = schema_beside(path)
    stated = [] if schema is None else [c.name for c in schema.columns if _holds_texts(c)]
    frame = read_frame(path, separator=None if schema is None else schema.separator)
    if column is None and len(stated) == 1:
        column = stated[0]
    if column is None:  # by the header alone: what cells hold would be one document's choice
        column = frame.columns[0] if frame.shape[1] == 1 else "text"
        if column not in frame.columns:
            raise InputError("text", "several columns may hold the texts", "name the right one")
    if column not in frame.columns:
        raise InputError("text", f"there is no column {column!r}", "name one in the table")
    return frame[column].tolist()


def _holds_texts(column: Column) -> bool:
    return column.type == "text" and column.role == "feature"


def _zipped(path: Path) -> list[str]:
    """The ``.txt`` files of an archive by name, read where they lie; nothing is unpacked."""
    try:
        with ZipFile(path) as archive:
            files = [one for one in archive.infolist() if _is_text(one.filename)]
            if sum(one.file_size for one in files) > LARGEST_ZIP:
                raise InputError(
                    path.name, f"its texts are more than {LARGEST_ZIP >> 30} GiB", "give fewer"
                )
            texts = []
            for one in sorted(files, key=lambda one: one.filename):
                with archive.open(one) as file:
                    texts.append(decoded(path.name, file.read(LARGEST + 1)))
    except FileNotFoundError:
        raise InputError(path.name, "there is no such file", "check the path") from None
    except (BadZipFile, OSError, EOFError, NotImplementedError, RuntimeError, zlib.error):
        raise InputError(
            path.name, "the zip file is damaged, or locked", "pack the texts again"
        ) from None
    if not texts:
        raise InputError(path.name, "it has no .txt file", "pack one file per document")
    return texts


def _is_text(name: str) -> bool:
    """Whether a member is a document: what systems add beside them begins with two underscores."""
    return name.lower().endswith(".txt") and not name.startswith("__")
