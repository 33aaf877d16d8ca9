"""Documents come from tables, folders and bags of words, counted in words that are public."""

from __future__ import annotations

import os
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pandas as pd
import pytest
from bundled import docstrings
from support import every

from dpcore.datasets.bars import WORDS, bar_documents, bars
from dpcore.datasets.corpora import find_corpus
from dpcore.datasets.documents import is_documents, load_documents
from dpcore.datasets.files import home
from dpcore.datasets.words import read_vocabulary, vocabulary_path
from dpcore.errors import InputError
from dpcore.wall.custodian import custodian_documents
from dpcore.wall.data.corpus import PrivateCorpus, Vocabulary
from dpcore.wall.data.word_counts import Bags

TEXTS = ("Apples and pears, APPLES!", "", "pears", "plums: none of the list")
COUNTS = [[2, 1], [0, 0], [0, 1], [0, 0]]


def table_of(corpus: PrivateCorpus) -> list[list[float]]:
    _, bags = custodian_documents(corpus)
    table = np.zeros((bags.count, bags.size))
    table[bags.owner, bags.words] = bags.counts
    return table.astype(int).tolist()


def write_words(path: Path) -> None:
    path.write_text("apples\npears\n", encoding="utf-8")


@pytest.mark.parametrize("name", ["notes.csv", "notes.tsv", "notes.csv.gz"])
def test_a_table_with_a_column_of_texts(tmp_path: Path, name: str) -> None:
    frame = pd.DataFrame({"number": range(4), "text": TEXTS})
    frame.to_csv(tmp_path / name, index=False, sep="\t" if "tsv" in name else ",")
    write_words(tmp_path / "notes.vocab.txt")
    assert table_of(load_documents(tmp_path / name)) == COUNTS
    given = load_documents(tmp_path / name, vocabulary=["pears"], text="text")
    assert table_of(given) == [[row[1]] for row in COUNTS]


@pytest.mark.parametrize("odd", ["infinity", "pears", "1", "", "NA"])
def test_one_document_never_changes_the_words_of_another(tmp_path: Path, odd: str) -> None:
    """A reader takes a column of such words for numbers, and writes them otherwise."""
    path = tmp_path / "notes.csv"
    path.write_text("\n".join(["place,text", *["1,infinity"] * 3, f"2,{odd}"]) + "\n")
    corpus = load_documents(path, vocabulary=["infinity", "inf"], text="text")
    assert table_of(corpus)[:3] == [[1, 0]] * 3


def zipped(path: Path, members: dict[str, bytes]) -> Path:
    with ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def test_a_zip_of_texts_is_the_folder_of_them(tmp_path: Path) -> None:
    members = {f"all/{i}.txt": text.encode("utf-8-sig") for i, text in enumerate(TEXTS)}
    others = {"__MACOSX/all/0.txt": b"\xff pears", "all/notes.pdf": b"%PDF"}
    path = zipped(tmp_path / "notes.zip", dict(reversed(members.items())) | others)
    assert is_documents(path)
    write_words(vocabulary_path(path))
    assert table_of(load_documents(path)) == COUNTS
    assert sorted(one.name for one in tmp_path.iterdir()) == ["notes.vocab.txt", "notes.zip"]


def test_a_pipe_among_texts_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.txt")
    with pytest.raises(InputError, match=r"^a\.txt: it is not a file"):
        load_documents(tmp_path, vocabulary=["word"])


@pytest.mark.parametrize(
    ("members", "found"),
    [
        ({}, "has no .txt file"),
        ({"a.txt": b"\xff"}, "not UTF-8"),
        (None, "is damaged or encrypted"),
    ],
)
def test_a_zip_that_cannot_be_read_is_one_sentence_without_its_members(
    tmp_path: Path, members: dict[str, bytes] | None, found: str
) -> None:
    path = zipped(tmp_path / "notes.zip", members or {})
    if members is None:
        path.write_bytes(b"PK\x03\x04 and no more")
    with pytest.raises(InputError, match=found) as refused:
        load_documents(path, vocabulary=["pears"])
    assert "a.txt" not in str(refused.value)


