"""Parallel composition: releases on disjoint parts of the table cost one record only its own part.

McSherry 2009, Theorem 4. Where a record may move from one part to another (its row or its label is
replaced) it touches two parts, and two members of a group count.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations, product
from math import prod

import numpy as np

from dpcore.accounting.base import Events
from dpcore.errors import InputError, NotCovered
from dpcore.privacy.events import Event, noise_of

Case = tuple[Event, ...]
_MOST_CASES = 4_096


def worst_cases(events: Events) -> list[Case]:
    """The different lists of events that one record can touch; the dearest is the cost of all.

    For each group of ``parallel`` events one member, or two where a record may move (every
    adjacency but ``add_remove``). Events that are not parallel are in every case.

    Raises InputError for events under different adjacencies; NotCovered for parts that are sampled.

    >>> from dpcore.privacy import Gaussian
    >>> one, two = (Event(Gaussian(z), group="g", parallel=True) for z in (1.0, 2.0))
    >>> len(worst_cases([one, two]))
    1
    >>> present = [replace(e, adjacency="add_remove") for e in (one, two)]
    >>> len(worst_cases(present))
    2
    """
    check_one_adjacency(events)
    for event in events:
        _check_unsampled(event)
    plain = [event for event in events if not event.parallel]
    groups: dict[str, list[Event]] = {}
    for event in events:
        if event.parallel:
            groups.setdefault(_group(event), []).append(replace(event, group=None, parallel=False))
    if not groups:
        return [tuple(events)]
    choices = [_chosen(members) for members in groups.values()]
    if prod(map(len, choices)) > _MOST_CASES:
        raise InputError(
            "group", "the groups have too many combinations", "give fewer or smaller groups"
        )
    return [tuple([*plain, *(e for part in parts for e in part)]) for parts in product(*choices)]


def check_one_adjacency(events: Events) -> None:
    """Costs under different adjacencies do not add. Raises InputError for two of them."""
    if len({event.adjacency for event in events}) > 1:
        raise InputError(
            "adjacency",
            "the events have different adjacencies",
            "give all events the same adjacency",
        )


def _check_unsampled(event: Event) -> None:
    """A row that moves to another part changes the size of both, and with it both samples."""
    if event.parallel and event.sampling != "none" and event.adjacency != "add_remove":
        raise NotCovered(
            "parallel",
            "there is no theorem for samples of disjoint parts when a row can move from one part "
            "to another",
            "choose adjacency add_remove, or leave the sampling out (sampling none)",
        )


def _group(event: Event) -> str:
    if event.group is None:
        raise InputError(
            "group",
            "an event on a disjoint part has no group name",
            "give all events on the parts of one partition the same name",
        )
    return event.group


def _chosen(members: list[Event]) -> list[Case]:
    """Every different choice of the members that one record can touch."""
    touched = 1 if members[0].adjacency == "add_remove" else 2
    if any(np.ndim(noise_of(member)) for member in members):  # a grid of runs: no two are compared
        return list(combinations(members, min(touched, len(members))))
    kinds = [kind for kind, times in Counter(members).items() for _ in range(min(times, touched))]
    return list(dict.fromkeys(combinations(kinds, min(touched, len(kinds)))))
