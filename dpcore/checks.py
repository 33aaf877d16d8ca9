"""Checks of plain parameters: each returns the value, or raises InputError with the remedy."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from difflib import get_close_matches
from os import PathLike
from pathlib import Path
from typing import Any

from dpcore.errors import InputError


def number(field: str, value: Any) -> float:
    """Any number, which may be infinite or undefined. Raises InputError for anything else."""
    if value is None:
        raise InputError(field, "none was given", "give a number")
    if isinstance(value, bool):
        raise InputError(field, f"{value!r} is not a number", "give a number")
    try:
        return float(value)
    except OverflowError:
        raise InputError(field, "the number is too large", "give a smaller one") from None
    except (TypeError, ValueError):
        raise InputError(field, f"{value!r} is not a number", "give a number") from None


def positive(field: str, value: Any, *, example: str = "1") -> float:
    """A finite number above 0. Raises InputError for anything else.

    >>> positive("epsilon", 0.5)
    0.5
    """
    parsed = number(field, value)
    if not (0.0 < parsed < math.inf):
        raise InputError(
            field, f"{value} is not a finite number above 0", f"give a number such as {example}"
        )
    return parsed


def probability(field: str, value: Any, *, example: str = "1e-5") -> float:
    """A number strictly between 0 and 1. Raises InputError for anything else."""
    parsed = number(field, value)
    if not (0.0 < parsed < 1.0):
        raise InputError(
            field, f"{value} is not strictly between 0 and 1", f"give a number such as {example}"
        )
    return parsed


def share(field: str, value: Any) -> float:
    """A share above 0 and at most 1. Raises InputError for anything else.

    >>> share("sampling_rate", 1)
    1.0
    """
    parsed = number(field, value)
    if not (0.0 < parsed <= 1.0):
        raise InputError(field, f"{value} is not in (0, 1]", "give a share, for example 0.2")
    return parsed


def share_below_one(field: str, value: Any) -> float:
    """A share of 0 or more and below 1. Raises InputError for anything else.

    >>> share_below_one("missing_rate", 0)
    0.0
    """
    parsed = number(field, value)
    if not (0.0 <= parsed < 1.0):
        raise InputError(field, f"{value} is not in [0, 1)", "give a share, for example 0.2")
    return parsed


def nonnegative(field: str, value: Any) -> float:
    """A finite number of 0 or more. Raises InputError for anything else.

    >>> nonnegative("delta", "0")
    0.0
    """
    parsed = number(field, value)
    if not (0.0 <= parsed < math.inf):
        raise InputError(field, f"{value} is not a finite number of 0 or more", "give one")
    return parsed


def whole(field: str, value: Any, *, least: int = 1, most: int | None = None) -> int:
    """A whole number in ``[least, most]``, with every digit. Raises InputError otherwise.

    >>> whole("seed", "9007199254740993")
    9007199254740993
    """
    integer = _integer(value)
    if integer is None:
        inexact = number(field, value)
        if not math.isfinite(inexact) or inexact != math.floor(inexact):
            raise InputError(field, f"{value} is not a whole number", "give a whole number")
        integer = int(inexact)
    number(field, integer)  # it counts in real numbers
    if integer < least:
        raise InputError(field, f"{value} is below {least}", f"give {least} or more")
    if most is not None and integer > most:
        raise InputError(field, f"{value} is above {most}", f"give {most} or less")
    return integer


def truth(field: str, value: Any) -> bool:
    """True or false. Raises InputError for anything else, which Python would take for one of them.

    >>> truth("parallel", False)
    False
    """
    if not isinstance(value, bool):
        raise InputError(field, f"{value!r} is not true or false", "give true or false")
    return value


def rows_of_one(value: Any, field: str = "rows_per_person") -> int:
    """How many rows one person may have: a whole number that noise can still hide.

    >>> rows_of_one("3")
    3
    """
    return whole(field, value, most=1_000_000)


def _integer(value: Any) -> int | None:
    """A whole number written as one, or nothing."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    try:
        return int(value)
    except ValueError:
        return None


