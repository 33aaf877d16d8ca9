"""Private Gaussian mixtures: the proved recipe and the one the paper prints, over a grid of runs.

The proved recipe spends a quarter of the budget on mean and second moments of all rows, spreads
groups over the shape that these have, and then releases counts, sums and squares of all groups
*jointly* once per iteration: one vector, one sensitivity, one Gaussian. Each group sees the rows in
a frame of its own (``group_frames``). In many columns, or where groups are few beside them, they
have one shape while they are looked for, and where their own would be noise (``common_shape``). How
much each of the three gets, and each iteration, is solved for (``shared.allocation``). A single
Gaussian is that first release with the whole budget: the baseline to beat.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcore.accounting import mu_of
from dpcore.arrays import Array, Indices
from dpcore.errors import InputError
from dpcore.fitting.plan import groups
from dpcore.fitting.recipe import (
    Later,
    Printed,
    Recipe,
    Runs,
    demand_replacement,
    gaussians,
    row_bound,
)
from dpcore.models.gaussian_mixture import MixtureSettings
from dpcore.models.gaussian_mixture import mathematics as gmm
from dpcore.models.gaussian_mixture.common_shape import UNKNOWN, CommonShape, long_axes
from dpcore.models.gaussian_mixture.group_frames import Groups, Whole, held, merged, pooled_shapes
from dpcore.models.gaussian_mixture.mathematics import Mixture
from dpcore.models.gaussian_mixture.parameters import MixtureParameters
from dpcore.models.shared.all_rows import MULTIPLIERS, release_in_ball
from dpcore.models.shared.allocation import losses, solved_weights, step_shares
from dpcore.models.shared.group_means import within
from dpcore.models.shared.location import View, number_of_rows
from dpcore.models.shared.moments import TINY, by_columns, finite, one_gaussian, per_coordinate_sd
from dpcore.models.shared.second_moments import sized
from dpcore.models.shared.threads import one_thread
from dpcore.privacy import Event, Gaussian, Privacy
from dpcore.wall.data import Frame, whitening
from dpcore.wall.session import Noise, Session
from dpcore.wall.statistics import (
    TOGETHER,
    TREE_DIM,
    GroupMoments,
    InFrame,
    MixtureMoments,
    RowRadii,
)

if TYPE_CHECKING:
    from dpcore.accounting.published import PublishedBudget


WHOLE_SHARE = 0.25  # of mu^2; for what is released of all rows together
MARGIN = 0.5  # the radius of a group's ball is sqrt(d) deviations, and so much
EXTRA = 6  # groups that are looked for at first, as far as the noise lets them be seen
VISIBLE = 0.6  # noise in a group's shape, up to which it can be
# In tables of so many columns, and so many rows for each, groups are looked for by their means:
# noise in the length of one, up to which it can be seen; and the share of VISIBLE up to which each
# has its own shape in the end. With fewer rows, long axes are partly chance. In fewer columns, but
# at least two for each group, a start that knows no long axes misses what most groups differ by:
# there the same is done where each can have its own shape, and where none can, all rows are one.
MANY, ROWS, FAR, OWN = 6, 100, 0.38, 0.75
LONG = 1.6, 2.3  # in fewer columns and in so many, longest over median axis that groups may make
# In lost runs the three releases that say where all rows lie have the noise of steps that would
# look for groups, and those theirs. Lost, by public numbers: noise in the length of a group's mean
# is above FAR, and above so many times FAR for each column. Which steps follows from the noise in a
# number of rows, with that of the second step: up to these shares of all rows, or above.
LOST, SHARES, STEPS = 0.12, (0.1, 0.3), ([0, 2, 1], [0, -5, -4], [-5, -4, -2])
LEFT = 0.25  # of the variance of all rows, at least, beside the square of their mean


def _multipliers(settings: MixtureSettings) -> tuple[Array, Array]:
    """Noise multipliers of the releases of all rows ``(4,)`` or ``(1,)``, and of each step
    ``(iterations,)``; the squares of their inverses add up to 1 over the whole fit."""
    share = 1.0 if settings.components == 1 else WHOLE_SHARE
    whole = np.array(MULTIPLIERS if settings.covariance == "full" else (1.0,)) / math.sqrt(share)
    if settings.components == 1:
        return whole, np.empty(0)
    steps = (1.0 - share) * step_shares(settings.iterations, even=settings.even)
    return whole, 1.0 / np.sqrt(steps)


@one_thread()
def fit_proved(
    session: Session[Any], settings: MixtureSettings, noise_factor: Array
) -> Runs[Mixture]:
    """Fit B runs by the proved recipe.

    noise_factor ``(B,)``: total noise multiplier; ``1 / noise_factor`` is the Gaussian-DP mu spent
    on the whole fit. **Guarantee:** the releases of :meth:`MixtureRecipe.events` times the factor,
    in another order where public numbers say so: these are Gaussian releases with the same noise.
    Where nothing is clipped, it is plain EM, in the frame that whitens all rows.
    """
    whole_noise, step_noises = _multipliers(settings)
    noises = np.multiply.outer([*whole_noise, *step_noises], noise_factor)
    early, steps = np.split(noises, [len(whole_noise)])
    dim, components = session.public.dim, settings.components
    radius, searching = math.sqrt(dim) + MARGIN, settings.iterations // 3
    shape = _group_moments(settings, dim, components, radius)
    unit = shape.l2_sensitivity(session.adjacency) * session.rows_per_person
    total = noise_factor * components / math.sqrt(1.0 - WHOLE_SHARE)
    far = unit * radius * math.sqrt(dim) / TOGETHER[1] * total / FAR
    in_ball = settings.covariance == "full" and dim > TREE_DIM and session.private
    lost = far > max(1.0, LOST * dim) * (session.rows or math.inf)
    lost &= in_ball and components > 1 and searching >= 3
    if lost.any():
        a_row = RowRadii(dim, (1.0,)).l2_sensitivity(session.adjacency) * session.rows_per_person
        which = np.searchsorted(SHARES, a_row * steps[1] / (session.rows or math.inf))
        for kind, at in enumerate(STEPS):
            both = np.stack([early[:3], steps[at]])
            early[:3], steps[at] = np.where(lost & (which == kind), both[::-1], both)
    planned = np.where(lost, noise_factor, early[-1] / MULTIPLIERS[-1])
    whole = _in_ball(session, planned, early) if in_ball else _all_rows(session, settings, early)
    if components == 1:
        single = Mixture(np.ones((session.runs, 1)), whole.mean[:, None], whole.covariance[:, None])
        return Runs(single, (single,))
    if math.isinf(session.radius):
        return _plain_em(session, settings, whole, steps)
    entries = dim if settings.covariance == "spherical" else 1  # that share a trace
    noise = unit * shape.scale("squares") / entries * math.sqrt(dim) / whole.rows
    half, far, hidden = settings.iterations // 2, far / whole.rows, noise * total / VISIBLE
    alike, full = hidden >= OWN, settings.covariance == "full"
    many, few = full and dim >= MANY, full and 2 * components <= dim < MANY
    long, start, root = long_axes(whole.covariance, LONG[many])
    by_means = long & (far < 1.0) & (whole.rows >= ROWS * dim) & (many | (few & ~alike))
    in_common = by_means & alike
    hidden = np.minimum(hidden / OWN if few else hidden, 1.0)
    hidden = np.where(by_means, far, hidden)
    alone = hidden >= 1.0
    in_one = noise * steps[0] / math.sqrt(max(1, searching))
    number = np.floor(np.minimum(VISIBLE / np.maximum(in_one, TINY), components + EXTRA))
    number = np.where(by_means, components + EXTRA, number)
    number = np.maximum(number if searching else 0.0 * number, components).astype(int)
    groups = Groups(_started(number, 1.0 - hidden**8, whole, settings), alone)
    if by_means.any():
        unknown = np.full(len(number), UNKNOWN)
        common = CommonShape(by_means, start, half, whole.covariance, unknown)
        begun = common.started(groups.mixture, whole.mean, root)
        groups = replace(groups, mixture=begun, common=common)
    history, clipping = list[Any](), []
    for iteration, step_noise in enumerate(steps, start=1):
        if iteration == searching + 1:
            fewer = merged(groups.mixture, components, settings.covariance)
            groups = Groups(fewer, alone, doubt=groups.doubt, common=groups.common)
            groups = groups.with_one_shape(whole)
        if iteration == half + 1:
            groups = groups.in_common(in_common)
        means, (matrix, inverse) = groups.mixture.means, groups.frames
        shape = _group_moments(settings, dim, means.shape[1], radius)
        noisy = session.release(
            f"iteration {iteration}: moments",
            replace(shape, together=None if groups.common is None else groups.common.runs),
            groups.asking(),
            Noise("gaussian", step_noise),
        )
        groups = groups.after(noisy, whole, radius)
        history.append(partial(_leaving, groups, whole, settings))
        clipping.append(Frame(means[0], matrix[0], inverse[0], radius))
    return Runs(history[-1](), Later(tuple(history)), clipping)


def _leaving(groups: Groups, whole: Whole, settings: MixtureSettings) -> Mixture:
    """The K groups that a step shows, with shapes as far as they are not noise."""
    shown = pooled_shapes(groups.mixture, groups.error, settings.covariance)
    shown = merged(shown, settings.components, settings.covariance)
    return held(shown, whole, settings.held_prior, settings.covariance)


def _group_moments(
    settings: MixtureSettings, dim: int, components: int, radius: float
) -> GroupMoments:
    """A step's statistic. In the ball of a group its own shape is the identity."""
    weights = solved_weights(losses(dim, settings.covariance, radius))
    return GroupMoments.normalised(components, dim, settings.covariance, radius, weights)


