"""Paper mode: the claim as DP-EM prints it, and beside it what the noise really proves."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import wording

import dpcore as dp
from dpcore.accounting.published import published_budget
from dpcore.fitting.api import fit_grid
from dpcore.fitting.result import Fit
from dpcore.privacy import Gaussian, Laplace
from dpcore.schema import Schema
from dpcore.wall.table import PrivateTable

DELTA = 1e-4
PAPER = dp.Privacy(epsilon=1.0, delta=DELTA, accountant="zcdp", mode="paper")


def table(rehearsal: bool = False, count: int = 300, dim: int = 2) -> PrivateTable:
    rows = np.random.default_rng(0).uniform(-0.6, 0.6, (count, dim))
    names = [f"x{i}" for i in range(dim)]
    schema = replace(Schema.ball_of(names, None, 1.0), rehearsal=rehearsal)
    return PrivateTable.seal(pd.DataFrame(rows, columns=names), schema)


def paper_fit(privacy: dp.Privacy = PAPER, combination: str = "GGG", dim: int = 2) -> Fit:
    asked = {"n_components": 3, "iterations": 10, "combination": combination, "seed": 0}
    return fit_grid("gmm", table(dim=dim), privacy=(privacy,), delta_each=1e-8, **asked).fit()


@pytest.mark.parametrize("method", ["linear", "advanced", "zcdp", "ma"])
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
def test_the_claim_is_the_papers_epsilon(method: str, epsilon: float) -> None:
    guarantee = paper_fit(replace(PAPER, accountant=method, epsilon=epsilon)).guarantee
    assert (guarantee.claim.epsilon, guarantee.claim.delta) == (epsilon, DELTA)
    assert "Park, Foulds, Chaudhuri, Welling 2017" in guarantee.claim.source
    assert guarantee.claim.reasons


# (asked, true): section 1.3's table, J = 10, K = 3, z of the zCDP route, replace one.
@pytest.mark.parametrize(
    ("asked", "true"), [(0.1, 0.0212), (0.5, 0.135), (1.0, 0.292), (2.0, 0.619), (4.0, 1.289)]
)
def test_the_papers_noise_proves_far_less_than_it_charges(asked: float, true: float) -> None:
    """mu = sqrt(1.5 J) / z: all counts, sums and squares of an iteration are one vector."""
    guarantee = paper_fit(replace(PAPER, epsilon=asked)).guarantee
    assert guarantee.epsilon == pytest.approx(true, rel=4e-3)
    assert (guarantee.proof.accountant, guarantee.proof.kind) == ("exact", "exact")
    assert guarantee.claim.holds


@pytest.mark.parametrize("dim", [1, 4])
def test_ggg_noise_is_two_z_in_the_unit_ball(dim: int) -> None:
    """Eqs. 13 to 18 on sums: standard deviation 2 z for counts, sums and squares alike."""
    fit = paper_fit(dim=dim)
    z = float(
        published_budget(
            1.0,
            DELTA,
            accountant="zcdp",
            combination="GGG",
            components=3,
            iterations=10,
            delta_each=1e-8,
        ).noise_multiplier
    )
    assert len(fit.ledger) == 10
    for entry in fit.ledger:
        assert entry.noise == "gaussian"
        assert entry.noise_scale == pytest.approx(2 * z)
        assert entry.sensitivity == pytest.approx(math.sqrt(6))


@pytest.mark.parametrize("dim", [1, 4])
def test_llg_noise_is_laplace_for_counts_and_sums(dim: int) -> None:
    """Laplace 2/eps on counts, 2 sqrt(d)/eps on sums, Gaussian 2 z on squares, each iteration."""
    fit = paper_fit(combination="LLG", dim=dim)
    budget = published_budget(
        1.0, DELTA, accountant="zcdp", combination="LLG", components=3, iterations=10,
        delta_each=1e-8,
    )  # fmt: skip
    each, z = float(budget.epsilon_each), float(budget.noise_multiplier)
    assert len(fit.ledger) == 30
    for at in range(0, 30, 3):
        counts, sums, squares = fit.ledger.entries[at : at + 3]
        assert (counts.noise, sums.noise, squares.noise) == ("laplace", "laplace", "gaussian")
        assert counts.noise_scale == pytest.approx(2 / each)
        assert sums.noise_scale == pytest.approx(2 * math.sqrt(dim) / each)
        assert squares.noise_scale == pytest.approx(2 * z)
        assert counts.sensitivity == pytest.approx(2)
        assert sums.sensitivity == pytest.approx(2 * math.sqrt(dim))
        assert squares.sensitivity == pytest.approx(math.sqrt(2))


@pytest.mark.parametrize("method", ["linear", "advanced", "zcdp", "ma"])
def test_llg_is_proved_by_the_tightest_method(method: str) -> None:
    fit = paper_fit(replace(PAPER, accountant=method), combination="LLG")
    proof = fit.guarantee.proof
    assert fit.guarantee.epsilon == proof.epsilon
    dp.replay(fit.ledger, proof)
    kinds = {type(entry.event.mechanism) for entry in fit.ledger}
    assert kinds == {Gaussian, Laplace}
    assert fit.guarantee.claim.holds == (proof.epsilon <= 1.0)


def test_ggg_has_more_noise_in_its_squares_than_llg() -> None:
    """The order of the paper's figure 2: LLG spends on Laplace what GGG leaves for squares."""
    squares = paper_fit(combination="LLG").ledger.entries[2]
    assert squares.noise_scale > paper_fit().ledger.entries[0].noise_scale


