"""Every row of the documentation's table of printed privacy figures, recomputed."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from support import ROOT

from dpcore.accounting import compose
from dpcore.accounting.base import Accountant
from dpcore.accounting.moments import MomentsAccountant
from dpcore.accounting.published import published_budget
from dpcore.accounting.wbk import THEOREM_9, THEOREM_27
from dpcore.errors import InputError
from dpcore.privacy import Event, Gaussian
from dpcore.wall.statistics.topic_words import TopicWords

TEXT = (ROOT / "app" / "docs" / "printed-figures.md").read_text(encoding="utf-8")


def table(heading: str) -> list[list[str]]:
    """The cells of the first table under a heading, without its head."""
    lines = TEXT.split(f"## {heading}")[1].split("\n## ")[0].splitlines()
    rows = [line for line in lines if line.startswith("|")][2:]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


VIPS = table("VIPS")
ABADI = table("Deep learning")
DPEM = table("DP-EM")
CLASSIC_27 = replace(THEOREM_27, conversion="classic")
CLASSIC_9 = replace(THEOREM_9, conversion="classic")


def over(number: float, text: str) -> bool:
    """Whether a text says a number rounded up in its last digit."""
    return 0.0 <= float(text) - number <= 10.0 ** -len(text.partition(".")[2])


def under(number: float, text: str) -> bool:
    """Whether a text says a number rounded down in its last digit."""
    return 0.0 <= number - float(text) <= 10.0 ** -len(text.partition(".")[2])


def fixed_size(row: list[str], share: float = 1.0) -> list[Event]:
    noise, rate, steps = float(row[1]), float(Fraction(row[2])), int(row[3])
    kind = Gaussian(noise * share)
    return [Event(kind, steps, sampling="without_replacement", sampling_rate=rate)]


def epsilon(events: list[Event], method: str | Accountant, delta: float) -> float:
    return float(compose(events, method, delta=delta).epsilon)


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(row, id=f"{row[0]} {row[1]}", marks=pytest.mark.full if row[1] == "1" else ())
        for row in VIPS
    ],
)
def test_vips_figures(row: list[str]) -> None:
    events, delta = fixed_size(row), float(row[4])
    for method, text in ((CLASSIC_27, row[6]), (CLASSIC_9, row[7]), ("wbk27", row[8])):
        assert over(epsilon(events, method, delta), text), (method, text)
    true = compose(events, "pld", delta=delta)
    assert under(float(true.lower), row[9])
    assert over(float(true.epsilon), row[10])
    assert float(row[5]) / float(true.epsilon) == pytest.approx(float(row[11]), rel=0.03)


def cut_off(number: float, printed: str) -> bool:
    """Whether the printed figure is the number with its later digits left out."""
    unit = 10.0 ** -len(printed.partition(".")[2])
    return float(printed) <= number < float(printed) + unit


def test_seven_of_eight_vips_figures_are_theorem_27_cut_off() -> None:
    found = [cut_off(epsilon(fixed_size(r), CLASSIC_27, float(r[4])), r[5]) for r in VIPS]
    assert found.count(True) == 7
    assert not found[[r[5] for r in VIPS].index("3.34")]


def test_no_number_of_steps_gives_the_misprint() -> None:
    row = next(r for r in VIPS if r[5] == "3.34")
    for steps in (16, 17, 18, 19):
        events = [replace(fixed_size(row)[0], count=steps)]
        assert not cut_off(epsilon(events, CLASSIC_27, 1e-4), "3.34")


@pytest.mark.parametrize("share", [0.5, 2**-0.5])
def test_smaller_noise_reproduces_none(share: float) -> None:
    for row in VIPS:
        found = epsilon(fixed_size(row, share), CLASSIC_27, float(row[4]))
        assert found > 1.3 * float(row[5])


def test_poisson_samples_reproduce_none() -> None:
    for row in VIPS:
        events = [replace(e, sampling="poisson", adjacency="add_remove") for e in fixed_size(row)]
        for method in (MomentsAccountant(600), "rdp"):
            assert not cut_off(epsilon(events, method, float(row[4])), row[5])


def test_topics_with_their_true_sensitivity_stay_true_only_by_tight_counting() -> None:
    """A step releases one matrix; what lacks the sqrt 2 is its sensitivity (equation 28)."""
    assert VIPS[0][0].startswith("topics")
    assert "a replaced document can move the sum sqrt 2 times as far" in " ".join(TEXT.split())
    true = TopicWords(components=2, words=2, radius=1.0).l2_sensitivity("replace_one")
    assert true == pytest.approx(2**0.5)
    events = fixed_size(VIPS[0], 2**-0.5)
    assert over(epsilon(events, CLASSIC_27, 1e-4), "4.24")
    assert over(epsilon(events, "pld", 1e-4), "2.17")
    assert epsilon(fixed_size(VIPS[0]), CLASSIC_27, 1e-5) == pytest.approx(2.71, abs=0.005)


@pytest.mark.parametrize("row", ABADI, ids=[row[0] for row in ABADI])
def test_abadi_figures(row: list[str]) -> None:
    events = [
        Event(
            Gaussian(4.0),
            int(row[0]),
            sampling="poisson",
            sampling_rate=0.01,
            adjacency="add_remove",
        )
    ]
    for method, text in ((MomentsAccountant(32), row[2]), ("rdp", row[3]), ("pld", row[4])):
        assert over(epsilon(events, method, 1e-5), text)
    assert float(row[1]) >= float(row[4])


@pytest.mark.parametrize("row", DPEM, ids=[f"{row[0]} {row[1]}" for row in DPEM])
def test_dpem_settings(row: list[str]) -> None:
    combination, groups, iterations, releases, each, total, delta, feasible = row
    count = int(iterations) * (2 * int(groups) + 1 if combination == "GGG" else int(groups))
    assert int(releases) == count
    assert float(total) == pytest.approx(count * float(each))

    def budget() -> None:
        published_budget(
            1.0,
            float(delta),
            accountant="advanced",
            combination=combination,
            components=int(groups),
            iterations=int(iterations),
            delta_each=float(each),
        )

    if feasible == "yes":
        budget()
    else:
        with pytest.raises(InputError, match="delta_each"):
            budget()
