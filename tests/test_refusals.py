"""Every refusal of the trusted base that no other test meets, and what it says."""

from __future__ import annotations

import copy
import math
import pickle
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from released import made, people
from sealed_rows import session_of
from support import every

import dpcore as dp
from dpcore.accounting.pairs import SharesExceedDelta
from dpcore.datasets import blocks
from dpcore.datasets.load import read_frame
from dpcore.errors import DPCoreError, InputError, NotCovered, WallError
from dpcore.privacy import DiscreteGaussian, EpsilonDelta, Event, Gaussian, Laplace, Ledger
from dpcore.privacy.ledger import LedgerEntry
from dpcore.releases import api, dossier, ledger, paid, report, whatif
from dpcore.releases.beside import compare_rows
from dpcore.releases.filter import Amount, filter_of
from dpcore.releases.ledger import BudgetLedger, Protected, TamperedError
from dpcore.releases.paid import PaidError
from dpcore.releases.sheet import as_csv
from dpcore.schema import Column, Schema
from dpcore.sklearn import DPKMeans
from dpcore.wall import grid, subsample
from dpcore.wall.custodian import custodian_classes
from dpcore.wall.data import (
    BinaryRows,
    Documents,
    LabelledRows,
    LogisticRows,
    MaskedRows,
    dask_engine,
)
from dpcore.wall.data.clipping import Extent, PublicFrame
from dpcore.wall.data.clipping_frame import Frame
from dpcore.wall.data.corpus import PrivateCorpus, Vocabulary
from dpcore.wall.data.design_matrix import outcomes_of
from dpcore.wall.data.labels import class_names, label_codes
from dpcore.wall.data.partitions import _Progress, _sum_of_part
from dpcore.wall.data.regression_target import bounded_target, target_frame
from dpcore.wall.data.word_counts import Bags
from dpcore.wall.kernels import minimiser, threads
from dpcore.wall.kernels.bounded_sums import on_simplex
from dpcore.wall.noise import GridNoise, PublicCoins
from dpcore.wall.session import Noise, Session
from dpcore.wall.statistics import class_vectors, row_vectors
from dpcore.wall.statistics.class_moments import ClassFrames, LabelledMoments
from dpcore.wall.statistics.class_vectors import ByLabel, LabelledVectors
from dpcore.wall.statistics.cluster_moments import MixtureSums
from dpcore.wall.statistics.labelled_exhibit import _Standard, exhibit_labelled
from dpcore.wall.statistics.local_vectors import _inside
from dpcore.wall.statistics.logistic_statistics import OutcomeMoments
from dpcore.wall.statistics.mixture_moments import InFrame
from dpcore.wall.statistics.perturbed_objective import PerturbedObjective
from dpcore.wall.statistics.row_vectors import BallVector, Vectors
from dpcore.wall.statistics.second_moments import SecondMoments
from dpcore.wall.statistics.sigmoid_belief import BeliefMoments
from dpcore.wall.statistics.topic_words import SharedOut, TopicWords
from dpcore.wall.subsample import Sample
from dpcore.wall.table import PrivateTable

NUMBERS = (Column("a", lower=0, upper=1), Column("b", lower=0, upper=1))
KIND = Column("kind", "label", "category", categories=("one", "two"))
AMOUNT = Column("amount", "target", lower=0, upper=1)
BACK = Column("back", "target", "binary", categories=("no", "yes"))
CELLS = {
    "a": [0.0, 1.0, 0.5],
    "b": [1.0, 1.0, 0.0],
    "kind": ["one", "two", "one"],
    "amount": [0.1, 0.2, 0.3],
    "back": ["yes", "no", "yes"],
}
ONE = (Noise("gaussian", 1.0),)


def table(*columns: Column, frame: dict[str, Any] | None = None) -> PrivateTable:
    schema = Schema((*NUMBERS, *columns)) if columns else Schema(NUMBERS)
    return PrivateTable.seal(pd.DataFrame(CELLS if frame is None else frame), schema)


def without_schema() -> PrivateTable:
    return PrivateTable.seal(pd.DataFrame(CELLS), None)


def corpus() -> PrivateCorpus:
    bags = Bags.of(np.array([0, 1, 2]), np.array([0, 1]), np.ones(2), 3)
    return PrivateCorpus.seal(bags.starts, bags.words, bags.counts, Vocabulary(("a", "b", "c")))


def entry(noise: str = "gaussian") -> LedgerEntry:
    return LedgerEntry("sums", noise, 20.0, 1.0, "replace_one", "a lemma")


def of_terms(name: str, body: dict[str, Any] | None = None) -> Any:
    """What is read of a ledger's state."""
    releases = () if body is None else (SimpleNamespace(body=body),)
    terms = SimpleNamespace(filter=name, limit=Amount(1.0, 1e-5))
    return SimpleNamespace(terms=terms, releases=releases)


# --- privacy and its price ------------------------------------------------------------------------


