"""A server for a class: what ``dpcore serve`` says of it reaches the pages."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from inspect import unwrap
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.datastructures import Headers, UploadFile
from starlette.formparsers import MultiPartParser
from streamlit import net_util, runtime
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.web.server.server_util import is_url_from_allowed_origins
from studio.stage import free_port, wait_for_health

from app import releasing
from app.scenario import GENERATED, UPLOAD, Scenario
from app.settings import (
    UPLOADS,
    call_nobody,
    flags,
    forget_closed,
    hold_uploads,
    is_served,
    uploads_allowed,
)
from app.state import _scenario_of
from app.texts import release as release_texts
from app.views.explore import sources
from dpcore.cli import serve
from dpcore.errors import InputError
from dpcore.releases.filter import Amount
from dpcore.releases.ledger import BudgetLedger
from dpcore.wall.table import locked


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (serve.LOCK, serve.UPLOADS, serve.LEDGERS):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("host", ["0.0.0.0", "localhost", "::", "192.168.1.5", "127.0.0.2"])
def test_on_any_other_host_nothing_is_taken_or_shown_unless_it_is_asked_for(
    host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for uploads in (False, True):
        for unlock in (False, True):
            for name, word in serve.environment(host, uploads=uploads, unlock=unlock).items():
                monkeypatch.setenv(name, word)
            assert is_served()
            assert uploads_allowed() == uploads
            assert locked() == (not unlock)


def test_on_this_machine_it_is_the_explorer_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    assert serve.environment("127.0.0.1", uploads=True, unlock=False) == {}
    assert not is_served()
    assert uploads_allowed()
    assert UPLOAD in sources()
    assert _scenario_of({"data": "upload"}).data == UPLOAD
    assert releasing.place("~/b.sqlite") == Path("~/b.sqlite").expanduser()
    monkeypatch.setenv(serve.LOCK, "1")
    assert locked(), "a lock of the environment stays"
    assert serve.environment("127.0.0.1", uploads=True, unlock=True) == {serve.LOCK: "0"}


def test_a_page_of_another_origin_is_refused_without_a_call_outside(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(net_util, "_external_ip", None)
    monkeypatch.setattr(net_util, "_make_blocking_http_get", lambda url, **_: asked.append(url))
    assert not is_url_from_allowed_origins("https://another.example")
    assert asked, "as Streamlit does it"
    asked.clear()
    call_nobody()
    assert not is_url_from_allowed_origins("https://another.example")
    assert asked == []


def test_a_file_that_comes_in_is_never_on_a_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond 1 MB it lay in a temporary file, while the page said that it is never written."""
    monkeypatch.setattr(MultiPartParser, "spool_max_size", 1 << 20)  # a page may have run before
    assert _lies_on_a_disk(3 << 20), "as Streamlit does it"
    hold_uploads()
    assert not _lies_on_a_disk(3 << 20)


