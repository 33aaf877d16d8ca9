"""Every recipe from end to end: no release moves by more than its ledger entry says it can.

Two neighbouring tables are fitted with the same coins. What was released of the first is put in the
place of what is released of the second, so every later release is asked for the same; the exact
sums behind them are compared in the units of the entry's sensitivity.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support import every

import dpcore as dp
from dpcore.arrays import Array
from dpcore.fitting.api import fit_grid
from dpcore.wall.data import MaskedRows
from dpcore.wall.session import Session, _blocks
from dpcore.wall.table import PrivateTable

COLUMNS = (
    dp.Column("x", lower=0.0, upper=10.0),
    dp.Column("y", lower=-1.0, upper=1.0),
    dp.Column("place", type="category", categories=("u", "v", "w")),
    dp.Column("kind", role="label", type="category", categories=("a", "b")),
)
NUMBERED = dp.Schema((*COLUMNS, dp.Column("amount", role="target", lower=0.0, upper=1.0)))
YES = dp.Schema((*COLUMNS, dp.Column("amount", role="target", type="binary")))
PIXELS = dp.Schema((*COLUMNS[:2], COLUMNS[3]))
COUNTED = dp.Schema((COLUMNS[0], COLUMNS[2], COLUMNS[3]))
ROWS_MOVE, ALL = ("replace_one", "add_remove"), ("replace_one", "add_remove", "label", "feature")
STEPS = {"iterations": 3, "rate": 1.0}
DRAWN = {"iterations": 3, "minibatch": 10}

# model, its own words, adjacencies
RECIPES: list[tuple[str, dict[str, Any], tuple[str, ...]]] = [
    ("gmm", {"n_components": 2, "iterations": 3}, ROWS_MOVE),
    ("gmm", {"n_components": 2, "covariance": "diag", "iterations": 2}, ROWS_MOVE),
    ("gmm", {"n_components": 2, "covariance": "spherical", "iterations": 2}, ROWS_MOVE),
    ("gmm", {"n_components": 2, "combination": "LLG", "iterations": 2}, ROWS_MOVE),
    ("kmeans", {"n_components": 3}, ROWS_MOVE),
    ("kmeans", {"n_components": 2, "algorithm": "dplloyd"}, ROWS_MOVE),
    ("fa", {"n_components": 1}, ROWS_MOVE),
    ("covariance", {}, ROWS_MOVE),
    ("ppca", {}, ROWS_MOVE),
    ("limits", {}, ROWS_MOVE),
    ("symmetric-mixture", {"algorithm": "clipped"}, ROWS_MOVE),
    ("mixture-regression", {"algorithm": "robust"}, ROWS_MOVE),
    ("missing-regression", {}, ROWS_MOVE),
    ("missing-regression", {"missing_rate": 0.2}, ("replace_one",)),
    ("mean", {}, ("replace_one",)),
    ("mean", {"trust": "local"}, ("replace_one",)),
    ("logistic", {}, (*ROWS_MOVE, "label")),
    ("logistic", {"algorithm": "vb", "iterations": 3}, ROWS_MOVE),
    ("logistic", {"algorithm": "vips", **STEPS}, ROWS_MOVE),
    ("logistic", {"algorithm": "vips", **DRAWN}, ("replace_one",)),
    ("logistic", {"algorithm": "dpvi", **STEPS}, ROWS_MOVE),
    ("logistic", {"algorithm": "dpvi", **DRAWN}, ("replace_one",)),
    ("sbn", {"n_components": 2, "clip": 0.3, **STEPS}, ROWS_MOVE),
    ("sbn", {"n_components": 2, "clip": 1.0, **STEPS}, ROWS_MOVE),
    ("sbn", {"n_components": 2, **DRAWN}, ("replace_one",)),
    ("bernoulli", {"n_components": 2, "iterations": 3}, ROWS_MOVE),
    ("poisson", {"n_components": 2, "iterations": 3}, ROWS_MOVE),
    ("gmm-release", {"method": "staged"}, ALL),
    ("gmm-release", {"method": "public_features"}, ("label",)),
    ("gmm-release", {"method": "mte"}, ("label",)),
    ("gmm-release", {"method": "colored"}, ("label",)),
    ("gmm-release", {"method": "gaussian"}, ALL),
    ("gmm-release", {"method": "laplace"}, ALL),
    ("gmm-release", {"method": "pooled"}, ALL),
]
CASES = [
    pytest.param(
        model, words, adjacency, id=f"{model}-{'-'.join(map(str, words.values()))}-{adjacency}"
    )
    for model, words, adjacencies in RECIPES
    for adjacency in adjacencies
]


@dataclass
class Compared:
    """What the doors release, first of one table, then of its neighbour."""

    first: list[tuple[Array, float, list[Array]]] = field(default_factory=list)
    place: int | None = None  # in the second fit
    ratios: list[float] = field(default_factory=list)

    def around(self, add_noise: Callable[..., Any]) -> Callable[..., Any]:
        """A door's noise, with this looking on."""

        def watched(
            session: Session, what: str, total: Array, contribution: Any, noise: Any
        ) -> Any:
            spans = [contribution.slice(block) for block in _blocks(noise, contribution)]
            units = [contribution.scale(block) for block in _blocks(noise, contribution)]
            weighted = [total[..., s] / unit for s, unit in zip(spans, units, strict=True)]
            exact = np.concatenate([part.ravel() for part in weighted])
            found = add_noise(session, what, total, contribution, noise)
            sensitivity = session._entries[-1].sensitivity
            if self.place is None:
                self.first.append((exact, sensitivity, [total[..., s].copy() for s in spans]))
                return found
            before, stated, released = self.first[self.place]
            self.place += 1
            assert sensitivity == stated
            self.ratios.append(
                np.linalg.norm(exact - before, 1 + (noise.law != "laplace")) / stated
            )
            for span, part in zip(spans, released, strict=True):
                total[..., span] = part
            return found

        return watched


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> Compared:
    watching = Compared()
    monkeypatch.setattr(Session, "_add_noise", watching.around(Session._add_noise))
    monkeypatch.setattr(Session, "_coin", _coin)
    return watching


