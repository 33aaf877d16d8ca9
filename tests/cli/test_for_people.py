"""What people read, and what another process sees."""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shlex
import subprocess
import sys
import tomllib
from functools import partial
from pathlib import Path

import pytest
import wording
from commands import (
    BUDGET,
    SWEEP,
    Run,
    gaussian,
    written,
)
from support import ROOT

import dpcore as dp
from dpcore.cli import COMMANDS, _Parser, main, output, parse
from dpcore.cli.options import declare_command
from dpcore.cli.output import WIDTH
from dpcore.declaration import declarations

# --- what people read ----------------------------------------------------------------------------

PRINTED = [
    "fit gmm bundled:wine --components 12 --seed 1 --test-fraction 0.2",
    "fit gmm bundled:iris --mode paper --accountant zcdp",
    "fit gmm bundled:iris --privacy none",
    "account --noise-multiplier 5 --delta 1e-5",
    "calibrate --epsilon 0.1 --delta 1e-5",
    " ".join(map(str, [*SWEEP, "--epsilons 0.1,1 --methods all --iterations 2"])),
    "fit kmeans bundled:wine --mode paper --accountant linear --algorithm dplloyd",
    "fit fa bundled:wine --mode paper --accountant linear --factors 11",
    "fit fa bundled:digits --seed 0 --test-fraction 0.1",
    "sweep fa bundled:wine --delta 1e-3 --splits 1 --methods zcdp,ma",
    "reproduce",
    "reproduce dp-em-table-noise",
]


@pytest.mark.parametrize("words", PRINTED)
def test_tables_for_people_fit_a_hundred_columns(words: str, run: Run) -> None:
    private = words.startswith("fit") and "none" not in words
    answer = run(*words.split(), *(BUDGET if private else []))
    assert (answer.code, answer.err) == (0, "")
    lines = answer.out.splitlines()
    assert max(map(len, lines)) <= WIDTH
    assert not any("{" in line or "Traceback" in line for line in lines)


def test_the_table_of_a_fit_names_every_column_with_its_unit(run: Run) -> None:
    text = run("fit", "gmm", "bundled:wine", *BUDGET).out
    assert "epsilon = 1.00, delta = 0.001, replacing one wine's row. Proved." in text
    told = "No budget ledger records this fit"
    assert told in text
    assert told not in run("fit", "gmm", "bundled:wine", *BUDGET, "--seed", 1).out
    assert told not in run("fit", "gmm", "bundled:wine", "--privacy", "none").out
    for column in dp.load("bundled:wine").schema.numeric_columns():  # type: ignore[union-attr]
        assert f"{column.name} ({column.unit})" in text


@pytest.mark.parametrize("model", ["mean", "kmeans", "gmm", "covariance", "fa --factors 1", "ppca"])
def test_means_of_dates_are_dates(model: str, run: Run, tmp_path: Path) -> None:
    """What differs from them is in days."""
    (tmp_path / "schema.toml").write_text(
        '[columns]\nadmitted = {type = "date", lower = 2019-01-01, upper = 2020-12-31}\n'
        "age = {lower = 0, upper = 100}\n"
    )
    rows = [f"2020-0{1 + at % 3}-15,{20 + at % 50}\n" for at in range(200)]
    (tmp_path / "patients.csv").write_text("".join(["admitted,age\n", *rows]))
    files = [str(tmp_path / "patients.csv"), "--schema", str(tmp_path / "schema.toml")]
    out = run("fit", *model.split(), *files, "--epsilon", "500", "--delta", "1e-5").out
    assert re.search(r"2020-0[1-3]-\d\d", out)
    assert "1970" not in out


@pytest.mark.parametrize("model", ["gmm --components 2", "kmeans --components 2", "mean"])
def test_means_far_from_0_have_the_digits_that_tell_them_apart(
    model: str, run: Run, tmp_path: Path
) -> None:
    """Years, or moments in seconds: to a ten thousandth of their limits."""
    places = [f"{1_000_020 + 60 * (i % 2) + i / 500}" for i in range(400)]
    (tmp_path / "far.csv").write_text("\n".join(["a", *places]), encoding="utf-8")
    limits = "[columns.a]\nlower = 1000000\nupper = 1000100\n"
    (tmp_path / "far.toml").write_text(limits, encoding="utf-8")
    told = run("fit", *model.split(), tmp_path / "far.csv", "--epsilon", 50, "--delta", 1e-5).out
    assert len(set(re.findall(r"10000\d\d(?:\.\d+)?", told))) == (1 if model == "mean" else 2)


