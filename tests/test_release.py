"""A release: paid for once, written whole or not at all, and provable from its dossier alone."""

from __future__ import annotations

import contextlib
import copy
import io
import json
import math
import os
import random
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from traceback import format_exception
from typing import Any

import numpy as np
import pandas as pd
import pytest
import wording
from numpy.typing import NDArray

import dpcore as dp
from app.site import released
from app.texts import release as release_texts
from dpcore.accounting import mu_of
from dpcore.cli import main
from dpcore.errors import BudgetExceeded, DPCoreError, InputError, ReplayError
from dpcore.fitting import intervals
from dpcore.fitting.result import Fit
from dpcore.mechanisms.discrete_gaussian import SCALE
from dpcore.privacy import protects
from dpcore.releases import api, dossier, paid
from dpcore.releases.beside import content_of
from dpcore.releases.filter import Amount
from dpcore.releases.ledger import ALL_SPENT, BudgetLedger
from dpcore.schema import Column
from dpcore.wall import noise
from dpcore.wall.data.clipping import clip_to_ball
from dpcore.wall.grid import ROUNDING_UNIT, grid_for, on_grid
from dpcore.wall.table import PrivateTable

DELTA = 1e-5
HALF, HALVES, NOT_WRITTEN = "\udcff", "surrogateescape", "which cannot be written in UTF-8"
SCHEMA = dp.Schema.from_bounds({"x": (0.0, 10.0), "y": (-1.0, 1.0)})


def table(seed: int = 0, rows: int = 400) -> PrivateTable:
    cells = np.random.default_rng(seed).uniform(0.0, 1.0, (rows, 2))
    return PrivateTable.seal(pd.DataFrame(cells, columns=["x", "y"]), SCHEMA)


def asked(epsilon: float = 1.0, **words: Any) -> dp.Privacy:
    return dp.Privacy(epsilon=epsilon, delta=DELTA, **words)


@pytest.fixture
def book(tmp_path: Path) -> Path:
    BudgetLedger.create(tmp_path / "budget.sqlite", Amount(2.0, DELTA))
    return tmp_path / "budget.sqlite"


Make = Callable[..., api.Release]


@pytest.fixture
def release(book: Path, tmp_path: Path) -> Make:
    """Makes a release, of the usual table by the usual model unless others are given."""

    def call(model: str = "gmm", rows: PrivateTable | None = None, **words: Any) -> api.Release:
        usual = {"privacy": asked(), "ledger": book, "out": tmp_path / "out"}
        return api.release(model, table() if rows is None else rows, **usual | words)

    return call


@pytest.fixture
def made(release: Make) -> api.Release:
    return release()


def test_what_is_said_of_a_release_never_costs_it(
    book: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(fit: Fit) -> None:
        raise FloatingPointError(fit.model)

    monkeypatch.setattr(intervals, "sentence_of", failing)
    found = api.release("gmm", table(), privacy=asked(), ledger=book, out=tmp_path / "out")
    assert found.dossier["told_apart"] is None


# --- what is drawn ------------------------------------------------------------------------------


@pytest.mark.parametrize("multiplier", [0.3, 5.0, 400.0])
@pytest.mark.parametrize("coordinates", [1, 66, 10_000])
def test_a_grid_gives_at_least_the_noise_that_was_asked_for(
    multiplier: float, coordinates: int
) -> None:
    grid = grid_for(multiplier, 1.4, 1.0, 1_000_000, coordinates)
    assert grid.scale / grid.sensitivity >= multiplier
    assert grid.sensitivity > 1.4 + grid.step * coordinates**0.5
    assert grid.scale == pytest.approx(1.4 * multiplier, rel=0.05)
    assert grid.step * SCALE == pytest.approx(grid.scale, rel=1e-12)


@pytest.mark.parametrize(
    ("rows", "least", "most"),
    [(10**6, 1.00010, 1.00020), (10**7, 1.010, 1.020), (10**8, 2.0, 3.0)],
)
def test_the_rounding_of_many_rows_costs_what_is_written(
    rows: int, least: float, most: float
) -> None:
    """Noise for so many rows over noise for few."""
    few = grid_for(5.0, 2.0**0.5, 1.0, 100, 10).scale
    assert least < grid_for(5.0, 2.0**0.5, 1.0, rows, 10).scale / few < most


def test_neighbouring_sums_on_a_grid_are_as_near_as_it_says() -> None:
    """Random sums a sensitivity apart, just off the grid; the bound is nearly reached."""
    rng, worst = np.random.default_rng(1), 0.0
    grid = grid_for(2.0, 1e-5, 1e-5, 1000, 50)
    for _ in range(3000):
        one = rng.normal(size=50)
        move = rng.normal(size=50) * (rng.random(50) < rng.random())
        move *= 1e-5 / max(float(np.linalg.norm(move)), 1e-300)
        apart = on_grid(one, grid, 1.0, np.zeros(50, int)) - on_grid(
            one + move, grid, 1.0, np.zeros(50, int)
        )
        worst = max(worst, float(np.linalg.norm(apart)) / grid.sensitivity)
    assert 0.9 < worst <= 1.0


def test_a_wide_row_that_rounding_leaves_outside_its_ball_is_allowed_for() -> None:
    """One entry of 1 and many whose squares are lost beside it."""
    width = 100_000
    row = np.full((1, width), 2.0**-27)
    row[0, ::97] = 1.0
    radius = float(np.sqrt(np.einsum("nd,nd->n", row, row)[0]))
    (inside,) = clip_to_ball(row, radius)
    outside = math.sqrt(math.fsum(inside**2)) / radius
    assert outside > 1.0 + 16 * ROUNDING_UNIT
    grid = grid_for(0.1, 1.0, 0.0, 1, width)
    assert grid.sensitivity - grid.step * width**0.5 > outside**2


def test_too_much_noise_for_one_grid_is_refused() -> None:
    with pytest.raises(InputError, match="larger epsilon"):
        grid_for(1e6, 1.0, 1.0, 1000, 10_000)


def test_what_leaves_is_a_whole_number_of_steps() -> None:
    grid = grid_for(5.0, 1.0, 1.0, 1000, 4)
    values = on_grid(np.array([0.3, 7.1, -2.0, 1e3]), grid, 0.25, np.array([5, -9, 0, 1 << 28]))
    steps = values / 0.25 / grid.step
    np.testing.assert_allclose(steps, np.rint(steps), rtol=0, atol=1e-6)


RELEASED = {
    "gmm": {"n_components": 2},
    "kmeans": {"n_components": 2},
    "fa": {"n_components": 1},
    "symmetric-mixture": {},
    "mean": {},
    "covariance": {},
    "ppca": {},
    "mixture-regression": {},
    "logistic": {},
    "gmm-release": {"method": "staged"},
    "sbn": {"n_components": 2, "rate": 1.0, "iterations": 2},
    "bernoulli": {"n_components": 2, "iterations": 2},
}
KINDS = dp.Schema(
    (
        dp.Column("x", lower=0.0, upper=10.0),
        dp.Column("y", lower=-1.0, upper=1.0),
        dp.Column("kind", role="label", type="category", categories=("a", "b")),
        dp.Column("amount", role="target", lower=0.0, upper=1.0),
    )
)
YES = dp.Schema((*KINDS.columns[:3], dp.Column("amount", role="target", type="binary")))


def labelled(schema: dp.Schema, rows: int = 400) -> PrivateTable:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.uniform(0.0, 1.0, (rows, 2)), columns=["x", "y"])
    frame["kind"] = np.where(rng.random(rows) < 0.5, "a", "b")
    frame["amount"] = rng.integers(0, 2, rows)
    return PrivateTable.seal(frame, schema)