def test_the_schema_beside_a_table_says_where_its_texts_are_and_whose(tmp_path: Path) -> None:
    path = tmp_path / "briefe.csv"
    rows = "".join(f"{i};{text};x\n" for i, text in enumerate(TEXTS))
    path.write_text("Nr;Brief;Notiz\n" + rows, encoding="utf-8")
    path.with_suffix(".toml").write_text(
        '[table]\nunit = "patient"\nrows_per_person = 3\n[file]\nseparator = ";"\n'
        '[columns.Brief]\ntype = "text"\n[columns.Notiz]\nrole = "ignore"\ntype = "text"\n',
        encoding="utf-8",
    )
    corpus = load_documents(path, vocabulary=["apples", "pears"])
    assert table_of(corpus) == COUNTS
    assert (corpus.schema.unit, corpus.schema.rows_per_person) == ("patient", 3)
    other = load_documents(path, vocabulary=["x"], text="Notiz", unit="letter")
    assert table_of(other) == [[1]] * 4
    assert other.schema.unit == "letter"


def test_a_folder_of_text_files(tmp_path: Path) -> None:
    for number, text in enumerate(TEXTS):
        (tmp_path / f"{number}.txt").write_text(text, encoding="utf-8")
    write_words(tmp_path.parent / f"{tmp_path.name}.vocab.txt")
    assert table_of(load_documents(tmp_path)) == COUNTS
    assert is_documents(tmp_path)


def test_bags_of_words_in_an_archive(tmp_path: Path) -> None:
    path = tmp_path / "bags.npz"
    np.savez(path, indptr=[0, 2, 2, 3, 3], indices=[0, 1, 1], counts=[2, 1, 1], shape=[4, 2])
    write_words(vocabulary_path(path))
    assert table_of(load_documents(path)) == COUNTS
    assert table_of(load_documents(path, words=1)) == [[row[0]] for row in COUNTS]
    assert is_documents(path)


def test_words_are_public_or_the_fit_is_a_rehearsal(tmp_path: Path) -> None:
    path = tmp_path / "notes.csv"
    pd.DataFrame({"text": ["red apples", "green pears", "no", "it"] * 8}).to_csv(path, index=False)
    with pytest.raises(InputError, match=r"notes\.vocab\.txt"):
        load_documents(path)
    for _ in range(2):  # also where public words lie beside it
        corpus = load_documents(path, infer_vocabulary=True)
        assert corpus.schema.rehearsal
        assert corpus.schema.words == ("apples", "green", "pears", "red")
        (tmp_path / "notes.vocab.txt").write_text("pears\n", encoding="utf-8")
    assert not load_documents(path).schema.rehearsal


@every("name", ["schema", "vocabulary", "text", "infer_vocabulary"])
def test_documents_that_come_with_their_words_take_no_others(name: str) -> None:
    with pytest.raises(InputError, match=rf"^{name}: .*leave it out"):
        load_documents("bundled:bars", **{name: True})


def test_whose_documents_they_are_is_public(tmp_path: Path) -> None:
    corpus = load_documents("bundled:bars", unit="patient", documents_per_unit=3)
    assert (corpus.schema.unit, corpus.schema.rows_per_person) == ("patient", 3)


@pytest.mark.parametrize(
    ("name", "content", "field"),
    [
        ("a.npz", b"no archive", "a.npz"),
        ("a.docx", b"text", "a.docx"),
        ("a.csv", b"one,two\nx,y\nz,w\n", "text"),
        ("missing.npz", None, "missing.npz"),
    ],
)
def test_what_is_no_corpus_is_refused_in_a_sentence(
    tmp_path: Path, name: str, content: bytes | None, field: str
) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError) as refusal:
        load_documents(path, vocabulary=["apples"])
    assert refusal.value.field == field


def test_bags_of_other_shapes_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "bags.npz"
    np.savez(path, indptr=[0, 2], indices=[0, 1], counts=[2, 1], shape=[4, 2])
    with pytest.raises(InputError, match="shape"):
        load_documents(path, vocabulary=["apples"])
    np.savez(path, indptr=[0, 3], indices=[0, 1], counts=[2, 1], shape=[1, 2])
    with pytest.raises(InputError, match="do not match its documents"):
        load_documents(path, vocabulary=["apples"])


