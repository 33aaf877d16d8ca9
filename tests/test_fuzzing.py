"""The fuzzer: quiet on the product, loud on every bug that is planted here, and ended in order."""

from __future__ import annotations

import json
import os
import signal
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from dpcore.cli import main
from dpcore.datasets import load as loading
from dpcore.errors import InputError
from dpcore.fuzzing import run
from dpcore.fuzzing.cells import number_text
from dpcore.fuzzing.compare import Compared, watching
from dpcore.fuzzing.forms import date_text, in_form, random_form
from dpcore.fuzzing.pairs import Verdict, examine, pair
from dpcore.fuzzing.requests import MODEL_NAMES, ways_of
from dpcore.fuzzing.run import fuzz
from dpcore.models.gaussian_mixture import private as mixture
from dpcore.registry import MODELS
from dpcore.schema import Column, FileFormat, Schema
from dpcore.schema import table as described
from dpcore.schema.forms import DATE_FORMATS, DECIMALS, SEPARATORS, THOUSANDS
from dpcore.wall import grid
from dpcore.wall import session as doors
from dpcore.wall.data import LogisticRows, persons, sources
from dpcore.wall.data import clipping as clip
from dpcore.wall.statistics import class_moments, class_radii, cluster_moments, mixture_moments
from dpcore.wall.statistics import local_vectors as local
from dpcore.wall.statistics import perturbed_objective as objective
from dpcore.wall.statistics import row_vectors as vectors
from dpcore.wall.statistics import topic_words as documents

SEED = 20_261_123
Plant = Callable[[pytest.MonkeyPatch], None]


def verdicts(model: str, count: int) -> list[Verdict]:
    """Of the first pairs of a model."""
    first = MODEL_NAMES.index(model)
    return [examine(pair(SEED, first + len(MODEL_NAMES) * at)) for at in range(count)]


def test_every_model_is_fuzzed_in_some_way() -> None:
    assert set(MODELS) == set(MODEL_NAMES)
    assert all(map(ways_of, MODELS))


@pytest.mark.parametrize("model", MODEL_NAMES)
def test_no_pair_moves_a_release_by_more_than_is_booked(model: str) -> None:
    found = verdicts(model, 8)
    assert not [verdict for verdict in found if verdict.outcome == "violation"]
    compared = [verdict for verdict in found if verdict.outcome == "compared"]
    assert len(compared) >= 4
    assert 0.25 < max(verdict.ratio for verdict in compared) <= 1.0


def test_a_fit_of_another_thread_is_neither_seen_nor_changed() -> None:
    """Such as a page's, which works on in the background."""
    table, budget = dp.load("bundled:three_groups"), dp.Privacy(epsilon=1, delta=1e-5)
    fit = partial(dp.fit, "gmm", table, privacy=budget, iterations=2, seed=7)
    alone, seen = fit(), Compared(seed=1, rows=1)
    with watching(seen), ThreadPoolExecutor(1) as other:
        beside = other.submit(fit).result()
    np.testing.assert_array_equal(beside.parameters.means, alone.parameters.means)
    assert not seen.shown


def test_every_written_form_is_drawn_and_each_cell_of_it_is_read_alone() -> None:
    rng, drawn = np.random.default_rng(SEED), set[object]()
    numbers = Schema((Column("a", lower=0, upper=10), Column("b", lower=-1e5, upper=1e5)))
    for _ in range(80):
        schema = random_form(rng, numbers, dates=True)
        assert schema.file is not None
        drawn |= {(key, value) for key, value in vars(schema.file).items() if value}
        for column in schema.columns:
            drawn |= {column.date_format, *column.symbols}
            cells = pd.Series([written(rng, column, schema.file) for _ in range(3)], dtype=object)
            alone = [schema.numbers(column.name, cells[k : k + 1])[0] for k in range(3)]
            np.testing.assert_array_equal(schema.numbers(column.name, cells), alone)
    wanted = {("separator", sign) for sign in SEPARATORS} | {("decimal", sign) for sign in DECIMALS}
    wanted |= {("thousands", sign) for sign in THOUSANDS}
    assert wanted | {*DATE_FORMATS, "EUR", "%", "€"} <= drawn
    assert any(one[0] == "missing_marks" for one in drawn if isinstance(one, tuple))


