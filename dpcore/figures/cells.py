"""A table of texts on a card. A layer of `dpcore.figures.scene`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from dpcore.errors import InputError


@dataclass(frozen=True, eq=False)
class Cells:
    """A table of texts: heads (C,) over the columns, names (R,) beside the rows.

    labels: the texts row by row, (R C,), or (S, R C) when they move.
    """

    kind: ClassVar[str] = "cells"
    heads: tuple[str, ...]
    names: tuple[str, ...]
    labels: tuple[Any, ...]

    def __post_init__(self) -> None:
        steps = self.labels if self.labels and not isinstance(self.labels[0], str) else None
        if any(
            len(texts) != len(self.heads) * len(self.names) for texts in steps or (self.labels,)
        ):
            raise InputError("cells", "the texts do not fill the table", "give one per cell")
