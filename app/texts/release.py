"""What the Release page says: several releases together, plan, review, spend."""

from __future__ import annotations

from dpcore.privacy.guarantee import show, show_bound, show_delta, show_most
from dpcore.releases.ledger import ALL_SPENT

# The head of the page.
TITLE = "Make one release, for real."
NO_FILE = ("no file is in use", "open one on Explore")
NOT_FROM_HERE = "cannot be released from this page"
ROW_REMOVED = ("one row was removed or changed on Explore", "undo that first")

FRAMED = (
    "Another site shows the explorer inside its own page, and could lead you to spend a budget "
    "unawares. Open the explorer in a tab of its own to plan and release."
)


def lead(model: str, data: str) -> str:
    """What the page is for."""
    return (
        f"{model} on {data}, as set on Explore. Plan the budget and review what would be released. "
        "Then spend: the release draws fresh noise, is entered in the ledger and cannot be undone."
    )


def other_method(method: str, *, published: bool) -> tuple[str, str]:
    """Problem and remedy of a method that no release can have."""
    why = "is run as published and cannot be released" if published else NOT_FROM_HERE
    return f"{method} {why}", "choose Recommended on Explore"


# Several releases together.
SEVERAL = "Plan several releases together"
SEVERAL_HELP = "Before you start a ledger: how to split one budget among several releases."
OF_DOCUMENTS = (
    "Several releases can be planned together only for tables, since simulating documents takes "
    "minutes; plan releases of documents one at a time."
)
PUBLIC_ROWS = "Number of rows (public)"
KEEPS_HELP = "Share of the exact fit's gain over the simplest baseline (median)."
EPSILON_HELP = "For each release. If empty, there is no minimum."
LOCKED_HELP = "Fix ε at the value in this line."
SIMULATING = "Simulating each release on rows drawn from the limits…"


def plan(who: str, how: str, *, whole: bool) -> str:
    """Who is protected and how it was planned. whole: easy and hard rows are simulated too."""
    so_far = (
        ""
        if whole
        else "For rows of medium difficulty so far: easy and hard ones are still being simulated. "
    )
    return f"{so_far}Protected change: {who}. {how}"


# The budget of this release, and what it buys.
UNITS_DIFFER = "Units differ, so these numbers cannot be compared with one another."
WANTED = "I want to keep at least"
WANTED_HELP = (
    "Share of the exact fit's gain over the simplest baseline, in nine of ten noise draws."
)
FEW_DRAWS = "Simulating releases… one noise draw is not enough to judge."
SIMULATING_WORLDS = "Simulating easy and hard rows…"


def short_without_noise(share: float, *, clipped: bool) -> str:
    """Where the steps themselves keep less than is wanted. clipped: whether rows can be clipped
    less."""
    worth = f"keep only {share:.0%}" if share > 0.0 else "are no better than the simplest baseline"
    return (
        f"Even without noise, these settings {worth}: on Explore, {'clip less, ' * clipped}"
        "allow more iterations if the method has them, or choose a smaller model."
    )


def no_epsilon(wanted: float, things: str) -> str:
    """Where no budget of the slider keeps the wanted share."""
    return f"No ε up to 20 keeps {wanted:.0%} here: use more {things}, or a smaller model."


def enough(epsilon: float, draws: int, low: float, high: float) -> str:
    """The least budget that keeps a wanted share, and the range that its draws keep."""
    least, most = f"{low:.0%}", f"{high:.0%}"
    share = least if least == most else f"{least} to {most}"
    return (
        f"**ε = {show(epsilon)}** is enough in nearly all of {draws} simulated releases; they "
        f"keep {share}."
    )


def rows_needed(epsilon: float, rows: int, things: str) -> str:
    """How many rows would do at the budget of this release."""
    return f"With ε = {show(epsilon)}, about **{rows:,} {things}** are needed."


def simulated_on(things: str, judged: str) -> str:
    """Which rows were fitted, and which judge."""
    return f"Simulated on the {things} that Explore fits. {judged}"