def _started(number: Indices, spread: Array, whole: Whole, settings: MixtureSettings) -> Mixture:
    """So many groups in each run, ``(B,)``, spread over the shape of all rows.

    spread ``(B,)``: how far; at 0 each group is that shape. Each run has as many groups as any
    could have, so that its noise is the same whatever else is fitted; those that are too many have
    weight 0.
    """
    dim, most = whole.mean.shape[1], settings.components + EXTRA
    means = np.zeros((len(number), most, dim))
    for run, count in enumerate(number.tolist()):
        means[run, :count] = spread[run] * gmm.start(1, count, dim, settings.start).means[0]
    weights = (np.arange(most) < number[:, None]) / number[:, None]
    root = whitening(whole.covariance)[1]
    variance = 1.0 + spread * (gmm.START_VARIANCE - 1.0)
    shapes = np.repeat((variance[:, None, None] * whole.covariance)[:, None], most, axis=1)
    return Mixture(weights, whole.mean[:, None] + means @ root, shapes)


def _plain_em(
    session: Session[Any], settings: MixtureSettings, whole: Whole, noise: Array
) -> Runs[Mixture]:
    """EM on exact moments, in one frame for all groups: nothing is clipped. noise: zeros."""
    dim, components = session.public.dim, settings.components
    white = Frame.whitening(whole.mean, whole.covariance, math.inf)
    shape = MixtureMoments(components, dim, settings.covariance, 1.0, 1.0, 1.0, 1.0)
    mixture = gmm.start(session.runs, components, dim, settings.start)
    history = []
    for iteration, step_noise in enumerate(noise, start=1):
        shares = InFrame(white, gmm.responsibilities(mixture, settings.covariance))
        noise_of = Noise("gaussian", step_noise)
        moments = session.release(f"iteration {iteration}: moments", shape, shares, noise_of)
        mixture = gmm.m_step(moments, session.rows or 0, settings.held_prior)
        history.append(mixture)
    in_units = tuple(_back(step, white) for step in history)
    return Runs(in_units[-1], in_units, [white.first()] * len(history))


