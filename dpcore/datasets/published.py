"""The published sets that the papers measure on: none comes with the package.

``published.toml`` lists them. Whoever has one converts it once with ``dpcore data add NAME FILE``.
It then lies in a folder of the user's own, is loaded as ``published:NAME``, stands in the
explorer's list, and figures find it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcore.checks import path_of
from dpcore.datasets import conversion
from dpcore.datasets.catalogue import BundledCorpus, BundledTable, Opening, entry, read_entries
from dpcore.datasets.columnar import frame_of_array, schema_of_bytes
from dpcore.datasets.conversion import Content, Fact
from dpcore.datasets.places import DEGREES, points_from_histogram
from dpcore.errors import InputError
from dpcore.schema import Column, Image, Schema

if TYPE_CHECKING:
    import pandas as pd

    from dpcore.wall.data.corpus import PrivateCorpus

Bounds = dict[str, tuple[float, float]]

CHECK_INS, SEED = 200_000, 2011
LIFE_SCIENCE_RADIUS = 20.0
COUNTED = (*range(5, 14), 18, 49, 50, 51)  # columns of IPUMS-BR that are no yes or no, from 0


@dataclass(frozen=True)
class PublishedSet:
    """One published set: whose it is, how its original is converted, and by what it is known.

    file: the converted form's name. features: columns, or words that are counted. licence: on what
    terms its owner lets others use it. original: what ``dpcore data add`` takes, besides a file of
    the converted form; ``read`` turns it into that. facts: shape and column sums of what the file
    must hold. checksums: published ones of the original's files. limits: where the public limits
    come from. schema, rows: the table that is fitted; without them it holds documents.
    """

    name: str
    title: str
    story: str
    owner: str
    source: str
    licence: str
    original: str
    limits: str
    file: str
    size: tuple[int, int]
    openings: tuple[Opening, ...]
    facts: Mapping[str, Fact]
    read: Callable[[Path], Content] | None = None
    checksums: Mapping[str, str] | None = None
    schema: Callable[[], Schema] | None = None
    rows: Callable[[Content], pd.DataFrame] | None = None

    @property
    def path(self) -> Path:
        """Where the converted set lies, or would."""
        return folder() / self.file

    @property
    def is_here(self) -> bool:
        """Whether it has been added."""
        return self.path.is_file()

    @property
    def credit(self) -> str:
        """Whose it is and on what terms, in a sentence."""
        return f"Data of {self.owner}; licence: {self.licence}."

    def content(self, path: Path | None = None) -> Content:
        """What the converted file holds, checked again. Raises InputError where it is not there or
        is not this set. path: where it lies [in :func:`folder`]."""
        if path is None and not self.is_here:
            raise InputError(
                "data",
                f"{self.name} is not in {folder()}",
                f"add it with dpcore data add {self.name} FILE",
            )
        content = conversion.converted(path or self.path, self.facts)
        conversion.check(content, self.facts, self.name)
        return content

    @property
    def table(self) -> BundledTable | BundledCorpus:
        """The set as the explorer's list has it."""
        rows, features = self.size
        facts = (self.name, self.title, self.story, rows, features, "public", self.openings)
        if self.schema is None:
            return BundledCorpus(*facts, make=self.corpus)
        return _Table(*facts, file=self.file, published=self)

    def table_of_rows(self) -> BundledTable:
        """The same; InputError where the set holds documents."""
        table = self.table
        if isinstance(table, BundledCorpus):
            raise InputError("data", f"{self.name} holds documents, not rows", "choose lda")
        return table

    def corpus(self, content: Content | None = None) -> PrivateCorpus:
        """Its documents, sealed; InputError where the set holds rows. content: as read [from
        :func:`folder`]."""
        from dpcore.wall.data.corpus import PrivateCorpus, Vocabulary

        if self.schema is not None:
            raise InputError(
                "data", f"{self.name} holds rows, not documents", "choose another model"
            )
        content = self.content() if content is None else content
        lengths = np.diff(content["indptr"].astype(np.intp))
        chosen = np.linspace(0, len(lengths) - 1, self.size[0]).astype(np.intp)  # by their places
        entries = np.repeat(np.isin(np.arange(len(lengths)), chosen), lengths)
        starts = np.concatenate([[0], np.cumsum(lengths[chosen])])
        # Its words were chosen by looking at these documents: fits of it prove nothing.
        words = Vocabulary(tuple(content["words"].tolist()), rehearsal=True, title=self.title)
        sealed = PrivateCorpus.seal(
            starts,
            content["indices"][entries].astype(np.intp),
            content["counts"][entries].astype(float),
            words,
            open_to_all=True,
        )
        return sealed.with_first_words(self.size[1])


