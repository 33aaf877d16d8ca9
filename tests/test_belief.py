"""Sigmoid belief networks: bounds against enumeration, total steps, and what a fit proves."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import expit, logsumexp
from support import examples
from wording import LOCATED

import dpcore as dp
from dpcore.accounting import compose, replay
from dpcore.accounting.wbk import as_printed
from dpcore.arrays import Array
from dpcore.errors import InputError
from dpcore.evaluation.metrics import metrics
from dpcore.evaluation.yardstick import Scorer
from dpcore.figures.component_images import BLANK
from dpcore.figures.model_plot import Subject
from dpcore.figures.plotly import scene_figure
from dpcore.fitting.api import fit_grid
from dpcore.mechanisms.gaussian import symmetric_from_coordinates, symmetric_to_coordinates
from dpcore.models.shared.all_rows import ALL_ROWS
from dpcore.models.shared.location import Location
from dpcore.models.shared.second_moments import AllRows, Ellipsoid
from dpcore.models.sigmoid_belief import beginning, private
from dpcore.models.sigmoid_belief import mathematics as belief
from dpcore.models.sigmoid_belief.mathematics import Network, Posterior, Sums
from dpcore.models.sigmoid_belief.picture import draw, given_back
from dpcore.models.sigmoid_belief.private import _beside
from dpcore.models.sigmoid_belief.scoring import YARDSTICK
from dpcore.privacy import Event, Gaussian, Privacy
from dpcore.schema import Column, Schema
from dpcore.wall.custodian import custodian_rows
from dpcore.wall.data.clipping import PublicFrame
from dpcore.wall.kernels.row_blocks import looked_at
from dpcore.wall.kernels.threads import one_thread
from dpcore.wall.session import Session
from dpcore.wall.statistics import NoisyClusters
from dpcore.wall.statistics.sigmoid_belief import FEW, BeliefMoments, _as_belief, _of_rows
from dpcore.wall.table import PrivateTable

NO_NOISE = (0.0,) * len(belief.NOISY)


def tiny(seed: int = 0, hidden: int = 3, visible: int = 5, size: float = 1.0) -> Posterior:
    rng = np.random.default_rng(seed)
    return belief.fixed(
        size * rng.normal(size=(visible, hidden)), rng.normal(size=visible), rng.normal(size=hidden)
    )


def everything(count: int) -> Array:
    return np.array(list(itertools.product([0.0, 1.0], repeat=count)))


def enumerated(rows: Array, known: Posterior) -> tuple[Array, Array]:
    """Exact log-likelihood ``(m,)`` and posterior means of hidden units, over all states."""
    states = everything(len(known.hidden_bias))
    odds = states @ known.weights.T + known.visible_bias
    joint = rows @ odds.T - np.logaddexp(0.0, odds).sum(axis=1)
    joint += states @ known.hidden_bias - np.logaddexp(0.0, known.hidden_bias).sum()
    total = logsumexp(joint, axis=1)
    return total, np.exp(joint - total[:, None]) @ states


def sums_of(rows: Array, known: Posterior, rounds: int = 4) -> Sums:
    shape = BeliefMoments(len(known.hidden_bias), rows.shape[1])
    total = _of_rows(rows, shape, *belief.e_step(rows, known, rounds))[None]
    sd = dict.fromkeys(belief.NOISY, np.zeros(1))
    found = _as_belief(total, shape, sd, np.array([float(len(rows))]))
    return Sums.of(found, 0, 1.0, as_printed=False)


# --- oracles -------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_the_bound_is_below_the_enumerated_likelihood_and_rounds_raise_it(seed: int) -> None:
    known, rows = tiny(seed), everything(5)
    exact = enumerated(rows, known)[0]
    assert logsumexp(exact) == pytest.approx(0.0, abs=1e-9)  # the oracle itself: it adds up to 1
    before = np.full(len(rows), -np.inf)
    for rounds in (1, 2, 4, 16):
        now = belief.bound(rows, known, belief.e_step(rows, known, rounds)[0])
        assert np.all(now <= exact + 1e-5)
        assert np.all(now >= before - 1e-4)  # products in single precision
        before = now
    assert np.mean(exact - before) < 1.0


def test_weak_weights_give_the_enumerated_posterior() -> None:
    known, rows = tiny(1, size=0.1), everything(5)
    hidden = belief.e_step(rows, known, 20)[0]
    np.testing.assert_allclose(hidden, enumerated(rows, known)[1], atol=3e-3)


def test_the_expected_square_of_a_score_is_that_of_all_states() -> None:
    known, rng = tiny(2), np.random.default_rng(0)
    hidden = rng.random((4, 3))
    states = everything(3)
    chance = np.prod(np.where(states[None] > 0, hidden[:, None], 1 - hidden[:, None]), axis=2)
    odds = states @ known.weights.T + known.visible_bias
    found = belief._scores(hidden, known, belief._entries(known)) ** 2
    np.testing.assert_allclose(found, chance @ odds**2, rtol=1e-4)


def test_steps_on_all_rows_raise_the_likelihood() -> None:
    truth = tiny(3, hidden=2, visible=8, size=3.0)
    net = belief.network([truth])
    rows = belief.sample(net, 2000, np.random.default_rng(0))
    known, found = belief.start(2, 8, 0), []
    for _ in range(25):
        known = belief.m_step(sums_of(rows, known), known)
        sure = belief.fixed(known.weights, known.visible_bias, known.hidden_bias)
        found.append(enumerated(rows, sure)[0].mean())
    assert found[-1] > found[0] + 0.1
    assert found[-1] > enumerated(rows, truth)[0].mean() - 0.15


def test_a_pixels_step_is_its_ridge_regression() -> None:
    """Given curvature and hidden units, weights of a pixel solve their own normal equations."""
    rows, known = everything(4), tiny(5, hidden=2, visible=4)
    found = sums_of(rows, known)
    after = belief.m_step(found, known)
    hidden, curvature = belief.e_step(rows, known, 4)
    for j in range(4):
        square = hidden[:, :, None] * hidden[:, None]
        square[:, [0, 1], [0, 1]] = hidden
        form = np.einsum("n,nkl->kl", curvature[:, j], square) + np.diag(known.precision[j])
        target = (rows[:, j] - 0.5) @ hidden - known.visible_bias[j] * (curvature[:, j] @ hidden)
        np.testing.assert_allclose(after.weights[j], np.linalg.solve(form, target), rtol=1e-8)


def test_a_likelihood_sums_over_all_states() -> None:
    nets = [tiny(seed) for seed in range(2)]
    rows = everything(5)
    batch = belief.network(nets)
    exact = [np.mean(enumerated(rows, net)[0]) for net in nets]
    np.testing.assert_allclose(belief.log_likelihood(rows, batch), exact, rtol=1e-12)
    many = Network(np.zeros((1, 2, 13)), np.zeros((1, 2)), np.zeros((1, 13)))
    with pytest.raises(InputError, match="units"):
        belief.log_likelihood(everything(2), many)


@pytest.mark.parametrize("noise", [1e-9, 1.0, 30.0, 1e4])
def test_noise_in_pixels_and_curvatures_is_taken_off_and_none_is_left_alone(noise: float) -> None:
    """A curvature that noise takes to 0 would let a bias run away."""
    rng, known = np.random.default_rng(0), tiny(1, hidden=2, visible=40)
    rows = (rng.random((500, 40)) < np.linspace(0.02, 0.7, 40)).astype(float)
    clean = sums_of(rows, known)
    assert belief._denoised(clean) == (clean.visible, clean.curvature)
    noisy = replace(
        clean,
        visible=clean.visible + noise * rng.standard_normal(40),
        curvature=clean.curvature + noise * rng.standard_normal(40),
        visible_sd=noise,
        curvature_sd=noise,
    )
    visible, curvature = belief._denoised(noisy)
    if noise < 1e-6:
        np.testing.assert_allclose(visible, clean.visible, atol=1e-6)
        np.testing.assert_allclose(curvature, clean.curvature, atol=1e-6)
    assert np.all(np.abs(visible) < 250.0)
    assert np.all(curvature > 0.0)
    assert np.all(np.abs(visible / curvature) < 25.0)
    if noise > 10.0:
        error = np.sum((visible - clean.visible) ** 2)
        assert error < np.sum((noisy.visible - clean.visible) ** 2)


# --- total ---------------------------------------------------------------------------------------

NUMBERS = st.floats(width=64) | st.sampled_from([math.nan, math.inf, -math.inf, 1e300, -1e300])


def test_a_forms_inverse_is_that_of_its_positive_part_where_noise_took_more() -> None:
    rng = np.random.default_rng(3)
    roots = rng.normal(size=(4, 6, 6))
    forms, diagonal = roots @ np.swapaxes(roots, 1, 2), rng.uniform(0.5, 2.0, size=(4, 6))
    forms[1::2] -= 5.0 * np.eye(6)  # two of four are indefinite
    inverse = belief._inverse(forms, diagonal)
    for form, extra, result in zip(forms, diagonal, inverse, strict=True):
        values, vectors = np.linalg.eigh(form + np.diag(extra))
        if values.min() < 0.0:
            values = np.maximum(values, extra.min())
        np.testing.assert_allclose(result, (vectors / values) @ vectors.T, rtol=1e-9, atol=1e-9)


@given(arrays(float, 2 + 3 + 3 + 6 + 9 + 1, elements=NUMBERS), st.sampled_from([0.0, 1.0, 1e6]))
@examples(150)
@pytest.mark.filterwarnings("ignore:(invalid|overflow|divide):RuntimeWarning")
def test_any_released_numbers_give_a_network(numbers: Array, sd: float) -> None:
    shape = BeliefMoments(2, 3)
    noise = dict.fromkeys(belief.NOISY, np.full(1, sd))
    released = _as_belief(numbers[None], shape, noise, np.array([50.0]))
    known = belief.start(2, 3, 0)
    for _ in range(2):
        known = belief.m_step(Sums.of(released, 0, 0.1, as_printed=sd == 1.0), known)
        hidden, curvature = belief.e_step(np.eye(3), known)
        assert np.all(np.isfinite(known.weights))
        assert np.all(np.isfinite(known.precision))
        assert np.all((hidden >= 0) & (hidden <= 1))
        assert np.all((curvature >= 0) & (curvature <= 0.25))


# --- fits ----------------------------------------------------------------------------------------


def pictures(count: int = 600, seed: int = 0, copies: int = 1) -> PrivateTable:
    """Two kinds of a 3 x 3 picture, with a little noise; each pixel stands there so many times."""
    rng = np.random.default_rng(seed)
    kinds = np.array([[1, 1, 1, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 1, 1, 1]], dtype=float)
    rows = np.abs(kinds[rng.integers(2, size=count)] - (rng.random((count, 9)) < 0.05))
    names = [f"p{i}" for i in range(9 * copies)]
    schema = Schema(tuple(Column(name, lower=0, upper=1) for name in names))
    return PrivateTable.seal(pd.DataFrame(np.tile(rows, copies), columns=names), schema)


def test_pictures_stand_beside_what_each_fit_gives_back() -> None:
    table = pictures()
    fits = {
        epsilon: dp.fit(
            "sbn",
            table,
            privacy=None if math.isinf(epsilon) else Privacy(epsilon=epsilon, delta=1e-4),
            n_components=2,
            rate=1.0,
            iterations=5,
            seed=None if math.isinf(epsilon) else 0,
        ).parameters
        for epsilon in (0.1, math.inf)
    }
    rows = (custodian_rows(table)[1][:10] + 1.0) / 2.0
    scene = given_back(rows, fits, (3, 3))
    seen, back = (panel.layers[0].values for panel in scene.panels)  # type: ignore[union-attr]
    np.testing.assert_array_equal(np.reshape(seen, rows.shape), rows)
    for values, told, found in zip(back, scene.panels[1].alt, fits.values(), strict=True):  # type: ignore[arg-type]
        np.testing.assert_array_equal(np.reshape(values, rows.shape), found.given_back(rows))
        right = np.mean((np.reshape(values, rows.shape) > 0.5) == (rows > 0.5))
        assert told == f"{right:.0%} of these pixels reconstructed"
    assert (scene.step, scene.step_labels) == (0, ("0.100", "∞, no noise"))
    assert set(scene_figure(scene).layout.meta) == {"seen", "reconstructed"}


def test_without_privacy_both_kinds_are_found() -> None:
    options: dict[str, Any] = {"n_components": 2, "rate": 1.0, "iterations": 30, "forgetting": 1e-9}
    grid = fit_grid("sbn", pictures(), privacy=None, as_private=True, **options)
    scorer = Scorer.of(pictures(300, seed=5), most=None)
    assert YARDSTICK.score(grid.runs.final, scorer)[0] > 0.93
    assert YARDSTICK.nothing(scorer) < 0.75
    turned = Network(
        grid.runs.final.weights[:, :, ::-1],
        grid.runs.final.visible_bias,
        grid.runs.final.hidden_bias[:, ::-1],
    )
    aligned, found = YARDSTICK.align(turned, grid.runs.final)
    np.testing.assert_array_equal(aligned.weights, grid.runs.final.weights)
    assert found.tolist() == [[False, True]], "one unit, on or off, tells two kinds apart"


def test_a_hidden_unit_that_switches_nothing_is_not_found() -> None:
    """With more units than there are kinds, noise alone gives the rest a direction."""
    weights = np.array([[[4.0, 0.02, 0.0], [-4.0, 0.02, 0.0]]])
    exact = Network(weights, np.zeros((1, 2)), np.zeros((1, 3)))
    private = replace(exact, weights=weights + 0.001)
    _, found = YARDSTICK.align(private, exact)
    assert found.tolist() == [[True, False, False]]
    grid: Any = SimpleNamespace(epsilons=(0.1, 1.0))
    blank = " Blank in the exact fit: 2 of 3 hidden units."
    assert YARDSTICK.budget_notes(None, grid, exact) == (blank, blank)
    one = replace(exact, weights=weights[:, :, :1], hidden_bias=np.zeros((1, 1)))
    assert YARDSTICK.budget_notes(None, grid, one) == ("", "")
    public = PublicFrame.of(Schema(tuple(Column(name, lower=0.0, upper=1.0) for name in "ab")))
    bold = replace(private, weights=private.weights[:, None])
    drawn = draw(Subject(public, exact, bold, (0, 1), None, (1.0,), (exact, None), "person"))
    assert drawn.private[0].notes == (("1 · 100% aligned", "2", "3"),)  # type: ignore[union-attr]
    assert drawn.private_alts[0].count(BLANK) == 2


def test_rows_are_given_back_as_they_are_scored() -> None:
    """The pictures that pixel_accuracy is the right share of, in the data's own units."""
    fit = dp.fit("sbn", pictures(), privacy=None, n_components=2, rate=1.0, iterations=20)
    public, rows = custodian_rows(pictures(200, seed=5))
    own = public.center + rows * public.half_range
    back = fit.parameters.given_back(own) > 0.5
    found = metrics(fit, pictures(200, seed=5))["pixel_accuracy"]
    assert np.mean(back == (own > 0.5)) == pytest.approx(found)
    assert found > 0.8
    with pytest.raises(dp.InputError, match="9 columns"):
        fit.parameters.given_back(own[:, :3])


