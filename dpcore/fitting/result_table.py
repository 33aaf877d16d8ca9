"""Tables for people of what was fitted: parts down, columns across; of many columns, the telling.

A model's own table is ``result_table(record)`` beside its parameters, from the JSON record of a fit
to a heading and lines.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from dpcore.schema.forms import DAYS, day_of

FEW_COLUMNS = 20  # which are shown one by one
ROUNDING = 1e-9  # of the limits: parts that are no farther apart are the same
MOST_DIGITS = 15  # that a number can have
STRONGEST = 4  # columns of a part that are named where there are more

Table = tuple[str, list[dict[str, Any]]]


def column_titles(record: dict[str, Any], *, places: bool = False) -> list[str]:
    """The columns with their units, which are days where dates differ; places: of a table of means
    or centres, where dates stand as dates and have no unit."""
    units = ({DAYS: None if places else "days"}.get(unit, unit) for unit in record["units"])
    names = zip(record["parameters"]["columns"], units, strict=True)
    return [name if unit is None else f"{name} ({unit})" for name, unit in names]


def place_texts(record: dict[str, Any], numbers: Sequence[float]) -> list[str]:
    """A number of each column as it is read: of a date, the nearest day."""
    columns = zip(numbers, record["bounds"], record["units"], strict=True)
    return [str((unit == DAYS and day_of(round(x))) or in_digits(x, at)) for x, at, unit in columns]


def in_digits(number: float, limits: Sequence[float], least: int = 4, mark: str = "") -> str:
    """A number between limits, with as many digits more as the numbers there have in common.

    mark: of thousands.

    >>> in_digits(52.18, (0, 110)), in_digits(1000050.12, (1_000_000, 1_000_100))
    ('52.18', '1000050.1')
    >>> in_digits(25951.3, (0, 150_000)), in_digits(-0.00003473, (0, 1))
    ('25,950', '-0.00003473')
    """
    return in_figures(number, min(MOST_DIGITS, least + common_digits(number, limits)), mark)


def in_figures(number: float, figures: int, mark: str = "") -> str:
    """A number with so many figures; a large one has thousands marked instead of an exponent.

    >>> in_figures(13421.7, 3), in_figures(0.0123, 3), in_figures(2.5e141, 3)
    ('13,400', '0.0123', '2.5e+141')
    """
    text = f"{number:{mark}.{figures}g}"
    return format(Decimal(text), ",f") if "e" in text and 1e-12 < abs(number) < 1e15 else text


def common_digits(number: float, limits: Sequence[float]) -> int:
    """How many leading digits of a number those between the limits share, about.

    >>> common_digits(50, (0, 110)), common_digits(2007, (1990, 2029))
    (0, 1)
    """
    width = max(float(limits[1]) - float(limits[0]), 1e-300)
    return math.floor(math.log10(max(abs(number) / width, 1.0)))


def group_table(record: dict[str, Any], part: str = "group") -> Table:
    """Of a fit with weights, means and covariances: a line for each group."""
    about = "Each group: its share of the rows; mean ± standard deviation of each column."
    return part_table(part, record, "means", "weights", about)


def part_table(
    part: str, record: dict[str, Any], places: str, shares: str, about: str, form: str = ""
) -> Table:
    """A line for each part: its share of the rows, and its number in each column, with the spread
    around it where that is released; of many columns, those where it is farthest from the average.
    places, shares: names of the released arrays ``(K, d)`` and ``(K,)``. form: of a number; by
    default with digits that tell it apart."""
    parameters = record["parameters"]
    titles = column_titles(record, places="covariances" not in parameters)
    if len(titles) > FEW_COLUMNS:
        return far_columns(part, record, parameters[places], parameters[shares])
    lines = []
    for k, (share, numbers) in enumerate(zip(parameters[shares], parameters[places], strict=True)):
        texts = [f"{x:{form}}" for x in numbers] if form else place_texts(record, numbers)
        if "covariances" in parameters:
            with_sd = zip(texts, np.sqrt(np.diagonal(parameters["covariances"][k])), strict=True)
            texts = [f"{text} ± {in_figures(sd, 3)}" for text, sd in with_sd]
        lines.append({part: k + 1, "share": f"{share:.1%}"} | dict(zip(titles, texts, strict=True)))
    return about, lines


def far_columns(part: str, record: dict[str, Any], places: Any, shares: Any) -> Table:
    """Of many columns, as of pictures: those where each part is farthest from the average; none
    where noise has left only one for all.

    places ``(K, d)``, shares ``(K,)``; distances count as shares of the public bounds.
    """
    names, where = record["parameters"]["columns"], np.array(places)
    lower, upper = np.array(record["bounds"], dtype=float).T
    away = np.abs(where - np.average(where, axis=0, weights=shares)) / (upper - lower)
    if away.max() < ROUNDING:
        about = f"All {part}s are the same. Each has this share of the rows (all columns: --json)."
        return about, [{part: str(k + 1), "share": f"{s:.1%}"} for k, s in enumerate(shares)]
    lines = [
        {
            part: str(k + 1),
            "share": f"{share:.1%}",
            "farthest in": ", ".join(
                f"{names[i]} {texts[i]}" for i in np.argsort(-far)[:STRONGEST]
            ),
        }
        for k, (share, far) in enumerate(zip(shares, away, strict=True))
        for texts in [place_texts(record, where[k])]
    ]
    about = (
        f"Each {part}: its share of the rows, and its mean in those of the {len(names)} "
        "columns where it is farthest from the average (all columns: --json)."
    )
    return about, lines
