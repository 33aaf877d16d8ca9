"""``dpcore serve`` for a class: its options reach the pages that a browser sees."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from studio.stage import free_port, wait_for_health

from app.texts import release as release_texts
from app.texts import upload as upload_texts

MAIN = "import sys, dpcore.cli; sys.exit(dpcore.cli.main())"


@pytest.fixture(scope="module")
def told() -> Iterator[dict[str, Any]]:
    """A server on a name that is not 127.0.0.1, under a path; what it said of itself."""
    port = str(free_port())
    words = ("serve", "--host", "localhost", "--port", port, "--base-path", "/dp", "--json")
    clean = {name: word for name, word in os.environ.items() if name != "DPCORE_LOCK_TRUTH"}
    with subprocess.Popen(
        [sys.executable, "-c", MAIN, *words],
        env=clean,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            said = json.loads(process.stdout.readline())
            wait_for_health(said["url"].rstrip("/"), process)
            yield said
        finally:
            process.terminate()
            process.wait(timeout=20)


def test_it_takes_no_file_and_says_so(told: dict[str, Any], page: Any) -> None:
    assert (told["uploads"], told["locked"]) == (False, True)
    assert told["url"].endswith("/dp/")
    page.goto(f"{told['url']}?data=upload")
    page.wait_for_selector(".dpl[data-step]", timeout=60_000)
    assert "Simulated data: everything here may be shown" in page.inner_text(".dp-brand")
    page.wait_for_function("!location.search.includes('upload')")
    assert page.evaluate("location.pathname") == "/dp/"


def test_each_session_has_a_ledger_for_practice(
    told: dict[str, Any], new_page: Callable[..., Any]
) -> None:
    one, other = new_page(), new_page()
    for page in (one, other):
        page.goto(f"{told['url']}release")
        page.get_by_text(release_texts.PRACTICE).wait_for(timeout=60_000)
    one.get_by_role("button", name="Start this ledger").click()
    one.get_by_text("Releases so far: 0.").wait_for(timeout=30_000)
    other.reload()
    other.get_by_text(release_texts.NO_LEDGER).wait_for(timeout=30_000)


def test_a_proxy_may_hand_on_the_name_by_which_browsers_know_it(told: dict[str, Any]) -> None:
    port = int(told["url"].split(":")[2].split("/")[0])
    ask = (
        "GET /dp/_stcore/stream HTTP/1.1\r\nHost: class.example.org\r\nUpgrade: websocket\r\n"
        "Connection: Upgrade\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
        "Sec-WebSocket-Version: 13\r\nOrigin: https://class.example.org\r\n\r\n"
    )
    with socket.create_connection(("localhost", port), 10) as line:
        line.sendall(ask.encode())
        assert line.recv(1024).startswith(b"HTTP/1.1 101 ")


def test_a_page_of_another_site_cannot_have_a_budget_spent_by_a_click(
    server: Callable[..., str], new_page: Callable[..., Any]
) -> None:
    """Framed unseen below something to click; whoever opens the page itself sees all of it."""
    address, page = server(None), new_page()
    page.set_content(f'<iframe src="{address}/release" width="1200" height="900"></iframe>')
    inside = page.frame_locator("iframe")
    inside.get_by_text(release_texts.FRAMED).wait_for(timeout=60_000)
    spend = inside.get_by_text("3 · Spend")
    spend.wait_for(state="attached", timeout=30_000)
    assert not spend.is_visible()
    assert not inside.get_by_role("button", name="Start this ledger").is_visible()
    page.goto(f"{address}/release")
    page.get_by_text("3 · Spend").wait_for(timeout=60_000)
    assert not page.get_by_text(release_texts.FRAMED).is_visible()


def test_a_page_that_frames_the_explorer_cannot_have_uploads_sent_to_it(
    server: Callable[..., str], new_page: Callable[..., Any]
) -> None:
    """Streamlit obeys pages of *.streamlit.app, where anybody may have one: the next file went to
    whom they named."""
    address, page, other = server(None), new_page(), "https://other.streamlit.app"
    message = f"{{stCommVersion: 1, type: 'SET_FILE_UPLOAD_CLIENT_CONFIG', prefix: '{other}'}}"
    frame = (
        f'<iframe src="{address}/?data=upload" width="1200" height="900"></iframe><script>'
        f"setInterval(() => frames[0].postMessage({message}, '*'), 50)</script>"
    )
    page.route(f"{other}/**", lambda way: way.fulfill(content_type="text/html", body=frame))
    page.context.grant_permissions(["local-network-access"], origin=other)
    page.goto(other)
    inside = page.frame_locator("iframe")
    inside.get_by_text(upload_texts.NOTHING_READ).wait_for(timeout=60_000)
    page.wait_for_timeout(500)
    with page.expect_request("**/_stcore/upload_file/**") as sent:
        inside.locator("input[type=file]").first.set_input_files(
            {"name": "people.csv", "mimeType": "text/csv", "buffer": b"age,pay\n40,1\n"}
        )
    page.context.clear_permissions()
    assert sent.value.url.startswith(address)
