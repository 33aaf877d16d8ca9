"""A yardstick: how fits of one model are judged, lined up with the exact fit, and spoken of.

A model joins the studies by one file that implements :class:`Yardstick` and one line in the
registry.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from inspect import signature
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from dpcore.checks import one_of
from dpcore.registry import YARDSTICKS, load
from dpcore.wall.clip import PublicFrame
from dpcore.wall.corpus import PrivateCorpus
from dpcore.wall.custodian import custodian_rows
from dpcore.wall.custodian_documents import custodian_documents
from dpcore.wall.table import PrivateTable

Array = NDArray[np.float64]
Batch = TypeVar("Batch")

SCORED_ROWS = 2000  # rows on which utility is averaged, a public random choice


@dataclass(frozen=True)
class Scorer:
    """Some exact rows ``(n, d)`` in public unit coordinates, to score fits on; of a corpus, bags of
    words and their vocabulary."""

    public: PublicFrame
    rows: Any

    @classmethod
    def of(cls, table: PrivateTable | PrivateCorpus, most: int | None = SCORED_ROWS) -> Scorer:
        """At most so many rows, by a fixed coin; ``None``: all of them."""
        if isinstance(table, PrivateCorpus):
            return cls(*custodian_documents(table, most))
        public, rows = custodian_rows(table)
        return cls(public, rows[chosen(len(rows), most)])


def chosen(count: int, most: int | None) -> NDArray[np.intp] | slice:
    """Positions of at most so many of ``count`` rows, by a fixed coin; ``None``: all of them."""
    if most is None or count <= most:
        return slice(None)
    return np.random.default_rng(0).choice(count, most, replace=False)


@dataclass(frozen=True)
class Wording:
    """How a screen speaks of a model.

    part, parts: what it has K of. simplest: the simplest rival, with its article.
    utility: the axis of what a fit is worth; ``{unit}`` is who one row is about. worth: the same in
    a sentence.
    """

    part: str
    parts: str
    simplest: str
    utility: str
    worth: str


class Yardstick(Protocol):
    """Batches hold arrays with a leading axis of runs, in public unit coordinates.

    simplest: how many parts the simplest rival has, which is fitted with the same budget. alike:
    the share of what the exact fit adds to it above which a fit is as good as exact. metrics: what
    :meth:`measure` knows, the usual one first.

    A yardstick may have more, where the usual way does not suit its model:

    - ``scorer(table, [options,] most)``: the rows to score on, with what else the model reads
    - ``shown(table)``: exact rows ``(n, p)`` in own units, one column for each of ``public`` of its
      scorer, to draw behind the fits
    - ``unbounded(options)``: options of the same steps with nothing bounded but the rows
    - ``clipped_share(table, options)``: share of the rows whose contribution clipping would move
    - ``moved_share(best, scorer, clip)``: the same, where it depends on the fit: at the best one
    - ``silent(reference)``: the simplest rival, a batch of one, where it is one that knows nothing,
      costs nothing and so is not fitted
    - ``rival_words``: the options that the simplest rival of a sweep shares with the fit
    - ``rival_options``: options that make a fit the simplest rival, besides its number of parts
    - ``noiseless(options)``: options of the same steps without noise, where those are others
    """

    wording: Wording
    simplest: int
    alike: float
    metrics: tuple[str, ...]

    def converged(self, table: PrivateTable, parts: int, options: Mapping[str, Any]) -> Any:
        """The best fit that is not private, a batch of one: the real rival."""

    def score(self, batch: Any, scorer: Scorer) -> Array:
        """What each run is worth ``(B,)``, more is better, in the data's own units."""

    def measure(self, batch: Any, scorer: Scorer, metric: str) -> Array:
        """A metric of each run ``(B,)`` on the scorer's rows, by the name that scripts use."""

    def nothing(self, scorer: Scorer) -> float:
        """The same for knowing nothing but the public bounds."""

    def align(self, batch: Any, reference: Any) -> tuple[Any, NDArray[np.bool_]]:
        """The batch with its parts in the order of the reference's; which of those are found
        ``(B, K)``."""


def yardstick(model: str) -> Yardstick:
    """The yardstick of a model. Raises InputError for a name that is not registered."""
    found: Yardstick = load(YARDSTICKS[one_of("model", model, tuple(YARDSTICKS))])
    return found


def scorer_of(
    model: str,
    table: PrivateTable | PrivateCorpus,
    options: Mapping[str, Any] | None = None,
    most: int | None = SCORED_ROWS,
) -> Scorer:
    """What scores fits of a model on a table: its yardstick's own way, or rows of features.

    options: those of the fits, which may say what is meant by a good one. most: so many rows, by a
    fixed coin; ``None``: all of them.
    """
    own = getattr(yardstick(model), "scorer", None)
    if own is None:
        return Scorer.of(table, most)
    words = (options or {},) if "options" in signature(own).parameters else ()
    found: Scorer = own(table, *words, most)
    return found


def fits_rival(judge: Yardstick) -> bool:
    """Whether the simplest rival reads the data, and so is fitted."""
    return not hasattr(judge, "silent")


def rival_options(judge: Yardstick) -> dict[str, Any]:
    """What makes a fit the simplest rival, besides its number of parts."""
    return dict(getattr(judge, "rival_options", {}))


def noiseless(judge: Yardstick, options: dict[str, Any]) -> dict[str, Any]:
    """The options of the same steps without noise."""
    own = getattr(judge, "noiseless", None)
    return options if own is None else dict(own(options))


def bounds_alone(public: PublicFrame) -> float:
    """Log density, in own units, of the uniform law on what the bounds allow: a box or a ball.

    This is all that can be said of a row without any data.
    """
    from scipy.special import gammaln

    dim = public.dim
    even = -dim * np.log(2.0)
    if public.is_ball:
        even = gammaln(dim / 2 + 1) - dim / 2 * np.log(np.pi)
    return float(even) + public.log_volume()


def worth(
    model: str, parameters: Any, options: Mapping[str, Any], table: PrivateTable | PrivateCorpus
) -> float:
    """What parameters in own units are worth on all of a table, as the yardstick has it."""
    scorer = scorer_of(model, table, options, most=None)
    return float(yardstick(model).score(parameters.in_units(scorer.public), scorer)[0])


def mapped(batch: Batch, change: Callable[..., NDArray[Any]], *others: Batch) -> Batch:
    """A batch with every array changed; with others, their arrays are further arguments."""
    return type(batch)(
        **{
            field.name: change(*(getattr(one, field.name) for one in (batch, *others)))
            for field in fields(batch)  # type: ignore[arg-type]
        }
    )
