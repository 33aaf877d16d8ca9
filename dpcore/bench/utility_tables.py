"""The tables on which utility is measured, as data: where each comes from and what is fitted to it.

A table's half follows from its name alone (:attr:`Table.half`): methods are chosen on one half and
judged on the other. Published files lie where :func:`dpcore.datasets.published.located` looks.
Where nobody published limits of the columns, they are round numbers around what is there: near to
what a custodian knows from the field, and nothing is released here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcore.arrays import Array, Indices
from dpcore.datasets.generators import Mixture

if TYPE_CHECKING:
    import pandas as pd

    from dpcore.schema import Schema
    from dpcore.wall.data.corpus import PrivateCorpus
    from dpcore.wall.table import PrivateTable


HALVES = ("develop", "report")
MOST_ROWS = 15_000  # of a table that are used, a public random choice


@dataclass(frozen=True)
class Bundled:
    """A table or corpus that comes with the package."""

    name: str

    def read(self) -> PrivateTable | PrivateCorpus:
        """The table or corpus."""
        from dpcore.datasets.corpora import find_corpus, is_corpus
        from dpcore.datasets.load import named, read_described

        if is_corpus(self.name):
            return find_corpus(self.name).make()
        source, schema = named(f"bundled:{self.name}")
        if schema is None:
            from dpcore.datasets.catalogue import find

            schema = find(self.name).schema
        return sealed(read_described(source, schema), schema)


@dataclass(frozen=True)
class Published:
    """A published set, with its stated limits."""

    name: str

    def read(self) -> PrivateTable | PrivateCorpus:
        """The table or corpus."""
        from dpcore.datasets.published import find_set, located

        published = find_set(self.name)
        content = published.content(located(published.file))
        if published.schema is None or published.rows is None:
            return published.corpus(content)
        return sealed(published.rows(content), published.schema())


@dataclass(frozen=True)
class Archive:
    """An array ``(n, d)`` of an ``.npz``, or a delimited file, without stated limits."""

    file: str
    array: str = ""

    def read(self) -> PrivateTable:
        """The table."""
        from dpcore.datasets.load import read_frame
        from dpcore.datasets.published import located

        frame = read_frame(located(self.file), array=self.array or None)
        return in_round_limits(frame.to_numpy(dtype=float))


@dataclass(frozen=True)
class Answered:
    """The same with an outcome: a column of the file, or an array ``(n,)`` of the ``.npz``.

    yes: the cells that are one, as text. columns: those of numbers that are used [all others].
    """

    file: str
    outcome: str
    array: str = ""
    yes: tuple[str, ...] = ("1", "1.0")
    columns: tuple[str, ...] = ()

    def read(self) -> PrivateTable:
        """The table."""
        from dpcore.datasets.load import read_frame
        from dpcore.datasets.published import located

        path = located(self.file)
        frame = read_frame(path, array=self.array or None)
        if self.outcome in frame:
            cells = frame.pop(self.outcome).to_numpy()
        else:
            with np.load(path) as arrays:
                cells = arrays[self.outcome]
        rows = frame[list(self.columns or frame)].to_numpy(dtype=float)
        return in_round_limits(rows, np.isin(cells.astype(str), self.yes).astype(float))


@dataclass(frozen=True)
class Peer:
    """A table of scikit-learn's, by the loader's name, in its own units; the target, where it is
    yes or no, as the outcome. yes: the targets that are one, where there are more than two.
    above: a number above which a cell is on, where cells become 0 and 1 and there is no outcome."""

    loader: str
    yes: tuple[int, ...] = ()
    above: float | None = None

    def read(self) -> PrivateTable:
        """The table."""
        from sklearn import datasets

        content = getattr(datasets, self.loader)(return_X_y=True, **_UNSCALED.get(self.loader, {}))
        rows, target = (np.asarray(part, dtype=float) for part in content)
        if self.yes:
            target = np.isin(target, self.yes).astype(float)
        if self.above is not None:
            return in_limits((rows > self.above).astype(float), [(0.0, 1.0)] * rows.shape[1])
        return in_round_limits(rows, target if len(np.unique(target)) == 2 else None)


_UNSCALED: dict[str, dict[str, Any]] = {"load_diabetes": {"scaled": False}}


@dataclass(frozen=True)
class Simulated:
    """Groups around points on a sphere, in standard deviations within a group.

    separation: the sphere's radius. imbalance: how many times larger each group is than the next.
    correlation: share of a group's variance along one direction of its own. freedom: of Student's
    t, by which rows lie farther out; infinite for Gaussian groups. The limits are the box that is
    six deviations wider than the sphere; spare: those of the last column are so many times as wide,
    those in between by steps of one factor. The group of a row is its label.
    """

    rows: int
    columns: int
    groups: int
    separation: float
    imbalance: float = 1.0
    correlation: float = 0.0
    freedom: float = math.inf
    spare: float = 1.0

    def read(self) -> PrivateTable:
        """The table."""
        rows, group = self.rows_and_groups()
        limit = self.separation + 6.0
        ends = limit * np.geomspace(1.0, self.spare, self.columns)
        return in_limits(rows, [(-end, end) for end in ends.tolist()], classes=group)

    def rows_and_groups(self) -> tuple[Array, Indices]:
        """Rows ``(n, d)`` and the group of each ``(n,)``, the same at every call."""
        rng = np.random.default_rng([self.rows, self.columns, self.groups])
        centres, axes, shares = self._groups(rng)
        group = rng.choice(self.groups, self.rows, p=shares)
        along = rng.standard_normal((self.rows, 1)) * axes[group] * math.sqrt(self.columns)
        within = rng.standard_normal((self.rows, self.columns))
        within = math.sqrt(1.0 - self.correlation) * within + math.sqrt(self.correlation) * along
        if math.isfinite(self.freedom):
            within /= np.sqrt(rng.chisquare(self.freedom, (self.rows, 1)) / self.freedom)
        return self.separation * centres[group] + within, group

    def truth(self) -> Mixture:
        """The groups that rows are drawn from, Gaussian ones or with tails of their covariances."""
        rng = np.random.default_rng([self.rows, self.columns, self.groups])
        centres, axes, shares = self._groups(rng)
        along = self.columns * axes[:, :, None] * axes[:, None]
        within = (1.0 - self.correlation) * np.eye(self.columns) + self.correlation * along
        if math.isfinite(self.freedom):
            within *= self.freedom / (self.freedom - 2.0)
        return Mixture(shares, self.separation * centres, within)

    def _groups(self, rng: np.random.Generator) -> tuple[Array, Array, Array]:
        """Directions of the groups and of their long axes ``(K, d)``, and their shares ``(K,)``."""
        shape = (self.groups, self.columns)
        centres, axes = (_directions(rng.standard_normal(shape)) for _ in range(2))
        shares = self.imbalance ** -np.arange(self.groups)
        return centres, axes, shares / shares.sum()


@dataclass(frozen=True)
class Written:
    """Simulated documents of about ``tokens`` words each, of a few of the topics.

    Words have the usual frequencies of texts, from which topics differ as
    :class:`dpcore.bench.topics.Corpus` draws them.
    """

    documents: int
    words: int
    topics: int
    tokens: int

    def read(self) -> PrivateCorpus:
        """The corpus."""
        from dpcore.bench.topics import Corpus

        return Corpus(self.documents, self.words, self.topics, self.tokens).sealed


def _directions(vectors: Array) -> Array:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=-1, keepdims=True))


@dataclass(frozen=True)
class Table:
    """models: what is fitted, each with its number of parts."""

    name: str
    source: Bundled | Published | Archive | Answered | Peer | Simulated | Written
    models: tuple[tuple[str, int], ...]

    @property
    def half(self) -> str:
        """By a hash of the name, so that nobody chooses it.

        >>> Table("iris", Bundled("iris"), ()).half
        'report'
        """
        return HALVES[sha256(self.name.encode()).digest()[0] % 2]

    def read(self) -> PrivateTable | PrivateCorpus:
        """The rows, at most :data:`MOST_ROWS`. Raises InputError where a file is not there."""
        return self.source.read()


def sealed(frame: pd.DataFrame, schema: Schema) -> PrivateTable:
    """At most :data:`MOST_ROWS` rows, by a fixed coin, behind the wall."""
    from dpcore.wall.table import PrivateTable

    if len(frame) > MOST_ROWS:
        frame = frame.sample(MOST_ROWS, random_state=0).reset_index(drop=True)
    return PrivateTable.seal(frame, schema, open_to_all=True)


def in_limits(
    rows: Array,
    limits: list[tuple[float, float]],
    outcome: Array | None = None,
    classes: Array | Indices | None = None,
) -> PrivateTable:
    """Rows ``(n, d)`` with limits of each column, and yes or no ``(n,)`` or numbered classes."""
    import pandas as pd

    from dpcore.schema import Column, Schema

    names = [f"x{i + 1}" for i in range(rows.shape[1])]
    columns = [
        Column(name, lower=low, upper=high) for name, (low, high) in zip(names, limits, strict=True)
    ]
    frame = pd.DataFrame(rows, columns=names)
    if outcome is not None:
        frame["y"] = outcome.astype(int)
        columns.append(Column("y", role="target", type="binary"))
    if classes is not None:
        frame["class"] = [f"class {int(number) + 1}" for number in classes]
        categories = tuple(sorted(set(frame["class"])))
        columns.append(Column("class", role="label", type="category", categories=categories))
    return sealed(frame, Schema(tuple(columns)))


def in_round_limits(rows: Array, outcome: Array | None = None) -> PrivateTable:
    """Rows ``(n, d)`` and an outcome ``(n,)`` sealed with limits that are round numbers around what
    is there; see :func:`around`."""
    return in_limits(rows, [around(column) for column in rows.T], outcome)


def around(cells: Array) -> tuple[float, float]:
    """Round limits: whole multiples of the power of ten that is below the range of the cells; from
    0 where that is not far away.

    >>> around(np.array([43.0, 96.0])), around(np.array([0.0712, 0.31])), around(np.array([-3.0]))
    ((0.0, 100.0), (0.0, 0.4), (-4.0, -2.0))
    """
    low, high = float(cells.min()), float(cells.max())
    step = 10.0 ** np.floor(np.log10(high - low if high > low else 1.0))
    if 0.0 <= low <= high - low:
        low = 0.0
    below, above = np.floor(low / step), np.ceil(high / step)
    if high == low:
        below, above = below - 1.0, above + 1.0
    return float(f"{below * step:.6g}"), float(f"{above * step:.6g}")


def _groups(name: str, source: Simulated, *models: tuple[str, int]) -> Table:
    """A simulated table, to which mixtures and centres of its own number are fitted, the labelled
    mixture of its groups, and more."""
    usual = (("gmm", source.groups), ("kmeans", source.groups), ("gmm-release", 1))
    return Table(name, source, (*usual, *models))


_POINTS = "clusters2d.npz"
_HEART = Answered(
    "heart_cleveland.csv.gz",
    "num",
    yes=("1", "2", "3", "4"),
    columns=("age", "trestbps", "chol", "thalach", "oldpeak", "sex", "fbs", "exang"),
)
_DIABETES = Answered(
    "diabetes_130us.csv.gz",
    "readmitted",
    yes=("<30",),
    columns=(
        *("time_in_hospital", "num_lab_procedures", "num_procedures", "num_medications"),
        *("number_outpatient", "number_emergency", "number_inpatient", "number_diagnoses"),
    ),
)

TABLES: tuple[Table, ...] = (
    Table("three_groups", Bundled("three_groups"), (("gmm", 3), ("kmeans", 3))),
    Table(
        "iris",
        Bundled("iris"),
        (("gmm", 3), ("kmeans", 3), ("covariance", 1), ("gmm-release", 1)),
    ),
    Table(
        "wine",
        Bundled("wine"),
        (("gmm", 3), ("kmeans", 3), ("fa", 3), ("ppca", 1), ("covariance", 1), ("gmm-release", 1)),
    ),
    Table("digits", Bundled("digits"), (("gmm", 3), ("kmeans", 10), ("fa", 5), ("ppca", 1))),
    Table("five_parties", Bundled("five_parties"), (("gmm-release", 1),)),
    Table("places", Bundled("places"), (("gmm", 10), ("kmeans", 10))),
    Table(
        "life_science_like",
        Bundled("life_science_like"),
        (("gmm", 3), ("kmeans", 3), ("fa", 3), ("ppca", 1), ("covariance", 1)),
    ),
    Table("stewards_table", Bundled("stewards_table"), (("gmm", 3), ("covariance", 1))),
    Table("who_comes_back", Bundled("who_comes_back"), (("logistic", 1),)),
    Table("few_bars", Bundled("few_bars"), (("lda", 10),)),
    Table("help_texts", Bundled("help_texts"), (("lda", 5),)),
    Table("short_documents", Written(8_000, 300, 6, 30), (("lda", 6),)),
    Table("long_documents", Written(3_000, 300, 6, 250), (("lda", 6),)),
    Table("rare_words", Written(10_000, 1_000, 8, 100), (("lda", 8),)),
    Table(
        "lifesci",
        Published("lifesci"),
        (("gmm", 3), ("kmeans", 3), ("fa", 3), ("ppca", 1), ("covariance", 1)),
    ),
    Table("adult", Published("adult"), (("logistic", 1),)),
    Table("ipums_br", Published("ipums_br"), (("logistic", 1),)),
    Table("stroke_prediction", Published("stroke_prediction"), (("logistic", 1),)),
    Table("brfss2020_heart", Published("brfss2020_heart"), (("logistic", 1),)),
    Table(
        "swiss_smart_meter",
        Published("swiss_smart_meter"),
        (("gmm", 3), ("kmeans", 3), ("fa", 2), ("ppca", 1), ("covariance", 1)),
    ),
    Table(
        "acs",
        Published("acs"),
        (("kmeans", 3), ("fa", 3), ("ppca", 1), ("covariance", 1), ("sbn", 4)),
    ),
    Table("check_ins", Published("dpbench_grids256"), (("gmm", 5), ("kmeans", 8))),
    Table("old_faithful", Archive("old_faithful.csv.gz"), (("gmm", 2), ("kmeans", 2))),
    Table("s1", Archive(_POINTS, "s1_xy"), (("gmm", 15), ("kmeans", 15))),
    Table("d31", Archive(_POINTS, "d31_xy"), (("kmeans", 31),)),
    Table("engytime", Archive(_POINTS, "engytime_xy"), (("gmm", 2), ("kmeans", 2))),
    Table("mopsi_joensuu", Archive(_POINTS, "mopsi_joensuu_xy"), (("gmm", 4), ("kmeans", 4))),
    Table("pick_ups", Archive("uber_nyc_2014.npz", "latlon_e4"), (("gmm", 5), ("kmeans", 8))),
    Table(
        "nltcs",
        Archive("nltcs.npz", "X"),
        (("kmeans", 3), ("fa", 2), ("ppca", 1), ("covariance", 1), ("sbn", 4)),
    ),
    Table(
        "br2000",
        Archive("br2000.npz", "X"),
        (("kmeans", 4), ("fa", 3), ("ppca", 1), ("covariance", 1)),
    ),
    Table(
        "breast_cancer",
        Peer("load_breast_cancer"),
        (("gmm", 2), ("kmeans", 2), ("fa", 4), ("ppca", 1), ("covariance", 1), ("logistic", 1)),
    ),
    Table(
        "diabetes", Peer("load_diabetes"), (("gmm", 2), ("fa", 2), ("ppca", 1), ("covariance", 1))
    ),
    Table("heart_cleveland", _HEART, (("logistic", 1),)),
    Table("diabetes_130us", _DIABETES, (("logistic", 1),)),
    Table("lifesci_activity", Answered("lifesci.npz", "y", "X"), (("logistic", 1),)),
    Table("nltcs_activity", Answered("nltcs.npz", "x16", "X"), (("logistic", 1),)),
    Table("acs_answer", Answered("acs.npz", "x23", "X"), (("logistic", 1),)),
    Table("lit_windows", Bundled("lit_windows"), (("sbn", 4),)),
    Table("households", Bundled("households"), (("sbn", 2),)),
    Table("black_and_white_digits", Peer("load_digits", above=8.0), (("sbn", 8),)),
    Table("even_digits", Peer("load_digits", (0, 2, 4, 6, 8)), (("logistic", 1),)),
    _groups("few_rows", Simulated(300, 2, 2, 5.0)),
    _groups("two_columns_overlapping", Simulated(8_000, 2, 2, 1.5)),
    _groups("two_columns_twelve_groups", Simulated(5_000, 2, 12, 12.0)),
    _groups("three_columns", Simulated(1_000, 3, 3, 5.0)),
    _groups("three_columns_far_apart", Simulated(10_000, 3, 3, 12.0)),
    _groups("three_columns_unequal", Simulated(6_000, 3, 4, 6.0, imbalance=2.0)),
    _groups("four_columns_heavy_tails", Simulated(8_000, 4, 3, 8.0, freedom=3.0)),
    _groups("five_columns", Simulated(2_000, 5, 2, 4.0)),
    _groups(
        "five_columns_correlated",
        Simulated(8_000, 5, 3, 5.0, correlation=0.8),
        ("fa", 1),
        ("ppca", 1),
    ),
    _groups("six_columns_eight_groups", Simulated(15_000, 6, 8, 6.0)),
    _groups("ten_columns_five_groups", Simulated(15_000, 10, 5, 4.0), ("covariance", 1)),
    _groups("ten_columns_unequal", Simulated(10_000, 10, 4, 6.0, imbalance=2.0)),
    _groups("twenty_columns", Simulated(5_000, 20, 3, 6.0)),
    _groups(
        "twenty_columns_correlated",
        Simulated(12_000, 20, 3, 6.0, correlation=0.4),
        ("fa", 3),
        ("ppca", 1),
    ),
    Table(
        "twelve_columns_uneven_limits",
        Simulated(8_000, 12, 3, 4.0, spare=10.0),
        (("fa", 2), ("ppca", 1), ("covariance", 1)),
    ),
    Table(
        "twenty_columns_uneven_limits",
        Simulated(12_000, 20, 3, 4.0, correlation=0.4, spare=10.0),
        (("fa", 3), ("ppca", 1), ("covariance", 1)),
    ),
    _groups("fifty_columns", Simulated(10_000, 50, 4, 8.0), ("fa", 3), ("ppca", 1)),
)
