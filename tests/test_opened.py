"""A release is a model: opened without data or ledger, used on other rows, refused when changed."""

from __future__ import annotations

import json
import pickle
import shutil
from collections.abc import Callable
from dataclasses import fields, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import jsonschema
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy
import wording
from hypothesis import given
from hypothesis import strategies as st
from released import CASES, PLACES, made, people
from scipy.special import expit
from support import ROOT, every

import dpcore as dp
from dpcore.datasets.load import read_frame
from dpcore.declaration import declaration, declarations
from dpcore.errors import DPCoreError, InputError, ReplayError
from dpcore.models.gradient_em import symmetric
from dpcore.models.sigmoid_belief import mathematics as belief
from dpcore.registry import MODELS
from dpcore.releases.beside import content_of
from dpcore.releases.filter import Amount
from dpcore.releases.opened import OF_ROWS, OpenedRelease
from dpcore.schema import Column, Schema
from dpcore.wall.data.clipping import bounded_rows
from dpcore.wall.table import PrivateTable

GIVEN = ROOT / "notebooks" / "first_release"


@cache
def opened(model: str) -> OpenedRelease:
    return dp.open_release(made(model).folder)


NEW = people(40, seed=1)


# --- every model ----------------------------------------------------------------------------------


def test_how_the_custodian_s_file_was_written_and_its_texts_ask_nothing_of_other_rows(
    tmp_path: Path,
) -> None:
    rows = "".join(f"0,{i % 10} %;note {i}\n" for i in range(100))
    (tmp_path / "t.csv").write_text("a;note\n" + rows, encoding="utf-8")
    schema = (
        '[file]\nseparator = ";"\ndecimal = ","\n[columns.a]\nlower = 0\nupper = 1\n'
        'symbols = ["%"]\n[columns.note]\ntype = "text"\n'
    )
    (tmp_path / "t.toml").write_text(schema, encoding="utf-8")
    place, out = tmp_path / "l.sqlite", tmp_path / "out"
    dp.BudgetLedger.create(place, Amount(1.0, 1e-5))
    table = dp.load(tmp_path / "t.csv")
    dp.release("mean", table, privacy=dp.Privacy(0.5, 1e-6), ledger=place, out=out)
    release = dp.open_release(out)
    assert release.rows(pd.DataFrame({"a": ["0.5", "0.25 %"]})).tolist() == [[0.5], [0.25]]


def test_every_model_that_can_be_released_can_be_opened() -> None:
    """The cases below are the registry; documents have a test file of their own."""
    assert all(model.estimator for model in declarations().values())
    assert {declaration(name).reads for name in set(MODELS) - set(CASES)} == {"documents"}


def test_a_model_without_an_estimator_is_not_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    bare = replace(declaration("gmm"), estimator="")
    monkeypatch.setattr("dpcore.releases.opened.declaration", lambda name: bare)
    with pytest.raises(InputError, match="releases of gmm are not supported"):
        dp.open_release(made("gmm").folder)


@every("model", CASES)
def test_what_was_released_is_read_back_to_the_last_bit(model: str) -> None:
    release, fit = opened(model), made(model).fit
    for field in fields(fit.parameters):
        one, other = (getattr(each.parameters, field.name) for each in (fit, release.fit))
        assert type(one) is type(other), field.name
        np.testing.assert_array_equal(np.asarray(one), np.asarray(other), field.name)
    assert json.loads(json.dumps(release.guarantee.as_dict())) == release.dossier["guarantee"]
    assert release.guarantee.proof == fit.guarantee.proof
    assert release.fit.ledger == fit.ledger
    told = fit.parameters.as_dict()
    assert release.parameters
    for name, array in release.parameters.items():
        np.testing.assert_array_equal(array, np.array(told[name], dtype=float))


