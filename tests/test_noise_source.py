"""The noise source: streams keyed by seed, draw and secret; without a seed, never twice alike."""

from __future__ import annotations

import copy
import itertools
import os
import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from dpcore.datasets.documents import load_documents
from dpcore.errors import WallError
from dpcore.wall import noise as module
from dpcore.wall.noise import GridNoise, NoiseSource


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


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # of forks beside threads
@pytest.mark.parametrize("source", [NoiseSource(None), GridNoise(), NoiseSource(7)])
def test_the_child_of_a_fork_draws_no_noise(source: NoiseSource) -> None:
    """Two children drew the same noise, and their releases stood in no ledger of the parent."""
    child = os.fork()
    if child == 0:
        try:
            with pytest.raises(WallError):
                source.whole_numbers(2) if isinstance(source, GridNoise) else source.laplace((2,))
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert source.normal((2,)).size == 2


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


class Watched:
    """A stream that writes down which files draw from it."""

    def __init__(self, stream: np.random.Generator, files: list[str]) -> None:
        self.__dict__.update(stream=stream, files=files)

    def __getattr__(self, name: str) -> Any:
        self.files.append(sys._getframe(1).f_code.co_filename)
        return getattr(self.stream, name)


@pytest.fixture
def drawing(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Files that draw from a stream of privacy noise, while the test lasts."""
    files: list[str] = []
    made = NoiseSource._stream

    def stream(*key: Any) -> Any:
        return Watched(made(*key), files)

    monkeypatch.setattr(NoiseSource, "_stream", staticmethod(stream))
    return files


def table(**roles: str) -> dp.PrivateTable:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.random((60, 2)), columns=["x", "y"])
    frame["last"] = rng.integers(2, size=60)
    columns = [dp.Column(name, lower=0, upper=1) for name in ("x", "y")]
    end = dp.Column("last", lower=0, upper=1, type="binary", **roles)
    return dp.load(frame, schema=dp.Schema((*columns, end)))


ROWS = {"delta": 1e-3, "epsilon": 2.0}
FITS: list[tuple[str, dict[str, str], dict[str, Any], dict[str, Any]]] = [
    ("gmm", {}, {}, {"n_components": 2, "iterations": 2}),
    ("kmeans", {}, {}, {"n_components": 2}),
    ("fa", {}, {}, {"n_components": 1}),
    ("covariance", {}, {}, {}),
    ("ppca", {}, {}, {}),
    ("mean", {}, {}, {}),
    ("mean", {}, {"accountant": "linear"}, {"trust": "local_onebit"}),
    ("gmm-release", {"role": "label"}, {"adjacency": "label"}, {"method": "public_features"}),
    ("gmm-release", {"role": "label"}, {}, {"method": "staged"}),
    ("missing-regression", {"role": "target"}, {}, {}),
    ("logistic", {"role": "target"}, {}, {"algorithm": "vips", "minibatch": 10}),
    ("logistic", {"role": "target"}, {"adjacency": "add_remove"}, {"algorithm": "dpvi"}),
    ("logistic", {"role": "target"}, {"accountant": "linear"}, {"algorithm": "objective"}),
    ("sbn", {}, {}, {"n_components": 2, "iterations": 2}),
]


@pytest.mark.parametrize(("model", "roles", "privacy", "words"), FITS)
def test_a_fit_draws_from_its_streams_in_one_file(
    drawing: list[str],
    model: str,
    roles: dict[str, str],
    privacy: dict[str, Any],
    words: dict[str, Any],
) -> None:
    dp.fit(model, table(**roles), privacy=dp.Privacy(**(ROWS | privacy)), seed=0, **words)
    assert set(drawing) == {module.__file__}


@pytest.mark.parametrize("mode", ["proved", "paper"])
def test_so_does_a_fit_of_documents(drawing: list[str], mode: str, tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text("text\n" + "a b b\nb c\n" * 20)
    (tmp_path / "one.vocab.txt").write_text("a\nb\nc\n")
    documents = load_documents(tmp_path / "one.csv")
    privacy = dp.Privacy(**ROWS, mode=mode)
    dp.fit("lda", documents, privacy=privacy, seed=0, n_components=2, iterations=2)
    assert set(drawing) == {module.__file__}


def test_whoever_draws_from_a_stream_elsewhere_is_seen(drawing: list[str]) -> None:
    NoiseSource(0)._streams[0].random()
    assert drawing == [__file__]
