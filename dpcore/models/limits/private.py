"""Private limits: histograms of all columns, each between what the one before it leaves.

A steward who has to state limits without looking states them generously, and noise grows with them.
Four releases of equal noise narrow them; each makes a column's limits at least four times narrower
where its numbers fill little of them. All later fits may use what is released as public limits, and
pay for themselves alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dpcore.accounting.published import PublishedBudget
from dpcore.arrays import Array
from dpcore.fitting.recipe import Recipe, Runs
from dpcore.models.limits import mathematics as narrow
from dpcore.models.limits.parameters import Limits, LimitsParameters
from dpcore.options import Settings
from dpcore.privacy import Event, Gaussian, Guarantee
from dpcore.schema import Schema
from dpcore.wall.data import NumberRows
from dpcore.wall.session import Noise, Session
from dpcore.wall.statistics import ColumnBins

STEPS = 4
MISSING = "a missing cell is not counted"


class LimitsRecipe(Recipe):
    """Narrower limits of all columns of numbers; see the module."""

    options = Settings
    in_own_units = LimitsParameters.from_units
    opens = NumberRows

    def events(self, settings: Settings) -> tuple[Event, ...]:
        return (Event(Gaussian(1.0), count=STEPS),)

    def assumptions(
        self, settings: Settings, guarantee: Guarantee, schema: Schema
    ) -> tuple[str, ...]:
        """The usual lines, but for cells that are missing."""
        lines = guarantee.assumptions
        return tuple(MISSING if line.startswith("a missing cell") else line for line in lines)

    def takes_persons(self, settings: Settings) -> bool:
        return True

    def fit(
        self,
        session: Session[NumberRows],
        settings: Settings,
        noise: Array,
        published: PublishedBudget | None,
    ) -> Runs[Limits]:
        columns, public = session.source.numbers, session.public
        lower = np.full((session.runs, len(columns)), -1.0)
        upper, share = -lower, np.zeros(lower.shape)
        bins, history, outside = ColumnBins(columns, narrow.BINS + 1), list[Limits](), list[Array]()
        for step in range(1, STEPS + 1):
            between = narrow.edges(lower, upper)
            what = f"step {step}: how many numbers lie where"
            counts, sd = session.release(what, bins, between, Noise("gaussian", noise))
            share = narrow.noise_share(counts, sd)
            if step > 1:
                outside.append(narrow.shares_outside(counts))
            lower, upper = narrow.narrowed(lower, upper, counts, sd)
            ends = narrow.widened(lower, upper, share)
            if outside:
                ends = narrow.put_back(*ends, np.array(outside), share)
            at = list(columns)
            ends = narrow.rounded(*ends, public.center[at], public.half_range[at])
            cut = narrow.outside_at_most(*ends, between, counts, sd)
            whole = np.zeros((3, session.runs, public.dim))
            whole[0], whole[1] = -1.0, 1.0  # of columns that hold no numbers
            whole[:, :, at] = (*ends, cut)
            history.append(Limits(*whole))
        return Runs(history[-1], tuple(history))


RECIPE: Any = LimitsRecipe()
