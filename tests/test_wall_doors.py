"""Doors: what leaves carries the noise that the ledger states, and rows leave no other way."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import math
import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from threading import Event
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
import wording
from scipy.special import kolmogorov, ndtr
from sealed_rows import session_of
from support import every

from dpcore.errors import InputError, WallError
from dpcore.privacy import Gaussian, Laplace, LedgerEntry
from dpcore.schema import Schema
from dpcore.wall import session as doors
from dpcore.wall.custodian import custodian_rows
from dpcore.wall.data.clipping import bounded_rows
from dpcore.wall.data.clipping_frame import Frame
from dpcore.wall.kernels import bounded_sums as moments
from dpcore.wall.kernels import threads
from dpcore.wall.kernels.bounded_sums import EStep, Rows, bounded_sum
from dpcore.wall.kernels.row_blocks import Block
from dpcore.wall.noise import GridNoise, NoiseSource
from dpcore.wall.session import Noise, Session
from dpcore.wall.statistics.cluster_moments import ClusterMoments, NoisyClusters
from dpcore.wall.statistics.group_moments import GroupMoments, InGroups
from dpcore.wall.statistics.mixture_moments import InFrame, MixtureMoments, NoisyMoments
from dpcore.wall.statistics.second_moments import SecondMoments
from dpcore.wall.statistics.statistic import BLOCKS, STRUCTURES, Statistic
from dpcore.wall.table import PrivateTable

SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.full) for seed in (1, 2))]
TELLTALE = 1234.5678
SCHEMA = Schema.from_bounds({"a": (0, 5000), "b": (0, 5000)})
FRAME = Frame.identity(2, math.sqrt(2))
SURE = 1e-6  # chance that a right test fails


def sealed(rows: object = None, schema: Schema = SCHEMA) -> PrivateTable:
    cells = [[TELLTALE, 1.0], [2.0, 3.0]] if rows is None else rows
    return PrivateTable.seal(pd.DataFrame(cells, columns=list(schema.features)), schema)


def session(runs: int = 1, **options: Any) -> Session:
    return session_of(sealed(), runs=runs, **options)


def shape(structure: str = "full", components: int = 2, dim: int = 2) -> MixtureMoments:
    weights = np.array([0.5, 1.0, 3.0])
    return MixtureMoments.normalised(
        components,
        dim,
        structure,
        math.sqrt(2),
        weights,  # type: ignore[arg-type]
    )


def nobody(block: Block, runs: slice) -> np.ndarray:
    """Weight 0 for every row: what leaves is the noise alone."""
    return np.zeros((runs.stop - runs.start, 2, block.count))


def noises(law: str, multiplier: float) -> tuple[Noise, ...]:
    return (Noise(law, multiplier),)


# ------------------------------------------------------------------ the ledger


@pytest.mark.parametrize("adjacency", ["replace_one", "add_remove"])
@pytest.mark.parametrize("persons_rows", [1, 3])
def test_every_release_is_one_entry_with_the_noise_asked_for(
    adjacency: str, persons_rows: int
) -> None:
    run = session(adjacency=adjacency, rows_per_person=persons_rows)
    for releases, multiplier in enumerate((0.5, 7.0), start=1):
        run.release("sums", shape(), InFrame(FRAME, nobody), noises("gaussian", multiplier))
        assert len(run.ledger) == releases
        entry = run.ledger.entries[-1]
        assert isinstance(entry.event.mechanism, Gaussian)
        assert entry.event.mechanism.noise_multiplier == pytest.approx(multiplier, rel=1e-12)
        assert entry.event.mechanism.noise_multiplier <= multiplier * (1 + 1e-15)
        assert entry.sensitivity == pytest.approx(persons_rows * shape().l2_sensitivity(adjacency))
        assert (entry.noise, entry.count, entry.adjacency) == ("gaussian", 1, adjacency)
        assert entry.proof


def test_each_noise_of_a_release_is_an_entry_of_its_own() -> None:
    run = session(rows_per_person=2)
    parts = (
        Noise("laplace", 3.0, ("counts",)),
        Noise("laplace", 5.0, ("sums",)),
        Noise("gaussian", 7.0, ("squares",)),
    )
    run.release("step", shape(), InFrame(FRAME, nobody), parts)
    found = [entry.event.mechanism for entry in run.ledger]
    assert isinstance(found[0], Laplace)
    assert isinstance(found[1], Laplace)
    assert isinstance(found[2], Gaussian)
    assert [found[0].scale, found[1].scale] == pytest.approx([3.0, 5.0])
    assert found[2].noise_multiplier == pytest.approx(7.0)
    stated = [entry.sensitivity for entry in run.ledger]
    form = shape()
    true = [
        form.l1_sensitivity("replace_one", "counts"),
        form.l1_sensitivity("replace_one", "sums"),
        form.l2_sensitivity("replace_one", "squares"),
    ]
    assert stated == pytest.approx([2 * value for value in true])
    assert found[0].l2_ratio == pytest.approx(1 / math.sqrt(2))
    assert found[1].l2_ratio == pytest.approx(1 / math.sqrt(2))


@every(
    "kind, adjacency, together",
    product(
        (NoiseSource, GridNoise),
        ("replace_one", "add_remove"),
        (("counts",), ("counts", "sums"), ("counts", "squares"), ("sums", "squares"), BLOCKS),
    ),
)
def test_what_leaves_together_states_its_joint_sensitivity_for_all_rows_of_a_person(
    kind: type[NoiseSource], adjacency: str, together: tuple[str, ...]
) -> None:
    source = GridNoise() if kind is GridNoise else NoiseSource(0)
    run = session(noise=source, adjacency=adjacency, rows_per_person=3)
    rest = tuple(block for block in BLOCKS if block not in together)
    parts = [Noise("gaussian", 2.0, part) for part in (together, rest) if part]
    run.release("sums", shape(), InFrame(FRAME, nobody), tuple(parts))
    alone = [shape().l2_sensitivity(adjacency, block) for block in together]
    joint = math.hypot(*alone) if rest else shape().l2_sensitivity(adjacency)
    entry = run.ledger.entries[0]
    assert 1 - 1e-12 <= entry.sensitivity / (3 * joint) < 1.01  # sums of 4 million rows round
    assert entry.noise_scale >= 2.0 * entry.sensitivity * (1 - 1e-15)


def test_where_rows_come_and_go_no_entry_of_a_release_tells_how_many_there_are() -> None:
    def entries(count: int) -> list[dict[str, Any]]:
        table = sealed(np.full((count, 2), TELLTALE))
        source = {"noise": GridNoise(), "draws": np.zeros(1, dtype=np.intp)}
        run = Session(table, adjacency="add_remove", **source)  # type: ignore[arg-type]
        run.release("sums", shape(), InFrame(FRAME, nobody), noises("gaussian", 2.0))
        nearest(run)
        run.release("second moments", SQUARES, None, Noise("gaussian", 2.0))
        return run.ledger.as_list()

    assert repr(entries(2)) == repr(entries(3000))


def test_a_grid_of_runs_states_the_noise_of_each_run() -> None:
    run = session(3)
    run.release(
        "sums", shape(), InFrame(FRAME, nobody), Noise("gaussian", np.array([1.0, 2.0, 4.0]))
    )
    found = [run.ledger.at(i).events[0].mechanism.noise_multiplier for i in range(3)]  # type: ignore[union-attr]
    assert found == pytest.approx([1.0, 2.0, 4.0])


def test_nothing_is_written_when_nothing_leaves() -> None:
    def broken(block: Block, runs: slice) -> np.ndarray:
        raise RuntimeError("model")

    run = session()
    with pytest.raises(RuntimeError, match="model"):
        run.release("sums", shape(), InFrame(FRAME, broken), noises("gaussian", 1.0))
    assert len(run.ledger) == 0


def test_without_privacy_the_ledger_says_unprotected() -> None:
    run = session(private=False)
    run.release("sums", shape(), InFrame(FRAME, nobody), noises("gaussian", 5.0))
    (entry,) = run.ledger
    assert entry.noise == "none"
    assert entry.event.mechanism == Gaussian(0.0)


# ------------------------------------------------------------------ refusals


def test_plain_rows_leave_where_nothing_is_private_alone_and_read_only() -> None:
    with pytest.raises(WallError):
        session().plain_rows()
    run = session(private=False)
    rows = run.plain_rows()
    assert not rows.flags.writeable
    assert [entry.proof for entry in run.ledger.entries] == [None]


@pytest.mark.parametrize("law", ["gaussian", "laplace"])
@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf, np.array([1.0, 0.0])])
def test_noise_that_does_not_protect_is_refused_before_anything_is_summed(
    law: str, bad: float | np.ndarray
) -> None:
    def untouchable(block: Block, runs: slice) -> np.ndarray:
        raise AssertionError("the rows were touched")

    run = session(2)
    with pytest.raises(InputError, match="noise_multiplier"):
        run.release("sums", shape(), InFrame(FRAME, untouchable), Noise(law, bad))
    last = (Noise("gaussian", 1.0, ("counts", "sums")), Noise(law, bad, ("squares",)))
    with pytest.raises(InputError, match="noise_multiplier"):
        run.release("sums", shape(), InFrame(FRAME, untouchable), last)
    assert len(run.ledger) == 0


@pytest.mark.parametrize(
    "wrong",
    [
        Noise("uniform", 1.0),
        Noise("gaussian", 1.0, widen_off_diagonal=0.9),
        Noise("gaussian", 1.0, widen_off_diagonal=math.nan),
    ],
)
def test_unknown_or_narrowed_noise_is_refused(wrong: Noise) -> None:
    with pytest.raises(InputError, match="noise"):
        session().release("sums", shape(), InFrame(FRAME, nobody), wrong)


@pytest.mark.parametrize(
    "blocks", [("counts", "sums"), ("counts", "sums", "squares", "squares"), ()]
)
def test_a_block_without_noise_or_with_two_is_refused(blocks: tuple[Any, ...]) -> None:
    run = session()
    with pytest.raises(WallError, match="exactly one noise"):
        run.release("sums", shape(), InFrame(FRAME, nobody), Noise("gaussian", 1.0, blocks))
    assert len(run.ledger) == 0


@pytest.mark.parametrize("radius", [1.42, math.inf, math.nan, -1.0, 0.0])
def test_a_frame_that_does_not_bound_the_rows_is_refused(radius: float) -> None:
    run = session()
    with pytest.raises(WallError, match="ball"):
        run.release(
            "s", shape(), InFrame(Frame.identity(2, radius), nobody), noises("gaussian", 1.0)
        )
    assert len(run.ledger) == 0


# ------------------------------------------------------------------ noise drawn = noise stated


def drawn(
    law: str, structure: str, *, seed: int = 0, runs: int = 4000, **noise: Any
) -> tuple[NoisyMoments, LedgerEntry, MixtureMoments]:
    """Noise alone, from many runs, with the entry that stands for it."""
    run, form = session(runs, seed=seed), shape(structure)
    noisy = run.release("noise", form, InFrame(FRAME, nobody), Noise(law, 2.0, **noise))
    return noisy, run.ledger.at(0).entries[0], form


def coordinates(noisy: NoisyMoments, form: MixtureMoments) -> dict[str, np.ndarray]:
    """Every coordinate of the noise, in block units; symmetric squares without repetition."""
    squares = noisy.squares
    if form.structure == "full":
        upper = math.sqrt(2) * squares[..., 0, 1, None]
        squares = np.concatenate([np.diagonal(squares, axis1=-2, axis2=-1), upper], axis=-1)
    return {"counts": noisy.counts, "sums": noisy.sums, "squares": squares}


def agrees(sample: np.ndarray, law: str, scale: float) -> float:
    """p-value of Kolmogorov and Smirnov's test that a sample has this law and scale."""
    x = np.sort(sample.ravel()) / scale
    tail = 0.5 * np.exp(-np.abs(x))
    below = ndtr(x) if law == "gaussian" else np.where(x < 0, tail, 1 - tail)
    steps = np.arange(len(x) + 1) / len(x)
    gap = max(np.max(steps[1:] - below), np.max(below - steps[:-1]))
    return float(kolmogorov(math.sqrt(len(x)) * gap))