@every("model", CASES)
def test_it_has_what_the_model_has_and_says_why_not_of_the_rest(model: str) -> None:
    release, has = opened(model), CASES[model][2].split()
    assert list(release.methods) == [name for name in (*OF_ROWS, "score", "sample") if name in has]
    for name in (*OF_ROWS, "score"):
        if name in has:
            assert np.all(pd.notna(getattr(release, name)(NEW)))
            continue
        with pytest.raises(InputError, match=rf"^{name}: this release, .*; use \w+.*\.$") as told:
            getattr(release, name)(NEW)
        assert str(told.value).count(". ") == 0
    if "sample" in has:
        assert len(release.sample(7)) == 7
    else:
        with pytest.raises(InputError, match=r"^sample: "):
            release.sample(7)


@every("model", CASES)
def test_answers_are_named_and_the_row_and_they_fit_the_json_schema(model: str) -> None:
    release = opened(model)
    told, schema = release.answers(NEW), release.to_json_schema()
    assert len(told) == len(NEW)
    assert not told.isna().any().any()
    checker = jsonschema.Draft202012Validator
    checker.check_schema(schema)
    for row in json.loads(NEW.head(3).to_json(orient="records")):
        checker(schema).validate(row)
    answer = schema["$defs"]["answer"]
    assert list(answer["properties"]) == list(told.columns)
    for row in json.loads(told.head(3).to_json(orient="records")):
        checker(answer).validate(row)
    assert not checker(schema).is_valid({})
    first = release.schema.features[0]
    assert not checker(schema).is_valid({**row, first: "1,5"})
    assert not checker(schema).is_valid({**row, first: True})  # no column here has two values
    share = {"type": "number", "minimum": 0, "maximum": 1}
    shares = [answer["properties"][name] for name in told if name.startswith("probability of")]
    assert all(one == share for one in shares)


@every("model", CASES)
def test_the_estimator_predicts_without_having_seen_data(model: str) -> None:
    release = opened(model)
    found = pickle.loads(pickle.dumps(release.to_sklearn()))
    rows = pd.DataFrame(release.rows(NEW), columns=list(release.columns))
    for name in set(release.methods) & set(OF_ROWS):
        answer = getattr(found, name)(rows)
        if name == "predict_proba" and hasattr(found, "classes_"):  # sorted, as scikit-learn's are
            column = release.schema.column("kind" if model == "gmm-release" else "back")
            assert list(found.classes_) == sorted(column.categories)
            answer = answer[:, [list(found.classes_).index(c) for c in column.categories]]
        np.testing.assert_array_equal(answer, getattr(release, name)(NEW))
    assert list(found.feature_names_in_) == list(release.columns)
    assert repr(found)


# --- what they say, worked out another way --------------------------------------------------------


def joint(weights: Any, means: Any, covariances: Any, rows: Any) -> Any:
    return np.column_stack(
        [
            np.log(w) + scipy.stats.multivariate_normal(m, c, allow_singular=True).logpdf(rows)
            for w, m, c in zip(weights, means, covariances, strict=True)
        ]
    )


def shares(logs: Any) -> Any:
    chances = np.exp(logs - logs.max(axis=1, keepdims=True))
    return chances / chances.sum(axis=1, keepdims=True)


def test_a_mixture_and_classes_follow_bayes_rule() -> None:
    for model in ("gmm", "gmm-release"):
        release = opened(model)
        p, rows = release.fit.parameters, release.rows(NEW)
        logs = joint(p.weights / p.weights.sum(), p.means, p.covariances, rows)
        np.testing.assert_allclose(release.predict_proba(NEW), shares(logs), atol=1e-8)
        best = logs.argmax(axis=1)
        expected = best if model == "gmm" else np.array(p.classes)[best]
        np.testing.assert_array_equal(release.predict(NEW), expected)
    release = opened("gmm")
    p = release.fit.parameters
    logs = joint(p.weights, p.means, p.covariances, release.rows(NEW))
    np.testing.assert_allclose(release.score_samples(NEW), np.logaddexp.reduce(logs, axis=1))


