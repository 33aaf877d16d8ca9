"""Logistic regression on sparse binary columns: equal proved budgets, and what does not fit."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from dpcore.models.logistic_regression.mathematics import Coefficients
from dpcore.papers import vips_sparse
from dpcore.papers.reproduction import Ask, values
from dpcore.papers.vips_logistic import ONE_RELEASE, PLAIN
from dpcore.papers.vips_sparse import METHODS, NOTHING, VIPS, Cost, Size
from dpcore.wall.custodian import custodian_outcomes

PANELS = ("medical, simulated", "reviews")


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Few rows and columns, and made-up reviews of two sentiments, a third of them without one."""
    sizes = {"PATIENTS": 500, "CONDITIONS": 40, "ONES": 8.0, "REVIEWS": 400, "WORDS": 30}
    for name, size in sizes.items():
        monkeypatch.setattr(vips_sparse, name, size)
    rng = np.random.default_rng(0)
    sentiment = rng.integers(3, size=900)
    chance = np.where(sentiment == 1, 0.4, 0.1)[:, None] * (np.arange(50) % 2) + 0.05
    has = rng.random((900, 50)) < chance
    np.savez(
        tmp_path / "imdb_reviews.npz",
        sentiment=sentiment.astype(np.uint8),
        indptr=np.append(0, np.cumsum(has.sum(axis=1))),
        indices=np.nonzero(has)[1],
    )
    return tmp_path


@pytest.mark.merge
def test_every_method_costs_the_same_proved_epsilon(small: Path) -> None:
    found = vips_sparse.figure_5_sparse(Ask(data=small, draws=2))
    assert [panel.id for panel in found.panels] == list(PANELS)
    for panel in PANELS:
        for curve in (PLAIN, NOTHING, *METHODS):
            points = values(found.rows, curve, panel)
            assert tuple(points) == vips_sparse.BUDGETS
            assert all(0.0 <= share <= 1.0 for share in points.values())
            assert curve in found.finding
    for row in found.rows:
        if row["curve"] in METHODS:
            assert row["proved_epsilon"] <= row["x"] * (1.0 + 1e-9)
            assert row["proved_epsilon"] == pytest.approx(row["x"], rel=1e-4)
            assert row["runs"] == 2
    assert values(found.rows, PLAIN, "reviews")[4.0] > 0.9
    assert values(found.rows, NOTHING, "reviews")[4.0] == 0.5
    assert values(found.rows, ONE_RELEASE, "reviews")[4.0] > 0.8
    json.dumps(found.rows, allow_nan=False)


@pytest.mark.merge
@pytest.mark.parametrize("limit", ["time", "memory"])
def test_what_does_not_fit_is_not_begun_and_says_so(
    small: Path, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    """Limits a little below what VIPS needs; one release, which needs less, is begun."""
    needs = [METHODS[VIPS][0](size) for size in (Size(400, 41, 2), Size(320, 31, 2))]
    if limit == "time":
        least = min(cost.seconds for cost in needs)
        monkeypatch.setattr(vips_sparse, "LONGEST", 0.99 * least * 2 * (1 + len(METHODS)))
    else:
        monkeypatch.setattr(vips_sparse, "LARGEST", 0.99 * min(cost.bytes for cost in needs))
    monkeypatch.setitem(METHODS, VIPS, (METHODS[VIPS][0], lambda *_: pytest.fail("it was begun")))
    found = vips_sparse.figure_5_sparse(Ask(data=small))
    refused = [row for row in found.rows if row["y"] is None]
    assert {row["panel"] for row in refused if row["curve"] == VIPS} == set(PANELS)
    for panel in PANELS:  # cheaper
        assert tuple(values(found.rows, ONE_RELEASE, panel)) == vips_sparse.BUDGETS
    for row in refused:
        assert row["note"].startswith("does not fit: needs about ")
        assert ("minutes" if limit == "time" else "GB") in row["note"]
    assert refused[0]["note"] in found.finding
    json.dumps(found.rows, allow_nan=False)


def test_at_full_size_one_release_fits_and_the_steps_of_vips_do_not() -> None:
    """By estimates alone: second moments of 4,147 coordinates, at each step or once."""
    full = Size(10_069, vips_sparse.CONDITIONS + 1, len(vips_sparse.BUDGETS))
    share = vips_sparse.LONGEST / 2 / (1 + len(METHODS))
    refusals = {name: cost(full).refusal(share) for name, (cost, _) in METHODS.items()}
    assert "minutes" in refusals.pop(VIPS)
    assert set(refusals.values()) == {""}
    words = Size(4_000, vips_sparse.WORDS + 1, len(vips_sparse.BUDGETS))
    assert all(not cost(words).refusal(share) for cost, _ in METHODS.values())


@pytest.mark.parametrize("name", METHODS)
def test_more_of_anything_costs_more(name: str) -> None:
    cost, _ = METHODS[name]
    base = cost(Size(1000, 100, 2))
    for more in (Size(2000, 100, 2), Size(1000, 200, 2), Size(1000, 100, 4)):
        assert cost(more).seconds > base.seconds
        assert cost(more).bytes > base.bytes


def test_a_refusal_names_each_limit_that_is_passed() -> None:
    assert Cost(1.0, 1.0).refusal(2.0) == ""
    assert Cost(120.0, 9e9).refusal(60.0) == (
        "does not fit: needs about 9 GB (8 are allowed) and about 2 minutes (its share is 1)"
    )


def test_rows_lie_in_the_public_ball_whatever_they_hold() -> None:
    """A row of more ones than count in full is drawn in; a sparse one stays as it is."""
    has = np.zeros((3, 400), dtype=bool)
    has[0], has[1, :9] = True, True
    _, rows, outcomes = custodian_outcomes(vips_sparse.sparse(has, np.array([True, False, True])))
    lengths = np.linalg.norm(rows, axis=1)
    assert lengths == pytest.approx([1.0, (9 / vips_sparse.FULL) ** 0.5, 0.0], abs=1e-6)
    assert lengths.max() <= 1.0 + 1e-12  # the norm here is rounded too
    assert outcomes.tolist() == [1.0, 0.0, 1.0]


def test_the_simulated_table_is_as_sparse_as_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vips_sparse, "PATIENTS", 1000)
    monkeypatch.setattr(vips_sparse, "CONDITIONS", 500)
    _, rows, outcomes = custodian_outcomes(vips_sparse.medical(Ask()))
    assert rows.shape == (1000, 500)
    ones = (rows > 0.0).sum(axis=1)
    assert ones.mean() == pytest.approx(vips_sparse.ONES, rel=0.1)
    assert outcomes.mean() == pytest.approx(vips_sparse.YES, abs=0.03)


def test_coefficients_in_the_same_coordinates_are_the_same() -> None:
    rng = np.random.default_rng(0)
    square = rng.normal(size=(2, 3, 3))
    fit = Coefficients(rng.normal(size=(2, 3)), square, np.broadcast_to(np.nan, (2, 3, 3)))
    assert fit.mapped(np.eye(3)) is fit
    turned = fit.mapped(2.0 * np.eye(3))
    assert np.array_equal(turned.mean, 2.0 * fit.mean)
    assert np.array_equal(turned.covariance, 4.0 * square)
    assert np.isnan(turned.noise_covariance).all()
