"""``fit`` and ``fit_grid``: one call from a sealed table to parameters with a guarantee.

A single fit is a grid of one. A grid shares one pass of the data over all its budgets and noise
draws; the same draw at two budgets is the same noise, scaled.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcore.accounting.base import scaled
from dpcore.checks import number, one_of, whole
from dpcore.declaration import declaration
from dpcore.errors import InputError
from dpcore.fitting.guarantees import guarantee_of
from dpcore.fitting.plan import NoisePlan, counted_by, demand_accountant, plan_noise
from dpcore.fitting.recipe import Later, Recipe, Runs, demand_enough_rows, demand_persons, recipe
from dpcore.fitting.result import Fit
from dpcore.options import demand_options
from dpcore.privacy import Event, Guarantee, Ledger, Privacy
from dpcore.privacy.budget import MODES, demand_privacy
from dpcore.schema import Schema
from dpcore.wall.data import PublicFrame, demand_squares
from dpcore.wall.noise import GridNoise, NoiseSource
from dpcore.wall.session import OfCount
from dpcore.wall.table import PrivateTable, demand_loaded

if TYPE_CHECKING:
    from dpcore.wall.data import PrivateCorpus, Vocabulary


ALONE = "this is the cost of this fit alone; the costs of several fits of the same rows add up"


@dataclass(frozen=True)
class Grid:
    """Fits for every budget and noise draw; run ``i * draws + j`` is budget i with draw j.

    runs: parameters in public unit coordinates, with a leading axis of all runs. Of a corpus,
    public and schema are its vocabulary. clip: see :func:`fit`. is_part: the rows are those that a
    split left. limited: an id column says whose a row is. rows, persons: how many, where that is
    public.
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
    clip: float
    is_part: bool = False
    limited: bool = False
    persons: int | None = None

    def guarantee(self, budget: int = 0) -> Guarantee:
        """The guarantee of one budget, computed from its ledger alone. budget: the position in the
        grid, from 0; all draws at one budget share it.
        """
        ledger = self.ledger.at(budget * len(self.draws))
        return guarantee_of(
            ledger,
            self.plan,
            budget,
            self.settings,
            self.model,
            self.schema,
            self.seed,
            self.rows if self.persons is None else self.persons,
            self.plan.budgets * len(self.draws),
            is_part=self.is_part,
            limited=self.limited,
        )

    def fit(self, budget: int = 0, draw: int = 0) -> Fit:
        """One fit of the grid, with its own ledger and guarantee; parameters are in the data's own
        units. budget, draw: positions in the grid, from 0.
        """
        run = budget * len(self.draws) + draw
        steps = range(len(self.runs.history))
        return Fit(
            model=self.model,
            parameters=self._in_own_units(self.runs.final, run),
            guarantee=self.guarantee(budget),
            ledger=self.ledger.at(run),
            history=Later(tuple(partial(self._step, at, run) for at in steps)),
            settings=asdict(self.settings),
            seed=self.seed,
            schema=self.schema,
            rows=self.rows,
            persons=self.persons,
            clip=self.clip,
            distances=self.runs.distances and self.runs.distances.at(run),
        )

    def _step(self, at: int, run: int) -> Any:
        return self._in_own_units(self.runs.history[at], run)

    def _in_own_units(self, batch: Any, run: int) -> Any:
        return recipe(self.model).parameters(batch, run, self.public)


def fit(
    model: str,
    table: PrivateTable | PrivateCorpus,
    *,
    schema: Schema | None = None,
    privacy: Privacy | None,
    n_components: int | None = None,
    seed: int | None = None,
    clip: float | None = None,
    **options: Any,
) -> Fit:
    """Fit a model to a sealed table, privately or (``privacy=None``) not.

    model: a name of the registry (``gmm``, ``kmeans``, ``fa``, ``symmetric-mixture``,
    ``mixture-regression``, ``missing-regression``, ``mean``, ...). n_components: its groups,
    centres, factors, units or topics, where it has any [3]. schema: public bounds, if the table has
    none yet. seed: ``None`` draws from the system's entropy; a number makes a rehearsal that can be
    repeated. clip: radius of the clipping ball as a share of what the bounds allow (default 1;
    without privacy infinite: no clipping). options: the model's own, for a mixture ``iterations``,
    ``covariance`` (full | diag | spherical), ``prior`` (map | mle), ``combination`` (GGG | LLG),
    ``start``; for gradient models ``iterations``, ``algorithm`` (em | clipped | robust), ``sigma``,
    ``tau``, ``threshold``, ``missing_rate``, ``trust`` (central | local); for a mean ``trust``
    (central | local | local_onebit), ``tau``, ``rows`` (a public guess, where their number is
    private).

    Memory beside the table's: for a mixture what its rows' squares take, up to 768 MiB kept between
    steps; a table read in blocks takes no more than a block.

    **Guarantee:** ``fit.guarantee``; it follows from ``fit.ledger`` alone.
    Raises InputError with field, finding and remedy.
    """
    demand_options(model, recipe(model).options, {"n_components": n_components})
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
    result = grid.fit()
    if result.guarantee.rehearsal or result.guarantee.epsilon is None:
        return result
    notes = (*result.guarantee.notes, ALONE)
    return replace(result, guarantee=replace(result.guarantee, notes=notes))


