"""Sources: what a session holds of a sealed table, ready to be summed, and public facts about it.

One class for each way to read a table; those with labels, targets, outcomes or documents stand
with them. Fields without an underscore are public facts; everything
with one is rows, for the wall alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, cast

import numpy as np

from dpcore.errors import InputError
from dpcore.wall.data.clipping import PublicFrame, bounded_rows, clip_to_ball, demand_bounds
from dpcore.wall.kernels.bounded_sums import Rows
from dpcore.wall.noise import NoiseSource
from dpcore.wall.table import PrivateTable, Sealed

if TYPE_CHECKING:
    from dpcore.wall.data.partitions import PartedRows, PartedTable


LEAST_SHARE = 1e-12  # of the bounds, to clip at: below it squares of rows may vanish


@dataclass(frozen=True)
class Opening:
    """How a table is opened: for which noise (``None``: no privacy), adjacency and clipping.

    clip: radius of the clipping ball as a share of the radius that the bounds allow (infinite: no
    clipping, only without noise). as_private: without noise, fill cells as privacy would instead
    of refusing them.
    """

    noise: NoiseSource | None
    adjacency: str
    clip: float = 1.0
    as_private: bool = False

    @property
    def private(self) -> bool:
        """Whether what leaves gets noise."""
        return self.noise is not None

    @property
    def filled(self) -> bool:
        """Whether cells that the bounds do not allow are filled or clipped, and not refused."""
        return self.private or self.as_private

    def demand_whole(
        self, table: Sealed, things: str, singular: str, *, moving: bool = False
    ) -> None:
        """Refuse to release a part that was chosen by places, where places move (``moving``: under
        any adjacency). Raises InputError."""
        lasting = self.noise is not None and not self.noise.rehearsal
        if lasting and (moving or self.adjacency == "add_remove") and table.is_part:
            raise InputError(
                "test_fraction",
                f"which {things} are held out would change with every {singular} added or removed",
                f"fit all {things}, or give a seed for a rehearsal",
            )


class Source(Protocol):
    """What every session holds: public coordinates, the clipping radius, and how many rows."""

    @property
    def public(self) -> Any:
        """The schema's public coordinates, or the vocabulary."""

    @property
    def radius(self) -> float:
        """Radius of the clipping ball; infinite where nothing is clipped."""

    @property
    def _count(self) -> int:
        """Number of rows, public or not: for the wall alone."""


class FeatureRows:
    """Rows of numbers in public unit coordinates, clipped; in memory or in parts.

    takes_persons: it is proved how far all rows of one person move a sum over this source
    (:mod:`dpcore.wall.data.persons`); a subclass does not inherit it. columns: those in memory lie
    column after column, unless they are drawn into a ball
    (:func:`~dpcore.wall.data.clipping.unit_rows`).
    """

    takes_persons: ClassVar[bool] = True

    def __init__(self, table: PrivateTable, opening: Opening, *, columns: bool = False) -> None:
        opening.demand_whole(table, "rows", "row")
        clip, private = opening.clip, opening.private
        if table.parted:
            self.public = PublicFrame.of(demand_bounds(table))
            self.radius = _clipping_radius(clip, self.public, private=private)
            self._rows: Rows | PartedRows = cast("PartedTable", table).opened(
                self.public, self.radius, private=opening.filled
            )
        else:
            self.public, units = bounded_rows(
                table, private=opening.filled, columns=columns and clip >= 1.0
            )
            self.radius = _clipping_radius(clip, self.public, private=private)
            self._rows = Rows(clip_to_ball(units, self.radius), self.radius)

    @property
    def _count(self) -> int:
        return self._rows.count


class BinaryRows(FeatureRows):
    """Rows of yes and no: a number above a public place in its bounds is on, 1 in unit coordinates,
    and another off, -1.

    threshold: that place as a share of the way from the lower to the upper bound. share: of the
    largest norm of a row's statistics, to clip at; nothing is done to the rows themselves.
    """

    def __init__(self, table: PrivateTable, opening: Opening, *, threshold: float = 0.5) -> None:
        if not 0.0 <= threshold < 1.0:
            raise InputError("threshold", "it is not in [0, 1)", "give a share of the range")
        clip = opening.clip
        super().__init__(table, replace(opening, clip=clip if math.isinf(clip) else 1.0))
        self.share = 1.0 if math.isinf(clip) else a_share(clip, "the largest norm")
        if self.public.is_ball:
            raise InputError(
                "ball", "it gives no column limits of its own", "give columns lower and upper"
            )
        self._on = self._rows.units > 2.0 * threshold - 1.0
        self._rows = Rows(np.where(self._on, 1.0, -1.0), self.radius)

    @property
    def visible(self) -> int:
        """How many pixels a row has."""
        return self.public.dim


Opens = Callable[..., Any]


def a_share(clip: float, whole: str) -> float:
    """A share above 0 of something public to clip at; InputError for another."""
    if LEAST_SHARE <= clip <= 1.0:
        return clip
    near = 0.0 < clip < LEAST_SHARE
    problem = "too near 0 to compute with" if near else "not a share between 0 and 1"
    raise InputError("clip", f"{clip} is {problem}", f"give a share of {whole}")


def _clipping_radius(clip: float, public: PublicFrame, *, private: bool) -> float:
    if math.isinf(clip) and not private:
        return math.inf
    return public.radius * a_share(clip, "the bounds")
