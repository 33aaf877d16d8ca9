"""Work out anew what Explore keeps of its openings: ``python -m tests.studio.precomputed [TABLE]``.

A file for each table, with its exact fit and its studies over epsilon and the dials beside it;
twenty minutes for all of them. ``--first``: only the first picture anew, of the studies that are
kept; after a change of its words or looks.
"""

from __future__ import annotations

import sys
import zipfile
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from app import compute, first_picture
from app.components import live_line_html
from app.compute import draws_of
from app.explore_scene import choices, picture, with_choices
from app.frame import brand_html
from app.precomputed import EVERY, FOLDER, mark_of
from app.result_store import Data, ResultStore
from app.scenario import Scenario, offered, opening
from app.stored import read, write
from app.sweeps import draws_beside, sliding
from app.tables import data_of, store_of
from app.texts.frame import PROVENANCE
from app.views.explore import head
from dpcore.errors import DPCoreError
from dpcore.evaluation.study import (
    BudgetGrid,
    References,
    Setting,
    Sweep,
    budget_grid,
    curves,
    references,
    sweep,
)
from dpcore.evaluation.yardstick import mapped, yardstick


def references_of(data: Data, setting: Setting) -> References:
    """What the table's study is held against, nothing of it known before."""
    judge = yardstick(setting.model)
    exact = judge.converged(data.table, setting.components, setting.options())
    return references(data.table, setting, exact, data.held_out)


def grid_of(
    data: Data, setting: Setting, exact: References, budgets: tuple[float, ...], draws: int
) -> BudgetGrid:
    """Private fits at some budgets."""
    best = exact.converged
    return budget_grid(data.table, setting, best, budgets, range(draws), data.held_out)


def sweeps_of(
    scenario: Scenario, data: Data, exact: References, places: slice = slice(None)
) -> dict[str, Sweep]:
    """Private fits at some stops of each dial beside epsilon; without one whose stops are refused,
    or are those of epsilon seen from another side."""
    setting, draws = scenario.setting(), range(draws_beside(scenario))
    sweeps = {}
    for dial in sliding(scenario, data, ResultStore()):
        if dial.why_not or dial.budgets:
            continue
        terms = (scenario.epsilon, dial.name, dial.stops[places], draws, data.held_out)
        try:
            sweeps[dial.name] = sweep(data.table, setting, exact, *terms)
        except DPCoreError as refusal:
            print(f"{data.key}: {dial.name}: {refusal}", file=sys.stderr)
    return sweeps


def parts_of(scenario: Scenario, data: Data) -> dict[str, Any]:
    """Everything that is kept of a table as it opens."""
    setting, draws = scenario.setting(), draws_of(scenario)
    exact = references_of(data, setting)
    grid = grid_of(data, setting, exact, scenario.budgets(data.rows), draws)
    drawn = curves(data.table, setting, grid, scenario.curves(), range(draws), data.held_out)
    dials = sweeps_of(scenario, data, exact)
    return {
        "opening": {
            "data": data.key,
            "table": mark_of(data, setting),
            "setting": {name: getattr(setting, name) for name in EVERY},
        },
        "references": exact,
        "grid": shortened(grid),
        "curves": drawn,
        **{name: replace(part, grid=shortened(part.grid)) for name, part in dials.items()},
    }


def shortened(grid: BudgetGrid) -> BudgetGrid:
    """The grid with fits of 16 significant bits, which no picture tells from those of 53."""

    def short(array: Any) -> Any:
        if array.dtype != float:
            return array
        bits = array.astype(np.float32).view(np.uint32)
        return ((bits + 0x80) & 0xFFFFFF00).view(np.float32)  # to the nearest of 16 bits

    return replace(grid, fits=mapped(grid.fits, short))


def picture_of_the_page() -> dict[str, str]:
    """What :func:`app.first_picture.stored_picture` gives, from the opening's study."""
    scenario = Scenario()
    data = data_of(scenario)
    assert data is not None  # it is bundled
    scene = picture(scenario, data, compute.study(scenario, data, store_of(data)))
    lists = tuple(choice for choice, _ in choices(scenario, data).values())
    return {
        "brand": brand_html(PROVENANCE[data.provenance]),
        "head": head(scenario, data),
        "sentence": live_line_html("sentence", "dp-says", scene.live_text["sentence"][scene.step]),
        "scene": with_choices(scene, lists).to_json(),
    }


def draw_first(file: Path) -> None:
    """Put the first picture among the parts of a file, made of what the file has."""
    with zipfile.ZipFile(file) as archive:
        names = [m.removesuffix(".json") for m in archive.namelist() if m.endswith(".json")]
    parts = {name: read(file, name) for name in names}
    grids = {name: part for name, part in parts.items() if isinstance(part, BudgetGrid | Sweep)}
    short = {
        name: shortened(part)
        if isinstance(part, BudgetGrid)
        else replace(part, grid=shortened(part.grid))
        for name, part in grids.items()
    }
    write(file, parts | short | {first_picture.PART: picture_of_the_page()})


def main(names: list[str]) -> None:
    """Write the files; with names, only theirs."""
    if names == ["--first"]:
        draw_first(first_picture.FILE)
        return
    FOLDER.mkdir(exist_ok=True)
    for name in names or [table.name for table in offered()]:
        begun, scenario = perf_counter(), opening(name)
        data = data_of(scenario)
        assert data is not None  # bundled data is there
        file = FOLDER / f"{name}.zip"
        write(file, parts_of(scenario, data))
        if file == first_picture.FILE:
            draw_first(file)
        print(f"{name}: {file.stat().st_size:,} bytes, {perf_counter() - begun:.0f} s", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
