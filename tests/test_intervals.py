"""Intervals after a release: from released numbers and the known noise alone."""

from __future__ import annotations

import builtins
import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from released import made
from studio.populations import populations
from support import ROOT, every
from wording import NO_EVIDENCE

import dpcore as dp
from dpcore.accounting import mu_of
from dpcore.datasets import load
from dpcore.declaration import declaration, declarations
from dpcore.fitting.intervals import (
    EARLIER,
    QUICK,
    UNKNOWN,
    Intervals,
    _factor,
    _settings,
    _Simulated,
    sentence_of,
)
from dpcore.fitting.recipe import recipe
from dpcore.fitting.result import Fit
from dpcore.models.exponential_family.private import WHOLE_MEAN
from dpcore.models.factor_analysis.parameters import BY_CHANCE, HIDDEN
from dpcore.models.shared.all_rows import MULTIPLIERS
from dpcore.privacy import Ledger
from dpcore.registry import MODELS
from dpcore.schema import Column
from dpcore.wall import custodian
from dpcore.wall.table import PrivateTable

TABLES = {
    "gmm": "three_groups",
    "kmeans": "three_groups",
    "mean": "three_groups",
    "gmm-release": "five_parties",
    "symmetric-mixture": "two_clouds",
    "mixture-regression": "two_lines",
    "missing-regression": "missing_answers",
    "bernoulli": "households",
    "poisson": "a_year_of_care",
    "covariance": "iris",
}
AS_PUBLISHED = dp.Privacy(epsilon=1, delta=1e-5, mode="paper", accountant="ma")
NO_BETTER = "Given the noise, these {} explain no more than one {} does."
FAST = ("mean", "symmetric-mixture", "bernoulli", "covariance")
LANES = {"kmeans": pytest.mark.full} | dict.fromkeys(FAST, ())
ONE_OF_EACH = [pytest.param(model, marks=LANES.get(model, pytest.mark.merge)) for model in TABLES]


@cache
def fitted(model: str, epsilon: float) -> Fit:
    words: dict[str, Any] = {"sigma": 2.0} if model.endswith(("c-mixture", "regression")) else {}
    budget = dp.Privacy(epsilon=epsilon, delta=1e-6)
    table = load.load(f"bundled:{TABLES[model]}")
    return dp.fit(model, table, privacy=budget, seed=1, **words)


@every("model", ["mean", "bernoulli", "covariance"])
def test_ends_are_numbers_that_a_parameter_can_be(model: str) -> None:
    """Places lie within the limits of their columns, and no variance is below 0."""
    fit = fitted(model, 0.1)
    found, columns = fit.intervals().same_rows, fit.schema.numeric_columns()
    places = found[declaration(model).load(declaration(model).uncertainty).places]
    assert np.all(places[..., 0] >= [column.lower for column in columns])
    assert np.all(places[..., 1] <= [column.upper for column in columns])
    for name in found.keys() & {"covariances", "covariance"}:
        low = found[name][..., 0]
        assert np.all(np.diagonal(low, axis1=-2, axis2=-1) >= 0.0)
        assert np.any(low < 0.0)


@every("model", ["mean", "gmm"])
def test_a_place_that_noise_moved_out_of_the_limits_is_as_uncertain_as_one_at_them(
    model: str,
) -> None:
    """Its interval had shrunk to the limit itself, where the noise is smaller than the move."""
    fit = fitted(model, 200.0)
    name = declaration(model).load(declaration(model).uncertainty).places
    lower = np.array([column.lower for column in fit.schema.numeric_columns()])
    moved = replace(
        fit,
        parameters=replace(
            fit.parameters, **{name: 0.0 * getattr(fit.parameters, name) + lower - 1.0}
        ),
    )
    simulated = _Simulated(moved, None, None)
    reach = {
        part: 0.5 + np.zeros((3, *np.shape(value))) for part, value in simulated.released.items()
    }
    ends = simulated._around(0.9, reach)[name]
    np.testing.assert_array_equal(ends[..., 0], np.broadcast_to(lower, ends.shape[:-1]))
    assert np.all(ends[..., 1] > lower)


