"""What many releases cost together (compose), and how much noise a budget needs (calibrate)."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpcore.accounting.base import Accountant, Bound, Events, check_epsilons, event_list, live, real
from dpcore.accounting.catalogue import accountant as registered
from dpcore.accounting.parallel import worst_cases
from dpcore.accounting.solve import noise_factor
from dpcore.checks import number, probability
from dpcore.errors import InputError, NotCovered
from dpcore.privacy.events import EpsilonDelta, Real, noise_of


def compose(
    events: Events,
    accountant: str | Accountant = "exact",
    *,
    delta: float,
    lower: bool = True,
) -> Bound:
    """The epsilon of all events together at ``delta``.

    events: what was done, under one adjacency; a field that is an array gives an array of epsilons.
    accountant: a registered name, or an accountant with its own settings. delta: in [0, 1). lower:
    whether the lower end is worth its time, where the method has one.

    **Guarantee.** ``kind`` says whether the epsilon is exact or an upper bound; never below.
    Disjoint parts (``parallel``) cost what one record can touch.

    =========================  ========
    no events, or all count 0  0
    noise 0                    infinity
    =========================  ========

    Raises NotCovered where the method has no theorem, InputError for a delta that cannot be.

    >>> from dpcore.privacy import Event, Gaussian
    >>> round(compose([Event(Gaussian(5.0), count=100)], "exact", delta=1e-5).epsilon, 4)
    9.9973
    """
    method, events = registered(accountant), event_list(events)
    delta = _delta(delta)
    cases = worst_cases(events)
    ends = [
        method.interval(case, delta) if lower else (None, method.epsilon(case, delta))
        for case in cases
    ]
    lowers = [low for low, _ in ends if low is not None]
    return Bound(
        epsilon=largest(*(upper for _, upper in ends)),
        delta=delta,
        accountant=method.name,
        kind=max(map(method.kind_of, cases), key=("exact", "upper bound").index),
        assumptions=method.assumptions_of(events),
        source=method.source,
        lower=largest(*lowers) if lowers else None,
    )


def largest(*values: Real) -> Real:
    """The largest of what different cases cost; a number is that of all runs of a grid.

    >>> largest(1.0, np.array([0.5, 2.0])).tolist()
    [1.0, 2.0]
    """
    return real(np.maximum.reduce(np.broadcast_arrays(*values)))


def calibrate(
    events: Events, epsilon: Real, delta: float, accountant: str | Accountant = "exact"
) -> Real:
    """The smallest factor on the noise of all events that meets (epsilon, delta).

    epsilon: above 0, a number or an array (one factor each). delta: in (0, 1). accountant: as for
    :func:`compose`.

    **Guarantee.** ``compose(scaled events)`` is at most ``epsilon``, and within 1e-9 of it (1e-5 by
    privacy losses). Events that never happened, or with infinite noise, need the factor 0.

    Raises InputError where no factor does: noise of size 0, black boxes, or a method whose smallest
    reachable epsilon (named) is above the target.

    >>> from dpcore.privacy import Event, Gaussian
    >>> round(calibrate([Event(Gaussian(1.0), count=100)], 1.0, 1e-5), 4)
    37.3063
    """
    method, events = registered(accountant), event_list(events)
    delta, wanted = probability("delta", delta), real(check_epsilons(epsilon))
    cases = worst_cases(events)
    for case in cases:
        method.check(case)
    _check_noise(events)
    return largest(*(noise_factor(method, case, wanted, delta) for case in cases))


def covers(name: str | Accountant, events: Events) -> str | None:
    """``None`` where the method ``name`` has a theorem for all events, else why not, in a sentence.

    Raises InputError for a name that is no method.

    >>> from dpcore.privacy import Event, Laplace
    >>> covers("zcdp", [Event(Laplace(1.0))]) is None
    True
    >>> covers("exact", [Event(Laplace(1.0))])[:52]
    'accountant: exact composition covers Gaussian noise '
    """
    try:
        for case in worst_cases(event_list(events)):
            registered(name).check(case)
    except NotCovered as refusal:
        return str(refusal)
    return None


def _check_noise(events: Events) -> None:
    for event in live(events):
        if isinstance(event.mechanism, EpsilonDelta):
            raise InputError("events", "a black box has no noise to scale", "give its mechanism")
        if np.any(np.asarray(noise_of(event)) == 0.0):
            raise InputError(
                "events", "noise of size 0 stays 0 at every scale", "give every event noise above 0"
            )


def _delta(value: Any) -> float:
    """A delta; 0 is allowed here, since pure composition needs none."""
    delta = number("delta", value)
    if not 0.0 <= delta < 1.0:
        raise InputError("delta", f"{value} is not in [0, 1)", "give a number such as 1e-5")
    return delta
