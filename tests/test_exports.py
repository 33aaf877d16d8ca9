"""Reproduce means reproduce: each export, run in a process of its own, gives the page's numbers."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import wording
from app_pages import data_of
from methods import MODELS_OF_METHODS

from app import compute, result_store
from app.exports import command, notebook, script
from app.scenario import GENERATED, UPLOAD, Scenario, opening, sane
from app.state import step_of
from dpcore.errors import InputError
from dpcore.evaluation.study import budget_grid
from dpcore.evaluation.yardstick import SCORED_ROWS, metric_of, yardstick

PLAIN = Scenario()
SCENARIOS = {
    "the first screen": PLAIN,
    "another budget, off the slider's grid": replace(PLAIN, epsilon=1.0712345, noise=7),
    "published, Gaussian": replace(PLAIN, method="dpem_gaussian", count_by="zcdp"),
    "published, Laplace": replace(PLAIN, method="dpem_laplace", count_by="linear", epsilon=10.0),
    "every setting changed": Scenario(
        data="iris",
        components=2,
        count_by="zcdp",
        epsilon=8.0,
        delta=0.00001234567,
        clip=0.37,
        iterations=3,
        covariance="diag",
        adjacency="add_remove",
        rows_per_person=3,
        noise=12,
    ),
    "a generated table": Scenario(
        data=GENERATED, made="400x3x2x5", components=2, covariance="spherical", delta=0.001
    ),
    "one person removed": replace(PLAIN, without=True),
    "fewer rows, one of them removed": replace(PLAIN, fitted_rows=900, without=True),
    "k-means": sane(Scenario(data="places", model="kmeans", components=6)),
    "k-means, as published": sane(Scenario(model="kmeans", method="dpem_kmeans")),
    wording.EXPORTED_KMEANS: sane(Scenario(model="kmeans", method="dpem_kmeans_paid")),
    "mirrored clouds, some settings changed": sane(
        replace(opening("two_clouds"), words="sigma:1.5;tau:7.5;start:3", epsilon=0.37)
    ),
    "mirrored clouds in shares of the limits": opening("three_groups", "symmetric-mixture"),
    "opposite lines, as published": sane(replace(opening("two_lines"), method="robust_means")),
    "gaps, clipped at 1": sane(replace(opening("missing_answers"), method="clipped_at_1")),
    "classes, labels protected": opening("five_parties"),
    "classes, rows protected, clipped": replace(
        opening("five_parties"), adjacency="replace_one", clip=0.6, count_by="zcdp"
    ),
    "classes, plain Laplace": sane(replace(opening("five_parties"), method="plain_laplace")),
    "classes, as published": sane(replace(opening("five_parties"), method="least_trace")),
    "one label changed": replace(opening("five_parties"), without=True),
    "yes or no": opening("who_comes_back"),
    "yes or no, labels protected": replace(opening("who_comes_back"), adjacency="label"),
    "yes or no, as published": sane(replace(opening("who_comes_back"), method="vips")),
    "yes or no, noise in the objective": sane(
        replace(opening("who_comes_back"), method="objective")
    ),
    "pictures averaged": opening("faces_like"),
    "topics": replace(opening("few_bars"), iterations=3, epsilon=2.0),
    "topics, as published": sane(replace(opening("few_bars"), iterations=2, method="vips_sums")),
    "one document removed": replace(opening("few_bars"), iterations=2, without=True),
    "hidden units": replace(opening("lit_windows"), iterations=2, components=2, epsilon=4.0),
    "factor analysis, as published": sane(Scenario(data="wine", model="fa", method="dpem_factors")),
}


def run(*words: str, at: Path) -> Any:
    """What a fresh process prints, as JSON; it starts in an empty folder."""
    done = subprocess.run(words, cwd=at, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def as_command(scenario: Scenario, at: Path) -> Any:
    words = shlex.split(command(scenario))
    assert words[0] == "dpcore"
    main = "import sys; from dpcore.cli import main; sys.exit(main())"
    return run(sys.executable, "-c", main, *words[1:], "--json", at=at)


def as_script(scenario: Scenario, at: Path) -> Any:
    (at / "reproduce.py").write_text(script(scenario), encoding="utf-8")
    return run(sys.executable, "-W", "error", "reproduce.py", at=at)


def as_notebook(scenario: Scenario, at: Path) -> Any:
    """The cells one after another, as a kernel would run them; the picture is made, not shown."""
    cells = json.loads(notebook(scenario))["cells"]
    assert {cell["cell_type"] for cell in cells} == {"code"}
    assert len({cell["id"] for cell in cells}) == len(cells)
    (at / "reproduce.ipynb").write_text(notebook(scenario), encoding="utf-8")
    kernel = (
        "import json, pathlib\nnames = {}\n"
        "for cell in json.loads(pathlib.Path('reproduce.ipynb').read_text('utf-8'))['cells']:\n"
        "    exec(cell['source'].replace('.show(auto_play=False)', ''), names)"
    )
    return run(sys.executable, "-c", kernel, at=at)


EXPORTS = {"command": as_command, "script": as_script, "notebook": as_notebook}


def equal(one: Any, other: Any) -> bool:
    """The same keys, words and lists; numbers to the last digits that another batch may round."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(equal(one[k], other[k]) for k in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(equal, one, other))
    if isinstance(one, float | int) and not isinstance(one, bool):
        return bool(np.isclose(one, other, rtol=1e-9, atol=1e-12))
    return bool(one == other)


