"""Private Gaussian mixtures: the proved recipe and the one the paper prints, over a grid of runs.

The proved recipe spends a quarter of the budget on one release of sum and squares, whitens the
public coordinates with it, clips there, and then releases counts, sums and squares of all
components *jointly* once per iteration: one vector, one sensitivity, one Gaussian. How much each
of the three gets, and each iteration, is solved for (``shared.allocation``). A single
Gaussian is that first release with the whole budget: the baseline to beat.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcore.accounting import mu_of
from dpcore.arrays import Array
from dpcore.errors import InputError
from dpcore.fitting.plan import groups
from dpcore.fitting.recipe import Printed, Recipe, Runs, demand_replacement, gaussians, row_bound
from dpcore.models.gaussian_mixture import MixtureSettings
from dpcore.models.gaussian_mixture import mathematics as gmm
from dpcore.models.gaussian_mixture.mathematics import Mixture
from dpcore.models.gaussian_mixture.parameters import MixtureParameters
from dpcore.models.shared.allocation import losses, solved_weights, step_shares
from dpcore.models.shared.moments import one_gaussian
from dpcore.models.shared.threads import one_thread
from dpcore.privacy import Event, Gaussian, Privacy
from dpcore.wall.data import Frame
from dpcore.wall.session import Noise, Session
from dpcore.wall.statistics import InFrame, MixtureMoments, NoisyMoments

if TYPE_CHECKING:
    from dpcore.accounting.published import PublishedBudget


FRAME_SHARE = 0.25  # of mu^2; for the release that whitens


def proved_events(settings: MixtureSettings) -> tuple[Event, ...]:
    """Releases of one proved fit at total noise multiplier 1; scaling them prices any budget."""
    frame, steps = _multipliers(settings)
    return (Event(Gaussian(frame)), *gaussians(steps))


def published_releases(settings: MixtureSettings) -> int:
    """How many releases the paper counts: J (2K + 1), section 5."""
    return settings.iterations * (2 * settings.components + 1)


def _multipliers(settings: MixtureSettings) -> tuple[float, Array]:
    """Noise multipliers of the frame and of each step ``(iterations,)``; the squares of their
    inverses add up to 1 over the whole fit."""
    if settings.components == 1:
        return 1.0, np.empty(0)
    steps = (1.0 - FRAME_SHARE) * step_shares(settings.iterations, even=settings.even)
    return 1.0 / math.sqrt(FRAME_SHARE), 1.0 / np.sqrt(steps)


@one_thread()
def fit_proved(
    session: Session[Any], settings: MixtureSettings, noise_factor: Array
) -> Runs[Mixture]:
    """Fit B runs by the proved recipe.

    noise_factor ``(B,)``: total noise multiplier; ``1 / noise_factor`` is the Gaussian-DP mu spent
    on the whole fit. **Guarantee:** the composition of :func:`proved_events` times the factor.
    """
    frame_noise, step_noises = _multipliers(settings)
    mean, covariance, rows = _released_frame(session, settings, noise_factor * frame_noise)
    if settings.components == 1:
        single = Mixture(np.ones((session.runs, 1)), mean[:, None], covariance[:, None])
        return Runs(single, (single,))
    dim = session.public.dim
    unclipped = math.isinf(session.radius)
    white = Frame.whitening(mean, covariance, math.inf if unclipped else math.sqrt(dim) + 1.0)
    bound = 1.0 if unclipped else white.radius
    contribution = MixtureMoments.normalised(
        settings.components,
        dim,
        settings.covariance,
        bound,
        solved_weights(losses(dim, settings.covariance, bound)),  # at the shape of all rows: I
    )
    mixture = gmm.start(session.runs, settings.components, dim, settings.start)
    memory, history = None, []
    for iteration, step_noise in enumerate(step_noises, start=1):
        noisy = session.release(
            f"iteration {iteration}: moments",
            contribution,
            InFrame(white, gmm.responsibilities(mixture, settings.covariance)),
            Noise("gaussian", noise_factor * step_noise),
        )
        mixture, memory = gmm.m_step(noisy, rows, white.radius, memory, settings.held_prior)
        history.append(mixture)
    in_units = tuple(_back(step, white) for step in history)
    return Runs(in_units[-1], in_units, [white.first()] * len(history))


def _released_frame(
    session: Session[Any], settings: MixtureSettings, multiplier: Array
) -> tuple[Array, Array, Array | float]:
    """Noisy mean ``(B, d)``, covariance ``(B, d, d)`` and number of rows: one release."""
    dim, radius = session.public.dim, session.radius
    bound = 1.0 if math.isinf(radius) else radius
    evenly = bound**2 / (dim + 2)  # variance of rows spread evenly over the ball
    loss = losses(dim, settings.covariance, bound, evenly, grouped=False)
    if session.rows is not None:
        loss[0] = 0.0  # a public count needs no release
    contribution = MixtureMoments.normalised(
        1, dim, settings.covariance, bound, solved_weights(loss)
    )
    noisy = session.release(
        "mean and covariance of all rows",
        contribution,
        InFrame(Frame.identity(dim, radius)),
        Noise("gaussian", multiplier),
    )
    rows = _number_of_rows(session, noisy)
    mean, covariance = one_gaussian(noisy, rows, radius)
    return mean, covariance, rows


def _number_of_rows(session: Session[Any], noisy: NoisyMoments) -> Array | float:
    """Public where a row is replaced; otherwise the released count, at least 1."""
    if session.rows is not None:
        return float(session.rows)
    return np.maximum(noisy.counts[:, 0], 1.0)


def _back(mixture: Mixture, frame: Frame) -> Mixture:
    return replace(
        mixture,
        means=frame.means_back(mixture.means),
        covariances=frame.covariances_back(mixture.covariances),
    )


@one_thread()
def fit_published(
    session: Session[Any], settings: MixtureSettings, budget: PublishedBudget | None
) -> Runs[Mixture]:
    """Fit B runs by the equations of DP-EM with the noise its accounting asks for.

    budget: noise per release ``(B,)`` as the paper computes it; ``None`` without privacy. The
    ledger holds what is true of these releases: all counts, sums and squares of one iteration form
    one vector, with its joint sensitivity.
    """
    from dpcore.models.gaussian_mixture import published as gmm_published

    dim, components = session.public.dim, settings.components
    assert session.rows is not None  # where they are not public, the paper has no noise
    radius = session.radius
    scale = row_bound(session)
    eye = np.eye(dim)[None]
    ball = Frame(
        np.zeros((1, dim)), eye / scale, eye * scale, math.inf if math.isinf(radius) else 1.0
    )
    contribution = MixtureMoments(components, dim, settings.covariance, 1.0, 1.0, 1.0, 1.0)
    noises = _published_noise(session, settings, contribution, budget)
    mixture = gmm_published.start(session.runs, components, dim, settings.start)
    history = []
    for iteration in range(1, settings.iterations + 1):
        noisy = session.release(
            f"iteration {iteration}: moments",
            contribution,
            InFrame(ball, gmm.responsibilities(mixture, settings.covariance)),
            noises,
        )
        mixture = gmm_published.m_step(noisy, session.rows, settings.held_prior)
        history.append(mixture)
    in_units = tuple(_back(step, ball) for step in history)
    return Runs(in_units[-1], in_units, [ball] * len(history))


def _published_noise(
    session: Session[Any],
    settings: MixtureSettings,
    contribution: MixtureMoments,
    budget: PublishedBudget | None,
) -> tuple[Noise, ...]:
    """The paper's scales (Eqs. 13-18) on sums: 2z, and for LLG Laplace 2/eps and 2 sqrt(d)/eps."""
    if budget is None:
        return (Noise("gaussian", 0.0),)
    printed = 2.0 * np.asarray(budget.noise_multiplier)
    widen = math.sqrt(2.0)  # upper triangle with equal variances: too much beside the diagonal
    if settings.combination == "GGG":
        joint = contribution.l2_sensitivity(session.adjacency)
        return (Noise("gaussian", printed / joint, widen_off_diagonal=widen),)
    scale = 1.0 / np.asarray(budget.epsilon_each)
    alone = contribution.l2_sensitivity(session.adjacency, "squares")
    return (
        Noise("laplace", scale, ("counts",)),
        Noise("laplace", scale, ("sums",)),
        Noise("gaussian", printed / alone, ("squares",), widen_off_diagonal=widen),
    )