def test_classes_of_public_features_can_be_told_apart_as_others_can() -> None:
    """The method leaves the choice of its releases to the fit, which made a single one."""
    labels = dp.Privacy(epsilon=1.0, delta=1e-5, adjacency="label")
    fit = dp.fit("gmm-release", load.load("bundled:iris"), privacy=labels, seed=1)
    assert len(fit.ledger) == 1
    intervals = fit.intervals()
    assert intervals.sentence == fit.told_apart, "of a fit in one step both are from one simulation"
    assert str(fit.told_apart).startswith("At this noise level these classes cannot be told apart")
    assert set(intervals.same_rows) == {"weights", "means", "covariances"}


@every("table, epsilon", [("wine", 4.0), ("iris", 1.0)])
def test_the_sentence_of_a_covariance_is_that_of_its_intervals(table: str, epsilon: float) -> None:
    """A short simulation told two components of the wines from the others, and a long one the first
    alone: a report said other than what its receiver computed."""
    privacy = dp.Privacy(epsilon=epsilon, delta=1e-5)
    fit = dp.fit("covariance", load.load(f"bundled:{table}"), privacy=privacy, seed=1)
    assert fit.told_apart == fit.intervals().sentence


@every("model", ["gmm-release", "mixture-regression"])
def test_a_column_of_the_table_that_the_model_does_not_read_changes_nothing(model: str) -> None:
    """Beside the label that one model reads, a table may have the target of another."""
    table = load.load(f"bundled:{TABLES[model]}")
    frame = load.read_frame(f"bundled:{TABLES[model]}").assign(spare=0.0)
    role = "target" if table.schema.target is None else "label"
    spare = {
        "target": Column("spare", role, lower=0.0, upper=1.0),
        "label": Column("spare", role, "category", categories=("0",)),
    }[role]
    both = dp.load(frame, schema=replace(table.schema, columns=(*table.schema.columns, spare)))
    words: dict[str, Any] = {"sigma": 2.0} if model == "mixture-regression" else {}
    privacy = dp.Privacy(epsilon=2.0, delta=1e-6)
    fit = dp.fit(model, both, privacy=privacy, seed=1, **words)
    assert fit.told_apart == fitted(model, 2.0).told_apart
    assert fit.intervals().as_dict() == intervals(model, 2.0).as_dict()


@cache
def intervals(model: str, epsilon: float) -> Intervals:
    return fitted(model, epsilon).intervals()


def width(found: dict[str, np.ndarray]) -> float:
    return max(float(np.nanmax(np.diff(each))) for each in found.values())


def test_every_model_gives_intervals_or_says_why_not() -> None:
    given = {name for name, model in declarations().items() if model.uncertainty}
    assert given == set(TABLES)
    for name, model in declarations().items():
        assert name in given or not model.no_intervals.startswith("no intervals for this model")


@pytest.mark.parametrize("model", ONE_OF_EACH)
def test_intervals_shrink_to_nothing_as_the_noise_goes(model: str) -> None:
    little, less, none = (intervals(model, epsilon) for epsilon in (2.0, 200.0, 1e7))
    assert width(little.same_rows) > width(less.same_rows) > 20.0 * width(none.same_rows)
    if none.population:
        assert width(none.population) > 10.0 * width(
            none.same_rows
        )  # rows still are drawn by chance


@pytest.mark.parametrize("model", ONE_OF_EACH)
def test_each_released_number_lies_in_its_own_interval(model: str) -> None:
    fit, found = fitted(model, 2.0), intervals(model, 2.0)
    for name, ends in found.same_rows.items():
        value = np.asarray(getattr(fit.parameters, name))
        given = np.isfinite(ends[..., 0])
        inside = (ends[..., 0] - 1e-9 <= value) & (value <= ends[..., 1] + 1e-9)
        assert ends.shape == (*value.shape, 2)
        assert given.any()
        assert inside[given].all()
    assert json.loads(json.dumps(found.as_dict()))["sentence"] == found.sentence


