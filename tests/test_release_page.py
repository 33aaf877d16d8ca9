"""The Release page: plan, review, spend once; nothing is spent by looking."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import wording
from app_pages import data_of
from streamlit.runtime.scriptrunner import RerunData, RerunException, get_script_run_ctx
from streamlit.testing.v1 import AppTest

from app import compute, releasing, result_store, several
from app.plan_table import TOTALS, PlanLine, PlanTable
from app.scenario import Scenario, opening
from app.texts import release as release_texts
from app.views import release
from app.views.release import _bought
from dpcore.accounting.zcdp import tight_epsilon
from dpcore.errors import InputError
from dpcore.planning import plan
from dpcore.planning.curves import MIDDLING, WORLDS, UtilityCurve
from dpcore.privacy import Privacy
from dpcore.privacy.guarantee import show
from dpcore.releases.api import planned_noise
from dpcore.releases.filter import Amount
from dpcore.releases.ledger import BudgetLedger, Protected
from dpcore.schema import Column, Schema
from dpcore.wall.table import PrivateTable

PATIENCE = 60
PAGE = """
import streamlit as st
from app.frame import frame
from app.views.release import page
st.set_page_config(layout="wide")
frame()
page()
"""


def page(path: Path, **choices: object) -> AppTest:
    """The page as it stands after Explore was left with these choices."""
    at = AppTest.from_string(PAGE, default_timeout=PATIENCE)
    at.session_state["scenario"] = replace(Scenario(), **choices)  # type: ignore[arg-type]
    at.session_state["ledger_path"] = str(path)
    at.run()
    assert not at.exception
    return at


def opened_by(path: Path, **address: str) -> AppTest:
    """The page as a link opens it."""
    at = AppTest.from_string(PAGE, default_timeout=PATIENCE)
    at.query_params.update(address)
    at.session_state["ledger_path"] = str(path)
    at.run()
    assert not at.exception
    return at


def texts(at: AppTest) -> str:
    return " ".join(str(one.value) for one in (*at.markdown, *at.caption, *at.error, *at.success))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "budget.sqlite"


def test_from_no_ledger_to_a_release_and_to_the_end_of_the_budget(path: Path) -> None:
    at = page(path)
    assert not path.exists(), "looking makes no file"
    at.button[-1].click().run()  # start this ledger
    assert BudgetLedger(path).state().terms.limit == Amount(2.0, 1e-5)
    for line in (2, 4, 6):  # each is paid for in one line, and written down in the next
        assert release_texts.guarantee(1.0, 1e-5) in texts(at)
        assert at.button[-1].disabled
        assert at.checkbox[0].label == release_texts.confirmation(1.0, again=line > 2)
        (who,) = (one for one in at.text_input if one.label == release_texts.CONTROLLER)
        who.input(f"Registry {line}")
        at.checkbox[0].check().run()
        assert len(BudgetLedger(path).state().releases) == line // 2 - 1, (
            "nothing is spent by reading"
        )
        at.button[-1].click().run()
        assert not at.exception
        folder = path.parent / f"budget-release-{line}"
        dossier = json.loads((folder / "dossier.json").read_text())
        sentence = dossier["guarantee"]["sentence"]
        assert release_texts.outcome(line, sentence, str(folder)) in texts(at)
        assert dossier["told_apart"] in [one.value for one in at.info]
        said = [dossier[name] for name in ("file", "controller", "purpose", "rows")]
        assert said == ["Three groups", f"Registry {line}", "", 5000]
    at.checkbox[0].check().run()
    left = BudgetLedger(path).state().left_amount
    assert release_texts.does_not_fit(left.epsilon, left.delta) in texts(at)
    assert at.button[-1].disabled
    assert len(BudgetLedger(path).state().releases) == 3


def click_elsewhere(monkeypatch: pytest.MonkeyPatch, module: Any, name: str) -> list[RerunData]:
    """The browser sends another request while a function runs; what is left of such requests."""
    whole = getattr(module, name)
    others: list[RerunData] = []

    def interrupt() -> None:
        if others:
            raise RerunException(others.pop())

    def with_a_click(*words: Any, **named: Any) -> Any:
        try:
            return whole(*words, **named)
        finally:
            context = get_script_run_ctx()
            others.append(RerunData(widget_states=None))
            object.__setattr__(context.session_state, "_yield_callback", interrupt)

    monkeypatch.setattr(module, name, with_a_click)
    return others


def test_a_click_while_a_paid_release_fails_does_not_lose_what_became_of_it(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    BudgetLedger.create(path, Amount(2.0, 1e-5))
    at = page(path)
    at.checkbox[0].check().run()
    others = click_elsewhere(monkeypatch, releasing, "spend")

    def full(*words: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as disk:
        disk.setattr(Path, "write_bytes", full)
        at.button[-1].click().run()
    assert not at.exception
    assert not others, "the click was served"
    said = release_texts.unwritten(2, "No space left on device")
    assert said in texts(at)
    assert "dossier.json" in downloads(at), "the ledger has them"
    assert "Releases so far: 1." in texts(at), "what is left is worked out anew"
    other = path.with_name("other.sqlite")
    BudgetLedger.create(other, Amount(2.0, 1e-5))
    at.text_input(key="ledger_text").input(str(other)).run()
    assert said not in texts(at), "another ledger has paid for nothing"
    at.text_input(key="ledger_text").input(str(path)).run()
    assert said in texts(at)
    at.checkbox[0].check().run()
    monkeypatch.undo()
    at.button[-1].click().run()
    assert said not in texts(at)
    assert "This is line 4 of the ledger." in texts(at)


def downloads(at: AppTest) -> list[str]:
    return [one.label for one in at.get("download_button")]


def test_whoever_comes_back_finds_the_files_of_what_was_paid_for(path: Path) -> None:
    """On a shared server nobody else could write them again, and whose page was closed or reloaded
    too early had paid for nothing."""
    BudgetLedger.create(path, Amount(2.0, 1e-5))
    scenario = Scenario()
    made = releasing.spend(scenario, data_of(scenario).table, "real data", path)
    at = page(path)
    assert downloads(at) == []
    (lines,) = (one for one in at.selectbox if one.label == release_texts.EARLIER)
    assert len(lines.options) == 1
    lines.select_index(0).run()
    assert not at.exception
    assert downloads(at) == ["dossier.json", "synthetic.csv", "report.html"]
    assert release_texts.outcome(2, made.dossier["guarantee"]["sentence"]) in texts(at)
    dossier, files = releasing.on_record(path, 2)
    assert dossier == made.dossier
    assert files == releasing.files(made)


def test_a_visitor_is_not_told_where_the_files_of_a_server_are(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DPCORE_LOCK_TRUTH", "1")
    monkeypatch.setenv(releasing.HOME, str(path.parent))
    BudgetLedger.create(path, Amount(2.0, 1e-5))
    at = page(Path(path.name))
    at.checkbox[0].check().run()
    at.button[-1].click().run()
    assert not at.exception
    assert "This is line 2 of the ledger." in texts(at)
    assert str(path.parent) not in texts(at)
    assert "dossier.json" in downloads(at)


def test_whoever_is_second_to_start_a_ledger_is_not_advised_on_commands(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = page(path)
    real = BudgetLedger.create

    def late(*words: Any, **named: Any) -> BudgetLedger:
        real(*words, **named)  # somebody else's
        return real(*words, **named)

    monkeypatch.setattr(BudgetLedger, "create", late)
    at.button[-1].click().run()
    assert [one.value for one in at.error] == [release_texts.ALREADY_STARTED]


def test_a_click_while_a_release_is_made_does_not_lose_what_was_paid_for(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next request of a browser ends a run at the next use of its session."""
    BudgetLedger.create(path, Amount(2.0, 1e-5))
    at = page(path)
    at.checkbox[0].check().run()
    others = click_elsewhere(monkeypatch, releasing, "spend")
    at.button[-1].click().run()
    assert not at.exception
    assert not others, "the click was served"
    assert len(BudgetLedger(path).state().releases) == 1
    assert [one.label for one in at.get("download_button")][:1] == ["dossier.json"]
    assert not at.checkbox[0].value, "another release is confirmed anew"


