"""The command line: what scripts depend on, and one clear sentence for every bad input."""

from __future__ import annotations

import argparse
import gzip
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support import ROOT, shared

import dpcore as dp
from dpcore import accounting
from dpcore.accounting import ACCOUNTANTS, most_repeats
from dpcore.cli import COMMANDS, main, parse
from dpcore.cli.output import WIDTH

SECRET = "8675309"  # stands in cells only; no message may hold it
BUDGET = ["--epsilon", "1", "--delta", "1e-3"]
BOX = "[columns.a]\nlower = 0\nupper = 10\n\n[columns.b]\nlower = -5\nupper = 5\nunit = 'cm'\n"


@dataclass(frozen=True)
class Answer:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        assert self.code == 0, self.err
        assert self.err == ""
        return json.loads(self.out, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))


Run = Callable[..., Answer]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command in this process."""

    def call(*words: object) -> Answer:
        code = main([str(word) for word in words])
        out, err = capsys.readouterr()
        return Answer(code, out, err)

    return call


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """On a busy machine the references' threads wait for one another longer than they work."""
    import sklearn.mixture  # noqa: F401  # the limits hold for what is loaded
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        yield


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A file of two groups, with its schema beside it."""
    path = tmp_path / "people.csv"
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal([2, -3], 0.5, (60, 2)), rng.normal([8, 3], 0.5, (40, 2))])
    path.write_text("a,b\n" + "".join(f"{a:.6f},{b:.6f}\n" for a, b in rows))
    (tmp_path / "people.toml").write_text(BOX)
    return path


def written(folder: Path, name: str, content: str | bytes, schema: str | None = BOX) -> Path:
    """A file, with a schema beside it unless there is none."""
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    if schema is not None:
        (folder / f"{name.split('.')[0]}.toml").write_text(schema)
    return path


# --- bad input -----------------------------------------------------------------------------------

Bad = Callable[[Path], Sequence[object]]
ROWS = f"{SECRET},1\n2,3\n4,2\n"
PAPER = ("--mode", "paper", "--accountant")


def fitted(name: str, content: str | bytes, *words: object, schema: str | None = BOX) -> Bad:
    """A fit of a bad file."""
    return lambda tmp: ["fit", "gmm", written(tmp, name, content, schema), *(words or BUDGET)]


def good(*words: object) -> Bad:
    """A fit of a good file of three rows with bad options."""
    return fitted("t.csv", f"a,b\n{ROWS}", *words)


def other(model: str, *words: object) -> Bad:
    """A fit of another model to the same good file with bad options."""
    return lambda tmp: ["fit", model, written(tmp, "t.csv", f"a,b\n{ROWS}"), *BUDGET, *words]


# (what is wrong, the command, the field, what its sentence must say)
BAD: list[tuple[str, Bad, str, str]] = [
    ("missing path", lambda tmp: ["fit", "gmm", tmp / "no.csv", *BUDGET], "no.csv", "no such file"),
    ("file type", fitted("t.xlsx", "a,b\n" + ROWS), "t.xlsx", "extension is not one of a table"),
    ("no extension", fitted("table", "a,b\n" + ROWS), "table", "extension is not one of a table"),
    ("folder", lambda tmp: ["fit", "gmm", tmp, *BUDGET], "", "it is a folder"),
    ("binary", fitted("t.csv", b"\x89PNG\r\n\0\0"), "t.csv", "binary data, not text"),
    ("not text", fitted("t.csv", b"a,b\n1,\xff\n"), "t.csv", "not UTF-8"),
    ("empty", fitted("t.csv", ""), "t.csv", "the file is empty"),
    ("header only", fitted("t.csv", "a,b\n"), "t.csv", "a header but no rows"),
    ("delimiter", fitted("t.csv", f"a;b\n{SECRET};1\n"), "t.csv", "whose header holds a semicolon"),
    ("ragged", fitted("t.csv", f"a,b\n{SECRET},1,2\n"), "t.csv", "more or fewer cells"),
    (
        "no numeric column",
        fitted("t.csv", f"a,b\nx{SECRET},y\n", schema=None),
        "t.csv",
        "no column holds only numbers",
    ),
    (
        "text in a number column",
        fitted("t.csv", f"a,b\n1,x{SECRET}\n2,3\n"),
        "b",
        "a number column, but some cells hold text",
    ),
    (
        "text in every number column",
        fitted("t.csv", f"a,b\nx{SECRET},x\n"),
        "a",
        "a number column, but some cells hold text",
    ),
    ("missing column", fitted("t.csv", f"a,c\n{ROWS}"), "b", "the table has no such column"),
    (
        "column twice",
        fitted("t.csv", f"a,a\n{ROWS}"),
        "t.csv",
        "columns 1 and 2 have the same name",
    ),
    (
        "bounds upside down",
        fitted("t.csv", f"a,b\n{ROWS}", schema="[columns.a]\nlower = 9\nupper = 1\n"),
        "columns.a",
        "lower = 9 is not below upper = 1",
    ),
    (
        "number without bounds",
        fitted("t.csv", f"a,b\n{ROWS}", schema='[columns.a]\nunit = "cm"\n'),
        "columns.a",
        "a number feature has no bounds",
    ),
    ("no bounds", fitted("t.csv", f"a,b\n{ROWS}", schema=None), "schema", "no public bounds"),
    ("more groups than rows", good(*BUDGET, "--components", "4"), "components", "more groups than"),
    ("no groups", good(*BUDGET, "--components", "0"), "components", "0 is below 1"),
    ("epsilon 0", good("--epsilon", "0", "--delta", "1e-3"), "epsilon", "0.0 is not a finite"),
    ("epsilon < 0", good("--epsilon", "-1e-2", "--delta", "1e-3"), "epsilon", "-0.01 is not a fin"),
    ("epsilon nan", good("--epsilon", "nan", "--delta", "1e-3"), "epsilon", "nan is not a finite"),
    ("epsilon text", good("--epsilon", "much", "--delta", "1e-3"), "epsilon", "is not a number"),
    ("delta 1", good("--epsilon", "1", "--delta", "1"), "delta", "1.0 is not between 0 and 1"),
    ("delta 0", good("--epsilon", "1", "--delta", "0"), "delta", "0.0 is not between 0 and 1"),
    ("no delta", good("--epsilon", "1"), "delta", "none was given"),
    (
        "epsilon and noise",
        good(*BUDGET, "--noise-multiplier", "2"),
        "epsilon, noise_multiplier",
        "both were given",
    ),
    ("no budget", good("--delta", "1e-3"), "epsilon, noise_multiplier", "neither was given"),
    ("none and epsilon", good(*BUDGET, "--privacy", "none"), "privacy", "'none' was given beside"),
    ("privacy word", good("--privacy", "some"), "privacy", "'some' is not known"),
    ("noise < 0", good("--noise-multiplier", "-2"), "noise_multiplier", "-2.0 is not a finite"),
    ("method", good(*BUDGET, "--accountant", "guess"), "accountant", "'guess' is not known"),
    ("mode", good(*BUDGET, "--mode", "hopeful"), "mode", "'hopeful' is not known"),
    ("adjacency", good(*BUDGET, "--adjacency", "near"), "adjacency", "'near' is not known"),
    ("label adjacency", good(*BUDGET, "--adjacency", "label"), "adjacency", "label does not apply"),
    ("trust", good(*BUDGET, "--trust", "local"), "trust", "'local' is not known"),
    ("whose option", good(*BUDGET, "--sigma", "1"), "sigma", "gmm has no such choice"),
    ("one bit, summed", other("mean", "--trust", "bits"), "trust", "'bits' is not known"),
    (
        "nothing bounded",
        other("symmetric-mixture", "--algorithm", "em"),
        "algorithm",
        "em bounds no row",
    ),
    (
        "another model's algorithm",
        other("symmetric-mixture", "--algorithm", "dplloyd"),
        "algorithm",
        "'dplloyd' is not known",
    ),
    (
        "noise level",
        other("symmetric-mixture", "--sigma", "-1"),
        "sigma",
        "not a finite number above 0",
    ),
    ("no target", other("mixture-regression"), "target", "no column has the role target"),
    ("model", lambda tmp: ["fit", "magic", "t.csv", *BUDGET], "model", "'magic' is not known"),
    (
        "option of another model",
        good(*BUDGET, "--topics", "5"),
        "topics",
        "gmm has no such choice",
    ),
    (
        "model before its options",
        lambda tmp: ["fit", "hmm", "t.csv", "--states", "5", *BUDGET],
        "model",
        "'hmm' is not known",
    ),
    ("norm bound < 0", good(*BUDGET, "--norm-bound", "-3"), "norm bound", "-3 is not a finite"),
    (
        "centre's length",
        good(*BUDGET, "--norm-bound", "3", "--center", "-1"),
        "ball.center",
        "it has 1 coordinates for 2",
    ),
    (
        "centre's words",
        good(*BUDGET, "--norm-bound", "3", "--center", "x,y"),
        "center",
        "'x' is not a number",
    ),
    ("centre alone", good(*BUDGET, "--center", "1,2"), "center", "there is no ball"),
    (
        "two bounds",
        good(*BUDGET, "--norm-bound", "3", "--infer-schema"),
        "--norm-bound and --infer-schema",
        "both were given",
    ),
    ("iterations 0", good(*BUDGET, "--iterations", "0"), "iterations", "0 is below 1"),
    ("iterations nan", good(*BUDGET, "--iterations", "nan"), "iterations", "nan is not a whole"),
    ("iterations 2.5", good(*BUDGET, "--iterations", "2.5"), "iterations", "2.5 is not a whole"),
    ("covariance", good(*BUDGET, "--covariance", "round"), "covariance", "'round' is not known"),
    ("combination", good(*BUDGET, "--combination", "LLL"), "combination", "'LLL' is not known"),
    ("prior", good(*BUDGET, "--prior", "flat"), "prior", "'flat' is not known"),
    ("clip", good(*BUDGET, "--clip", "1.5"), "clip", "1.5 is not above 0 and at most 1"),
    ("seed", good(*BUDGET, "--seed", "-1"), "seed", "-1 is below 0"),
    ("share", good(*BUDGET, "--test-fraction", "1"), "test_fraction", "not between 0 and 1"),
    ("rows per person", good(*BUDGET, "--rows-per-person", "0"), "rows_per_person", "0 is below 1"),
    ("unknown column", good(*BUDGET, "--columns", "a,z"), "columns", "no column 'z'"),
    ("no columns", good(*BUDGET, "--columns", ","), "columns", "none was named"),
    ("unknown label", good(*BUDGET, "--label", "z"), "label", "no column 'z'"),
    (
        "unknown target of a ball",
        good(*BUDGET, "--norm-bound", "3", "--target", "z"),
        "target",
        "no column 'z'",
    ),
    (
        "two roles",
        good(*BUDGET, "--columns", "a,b", "--label", "b"),
        "columns, label, target",
        "'b' is named twice",
    ),
    (
        "steps of a single release",
        other("logistic", "--iterations", "5"),
        "iterations",
        "one_shot reads the rows once",
    ),
    (
        "steps of one that has none",
        other("logistic", "--iterations", "5", "--algorithm", "objective"),
        "iterations",
        "objective reads the rows once",
    ),
    ("array of a text file", good(*BUDGET, "--array", "X"), "array", "only an .npz file"),
    (
        "schema is no TOML",
        fitted("t.csv", f"a,b\n{ROWS}", schema="[columns.a\nlower"),
        "t.toml",
        "it is not valid TOML",
    ),
    (
        "schema is missing",
        lambda tmp: [*good(*BUDGET)(tmp), "--schema", tmp / "none.toml"],
        "none.toml",
        "there is no such schema file",
    ),
    (
        "schema is the table",
        lambda tmp: [*good(*BUDGET)(tmp), "--schema", tmp / "t.csv"],
        "t.csv",
        "it is not valid TOML",
    ),
    (
        "schema is binary",
        lambda tmp: [*good(*BUDGET)(tmp), "--schema", written(tmp, "s.toml", b"\xff\xfe", None)],
        "s.toml",
        "it is not UTF-8 text",
    ),
    (
        "schema with an unknown word",
        fitted("t.csv", f"a,b\n{ROWS}", schema="[columns.a]\nlowest = 1\n"),
        "columns.a",
        "'lowest' is not known",
    ),
    (
        "a value that is missing",
        lambda tmp: ["fit", "gmm", "t.csv", "--epsilon"],
        "command line",
        "argument --epsilon: expected one argument",
    ),
    ("no file", lambda tmp: ["fit", "gmm"], "command line", "arguments are required: FILE"),
    ("no such command", lambda tmp: ["fit2"], "command", "'fit2' is not known"),
    ("half an option", good("--eps", "1"), "command line", "fit gmm has no option --eps"),
    ("a word too many", good(*BUDGET, "more"), "command line", "a word too many: 'more'"),
    ("sweep delta", lambda tmp: ["sweep", "gmm", "bundled:iris"], "delta", "none was given"),
    (
        "sweep metric",
        lambda tmp: ["sweep", "gmm", "bundled:iris", "--delta", "0.1", "--metric", "luck"],
        "metric",
        "'luck' is not known",
    ),
    (
        "sweep share",
        lambda tmp: ["sweep", "gmm", "bundled:iris", "--delta", "0.1", "--test-fraction", "x"],
        "test_fraction",
        "'x' is not a number",
    ),
    (
        "sweep epsilons",
        lambda tmp: ["sweep", "gmm", "bundled:iris", "--delta", "0.1", "--epsilons", "1,-1"],
        "epsilons",
        "-1 is not a finite number above 0",
    ),
    (
        "sweep no epsilon",
        lambda tmp: ["sweep", "gmm", "bundled:iris", "--delta", "0.1", "--epsilons", ","],
        "epsilons",
        "none was named",
    ),
    (
        "no name in the bundle",
        lambda tmp: ["fit", "gmm", "bundled:nothing", *BUDGET],
        "data",
        "'nothing' is not a bundled table",
    ),
    ("noise of account", lambda tmp: account("--noise-multiplier", "-1"), "noise_multiplier", "-1"),
    ("no noise", lambda tmp: account(), "noise_multiplier", "none was given"),
    (
        "scale of a gaussian",
        lambda tmp: account("--scale", "1"),
        "scale",
        "gaussian event has none",
    ),
    ("count", lambda tmp: account("--noise-multiplier", "1", "--count", "1.5"), "count", "whole"),
    (
        "sampling",
        lambda tmp: account(
            *("--noise-multiplier", "1", "--sampling", "poisson", "--sampling-rate", "0.1"),
            *("--method", "zcdp,exact"),
        ),
        "sampling",
        "has no theorem for releases on a random sample",
    ),
    (
        "rate without sampling",
        lambda tmp: account("--noise-multiplier", "1", "--sampling-rate", "0.1"),
        "sampling_rate",
        "given without a way of sampling",
    ),
    (
        "account method",
        lambda tmp: account("--noise-multiplier", "1", "--method", "kow"),
        "method",
        "'kow' is not known",
    ),
    (
        "cap of another method",
        lambda tmp: account("--noise-multiplier", "1", "--method", "zcdp", "--max-lambda", "9"),
        "max_lambda",
        "only method ma has such a cap",
    ),
    ("questions", lambda tmp: ["account", "--file", tmp / "q.json"], "file", "cannot be read"),
    (
        "questions not JSON",
        lambda tmp: ["account", "--file", written(tmp, "q.json", "[[[", None)],
        "file",
        "it is not JSON",
    ),
    (
        "questions too deep",
        lambda tmp: ["account", "--file", written(tmp, "q.json", "[" * 100_000, None)],
        "file",
        "it is not JSON",
    ),
    (
        "no question",
        lambda tmp: ["account", "--file", written(tmp, "q.json", "5", None)],
        "file",
        "it holds no question",
    ),
    (
        "one question without events",
        lambda tmp: ["account", "--file", written(tmp, "q.json", "{}", None)],
        "events",
        "there is no list of events",
    ),
    (
        "questions not TOML",
        lambda tmp: ["account", "--file", written(tmp, "q.toml", "[[[", None)],
        "file",
        "it is not TOML",
    ),
    (
        "method beside questions",
        lambda tmp: [*("account", "--file", written(tmp, "q.json", "[]", None)), "--method", "ma"],
        "file",
        "--method was given beside it",
    ),
    ("events", lambda tmp: account("--events", tmp / "e.json"), "events", "cannot be read"),
    (
        "events that are none",
        lambda tmp: account("--events", written(tmp, "e.json", "{}", None)),
        "events",
        "holds no list of events",
    ),
    (
        "events and an event",
        lambda tmp: account("--events", written(tmp, "e.json", "[]", None), "--count", "3"),
        "events",
        "--count was given beside it",
    ),
    (
        "something else to solve",
        lambda tmp: account("--noise-multiplier", "1", "--solve", "delta", "--epsilon", "1"),
        "solve",
        "'delta' is not known",
    ),
    (
        "a count without a budget",
        lambda tmp: account("--noise-multiplier", "1", "--solve", "count"),
        "epsilon",
        "none was given",
    ),
    (
        "a budget that is a black box",
        lambda tmp: account("--mechanism", "epsilon_delta", "--solve", "count", "--epsilon", "1"),
        "solve",
        "--epsilon is the budget",
    ),
    (
        "conversion of other methods",
        lambda tmp: account("--noise-multiplier", "1", "--method", "zcdp", "--conversion", "best"),
        "conversion",
        "no method named has a choice",
    ),
    (
        "conversion",
        lambda tmp: account("--noise-multiplier", "1", "--conversion", "worst"),
        "conversion",
        "'worst' is not known",
    ),
    (
        "a budget without delta",
        lambda tmp: ["calibrate", "--epsilon", "1", "--delta", "0"],
        "delta",
        "is not between 0 and 1",
    ),
    (
        "questions and options",
        lambda tmp: ["account", "--file", written(tmp, "q.json", "[]", None), "--delta", "0.1"],
        "file",
        "--delta was given beside it",
    ),
    (
        "noise of a black box",
        lambda tmp: ["calibrate", *BUDGET, "--mechanism", "epsilon_delta"],
        "epsilon",
        "none was given",
    ),
    (
        "out of reach of every method",
        lambda tmp: ["calibrate", "--epsilon", "0.1", "--delta", "1e-5", "--method", "ma"],
        "epsilon",
        "cannot prove an epsilon of 0.180 or less",
    ),
    ("port", lambda tmp: ["explore", "--port", "70000"], "port", "70000 is above 65535"),
    ("algorithm", other("kmeans", "--algorithm", "lloyd"), "algorithm", "'lloyd' is not known"),
    (
        "an algorithm that no paper prints",
        other("kmeans", *PAPER, "zcdp", "--algorithm", "proved"),
        "algorithm",
        "no paper prints the proved one; choose dplloyd or paper",
    ),
    (
        "a way of counting that no paper of k-means has",
        other("kmeans", *PAPER, "ma", "--algorithm", "dplloyd"),
        "accountant",
        "choose linear or zcdp",
    ),
    ("paper k-means by nothing", other("kmeans", *PAPER[:2]), "accountant", "linear or zcdp"),
    (
        "paper factors by zCDP",
        other("fa", *PAPER, "zcdp", "--factors", "1"),
        "accountant",
        "the paper counts one release, nothing composed; choose linear",
    ),
    ("paper factors by nothing", other("fa", *PAPER[:2]), "accountant", "choose linear"),
    (
        "paper k-means of a row that is added",
        other("kmeans", *PAPER, "zcdp", "--adjacency", "add_remove"),
        "adjacency",
        "choose replace_one",
    ),
    (
        "paper factors of a row that is added",
        other("fa", *PAPER, "linear", "--adjacency", "add_remove"),
        "adjacency",
        "choose replace_one",
    ),
    (
        "an exhibit that is no rehearsal",
        other("kmeans", *PAPER, "zcdp", "--algorithm", "paper"),
        "algorithm",
        "choose one that is proved, or give a seed to rehearse",
    ),
    (
        "exact counting of Laplace noise",
        other("kmeans", "--algorithm", "dplloyd", "--accountant", "exact"),
        "accountant",
        "exact counting covers Gaussian noise only; choose pld",
    ),
    (
        "covariance of centres",
        other("kmeans", "--covariance", "diag"),
        "covariance",
        "kmeans has no such choice; leave it out; it has --components",
    ),
    ("centres of factors", other("fa", "--components", "1"), "components", "it has --factors"),
    ("factors of groups", good(*BUDGET, "--factors", "1"), "factors", "gmm has no such choice"),
    ("more centres than rows", other("kmeans", "--components", "4"), "components", "than rows"),
    ("no centres", other("kmeans", "--components", "0"), "components", "0 is below 1"),
    ("factors < 0", other("fa", "--factors", "-1"), "factors", "-1 is below 1"),
    ("factors = columns", other("fa", "--factors", "2"), "factors", "ask for fewer than columns"),
    ("steps of factors", other("fa", "--iterations", "0"), "iterations", "0 is below 1"),
    (
        "metric of another model",
        lambda tmp: ["sweep", "fa", "bundled:wine", "--delta", "0.1", "--metric", "nicv"],
        "metric",
        "choose one of test_log_likelihood, test_log_likelihood_scaled, reconstruction_error",
    ),
    ("pool", good(*BUDGET, "--pool", "0"), "pool", "0 is below 1"),
    ("pool of a half", good(*BUDGET, "--pool", "1.5"), "pool", "1.5 is not a whole number"),
    ("no pictures", good(*BUDGET, "--pool", "2"), "pool", "the rows are no pictures"),
    (
        "squares that do not fill",
        lambda tmp: ["fit", "fa", "bundled:digits", *BUDGET, "--pool", "3"],
        "pool",
        "squares of 3 do not fill 8 x 8 pixels",
    ),
    (
        "pixels in a ball",
        lambda tmp: ["fit", "fa", "bundled:digits", *BUDGET, "--pool", "2", "--norm-bound", "90"],
        "pool",
        "a pixel has no bounds of its own",
    ),
    (
        "a part of a picture",
        lambda tmp: [
            *("sweep", "fa", "bundled:digits", "--delta", "0.1", "--pool", "2"),
            *("--columns", "pixel_3_3,pixel_4_4"),
        ],
        "pool",
        "the rows are no pictures",
    ),
    ("file without a name", lambda tmp: ["fit", "gmm", "", *BUDGET], "file", "ends in no name"),
    ("the root", lambda tmp: ["fit", "lda", "/", *BUDGET], "file", "ends in no name"),
    ("file name too long", lambda tmp: ["fit", "gmm", "a" * 300 + ".csv", *BUDGET], "file", "long"),
    (
        "steps and passes",
        other("sbn", "--iterations", "3", "--epochs", "2"),
        "iterations and epochs",
        "both were given",
    ),
    (
        "cap that is no number",
        lambda tmp: account("--noise-multiplier", "1", "--max-lambda", "nan"),
        "max_lambda",
        "nan is not a whole number",
    ),
    ("attack", lambda tmp: ["audit", "gm"], "name", "'gm' is not known"),
    ("attack's mode", lambda tmp: ["audit", "--all", "--mode", "papre"], "mode", "'papre' is not"),
    (
        "attack's method",
        lambda tmp: ["audit", "gaussian", "--accountant", "luck"],
        "accountant",
        "'luck' is not known",
    ),
    (
        "method of another mechanism",
        lambda tmp: ["audit", "laplace", "--accountant", "exact"],
        "accountant",
        "exact counting covers Gaussian noise only",
    ),
    (
        "budget of an exhibit",
        lambda tmp: ["audit", "centred-scatter", "--epsilon", "4"],
        "epsilon",
        "it is of attacks on mechanisms and models",
    ),
    ("runs of a list", lambda tmp: ["audit", "--runs", "30"], "runs", "it is of attacks"),
    ("runs of all exhibits", lambda tmp: ["audit", "exhibits", "--runs", "30"], "runs", "attacks"),
    (
        "one of all attacks",
        lambda tmp: ["audit", "gmm", "--all"],
        "all",
        "one audit or one budget was named too",
    ),
    ("papers", lambda tmp: ["cite", "gm"], "name", "'gm' is not known"),
    ("bench", lambda tmp: ["bench", "gm"], "bench", "'gm' is not known"),
    (
        "page in no folder",
        lambda tmp: ["bench", "fa", "--page", tmp / "no" / "x.html"],
        "page",
        "the file cannot be written",
    ),
    (
        "history that is a folder",
        lambda tmp: ["bench", "fa", "--history", tmp],
        "history",
        "the file cannot be written",
    ),
    (
        "page that is a folder",
        lambda tmp: ["reproduce", "dp-em-figure-2", "--html", tmp],
        "html",
        "the file cannot be written",
    ),
    (
        "ledger's terms",
        lambda tmp: ["ledger", tmp / "l.sqlite", "--rows-per-person", "3"],
        "ledger",
        "its terms never change",
    ),
    (
        "ledger's filter",
        lambda tmp: ["ledger", tmp / "l.sqlite", "--filter", "sums"],
        "ledger",
        "its terms never change",
    ),
    (
        "a folder for nothing",
        lambda tmp: ["ledger", tmp / "l.sqlite", "--create", *BUDGET, "--out", tmp / "x"],
        "write and out",
        "one was given alone",
    ),
    (
        "a line without a folder",
        lambda tmp: ["ledger", tmp / "l.sqlite", "--write", "2"],
        "write and out",
        "one was given alone",
    ),
    (
        "a new ledger and an old line",
        lambda tmp: ["ledger", tmp / "l.sqlite", "--create", *BUDGET, "--write", "2"],
        "create and write",
        "both were given",
    ),
    ("no ledger", lambda tmp: ["ledger", tmp / "l.sqlite"], "ledger", "there is no such file"),
    ("no dossier", lambda tmp: ["verify", tmp / "dossier.json"], "dossier", "it cannot be read"),
    ("figure", lambda tmp: ["reproduce", "figure-9"], "name", "'figure-9' is not known"),
    (
        "data of a figure",
        lambda tmp: ["reproduce", "dp-em-figure-3", "--data", tmp],
        "data",
        "lifesci.npz is not there; name the folder that holds it with --data FOLDER",
    ),
    (
        "damaged data of a figure",
        lambda tmp: [
            *("reproduce", "dp-em-figure-3", "--data"),
            written(tmp, "lifesci.npz", b"", None).parent,
        ],
        "data",
        "lifesci.npz holds no array 'X'",
    ),
]


def account(*words: object) -> list[object]:
    return ["account", "--delta", "1e-5", *words]


@pytest.mark.parametrize("case", BAD, ids=[case[0] for case in BAD])
def test_bad_input_ends_with_one_sentence_and_exit_code_2(
    case: tuple[str, Bad, str, str], run: Run, tmp_path: Path
) -> None:
    _, command, field, words = case
    answer = run(*command(tmp_path))
    assert (answer.code, answer.out) == (2, "")
    assert re.fullmatch(rf"dpcore: {re.escape(field)}[^;]*: [^;]+; .+\.\n", answer.err), answer.err
    assert words in answer.err
    assert answer.err.count("\n") == 1
    assert SECRET not in answer.err
    assert str(tmp_path) not in answer.err
    assert "Traceback" not in answer.err


def test_every_kind_of_bad_input_has_its_own_sentence(run: Run, tmp_path: Path) -> None:
    named = {
        "missing path", "file type", "binary", "empty", "delimiter", "no numeric column",
        "text in a number column", "missing column", "column twice", "bounds upside down",
        "no bounds", "more groups than rows", "no groups", "epsilon 0", "delta 1",
        "epsilon and noise", "none and epsilon", "method", "model", "norm bound < 0",
        "iterations 0", "schema is no TOML",
    }  # fmt: skip
    told = set()
    for name, command, _, _ in BAD:
        if name in named:
            folder = tmp_path / name
            folder.mkdir()
            told.add(run(*command(folder)).err.partition(": ")[2])
    assert len(told) == len(named)


def test_a_sentence_stays_one_line_whatever_the_words_hold(run: Run) -> None:
    assert run("fit", "gmm", "x\ny.csv", *BUDGET).err.count("\n") == 1
    assert run(*account("--noise-multiplier", "-1\n")).err.count("\n") == 1


def test_memory_that_does_not_suffice_is_told(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def ask_for_too_much(args: argparse.Namespace) -> None:
        raise MemoryError

    monkeypatch.setattr("dpcore.cli.account.run", ask_for_too_much)
    answer = run(*account())
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("dpcore: memory: it does not suffice; ")


# --- odd cells -----------------------------------------------------------------------------------

ODD = {
    "missing or infinite": "a,b\n1,2\nNaN,3\n4,1\n",
    "infinite": "a,b\n1,2\n2,-inf\n4,1\n",
    "too large for a float": "a,b\n1,2\n1e400,3\n4,1\n",
    "constant": "a,b\n1,2\n1,3\n1,1\n",
    "outside its bounds": "a,b\n1,2\n2,3\n999,1\n",
}


@pytest.mark.parametrize("name", ODD)
def test_odd_cells_are_refused_without_privacy_and_filled_with_it(
    name: str, run: Run, tmp_path: Path
) -> None:
    path = written(tmp_path, "t.csv", ODD[name])
    plain = run("fit", "gmm", path, "--privacy", "none", "--components", 1, "--json")
    assert (plain.code, plain.out) == (2, "")
    assert re.match(r"dpcore: [ab]: (has cells|is constant)", plain.err)
    assert "999" not in plain.err
    for adjacency in ("replace_one", "add_remove"):
        words = [*BUDGET, "--components", 1, "--adjacency", adjacency, "--json"]
        found = run("fit", "gmm", path, *words).json
        assert np.all(np.isfinite(found["parameters"]["means"]))


def test_rows_outside_the_ball_are_refused_without_privacy_only(run: Run, table: Path) -> None:
    ball = ["--norm-bound", 1, "--center", "5,0"]
    plain = run("fit", "gmm", table, "--privacy", "none", *ball)
    assert plain.code == 2
    assert "norm bound: rows lie outside the ball; give a larger norm bound" in plain.err
    assert run("fit", "gmm", table, *BUDGET, *ball).code == 0


# --- fit -----------------------------------------------------------------------------------------


def test_the_json_of_a_fit_has_every_key_of_the_contract(run: Run, table: Path) -> None:
    found = run("fit", "gmm", table, *BUDGET, "--components", 2, "--iterations", 3, "--json").json
    assert {"parameters", "guarantee", "ledger", "metrics", "seed", "version"} <= set(found)
    parameters, guarantee = found["parameters"], found["guarantee"]
    assert parameters["columns"] == ["a", "b"]
    assert found["units"] == [None, "cm"]
    assert np.shape(parameters["weights"]) == (2,)
    assert np.shape(parameters["means"]) == (2, 2)
    assert np.shape(parameters["covariances"]) == (2, 2, 2)
    assert sum(parameters["weights"]) == pytest.approx(1.0)
    keys = {"epsilon", "delta", "adjacency", "unit", "claim", "proof", "assumptions"}
    assert keys <= set(guarantee)
    assert guarantee["epsilon"] == guarantee["proof"]["epsilon"] == pytest.approx(1.0, rel=1e-9)
    assert (guarantee["delta"], guarantee["adjacency"]) == (1e-3, "replace_one")
    assert guarantee["unit"] == "person"
    assert guarantee["claim"] is None
    assert guarantee["rehearsal"] is False
    assert guarantee["assumptions"]
    assert len(found["ledger"]) == 4
    assert (found["seed"], found["version"]) == (None, dp.__version__)
    assert found["metrics"] == {}


def test_the_ledger_of_a_fit_is_a_question_that_gives_its_epsilon(
    run: Run, table: Path, tmp_path: Path
) -> None:
    found = run("fit", "gmm", table, *BUDGET, "--adjacency", "add_remove", "--json").json
    question = {"events": found["ledger"], "delta": 1e-3, "adjacency": "add_remove"}
    path = written(tmp_path, "q.json", json.dumps([question, {**question, "adjacency": "label"}]))
    same, other = run("account", "--file", path, "--json").json
    assert same["epsilon"] == pytest.approx(found["guarantee"]["epsilon"], rel=1e-12)
    assert "under another one" in other["error"]


def test_a_seed_makes_a_rehearsal_that_can_be_repeated(run: Run, table: Path) -> None:
    words = ["fit", "gmm", table, *BUDGET, "--seed", 7, "--test-fraction", 0.2, "--json"]
    one, two = run(*words).json, run(*words).json
    assert one == two
    assert one["guarantee"]["rehearsal"] is True
    assert "Rehearsal" in one["guarantee"]["sentence"]
    assert one["seed"] == 7
    assert {"test_log_likelihood", "test_log_likelihood_scaled"} <= set(one["metrics"])
    assert "private rows" in one["metrics"]["note"]


def test_without_a_seed_noise_is_fresh_and_no_metric_leaves(run: Run, table: Path) -> None:
    words = [
        "fit",
        "gmm",
        table,
        "--epsilon",
        50,
        "--delta",
        1e-3,
        "--test-fraction",
        0.2,
        "--json",
    ]
    one, two = run(*words).json, run(*words).json
    assert one["parameters"]["means"] != two["parameters"]["means"]
    assert one["seed"] is None
    assert list(one["metrics"]) == ["withheld"]
    assert not any(isinstance(value, float) for value in one["metrics"].values())


def test_the_command_equals_the_library(run: Run, table: Path) -> None:
    words = ["--components", 2, "--iterations", 4, "--seed", 3, "--json"]
    private = dp.Privacy(epsilon=1.0, delta=1e-3, adjacency="add_remove", accountant="zcdp")
    options = ["--adjacency", "add_remove", "--accountant", "zcdp"]
    for said, privacy in (([*BUDGET, *options], private), (["--privacy", "none"], None)):
        found = run("fit", "gmm", table, *said, *words).json
        fit = dp.fit("gmm", dp.load(table), privacy=privacy, n_components=2, iterations=4, seed=3)
        assert found["parameters"] == fit.parameters.as_dict()
        assert found["guarantee"]["epsilon"] == fit.guarantee.epsilon
        assert found["ledger"] == json.loads(json.dumps(fit.ledger.as_list(), default=float))


def test_a_fit_without_noise_proves_nothing_and_finds_the_groups(run: Run, table: Path) -> None:
    words = ["--privacy", "none", "--components", 2, "--iterations", 50, "--test-fraction", 0.1]
    found = run("fit", "gmm", table, *words, "--json").json
    assert found["guarantee"]["epsilon"] is None
    assert found["guarantee"]["proof"] is None
    assert {event["noise_multiplier"] for event in found["ledger"]} == {0.0}
    assert found["parameters"]["means"] == pytest.approx(np.array([[2, -3], [8, 3]]), abs=0.3)
    assert found["metrics"]["test_log_likelihood"] > -4.0


def test_metrics_in_scaled_units_are_those_of_x_over_r(run: Run, table: Path) -> None:
    words = ["--norm-bound", 20, "--seed", 0, "--test-fraction", 0.2, "--json"]
    metrics = run("fit", "gmm", table, *BUDGET, *words).json["metrics"]
    gap = metrics["test_log_likelihood_scaled"] - metrics["test_log_likelihood"]
    assert gap == pytest.approx(2 * np.log(20.0))


def test_a_share_of_less_than_a_row_gives_no_metric(run: Run, table: Path) -> None:
    words = ["--privacy", "none", "--test-fraction", 0.001, "--json"]
    assert list(run("fit", "gmm", table, *words).json["metrics"]) == ["withheld"]


def test_a_noise_multiplier_is_priced_where_there_is_a_delta(run: Run, table: Path) -> None:
    words = ["fit", "gmm", table, "--noise-multiplier", 6, "--iterations", 5, "--json"]
    bare, priced = run(*words).json, run(*words, "--delta", 1e-3).json
    assert bare["guarantee"]["epsilon"] is None
    assert priced["guarantee"]["epsilon"] > 0.0
    assert [e["noise_multiplier"] for e in priced["ledger"][1:]] == pytest.approx([6.0] * 5)
    louder = run(*words, "--delta", 1e-3, "--noise-multiplier", 12).json
    assert louder["guarantee"]["epsilon"] < priced["guarantee"]["epsilon"]


@pytest.mark.parametrize("accountant", list(ACCOUNTANTS))
def test_every_accountant_meets_the_budget_it_is_given(
    accountant: str, run: Run, table: Path
) -> None:
    found = run("fit", "gmm", table, *BUDGET, "--accountant", accountant, "--json").json
    proof = found["guarantee"]["proof"]
    assert proof["accountant"] == accountant
    assert proof["epsilon"] == pytest.approx(1.0, rel=max(1e-6, precision(accountant)))
    assert proof["epsilon"] <= 1.0


@pytest.mark.parametrize("accountant", ["linear", "advanced", "zcdp", "ma"])
def test_paper_mode_shows_the_claim_beside_the_proof(
    accountant: str, run: Run, table: Path
) -> None:
    words = ["--mode", "paper", "--accountant", accountant]
    found = run("fit", "gmm", table, *BUDGET, *words, "--json").json["guarantee"]
    assert found["claim"]["epsilon"] == 1.0
    assert "Park" in found["claim"]["source"]
    assert found["claim"]["reasons"]
    assert found["epsilon"] == found["proof"]["epsilon"] != found["claim"]["epsilon"]
    assert found["claim"]["holds"] is (found["epsilon"] <= 1.0)
    assert "The paper says epsilon = 1" in run("fit", "gmm", table, *BUDGET, *words).out


def test_paper_mode_mixes_laplace_and_gaussian_noise(run: Run, table: Path) -> None:
    words = ["--mode", "paper", "--accountant", "zcdp", "--combination", "LLG", "--json"]
    ledger = run("fit", "gmm", table, *BUDGET, *words).json["ledger"]
    assert {event["mechanism"] for event in ledger} == {"laplace", "gaussian"}
    assert all("scale" in event for event in ledger if event["mechanism"] == "laplace")


def test_options_of_the_mixture_reach_the_fit(run: Run, table: Path) -> None:
    words = ["fit", "gmm", table, *BUDGET, "--seed", 0, "--json"]
    found = run(*words, "--components", 4, "--iterations", 2, "--covariance", "diag").json
    assert len(found["parameters"]["weights"]) == 4
    assert len(found["ledger"]) == 3
    assert all(c[0][1] == 0.0 for c in found["parameters"]["covariances"])
    for changed in (["--prior", "map"], ["--clip", "0.5"], ["--covariance", "spherical"]):
        assert run(*words, *changed).json["parameters"] != run(*words).json["parameters"]


def test_rows_per_person_cost_noise_and_are_named(run: Run, table: Path) -> None:
    words = ["fit", "gmm", table, *BUDGET, "--iterations", 1, "--json"]
    one, three = run(*words).json, run(*words, "--rows-per-person", 3).json
    ratio = three["ledger"][0]["noise_scale"] / one["ledger"][0]["noise_scale"]
    assert ratio == pytest.approx(3.0)
    assert three["guarantee"]["rows_per_person"] == 3
    table.with_suffix(".toml").write_text(f"[table]\nrows_per_person = 2\nunit = 'plot'\n\n{BOX}")
    assert run(*words).json["guarantee"]["rows_per_person"] == 2
    ball = run(*words, "--norm-bound", 9).json["guarantee"]
    assert (ball["unit"], ball["rows_per_person"]) == ("plot", 2)


def test_a_ball_takes_the_place_of_the_bounds(run: Run, tmp_path: Path) -> None:
    rows = "a,b,who\n" + "".join(f"{i % 5},{-i % 7},x{i}\n" for i in range(40))
    path = written(tmp_path, "t.csv", rows, schema=None)
    words = ["fit", "gmm", path, "--privacy", "none", "--components", 1, "--json"]
    refused = run(*words, "--norm-bound", 20)
    assert refused.code == 2
    assert refused.err == "dpcore: columns: some hold text; name those to fit with --columns.\n"
    words += ["--columns", "a,b"]
    found = run(*words, "--norm-bound", 20, "--center", "-1,2.5").json["parameters"]
    assert found["columns"] == ["a", "b"]
    assert found["means"][0] == pytest.approx([2.0, np.mean([-i % 7 for i in range(40)])])
    other = run(*words, "--norm-bound", 20, "--columns", "b,a").json["parameters"]
    assert other["columns"] == ["b", "a"]
    assert other["means"][0] == pytest.approx(found["means"][0][::-1])
    words = words[:-2]
    for roles, columns in (
        (["--label", "who"], ["a", "b"]),
        (["--label", "who", "--target", "b"], ["a"]),
    ):
        assert run(*words, "--norm-bound", 20, *roles).json["parameters"]["columns"] == columns


def test_columns_and_labels_change_the_roles_of_a_schema(run: Run, tmp_path: Path) -> None:
    schema = f"{BOX}\n[columns.c]\nrole = 'label'\nlower = 0\nupper = 9\n"
    path = written(tmp_path, "t.csv", "a,b,c\n1,2,3\n2,x,4\n4,y,5\n5,1,1\n", schema)
    words = ["fit", "gmm", path, *BUDGET, "--components", 1, "--json"]
    assert "b: it is a number column" in run(*words).err
    assert run(*words, "--columns", "a").json["parameters"]["columns"] == ["a"]
    assert run(*words, "--columns", "a,c").json["parameters"]["columns"] == ["a", "c"]
    assert "b: it is a number column" in run(*words, "--label", "b").err  # a label is read as well
    assert run(*words, "--columns", "c", "--target", "a").json["parameters"]["columns"] == ["c"]


def test_inferred_bounds_make_a_rehearsal_that_proves_nothing(run: Run, table: Path) -> None:
    table.with_suffix(".toml").unlink()
    for seed in ([], ["--seed", 1]):
        found = run("fit", "gmm", table, *BUDGET, "--infer-schema", *seed, "--json").json
        assert found["guarantee"]["epsilon"] is None
        assert found["guarantee"]["rehearsal"] is True
        assert any("read from the data" in note for note in found["guarantee"]["notes"])
    text = run("fit", "gmm", table, *BUDGET, "--infer-schema").out
    assert "No epsilon is proved" in text
    assert "Rehearsal: not a release." in text


def test_every_file_format_gives_the_same_fit(run: Run, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.uniform(0, 5, (50, 2)).round(6), columns=["x1", "x2"])
    text = frame.to_csv(index=False)
    written(tmp_path, "t.csv", text, None)
    written(tmp_path, "t.csv.gz", gzip.compress(text.encode()), None)
    written(tmp_path, "t.tsv", text.replace(",", "\t"), None)
    written(tmp_path, "t.tsv.gz", gzip.compress(text.replace(",", "\t").encode()), None)
    frame.to_parquet(tmp_path / "t.parquet")
    rows, labels = frame.to_numpy(), np.arange(50)
    np.savez(tmp_path / "t.npz", X=rows, y=labels)
    np.savez(tmp_path / "other.npz", points=rows, y=labels)
    names = ["t.csv", "t.csv.gz", "t.tsv", "t.tsv.gz", "t.parquet", "t.npz", "other.npz"]
    found = []
    for name in names:
        words = ["--array", "points"] if name == "other.npz" else []
        words += ["--norm-bound", 9, "--seed", 0, "--json"]
        found.append(run("fit", "gmm", tmp_path / name, *BUDGET, *words).json["parameters"])
    assert all(each == found[0] for each in found)


def test_scaling_by_the_datas_own_norm_is_a_rehearsal_that_proves_nothing(run: Run) -> None:
    words = ["fit", "gmm", "bundled:iris", *BUDGET, "--norm-bound", "data", "--json"]
    guarantee = run(*words).json["guarantee"]
    assert guarantee["epsilon"] is None
    assert guarantee["proof"] is None
    assert guarantee["rehearsal"]
    assert "bounds were read from the data" in guarantee["notes"][0]
    paper = run(*words, "--mode", "paper", "--accountant", "zcdp").json["guarantee"]
    assert paper["claim"]["epsilon"] > 0
    assert paper["epsilon"] is None
    assert run(*words, "--center", "0,0,0,0").code == 2


def test_a_release_holds_nothing_out_when_one_row_would_move_others(
    run: Run, tmp_path: Path
) -> None:
    words = ["fit", "gmm", "bundled:iris", *BUDGET, "--adjacency", "add_remove"]
    refused = run(*words, "--test-fraction", 0.1)
    assert refused.code == 2
    assert "test_fraction: which rows are held out would change" in refused.err
    assert run(*words, "--test-fraction", 0.1, "--seed", 0).code == 0


@pytest.mark.parametrize("third", ["NA", "x", "9"])
def test_codes_mean_their_number_and_missing_words_can_be_categories(
    third: str, run: Run, tmp_path: Path
) -> None:
    schema = f"[columns.ward]\ntype = 'category'\ncategories = ['007', '12', '{third}']\n"
    cells = ["007"] * 4 + ["7"] * 2 + ["12"] + ["12.0"] + [third] * 2
    path = written(tmp_path, "t.csv", "ward\n" + "".join(f"{c}\n" for c in cells), schema)
    words = ["--privacy", "none", "--components", 1, "--json"]
    found = run("fit", "gmm", path, *words).json["parameters"]
    assert found["columns"] == ["ward=007", "ward=12", f"ward={third}"]
    assert found["means"][0] == pytest.approx([0.6, 0.2, 0.2])


def test_the_folder_one_is_in_is_a_folder_of_rows(
    run: Run, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = table.parent / "rows"
    home.mkdir()
    (home / "part.csv").write_bytes(table.read_bytes())
    home.with_suffix(".toml").write_text(BOX)
    words = [*BUDGET, "--seed", 1, "--json"]
    named = run("fit", "gmm", home, *words).json
    monkeypatch.chdir(home)
    assert run("fit", "gmm", ".", *words).json == named


# --- k-means and factor analysis -----------------------------------------------------------------


@pytest.fixture
def marks(tmp_path: Path) -> Path:
    """A file of five columns that move together in two ways."""
    rng = np.random.default_rng(2)
    ways = np.array([[3, 3, 3, 0, 0], [0, 0, 0, 2, -2]])
    rows = 5.0 + rng.normal(size=(4000, 2)) @ ways * 0.6 + rng.normal(0, 0.4, (4000, 5))
    frame = pd.DataFrame(rows.clip(0, 10), columns=list("pqrst"))
    schema = "".join(f"[columns.{name}]\nlower = 0\nupper = 10\n" for name in "pqrst")
    return written(tmp_path, "marks.csv", frame.to_csv(index=False), schema)


def test_every_model_has_its_options_and_its_table() -> None:
    from dpcore.cli.found import FOUND
    from dpcore.cli.models import OPTIONS
    from dpcore.registry import MODELS

    assert set(FOUND) == set(MODELS) == {model for option in OPTIONS for model in option.models}


def test_the_json_of_centres_is_that_of_the_contract(run: Run, table: Path) -> None:
    words = ["--components", 4, "--seed", 0, "--test-fraction", 0.2, "--json"]
    found = run("fit", "kmeans", table, *BUDGET, *words).json
    assert np.shape(found["parameters"]["centers"]) == (4, 2)
    assert sum(found["parameters"]["shares"]) == pytest.approx(1.0)
    assert found["units"] == [None, "cm"]
    assert list(found["metrics"]) == ["nicv", "note"]
    assert found["metrics"]["nicv"] > 0.0
    assert found["guarantee"]["epsilon"] == pytest.approx(1.0, rel=1e-9)
    assert found["guarantee"]["claim"] is None


def test_the_json_of_coefficients_is_that_of_the_contract(run: Run) -> None:
    words = ["--sigma", 5, "--missing-rate", 0.1, "--seed", 0, "--test-fraction", 0.2, "--json"]
    found = run("fit", "missing-regression", "bundled:missing_answers", *BUDGET, *words).json
    assert np.shape(found["parameters"]["beta"]) == (4,)
    assert list(found["metrics"]) == ["estimation_error", "test_log_likelihood", "note"]
    assert found["guarantee"]["epsilon"] == pytest.approx(1.0, rel=1e-6)
    assert [event["mechanism"] for event in found["ledger"]] == ["gaussian"] * 15


def test_the_json_of_classes_is_that_of_the_contract(run: Run) -> None:
    words = ["--adjacency", "label", "--method", "staged", "--test-fraction", 0.2, "--json"]
    found = run("fit", "gmm-release", "bundled:five_parties", *BUDGET, "--seed", 0, *words).json
    parameters = found["parameters"]
    assert np.shape(parameters["weights"]) == (5,)
    assert np.shape(parameters["means"]) == (5, 2)
    assert np.shape(parameters["covariances"]) == (5, 2, 2)
    assert list(found["metrics"]) == ["reverse_kl", "kl", "accuracy", "note"]
    assert found["guarantee"]["adjacency"] == "label"
    assert len(found["ledger"]) == 4


def test_the_table_of_classes_names_them_and_warns_of_those_that_noise_ate(run: Run) -> None:
    words = ["--delta", 1e-5, "--adjacency", "label", "--method", "staged", "--seed", 1]
    lost = run("fit", "gmm-release", "bundled:five_parties", "--epsilon", 0.1, *words).out
    assert "Warning: the noise outweighs" in " ".join(lost.split())
    kept = run("fit", "gmm-release", "bundled:five_parties", "--epsilon", 4, *words).out
    assert "Warning" not in kept
    assert all(name in kept for name in ("Lake", "Hill", "Coast", "Woods", "Town"))


def test_the_json_of_a_rule_is_that_of_the_contract(run: Run) -> None:
    words = ["--seed", 0, "--test-fraction", 0.2, "--json"]
    found = run("fit", "logistic", "bundled:who_comes_back", *BUDGET, *words).json
    parameters = found["parameters"]
    assert np.shape(parameters["coefficients"]) == (7,)
    assert np.shape(parameters["covariance"]) == (8, 8)
    assert np.shape(parameters["intervals"]) == (8, 2)
    assert next(iter(found["metrics"])) == "test_auc"
    assert found["metrics"]["test_auc"] > 0.6


def test_the_table_of_a_rule_has_intervals_where_the_noise_is_known(run: Run) -> None:
    words = ["fit", "logistic", "bundled:who_comes_back", *BUDGET, "--seed", 0]
    table = run(*words).out
    assert "95% interval" in table
    assert "intercept" in table
    blind = run(*words, "--algorithm", "objective", "--accountant", "linear").out
    assert "95% interval" not in blind
    assert "there are no intervals" in " ".join(blind.split())


@pytest.mark.parametrize(
    ("model", "data", "words", "options"),
    [
        (
            "gmm-release",
            "five_parties",
            "--method gaussian --divergence forward --clip 0.5",
            {"method": "gaussian", "target": "forward", "clip": 0.5},
        ),
        (
            "logistic",
            "who_comes_back",
            "--algorithm vips --iterations 4 --rate 1 --delay 2 --forgetting 0.6 --clip 0.8",
            {"algorithm": "vips", "iterations": 4, "rate": 1.0, "delay": 2.0, "forgetting": 0.6}
            | {"clip": 0.8},
        ),
        (
            "mixture-regression",
            "two_lines",
            "--sigma 4.5 --clip 3 --iterations 4",
            {"sigma": 4.5, "threshold": 3.0, "iterations": 4},
        ),
        (
            "symmetric-mixture",
            "two_clouds",
            "--algorithm robust --tau 9 --coordinates unit --start 2",
            {"algorithm": "robust", "tau": 9.0, "own": False, "start": 2},
        ),
        ("mean", "two_clouds", "--tau 30 --trust local", {"tau": 30.0, "trust": "local"}),
    ],
)
def test_options_of_gradient_models_and_means_are_the_librarys(
    run: Run, model: str, data: str, words: str, options: dict[str, Any]
) -> None:
    found = run("fit", model, f"bundled:{data}", *BUDGET, "--seed", 3, *words.split(), "--json")
    table, privacy = dp.load(f"bundled:{data}"), dp.Privacy(epsilon=1.0, delta=1e-3)
    expected = dp.fit(model, table, privacy=privacy, seed=3, **options).parameters.as_dict()
    named = {"mean": "mean", "gmm-release": "weights", "logistic": "coefficients"}
    name = named.get(model, "beta")
    assert found.json["parameters"][name] == pytest.approx(expected[name], rel=1e-12)


def test_one_bit_a_number_is_counted_by_adding_up_and_has_no_delta_to_lose(run: Run) -> None:
    words = ["--trust", "local_onebit", "--seed", 0, "--json"]
    found = run("fit", "mean", "bundled:two_clouds", *BUDGET, *words).json
    assert found["guarantee"]["proof"]["accountant"] == "linear"
    assert found["guarantee"]["epsilon"] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("model", "data", "told"),
    [
        ("symmetric-mixture", "two_clouds", ["cities (points)", "one", "the other"]),
        ("mixture-regression", "two_lines", ["dose (standard deviations", "one", "the other"]),
        ("missing-regression", "missing_answers", ["travel (standard deviation)", "coefficient"]),
        ("mean", "two_clouds", ["crowds (points)", "mean"]),
    ],
)
def test_people_read_what_was_found_column_by_column(
    run: Run, model: str, data: str, told: list[str]
) -> None:
    found = run("fit", model, f"bundled:{data}", *BUDGET, "--seed", 0)
    assert (found.code, found.err) == (0, "")
    for words in told:
        assert words in found.out
    assert max(map(len, found.out.splitlines())) <= WIDTH


@pytest.mark.parametrize(
    ("model", "data"), [("mixture-regression", "two_lines"), ("mean", "two_clouds")]
)
def test_a_sweep_of_them_has_a_baseline_that_costs_nothing(run: Run, model: str, data: str) -> None:
    words = ["--epsilons", "0.1,10", "--delta", "1e-5", "--splits", 2, "--json"]
    rows = run("sweep", model, f"bundled:{data}", *words).json
    assert rows[0]["baseline"] == rows[1]["baseline"] > 0.0
    assert rows[1]["mean"] < rows[0]["mean"]


def test_the_json_of_factors_is_that_of_the_contract(run: Run, marks: Path) -> None:
    words = ["--factors", 2, "--seed", 0, "--test-fraction", 0.2, "--json"]
    found = run("fit", "fa", marks, *BUDGET, *words).json
    parameters, metrics = found["parameters"], found["metrics"]
    assert np.shape(parameters["loadings"]) == (5, 2)
    assert np.shape(parameters["noise_variance"]) == np.shape(parameters["mean"]) == (5,)
    assert min(parameters["noise_variance"]) > 0.0
    usual = ["test_log_likelihood", "test_log_likelihood_scaled", "reconstruction_error"]
    assert list(metrics) == [*usual, "note"]
    gap = metrics["test_log_likelihood_scaled"] - metrics["test_log_likelihood"]
    assert gap == pytest.approx(5 * np.log(5.0))
    assert [event["mechanism"] for event in found["ledger"]] == ["gaussian"]


def test_without_noise_centres_and_factors_are_the_true_ones(
    run: Run, table: Path, marks: Path
) -> None:
    plain = ["--privacy", "none", "--test-fraction", 0.1, "--json"]
    found = run("fit", "kmeans", table, *plain, "--components", 2).json
    assert found["parameters"]["centers"] == pytest.approx(np.array([[2, -3], [8, 3]]), abs=0.3)
    assert found["guarantee"]["epsilon"] is None
    found = run("fit", "fa", marks, *plain, "--factors", 2).json
    loadings = np.abs(found["parameters"]["loadings"])
    truth = np.array([[1.8, 0], [1.8, 0], [1.8, 0], [0, 1.2], [0, 1.2]])
    assert loadings == pytest.approx(truth, abs=0.15)
    assert found["parameters"]["noise_variance"] == pytest.approx([0.16] * 5, abs=0.05)
    assert {event["noise_multiplier"] for event in found["ledger"]} == {0.0}


SAID: dict[str, dict[str, Any] | None] = {
    "--epsilon 1 --delta 1e-3": {"epsilon": 1.0},
    "--epsilon 1 --delta 1e-3 --accountant zcdp": {"epsilon": 1.0, "accountant": "zcdp"},
    "--epsilon 2 --delta 1e-3 --adjacency add_remove": {"epsilon": 2.0, "adjacency": "add_remove"},
    "--noise-multiplier 3 --delta 1e-3": {"noise_multiplier": 3.0},
    "--privacy none": None,
}


@pytest.mark.parametrize("said", SAID)
@pytest.mark.parametrize("model", ["kmeans", "fa"])
def test_centres_and_factors_equal_the_librarys(
    model: str, said: str, run: Run, marks: Path
) -> None:
    asked = SAID[said]
    parts = "--factors" if model == "fa" else "--components"
    words = [*said.split(), parts, 2, "--iterations", 4, "--seed", 3, "--json"]
    found = run("fit", model, marks, *words).json
    privacy = None if asked is None else dp.Privacy(delta=1e-3, **asked)
    fit = dp.fit(model, dp.load(marks), privacy=privacy, n_components=2, iterations=4, seed=3)
    assert found["parameters"] == fit.parameters.as_dict()
    assert found["guarantee"]["epsilon"] == fit.guarantee.epsilon
    assert found["ledger"] == json.loads(json.dumps(fit.ledger.as_list(), default=float))


@pytest.mark.parametrize("algorithm", ["dplloyd", "paper"])
def test_what_is_not_gaussian_is_counted_by_pld_unless_one_says_how(
    algorithm: str, run: Run, table: Path
) -> None:
    words = ["fit", "kmeans", table, "--algorithm", algorithm, "--json"]
    proof = run(*words, *BUDGET).json["guarantee"]["proof"]
    assert proof["accountant"] == "pld"
    assert 0.999 < proof["epsilon"] <= 1.0
    zcdp = run(*words, *BUDGET, "--accountant", "zcdp").json
    assert zcdp["guarantee"]["proof"]["accountant"] == "zcdp"
    assert {event["mechanism"] for event in zcdp["ledger"]} == {"laplace"}
    priced = run(*words, "--noise-multiplier", 30, "--delta", 1e-3).json["guarantee"]["proof"]
    assert priced["accountant"] == "pld"
    refused = run(*words, *BUDGET, "--accountant", "exact")
    assert (refused.code, refused.out) == (2, "")
    assert "exact counting covers Gaussian noise only" in refused.err
    gaussian_noise = run("fit", "kmeans", table, *BUDGET, "--json").json["guarantee"]["proof"]
    assert gaussian_noise["accountant"] == "exact"


def test_lloyds_algorithm_as_printed_says_what_is_proved_of_it(run: Run, table: Path) -> None:
    words = ["fit", "kmeans", table, *BUDGET, "--algorithm", "dplloyd", *PAPER]
    found = run(*words, "zcdp", "--json").json["guarantee"]
    assert "Park, Foulds" in found["claim"]["source"]
    assert found["claim"]["holds"] is True
    assert found["epsilon"] <= found["claim"]["epsilon"] == 1.0
    words += ["linear", "--iterations", 1]  # a row replaced moves twice what is printed
    found = run(*words, "--json").json["guarantee"]
    assert "Su, Cao" in found["claim"]["source"]
    assert found["claim"]["holds"] is False
    assert 1.9 < found["epsilon"] <= 2.0
    text = " ".join(run(*words).out.split())
    shown = re.search(r"epsilon = 1 with delta = 0, but epsilon = ([0-9.]+) with delta", text)
    assert shown
    assert float(shown[1]) >= found["epsilon"]
    assert "Why: its noise is scaled to d + 1" in text


def test_an_exhibit_is_a_rehearsal_of_which_nothing_is_proved(run: Run, table: Path) -> None:
    words = ["fit", "kmeans", table, *BUDGET, *PAPER, "zcdp"]
    refused = run(*words)
    assert (refused.code, refused.out) == (2, "")
    assert "a part of what it releases has no noise" in refused.err
    found = run(*words, "--seed", 1, "--json").json["guarantee"]
    assert found["epsilon"] is found["proof"] is None
    assert found["claim"]["holds"] is False
    text = " ".join(run(*words, "--seed", 1).out.split())
    assert "No epsilon is proved for replacing one person's row. Rehearsal" in text
    assert "The paper says epsilon = 1, but nothing is proved here" in text


def test_what_comes_with_the_package_has_nothing_to_lock(
    run: Run, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    printed = [*BUDGET, *PAPER, "zcdp", "--json"]
    found = run("fit", "kmeans", "bundled:iris", *printed).json["guarantee"]
    assert found["epsilon"] is None
    assert found["rehearsal"] is False
    monkeypatch.setenv("DPCORE_LOCK_TRUTH", "1")
    refused = run("fit", "kmeans", table, *BUDGET, "--seed", 1)
    assert (refused.code, refused.out) == (1, "")  # neither bad input nor a budget
    assert "locked" in refused.err
    for name in ("bundled:iris", "generated:60x2x2x1"):
        assert run("fit", "kmeans", name, *BUDGET, "--seed", 1).code == 0


def test_factors_as_printed_are_proved_for_what_they_are(run: Run, marks: Path) -> None:
    words = ["fit", "fa", marks, *BUDGET, "--factors", 1, *PAPER, "linear"]
    found = run(*words, "--json").json["guarantee"]
    assert found["claim"]["holds"] is True
    assert found["epsilon"] == found["proof"]["epsilon"] < 1.0
    assert "which holds here (Park, Foulds" in " ".join(run(*words).out.split())


def test_factors_of_few_columns_are_told_column_by_column(run: Run, marks: Path) -> None:
    lines = run("fit", "fa", marks, "--privacy", "none", "--factors", 2).out.splitlines()
    (top,) = [i for i, line in enumerate(lines) if line.split()[:1] == ["column"]]
    assert lines[top].split() == ["column", "mean", "factor", "1", "factor", "2", "its", "own"]
    assert [line.split()[0] for line in lines[top + 1 : top + 6]] == list("pqrst")


def test_factors_of_many_columns_are_told_factor_by_factor(run: Run) -> None:
    words = ["fit", "fa", "bundled:digits", "--epsilon", 4, "--delta", 1e-4, "--seed", 0]
    found = run(*words, "--factors", 5, "--json").json["parameters"]
    answer = run(*words, "--factors", 5)
    text = " ".join(answer.out.split())
    loadings = np.array(found["loadings"])
    seen = int(np.count_nonzero(np.any(loadings != 0.0, axis=0)))
    assert 0 < seen < 5
    assert f"{seen} of 5 factors can be told from noise; the rest is 0." in text
    variances = np.array(found["noise_variance"]) + np.sum(loadings**2, axis=1)
    share = float(np.mean(loadings[:, 0] ** 2 / variances))
    strongest = found["columns"][int(np.argmax(loadings[:, 0] ** 2 / variances))]
    assert f" 1 {share:.1%} {strongest} " in text
    assert len(answer.out.splitlines()) < 20
    none = run(*words[:3], "--epsilon", 0.01, *words[5:], "--factors", 2).out
    assert "None of the 2 factors can be told from noise: all are 0." in " ".join(none.split())


@pytest.mark.parametrize("model", ["gmm", "kmeans"])
def test_groups_of_many_columns_are_told_by_where_they_differ(model: str, run: Run) -> None:
    words = ["fit", model, "bundled:digits", "--epsilon", 4, "--delta", 1e-4, "--seed", 0]
    record = run(*words, "--json").json
    found, bounds = record["parameters"], np.array(record["bounds"])
    assert bounds.tolist() == [[0.0, 16.0]] * 64
    answer = run(*words)
    assert len(answer.out.splitlines()) < 12
    where = np.array(found["means" if model == "gmm" else "centers"])
    shares = found["weights" if model == "gmm" else "shares"]
    away = np.abs(where - np.average(where, axis=0, weights=shares))
    text = " ".join(answer.out.split())
    for k, share in enumerate(shares):
        first = int(np.argmax(away[k]))
        assert f" {k + 1} {share:.1%} {found['columns'][first]} {where[k, first]:.4g}" in text


def test_pooled_pictures_are_the_librarys(run: Run) -> None:
    for name, factor, pixels in (("digits", 2, 16), ("faces_like", 8, 16)):
        words = ["--pool", factor, "--factors", 3, "--seed", 0, "--json"]
        found = run("fit", "fa", f"bundled:{name}", *BUDGET, *words).json
        small = dp.load(f"bundled:{name}").pooled(factor)
        privacy = dp.Privacy(epsilon=1.0, delta=1e-3)
        fit = dp.fit("fa", small, privacy=privacy, n_components=3, seed=0)
        assert found["parameters"] == fit.parameters.as_dict()
        assert len(found["parameters"]["columns"]) == len(found["units"]) == pixels
        assert found["guarantee"]["unit"] == "image"
    swept = ["sweep", "kmeans", "bundled:digits", "--delta", "1e-3", "--splits", 1, "--json"]
    rows = run(*swept, "--epsilons", 4, "--pool", 4).json
    small = dp.load("bundled:digits").pooled(4)
    assert rows == [
        asdict(row) for row in dp.sweep("kmeans", small, epsilons=[4.0], delta=1e-3, splits=1)
    ]


def test_a_part_of_a_picture_is_a_table(run: Run) -> None:
    words = ["fit", "fa", "bundled:digits", *BUDGET, "--factors", 1, "--json"]
    chosen = ["pixel_3_3", "pixel_4_4", "pixel_5_5"]
    found = run(*words, "--columns", ",".join(chosen)).json["parameters"]
    assert found["columns"] == chosen
    without = run(*words, "--label", "pixel_0_0").json["parameters"]
    assert "pixel_0_0" not in without["columns"]
    guessed = run(*words, "--infer-schema", "--pool", 4).json
    assert len(guessed["parameters"]["columns"]) == 4
    assert guessed["guarantee"]["epsilon"] is None


# --- account and calibrate -----------------------------------------------------------------------


def asked(run: Run, folder: Path, *questions: Any) -> list[dict[str, Any]]:
    """Answers to questions in a file."""
    path = folder / "q.json"
    path.write_text(json.dumps(questions))
    found: list[dict[str, Any]] = run("account", "--file", path, "--json").json
    assert len(found) == len(questions)
    return found


def gaussian(noise: float | None = None, **more: Any) -> dict[str, Any]:
    return {
        "mechanism": "gaussian",
        **({} if noise is None else {"noise_multiplier": noise}),
        **more,
    }


def test_answers_stand_in_the_order_of_the_questions(run: Run, tmp_path: Path) -> None:
    found = asked(
        run,
        tmp_path,
        {"events": [gaussian(5.0, count=100)], "delta": 1e-5, "method": "exact"},
        "nonsense",
        {"events": [gaussian(5.0)], "delta": 1e-5, "method": "kow"},
        {"events": [gaussian(5.0, count=100)], "delta": 1e-5, "method": "zcdp"},
        {"events": [], "delta": 1e-5},
        {"events": [gaussian(0.0)], "delta": 1e-5},
    )
    assert [sorted(each) for each in found[1:3]] == [["error"], ["error"]]
    keys = {"epsilon", "lower", "kind", "assumptions", "source"}
    assert all(set(found[i]) == keys for i in (0, 3, 4, 5))
    assert found[0]["epsilon"] == pytest.approx(9.9973, rel=1e-4)
    assert (found[0]["kind"], found[3]["kind"]) == ("exact", "upper bound")
    assert found[3]["epsilon"] == pytest.approx(11.597, rel=1e-4)
    assert "choose one of linear" in found[2]["error"]
    assert found[4]["epsilon"] == 0.0
    assert found[5]["epsilon"] == "Infinity"


UNANSWERABLE: list[tuple[Any, str]] = [
    ({"events": 5, "delta": 1e-5}, "events: there is no list"),
    ({"events": [5], "delta": 1e-5}, "event: it is not an object"),
    ({"events": [{"mechanism": "cauchy"}], "delta": 1e-5}, "mechanism: 'cauchy'"),
    ({"events": [gaussian()], "delta": 1e-5}, "noise_multiplier: none was given"),
    ({"events": [gaussian("x")], "delta": 1e-5}, "noise_multiplier: 'x' is not a number"),
    ({"events": [gaussian(1, scale=1)], "delta": 1e-5}, "scale: a gaussian event has none"),
    ({"events": [gaussian(1, sigma=2)], "delta": 1e-5}, "event: 'sigma' is not known"),
    ({"events": [gaussian(1, count=-1)], "delta": 1e-5}, "count: -1 is below 0"),
    ({"events": [gaussian(1, count=10**400)], "delta": 1e-5, "max_lambda": 3}, "max_lambda"),
    ({"events": [gaussian(10**400)], "delta": 1e-5}, "noise_multiplier: the number is too large"),
    ({"events": [gaussian(1, parallel="yes")], "delta": 1e-5}, "parallel: 'yes'"),
    ({"events": [gaussian(1, parallel=True)], "delta": 1e-5}, "group: events on disjoint"),
    ({"events": [gaussian(1, delta_each=2)], "delta": 1e-5}, "delta_each: 2 is not between"),
    ({"events": [gaussian(1)], "delta": 1}, "delta: 1.0 is not between"),
    ({"events": [gaussian(1)], "delta": "x"}, "delta: 'x' is not a number"),
    ({"events": [gaussian(1)], "delta": 1e-5, "method": ["ma"]}, "method: ['ma'] is not known"),
    ({"events": [gaussian(1)], "delta": 1e-5, "adjacency": "x"}, "adjacency: 'x' is not known"),
    ({"events": [gaussian(1)], "delta": 1e-5, "solve": "delta"}, "solve: 'delta' is not known"),
    ({"events": [gaussian(1)], "delta": 1e-5, "solve": "noise_multiplier"}, "epsilon: none was"),
    (
        {"events": [], "delta": 1e-5, "solve": "noise_multiplier", "epsilon": 1},
        "events: there is no noise to solve for",
    ),
    (
        {
            "events": [{"mechanism": "epsilon_delta", "epsilon": 1}],
            "delta": 1e-5,
            "solve": "noise_multiplier",
            "epsilon": 1,
        },
        "solve: a black box has no noise",
    ),
    (
        {"events": [gaussian(1)], "delta": 1e-5, "method": "zcdp", "conversion": "best"},
        "conversion: method zcdp has no choice",
    ),
    (
        {"events": [gaussian(1, count=10, delta_each=2e-6)], "delta": 1e-5, "method": "advanced"},
        "delta_each: the shares of single releases add to",
    ),
    (
        {"events": [{"mechanism": "laplace", "scale": 1}], "delta": 1e-5, "method": "exact"},
        "exact counting covers Gaussian noise only",
    ),
]


@pytest.mark.parametrize(("question", "words"), UNANSWERABLE, ids=[w for _, w in UNANSWERABLE])
def test_what_cannot_be_answered_says_why(
    question: Any, words: str, run: Run, tmp_path: Path
) -> None:
    (found,) = asked(run, tmp_path, question)
    assert list(found) == ["error"]
    assert found["error"].startswith(words) or words in found["error"]
    assert found["error"].endswith(".")


SAMPLED = {
    ("poisson", "add_remove"): {"linear", "advanced", "kov", "ma", "rdp", "pld"},
    ("poisson", "replace_one"): {"pld"},
    ("without_replacement", "replace_one"): {"linear", "advanced", "kov", "wbk9", "wbk27", "pld"},
    ("without_replacement", "add_remove"): set(),
}


@pytest.mark.parametrize(("sampling", "adjacency"), list(SAMPLED))
@pytest.mark.parametrize("method", list(ACCOUNTANTS))
def test_sampling_is_counted_by_the_methods_that_have_a_theorem_and_refused_by_others(
    sampling: str, adjacency: str, method: str, run: Run, tmp_path: Path
) -> None:
    event = gaussian(1.0, sampling=sampling, sampling_rate=0.1)
    base = {"delta": 1e-5, "method": method, "adjacency": adjacency}
    found, whole = asked(
        run, tmp_path, {"events": [event], **base}, {"events": [gaussian(1.0)], **base}
    )
    if method in SAMPLED[sampling, adjacency]:
        assert found["epsilon"] < whole["epsilon"]
    else:
        assert list(found) == ["error"]
        assert re.match(r"(sampling|adjacency): .*; .*(choose|leave the sampling)", found["error"])


def test_noise_is_solved_for_by_every_method(run: Run, tmp_path: Path) -> None:
    shapes = [[gaussian(count=20)], [gaussian(1.0, count=3), gaussian(2.0)]]
    for events in shapes:
        questions = [
            {
                "events": events,
                "delta": 1e-5,
                "method": m,
                "solve": "noise_multiplier",
                "epsilon": 2,
            }
            for m in ACCOUNTANTS
        ]
        for question, found in zip(questions, asked(run, tmp_path, *questions), strict=True):
            noises = found["noise_multipliers"]
            assert found["noise_multiplier"] == noises[0] > 0.0
            known = [
                {**event, "noise_multiplier": noise}
                for event, noise in zip(events, noises, strict=True)
            ]
            again = {"events": known, "delta": 1e-5, "method": question["method"]}
            (back,) = asked(run, tmp_path, again)
            near = pytest.approx(2.0, rel=max(1e-8, precision(question["method"])))
            assert back["epsilon"] == near
    assert noises[1] == pytest.approx(2.0 * noises[0])


def test_the_single_gaussian_is_the_analytic_one(run: Run, tmp_path: Path) -> None:
    """Balle, Wang 2018: 3.73063 for (1, 1e-5)."""
    question = {"events": [gaussian()], "delta": 1e-5, "solve": "noise_multiplier", "epsilon": 1}
    (found,) = asked(run, tmp_path, question)
    assert found["noise_multiplier"] == pytest.approx(3.73063163482, rel=1e-9)


def test_delta_each_is_the_share_of_each_release(run: Run, tmp_path: Path) -> None:
    def question(each: float | None) -> dict[str, Any]:
        event = gaussian(5.0, count=10, **({} if each is None else {"delta_each": each}))
        return {"events": [event], "delta": 1e-5, "method": "linear"}

    default, same, more = asked(run, tmp_path, question(None), question(5e-7), question(1e-6))
    assert default["epsilon"] == pytest.approx(same["epsilon"], rel=1e-12)
    assert more["epsilon"] < same["epsilon"]


def test_black_boxes_add_up_with_and_without_a_delta(run: Run, tmp_path: Path) -> None:
    def question(each: Any, method: str) -> dict[str, Any]:
        box = {"mechanism": "epsilon_delta", "epsilon": 0.1, "delta_each": each, "count": 10}
        return {"events": [box], "delta": 1e-5, "method": method}

    pure, zero, some, refused = asked(
        run,
        tmp_path,
        question(None, "linear"),
        question(0, "linear"),
        question(1e-7, "linear"),
        question(1e-7, "zcdp"),
    )
    assert [each["epsilon"] for each in (pure, zero, some)] == pytest.approx([1.0] * 3)
    assert "choose linear or advanced" in refused["error"]


def test_of_disjoint_parts_the_most_costly_that_a_record_can_touch_counts(
    run: Run, tmp_path: Path
) -> None:
    parts = [gaussian(z, group="clusters", parallel=True) for z in (3.0, 5.0, 4.0)]
    rest = [gaussian(9.0, count=2), gaussian(8.0, group="clusters")]

    def question(events: list[dict[str, Any]], adjacency: str, method: str) -> dict[str, Any]:
        return {"events": events, "delta": 1e-5, "adjacency": adjacency, "method": method}

    for method in ACCOUNTANTS:
        one, two, moved, same = asked(
            run,
            tmp_path,
            question([*rest, *parts], "add_remove", method),
            question([*rest, gaussian(3.0)], "add_remove", method),
            question([*rest, *parts], "replace_one", method),
            question([*rest, gaussian(3.0), gaussian(4.0)], "replace_one", method),
        )
        assert one["epsilon"] == pytest.approx(two["epsilon"], rel=1e-12)
        assert moved["epsilon"] == pytest.approx(same["epsilon"], rel=1e-12)
        assert moved["epsilon"] > one["epsilon"]


def test_many_equal_parts_cost_what_one_does_and_too_many_kinds_are_refused(
    run: Run, tmp_path: Path
) -> None:
    equal = [gaussian(3.0, group="g", parallel=True)] * 500
    kinds = [gaussian(3.0 + i, group=f"g{g}", parallel=True) for g in range(6) for i in range(8)]
    cheap, costly, refused = asked(
        run,
        tmp_path,
        {"events": equal, "delta": 1e-5},
        {"events": [gaussian(3.0, count=2)], "delta": 1e-5},
        {"events": kinds, "delta": 1e-5},
    )
    assert cheap["epsilon"] == pytest.approx(costly["epsilon"], rel=1e-12)
    assert "too many ways" in refused["error"]


def test_the_cap_on_orders_is_an_option_of_the_moments_accountant(run: Run, tmp_path: Path) -> None:
    base = {"events": [gaussian(100.0)], "delta": 1e-5, "method": "ma"}
    default, same, higher, other, unreachable = asked(
        run,
        tmp_path,
        base,
        {**base, "max_lambda": 64, "conversion": "classic"},
        {**base, "max_lambda": 255},
        {**base, "method": "zcdp", "max_lambda": 64},
        {**base, "solve": "noise_multiplier", "epsilon": 0.1},
    )
    assert default["epsilon"] == same["epsilon"] == pytest.approx(0.18314, rel=1e-4)
    assert higher["epsilon"] < default["epsilon"]
    assert "no such cap" in other["error"]
    assert "0.180" in unreachable["error"]  # ln(1/delta)/64: the smallest reachable epsilon
    found = run(
        *account("--noise-multiplier", 100, "--method", "ma", "--max-lambda", 255, "--json")
    )
    assert found.json[0]["epsilon"] == higher["epsilon"]


def test_the_cap_on_orders_is_64_and_255_with_poisson_samples(run: Run, tmp_path: Path) -> None:
    event = gaussian(40.0, sampling="poisson", sampling_rate=0.1, count=10)
    for events, cap in (([gaussian(40.0)], 64), ([event], 255)):
        base = {"events": events, "delta": 1e-5, "method": "ma", "adjacency": "add_remove"}
        default, same, lower = asked(
            run, tmp_path, base, {**base, "max_lambda": cap}, {**base, "max_lambda": cap - 1}
        )
        assert default["epsilon"] == same["epsilon"] < lower["epsilon"]


def test_the_conversion_is_a_choice_of_the_fixed_size_methods(run: Run, tmp_path: Path) -> None:
    event = gaussian(1.24, sampling="without_replacement", sampling_rate=0.05, count=20)
    base = {"events": [event], "delta": 1e-4, "method": "wbk27"}
    plain, best, classic, moments, refused, other = asked(
        run,
        tmp_path,
        base,
        {**base, "conversion": "best"},
        {**base, "conversion": "classic"},
        {**base, "events": [gaussian(5.0)], "method": "rdp", "conversion": "best"},
        {**base, "events": [gaussian(5.0)], "method": "rdp", "conversion": "classic"},
        {**base, "conversion": "worst"},
    )
    assert plain["epsilon"] == best["epsilon"] == pytest.approx(1.904, rel=1e-3)
    assert classic["epsilon"] == pytest.approx(2.3826, rel=1e-4)  # VIPS, topic model: 2.38
    assert moments["epsilon"] > 0.0
    assert "rdp has the best conversion only" in refused["error"]
    assert "'worst' is not known" in other["error"]
    words = ["--noise-multiplier", 1.24, "--count", 20, "--sampling", "without_replacement"]
    words += ["--sampling-rate", 0.05, "--method", "wbk9,wbk27,ma", "--conversion", "classic"]
    nine, found, ma = run("account", "--delta", 1e-4, *words, "--json").json
    assert found["epsilon"] == classic["epsilon"]
    assert nine["epsilon"] >= found["epsilon"]
    assert "error" in ma


def test_the_most_repeats_are_solved_for_by_every_method(run: Run, tmp_path: Path) -> None:
    events = [gaussian(60.0, count=2), gaussian(90.0)]
    base = {"events": events, "delta": 1e-5}
    questions = [{**base, "method": m, "solve": "count", "epsilon": 1.5} for m in ACCOUNTANTS]
    found = asked(run, tmp_path, *questions)
    for method, each in zip(ACCOUNTANTS, found, strict=True):
        count = each["count"]
        assert count > 1
        next_one = [{**event, "count": event.get("count", 1) * (count + 1)} for event in events]
        (more,) = asked(run, tmp_path, {**base, "events": next_one, "method": method})
        assert each["epsilon"] <= 1.5 < more["epsilon"]
    words = ["--noise-multiplier", 12, "--solve", "count", "--epsilon", 1, "--json"]
    single = run(*account(*words)).json
    library = [dp.privacy.Event(dp.privacy.Gaussian(12.0))]
    for each in single:
        assert each["count"] == most_repeats(library, 1.0, 1e-5, each["method"])


TOML = """
[[events]]
mechanism = "gaussian"
noise_multiplier = 5.0
count = 100