def test_mixtures_of_other_families_follow_bayes_rule() -> None:
    release = opened("bernoulli")
    p, rows = release.fit.parameters, release.rows(NEW)
    chances = np.where(rows[:, None] == 1, p.chances, 1 - p.chances).prod(axis=2) * p.weights
    np.testing.assert_allclose(release.score_samples(NEW), np.log(chances.sum(axis=1)))
    release = opened("poisson")
    p, rows = release.fit.parameters, release.rows(NEW)
    chances = scipy.stats.poisson.pmf(rows[:, None], p.rates).prod(axis=2) * p.weights
    np.testing.assert_allclose(release.predict_proba(NEW), shares(np.log(chances)))


def test_centres_are_as_far_away_as_the_fit_had_them() -> None:
    """In half ranges of the limits: 5 cm are as far as 1 on the other scale."""
    release = opened("kmeans")
    away = (release.rows(NEW)[:, None] - release.fit.parameters.centers) / [5.0, 1.0, 0.5, 0.5]
    np.testing.assert_allclose(release.transform(NEW), np.linalg.norm(away, axis=2))
    np.testing.assert_array_equal(release.predict(NEW), release.transform(NEW).argmin(axis=1))
    named = release.answers(NEW, ["transform"]).columns
    assert all(name.endswith("(in half ranges of the limits)") for name in named)


def test_factors_means_and_hidden_units() -> None:
    release = opened("fa")
    p, rows = release.fit.parameters, release.rows(NEW)
    covariance = p.loadings @ p.loadings.T + np.diag(p.noise_variance)
    density = scipy.stats.multivariate_normal(p.mean, covariance).logpdf(rows)
    np.testing.assert_allclose(release.score_samples(NEW), density)
    assert release.score(NEW) == pytest.approx(density.mean())
    expected = (rows - p.mean) @ np.linalg.solve(covariance, p.loadings)
    np.testing.assert_allclose(release.transform(NEW), expected)
    release = opened("covariance")
    p, away = release.fit.parameters, rows - release.parameters["mean"]
    np.testing.assert_array_equal(release.parameters["correlation"], p.correlation)
    np.testing.assert_allclose(release.transform(NEW), away @ release.parameters["components"].T)
    density = scipy.stats.multivariate_normal(p.mean, p.covariance).logpdf(rows)
    np.testing.assert_allclose(release.score_samples(NEW), density)
    model = release.to_sklearn()
    framed = pd.DataFrame(rows, columns=release.columns)
    np.testing.assert_allclose(model.inverse_transform(model.transform(framed)), rows, atol=1e-9)
    np.testing.assert_array_equal(model.components_, release.parameters["components"])
    release = opened("mean")
    away = release.rows(NEW) - release.parameters["mean"]
    np.testing.assert_allclose(release.transform(NEW), away)
    release = opened("sbn")
    p, on = release.fit.parameters, release.rows(NEW) > 0.5
    known = belief.fixed(p.weights, p.visible_bias, p.hidden_bias)
    hidden = belief.e_step(on.astype(float), known, single=False)[0]
    np.testing.assert_allclose(release.transform(NEW), hidden)
    back = expit(hidden @ p.weights.T + p.visible_bias)
    np.testing.assert_allclose(p.given_back(release.rows(NEW)), back, atol=1e-6)


def test_lines_and_clouds() -> None:
    for model in ("mixture-regression", "missing-regression"):
        release = opened(model)
        line = release.rows(NEW) @ release.parameters["beta"]
        expected = np.column_stack([line, -line]) if model == "mixture-regression" else line
        np.testing.assert_allclose(release.predict(NEW), expected)
    release = opened("symmetric-mixture")
    p = release.fit.parameters
    units = (release.rows(NEW) - p.origin) / p.scale
    density = symmetric.log_likelihood((p.beta / p.scale)[None], p.sigma, units.T, None, None)
    assert release.score(NEW) == pytest.approx(float(density[0]) - np.log(p.scale).sum())


