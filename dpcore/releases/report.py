"""The report: a dossier on one page, for whoever has to answer for it and has two minutes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from dpcore.accounting.bayes_success import guess_rate
from dpcore.errors import InputError
from dpcore.models.declaration import declaration
from dpcore.privacy import DiscreteGaussian, Event
from dpcore.privacy.guarantee import show, show_bound, show_most
from dpcore.schema import Schema

MOST_CELLS = 400  # of a table of parameters; the dossier has all
MANY = "<p>They are many; dossier.json holds them.</p>"

_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; margin: 0 0 .3rem; } h2 { font-size: 1.05rem; margin: 1.8rem 0 .4rem; }
p { margin: .3rem 0; } .quiet { opacity: .72; font-size: .9rem; }
.promise { border-left: 4px solid #0072B2; padding: .2rem 0 .2rem .9rem; margin: 1rem 0; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9rem; }
th, td { text-align: right; padding: .15rem .7rem .15rem 0; border-bottom: 1px solid #8884; }
th:first-child, td:first-child { text-align: left; } ul { padding-left: 1.1rem; margin: .3rem 0; }
.wide { overflow-x: auto; } code { font-size: .85rem; overflow-wrap: anywhere; }
"""


def report(dossier: dict[str, Any]) -> str:
    """A page of HTML that needs nothing else: who is protected, what left, what it cost."""
    title = dossier["title"] or "A release"
    parts = [
        f"<h1>{escape(title)}: a private release</h1>",
        f'<p class="quiet">{escape(dossier["created"])} · dossier.json beside this page holds '
        "everything; anybody can check it, and this page with it: "
        "<code>dpcore verify FOLDER</code></p>",
        *_promise(dossier),
        *_left(dossier),
        *_budget(dossier),
        *_doors(dossier),
        *_assumed(dossier),
    ]
    return html_page(title, parts)


def html_page(title: str, parts: Sequence[str]) -> str:
    """A page of HTML that needs nothing else, from its title and its parts."""
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}'
        f"</title><style>{_STYLE}</style></head><body>\n" + "\n".join(parts) + "\n</body></html>\n"
    )


def _promise(dossier: dict[str, Any]) -> Iterable[str]:
    guarantee = dossier["guarantee"]
    chance = 100.0 * float(guess_rate([_event(entry) for entry in dossier["entries"]]))
    yield (
        f'<div class="promise"><p><strong>epsilon = {show_bound(guarantee["epsilon"])}, delta = '
        f"{show_bound(guarantee['delta'])}</strong>, {escape(guarantee['protects'])}. Proved.</p>"
        f"<p>Somebody who knows everybody else's rows and two candidates for one "
        f"{escape(guarantee['unit'])}'s guesses right at most {_up(chance)} times in 100; a coin "
        "is right 50 times.</p></div>"
    )


def _event(entry: dict[str, Any]) -> Event:
    noise = DiscreteGaussian(entry["noise_scale"] / entry["sensitivity"], None)
    return Event(noise, count=entry["count"], adjacency=entry["adjacency"])


def _left(dossier: dict[str, Any]) -> Iterable[str]:
    model = declaration(dossier["model"])
    yield "<h2>What left</h2>"
    yield f"<p>The parameters of {escape(model.noun)}, from noisy sums:</p>"
    odds = "coefficients" in dossier["parameters"]
    yield _odds(dossier) if odds else _parameters(dossier, one_row=model.one_row)
    if dossier["synthetic"] is None:
        return
    yield (
        f"<p>{dossier['synthetic']['rows']:,} synthetic rows drawn from them (synthetic.csv), "
        "about nobody. They cost nothing more, and neither does anything else computed from the "
        "parameters.</p>"
    )


def _odds(dossier: dict[str, Any]) -> str:
    """One line a column with its interval, where noise is known; the intercept last."""
    found, schema = dossier["parameters"], _schema(dossier)
    outcome = None if schema is None else schema.outcome
    titles = [*map(_title, dossier["columns"]), "intercept"]
    values = [*found["coefficients"], found["intercept"]]
    intervals = found["intervals"]
    known = intervals or [()] * len(values)
    cells = [[value, *ends] for value, ends in zip(values, known, strict=True)]
    if len(cells) * len(cells[0]) > MOST_CELLS:
        return MANY
    heads = ("log odds", "95% from", "to") if intervals else ("log odds",)
    about = f"What one unit of each column adds to the log odds of {outcome or 'a yes'}; "
    return (
        f"<p>{escape(about + found['intervals_include'])}.</p>"
        f'<div class="wide">{_lines(heads, titles, cells)}</div>'
    )


def _title(column: dict[str, Any]) -> str:
    """A column's name with its unit."""
    unit = column["unit"]
    return str(column["name"]) if unit is None else f"{column['name']} ({unit})"


