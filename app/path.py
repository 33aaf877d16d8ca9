"""The path of the Learn page: one idea a screen, a mark to drag, and a curve that the reader draws
before the true one is shown. The words stand in ``path.md``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from app.lesson import sections
from app.scenario import opening
from app.texts import learn as texts
from dpcore.accounting import delta_of, epsilon_of, mu_of, posterior
from dpcore.arrays import Array
from dpcore.auditing.exhibits import exhibits
from dpcore.datasets.load import load
from dpcore.evaluation.study import fitted
from dpcore.evaluation.yardstick import scorer_of, yardstick
from dpcore.figures.layers import Layer, compact
from dpcore.figures.model_plot import brief
from dpcore.figures.scene import Axis, Cursor, Curve, Ellipses, Panel, Points, Scene, Spots
from dpcore.fitting.api import fit_grid
from dpcore.models.gaussian_mixture.mathematics import Mixture
from dpcore.wall.data import PublicFrame

DELTA = 1e-5
WORDS = ("about", "ask", "high", "low", "right", "after")  # paragraphs of a screen, in their order
HEIGHT = 400


@dataclass(frozen=True)
class Screen:
    """One idea.

    scene: what moves with the slider; the curve is drawn in its panel "guess". x, truth ``(m,)``:
    the true curve. dial: what the slider is called. handle: the panel of the mark and its places
    ``(S,)``. unit: behind the values of the curve.
    """

    name: str
    scene: Scene
    x: Array
    truth: Array
    dial: str
    unit: str
    handle: tuple[str, Array, Array]

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready, with its words."""
        title, *paragraphs = sections("path.md")[self.name]
        panel, x, y = self.handle
        return {
            "name": self.name,
            "title": title,
            **dict(zip(WORDS, paragraphs, strict=True)),
            "scene": self.scene.as_dict(),
            "x": compact(self.x),
            "truth": compact(self.truth),
            "unit": self.unit,
            "dial": self.dial,
            "handle": {"panel": panel, "x": compact(x), "y": compact(y)},
        }


def _guess(title: str, alt: str, x: Axis, y: Axis, at: Array, *more: Layer, **wide: Any) -> Panel:
    """The panel in which the reader draws; a line shows where the mark is."""
    cursor = Cursor(at, np.full(len(at), np.nan))
    return Panel("guess", title, "", alt, x, y, (*more, cursor), **{"height": HEIGHT} | wide)


def _panel(
    name: str, title: str, subtitle: str, alt: str, x: Axis, y: Axis, *layers: Layer
) -> Panel:
    return Panel(name, title, subtitle, alt, x, y, layers, height=HEIGHT)


def _scene(steps: Array, symbol: str, step: int, *panels: Panel) -> Scene:
    labels = tuple(map(brief, steps))
    return Scene(tuple(steps), labels, panels, step=step, symbol=symbol)


# ---------------------------------------------------------------- one function a screen


def normal_density(at: Array) -> Array:
    """Density of a standard normal variable ``(m,)``; scipy.stats takes half a second to import."""
    return np.exp(-0.5 * np.square(at)) / math.sqrt(2.0 * math.pi)


def coin() -> Screen:
    """Two counts under Laplace noise, and how often the best attacker tells them apart."""
    steps, outputs = np.geomspace(0.1, 5.0, 25), np.linspace(25.0, 57.0, 129)
    scale = 1.0 / steps[:, None]
    curves = [np.exp(-np.abs(outputs - count) / scale) for count in (40.0, 41.0)]
    epsilons = np.geomspace(0.1, 5.0, 60)
    scene = _scene(
        steps,
        "ε",
        12,
        _panel(
            "outcomes",
            "Counts that may be released",
            "without you 40, with you 41",
            "Two peaks, at 40 and at 41, which widen as epsilon falls.",
            Axis("released count", (25.0, 57.0)),
            Axis("likelihood (peak = 1)", (0.0, 1.1)),
            Curve(outputs, curves[0], colour=0, name="without you"),
            Curve(outputs, curves[1], colour=1, name="with you"),
        ),
        _guess(
            "How often is the attacker right?",
            "An empty chart of right guesses, in percent, against epsilon.",
            Axis("ε", (0.1, 5.0), "log"),
            Axis("right guesses (%)", (45.0, 100.0), ticks=tuple(np.arange(50.0, 101.0, 10.0))),
            steps,
        ),
    )
    place = 41.0 + 1.0 / steps, np.full(len(steps), math.exp(-1.0))
    truth = 100.0 * (1.0 - 0.5 * np.exp(-0.5 * epsilons))
    return Screen("coin", scene, epsilons, truth, "ε", "%", ("outcomes", *place))


