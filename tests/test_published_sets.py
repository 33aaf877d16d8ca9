"""The papers' data sets: their originals are converted, checked and kept, and all else is refused.

The originals here are small, of the published form, and invented.
"""

from __future__ import annotations

import gzip
import json
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import every, shared_data

import dpcore as dp
from app import scenario
from app.state import _data_names
from app.tables import _bundled
from dpcore.cli import main
from dpcore.datasets import conversion, published
from dpcore.datasets.conversion import Fact, sums_of
from dpcore.datasets.documents import load_documents
from dpcore.datasets.published import SETS, PublishedSet, add, address, find_set, folder, present
from dpcore.errors import InputError
from dpcore.papers.reproduction import Ask
from dpcore.registry import MODELS
from dpcore.schema import Schema

SURVEY = (
    "39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male, "
    "2174, 0, 40, United-States, <=50K"
)
STROKE = (
    "id,gender,age,hypertension,heart_disease,ever_married,work_type,Residence_type,"
    "avg_glucose_level,bmi,smoking_status,stroke\n"
    "1,Male,67,0,1,Yes,Private,Urban,228.69,36.6,formerly smoked,1\n"
    "2,Female,61,0,0,Yes,Private,Rural,202.21,N/A,never smoked,0\n"
)
HEART = (
    "HeartDisease,BMI,Smoking,AlcoholDrinking,Stroke,PhysicalHealth,MentalHealth,DiffWalking,Sex,"
    "AgeCategory,Race,Diabetic,PhysicalActivity,GenHealth,SleepTime,Asthma,KidneyDisease,SkinCancer"
    "\nNo,16.6,Yes,No,No,3.0,30.0,No,Female,55-59,White,Yes,Yes,Very good,5.0,Yes,No,Yes\n"
)
FACES = np.random.default_rng(0).integers(0, 256, (3, 64, 64), dtype=np.uint8)
DIGITS = np.random.default_rng(1).integers(0, 256, (3, 28, 28), dtype=np.uint8)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of one's own for each test."""
    monkeypatch.setenv("DPCORE_DATA", str(tmp_path / "home"))
    return tmp_path / "home"


def known_by(monkeypatch: pytest.MonkeyPatch, name: str, found: dict[str, Any]) -> None:
    """Have the set known by the facts of other, smaller content."""
    facts = {key: Fact(found[key].shape, sums_of(found[key])) for key in find_set(name).facts}
    small = replace(find_set(name), facts=facts, checksums=None)
    known = tuple(small if one.name == name else one for one in SETS)
    monkeypatch.setattr(published, "SETS", known)


def original(name: str, into: Path) -> tuple[Path, dict[str, Any]]:
    """A small original, and parts of what it must become."""
    path = into / "original"
    if name == "lifesci":
        path.write_text("1.5,2,3,4,5,6,7,8,9,-10.25,1\n-1,2,3,4,5,6,7,8,9,0.25,0\n")
        first = [1.5, 2, 3, 4, 5, 6, 7, 8, 9, -10.25]
        return path, {"X": np.array([first, [-1, *first[1:9], 0.25]]), "y": np.array([1, 0])}
    if name == "olivetti_faces":
        from scipy.io import savemat

        path = into / "faces.mat"
        savemat(path, {"faces": FACES.transpose(0, 2, 1).reshape(3, -1).T})
        return path, {"images": FACES}
    if name == "dpbench_grids256":
        path, counts = into / "checkin_256_256.npy", np.arange(16).reshape(4, 4)
        np.save(path, counts)
        return path, {"gowalla": counts}
    if name == "adult":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("adult.data", f"{SURVEY}\n{SURVEY.replace('<=', '>')}\n\n")
            archive.writestr("adult.test", f"|1x3 Cross validator\n{SURVEY}.\n\n")
        return path, {"income": ["<=50K", ">50K", "<=50K"], "split": ["train", "train", "test"]}
    if name in ("ipums_br", "acs"):
        rows = np.tile([0, 1, 1], (2, 18))[:, : 53 if name == "ipums_br" else 23]
        path.write_text("\n".join(" ".join(map(str, row)) for row in rows))
        plain = {"X": rows} if name == "acs" else {"X": rows[:, :-1], "y": rows[:, -1]}
        return path, plain
    if name == "mnist":
        path.mkdir()
        for key, file in conversion.IDX.items():
            values = DIGITS if "images" in key else np.array([7, 2, 1], dtype=np.uint8)
            sizes = np.array(values.shape, dtype=">i4").tobytes()
            raw = bytes([0, 0, 8, values.ndim]) + sizes + values.tobytes()
            (path / f"{file}.gz").write_bytes(gzip.compress(raw))
        return path, {"train_images": DIGITS, "test_labels": np.array([7, 2, 1])}
    path.write_text(STROKE if name == "stroke_prediction" else HEART)
    return path, {"stroke": [1, 0]} if name == "stroke_prediction" else {"HeartDisease": ["No"]}


