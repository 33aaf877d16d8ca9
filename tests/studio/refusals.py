"""Bad input and what it gets: ``python -m tests.studio.refusals`` prints the list as a table.

Words of the command line are those of ``tests/cli/test_bad_input.py``; what a browser can send
stands here: links, lines of the form for a table of one's own, and files that are uploaded.
``tests/test_refusals_of_pages.py`` goes through it all. With ``--kinds`` only the numbers of each
kind are printed.
"""

from __future__ import annotations

import argparse
import io
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import ZipFile

import numpy as np

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[1] / "cli")]


def packed(name: str, content: bytes) -> bytes:
    """A zip of one file."""
    archive = io.BytesIO()
    with ZipFile(archive, "w") as opened:
        opened.writestr(name, content)
    return archive.getvalue()


def arrays() -> bytes:
    """An .npz without the array that holds the rows."""
    archive = io.BytesIO()
    np.savez(archive, a=np.zeros((2, 2)), b=np.zeros(3))
    return archive.getvalue()


SECRET = "83421"  # in every table, and in no sentence
NUMBERS = ("abc", "0,5x", "-1", "nan", "1e999", "½")
LINKS: tuple[tuple[str, str, str], ...] = (  # page, name, value
    *(("explore", name, text) for name in ("epsilon", "delta", "clip") for text in NUMBERS),
    *(
        ("explore", name, text)
        for name in ("components", "iterations", "rows_per_person")
        for text in ("abc", "2.5", "-1", "0x10", "")
    ),
    *(("explore", "pool", text) for text in ("0", "abc", "-2")),
    *(("explore", "noise", text) for text in ("x", "-1", "1.5")),
    ("explore", "data", "zzz"), ("explore", "data", "../secret"), ("explore", "data", "/etc"),
    ("explore", "model", "zzz"), ("explore", "model", "GMM "), ("explore", "method", "zzz"),
    ("explore", "count_by", "guess"), ("explore", "covariance", "round"),
    ("explore", "adjacency", "nobody"), ("explore", "dial", "zzz"), ("explore", "metric", "acc"),
    ("explore", "without", "yes"), ("explore", "words", "x"), ("explore", "words", "rate=1"),
    ("explore", "made", "2x2"), ("explore", "made", "5000x1x3x0"), ("explore", "hide", "all"),
    ("explore", "pins", "zzz"), ("explore", "pins", "|epsilon=abc"), ("explore", "x", "-1"),
    ("explore", "epsilom", "1"), ("explore", "Delta", "1"), ("explore", "modell", "gmm"),
    *(("compose", "k", text) for text in ("0", "abc", "1.5", "-3")),
    *(("compose", "delta", text) for text in ("abc", "2", "-1", "0")),
    *(("compose", "lines", text) for text in ("zzz", "g", "g7~x", "q1~1~f", "g-1~3~f")),
    ("compose", "preset", "zzz"), ("compose", "methods", "guess"), ("compose", "adjacency", "x"),
    ("compose", "hide", "all"), ("compose", "pins", "zzz"), ("compose", "epsilon", "abc"),
    *(("attack", "epsilon", text) for text in ("abc", "0.37", "1e308", "")),
    ("attack", "hide", "all"), ("attack", "model", "zzz"), ("attack", "epsilom", "1"),
    *(("release", name, "zzz") for name in ("model", "data", "epsilon", "method", "show")),
    ("release", "delta", "5"), ("release", "adjacency", "label"), ("release", "pins", "|k=x"),
    *(("learn", "guesses", text) for text in ("zzz", "hide:abc", "hide:999")),
    *(("learn", "class", text) for text in ("", "!", "ab")), ("learn", "screen", "7"),
    ("learn", "figure", "zzz"), ("learn", "gueses", "hide:4"),
)  # fmt: skip