@pytest.mark.parametrize("law", ["gaussian", "laplace"])
@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("seed", SEEDS)
def test_noise_drawn_is_the_noise_stated(law: str, structure: str, seed: int) -> None:
    """The stated scale passes; one that is wrong by a tenth fails, either way."""
    noisy, entry, form = drawn(law, structure, seed=seed)
    together = []
    for block, sample in coordinates(noisy, form).items():
        scale = entry.noise_scale * form.scale(block)  # type: ignore[arg-type]
        assert agrees(sample, law, scale) > SURE
        sd = getattr(noisy, f"{block}_sd")
        assert sd == pytest.approx(scale * (math.sqrt(2) if law == "laplace" else 1.0))
        together.append((sample / scale).ravel())
    every = np.concatenate(together)
    assert agrees(every, law, 1.0) > SURE
    assert agrees(every, law, 1.1) < SURE
    assert agrees(every, law, 0.9) < SURE


def test_noise_is_at_least_what_was_asked() -> None:
    _, entry, form = drawn("gaussian", "full", runs=1)
    assert entry.noise_scale >= 2.0 * form.l2_sensitivity("replace_one")
    assert entry.noise_scale <= 2.0 * form.l2_sensitivity("replace_one") * (1 + 1e-15)


@pytest.mark.parametrize("seed", SEEDS)
def test_noise_on_symmetric_squares_is_isometric(seed: int) -> None:
    """In every direction of symmetric matrices the noise has the same size."""
    noisy, _, _ = drawn("gaussian", "full", seed=seed, runs=20_000)
    squares = noisy.squares
    np.testing.assert_array_equal(squares, np.swapaxes(squares, -1, -2))
    rng = np.random.default_rng(seed)
    sd = float(noisy.squares_sd[0])
    for _ in range(4):
        direction = rng.normal(size=(2, 2))
        direction = direction + direction.T
        direction /= np.linalg.norm(direction)
        along = np.einsum("bkij,ij->bk", squares, direction)
        assert agrees(along, "gaussian", sd) > SURE
        assert agrees(along, "gaussian", 1.1 * sd) < SURE
    assert agrees(squares[..., 0, 1], "gaussian", sd / math.sqrt(2)) > SURE