@pytest.mark.parametrize("accountant", api.COUNTED_BY)
@pytest.mark.parametrize("model", sorted(RELEASED))
def test_every_model_can_be_released_and_says_what_it_proved(
    model: str, accountant: str, release: Make, book: Path, tmp_path: Path
) -> None:
    """For no more than was reserved, by either way of counting."""
    rows = labelled(YES if model == "logistic" else KINDS)
    privacy = replace(asked(), accountant=accountant)
    made = release(model, rows, privacy=privacy, **RELEASED[model])
    assert {entry.noise for entry in made.fit.ledger} == {"discrete_gaussian"}
    assert not made.fit.guarantee.rehearsal
    assert 0.999 < made.dossier["guarantee"]["epsilon"] <= 1.0
    found = dossier.verify(tmp_path / "out" / "dossier.json", book)
    assert found["epsilon"] == made.dossier["guarantee"]["epsilon"]
    scene = released(tmp_path / "out", dossier.read_dossier(tmp_path / "out" / "dossier.json"))
    assert all(panel.layers for panel in scene.panels)
    assert "exact one" not in json.dumps(scene.as_dict()), "nothing is held against anything"


@pytest.mark.parametrize(
    ("model", "adjacency", "moves", "hidden"),
    [
        ("gmm", "replace_one", False, False),
        ("gmm", "add_remove", True, True),
        ("gmm-release", "replace_one", True, False),
        ("gmm-release", "label", True, False),
        ("gmm-release", "feature", False, False),
    ],
)
def test_a_dossier_names_what_the_rounding_of_other_rows_rests_on(
    model: str, adjacency: str, moves: bool, hidden: bool, release: Make, tmp_path: Path
) -> None:
    """Rows that stand behind one that comes, or that changes its class, move up a place."""
    path, groups = tmp_path / "other.sqlite", None if model == "gmm-release" else 2
    BudgetLedger.create(path, Amount(2.0, DELTA), adjacency=adjacency)
    privacy = asked(adjacency=adjacency)
    made = release(model, labelled(KINDS), privacy=privacy, ledger=path, n_components=groups)
    told = " ".join(made.dossier["guarantee"]["assumptions"])
    assert ("wherever in the table" in told) == moves
    assert ("1 to 4,194,304 rows" in told) == hidden


@pytest.mark.parametrize(
    ("model", "role", "options"),
    [
        ("gmm", "feature", {"n_components": 1}),
        ("mixture-regression", "target", {"sigma": 1.0, "own": False}),
    ],
)
def test_synthetic_rows_far_from_0_stay_apart_and_inside_the_limits(
    model: str, role: str, options: dict[str, Any], release: Make, tmp_path: Path
) -> None:
    far = dp.Schema(
        (
            dp.Column("a", role=role, lower=1_000_000.0, upper=1_000_005.0),
            dp.Column("b", lower=0.0, upper=1.0),
        )
    )
    rows = np.random.default_rng(0).uniform(size=(200, 2)) * [5.0, 1.0] + [1e6, 0.0]
    data = dp.load(pd.DataFrame(rows, columns=["a", "b"]), schema=far)
    release(model, data, **options)
    drawn = pd.read_csv(tmp_path / "out" / "synthetic.csv")
    assert drawn["a"].between(1_000_000, 1_000_005).all()
    assert drawn["a"].nunique() > 500


def test_a_target_that_a_model_does_not_read_needs_no_limits(release: Make, tmp_path: Path) -> None:
    """The synthetic rows of a model without it asked for them, once the release was paid for."""
    schema = dp.Schema((dp.Column("a", lower=0.0, upper=1.0), dp.Column("t", role="target")))
    rows = pd.DataFrame(np.random.default_rng(0).uniform(size=(200, 2)), columns=["a", "t"])
    data = dp.load(rows, schema=schema)
    release("gmm", data, n_components=1)
    assert [*pd.read_csv(tmp_path / "out" / "synthetic.csv").columns] == ["a"]


