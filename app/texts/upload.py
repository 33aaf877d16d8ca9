"""What the panel of a table of one's own says, from the file to its limits and what follows."""

from __future__ import annotations

# The file.
LIMITS_ADVICE = (
    "Use limits you could print before seeing the data (age 0 to 110). "
    "Limits read from the data would leak information. If you can only state very wide limits, "
    "release narrower ones first: the model Narrower limits finds them privately."
)
FILE = "A table, or a zip of texts"
NOTHING_READ = "Read so far: nothing."
ONE_TEXT = ("it is a single text", "pack all texts, each as a .txt file, into one .zip")
NO_ARRAY = ("it has no array X", "save the rows as an array with that name")


def file_kinds(largest: int) -> str:
    """Which files are taken, up to so many MB, and what to do with a larger one."""
    return (
        "CSV, TSV (also .gz), Parquet, NumPy (.npz) or a zip of .txt files, up to "
        f"{largest} MB. If a table is larger, compress it (.csv.gz), write it as Parquet, or use "
        "the command line (dpcore fit), which reads large files in blocks."
    )


def file_status(file: str, *, packed: bool, locked: bool) -> str:
    """Where the file is, and what of it was looked at before its limits are in use."""
    if packed:
        looked_at = (
            "nothing. Give a public list of words, the vocabulary: only its words are counted."
        )
    elif locked:
        looked_at = "the header, and nothing else."
    else:
        looked_at = (
            "the header, the number of rows, and the cell formats. The roles, marks, symbols and "
            "dates proposed below come from your private rows: confirm only what your codebook "
            "also says."
        )
    return (
        f"{file} is held in this machine's memory; nothing has left it. Looked at so far: "
        f"{looked_at}"
    )


# A schema file in place of the form.
SCHEMA_FILE = "Limits from a schema file (.toml), or entered below"
SCHEMA_FILE_HELP = (
    "It can hold more settings than this form, but neither the list of words nor the number of "
    "rows: see “The schema file” on Learn."
)
NOT_UTF8 = ("it is not UTF-8 text", "save it as UTF-8")


def keep_schema_file(file: str) -> str:
    """The box that keeps the limits of a schema file in use."""
    return f"Use the limits of {file}"


def schema_file_sets(
    file: str, unit: str, rows: int, person: str | None, *, equal: bool = False
) -> str:
    """What a schema file sets. person: the column that says whose a row is. equal: all persons have
    the same weight."""
    has = f"with at most {rows:,} row{'s' if rows > 1 else ''}"
    if person is not None:
        verb = "counts" if rows == 1 else "count"
        has = f"identified by the column {person}; at most {rows:,} of that {unit}'s rows {verb}"
    if equal:
        has += f", and each {unit} has the same weight"
    return (
        f"{file} sets limits, units and what each row is about: one {unit}, {has}. To change "
        "these settings, change the file."
    )


# How the file is written.
GROUPS_OF_DIGITS = "Between groups of three digits"
MISSING_MARKS = "Marks for missing cells, besides NA and empty cells"
MISSING_MARKS_HELP = (
    "Separated by commas, for example: -, n. a., -9. N/A, NaN, nan, null, None and ? always count "
    "as missing."
)


def separated_by(mark: str) -> str:
    """What stands between columns, as in "a comma"."""
    return (
        f"Columns are separated by {mark}, as in the header line. A table "
        "with a cell that does not match these settings is refused; nothing is guessed."
    )