def test_widened_noise_is_wider_beside_the_diagonal_only() -> None:
    noisy, _, _ = drawn("gaussian", "full", runs=20_000, widen_off_diagonal=math.sqrt(2))
    sd = float(noisy.squares_sd[0])
    assert agrees(noisy.squares[..., 0, 1], "gaussian", sd) > SURE
    assert agrees(np.diagonal(noisy.squares, axis1=-2, axis2=-1), "gaussian", sd) > SURE


def test_noise_of_coordinates_components_and_runs_is_independent() -> None:
    noisy, _, form = drawn("gaussian", "full", runs=4000)
    flat = np.concatenate([p.reshape(4000, -1) for p in coordinates(noisy, form).values()], axis=1)
    correlation = np.corrcoef(flat.T) - np.eye(flat.shape[1])
    assert np.max(np.abs(correlation)) < 6 / math.sqrt(4000)
    following = np.mean(flat[1:] * flat[:-1], axis=0) / np.var(flat, axis=0)
    assert np.max(np.abs(following)) < 6 / math.sqrt(4000)


def test_one_release_never_repeats_the_noise_of_another() -> None:
    run = session()
    first, second = (
        run.release("sums", shape(), InFrame(FRAME, nobody), noises("gaussian", 1.0))
        for _ in range(2)
    )
    for block in BLOCKS:
        assert not np.any(getattr(first, block) == getattr(second, block))