def over_worlds(epsilon: float, low: float, high: float, median: float) -> str:
    """What one release keeps on rows that are hard, easy and medium."""
    least, most = f"{low:.0%}", f"{high:.0%}"
    share = least if least == most else f"{least} to {most}"
    medium = "" if least == most else f", and {median:.0%} on medium ones"
    return f"With ε = {show(epsilon)}, a release keeps {share} on rows from hard to easy{medium}."


# The ledger: opened or started.
LEDGER = "Budget ledger (a file)"
LEDGER_HELP = (
    "The ledger records what was spent. A copy would be a second budget, so keep only one file."
)
PRACTICE = (
    "For practice: ledgers here are held in memory, end with your session, and cover only releases "
    "of bundled data."
)
UNNAMED = ("no file was named", "name one, for example budget.sqlite")
NAMES_FOLDER = ("it names a folder", "give a file name without a folder")
ALREADY_STARTED = (
    "Somebody else has just started a ledger with this name. Reload the page to see its terms, or "
    "give another name."
)
NO_LEDGER = "There is no such ledger yet. Once it is started, its terms never change."
TOTAL_EPSILON = "Total ε, for all releases ever"
TOTAL_DELTA = "Total δ, for all releases ever"


def no_folder(variable: str) -> tuple[str, str]:
    """Problem and remedy of a server on which that variable is not set."""
    return "this server has no folder for ledgers", f"ask its owner to set {variable}"


def total_too_small(epsilon: float) -> str:
    """A total that could not pay for this release."""
    return (
        f"The release above asks for ε = {show_bound(epsilon)}, which this total cannot "
        "cover; raise the total, or ask for less."
    )


# What is spent and left.
SHARES = "shares what is left"
LOCK_HELP = "If empty, the release gets an equal share of what is left."
NOTHING_LEFT = ("nothing is left", "start another ledger")
LOCKED_TOO_MUCH = (
    "the locked budgets add up to more than is left",
    "lock a smaller ε, or lock fewer releases",
)


def total(epsilon: float, delta: float, who: str, releases: int) -> str:
    """The whole budget of a ledger, whom it protects, and how often it was spent from."""
    return (
        f"The total budget is **ε = {show_bound(epsilon)}** at δ = {show_delta(delta)}. "
        f"Protected change: {who}. Releases so far: {releases}."
    )


def ledger_rule(fingerprint: str, method: str) -> str:
    """How the ledger composes its releases: the title of its filter."""
    return (
        f"Composition: {method}. It stays valid when each release is chosen after seeing the "
        f"earlier ones. Fingerprint {fingerprint}."
    )


def left_allows(releases: str) -> str:
    """What is left, among releases to come."""
    return f"What is left allows: {releases}."


def comparison(delta: float) -> str:
    """Below the other composition methods."""
    return (
        f"For comparison only: the ledger's own method decides. Each ε is at δ = "
        f"{show_delta(delta)}; sums use the deltas that the releases state."
    )


# Review.
def what_leaves(
    model: str,
    thing: str,
    size: int,
    *,
    documents: bool,
    persons: bool,
    synthetic: bool,
    equal: str = "",
) -> str:
    """What leaves. size: columns, or of documents public words. persons: an id says whose rows.
    equal: of whom, where all have the same weight."""
    over = f"over {size:,} public words" if documents else f"in {size} column{'s' * (size > 1)}"
    drawn = f"; 1,000 synthetic {thing}s drawn from the model;" if synthetic else ","
    read = f"the {thing}s that count" if persons else f"all {thing}s"
    alike = f", with the same weight for each {equal}" if equal else ""
    return (
        f"**What leaves:** the parameters of the model ({model}), fitted to {read} "
        f"{over}{alike}{drawn} and a report that names the data and, where it is public, the "
        f"number of {'different ids' if persons else f'{thing}s'}."
    )


def for_whom(who: str) -> str:
    """Who reads it, and who is protected."""
    return f"**For whom:** anybody. **Protected change:** {who}."


