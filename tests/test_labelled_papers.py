"""Figures of the labelled release, regenerated small: curves, orders, refusals, findings."""

from __future__ import annotations

import numpy as np
import pytest
from support import shared_data

from dpcore.papers import labelled_real, labelled_synthetic
from dpcore.papers.drawing import reproduction_figure
from dpcore.papers.labelled_runs import (
    OURS,
    PRINTED,
    PROVED,
    RIVAL,
    WAYS,
    figure,
    over_budgets,
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


def test_the_order_of_the_methods_is_the_paper_s_and_the_proved_one_s() -> None:
    ways = [way for way in WAYS if way.method != "mte"]
    points = over_budgets(labelled_synthetic._tables(SMALL), (1.0, 5.0))
    found = Experiment("test", lambda run: figure(run, "epsilon", points, ways=ways))(SMALL)
    printed = [
        values(found.rows, name, PRINTED)[1.0]
        for name in ("proposed, rows that leave", "Laplace", "Gaussian", "R1SMG")
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


def test_marginals_are_densities() -> None:
    found = labelled_real.figure_7(Ask())
    for curve in ("exact", f"public features, label ({PROVED})"):
        points = values(found.rows, curve, "0")
        x, y = np.array(list(points)), np.array(list(points.values()))
        assert np.trapezoid(y, x) == pytest.approx(1.0, abs=0.1)
    assert "Divergence of what is drawn" in found.finding


@pytest.mark.realdata
@pytest.mark.full
def test_figures_of_real_rows_come_from_the_shared_data() -> None:
    ask = Ask(data=shared_data("mnist.npz").parent, draws=1)
    shared_data("swiss_smart_meter.npz")
    for one in (labelled_real.figure_8, labelled_real.figure_9, labelled_real.figure_10):
        assert one(ask).rows
    accuracies = values(labelled_real.figure_11(ask).rows, OURS, PROVED)
    assert accuracies[5.0] > accuracies[0.5]
    taught = values(labelled_real.figure_12(ask).rows, OURS, PROVED)
    assert taught[5.0] > 0.4