def test_a_rule_averages_its_uncertainty_as_its_fit_does() -> None:
    release = opened("logistic")
    table = dp.load(NEW, schema=Schema(PLACES))
    public, units = bounded_rows(table, private=True)
    fitted = made("logistic").fit.parameters.in_units(public)
    found = release.predict_proba(NEW)
    np.testing.assert_allclose(found[:, 1], fitted.probabilities(units)[0])
    np.testing.assert_array_equal(release.predict(NEW) == "no", found[:, 1] > 0.5)
    right = np.mean(release.predict(NEW) == NEW["back"])
    assert release.score(NEW) == right == release.score(NEW.drop(columns="back"), NEW["back"])
    assert release.score(NEW.to_dict("records")) == right


# --- the rule for cells ---------------------------------------------------------------------------

CELLS = st.sampled_from([0.0, 3.5, 1e300, -7, "4", "NA", "", None, "inf", "true", np.nan, "1e2"])
BALL = Schema.ball_of(["x", "y"], (1.0, 0.0), 2.0)


@given(st.lists(st.tuples(CELLS, CELLS, st.sampled_from(["north", "South", 1, None])), min_size=1))
def test_each_cell_is_read_as_the_wall_reads_private_ones(cells: list[Any]) -> None:
    release = opened("gmm")
    frame = pd.DataFrame(cells, columns=["x", "y", "region"], dtype=object)
    for schema in (release.schema, BALL):
        one = OpenedRelease(release.dossier, schema, release.fit, release.model, release.how)
        public, units = bounded_rows(PrivateTable.seal(frame, schema), private=True)
        expected = public.center + public.half_range * units
        np.testing.assert_allclose(one.rows(frame), expected, rtol=1e-12, atol=1e-12)


def test_what_lies_inside_stays_as_it_is_and_nothing_depends_on_another_row() -> None:
    release = opened("gmm")
    rows = release.rows(NEW)
    np.testing.assert_array_equal(rows[:, :2], NEW[["x", "y"]])
    np.testing.assert_array_equal(release.rows(NEW.iloc[3:4]), rows[3:4])


def test_a_cell_that_a_regression_never_saw_is_expected_in_its_middle() -> None:
    """The model's own business, unless the column has a public fill: y has one."""
    release, row = opened("missing-regression"), NEW.head(1)
    absent = row.assign(x=None, y=None)
    at = dict(zip(release.columns, release.parameters["beta"], strict=True))
    expected = 0.5 * at["y"] + at[f"region={row['region'].iloc[0]}"]
    np.testing.assert_allclose(release.predict(absent), [expected])


def test_frames_and_arrays_in_any_order() -> None:
    release = opened("gmm")
    expected = release.score_samples(NEW)
    shuffled = NEW[sorted(NEW.columns, reverse=True)].assign(more="text")
    plain = NEW.assign(**{f"region={n}": NEW["region"] == n for n in ("north", "south")})
    columns = list(release.columns)
    for rows in (
        shuffled,
        plain.drop(columns="region"),
        plain[columns].to_numpy(),
        release.rows(NEW),
        NEW.to_dict("records"),
        pa.Table.from_pandas(NEW),
    ):
        np.testing.assert_array_equal(release.score_samples(rows), expected)
    lists = plain[columns].astype(float).to_numpy().tolist()
    np.testing.assert_array_equal(release.score_samples(lists), expected)
    with pytest.raises(InputError, match="rows: there are none; give at least one"):
        release.answers(NEW.head(0))
    twice = pd.concat([plain.drop(columns="region"), plain[["region=north"]]], axis=1)
    with pytest.raises(
        InputError, match=r"^region=north: the table has several columns of this name"
    ):
        release.predict(twice)


