"""What several pages say: what the data is, what a link hides, what a fit guarantees."""

from __future__ import annotations

import re

from dpcore.privacy.guarantee import show, show_bound, show_delta

# What Markdown takes for its own, and the colon with which Streamlit begins a colour.
_SIGNS = re.compile(
    r"[\\`*\[\]<>$~|&]|(?<![^\W_])_|_(?![^\W_])|:(?=\w)|^[#+=-]"
    r"|(?:(?<=^\d)|(?<=^\d\d)|(?<=^\d{3}))[.)]"
)
# Where to cut what is an address to click, an icon or an emoji even behind a backslash.
_CUT = re.compile(r"(?<=:)(?=//|material/|[\w+-]+:)|(?<=www)(?=\.)|(?=@)", re.IGNORECASE)


def literal(text: str) -> str:
    r"""A text from outside - a name in a file or a link, a refusal that repeats it - as Markdown
    shows it letter by letter: no sign of it is a picture, which a browser would fetch, or a link.

    >>> print(literal("![a](b.png) rows_per_person :red[c]"))
    !\[a\](b.png) rows_per_person \:red\[c\]
    >>> literal("http://host")  # an invisible sign that joins words cuts an address
    'http:\u2060//host'
    """
    return _SIGNS.sub(r"\\\g<0>", _CUT.sub("\N{WORD JOINER}", " ".join(text.split())))


# What the data on the page is.
PROVENANCE = {
    "simulated": "Simulated data: everything here may be shown",
    "public": "Published data: everything here may be shown",
    "upload": "Your table: for the custodian only",
    "none": "No data on this page, only arithmetic",
    "unread": "No table in use yet",
    "stand-in": "Stand-in rows: no value from your file is shown",
}
OWN_TABLE = "not private · for the custodian only"
STAND_IN = "of stand-in data"


def misread(names: str) -> str:
    """What of the address is not known."""
    return (
        f"Not understood in the address, or at odds with its other values: {names}; the page shows "
        "other settings instead, which you can change below."
    )


# What a link can hide: page to the words of the link, each as the page then names it.
HIDEABLE = {
    "explore": {
        "data": "the data",
        "model": "the model",
        "method": "the method",
        "count": "the composition method",
        "epsilon": "the budget's slider",
        "delta": "delta's slider",
        "clip": "clipping's slider",
        "says": "the sentence under the slider",
        "exact": "the exact fit",
        "private": "the private fit",
        "curve": "the curve",
        "promise": "the guarantee",
    },
    "compose": {
        "preset": "the list to start from",
        "hold": "what is fixed",
        "show": "the choice of picture",
        "noise": "the noise",
        "k": "the slider",
        "says": "the sentence under the slider",
        "bars": "the costs",
        "curve": "the picture beside the bars",
        "promise": "the best bound",
        "more": "more methods",
    },
    "attack": {
        "says": "the sentence under the slider",
        "clouds": "the two clouds",
        "hits": "the attacker's curve",
        "ruler": "the ruler",
    },
}
HIDE = "Hide from the class"
UNCOVER = "Show it"


def hidden_parts(names: str) -> str:
    """What a link hides."""
    return f"**Hidden by this link:** {names}. Make a guess first."


def guess(number: int) -> str:
    """Where a lesson takes the guess."""
    return f"Guess: question {number} on Learn"


# What a fit loses against the exact one.
LOSSES = {
    "rows": "fewer rows",
    "steps": "stopping early",
    "clipping": "clipping",
    "noise": "noise",
}
LOSS = "Loss against the exact fit:"


def whole_bar(worth: str) -> str:
    """What the bar of losses is drawn in."""
    return (
        f"In {worth}. The whole bar is the exact fit's gain over a model of the public limits "
        "alone, or the total loss if that is larger."
    )


# What a fit guarantees.
OUT_OF_REACH = "this budget cannot be met."
ASSUMPTIONS = "**Assumptions behind the guarantee**"
NOTHING_PROVED = "**Nothing is proved** for this fit."
SPENDING = ("release", "noise", "share of the budget")


def no_fit(why: str | None) -> str:
    """In place of a guarantee."""
    return f"No fit, nothing spent: {why or OUT_OF_REACH}"


def claim_with_guarantee(epsilon: float, sentence: str, *, closed: bool) -> str:
    """A paper's claim before the guarantee. closed: its gaps are, so that one can be proved."""
    how = "with the gaps in its proof closed" if closed else "as printed"
    return (
        f"The paper says epsilon = {show(epsilon)}; its method, run here {how}: "
        f"{sentence[0].lower()}{sentence[1:]}"
    )


def claim(epsilon: float, source: str) -> str:
    """A paper's claim."""
    return f"**The paper says** ε = {show(epsilon)} ({source})."


def proof(epsilon: float, delta: float, kind: str, source: str) -> str:
    """What can be proved."""
    return (
        f"**We can prove** ε ≤ {show_bound(epsilon)} at δ = {show_delta(delta)} ({kind}; {source})."
    )


# Share and export.
SHARE = "Share and export"
VIEW_LINK = {"explore": "all settings, no data", "compose": "every choice"}
PRESENT = (
    "Add `&present=1` (`?present=1` if the link has no `?`) to open it in present mode. To open it "
    "on another machine:"
)
EACH_CARD = "Each card has buttons for its picture, a CSV file and a table of its numbers."