@every("model", ["symmetric-mixture", "mixture-regression", "missing-regression"])
def test_two_signs_are_one_model_unless_rows_tell_them_apart(model: str) -> None:
    uncertainty = declaration(model).load(declaration(model).uncertainty)
    beta = np.array([3.0, -2.0])
    found = uncertainty.match({"beta": -beta}, {"beta": beta}, np.ones(2))["beta"]
    assert np.array_equal(found, -beta if model == "missing-regression" else beta)


def test_no_intervals_for_a_population_where_it_cannot_be_simulated() -> None:
    """The share of missing cells, the spread about centres and of columns were not released; of
    groups of Gaussians and Bernoullis these intervals held too rarely."""
    without = {"missing-regression", "kmeans", "mean", "gmm", "bernoulli"}
    for name in TABLES:
        uncertainty = declaration(name).load(declaration(name).uncertainty)
        assert uncertainty.population == (name not in without)


def test_a_higher_level_reaches_farther_and_a_seed_repeats() -> None:
    fit = fitted("mean", 2.0)
    assert width(fit.intervals(0.99).same_rows) > width(fit.intervals(0.5).same_rows)
    assert fit.intervals(seed=3).as_dict() == fit.intervals(seed=3).as_dict()


def test_intervals_of_chances_do_not_depend_on_the_columns_limits() -> None:
    """Chances of a yes are shares of the way to it, wherever a no and a yes lie."""
    rng, found = np.random.default_rng(0), []
    rows = rng.random((600, 4)) < np.where(rng.random((600, 1)) < 0.5, 0.8, 0.2)
    for low, high in ((0.0, 1.0), (7305.0, 21914.0)):
        frame = pd.DataFrame(low + (high - low) * rows, columns=list("abcd"))
        table = dp.load(frame, schema=dp.Schema.from_bounds(dict.fromkeys("abcd", (low, high))))
        fit = dp.fit("bernoulli", table, privacy=dp.Privacy(2.0, 1e-5), n_components=2, seed=0)
        ends = fit.intervals().same_rows["chances"]
        assert np.all(
            (ends[..., 0] <= fit.parameters.chances) & (fit.parameters.chances <= ends[..., 1])
        )
        found.append((ends, fit.told_apart))
    np.testing.assert_allclose(found[0][0], found[1][0], atol=1e-6)
    assert found[0][1] == found[1][1]


def test_one_centre_is_not_compared_with_one() -> None:
    """Its rows are of one cloud as they are, and were simulated twice."""
    words: dict[str, Any] = {"privacy": dp.Privacy(epsilon=1.0, delta=1e-5), "seed": 1}
    fit = dp.fit("kmeans", load.load("bundled:three_groups"), n_components=1, **words)
    assert not _Simulated(fit, None, None, *QUICK)._as_of_one


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 2.0])
@pytest.mark.parametrize("model", ["gmm", "gmm-release"])
def test_the_noise_of_few_rows_is_read_off_the_ledger_whatever_the_order(
    model: str, epsilon: float
) -> None:
    """Where rows are few, early releases and later steps exchange their noise, but not the last: it
    says how much noise there is, and a request may state it."""
    table = load.load("bundled:iris")
    fit = dp.fit(model, table, privacy=dp.Privacy(epsilon=epsilon, delta=1e-5), seed=0)
    how = recipe(model)
    factor = _factor(how, _settings(how, fit.settings), fit)
    assert factor == pytest.approx(1.0 / float(mu_of(epsilon, 1e-5)), rel=1e-3)


