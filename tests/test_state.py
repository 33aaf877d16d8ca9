"""What a widget sends back is not always the reader's: the browser hears late, or never."""

from __future__ import annotations

from copy import deepcopy
from typing import Any
from urllib.parse import parse_qsl

import pytest
from streamlit.runtime.scriptrunner import RerunData, RerunException

from app import state
from app.scenario import Scenario


class Address(dict[str, str]):
    """What stands behind a page's name, each name once."""

    def get_all(self, name: str) -> list[str]:
        return [self[name]]


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    monkeypatch.setattr(state.st, "session_state", kept)
    return kept


def sent(session: dict[str, Any], value: float) -> list[float]:
    """The browser sends a value of the box; what is taken for the reader's choice."""
    chosen: list[float] = []
    session["box"] = value
    state.on_choice("box", chosen.append)()
    return chosen


def test_what_the_page_has_set_comes_back_and_is_no_choice(session: dict[str, Any]) -> None:
    state.bind("box", 1.0)
    state.delivered()
    for value in (2.0, 3.0, 4.0):  # a key held down on the slider: the box follows
        state.bind("box", value)
        assert sent(session, 1.0) == []  # the browser has not heard yet
    assert sent(session, 2.0) == []  # it has heard of the first
    state.bind("box", 4.0)
    state.delivered()
    assert sent(session, 3.0) == []
    assert sent(session, 9.0) == [9.0]


