"""Exercises of the lesson notebooks: what is right, what was probably computed, what is to do."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from itertools import combinations, pairwise
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq
from support import ROOT, every

from dpcore.errors import InputError
from dpcore.lessons import EMPTY, EXERCISES, verdict

AGE = 0.0243  # a coefficient
GIVEN: dict[str, tuple[Any, ...]] = {"ten_years": (AGE,)}
BOOKS = sorted((ROOT / "notebooks").glob("0*.ipynb"))
Phi = NormalDist().cdf


def area(noise: float, epsilon: float) -> float:
    """Delta as the notebook asks for it: a sum over a grid of published counts."""
    x = np.linspace(-60.0, 61.0, 20_001)
    without, with_one = (np.exp(-0.5 * ((x - mean) / noise) ** 2) for mean in (0.0, 1.0))
    above = np.maximum(with_one - np.exp(epsilon) * without, 0.0)
    return float(above.sum() * (x[1] - x[0]) / (noise * math.sqrt(2.0 * math.pi)))


def smallest_noise(releases: int = 1) -> float:
    """The multiplier at which so many releases meet (1, 1e-5), found on the curve."""
    return float(brentq(lambda z: area(z / math.sqrt(releases), 1.0) - 1e-5, 2.0, 60.0))


def farthest() -> float:
    """The largest move of counts and sums of two groups, by a search among extreme rows."""
    rows = [np.array(y) for y in ((1.0, 0.0), (-1.0, 0.0), (0.0, 1.0))]
    shares = [np.array(w) for w in ((1.0, 0.0), (0.0, 1.0), (0.5, 0.5))]
    vectors = [np.outer(w, [1.0, *y]).ravel() for y in rows for w in shares]
    return max(float(np.linalg.norm(one - other)) for one, other in combinations(vectors, 2))


def mean_by_cases(count: float, total: float) -> float:
    mean = total if count < 1.0 else total / count
    return max(-1.0, min(1.0, mean))


def clip_one_by_one(rows: Any, bound: float) -> Any:
    return [row if math.hypot(*row) <= bound else row * bound / math.hypot(*row) for row in rows]


SOLVED: dict[str, Callable[[], Any]] = {  # by another route than the package's
    "guess": lambda: Phi(0.5 / 3.0),
    "noise": smallest_noise,
    "delta": lambda: area,
    "fifty": lambda: brentq(lambda e: area(20.0 / math.sqrt(50.0), e) - 1e-5, 0.1, 9.0),
    "black_boxes": lambda: (sum([0.1] * 10), sum([1e-5] * 10)),
    "sampled": lambda: math.log(0.9 + 0.1 * math.e),
    "sensitivity": farthest,
    "forty_steps": lambda: smallest_noise(40),
    "mean_of": lambda: mean_by_cases,
    "noise_of_mean": lambda: smallest_noise() / 20.0,
    "clip_rows": lambda: clip_one_by_one,
    "attack": lambda: round(math.log(8.9999), 3),
    "never_wrong": lambda: -math.log(0.05) / 1000.0,  # nearly
    "ten_years": lambda: math.prod([math.exp(AGE)] * 10),
}


@every("name", EXERCISES)
def test_another_way_to_the_answer_is_right(name: str) -> None:
    told = verdict(name, SOLVED[name](), *GIVEN.get(name, ()))
    assert told == f"Right: {EXERCISES[name].because}"


@every("name", EXERCISES)
def test_each_slip_is_told_what_it_is_and_no_other(name: str) -> None:
    exercise, given = EXERCISES[name], GIVEN.get(name, ())
    for slip, sentence in exercise.slips:
        told = verdict(name, slip if exercise.at else slip(*given), *given)
        assert told == f"Not yet: {sentence}"


@every("name", EXERCISES)
def test_an_empty_cell_is_to_be_filled_in(name: str) -> None:
    given = GIVEN.get(name, ())
    empty: list[Any] = [..., None, (..., ...), (1.0, ...)]
    if EXERCISES[name].at:
        empty += [lambda *_: None, lambda *_: ...]
    assert {verdict(name, answer, *given) for answer in empty} == {EMPTY}


@every("name", EXERCISES)
def test_every_sentence_is_one_sentence(name: str) -> None:
    exercise = EXERCISES[name]
    for text in (exercise.because, *(sentence for _, sentence in exercise.slips)):
        assert text.endswith(".")
        assert ". " not in text


@pytest.mark.parametrize(
    ("name", "answer", "told"),
    [
        ("noise", 7.46126, "it is 2 times too large."),
        ("noise", -1.0, "it is too small."),
        ("noise", math.nan, "it is not finite."),
        ("noise", "4", "it is 1.07 times too large."),
        ("noise", "four", "the answer should be a number."),
        ("noise", (1.0, 2.0), "one number is asked for, not 2."),
        ("black_boxes", (2.0, 1e-4), "value 1 of 2, 2, is 2 times too large."),
        ("black_boxes", 1.0, "2 numbers are asked for, not 1."),
        ("delta", 0.1, "the answer should be a function."),
        ("delta", lambda noise: noise, "the function stops with TypeError"),
        ("mean_of", lambda count, total: 0.0, "value 1 of 5, 0, is too small."),
    ],
)
def test_another_answer_is_told_how_far_it_is(name: str, answer: Any, told: str) -> None:
    assert verdict(name, answer).startswith(f"Not yet: {told}")


def test_fifty_times_the_epsilon_of_one_is_a_sum_of_epsilons() -> None:
    """As the notebook's own call gives it for one release, at the whole delta."""

    def delta(e: float) -> float:
        return Phi(0.025 - 20.0 * e) - math.exp(e) * Phi(-0.025 - 20.0 * e)

    one = float(brentq(lambda e: delta(e) - 1e-5, 0.01, 1.0))
    assert "adds up the epsilons" in verdict("fifty", 50.0 * one)


def test_a_function_may_change_what_it_is_given() -> None:
    def clip_in_place(rows: Any, bound: float) -> Any:
        rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True) / bound, 1.0)
        return rows

    assert verdict("clip_rows", clip_in_place).startswith("Right")
    assert verdict("clip_rows", clip_in_place).startswith("Right")


def test_an_exercise_that_is_not_there_is_one_sentence() -> None:
    with pytest.raises(InputError, match="exercise"):
        verdict("nonsense", 1.0)


def test_right_and_slips_differ_by_more_than_rounding() -> None:
    for name, exercise in EXERCISES.items():
        given = GIVEN.get(name, ())
        with np.errstate(all="ignore"):
            known = [
                exercise.expected(made, given) for made in (exercise.right, *dict(exercise.slips))
            ]
        for one, other in combinations(known, 2):
            assert not np.allclose(one, other, 0.02, 1e-9, equal_nan=True), name


def test_each_exercise_stands_in_one_lesson_with_an_empty_cell_before_its_check() -> None:
    asked = []
    for path in BOOKS:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        for before, cell in pairwise(cells):
            found = re.fullmatch(r'check\("(\w+)", (\w+)(?:, \w+)?\)', "".join(cell["source"]))
            if found is None:
                continue
            name, answer = found.groups()
            asked.append(name)
            empty = "".join(before["source"])
            assert re.search(rf"^{answer} = .*\.\.\.|^def {answer}\(", empty, re.MULTILINE)
            assert "..." in empty
            (output,) = cell["outputs"]
            assert "".join(output["text"]) == f"{EMPTY}\n"
    assert sorted(asked) == sorted(EXERCISES)