def test_more_budget_gives_back_more_pixels() -> None:
    budgets = [Privacy(epsilon=e, delta=1e-4) for e in (0.01, 50.0)]
    options: dict[str, Any] = {"n_components": 2, "rate": 0.25, "epochs": 4}
    grid = fit_grid("sbn", pictures(3000), privacy=budgets, draws=range(4), seed=0, **options)
    scorer = Scorer.of(pictures(300, seed=5), most=None)
    found = YARDSTICK.score(grid.runs.final, scorer).reshape(2, 4).mean(axis=1)
    assert found[1] > found[0] + 0.05
    assert found[1] > YARDSTICK.nothing(scorer)


# --- where a proved fit begins ------------------------------------------------------------------


def independent(table: PrivateTable) -> Network:
    """Shares of the pixels, and one hidden unit without weights."""
    on = (custodian_rows(table)[1] > 0.0).mean(axis=0)
    return Network(np.zeros((1, len(on), 1)), np.log(on / (1.0 - on))[None], np.zeros((1, 1)))


def test_a_small_budget_shows_what_pixels_have_in_common() -> None:
    """Noisy steps alone gave less than independent columns here."""
    asked = Privacy(epsilon=0.3, delta=1e-5)
    grid = fit_grid("sbn", pictures(3000), privacy=[asked], draws=range(3), seed=0, n_components=2)
    scorer = Scorer.of(pictures(300, seed=5), most=None)
    simple = YARDSTICK.bench_score(independent(pictures(3000)), scorer)[0]
    assert np.all(YARDSTICK.bench_score(grid.runs.final, scorer) > simple + 1.0)