def test_an_old_value_is_a_choice_once_the_browser_must_have_heard(
    session: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [100.0]
    monkeypatch.setattr(state, "monotonic", lambda: clock[0])
    state.bind("box", 1.0)
    state.bind("box", 2.0)
    clock[0] += 10 * state.SETTLING  # a slow run: nothing has left yet
    assert sent(session, 1.0) == []
    state.bind("box", 2.0)
    state.delivered()
    clock[0] += 1.01 * state.SETTLING
    assert sent(session, 1.0) == [1.0]


def test_the_value_that_was_set_last_is_no_choice_however_late_it_comes(
    session: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a busy machine a box sent its old value, then, long after, the one that it had been set
    to: Streamlit calls that a change, and it undid what the slider had just sent."""
    clock = [100.0]
    monkeypatch.setattr(state, "monotonic", lambda: clock[0])
    for value in (8.9, 7.9):
        state.bind("box", value)
        state.delivered()
    assert sent(session, 8.9) == []
    clock[0] += 1.01 * state.SETTLING
    assert sent(session, 7.9) == []
    assert sent(session, 5.0) == [5.0]
    assert sent(session, 7.9) == [7.9], "the reader goes back before the page has answered"


class Interrupted(dict[str, Any]):
    """A session whose n-th access is interrupted by another request of the browser."""

    def __init__(self, values: dict[str, Any], touch: int) -> None:
        super().__init__(values)
        self.left = touch

    def _touch(self) -> None:
        self.left -= 1
        if self.left == 0:
            raise RerunException(RerunData())

    def __getitem__(self, key: str) -> Any:
        self._touch()
        return super().__getitem__(key)

    def __setitem__(self, key: str, value: Any) -> None:
        self._touch()
        super().__setitem__(key, value)

    def get(self, key: str, default: Any = None) -> Any:
        self._touch()
        return super().get(key, default)


def test_a_choice_is_kept_wherever_its_callback_is_broken_off(session: dict[str, Any]) -> None:
    """What the browser asks for meanwhile follows; else a thumb sprang back under the hand."""
    session["scenario"] = Scenario()
    state.bind("slider", 1.0)
    session["slider"] = 0.3
    for touch in range(1, 30):
        state.st.session_state = interrupted = Interrupted(deepcopy(session), touch)
        callback = state.on_choice("slider", lambda chosen: state.change(epsilon=chosen))
        broken_off = False
        try:
            callback()
        except RerunException:
            broken_off = True
        kept = dict(interrupted)
        assert kept["scenario"].epsilon == 0.3, touch
        assert broken_off == (interrupted.left <= 0)
    assert not broken_off, "the last touches are more than there are"


def test_a_choice_whose_callback_was_lost_is_told_from_what_the_page_has_set(
    session: dict[str, Any],
) -> None:
    assert not state.missed("slider")
    for value in (1.0, 2.0):
        state.bind("slider", value)
        state.delivered()
        assert not state.missed("slider")
    session["slider"] = 1.0  # an old one: the browser has not heard of 2 yet
    assert not state.missed("slider")
    session["slider"] = 3.0
    assert state.missed("slider")
    state.on_choice("slider", lambda chosen: None)()
    assert not state.missed("slider")


def test_what_a_broken_off_run_has_set_is_set_again(session: dict[str, Any]) -> None:
    class Told(dict[str, Any]):
        def __setitem__(self, key: str, value: Any) -> None:
            if key == "box":
                told.append(value)
            super().__setitem__(key, value)

    told: list[float] = []
    kept = Told(session)
    state.st.session_state = kept
    state.bind("box", 1.0)
    state.bind("box", 1.0)  # the run before never came to its end
    state.delivered()
    state.bind("box", 1.0)
    assert told == [1.0, 1.0]


@pytest.mark.parametrize("link", ["", "data=digits&epsilon=0.5", "data=upload"])
def test_a_page_behind_explore_finds_its_scenario_again(
    session: dict[str, Any], monkeypatch: pytest.MonkeyPatch, link: str
) -> None:
    address = Address(epsilon="2")  # the page's own
    monkeypatch.setattr(state.st, "query_params", address)
    session["scenario"] = state._scenario_of(dict(parse_qsl(link)))
    scenario, arriving = state.taken_on("attack", own=["epsilon"])
    assert arriving
    assert scenario.as_link() == link == address.get("on", "")
    session.clear()  # a reload: all that is left is the address
    assert state.taken_on("attack", own=["epsilon"]) == (scenario, True)
    assert address["epsilon"] == "2"


def test_explore_reads_the_choices_of_a_page_behind_it() -> None:
    """A busy browser may write them into its address on the way there, and go back to that."""
    link = "data=digits&epsilon=0.5"
    assert state._scenario_of({"on": link}) == state._scenario_of(dict(parse_qsl(link)))
    assert state._scenario_of({"on": link}).data == "digits"


def test_the_address_follows_a_change_and_lets_the_reader_go_back(
    session: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    address = Address()
    monkeypatch.setattr(state.st, "query_params", address)
    state.taken_on("release")
    state.change(epsilon=0.5)
    assert state.taken_on("release")[1] is False
    assert address == {"on": "epsilon=0.5"}
    address.clear()  # one step back: forced forward again, he could never leave
    assert state.taken_on("release")[0].epsilon == 0.5
    assert address == {}
    address["on"] = "epsilon=x&data=nothing&data"  # nonsense: the defaults
    session.clear()
    assert state.taken_on("release")[0] == state.Scenario()
    assert session["misread"] == ("data", "epsilon")
    assert address == {}


def test_a_page_behind_explore_takes_a_link_in_explore_s_words(
    session: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    address = Address(data="iris", epsilon="0.5", delta="abc", utm_source="mail")
    monkeypatch.setattr(state.st, "query_params", address)
    scenario, _ = state.taken_on("release")
    assert (scenario.data, scenario.epsilon) == ("iris", 0.5)
    assert session["misread"] == ("delta",)
    assert address == {"utm_source": "mail", "on": "data=iris&epsilon=0.5"}


@pytest.mark.parametrize("text", ["", "zzz", "%%", "a=b", "epsilon=1&epsilon=2"])
def test_a_carried_address_without_meaning_is_named(
    session: dict[str, Any], monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setattr(state.st, "query_params", Address(on=text))
    scenario, _ = state.taken_on("attack")
    assert scenario == state.Scenario()
    assert session["misread"] == (("epsilon",) if "epsilon" in text else ("on",))


def test_a_name_with_two_values_has_none_and_is_named(
    session: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Twice(Address):
        def get_all(self, name: str) -> list[str]:
            return [self[name], "2"]

        def from_dict(self, query: dict[str, str]) -> None:
            self.clear()
            self.update(query)

    address = Twice(epsilon="1", delta="2")
    monkeypatch.setattr(state.st, "query_params", address)
    assert state.current().epsilon == state.Scenario().epsilon
    assert session["misread"] == ("epsilon", "delta")
    assert address == {}


@pytest.mark.usefixtures("session")
def test_what_the_last_page_had_worked_out_gives_way_on_arrival_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    away: list[str] = []
    monkeypatch.setattr(state.st, "query_params", Address())
    monkeypatch.setattr(state, "look_away", lambda: away.append("now"))
    runs = [(page, state.arrived(page), len(away)) for page in ("learn", "learn", "attack")]
    assert runs == [("learn", True, 1), ("learn", False, 1), ("attack", True, 2)]
