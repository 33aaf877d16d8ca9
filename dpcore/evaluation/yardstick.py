"""A yardstick: how fits of one model are judged, lined up with the exact fit, and spoken of.

A model's declaration names its :class:`Yardstick`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dpcore.arrays import Array, Indices, Mask
from dpcore.declaration import Metric, declaration
from dpcore.wall.custodian import custodian_documents, custodian_rows
from dpcore.wall.data.clipping import PublicFrame
from dpcore.wall.data.clipping_frame import Frame
from dpcore.wall.data.corpus import PrivateCorpus
from dpcore.wall.table import PrivateTable

Batch = TypeVar("Batch")

FARTHEST = 1e6  # what a divergence counts at most: it may be infinite, and no picture holds that
ROUNDED = 1e-9  # how far beyond a ball a row is that counts as inside
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


def chosen(count: int, most: int | None) -> Indices | slice:
    """Positions of at most so many of ``count`` rows, by a fixed coin; ``None``: all of them."""
    if most is None or count <= most:
        return slice(None)
    return np.random.default_rng(0).choice(count, most, replace=False)


@dataclass(frozen=True)
class Wording:
    """How a screen speaks of a model.

    part, parts: what it has K of. simplest: the simplest rival, with its article.
    utility: the axis of what a fit is worth; ``{unit}`` is who one row is about. worth: the same in
    a sentence [both: the log-likelihood].
    """

    part: str
    parts: str
    simplest: str
    utility: str = "log-likelihood per {unit}"
    worth: str = "log-likelihood per row"


class Yardstick:
    """How fits of one model are scored, lined up with the exact fit, and spoken of.

    Batches hold arrays with a leading axis of runs, in public unit coordinates. simplest: how many
    parts the simplest rival has, which is fitted with the same budget. alike: the share of what the
    exact fit adds to it above which a fit is as good as exact, where it is below it by no more than
    alike_within. metrics: what :meth:`measure` knows, the usual one first. rival_words: the options
    that the simplest rival of a sweep shares with the fit. rival_options: options that make a fit
    the simplest rival, besides its number of parts. of_the_fit: fits are scored on all rows that
    are fitted, and on no others. for_score: options of a fit that serves the score, where a fit may
    serve another measure. rival_model: in a bench of utility, the model of the simplest rival
    [the fit's own].
    """

    wording: Wording
    simplest: int = 1
    alike: float = 0.97
    alike_within: float = math.inf
    metrics: tuple[str, ...] = ()
    rival_words: tuple[str, ...] = ("covariance", "clip")
    rival_options: Mapping[str, Any] = MappingProxyType({})
    of_the_fit: bool = False
    for_score: Mapping[str, Any] = MappingProxyType({})
    rival_model: str = ""

    def converged(self, table: Any, parts: int, options: Mapping[str, Any]) -> Any:
        """The best fit that is not private, a batch of one: the real rival. Every model's own;
        raises NotImplementedError here."""
        raise NotImplementedError

    def score(self, batch: Any, scorer: Scorer) -> Array:
        """What each run is worth ``(B,)``, more is better, in the data's own units. Every model's
        own; raises NotImplementedError here."""
        raise NotImplementedError

    def best_fit(self, table: Any, parts: int) -> Any:
        """The fit that a bench of utility takes for the best without privacy, a batch of one."""
        return self.converged(table, parts, {})

    def bench_score(self, batch: Any, scorer: Scorer) -> Array:
        """What a bench of utility compares ``(B,)``, more is better."""
        return self.score(batch, scorer)

    def from_rival(self, batch: Any) -> Any:
        """Fits of the model ``rival_model`` as fits of this one."""
        return batch

    def measure(self, batch: Any, scorer: Scorer, metric: str) -> Array:
        """A metric of each run ``(B,)`` on the scorer's rows, by the name that scripts use."""
        return self.score(batch, scorer)

    def uninformed(self, scorer: Scorer) -> Any:
        """A fit that knows nothing but the public bounds, a batch of one; ``None`` where no fit
        says that rows may be anywhere."""
        return None

    def nothing(self, scorer: Scorer) -> float:
        """What knowing nothing but the public bounds is worth."""
        fit = self.uninformed(scorer)
        return bounds_alone(scorer.public) if fit is None else float(self.score(fit, scorer)[0])

    def nothing_by(self, scorer: Scorer, metric: str) -> float:
        """A metric, by its name, for knowing nothing but the public bounds."""
        fit = self.uninformed(scorer)
        return self.nothing(scorer) if fit is None else float(self.measure(fit, scorer, metric)[0])

    def align(self, batch: Any, reference: Any) -> tuple[Any, Mask]:
        """The batch with its parts in the order of the reference's, and which of those are
        recovered ``(B, K)``. Every model's own; raises NotImplementedError here."""
        raise NotImplementedError

    def unordered(self, batch: Any) -> tuple[Array, ...]:
        """Numbers of each run, arrays ``(B, ...)``, that stay when its parts change places: what an
        attack looks at besides the parameters."""
        return ()

    def scorer(
        self,
        table: Any,
        options: Mapping[str, Any] | None = None,
        most: int | None = SCORED_ROWS,
        held_out: Any = None,
    ) -> Scorer:
        """The rows to score on, with what else the model reads: at most so many, by a fixed coin;
        ``None``: all of them. table: the rows that are fitted. options: those of the fits, which
        may say what a good one is. held_out: other rows to score on [those that are fitted]."""
        if self.of_the_fit:
            return Scorer.of(table, None)
        return Scorer.of(table if held_out is None else held_out, most)

    def shown(self, table: PrivateTable) -> Array:
        """Exact rows ``(n, p)`` in own units, one column for each of the scorer's ``public``, to
        draw behind the fits."""
        public, rows = custodian_rows(table)
        return np.asarray(public.center + public.half_range * rows)

    def unbounded(self, options: dict[str, Any]) -> dict[str, Any]:
        """Options of the same steps with nothing bounded but the rows."""
        return options

    def noiseless(self, options: dict[str, Any]) -> dict[str, Any]:
        """Options of the same steps without noise."""
        return options

    def clipped_share(
        self, table: Any, options: Mapping[str, Any], clip: float, best: Any, scorer: Scorer
    ) -> float:
        """Share of the rows that clipping would move, as the model clips them; best: the converged
        fit."""
        public, rows = custodian_rows(table)
        norms = np.linalg.norm(rows, axis=1)
        return float(np.mean(norms > public.radius * clip)) if len(norms) else 0.0

    def clipped_in_steps(
        self, clipping: Sequence[Any], settings: Any, clip: float, scorer: Scorer
    ) -> Array:
        """Share of the scorer's rows ``(T,)`` that clipping moves in each step of one run.

        clipping: of each step, as :class:`dpcore.fitting.recipe.Runs` has it; here frames in which
        rows are clipped. settings, clip: of the fit. For the custodian's eyes.
        """
        return np.array([_outside(frame, scorer.rows) for frame in clipping], dtype=float)

    def marks(self, grid: Any) -> tuple[tuple[float, str], ...]:
        """Epsilons of a grid from which something of a fit is found, each with its label."""
        return ()

    def budget_notes(self, setting: Any, grid: Any, exact: Any) -> tuple[str, ...]:
        """What to say of the bold fit of each budget of a grid; exact: the converged fit."""
        return ("",) * len(grid.epsilons)

    def silent(self, reference: Any) -> Any:
        """The simplest rival, a batch of one, where it knows nothing and costs nothing; ``None``
        where it is fitted."""
        return None

    @property
    def fits_rival(self) -> bool:
        """Whether the simplest rival reads the data, and so is fitted."""
        return type(self).silent is Yardstick.silent


def _outside(frame: Frame, rows: Array) -> float:
    """Share of rows ``(n, d)`` in unit coordinates that lie outside the balls of all its frames."""
    away = np.linalg.norm(replace(frame, radius=np.inf).apply(rows), axis=1).min(axis=0)
    return float(np.mean(away > frame.radius * (1.0 + ROUNDED))) if len(rows) else 0.0


def yardstick(model: str) -> Yardstick:
    """The yardstick of a model. Raises InputError for a name that is not registered."""
    declared = declaration(model)
    judge: Yardstick = declared.load(declared.scorer)
    return judge


def scorer_of(
    model: str,
    table: PrivateTable | PrivateCorpus,
    options: Mapping[str, Any] | None = None,
    most: int | None = SCORED_ROWS,
    held_out: PrivateTable | PrivateCorpus | None = None,
) -> Scorer:
    """What scores fits of a model on a table; see :meth:`Yardstick.scorer`."""
    return yardstick(model).scorer(table, options, most, held_out)


def metric_of(model: str, name: str) -> Metric:
    """A metric of the model's declaration; for any other name its yardstick's score."""
    words = yardstick(model).wording
    named = (metric for metric in declaration(model).metrics if metric.name == name)
    return next(named, Metric("", words.worth, words.utility))


def utility(model: str, batch: Any, scorer: Scorer, metric: str = "") -> Array:
    """What each run is worth ``(B,)``, more is better: by a metric of the model's declaration,
    which is turned where less is better, or by its score. No number is beyond :data:`FARTHEST`.
    """
    judge = yardstick(model)
    if metric not in judge.metrics:
        return judge.score(batch, scorer)
    values = np.clip(judge.measure(batch, scorer, metric), -FARTHEST, FARTHEST)
    return -values if metric_of(model, metric).falls else values


def least(model: str, scorer: Scorer, metric: str = "") -> float:
    """The same for knowing nothing but the public bounds."""
    judge = yardstick(model)
    if metric not in judge.metrics:
        return judge.nothing(scorer)
    value = min(judge.nothing_by(scorer, metric), FARTHEST)
    return -value if metric_of(model, metric).falls else value


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


def mapped(batch: Batch, change: Callable[..., NDArray[Any]], *others: Batch) -> Batch:
    """A batch with every array changed; with others, their arrays are further arguments."""
    return type(batch)(
        **{
            field.name: change(*(getattr(item, field.name) for item in (batch, *others)))
            for field in fields(batch)  # type: ignore[arg-type]
        }
    )
