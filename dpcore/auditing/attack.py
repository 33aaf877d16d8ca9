"""One attack, drawn: what releases give away about one person, beside what is proved.

The attacker knows two tables that differ in one row and sees everything that passes a door. Scores
are likelihood ratios, the best there are (Neyman, Pearson 1933); :mod:`dpcore.auditing.observe`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpcore.accounting.losses import delta_curve, tradeoff
from dpcore.arrays import Array, Mask
from dpcore.auditing.estimate import epsilon_lower_bound, gaussian_lower_bound
from dpcore.auditing.fits import Pair, all_normal
from dpcore.auditing.observe import Observed, Released, ShortNoise, log_likelihood_ratios, observe
from dpcore.checks import whole
from dpcore.fitting.api import fit_grid
from dpcore.privacy import Guarantee, Privacy

USUAL = 0.05  # the share of false alarms at which a picture is put into words
ALARMS = np.unique([0.0, USUAL, *np.geomspace(1e-3, 1.0, 60)])  # shares of false alarms
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Play:
    """One budget's attack, ``n`` releases of each table; fields as of :class:`Attack`."""

    along: Array
    across: Array
    hits: Array
    rate: float
    shown: float


@dataclass(frozen=True)
class Attack:
    """Attacks at S budgets, ``n`` releases of each of the two tables.

    along ``(S, 2, n)``: log-likelihood ratios in their own deviations, the first table's around 0.
    across ``(S, 2, n)``: another direction of what was released, in deviations of its noise.
    alarms ``(m,)``: shares of false alarms. hits ``(S, m)``: the attacker's share of hits at them;
    ceiling ``(S, m)``: no attacker hits more often, proved; NaN where nothing is. best ``(S,)``:
    the same of right guesses, whatever the false alarms. rates ``(S,)``: right guesses. shown
    ``(S,)``: the epsilon that this shows at least, with 95% confidence.
    guarantees: of one fit at each budget. What is measured is NaN at budgets not yet played.
    """

    epsilons: tuple[float, ...]
    along: Array
    across: Array
    alarms: Array
    hits: Array
    ceiling: Array
    best: Array
    rates: Array
    shown: Array
    guarantees: tuple[Guarantee, ...]

    @property
    def played(self) -> Mask:
        """Which budgets have been played ``(S,)``."""
        return np.asarray(np.isfinite(self.rates))

    @property
    def band(self) -> tuple[Array, Array]:
        """Between what the share of hits lies, ``(S, m)`` each, at all alarms at once, with 95%
        confidence of each budget.

        Both samples' distribution functions are as near to the true ones as Massart's inequality
        says (1990, "The tight constant in the Dvoretzky-Kiefer-Wolfowitz inequality"), each with
        97.5% confidence; between two alarms of the grid the outer one counts.
        """
        count = self.along.shape[-1]
        off = np.sqrt(np.log(4.0 / (1.0 - CONFIDENCE)) / (2.0 * count))
        below = np.searchsorted(self.alarms, self.alarms - off, side="right") - 1
        above = np.searchsorted(self.alarms, self.alarms + off)
        low = np.where(
            below >= 0, self.hits[:, below] - off, np.where(self.played[:, None], 0, np.nan)
        )
        high = np.where(
            above < len(self.alarms),
            self.hits[:, np.minimum(above, len(self.alarms) - 1)] + off,
            np.where(self.played[:, None], 1.0, np.nan),
        )
        return np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)

    def with_plays(self, plays: Mapping[int, Play]) -> Attack:
        """The same with those budgets played, by their place."""
        names = ("along", "across", "hits", "rates", "shown")
        along, across, hits, rates, shown = (getattr(self, name).copy() for name in names)
        for s, played in plays.items():
            along[s], across[s], hits[s] = played.along, played.across, played.hits
            rates[s], shown[s] = played.rate, played.shown
        return replace(self, along=along, across=across, hits=hits, rates=rates, shown=shown)