[[events]]
mechanism = "laplace"
scale = 40
"""


def test_questions_and_events_come_from_json_or_toml(run: Run, tmp_path: Path) -> None:
    events = [gaussian(5.0, count=100), {"mechanism": "laplace", "scale": 40}]
    question = {"events": events, "delta": 1e-5, "method": "kov"}
    (expected,) = asked(run, tmp_path, question)
    files = {
        "one.json": json.dumps(question),
        "many.json": json.dumps({"questions": [question]}),
        "one.toml": f'delta = 1e-5\nmethod = "kov"\n{TOML}',
        "many.toml": '[[questions]]\ndelta = 1e-5\nmethod = "kov"\n'
        + TOML.replace("[[events]]", "[[questions.events]]"),
    }
    for name, text in files.items():
        path = written(tmp_path, name, text, None)
        assert run("account", "--file", path, "--json").json == [expected]
    for name, text in (
        ("e.json", json.dumps(events)),
        ("o.json", json.dumps({"events": events})),
        ("e.toml", TOML),
    ):
        words = ["--events", written(tmp_path, name, text, None), "--method", "kov", "--json"]
        assert run(*account(*words)).json == [{"method": "kov", **expected}]


def test_the_ledger_of_a_fit_is_a_file_of_events(run: Run, table: Path, tmp_path: Path) -> None:
    words = ["--adjacency", "add_remove", "--seed", 1, "--json"]
    fitted = run("fit", "gmm", table, *BUDGET, *words)
    path = written(tmp_path, "fit.json", fitted.out, None)
    priced = run("account", "--events", path, "--delta", 1e-3, "--json").json
    by_name = {each["method"]: each for each in priced}
    assert by_name["exact"]["epsilon"] == fitted.json["guarantee"]["epsilon"]
    assert by_name["kov"]["epsilon"] > by_name["exact"]["epsilon"]
    text = run("account", "--events", path, "--delta", 1e-3).out
    assert "adding or removing one person's row" in " ".join(text.split())
    noise = run("calibrate", "--events", path, *BUDGET, "--method", "exact", "--json").json[0]
    ledger = fitted.json["ledger"]
    assert noise["noise_multipliers"] == pytest.approx([e["noise_multiplier"] for e in ledger])
    other = run("account", "--events", path, "--delta", 1e-3, "--adjacency", "label")
    assert (other.code, other.err[:18]) == (2, "dpcore: adjacency:")


def test_the_table_puts_answers_first_and_names_its_columns(run: Run) -> None:
    lines = run(*account("--mechanism", "laplace", "--scale", 10)).out.splitlines()
    assert lines[0].split()[:2] == ["method", "epsilon"]
    assert "kind" in lines[0]
    assert "noise" not in lines[0]
    rows = [line.split()[0] for line in lines if line.split()[0] in ACCOUNTANTS]
    assert rows[-1] == "exact"
    assert rows[:-1] == [name for name in ACCOUNTANTS if name != "exact"]
    refused = next(line for line in lines if line.split()[0] == "exact")
    assert "refused" in refused
    solved = run("calibrate", *BUDGET).out.splitlines()[0].split()
    assert solved[:3] == ["method", "noise", "epsilon"]


def test_a_file_of_questions_is_a_table_by_question(run: Run, tmp_path: Path) -> None:
    questions = [{"events": [gaussian(5.0)], "delta": 1e-5}, {"events": 5}]
    path = written(tmp_path, "q.json", json.dumps(questions), None)
    lines = run("account", "--file", path).out.splitlines()
    assert lines[0].split()[:3] == ["question", "epsilon", "kind"]
    assert lines[1].split()[:3] == ["1", "0.7256", "exact"]
    assert any(line.split()[:3] == ["2", "-", "refused"] for line in lines)


def test_options_and_questions_give_the_same_answers(run: Run, tmp_path: Path) -> None:
    found = run(*account("--noise-multiplier", 5, "--count", 100, "--json")).json
    assert [each["method"] for each in found] == list(ACCOUNTANTS)
    events = [gaussian(5.0, count=100)]
    again = asked(
        run, tmp_path, *({"events": events, "delta": 1e-5, "method": m} for m in ACCOUNTANTS)
    )
    assert [each["epsilon"] for each in found] == [each["epsilon"] for each in again]
    laplace = run(*account("--mechanism", "laplace", "--scale", 10, "--count", 40, "--json")).json
    assert laplace[0]["epsilon"] == pytest.approx(4.0)
    refused = {each["method"] for each in laplace if "error" in each}
    assert refused == {"exact"}  # it says so in its own line
    box = account("--mechanism", "epsilon_delta", "--epsilon", 0.5, "--method", "linear", "--json")
    assert run(*box).json[0]["epsilon"] == 0.5


def test_calibrated_noise_costs_the_budget_it_was_asked_for(run: Run) -> None:
    words = ["--epsilon", 1, "--delta", 1e-5, "--count", 10, "--json"]
    for mechanism, option in (("gaussian", "--noise-multiplier"), ("laplace", "--scale")):
        for found in run("calibrate", *words, "--mechanism", mechanism).json:
            if "error" in found:
                continue
            priced = run(
                *account(option, repr(found["noise_multiplier"]), "--mechanism", mechanism),
                *("--count", 10, "--method", found["method"], "--json"),
            ).json
            assert priced[0]["epsilon"] == pytest.approx(1.0, rel=precision(found["method"]))
            assert priced[0]["epsilon"] <= 1.0


def precision(method: str) -> float:
    """How near to the budget the method's noise comes."""
    return 4.0 * float(getattr(accounting.accountant(method), "precision", 1e-8))