def _all_rows(session: Session[Any], settings: MixtureSettings, multipliers: Array) -> Whole:
    """Mean and covariance of all rows, within the limits.

    multipliers ``(1 or 4, B)``: of one release, or of the four of
    :func:`~dpcore.models.shared.all_rows.release_in_ball`. In few columns the limits serve better;
    the first three releases are made there too, because a budget is priced before the columns are
    known, and are not used; their sums, equal in all runs, are added up once.
    """
    dim = session.public.dim
    if len(multipliers) > 1 and session.private:
        view, (norms, first, distances, _) = View.of(session), multipliers
        view.radii("distances from the middle", norms)
        view.sums("mean of all rows", view.middle[:, None], first)
        view.radii("distances from the middle", distances)
    radius = session.radius
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
        Noise("gaussian", multipliers[-1]),
    )
    rows = number_of_rows(session, noisy.counts)
    mean, covariance = one_gaussian(noisy, rows, radius)
    entry_sd = per_coordinate_sd(noisy, dim) / rows
    return Whole(rows, mean, covariance, noisy.sums_sd / rows, entry_sd)


def _in_ball(session: Session[Any], planned: Array, multipliers: Array) -> Whole:
    """The same of many columns, in a released ball that is chosen for the total noise multiplier
    ``planned (B,)``; multipliers ``(4, B)``: of the releases.

    The mean leaves the ball's middle by the share of signal in it, where its square is expected to
    be half of the rows'; the covariance is drawn towards its diagonal by the noise in it.
    """
    released, ball = release_in_ball(session, planned, multipliers)
    assert ball is not None  # in a private session
    assert released.usual is not None
    dim, sd = session.public.dim, released.sd
    expected = 0.5 * released.usual
    mean = finite(released.mean) * (expected / (expected + released.mean_sd**2))[:, None]
    second, size = sized(finite(released.second_moment), released.usual, sd)
    covariance = second - mean[..., None] * mean[:, None, :]
    size = np.clip(np.trace(covariance, axis1=1, axis2=2) / dim, LEFT * size, size)
    covariance = by_columns(covariance, size, sd * math.sqrt(dim / 2))
    middle, radius = ball.middle + ball.axes * mean, ball.axes[:, 0]
    middle = within(middle, session.public.is_ball, session.radius)
    mean_sd, square = radius * released.mean_sd, radius**2
    return Whole(released.rows, middle, square[:, None, None] * covariance, mean_sd, square * sd)


