"""A fit seen by the strongest attacker: all that passes a door, and what the rows said of it.

A fit is a function of what it has released, so whoever holds both tables can run it again on either
with every release set to what really came out: that gives, for each release, the exact sums of both
tables behind it. The likelihood ratio of all releases follows, and no test on the outputs is
better (Neyman, Pearson 1933).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from dpcore.arrays import Array, Indices, Mask
from dpcore.fitting.plan import counted_by, plan_noise
from dpcore.fitting.recipe import recipe
from dpcore.privacy import Ledger, Privacy
from dpcore.wall.data.corpus import PrivateCorpus
from dpcore.wall.noise import NoiseSource
from dpcore.wall.table import PrivateTable

Table: TypeAlias = PrivateTable | PrivateCorpus


@dataclass(frozen=True)
class Released:
    """One release of B runs: exact ``(B, p)`` and noisy values, and the noise that is stated.

    scale ``(B, p)``: standard deviation, or of Laplace noise its scale; 0 where there is none.
    laplace ``(p,)``: where it is that. entry: the first ledger entry of this release.
    """

    exact: Array
    noisy: Array
    scale: Array
    laplace: Mask
    entry: int


@dataclass(frozen=True)
class Observed:
    """All releases of B runs of one fit, its ledger, and its runs of parameters."""

    releases: tuple[Released, ...]
    ledger: Ledger
    runs: Any

    def rate(self, release: Released) -> float:
        """The chance of a row to be in the sample that a release was made from."""
        entries = self.ledger.entries
        if release.entry >= len(entries):  # later parts of the rows share the first one's entry
            return 1.0
        return float(getattr(entries[release.entry], "sampling_rate", 1.0))


class ShortNoise(NoiseSource):
    """A source that draws only a share of the noise it is asked for: what an audit must catch."""

    def __init__(self, seed: int, draws: Sequence[int], share: float) -> None:
        super().__init__(seed, draws)
        self._share = share

    def normal(self, shape: tuple[int, ...]) -> Array:
        return self._share * super().normal(shape)

    def laplace(self, shape: tuple[int, ...]) -> Array:
        return self._share * super().laplace(shape)

    def long_tailed(self, dim: int) -> Array:
        return self._share * super().long_tailed(dim)


class _Chosen:
    """Coins that draw the first row into every sample, or that leave it out of every one."""

    def __init__(self, first: bool) -> None:
        self.first = first

    def choice(self, rows: int, size: int, **_: Any) -> Indices:
        return np.arange(size) + (0 if self.first or size == rows else 1)

    def random(self, shape: int | tuple[int, ...]) -> Array:
        coins = np.ones(shape)
        if isinstance(shape, int):  # each row's own coin
            coins[:1] = 0.0 if self.first else 1.0
        return coins


class Replay(NoiseSource):
    """No noise, and samples that hold the first row (or do not): to see what a table says."""

    def __init__(self, runs: int, *, first: bool) -> None:
        super().__init__(0, ())
        self._runs = runs
        streams: list[Any] = [_Chosen(first)] * runs
        self._streams = streams

    def normal(self, shape: tuple[int, ...]) -> Array:
        return np.zeros((self._runs, *shape))

    laplace = normal


def observe(
    model: str,
    table: Table,
    request: Privacy,
    noise: NoiseSource,
    runs: int,
    answers: tuple[Released, ...] | None = None,
    /,
    *,
    n_components: int = 3,
    clip: float | None = None,
    **options: Any,
) -> Observed:
    """Fit ``runs`` runs as :func:`dpcore.fitting.api.fit_grid` does, with a given source of noise,
    and note every release.

    answers: what the releases of an earlier fit came out as: every run goes on from them, whatever
    its own rows say. options: as :func:`dpcore.fit` takes them.
    """
    how = recipe(model)
    settings = how.settings(components=n_components, mode=request.mode, **options)
    if clip is None:
        clip = how.clip
    session = how.session(
        settings,
        table,
        adjacency=request.adjacency,
        rows_per_person=request.rows_per_person,
        noise=noise,
        draws=np.arange(runs),
        clip=clip,
        as_private=False,
    )
    if how.sampled:
        settings = how.sized(settings, session.rows, session.adjacency)
        request = replace(request, accountant=counted_by(request.accountant, how, settings))
    plan = plan_noise(how, (request,), settings).repeated(runs)
    releases: list[Released] = []
    vars(session)["_release"] = _noted(session._release, session._entries, releases, answers)
    fitted = how.fit(session, settings, plan.factor, plan.published)
    return Observed(tuple(releases), session.ledger.at(0), fitted)


def _noted(
    release: Callable[..., dict[Any, Array]],
    entries: Sequence[Any],
    releases: list[Released],
    answers: tuple[Released, ...] | None,
) -> Callable[..., dict[Any, Array]]:
    """A session's own release, with a note taken of it."""

    def noting(
        what: str, total: Array, contribution: Any, noises: Any, batches: Any = None
    ) -> dict[Any, Array]:
        exact, entry = total.reshape(len(total), -1).copy(), len(entries)
        deviations = release(what, total, contribution, noises, batches)
        if answers is not None:
            total[...] = answers[len(releases)].noisy.reshape(total.shape)
        scale, laplace = _stated(total, contribution, noises, deviations)
        noisy = total.reshape(len(total), -1).copy()
        releases.append(Released(exact, noisy, scale, laplace, entry))
        return deviations

    return noting


