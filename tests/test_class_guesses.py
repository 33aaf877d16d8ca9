"""Guesses of a class: bounded, forgotten, without names, and drawn as they were made."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest
from support import every

from app.class_guesses import CODES, HIGHEST, HOURS, SEATS, GuessBook, book, code_of, dot_plot
from app.learning import LESSONS, lesson
from app.texts import learn as learn_texts
from app.texts.frame import misread
from app.views import learn
from dpcore.errors import InputError

COIN = lesson("coin")
PAGE = """
from app.views.learn import page
page()
"""


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@every("text", ["", "ab", "a" * 25, "<b>stats</b>", "stats/7", "ста-7", "a\x00bc", "../../etc"])
def test_a_code_is_short_and_plain(text: str) -> None:
    with pytest.raises(InputError, match=learn_texts.CODE_ERROR[1]):
        code_of(text)


def test_a_code_is_the_same_however_it_is_typed() -> None:
    assert code_of("  STATS   7") == code_of("stats-7") == "stats-7"


def test_a_seat_has_one_guess_a_question_and_the_last_one_counts() -> None:
    kept = GuessBook()
    for guess in (1.0, 2.0):
        assert kept.put("one", "seat", "coin", guess)
    kept.put("one", "other", "coin", 1.0)
    kept.put("one", "seat", "spread", 4.0)
    kept.put("two", "seat", "coin", 3.0)
    assert kept.guesses("one") == {"coin": [2.0, 1.0], "spread": [4.0]}
    assert kept.guesses("two") == {"coin": [3.0]}
    assert kept.guesses("three") == {}


def test_a_full_class_takes_no_more_seats_but_lets_those_in_it_change_their_minds() -> None:
    kept = GuessBook()
    for seat in range(SEATS):
        assert kept.put("one", f"{seat}", "coin", 1.0)
    assert not kept.put("one", "late", "coin", 1.0)
    assert kept.put("one", "0", "coin", 2.0)
    assert sorted(kept.guesses("one")["coin"]) == [1.0] * (SEATS - 1) + [2.0]


def test_of_too_many_classes_the_one_looked_at_least_recently_goes() -> None:
    kept = GuessBook()
    for number in range(CODES):
        kept.put(f"class-{number}", "seat", "coin", 1.0)
    assert kept.guesses("class-0"), "which is a look"
    kept.put("one-more", "seat", "coin", 1.0)
    assert kept.guesses("class-1") == {}
    assert kept.guesses("class-0") == kept.guesses("one-more") == {"coin": [1.0]}


def test_looking_at_codes_that_nobody_uses_pushes_no_class_out() -> None:
    kept = GuessBook()
    kept.put("one", "seat", "coin", 1.0)
    for number in range(2 * CODES):
        assert kept.guesses(f"class-{number}") == {}
    assert kept.guesses("one")


def test_a_class_is_forgotten_some_hours_after_its_last_guess() -> None:
    clock = Clock()
    kept = GuessBook(clock)
    for _ in range(3):
        kept.put("one", "seat", "coin", 1.0)
        clock.now += 3600.0 * HOURS - 1.0
        assert kept.guesses("one") == {"coin": [1.0]}
    clock.now += 2.0
    assert kept.guesses("one") == {}


def piles(text: str) -> list[int]:
    return [pile.count("<i>") for pile in re.findall(r"<p>(.*?)</p>", text)]


def test_there_is_a_dot_for_each_guess_above_its_option() -> None:
    guesses = [COIN.options[i % 3] for i in range(11)]
    text = dot_plot(COIN, guesses, COIN.options[1])
    assert piles(text) == [4, 4, 3] + [0] * (len(COIN.options) - 3)
    assert text.count("dp-right") == text.count("dp-own") == 1
    right = COIN.options.index(COIN.nearest(COIN.answer()))
    columns = re.findall(r'<div class="([^"]*)"><p>', text)
    assert [i for i, marks in enumerate(columns) if "dp-right" in marks] == [right]
    assert [i for i, marks in enumerate(columns) if "dp-own" in marks] == [1]


def test_who_cannot_see_the_dots_is_told_the_same() -> None:
    text = dot_plot(COIN, [0.5, 0.5, 1.1, 4.0], None)
    (alt,) = re.findall(r'aria-label="([^"]*)"', text)
    assert alt == "Dot plot of guesses by option, 4 in all. 0.5: 2; 1.1: 1; 4: 1. Answer: 1.1."
    assert learn_texts.class_guesses(4, 1, "1.1", "0.5") in text
    assert "Framed" not in text


def test_a_high_pile_has_dots_for_several_guesses_and_says_so() -> None:
    text = dot_plot(COIN, [0.5] * (2 * HIGHEST + 1) + [2.0], None)
    assert max(piles(text)) <= HIGHEST
    assert sum(piles(text)) == (2 * HIGHEST + 1 + 2) // 3 + 1
    assert learn_texts.per_dot(3) in text


def test_the_answer_has_a_label_whatever_the_room() -> None:
    for one in LESSONS:
        if one.name in ("hide", "face", "claims"):  # which fit something first
            continue
        text = dot_plot(one, [one.options[0]], None)
        (label,) = re.findall(r'dp-right[^"]*"><p>.*?</p><span>([^<]*)</span>', text)
        assert float(label) == pytest.approx(one.nearest(one.answer()), rel=5e-3)


# ---------------------------------------------------------------- on the page


@pytest.fixture
def visit(monkeypatch: pytest.MonkeyPatch) -> Callable[..., AppTest]:
    """A new session on Learn, with two of its questions."""
    monkeypatch.setattr(learn, "LESSONS", (COIN, lesson("spread")))
    monkeypatch.setattr(learn.path, "screens_json", lambda: "[]")
    for rest in ("papers", "read", "take"):
        monkeypatch.setattr(learn, rest, lambda *_: None)
    book.cache_clear()

    def open_page(**address: str) -> AppTest:
        at = AppTest.from_string(PAGE, default_timeout=30)
        at.query_params.update(address)
        at.run()
        assert not at.exception
        return at

    return open_page


def shown(at: AppTest) -> str:
    return "\n".join(str(one.value) for one in at.get("html"))


def guess(at: AppTest, value: float) -> AppTest:
    at.select_slider(key="guess_coin").set_value(value).run()
    at.button(key="made_coin").click().run()
    assert not at.exception
    return at


def test_a_class_sees_its_guesses_after_its_own(visit: Callable[..., AppTest]) -> None:
    one, other = visit(**{"class": "Stats 7"}), visit(**{"class": "stats-7"})
    assert "dp-dots" not in shown(guess(visit(), 3.0)), "nobody asked for a class"
    assert ", 1 in all" in shown(guess(one, 0.5))
    assert "dp-dots" not in shown(other.run()), "before the own guess"
    assert ", 2 in all" in shown(guess(other, 2.0))
    assert other.query_params["class"] in ("stats-7", ["stats-7"])
    stranger = visit(**{"class": "stats-8"})
    assert ", 1 in all" in shown(guess(stranger, 2.0))


def test_the_screen_counts_and_shows_but_never_guesses(visit: Callable[..., AppTest]) -> None:
    screen = visit(**{"class": "stats-7", "screen": "1"})
    assert not screen.select_slider
    assert "none yet" in shown(screen)
    guess(visit(**{"class": "stats-7"}), 0.5)
    screen.run()
    assert "question 1: 1" in shown(screen)
    assert "dp-dots" not in shown(screen)
    screen.button(key="show_coin").click().run()
    assert ", 1 in all" in shown(screen)
    assert "dp-own" not in shown(screen)


def test_a_code_is_typed_changed_and_left(visit: Callable[..., AppTest]) -> None:
    at = visit()
    at.text_input(key="class_typed").set_value("no/code").run()
    assert learn_texts.CODE_ERROR[1] in at.error[0].value
    assert "class" not in at.query_params
    at.text_input(key="class_typed").set_value("Stats 7").run()
    assert not at.error
    assert at.query_params["class"] in ("stats-7", ["stats-7"])
    guess(at, 0.5)
    next(one for one in at.button if one.label == learn_texts.LEAVE).click().run()
    assert "class" not in at.query_params
    assert "dp-dots" not in shown(at)


def test_a_link_with_an_odd_code_says_so(visit: Callable[..., AppTest]) -> None:
    at = visit(**{"class": "<script>"})
    assert at.warning[0].value == misread("class")
    assert "class" not in at.query_params
