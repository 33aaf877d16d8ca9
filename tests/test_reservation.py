"""Budget is reserved before noise is drawn: two at once, failures, and processes that die."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections import namedtuple
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Event
from typing import Any

import pytest
import wording
from test_budget_ledger import DELTA, PERSON, one_release
from test_release import table

import dpcore as dp
from dpcore.cli import main
from dpcore.errors import BudgetExceeded, InputError
from dpcore.privacy import Guarantee
from dpcore.releases import api, ledger
from dpcore.releases.dossier import verify
from dpcore.releases.filter import Amount
from dpcore.releases.ledger import BudgetLedger, Protected, TamperedError
from dpcore.releases.paid import PaidError

Usage = namedtuple("Usage", "total used free")
STATED = Amount(0.2, DELTA)


@pytest.fixture
def book(tmp_path: Path) -> BudgetLedger:
    return BudgetLedger.create(tmp_path / "budget.sqlite", Amount(1.0, DELTA))


def release(book: BudgetLedger, out: Path, epsilon: float = 0.8, **words: Any) -> api.Release:
    privacy = dp.Privacy(epsilon=epsilon, delta=DELTA)
    return api.release("gmm", table(), privacy=privacy, ledger=book.path, out=out, **words)


def paid(book: BudgetLedger) -> dp.Fit:
    privacy = dp.Privacy(epsilon=0.3, delta=DELTA)
    return dp.paid_fit("gmm", table(), privacy=privacy, ledger=book)


# --- the ledger's lines -------------------------------------------------------------------------


def test_what_is_reserved_counts_until_the_end_of_time(book: BudgetLedger) -> None:
    state = book.reserve(one_release(5.0), STATED, PERSON)
    assert state.open == (2,)
    assert state.spent == book.state().spent > (0,)
    with pytest.raises(BudgetExceeded, match=r"Line 2 counts as spent: its release is under way"):
        book.check(one_release(5.0), STATED, PERSON)
    assert book.output(2) == ledger.RESERVED


def test_what_left_stands_in_a_line_of_its_own_and_costs_nothing_more(book: BudgetLedger) -> None:
    before = book.reserve(one_release(), STATED, PERSON)
    after = book.complete(2, one_release(25.0), {"a": 1})
    assert after == book.demand_intact()
    assert (after.spent, after.open) == (before.spent, ())
    assert [line.kind for line in after.lines] == ["terms", "release", "end"]
    (paid,) = after.releases
    assert paid.number == 2
    assert paid.body["events"][0]["noise_multiplier"] == 25.0
    assert book.output(2) == {"a": 1}


def test_a_release_ends_once_and_covers_what_was_drawn(book: BudgetLedger) -> None:
    book.reserve(one_release(), STATED, PERSON)
    with pytest.raises(BudgetExceeded, match="line 2 reserved less"):
        book.complete(2, one_release(19.0), {})
    book.spend(one_release(), STATED, PERSON, {"paid": "at once"})
    for number in (1, 3, 4, 99):
        with pytest.raises(InputError, match="not reserved"):
            book.complete(number, one_release(), {})
    book.complete(2, one_release(), {})
    with pytest.raises(InputError, match="not reserved"):
        book.complete(2, one_release(), {})


@pytest.mark.parametrize("number", [1, 3, 7])
def test_a_line_that_ends_what_nobody_reserved_is_found(book: BudgetLedger, number: int) -> None:
    """Also where every hash was worked out anew."""
    book.reserve(one_release(), STATED, PERSON)
    book.spend(one_release(), STATED, PERSON, {})
    with book._writing() as database:
        ledger._append(database, book.state().lines, "end", {"line": number, "output": "0"})
    with pytest.raises(TamperedError, match="line 4 ends a release for which nothing was reserved"):
        book.state()


# --- busy, and spent ----------------------------------------------------------------------------


@pytest.mark.parametrize("held", ["IMMEDIATE", "EXCLUSIVE"])
def test_a_ledger_that_another_process_writes_is_busy_and_nothing_is_drawn(
    held: str, book: BudgetLedger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ledger.PATIENCE < 5 < ledger.PAID_PATIENCE  # what is paid for is worth a longer wait
    monkeypatch.setattr(ledger, "PATIENCE", 0.05)
    with closing(sqlite3.connect(book.path, isolation_level=None)) as other:
        other.execute(f"BEGIN {held}")
        with pytest.raises(InputError, match="is using it; try again"):
            release(book, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert len(book.state().lines) == 1


def test_whoever_comes_second_waits_and_counts_what_the_first_has_spent(
    book: BudgetLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between looking at what is left and writing, nobody else gets a look."""
    look, looks, second = ledger._state, list[float](), Event()

    def slowly(database: sqlite3.Connection) -> ledger.State:
        found = look(database)
        looks.append(time.monotonic())
        second.wait(0.3)  # long enough for another to look too, were it let in
        if len(looks) > 1:
            second.set()
        return found

    def spend() -> str:
        try:
            book.spend(one_release(5.0), Amount(0.8, DELTA), Protected("replace_one", "person"), {})
        except BudgetExceeded:
            return "refused"
        return "spent"

    monkeypatch.setattr(ledger, "_state", slowly)
    with ThreadPoolExecutor(2) as pool:
        ends = [future.result() for future in [pool.submit(spend), pool.submit(spend)]]
    assert sorted(ends) == ["refused", "spent"]
    assert looks[1] - looks[0] >= 0.29


