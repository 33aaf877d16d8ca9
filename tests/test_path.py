"""The path: every curve that a reader is shown is worked out again, by other means."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
import scipy
from scipy.optimize import brentq
from studio.answers import delta_of

from app import path
from app.lesson import sections
from app.path import DELTA, Screen
from app.static_page import document
from dpcore.accounting import guess_rate
from dpcore.figures.scene import at_step
from dpcore.privacy import Event, Laplace

QUICK = {one.__name__: one for one in path.SCREENS if one is not path.em}


@cache
def made(name: str) -> Screen:
    return path.em() if name == "em" else QUICK[name]()


def tail_of(epsilon: float) -> float:
    """Delta of noise as large as the sensitivity, by its definition."""
    return float(
        scipy.integrate.quad(
            lambda loss: -math.expm1(epsilon - loss) * scipy.stats.norm.pdf(loss - 0.5),
            epsilon,
            14.0,
        )[0]
    )


def spent(count: float) -> float:
    """Epsilon of so many Gaussian releases of 0.1."""
    mu = brentq(lambda mu: delta_of(mu, 0.1) - DELTA, 1e-3, 1.0)
    return float(brentq(lambda e: delta_of(math.sqrt(count) * mu, e) - DELTA, 1e-6, 20.0))


def error_of(threshold: float) -> float:
    """Root mean square error of a clipped mean of a thousand incomes with Laplace noise."""
    incomes = scipy.stats.lognorm(0.8, scale=40.0)
    bias = scipy.integrate.quad(
        lambda x: (x - threshold) * incomes.pdf(x), threshold, 20_000.0, limit=200
    )[0]
    return math.sqrt(bias**2 + 2.0 * (threshold / (1_000 * 0.05)) ** 2)


def reached(alarms: float) -> float:
    """Hits at so many false alarms, in percent: noise of 2 * 36.86 / 100 for a change of 2."""
    return float(100.0 * scipy.stats.norm.sf(scipy.stats.norm.isf(alarms / 100.0) - 100.0 / 36.86))


TRUTHS: dict[str, Callable[[float], float]] = {
    "coin": lambda e: 100.0 * float(guess_rate([Event(Laplace(1.0 / e))])),
    "bet": lambda e: 100.0 * math.exp(e) / (9.0 + math.exp(e)),
    "sensitivity": lambda people: 100.0 / people,
    "clipping": error_of,
    "tail": tail_of,
    "composition": spent,
    "sampling": lambda q: math.log((1.0 - q) + q * math.exp(4.0)),
    "refuted": reached,
}


@pytest.mark.parametrize("name", QUICK)
def test_the_true_curve_is_worked_out_again(name: str) -> None:
    screen = made(name)
    some = slice(1, -1, max(1, len(screen.x) // 9))
    again = [TRUTHS[name](float(x)) for x in screen.x[some]]
    assert screen.truth[some] == pytest.approx(again, rel=2e-3)


@pytest.mark.parametrize("name", QUICK)
def test_the_true_curve_is_in_sight_and_the_mark_on_the_picture(name: str) -> None:
    screen = made(name)
    (panel,) = (one for one in screen.scene.panels if one.id == "guess")
    low, high = panel.y.range
    assert np.all((screen.truth >= low) & (screen.truth <= high))
    assert panel.x.range == (screen.x[0], screen.x[-1])
    where, x, y = screen.handle
    (other,) = (one for one in screen.scene.panels if one.id == where)
    for axis, values in ((other.x, x), (other.y, y)):
        assert len(values) == len(screen.scene.steps)
        assert np.all((values >= axis.range[0]) & (values <= axis.range[1]))
    assert len(set(zip(x.round(9), y.round(9), strict=True))) == len(x), "a mark that sticks"


def test_the_filled_area_is_the_delta_that_is_asked_for() -> None:
    screen = made("tail")
    _, area, _ = screen.scene.panels[0].layers
    for step in (0, 10, 25):
        height = at_step(area.hi, step, 1)  # type: ignore[union-attr]
        filled = np.trapezoid(height, at_step(area.x, step, 1))  # type: ignore[union-attr]
        assert filled == pytest.approx(tail_of(screen.scene.steps[step]), rel=0.02)


def test_numbers_in_the_words_are_those_of_the_curves() -> None:
    after = {name: sections("path.md")[screen][-1] for name, screen in
             (("composition", "composition"), ("bet", "bet"))}  # fmt: skip
    (told,) = re.findall(r"cost ([\d.]+) together, not 10", after["composition"])
    assert float(told) == pytest.approx(spent(100), rel=3e-3)
    (belief,) = re.findall(r"10% can rise to (\d+)% at most", after["bet"])
    assert float(belief) == round(TRUTHS["bet"](1.0))


def test_every_screen_has_all_its_words() -> None:
    texts = sections("path.md")
    assert len(texts) == len(path.SCREENS) == 9
    for title, *paragraphs in texts.values():
        assert title
        assert len(paragraphs) == len(path.WORDS)
    assert "Park et al. (2017) add noise scaled to" in texts["break"][1]


@pytest.mark.merge
def test_more_steps_are_worse_and_without_noise_better() -> None:
    screen = made("em")
    best = int(np.argmax(screen.truth))
    assert 0 < best < 6
    assert screen.truth[-1] < screen.truth[best] - 10.0
    assert np.all((screen.truth > 0.0) & (screen.truth < 100.0))
    assert [panel.id for panel in screen.scene.panels] == ["plain", "private", "guess"]


def test_a_page_of_the_path_ends_no_script_early() -> None:
    screens = [made(name).as_dict() for name in QUICK]
    assert len({one["name"] for one in screens}) == len(QUICK)
    text = document("Path", "", {"path": screens})
    assert text.count("</script>") == 2
    assert len(text) < 1_000_000
    assert "NaN" not in json.dumps(screens, allow_nan=False)