def test_lists_and_frames_are_read_in_the_schemas_notation() -> None:
    """A list with a cell for each category too: its other cells are dates and numbers as usual."""
    release = opened("gmm")
    day = Column("day", type="date", date_format="DD.MM.YYYY", lower=0, upper=30_000)
    size = Column("x", lower=0.0, upper=10.0, symbols=("cm",))
    read = replace(release, schema=Schema((day, size, release.schema.column("region"))))
    expected = [[18_627.0, 2.5, 1.0, 0.0]]
    for when in ("31.12.2020", "2020-12-31", 18_627):
        np.testing.assert_array_equal(read.rows([[when, "2.5 cm", 1, 0]]), expected)
        record = {"day": when, "x": "2.5 cm", "region": "north"}
        np.testing.assert_array_equal(read.rows([record]), expected)
    with pytest.raises(InputError, match=rf"^day: {wording.SOME_NO_DATES}; write dates as 2026"):
        read.rows([["12/31/2020", 2.5, 1, 0]])


def test_the_json_schema_says_how_a_date_is_written(tmp_path: Path) -> None:
    """It spoke of a number of days alone."""
    frame = pd.DataFrame({"day": ["31.12.2020"] * 40})
    day = Column("day", type="date", date_format="DD.MM.YYYY", lower=0, upper=18_629)
    place, privacy = tmp_path / "l.sqlite", dp.Privacy(0.5, 1e-6)
    dp.BudgetLedger.create(place, Amount(1.0, 1e-5))
    table = dp.load(frame, schema=Schema((day,)))
    dp.release("mean", table, privacy=privacy, ledger=place, out=tmp_path / "out")
    (entry,) = dp.open_release(tmp_path / "out").to_json_schema()["properties"].values()
    assert entry["description"] == (
        "a date from 1970-01-01 to 2021-01-02, or a number in days since 1970-01-01; null counts "
        "as 9314.5"
    )
    for cell in ("2020-12-31", 18_627, None):
        jsonschema.Draft202012Validator(entry).validate(cell)


# --- hostile tables -------------------------------------------------------------------------------

ODD_TABLES: list[tuple[Callable[[], Any], str]] = [
    (lambda: NEW.drop(columns="y"), "^y: the table has no such column; give the release's"),
    (lambda: NEW[["a", "b"]], "^x: the table has no such column"),
    (
        lambda: NEW.assign(x="12 EUR"),
        f"^x: {wording.SOME_NO_NUMBERS}; write numbers with a point",
    ),
    (lambda: NEW.assign(y=["0,5"] * len(NEW)), r"^y: .*write numbers with a point \(0\.5\)"),
    (
        lambda: pd.concat([NEW, NEW[["x"]]], axis=1),
        "^x: the table has several columns of this name; rename",
    ),
    (
        lambda: np.zeros((3, 2)),
        r"^rows: .*give 4 cells per row: x, y, region=north, region=south\.",
    ),
    (lambda: [1.0, 2.0, 3.0, 4.0], "^rows: they are not a table with the release's columns"),
    (lambda: [[1.0], [2.0, 3.0]], "^rows: they are not a table"),
    (lambda: None, "^rows: they are not a table"),
    (lambda: {"x": [1.0]}, "^rows: they are a dict; give a data frame, or a list of dicts"),
    (lambda: [], "^rows: there are none"),
    (lambda: [["a", "b", "c", "d"]], f"^x: {wording.SOME_NO_NUMBERS}; w"),
]


@every("table, words", ODD_TABLES)
def test_a_table_that_cannot_be_read_gets_one_sentence(table: Any, words: str) -> None:
    with pytest.raises(InputError, match=words) as told:
        opened("gmm").predict(table())
    assert "EUR" not in str(told.value)
    assert "0,5" not in str(told.value)


def test_a_score_needs_what_it_compares_with() -> None:
    release = opened("logistic")
    for rows, y, words in (
        (NEW.drop(columns="back"), None, "score: there is no column 'back' to compare with"),
        (
            NEW.assign(back="perhaps"),
            None,
            "back: some cells are not among the release's classes; use",
        ),
        (NEW, ["yes"], "y: it does not have one value for each row"),
        (NEW, "yes", "y: it does not have one value for each row"),
    ):
        with pytest.raises(InputError, match=words):
            release.score(rows, y)
    with pytest.raises(InputError, match="amount: some cells are missing or infinite"):
        opened("missing-regression").score(NEW.assign(amount=None))


