"""A class on one server: ``python -m tests.studio.load [--sessions 40] [--seconds 60]``.

Every student is a session of Streamlit's own protocol (protobuf over a WebSocket) without a
browser: it opens Explore, answers what the page asks to have run again, and lets the slider go at
a place of its own every few seconds. The server is `dpcore serve`. *Server* times are taken inside
it, from a message's arrival until the picture of the wanted budget is handed to the socket; the
times of students begin where they send, and also hold what waits in the network and in this
process. Pictures are asked for whole each time, which a browser would find in its cache.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

from .stage import free_port, wait_for_health

PATIENCE = 60.0  # seconds for an answer; none is an error
CALM = 3.0  # seconds without a picture after which a page has opened
PICTURE = re.compile(rb'"slider":"st-key-epsilon_step".*?"step":(\d+),"thumb"', re.DOTALL)


def step_in(message: Any) -> int | None:
    """The step of the main picture, where a message to the browser holds it."""
    if message.WhichOneof("type") != "delta":
        return None
    element = message.delta.new_element
    if element.WhichOneof("type") != "bidi_component":
        return None
    match = PICTURE.search(element.bidi_component.bytes)
    return int(match[1]) if match else None


# ---------------------------------------------------------------- the server


def serve(port: str, log: Path) -> None:
    """`dpcore serve`, with a line in a file for each message asked, picture sent and run ended."""
    from streamlit.runtime.runtime import Runtime

    from dpcore.cli import main

    handle, send = Runtime.handle_backmsg, Runtime._send_message
    lines = log.open("w", encoding="utf-8", buffering=1)

    def note(session: str, what: str, step: int | None = None) -> None:
        lines.write(json.dumps([perf_counter(), session, what, step]) + "\n")

    def handled(self: Any, session: str, message: Any, **more: Any) -> None:
        note(session, "asked")
        handle(self, session, message, **more)

    def sent(self: Any, info: Any, message: Any) -> None:
        send(self, info, message)
        if message.WhichOneof("type") == "script_finished":
            note(info.session.id, "ended")
        elif (step := step_in(message)) is not None:
            note(info.session.id, "picture", step)

    Runtime.handle_backmsg, Runtime._send_message = handled, sent  # type: ignore[method-assign,assignment]
    sys.exit(main(["serve", "--host", "localhost", "--port", port]))


@contextmanager
def served() -> Iterator[tuple[str, int, Path]]:
    """The server in a process of its own: its address, its process and its log."""
    with tempfile.TemporaryDirectory() as folder:
        port, log = str(free_port()), Path(folder) / "log.jsonl"
        command = [sys.executable, "-m", "tests.studio.load", "--serve", port, str(log)]
        quiet = subprocess.DEVNULL
        with subprocess.Popen(command, stdout=quiet, stderr=quiet, env=os.environ) as process:
            try:
                wait_for_health(f"http://localhost:{port}", process)
                yield f"ws://localhost:{port}/_stcore/stream", process.pid, log
            finally:
                process.terminate()


# ---------------------------------------------------------------- a student


@dataclass
class Release:
    """The slider let go at a step: when, and when its picture and the whole page were there."""

    session: str
    step: int
    sent: float
    picture: float = np.nan
    page: float = np.nan


@dataclass
class Student:
    """One session: what it has been told, and what it has waited for."""

    socket: ClientConnection
    query: str
    session: str = ""
    page_hash: str = ""
    slider: str = ""
    labels: list[str] = field(default_factory=list)
    at: int | None = None
    last: float = 0.0
    opened: float = np.nan
    pending: Release | None = None
    done: list[Release] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    again: dict[str, asyncio.Task[None]] = field(default_factory=dict)

    async def ask(self, fragment: str = "", chosen: str | None = None) -> None:
        """Have the page, or a fragment of it, run."""
        message = BackMsg()
        state = message.rerun_script
        state.query_string, state.page_script_hash = self.query, self.page_hash
        state.fragment_id, state.is_auto_rerun = fragment, bool(fragment)
        if chosen is not None:
            widget = state.widget_states.widgets.add()
            widget.id = self.slider
            widget.string_array_value.data.append(chosen)
        await self.socket.send(message.SerializeToString())

    async def listen(self) -> None:
        """Take what the server sends until it ends."""
        try:
            async for data in self.socket:
                message = ForwardMsg()
                message.ParseFromString(data)
                self.take(message)
        except WebSocketException as error:
            self.errors.append(f"the connection broke: {error}")

    def take(self, message: Any) -> None:
        """One message."""
        kind = message.WhichOneof("type")
        if kind == "new_session":
            started = message.new_session
            self.session = started.initialize.session_id or self.session
            self.page_hash = started.page_script_hash
            if not message.metadata.run.fragment_ids:  # what was to run again is gone
                self.rest()
        elif kind == "auto_rerun":
            fragment, every = message.auto_rerun.fragment_id, message.auto_rerun.interval
            self.stop(fragment)
            self.again[fragment] = asyncio.create_task(self.repeat(fragment, every))
        elif kind == "page_info_changed":
            self.query = message.page_info_changed.query_string
        elif kind == "delta":
            self.see(message)
        elif kind == "script_finished" and self.pending and not np.isnan(self.pending.picture):
            self.pending.page = perf_counter()
            self.done.append(self.pending)
            self.pending = None

    def see(self, message: Any) -> None:
        """An element of the page."""
        element = message.delta.new_element
        kind = element.WhichOneof("type")
        if kind == "exception" or (kind == "alert" and element.alert.format == 1):
            self.errors.append(str(element)[:300])
        if kind == "slider" and "epsilon_step" in element.slider.id:
            self.slider, self.labels = element.slider.id, list(element.slider.options)
        step = step_in(message)
        if step is None:
            return
        self.at, self.last = step, perf_counter()
        if np.isnan(self.opened):
            self.opened = self.last
        if self.pending and step == self.pending.step:
            self.pending.picture = self.last

    async def repeat(self, fragment: str, every: float) -> None:
        """Ask for a fragment again and again, as the page has told."""
        with suppress(WebSocketException):
            while True:
                await asyncio.sleep(every)
                await self.ask(fragment)

    def stop(self, fragment: str) -> None:
        if fragment in self.again:
            self.again.pop(fragment).cancel()

    def rest(self) -> None:
        for fragment in list(self.again):
            self.stop(fragment)

    async def release(self, step: int) -> None:
        """Let the slider go at a step, and wait for the whole page."""
        self.pending = Release(self.session, step, perf_counter())
        await self.ask(chosen=self.labels[step])
        if not await reached(lambda: self.pending is None):
            self.errors.append(f"no answer in {PATIENCE:.0f} s")
            self.pending = None


async def reached(condition: Any, seconds: float = PATIENCE) -> bool:
    """Whether something comes true in time."""
    end = perf_counter() + seconds
    while perf_counter() < end:
        if condition():
            return True
        await asyncio.sleep(0.01)
    return False


# ---------------------------------------------------------------- the class


async def play(
    url: str, sessions: int, seconds: float, pause: float, query: str
) -> tuple[list[Student], float]:
    """Open all sessions at once, then let each release its slider now and then; with the moment in
    which the first of them began."""
    rng, began = random.Random(0), perf_counter()
    sockets = [await connect(url, subprotocols=["streamlit"], max_size=None, ping_interval=None)  # type: ignore[list-item]
               for _ in range(sessions)]  # fmt: skip
    students = [Student(socket, query) for socket in sockets]
    listening = [asyncio.create_task(student.listen()) for student in students]
    await asyncio.gather(*(student.ask() for student in students))
    await reached(lambda: all(student.at is not None or student.errors for student in students))
    for student in students:
        if student.at is None:
            student.errors.append("the page did not open")
    await reached(lambda: perf_counter() - max(student.last for student in students) > CALM)
    end = perf_counter() + seconds

    async def work(student: Student) -> None:
        await asyncio.sleep(rng.uniform(0.0, pause))
        while perf_counter() < end and not student.errors:
            steps = [step for step in range(len(student.labels)) if step != student.at]
            await student.release(rng.choice(steps))
            await asyncio.sleep(rng.uniform(0.5, 1.5) * pause)

    await asyncio.gather(*(work(student) for student in students if student.at is not None))
    for student in students:
        student.rest()
        await student.socket.close()
    await asyncio.gather(*listening)
    return students, began


def server_times(log: Path, releases: list[Release]) -> list[tuple[float, float]]:
    """Seconds from arrival to picture and to the end of the run, inside the server."""
    events: dict[str, list[tuple[float, str, int | None]]] = {}
    for line in log.read_text(encoding="utf-8").splitlines():
        when, session, what, step = json.loads(line)
        events.setdefault(session, []).append((when, what, step))
    times = []
    for release in releases:
        after = [event for event in events[release.session] if event[0] >= release.sent]
        asked_at = next(when for when, what, _ in after if what == "asked")
        after = [event for event in after if event[0] >= asked_at]
        drawn = next(
            when for when, what, step in after if (what, step) == ("picture", release.step)
        )
        ended = next(when for when, what, _ in after if what == "ended" and when >= drawn)
        times.append((drawn - asked_at, ended - asked_at))
    return times


def measure(
    sessions: int = 40, seconds: float = 60.0, pause: float = 8.0, query: str = ""
) -> dict[str, Any]:
    """One class: what was asked, how long it took, and how much memory the server had at most.

    pause: mean seconds between a page and the next release of the same student.
    """
    with served() as (url, process, log):
        students, began = asyncio.run(play(url, sessions, seconds, pause, query))
        status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
        clock = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
        wall = perf_counter() - began
        releases = [release for student in students for release in student.done]
        inside = np.array(server_times(log, releases)).reshape(-1, 2)
    (peak,) = re.findall(r"VmHWM:\s+(\d+) kB", status)
    outside = np.array(
        [[release.picture - release.sent, release.page - release.sent] for release in releases]
    )
    busy = (int(clock[11]) + int(clock[12])) / os.sysconf("SC_CLK_TCK")
    row: dict[str, Any] = {
        "sessions": sessions,
        "releases": len(releases),
        "errors": [error for student in students for error in student.errors],
        "open_most": round(max(student.opened - began for student in students), 2),
        "peak_mib": round(int(peak) / 1024),
        "processors": round(busy / wall, 2),
    }
    for where, times in (("server", inside), ("student", outside.reshape(-1, 2))):
        for place, what in enumerate(("picture", "page")):
            for share in (50, 95) if len(times) else ():
                row[f"{where}_{what}_p{share}"] = round(
                    float(np.percentile(times[:, place], share)), 3
                )
    return row


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.studio.load", description=__doc__)
    parser.add_argument("--sessions", type=int, default=40, metavar="N")
    parser.add_argument("--seconds", type=float, default=60.0, metavar="S", help="of releases")
    parser.add_argument("--pause", type=float, default=8.0, metavar="S", help="between them, mean")
    parser.add_argument("--query", default="", help="what the page opens with: data=iris")
    parser.add_argument("--serve", nargs=2, metavar=("PORT", "LOG"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve:
        serve(args.serve[0], Path(args.serve[1]))
    print(json.dumps(measure(args.sessions, args.seconds, args.pause, args.query), indent=2))


if __name__ == "__main__":
    main()