def test_runs_of_one_draw_share_their_noise_scaled() -> None:
    run = session(noise=NoiseSource(0, range(2)), draws=np.array([0, 1, 0, 1]))
    scales = np.array([1.0, 1.0, 3.0, 3.0])
    noisy = run.release("sums", shape(), InFrame(FRAME, nobody), Noise("gaussian", scales))
    np.testing.assert_allclose(noisy.sums[2:], 3 * noisy.sums[:2], rtol=1e-12)
    assert not np.any(noisy.sums[0] == noisy.sums[1])


# ------------------------------------------------------------------ the sum itself


def by_hand(rows: np.ndarray, weights: np.ndarray, structure: str) -> tuple[np.ndarray, ...]:
    """Counts, sums and squares of clipped rows ``(n, d)`` with weights ``(n, K)``, row by row."""
    components, dim = weights.shape[1], rows.shape[1]
    counts, sums = np.zeros(components), np.zeros((components, dim))
    squares = np.zeros((components, dim, dim))
    for y, w in zip(rows, weights, strict=True):
        counts += w
        sums += np.outer(w, y)
        squares += w[:, None, None] * np.outer(y, y)
    diagonal = np.einsum("kii->ki", squares)
    return (
        counts,
        sums,
        {"full": squares, "diag": diagonal, "spherical": diagonal.sum(1)}[structure],
    )


def softly(form: MixtureMoments, runs: int) -> EStep:
    """Weights that depend on the row, with a remainder that belongs to nobody."""
    directions = np.random.default_rng(4).normal(size=(runs, form.components, form.dim))

    def e_step(block: Block, which: slice) -> np.ndarray:
        coefficients = np.zeros((which.stop - which.start, form.size, form.components))
        coefficients[:, form.slice("sums")] = np.swapaxes(directions[which], 1, 2)
        scores = np.exp(block.scores(coefficients))
        return scores / (1.0 + scores.sum(axis=-2, keepdims=True))

    return e_step


