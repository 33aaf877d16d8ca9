"""Fits that are paid for in a budget ledger: before their noise, all of them, and no further."""

from __future__ import annotations

import pickle
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import wording
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import GridSearchCV
from support import every

import dpcore as dp
from dpcore.errors import BudgetExceeded, InputError
from dpcore.fitting.api import ALONE
from dpcore.releases import paid
from dpcore.releases.api import rewrite
from dpcore.releases.filter import Amount
from dpcore.releases.ledger import BudgetLedger
from dpcore.releases.paid import PaidError, paid_fit
from dpcore.schema import Column, Schema
from dpcore.sklearn import (
    DPGaussianMixture,
    DPKMeans,
    DPLatentDirichletAllocation,
    DPLogisticRegression,
)
from dpcore.wall.noise import NoiseSource

ROWS = np.random.default_rng(0).normal([0.0, 3.0], 0.5, (400, 2))
ONE = dp.Privacy(1.0, 1e-6)


def book(at: Path, epsilon: float = 3.0, **terms: Any) -> BudgetLedger:
    return BudgetLedger.create(at / "budget.sqlite", Amount(epsilon, 1e-5), **terms)


def table() -> Any:
    import pandas as pd

    bounds = Schema.from_bounds({"x": (-5.0, 5.0), "y": (-5.0, 5.0)})
    return dp.load(pd.DataFrame(ROWS, columns=["x", "y"]), schema=bounds)


def test_a_paid_fit_stands_in_its_ledger_with_all_that_left(tmp_path: Path) -> None:
    ledger = book(tmp_path)
    fit = paid_fit("gmm", table(), privacy=ONE, ledger=ledger.path, n_components=2, iterations=3)
    state = ledger.demand_intact()
    (line,) = state.releases
    assert (line.body["epsilon"], line.body["delta"]) == (1.0, 1e-6)
    assert state.open == ()
    with pytest.raises(InputError, match=r"2 paid for a fit in a program, which has no files"):
        rewrite(ledger.path, 2, tmp_path / "out")
    kept = ledger.output(line.number)["fit"]
    assert kept["parameters"]["means"] == fit.parameters.as_dict()["means"]
    assert kept["guarantee"]["epsilon"] == fit.guarantee.epsilon
    assert ALONE not in fit.guarantee.notes
    assert not fit.guarantee.rehearsal
    # What is charged is what the fit's own ledger costs, up to a part in a million.
    from dpcore.releases.filter import filter_of

    own = filter_of("gdp").cost(fit.ledger, Amount(1.0, 1e-6))
    charged = tuple(map(int, line.body["cost"]))
    assert own <= charged
    assert charged[0] <= own[0] * (1 + 1e-6)


def test_nothing_is_drawn_beyond_the_budget(tmp_path: Path, monkeypatch: Any) -> None:
    ledger = book(tmp_path, 1.2)
    model = DPKMeans(2, bounds=(-5, 5), ledger=ledger.path, delta=1e-6)
    model.fit(ROWS)
    drawn, paid_for = [], NoiseSource._paid

    def watched(source: NoiseSource) -> None:
        paid_for(source)
        drawn.append(1)

    monkeypatch.setattr(NoiseSource, "_paid", watched)
    with pytest.raises(BudgetExceeded):
        clone(model).fit(ROWS)
    assert not drawn
    assert len(ledger.state().releases) == 1


def test_clones_share_the_ledger_that_they_were_given(tmp_path: Path) -> None:
    ledger = book(tmp_path)
    model = DPKMeans(2, bounds=(-5, 5), ledger=ledger, delta=1e-6, epsilon=0.2)
    for one in (clone(model), clone(clone(model)), pickle.loads(pickle.dumps(model))):
        one.fit(ROWS)
    assert clone(model).ledger is ledger
    assert repr(ledger) == f"BudgetLedger({str(ledger.path)!r})"
    assert len(ledger.demand_intact().releases) == 3


def test_a_whole_budget_is_spent_in_one_fit(tmp_path: Path) -> None:
    """By the ledger's own accountant; in a ledger of zCDP another one is told which."""
    words: dict[str, Any] = {"bounds": (-5, 5), "delta": 1e-5, "epsilon": 1.0}
    for way, accountant in (("gdp", "exact"), ("zcdp", "zcdp_tight")):
        limit = Amount(1.0, 1e-5)
        ledger = BudgetLedger.create(tmp_path / f"{way}.sqlite", limit, filter=way)
        if way == "zcdp":
            with pytest.raises(BudgetExceeded, match="choose accountant zcdp_tight"):
                DPKMeans(2, **words, ledger=ledger).fit(ROWS)
            assert not ledger.state().releases
        model = DPKMeans(2, accountant=accountant, **words, ledger=ledger).fit(ROWS)
        assert 0.999 < model.guarantee_.epsilon <= 1.0
        assert ledger.demand_intact().left_amount.epsilon < 1e-3


