"""Real texts that need no download: what scipy's and scikit-learn's authors wrote of their code.

A document is one docstring of an installed library, without its examples. The vocabulary is that
of other texts, numpy's and pandas': words that are public whoever wrote a docstring of the first
two. Which versions are installed decides what they say; the file names those it was made of. All
four libraries are under the BSD license of three clauses.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from dpcore.datasets.words import counted, vocabulary_path, words_of

FILE = "docstrings.npz"
TEXTS = ("scipy", "sklearn")
DICTIONARY = ("numpy", "pandas")
LEAST_WORDS = 20  # of a docstring worth reading
LEAST_TEXTS, MOST_SHARE = 5, 0.1  # of the dictionary's texts, for a word to be counted
VOCABULARY = 2_000

_QUOTED = re.compile(r'"""(.*?)"""', re.DOTALL)
_EXAMPLE = re.compile(r"^\s*(>>>|\.\.\.|\.\. ).*$", re.MULTILINE)


def made_of() -> list[str]:
    """The libraries that are installed, with their versions."""
    names = ("scikit-learn" if name == "sklearn" else name for name in (*TEXTS, *DICTIONARY))
    return [f"{name} {version(name)}" for name in names]


def write(folder: Path) -> None:
    """Write the counts, and the vocabulary beside them."""
    words = dictionary()
    starts, which, counts = counted(docstrings(), words)
    np.savez_compressed(
        folder / FILE,
        indptr=starts.astype(np.uint32),
        indices=which.astype(np.uint16),
        counts=counts.astype(np.uint16),
        shape=np.array([len(starts) - 1, len(words)]),
        made_of=np.array(made_of()),
    )
    vocabulary_path(folder / FILE).write_text("\n".join(words) + "\n", encoding="utf-8")


def docstrings() -> tuple[str, ...]:
    """The documents, in the order of their files."""
    return tuple(text for library in TEXTS for text in _texts(library))


def dictionary() -> tuple[str, ...]:
    """The vocabulary: words of the dictionary's texts, those in most texts first."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    texts = [set(words_of(text)) for library in DICTIONARY for text in _texts(library)]
    texts_with = Counter(word for text in texts for word in text)
    most = MOST_SHARE * len(texts)
    chosen = [
        word
        for word, count in texts_with.items()
        if LEAST_TEXTS <= count <= most and word not in ENGLISH_STOP_WORDS
    ]
    return tuple(sorted(chosen, key=lambda word: (-texts_with[word], word))[:VOCABULARY])


def _texts(library: str) -> Iterator[str]:
    for path in sorted(_home(library).rglob("*.py")):
        if {"tests", "_vendor", "externals", "_lib"} & set(path.parts):
            continue
        source = path.read_text(encoding="utf-8", errors="replace")
        for quoted in _QUOTED.findall(source):
            text = _EXAMPLE.sub("", quoted)
            if len(words_of(text)) >= LEAST_WORDS:
                yield text


def _home(library: str) -> Path:
    spec = find_spec(library)
    assert spec is not None
    assert spec.origin is not None  # each is one of our dependencies
    return Path(spec.origin).parent
