"""A schema file to be filled in: what a header shows, and a place for everything else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpcore.checks import listed
from dpcore.schema.columns import ROLES, TYPES
from dpcore.schema.document import toml_key, toml_value
from dpcore.schema.proposals import ColumnProposal, Proposal

PROPOSED = "proposed from private rows: remove the # to confirm"
_FROM = "# The schema of {file}, to be filled in. It was made from the header{rows}."
_TEXT = (
    '# not numbers, judging by the private rows: type = "category" with its categories, or role = '
    '"ignore"'
)
_EMPTY = '# every cell is missing, judging by the private rows: role = "ignore"'
_ROWS = (
    "\n# Lines that mention private rows were derived from those rows. Confirm only what a\n"
    "# codebook or a questionnaire also says; everything in this file is public."
)
_HEAD = """# “The schema file” in the documentation explains every key. Lines that begin with #
# are comments. Limits and categories come from outside the data: a form, a law, common sense.

[table]
unit = "person"           # whom one row is about
rows_per_person = 1       # the most rows that one person can have
# id = "..."              # the column that identifies the person of each row
"""


def template(
    file: str,
    types: Mapping[str, str],
    separator: str | None,
    proposal: Proposal | None = None,
    stated: Mapping[str, Any] | None = None,
) -> str:
    """The text of a schema file without limits.

    file: what it is for. types: of each column by its name, as far as the header shows them.
    separator: of the header line, or ``None`` for a file that has no such line. proposal: what the
    private rows look like, for lines that do not count until they are confirmed. stated: keys of
    ``[file]`` that were said beforehand, which count.
    """
    read = " and all rows" if proposal else f"{' line' if separator else ''} alone"
    file = " ".join(file.encode(errors="replace").decode().split())  # one line, in UTF-8
    lines = [_FROM.format(file=file, rows=read) + (_ROWS if proposal else ""), _HEAD]
    if separator is not None:
        lines.append(_file(separator, proposal, stated or {}))
    for number, (name, kind) in enumerate(types.items()):
        proposed = None if proposal is None else proposal.columns[name]
        lines.append(_column(name, kind, proposed, explained=number == 0))
    return "\n".join(lines)


def _file(separator: str, proposal: Proposal | None, stated: Mapping[str, Any]) -> str:
    about_separator = "" if "separator" in stated else "as in the header line"
    lines = ["[file]", _line("separator", separator, about_separator)]
    others = {key: value for key, value in stated.items() if key != "separator"}
    lines += [_line(key, value, "") for key, value in others.items()]
    if proposal is None:
        proposals: list[tuple[str, Any, str]] = [
            ("decimal", ",", "for numbers such as 0,5"),
            ("thousands", ".", "for numbers such as 1.234"),
            ("missing_marks", ("-", "n. a."), "for missing cells"),
        ]
    else:
        proposed = vars(proposal.file)
        proposals = [
            (key, proposed[key], PROPOSED)
            for key in ("decimal", "thousands", "missing_marks")
            if proposed[key] and (key, proposed[key]) != ("decimal", ".")
        ]
    lines += [
        _line(*proposal_line, counts=False)
        for proposal_line in proposals
        if proposal_line[0] not in others
    ]
    return "\n".join(lines) + "\n"


def _column(name: str, kind: str, proposal: ColumnProposal | None, *, explained: bool) -> str:
    def comment(text: str) -> str:
        return text if explained else ""

    lines = [f"[columns.{toml_key(name)}]", _line("role", "feature", comment(listed(ROLES, "or")))]
    if proposal is None or proposal.type in (kind, "text", "empty"):
        lines.append(_line("type", kind, comment(listed(TYPES, "or"))))
    if proposal is not None:
        lines += _proposed(proposal, kind)
    lines += [
        _line("lower", None, comment("limits that you could print before seeing the data")),
        _line("upper", None, ""),
    ]
    if explained:
        lines += [
            _line("unit", "years", "for people", counts=False),
            _line(
                "categories",
                ("...",),
                "for a category column: every category it can have",
                counts=False,
            ),
            _line(
                "missing",
                0,
                "what a missing cell counts as [the middle of the limits]",
                counts=False,
            ),
        ]
    return "\n".join(lines) + "\n"


def _proposed(proposal: ColumnProposal, kind: str) -> list[str]:
    """What the rows say of one column, each line to be confirmed."""
    if proposal.type == "empty":
        return [_EMPTY]
    if proposal.type == "text":
        return [] if kind == "text" else [_TEXT]
    entries = {key: value for key, value in vars(proposal).items() if value and key != "other"}
    if proposal.type == kind:
        del entries["type"]
    lines = [_line(key, value, PROPOSED, counts=False) for key, value in entries.items()]
    if proposal.other is not None:
        lines.append(f'# "{proposal.other}" fits as well, judging by the private rows')
    return lines


def _line(key: str, value: Any, about: str, *, counts: bool = True) -> str:
    """One setting and what is said of it; one without a value is to be filled in."""
    literal = "" if value is None else toml_value(value)
    line = f"{'' if counts and literal else '# '}{key} = {literal}".rstrip()
    return f"{line:<25} # {about}" if about else line