# The form, a line for each column.
LABELS = {
    "column": "Column",
    "use": "Use as",
    "preset": "Preset",
    "lower": "Lower limit",
    "upper": "Upper limit",
    "values": "Public values",
    "symbols": "Symbols next to numbers",
    "dates": "Dates as",
    "unit": "Unit",
    "missing": "If missing, use",
}
HELP = {
    "use": "Feature: numbers or dates to fit. Category: one of the public values. Label: the class "
    "of a row. Target: what a regression explains. Text: one document per row, for topics. Person "
    "id: whose row it is.",
    "lower": "For a column of dates, write a date, such as 1990-01-01.",
    "values": "For a category, a label or a two-valued target (the second value means yes): every "
    "value, separated by commas.",
    "symbols": "A currency, a percent sign or a unit next to a number; it is ignored.",
    "missing": "If this box is empty: the middle of the limits.",
}
NO_FEATURE = (
    "no column is a feature, a category or text",
    "use at least one as one of these, or give a schema file",
)
SEVERAL_PERSON_IDS = (
    "each is used as the person id",
    "choose the one that states whose row it is",
)
VALUES_MISSING = (
    "public values are missing",
    "list every value that a cell can have, from your codebook, or ignore the column",
)
VALUES_UNREAD = (
    "a feature has limits, not public values",
    "use a column with public values as a category, or clear the values",
)

FILL_UNREAD = (
    "a missing cell of a column with public values counts as none of them, or as the first of two "
    "that a target can have",
    "clear “If missing, use”",
)


def limits_missing(columns: int) -> tuple[str, str]:
    """Problem and remedy of so many columns."""
    return (
        "a limit is missing" if columns == 1 else "limits are missing",
        "enter a lower and an upper limit that you could print before seeing the data, or ignore "
        "the column",
    )


def two_readings(text: str, thousands: str, decimal: str) -> tuple[str, str]:
    """Problem and remedy of a limit with one comma, and both of its readings."""
    return (
        f"{text!r} can be read in two ways",
        f"write {thousands} for thousands, or {decimal} for a decimal",
    )


def no_limit(text: str, *, dates: bool) -> tuple[str, str]:
    """Problem and remedy of what is no number, or no day where days stand."""
    example = "a day such as 1990-01-01" if dates else "a number such as 0.5"
    return f"{text!r} is not {example}", f"write the limit as {example}"


# Words in which documents are counted.
WORDS = "A public list of words (.txt, one per line)"
WORDS_HELP = (
    "Other words are left out. A list made from these texts would reveal some of their words."
)
NO_WORDS = (
    "no public list of words was given",
    "upload one above, with one word per line, or use the columns as something else",
)


# What is left out.
def text_left_out(columns: str) -> str:
    """Names of columns of text, separated by commas."""
    return (
        f"Left out because their cells are neither numbers nor dates: {columns}. To use one as a "
        "category, a label or a target, list its possible values from your codebook; to fit topics "
        "to one, use it as text; to limit the rows of each person by one, use it as person id."
    )


def empty_left_out(columns: str) -> str:
    """Names of columns without any cell, separated by commas."""
    return f"Left out because every cell is missing: {columns}."


# Whose the rows are, and how many there are.
ROWS_GUESS = "About how many rows? A public guess, used for planning"


def unit_of(thing: str) -> str:
    """What one row or one document is about."""
    return f"Each {thing} is {'about' if thing == 'row' else 'by'} one…"


def things_per_person(thing: str) -> str:
    """How many rows or documents a person has."""
    return f"How many {thing}s can one person have?"


def equal_weight(unit: str) -> str:
    """The box that weighs persons alike."""
    return f"Each {unit} has the same weight"


EQUAL_WEIGHT_HELP = (
    "Whoever has fewer rows counts as much as others. The noise is then as small as with one row "
    "for each, and the fit describes persons instead of rows."
)

# Once the limits are in use.
CHANGE = "Change the limits or the file"
LOCKED = "This server is locked: plans use stand-in rows; only a release uses the real ones."
ROWS_READ = (
    "All rows have been read; nothing has left this machine. These pictures are not private."
)
STAND_IN_DOCUMENTS = (
    "Planning on stand-in documents drawn from your words, as many as the file has."
)
STAND_IN_ROWS = (
    "Planning on stand-in rows drawn from your limits, as many as a fit of the table reads."
)
SHOW_EXACT = "I am the custodian: show the exact fit"

# On pages that need a table, without any.
TABLE_FIRST = "Open a table and its limits on Explore first."