@dataclass(frozen=True)
class _Table(BundledTable):
    """A published table in the explorer's list."""

    published: PublishedSet = field(kw_only=True)

    @property
    def path(self) -> Path:
        return self.published.path

    @property
    def schema(self) -> Schema:
        assert self.published.schema is not None  # else it is a corpus
        return replace(self.published.schema(), title=self.title)

    def source(self) -> tuple[pd.DataFrame, Schema]:
        """The rows, checked, and their public limits."""
        assert self.published.rows is not None
        return self.published.rows(self.published.content()), self.schema


def folder() -> Path:
    """Where converted sets lie: ``DPCORE_DATA``, or the usual place for a user's data here."""
    named = os.environ.get("DPCORE_DATA")
    if named:
        return path_of("DPCORE_DATA", named)
    if sys.platform == "win32":
        usual = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        usual = Path.home() / "Library" / "Application Support"
    else:
        usual = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return usual / "dpcore"


def located(name: str, home: Path | None = None) -> Path:
    """A file of real data: in a folder [``DPCORE_SHARED/data``, else :func:`folder`]. Raises
    InputError where it is not there."""
    shared = os.environ.get("DPCORE_SHARED")
    usual = [*([Path(shared) / "data"] if shared is not None else []), folder()]
    for path in (place / name for place in (usual if home is None else [home])):
        if path.is_file():
            return path
    raise InputError(
        "data",
        f"{name} is not there",
        "add it (dpcore data says how), or give its folder with --data FOLDER",
    )


def present() -> tuple[PublishedSet, ...]:
    """The sets that have been added here."""
    home = folder()
    return tuple(candidate for candidate in SETS if (home / candidate.file).is_file())


def find_set(name: str) -> PublishedSet:
    """The published set of this name, added or not; InputError if there is none.

    >>> find_set("adult").licence
    'CC BY 4.0'
    """
    return entry(SETS, name, "published set")


def bounds_of(name: str) -> Bounds:
    """The public limits ``{column: (lower, upper)}`` of a set's features that are numbers.

    >>> bounds_of("stroke_prediction")["age"]
    (0.0, 90.0)
    """
    columns = find_set(name).table_of_rows().schema.columns
    return {
        column.name: (column.low, column.high)
        for column in columns
        if column.role == "feature" and column.type == "number"
    }


def is_documents_set(name: str) -> bool:
    """Whether a published name is one of documents."""
    return any(
        published_set.name == name and published_set.schema is None for published_set in SETS
    )


def add(name: str, file: str | Path) -> PublishedSet:
    """Convert a set's original, or a file of the converted form, check it, and keep it with its
    schema in :func:`folder`.

    Raises InputError on an unknown name, a file that cannot be read, or one that is not this set;
    nothing is written then.
    """
    target, path = find_set(name), path_of("file", file)
    if not path.exists():
        raise InputError("file", "there is no such file", "check the path")
    if path.name.lower().endswith(".npz" if target.file.endswith(".npz") else ".csv.gz"):
        content = conversion.converted(path, target.facts)
    elif target.read is None:
        raise InputError("file", f"only one form of {target.name} can be read", target.original)
    else:
        conversion.check_sums(path, target.checksums or {})
        with conversion.one_sentence(target.original):
            content = target.read(path)
    conversion.check(content, target.facts, target.name)
    texts = {}
    if target.schema is not None:
        stated = replace(target.schema(), title=target.title)
        texts[f"{target.name}.toml"] = f"# Limits: {target.limits}\n{stated.to_toml()}"
    conversion.write(target.path, content, texts)
    return target


