"""A way of fitting that is one curve of a figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dpcore.fitting.api import Grid, fit_grid
from dpcore.privacy import Privacy
from dpcore.wall.table import PrivateTable


@dataclass(frozen=True)
class Way:
    """One curve: how its fits are asked for, and their options.

    privacy: words of ``Privacy`` beside the budget; ``None`` for fits without privacy.
    """

    name: str
    privacy: Mapping[str, Any] | None = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)

    def fit(
        self,
        model: str,
        table: PrivateTable,
        epsilons: Sequence[float | None],
        delta: float,
        *,
        draws: range = range(1),
        seed: int = 0,
        **options: Any,
    ) -> Grid:
        """Fits at all budgets with all draws; a single one without privacy."""
        words = {**options, **self.options}
        if self.privacy is None:
            return fit_grid(model, table, privacy=None, **words)
        requests = [Privacy(**{"epsilon": e, "delta": delta, **self.privacy}) for e in epsilons]
        return fit_grid(model, table, privacy=requests, draws=draws, seed=seed, **words)
