"""Documents behind the wall: sealed, sampled in secret, never worth more than the ball allows."""

from __future__ import annotations

import copy
import math
import pickle
import warnings
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
import wording
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sealed_rows import session_of
from support import every, examples

from dpcore.arrays import Array
from dpcore.errors import InputError, WallError
from dpcore.fitting.api import fit
from dpcore.privacy import Ledger, Privacy
from dpcore.privacy.sampled_entry import SampledEntry
from dpcore.wall.data import Documents
from dpcore.wall.data.corpus import PrivateCorpus, Vocabulary
from dpcore.wall.data.word_counts import Bags
from dpcore.wall.noise import GridNoise, NoiseSource, PublicCoins
from dpcore.wall.session import Noise, Session
from dpcore.wall.statistics.topic_words import (
    CELLS,
    SharedOut,
    TopicWords,
    drawn_in,
    shared_out,
)
from dpcore.wall.subsample import Minibatches, Sample

ANY = st.floats(allow_nan=True, allow_infinity=True)


def bags_of(table: Array) -> Bags:
    where, words = np.nonzero(table)
    starts = np.concatenate([[0], np.cumsum(np.bincount(where, minlength=len(table)))])
    return Bags.of(starts, words, table[where, words], table.shape[1])


def corpus_of(table: Array, **facts: Any) -> PrivateCorpus:
    bags = bags_of(table)
    words = Vocabulary(tuple(f"w{i}" for i in range(table.shape[1])), **facts)
    return PrivateCorpus.seal(bags.starts, bags.words, bags.counts, words)


def texts(documents: int = 40, words: int = 6, seed: int = 0) -> Array:
    rng = np.random.default_rng(seed)
    return rng.poisson(rng.gamma(0.5, 2.0, (documents, words))).astype(float)


def session(
    table: Array, runs: int = 1, *, length: int = 20, resample: bool = False, **options: Any
) -> Session[Documents]:
    opens = partial(Documents, length=length, resample=resample)
    return session_of(corpus_of(table), opens, runs=runs, **options)


def test_a_documents_length_is_its_own_whatever_stands_before_it() -> None:
    """A running sum of all documents would round it to the largest."""
    table = np.full((40, 6), 1.0 / 3.0)
    alone = bags_of(table).lengths
    table[0] = 1e9 / 3.0
    np.testing.assert_array_equal(bags_of(table).lengths[1:], alone[1:])
    assert bags_of(np.zeros((2, 3))).lengths.tolist() == [0.0, 0.0]


def dense(bags: Bags, topics: Array, weights: Array) -> Array:
    """One matrix for each document ``(m, K, V)``, by the definition."""
    table = np.zeros((bags.count, bags.size))
    table[bags.owner, bags.words] = bags.counts
    joint = weights[:, :, None] * topics[None]
    return np.asarray(joint / joint.sum(axis=1, keepdims=True) * table[:, None])


# --- sealed --------------------------------------------------------------------------------------


