"""Minibatch fits: how many rows a step draws, how many steps there are, and what that costs.

A step on a fresh secret sample costs less than one on all rows, so the share of the rows that is
drawn is part of every budget (Balle, Barthe, Gaboardi 2018). A recipe that draws samples implements
:class:`Minibatched`; the rest of a fit asks it three things more than any other recipe.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from dpcore.checks import number, positive, probability, whole
from dpcore.errors import InputError
from dpcore.privacy import Event, Gaussian, Guarantee
from dpcore.wall.doors import Session
from dpcore.wall.sampling import Sample


@runtime_checkable
class Minibatched(Protocol):
    """A recipe whose steps draw samples. clip: the usual share of the bounds, if none is asked."""

    clip: float

    def session(self, settings: Any, table: Any, **words: Any) -> Session:
        """The session for this model's kind of table; words as :class:`Session` takes them."""

    def sized(self, settings: Any, rows: int | None, adjacency: str) -> Any:
        """The settings with their steps worked out; rows: where their number is public."""

    def assumptions(self, settings: Any, guarantee: Guarantee) -> tuple[str, ...]:
        """What the guarantee assumes, in place of what one of a table of numbers does."""


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


def share_of_a_step(minibatch: int | None, rate: float | None) -> tuple[int | None, float | None]:
    """A number of rows or a share of them, checked; both are refused.

    >>> share_of_a_step(None, 0.1)
    (None, 0.1)
    """
    if minibatch is not None and rate is not None:
        raise InputError("minibatch", "its size and its rate were both given", "give one")
    if rate is not None and number("rate", rate) != 1.0:
        rate = probability("rate", rate, example="0.05, or 1 for all rows")
    return None if minibatch is None else whole("minibatch", minibatch), rate


def forgotten(forgetting: float) -> float:
    """How fast steps are forgotten, checked: beyond 1 later steps hardly count.

    >>> forgotten(0.7)
    0.7
    """
    if positive("forgetting", forgetting) > 1.0:
        raise InputError("forgetting", f"{forgetting} is above 1", "give 0.5 to 1")
    return float(forgetting)


def steps_of(
    *,
    minibatch: int | None,
    rate: float | None,
    iterations: int | None,
    epochs: int,
    rows: int | None,
    adjacency: str,
) -> Steps:
    """Steps from plain words: a number of rows where theirs is public, or a share.

    iterations: ``None`` for as many steps as ``epochs`` passes over the rows. Raises InputError for
    a number of rows out of a number that is private.

    >>> steps_of(minibatch=100, rate=None, iterations=None, epochs=2, rows=1050,
    ...          adjacency="replace_one").count
    21
    """
    if minibatch is not None:
        if rows is None:
            raise InputError(
                "minibatch",
                "the number of rows is private, so so many of them are no known share",
                "give rate, each row's chance to be in a step, or protect the replacement of a row",
            )
        rate = min(1.0, minibatch / max(rows, 1))
    sample = Sample.under(adjacency, 1.0 if rate is None else rate)
    if rows is not None:
        sample = Sample(sample.sampling, sample.rate_of(rows))
    count = iterations or max(1, int(epochs / sample.rate + 1e-9))
    return Steps(count, sample)
