"""Studies of topics and belief networks: corpora open on a picture that makes its point, and the
command line fits documents as the library does."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import wording

import dpcore as dp
from app.compute import draws_of
from app.scenario import Scenario, from_query, offered, opening, sane
from dpcore.cli import main
from dpcore.datasets.corpora import CORPORA, corpora, find_corpus, is_corpus
from dpcore.declaration import declaration
from dpcore.errors import InputError
from dpcore.evaluation.metrics import loneliest_row, metrics
from dpcore.evaluation.study import EPSILONS, Setting, budget_grid, references
from dpcore.evaluation.verdict import verdicts
from dpcore.evaluation.yardstick import scorer_of
from dpcore.models.sigmoid_belief import mathematics as belief
from dpcore.models.sigmoid_belief.mathematics import Network
from dpcore.models.sigmoid_belief.scoring import YARDSTICK as PIXELS
from dpcore.models.sigmoid_belief.scoring import turned
from dpcore.schema import Schema
from dpcore.wall.data.corpus import PrivateCorpus

Run = Callable[..., Any]
BUDGET = ("--epsilon", 2, "--delta", 1e-4, "--seed", 0)
QUICK = ("--rate", 1, "--iterations", 2, "--length", 100)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command in this process: what it prints as JSON, or its one sentence."""

    def call(*words: object) -> Any:
        code = main([str(word) for word in words])
        out, err = capsys.readouterr()
        assert (code == 0) == (not err), err
        return err if code else (json.loads(out) if "--json" in words else out)

    return call


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A file of forty notes about two things, its words beside it."""
    rng = np.random.default_rng(0)
    words = {0: ["apple", "pear"], 1: ["screw", "nail"]}
    lines = [" ".join(rng.choice(words[i % 2], 30)) for i in range(40)]
    path = tmp_path / "notes.csv"
    path.write_text("author,note\n" + "".join(f"{i},{line}\n" for i, line in enumerate(lines)))
    (tmp_path / "notes.vocab.txt").write_text("apple\npear\nscrew\nnail\n")
    return path


# --- what comes with the package -----------------------------------------------------------------


@pytest.mark.merge
def test_bars_open_on_a_picture_that_makes_its_point() -> None:
    """Nothing at 0.1, most topics at 1, more at 10, and steps that end near the exact fit."""
    first, corpus = opening("few_bars"), dp.load_documents("bundled:few_bars")
    setting = first.setting()
    known = references(corpus, setting)
    span = known.converged_utility - known.bounds_utility
    assert known.converged_utility - known.own_steps_utility <= 0.1 * span
    grid = budget_grid(corpus, setting, known.converged, (0.1, 1.0, 10.0), range(draws_of(first)))
    found = np.median(grid.recovered.sum(axis=2), axis=1)
    assert found[0] == 0
    assert 4 <= found[1] < found[2]
    middle = np.median(grid.utility, axis=1)
    assert np.all(np.diff(middle) > 0.0)
    levels = [one.level for one in verdicts(grid, known, np.full(3, known.bounds_utility))]
    assert levels == sorted(levels)
    assert levels[0] < levels[-1]


def test_collections_are_what_their_list_says() -> None:
    for one in CORPORA:
        assert is_corpus(one.name)
        if one.provenance == "simulated":
            corpus = dp.load_documents(f"bundled:{one.name}")
            rows = scorer_of("lda", corpus, most=None).rows
            assert (len(rows), corpus.schema.size) == (one.rows, one.features)
    assert not is_corpus("iris")
    assert {one.name for one in corpora()} < {one.name for one in offered()}
    with pytest.raises(InputError, match="choose one of few_bars"):
        find_corpus("poems")


def test_bars_are_pictures_until_words_are_left_out() -> None:
    corpus = dp.load_documents("bundled:few_bars")
    assert (corpus.schema.image.height, corpus.schema.image.width) == (5, 5)
    assert corpus.with_first_words(25).schema.image is not None
    assert corpus.with_first_words(24).schema.image is None


def test_help_texts_are_counted_in_words_of_other_libraries() -> None:
    corpus = dp.load_documents("bundled:help_texts")
    assert corpus.schema.size == find_corpus("help_texts").features
    assert not corpus.schema.rehearsal


# --- studies -------------------------------------------------------------------------------------


def test_documents_and_rows_are_never_mixed_up() -> None:
    rows, documents = opening("three_groups"), opening("few_bars")
    assert sane(Scenario(data="few_bars")) == documents
    assert sane(Scenario(model="lda")) == rows
    names = {one.name: one for one in offered()}
    assert from_query({"data": "few_bars", "model": "fa"}, names) == documents
    table, corpus = dp.load("bundled:iris"), dp.load_documents("bundled:few_bars")
    assert not declaration("lda").suits(table.schema)  # type: ignore[arg-type]
    assert not declaration("gmm").suits(corpus.schema)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("data", "suits"), [("lit_windows", True), ("digits", True), ("three_groups", False)]
)
def test_a_belief_network_is_offered_for_pictures_and_switches(data: str, *, suits: bool) -> None:
    """It makes 0 or 1 of every cell, which says nothing of somebody's age."""
    assert declaration("sbn").suits(dp.load(f"bundled:{data}").schema) is suits  # type: ignore[arg-type]
    switches = Schema.parse('[columns.a]\ntype = "binary"\n[columns.b]\ntype = "binary"\n', "x")
    assert declaration("sbn").suits(switches)