def _back(mixture: Mixture, frame: Frame) -> Mixture:
    means, shapes = frame.means_back(mixture.means), frame.covariances_back(mixture.covariances)
    return replace(mixture, means=means, covariances=shapes)


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
        shares = InFrame(ball, gmm.responsibilities(mixture, settings.covariance))
        noisy = session.release(f"iteration {iteration}: moments", contribution, shares, noises)
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
        whole, steps = _multipliers(settings)
        return (*(Event(Gaussian(float(noise))) for noise in whole), *gaussians(steps))

    def published(
        self, requests: Sequence[Privacy], settings: MixtureSettings, delta_each: float | None
    ) -> PublishedBudget:
        """Section 5 of the paper, which counts J (2K + 1) releases; ``exact`` counts its Gaussian
        releases as they are."""
        from dpcore.accounting.published import PublishedBudget, published_budget

        demand_replacement(requests)
        releases, used = settings.iterations * (2 * settings.components + 1), delta_each
        epsilon_each, multiplier = np.empty(len(requests)), np.empty(len(requests))
        for i, request in enumerate(requests):
            if request.noise_multiplier is not None:
                delta = request.delta if request.delta is not None else 1e-5
                delta_i = delta_each or delta / (2 * releases)
                multiplier[i] = request.noise_multiplier
                epsilon_each[i] = np.sqrt(2 * np.log(1.25 / delta_i)) / request.noise_multiplier
        for accountant, delta, members, targets in groups(requests):
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
        if request.accountant not in _SECTION:
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
