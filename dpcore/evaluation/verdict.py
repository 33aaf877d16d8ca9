"""The verdict: is this fit worth its budget, beside the simplest things to release instead?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpcore.evaluation.study import BudgetGrid, References

Array = NDArray[np.float64]

WORTH = 0.05  # a gain below this share of what could be gained counts as none
CLEARLY = 0.1  # the same for a fit that an exact single Gaussian would beat
ALIKE = 0.97  # share above which more budget buys nothing to speak of
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(frozen=True)
class Verdict:
    """level 0: nothing survives; 1: one Gaussian is as good; 2: part is kept; 3: like exact.

    kept: share of what the groups add over one exact Gaussian that the median private fit keeps.
    """

    level: int
    kept: float
    text: str


def verdicts(grid: BudgetGrid, references: References, single: Array) -> tuple[Verdict, ...]:
    """One verdict per budget, from median utilities over the draws.

    single ``(S,)``: median utility of one private Gaussian with the same budget.
    """
    return tuple(
        _verdict(float(np.median(utility)), float(alone), references, grid.found.shape[-1])
        for utility, alone in zip(grid.utility, single, strict=True)
    )


def _verdict(utility: float, alone: float, reference: References, components: int) -> Verdict:
    if not np.isfinite(utility):
        return Verdict(0, 0.0, "This way of counting cannot meet so small a budget.")
    gain = reference.converged_utility - reference.single_utility
    kept = (utility - reference.single_utility) / gain if gain > 1e-9 else 0.0
    span = reference.converged_utility - reference.bounds_utility
    least = reference.bounds_utility + WORTH * span
    if max(utility, alone, reference.clipped_utility) <= least:
        return Verdict(0, kept, "Clipping this tight leaves nothing, whatever the budget.")
    if max(utility, alone) <= least:
        return Verdict(
            0, kept, "With this budget nothing survives: the public limits alone say as much."
        )
    if components == 1:
        lost = reference.converged_utility - utility
        level = 3 if lost < 0.02 else 2
        return Verdict(level, 1.0, f"One Gaussian, {lost:.2f} below its exact fit.")
    worth = WORTH * gain if kept > 0.0 else CLEARLY * span
    if utility - alone <= worth or gain <= 1e-9:
        share = (max(utility, alone) - reference.bounds_utility) / span
        return Verdict(
            1,
            kept,
            f"A single Gaussian is as good, and says {share:.0%} of what there is to say: "
            "release that.",
        )
    if kept >= ALIKE:
        return Verdict(3, kept, "As good as the exact fit: more budget buys nothing here.")
    if kept <= 0.0:
        return Verdict(2, kept, "Better than a private single Gaussian, yet below an exact one.")
    return Verdict(
        2, kept, f"Keeps {kept:.0%} of what {_count(components)} groups say beyond one Gaussian."
    )


def found_sentences(grid: BudgetGrid) -> tuple[str, ...]:
    """What the fits show, per budget: which groups are found, in how many draws."""
    draws = grid.found.shape[1]
    return tuple(
        _found(found, draws) if refusal is None else refusal
        for found, refusal in zip(grid.found, grid.refusals, strict=True)
    )


def _found(found: NDArray[np.bool_], draws: int) -> str:
    """Groups found, in how many draws; found ``(draws, K)``.

    >>> _found(np.array([[True, True], [True, True], [False, True]]), 3)
    'Both groups found in 2 of 3 draws.'
    """
    components = found.shape[1]
    every = int(found.all(axis=1).sum())
    often = f" in {every} of {draws} draws" if draws > 1 else ""
    if every > draws / 2:
        return f"{_all(components)} found{often}."
    typical = int(np.median(found.sum(axis=1)))
    mostly = " in most draws" if draws > 1 else ""
    if typical == 0:
        return f"{_none(components)} found{mostly}."
    part = f"{_count(typical).capitalize()} of {_count(components)} groups found{mostly}"
    return f"{part}; all of them{often}." if draws > 1 else f"{part}."


def _all(components: int) -> str:
    return {1: "The group", 2: "Both groups"}.get(components, f"All {_count(components)} groups")


def _none(components: int) -> str:
    named = {1: "The group is not", 2: "Neither group is"}
    return named.get(components, f"None of the {_count(components)} groups is")


def attack_sentences(
    chances: Array, unit: str = "person", adjacency: str = "replace_one"
) -> tuple[str, ...]:
    """What a budget means for one person.

    chances ``(S,)``: how often the best attacker is right who must tell apart two tables that were
    equally likely beforehand; NaN where nothing is proved.
    """
    whose = "yours" if unit == "person" else f"one {unit}'s"
    if adjacency == "add_remove":
        game = f"Told everyone's rows, an attacker says whether {whose} took part, rightly"
    else:
        game = f"Told everyone else's rows and two candidates for {whose}, an attacker picks right"
    return tuple(
        f"{game} at most **{_of_hundred(chance)} times in 100** (a coin: 50)."
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


def _count(number: int) -> str:
    return _NUMBERS[number] if number < len(_NUMBERS) else str(number)