def _coin(session: Session[MaskedRows], use: int) -> np.random.Generator:
    """The same for both tables, however many rows they have."""
    return np.random.default_rng([use, 7])


def people(rng: np.random.Generator, rows: int) -> pd.DataFrame:
    """Rows of which two are odd."""
    frame = pd.DataFrame(
        {
            "x": rng.uniform(0.0, 10.0, rows),
            "y": rng.uniform(-1.0, 1.0, rows),
            "place": rng.choice(["u", "v", "w"], rows),
            "kind": rng.choice(["a", "b"], rows),
            "amount": rng.integers(0, 2, rows).astype(float),
        }
    )
    for place in (0, rows // 2):
        for name, cell in hostile(rng).items():
            frame.loc[place, name] = cell
    return frame


def hostile(rng: np.random.Generator) -> dict[str, Any]:
    """A row at the ends of what its cells can hold."""

    def number(low: float, high: float) -> float:
        ends = [
            low,
            high,
            rng.uniform(low, high),
            np.nan,
            np.inf,
            -np.inf,
            1.7e308,
            -1.7e308,
            5e-324,
        ]
        return float(ends[rng.integers(len(ends))])

    return {
        "x": number(0.0, 10.0),
        "y": number(-1.0, 1.0),
        "place": rng.choice(["u", "v", "w", "zz", None]),
        "kind": rng.choice(["a", "b", "zz", None]),
        "amount": number(0.0, 1.0),
    }


def neighbour(
    rng: np.random.Generator, frame: pd.DataFrame, adjacency: str, label: str
) -> pd.DataFrame:
    new = hostile(rng)
    if adjacency == "add_remove":
        return pd.concat([frame, pd.DataFrame([new])], ignore_index=True)
    other, place = frame.copy(), int(rng.integers(len(frame)))
    for name, cell in new.items():
        moves = {"label": name == label, "feature": name != label}
        if moves.get(adjacency, True):
            other.loc[place, name] = cell
    return other


@every("model, words, adjacency", CASES)
def test_no_release_moves_by_more_than_its_entry_says(
    model: str, words: dict[str, Any], adjacency: str, compared: Compared, exhaustive: bool
) -> None:
    schema = {"logistic": YES, "sbn": PIXELS, "poisson": COUNTED}.get(model, NUMBERED)
    label = "amount" if model == "logistic" else "kind"
    plain = (
        "laplace" in words.values() or words.keys() & {"combination"} or "dplloyd" in words.values()
    )
    rng = np.random.default_rng(len(model))
    for seed in range(10 if exhaustive else 2):
        frame = people(rng, int(rng.choice([5, 12, 40])))
        asked = dp.Privacy(
            epsilon=float(10.0 ** rng.uniform(-1.5, 2.5)),
            delta=1e-5,
            adjacency=adjacency,
            accountant="pld" if plain else "exact",
        )
        compared.first.clear()
        for place, rows in ((None, frame), (0, neighbour(rng, frame, adjacency, label))):
            compared.place = place
            fit_grid(model, PrivateTable.seal(rows, schema), privacy=(asked,), seed=seed, **words)
        assert compared.place == len(compared.first) > 0
    assert 0.4 < max(compared.ratios) <= 1.0
