"""Means of heavy-tailed data, central and local: what they cost, and how far they err."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sealed_rows import boxed, session_of
from support import every

import dpcore as dp
from dpcore.accounting import compose
from dpcore.datasets.heavy_tails import Tail, log_normal, pareto, student
from dpcore.errors import InputError, WallError
from dpcore.evaluation.study import Setting, study
from dpcore.figures.budget import Words, budget_scene
from dpcore.figures.scene import Curve, Scene
from dpcore.fitting.api import fit_grid
from dpcore.models.mean import mathematics as heavy_tails
from dpcore.papers.reproduction import Ask, reproduce
from dpcore.privacy import EpsilonDelta, Privacy
from dpcore.schema import Column, Schema
from dpcore.wall.data import MaskedRows
from dpcore.wall.session import Noise, Session
from dpcore.wall.statistics.local_vectors import LocalVectors, randomise, randomise_bits
from dpcore.wall.statistics.row_vectors import VectorRows
from dpcore.wall.table import PrivateTable

REACH = 1e4
BUDGET = Privacy(epsilon=1.0, delta=1e-5)
PURE = Privacy(epsilon=1.0, delta=1e-5, accountant="linear")
MEAN, TAU = math.exp(0.5), math.exp(2.0)  # of a standard log-normal


def table(x: np.ndarray) -> PrivateTable:
    return boxed(x, -REACH, REACH)


def lognormal(n: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).lognormal(size=n)


def error(n: int, privacy: Privacy, **options: Any) -> float:
    """Mean error over 4 tables and 10 draws each."""
    found = []
    for seed in range(4):
        grid = fit_grid(
            "mean",
            table(lognormal(n, seed)),
            privacy=(privacy,),
            draws=range(10),
            seed=seed,
            tau=TAU,
            **options,
        )
        found.append(np.abs(REACH * grid.runs.final.mean[:, 0] - MEAN))
    return float(np.mean(found))


def test_the_improved_one_beats_the_older_and_clipping_beats_both() -> None:
    half = Privacy(epsilon=0.5, delta=1e-5)
    older, improved, clip = (error(10_000, half, method=m) for m in ("older", "improved", "clip"))
    assert clip < improved < 0.6 * older


def test_bits_are_the_most_accurate_of_the_local_ones_and_all_lose_to_a_curator() -> None:
    bits = error(10_000, PURE, trust="local_onebit")
    noisy = error(10_000, BUDGET, trust="local")
    assert 3 * error(10_000, BUDGET) < bits < 0.7 * noisy


def test_the_older_estimator_learns_nothing_locally() -> None:
    """Its scale grows like the square root of n, and the noise of each person with it."""
    few, many = (error(n, BUDGET, trust="local", method="older") for n in (2_000, 32_000))
    assert min(few, many) > 1.0


def test_the_local_error_falls_with_the_fourth_root_of_the_rows() -> None:
    few, many = (error(n, PURE, trust="local_onebit") for n in (1_000, 64_000))
    assert 1.6 < few / many < 5.0  # 64^(1/4) = 2.8, where a curator would have 8


@pytest.mark.parametrize("tau", [None, 4.0, 1e6])
def test_numbers_are_clipped_at_the_limits_or_closer_in(tau: float | None) -> None:
    """Limits of 1 and 10: each column has noise as large as its own limits at most, and as the
    square root of tau where that is smaller."""
    rows = np.random.default_rng(0).uniform(-0.5, 0.5, (20_000, 2)) * [1.0, 10.0]
    schema = Schema.from_bounds({"a": (-1.0, 1.0), "b": (-10.0, 10.0)})
    data = PrivateTable.seal(pd.DataFrame(rows, columns=["a", "b"]), schema)
    grid = fit_grid("mean", data, privacy=[BUDGET], draws=range(200), seed=0, tau=tau)
    reach = grid.runs.final.reach[0]
    multiplier = float(np.ravel(grid.ledger.events[0].mechanism.noise_multiplier)[0])  # type: ignore[union-attr]
    scale = 0.3 * math.sqrt(20_000 / (2 * math.sqrt(2) * multiplier))
    assert scale > 10.0
    expected = [1.0, min(1.0, scale * 0.2)] if tau == 4.0 else [1.0, 1.0]
    np.testing.assert_allclose(reach, expected)
    sd = np.std(grid.runs.final.mean, axis=0)
    np.testing.assert_allclose(sd, 2 * math.sqrt(2) * multiplier * reach / 20_000, rtol=0.2)


@pytest.mark.parametrize("trust", ["central", "local", "local_onebit"])
def test_a_mean_inside_the_limits_is_at_least_as_good_as_clipping_at_them(trust: str) -> None:
    """Without a bound on the mean square, a scale beyond the limits would let noise in for
    nothing."""
    rows = np.random.default_rng(1).normal(0.3, 0.2, (4_000, 1)).clip(-1.0, 1.0)
    data = PrivateTable.seal(
        pd.DataFrame(rows, columns=["a"]), Schema.from_bounds({"a": (-1.0, 1.0)})
    )
    counted = "linear" if trust == "local_onebit" else "exact"
    asked = Privacy(epsilon=4.0, delta=1e-5, accountant=counted)
    grid = fit_grid("mean", data, privacy=[asked], draws=range(100), seed=0, trust=trust)
    assert np.all(grid.runs.final.reach <= 1.0)
    noise = {"central": 2 * 1.2 / 4_000, "local": 2 * 1.2 / 63, "local_onebit": 1.3 / 63}[trust]
    assert np.std(grid.runs.final.mean - rows.mean()) < noise


@pytest.mark.parametrize("per_person", [0, 2])
@every("adjacency, at_most", [("replace_one", 2.5), ("add_remove", 1.7)])
def test_a_number_of_rows_that_is_not_public_costs_little(
    per_person: int, adjacency: str, at_most: float
) -> None:
    """Beside a table whose number of rows is public, with the noise that as many rows need."""
    rng, private = np.random.default_rng(0), Schema.from_bounds({"x": (-1.0, 1.0)})
    ids = np.repeat(np.arange(200), rng.integers(1, 3, 200))
    frame = pd.DataFrame({"x": rng.normal(0.5, 0.2, len(ids)).clip(-1.0, 1.0), "who": ids})

    def error(schema: Schema, adjacency: str, epsilon: float, **words: Any) -> float:
        budget = [dp.Privacy(epsilon, 1e-5, adjacency=adjacency)]
        sealed = PrivateTable.seal(frame, schema)
        found = fit_grid("mean", sealed, privacy=budget, draws=range(200), seed=0, **words)
        return float(np.sqrt(np.mean((found.runs.final.mean - frame["x"].mean()) ** 2)))

    who = (Column("who", "id", "text"),) * (per_person > 0)
    hidden = replace(private, columns=(*private.columns, *who), rows_per_person=max(per_person, 1))
    words = {"rows": 300} if adjacency == "add_remove" else {}
    if per_person == 0 and adjacency == "replace_one":
        at_most = 1.01
    ratio = error(hidden, adjacency, 1.0, **words) / error(private, "replace_one", 1.0)
    assert ratio < at_most


def test_without_privacy_it_is_the_mean() -> None:
    x = lognormal(200).reshape(100, 2)
    fit = dp.fit("mean", table(x), privacy=None)
    np.testing.assert_allclose(fit.parameters.mean, x.mean(axis=0), rtol=1e-9)
    assert json.loads(json.dumps(fit.parameters.as_dict()))["columns"] == ["x0", "x1"]
    np.testing.assert_allclose(
        fit.parameters.in_units(fit_grid("mean", table(x), privacy=None).public).mean[0] * REACH,
        x.mean(axis=0),
    )


@every("method", heavy_tails.METHODS)
@every("worst", [np.inf, np.nan, 1e300, -REACH, 1e-300, 0.0])
def test_one_row_moves_the_mean_no_further_than_its_bound(method: str, worst: float) -> None:
    """Noise held fixed, so that the difference is the row's alone."""
    n = 400
    x = lognormal(n)
    y = x.copy()
    y[0] = worst
    one, other = (
        fit_grid("mean", table(v), privacy=(BUDGET,), seed=3, method=method, tau=TAU)
        for v in (x, y)
    )
    moved = REACH * abs(one.runs.final.mean[0, 0] - other.runs.final.mean[0, 0])
    multiplier = np.ravel(one.ledger.events[0].mechanism.noise_multiplier)  # type: ignore[union-attr]
    bent = heavy_tails.central(method, multiplier, n, 1, 0.05)
    bound = 2 * bent.scale[0] * bent.largest * math.sqrt(TAU) / n
    assert moved <= bound * (1 + 1e-8)


