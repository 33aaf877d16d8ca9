"""The models' own options on the command line: which model has which, and what may be said."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dpcore.checks import number, one_of, whole
from dpcore.errors import InputError
from dpcore.privacy import Gaussian

GRADIENT = ("symmetric-mixture", "mixture-regression", "missing-regression")
USUAL = ("gmm", "kmeans", "fa")  # whose options the help tells without naming them
RELEASES = (
    "auto", "staged", "public_features", "mte", "gaussian", "laplace", "colored", "pooled", "paper",
    "r1smg",
)  # fmt: skip
SAMPLED = ("lda", "sbn")  # their steps read secret samples
# Who may hold the rows: whoever runs the command, or nobody but each person, who sends numbers with
# noise or one random bit.
TRUSTS = ("central", "local", "local_onebit")


@dataclass(frozen=True)
class Option:
    """One option: its name on the command line and in :func:`dpcore.fit`, and whose it is.

    A name may stand for different choices of different models. read: from the name that errors use
    and what was written; write: back.
    """

    flag: str
    keyword: str
    metavar: str
    text: str
    models: tuple[str, ...]
    read: Callable[[str, str], Any]
    write: Callable[[Any], str] = str

    @property
    def field(self) -> str:
        return self.flag.replace("-", "_")


def _word(*known: str) -> Callable[[str, str], str]:
    return lambda field, text: one_of(field, text, known)


OPTIONS = (
    Option(
        "components",
        "n_components",
        "K",
        "number of groups or centres [3]",
        ("gmm", "kmeans"),
        whole,
    ),
    Option("factors", "n_components", "K", "number of factors [3]", ("fa",), whole),
    Option(
        "iterations",
        "iterations",
        "J",
        "steps, fixed in advance [10; fa 50, free of charge; gradient models 15]",
        (*USUAL, *GRADIENT),
        whole,
    ),
    Option(
        "clip",
        "clip",
        "SHARE",
        "clipping ball as a share of the public radius [1]",
        (*USUAL, "gmm-release", "logistic"),
        number,
    ),
    Option(
        "covariance",
        "covariance",
        "C",
        "full, diag or spherical [full]",
        ("gmm",),
        _word("full", "diag", "spherical"),
    ),
    Option(
        "combination",
        "combination",
        "N",
        "noise of paper mode for counts, means, covariances: GGG (all Gaussian) or LLG (Laplace "
        "twice) [GGG]",
        ("gmm",),
        _word("GGG", "LLG"),
    ),
    Option(
        "prior",
        "prior",
        "P",
        "map or mle [map in paper mode, else mle]",
        ("gmm",),
        _word("map", "mle"),
    ),
    Option(
        "algorithm",
        "algorithm",
        "A",
        "proved, dplloyd or paper [proved]",
        ("kmeans",),
        _word("proved", "dplloyd", "paper"),
    ),
    Option(
        "algorithm",
        "algorithm",
        "A",
        "em (without privacy), clipped or robust [clipped; robust in paper mode]",
        GRADIENT,
        _word("em", "clipped", "robust"),
    ),
    Option(
        "clip",
        "threshold",
        "C",
        "largest norm that a gradient keeps; of robust the scale of its truncation [sqrt(d tau)]",
        GRADIENT,
        number,
    ),
    Option(
        "sigma",
        "sigma",
        "SD",
        "the known noise level, in the data's own units [1]",
        GRADIENT,
        number,
    ),
    Option(
        "tau",
        "tau",
        "T",
        "a public bound on the mean square of a gradient's coordinate [4 sigma^2]",
        GRADIENT,
        number,
    ),
    Option(
        "tau",
        "tau",
        "T",
        "a public bound on a column's mean square about the middle of its limits [the limits']",
        ("mean",),
        number,
    ),
    Option(
        "rows",
        "rows",
        "N",
        "a public guess of how many rows there are, where their number is private [none]",
        ("mean",),
        whole,
    ),
    Option(
        "coordinates",
        "own",
        "W",
        "own: the columns' units, about 0; unit: shares of their limits, about the middle [own]",
        GRADIENT,
        lambda field, text: one_of(field, text, ("own", "unit")) == "own",
        lambda own: "own" if own else "unit",
    ),
    Option(
        "start",
        "start",
        "S",
        "which of the public random starts [0]",
        GRADIENT[:2],
        lambda field, text: whole(field, text, least=0),
    ),
    Option(
        "start-norm",
        "start_norm",
        "R",
        "how far from 0 that start lies [sigma]",
        GRADIENT[:2],
        number,
    ),
    Option(
        "missing-rate",
        "missing_rate",
        "P",
        "share of the numbers to hide on top, by a public coin [0]",
        ("missing-regression",),
        number,
    ),
    Option(
        "method",
        "method",
        "M",
        "auto, staged, public_features, mte, gaussian, laplace, colored or pooled; in paper mode "
        "paper, laplace, gaussian, colored or r1smg [auto; paper]",
        ("gmm-release",),
        _word(*RELEASES),
    ),
    Option(
        "divergence",
        "target",
        "D",
        "which one is to be small: reverse (of the release from the exact) or forward [reverse]",
        ("gmm-release",),
        _word("reverse", "forward"),
    ),
    Option(
        "neighbours",
        "neighbours",
        "N",
        "of paper mode: all, leave, ball or scalable [all]",
        ("gmm-release",),
        _word("all", "leave", "ball", "scalable"),
    ),
    Option(
        "algorithm",
        "algorithm",
        "A",
        "one_shot, vb, vips, objective or dpvi [one_shot; vips in paper mode]",
        ("logistic",),
        _word("one_shot", "vb", "vips", "objective", "dpvi"),
    ),
    Option(
        "iterations",
        "iterations",
        "J",
        "steps of vb [5], vips [one pass over the rows] and dpvi [50]; the others take none",
        ("logistic",),
        whole,
    ),
    Option(
        "minibatch",
        "minibatch",
        "S",
        "rows of a step of vips or dpvi, where their number is public [the recipe's]",
        ("logistic",),
        whole,
    ),
    Option(
        "rate",
        "rate",
        "Q",
        "instead, each row's chance to be in a step [unset]",
        ("logistic",),
        number,
    ),
    Option(
        "delay",
        "delay",
        "T0",
        "step t weighs (delay + t)^-forgetting [0; 1024 in paper mode]",
        ("logistic",),
        number,
    ),
    Option(
        "forgetting",
        "forgetting",
        "K",
        "the same [1; 0.7 in paper mode]",
        ("logistic",),
        number,
    ),
    Option(
        "ridge",
        "ridge",
        "L",
        "of objective: prior precision at least [one that grows with the noise]",
        ("logistic",),
        number,
    ),
    Option("topics", "n_components", "K", "number of topics [3]", ("lda",), whole),
    Option("units", "n_components", "K", "number of hidden units [3]", ("sbn",), whole),
    Option(
        "iterations",
        "iterations",
        "J",
        "steps, fixed in advance [as many as the epochs have]",
        SAMPLED,
        whole,
    ),
    Option("epochs", "epochs", "E", "passes over the data [3 and 5; paper mode 1]", SAMPLED, whole),
    Option(
        "minibatch",
        "minibatch",
        "S",
        "documents or rows of a step, drawn in secret [a quarter of them]",
        SAMPLED,
        whole,
    ),
    Option(
        "rate",
        "rate",
        "Q",
        "instead of a minibatch: the share of a step, 1 for all [0.25]",
        SAMPLED,
        number,
    ),
    Option(
        "delay",
        "delay",
        "T",
        "how late earlier steps begin to count less: step t weighs (T + t)^-F [1; paper mode 1024]",
        SAMPLED,
        number,
    ),
    Option(
        "forgetting",
        "forgetting",
        "F",
        "how fast: the F of the same [0.6 and 0.4; paper mode 0.7]",
        SAMPLED,
        number,
    ),
    Option(
        "clip",
        "clip",
        "A",
        "how far a document or a row can move a step, as a share of the most [0.1 and 0.3]",
        SAMPLED,
        number,
    ),
    Option(
        "length",
        "length",
        "N",
        "words that each document stands for, whatever its length [500]",
        ("lda",),
        whole,
    ),
    Option(
        "keep",
        "keep",
        "V",
        "words to keep of the vocabulary, chosen by noisy frequencies [all]",
        ("lda",),
        whole,
    ),
    Option(
        "threshold",
        "threshold",
        "T",
        "share of a pixel's limits above which it is on [0.5]",
        ("sbn",),
        number,
    ),
)


def usual_method(model: str, mode: str, options: dict[str, Any]) -> str:
    """How a fit is counted unless one says so: exactly, where all its noise is Gaussian.

    options: as :func:`model_options` gives them. A paper's own ways of counting are named.

    >>> [usual_method("kmeans", "proved", {"algorithm": name}) for name in ("proved", "dplloyd")]
    ['exact', 'pld']
    """
    from dpcore.fitting.recipe import recipe

    how: Any = recipe(model)
    own = settings(model, mode, options)
    if hasattr(how, "accountants") and (only := how.accountants(own)):
        return str(only[0])
    if mode == "paper":
        return "exact"
    events = how.events(own)
    return "exact" if all(isinstance(e.mechanism, Gaussian) for e in events) else "pld"


def settings(model: str, mode: str, options: dict[str, Any]) -> Any:
    """A model's settings from its options; what they cannot be together raises InputError."""
    from dpcore.fitting.recipe import recipe

    words = {k: v for k, v in options.items() if k not in ("n_components", "clip")}
    return recipe(model).settings(components=options.get("n_components", 3), mode=mode, **words)


