"""A release as a model: what whoever receives it can do, without the data and without the ledger.

All of it is post-processing of released numbers (Dwork and Roth 2014, Proposition 2.1): it costs no
budget, however often it is used and on whatever rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpcore.arrays import Array
from dpcore.checks import words_of
from dpcore.declaration import Model, declaration
from dpcore.errors import InputError
from dpcore.fitting.distances import Distances
from dpcore.fitting.reopened import Reopened
from dpcore.fitting.result import Fit
from dpcore.privacy import Guarantee, Proof
from dpcore.releases.dossier import ODD, ledger_of, odd, read_verified
from dpcore.schema import Schema, categories_meant, category_meant, numbers_meant, numbers_of
from dpcore.schema.cells import demand_column
from dpcore.schema.forms import day_of
from dpcore.schema.frames import frame_of
from dpcore.wall.data.clipping import HUGE, PublicFrame, clip_to_ball

if TYPE_CHECKING:
    import pandas as pd

    from dpcore.fitting.intervals import Intervals

    Rows = pd.DataFrame | NDArray[Any] | Sequence[Sequence[Any]] | Sequence[Mapping[str, Any]]


# What a release may say of each row, and what to say of one that does not.
OF_ROWS = {
    "predict": "does not assign rows to groups or predict anything about them",
    "predict_proba": "does not give probabilities of groups or outcomes",
    "score_samples": "does not give the density of a row",
    "transform": "does not transform rows",
}
NO_SCORE = "does not score rows"
BLOCK = 1 << 16  # rows that are worked on at once
SUPERVISED = ("outcome", "label", "target")


def open_release(path: str | Path) -> OpenedRelease:
    """A release as a fitted model, from its folder alone: neither data nor ledger are needed.

    path: the folder that :func:`dpcore.release` wrote, or its ``dossier.json``. Its proof is
    replayed and its files are compared, as :func:`dpcore.verify` does; who paid for it is for a
    ledger to say.

    A release about documents is an :class:`OpenedTexts`. Raises ReplayError, in one sentence, where
    a file or a number is not what the dossier states; InputError for files that cannot be read, or
    that describe no model.
    """
    record, _ = read_verified(path)
    try:
        model = declaration(record["model"])
        stated = Schema.parse(record["schema"])
        texts = model.reads == "documents"
        read = tuple(c for c in stated.columns if texts or (c.role, c.type) != ("feature", "text"))
        # How the custodian's own file is written says nothing about other rows.
        schema = replace(stated, columns=read, file=None)
        if not model.estimator:
            raise InputError(
                "dossier",
                f"releases of {model.name} are not supported",
                "open a release of another model",
            )
        how: Reopened = model.load(model.estimator)
        fit = Fit(
            model=model.name,
            parameters=how.read(record["parameters"], schema, record["settings"]),
            guarantee=_guarantee(record["guarantee"]),
            ledger=ledger_of(record),
            history=(),
            settings=record["settings"],
            seed=None,
            schema=schema,
            rows=record.get("rows"),
            persons=record.get("persons"),
            clip=record.get("clip"),
            distances=Distances.read(record.get("distances")),
        )
        release = (OpenedTexts if texts else OpenedRelease)(record, schema, fit, model, how)
        release.demand_sound()
    except InputError:
        raise
    except ODD:
        raise odd() from None
    return release


@dataclass(frozen=True, repr=False)
class OpenedRelease:
    """A release in use; :func:`open_release` makes it.

    dossier: its record. schema: the public limits. fit: parameters, guarantee and ledger, as of
    :func:`dpcore.fit`. model, how: what the package declares of the model.

    Rows are a data frame (of pandas, polars or Arrow) or records with the schema's columns, or an
    array ``(n, d)`` or one of these with the columns of the release (:attr:`columns`), in the
    data's own units. Each cell is read by the rule under which private rows were: see :meth:`rows`.
    A method that the model does not have raises InputError with the reason and what there is
    instead.

    **Guarantee:** that of the release; using it reads nothing else and costs nothing.
    """

    dossier: dict[str, Any]
    schema: Schema
    fit: Fit
    model: Model
    how: Reopened

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the numbers that the model reads, in its order: one for each number column and
        for each public category."""
        return tuple(column.name for column in self.schema.numeric_columns())

    @property
    def guarantee(self) -> Guarantee:
        """Epsilon, delta, who is protected, the proof and what it assumes."""
        return self.fit.guarantee

    @property
    def parameters(self) -> dict[str, Array]:
        """Every released array by its name, in the data's own units; shapes as in the fit (``means
        (K, d)``, say). Post-processing: it costs no budget.
        """
        return {
            name: np.asarray(value, dtype=float)
            for name, value in self.dossier["parameters"].items()
            if is_numbers(value)
        }

    @property
    def methods(self) -> tuple[str, ...]:
        """What the model has: those of ``predict``, ``predict_proba``, ``score_samples``,
        ``transform``, ``score`` and ``sample`` that do not refuse."""
        return tuple(name for name in (*OF_ROWS, "score", "sample") if self._has(name))

    def predict(self, rows: Rows) -> NDArray[Any]:
        """For each row the number of its group or centre, from 0; its class; or the target ``(n,)``
        (of two lines both, ``(n, 2)``).

        rows: a frame, records or an array with the release's columns, in its units; cells are read
        as :meth:`rows` describes. Raises InputError where the model predicts nothing of a row, and
        for rows that cannot be read.
        """
        return self._of_rows("predict", rows)

    def predict_proba(self, rows: Rows) -> Array:
        """The probability of each group or class ``(n, K)``, classes in the schema's order; rows
        add up to 1. Of a logistic
        regression it is averaged over the posterior of its coefficients (MacKay 1992), so it is
        nearer to 1/2 than that of the released means.

        Raises InputError where the model has none, and for rows that cannot be read (:meth:`rows`).
        """
        return self._of_rows("predict_proba", rows)

    def score_samples(self, rows: Rows) -> Array:
        """The log density of each row ``(n,)``, in nats and in the data's own units.

        Raises InputError where the model has no density, and for rows that cannot be read
        (:meth:`rows`).
        """
        return self._of_rows("score_samples", rows)

    def transform(self, rows: Rows) -> Array:
        """Each row in the model's coordinates ``(n, k)``: expected factors, distances to centres
        (each column in half ranges of its limits, as the fit measures them), hidden units, or what
        lies above the mean.

        Raises InputError where the model has none, and for rows that cannot be read (:meth:`rows`).
        """
        return self._of_rows("transform", rows)

    def score(self, rows: Rows, y: Any = None) -> float:
        """How well rows suit the model, as scikit-learn counts it: more is better.

        Mean log density of a row; of centres minus the sum of squared distances, as of
        :meth:`transform`; of classes and outcomes the share that is right; of a target R squared.
        y: classes or targets ``(n,)``, by default the column of the rows that the schema names.
        Computed on the rows that are passed: if they are private, the score is not. Raises
        InputError where the model has no score, and for rows without y.
        """
        self._demand("score")
        table = self._table(rows)
        framed = self._framed(self.rows(table))
        truth = (self._truth(table, y, len(framed)),) if self.model.reads in SUPERVISED else ()
        with np.errstate(all="ignore"):
            return float(self.to_sklearn().score(framed, *truth))

    def sample(self, count: int, seed: int = 0) -> pd.DataFrame:
        """Synthetic rows inside the public limits, about nobody: a frame of ``count`` rows in the
        data's own units.

        seed: another one draws other rows. Post-processing: it costs no budget. Raises InputError
        for a count that is not a whole number of 0 or more, and where the model describes no rows.
        """
        return self.fit.sample(count, seed, schema=self.schema)

    def intervals(
        self,
        level: float = 0.9,
        *,
        rows: int | None = None,
        clip: float | None = None,
        seed: int = 0,
    ) -> Intervals:
        """Intervals of the parameters, for what the same algorithm finds without noise on the same
        rows and for the population, from the released numbers and the known noise alone.

        level: how often one covers. rows, clip: how many rows there are, as far as is public, and
        where they were clipped (a share of the public radius), where an older dossier does not say.
        seed: of the simulation. Raises InputError where the model has none, or one is missing.
        """
        return self.fit.intervals(level, rows=rows, clip=clip, seed=seed)

    @property
    def told_apart(self) -> str | None:
        """What can be told apart at this noise, as the dossier says it; ``None`` where it does not
        say, as of a model without intervals or of an older release."""
        return self.dossier.get("told_apart")

    def to_sklearn(self) -> Any:
        """A fitted estimator of :mod:`dpcore.sklearn` or scikit-learn, which has seen no data.

        It takes frames or arrays with :attr:`columns`, without missing cells: :meth:`rows` makes
        them from any table that the schema describes. Classes are sorted in ``classes_``, and so
        are their columns of probabilities, as scikit-learn's scores expect.
        """
        return self.how.estimator(self.fit, self.schema)

    def to_json_schema(self) -> dict[str, Any]:
        """One row as JSON Schema (draft 2020-12), and under ``$defs`` what :meth:`answers` says of
        it; limits and categories are the public ones."""
        noun, guarantee = self.model.noun, self.guarantee
        return {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": self.dossier["title"] or noun,
            "description": f"A {guarantee.thing} for {noun}. {guarantee.sentence()}",
            "type": "object",
            "properties": {name: self._property(name) for name in self.schema.features},
            "required": list(self.schema.features),
            "$defs": {"answer": self._answer()},
        }

    def answers(self, rows: Rows, what: Sequence[str] | None = None) -> pd.DataFrame:
        """What the model states about each row, in named columns, one line per row in the rows'
        order.

        what: of ``predict``, ``predict_proba``, ``score_samples`` and ``transform`` (all that it
        has). Groups, centres and factors are called by their numbers from 1, as in the report.
        Raises InputError for a method that the model lacks, and for rows that cannot be read
        (:meth:`rows`).
        """
        import pandas as pd

        names = self._asked(what)
        if not names:
            raise self._refusal("predict", OF_ROWS["predict"])
        numbers = self.rows(rows)
        answers = {name: self._said(name, numbers) for name in names}
        columns: dict[str, Any] = {}
        for name, answer in answers.items():
            if name == "predict" and answer.dtype.kind in "iu" and not self._has_classes:
                answer = np.array([self._part(number) for number in answer], dtype=object)
            parts = answer[:, None] if answer.ndim == 1 else answer
            titles = self._titles(name, parts.shape[1])
            columns |= dict(zip(titles, parts.T, strict=True))
        return pd.DataFrame(columns)

    def rows(self, rows: Rows) -> Array:
        """The numbers that the model reads ``(n, d)``, in own units.

        ====================  ====================================================
        cell                  becomes
        ====================  ====================================================
        missing or infinite   the column's public fill
        outside the limits    the nearest limit (of a ball, the row is drawn in)
        a category            1 in its own column, 0 in all others
        ====================  ====================================================

        Raises InputError for rows that lack a column, and for a number column that holds text.
        """
        cells = self.cells(rows)
        filled = np.where(
            np.isfinite(cells), cells, self.how.fills(self.schema, self.dossier["settings"])
        )
        public = PublicFrame.of(self.schema)
        if not public.is_ball:
            columns = self.schema.numeric_columns()
            low, high = ([getattr(c, end) for c in columns] for end in ("lower", "upper"))
            return np.clip(filled, low, high)
        units = np.clip(public.to_units(filled), -HUGE, HUGE)
        drawn = public.center + public.half_range * clip_to_ball(units, 1.0)
        outside = np.linalg.norm(units, axis=1) > 1.0
        return np.where(outside[:, None], drawn, filled)

    def cells(self, rows: Rows) -> Array:
        """The numbers ``(n, d)`` as they stand there, without fills and limits; missing: NaN.

        Raises InputError for rows without the columns, or in another notation.
        """
        rows = self._table(rows)
        absent = [name for name in self.schema.features if name not in rows.columns]
        try:
            if absent and set(self.columns) <= set(rows.columns):
                for name in self.columns:
                    demand_column(rows, name)
                return np.column_stack(
                    [
                        numbers_meant(column.name, rows[column.name])
                        if column.category is not None
                        else self.schema.numbers(column.source, rows[column.name])
                        for column in self.schema.numeric_columns()
                    ]
                )
            return numbers_of(rows, self._features)
        except InputError as refusal:
            remedy = "give the release's columns, as its report lists them"
            problem = refusal.problem
            if refusal.field in rows.columns:
                dates = refusal.field in {c.name for c in self.schema.columns if c.type == "date"}
                comma = self.schema.file is not None and self.schema.file.decimal == ","
                mark = "comma (0,5)" if comma else "point (0.5)"
                how = "dates as 2026-12-31" if dates else f"numbers with a {mark}"
                remedy = f"write {how}, and correct or clear the other cells of this column"
                problem = f"some cells are not {'dates' if dates else 'numbers'}"
                if list(rows.columns).count(refusal.field) > 1:
                    problem, remedy = refusal.problem, refusal.remedy
            raise InputError(refusal.field, problem, remedy) from None

    def demand_sound(self) -> None:
        """Raise ValueError unless the numbers fit together: the middle of the limits goes through
        everything that the model has, and what comes out is defined; a row can be drawn, where the
        model describes rows."""
        if self.fit.parameters.columns != self.columns:
            raise ValueError("parameters of other columns")
        for name in self._asked(None):
            answer = self._said(name, self._middle)
            if len(answer) != 1 or (answer.dtype.kind == "f" and not np.all(np.isfinite(answer))):
                raise ValueError("parameters that are not numbers")
        self._has("sample")  # which draws one

    def __repr__(self) -> str:
        return f"<release of {self.model.noun}: {self.guarantee.sentence()}>"

    # --- how each of it is done -------------------------------------------------------------------

    @cached_property
    def _estimator(self) -> Any:
        return self.to_sklearn()

    @property
    def _middle(self) -> NDArray[Any]:
        """A row that anybody may make: the middle of the limits ``(1, d)``."""
        return PublicFrame.of(self.schema).center[None]

    @cached_property
    def _features(self) -> Schema:
        """The schema without what a row need not have."""
        return replace(
            self.schema, columns=tuple(c for c in self.schema.columns if c.role == "feature")
        )

    @property
    def _has_classes(self) -> bool:
        return hasattr(self._estimator, "classes_")

    @property
    def _classes(self) -> Sequence[Any]:
        """The classes in the schema's order; an estimator has them sorted."""
        fitted: Sequence[Any] | None = getattr(self.fit.parameters, "classes", None)
        return self._estimator.classes if fitted is None else fitted

    def _has(self, name: str) -> bool:
        if name == "sample":
            try:
                self.fit.sample(1)
            except InputError:
                return False
            return True
        return name not in self.how.without and hasattr(self._estimator, name)

    def _demand(self, name: str) -> None:
        if not self._has(name):
            raise self._refusal(name, self.how.without.get(name, OF_ROWS.get(name, NO_SCORE)))

    def _refusal(self, name: str, reason: str) -> InputError:
        there = [method for method in self.methods if method != name]
        remedy = f"use {', '.join(there)}" if there else "read its parameters"
        return InputError(name, f"this release, {self.model.noun}, {reason}", remedy)

    def _asked(self, what: Sequence[str] | None) -> tuple[str, ...]:
        """Of the methods that say something of each row, those asked for, in their order."""
        if what is None:
            return tuple(name for name in OF_ROWS if self._has(name))
        what = words_of("what", what)
        for name in what:
            if name not in OF_ROWS:
                raise InputError("what", f"{name!r} is not known", f"choose {', '.join(OF_ROWS)}")
            self._demand(name)
        return tuple(name for name in OF_ROWS if name in what)

    def _of_rows(self, name: str, rows: Rows) -> NDArray[Any]:
        self._demand(name)
        return self._said(name, self.rows(rows))

    def _said(self, name: str, rows: NDArray[Any]) -> NDArray[Any]:
        """What the estimator says of rows ``(n, d)`` as the model reads them, in blocks."""
        say: Callable[[Any], Any] = getattr(self._estimator, name)
        starts = range(0, len(rows), BLOCK)
        with np.errstate(all="ignore"):
            parts = [np.asarray(say(self._framed(rows[at : at + BLOCK]))) for at in starts]
        answer = np.concatenate(parts)
        if name != "predict_proba" or not self._has_classes:
            return answer
        places = {label: at for at, label in enumerate(self._estimator.classes_.tolist())}
        return answer[:, [places[label] for label in self._classes]]

    def _framed(self, rows: NDArray[Any]) -> Any:
        import pandas as pd

        return pd.DataFrame(rows, columns=list(self.columns))

    def _table(self, rows: Any) -> pd.DataFrame:
        """One row or more, with names that are texts. Raises InputError for anything else."""
        import pandas as pd

        if isinstance(rows, Mapping):
            raise InputError("rows", "they are a dict", "give a data frame, or a list of dicts")
        rows = frame_of("rows", rows)
        table = rows if isinstance(rows, pd.DataFrame) else self._as_frame(rows)
        if not len(table):
            raise InputError("rows", "there are none", "give at least one")
        return table.rename(columns=str) if table.columns.nlevels == 1 else table

    def _as_frame(self, rows: Any) -> pd.DataFrame:
        """Records by the columns' names, or an array in the order of the release's columns."""
        import pandas as pd

        if isinstance(rows, list | tuple) and rows and all(isinstance(r, Mapping) for r in rows):
            return pd.DataFrame(list(rows), dtype=object)
        cells = np.asarray(rows, dtype=None if isinstance(rows, np.ndarray) else object)
        names = self.columns
        if cells.ndim and not len(cells):
            return pd.DataFrame(columns=list(names))
        if cells.ndim != 2 or cells.shape[1] != len(names):
            raise InputError(
                "rows",
                "they are not a table with the release's columns",
                f"give {len(names)} cells per row: {_few(names)}",
            )
        return pd.DataFrame(cells, columns=list(names))

    def _truth(self, rows: pd.DataFrame, y: Any, count: int) -> NDArray[Any]:
        """Classes or targets ``(n,)`` of so many rows to compare with, each cell read alone."""
        import pandas as pd

        name = str(self.schema.label if self.model.reads == "label" else self.schema.target)
        if y is None and name in rows.columns:
            demand_column(rows, name)
            y = rows[name]
        if y is None:
            raise InputError(
                "score", f"there is no column {name!r} to compare with", "include it, or give y"
            )
        if np.shape(y) != (count,):
            raise InputError("y", "it does not have one value for each row", "give one for each")
        cells = pd.Series(np.asarray(y, dtype=object) if not isinstance(y, pd.Series) else y)
        if not self._has_classes:
            names = map(category_meant, self.schema.column(name).categories)
            if numbers := {word: number for number, word in enumerate(names)}:  # no and yes
                cells = pd.Series([numbers.get(word, word) for word in categories_meant(cells)])
            targets = self.schema.numbers(name, cells)
            if not np.all(np.isfinite(targets)):
                raise InputError(name, "some cells are missing or infinite", "leave those rows out")
            return targets
        classes = self._estimator.classes_
        truth = {"true": "1", "false": "0"}
        meant = [truth.get(cell, cell) for cell in categories_meant(cells)]
        labels = {category_meant(label): label for label in classes.tolist()}
        labels = {truth.get(word, word): label for word, label in labels.items()}
        if not set(meant) <= labels.keys():
            raise InputError(
                name,
                "some cells are not among the release's classes",
                f"use {_few(sorted(labels))}",
            )
        return np.array([labels[word] for word in meant], dtype=classes.dtype)

    def _part(self, number: int) -> str:
        """A group or centre as the report calls it."""
        return f"{self.model.part} {number + 1}"

    def _titles(self, name: str, count: int) -> list[str]:
        """Names of the columns in which a method answers."""
        match name:
            case "predict":
                return list(self.how.outputs)
            case "score_samples":
                return ["log density"]
            case "predict_proba":
                classes = self._classes if self._has_classes else None
                return [
                    f"probability of {self._part(k) if classes is None else classes[k]}"
                    for k in range(count)
                ]
        columns = self.columns if count == len(self.columns) else ("",) * count
        return [
            self.how.coordinate.format(part=self.model.part, number=k + 1, column=column)
            for k, column in enumerate(columns)
        ]

    def _property(self, name: str) -> dict[str, Any]:
        """One column of the rows, in the words of JSON Schema."""
        column = self.schema.column(name)
        if column.categories:
            return {"enum": list(column.categories)}
        (number,) = (c for c in self.schema.numeric_columns() if c.source == name)
        at = self.columns.index(number.name)
        fill = float(self.how.fills(self.schema, self.dossier["settings"])[at])
        counts = "stays missing" if np.isnan(fill) else f"counts as {fill:g}"
        entry = {
            "type": ["number", "null"],
            "minimum": number.lower,
            "maximum": number.upper,
            "description": f"{f'in {column.unit}; ' if column.unit else ''}null {counts}",
        }
        if column.type == "binary":
            return {**entry, "type": ["number", "boolean", "null"]}
        if column.type == "date":
            ends = (number.lower, number.upper)  # none of these where a ball bounds rows
            first, last = (None if end is None else day_of(end) for end in ends)
            between = "" if None in (first, last) else f" from {first} to {last}"
            entry["description"] = f"a date{between}, or a number {entry['description']}"
            return {**entry, "type": ["string", "number", "null"], "format": "date"}
        return entry

    def _answer(self) -> dict[str, Any]:
        """What is said of a row, in the words of JSON Schema."""
        middle = self._middle
        properties: dict[str, dict[str, Any]] = {}
        for name in self._asked(None):
            answer = self._said(name, middle)
            for title in self._titles(name, 1 if answer.ndim == 1 else answer.shape[1]):
                properties[title] = {"type": "number"}
                if name == "predict_proba":
                    properties[title] |= {"minimum": 0, "maximum": 1}
            if name == "predict" and self._has_classes:
                properties[title] = {"enum": list(self._classes)}
            elif name == "predict" and answer.dtype.kind in "iu":
                wide = "predict_proba" if self._has("predict_proba") else "transform"
                parts = range(self._said(wide, middle).shape[1])
                properties[title] = {"enum": [self._part(number) for number in parts]}
        return {"type": "object", "properties": properties}


