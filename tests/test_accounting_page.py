"""The page on how costs are counted says what the accountants do."""

from __future__ import annotations

import pytest
from support import ROOT

from dpcore.accounting import ACCOUNTANTS, accountant, covers
from dpcore.privacy import DiscreteGaussian, EpsilonDelta, Event, Gaussian, Laplace

TEXT = (ROOT / "app" / "docs" / "accounting.md").read_text(encoding="utf-8")
KINDS = {
    "G": Gaussian(2.0),
    "L": Laplace(2.0),
    "D": DiscreteGaussian(2.0),
    "P": EpsilonDelta(0.5),
    "B": EpsilonDelta(0.5, 1e-9),
}
COLUMNS = (
    ("none", "replace_one"),
    ("poisson", "add_remove"),
    ("without_replacement", "replace_one"),
    ("poisson", "replace_one"),
)


def rows(text: str) -> dict[str, list[str]]:
    """The cells of every method's row of a table."""
    lines = [line for line in text.splitlines() if line.startswith("| `")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {first.strip("`"): rest for first, *rest in cells}


METHODS, COVERED = map(rows, TEXT.split("## What each covers"))


def release(letter: str, sampling: str, adjacency: str) -> Event:
    rate = 1.0 if sampling == "none" else 0.1
    return Event(KINDS[letter], sampling=sampling, sampling_rate=rate, adjacency=adjacency)  # type: ignore[arg-type]


def test_every_method_has_its_rows() -> None:
    assert list(METHODS) == list(COVERED) == list(ACCOUNTANTS)


@pytest.mark.parametrize("name", list(ACCOUNTANTS))
def test_titles_and_directions_are_those_of_the_screen(name: str) -> None:
    title, direction, _ = METHODS[name]
    assert title == accountant(name).title
    assert name in ("kov", "pld") or direction == accountant(name).kind


@pytest.mark.parametrize("name", list(ACCOUNTANTS))
def test_what_is_covered(name: str) -> None:
    for (sampling, adjacency), cell in zip(COLUMNS, COVERED[name], strict=True):
        found = [k for k in KINDS if covers(name, [release(k, sampling, adjacency)]) is None]
        assert (" ".join(found) or "–") == cell, (sampling, adjacency)
        for letter in set(KINDS) - set(found):
            assert "choose" in str(covers(name, [release(letter, sampling, adjacency)]))


@pytest.mark.parametrize("name", list(ACCOUNTANTS))
def test_samples_without_a_theorem_are_refused_by_all(name: str) -> None:
    fixed = ("without_replacement", "add_remove")
    parts = [(s, a) for s in ("poisson", "without_replacement") for a in ("label", "feature")]
    for sampling, adjacency in (fixed, *parts):
        for letter in KINDS:
            assert covers(name, [release(letter, sampling, adjacency)]) is not None