def test_the_provable_error_holds_and_its_scale_is_the_best() -> None:
    n, failure = 4000, 0.05
    multiplier = np.array([3.73])
    bent = heavy_tails.central("bound", multiplier, n, 1, failure).within(np.ones(1))
    assert bent.smoothing is not None
    bias, spread = heavy_tails.error_terms(multiplier / n, float(n), failure, bent.smoothing)
    (scale,) = bent.scale
    best = bias / scale + scale * spread
    for factor in (0.5, 0.9, 1.1, 2.0):
        assert bias / (factor * scale) + factor * scale * spread > best
    rng = np.random.default_rng(0)
    beyond = 0
    for _ in range(200):
        x = rng.standard_t(2.5, size=n) / math.sqrt(5.0)  # mean square 1
        mean = scale[0] * bent.of(x[None], slice(0, 1)).mean()
        noise = 2 * scale[0] * bent.largest * multiplier[0] / n * rng.standard_normal()
        beyond += abs(mean + noise) > best[0]
    assert beyond <= 20


def test_a_published_mean_keeps_its_claim() -> None:
    paper = Privacy(epsilon=1.0, delta=1e-5, mode="paper")
    fit = dp.fit("mean", table(lognormal(500)), privacy=paper, seed=0)
    claim = fit.guarantee.claim
    assert claim.holds
    assert "Theorem 2" in claim.source


