"""``fit`` and ``fit_grid``: one call from a sealed table to parameters with a guarantee.

A single fit is a grid of one. A grid shares one pass of the data over all its budgets and noise
draws; the same draw at two budgets is the same noise, scaled.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcore.errors import InputError
from dpcore.fitting.guarantees import guarantee_of
from dpcore.fitting.plan import NoisePlan, plan_noise
from dpcore.fitting.recipe import Runs, recipe
from dpcore.fitting.result import Fit
from dpcore.privacy import Guarantee, Ledger, Privacy
from dpcore.schema import Schema
from dpcore.wall.clip import PublicFrame
from dpcore.wall.doors import Session
from dpcore.wall.noise import NoiseSource
from dpcore.wall.table import PrivateTable

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Grid:
    """Fits for every budget and noise draw; run ``i * draws + j`` is budget i with draw j.

    runs: parameters in public unit coordinates, with a leading axis of all runs.
    """

    model: str
    runs: Runs[Any]
    public: PublicFrame
    schema: Schema
    ledger: Ledger
    plan: NoisePlan
    settings: Any
    draws: tuple[int, ...]
    seed: int | None
    rows: int | None

    def guarantee(self, budget: int = 0) -> Guarantee:
        """The guarantee of one budget, computed from its ledger."""
        ledger = self.ledger.at(budget * len(self.draws))
        runs = self.plan.budgets * len(self.draws)
        return guarantee_of(
            ledger,
            self.plan,
            budget,
            self.settings,
            self.model,
            self.schema,
            self.seed,
            self.rows,
            runs,
        )

    def fit(self, budget: int = 0, draw: int = 0) -> Fit:
        """One fit of the grid, with its own ledger and guarantee."""
        run = budget * len(self.draws) + draw
        in_own_units = recipe(self.model).parameters
        return Fit(
            model=self.model,
            parameters=in_own_units(self.runs.final, run, self.public),
            guarantee=self.guarantee(budget),
            ledger=self.ledger.at(run),
            history=tuple(in_own_units(step, run, self.public) for step in self.runs.history),
            settings=asdict(self.settings),
            seed=self.seed,
        )


def fit(
    model: str,
    table: PrivateTable,
    *,
    schema: Schema | None = None,
    privacy: Privacy | None,
    n_components: int = 3,
    seed: int | None = None,
    clip: float | None = None,
    **options: Any,
) -> Fit:
    """Fit a model to a sealed table, privately or (``privacy=None``) not.

    model: a name of the registry (``gmm``, ``kmeans``, ``fa``). schema: public bounds, if the table
    has none yet. seed: ``None`` draws from the system's entropy; a number makes a rehearsal that
    can be repeated. clip: radius of the clipping ball as a share of what the bounds allow (default
    1; without
    privacy infinite: no clipping). options: the model's own, for a mixture ``iterations``,
    ``covariance`` (full | diag | spherical), ``prior`` (map | mle), ``combination`` (GGG | LLG),
    ``start``.

    **Guarantee:** ``fit.guarantee``; it follows from ``fit.ledger`` alone.
    Raises InputError with field, finding and remedy.
    """
    grid = fit_grid(
        model,
        table,
        schema=schema,
        privacy=None if privacy is None else (privacy,),
        n_components=n_components,
        seed=seed,
        clip=clip,
        **options,
    )
    return grid.fit()


def fit_grid(
    model: str,
    table: PrivateTable,
    *,
    schema: Schema | None = None,
    privacy: Sequence[Privacy] | None,
    n_components: int = 3,
    draws: Sequence[int] = (0,),
    seed: int | None = None,
    secret: bytes = b"",
    clip: float | None = None,
    as_private: bool = False,
    delta_each: float | None = None,
    **options: Any,
) -> Grid:
    """Fit every budget with every noise draw at once; see :func:`fit`.

    privacy: requests that differ in budget or accountant only; several share their noise, scaled,
    so together they are a rehearsal, whatever the seed. The schema's rows per person are charged
    where a request asks for fewer. draws: identities of the noise draws. secret: mixed into the
    seed. as_private: without privacy, fill and clip cells as privacy would. delta_each: the paper's
    delta per release, where its accounting needs one.
    """
    how = recipe(model)
    if schema is not None:
        table = table.with_schema(schema)
    requests = _charged(_alike(privacy), table.schema)
    mode = "proved" if requests is None else requests[0].mode
    asked = options.pop("mode", mode)
    if requests is not None and asked != mode:
        raise InputError("mode", "the request asks for another one", "say it in the request alone")
    mode = asked
    if requests is not None and any(p.noise_multiplier is not None for p in requests):
        options = {**options, **({"even": True} if "even" in how.words else {})}
    settings = how.settings(components=n_components, mode=mode, **options)
    plan = plan_noise(how, requests, settings, delta_each)
    if clip is None:
        clip = 1.0 if requests is not None or as_private else math.inf
    session = Session(
        table,
        adjacency="replace_one" if requests is None else requests[0].adjacency,
        rows_per_person=1 if requests is None else requests[0].rows_per_person,
        noise=None if requests is None else NoiseSource(seed, draws, secret),
        draws=np.tile(np.arange(len(draws)), plan.budgets),
        clip=clip,
        as_private=as_private,
    )
    if session.rows is not None and settings.components > session.rows:
        parts = {"fa": "factors", "kmeans": "centres"}.get(model, "groups")
        raise InputError(
            "factors" if model == "fa" else "components",
            f"there are more {parts} than rows",
            f"ask for fewer {parts} or bring more rows",
        )
    per_run = plan.repeated(len(draws))
    runs = how.fit(session, settings, per_run.factor, per_run.published)
    assert table.schema is not None  # bounded_rows refused a table without one
    return Grid(
        model,
        runs,
        session.public,
        table.schema,
        session.ledger,
        plan,
        settings,
        tuple(draws),
        seed,
        session.rows,
    )


def _charged(
    requests: tuple[Privacy, ...] | None, schema: Schema | None
) -> tuple[Privacy, ...] | None:
    """Requests protect at least as many rows of one person as the schema says there may be."""
    if requests is None or schema is None:
        return requests
    return tuple(
        replace(p, rows_per_person=max(p.rows_per_person, schema.rows_per_person)) for p in requests
    )


def _alike(privacy: Sequence[Privacy] | None) -> tuple[Privacy, ...] | None:
    """Requests of one grid share everything but budget and accountant."""
    if privacy is None:
        return None
    requests = tuple(privacy)
    if not requests:
        raise InputError("privacy", "no budget was given", "give at least one")
    common = {
        replace(p, epsilon=1.0, noise_multiplier=None, delta=0.5, accountant="exact")
        for p in requests
    }
    if len(common) > 1:
        raise InputError(
            "privacy",
            "budgets of one grid differ in adjacency, mode or rows per person",
            "fit apart",
        )
    return requests
