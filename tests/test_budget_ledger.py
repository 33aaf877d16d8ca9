"""The budget ledger: never overspent, never forgets, and shows when it was changed."""

from __future__ import annotations

import json
import math
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from dpcore.accounting import calibrate, compose
from dpcore.cli.ledger import ledger_record
from dpcore.errors import BudgetExceeded, InputError
from dpcore.mechanisms.discrete_gaussian import SCALE
from dpcore.privacy import DiscreteGaussian, Event, Gaussian, Ledger
from dpcore.privacy.ledger import LedgerEntry
from dpcore.releases.api import rewrite
from dpcore.releases.filter import FILTERS, PER_RHO, Amount, filter_of
from dpcore.releases.ledger import (
    FORMAT,
    BudgetLedger,
    Protected,
    TamperedError,
    _append,
    _canonical,
    _hash,
    _keep,
)
from dpcore.releases.whatif import counted_otherwise

TOO_OLD = "use a Python with SQLite 3.37 or newer"
DELTA = 1e-5
PERSON = Protected("replace_one", "person")


def one_release(noise: float = 20.0) -> Ledger:
    entry = LedgerEntry("a sum", "discrete_gaussian", noise, 1.0, "replace_one", "a lemma")
    return Ledger((replace(entry, noise_steps=SCALE),))


def spend(ledger: BudgetLedger, noise: float = 20.0, epsilon: float = 0.2) -> None:
    ledger.spend(one_release(noise), Amount(epsilon, DELTA), PERSON, {"noise": noise})


@pytest.fixture
def ledger(tmp_path: Path) -> BudgetLedger:
    return BudgetLedger.create(tmp_path / "budget.sqlite", Amount(1.0, DELTA))


@pytest.mark.parametrize(("way", "most"), [("gdp", 28), ("zcdp", 24)])
def test_it_ends_where_the_sum_of_all_releases_reaches_the_budget(
    tmp_path: Path, way: str, most: int
) -> None:
    ledger = BudgetLedger.create(tmp_path / "budget.sqlite", Amount(1.0, DELTA), filter=way)
    for _ in range(most):
        spend(ledger)
    with pytest.raises(BudgetExceeded, match="at most epsilon = 0"):
        spend(ledger)
    method = filter_of(way).accountant
    events = [event for _ in range(most) for event in one_release().events]
    assert compose(events, method, delta=DELTA).epsilon <= 1.0
    assert compose([*events, *events[:1]], method, delta=DELTA).epsilon > 1.0
    assert ledger.state().spent_amount.epsilon == pytest.approx(
        float(compose(events, method, delta=DELTA).epsilon), rel=1e-9
    )


def test_counted_otherwise_is_told_beside_what_decides(tmp_path: Path) -> None:
    """Each number by a second route; whatever the filter, the same list comes to the same."""
    told = {}
    for name in ("zcdp", "sums", "gdp"):
        ledger = BudgetLedger.create(tmp_path / name, Amount(2.0, 1e-4), filter=name)
        for _ in range(3):
            spend(ledger, epsilon=0.3)
        told[name] = {row.name: row for row in counted_otherwise(ledger.state())}
        assert [row.name for row in told[name].values() if row.decides] == [name]
        for way, row in told[name].items():
            assert row.spent == pytest.approx(told["zcdp"][way].spent, rel=1e-9)
            assert row.left == pytest.approx(told["zcdp"][way].left, rel=1e-9)
    found = told["zcdp"]
    normal = [Event(Gaussian(20.0), count=3)]
    assert found["gdp"].spent == pytest.approx(compose(normal, "exact", delta=1e-4).epsilon)
    assert found["zcdp"].spent == pytest.approx(compose(normal, "zcdp_tight", delta=1e-4).epsilon)
    assert found["sums"].spent == pytest.approx(0.9)
    assert found["sums"].left == pytest.approx(1.1)
    full = Event(Gaussian(calibrate([Event(Gaussian(1.0))], found["gdp"].left, 1e-4, "exact")))
    assert compose([*normal, full], "exact", delta=1e-4).epsilon == pytest.approx(2.0, rel=1e-6)
    assert found["gdp"].spent < found["zcdp"].spent < found["sums"].spent


