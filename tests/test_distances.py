"""How far rows lie from their mean: what noisy counts say of tails, and how they are kept."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from released import made
from studio.populations import populations
from support import every
from wording import LOCATED, NO_EVIDENCE

import dpcore as dp
from dpcore.fitting.distances import Distances, _falling
from dpcore.fitting.result import Fit
from dpcore.wall.table import PrivateTable

EDGES, ROWS = 0.1 * 2.0 ** (np.arange(16) / 3.0), 4_000


def counted(rows: np.ndarray, noise: float, seed: int = 0) -> Distances:
    bins = np.searchsorted(EDGES, np.linalg.norm(rows, axis=1))
    counts = np.bincount(bins, minlength=len(EDGES) + 1)
    rng = np.random.default_rng(seed)
    return Distances(EDGES, counts + rng.normal(0.0, noise, len(counts)), np.array(noise))


def normal(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(0.0, 0.2, (ROWS, 3))


def square(rows: np.ndarray) -> float:
    return float(np.mean(np.sum(rows**2, axis=1)))


def test_rows_reach_as_far_as_the_counts_say() -> None:
    """3% of the rows lie six times as far out; the others are normal."""
    rng = np.random.default_rng(1)
    real = normal(2) * np.where(rng.random((ROWS, 1)) < 0.03, 6.0, 1.0)
    mean = np.array([0.1, -0.1, 0.0])
    drawn = counted(real, 5.0).like_rows(mean + normal(3), mean, ROWS)
    assert square(drawn - mean) == pytest.approx(square(real), rel=0.2)
    assert square(normal(3)) < 0.6 * square(real)


def test_without_skew_rows_move_along_their_way_from_the_mean() -> None:
    real = normal(2) * np.where(np.arange(ROWS)[:, None] < 100, 6.0, 1.0)
    mean, rows = np.array([0.1, -0.1, 0.0]), normal(3)
    drawn = counted(real, 5.0).like_rows(mean + rows, mean, ROWS, skew=0.0) - mean
    along = np.sum(drawn * rows, axis=1)
    lengths = np.linalg.norm(drawn, axis=1) * np.linalg.norm(rows, axis=1)
    np.testing.assert_allclose(along, lengths, rtol=1e-9)
    assert 1.3 * square(rows) < square(drawn) < square(real)


@every("noise", [1.0, 20.0, 60.0])
def test_noise_makes_no_tails(noise: float) -> None:
    """Of normal rows, noisy counts move the mean square little, whatever they were drawn as."""
    zero = np.zeros(3)
    squares = [
        square(counted(normal(2), noise, seed).like_rows(normal(3), zero, ROWS))
        for seed in range(20)
    ]
    assert np.median(squares) == pytest.approx(square(normal(3)), rel=0.15)


@every("mean, upward", [(-0.8, True), (0.0, True), (0.8, False)])
def test_tails_point_away_from_the_nearer_limit(mean: float, *, upward: bool) -> None:
    drawn = counted(normal(2), 1.0).like_rows(mean + normal(3), np.full(3, mean), ROWS) - mean
    assert np.all((np.mean(drawn**3, axis=0) > 0.0) == upward)


def test_a_column_that_does_not_vary_stays() -> None:
    rows = normal(2) * [1.0, 1.0, 0.0]
    drawn = counted(rows, 5.0).like_rows(rows, np.zeros(3), ROWS)
    assert np.all(np.isfinite(drawn))
    assert np.all(np.abs(drawn[:, 2]) < 1e-9)


def test_shares_that_never_rise_are_the_nearest() -> None:
    falling, together = _falling(np.array([5.0, 1.0, 3.0, 1.75, 0.0, 1.0]))
    assert falling.tolist() == [5.0, 2.0, 2.0, 1.75, 0.5, 0.5]
    assert together.tolist() == [1.0, 2.0, 2.0, 1.0, 2.0, 2.0]


def test_they_are_read_back_as_they_were_written() -> None:
    distances = counted(normal(2), 3.0)
    again = Distances.read(json.loads(json.dumps(distances.as_dict())))
    assert again.as_dict() == distances.as_dict()
    assert Distances.read(None) is None


@every(
    "changed",
    [
        {"noise": 0.0},
        {"noise": float("nan")},
        {"edges": [*EDGES[:-1], 0.1]},
        {"edges": [-1.0, *EDGES[1:]]},
        {"edges": EDGES.tolist()[:2], "counts": [1.0] * 3},
        {"counts": [1.0] * 16},
        {"counts": [*[1.0] * 16, float("inf")]},
    ],
)
def test_distances_that_no_release_writes_are_refused(changed: dict[str, Any]) -> None:
    record = {"edges": EDGES.tolist(), "counts": [1.0] * 17, "noise": 1.0}
    assert Distances.read(record) is not None
    with pytest.raises(ValueError, match="no release"):
        Distances.read({**record, **changed})


@cache
def centres_and_exact(*, apart: bool) -> tuple[list[Fit], np.ndarray]:
    """Three centres, which noise moves little: of three groups, or of one cloud."""
    rng = np.random.default_rng(0)
    middles = 0.55 * np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]])
    rows = rng.normal(0.0, 0.2, (3_000, 2)) + apart * middles[rng.integers(0, 3, 3_000)]
    schema = dp.Schema.from_bounds({"a": (-1.5, 1.5), "b": (-1.5, 1.5)})
    table = dp.load(pd.DataFrame(rows, columns=["a", "b"]), schema=schema)
    privacy = dp.Privacy(30.0, 1e-6)
    fits = [dp.fit("kmeans", table, privacy=privacy, seed=seed) for seed in range(3)]
    return fits, dp.fit("kmeans", table, privacy=None).parameters.centers


def held(ends: np.ndarray, exact: np.ndarray) -> float:
    low, high = np.moveaxis(ends, -1, 0)
    return float(np.mean((low <= exact) & (exact <= high)))


def test_intervals_of_centres_hold_where_there_are_no_groups() -> None:
    """Which way the centres of a round cloud point is left to the noise. Groups that centres stand
    for have narrow intervals. A release that has not written the distances down draws groups."""
    widest = {}
    for apart in (True, False):
        fits, exact = centres_and_exact(apart=apart)
        ends = np.array([fit.intervals().same_rows["centers"] for fit in fits])
        widest[apart] = np.max(np.diff(ends))
        assert held(ends, exact) > 0.8
        assert all((NO_EVIDENCE in str(fit.told_apart)) != apart for fit in fits)
    assert 20.0 * widest[True] < widest[False] < 1.0
    older = [replace(fit, distances=None).intervals().same_rows["centers"] for fit in fits]
    assert held(np.array(older), exact) < 0.8


@cache
def skewed() -> PrivateTable:
    (population,) = (p for p in populations("covariance") if "skewed" in p.name)
    frame, schema = population.draw(np.random.default_rng(3))
    return PrivateTable.seal(frame, schema, open_to_all=True)


def fitted(seed: int, epsilon: float = 4.0) -> Fit:
    return dp.fit("covariance", skewed(), privacy=dp.Privacy(epsilon, 1e-6), seed=seed)


def test_intervals_of_a_covariance_hold_where_columns_are_skewed() -> None:
    """Clipping takes off their tails, which moves numbers by more than noise does. A release that
    has not written the distances down has the intervals that it had."""
    exact = dp.fit("covariance", skewed(), privacy=None).parameters.covariance
    shares: dict[str, list[float]] = {"counted": [], "older": []}
    for seed in range(6):
        fit = fitted(seed)
        for name, each in {"counted": fit, "older": replace(fit, distances=None)}.items():
            shares[name].append(held(each.intervals().same_rows["covariance"], exact))
    assert np.mean(shares["counted"]) > 0.75
    assert np.mean(shares["older"]) < np.mean(shares["counted"]) - 0.1


@every("model", ["covariance", "kmeans"])
def test_a_dossier_holds_what_a_fit_has_counted(model: str) -> None:
    release = made(model)
    record = json.loads((Path(release.folder) / "dossier.json").read_text(encoding="utf-8"))
    opened = dp.open_release(release.folder)
    assert record["distances"] == release.fit.distances.as_dict()
    assert opened.intervals().as_dict() == release.fit.intervals().as_dict()


def test_the_counts_are_those_that_left() -> None:
    """The noise is that of the ledger's entry."""
    fit = fitted(1)
    (entry,) = (entry for entry in fit.ledger if entry.what == LOCATED[2])
    noise = float(fit.distances.sd)
    assert noise == pytest.approx(float(entry.noise_scale))
    bins = len(fit.distances.counts)
    assert abs(fit.distances.counts.sum() - fit.rows) < 5.0 * noise * np.sqrt(bins)
    assert dp.fit("covariance", skewed(), privacy=None).distances is None
