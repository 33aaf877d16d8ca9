"""Every server and theme setting, from one file, in a checkout and in a wheel; and what ``dpcore
serve`` says of a server that others use, in its environment."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import tomllib
from collections.abc import Iterator
from functools import wraps
from importlib.resources import files
from pathlib import Path
from typing import Any

UPLOADS = "DPCORE_UPLOADS"  # set by ``dpcore serve`` on a network: 1, or 0 for none
TOGETHER = 2.0  # seconds within which sessions that end are cleared away at once


def entry() -> Path:
    """The file that Streamlit runs."""
    return Path(__file__).with_name("explorer.py")


def settings() -> dict[str, Any]:
    """The settings as nested tables; a wheel carries the checkout's file as ``app/config.toml``."""
    beside = Path(__file__).parent.parent / ".streamlit" / "config.toml"
    packaged = files("app").joinpath("config.toml")
    text = (beside if beside.exists() else packaged).read_text(encoding="utf-8")
    return tomllib.loads(text)


def flags(**server: Any) -> list[str]:
    """The settings as options of ``streamlit run``; server: other ones of that table."""
    values = settings()
    values["server"] |= server
    return [
        f"--{name}={value if isinstance(value, str) else json.dumps(value)}"
        for name, value in _flat(values, "")
    ]


def call_nobody() -> None:
    """Streamlit asks a host outside for this machine's address before it refuses a page of another
    origin, and has no option against that. Without an answer it refuses the page all the same.
    """
    from streamlit import net_util

    net_util._external_ip = "0.0.0.0"  # what it would ask for; a browser's own host is never that


def hold_uploads() -> None:
    """A file that a browser sends stays in memory. What reads the request would write all beyond
    1 MB to a temporary file, and Streamlit has no option against that; it limits the size itself.
    """
    from starlette.formparsers import MultiPartParser

    MultiPartParser.spool_max_size = 0  # of a SpooledTemporaryFile: never on a disk


def tell_no_sizes() -> None:
    """Streamlit tells whoever asks for its metrics how many bytes the files and sessions of all
    visitors have, which goes with their rows, and has no option against that.
    """
    from streamlit.runtime.stats import StatsManager

    def nothing(self: StatsManager, family_names: Any = None) -> dict[str, Any]:
        return {}

    StatsManager.get_stats = nothing  # type: ignore[method-assign]


def forget_closed() -> None:
    """A session goes with its upload some time after its page was closed. Streamlit holds on to it
    until other pages come and go, maybe for ever, and has no option against that.
    """
    from streamlit import runtime
    from streamlit.runtime.memory_session_storage import MemorySessionStorage as Storage

    stored: Any = Storage.save
    if hasattr(stored, "__wrapped__"):
        return
    search = 0.0  # when the last search of the memory begins, by the clock of the loop

    @wraps(stored)
    def save(self: Any, session_info: Any) -> None:
        session = session_info.session

        def forget() -> None:
            nonlocal search
            again = runtime.exists() and runtime.get_instance().is_active_session(session.id)
            if self.get(session.id) is None and not again:
                session.shutdown()
                session.session_state.clear()
                loop = asyncio.get_running_loop()
                if search <= loop.time():  # every page waits for it: one for all that end together
                    search = loop.time() + TOGETHER
                    loop.call_at(search, gc.collect)  # what is in a session refers to one another

        stored(self, session_info)
        asyncio.get_running_loop().call_later(self._cache.ttl + 1.0, forget)

    Storage.save = save  # type: ignore[method-assign]


def is_served() -> bool:
    """Whether others than the one who started it use this server."""
    return UPLOADS in os.environ


def uploads_allowed() -> bool:
    """Whether this server takes files of its visitors. Where it does not, budget ledgers are for
    practice."""
    return os.environ.get(UPLOADS, "1") != "0"


def _flat(table: dict[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        elif isinstance(value, list):  # an option given once for each
            yield from ((f"{prefix}{name}", item) for item in value)
        else:
            yield f"{prefix}{name}", value