def model_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of all models; each says whose it is where it is not everybody's."""
    group = parser.add_argument_group("the model")
    for flag in dict.fromkeys(option.flag for option in OPTIONS):
        meant = [option for option in OPTIONS if option.flag == flag]
        told = "; ".join(f"{_whose(option.models)}{option.text}" for option in meant)
        group.add_argument(f"--{flag}", metavar=meant[0].metavar, help=told)


def _whose(models: tuple[str, ...]) -> str:
    """Whose an option is, where it is not everybody's."""
    names = ["gradient models"] if models == GRADIENT else models
    return "" if models[: len(USUAL)] == USUAL else f"{', '.join(names)}: "


def model_options(args: argparse.Namespace) -> dict[str, Any]:
    """The options given, as ``dpcore.fit`` takes them; another model's are refused."""
    own = {option.flag: option for option in OPTIONS if args.model in option.models}
    given = {o.flag: text for o in OPTIONS if (text := getattr(args, o.field)) is not None}
    for flag in given:
        if flag not in own:
            known = ", ".join(f"--{name}" for name in own)
            raise InputError(
                flag, f"{args.model} has no such choice", f"leave it out; it has {known}"
            )
    if {"iterations", "epochs"} <= given.keys():
        raise InputError("iterations and epochs", "both were given", "give one")
    found = {
        own[flag].keyword: own[flag].read(own[flag].field, text) for flag, text in given.items()
    }
    trust = getattr(args, "trust", TRUSTS[0])
    return found if trust == TRUSTS[0] else {**found, "trust": trust}


def written(model: str, options: dict[str, Any]) -> dict[str, str]:
    """Options as :func:`dpcore.fit` takes them, as a model's are named and written here.

    >>> written("fa", {"n_components": 2})
    {'factors': '2'}
    """
    own = {option.keyword: option for option in OPTIONS if model in option.models}
    return {
        own[word].flag: own[word].write(value) for word, value in options.items() if word in own
    }


def trusts(model: str) -> tuple[str, ...]:
    """Who may hold the rows that a model is fitted to.

    >>> trusts("gmm")
    ('central',)
    """
    from dpcore.fitting.recipe import recipe

    return TRUSTS if "trust" in recipe(model).words else TRUSTS[:1]