def test_a_regenerated_table_shows_its_rows_curve_by_curve(run: Run, tmp_path: Path) -> None:
    page = tmp_path / "noise.html"
    text = run("reproduce", "dp-em-table-noise", "--html", page).out
    found = run("reproduce", "dp-em-table-noise", "--json").json
    for curve in ("GGG, zCDP", wording.TABLE_LAPLACE):
        rows = [r for r in found["rows"] if (r["curve"], r["panel"]) == (curve, "figure 3")]
        assert [f"{row['y']:.4g}" for row in rows] in [
            line.split()[-len(rows) :]
            for line in text.splitlines()
            if line.strip().startswith(curve)
        ]
    for sentence in (found["finding"], "LLG, advanced: refused as printed"):
        assert sentence in " ".join(text.split())
        assert sentence in page.read_text(encoding="utf-8")


def test_long_names_and_answers_do_not_break_the_table(run: Run, tmp_path: Path) -> None:
    names = [f"column_{'very_' * 30}long_{i}" for i in range(3)]
    schema = "".join(f"[columns.{name}]\nlower = 0\nupper = 9\n" for name in names)
    path = written(tmp_path, "t.csv", ",".join(names) + "\n1,2,3\n3,2,1\n2,2,2\n", schema)
    assert max(map(len, run("fit", "gmm", path, *BUDGET).out.splitlines())) <= WIDTH
    questions = written(tmp_path, "q.json", json.dumps([{"events": [{"m" * 200: 1}]}, 5]))
    text = run("account", "--file", questions).out
    assert max(map(len, text.splitlines())) <= 250  # one word alone may be longer
    assert "give events, delta and method." in " ".join(text.split())


