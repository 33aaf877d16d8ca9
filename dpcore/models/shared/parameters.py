"""What parameters of models of columns share: how they leave as a record."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np


@dataclass(frozen=True)
class ColumnParameters:
    """Parameters of a fit of named columns; a subclass is a frozen dataclass of arrays.

    LIMITS: fields that say the public limits, which no record repeats.
    """

    LIMITS: ClassVar[tuple[str, ...]] = ()
    columns: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        released = (field.name for field in fields(self) if field.name not in self.LIMITS)
        values = {name: getattr(self, name) for name in released}
        return {
            name: value.tolist() if isinstance(value, np.ndarray) else list(value)
            for name, value in values.items()
        }
