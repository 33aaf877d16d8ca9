"""Options of models: those with a dial in their declaration, asked for, slid and linked."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from app.links import read, written
from dpcore.declaration import Method, declaration
from dpcore.options import Dial
from dpcore.registry import MODELS

FIELDS = ("iterations", "covariance")  # options that are fields of a scenario, as many models have


def dials(model: str, method: str, words: Mapping[str, Any]) -> dict[str, Dial]:
    """The dials that a model offers with a method, by option; words: the options given."""
    options, how = declaration(model).dials(), declaration(model).method(method)
    offered = {}
    for name, option in options.items():
        dial = option.dial
        if dial is None or (dial.methods and method not in dial.methods):
            continue
        if dial.only and dial.only[1] != value_of(model, how, dial.only[0], words):
            continue
        offered[name] = dial
    return offered


def value_of(
    model: str, method: Method, name: str, words: Mapping[str, Any], columns: int = 1
) -> Any:
    """What an option is: given, or what the method has, or the usual from the other options and the
    number of columns; ``None`` where an empty box stands for it."""
    option = declaration(model).dials()[name]
    values = {"mode": method.mode, **dict(method.words), **words}
    if name in values:
        return values[name]
    if option.dial is not None and option.dial.usual is not None:
        return option.dial.usual(values, columns)
    return option.paper if method.mode == "paper" else option.default


def read_words(text: str) -> dict[str, Any]:
    """Options written ``name:value;name:value``, in one order; others are left out.

    >>> read_words("tau:9;sigma:1.5;rate:x;own:0")
    {'sigma': 1.5, 'tau': 9.0, 'own': False}
    """
    texts = dict(part.split(":", 1) for part in text.split(";") if ":" in part)
    every = _every(tuple(MODELS)).items()
    values = {name: _read(choices, texts[name]) for name, choices in every if name in texts}
    return {name: value for name, value in values.items() if value is not None}


def write_words(words: Mapping[str, Any]) -> str:
    """The same back as text.

    >>> write_words({"sigma": 1.5, "own": False})
    'sigma:1.5;own:0'
    """
    values = {name: value for name, value in words.items() if value is not None}
    return ";".join(
        f"{name}:{written(values[name])}" for name in _every(tuple(MODELS)) if name in values
    )


@lru_cache(maxsize=4)
def _every(models: tuple[str, ...]) -> dict[str, list[Dial]]:
    """The dials of all models by option; those of one name may differ from model to model."""
    by_name: dict[str, list[Dial]] = {}
    for model in models:
        for name, option in declaration(model).dials().items():
            if name not in FIELDS and option.dial is not None:
                by_name.setdefault(name, []).append(option.dial)
    return by_name


def _read(dials: list[Dial], text: str) -> Any:
    """What a link says, or ``None`` where no dial takes that."""
    for dial in dials:
        value: Any = text
        if dial.form:
            value = read(0 if dial.form == "%d" else 0.0, text)
        elif dial.choices is None:
            value = {"0": False, "1": True}.get(text)
        if value is not None and dial.takes(value):
            return value
    return None
