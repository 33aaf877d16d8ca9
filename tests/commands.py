"""What a command is asked, and what it left behind."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from dpcore.accounting import accountant

SECRET = "8675309"  # stands in cells only; no message may hold it
BUDGET = ["--epsilon", "1", "--delta", "1e-3"]
PAPER = ("--mode", "paper", "--accountant")
SWEEP = ["sweep", "gmm", "bundled:iris", "--delta", "1e-4", "--splits", 2, "--draws", 2]
BOX = "[columns.a]\nlower = 0\nupper = 10\n\n[columns.b]\nlower = -5\nupper = 5\nunit = 'cm'\n"


@dataclass(frozen=True)
class Answer:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        assert self.code == 0, self.err
        assert self.err == ""
        return json.loads(self.out, parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))


Run = Callable[..., Answer]


def written(folder: Path, name: str, content: str | bytes, schema: str | None = BOX) -> Path:
    """A file, with a schema beside it unless there is none."""
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    if schema is not None:
        (folder / f"{name.split('.')[0]}.toml").write_text(schema)
    return path


def account(*words: object) -> list[object]:
    """A question about a price."""
    return ["account", "--delta", "1e-5", *words]


def gaussian(noise: float | None = None, **more: Any) -> dict[str, Any]:
    """An event of Gaussian noise, as a file of questions writes it."""
    return {
        "mechanism": "gaussian",
        **({} if noise is None else {"noise_multiplier": noise}),
        **more,
    }


def precision(method: str) -> float:
    """How near to the budget the method's noise comes."""
    return 4.0 * float(getattr(accountant(method), "precision", 1e-8))