def test_a_ledger_that_cannot_be_written_is_not_called_damaged(
    book: BudgetLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect = sqlite3.connect

    def only_read(place: str, **words: Any) -> sqlite3.Connection:
        return connect(place.replace("mode=rw", "mode=ro"), **words)

    monkeypatch.setattr(ledger.sqlite3, "connect", only_read)
    with pytest.raises(InputError, match=r"it cannot be written .*readonly") as refusal:
        book.spend(one_release(), STATED, PERSON, {})
    assert not isinstance(refusal.value, TamperedError)


def test_nothing_is_spent_where_the_disk_could_not_take_down_what_leaves(
    book: BudgetLedger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that is nearly full still takes the line that pays."""
    room = [ledger.SPARE + api.CELL * 1000 * 2]
    monkeypatch.setattr(ledger, "disk_usage", lambda _: Usage(1 << 40, 0, room[0] - 1))
    with pytest.raises(InputError, match=r"^ledger: its disk has less than 16 MB free"):
        release(book, tmp_path / "out", 0.3)
    room[0] = ledger.SPARE
    with pytest.raises(InputError, match=r"^ledger: its disk has less than 16 MB free"):
        paid(book)
    assert book.state().releases == ()
    assert not (tmp_path / "out").exists()
    monkeypatch.setattr(ledger, "disk_usage", lambda _: Usage(0, 0, 0))  # it does not tell
    assert release(book, tmp_path / "out", 0.3).folder.exists()


def test_the_disk_is_that_of_the_ledger_wherever_a_link_to_it_lies(
    book: BudgetLedger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "links").mkdir()
    link = tmp_path / "links" / "budget.sqlite"
    link.symlink_to(book.path)
    looked = list[Path]()
    monkeypatch.setattr(ledger, "disk_usage", lambda at: looked.append(at) or Usage(1, 0, 1 << 40))
    BudgetLedger(link).check(one_release(), STATED, PERSON)
    assert looked == [book.path.resolve().parent]


def test_a_ledger_that_gets_busy_once_noise_is_drawn_has_been_paid(
    book: BudgetLedger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = []

    def held(*words: Any) -> str | None:
        others.append(sqlite3.connect(book.path, isolation_level=None))
        others[0].execute("BEGIN IMMEDIATE")
        return None

    monkeypatch.setattr(ledger, "PAID_PATIENCE", 0.05)
    monkeypatch.setattr(api, "_as_csv", held)
    with pytest.raises(PaidError, match=r"paid for as line 2, but nothing was released.*using it"):
        release(book, tmp_path / "out")
    others[0].close()
    assert book.demand_intact().open == (2,)


@pytest.mark.parametrize("problem", [ValueError, KeyboardInterrupt, MemoryError])
def test_whatever_ends_a_release_after_its_noise_is_told_as_paid(
    problem: type[BaseException],
    book: BudgetLedger,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fails(*_: Any) -> None:
        raise problem("a number of the data's")

    monkeypatch.setattr(api, "_as_csv", fails)
    with pytest.raises(PaidError, match=f"{problem.__name__}.* paid for as line 2") as told:
        release(book, tmp_path / "out")
    assert "of the data's" not in str(told.value)
    assert book.output(2) == {"failed": problem.__name__}
    assert not (tmp_path / "out").exists()
    monkeypatch.setattr(Guarantee, "as_dict", fails)
    with pytest.raises(PaidError, match=f"{problem.__name__}.* paid for as line 4"):
        paid(book)


@pytest.fixture
def heard() -> Iterator[None]:
    """Ctrl-C interrupts, as it does not under a shell that ignores it for its background jobs."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupt(monkeypatch: pytest.MonkeyPatch, when: str) -> None:
    """Ctrl-C as soon as a step of the ledger is on disk."""
    step = getattr(BudgetLedger, when)

    def done(*words: Any) -> Any:
        state = step(*words)
        os.kill(os.getpid(), signal.SIGINT)
        return state

    monkeypatch.setattr(BudgetLedger, when, done)


@pytest.mark.usefixtures("heard")
def test_an_interrupt_while_the_ledger_pays_is_told_as_paid(
    book: BudgetLedger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupt(monkeypatch, "reserve")
    with pytest.raises(PaidError, match=r"KeyboardInterrupt.* paid for as line 2"):
        release(book, tmp_path / "out", 0.3)
    with pytest.raises(PaidError, match=r"KeyboardInterrupt.* paid for as line 4"):
        paid(book)


@pytest.mark.usefixtures("heard")
def test_an_interrupt_that_comes_once_all_is_paid_for_loses_nothing(
    book: BudgetLedger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupt(monkeypatch, "complete")
    made = release(book, tmp_path / "out", 0.3)
    assert {path.name for path in made.folder.iterdir()} == set(api.FILES)
    assert paid(book).guarantee.epsilon <= 0.3
    assert book.demand_intact().open == ()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.usefixtures("heard")
def test_an_interrupt_before_the_last_step_does_not_pass_for_a_release(
    book: BudgetLedger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It came before the step was guarded, and nothing was written."""
    handlers = iter([signal.default_int_handler])

    def interrupted(_: int) -> Any:
        for handler in handlers:
            return handler
        raise KeyboardInterrupt

    monkeypatch.setattr(signal, "getsignal", interrupted)
    with pytest.raises(KeyboardInterrupt):
        release(book, tmp_path / "out", 0.3)
    assert book.demand_intact().open == (2,)


# --- real processes -----------------------------------------------------------------------------

RELEASER = """
import os, sys, time
from pathlib import Path
from tests.test_reservation import BudgetLedger, PaidError, api, release
from dpcore.errors import BudgetExceeded

here, who, how = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
fit_grid, complete = api.fit_grid, BudgetLedger.complete

class Logged(api.GridNoise):
    def whole_numbers(self, count):
        found = super().whole_numbers(count)
        if not (here / f"{who}.drawn").exists():
            (here / f"{who}.drawn").touch()
            if how == "fail":
                raise ValueError
            wait(how == "draw")
        return found

def wait(asked):
    while asked:
        time.sleep(0.01)

def together(*words, **more):
    (here / f"{who}.ready").touch()
    while how == "fail" and len(list(here.glob("*.ready"))) < 2:
        time.sleep(0.001)
    return fit_grid(*words, **more)

def written(self, *words):
    found = complete(self, *words)
    (here / f"{who}.done").touch()
    wait(how == "write")
    return found

api.GridNoise, api.fit_grid, BudgetLedger.complete = Logged, together, written
try:
    release(BudgetLedger(here / "budget.sqlite"), here / who)
except BudgetExceeded as refusal:
    print("spent", refusal)
except PaidError as refusal:
    print("paid", refusal)
"""


def start(book: BudgetLedger, who: str, how: str) -> subprocess.Popen[str]:
    words = [sys.executable, "-c", RELEASER, str(book.path.parent), who, how]
    here = Path(__file__).parent  # beside which this file finds the other files of the tests
    environment = {**os.environ, "PYTHONPATH": str(here)}
    return subprocess.Popen(
        words, stdout=subprocess.PIPE, text=True, cwd=here.parent, env=environment
    )


def test_of_two_failing_releases_at_once_one_is_refused_before_its_noise(
    book: BudgetLedger,
) -> None:
    """Both were told that there is room; one alone fits."""
    processes = [start(book, who, "fail") for who in ("one", "two")]
    told = sorted(process.communicate(timeout=120)[0] for process in processes)
    assert [line.split()[0] for line in told] == ["paid", "spent"]
    assert len(list(book.path.parent.glob("*.drawn"))) == 1
    state = book.demand_intact()
    assert len(state.releases) == 1
    assert state.open == ()
    assert book.output(2) == {"failed": "ValueError"}


def killed(book: BudgetLedger, who: str, how: str, when: Callable[[], bool]) -> None:
    process = start(book, who, how)
    with process:
        while not when():
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)


def test_a_process_that_dies_before_its_end_has_spent(book: BudgetLedger, tmp_path: Path) -> None:
    killed(book, "out", "draw", (tmp_path / "out.drawn").exists)
    assert book.demand_intact().open == (2,)
    with pytest.raises(BudgetExceeded, match="Line 2 counts as spent"):
        release(book, tmp_path / "other")
    with pytest.raises(InputError, match=r"the release of line 2 is being written there, or its"):
        release(book, tmp_path / "out", 0.1)
    with pytest.raises(InputError, match=r"2 has not finished .*counts as spent"):
        api.rewrite(book.path, 2, tmp_path / "out")
    assert len(book.state().releases) == 1


def test_what_was_on_record_when_a_process_died_is_written_into_its_folder(
    book: BudgetLedger, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    killed(book, "out", "write", (tmp_path / "out.done").exists)
    assert [path.name for path in (tmp_path / "out").iterdir()] == [api.CLAIM]
    with pytest.raises(InputError, match=r"--write 2 --out FOLDER"):
        release(book, tmp_path / "out", 0.1)
    release(book, tmp_path / "other", 0.1)
    with pytest.raises(InputError, match="the release of line 2"):
        api.rewrite(book.path, 4, tmp_path / "out")  # another line's folder is not taken over
    (tmp_path / "out" / ".report.html").write_text("half a")
    words = ["ledger", str(book.path), "--write", "2", "--out", str(tmp_path / "out")]
    assert main(words) == 0
    assert {path.name for path in (tmp_path / "out").iterdir()} == set(api.FILES)
    assert main(["verify", str(tmp_path / "out"), "--ledger", str(book.path)]) == 0
    assert main(words) == 2  # a folder that is complete is nobody's to write into


def test_a_folder_with_files_of_others_is_never_taken_over(
    book: BudgetLedger, tmp_path: Path
) -> None:
    made = release(book, tmp_path / "made")
    out = tmp_path / "out"
    out.mkdir()
    mark = {"ledger": book.state().terms.name, "line": 2}
    (out / api.CLAIM).write_text(json.dumps(mark))
    (out / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match=wording.FOLDER_NOT_EMPTY):
        api.rewrite(book.path, made.dossier["line"]["number"], out)
    assert {path.name for path in out.iterdir()} == {api.CLAIM, "mine.txt"}
    for odd in ("", "[]", "{}", "\x00", '{"ledger": 1}'):
        (out / api.CLAIM).write_text(odd)
        with pytest.raises(InputError, match="a release started there and did not finish"):
            api.rewrite(book.path, 2, out)


def test_the_command_says_which_line_has_not_ended(
    book: BudgetLedger, capsys: pytest.CaptureFixture[str]
) -> None:
    book.reserve(one_release(), STATED, PERSON)
    assert main(["ledger", str(book.path)]) == 0
    assert "Line 2 counts as spent" in " ".join(capsys.readouterr().out.split())
    assert main(["ledger", str(book.path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["open"] == [2]


@pytest.mark.parametrize("kills", [1, pytest.param(100, marks=pytest.mark.full)])
def test_a_kill_at_any_moment_leaves_nothing_drawn_unpaid(tmp_path: Path, kills: int) -> None:
    """Whatever had drawn noise is on record, and whatever had been written down can be had."""
    book = BudgetLedger.create(tmp_path / "budget.sqlite", Amount(100.0, DELTA))
    rng = random.Random(1)
    for number in range(kills):
        who = str(number)
        process = start(book, who, "run")
        with process:
            while process.poll() is None and not (tmp_path / f"{who}.ready").exists():
                time.sleep(0.001)
            time.sleep(rng.uniform(0.0, 0.06))
            process.send_signal(signal.SIGKILL)
    state = book.demand_intact()
    ended = len(state.releases) - len(state.open)
    assert len(list(tmp_path.glob("*.drawn"))) <= len(state.releases)
    assert len(list(tmp_path.glob("*.done"))) <= ended
    for line in state.releases:
        if line.number not in state.open:
            api.rewrite(book.path, line.number, tmp_path / f"again-{line.number}")
            verify(tmp_path / f"again-{line.number}", book.path)


# --- ledgers of the first version ---------------------------------------------------------------

OLD = Path(__file__).parent / "data" / "release_1"


def test_a_ledger_of_the_first_version_takes_releases_on(tmp_path: Path) -> None:
    """Written before budget was reserved: one release, and one that failed and was paid for."""
    path = tmp_path / "budget.sqlite"
    path.write_bytes((OLD / "budget.sqlite").read_bytes())
    book = BudgetLedger(path)
    before = book.demand_intact()
    assert [line.number for line in before.releases] == [2, 3]
    assert before.open == ()
    assert book.output(3) == {"failed": "ValueError"}
    release(book, tmp_path / "new")
    after = book.demand_intact()
    assert after.lines[:3] == before.lines
    assert after.spent > before.spent
    verify(tmp_path / "new", path)
    verify(OLD / "first", path)
    api.rewrite(path, 2, tmp_path / "again")
    again = json.loads((tmp_path / "again" / "dossier.json").read_text())
    assert again == json.loads((OLD / "first" / "dossier.json").read_text())
