"""The models' own options on the command line: which model has which, and what may be said."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dpcore.checks import one_of, whole
from dpcore.cli.data import optional_number
from dpcore.errors import InputError
from dpcore.privacy import Gaussian

EVERY = ("gmm", "kmeans", "fa")


@dataclass(frozen=True)
class Option:
    """One option: its name on the command line and in :func:`dpcore.fit`, and whose it is."""

    flag: str
    keyword: str
    metavar: str
    text: str
    models: tuple[str, ...]
    read: Callable[[str], Any]

    @property
    def field(self) -> str:
        return self.flag.replace("-", "_")


def _whole(field: str) -> Callable[[str], int]:
    return lambda text: whole(field, text)


def _word(field: str, *known: str) -> Callable[[str], str]:
    return lambda text: one_of(field, text, known)


OPTIONS = (
    Option(
        "components",
        "n_components",
        "K",
        "number of groups or centres [3]",
        ("gmm", "kmeans"),
        _whole("components"),
    ),
    Option("factors", "n_components", "K", "number of factors [3]", ("fa",), _whole("factors")),
    Option(
        "iterations",
        "iterations",
        "J",
        "steps, fixed in advance [10; fa 50, free of charge]",
        EVERY,
        _whole("iterations"),
    ),
    Option(
        "clip",
        "clip",
        "SHARE",
        "clipping ball as a share of the public radius [1]",
        EVERY,
        lambda text: optional_number("clip", text),
    ),
    Option(
        "covariance",
        "covariance",
        "C",
        "full, diag or spherical [full]",
        ("gmm",),
        _word("covariance", "full", "diag", "spherical"),
    ),
    Option(
        "combination",
        "combination",
        "N",
        "noise of paper mode for counts, means, covariances: GGG (all Gaussian) or LLG (Laplace "
        "twice) [GGG]",
        ("gmm",),
        _word("combination", "GGG", "LLG"),
    ),
    Option(
        "prior",
        "prior",
        "P",
        "map or mle [map in paper mode, else mle]",
        ("gmm",),
        _word("prior", "map", "mle"),
    ),
    Option(
        "algorithm",
        "algorithm",
        "A",
        "proved, dplloyd or paper [proved]",
        ("kmeans",),
        _word("algorithm", "proved", "dplloyd", "paper"),
    ),
)


def usual_method(model: str, mode: str, options: dict[str, Any]) -> str:
    """How a fit is counted unless one says so: exactly, where all its noise is Gaussian.

    options: as :func:`model_options` gives them. A paper's own ways of counting are named.

    >>> [usual_method("kmeans", "proved", {"algorithm": name}) for name in ("proved", "dplloyd")]
    ['exact', 'pld']
    """
    from dpcore.fitting.recipe import recipe

    if mode == "paper":
        return "exact"
    events = recipe(model).events(settings(model, mode, options))
    return "exact" if all(isinstance(e.mechanism, Gaussian) for e in events) else "pld"


def settings(model: str, mode: str, options: dict[str, Any]) -> Any:
    """A model's settings from its options; what they cannot be together raises InputError."""
    from dpcore.fitting.recipe import recipe

    words = {k: v for k, v in options.items() if k not in ("n_components", "clip")}
    return recipe(model).settings(components=options.get("n_components", 3), mode=mode, **words)


def model_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of all models; each says whose it is where it is not everybody's."""
    group = parser.add_argument_group("the model")
    for option in OPTIONS:
        whose = "" if option.models == EVERY else f"{', '.join(option.models)}: "
        group.add_argument(f"--{option.flag}", metavar=option.metavar, help=whose + option.text)


def model_options(args: argparse.Namespace) -> dict[str, Any]:
    """The options given, as ``dpcore.fit`` takes them; another model's are refused."""
    given = {o: text for o in OPTIONS if (text := getattr(args, o.field)) is not None}
    for option in given:
        if args.model not in option.models:
            own = ", ".join(f"--{o.flag}" for o in OPTIONS if args.model in o.models)
            raise InputError(
                option.flag, f"{args.model} has no such choice", f"leave it out; it has {own}"
            )
    return {option.keyword: option.read(text) for option, text in given.items()}