@every(
    "make, said",
    [
        (lambda: Event(Gaussian(1.0), count=-1), "count: -1 is below 0"),
        (lambda: Event(Gaussian(1.0), count=1.5), "count: 1.5 is not a whole number"),  # type: ignore[arg-type]
        (lambda: Event(Gaussian(1.0), sampling_rate=0.0), "sampling_rate: 0.0 is not in"),
        (lambda: Event(Gaussian(1.0), sampling_rate=1.1), "sampling_rate: 1.1 is not in"),
        (lambda: Event(Gaussian(1.0), sampling_rate=0.1), "set sampling to poisson"),
        (lambda: Event(Gaussian(1.0), adjacency="both"), "adjacency: 'both' is not known"),
        (lambda: Event(Laplace(1.0, l2_ratio=0.0)), "l2_ratio: 0.0 is not in"),
        (lambda: Event(Laplace(1.0, l2_ratio=1.5)), "l2_ratio: 1.5 is not in"),
        (lambda: Event(DiscreteGaussian(1.0, steps=0)), "steps: 0 is below 1"),
        (lambda: Event(DiscreteGaussian(1.0, steps=1.5)), "steps: 1.5 is not a whole"),  # type: ignore[arg-type]
        (lambda: Event(EpsilonDelta(1.0, -0.1)), "delta: -0.1 is not in"),
        (lambda: Event(EpsilonDelta(1.0, 1.1)), "delta: 1.1 is not in"),
        (lambda: Event(Gaussian(1.0), sampling="possion"), "sampling: 'possion' is not known"),  # type: ignore[arg-type]
        (lambda: Event(Gaussian(1.0), sampling=None), "sampling: None is not known"),  # type: ignore[arg-type]
        (lambda: Event(5.0), "mechanism: it is not a mechanism"),  # type: ignore[arg-type]
        (lambda: Event(Gaussian(1.0), count=10**400), "count: the number is too large"),
        (lambda: Event(Gaussian(1.0), delta_each="x"), "delta_each: 'x' is not a number"),  # type: ignore[arg-type]
        (lambda: Event(Gaussian(1.0), delta_each=0.0), "delta_each: 0.0 is not strictly between"),
        (lambda: Event(Gaussian(1.0), group=1), "group: 1 is not a name"),  # type: ignore[arg-type]
        (lambda: Event(Gaussian(1.0), parallel="no"), "parallel: 'no' is not true or false"),  # type: ignore[arg-type]
        (lambda: Event(Gaussian("much")), "noise_multiplier: 'much' is not a number"),  # type: ignore[arg-type]
        (lambda: Event(Gaussian(np.complex128(2.0))), "noise_multiplier: .* is not a number"),  # type: ignore[arg-type]
        (lambda: Event(Laplace(None)), "scale: the amount of noise is negative or undefined"),  # type: ignore[arg-type]
    ],
)
def test_an_event_that_is_none_is_refused(make: Callable[[], Event], said: str) -> None:
    with pytest.raises(InputError, match=said):
        make()


def test_an_event_at_the_ends_of_what_is_allowed_is_one() -> None:
    assert Event(Gaussian(1.0), count=0, sampling_rate=1.0).count == 0
    assert Event(EpsilonDelta(1.0, 0.0)).mechanism == EpsilonDelta(1.0, 0.0)
    assert Event(EpsilonDelta(1.0, 1.0)).at(0).mechanism == EpsilonDelta(1.0, 1.0)
    assert Event(Laplace(1.0, l2_ratio=1.0)).at(0).mechanism == Laplace(1.0, l2_ratio=1.0)


@every(
    "event, said",
    [
        (Event(Gaussian(1.0), sampling="poisson", sampling_rate=0.1), "subsampled releases"),
        (Event(EpsilonDelta(1.0, 1e-6)), "a delta above 0"),
        (Event(Gaussian(0.0)), "add noise"),
        (Event(Gaussian(math.inf)), "add noise"),
    ],
)
def test_zcdp_knows_no_cost_for_some_releases(event: Event, said: str) -> None:
    way = filter_of("zcdp")
    with pytest.raises(InputError, match=said):
        way.cost(SimpleNamespace(events=(event,)), Amount(1.0, 1e-5))  # type: ignore[arg-type]


def test_zcdp_costs_of_laplace_and_of_a_pure_release_are_half_their_squares() -> None:
    way = filter_of("zcdp")
    for event in (Event(Laplace(4.0)), Event(EpsilonDelta(0.25, 0.0))):
        cost = way.cost(SimpleNamespace(events=(event,)), Amount(1.0, 1e-5))  # type: ignore[arg-type]
        assert cost == way.cost(  # the same as a Gaussian of noise 4
            SimpleNamespace(events=(Event(Gaussian(4.0)),)),  # type: ignore[arg-type]
            Amount(1.0, 1e-5),
        )


# --- ledgers, dossiers and reports ----------------------------------------------------------------


def test_a_ledger_says_what_is_wrong_with_its_place_its_unit_and_its_lines(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="unit: it is not a word"):
        BudgetLedger.create(tmp_path / "b.sqlite", Amount(1.0, 1e-5), unit=" ")
    assert not (tmp_path / "b.sqlite").exists()
    with pytest.raises(InputError, match="it cannot be written"):
        BudgetLedger.create(tmp_path / "absent" / "b.sqlite", Amount(1.0, 1e-5))
    book = BudgetLedger.create(tmp_path / "b.sqlite", Amount(1.0, 1e-5))
    with pytest.raises(InputError, match="7 is not the line of a release"):
        book.output(7)


def test_a_ledger_of_another_format_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as other:
        other.setattr(ledger, "FORMAT", "another")
        book = BudgetLedger.create(tmp_path / "b.sqlite", Amount(1.0, 1e-5))
    with pytest.raises(TamperedError, match="the file is not a ledger"):
        book.demand_intact()


def test_a_file_beside_a_dossier_that_cannot_be_read_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def unreadable(*_: object, **__: object) -> object:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(dossier, "compare_rows", unreadable)
    with pytest.raises(
        InputError, match=r"cannot be read \(Permission denied\); check its permissions"
    ):
        dossier._compared(tmp_path, {"format": dossier.FIRST}, whole=True)


