"""Topics of texts leave through a ledger: released, verified, reported and used like any model."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import wording

import dpcore as dp
from dpcore.cli import main
from dpcore.errors import BudgetExceeded, InputError, ReplayError
from dpcore.models.topics import mathematics as lda
from dpcore.releases.filter import Amount
from dpcore.wall.data.corpus import Vocabulary
from dpcore.wall.data.word_counts import Bags

RIVER, BANK = ("river", "water", "boat", "fish"), ("loan", "money", "credit", "rate")
WORDS = ("bank", *RIVER, *BANK)
SECRET = "zanzibar"  # in every text, and in no public list
STEPS: dict[str, Any] = {"n_components": 2, "rate": 1.0, "iterations": 4, "length": 20}
SCHEMA = """[table]
title = "Letters to a bank"
unit = "client"
rows_per_person = 1
[file]
separator = ";"
[columns.letter]
type = "text"
"""


@pytest.fixture
def letters(tmp_path: Path) -> Path:
    """A table of texts, its public words and its schema beside it."""
    rng = np.random.default_rng(0)
    own = (rng.choice(("bank", *(RIVER if i % 2 else BANK)), 30) for i in range(400))
    lines = [f"{i};{SECRET} {' '.join(words)}" for i, words in enumerate(own)]
    (tmp_path / "letters.csv").write_text("\n".join(["nr;letter", *lines]))
    (tmp_path / "letters.vocab.txt").write_text("\n".join(WORDS))
    (tmp_path / "letters.toml").write_text(SCHEMA)
    dp.BudgetLedger.create(tmp_path / "budget.sqlite", Amount(3.0, 1e-4), unit="client")
    return tmp_path / "letters.csv"


def released(letters: Path, **choices: Any) -> Path:
    home = letters.parent
    asked: dict[str, Any] = {
        "privacy": dp.Privacy(1.0, 1e-6),
        "ledger": home / "budget.sqlite",
        "out": home / "topics",
    }
    dp.release("lda", dp.load_documents(letters), **{**asked, **STEPS, **choices})
    return home / "topics"


def test_from_a_table_of_texts_to_a_model_in_the_hands_of_its_receiver(
    letters: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home, out = letters.parent, letters.parent / "topics"
    words = ["release", "lda", str(letters), "--ledger", str(home / "budget.sqlite")]
    words += ["--epsilon", "1", "--delta", "1e-6", "--out", str(out), "--topics", "2"]
    words += ["--iterations", "4", "--length", "20", "--controller", "Bank", "--yes"]
    assert main(words) == 2, "a quarter of the documents in a step"
    assert "use all rows in each step (--rate 1)" in capsys.readouterr().err
    assert not dp.BudgetLedger(home / "budget.sqlite").state().releases
    assert main([*words, "--rate", "1"]) == 0
    assert "replacing one client's document. Proved." in capsys.readouterr().out
    assert main(["verify", str(out), "--ledger", str(home / "budget.sqlite")]) == 0
    for file in out.iterdir():
        assert SECRET not in file.read_text("utf-8"), file.name
    capsys.readouterr()
    assert main(["apply", str(out), str(letters), "--keep", "nr"]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[0] == "nr,topic 1,topic 2"
    assert len(told) == 401
    with zipfile.ZipFile(home / "new.zip", "w") as archive:
        archive.writestr("a.txt", "boat and fish")
    assert main(["apply", str(out), str(home / "new.zip"), "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["rows"]) == 1
    assert main(["apply", str(out), str(home / "new.zip"), "--keep", "nr"]) == 2
    assert main(["apply", str(out)]) == 0
    assert '"letter"' in capsys.readouterr().out


def test_the_report_speaks_of_documents_and_of_their_words(letters: Path) -> None:
    report = (released(letters) / "report.html").read_text("utf-8")
    for sentence in (
        "<title>Letters to a bank</title>",
        "<tr><th>Documents</th><td>400 (public)</td></tr>",
        "replacing one client&#x27;s document; each client has one document",
        "<tr><td>synthetic documents</td><td>1,000 documents</td>",
        "<th>share of all words</th><th>most likely words</th>",
        "Only the controller can confirm that the list of words was public",
        "no client has more than one document",
        "<h2>Public words</h2>",
        "<p>9: bank, river, water",
        "each document&#x27;s numbers come out the same whatever other documents there are",
    ):
        assert sentence in report, sentence
    for sentence in ("limits below", "floating point", "Public limits", "number columns hold"):
        assert sentence not in report, sentence


def test_whoever_receives_it_uses_it_as_a_model(letters: Path) -> None:
    opened = dp.open_release(released(letters))
    assert opened.methods == ("transform", "sample")
    assert opened.columns == WORDS
    new = pd.DataFrame({"letter": ["Boat, FISH; river!", "money credit", "", None]})
    shares = opened.transform(new)
    np.testing.assert_array_equal(shares, opened.transform(new["letter"].tolist()))
    starts, words = np.array([0, 3, 5, 5, 5]), np.array([1, 3, 4, 6, 7])
    bags = Bags.of(starts, words, np.ones(5), len(WORDS))
    topics = opened.fit.parameters.in_units(None)
    mixes = lda.mixes(bags, lda.expected(topics)[0], 0.5)
    np.testing.assert_allclose(shares, mixes / mixes.sum(axis=1, keepdims=True), atol=2e-3)
    assert list(opened.sample(3)["text"].str.split().str.len()) == [100] * 3
    with pytest.raises(InputError, match="has no score for a text"):
        opened.score(new)
    for odd in ("one text", [1, 2], [], pd.DataFrame({"note": ["a"]})):
        with pytest.raises(InputError):
            opened.transform(odd)  # type: ignore[arg-type]


def test_under_add_remove_how_many_there_are_stays_private(letters: Path) -> None:
    home = letters.parent
    place = home / "other.sqlite"
    dp.BudgetLedger.create(place, Amount(3.0, 1e-4), adjacency="add_remove", unit="client")
    privacy = dp.Privacy(1.0, 1e-6, adjacency="add_remove")
    dossier = json.loads(
        (released(letters, privacy=privacy, ledger=place) / "dossier.json").read_text()
    )
    assert dossier["rows"] is None
    assert "the collection has 1 to 4,194,304 documents" in dossier["guarantee"]["assumptions"]
    dp.verify(home / "topics", place)


def test_what_cannot_be_released_spends_nothing(letters: Path) -> None:
    home = letters.parent
    book = dp.BudgetLedger(home / "budget.sqlite")
    read_off = dp.load_documents(letters, vocabulary=Vocabulary(WORDS, rehearsal=True))
    asked = {"privacy": dp.Privacy(1.0, 1e-6), "ledger": book.path, "out": home / "out"}
    with pytest.raises(InputError, match="words were read from the documents"):
        dp.release("lda", read_off, **asked, **STEPS)
    corpus = dp.load_documents(letters, vocabulary=WORDS)
    for kind, match, changed in (
        (InputError, "rate: each step draws a sample", {"rate": 0.5}),
        (InputError, "^rate: ", {"rate": None, "minibatch": 50}),
        (BudgetExceeded, wording.LEDGER_HAS_LESS, {"privacy": dp.Privacy(9.0, 1e-6)}),
        (InputError, "above 1 divided by the number", {"privacy": dp.Privacy(1.0, 1e-2)}),
    ):
        chosen = {name: value for name, value in {**asked, **STEPS, **changed}.items() if value}
        with pytest.raises(kind, match=match):
            dp.release("lda", corpus, **chosen)
    with pytest.raises(InputError, match="the data are documents"):
        dp.release("gmm", corpus, **asked)
    assert not book.state().releases
    assert not (home / "out").exists()


def test_a_word_that_was_changed_is_refused(letters: Path) -> None:
    out = released(letters)
    text = (out / "dossier.json").read_text()
    (out / "dossier.json").write_text(text.replace('"fish"', '"ship"'))
    with pytest.raises(ReplayError, match="changed"):
        dp.open_release(out)
