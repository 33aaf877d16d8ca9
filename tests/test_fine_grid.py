"""Integer noise on a fine grid: as private as the normal noise that it could be rounded from."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import quad

from dpcore.accounting import (
    accountant,
    calibrate,
    compose,
    covers,
    delta_of,
    epsilon_of,
    mu_of,
)
from dpcore.cli.questions import answer
from dpcore.errors import InputError
from dpcore.mechanisms.discrete_gaussian import SCALE
from dpcore.privacy import DiscreteGaussian, Event, Gaussian, Laplace
from dpcore.privacy.events import FINE
from dpcore.wall.noise import GridNoise

Array = NDArray[np.float64]
DELTA = 1e-5
ROUNDED = 3.0  # t of the lemma


def discrete(size: float, reach: int, moved: int = 0) -> Array:
    """Probabilities of -reach, ..., reach under discrete Gaussian noise on a whole number."""
    mass = np.exp(-((np.arange(-reach, reach + 1) - moved) ** 2) / (2.0 * size**2))
    return np.asarray(mass / mass.sum())


def rounded(size: float, k: int, spread: float = ROUNDED) -> float:
    """Probability of k where normal noise on 0 is rounded at random, by the lemma's words."""
    around = np.arange(-60, 61)

    def part(y: float) -> float:
        normal = math.exp(-(y**2) / (2.0 * (size**2 - spread**2)))
        weights = np.exp(-((around + round(y) - y) ** 2) / (2.0 * spread**2))
        return float(normal * math.exp(-((k - y) ** 2) / (2.0 * spread**2)) / weights.sum())

    total = quad(part, -12.0 * size, 12.0 * size, limit=400, epsabs=0.0, epsrel=1e-13)[0]
    return float(total / math.sqrt(2.0 * math.pi * (size**2 - spread**2)))


@pytest.mark.parametrize("size", [3.5, 5.0, 12.0])
def test_rounded_normal_noise_is_discrete_gaussian_noise(size: float) -> None:
    wanted = discrete(size, 150)
    for k in (0, 1, 2, 7, -11, 20):
        assert rounded(size, k) == pytest.approx(wanted[150 + k], rel=1e-11)


def test_the_rounding_must_be_over_several_steps() -> None:
    """Rounding over half a step gives another law: the test above can tell."""
    assert abs(rounded(3.5, 0, spread=0.3) / discrete(3.5, 150)[150] - 1.0) > 1e-4


def test_the_sum_of_the_lemma_is_as_even_as_it_says() -> None:
    largest = 2.0 * math.exp(-2.0 * math.pi**2 * ROUNDED**2)
    assert largest < 1.5e-77
    for spread in (0.4, 0.5, 0.6):  # where it shows
        places = np.linspace(0.0, 1.0, 101)
        sums = np.exp(-((np.arange(-30, 31) - places[:, None]) ** 2) / (2 * spread**2)).sum(axis=1)
        off = np.abs(sums / (spread * math.sqrt(2.0 * math.pi)) - 1.0).max()
        assert off == pytest.approx(2.0 * math.exp(-2.0 * math.pi**2 * spread**2), rel=0.01)


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0, 2.5])
@pytest.mark.parametrize(("size", "move"), [(4.0, (1, 0)), (8.0, (3, 4)), (6.0, (5, -5))])
def test_a_vector_is_as_private_as_the_lemma_says(
    size: float, move: tuple[int, int], epsilon: float
) -> None:
    """delta of two neighbouring vectors of two numbers, added up over the whole grid."""
    reach = 90
    first, *others = (discrete(size, reach, moved) for moved in (0, *move))
    here, there = np.outer(first, first), np.outer(*others)
    delta = float(np.maximum(here - math.exp(epsilon) * there, 0.0).sum())
    length = math.hypot(*move)
    bound = float(delta_of(epsilon, length / math.sqrt(size**2 - ROUNDED**2)))
    assert delta <= bound * (1.0 + 1e-9)
    assert delta >= 0.5 * float(delta_of(epsilon, length / size))


def test_a_fine_grid_costs_what_normal_noise_costs() -> None:
    fine = [Event(DiscreteGaussian(4.0, None, SCALE), count=3), Event(Gaussian(7.0))]
    normal = [Event(Gaussian(4.0), count=3), Event(Gaussian(7.0))]
    for name in ("exact", "pld", "zcdp", "zcdp_tight", "rdp", "ma", "linear", "advanced"):
        cost, usual = (
            float(compose(events, name, delta=DELTA).epsilon) for events in (fine, normal)
        )
        assert usual < cost * (1.0 + 1e-12)
        assert cost == pytest.approx(usual, rel=1e-9)
    noise = calibrate([Event(DiscreteGaussian(1.0, None, SCALE))], 1.0, DELTA)
    assert noise == pytest.approx(1.0 / float(mu_of(1.0, DELTA)), rel=1e-9)
    assert noise > 1.0 / float(mu_of(1.0, DELTA))
    both = [*fine, Event(Laplace(5.0))]
    assert compose(both, "pld", delta=DELTA).epsilon < compose(both, "rdp", delta=DELTA).epsilon


def test_what_is_taken_off_covers_the_lemma() -> None:
    continuous = Event(DiscreteGaussian(1.0, None, FINE)).continuous.mechanism
    assert isinstance(continuous, Gaussian)
    assert continuous.noise_multiplier < math.sqrt(1.0 - ROUNDED**2 / FINE**2) - 1e-13
    assert GridNoise.steps == SCALE >= FINE


def test_entries_of_a_release_are_read_as_what_they_are() -> None:
    """In JSON: no number of steps says that it is of a vector, not of a number on a coarse grid."""
    one = {"mechanism": "discrete_gaussian", "noise_multiplier": 4.0}
    vector = answer({"events": [{**one, "steps": None}], "delta": DELTA, "method": "pld"})
    number = answer({"events": [one], "delta": DELTA, "method": "pld"})
    assert "error" in vector
    assert "error" not in number
    steps = {"steps": None, "noise_steps": SCALE}
    fine = answer({"events": [{**one, **steps}], "delta": DELTA, "method": "exact"})
    assert fine["epsilon"] == pytest.approx(float(epsilon_of(DELTA, 0.25)), rel=1e-9)


def test_a_grid_that_is_not_known_to_be_fine_has_its_zcdp_alone() -> None:
    for steps in (None, 1, FINE - 1):
        events = [Event(DiscreteGaussian(4.0, None, steps))]
        assert covers("exact", events) is not None
        assert covers("pld", events) is not None
        assert covers("zcdp_tight", events) is None
    with pytest.raises(InputError, match="steps are for one number"):
        DiscreteGaussian(1.0, 2, SCALE)
    with pytest.raises(InputError, match="noise_steps: 0 is below 1"):
        DiscreteGaussian(1.0, None, 0)
    assert accountant("exact").assumptions == ("noise is drawn from the exact distribution",)
