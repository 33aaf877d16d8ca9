"""The explorer answers a key almost as soon as Streamlit can; both are measured in turns."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from studio.latency import THUMB, key, timed
from studio.stage import IDLE, SIZE, wait_until_complete

TIMES, WARM_UP, ROUNDS = 15, 5, 3  # a round beside other work of the machine is measured again
SLOWER = 6.0  # the whole page: thirteen noise draws, five curves, a link, a box and a guarantee
LINE = "document.querySelector('.floor')?.textContent"


def floor(page: Any, name: str) -> float:
    """Milliseconds from a key to the slider's value in the one line, nothing left to run."""
    page.locator(THUMB).first.focus()
    said = f"{LINE} !== '{page.evaluate(LINE)}'"
    press = timed(page, "keydown", said, f"{said} && {IDLE}", lambda: page.keyboard.press(name))
    return press.page


@pytest.mark.alone
def test_the_page_follows_a_key_nearly_as_fast_as_an_empty_one(
    server: Callable[..., str], browser: Any
) -> None:
    least, explorer = (browser.new_page(viewport=SIZE) for _ in "ab")
    least.goto(server(Path(__file__).parent / "floor_demo.py"))
    least.wait_for_function(f"{LINE} && {IDLE}", timeout=60_000)
    explorer.goto(server(None))
    wait_until_complete(explorer)
    ratios: list[float] = []
    while len(ratios) < ROUNDS and min(ratios, default=np.inf) >= SLOWER:
        floors, ours = [], []
        for i in range(WARM_UP + TIMES):
            name = ("ArrowLeft", "ArrowRight")[i % 2]
            least.bring_to_front()
            floors.append(floor(least, name))
            explorer.bring_to_front()
            ours.append(key(explorer, name).page)
        found, lowest = (float(np.median(times[WARM_UP:])) for times in (ours, floors))
        ratios.append(found / lowest)
        print(f"floor {lowest:.0f} ms, explorer {found:.0f} ms")
    assert min(ratios) < SLOWER, ratios