GROUPS = {
    ("gaussian_composed", "gdp_exact"): "exact",
    ("gaussian_composed", "zcdp_classic"): "zcdp",
    ("gaussian_composed", "zcdp_tight"): "zcdp_tight",
    ("gaussian_composed", "ma_classic_integer_lambda_1_64"): "ma",
    ("laplace_composed", "linear"): "linear",
    ("laplace_composed", "dwork_roth_3_20"): "advanced",
    ("gaussian_calibration", "analytic_gaussian"): "exact",
    ("gaussian_calibration", "zcdp_classic"): "zcdp",
}


def test_the_reference_table_is_met_from_a_file_of_questions(run: Run, tmp_path: Path) -> None:
    rows = [
        row
        for row in json.loads(shared("reference/accounting.json").read_text())["entries"]
        if (row["group"], row["accountant"]) in GROUPS
    ]
    assert len(rows) > 100
    found = asked(run, tmp_path, *map(question_of, rows))
    for row, each in zip(rows, found, strict=True):
        key = "noise_multiplier" if row["group"] == "gaussian_calibration" else "epsilon"
        near = pytest.approx(row["value"], rel=row["rel_tol"], abs=row.get("abs_tol", 1e-9))
        assert each.get(key) == near, (row["id"], each)


def question_of(row: dict[str, Any]) -> dict[str, Any]:
    """A row of the reference table as a question."""
    inputs = row["inputs"]
    method = GROUPS[row["group"], row["accountant"]]
    base = {"delta": inputs["delta"], "method": method}
    count = inputs["num_compositions"]
    if row["group"] == "gaussian_calibration":
        target = {"solve": "noise_multiplier", "epsilon": inputs["target_epsilon"]}
        return {**base, **target, "events": [gaussian(count=count)]}
    if row["group"] == "laplace_composed":
        event = {"mechanism": "laplace", "scale": 1.0 / inputs["epsilon_each"], "count": count}
        return {**base, "events": [event]}
    return {**base, "events": [gaussian(inputs["noise_multiplier"], count=count)]}