def written(rng: np.random.Generator, column: Column, file: FileFormat) -> str:
    """An honest or hostile cell, but no odd one."""
    low, high = column.low, column.high
    if column.type == "date":
        return date_text(rng, low + rng.random() * (high - low), column, file, hostile=True)
    text = number_text(rng, low, high, "mixed", hostile=bool(rng.integers(2)), odd=False)
    return in_form(rng, text, column, file, hostile=True)


# ------------------------------------------------------------------ planted bugs


def a_ball_a_hundredth_too_large(patch: pytest.MonkeyPatch) -> None:
    own = sources.clip_to_ball
    patch.setattr(sources, "clip_to_ball", lambda rows, radius: own(rows, 1.01 * radius))


def a_box_booked_as_its_edge(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(vectors.BoxVector, "l2_sensitivity", lambda shape, adjacency, block=None: 2.0)


def a_gradient_a_hundredth_too_long(patch: pytest.MonkeyPatch) -> None:
    own = vectors.BallVector.sum

    def longer(shape: vectors.BallVector, made: Any) -> Any:
        return own(replace(shape, bound=1.01 * shape.bound), made)

    patch.setattr(vectors.BallVector, "sum", longer)


def added_rows_booked_for_replaced_ones(patch: pytest.MonkeyPatch) -> None:
    for module in (mixture_moments, cluster_moments):
        patch.setattr(module, "by_adjacency", lambda _, *, replace_one, add_remove: add_remove)


def labels_that_stay_booked_for_labels_that_move(patch: pytest.MonkeyPatch) -> None:
    for module in (class_moments, class_radii):
        patch.setattr(module, "by_change", lambda _, *, add, moves, stays: add)


def a_missing_cell_filled_by_the_mean_of_the_others(patch: pytest.MonkeyPatch) -> None:
    own = described.numbers_meant

    def filled(*words: Any) -> Any:
        numbers = own(*words)
        here = np.isfinite(numbers)
        return np.where(here, numbers, numbers[here].mean() if here.any() else np.nan)

    patch.setattr(described, "numbers_meant", filled)


def a_missing_mark_that_moves_all_numbers_by_a_bit(patch: pytest.MonkeyPatch) -> None:
    own = described.numbers_meant

    def moved(*words: Any) -> Any:
        numbers = own(*words)
        return np.nextafter(numbers, np.inf) if np.isnan(numbers).any() else numbers

    patch.setattr(described, "numbers_meant", moved)


def a_mark_of_a_missing_cell_that_moves_the_others(patch: pytest.MonkeyPatch) -> None:
    own = described.numbers_meant

    def moved(name: str, cells: Any, form: Any = None) -> Any:
        numbers = own(name, cells, form)
        marks = set() if form is None else {*form.file.missing_marks}
        marked = any(str(cell).strip() in marks for cell in cells)
        return np.nextafter(numbers, np.inf) if marked else numbers

    patch.setattr(described, "numbers_meant", moved)


def a_fill_that_is_not_clipped(patch: pytest.MonkeyPatch) -> None:
    own = clip.unit_rows

    def unclipped(*words: Any, **more: Any) -> Any:
        units = own(*words, **more)
        return np.where(units == 0.0, 50.0, units)

    patch.setattr(clip, "unit_rows", unclipped)
    patch.setattr(sources, "clip_to_ball", lambda rows, radius: rows)


def a_document_a_hundredth_too_long(patch: pytest.MonkeyPatch) -> None:
    own = documents.shared_out

    def longer(bags: Any, topics: Any, weights: Any, radius: float, length: Any) -> Any:
        return own(bags, topics, weights, 1.01 * radius, length)

    patch.setattr(documents, "shared_out", longer)


def rows_that_move_a_parameter_beside_the_doors(patch: pytest.MonkeyPatch) -> None:
    own = mixture._all_rows

    def counted(session: Any, *words: Any) -> mixture.Whole:
        whole = own(session, *words)
        return replace(whole, rows=whole.rows + session.source._count)

    patch.setattr(mixture, "_all_rows", counted)


def half_a_slope_booked(patch: pytest.MonkeyPatch) -> None:
    own = objective.PerturbedObjective.slope_sensitivity
    patch.setattr(
        objective.PerturbedObjective,
        "slope_sensitivity",
        lambda shape, adjacency: 0.5 * own(shape, adjacency),
    )


def bits_that_each_take_the_whole_epsilon(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(local, "epsilon_of_a_bit", lambda session, multiplier: 1.0 / multiplier)


def a_grid_whose_rounding_nobody_pays(patch: pytest.MonkeyPatch) -> None:
    own = grid.grid_for

    def coarse(multiplier: float, sensitivity: float, *words: Any) -> grid.Grid:
        found = own(multiplier, sensitivity, *words)
        return replace(found, sensitivity=0.999 * sensitivity)

    patch.setattr(doors, "grid_for", coarse)


def an_outcome_that_reads_the_row_before(patch: pytest.MonkeyPatch) -> None:
    own = LogisticRows.__init__

    def made(source: LogisticRows, *words: Any) -> None:
        own(source, *words)
        source._outcomes = np.maximum.accumulate(source._outcomes)

    patch.setattr(LogisticRows, "__init__", made)


def a_refusal_that_tells_of_a_row(patch: pytest.MonkeyPatch) -> None:
    own = loading.read_described

    def telling(*words: Any, **more: Any) -> pd.DataFrame:
        frame = own(*words, **more)
        if np.nanmax(np.abs(frame.select_dtypes("number").to_numpy(float)), initial=0.0) > 1e20:
            raise InputError("rows", "a number is too large", "mend it")
        return frame

    patch.setattr(loading, "read_described", telling)


def a_person_of_whom_one_row_too_many_counts(patch: pytest.MonkeyPatch) -> None:
    own = persons._times
    patch.setattr(
        persons, "_times", lambda ids, rows, most, equal: own(ids, rows, most + 1, equal=equal)
    )


def ids_that_are_told_apart_as_they_are_written(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(persons, "categories_meant", lambda cells: cells.astype(str).to_numpy(object))


PLANTS: list[tuple[Plant, str]] = [
    (a_ball_a_hundredth_too_large, "kmeans"),
    (a_box_booked_as_its_edge, "mean"),
    (a_gradient_a_hundredth_too_long, "mixture-regression"),
    (added_rows_booked_for_replaced_ones, "gmm"),
    (added_rows_booked_for_replaced_ones, "kmeans"),
    (labels_that_stay_booked_for_labels_that_move, "gmm-release"),
    (a_missing_cell_filled_by_the_mean_of_the_others, "gmm-release"),
    (a_missing_mark_that_moves_all_numbers_by_a_bit, "mean"),
    (a_mark_of_a_missing_cell_that_moves_the_others, "mean"),
    (a_fill_that_is_not_clipped, "kmeans"),
    (a_document_a_hundredth_too_long, "lda"),
    (rows_that_move_a_parameter_beside_the_doors, "gmm"),
    (half_a_slope_booked, "logistic"),
    (bits_that_each_take_the_whole_epsilon, "mean"),
    (a_grid_whose_rounding_nobody_pays, "fa"),
    (an_outcome_that_reads_the_row_before, "logistic"),
    (a_refusal_that_tells_of_a_row, "sbn"),
    (a_person_of_whom_one_row_too_many_counts, "mean"),
    (ids_that_are_told_apart_as_they_are_written, "kmeans"),
]


@pytest.mark.parametrize(
    ("plant", "model"),
    [
        pytest.param(
            plant,
            model,
            id=f"{plant.__name__}-{model}",
            marks=pytest.mark.full if number % 2 else (),
        )
        for number, (plant, model) in enumerate(PLANTS)
    ],
)
def test_a_planted_bug_is_found(plant: Plant, model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)
    first = MODEL_NAMES.index(model)
    numbers = range(first, first + 150 * len(MODEL_NAMES), len(MODEL_NAMES))
    assert any(examine(pair(SEED, number)).outcome == "violation" for number in numbers)


# ------------------------------------------------------------------ a run and its end


def json_of(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> dict[str, Any]:
    assert main(["fuzz", *words, "--json"]) == code
    record: dict[str, Any] = json.loads(capsys.readouterr().out)
    return record


def test_a_run_says_what_it_has_seen_and_leaves_nothing_behind(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    found = json_of(capsys, "--seconds", "1", "--seed", str(SEED))
    assert found["pairs"] > 0 == found["violations"]
    assert 0.3 < found["worst_ratio"] <= 1.0
    assert found["seed"] == SEED
    assert sum(kind["pairs"] for kind in found["by_model"].values()) == found["pairs"]
    assert found["compared"] + found["refused"] + found["refused_one"] == found["pairs"]
    assert not os.listdir(tmp_path)


def test_a_model_alone_has_the_same_pairs_as_in_a_run_of_all() -> None:
    alone = fuzz(1e-9, model="kmeans", seed=3)
    assert list(alone.by["model"]) == ["kmeans"]
    again = fuzz(only=MODEL_NAMES.index("kmeans"), seed=3)
    assert again.total == alone.total


@pytest.mark.merge
def test_a_violation_tells_what_makes_it_anew(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    added_rows_booked_for_replaced_ones(monkeypatch)
    found = json_of(capsys, "--seconds", "3", "--model", "kmeans", "--seed", "9", code=1)
    first = found["violated"][0]
    again = ["--seed", str(first["seed"]), "--pair", str(first["pair"])]
    assert main(["fuzz", *again, "--keep", str(tmp_path / "pair")]) == 1
    told = capsys.readouterr()
    assert " ".join(again) in told.err
    assert "Violations: 1" in " ".join(told.out.split())
    assert sorted(path.name for path in (tmp_path / "pair").iterdir()) == ["one", "other"]


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_shows_what_it_has_seen(
    ending: signal.Signals, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []

    def interrupted(made: Any, keep: Any) -> Verdict:
        seen.append(made)
        if len(seen) == 3:
            signal.raise_signal(ending)
        return Verdict("compared", 0.5, 1)

    monkeypatch.setattr(run, "examine", interrupted)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may ignore it
    try:
        found = json_of(capsys, "--seconds", "1000")
    finally:
        signal.signal(signal.SIGINT, before)
    assert (found["pairs"], found["worst_ratio"], found["releases"]) == (2, 0.5, 2)


@pytest.mark.parametrize("outcome", ["compared", "refused"])
def test_one_pair_is_counted_in_words_that_fit(
    outcome: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ratio = 0.5 if outcome == "compared" else 0.0
    monkeypatch.setattr(run, "examine", lambda made, keep: Verdict(outcome, ratio, 1))
    assert main(["fuzz", "--seed", "5", "--pair", "0"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "Pairs of neighbouring files: 1; " in told
    assert ("(pair 0)" in told) == (outcome == "compared")


def test_nothing_of_the_fuzzer_takes_rows_from_outside() -> None:
    """It sees sums before their noise, so it sees none but those of rows that it has made."""
    from inspect import signature

    assert list(signature(pair).parameters) == ["seed", "number"]
    assert "table" not in signature(fuzz).parameters
