"""The page on extending is run as it stands: a new model from a row's statistic and a bound."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from support import ROOT

import dpcore as dp
from app import compute
from app.explore_scene import picture
from app.result_store import ResultStore
from app.scenario import from_query
from app.tables import data_of
from dpcore import models
from dpcore.accounting import ACCOUNTANTS
from dpcore.auditing.api import AUDITS, audits
from dpcore.cli import main
from dpcore.declaration import declaration
from dpcore.errors import InputError, WallError
from dpcore.fitting.api import fit_grid
from dpcore.fuzzing.pairs import Pair, examine
from dpcore.fuzzing.requests import random_fit, ways_of
from dpcore.fuzzing.tables import random_tables
from dpcore.privacy import Event, Gaussian
from dpcore.registry import MODELS
from dpcore.releases.filter import Amount
from dpcore.releases.paid import PaidError, paid_fit
from dpcore.wall.statistics.row_vectors import BallVector

PAGE = (ROOT / "app/docs/extending.md").read_text(encoding="utf-8")
LINE = re.search(r'^"yes-or-no": "(.+)",$', PAGE, re.MULTILINE)
PACKAGE = "dpcore.models.yes_or_no"
CHANCES = np.array([[0.9, 0.9, 0.9, 0.1, 0.1, 0.1], [0.1, 0.1, 0.1, 0.9, 0.9, 0.9]])
NAMES = [f"answer {j}" for j in range(6)]


@pytest.fixture(scope="module")
def added(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """The page's files as a folder of the models', by the page's line; its mathematics."""
    place = tmp_path_factory.mktemp("models")
    folder = place / "yes_or_no"
    folder.mkdir()
    for part in PAGE.split("\n### ")[1:]:
        if name := re.match(r"`(\w+\.py)`", part):
            code = "\n\n".join(re.findall(r"```python\n(.*?)```", part, flags=re.DOTALL))
            (folder / name[1]).write_text(code, encoding="utf-8")
    models.__path__.append(str(place))
    MODELS["yes-or-no"] = LINE[1]
    AUDITS["yes-or-no"] = f"{PACKAGE}.attack:ATTACK"  # read off the declarations at import
    yield import_module(f"{PACKAGE}.mathematics")
    del MODELS["yes-or-no"], AUDITS["yes-or-no"], models.yes_or_no
    models.__path__.remove(str(place))
    for name in [name for name in sys.modules if name.startswith(PACKAGE)]:
        del sys.modules[name]


def answers(n: int = 4000) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    group = (rng.random(n) < 0.3).astype(int)
    return pd.DataFrame((rng.random((n, 6)) < CHANCES[group]).astype(float), columns=NAMES)


@pytest.fixture(scope="module")
def table() -> Any:
    schema = dp.Schema(tuple(dp.Column(name, lower=0, upper=1) for name in NAMES))
    return dp.load(answers(), schema=schema)


def by_hand(rows: Any, steps: int) -> tuple[Any, Any]:
    """Plain EM, row by row, from the page's start."""
    weights, chances = np.full(2, 0.5), np.random.default_rng(0).uniform(0.3, 0.7, (2, 6))
    for _ in range(steps):
        like = np.array([np.prod(np.where(rows == 1, c, 1 - c), axis=1) for c in chances])
        shares = weights[:, None] * like
        shares /= shares.sum(axis=0)
        weights = shares.mean(axis=1)
        chances = np.clip((shares @ rows) / shares.sum(axis=1)[:, None], 0.01, 0.99)
    return weights, chances


def test_without_noise_it_is_plain_em(added: ModuleType, table: Any) -> None:
    found = dp.fit("yes-or-no", table, privacy=None, n_components=2, iterations=7).parameters
    weights, chances = by_hand(answers().to_numpy(), 7)
    np.testing.assert_allclose(found.weights, weights, rtol=1e-10)
    np.testing.assert_allclose(found.chances, chances, rtol=1e-10)


