"""The options of one model on the command line, read off its declaration."""

from __future__ import annotations

import argparse
from typing import Any

from dpcore.checks import one_of
from dpcore.declaration import declaration
from dpcore.errors import InputError
from dpcore.privacy import Gaussian
from dpcore.registry import MODELS

# Who may hold the rows: whoever runs the command, or nobody but each person, who sends numbers with
# noise or one random bit.
TRUSTS = ("central", "local", "local_onebit")


def usual_method(model: str, mode: str, options: dict[str, Any]) -> str:
    """How a fit is counted unless one says so: exactly, where all its noise is Gaussian.

    options: as :func:`model_options` gives them. A paper's own composition methods are named.

    >>> [usual_method("kmeans", "proved", {"algorithm": name}) for name in ("proved", "dplloyd")]
    ['exact', 'pld']
    """
    from dpcore.fitting.recipe import recipe

    how, own = recipe(model), settings(model, mode, options)
    if only := how.accountants(own):
        return only[0]
    if mode == "paper":
        return "exact"
    events = how.events(own)
    return "exact" if all(isinstance(e.mechanism, Gaussian) for e in events) else "pld"


def settings(model: str, mode: str, options: dict[str, Any]) -> Any:
    """A model's settings from its options; what they cannot be together raises InputError."""
    words = {k: v for k, v in options.items() if k not in ("n_components", "clip")}
    components = options.get("n_components", 3)
    return declaration(model).settings.parse(components=components, mode=mode, **words)


def model_options(args: argparse.Namespace) -> dict[str, Any]:
    """The options given, as :func:`dpcore.fit` takes them.

    Raises InputError for a value that an option cannot have.
    """
    flags = declaration(one_of("model", args.model, MODELS)).flags()
    fields = {flag: flag.replace("-", "_") for flag in flags}
    texts = {f: text for f in flags if (text := getattr(args, fields[f], None)) is not None}
    if {"iterations", "epochs"} <= texts.keys():
        raise InputError("iterations and epochs", "both were given", "give one")
    options = {
        keyword(flags[flag].name): flags[flag].read(fields[flag], text)
        for flag, text in texts.items()
    }
    trust = getattr(args, "trust", TRUSTS[0])
    return options if trust == TRUSTS[0] else {**options, "trust": trust}


def keyword(name: str) -> str:
    """An option of the settings, as :func:`dpcore.fit` calls it."""
    return "n_components" if name == "components" else name


def written(model: str, options: dict[str, Any]) -> dict[str, str]:
    """Options as :func:`dpcore.fit` takes them, as a model's are named and written here.

    >>> written("fa", {"n_components": 2})
    {'factors': '2'}
    """
    own = {keyword(option.name): option for option in declaration(model).flags().values()}
    return {
        own[word].flag: own[word].write(value) for word, value in options.items() if word in own
    }


def trusts(model: str) -> tuple[str, ...]:
    """Who may hold the rows that a model is fitted to.

    >>> trusts("gmm")
    ('central',)
    """
    return TRUSTS if "trust" in declaration(model).settings.options() else TRUSTS[:1]
