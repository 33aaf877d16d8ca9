"""Rényi divergences, their conversions and their accountants, each by a second route."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import mpmath as mp
import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st
from printed_formulas import delta_from, epsilon_from, renyi
from support import every, examples, split_lanes

from dpcore.accounting import accountant, calibrate, compose, covers, rdp, wbk
from dpcore.accounting.base import scaled
from dpcore.accounting.moments import MomentsAccountant
from dpcore.accounting.rdp import RENYI, epsilon_over_orders
from dpcore.accounting.renyi import (
    log_moment,
    poisson_log_moment,
    poisson_log_moments,
    total_log_moment,
)
from dpcore.accounting.wbk import (
    THEOREM_9,
    THEOREM_27,
    log_even_moments,
    orders_up_to,
    sampled_log_moments,
    theorem_log_moments,
)
from dpcore.accounting.zcdp import tight_epsilon
from dpcore.errors import InputError, NotCovered
from dpcore.privacy import EpsilonDelta, Event, Gaussian, Laplace
from dpcore.privacy.events import DiscreteGaussian, Real

DELTA = 1e-5
ROOT = 0.5 * np.log(2.0 * np.pi)


def poisson(noise: Real, rate: float, count: int = 1) -> Event:
    return Event(
        Gaussian(noise), count, sampling="poisson", sampling_rate=rate, adjacency="add_remove"
    )


def fixed(noise: Real, rate: float, count: int = 1) -> Event:
    return Event(Gaussian(noise), count, sampling="without_replacement", sampling_rate=rate)


def classic(method: Any) -> Any:
    return replace(method, conversion="classic")


# --- curves --------------------------------------------------------------------------------------


def divergence(log_p: Any, log_q: Any, order: float, corners: list[float]) -> float:
    """log E_Q[(P/Q)^alpha] / (alpha - 1) by adaptive quadrature."""
    value, _ = scipy.integrate.quad(
        lambda x: np.exp(order * log_p(x) + (1.0 - order) * log_q(x)),
        *(-60.0, 60.0),
        points=corners,
        limit=400,
        epsabs=0.0,
        epsrel=1e-12,
    )
    return float(np.log(value) / (order - 1.0))


@pytest.mark.parametrize("order", [1.2, 2.0, 7.5])
def test_gaussian_and_laplace_curves_are_the_divergences(order: float) -> None:
    for shift in (0.2, 1.0):
        laplace = divergence(
            lambda x, s=shift: -abs(x - s) - np.log(2.0),
            lambda x: -abs(x) - np.log(2.0),
            order,
            [0.0, shift],
        )
        assert renyi(Event(Laplace(1.0 / shift)), order) == pytest.approx(laplace, rel=1e-9)
        gaussian = divergence(
            lambda x, s=shift: -0.5 * (x - s) ** 2 - ROOT,
            lambda x: -0.5 * x * x - ROOT,
            order,
            [0.0, shift],
        )
        assert renyi(Event(Gaussian(1.0 / shift)), order) == pytest.approx(gaussian, rel=1e-9)
        assert renyi(Event(DiscreteGaussian(1.0 / shift)), order) == pytest.approx(gaussian)


@pytest.mark.parametrize("epsilon", [1e-7, 0.01, 1.0, 40.0])
@pytest.mark.parametrize("order", [1.0 + 2.0**-24, 1.5, 2.0, 300.0])
def test_curves_keep_their_digits_at_every_order(order: float, epsilon: float) -> None:
    """Against 60 digits: both formulas cancel in the first order of epsilon and of alpha - 1."""
    with mp.workdps(60):
        a, e = mp.mpf(order), mp.mpf(epsilon)
        p = mp.e**e / (1 + mp.e**e)
        pure = mp.log(p**a * (1 - p) ** (1 - a) + (1 - p) ** a * p ** (1 - a)) / (a - 1)
        laplace = mp.log(
            a / (2 * a - 1) * mp.e ** ((a - 1) * e) + (a - 1) / (2 * a - 1) * mp.e ** (-a * e)
        ) / (a - 1)
    assert renyi(Event(EpsilonDelta(epsilon)), order) == pytest.approx(float(pure), rel=1e-12)
    assert renyi(Event(Laplace(1.0 / epsilon)), order) == pytest.approx(float(laplace), rel=1e-12)


def test_laplace_vectors_never_cost_more_than_their_l2_bound_nor_than_a_scalar() -> None:
    orders = np.geomspace(1.01, 1e4, 60)
    vector = renyi(Event(Laplace(2.0, 0.5)), orders)
    assert np.all(vector <= renyi(Event(Gaussian(4.0)), orders) * (1 + 1e-15))
    assert np.all(vector <= renyi(Event(Laplace(2.0)), orders))
    assert np.max(vector) <= 0.5


@pytest.mark.full
@pytest.mark.parametrize(
    ("noise", "rate", "order"),
    [(1.0, 0.01, 1.5), (0.3, 1e-5, 2.5), (100.0, 0.3, 3.7), (0.7, 0.05, 1.25), (2.85, 0.2, 40.5)],
)
def test_poisson_divergence_at_fractional_orders(noise: float, rate: float, order: float) -> None:
    with mp.workdps(35):
        s, q, a = mp.mpf(noise), mp.mpf(rate), mp.mpf(order)
        value = mp.quad(
            lambda x: (1 - q + q * mp.e ** ((2 * x - 1) / (2 * s * s))) ** a * mp.npdf(x, 0, s),
            mp.linspace(-13 * s, a + 13 * s, 40),
        )
        known = float(mp.log(value) / (a - 1))
    assert renyi(poisson(noise, rate), order) == pytest.approx(known, rel=1e-10)


@pytest.mark.merge
@every("noise", [0.1, 0.3, 0.5, 1.0, 2.8, 3.0, 12.0, 100.0])
@every("rate", [1e-5, 0.05, 0.999])
def test_poisson_quadrature_agrees_with_the_finite_sums(noise: float, rate: float) -> None:
    most = 1000 if noise >= 0.5 else 200
    orders = np.arange(1.0, most + 1.0)
    sums = poisson_log_moments(most, noise, rate)
    np.testing.assert_allclose(poisson_log_moment(orders, noise, rate), sums, rtol=1e-10)


def test_poisson_quadrature_far_out_never_exceeds_the_release_without_sampling() -> None:
    noise = np.array([[1e-6, 1e-3, 0.1, 1.0, 1e3]])
    orders = np.geomspace(1e-8, 1e9, 40)[:, None]
    sampled = poisson_log_moment(orders, noise, 0.01)
    whole = log_moment(Event(Gaussian(noise)), orders)
    assert np.all(np.isfinite(sampled) & (sampled > 0.0) & (sampled <= whole))


def test_sampling_with_rate_one_is_no_sampling() -> None:
    for order in (1.5, 8.0):
        assert renyi(poisson(2.0, 1.0), order) == renyi(Event(Gaussian(2.0)), order)


@examples(60)
@given(st.floats(0.4, 30.0), st.floats(1e-4, 0.9), st.floats(1e-3, 200.0), st.floats(1.01, 1.5))
def test_poisson_divergence_grows_with_order_and_rate_and_falls_with_noise(
    noise: float, rate: float, order: float, more: float
) -> None:
    def tau(z: float, q: float, lam: float) -> float:
        return float(poisson_log_moment(np.asarray(lam), z, q)) / lam

    base = tau(noise, rate, order)
    assert tau(noise, rate, order * more) >= base * (1 - 1e-12)
    assert tau(noise, min(1.0, rate * more), order) >= base * (1 - 1e-12)
    assert tau(noise * more, rate, order) <= base * (1 + 1e-12)


# --- conversions ---------------------------------------------------------------------------------


@given(st.floats(0.01, 50.0), st.floats(1.05, 300.0), st.floats(-40.0, -1.0))
def test_conversions_are_inverse_and_the_best_one_is_best(
    tau: float, order: float, log_delta: float
) -> None:
    delta = float(np.exp(log_delta))
    best, worse = (epsilon_from(tau, order, delta, c) for c in ("best", "classic"))
    assert best <= worse
    for name, epsilon in (("best", best), ("classic", worse)):
        back = delta_from(tau, order, epsilon, name)  # type: ignore[arg-type]
        assert back <= delta * (1 + 1e-9) or epsilon == 0.0
        if epsilon > 0.0 and delta**2 < 0.5 * -np.expm1(-tau):
            assert back == pytest.approx(delta, rel=1e-9)


def test_a_delta_above_the_total_variation_costs_nothing() -> None:
    assert epsilon_from(1e-12, 1.1, 1e-5) == 0.0
    assert epsilon_from(1e-12, 1.1, 1e-5, "classic") > 0.0
    assert delta_from(1e-12, 1.1, 0.0) == pytest.approx(1e-6, rel=1e-9)


def test_a_conversion_that_cannot_be_is_refused() -> None:
    with pytest.raises(InputError, match="conversion"):
        replace(RENYI, conversion="other")  # type: ignore[arg-type]


# --- the Rényi accountant ------------------------------------------------------------------------


@every("noise", [1e-3, 0.5, 5.0, 100.0, 1e4])
@every("delta", [1e-300, 1e-15, 1e-5, 0.01])
def test_the_search_over_orders_finds_the_closed_form_of_gaussians(
    noise: float, delta: float
) -> None:
    """A Laplace event without cost sends Gaussians through the general search."""
    for count in (1, 10**6):
        events = [Event(Gaussian(noise), count), Event(Laplace(np.inf))]
        found, _ = epsilon_over_orders(events, delta)
        closed = tight_epsilon(0.5 * count / noise**2, delta)
        assert found == pytest.approx(closed, rel=1e-10, abs=1e-13)
        if closed > 0.0:
            assert found >= closed * (1 - 1e-12)


MIXTURES: dict[str, list[Event]] = {
    "laplace": [Event(Laplace(9.0), 30)],
    "vectors": [Event(Laplace(8.0, 0.5), 5), Event(Laplace(20.0, 0.3), 9), Event(Gaussian(9.0))],
    "boxes": [Event(EpsilonDelta(0.1), 40), Event(DiscreteGaussian(6.0), 4)],
    "poisson": [replace(poisson(1.3, 0.02), count=500)],
    "poisson with a steep side": [poisson(10.0, 0.01)],
    "poisson and others": [
        poisson(0.8, 0.01, 200),
        Event(Laplace(30.0), 4, adjacency="add_remove"),
        Event(Gaussian(12.0), adjacency="add_remove"),
    ],
}


@pytest.mark.full
@every("name", MIXTURES)
@every("delta", [1e-15, 1e-5, 0.02])
def test_no_order_of_a_fine_grid_is_better(name: str, delta: float) -> None:
    events = MIXTURES[name]
    orders = np.geomspace(1e-3, 1e5, 4001)
    moments = total_log_moment(events, orders)
    grid = np.min(epsilon_from(moments / orders, orders + 1.0, delta))
    found = RENYI.epsilon(events, delta)
    assert found <= grid * (1 + 1e-12)
    assert found >= grid * (1 - 3e-3) - 1e-9
    by_delta = np.min(delta_from(moments / orders, orders + 1.0, 0.4))
    assert RENYI.delta(events, 0.4) <= by_delta * (1 + 1e-9)


SAMPLED = {"ma": poisson, "rdp": poisson, "wbk9": fixed, "wbk27": fixed}


@examples(60)
@given(
    st.sampled_from(list(SAMPLED)),
    st.floats(0.4, 18.0),
    st.floats(1e-4, 0.5),
    st.integers(1, 5000),
    st.floats(-25.0, -3.0),
)
def test_bounds_of_samples_are_monotone_and_below_the_release_without_sampling(
    name: str, noise: float, rate: float, count: int, log_delta: float
) -> None:
    def cost(noise: float, rate: float, count: int, log_delta: float) -> float:
        event = SAMPLED[name](noise, rate, count)
        return float(compose([event], name, delta=float(np.exp(log_delta))).epsilon)

    base = cost(noise, rate, count, log_delta)
    slack = 1e-9 * base + 1e-12
    assert cost(1.2 * noise, rate, count, log_delta) <= base + slack
    assert cost(noise, 1.3 * rate, count, log_delta) >= base - slack
    assert cost(noise, rate, 2 * count, log_delta) >= base - slack
    assert cost(noise, rate, count, log_delta - 1.0) >= base - slack
    event, delta = SAMPLED[name](noise, rate, count), float(np.exp(log_delta))
    whole = replace(event, sampling="none", sampling_rate=1.0)
    assert base <= compose([whole], "ma" if name == "ma" else "rdp", delta=delta).epsilon + slack
    if name.startswith("wbk") and base > 1e-6:
        assert accountant(name).delta([event], base) == pytest.approx(delta, rel=1e-6)


def test_pure_events_never_cost_more_than_their_sum() -> None:
    events = [Event(Laplace(1000.0), 2), Event(EpsilonDelta(0.001))]
    assert RENYI.epsilon(events, 1e-12) <= 0.003
    assert RENYI.epsilon(events, 1e-12) == pytest.approx(0.003, rel=1e-8)
    assert RENYI.epsilon(events, 0.0) == pytest.approx(0.003, rel=1e-12)
    assert RENYI.delta(events, 0.0031) == 0.0
    assert RENYI.delta(events, 0.0029) > 0.0
    assert RENYI.epsilon([*events, Event(Gaussian(1e5))], 0.0) == np.inf


@pytest.mark.merge
@pytest.mark.parametrize("noise", [0.05, 0.5, 10.0, 1e4])
@pytest.mark.parametrize("count", [1, 10**6])
def test_extreme_questions_have_finite_answers(noise: float, count: int) -> None:
    for rate in (1e-5, 0.5):
        for delta in (1e-300, 1e-15, 0.1):
            assert np.isfinite(RENYI.epsilon([poisson(noise, rate, count)], delta))
            assert np.isfinite(RENYI.epsilon([Event(Laplace(noise), count)], delta))


@pytest.mark.parametrize("target", [1e-4, 500.0])
def test_extreme_budgets_have_noise(target: float) -> None:
    for events in ([poisson(1.0, 0.01, 10**6)], [Event(Laplace(1.0), 10**6)]):
        factor = calibrate(events, target, 1e-15, "rdp")
        reached = RENYI.epsilon(scaled(events, factor), 1e-15)
        assert reached <= target
        assert reached == pytest.approx(target, rel=1e-9)


def least_by_zooms(events: list[Event], delta: float) -> float:
    """Five grids of 101 orders, each inside the last."""
    low, high = -2.0, 11.0
    for _ in range(5):
        u = np.linspace(low, high, 101)
        lam = np.exp(u)
        tau = np.asarray(total_log_moment(events, lam)) / lam
        found = np.asarray(epsilon_from(tau, lam + 1.0, delta))
        at = int(np.argmin(found))
        low, high = u[max(at - 1, 0)], u[min(at + 1, 100)]
    return float(found[at])


@split_lanes("rate, count", [(0.01, 1000), (0.0003, 6), (0.5, 40)], merge=1)
def test_no_cell_of_a_grid_misses_the_best_order(rate: float, count: int) -> None:
    """Many bottoms lie at the foot of the wall where samples stop helping: no parabola fits it."""
    noise, deltas = np.array([0.7, 1.3, 4.0, 25.0]), np.geomspace(1e-14, 1e-3, 12)
    found = np.asarray(RENYI.epsilon([poisson(noise[:, None], rate, count)], deltas))
    known = [[least_by_zooms([poisson(float(z), rate, count)], d) for d in deltas] for z in noise]
    assert np.all(found <= np.array(known) * (1 + 3e-11))
    assert np.all(found >= np.array(known) * (1 - 1e-8))


def test_cells_with_the_same_noise_share_their_orders(monkeypatch: pytest.MonkeyPatch) -> None:
    """A moment costs far more than its conversion: about two of them for each of 2,500 cells."""
    asked = 0

    def counted(events: Any, orders: Any) -> Any:
        nonlocal asked
        asked += np.count_nonzero(np.isfinite(orders))
        return total_log_moment(events, orders)

    monkeypatch.setattr(rdp, "total_log_moment", counted)
    noise, deltas = np.geomspace(1.0, 100.0, 25)[:, None], np.geomspace(1e-10, 1e-3, 100)
    RENYI.epsilon([poisson(noise, 0.01, 1000)], deltas)
    assert asked < 3 * 2500


@pytest.mark.parametrize("name", ["exact", "zcdp", "zcdp_tight"])
def test_noise_by_a_formula_needs_one_proof(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The formula's last digits may need a second one."""
    method, proofs = accountant(name), 0
    plain = type(method).epsilon

    def counted(self: Any, events: Any, delta: Any) -> Any:
        nonlocal proofs
        proofs += 1
        return plain(self, events, delta)

    monkeypatch.setattr(type(method), "epsilon", counted)
    for target in (0.1, 1.0, 7.0):
        calibrate([Event(Gaussian(1.0), 3)], target, DELTA, name)
    assert 3 <= proofs <= 5
    assert calibrate([Event(Gaussian(np.inf))], 1.0, DELTA, name) == 0.0


