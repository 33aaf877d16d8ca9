"""Verifying reads all of a release: dossier, report and rows, and says what nothing vouches for."""

from __future__ import annotations

import hashlib
import json
import operator
import os
import shutil
from collections.abc import Callable
from functools import reduce
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import wording
from support import ROOT

import dpcore as dp
from app.site import release_page
from dpcore.cli import main
from dpcore.errors import InputError, ReplayError
from dpcore.privacy import Proof
from dpcore.releases import api, beside
from dpcore.releases.dossier import FORMAT, THIRD, _worded, verify
from dpcore.releases.filter import Amount
from dpcore.releases.ledger import BudgetLedger
from dpcore.releases.report import EDITION
from dpcore.wall.table import PrivateTable

DATA = Path(__file__).parent / "data"
OLD, MIDDLE, NEW, *OTHER_WORDS, TODAY = (DATA / f"release_{number}" for number in range(1, 11))
GIVEN = ROOT / "notebooks" / "first_release"  # which the last of these ledgers paid for
NOW = "epsilon = 1.00, delta = 1e-6, replacing one patient's row. Proved."
COLUMNS = (
    dp.Column("x", lower=0.0, upper=10.0),
    dp.Column("y, and more", lower=-1.0, upper=1.0),
)
SCHEMAS = {
    "gmm": dp.Schema(COLUMNS),
    "logistic": dp.Schema((*COLUMNS, dp.Column("back", role="target", type="binary"))),
}