@pytest.mark.parametrize(
    ("model", "words", "field"),
    [
        ("kmeans", {"algorithm": "dplloyd"}, "algorithm: a release can use only discrete"),
        ("gmm-release", {"method": "laplace"}, "method: a release can use only discrete"),
        ("sbn", {"sigma": 1.0}, "sigma: model .sbn. takes no such option"),
        ("sbn", {"rate": 0.25}, "rate 1"),
        ("sbn", {"minibatch": 100}, "rate 1"),
        ("logistic", {"algorithm": "vips", "rate": 0.5}, "rate 1"),
        ("mean", {"trust": "local"}, "trust: in the local model each person adds .*use trust cent"),
        ("mean", {"trust": "local_onebit"}, "trust: in the local model each person adds noise"),
    ],
)
def test_what_is_public_is_refused_before_anything_about_rows(
    model: str, words: dict[str, Any], field: str, release: Make, book: Path
) -> None:
    """Of a table without a row, of which another sentence would be said."""
    schema = YES if model in ("sbn", "logistic") else KINDS
    for rows in (400, 0):
        with pytest.raises(InputError, match=field):
            release(model, labelled(schema, rows), **words)
    assert len(BudgetLedger(book).state().lines) == 1


def test_a_budget_that_is_spent_is_said_before_a_file_is_read(
    book: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "odd.csv").write_text("x,y\n1,secret\n")
    words = ["release", "gmm", str(tmp_path / "odd.csv"), "--ledger", str(book), "--delta", "1e-5"]
    assert main([*words, "--epsilon", "3", "--out", str(tmp_path / "out"), "--yes"]) == 3
    assert wording.LEDGER_HAS_LESS in capsys.readouterr().err


def test_the_usual_accountant_by_name_is_the_ledgers_own(tmp_path: Path) -> None:
    """Also where a script checks the budget before it reads a file: all of it can be asked for."""
    rows, book = tmp_path / "rows.csv", tmp_path / "budget.sqlite"
    pd.DataFrame({"x": [0.2, 0.4] * 50, "y": [0.5, 0.6] * 50}).to_csv(rows, index=False)
    (tmp_path / "rows.toml").write_text(dp.Schema.from_bounds({"x": (0, 1), "y": (0, 1)}).to_toml())
    BudgetLedger.create(book, Amount(1.0, DELTA), filter="zcdp")
    words = f"release mean {rows} --ledger {book} --epsilon 1 --delta {DELTA} --accountant exact"
    assert main([*words.split(), "--out", str(tmp_path / "out"), "--yes", "--accept-delta"]) == 0
    assert dp.verify(tmp_path / "out", book)["accountant"] == "zcdp_tight"


# --- what is refused ----------------------------------------------------------------------------


def test_a_release_that_does_not_fit_leaves_everything_as_it_was(
    release: Make, book: Path, tmp_path: Path
) -> None:
    before = book.read_bytes()
    refused: tuple[tuple[type[DPCoreError], str, dict[str, Any]], ...] = (
        (BudgetExceeded, wording.LEDGER_HAS_LESS, {"privacy": asked(2.1)}),
        (InputError, "adjacency", {"privacy": asked(adjacency="add_remove")}),
        (InputError, "mode", {"privacy": asked(mode="paper")}),
        (
            InputError,
            "accountant",
            {"privacy": dp.Privacy(epsilon=1.0, delta=DELTA, accountant="zcdp")},
        ),
        (InputError, "budget", {"privacy": dp.Privacy(noise_multiplier=3.0)}),
        (InputError, "chosen_on", {"chosen_on": "a hunch"}),
        (InputError, "out", {"out": tmp_path}),
        (InputError, "schema", {"schema": YES}),
        (InputError, "seed", {"seed": 1}),
        (InputError, "out", {"out": tmp_path / "no" / "where"}),
        (InputError, "components", {"n_components": 0}),
        (InputError, NOT_WRITTEN, {"file": "März.csv".encode("cp1252").decode(errors=HALVES)}),
        (InputError, NOT_WRITTEN, {"purpose": "\ud800"}),
    )
    for kind, words, changed in refused:
        with pytest.raises(kind, match=words):
            release(**changed)
    assert book.read_bytes() == before
    assert not (tmp_path / "out").exists()


def test_a_schema_that_no_file_can_hold_costs_nothing(release: Make, book: Path) -> None:
    """The report and the rows are in UTF-8; writing them would fail once the noise is drawn."""
    before = book.read_bytes()
    frame = pd.DataFrame({"x": np.linspace(0.0, 1.0, 50), "sex": ["f", "m"] * 25})
    number = Column("x", lower=0.0, upper=1.0)
    for title, words in ((HALF, ("f", "m")), ("", ("f", "m", HALF))):
        schema = dp.Schema((number, Column("sex", type="category", categories=words)), title=title)
        odd = PrivateTable.seal(frame, schema)
        with pytest.raises(InputError, match=NOT_WRITTEN):
            release("mean", odd)
    assert book.read_bytes() == before


def test_bounds_read_off_the_data_are_no_ground_for_a_release(release: Make) -> None:
    frame = pd.DataFrame({"x": [1.0, 2.0, 5.0] * 40})
    schema = dp.Schema.infer_for_rehearsal(frame)
    with pytest.raises(InputError, match=wording.READ_FROM_DATA):
        release("gmm", PrivateTable.seal(frame, schema))


def test_a_delta_above_one_over_the_rows_needs_a_word(tmp_path: Path) -> None:
    book = tmp_path / "wide.sqlite"
    BudgetLedger.create(book, Amount(1.0, 0.1))
    privacy = dp.Privacy(epsilon=0.5, delta=0.05)
    choices: dict[str, Any] = {"privacy": privacy, "ledger": book, "out": tmp_path / "out"}
    with pytest.raises(InputError, match="1 divided by the number of rows"):
        api.release("gmm", table(), **choices)
    assert BudgetLedger(book).state().releases == ()
    made = api.release("gmm", table(), accept_delta=True, **choices)
    assert any("above 1/n" in note for note in made.dossier["guarantee"]["notes"])


def test_of_persons_delta_is_held_against_their_number(release: Make) -> None:
    schema = replace(SCHEMA, columns=(*SCHEMA.columns, Column("who", role="id", type="text")))
    frame = table()._frame.assign(who=[f"p{i}" for i in range(len(table()._frame))])
    with pytest.raises(InputError, match=r"number of different ids.*one person"):
        release("gmm", dp.load(frame, schema=schema), privacy=dp.Privacy(epsilon=0.5, delta=0.05))


