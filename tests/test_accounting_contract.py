"""What every registered accountant owes, whatever its theorem."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
import wording
from hypothesis import given
from hypothesis import strategies as st
from support import every, examples

from dpcore.accounting import ACCOUNTANTS, accountant, calibrate, compose, covers
from dpcore.accounting.base import scaled
from dpcore.accounting.pld_bounds import PldBounds
from dpcore.errors import InputError, NotCovered
from dpcore.privacy import EpsilonDelta, Event, Gaussian, Laplace
from dpcore.privacy.events import Mechanism

NAMES = list(ACCOUNTANTS)
ROUGH = [name for name in NAMES if hasattr(accountant(name), "precision")]  # solved to a tolerance
DELTA = 1e-5
SAMPLES = {
    "gaussian": [Event(Gaussian(2.0)), Event(Gaussian(7.0), count=10)],
    "laplace": [Event(Laplace(8.0, 0.5), count=5), Event(Laplace(20.0))],
    "both": [Event(Gaussian(4.0), count=3), Event(Laplace(10.0), count=3)],
    "box": [Event(EpsilonDelta(0.2), count=4), Event(Laplace(10.0))],
    "box with delta": [Event(EpsilonDelta(0.2, 1e-7), count=4), Event(Gaussian(5.0))],
    "poisson": [
        Event(Gaussian(1.3), 50, None, "poisson", 0.02, adjacency="add_remove"),
        Event(Laplace(30.0), count=4, adjacency="add_remove"),
    ],
    "fixed size": [
        Event(Gaussian(1.3), 40, sampling="without_replacement", sampling_rate=0.02),
        Event(Laplace(30.0), count=2),
        Event(Gaussian(20.0)),
    ],
}
CASES = [(n, k) for n in NAMES for k, e in SAMPLES.items() if covers(n, e) is None]
NOISY = [(n, k) for n, k in CASES if "box" not in k]


def epsilon(name: str, events: list[Event], delta: float = DELTA) -> Any:
    return compose(events, name, delta=delta).epsilon


def test_the_names_scripts_use() -> None:
    assert {"linear", "advanced", "zcdp", "zcdp_tight", "ma", "exact"} <= set(NAMES)
    assert all(accountant(name).name == name for name in NAMES)


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(InputError, match="accountant"):
        compose([], "nosuch", delta=DELTA)


@pytest.mark.parametrize("name", NAMES)
def test_what_a_screen_needs(name: str) -> None:
    bound = compose([Event(Gaussian(3.0))], name, delta=DELTA)
    assert bound.kind in ("exact", "upper bound")
    assert bound.source
    assert accountant(name).title
    assert isinstance(bound.assumptions, tuple)
    assert isinstance(bound.epsilon, float)


@pytest.mark.parametrize("name", NAMES)
def test_noise_that_is_hardly_there_costs_as_much_as_none(name: str) -> None:
    """Its square is 0, and what follows from it was undefined, or free."""
    for exponent in (99, 101, 155, 300, 308, 324):
        faint, loud = 10.0**-exponent, 10.0 ** min(exponent, 308)
        for what in (Gaussian(faint), Laplace(faint), EpsilonDelta(loud), EpsilonDelta(loud, 1e-9)):
            for events in ([Event(what)], [Event(what, count=3), Event(Gaussian(5.0))]):
                if covers(name, events) is None:
                    assert epsilon(name, events) >= 1e90
    assert Gaussian(np.array([1e-200, 1.0])).noise_multiplier.tolist() == [0.0, 1.0]  # type: ignore[union-attr]


@pytest.mark.parametrize("name", NAMES)
def test_nothing_costs_nothing(name: str) -> None:
    method = accountant(name)
    for nothing in ([], [Event(Gaussian(0.0), count=0)], [Event(Gaussian(np.inf), count=3)]):
        assert epsilon(name, nothing) == 0.0
        assert method.delta(nothing, 0.5) == 0.0
        assert calibrate(nothing, 1.0, DELTA, name) == 0.0


@pytest.mark.parametrize("name", NAMES)
def test_unprotected_costs_everything(name: str) -> None:
    bare = [Event(Gaussian(3.0)), Event(Gaussian(0.0))]
    assert epsilon(name, bare) == np.inf
    assert accountant(name).delta(bare, 5.0) == 1.0
    with pytest.raises(InputError, match="noise of size 0"):
        calibrate(bare, 1.0, DELTA, name)


@pytest.mark.parametrize("name", [n for n in NAMES if n != "exact"])
def test_laplace_without_noise_costs_everything(name: str) -> None:
    assert epsilon(name, [Event(Laplace(0.0))]) == np.inf


@dataclass(frozen=True)
class Unheard:
    """A mechanism no accountant knows."""

    noise: float = 1.0


@pytest.mark.parametrize("name", NAMES)
def test_what_has_no_theorem_is_refused_with_a_way_out(name: str) -> None:
    strange = Event(Gaussian(1.0))
    object.__setattr__(strange, "mechanism", Unheard())
    sampled = Event(Gaussian(1.0), sampling="poisson", sampling_rate=0.1, adjacency="label")
    for event in (strange, sampled):
        assert covers(name, [event]) is not None
        with pytest.raises(NotCovered) as refusal:
            epsilon(name, [Event(Gaussian(1.0), adjacency=event.adjacency), event])
        assert refusal.value.remedy
        with pytest.raises(NotCovered):
            accountant(name).delta([event], 1.0)
        with pytest.raises(NotCovered):
            calibrate([event], 1.0, DELTA, name)


def test_moment_methods_refuse_black_boxes_with_delta_and_name_another() -> None:
    for name in ("zcdp", "zcdp_tight", "ma", "exact"):
        assert "linear" in str(covers(name, SAMPLES["box with delta"]))


def test_exact_names_a_method_that_covers_laplace() -> None:
    assert "zcdp_tight" in str(covers("exact", SAMPLES["laplace"]))


@pytest.mark.full
@every("name, kind", CASES)
def test_more_noise_costs_less_and_more_releases_cost_more(name: str, kind: str) -> None:
    events = SAMPLES[kind]
    base = epsilon(name, events)
    assert epsilon(name, [replace(e, count=2 * e.count) for e in events]) > base
    assert epsilon(name, events, 1e-3) <= base <= epsilon(name, events, 1e-6)
    if (name, kind) in NOISY:
        costs = epsilon(name, scaled(events, np.geomspace(0.05, 50.0, 40)))
        assert np.all(np.diff(costs) < 0.0) or name in ("linear", "advanced", "exact")
        assert np.all(np.diff(costs) <= 0.0)


@every("name, kind", CASES)
def test_delta_and_epsilon_are_inverse(name: str, kind: str, exhaustive: bool) -> None:
    events, method = SAMPLES[kind], accountant(name)
    for delta in (1e-9, 1e-5, 1e-3) if exhaustive else (1e-5,):
        if "delta" in kind and delta < 1e-6:
            continue
        at = method.epsilon(events, delta)
        back = method.delta(events, at)
        again = method.epsilon(events, max(float(back), 1e-300))
        if name in ROUGH:
            assert again == pytest.approx(at, rel=2e-4)
            continue
        assert back <= delta * (1 + 1e-6)
        assert again <= at * (1 + 1e-9)


@pytest.mark.full
@every("name, kind", NOISY)
def test_calibrated_noise_meets_the_budget_and_is_the_smallest(name: str, kind: str) -> None:
    events = SAMPLES[kind]
    targets = np.geomspace(0.25, 30.0, 5 if name in ROUGH else 53)
    close = 1e-5 if name in ROUGH else 1e-9
    factor = np.asarray(calibrate(events, targets, DELTA, name))
    reached = epsilon(name, scaled(events, factor))
    assert np.all(reached <= targets)
    np.testing.assert_allclose(reached, targets, rtol=close)
    single = calibrate(events, float(targets[3]), DELTA, name)
    assert isinstance(single, float)
    assert single == pytest.approx(factor[3], rel=close)


@pytest.mark.parametrize("name", ["linear", "advanced", "zcdp", "zcdp_tight", "exact"])
def test_calibration_where_epsilon_is_steep_in_the_noise(name: str) -> None:
    """Tiny budgets at a large delta: a little more noise would make epsilon 0."""
    events = [Event(Gaussian(8.0), count=1800)]
    targets = np.geomspace(1e-4, 1.0, 7)
    factor = calibrate(events, targets, 0.08, name)
    reached = epsilon(name, scaled(events, factor), 0.08)
    assert np.all(reached <= targets)
    np.testing.assert_allclose(reached, targets, rtol=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_black_boxes_cannot_be_scaled(name: str) -> None:
    with pytest.raises(InputError):
        calibrate(SAMPLES["box"], 1.0, DELTA, name)


@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan, np.inf])
def test_budgets_that_cannot_be_are_refused(bad: float) -> None:
    with pytest.raises(InputError, match="epsilon"):
        calibrate([Event(Gaussian(1.0))], bad, DELTA)
    with pytest.raises(InputError, match="delta"):
        calibrate([Event(Gaussian(1.0))], 1.0, bad if bad != 0.0 else 1.0)
    if bad != 0.0:
        with pytest.raises(InputError, match="delta"):
            compose([Event(Gaussian(1.0))], delta=bad)


@every("name, kind", CASES)
def test_a_grid_of_runs_gives_what_single_runs_give(name: str, kind: str) -> None:
    grid = [_spread(event) for event in SAMPLES[kind]]
    together = np.asarray(epsilon(name, grid))
    alone = [epsilon(name, [event.at(i) for event in grid]) for i in range(4)]
    np.testing.assert_allclose(together, alone, rtol=1e-12)


def _spread(event: Event) -> Event:
    """Four runs with different noise."""
    steps = np.array([0.5, 1.0, 2.0, 9.0])
    match event.mechanism:
        case Gaussian(noise_multiplier=value):
            return replace(event, mechanism=Gaussian(value * steps))
        case Laplace(scale=value, l2_ratio=ratio):
            return replace(event, mechanism=Laplace(value * steps, ratio))
        case EpsilonDelta(epsilon=value, delta=delta):
            return replace(event, mechanism=EpsilonDelta(value * steps, delta))


gaussians = st.lists(
    st.tuples(st.floats(0.3, 200.0), st.integers(1, 300)), min_size=1, max_size=3
).map(lambda rows: [Event(Gaussian(z), count=n) for z, n in rows])


@examples(60)
@given(gaussians, st.floats(-25.0, -3.0))
@pytest.mark.parametrize("name", NAMES)
def test_no_bound_is_below_the_exact_epsilon(
    name: str, events: list[Event], log_delta: float
) -> None:
    delta = float(np.exp(log_delta))
    truth = epsilon("exact", events, delta)
    assert epsilon(name, events, delta) >= truth * (1 - 1e-12)


@examples(40)
@given(st.floats(0.05, 3.0), st.integers(1, 40))
def test_no_bound_for_laplace_is_below_one_release_exactly(shift: float, count: int) -> None:
    """One Laplace release has delta = 1 - e^((eps - s)/2); more releases never cost less."""
    least = max(0.0, shift + 2.0 * np.log1p(-DELTA))
    for name in ("linear", "advanced", "zcdp", "zcdp_tight", "ma"):
        assert epsilon(name, [Event(Laplace(1.0 / shift), count=count)]) >= least * (1 - 1e-12)


@examples(25)
@given(gaussians, st.floats(-30.0, -3.0))
def test_exact_then_losses_then_renyi_then_zcdp(events: list[Event], log_delta: float) -> None:
    """The engine itself for the second: the accountant answers Gaussians by their closed form."""
    delta = float(np.exp(log_delta))
    exact = epsilon("exact", events, delta)
    losses = PldBounds(tuple(events), delta, 2).epsilon_above(delta)
    assert exact <= losses * (1 + 1e-12)
    rdp, tight, zcdp = (epsilon(name, events, delta) for name in ("rdp", "zcdp_tight", "zcdp"))
    assert losses <= rdp * (1 + 1e-4) + 1e-9
    assert rdp == pytest.approx(tight, rel=1e-9)
    assert tight <= zcdp <= epsilon("ma", events, delta) * (1 + 1e-12)


def test_moments_accountant_names_the_smallest_epsilon_it_reaches() -> None:
    """ln(1e5)/64 = 0.17989."""
    events = [Event(Gaussian(1.0))]
    with pytest.raises(NotCovered, match=r"0\.180.*rdp"):
        calibrate(events, 0.179, DELTA, "ma")
    assert epsilon("ma", scaled(events, calibrate(events, 0.1805, DELTA, "ma"))) <= 0.1805


def test_shares_of_delta_that_do_not_fit_are_refused_with_one_that_does() -> None:
    events = [Event(Gaussian(3.0), count=30, delta_each=1e-6)]
    for name in ("linear", "advanced"):
        with pytest.raises(InputError, match=r"delta_each: .*3\.33e-7") as refusal:
            epsilon(name, events)
        fits = float(refusal.value.remedy.split()[-1])
        assert np.isfinite(epsilon(name, [replace(events[0], delta_each=fits)]))


def test_linear_may_use_all_of_delta_and_advanced_may_not() -> None:
    for n in (3, 30, 70, 77):
        events = [Event(Gaussian(3.0), count=n, delta_each=DELTA / n)]
        assert np.isfinite(epsilon("linear", events))
        with pytest.raises(InputError, match="less than"):
            epsilon("advanced", events)


def test_delta_found_covers_the_shares_of_single_releases() -> None:
    """A release with its own share beside one by default: the smallest delta pays for both."""
    events = [Event(Gaussian(3.0), delta_each=1e-6), Event(Gaussian(3.0))]
    for name in ("linear", "advanced"):
        delta = accountant(name).delta(events, 100.0)
        assert np.isfinite(accountant(name).epsilon(events, delta))
    boxes = [Event(EpsilonDelta(0.1, 1e-6), count=3)]
    assert accountant("linear").delta(boxes, 1.0) == pytest.approx(3e-6, rel=1e-9)
    assert accountant("linear").delta(boxes, 0.1) == 1.0


def test_delta_is_zero_only_where_it_truly_is() -> None:
    linear = accountant("linear")
    assert linear.delta([Event(Laplace(2.0))], 1.0) == 0.0
    assert linear.delta([Event(Gaussian(100.0))], 50.0) > 0.0


def test_black_boxes_that_use_up_delta_are_refused() -> None:
    with pytest.raises(InputError, match=wording.GIVE_DELTA_ABOVE):
        epsilon("linear", [Event(EpsilonDelta(0.1, 1e-5), count=2)])


def test_pure_composition_needs_no_delta() -> None:
    assert epsilon("linear", SAMPLES["box"], 0) == pytest.approx(0.9, rel=1e-12)
    assert epsilon("zcdp_tight", SAMPLES["box"], 0) == np.inf


def test_advanced_is_the_theorem_as_printed_and_takes_no_minimum() -> None:
    """k = 100, eps = 0.1, delta' = 1e-5: sqrt(2 k ln(1/delta')) eps + k eps (e^eps - 1)."""
    events = [Event(EpsilonDelta(0.1), count=100)]
    assert epsilon("advanced", events) == pytest.approx(4.798525912 + 1.051709181, rel=1e-9)
    one = [Event(EpsilonDelta(0.1))]
    assert epsilon("advanced", one) > epsilon("linear", one)


def test_l2_bounded_laplace_vectors_are_charged_for_their_l2_bound() -> None:
    """rho = ratio^2 / (2 scale^2), and the moments accountant never more than without it."""
    from dpcore.accounting.zcdp import total_rho

    assert total_rho([Event(Laplace(2.0, 0.5))]) == 0.03125
    assert epsilon("ma", [Event(Laplace(2.0, 0.1))]) < epsilon("ma", [Event(Laplace(2.0))])


@every("noises, adjacency, touched", [
    ((3.0,) * 9, "add_remove", (3.0,)), ((3.0,) * 9, "replace_one", (3.0, 3.0)),
    ((9.0, 2.0, 5.0), "add_remove", (2.0,)), ((9.0, 2.0, 5.0), "replace_one", (2.0, 5.0)),
])  # fmt: skip
def test_of_disjoint_parts_the_costliest_that_one_record_can_touch_count(
    noises: tuple[float, ...], adjacency: str, touched: tuple[float, ...]
) -> None:
    """Under add/remove one part; where a record may move between parts, two."""
    parts = [
        Event(Gaussian(noise), group="g", parallel=True, adjacency=adjacency) for noise in noises
    ]
    same = [Event(Gaussian(noise), adjacency=adjacency) for noise in touched]
    for name in NAMES:
        found = compose(parts, name, delta=DELTA).epsilon
        assert found == pytest.approx(epsilon(name, same), rel=1e-12)
        factor = calibrate(parts, 1.0, DELTA, name)
        assert factor == pytest.approx(calibrate(same, 1.0, DELTA, name), rel=1e-9)


def test_costs_under_different_adjacencies_are_not_added() -> None:
    events = [Event(Gaussian(3.0)), Event(Gaussian(3.0), adjacency="add_remove")]
    with pytest.raises(InputError, match="adjacency"):
        compose(events, "exact", delta=DELTA)


def test_a_sample_makes_the_pair_of_its_release_smaller() -> None:
    """Balle, Barthe, Gaboardi 2018, Theorem 9: ln(1 + q (e^epsilon - 1)) and q delta."""
    box = Event(EpsilonDelta(1.0, 1e-5), sampling="without_replacement", sampling_rate=0.1)
    for name in ("linear", "kov"):
        bound = compose([box], name, delta=1e-6 * (1 + 1e-9))
        assert bound.epsilon == pytest.approx(np.log1p(0.1 * np.expm1(1.0)), rel=1e-6)
        assert bound.kind == "upper bound"
        assert "fresh sample" in " ".join(bound.assumptions)
        with pytest.raises(InputError, match="delta"):
            compose([box], name, delta=0.9e-6)


@pytest.mark.parametrize("name", ["linear", "advanced", "kov"])
@pytest.mark.parametrize("mechanism", [Gaussian(0.8), Laplace(0.9), EpsilonDelta(1.5, 1e-9)])
def test_pairs_of_samples_are_never_below_privacy_losses(name: str, mechanism: Mechanism) -> None:
    poisson = Event(mechanism, 7, sampling="poisson", sampling_rate=0.07, adjacency="add_remove")
    fixed = replace(poisson, sampling="without_replacement", adjacency="replace_one")
    for event in (poisson, fixed):
        assert epsilon(name, [event]) >= compose([event], "pld", delta=DELTA).lower
        assert "leave the sampling out" in str(covers(name, [replace(event, adjacency="label")]))


def test_samples_of_disjoint_parts_are_counted_only_where_rows_do_not_move() -> None:
    part = Event(
        Gaussian(1.0), 5, sampling="poisson", sampling_rate=0.1, adjacency="add_remove",
        group="g", parallel=True,
    )  # fmt: skip
    alone = replace(part, parallel=False, group=None)
    both = compose([part, part], "pld", delta=DELTA).epsilon
    assert both == compose([alone], "pld", delta=DELTA).epsilon
    moved = replace(part, adjacency="replace_one", sampling="without_replacement")
    assert "move from one part to another" in str(covers("pld", [moved]))
