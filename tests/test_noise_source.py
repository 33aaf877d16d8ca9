"""The noise source: streams keyed by seed, draw and secret; without a seed, never twice alike."""

from __future__ import annotations

import copy
import itertools
import pickle

import numpy as np
import pytest

from dpcore.wall.noise import NoiseSource


def noise(seed: int | None, draw: int = 0, secret: bytes = b"") -> np.ndarray:
    return NoiseSource(seed, [draw], secret).normal((8,))[0]


def test_a_seed_repeats_its_noise() -> None:
    np.testing.assert_array_equal(noise(3, 5, b"key"), noise(3, 5, b"key"))


def test_seed_draw_and_secret_each_make_another_stream() -> None:
    keys = itertools.product((0, 1, 10), (0, 1, 10), (b"", b"a", b"b"))
    drawn = np.array([noise(*key) for key in keys])
    assert len(np.unique(drawn)) == drawn.size


def test_keys_are_not_run_together() -> None:
    """Seed 1, draw 11 and seed 11, draw 1 are two streams; so are 1 and -1."""
    assert not np.any(noise(1, 11) == noise(11, 1))
    assert not np.any(noise(-1) == noise(1))


def test_a_draw_keeps_its_noise_whatever_else_is_drawn() -> None:
    alone = NoiseSource(7, [2])
    many = NoiseSource(7, [5, 2, 0])
    for _ in range(3):
        for shape in ((4,), (2, 3), ()):
            np.testing.assert_array_equal(alone.normal(shape)[0], many.normal(shape)[1])
            np.testing.assert_array_equal(alone.laplace(shape)[0], many.laplace(shape)[1])


def test_a_stream_goes_on_and_never_repeats() -> None:
    source = NoiseSource(7, [0])
    drawn = np.concatenate([source.normal((1000,))[0] for _ in range(3)])
    assert len(np.unique(drawn)) == drawn.size


def test_system_entropy_never_repeats() -> None:
    sources = [NoiseSource(None, range(4)) for _ in range(50)]
    drawn = np.array([source.normal((4,)) for source in sources])
    assert len(np.unique(drawn)) == drawn.size


def test_system_entropy_knows_no_global_seed() -> None:
    seen = []
    for _ in range(2):
        np.random.seed(0)  # noqa: NPY002
        seen.append(noise(None))
    assert not np.any(seen[0] == seen[1])


def test_a_seed_is_a_rehearsal_and_no_seed_is_not() -> None:
    assert NoiseSource(0).rehearsal
    assert not NoiseSource(None).rehearsal


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, pickle.dumps])
@pytest.mark.parametrize("seed", [None, 3])
def test_a_source_is_never_copied(again: object, seed: int | None) -> None:
    with pytest.raises(TypeError, match="never copied"):
        again(NoiseSource(seed))  # type: ignore[operator]


def test_a_source_does_not_show_its_seed_or_secret() -> None:
    text = repr(NoiseSource(987654, [0], b"hush"))
    assert "987654" not in text
    assert "hush" not in text


@pytest.mark.parametrize("law", ["normal", "laplace"])
def test_streams_have_the_standard_law(law: str) -> None:
    """Mean 0 and variance 1 or 2, within six standard errors, for several seeds."""
    for seed in range(5):
        drawn = getattr(NoiseSource(seed, range(3)), law)((20_000,))
        variance, fourth = (1.0, 3.0) if law == "normal" else (2.0, 24.0)
        assert np.all(np.abs(drawn.mean(axis=1)) < 6 * np.sqrt(variance / 20_000))
        error = np.sqrt((fourth - variance**2) / 20_000)
        assert np.all(np.abs(drawn.var(axis=1) - variance) < 6 * error)