# --- what is written ----------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["gdp", "zcdp", "sums"])
@pytest.mark.parametrize(("epsilon", "delta"), [(1e-5, 0.05), (1e-4, 0.9), (1e-6, 0.1)])
def test_a_release_is_covered_where_noise_hardly_depends_on_epsilon(
    tmp_path: Path, epsilon: float, delta: float, way: str
) -> None:
    """Parts in 10^11 of the noise are then parts in 10^6 of epsilon, more than any release spares:
    what the lemma of integer noise takes off is drawn besides."""
    book = tmp_path / "large.sqlite"
    BudgetLedger.create(book, Amount(2.0 * epsilon, delta), filter=way)
    wish = dp.Privacy(epsilon, delta)
    made = api.release(
        "mean", table(), privacy=wish, ledger=book, out=tmp_path / "out", accept_delta=True
    )
    assert made.dossier["guarantee"]["epsilon"] <= epsilon
    assert not BudgetLedger(book).demand_intact().open


@pytest.mark.parametrize("way", ["gdp", "zcdp", "sums"])
def test_the_whole_budget_can_be_spent_in_one_release(tmp_path: Path, way: str) -> None:
    """Counted as the ledger counts, with all the less noise where that is exact."""
    book = tmp_path / "whole.sqlite"
    BudgetLedger.create(book, Amount(2.0, DELTA), filter=way)
    made = api.release("gmm", table(), privacy=asked(2.0), ledger=book, out=tmp_path / "out")
    assert BudgetLedger(book).state().left_amount.epsilon < 0.01
    proof = made.fit.guarantee.proof
    assert proof.accountant == ("zcdp_tight" if way == "zcdp" else "exact")
    mu = np.sqrt(
        sum(float(entry.sensitivity / entry.noise_scale) ** 2 for entry in made.fit.ledger)
    )
    assert float(mu_of(2.0, DELTA)) / mu == pytest.approx(1.077 if way == "zcdp" else 1.0, abs=1e-3)


def test_lost_files_are_written_again_from_the_ledger(
    made: api.Release, book: Path, tmp_path: Path
) -> None:
    first = {name: (made.folder / name).read_bytes() for name in api.FILES}
    before = book.read_bytes()
    api.rewrite(book, made.dossier["line"]["number"], tmp_path / "again")
    assert {name: (tmp_path / "again" / name).read_bytes() for name in api.FILES} == first
    assert book.read_bytes() == before


