"""Bad input: one clear sentence and exit code 2, nothing of the cells in it."""

from __future__ import annotations

import argparse
import re
import shlex
from pathlib import Path

import pytest
import wording
from commands import BOX, BUDGET, PAPER, SECRET, Run, account

ROWS = f"{SECRET},1\n2,3\n4,2\n"
FILES: dict[str, str | bytes] = {
    "t.csv": f"a,b\n{ROWS}",
    "table.doc": f"a,b\n{ROWS}",
    "table.XLSX": "PK",
    "table": f"a,b\n{ROWS}",
    "binary.csv": b"\x89PNG\r\n\0\0",
    "latin.csv": b"a,b\n1,\xff\n",
    "empty.csv": "",
    "header.csv": "a,b\n",
    "semicolon.csv": f"a;b\n{SECRET};1\n",
    "sep.csv": "sep=;\na;b\n1;2\n",
    "title.csv": f"Report\n\na,b\n{ROWS}",
    "ragged.csv": f"a,b\n{SECRET},1,2\n",
    "words.csv": f"a,b\nx{SECRET},y\n",
    "a_text.csv": f"a,b\n1,x{SECRET}\n2,3\n",
    "texts.csv": f"a,b\nx{SECRET},x\n",
    "no_b.csv": f"a,c\n{ROWS}",
    "twice.csv": f"a,a\n{ROWS}",
    "text.csv": "text\nred\n",
    "mine.csv": "mine",
    "upside_down.csv": f"a,b\n{ROWS}",
    "no_limits.csv": f"a,b\n{ROWS}",
    "no_schema.csv": f"a,b\n{ROWS}",
    "no_toml.csv": f"a,b\n{ROWS}",
    "lowest.csv": f"a,b\n{ROWS}",
    "separator.csv": f"a,b\n{ROWS}",
    "binary.toml": b"\xff\xfe",
    "no.json": "[[[",
    "no.toml": "[[[",
    "deep.json": "[" * 100_000,
    "twice.json": '[{"noise_multiplier": 5, "noise_multiplier": 50}]',
    "five.json": "5",
    "object.json": "{}",
    "list.json": "[]",
    "damaged/lifesci.npz": b"",
}
SCHEMAS = {  # the others have the one of every test of commands
    "upside_down.csv": "[columns.a]\nlower = 9\nupper = 1\n",
    "no_limits.csv": "[columns.a]\nunit = 'cm'\n",
    "no_toml.csv": "[columns.a\nlower",
    "lowest.csv": "[columns.a]\nlowest = 1\n",
    "separator.csv": "[file]\nseparator = '#'\n",
    "no_schema.csv": None,
    "words.csv": None,
    "text.csv": None,
}
# command -> its other words, "./" for the folder of the files -> the field, and what is said of it
BAD = {
    "fit gmm ./{} BUDGET": {
        "no.csv": "no.csv: no such file",
        "table.doc": f"table.doc: {wording.EXTENSION}",
        "table.XLSX": f"table.XLSX: {wording.SPREADSHEET}",
        "table": f"table: {wording.EXTENSION}",
        "": ": it is a folder",
        "binary.csv": "binary.csv: binary data, not text",
        "latin.csv": "latin.csv: not UTF-8",
        "empty.csv": "empty.csv: the file is empty",
        "header.csv": "header.csv: a header but no rows",
        "semicolon.csv": "semicolon.csv: whose header contains a semicolon",
        "sep.csv": "sep.csv: program, not a header; delete",
        "title.csv": "title.csv: start with the header, not",
        "ragged.csv": "ragged.csv: more or fewer cells",
        "a_text.csv": f"b: {wording.CATEGORY_CELLS}",
        "texts.csv": f"a: {wording.CATEGORY_CELLS}",
        "no_b.csv": "b: the table has no such column",
        "twice.csv": "twice.csv: columns 1 and 2 have the same name",
        "upside_down.csv": "columns.a: lower = 9 is not below upper = 1",
        "no_limits.csv": "columns.a: a number feature has no bounds",
        "no_schema.csv": "schema: no public bounds",
        "no_toml.csv": f"no_toml.toml: {wording.NO_TOML}",
        "lowest.csv": "columns.a: 'lowest' is not known",
        "t.csv.zip": "model: choose lda, or unpack the table",
        "separator.csv": 'file.separator: choose one of ",", ";", tab, "|"',
    },
    "fit {}": {
        "gmm https://example.org/people.csv BUDGET": "people.csv: it is a URL; download the file",
        "gmm ./words.csv BUDGET --norm-bound 1": "columns: some hold text",
        "lda ./text.csv BUDGET --vocabulary .": "path: it cannot be opened",
        "gmm generated:0x2x3x0 BUDGET": "rows: 0 is below 1",
        "mean ./t.csv BUDGET --trust bits": "trust: 'bits' is not known",
        "symmetric-mixture ./t.csv BUDGET --algorithm em": "algorithm: em does not bound gradients",
        "symmetric-mixture ./t.csv BUDGET --algorithm dplloyd": "algorithm: 'dplloyd' is not known",
        "symmetric-mixture ./t.csv BUDGET --sigma -1": "sigma: not a finite number above 0",
        "mixture-regression ./t.csv BUDGET": "target: no column has the role target",
        "magic t.csv BUDGET": "model: 'magic' is not known",
        "hmm t.csv --states 5 BUDGET": "model: 'hmm' is not known",
        "logistic ./t.csv BUDGET --iterations 5": "iterations: one_shot reads the rows once",
        "logistic ./t.csv BUDGET --iterations 5 --algorithm objective": "iterations: objective",
        "gmm t.csv --epsilon": "command line: argument --epsilon: expected one argument",
        "gmm": "command line: arguments are required: FILE",
        "--epsilonn 1 gmm t.csv": "command line: fit has no option --epsilonn; try --epsilon",
        "mean -- t.csv --epsilon 1": "command line: --epsilon comes after --; put options before",
        "gmm bundled:nothing BUDGET": "data: 'nothing' is not a bundled table",
        "fa bundled:digits BUDGET --pool 3": "pool: squares of 3 x 3 pixels do not fill 8 x 8",
        "fa bundled:digits BUDGET --pool 2 --norm-bound 90": "pool: a pixel has no bounds of its",
        "gmm '' BUDGET": f"file: {wording.NAME_MISSING}",
        "lda / BUDGET": f"file: {wording.NAME_MISSING}",
        f"gmm {'a' * 300}.csv BUDGET": "file: long",
        "sbn ./t.csv BUDGET --iterations 3 --epochs 2": "iterations and epochs: both were given",
        "gmm bundled:irs BUDGET": "data: choose iris (the nearest of ",
    },
    "fit gmm ./t.csv BUDGET {}": {
        "--components 4": "number of groups: more groups than",
        "--components 0": "components: 0 is below 1",
        "--noise-multiplier 2": "epsilon, noise_multiplier: both were given",
        "--privacy none": "privacy: 'none' was given together with",
        "--accountant guess": "accountant: 'guess' is not known",
        "--mode hopeful": "mode: 'hopeful' is not known",
        "--adjacency near": "adjacency: 'near' is not known",
        "--adjacency label": "adjacency: label does not apply",
        "--trust local": "trust: 'local' is not known",
        "--sigma 1": "command line: model 'gmm' takes no option --sigma",
        "--topics 5": "command line: model 'gmm' takes no option --topics; use --components",
        "--runs 5": "command line: model 'gmm' takes no option --runs; use --components",
        "--norm-bound -3": "norm bound: -3 is not a finite",
        "--norm-bound 3 --center -1": "ball.center: its length is 1 instead of 2",
        "--norm-bound 3 --center x,y": "center: 'x' is not a number",
        "--center 1,2": "center: there is no ball",
        "--norm-bound 3 --infer-schema": "--norm-bound and --infer-schema: more than one was given",
        "--iterations 0": "iterations: 0 is below 1",
        "--iterations nan": "iterations: nan is not a whole",
        "--iterations 2.5": "iterations: 2.5 is not a whole",
        "--covariance round": "covariance: 'round' is not known",
        "--combination LLL": "combination: 'LLL' is not known",
        "--prior flat": "prior: 'flat' is not known",
        "--clip 1.5": "clip: 1.5 is not a share between 0 and 1",
        "--seed -1": "seed: -1 is below 0",
        "--test-fraction 1": "test_fraction: not strictly between 0 and 1",
        "--test-seed 0": "test_seed: no rows are held out",
        "--rows-per-person 0": "rows_per_person: 0 is below 1",
        "--columns a,z": "columns: no column 'z'",
        "--columns ,": "columns: none was named",
        "--label z": "label: no column 'z'",
        "--norm-bound 3 --target z": "target: no column 'z'",
        "--columns a,b --label b": "columns, label, target: 'b' is named twice",
        "--array X": "array: only an .npz file",
        "--schema ./none.toml": "none.toml: there is no such schema file",
        "--schema ./t.csv": f"t.csv: {wording.NO_TOML}",
        "--schema ./binary.toml": "binary.toml: it is not UTF-8 text",
        "more": "command line: argument 'more' is not expected",
        "--iterations 1e99": "iterations: 1e99 is above 1000000; give 1000000 or less",
        "--trust all": "trust: 'all' is not known; choose central",
        "--factors 1": "command line: no option --factors",
        "--pool 0": "pool: 0 is below 1",
        "--pool 1.5": "pool: 1.5 is not a whole number",
        "--pool 2": f"pool: {wording.NO_PICTURES}",
    },
    "fit gmm ./t.csv {}": {
        "--epsilon 0 --delta 1e-3": "epsilon: 0.0 is not a finite",
        "--epsilon -1e-2 --delta 1e-3": "epsilon: -0.01 is not a fin",
        "--epsilon nan --delta 1e-3": "epsilon: nan is not a finite",
        "--epsilon much --delta 1e-3": "epsilon: is not a number",
        "--epsilon 1 --delta 1": "delta: 1.0 is not strictly between 0 and 1",
        "--epsilon 1 --delta 0": "delta: 0.0 is not strictly between 0 and 1",
        "--epsilon 1": "delta: none was given",
        "--delta 1e-3": "epsilon, noise_multiplier: neither was given",
        "--privacy some": "privacy: 'some' is not known",
        "--noise-multiplier -2": "noise_multiplier: -2.0 is not a finite",
        "--eps 1": "command line: model 'gmm' takes no option --eps",
        "--noise-multiplier 1e160 --delta 1e-5": "noise_multiplier: it is above 1e100; give a",
        "--epsilom 1 --delta 1e-3": "command line: takes no option --epsilom; try --epsilon.",
    },
    "{}": {
        "fit2": "command: 'fit2' is not known",
        "fuzz --models gmm": "command line: fuzz has no option --models; try --model",
        "fuzz --seconds 0": "seconds: 0",
        "fuzz --seconds nan": "seconds: nan",
        "fuzz --model gm": "model: 'gm' is not known",
        "fuzz --seed -1": "seed: -1 is below 0",
        "fuzz --pair x": "pair: 'x' is not",
        "fuzz --keep there": "keep: ",
        "fuzz --pair 1 --model gmm": "model: ",
        "fuzz --pair 1 --keep .": "keep: ",
        "fit gmm bundled:few_bars BUDGET": "model: ",
        "fit lda bundled:iris BUDGET": "data: ",
        "fit lda bundled:few_bars BUDGET --columns a": "columns: ",
        "fit gmm bundled:iris BUDGET --text a": "text: ",
        "fit lda bundled:few_bars BUDGET --units 3": "command line: ",
        "bench utility --half best": "half: ",
        "bench utility --model no-such-model": "model: ",
        "bench utility --draws 0": "draws: 0 is below 1",
        "bench utility --page x.html": "page: ",
        "bench gmm --half report": "half: ",
        "reference": "command line: arguments are required: FOLDER",
        "sweep gmm bundled:iris": "delta: none was given",
        "account --delta 1e-5": "noise_multiplier: none was given",
        "calibrate --epsilon 1 --delta 0": "delta: is not strictly between 0 and 1",
        "calibrate BUDGET --mechanism epsilon_delta": "epsilon: none was given",
        "calibrate --epsilon 0.1 --delta 1e-5 --method ma": "epsilon: an epsilon of 0.180 or less",
        "explore --port 70000": "port: 70000 is above 65535",
        "serve --port 0": "port: 0 is below 1",
        "serve --host 192.0.2.1": "host: cannot listen on 192.0.2.1, port 8501",
        "serve --base-path /a/../b": "base_path: it is not a URL path",
        "site ./made --only none": "only: there is no page 'none'; choose one of three_groups",
        "site ./made --release ./none": "dossier: it cannot be read (No such file",
        "site ./mine.csv": "folder: a file with that name exists",
        "sweep fa bundled:wine --delta 0.1 --metric nicv": "metric: test_log_likelihood_scaled",
        "sweep fa bundled:digits --delta 0.1 --pool 2 --columns pixel_3_3": "pool: are not images",
        "cite gm": "name: 'gm' is not known",
        "bench gm": "bench: 'gm' is not known",
        "bench fa --page ./no/x.html": f"page: {wording.NOT_WRITABLE}",
        "bench fa --history ./": f"history: {wording.NOT_WRITABLE}",
        "schema ./letters.zip": "letters.zip: has no columns; fit it as it is: dpcore fit lda",
        "ledger ./l.sqlite": f"ledger: {wording.FILE_MISSING}",
        "ledger a\0b": f"ledger: {wording.NAME_HOLDS_NUL}",
        "ledger a\0b --create BUDGET": f"ledger: {wording.NAME_HOLDS_NUL}",
        "verify ./dossier.json": "dossier: it cannot be read",
        "ledger ./new.sqlite --create": "epsilon: none was given",
        "ledger ./": "ledger: name the ledger file",
    },
    "sweep gmm bundled:iris --delta 0.1 {}": {
        "--metric luck": "metric: 'luck' is not known",
        "--test-fraction x": "test_fraction: 'x' is not a number",
        "--epsilons 1,-1": "epsilons: -1 is not a finite number above 0",
        "--epsilons ,": "epsilons: none was named",
    },
    "account --delta 1e-5 {}": {
        "--noise-multiplier -1": "noise_multiplier: -1",
        "--scale 1": "scale: gaussian events have none",
        "--events ./twice.json": "events: a key occurs twice",
        "--events ./e.json": "events: cannot be read",
        "--events ./object.json": "events: contains no list of events",
        "--events ./list.json --count 3": "events: --count was given as well",
        "--mechanism epsilon_delta --solve count --epsilon 1": "solve: with --solve, --epsilon is",
    },
    "account --delta 1e-5 --noise-multiplier 1 {}": {
        "--count 1.5": "count: whole",
        "--sampling poisson --sampling-rate 0.1 --method zcdp,exact": "sampling: has no theorem",
        "--sampling-rate 0.1": "sampling_rate: given without a sampling method",
        "--method kow": "method: 'kow' is not known",
        "--method zcdp --max-lambda 9": "max_lambda: only method ma has a highest order",
        "--solve delta --epsilon 1": "solve: 'delta' is not known",
        "--solve count": "epsilon: none was given",
        "--method zcdp --conversion best": "conversion: none of the methods named has a choice",
        "--conversion worst": "conversion: 'worst' is not known",
        "--max-lambda nan": "max_lambda: nan is not a whole number",
    },
    "account --file ./{}": {
        "q.json": "file: cannot be read",
        "no.json": "file: it is not JSON",
        "deep.json": "file: it is not JSON",
        "five.json": "file: it contains no question",
        "object.json": "events: there is no list of events",
        "no.toml": "file: it is not TOML",
        "list.json --method ma": "file: --method was given as well",
        "list.json --delta 0.1": "file: --delta was given as well",
    },
    "fit kmeans ./t.csv BUDGET {}": {
        "--algorithm lloyd": "algorithm: 'lloyd' is not known",
        "PAPER zcdp --algorithm proved": "algorithm: not from a paper; choose dplloyd or paper",
        "PAPER ma --algorithm dplloyd": "accountant: choose linear or zcdp",
        "--mode paper": "accountant: linear or zcdp",
        "PAPER zcdp --adjacency add_remove": "adjacency: choose replace_one",
        "PAPER zcdp --algorithm paper": "algorithm: choose a proved algorithm, or give a seed",
        "--algorithm dplloyd --accountant exact": "accountant: Gaussian noise only; choose pld",
        "--covariance diag": "command line: takes no option --covariance; use --components",
        "--components 4": "number of centres: than rows",
        "--components 0": "components: 0 is below 1",
    },
    "fit fa ./t.csv BUDGET {}": {
        "PAPER zcdp --factors 1": "accountant: so there is nothing to compose; choose linear",
        "--mode paper": "accountant: choose linear",
        "PAPER linear --adjacency add_remove": "adjacency: choose replace_one",
        "--components 1": "command line: use --factors",
        "--factors -1": "factors: -1 is below 1",
        "--factors 2": "number of factors: ask for fewer factors",
        "--iterations 0": "iterations: 0 is below 1",
    },
    "audit {}": {
        "gm": "name: 'gm' is not known",
        "--all --mode papre": "mode: 'papre' is not",
        "gaussian --accountant luck": "accountant: 'luck' is not known",
        "laplace --accountant exact": f"accountant: {wording.EXACT_COVERS_GAUSSIAN}",
        "centred-scatter --epsilon 4": "epsilon: applies only to attacks on mechanisms and models",
        "--runs 30": "runs: it applies only to attacks",
        "exhibits --runs 30": "runs: attacks",
        "gmm --all": "all: a single audit or budget was named as well",
    },
    "reproduce {}": {
        "dp-em-figure-2 --html ./": f"html: {wording.NOT_WRITABLE}",
        "figure-9": "name: 'figure-9' is not known",
        "dp-em-figure-3 --splits 0": "splits: 0 is below 1",
        "VIPS-fig-8": "name: vips-figure-8, vips-figure-6 or vips-figure-5 (the nearest of ",
        "zzz": "name: dp-em-table-noise, dp-em-figure-1,",
        "dp-em-figure-3 --data ./": "data: lifesci.npz is not there; add it (dpcore data says how)",
        "dp-em-figure-3 --data ./damaged": "data: lifesci.npz holds no array 'X'",
    },
    "ledger ./l.sqlite {}": {
        "--create BUDGET --unit ''": "unit: it is not a word",
        "--rows-per-person 3": f"ledger: {wording.TERMS_NEVER_CHANGE}",
        "--filter sums": f"ledger: {wording.TERMS_NEVER_CHANGE}",
        "--create BUDGET --out ./x": f"write and out: {wording.ONE_GIVEN}",
        "--write 2": f"write and out: {wording.ONE_GIVEN}",
        "--create BUDGET --write 2": "create and write: both were given",
    },
}
CASES = [
    (command.replace("{}", words), *answer.split(": ", 1))
    for command, answers in BAD.items()
    for words, answer in answers.items()
]