def test_classes_are_compared_with_the_label_also_where_there_is_a_target(tmp_path: Path) -> None:
    table, frame = dp.load("bundled:iris"), read_frame("bundled:iris").assign(spare=0.5)
    spare = Column("spare", "target", lower=0.0, upper=1.0)
    schema = replace(table.schema, columns=(*table.schema.columns, spare))
    dp.BudgetLedger.create(tmp_path / "b.sqlite", Amount(9.0, 1e-4), unit=schema.unit)
    dp.release(
        "gmm-release",
        dp.load(frame, schema=schema),
        privacy=dp.Privacy(8.0, 1e-4),
        ledger=tmp_path / "b.sqlite",
        out=tmp_path / "out",
    )
    release = dp.open_release(tmp_path / "out")
    assert release.score(frame) == release.score(frame, frame[schema.label])
    release.score(release.sample(20))


def test_a_target_may_have_names_as_the_fit_reads_them(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.random(200), "c": rng.choice(["no", "yes"], 200)})
    target = Column("c", "target", "binary", categories=("no", "yes"))
    table = dp.load(frame, schema=dp.Schema((Column("a", lower=0.0, upper=1.0), target)))
    dp.BudgetLedger.create(tmp_path / "b.sqlite", Amount(9.0, 1e-4))
    words = {"ledger": tmp_path / "b.sqlite", "out": tmp_path / "out", "sigma": 1.0}
    dp.release("missing-regression", table, privacy=dp.Privacy(8.0, 1e-4), **words)
    release = dp.open_release(tmp_path / "out")
    numbers = frame.assign(c=(frame["c"] == "yes").astype(float))
    assert release.score(frame) == release.score(numbers) == release.score(frame, numbers["c"])
    with pytest.raises(InputError, match="c: it should contain 0 and 1"):
        release.score(frame.replace("no", "perhaps"))


@every("model", ["mixture-regression", "missing-regression"])
def test_synthetic_rows_of_a_regression_have_its_target_inside_its_limits(model: str) -> None:
    release = opened(model)
    rows = release.sample(500)
    assert [*rows.columns] == [*release.columns, "amount"]
    assert rows["amount"].between(0.0, 1.0).all()
    written = read_frame(made(model).folder / "synthetic.csv")
    assert [*written.columns] == [*rows.columns]
    if "score" in release.methods:
        release.score(rows)


def test_what_is_asked_for_must_be_there() -> None:
    with pytest.raises(InputError, match="what: 'guess' is not known; choose predict, predict_pro"):
        opened("gmm").answers(NEW, ["guess"])
    with pytest.raises(InputError, match=r"^what: it is not a list of names; give one"):
        opened("gmm").answers(NEW, "predict")
    with pytest.raises(InputError, match="predict: this release, a factor analysis"):
        opened("fa").answers(NEW, ["predict"])
    assert list(opened("gmm").answers(NEW, ["score_samples"]).columns) == ["log density"]


# --- hostile folders ------------------------------------------------------------------------------


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    return Path(shutil.copytree(GIVEN, tmp_path / "copied"))


def rewritten(folder: Path, change: Callable[[dict[str, Any]], Any], *, hashed: bool) -> None:
    """The dossier with a change; hashed: with its own hash made anew, and no report to object."""
    record = json.loads((folder / "dossier.json").read_text(encoding="utf-8"))
    change(record)
    if hashed:
        record["content"] = content_of(record)
    (folder / "dossier.json").write_text(json.dumps(record), encoding="utf-8")


def test_it_opens_without_data_and_without_a_ledger(
    copied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: Any, **__: Any) -> Any:
        raise AssertionError("there is none")

    monkeypatch.setattr(PrivateTable, "seal", never)
    monkeypatch.setattr("dpcore.releases.dossier.BudgetLedger", never)
    monkeypatch.setattr("dpcore.wall.noise.NoiseSource.__init__", never)
    release = dp.open_release(copied)
    assert release.methods == ("predict", "predict_proba", "score")
    assert repr(release).startswith("<release of a logistic regression: epsilon = 1.00, delta = ")