def test_a_corpus_shows_counts_and_copies_nothing() -> None:
    corpus = corpus_of(texts())
    assert repr(corpus) == "PrivateCorpus(sealed)"
    for leak in (len, list, pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises((WallError, TypeError)):
            leak(corpus)
    with pytest.raises(WallError):
        PrivateCorpus()


def test_odd_documents_are_made_plain() -> None:
    starts, words = np.array([0, 4, 4, 6]), np.array([1, 1, 0, -3, 9, 2])
    counts = np.array([2.0, 3.0, np.nan, 1.0, 5.0, 1e300])
    bags = Bags.of(starts, words, counts, 3)
    assert bags.starts.tolist() == [0, 1, 1, 2]
    assert bags.words.tolist() == [1, 2]
    assert bags.counts.tolist() == [5.0, 1e9]


def test_documents_that_do_not_fit_together_are_refused() -> None:
    with pytest.raises(InputError, match="word counts do not match"):
        Bags.of(np.array([0, 3]), np.array([0]), np.array([1.0]), 2)


def test_taking_documents_keeps_each_as_it_is() -> None:
    table = texts()
    order = np.random.default_rng(1).permutation(len(table))[:7]
    taken = bags_of(table).take(order)
    again = np.zeros((7, table.shape[1]))
    again[taken.owner, taken.words] = taken.counts
    np.testing.assert_array_equal(again, table[order])


def test_a_resampled_document_has_the_length_and_its_own_words_in_their_shares() -> None:
    table = np.array([[8.0, 2.0, 0.0], [0.0, 0.0, 3.0], [0.0, 0.0, 0.0]])
    found = bags_of(table).resampled(4000, PublicCoins(0))
    np.testing.assert_array_equal(found.lengths, [4000, 4000, 0])
    assert found.words.tolist() == [0, 1, 2]
    assert found.counts[0] == pytest.approx(3200, abs=6 * math.sqrt(640))


def test_resampling_one_document_does_not_touch_another() -> None:
    one, other = texts(), texts()
    other[3] = [9, 0, 0, 0, 0, 40]
    a = bags_of(one).resampled(50, PublicCoins(5))
    b = bags_of(other).resampled(50, PublicCoins(5))
    rest = np.delete(np.arange(len(one)), 3)
    np.testing.assert_array_equal(a.take(rest).counts, b.take(rest).counts)
    np.testing.assert_array_equal(a.take(rest).words, b.take(rest).words)


# --- the sum -------------------------------------------------------------------------------------


@pytest.mark.parametrize("radius", [math.inf, 3.0])
def test_the_sum_is_that_of_the_documents_own_matrices(radius: float) -> None:
    rng, bags = np.random.default_rng(0), bags_of(texts())
    topics, weights = rng.random((4, 6)), rng.random((bags.count, 4))
    each = dense(bags, topics, weights)
    norms = np.linalg.norm(each, axis=(1, 2))
    expected = (each * np.minimum(1.0, radius / np.maximum(norms, 1e-300))[:, None, None]).sum(0)
    found = shared_out(bags, topics, weights, radius)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_a_document_stands_for_the_length_before_it_is_clipped() -> None:
    bags = bags_of(np.array([[1.0, 3.0]]))
    found = shared_out(bags, np.ones((1, 2)), np.ones((1, 1)), math.inf, length=100.0)
    np.testing.assert_allclose(found, [[25.0, 75.0]])


@examples(300)
@given(
    arrays(np.float64, (1, 5), elements=ANY),
    arrays(np.float64, (3, 5), elements=ANY),
    arrays(np.float64, (1, 3), elements=ANY),
    st.sampled_from([None, 50.0]),
)
def test_no_document_leaves_the_ball_whatever_a_model_says(
    counts: Array, topics: Array, weights: Array, length: float | None
) -> None:
    bags = Bags.of(np.array([0, 5]), np.arange(5), counts[0], 5)
    found = shared_out(bags, topics, weights, 2.0, length)
    assert np.all(found >= 0.0)
    assert np.linalg.norm(found) <= 2.0 * (1.0 + 1e-9)


def test_no_document_leaves_the_ball_by_a_rounding() -> None:
    """In exact arithmetic on the numbers that are multiplied: a release counts no more."""
    rng = np.random.default_rng(3)
    bags = bags_of(rng.poisson(2.0, (60, 40)).astype(float))
    by_word, weights = rng.random((40, 5)), rng.random((60, 5))
    amounts = drawn_in(bags, by_word, weights, 3.0, 100.0)
    squares = [Fraction(0)] * bags.count
    for amount, word, owner in zip(amounts, bags.words, bags.owner, strict=True):
        for topic in range(5):
            parts = (amount, by_word[word, topic], weights[owner, topic])
            squares[owner] += math.prod(map(Fraction, map(float, parts))) ** 2
    assert all(Fraction(9) - Fraction(1, 10**9) < square <= 9 for square in squares)


def test_a_tiny_share_of_a_topic_is_not_lost_from_the_norm() -> None:
    """Weights whose squares underflow would make a norm of 0, and a document of any size."""
    bags = bags_of(np.array([[1e6]]))
    for small in (1e-90, 1e-170, 1e-300):
        found = shared_out(bags, np.array([[small], [1e-308]]), np.array([[small, 1.0]]), 1.0)
        assert np.linalg.norm(found) <= 1.0 + 1e-9


def test_an_adversary_reaches_the_sensitivities_and_never_exceeds_them() -> None:
    rng = np.random.default_rng(0)
    form = TopicWords(3, 4, 5.0)
    best = {"replace_one": 0.0, "add_remove": 0.0}
    topics = np.eye(3, 4) + 1e-3
    for _ in range(1500):
        sharp = rng.choice([0.1, 1.0, 8.0])
        pair = []
        for _ in range(2):
            table = np.zeros((1, 4))
            table[0, rng.choice(4, rng.integers(1, 3), replace=False)] = rng.gamma(1, 200)
            weights = np.exp(sharp * rng.normal(0, 3, (1, 3)))
            pair.append(shared_out(bags_of(table), topics, weights, form.radius) / form.radius)
        best["replace_one"] = max(best["replace_one"], float(np.linalg.norm(pair[0] - pair[1])))
        best["add_remove"] = max(best["add_remove"], float(np.linalg.norm(pair[0])))
    for adjacency, reached in best.items():
        assert 0.98 * form.l2_sensitivity(adjacency) <= reached <= form.l2_sensitivity(adjacency)
    assert form.l2_sensitivity("replace_one") == pytest.approx(math.sqrt(2.0), rel=1e-7)


# --- samples -------------------------------------------------------------------------------------


@pytest.mark.parametrize("adjacency", ["replace_one", "add_remove"])
def test_the_one_block_has_the_sensitivity_of_the_whole(adjacency: str) -> None:
    shape = TopicWords(2, 3, 4.0)
    whole = shape.l2_sensitivity(adjacency)
    assert shape.l2_sensitivity(adjacency, "counts") == whole > 0.0
    assert shape.l1_sensitivity(adjacency, "counts") == pytest.approx(math.sqrt(6.0) * whole)


def test_documents_without_words_are_weighed_for_few_runs_at_once() -> None:
    """Each has weights, whatever it says: those of many runs would fill the memory."""
    together, topics = [], np.ones((8, 2, 6))
    table = np.zeros((20_000, 6))
    table[0] = 1.0

    def e_step(bags: Bags, runs: Sequence[int]) -> Array:
        together.append(len(runs) * bags.count * 2)
        return np.ones((len(runs), bags.count, 2))

    shape = TopicWords(2, 6, 20.0)
    shape.total(session(table, 8), SharedOut(topics, e_step), None)
    assert sum(together) == 8 * 20_000 * 2
    assert max(together) <= CELLS


def test_every_row_has_the_same_chance() -> None:
    coins, runs = PublicCoins(0), 4000
    for adjacency in ("replace_one", "add_remove"):
        sample = Sample.under(adjacency, 0.3)
        drawn = [sample.drawn(coins, 10) for _ in range(runs)]
        share = np.bincount(np.concatenate(drawn), minlength=10) / runs
        np.testing.assert_allclose(share, 0.3, atol=5 * math.sqrt(0.21 / runs))
        sizes = {len(one) for one in drawn}
        assert sizes == {3} if adjacency == "replace_one" else len(sizes) > 5


def test_the_stated_rate_is_what_was_drawn() -> None:
    sample = Sample.under("replace_one", 0.26)
    assert sample.rate_of(10) == 0.3
    assert len(sample.drawn(PublicCoins(0), 10)) == 3


def released(run: Session[Documents], multiplier: float = 1.0, rate: float = 0.25) -> Ledger:
    form = TopicWords(2, 6, 20.0 if math.isinf(run.radius) else run.radius)
    topics = np.ones((run.runs, 2, 6))
    batches = Minibatches(run, Sample.under(run.adjacency, rate))
    run.release(
        "words",
        form,
        SharedOut(topics, lambda bags, runs: np.ones((len(runs), bags.count, 2))),
        Noise("gaussian", multiplier),
        batches,
    )
    return run.ledger


@pytest.mark.parametrize("adjacency", ["replace_one", "add_remove"])
def test_a_release_states_its_noise_and_its_sample(adjacency: str) -> None:
    (entry,) = released(session(texts(), adjacency=adjacency), 1.5).at(0)
    assert isinstance(entry, SampledEntry)
    event = entry.event
    way = "poisson" if adjacency == "add_remove" else "without_replacement"
    assert (event.sampling, event.sampling_rate) == (way, 0.25)
    assert event.mechanism.noise_multiplier == pytest.approx(1.5)  # type: ignore[union-attr]
    assert entry.as_dict()["sampling"] == way
    assert entry.proof == TopicWords.lemma


def test_all_documents_at_once_are_no_sample() -> None:
    (entry,) = released(session(texts()), rate=1.0).at(0)
    assert entry.event.sampling == "none"


def test_the_noise_is_what_the_ledger_says() -> None:
    run = session(np.zeros((40, 6)), 4000, clip=0.5)
    form = TopicWords(2, 6, run.radius)
    found = run.release(
        "words",
        form,
        SharedOut(np.ones((4000, 2, 6)), lambda bags, runs: np.ones((len(runs), bags.count, 2))),
        Noise("gaussian", 0.7),
        Minibatches(run, Sample.under("replace_one", 0.25)),
    )
    stated = 0.7 * math.sqrt(2.0) * 10.0
    assert found.counts_sd[0] == pytest.approx(stated, rel=1e-6)
    assert found.counts.std() == pytest.approx(stated, rel=5 / math.sqrt(2 * 48000))


def test_samples_differ_from_step_to_step_and_from_draw_to_draw() -> None:
    batches = Minibatches(session(texts(), 2), Sample.under("replace_one", 0.25))
    first, second = batches._next(), batches._next()
    assert not np.array_equal(first[0], second[0])
    assert not np.array_equal(first[0], first[1])


def test_several_documents_of_one_author_have_no_price_for_samples() -> None:
    run = session(texts(), rows_per_person=2)
    with pytest.raises(InputError, match="one row per person"):
        released(run)
    (entry,) = released(run, rate=1.0)
    assert entry.sensitivity == pytest.approx(2 * math.sqrt(2.0))


def test_a_clip_that_is_no_share_is_refused() -> None:
    for clip in (0.0, 1.5, math.inf, math.nan):
        with pytest.raises(InputError, match="clip"):
            session(texts(), clip=clip)


def test_a_lock_covers_documents(monkeypatch: pytest.MonkeyPatch) -> None:
    from dpcore.wall.custodian import custodian_documents

    monkeypatch.setenv("DPCORE_LOCK_TRUTH", "1")
    with pytest.raises(WallError):
        custodian_documents(corpus_of(texts()))
    with pytest.raises(WallError):
        session(texts())  # a seeded source
    session(texts(), noise=NoiseSource(None, [0]))


def test_no_warning_tells_of_a_document_of_a_billion_words() -> None:
    """They are words that no topic has, where few are kept."""
    table = texts(words=20)
    table[0, 2:5] = 1e9
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        options = {"n_components": 1, "keep": 2, "iterations": 3, "rate": 1.0, "length": 10}
        fit("lda", corpus_of(table), privacy=Privacy(1.0, 1e-5), seed=0, **options)


@every("weights", (None, np.float64(1.0), np.ones((0, 3, 2)), np.ones((1, 1, 1))))
def test_an_e_step_that_fails_on_a_document_has_paid_and_says_nothing_of_it(weights: Any) -> None:
    """It raises, or gives weights of another shape."""

    def failing(bags: object, runs: object) -> Any:
        if weights is None:
            raise KeyError("Smith")
        return weights

    paid = list[str]()
    run = session(texts(), noise=GridNoise(lambda: paid.append("line")))
    request = SharedOut(np.ones((1, 2, 6)), failing), Noise("gaussian", 1.0)
    with pytest.raises(WallError, match=wording.ROWS_FUNCTION) as refusal:
        run.release("counts", TopicWords(2, 6, 20.0), *request)
    assert "Smith" not in f"{refusal.value}"
    assert paid == ["line"]
