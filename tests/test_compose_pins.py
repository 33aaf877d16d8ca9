"""A pinned list of releases keeps its prices: on the bars' axis, in the table, and in the link."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from time import sleep
from typing import Any

import pytest
from support import every

from app import compose_prices
from app.compose_pins import COMING, NO_NUMBER, list_of, live_text, table
from app.compose_prices import Priced, priced
from app.composing import Composition, Line, from_query, opening, sane
from app.result_store import ResultStore
from app.views.compose import picture
from dpcore.accounting import compose
from dpcore.errors import InputError
from dpcore.evaluation.composition import ways
from dpcore.figures.scene import Bars
from dpcore.privacy import Event, Gaussian
from dpcore.privacy.guarantee import show_bound

FEW = replace(opening("opening"), k=10)
LOUD = Composition(preset="own", k=1000, lines=(Line(noise=80.0),), delta=1e-6)
BUDGET = replace(FEW, hold="budget", adjacency="add_remove", methods=("zcdp",))
SAMPLED = Composition(preset="own", k=3, lines=(Line(noise=4.0, sampling="p"),))


def known(asked: Composition) -> Priced:
    """Everything about a list, waited for."""
    while (found := priced(asked)).left:
        sleep(0.02)
    return found


def bars(asked: Composition) -> Any:
    panel = picture(asked, known(asked)).panels[0]
    (layer,) = panel.layers
    assert isinstance(layer, Bars)
    return panel, layer


class Cells(HTMLParser):
    """The rows of a table: texts of their cells."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_data(self, data: str) -> None:
        if self.rows:
            self.rows[-1][-1] += data


def cells(asked: Composition) -> dict[str, list[str]]:
    rows = Cells(table(asked, known(asked))).rows
    return {first: rest for first, *rest in rows}


# ---------------------------------------------------------------- the link


def test_a_link_brings_the_pinned_lists_back() -> None:
    asked = sane(LOUD.with_pins([FEW, SAMPLED]))
    again = from_query(asked.as_query())
    assert again == asked
    assert again.pinned == {"A": FEW, "B": SAMPLED}
    assert "pins" not in FEW.as_query()


def test_a_pin_is_the_list_alone_and_each_is_pinned_once_four_at_most() -> None:
    shown = replace(FEW, show="loss", hide="k").with_pins([LOUD])
    many = [replace(FEW, k=k) for k in (1, 1, 2, 3, 4, 5)]
    assert LOUD.with_pins([shown]).pinned == {"A": FEW}
    assert [one.k for one in FEW.with_pins(many).pinned.values()] == [1, 2, 3, 4]


@every("text", ["nonsense", "|" * 9, "|k=no", "|pins=%7Ck%3D5&hide=k", "|lines=x"])
def test_nonsense_pins_are_the_opening_or_none(text: str) -> None:
    found = from_query({"pins": text})
    assert list(found.pinned.values()) in ([], [opening("opening")])
    assert from_query(found.as_query()) == found


# ---------------------------------------------------------------- the marks


def test_marks_are_the_accountants_numbers_and_lie_on_the_axis() -> None:
    panel, layer = bars(FEW.with_pins([LOUD]))
    events = [Event(Gaussian(80.0), count=1000)]
    for name, method in (("Basic", "linear"), ("zCDP", "zcdp"), ("Exact", "exact")):
        mark = layer.ghosts["A"][layer.names.index(name)]
        assert mark == pytest.approx(compose(events, method, delta=1e-6).epsilon, rel=1e-4)
    low, high = panel.x.range
    assert all(low < mark < high for mark in layer.ghosts["A"])
    basic = show_bound(float(compose(events, "linear", delta=1e-6).epsilon))
    assert all(f"Pinned A: Basic {basic};" in text for text in panel.alt)


def test_they_stay_where_they_are_while_the_list_changes() -> None:
    one, other = (bars(replace(FEW, k=k).with_pins([LOUD]))[1] for k in (1, 500))
    assert one.ghosts == other.ghosts
    assert not bars(FEW)[1].ghosts


def test_noise_is_not_marked_on_an_axis_of_prices() -> None:
    assert not bars(FEW.with_pins([BUDGET]))[1].ghosts
    assert bars(BUDGET.with_pins([replace(BUDGET, k=20)]))[1].ghosts


def test_ghosts_must_match_the_bars() -> None:
    with pytest.raises(InputError, match="ghosts"):
        Bars([1.0, 2.0], ("a", "b"), ("1", "2"), ghosts={"A": (1.0,)})


# ---------------------------------------------------------------- the table


def test_the_table_has_a_column_for_each_list_and_a_line_for_each_method() -> None:
    asked = FEW.with_pins([LOUD, SAMPLED])
    found = cells(asked)
    assert found[""] == ["Now", "A", "B"]
    assert found["Releases"] == [list_of(FEW), list_of(LOUD), list_of(SAMPLED)]
    assert found["k"] == ["10", "1,000", "3"]
    assert found["δ"] == ["10⁻⁵", "10⁻⁶", "10⁻⁵"]
    for column, one in enumerate((FEW, LOUD, SAMPLED)):
        for way in ways(one.events):
            told = NO_NUMBER
            if way.method is not None:
                told = show_bound(float(way.bound(one.events, one.delta, one.k).epsilon))
            assert found[way.title][column] == told
    assert found["Loss distribution"][:2] == ["", ""]
    assert not {"Protects", "Held", "Numbers"} & set(found)


def test_what_differs_is_said() -> None:
    found = cells(FEW.with_pins([BUDGET]))
    assert found["Held"] == ["the noise", "the budget"]
    assert len(set(found["Protects"])) == len(set(found["Numbers"])) == 2


def test_the_current_column_follows_the_slider() -> None:
    asked = FEW.with_pins([LOUD])
    texts = picture(asked, known(asked)).live_text
    prices = known(FEW).prices
    for step in (0, 20, 40):
        assert texts["now k"][step] == f"{prices.counts[step]:,}"
        exact = show_bound(float(prices.values["exact"][step]))
        assert texts["now Exact"][step] == exact
    marked = re.findall(r'data-live="([^"]+)"', table(asked, known(asked)))
    assert set(marked) == set(live_text(prices))


def test_a_slow_pinned_price_is_worked_out_once_at_its_own_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store, asked = ResultStore(), list[Any]()
    monkeypatch.setattr(compose_prices, "common", lambda: store)
    monkeypatch.setattr(
        compose_prices, "in_background", lambda store, key, work: asked.append(work)
    )
    pinned = FEW.with_pins([SAMPLED])
    first = priced(pinned)
    assert first.left == 1
    assert COMING in table(pinned, first)
    asked[0]()
    assert priced(pinned).left == 0
    assert COMING not in table(pinned, priced(pinned))