@pytest.mark.parametrize("number", [1, 2])
def test_releases_of_earlier_formats_open(number: int) -> None:
    release = dp.open_release(ROOT / f"tests/data/release_{number}/first")
    assert release.predict([[1.0, 0.0], [9.0, 0.5]]).shape == (2,)


@every("name", ["coefficients", "intercept", "covariance"])
def test_a_number_that_was_edited_is_refused(name: str) -> None:
    with TemporaryDirectory() as place:
        folder = Path(shutil.copytree(made("logistic").folder, Path(place) / "copied"))

        def change(record: dict[str, Any]) -> None:
            array = np.array(record["parameters"][name]) + 0.25
            record["parameters"][name] = array.tolist()

        rewritten(folder, change, hashed=False)
        for path in (folder, folder / "dossier.json"):
            with pytest.raises(ReplayError, match=r"^The dossier was changed: [^.]*\.$"):
                dp.open_release(path)
        rewritten(folder, lambda record: None, hashed=True)
        with pytest.raises(ReplayError, match=r"^report\.html does not agree with the dossier"):
            dp.open_release(folder)


ODD_PARAMETERS: list[Callable[[dict[str, Any]], Any]] = [
    lambda p: p.pop("coefficients"),
    lambda p: p["coefficients"].pop(),
    lambda p: p.update(coefficients=["a"] * 7),
    lambda p: p.update(coefficients=[None] * 7),
    lambda p: p.update(coefficients={}),
    lambda p: p.update(intercept="x"),
    lambda p: p.update(covariance=[[1.0]]),
    lambda p: p.update(covariance=[[1.0], [1.0, 2.0]]),
    lambda p: p.update(coefficients=[10**400] * 7),
    lambda p: p.update(columns=["a"] * 7),
]


@every("change", ODD_PARAMETERS)
def test_parameters_that_are_no_model_are_refused_in_a_sentence(change: Any) -> None:
    """Whoever wrote them made the hashes anew."""
    with TemporaryDirectory() as place:
        folder = Path(shutil.copytree(GIVEN, Path(place) / "copied"))
        rewritten(folder, lambda record: change(record["parameters"]), hashed=True)
        (folder / "report.html").unlink()
        with pytest.raises(
            InputError, match=r"^dossier: a part of it is missing or malformed; ask for"
        ):
            dp.open_release(folder / "dossier.json")


@every("shares", ["a", None, [], [-1.0, 2.0], [None, 1.0]])
def test_a_model_that_draws_no_row_is_refused_in_a_sentence(shares: Any) -> None:
    """Of k-means no answer about a row reads the shares."""
    with TemporaryDirectory() as place:
        folder = Path(shutil.copytree(made("kmeans").folder, Path(place) / "copied"))
        rewritten(folder, lambda record: record["parameters"].update(shares=shares), hashed=True)
        (folder / "report.html").unlink()
        with pytest.raises(InputError, match=r"^dossier: a part of it is missing or malformed"):
            dp.open_release(folder / "dossier.json")


@every(
    "change",
    [
        {"model": "lda"},
        {"model": "no such model"},
        {"model": []},
        {"schema": "[columns.a]\nlower = 1"},
        {"schema": 3},
        {"settings": None},
        {"parameters": None},
    ],
)
def test_a_dossier_of_no_model_is_refused_in_a_sentence(change: Any) -> None:
    with TemporaryDirectory() as place:
        folder = Path(shutil.copytree(GIVEN, Path(place) / "copied"))
        rewritten(folder, lambda record: record.update(change), hashed=True)
        (folder / "report.html").unlink()
        with pytest.raises(DPCoreError, match=r"^[^;]*; [^;]*\.$"):
            dp.open_release(folder / "dossier.json")
