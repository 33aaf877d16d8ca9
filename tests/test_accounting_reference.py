"""Every row of the reference table that belongs to these methods, at the row's own tolerance.

The table was computed with other libraries; a few of its numbers stand in this file, so that
something is compared without it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support import shared

from dpcore.accounting import calibrate, compose, delta_of
from dpcore.accounting.zcdp import classic_epsilon, tight_epsilon
from dpcore.privacy import EpsilonDelta, Event, Gaussian, Laplace

Row = dict[str, Any]


def gaussians(inputs: Row) -> list[Event]:
    return [Event(Gaussian(inputs["noise_multiplier"]), count=inputs["num_compositions"])]


def laplaces(inputs: Row) -> list[Event]:
    return [Event(Laplace(1.0 / inputs["epsilon_each"]), count=inputs["num_compositions"])]


def boxes(inputs: Row) -> list[Event]:
    return [Event(EpsilonDelta(inputs["epsilon_each"]), count=inputs["num_compositions"])]


def mixture(inputs: Row) -> list[Event]:
    """Laplace and Gaussian releases as they are."""
    return [
        Event(Laplace(inputs["laplace_noise_multiplier"]), count=inputs["n_laplace"]),
        Event(Gaussian(inputs["gaussian_noise_multiplier"]), count=inputs["n_gaussian"]),
    ]


def mixture_pairs(inputs: Row) -> list[Event]:
    """The same as black boxes: the table takes the classical Gaussian's (epsilon_i, delta_i)."""
    box = EpsilonDelta(inputs["epsilon_each"], inputs["delta_each_gaussian"])
    return [
        Event(EpsilonDelta(inputs["epsilon_each"]), count=inputs["n_laplace"]),
        Event(box, count=inputs["n_gaussian"]),
    ]


def by(method: str, events: Callable[[Row], list[Event]]) -> Callable[[Row], float]:
    return lambda i: float(compose(events(i), method, delta=i["delta"]).epsilon)


def noise_for(method: str) -> Callable[[Row], float]:
    def solve(inputs: Row) -> float:
        events = [Event(Gaussian(1.0), count=inputs["num_compositions"])]
        return float(calibrate(events, inputs["target_epsilon"], inputs["delta"], method))

    return solve


def log_delta(inputs: Row) -> float:
    return float(np.log(delta_of(inputs["epsilon"], 1.0 / inputs["noise_multiplier"])))


ROUTES: dict[tuple[str, str], Callable[[Row], float]] = {
    ("gaussian_composed", "gdp_exact"): by("exact", gaussians),
    ("gaussian_composed", "zcdp_classic"): by("zcdp", gaussians),
    ("gaussian_composed", "zcdp_tight"): by("zcdp_tight", gaussians),
    ("gaussian_composed", "ma_classic_integer_lambda_1_64"): by("ma", gaussians),
    ("laplace_composed", "linear"): by("linear", laplaces),
    ("laplace_composed", "dwork_roth_3_20"): by("advanced", laplaces),
    ("laplace_composed", "zcdp_classic_from_pure"): by("zcdp", boxes),
    ("laplace_composed", "zcdp_tight_from_pure"): by("zcdp_tight", boxes),
    ("llg_mixture", "linear"): by("linear", mixture_pairs),
    ("llg_mixture", "dwork_roth_3_20"): by("advanced", mixture_pairs),
    ("llg_mixture", "zcdp_classic"): by("zcdp", mixture),
    ("llg_mixture", "zcdp_tight"): by("zcdp_tight", mixture),
    ("zcdp_conversion", "zcdp_classic"): lambda i: float(classic_epsilon(i["rho"], i["delta"])),
    ("zcdp_conversion", "zcdp_tight"): lambda i: float(tight_epsilon(i["rho"], i["delta"])),
    ("gaussian_calibration", "analytic_gaussian"): noise_for("exact"),
    ("gaussian_calibration", "zcdp_classic"): noise_for("zcdp"),
    ("analytic_gaussian_delta", "log_delta"): log_delta,
}
SOUND = {
    "gaussian_composed": (gaussians, ("exact", "linear", "zcdp", "zcdp_tight", "ma")),
    "laplace_composed": (laplaces, ("linear", "advanced", "zcdp", "zcdp_tight", "ma")),
    "llg_mixture": (mixture, ("linear", "advanced", "zcdp", "zcdp_tight", "ma")),
}


def entries() -> list[Row]:
    table = json.loads(shared("reference/accounting.json").read_text())
    rows: list[Row] = table["entries"]
    return rows


@pytest.mark.parametrize(("group", "method"), list(ROUTES))
def test_every_reference_row_is_met(group: str, method: str) -> None:
    rows = [r for r in entries() if (r["group"], r["accountant"]) == (group, method)]
    assert rows
    for row in rows:
        found = ROUTES[group, method](row["inputs"])
        near = pytest.approx(row["value"], rel=row["rel_tol"], abs=row.get("abs_tol", 1e-9))
        assert found == near, row["id"]


@pytest.mark.parametrize("group", list(SOUND))
def test_no_method_is_below_the_rigorous_interval(group: str) -> None:
    events, methods = SOUND[group]
    rows = [r for r in entries() if r["group"] == group and r["accountant"] == "pld"]
    assert rows
    for row in rows:
        for method in methods:
            found = compose(events(row["inputs"]), method, delta=row["inputs"]["delta"]).epsilon
            assert found >= row["lower"] * (1 - 1e-9) - 1e-9, (row["id"], method)


@pytest.mark.parametrize(
    ("method", "noise", "count", "known"),
    [
        ("exact", 5.0, 1, 0.72552),
        ("exact", 0.5, 1000, 2268.8),
        ("exact", 20.0, 1000, 7.5113),
        ("exact", 100.0, 1000, 1.1994),
        ("zcdp", 5.0, 100, 11.597),
        ("zcdp_tight", 5.0, 100, 10.725),
        ("zcdp_tight", 20.0, 1000, 8.0784),
        ("ma", 100.0, 1, 0.18314),
        ("ma", 20.0, 1000, 8.8376),
        ("ma", 0.5, 1000, 4011.5),
    ],
)
def test_known_epsilons_of_gaussians(method: str, noise: float, count: int, known: float) -> None:
    """delta = 1e-5; dp-accounting 0.6.0, OpenDP 0.16.0 and closed forms, to five figures."""
    found = compose([Event(Gaussian(noise), count=count)], method, delta=1e-5).epsilon
    assert found == pytest.approx(known, rel=6e-5)


@pytest.mark.parametrize(
    ("method", "known"),
    [("linear", 7.0), ("advanced", 4.3277), ("zcdp", 2.9456), ("zcdp_tight", 2.4847)],
)
def test_known_epsilons_of_a_mixture(method: str, known: float) -> None:
    """40 Laplace and 30 Gaussian releases at epsilon_i = 0.1, delta_i = 1e-8, delta = 1e-4."""
    inputs: Row = {
        "epsilon_each": 0.1,
        "delta_each_gaussian": 1e-8,
        "n_laplace": 40,
        "n_gaussian": 30,
        "laplace_noise_multiplier": 10.0,
        "gaussian_noise_multiplier": 10.0 * np.sqrt(2.0 * np.log(1.25e8)),
    }
    events = mixture_pairs(inputs) if method in ("linear", "advanced") else mixture(inputs)
    assert compose(events, method, delta=1e-4).epsilon == pytest.approx(known, rel=3e-5)