def test_a_budget_shared_among_many_is_enough_for_all_of_them(ledger: BudgetLedger) -> None:
    each = ledger.state().left_for(4)
    assert each.epsilon > 0.3, "more than a quarter: squares add up, not epsilons"
    noise = calibrate([Event(DiscreteGaussian(1.0, None, SCALE))], each.epsilon, DELTA)
    for _ in range(4):
        spend(ledger, float(noise) * (1 + 1e-7), each.epsilon)
    with pytest.raises(BudgetExceeded):
        spend(ledger, float(noise), each.epsilon)


def test_a_refused_release_writes_nothing(ledger: BudgetLedger) -> None:
    before = ledger.path.read_bytes()
    with pytest.raises(BudgetExceeded):
        spend(ledger, noise=0.5)
    with pytest.raises(InputError, match="unit"):
        ledger.spend(one_release(), Amount(0.2, DELTA), Protected("replace_one", "household"), {})
    with pytest.raises(InputError, match="adjacency"):
        ledger.spend(one_release(), Amount(0.2, DELTA), Protected("add_remove", "person"), {})
    with pytest.raises(ValueError, match="JSON"):
        ledger.spend(one_release(), Amount(0.2, DELTA), PERSON, {"a": np.nan})
    assert ledger.path.read_bytes() == before


@pytest.mark.parametrize("way", ["gdp", "zcdp"])
def test_nothing_costs_nothing_or_protects_others_than_it_says(tmp_path: Path, way: str) -> None:
    """A release of a negative epsilon had been written down at no cost."""
    ledger = BudgetLedger.create(tmp_path / "budget.sqlite", Amount(1.0, DELTA), filter=way)
    (entry,) = one_release()
    odd = {
        "cost": (Ledger(), Ledger((replace(entry, count=0),))),
        "adjacency": (Ledger((entry, replace(entry, adjacency="add_remove"))),),
    }
    for field, releases in odd.items():
        for noise in releases:
            for pay in (ledger.check, ledger.reserve):
                with pytest.raises(InputError, match=f"^{field}: "):
                    pay(noise, Amount(0.2, DELTA), PERSON)
    for field, epsilon, delta in [
        ("epsilon", -1.0, DELTA), ("epsilon", math.nan, DELTA), ("delta", 0.2, -DELTA),
        ("delta", 0.2, math.nan),
    ]:  # fmt: skip
        with pytest.raises(InputError, match=f"^{field}: "):
            ledger.reserve(one_release(), Amount(epsilon, delta), PERSON)
    assert ledger.state().releases == ()


def test_sums_keep_every_digit(tmp_path: Path) -> None:
    """Ten times a tenth is one, which floats deny, and nothing more fits."""
    ledger = BudgetLedger.create(tmp_path / "sums.sqlite", Amount(1.0, 1e-4), filter="sums")
    for _ in range(10):
        spend(ledger, epsilon=0.1)
    with pytest.raises(BudgetExceeded, match="the whole budget is spent"):
        spend(ledger, epsilon=1e-9)
    assert ledger.state().spent_amount == Amount(1.0, 1e-4)


def test_whoever_has_many_rows_is_protected_in_every_release(tmp_path: Path) -> None:
    ledger = BudgetLedger.create(tmp_path / "b.sqlite", Amount(1.0, DELTA), rows_per_person=3)
    with pytest.raises(InputError, match="with up to 3 rows"):
        spend(ledger)
    ledger.spend(one_release(), Amount(0.2, DELTA), Protected("replace_one", "person", 3), {})


def test_a_line_that_paid_too_little_for_its_entries_is_found(ledger: BudgetLedger) -> None:
    """Also where every hash was worked out anew."""
    entries = [asdict(entry) for entry in one_release()]
    ledger.spend(one_release(), Amount(0.2, DELTA), PERSON, {"dossier": {"entries": entries}})
    ledger.demand_intact()
    entries[0]["noise_scale"] = 2.0
    ledger.spend(one_release(), Amount(0.2, DELTA), PERSON, {"dossier": {"entries": entries}})
    with pytest.raises(TamperedError, match="line 3 was charged less"):
        ledger.demand_intact()


