"""Proofs are the best bound, replay from the ledger alone, and read as a chance of guessing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dpcore.accounting import ACCOUNTANTS, best_proof, compose, covers, guess_rate, replay
from dpcore.errors import InputError, NotCovered, ReplayError
from dpcore.privacy import (
    DiscreteGaussian,
    EpsilonDelta,
    Event,
    Gaussian,
    Laplace,
    Ledger,
    LedgerEntry,
)
from dpcore.privacy.objective_entry import BoxedEntry
from dpcore.privacy.sampled_entry import SampledEntry

DELTA = 1e-5
GAUSSIAN = LedgerEntry("sums", "gaussian", 6.0, 2.0, "replace_one", "lemma", count=10)
LAPLACE = LedgerEntry("counts", "laplace", 20.0, 2.0, "replace_one", "lemma", 1.0, count=10)
LEDGER = Ledger((GAUSSIAN, LAPLACE))


def test_best_proof_is_the_smallest_of_all_methods() -> None:
    events = list(LEDGER.events)
    proof = best_proof(events, DELTA)
    every = {
        name: compose(events, name, delta=DELTA).epsilon
        for name in ACCOUNTANTS
        if covers(name, events) is None
    }
    assert proof.accountant == "pld"
    assert proof.epsilon == pytest.approx(min(every.values()), rel=1e-4)


def test_gaussians_alone_are_proved_exactly() -> None:
    proof = best_proof(Ledger((GAUSSIAN,)).events, DELTA)
    assert (proof.accountant, proof.kind) == ("exact", "exact")


def test_methods_that_cannot_afford_their_shares_do_not_stop_the_others() -> None:
    events = [Event(Gaussian(9.0), count=5, delta_each=1e-5), Event(Laplace(30.0))]
    assert best_proof(events, DELTA).accountant == "pld"


def test_the_proof_of_a_sample_is_of_how_it_was_drawn() -> None:
    sample = Event(Gaussian(1.0), 40, sampling="poisson", sampling_rate=0.1, adjacency="add_remove")
    fixed = replace(sample, sampling="without_replacement", adjacency="replace_one")
    assert best_proof([fixed], DELTA).epsilon > best_proof([sample], DELTA).epsilon


def test_no_proof_without_a_theorem() -> None:
    with pytest.raises(NotCovered):
        best_proof([Event(Laplace(1.0), sampling="poisson", sampling_rate=0.5)], DELTA)
    with pytest.raises(InputError, match="delta"):
        best_proof([Event(Laplace(1.0))], 2.0)
    with pytest.raises(InputError, match="grid"):
        best_proof([Event(Laplace(np.ones(3)))], DELTA)


def test_a_proof_replays() -> None:
    for ledger in (LEDGER, Ledger((GAUSSIAN,)), Ledger()):
        proof = best_proof(ledger.events, DELTA)
        assert replay(ledger, proof).epsilon == pytest.approx(proof.epsilon, rel=1e-9)


def test_a_rounded_l2_sensitivity_never_exceeds_the_l1_sensitivity() -> None:
    """Nor does an entry that states no rate, or no surplus, cost less than one that does."""
    hair = float(np.nextafter(LAPLACE.sensitivity, np.inf))
    above, absent = replace(LAPLACE, l2_sensitivity=hair), replace(LAPLACE, l2_sensitivity=None)
    for entry in (above, absent):
        assert entry.event.mechanism == Laplace(LAPLACE.noise_scale / LAPLACE.sensitivity, 1.0)
    words = ("sum", "gaussian", 2.0, 1.0, "replace_one", None)
    assert SampledEntry(*words).sampling_rate == 1.0
    assert BoxedEntry(*words).event.mechanism.epsilon == 0.5


def test_an_unproved_entry_breaks_the_replay_though_its_number_is_right() -> None:
    ledger = Ledger((replace(GAUSSIAN, proof=None),))
    with pytest.raises(ReplayError, match="without a proof"):
        replay(ledger, best_proof(ledger.events, DELTA))


def test_mixed_adjacencies_break_the_replay_though_the_number_is_right() -> None:
    mixed = Ledger((GAUSSIAN, replace(LAPLACE, adjacency="add_remove")))
    with pytest.raises(ReplayError, match="adjacencies"):
        replay(mixed, best_proof(LEDGER.events, DELTA))


def test_altering_the_proof_breaks_the_replay() -> None:
    proof = best_proof(LEDGER.events, DELTA)
    for change in (
        {"epsilon": proof.epsilon * (1 + 3e-9)},
        {"epsilon": proof.epsilon * (1 - 3e-9)},
        {"epsilon": float("nan")},
        {"epsilon": float("inf")},
        {"delta": 1e-6},
        {"accountant": "exact"},
        {"accountant": "nosuch"},
        {"kind": "exact"},
        {"kind": "x"},
    ):
        with pytest.raises(ReplayError):
            replay(LEDGER, replace(proof, **change))


def test_a_grid_of_runs_replays_run_by_run() -> None:
    ledger = Ledger((replace(GAUSSIAN, noise_scale=np.array([3.0, 6.0])),))
    proof = best_proof(ledger.at(1).events, DELTA)
    assert replay(ledger.at(1), proof)
    with pytest.raises(ReplayError):
        replay(ledger.at(0), proof)
    with pytest.raises(ReplayError, match="grid"):
        replay(ledger, proof)


def test_guessing_nothing_is_a_coin_and_guessing_unprotected_is_certain() -> None:
    assert guess_rate([]) == 0.5
    assert guess_rate([Event(Laplace(1.0), count=0)]) == 0.5
    assert guess_rate([Event(Gaussian(0.0))]) == 1.0
    assert guess_rate([Event(Laplace(0.0))]) == 1.0


def test_guessing_a_gaussian_is_half_its_mu() -> None:
    """Phi(1/2) = 0.69146, from any table of the normal law."""
    assert guess_rate([Event(Gaussian(5.0), count=25)]) == pytest.approx(0.69146, abs=5e-6)


def test_guessing_one_laplace_release_is_exact() -> None:
    for shift in (0.1, 1.0, 5.0):
        truth = 1.0 - 0.5 * np.exp(-0.5 * shift)
        assert guess_rate([Event(Laplace(1.0 / shift))]) <= truth * (1 + 1e-12)
        assert guess_rate([Event(Laplace(1.0 / shift))]) >= truth * (1 - 1e-12)


def test_guessing_a_black_box_is_randomised_response() -> None:
    truth = (np.exp(1.0) + 0.01) / (1.0 + np.exp(1.0))
    assert guess_rate([Event(EpsilonDelta(1.0, 0.01))]) == pytest.approx(truth, rel=1e-12)


@pytest.mark.parametrize("steps", [1, 3, None])
@pytest.mark.parametrize("shift", [0.2, 1.0])
def test_discrete_noise_is_no_free_release(shift: float, steps: int | None) -> None:
    """At least the true chance of two discrete laws that far apart, and not much above."""
    noise = DiscreteGaussian(1.0 / shift, steps)
    scale = (steps or 50) / shift
    whole = np.arange(-int(20 * scale), int(20 * scale) + 1)
    law = [np.exp(-0.5 * ((whole - at) / scale) ** 2) for at in (0, steps or 50)]
    truth = 0.5 + 0.25 * np.abs(law[0] / law[0].sum() - law[1] / law[1].sum()).sum()
    assert truth <= guess_rate([Event(noise)]) <= truth + 0.08
    with_laplace = guess_rate([Event(noise), Event(Laplace(5.0))])
    assert with_laplace >= max(truth, guess_rate([Event(Laplace(5.0))]))


def test_no_worst_pair_is_claimed_for_a_vector_of_discrete_noise() -> None:
    events = [Event(DiscreteGaussian(5.0, None), count=3)]
    with pytest.raises(NotCovered, match="zcdp_tight"):
        compose(events, "pld", delta=1e-5)
    with pytest.raises(NotCovered, match="zcdp_tight"):
        compose(events, "exact", delta=1e-5)
    gaussian = [Event(Gaussian(5.0), count=3)]
    for method in ("zcdp", "zcdp_tight", "rdp"):
        assert compose(events, method, delta=1e-5).epsilon == pytest.approx(
            compose(gaussian, method, delta=1e-5).epsilon, rel=1e-9
        )


@pytest.mark.parametrize("count", [2, 10, 60])
def test_guessing_is_never_better_than_stated(count: int) -> None:
    """Twenty thousand games against the likelihood-ratio attacker, five standard errors."""
    rng = np.random.default_rng(count)
    shift, mu = 0.3, 0.2
    present = rng.random(20_000) < 0.5
    noisy = rng.laplace(size=(20_000, count)) + shift * present[:, None]
    ratio = np.sum(np.abs(noisy) - np.abs(noisy - shift), axis=1)
    ratio += mu * (rng.normal(size=20_000) + mu * present) - 0.5 * mu * mu
    won = float(np.mean((ratio > 0.0) == present))
    stated = guess_rate([Event(Laplace(1.0 / shift), count=count), Event(Gaussian(1.0 / mu))])
    assert won - 5.0 * 0.5 / np.sqrt(20_000) <= stated <= 1.0
    assert stated < 0.5 * (1.0 + won) + 0.1


def test_guessing_a_grid_is_guessing_each_run() -> None:
    scale = np.array([0.5, 2.0, 40.0])
    grid = guess_rate([Event(Laplace(scale), count=4), Event(Gaussian(scale))])
    alone = [guess_rate([Event(Laplace(s), count=4), Event(Gaussian(s))]) for s in scale]
    np.testing.assert_allclose(grid, alone, rtol=1e-12)


def test_guessing_with_shares_beyond_the_grid_of_deltas() -> None:
    events = [Event(Laplace(2.0)), Event(Gaussian(2.0), delta_each=1e-3)]
    assert 0.5 < guess_rate(events) < 1.0


def test_guessing_one_sampled_release_is_a_share_of_guessing_the_release() -> None:
    """TV = rate TV: Phi(mu/2) becomes 1/2 + rate (Phi(mu/2) - 1/2)."""
    sample = Event(Gaussian(1.0), sampling="poisson", sampling_rate=0.5, adjacency="add_remove")
    plain = guess_rate([replace(sample, sampling="none", sampling_rate=1.0)])
    assert guess_rate([sample]) == pytest.approx(0.5 + 0.5 * (plain - 0.5), rel=1e-4)
    with pytest.raises(NotCovered):
        guess_rate([replace(sample, adjacency="label")])