def test_a_private_fit_finds_the_groups_and_its_proof_replays(
    added: ModuleType, table: Any
) -> None:
    privacy = dp.Privacy(epsilon=1.0, delta=1e-5)
    fit = dp.fit("yes-or-no", table, privacy=privacy, n_components=2, iterations=7, seed=0)
    order = np.argsort(-fit.parameters.weights)
    np.testing.assert_allclose(fit.parameters.weights[order], [0.7, 0.3], atol=0.06)
    np.testing.assert_allclose(fit.parameters.chances[order], CHANCES, atol=0.1)
    assert fit.guarantee.epsilon == pytest.approx(1.0, abs=1e-6)
    assert dp.replay(fit.ledger, fit.guarantee.proof).epsilon <= 1.0
    assert len(fit.ledger) == 7
    assert fit.sample(50).shape == (50, 6)


def test_a_grid_of_budgets_and_draws_comes_with_it(added: ModuleType, table: Any) -> None:
    budgets = [dp.Privacy(epsilon=e, delta=1e-5) for e in (0.1, 10.0)]
    grid = fit_grid(
        "yes-or-no", table, privacy=budgets, draws=range(3), seed=0, n_components=2, iterations=3
    )
    assert grid.runs.final.chances.shape == (6, 2, 6)
    low, high = grid.runs.final.chances[:3], grid.runs.final.chances[3:]
    assert low.std(axis=0).mean() > 3 * high.std(axis=0).mean()  # less budget, more noise


@given(st.integers(0, 10**6))
def test_no_two_rows_are_farther_apart_than_the_bound_allows(added: ModuleType, seed: int) -> None:
    rng = np.random.default_rng(seed)
    groups = added.Groups(
        rng.dirichlet(np.ones(2), 1), np.clip(rng.beta(0.2, 0.2, (1, 2, 6)), 0.01, 0.99)
    )
    rows = np.round(rng.random((6, 2)))
    one, other = added.statistic(groups, rows)[0].T
    assert max(np.linalg.norm(one), np.linalg.norm(other)) <= added.bound(6) * (1 + 1e-12)
    assert np.linalg.norm(one - other) <= 2 * added.bound(6)


def test_the_bound_is_reached(added: ModuleType) -> None:
    sure = added.Groups(np.array([[0.5, 0.5]]), np.stack([np.full((1, 6), 0.99), CHANCES[:1]], 1))
    vector = added.statistic(sure, np.ones((6, 1)))[0, :, 0]
    assert np.linalg.norm(vector) > 0.98 * added.bound(6)


@pytest.mark.parametrize("wild", [np.nan, np.inf, -np.inf, 1e300, -1e300])
def test_the_wall_holds_a_wild_statistic_to_the_bound(added: ModuleType, wild: float) -> None:
    contribution = BallVector(14, added.bound(6))
    vectors = np.full((1, 14, 3), wild)
    assert np.linalg.norm(contribution.sum(vectors)) <= 3 * added.bound(6) * (1 + 1e-9)


@pytest.mark.parametrize("wild", [np.nan, np.inf, -1e300, -5.0, 0.0])
def test_any_sums_give_valid_parameters(added: ModuleType, wild: float) -> None:
    groups = added.groups_from(np.full((3, 14), wild), 2, 6)
    np.testing.assert_allclose(groups.weights.sum(axis=1), 1.0)
    assert np.all((groups.chances >= 0.01) & (groups.chances <= 0.99))


