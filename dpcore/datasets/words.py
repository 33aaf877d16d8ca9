"""Words of texts: what is a word, which are frequent, and texts as counts of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dpcore.errors import InputError

FREQUENT = 10_000  # words at most
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


def counted(
    texts: Sequence[str], vocabulary: Sequence[str]
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]:
    """Texts as bags of words: starts, words, counts.

    >>> [part.tolist() for part in counted(["one two one", "three"], ["one", "two"])]
    [[0, 2, 2], [0, 1], [2.0, 1.0]]
    """
    place = {word: at for at, word in enumerate(vocabulary)}
    starts, words, counts = [0], list[int](), list[int]()
    for text in texts:
        found = Counter(place[word] for word in letters_of(text) if word in place)
        words.extend(found)
        counts.extend(found.values())
        starts.append(len(words))
    return (
        np.array(starts, dtype=np.intp),
        np.array(words, dtype=np.intp),
        np.array(counts, dtype=np.float64),
    )


def frequent(texts: Sequence[str]) -> tuple[str, ...]:
    """Words in at least :data:`LEAST_TEXTS` documents and not in too many, the most frequent
    first."""
    seen = Counter(word for text in texts for word in set(words_of(text)))
    most = max(LEAST_TEXTS, MOST_SHARE * len(texts))
    kept = [word for word, count in seen.items() if LEAST_TEXTS <= count <= most]
    if not kept:
        raise InputError(
            "vocabulary",
            f"no word occurs in at least {LEAST_TEXTS} documents and in at most {MOST_SHARE:.0%} "
            "of them, so no list of words can be read from them",
            "give a list",
        )
    return tuple(sorted(kept, key=lambda word: (-seen[word], word))[:FREQUENT])