def words_of(field: str, value: Any, *, least: int = 0) -> tuple[str, ...]:
    """A list of names. Raises InputError for a single text, whose letters none means, for fewer
    than ``least``, and for anything else.

    >>> words_of("methods", ["exact", "zcdp"])
    ('exact', 'zcdp')
    """
    if isinstance(value, str) or not isinstance(value, Iterable) or not getattr(value, "ndim", 1):
        raise InputError(field, "it is not a list of names", "give one, in brackets")
    words = tuple(value)
    if len(words) < least:
        raise InputError(field, "it names nothing", "give at least one name")
    return words


def pairs_of(field: str, value: Any) -> tuple[tuple[str, Any], ...]:
    """Names, each with a value, in a mapping or in pairs. Raises InputError for anything else.

    >>> pairs_of("options", {"iterations": 5})
    (('iterations', 5),)
    """
    try:
        pairs = tuple(dict(value).items())
    except (TypeError, ValueError):
        pairs = ((None, value),)
    if not all(isinstance(name, str) for name, _ in pairs):
        raise InputError(
            field, "they are not pairs of a name and a value", 'give (("sigma", 2.0),), say'
        )
    return pairs


LISTED = 12  # names that a refusal lists; of more the nearest


def nearest(value: Any, allowed: Collection[str]) -> list[str]:
    """Of many allowed words the few that hold a refused one, or look most like it; of few words
    none."""
    folded = {name.lower(): name for name in allowed} if len(allowed) > LISTED else {}
    text = str(value)[:80].lower()
    near = [name for name in folded if len(text) > 2 and text in name][:3]
    return [folded[name] for name in near or get_close_matches(text, folded)]


def listed(words: Sequence[str], joint: str = "and") -> str:
    """Words with commas between them, and ``joint`` before the last.

    >>> listed(["a", "b", "c"]), listed(["a", "b"], "or"), listed(["a"])
    ('a, b and c', 'a or b', 'a')
    """
    *others, last = words
    return f"{', '.join(others)} {joint} {last}" if others else last


def spelled(number: int) -> str:
    """A number up to ten as a word, a larger one in digits.

    >>> spelled(0), spelled(3), spelled(1248)
    ('no', 'three', '1,248')
    """
    return _NUMBERS[number] if number < len(_NUMBERS) else f"{number:,}"


_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def choose(value: Any, allowed: Collection[str]) -> str:
    """What a refusal of ``value`` tells to do.

    >>> choose("x", ["gmm", "fa"])
    'choose one of gmm, fa'
    >>> choose("figure-2", [f"figure-{number}" for number in range(3, 33)])
    'choose figure-20, figure-21 or figure-22 (the nearest of 30)'
    """
    if near := nearest(value, allowed):
        return f"choose {listed(near, 'or')} (the nearest of {len(allowed)})"
    more = f", ... ({len(allowed)} in all)" if len(allowed) > LISTED else ""
    several = "one of " * (len(allowed) > 1)
    return f"choose {several}{', '.join(list(allowed)[:LISTED])}{more}"


def one_of(field: str, value: Any, allowed: Collection[str]) -> str:
    """One of the allowed words. Raises InputError for any other."""
    if not isinstance(value, str) or value not in allowed:
        raise InputError(field, f"{value!r} is not known", choose(value, allowed))
    return str(value)


def path_of(field: str, path: str | PathLike[str]) -> Path:
    """A path at which a file can be. Raises InputError for anything else."""
    if not isinstance(path, str | PathLike):
        raise InputError(field, "it is not a path", "give a path, as text")
    if "\0" in str(path):
        raise InputError(field, "its name contains a NUL", "give another path")
    try:
        with suppress(FileNotFoundError, NotADirectoryError, ValueError):  # the reader says so
            Path(path).stat()
    except OSError as problem:  # a name that is too long, or a folder that may not be read
        reason = f"the system refuses it ({problem.strerror})"
        raise InputError(field, reason, "give another path, or check permissions") from None
    return Path(path)