@pytest.mark.parametrize("way", ["gdp", "zcdp", "sums"])
def test_a_refusal_names_an_accountant_only_where_it_helps(tmp_path: Path, way: str) -> None:
    limit = Amount(1.0, 1e-5)
    ledger = BudgetLedger.create(tmp_path / "budget.sqlite", limit, filter=way)

    def refused(**words: Any) -> str:
        privacy = dp.Privacy(1.0, **{"delta": 1e-5, "accountant": "pld", **words})
        options = {"n_components": 2, "algorithm": "dplloyd"}
        with pytest.raises(BudgetExceeded) as refusal:
            paid_fit("kmeans", table(), privacy=privacy, ledger=ledger, **options)
        return str(refusal.value)

    for accountant in ("pld", "zcdp_tight"):
        assert "ask for no more than that, and for no larger delta" in refused(
            delta=1e-4, accountant=accountant
        )
    if way != "sums":
        helps = {"gdp": "give a smaller epsilon", "zcdp": "choose accountant zcdp_tight"}
        assert helps[way] in refused()
        paid_fit(
            "kmeans",
            table(),
            privacy=dp.Privacy(0.2 if way == "gdp" else 1.0, 1e-5, accountant="zcdp_tight"),
            ledger=ledger,
            n_components=2,
            algorithm="dplloyd",
        )


def test_it_is_paid_before_the_noise_and_counts_when_the_fit_fails(
    tmp_path: Path, monkeypatch: Any
) -> None:
    ledger = book(tmp_path)

    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("the machine")

    monkeypatch.setattr(paid, "demand_proved", broken)
    with pytest.raises(PaidError, match="paid for as line 2"):
        paid_fit("kmeans", table(), privacy=ONE, ledger=ledger, n_components=2)
    assert len(ledger.state().releases) == 1
    assert ledger.state().spent_amount.epsilon > 0.0


@pytest.mark.merge
def test_a_search_spends_for_every_fit_and_ends_where_the_budget_does(tmp_path: Path) -> None:
    ledger = book(tmp_path)
    model = DPGaussianMixture(2, bounds=(-5, 5), ledger=str(ledger.path), epsilon=1.0)
    search = GridSearchCV(model, {"n_components": [1, 2], "iterations": [2, 4]}, cv=3, n_jobs=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitFailedWarning)
        warnings.simplefilter("ignore", UserWarning)  # scores of what was not fitted
        with pytest.raises(BudgetExceeded):  # the one on all rows, at last
            search.fit(ROWS)
    state = ledger.demand_intact()
    assert 5 < len(state.releases) < 13
    assert state.spent_amount.epsilon <= 3.0
    assert state.left_amount.epsilon < 1.0


def test_what_cannot_be_paid_for_is_refused_before_anything_is_spent(tmp_path: Path) -> None:
    ledger = book(tmp_path)
    with pytest.raises(InputError, match=wording.REHEARSAL_UNPAID):
        DPGaussianMixture(bounds=(-5, 5), random_state=3, ledger=ledger.path).fit(ROWS)
    y = (ROWS[:, 1] > 3.0).astype(int)
    with pytest.raises(InputError, match=wording.REHEARSAL_UNPAID):
        DPLogisticRegression(bounds=(-5, 5), classes="infer", ledger=ledger.path).fit(ROWS, y)
    other = DPGaussianMixture(bounds=(-5, 5), adjacency="add_remove", ledger=ledger.path)
    with pytest.raises(InputError, match="choose replace_one, or another ledger"):
        other.fit(ROWS)
    with pytest.raises(InputError, match=wording.FILE_MISSING):
        DPGaussianMixture(bounds=(-5, 5), ledger=tmp_path / "none").fit(ROWS)
    assert len(ledger.state().releases) == 0


def test_samples_need_a_ledger_of_sums(tmp_path: Path) -> None:
    counts = np.random.default_rng(1).poisson(1.0, (300, 12))
    words = {"rate": 0.2, "epochs": 1, "epsilon": 1.0, "delta": 1e-6}
    (tmp_path / "z").mkdir()
    exact, sums = book(tmp_path / "z", unit="author"), book(tmp_path, unit="author", filter="sums")
    with pytest.raises(InputError, match="use a ledger of sums"):
        DPLatentDirichletAllocation(3, ledger=exact.path, **words).fit(counts)
    assert len(exact.state().releases) == 0
    DPLatentDirichletAllocation(3, ledger=sums.path, **words).fit(counts)
    assert sums.demand_intact().spent_amount == Amount(1.0, 1e-6)