def test_exact_counting_in_paper_mode_spends_the_budget_on_as_many_releases() -> None:
    """The same 70 releases counted exactly: z = 26.65 at epsilon 1 (section 1.4)."""
    fit = paper_fit(replace(PAPER, accountant="exact"))
    assert fit.ledger.entries[0].noise_scale / 2 == pytest.approx(26.65, abs=0.005)


def test_bounds_read_from_the_data_prove_nothing() -> None:
    for mode in ("paper", "proved"):
        guarantee = dp.fit(
            "gmm", table(rehearsal=True), privacy=replace(PAPER, mode=mode)
        ).guarantee
        assert guarantee.epsilon is None
        assert guarantee.proof is None
        assert any("rehearsal" in note for note in guarantee.notes)
        assert wording.NOTHING_PROVED in guarantee.sentence()
    claim = dp.fit("gmm", table(rehearsal=True), privacy=PAPER).guarantee.claim
    assert not claim.holds
    assert any("nothing is proved" in reason for reason in claim.reasons)


def test_reasons_name_the_equations_that_are_not_covered() -> None:
    claim = paper_fit().guarantee.claim
    assert any("Eqs. 12 and 16" in reason for reason in claim.reasons)
    assert any("norm" in reason for reason in claim.reasons)


def test_exact_counting_of_laplace_noise_is_refused() -> None:
    with pytest.raises(dp.InputError, match="accountant"):
        dp.fit("gmm", table(), privacy=replace(PAPER, accountant="exact"), combination="LLG")


def test_without_an_epsilon_there_is_a_proof_and_no_claim() -> None:
    priced = dp.Privacy(noise_multiplier=36.86, delta=DELTA, mode="paper")
    guarantee = paper_fit(priced).guarantee
    assert guarantee.claim is None
    assert guarantee.epsilon == pytest.approx(0.292, rel=4e-3)


def test_rows_per_person_raise_the_noise_and_keep_the_price() -> None:
    one, three = (paper_fit(replace(PAPER, rows_per_person=m)) for m in (1, 3))
    ratio = three.ledger.entries[0].noise_scale / one.ledger.entries[0].noise_scale
    assert ratio == pytest.approx(3)
    assert three.guarantee.epsilon == pytest.approx(one.guarantee.epsilon)
