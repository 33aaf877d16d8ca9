"""``dpcore explore``: start the explorer on this machine and open it in a browser."""

from __future__ import annotations

import argparse
import json
import socket
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from importlib.util import find_spec

from dpcore.checks import whole
from dpcore.errors import InputError

PAGES = ("explore", "compose", "attack", "release", "learn")
OPTIONS = """
--port P=8501: port on this machine [8501]
--no-browser: do not open a browser [one is opened]
--json: print the address as JSON [a readable line]
state [state]: the end of a link from 'Share and export': a=b&c=d, or PAGE?a=b for another page
    [none]
"""


def run(args: argparse.Namespace) -> None:
    """Serve until interrupted; every setting is passed along, so any folder will do. Raises
    InputError without the explorer and where the port is in use."""
    port = whole("port", args.port, most=65535)
    demand_app("explore")
    if _listens(port):
        raise InputError(
            "port", f"{port} is already in use on this machine", "give another with --port"
        )
    from app.settings import flags

    url = f"http://127.0.0.1:{port}/{place(args.state or '')}"
    address = json.dumps({"url": url, "port": port})
    print(address if args.json else f"dpcore explorer: {url}  (Ctrl+C stops it)", flush=True)
    if not args.no_browser:
        _open_when_ready(url, port)
    start(flags(port=port))


def start(flags: Sequence[str]) -> None:
    """Serve until interrupted. What the server has to say is on standard error: the address alone
    is printed."""
    from streamlit.web.cli import main

    from app.settings import call_nobody, entry

    call_nobody()
    sys.argv = ["streamlit", "run", str(entry()), *flags, "--logger.hideWelcomeMessage=true"]
    with redirect_stdout(sys.stderr):
        main(prog_name="streamlit")


def demand_app(command: str) -> None:
    """Raise InputError where a command needs the explorer and it is not installed."""
    if find_spec("streamlit") is None or find_spec("app") is None:
        raise InputError(
            command,
            "the explorer is not installed",
            "install its extra with pip install '.[app]'",
        )


def place(state: str) -> str:
    """Page and query of an address; a state without a page is one of Explore. Raises InputError
    where it names no page.

    >>> place("epsilon=0.5"), place("compose?k=10"), place("learn"), place("")
    ('?epsilon=0.5', 'compose?k=10', 'learn', '')
    """
    named = "?" in state or "=" not in state
    page, _, query = (state if named else f"?{state}").partition("?")
    if page not in ("", *PAGES):
        raise InputError(
            "state", "it does not name a page", f"start it with one of {', '.join(PAGES)}"
        )
    page = "" if page == "explore" else page  # which opens first
    return page + (f"?{query}" if query else "")


def _listens(port: int) -> bool:
    """Whether somebody on this machine answers there already."""
    with socket.socket() as probe:
        probe.settimeout(1.0)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _open_when_ready(url: str, port: int) -> None:
    """Open the browser once the server listens, without holding it up."""
    import threading
    import time
    import webbrowser

    def wait() -> None:
        for _ in range(150):
            if _listens(port):
                webbrowser.open(url)
                return
            time.sleep(0.1)

    threading.Thread(target=wait, daemon=True).start()
