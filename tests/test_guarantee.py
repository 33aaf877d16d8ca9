"""The guarantee of a fit: recomputed from its ledger alone, and broken by any change to it."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import wording
from support import every

import dpcore as dp
from dpcore.accounting import ACCOUNTANTS
from dpcore.errors import ReplayError
from dpcore.fitting.api import fit_grid
from dpcore.fitting.result import Fit
from dpcore.privacy import Ledger
from dpcore.privacy.guarantee import show, show_bound, show_most
from dpcore.schema import Schema
from dpcore.wall.table import PrivateTable

DELTA = 1e-5
SCHEMA = Schema.from_bounds({"a": (-1, 1), "b": (-1, 1)})


def table(schema: Schema = SCHEMA, count: int = 200) -> PrivateTable:
    rows = np.random.default_rng(0).uniform(-1, 1, (count, 2))
    return PrivateTable.seal(pd.DataFrame(rows, columns=list(schema.features)), schema)


def budget(**changes: Any) -> dp.Privacy:
    asked: dict[str, Any] = {"epsilon": 1.0, "delta": DELTA}
    return dp.Privacy(**(asked | changes))


def private_fit(privacy: dp.Privacy | None = None, **options: Any) -> Fit:
    asked: dict[str, Any] = {"n_components": 2, "iterations": 4}
    source = options.pop("table") if "table" in options else table()
    return dp.fit("gmm", source, privacy=privacy or budget(), **(asked | options))


@every("accountant", ACCOUNTANTS)
@every("adjacency", ["replace_one", "add_remove"])
@every("epsilon", [0.5, 8.0])
@every("components", [1, 2])
def test_a_proved_fit_replays_to_at_most_its_budget(
    accountant: str, adjacency: str, epsilon: float, components: int
) -> None:
    privacy = budget(epsilon=epsilon, accountant=accountant, adjacency=adjacency)
    fit = private_fit(privacy, n_components=components)
    proof = fit.guarantee.proof
    replayed = dp.replay(fit.ledger, proof)
    assert float(replayed.epsilon) <= epsilon
    assert fit.guarantee.epsilon == proof.epsilon <= epsilon
    assert proof.epsilon >= epsilon * (1 - 1e-6)  # and the budget is used
    assert (proof.accountant, proof.delta) == (accountant, DELTA)
    assert fit.guarantee.adjacency == adjacency
    assert len(repr(fit)) < 2000  # on one screen: no history, no ledger
    assert all(entry.adjacency == adjacency for entry in fit.ledger)


def test_every_release_of_a_fit_is_in_its_ledger() -> None:
    fit = private_fit(iterations=7)
    assert [entry.what.split(":")[0] for entry in fit.ledger] == [
        *wording.LOCATED[:2],
        wording.LOCATED[0],  # of two columns nothing more is asked, see the recipe
        wording.SIMPLEST,
        *(f"iteration {i}" for i in range(1, 8)),
    ]
    assert len(private_fit(n_components=1).ledger) == 4
    assert len(private_fit(n_components=1, covariance="diag").ledger) == 1


ENTRY = {
    "more noise than drawn": {"noise_scale": lambda e: e.noise_scale * (1 + 1e-6)},
    "less noise": {"noise_scale": lambda e: e.noise_scale * (1 - 1e-6)},
    "no noise": {"noise_scale": lambda e: 0.0, "noise": lambda e: "none"},
    "undefined noise": {"noise_scale": lambda e: math.nan},
    "another law": {"noise": lambda e: "laplace"},
    "the distribution is unknown or restricted": {"noise": lambda e: "uniform"},
    "a smaller sensitivity": {"sensitivity": lambda e: e.sensitivity * (1 - 1e-6)},
    "a larger sensitivity": {"sensitivity": lambda e: e.sensitivity * (1 + 1e-6)},
    "released twice": {"count": lambda e: 2},
    "never released": {"count": lambda e: 0},
    "another adjacency": {"adjacency": lambda e: "add_remove"},
    "no lemma": {"proof": lambda e: None},
}


@every(
    "accountant, change",
    [
        (accountant, change)
        for accountant in ("exact", "zcdp", "linear")
        for change in ENTRY
        if (accountant, change) != ("zcdp", "another law")  # zCDP: 1/(2 z^2) for both laws
    ],
)
@every("at", [0, 2, 4])
def test_altering_one_event_breaks_the_replay(change: str, at: int, accountant: str) -> None:
    fit = private_fit(budget(accountant=accountant))
    assert fit.guarantee.proof is not None
    by_numbers = replace(fit.guarantee.proof, ledger=None)
    dp.replay(fit.ledger, by_numbers)
    entries = list(fit.ledger)
    altered = {field: to(entries[at]) for field, to in ENTRY[change].items()}
    entries[at] = replace(entries[at], **altered)
    with pytest.raises(ReplayError):
        dp.replay(Ledger(tuple(entries)), by_numbers)


@pytest.mark.parametrize("change", [*ENTRY, "another name"])
def test_a_proof_knows_its_ledger(change: str) -> None:
    """Also where the numbers happen to agree: another law under zCDP, another adjacency for all."""
    fit = private_fit(budget(accountant="zcdp"))
    dp.replay(fit.ledger, fit.guarantee.proof)
    changes = ENTRY.get(change, {"what": lambda e: e.what + "?"})
    entries = [
        replace(entry, **{field: to(entry) for field, to in changes.items()})
        for entry in fit.ledger
    ]
    with pytest.raises(ReplayError, match="not the one"):
        dp.replay(Ledger(tuple(entries)), fit.guarantee.proof)


def test_leaving_out_or_adding_an_event_breaks_the_replay() -> None:
    fit = private_fit()
    entries = fit.ledger.entries
    assert fit.guarantee.proof is not None
    for altered in (entries[1:], entries[:-1], (*entries, entries[-1]), ()):
        with pytest.raises(ReplayError):
            dp.replay(Ledger(tuple(altered)), fit.guarantee.proof)


def test_a_seed_makes_a_rehearsal_and_says_so() -> None:
    assert private_fit(seed=3).guarantee.rehearsal
    assert "Rehearsal" in private_fit(seed=3).guarantee.sentence()
    assert not private_fit().guarantee.rehearsal
    assert "Rehearsal" not in private_fit().guarantee.sentence()


def test_budgets_that_share_their_noise_are_a_rehearsal() -> None:
    """Two sums with the same noise, scaled differently, give the exact sum by subtraction."""
    budgets = (budget(), budget(epsilon=2.0))
    grid = fit_grid("gmm", table(), privacy=budgets, n_components=2, iterations=2)
    assert all(grid.guarantee(i).rehearsal for i in range(2))
    alone = fit_grid("gmm", table(), privacy=budgets[:1], n_components=2, iterations=2)
    assert not alone.guarantee().rehearsal


def test_a_fit_without_privacy_promises_nothing() -> None:
    guarantee = private_fit_without_noise().guarantee
    assert (guarantee.epsilon, guarantee.proof, guarantee.claim) == (None, None, None)
    assert guarantee.rehearsal
    assert "No noise was added" in guarantee.sentence()


def private_fit_without_noise() -> Fit:
    return dp.fit("gmm", table(), privacy=None, n_components=2, iterations=2)


def test_noise_without_a_delta_proves_nothing() -> None:
    fit = private_fit(dp.Privacy(noise_multiplier=5.0))
    assert fit.guarantee.epsilon is None
    priced = private_fit(dp.Privacy(noise_multiplier=5.0, delta=DELTA))
    assert priced.guarantee.epsilon is not None
    repeated = priced.ledger.entries[-1].event.mechanism
    assert repeated.noise_multiplier == pytest.approx(5.0)  # type: ignore[union-attr]


@pytest.mark.parametrize("adjacency", ["replace_one", "add_remove"])
def test_assumptions_are_listed(adjacency: str) -> None:
    lines = private_fit(budget(adjacency=adjacency)).guarantee.assumptions
    text = "; ".join(lines)
    assert "without looking at the data, or from earlier releases that were paid for" in text
    assert "floating point" in text
    assert "each person has one row" in text
    assert ("number of rows is public" in text) == (adjacency == "replace_one")


def test_a_delta_above_one_in_n_is_said() -> None:
    def notes(**changes: Any) -> str:
        return "; ".join(private_fit(budget(**changes)).guarantee.notes)

    assert "above 1/n" in notes(delta=0.0051)  # 200 rows
    assert "above 1/n" not in notes(delta=0.0049)
    assert "1/n" not in notes(delta=0.5, adjacency="add_remove")  # n is private


@pytest.mark.parametrize("adjacency", ["replace_one", "add_remove"])
def test_more_rows_of_one_person_are_charged(adjacency: str) -> None:
    one, three = (
        private_fit(budget(adjacency=adjacency, rows_per_person=m), seed=0) for m in (1, 3)
    )
    for mine, theirs in zip(one.ledger, three.ledger, strict=True):
        assert theirs.sensitivity == pytest.approx(3 * mine.sensitivity)
        assert theirs.noise_scale == pytest.approx(3 * mine.noise_scale)
    assert three.guarantee.rows_per_person == 3
    assert any("at most 3 rows" in line for line in three.guarantee.assumptions)
    assert "3 rows" in three.guarantee.sentence()


def test_the_schemas_rows_per_person_are_charged_unasked() -> None:
    """Who declares three rows a person may not be promised the price of one."""
    several = replace(SCHEMA, rows_per_person=3)
    for asked, charged in ((1, 3), (5, 5)):
        guarantee_of = private_fit(budget(rows_per_person=asked), table=table(several), seed=0)
        assert guarantee_of.guarantee.rows_per_person == charged
        single = private_fit(seed=0)
        ratio = guarantee_of.ledger.entries[0].noise_scale / single.ledger.entries[0].noise_scale
        assert ratio == pytest.approx(charged)


def test_guarantees_and_ledgers_are_json() -> None:
    fit = private_fit(seed=1)
    record = json.loads(json.dumps(fit.guarantee.as_dict()))
    for key in ("epsilon", "delta", "adjacency", "unit", "claim", "proof", "assumptions"):
        assert key in record
    assert record["protects"] == "replacing one person's row"
    lines = json.loads(json.dumps(fit.ledger.as_list()))
    assert all(line["noise_multiplier"] > 0 for line in lines)
    assert [line["noise_scale"] for line in lines] == [e.noise_scale for e in fit.ledger]


def test_a_fingerprint_tells_ledgers_apart() -> None:
    ledger = private_fit(seed=1).ledger
    assert ledger.fingerprint() == private_fit(seed=2).ledger.fingerprint()
    entries = list(ledger)
    entries[1] = replace(entries[1], noise_scale=entries[1].noise_scale * (1 + 1e-12))
    assert Ledger(tuple(entries)).fingerprint() != ledger.fingerprint()


def test_the_unit_of_protection_is_the_schemas() -> None:
    fit = private_fit(table=table(replace(SCHEMA, unit="household")))
    assert "household" in fit.guarantee.sentence()
    assert show(1.0) in fit.guarantee.sentence()


@pytest.mark.parametrize("model", ["gmm", "kmeans", "fa"])
def test_a_part_of_a_split_is_no_release_where_rows_come_and_go(model: str) -> None:
    """Which rows are in it depends on how many there are; a replaced row moves no other."""
    part, rest = table().split(0.25, seed=0)
    words: dict[str, Any] = {"n_components": 1, "iterations": 2}
    come_and_go = budget(adjacency="add_remove")
    for rows in (part, rest, part.with_schema(SCHEMA)):
        with pytest.raises(dp.InputError, match="with every row added or removed"):
            dp.fit(model, rows, privacy=come_and_go, **words)
        assert dp.fit(model, rows, privacy=come_and_go, seed=0, **words).guarantee.rehearsal
        assert not dp.fit(model, rows, privacy=budget(), **words).guarantee.rehearsal


def test_the_mode_is_said_in_the_request_alone() -> None:
    """Else one mode could run under the claim of the other."""
    with pytest.raises(dp.InputError, match="mode"):
        private_fit(budget(mode="paper", accountant="zcdp"), mode="proved")
    assert (
        dp.fit("gmm", table(), privacy=None, n_components=2, mode="paper").guarantee.claim is None
    )


@pytest.mark.parametrize("number", [1.2345678e7, 1.2399999e7, 9999999.5, 3.14159e20, 2.501e141])
def test_a_large_bound_is_not_shown_below_itself_nor_what_is_left_above(number: float) -> None:
    assert float(show_bound(number).replace(",", "")) >= number
    assert float(show_most(number).replace(",", "")) <= number
