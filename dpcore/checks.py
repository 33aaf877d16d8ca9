"""Checks of plain parameters: each returns the value or says in one sentence what to change."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

from dpcore.errors import InputError


def _number(field: str, value: Any) -> float:
    if isinstance(value, bool):
        raise InputError(field, f"{value!r} is not a number", "give a number")
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InputError(field, f"{value!r} is not a number", "give a number") from None


def positive(field: str, value: Any, *, example: str = "1") -> float:
    """A finite number above 0.

    >>> positive("epsilon", 0.5)
    0.5
    """
    number = _number(field, value)
    if not (0.0 < number < math.inf):
        raise InputError(
            field, f"{value} is not a finite number above 0", f"give one, for example {example}"
        )
    return number


def probability(field: str, value: Any, *, example: str = "0.00001") -> float:
    """A number strictly between 0 and 1."""
    number = _number(field, value)
    if not (0.0 < number < 1.0):
        raise InputError(
            field, f"{value} is not between 0 and 1", f"give one, for example {example}"
        )
    return number


def whole(field: str, value: Any, *, least: int = 1, most: int | None = None) -> int:
    """A whole number in ``[least, most]``."""
    number = _number(field, value)
    if number != math.floor(number) or math.isinf(number):
        raise InputError(field, f"{value} is not a whole number", "give a whole number")
    if number < least:
        raise InputError(field, f"{value} is below {least}", f"give {least} or more")
    if most is not None and number > most:
        raise InputError(field, f"{value} is above {most}", f"give {most} or less")
    return int(number)


def one_of(field: str, value: Any, allowed: Collection[str]) -> str:
    """One of the allowed words."""
    if value not in allowed:
        raise InputError(field, f"{value!r} is not known", "choose one of " + ", ".join(allowed))
    return str(value)
