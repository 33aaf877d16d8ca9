"""Where the time of Explore goes: for each table and action, by room of the package.

The page's script runs in this process, without a browser. A thread looks every few milliseconds
where the others are; the time since its last look belongs to the room of the innermost frame of
this package or of Streamlit, so a library's time counts for the room that called it. What the page
needs is imported inside functions here, so that its imports are measured too.
"""

from __future__ import annotations

import faulthandler
import json
import logging
import re
import subprocess
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from tempfile import TemporaryFile
from time import perf_counter, sleep
from types import TracebackType
from typing import Any

LOOK = 0.005  # seconds between two looks
TURNS = 5  # repetitions of an action; the median one is reported
PATIENCE = 600.0  # seconds
HERE = str(Path(__file__).parent)
PACKAGE = str(Path(getattr(find_spec("dpcore"), "origin", "")).parent)
IMPORTS = "importlib._bootstrap"
WAITING = (
    "local_script_runner.py",
    "threading.py",
    "thread.py",
    "selectors.py",
    "queue.py",
    "_base.py",
    "base_events.py",
)
Row = dict[str, Any]


class Watch:
    """Seconds by room while it is entered: those of all threads but its own and those that wait."""

    def __init__(self) -> None:
        self.rooms = defaultdict[str, float](float)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._ended.set()
        self._thread.join()

    def _look(self) -> None:
        """All stacks are written down at once: to follow the frames of a thread that goes on
        meanwhile can end the process."""
        last = perf_counter()
        with TemporaryFile(buffering=0) as file:
            while not self._ended.wait(LOOK):
                now = perf_counter()
                file.seek(0)
                faulthandler.dump_traceback(file)
                file.truncate(file.tell())
                file.seek(0)
                rooms = [room for files in stacks(file.read().decode()) if (room := room_of(files))]
                for room in rooms or ["waiting"]:
                    self.rooms[room] += (now - last) / max(1, len(rooms))
                last = now


def stacks(text: str) -> list[list[str]]:
    """Files of each thread but the current one, the innermost first, from what
    :func:`faulthandler.dump_traceback` writes.

    >>> stacks('Thread 0x1 (most ...):\\n  File "a.py", line 1 in f\\n  File "b.py", line 2 in g')
    [['a.py', 'b.py']]
    """
    threads = (part for part in text.split("\n\n") if not part.startswith("Current thread"))
    return [re.findall(r'^  File "(.*)", line', part, re.MULTILINE) for part in threads]


def room_of(files: Sequence[str]) -> str:
    """The room that a thread works in, "imports" while it imports; empty where it waits.

    files: of its stack, the innermost first.
    """
    if not files or files[0] == __file__ or files[0].endswith(WAITING):
        return ""
    if any(IMPORTS in file for file in files):
        return "imports"
    return next(filter(None, map(_named, files)), "other")


def _named(file: str) -> str:
    """The room of a file; empty for a library's."""
    if file.startswith(PACKAGE):
        return Path(file).relative_to(PACKAGE).parts[0].removesuffix(".py")
    if file.startswith(HERE) and file != __file__:
        return "app"
    return "streamlit" if "streamlit" in Path(file).parts else ""


class Visit:
    """A visitor of Explore, with a table, whose page runs in this process."""

    def __init__(self, name: str) -> None:
        from streamlit import config
        from streamlit.testing.v1 import AppTest

        from app.settings import entry, settings

        for option, value in settings()["global"].items():  # which are not read in other folders
            config.set_option(f"global.{option}", value)
        logging.getLogger("streamlit").setLevel(logging.ERROR)  # it warns that there is no server
        self.name = name
        self.page = AppTest.from_file(str(entry()), default_timeout=PATIENCE)
        self.page.query_params["data"] = name

    def run(self) -> None:
        """Run the page until nothing more of its picture comes."""
        from app.result_store import at_work

        self.page.run()
        while at_work():
            sleep(5 * LOOK)
            if not at_work():
                self.page.run()

    def actions(self) -> Iterator[tuple[str, Callable[[int], object]]]:
        """What can be done, and how to do it in a turn."""
        from app.scenario import opening
        from app.sweeps import sliding
        from app.tables import data_of, store_of

        scenario = opening(self.name)
        data = data_of(scenario)
        assert data is not None  # bundled data is there
        stops = {"epsilon": scenario.budgets(data.rows)}
        for dial in sliding(scenario, data, store_of(data)):
            if not dial.why_not:
                stops[dial.name] = dial.stops
        yield "nothing", lambda turn: None
        for name, values in stops.items():
            yield name, self._moves(f"{name}_step", values)
        yield "new noise", lambda turn: self._press("New noise")

    def _moves(self, key: str, stops: Sequence[float]) -> Callable[[int], object]:
        def move(turn: int) -> object:
            at = (len(stops) // 2 + turn) % len(stops)
            return self.page.select_slider(key=key).set_value(stops[at])

        return move

    def _press(self, label: str) -> object:
        return next(button for button in self.page.button if button.label == label).click()


def opened(name: str) -> Row:
    """Seconds of a page in this process, by room."""
    begun = perf_counter()
    with Watch() as watch:
        Visit(name).run()
    return {"seconds": perf_counter() - begun, "rooms": dict(watch.rooms)}


def times(only: Sequence[str], tell: Callable[[str], None]) -> Iterator[Row]:
    """A row for each table and action: ``table``, ``action``, ``seconds`` until nothing more comes
    (the median turn), ``rooms`` (seconds by room, of that turn).

    only: names of tables [all]. tell: hears which table is measured. Raises InputError for a name
    that no table has.
    """
    from app.scenario import offered
    from dpcore.checks import choose
    from dpcore.errors import InputError

    names = [table.name for table in offered()]
    for name in only:
        if name not in names:
            raise InputError("only", f"there is no table {name!r}", choose(name, names))
    for name in only or names:
        tell(name)
        yield {"table": name, "action": "opened in a new process"} | _in_a_new_process(name)
        visit = Visit(name)
        visit.run()
        for action, do in visit.actions():
            rows = [_turn(visit, do, turn) for turn in range(TURNS)]
            middle = median(row["seconds"] for row in rows)
            yield {"table": name, "action": action} | next(
                row for row in rows if row["seconds"] == middle
            )


def _turn(visit: Visit, do: Callable[[int], object], turn: int) -> Row:
    do(turn)
    begun = perf_counter()
    with Watch() as watch:
        visit.run()
    return {"seconds": perf_counter() - begun, "rooms": dict(watch.rooms)}


def _in_a_new_process(name: str) -> Row:
    code = f"from app.page_times import opened; import json; print(json.dumps(opened({name!r})))"
    command = [sys.executable, "-P", "-W", "ignore", "-c", code]  # -P: not an app.py lying here
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    row: Row = json.loads(ran.stdout.splitlines()[-1])
    return row
