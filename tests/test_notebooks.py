"""Every notebook runs from top to bottom, is saved small, and leaves no figure of a paper out."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from importlib.util import find_spec
from pathlib import Path
from queue import Empty
from typing import Any

import numpy as np
import pytest
from support import ROOT, every, require

from dpcore.figures.notebook import in_slices, play
from dpcore.papers.results import (
    SHORT,
    STORED,
    names_of,
    record_of,
    regenerate,
    results_table,
    see,
    stored_result,
)
from dpcore.registry import PAPERS
from dpcore.wall.statistics.perturbed_objective import PerturbedObjective

FOLDER = ROOT / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
PAPERS_OF = {
    "dp_em": "dp-em",
    "vips": "vips",
    "gradient_em": "robust-em",
    "labelled_mixtures": "gmm-release",
}
SAVED_BYTES = 450_000  # of one notebook
KEPT_BYTES = 120_000  # of one result


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def code(path: Path) -> str:
    cells = (cell for cell in read(path)["cells"] if cell["cell_type"] == "code")
    return "\n".join("".join(cell["source"]) for cell in cells)


def outputs(path: Path) -> list[Any]:
    return [output for cell in read(path)["cells"] for output in cell.get("outputs", [])]


def needs_kernel() -> None:
    missing = [name for name in ("nbclient", "ipykernel", "ipywidgets") if find_spec(name) is None]
    require("notebooks", not missing, f"not installed: {', '.join(missing)} (extra: notebooks)")


def beside(path: Path, folder: Path) -> Path:
    """A copy of a notebook with the folders that it opens, so that nothing here changes."""
    for one in (one for one in FOLDER.iterdir() if one.is_dir() and one.name in code(path)):
        shutil.copytree(one, folder / one.name)
    return Path(shutil.copy(path, folder))


@pytest.mark.merge
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs_in_the_fast_setting(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its cells one after the other, here: a kernel for each would spend its time on imports."""
    import IPython.display

    shown: list[dict[str, str]] = []
    monkeypatch.setattr(IPython.display, "display", lambda kinds, raw: shown.append(kinds))
    monkeypatch.chdir(beside(path, tmp_path).parent)
    for name, value in (("DPCORE_FAST", "1"), ("DPCORE_STILL", "1")):
        monkeypatch.setenv(name, value)
    if "DPCORE_SHARED" not in os.environ:
        monkeypatch.setenv("DPCORE_SHARED", str(ROOT.parent / "shared"))
    names: dict[str, Any] = {"__name__": "__main__"}
    saved = []
    for cell in (cell for cell in read(path)["cells"] if cell["cell_type"] == "code"):
        exec(compile("".join(cell["source"]), f"{path.stem}, {cell['id']}", "exec"), names)
        saved += [each["data"] for each in cell["outputs"] if each["output_type"] != "stream"]
    assert "the fast version" in capsys.readouterr().out
    assert [set(kinds) for kinds in shown] == [set(kinds) for kinds in saved]  # none is missing
    for kinds in shown:
        if "image/svg+xml" in kinds:
            ET.fromstring(kinds["image/svg+xml"])