def test_a_ledger_that_held_the_rows_alone_writes_them_and_a_report_again(
    made: api.Release, book: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Older ones held no report, and a dossier without its line."""
    dossier = {name: value for name, value in made.dossier.items() if name != "line"}
    texts = {name: (made.folder / name).read_text(encoding="utf-8") for name in api.FILES}
    for rows in (texts[api.ROWS], None):
        older = {"dossier": dossier, "synthetic": rows}
        monkeypatch.setattr(BudgetLedger, "output", lambda self, number, older=older: older)
        folder = tmp_path / f"again {rows is None}"
        api.rewrite(book, made.dossier["line"]["number"], folder)
        left = {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}
        assert left == {name: text for name, text in texts.items() if rows or name != api.ROWS}


class Fixed:
    """The same words every time, in place of the operating system's."""

    def __init__(self) -> None:
        self.source = np.random.default_rng(3).bit_generator

    def __call__(self, count: int) -> NDArray[np.uint64]:
        return np.asarray(self.source.random_raw(count), dtype=np.uint64)


def with_same_noise(
    name: str, rows: PrivateTable, tmp_path: Path, patch: pytest.MonkeyPatch, **words: Any
) -> tuple[Any, str]:
    """Dossier and report of one release, with noise that is the same every time."""
    patch.setattr(noise, "_words", Fixed())
    patch.setattr("secrets.token_hex", lambda size: "ab" * size)
    book = tmp_path / f"{name}.sqlite"
    adjacency = words["privacy"].adjacency
    BudgetLedger.create(book, Amount(2.0, DELTA), adjacency=adjacency)
    made = api.release("gmm", rows, ledger=book, out=tmp_path / name, iterations=2, **words)
    report = (made.folder / "report.html").read_text(encoding="utf-8")
    return json.loads(json.dumps(made.dossier)), report


def without_what_is_noisy(dossier: dict[str, Any], report: str) -> str:
    """A report without the cells of parameters, hashes and the time."""
    report = report.replace(dossier["created"], "")
    before, left, after = re.split(r"<h2>What was released</h2>|<h2>What it cost</h2>", report)
    cells = re.sub(r"<td>[-+0-9.,e]*</td>", "<td></td>", left)
    return re.sub(r"<code>[^<]*</code>", "", before + cells + after)


NOISY = (
    *("parameters.", "synthetic.sha256", "files.", "created", "content"),
    *("line.hash", "line.time", "line.fingerprint"),
)


@pytest.mark.parametrize("adjacency", ["replace_one", "add_remove"])
def test_neighbouring_tables_differ_in_noisy_values_alone(
    adjacency: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Same noise, one row replaced or gone: every other word and number is the same."""
    rows, words = table(), {"privacy": asked(adjacency=adjacency)}
    one, other = (
        with_same_noise(name, rows_, tmp_path, monkeypatch, **words)
        for name, rows_ in (("one", rows), ("other", rows.neighbour(7, adjacency)))
    )
    differ = set(differing(one[0], other[0]))
    assert any(path.startswith("parameters.means") for path in differ)
    assert all(path.startswith(NOISY) for path in differ), differ
    assert one[1] != other[1]
    assert without_what_is_noisy(*one) == without_what_is_noisy(*other)


def test_a_dossier_that_counts_rows_would_be_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test above can fail: here the title tells how many rows there are."""
    written = api.dossier_of

    def telling(fit: Any, *rest: Any) -> dict[str, Any]:
        return {**written(fit, *rest), "title": f"{rows._frame.shape[0]} rows"}

    monkeypatch.setattr(api, "dossier_of", telling)
    found, words = [], {"privacy": asked(adjacency="add_remove")}
    for name, rows in (("one", table()), ("other", table().neighbour(7, "add_remove"))):
        found.append(with_same_noise(name, rows, tmp_path, monkeypatch, **words)[0])
    assert not all(path.startswith(NOISY) for path in differing(*found))


def differing(one: Any, other: Any, path: str = "") -> Iterator[str]:
    """Where two JSON values are not the same."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        for key in one:
            yield from differing(one[key], other[key], f"{path}.{key}".lstrip("."))
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for number, pair in enumerate(zip(one, other, strict=True)):
            yield from differing(*pair, f"{path}.{number}")
    elif one != other:
        yield path


def test_the_report_escapes_what_a_schema_says(release: Make, tmp_path: Path) -> None:
    words = ("title", "unit", "column", "measure")
    title, unit, column, measure = (f"<script>{word}" for word in words)
    columns = (dp.Column(column, lower=0.0, upper=1.0, unit=measure),)
    schema = dp.Schema(columns, unit, title=title)
    other = BudgetLedger.create(tmp_path / "other.sqlite", Amount(2.0, DELTA), unit=unit)
    rows = PrivateTable.seal(pd.DataFrame({column: np.linspace(0, 1, 200)}), schema)
    made = release("gmm", rows, ledger=other.path, n_components=1)
    page = (made.folder / "report.html").read_text()
    assert "<script" not in page
    assert all(f"&lt;script&gt;{word}" in page for word in words)
    assert "at most 5" in page  # guesses of 100
    assert "http" not in page


def rule(release: Make, **words: Any) -> str:
    """The report of a released rule about who does not come back."""
    schema = dp.Schema(
        (
            dp.Column("x", lower=0.0, upper=10.0, unit="cm", missing=2.5),
            dp.Column("y", lower=-1.0, upper=1.0),
            dp.Column("back", role="target", type="binary", categories=("yes", "<no>")),
        )
    )
    frame = labelled(YES)._frame[["x", "y"]].assign(back=["yes", "<no>"] * 200)
    rows = PrivateTable.seal(frame, schema)
    made = release("logistic", rows, **words)
    return (made.folder / "report.html").read_text(encoding="utf-8")


def test_the_report_of_a_rule_names_its_columns_and_what_it_gives_the_odds_of(
    release: Make,
) -> None:
    page = rule(release)
    odds = (
        "log odds of back = &lt;no&gt;, as fitted by one_shot; intervals include the privacy noise"
    )
    assert odds in page
    left = page.split(wording.COST_HEADING)[0]
    cells = r"(<td>-?[\d.,]+</td>){3}"
    for title in (r"x \(cm\)", "y", "intercept"):
        assert re.search(f"<tr><td>{title}</td>{cells}</tr>", left)


def test_the_report_of_a_rule_whose_noise_is_not_known_has_no_intervals(release: Make) -> None:
    left = rule(release, algorithm="dpvi").split(wording.COST_HEADING)[0]
    assert "so there are no intervals" in left
    assert re.search(r"<tr><td>intercept</td><td>-?[\d.,]+</td></tr>", left)


def test_the_report_says_what_a_missing_cell_counts_as(release: Make) -> None:
    limits = rule(release).split(wording.LIMITS_HEADING)[1]
    assert "a missing cell counts as" in limits
    assert "<td>x (cm)</td><td>0.0</td><td>10.0</td><td>2.50</td>" in limits
    assert "<td>y</td><td>-1.00</td><td>1.00</td><td>0.0</td>" in limits


def test_the_report_of_one_list_names_its_columns(release: Make) -> None:
    text = (release("mean").folder / "report.html").read_text(encoding="utf-8")
    left = text.split("What was released")[1].split("What it cost")[0]
    names = [column.name for column in table().schema.numeric_columns()]  # type: ignore[union-attr]
    assert re.findall(r"<tr><td>([^<]*)</td>", left.split("<th>mean</th>")[1]) == names


class Broken(api.GridNoise):
    """Noise that fails in the middle of a fit."""

    left = 3

    def whole_numbers(self, count: int) -> NDArray[np.int64]:
        found = super().whole_numbers(count)
        self.left -= 1
        if self.left == 0:
            raise ValueError("a number of the data's")
        return found


def test_what_fails_after_noise_was_drawn_is_paid_for_and_tells_nothing(
    release: Make, book: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That something failed is an answer about the rows, and answers are not free."""
    monkeypatch.setattr(api, "GridNoise", Broken)
    with pytest.raises(paid.PaidError, match="line 2") as refusal:
        release()
    assert "number of the data" not in str(refusal.value)
    state = BudgetLedger(book).demand_intact()
    assert len(state.releases) == 1
    assert state.spent_amount.epsilon == pytest.approx(1.0, rel=1e-5)
    assert not (tmp_path / "out").exists()
    with pytest.raises(InputError, match="failed"):
        api.rewrite(book, 2, tmp_path / "again")


def test_no_noise_is_drawn_that_the_ledger_could_not_pay_for(
    release: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failure that is refused for want of budget would be an answer for nothing, at will."""
    monkeypatch.setattr(api, "GridNoise", Broken)
    for short in (1e-2, 3e-4, 1e-6):
        path = tmp_path / f"{short}.sqlite"
        BudgetLedger.create(path, Amount(1.0 - short, DELTA))
        with pytest.raises(BudgetExceeded) as refusal:
            release(ledger=path)
        assert refusal.value.__context__ is None


def test_limits_whose_squares_overflow_are_refused_before_anything_is_drawn(
    release: Make, book: Path
) -> None:
    for low, high in ((-1e155, 1e155), (1e300, 1.1e300), (0.0, 1e-200)):
        schema = dp.Schema.from_bounds({"x": (low, high)})
        rows = PrivateTable.seal(pd.DataFrame({"x": np.linspace(low, high, 300)}), schema)
        with pytest.raises(InputError, match="limits"):
            release("gmm", rows, n_components=1)
    assert BudgetLedger(book).state().releases == ()


def test_a_folder_that_cannot_be_written_is_found_before_paying(
    release: Make, book: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "lost").symlink_to(tmp_path / "nowhere")
    for out in ("link", "lost", "a/b"):
        with pytest.raises(InputError, match="out"):
            release(privacy=asked(0.1), out=tmp_path / out)
    assert BudgetLedger(book).state().releases == ()
    monkeypatch.chdir(tmp_path / "real")
    made = release(privacy=asked(0.1), out=".")
    assert {path.name for path in (tmp_path / "real").iterdir()} == set(api.FILES)
    assert made.dossier["line"]["number"] == 2


def test_one_folder_takes_one_release(release: Make, book: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / api.CLAIM).touch()
    with pytest.raises(InputError, match=wording.FOLDER_NOT_EMPTY):
        release()
    assert BudgetLedger(book).state().releases == ()


@pytest.mark.parametrize("source", [api.GridNoise, Broken])
def test_who_comes_second_to_the_last_of_a_budget_is_refused_before_its_noise(
    source: type[api.GridNoise], book: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another release spends all there is after this one was checked. Of what would have become of
    it nobody learns a word, whether it would have failed or not."""
    sources: list[api.GridNoise] = []

    def late(*words: Any, on_grid: api.GridNoise, **more: Any) -> Any:
        sources.append(on_grid)
        if len(sources) == 1:
            api.release("gmm", table(), privacy=asked(2.0), ledger=book, out=tmp_path / "first")
        return fit_grid(*words, on_grid=on_grid, **more)

    fit_grid = api.fit_grid
    monkeypatch.setattr(api, "fit_grid", late)
    monkeypatch.setattr(Broken, "left", 3)
    monkeypatch.setattr(api, "GridNoise", lambda pay: (source if not sources else Whole)(pay))
    with pytest.raises(BudgetExceeded, match="Nothing was spent or released") as refusal:
        api.release("gmm", table(), privacy=asked(0.5), ledger=book, out=tmp_path / "second")
    assert [one.drawn for one in sources] == [False, True]
    assert "a number of the data's" not in "".join(format_exception(refusal.value))
    assert len(BudgetLedger(book).state().releases) == 1
    assert not (tmp_path / "second").exists()


Whole = api.GridNoise


def test_files_that_cannot_be_written_are_paid_for_and_can_be_had_again(
    release: Make, book: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also in the same folder, in which no half of a release stays."""
    move, done = os.replace, list[Path]()

    def full(source: Path, place: Path) -> None:
        if done:
            raise OSError(28, "No space left on device")
        move(source, place)
        done.append(place)

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(paid.PaidError, match="--write 2"):
        release()
    monkeypatch.undo()
    assert not (tmp_path / "out").exists()
    api.rewrite(book, 2, tmp_path / "out")
    assert dossier.verify(tmp_path / "out" / "dossier.json", book)["delta"] == DELTA


def test_a_folder_that_disappears_hides_no_payment(
    release: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api, "_as_csv", lambda *_: shutil.rmtree(tmp_path / "out"))
    with pytest.raises(paid.PaidError, match="--write 2"):
        release()


# --- who can check it ---------------------------------------------------------------------------


def test_a_changed_dossier_does_not_verify(made: api.Release, book: Path, tmp_path: Path) -> None:
    path = made.folder / "dossier.json"
    record = json.loads(path.read_text())
    changes: tuple[tuple[tuple[Any, ...], Any], ...] = (
        (("guarantee", "epsilon"), 0.5),
        (("guarantee", "proof", "epsilon"), 0.5),
        (("guarantee", "delta"), 1e-9),
        (("guarantee", "adjacency"), "label"),
        (("guarantee", "rows_per_person"), 50),
        (("guarantee", "unit"), "household"),
        (("guarantee", "protects"), "replacing one person's 500 rows"),
        (("guarantee", "sentence"), "epsilon = 0.1, proved."),
        (("entries", 0, "noise_scale"), 1e3),
        (("entries", 0, "sensitivity"), 1e-3),
        (("entries", 0, "proof"), None),
        (("entries", 0, "count"), 0),
        (("entries", 0, "noise"), "none"),
        (("guarantee", "proof", "ledger"), None),
        (("guarantee", "proof", "accountant"), []),
        (("guarantee", "epsilon"), "small"),
        (("synthetic", "sha256"), "0" * 64),
    )
    for keys, value in changes:
        changed = copy.deepcopy(record)
        place = changed
        for key in keys[:-1]:
            place = place[key]
        place[keys[-1]] = value
        path.write_text(json.dumps(changed))
        with pytest.raises((ReplayError, InputError)):
            dossier.verify(path)
    changed = copy.deepcopy(record)
    changed["settings"]["iterations"] += 1  # the proof is not about it: the ledger is
    path.write_text(json.dumps(changed))
    with pytest.raises(
        ReplayError, match="the hash of its content differs from the hash it states"
    ):
        dossier.verify(path)
    changed["content"] = content_of(changed)
    path.write_text(json.dumps(changed))
    with pytest.raises(ReplayError, match=r"report\.html does not agree with the dossier"):
        dossier.verify(path)  # it names the hash
    path = path.rename(path.parent.parent / "alone.json")
    dossier.verify(path)
    with pytest.raises(ReplayError, match="another dossier"):
        dossier.verify(path, book)
    changed = copy.deepcopy(record)
    changed["line"]["time"] = record["created"].replace("20", "19", 1)
    changed["content"] = content_of(changed)
    path.write_text(json.dumps(changed))
    with pytest.raises(ReplayError, match="another dossier"):
        dossier.verify(path, book)
    twice = json.dumps(record).replace("{", '{"guarantee": {"epsilon": 0.01},', 1)
    path.write_text(twice)
    with pytest.raises(InputError, match="not JSON"):
        dossier.verify(path, book)
    other = tmp_path / "other.sqlite"
    BudgetLedger.create(other, Amount(2.0, DELTA))
    path.write_text(json.dumps(record))
    with pytest.raises(ReplayError, match="no release with the line number"):
        dossier.verify(path, other)
    assert dossier.verify(path, book)["ledger"] == record["ledger"]["name"]


@pytest.mark.parametrize("other", ["add_remove", "label", "feature"])
def test_a_guarantee_is_about_the_change_that_its_entries_are_about(
    other: str, made: api.Release, tmp_path: Path
) -> None:
    """Even where every sentence agrees with it, and no report stands beside to contradict."""
    record = json.loads((made.folder / "dossier.json").read_text())
    stated = record["guarantee"]
    stated["adjacency"] = other
    who = protects(other, stated["unit"], stated["rows_per_person"], stated["thing"])
    stated["sentence"] = stated["sentence"].replace(stated["protects"], who)
    stated["protects"] = who
    alone = tmp_path / "alone.json"
    alone.write_text(json.dumps(record))
    with pytest.raises(ReplayError, match="does not match the proof"):
        dossier.verify(alone)


def mangled(value: Any, rng: random.Random) -> Any:
    """A JSON value with one place put to something odd."""
    odd = [None, -1, 0, 1e308, float("inf"), "x", [], {}, True, [[]], "\x00", 10**400]
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = rng.choice(sorted(value))
        return {**value, key: mangled(value[key], rng)}
    if isinstance(value, list) and value and rng.random() < 0.9:
        place = rng.randrange(len(value))
        return [*value[:place], mangled(value[place], rng), *value[place + 1 :]]
    return rng.choice(odd)


@pytest.mark.parametrize("seed", range(4))
def test_no_malformed_dossier_gives_a_traceback(made: api.Release, seed: int) -> None:
    path, rng = made.folder / "dossier.json", random.Random(seed)
    record = json.loads(path.read_text())
    (made.folder / "synthetic.csv").unlink()
    for _ in range(60):
        odd = record
        for _ in range(rng.randrange(1, 4)):
            odd = mangled(odd, rng)
        path.write_text(json.dumps(odd))
        with contextlib.suppress(DPCoreError):
            dossier.verify(path)
    for text in ("", "[]", "{", "[" * 100_000, '{"format": 1}', "\ufeff{}"):
        path.write_text(text)
        with pytest.raises(InputError):
            dossier.verify(path)


# --- the command line ---------------------------------------------------------------------------


def test_the_commands_create_release_verify_and_refuse(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    create = "ledger budget.sqlite --create --epsilon 1 --delta 1e-5 --unit person --json"
    assert main(create.split()) == 0
    assert json.loads(capsys.readouterr().out)["left"]["epsilon"] == pytest.approx(1.0, rel=1e-6)
    words = "release gmm bundled:three_groups --ledger budget.sqlite --delta 1e-5 --components 2"
    assert main([*words.split(), "--epsilon", "0.6", "--out", "one", "--yes", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["guarantee"]["epsilon"] <= 0.6
    assert {path.name for path in (tmp_path / "one").iterdir()} == set(api.FILES)
    assert len(pd.read_csv("one/synthetic.csv")) == 1000
    assert main(["verify", "one/dossier.json", "--ledger", "budget.sqlite"]) == 0
    assert "Verified: epsilon = 0.600" in capsys.readouterr().out
    assert main([*words.split(), "--epsilon", "0.9", "--out", "two", "--yes"]) == 3
    assert "at most epsilon = 0.7" in capsys.readouterr().err
    assert main([*words.split(), "--epsilon", "0.1", "--out", "two"]) == 2
    assert "--yes" in capsys.readouterr().err
    assert main([*words.split(), "--epsilon", "0.1", "--out", "two", "--seed", "1", "--yes"]) == 2
    assert not (tmp_path / "two").exists()
    capsys.readouterr()
    assert main(["ledger", "budget.sqlite", "--json"]) == 0
    state = json.loads(capsys.readouterr().out)
    (entry,) = state["entries"]
    assert (entry["line"], entry["model"], entry["data"]) == (2, "gmm", "bundled:three_groups")
    assert main(["ledger", "budget.sqlite"]) == 0
    assert "bundled:three_groups" in capsys.readouterr().out
    assert state["intact"] is True
    assert state["spent"]["epsilon"] == pytest.approx(0.6, rel=1e-3)
    assert main(["ledger", "budget.sqlite", "--write", "2", "--out", "again"]) == 0
    assert (tmp_path / "again" / "report.html").read_bytes() == (
        tmp_path / "one" / "report.html"
    ).read_bytes()
    for odd in (
        "ledger absent.sqlite",
        "ledger budget.sqlite --epsilon 3",
        "verify one/report.html",
    ):
        assert main(odd.split()) == 2
    text = (tmp_path / "one" / "dossier.json").read_text()
    (tmp_path / "one" / "dossier.json").write_text(text.replace('"count": 1', '"count": 2', 1))
    capsys.readouterr()
    assert main(["verify", "one/dossier.json", "--json"]) == 1
    told, sentence = capsys.readouterr()
    failed = json.loads(told)
    assert failed["verified"] is False
    assert sentence == f"dpcore: {failed['failed']}\n"


@pytest.mark.parametrize("kind", ["gdp", "zcdp", "sums"])
@pytest.mark.parametrize("budget", [("1.2349", "1.0951e-5"), ("0.75", "1.0951e-6")])
def test_a_ledger_admits_the_release_that_it_offers(
    budget: tuple[str, str],
    kind: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    terms = ["--epsilon", budget[0], "--delta", budget[1], "--filter", kind]
    assert main(["ledger", "l.sqlite", "--create", *terms]) == 0
    told = " ".join(capsys.readouterr().out.split())
    whole = re.search(r"Budget for all releases together: epsilon = (\S+), delta = (\S+),", told)
    offered = re.search(r"could have at most epsilon = (\S+) at delta = (\S+)\.", told)
    assert whole
    assert offered
    assert all(float(one) >= float(b) for one, b in zip(whole.groups(), budget, strict=True))
    assert "Spent: nothing. " in told
    words = f"release gmm bundled:three_groups --ledger l.sqlite --epsilon {offered[1]}"
    assert main([*words.split(), "--delta", offered[2], "--out", "left", "--yes"]) == 0


def test_a_ledger_that_is_spent_to_the_end_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not that 0.0 is left at delta 0.0."""
    monkeypatch.chdir(tmp_path)
    budget = "--epsilon 1 --delta 1e-5"
    assert main(f"ledger l.sqlite --create --filter sums {budget}".split()) == 0
    capsys.readouterr()
    words = f"release mean bundled:three_groups --ledger l.sqlite --out left --yes {budget}"
    for command in (words, "ledger l.sqlite"):
        assert main(command.split()) == 0
        told = " ".join(capsys.readouterr().out.split())
        assert f"The{ALL_SPENT[3:]}." in told
        assert "0.0" not in told
    assert f": {ALL_SPENT}." in release_texts.does_not_fit(0.0, 0.0)


class Terminal(io.StringIO):
    """Somebody at a keyboard, who has typed this much."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("typed", "code"), [("", 2), ("\n", 2), ("no\n", 2), ("Yes\n", 0)])
def test_budget_is_spent_only_by_a_yes(
    typed: str,
    code: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["ledger", "l.sqlite", "--create", "--epsilon", "1", "--delta", "1e-5"]) == 0
    monkeypatch.setattr(sys, "stdin", Terminal(typed))
    words = "release gmm bundled:three_groups --ledger l.sqlite --epsilon 0.5 --delta 1e-5"
    capsys.readouterr()
    assert main([*words.split(), "--out", "left", "--json"]) == code
    out, err = capsys.readouterr()
    assert "Spend it?" in err
    assert ("nothing was spent" in err) is (code != 0)
    assert (json.loads(out)["model"] == "gmm") if code == 0 else (out == "")
    assert (tmp_path / "left").exists() is (code == 0)
    spent = BudgetLedger("l.sqlite").state().spent_amount.epsilon
    assert (spent > 0.0) is (code == 0)


class Full(io.StringIO):
    """A file on a full disk."""

    def flush(self) -> None:
        raise OSError(28, "No space left on device")


@pytest.mark.parametrize("how", ["--yes", "--json"])
def test_a_release_that_cannot_be_printed_is_told_as_paid(
    how: str,
    book: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Exit code 2 would say that nothing was spent, and a script would release again."""
    words = f"release gmm bundled:three_groups --epsilon 0.5 --delta 1e-5 --ledger {book} --yes"
    monkeypatch.setattr(sys, "stdout", Full())
    assert main([*words.split(), how, "--out", str(tmp_path / "left")]) == 1
    assert "was made and paid for as line 2, and its files are in" in capsys.readouterr().err
    assert dp.verify(tmp_path / "left", book)


def test_without_a_terminal_nothing_is_asked_or_spent(
    book: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    words = f"release gmm bundled:three_groups --epsilon 0.5 --delta 1e-5 --ledger {book}"
    assert main([*words.split(), "--out", str(tmp_path / "left")]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert BudgetLedger(book).state().spent_amount.epsilon == 0.0


def test_the_default_accountant_is_counted_as_a_release_can_be(book: Path, tmp_path: Path) -> None:
    asked_plainly = dp.Privacy(epsilon=1.0, delta=1e-6)
    made = dp.release("gmm", table(), privacy=asked_plainly, ledger=book, out=tmp_path / "out")
    assert made.dossier["guarantee"]["epsilon"] <= 1.0
    assert dp.verify(made.folder, book)["epsilon"] == made.dossier["guarantee"]["epsilon"]


def test_synthetic_rows_lie_inside_the_limits() -> None:
    """A normal law has tails; a length of stay has none below 0."""
    schema = dp.Schema.from_bounds({"stay": (0, 30), "age": (0, 110)})
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"stay": rng.exponential(3, 400).clip(0, 30), "age": rng.uniform(0, 99, 400)}
    )
    fit = dp.fit("gmm", dp.load(frame, schema=schema), privacy=None, n_components=1)
    unlimited = fit.parameters.sample(1000, rng=np.random.default_rng(0))
    assert (unlimited["stay"] < 0).mean() > 0.1
    rows = fit.sample(1000)
    assert len(rows) == 1000
    assert rows["stay"].between(0, 30).all()
    assert rows["age"].between(0, 110).all()
    assert (rows["stay"] == 0).mean() == 0.0  # drawn inside, not moved to the limit
    far = dp.Schema.from_bounds({"stay": (1e6, 2e6), "age": (0, 110)})
    assert fit.sample(5, schema=far)["stay"].tolist() == [1e6] * 5


@pytest.mark.parametrize(
    "model",
    ["gmm", "kmeans", "fa", "ppca", "covariance", "poisson", "mean", "symmetric-mixture"],
)
def test_synthetic_rows_of_every_model_of_numbers_lie_inside_the_limits(model: str) -> None:
    """Strong noise moves means and spreads; no row leaves the limits for it. Cells of categories
    and of yes and no lie between 0 and 1."""
    limits = {f"x{i}": (0.0, float(high)) for i, high in enumerate((30, 110, 9, 1, 5, 200))}
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: rng.uniform(low, high, 60) for name, (low, high) in limits.items()})
    words = dp.Column("ward", type="category", categories=("heart", "lungs"))
    columns = (*dp.Schema.from_bounds(limits).columns, words, dp.Column("smokes", type="binary"))
    frame = frame.assign(ward=rng.choice(["heart", "lungs"], 60), smokes=rng.integers(0, 2, 60))
    data = dp.load(frame, schema=dp.Schema(columns))
    rows = dp.fit(model, data, privacy=dp.Privacy(epsilon=0.5, delta=1e-5), seed=0).sample(300)
    assert len(rows) == 300
    limits |= dict.fromkeys(("ward=heart", "ward=lungs", "smokes"), (0.0, 1.0))
    for name, (low, high) in limits.items():
        assert rows[name].between(low, high).all(), name