def test_intervals_of_centres_do_not_depend_on_the_columns_units() -> None:
    """Drawn rows spread about their centres by the half ranges in which the fit counts distances:
    incomes do not spread ages over all their limits."""
    spots, scale = np.array([[-0.5, -0.5], [0.5, 0.4], [-0.3, 0.6]]), np.array([55.0, 1e5])
    rows = np.random.default_rng(0).normal(np.repeat(spots, 200, axis=0), 0.08)
    ends = []
    for unit in (np.ones(2), scale):
        limits = dict(zip("ab", [(-u, u) for u in unit], strict=True))
        schema = dp.Schema.from_bounds(limits)
        table = load.load(pd.DataFrame(unit * rows, columns=["a", "b"]), schema=schema)
        fit = dp.fit("kmeans", table, privacy=dp.Privacy(epsilon=2, delta=1e-5), seed=0)
        ends.append(fit.intervals().same_rows["centers"] / unit[:, None])
    np.testing.assert_allclose(ends[0], ends[1], rtol=1e-6, atol=1e-9)
    assert np.max(ends[1][..., 1] - ends[1][..., 0]) < 0.5


@pytest.mark.merge
def test_it_covers_what_the_fit_finds_without_noise() -> None:
    """Of many draws, at least the share that results-intervals.md states."""
    table = load.load("bundled:five_parties")
    exact = dp.fit("gmm-release", table, privacy=None, clip=1.0).parameters.means
    held = []
    for seed in range(8):
        fit = dp.fit("gmm-release", table, privacy=dp.Privacy(epsilon=4, delta=1e-6), seed=seed)
        ends = fit.intervals().same_rows["means"]
        held.append((ends[..., 0] <= exact) & (exact <= ends[..., 1]))
    assert 0.8 <= np.mean(held) <= 0.99


@every(
    "model, epsilon, sentence",
    [
        ("gmm", 4.0, "At this noise level all three groups can be told apart."),
        (
            "gmm",
            0.02,
            "At this noise level no two of the three groups can be told apart: they are no "
            f"evidence of more than one. {NO_BETTER.format('groups', 'group')}",
        ),
        (
            "kmeans",
            0.005,
            "At this noise level no two of the three centres can be told apart: they are no "
            f"evidence of more than one. {NO_BETTER.format('centres', 'centre')}",
        ),
        (
            "gmm-release",
            0.02,
            "At this noise level none of the 5 classes can be told from noise.",
        ),
    ],
)
def test_a_sentence_says_what_can_be_told_apart(model: str, epsilon: float, sentence: str) -> None:
    assert fitted(model, epsilon).told_apart == sentence


def test_parts_that_lie_apart_and_explain_nothing_do_not_contradict_themselves() -> None:
    simulated = _Simulated(fitted("gmm", 4.0), None, None, *QUICK)
    simulated.uncertainty = replace(simulated.uncertainty, explained=lambda *seen: 0.0)
    assert simulated.sentence() == (
        "At this noise level all three groups can be told apart. But given the noise, "
        "these groups explain no more than one group does."
    )


@every("epsilon", [0.005, 2.0])
@every("model, part", [("kmeans", "centre"), ("gmm", "group")])
def test_parts_that_are_worse_than_one_say_so(model: str, part: str, epsilon: float) -> None:
    """Released numbers and the noise alone tell what the rows then confirm."""
    fit, table = fitted(model, epsilon), load.load(f"bundled:{TABLES[model]}")
    one = dp.fit(model, table, privacy=None, n_components=1).score(table)
    worse = fit.score(table) <= one
    said = str(fit.told_apart).endswith(NO_BETTER.format(f"{part}s", part))
    assert worse == (epsilon < 1.0) == said


@every("model, epsilon", [("gmm", 0.3), ("kmeans", 0.03)])
def test_groups_that_noise_made_of_one_are_no_evidence(model: str, epsilon: float) -> None:
    rows = pd.DataFrame(np.random.default_rng(0).normal(50, 8, (2000, 2)), columns=["a", "b"])
    table = dp.load(rows, schema=dp.Schema.from_bounds({"a": (0, 100), "b": (0, 100)}))
    fit = dp.fit(model, table, privacy=dp.Privacy(epsilon=epsilon, delta=1e-6), seed=3)
    assert NO_EVIDENCE in str(fit.told_apart)


