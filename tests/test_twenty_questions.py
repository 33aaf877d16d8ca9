"""Whoever asks for what is refused anyway, again and again with another number, learns no number.

A refusal for a public reason comes before any that depends on how many rows there are; else twenty
questions by halves, each free, find that number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from app import compute, releasing
from app.result_store import Data, ResultStore
from app.scenario import UPLOAD, Scenario
from dpcore.datasets.load import load
from dpcore.errors import DPCoreError
from dpcore.evaluation.exposure import success_rate
from dpcore.evaluation.study import Setting, references
from dpcore.evaluation.sweep import sweep
from dpcore.fitting.api import fit_grid
from dpcore.releases.filter import Amount
from dpcore.releases.ledger import BudgetLedger
from dpcore.schema import Column, Schema
from dpcore.wall.table import PrivateTable

ROWS = 7321
SIZES = (40, ROWS)
GUESSES = sorted([*(1 << k for k in range(18)), *(n + k for n in SIZES for k in (-1, 0, 1))])
Columns = tuple[Column, ...]
BUDGET = dp.Privacy(epsilon=1.0, delta=1e-7)
COLUMNS = (Column("a", lower=-1, upper=1), Column("b", lower=-1, upper=1))


def table(columns: Columns = COLUMNS, rows: int = ROWS) -> PrivateTable:
    cells = np.random.default_rng(0).uniform(-1, 1, (rows, len(columns)))
    frame = pd.DataFrame(cells, columns=[column.name for column in columns])
    for column in columns:
        if column.categories:
            frame[column.name] = column.categories[0]
        elif column.type == "binary":
            frame[column.name] = (frame[column.name] > 0.0).astype(float)
    return load(frame, schema=Schema(columns))


def reply(question: Callable[[int], Any], guess: int) -> str:
    try:
        question(guess)
    except DPCoreError as refusal:
        return str(refusal)
    return "answered"


def differ(question: Callable[[PrivateTable, int], Any], columns: Columns = COLUMNS) -> list[int]:
    """The numbers at which a table of few rows and one of many are not answered alike."""
    few, many = (table(columns, rows) for rows in SIZES)
    replies = {
        guess: [
            reply(lambda guess, rows=rows: question(rows, guess), guess) for rows in (few, many)
        ]
        for guess in GUESSES
    }
    answered = [guess for guess, each in replies.items() if "answered" in each]
    assert answered == [], "a question that is answered is paid for"
    return [guess for guess, (one, other) in replies.items() if one != other]


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    path = tmp_path / "budget.sqlite"
    BudgetLedger.create(path, Amount(1.0, 0.9), adjacency="replace_one")
    return path


@pytest.fixture(autouse=True)
def locked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPCORE_LOCK_TRUTH", "1")


RELEASES: dict[str, tuple[str, dict[str, Any]]] = {
    "a folder that is not empty": ("gmm", {"out": "."}),
    "no such option": ("gmm", {"nonsense": 1}),
    "too many synthetic rows": ("gmm", {"synthetic_rows": -1}),
    "no target": ("missing-regression", {}),
    "no yes or no": ("logistic", {}),
    "a start of another length": ("symmetric-mixture", {"initial": (0.1,) * 5}),
    "another adjacency": ("gmm", {"privacy": {"adjacency": "label"}}),
    "more than is left": ("gmm", {"privacy": {"epsilon": 1000.0}}),
    "more factors than columns": ("fa", {"n_components": 2}),
}


@pytest.mark.parametrize("about", RELEASES)
def test_a_refused_release_does_not_tell_the_rows_by_its_delta(
    about: str, ledger: Path, tmp_path: Path
) -> None:
    model, words = RELEASES[about]
    words = dict(words)
    privacy = replace(BUDGET, **words.pop("privacy", {}))
    out = tmp_path / words.pop("out", "new")
    (tmp_path / "there").touch()

    def ask(rows: PrivateTable, guess: int) -> None:
        asked = replace(privacy, delta=0.9 / guess)
        dp.release(model, rows, privacy=asked, ledger=ledger, out=out, **words)

    assert differ(ask) == []
    assert not BudgetLedger(ledger).state().releases


def test_a_refused_release_does_not_tell_the_rows_by_its_minibatch(
    ledger: Path, tmp_path: Path
) -> None:
    columns = (*COLUMNS, Column("y", type="binary", role="target"))

    def ask(rows: PrivateTable, guess: int) -> None:
        words = {"algorithm": "vips", "minibatch": guess, "iterations": 2}
        dp.release(
            "logistic", rows, privacy=BUDGET, ledger=ledger, out=tmp_path, synthetic_rows=0, **words
        )

    assert differ(ask, columns) == []


@pytest.mark.parametrize("model", ["gmm", "logistic", "missing-regression"])
@pytest.mark.parametrize("number", ["delta", "components"])
def test_the_release_page_does_not_tell_the_rows(model: str, number: str, ledger: Path) -> None:
    """The page asks for more than is left, or for a model that the limits do not suit."""
    asked = Scenario(model=model, data=UPLOAD, epsilon=1000.0 if model == "gmm" else 0.5)

    def ask(rows: PrivateTable, guess: int) -> None:
        choice: dict[str, Any] = {number: 0.9 / guess if number == "delta" else guess}
        releasing.spend(replace(asked, **choice), rows, "stand-in", ledger)

    assert differ(ask) == []


FITS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "initial": ("symmetric-mixture", "iterations", {"split": True, "initial": (0.1,) * 5}),
    "adjacency": ("symmetric-mixture", "iterations", {"split": True}),
    "gmm": ("gmm", "n_components", {"iterations": 1}),
    "kmeans": ("kmeans", "n_components", {"iterations": 1}),
    "fa": ("fa", "n_components", {}),
    "target": ("missing-regression", "iterations", {"split": True}),
}


@pytest.mark.parametrize("about", FITS)
def test_a_refused_fit_does_not_tell_the_rows(about: str) -> None:
    model, number, words = FITS[about]
    adjacency = "replace_one" if about in ("initial", "target") else "label"
    request = replace(BUDGET, adjacency=adjacency)
    budgets = {"accountant": "exact", "adjacency": adjacency}

    def ask(rows: PrivateTable, guess: int) -> None:
        guess = min(guess, 2 * ROWS)  # what is tried is laid out in memory
        fit_grid(model, rows, privacy=(replace(request, **budgets),), **{number: guess}, **words)

    assert differ(ask) == []


def test_what_is_locked_is_locked_first() -> None:
    """No number decides what a locked server answers."""
    setting = Setting("gmm", components=3)
    request = replace(BUDGET, accountant="exact")
    questions: dict[str, Callable[[PrivateTable, int], Any]] = {
        "exact": lambda rows, n: dp.fit("gmm", rows, privacy=None, n_components=n, iterations=1),
        "seeded": lambda rows, n: dp.fit(
            "gmm", rows, privacy=request, n_components=n, iterations=1, seed=0
        ),
        "parts": lambda rows, n: dp.fit(
            "symmetric-mixture", rows, privacy=request, split=True, iterations=n, seed=0
        ),
        "references": lambda rows, n: references(rows, replace(setting, components=n), None),
        "attack": lambda rows, n: success_rate(
            rows, replace(setting, components=n), 1.0, 4, seed=0
        ),
        "sweep": lambda rows, n: sweep(
            "gmm", rows, epsilons=[1.0], delta=1e-5, n_components=n, splits=1, iterations=1
        ),
        "neighbour": lambda rows, n: rows.neighbour(n, "add_remove"),
        "page": lambda rows, n: compute.study(
            Scenario(model="gmm", data=UPLOAD, components=n),
            Data("key", "file", rows, rows.schema, "upload", None, b""),
            ResultStore(),
        ),
    }
    for name, question in questions.items():
        assert "locked" in reply(lambda guess, ask=question: ask(table(), guess), 2), name
        assert differ(question) == [], name


PRIVATE: dict[str, dict[str, Any]] = {
    "gmm": {"n_components": 50, "iterations": 2},
    "kmeans": {"n_components": 50, "iterations": 2},
    "fa": {"n_components": 1},
    "symmetric-mixture": {"split": True, "iterations": 50},
    "gmm-release": {},
}


@pytest.mark.parametrize("rows", [1, 3, ROWS])
@pytest.mark.parametrize("model", PRIVATE)
def test_a_private_number_of_rows_decides_no_refusal(model: str, rows: int) -> None:
    """As many parts, groups and delta as asked, whatever is there."""
    kind = Column("kind", role="label", type="category", categories=("x", "y"))
    columns = (*COLUMNS, kind) if model == "gmm-release" else COLUMNS
    request = dp.Privacy(epsilon=1.0, delta=0.4, adjacency="add_remove")
    fit = dp.fit(model, table(columns, rows), privacy=request, **PRIVATE[model])
    assert fit.guarantee.epsilon is not None