def fit_grid(
    model: str,
    table: PrivateTable | PrivateCorpus,
    *,
    schema: Schema | None = None,
    privacy: Sequence[Privacy] | None,
    n_components: int | None = None,
    draws: Sequence[int] = (0,),
    seed: int | None = None,
    secret: bytes = b"",
    clip: float | None = None,
    as_private: bool = False,
    delta_each: float | None = None,
    on_grid: GridNoise | None = None,
    demand: OfCount | None = None,
    on_plan: Callable[[tuple[Event, ...]], Callable[[], None]] | None = None,
    **options: Any,
) -> Grid:
    """Fit every budget with every noise draw at once; see :func:`fit`.

    privacy: requests that differ in budget or accountant only; several share their noise, scaled,
    so together they are a rehearsal, whatever the seed. The schema's rows per person are charged
    where a request asks for fewer. draws: identities of the noise draws. secret: mixed into the
    seed. as_private: without privacy, fill and clip cells as privacy would. delta_each: the paper's
    delta per release, where its accounting needs one. on_grid: of a release, whose sums lie on a
    grid and have whole numbers as noise; nothing of it can be repeated. demand: refuses a public
    number of rows, when nothing else is left to refuse. on_plan: called with the releases of the
    first budget, before rows are summed; what it returns, before the first number of their noise is
    drawn.

    Raises InputError for settings, rows or budgets that the model does not cover, as :func:`fit`
    does.
    """
    if on_grid is not None and (seed is not None or len(draws) > 1):
        raise InputError("seed", "a release cannot be repeated", "leave the seed out")
    seed = None if seed is None else whole("seed", seed, least=0)
    how = recipe(model)
    demand_loaded(table)
    if table.things == "documents" and declaration(model).reads != "documents":
        raise InputError("model", "the data are documents, not rows of numbers", "choose lda")
    if schema is not None and isinstance(table, PrivateTable):
        stated = schema if isinstance(schema, Schema) else Schema.from_toml(schema)
        table = table.with_schema(stated.demand_effective())
    for request in privacy or ():
        demand_privacy(request)
    requests = _charged(_alike(privacy), table.schema)
    settings = _settings(model, how, requests, n_components, options)
    for request in requests or ():
        demand_accountant(how, settings, request.accountant)
    counted = "rows"
    if table.schema and table.schema.person:
        if requests is not None or as_private or table.schema.equal_weight:
            counted = "different ids"
        if requests is not None:
            equal = table.schema.equal_weight and requests[0].adjacency == "replace_one"
            demand_persons(how, settings, equal=equal)
    if clip is None:
        clip = how.clip if requests is not None or as_private else math.inf

    charge: Callable[[], None] | None = None

    def pay() -> None:
        if on_plan is not None:
            assert charge is not None, "nothing is drawn before it is planned"
            charge()

    session = how.session(
        settings,
        table,
        adjacency="replace_one" if requests is None else requests[0].adjacency,
        rows_per_person=1 if requests is None else requests[0].rows_per_person,
        noise=None if requests is None else on_grid or NoiseSource(seed, draws, secret, pay),
        draws=np.tile(np.arange(len(draws)), 1 if requests is None else len(requests)),
        clip=number("clip", clip),
        as_private=as_private,
        demand=partial(_demand_rows, model, settings.components, demand, counted),
    )
    if isinstance(session.public, PublicFrame):  # spreads in own units are squares of them
        demand_squares("limits", session.public.half_range, session.public.center)
    if how.sampled:
        settings = how.sized(settings, session.rows, session.adjacency)
        requests = requests and tuple(
            replace(p, accountant=counted_by(p.accountant, how, settings)) for p in requests
        )
    plan = plan_noise(how, requests, settings, delta_each)
    if on_plan is not None:
        charge = on_plan(scaled(how.events(settings), float(plan.factor[0])))
    per_run = plan.repeated(len(draws))
    runs = how.fit(session, settings, per_run.factor, per_run.published)
    public: Any = table.schema
    assert public is not None  # bounded_rows refused a table without one
    return Grid(
        model,
        runs,
        session.public,
        public,
        session.ledger,
        plan,
        settings,
        tuple(draws),
        seed,
        session.rows,
        clip,
        table.is_part,
        session.limited,
        session.persons,
    )


def _settings(
    model: str,
    how: Recipe,
    requests: tuple[Privacy, ...] | None,
    components: int | None,
    options: dict[str, Any],
) -> Any:
    """The model's settings from the words of a fit, in the mode of its requests."""
    mode = "proved" if requests is None else requests[0].mode
    chosen = one_of("mode", options.pop("mode", mode), MODES)
    if requests is not None and chosen != mode:
        raise InputError("mode", "the request has another mode", "state it only in the request")
    stated = requests is not None and any(p.noise_multiplier is not None for p in requests)
    if stated and "even" in how.options.options():
        options = {**options, "even": True}
    demand_options(model, how.options, options)
    return how.settings(components=components, mode=chosen, **options)


def _demand_rows(model: str, components: int, more: OfCount | None, things: str, rows: int) -> None:
    """Raise InputError for more groups than rows, or persons, or as ``more`` does."""
    demand_enough_rows(model, components, rows, things)
    if more is not None:
        more(rows)


def _charged(
    requests: tuple[Privacy, ...] | None, schema: Schema | Vocabulary | None
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
            "fit them separately",
        )
    return requests
