"""Collections of documents at random: texts in a table or a folder, or bags of words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from dpcore.datasets.documents import load_documents
from dpcore.fuzzing.cells import FRACTIONS, ODD, WHOLE_NUMBERS, pick
from dpcore.fuzzing.tables import Neighbours
from dpcore.schema import MISSING_TOKENS
from dpcore.wall.data.corpus import PrivateCorpus, Vocabulary

WORDS = ("alpha", "beta", "gamma", "delta", "nan", "none", "true", "inf", "x", "na")
KINDS = (".csv", ".tsv", "texts", ".npz")
COUNTS = (0.0, -1.0, np.nan, np.inf, 1e300, 1e9, 1e-300, 1.0, 0.5)
FEW = 40


@dataclass(frozen=True)
class Documents:
    """Texts, or bags of words: pairs of words and counts. whole: counts are whole numbers."""

    kind: str
    vocabulary: Vocabulary
    rows: tuple[Any, ...]
    names: tuple[int, ...]
    whole: bool = False

    @property
    def label(self) -> str:
        """The kind for people."""
        return {"texts": "folder of .txt", ".npz": "bags of words"}.get(
            self.kind, f"documents in {self.kind}"
        )

    def ordered(self, positions: Sequence[int]) -> Documents:
        """Some of the documents, in an order."""
        return replace(
            self,
            rows=tuple(self.rows[at] for at in positions),
            names=tuple(self.names[at] for at in positions),
        )


def random_documents(rng: np.random.Generator, adjacency: str, *, sampled: bool) -> Neighbours:
    """A pair of neighbouring collections."""
    kind, count = pick(rng, KINDS), int(rng.integers(1, FEW))
    vocabulary = Vocabulary(
        tuple(rng.permutation(WORDS)[: int(rng.integers(2, len(WORDS)))].tolist()),
        rows_per_person=1 if sampled else int(rng.choice([1, 1, 2])),
    )
    table = Documents(kind, vocabulary, (), (), whole=bool(rng.integers(2)))
    rows = [_document(rng, table, hostile=rng.random() < 0.1) for _ in range(count)]
    table = replace(table, rows=tuple(rows), names=tuple(range(count)))
    people = min(vocabulary.rows_per_person, count)
    moved = tuple(int(at) for at in rng.choice(count, people, replace=False))
    for at in moved:
        rows[at] = _document(rng, table, hostile=True)
    changed = replace(table, rows=tuple(rows))
    if adjacency != "add_remove":
        return Neighbours(table, changed, (), odd=False)
    moved = moved[1:] if people == count else moved
    left = [at for at in range(count) if at not in moved]
    return Neighbours(changed, changed.ordered(left), moved, odd=False)


def _document(rng: np.random.Generator, table: Documents, *, hostile: bool) -> Any:
    if table.kind == ".npz":
        return _bag(rng, table, hostile)
    words = [pick(rng, table.vocabulary.words) for _ in range(int(rng.integers(1, 12)))]
    if not hostile:
        return " ".join(words)
    match int(rng.integers(5)):
        case 0:
            return pick(rng, MISSING_TOKENS)
        case 1:
            return pick(rng, (*WHOLE_NUMBERS, *FRACTIONS))
        case 2:
            return pick(rng, ODD)
        case 3:
            return f"{words[0]} " * 400
        case _:
            return ", ".join(word.upper() for word in words)


def _bag(rng: np.random.Generator, table: Documents, hostile: bool) -> Any:
    """Places in the vocabulary and beyond it, some twice, with counts."""
    size = int(rng.integers(0, 8))
    places = rng.integers(table.vocabulary.size + (2 if hostile else 0), size=size)
    counts = rng.integers(1, 9, size).astype(float)
    if hostile:
        counts = rng.choice(COUNTS, size)
    if table.whole:
        counts = np.where(np.isfinite(counts), np.clip(counts, -9.0, 1e9), 0.0).astype(np.int64)
    return places.tolist(), counts.tolist()


def loaded(table: Documents, folder: Path) -> PrivateCorpus:
    """The collection, written into an empty folder and loaded."""
    path = folder / f"texts{table.kind if table.kind != 'texts' else ''}"
    words: dict[str, Any] = {"vocabulary": table.vocabulary}
    if table.kind == ".npz":
        np.savez(path, **_archive(table))
    elif table.kind == "texts":
        path.mkdir()
        for name, text in zip(table.names, table.rows, strict=True):
            (path / f"{name:03}.txt").write_text(text, encoding="utf-8")
    else:
        words["text"] = "text"
        mark = "\t" if table.kind == ".tsv" else ","
        lines = [f"id{mark}text"]
        for name, text in zip(table.names, table.rows, strict=True):
            quoted = text.replace('"', '""')
            lines.append(f'{name}{mark}"{quoted}"')
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return load_documents(path, **words)


def _archive(table: Documents) -> dict[str, Any]:
    starts = np.cumsum([0, *(len(places) for places, _ in table.rows)])
    kind = np.int64 if table.whole else np.float64
    return {
        "indptr": starts,
        "indices": np.array([at for places, _ in table.rows for at in places], dtype=np.int64),
        "counts": np.array([count for _, counts in table.rows for count in counts], dtype=kind),
        "shape": np.array([len(table.rows), table.vocabulary.size + 2]),
    }
