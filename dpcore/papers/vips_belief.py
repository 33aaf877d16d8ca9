"""Sigmoid belief networks on digits: pixels reconstructed by minibatch size, printed and proved.

Park, Foulds, Chaudhuri, Welling 2020, Figure 8: sigma 1 and one pass over MNIST for each size, with
50 and 100 hidden units.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpcore.accounting import compose
from dpcore.accounting.wbk import as_printed
from dpcore.arrays import Array
from dpcore.datasets.load import load
from dpcore.fitting.api import fit_grid
from dpcore.models.sigmoid_belief import mathematics as belief
from dpcore.papers.claims import Row, ordered, trend
from dpcore.papers.reproduction import Run, experiment, values
from dpcore.privacy import Event, Gaussian, Privacy
from dpcore.privacy.guarantee import delta_text
from dpcore.wall.table import PrivateTable

SIZES = (400, 800, 1600, 3200)
UNITS = {50: SIZES, 100: SIZES}  # hidden units, and the sizes at which they are fitted
DELTA = 1e-4
DELTA_EACH = 1e-9  # of a release in the paper's strong composition
TESTED = 2000  # pictures that are given back
PLAIN, PRINTED, STRONG = "without privacy", "as printed, moments accountant", "as printed, strong"
PROVED = "proved, at the printed epsilon"
CURVES = (PLAIN, PRINTED, STRONG, PROVED)


@experiment(
    "VIPS, Figure 8: digits",
    ordered("the fit without privacy is better than the private one", PRINTED, PLAIN),
    ordered("the moments accountant is better than strong composition", STRONG, PRINTED),
    trend("larger minibatches are better", PRINTED, 1),
    ordered(
        "the printed epsilon holds", (PRINTED, "proved_epsilon"), (PRINTED, "claimed"), slack=1e-9
    ),
)
def figure_8(run: Run) -> str:
    """Sigmoid belief networks on MNIST: share of pixels reconstructed, by minibatch size.

    Needs ``mnist.npz``. Ten draws of the noise, 38 minutes of processor time each; the fit without
    privacy is one. Beside each printed epsilon stands what is proved.
    """
    table = load(run.ask.array("mnist.npz", "train_images", np.uint8))
    test = run.ask.array("mnist.npz", "test_images")[:TESTED].reshape(TESTED, -1) > 0
    pixels = test.astype(float)
    label = f"images per minibatch (sigma 1, delta = {delta_text(DELTA)}, one image replaced)"
    for units, sizes in run.progress(UNITS.items()):
        run.panel(_panel(units), label, "share of pixels reconstructed", f"MNIST, {_panel(units)}")
        for size in run.progress(sizes):
            claimed = float(
                np.asarray(compose(_events(size, 1.0), as_printed("wbk9"), delta=DELTA).epsilon)
            )
            for draw in run.progress(range(run.ask.drawn(10))):  # one by one: each is large
                for curve in CURVES[1:] if draw else CURVES:
                    share, proved = fitted(table, pixels, curve, units, size, claimed, draw)
                    facts: dict[str, Any] = {"claimed": claimed, "proved_epsilon": proved}
                    run.scores(curve, size, np.array([share]), **facts)
    return _finding(run.rows, float(1.0 - pixels.mean()))


def fitted(
    table: PrivateTable,
    pixels: Array,
    curve: str,
    units: int,
    size: int,
    claimed: float,
    draw: int,
) -> tuple[float, float | None]:
    """One fit: share of the test pixels ``(m, 784)`` that it gives back, and the proved epsilon."""
    words: dict[str, Any] | None = {
        PLAIN: None,
        PRINTED: {"noise_multiplier": 1.0, "mode": "paper"},
        STRONG: {"noise_multiplier": strong_sigma(claimed, size), "mode": "paper"},
        PROVED: {"epsilon": claimed},
    }[curve]
    private = words is not None
    grid = fit_grid(
        "sbn",
        table,
        privacy=[Privacy(delta=DELTA, accountant="pld", **words)] if words is not None else None,
        n_components=units,
        seed=0 if private else None,
        draws=range(draw, draw + 1) if private else range(1),
        as_private=not private,
        minibatch=size,
        epochs=1,
        forgetting=None if curve in (PRINTED, STRONG) else 0.8,
        threshold=0.0,
    )
    given_back = (belief.reconstructed(pixels, grid.runs.final, 0) > 0.5) == pixels
    return float(given_back.mean()), grid.guarantee().epsilon if private else None


def _panel(units: int) -> str:
    return f"{units} hidden units"


def strong_sigma(epsilon: float, size: int) -> float:
    """Noise of classical Gaussian releases that strong composition gives for an epsilon.

    Each is (epsilon_0, delta_0) on its sample, hence ``(log(1 + q (e^epsilon_0 - 1)), q delta_0)``.
    """
    share, steps = size / 60_000, 60_000 // size
    left = math.log(1.0 / (DELTA - steps * share * DELTA_EACH))
    low, high = 1e-6, 20.0
    for _ in range(80):
        middle = (low + high) / 2.0
        epsilon_each = math.log1p(share * math.expm1(middle))
        spent = (
            steps * epsilon_each * math.expm1(epsilon_each)
            + math.sqrt(2.0 * steps * left) * epsilon_each
        )
        low, high = (middle, high) if spent < epsilon else (low, middle)
    return math.sqrt(2.0 * math.log(1.25 / DELTA_EACH)) / low


def _events(size: int, sigma: float) -> tuple[Event, ...]:
    return (
        Event(
            Gaussian(sigma),
            count=60_000 // size,
            sampling="without_replacement",
            sampling_rate=size / 60_000,
        ),
    )


def _finding(rows: list[Row], trivial: float) -> str:
    """Each curve over the sizes, for each number of hidden units, and the trivial rival."""
    panels = []
    for units, sizes in UNITS.items():
        panel = _panel(units)
        parts = [
            f"{curve} {', '.join(f'{y:.3f}' for y in values(rows, curve, panel).values())}"
            for curve in CURVES
        ]
        panels.append(
            f"{panel}, minibatches of {', '.join(map(str, sizes))} images: {'; '.join(parts)}"
        )
    proved = [
        f"{row['claimed']:.3g} printed, {row['proved_epsilon']:.3g} proved"
        for row in rows
        if row["curve"] == PRINTED and row["panel"] == _panel(next(iter(UNITS)))
    ]
    return (
        f"Share of pixels reconstructed. {'. '.join(panels)}. All pixels off: {trivial:.3f}. "
        f"Epsilon: {'; '.join(proved)}."
    )