def exported(scenario: Scenario, at: Path) -> dict[str, Any]:
    """Every export of a scenario, run two at a time."""
    kinds = [k for k in EXPORTS if not (scenario.without and k == "command")]
    for kind in kinds:
        (at / kind).mkdir()
    with ThreadPoolExecutor(2) as pool:
        runs = {kind: pool.submit(EXPORTS[kind], scenario, at / kind) for kind in kinds}
        return {kind: one.result() for kind, one in runs.items()}


QUICK = ("every setting changed",)
MERGE = ("topics",)


def lane(name: str) -> list[pytest.MarkDecorator]:
    """The mark of the lane in which a scenario's exports are run elsewhere."""
    if name in QUICK:
        return []
    return [pytest.mark.merge if name in MERGE else pytest.mark.full]


LANES = [pytest.param(name, marks=lane(name)) for name in SCENARIOS]


@pytest.mark.parametrize("name", LANES)
def test_an_export_gives_the_fit_of_the_page(name: str, tmp_path: Path) -> None:
    scenario = SCENARIOS[name]
    data = data_of(scenario)
    page = json.loads(compute.fit_json(compute.one_fit(scenario, data)))
    for kind, printed in exported(scenario, tmp_path).items():
        assert equal(printed["parameters"], page["parameters"]), kind
        assert equal(printed["guarantee"], page["guarantee"]), kind
        if kind == "command":
            assert set(printed["metrics"]) >= _utility(scenario, data).keys()
            assert all(  # the released topics come in another order; mixes are in single precision
                printed["metrics"][name] == pytest.approx(value, rel=1e-7)
                for name, value in _utility(scenario, data).items()
            )


def _utility(scenario: Scenario, data: result_store.Data) -> dict[str, float]:
    """Held-out utility of the bold fit, where that is a metric and all those rows are scored."""
    setting = scenario.setting(data.secret)
    name, held = setting.metric, (data.all_rows or 0) - (data.rows or 0)
    scored = name in yardstick(scenario.model).metrics and metric_of(scenario.model, name).of_rows
    if not scored or not 0 < held <= SCORED_ROWS:
        return {}
    best = compute.references_of(setting, data, result_store.common()).converged
    epsilons, rows = (scenario.epsilon,), data.held_out
    grid = budget_grid(data.table, setting, best, epsilons, held_out=rows)
    sign = -1.0 if metric_of(scenario.model, name).falls else 1.0
    return {name: sign * float(grid.utility[0, 0])}


@pytest.mark.parametrize(
    "name", ["the first screen", "every setting changed", "one person removed"]
)
def test_the_fit_to_take_away_is_the_bold_one_of_the_picture(name: str) -> None:
    scenario = SCENARIOS[name]
    data = data_of(scenario)
    found, step = compute.with_extra_budget(
        compute.study(scenario, data, result_store.ResultStore()),
        scenario,
        data,
        result_store.ResultStore(),
    )
    if name == "the first screen":
        assert step == step_of(scenario.epsilon)
    drawn = found.grid.fits.means[step, 0] * data.public.half_range + data.public.center
    taken = compute.one_fit(scenario, data).parameters.as_dict()["means"]
    assert np.allclose(sorted(drawn.tolist()), sorted(taken), rtol=2.0**-15)  # kept fits: 16 bits


@pytest.mark.parametrize("name", LANES)
def test_the_promise_beside_the_files_is_that_of_the_fit_in_them(name: str) -> None:
    """What the page says comes from its study; the file is fitted when somebody takes it."""
    scenario = SCENARIOS[name]
    data, store = data_of(scenario), result_store.common()
    setting = scenario.setting(data.secret)
    best = compute.references_of(setting, data, store).converged
    grid = budget_grid(data.table, setting, best, (0.9 * scenario.epsilon, scenario.epsilon))
    said, ledger = grid.guarantees[1], grid.ledgers[1]
    taken = compute.one_fit(scenario, data)
    words, same = said.as_dict(), taken.guarantee.as_dict()
    for one in (words, same):  # of noise to the last bit, which a grid rounds by itself
        one["proof"] = one["proof"] and {**one["proof"], "ledger": ""}
    assert equal(words, same)
    assert equal(ledger.as_list(), taken.ledger.as_list())
    if scenario.declared.reads == "outcome":
        with pytest.raises(InputError):
            taken.sample(3, seed=0)
    else:
        assert len(taken.sample(3, seed=0)) == 3


def test_another_choice_gives_other_numbers() -> None:
    """The comparison above can fail: a changed clip, delta or seed is seen in the parameters."""
    page = compute.one_fit(PLAIN, data_of(PLAIN)).parameters.as_dict()
    for changed in ({"clip": 0.99}, {"delta": 0.0000101}, {"noise": 1}, {"epsilon": 1.001}):
        other = replace(PLAIN, **changed)  # type: ignore[arg-type]
        assert not equal(compute.one_fit(other, data_of(other)).parameters.as_dict(), page), changed


@pytest.mark.parametrize("export", [command, script, notebook])
@pytest.mark.parametrize("method", MODELS_OF_METHODS)
def test_an_upload_has_no_recipe_that_gives_its_noise_away(export: Any, method: str) -> None:
    with pytest.raises(InputError, match="secret of this process"):
        export(Scenario(data=UPLOAD, model=MODELS_OF_METHODS[method], method=method))


def test_a_neighbouring_table_has_a_script_and_says_that_it_has_no_command() -> None:
    scenario = replace(PLAIN, without=True)
    assert command(scenario).startswith("#")
    assert "neighbour" in script(scenario)