@pytest.mark.parametrize("way", ["gdp", "zcdp"])
@pytest.mark.parametrize("noise", ["gaussian", "discrete_gaussian", "laplace"])
def test_a_repeated_entry_costs_as_much_as_its_repeats_one_by_one(noise: str, way: str) -> None:
    steps = SCALE if noise == "discrete_gaussian" else None
    one = LedgerEntry("a sum", noise, 3.0, 1.0, "replace_one", "a lemma", noise_steps=steps)
    chosen, stated = FILTERS[way], Amount(0.2, DELTA)
    (together,) = chosen.cost(Ledger((replace(one, count=7),)), stated)
    (apart,) = chosen.cost(Ledger((one,) * 7), stated)
    assert together == apart
    (alone,) = chosen.cost(Ledger((one,)), stated)
    assert 7 * alone - 7 <= together <= 7 * alone  # each is rounded up to a whole unit


@given(st.lists(st.floats(1e-9, 3.0), max_size=30), st.sampled_from(sorted(FILTERS)))
def test_no_list_of_costs_passes_a_filter_above_its_budget(costs: list[float], name: str) -> None:
    chosen, limit = FILTERS[name], Amount(1.0, 1e-3)
    budget, spent, taken = chosen.budget(limit), (0,) * len(chosen.budget(limit)), []
    for cost in costs:
        units = chosen.cost(one_release(1.0 / cost), Amount(cost, 1e-6))
        if all(s + u <= b for s, u, b in zip(spent, units, budget, strict=True)):
            spent = tuple(s + u for s, u in zip(spent, units, strict=True))
            taken.append(cost)
    if name == "sums":
        assert sum(taken) <= 1.0 + 1e-12
    elif taken:
        events = [event for cost in taken for event in one_release(1.0 / cost).events]
        assert compose(events, chosen.accountant, delta=1e-3).epsilon <= 1.0 + 1e-12


@pytest.mark.parametrize("epsilon", [1e-6, 0.009, 0.011, 0.5, 3.0, 40.0])
def test_pure_epsilon_costs_what_normal_noise_at_its_corner_costs(epsilon: float) -> None:
    """Half the square of mu with Phi(mu / 2) = e^epsilon / (1 + e^epsilon), rounded up; and normal
    noise of that mu allows every pair of errors that epsilon allows."""
    chosen = filter_of("gdp")
    laplace = LedgerEntry("a count", "laplace", 1.0 / epsilon, 1.0, "replace_one", "a lemma")
    (cost,) = chosen.cost(Ledger((laplace,)), Amount(epsilon, DELTA))
    mu = math.sqrt(2.0 * cost / PER_RHO)
    corner = 2.0 * float(norm.isf(1.0 / (1.0 + math.exp(epsilon))))
    assert corner <= mu <= 1.0001 * corner
    alarms = np.linspace(1e-12, 1.0 - 1e-12, 100_001)
    misses = np.maximum(1.0 - math.exp(epsilon) * alarms, math.exp(-epsilon) * (1.0 - alarms))
    normal = norm.cdf(norm.isf(alarms) - mu)
    assert np.all(normal <= np.maximum(misses, 0.0) + 1e-12)


@pytest.mark.parametrize("epsilon", [1e-90, 0.01, 1.0, 709.0, 800.0, 1e90])
def test_a_little_less_noise_of_pure_epsilon_never_costs_less(epsilon: float) -> None:
    """A fit reserves for a part in 10^9 less noise than it draws, wherever formulas change."""
    chosen, stated = filter_of("gdp"), Amount(epsilon, DELTA)

    def cost(scale: float) -> int:
        entry = LedgerEntry("a count", "laplace", scale, 1.0, "replace_one", "a lemma", count=10**6)
        return chosen.cost(Ledger((entry,)), stated)[0]

    for scale in (1.0 / epsilon) * (1.0 + np.linspace(0.0, 1e-9, 21)):
        assert cost(float(scale)) <= cost(float(scale) * (1.0 - 1e-9))


def test_noise_on_a_grid_that_may_be_coarse_has_no_cost_in_gaussian_dp() -> None:
    entry = replace(one_release().entries[0], noise_steps=None)
    with pytest.raises(InputError, match="a grid that may be coarse; use a ledger of zCDP"):
        filter_of("gdp").cost(Ledger((entry,)), Amount(0.2, DELTA))