def attack(
    model: str,
    pair: Pair,
    requests: Sequence[Privacy],
    runs: int = 400,
    /,
    *,
    seed: int = 0,
    **options: Any,
) -> Attack:
    """Play the attacker at every budget, over ``runs`` releases of each of two tables.

    requests: with an epsilon and a delta each. options: as :func:`dpcore.fit` takes them.

    The result reads exact rows: for the custodian's eyes. Raises InputError as a fit does.
    """
    plays = {
        s: play(model, pair, request, runs, seed=seed, **options)
        for s, request in enumerate(requests)
    }
    return unplayed(model, pair, requests, runs, **options).with_plays(plays)


def unplayed(
    model: str, pair: Pair, requests: Sequence[Privacy], runs: int = 400, /, **options: Any
) -> Attack:
    """What is known before anybody plays: the guarantees, and with them the ceilings."""
    grid = fit_grid(model, pair.first, privacy=requests, seed=0, **options)
    guarantees = tuple(grid.guarantee(s) for s in range(len(requests)))
    ceiling, best = np.full((len(requests), len(ALARMS)), np.nan), np.full(len(requests), np.nan)
    for s, guarantee in enumerate(guarantees):
        if guarantee.epsilon is not None:
            events = grid.ledger.at(s).events
            ceiling[s] = 1.0 - tradeoff(events, ALARMS)
            best[s] = 0.5 + 0.5 * delta_curve(events, np.zeros(1))[0]
    clouds, unknown = np.full((len(requests), 2, runs), np.nan), np.full(len(requests), np.nan)
    return Attack(
        tuple(float(request.epsilon or 0.0) for request in requests),
        clouds,
        clouds,
        ALARMS,
        np.full_like(ceiling, np.nan),
        ceiling,
        best,
        unknown,
        unknown,
        guarantees,
    )


def play(
    model: str, pair: Pair, request: Privacy, runs: int, /, *, seed: int = 0, **options: Any
) -> Play:
    """Play the attacker at one budget; as :func:`attack`."""
    count = whole("runs", runs, least=20)
    tables, observed = (pair.first, pair.second), list[Observed]()
    for own, table in enumerate(tables):
        noise = ShortNoise(2 * seed + own, range(count), 1.0)
        observed.append(observe(model, table, request, noise, count, **options))
    scores = np.stack(
        [
            log_likelihood_ratios(model, tables, request, observation, own, **options)
            for own, observation in enumerate(observed)
        ]
    )
    bound = gaussian_lower_bound if all_normal(observed[0]) else epsilon_lower_bound
    return Play(
        along=_in_deviations(scores),
        across=np.stack([_across(observation.releases[-1]) for observation in observed]),
        hits=_hits(*scores),
        rate=_right(*scores),
        shown=float(bound(scores[0], scores[1], float(request.delta or 0.0), CONFIDENCE)),
    )


def _across(release: Released) -> Array:
    """A direction of the last release that says nothing about the person: its noise ``(n,)``."""
    scale = np.where(release.scale > 0.0, release.scale, 1.0)
    noise = (release.noisy - release.exact) / scale
    direction = np.random.default_rng(0).standard_normal(noise.shape[1])
    return np.asarray(noise @ direction / np.linalg.norm(direction))


def _in_deviations(scores: Array) -> Array:
    """Scores ``(2, n)`` around those of the first table, in deviations of both."""
    spread = max(float(scores.std(axis=-1).mean()), 1e-12)
    return np.asarray((scores - scores[0].mean()) / spread)


def _hits(first: Array, second: Array) -> Array:
    """Share of the second table's scores above the level that so many of the first exceed."""
    levels = np.quantile(first, 1.0 - ALARMS)
    return np.asarray((second[None, :] > levels[:, None]).mean(axis=1))


def _right(first: Array, second: Array) -> float:
    """Right guesses of who goes by the likelihood ratio: a tie is a coin."""
    return float(
        0.5 * (np.mean(first < 0.0) + np.mean(second > 0.0))
        + 0.25 * (np.mean(first == 0.0) + np.mean(second == 0.0))
    )