# --- sweep ---------------------------------------------------------------------------------------

SWEEP = ["sweep", "gmm", "bundled:iris", "--delta", "1e-4", "--splits", 2, "--draws", 2]
ROW_KEYS = [
    "epsilon", "method", "mode", "mean", "std", "median", "q10", "q90", "nonprivate", "converged",
    "baseline",
]  # fmt: skip


def test_a_sweep_gives_the_rows_of_the_library(run: Run) -> None:
    words = ["--epsilons", "0.5,4", "--methods", "exact,zcdp", "--modes", "proved,paper"]
    found = run(*SWEEP, *words, "--iterations", 3, "--json").json
    rows = dp.sweep(
        "gmm",
        dp.load("bundled:iris"),
        epsilons=[0.5, 4.0],
        delta=1e-4,
        methods=["exact", "zcdp"],
        modes=["proved", "paper"],
        draws=2,
        splits=2,
        iterations=3,
    )
    assert [list(row) for row in found] == [ROW_KEYS] * 6
    assert found == [asdict(row) for row in rows]


def test_a_sweep_leaves_out_what_a_method_cannot_meet_and_says_why(run: Run) -> None:
    words = ["--epsilons", "0.1,1", "--methods", "exact,ma", "--iterations", 3]
    found = run(*SWEEP, *words, "--json").json
    assert [(row["method"], row["epsilon"]) for row in found] == [
        ("exact", 0.1), ("exact", 1.0), ("ma", 0.1), ("ma", 1.0),
    ]  # fmt: skip
    assert found[2]["mean"] is None
    assert "cannot prove an epsilon of 0.144 or less" in found[2]["error"]
    assert all("error" not in found[i] for i in (0, 1, 3))
    alone = run(*SWEEP, "--epsilons", "1", "--methods", "ma", "--iterations", 3, "--json").json
    assert found[3] == alone[0]


