"""What pages that need no server say: their index, what all have, and the exercise sheet.

Texts with tags are HTML; what is put into them is escaped before.
"""

from __future__ import annotations

# ---------------------------------------------------------------- the index

INDEX_ABOUT = "Everything here may be shown"
INDEX_LEAD = (
    "Every page is one file: open it, mail it, or put it into your slides with an iframe. Your "
    "settings follow the # in its address; <code>theme=dark</code> or <code>theme=light</code> "
    "there overrides the system's theme."
)
COMPOSE_ABOUT = (
    "What many releases about the same people cost together, by five composition methods."
)
PATH_TITLE = "The path"
PATH_ABOUT = "Nine ideas, from a noisy count to a refuted guarantee: drag, draw, compare."
SHEET = ("Exercise sheet", "The questions, to print.")
SOLVED_SHEET = ("Exercise sheet with answers", "For the teacher.")
RELEASED = "Released: anyone may see this"


def lessons_about(questions: int) -> str:
    """What the page of lessons holds."""
    return f"{questions} questions with hints: look, guess, then see the answer."


# ---------------------------------------------------------------- a page with sliders

COMPOSE_TITLE = "Composition: how privacy costs add up"
FILM_TITLE = "How the methods work"
ONE_SLIDER = (
    "On this page, whose pictures are stored, only one slider can be moved at a time; the others "
    "return to their starting values. In the explorer you can combine all of them."
)
NO_SCRIPT = "The pictures on this page need JavaScript."
LINK = "Link to this view"


def foot(version: str, command: str) -> str:
    """Where a page comes from, and how it goes on from here."""
    return (
        f"Everything was computed by dpcore {version} and is stored in this file, which loads "
        f"nothing from elsewhere. For more choices, open the explorer: <code>{command}</code>."
    )


# ---------------------------------------------------------------- the lessons

ANSWER = "I have guessed: show the answer"
IN_EXPLORER = ", in the explorer"


def path_before(address: str) -> str:
    """The way to the path."""
    return f'Start with <a href="{address}">the path</a>.'


# ---------------------------------------------------------------- a release


def release_title(title: str) -> str:
    """What the page of a release is called."""
    return f"{title}: a private release"


def release_checks(created: str, digest: str) -> str:
    """What was checked when the page of a release was made; digest: of its dossier."""
    return (
        f"{created} · When this page was made, the proof was replayed and the "
        "files were checked against their hashes. The page is a copy: the release's folder can be "
        "checked by anybody, with <code>dpcore verify FOLDER</code>. Its dossier.json has the "
        f"SHA-256 <code>{digest}</code>."
    )


# ---------------------------------------------------------------- what cannot be written

LEAVE_OUT = "leave it out by naming only the other pages with --only"
BASE_ERROR = ("it is not the address of an explorer", "give one of the form http://HOST:PORT/PATH")
WITHOUT_CODES = " (without QR codes; to add them: pip install segno)"


def no_page(name: str) -> str:
    """A page that there is not."""
    return f"there is no page {name!r}"


def too_large(size: int) -> str:
    """A page that is too large for a mail."""
    return f"the page is too large ({size:,} bytes)"


# ---------------------------------------------------------------- the exercise sheet

PRINT = "Print this page: Ctrl+P."
SHEET_LEAD = "Look first, then guess."
LINKS = (
    'Open a link with <code>dpcore explore "…"</code> on any machine, or append it to the '
    "explorer's address."
)
WHY = "After you have seen the answer, explain it in one sentence:"
TEACHER_TITLE = "For the teacher"
HIDE_TITLE = "Words for <code>hide=</code>"
NOTES = (
    "Have everyone write down a guess before anyone moves a slider. Wrong guesses teach the most. "
    "With a **Class code** on Learn, a dot plot shows everyone's guesses without names.",
    "Each **Look first** link leaves the answer out; **See it** shows it. **Show it** on the page "
    "reveals what a link hides, and the back button hides it again.",
    "To make your own links, use **Hide from the class** under **Share and export**, or add "
    "`hide=` with words from the list below, separated by commas. A page ignores words that it "
    "does not recognise.",
    "To have the class guess ε itself, open `?epsilon=0.3&hide=epsilon,says,curve,promise`, which "
    "shows two pictures but not ε. Hidden does not mean protected: the address still contains "
    "the answer, so show the page full-screen.",
    "**New noise** is the most useful button: what moves is noise, and what stays is signal.",
    "Before you ask what the guarantee covers, take one person out (**Remove one person** on "
    "Explore): the private picture hardly moves.",
    "After question 3, ask why ten times as many releases cost only three to four times as much.",
    "Guesses are kept in the address of the Learn page: students who copy it keep their guesses.",
    "Every answer on this sheet was computed by the explorer's own code when the sheet was made.",
)


def sheet_title(*, solved: bool) -> str:
    """What the sheet is called."""
    return "What does privacy cost?" + (" With answers" if solved else "")


def links_open(base: str) -> str:
    """Where links lead."""
    return f"Links open the explorer at {base}."


def my_guess(low: str, high: str) -> str:
    """Before the line for a guess."""
    return f"My guess ({low} to {high}):"
