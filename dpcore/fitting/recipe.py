"""A recipe: how one model is fitted, as published and as proved, and what comes out in own units.

A model's declaration names its :class:`Recipe`; budgets, noise plans, grids, ledgers, guarantees
and results are the same for all.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar, overload

import numpy as np

from dpcore.arrays import Array
from dpcore.declaration import declaration
from dpcore.errors import InputError
from dpcore.options import Settings
from dpcore.privacy import Event, Gaussian, Guarantee, Ledger, Privacy
from dpcore.registry import MODELS
from dpcore.schema import Schema
from dpcore.wall.data import FeatureRows, PublicFrame
from dpcore.wall.session import Session

if TYPE_CHECKING:
    import pandas as pd

    from dpcore.accounting.published import PublishedBudget
    from dpcore.fitting.distances import Distances

Batch = TypeVar("Batch")

# In the name of what leaves, where a person has several rows and the method minds.
SEVERAL = ", several of one person"
NO_ROWS = (
    "this model does not describe how rows are distributed",
    "choose a model that does, such as gmm",
)


@dataclass(frozen=True, repr=False)
class Later(Sequence[Batch]):
    """Things that are worked out when they are asked for: few who fit look at every iteration.

    >>> steps = Later((lambda: 1, lambda: 2))
    >>> steps[-1], steps
    (2, <2 steps>)
    """

    makers: tuple[Callable[[], Batch], ...]

    def __len__(self) -> int:
        return len(self.makers)

    def __repr__(self) -> str:  # their makers hold whole grids, which take megabytes to print
        return f"<{len(self)} steps>"

    @overload
    def __getitem__(self, at: int) -> Batch: ...

    @overload
    def __getitem__(self, at: slice) -> Later[Batch]: ...

    def __getitem__(self, at: int | slice) -> Batch | Later[Batch]:
        return Later(self.makers[at]) if isinstance(at, slice) else self.makers[at]()


@dataclass(frozen=True)
class Runs(Generic[Batch]):
    """Fits of B runs in public unit coordinates, with every iteration's parameters.

    clipping: by what each step of the first run clips rows, in the model's own terms: a frame where
    rows themselves are clipped, else what their vectors are made with. Public or released.
    distances: of all rows from their mean, where the fit has released them.
    """

    final: Batch
    history: Sequence[Batch]
    clipping: Sequence[Any] = ()
    distances: Distances | None = None


class Parameters(Protocol):
    """One fit's parameters in the data's own units.

    Those of a model that describes how rows are distributed also have ``sample(count, rng)``, which
    gives synthetic rows as a table.
    """

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the fitted columns."""

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""

    def in_units(self, public: PublicFrame) -> Any:
        """The same as a batch of one in public unit coordinates."""


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

    def draw(self, count: int, rng: np.random.Generator) -> Array:
        """Synthetic rows ``(count, d)``. Every model's own; raises InputError here."""
        raise InputError("sample", *NO_ROWS)

    def sample(self, count: int, rng: np.random.Generator) -> pd.DataFrame:
        """The same as a table has them."""
        import pandas as pd

        return pd.DataFrame(self.draw(count, rng), columns=list(self.columns))


@dataclass(frozen=True)
class Printed:
    """What a paper says of its method: where, and why that is or is not so here.

    pure: it claims its epsilon with a delta of 0. unless: what to say only where it does not hold.
    """

    source: str
    reasons: tuple[str, ...]
    pure: bool = False
    unless: tuple[str, ...] = ()


