"""Options that few models have: those with a dial in their declaration, asked for and linked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.links import read, written
from dpcore.models.declaration import declaration, declarations
from dpcore.models.options import Dial, Option


def dials(model: str, method: str) -> dict[str, Dial]:
    """The dials that a model offers with a method, by option."""
    options = declaration(model).dials()
    offered = {name: each.dial for name, each in options.items() if each.dial is not None}
    return {
        name: dial for name, dial in offered.items() if not dial.methods or method in dial.methods
    }


def usual(model: str, name: str, known: Mapping[str, Any], columns: int) -> Any:
    """What an option is unless given, from the other options and the number of columns."""
    option = declaration(model).dials()[name]
    if option.dial is None or option.dial.usual is None:
        return option.default
    return option.dial.usual(known, columns)


def read_words(text: str) -> dict[str, Any]:
    """Options written ``name:value;name:value``, in one order; others are left out.

    >>> read_words("tau:9;sigma:1.5;rate:x;own:0")
    {'sigma': 1.5, 'tau': 9.0, 'own': False}
    """
    given = dict(part.split(":", 1) for part in text.split(";") if ":" in part)
    values = {name: _read(each, given[name]) for name, each in _every().items() if name in given}
    return {name: value for name, value in values.items() if value is not None}


def write_words(words: Mapping[str, Any]) -> str:
    """The same back as text.

    >>> write_words({"sigma": 1.5, "own": False})
    'sigma:1.5;own:0'
    """
    return ";".join(f"{name}:{written(words[name])}" for name in _every() if name in words)


def _every() -> dict[str, Option]:
    """The options of all models that have a dial; those of one name have one range."""
    return {name: each for model in declarations().values() for name, each in model.dials().items()}


def _read(option: Option, text: str) -> Any:
    """What a link says, or ``None`` where that cannot be."""
    dial = option.dial
    if dial is None or not dial.form:
        return {"0": False, "1": True}.get(text)
    value = read(0 if dial.form == "%d" else 0.0, text)
    return value if value is not None and dial.low <= value <= dial.high else None
