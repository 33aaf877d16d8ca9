"""Figures of the labelled release, regenerated small: curves, orders, refusals, findings."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.special import erf
from support import shared_data

from dpcore.papers import labelled_real, labelled_synthetic
from dpcore.papers.drawing import reproduction_figure
from dpcore.papers.labelled_runs import (
    CLASS_ROWS,
    EXACT,
    OURS,
    PRINTED,
    PROVED,
    RIVAL,
    WAYS,
    figure,
    over_budgets,
    overlaps,
)
from dpcore.papers.reproduction import Ask, Experiment, Reproduction, reproductions, values

SMALL = Ask(splits=2, draws=2)


@pytest.fixture(scope="module")
def figure_13() -> Reproduction:
    return labelled_synthetic.figure_13(SMALL)


def test_every_figure_is_registered_with_a_sentence() -> None:
    known = reproductions()
    for number in range(1, 14):
        assert known[f"gmm-release-figure-{number}"].endswith(".")


@pytest.mark.merge
def test_the_order_of_the_methods_is_the_paper_s_and_the_proved_one_s() -> None:
    ways = [way for way in WAYS if way.method != "mte"]
    points = over_budgets(labelled_synthetic._tables(SMALL), (1.0, 5.0))
    found = Experiment("test", lambda run: figure(run, "epsilon", points, ways=ways))(SMALL)
    printed = [
        values(found.rows, name, PRINTED)[1.0]
        for name in ("proposed, one row removed", "Laplace", "Gaussian", "R1SMG")
    ]
    assert printed == sorted(printed)
    for epsilon in (1.0, 5.0):
        ours, rival = values(found.rows, OURS, PROVED), values(found.rows, RIVAL, PROVED)
        assert ours[epsilon] < rival[epsilon]
    assert values(found.rows, OURS, PROVED)[5.0] < 0.5
    assert "At the same true guarantee" in found.finding
    assert len(reproduction_figure(found).data) == len({row["curve"] for row in found.rows})


def test_a_bound_that_is_too_small_or_too_large_costs(figure_13: Reproduction) -> None:
    """Protected features: a ball that cuts rows off costs the exact answer, a wide one noise."""
    staged = values(figure_13.rows, "staged, features")
    rival = values(figure_13.rows, "Gaussian, features")
    assert set(staged) == set(labelled_synthetic.BOUNDS)
    assert all(staged[bound] < rival[bound] for bound in staged)
    assert rival[20.0] > rival[8.0]


@pytest.mark.merge
def test_methods_that_cannot_say_so_in_a_note() -> None:
    found = labelled_synthetic.figure_5(Ask(splits=1, draws=1))
    refused = [row for row in found.rows if row["curve"] == "R1SMG" and row["x"] == 2.0]
    assert refused[0]["y"] is None
    assert "three columns" in refused[0]["note"]


@pytest.fixture(scope="module")
def irises() -> Reproduction:
    return labelled_real.figure_7(Ask())


def test_every_column_of_every_class_has_its_histogram_and_bells(irises: Reproduction) -> None:
    assert len(irises.panels) == 12
    for panel in irises.panels:
        (counted,) = [r for r in irises.rows if r["panel"] == panel.id and r.get("heights")]
        assert np.sum(counted["heights"] * np.diff(counted["edges"])) == pytest.approx(
            1.0, abs=0.01
        )
        (exact,) = [r for r in irises.rows if (r["panel"], r["curve"]) == (panel.id, EXACT)]
        assert counted["edges"][0] < exact["x"] < counted["edges"][-1]
        assert counted["rows"] == 50
    drawn = reproduction_figure(irises)
    assert len({trace.xaxis for trace in drawn.data}) == 12
    setosa = next(trace for trace in drawn.data if trace.name == EXACT)
    assert np.trapezoid(setosa.y, setosa.x) == pytest.approx(1.0, abs=0.1)
    assert "one draw" in irises.finding


def test_the_overlap_of_two_normals_is_one_minus_their_total_variation() -> None:
    def row(curve: str, x: float, y: float) -> dict[str, Any]:
        return {"panel": "p", "curve": curve, "x": x, "y": y, "rows": 9}

    for gap in (0.0, 1.0, 3.0):
        ((size, share),) = overlaps([row(EXACT, 0.0, 2.0), row("proposed", 2.0 * gap, 2.0)])
        assert size == 9
        assert share == pytest.approx(1.0 - erf(gap / (2.0 * math.sqrt(2.0))), abs=2e-3)


@pytest.mark.realdata
@pytest.mark.full
def test_figures_of_real_rows_come_from_the_shared_data() -> None:
    ask = Ask(data=shared_data("mnist.npz").parent, draws=1)
    shared_data("swiss_smart_meter.npz")
    for one in (labelled_real.figure_8, labelled_real.figure_9, labelled_real.figure_10):
        assert one(ask).rows
    small = [share for size, share in overlaps(labelled_real.figure_9(ask).rows) if size < 50]
    assert np.median(small) < 0.7
    sizes = values(labelled_real.table_1(ask).rows, CLASS_ROWS, "digits")
    assert sum(sizes.values()) == labelled_real.DIGITS
    accuracies = values(labelled_real.figure_11(ask).rows, OURS, PROVED)
    assert accuracies[5.0] > accuracies[0.5]
    taught = values(labelled_real.figure_12(ask).rows, OURS, PROVED)
    assert taught[5.0] > 0.4
