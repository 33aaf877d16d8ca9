"""What holds for every proved way of fitting that a model declares, on one small table each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_small_tables import BUDGET, TABLE_MODELS, small

import dpcore as dp
from dpcore.declaration import declarations
from dpcore.fitting.api import fit_grid

FEW = {"fa": {"n_components": 1}}  # a table of three columns has no more factors
# What else than a row replaced, added or removed: where it is public who takes part, or what a row
# holds beside its label.
PROTECTED = {"mean": ("replace_one",), "local": ("replace_one",), "colored": ("label",)}
SPENDS_LESS = ("paper",)  # k-means as printed, with its counts charged


def ways() -> list[Any]:
    """Model, options and the adjacencies of each."""
    found: list[Any] = [("fa", {"ball": "limits"}, "exact", "replace_one")]
    for model, declared in declarations().items():
        for way in map(declared.method, ("recommended", *declared.methods)):
            if model not in TABLE_MODELS or way.mode != "proved":
                continue
            words = dict(way.words) | ({"algorithm": way.algorithm} if way.algorithm else {})
            known = [PROTECTED[key] for key in (model, *words.values()) if key in PROTECTED]
            adjacencies = way.adjacencies or (known or [("replace_one", "add_remove")])[0]
            found += [(model, words, way.accountants[0], who) for who in adjacencies]
    return found


NAMES = ("model", "words", "accountant", "adjacency")


@pytest.mark.parametrize(NAMES, ways())
def test_a_fit_spends_its_budget_and_its_proof_replays(
    model: str, words: dict[str, Any], accountant: str, adjacency: str
) -> None:
    asked = dp.Privacy(1.0, 1e-5, accountant=accountant, adjacency=adjacency)
    options = words | FEW.get(model, {})
    fit = dp.fit(model, small(model, "plain"), privacy=asked, seed=0, **options)
    assert fit.guarantee.epsilon == fit.guarantee.proof.epsilon
    replayed = float(dp.replay(fit.ledger, fit.guarantee.proof).epsilon)
    least = 0.5 if words.get("algorithm") in SPENDS_LESS else 0.999
    assert least <= replayed <= 1.0 + 1e-9


# The shapes of a labelled release are solved for to a tolerance, of all runs together.
@pytest.mark.parametrize(NAMES, [way for way in ways() if way[0] != "gmm-release"])
def test_a_run_does_not_depend_on_the_others_of_its_grid(
    model: str, words: dict[str, Any], accountant: str, adjacency: str
) -> None:
    asked = [
        dp.Privacy(epsilon, 1e-5, accountant=accountant, adjacency=adjacency)
        for epsilon in (0.1, 1.0, 9.0)
    ]
    options = words | FEW.get(model, {})
    table, near = small(model, "plain"), 1e-5 if model == "ppca" else 1e-9
    grid = fit_grid(model, table, privacy=asked, draws=range(2), seed=0, **options).runs.final
    for place, privacy in enumerate(asked):
        alone = fit_grid(model, table, privacy=[privacy], draws=[1], seed=0, **options).runs.final
        for name, found in vars(alone).items():
            if isinstance(found, np.ndarray):
                together = getattr(grid, name)[2 * place + 1]
                np.testing.assert_allclose(found[0], together, rtol=near, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("model", [name for name in TABLE_MODELS if name != "gmm-release"])
def test_adjacencies_without_a_lemma_are_refused(model: str) -> None:
    for adjacency in ("feature",) if model == "logistic" else ("feature", "label"):
        asked = dp.Privacy(1.0, 1e-5, adjacency=adjacency)
        with pytest.raises(dp.InputError) as refusal:
            dp.fit(model, small(model, "plain"), privacy=asked, seed=0, **FEW.get(model, {}))
        assert refusal.value.field == "adjacency"


@pytest.mark.parametrize(
    ("model", "words", "mode"),
    [
        ("fa", {"n_components": 1}, "paper"),
        ("gmm", {}, "paper"),
        ("kmeans", {"algorithm": "paper"}, "paper"),
        ("logistic", {"algorithm": "vips", "rate": 0.1, "iterations": 3}, "paper"),
        ("mean", {}, "paper"),
        ("mean", {"trust": "local", "rows": 10}, "proved"),
        ("sbn", {}, "paper"),
        ("symmetric-mixture", {}, "paper"),
    ],
)
def test_some_ways_protect_the_replacement_of_a_row_alone(
    model: str, words: dict[str, Any], mode: str
) -> None:
    asked = dp.Privacy(1.0, 1e-5, adjacency="add_remove", mode=mode)
    with pytest.raises(dp.InputError) as refusal:
        dp.fit(model, small(model, "plain"), privacy=asked, seed=0, **words)
    assert refusal.value.field == "adjacency"
    assert "replace_one" in refusal.value.remedy


ODD = {
    "gmm": [
        ({"iteratons": 5}, "iteratons"),
        ({"clip": "half"}, "clip"),
        ({"even": "nein"}, "even"),
        ({"even": np.zeros(2)}, "even"),
    ],
    "fa": [({"update": "mine"}, "update")],
    "gmm-release": [
        ({"method": "r1smg"}, "method"),
        ({"method": "best"}, "method"),
        ({"target": "sideways"}, "target"),
    ],
    "logistic": [
        ({"algorithm": "unknown"}, "algorithm"),
        ({"minibatch": 10}, "minibatch"),
        ({"algorithm": "vips", "delay": -1.0}, "delay"),
        ({"algorithm": "vb", "iterations": 0}, "iterations"),
        ({"algorithm": "vips", "minibatch": 10, "rate": 0.1}, "minibatch"),
        ({"algorithm": "vips", "rate": 2.0}, "rate"),
        ({"algorithm": "vips", "rate": "few"}, "rate"),
        ({"algorithm": "vips", "forgetting": 3.0}, "forgetting"),
        ({"algorithm": "objective", "rate": 0.1}, "minibatch"),
        ({"algorithm": "objective", "ridge": 0.0}, "ridge"),
        ({"algorithm": "one_shot", "ridge": 1.0}, "ridge"),
    ],
    "mean": [
        ({"rows": 0.5}, "rows"),
        ({"trust": "nobody"}, "trust"),
        ({"method": "median"}, "method"),
        ({"tau": 0.0}, "tau"),
        ({"trust": "local_onebit", "method": "bound"}, "method"),
    ],
    "missing-regression": [
        ({"algorithm": "adam"}, "algorithm"),
        ({"sigma": 0.0}, "sigma"),
        ({"tau": -1.0}, "tau"),
        ({"threshold": np.nan}, "threshold"),
        ({"failure": 1.5}, "failure"),
        ({"initial": [1.0]}, "initial"),
        ({"initial": [1.0, np.nan, 0.0, 0.0]}, "initial"),
        ({"start_norm": 0.0}, "start_norm"),
        ({"missing_rate": 1.0}, "missing_rate"),
        ({"missing_rate": "few"}, "missing_rate"),
    ],
    "sbn": [
        ({"threshold": "half"}, "threshold"),
        ({"clip": 5.0}, "clip"),
        ({"rate": 2.0}, "rate"),
        ({"rate": 0.1, "minibatch": 10}, "minibatch"),
        ({"forgetting": 3.0}, "forgetting"),
    ],
    "symmetric-mixture": [
        ({"initial": 0.5}, "initial"),
        ({"initial": ["a", "b", "c"]}, "initial"),
        ({"split": 2}, "split"),
    ],
}


@pytest.mark.parametrize(
    ("model", "words", "field"),
    [(model, words, field) for model, cases in ODD.items() for words, field in cases],
)
def test_an_odd_option_is_refused_in_one_sentence(
    model: str, words: dict[str, Any], field: str
) -> None:
    for privacy in (BUDGET, None):
        with pytest.raises(dp.InputError) as refusal:
            dp.fit(model, small(model, "plain"), privacy=privacy, seed=0, **words)
        assert refusal.value.field == field
