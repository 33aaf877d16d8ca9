"""Figures of private regression and of belief networks, regenerated: what they say is so."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path

import numpy as np
import pytest
from support import shared_data

from dpcore.papers import vips_belief, vips_logistic
from dpcore.papers.reproduction import Ask, reproduce, values


def written(home: Path, name: str, header: str, rows: list[str]) -> None:
    with gzip.open(home / name, "wt", encoding="utf-8") as file:
        file.write("\n".join([header, *rows]) + "\n")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Small made-up tables with the columns of the published ones, and pictures of two kinds."""
    home, rng = tmp_path_factory.mktemp("tables"), np.random.default_rng(0)
    age, level, sex = (
        rng.uniform(20, 90, 900),
        rng.uniform(60, 290, 900),
        rng.choice(["f", "m"], 900),
    )
    ill = rng.random(900) < 1 / (1 + np.exp(-(age - 60) / 8))
    written(
        home,
        "stroke_prediction.csv.gz",
        "id,gender,age,avg_glucose_level,bmi,stroke",
        [
            f"{i},{s},{a:.1f},{g:.1f},25,{int(y)}"
            for i, (s, a, g, y) in enumerate(zip(sex, age, level, ill, strict=True))
        ],
    )
    written(
        home,
        "brfss2020_heart.csv.gz",
        "HeartDisease,BMI,PhysicalHealth,MentalHealth,SleepTime,Sex",
        [
            f"{'Yes' if y else 'No'},{10 + a / 2:.1f},{a / 4:.1f},3,7,{s}"
            for s, a, y in zip(sex, age, ill, strict=True)
        ],
    )
    written(
        home,
        "adult.csv.gz",
        "age,education-num,capital-gain,capital-loss,hours-per-week,sex,fnlwgt,split,income",
        [
            f"{a:.0f},{1 + a / 7:.0f},0,0,40,{s},1,train,{'>50K' if y else '<=50K'}"
            for s, a, y in zip(sex, age, ill, strict=True)
        ],
    )
    return home


def test_figure_5_has_every_curve_at_every_budget(
    made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vips_logistic, "EPSILONS", (1.0, 4.0))
    found = reproduce("vips-figure-5", Ask(data=made, splits=1))
    curves = {
        vips_logistic.PLAIN,
        vips_logistic.ONE_RELEASE,
        *vips_logistic.PRINTED.values(),
        vips_logistic.OBJECTIVE,
        vips_logistic.OBJECTIVE_PRINTED,
        vips_logistic.GRADIENTS,
    }
    for panel in ("stroke", "heart disease"):
        for curve in curves:
            points = values(found.rows, curve, panel)
            assert tuple(points) == (1.0, 4.0)
            assert all(0.0 <= share <= 1.0 for share in points.values())
            assert curve in found.finding
        exact = values(found.rows, vips_logistic.PLAIN, panel)[4.0]
        assert exact > 0.8
        assert values(found.rows, vips_logistic.ONE_RELEASE, panel)[4.0] > 0.7
    json.dumps(found.rows, allow_nan=False)


def test_figure_4_is_the_mean_of_the_law() -> None:
    found = reproduce("vips-figure-4")
    mean = values(found.rows, vips_logistic.MEAN)
    assert mean[0.0] == pytest.approx(0.25)
    for row in (row for row in found.rows if row["curve"] == vips_logistic.SIMULATED):
        assert row["low"] <= mean[row["x"]] <= row["high"]