def bet() -> Screen:
    """How outcomes multiply odds: Laplace noise up to e^epsilon, Gaussian noise without end."""
    steps, outputs = np.linspace(0.2, 4.0, 39), np.linspace(-12.0, 13.0, 126)
    pure = np.exp(steps[:, None] * np.clip(2.0 * outputs - 1.0, -1.0, 1.0))
    mu = np.asarray(mu_of(steps, DELTA))[:, None]
    normal = np.exp(mu**2 * (outputs - 0.5))
    epsilons = np.linspace(0.0, 4.0, 60)
    scene = _scene(
        steps,
        "ε",
        8,
        _panel(
            "odds",
            "An outcome multiplies the odds",
            "blue: Laplace · orange: Gaussian",
            "With Laplace noise the factor never exceeds e to the epsilon; with Gaussian noise it "
            "keeps growing with the released value.",
            Axis("released value (without you 0, with you 1)", (-12.0, 13.0)),
            Axis("odds multiplied by", (0.01, 100.0), "log"),
            Curve(outputs, pure, colour=0, name="Laplace"),
            Curve(outputs, normal, colour=1, name="Gaussian"),
        ),
        _guess(
            "From a belief of 10%",
            "An empty chart of the attacker's largest belief, in percent, against epsilon.",
            Axis("ε", (0.0, 4.0)),
            Axis("largest belief (%)", (0.0, 100.0)),
            steps,
        ),
    )
    truth = 100.0 * np.asarray(posterior(0.1, epsilons))
    place = np.full(len(steps), 10.0), np.exp(steps)
    return Screen("bet", scene, epsilons, truth, "ε", "%", ("odds", *place))


POWERS = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0)
AGES = np.array([19.0, 24.0, 31.0, 36.0, 42.0, 47.0, 55.0, 63.0, 78.0])


def sensitivity() -> Screen:
    """One of ten people walks along the axis and takes the mean along."""
    steps = np.linspace(0.0, 100.0, 41)
    means = (AGES.sum() + steps) / (len(AGES) + 1)
    people = np.geomspace(10.0, 10_000.0, 60)
    sums = tuple(
        f"sum {AGES.sum() + age:.0f}, mean {mean:.1f}"
        for age, mean in zip(steps, means, strict=True)
    )
    scene = _scene(
        steps,
        "age",
        14,
        Panel(
            "people",
            "Ten people",
            sums,
            tuple(f"Nine people stay as they are; the tenth is {age:.0f}: "
                f"{line}." for age, line in
                  zip(steps, sums, strict=True)),
            Axis("age (years)", (0.0, 100.0)),
            Axis("spread vertically for legibility", (0.0, 1.0)),
            (
                Cursor(means, np.full(len(steps), np.nan)),
                Spots(AGES, np.linspace(0.3, 0.7, 9)[[4, 1, 7, 2, 8, 0, 6, 3, 5]],
                      tuple(f"person {k}" for k in range(1, 10)), colours=(0,) * 9),
            ),
            height=HEIGHT,
        ),
        _guess(
            "How far can one person move the mean?",
            "An empty chart of the largest change of the mean against the number of people.",
            Axis("number of people", (10.0, 10_000.0), "log"),
            Axis("largest change of the mean (years)", (0.001, 100.0), "log", POWERS),
            np.full(len(steps), 10.0),
        ),
    )  # fmt: skip
    place = steps, np.full(len(steps), 0.5)
    return Screen(
        "sensitivity", scene, people, 100.0 / people, texts.AGE_DIAL, " years",
        ("people", *place),
    )  # fmt: skip


INCOME_PEOPLE, INCOME_EPSILON = 1_000, 0.05  # lognormal, median 40, scale 0.8