# ------------------------------------------------------------------ the local doors


def session(values: np.ndarray, runs: int = 1, **options: Any) -> Session[MaskedRows]:
    return session_of(table(values), MaskedRows, runs=runs, seed=1, **options)


def constant(value: float) -> Any:
    def of_rows(seen: VectorRows, runs: slice) -> np.ndarray:
        return np.full((runs.stop - runs.start, *seen.rows.shape), value)

    return of_rows


@pytest.mark.parametrize("hostile", [np.nan, np.inf, -np.inf, 1e300, 5.0])
def test_every_row_is_bounded_and_has_noise_of_its_own(hostile: float) -> None:
    """8000 rows: a deviation wrong by 10% is a dozen standard errors away."""
    run = session(np.zeros((8000, 2)))
    sent = randomise(run, "sent", 0.5, constant(hostile), Noise("gaussian", 2.0))
    scale = float(np.asarray(run.ledger.entries[0].noise_scale)[0]) * 0.5
    assert scale == pytest.approx(2.0 * 2 * math.sqrt(2) * 0.5, rel=1e-6)
    middle = 0.0 if np.isnan(hostile) else 0.5 * np.sign(hostile)
    assert np.std(sent) == pytest.approx(scale, rel=0.03)
    assert np.mean(sent) == pytest.approx(middle, abs=5 * scale / math.sqrt(16_000))
    assert abs(np.corrcoef(sent[0, :-1, 0], sent[0, 1:, 0])[0, 1]) < 0.06


@pytest.mark.parametrize(("value", "says"), [(1.0, 1.0), (-3.0, -1.0), (np.nan, 0.0), (0.5, 0.5)])
@pytest.mark.parametrize("dim", [1, 2])
def test_a_bit_has_the_probability_that_is_proved(value: float, says: float, dim: int) -> None:
    run = session(np.zeros((60_000, dim)))
    bits = randomise_bits(run, "bits", constant(value), np.array([1.0]))
    chance = 0.5 + 0.5 * says * math.tanh(0.5 / dim)
    assert np.mean(bits) == pytest.approx(chance, abs=5 * 0.5 / math.sqrt(60_000 * dim))


