"""Frames of classes that follow what was released: exact without noise, total, alike where noise
leaves nothing else to be seen."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from support import examples

from dpcore.arrays import Array
from dpcore.datasets.labelled import labelled_classes, labelled_table
from dpcore.datasets.load import load
from dpcore.fitting.api import fit_grid
from dpcore.models.labelled_mixture.class_steps import Classes
from dpcore.models.labelled_mixture.mathematics import LabelledMixture
from dpcore.models.labelled_mixture.scoring import YARDSTICK, ClassScorer, class_divergence
from dpcore.privacy import Privacy
from dpcore.wall.data import whitening
from dpcore.wall.statistics.mixture_moments import NoisyMoments
from dpcore.wall.table import PrivateTable

ROWS = 1000.0
FAR = 30.0  # a ball that holds every class


def released(classes: Classes, means: Array, shapes: Array, noise: Array) -> NoisyMoments:
    """Moments in the frames of B runs of K classes with these means ``(K, d)`` and covariances
    ``(K, d, d)``, inside a ball that holds all rows; noise ``(B,)``: its deviation in a mean, where
    the ball has radius 1."""
    runs, number, _ = classes.means.shape
    white = whitening(classes.covariances)[0] / FAR
    centre = (white @ (means - classes.means)[..., None])[..., 0]
    squares = white @ shapes @ white + centre[..., None] * centre[..., None, :]
    counts = np.full((runs, number), ROWS)
    return NoisyMoments(counts, ROWS * centre, ROWS * squares, 0.0 * noise, *(2 * [ROWS * noise]))


def unseen(runs: int, number: int, dim: int) -> Classes:
    return Classes.unseen(np.zeros((runs, number, dim)), np.tile(np.eye(dim), (runs, number, 1, 1)))


def after(classes: Classes, noisy: NoisyMoments) -> Classes:
    sizes = np.full(classes.means.shape[:2], ROWS)
    return classes.after(noisy, sizes, FAR * np.ones_like(sizes), np.ones_like(sizes))


def test_without_noise_frames_come_to_the_classes_however_narrow_they_are() -> None:
    rng = np.random.default_rng(0)
    roots = rng.standard_normal((3, 2, 2))
    means = rng.standard_normal((3, 2))
    shapes = roots @ np.swapaxes(roots, 1, 2) * np.array([1.0, 1e-2, 1e-3])[:, None, None]
    classes, none = unseen(1, 3, 2), np.zeros(1)
    for _ in range(12):
        classes = after(classes, released(classes, means, shapes, none))
    np.testing.assert_allclose(classes.means[0], means, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(classes.covariances[0], shapes, rtol=1e-6, atol=1e-12)
    assert np.all(classes.doubt < 1e-12)
    for target in ("reverse", "forward"):
        np.testing.assert_allclose(classes.serving(target)[0], shapes, rtol=1e-6, atol=1e-12)


def test_where_noise_hides_classes_their_shapes_are_alike() -> None:
    """Forty classes, every second one wider: noise of one class hides this, that of all does not
    hide that all are narrower than their frames."""
    shapes = np.tile(np.eye(2), (40, 1, 1)) * np.where(np.arange(40) % 2, 0.4, 0.8)[:, None, None]
    start, noise = unseen(2, 40, 2), np.array([1e-9, 2e-3])
    noisy = released(start, np.zeros((40, 2)), shapes, noise)
    shaken = noisy.squares.copy()
    shaken[1] += (
        np.random.default_rng(0).standard_normal(40)[:, None, None] * ROWS * 2e-3 * np.eye(2)
    )
    noisy = NoisyMoments(
        noisy.counts, noisy.sums, shaken, noisy.counts_sd, noisy.sums_sd, noisy.squares_sd
    )
    exact, hidden = np.log(np.linalg.det(after(start, noisy).covariances)) / 2.0
    raw = FAR**2 * shaken[1, :, 0, 0] / ROWS
    assert np.ptp(exact) == pytest.approx(np.log(2.0), rel=1e-3)
    assert hidden.std() < 0.2 < 5.0 * hidden.std() < raw.std()
    assert hidden.mean() == pytest.approx(np.log(0.6), abs=0.25)


def test_a_run_does_not_depend_on_the_others_of_its_batch() -> None:
    rng = np.random.default_rng(1)
    start = unseen(3, 4, 3)
    noisy = released(
        start,
        rng.standard_normal((4, 3)),
        np.tile(np.eye(3), (4, 1, 1)),
        np.array([0.0, 1e-3, 1.0]),
    )
    whole = after(start, noisy)
    for run in range(3):
        part = slice(run, run + 1)
        alone = after(
            unseen(1, 4, 3), NoisyMoments(*(field[part] for field in vars(noisy).values()))
        )
        for name, field in vars(alone).items():
            np.testing.assert_array_equal(field, getattr(whole, name)[part], err_msg=name)


NUMBERS = st.floats(allow_nan=True, allow_infinity=True)


@examples(150)
@given(
    arrays(np.float64, (2, 3), elements=NUMBERS),
    arrays(np.float64, (2, 3, 2), elements=NUMBERS),
    arrays(np.float64, (2, 3, 2, 2), elements=NUMBERS),
    st.one_of(st.floats(0.0, 1e12), st.just(np.inf)),
    st.floats(1.0, 1e6),
)
def test_any_released_numbers_give_frames(
    counts: Array, sums: Array, squares: Array, sd: float, rows: float
) -> None:
    noise, sizes = np.full(2, sd), np.full((2, 3), rows)
    noisy = NoisyMoments(counts, sums, squares, noise, noise, noise)
    classes = unseen(2, 3, 2)
    for _ in range(4):
        classes = classes.after(noisy, sizes, 2.0 * np.ones((2, 3)), np.full((2, 3), 0.9))
        for field in (*vars(classes).values(), classes.doubt):
            assert np.all(np.isfinite(field))
    for target in ("reverse", "forward"):
        assert np.all(np.linalg.eigvalsh(classes.serving(target)) > 0.0)


def fits_of(
    table: PrivateTable, epsilon: float, target: str = "reverse"
) -> tuple[LabelledMixture, ClassScorer]:
    """Forty draws where a row may be replaced, and the exact classes."""
    request = Privacy(epsilon=epsilon, delta=1e-5, adjacency="replace_one")
    grid = fit_grid(
        "gmm-release",
        table,
        privacy=(request,),
        draws=range(40),
        seed=2,
        method="staged",
        target=target,
    )
    return grid.runs.final, ClassScorer.judging(table, None)


@pytest.mark.parametrize(("target", "before"), [("reverse", 13.45), ("forward", 3.11)])
def test_few_rows_lose_less_than_where_every_class_was_measured_by_itself(
    target: str, before: float
) -> None:
    """Irises at epsilon 2; before: the median where each class had four releases of its own."""
    fits, scorer = fits_of(load("bundled:iris"), 2.0, target)
    metric = {"reverse": "reverse_kl", "forward": "kl"}[target]
    assert np.median(YARDSTICK.measure(fits, scorer, metric)) < 0.9 * before


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0, 16.0])
def test_the_doubt_is_about_what_noise_costs_or_more(epsilon: float) -> None:
    """Who reads too little of it would trust too much."""
    rows, kinds, _ = labelled_classes(1000, 5, 3, np.random.default_rng(1))
    fits, scorer = fits_of(labelled_table(rows, kinds), epsilon)
    divergence = np.median(class_divergence(fits, scorer.exact), axis=0)
    ratio = np.median(fits.doubt, axis=0) / divergence
    assert 0.5 < np.median(ratio) < 100.0
    assert np.median(fits.doubt) > 1.0 or epsilon > 0.5