_SECTION = {
    "linear": "linear composition",
    "advanced": "advanced composition",
    "zcdp": "zero-concentrated differential privacy",
    "ma": "the moments accountant",
}


class MixtureRecipe(Recipe):
    """DP-EM's mixture of Gaussians (Park et al. 2017) and the proved one; see the module."""

    options = MixtureSettings
    in_own_units = MixtureParameters.from_units

    def events(self, settings: MixtureSettings) -> tuple[Event, ...]:
        return proved_events(settings)

    def published(
        self, requests: Sequence[Privacy], settings: MixtureSettings, delta_each: float | None
    ) -> PublishedBudget:
        """Section 5 of the paper; ``exact`` counts its Gaussian releases as they are."""
        from dpcore.accounting.published import PublishedBudget, published_budget

        demand_replacement(requests)
        releases, used = published_releases(settings), delta_each
        epsilon_each, multiplier = np.empty(len(requests)), np.empty(len(requests))
        for i, request in enumerate(requests):
            if request.noise_multiplier is not None:
                delta = request.delta if request.delta is not None else 1e-5
                delta_i = delta_each or delta / (2 * releases)
                multiplier[i] = request.noise_multiplier
                epsilon_each[i] = np.sqrt(2 * np.log(1.25 / delta_i)) / request.noise_multiplier
        for (accountant, delta), members in groups(requests).items():
            targets = np.array([requests[i].epsilon for i in members], dtype=float)
            if accountant == "exact":
                _demand_gaussian(settings)
                multiplier[members] = np.sqrt(releases) / mu_of(targets, delta)
                epsilon_each[members] = np.nan
                continue
            budget = published_budget(
                targets,
                delta,
                accountant=accountant,
                combination=settings.combination,
                components=settings.components,
                iterations=settings.iterations,
                delta_each=delta_each,
            )
            epsilon_each[members] = budget.epsilon_each
            multiplier[members] = budget.noise_multiplier
            used = budget.delta_each
        return PublishedBudget(epsilon_each, multiplier, used, releases)

    def printed(self, request: Privacy, settings: MixtureSettings) -> Printed | None:
        if request.mode != "paper" or request.accountant not in _SECTION:
            return None
        section = _SECTION[request.accountant]
        return Printed(
            f"Park, Foulds, Chaudhuri, Welling 2017, section 5: {section}",
            (
                "as printed, Eqs. 12 and 16 divide by exact counts, which the stated noise does "
                "not cover; here every division uses released counts",
                "the paper scales the rows by their own largest norm, which the noise does not "
                "cover; here the norm bound is public",
                "all counts, sums and squares of an iteration are one vector with one "
                "sensitivity, so the paper charges for more than it spends",
            ),
        )

    def takes_persons(self, settings: MixtureSettings) -> bool:
        return settings.mode == "proved"

    def fit(
        self,
        session: Session[Any],
        settings: MixtureSettings,
        noise: Array,
        published: PublishedBudget | None,
    ) -> Runs[Mixture]:
        if settings.mode == "paper":
            return fit_published(session, settings, published)
        return fit_proved(session, settings, noise)


def _demand_gaussian(settings: MixtureSettings) -> None:
    if settings.combination != "GGG":
        raise InputError(
            "accountant",
            "exact composition covers Gaussian noise only, and this combination includes Laplace "
            "noise",
            "choose zcdp or ma, or the combination GGG",
        )


RECIPE = MixtureRecipe()