def test_a_slow_model_has_fewer_budgets_and_draws_on_the_same_slider() -> None:
    quick, slow = opening("three_groups"), opening("few_bars")
    assert quick.budgets(5_000) == EPSILONS
    assert set(slow.budgets(1_000)) < set(EPSILONS)
    assert 1.0 in slow.budgets(1_000)
    assert 1.0 in slow.budgets(10**6)
    assert len(slow.budgets(10**6)) < len(slow.budgets(1_000)) < 20
    assert draws_of(slow) < draws_of(quick)


def test_a_slow_method_of_a_quick_model_has_fewer_as_well() -> None:
    quick = opening("who_comes_back")
    slow = replace(quick, method="dpvi")
    assert set(slow.budgets(2000)) < set(quick.budgets(2000))
    assert draws_of(slow) < draws_of(quick)
    assert slow.setting().options()["iterations"] == 50  # whatever the page's own number


def test_on_samples_only_what_counts_them_is_offered() -> None:
    first = opening("lit_windows")
    assert len(first.methods()) > 1
    sampled = sane(Scenario(data="lit_windows", model="sbn", words="rate:0.2"))
    assert sampled.methods()[0] == "exact"
    assert sampled.titles(("exact",)) == {"exact": "PLD (upper bound)"}
    assert set(sampled.refused()) == {"zcdp", "zcdp_tight", "ma", "rdp"}
    whole = replace(sampled, words="rate:1")
    assert whole.titles(("exact",)) == {"exact": "Exact"}


def test_the_loneliest_document_has_the_rarest_words() -> None:
    vocabulary = dp.load_documents("bundled:few_bars").schema
    starts, words = np.array([0, 1, 2, 3]), np.array([0, 7, 0])
    corpus = PrivateCorpus.seal(starts, words, np.array([5.0, 1.0, 5.0]), vocabulary)
    assert loneliest_row(corpus) == 1


def test_a_fit_is_scored_on_documents_by_every_perplexity() -> None:
    corpus = dp.load_documents("bundled:few_bars")
    fit = dp.fit("lda", corpus, privacy=None, n_components=10, rate=1.0, iterations=20)
    told = metrics(fit, corpus)
    assert list(told)[:2] == ["test_perplexity", "test_perplexity_word_frequencies"]
    assert told["test_perplexity"] == pytest.approx(np.exp(-fit.score(corpus)))
    assert told["test_perplexity"] < 14.0
    assert told["test_perplexity_word_frequencies"] == pytest.approx(25.0, abs=0.2)
    assert told["test_completion_perplexity"] < 13.0
    assert told["test_completion_perplexity_word_frequencies"] == pytest.approx(25.0, abs=0.2)


def test_exchanging_on_and_off_leaves_every_pixel_its_chance() -> None:
    rng = np.random.default_rng(0)
    net = Network(rng.normal(size=(1, 6, 3)), rng.normal(size=(1, 6)), rng.normal(size=(1, 3)))
    which = np.array([[True, False, True]])
    other = turned(net, which)
    on = rng.random((200, 3)) < 0.5
    off = np.where(which[0], ~on, on)
    np.testing.assert_allclose(
        on @ net.weights[0].T + net.visible_bias[0],
        off @ other.weights[0].T + other.visible_bias[0],
    )
    np.testing.assert_allclose(other.hidden_bias, net.hidden_bias * np.where(which, -1, 1))
    aligned, found = PIXELS.align(other, net)
    np.testing.assert_allclose(aligned.weights, net.weights)
    assert found.all()
    assert belief.sample(other, 5, rng).shape == (5, 6)


def test_pixels_are_scored_at_the_threshold_of_the_fit() -> None:
    rows = dp.load("bundled:digits")
    shares = [PIXELS.on(scorer_of("sbn", rows, {"threshold": at})).mean() for at in (0.2, 0.5, 0.8)]
    assert shares[0] > shares[1] > shares[2]
    np.testing.assert_allclose(
        [PIXELS.nothing(scorer_of("sbn", rows, {"threshold": 0.2}))], [1.0 - shares[0]]
    )
    asked = dp.Privacy(epsilon=1.0, delta=1e-4)
    fit = dp.fit("sbn", rows, privacy=asked, n_components=2, threshold=0.2, iterations=2, seed=0)
    assert metrics(fit, rows)["pixel_accuracy_all_off"] == pytest.approx(1.0 - shares[0])


