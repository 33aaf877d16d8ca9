"""Sources: what a session holds of a sealed table, ready to be summed, and public facts about it.

One class for each way to read a table. Fields without an underscore are public facts; everything
with one is rows, for the wall alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dpcore.errors import InputError
from dpcore.wall.data.clipping import PublicFrame, bounded_rows, clip_to_ball, demand_bounds
from dpcore.wall.data.corpus import PrivateCorpus, Vocabulary
from dpcore.wall.data.design_matrix import Design, outcomes_of
from dpcore.wall.data.labels import class_names, label_codes
from dpcore.wall.data.partitions import PartedRows, PartedTable
from dpcore.wall.data.regression_target import bounded_target
from dpcore.wall.kernels.bounded_sums import Rows
from dpcore.wall.noise import NoiseSource, PublicCoins
from dpcore.wall.table import PrivateTable

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

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
        return self.noise is not None

    @property
    def filled(self) -> bool:
        """Whether cells that the bounds do not allow are filled or clipped, and not refused."""
        return self.private or self.as_private

    def demand_whole(
        self, table: PrivateTable | PrivateCorpus, things: str, each: str, *, moving: bool = False
    ) -> None:
        """Refuse to release a part that was chosen by places, where places move (``moving``: under
        any adjacency)."""
        lasting = self.noise is not None and not self.noise.rehearsal
        if lasting and (moving or self.adjacency == "add_remove") and table.is_part:
            raise InputError(
                "test_fraction",
                f"the choice of {things} in this part would change with every {each} added or "
                "removed",
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
    """Rows of numbers in public unit coordinates, clipped; in memory or in parts."""

    def __init__(self, table: PrivateTable, opening: Opening) -> None:
        opening.demand_whole(table, "rows", "row")
        clip, private = opening.clip, opening.private
        if isinstance(table, PartedTable):
            self.public = PublicFrame.of(demand_bounds(table))
            self.radius = _clipping_radius(clip, self.public, private=private)
            self._rows: Rows | PartedRows = table.opened(
                self.public, self.radius, private=opening.filled
            )
        else:
            self.public, units = bounded_rows(table, private=opening.filled)
            self.radius = _clipping_radius(clip, self.public, private=private)
            self._rows = Rows(clip_to_ball(units, self.radius), self.radius)

    @property
    def _count(self) -> int:
        return self._rows.count


class LabelledRows(FeatureRows):
    """The same with a class each. classes: the public names."""

    def __init__(self, table: PrivateTable, opening: Opening) -> None:
        super().__init__(table, opening)
        assert table.schema is not None  # rows without public bounds were refused
        self.classes = class_names(table.schema)
        self._codes = label_codes(table, private=opening.filled)
        self._codes.flags.writeable = False

    @property
    def components(self) -> int:
        """How many classes there are."""
        return len(self.classes)


class LogisticRows(FeatureRows):
    """Rows in the design of a yes-or-no regression, with their outcomes.

    design: the public map. reach: public radius of the ball of x (that of the bounds where nothing
    is clipped).
    """

    def __init__(self, table: PrivateTable, opening: Opening) -> None:
        super().__init__(table, opening)
        self._outcomes = outcomes_of(table, private=opening.filled)
        _, units = bounded_rows(table, private=opening.filled)
        assert table.schema is not None  # rows without public bounds were refused
        self.design = Design.of(table.schema)
        self._designed = self.design.rows(units, opening.clip * self.design.radius)
        self.reach = self.design.reach(min(opening.clip, 1.0))

    @property
    def bound(self) -> float:
        """Radius that a statistic must cover: infinite where nothing is clipped."""
        return math.inf if math.isinf(self.radius) else self.reach


class BinaryRows:
    """Rows of yes and no: a number above a public place in its bounds is on.

    threshold: that place as a share of the way from the lower to the upper bound. share: of the
    largest norm of a row's statistics, to clip at; nothing is done to the rows themselves.
    """

    def __init__(self, table: PrivateTable, opening: Opening, *, threshold: float = 0.5) -> None:
        if not 0.0 <= threshold < 1.0:
            raise InputError("threshold", "it is not in [0, 1)", "give a share of the bounds")
        clip = opening.clip
        own = Opening(
            opening.noise,
            opening.adjacency,
            clip if math.isinf(clip) else 1.0,
            opening.as_private,
        )
        rows = FeatureRows(table, own)
        self.public, self.radius = rows.public, rows.radius
        self.share = 1.0 if math.isinf(clip) else a_share(clip, "the largest norm")
        if self.public.is_ball:
            raise InputError(
                "ball", "pixels have no bounds of their own", "give each column lower and upper"
            )
        self._on = rows._rows.units > 2.0 * threshold - 1.0

    @property
    def visible(self) -> int:
        """How many pixels a row has."""
        return self.public.dim

    @property
    def _count(self) -> int:
        return len(self._on)


class MaskedRows(FeatureRows):
    """Rows with a target, and a mask of the numbers that are there.

    target: the rows have one. masked: a missing number is the model's business, unless its column
    has a public fill of its own; elsewhere missing cells are filled.
    """

    def __init__(
        self, table: PrivateTable, opening: Opening, *, target: bool = False, masked: bool = False
    ) -> None:
        filled = opening.as_private or masked
        super().__init__(
            table, Opening(opening.noise, opening.adjacency, opening.clip, as_private=filled)
        )
        self.target: PublicFrame | None = None
        self._targets: Array | None = None
        self._observed: Mask | None = _observed(table, self.public) if masked else None
        if target:
            self.target, self._targets = bounded_target(table, private=opening.filled)
        self._sight: tuple[tuple[bool, float], Any] | None = None


class Documents:
    """Documents of one corpus. length: how many words each stands for; ``None``: as many as it has.

    clip: radius of the ball that a document is drawn into, as a share of the length; without
    privacy (unless ``as_private``) a document stands for as many words as it has. resample: a
    document becomes so many words drawn from it, as published, and is not just scaled.
    """

    def __init__(
        self, corpus: PrivateCorpus, opening: Opening, *, length: int = 500, resample: bool = False
    ) -> None:
        if opening.adjacency not in ("replace_one", "add_remove"):
            raise InputError(
                "adjacency", "documents have no labels", "choose replace_one or add_remove"
            )
        opening.demand_whole(corpus, "documents", "one")
        self.public: Vocabulary = corpus.schema
        self.length = length if opening.filled else None
        unclipped = math.isinf(opening.clip) and not opening.private
        self.radius = math.inf
        if not unclipped:
            self.radius = length * a_share(opening.clip, "a document's length")
        self._bags = corpus._bags
        if resample:
            coins = PublicCoins(0) if opening.noise is None else opening.noise.coins[0]
            self._bags = self._bags.resampled(length, coins)

    @property
    def _count(self) -> int:
        return self._bags.count


Opens = Callable[..., Any]


def a_share(clip: float, whole: str) -> float:
    """A share above 0 of something public to clip at; InputError for another."""
    if LEAST_SHARE <= clip <= 1.0:
        return clip
    near = 0.0 < clip < LEAST_SHARE
    found = "too near 0 to compute with" if near else "not above 0 and at most 1"
    raise InputError("clip", f"{clip} is {found}", f"give a share of {whole}")


def _clipping_radius(clip: float, public: PublicFrame, *, private: bool) -> float:
    if math.isinf(clip) and not private:
        return math.inf
    return public.radius * a_share(clip, "the bounds")


def _observed(table: PrivateTable, public: PublicFrame) -> Mask:
    """Which numbers ``(d, n)`` are there. One whose column has a public fill counts as there."""
    assert table.schema is not None  # bounded_rows refused a table without one
    found = []
    for column in table.schema.numeric_columns():
        described = table.schema.column(column.source)
        cells = table._frame[column.source]
        if column.category is not None or isinstance(described.missing, float):
            found.append(np.ones(len(cells), dtype=bool))
        else:
            found.append(np.isfinite(table.schema.numbers(column.source, cells)))
    return np.array(found).reshape(public.dim, -1)