@pytest.mark.parametrize("part", ["indptr", "indices", "shape"])
def test_bags_of_no_whole_numbers_are_refused(tmp_path: Path, part: str) -> None:
    """A number that is none must end in a sentence, not in a cast."""
    path = tmp_path / "bags.npz"
    whole = {"indptr": [0, 2], "indices": [0, 1], "counts": [2, 1], "shape": [1, 2]}
    np.savez(path, **{**whole, part: np.array([0.0, np.nan])})
    with pytest.raises(InputError, match="whole numbers"):
        load_documents(path, vocabulary=["apples", "pears"])


def test_bags_have_no_words_to_read_off(tmp_path: Path) -> None:
    """Nobody who asked for that is told to ask for it."""
    path = tmp_path / "bags.npz"
    np.savez(path, indptr=[0, 2], indices=[0, 1], counts=[2, 1], shape=[1, 2])
    for infer in (False, True):
        with pytest.raises(InputError, match=r"bags\.vocab\.txt") as refusal:
            load_documents(path, infer_vocabulary=infer)
        assert "infer_vocabulary" not in str(refusal.value)


def test_words_that_are_in_most_documents_are_not_read_off_and_it_says_so(tmp_path: Path) -> None:
    """The refusal names the rule; the words are in every document, not in too few."""
    path = tmp_path / "notes.csv"
    pd.DataFrame({"text": ["red apples", "apples, red"] * 20}).to_csv(path, index=False)
    with pytest.raises(InputError, match=r"at least 5 documents and in at most 30%"):
        load_documents(path, infer_vocabulary=True)


@pytest.mark.parametrize("word", ["Apples", "new york", "c++", "covid19", "don't"])
def test_a_word_that_no_text_can_hold_is_refused(tmp_path: Path, word: str) -> None:
    path = tmp_path / "notes.csv"
    pd.DataFrame({"text": ["Apples in New York", "covid19"]}).to_csv(path, index=False)
    with pytest.raises(InputError, match=r"can never occur.*lower-case"):
        load_documents(path, vocabulary=["apples", word])


def test_short_words_of_a_given_list_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "notes.csv"
    pd.DataFrame({"text": ["An ox in a box", "No ox"]}).to_csv(path, index=False)
    corpus = load_documents(path, vocabulary=["ox", "a", "box"])
    assert table_of(corpus) == [[1.0, 1.0, 1.0], [1.0, 0.0, 0.0]]


def test_a_vocabulary_names_every_word_once() -> None:
    with pytest.raises(InputError, match="twice"):
        Vocabulary(("apples", "apples"))
    with pytest.raises(InputError, match="no word"):
        Vocabulary(())


def test_the_bars_are_ten_pictures_and_documents_a_few_of_them() -> None:
    np.testing.assert_allclose(bars().sum(axis=1), 1.0)
    assert len(WORDS) == bars().shape[1] == 25
    table = bar_documents(4000, np.random.default_rng(0))
    np.testing.assert_allclose(table.mean(axis=0) / 100, 1 / 25, rtol=0.1)
    assert np.median((table > 2).sum(axis=1)) < 15


def test_the_docstrings_are_counted_in_the_words_of_other_libraries() -> None:
    corpus = load_documents("bundled:docstrings")
    _, bags = custodian_documents(corpus)
    assert corpus.open_to_all
    assert bags.count == find_corpus("docstrings").rows
    assert bags.size == find_corpus("docstrings").features == docstrings.VOCABULARY
    assert float(np.median(bags.lengths)) > 20
    assert isinstance(bags, Bags)


@pytest.mark.merge
def test_the_docstrings_are_those_of_the_libraries_they_name(tmp_path: Path) -> None:
    """The same where these are installed; other versions say much the same."""
    docstrings.write(tmp_path)
    with np.load(home() / docstrings.FILE) as kept, np.load(tmp_path / docstrings.FILE) as anew:
        if kept["made_of"].tolist() == anew["made_of"].tolist():
            assert all(np.array_equal(kept[part], anew[part]) for part in kept.files)
        assert kept["shape"][0] == pytest.approx(anew["shape"][0], rel=0.3)
        assert kept["counts"].mean() == pytest.approx(anew["counts"].mean(), rel=0.1)
    vocabulary = vocabulary_path(Path(docstrings.FILE)).name
    ours, theirs = (read_vocabulary(at / vocabulary) for at in (home(), tmp_path))
    assert len({*ours[:300]} & {*theirs}) > 250