@every("one", [one for one in SETS if one.read is not None])
def test_an_original_is_converted_kept_and_loaded_in_public_limits(
    one: PublishedSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / one.name).mkdir()
    monkeypatch.setenv("DPCORE_DATA", str(tmp_path / one.name / "home"))
    path, wanted = original(one.name, tmp_path / one.name)
    home = folder()
    assert one.read is not None
    found = one.read(path)
    made = found.get(conversion.TABLE, found)
    for key, values in wanted.items():
        np.testing.assert_array_equal(np.asarray(made[key]), values)
    known_by(monkeypatch, one.name, found)
    added = add(one.name, path)
    assert added.path == home / one.file
    assert [each.name for each in present()] == [one.name]
    assert not list(home.glob("*.part"))
    table = dp.load(f"published:{one.name}")
    assert table.open_to_all
    assert table.schema == Schema.from_toml(home / f"{one.name}.toml")
    assert "# Limits: " in (home / f"{one.name}.toml").read_text()
    monkeypatch.delenv("DPCORE_SHARED", raising=False)
    assert Ask().file(one.file) == home / one.file
    again = conversion.converted(added.path, added.facts)
    assert {key: sums_of(again[key]) for key in added.facts} == {
        key: fact.sums for key, fact in added.facts.items()
    }


def test_documents_are_kept_with_their_words_and_prove_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bags = {"indptr": [0, 2, 3], "indices": [0, 1, 1], "counts": [2, 1, 4], "shape": [2, 2]}
    np.savez(tmp_path / "wikipedia.npz", **{key: np.array(bags[key]) for key in bags})
    with pytest.raises(InputError, match="vocab"):
        add("wikipedia", tmp_path / "wikipedia.npz")
    (tmp_path / "wikipedia.vocab.txt").write_text("river\ntown\n")
    found = conversion.converted(tmp_path / "wikipedia.npz", find_set("wikipedia").facts)
    known_by(monkeypatch, "wikipedia", found)
    small = replace(find_set("wikipedia"), size=(2, 2))
    monkeypatch.setattr(published, "SETS", (small,))
    add("wikipedia", tmp_path / "wikipedia.npz")
    corpus = load_documents("published:wikipedia")
    assert corpus.schema.words == ("river", "town")
    assert corpus.schema.rehearsal
    assert load_documents(small.path).schema.words == corpus.schema.words  # as figures read it
    data = _bundled("wikipedia")
    assert (data.rows, data.provenance) == (2, "public")
    with pytest.raises(InputError, match="documents, not rows"):
        dp.load("published:wikipedia")


def test_an_added_set_stands_in_the_list_as_published_with_its_owner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from app.exports import command
    from app.views.explore import data_titles, lead

    assert "stroke_prediction" not in data_titles()
    path, _ = original("stroke_prediction", tmp_path)
    known_by(monkeypatch, "stroke_prediction", conversion.delimited(path))
    add("stroke_prediction", path)
    assert "stroke_prediction" in _data_names()
    assert data_titles()["stroke_prediction"] == "Stroke prediction (5,110 × 7)"
    assert "stroke_prediction" not in [one.name for one in scenario.offered()]
    chosen = scenario.opening("stroke_prediction")
    assert chosen.model == "logistic"
    assert "published:stroke_prediction" in command(chosen)
    data = _bundled("stroke_prediction")
    assert data.provenance == "public"
    told = lead(chosen, data, standing_in=False)
    assert "simulated" not in told
    assert "fedesoriano (Kaggle, 2021); licence: data files © original authors" in told
    assert address("iris") == "bundled:iris"