def address(name: str) -> str:
    """How :func:`dpcore.load` and the command line name a table of the explorer's list.

    >>> address("iris"), address("adult")
    ('bundled:iris', 'published:adult')
    """
    kind = "published" if name in [published_set.name for published_set in SETS] else "bundled"
    return f"{kind}:{name}"


# --- schemas too wide to be written down -----------------------------------------------------


def _life_science() -> Schema:
    names = [f"x{i + 1}" for i in range(10)]
    return Schema.ball_of(names, None, LIFE_SCIENCE_RADIUS, unit="compound")


def _ipums_br() -> Schema:
    most = [255.0 if i in COUNTED else 1.0 for i in range(52)]
    numbers = (Column(f"x{i + 1}", lower=0, upper=high) for i, high in enumerate(most))
    return Schema((*numbers, Column("y", role="target", type="binary")))


WIDE = {
    "lifesci": _life_science,
    "olivetti_faces": lambda: schema_of_bytes(Image(64, 64)),
    "ipums_br": _ipums_br,
    "acs": lambda: Schema(tuple(Column(f"x{i + 1}", type="binary") for i in range(23))),
    "mnist": lambda: schema_of_bytes(Image(28, 28)),
}


# --- rows ------------------------------------------------------------------------------------


def _arrays(content: Content, names: Sequence[str]) -> pd.DataFrame:
    """The rows of an array, or of pictures, with a second array as column y."""
    frame = frame_of_array(content[names[0]], names[0])
    return frame.assign(y=content[names[1]]) if len(names) > 1 else frame


def _cells(content: Content) -> pd.DataFrame:
    """A table as it is."""
    frame: pd.DataFrame = content[conversion.TABLE]
    return frame


def _points(content: Content) -> pd.DataFrame:
    """Points drawn once from the grid, uniform inside each cell."""
    import pandas as pd

    counts = content["gowalla"].T  # the grid has latitude first, a map longitude
    points = points_from_histogram(counts, DEGREES, CHECK_INS, np.random.default_rng(SEED))
    return pd.DataFrame(points, columns=["longitude", "latitude"])


def _days(content: Content) -> pd.DataFrame:
    """The mean day of each household whose meter read well, in two-hourly kilowatt-hours."""
    import pandas as pd

    hourly = content["hourly_wh"][content["clean"].astype(bool)]
    days = hourly.reshape(len(hourly), -1, 12, 2).sum(axis=3).mean(axis=1) / 1000.0
    return pd.DataFrame(days, columns=[f"from_{hour:02d}" for hour in range(0, 24, 2)])


ROWS = {"dpbench_grids256": _points, "swiss_smart_meter": _days}


def _published(name: str, facts: dict[str, Any]) -> PublishedSet:
    """The set of an entry in ``published.toml``."""
    sections, arrays, read = (facts.pop(key, None) for key in ("schema", "arrays", "read"))
    schema = partial(Schema.of_sections, sections) if sections else WIDE.get(name)
    rows = ROWS.get(name, partial(_arrays, names=arrays) if arrays else _cells)
    facts["facts"] = {key: Fact(tuple(f["shape"]), f["sums"]) for key, f in facts["facts"].items()}
    return PublishedSet(
        name,
        **{**facts, "size": tuple(facts["size"])},
        read=None if read is None else getattr(conversion, read),
        schema=schema,
        rows=None if schema is None else rows,
    )


SETS = tuple(_published(name, facts) for name, facts in read_entries("published.toml").items())
