"""A recipe: how one model is fitted, as published and as proved, and what comes out in own units.

A model joins by one file that implements :class:`Recipe` and one line in the registry; budgets,
noise plans, grids, ledgers, guarantees and results are the same for all.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from dpcore.accounting.published import PublishedBudget
from dpcore.checks import one_of
from dpcore.errors import InputError
from dpcore.privacy import Event, Gaussian, Privacy
from dpcore.registry import MODELS, load
from dpcore.wall.clip import PublicFrame
from dpcore.wall.doors import Session

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.float64]
Batch = TypeVar("Batch")


@dataclass(frozen=True)
class Later(Sequence[Batch]):
    """Things that are worked out when they are asked for: few who fit look at every iteration.

    >>> Later((lambda: 1, lambda: 2))[-1]
    2
    """

    makers: tuple[Callable[[], Batch], ...]

    def __len__(self) -> int:
        return len(self.makers)

    @overload
    def __getitem__(self, at: int) -> Batch: ...

    @overload
    def __getitem__(self, at: slice) -> Later[Batch]: ...

    def __getitem__(self, at: int | slice) -> Batch | Later[Batch]:
        return Later(self.makers[at]) if isinstance(at, slice) else self.makers[at]()


@dataclass(frozen=True)
class Runs(Generic[Batch]):
    """Fits of B runs in public unit coordinates, with every iteration's parameters."""

    final: Batch
    history: Sequence[Batch]


class Settings(Protocol):
    """Public choices of a fit; none may be read from the data.

    components: groups, centres or factors. mode: ``proved`` | ``paper``.
    """

    @property
    def components(self) -> int: ...

    @property
    def mode(self) -> str: ...


class Parameters(Protocol):
    """One fit's parameters in the data's own units."""

    @property
    def columns(self) -> tuple[str, ...]: ...

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""

    def in_units(self, public: PublicFrame) -> Any:
        """The same as a batch of one in public unit coordinates."""

    def sample(self, count: int, rng: np.random.Generator) -> pd.DataFrame:
        """Synthetic rows; free, because they read only what was released."""


@dataclass(frozen=True)
class Printed:
    """What a paper says of its method: where, and why that is or is not so here.

    pure: it claims its epsilon with a delta of 0. unless: what to say only where it does not hold.
    """

    source: str
    reasons: tuple[str, ...]
    pure: bool = False
    unless: tuple[str, ...] = ()


class Recipe(Protocol):
    """One model, as the registry names it; ``words``: the options that its settings know.

    A recipe may have more, where the usual way does not suit its model:

    - ``opens``: what its rows are opened with, a kind of session
    - ``accountants(settings)``: the only ones that count what it releases
    - ``assumed(lines, settings)``: what a guarantee takes for granted, made of the usual lines
    - ``takes_steps(algorithm, mode)``: whether there are iterations to choose
    - what :class:`~dpcore.fitting.minibatch.Minibatched` has, if its steps read samples
    """

    words: tuple[str, ...]

    def settings(self, **words: Any) -> Any:
        """Settings from plain words. Raises InputError for words that cannot be."""

    def events(self, settings: Any) -> tuple[Event, ...]:
        """Releases of one proved fit at total noise multiplier 1; scaling them prices any budget.

        The last is the one that is repeated.
        """

    def published(
        self, requests: Sequence[Privacy], settings: Any, delta_each: float | None
    ) -> PublishedBudget:
        """The paper's noise for each request, arrays ``(budgets,)``; InputError where it has none.

        ``noise_multiplier`` says how much noise there is, whatever its law.
        """

    def printed(self, request: Privacy, settings: Any) -> Printed | None:
        """What the paper claims for a request; ``None`` where it claims nothing."""

    def fit(
        self, session: Session, settings: Any, noise: Array, published: PublishedBudget | None
    ) -> Runs[Any]:
        """Fit all runs of the session.

        noise ``(B,)``: factor on :meth:`events`, in proved mode; 0 without privacy. published:
        arrays ``(B,)``, in paper mode with privacy.
        """

    def parameters(self, batch: Any, run: int, public: PublicFrame) -> Parameters:
        """One run of a batch in public unit coordinates, put in own units."""


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


PARTS = {"fa": "factors", "kmeans": "centres", "lda": "topics", "sbn": "hidden units"}


def demand_enough_rows(model: str, components: int, rows: int) -> None:
    """Raise InputError for more groups, centres or factors than rows."""
    if components > rows:
        parts = PARTS.get(model, "groups")
        raise InputError(
            "factors" if model == "fa" else "components",
            f"there are more {parts} than rows",
            f"ask for fewer {parts} or bring more rows",
        )


def demand_replacement(requests: Sequence[Privacy]) -> None:
    """Raise InputError unless all requests protect what the papers of these models protect."""
    if any(p.adjacency != "replace_one" for p in requests):
        raise InputError(
            "adjacency", "the paper protects the replacement of a row", "choose replace_one"
        )


def row_bound(session: Session) -> float:
    """Radius of the ball that rows are clipped to; without clipping, that of the bounds."""
    return session.public.radius if math.isinf(session.radius) else session.radius


def recipe(model: str) -> Recipe:
    """The recipe of a model. Raises InputError for a name that is not registered."""
    found: Recipe = load(MODELS[one_of("model", model, tuple(MODELS))])
    return found