def test_what_is_not_the_published_set_is_one_sentence_and_nothing_is_kept(
    tmp_path: Path, home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    table, _ = original("stroke_prediction", tmp_path)
    (tmp_path / "empty").mkdir()
    np.savez(tmp_path / "other.npz", Z=np.zeros(3))
    faces = tmp_path / "olivettifaces.mat"
    faces.write_bytes(b"no Matlab")
    for words, told in (
        (["add", "stroke_prediction", table], "2 x 12, not 5,110 x 12"),
        (["add", "lifesci", table], "cannot be read as the published data set"),
        (["add", "mnist", tmp_path / "empty"], "train-images-idx3-ubyte is not there"),
        (["add", "adult", tmp_path / "empty"], "adult.data is not there"),
        (["add", "lifesci", tmp_path / "other.npz"], "holds no array 'X'"),
        (["add", "swiss_smart_meter", table], "only one form"),
        (["add", "olivetti_faces", faces], "not have the published checksum"),
        (["add", "lifesci", tmp_path / "absent"], "no such file"),
        (["add", "lifescience", table], "choose"),
        (["add", "lifesci"], "dpcore data add NAME FILE"),
        (["remove"], "add"),
    ):
        assert main(["data", *map(str, words)]) == 2, words
        error = capsys.readouterr().err
        assert told in error
        assert error.startswith("dpcore: ")
        assert error.count("\n") == 1
        assert "228.69" not in error
    found = conversion.delimited(table)
    known_by(monkeypatch, "stroke_prediction", found)
    table.write_text(STROKE.replace("67", "68"))
    with pytest.raises(InputError, match="differ from those of the published"):
        add("stroke_prediction", table)
    assert not home.exists()


def test_a_kept_file_that_was_changed_is_no_longer_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of somebody's own under a published name must not pass for public data."""
    path, _ = original("acs", tmp_path)
    known_by(monkeypatch, "acs", conversion.numbers(path))
    kept = add("acs", path).path
    np.savez(kept, X=np.zeros((2, 23), dtype=np.uint8))
    with pytest.raises(InputError, match="the values of X differ"):
        dp.load("published:acs")
    with pytest.raises(InputError, match="add it with"):
        dp.load("published:adult")


def test_the_list_says_all_that_is_needed(capsys: pytest.CaptureFixture[str], home: Path) -> None:
    assert main(["data"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    for one in SETS:
        for fact in (one.title, one.owner, one.source, one.licence, one.limits):
            assert " ".join(fact.split()) in told, (one.name, fact)
    assert str(home) in told
    assert main(["data", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert [one["name"] for one in record["sets"]] == [one.name for one in SETS]
    assert not any(one["here"] for one in record["sets"])


@every(
    "platform, variable, there",
    [("linux", "XDG_DATA_HOME", "dpcore"), ("win32", "LOCALAPPDATA", "dpcore")],
)
def test_the_folder_is_the_usual_place_of_a_users_data(
    platform: str, variable: str, there: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DPCORE_DATA")
    monkeypatch.setattr("sys.platform", platform)
    monkeypatch.setenv(variable, str(tmp_path))
    assert folder() == tmp_path / there


@every("one", [one for one in SETS if one.schema is not None])
def test_limits_are_public_and_columns_as_many_as_are_told(one: PublishedSet) -> None:
    assert one.schema is not None
    schema = one.schema()
    assert not schema.rehearsal
    assert len(schema.features) == one.size[1]
    assert {opening.model for opening in one.openings} <= set(MODELS)


@pytest.mark.realdata
def test_a_published_set_has_the_facts_by_which_it_is_known() -> None:
    assert add("acs", shared_data("acs.npz")).is_here
    dp.load("published:acs")


@pytest.mark.full
@pytest.mark.realdata
@every("name", [one.name for one in SETS])
def test_every_published_set_is_recognised(name: str) -> None:
    one = find_set(name)
    conversion.check(conversion.converted(shared_data(one.file), one.facts), one.facts, one.name)