def test_metric_and_seed_of_a_sweep_are_options(run: Run) -> None:
    words = [*SWEEP, "--epsilons", "1", "--iterations", 2, "--json"]
    own, again, other = run(*words).json, run(*words).json, run(*words, "--seed", 5).json
    assert own == again != other
    scaled = run(*words, "--metric", "test_log_likelihood_scaled").json
    gap = scaled[0]["converged"] - own[0]["converged"]
    columns = dp.load("bundled:iris").schema.numeric_columns()  # type: ignore[union-attr]
    assert gap == pytest.approx(sum(np.log((c.upper - c.lower) / 2) for c in columns))


SMALL = ["--delta", "1e-3", "--splits", 1, "--epsilons", "0.5,4", "--json"]


@pytest.mark.parametrize(
    ("model", "metric"),
    [
        ("kmeans", "nicv"),
        ("fa", "test_log_likelihood_scaled"),
        ("fa", "reconstruction_error"),
    ],
)
def test_sweeps_of_centres_and_factors_are_the_librarys(
    model: str, metric: str, run: Run, marks: Path
) -> None:
    parts = "--factors" if model == "fa" else "--components"
    words = ["--metric", metric, parts, 2, "--methods", "exact,linear", "--modes", "proved,paper"]
    found = run("sweep", model, marks, *SMALL, *words).json
    options: dict[str, Any] = {"epsilons": [0.5, 4.0], "delta": 1e-3, "splits": 1}
    rows = dp.sweep(
        model,
        dp.load(marks),
        methods=["exact", "linear"],
        modes=["proved", "paper"],
        metric=metric,
        n_components=2,
        **options,
    )
    assert found == [asdict(row) for row in rows]
    assert [(row["method"], row["mode"]) for row in found[::2]] == [
        ("exact", "proved"), ("linear", "proved"), ("linear", "paper"),
    ]  # fmt: skip