def words_of(command: str, folder: Path) -> list[str]:
    """The words of a command, once the files that it names lie in a folder."""
    whole = {"BUDGET": " ".join(BUDGET), "PAPER": " ".join(PAPER)}
    words = shlex.split(re.sub("BUDGET|PAPER", lambda name: whole[name[0]], command))
    for word in words:
        name = word.removeprefix("./")
        for file in FILES.keys() & {name, f"{name}/lifesci.npz"}:
            content, path = FILES[file], folder / file
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
            schema = SCHEMAS.get(file, BOX)
            if path.suffix == ".csv" and schema is not None:
                path.with_suffix(".toml").write_text(schema)
    return [re.sub(r"^\./", f"{folder}/", word) for word in words]


@pytest.mark.parametrize(("command", "field", "words"), CASES, ids=[case[0] for case in CASES])
def test_bad_input_ends_with_one_sentence_and_exit_code_2(
    command: str, field: str, words: str, run: Run, tmp_path: Path
) -> None:
    answer = run(*words_of(command, tmp_path))
    assert (answer.code, answer.out) == (2, "")
    assert re.fullmatch(rf"dpcore: {re.escape(field)}[^;]*: [^;]+; .+\.\n", answer.err), answer.err
    assert words in answer.err
    assert answer.err.count("\n") == 1
    assert SECRET not in answer.err
    assert str(tmp_path) not in answer.err
    assert "Traceback" not in answer.err


def test_an_option_without_a_command_is_no_request_for_help(run: Run) -> None:
    assert run().code == 0
    answer = run("--json")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("dpcore: command line: there is no option --json without a comm")


def test_a_sentence_stays_one_line_whatever_the_words_hold(run: Run) -> None:
    assert run("fit", "gmm", "x\ny.csv", *BUDGET).err.count("\n") == 1
    assert run(*account("--noise-multiplier", "-1\n")).err.count("\n") == 1


def test_memory_that_does_not_suffice_is_told(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def ask_for_too_much(args: argparse.Namespace) -> None:
        raise MemoryError

    monkeypatch.setattr("dpcore.cli.account.run", ask_for_too_much)
    answer = run(*account())
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("dpcore: memory: there is not enough; ")
