"""What Compose says: the choices, a sentence for every count, the list's editor, the methods."""

from __future__ import annotations

from dpcore.privacy.guarantee import show, show_bound, show_delta, show_most

HEADING = "See how privacy costs add up."
LEAD = (
    "Composition: what all releases about the same people cost together. Drag k: "
    "every method proves an upper bound on their total ε."
)

# ---------------------------------------------------------------- the choices

OWN_LIST = "Your own list of releases"
HELP = {
    "preset": "A list of releases to start from: the default, or a setting printed in a paper.",
    "hold": "Fix the noise to see what it costs, or fix the budget to see how much noise it needs.",
    "show": "The picture beside the bars.",
    "epsilon": "The total cost allowed for all releases.",
    "noise": "Standard deviation (Laplace: scale) of the noise, divided by the sensitivity.",
    "k": "How many times the list of releases is run on the same people.",
}
HOLDS = {"noise": "the noise", "budget": "the budget"}
SHOWS = {
    "count": "ε against k",
    "profile": "δ against ε",
    "attack": "The best attacker (trade-off)",
    "loss": "Privacy-loss distribution (PLD)",
    "moments": "Moments accountant α(λ)",
    "orders": "Rényi curve ε(α)",
    "amplification": "Amplification by sampling",
    "noise": "Noise for a target ε",
}

# ---------------------------------------------------------------- the slider of k

ENDS = ("one", "ten thousand")
RUNS = "runs of the list"
SINGULAR = {
    "releases": "release",
    RUNS: "run of the list",
    "iterations": "iteration",
    "minibatches": "minibatch",
    "passes": "pass",
    "epochs": "epoch",
}


def count_label(repeats: str) -> str:
    """What the slider counts."""
    return f"Number of {repeats} k"


# ---------------------------------------------------------------- the sentence under it


def crossover(first: int | None, last: int | None, repeats: str) -> str:
    """From which count on, and up to which, Advanced is tighter than Basic.

    >>> crossover(10, None, "releases")
    'Up to 9 releases, Basic (adding up) is tighter; from **10** on, Advanced is.'
    """
    if first is None:
        return f"Up to 10,000 {repeats}, Advanced never beats Basic (adding up)."
    if first == 1:
        opening = "Advanced is tighter than Basic (adding up) from the first on"
    else:
        opening = (
            f"Up to {first - 1:,} {repeats}, Basic (adding up) is tighter; from "
            f"**{first:,}** on, Advanced is"
        )
    return f"{opening}{'' if last is None else f', but only up to {last:,}'}."


def spread(k: int, what: str, loosest: str, best: str, ratio: float) -> str:
    """How far the loosest bound is from the best one."""
    if ratio < 1.005:
        return f"At k = {k:,}, {loosest} and {best} give the same {what}."
    return f"At k = {k:,}, the {what} of {loosest} is **{show(ratio)} times** that of {best}."


def loss_moves(run: str, mu_squared: float) -> str:
    """What one more run does to the privacy loss of Gaussian noise."""
    return (
        f"Each {run} adds μ²/2 = {show(0.5 * mu_squared)} to the mean of the privacy "
        f"loss and μ² = {show(mu_squared)} to its variance. Drag ε: beyond it, the density "
        "weighted by 1\u00a0−\u00a0e^(ε−L) has the area **δ**."
    )


NOT_SAMPLED = "The fit used no subsampling, so this ε does not hold for it."


def no_picture(k: int) -> str:
    """Why a list of releases, run ``k`` times, has no picture."""
    return (
        f"No picture at k = {k:,}: the privacy losses are spread too widely for one lattice; "
        "choose a smaller k or more noise."
    )


# ---------------------------------------------------------------- a printed setting, counted again


def impossible_as_printed(k: int, count: int, delta_each: float, spent: float, delta: float) -> str:
    """That the deltas of single releases use up the total."""
    return (
        f"As printed, advanced composition does not apply here: the deltas of {k} × {count} "
        f"releases, δᵢ = {show_delta(delta_each)} each, add up to {show_delta(spent)}, more "
        f"than δ = {show_delta(delta)}."
    )