def test_a_group_whose_share_noise_made_is_no_evidence() -> None:
    """Few rows, which noise has put into a second group far from all others."""
    rng, schema = np.random.default_rng(0), dp.Schema.from_bounds(dict.fromkeys("abc", (0, 60)))
    for seed in range(3):
        rows = pd.DataFrame(rng.poisson(8, (1500, 3)).astype(float), columns=list("abc"))
        privacy = dp.Privacy(epsilon=0.1, delta=1e-5)
        table = dp.load(rows, schema=schema)
        fit = dp.fit("poisson", table, privacy=privacy, n_components=2, seed=seed)
        assert NO_EVIDENCE in str(fit.told_apart)


def test_nothing_reads_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """An opened release whose data are gone: no file is read, and rows are sealed for all alone."""
    release = dp.open_release(made("gmm").folder)
    sealed, seal = [], PrivateTable.seal

    def kept(frame: Any, schema: Any, *, open_to_all: bool = False) -> PrivateTable:
        sealed.append(open_to_all)
        return seal(frame, schema, open_to_all=open_to_all)

    def never(*_: Any, **__: Any) -> Any:
        raise AssertionError("a table was asked for")

    release.intervals()  # whatever is imported then is there
    monkeypatch.setattr(PrivateTable, "seal", kept)
    monkeypatch.setattr(builtins, "open", never)
    monkeypatch.setattr(pd, "read_csv", never)
    monkeypatch.setattr(load, "load", never)
    monkeypatch.setattr(custodian, "custodian_rows", never)
    found = release.intervals()
    assert sealed
    assert all(sealed)
    assert np.all(np.isfinite(found.same_rows["means"]))
    assert release.told_apart == release.fit.told_apart is not None


def test_a_dossier_and_its_report_hold_the_sentence() -> None:
    folder = made("gmm").folder
    record = json.loads((folder / "dossier.json").read_text(encoding="utf-8"))
    assert record["clip"] == 1.0
    assert record["told_apart"].startswith("At this noise level ")
    assert record["told_apart"] in (folder / "report.html").read_text(encoding="utf-8")


def test_an_older_dossier_says_what_it_lacks() -> None:
    fit = fitted("mean", 2.0)
    with pytest.raises(dp.InputError, match="the number of rows is not stated; give rows="):
        replace(fit, rows=None).intervals()
    with pytest.raises(dp.InputError, match="how rows were clipped; give clip="):
        replace(fit, clip=None).intervals()
    assert replace(fit, clip=None).told_apart == UNKNOWN.format(
        "the dossier does not state how rows were clipped"
    )
    given = replace(fit, rows=None, clip=None).intervals(rows=5_000, clip=1.0)
    assert given.as_dict() == intervals("mean", 2.0).as_dict()


def without_number(model: str, table: str, **words: Any) -> Any:
    """A fit where the number of rows is not public."""
    budget = dp.Privacy(2.0, 1e-5, adjacency="add_remove")
    return dp.fit(model, load.load(f"bundled:{table}"), privacy=budget, seed=1, **words)


@every(
    "fit, rows, today, earlier",
    [
        # The fit of today would clip at the limits, and simulate too little noise.
        (partial(fitted, "mean", 2.0), None, "clipped numbers", "truncated numbers"),
        # The number of rows beside the sum once had a smaller weight.
        (
            partial(without_number, "mean", "gains_and_losses", tau=8e6, rows=2_000),
            2_000,
            "sum of clipped numbers, and their number",
            "sum of clipped numbers",
        ),
        # The divisor could be too small.
        (
            partial(without_number, "symmetric-mixture", "two_clouds", sigma=2.0),
            400,
            " and their number",
            "",
        ),
        # Steps were not halved.
        (partial(fitted, "missing-regression", 2.0), None, ": clipped gradients", ": gradients"),
    ],
)
def test_what_was_released_by_an_earlier_rule_has_no_intervals(
    fit: Callable[[], Any], rows: int | None, today: str, earlier: str
) -> None:
    release = fit()
    assert all(np.all(np.isfinite(v)) for v in release.intervals(rows=rows).same_rows.values())
    older = [replace(entry, what=entry.what.replace(today, earlier)) for entry in release.ledger]
    assert older != list(release.ledger)
    with pytest.raises(dp.InputError, match=EARLIER):
        replace(release, ledger=Ledger(tuple(older))).intervals(rows=rows)


