"""What Learn says: the path, exercises and their class, sheets, papers and pages to read.

The words of the path stand in ``path.md``, those of the exercises in ``lessons.md``.
"""

from __future__ import annotations

from collections.abc import Mapping

from app.texts.frame import literal
from dpcore.papers.claims import Check, Verdict

TITLE = "Guess first, then see the answer."

# ---------------------------------------------------------------- the path

PATH_LEAD = (
    "Nine ideas. On each screen, drag the mark, draw the curve that you expect, then see the true "
    "curve."
)
PREPARING = "Preparing the path…"
AGE_DIAL = "age of the orange person"

# ---------------------------------------------------------------- exercises

EXERCISES_TITLE = "Exercises"
TERMS = (
    "Unless stated otherwise, δ = 10⁻⁵, and ε is for replacing the row of one person (or of one "
    "image)."
)
LEAD = f"What does privacy cost? Look (the answer is hidden), guess, then see the answer. {TERMS}"
MY_GUESS = "This is my guess"


def your_guess(guess: str, *, right: bool) -> str:
    """What the reader said, above the answer."""
    return f"You said **{guess}**{', which is right' if right else ''}."


# ---------------------------------------------------------------- a class

CLASS_TITLE = "Class code"
CODE_LABEL = "Your class code"
CODE_EXAMPLE = "stats-7"
CODE_ERROR = (
    "it must have 3 to 24 characters, only letters from a to z, digits and hyphens",
    f"choose one like {CODE_EXAMPLE}",
)
CLASS_LINKS = ("Link for the class", "Link for your shared screen (takes no guesses)")
LEAVE = "Leave this class"
CLASS_FULL = "This question already has all the guesses it can hold; yours is not counted."
SHOW_ANSWER = "Show answer and guesses"
NO_GUESS = "No guesses under this code yet."


def class_privacy(hours: int) -> str:
    """What becomes of guesses; hours: until they are forgotten."""
    return (
        "Guesses under a code are counted without names and held only in the server's memory, for "
        f"at most {hours} hours after the last guess. Anyone who knows or guesses the code can see "
        "them and add to them."
    )


def class_joined(code: str) -> str:
    """Where guesses are counted."""
    return f"Class **{code}**: your guesses now count towards this class, without your name."


def class_counts(code: str, counts: Mapping[int, int]) -> str:
    """How many guesses there are, by number of the question, as HTML."""
    listed = "; ".join(f"question {number}: {guesses}" for number, guesses in counts.items())
    return f"Class <b>{code}</b> · guesses so far: {listed or 'none yet'}"


def class_guesses(guesses: int, right: int, answer: str, median: str) -> str:
    """How a class guessed, as HTML. right: how many chose the option nearest to the answer."""
    return (
        f"<b>The class: {right} of {guesses} chose {answer}</b>, the option nearest to the "
        f"answer ▲; the median guess is {median}."
    )


FRAMED = "Framed: your guess."


def per_dot(guesses: int) -> str:
    """What a dot stands for, where it is more than one guess."""
    return f"One dot stands for up to {guesses} guesses."


# ---------------------------------------------------------------- sheets and papers

SHEET = "Exercise sheet to print"
SOLVED_SHEET = "With answers and teacher's notes"
PAPERS_TITLE = "The papers' figures, reproduced"
PAPERS_LABEL = "A figure or table"


def verdict(judged: Verdict) -> str:
    """What became of a figure, and at how many points each claim holds."""
    spread = any(check.clear is not None for check in judged.checks)
    heads = ["the paper's claim", "holds at", *(["clearly¹"] if spread else [])]
    lines = [heads, ["---", *["---:"] * (len(heads) - 1)]]
    for check in sorted(judged.checks, key=lambda check: check.ours):
        says = f"beyond the paper: {check.says}" if check.ours else check.says
        points = [f"{check.holds}\u00a0of\u00a0{check.of}", *([_clear(check)] if spread else [])]
        lines.append([literal(says), *points])
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    note = "\n\n¹ beyond the spread of the runs" if spread else ""
    return f"**{literal(judged.opening)}**{judged.missing}\n\n{table}{note}"


def _clear(check: Check) -> str:
    return "" if check.clear is None else f"{check.clear}"


# ---------------------------------------------------------------- what to read

DOCUMENTS_LABEL = "A page to read"
DOCUMENTS = {
    "which-composition": (
        "Which composition should I use?",
        "A table of questions, with the method for each.",
    ),
    "glossary": ("Glossary", "Every term on the screen, in plain words."),
    "methods": ("Methods", "Claim, proof and evidence for every model."),
    "accounting": ("How privacy costs are computed", "The theorem behind each composition method."),
    "printed-figures": ("Printed privacy figures", "What papers print, and what can be proved."),
    "security": (
        "What the privacy guarantee rests on",
        "What you must trust before you trust an epsilon.",
    ),
    "teaching": ("For a class", "Pages that need no server, and a server for a class."),
    "options": (
        "Options on Explore",
        "Every option of every model: where to set it, or why Explore does not offer it.",
    ),
    "schema": ("The schema file", "Every key, its meaning and an example."),
    "stewards": ("For data stewards", "From public limits to a release that anyone can check."),
    "pipelines": (
        "scikit-learn pipelines",
        "The privacy cost of a hyperparameter search, a scaler or a second fit.",
    ),
    "results": ("Measured results", "A summary, with the machine and links to every section."),
    "results-papers": ("Results on papers", "Figures and tables, as printed and as proved."),
    "results-utility": ("Results on utility", "How much of an exact fit's gain private fits keep."),
    "results-intervals": (
        "Results on intervals and plans",
        "How often a release or a plan is right about its own error.",
    ),
    "results-speed": ("Results on speed", "How long fits take, beside those of other programs."),
    "results-explorer": ("Results on the explorer", "How soon the pages of this app answer."),
    "results-checks": (
        "Results on checks",
        "What attacks, random inputs, planted bugs and readers found.",
    ),
    "extending": (
        "Adding a model, accountant or page",
        "What you have to write, with a model as the example.",
    ),
    "changelog": ("Changelog", "What changed, and when."),
}
NOTEBOOKS_TITLE = "Notebooks: the same ideas in code"
NOTEBOOKS_PLACE = "In the folder `notebooks` of the source code:"
NOTEBOOKS = {
    "01_what_epsilon_means": "an attacker's guess, and how often it is right",
    "02_composition": "what many releases cost together, by five composition methods",
    "03_private_em_from_scratch": "the algorithm in 40 lines, then the same with `dp.fit`",
    "04_clipping_and_subsampling": "two settings that decide how much the noise hurts",
    "05_release_and_audit": "how to publish a result, and how to check one",
    "06_use_a_release": "how to use a model of data that you never see",
    "dp_em": "DP-EM (2017): every figure and table, reproduced",
    "vips": "VIPS (2020): every figure and table of results, reproduced",
    "gradient_em": "robust gradient EM (2023): every figure, reproduced",
    "labelled_mixtures": "labelled mixtures (2025): every figure, reproduced",
}