# --- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize("adjacency", ["replace_one", "label", "feature"])
def test_poisson_samples_need_rows_added_or_removed(adjacency: str) -> None:
    event = replace(poisson(1.0, 0.1), adjacency=adjacency)
    for name in ("ma", "rdp"):
        reason = covers(name, [event])
        assert "add_remove" in reason
        assert ("pld" if adjacency == "replace_one" else "sampling none") in reason
        assert covers(name, [poisson(1.0, 0.1)]) is None


def test_methods_name_one_that_covers_the_other_sampling() -> None:
    for name in ("ma", "rdp"):
        assert "wbk27" in str(covers(name, [fixed(1.0, 0.1)]))
    for name in ("wbk9", "wbk27"):
        assert "rdp" in str(covers(name, [poisson(1.0, 0.1)]))
        assert covers(name, [fixed(1.0, 0.1)]) is None
        for adjacency in ("add_remove", "label", "feature"):
            assert covers(name, [replace(fixed(1.0, 0.1), adjacency=adjacency)]) is not None


def test_only_gaussian_noise_is_covered_on_samples() -> None:
    for mechanism in (Laplace(2.0), EpsilonDelta(0.3), DiscreteGaussian(2.0)):
        for name, event in (("rdp", poisson(1.0, 0.1)), ("wbk27", fixed(1.0, 0.1))):
            reason = covers(name, [replace(event, mechanism=mechanism)])
            assert "pld" in str(reason)
    for name in ("ma", "rdp", "wbk9", "wbk27"):
        with pytest.raises(NotCovered, match="linear"):
            compose([Event(EpsilonDelta(0.1, 1e-6))], name, delta=DELTA)