def help_of(command: str | None, capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as stop:
        main([*([] if command is None else [command]), "--help"])
    assert stop.value.code == 0
    return capsys.readouterr().out


def test_the_help_lists_every_command_and_the_exit_codes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = help_of(None, capsys)
    for name, (_, summary) in COMMANDS.items():
        assert name in text
        assert summary in " ".join(text.split())
    assert "Exit codes: 0 done; 1 a check failed; 2 bad input" in " ".join(text.split())
    assert main([]) == 0
    assert capsys.readouterr().out == text


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_every_option_names_its_default(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert help_of(command, capsys).startswith(f"usage: dpcore {command}")
    for action in options_of(command):
        assert action.help, action.option_strings
        if not action.option_strings or "--help" in action.option_strings:
            continue
        named = re.search(r"\[([^\]]+)\]$", action.help)
        assert named, f"{action.option_strings} names no default: {action.help}"
        if action.default not in (None, False):
            assert str(action.default) in named[1], action.option_strings


def options_of(command: str) -> list[argparse.Action]:
    from importlib import import_module

    actions: list[argparse.Action] = []
    for model in ("", *declarations()):
        parser = _Parser(prog=f"dpcore {command}")
        declare_command(parser, import_module(COMMANDS[command][0]).OPTIONS, [command, model])
        actions += parser._actions
    return actions


CONTRACT = {
    "fit": "--epsilon --noise-multiplier --privacy --delta --adjacency --accountant --mode --trust "
    "--iterations --seed --schema --norm-bound --center --columns --label --target "
    "--rows-per-person --array --infer-schema --test-fraction --json --components --covariance "
    "--combination --prior --algorithm --factors --sigma --clip --tau --missing-rate",
    "sweep": "--epsilons --methods --modes --draws --splits --metric --json",
    "reproduce": "--json",
    "account": "--file --json",
    "calibrate": "--json",
    "explore": "--port --no-browser --json",
    "serve": "--host --port --base-path --allow-upload --unlock --json",
    "site": "--only --release --json",
    "audit": "--runs --json",
    "release": "--ledger --epsilon --delta --out --yes --json --accept-delta",
    "ledger": "--create --epsilon --delta --adjacency --unit --json",
    "verify": "--ledger --json",
    "apply": "--what --keep --out --json",
    "bench": "--json",
}


@pytest.mark.parametrize("command", CONTRACT)
def test_every_option_of_the_contract_is_there(command: str) -> None:
    known = {word for action in options_of(command) for word in action.option_strings}
    assert set(CONTRACT[command].split()) <= known


DEFAULTS = {
    "adjacency": "replace_one", "mode": "proved", "trust": "central", "seed": None, "schema": None,
    "test_fraction": None, "infer_schema": False, "json": False,
    "epsilon": None, "delta": None, "noise_multiplier": None, "privacy": None, "pool": None,
}  # fmt: skip


def test_the_defaults_are_those_of_the_contract() -> None:
    args = parse(["fit", "gmm", "t.csv"])
    assert args is not None
    assert {name: getattr(args, name) for name in DEFAULTS} == DEFAULTS
    swept = parse(["sweep", "gmm", "t.csv"])
    assert swept.epsilons == "0.1,0.5,1,2,4"


def readme_commands() -> list[list[str]]:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```sh\n(.*?)```", text, flags=re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    parts = [part for line in lines for part in line.split("&&")]
    words = [shlex.split(part, comments=True) for part in parts]
    return [each[1:] for each in words if each and Path(each[0]).name == "dpcore"]


def test_the_commands_of_the_readme_parse() -> None:
    commands = readme_commands()
    assert {words[0] for words in commands} >= {"explore", "fit", "account", "calibrate", "sweep"}
    for words in commands:
        assert parse(words) is not None


# --- as another process sees it ------------------------------------------------------------------


def spawned(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "dpcore"]
    return subprocess.run(
        [*command, *words], cwd=cwd, capture_output=True, text=True, timeout=300, check=False
    )


def test_a_process_prints_json_alone_and_equals_this_one(run: Run, table: Path) -> None:
    words = ["fit", "gmm", "people.csv", *BUDGET, "--seed", "1", "--json"]
    found = spawned(*words, cwd=table.parent)
    assert (found.returncode, found.stderr) == (0, "")
    words[2] = str(table)
    assert json.loads(found.stdout) == run(*words).json


def test_a_process_ends_bad_input_with_code_2_and_nothing_on_stdout(tmp_path: Path) -> None:
    found = spawned("fit", "gmm", "absent.csv", *BUDGET, cwd=tmp_path)
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr == "dpcore: absent.csv: there is no such file; check the path.\n"


def test_a_process_prints_utf_8_whatever_the_system_prints(tmp_path: Path) -> None:
    """A schema has typographic quotes, and a name on disk may be in another encoding."""
    (tmp_path / "M\udce4rz.csv").write_text("\N{GRINNING FACE},b\n1,2\n", encoding="utf-8")
    child = subprocess.run(
        [sys.executable, "-m", "dpcore", "schema", "M\udce4rz.csv"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=False,
    )
    assert (child.returncode, child.stderr) == (0, b"")
    text = child.stdout.decode()
    assert text.startswith("# The schema of M?rz.csv, to be filled in.")
    assert list(tomllib.loads(text)["columns"]) == ["\N{GRINNING FACE}", "b"]


@pytest.mark.parametrize("closed", ["stdin", "stdout", "stderr"])
def test_a_closed_stream_is_no_error(closed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As `dpcore ... >&-` leaves it."""
    monkeypatch.setattr(sys, closed, None)
    assert main(["cite", "gmm"]) == 0
    monkeypatch.setattr(sys, closed, None)
    assert main(["cite", "no such model"]) == 2


def test_a_standard_error_that_takes_nothing_ends_no_command(tmp_path: Path) -> None:
    """Its disk is full, or `2>&1 | head` has seen enough."""
    for words, code in (("fit gmm bundled:iris --epsilon 1 --delta 1e-5 --json", 0), ("fit", 2)):
        with open("/dev/full", "w") as full:
            child = subprocess.run(
                [sys.executable, "-m", "dpcore", *words.split()],
                cwd=tmp_path,
                stdout=subprocess.PIPE,
                stderr=full,
                check=False,
            )
        assert child.returncode == code
        assert (json.loads(child.stdout)["model"] == "gmm") if code == 0 else (child.stdout == b"")


@pytest.mark.parametrize(
    "words", ["schema rows.csv --out", "apply RELEASE rows.csv --out", "notebooks"]
)
def test_what_cannot_be_written_to_its_end_leaves_nothing(words: str, tmp_path: Path) -> None:
    """Half the answers passed for all; a half schema was refused at the next try as one that is
    there."""
    words = words.replace("RELEASE", str(ROOT / "notebooks" / "first_release"))
    row = "pressure,age,stay,earlier visits,ward\n150,82,10,4,heart\n"
    (tmp_path / "rows.csv").write_text(row)
    command = [sys.executable, "-m", "dpcore", *words.split(), "new"]
    if words != "notebooks":
        (tmp_path / "new").symlink_to("behind a link")
    most = resource.RLIMIT_FSIZE  # bytes of a file: as on a full disk
    for limit, code in ((10, 2), (resource.getrlimit(most)[0], 0)):
        child = subprocess.run(
            command,
            cwd=tmp_path,
            preexec_fn=partial(resource.setrlimit, most, (limit, resource.getrlimit(most)[1])),
            capture_output=True,
            text=True,
            check=False,
        )
        assert child.returncode == code, child.stderr
        made = [path for path in tmp_path.rglob("*") if path.is_file() and path.stem != "rows"]
        assert bool(made) is (code == 0)


def test_a_user_without_a_home_has_all_commands(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container; `dpcore data`, `dpcore site` and the explorer ended in a traceback."""

    def unknown(_: int) -> None:
        raise KeyError

    monkeypatch.setenv("HOME", "")  # so that it is put back
    for name in ("HOME", "DPCORE_DATA", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pwd.getpwuid", unknown)
    assert run("data", "--json").json["folder"] == "/.local/share/dpcore"
    assert Path.home() == Path("/")  # where Streamlit looks


@pytest.mark.full
def test_a_reader_that_leaves_early_is_no_error(tmp_path: Path) -> None:
    questions = [{"events": [gaussian(5.0)], "delta": 1e-5}] * 2_000
    (tmp_path / "q.json").write_text(json.dumps(questions))
    code = "import sys; from dpcore.cli import main; sys.exit(main())"
    child = subprocess.Popen(
        [sys.executable, "-c", code, "account", "--file", "q.json", "--json"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdout.readline() == "[\n"
    child.stdout.close()
    assert (child.stderr.read(), child.wait(timeout=300)) == ("", 0)
    child.stderr.close()


def test_what_a_reader_copies_from_a_table_still_holds(run: Run) -> None:
    """133.93 would be 133.9 to the nearest, which costs 3.0008; a lower end is rounded down."""
    options = ("--epsilon", "3", "--count", "100", "--delta", "1e-5", "--method", "linear,zcdp")
    lines = run("calibrate", *options).out.splitlines()
    for line in lines[1:3]:
        name, noise = line.split()[:2]
        found = dp.compose([dp.Event(dp.Gaussian(float(noise)), 100)], name, delta=1e-5)
        assert float(found.epsilon) <= 3.0
    sampled = ("--sampling", "poisson", "--sampling-rate", "0.05", "--adjacency", "add_remove")
    shown = run(
        "account", "--noise-multiplier", "1.24", "--count", "20", "--delta", "1e-4", *sampled,
        *("--method", "pld"),
    ).out.splitlines()[1].split()  # fmt: skip
    event = dp.Event(
        dp.Gaussian(1.24), 20, sampling="poisson", sampling_rate=0.05, adjacency="add_remove"
    )
    bound = dp.compose([event], "pld", delta=1e-4)
    assert float(shown[2]) <= float(bound.lower or 0.0) <= float(bound.epsilon) <= float(shown[1])


def test_what_a_price_needs_beyond_the_usual_is_printed(run: Run) -> None:
    words = ("account", "--noise-multiplier", "2", "--delta", "1e-5", "--method", "pld")
    sampled = ("--sampling", "poisson", "--sampling-rate", "0.1")
    assert "Assumed by pld: every row is clipped to a ball around 0" in run(*words, *sampled).out
    assert "ball" not in run(*words, *sampled, "--adjacency", "add_remove").out


@pytest.mark.parametrize("slow", [True, False])
@pytest.mark.parametrize("terminal", [True, False])
def test_a_fit_that_takes_long_says_so_on_a_terminal(
    slow: bool,
    terminal: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(output, "SLOW", 0.0 if slow else 1000.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    budget = "--epsilon 1 --delta 1e-5"
    assert main(f"ledger l.sqlite --create {budget}".split()) == 0
    words = f"mean bundled:three_groups {budget}"
    for command in (f"fit {words}", f"release {words} --ledger l.sqlite --out out --yes"):
        assert main(command.split()) == 0
        assert (output.FITTING in capsys.readouterr().err) == (slow and terminal)