def guarantee(epsilon: float, delta: float) -> str:
    """What is proved, and for which noise."""
    return (
        f"**Guarantee:** ε = {show_bound(epsilon)} at δ = {show_delta(delta)}, proved for the "
        "noise as it is drawn: integers, sampled with the operating system's entropy."
    )


PUBLIC_COLUMNS = {
    "label": "; every column but the label is public",
    "feature": "; labels are public",
}


def assumptions(
    unit: str, rows: int, thing: str, *, adjacency: str, documents: bool, persons: bool
) -> str:
    """What the proof takes as given. rows: the most that one unit has."""
    public = "list of words was" if documents else "limits were"
    has = f"every {unit} has at most {rows} {thing}{'s' if rows > 1 else ''}"
    if persons:
        has = f"all rows of one {unit} have the same id"
    earlier = "" if documents else " or come from earlier releases that were paid for"
    columns = PUBLIC_COLUMNS.get(adjacency, "")
    return f"**Assumed:** the {public} public before anyone saw the data{earlier}{columns}; {has}."


def chosen_on_stand_ins(thing: str) -> str:
    """Settings that tell nothing of the data but, perhaps, how large it is."""
    return (
        f"**Settings** were chosen while looking at stand-in {thing}s, of which there may be as "
        "many as real ones; the dossier says so."
    )


CHOSEN_ON_DATA = (
    "**Settings** were chosen while looking at exact values; no guarantee covers that choice, and "
    "the dossier says so."
)

# Spend.
LEDGER_FIRST = "Open a ledger or start one first."
CONTROLLER = "Who is responsible for the data"
PURPOSE = "What the release is for"
FOR_REPORT = "Printed in the report as you write it; may be left empty."
USE_NARROWER = "Use these limits from now on"
NARROWER_IN_USE = "These limits are now used for stand-in rows, fits and later releases."
ANYONE_CAN_CHECK = (
    "Anyone can check the release without the data, and use it as a model: dpcore verify FOLDER, "
    "dpcore apply FOLDER NEW.csv"
)


LEAST_EPSILON = 0.01  # epsilon of a release on the page


def does_not_fit(epsilon: float, delta: float) -> str:
    """A release of more than is left. epsilon, delta: what is left."""
    if epsilon <= 0.0:
        return f"This release does not fit into the ledger: {ALL_SPENT}."
    if epsilon < LEAST_EPSILON:
        return (
            f"This release does not fit into the ledger: at most ε = {show_most(epsilon)} at "
            f"δ = {show_delta(delta, down=True)} is left, and a release on this page takes at "
            f"least ε = {LEAST_EPSILON}. Nothing is spent."
        )
    return (
        f"This release does not fit into the ledger: ask for at most ε = {show_most(epsilon)} at "
        f"δ = {show_delta(delta, down=True)}. Nothing is spent."
    )


def confirmation(epsilon: float, *, again: bool) -> str:
    """The box to tick before anything is spent."""
    return (
        f"I have read this. Spend {'another ' if again else ''}ε = {show_bound(epsilon)} for good."
    )


def delta_too_large(thing: str) -> str:
    """A delta that could publish one row."""
    return (
        f"δ is greater than 1 divided by the number of {thing}s: it would allow one {thing} to be "
        "published. Give a smaller one."
    )


def outcome(line: int, sentence: str, folder: str = "") -> str:
    """Where a release stands. sentence: its guarantee. folder: of its files, where the reader has
    access to it."""
    place = f" The files are in {folder}." if folder else ""
    return f"This is line {line} of the ledger. {sentence}{place}"


EARLIER = "Files of an earlier release"
CHOOSE_LINE = "Choose a line of the ledger"


def earlier(line: int, epsilon: float, time: str) -> str:
    """An earlier release in the list. time: when it was paid for, in ISO format."""
    return f"line {line}: ε = {show_bound(epsilon)}, {time[:16].replace('T', ' ')} UTC"


def unwritten(line: int, reason: str) -> str:
    """A release that is on record, but whose files cannot be written."""
    return (
        f"The release is paid for as line {line} and is recorded in the ledger, but its files "
        f"cannot be written beside it ({reason}). You can download them below."
    )