def printed_epsilon(printed: float, k: int, ours: float) -> str:
    """The paper's number beside ours."""
    return f"The source prints ε = {printed:g} at k = {k:,}; its own method gives {ours:.4g}."


def smallest_epsilon(k: int, low: float | None, value: float) -> str:
    """The smallest epsilon; low: its lower end, where that is another number."""
    between = "" if low is None else f"between {show_most(low)} and "
    return f"The smallest ε at k = {k:,} is {between}{show_bound(value)}."


# ---------------------------------------------------------------- the guarantee under the picture


def terms(delta: float, protects: str) -> str:
    """What an epsilon holds for."""
    return f"δ = {show_delta(delta)}, {protects}"


def computing(terms: str) -> str:
    """While the number is worked out."""
    return f"Computing the smallest epsilon at {terms}…"


def no_bound(terms: str) -> str:
    """Where the total is past what any method covers, or nothing is proved of such releases."""
    return f"None of these methods has an answer at {terms}."


def basis(title: str, *, exact: bool, in_a_ball: bool) -> str:
    """What proves the number, and what that needs."""
    proof = "Exact composition" if exact else f"Upper bound: {title}"
    return proof + (", if every row is clipped to a ball around 0" if in_a_ball else "")


def promise(epsilon: float, terms: str, basis: str) -> str:
    """The best number with everything that belongs beside it."""
    return f"**ε = {show_bound(epsilon)}**, {terms}. {basis}."


def noise_for(epsilon: float, noise: float, terms: str, basis: str, *, relative: bool) -> str:
    """The same where the budget is held. relative: the noise is a factor on that of the list."""
    what = "noise × " if relative else "noise"
    return f"**ε = {show(epsilon)} needs {what} {show_bound(noise)}**, {terms}. {basis}."


# ---------------------------------------------------------------- what is released

EDITOR_LEAD = "**One run of the list.** Noise is stated as a multiple of the sensitivity."
DELTA_HELP = "Loosely, the probability that the bound ε fails, over all releases."
NEIGHBOURS_HELP = (
    "How two neighbouring tables differ; the sensitivity, and so the noise, is stated for this "
    "change."
)
USE_FIT = "Use the current fit's ledger"
EACH_HELP = (
    "Of a Gaussian release: its δ in a method that composes pairs (ε, δ); 0 shares half of the "
    "total δ out evenly. Of an (ε, δ) box: its δ."
)
USE_FIT_HELP = "Every release made by the private fit on Explore, with its noise."
NO_FIT = "Explore shows no fit yet; load a table there first."
OTHER_NOISE = ("it has noise other than Gaussian or Laplace", "choose another fit on Explore")
EMPTY_LIST = "The list is empty; keep at least one release."


def too_many_lines(most: int) -> str:
    """A list that is too long."""
    return f"The list has more than {most} lines; combine equal releases."


def no_release(line: int) -> str:
    """A line that describes no release."""
    return (
        f"Line {line} is not a release; give noise above 0 and below 10⁹, a whole number up to a "
        "million in “Times”, a sampled share above 0 and at most 1, and δ below 1 in “δ each”."
    )


# ---------------------------------------------------------------- methods, and pinned lists

METHODS_HELP = "Each method keeps its colour."
PIN = "Pin this list"
SAMPLES = {"p": "a Poisson sample", "w": "a sample of fixed size"}


def pin_help(most: int) -> str:
    """What pinning does."""
    return (
        "Keep the cost of these releases as marks on the bars' axis and as a table column "
        f"while you try other lists. Up to {most} can be pinned."
    )


def methods_caption(k: int, terms: str, *, budget: bool) -> str:
    """What the table of all methods holds for."""
    return f"{'cost of the noise listed above; ' if budget else ''}k = {k:,}, {terms}"


COMPUTING_OTHERS = "Computing the others…"