def test_the_command_line_knows_it(
    added: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "answers.csv"
    answers(400).astype(int).to_csv(file, index=False)
    limits = [f'[columns."{name}"]\nlower = 0\nupper = 1\n' for name in NAMES]
    file.with_suffix(".toml").write_text("\n".join(limits), encoding="utf-8")
    words = ["fit", "yes-or-no", str(file), "--epsilon", "1", "--delta", "1e-5", "--seed", "0"]
    assert main([*words, "--components", "2"]) == 0
    assert "Each group: its share of the rows" in capsys.readouterr().out
    assert main([*words, "--topics", "3"]) == 2
    assert "model 'yes-or-no' takes no option --topics; use --components, --iterations." in (
        capsys.readouterr().err
    )


def test_a_sweep_shows_what_each_budget_buys(added: ModuleType, table: Any) -> None:
    rows = dp.sweep(
        "yes-or-no",
        table,
        epsilons=(0.05, 4.0),
        delta=1e-5,
        splits=2,
        n_components=2,
        iterations=5,
    )
    low, high = rows
    assert low.mean < high.mean == pytest.approx(high.converged, abs=0.05)


def test_a_release_of_it_verifies(added: ModuleType, table: Any, tmp_path: Path) -> None:
    ledger = tmp_path / "budget.sqlite"
    dp.BudgetLedger.create(ledger, Amount(2.0, 1e-5))
    out = tmp_path / "first"
    release = dp.release(
        "yes-or-no",
        table,
        privacy=dp.Privacy(1.0, 1e-6),
        ledger=ledger,
        out=out,
        n_components=2,
        iterations=5,
    )
    assert main(["verify", str(out), "--ledger", str(ledger)]) == 0
    weights = sorted(release.fit.parameters.weights)
    np.testing.assert_allclose(weights, [0.3, 0.7], atol=0.15)
    opened = dp.open_release(out)
    rows = answers(20)
    group = release.fit.parameters.log_joint(rows.to_numpy()).argmax(axis=1)
    np.testing.assert_array_equal(opened.predict(rows), group)
    assert list(opened.answers(rows)["prediction"]) == [f"group {k + 1}" for k in group]


def test_persons_with_several_rows_are_protected_by_it(added: ModuleType) -> None:
    schema = dp.Schema(
        (*(dp.Column(name, lower=0, upper=1) for name in NAMES), dp.Column("who", role="id")),
        rows_per_person=2,
    )
    rows = dp.load(answers(600).assign(who=np.arange(600) // 3), schema=schema)
    for adjacency, moved in (("replace_one", 4.0), ("add_remove", 2.0 * np.hypot(1.0, 0.1))):
        privacy = dp.Privacy(1.0, 1e-5, adjacency=adjacency)
        fit = dp.fit("yes-or-no", rows, privacy=privacy, n_components=2, iterations=2, seed=0)
        assert fit.guarantee.rows_per_person == 2
        assert fit.ledger.entries[0].sensitivity == pytest.approx(moved)


def test_without_rows_to_draw_a_release_has_none(
    added: ModuleType, table: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parameters = import_module(f"{PACKAGE}.parameters").GroupParameters
    monkeypatch.delattr(parameters, "sample")
    ledger = tmp_path / "budget.sqlite"
    dp.BudgetLedger.create(ledger, Amount(2.0, 1e-5))
    privacy = dp.Privacy(1.0, 1e-6)
    out = tmp_path / "first"
    dp.release("yes-or-no", table, privacy=privacy, ledger=ledger, out=out, n_components=2)
    assert not (out / "synthetic.csv").exists()
    assert main(["verify", str(out), "--ledger", str(ledger)]) == 0
    opened = dp.open_release(out)
    assert "sample" not in opened.methods
    with pytest.raises(InputError, match="does not describe how rows are distributed"):
        opened.fit.sample(1)
    monkeypatch.delitem(MODELS, "yes-or-no")
    with pytest.raises(InputError, match="model 'yes-or-no' is not registered here"):
        dp.open_release(out)


def test_what_needs_a_file_that_is_not_there_names_it(added: ModuleType, table: Any) -> None:
    fit = dp.fit("yes-or-no", table, privacy=None, n_components=2, iterations=1)
    declared = declaration("yes-or-no")
    with pytest.raises(InputError, match=r"yes-or-no has no file judge\.py"):
        replace(declared, scorer="judge:YARDSTICK").load("judge:YARDSTICK")
    assert fit.score(table) < 0.0  # with the file


def test_a_fit_with_less_noise_than_it_plans_is_refused(
    added: ModuleType, table: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = import_module(f"{PACKAGE}.private").YesOrNoRecipe
    monkeypatch.setattr(recipe, "events", lambda how, settings: (Event(Gaussian(1.0)),))
    dp.fit("yes-or-no", table, privacy=dp.Privacy(1.0, 1e-5), iterations=2, seed=0)  # as much
    monkeypatch.setattr(recipe, "events", lambda how, settings: (Event(Gaussian(2.0)),))
    with pytest.raises(WallError, match="its fit and its events do not agree"):
        dp.fit("yes-or-no", table, privacy=dp.Privacy(1.0, 1e-5), iterations=2, seed=0)


@pytest.mark.parametrize("way", ["sums", "gdp"])
def test_what_costs_a_hair_more_than_it_was_paid_for_does_not_leave(
    added: ModuleType, table: Any, tmp_path: Path, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A ledger of sums took its word that it costs what was stated."""
    recipe = import_module(f"{PACKAGE}.private").YesOrNoRecipe
    monkeypatch.setattr(recipe, "events", lambda how, settings: (Event(Gaussian(1.0007)),))
    privacy, ledger = dp.Privacy(1.0, 1e-5), tmp_path / "budget.sqlite"
    assert dp.fit("yes-or-no", table, privacy=privacy, seed=0).guarantee.epsilon > 1.0
    dp.BudgetLedger.create(ledger, Amount(3.0, 1e-3), filter=way)
    for make in (paid_fit, partial(dp.release, out=tmp_path / "first")):
        with pytest.raises(PaidError):
            make("yes-or-no", table, privacy=privacy, ledger=ledger)
    outputs = [dp.BudgetLedger(ledger).output(line) for line in (2, 4)]
    assert [output.keys() for output in outputs] == [{"failed"}, {"failed"}]


def test_its_audit_stays_below_the_proof_and_sees_when_half_the_noise_is_gone(
    added: ModuleType,
) -> None:
    found = dp.audit("yes-or-no", runs=400)
    assert found.lower <= 4.0
    assert found.half_lower > found.lower
    assert "yes-or-no" in audits()


def test_the_fuzzer_finds_no_release_of_it_that_moves_too_far(added: ModuleType) -> None:
    rng = np.random.default_rng(1)
    (way,) = ways_of("yes-or-no")
    found = []
    for number in range(12):
        asked = random_fit(rng, "yes-or-no", way)
        tables = random_tables(rng, way, asked.privacy.adjacency)
        found.append(examine(Pair(1, number, asked, tables, False, False)))
    assert not [one for one in found if one.outcome == "violation"]
    assert sum(one.outcome == "compared" for one in found) > 3


def test_an_estimator_of_it_says_what_others_say(added: ModuleType) -> None:
    made = import_module(f"{PACKAGE}.estimator").DPYesOrNo
    rows = answers(2000)
    model = made(2, epsilon=2.0, bounds=(0, 1), random_state=0).fit(rows)
    assert model.predict_proba(rows).shape == (2000, 2)
    assert model.score(rows) > 6 * np.log(0.5)
    assert clone(model).get_params()["n_components"] == 2


@pytest.mark.merge
def test_the_explorer_offers_and_draws_it(added: ModuleType) -> None:
    names = {"households": None}
    scenario = from_query({"data": "households", "model": "yes-or-no", "iterations": "3"}, names)
    assert (scenario.model, scenario.dial) == ("yes-or-no", "epsilon")
    data = data_of(scenario)
    assert declaration("yes-or-no").suits(data.schema)
    small = replace(scenario, epsilon=4.0, components=2)
    scene = picture(small, data, compute.study(small, data, ResultStore()))
    assert [panel.id for panel in scene.panels] == ["exact", "private", "curve"]
    assert "group 1 answers yes to" in scene.panels[0].alt


def test_the_lines_shown_are_lines_of_the_registries() -> None:
    shown = re.findall(r'```text\n"([\w-]+)": (.*?),\n```', PAGE)
    assert [name for name, _ in shown] == ["yes-or-no", "linear", "learn"]
    assert f'"{ACCOUNTANTS["linear"]}"' == shown[1][1]
    explorer = (ROOT / "app/explorer.py").read_text(encoding="utf-8")
    assert f'"learn": {shown[2][1]},' in explorer


def test_every_file_it_names_is_there() -> None:
    for path in re.findall(r"`((?:dpcore|app|tests)/[\w/.]+)`", PAGE):
        assert (ROOT / path).exists(), path