@pytest.fixture(params=sorted(SCHEMAS))
def made(request: pytest.FixtureRequest, tmp_path: Path) -> api.Release:
    """A release with synthetic rows, and one of a model that has none."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.uniform(0.0, 1.0, (400, 2)), columns=[c.name for c in COLUMNS])
    frame["back"] = rng.integers(0, 2, 400)
    table = PrivateTable.seal(frame, SCHEMAS[request.param])
    BudgetLedger.create(tmp_path / "budget.sqlite", Amount(2.0, 1e-5))
    return api.release(
        request.param,
        table,
        privacy=dp.Privacy(epsilon=0.5, delta=1e-5),
        ledger=tmp_path / "budget.sqlite",
        out=tmp_path / "out",
        synthetic_rows=7,
    )


def sha(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def changed(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """The dossier, with something else in it, by somebody who makes its own hash anew."""
    record = json.loads((folder / "dossier.json").read_text(encoding="utf-8"))
    change(record)
    if "content" in record:
        record["content"] = beside.content_of(record)
    (folder / "dossier.json").write_text(json.dumps(record), encoding="utf-8")


def rehashed(folder: Path, name: str) -> None:
    """The hash in the dossier made that of the file as it is now."""

    def change(record: dict[str, Any]) -> None:
        record["files"][name] = sha(folder / name)
        if name == "synthetic.csv":
            record["synthetic"]["sha256"] = sha(folder / name)

    changed(folder, change)
    if name == "synthetic.csv":
        changed(folder, lambda record: anew(folder, record))


def anew(folder: Path, record: dict[str, Any]) -> None:
    """The report of the dossier as it is now, and its hash."""
    (folder / "report.html").write_bytes(beside._made_anew(record))
    record["files"]["report.html"] = sha(folder / "report.html")


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_a_dossier_holds_the_hash_of_every_file_beside_it(made: api.Release) -> None:
    names = {path.name for path in made.folder.iterdir()} - {"dossier.json"}
    assert made.dossier["files"] == {name: sha(made.folder / name) for name in names}
    book = made.folder.parent / "budget.sqlite"
    for place in (made.folder, made.folder / "dossier.json"):
        found = verify(place, book)
        assert found["files"].keys() == names
        assert found["files"]["report.html"] == beside.ANEW
        assert found["unvouched"] == []


def test_an_epsilon_edited_in_the_report_is_found(made: api.Release) -> None:
    page = made.folder / "report.html"
    edit(page, "epsilon = 0.500", "epsilon = 0.400")
    for place in (made.folder, made.folder / "dossier.json"):
        with pytest.raises(ReplayError, match=r"report\.html is not the file"):
            verify(place)
    rehashed(made.folder, "report.html")
    with pytest.raises(ReplayError, match=r"report\.html does not agree with the dossier"):
        verify(made.folder)


def test_a_report_of_another_version_is_compared_by_its_hash_alone(made: api.Release) -> None:
    """Its words may have been others; the ledger still vouches for the hash."""
    changed(made.folder, lambda record: record["versions"].update(dpcore="0.0.9"))
    edit(made.folder / "report.html", "What it cost", "Its cost")
    rehashed(made.folder, "report.html")
    assert verify(made.folder)["files"]["report.html"] == beside.HASH
    with pytest.raises(ReplayError, match="another dossier"):
        verify(made.folder, made.folder.parent / "budget.sqlite")


def test_other_words_in_another_version_do_not_fail_what_is_out(
    made: api.Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(beside, "report", lambda dossier: "a new page")
    with pytest.raises(ReplayError, match="does not agree"):
        verify(made.folder)
    monkeypatch.setattr(dp, "__version__", "0.9.9")
    book = made.folder.parent / "budget.sqlite"
    assert verify(made.folder, book)["files"]["report.html"] == beside.HASH
    api.rewrite(book, 2, made.folder.parent / "again")
    verify(made.folder.parent / "again", book)
    assert sha(made.folder.parent / "again" / "report.html") == sha(made.folder / "report.html")


@pytest.mark.parametrize("made", ["gmm"], indirect=True)
def test_rows_are_the_ones_the_dossier_describes(made: api.Release) -> None:
    rows = made.folder / "synthetic.csv"
    text = rows.read_text(encoding="utf-8")
    assert made.dossier["synthetic"]["columns"] == ["x", "y, and more"]
    assert made.dossier["synthetic"]["rows"] == 7
    fewer, long = text.rsplit("\n", 2)[0] + "\n", "x" * 200_000
    for other in (
        text + "1,2\n",
        text.replace("x,", "z,", 1),
        fewer,
        "",
        "\n",
        f"{text}{long},1\n",
    ):
        rows.write_text(other, encoding="utf-8")
        with pytest.raises(ReplayError, match=r"synthetic\.csv is not the file"):
            verify(made.folder)
        rehashed(made.folder, "synthetic.csv")
        with pytest.raises(ReplayError, match="columns or the number of rows"):
            verify(made.folder)


@pytest.mark.parametrize("made", ["gmm"], indirect=True)
def test_rows_are_listed_where_they_are_described(made: api.Release) -> None:
    changed(made.folder, lambda record: record["files"].pop("synthetic.csv"))
    (made.folder / "synthetic.csv").unlink()
    with pytest.raises(ReplayError, match="do not agree"):
        verify(made.folder)


def test_a_folder_holds_all_that_is_listed_and_nothing_else(made: api.Release) -> None:
    (made.folder / "extra.html").write_text("epsilon = 0.1")
    sentence = r"holds extra\.html, which the dossier does not list: move it elsewhere\.$"
    with pytest.raises(ReplayError, match=sentence):
        verify(made.folder)
    verify(made.folder / "dossier.json")  # its own files alone, wherever it has been put
    (made.folder / "extra.html").unlink()
    (made.folder / "report.html").unlink()
    with pytest.raises(ReplayError, match=r"lacks report\.html"):
        verify(made.folder)
    assert verify(made.folder / "dossier.json")["files"]["report.html"] == beside.ABSENT


def test_without_a_ledger_it_says_what_nothing_vouches_for(made: api.Release) -> None:
    """Whatever is not listed cannot be changed without a failure, also with a hash made anew."""
    listed = verify(made.folder)["unvouched"]
    assert {"parameters", "settings", "entries", "guarantee.rows_per_person"} <= set(listed)
    record = json.loads((made.folder / "dossier.json").read_text(encoding="utf-8"))
    (made.folder / "report.html").unlink()
    guarantee = record["guarantee"]
    parts = [*(f"guarantee.{key}" for key in guarantee)]
    parts += [f"guarantee.proof.{key}" for key in guarantee["proof"]]
    for path in [*record, *parts]:
        if path in (*listed, "guarantee"):
            continue
        *outer, key = path.split(".")
        other = json.loads(json.dumps(record))
        reduce(operator.getitem, outer, other)[key] = "something else"
        other["content"] = beside.content_of(other)
        (made.folder / "dossier.json").write_text(json.dumps(other), encoding="utf-8")
        with pytest.raises((ReplayError, InputError)):
            verify(made.folder / "dossier.json")


@pytest.mark.parametrize(
    "files", [None, [], {}, {"report.html": 1}, {"report.html": "0", "../x": "0"}]
)
def test_a_list_of_files_that_no_release_writes_is_refused(files: Any, made: api.Release) -> None:
    changed(made.folder, lambda record: record.update(files=files))
    with pytest.raises((InputError, ReplayError)):
        verify(made.folder)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("noise_scale", -1.0), ("sensitivity", 0.0), ("noise", "gaussian"), ("count", 2),
        ("noise_steps", -1), ("noise_steps", True), ("noise_steps", 2.0**24), ("noise_steps", "9"),
    ],
)  # fmt: skip
def test_an_entry_that_no_release_writes_is_refused(
    key: str, value: Any, made: api.Release
) -> None:
    changed(made.folder, lambda record: record["entries"][0].update({key: value}))
    with pytest.raises(ReplayError, match="An entry is not of the kind that a release writes"):
        verify(made.folder)


def test_a_report_that_is_out_can_be_made_anew_by_its_own_version() -> None:
    """Other words in a report need another edition of it: else what is out would fail."""
    record = json.loads((TODAY / "first" / "dossier.json").read_text(encoding="utf-8"))
    assert record["format"] == FORMAT
    found = verify(TODAY / "first", TODAY / "budget.sqlite")
    versions = record["versions"]
    own = (versions["dpcore"], versions.get("report")) == (dp.__version__, EDITION)
    assert found["files"]["report.html"] == (beside.ANEW if own else beside.HASH)


@pytest.mark.parametrize("earlier", [MIDDLE, *OTHER_WORDS], ids=lambda folder: folder.name)
def test_a_dossier_whose_report_has_other_words_verifies_by_its_hashes(earlier: Path) -> None:
    """Of the second format, without a hash of its own content, of the fourth to seventh, and of the
    eighth with the first two editions of the report."""
    found = verify(earlier / "first", earlier / "budget.sqlite")
    assert found["files"] == {"report.html": beside.HASH, "synthetic.csv": beside.HASH}
    assert found["unvouched"] == []


def test_a_dossier_of_the_third_format_verifies_with_its_decimal_delta(tmp_path: Path) -> None:
    """Its sentence writes delta as 0.000001, and no other sentence is taken for it."""
    record = json.loads((GIVEN / "dossier.json").read_text(encoding="utf-8"))
    assert record["format"] == THIRD
    assert verify(GIVEN, NEW / "budget.sqlite")["unvouched"] == []
    assert "delta = 0.000001, " in record["guarantee"]["sentence"]
    folder = Path(shutil.copytree(GIVEN, tmp_path / "copied"))
    changed(folder, lambda record: record["guarantee"].update(sentence=NOW))
    with pytest.raises(ReplayError, match="sentence does not match its numbers"):
        verify(folder)


def test_whatever_is_changed_in_a_dossier_contradicts_its_hash(made: api.Release) -> None:
    """Also what no proof and no report is about, and in any version."""
    path = made.folder / "dossier.json"
    record = json.loads(path.read_text(encoding="utf-8"))
    (made.folder / "report.html").unlink()
    for name in record.keys() - {"files", "format", "guarantee", "entries"}:
        path.write_text(json.dumps({**record, name: "something else"}), encoding="utf-8")
        with pytest.raises(ReplayError, match="The dossier was changed: the hash"):
            verify(path)
    path.write_text(json.dumps(record), encoding="utf-8")  # other blanks are no other content
    verify(path)


def test_a_dossier_without_hashes_still_verifies_and_says_so(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Written before dossiers held hashes of all their files."""
    for place in ("first", "first/dossier.json"):
        assert main(["verify", str(OLD / place), "--ledger", str(OLD / "budget.sqlite")]) == 0
        told = " ".join(capsys.readouterr().out.split())
        assert "the ledger holds this exact dossier" in told
        assert "Not verified here: report.html." in told
    found = verify(OLD / "first")
    assert found["files"] == {"synthetic.csv": beside.HASH}
    assert {"report.html", "parameters"} <= set(found["unvouched"])


