"""Bad input: one clear sentence and exit code 2, nothing of the cells in it."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import wording
from commands import (
    BOX,
    BUDGET,
    PAPER,
    SECRET,
    Run,
    account,
    written,
)

from dpcore.registry import PAPERS

Bad = Callable[[Path], Sequence[object]]
ROWS = f"{SECRET},1\n2,3\n4,2\n"


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
    (
        "URL",
        lambda tmp: ["fit", "gmm", "https://example.org/people.csv", *BUDGET],
        "people.csv",
        "it is a URL; download the file",
    ),
    ("file type", fitted("t.doc", "a,b\n" + ROWS), "t.doc", wording.EXTENSION),
    ("spreadsheet", fitted("t.XLSX", "PK"), "t.XLSX", wording.SPREADSHEET),
    ("no extension", fitted("table", "a,b\n" + ROWS), "table", wording.EXTENSION),
    ("folder", lambda tmp: ["fit", "gmm", tmp, *BUDGET], "", "it is a folder"),
    ("binary", fitted("t.csv", b"\x89PNG\r\n\0\0"), "t.csv", "binary data, not text"),
    ("not text", fitted("t.csv", b"a,b\n1,\xff\n"), "t.csv", "not UTF-8"),
    ("empty", fitted("t.csv", ""), "t.csv", "the file is empty"),
    ("header only", fitted("t.csv", "a,b\n"), "t.csv", "a header but no rows"),
    (
        "delimiter",
        fitted("t.csv", f"a;b\n{SECRET};1\n"),
        "t.csv",
        "whose header contains a semicolon",
    ),
    ("sep line", fitted("t.csv", "sep=;\na;b\n1;2\n"), "t.csv", "program, not a header; delete"),
    ("title", fitted("t.csv", f"Report\n\na,b\n{ROWS}"), "t.csv", "start with the header, not"),
    ("ragged", fitted("t.csv", f"a,b\n{SECRET},1,2\n"), "t.csv", "more or fewer cells"),
    (
        "no numeric column",
        fitted("t.csv", f"a,b\nx{SECRET},y\n", *BUDGET, "--norm-bound", 1, schema=None),
        "columns",
        "some hold text",
    ),
    (
        "text in a number column",
        fitted("t.csv", f"a,b\n1,x{SECRET}\n2,3\n"),
        "b",
        wording.CATEGORY_CELLS,
    ),
    (
        "text in every number column",
        fitted("t.csv", f"a,b\nx{SECRET},x\n"),
        "a",
        wording.CATEGORY_CELLS,
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
    (
        wording.TOO_MANY_GROUPS,
        good(*BUDGET, "--components", "4"),
        "number of groups",
        "more groups than",
    ),
    ("no groups", good(*BUDGET, "--components", "0"), "components", "0 is below 1"),
    (
        "words in a folder",
        lambda tmp: [
            "fit",
            "lda",
            written(tmp, "t.csv", "text\nred\n", None),
            *BUDGET,
            "--vocabulary",
            ".",
        ],
        "path",
        "it cannot be opened",
    ),
    ("no rows", lambda _: ["fit", "gmm", "generated:0x2x3x0", *BUDGET], "rows", "0 is below 1"),
    ("epsilon 0", good("--epsilon", "0", "--delta", "1e-3"), "epsilon", "0.0 is not a finite"),
    ("epsilon < 0", good("--epsilon", "-1e-2", "--delta", "1e-3"), "epsilon", "-0.01 is not a fin"),
    ("epsilon nan", good("--epsilon", "nan", "--delta", "1e-3"), "epsilon", "nan is not a finite"),
    ("epsilon text", good("--epsilon", "much", "--delta", "1e-3"), "epsilon", "is not a number"),
    (
        "delta 1",
        good("--epsilon", "1", "--delta", "1"),
        "delta",
        "1.0 is not strictly between 0 and 1",
    ),
    (
        "delta 0",
        good("--epsilon", "1", "--delta", "0"),
        "delta",
        "0.0 is not strictly between 0 and 1",
    ),
    ("no delta", good("--epsilon", "1"), "delta", "none was given"),
    (
        "epsilon and noise",
        good(*BUDGET, "--noise-multiplier", "2"),
        "epsilon, noise_multiplier",
        "both were given",
    ),
    ("no budget", good("--delta", "1e-3"), "epsilon, noise_multiplier", "neither was given"),
    (
        "none and epsilon",
        good(*BUDGET, "--privacy", "none"),
        "privacy",
        "'none' was given together with",
    ),
    ("privacy word", good("--privacy", "some"), "privacy", "'some' is not known"),
    ("noise < 0", good("--noise-multiplier", "-2"), "noise_multiplier", "-2.0 is not a finite"),
    ("method", good(*BUDGET, "--accountant", "guess"), "accountant", "'guess' is not known"),
    ("mode", good(*BUDGET, "--mode", "hopeful"), "mode", "'hopeful' is not known"),
    ("adjacency", good(*BUDGET, "--adjacency", "near"), "adjacency", "'near' is not known"),
    ("label adjacency", good(*BUDGET, "--adjacency", "label"), "adjacency", "label does not apply"),
    ("trust", good(*BUDGET, "--trust", "local"), "trust", "'local' is not known"),
    (
        "whose option",
        good(*BUDGET, "--sigma", "1"),
        "command line",
        "model 'gmm' takes no option --sigma",
    ),
    ("one bit, summed", other("mean", "--trust", "bits"), "trust", "'bits' is not known"),
    (
        "nothing bounded",
        other("symmetric-mixture", "--algorithm", "em"),
        "algorithm",
        "em does not bound gradients",
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
        "command line",
        "model 'gmm' takes no option --topics; use --components",
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
        "its length is 1 instead of 2",
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
        "more than one was given",
    ),
    ("iterations 0", good(*BUDGET, "--iterations", "0"), "iterations", "0 is below 1"),
    ("iterations nan", good(*BUDGET, "--iterations", "nan"), "iterations", "nan is not a whole"),
    ("iterations 2.5", good(*BUDGET, "--iterations", "2.5"), "iterations", "2.5 is not a whole"),
    ("covariance", good(*BUDGET, "--covariance", "round"), "covariance", "'round' is not known"),
    ("combination", good(*BUDGET, "--combination", "LLL"), "combination", "'LLL' is not known"),
    ("prior", good(*BUDGET, "--prior", "flat"), "prior", "'flat' is not known"),
    ("clip", good(*BUDGET, "--clip", "1.5"), "clip", "1.5 is not a share between 0 and 1"),
    ("seed", good(*BUDGET, "--seed", "-1"), "seed", "-1 is below 0"),
    (
        "share",
        good(*BUDGET, "--test-fraction", "1"),
        "test_fraction",
        "not strictly between 0 and 1",
    ),
    ("coins", good(*BUDGET, "--test-seed", "0"), "test_seed", "no rows are held out"),
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
        wording.NO_TOML,
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
        wording.NO_TOML,
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
    ("half an option", good("--eps", "1"), "command line", "model 'gmm' takes no option --eps"),
    (
        "half a word before the model",
        lambda tmp: ["fit", "--epsilonn", "1", "gmm", "t.csv"],
        "command line",
        "fit has no option --epsilonn; try --epsilon",
    ),
    (
        "an option behind two dashes",
        lambda tmp: ["fit", "mean", "--", "t.csv", "--epsilon", "1"],
        "command line",
        "--epsilon comes after --; put options before it",
    ),
    (
        "an option that no model names",
        lambda tmp: ["fuzz", "--models", "gmm"],
        "command line",
        "fuzz has no option --models; try --model",
    ),
    (
        "unexpected argument",
        good(*BUDGET, "more"),
        "command line",
        "argument 'more' is not expected",
    ),
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
        "noise beyond numbers",
        good("--noise-multiplier", "1e160", "--delta", "1e-5"),
        "noise_multiplier",
        "it is above 1e100; give a smaller number",
    ),
    (
        "steps beyond all",
        good(*BUDGET, "--iterations", "1e99"),
        "iterations",
        "1e99 is above 1000000; give 1000000 or less",
    ),
    ("one choice", good(*BUDGET, "--trust", "all"), "trust", "'all' is not known; choose central"),
    (
        "a table in a zip",
        lambda tmp: ["fit", "gmm", tmp / "t.csv.zip", *BUDGET],
        "model",
        "choose lda, or unpack the table",
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
        "gaussian events have none",
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
        "given without a sampling method",
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
        "only method ma has a highest order",
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
        "a noise stated twice",
        lambda tmp: [
            "account",
            "--delta",
            "1e-5",
            "--events",
            written(tmp, "e.json", '[{"noise_multiplier": 5, "noise_multiplier": 50}]', None),
        ],
        "events",
        "a key occurs twice",
    ),
    (
        "no question",
        lambda tmp: ["account", "--file", written(tmp, "q.json", "5", None)],
        "file",
        "it contains no question",
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
        "--method was given as well",
    ),
    ("events", lambda tmp: account("--events", tmp / "e.json"), "events", "cannot be read"),
    (
        "events that are none",
        lambda tmp: account("--events", written(tmp, "e.json", "{}", None)),
        "events",
        "contains no list of events",
    ),
    (
        "events and an event",
        lambda tmp: account("--events", written(tmp, "e.json", "[]", None), "--count", "3"),
        "events",
        "--count was given as well",
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
        "with --solve, --epsilon is the budget",
    ),
    (
        "conversion of other methods",
        lambda tmp: account("--noise-multiplier", "1", "--method", "zcdp", "--conversion", "best"),
        "conversion",
        "none of the methods named has a choice",
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
        "is not strictly between 0 and 1",
    ),
    (
        "questions and options",
        lambda tmp: ["account", "--file", written(tmp, "q.json", "[]", None), "--delta", "0.1"],
        "file",
        "--delta was given as well",
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
    ("a server's port", lambda tmp: ["serve", "--port", "0"], "port", "0 is below 1"),
    (
        "a host that is another machine's",
        lambda tmp: ["serve", "--host", "192.0.2.1"],
        "host",
        "cannot listen on 192.0.2.1, port 8501",
    ),
    (
        "a base path that leaves",
        lambda tmp: ["serve", "--base-path", "/a/../b"],
        "base_path",
        "it is not a URL path",
    ),
    (
        "a page that there is not",
        lambda tmp: ["site", tmp / "made", "--only", "nothing"],
        "only",
        "there is no page 'nothing'; choose one of three_groups, ",
    ),
    (
        "a page of no release",
        lambda tmp: ["site", tmp / "made", "--release", tmp / "none"],
        "dossier",
        "it cannot be read (No such file",
    ),
    (
        "a file in the place of pages",
        lambda tmp: ["site", written(tmp, "t.csv", "mine")],
        "folder",
        "a file with that name exists",
    ),
    ("algorithm", other("kmeans", "--algorithm", "lloyd"), "algorithm", "'lloyd' is not known"),
    (
        "an algorithm that no paper prints",
        other("kmeans", *PAPER, "zcdp", "--algorithm", "proved"),
        "algorithm",
        "the proved algorithm is not from a paper; choose dplloyd or paper",
    ),
    (
        "a composition method that no paper of k-means has",
        other("kmeans", *PAPER, "ma", "--algorithm", "dplloyd"),
        "accountant",
        "choose linear or zcdp",
    ),
    ("paper k-means by nothing", other("kmeans", *PAPER[:2]), "accountant", "linear or zcdp"),
    (
        "paper factors by zCDP",
        other("fa", *PAPER, "zcdp", "--factors", "1"),
        "accountant",
        "so there is nothing to compose; choose linear",
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
        "choose a proved algorithm, or give a seed for a rehearsal",
    ),
    (
        "exact counting of Laplace noise",
        other("kmeans", "--algorithm", "dplloyd", "--accountant", "exact"),
        "accountant",
        "exact composition covers Gaussian noise only; choose pld",
    ),
    (
        "covariance of centres",
        other("kmeans", "--covariance", "diag"),
        "command line",
        "model 'kmeans' takes no option --covariance; use --components",
    ),
    ("centres of factors", other("fa", "--components", "1"), "command line", "use --factors"),
    ("factors of groups", good(*BUDGET, "--factors", "1"), "command line", "no option --factors"),
    (
        "more centres than rows",
        other("kmeans", "--components", "4"),
        "number of centres",
        "than rows",
    ),
    ("no centres", other("kmeans", "--components", "0"), "components", "0 is below 1"),
    ("factors < 0", other("fa", "--factors", "-1"), "factors", "-1 is below 1"),
    (
        "factors = columns",
        other("fa", "--factors", "2"),
        "number of factors",
        "ask for fewer factors",
    ),
    ("steps of factors", other("fa", "--iterations", "0"), "iterations", "0 is below 1"),
    (
        "metric of another model",
        lambda tmp: ["sweep", "fa", "bundled:wine", "--delta", "0.1", "--metric", "nicv"],
        "metric",
        "choose one of test_log_likelihood, test_log_likelihood_scaled, reconstruction_error",
    ),
    ("pool", good(*BUDGET, "--pool", "0"), "pool", "0 is below 1"),
    ("pool of a half", good(*BUDGET, "--pool", "1.5"), "pool", "1.5 is not a whole number"),
    ("no pictures", good(*BUDGET, "--pool", "2"), "pool", wording.NO_PICTURES),
    (
        "squares that do not fill",
        lambda tmp: ["fit", "fa", "bundled:digits", *BUDGET, "--pool", "3"],
        "pool",
        "squares of 3 x 3 pixels do not fill 8 x 8 pixels evenly",
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
        wording.NO_PICTURES,
    ),
    ("file without a name", lambda tmp: ["fit", "gmm", "", *BUDGET], "file", wording.NAME_MISSING),
    ("the root", lambda tmp: ["fit", "lda", "/", *BUDGET], "file", wording.NAME_MISSING),
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
        wording.EXACT_COVERS_GAUSSIAN,
    ),
    (
        "budget of an exhibit",
        lambda tmp: ["audit", "centred-scatter", "--epsilon", "4"],
        "epsilon",
        "it applies only to attacks on mechanisms and models",
    ),
    ("runs of a list", lambda tmp: ["audit", "--runs", "30"], "runs", "it applies only to attacks"),
    ("runs of all exhibits", lambda tmp: ["audit", "exhibits", "--runs", "30"], "runs", "attacks"),
    (
        "one of all attacks",
        lambda tmp: ["audit", "gmm", "--all"],
        "all",
        "a single audit or budget was named as well",
    ),
    ("papers", lambda tmp: ["cite", "gm"], "name", "'gm' is not known"),
    ("bench", lambda tmp: ["bench", "gm"], "bench", "'gm' is not known"),
    (
        "page in no folder",
        lambda tmp: ["bench", "fa", "--page", tmp / "no" / "x.html"],
        "page",
        wording.NOT_WRITABLE,
    ),
    (
        "history that is a folder",
        lambda tmp: ["bench", "fa", "--history", tmp],
        "history",
        wording.NOT_WRITABLE,
    ),
    (
        "page that is a folder",
        lambda tmp: ["reproduce", "dp-em-figure-2", "--html", tmp],
        "html",
        wording.NOT_WRITABLE,
    ),
    (
        "ledger's unit",
        lambda tmp: ["ledger", tmp / "l.sqlite", "--create", *BUDGET, "--unit", ""],
        "unit",
        "it is not a word",
    ),
    (
        "schema of texts",
        lambda tmp: ["schema", tmp / "letters.zip"],
        "letters.zip",
        "has no columns; fit it as it is: dpcore fit lda",
    ),
    (
        "ledger's terms",
        lambda tmp: ["ledger", tmp / "l.sqlite", "--rows-per-person", "3"],
        "ledger",
        wording.TERMS_NEVER_CHANGE,
    ),
    (
        "ledger's filter",
        lambda tmp: ["ledger", tmp / "l.sqlite", "--filter", "sums"],
        "ledger",
        wording.TERMS_NEVER_CHANGE,
    ),
    (
        "a folder for nothing",
        lambda tmp: ["ledger", tmp / "l.sqlite", "--create", *BUDGET, "--out", tmp / "x"],
        "write and out",
        wording.ONE_GIVEN,
    ),
    (
        "a line without a folder",
        lambda tmp: ["ledger", tmp / "l.sqlite", "--write", "2"],
        "write and out",
        wording.ONE_GIVEN,
    ),
    (
        "a new ledger and an old line",
        lambda tmp: ["ledger", tmp / "l.sqlite", "--create", *BUDGET, "--write", "2"],
        "create and write",
        "both were given",
    ),
    ("no ledger", lambda tmp: ["ledger", tmp / "l.sqlite"], "ledger", wording.FILE_MISSING),
    ("NUL in a ledger's name", lambda tmp: ["ledger", "a\0b"], "ledger", wording.NAME_HOLDS_NUL),
    (
        "NUL in a new ledger's name",
        lambda tmp: ["ledger", "a\0b", "--create", *BUDGET],
        "ledger",
        wording.NAME_HOLDS_NUL,
    ),
    ("not a dossier", lambda tmp: ["verify", tmp / "dossier.json"], "dossier", "it cannot be read"),
    ("figure", lambda tmp: ["reproduce", "figure-9"], "name", "'figure-9' is not known"),
    (
        "separator of a schema",
        fitted("t.csv", f"a,b\n{ROWS}", schema='[file]\nseparator = "#"\n'),
        "file.separator",
        'choose one of ",", ";", tab, "|"',
    ),
    (
        "new ledger without a budget",
        lambda tmp: ["ledger", tmp / "new.sqlite", "--create"],
        "epsilon",
        "none was given",
    ),
    ("folder for a ledger", lambda tmp: ["ledger", tmp], "ledger", "name the ledger file"),
    (
        "figure, nearly",
        lambda tmp: ["reproduce", "VIPS-fig-8"],
        "name",
        f"choose vips-figure-8, vips-figure-6 or vips-figure-5 (the nearest of {len(PAPERS)})",
    ),
    (
        "no figure at all",
        lambda tmp: ["reproduce", "zzz"],
        "name",
        "dp-em-table-noise, dp-em-figure-1,",
    ),
    (
        "table, nearly",
        lambda tmp: ["fit", "gmm", "bundled:irs", *BUDGET],
        "data",
        "choose iris (the nearest of ",
    ),
    (
        "option, nearly",
        good("--epsilom", "1", "--delta", "1e-3"),
        "command line",
        "takes no option --epsilom; try --epsilon.",
    ),
    (
        "data of a figure",
        lambda tmp: ["reproduce", "dp-em-figure-3", "--data", tmp],
        "data",
        "lifesci.npz is not there; add it (dpcore data says how), or give its folder with --data "
        "FOLDER",
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
        "no bounds", wording.TOO_MANY_GROUPS, "no groups", "epsilon 0", "delta 1",
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