def clipped_error(threshold: Array) -> Array:
    """Root mean square error of the private mean of incomes that are clipped ``(m,)``.

    The bias is that of the distribution, E(X - c)+; sampling is left out. Black, Scholes 1973 for
    the expectation of a lognormal above a threshold.
    """
    upper = (math.log(40.0) + 0.64 - np.log(threshold)) / 0.8
    bias = 40.0 * math.exp(0.32) * ndtr(upper) - threshold * ndtr(upper - 0.8)
    noise = math.sqrt(2.0) * threshold / (INCOME_PEOPLE * INCOME_EPSILON)
    return np.asarray(np.hypot(bias, noise))


def clipping() -> Screen:
    """A threshold on incomes, and the error of the private mean."""
    steps, thresholds = np.geomspace(10.0, 1_000.0, 41), np.geomspace(10.0, 1_000.0, 80)
    incomes = np.geomspace(3.0, 1_000.0, 101)
    height = normal_density(np.log(incomes / 40.0) / 0.8) / 0.8  # on a log axis
    height /= height.max()
    cut = np.where(incomes >= steps[:, None], height, np.nan)
    place = steps, np.interp(np.log(steps), np.log(incomes), height)
    scene = _scene(
        steps,
        "threshold",
        12,
        _panel(
            "incomes",
            "Incomes",
            "orange: clipped to the threshold",
            "A bell curve of incomes on a log axis; the part above the threshold is filled.",
            Axis("income (thousand a year)", (3.0, 1_000.0), "log"),
            Axis("people (peak = 1)", (0.0, 1.15)),
            Curve(incomes, height, colour=0, name="incomes"),
            Curve(incomes, cut, np.zeros(cut.shape[-1]), cut, colour=1, name="cut"),
            Cursor(steps, np.full(len(steps), np.nan)),
        ),
        _guess(
            "How wrong is the private mean?",
            "An empty chart of the error of the mean against the threshold.",
            Axis("threshold (thousand a year)", (10.0, 1_000.0), "log"),
            Axis("error (thousand a year)", (0.0, 50.0)),
            steps,
        ),
    )
    return Screen(
        "clipping", scene, thresholds, clipped_error(thresholds), "threshold", " thousand",
        ("incomes", *place),
    )  # fmt: skip


def tail() -> Screen:
    """The privacy loss of one Gaussian release, and the weighted tail beyond epsilon."""
    steps, losses = np.linspace(0.0, 4.0, 41), np.linspace(-3.0, 5.0, 101)
    height = normal_density(losses - 0.5)
    beyond = height * np.maximum(-np.expm1(np.minimum(steps[:, None] - losses, 0.0)), 0.0)
    epsilons = np.linspace(0.0, 4.0, 60)
    scene = _scene(
        steps,
        "ε",
        10,
        _panel(
            "loss",
            "The privacy loss",
            "filled: δ, the weighted tail beyond ε",
            "A normal curve centred at one half; the weighted tail beyond epsilon is filled.",
            Axis("privacy loss L", (-3.0, 5.0)),
            Axis("density", (0.0, 0.45)),
            Curve(losses, height, colour=0, name="density"),
            Curve(losses, beyond, np.zeros(beyond.shape[-1]), beyond, colour=1, name="tail"),
            Cursor(steps, np.full(len(steps), np.nan)),
        ),
        _guess(
            "What is δ for every ε?",
            "An empty chart of delta, on a log axis, against epsilon.",
            Axis("ε", (0.0, 4.0)),
            Axis("δ", (1e-6, 1.0), "log", (1e-6, 1e-5, 1e-4, 0.001, 0.01, 0.1, 1.0)),
            steps,
        ),
    )
    truth = np.array([float(delta_of(epsilon, 1.0)) for epsilon in epsilons])
    return Screen(
        "tail", scene, epsilons, truth, "ε", "", ("loss", steps, normal_density(steps - 0.5))
    )  # fmt: skip


EPSILON_OF_ONE = 0.1  # epsilon of one of many releases


