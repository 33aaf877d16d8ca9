"""The loss bar: three parts that add up to what is lost, follow the slider, and do not flatter."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from app_pages import data_of

from app import compute
from app.explore_scene import lost, picture
from app.result_store import ResultStore
from app.scenario import Scenario

SMALL = Scenario(data="generated", made="200x2x2x1", components=2, iterations=2)
PARTS = ("steps", "clipping", "noise")


def study(scenario: Scenario = SMALL) -> compute.Study:
    data = data_of(scenario)
    return compute.study(scenario, data, ResultStore())


def with_utilities(found: compute.Study, private: float, **known: float) -> compute.Study:
    """A study whose fits are all worth this, and the references that."""
    grid = replace(found.grid, utility=np.full_like(found.grid.utility, private))
    return replace(found, grid=grid, references=replace(found.references, **known))


@pytest.fixture(scope="module")
def found() -> compute.Study:
    return study()


def known(best: float, steps: float, clipped: float, limits: float) -> dict[str, float]:
    return {
        "converged_utility": best,
        "own_steps_utility": steps,
        "clipped_utility": clipped,
        "bounds_utility": limits,
    }


def numbers(texts: dict[str, tuple[str, ...]], kind: str) -> list[float]:
    read = (texts[f"{kind} {part}"][0] for part in PARTS)
    return [float(text.replace("−", "-").rstrip("%")) for text in read]


def test_the_parts_add_up_to_what_is_lost() -> None:
    whole = study(replace(SMALL, clip=0.3))
    texts, middle = lost(whole), np.median(whole.grid.utility, axis=1)
    for i, utility in enumerate(middle):
        parts = [float(texts[f"lost {part}"][i].replace("−", "-")) for part in PARTS]
        assert sum(parts) == pytest.approx(
            whole.references.converged_utility - utility, abs=0.005 * len(PARTS)
        )


def test_the_bar_is_what_the_exact_fit_gains_over_the_limits(found: compute.Study) -> None:
    texts = lost(with_utilities(found, -5.0, **known(-2.0, -2.5, -3.0, -12.0)))
    assert numbers(texts, "lost") == [0.5, 0.5, 2.0]
    assert numbers(texts, "wide") == [5.0, 5.0, 20.0]
    assert {*texts["lost note"]} == {", of 10.00 gained over the limits"}


def test_who_loses_more_than_that_has_a_full_bar(found: compute.Study) -> None:
    texts = lost(with_utilities(found, -42.0, **known(-2.0, -2.0, -12.0, -12.0)))
    assert numbers(texts, "lost") == [0.0, 10.0, 30.0]
    assert numbers(texts, "wide") == [0.0, 25.0, 75.0]
    assert texts["lost note"][0].startswith(", together more than the 10.00 gained over")


def test_who_loses_the_whole_gain_to_the_last_digit_loses_no_more(found: compute.Study) -> None:
    texts = lost(with_utilities(found, -2.787, **known(-2.0, -2.0, -2.0, -2.7866)))
    assert {*texts["lost noise"]} == {"0.787"}
    assert {*texts["lost note"]} == {", of 0.787 gained over the limits"}
    texts = lost(with_utilities(found, -2.6, **known(-2.0, -2.1, -2.3, -2.6)))
    assert {*texts["lost note"]} == {", of 0.600 gained over the limits"}  # 0.1 + 0.2 + 0.3 > 0.6


def test_large_numbers_have_no_needless_digits(found: compute.Study) -> None:
    texts = lost(with_utilities(found, -499_323.4, **known(-200.0, -202.5, -202.5, -389.6)))
    assert (texts["lost steps"][0], texts["lost noise"][0]) == ("2.5", "499,120.9")
    assert texts["lost note"][0].startswith(", together more than the 189.6 gained")
    texts = lost(with_utilities(found, -20.0, **known(-20.0, -20.0, -20.0, -2020.0)))
    assert texts["lost note"][0] == ", of 2,000 gained over the limits"


def test_a_part_below_zero_is_told_with_its_sign_and_has_no_bar(found: compute.Study) -> None:
    texts = lost(with_utilities(found, -3.0, **known(-2.0, -1.5, -1.5, -12.0)))
    assert {*texts["lost steps"]} == {"−0.50"}
    assert numbers(texts, "wide") == [0.0, 0.0, 15.0]
    assert texts["lost note"][0].endswith("; a loss below zero is a gain")
    texts = lost(with_utilities(found, -3.0, **known(-2.0, -1.999, -2.0, -12.0)))
    assert {*texts["lost steps"]} == {"0.00"}
    assert "below zero" not in texts["lost note"][0]


def test_without_a_fit_nothing_is_told(found: compute.Study) -> None:
    texts = lost(with_utilities(found, np.nan, **known(-2.0, -2.0, -2.0, -1.0)))
    assert [texts[f"lost {part}"][0] for part in PARTS] == ["–"] * 3
    assert numbers(texts, "wide") == [0.0] * 3
    assert {*texts["lost note"]} == {"; the exact fit gains nothing over the limits"}


def test_what_fewer_rows_cost_is_a_part_of_its_own(found: compute.Study) -> None:
    few = with_utilities(found, -5.0, **known(-2.0, -2.75, -3.0, -12.0))
    whole = replace(few.references, own_steps_utility=-2.5)
    texts = lost(few, whole)
    assert [texts[f"lost {part}"][0] for part in ("rows", *PARTS)] == [
        "0.25",
        "0.50",
        "0.25",
        "2.00",
    ]
    assert {*lost(few)["lost rows"]} == {"0.00"}
    assert {*lost(few)["lost steps"]} == {"0.75"}


def test_a_part_that_is_written_as_zero_has_no_width_and_small_gains_have_more_decimals(
    found: compute.Study,
) -> None:
    texts = lost(with_utilities(found, -1.011, **known(-1.0, -1.00004, -1.01, -1.2)))
    assert [texts[f"lost {part}"][0] for part in PARTS] == ["0.000", "0.010", "0.001"]
    assert numbers(texts, "wide") == [0.0, 5.0, 0.5]


def test_a_fit_that_reads_its_rows_once_stops_at_no_step() -> None:
    once = Scenario(data="generated", made="200x2x2x1", model="covariance", components=1)
    texts = lost(study(once))
    assert {*texts["lost steps"]} == {"–"}
    assert texts["lost note"][0].endswith("so nothing is lost by stopping early")
    assert "read once" not in lost(study())["lost note"][0]


def test_every_stop_of_the_slider_has_its_bar(found: compute.Study) -> None:
    data = data_of(SMALL)
    scene = picture(SMALL, data, found)
    for part in PARTS:
        widths = scene.live_text[f"wide {part}"]
        assert len(widths) == len(scene.steps)
        assert all(re.fullmatch(r"\d+\.\d\d%", one) for one in widths)
    assert len({*scene.live_text["wide noise"]}) > 10