class OpenedTexts(OpenedRelease):
    """The same of documents: rows are texts, in a data frame with the schema's column, or a list.

    ``transform`` gives the share of each topic in each text ``(n, K)``.
    """

    @property
    def columns(self) -> tuple[str, ...]:
        """The public words in which texts are counted."""
        return tuple(self.fit.parameters.columns)

    def rows(self, rows: Any) -> NDArray[Any]:
        """The texts ``(n,)``; a missing one is empty. Raises InputError for anything but a list of
        texts.
        """
        return self.cells(rows)

    def cells(self, rows: Any) -> NDArray[Any]:
        """The same. Raises InputError for anything but texts."""
        import pandas as pd

        (name,) = self.schema.features
        rows = frame_of("rows", rows)
        if isinstance(rows, pd.DataFrame):
            demand_column(rows, name)
            rows = rows[name]
        elif isinstance(rows, str):
            raise InputError("rows", "they are a single text", "give a list of texts")
        texts = np.array(list(rows), dtype=object)
        if texts.ndim != 1 or not texts.size:
            raise InputError("rows", "they are not a list of texts", "give one or more texts")
        missing = pd.isna(texts)
        if not all(isinstance(text, str) for text in texts[~missing]):
            raise InputError("rows", "one of them is not a text", "give only texts")
        return np.where(missing, "", texts)

    @property
    def _middle(self) -> NDArray[Any]:
        return np.array([self.columns[0]], dtype=object)

    def _framed(self, rows: NDArray[Any]) -> Any:
        return rows

    def _property(self, name: str) -> dict[str, Any]:
        return {
            "type": "string",
            "description": f"a text, in which {len(self.columns):,} public words are counted",
        }


def is_numbers(value: Any) -> bool:
    """Whether a part of a dossier's parameters is a number or an array of numbers."""
    if value == []:
        return False
    while isinstance(value, list) and value:
        value = value[0]
    return isinstance(value, int | float | list) and not isinstance(value, bool)


def _few(names: Sequence[Any]) -> str:
    """The first of some names."""
    return ", ".join(map(str, names[:8])) + (", ..." if len(names) > 8 else "")


def _guarantee(stated: dict[str, Any]) -> Guarantee:
    """The guarantee of a dossier, whose proof was replayed."""
    entries = {
        field.name: stated[field.name] for field in fields(Guarantee) if field.name in stated
    }
    lists = {name: tuple(entries.get(name, ())) for name in ("assumptions", "notes")}
    return Guarantee(**{**entries, **lists, "claim": None, "proof": Proof(**stated["proof"])})
