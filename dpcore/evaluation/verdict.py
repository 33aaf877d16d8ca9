"""The verdict: is this fit worth its budget, beside the simplest things to release instead?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpcore.arrays import Array, Mask
from dpcore.checks import spelled
from dpcore.evaluation.study import BudgetGrid, References
from dpcore.evaluation.yardstick import Wording, Yardstick, yardstick

WORTH = 0.05  # a gain below this share of what could be gained counts as none
CLEARLY = 0.1  # the same for a fit that the exact simplest rival would beat


@dataclass(frozen=True)
class Verdict:
    """level 0: nothing survives; 1: the simplest rival is as good; 2: part is kept; 3: as exact."""

    level: int
    text: str


def verdicts(
    grid: BudgetGrid, references: References | Sequence[References], single: Array
) -> tuple[Verdict, ...]:
    """One verdict a stop, from median utilities over the draws. Where it and what
    :func:`found_sentences` says of the parts point in two directions, the verdict says so.

    references: of all S stops, or of each. single ``(S,)``: median utility of the
    simplest private rival with the same budget.
    """
    judge, parts = yardstick(grid.model), grid.recovered.shape[-1]
    by_stop = [references] * len(grid.stops) if isinstance(references, References) else references
    return tuple(
        _verdict(
            float(np.median(utility)),
            float(alone),
            reference,
            None if parts == judge.simplest else parts,
            _typical(recovered),
            bool(recovered.all()),
            judge,
        )
        for utility, alone, reference, recovered in zip(
            grid.utility, single, by_stop, grid.recovered, strict=True
        )
    )


def _verdict(
    utility: float,
    alone: float,
    reference: References,
    parts: int | None,
    recovered: int,
    always: bool,
    judge: Yardstick,
) -> Verdict:
    """parts: ``None`` for a fit that is the simplest rival itself. recovered: how many of them a
    usual draw has. always: whether all draws have all of them."""
    words = judge.wording
    if not np.isfinite(utility):
        return Verdict(0, "This composition method cannot meet so small a budget.")
    gain = reference.converged_utility - reference.single_utility
    retained = (utility - reference.single_utility) / gain if gain > 1e-9 else 0.0
    span = reference.converged_utility - reference.bounds_utility
    if span <= 0.0:
        return Verdict(0, "By this metric, even the exact fit is no better than the public limits.")
    least = reference.bounds_utility + WORTH * span
    if max(utility, alone, reference.clipped_utility) <= least:
        start = "With clipping this tight, no fit tells you more than the public limits do"
    elif max(utility, alone) <= least:
        start = "With this budget, the fit tells you no more than the public limits do"
    else:
        start = ""
    if start:
        yet = ""
        if recovered and parts is not None:
            some = "some" if recovered < parts else "all"
            yet = f", although {some} {words.parts} are found"
        return Verdict(0, f"{start}{yet}.")
    simplest = words.simplest[0].upper() + words.simplest[1:]
    lost = reference.converged_utility - utility
    if parts is None:
        level = 3 if lost < 0.02 else 2
        side = "below" if lost > 0.0 else "above"
        apart = f"{abs(lost):.2f} {side}" if abs(lost) >= 0.005 else "the same as"
        return Verdict(level, f"{simplest} scores {apart} its exact fit.")
    worth = WORTH * gain if retained > 0.0 else CLEARLY * span
    if utility - alone <= worth or gain <= 1e-9:
        share = (max(utility, alone) - reference.bounds_utility) / span
        return Verdict(
            1,
            f"{simplest} would do as well ({share:.0%} of the exact gain): release that"
            + (f", unless you need the {words.parts}." if recovered else "."),
        )
    none = f"the {words.part} is not" if parts == 1 else f"none of the {words.parts} is"
    if retained >= judge.alike and lost <= judge.alike_within:
        if recovered == parts and not always:
            text = (
                f"As good as the exact fit, although not every draw finds {_whole(parts, words)}."
            )
            return Verdict(3, text)
        if recovered == parts:
            return Verdict(3, "As good as the exact fit: a larger budget would gain little here.")
        some = f"not all of its {words.parts} are" if recovered else none
        return Verdict(3, f"As good as the exact fit, although {some} found.")
    if retained <= 0.0:
        return Verdict(
            2,
            f"Better than the private version of {words.simplest}, but no better than the exact "
            "version.",
        )
    yet = "" if recovered else f", although {none} found"
    text = f"Keeps {min(retained, 0.99):.0%} of the exact fit's gain over {words.simplest}{yet}."
    return Verdict(2, text)


def found_sentences(grid: BudgetGrid) -> tuple[str, ...]:
    """What the fits show, per budget: which parts are found, in how many draws."""
    words = yardstick(grid.model).wording
    return tuple(
        _recovery(recovered, words) if refusal is None else refusal
        for recovered, refusal in zip(grid.recovered, grid.refusals, strict=True)
    )


def _recovery(recovered: Mask, words: Wording) -> str:
    """Parts found, in how many draws; recovered ``(draws, K)``.

    >>> words = Wording("group", "groups", "")
    >>> _recovery(np.array([[True, True], [True, True], [False, True]]), words)
    'Both groups are found in 2 of 3 draws.'
    >>> _recovery(np.array([[True, False]]), words)
    'One of two groups is found.'
    """
    draws, parts = recovered.shape
    every = int(recovered.all(axis=1).sum())
    often = f" in {every} of {draws} draws" if draws > 1 else ""
    if every > draws / 2:
        return f"{_all(parts, words)} found{often}."
    typical = _typical(recovered)
    if draws == 1:
        are = "is" if typical == 1 else "are"
        some = f"{spelled(typical).capitalize()} of {spelled(parts)} {words.parts} {are}"
        return f"{some if typical else _none(parts, words)} found."
    if typical == 0:
        return f"A typical draw finds {_no(parts, words)}."
    several = f"{spelled(typical)} of {spelled(parts)} {words.parts}"
    return f"A typical draw finds {several}; all are found in {every} of {draws} draws."


def _typical(recovered: Mask) -> int:
    """How many parts ``(draws, K)`` are found in a usual draw."""
    return int(np.median(recovered.sum(axis=1)))


def _all(parts: int, words: Wording) -> str:
    named = {1: f"The {words.part} is", 2: f"Both {words.parts} are"}
    return named.get(parts, f"All {spelled(parts)} {words.parts} are")


def _whole(parts: int, words: Wording) -> str:
    return f"the {words.part}" if parts == 1 else f"all {words.parts}"


def _none(parts: int, words: Wording) -> str:
    named = {1: f"The {words.part} is not", 2: f"Neither {words.part} is"}
    return named.get(parts, f"None of the {spelled(parts)} {words.parts} is")


def _no(parts: int, words: Wording) -> str:
    named = {1: f"no {words.part}", 2: f"neither {words.part}"}
    return named.get(parts, f"none of the {spelled(parts)} {words.parts}")


def attack_sentences(
    chances: Array,
    unit: str = "person",
    adjacency: str = "replace_one",
    thing: str = "row",
) -> tuple[str, ...]:
    """What a budget means for one person.

    chances ``(S,)``: how often the best attacker is right who must tell apart two tables that were
    equally likely beforehand; NaN where nothing is proved.
    """
    owner, whose, who = f"one {unit}'s", f"one {unit}'s", f"one {unit} is"
    if unit == "person":
        owner, whose, who = "your", "yours", "you are"
    if adjacency in ("label", "feature"):
        part, them = {"label": ("label", "it"), "feature": ("features", "them")}[adjacency]
        game = f"everything but {owner} {part}, and two candidates for {them}, guesses right"
    elif adjacency == "add_remove":
        game = f"everyone's {thing}s and guesses whether {who} included is right"
    else:
        game = f"everyone else's {thing}s, and two candidates for {whose}, guesses right"
    return tuple(
        f"An attacker who knows {game} at most **{_of_hundred(chance)} times in 100** (a coin: 50)."
        if np.isfinite(chance)
        else "Nothing is proved about what an attacker can learn."
        for chance in chances
    )


def _of_hundred(chance: float) -> str:
    """Rounded up, because it is a bound."""
    percent = 100.0 * chance
    return (
        f"{np.ceil(percent - 1e-9):.0f}" if percent < 99.0 else f"{np.ceil(percent * 100) / 100:g}"
    )
