"""Where the papers' figures can be played with, and which of them a bundled table stands for."""

from __future__ import annotations

from collections.abc import Mapping

from dpcore.registry import PAPERS

# Where a figure can be played with: the first name that it begins with.
PLAYED: dict[str, tuple[str, Mapping[str, str]]] = {
    "dp-em-figure-1": ("attack", {}),
    "dp-em-figure-4": ("explore", {"data": "places"}),
    "dp-em-figure-5": ("explore", {"data": "faces_like"}),
    "dp-em-table-kmeans": ("explore", {"data": "places"}),
    "dp-em-table-noise": ("compose", {}),
    "dp-em": ("explore", {"data": "life_science_like"}),
    "robust-em-figure-3": ("explore", {"data": "two_lines"}),
    "robust-em-figure-4": ("explore", {"data": "missing_answers"}),
    "robust-em": ("explore", {"data": "two_clouds"}),
    "gmm-release": ("explore", {"data": "five_parties"}),
    "vips-figure-4": ("explore", {"data": "who_comes_back"}),
    "vips-figure-5": ("explore", {"data": "who_comes_back"}),
    "vips-figure-6": ("explore", {"data": "who_comes_back"}),
    "vips-figure-8": ("explore", {"data": "lit_windows"}),
    "vips-table-epsilon": ("compose", {"preset": "vips_lda"}),
    "vips": ("explore", {"data": "few_bars"}),
}


def played(name: str) -> tuple[str, Mapping[str, str]]:
    """The page, and its state, on which a figure's method can be tried."""
    return next(place for start, place in PLAYED.items() if name.startswith(start))


def at_full_size(table: str) -> str | None:
    """The first figure of the papers that a bundled table stands for: its data are too large, or
    not ours, to come along, and its numbers were worked out earlier.
    """
    shown = (name for name in PAPERS if played(name) == ("explore", {"data": table}))
    return next(shown, None)
