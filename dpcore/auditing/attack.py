"""One attack, drawn: what releases give away about one person, beside what is proved.

The attacker knows two tables that differ in one row and sees everything that passes a door. Scores
are likelihood ratios, the best there are (Neyman, Pearson 1933); :mod:`dpcore.auditing.observe`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcore.accounting.losses import tradeoff
from dpcore.auditing.estimate import epsilon_lower_bound, gaussian_lower_bound
from dpcore.auditing.fits import Pair, all_normal
from dpcore.auditing.observe import Observed, Released, ShortNoise, log_likelihood_ratios, observe
from dpcore.checks import whole
from dpcore.fitting.api import fit_grid
from dpcore.privacy import Guarantee, Privacy

Array = NDArray[np.float64]

ALARMS = np.concatenate([[0.0], np.geomspace(1e-3, 1.0, 60)])  # shares of false alarms
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Attack:
    """Attacks at S budgets, ``n`` releases of each of the two tables.

    along ``(S, 2, n)``: log-likelihood ratios in their own deviations, the first table's around 0.
    across ``(S, 2, n)``: another direction of what was released, in deviations of its noise.
    alarms ``(m,)``: shares of false alarms. hits ``(S, m)``: the attacker's share of hits at them;
    ceiling ``(S, m)``: no attacker hits more often, proved; NaN where nothing is. rates ``(S,)``:
    right guesses. shown ``(S,)``: the epsilon that this shows at least, with 95% confidence.
    guarantees: of one fit at each budget.
    """

    epsilons: tuple[float, ...]
    along: Array
    across: Array
    alarms: Array
    hits: Array
    ceiling: Array
    rates: Array
    shown: Array
    guarantees: tuple[Guarantee, ...]


def attack(
    model: str,
    pair: Pair,
    requests: Sequence[Privacy],
    runs: int = 400,
    *,
    seed: int = 0,
    **options: Any,
) -> Attack:
    """Play the attacker at every budget, over ``runs`` releases of each of two tables.

    requests: with an epsilon and a delta each. options: as :func:`dpcore.fit` takes them.

    The result reads exact rows: for the custodian's eyes. Raises InputError as a fit does.
    """
    count = whole("runs", runs, least=20)
    found = [_at(model, pair, request, count, seed, options) for request in requests]
    along, across, ceiling, shown, guarantees = zip(*found, strict=True)
    scores = np.stack(along)
    return Attack(
        tuple(float(request.epsilon or 0.0) for request in requests),
        _in_deviations(scores),
        np.stack(across),
        ALARMS,
        np.stack([_hits(*one) for one in scores]),
        np.stack(ceiling),
        np.array([_right(*one) for one in scores]),
        np.array(shown),
        guarantees,
    )


def _at(
    model: str, pair: Pair, request: Privacy, runs: int, seed: int, options: dict[str, Any]
) -> tuple[Array, Array, Array, float, Guarantee]:
    """Scores and another direction ``(2, n)``, ceiling, epsilon shown, guarantee of one budget."""
    tables, seen = (pair.one, pair.other), list[Observed]()
    for own, table in enumerate(tables):
        noise = ShortNoise(2 * seed + own, range(runs), 1.0)
        seen.append(observe(model, table, request, noise, runs, **options))
    ratios = [
        log_likelihood_ratios(model, tables, request, one, own, **options)
        for own, one in enumerate(seen)
    ]
    guarantee = fit_grid(model, pair.one, privacy=(request,), seed=0, **options).guarantee()
    delta = float(request.delta or 0.0)
    bound = gaussian_lower_bound if all_normal(seen[0]) else epsilon_lower_bound
    ceiling = np.full(len(ALARMS), np.nan)
    if guarantee.epsilon is not None:
        ceiling = 1.0 - tradeoff(seen[0].ledger.events, ALARMS)
    across = np.stack([_across(one.releases[-1]) for one in seen])
    shown = float(bound(ratios[0], ratios[1], delta, CONFIDENCE))
    return np.stack(ratios), across, ceiling, shown, guarantee


def _across(release: Released) -> Array:
    """A direction of the last release that says nothing about the person: its noise ``(n,)``."""
    scale = np.where(release.scale > 0.0, release.scale, 1.0)
    noise = (release.noisy - release.exact) / scale
    direction = np.random.default_rng(0).standard_normal(noise.shape[1])
    return np.asarray(noise @ direction / np.linalg.norm(direction))


def _in_deviations(scores: Array) -> Array:
    """Scores ``(S, 2, n)`` around those of the first table, in deviations of both."""
    middle = scores[:, :1].mean(axis=-1, keepdims=True)
    spread = np.maximum(scores.std(axis=-1).mean(axis=-1), 1e-12)[:, None, None]
    return np.asarray((scores - middle) / spread)


def _hits(one: Array, other: Array) -> Array:
    """Share of the second table's scores above the level that so many of the first exceed."""
    levels = np.quantile(one, 1.0 - ALARMS)
    return np.asarray((other[None, :] > levels[:, None]).mean(axis=1))


def _right(one: Array, other: Array) -> float:
    """Right guesses of who goes by the likelihood ratio: a tie is a coin."""
    return float(
        0.5 * (np.mean(one < 0.0) + np.mean(other > 0.0))
        + 0.25 * (np.mean(one == 0.0) + np.mean(other == 0.0))
    )