def test_centres_whose_groups_were_clipped_to_larger_balls_keep_their_intervals() -> None:
    """They are those of the rule by which the release was made."""
    fit = fitted("kmeans", 0.3)
    older = [replace(e, what=e.what.replace("for the start", "of cells")) for e in fit.ledger]
    assert older[3] != fit.ledger.entries[3]
    then = replace(fit, ledger=Ledger(tuple(older))).intervals().same_rows["centers"]
    now = fit.intervals().same_rows["centers"]
    assert then.shape == now.shape
    assert np.any(np.diff(then) > np.diff(now))


def test_a_covariance_whose_columns_were_not_scaled_keeps_its_intervals() -> None:
    fit = fitted("covariance", 2.0)
    entries = fit.ledger.entries
    assert len(entries) == 6
    noise = entries[0].noise_scale / entries[0].sensitivity * MULTIPLIERS[-1] / MULTIPLIERS[0]
    last = replace(entries[-1], noise_scale=noise * entries[-1].sensitivity)
    older = replace(fit, ledger=Ledger((*entries[:3], last))).intervals()
    assert older.same_rows["covariance"].shape == (*fit.parameters.covariance.shape, 2)


def test_a_mixture_that_shared_out_its_noise_otherwise_has_no_intervals() -> None:
    """As few rows once did, whose releases had their noise in the order of the plan."""
    privacy = dp.Privacy(epsilon=1.0, delta=1e-5)
    fit = dp.fit("gmm", load.load("bundled:wine"), privacy=privacy, seed=0)
    fit.intervals()
    entries = sorted(fit.ledger.entries[:-1], key=lambda entry: entry.noise_scale)
    with pytest.raises(dp.InputError, match=EARLIER):
        replace(fit, ledger=Ledger((*entries, fit.ledger.entries[-1]))).intervals()


def test_poissons_whose_rows_were_looked_at_within_the_limits_have_no_intervals() -> None:
    fit = fitted("poisson", 2.0)
    fit.intervals()
    older = Ledger((replace(fit.ledger.entries[1], what=WHOLE_MEAN), *fit.ledger.entries))
    with pytest.raises(dp.InputError, match=EARLIER):
        replace(fit, ledger=older).intervals()


@pytest.mark.parametrize("number", [1, 2])
def test_releases_of_earlier_formats_say_so(number: int) -> None:
    release = dp.open_release(ROOT / f"tests/data/release_{number}/first")
    assert release.told_apart is None
    with pytest.raises(dp.InputError, match=r"^intervals: "):
        release.intervals()


@every(
    "words, reason",
    [
        ({"n_components": 1}, "shrunk towards the middle"),
        ({"privacy": None}, "the fit had no noise"),
        (
            {"privacy": AS_PUBLISHED},
            "published",
        ),
    ],
)
def test_a_fit_without_intervals_says_why(words: dict[str, Any], reason: str) -> None:
    asked = {"privacy": dp.Privacy(epsilon=1, delta=1e-5), **words}
    fit = dp.fit("gmm", load.load("bundled:three_groups"), seed=1, iterations=2, **asked)
    with pytest.raises(dp.InputError, match=reason):
        fit.intervals()
    noisy = "shrunk" in reason
    assert (fit.told_apart is not None) == noisy
    if noisy:
        assert str(fit.told_apart).startswith(UNKNOWN.split("{")[0])