def test_methods_that_a_model_does_not_offer_are_left_out_and_say_why(
    run: Run, marks: Path
) -> None:
    words = ["--methods", "zcdp,linear,ma", "--modes", "proved,paper"]
    for model, offered in (("kmeans", {"zcdp", "linear"}), ("fa", {"linear"})):
        found = run("sweep", model, marks, *SMALL, *words).json
        paper = [row for row in found if row["mode"] == "paper"]
        assert len(paper) == 6
        for row in paper:
            assert ("error" not in row) is (row["method"] in offered)
            assert (row["mean"] is None) is ("error" in row)
        refused = next(row["error"] for row in paper if row["method"] == "ma")
        assert "choose linear" in refused
    swept = run("sweep", "kmeans", marks, *SMALL, *words[2:], "--algorithm", "proved").json
    assert [row.get("error", "")[:9] for row in swept[::2]] == ["", "algorithm"]


def test_a_sweep_counts_laplace_noise_by_pld_unless_one_says_how(run: Run, marks: Path) -> None:
    words = ["sweep", "kmeans", marks, *SMALL, "--algorithm", "dplloyd"]
    assert {row["method"] for row in run(*words).json} == {"pld"}
    assert {row["method"] for row in run("sweep", "kmeans", marks, *SMALL).json} == {"exact"}
    both = run(*words, "--methods", "exact,zcdp").json
    assert ["error" in row for row in both] == [True, True, False, False]
    alone = run(*words, "--methods", "exact")
    assert alone.code == 2
    assert "exact counting covers Gaussian noise only" in alone.err