def composition() -> Screen:
    """The loss of k Gaussian releases, and what they cost together."""
    steps = np.array([1.0, 2, 3, 5, 7, 10, 15, 20, 30, 40, 50, 60, 70, 80, 90, 100])
    losses, counts = np.linspace(-1.2, 1.4, 131), np.linspace(1.0, 100.0, 100)
    mu = float(mu_of(EPSILON_OF_ONE, DELTA))
    middle, spread = steps * mu**2 / 2.0, np.sqrt(steps) * mu
    away = (losses - middle[:, None]) / spread[:, None]
    heights = np.exp(-0.5 * np.minimum(away**2, 40.0))  # farther out there is nothing to see
    scene = _scene(
        steps,
        "k",
        5,
        _panel(
            "losses",
            "The privacy loss of k releases",
            "",
            "A bell curve that widens with the square root of k and moves right in proportion "
            "to k.",
            Axis("privacy loss L", (-1.2, 1.4)),
            Axis("likelihood (peak = 1)", (0.0, 1.1)),
            Curve(losses, heights, colour=0, name="loss"),
        ),
        _guess(
            "What do k releases cost together?",
            "A chart of epsilon against k with only the straight line 0.1 k.",
            Axis("number of releases k", (1.0, 100.0)),
            Axis("ε of all together (δ = 10⁻⁵)", (0.0, 10.0)),
            steps,
            Curve(counts, EPSILON_OF_ONE * counts, colour=None),
        ),
    )
    truth = np.array([float(epsilon_of(DELTA, math.sqrt(count) * mu)) for count in counts])
    place = middle + spread, np.full(len(steps), math.exp(-0.5))
    return Screen(
        "composition", scene, counts, truth, "number of releases k", "", ("losses", *place)
    )


def sampling() -> Screen:
    """A secret sample of people, and the epsilon of a release from it."""
    steps, shares = np.linspace(0.02, 1.0, 50), np.linspace(0.0, 1.0, 81)
    rng = np.random.default_rng(0)
    people = (np.arange(200) + rng.uniform(size=200)) / 200
    height = rng.uniform(0.05, 0.95, 200)
    sampled = np.where(people <= steps[:, None], people, np.nan)
    scene = _scene(
        steps,
        "q",
        24,
        _panel(
            "sample",
            "Two hundred people",
            "orange: in the sample",
            "Points in a strip; the points to the left of the line are in the sample.",
            Axis("each person's secret random number (below q: in the sample)", (0.0, 1.0)),
            Axis("spread vertically for legibility", (0.0, 1.0)),
            Points(people, height, opacity=0.4, name="people"),
            Points(sampled, height, opacity=1.0, colour=1, name="in it"),
            Cursor(steps, np.full(len(steps), np.nan)),
        ),
        _guess(
            "What is the ε for the whole table?",
            "An empty chart of epsilon against the sampling rate q.",
            Axis("sampling rate q", (0.0, 1.0)),
            Axis("ε for the table", (0.0, 4.2)),
            steps,
        ),
    )
    truth = np.log1p(shares * math.expm1(4.0))
    place = steps, np.full(len(steps), 0.5)
    return Screen("sampling", scene, shares, truth, "sampling rate q", "", ("sample", *place))


STEPS, EM_EPSILON, RUNS = 12, 0.1, range(13)


def em() -> Screen:
    """EM of one to twelve steps on three groups, without noise and with one total budget."""
    table, scenario = load("bundled:three_groups"), opening("three_groups")
    setting = replace(scenario.setting(), iterations=STEPS)
    judge, options = yardstick(setting.model), setting.options()
    scorer = scorer_of(setting.model, table, options)
    exact, single = (judge.converged(table, parts, options) for parts in (setting.components, 1))
    best, least = (float(judge.score(fit, scorer)[0]) for fit in (exact, single))
    plans = [replace(setting, iterations=count) for count in range(1, STEPS + 1)]
    private = [
        fitted(table, plan, [plan.request(EM_EPSILON)], RUNS).runs.history[-1] for plan in plans
    ]
    plain = fit_grid(setting.model, table, privacy=None, as_private=True, **options).runs.history
    worth = [np.median(judge.score(after, scorer)) for after in private]
    steps = np.arange(1.0, STEPS + 1.0)
    rows = judge.shown(table)[:500]
    assert table.schema is not None  # it comes with one
    public = scorer.public
    ends = np.column_stack([public.center - public.half_range, public.center + public.half_range])
    x, y = (
        Axis(f"{column.name} ({column.unit})", (float(low), float(high)))
        for column, (low, high) in zip(table.schema.columns[:2], ends[:2], strict=True)
    )

    def fits(name: str, title: str, subtitle: str, history: Sequence[Mixture]) -> Panel:
        params = np.stack(
            [_outlines(judge.align(params_at, exact)[0], scorer.public) for params_at in history]
        )
        ghosts = (
            (Ellipses(params[:, 1:], (2.0,), "ghost", fill=False, centre=False),)
            if params.shape[1] > 1
            else ()
        )
        return Panel(
            name, title, subtitle, f"{title}: three groups as ellipses, after the "
                f"number of steps that the mark shows.", x, y,
            (Points(*rows.T[:2]), *ghosts, Ellipses(params[:, :1])), link="map", height=HEIGHT - 80,
        )  # fmt: skip

    scene = _scene(
        steps,
        "steps",
        2,
        fits("plain", "Without noise", "sees everyone", plain),
        fits(
            "private",
            "Private",
            "hides each person · faint: 12 more runs with fresh noise",
            private,
        ),
        _guess(
            "How useful is the private fit?",
            "An empty chart of utility, in percent, against the number of steps.",
            Axis("number of steps", (1.0, float(STEPS)), ticks=tuple(steps)),
            Axis("utility (%)", (0.0, 100.0)),
            steps,
            width="full",
            height=HEIGHT - 120,
        ),
    )
    truth = 100.0 * (np.array(worth) - least) / (best - least)
    mark = steps, np.full(len(steps), 4.0)  # at the foot of the axis
    return Screen("em", scene, steps, truth, "number of steps", "%", ("guess", *mark))


