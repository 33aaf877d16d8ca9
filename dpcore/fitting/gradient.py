"""Private gradient EM: steps along a mean of gradients, each bounded before it is averaged.

*clipped*: every gradient is drawn into a ball and all rows serve every step. *robust*: every
coordinate is truncated softly (:mod:`dpcore.models.truncation`). *em*: neither, without privacy.
Wang, Ding, Hu, Xie, Pan, Xu 2023, Algorithms 1 and 2. Proved, the clipped one at ``sqrt(d tau)``
is the default: it knows no more than the robust one, whose box costs ``sqrt d`` more than a ball of
the same typical gradient, and was the more accurate wherever both were run.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcore.accounting.published import PublishedBudget
from dpcore.checks import one_of, positive, probability, whole
from dpcore.errors import InputError
from dpcore.fitting.gradient_parameters import GradientParameters
from dpcore.fitting.recipe import Printed, Runs
from dpcore.models import gradient as gradients
from dpcore.models.gradient import (
    MISSING,
    REGRESSIONS,
    SYMMETRIC,
    Bend,
    Coefficients,
    GradientModel,
)
from dpcore.models.truncation import LIMIT, truncation
from dpcore.privacy import Event, Gaussian, Privacy
from dpcore.wall.clip import PublicFrame
from dpcore.wall.doors import Noise, Session
from dpcore.wall.vectors import BallVector, BoxVector, NoisyVectors, VectorRows, VectorSession

Array = NDArray[np.float64]

ALGORITHMS = ("em", "clipped", "robust")
FORMS = ("first", "second")
BENDS = ("typical", "printed")
PRINTED_THRESHOLD = 1.0  # C of Algorithm 1 in the paper's figures
FARTHEST = 10.0  # times the farthest target: where a slope is drawn back, unless a norm is given
MASKED = "which cells are missing is protected with the rest of the row"
PAPER = "Wang, Ding, Hu, Xie, Pan, Xu 2023"


@dataclass(frozen=True)
class GradientSettings:
    """Public choices of a gradient fit; none may be read from the data.

    algorithm: ``None`` is clipped under privacy and em without. sigma: the known noise level. tau:
    bound on the mean square of a gradient's coordinate, ``None`` for ``4 sigma^2``. threshold:
    largest norm of a gradient, ``None`` for ``sqrt(d tau)``; of the robust algorithm the scale of
    its truncation, ``None`` for that of ``bend``. norm: largest ``|beta|``. initial:
    where to start, ``None`` for a start by the seed ``start`` of norm ``start_norm`` (``None``:
    sigma). own: whether all these are in the
    data's own units about 0, not in public unit coordinates. split: whether every step has rows of
    its own. failure: the probability ``zeta`` at which the truncation aims. bend: its scale,
    twice the typical coordinate (``2 sqrt tau``) or as printed. form: which printed noise. rows: a
    public guess of how many rows there are, where that is not public. missing_rate: share of the
    numbers to hide on top.
    """

    components: int = 1
    iterations: int = 15
    algorithm: str | None = None
    sigma: float = 1.0
    tau: float | None = None
    threshold: float | None = None
    norm: float | None = None
    step_size: float = 1.0
    initial: tuple[float, ...] | None = None
    start: int = 0
    start_norm: float | None = None
    own: bool = True
    split: bool = False
    failure: float = 0.05
    bend: str = "typical"
    form: str = "first"
    rows: int | None = None
    missing_rate: float = 0.0
    mode: str = "proved"

    @property
    def public_tau(self) -> float:
        return gradients.default_tau(self.sigma) if self.tau is None else self.tau

    def radius(self, dim: int) -> float:
        """The largest norm that a clipped gradient keeps."""
        return math.sqrt(dim * self.public_tau) if self.threshold is None else self.threshold


class GradientRecipe:
    """Gradient EM of one model, proved and as published; see the module."""

    words: tuple[str, ...] = (
        "iterations",
        "algorithm",
        "sigma",
        "tau",
        "threshold",
        "norm",
        "step_size",
        "initial",
        "start",
        "start_norm",
        "own",
        "split",
        "failure",
        "bend",
        "form",
        "rows",
    )

    def __init__(self, model: GradientModel) -> None:
        self.model = model
        self.opens = partial(VectorSession, target=model.target, masked=model.masked)
        if model.masked:
            self.words = (*self.words, "missing_rate")

    def settings(
        self,
        *,
        components: int = 1,
        iterations: int | None = None,
        algorithm: str | None = None,
        sigma: float = 1.0,
        tau: float | None = None,
        threshold: float | None = None,
        norm: float | None = None,
        step_size: float = 1.0,
        initial: Sequence[float] | None = None,
        start: int = 0,
        start_norm: float | None = None,
        own: bool = True,
        split: bool | None = None,
        failure: float = 0.05,
        bend: str | None = None,
        form: str = "first",
        rows: int | None = None,
        missing_rate: float = 0.0,
        mode: str = "proved",
    ) -> GradientSettings:
        """Settings from plain words; components are not asked for: there is one beta."""
        if algorithm is not None:
            one_of("algorithm", algorithm, ALGORITHMS)
        if mode == "paper":
            algorithm, split, bend = _as_printed(algorithm, split, bend)
            if algorithm == "clipped" and threshold is None:
                threshold = PRINTED_THRESHOLD
        failure = probability("failure", failure, example="0.05")
        one_of("form", form, FORMS)
        if form == "second" and failure > math.exp(-1.0):
            raise InputError(
                "form",
                "the second printed noise is too small to be private for a failure above 1/e",
                "choose the first form or a smaller failure",
            )
        if form == "second" and (mode != "paper" or algorithm != "robust"):
            raise InputError(
                "form", "only the robust algorithm as printed has two", "leave it at first"
            )
        if split and algorithm == "em":
            raise InputError("split", "em needs no parts", "choose clipped or robust")
        if not 0.0 <= missing_rate < 1.0:
            raise InputError("missing_rate", "it is not a share below 1", "give one, e.g. 0.2")
        return GradientSettings(
            components=1,
            iterations=whole("iterations", 15 if iterations is None else iterations),
            algorithm=algorithm,
            sigma=positive("sigma", sigma),
            tau=None if tau is None else positive("tau", tau),
            threshold=None if threshold is None else positive("threshold", threshold),
            norm=None if norm is None else positive("norm", norm),
            step_size=positive("step_size", step_size),
            initial=None if initial is None else _finite(initial),
            start=whole("start", start, least=0),
            start_norm=None if start_norm is None else positive("start_norm", start_norm),
            own=bool(own),
            split=bool(split),
            failure=failure,
            bend=one_of("bend", bend or "typical", BENDS),
            form=form,
            rows=None if rows is None else whole("rows", rows),
            missing_rate=float(missing_rate),
            mode=mode,
        )

    def events(self, settings: GradientSettings) -> tuple[Event, ...]:
        """One release a step; steps on disjoint parts count as one."""
        _demand_bounded(settings)
        if settings.split:
            return (Event(Gaussian(1.0)),)
        return (Event(Gaussian(math.sqrt(settings.iterations)), count=settings.iterations),)

    def published(
        self, requests: Sequence[Privacy], settings: GradientSettings, delta_each: float | None
    ) -> PublishedBudget:
        """The paper's noise: ``rho = e^2`` of zCDP for the whole fit, whatever the accountant.

        ``e = sqrt(ln(1/delta) + epsilon) - sqrt(ln(1/delta))``. The constant of Algorithm 1 is not
        printed; here it is the one by the same counting, of T releases of the same rows.
        """
        _demand_bounded(settings)
        if any(p.adjacency != "replace_one" for p in requests):
            raise InputError(
                "adjacency", "the paper protects the replacement of a row", "choose replace_one"
            )
        releases = 1 if settings.split else settings.iterations
        multiplier = np.array([_printed_multiplier(p, releases) for p in requests])
        if settings.form == "second":
            multiplier *= math.sqrt(math.log(1.0 / settings.failure))
        return PublishedBudget(1.0 / multiplier, multiplier, None, releases)

    def printed(self, request: Privacy, settings: GradientSettings) -> Printed | None:
        if request.mode != "paper":
            return None
        if settings.algorithm == "clipped":
            return Printed(
                f"{PAPER}, Algorithm 1",
                (
                    "its constant is not printed; here it is that of zero-concentrated counting, "
                    "as in Algorithm 2",
                ),
            )
        return Printed(
            f"{PAPER}, Algorithm 2 and Theorem 3",
            (
                "each row is in one part and is truncated inside its bound; equation (14) computed "
                "as printed would leave that bound for large gradients",
                "the two forms printed of its noise differ by a factor of ln(1/zeta)",
            ),
        )

    def assumed(self, lines: tuple[str, ...], settings: GradientSettings) -> tuple[str, ...]:
        """What the guarantee takes for granted, beside the usual lines."""
        if self.model.masked:
            lines = tuple(MASKED if line.startswith("a missing cell") else line for line in lines)
        if settings.split:
            lines = (*lines, "rows were divided into parts by a coin that reads no row")
        return (*lines, "noise level, tau, threshold and step size were chosen likewise")

    def fit(
        self,
        session: Session,
        settings: GradientSettings,
        noise: Array,
        published: PublishedBudget | None,
    ) -> Runs[Coefficients]:
        assert isinstance(session, VectorSession)  # the kind this recipe asks for
        multiplier = np.asarray(noise) * (1.0 if settings.split else math.sqrt(settings.iterations))
        if published is not None:
            multiplier = np.asarray(published.noise_multiplier)
        return _Ascent(self.model, session, settings, multiplier).run()

    def parameters(self, batch: Coefficients, run: int, public: PublicFrame) -> GradientParameters:
        return GradientParameters.from_units(self.model.name, batch, run, public)


class _Ascent:
    """One fit of all runs of a session; multiplier ``(B,)``: noise of each release."""

    def __init__(
        self,
        model: GradientModel,
        session: VectorSession,
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
            self.parts = session.parts(settings.iterations, own=settings.own, hidden=self._hidden)
        self.counted: list[Array] = []

    @property
    def _hidden(self) -> float:
        return self.settings.missing_rate

    def run(self) -> Runs[Coefficients]:
        beta = np.tile(self._initial(), (self.session.runs, 1))
        history = []
        for iteration in range(1, self.settings.iterations + 1):
            mean = self._mean_gradient(beta, iteration)
            beta = gradients.ascended(beta, mean, self.settings.step_size, self.norm)
            history.append(self._batch(beta))
        return Runs(history[-1], tuple(history))

    def _initial(self) -> Array:
        given = self.settings.initial
        if given is None:
            norm = min(self.settings.start_norm or self.settings.sigma, self.norm)
            return gradients.start(self.model, self.dim, norm, self.settings.start)
        if len(given) != self.dim:
            raise InputError(
                "initial", "it has another length than there are columns", "give one number each"
            )
        return np.array(given)

    def _mean_gradient(self, beta: Array, iteration: int) -> Array:
        """Mean of the bounded gradients ``(B, d)``, with noise."""
        sigma, bend = self.settings.sigma, self.bend
        of_rows = self.model.gradients

        def plain(seen: VectorRows, runs: slice) -> Array:
            return of_rows(beta[runs], sigma, seen.rows, seen.targets, seen.observed)

        if bend is None:
            bound = self.settings.radius(self.dim) if self.algorithm == "clipped" else math.inf
            noisy = self._measure(BallVector(self.dim, bound), plain, iteration)
            return np.asarray(noisy.sums / self._divisor(noisy)[:, None])
        scale, soft = bend.scale, truncation(bend.smoothing)

        def truncated(seen: VectorRows, runs: slice) -> Array:
            with np.errstate(over="ignore"):
                return np.asarray(soft(plain(seen, runs) / scale[runs, None, None]))

        noisy = self._measure(BoxVector(self.dim, soft.largest), truncated, iteration)
        return np.asarray(scale[:, None] * noisy.sums / self._divisor(noisy)[:, None])

    def _measure(
        self, contribution: BallVector | BoxVector, step: Any, iteration: int
    ) -> NoisyVectors:
        multiplier = self.multiplier
        if self.settings.mode == "paper" and self.bend is not None:
            multiplier = multiplier * (LIMIT / contribution.bound)  # its bound is that of phi
        noise = Noise("gaussian", multiplier)
        if self.parts is not None:
            what = f"iterations 1 to {self.settings.iterations}: gradients, each of its own rows"
            return self.parts.measure_next(what, contribution, step, noise)
        return self.session.measure_vectors(
            f"iteration {iteration}: gradients",
            contribution,
            step,
            noise,
            own=self.settings.own,
            hidden=self._hidden,
        )

    def _divisor(self, noisy: NoisyVectors) -> Array:
        """How many rows were summed ``(B,)``: public, or the mean of what was released so far."""
        if self.session.rows is not None:
            return np.full(self.session.runs, max(1.0, float(self._expected_rows())))
        self.counted.append(noisy.counts)
        return np.asarray(np.maximum(np.mean(self.counted, axis=0), 1.0))

    def _expected_rows(self) -> int:
        """Rows of one release: public, or the public guess."""
        known = self.session.rows if self.session.rows is not None else self.settings.rows
        if known is None:
            raise InputError(
                "rows",
                "how far to truncate depends on how many rows there are, which is not public here",
                "give a public guess, or choose the clipped algorithm",
            )
        split = self.settings.split and self.algorithm != "em"
        return known // self.settings.iterations if split else known

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
        session, runs = self.session, self.session.runs
        origin, scale = np.zeros(self.dim), np.ones(self.dim)
        target_origin, target_scale = 0.0, 1.0
        if not self.settings.own:
            origin, scale = session.public.center, session.public.half_range
            if session.target is not None:
                target_origin = float(session.target.center[0])
                target_scale = float(session.target.half_range[0])
        return Coefficients(
            beta,
            np.full(runs, self.settings.sigma),
            np.tile(origin, (runs, 1)),
            np.tile(scale, (runs, 1)),
            np.full(runs, target_origin),
            np.full(runs, target_scale),
        )


def _algorithm(session: VectorSession, settings: GradientSettings) -> str:
    """What is done here: without privacy, nothing is bounded, unless it shall look as if."""
    bounded = session.private or session.as_private
    if not bounded or settings.algorithm == "em":
        return "em"
    robust = settings.algorithm == "robust"
    if robust and not session.private and settings.bend == "printed":
        return "em"  # the printed truncation tends to none as the noise vanishes
    return "robust" if robust else "clipped"


def _norm(session: VectorSession, settings: GradientSettings, *, mixture: bool) -> float:
    """Radius of the public ball that beta is kept in: any that holds the truth will do.

    The mean of rows is no longer than the longest row that the bounds allow; a slope for covariates
    of spread 1 no larger than the farthest target, here with some room.
    """
    if settings.norm is not None:
        return settings.norm
    public = session.public if mixture else session.target
    assert public is not None  # a regression's session has a target
    if not settings.own:
        return public.radius if mixture else FARTHEST
    if public.is_ball:
        return float(np.linalg.norm(public.center) + public.half_range[0])
    farthest = float(np.linalg.norm(np.abs(public.center) + public.half_range))
    return farthest if mixture else FARTHEST * farthest


def _demand_bounded(settings: GradientSettings) -> None:
    if settings.algorithm == "em":
        raise InputError(
            "algorithm", "em bounds no row, so no noise protects it", "choose clipped or robust"
        )


def _as_printed(
    algorithm: str | None, split: bool | None, bend: str | None
) -> tuple[str | None, bool, str]:
    """The algorithm as a paper prints it: all rows for Algorithm 1, parts for Algorithm 2."""
    robust = algorithm in (None, "robust")
    if split is not None and split != robust:
        raise InputError(
            "split",
            "as printed, the robust algorithm splits the rows and the clipped one does not",
            "leave it out or choose the proved mode",
        )
    if bend not in (None, "printed"):
        raise InputError("bend", "the paper prints another", "leave it out")
    return "robust" if algorithm is None else algorithm, robust, "printed"


def _printed_multiplier(request: Privacy, releases: int) -> float:
    """Noise / the paper's sensitivity in each release."""
    if request.noise_multiplier is not None:
        return request.noise_multiplier
    assert request.epsilon is not None  # one of the two was given
    assert request.delta is not None  # comes with epsilon
    log = math.log(1.0 / request.delta)
    share = request.epsilon / (math.sqrt(log + request.epsilon) + math.sqrt(log))
    return math.sqrt(releases / 2.0) / share


def _finite(values: Sequence[float]) -> tuple[float, ...]:
    found = tuple(float(value) for value in values)
    if not found or not all(map(math.isfinite, found)):
        raise InputError("initial", "it is not a list of numbers", "give one number a column")
    return found


SYMMETRIC_MIXTURE: Any = GradientRecipe(SYMMETRIC)
MIXTURE_REGRESSION: Any = GradientRecipe(REGRESSIONS)
MISSING_REGRESSION: Any = GradientRecipe(MISSING)