def test_a_table_without_public_bounds_is_not_released() -> None:
    with pytest.raises(InputError, match="no public bounds were given"):
        api._demand_releasable(without_schema(), dp.Privacy(1.0, 1e-6), "unsaid", {})


def test_a_model_that_is_asked_for_nothing_of_a_row_is_refused() -> None:
    with pytest.raises(InputError, match="predict"):
        dp.open_release(made("gmm").folder).answers(people(3), [])


def test_a_cell_that_is_no_text_is_written_as_it_is() -> None:
    assert as_csv(pd.DataFrame({"a": [7, "=7"]}, dtype=object)) == "a\n7\n'=7\n"


def test_rows_that_are_not_there_are_not_compared(tmp_path: Path) -> None:
    assert compare_rows(tmp_path, {"synthetic": {"sha256": "0"}}) == {}


def test_what_is_paid_for_needs_a_budget(tmp_path: Path) -> None:
    book = BudgetLedger.create(tmp_path / "b.sqlite", Amount(1.0, 1e-5))
    for privacy in (dp.Privacy(noise_multiplier=9.0, delta=1e-6), dp.Privacy(noise_multiplier=9.0)):
        with pytest.raises(InputError, match="a fit charged to a ledger needs a budget"):
            paid.paid_fit("gmm", table(), privacy=privacy, ledger=book, n_components=1)
    assert not book.state().releases


def test_a_fit_that_protects_somebody_else_or_less_is_not_paid_for() -> None:
    guarantee = SimpleNamespace(
        adjacency="replace_one",
        unit="person",
        rows_per_person=1,
        epsilon=1.0,
        delta=1e-5,
        rehearsal=False,
    )
    fit: Any = SimpleNamespace(guarantee=guarantee, ledger=SimpleNamespace(proved=True))
    one, stated = Protected("replace_one", "person", 1), Amount(1.0, 1e-5)
    paid.demand_proved(fit, one, stated)
    for who in (Protected("replace_one", "visit", 1), Protected("add_remove", "person", 1)):
        with pytest.raises(InputError, match="nothing is proved for this fit"):
            paid.demand_proved(fit, who, stated)
    for name, value in (
        ("epsilon", None),
        ("epsilon", 1.001),
        ("delta", 2e-5),
        ("rehearsal", True),
    ):
        other: Any = SimpleNamespace(
            guarantee=SimpleNamespace(**{**vars(guarantee), name: value}), ledger=fit.ledger
        )
        with pytest.raises(InputError, match="nothing is proved"):
            paid.demand_proved(other, one, stated)


def test_a_release_of_another_law_is_planned_where_sums_are_counted_alone(tmp_path: Path) -> None:
    events = (Event(EpsilonDelta(0.1, 0.0)),)
    who = Protected("replace_one", "person", 1)
    sums = BudgetLedger.create(tmp_path / "s.sqlite", Amount(1.0, 1e-5), filter="sums")
    assert paid._planned(events, sums, who) == Ledger()
    zcdp = BudgetLedger.create(tmp_path / "z.sqlite", Amount(1.0, 1e-5))
    with pytest.raises(InputError, match="not defined here for the subsampled releases"):
        paid._planned(events, zcdp, who)
    (line,) = paid._planned((Event(Laplace(3.0, l2_ratio=0.5)),), zcdp, who).entries
    assert line.event.mechanism == Laplace(float(line.noise_scale), 0.5)
    assert 3.0 * (1 - 1e-3) < float(line.noise_scale) < 3.0


def test_laplace_noise_stands_in_a_ledger_with_its_ratio_of_sensitivities() -> None:
    line = LedgerEntry("sums", "laplace", 3.0, 1.0, "replace_one", "a lemma", 0.5)
    record = line.as_dict()
    assert (record["scale"], record["l2_ratio"]) == (3.0, 0.5)
    assert "noise_multiplier" not in record


def test_what_if_is_silent_where_a_release_has_no_cost_of_its_own() -> None:
    sampled = {
        "epsilon": 0.5,
        "delta": 1e-6,
        "events": [{"mechanism": "gaussian", "sampling": "poisson", "count": 1}],
    }
    told = {row.name: row for row in whatif.counted_otherwise(_state("sums", sampled))}
    assert (told["zcdp"].spent, told["gdp"].left) == (None, None)
    assert told["sums"].spent == pytest.approx(0.5)
    other = whatif.counted_otherwise(_state("another", sampled))  # a way that is not listed
    assert not any(row.decides for row in other)


def _state(name: str, body: dict[str, Any]) -> Any:
    state = of_terms(name, body)
    amount = Amount(0.5, 1e-6)
    state.spent_amount = state.left_amount = amount
    return state


def test_a_report_leaves_out_what_is_too_large_and_says_so() -> None:
    cells = report.MOST_CELLS
    columns = [
        {"name": f"x{i}", "unit": None, "lower": 0.0, "upper": 1.0} for i in range(cells + 1)
    ]
    dossier: dict[str, Any] = {
        "parameters": {
            "coefficients": [0.0] * (cells + 1),
            "intercept": 0.0,
            "intervals": [[0.0, 1.0]] * (cells + 2),
            "intervals_include": "noise",
        },
        "columns": columns,
        "schema": "not a schema",
        "guarantee": {"assumptions": [], "notes": []},
    }
    assert report.schema_of(dossier) is None
    assert report._odds(dossier) == ""
    model: Any = SimpleNamespace(columns_first=False, one_row=False, axes={})
    assert list(report._parameters(dossier, model)) == []
    cube: dict[str, Any] = {
        "parameters": {"odd": np.zeros((2, 2, 3)).tolist(), "columns": ["a", "b"]},
        "settings": {"components": 2},
        "columns": [],
    }
    model.part = "group"
    assert list(report._parameters(cube, model)) == []  # nobody knows what its places mean
    told = "".join(report._assumed(dossier))
    more = cells + 1 - cells // 3
    assert f"dossier.json holds the limits of {more:,} more columns" in told
    assert told.count("<th>") == 3  # no column of fills without a schema


