"""A verdict is counted from numbers: flip one, and it flips."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from support import every

from dpcore.evaluation.verdict import found_sentences, verdicts
from dpcore.evaluation.yardstick import yardstick
from dpcore.papers.claims import AGREES, DIFFERS, PARTLY
from dpcore.papers.labelled_runs import proposed
from dpcore.papers.reproduction import experiment_of, verdict
from dpcore.papers.results import stored_result
from dpcore.papers.vips_epsilon import PRINTED, TIGHT
from dpcore.registry import MODELS, PAPERS

NUMBERS = ("y", "low", "mean", "proved_epsilon", "claimed")


def rows_of(name: str) -> list[Any]:
    return [dict(row) for row in stored_result(name).reproduction.rows]


@every("name", PAPERS)
def test_every_figure_and_table_makes_a_claim_of_its_paper(name: str) -> None:
    checks = verdict(name, rows_of(name)).checks
    assert len(checks) == len(experiment_of(name).claims)
    assert any(not check.ours for check in checks)


@every("name", PAPERS)
def test_every_statement_speaks_of_points_that_are_there(name: str) -> None:
    for check in verdict(name, rows_of(name)).checks:
        assert check.of > 0, check.says
        assert 0 <= check.holds <= check.of


@pytest.mark.merge
@every("name", PAPERS)
def test_every_statement_turns_with_some_number(name: str) -> None:
    """For each statement there is one number whose change, up or down, changes its count."""
    rows = rows_of(name)
    before = [check.holds for check in verdict(name, rows).checks]
    turned = [False] * len(before)
    for position, row in enumerate(rows):
        for field in NUMBERS:
            if not isinstance(row.get(field), float):
                continue
            for wrong in (-1e9, 1e9):
                changed = [*rows[:position], {**row, field: wrong}, *rows[position + 1 :]]
                after = [check.holds for check in verdict(name, changed).checks]
                turned = [t or a != b for t, a, b in zip(turned, after, before, strict=True)]
        if all(turned):
            return
        if "note" in row and "advanced" in row["curve"]:
            changed = [*rows[:position], {**row, "note": ""}, *rows[position + 1 :]]
            after = [check.holds for check in verdict(name, changed).checks]
            turned = [t or a != b for t, a, b in zip(turned, after, before, strict=True)]
    checks = verdict(name, rows).checks
    assert all(turned), [c.says for c, t in zip(checks, turned, strict=True) if not t]


def epsilons(*pairs: tuple[float, float]) -> list[Any]:
    return [
        {"panel": "p", "curve": curve, "x": float(x), "y": y, "low": None, "high": None, "note": ""}
        for x, pair in enumerate(pairs)
        for curve, y in zip((PRINTED, TIGHT), pair, strict=True)
    ]


def test_the_word_follows_the_numbers() -> None:
    def word(*pairs: tuple[float, float]) -> str:
        return verdict("vips-table-epsilon", epsilons(*pairs)).word

    assert word((2.0, 1.0), (3.0, 1.0), (4.0, 1.0)) == AGREES
    assert word((2.0, 1.0), (3.0, 1.0), (0.5, 1.0)) == PARTLY
    assert word((2.0, 1.0), (0.5, 1.0), (0.5, 1.0)) == DIFFERS


def test_one_draw_is_told_and_what_differs_says_what_would_agree() -> None:
    rows = epsilons((2.0, 1.0), (0.5, 1.0), (0.5, 1.0))
    assert (
        "To agree, the claim would have to hold at 3 points instead of 1."
        in verdict("vips-table-epsilon", rows).sentence
    )
    assert "one draw" not in verdict("vips-table-epsilon", rows).sentence
    for row in rows:
        row["runs"] = 1
    assert "one draw" in verdict("vips-table-epsilon", rows).sentence
    for runs, few in ((2, True), (4, True), (5, False), (100, False)):
        rows[0]["runs"] = runs
        assert (f"({runs} runs)" in verdict("vips-table-epsilon", rows).sentence) == few
        assert "one draw" not in verdict("vips-table-epsilon", rows).sentence
    assert "To agree" not in verdict("vips-table-epsilon", epsilons((2.0, 1.0))).sentence


def test_what_holds_by_less_than_the_runs_spread_is_told_and_agrees_in_part() -> None:
    rows = rows_of("robust-em-local")
    sentence = (
        "the model with a trusted curator is more accurate: at 12 of 12 "
        "(12 beyond the spread of the runs)"
    )
    assert sentence in verdict("robust-em-local", rows).sentence
    assert verdict("robust-em-local", rows).word == AGREES
    for row in rows:
        row["low"], row["high"] = -1e9, 1e9
    judged = verdict("robust-em-local", rows)
    assert "at 12 of 12 (0 beyond the spread of the runs)" in judged.sentence
    assert judged.word == PARTLY
    for row in rows:
        row["runs"] = 1
    assert "beyond the spread" not in verdict("robust-em-local", rows).sentence


def test_a_trend_is_weighed_against_the_spread_of_its_ends() -> None:
    """So is a curve that is picked from the rows by a rule, and not by its name."""

    def told(spread: float) -> tuple[str, str]:
        name = "gmm-release-figure-1"
        rows = [
            row | {"low": row["y"] - spread, "high": row["y"] + spread} for row in rows_of(name)
        ]
        judged = verdict(name, rows)
        return judged.word, judged.sentence

    rows = rows_of("gmm-release-figure-1")
    assert all(row["runs"] > 1 for row in rows)
    ours = list(proposed(rows).values())
    half = (ours[0] - ours[-1]) / 2.0
    word, sentence = told(0.99 * half)
    assert word == AGREES
    assert "at 1 of 1 (1 beyond the spread of the runs)" in sentence
    word, sentence = told(1.01 * half)
    assert word == PARTLY
    assert "at 1 of 1 (0 beyond the spread of the runs)" in sentence


def test_a_claim_about_another_fact_than_y_has_no_spread() -> None:
    """The quantiles of the rows are those of y alone."""
    (check, _) = verdict("robust-em-means", rows_of("robust-em-means")).checks
    assert check.clear is None


@every("name", PAPERS)
def test_what_differs_says_which_counts_would_agree(name: str) -> None:
    judged = verdict(name, rows_of(name))
    assert (" would have to hold at " in judged.sentence) == (judged.word == DIFFERS)


def test_a_verdict_without_points_is_no_agreement() -> None:
    judged = verdict("vips-table-epsilon", [])
    assert judged.word == DIFFERS
    assert "To agree, the claim would have to hold at 1 point instead of 0." in judged.sentence


def test_what_is_ours_is_told_and_does_not_judge() -> None:
    name = "robust-em-means"
    rows = rows_of(name)
    judged = verdict(name, rows)
    assert any(check.ours for check in judged.checks)
    assert "Beyond the paper:" in judged.sentence
    for row in rows:
        if row["curve"].startswith("plain clipping, exact"):
            row["mean"] = 1e9
    assert verdict(name, rows).word == judged.word
    assert verdict(name, rows).sentence != judged.sentence


def held(bounds: float, single: float, clipped: float, converged: float) -> Any:
    """The utilities that the fits of one budget are held against."""
    names = ("bounds_utility", "single_utility", "clipped_utility", "converged_utility")
    rivals = (bounds, single, clipped, converged)
    return (SimpleNamespace(**dict(zip(names, rivals, strict=True))),)


def fits(model: str, utility: float, recovered: Any) -> Any:
    """Fits of one budget that are worth the same; recovered ``(1, draws, parts)``."""
    worth = np.full(recovered.shape[:2], utility)
    return SimpleNamespace(
        model=model, utility=worth, recovered=recovered, stops=(1.0,), refusals=(None,)
    )


@every("model", MODELS)
def test_the_verdict_and_what_is_found_do_not_contradict_each_other(model: str) -> None:
    """A fit of the same worth may find the exact fit's parts or not: whoever reads both sentences
    learns which, and why it is no contradiction."""
    known, cut = held(0.0, 1.0, 2.0, 2.0), held(0.0, 1.0, 0.01, 2.0)
    seen = set()
    for parts in (yardstick(model).simplest + 1, yardstick(model).simplest + 2):
        for many in range(parts + 1):
            found = np.zeros((1, 13, parts), dtype=bool)
            found[:, :, :many] = True
            for utility in (0.01, 0.5, 1.04, 1.5, 1.999):
                grid, single = fits(model, utility, found), np.array([min(utility, 1.0) - 1e-3])
                (judged,) = verdicts(grid, known, single)
                (told,) = found_sentences(grid)
                seen.add(judged.level)
                both = f"{judged.text} | {told}"
                if many == parts:
                    assert told.endswith("found in 13 of 13 draws.")
                    assert "limits do." not in both, both
                    assert "release that." not in both, both
                    assert "not" not in judged.text.split(), both
                    assert "none" not in judged.text, both
                elif judged.level == 3 or (many == 0 and judged.text.startswith("Keeps")):
                    assert "would gain little" not in both, both
                    assert judged.text.endswith(" found."), both
                    assert ", although " in both, both
                if 0 < many < parts:
                    assert "none" not in judged.text, both
                found[:, -1] = False  # in one draw
                (once,) = verdicts(grid, known, single)
                assert "would gain little" not in once.text
                (tight,) = verdicts(grid, cut, np.zeros(1))
                if utility == 0.01:
                    assert tight.text.startswith("With clipping this tight, no fit")
                    assert ("although" in tight.text) == (many > 0)
                found[:, -1, :many] = True
    assert seen == {0, 1, 2, 3}


@every("model", MODELS)
def test_the_verdict_that_a_simpler_model_will_do_fits_beside_a_title(model: str) -> None:
    """A card has one line for both, and cuts off what is longer."""
    found = np.ones((1, 13, 3), dtype=bool)
    (judged,) = verdicts(fits(model, 1.0, found), held(0.0, 1.0, 2.0, 2.0), np.ones(1))
    assert "would do as well (50% of the exact gain): release that, unless you need" in judged.text
    assert len(judged.text) <= 113


@pytest.mark.parametrize(
    ("utility", "says"),
    [
        (1.7, "0.30 below its"),
        (1.997, "the same as its"),
        (2.004, "the same as its"),
        (2.03, "0.03 above its"),
    ],
)
def test_the_simplest_fit_is_compared_with_its_exact_one_on_either_side(
    utility: float, says: str
) -> None:
    alone = fits("gmm", utility, np.ones((1, 5, 1), dtype=bool))
    (judged,) = verdicts(alone, held(0.0, 2.0, 2.0, 2.0), np.array([utility]))
    assert judged.text.endswith(f"scores {says} exact fit.")


@pytest.mark.parametrize(
    ("below", "text"),
    [(0.2, "As good as the exact fit"), (0.3, "Keeps 99% of the exact fit's gain")],
)
def test_classes_are_as_good_as_exact_only_by_a_small_divergence(below: float, text: str) -> None:
    """However far away the rival is: a divergence of 2 of 400 is a class that nobody recognises."""
    grid = fits("gmm-release", -below, np.ones((1, 5, 3), dtype=bool))
    (judged,) = verdicts(grid, held(-400.0, -70.0, 0.0, 0.0), np.array([-70.0]))
    assert judged.text.startswith(text)
