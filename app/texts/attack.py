"""What the Attack page says: whom to attack, how it went, and which printed bounds do not hold."""

from __future__ import annotations

from dpcore.privacy.guarantee import show_bound, show_delta

# The head of the page.
TITLE = "Try to break the guarantee."


def lead(thing: str, unit: str, model: str, data: str, *, made_up: bool) -> str:
    """What the attacker knows and asks. made_up: the hardest case stands in for the table."""
    built = " Two small tables, built to be easy to tell apart, stand in for this data."
    return (
        f"You know the {thing}s of all but one {unit}, and see many releases from each of two "
        f"neighbouring tables: {model} on {data}. Which release came from which table?"
        f"{built if made_up else ''}"
    )


# Whose row is at stake.
WHOSE = {
    "worst": "made up: the hardest case to hide",
    "farthest": "the {unit} farthest from all others",
    "row": "the one in row…",
    "typed": "a new {unit}, whose row you type in…",
}
NO_WHOLE_ROW = (
    "a new person adds a whole row, but only parts of rows are protected here",
    "choose a row of the table",
)


def takes_long(model: str) -> tuple[str, str]:
    """Problem and remedy of a model whose fits take too long to wait for."""
    return (
        "hundreds of its fits would take minutes here",
        f"choose another model on Explore, or run dpcore audit {model} in a terminal",
    )


# The budget.
BUDGET_HELP = (
    "The larger the budget, the farther apart the two clouds, and the more often you are right."
)
ENDS = ("hard to tell", "easy to tell")

# What tells the two tables apart, with ``{}`` for whom a row is about: in one, and in the other.
APART = {
    "replace_one": ("this {}", "another {}"),
    "add_remove": ("this {}", "no such {}"),
    "label": ("this {}'s label", "another label"),
    "feature": ("this {}'s features", "other features"),
}

# What the attacker achieves, beside what is proved.
NOTHING_PROVED = "nothing is proved"


def bound(best: int, epsilon: float, allowed: int) -> str:
    """How often any attacker is right, in 100: with this noise, and by epsilon alone."""
    alone = f"; ε = {show_bound(epsilon)} alone would allow {allowed}" if allowed > best else ""
    return f"proved: with this noise no attacker is right more than {best} times on average{alone}"


def terms(epsilon: float, delta: float | None, who: str) -> str:
    """The budget, and who is protected."""
    of_delta = "" if delta is None else f", δ = {show_delta(delta)}"
    return f"At ε = {show_bound(epsilon)}{of_delta} ({who})"


def running(releases: int, who: str, other: str, done: int, budgets: int) -> str:
    """How far the attack is. releases: of each of the two tables."""
    return (
        f"The attack is running: {releases} releases with {who} and as many with {other}; "
        f"{done} of {budgets} budgets done."
    )


def pending(terms: str, proved: str, running: str) -> str:
    """Of a budget that is still to be attacked."""
    return f"{terms}, a coin toss is right 50 times in 100 ({proved}). {running}"


def result(terms: str, rate: float, proved: str) -> str:
    """Of a budget that was attacked. rate: how often the attacker was right."""
    return f"{terms}, you are right **{100 * rate:.0f} times in 100** (a coin toss: 50; {proved})."


def one_row(unit: str) -> str:
    """Where a unit can have several rows."""
    return f"Here one row changes, not all the rows that a {unit} can have."


# Counterexamples.
EXHIBITS = "Printed bounds that do not cover every case"


def choose(exhibits: int) -> str:
    """In place of a choice."""
    return f"Choose one of {exhibits}"