def test_bits_cost_epsilon_without_a_delta() -> None:
    fit = dp.fit("mean", table(lognormal(50)), privacy=PURE, seed=0, trust="local_onebit")
    (event,) = fit.ledger.events
    assert isinstance(event.mechanism, EpsilonDelta)
    assert event.mechanism.delta == 0.0
    assert compose(fit.ledger.events, "linear", delta=0.0).epsilon == pytest.approx(1.0, rel=1e-9)
    record = fit.ledger.as_list()[0]
    assert record["mechanism"] == "epsilon_delta"
    assert record["epsilon"] == pytest.approx(1.0)


def test_bits_are_for_private_runs() -> None:
    run = session(np.zeros(5), private=False, as_private=True)
    with pytest.raises(WallError):
        randomise_bits(run, "bits", constant(1.0), np.array([1.0]))


def test_the_local_box_has_the_sensitivity_that_is_stated() -> None:
    shape = LocalVectors(5, 3, 1.0)
    corners = np.ones(3) - -np.ones(3)
    assert np.linalg.norm(corners) == pytest.approx(shape.l2_sensitivity("replace_one"), rel=1e-6)
    assert np.abs(corners).sum() == pytest.approx(shape.l1_sensitivity("replace_one", "sums"))


@pytest.mark.parametrize("persons_rows", [1, 3])
def test_bits_of_all_rows_of_a_person_share_the_epsilon(persons_rows: int) -> None:
    run = session(np.zeros((60_000, 1)), rows_per_person=persons_rows)
    bits = randomise_bits(run, "bits", constant(1.0), np.array([0.5]))
    epsilon_a_row = math.log(np.mean(bits) / np.mean(~bits))
    stated = compose(run.ledger.at(0).events, "linear", delta=0.0).epsilon
    assert stated == pytest.approx(2.0)
    assert epsilon_a_row * persons_rows == pytest.approx(stated, abs=0.06)


def test_a_mean_from_bits_is_right_for_several_rows_a_person() -> None:
    request = Privacy(epsilon=4.0, delta=1e-5, accountant="linear", rows_per_person=2)
    x = table(np.full(20_000, 3.0))
    grid = fit_grid(
        "mean", x, privacy=(request,), draws=range(20), seed=0, tau=36.0, trust="local_onebit"
    )
    assert REACH * np.mean(grid.runs.final.mean) == pytest.approx(3.0, abs=0.15)


@pytest.mark.parametrize("accountant", ["exact", "pld", "rdp", "ma"])
def test_bits_are_counted_by_epsilon_alone(accountant: str) -> None:
    """Planned as Laplace noise by these, bits would cost a little more than was asked for."""
    privacy = Privacy(epsilon=1.0, delta=1e-5, accountant=accountant)
    with pytest.raises(InputError, match="choose linear"):
        dp.fit("mean", table(lognormal(10)), privacy=privacy, seed=0, trust="local_onebit")


def test_the_printed_noise_is_relative_to_the_bound_of_phi() -> None:
    """At epsilon 0.5 and smoothing sqrt(ln 20): 1.38 by counting times 1.232 by the bound."""
    how: dict[str, Any] = {"seed": 0, "method": "improved"}
    data = table(lognormal(500))
    scales = [
        float(dp.fit("mean", data, privacy=asked, **how).ledger.entries[0].noise_scale)
        for asked in (
            Privacy(epsilon=0.5, delta=1e-5, mode="paper"),
            Privacy(epsilon=0.5, delta=1e-5),
        )
    ]
    assert scales[0] / scales[1] == pytest.approx(1.70, abs=0.01)


@pytest.mark.merge
def test_the_exhibit_of_means_says_what_its_rows_say() -> None:
    found = reproduce("robust-em-means", Ask(splits=4, draws=2))
    means = {(r["panel"], r["curve"], r["x"]): r["mean"] for r in found.rows}
    assert any(row["y"] != row["mean"] for row in found.rows)
    for panel in found.panels:
        assert panel.y == "median absolute error", "of a point's scores, as every row has it"
        if "central" in panel.id:
            clip = means[panel.id, "plain clipping, exact noise", 10_000]
            printed = means[panel.id, "Theorem 2, as printed", 10_000]
            assert clip < printed < means[panel.id, "Lemma 1, as printed", 10_000]
        else:
            lemma = [means[panel.id, "Lemma 1, local noise", x] for x in (1e3, 1e5)]
            bit = [means[panel.id, "one random bit, delta 0", x] for x in (1e3, 1e5)]
            assert lemma[1] > 0.5 * lemma[0]
            assert bit[1] < 0.7 * bit[0]


