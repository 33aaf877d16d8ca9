"""The steps of a gradient fit: a mean of bounded gradients with noise, then a step along it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpcore.arrays import Array
from dpcore.errors import InputError
from dpcore.fitting.recipe import Runs
from dpcore.models.gradient_em import mathematics as gradients
from dpcore.models.gradient_em import regressions
from dpcore.models.gradient_em.mathematics import Bend, Coefficients, GradientModel
from dpcore.models.gradient_em.settings import GradientSettings
from dpcore.models.shared.truncation import LIMIT, truncation
from dpcore.wall.data import MaskedRows, PublicFrame
from dpcore.wall.session import Noise, Session
from dpcore.wall.statistics import (
    BallVector,
    BoxVector,
    LocalParts,
    NoisyVectors,
    Parts,
    VectorRows,
    Vectors,
)

CALM, GROWTH = 0.02, 0.25  # noise at which a default norm ends at half sqrt(d tau); its power
LEAST = 2.0  # standard deviations of the noise in a number of rows: none is taken to be less
COUNTED = " and their number"  # is released, where it is not public
MOST_COLUMNS = 64  # in which a direction is asked for: it takes numbers for all pairs of them
LEAST_STEPS = 3  # of a fit whose first step releases a direction
CLEAR = 3.0  # lengths of the noise in a gradient from which on it shows where a step led
SHORTENED = {"clipped": "clipped gradients", "robust": "truncated gradients", "em": "gradients"}
HIDDEN = (
    2.5  # from so much noise in a direction on, as _released_start has it, it is no better than any
)
FARTHEST = 10.0  # times the farthest target: where a slope is drawn back, unless a norm is given


class Ascent:
    """One fit of all runs of a session; multiplier ``(B,)``: noise of each release."""

    def __init__(
        self,
        model: GradientModel,
        session: Session[MaskedRows],
        settings: GradientSettings,
        multiplier: Array,
    ) -> None:
        self.model, self.session, self.settings = model, session, settings
        self.multiplier = multiplier
        self.dim = session.public.dim
        self.norm = _norm(session, settings, mixture=not model.target)
        self.algorithm = _algorithm(session, settings)
        self.bend = self._bend() if self.algorithm == "robust" else None
        self.parts = None
        if settings.split and self.algorithm != "em":
            groups = LocalParts if settings.trust == "local" else Parts
            self.parts = groups(session, settings.iterations, own=settings.own, hidden=self._hidden)
        self.counted: list[Array] = []
        self.divisor: Array | None = None  # the latest, where it is not public

    @property
    def _hidden(self) -> float:
        return self.settings.missing_rate

    @property
    def _counted(self) -> str:
        return COUNTED if self.session.rows is None else ""

    def run(self) -> Runs[Coefficients]:
        """All steps of all runs, from the public start; the first may find a better one."""
        start = self._initial()
        beta, steps = np.tile(start, (self.session.runs, 1)), self.settings.iterations
        history, clipping = list[Coefficients](), list[tuple[Array, float]]()
        if self._releases_start:
            beta = self._released_start(start)
            history.append(self._batch(beta))
            clipping.append((start, math.inf))
        length, last = np.full(len(beta), self.settings.step_size), np.zeros_like(beta)
        for iteration in range(len(history) + 1, steps + 1):
            bound = self._norms((iteration - 1) / steps)
            clipping.append((beta[0], float(bound[0])))
            mean, noise = self._mean_gradient(beta, bound, iteration)
            if self.settings.mode == "proved":
                length = np.where(_overshoots(mean, last, noise), length / 2.0, length)
            beta, last = gradients.ascended(beta, mean, length[:, None], self.norm), mean
            history.append(self._batch(beta))
        return Runs(history[-1], tuple(history), clipping if self.algorithm == "clipped" else ())

    def _initial(self) -> Array:
        initial = self.settings.initial
        if initial is None:
            norm = min(self.settings.start_norm or self.settings.sigma, self.norm)
            return gradients.start(self.model, self.dim, norm, self.settings.start or 0)
        if len(initial) != self.dim:
            raise InputError(
                "initial",
                "its length differs from the number of columns",
                "give one number per column",
            )
        return np.array(initial)

    @property
    def _releases_start(self) -> bool:
        """Whether the first release is of a direction instead of a gradient: public."""
        settings = self.settings
        return (
            self.model.releases_start
            and settings.start is None
            and settings.initial is None
            and settings.mode == "proved"
            and not settings.split
            and settings.iterations >= LEAST_STEPS
            and 1 < self.dim <= MOST_COLUMNS
        )

    def _released_start(self, start: Array) -> Array:
        """Starts ``(B, d)`` as long as the public one ``(d,)``, in a released direction.

        Steps turn slowly towards coefficients of large norm: from a public start at nearly a right
        angle to them, all may be spent on the way. It stays where noise hides any direction: the
        eigenvalues of noise of size q reach ``2 q sqrt d``, and those of d directions are ``1/d``.
        """
        reach = _farthest(self.session, self.settings)

        def squares(rows: VectorRows, runs: slice) -> Array:
            assert rows.targets is not None  # as of every regression
            sigma = self.settings.sigma
            return regressions.directions(sigma, reach, rows.rows, rows.targets)[None]

        vectors = Vectors(squares, own=self.settings.own, alike=True)
        shape = BallVector(self.dim * (self.dim + 1), 1.0)
        summed = f"iteration 1: directions of rows with a large target{self._counted}"
        noisy = self.session.release(summed, shape, vectors, Noise("gaussian", self.multiplier))
        count = self._divisor(noisy)
        first = regressions.first_direction(noisy.sums, count, self.dim)
        sign = np.where(first @ start < 0.0, -1.0, 1.0)  # the one nearer to the public start
        turned = np.linalg.norm(start) * sign[:, None] * first
        hidden = 2.0 * self.dim**1.5 * noisy.sums_sd / count > HIDDEN
        return np.asarray(np.where(hidden[:, None], start, turned))

    def _norms(self, progress: float) -> Array:
        """The largest norm of a gradient ``(B,)``, from what is public or released.

        progress: the share of the steps that were made. Unless a norm is given, it begins at
        ``sqrt(d tau)`` and shrinks in the second half, where noise is strong: noise in a mean is as
        large as the norm, while shorter gradients lead the same way more slowly. Of six shares of
        ``sqrt(d tau)``, held in all steps, the best one was, on 64 simulated tables and budgets,
        within a factor of about 1.5 of ``(CALM / q)^GROWTH / 2``, with q the length of the noise in
        the mean of vectors of norm 1; steps end at that share.
        """
        settings, session, runs = self.settings, self.session, self.session.runs
        norm = settings.radius(self.dim)
        if settings.threshold is not None or not session.private:
            return np.full(runs, norm)
        rows = np.full(runs, math.nan)
        if self.divisor is not None:
            rows = self.divisor
        elif session.rows is not None or settings.rows is not None:
            rows = np.full(runs, max(1.0, float(self._expected_rows())))
        unit = BallVector(self.dim, 1.0).l2_sensitivity(session.adjacency)
        noise = unit * session.rows_per_person * math.sqrt(self.dim) * self.multiplier
        relative = noise / (np.sqrt(rows) if settings.trust == "local" else rows)
        relative = np.where(np.isnan(rows), CALM, np.maximum(relative, CALM / 16.0))
        least = np.minimum(1.0, 0.5 * (CALM / relative) ** GROWTH)
        return np.asarray(norm * least ** max(0.0, 2.0 * progress - 1.0))

    def _mean_gradient(self, beta: Array, bound: Array, iteration: int) -> tuple[Array, Array]:
        """Mean of the gradients ``(B, d)``, each no longer than ``bound (B,)``, and the standard
        deviation ``(B,)`` of the noise in a coordinate of it."""
        sigma, bend = self.settings.sigma, self.bend
        of_rows = self.model.gradients

        def plain(rows: VectorRows, runs: slice) -> Array:
            return of_rows(beta[runs], sigma, rows.rows, rows.targets, rows.observed)

        def shortened(rows: VectorRows, runs: slice) -> Array:
            with np.errstate(over="ignore"):
                return np.asarray(plain(rows, runs) / bound[runs, None, None])

        if self.algorithm == "em":
            noisy = self._measure(BallVector(self.dim, math.inf), plain, iteration)
            return self._divided(noisy, np.ones(len(beta)))
        if bend is None:
            noisy = self._measure(BallVector(self.dim, 1.0), shortened, iteration)
            return self._divided(noisy, bound)
        scale, soft = bend.scale, truncation(bend.smoothing)

        def truncated(rows: VectorRows, runs: slice) -> Array:
            with np.errstate(over="ignore"):
                return np.asarray(soft(plain(rows, runs) / scale[runs, None, None]))

        noisy = self._measure(BoxVector(self.dim, soft.largest), truncated, iteration)
        return self._divided(noisy, scale)

    def _divided(self, noisy: NoisyVectors, unit: Array) -> tuple[Array, Array]:
        """The mean of vectors in some unit ``(B,)``, and the noise in a coordinate of it."""
        count = self._divisor(noisy)
        return unit[:, None] * noisy.sums / count[:, None], unit * noisy.sums_sd / count

    def _measure(
        self, contribution: BallVector | BoxVector, step: Any, iteration: int
    ) -> NoisyVectors:
        multiplier = self.multiplier
        if self.settings.mode == "paper" and self.bend is not None:
            multiplier = multiplier * (LIMIT / contribution.bound)  # its bound is that of phi
        noise = Noise("gaussian", multiplier)
        summed = f"{SHORTENED[self.algorithm]}{self._counted}"
        if self.parts is not None:
            what = (
                f"iterations 1 to {self.settings.iterations}: {summed}, each step on its own rows"
            )
            return self.parts.release_next(what, contribution, step, noise)
        return self.session.release(
            f"iteration {iteration}: {summed}",
            contribution,
            Vectors(step, own=self.settings.own, hidden=self._hidden),
            noise,
        )

    def _divisor(self, noisy: NoisyVectors) -> Array:
        """How many rows were summed ``(B,)``: public, or the mean of what was released so far, and
        at least what its noise could pass for: with too small a divisor, steps would be wild."""
        if self.session.rows is not None:
            return np.full(self.session.runs, max(1.0, float(self._expected_rows())))
        self.counted.append(noisy.counts)
        least = np.maximum(1.0, LEAST * noisy.counts_sd / math.sqrt(len(self.counted)))
        self.divisor = np.maximum(np.mean(self.counted, axis=0), least)
        return self.divisor

    def _expected_rows(self) -> int:
        """Rows of one release: public, or the public guess."""
        count = self.session.rows if self.session.rows is not None else self.settings.rows
        if count is None:
            raise InputError(
                "rows",
                "the truncation threshold depends on the number of rows, which is not public here",
                "give a public guess of that number, or choose the clipped algorithm",
            )
        split = self.settings.split and self.algorithm != "em"
        return count // self.settings.iterations if split else count

    def _bend(self) -> Bend:
        settings = self.settings
        if settings.bend == "typical":
            scale = settings.threshold or 2.0 * math.sqrt(settings.public_tau)
            return gradients.fixed_bend(self.session.runs, scale, settings.failure)
        form = math.log(1.0 / settings.failure) if settings.form == "second" else 1.0
        return gradients.printed_bend(
            self.multiplier / math.sqrt(form),
            max(1.0, float(self._expected_rows())),
            settings.public_tau,
            settings.failure,
        )

    def _batch(self, beta: Array) -> Coefficients:
        session = self.session
        frames = (None, None) if self.settings.own else (session.public, session.source.target)
        return Coefficients.of(beta, self.settings.sigma, *frames)


@np.errstate(over="ignore", invalid="ignore")
def _overshoots(gradient: Array, last: Array, noise: Array) -> Array:
    """Which runs ``(B,)`` stepped over what they look for: a gradient ``(B, d)`` that leads back
    and is hardly shorter than the last, both far longer than their noise ``(B,)`` a coordinate.
    Total: none, where a length is too large to be squared."""
    size, before = (np.linalg.norm(vector, axis=1) for vector in (gradient, last))
    back = np.sum(gradient * last, axis=1) < -0.5 * size * before
    clear = np.minimum(size, before) > CLEAR * math.sqrt(gradient.shape[1]) * noise
    return np.asarray(back & clear & (size > 0.9 * before))


def _algorithm(session: Session[MaskedRows], settings: GradientSettings) -> str:
    """What is done here: without privacy, nothing is bounded, unless it shall look as if."""
    bounded = session.private or session.as_private
    if not bounded or settings.algorithm == "em":
        return "em"
    robust = settings.algorithm == "robust"
    if robust and not session.private and settings.bend == "printed":
        return "em"  # the printed truncation tends to none as the noise vanishes
    return "robust" if robust else "clipped"


def _norm(session: Session[MaskedRows], settings: GradientSettings, *, mixture: bool) -> float:
    """Radius of the public ball that beta is kept in: any that holds the truth will do.

    The mean of rows is no longer than the longest row that the bounds allow; a slope for covariates
    of spread 1 no larger than the farthest target, here with some room.
    """
    if settings.norm is not None:
        return settings.norm
    if mixture:
        return _reach(session.public, own=settings.own)
    return FARTHEST * _farthest(session, settings)


def _farthest(session: Session[MaskedRows], settings: GradientSettings) -> float:
    """Of a regression's targets, in its coordinates."""
    target = session.source.target
    assert target is not None  # a regression's session has a target
    return _reach(target, own=settings.own)


def _reach(public: PublicFrame, *, own: bool) -> float:
    """Of the points that the bounds allow, how far the farthest is from 0; own: as settings say."""
    if not own:
        return public.radius
    if public.is_ball:
        return float(np.linalg.norm(public.center) + public.half_range[0])
    return float(np.linalg.norm(np.abs(public.center) + public.half_range))