@pytest.mark.merge
def test_a_study_has_the_budgets_asked_for() -> None:
    corpus = dp.load_documents("bundled:few_bars")
    setting = Setting("lda", 2, 1, words=(("rate", 1.0),), clip=0.1)
    found = dp.study(corpus, setting, draws=1, epsilons=(0.5, 5.0))
    assert found.grid.utility.shape == (2, 1)
    figure = dp.figure(found)
    assert len(figure.data) > 0


# --- the command line ----------------------------------------------------------------------------


def test_the_json_of_topics_is_that_of_the_contract(run: Run, notes: Path) -> None:
    words = ("--topics", 2, "--test-fraction", 0.25, *QUICK, "--json")
    found = run("fit", "lda", notes, "--text", "note", *BUDGET, *words)
    assert found["parameters"]["vocabulary"] == ["apple", "pear", "screw", "nail"]
    assert np.shape(found["parameters"]["topics"]) == (2, 4)
    assert list(found["metrics"])[:2] == ["test_perplexity", "test_perplexity_word_frequencies"]
    guarantee = found["guarantee"]
    assert guarantee["epsilon"] == pytest.approx(2.0, rel=1e-6)
    assert wording.REPLACED_DOCUMENT in guarantee["sentence"]
    assert guarantee["protects"] == wording.REPLACED_DOCUMENT


def test_several_documents_of_one_author_are_said_to_be_documents(run: Run, notes: Path) -> None:
    words = ("--topics", 2, "--rows-per-person", 3, *QUICK, "--json")
    found = run("fit", "lda", notes, "--text", "note", *BUDGET, *words)["guarantee"]
    assert found["protects"] == "replacing one author's 3 documents"


def test_people_read_the_words_of_each_topic(run: Run) -> None:
    told = run("fit", "lda", "bundled:few_bars", "--topics", 3, *BUDGET, *QUICK)
    assert "most likely words" in told
    assert told.count("row") > 20


def test_options_of_topics_are_the_librarys(run: Run) -> None:
    words = ["--topics", 3, "--clip", 0.2, "--keep", 20, "--epochs", 2, "--minibatch", 500]
    words += ["--forgetting", 0.5, "--delay", 2, "--json"]
    found = run("fit", "lda", "bundled:few_bars", *BUDGET, *words)
    expected = dp.fit(
        "lda",
        dp.load_documents("bundled:few_bars"),
        privacy=dp.Privacy(epsilon=2.0, delta=1e-4),
        n_components=3, clip=0.2, keep=20, epochs=2, minibatch=500, forgetting=0.5, delay=2.0,
        seed=0,
    ).parameters.as_dict()  # fmt: skip
    np.testing.assert_allclose(found["parameters"]["topics"], expected["topics"])


def test_the_json_of_hidden_units_is_that_of_the_contract(run: Run) -> None:
    words = ("--units", 2, "--threshold", 0.4, "--minibatch", 400, "--clip", 0.2)
    found = run("fit", "sbn", "bundled:digits", *BUDGET, *words, "--test-fraction", 0.2, "--json")
    assert np.shape(found["parameters"]["weights"]) == (64, 2)
    assert np.shape(found["parameters"]["hidden_bias"]) == (2,)
    assert 0.0 < found["metrics"]["pixel_accuracy"] < 1.0
    assert found["metrics"]["pixel_accuracy_all_off"] < found["metrics"]["pixel_accuracy"]
    told = run("fit", "sbn", "bundled:digits", *BUDGET, *words)
    assert "hidden unit" in told
    assert "strongest columns" in told


@pytest.mark.merge
def test_a_sweep_of_topics_says_what_it_protects(run: Run) -> None:
    words = ("--epsilons", "1,10", "--splits", 1, "--delta", 1e-4, "--topics", 4, *QUICK)
    rows = run("sweep", "lda", "bundled:few_bars", *words, "--json")
    assert rows[1]["mean"] < rows[0]["mean"] < rows[0]["baseline"] + 5.0
    half = ("--metric", "test_completion_perplexity")
    completed = run("sweep", "lda", "bundled:few_bars", *words, *half, "--json")
    assert completed[1]["mean"] < rows[1]["mean"]  # the half that is seen tells of the mix
    told = run("sweep", "lda", "bundled:few_bars", *words)
    assert wording.REPLACED_DOCUMENT in told


def test_words_come_from_a_list_or_make_a_rehearsal(run: Run, notes: Path) -> None:
    (notes.parent / "notes.vocab.txt").rename(notes.parent / "words.txt")
    asked = ("fit", "lda", notes, "--text", "note", "--topics", 2, *BUDGET, *QUICK)
    assert run(*asked).startswith("dpcore: vocabulary: no public list of words was given")
    listed = run(*asked, "--vocabulary", notes.parent / "words.txt", "--json")
    assert listed["guarantee"]["epsilon"] is not None
    both = run(*asked, "--infer-vocabulary", "--vocabulary", notes.parent / "words.txt")
    assert both.startswith("dpcore: vocabulary and infer_vocabulary: both were given")
