"""How soon the first picture is there on a cold start: ``python -m tests.studio.cold``.

A server is started and a browser without a cache opens its page; the clock runs from the start of
the process until the picture is drawn (*first*), until nothing more comes (*whole*), and for a
second visitor of the same server (*warm*); *processor* are the seconds that the server's process
worked for both, which other programs hardly change. Beside it an empty Streamlit script, and the
same rows with Streamlit, Plotly and scikit-learn alone; all take turns; the medians are compared.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import pandas as pd

from dpcore.datasets.load import load
from dpcore.wall.custodian import custodian_rows

from .latency import OPEN
from .stage import COMPLETE, IDLE, SIZE, browser, serve

HERE = Path(__file__).parent
EMPTY, PLAIN = HERE.parent / "browser" / "floor_demo.py", HERE / "plain_page.py"
DRAWN = {
    "explorer": "document.querySelector('[data-panel=\"private\"] .dpl-centre, .dpl canvas')",
    "empty": "document.querySelector('.floor')",
    "plain": "document.querySelector('.js-plotly-plot .main-svg')",
}
ALL = f"({COMPLETE.strip()})() && {OPEN}"
PATIENCE = 120_000  # ms
ROWS = "PLAIN_PAGE_ROWS"


def opened(chromium: Any, kind: str, script: Path | None, env: dict[str, str]) -> dict[str, float]:
    """Seconds of one start."""
    begun, worked = perf_counter(), processor_seconds()
    with serve(script, env=env) as url:
        first, whole = visit(chromium, url, kind, begun)
        warm, _ = visit(chromium, url, kind, perf_counter())
    times = {"first": first, "whole": whole, "warm": warm}
    return times | {"processor": processor_seconds() - worked}


def processor_seconds() -> float:
    """Of all processes that this one began and that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def visit(chromium: Any, url: str, kind: str, begun: float) -> tuple[float, float]:
    """Seconds since then until the picture is drawn, and until nothing more comes."""
    page = chromium.new_context(viewport=SIZE).new_page()
    page.goto(url, wait_until="commit")
    page.wait_for_function(DRAWN[kind], timeout=PATIENCE)
    first = perf_counter() - begun
    page.wait_for_function(ALL if kind == "explorer" else IDLE, timeout=PATIENCE)
    whole = perf_counter() - begun
    page.context.close()
    return first, whole


def measure(starts: int, trees: Sequence[Path]) -> dict[str, dict[str, float]]:
    """Medians of so many starts. trees: other checkouts of the explorer, measured too."""
    with tempfile.TemporaryDirectory() as home, browser() as chromium:
        rows = Path(home) / "rows.csv"
        frame, cells = custodian_rows(load("bundled:three_groups"))
        pd.DataFrame(cells, columns=list(frame.names)).to_csv(rows, index=False)
        sides: dict[str, tuple[str, Path | None, dict[str, str]]] = {
            "empty": ("empty", EMPTY, {}),
            "plain": ("plain", PLAIN, {ROWS: str(rows)}),
            "explorer": ("explorer", None, {}),
        }
        for tree in trees:
            entry = tree / "app" / "explorer.py"
            path = os.pathsep.join([str(tree), os.environ.get("PYTHONPATH", "")])
            env = {"PYTHONPATH": path, "PYTHONSAFEPATH": "1"}  # not of the folder that one is in
            sides[str(tree)] = ("explorer", entry, env)
        taken: dict[str, list[dict[str, float]]] = {name: [] for name in sides}
        for _ in range(starts):
            for name, (kind, script, env) in sides.items():
                print(f"starting {name} ...", file=sys.stderr, flush=True)
                taken[name].append(opened(chromium, kind, script, env))
    return {
        name: {what: median(start[what] for start in times) for what in times[0]}
        for name, times in taken.items()
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.studio.cold", description=__doc__)
    parser.add_argument("--starts", type=int, default=5, help="of each [5]")
    parser.add_argument("trees", nargs="*", type=Path, help="other checkouts, compared too")
    options = parser.parse_args()
    medians = measure(options.starts, options.trees)
    heads = (*medians["empty"], "first / empty", "first / plain", "warm / empty")
    print(f"| page | {' | '.join(heads)} |")
    print("| --- " + "| ---: " * len(heads) + "|")
    for name, side in medians.items():
        ratios = (
            side["first"] / medians["empty"]["first"],
            side["first"] / medians["plain"]["first"],
            side["warm"] / medians["empty"]["warm"],
        )
        cells = [f"{value:.2f}" for value in (*side.values(), *ratios)]
        print(f"| {name} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