# --- what people read ----------------------------------------------------------------------------

PRINTED = [
    [
        "fit",
        "gmm",
        "bundled:wine",
        *BUDGET,
        "--components",
        12,
        "--seed",
        1,
        "--test-fraction",
        0.2,
    ],
    ["fit", "gmm", "bundled:iris", *BUDGET, "--mode", "paper", "--accountant", "zcdp"],
    ["fit", "gmm", "bundled:iris", "--privacy", "none"],
    ["account", "--noise-multiplier", "5", "--delta", "1e-5"],
    ["calibrate", "--epsilon", "0.1", "--delta", "1e-5"],
    [*SWEEP, "--epsilons", "0.1,1", "--methods", "all", "--iterations", 2],
    ["fit", "kmeans", "bundled:wine", *BUDGET, *PAPER, "linear", "--algorithm", "dplloyd"],
    ["fit", "fa", "bundled:wine", *BUDGET, *PAPER, "linear", "--factors", 11],
    ["fit", "fa", "bundled:digits", *BUDGET, "--seed", 0, "--test-fraction", 0.1],
    ["sweep", "fa", "bundled:wine", "--delta", "1e-3", "--splits", 1, "--methods", "zcdp,ma"],
    ["reproduce"],
    ["reproduce", "dp-em-table-noise"],
]


