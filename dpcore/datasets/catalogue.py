"""The tables that come with the package: small, public or simulated, each with its schema.

``catalogue.toml`` lists them. The files lie in ``sample_data`` beside the package ``dpcore``, in a
checkout and installed alike; wide or long simulated tables have no file and are drawn when they are
asked for.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from dpcore.checks import choose
from dpcore.datasets.files import home
from dpcore.errors import InputError
from dpcore.schema import Schema

if TYPE_CHECKING:
    import pandas as pd

    from dpcore.wall.data.corpus import PrivateCorpus


@dataclass(frozen=True)
class Opening:
    """How one model (``"gmm"``, ``"kmeans"``, ``"fa"``, ...) begins with a table.

    components: groups, centres or factors worth looking for. iterations, covariance: with these,
    the same steps without noise end where a converged fit does; a model without them does not read
    them. pool: squares of so many pixels a side are averaged first, where rows are pictures. words:
    pairs of further options, as :func:`dpcore.fit` takes them. epsilon: where the first picture
    begins to show something.
    """

    model: str
    components: int
    iterations: int = 5
    covariance: str = "full"
    pool: int = 1
    words: tuple[tuple[str, Any], ...] = ()
    epsilon: float = 1.0

    @classmethod
    def parse(cls, entry: Mapping[str, Any]) -> Opening:
        """An opening from its entry in a catalogue file, whose ``words`` are a table."""
        return cls(**{**entry, "words": tuple(entry.get("words", {}).items())})


@dataclass(frozen=True)
class Bundled:
    """What a bundled table and a bundled collection have in common.

    rows, features: its size, public because the data are. provenance: ``"simulated"`` (no real
    person) or ``"public"`` (published data). openings: the models that suit it, best first. listed:
    whether the explorer shows it; ``bundled:NAME`` loads it either way.
    """

    name: str
    title: str
    story: str
    rows: int
    features: int
    provenance: str
    openings: tuple[Opening, ...]
    listed: bool = field(default=True, kw_only=True)

    @property
    def models(self) -> tuple[str, ...]:
        """The models that suit it, best first."""
        return tuple(opening.model for opening in self.openings)


@dataclass(frozen=True)
class BundledTable(Bundled):
    """One bundled table and how to begin with it.

    file: where it lies in ``sample_data``; ``None`` if it is drawn when asked for.
    """

    file: str | None = None

    @property
    def path(self) -> Path:
        """Where the data file lies; InputError if the table is drawn."""
        if self.file is None:
            raise InputError(
                "data", f"{self.name} is generated and has no file", f"load bundled:{self.name}"
            )
        return home() / self.file

    @cached_property
    def schema(self) -> Schema:
        """The public bounds: beside the data file, or those the rows are drawn in."""
        if self.file is not None:
            return Schema.from_toml(home() / f"{self.name}.toml")
        from dpcore.datasets.drawn import drawn_schema

        return drawn_schema(self.name, SCHEMAS[self.name], self.title)

    def source(self) -> tuple[Path | pd.DataFrame, Schema | None]:
        """The file, whose schema lies beside it, or the rows drawn now with theirs."""
        if self.file is not None:
            return self.path, None
        from dpcore.datasets.drawn import ROWS

        return ROWS[self.name](self.schema), self.schema


@dataclass(frozen=True)
class BundledCorpus(Bundled):
    """One bundled collection of documents and how to begin with it.

    rows: documents. features: words that are counted. make: seals its documents.
    """

    make: Callable[[], PrivateCorpus]


class _Named(Protocol):
    @property
    def name(self) -> str: ...


_Entry = TypeVar("_Entry", bound=_Named)


def entry(listed: Sequence[_Entry], name: str, kind: str) -> _Entry:
    """The entry of this name; InputError, which lists the names there are, if there is none.

    >>> entry(BUNDLED, "iris", "bundled table").rows
    150
    """
    for candidate in listed:
        if candidate.name == name:
            return candidate
    names = [candidate.name for candidate in listed]
    raise InputError("data", f"{name!r} is not a {kind}", choose(name, names))


def read_entries(file: str) -> dict[str, Any]:
    """What a catalogue file of this folder holds, with its lists of openings as :class:`Opening`.

    Keys are names; a value is the entry's fields.
    """
    return _with_openings(tomllib.loads((Path(__file__).parent / file).read_text("utf-8")))


def _with_openings(table: Mapping[str, Any]) -> dict[str, Any]:
    values = {key: _with_openings(v) if isinstance(v, dict) else v for key, v in table.items()}
    if "openings" in values:
        values["openings"] = tuple(map(Opening.parse, values["openings"]))
    return values


CATALOGUE = read_entries("catalogue.toml")
SCHEMAS = {name: facts.pop("schema", {}) for name, facts in CATALOGUE["tables"].items()}
BUNDLED = tuple(BundledTable(name, **facts) for name, facts in CATALOGUE["tables"].items())


def bundled() -> tuple[BundledTable, ...]:
    """The listed tables, in the order in which a newcomer should meet them.

    >>> bundled()[0].title
    'Three groups'
    """
    return tuple(table for table in BUNDLED if table.listed)


def find(name: str) -> BundledTable:
    """The bundled table of this name; InputError if there is none.

    >>> find("iris").provenance
    'public'
    """
    return entry(BUNDLED, name, "bundled table")