def test_a_dossier_without_hashes_still_fails_where_it_did(tmp_path: Path) -> None:
    for name in ("dossier.json", "synthetic.csv"):
        (tmp_path / name).write_bytes((OLD / "first" / name).read_bytes())
    changed(tmp_path, lambda record: record["line"]["left_after"].update(epsilon=100.0))
    with pytest.raises(ReplayError, match="differs from the line"):
        verify(tmp_path / "dossier.json", OLD / "budget.sqlite")
    (tmp_path / "synthetic.csv").write_text("x,y\n")
    with pytest.raises(ReplayError, match=r"synthetic\.csv is not the file"):
        verify(tmp_path / "dossier.json")


def test_the_command_takes_the_folder_and_tells_how_it_ends(
    made: api.Release, capsys: pytest.CaptureFixture[str]
) -> None:
    book = str(made.folder.parent / "budget.sqlite")
    assert main(["verify", str(made.folder), "--ledger", book]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "report.html: by its hash and by regenerating it" in told
    assert "vouches" not in told
    assert main(["verify", str(made.folder), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["verified"] is True
    assert "parameters" in found["unvouched"]
    edit(made.folder / "report.html", "0.500", "0.400")
    assert main(["verify", str(made.folder)]) == 1
    assert main(["verify", str(made.folder.parent)]) == 2
    capsys.readouterr()
    with pytest.raises(SystemExit):
        main(["verify", "--help"])
    told = " ".join(capsys.readouterr().out.split())
    assert "1 a check failed" in told
    assert "folder" in told


def test_no_name_in_somebody_else_s_folder_writes_over_what_the_terminal_shows(
    made: api.Release, capsys: pytest.CaptureFixture[str]
) -> None:
    (made.folder / "\x1b[2K\x1b[1GVerified: \u202eepsilon").write_text("")
    assert main(["verify", str(made.folder)]) == 1
    assert "\\x1b[2K\\x1b[1GVerified: \\u202eepsilon" in capsys.readouterr().err


def test_assumptions_name_that_number_columns_hold_no_text(made: api.Release) -> None:
    assert any(wording.TEXT_HELD in a for a in made.dossier["guarantee"]["assumptions"])
    assert wording.TEXT_HELD in (made.folder / "report.html").read_text()


@pytest.mark.parametrize("made", ["gmm"], indirect=True)
@pytest.mark.parametrize("version", [dp.__version__, "0.0.9"])
def test_no_text_of_a_dossier_becomes_code_in_a_report_or_a_page(
    version: str, made: api.Release
) -> None:
    """Where nothing vouches for it, somebody has written it: the reader's browser runs none."""
    script = "<script>alert(1)</script>"

    def change(record: dict[str, Any]) -> None:
        record["versions"]["dpcore"] = version
        record["guarantee"]["thing"] = f"row{script}"
        stated = record["guarantee"]
        stated["protects"], stated["sentence"] = _worded(stated, Proof(**stated["proof"]), None)

    changed(made.folder, change)
    changed(made.folder, lambda record: anew(made.folder, record))
    verify(made.folder)
    assert script not in (made.folder / "report.html").read_text(encoding="utf-8")
    _, page = release_page(made.folder)
    assert script not in page
    assert escape(script) in page


def test_a_dossier_of_another_version_that_no_page_can_show_is_refused_in_a_sentence(
    made: api.Release,
) -> None:
    odd: dict[str, Any] = {"line": {"number": "2<b>"}, "columns": None}
    place = made.folder / "dossier.json"
    before = place.read_bytes()
    for name, part in odd.items():
        place.write_bytes(before)

        def change(record: dict[str, Any], name: str = name, part: Any = part) -> None:
            record["versions"]["dpcore"] = "0.0.9"
            record[name] = {**record[name], **part} if part else part

        changed(made.folder, change)
        with pytest.raises(InputError, match="a part of it is missing or malformed"):
            release_page(made.folder)


def test_parts_that_are_nested_too_deep_and_counts_without_end_are_refused_or_not_counted(
    made: api.Release,
) -> None:
    place = made.folder / "dossier.json"
    changed(made.folder, lambda record: record["settings"].update(components=10**12))
    changed(made.folder, lambda record: anew(made.folder, record))
    verify(made.folder)
    plain = json.dumps(json.loads(place.read_text(encoding="utf-8")) | {"title": "@"})
    for depth in range(860, 1000, 2):
        place.write_text(plain.replace('"@"', "[" * depth + "]" * depth), encoding="utf-8")
        with pytest.raises((ReplayError, InputError)):
            verify(made.folder)


def test_a_nul_in_a_name_is_told_in_a_sentence(made: api.Release, tmp_path: Path) -> None:
    odd, limit = str(tmp_path / "a\0b"), Amount(1.0, 1e-5)
    calls: dict[str, list[Callable[[], object]]] = {
        "ledger": [lambda: BudgetLedger(odd), lambda: BudgetLedger.create(odd, limit)],
        "dossier": [lambda: verify(odd)],
        "out": [lambda: api.rewrite(tmp_path / "budget.sqlite", 2, odd)],
    }
    for field, some in calls.items():
        for call in some:
            with pytest.raises(InputError, match=f"{field}: its name contains a NUL; give another"):
                call()


def test_what_a_receiver_may_have_is_not_called_a_broken_file(
    made: api.Release, tmp_path: Path
) -> None:
    """A folder as it was sent, a dossier of a later version, and a ledger that is elsewhere."""
    packed = shutil.make_archive(str(tmp_path / "sent"), "zip", made.folder)
    with pytest.raises(InputError, match=r"^dossier: it is a zip archive; unpack it, then name"):
        verify(packed)
    with pytest.raises(InputError, match=r"^ledger: there is no such file; check the path;"):
        verify(made.folder, tmp_path / "nowhere.sqlite")
    changed(made.folder, lambda record: record.update(format="dpcore dossier 99"))
    later = "^dossier: this version does not know its format, 'dpcore dossier 99'; use the version"
    with pytest.raises(InputError, match=later):
        verify(made.folder)
    for odd in ("dpcore dossier", "dpcore dossier 99\n", 99, None, ["dpcore dossier 8"]):
        changed(made.folder, lambda record, odd=odd: record.update(format=odd))  # type: ignore[misc]
        with pytest.raises(InputError, match=r"^dossier: the file is not a dossier of a known"):
            verify(made.folder)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path / "pipe", "/dev/zero"):
        with pytest.raises(InputError, match=r"^dossier: it is a pipe or a device"):
            verify(place)