@pytest.mark.parametrize("words", PRINTED, ids=[str(words[:5]) for words in PRINTED])
def test_tables_for_people_fit_a_hundred_columns(words: list[object], run: Run) -> None:
    answer = run(*words)
    assert (answer.code, answer.err) == (0, "")
    lines = answer.out.splitlines()
    assert max(map(len, lines)) <= WIDTH
    assert not any("{" in line or "Traceback" in line for line in lines)


def test_the_table_of_a_fit_names_every_column_with_its_unit(run: Run) -> None:
    text = run("fit", "gmm", "bundled:wine", *BUDGET).out
    assert "epsilon = 1.00, delta = 0.001, replacing one wine's row. Proved." in text
    for column in dp.load("bundled:wine").schema.numeric_columns():  # type: ignore[union-attr]
        assert f"{column.name} ({column.unit})" in text


def test_a_regenerated_table_shows_its_rows_curve_by_curve(run: Run, tmp_path: Path) -> None:
    page = tmp_path / "noise.html"
    text = run("reproduce", "dp-em-table-noise", "--html", page).out
    found = run("reproduce", "dp-em-table-noise", "--json").json
    for curve in ("GGG, zCDP", "LLG, moments accountant, any order"):
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
    assert "Exit codes: 0 done; 2 bad input" in " ".join(text.split())
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

    parser = argparse.ArgumentParser()
    import_module(COMMANDS[command][0]).arguments(parser)
    return parser._actions


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
    "audit": "--runs --json",
    "release": "--ledger --epsilon --delta --out --yes --json --accept-delta",
    "ledger": "--create --epsilon --delta --adjacency --unit --json",
    "verify": "--ledger --json",
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
    assert swept is not None
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
    command = [sys.executable, "-c", "import sys; from dpcore.cli import main; sys.exit(main())"]
    return subprocess.run(
        [*command, *words], cwd=cwd, capture_output=True, text=True, timeout=60, check=False
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
    assert child.stdout is not None
    assert child.stderr is not None
    assert child.stdout.readline() == "[\n"
    child.stdout.close()
    assert (child.stderr.read(), child.wait(timeout=60)) == ("", 0)
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
