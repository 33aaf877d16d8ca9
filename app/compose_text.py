"""The Compose page's computed sentences: one for every count, and what printed settings show."""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from app.composing import PRESETS, Composition
from app.texts import compose as texts
from dpcore.accounting.gaussian import all_gaussian, total_mu
from dpcore.errors import InputError
from dpcore.evaluation.composition import Crossover, Prices, Way, shares_asked, way_of, ways
from dpcore.privacy.adjacency import protects
from dpcore.privacy.guarantee import show_bound


def sentences(
    composition: Composition, prices: Prices, turn: Crossover
) -> dict[str, tuple[str, ...]]:
    """Slot -> a text for every count."""
    comparable = prices.epsilon is None and all(
        way.method is not None and np.isfinite(prices.values.get(way.slot, np.nan)).any()
        for way in ways(composition.events)[:2]
    )
    turning = ""
    if comparable and not _infeasible(composition):
        turning = texts.crossover(turn.first, turn.last, composition.repeats)
    steps = range(len(prices.counts))
    sentence = tuple(f"{turning} {_spread(prices, s)}".strip() for s in steps)
    noise_held = (composition.show, composition.hold) == ("loss", "noise")
    if noise_held and all_gaussian(composition.events):  # the loss is shown, and stays normal
        moved = float(total_mu(composition.events)) ** 2  # by one more run of the list
        sentence = (texts.loss_moves(composition.run_title, moved),) * len(steps)
    return {
        "sentence": sentence,
        "promise": tuple(_promise(composition, prices, s) for s in steps),
    }


def _spread(prices: Prices, step: int) -> str:
    """How far the loosest bound is from the best one."""
    costs = {way: float(prices.values[way.slot][step]) for way in prices.ways}
    finite = {way: value for way, value in costs.items() if np.isfinite(value) and value > 0.0}
    if len(finite) < 2:
        return ""
    loosest, best = max(finite, key=finite.__getitem__), min(finite, key=finite.__getitem__)
    ratio, what = finite[loosest] / finite[best], "ε" if prices.epsilon is None else "noise"
    return texts.spread(prices.counts[step], what, loosest.title, best.title, ratio)


def _promise(composition: Composition, prices: Prices, step: int) -> str:
    """The best number with everything that belongs beside it."""
    terms = texts.terms(composition.delta, protects(composition.adjacency))
    candidates = [
        (float(prices.values[way.slot][step]), way)
        for way in prices.ways
        if np.isfinite(prices.values[way.slot][step])
    ]
    if prices.waiting & ({"exact", "pld"} if candidates else prices.waiting):
        return texts.computing(terms)
    if not candidates:
        return texts.no_bound(terms)
    value, way = min(candidates, key=lambda pair: pair[0])
    exact = prices.bound_kind(way) == "exact"
    basis = texts.basis(way.title, exact=exact, in_a_ball=_in_a_ball(composition, way))
    if prices.epsilon is None:
        return texts.promise(value, terms, basis)
    noise, relative = value * prices.unit, prices.unit == 1.0
    return texts.noise_for(prices.epsilon, noise, terms, basis, relative=relative)


def _in_a_ball(composition: Composition, way: Way) -> bool:
    """Whether this bound needs, unlike the others, that rows are clipped to a ball."""
    if way.method is None:
        return False
    more = set(way.method.assumptions_of(composition.events)) - set(way.method.assumptions)
    return any("ball" in assumption for assumption in more)


def finding(composition: Composition, prices: Prices) -> str:
    """What a printed setting shows when it is counted again; empty for lists of one's own."""
    preset = PRESETS.get(composition.preset)
    if preset is None or not preset.printed:
        return ""
    return " ".join([*_infeasible(composition), *_printed(composition, prices)])


def _infeasible(composition: Composition) -> list[str]:
    """Whether the deltas given to single releases use up the total."""
    spent = shares_asked(composition.events, composition.k)
    if spent < composition.delta:
        return []
    gaussian = [line for line in composition.lines if line.mechanism == "g" and line.delta_each]
    count, delta_each = sum(line.count for line in gaussian), gaussian[0].delta_each
    return [texts.impossible_as_printed(composition.k, count, delta_each, spent, composition.delta)]


def _printed(composition: Composition, prices: Prices) -> list[str]:
    """The paper's number beside ours, counted its way and the best way."""
    lines, events = [], composition.events
    for k, printed, slot in PRESETS[composition.preset].printed if prices.epsilon is None else ():
        with suppress(InputError):
            ours = float(way_of(slot, events).bound(events, composition.delta, k).epsilon)
            lines.append(texts.printed_epsilon(printed, k, ours))
    return [*lines, *filter(None, [_best(composition, prices)])]


def _best(composition: Composition, prices: Prices) -> str:
    """The smallest epsilon as far as it is known, at the current count."""
    step = prices.counts.index(composition.k)
    slot = next((name for name in ("exact", "pld") if name in prices.values), None)
    if slot is None:
        return ""
    value, low = float(prices.values[slot][step]), float(prices.lowers[slot][step])
    if prices.epsilon is not None or not np.isfinite(value):
        return ""
    differ = np.isfinite(low) and show_bound(low) != show_bound(value)
    return texts.smallest_epsilon(composition.k, low if differ else None, value)