@every("model, epsilon", [(m, e) for m in ("fa", "ppca", "logistic") for e in (0.01, 100.0)])
def test_models_without_intervals_say_what_noise_hides(model: str, epsilon: float) -> None:
    """Factors within the noise are 0; coefficients within it are no evidence."""
    table = load.load("bundled:who_comes_back" if model == "logistic" else "bundled:wine")
    fit = dp.fit(model, table, privacy=dp.Privacy(epsilon, 1e-5), seed=0)
    said = str(fit.told_apart)
    if model == "logistic":
        assert ("no evidence" in said) == (epsilon < 1.0)
        assert ("larger than this noise" in said) == (epsilon > 1.0)
    else:
        seen = int(np.any(fit.parameters.loadings != 0.0, axis=0).sum())
        assert (seen == 0) == ("all loadings are set to 0" in said) == (epsilon < 1.0)


def test_unique_variances_that_are_as_small_as_noise_lets_be_seen_are_named() -> None:
    table = load.load("bundled:wine")
    budgets = [dp.Privacy(epsilon, 1e-5) for epsilon in (4.0, 1e5)]
    hidden, shown = (
        str(dp.fit("fa", table, privacy=budget, n_components=2, seed=1).told_apart)
        for budget in budgets
    )
    assert hidden.endswith(HIDDEN.format("all columns"))
    assert shown == f"At this noise level both factors stand out from the noise. {BY_CHANCE}"


def test_coefficients_from_columns_that_say_nothing_are_no_evidence() -> None:
    rng, said = np.random.default_rng(4), []
    column = dp.Column("y", role="target", type="binary")
    schema = dp.Schema((*dp.Schema.from_bounds(dict.fromkeys("ab", (-4, 4))).columns, column))
    for seed in range(8):
        rows = pd.DataFrame(rng.normal(0, 1, (1000, 2)), columns=["a", "b"])
        rows["y"] = (rng.random(1000) < 0.3).astype(float)
        table = dp.load(rows, schema=schema)
        fit = dp.fit("logistic", table, privacy=dp.Privacy(1.0, 1e-5), seed=seed)
        said.append("no evidence" in str(fit.told_apart))
    assert sum(said) >= 7


@every(
    "model",
    [m for m in MODELS if not declaration(m).uncertainty and not declaration(m).noise_sentence],
)
def test_what_is_not_known_is_said_with_its_reason(model: str) -> None:
    fit: Any = SimpleNamespace(
        model=model, settings={}, ledger=(SimpleNamespace(noise="gaussian"),)
    )
    assert sentence_of(fit) == UNKNOWN.format(declaration(model).no_intervals)


@every("model", sorted(TABLES))
def test_populations_are_those_that_their_tables_are_drawn_from(model: str) -> None:
    """Columns of a table have the mean that the stated parameters give them."""
    if model == "kmeans":  # centres of a population take a fit of many rows
        return
    found = next(populations(model))
    frame, schema = found.draw(np.random.default_rng(5))
    names = [column.name for column in schema.numeric_columns()]
    truth, cells = found.truth, frame[names].to_numpy(dtype=float)
    if hasattr(truth, "beta"):
        expected = np.zeros(len(names))
    elif hasattr(truth, "mean"):
        expected = truth.mean
    else:
        places = next(getattr(truth, a) for a in ("means", "chances", "rates") if hasattr(truth, a))
        expected = truth.weights @ places
    error = np.nanstd(cells, axis=0) / np.sqrt(np.sum(~np.isnan(cells), axis=0))
    assert np.all(np.abs(np.nanmean(cells, axis=0) - expected) < 4.5 * error)


def test_an_estimator_has_the_sentence() -> None:
    from dpcore.sklearn import DPKMeans

    rows = np.random.default_rng(0).uniform(0, 1, (300, 2))
    bounds = [(0.0, 1.0), (0.0, 1.0)]
    model = DPKMeans(2, epsilon=0.1, delta=1e-6, bounds=bounds, random_state=0).fit(rows)
    assert model.told_apart_ == model.fit_.told_apart is not None
