"""The bound on Algorithm 2's error: each of its parts against what is drawn, and whole fits."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpcore.datasets import gradient_models as made
from dpcore.datasets.load import load
from dpcore.errors import InputError
from dpcore.fitting.api import fit_grid
from dpcore.models.gradient_em.error_bound import ErrorBound, error_bound
from dpcore.models.gradient_em.mathematics import apart, printed_bend
from dpcore.models.shared.truncation import smoothed
from dpcore.privacy import Privacy
from dpcore.schema import Column, Schema

DELTA, FAILURE = 1e-5, 0.05


def bound(rows: int = 20_000, columns: int = 10, epsilon: float = 1.0, **more: float) -> ErrorBound:
    given = {"tau": 2.0, "contraction": 0.3, "away": 1.5, **more}
    return error_bound(rows, columns, epsilon, DELTA, **given)  # type: ignore[arg-type]


def test_the_noise_is_that_of_the_fit() -> None:
    """Rows of 0 have gradients of 0 at beta 0: one step from there leaves the noise alone."""
    columns = [Column(f"x{i + 1}", lower=-1.0, upper=1.0) for i in range(4)]
    table = load(np.zeros((500, 4)), schema=Schema(tuple(columns)))
    grid = fit_grid(
        "symmetric-mixture",
        table,
        privacy=[Privacy(epsilon=1.0, delta=DELTA, mode="paper")],
        draws=range(1500),
        seed=0,
        algorithm="robust",
        iterations=1,
        tau=2.0,
        sigma=1.0,
        failure=FAILURE,
        initial=(0.0,) * 4,
        norm=1e3,
    )
    length = 2.0 + math.sqrt(2.0 * math.log(2.0 / FAILURE))
    found = bound(500, 4, iterations=1, contraction=0.0).noise / length
    assert np.std(grid.runs.final.beta) == pytest.approx(found, rel=0.03)


@pytest.mark.parametrize("rare", [0.5, 0.01, 0.0005])
def test_a_truncated_mean_stays_within_its_part_of_the_bound(rare: float) -> None:
    """Of numbers that are 0 but for a few large ones: the rarer they are, the more is cut off."""
    rows, tau, rng = 400, 2.0, np.random.default_rng(0)
    large = math.sqrt(tau / rare)
    parts = bound(rows, 1, iterations=1, tau=tau, contraction=0.0)
    gap = 1.0 / (math.sqrt(math.log(1e5) + 1.0) + math.sqrt(math.log(1e5)))
    bend = printed_bend(np.array([1.0 / (math.sqrt(2.0) * gap)]), rows, tau, FAILURE)
    scale = float(bend.scale[0])
    bent = scale * float(smoothed(large / scale, bend.smoothing))
    means = bent * rng.binomial(rows, rare, 20_000) / rows
    far = np.quantile(np.abs(means - rare * large), 1.0 - FAILURE / 2.0)
    assert far <= parts.truncation + parts.sampling
    if rare < 0.01:
        assert far > parts.sampling, "it is the truncation that moves the mean of rare numbers"


def test_fits_end_within_the_bound() -> None:
    rng, truth = np.random.default_rng(3), np.array([2.0, -1.0])
    frame, schema = made.mixture_table(20_000, truth, 1.0, rng)
    start = truth + np.array([0.5, 0.5])
    norm = float(np.linalg.norm(truth)) + 0.8
    tau = (norm + math.hypot(norm, 1.0)) ** 2  # Minkowski: |beta| and the root of E y_j^2
    grid = fit_grid(
        "symmetric-mixture",
        load(frame, schema=schema),
        privacy=[Privacy(epsilon=2.0, delta=DELTA, mode="paper")],
        draws=range(40),
        seed=0,
        algorithm="robust",
        iterations=3,
        tau=tau,
        sigma=1.0,
        failure=FAILURE,
        initial=tuple(start),
        norm=norm,
    )
    far = apart(grid.runs.final.beta, truth, mirrored=True)
    most = bound(20_000, 2, 2.0, tau=tau, contraction=0.3, away=math.sqrt(0.5), iterations=3).total
    assert most / 100.0 < np.max(far) <= most


def test_rows_columns_and_budget_enter_as_in_the_rate() -> None:
    """With the parts of the rows and tau held, everything but the start falls with the root of
    the rows; more columns and less budget cost."""
    one, four = bound(20_000), bound(80_000)
    for name in ("truncation", "sampling", "noise"):
        assert getattr(four, name) == pytest.approx(getattr(one, name) / 2.0, rel=1e-9)
    assert four.start == one.start == pytest.approx(1.5 * 0.3**5)
    assert bound(columns=40).truncation == pytest.approx(2.0 * one.truncation)
    assert 2.0 * one.noise < bound(columns=40).noise < 4.0 * one.noise
    assert bound(epsilon=0.25).noise == pytest.approx(2.0 * one.noise, rel=0.02)
    assert one.total == one.start + one.truncation + one.sampling + one.noise


@pytest.mark.parametrize(
    ("field", "value"),
    [("rows", 4), ("columns", 0), ("epsilon", 0.0), ("tau", -1.0), ("contraction", 1.0),
     ("away", -1.0), ("failure", 1.0), ("iterations", 0)],
)  # fmt: skip
def test_what_no_bound_can_be_for_is_refused(field: str, value: float) -> None:
    with pytest.raises(InputError) as refused:
        bound(**{field: value})  # type: ignore[arg-type]
    assert refused.value.field == field
