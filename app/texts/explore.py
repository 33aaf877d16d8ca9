"""What Explore says: choices, dials, what the pictures show, more settings, files to take."""

from __future__ import annotations

import math

from dpcore.privacy.guarantee import show

# The head of the page.
HEADING = "See what privacy costs."
NO_TABLE = "Your table stays on this machine and is never written to disk."
OWN_DOCUMENTS = " Documents of your own: <code>dpcore fit lda FILE</code>."


def lead(rows: str, own: str) -> str:
    """What is shown and what to do, as HTML. rows: what is fitted; own: what else there is to say
    of the data."""
    return (
        f"One model, fitted twice to {rows}: exactly, and with differential privacy. Drag epsilon "
        f"to see what survives.{own}"
    )


def lead_of_some(rows: str, fitted: int, own: str) -> str:
    """The same where some of the rows are fitted privately."""
    return (
        f"One model, fitted exactly to {rows} and privately to {fitted:,} of them. Drag n to see "
        f"how many rows are enough.{own}"
    )


def whose_rows(who: str, *, one_row: bool, label: bool, without: bool) -> str:
    """The rows of a table. one_row: each of those has one; without: one of them was changed or
    removed; label: what changed is a label."""
    if without:
        who += " (one label changed)" if label else " (one removed or changed)"
    return who if one_row else f"rows of {who}"


def stand_ins(thing: str, *, documents: bool) -> str:
    """The rows that stand in for those of one's own file."""
    return f"stand-in {thing}s drawn {'from your words' if documents else 'within your limits'}"


# The choices and the dials, each by its name.
HELP = {
    "metric": "What the curve measures. Changing the metric does not change the fits. Where the "
    "method's paper prints a metric, it is the first in the list.",
    "data": "Bundled and published tables may be shown to anybody. Your own file stays on this "
    "machine. `dpcore data` lists the papers' data sets and how to add them.",
    "model": "Gaussian mixture: groups, each a bell-shaped cloud. k-means: cluster centres only. "
    "Factor analysis: a few hidden causes that move many columns together. Symmetric mixture: two "
    "mirrored clouds. Mixture of regressions: two lines with opposite slopes. Regression with "
    "missing covariates: one line, from rows with gaps. Labelled mixture: "
    "one Gaussian for each class of a labelled table. Logistic regression: which columns make a "
    "yes more likely. Latent Dirichlet allocation: topics, the weighted lists of words that "
    "documents mix. Sigmoid belief network: hidden switches that turn pixels on. Mixture of "
    "Bernoullis or Poissons: groups of yes/no answers or of counts. Column means: the average of "
    "each column. Covariance and PCA: how columns vary together. Probabilistic PCA: factor "
    "analysis with the same noise variance in every column. Narrower limits: limits inside the "
    "stated ones that hold nearly all numbers of a column.",
    "method": "Proved: every release has a privacy proof; epsilon is an upper bound that you can "
    "recompute. As published: the paper's equations, with the epsilon that the paper states, "
    "whether or not it holds.",
    "count_by": "A fit can make several releases. A composition method adds up their "
    "privacy cost; a tighter one needs less noise for the same epsilon. ✗ marks methods that do "
    "not cover this fit; choose one to read why. The key of the curve states the epsilon of each "
    "for the same noise. The moments accountant states none below that at which its curve begins.",
    "epsilon": "A smaller ε hides each person better; with a larger one, the fit follows the data "
    "more closely, but privacy is weaker.",
    "delta": "Loosely, the probability that the bound ε fails; keep it well below one "
    "over the number of rows.",
    "clip": "Clipping norm, as a share of the public limits (of documents: of their length): "
    "rows or documents beyond it are scaled back to it. "
    "A smaller norm needs less noise but distorts more rows.",
    "noise_multiplier": "Standard deviation of the noise divided by the sensitivity. With δ and "
    "the composition method it determines ε, so this slider and the one for ε move together.",
    "fitted_rows": "How many rows are fitted. They are drawn with public randomness, and a smaller "
    "sample is part of every larger one. The exact fit and the rows on which fits are judged stay "
    "the same.",
    "rows_per_person": "All rows of one person are protected together: the more rows, the more "
    "noise.",
}
LABELS = {"epsilon": "Privacy budget ε", "delta": "δ"}
ENDS = {
    "epsilon": ("stronger privacy", "weaker privacy"),
    "delta": ("stronger", "weaker"),
    "clip": ("less noise", "less clipping"),
    "noise_multiplier": ("weaker privacy", "stronger privacy"),
    "fitted_rows": ("fewer", "all"),
    "rows_per_person": ("less noise", "more noise"),
    "components": ("fewer", "more"),
}
TITLES = {
    "clip": "Clipping",
    "noise_multiplier": "Noise multiplier",
    "fitted_rows": "Rows n",
    "rows_per_person": "Rows per person",
}


def parts_help(parts: str) -> str:
    """Of the dial of groups, centres, factors and the like."""
    return (
        f"Fits with each number of {parts}, exact and private, at the same ε, δ and clipping; the "
        "curve shows the utility of each."
    )