class Recipe:
    """How one model is fitted; what its declaration names.

    options: the dataclass of its settings. in_own_units: makes the parameters in own units, from a
    batch, the run and the public frame. opens: the source of its session, a kind of rows. clip:
    the usual share of the public radius. sampled: its steps may read secret samples of the rows
    (:mod:`dpcore.fitting.minibatch`), so what they cost depends on :meth:`sized`.
    """

    options: type[Settings]
    in_own_units: Callable[..., Parameters]
    opens: Callable[..., Any] = FeatureRows
    clip: float = 1.0
    sampled: bool = False

    def settings(self, **words: Any) -> Any:
        """Settings from plain words. Raises InputError for words that cannot be."""
        return self.options.parse(**words)

    def session(self, settings: Any, table: Any, **words: Any) -> Session[Any]:
        """The session for the model's kind of table; words as :class:`Session` takes them."""
        return Session(table, self.opens, **words)

    def sized(self, settings: Any, rows: int | None, adjacency: str) -> Any:
        """The settings with their steps worked out; rows: how many, where that is public."""
        return settings

    def events(self, settings: Any) -> tuple[Event, ...]:
        """Releases of one proved fit at total noise multiplier 1; scaling them prices any budget.

        The last is the one that is repeated.
        """
        raise NotImplementedError

    def fit(
        self, session: Any, settings: Any, noise: Array, published: PublishedBudget | None
    ) -> Runs[Any]:
        """Fit all runs of the session.

        noise ``(B,)``: factor on :meth:`events`, in proved mode; 0 without privacy. published:
        arrays ``(B,)``, in paper mode with privacy.
        """
        raise NotImplementedError

    def parameters(self, batch: Any, run: int, public: Any) -> Parameters:
        """One run of a batch in public unit coordinates, put in own units."""
        return self.in_own_units(batch, run, public)

    def published(
        self, requests: Sequence[Privacy], settings: Any, delta_each: float | None
    ) -> PublishedBudget:
        """The paper's noise for each request, arrays ``(budgets,)``; InputError where it has none.

        ``noise_multiplier`` says how much noise there is, whatever its law.
        """
        raise InputError("mode", "no paper describes a private fit of this model", "choose proved")

    def printed(self, request: Privacy, settings: Any) -> Printed | None:
        """What the paper claims for a request in paper mode; ``None`` where it claims nothing."""
        return None

    def accountants(self, settings: Any) -> tuple[str, ...]:
        """The only accountants that count what it releases; empty: any."""
        return ()

    def main(self, events: tuple[Event, ...]) -> Event:
        """The release whose noise multiplier a request may state."""
        return events[-1]

    def as_made(self, settings: Any, ledger: Ledger, rows_of_one: int) -> Any:
        """The settings of a fit that made these releases, where they left a choice to it; ``None``
        where another method than that of today made them. rows_of_one: the most that a person has.
        """
        return settings

    def notes(self, settings: Any, schema: Schema) -> tuple[str, ...]:
        """What a careful reader should know of a fit with these settings and public limits."""
        return ()

    def assumptions(self, settings: Any, guarantee: Guarantee, schema: Schema) -> tuple[str, ...]:
        """What a guarantee assumes, which has the usual lines so far."""
        return guarantee.assumptions

    def takes_persons(self, settings: Any) -> bool:
        """Whether it is proved how far one person moves all that it releases, who may have several
        rows or fewer than before: each release is a statistic that ``adds_up``, and nothing is
        worked out from a number of rows that was not released
        (:mod:`dpcore.wall.data.persons`)."""
        return False

    def takes_equal_persons(self, settings: Any) -> bool:
        """The same where persons with equal weight are replaced: each release is one whose bound
        for a replaced row holds, and no random number belongs to a place in the table."""
        return self.takes_persons(settings)

    def takes_steps(self, algorithm: str | None, mode: str) -> bool:
        """Whether there are iterations to choose."""
        return "iterations" in self.options.options()


def gaussians(multipliers: Array) -> tuple[Event, ...]:
    """Gaussian releases in time, equal ones counted together; noise falls from step to step.

    >>> [event.count for event in gaussians(np.array([3.0, 3.0, 2.0]))]
    [2, 1]
    """
    amounts, counts = np.unique(multipliers, return_counts=True)
    return tuple(
        Event(Gaussian(float(amount)), count=int(count))
        for amount, count in zip(amounts[::-1], counts[::-1], strict=True)
    )


def demand_enough_rows(model: str, components: int, rows: int, things: str = "rows") -> None:
    """Raise InputError for more groups, centres or factors than rows. things: what is counted."""
    if components > rows:
        declared = declaration(model)
        raise InputError(
            f"number of {declared.parts}",
            f"there are more {declared.parts} than {things}",
            f"ask for fewer {declared.parts} or use data with more {things}",
        )


def demand_replacement(requests: Sequence[Privacy]) -> None:
    """Raise InputError unless all requests protect what the papers of these models protect."""
    if any(p.adjacency != "replace_one" for p in requests):
        raise InputError(
            "adjacency", "the paper covers only the replacement of a row", "choose replace_one"
        )


def demand_persons(how: Recipe, settings: Any, *, equal: bool) -> None:
    """Raise InputError, for a table with an id column, where nothing is proved of several rows.

    equal: persons with equal weight are replaced.
    """
    if how.takes_persons(settings) or (equal and how.takes_equal_persons(settings)):
        return
    proved = ", ".join(filter(takes_some_persons, MODELS))
    remedy = (
        f"choose one of {proved} in proved mode, or use a table with one row per person and no id "
        "column"
    )
    if how.takes_equal_persons(settings):
        remedy = (
            "write equal_weight = true in the schema's [table] and choose adjacency replace_one, "
            f"or {remedy}"
        )
    raise InputError(
        "id column",
        "no bound is proved on how much one person's rows together can change this fit",
        remedy,
    )


def takes_some_persons(model: str) -> bool:
    """Whether a table with an id column can be fitted by a model, in some mode."""
    return type(recipe(model)).takes_persons is not Recipe.takes_persons


def takes_equal_persons(model: str) -> bool:
    """Whether it can where persons have equal weight."""
    own = type(recipe(model)).takes_equal_persons
    return own is not Recipe.takes_equal_persons or takes_some_persons(model)


def row_bound(session: Session[Any]) -> float:
    """Radius of the ball that rows are clipped to; without clipping, that of the bounds."""
    return session.public.radius if math.isinf(session.radius) else session.radius


def recipe(model: str) -> Recipe:
    """The recipe of a model. Raises InputError for a name that is not registered."""
    declared = declaration(model)
    loaded: Recipe = declared.load(declared.recipe)
    return loaded
