"""Openings that are kept: what they would be if made anew, and of nothing but their own table."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from app_pages import data_of
from studio.precomputed import grid_of, references_of, sweeps_of

from app import compute, sweeps
from app.precomputed import FOLDER, kept_fit, kept_references, kept_study, kept_sweep
from app.result_store import Data, ResultStore
from app.scenario import Scenario, offered, opening
from app.stored import read, write
from dpcore.evaluation.study import BudgetGrid, Curves, References, Setting

NAMES = [table.name for table in offered()]
LONG = ("life_science_like", "lit_windows", "help_texts", "few_bars", "faces_like", "digits")
STOPS = [pytest.param(name, marks=pytest.mark.full if name in LONG else ()) for name in NAMES]


def opened(name: str) -> tuple[Data, Setting]:
    scenario = opening(name)
    data = data_of(scenario)
    return data, scenario.setting()


def study_of(scenario: Scenario, data: Data) -> tuple[BudgetGrid, Curves] | None:
    terms = (scenario.budgets(data.rows), scenario.curves(), compute.draws_of(scenario))
    return kept_study(data, scenario.setting(), *terms)


def close(kept: Any, anew: Any, rel: float = 1e-3) -> None:
    """Arrays of two fits are alike, up to the 32 bits of one and the processor of the other."""
    if hasattr(kept, "concentration"):  # steps of topics go another way on another processor
        one, other = (
            fit.concentration / fit.concentration.sum(axis=-1, keepdims=True)
            for fit in (kept, anew)
        )
        assert np.median(0.5 * np.abs(one - other).sum(axis=-1)) < 0.02
        return
    for field in fields(kept):
        one, other = getattr(kept, field.name), getattr(anew, field.name)
        assert (one.shape, one.dtype.kind) == (other.shape, other.dtype.kind)
        if one.dtype.kind == "f":
            np.testing.assert_allclose(one, other, rtol=rel, atol=1e-3)
        else:
            assert one.tolist() == other.tolist()


def test_every_table_that_is_offered_is_kept() -> None:
    assert sorted(file.stem for file in FOLDER.iterdir()) == sorted(NAMES)
    assert all(read(file, "grid") is not None for file in FOLDER.iterdir())


@pytest.mark.merge
@pytest.mark.parametrize("name", NAMES)
def test_references_are_what_is_found_anew(name: str) -> None:
    data, setting = opened(name)
    kept, anew = kept_references(data, setting), references_of(data, setting)
    close(kept.converged, anew.converged, rel=1e-2)
    for part in fields(References):
        if part.name != "converged":
            found = getattr(anew, part.name)
            assert getattr(kept, part.name) == pytest.approx(found, rel=1e-3, abs=1e-4, nan_ok=True)


@pytest.mark.merge
@pytest.mark.parametrize("name", STOPS)
def test_a_kept_study_is_what_is_fitted_anew(name: str) -> None:
    """At the opening's budget, and at one stop of each dial beside it."""
    scenario = opening(name)
    data, setting = opened(name)
    exact, known = kept_references(data, setting), study_of(scenario, data)
    assert exact is not None
    budgets = scenario.budgets(data.rows)
    place = min(range(len(budgets)), key=lambda at: abs(np.log(budgets[at] / scenario.epsilon)))
    draws = compute.draws_of(scenario)
    every = scenario.on_samples  # whose noise depends a little on what it is looked for with
    anew = grid_of(data, setting, exact, budgets if every else (budgets[place],), draws)
    same(known[0], anew.taken([place]) if every else anew, place)
    beside = slice(3, 4)
    for dial, made in sweeps_of(scenario, data, exact, slice(None) if every else beside).items():
        at = beside.start if every else 0
        slide = next(
            one for one in sweeps.sliding(scenario, data, ResultStore()) if one.name == dial
        )
        terms = (scenario.epsilon, dial, slide.stops, sweeps.draws_beside(scenario))
        kept = kept_sweep(data, setting, *terms)
        assert kept is not None, dial
        same(kept.grid, made.grid.taken([at]), beside.start)
        single = made.single[at : at + 1]
        assert kept.single[beside] == pytest.approx(single, rel=1e-3, abs=1e-3, nan_ok=True)
        utility = made.references[at].clipped_utility
        assert kept.references[beside.start].clipped_utility == pytest.approx(utility, rel=1e-3)


def promised(grid: BudgetGrid) -> list[Any]:
    """The guarantees, up to the last bits of a noise that was found among other ones."""
    alike: list[Any] = []
    for guarantee in grid.guarantees:
        if guarantee is None or guarantee.proof is None or guarantee.epsilon is None:
            alike.append(guarantee)
            continue
        epsilon = float(f"{guarantee.epsilon:.9g}")
        proof = replace(guarantee.proof, epsilon=epsilon, ledger=None)
        alike.append(replace(guarantee, epsilon=epsilon, proof=proof))
    return alike


