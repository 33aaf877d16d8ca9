"""Narrower limits in the data's own units: what is printed, exported and used by later fits."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpcore.arrays import Array
from dpcore.errors import InputError
from dpcore.fitting.recipe import ColumnParameters
from dpcore.fitting.result_table import Table, in_digits
from dpcore.privacy import Guarantee
from dpcore.schema import Schema
from dpcore.schema.forms import DAYS, day_of
from dpcore.wall.data import PublicFrame

DIGITS = 9  # of a width, beyond which own units are rounding errors


@dataclass(frozen=True)
class Limits:
    """B pairs of limits ``(B, d)`` in public unit coordinates, inside -1 and 1, and the share of a
    column's numbers that lies outside at most, ``(B, d)``."""

    lower: Array
    upper: Array
    outside: Array

    @property
    def width(self) -> Array:
        """Shares ``(B, d)`` of the public limits."""
        return np.asarray((self.upper - self.lower) / 2.0)


@dataclass(frozen=True)
class LimitsParameters(ColumnParameters):
    """Lower and upper limits ``(d,)`` in the data's own units.

    outside_at_most ``(d,)``: share of a column's numbers that lies outside them at most, with 95%
    confidence for each column; 1 where a release does not say.
    """

    lower: Array
    upper: Array
    outside_at_most: Array

    @classmethod
    def from_units(cls, batch: Limits, run: int, public: PublicFrame) -> LimitsParameters:
        """One run of a batch in public unit coordinates, put in own units; the public limits where
        rounding would make the two equal.
        """
        width = 2.0 * public.half_range * batch.width[run]
        lower, upper = (
            _plain(public.center + public.half_range * units[run], width)
            for units in (batch.lower, batch.upper)
        )
        apart = lower < upper
        lower = np.where(apart, lower, public.center - public.half_range)
        upper = np.where(apart, upper, public.center + public.half_range)
        outside = np.ceil(1000.0 * batch.outside[run]) / 1000.0
        return cls(public.names, lower, upper, outside)

    def in_units(self, public: PublicFrame) -> Limits:
        """The same as a batch of one in public unit coordinates."""
        lower, upper = (public.to_units(end)[None] for end in (self.lower, self.upper))
        return Limits(lower, upper, self.outside_at_most[None])

    def narrowed(self, schema: Schema, guarantee: Guarantee | None = None) -> Schema:
        """The schema with these limits for its numbers and dates, for later fits of the same table.

        guarantee: that of the fit which found them. Without one, or where it proves nothing, as
        with a seed or no noise, the schema makes rehearsals of later fits.

        They are never outside the schema's own, which stay where rounding leaves nothing between
        them. A fill of missing cells outside of them gives way to their middle. Raises InputError
        for a schema that has other columns.
        """
        numeric = schema.numeric_columns()
        if [column.name for column in numeric] != list(self.columns):
            raise InputError(
                "schema",
                "it has other columns than the limits",
                "give the schema with which the limits were found",
            )
        pairs = zip(self.lower.tolist(), self.upper.tolist(), strict=True)
        ends = {column.source: pair for column, pair in zip(numeric, pairs, strict=True)}
        columns = []
        for column in schema.columns:
            if column.name in ends and column.is_number:
                low, high = ends[column.name]
                if column.type == "date":  # whole days
                    low, high = float(math.floor(low)), float(math.ceil(high))
                low, high = max(low, column.low), min(high, column.high)
                if not low < high:
                    low, high = column.low, column.high
                fill = column.missing
                if isinstance(fill, float) and not low <= fill <= high:
                    fill = None
                column = replace(column, lower=low, upper=high, missing=fill)
            columns.append(column)
        unproved = guarantee is None or guarantee.rehearsal or guarantee.epsilon is None
        return replace(schema, columns=tuple(columns), rehearsal=schema.rehearsal or unproved)

    def draw(self, count: int, rng: np.random.Generator) -> Array:
        """Rows ``(count, d)`` spread evenly between the limits: nothing else was released."""
        return rng.uniform(self.lower, self.upper, size=(count, len(self.lower)))


def _plain(numbers: Array, width: Array) -> Array:
    """Numbers ``(d,)`` without the digits that only arithmetic made."""
    return np.array(
        [
            round(number, DIGITS - int(np.floor(np.log10(size)))) if size > 0.0 else number
            for number, size in zip(numbers.tolist(), width.tolist(), strict=True)
        ]
    )


def noise_sentence(parameters: LimitsParameters, schema: Schema) -> str:
    """What a receiver should know: how many numbers are cut at most, or that no limits are
    narrower."""
    stated = PublicFrame.of(schema)
    if np.all(parameters.in_units(stated).width >= 1.0 - 1e-6):
        return (
            "Every column keeps its stated limits: its numbers fill them, or noise this strong "
            "could cut numbers off."
        )
    most = in_percent(float(parameters.outside_at_most.max()))
    return (
        f"At most {most} of a column's numbers lie outside "
        "these limits, with 95% confidence for each column. Later fits move such numbers to the "
        "nearer limit."
    )


def in_percent(share: float) -> str:
    """A share as it is read.

    >>> in_percent(0.013), in_percent(0.0)
    ('1.3%', '0%')
    """
    return f"{100.0 * share:.3g}%"


def in_words(unit: str | None, low: float, high: float) -> tuple[str, str]:
    """Two limits of a column as they are read: dates as such."""
    days = day_of(math.floor(round(low, 6))), day_of(math.ceil(round(high, 6)))
    if unit == DAYS and None not in days:
        return str(days[0]), str(days[1])
    return in_digits(low, (low, high), 6, ","), in_digits(high, (low, high), 6, ",")


def result_table(record: dict[str, Any]) -> Table:
    """A line for each column: its narrower limits, with its unit, and how many numbers lie outside
    at most; releases of before do not say that."""
    limits = record["parameters"]
    lines = []
    for name, unit, low, high in zip(
        limits["columns"], record["units"], limits["lower"], limits["upper"], strict=True
    ):
        title = name if unit in (None, DAYS) else f"{name} ({unit})"
        lower, upper = in_words(unit, low, high)
        lines.append({"column": title, "lower": lower, "upper": upper})
    for line, share in zip(lines, limits.get("outside_at_most", ()), strict=False):
        line["outside, at most"] = in_percent(share)
    return "Each column's narrower limits.", lines
