"""What the pages say is executed, or compared with what the package is."""

from __future__ import annotations

import doctest
import json
import pkgutil
import re
import shlex
from importlib import import_module
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pandas as pd
import pytest
from studio import options, statements
from support import ROOT

import dpcore as dp
from app import upload
from dpcore.accounting import ACCOUNTANTS
from dpcore.auditing.api import AUDITS
from dpcore.auditing.exhibits import exhibits
from dpcore.cli import COMMANDS, _Parser, main, parse
from dpcore.cli.options import declare_command
from dpcore.datasets.documents import load_documents
from dpcore.datasets.load import read_described
from dpcore.registry import EXHIBITS, MODELS
from dpcore.schema import Schema
from dpcore.schema.columns import ROLES, TYPES
from dpcore.schema.document import COLUMN_KEYS, FILE_KEYS, TABLE_KEYS

DOCS = ROOT / "app/docs"
PAGES = sorted(DOCS.glob("*.md"))
LINK = r"\]\((?!https?:)([^)#]*)#?([^)]*)\)"  # a page, a section


def page(name: str) -> str:
    return (DOCS / f"{name}.md").read_text(encoding="utf-8")


def anchor(heading: str) -> str:
    """What GitHub calls the section of a heading."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def table(text: str, heading: str) -> list[list[str]]:
    """Cells of the Markdown table whose first heading is this."""
    _, _, rest = text.partition(f"| {heading} |")
    assert rest, f"no table begins with {heading}"
    lines = rest.split("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in lines]


@pytest.mark.parametrize("path", [*PAGES, ROOT / "README.md"], ids=lambda path: path.stem)
def test_every_link_leads_somewhere(path: Path) -> None:
    for target, section in re.findall(LINK, path.read_text(encoding="utf-8")):
        there = path.parent / target if target else path
        assert there.exists(), target
        headings = re.findall(r"^##+ (.*)", there.read_text("utf-8"), re.M) if section else ()
        assert not section or section in map(anchor, headings), f"{target}#{section}"


def test_every_number_of_the_summary_stands_in_a_section_that_its_line_links_to() -> None:
    _, *parts = re.split(r"^## .*", page("results"), flags=re.MULTILINE)
    lines = re.split(r"\n\n|\n(?=[|-])", "\n".join(parts))
    linked = [line for line in lines if "#" in line]
    assert len(linked) > 40
    for line in linked:
        there = [text_of(target, section) for target, section in re.findall(LINK, line)]
        said = numbers(re.sub(r"\]\([^)]*\)", "]", line))
        assert said <= numbers("\n".join(there)), (line, said - numbers("\n".join(there)))
    others = [line for line in lines if "#" not in line and not re.match(r"\| (model|---)", line)]
    assert numbers("\n".join(others)) <= {"0", "1"}, "the ends of the scale of utility"


def text_of(target: str, section: str) -> str:
    """A section of a page, with its heading."""
    parts = re.split(r"^## ", page(target.removesuffix(".md")), flags=re.MULTILINE)
    (found,) = (part for part in parts if anchor(part.partition("\n")[0]) == section)
    return found


def numbers(text: str) -> set[str]:
    """Every number of a text, without a comma or full stop after it."""
    return {found.rstrip(",.") for found in re.findall(r"-?\.?\d[\d,.]*", text)}


def test_the_page_of_options_is_what_the_declarations_say() -> None:
    assert page("options") == options.page(), "python -m tests.studio.options"


def test_the_examples_of_pipelines_do_what_they_say() -> None:
    found = doctest.testfile(str(DOCS / "pipelines.md"), module_relative=False)
    assert found.attempted > 8
    assert found.failed == 0


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_every_command_that_is_told_is_one_with_such_options(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    blocks = re.findall(r"```sh[^\n]*\n(.*?)```", text, flags=re.DOTALL)
    for line in (*"".join(blocks).splitlines(), *re.findall(r"`(dpcore [^`]+)`", text)):
        program, command, *words = shlex.split(line, comments=True)
        if program != "dpcore":
            continue
        parser = _Parser(prog=f"dpcore {command}")
        declare_command(parser, import_module(COMMANDS[command][0]).OPTIONS, words)
        known = {word for action in parser._actions for word in action.option_strings}
        assert {word for word in words if word.startswith("--")} <= known, line


@pytest.mark.merge
def test_the_stewards_plan_is_made_as_printed_before_there_is_a_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = page("stewards")
    limits, *_ = re.findall(r"```toml\n(.*?)```", text, flags=re.DOTALL)
    (plan,) = re.findall(r"```toml plan\n(.*?)```", text, flags=re.DOTALL)
    (commands,) = re.findall(r"```sh plan\n(.*?)```", text, flags=re.DOTALL)
    (tmp_path / "people.toml").write_text(limits, encoding="utf-8")
    (tmp_path / "plan.toml").write_text(plan, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for line in commands.strip().splitlines():
        assert main(shlex.split(line)[1:]) == 0, capsys.readouterr().err
    told = " ".join(capsys.readouterr().out.split())
    assert "One more percentage point for 'centres' costs the others" in told
    assert "for each 'quarterly groups' would take more than the others can give" in told
    assert "quarterly groups" in (tmp_path / "plan.html").read_text(encoding="utf-8")


def test_the_stewards_commands_run_as_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = page("stewards")
    rows = pd.read_csv(ROOT / "sample_data/three_groups.csv")[["age", "visits"]]
    rows["returned"] = (rows["visits"] > 30).astype(int)
    rows.to_csv(tmp_path / "people.csv", index=False)
    limits, whose = re.findall(r"```toml\n(.*?)```", text, flags=re.DOTALL)
    assert dp.Schema.parse(f"{whose}[columns.age]\nlower = 0\nupper = 9\n").person == "patient"
    (tmp_path / "people.toml").write_text(limits, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```sh(?: exit=(\d))?\n(.*?)```", text, flags=re.DOTALL)
    ran = 0
    for code, block in blocks:
        for line in block.strip().splitlines():
            words = shlex.split(line)
            assert words[0] == "dpcore"
            assert main(words[1:]) == int(code or 0), (line, capsys.readouterr().err)
            ran += 1
    assert ran == 15
    files = re.findall(r"^\| `([\w.]+)` \|", text, flags=re.MULTILINE)
    assert sorted(path.name for path in (tmp_path / "first").iterdir()) == sorted(files)
    assert (tmp_path / "again/dossier.json").read_bytes() == (
        tmp_path / "first/dossier.json"
    ).read_bytes()
    assert not (tmp_path / "second").exists()


def test_the_example_of_the_schema_page_is_read_and_every_key_has_its_line(tmp_path: Path) -> None:
    text = page("schema")
    (rows,) = re.findall(r"```csv\n(.*?)```", text, flags=re.DOTALL)
    first, *others = re.findall(r"```toml\n(.*?)```", text, flags=re.DOTALL)
    (tmp_path / "people.csv").write_text(rows, encoding="utf-8")
    (tmp_path / "people.toml").write_text(first, encoding="utf-8")
    frame = read_described(tmp_path / "people.csv", schema := Schema.parse(first))
    numbers = frame[list(schema.features)].fillna(-1.0).to_numpy().tolist()
    assert numbers == [[41, 1234.5, 12, 18627], [-1, 40000, 7.5, 18659], [66, -1, 0, 18659]]
    assert [Schema.parse(other).features for other in others] == [
        ("letter",),
        ("x", "y"),
        ("pixel_0_0", "pixel_0_1"),
    ]
    known = {"`[table]`": TABLE_KEYS, "`[file]`": FILE_KEYS, "`[columns.NAME]`": COLUMN_KEYS}
    for part in re.findall(r"\n## (`.*?)(?=\n## |$)", text, flags=re.DOTALL):
        stated = re.findall(r"^\| (`.+?`) \|", part, flags=re.MULTILINE)
        keys = [key for line in stated for key in re.findall(r"`(\w+)`", line)]
        shapes = {"`[ball]`": ("center", "radius"), "`[image]`": ("height", "width")}
        assert sorted(keys) == sorted((known | shapes)[part.partition(":")[0]])
        wanted = [{"role": ROLES, "type": TYPES}.get(key, ()) for key in keys]
        assert all(f'`"{word}"`' in part for words in wanted for word in words)


def test_the_documents_of_the_schema_page_are_fitted_as_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = page("schema")
    monkeypatch.chdir(tmp_path)
    schema = next(block for block in re.findall(r"```toml\n(.*?)```", text, flags=re.DOTALL)
                  if "[columns.letter]" in block)  # fmt: skip
    Path("letters.toml").write_text(schema, encoding="utf-8")
    for name in ("letters.vocab.txt", "words.txt"):
        Path(name).write_text("pain\nrest\nwalk\nsleep\ndiet\n", encoding="utf-8")
    letters = ["rest; walk and sleep", "pain\nwalk diet", "sleep pain"] * 20
    for name in ("letters.csv", "new_letters.csv"):
        pd.DataFrame({"letter": letters}).to_csv(name, sep=";", index=False)
    with ZipFile("letters.zip", "w") as archive:
        for number, letter in enumerate(letters):
            archive.writestr(f"{number}.txt", letter)
    ledger = "ledger budget.sqlite --create --unit patient --epsilon 4 --delta 1e-5"
    assert main(ledger.split()) == 0
    (block,) = re.findall(r"```sh\n(.*?)```", text, flags=re.DOTALL)
    for line in block.strip().splitlines():
        words = shlex.split(line)[1:]
        yes = ["--yes"] if words[0] == "release" else []
        assert main([*words, *yes]) == 0, (line, capsys.readouterr().err)


def test_the_container_serves_what_the_proxy_asks_for() -> None:
    (command,) = re.findall(r"^CMD (\[.*\])$", page("teaching"), flags=re.MULTILINE)
    program, *words = json.loads(command)
    args = parse(words)
    assert program == "dpcore"
    assert (args.host, args.allow_upload, args.unlock) == ("0.0.0.0", False, False)
    assert f"location {args.base_path}/ {{\n    proxy_pass http://localhost:{args.port};" in page(
        "teaching"
    )


def test_the_proxy_lets_every_upload_through_and_keeps_none() -> None:
    (most,) = re.findall(r"^ +client_max_body_size (\d+)m;", page("teaching"), flags=re.MULTILINE)
    assert int(most) > upload.LARGEST, "a request is a little larger than its file"
    assert re.search(r"^ +proxy_request_buffering off;", page("teaching"), flags=re.MULTILINE)


def test_the_price_of_each_way_of_counting_is_what_it_is() -> None:
    prices = table(page("which-composition"), "composition method")
    least = dp.calibrate([dp.Event(dp.Gaussian(1.0), count=10)], 1.0, 1e-5)
    for name, noise, times in prices:
        found = dp.calibrate([dp.Event(dp.Gaussian(1.0), count=10)], 1.0, 1e-5, name.strip("`"))
        assert 0.0 <= float(noise) - found <= 0.01, name  # noise rounds up
        assert float(times) == pytest.approx(found / least, abs=0.006), name
    assert [float(row[1]) for row in prices] == sorted(float(row[1]) for row in prices)
    (whole,) = re.findall(
        r"`linear` with a tenth of delta for each release needs ([\d.]+)\)",
        " ".join(page("which-composition").split()),
    )
    tenth = dp.Event(dp.Gaussian(1.0), count=10, delta_each=1e-6)
    assert 0.0 <= float(whole) - dp.calibrate([tenth], 1.0, 1e-5, "linear") <= 0.01


@pytest.mark.full
def test_the_ends_for_rare_samples_are_as_told() -> None:
    text = " ".join(page("accounting").split())
    told = re.findall(
        r"(\S+) releases at(?: sampling)? rate ([\d.]+), \w+ lies between ([\d.]+) and ([\d.]+) "
        r"at delta (1e-\d)",
        text,
    )
    assert len(told) == 2
    for count, rate, low, high, delta in told:
        event = dp.Event(
            dp.Gaussian(1.0),
            int(count.replace(",", "")),
            sampling="poisson",
            sampling_rate=float(rate),
            adjacency="add_remove",
        )
        found = dp.compose([event], "pld", delta=float(delta))
        assert 0.0 <= float(found.lower) - float(low) < 0.001
        assert 0.0 <= float(high) - float(found.epsilon) < 0.001


def test_every_way_of_counting_has_its_question() -> None:
    asked = table(page("which-composition"), "your question")
    named = {name for row in asked for name in re.findall(r"`(\w+)`", row[1])}
    assert named == set(ACCOUNTANTS)


def test_the_table_of_models_is_what_their_declarations_say() -> None:
    assert statements.PAGE.read_text("utf-8") == statements.page()
    told = [name for row in table(page("methods"), "model") for name in _names(row[0])]
    assert told == list(MODELS)


def lemmas_told() -> dict[str, str]:
    """Model to the lemma that the page names."""
    return {
        model: re.findall(r"\*(.*?)\*", row[1])[0]
        for row in table(page("methods"), "model")
        for model in re.findall(r"`([\w-]+)`", row[0])
    }


FITTED = {  # model to a bundled table and the number of its parts
    "gmm": ("three_groups", 2),
    "kmeans": ("three_groups", 2),
    "fa": ("three_groups", 1),
    "gmm-release": ("iris", 1),
    "symmetric-mixture": ("two_clouds", 1),
    "mixture-regression": ("two_lines", 1),
    "missing-regression": ("missing_answers", 1),
    "mean": ("three_groups", 1),
    "sbn": ("digits", 2),
    "bernoulli": ("households", 2),
    "poisson": ("a_year_of_care", 2),
    "covariance": ("three_groups", 1),
    "ppca": ("three_groups", 1),
    "lda": ("bars", 10),
    "logistic": ("wine", 1),
    "limits": ("three_groups", 1),
}


def with_outcome(name: str) -> Any:
    """Rows with a yes or no each."""
    rows = pd.DataFrame({"x": [0.1, 0.9, 0.4, 0.7] * 50, "sick": [0, 1, 0, 1] * 50})
    columns = (dp.Column("x", lower=0, upper=1), dp.Column("sick", "target", "binary"))
    return dp.load(rows, schema=dp.Schema(columns))


@pytest.mark.parametrize("model", FITTED)
def test_the_lemma_told_is_the_one_in_the_ledger(model: str) -> None:
    name, parts = FITTED[model]
    assert set(FITTED) == set(MODELS)
    privacy = dp.Privacy(epsilon=1.0, delta=1e-5)
    data = {"lda": load_documents, "logistic": with_outcome}.get(model, dp.load)(f"bundled:{name}")
    found = dp.fit(model, data, privacy=privacy, seed=0, n_components=parts)
    assert lemmas_told()[model] in {entry.proof for entry in found.ledger}


@pytest.mark.parametrize("model", sorted(MODELS))
def test_every_lemma_told_is_one_of_the_walls(model: str) -> None:
    text = "".join(path.read_text("utf-8") for path in (ROOT / "dpcore/wall").rglob("*.py"))
    assert f'"{lemmas_told()[model]}"' in text


def test_every_mechanism_that_can_be_audited_has_its_line() -> None:
    told = [name.strip("`") for name, *_ in table(page("methods"), "noise")]
    models = {name for row in table(page("methods"), "model") for name in _names(row[0])}
    bare = {name for name, target in AUDITS.items() if "auditing.mechanisms" in target}
    assert set(told) == bare
    assert models == set(MODELS) <= set(AUDITS), "a model without an attack has no evidence"
    for name in set(AUDITS) - bare:  # a method of its own has its model's line
        assert any(name == model or name.startswith(f"{model}-") for model in models), name
    laws = {path.stem for path in (ROOT / "dpcore/mechanisms").glob("[!_]*.py")}
    assert laws <= {name.replace("-", "_") for name in told}


@pytest.mark.parametrize("heading", ["model", "noise"])
def test_no_line_of_methods_leaves_claim_or_proof_out(heading: str) -> None:
    for row in table(page("methods"), heading):
        assert len(row) == 4, row
        assert all(row), row


@pytest.mark.merge
def test_every_counterexample_is_told_in_its_own_words() -> None:
    told = {name.strip("`"): said for name, *said in table(page("methods"), "name")}
    assert list(told) == list(EXHIBITS)
    for name, (source, taken, why) in told.items():
        found = exhibits(name)
        assert found.refuted, name
        assert (source, taken) == (found.source, found.assumption), name
        assert found.sentence.endswith(f": {why}"), name


def _names(cell: str) -> list[str]:
    return re.findall(r"`([\w-]+)`", cell)


def test_the_glossary_is_in_order_and_says_each_word_once() -> None:
    words = re.findall(r"^\*\*(.*?)[.,]?\*\*", page("glossary"), flags=re.MULTILINE)
    firsts = [word.split(",")[0].lower() for word in words]
    assert firsts == sorted(firsts)
    assert len(set(firsts)) == len(firsts) > 50


def test_what_the_glossary_names_is_there() -> None:
    names = re.findall(r"`(dpcore[\w.]+)`", page("glossary"))
    assert len(names) > 10
    assert all(pkgutil.resolve_name(name) is not None for name in names)