HEAD = "Nr;Alter;Einkommen;Eintritt;Region;zurück\n"
TABLE = f"""{HEAD}17;41;1.234,50 EUR;31.12.2020;Nord;ja
18;k. A.;40.000;01.02.2021;Süd;nein
19;66;-;2021-02-01;{SECRET};nein
""".encode()
FORM: dict[str, dict[str, Any]] = {
    "Nr": {"use": "person id"},
    "Alter": {"lower": "0", "upper": "110"},
    "Einkommen": {"lower": "0", "upper": "200000"},
    "Eintritt": {"lower": "1990-01-01", "upper": "2029-12-31"},
    "Region": {"use": "label", "values": "Nord, Süd"},
    "zurück": {"use": "target", "values": "nein, ja"},
}
LINES: tuple[tuple[str, dict[str, Any]], ...] = (  # column, what is entered in its line
    *(("Alter", {"lower": text}) for text in ("x", "0,5,5", "1.2.3", "-", "1e999", "nan", "1990")),
    *(("Alter", {"upper": text}) for text in ("", None, "-5", "0", "inf", "110 years", "1/2")),
    *(("Alter", {"missing": text}) for text in ("x", "200", "-1", "nan")),
    *(("Eintritt", {"lower": text}) for text in ("1990", "31.02.2020", "x", "2030-01-01")),
    *(("Eintritt", {"upper": text}) for text in ("", "1980-01-01", "2021-13-01")),
    ("Region", {"values": ""}), ("Region", {"values": " , "}), ("Region", {"values": None}),
    ("Region", {"use": "category", "values": ""}), ("zurück", {"values": None}),
    ("Alter", {"use": "person id"}), ("Alter", {"symbols": "12"}), ("Einkommen", {"symbols": "-"}),
    ("Einkommen", {"lower": "5", "upper": "5"}), ("Einkommen", {"lower": None, "upper": None}),
    ("Region", {"use": "feature", "lower": "0", "upper": "1"}),
)  # fmt: skip
FILES: tuple[tuple[str, bytes], ...] = (  # name, content
    ("people.xlsx", b"PK\x03\x04"), ("people.ods", b"PK\x03\x04"), ("people.xls", b"\xd0\xcf"),
    ("letter.txt", b"Dear Sir"), ("empty.csv", b""), ("header.csv", b"a,b\n"),
    ("binary.csv", b"\x89PNG\r\n\0\0"), ("latin.csv", b"a,b\n1,\xff\n"),
    ("utf16.csv", "a,b\n1,2\n".encode("utf-16")), ("ragged.csv", b"a,b\n1,2,3\n"),
    ("twice.csv", b"a,a\n1,2\n"), ("unnamed.csv", b"a,\n1,2\n"),
    ("title.csv", b"Report of May\n\na,b\n1,2\n"), ("sep.csv", b"sep=;\na;b\n1;2\n"),
    ("nul.csv", b"a,b\n1,\x00\n"), ("quote.csv", b'a,b\n"1,2\n'),
    ("damaged.csv.gz", b"\x1f\x8b\x08broken"), ("plain.csv.gz", b"a,b\n1,2\n"),
    ("damaged.parquet", b"PAR1broken"), ("damaged.npz", b"PK\x03\x04broken"),
    ("damaged.zip", b"PK\x03\x04broken"), ("empty.zip", b"PK\x05\x06" + bytes(18)),
    ("people.doc", b"a,b\n1,2\n"), ("people", b"a,b\n1,2\n"), ("a.png", b"\x89PNG\r\n"),
    ("pictures.zip", packed("a.png", b"\x89PNG")), ("table.zip", packed("a.csv", b"a,b\n1,2\n")),
    ("arrays.npz", arrays()), ("page.csv", b"<html><body>no</body></html>"),
    ("list.csv", b'{"a": 1}'), ("letters.pdf", b"%PDF-1.4"), ("only.csv", b"a,b"),
)  # fmt: skip


def of_commands() -> Iterator[tuple[str, str, str]]:
    """(kind, what is wrong, what it gets) of the command line."""
    from dpcore.cli import main

    listed: Any = import_module("test_bad_input")
    with TemporaryDirectory() as folder:
        for number, (command, _, _) in enumerate(listed.CASES):
            place = Path(folder) / str(number)
            place.mkdir()
            err = io.StringIO()
            with redirect_stderr(err), redirect_stdout(io.StringIO()):
                code = main(listed.words_of(command, place))
            yield "command line", command, f"{err.getvalue().strip()} (exit code {code})"


def of_links() -> Iterator[tuple[str, str, str]]:
    """The same of links: the names that the page says it does not understand."""
    from app import class_panel, composing, learning, links, scenario
    from app.views import attack

    names = frozenset({"three_groups", "iris", "upload", "generated"})
    ours = {"attack": attack.READERS, "learn": {**learning.READERS, **class_panel.READERS}}
    for page, name, text in LINKS:
        query = {name: text}
        if page == "learn" or name in ours.get(page, ()):
            odd = links.misread(query, ours[page])
        elif page == "compose":
            odd = composing.misread(query)
        else:
            odd = scenario.misread(query, names)
        yield "links", f"{page}?{name}={text}", f"not understood: {', '.join(odd)}" if odd else ""


def of_lines() -> Iterator[tuple[str, str, str]]:
    """The same of lines of the form."""
    from app import upload

    for name, changed in LINES:
        opened = upload._opened("kunden.csv", TABLE)
        opened.lines = opened.limits.set_index("column", drop=False).astype(object)
        for column, cells in FORM.items():
            for key, value in (cells | (changed if column == name else {})).items():
                opened.lines.loc[column, key] = value
        yield (
            "lines of the form",
            f"{name}: {changed}",
            refusal(lambda form=opened: upload._accept(form, upload._schema(form))),
        )


def of_files() -> Iterator[tuple[str, str, str]]:
    """The same of files that are uploaded."""
    from app import upload

    for name, content in FILES:

        def use(name: str = name, content: bytes = content) -> None:
            opened = upload._opened(name, content)
            opened.lines = opened.limits.astype(object)
            opened.lines[["lower", "upper"]] = ["0", "1"]
            opened.words = ("word",)
            upload._accept(opened, upload._schema(opened))

        yield "uploads", name, refusal(use)


def refusal(act: Any) -> str:
    """The sentence with which something is refused; empty where it is not."""
    from dpcore.errors import DPCoreError

    try:
        act()
    except DPCoreError as problem:
        return str(problem)
    return ""


def of_pages() -> Iterator[tuple[str, str, str]]:
    """All that a browser can send."""
    yield from of_links()
    yield from of_lines()
    yield from of_files()


def main() -> int:
    """Print the table; 1 where something was taken."""
    parser = argparse.ArgumentParser(prog="python -m tests.studio.refusals", description=__doc__)
    parser.add_argument("--kinds", action="store_true", help="numbers of each kind alone")
    kinds = parser.parse_args().kinds
    lines = [*of_commands(), *of_pages()]
    if kinds:
        sent, refused = (
            Counter(kind for kind, _, got in lines if got or every) for every in (1, 0)
        )
        print("| kind | inputs | refused |\n| --- | ---: | ---: |")
        print("\n".join(f"| {kind} | {sent[kind]} | {refused[kind]} |" for kind in sent))
    else:
        print("| kind | input | what it gets |\n| --- | --- | --- |")
        for line in lines:
            cells = (cell.replace("|", r"\|").replace("\n", " ") for cell in line)
            print("| " + " | ".join(cells) + " |")
    return int(any(not got for _, _, got in lines))


if __name__ == "__main__":
    sys.exit(main())