def test_any_changed_byte_of_a_line_or_an_output_is_found(ledger: BudgetLedger) -> None:
    for noise in (20.0, 30.0):
        spend(ledger, noise)
    content = ledger.path.read_bytes()
    ledger.demand_intact()
    marks = (b'"epsilon":0.2', b'"noise":30', b'"unit":"person"', b'"cost":["')
    for mark in marks:
        changed = bytearray(content)
        place = content.rfind(mark) + len(mark) - 1
        changed[place] ^= 1
        ledger.path.write_bytes(bytes(changed))
        with pytest.raises(TamperedError):
            ledger.demand_intact()
    ledger.path.write_bytes(content)
    ledger.demand_intact()


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.merge) for seed in (1, 2, 3))]
)
def test_any_flipped_bit_of_the_file_is_found_or_changes_nothing(
    ledger: BudgetLedger, seed: int
) -> None:
    """In a sentence, wherever in the database it is; unused places of a page change nothing."""
    for noise in (20.0, 30.0, 40.0):
        spend(ledger, noise)
    content, before, rng = ledger.path.read_bytes(), ledger.state(), random.Random(seed)
    left, found = [ledger.output(line.number) for line in before.releases], 0
    for _ in range(250):
        changed = bytearray(content)
        changed[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        ledger.path.write_bytes(bytes(changed))
        try:
            assert ledger.demand_intact() == before
            assert [ledger.output(line.number) for line in before.releases] == left
        except TamperedError:
            found += 1
    assert found > 20


def test_lines_can_neither_be_changed_nor_taken_out_by_a_statement(ledger: BudgetLedger) -> None:
    spend(ledger)
    with closing(sqlite3.connect(ledger.path)) as database, database:
        for statement in ("UPDATE lines SET body = '{}'", "DELETE FROM lines WHERE number = 2"):
            with pytest.raises(sqlite3.DatabaseError, match="append only"):
                database.execute(statement)
        database.execute("DROP TRIGGER lines_last")
        database.execute("DELETE FROM lines WHERE number = 1")
    with pytest.raises(TamperedError, match="line 1"):
        ledger.state()


def test_a_ledger_that_may_not_be_read_is_refused_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = BudgetLedger.create(tmp_path / "ledger.sqlite", Amount(1.0, 1e-5))

    def refused(*_: object, **__: object) -> None:
        raise sqlite3.OperationalError("unable to open database file")

    monkeypatch.setattr(sqlite3, "connect", refused)
    with pytest.raises(InputError, match=r"^ledger: it cannot be opened .*; check its place and"):
        ledger.state()


def test_a_sqlite_that_is_too_old_does_not_call_a_ledger_damaged(
    ledger: BudgetLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 36, 0))
    with pytest.raises(InputError, match=TOO_OLD):
        ledger.state()
    with pytest.raises(InputError, match=TOO_OLD):
        BudgetLedger.create(ledger.path.with_name("new.sqlite"), Amount(1.0, DELTA))
    assert [path.name for path in ledger.path.parent.iterdir()] == [ledger.path.name]


@pytest.mark.parametrize("end", ["-journal", "-wal", "-JOURNAL"])
def test_no_ledger_is_taken_for_a_file_of_another_one_s(ledger: BudgetLedger, end: str) -> None:
    """A reader of the other ledger would delete it, and what was spent with it."""
    with pytest.raises(InputError, match="SQLite deletes files whose names end like this"):
        BudgetLedger.create(f"{ledger.path}{end}", Amount(1.0, DELTA))
    assert [path.name for path in ledger.path.parent.iterdir()] == [ledger.path.name]


def test_a_ledger_that_was_moved_away_leaves_no_empty_one(ledger: BudgetLedger) -> None:
    place = ledger.path.rename(ledger.path.with_name("elsewhere.sqlite"))
    with pytest.raises(InputError, match=r"^ledger: it cannot be opened"):
        spend(ledger)
    assert not ledger.path.exists()
    assert BudgetLedger(place).state().releases == ()