def _lines(heads: Sequence[str], titles: Iterable[str], cells: Iterable[Sequence[float]]) -> str:
    """A table with one line a column of the rows."""
    top = "".join(f"<th>{escape(head)}</th>" for head in ("", *heads))
    lines = [f"<tr>{top}</tr>"]
    for title, numbers in zip(titles, cells, strict=True):
        told = "".join(f"<td>{show(number)}</td>" for number in numbers)
        lines.append(f"<tr><td>{escape(title)}</td>{told}</tr>")
    return f"<table>{''.join(lines)}</table>"


def _schema(dossier: dict[str, Any]) -> Schema | None:
    """The schema; None where its text is longer than may be read back."""
    try:
        return Schema.parse(dossier["schema"])
    except InputError:
        return None


def _parameters(dossier: dict[str, Any], *, one_row: bool) -> str:
    """Every array that is a number or two for a part or a column, as a table."""
    found, names = dossier["parameters"], dossier["parameters"].get("columns", [])
    tables = []
    for name, value in found.items():
        rows = value if isinstance(value, list) and value else []
        if (
            name == "columns"
            or not rows
            or isinstance(rows[0], str)
            or len(rows) * _width(rows[0]) > MOST_CELLS
        ):
            continue
        if one_row and len(rows) == len(names):
            rows = [rows]  # one list for the columns, not a number for each of some parts
        if isinstance(rows[0], list) and not _is_of_columns(rows[0], names):
            continue
        heads = names if isinstance(rows[0], list) else []
        tables.append(_table(name.replace("_", " "), heads, rows))
    return "".join(tables) or MANY


def _is_of_columns(row: list[Any], names: list[str]) -> bool:
    """Whether a row has a number for each column."""
    return len(row) == len(names) and not any(isinstance(cell, list) for cell in row)


def _width(row: Any) -> int:
    return len(row) if isinstance(row, list) else 1


def _table(name: str, heads: Sequence[str], rows: Sequence[Any]) -> str:
    """Parts across and columns down: names are long, and parts few."""
    columns = list(zip(*rows, strict=True)) if heads else [rows]
    numbers = "".join(f"<th>{number}</th>" for number in range(1, len(rows) + 1))
    lines = [f"<tr><th>{escape(name)}</th>{numbers}</tr>"]
    for head, cells in zip(heads or ("",), columns, strict=True):
        told = "".join(f"<td>{show(cell)}</td>" for cell in cells)
        lines.append(f"<tr><td>{escape(str(head))}</td>{told}</tr>")
    return f'<div class="wide"><table>{"".join(lines)}</table></div>'


def _budget(dossier: dict[str, Any]) -> Iterable[str]:
    ledger, line = dossier["ledger"], dossier["line"]
    before, after = line["left_before"], line["left_after"]
    yield "<h2>What it cost</h2>"
    yield (
        f"<p>Of a budget of epsilon = {show_bound(ledger['limit']['epsilon'])} at "
        f"delta = {show_bound(ledger['limit']['delta'])} for everything that will ever leave, one "
        f"more release could have had epsilon = {show_most(before['epsilon'])} before this one, "
        f"and {show_most(after['epsilon'])} after it.</p>"
        f'<p class="quiet">Line {line["number"]} of the ledger {escape(ledger["name"])}, '
        f"whose fingerprint was then <code>{escape(line['fingerprint'])}</code>. A copy of a "
        "ledger is a second budget: ask for the one that holds this line.</p>"
    )


def _doors(dossier: dict[str, Any]) -> Iterable[str]:
    yield "<h2>What was measured</h2>"
    lines = [
        f"<tr><td>{escape(entry['what'])}</td>"
        f"<td>{show_most(entry['noise_scale'] / entry['sensitivity'])}</td></tr>"
        for entry in dossier["entries"]
    ]
    yield (
        "<table><tr><th>each time with fresh noise</th><th>noise / largest change by one "
        f"{escape(dossier['guarantee']['unit'])}</th></tr>{''.join(lines)}</table>"
    )


def _assumed(dossier: dict[str, Any]) -> Iterable[str]:
    yield "<h2>What is assumed</h2>"
    guarantee = dossier["guarantee"]
    told = [*guarantee["assumptions"], *guarantee["notes"]]
    yield "<ul>" + "".join(f"<li>{escape(line)}</li>" for line in told) + "</ul>"
    schema, columns = _schema(dossier), dossier["columns"][: MOST_CELLS // 3]
    limits = [[column["lower"], column["upper"]] for column in columns]
    heads = ["from", "to"]
    if schema is not None:
        heads.append("a missing cell counts as")
        for line, column in zip(limits, schema.numeric_columns(), strict=False):
            line.append(column.fill)
    yield "<h2>Public limits</h2>"
    yield _lines(heads, map(_title, columns), limits)


def _up(chance: float) -> int:
    """Rounded up: a bound stays one."""
    return min(100, int(-(-chance // 1)))
