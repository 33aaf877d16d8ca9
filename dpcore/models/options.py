"""Options of models as data: each is declared once, with its default, check, help and dial.

The command line's flags, the words of :func:`dpcore.fit`, the explorer's dials, links and refusals
are all read from the dataclass of a model's settings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any, Self

from dpcore.checks import one_of, whole
from dpcore.errors import InputError

Check = Callable[[str, Any], Any]


@dataclass(frozen=True)
class Dial:
    """How the explorer asks for an option.

    low, high, step, form: of its box; without a form it is a choice between two. usual: the value
    where none is given, from the other options and the number of columns; ``None``: the option's
    default. methods: names of the methods with which it is offered; empty: all.
    """

    label: str
    help: str
    low: float = 0.0
    high: float = 1.0
    step: float = 1.0
    form: str = ""
    usual: Callable[[Mapping[str, Any], int], Any] | None = None
    methods: tuple[str, ...] = ()


@dataclass(frozen=True)
class Option:
    """One public choice of a model.

    name: as :func:`dpcore.fit` takes it. check: from the name and a value to the value, or
    InputError. flag: its name on the command line; empty: it has none. read, write: from the
    command line's text and back.
    """

    name: str
    default: Any
    paper: Any
    check: Check
    help: str
    flag: str
    metavar: str
    read: Check
    write: Callable[[Any], str]
    dial: Dial | None


def option(
    default: Any,
    check: Check,
    help: str = "",
    *,
    flag: str = "",
    metavar: str = "",
    paper: Any = None,
    read: Check | None = None,
    write: Callable[[Any], str] = str,
    dial: Dial | None = None,
) -> Any:
    """A field of a model's settings that may be chosen.

    paper: its default in paper mode, where that is another.
    """
    return field(
        default=default,
        metadata={
            "check": check,
            "paper": default if paper is None else paper,
            "help": help,
            "flag": flag,
            "metavar": metavar,
            "read": read or check,
            "write": write,
            "dial": dial,
        },
    )


def word(*allowed: str) -> Check:
    """A check that a value is one of some words."""
    return lambda name, value: one_of(name, value, allowed)


def from_zero(name: str, value: Any) -> int:
    """A whole number of 0 or more."""
    return whole(name, value, least=0)


def yes_or_no(name: str, value: Any) -> bool:
    """Yes or no."""
    return bool(value)


@dataclass(frozen=True)
class Settings:
    """Public choices of a fit; none may be read from the data. mode: ``proved`` | ``paper``."""

    components: int = 1
    mode: str = "proved"

    @classmethod
    @cache
    def options(cls) -> dict[str, Option]:
        """The options by name, in the order of their declaration."""
        return {
            each.name: Option(each.name, each.default, **each.metadata)
            for each in fields(cls)
            if each.metadata
        }

    @classmethod
    def parse(cls, *, mode: str = "proved", **words: Any) -> Self:
        """Settings from plain words, each checked; ``None`` stands for the usual.

        Raises InputError for a word that cannot be, or that does not go with another.
        """
        options = cls.options()
        if unknown := words.keys() - options.keys() - {"components"}:
            raise TypeError(f"{cls.__name__} has no option {min(unknown)}")
        given = {
            name: options[name].check(name, value)
            for name, value in words.items()
            if name in options and value is not None
        }
        usual = {
            name: each.paper if mode == "paper" else each.default for name, each in options.items()
        }
        return cls(mode=mode, **{**usual, **cls.together(given, mode)})

    @classmethod
    def together(cls, given: dict[str, Any], mode: str) -> dict[str, Any]:
        """The options given, with what follows from them; InputError where two contradict."""
        return given


def demand_options(model: str, settings: type[Settings], words: Mapping[str, Any]) -> None:
    """Raise InputError for an option that a model does not have."""
    own = [name for name in settings.options() if name != "components"]
    for name in words:
        if name not in own:
            takes = "it takes " + ", ".join(["n_components", *own])
            raise InputError(name, f"model {model!r} takes no such option", takes)