@every("structure", STRUCTURES)
@every("dim", [1, 3, 33])
@every("own_frames", [False, True])
@every("kept", [True, False])
def test_the_sum_is_the_sum_over_rows(
    structure: str, dim: int, own_frames: bool, kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In blocks, in several frames, with features kept or made anew, against a plain loop."""
    monkeypatch.setattr(moments, "BLOCK_NUMBERS", 1 << 10)
    if not kept:
        monkeypatch.setattr(moments, "KEPT_BYTES", 0)
    runs, components, count = 3, 2, 700
    rng = np.random.default_rng(0)
    schema = Schema.from_bounds({f"x{i}": (-1, 1) for i in range(dim)})
    cells = rng.uniform(-1.2, 1.2, (count, dim))
    made = [rng.normal(size=(runs if own_frames else 1, dim, dim)) for _ in range(2)]
    covariance = made[0] @ np.swapaxes(made[0], 1, 2) + 0.3 * np.eye(dim)
    frame = Frame.whitening(0.1 * made[1][:, 0], covariance, math.sqrt(dim))
    form = MixtureMoments(components, dim, structure, math.sqrt(dim), 1.0, 1.0, 1.0)  # type: ignore[arg-type]
    plain = session_of(sealed(cells, schema), runs=runs, private=False, as_private=True)
    e_step = softly(form, runs)
    noisy = plain.release("sums", form, InFrame(frame, e_step), noises("gaussian", 0.0))
    units = np.clip(cells, -1, 1)
    directions = np.random.default_rng(4).normal(size=(runs, components, dim))
    for run in range(runs):
        at = run if own_frames else 0
        rows = (units - frame.center[at]) @ frame.matrix[at].T
        rows /= np.maximum(np.linalg.norm(rows, axis=1) / math.sqrt(dim), 1.0)[:, None]
        scores = np.exp(rows @ directions[run].T)
        weights = scores / (1 + scores.sum(axis=1, keepdims=True))
        counts, sums, squares = by_hand(rows, weights, structure)
        np.testing.assert_allclose(noisy.counts[run], counts, rtol=1e-10)
        np.testing.assert_allclose(noisy.sums[run], sums, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(noisy.squares[run], squares, rtol=1e-9, atol=1e-9)


def total(rows: Rows) -> np.ndarray:
    form = shape("full", 3, 4)
    return bounded_sum(rows, Frame.identity(4, 1.0), form, softly(form, 2), 2)


def test_the_number_of_threads_never_changes_a_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    units = np.random.default_rng(1).uniform(-1, 1, (40_000, 4))
    results = []
    for count in (1, 2, 5):
        pool = ThreadPoolExecutor(count)
        monkeypatch.setattr(threads, "pool", lambda p=pool: p)
        monkeypatch.setattr(threads, "cores", lambda n=count: n)
        results.append(total(Rows(units)))
        pool.shutdown()
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])


@pytest.mark.parametrize(
    ("quota", "usable"), [("max 100000", 8), ("250000 100000", 3), ("50000 100000", 1), ("", 8)]
)
def test_a_container_has_the_cores_of_its_quota(
    quota: str, usable: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Also where the process is bound to some of the machine's cores."""
    stated = tmp_path / "cpu.max"
    stated.write_text(quota)
    monkeypatch.setattr(threads, "CONTAINER", stated if quota else tmp_path / "none")
    monkeypatch.setattr(threads.os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    assert threads.cores.__wrapped__() == usable
    monkeypatch.delattr(threads.os, "sched_getaffinity")
    monkeypatch.setattr(threads.os, "cpu_count", lambda: None)
    assert threads.cores.__wrapped__() == 1


def test_the_size_of_blocks_changes_rounding_only(monkeypatch: pytest.MonkeyPatch) -> None:
    units = np.random.default_rng(1).uniform(-1, 1, (5_000, 4))
    whole = total(Rows(units))
    for numbers in (1, 1 << 12, 1 << 30):
        monkeypatch.setattr(moments, "BLOCK_NUMBERS", numbers)
        np.testing.assert_allclose(total(Rows(units)), whole, rtol=1e-11, atol=1e-9)


def test_no_rows_sum_to_nothing() -> None:
    assert not np.any(total(Rows(np.empty((0, 4)))))


# ------------------------------------------------------------------ the other doors

CLUSTERS = ClusterMoments(3, 2, math.sqrt(2), 1.0, 2.0)
SQUARES = SecondMoments(2, math.sqrt(2))
CENTRES = np.array([[[-0.5, -0.5], [0.5, 0.5], [np.nan, 0.0]]])


def nearest(run: Session, *parts: Noise) -> NoisyClusters:
    centres = np.repeat(CENTRES, run.runs, axis=0)
    return run.release("step", CLUSTERS, centres, parts or noises("gaussian", 2.0))


@pytest.mark.parametrize("adjacency", ["replace_one", "add_remove"])
@pytest.mark.parametrize("law", ["gaussian", "laplace"])
def test_other_doors_write_what_they_release(adjacency: str, law: str) -> None:
    run = session(adjacency=adjacency, rows_per_person=3)
    nearest(run, Noise(law, 0.5))
    run.release("second moments", SQUARES, None, Noise(law, 7.0))
    forms: tuple[Statistic, ...] = (CLUSTERS, SQUARES)
    for entry, form, multiplier in zip(run.ledger, forms, (0.5, 7.0), strict=True):
        l1 = sum(form.l1_sensitivity(adjacency, block) for block in form.blocks)
        stated = l1 if law == "laplace" else form.l2_sensitivity(adjacency)
        assert entry.sensitivity == pytest.approx(3 * stated)
        assert entry.noise_scale == pytest.approx(multiplier * 3 * stated)
        assert (entry.noise, entry.adjacency, entry.proof) == (law, adjacency, form.lemma)
    assert [entry.what for entry in run.ledger] == ["step", "second moments"]


def test_counts_and_sums_of_nearest_rows_may_have_noise_of_their_own() -> None:
    run = session()
    nearest(run, Noise("laplace", 3.0, ("counts",)), Noise("gaussian", 5.0, ("sums",)))
    counts, sums = run.ledger
    assert (counts.what, sums.what) == ("step: counts", "step: sums")
    assert counts.sensitivity == CLUSTERS.l1_sensitivity("replace_one", "counts")
    assert sums.sensitivity == CLUSTERS.l2_sensitivity("replace_one", "sums")


@pytest.mark.parametrize("law", ["gaussian", "laplace"])
@pytest.mark.parametrize("seed", SEEDS)
def test_other_doors_draw_the_noise_that_they_state(law: str, seed: int) -> None:
    """Many runs less their exact sums: the stated scale passes, one wrong by a tenth fails."""
    clean, run = session(private=False, as_private=True), session(20_000, seed=seed)
    noisy, exact = nearest(run, Noise(law, 2.0)), nearest(clean, Noise(law, 0.0))
    spread = math.sqrt(2) if law == "laplace" else 1.0
    for block in CLUSTERS.blocks:
        sample = getattr(noisy, block) - getattr(exact, block)
        scale = float(run.ledger.at(0).entries[0].noise_scale) * CLUSTERS.scale(block)
        assert agrees(sample, law, scale) > SURE
        assert agrees(sample, law, 1.1 * scale) < SURE
        assert agrees(sample, law, 0.9 * scale) < SURE
        assert getattr(noisy, f"{block}_sd") == pytest.approx(scale * spread)
    squares = run.release("all", SQUARES, None, Noise(law, 2.0, None, 1.5))
    change = squares.squares - clean.release("all", SQUARES, None, Noise(law, 0.0)).squares
    scale = float(run.ledger.at(0).entries[1].noise_scale) * SQUARES.scale("squares")
    np.testing.assert_array_equal(squares.squares, np.swapaxes(squares.squares, 1, 2))
    assert agrees(np.diagonal(change, axis1=1, axis2=2), law, scale) > SURE
    assert agrees(change[:, 0, 1], law, 1.5 * scale / math.sqrt(2)) > SURE
    assert agrees(change[:, 0, 1], law, 1.8 * scale / math.sqrt(2)) < SURE
    assert squares.squares_sd == pytest.approx(scale * spread)


def test_other_doors_sum_clipped_rows() -> None:
    cells = np.random.default_rng(0).uniform(-1, 3, (200, 2))
    run = Session(sealed(cells), adjacency="replace_one", noise=None,
                  draws=np.zeros(1, dtype=int), as_private=True, clip=0.5)  # fmt: skip
    units = bounded_rows(sealed(cells), private=True)[1]
    units = units * np.minimum(1, run.radius / np.linalg.norm(units, axis=1))[:, None]
    found = nearest(run, Noise("gaussian", 0.0))
    first = np.linalg.norm(units + 0.5, axis=1) <= np.linalg.norm(units - 0.5, axis=1)
    np.testing.assert_array_equal(found.counts[0], [first.sum(), (~first).sum(), 0])
    expected = [units[first].sum(axis=0), units[~first].sum(axis=0), np.zeros(2)]
    np.testing.assert_allclose(found.sums[0], expected, atol=1e-9 * len(units))
    squares = run.release("all", SQUARES, None, Noise("gaussian", 0.0)).squares
    np.testing.assert_allclose(squares[0], units.T @ units, rtol=1e-12)


def test_other_doors_refuse_before_anything_leaves() -> None:
    small = ClusterMoments(3, 2, 1.4, 1.0, 1.0)
    run = session()
    with pytest.raises(WallError, match="ball"):
        run.release("s", small, CENTRES, noises("gaussian", 1.0))
    with pytest.raises(WallError, match="ball"):
        run.release("s", SecondMoments(2, 1.4), None, Noise("gaussian", 1.0))
    for blocks in (("counts",), ("sums", "sums", "counts"), ("counts", "sums", "squares"), ()):
        with pytest.raises(WallError, match="exactly one noise"):
            nearest(run, Noise("gaussian", 1.0, blocks))  # type: ignore[arg-type]
    with pytest.raises(WallError, match="exactly one noise"):
        run.release("s", SQUARES, None, Noise("gaussian", 1.0, ("counts",)))
    for bad in (0.0, math.nan, math.inf, -1.0):
        with pytest.raises(InputError, match="noise_multiplier"):
            nearest(run, Noise("gaussian", bad))
        with pytest.raises(InputError, match="noise_multiplier"):
            run.release("s", SQUARES, None, Noise("laplace", bad))
    for shape_ in ((1, 3, 1), (2, 3, 2), (1, 2, 2)):
        with pytest.raises(ValueError, match="shape"):
            run.release("s", CLUSTERS, np.zeros(shape_), noises("gaussian", 1.0))
    with pytest.raises(ValueError, match="dimension"):
        run.release("s", SecondMoments(3, 2.0), None, Noise("gaussian", 1.0))
    assert len(run.ledger) == 0


def test_a_model_meets_no_rows_at_the_other_doors() -> None:
    """Nothing that is given is called, kept or written to; noisy sums are all that comes back."""

    class Curious(np.ndarray):
        """Centres that would look at whatever they are combined with."""

        seen: ClassVar[list[object]] = []

        def __array_ufunc__(self, *given: object, **options: object) -> object:
            self.seen.append(given)
            return NotImplemented

        def __array_function__(self, *given: object) -> object:
            self.seen.append(given)
            return NotImplemented

    run = session()
    centres = CENTRES.copy().view(Curious)
    found = run.release("step", CLUSTERS, centres, noises("gaussian", 1.0))
    assert Curious.seen == []
    assert type(found.counts) is np.ndarray
    with pytest.raises((TypeError, ValueError)):
        run.release("s", CLUSTERS, lambda rows: rows, noises("gaussian", 1.0))  # type: ignore[arg-type]
    assert {field.name for field in dataclasses.fields(found)} == {
        "counts",
        "sums",
        "counts_sd",
        "sums_sd",
    }
    assert "1234" not in repr(run.source._rows.nearest)


@every("structure", STRUCTURES)
@every("dim", [1, 3, 33, 100])
@every("frames", [0, 1, 3])
def test_everyone_at_once_is_everyone_with_weight_one(
    structure: str, dim: int, frames: int
) -> None:
    """Without an E step: the same sums and the same noise, in public and in other frames."""
    rng = np.random.default_rng(0)
    schema = Schema.from_bounds({f"x{i}": (-1, 1) for i in range(dim)})
    radius = math.sqrt(dim)
    frame = Frame.identity(dim, radius)
    if frames:
        roots = rng.normal(size=(frames, dim, dim))
        shapes = roots @ np.swapaxes(roots, 1, 2) + np.eye(dim)
        frame = Frame.whitening(0.1 * rng.normal(size=(frames, dim)), shapes, radius)
    form = MixtureMoments(1, dim, structure, radius, 1.0, 1.0, 1.0)  # type: ignore[arg-type]
    table = sealed(rng.uniform(-1, 1, (300, dim)), schema)
    found = []
    for e_step in (None, lambda block, runs: np.ones((runs.stop - runs.start, 1, block.count))):
        run = Session(table, adjacency="replace_one", noise=NoiseSource(1, range(2)),
                      draws=np.array([0, 1, 0]))  # fmt: skip
        found.append(run.release("all", form, InFrame(frame, e_step), noises("gaussian", 1.0)))
    for name in ("counts", "sums", "squares"):
        both = [getattr(one, name) for one in found]
        np.testing.assert_allclose(*both, rtol=1e-9, atol=1e-8)
    with pytest.raises(ValueError, match="one component"):
        run.release("all", shape("full", 2, dim), InFrame(frame), noises("gaussian", 1.0))


# ------------------------------------------------------------------ isolation


def test_a_private_table_does_not_show_its_rows() -> None:
    table = sealed()
    shown = [repr(table), str(table), f"{table}", f"{[table]}"]
    assert all("sealed" in text for text in shown)
    assert not any("1234" in text or "5000" in text for text in shown)
    assert not hasattr(table, "__dict__")


@pytest.mark.parametrize(
    "reach",
    [
        len,
        list,
        bool,
        iter,
        lambda table: 1.0 in table,
        pickle.dumps,
        copy.copy,
        copy.deepcopy,
        lambda table: PrivateTable(),
    ],
)
def test_a_private_table_is_not_counted_iterated_copied_or_pickled(reach: Any) -> None:
    with pytest.raises(WallError) as refusal:
        reach(sealed())
    assert "1234" not in str(refusal.value)


def test_a_private_table_is_not_indexed() -> None:
    for key in (0, "a", slice(None)):
        with pytest.raises(TypeError):
            sealed()[key]  # type: ignore[index]


def test_nothing_behind_the_wall_shows_rows_when_printed() -> None:
    """Also not the block that a model is given, where a log line would be easily written."""
    seen: list[str] = []

    def curious(block: Block, runs: slice) -> np.ndarray:
        seen.append(repr(block))
        return nobody(block, runs)

    run = session()
    run.release("sums", shape(), InFrame(FRAME, curious), noises("gaussian", 1.0))
    wide = Schema.from_bounds({f"x{i}": (0, 2) for i in range(32)})
    high = Session(sealed(np.ones((3, 32)), wide), adjacency="replace_one", noise=None,
                   draws=np.zeros(1, dtype=int), as_private=True)  # fmt: skip
    high.release(
        "sums",
        MixtureMoments(2, 32, "full", 6.0, 1.0, 1.0, 1.0),
        InFrame(Frame.identity(32, 6.0), curious),
        noises("gaussian", 0.0),
    )
    assert len(seen) == 2
    for text in [*seen, repr(run), str(run), repr(run.source._rows), repr(run._noise)]:
        assert "array" not in text
        assert "[" not in text


def test_the_number_of_rows_is_told_only_where_it_is_public() -> None:
    assert session(adjacency="replace_one").rows == 2
    assert session(adjacency="add_remove").rows is None
    assert session(adjacency="add_remove", private=False).rows == 2


@pytest.mark.parametrize("value", ["1", "true"])
def test_the_custodians_exit_is_refused_under_the_lock(
    value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DPCORE_LOCK_TRUTH", raising=False)
    table = sealed()
    parts = (table, table.with_schema(SCHEMA), table.neighbour(0, "replace_one"))
    monkeypatch.setenv("DPCORE_LOCK_TRUTH", value)
    with pytest.raises(WallError, match="locked"):
        table.neighbour(0, "replace_one")
    for part in parts:
        with pytest.raises(WallError, match="locked") as refusal:
            custodian_rows(part)
        assert "1234" not in str(refusal.value)


@pytest.mark.parametrize("value", [None, "", "0"])
def test_without_the_lock_the_custodian_sees_what_a_private_fit_sees(
    value: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DPCORE_LOCK_TRUTH", raising=False)
    if value is not None:
        monkeypatch.setenv("DPCORE_LOCK_TRUTH", value)
    _, rows = custodian_rows(sealed())
    np.testing.assert_array_equal(rows, bounded_rows(sealed(), private=True)[1])


def test_the_lock_refuses_noise_that_can_be_drawn_again_and_lets_releases_pass(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whoever knows the seed subtracts the noise, so a rehearsal shows exact values."""
    monkeypatch.setenv("DPCORE_LOCK_TRUTH", "1")
    for options in ({"seed": 3}, {"private": False}):
        with pytest.raises(WallError, match="locked"):
            session(**options)
    run = session(noise=NoiseSource(None))
    run.release("sums", shape(), InFrame(FRAME, nobody), noises("gaussian", 1.0))
    assert len(run.ledger) == 1


def test_rows_that_are_open_to_all_are_not_locked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPCORE_LOCK_TRUTH", "1")
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [1.0, 2.0]})
    table = PrivateTable.seal(frame, SCHEMA, open_to_all=True)
    for part in (table, table.with_schema(SCHEMA), *table.split(0.5, seed=0)):
        assert custodian_rows(part)[1].shape[1] == 2
    assert not sealed().open_to_all


def test_a_neighbour_differs_in_one_row() -> None:
    rows = np.arange(10.0).reshape(5, 2)
    table = sealed(rows)
    replaced = table.neighbour(4, "replace_one")._frame.to_numpy()
    assert np.flatnonzero(np.any(replaced != rows, axis=1)).tolist() == [4]
    absent = table.neighbour(1, "add_remove")._frame.to_numpy()
    np.testing.assert_array_equal(absent, np.delete(rows, 1, axis=0))


def test_parts_of_a_split_are_disjoint_and_complete() -> None:
    table = sealed(np.arange(40.0).reshape(20, 2))
    rest, part = table.split(0.25, seed=3)
    cells = [set(t._frame["a"]) for t in (rest, part)]
    assert (len(cells[0]), len(cells[1])) == (15, 5)
    assert cells[0] | cells[1] == set(table._frame["a"])
    for fraction in (0.0, 1.0, math.nan):
        with pytest.raises(InputError, match="test_fraction"):
            table.split(fraction, seed=0)


def test_where_rows_come_and_go_each_has_its_own_coin_of_a_split() -> None:
    """The last row moves no other one from part to part."""
    rows = np.arange(2_000.0).reshape(1_000, 2)
    for count in (1, 2, 37, 999):
        whole, shorter = (sealed(rows[:n]).split(0.3, 4, "add_remove") for n in (count + 1, count))
        moved = 0
        for one, other in zip(whole, shorter, strict=True):
            cells = [set(table._frame["a"]) for table in (one, other)]
            assert cells[1] <= cells[0]
            moved += len(cells[0] - cells[1])
        assert moved == 1
    assert 250 < len(sealed(rows).split(0.3, 4, "add_remove")[1]._frame) < 350


def test_doors_offer_no_way_around_the_noise() -> None:
    """The public names of a session: those that measure release, and they need noise.

    One exhibits what a paper prints without noise, and says so in its ledger; one gives rows where
    there is no privacy, one features that an adjacency makes public; both refuse anybody else.
    """
    public = {name for name in dir(doors.Session) if not name.startswith("_")}
    measures = {"release", "exhibit"}
    facts = {"ledger", "persons", "private", "public", "radius", "rows", "runs"}
    assert public == facts | {"plain_rows", "public_features"} | measures
    for name in measures:
        asked = inspect.signature(getattr(doors.Session, name)).parameters
        optional = {given.name for given in asked.values() if given.default is not given.empty}
        assert "noises" in asked
        assert optional <= {"batches"}  # without one all rows are summed


def test_an_e_step_that_fails_on_a_row_has_paid_and_says_nothing_of_it() -> None:
    def failing(block: Block, runs: slice) -> Any:
        raise KeyError(TELLTALE)

    paid = list[str]()
    request = "moments", shape(), InFrame(FRAME, failing), Noise("gaussian", 1.0)
    with pytest.raises(WallError, match=wording.ROWS_FUNCTION + r".*\(KeyError\)$"):
        session(noise=GridNoise(lambda: paid.append("line"))).release(*request)
    assert paid == ["line"]
    with pytest.raises(KeyError, match=str(TELLTALE)):  # who rehearses may see the rows
        session().release(*request)


def test_no_warning_tells_of_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither NumPy's own nor a library's, on whatever thread the row is looked at."""

    def warning(block: Block, runs: slice) -> np.ndarray:
        assert np.log(np.zeros(1)) < 0.0
        assert np.isnan(np.nanmean([np.nan]))
        return nobody(block, runs)

    monkeypatch.setattr(moments, "BLOCK_NUMBERS", 1)
    for pool in (ThreadPoolExecutor(1), ThreadPoolExecutor(3)):
        monkeypatch.setattr(threads, "pool", lambda pool=pool: pool)
        monkeypatch.setattr(threads, "cores", lambda pool=pool: pool._max_workers)
        run = session_of(sealed(np.ones((2000, 2))), noise=GridNoise())
        with warnings.catch_warnings(), np.errstate(all="raise"):
            warnings.simplefilter("error")
            run.release("moments", shape(), InFrame(FRAME, warning), Noise("gaussian", 1.0))
            pool.shutdown()


def test_who_is_done_first_does_not_end_the_silence_of_others() -> None:
    entered, leave, before = Event(), Event(), warnings.filters

    def other() -> None:
        with threads.silence():
            entered.set()
            leave.wait(60.0)

    with ThreadPoolExecutor(1) as pool:
        with threads.silence():
            waiting = pool.submit(other)
            assert entered.wait(60.0)
        assert warnings.filters[0][0] == "ignore"
        leave.set()
        waiting.result()
    assert warnings.filters is before


@every("weights", (np.float64(1.0), np.ones(2), np.ones((1, 2, 0)), "Smith"))
def test_weights_of_another_shape_have_paid(weights: Any) -> None:
    """Some row may be the reason of that, too."""
    in_groups = InGroups(np.zeros((1, 2, 2)), np.array([[np.eye(2)] * 2]), lambda *_: weights)
    for statistic, of in (
        (shape(), InFrame(FRAME, lambda *_: weights)),
        (GroupMoments.normalised(2, 2, "full", 1.0, np.ones(3)), in_groups),
    ):
        paid = list[str]()
        run = session(noise=GridNoise(lambda paid=paid: paid.append("line")))  # type: ignore[misc]
        with pytest.raises(WallError, match=wording.ROWS_FUNCTION):
            run.release("moments", statistic, of, Noise("gaussian", 1.0))
        assert paid == ["line"]