@pytest.mark.merge
def test_figure_6_prices_each_noise_and_compares_at_both_prices(
    made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vips_logistic, "SIGMAS", {1.0: "wbk9"})
    found = reproduce("vips-figure-6", Ask(data=made, draws=2))
    claims = values(found.rows, vips_logistic.MINIBATCHES)
    assert len(claims) == len(vips_logistic.SIGMAS)
    for curve in (
        vips_logistic.ONE_RELEASE,
        vips_logistic.SAME_PROOF,
        vips_logistic.GRADIENTS,
        vips_logistic.GRADIENTS_SAME,
    ):
        assert values(found.rows, curve).keys() == claims.keys()
    for each in found.rows:
        if each["curve"] == vips_logistic.MINIBATCHES:
            assert each["proved_epsilon"] < each["x"]
    for curve in (
        vips_logistic.SAME_NOISE,
        vips_logistic.PROGRAM,
        vips_logistic.SAME_NOISE_DPVI,
    ):
        assert list(values(found.rows, curve, "same noise")) == [0.0, 1.0]
    printed, program = (
        {row["x"]: row["proved_epsilon"] for row in found.rows if row["curve"] == curve}
        for curve in (vips_logistic.SAME_NOISE, vips_logistic.PROGRAM)
    )
    assert program[1.0] > 1.5 * printed[1.0], "a variance below 1 is less than its root"
    assert "DPVI" in found.finding


@pytest.mark.parametrize("size", vips_belief.SIZES)
def test_strong_compositions_noise_spends_the_printed_epsilon(size: int) -> None:
    """Put back into its own formula, with several times the noise of the moments accountant."""
    printed = {400: 1.345, 800: 1.743, 1600: 2.448, 3200: 3.368}[size]
    sigma = vips_belief.strong_sigma(printed, size)
    share, steps, each = size / 60_000, 60_000 // size, vips_belief.DELTA_EACH
    one = math.sqrt(2 * math.log(1.25 / each)) / sigma
    sampled = math.log(1 + share * (math.exp(one) - 1))
    left = vips_belief.DELTA - steps * share * each
    spent = steps * sampled * math.expm1(sampled) + sampled * math.sqrt(
        2 * steps * math.log(1 / left)
    )
    assert spent == pytest.approx(printed, rel=1e-6)
    assert 4.0 < sigma < 4.6


@pytest.mark.merge
def test_figure_8_has_every_curve_at_every_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    kinds = np.array([[1] * 4 + [0] * 12, [0] * 12 + [1] * 4], dtype=float).reshape(2, 4, 4)
    pictures = [255 * kinds[rng.integers(2, size=count)].astype(np.uint8) for count in (4000, 60)]
    np.savez(tmp_path / "mnist.npz", train_images=pictures[0], test_images=pictures[1])
    monkeypatch.setattr(vips_belief, "UNITS", {2: vips_belief.SIZES, 3: vips_belief.SIZES[3:]})
    monkeypatch.setattr(vips_belief, "TESTED", 60)
    found = reproduce("vips-figure-8", Ask(data=tmp_path, draws=2))
    for curve in (vips_belief.PLAIN, vips_belief.PRINTED, vips_belief.STRONG, vips_belief.PROVED):
        for panel, sizes in zip(found.panels, vips_belief.UNITS.values(), strict=True):
            points = values(found.rows, curve, panel.id)
            assert tuple(points) == sizes
            assert all(0.0 <= share <= 1.0 for share in points.values())
    assert "All pixels off: 0.750" in found.finding
    for each in found.rows:
        assert each["runs"] == (1 if each["curve"] == vips_belief.PLAIN else 2)
        if each["curve"] == vips_belief.PLAIN:
            assert each["proved_epsilon"] is None
        else:
            assert each["proved_epsilon"] is not None


@pytest.mark.full
@pytest.mark.realdata
def test_figure_6_on_adult() -> None:
    """Everything accounted as proved is better than the printed noise, at the same promise."""
    home = shared_data("adult.csv.gz").parent
    rows = reproduce("vips-figure-6", Ask(data=home, draws=3)).rows
    printed = values(rows, vips_logistic.MINIBATCHES)
    for curve in (vips_logistic.SAME_PROOF, vips_logistic.GRADIENTS_SAME):
        same = values(rows, curve)
        assert all(same[claim] > printed[claim] for claim in printed)
