"""Words of texts: what is a word, which are frequent, texts as counts of them, and their files."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from dpcore.arrays import Array, Indices
from dpcore.datasets.files import File, InMemory
from dpcore.errors import InputError

FREQUENT = 10_000  # words at most
TABLES = (".csv", ".tsv", ".csv.gz", ".tsv.gz")  # files with a column of texts
LARGEST = 1 << 26  # bytes of one text file
LEAST_TEXTS, MOST_SHARE = 5, 0.3  # of the texts, for a word to be one of those

_WORD = re.compile(r"[^\W\d_]{3,}")
_LETTERS = re.compile(r"[^\W\d_]+")


def words_of(text: str) -> list[str]:
    """Runs of at least three letters, in lower case.

    >>> words_of("The 3 Eigenvalues of A_ij.")
    ['the', 'eigenvalues']
    """
    return _WORD.findall(text.lower())


def letters_of(text: str) -> list[str]:
    """All runs of letters, in lower case: what a vocabulary that was given may name.

    >>> letters_of("The 3 Eigenvalues of A_ij.")
    ['the', 'eigenvalues', 'of', 'a', 'ij']
    """
    return _LETTERS.findall(text.lower())


def counted(texts: Sequence[str], vocabulary: Sequence[str]) -> tuple[Indices, Indices, Array]:
    """Texts as bags of words: starts, words, counts.

    >>> [part.tolist() for part in counted(["one two one", "three"], ["one", "two"])]
    [[0, 2, 2], [0, 1], [2.0, 1.0]]
    """
    place = {word: at for at, word in enumerate(vocabulary)}
    starts, words, counts = [0], list[int](), list[int]()
    for text in texts:
        times = Counter(place[word] for word in letters_of(text) if word in place)
        words.extend(times)
        counts.extend(times.values())
        starts.append(len(words))
    return (
        np.array(starts, dtype=np.intp),
        np.array(words, dtype=np.intp),
        np.array(counts, dtype=np.float64),
    )


def frequent(texts: Sequence[str]) -> tuple[str, ...]:
    """Words in at least :data:`LEAST_TEXTS` documents and not in too many, the most frequent
    first. Raises InputError where there is none."""
    texts_with = Counter(word for text in texts for word in set(words_of(text)))
    most = max(LEAST_TEXTS, MOST_SHARE * len(texts))
    chosen = [word for word, count in texts_with.items() if LEAST_TEXTS <= count <= most]
    if not chosen:
        raise InputError(
            "vocabulary",
            f"no word occurs in at least {LEAST_TEXTS} documents and in at most {MOST_SHARE:.0%} "
            "of all documents, so no list of words can be read from them",
            "give a list",
        )
    return tuple(sorted(chosen, key=lambda word: (-texts_with[word], word))[:FREQUENT])


def vocabulary_path(path: Path) -> Path:
    """Where the vocabulary of a file, or of a folder, is looked for: beside it.

    >>> vocabulary_path(Path("folder/reviews.csv.gz")).name
    'reviews.vocab.txt'
    """
    endings = (*TABLES, ".npz", ".zip")
    ending = next((suffix for suffix in endings if path.name.lower().endswith(suffix)), "")
    place = path.absolute()  # "." has no name
    return place.parent / (place.name[: len(place.name) - len(ending)] + ".vocab.txt")


def read_vocabulary(path: str | PathLike[str] | InMemory) -> tuple[str, ...]:
    """The words of a file, one a line. Raises InputError as :func:`read_text` does."""
    text = read_text(path if isinstance(path, InMemory) else Path(path))
    return tuple(word for word in map(str.strip, text.splitlines()) if word)


def read_bags(path: File, size: int) -> tuple[Indices, Indices, Array]:
    """starts ``(n + 1,)``, words and counts ``(entries,)`` of an ``.npz`` of bags of words.

    size: of the vocabulary. Raises InputError where the file holds none, or fewer words.
    """
    problem = InputError(
        path.name,
        "it contains no bags of words",
        "save the arrays indptr, indices, counts and shape (documents, words)",
    )
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            starts, words, counts, shape = (
                np.asarray(archive[name]) for name in ("indptr", "indices", "counts", "shape")
            )
    except FileNotFoundError:
        raise InputError(path.name, "there is no such file", "check the path") from None
    except (OSError, ValueError, EOFError, KeyError, BadZipFile):
        raise problem from None
    if any(part.ndim != 1 or part.dtype.kind not in "iuf" for part in (starts, words, counts)):
        raise problem
    if any(part.dtype.kind not in "iu" for part in (starts, words, shape)):
        raise InputError(
            path.name, "indptr, indices and shape must hold whole numbers", "save whole numbers"
        )
    if shape.shape != (2,) or len(starts) != int(shape[0]) + 1 or int(shape[1]) < size:
        raise InputError(
            path.name,
            "its shape does not fit its documents or the vocabulary",
            "save its arrays again, or give the vocabulary with which the words were counted",
        )
    return starts.astype(np.intp), words.astype(np.intp), counts.astype(float)


def read_text(path: File) -> str:
    """The text of a file in UTF-8. Raises InputError where it is none, or larger than 64 MiB."""
    try:
        with path.open("rb") as file:
            raw = file.read(LARGEST + 1)
    except OSError:
        raise InputError(path.name or "path", "it cannot be opened", "check the path") from None
    return decoded(path.name, raw)


def decoded(name: str, raw: bytes) -> str:
    """The text of a file whose bytes are ``raw``; messages call it ``name``. Raises InputError."""
    if len(raw) > LARGEST:
        raise InputError(name, "the file is too large for one text", "split it")
    try:
        return io.TextIOWrapper(io.BytesIO(raw), encoding="utf-8-sig").read()  # any line ends
    except UnicodeError:
        raise InputError(name, "it is not UTF-8 text", "save it as UTF-8") from None
