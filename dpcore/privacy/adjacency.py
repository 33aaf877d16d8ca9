"""Adjacency: which two tables must look alike. Everything else is measured against it.

``replace_one``: one row's values are exchanged for any others; the number of rows is public.
``add_remove``: one row is present or absent; the number of rows is private.
``label``: one row's label is exchanged; features are public.
``feature``: one row's features are exchanged; labels are public.
"""

from __future__ import annotations

ADJACENCIES = ("replace_one", "add_remove", "label", "feature")

_WORDS = {
    "replace_one": "replacing one {unit}'s row",
    "add_remove": "adding or removing one {unit}'s row",
    "label": "replacing one {unit}'s label",
    "feature": "replacing one {unit}'s features",
}


def protects(adjacency: str, unit: str = "person", rows_per_person: int = 1) -> str:
    """The protected change in plain words.

    >>> protects("replace_one")
    "replacing one person's row"
    >>> protects("add_remove", "household", 3)
    "adding or removing one household's 3 rows"
    >>> protects("replace_one", "borrower", 3)
    "replacing one borrower's 3 rows"
    """
    words = _WORDS[adjacency]
    if rows_per_person > 1:
        words = words.replace("row", f"{rows_per_person} rows", 1)
    return words.format(unit=unit)
