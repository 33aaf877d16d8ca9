"""How choices stand in a link: those that differ from the opening, each so that it reads back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np


def differences(choices: Any, default: Any, written: Callable[[Any], str]) -> dict[str, str]:
    """The fields in which choices differ from the default, as a link writes them."""
    return {
        f.name: written(getattr(choices, f.name))
        for f in fields(choices)
        if getattr(choices, f.name) != getattr(default, f.name)
    }


def number(value: float) -> str:
    """Every digit, none needless, no exponent.

    >>> number(1.0), number(0.00001), number(1.0712345678901)
    ('1', '0.00001', '1.0712345678901')
    """
    return np.format_float_positional(value, trim="-")


def written(value: Any) -> str:
    """A value as a link writes it.

    >>> written(True), written(0.00001), written("iris")
    ('1', '0.00001', 'iris')
    """
    if isinstance(value, bool):
        return "1" if value else "0"
    return number(value) if isinstance(value, float) else f"{value}"


def read(like: Any, text: str) -> Any:
    """The same back, as what ``like`` is; ``None`` where it cannot be.

    >>> read(1, "5"), read(1.0, "5"), read(1, "x"), read(False, "1")
    (5, 5.0, None, True)
    """
    if isinstance(like, bool):
        return text == "1"
    try:
        return type(like)(text)
    except ValueError:
        return None
