"""Tables with one row, one column, one class or a constant: a result, or one sentence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support import every

import dpcore as dp
from dpcore.datasets.corpora import find_corpus
from dpcore.evaluation.metrics import metrics
from dpcore.evaluation.verdict import found_sentences, verdicts
from dpcore.models.labelled_mixture.published_mathematics import NEIGHBOURS
from dpcore.models.labelled_mixture.worth import worth_of
from dpcore.registry import MODELS
from dpcore.schema import Column, Schema

BUDGET = dp.Privacy(epsilon=1.0, delta=1e-5)
ANSWER, LABEL = ("logistic",), ("gmm-release", "sbn")
TARGET = ("mixture-regression", "missing-regression")
WITHOUT_STEPS = ("mean", "logistic", "gmm-release", "covariance", "ppca")
STEPPED = tuple(model for model in MODELS if model not in WITHOUT_STEPS)

WIDE = "fewer rows than columns"
# rows, columns, whether the first column is constant, classes that occur
SMALL = {
    "one row": (1, 2, False, 1),
    "two rows": (2, 1, False, 2),
    WIDE: (3, 5, False, 2),
    "one column": (30, 1, False, 2),
    "one class": (30, 2, False, 1),
    "a constant": (30, 2, True, 2),
    "plain": (30, 3, False, 2),
}
TABLE_MODELS = [model for model in MODELS if model != "lda"]


def small(model: str, shape: str) -> Any:
    """A table of this shape with what the model reads beside the features."""
    count, width, constant, classes = SMALL[shape]
    rng = np.random.default_rng(0)
    low = 0.0 if model == "poisson" else -3.0
    frame = pd.DataFrame(rng.uniform(low + 1.0, 2.0, (count, width))).add_prefix("x")
    if constant:
        frame["x0"] = 0.5
    columns = [Column(name, lower=low, upper=3) for name in frame]
    kinds = np.array(["a", "b"])[np.arange(count) % classes]
    if model in TARGET:
        frame["t"] = rng.uniform(-2.0, 2.0, count)
        columns.append(Column("t", role="target", lower=-3, upper=3))
    elif model in ANSWER + LABEL:
        role = "target" if model in ANSWER else "label"
        frame["t"] = kinds
        columns.append(Column("t", role=role, type="category", categories=("a", "b")))
    return dp.load(frame, schema=Schema(tuple(columns)))


def steps(model: str) -> dict[str, Any]:
    return {"iterations": 2} if model in STEPPED else {}


def fitted(model: str, table: Any, components: int) -> None:
    for privacy in (None, BUDGET):
        fit = dp.fit(model, table, privacy=privacy, n_components=components, seed=0, **steps(model))
        assert np.isfinite(fit.score(table))
        metrics(fit, table)


def studied(model: str, table: Any, components: int) -> None:
    for adjacency in ("replace_one", "add_remove"):
        setting = dp.Setting(model, components, iterations=2, adjacency=adjacency)
        found = dp.study(table, setting, draws=2, epsilons=(0.5, 5.0))
        said = verdicts(found.grid, found.references, found.curves.single)
        assert len(said) == len(found_sentences(found.grid)) == 2


def swept(model: str, table: Any, components: int) -> None:
    dp.sweep(
        model,
        table,
        epsilons=(1.0,),
        delta=1e-5,
        splits=2,
        n_components=components,
        **steps(model),
    )


@pytest.mark.merge
@every("what", [fitted, studied, swept])
@every("model", TABLE_MODELS)
def test_a_small_table_gives_a_result_or_one_sentence(
    model: str, what: Callable[[str, Any, int], None], exhaustive: bool
) -> None:
    """Warnings are errors here, so a number made of nothing fails as well."""
    refusals = []
    few = [("one row", 3), ("a constant", 1), (WIDE, 1)]
    for shape, components in product(SMALL, (1, 3, 50)) if exhaustive else few:
        try:
            what(model, small(model, shape), components)
        except dp.InputError as refusal:
            refusals.append(str(refusal))
    assert not any("\n" in refusal for refusal in refusals)


@pytest.mark.parametrize(("model", "parts"), [("gmm", "groups"), ("kmeans", "centres")])
def test_a_study_of_more_parts_than_rows_is_refused_as_a_fit_is(model: str, parts: str) -> None:
    table, setting = small(model, "two rows"), dp.Setting(model, 3)
    said = (
        f"number of {parts}: there are more {parts} than rows; ask for fewer {parts} or use data "
        "with more rows"
    )
    with pytest.raises(dp.InputError, match=said):
        dp.study(table, setting)
    with pytest.raises(dp.InputError, match=said):
        dp.fit(model, table, privacy=BUDGET, n_components=3)


@pytest.mark.parametrize(("model", "parts"), [("sbn", "hidden units"), ("lda", "topics")])
def test_too_many_parts_are_called_what_they_are(model: str, parts: str) -> None:
    rows = small(model, "plain") if model == "sbn" else find_corpus("few_bars").make()
    with pytest.raises(dp.InputError, match=f"more {parts} than rows"):
        dp.fit(model, rows, privacy=BUDGET, n_components=2_000)


def test_a_study_of_one_row_says_that_it_has_no_spread() -> None:
    with pytest.raises(dp.InputError, match="a single row has no variance; give more rows"):
        dp.study(small("gmm", "one row"), dp.Setting("gmm", 1))


@pytest.mark.parametrize("model", TABLE_MODELS)
def test_a_sweep_that_holds_no_row_out_is_refused(model: str) -> None:
    with pytest.raises(dp.InputError, match="test_fraction: it holds out no row; give a larger"):
        swept(model, small(model, "two rows"), 1)


def test_a_class_without_rows_has_a_shape_all_the_same() -> None:
    fit = dp.fit("gmm-release", small("gmm-release", "one class"), privacy=None)
    assert np.all(np.linalg.eigvalsh(fit.parameters.covariances) > 0.0)
    assert set(fit.sample(50)["t"]) == {"a"}


@pytest.mark.parametrize("reach", [1e-300, 1e300])
@pytest.mark.parametrize("model", ["gmm", "fa", "gmm-release", "logistic", "symmetric-mixture"])
def test_limits_whose_squares_are_no_numbers_are_refused(model: str, reach: float) -> None:
    table = small(model, "plain")
    columns = (replace(column, lower=-reach, upper=reach) for column in table.schema.columns[:3])
    schema = replace(table.schema, columns=(*columns, *table.schema.columns[3:]))
    with pytest.raises(
        dp.InputError,
        match=r"limits: the squares overflow or vanish.* use a unit with values near 1",
    ):
        dp.fit(model, table, schema=schema, privacy=BUDGET, n_components=1)


@pytest.mark.parametrize("neighbours", NEIGHBOURS)
def test_the_published_release_of_a_constant_column_says_so(neighbours: str) -> None:
    adjacency = "feature" if neighbours == "ball" else "label"
    budget = replace(BUDGET, mode="paper", accountant="linear", adjacency=adjacency)
    with pytest.raises(dp.InputError, match="neither constant nor a linear combination"):
        dp.fit(
            "gmm-release",
            small("gmm-release", "a constant"),
            privacy=budget,
            method="paper",
            neighbours=neighbours,
            seed=0,
        )


def test_a_single_row_teaches_nobody() -> None:
    table, setting = small("gmm-release", "one row"), dp.Setting("gmm-release", 1)
    found = dp.study(table, setting, draws=2, epsilons=(0.5, 5.0))
    told = worth_of(table, setting, found.grid, found.references.converged)
    assert np.isnan(told.exact)
    assert np.isnan(told.taught).all()


def test_an_exact_fit_that_says_no_more_than_the_limits_has_that_verdict() -> None:
    table, setting = small("gmm", "plain"), dp.Setting("gmm", 3, iterations=2)
    found = dp.study(table, setting, draws=2, epsilons=(5.0,))
    for more in (0.0, 1.0):
        bounds = found.references.converged_utility + more
        known = replace(found.references, bounds_utility=bounds, single_utility=bounds)
        (said,) = verdicts(found.grid, known, found.curves.single + 100.0)
        assert said.level == 0
        assert (
            said.text == "By this metric, even the exact fit is no better than the public limits."
        )


@pytest.mark.parametrize("answers", [("yes", "no"), (True, False), (np.True_, np.False_), (1, 0)])
def test_a_switch_is_thrown_by_words_and_by_truth_values(answers: tuple[Any, Any]) -> None:
    fits = [
        dp.fit("gmm", small("gmm", "plain"), privacy=BUDGET, seed=0, even=even)
        for even in (*answers, None)
    ]
    noises = [{entry.event.mechanism for entry in fit.ledger.entries[-3:]} for fit in fits]
    assert [len(noise) > 1 for noise in noises] == [False, True, True]
