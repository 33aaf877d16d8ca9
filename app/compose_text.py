"""The Compose page's computed sentences: one for every count, and what printed settings show."""

from __future__ import annotations

import numpy as np

from app.composing import PRESETS, Composition
from dpcore.accounting.base import Assuming
from dpcore.accounting.gaussian import all_gaussian, total_mu
from dpcore.errors import InputError
from dpcore.evaluation.composition import Crossover, Prices, Way, shares_asked, way_of, ways
from dpcore.privacy.adjacency import protects
from dpcore.privacy.guarantee import show, show_bound, show_delta


def no_picture(k: int) -> str:
    """Why a list of releases, run ``k`` times, has no picture."""
    return (
        f"No picture at k = {k:,}: the privacy losses are spread too widely for one lattice; "
        "choose a smaller k or more noise."
    )


def sentences(
    composition: Composition, prices: Prices, turn: Crossover
) -> dict[str, tuple[str, ...]]:
    """Slot -> a text for every count."""
    comparable = prices.epsilon is None and all(
        way.method is not None for way in ways(composition.events)[:2]
    )
    turning = (
        said_of(turn, composition.repeats) if comparable and not _infeasible(composition) else ""
    )
    steps = range(len(prices.counts))
    spread = tuple(f"{turning} {_spread(composition, prices, s)}".strip() for s in steps)
    return {
        "sentence": (_moved(composition),) * len(steps) if _films(composition) else spread,
        "promise": tuple(_promise(composition, prices, s) for s in steps),
    }


def _films(composition: Composition) -> bool:
    """Whether the privacy loss is shown, and stays normal."""
    return (
        composition.show == "loss"
        and composition.hold == "noise"
        and all_gaussian(composition.events)
    )


def _moved(composition: Composition) -> str:
    """What one more run of the list does to the privacy loss."""
    mu2 = float(total_mu(composition.events)) ** 2
    return (
        f"Each {composition.run_title} adds μ²/2 = {show(0.5 * mu2)} to the mean of the privacy "
        f"loss and μ² = {show(mu2)} to its variance. Drag ε: beyond it, the density "
        "weighted by 1\u00a0−\u00a0e^(ε−L) has the area **δ**."
    )


def said_of(turn: Crossover, repeats: str) -> str:
    """A crossover in words.

    >>> said_of(Crossover(10), "releases")
    'Up to 9 releases, Basic (adding up) is tighter; from **10** on, Advanced is.'
    """
    if turn.first is None:
        return f"Up to 10,000 {repeats}, Advanced never beats Basic (adding up)."
    if turn.first == 1:
        opening = "Advanced is tighter than Basic (adding up) from the first on"
    else:
        opening = (
            f"Up to {turn.first - 1:,} {repeats}, Basic (adding up) is tighter; from "
            f"**{turn.first:,}** on, Advanced is"
        )
    return f"{opening}{'' if turn.last is None else f', up to {turn.last:,}'}."


def _spread(composition: Composition, prices: Prices, step: int) -> str:
    """How far the loosest bound is from the best one."""
    costs = {way: float(prices.values[way.slot][step]) for way in prices.ways}
    finite = {way: value for way, value in costs.items() if np.isfinite(value) and value > 0.0}
    if len(finite) < 2:
        return ""
    loosest, best = max(finite, key=finite.__getitem__), min(finite, key=finite.__getitem__)
    ratio = finite[loosest] / finite[best]
    head, what = f"At k = {prices.counts[step]:,},", "ε" if prices.epsilon is None else "noise"
    if ratio < 1.005:
        return f"{head} {loosest.title} and {best.title} give the same {what}."
    return f"{head} the {what} of {loosest.title} is **{show(ratio)} times** that of {best.title}."


def _promise(composition: Composition, prices: Prices, step: int) -> str:
    """The best number with everything that belongs beside it."""
    held = f"δ = {show_delta(composition.delta)}, {protects(composition.adjacency)}"
    candidates = [
        (float(prices.values[way.slot][step]), way)
        for way in prices.ways
        if np.isfinite(prices.values[way.slot][step])
    ]
    if not candidates or prices.waiting & {"exact", "pld"}:
        return f"Computing the smallest epsilon at {held}…"
    value, way = min(candidates, key=lambda pair: pair[0])
    exact = prices.bound_kind(way) == "exact"
    basis = "Exact composition" if exact else f"Upper bound: {way.title}"
    basis += _condition(composition, way)
    if prices.epsilon is not None:
        what = "noise" if prices.unit != 1.0 else "noise × "
        return (
            f"**ε = {show(prices.epsilon)} needs {what} {show_bound(value * prices.unit)}**, "
            f"{held}. {basis}."
        )
    return f"**ε = {show_bound(value)}**, {held}. {basis}."


def _condition(composition: Composition, way: Way) -> str:
    """What this bound needs that the others do not."""
    if not isinstance(way.method, Assuming):
        return ""
    more = set(way.method.assumptions_of(composition.events)) - set(way.method.assumptions)
    return ", if every row is clipped to a ball around 0" if any("ball" in m for m in more) else ""


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
    count = sum(line.count for line in gaussian)
    return [
        f"As printed, advanced composition is impossible here: {composition.k} × {count} releases "
        f"× δᵢ = {show_delta(gaussian[0].delta_each)} add up to {show_delta(spent)}, more "
        f"than δ = {show_delta(composition.delta)}."
    ]


def _printed(composition: Composition, prices: Prices) -> list[str]:
    """The paper's number beside ours, counted its way and the best way."""
    lines = []
    for k, printed, slot in PRESETS[composition.preset].printed:
        if prices.epsilon is not None:
            continue
        try:
            ours = float(
                way_of(slot, composition.events)
                .bound(composition.events, composition.delta, k)
                .epsilon
            )
        except InputError:
            continue
        lines.append(
            f"The source prints ε = {printed:g} at k = {k:,}; by its own method: {ours:.4g}."
        )
    best = _best(composition, prices)
    return [*lines, *([best] if best else [])]


def _best(composition: Composition, prices: Prices) -> str:
    """The smallest epsilon as far as it is known, at the current count."""
    step = prices.counts.index(composition.k)
    slot = next((name for name in ("exact", "pld") if name in prices.values), None)
    if slot is None:
        return ""
    value, low = prices.values[slot][step], prices.lowers[slot][step]
    if prices.epsilon is not None or not np.isfinite(value):
        return ""
    if np.isfinite(low) and show_bound(float(low)) != show_bound(float(value)):
        ends = f"between {show(float(low))} and {show_bound(float(value))}"
        return f"The smallest ε at k = {composition.k:,} is {ends}."
    return f"The smallest ε at k = {composition.k:,} is {show_bound(float(value))}."
