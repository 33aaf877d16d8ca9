"""Adjacency: which two tables must look alike. Everything else is measured against it.

``replace_one``: one row's values are exchanged for any others; the number of rows is public.
``add_remove``: one row is present or absent; the number of rows is private.
``label``: one row's label is exchanged; features are public.
``feature``: one row's features are exchanged; labels are public.
"""

from __future__ import annotations

ADJACENCIES = ("replace_one", "add_remove", "label", "feature")

_WORDS = {
    "replace_one": "replacing one {unit}'s {thing}",
    "add_remove": "adding or removing one {unit}'s {thing}",
    "label": "replacing one {unit}'s label",
    "feature": "replacing one {unit}'s features",
}
_OF_SEVERAL = {
    "replace_one": "replacing one {unit}'s {rows} {thing}s",
    "add_remove": "adding or removing one {unit}'s {rows} {thing}s",
    "label": "replacing the labels of one {unit}'s {rows} rows",
    "feature": "replacing the features of one {unit}'s {rows} rows",
}


_WITH_ID = {
    "replace_one": "replacing one {unit}, of whose rows at most {rows} {count}",
    "add_remove": "adding or removing one {unit}, of whose rows at most {rows} {count}",
}


def protects(
    adjacency: str,
    unit: str = "person",
    rows_per_person: int = 1,
    thing: str = "row",
    *,
    limited: bool = False,
) -> str:
    """The protected change in plain words. thing: what a unit has, rows of a table or documents.
    limited: an id column says whose a row is, and rows beyond the limit do not count.

    >>> protects("replace_one")
    "replacing one person's row"
    >>> protects("add_remove", "household", 3)
    "adding or removing one household's 3 rows"
    >>> protects("replace_one", "borrower", 3)
    "replacing one borrower's 3 rows"
    >>> protects("label", "patient", 2)
    "replacing the labels of one patient's 2 rows"
    >>> protects("replace_one", "author", thing="document")
    "replacing one author's document"
    >>> protects("replace_one", "patient", 2, limited=True)
    'replacing one patient, of whose rows at most 2 count'
    """
    if limited and adjacency in _WITH_ID:
        verb = "counts" if rows_per_person == 1 else "count"
        return _WITH_ID[adjacency].format(unit=unit, rows=rows_per_person, count=verb)
    words = _WORDS if rows_per_person == 1 else _OF_SEVERAL
    return words[adjacency].format(unit=unit, rows=rows_per_person, thing=thing)