# --- moments accountant --------------------------------------------------------------------------


def test_moments_are_orders_less_one_times_divergences() -> None:
    """epsilon of one release and one order: tau(2) + ln(1/delta)."""
    for event in (Event(Laplace(2.0)), Event(Gaussian(2.0)), poisson(1.0, 0.2)):
        found = MomentsAccountant(1).epsilon([event], DELTA)
        assert found == pytest.approx(renyi(event, 2.0) + np.log(1e5), rel=1e-12)


# --- samples of a fixed size ---------------------------------------------------------------------


@pytest.mark.parametrize("noise", [0.7, 2.0, 12.0])
def test_even_moments_of_the_ratio_are_binomial_sums(noise: float) -> None:
    found = log_even_moments(64, noise)
    for order in (2, 4, 20, 64):
        with mp.workdps(120):
            s = mp.mpf(noise)
            total = sum(
                (-1) ** (order - k) * mp.binomial(order, k) * mp.e ** (k * (k - 1) / (2 * s * s))
                for k in range(order + 1)
            )
            known = float(mp.log(total))
        assert found[order // 2 - 1] == pytest.approx(known, rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("theorem", [9, 27])
def test_the_theorems_written_out(theorem: int) -> None:
    noise, rate, order = 2.0, 0.05, 7
    even = np.exp(log_even_moments(16, noise))

    def factor(j: int) -> float:
        plain = 2.0 * np.exp(j * (j - 1) / (2.0 * noise**2))
        if j == 2:
            return float(min(plain, 4.0 * np.expm1(1.0 / noise**2)))
        paired = 4.0 * np.sqrt(even[j // 2 - 1] * even[(j + 1) // 2 - 1])
        return float(min(plain, paired) if theorem == 27 else plain)

    total = 1.0 + sum(
        rate**j * float(mp.binomial(order, j)) * factor(j) for j in range(2, order + 1)
    )
    found = theorem_log_moments(128, noise, rate, theorem)[order - 2]
    assert found == pytest.approx(np.log(total), rel=1e-12)


def test_wholly_sampled_curves_never_exceed_the_unsampled_one() -> None:
    orders = orders_up_to(256)
    for noise in (0.5, 12.0):
        for rate in (1e-4, 0.5, 1.0):
            each = sampled_log_moments(256, noise, rate, 27)
            assert np.all(each <= log_moment(Event(Gaussian(noise)), orders - 1.0))
            assert np.all(each <= sampled_log_moments(256, noise, rate, 9) * (1 + 1e-12))


@pytest.mark.parametrize("method", [THEOREM_27, classic(THEOREM_27)])
@pytest.mark.parametrize("delta", [1e-12, 1e-5, 1e-2])
def test_chords_are_searched_to_their_ends(method: Any, delta: float) -> None:
    """Corollary 10: the least over a fine grid of real orders on the chords."""
    noise, rate, count = 1.1, 0.03, 60
    moments = count * sampled_log_moments(512, noise, rate, 27)
    knots = np.concatenate([[0.0], orders_up_to(512) - 1.0])
    lam = np.geomspace(0.05, 500.0, 20_001)
    tau = np.interp(lam, knots, np.concatenate([[0.0], moments])) / lam
    grid = np.min(epsilon_from(tau, lam + 1.0, delta, method.conversion))
    found = method.epsilon([fixed(noise, rate, count)], delta)
    assert found <= grid * (1 + 1e-12)
    assert found >= grid * (1 - 1e-4)
    least = np.min(delta_from(tau, lam + 1.0, 1.0, method.conversion))
    assert method.delta([fixed(noise, rate, count)], 1.0) <= least * (1 + 1e-9)


@pytest.mark.parametrize(
    ("noise", "rate", "count", "log_delta"),
    [(14.2, 0.0258, 3, -18.45), (10.08, 0.035, 5, -9.06), (12.85, 0.0124, 16, -24.16)],
)
def test_theorem_9_has_two_valleys_and_the_lower_one_is_found(
    noise: float, rate: float, count: int, log_delta: float
) -> None:
    """Its curve bends down again where the factors 2 gamma^j C(alpha, j) take over."""
    deltas = np.exp(log_delta - np.linspace(0.0, 1.0, 9))
    events = [fixed(noise, rate, count)]
    epsilons = np.asarray(THEOREM_9.epsilon(events, deltas))
    assert np.all(np.diff(epsilons) > 0.0)
    back = np.asarray(THEOREM_9.delta(events, epsilons))
    np.testing.assert_allclose(back, deltas, rtol=1e-6)


def test_budgets_at_once_ask_for_no_more_orders_than_each_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The least noise, at the orders that the most noise needs, took minutes."""
    sample = Event(
        Gaussian(1.0), sampling="without_replacement", sampling_rate=0.5, adjacency="replace_one"
    )
    asked_for = []
    moments = wbk.sampled_log_moments

    def watched(highest: int, noise: float, rate: float, theorem: int) -> Any:
        asked_for.append((highest, noise))
        return moments(highest, noise, rate, theorem)

    monkeypatch.setattr(wbk, "sampled_log_moments", watched)
    budgets = np.array([0.02, 20.0])
    together = np.asarray(calibrate((sample,), budgets, 1e-5, "wbk27"))
    of_all = sorted(asked_for)
    asked_for.clear()
    alone = [float(calibrate((sample,), float(e), 1e-5, "wbk27")) for e in budgets]  # type: ignore[arg-type]
    assert together.tolist() == alone
    assert of_all == sorted(asked_for)