@every(
    "call, said",
    [
        (lambda place: dp.fit("mean", table(), privacy=1.0), "privacy: it is not a dpcore.Privacy"),  # type: ignore[arg-type]
        (
            lambda place: dp.release(
                "mean",
                table(),
                privacy=None,  # type: ignore[arg-type]
                ledger=place / "b.sqlite",
                out=place / "out",
            ),
            "privacy: it is not a dpcore.Privacy",
        ),
        (lambda place: dp.load(place / "t.csv", schema=7), "schema: it is neither a schema nor"),  # type: ignore[arg-type]
        (lambda place: Schema.from_bounds(None), "bounds: it is not a dict; give one such as"),  # type: ignore[arg-type]
        (lambda place: Schema.from_bounds({"a": 5}), "columns.a: it is not a pair"),  # type: ignore[dict-item]
        (lambda place: BudgetLedger(None), "ledger: it is not a path"),  # type: ignore[arg-type]
        (lambda place: BudgetLedger(place), "ledger: it is a folder; name the ledger file"),
        (
            lambda place: BudgetLedger.create(place / "b.sqlite", (1.0, 1e-5)),  # type: ignore[arg-type]
            "limit: it is not an Amount",
        ),
        (lambda place: dp.open_release(None), "dossier: it is not a path"),  # type: ignore[arg-type]
        (lambda place: dp.open_release(place), "dossier: .*; name the folder of a release"),
        (lambda place: dp.open_release(made("gmm").folder).sample(-1), "count: -1 is below 0"),
        (lambda place: dp.open_release(made("gmm").folder).sample("n"), "count: 'n' is not a num"),  # type: ignore[arg-type]
        (
            lambda place: Column("day", type="date", lower="2020-02-30", upper="2021-01-01"),  # type: ignore[arg-type]
            "columns.day.lower: it is not a date; write it as 2026-12-31, or in quotes as",
        ),
    ],
)
def test_a_thing_of_another_kind_gets_a_sentence(
    call: Callable[[Path], object], said: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=f"^{said}"):
        call(tmp_path)
    assert not list(tmp_path.iterdir())


# --- tables and their public facts ----------------------------------------------------------------


@every(
    "asked",
    [
        custodian_classes,
        partial(label_codes, private=True),
        lambda one: one.pooled(2),
    ],
)
def test_a_table_without_public_facts_is_refused(asked: Callable[[PrivateTable], object]) -> None:
    with pytest.raises(InputError, match=r"no public bounds|bounds"):
        asked(without_schema())


