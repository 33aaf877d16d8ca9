"""The Compose page's computed sentences: one for every count, and what printed settings show."""

from __future__ import annotations

import numpy as np

from app.composing import PRESETS, Composition
from dpcore.accounting.base import Assuming
from dpcore.accounting.gaussian import all_gaussian, total_mu
from dpcore.errors import InputError
from dpcore.evaluation.composition import Crossover, Prices, Way, shares_asked, way_of, ways
from dpcore.privacy.adjacency import protects
from dpcore.privacy.guarantee import show, show_bound


def sentences(asked: Composition, prices: Prices, turn: Crossover) -> dict[str, tuple[str, ...]]:
    """Slot -> a text for every count."""
    told = prices.epsilon is None and all(way.method is not None for way in ways(asked.events)[:2])
    said = said_of(turn, asked.repeats) if told and not _infeasible(asked) else ""
    steps = range(len(prices.counts))
    spread = tuple(f"{said} {_spread(asked, prices, s)}".strip() for s in steps)
    return {
        "sentence": (_moved(asked),) * len(steps) if _films(asked) else spread,
        "promise": tuple(_promise(asked, prices, s) for s in steps),
    }


def _films(asked: Composition) -> bool:
    """Whether the privacy loss is shown, and stays normal."""
    return asked.show == "loss" and asked.hold == "noise" and all_gaussian(asked.events)


def _moved(asked: Composition) -> str:
    """What one more run of the list does to the privacy loss."""
    mu2 = float(total_mu(asked.events)) ** 2
    return (
        f"Each {asked.one} adds μ²/2 = {show(0.5 * mu2)} to the mean of the privacy loss and "
        f"μ² = {show(mu2)} to its variance. Drag ε: the shaded area is **δ**."
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


def _spread(asked: Composition, prices: Prices, step: int) -> str:
    """How far the dearest count is from the best one."""
    found = {way: float(prices.values[way.slot][step]) for way in prices.ways}
    finite = {way: value for way, value in found.items() if np.isfinite(value) and value > 0.0}
    if len(finite) < 2:
        return ""
    dearest, best = max(finite, key=finite.__getitem__), min(finite, key=finite.__getitem__)
    ratio = finite[dearest] / finite[best]
    verb = "charges" if prices.epsilon is None else "asks for"
    what = "what" if prices.epsilon is None else "the noise that"
    times = f"**{show(ratio)} times**" if ratio >= 1.005 else "the same as"
    ends = "" if ratio < 1.005 else f" {what}"
    return (
        f"At k = {prices.counts[step]:,}, {dearest.title} {verb} {times}{ends} {best.title} does."
    )


def _promise(asked: Composition, prices: Prices, step: int) -> str:
    """The best number with everything that belongs beside it."""
    held = f"δ = {show_bound(asked.delta)}, {protects(asked.adjacency)}"
    found = [
        (float(prices.values[way.slot][step]), way)
        for way in prices.ways
        if np.isfinite(prices.values[way.slot][step])
    ]
    if not found or prices.waiting & {"exact", "pld"}:
        return f"Computing the smallest epsilon at {held}…"
    value, way = min(found, key=lambda one: one[0])
    exact = prices.bound_kind(way) == "exact"
    said = "Counted exactly" if exact else f"Upper bound: {way.title}"
    said += _condition(asked, way)
    if prices.epsilon is not None:
        what = "noise" if prices.unit != 1.0 else "noise × "
        return (
            f"**ε = {show(prices.epsilon)} needs {what} {show_bound(value * prices.unit)}**, "
            f"{held}. {said}."
        )
    return f"**ε = {show_bound(value)}**, {held}. {said}."


def _condition(asked: Composition, way: Way) -> str:
    """What this price needs that the others do not."""
    if not isinstance(way.method, Assuming):
        return ""
    more = set(way.method.assumptions_of(asked.events)) - set(way.method.assumptions)
    return ", if every row is clipped to a ball around 0" if any("ball" in m for m in more) else ""


def finding(asked: Composition, prices: Prices) -> str:
    """What a printed setting shows when it is counted again; empty for lists of one's own."""
    preset = PRESETS.get(asked.preset)
    if preset is None or not preset.printed:
        return ""
    return " ".join([*_infeasible(asked), *_printed(asked, prices)])


def _infeasible(asked: Composition) -> list[str]:
    """Whether the deltas given to single releases use up the total."""
    spent = shares_asked(asked.events, asked.k)
    if spent < asked.delta:
        return []
    gaussian = [line for line in asked.lines if line.mechanism == "g" and line.each]
    count = sum(line.count for line in gaussian)
    return [
        f"As printed, advanced composition is impossible here: {asked.k} × {count} releases × "
        f"δᵢ = {show(gaussian[0].each)} make {show(spent)}, more than δ = {show(asked.delta)}."
    ]


def _printed(asked: Composition, prices: Prices) -> list[str]:
    """The paper's number beside ours, counted its way and the best way."""
    said = []
    for k, printed, slot in PRESETS[asked.preset].printed:
        if prices.epsilon is not None:
            continue
        try:
            ours = float(way_of(slot, asked.events).bound(asked.events, asked.delta, k).epsilon)
        except InputError:
            continue
        said.append(
            f"The source prints ε = {printed:g} at k = {k:,}; by its own method: {ours:.4g}."
        )
    best = _best(asked, prices)
    return [*said, *([best] if best else [])]


def _best(asked: Composition, prices: Prices) -> str:
    """The true price as far as it is known, at the current count."""
    step = prices.counts.index(asked.k)
    slot = next((one for one in ("exact", "pld") if one in prices.values), None)
    if slot is None:
        return ""
    value, low = prices.values[slot][step], prices.lowers[slot][step]
    if prices.epsilon is not None or not np.isfinite(value):
        return ""
    if np.isfinite(low) and show_bound(float(low)) != show_bound(float(value)):
        ends = f"between {show(float(low))} and {show_bound(float(value))}"
        return f"The true cost at k = {asked.k:,} is {ends}."
    return f"The true cost at k = {asked.k:,} is {show_bound(float(value))}."
