"""Every server and theme setting, from one file, in a checkout and in a wheel."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any


def entry() -> Path:
    """The file that Streamlit runs."""
    return Path(__file__).with_name("explorer.py")


def settings() -> dict[str, Any]:
    """The settings as nested tables; a wheel carries the checkout's file as ``app/config.toml``."""
    beside = Path(__file__).parent.parent / ".streamlit" / "config.toml"
    packaged = files("app").joinpath("config.toml")
    text = (beside if beside.exists() else packaged).read_text(encoding="utf-8")
    return tomllib.loads(text)


def flags() -> list[str]:
    """The settings as options of ``streamlit run``."""
    return [f"--{name}={_word(value)}" for name, value in _flat(settings(), "")]


def _flat(table: dict[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        elif isinstance(value, list):  # an option given once for each
            yield from ((f"{prefix}{name}", each) for each in value)
        else:
            yield f"{prefix}{name}", value


def _word(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