def _stated(
    total: Array, contribution: Any, noises: Any, deviations: dict[Any, Array]
) -> tuple[Array, Mask]:
    """The noise that a release says it has, for each number of it."""
    scale, laplace = np.zeros(total.shape), np.zeros(total.shape[1:], dtype=bool)
    for noise in noises:
        for block in contribution.blocks if noise.blocks is None else noise.blocks:
            span = contribution.slice(block)
            own = scale[:, :, span]
            own[...] = deviations[block][:, None, None]
            own[..., contribution.off_diagonal(block)] *= noise.widen_off_diagonal
            if noise.law == "laplace":
                own /= np.sqrt(2.0)
                laplace[:, span] = True
    return scale.reshape(len(total), -1), laplace.reshape(-1)


def log_likelihood_ratios(
    model: str,
    tables: tuple[Table, Table],
    request: Privacy,
    observed: Observed,
    own: int,
    /,  # an option may have any of these names
    **options: Any,
) -> Array:
    """``log p(releases | second table) - log p(releases | first)`` of every run ``(B,)``.

    own: which of the two was fitted. Where rows are sampled: exact if all rows but the first are
    alike; otherwise a score like any other, since no bound depends on what a score means.
    """
    runs = len(observed.releases[0].noisy)

    def again(table: Table, first: bool) -> tuple[Released, ...]:
        source = Replay(runs, first=first)
        return observe(model, table, request, source, runs, observed.releases, **options).releases

    rates = [observed.rate(release) for release in observed.releases]
    whole = min(rates) == 1.0
    held = [
        observed.releases if whole and which == own else again(table, True)
        for which, table in enumerate(tables)
    ]
    without = held[0] if whole else again(tables[0], False)
    total = np.zeros(runs)
    for release, rate, first_exact, second_exact, none in zip(
        observed.releases, rates, *held, without, strict=True
    ):
        if rate == 1.0:
            total += _log_ratio(release, first_exact.exact, second_exact.exact)
            continue
        for exact, sign in ((first_exact.exact, -1.0), (second_exact.exact, 1.0)):
            inside = _log_ratio(release, none.exact, exact)
            total += sign * np.logaddexp(np.log1p(-rate), np.log(rate) + inside)
    return total


SURE = 1e3  # what a number without noise says where the tables differ in it


def _log_ratio(release: Released, first: Array, second: Array) -> Array:
    """``log p(noisy | second) - log p(noisy | first)`` of one release ``(B,)``."""
    away, there, scale = release.noisy - first, release.noisy - second, release.scale
    safe = np.where(scale > 0.0, scale, 1.0)
    normal = 0.5 * (away**2 - there**2) / safe**2
    double = (np.abs(away) - np.abs(there)) / safe
    bare = SURE * np.sign(np.abs(away) - np.abs(there))
    ratios = np.where(scale > 0.0, np.where(release.laplace, double, normal), bare)
    return np.asarray(ratios.sum(axis=1))