@every(
    "asked, said",
    [
        (
            lambda: PublicFrame.of(Schema((Column("notes", type="text"),))),
            "the schema names no column of numbers",
        ),
        (lambda: class_names(Schema((*NUMBERS, _wide_label()))), "its classes are not public"),
        (lambda: target_frame(Schema((*NUMBERS, _text_target()))), "column cannot be a target"),
        (lambda: bounded_target(_lacks(AMOUNT), private=True), "amount: .* no such"),
        (lambda: outcomes_of(_lacks(BACK), private=True), "back: .* no such"),
    ],
)
def test_a_column_that_cannot_be_used_is_named(asked: Callable[[], object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        asked()


def _wide_label() -> Column:
    return Column("kind", "label", lower=0, upper=1e9)


def _text_target() -> Column:
    return Column("amount", "target", "category", categories=("low", "high", "none"))


def _lacks(column: Column) -> PrivateTable:
    frame = {name: cells for name, cells in CELLS.items() if name != column.name}
    return table(column, frame=frame)


def test_a_yes_or_no_target_is_a_number_of_its_own() -> None:
    _, found = bounded_target(table(BACK), private=True)
    assert found.tolist() == [1.0, -1.0, 1.0]


def test_a_column_without_rows_has_no_extent_to_refuse() -> None:
    frame = PublicFrame.of(Schema(NUMBERS))
    Extent.of(np.empty((0, 2)), frame).refuse(frame)


def test_a_pass_is_told_by_parts_where_rows_are_not_counted() -> None:
    told: list[float] = []
    progress = _Progress(told.append, 4, None)
    progress.add_rows(7)
    assert told == []
    progress.set_parts(1)
    progress.end()
    assert told == [0.25, 1.0]


def test_rows_in_parts_say_their_number_where_it_is_public_alone(tmp_path: Path) -> None:
    frame = pd.DataFrame(CELLS)[["a", "b"]]
    frame.to_csv(tmp_path / "rows.csv", index=False)
    parted = dp.load(tmp_path / "rows.csv", schema=Schema(NUMBERS), out_of_core=True)
    assert parted.public_rows("add_remove") is None
    assert parted.public_rows("replace_one") == 3
    (part,), frame = parted._parts, PublicFrame.of(Schema(NUMBERS))  # type: ignore[attr-defined]
    found = _sum_of_part(
        part,  # a worker tells nobody how far it is
        of_rows=lambda rows: rows.units.sum(axis=0),
        schema=Schema(NUMBERS),
        public=frame,
        radius=2.0,
        private=True,
    )
    assert (found.count, found.total.tolist()) == (3, [0.0, 1.0])
    book = session_of(parted)
    assert repr(book._features) == "PartedRows(sealed)"
    path = tmp_path / "rows.csv"
    whole = blocks.parted(path, Schema(NUMBERS), whole=lambda: read_frame(path))
    assert whole._frame is whole._frame  # read once


def test_a_neighbouring_corpus_differs_in_one_document() -> None:
    whole = corpus()
    assert whole.neighbour(0, "add_remove")._bags.count == 1
    changed = whole.neighbour(0, "replace_one")._bags
    assert changed.words.tolist() == [1, 1]
    assert whole.schema.names == ("a", "b", "c")


def test_no_documents_are_drawn_from_none() -> None:
    none = Bags.of(np.array([0]), np.array([], dtype=int), np.array([]), 3)
    assert none.resampled(PublicCoins(0), 5) is none


def test_a_cluster_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a stand-in for the package; a real scheduler is started in the merge lane."""

    def client(address: str | None = None, **_: object) -> str:
        if address is not None:
            raise OSError
        return "workers"

    def nobody() -> object:
        raise ValueError

    stand_in: Any = SimpleNamespace(Client=client, default_client=nobody)
    monkeypatch.setattr(dask_engine, "import_module", lambda name: stand_in)
    assert dask_engine.connect(None)._client == "workers"
    with pytest.raises(InputError, match="nobody answers there"):
        dask_engine.connect("tcp://127.0.0.1:1")
    with pytest.raises(InputError, match="no cluster is connected"):
        dask_engine.current_client()
    answer: Any = dask_engine._answer(lambda part: refused(), None)  # type: ignore[arg-type]
    assert (answer.field, answer.problem, answer.remedy) == ("x", "is odd", "mend it")
    assert dask_engine._answer(lambda part: 3, None) == 3  # type: ignore[arg-type]

    def absent(name: str) -> object:
        raise ImportError

    monkeypatch.setattr(dask_engine, "import_module", absent)
    for asked in (dask_engine.current_client, lambda: dask_engine.connect(None)):
        with pytest.raises(InputError, match=dask_engine._MISSING[0]):
            asked()


def refused() -> object:
    raise InputError("x", "is odd", "mend it")


# --- sessions and what they sum -------------------------------------------------------------------


def labelled(**more: Any) -> Session[Any]:
    return session_of(table(KIND), LabelledRows, adjacency="label", **more)


def frames(classes: int = 2, dim: int = 2) -> ClassFrames:
    shape = (1, classes, dim)
    return ClassFrames(np.zeros(shape), np.broadcast_to(np.eye(dim), (*shape, dim)))


def vectors(session: Session[Any], shape: LabelledVectors, known: Any) -> object:
    return session.release("sums", shape, ByLabel(known), ONE)


def topics(words: int, *, weights: int = 2, runs: int = 1) -> object:
    book = session_of(corpus(), partial(Documents, length=5))
    of = SharedOut(
        np.ones((runs, 2, words)), lambda bags, runs: np.ones((len(runs), bags.count, weights))
    )
    return book.release("sums", TopicWords(2, words, 5.0), of, ONE)


def belief(visible: int, hidden: int = 1, *, units: int = 1) -> object:
    book = session_of(table(), BinaryRows)

    def step(rows: Any, run: int) -> Any:
        return np.zeros((len(rows), units)), np.zeros(rows.shape)

    return book.release("sums", BeliefMoments(hidden, visible), step, ONE)


SHAPES: list[tuple[Callable[[], object], type[Exception], str]] = [
    (
        lambda: labelled().release("sums", LabelledMoments(3, 2, 1, 1, 1), frames(), ONE),
        ValueError,
        "does not match the rows",
    ),
    (
        lambda: labelled().release("sums", LabelledMoments(2, 2, 1, 1, 1), frames(3), ONE),
        ValueError,
        r"the shape \(runs, classes, dim\)",
    ),
    (
        lambda: vectors(labelled(), LabelledVectors(3, 2, 1.0), lambda run, which: None),
        ValueError,
        "number of classes",
    ),
    (
        lambda: vectors(
            labelled(), LabelledVectors(2, 2, 1.0), lambda run, which: np.zeros((1, 2))
        ),
        ValueError,
        r"the shape \(rows, size\)",
    ),
    (lambda: class_vectors._by_labels("feature", add=1.0, moves=1.0), InputError, "as public"),
    (
        lambda: session_of(table()).release(
            "sums", MixtureSums(2, 2, 2.0, 1.0, 1.0), InFrame(Frame.identity(2, 1.0)), ONE
        ),
        ValueError,
        "need an E step and one frame",
    ),
    (
        lambda: exhibit_labelled(labelled(noise=None), "x", lambda *each: each, 1),
        InputError,
        "a method as published needs noise",
    ),
    (
        lambda: _inside(
            session_of(table(), MaskedRows), lambda seen, runs: np.zeros((1, 1, 1)), 1.0
        ),
        WallError,
        "one vector for each run and row",
    ),
    (lambda: OutcomeMoments(2, 1.0, 1.0, 1.0, least=1.5), InputError, "between 0 and 1"),
    (
        lambda: session_of(table(BACK), LogisticRows).release(
            "sums", OutcomeMoments(9, 2.0, 1.0, 1.0), None, ONE
        ),
        ValueError,
        "the contribution and the rows differ in dimension",
    ),
    (
        lambda: PerturbedObjective(9, 2.0).release(
            session_of(table(BACK), LogisticRows), "sums", np.ones(1), np.ones(1)
        ),
        ValueError,
        "the objective and the rows differ in dimension",
    ),
    (
        lambda: BallVector(2, 1.0).total(
            session_of(table(), MaskedRows), Vectors(lambda *each: None), object()
        ),
        WallError,
        "cannot be subsampled",
    ),
    (lambda: row_vectors._demand_as_many(4, 3), InputError, "more parts than rows"),
    (lambda: belief(3), ValueError, "number of pixels"),
    (lambda: belief(2, units=2), ValueError, "a belief must have the shapes"),
    (lambda: topics(2), ValueError, "the corpus differ in their number of words"),
    (lambda: topics(3, runs=2), ValueError, r"the shape \(runs, components, words\)"),
    (
        lambda: _Standard(3).l1_sensitivity("label", "sums"),
        InputError,
        "Laplace noise is not covered",
    ),
    (lambda: topics(3, weights=3), ValueError, r"the shape \(runs, documents, topics\)"),
    (lambda: SecondMoments(2, 1.0).slice("absent"), KeyError, "absent"),
    (lambda: Sample("poisson", 0.0), InputError, "the sampling rate"),
    (lambda: Sample("poisson", 1.5), InputError, "the sampling rate"),
    (
        lambda: subsample.check_sample(session_of(table()), Sample("poisson", 0.5)),
        WallError,
        "under this adjacency",
    ),
    (lambda: BinaryRows(table(), None, threshold=1.0), InputError, "it is not in"),  # type: ignore[arg-type]
    (lambda: session_of(corpus(), Documents, adjacency="label"), InputError, "have no labels"),
    (lambda: session_of(corpus(), Documents)._features, WallError, "no rows of numbers"),
    (lambda: copy.copy(PublicCoins(0)), TypeError, "never copied"),
    (lambda: grid.demand_few(2**22 + 1, grid.MOST_ROWS), InputError, "at most 4,194,304 rows"),
    (
        lambda: grid.grid_for(1e-12, 1.0, 1.0, 10**9, 4),
        InputError,
        "too small: the sums would not fit",
    ),
]


@every("asked, kind, said", SHAPES)
def test_a_statistic_that_does_not_fit_is_refused(
    asked: Callable[[], object], kind: type[Exception], said: str
) -> None:
    with pytest.raises(kind, match=said):
        asked()


def test_parts_are_measured_with_normal_noise() -> None:
    book = session_of(table(), MaskedRows)
    parts, noise = row_vectors.Parts(book, 2), Noise("laplace", 1.0)
    with pytest.raises(WallError, match="Gaussian noise"):
        parts.release_next("sums", BallVector(2, 1.0), lambda *each: np.zeros((1, 2, 1)), noise)
    assert not book.ledger.entries


@every("noise", [Noise("laplace", 1.0), replace(ONE[0], widen_off_diagonal=2.0)])
def test_a_release_to_disk_takes_normal_noise_alone(noise: Noise) -> None:
    source = GridNoise()
    book = session_of(table(), noise=source)
    shape = SecondMoments(2, 1.0)
    with pytest.raises(InputError):
        book._add_whole_numbers("sums", np.zeros((1, 1, shape.size)), shape, noise, source)
    assert not source.drawn


def test_an_exhibit_whose_blocks_all_have_noise_is_proved() -> None:
    book = session_of(table())
    book.exhibit("sums", SecondMoments(2, 2.0), None, ONE)
    assert book.ledger.proved


# --- kernels --------------------------------------------------------------------------------------


def test_no_weights_are_on_the_simplex() -> None:
    assert on_simplex(np.empty((2, 0))).shape == (2, 0)


def test_a_search_that_rounding_hides_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    look = minimiser._Look(np.ones(1), 1.0, 0.0, np.ones(1))
    flat = minimiser._Look(np.full(1, np.nan), 2.0, 0.0, np.ones(1))

    class Loss:
        searches, whole = 3, 1.0
        slopes = (flat,)

        def step(self, look: Any) -> Any:
            return np.ones(1)

        def moved(self, point: Any, step: Any) -> Any:
            return point - step

        def look(self, point: Any) -> Any:
            return self.slopes[0]

    loss: Any = Loss()
    assert minimiser._searched(loss, 0.0, look, 1.0) is None  # a slope that is no number
    steep = minimiser._Look(np.full(1, 1.0), 2.0, 0.0, np.ones(1))
    loss.slopes = (steep,)
    assert minimiser._searched(loss, 0.0, look, 1.0) is None  # as steep after every search
    assert minimiser._descend(loss, 0.0, 0.0, 0) == (0.0, False)  # no steps


def test_floating_point_says_where_it_gives_up() -> None:
    rows = np.zeros((2, 2))
    huge = minimiser._Floats(rows, np.full(2, 1e300), 1.0, 1.0)
    assert np.isnan(huge.look(np.zeros((2, 2))).gradient).all()
    flat = minimiser._Floats(rows, np.zeros(2), 0.0, 1.0)
    assert np.isnan(flat.step(flat.look(np.zeros((2, 2))))).all()


def test_a_thread_that_finds_nothing_left_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    class Emptied(deque[int]):
        """Somebody else takes the last number between a look and the grasp."""

        def popleft(self) -> int:
            if len(self) == 1:
                self.clear()
            return super().popleft()

    monkeypatch.setattr(threads, "deque", Emptied)
    added: list[int] = []
    threads.in_order(lambda i: np.zeros(1), lambda i, part: added.append(i), 1)
    assert added == []


def _loaded(*names: str) -> PrivateTable:
    columns = {column.name: column for column in NUMBERS}
    schema = Schema(tuple(columns[name] for name in names))
    return dp.load(pd.DataFrame({"a": [0.0, 1.0], "b": [1.0, 0.0]}), schema=schema)


def _study(setting: Any = None, **words: Any) -> Any:
    return dp.study(_loaded("a", "b"), setting or dp.Setting("mean", 1), **words)


def _sweep(**words: Any) -> Any:
    budgets = {"epsilons": [1.0], "delta": 1e-5, "n_components": 1}
    return dp.sweep("mean", _loaded("a", "b"), **budgets | words)


def _fit(**words: Any) -> Any:
    table = _loaded("a", "b")
    privacy = words.pop("privacy", dp.Privacy(1.0, 1e-5))
    return dp.fit("mean", table, privacy=privacy, **words)


def _centres(**words: Any) -> Any:
    return DPKMeans(1, **words).fit(pd.DataFrame({"a": [0.0, 1.0], "b": [1.0, 0.0]}))


@every(
    "act, problem",
    [
        *[
            (partial(_fit, seed=seed), r"^seed: .* is (not a|below)")
            for seed in ("x", 1.5, -1, [1], True)
        ],
        (lambda: dp.Privacy(1.0, 1e-5, accountant=None), "^accountant: it is not a name"),  # type: ignore[arg-type]
        (lambda: Schema("ab"), "^columns: some entries are not columns; give dpcore.Column"),  # type: ignore[arg-type]
        (lambda: dp.replay(None, None), "^proof: the proof or the ledger is missing"),  # type: ignore[arg-type]
        (
            lambda: dp.replay(Ledger(()), None),  # type: ignore[arg-type]
            "^proof: the proof or the ledger is missing",
        ),
        (lambda: Schema.from_toml("[table]\nunit = 'day'"), "^schema: it is the text of a schema"),
        (lambda: _fit(seed=0).sample(2, seed="x"), "^seed: 'x' is not a number"),
        (
            partial(_centres, bounds={"a": 1, "b": 9}),
            "^bounds: the bounds of a column are not a pair",
        ),
        (partial(_centres, bounds=True), "^bounds: they are not numbers; give"),
        (partial(_centres, bounds="01"), "^bounds: they are not numbers; give"),
        (partial(_fit, schema={"a": (0, 1)}), "^schema: it is neither a schema nor the path"),
        (lambda: _fit(seed=0).score(pd.DataFrame({"a": [0.5]})), "^table: it is a DataFrame that"),
        (lambda: _fit(seed=0).score(dp.load("bundled:iris")), "^table: it has other columns"),
        (lambda: _fit(seed=0).score(_loaded("b", "a")), "^table: it has other columns"),
        (partial(dp.audit, "gaussian", 1.0), "^privacy: it is not a dpcore.Privacy"),
        (
            partial(dp.audit, "gmm", components=2),
            "^components: model 'gmm' takes no such option; it",
        ),
        (
            partial(dp.audit, "mean", n_components=3),
            "^n_components: model 'mean' takes no such opt",
        ),
        (lambda: dp.figure(_fit(seed=0)), "^study: it is not a study"),
        (partial(_study, setting="gmm"), "^setting: it is not a dpcore.Setting"),
        (partial(_study, dp.Setting(components=0)), "^components: 0 is below 1"),
        (partial(_study, dp.Setting(covariance="tied")), "^covariance: 'tied' is not known"),
        (partial(_study, dp.Setting(words=(3,))), "^words: they are not pairs"),  # type: ignore[arg-type]
        (partial(_study, dp.Setting(metric="loss")), "^metric: 'loss' is not known"),
        (partial(_study, dp.Setting(clip=None)), "^clip: none was given"),  # type: ignore[arg-type]
        (partial(_study, dp.Setting(words=((1, 2),))), "^words: they are not pairs"),  # type: ignore[arg-type]
        (partial(_study, dp.Setting(words=(("rounds", 2),))), "^rounds: .* takes no such option"),
        (partial(_study, dp.Setting(metric=pd.NA)), "^metric: <NA> is not known"),  # type: ignore[arg-type]
        (partial(_study, dp.Setting(mode=pd.NA)), "^mode: <NA> is not known"),  # type: ignore[arg-type]
        (partial(_study, dp.Setting(accountant=pd.NA)), "^accountant: it is not a name"),  # type: ignore[arg-type]
        (
            partial(_study, dp.Setting("mean", 1, secret="key")),
            "^secret: it is not bytes, or more than 64",
        ),  # type: ignore[arg-type]
        (
            partial(_study, dp.Setting("mean", 1, secret=b"k" * 65)),
            "^secret: it is not bytes, or more than 64",
        ),
        (partial(_study, draws=0), "^draws: 0 is below 1"),
        (partial(_study, draws=10**5), "^draws: 100000 is above 10000"),
        (partial(_study, epsilons=[10**400]), "^epsilon: a value is not a number"),
        (partial(_study, epsilons=()), "^epsilons: it is not a list of numbers"),
        (partial(_study, epsilons=1.0), "^epsilons: it is not a list of numbers"),
        (partial(_study, methods=("zzz",)), "^accountant: 'zzz' is not known"),
        (partial(_study, methods="zcdp"), "^methods: it is not a list of names"),
        (partial(_sweep, methods="zcdp"), "^methods: it is not a list of names"),
        (partial(_sweep, modes=()), "^modes: it names nothing"),
        (partial(_sweep, modes=np.array("proved")), "^modes: it is not a list of names"),
        (partial(_sweep, metric=pd.NA), "^metric: <NA> is not known"),
        (partial(_sweep, metric=""), "^metric: '' is not known"),
        (partial(_sweep, seed="x"), "^seed: 'x' is not a number"),
        (partial(_sweep, seed=-1), "^seed: -1 is below 0"),
        (partial(_sweep, test_fraction="x"), "^test_fraction: 'x' is not a number"),
        (partial(_sweep, test_fraction=1.0), "^test_fraction: 1.0 is not strictly between"),
        (partial(_sweep, n_components=None), "^n_components: none was given"),
        (partial(_sweep, draws=10**400), "^draws: the number is too large"),
        (partial(_sweep, draws=10**300), "^draws: .* is above 10000"),
        (partial(_sweep, splits=10**300), "^splits: .* is above 10000"),
        (partial(_sweep, epsilons=1.0), "^epsilons: it is not a list of numbers"),
        (partial(_sweep, epsilons=[]), "^epsilons: it is not a list of numbers"),
        (partial(dp.load_documents, ["a text"]), "^documents: it is not a path"),
        (partial(dp.load_documents, ""), "^vocabulary: no public list of words"),
        (partial(dp.load_documents, "/"), "^vocabulary: no public list of words"),
        *[
            (partial(act, "long" * 100), "^[a-z]+: the system refuses it")
            for act in (dp.verify, dp.open_release, dp.load_documents, dp.BudgetLedger)
        ],
        (partial(dp.load_documents, ".", vocabulary=3), "^vocabulary: it is not a list of names"),
        (partial(dp.load_documents, ".", vocabulary="a\0"), "^vocabulary: its name contains a NUL"),
        (partial(dp.load_documents, ".", schema=3), "^schema: it is neither a schema nor the path"),
        (partial(dp.load, "bundled:iris", engine=pd.NA), "^engine: <NA> is not known"),
        (partial(dp.load, "bundled:iris", out_of_core="no"), "^out_of_core: 'no' is not true or"),
        (partial(_fit, mode=pd.NA), "^mode: <NA> is not known"),
        (lambda: Schema(None), "^columns: some entries are not columns"),  # type: ignore[arg-type]
        (lambda: Vocabulary((1, 2)), "^vocabulary: a word is not a text"),  # type: ignore[arg-type]
    ],
)
def test_things_of_another_kind_are_refused_in_python(act: Callable[[], Any], problem: str) -> None:
    """One sentence with the remedy; a pair of radii is no pair of limits."""
    with pytest.raises(InputError, match=problem) as refusal:
        act()
    assert str(refusal.value).count(";") == 1


def test_a_value_that_is_too_long_to_read_is_not_repeated_whole() -> None:
    with pytest.raises(InputError, match=r"^epsilon: .* is not a number; give a number") as refusal:
        dp.Privacy(epsilon="7" * 100 + "x" * 10**6)  # type: ignore[arg-type]
    assert len(str(refusal.value)) < 1010


def test_more_rows_or_runs_than_can_be_drawn_are_refused() -> None:
    table = dp.load("bundled:iris")
    with pytest.raises(InputError, match=r"^count: 1e\+300 is above 1000000000"):
        dp.fit("mean", table, privacy=None).sample(1e300)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"^runs: 1e\+300 is above 1000000000"):
        dp.audit("gmm", dp.Privacy(epsilon=1.0, delta=1e-5), runs=1e300)  # type: ignore[arg-type]


def _judged(fitted: Schema, judged: Schema, model: str, **words: Any) -> float:
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"a": rng.random(200), "b": rng.random(200)})
    rows["back"] = np.where(rows["a"] > 0.5, "yes", "no")
    rows["kind"] = np.where(rows["a"] > 0.5, "two", "one")
    budget = dp.Privacy(8.0, 1e-5)
    fit = dp.fit(model, dp.load(rows, schema=fitted), privacy=budget, seed=0, **words)
    return fit.score(dp.load(rows, schema=judged))


def test_a_fit_is_scored_on_any_table_with_the_columns_that_its_model_reads() -> None:
    plain, labelled = Schema(NUMBERS), Schema((KIND, *NUMBERS))
    scores = [
        _judged(fitted, judged, "kmeans", n_components=2)
        for fitted in (plain, labelled)
        for judged in (plain, labelled)
    ]
    assert scores == [scores[0]] * 4


@every("model, column", [("logistic", BACK), ("gmm-release", KIND)])
def test_a_fit_is_not_scored_on_classes_in_another_order(model: str, column: Column) -> None:
    """It would say how well the wrong class is told."""
    back = Schema((*NUMBERS, replace(column, categories=column.categories[::-1])))
    with pytest.raises(InputError, match="it has other columns, categories"):
        _judged(Schema((*NUMBERS, column)), back, model)


@every("kind", [InputError, NotCovered, SharesExceedDelta, TamperedError, PaidError, WallError])
def test_an_error_leaves_a_worker_process(kind: type[DPCoreError]) -> None:
    """A pool waits for ever for one that cannot be unpickled."""
    parts = ("field", "problem", "remedy")
    several = issubclass(kind, InputError) and kind is not TamperedError
    error = kind(*parts) if several else kind("it failed")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert (str(again), vars(again)) == (str(error), vars(error))