@pytest.mark.parametrize("algorithm", ["one_shot", "objective"])
def test_logistic_regression_pays_what_it_says(tmp_path: Path, algorithm: str) -> None:
    ledger = book(tmp_path)
    y = (ROWS[:, 1] > 3.0).astype(int)
    model = DPLogisticRegression(
        epsilon=0.3,
        bounds=(-5, 5),
        classes=(0, 1),
        algorithm=algorithm,
        accountant="linear" if algorithm == "objective" else "exact",
        ledger=ledger.path,
    )
    model.fit(ROWS, y)
    assert len(ledger.demand_intact().releases) == 1


def test_without_a_ledger_the_guarantee_says_that_it_counts_one_fit() -> None:
    model = DPKMeans(2, bounds=(-5, 5)).fit(ROWS)
    assert ALONE in model.guarantee_.notes
    assert ALONE not in DPKMeans(2, bounds=(-5, 5), random_state=0).fit(ROWS).guarantee_.notes


def test_a_spent_ledger_does_not_tell_how_many_rows_there_are(
    tmp_path: Path, monkeypatch: Any
) -> None:
    """Under a lock their number is asked of last; whoever cannot pay would ask for nothing."""
    monkeypatch.setenv("DPCORE_LOCK_TRUTH", "1")
    ledger = book(tmp_path, 0.1)
    for centres in (len(ROWS), len(ROWS) + 1):
        with pytest.raises(BudgetExceeded):
            paid_fit("kmeans", table(), privacy=ONE, ledger=ledger, n_components=centres)


def test_a_sample_that_no_adjacency_covers_costs_nothing(tmp_path: Path) -> None:
    """It is refused before a coin is tossed for it."""
    import pandas as pd

    answers = (Column("yes", "target", "category", categories=("no", "yes")),)
    rows = pd.DataFrame({"x": ROWS[:, 0], "yes": np.where(ROWS[:, 1] > 3.0, "yes", "no")})
    sealed = dp.load(rows, schema=Schema((Column("x", lower=-5.0, upper=5.0), *answers)))
    ledger = book(tmp_path, filter="sums", adjacency="feature")
    by_column = replace(ONE, adjacency="feature")
    with pytest.raises(InputError, match="feature does not apply"):
        paid_fit("logistic", sealed, privacy=by_column, ledger=ledger, algorithm="dpvi")
    assert not ledger.state().releases


@every(
    "words, field",
    [
        ({"seed": 1}, "seed"),
        ({"draws": (0, 1)}, "draws"),
        ({"schema": Schema.from_bounds({"x": (-9.0, 9.0), "y": (-9.0, 9.0)})}, "schema"),
        ({"on_plan": print}, "on_plan"),
        ({"privacy": replace(ONE, mode="paper", accountant="linear")}, "mode"),
        ({"model": "fa", "n_components": 3}, "number of factors"),
        ({"table": ROWS}, "table"),
    ],
)
def test_what_is_refused_costs_nothing(words: dict[str, Any], field: str, tmp_path: Path) -> None:
    folder = tmp_path / field
    folder.mkdir()
    ledger = book(folder)
    asked = {"model": "gmm", "table": table(), "privacy": ONE, "n_components": 2, **words}
    with pytest.raises(dp.InputError) as refusal:
        paid_fit(ledger=ledger, **asked)
    assert refusal.value.field == field
    assert not ledger.state().releases


def test_noise_is_paid_for_once_before_any_of_it_is_drawn() -> None:
    paid: list[str] = []
    draws = [
        lambda source: source.normal((2,)),
        lambda source: source.laplace((2,)),
        lambda source: source.long_tailed(2),
        lambda source: source.coins[0].random(2),
        lambda source: source.coins[0].choice(4, 2),
    ]

    def refuse() -> None:
        raise BudgetExceeded("there is none left")

    for draw in draws:
        source = NoiseSource(None, pay=lambda: paid.append("once"))
        draw(source)
        draw(source)
        assert (paid, source.drawn) == (["once"], True)
        paid.clear()
        broke = NoiseSource(None, pay=refuse)
        with pytest.raises(BudgetExceeded):
            draw(broke)
        assert not broke.drawn