@pytest.mark.parametrize("name", [":memory:", "file:b?mode=memory", "a%41 #?é.sqlite", "b\udcff"])
def test_a_name_is_that_of_a_file_whatever_sqlite_takes_it_for(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    spend(BudgetLedger.create(name, Amount(1.0, DELTA)))
    assert len(BudgetLedger(tmp_path / name).state().releases) == 1


@pytest.mark.parametrize("content", [b"", b"not a database", b"SQLite format 3\x00" + b"\xff" * 90])
def test_a_file_that_is_no_ledger_is_refused_in_a_sentence(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "odd").write_bytes(content)
    with pytest.raises(TamperedError, match="not a ledger"):
        BudgetLedger(tmp_path / "odd").state()
    with pytest.raises(InputError, match="no such file"):
        BudgetLedger(tmp_path / "absent")
    with pytest.raises(InputError, match="already exists"):
        BudgetLedger.create(tmp_path / "odd", Amount(1.0, DELTA))


def test_a_ledger_for_which_there_is_no_room_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr("dpcore.releases.ledger._append", full)
    with pytest.raises(InputError, match=r"^ledger: "):
        BudgetLedger.create(tmp_path / "budget.sqlite", Amount(1.0, DELTA))
    assert not list(tmp_path.iterdir())


def test_a_budget_may_be_any_kind_of_number(tmp_path: Path) -> None:
    """One of NumPy had ended in an error, and left an empty file in the ledger's place."""
    book = BudgetLedger.create(tmp_path / "b.sqlite", Amount(np.int64(2), np.float32(0.5)))  # type: ignore[arg-type]
    assert book.state().terms.limit == Amount(2.0, 0.5)


def test_what_is_no_ledger_is_not_kept_open(tmp_path: Path) -> None:
    path = tmp_path / "odd.sqlite"
    path.write_bytes(b"no database " * 100)
    before = len(os.listdir("/dev/fd"))
    for _ in range(5):
        with pytest.raises(InputError, match="ledger"):
            BudgetLedger(path).state()
    assert len(os.listdir("/dev/fd")) == before


SPENDER = """
import sys
from dpcore.errors import BudgetExceeded, InputError
from dpcore.privacy import Ledger
from dpcore.privacy.ledger import LedgerEntry
from dpcore.releases.filter import Amount
from dpcore.releases.ledger import BudgetLedger, Protected
book, who, times = BudgetLedger(sys.argv[1]), sys.argv[2], int(sys.argv[3])
entry = LedgerEntry("a sum", "gaussian", 100.0, 1.0, "replace_one", "a lemma")
person = Protected("replace_one", "person")
i = 0
while i < times:
    try:
        book.spend(Ledger((entry,)), Amount(0.04, 1e-5), person, {who: i})
        print(i, flush=True)
    except BudgetExceeded:
        pass
    except InputError:  # the others used it too long; the remedy is to try again
        continue
    i += 1
"""


def spenders(path: Path, count: int, times: int) -> list[subprocess.Popen[str]]:
    return [
        subprocess.Popen(
            [sys.executable, "-c", SPENDER, str(path), str(who), str(times)],
            stdout=subprocess.PIPE,
            text=True,
        )
        for who in range(count)
    ]


def demand_within_budget(ledger: BudgetLedger) -> int:
    state = ledger.demand_intact()
    assert all(s <= b for s, b in zip(state.spent, state.budget, strict=True))
    for line in state.releases[:5]:
        assert json.loads(json.dumps(ledger.output(line.number)))
    return len(state.releases)


@pytest.mark.parametrize(
    ("budget", "count", "times"), [(0.3, 4, 20), pytest.param(1.0, 8, 200, marks=pytest.mark.full)]
)
def test_processes_that_spend_at_once_never_overspend(
    tmp_path: Path, budget: float, count: int, times: int
) -> None:
    """Some 70 spends fit into the small budget, 700 into the large one."""
    ledger = BudgetLedger.create(tmp_path / "budget.sqlite", Amount(budget, DELTA))
    made = [process.communicate(timeout=300)[0] for process in spenders(ledger.path, count, times)]
    reported = sum(len(lines.split()) for lines in made)
    assert reported == demand_within_budget(ledger)
    with pytest.raises(BudgetExceeded):
        spend(ledger, noise=100.0)


@pytest.mark.parametrize("kills", [4, pytest.param(100, marks=pytest.mark.full)])
def test_a_kill_loses_no_release_and_pays_for_none_twice(tmp_path: Path, kills: int) -> None:
    """What a killed process had reported is on record; at most one more, which it was writing."""
    ledger = BudgetLedger.create(tmp_path / "budget.sqlite", Amount(20.0, DELTA))
    rng, known = random.Random(0), 0
    for _ in range(kills):
        (process,) = spenders(ledger.path, 1, 100_000)
        with process:
            process.stdout.readline()
            time.sleep(rng.uniform(0.0, 0.05))
            process.send_signal(signal.SIGKILL)
            reported = 1 + len(process.stdout.read().split())  # communicate() forgets a buffer
        now = demand_within_budget(ledger)
        assert now - known - reported in (0, 1)
        known = now
    assert known >= kills


HEAD = {
    "format": FORMAT, "name": "a", "epsilon": 1.0, "delta": DELTA, "adjacency": "replace_one",
    "unit": "person", "rows_per_person": 1, "filter": "zcdp",
}  # fmt: skip
PAID = {"epsilon": 0.1, "delta": DELTA, "cost": ["1"], "events": []}


def by_hand(place: Path, terms: Any, output: Any = None, **paid: Any) -> BudgetLedger:
    """A ledger whose hashes are right and whose lines somebody has made up."""
    book, content = BudgetLedger.create(place, Amount(1.0, DELTA)), _canonical(output or {})
    with closing(sqlite3.connect(place)) as database, database:
        for name in ("lines_stay", "lines_last"):
            database.execute(f"DROP TRIGGER {name}")
        database.execute("DELETE FROM lines")
        first = _append(database, (), "terms", terms)
        _append(database, (first,), "release", {**PAID, "output": _hash(content), **paid})
        _keep(database, content)
    return book


@pytest.mark.parametrize(
    ("terms", "output", "paid"),
    [
        ({**HEAD, "epsilon": []}, None, {}),
        ({**HEAD, "adjacency": "nobody"}, None, {}),
        ([], None, {}),
        (HEAD, None, {"cost": ["-1000"]}),
        (HEAD, None, {"cost": ["1", "1"]}),
        (HEAD, None, {"cost": []}),
        (HEAD, None, {"events": [{"mechanism": "gaussian"}]}),
        (HEAD, {"dossier": {"entries": [{"a": 1}]}}, {}),
        (HEAD, [1], {}),
        ({**HEAD, "name": "![a](http://host/b.png)"}, None, {}),
        ({**HEAD, "name": ["a"]}, None, {}),
    ],
)
def test_lines_that_no_ledger_writes_are_refused_though_their_hashes_are_right(
    terms: Any, output: Any, paid: dict[str, Any], tmp_path: Path
) -> None:
    """Above all a cost below 0, which would give budget back."""
    assert ledger_record(by_hand(tmp_path / "sound.sqlite", HEAD))["intact"]
    (entry,) = ledger_record(by_hand(tmp_path / "other.sqlite", HEAD, {"fit": "a"}))["entries"]
    assert (entry["model"], entry["data"]) == ("", "")
    odd = by_hand(tmp_path / "odd.sqlite", terms, output, **paid)
    with pytest.raises(TamperedError, match="is not one that a ledger writes"):
        ledger_record(odd)


@pytest.mark.parametrize("kind", ["terms", "refund", "release of another version"])
def test_a_line_of_an_unknown_kind_is_refused_because_it_may_have_spent(
    ledger: BudgetLedger, kind: str
) -> None:
    spend(ledger)
    with closing(sqlite3.connect(ledger.path)) as database, database:
        _append(database, ledger.state().lines, kind, {**HEAD, **PAID, "epsilon": 100.0})
    for use in (BudgetLedger.state, spend):
        with pytest.raises(TamperedError, match="what was spent is not known"):
            use(ledger)


@pytest.mark.parametrize(
    "part",
    [
        "TRIGGER more BEFORE INSERT ON lines BEGIN SELECT RAISE(IGNORE); END",
        "TRIGGER more AFTER INSERT ON outputs BEGIN SELECT 1; END",
        "VIEW more AS SELECT * FROM lines",
    ],
)
def test_a_ledger_with_a_part_that_no_ledger_has_is_refused(
    ledger: BudgetLedger, part: str
) -> None:
    """The first dropped every line without a word: each release had the whole budget."""
    with closing(sqlite3.connect(ledger.path)) as database, database:
        database.execute(f"CREATE {part}")
    for use in (BudgetLedger.state, spend):
        with pytest.raises(TamperedError, match="a trigger that no ledger has"):
            use(ledger)


@pytest.mark.parametrize("files", [{}, [], {"../report.html": ""}, {"report.html": 5}])
def test_files_that_no_release_has_are_not_written_again(files: Any, tmp_path: Path) -> None:
    output = {"dossier": {}, "files": files}
    book = by_hand(tmp_path / "odd.sqlite", HEAD, output)
    with pytest.raises(TamperedError):
        rewrite(book.path, 2, tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["odd.sqlite"]
