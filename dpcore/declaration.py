"""A model's declaration: one value, from which every surface reads what it needs of the model.

The command line, :func:`dpcore.fit`, the estimators, the explorer, reports, audits and the tables
of the documentation read it; outside the model's folder only its line in the registry names the
model. Code that is needed only for a fit, a score or a picture is imported when it is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dpcore.checks import number, one_of
from dpcore.errors import InputError
from dpcore.options import Option, Settings
from dpcore.registry import MODELS, load
from dpcore.schema import Schema

ACCOUNTANTS = ("exact", "zcdp", "ma", "linear", "advanced")  # of all-Gaussian fits, as shown
MOST_COMPONENTS = 50
MOST_LABELLED_COLUMNS = 20  # columns of a labelled table whose classes are fitted while one waits
CLIP = "radius of the clipping ball, as a share of the public radius [1]"


@dataclass(frozen=True)
class Method:
    """A named way of fitting, which a reader picks.

    accountants: by which its cost can be counted, the usual first. algorithm: ``None`` for the
    model's own. words: further options, which are part of it. adjacencies: what it protects; empty:
    in paper mode the replacement of a row, else whatever the model can. cost: of a visit of a row,
    in units of the model's usual one.
    """

    title: str
    mode: str = "proved"
    accountants: tuple[str, ...] = ACCOUNTANTS
    combination: str = "GGG"
    algorithm: str | None = None
    words: tuple[tuple[str, Any], ...] = ()
    adjacencies: tuple[str, ...] = ()
    cost: float = 1.0

    @property
    def badge(self) -> str:
        """What stands beside its title."""
        return "as published" if self.mode == "paper" else "proved"


@dataclass(frozen=True)
class Metric:
    """A metric of utility, which a reader picks.

    name: as scripts and links have it; one that the model's yardstick does not measure is its
    score. title: in the list. axis: of the curve; ``{unit}`` is who one row is about. falls:
    whether less is better. of_rows: whether rows are scored; else fits are compared with the exact
    fit to the same rows.
    """

    name: str
    title: str
    axis: str
    falls: bool = False
    of_rows: bool = True

    @property
    def worth(self) -> str:
        """Its title inside a sentence."""
        return self.title[:1].lower() + self.title[1:] if self.title[1:2].islower() else self.title


LOG_LIKELIHOOD = Metric("test_log_likelihood", "Log-likelihood", "log-likelihood per {unit}")
SCALED = Metric("test_log_likelihood_scaled", "Log-likelihood of x / R", "log-likelihood of x / R")


@dataclass(frozen=True)
class Opening:
    """How a model begins with a table that says nothing of it.

    words: options, as a link writes them. clip: share of the public radius.
    """

    components: int = 3
    iterations: int = 5
    words: str = ""
    clip: float = 1.0


@dataclass(frozen=True)
class World:
    """How rows that are drawn from a schema lie inside its limits; as it stands, easily.

    width: of what a column fills, as a share of what it does in easy rows; where, is drawn. apart:
    how far the centres of clouds lie apart, likewise. common: share of the spread inside a cloud
    that columns have in common. even: concentration of the Dirichlet law of the clouds' sizes.
    related: how far a target follows from the numbers, in scales of its noise. yes: share of an
    outcome's second category among medium rows. away: of a target's middle from that of its
    limits, in half ranges. edges: share of cells that are at a limit. counts: whether numbers are
    Poisson counts, with places in clouds as their rates. mirrored: whether clouds, or the slopes of
    a target, have either sign. spread: of a cloud in each column, as a share of what it is in easy
    rows of a mixture. alike: how often the answers of a row are drawn together, not each alone.
    """

    width: float = 1.0
    apart: float = 1.0
    common: float = 0.3
    even: float = 8.0
    related: float = 3.0
    yes: float = 0.5
    away: float = 0.0
    edges: float = 0.0
    counts: bool = False
    mirrored: bool = False
    spread: float = 1.0
    alike: float = 0.0


WORLDS = (World(), World(0.6, 0.6, 0.5), World(0.25, 0.3, 0.5, even=3.0))


@dataclass(frozen=True)
class Picture:
    """A way to show the fits of a model.

    place: where it is drawn, as ``file:object`` in the model's folder. ghosts: whether it shows
    other draws of the noise. plane: whether it is of two columns, which a reader picks. columns:
    how many a table must have; images: whether its rows must be pictures.
    """

    title: str
    place: str = "picture:PORTRAIT"
    ghosts: bool = True
    plane: bool = False
    columns: int = 1
    images: bool = False


@dataclass(frozen=True)
class Statement:
    """A model's line on the page of methods: what one row adds, with its lemma between asterisks,
    what is proved, and what the paper claims and gets wrong."""

    adds: str
    proved: str
    claim: str


@dataclass(frozen=True)
class Model:
    """One model; :func:`declaration` finds it by its name.

    package: its folder. settings: the dataclass of its options. title: with ``{}`` for the number
    of its parts; single_title: with one part. noun: what a report says has left. part, parts: what
    it has K of. papers: keys of the bibliography. statement: its line on the page of methods.
    reads: ``features``, ``label``, ``target``, ``outcome``, ``pixels``, ``answers`` (yes or no),
    ``counts`` or ``documents``. clip: help of the option of that name; empty: it has none.
    clips_rows: whether rows are clipped to a ball. least, most: how many parts the explorer offers;
    compared: as many as a curve over their number goes to, fewer where fits are slow;
    below_columns: fewer than there are columns.
    adjacencies: what it can protect, the usual first. recommended: options of the recommended
    method. methods: the others, by the names that links use. plane: its picture is a plane of two
    columns. ghosts: its picture shows other draws of the noise. cost: of a visit of a row, in units
    of a mixture's; fixed_cost: in such visits, of what a fit computes without the rows. one_row:
    its parameters are one number a column. columns_first: arrays of its parts are ``(d, K)``, not
    ``(K, d)``. holds_out: the explorer holds rows out, which no fit sees.
    metrics: of utility, the paper's own first; empty: the score of its yardstick alone. axes: what
    each axis of a released array stands for, ``column`` or ``component``, by the array's name;
    empty: its shape tells. meanings: what released numbers are whose names do not tell. recipe,
    scorer, picture, table, audits, fuzz, estimator: where the rest is found, as ``file:object`` in
    its folder; without an estimator no release of it is opened.
    uncertainty: likewise what its intervals need; without it no_intervals says why it has none, and
    noise_sentence, from released parameters and their schema to a sentence, what noise hides of
    them [not known]. worlds: easy, medium and hard rows, on which plans are simulated. decides:
    what of the rows decides how much a release keeps, as far as one may know it without them.
    """

    name: str
    package: str
    settings: type[Settings]
    title: str
    single_title: str
    noun: str
    part: str = "group"
    parts: str = "groups"
    papers: tuple[str, ...] = ()
    statement: Statement | None = None
    reads: str = "features"
    clip: str = CLIP
    clips_rows: bool = True
    opening: Opening = field(default_factory=Opening)
    least: int = 1
    most: int = MOST_COMPONENTS
    compared: int = MOST_COMPONENTS
    below_columns: bool = False
    adjacencies: tuple[str, ...] = ("replace_one", "add_remove")
    recommended: tuple[tuple[str, Any], ...] = ()
    methods: Mapping[str, Method] = field(default_factory=dict)
    plane: bool = True
    ghosts: bool = True
    shown: str = "Fit"
    pictures: Mapping[str, Picture] = field(default_factory=dict)
    cost: float = 1.0
    fixed_cost: float = 0.0
    one_row: bool = False
    columns_first: bool = False
    holds_out: bool = True
    metrics: tuple[Metric, ...] = ()
    axes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    meanings: Mapping[str, str] = field(default_factory=dict)
    recipe: str = "private:RECIPE"
    scorer: str = "scoring:YARDSTICK"
    picture: str = "picture:PORTRAIT"
    table: str = "parameters:result_table"
    audits: Mapping[str, str] = field(default_factory=dict)
    fuzz: str = "fuzz:WAYS"
    estimator: str = "estimator:ESTIMATOR"
    uncertainty: str = ""
    no_intervals: str = "no intervals for this model have been validated"
    noise_sentence: str = ""
    worlds: tuple[World, World, World] = WORLDS
    decides: str = "how far apart the groups are, and how much of its range each column fills"

    def load(self, place: str) -> Any:
        """What stands at ``file:object`` in the model's folder. Raises InputError without the
        file."""
        try:
            return load(f"{self.package}.{place}")
        except ModuleNotFoundError as absent:
            file = place.partition(":")[0]
            if absent.name != f"{self.package}.{file}":
                raise
            raise InputError(
                "model",
                f"the folder of {self.name} has no file {file}.py, which is needed here",
                "add it (app/docs/extending.md), or choose another model",
            ) from None

    def flags(self) -> dict[str, Option]:
        """Its options on the command line, by their names there."""
        flags = {option.flag: option for option in self.settings.options().values() if option.flag}
        if self.clip:
            flags["clip"] = Option(
                "clip", None, None, number, self.clip, "clip", "SHARE", number, str, None, ""
            )
        return flags

    def dials(self) -> dict[str, Option]:
        """The options that the explorer asks for, by name."""
        return {name: option for name, option in self.settings.options().items() if option.dial}

    def shows(self) -> dict[str, Picture]:
        """The pictures of its fits by name, the usual one first under the empty name."""
        return {"": Picture(self.shown, self.picture, self.ghosts, self.plane), **self.pictures}

    def method(self, name: str) -> Method:
        """The recommended method, or another of the model's by name."""
        if name == "recommended":
            return Method("Recommended", words=self.recommended)
        return self.methods[name]

    def metric(self, name: str) -> str:
        """The name of one of its metrics; for any other name that of the first."""
        names = [metric.name for metric in self.metrics]
        return name if name in names else next(iter(names), "")

    def titled(self, parts: int) -> str:
        """Its title with so many parts.

        >>> declaration("kmeans").titled(4), declaration("gmm").titled(1)
        ('k-means, 4 centres', 'One Gaussian')
        """
        return self.single_title if parts == 1 else self.title.format(parts)

    def suits(self, schema: Schema) -> bool:
        """Whether a table has the columns that the model reads, or there are documents for it."""
        if self.reads == "documents" or schema.thing == "document":
            return self.reads == "documents" and schema.thing == "document"
        if self.reads == "pixels":
            features = [schema.column(name) for name in schema.features]
            return schema.image is not None or all(column.type == "binary" for column in features)
        if self.reads in ("answers", "counts"):
            ends = {(schema.column(name).low, schema.column(name).high) for name in schema.features}
            answers = ends == {(0.0, 1.0)}
            return answers if self.reads == "answers" else not answers and min(ends)[0] >= 0.0
        target = None if schema.target is None else schema.column(schema.target)
        if self.reads == "outcome":
            return target is not None and (target.type == "binary" or len(target.categories) == 2)
        if self.reads == "label":
            return schema.label is not None and len(schema.features) <= MOST_LABELLED_COLUMNS
        return self.reads != "target" or (target is not None and target.is_number)


def places(constant: str) -> dict[str, Any]:
    """Where a model's parts are found, as fields of :class:`Model`: in the usual files, which hold
    those of several models, each by the name of this constant."""
    parts = ("recipe", "scorer", "picture", "fuzz", "estimator")
    return {part: f"{getattr(Model, part).partition(':')[0]}:{constant}" for part in parts}


def declaration(name: str) -> Model:
    """The declaration of a model. Raises InputError for a name that is not registered."""
    model: Model = load(MODELS[one_of("model", name, tuple(MODELS))])
    return model


def declarations() -> dict[str, Model]:
    """All models by name."""
    return {name: declaration(name) for name in MODELS}
