"""Where the time of the first page goes: each thread's time in the room that it works in."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

import dpcore
from app import page_times
from app.page_times import Watch, room_of, times
from dpcore.cli import main
from dpcore.errors import InputError

PACKAGE = Path(dpcore.__file__).parent


@pytest.mark.parametrize(
    ("file", "room"),
    [
        (str(PACKAGE / "wall" / "table.py"), "wall"),
        (str(PACKAGE / "checks.py"), "checks"),
        (str(Path(page_times.__file__).with_name("sweeps.py")), "app"),
        ("/lib/streamlit/runtime/state.py", "streamlit"),
        ("<frozen importlib._bootstrap>", "imports"),
        ("/lib/python3.11/threading.py", ""),
    ],
    ids=["wall", "checks", "app", "streamlit", "imports", "threads"],
)
def test_a_file_has_its_room(file: str, room: str) -> None:
    assert room_of([file]) == room


def test_a_library_works_for_the_room_that_called_it() -> None:
    assert room_of(["/lib/numpy/linalg.py", str(PACKAGE / "models" / "a.py")]) == "models"


def test_what_is_imported_is_no_work_of_its_own() -> None:
    body = str(PACKAGE / "models" / "a.py")
    assert room_of([body, "<frozen importlib._bootstrap>"]) == "imports"


def test_a_watch_counts_who_works_and_not_who_waits() -> None:
    ended = threading.Event()
    waits = threading.Thread(target=ended.wait)
    works = threading.Thread(target=_turns, args=(ended,))
    with Watch() as watch:
        for thread in (waits, works):
            thread.start()
        while watch.rooms["checks"] < 0.01:
            pass
        ended.set()
    assert set(watch.rooms) <= {"checks", "other", "waiting"}


def _turns(ended: threading.Event) -> None:
    code = compile("while not ended.is_set(): sum(range(100))", str(PACKAGE / "checks.py"), "exec")
    exec(code, {"ended": ended})


def test_a_table_that_is_none_is_refused() -> None:
    with pytest.raises(InputError, match="there is no table 'nowhere'"):
        list(times(["nowhere"], print))


def test_tables_belong_to_the_page_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "gmm", "--only", "iris"]) != 0
    assert "it applies only to page" in capsys.readouterr().err
    assert main(["bench", "page", "--draws", "3"]) != 0
    assert "it applies only to utility" in capsys.readouterr().err


@pytest.mark.full
def test_every_action_of_a_table_has_its_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "app.py").write_text("raise SystemExit")  # somebody else's
    monkeypatch.chdir(tmp_path)
    assert main(["bench", "page", "--only", "gains_and_losses", "--json"]) == 0
    out, err = capsys.readouterr()
    assert "Stack" not in err, "the page has nothing to warn of"
    rows = json.loads(out)
    actions = ["opened in a new process", "nothing", "epsilon", "delta", "new noise"]
    assert [row["action"] for row in rows] == actions
    for row in rows:
        assert 0.0 < sum(row["rooms"].values()) <= 1.05 * row["seconds"]
    assert rows[0]["rooms"]["imports"] > 0.0
    assert "models" in rows[-1]["rooms"], "new noise is fitted"
