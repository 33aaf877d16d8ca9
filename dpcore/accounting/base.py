"""What every composition method offers: events and a delta in, an epsilon or a refusal out.

A method is a theorem about a list of events; it says in which direction it errs, and what it
assumes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpcore.arrays import Array
from dpcore.errors import InputError, NotCovered
from dpcore.privacy.events import (
    DiscreteGaussian,
    EpsilonDelta,
    Event,
    Gaussian,
    Laplace,
    Real,
    noise_of,
)

Events = Sequence[Event]


@dataclass(frozen=True)
class Bound:
    """An epsilon with everything needed to judge it.

    epsilon: a number, or an array over the grid of runs. kind: ``exact`` or ``upper bound``.
    lower: a lower end of the true epsilon, where the method gives one.
    """

    epsilon: Real
    delta: float
    accountant: str
    kind: str
    assumptions: tuple[str, ...]
    source: str
    lower: Real | None = None


class Accountant(ABC):
    """A composition method. Numbers in events may be arrays of one shape; so are the answers.

    name: the word scripts use. title: what a screen says. kind: ``exact`` or ``upper bound``.
    source: author, year and theorem. encloses: whether :meth:`interval` has a lower end for some
    events. one_by_one: whether one of several noises at once takes as long as the slowest, so that
    they are better searched one by one.
    """

    name: str
    title: str
    kind: str
    source: str
    encloses: ClassVar[bool] = False
    one_by_one: ClassVar[bool] = False

    @property
    @abstractmethod
    def assumptions(self) -> tuple[str, ...]:
        """What the bound takes for granted, one sentence each."""

    @abstractmethod
    def check(self, events: Events) -> None:
        """Raises NotCovered, naming another method, unless a theorem of this one covers every
        event.

        events: the releases, in any order; an event of count 0 is ignored.
        """

    @abstractmethod
    def epsilon(self, events: Events, delta: Real) -> Real:
        """The smallest epsilon that the method proves at ``delta``.

        events: their noises are numbers or arrays of one shape. delta: in [0, 1), a number or an
        array that broadcasts against them. The answer has the broadcast shape and is infinite where
        nothing is proved; no events give 0. It is an upper bound on the true epsilon, or equal to
        it where ``kind`` is ``exact``. Only for events that :meth:`check` has admitted.
        """

    @abstractmethod
    def delta(self, events: Events, epsilon: Real) -> Real:
        """The smallest delta that the method proves at ``epsilon``.

        Shapes as of :meth:`epsilon`; epsilon is 0 or more. The answer is between 0 and 1, an upper
        bound on the true delta. Only for events that :meth:`check` has admitted.
        """

    def interval(self, events: Events, delta: Real) -> tuple[Real | None, Real]:
        """(lower, upper) ends of the true epsilon at ``delta``, both of the broadcast shape of
        noise and delta; ``None`` in place of the lower end where none is known.
        """
        return None, self.epsilon(events, delta)

    def kind_of(self, events: Events) -> str:
        """``exact`` or ``upper bound`` for these events."""
        return self.kind

    def assumptions_of(self, events: Events) -> tuple[str, ...]:
        """All that is assumed for these events."""
        return self.assumptions

    def factor(self, events: Events, epsilon: Real, delta: float) -> Real | None:
        """The number by which the noise of all events is multiplied so that (epsilon, delta) is
        proved; ``None`` where there is no formula and it must be searched for.

        epsilon: above 0, a number or an array; the answer has its shape, and 0 where the budget
        needs no noise at all. Before rounding up: :func:`dpcore.accounting.calibrate` checks it
        against :meth:`epsilon`.
        """
        return None

    def check_reachable(self, epsilon: Real, delta: float, events: Events) -> None:
        """Raises NotCovered, naming the smallest epsilon that can be reached at ``delta``, for an
        epsilon below it, where no amount of noise makes this method prove that budget.
        """
        return


def real(value: Any) -> Real:
    """A plain float where there is one number, else the array.

    >>> real(np.array(2.0))
    2.0
    """
    array = np.asarray(value, dtype=float)
    return float(array) if array.ndim == 0 else array


def live(events: Events) -> tuple[Event, ...]:
    """The events that happened: a count of 0 is nothing."""
    return tuple(event for event in events if event.count > 0)


def dimensions(events: Events) -> int:
    """How many axes the grid of runs has."""
    return max((np.ndim(noise_of(event)) for event in live(events)), default=0)


def rate_of(event: Event) -> float:
    """The chance that a row is in the sample of a release; 1 without sampling."""
    return 1.0 if event.sampling == "none" else event.sampling_rate


def check_plain(events: Events, title: str) -> None:
    """Refuse what the methods for whole-table releases have no theorem for.

    Raises NotCovered for them.
    """
    for event in live(events):
        check_one_case(event, title)
        if event.sampling != "none":
            raise NotCovered(
                "sampling",
                f"{title} has no theorem for releases on a random sample of the table",
                _covering(event),
            )
        if not isinstance(event.mechanism, Gaussian | Laplace | EpsilonDelta | DiscreteGaussian):
            raise NotCovered(
                "mechanism",
                f"{title} has no theorem for a mechanism of this kind",
                "give a gaussian, laplace, discrete_gaussian or epsilon_delta event",
            )


_SAMPLED = {
    ("poisson", "add_remove"): "choose pld, rdp (Gaussian noise only), or ",
    ("poisson", "replace_one"): "choose pld (Gaussian noise only), or ",
    ("without_replacement", "replace_one"): "choose pld or, for Gaussian noise, wbk27 or wbk9, or ",
}
UNSAMPLED = "leave the sampling out (sampling none), which never understates the privacy loss"


def _covering(event: Event) -> str:
    """The remedy for a sampled event. A row more in the table replaces another in a sample of
    fixed size, so there the release without sampling is no bound.
    """
    case = (event.sampling, event.adjacency)
    if case == ("without_replacement", "add_remove"):
        return "give the noise under replace_one and choose pld, wbk27 or wbk9"
    return _SAMPLED.get(case, "") + UNSAMPLED


def check_one_case(event: Event, title: str) -> None:
    """Refuse disjoint parts that nobody has resolved into the parts one record can touch.

    Raises NotCovered for them.
    """
    if event.parallel:
        raise NotCovered(
            "parallel",
            f"{title} has no theorem for releases on disjoint parts of the table",
            "compose them sequentially (parallel false), which never understates the privacy loss",
        )


def check_concentrated(events: Events, title: str) -> None:
    """Refuse also black boxes with a delta: nothing bounds their moments. Raises NotCovered."""
    check_plain(events, title)
    for event in live(events):
        if isinstance(event.mechanism, EpsilonDelta) and event.mechanism.delta > 0.0:
            raise NotCovered(
                "mechanism",
                f"{title} has no theorem for a black box with a delta above 0",
                "choose linear or advanced",
            )


def scaled(events: Events, factor: Real) -> tuple[Event, ...]:
    """The same events with all noise multiplied by ``factor``. Raises InputError for black boxes.

    >>> scaled([Event(Gaussian(2.0))], 1.5)[0].mechanism
    Gaussian(noise_multiplier=3.0)
    """
    if any(isinstance(event.mechanism, EpsilonDelta) for event in live(events)):
        raise InputError(
            "events",
            "a black box has no noise to scale",
            "give gaussian, laplace and discrete_gaussian events only",
        )
    return tuple(event.with_noise(_times(noise_of(event), factor)) for event in live(events))


def _times(value: Real, factor: Real) -> Real:
    """Infinite noise stays infinite, whatever the factor."""
    endless = np.isinf(value)
    return real(np.where(endless, np.inf, np.where(endless, 1.0, value) * factor))


def inverse_square(noise: Real) -> Array:
    """``1 / noise^2``, of the shape of noise; no noise gives infinity."""
    with np.errstate(divide="ignore", over="ignore"):
        return np.asarray(1.0 / np.square(np.asarray(noise, dtype=float)))


def log_inverse_of(delta: Real) -> Array:
    """``ln(1 / delta)``, of the shape of delta; a delta of 0 gives infinity."""
    with np.errstate(divide="ignore"):
        return np.asarray(-np.log(np.asarray(delta, dtype=float)))


def event_list(events: Events) -> tuple[Event, ...]:
    """Events that can be gone through more than once, those on a fine grid as the Gaussian releases
    that they cost as much as. Raises InputError for anything else."""
    if isinstance(events, Iterable) and getattr(events, "ndim", 1) > 0:
        listed = tuple(events)
        if not isinstance(events, Event) and all(isinstance(event, Event) for event in listed):
            return tuple(event.continuous for event in listed)
    raise InputError(
        "events", "it is not a list of events", "give one, for example [Event(Gaussian(2.0))]"
    )


def check_epsilons(epsilon: Real) -> Array:
    """Epsilons to be met, as an array of their shape. Raises InputError unless each is a finite
    number above 0."""
    try:
        target = np.asarray(epsilon, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise InputError("epsilon", "a value is not a number", "give e.g. 1") from None
    if not np.all((target > 0.0) & np.isfinite(target)):
        raise InputError("epsilon", "a value is not a finite number above 0", "give e.g. 1")
    return target
