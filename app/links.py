"""How choices stand in a link: those that differ from the opening, each so that it reads back."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import fields, replace
from difflib import get_close_matches
from typing import Any, TypeVar
from urllib.parse import parse_qsl, urlencode

import numpy as np

Choices = TypeVar("Choices", bound=Any)
Reader = Callable[[str], Any]  # raises ValueError for what it does not take
PINS, PIN = "ABCD", "|"  # what pinned choices are called; what stands before each in a link


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


def chosen(choices: Choices, query: Mapping[str, str], readers: Mapping[str, Reader]) -> Choices:
    """The choices with what a link says of them; what no reader takes leaves a choice as it is."""
    for name, reader in readers.items():
        if name in query:
            try:
                choices = replace(choices, **{name: reader(query[name])})
            except ValueError:
                continue
    return choices


def misread(query: Mapping[str, str], readers: Mapping[str, Reader]) -> tuple[str, ...]:
    """The names whose value in a link no reader takes, and mistyped names.

    >>> misread({"epsilon": "abc", "k": "5"}, {"epsilon": between(0.1, 9.0), "k": between(1, 9)})
    ('epsilon',)
    >>> misread({"epsilom": "1", "utm": "9"}, {"epsilon": between(0.1, 9.0)})
    ('epsilom',)
    """
    strange = [name for name in query if name not in readers and name.isalpha()]
    names = [name for name in strange if get_close_matches(name.lower(), readers, 1, 0.8)]
    for name, reader in readers.items():
        try:
            reader(query.get(name, ""))
        except ValueError:
            names += [name] if name in query else []
    return tuple(names)


def between(low: float, high: float) -> Reader:
    """Reads a number from ``low`` to ``high``; where these are whole, a whole one. It raises
    ValueError for anything else.

    >>> between(1, 50)("7"), between(0.1, 1.0)("0.25")
    (7, 0.25)
    """

    def reader(text: str) -> float:
        if isinstance(low, int) and not (text.isascii() and text.isdecimal() and len(text) < 11):
            raise ValueError(text)
        if "_" in text:  # which Python takes for a blank between digits
            raise ValueError(text)
        value = type(low)(text)
        if not low <= value <= high:
            raise ValueError(text)
        return value

    return reader


def all_of(understood: Callable[[str], str], mark: str = ",") -> Reader:
    """Reads a list of words, if each is among those that are ``understood`` of it. It raises
    ValueError otherwise.

    >>> all_of(lambda text: "k,says")("says,k")
    'says,k'
    """

    def reader(text: str) -> str:
        if {*text.split(mark)} - {"", *understood(text).split(mark)}:
            raise ValueError(text)
        return text

    return reader


def among(words: Container[str]) -> Reader:
    """Reads one of some words. It raises ValueError for any other."""

    def reader(text: str) -> str:
        if text not in words:
            raise ValueError(text)
        return text

    return reader


def each_once(pairs: Iterable[tuple[str, str]]) -> tuple[dict[str, str], tuple[str, ...]]:
    """The values of an address by name, and the names with several values, none of which is used.

    >>> each_once([("k", "5"), ("epsilon", "1"), ("epsilon", "2"), ("k", "5")])
    ({'k': '5'}, ('epsilon',))
    """
    values: dict[str, set[str]] = {}
    for name, value in pairs:
        values.setdefault(name, set()).add(value)
    query = {name: value for name, (value, *more) in values.items() if not more}
    return query, tuple(name for name in values if name not in query)


def pins_of(queries: Iterable[Mapping[str, str]], left_out: Container[str]) -> str:
    """Pinned choices as one value of a link, each once, as many as have a name.

    >>> pins_of([{"k": "5", "hide": "k"}, {"k": "5"}, {}], ["hide"])
    '|k=5|'
    """
    chosen = (
        {key: value for key, value in query.items() if key not in left_out} for query in queries
    )
    links = dict.fromkeys(PIN + urlencode(value, safe=",") for value in chosen)
    return "".join([*links][: len(PINS)])


def pinned(pins: str) -> tuple[dict[str, str], ...]:
    """The same back.

    >>> pinned("|k=5|")
    ({'k': '5'}, {})
    """
    return tuple(dict(parse_qsl(link, keep_blank_values=True)) for link in pins.split(PIN)[1:])


def pins_among(
    misread: Callable[[Mapping[str, str]], tuple[str, ...]], choices: type[Any]
) -> Reader:
    """Reads pinned choices, each of which has only words that are understood. It raises ValueError
    otherwise."""
    names = {f.name for f in fields(choices)}

    def reader(text: str) -> str:
        queries = pinned(text)
        odd = any(misread(query) or query.keys() - names for query in queries)
        if (text and text[0] != PIN) or odd:
            raise ValueError(text)
        return text

    return reader