# Why a dial does not move, or a choice is refused.
NONE_HELD_OUT = "Fewer rows can be fitted only where other rows are held out to judge the fit."
OUT_OF_REACH = "This budget cannot be met."
DELTA_HAS_NO_EFFECT = "With this method, delta has no effect."
NEEDED = {  # by what a model reads
    "target": "target that is a number",
    "outcome": "target with two values",
    "label": "label",
}
MORE_PARTS_THAN_ROWS = (
    "it has more parts than the table has rows",
    "choose one with fewer parts",
)

TOO_LARGE_FOR_MEMORY = (
    "with so many columns and parts, the fits at all budgets take too much memory",
    "leave columns out, choose fewer parts, or make one fit with dpcore fit",
)


def column_missing(model: str, needed: str) -> tuple[str, str]:
    """Problem and remedy of a model whose column the table does not have."""
    return (
        f"{model} needs a {needed}, which this table does not have",
        "choose another model or another table, or change the limits of your own table",
    )


def as_published(ways: str) -> str:
    """Why a published method is composed by no other way."""
    return f"As published, this method uses {ways} for composition."


FULL_TITLES = {"Exact": "Exact (Gaussian DP)"}  # of composition methods, in the list to pick from


def composition_stays(why: str, way: str) -> str:
    """That another composition method was refused."""
    return f"{why} The picture keeps {way}."


# While fits are computed.
FITTING = "Fitting exactly, then privately…"
COMING = "This fit is still being computed."
COMPARING = "comparing…"


def attack(epsilon: float, whose: str, rate: float, low: float, high: float, guesses: int) -> str:
    """The measured attack on one row. rate, low, high: of right guesses, with their interval."""
    return (
        f"At ε = {show(epsilon)}, an attack on {whose} was right "
        f"**{100 * rate:.0f} times in 100** (95% interval {math.floor(100 * low)} to "
        f"{math.ceil(100 * high)}, {guesses:,} guesses). An attack can refute a guarantee but "
        "never prove one."
    )


def target(unit: str, *, label: bool, one_row: bool, rows: int) -> str:
    """Whose row the attack was on. rows: that a unit may have, where it is not known by an id."""
    if rows > 1:
        return f"one row (each {unit} has at most {rows})"
    if not one_row:
        return f"one row of a {unit}"
    return f"the {unit} whose label was changed" if label else f"the {unit} removed or changed"


# Below the curve.
OTHER_WIDTHS = (
    "Private groups also differ from exact ones in width, because their covariances are noisy. In "
    "the proved method, each group clips the rows to a ball around its own mean, so the noise is "
    "proportional to the group's width. The published method raises eigenvalues that the noise "
    "made too small, which makes groups wider."
)
BELOW_ZERO = "; a loss below zero is a gain"
READ_ONCE = "; the rows are used in only one step, so nothing is lost by stopping early"


def gained(total: str, *, beyond: bool) -> str:
    """What the exact fit gains over the limits, if anything. beyond: more than that is lost."""
    if not total:
        return "; the exact fit gains nothing over the limits"
    return f", {'together more than the' if beyond else 'of'} {total} gained over the limits"


OWN_EXACT = " · exact values of your table, for the custodian only · rehearsal"


def in_sample(things: str, why: str, least: int) -> str:
    """Why fits are judged on the rows that they see. why: no_rule, person, private or few; least:
    rows that a fifth is held out of."""
    reason = {
        "no_rule": f"it is measured on the {things} that are fitted",
        "person": f"with an id column, no {things} are held out",
        "private": f"where the number of {things} is private, none are held out",
        "few": f"with fewer than {least} {things}, none are held out",
    }[why]
    return f"Utility is in-sample: {reason}."


def held_out(held: str, all_rows: str, things: str) -> str:
    """That fits are judged on other rows. held, all_rows: how many, as they may be shown."""
    return (
        f"Utility is measured on {held}{things} that no fit here uses. "
        f"A release uses all {all_rows}{things}."
    )


def against_the_exact(things: str, *, shown: bool, held: bool) -> str:
    """That fits are compared with the exact one. shown: of all rows; held: some are held out."""
    rows = f"all the {things} shown" if shown else f"the same {things}"
    every = f" A release uses all {things}." if held else ""
    return f"Utility compares each fit with the exact fit to {rows}.{every}"


def parts_button(parts: str, *, slides: bool) -> str:
    """Pulls the number of parts up to the sliders, or puts it back."""
    return f"Hide the slider for {parts}" if slides else f"What each number of {parts} buys"


def parts_rule(parts: str) -> str:
    """That the curve over the number of parts is not for a release."""
    return (
        f"For a release, the number of {parts} has to come from public knowledge, not from this "
        "curve."
    )


def bars(level: float, sentence: str, *, several: bool) -> str:
    """What the bars of a picture cover. sentence: what they include. several: groups."""
    elsewhere = "Where rows can be grouped in more than one way, it may find other groups. "
    return (
        f"Bars: {level:.0%} intervals for what the same algorithm would find on the same rows "
        f"without noise. {elsewhere * several}They cover the privacy noise only: neither sampling "
        f"error nor what clipping takes off long tails. {sentence}"
    )