def test_a_total_that_could_not_pay_for_the_release_is_told_before_it_is_fixed(path: Path) -> None:
    at = page(path, epsilon=4.0)
    assert at.warning[0].value == release_texts.total_too_small(4.0)
    (total,) = (one for one in at.number_input if one.label == release_texts.TOTAL_EPSILON)
    total.set_value(4.0).run()
    assert not at.warning


@pytest.mark.merge
def test_a_click_is_answered_while_more_is_being_worked_out(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What comes in meanwhile begins the page anew: not before the click has been answered."""
    BudgetLedger.create(path, Amount(8.0, 1e-5), unit="flower")
    at = page(path, **vars(opening("iris")))  # small: all is worked out at once
    at.checkbox[0].check().run()
    whole, asked = compute.study, []

    def partly_at_first(*given: Any) -> compute.Study:
        asked.append(given)
        found = whole(*given)
        return replace(found, complete=False, curves=None) if len(asked) == 1 else found

    monkeypatch.setattr(compute, "study", partly_at_first)
    at.button[-1].click().run()
    assert len(asked) > 1
    assert len(BudgetLedger(path).state().releases) == 1


def test_budget_that_a_release_holds_and_has_not_ended_is_named(path: Path) -> None:
    book = BudgetLedger.create(path, Amount(2.0, 1e-5))
    asked, stated = Privacy(epsilon=0.5, delta=1e-5), Amount(0.5, 1e-5)
    book.reserve(planned_noise(asked, stated), stated, Protected("replace_one", "person"))
    assert "Line 2 counts as spent: its release is under way" in texts(page(path))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("a\0b", "ledger: its name contains a NUL"),
        ("a" * 300, "ledger: the system refuses it"),
        ("~nobody_of_that_name/budget.sqlite", release_texts.NO_LEDGER),
    ],
)
def test_a_name_of_a_ledger_that_no_file_can_have_is_told(name: str, words: str) -> None:
    assert words in texts(page(Path(name)))


@pytest.mark.parametrize("epsilon", [2.0, 0.5])
def test_a_ledger_for_others_is_refused_whatever_is_left_and_stays_as_it_is(
    epsilon: float, path: Path
) -> None:
    """To ask for less would not help."""
    BudgetLedger.create(path, Amount(epsilon, 1e-5), unit="household")
    at = page(path)
    at.checkbox[0].check().run()
    with pytest.raises(InputError, match="protects one household") as refusal:
        BudgetLedger(path).state().terms.demand(Protected("replace_one", "person"))
    assert [one.value for one in at.error] == [str(refusal.value)]
    assert at.button[-1].disabled
    assert BudgetLedger(path).state().releases == ()


@pytest.mark.parametrize(
    ("choices", "words"),
    [
        (
            {"method": "dpem_gaussian", "count_by": "zcdp"},
            release_texts.other_method("", published=False)[1],
        ),
        ({"without": True}, release_texts.ROW_REMOVED[1]),
        ({"data": "upload"}, ""),
    ],
)
def test_what_cannot_be_released_says_why(
    path: Path, choices: dict[str, object], words: str
) -> None:
    at = page(path, **choices)
    assert words in " ".join((texts(at), *(one.value for one in at.code)))
    assert not at.button
    assert not path.exists()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (
            "five_parties",
            (
                "Labelled Gaussian mixture",
                "replacing one voter's label",
                "1,000 synthetic rows",
                release_texts.PUBLIC_COLUMNS["label"],
            ),
        ),
        ("who_comes_back", ("replacing one patient's row", "columns, and a report")),
        ("two_lines", ("1,000 synthetic rows",)),
    ],
)
def test_the_review_names_what_leaves_and_who_is_protected(
    data: str, words: tuple[str, ...], path: Path
) -> None:
    BudgetLedger.create(path, Amount(2.0, 1e-5))
    said = texts(page(path, **vars(opening(data))))
    assert all(word in said for word in words), said


def test_where_an_id_limits_rows_the_review_does_not_say_that_all_are_fitted() -> None:
    """The next line says how many rows of a person count."""
    sizes = {"size": 2, "documents": False, "synthetic": True}
    all_rows, some = (
        release_texts.what_leaves("k-means", "row", persons=persons, **sizes)
        for persons in (False, True)
    )
    assert "fitted to all rows in" in all_rows
    assert "fitted to the rows that count in" in some
    columns = (Column("who", role="id", type="text"), Column("age", lower=0, upper=110))
    schema = Schema(columns, unit="patient", rows_per_person=3, equal_weight=True)
    table = PrivateTable.seal(pd.DataFrame({"who": ["a"], "age": [3.0]}), schema)
    lines = releasing.review(Scenario(model="kmeans"), table, "stand-in")
    assert "rows that count in 1 column, with the same weight for each patient; 1,000" in lines[0]


@pytest.mark.parametrize("name", ["", "../out", "/elsewhere/out", "a/out", ".hidden", ".."])
def test_on_a_shared_server_a_ledger_lies_in_its_folder(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DPCORE_LOCK_TRUTH", "1")
    with pytest.raises(InputError, match=r"no folder|no file"):
        releasing.place(name or " ")
    monkeypatch.setenv(releasing.HOME, str(tmp_path))
    with pytest.raises(InputError, match="ledger"):
        releasing.place(name)
    assert releasing.place("budget.sqlite") == tmp_path / "budget.sqlite"


def test_a_ledger_with_a_long_name_pays(tmp_path: Path) -> None:
    """The folder of a release, called after it, once had a name that the system refused."""
    path = tmp_path / ("ß" * 123)  # 246 bytes, and 8 for the file that SQLite writes beside it
    BudgetLedger.create(path, Amount(2.0, 1e-5))
    scenario = Scenario()
    released = releasing.spend(scenario, data_of(scenario).table, "real data", path)
    assert released.folder.name.endswith("ß-release-2")


def test_files_named_like_the_folder_of_a_release_do_not_block_it(path: Path) -> None:
    """On a shared server anybody may start ledgers, whose names stand beside the folder."""
    BudgetLedger.create(path, Amount(2.0, 1e-5))
    stem = path.parent / "budget-release-2"
    for taken in (stem, *(path.parent / f"{stem.name}-{more}" for more in range(2, 120))):
        taken.touch()
    scenario = Scenario()
    released = releasing.spend(scenario, data_of(scenario).table, "real data", path)
    assert released.folder.name == f"{stem.name}-120"


def test_a_ledger_covers_up_to_so_many_rows_whatever_limits_them(path: Path) -> None:
    """An id column may: then nobody need have as many rows as count."""
    at = page(path, rows_per_person=10)
    assert "replacing up to 10 rows of one person" in at.selectbox[-1].options
    at.button[-1].click().run()
    assert "Protected change: replacing up to 10 rows of one person. Releases" in texts(at)


def test_the_bar_says_what_the_ledger_will_charge(path: Path) -> None:
    BudgetLedger.create(path, Amount(2.0, 1e-5))
    scenario = Scenario(epsilon=1.0, iterations=2)
    plan = releasing.planned(BudgetLedger(path).state(), scenario)
    data = data_of(scenario)
    releasing.spend(scenario, data.table, "real data", path)
    state = BudgetLedger(path).state()
    assert state.spent[0] / state.budget[0] == pytest.approx(plan.share, rel=1e-3)
    assert state.spent[0] / state.budget[0] <= plan.share


@pytest.mark.merge
def test_more_rows_are_needed_for_more_accuracy_and_for_less_epsilon() -> None:
    scenario = Scenario()
    data = data_of(scenario)
    store = result_store.ResultStore()
    while not (study := compute.study(scenario, data, store)).complete:
        time.sleep(0.05)
    found = [releasing.reached(study, scenario, share, data.rows) for share in (0.5, 0.9)]
    assert found[0].epsilon < found[1].epsilon
    assert found[1].low >= 0.8
    rows = [one.rows or 0 for one in found]
    assert rows[0] < rows[1]
    richer = releasing.reached(study, replace(scenario, epsilon=4.0), 0.9, data.rows)
    assert (richer.rows or 0) < rows[1]
    beyond = releasing.reached(study, scenario, 1.5, data.rows)
    assert beyond.epsilon is None
    assert found[1].low < beyond.most < 1.5


@pytest.mark.parametrize("draws", [1, 5, 13])
def test_a_range_is_told_once_there_are_draws_enough(
    path: Path, monkeypatch: pytest.MonkeyPatch, draws: int
) -> None:
    """Draws arrive one, then five, then thirteen."""
    whole = compute.study

    def so_far(*given: Any) -> compute.Study:
        found = whole(*given)
        grid = replace(found.grid, utility=found.grid.utility[:, :draws])
        return replace(found, grid=grid)

    monkeypatch.setattr(compute, "study", so_far)
    said = texts(page(path))
    assert (f"of {draws} simulated releases; they keep" in said) == (draws > 1)
    assert (release_texts.FEW_DRAWS in said) == (draws == 1)


def test_a_range_of_one_is_one_share() -> None:
    found = releasing.Reached(epsilon=1.0, low=0.901, high=0.904, rows=None, most=0.99)
    told = _bought(found, 0.9, 1.0, 5)
    assert told.endswith(" keep 90%.")
    assert "keep 90% to 91%." in _bought(replace(found, high=0.91), 0.9, 1.0, 5)


def test_where_the_steps_themselves_fall_short_more_budget_is_not_the_advice(path: Path) -> None:
    said = texts(page(path, data="iris", iterations=1))
    assert "Even without noise" in said
    assert release_texts.no_epsilon(0.9, "rows") not in said


def test_nobody_is_told_to_clip_less_than_not_at_all() -> None:
    short = releasing.Reached(None, 0.0, 0.0, None, 0.5)
    assert " keep only 50%: on Explore, allow more iterations" in _bought(short, 0.9, 1.0, 5)
    assert "clip less" in _bought(short, 0.9, 1.0, 5, clipped=True)
    assert "no better than the simplest baseline" in _bought(replace(short, most=-0.6), 0.9, 1.0, 5)


# --- planning -----------------------------------------------------------------------------------


@pytest.mark.parametrize("filter", ["gdp", "zcdp", "sums"])
def test_what_is_left_is_split_and_locked_releases_keep_theirs(path: Path, filter: str) -> None:
    """Whatever the split gives is admitted, all of it together; a little more is not."""
    state = BudgetLedger.create(path, Amount(2.0, 1e-5), filter=filter).state()
    for locks in ([None, None], [0.7, None, None], [None, 1.2], [None]):
        found = releasing.shared(state, locks)
        assert [a for a, b in zip(found, locks, strict=True) if b is not None] == [
            lock for lock in locks if lock is not None
        ]
        delta = state.left_for(len(locks)).delta
        for factor, fits in ((1.0 - 1e-6, True), (1.01, False)):
            costs = [releasing._cost(state, Amount(e * factor, delta)) for e in found]
            together = tuple(map(sum, zip(*costs, strict=True)))
            assert state.admits(together) == fits, (locks, found, factor)
    with pytest.raises(InputError, match=release_texts.LOCKED_TOO_MUCH[0]):
        releasing.shared(state, [1.9, 1.9])


def test_what_others_spent_has_its_unit_delta_and_source() -> None:
    deployments = releasing.deployments()
    assert 0 < len(deployments) <= 4
    for deployment in deployments:
        assert deployment.product
        assert 0.0 < deployment.epsilon < 20.0
        assert 0.0 <= deployment.delta < 1e-6
        assert "one" in deployment.unit
        assert deployment.source[-4:].isdigit()
    census = float(tight_epsilon(2.56, 1e-10))  # its rho, by the tight conversion
    assert deployments[0].epsilon == pytest.approx(census, rel=2e-3)


def test_what_was_read_is_what_is_spent(path: Path) -> None:
    BudgetLedger.create(path, Amount(2.0, 1e-5))
    at = page(path)
    at.checkbox[0].check().run()
    assert not at.button[-1].disabled
    at.number_input[0].set_value(1.5).run()
    assert at.checkbox[0].label == release_texts.confirmation(1.5, again=False)
    assert not at.checkbox[0].value
    assert at.button[-1].disabled
    at.number_input[0].set_value(3.0).run()
    assert release_texts.does_not_fit(2.0, 1e-5) in texts(at)


def test_a_delta_above_one_over_the_rows_is_refused_before_it_is_spent(path: Path) -> None:
    BudgetLedger.create(path, Amount(2.0, 1e-2))
    at = page(path, delta=1e-3)
    at.checkbox[0].check().run()
    assert release_texts.delta_too_large("row") in texts(at)
    assert at.button[-1].disabled
    other = path.with_name("other.sqlite")
    BudgetLedger.create(other, Amount(2.0, 1e-2), adjacency="add_remove")
    said = texts(page(other, delta=1e-3, adjacency="add_remove"))
    assert release_texts.delta_too_large("row") not in said, "a refusal tells of a private number"


def test_no_less_is_asked_for_than_the_page_can_release() -> None:
    least = release_texts.LEAST_EPSILON
    assert "ask for at most ε = 0.01 " in release_texts.does_not_fit(least, 1e-5)
    assert "ask for" not in release_texts.does_not_fit(0.9 * least, 1e-5)


def test_the_page_splits_and_counts_otherwise(path: Path) -> None:
    BudgetLedger.create(path, Amount(2.0, 1e-5))
    said = texts(page(path))
    assert "this one **ε = 1.00** (locked), the next **ε = 1.65**" in said
    assert "| Gaussian DP (decides) | 0.0 | 2.00 |" in said
    assert "Wikimedia" in said


@pytest.fixture
def curves(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """What was asked to be simulated; every release keeps half at a cost of 0.05."""
    asked: list[tuple[Any, ...]] = []

    def half(*given: Any) -> UtilityCurve:
        asked.append(given)
        rho = np.concatenate([[0.0], np.geomspace(1e-4, 20.0, 25)])
        return UtilityCurve(rho, *[rho / (rho + 0.05)] * 3)

    store = result_store.ResultStore()
    monkeypatch.setattr(plan, "utility_curve", half)
    monkeypatch.setattr(several, "store_of", lambda data: store)
    return asked


def test_on_stand_in_rows_an_accuracy_is_a_range_over_worlds(
    curves: list[tuple[Any, ...]],
) -> None:
    scenario = Scenario(epsilon=1.0, iterations=2)
    data = data_of(scenario)
    while (told := several.over_worlds(scenario, data, data.schema, 0.4)) is None:
        time.sleep(0.01)
    assert told[0] == release_texts.over_worlds(1.0, 0.41, 0.41, 0.41)
    assert told[0].endswith("keeps 41% on rows from hard to easy.")
    assert told[1].startswith("40% takes ε = ")
    assert "lies depends on how far apart" in told[2]
    assert {given[2] for given in curves} == {5000}, "a release reads all rows"


@pytest.mark.parametrize(("epsilon", "share"), [(1.0, 0.9), (100.0, 0.4)])
def test_rows_are_said_for_the_epsilon_of_the_release(
    curves: list[tuple[Any, ...]], epsilon: float, share: float
) -> None:
    """Not for what a plan would spend of it, nor for what the share takes on medium rows."""
    scenario = Scenario(epsilon=epsilon, iterations=2)
    data = data_of(scenario)
    while (told := several.over_worlds(scenario, data, data.schema, share)) is None:
        time.sleep(0.01)
    assert f"(with ε = {show(epsilon)}: " in told[1], told[1]


def planned_scene(at: AppTest) -> Any:
    nodes = [json.loads(one.proto.bytes) for one in at.get("bidi_component")]
    return next(n["pictures"][0]["scene"] for n in nodes if "plan_step" in json.dumps(n))


def test_a_plan_is_waited_for_before_what_its_budget_buys(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ranges() -> bool:
        return False

    asked, waited = [], []

    def bought(*given: Any) -> list[Any]:
        asked.append("bought")
        return [lambda: True]

    def planned(*given: Any) -> Any:
        asked.append("planned")
        return ranges

    monkeypatch.setattr(release, "buys", bought)
    monkeypatch.setattr(several, "panel", planned)
    monkeypatch.setattr(release, "look_again", lambda more, every: waited.append(more))
    page(path)
    assert asked == ["bought", "planned"], "what is asked for last is worked out first"
    assert waited == [ranges]


def test_several_releases_are_planned_before_there_is_a_ledger(
    path: Path, curves: list[tuple[Any, ...]]
) -> None:
    at = page(path)
    assert curves == [], "nothing is simulated before it is asked for"
    at.toggle(key="plan_many").set_value(True).run()
    assert not at.exception
    first = [given[0] for given in curves if given[5] == (MIDDLING,)]
    assert first == ["gmm", "kmeans"], "easy and hard rows come from behind the page"
    while len(curves) < 4:
        time.sleep(0.01)
    assert {given[5] for given in curves[2:]} == {WORLDS}
    assert {given[2] for given in curves} == {5000}
    scene = planned_scene(at)
    assert [panel["id"] for panel in scene["panels"]] == ["plan_shares", "plan_accuracy"]
    assert len(scene["steps"]) == len(TOTALS)
    shares = scene["panels"][0]["layers"][0]["values"]
    assert all(sum(line) == pytest.approx(1.0, abs=1e-3) for line in shares)
    here = TOTALS.index(2.0)
    assert "**" not in scene["live_text"]["plan"][here]
    assert "costs the others" in scene["live_text"]["plan"][here]
    at.select_slider(key="plan_step").set_value(0.2).run()
    assert planned_scene(at)["step"] == TOTALS.index(0.2)
    assert [one.proto.label for one in at.get("download_button")] == [
        "plan.csv", "plan.json", "plan.html",
    ]  # fmt: skip
    assert not path.exists()


def test_wishes_of_the_table_that_cannot_be_are_said_and_those_that_do_not_fit_named(
    path: Path, curves: list[tuple[Any, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    line = PlanLine("quarter", "gmm", 3, 4)
    wishes = [replace(line, locked=True)]
    monkeypatch.setattr(several, "table", lambda *known: (tuple(wishes), 5000, 1e-5))
    at = page(path)
    at.toggle(key="plan_many").set_value(True).run()
    assert f"release 'quarter', locked: {wording.NO_EPSILON_TO_LOCK}" in texts(at)
    wishes[0] = replace(line, locked=True, epsilon=1.5)
    at.run()
    assert "drop the request for 'quarter'" in planned_scene(at)["live_text"]["plan"][0]
    wishes[0] = replace(line, keeps=40.0)
    at.run()
    shares, kept = planned_scene(at)["panels"]
    assert kept["layers"][0]["y"][0] is None, "at 0.1 it does not fit"
    notes = shares["layers"][0]["notes"]
    assert notes[0] == [""], "nothing is kept by what does not fit"
    assert "keeps" in notes[-1][0]
    assert not at.exception


def linked(at: AppTest) -> str:
    """The plan in the address; a test finds there what was read as a list, what was set as text."""
    plan = at.query_params["plan"]
    return plan if isinstance(plan, str) else plan[0]


def test_a_plan_stands_in_the_address_and_is_read_from_it(
    path: Path, curves: list[tuple[Any, ...]]
) -> None:
    at = page(path)
    at.toggle(key="plan_many").set_value(True).run()
    assert linked(at) == "total=2", "what nobody changed is worked out anew"
    at.select_slider(key="plan_step").set_value(0.2).run()
    at.number_input(key="plan_rows").set_value(700).run()
    assert linked(at) == "rows=700&total=0.2"
    at.toggle(key="plan_many").set_value(False).run()
    assert "plan" not in at.query_params
    at.toggle(key="plan_many").set_value(True).run()
    assert linked(at) == "rows=700&total=0.2", "closing the table empties nothing"
    at.session_state["scenario"] = Scenario(data="iris")
    at.run()
    assert linked(at) == "total=2", "a plan is about one table"

    lines = (
        PlanLine("each quarter | ~_&=", "kmeans", 5, 4, keeps=80.0),
        PlanLine("", "mean", epsilon=0.25, locked=True),
    )
    link = PlanTable(lines, 900, 1e-6, 3.2).as_link()
    curves.clear()
    other = opened_by(path, plan=link)
    assert linked(other) == link
    assert [given[:3:2] for given in curves[:2]] == [("kmeans", 900), ("mean", 900)]
    assert planned_scene(other)["step"] == TOTALS.index(3.2)
    assert planned_scene(other)["panels"][0]["layers"][0]["names"] == [
        "each quarter | ~_&= (×4)", "mean",
    ]  # fmt: skip
    assert other.number_input(key="plan_delta").value == 1e-6


def test_a_plan_whose_lines_were_all_deleted_is_found_again_without_lines(path: Path) -> None:
    empty = PlanTable(())
    assert PlanTable.parse(empty.as_link()) == empty
    at = opened_by(path, plan=empty.as_link())
    assert linked(at) == empty.as_link()
    assert "release: the plan has no release; add a release." in texts(at)


def test_a_number_that_a_link_could_not_say_cannot_be_typed() -> None:
    """Where a model has no parts, the column was one of any numbers; with 3.5 a plan was lost."""
    steps = [several._number(name, "%d")["type_config"]["step"] for name in ("parts", "times")]
    assert steps == [1, 1]
    assert several._number("keeps", "%.3g")["type_config"]["step"] is None


@pytest.mark.parametrize(
    "link",
    [
        "on",
        "total=2.1",
        "total=2&rows=0",
        "total=2||model=gmm",
        "total=2|name=a",
        "total=2|model=nonsense",
        "total=2|model=gmm&epsilon=1&epsilon=2",
        "total=2|model=gmm&times=0",
        "total=2|model=gmm&other=1",
        "total=2" + "|model=gmm" * 21,
    ],
)
def test_a_plan_in_a_link_that_cannot_be_read_is_named(path: Path, link: str) -> None:
    at = opened_by(path, plan=link)
    assert at.session_state["misread"] == ("plan",)
    assert at.query_params == {}
    assert not at.toggle(key="plan_many").value


def test_a_plan_of_a_model_that_the_table_has_no_columns_for_is_refused_by_name(path: Path) -> None:
    at = opened_by(path, plan="total=2|name=words&model=lda")
    assert "release 'words'" in texts(at)
