"""Small releases of every model, each made once."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd

import dpcore as dp
from dpcore.declaration import declaration
from dpcore.releases.api import Release
from dpcore.releases.filter import Amount
from dpcore.schema import Column, Schema

PLACES = (
    Column("x", lower=0.0, upper=10.0, unit="cm"),
    Column("y", lower=-1.0, upper=1.0, missing=0.5),
    Column("region", type="category", categories=("north", "south")),
)
ANSWERS = tuple(Column(name, lower=0, upper=1) for name in "pqr")
AMOUNT = Column("amount", "target", lower=0.0, upper=1.0)
KIND = Column("kind", "label", "category", categories=("b", "a"))
BACK = Column("back", "target", "binary", categories=("yes", "no"))
COUNTS = (Column("a", lower=0, upper=10), Column("b", lower=0, upper=20))
DENSITY = "predict predict_proba score_samples score sample"
# model -> columns, options, and what it has
CASES: dict[str, tuple[tuple[Column, ...], dict[str, Any], str]] = {
    "gmm": (PLACES, {"iterations": 2}, DENSITY),
    "kmeans": (PLACES, {"iterations": 2}, "predict transform score sample"),
    "fa": (PLACES, {"n_components": 1}, "score_samples transform score sample"),
    "gmm-release": ((*PLACES, KIND), {"method": "staged"}, "predict predict_proba score sample"),
    "symmetric-mixture": (PLACES, {"iterations": 2, "own": False, "sigma": 0.3}, DENSITY),
    "mixture-regression": ((*PLACES, AMOUNT), {"iterations": 2}, "predict sample"),
    "missing-regression": ((*PLACES, AMOUNT), {"iterations": 2}, "predict score sample"),
    "mean": (PLACES, {}, "transform sample"),
    "logistic": ((*PLACES, BACK), {}, "predict predict_proba score"),
    "sbn": (ANSWERS, {"rate": 1.0, "iterations": 2}, "transform sample"),
    "bernoulli": (ANSWERS, {"iterations": 2}, DENSITY),
    "poisson": (COUNTS, {"iterations": 2}, DENSITY),
    "covariance": (PLACES, {}, "score_samples transform score sample"),
    "ppca": (PLACES, {}, "score_samples transform score sample"),
    "limits": (PLACES, {}, "transform sample"),
}


def people(count: int = 300, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "x": rng.uniform(0, 10, count),
            "y": rng.uniform(-1, 1, count),
            "region": rng.choice(["north", "south"], count),
            "amount": rng.uniform(0, 1, count),
            "back": rng.choice(["yes", "no"], count),
            "kind": rng.choice(["a", "b"], count),
            **{name: rng.integers(0, 2, count) for name in "pqr"},
            "a": rng.poisson(3, count).clip(0, 10),
            "b": rng.poisson(6, count).clip(0, 20),
        }
    )


HOME = TemporaryDirectory()


@cache
def made(model: str) -> Release:
    """One release of a model, made once."""
    columns, options, _ = CASES[model]
    parts = {"n_components": 2} if "components" in declaration(model).settings.options() else {}
    home = Path(HOME.name)
    if not (home / "budget.sqlite").exists():
        dp.BudgetLedger.create(home / "budget.sqlite", Amount(90.0, 1e-5))
    return dp.release(
        model,
        dp.load(people(), schema=Schema(columns)),
        privacy=dp.Privacy(3.0, 1e-5),
        ledger=home / "budget.sqlite",
        out=home / model,
        synthetic_rows=5,
        **{**parts, **options},
    )
