"""Exhibits: printed claims that do not cover a case, each replayable, with the remedy beside it."""

from __future__ import annotations

from typing import Any

from dpcore.auditing.exhibits.base import Exhibit, Picture
from dpcore.checks import one_of
from dpcore.registry import EXHIBITS, load


def exhibits(name: str, **words: Any) -> Exhibit:
    """Play one by name. Raises InputError for a name that is not known.

    >>> exhibits("centred-scatter").refuted
    True
    """
    shown: Exhibit = load(EXHIBITS[one_of("name", name, tuple(EXHIBITS))])(**words)
    return shown


__all__ = ["Exhibit", "Picture", "exhibits"]