def _outlines(mixture: Mixture, public: PublicFrame) -> Array:
    """``(runs, K, 6)`` as :class:`Ellipses` takes them, of the first two columns in own units."""
    half = public.half_range[:2]
    means = public.center[:2] + half * mixture.means[..., :2]
    shapes = mixture.covariances[..., :2, :2] * np.outer(half, half)
    flat = shapes[..., [0, 0, 1], [0, 1, 1]]
    return np.concatenate([means, flat, mixture.weights[..., None]], axis=-1)


def refuted() -> Screen:
    """A printed bound, and an attacker who does better."""
    shown = exhibits("counts-in-scale").shown
    claimed, real = (float(mu_of(shown.epsilon, delta)) for delta in (shown.delta, shown.attained))
    steps, outputs = np.linspace(-2.0, 5.0, 57), np.linspace(-4.0, 7.0, 101)
    alarms = np.linspace(0.0, 1.0, 81)
    with np.errstate(invalid="ignore"):
        bound, truth = (ndtr(ndtri(alarms) + mu) for mu in (claimed, real))
    right = np.where(outputs >= steps[:, None], normal_density(outputs - real), np.nan)
    scene = _scene(
        steps,
        "threshold",
        20,
        _panel(
            "means",
            "The group's noisy mean",
            "blue: if the person is at −1 · orange: if at 1",
            "Two normal curves that overlap a little.",
            Axis(
                "released mean, measured from −1 (in standard deviations of its noise)", (-4.0, 7.0)
            ),
            Axis("density", (0.0, 0.46)),
            Curve(outputs, normal_density(outputs), colour=0, name="at -1"),
            Curve(outputs, normal_density(outputs - real), colour=1, name="at 1"),
            Curve(outputs, right, np.zeros(right.shape[-1]), right, colour=1, name="hits"),
            Cursor(steps, np.full(len(steps), np.nan)),
        ),
        _guess(
            "Hits against false alarms",
            "A chart of hits against false alarms with only the printed bound (epsilon "
            f"{brief(shown.epsilon)}), a curve close to the diagonal.",
            Axis("false alarms (%)", (0.0, 100.0)),
            Axis("hits (%)", (0.0, 100.0)),
            100.0 * ndtr(-steps),
            Curve(100.0 * alarms, 100.0 * bound, colour=None),
        ),
    )
    place = steps, normal_density(steps - real)
    return Screen(
        "break", scene, 100.0 * alarms, 100.0 * truth, "threshold", "%", ("means", *place)
    )


SCREENS: tuple[Callable[[], Screen], ...] = (
    coin, bet, sensitivity, clipping, tail, composition, sampling, em, refuted,
)  # fmt: skip


@cache
def screens() -> list[dict[str, Any]]:
    """Every screen as the browser takes it, worked out once."""
    return [make().as_dict() for make in SCREENS]


@cache
def screens_json() -> str:
    """The same as text."""
    return json.dumps(screens(), separators=(",", ":"), allow_nan=False)
