"""The result of a fit: parameters in the data's own units, and everything that vouches for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcore.fitting.recipe import Parameters
from dpcore.privacy.guarantee import Guarantee
from dpcore.privacy.ledger import Ledger

if TYPE_CHECKING:
    import pandas as pd

    from dpcore.wall.corpus import PrivateCorpus
    from dpcore.wall.table import PrivateTable


@dataclass(frozen=True)
class Fit:
    """A fitted model with its guarantee and its ledger; everything in it may be shown with them.

    parameters: in the data's own units. history: the parameters after each iteration. seed:
    ``None`` when the noise came from the system's entropy.
    """

    model: str
    parameters: Any
    guarantee: Guarantee
    ledger: Ledger
    history: Sequence[Parameters]
    settings: dict[str, Any]
    seed: int | None

    def sample(self, count: int, seed: int = 0) -> pd.DataFrame:
        """Synthetic rows from the fitted model; free, because it reads only what was released."""
        rows: pd.DataFrame = self.parameters.sample(count, np.random.default_rng(seed))
        return rows

    def score(self, table: PrivateTable | PrivateCorpus) -> float:
        """How well the fit suits ``table``, for the custodian's eyes: more is better.

        Mean log-likelihood of a row in own units, of topics of a word; for k-means the share of the
        spread that the centres explain.
        """
        from dpcore.evaluation.yardstick import worth  # evaluation reads fits, not fits it

        return worth(self.model, self.parameters, self.settings, table)