def test_a_closed_page_goes_with_its_upload_though_no_other_is_opened(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Streamlit looks at what has run out of time only when it stores another session."""
    monkeypatch.setattr(MemorySessionStorage, "save", unwrap(MemorySessionStorage.save))
    forget_closed()
    forget_closed()  # once for each page
    ended = list[str]()
    open_again = SimpleNamespace(is_active_session=lambda name: name == "back")
    monkeypatch.setattr(runtime, "exists", lambda: True)
    monkeypatch.setattr(runtime, "get_instance", lambda: open_again)

    def session(name: str) -> Any:
        state = {"upload": name}
        return SimpleNamespace(id=name, session_state=state, shutdown=lambda: ended.append(name))

    async def closed() -> list[dict[str, str]]:
        storage, pages = MemorySessionStorage(ttl_seconds=0), [session("gone"), session("back")]
        for page in pages:
            storage.save(SimpleNamespace(session=page))  # type: ignore[arg-type]
        await asyncio.sleep(1.2)
        return [page.session_state for page in pages]

    assert asyncio.run(closed()) == [{}, {"upload": "back"}]
    assert ended == ["gone"]


def test_a_class_that_closes_its_pages_does_not_stop_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Memory was searched through for each of them, one after another, while nobody was answered:
    for 25 pages 3.4 seconds of processor time, and 23 seconds on a busy machine."""
    monkeypatch.setattr(MemorySessionStorage, "save", unwrap(MemorySessionStorage.save))
    monkeypatch.setattr("app.settings.TOGETHER", 0.1)
    searched = list[int]()
    monkeypatch.setattr("gc.collect", lambda: searched.append(1))
    forget_closed()

    def session(name: int) -> Any:
        return SimpleNamespace(id=str(name), session_state={1: name}, shutdown=lambda: None)

    async def closed() -> None:
        storage = MemorySessionStorage(ttl_seconds=0)
        for pages in (range(30), range(30, 60)):  # and once more, for those that end later
            for page in map(session, pages):
                storage.save(SimpleNamespace(session=page))  # type: ignore[arg-type]
            await asyncio.sleep(1.5)

    asyncio.run(closed())
    assert len(searched) == 2


def _lies_on_a_disk(size: int) -> bool:
    """Whether a file of so many bytes does, once the server has taken it in."""
    edge = b"--edge\r\n"
    head = b'Content-Disposition: form-data; name="file"; filename="people.csv"\r\n\r\n'

    async def stream() -> AsyncIterator[bytes]:
        yield edge + head + b"1" * size + b"\r\n--edge--\r\n"

    async def parsed() -> UploadFile:
        headers = Headers({"content-type": "multipart/form-data; boundary=edge"})
        file = (await MultiPartParser(headers, stream()).parse())["file"]
        assert isinstance(file, UploadFile)
        return file

    with asyncio.run(parsed()).file as file:
        assert len(file.read()) == size
        return bool(file._rolled)  # type: ignore[attr-defined]


def test_without_uploads_no_link_and_no_list_leads_to_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(UPLOADS, "0")
    assert set(sources()) >= {"three_groups", "iris", GENERATED}
    assert UPLOAD not in sources()
    assert _scenario_of({"data": "upload"}).data == Scenario.data
    assert _scenario_of({"on": "data=upload&epsilon=2"}).data == Scenario.data
    assert _scenario_of({"data": "iris"}).data == "iris"


def test_ledgers_for_practice_lie_in_a_folder_of_the_session(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(UPLOADS, "0")
    session: dict[str, object] = {}
    monkeypatch.setattr(releasing.st, "session_state", session)
    path = releasing.place("budget.sqlite")
    assert releasing.place("other.sqlite").parent == path.parent
    assert path.parent.parent == Path(releasing.MEMORY) or not os.access(releasing.MEMORY, os.W_OK)
    BudgetLedger.create(path, Amount(1.0, 1e-5))
    for name in ("/tmp/b.sqlite", "../b.sqlite", ".b"):
        with pytest.raises(InputError, match=release_texts.NAMES_FOLDER[0]):
            releasing.place(name)
    assert path.exists()
    session.clear()  # as when the session ends
    assert not path.parent.exists()
    assert releasing.place("budget.sqlite") != path, "another session has another folder"


def test_where_nothing_can_be_written_practice_is_refused_in_a_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refused(**_: object) -> None:
        raise FileNotFoundError(2, "No usable temporary directory found")

    monkeypatch.setenv(UPLOADS, "0")
    monkeypatch.setattr(releasing.st, "session_state", {})
    monkeypatch.setattr(releasing, "mkdtemp", refused)
    with pytest.raises(InputError, match="ask its owner to set TMPDIR"):
        releasing.place("budget.sqlite")


def test_where_files_are_taken_ledgers_are_in_earnest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also without the lock nobody on the network names a path of the machine."""
    for lock in ("0", "1"):
        monkeypatch.setenv(UPLOADS, "1")
        monkeypatch.setenv(serve.LOCK, lock)
        monkeypatch.delenv(releasing.HOME, raising=False)
        with pytest.raises(InputError, match=release_texts.no_folder(releasing.HOME)[0]):
            releasing.place("budget.sqlite")
        monkeypatch.setenv(releasing.HOME, str(tmp_path))
        assert releasing.place("budget.sqlite") == tmp_path / "budget.sqlite"
        with pytest.raises(InputError, match=release_texts.NAMES_FOLDER[0]):
            releasing.place("/tmp/budget.sqlite")


def test_the_server_is_told_another_address_in_place_of_its_own() -> None:
    given = flags(address="0.0.0.0", port=9000, baseUrlPath="dp", allowedHosts=["*"])
    named = [re.match(r"--([\w.]+)=", flag)[1] for flag in given]  # type: ignore[index]
    assert len(named) == len(set(named)), "no option is given twice"
    assert {"--server.address=0.0.0.0", "--server.port=9000", "--server.baseUrlPath=dp"} <= {*given}
    assert "--server.allowedHosts=*" in given
    assert "--server.enableXsrfProtection=true" in given


@pytest.mark.parametrize("words", ["explore --no-browser", "serve"])
def test_a_server_prints_its_address_and_nothing_else(words: str) -> None:
    """Words of Streamlit came after the JSON."""
    port = free_port()
    with subprocess.Popen(
        [sys.executable, "-m", "dpcore", *words.split(), "--port", str(port), "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        wait_for_health(f"http://127.0.0.1:{port}", process)
        process.send_signal(signal.SIGINT)
        printed, _ = process.communicate(timeout=20)
    assert json.loads(printed)["url"] == f"http://127.0.0.1:{port}/"
    assert process.returncode == 0