# What each step spends, and the dialog step by step.
STRIP = "What each step spends"
STRIP_HELP = (
    "For each step: sensitivity, noise multiplier, share of rows clipped and the step's own ε; "
    "for all steps up to it: ε by every composition method, and the utility."
)
STRIP_COMING = "Working out every step…"
NO_STEPS = (
    "The steps of this fit cannot be shown one by one: it has only one step, keeps only the result "
    "of its last one, or reads random samples that take minutes to compose."
)
FEWER_STEPS = "Click a step to stop there: fewer steps share the same ε, and each has less noise."
STEPS = "Step by step"
STEPS_HELP = "How good each method's fit is after each of its steps, and what each step spends."
STEPS_COMING = "Fitting every method…"
SHARED_BUDGET = "All steps share one budget: more steps learn more, but each has more noise."
ONE_STEP_EACH = (
    "Every method for this model uses the rows in only one step: there are no steps to compare."
)
ALL_REFUSED = "No method can be shown step by step with these settings:"
PRINTED_EPSILON = "Methods run as published use the noise for which their paper states this ε."


def other_promise(who: str) -> str:
    """Why a method is not among the others."""
    return f"left out because it protects against a different change ({who})."


# The buttons.
NEW_NOISE = "New noise"
NEW_NOISE_HELP = "Draw new noise: the private fits move, the exact fit does not."


def change_button(unit: str, *, label: bool, changed: bool) -> str:
    """Changes one label, or removes one row of a unit; or puts it back."""
    if label:
        return "Put the label back" if changed else "Change one label"
    return f"Put the {unit} back" if changed else f"Remove one {unit}"


def change_help(*, label: bool) -> str:
    """Whose row or label it is, and what to look at."""
    return (
        f"The {'label of the row' if label else 'row or document'} that differs most from all "
        "others. "
        f"{'' if label else 'If the protected change is a replacement, another takes its place. '}"
        "The exact fit may move; at a small ε, the private fit moves by less than its noise."
    )


PIN = "Pin this view"
NOT_THERE = "the table is not available"
ROWS_CHANGED = "one removed or changed"


def pin_help(most: int) -> str:
    """What a pinned view is for."""
    return (
        "Keep this view as a thin outline in the panels and as a table row while you try other "
        f"settings. Up to {most} views can be pinned."
    )


def at_full_size(title: str) -> str:
    """The link from a table that stands for one of the papers' to the figure on that one."""
    return f"At the paper's size, computed earlier: {title}"


# More settings.
MORE = "More settings"
PULL = "Make this setting the third slider on the page, with its own curve."
SEED_HELP = "A seed makes the fit repeatable, so it is a rehearsal: nothing is released."
AVERAGED = "Average pixels (a public step before the fit)"
NOISE_FOLLOWS = "Noise multiplier: follows from ε, δ and the composition method."


def clipping_share(*, documents: bool) -> str:
    """The box of the clipping norm."""
    whole = "a document's length" if documents else "the limits"
    return f"Clipping, as a share of {whole}"


def emptied(usual: str) -> str:
    """The button below a box with a number that was empty. usual: what an empty one means."""
    return f"Reset to: {usual}"


def rows_to_fit(things: str) -> str:
    """The box of the number of rows."""
    return f"Number of {things} to fit, n (0: all)"


def rows_per_unit_help(things: str) -> str:
    """Of the box of rows per unit."""
    return f"All {things} of one unit are protected together."


def neighbours(thing: str) -> dict[str, str]:
    """What changes between neighbouring datasets."""
    return {
        "replace_one": f"one {thing} is replaced",
        "add_remove": f"one {thing} is added or removed",
        "label": "one label is replaced; the other columns are public",
        "feature": "one row is replaced except its label, which is public",
    }


# Share and export.
REHEARSAL = "rehearsal: nothing is released"
STAND_IN_FIT = "a fit to stand-in rows drawn from the limits, not to the table"
FIT_FILE = "Fit, guarantee and ledger (JSON)"
NO_COMMAND_WITHOUT = (
    "# One row is removed or changed here, which no command can do: use the script or the notebook."
)
NO_COMMAND_OF_SOME = (
    "# Fewer rows are fitted here, which no command can do: use the script or the notebook."
)
SECRET_NOISE = (
    "the noise on your own table depends on a secret of this process",
    "fit the file again with dpcore fit, which draws fresh noise",
)


def not_repeatable(*, documents: bool) -> str:
    """Before the command that fits one's own file with fresh noise."""
    data, public = ("texts", "words") if documents else ("table", "limits")
    return (
        f"A rehearsal on your {data} cannot be repeated elsewhere, because its noise depends on a "
        f"secret of this process. To fit the file with fresh noise, save its {public}:"
    )


# A labelled release, class by class.
CLASSES = "Class by class"
SOLVERS = "Compare the solvers for noise shaped by the rows"
SOLVING = "Solving each class's problem twice…"
SOLVERS_NOTE = (
    "Trace: the smallest trace of a noise covariance that hides the effect of one label on a "
    "class's mean. Gap: the certified relative distance from the minimum. `--solver cvxpy` uses "
    "the second solver."
)
