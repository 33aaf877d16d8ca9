"""The exhibit door for labelled rows: what a paper prints, whose noise itself reads the rows.

Its ledger entry names no lemma, so nothing is ever proved of it, and it is refused for rows that
are not open to all unless the noise is a rehearsal's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dpcore.arrays import Array, Indices
from dpcore.errors import InputError
from dpcore.privacy.ledger import LedgerEntry
from dpcore.wall.data.labels import LabelledRows
from dpcore.wall.session import Noise, Session
from dpcore.wall.statistics.statistic import Part, Sensitivity, Statistic


@dataclass(frozen=True)
class _Standard(Statistic):
    """Standard normal numbers in the shape of a statistic; it has no sensitivity to speak of."""

    dim: int

    lemma: Any = None
    components: int = 1

    @cached_property
    def parts(self) -> dict[str, Part]:
        return {"sums": Part(self.dim, 1.0)}

    def sensitivity(self, adjacency: str) -> Sensitivity:
        return Sensitivity(1.0, {"sums": (1.0, None)})

    def l2_sensitivity(self, adjacency: str, block: str | None = None) -> float:
        return 1.0


def exhibit_labelled(
    session: Session[LabelledRows],
    what: str,
    mechanism: Callable[[Array, Indices, Array], tuple[Array, ...]],
    draws: int,
) -> tuple[Array, ...]:
    """Run a mechanism on rows ``(n, d)`` in own units, their classes ``(n,)`` and standard normal
    numbers ``(B, draws)``; returns what it returns.

    **Guarantee:** none for such a ledger. Raises InputError on rows that are not open to all,
    unless the noise is a rehearsal's.
    """
    noise = session._noise
    if noise is None:
        raise InputError("privacy", "a method as published needs noise", "choose the proved mode")
    if not (noise.rehearsal or session._open):
        raise InputError(
            "method",
            "as published, its noise depends on the rows themselves",
            "choose a proved method, or give a seed for a rehearsal",
        )
    session._entries.append(
        LedgerEntry(
            what=f"{what}: its design uses the exact rows",
            noise="none",
            noise_scale=np.zeros(session.runs),
            sensitivity=1.0,
            adjacency=session.adjacency,
            proof=None,
        )
    )
    numbers = np.zeros((session.runs, 1, draws))
    session._release(what, numbers, _Standard(draws), (Noise("gaussian", 1.0),))
    public = session.public
    rows = public.center + public.half_range * session._features.units
    return mechanism(rows, session.source._codes.copy(), numbers[:, 0] / session.rows_per_person)