@pytest.mark.merge
def test_it_is_run_in_a_kernel_of_its_own_and_saved(tmp_path: Path) -> None:
    """By ``python -m dpcore.figures.notebook``."""
    needs_kernel()
    copy = beside(FOLDER / "06_use_a_release.ipynb", tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "dpcore.figures.notebook", copy.name],
        cwd=tmp_path,
        env={**os.environ, "DPCORE_FAST": "1", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    printed = "".join(part for output in outputs(copy) for part in output.get("text", ()))
    assert "the fast version" in printed
    assert printed.startswith("".join(outputs(FOLDER / copy.name)[0]["text"]))


@pytest.mark.merge
def test_where_somebody_looks_pictures_move_and_sliders_redraw_them(tmp_path: Path) -> None:
    """A kernel with somebody in front: Plotly beside the still picture, and a widget."""
    needs_kernel()
    from nbformat import v4

    cells = [
        "import plotly.graph_objects as go\n"
        "from dpcore.figures.notebook import play, show\n"
        "def draw(slope):\n"
        "    return go.Figure(go.Scatter(x=[0, 1], y=[0, slope]), {'title': f'slope {slope}'})\n"
        "show(draw(2.0))",
        "play(draw, slope=[1.0, 2.0, 3.0])",
    ]
    kernel = {"name": "python3", "display_name": "", "language": "python"}
    codes = [v4.new_code_cell(cell) for cell in cells]
    book = v4.new_notebook(cells=codes, metadata={"kernelspec": kernel})
    (tmp_path / "live.ipynb").write_text(v4.writes(book), encoding="utf-8")
    look = (
        "import json; from pathlib import Path; from dpcore.figures.notebook import execute;"
        "book = execute(Path('live.ipynb'), timeout=300.0);"
        "print(json.dumps([[list(o['data']) for o in c.outputs] for c in book.cells]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", look],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    shown, played = json.loads(done.stdout.splitlines()[-1])
    assert "application/vnd.plotly.v1+json" in shown[0]
    assert "image/svg+xml" in shown[0]
    assert "application/vnd.jupyter.widget-view+json" in played[0]


def test_the_picture_follows_the_thumb_and_draws_each_position_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    needs_kernel()
    import IPython.display
    import plotly.graph_objects as go

    drawn: list[float] = []
    shown: list[Any] = []

    def draw(slope: float) -> go.Figure:
        drawn.append(slope)
        return go.Figure(go.Scatter(x=[0, 1], y=[0, slope]), {"title": f"slope {slope}"})

    monkeypatch.setattr(IPython.display, "display", shown.append)
    play(draw, slope=[1.0, 2.0, 3.0])
    (box,) = shown
    slider, picture = box.children
    assert (slider.value, slider.continuous_update) == (2.0, True)
    seen = []
    for value in (1.0, 3.0, 1.0, 2.0):
        slider.value = value
        assert f"<title>slope {value}</title>" in picture.value
        ET.fromstring(picture.value)
        seen.append(picture.value)
    assert seen[0] == seen[2]
    assert sorted(drawn) == [1.0, 2.0, 3.0]


def test_a_figure_of_a_paper_is_read_with_a_slider(monkeypatch: pytest.MonkeyPatch) -> None:
    needs_kernel()
    import IPython.display

    shown: list[Any] = []
    monkeypatch.setattr(IPython.display, "display", lambda output, **_: shown.append(output))
    monkeypatch.setenv("DPCORE_FAST", "1")
    see("vips-figure-6")
    picture, box = shown
    assert "image/svg+xml" in picture
    slider, reading = box.children
    (*_, last) = [value for _, value in slider.options]
    slider.value = last
    row = next(
        row
        for row in stored_result("vips-figure-6").reproduction.rows
        if row["x"] == last.x and row["y"] is not None
    )
    assert f"{row['y']:.4g}" in reading.value
    shown.clear()
    monkeypatch.setenv("DPCORE_STILL", "1")
    see("vips-figure-6")
    assert len(shown) == 1, "a saved notebook has the picture alone"


def test_an_answer_that_nobody_was_woken_for_is_found_in_a_moment() -> None:
    """A wait that sleeps beside the answer sees it when it begins anew."""
    asked: list[float] = []

    async def ask(timeout: float) -> str:
        asked.append(timeout)
        if len(asked) < 3:
            raise Empty
        return "the answer"

    assert asyncio.run(in_slices(ask)(timeout=600.0)) == "the answer"
    assert asked == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("timeout", [0.0, 0.5, 2.5])
def test_a_wait_ends_when_its_time_is_over(timeout: float) -> None:
    asked: list[float] = []

    async def ask(timeout: float) -> str:
        asked.append(timeout)
        raise Empty

    with pytest.raises(Empty):
        asyncio.run(in_slices(ask)(timeout=timeout))
    assert sum(asked) == timeout


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_is_saved_with_small_outputs_that_any_reader_shows(path: Path) -> None:
    assert path.stat().st_size < SAVED_BYTES
    found = outputs(path)
    assert found, "saved without outputs: run python -m dpcore.figures.notebook"
    for output in found:
        assert output["output_type"] in ("stream", "display_data", "execute_result")
        kinds = set(output.get("data", ()))
        assert kinds <= {"image/svg+xml", "text/markdown", "text/plain"}
        if "image/svg+xml" in kinds:
            ET.fromstring("".join(output["data"]["image/svg+xml"]))
    assert not re.search(r'"(?:/work|/opt|/tmp|/home)/', path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_says_at_its_top_how_long_it_runs_and_at_its_end_how_long_it_took(path: Path) -> None:
    assert code(path).rstrip().endswith("print(lasted())")
    first, last = read(path)["cells"][0], "".join(outputs(path)[-1]["text"])
    said = re.search(r"about (\d+) s on two cores", "".join(first["source"]))
    took = re.fullmatch(r"(\d+) seconds(?: of processor time)?, in the .* version.*\n", last)
    assert float(said[1]) == pytest.approx(float(took[1]), rel=0.5, abs=2.0)


@pytest.mark.parametrize("name", PAPERS_OF)
def test_no_figure_or_table_of_the_paper_is_left_out(name: str) -> None:
    shown = re.findall(r'see\("([\w-]+)"\)', code(FOLDER / f"{name}.ipynb"))
    assert sorted(shown) == sorted(names_of(PAPERS_OF[name]))


def test_every_registered_exhibit_belongs_to_one_paper() -> None:
    assert sorted(name for paper in PAPERS_OF.values() for name in names_of(paper)) == sorted(
        PAPERS
    )


@every("name", PAPERS)
def test_a_kept_result_says_what_made_it(name: str) -> None:
    record = record_of(name)
    assert record["command"].startswith(f"dpcore reproduce {name}")
    assert {"seed", "version", "date", "seconds", "finding", "panels"} <= set(record)
    assert (STORED / f"{name}.json").stat().st_size < KEPT_BYTES
    assert stored_result(name).reproduction.rows


def test_the_table_of_results_has_no_row_missing() -> None:
    lines = results_table(tuple(PAPERS))
    assert [line["what"] for line in lines] == list(PAPERS)
    assert {line["verdict"] for line in lines} <= {"agrees", "agrees in part", "differs"}
    assert all(line["why"] and line["made by"] for line in lines)
    for line in lines:
        told = stored_result(line["what"]).verdict.sentence
        assert told.lower().startswith(line["verdict"])
        assert line["why"] in told
        assert ("one draw" in line["why"]) == ("one draw" in told)


def test_what_needs_data_that_are_absent_is_shown_as_it_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DPCORE_SHARED", raising=False)
    told = regenerate("dp-em-figure-3", short=True, data=tmp_path)
    assert told.how.startswith("Kept from")
    assert told.reproduction.rows == stored_result("dp-em-figure-3").reproduction.rows


def test_what_takes_minutes_is_kept_in_the_fast_setting() -> None:
    (slow, *_) = [name for name in PAPERS if name not in SHORT]
    assert regenerate(slow, short=True).how.startswith("Kept from")


def test_a_quick_exhibit_is_made_anew() -> None:
    told = regenerate("dp-em-table-noise", short=True)
    assert told.how.startswith("Made now")
    assert told.verdict == stored_result("dp-em-table-noise").verdict


def test_the_marked_point_lies_on_its_curve_at_every_stop_of_the_slider() -> None:
    """Of one release, from the least noise on: its epsilon at delta 1e-5 is 9.997 there."""
    first, *cells = (
        "".join(cell["source"])
        for cell in read(FOLDER / "01_what_epsilon_means.ipynb")["cells"]
        if cell["cell_type"] == "code"
    )
    played: list[Any] = []
    names: dict[str, Any] = {}
    exec(first, names)
    names["play"] = lambda draw, noise: played.extend(map(draw, noise))
    exec(next(cell for cell in cells if "def curve" in cell), names)
    for figure in played:
        line, point = figure.data
        after = int(np.searchsorted(line.x, point.x[0]))
        assert line.y[after - 1] >= point.y[0] >= line.y[after]


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_the_noise_of_an_objective_is_as_long_as_the_notebook_says(epsilon: float) -> None:
    """Its length has the Gamma law of shape d and this scale; rows are at most 8 long."""
    text = " ".join(
        "".join(cell["source"]) for cell in read(FOLDER / "vips.ipynb")["cells"]
    ).replace("\n", " ")
    assert r"is at least $2 d / \varepsilon$ times that of the longest row" in text
    noise = PerturbedObjective(4_147, 8.0)
    _, scale = noise.plan(np.array([epsilon]), np.array([1.0]), "replace_one")
    times = noise.dim * scale[0] / noise.radius
    assert 1.0 < times / (2.0 * noise.dim / epsilon) < 2.01