def test_without_noise_a_private_fit_is_the_exact_one() -> None:
    words: dict[str, Any] = {"n_components": 2, "rate": 1.0, "iterations": 3, "clip": 1.0}
    exact = fit_grid("sbn", pictures(), privacy=None, as_private=True, **words)
    request = [Privacy(noise_multiplier=1e-9, delta=1e-5)]
    private = fit_grid("sbn", pictures(), privacy=request, seed=0, **words)
    for name in ("weights", "visible_bias", "hidden_bias"):
        one, other = (getattr(grid.runs.final, name) for grid in (exact, private))
        np.testing.assert_allclose(other, one, atol=0.05)


def test_a_sample_of_rows_that_are_one_persons_is_refused_before_any_release(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    released = list[str]()
    monkeypatch.setattr(Session, "release", lambda _self, what, *_: released.append(what))
    three_each = Privacy(1.0, 1e-4, rows_per_person=3)
    with pytest.raises(InputError, match="subsampling"):
        dp.fit("sbn", pictures(), privacy=three_each, n_components=2, rate=0.25)
    assert not released


def test_normal_scores_are_together_as_their_closed_form_says() -> None:
    """Both below 0 with chance ``1/4 + asin(r) / (2 pi)`` (Sheppard 1899)."""
    correlation = np.array([[1.0, 0.6, -0.3], [0.6, 1.0, 0.9], [-0.3, 0.9, 1.0]])
    both = 0.25 + np.arcsin(correlation) / (2.0 * np.pi)
    back = beginning._correlation(both, np.full(3, 0.5))
    beside = ~np.eye(3, dtype=bool)
    np.testing.assert_allclose(back[beside], correlation[beside], atol=1e-4)


@given(arrays(float, 3 + 9 + 3, elements=NUMBERS), st.sampled_from([0.0, 1.0, 1e6]))
@examples(40)
def test_any_released_moments_are_a_beginning(numbers: Array, sd: float) -> None:
    noise = np.full(1, sd)
    square = numbers[3:12].reshape(1, 3, 3)
    moments = AllRows(np.full(1, 50.0), numbers[None, :3], square, noise, noise)
    pixels = NoisyClusters(np.full((1, 1), 50.0), numbers[None, None, 12:], noise, noise)
    for ball in (None, Ellipsoid(np.full((1, 3), 0.3), np.full((1, 1), 0.2))):
        ((network, sums),) = beginning.beginnings(pixels, moments, ball, 2, 0)
        assert np.all(np.isfinite(network.weights))
        assert np.all(np.isfinite(network.visible_bias))
        assert np.all(np.isfinite(sums.pairs))


def test_an_error_of_the_mean_is_no_factor_and_a_clip_is_no_error() -> None:
    """Pixels that have nothing in common: noise of their mean alone, then clipped rows' mean."""
    rng = np.random.default_rng(0)
    visible, rows, none = 40, np.full(1, 2000.0), np.zeros(1)
    mean = rng.uniform(-0.9, 0.9, (1, visible))
    square = np.einsum("bi,bj->bij", mean, mean) + np.diag(1.0 - mean[0] ** 2)
    noisy = mean + 0.1 * rng.standard_normal((1, visible))
    pixels = NoisyClusters(rows[:, None], (rows[:, None] * mean)[:, None], none + 9.0, none + 9.0)
    strengths = []
    for released, sd in ((mean, 0.0), (noisy, 0.1), (noisy, 0.01)):
        moments = AllRows(rows, released, square, none + 1e-4, none + sd)
        ((network, _),) = beginning.beginnings(pixels, moments, None, 3, 0)
        strengths.append(float(np.abs(network.weights).max()))
    assert strengths[1] < 2.0 * strengths[0] < strengths[2]


def test_the_mean_of_all_rows_tells_of_pixels_too() -> None:
    """By its precision, and at the size that rows had before they were clipped to a ball."""
    rng, visible, runs = np.random.default_rng(0), 16, 4000
    mean, rows = rng.uniform(-0.8, 0.8, visible), np.full(runs, 500.0)
    sums = rows[:, None, None] * mean + rng.normal(0.0, 60.0, (runs, 1, visible))
    pixels = NoisyClusters(rows[:, None], sums, np.full(runs, 60.0), np.full(runs, 60.0))
    radius, noise = np.full(runs, 1.0), np.full(runs, 0.04**2)
    raw = mean / 4.0 + rng.normal(0.0, 0.04, (runs, visible))  # rows had the norm 4
    unused: Any = None
    at = Location(rows, raw, noise, raw, radius, unused, unused, (rows, rows, rows))
    both = _beside(pixels, at)
    np.testing.assert_allclose(both.sums_sd, 48.0)  # 1 / 48^2 = 1 / 60^2 + 1 / 80^2
    found = both.sums[:, 0] - 500.0 * mean
    np.testing.assert_allclose(found.std(axis=0), 48.0, rtol=0.06)
    np.testing.assert_allclose(found.mean(axis=0), 0.0, atol=4.0)


@pytest.mark.parametrize("adjacency", ["replace_one", "add_remove"])
def test_where_noise_hides_all_units_pixels_have_less_of_it(
    adjacency: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For the same price, where the number of rows is public and small. What the mean of all rows
    says of them always counts."""
    steps: list[NoisyClusters] = []

    def kept(function: Any) -> Any:
        def called(pixels: NoisyClusters, *words: Any) -> Any:
            steps.append(pixels)
            return function(pixels, *words)

        return called

    for name in ("_beside", "beginnings"):
        monkeypatch.setattr(private, name, kept(getattr(private, name)))
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        (rng.random((600, 40)) < 0.3).astype(int), columns=[f"x{i}" for i in range(40)]
    )
    answers = Schema(tuple(Column(name, type="binary") for name in frame.columns))
    table = PrivateTable.seal(frame, answers, open_to_all=True)
    noises = {}
    for epsilon in (0.3, 30.0):
        budget = Privacy(epsilon=epsilon, delta=1e-5, adjacency=adjacency)
        fit = dp.fit("sbn", table, privacy=budget, n_components=2, iterations=1)
        replay(fit.ledger, fit.guarantee.proof)
        alone, together = steps
        assert np.all(together.sums_sd < alone.sums_sd)
        steps.clear()
        noises[epsilon] = {
            entry.what: float(np.max(entry.noise_scale)) / entry.sensitivity for entry in fit.ledger
        }
    names = ("pixels", LOCATED[1], ALL_ROWS)
    few, many = ([of[name] for name in names] for of in noises.values())
    if adjacency == "replace_one":
        assert few == sorted(few)
    else:
        assert few[1] > few[0] > few[2]
    assert many[1] > many[0] > many[2]


def test_noisy_sums_count_less_and_sums_without_noise_in_full() -> None:
    sums = sums_of(everything(4), tiny(1, hidden=2, visible=4))
    trust = [replace(sums, pairs_sd=sd, forms_sd=sd).trust() for sd in (0.0, 1e-6, 1e-3, 1.0)]
    assert trust[0] == 1.0
    assert trust[1] > 0.99
    assert trust == sorted(trust, reverse=True)
    assert trust[-1] < 1e-3


# --- as published --------------------------------------------------------------------------------

SETTINGS = ((400, 1.34), (800, 1.74), (1600, 2.44), (3200, 3.34))


@pytest.mark.merge
@pytest.mark.parametrize(("minibatch", "printed"), SETTINGS)
def test_the_papers_epsilons_and_what_is_proved(minibatch: int, printed: float) -> None:
    """Figure 8: sigma 1, one pass over 60,000 pictures, delta 1e-4."""
    rate, steps = minibatch / 60_000, 60_000 // minibatch
    sampled: dict[str, Any] = {"sampling": "without_replacement", "sampling_rate": rate}
    one = Event(Gaussian(1.0), count=steps, **sampled)
    found = float(np.asarray(compose([one], as_printed("wbk9"), delta=1e-4).epsilon))
    assert found == pytest.approx(printed, abs=0.03)
    six = replace(one, mechanism=Gaussian(math.sqrt(7 / 6)))
    five = replace(one, mechanism=Gaussian(math.sqrt(7 / 5)))
    proved = [float(np.asarray(compose([e], "pld", delta=1e-4).epsilon)) for e in (six, five)]
    page = {400: 0.371, 800: 0.574, 1600: 0.891, 3200: 1.354}
    assert proved[0] == pytest.approx(page[minibatch], rel=0.01)
    assert proved[1] < proved[0] < found


def test_the_printed_steps_claim_more_than_they_spend() -> None:
    request = Privacy(noise_multiplier=1.0, delta=1e-4, mode="paper", accountant="wbk9")
    fit = dp.fit("sbn", pictures(), privacy=request, n_components=2, seed=0, minibatch=60)
    mechanism = fit.ledger.events[0].mechanism
    assert isinstance(mechanism, Gaussian)
    assert float(mechanism.noise_multiplier) == pytest.approx(math.sqrt(7 / 5), rel=1e-6)
    asked = Privacy(epsilon=5.0, delta=1e-4, mode="paper", accountant="wbk9")
    claim = dp.fit("sbn", pictures(), privacy=asked, n_components=2, seed=0, minibatch=60)
    assert claim.guarantee.claim.holds


def test_half_odds_are_where_a_network_starts() -> None:
    known = belief.start(4, 6, 0)
    assert np.all(expit(known.hidden_bias) == 0.5)
    assert np.ptp(known.weights) > 0


def test_as_printed_sums_are_cut_to_what_rows_can_add_up_to() -> None:
    """Sums of exact rows stay; wild ones end in their ranges, and forms keep an inverse."""
    rng, rows, k, j = np.random.default_rng(0), 300, 3, 5
    z, x = rng.random((rows, k)), rng.uniform(0.05, 0.25, (rows, j))
    y = rng.integers(2, size=(rows, j)).astype(float)
    square = z[:, :, None] * z[:, None]
    square[:, range(k), range(k)] = z
    forms = symmetric_to_coordinates(np.einsum("nj,nkl->jkl", x, square)).T
    exact = belief.Sums(
        (z - 0.5).sum(axis=0),
        (y - 0.5).sum(axis=0),
        x.sum(axis=0),
        (y - 0.5).T @ z,
        forms,
        float(rows),
        *NO_NOISE,
    )
    kept = exact.in_range()
    for part in ("hidden", "visible", "curvature", "pairs", "forms"):
        np.testing.assert_allclose(getattr(kept, part), getattr(exact, part), atol=1e-9)
    wild = belief.Sums(
        *(1e4 * rng.standard_normal(part.shape) for part in (z[0], y[0], x[0])),
        1e4 * rng.standard_normal((j, k)),
        1e4 * rng.standard_normal(forms.shape),
        float(rows),
        *NO_NOISE,
    )
    cut = wild.in_range()
    on = cut.hidden + rows / 2
    assert np.all((on >= 0) & (on <= rows))
    both = cut.pairs + on / 2
    assert np.all((both >= -1e-9) & (both <= rows + 1e-9))
    assert np.all((cut.curvature >= 0) & (cut.curvature <= rows / 4))
    matrices = symmetric_from_coordinates(np.ascontiguousarray(cut.forms.T), k)
    assert np.linalg.eigvalsh(matrices).min() >= belief.PRINTED_FLOOR * rows * (1 - 1e-6)
    assert np.abs(matrices).max() > rows / 4  # raised beyond what rows could add up to, and used:
    known = belief.start(k, j, 0)
    after = belief.m_step(cut, known, as_printed=True)
    precision = matrices + np.eye(k) * (1.0 + belief.ROUNDING * rows / 4)  # of the prior: 1
    expected = np.linalg.solve(precision, cut.pairs[..., None])[..., 0]
    np.testing.assert_allclose(after.weights, expected, rtol=1e-9)


@pytest.mark.parametrize(("visible", "units"), [(FEW, 3), (64, 7), (196, 20)])
@one_thread()  # as in the wall: two would share a block, which then has two ends
def test_a_row_is_the_same_to_the_last_bit_wherever_it_stands(visible: int, units: int) -> None:
    """Nor do the rows beside it matter; in single precision only while it keeps its place."""
    rng = np.random.default_rng(0)
    known = belief.fixed(
        rng.normal(size=(visible, units)), rng.normal(size=visible), rng.normal(size=units)
    )
    on = (rng.random((128, visible)) < 0.3).astype(float)
    others = np.where(np.arange(128)[:, None] == 3, on, 1.0 - on)

    def single(rows: Array) -> tuple[Array, Array]:
        return belief.e_step(rows, known)

    def double(rows: Array) -> tuple[Array, Array]:
        return belief.e_step(rows, known, single=False)

    for look in (single, double):
        for one, other in zip(looked_at(on, 128, look), looked_at(others, 128, look), strict=True):
            np.testing.assert_array_equal(one[3], other[3])
    for shift in (1, 2, 5, 6, 100):
        for here, there in zip(
            looked_at(on, 128, double), looked_at(on[shift:], 128, double), strict=True
        ):
            np.testing.assert_array_equal(here[shift:], there)


@pytest.mark.parametrize("copies", [1, 2])
def test_where_rows_come_and_go_no_step_is_in_single_precision(
    copies: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor where rows that are alike are looked at once: one that is replaced moves the others."""
    asked = list[bool]()
    step = belief.e_step

    def watched(rows: Array, known: Posterior, *, single: bool = True) -> tuple[Array, Array]:
        if len(rows) != beginning.DRAWN:  # the drawn rows are public
            asked.append(single)
        return step(rows, known, single=single)

    monkeypatch.setattr(belief, "e_step", watched)
    for adjacency in ("replace_one", "add_remove"):
        request = Privacy(epsilon=2.0, delta=1e-4, adjacency=adjacency)
        words: dict[str, Any] = {"n_components": 2, "rate": 0.2, "iterations": 2}
        dp.fit("sbn", pictures(200, copies=copies), privacy=request, seed=0, **words)
    half = len(asked) // 2
    assert set(asked[:half]) == {9 * copies > FEW}
    assert not any(asked[half:])


def test_numbers_that_are_cut_in_two_are_noted() -> None:
    cells = {"age": [20.0, 60.0] * 20, "smoker": [0.0, 1.0] * 20}
    columns = (Column("age", lower=0, upper=110), Column("smoker", "feature", "binary"))
    table = dp.load(pd.DataFrame(cells), schema=Schema(columns))
    fit = dp.fit("sbn", table, privacy=Privacy(1.0, 1e-5), n_components=1, seed=0)
    (note,) = fit.guarantee.notes
    assert note.startswith("this model reads age as on or off: on above 50%")
    digits = dp.load("bundled:digits")
    of_images = dp.fit("sbn", digits, privacy=Privacy(1.0, 1e-5), n_components=2, seed=0)
    assert of_images.guarantee.notes == ()
