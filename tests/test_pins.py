"""A pinned view stays as it was: in every panel that can show it, in the table, and in the link."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from app_pages import data_of
from support import every

from app import compute, pins
from app.explore_scene import picture
from app.result_store import ResultStore
from app.scenario import Scenario, from_query, opening, sane
from app.sweeps import sliding
from app.tables import store_of
from dpcore.figures.heatmap import Heat
from dpcore.figures.pins import beside, pinned_scene, utilities
from dpcore.figures.scene import Axis, Cursor, Curve, Ellipses, Panel, Scene, Spots
from dpcore.figures.utility_curve import CURVE

SMALL = Scenario(data="generated", made="200x2x2x1", components=2, iterations=2)
STRONG = replace(SMALL, epsilon=0.1)
OTHER = replace(SMALL, method="dpem_gaussian", count_by="zcdp", clip=0.5, epsilon=2.0)


def shown(scenario: Scenario) -> Scene:
    """The scene of a scenario over epsilon, with its pins."""
    data = data_of(scenario)
    scene = picture(scenario, data, compute.study(scenario, data, store_of(data)))
    known = pins.views(scenario, ask=True)
    return pins.with_ghost(scene, scenario, data, known, "epsilon")


def panels(scene: Scene) -> dict[str, Panel]:
    return {panel.id: panel for panel in scene.panels}


def only(layers: Any, kind: type) -> Any:
    (found,) = (layer for layer in layers if isinstance(layer, kind))
    return found


# ---------------------------------------------------------------- the link


def test_a_link_brings_the_pinned_settings_back() -> None:
    asked = sane(SMALL.with_pins([STRONG, OTHER]))
    again = from_query(asked.as_query(), {SMALL.data: None})
    assert again == asked
    assert again.pinned == {"A": sane(STRONG), "B": sane(OTHER)}
    assert "pins" not in SMALL.as_query()


def test_a_pin_is_a_setting_on_the_table_that_is_shown() -> None:
    asked = replace(SMALL.with_pins([replace(STRONG, x=1, y=0, hide="exact", dial="clip")]))
    here = replace(asked, made="300x2x2x2").pinned["A"]
    assert (here.made, here.x, here.y, here.hide, here.dial) == ("300x2x2x2", 0, 1, "", "epsilon")
    assert here.epsilon == STRONG.epsilon


def test_each_setting_is_pinned_once_and_four_at_most() -> None:
    many = [replace(SMALL, epsilon=float(e)) for e in (1, 1, 2, 3, 4, 5, 6)]
    assert [one.epsilon for one in SMALL.with_pins(many).pinned.values()] == [1, 2, 3, 4]
    assert SMALL.with_pins([]).pins == ""


@every("text", ["nonsense", "|" * 9, "|epsilon=no", "|data=iris&hide=exact", "|pins=%7C"])
def test_nonsense_pins_are_those_of_the_opening_or_none(text: str) -> None:
    found = from_query({"pins": text}, {Scenario.data: None})
    first = opening(Scenario.data)
    assert list(found.pinned.values()) in ([], [first])
    assert from_query(found.as_query(), {Scenario.data: None}) == found


# ---------------------------------------------------------------- the ghost


def test_the_ghost_is_the_pinned_fit_and_does_not_move() -> None:
    alone, found = panels(shown(STRONG)), panels(shown(SMALL.with_pins([STRONG])))
    step = shown(STRONG).step
    bold = [one for one in alone["private"].layers if isinstance(one, Ellipses)][-1]
    ghost = only(found["private"].pinned, Ellipses)
    np.testing.assert_allclose(ghost.params[0], np.asarray(bold.params)[step])
    assert (ghost.style, ghost.levels, ghost.fill) == ("outline", (2.0,), False)
    sent = [one for one in found["private"].as_dict()["layers"] if one.get("pinned")]
    assert [one["moves"] for one in sent] == [False]
    assert found["private"].pin == "A, pinned"
    assert (found["exact"].pinned, found["exact"].pin) == ((), "")  # it is the same fit


def test_the_curve_keeps_the_pinned_point_and_a_curve_of_its_own_where_there_is_one() -> None:
    for pinned, own in ((STRONG, False), (OTHER, True)):
        alone, scene = shown(pinned), shown(SMALL.with_pins([pinned]))
        curve = panels(scene)[CURVE]
        utility = utilities(alone)[alone.step]
        point, line = only(curve.pinned, Cursor), only(curve.pinned, Curve)
        assert {*np.asarray(point.x)} == {pinned.epsilon}
        assert {*np.asarray(point.y)} == {utility}
        assert (len({*np.ravel(line.y)}) > 1) is own
        label = f"A: {utility:#.3g} at ε = {alone.step_labels[alone.step]}".replace("-", "−")
        assert line.label == label
        assert all(label in text for text in curve.alt)


def test_what_a_pinned_view_left_out_is_said() -> None:
    title, text = pins.DESCRIBED["without"]
    assert (title, text(replace(SMALL, without=True))) == ("Rows", "one removed or changed")


def test_without_one_person_the_exact_fit_has_a_ghost_too() -> None:
    found = panels(shown(SMALL.with_pins([replace(SMALL, without=True)])))
    assert only(found["exact"].pinned, Ellipses).style == "outline"


UNIT = Axis("u", (0.0, 1.0))


def drawn(layer: Any, step: int = 0, worth: str = "u") -> Scene:
    """A scene of two steps with one layer in its private panel."""
    private = Panel("private", "Private fit", "", "", UNIT, UNIT, (layer,))
    points = Cursor([0.1, 1.0], [0.2, 0.4])
    curve = Panel(CURVE, "", "", "", UNIT, Axis(worth, (0.0, 1.0)), (points,))
    return Scene((0.1, 1.0), ("0.1", "1.0"), (private, curve), step=step)


def test_centres_are_hollow_markers_and_another_scale_has_no_point() -> None:
    centres = Spots([[0.1, 0.2], [0.3, 0.4]], [[0.5, 0.6], [0.7, 0.8]], ("a", "b"), ("1", "2"))
    pinned = pinned_scene(drawn(centres, step=1, worth="spread"))
    found = panels(beside(drawn(Ellipses(np.ones((2, 1, 1, 6)))), pinned, "A", 1.0))
    ghost = only(found["private"].pinned, Spots)
    assert (ghost.labels, np.ravel(ghost.x).tolist()) == (("", ""), [0.3, 0.4])
    assert found[CURVE].pinned == ()


def test_what_cannot_be_overlaid_is_said_beside_each_part() -> None:
    def scene(notes: Any, step: int) -> Scene:
        names = ("factor 1", "factor 2")
        return drawn(Heat(np.ones((2, 2, 1, 3)), 1.0, "loading", names, notes), step)

    now = scene((("1 · cos 0.1", "2"), ("1 · cos 0.9", "2")), 0)
    pinned = pinned_scene(scene((("1 · cos 0.3", "2"), ("1 · cos 0.7", "2")), 1))
    panel = panels(beside(now, pinned, "A", None))["private"]
    assert panel.pinned == ()
    notes = only(panel.layers, Heat).notes
    assert notes == (("1 · cos 0.1 (A: cos 0.7)", "2"), ("1 · cos 0.9 (A: cos 0.7)", "2"))


def test_a_picture_with_a_ghost_is_made_once() -> None:
    asked = SMALL.with_pins([STRONG])
    one, other = shown(asked), shown(replace(asked, epsilon=2.0))
    assert one.as_dict()["panels"] is other.as_dict()["panels"]
    assert one.step != other.step


# ---------------------------------------------------------------- the table


def rows(scenario: Scenario, known: pins.Views | None = None) -> list[list[str]]:
    """The cells of the table, line by line."""
    data = data_of(scenario)
    known = known or pins.views(scenario, ask=True)
    html = pins.table(scenario, data, shown(SMALL), known, sliding(scenario, data, ResultStore()))
    lines = (re.findall(r"<t[hd].*?</t[hd]>", one) for one in re.findall(r"<tr>.*?</tr>", html))
    return [[re.sub("<[^>]+>", "", cell) for cell in line] for line in lines]


def test_the_table_names_what_differs_and_gives_the_numbers() -> None:
    head, now, a, b = rows(SMALL.with_pins([STRONG, OTHER]))
    assert head[:-1] == ["", "Method", "Composition", "Clipping", "ε", "δ"]
    assert head[-1].startswith("log-likelihood per")
    assert now[:-1] == ["Now", "Recommended · proved", "Exact", "1.00", "1.00", "10⁻⁵"]
    assert a[:-1] == ["A", "Recommended · proved", "Exact", "1.00", "0.100", "10⁻⁵"]
    assert b[2:-1] == ["zCDP", "0.50", "2.00", "10⁻⁵"]
    scene = shown(OTHER)
    assert b[-1] == f"{utilities(scene)[scene.step]:.3g}".replace("-", "−")


def test_of_another_model_the_table_says_what_its_number_is() -> None:
    asked = SMALL.with_pins([replace(SMALL, model="kmeans")])
    head, _, other = rows(asked, {"A": pinned_scene(shown(SMALL))})
    assert head[-1] == "Utility, median"
    assert "k-means" in " ".join(other)
    assert re.search(r"\(.+\)$", other[-1])


def test_the_current_line_follows_the_hand() -> None:
    asked = SMALL.with_pins([STRONG])
    scene = shown(asked)
    assert scene.live_text["now epsilon"] == scene.step_labels
    assert len({*scene.live_text["now utility"]}) > 10
    assert {*scene.live_text["now delta"]} == {"10⁻⁵"}
    assert not any(name.startswith("now") for name in shown(SMALL).live_text)


def test_what_is_still_worked_out_has_a_row_and_no_ghost(monkeypatch: pytest.MonkeyPatch) -> None:
    late = replace(SMALL, noise=11)
    asked = SMALL.with_pins([late])
    assert pins.views(asked, ask=False) == {"A": pins.COMING}
    whole = compute.study

    def part(*args: Any) -> Any:
        return replace(whole(*args), complete=False)

    monkeypatch.setattr(compute, "study", part)
    assert pins.coming(asked) == sane(late)
    data = data_of(asked)
    scene = picture(asked, data, whole(asked, data, store_of(data)))
    drawn = pins.with_ghost(scene, asked, data, pins.views(asked, ask=True), "epsilon")
    assert [panel.pinned for panel in drawn.panels] == [(), (), ()]
    monkeypatch.undo()
    assert pins.coming(asked) is None