@pytest.mark.parametrize("tail", [student(4.5), pareto(4.5), log_normal()], ids=lambda t: t.name)
def test_tails_have_the_moments_that_are_stated(tail: Tail) -> None:
    x = tail.drawn(np.random.default_rng(0), 400_000)
    assert np.mean(x) == pytest.approx(tail.mean, abs=0.02)
    assert np.mean(x**2) == pytest.approx(tail.mean_square, rel=0.1)


# ---------------------------------------------------------------- the picture


def picture(words: tuple[tuple[str, Any], ...], *, rows: bool = True) -> tuple[Scene, Any]:
    """The picture of one heavy column at two budgets."""
    numbers = 300.0 * student(3.0).drawn(np.random.default_rng(1), 300)
    found = study(
        table(numbers),
        Setting("mean", 1, words=(("tau", 4e5), *words)),
        draws=3,
        epsilons=(0.1, 5.0),
    )
    shown = numbers[:, None] if rows else None
    scene = budget_scene(
        found.grid, found.references, None, Words(("", ""), {}), rows=shown, outlines=rows
    )
    return scene, found


def curves_of(scene: Scene, panel: str) -> dict[str, Curve]:
    (found,) = [one for one in scene.panels if one.id == panel]
    return {one.name: one for one in found.layers if isinstance(one, Curve)}


@every("words", [(), (("trust", "local"),), (("method", "bound"),)])
def test_one_column_shows_where_numbers_are_cut_and_the_estimate_beside_the_truth(
    words: tuple[tuple[str, Any], ...],
) -> None:
    scene, found = picture(words)
    exact, private = curves_of(scene, "exact"), curves_of(scene, "private")
    grid, public = found.grid, found.grid.public
    reach, mean = public.half_range[0] * grid.fits.reach[:, 0, 0], grid.fits.mean[:, 0, 0]
    assert np.all(np.diff(reach) > 0.0)  # less noise, and so less is cut
    np.testing.assert_allclose(np.asarray(private["cut above"].x)[:, 0], public.center[0] + reach)
    np.testing.assert_allclose(
        np.asarray(private["private mean"].x)[:, 0], public.center[0] + public.half_range[0] * mean
    )
    truth = float(np.asarray(exact["exact mean"].x)[0])
    assert truth == pytest.approx(float(np.asarray(private["exact mean"].x)[0]))
    heights = np.asarray(exact["persons"].y)
    assert 290 <= heights.sum() / 2 <= 300  # of the 300 rows, the farthest lie outside
    assert "persons" not in private
    (panel,) = [one for one in scene.panels if one.id == "private"]
    assert "mean " in panel.subtitle[0]
    assert "are truncated at" in panel.alt[0]
    assert panel.alt[0].startswith("Private fit at epsilon 0.100. The mean is ")


def test_without_rows_to_show_the_picture_is_drawn_from_what_was_released() -> None:
    scene, _ = picture((), rows=False)
    assert "persons" not in curves_of(scene, "exact")
    assert "exact mean" not in curves_of(scene, "private")


def test_an_error_in_standard_deviations_is_that_of_the_rows() -> None:
    _, found = picture(())
    judged = Setting("mean", 1, words=(("tau", 4e5),), metric="standardised_error")
    numbers = 300.0 * student(3.0).drawn(np.random.default_rng(1), 300)
    again = study(table(numbers), judged, draws=3, epsilons=(0.1, 5.0)).grid.utility
    away = np.abs(found.grid.fits.mean[:, :, 0] * REACH - numbers.mean()) / numbers.std()
    np.testing.assert_allclose(again, -away)