def same(kept: BudgetGrid, anew: BudgetGrid, place: int) -> None:
    """A stop of a kept grid is that of a grid of it alone."""
    kept = kept.taken([place])
    assert kept.stops == anew.stops
    assert promised(kept) == promised(anew)
    for spent, again in zip(kept.ledgers, anew.ledgers, strict=True):
        assert (spent is None) == (again is None)
        for entry, other in zip(spent or (), again or (), strict=True):
            assert entry.noise_scale == pytest.approx(other.noise_scale, rel=1e-9)
            assert replace(entry, noise_scale=other.noise_scale) == other
    assert kept.refusals == anew.refusals
    np.testing.assert_allclose(kept.noise, anew.noise, rtol=1e-9)
    np.testing.assert_array_equal(kept.recovered, anew.recovered)
    rel = 1e-2 if kept.model == "lda" else 1e-3
    np.testing.assert_allclose(kept.utility, anew.utility, rtol=rel, atol=1e-3)
    close(kept.fits, anew.fits)


def test_other_choices_and_other_rows_are_worked_out() -> None:
    scenario = opening("three_groups")
    data, setting = opened("three_groups")
    assert kept_references(data, replace(setting, iterations=6)) is None
    assert kept_fit(data, replace(setting, iterations=6)) is not None  # it depends on no steps
    for other in (
        replace(setting, components=4),
        replace(setting, covariance="diag"),
        replace(setting, words=(("start", "public"),)),
    ):
        assert kept_fit(data, other) is None
    assert kept_fit(replace(data, provenance="upload"), setting) is None
    assert kept_fit(data, replace(setting, secret=b"mine")) is None
    changed = replace(data, table=data.table.neighbour(0, "add_remove"))
    assert study_of(scenario, data) is not None
    assert kept_fit(changed, setting) is None
    assert study_of(scenario, changed) is None
    for choice in (
        {"noise": 8},
        {"delta": 1e-6},
        {"count_by": "zcdp"},
        {"clip": 0.5},
        {"rows_per_person": 2},
        {"adjacency": "add_remove"},
        {"method": "dpem_gaussian"},
    ):
        assert study_of(replace(scenario, **choice), data) is None, choice


def test_a_kept_sweep_holds_wherever_its_own_dial_is() -> None:
    data, setting = opened("three_groups")
    kept = kept_sweep(data, setting, 1.0, "delta", sweeps.DELTAS, 13)
    assert kept is not None
    moved = replace(setting, delta=1e-9)
    assert kept_sweep(data, moved, 1.0, "delta", sweeps.DELTAS, 13) is kept
    assert kept_sweep(data, moved, 1.0, "clip", sweeps.CLIPS, 13) is None
    assert kept_sweep(data, setting, 2.0, "delta", sweeps.DELTAS, 13) is None
    assert kept_sweep(data, setting, 1.0, "delta", sweeps.DELTAS[:5], 13) is None


def test_a_study_begins_with_what_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole, every dial with it, and without a fit."""
    scenario, store = opening("three_groups"), ResultStore()
    data, setting = opened("three_groups")

    def never(*_: object) -> None:
        raise AssertionError("a fit that is kept was made anew")

    for name in ("references", "budget_grid", "curves", "in_background"):
        monkeypatch.setattr(compute, name, never)
    monkeypatch.setattr(sweeps, "sweep", never)
    found = compute.study(scenario, data, store)
    assert found.complete
    known = kept_references(data, setting)
    assert found.references.converged_utility == known.converged_utility
    for dial in sweeps.sliding(scenario, data, store):
        assert sweeps.done(scenario, data, store, dial)
        curve = sweeps.swept(scenario, data, store, dial, found.references)
        assert curve.complete
        assert curve.grid.stops == dial.stops


def test_a_stored_value_is_read_as_it_was_written(tmp_path: Path) -> None:
    data, setting = opened("iris")
    known = kept_references(data, setting)
    file = tmp_path / "a.zip"
    numbers = np.array([0.1, np.nan])
    rest = {"b": (1, None, "c"), "d": numbers, "e": numbers, "f": numbers.astype(np.float32)}
    write(file, {"known": known, "rest": rest})
    found = read(file, "rest")
    assert (list(found), found["b"]) == (list(rest), rest["b"])
    assert found["d"] is found["e"]
    np.testing.assert_array_equal(found["d"], numbers)
    assert found["f"].dtype == float
    assert read(file, "known").converged_utility == known.converged_utility
    assert read(file, "other") is None
    with pytest.raises(TypeError, match="object cannot be stored"):
        write(file, {"known": object()})
    write(file, {"known": {"a": 1}})
    text = file.read_bytes()
    write(file, {"known": {"a": 1}})
    assert file.read_bytes() == text


def test_a_file_names_classes_of_this_package_alone(tmp_path: Path) -> None:
    import zipfile

    file = tmp_path / "a.zip"
    with zipfile.ZipFile(file, "w") as members:
        members.writestr("a.json", '{"of":"subprocess:Popen","fields":{"args":"true"}}')
    with pytest.raises(ValueError, match="not a class of this package"):
        read(file, "a")
