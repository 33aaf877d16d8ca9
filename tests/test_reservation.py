"""Budget is reserved before noise is drawn: two at once, failures, and processes that die."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpcore.errors import BudgetExceeded, InputError
from dpcore.privacy import Ledger
from dpcore.privacy.ledger import LedgerEntry
from dpcore.releases import ledger
from dpcore.releases.filter import Amount
from dpcore.releases.ledger import BudgetLedger, Protected, TamperedError

DELTA = 1e-5
PERSON = Protected("replace_one", "person")
STATED = Amount(0.2, DELTA)


def drawn(noise: float = 20.0) -> Ledger:
    return Ledger(
        (LedgerEntry("a sum", "discrete_gaussian", noise, 1.0, "replace_one", "a lemma"),)
    )


@pytest.fixture
def book(tmp_path: Path) -> BudgetLedger:
    return BudgetLedger.create(tmp_path / "budget.sqlite", Amount(1.0, DELTA))


# --- the ledger's lines -------------------------------------------------------------------------


def test_what_is_reserved_counts_until_the_end_of_time(book: BudgetLedger) -> None:
    state = book.reserve(drawn(5.0), STATED, PERSON)
    assert state.open == (2,)
    assert state.spent == book.state().spent > (0,)
    with pytest.raises(BudgetExceeded, match=r"Line 2 counts as spent: its release is under way"):
        book.check(drawn(5.0), STATED, PERSON)
    assert book.output(2) == ledger.RESERVED


def test_what_left_stands_in_a_line_of_its_own_and_costs_nothing_more(book: BudgetLedger) -> None:
    before = book.reserve(drawn(), STATED, PERSON)
    after = book.complete(2, drawn(25.0), {"a": 1})
    assert after == book.demand_intact()
    assert (after.spent, after.open) == (before.spent, ())
    assert [line.kind for line in after.lines] == ["terms", "release", "end"]
    (paid,) = after.releases
    assert paid.number == 2
    assert paid.body["events"][0]["noise_multiplier"] == 25.0
    assert book.output(2) == {"a": 1}


def test_a_release_ends_once_and_covers_what_was_drawn(book: BudgetLedger) -> None:
    book.reserve(drawn(), STATED, PERSON)
    with pytest.raises(BudgetExceeded, match="line 2 reserved less"):
        book.complete(2, drawn(19.0), {})
    book.spend(drawn(), STATED, PERSON, {"paid": "at once"})
    for number in (1, 3, 4, 99):
        with pytest.raises(InputError, match="not reserved"):
            book.complete(number, drawn(), {})
    book.complete(2, drawn(), {})
    with pytest.raises(InputError, match="not reserved"):
        book.complete(2, drawn(), {})


@pytest.mark.parametrize("number", [1, 3, 7])
def test_a_line_that_ends_what_nobody_reserved_is_found(book: BudgetLedger, number: int) -> None:
    """Also where every hash was worked out anew."""
    book.reserve(drawn(), STATED, PERSON)
    book.spend(drawn(), STATED, PERSON, {})
    with book._writing() as database:
        ledger._append(database, book.state().lines, "end", {"line": number, "output": "0"})
    with pytest.raises(TamperedError, match="line 4 ends a release that was not reserved"):
        book.state()
