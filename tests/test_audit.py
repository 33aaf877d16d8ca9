"""Audits: an attack catches a fit that hides half its noise, and leaves an honest one in peace."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support import split_lanes

import dpcore as dp
from dpcore.auditing import attack, mechanisms, neighbours
from dpcore.auditing.api import AUDITS, audit, audits, budget, modes
from dpcore.auditing.estimate import gaussian_lower_bound
from dpcore.auditing.fits import FitAttack, Pair
from dpcore.auditing.observe import Replay, ShortNoise, log_likelihood_ratios, observe
from dpcore.cli import main
from dpcore.fitting.api import fit_grid
from dpcore.mechanisms.discrete_gaussian import SCALE
from dpcore.models.logistic_regression.attack import LOGISTIC
from dpcore.models.mean.attack import MEAN
from dpcore.registry import MODELS, load
from dpcore.schema import Ball, Column

BARE = ("gaussian", "laplace", "discrete-gaussian")
# Ways of models that have an audit.
OTHER_WAYS = (
    "mean-local",
    "mean-one-bit",
    "logistic-objective",
    "symmetric-mixture-local",
    "mixture-regression-direction",
)
QUICK = (
    "gmm",
    "mean",
    "symmetric-mixture",
    "mixture-regression",
    "missing-regression",
    "logistic",
    "bernoulli",
    "poisson",
    "mean-local",
    "symmetric-mixture-local",
)
SLOW = ("fa", "gmm-release", "covariance", "ppca")
EVERY = [(name, mode) for name in AUDITS for mode in modes(name)]
REFUTED = {("gmm-release", "paper"), ("kmeans", "paper")}


def test_every_registered_model_is_audited() -> None:
    assert {*MODELS, *BARE, *OTHER_WAYS} == set(AUDITS)
    assert set(audits()) == set(AUDITS)


@pytest.mark.parametrize(
    "name",
    [
        *QUICK,
        *(pytest.param(name, marks=pytest.mark.merge) for name in SLOW),
        *(pytest.param(name, marks=pytest.mark.full) for name in OTHER_WAYS[1:3]),
    ],
)
def test_half_the_noise_of_a_proved_fit_is_caught_and_all_of_it_is_not(name: str) -> None:
    found = audit(name, runs=None if name in OTHER_WAYS else 1000)
    assert not found.contradicts_proof
    assert found.caught_half
    assert found.lower > 0.4 * found.proof.epsilon
    assert found.lower_any <= found.lower * 1.05


@pytest.mark.parametrize("name", BARE)
def test_bare_mechanisms_are_audited_closely(name: str) -> None:
    found = audit(name)
    assert found.runs == 200_000
    assert found.lower > 0.6 * found.proof.epsilon  # on a grid, the proof is of vectors: not tight
    assert not found.contradicts_proof
    assert found.caught_half


@pytest.mark.parametrize("name", sorted({name for name, _ in REFUTED}))
def test_a_claim_that_fails_is_contradicted(name: str) -> None:
    found = audit(name, mode="paper", runs=1000, half=False)
    assert found.contradicts_claim
    assert found.proof is None
    assert found.caught_half is None


@pytest.mark.full
@pytest.mark.parametrize(("name", "mode"), EVERY)
def test_every_audit_stands_with_its_proof_and_catches_half_the_noise(name: str, mode: str) -> None:
    found = audit(name, mode=mode, confidence=0.99)
    assert not found.contradicts_proof
    assert found.contradicts_claim == ((name, mode) in REFUTED)
    assert found.caught_half


@pytest.mark.full
@pytest.mark.parametrize("name", MODELS)
def test_proofs_stand_where_a_row_is_added(name: str) -> None:
    asked = replace(budget(name), adjacency="add_remove")
    runs = {"lda": 300, "sbn": 400}.get(name)
    found = audit(name, asked, confidence=0.99, runs=runs)
    assert not found.contradicts_proof
    assert found.caught_half


WAYS: tuple[tuple[str, dict[str, Any], dict[str, Any]], ...] = (
    *(
        (name, {}, {"algorithm": algorithm})
        for name in ("symmetric-mixture", "mixture-regression", "missing-regression")
        for algorithm in ("clipped", "robust")
    ),
    ("kmeans", {"accountant": "pld"}, {"algorithm": "dplloyd", "iterations": 1, "runs": 4000}),
    ("logistic", {}, {"algorithm": "vb"}),
    ("logistic", {}, {"algorithm": "vips", "rate": 1.0}),
    ("logistic", {}, {"algorithm": "dpvi", "rate": 1.0, "iterations": 1}),
    *(("gmm-release", {}, {"method": method}) for method in ("gaussian", "colored", "pooled")),
    ("gmm-release", {}, {"method": "public_features"}),
    ("gmm-release", {}, {"method": "mte", "runs": 500}),
    ("gmm-release", {"accountant": "pld", "epsilon": 2.0}, {"method": "laplace", "runs": 20_000}),
    ("gmm-release", {"adjacency": "replace_one"}, {}),
    ("gmm-release", {"adjacency": "feature"}, {}),
)


@pytest.mark.full
@pytest.mark.parametrize(("name", "asked", "words"), WAYS)
def test_every_other_proved_way_stands_and_is_caught_with_half_its_noise(
    name: str, asked: dict[str, Any], words: dict[str, Any]
) -> None:
    options = {"runs": 2000, **words}
    found = audit(name, replace(budget(name), **asked), confidence=0.99, **options)
    assert found.proof is not None
    assert not found.contradicts_proof
    assert found.caught_half


@pytest.mark.full
def test_the_belief_networks_half_noise_is_caught() -> None:
    """The pictures share few pixels, so their squares differ wherever the ball lies."""
    found = audit("sbn", runs=250)
    assert not found.contradicts_proof
    assert found.caught_half


def test_an_attack_on_what_a_split_left_shows_more_than_its_noise_is_worth() -> None:
    """One row more, and other rows are held out: so no epsilon is stated there."""
    rows = np.tile([[1.0, 0.0], [0.0, 1.0]], (1000, 1))
    schema = dp.Schema((Column("x"), Column("y")), ball=Ball((0.0, 0.0), 1.0))

    def halves(adjacency: str) -> Pair:
        whole = neighbours.neighbours(rows, rows, adjacency, schema, "one row or none")
        one, other = (table.split(0.5, seed=0)[0] for table in (whole.first, whole.second))
        return Pair(one, other, whole.scene)

    asked = dp.Privacy(epsilon=1.0, delta=1e-5, adjacency="add_remove")
    subject = FitAttack("gmm", "halves", halves, {}, {"n_components": 1, "iterations": 1})
    clouds = subject.clouds(asked, 400, 0, 1.0)
    assert clouds.proof is None
    assert gaussian_lower_bound(clouds.first, clouds.second, 1e-5, 0.95) > 1.0
    fit = fit_grid("gmm", halves("add_remove").first, privacy=(asked,), n_components=1, seed=0)
    assert fit.guarantee().epsilon is None
    assert "held out" in fit.guarantee().notes[0]
    replaced = replace(asked, adjacency="replace_one")
    fit = fit_grid("gmm", halves("replace_one").first, privacy=(replaced,), n_components=1, seed=0)
    assert fit.guarantee().epsilon == pytest.approx(1.0, abs=1e-6)


@pytest.mark.full
@pytest.mark.parametrize("epsilon", [1.0, 8.0])
@pytest.mark.parametrize("structure", ["full", "diag", "spherical"])
@pytest.mark.parametrize("components", [1, 2])
def test_full_audit_of_the_proved_mixture(structure: str, epsilon: float, components: int) -> None:
    """Ten audits: the honest fit may be accused as often as the confidence allows."""
    privacy = dp.Privacy(epsilon=epsilon, delta=1e-5)
    accused = sum(
        audit(
            "gmm",
            privacy,
            runs=3000,
            seed=seed,
            confidence=0.99,
            half=False,
            covariance=structure,
            n_components=components,
        ).contradicts_proof
        for seed in range(10)
    )
    assert accused <= 1


# ------------------------------------------------------------------ too few runs


@pytest.mark.merge
def test_runs_too_few_to_catch_half_the_noise_are_inconclusive(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Half the noise passes 500 runs unseen; so did what the whole noise may hide."""
    request = ["audit", "gmm", "--mode", "paper", "--runs", "500"]
    assert main([*request, "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["caught_half"] is False
    assert record["inconclusive"] is True
    assert main(request) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "nothing" not in text
    assert "Inconclusive: 500 runs on each table" in text
    assert f"--runs {record['runs_needed']}" in text
    enough = audit("gmm", mode="paper", runs=2 * record["runs_needed"])
    assert enough.caught_half
    assert not enough.inconclusive
    assert enough.runs_needed is None


@split_lanes("name", ["gmm", "gaussian", "laplace", "kmeans"], merge=1)
def test_the_largest_bound_is_that_of_no_privacy_at_all(name: str) -> None:
    """No two clouds of so many runs show more, and more runs can."""
    asked = budget(name)
    few, more = (audit(name, asked, runs=runs, half=False) for runs in (40, 400))
    assert few.lower < few.largest_detectable < more.largest_detectable < np.inf
    louder = replace(asked, epsilon=100.0)
    apart = audit(name, louder, runs=40, half=False)
    assert few.lower < apart.lower <= few.largest_detectable * (1.0 + 1e-9)
    assert apart.inconclusive
    assert apart.runs_needed is None  # no number of runs shows an epsilon of 100


def test_a_bound_above_what_so_few_runs_can_show_is_not_tested_by_them() -> None:
    """Counting needs about e^epsilon runs."""
    asked = dp.Privacy(epsilon=6.0, delta=1e-9, accountant="pld")
    few = audit("laplace", asked, runs=500, half=False)
    assert few.largest_detectable < 6.0
    assert few.inconclusive
    assert few.runs_needed is not None
    enough = audit("laplace", asked, runs=few.runs_needed, half=False)
    assert enough.largest_detectable > 6.0
    assert not enough.inconclusive


# ------------------------------------------------------------------ how it is observed


@pytest.mark.parametrize("name", ["gmm", "mean", "logistic", "gmm-release"])
def test_what_is_observed_is_what_everybody_gets(name: str) -> None:
    """The same seed gives the same parameters as the public call, release by release."""
    subject = load(AUDITS[name])
    request = budget(name)
    words = {**subject.options, **subject.of_mode.get("proved", {})}
    table = subject.tables(request.adjacency).second
    seen = observe(name, table, request, ShortNoise(3, range(4), 1.0), 4, **words)
    grid = fit_grid(name, table, privacy=(request,), draws=range(4), seed=3, **words)
    for field, value in vars(grid.runs.final).items():
        np.testing.assert_array_equal(getattr(seen.runs.final, field), value)
    assert seen.ledger == grid.ledger.at(0)


def test_a_share_of_the_noise_is_drawn_and_all_of_it_is_stated() -> None:
    request = budget("mean")
    words = dict(MEAN.options)
    table = MEAN.tables("replace_one").first
    whole, half = (
        observe("mean", table, request, ShortNoise(3, range(50), share), 50, **words)
        for share in (1.0, 0.5)
    )
    assert whole.ledger == half.ledger
    (one,), (other,) = whole.releases, half.releases
    np.testing.assert_array_equal(one.exact, other.exact)
    np.testing.assert_array_equal(one.scale, other.scale)
    np.testing.assert_allclose(other.noisy - other.exact, 0.5 * (one.noisy - one.exact), rtol=1e-9)
    assert np.std((one.noisy - one.exact) / one.scale) == pytest.approx(1.0, abs=0.2)


def test_who_cannot_decide_is_right_half_of_the_time() -> None:
    nothing, sure = np.zeros(10), np.ones(10)
    assert attack._right(nothing, nothing) == 0.5
    assert attack._right(-sure, nothing) == attack._right(nothing, sure) == 0.75
    assert (attack._right(-sure, sure), attack._right(sure, -sure)) == (1.0, 0.0)


def test_the_likelihood_ratio_of_one_release_is_the_textbooks() -> None:
    request, words = budget("mean"), dict(MEAN.options)
    pair = MEAN.tables("replace_one")
    seen = observe("mean", pair.first, request, ShortNoise(3, range(20), 1.0), 20, **words)
    still = observe("mean", pair.second, request, Replay(20, first=True), 20, **words)
    found = log_likelihood_ratios("mean", (pair.first, pair.second), request, seen, 0, **words)
    (release,), (other,) = seen.releases, still.releases
    here = ((release.noisy - release.exact) / release.scale) ** 2
    there = ((release.noisy - other.exact) / release.scale) ** 2
    np.testing.assert_allclose(found, 0.5 * (here - there).sum(axis=1))
    mu = np.linalg.norm((release.exact - other.exact)[0] / release.scale[0])
    assert mu * float(seen.ledger.events[0].mechanism.noise_multiplier) == pytest.approx(
        1.0, rel=0.03
    )


@pytest.mark.full
def test_sampled_rows_are_weighed_with_their_chance() -> None:
    """On average over the first table, the ratio of two densities is 1."""
    subject, request = LOGISTIC, budget("logistic", "paper")
    words = {"minibatch": 50, "iterations": 2}
    pair = subject.tables("replace_one")
    seen = observe("logistic", pair.first, request, ShortNoise(1, range(3000), 1.0), 3000, **words)
    assert seen.rate(seen.releases[0]) == pytest.approx(50 / 101)
    ratio = np.exp(
        log_likelihood_ratios("logistic", (pair.first, pair.second), request, seen, 0, **words)
    )
    assert ratio.mean() == pytest.approx(1.0, abs=4.0 * ratio.std() / np.sqrt(len(ratio)))
    assert ratio.std() > 0.1


@pytest.mark.parametrize("name", [n for n in MODELS if n not in ("lda", "gmm-release")])
def test_the_two_tables_are_neighbours(name: str) -> None:
    subject = load(AUDITS[name])
    pair = subject.tables("replace_one")
    one, other = (table._frame.to_numpy() for table in (pair.first, pair.second))
    changed = np.any(one != other, axis=1)
    assert changed[0]
    assert int(changed.sum()) == 1
    pair = subject.tables("add_remove")
    absent, there = (table._frame.to_numpy() for table in (pair.first, pair.second))
    np.testing.assert_array_equal(there[1:], absent)


def test_the_grid_of_the_discrete_mechanism_is_the_doors() -> None:
    assert mechanisms.STEPS == SCALE


# ------------------------------------------------------------------ the public call


def test_evidence_says_what_it_is() -> None:
    asked = dp.Privacy(epsilon=4.0, delta=1e-5)
    found = dp.audit("gmm", asked, runs=200)
    assert (found.delta, found.confidence, found.runs) == (1e-5, 0.95, 400)
    assert "one person" in found.attack
    assert found == dp.audit("gmm", asked, runs=200)
    assert dp.audit("gmm", asked, runs=200, half=False).half_lower is None


def test_an_attack_needs_a_delta_a_model_it_knows_and_enough_runs() -> None:
    with pytest.raises(dp.InputError, match="delta"):
        audit("gmm", dp.Privacy(noise_multiplier=1.0))
    with pytest.raises(dp.InputError, match="model"):
        dp.audit("nosuch", dp.Privacy(epsilon=1.0, delta=1e-5))
    with pytest.raises(dp.InputError, match="runs"):
        audit("gmm", runs=3)
    with pytest.raises(dp.InputError, match="mode"):
        audit("laplace", mode="paper")
    with pytest.raises(dp.InputError, match="options"):
        audit("laplace", iterations=3)


def test_the_table_names_the_adjacency_and_its_proof_never_falls_below(
    capsys: pytest.CaptureFixture[str],
) -> None:
    request = ["audit", "gaussian", "--runs", "200", "--mode", "paper"]
    assert main([*request, "--json"]) == 0
    exact = json.loads(capsys.readouterr().out)
    assert main(request) == 0
    titles, row = (line.split() for line in capsys.readouterr().out.splitlines()[:2])
    told = dict(zip(titles, row, strict=False))
    assert told["adjacency"] == "replace_one"
    assert float(told["proof"]) > exact["proof"], "rounded to nearest it would be below"


def test_the_command_keeps_the_machine_contract(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "gaussian", "--runs", "2000", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    wanted = {"claim", "proof", "lower", "confidence", "contradicts_claim", "contradicts_proof"}
    assert wanted <= set(found)
    assert found["proof"] == pytest.approx(2.0, rel=1e-6)
    assert main(["audit", "gmm", "--runs", "200", "--epsilon", "2", "--mode", "proved"]) == 0
    assert "never prove one" in " ".join(capsys.readouterr().out.split())


def test_the_command_lists_and_refuses(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit"]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in AUDITS)
    assert main(["audit", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["audits"] == [*AUDITS]
    assert main(["audit", "centred-scatter"]) == 0
    assert "does not cover" in capsys.readouterr().out
    assert main(["audit", "nosuch"]) == 2
    assert main(["audit", "gmm", "--all"]) == 2
    capsys.readouterr()
    some = ["audit", "--all", "--mode", "proved", "--adjacency", "label", "--runs", "20"]
    assert main(some) == 0
    table, left = capsys.readouterr().out.split("Left out, because these settings do not suit them")
    assert "gmm-release" in table
    assert left.startswith(": gmm proved, kmeans proved")
    assert "gmm-release" not in left
    assert main(["audit", "gmm", "--runs", "x"]) == 2
