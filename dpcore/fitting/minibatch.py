"""Minibatch fits: how many rows a step draws, how many steps there are, and what that costs.

A step on a fresh secret sample costs less than one on all rows, so the share of the rows that is
drawn is part of every budget (Balle, Barthe, Gaboardi 2018). A recipe that draws samples says so
(:attr:`~dpcore.fitting.recipe.Recipe.sampled`) and sizes its steps when the rows are known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from dpcore.checks import number, positive, probability, whole
from dpcore.errors import InputError
from dpcore.fitting.plan import groups
from dpcore.options import ITERATIONS, Dial, Settings, Slide, option, start_option
from dpcore.privacy import Event, Gaussian, Privacy
from dpcore.wall.subsample import Sample

if TYPE_CHECKING:
    from dpcore.accounting.published import PublishedBudget

BY_SHARE = "*Share of the data in a step* sets the minibatch size"
TENTHS = tuple(step / 10 for step in range(1, 11))
QUARTER = 0.25  # of the rows in a step, where nothing else is asked


class Sized(Protocol):
    """Settings that say how many rows a step draws, and how many steps there are."""

    @property
    def minibatch(self) -> int | None:
        """Rows or documents per step, where their number is public."""

    @property
    def rate(self) -> float | None:
        """The probability with which a row is in a step."""

    @property
    def iterations(self) -> int | None:
        """The number of steps."""


@dataclass(frozen=True)
class Steps:
    """Steps of a fit: how many, on what share of the rows, and how that share is drawn."""

    count: int
    sample: Sample

    def events(self) -> tuple[Event, ...]:
        """The releases of one fit at noise multiplier 1."""
        adjacency = "add_remove" if self.sample.sampling == "poisson" else "replace_one"
        return (
            Event(
                Gaussian(1.0),
                count=self.count,
                sampling=self.sample.sampling,
                sampling_rate=self.sample.rate,
                adjacency=adjacency,
            ),
        )


ALL_ROWS = Steps(1, Sample("none", 1.0))


def sampling_rate(name: str, value: Any) -> float:
    """A row's chance to be in a step, above 0; 1 for all rows.

    >>> sampling_rate("rate", 0.1)
    0.1
    """
    if number(name, value) == 1.0:
        return 1.0
    return probability(name, value, example="0.05, or 1 for all rows")


def forgetting_exponent(name: str, value: Any) -> float:
    """How fast steps are forgotten: beyond 1 later steps hardly count.

    Raises InputError above 1.

    >>> forgetting_exponent("forgetting", 0.7)
    0.7
    """
    if positive(name, value) > 1.0:
        raise InputError(name, f"{value} is above 1", "give 0.5 to 1")
    return float(value)


def demand_one_size(chosen: Mapping[str, Any]) -> None:
    """Raise InputError where a step is given both a number of rows and a share of them."""
    if {"minibatch", "rate"} <= chosen.keys():
        raise InputError("minibatch", "its size and its rate were both given", "give only one")


def epochs_option(default: int) -> Any:
    """Passes over the data, where no number of steps is given."""
    return option(
        default,
        whole,
        f"passes over the data [{default}; paper mode 1]",
        metavar="E",
        paper=1,
        not_asked="*Iterations* sets the number of steps",
    )


def forgetting_option(default: float) -> Any:
    """How fast earlier steps are forgotten."""
    return option(
        default,
        forgetting_exponent,
        f"forgetting exponent: F in the weight of --delay [{default:g}; paper mode 0.7]",
        metavar="F",
        paper=0.7,
        dial=forgetting_dial(),
    )


def forgetting_dial(*methods: str) -> Dial:
    """How fast earlier steps are forgotten."""
    return Dial(
        "Forgetting exponent",
        "Small: each step starts almost from scratch. Large: steps are averaged, which reduces "
        "noise.",
        *(0.01, 1.0, 0.1, "%.2f"),
        methods=methods,
        slide=Slide("Forgetting", "forgetting exponent", ("begins anew", "averages"), TENTHS),
    )


def rate_dial(usual: float, *methods: str) -> Dial:
    """The share of the rows in a step."""
    return Dial(
        "Share of the data in a step",
        "Below 1, each step reads a secret random sample: less noise per step, but less data to "
        "learn from. Privacy accounting for samples takes up to half a minute.",
        *(0.01, 1.0, 0.05, "%.2f"),
        usual=lambda chosen, columns: usual,
        methods=methods,
        slide=Slide(
            "Share in a step",
            "share of the data in a step",
            ("small samples", "all"),
            (0.05, 0.1, 0.15, 0.2, 0.25, 0.35, 0.5, 0.75, 1.0),
        ),
    )


def delay_dial(low: float, *methods: str) -> Dial:
    """How late forgetting begins. low: the least that the model takes."""
    return Dial(
        "Delay (lowers the weight of the first steps)",
        "Step t has weight (T + t)^−F, where F is the forgetting exponent; this sets T.",
        *(low, 10_000.0, 0.5, "%.4g"),
        methods=methods,
        slide=Slide(
            "Delay",
            "delay of forgetting",
            ("early", "late"),
            (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0),
        ),
    )


@dataclass(frozen=True)
class SampledSettings(Settings):
    """Public choices of a fit whose steps read secret samples.

    minibatch, rate: documents or rows of a step, or each one's chance to be in it; without either a
    quarter of them. iterations: steps; ``None``: as many as the epochs have. delay: step t weighs
    ``(delay + t)^-forgetting``. start: seed of the data-free start.
    """

    iterations: int | None = option(
        None,
        whole,
        "steps, fixed in advance [as many as the epochs need]",
        metavar="J",
        dial=ITERATIONS,
    )
    minibatch: int | None = option(
        None,
        whole,
        "documents or rows per step, drawn in secret [a quarter of them]",
        metavar="S",
        not_asked=BY_SHARE,
    )
    rate: float | None = option(
        None,
        sampling_rate,
        "instead of a minibatch size: the share of the data per step, 1 for all [0.25]",
        metavar="Q",
        dial=rate_dial(QUARTER),
    )
    delay: float = option(
        1.0,
        positive,
        "delay: step t has weight (T + t)^-F, so a larger T lowers the first weights "
        "[1; paper mode 1024]",
        metavar="T",
        paper=1024.0,
        dial=delay_dial(0.01),
    )
    start: int = start_option()

    @classmethod
    def together(cls, chosen: dict[str, Any], mode: str) -> dict[str, Any]:
        demand_one_size(chosen)
        return chosen if "minibatch" in chosen else {"rate": QUARTER, **chosen}


def steps_of(settings: Sized, epochs: int, rows: int | None, adjacency: str) -> Steps:
    """Steps from a model's settings: on a number of rows where theirs is public, or on a share.

    epochs: passes over the rows, where no number of steps is given. Raises InputError for a number
    of rows out of a number that is private.

    >>> steps_of(SampledSettings(minibatch=100), 2, 1050, "replace_one").count
    21
    """
    rate = settings.rate
    if settings.minibatch is not None:
        if rows is None:
            raise InputError(
                "minibatch",
                "a minibatch size needs a public row count, and this adjacency keeps it private",
                "give rate (the probability that a row is in a step), or choose replace_one",
            )
        rate = min(1.0, settings.minibatch / max(rows, 1))
    sample = Sample.under(adjacency, 1.0 if rate is None else rate)
    if rows is not None:
        sample = Sample(sample.sampling, sample.rate_of(rows))
    count = settings.iterations or max(1, int(epochs / sample.rate + 1e-9))
    return Steps(count, sample)


def published_steps(events: tuple[Event, ...], requests: Sequence[Privacy]) -> PublishedBudget:
    """The noise of each request for a paper's steps, by the accountant asked for with the
    conversion that the papers print."""
    from dpcore.accounting import calibrate
    from dpcore.accounting.published import PublishedBudget
    from dpcore.accounting.wbk import as_printed

    sigma = np.array([request.noise_multiplier or np.nan for request in requests])
    for name, delta, members, targets in groups(requests):
        sigma[members] = calibrate(events, targets, delta, as_printed(name))
    return PublishedBudget(1.0 / sigma, sigma, None, events[-1].count)
