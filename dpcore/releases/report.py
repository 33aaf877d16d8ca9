"""The report: a dossier on a page or two, for whoever has to answer for it and signs it.

It is printed as well as read: on paper it has black ink, whole tables and a place to sign.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import zip_longest
from typing import Any

import numpy as np

from dpcore.accounting.bayes_success import guess_rate
from dpcore.arrays import Array
from dpcore.declaration import Model, declaration
from dpcore.errors import InputError
from dpcore.privacy import DiscreteGaussian, Event
from dpcore.privacy.guarantee import show, show_bound, show_delta, show_most
from dpcore.releases.filter import FILTERS
from dpcore.schema import Column, Schema
from dpcore.schema.forms import DAYS, day_of

EDITION = 3  # of its words and tables; others need another number, or reports that are out fail
MOST_CELLS = 400  # of a table of parameters; the dossier has all
TINY, LEGIBLE = 1e-300, 1e15  # of delta, and of what is written with all its figures
MOST_ACROSS = 8  # columns of a table that a printed page holds
MOST_WORDS = 200  # of a public list that are written out
MOST_LETTERS = 100  # of a list of words that is written out
PLACES = ("mean", "means", "centers", "origin", "lower", "upper")  # arrays of places in columns
LEAST = 1e-6  # of a number that is written without an exponent
FILLED = "a missing cell counts as"  # an assumption begins so where it is true
DOSSIER, NOT_STATED = "dossier.json", "not stated"

_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0; }
h2 { font-size: 1.05rem; margin: 1.8rem 0 .4rem; }
p { margin: .3rem 0; } .quiet { opacity: .72; font-size: .9rem; }
.promise { border-left: 4px solid #0072B2; padding: .2rem 0 .2rem .9rem; margin: 1rem 0; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9rem; }
th, td { text-align: right; padding: .15rem .7rem .15rem 0; border-bottom: 1px solid #8884; }
th:first-child, td:first-child { text-align: left; } ul { padding-left: 1.1rem; margin: .3rem 0; }
.wide { overflow-x: auto; margin: .5rem 0; } code { font-size: .85rem; overflow-wrap: anywhere; }
.facts { margin-top: .8rem; }
.facts th { font-weight: 400; opacity: .72; white-space: nowrap; vertical-align: top; }
.facts td, .left td, .left th { text-align: left; overflow-wrap: break-word; }
.sign { display: none; }
@page { size: A4; margin: 18mm 16mm; }
@media print {
  :root { color-scheme: light; font-size: 10pt; }
  body { font-size: 1rem; max-width: none; margin: 0; padding: 0; color: #000; }
  .quiet, .facts th { opacity: 1; } a { color: inherit; }
  h1, h2 { break-after: avoid; } tr, li, p, .promise, .sign { break-inside: avoid; }
  .wide { overflow: visible; } .wide table { font-size: .85rem; }
  .wide th, .wide td:first-child { overflow-wrap: anywhere; } .wide td { white-space: nowrap; }
  .wide td:first-child { white-space: normal; }
  h2 { margin-top: 1.2rem; } .sign { display: block; margin-top: 8mm; break-before: avoid; }
  .sign div { display: flex; gap: 2rem; margin-top: 16mm; font-size: .9rem; }
  .sign span { flex: 1; border-top: 1px solid #000; padding-top: .2rem; }
}
"""


def report(dossier: dict[str, Any]) -> str:
    """A page of HTML that needs nothing else: who is protected, what left, what it cost, who can
    check it. dossier: of any format; what an older one does not hold is not stated."""
    title = title_of(dossier)
    parts = [
        f'<h1>{escape(title)}</h1><p class="quiet">Report on a private release</p>',
        *_facts(dossier),
        *promise(dossier),
        *sections(dossier),
        _signed(title, dossier),
    ]
    return html_page(title, parts)


def html_page(title: str, parts: Sequence[str]) -> str:
    """A page of HTML that needs nothing else, from its title and its parts."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>\n"
        + "\n".join(parts)
        + "\n</body></html>\n"
    )


def _signed(title: str, dossier: dict[str, Any]) -> str:
    """A place to sign, on paper alone; it says what is signed, wherever a page ends."""
    content = dossier.get("content", NOT_STATED)
    return (
        f'<div class="sign"><p>{escape(title)}, released {escape(dossier["created"])}; the content '
        f"of its dossier has the SHA-256 <code>{escape(content)}</code>.</p><div><span>Name and "
        "office</span><span>Date</span><span>Signature</span></div></div>"
    )


def _facts(dossier: dict[str, Any]) -> Iterator[str]:
    """What, of which data, for whom: as it was said when it was released."""
    guarantee, rows = dossier["guarantee"], dossier.get("rows")
    persons, limited = dossier.get("persons"), guarantee.get("limited", False)
    hidden = "private" if limited or guarantee["adjacency"] == "add_remove" else NOT_STATED
    has = f"; each {guarantee['unit']} has {_as_many(guarantee, 'at most ')}"
    number = hidden if rows is None else f"{rows:,} (public)"
    if rows is not None and persons:
        number += f", as each {guarantee['unit']} counts as {_as_many(guarantee)}"
    facts = {
        "Data": dossier.get("file") or NOT_STATED,
        **({} if persons is None else {"Different ids": f"{persons:,} (public)"}),
        f"{guarantee['thing'].capitalize()}s": number,
        "Protected": guarantee["protects"] + ("" if limited else has),
        "Controller": dossier.get("controller") or NOT_STATED,
        "Purpose": dossier.get("purpose") or NOT_STATED,
        "Released": dossier["created"],
        "Line that paid": f"{dossier['line']['number']} of the ledger {dossier['ledger']['name']}",
    }
    lines = (
        f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in facts.items()
    )
    yield f'<table class="facts">{"".join(lines)}</table>'


def _as_many(guarantee: dict[str, Any], most: str = "") -> str:
    """How many rows, or documents, a person has."""
    many, thing = guarantee["rows_per_person"], guarantee["thing"]
    return f"one {thing}" if many == 1 else f"{most}{many:,} {thing}s"


def title_of(dossier: dict[str, Any]) -> str:
    """What a page about a dossier is called."""
    return str(dossier["title"] or "A release")


def sections(dossier: dict[str, Any]) -> Iterator[str]:
    """All below the promise, as HTML: what left, what it cost, what was measured, who can check it,
    and what is assumed."""
    for section in (_left, _budget, _doors, _checked, _assumed):
        yield from section(dossier)


def promise(dossier: dict[str, Any]) -> Iterator[str]:
    """The guarantee, and what it means for one person, as HTML."""
    guarantee = dossier["guarantee"]
    chance = 100.0 * float(guess_rate([_event(entry) for entry in dossier["entries"]]))
    yield (
        f'<div class="promise"><p><strong>epsilon = {show_bound(guarantee["epsilon"])}, delta = '
        f"{show_delta(guarantee['delta'])}</strong>, {escape(guarantee['protects'])}. Proved.</p>"
        f"<p>Somebody who knows {escape(_guess(guarantee))} at most "
        f"{min(100, math.ceil(chance))} times in 100; a coin toss is right 50 times.</p>"
        f"<p>{_delta_in_words(guarantee['delta'])}</p></div>"
    )


def _guess(guarantee: dict[str, Any]) -> str:
    """What an attacker knows and guesses who must tell two neighbouring tables apart.

    >>> _guess({"adjacency": "label", "unit": "voter", "rows_per_person": 1, "thing": "row"})
    "everything but one voter's label, and finds two candidates for it equally likely, is right"
    """
    owner, things = f"one {guarantee['unit']}'s", f"{guarantee['thing']}s"
    match guarantee["adjacency"]:
        case "add_remove":
            return (
                f"everybody's {things}, and finds it equally likely that {owner} are included and "
                "that they are left out, is right"
            )
        case "label" | "feature" as part:
            several = part == "feature" or guarantee["rows_per_person"] > 1
            part, them = (f"{part}s", "them") if several else (part, "it")
            rest, secret = f"everything but {owner} {part}", them
        case _:
            rest, secret = f"everybody else's {things}", owner
    return f"{rest}, and finds two candidates for {secret} equally likely, is right"


def _delta_in_words(delta: float) -> str:
    """A probability that people can picture, rounded up: a bound stays one.

    >>> _delta_in_words(3e-5)
    'Loosely, delta is the probability that the bound epsilon fails: at most 1 in 33,333.'
    """
    many = 1.0 / delta * (1.0 + 1e-12) if delta > TINY else math.inf
    count = f"{math.floor(many):,}" if many < LEGIBLE else show_most(1.0 / max(delta, TINY))
    return f"Loosely, delta is the probability that the bound epsilon fails: at most 1 in {count}."


def _event(entry: dict[str, Any]) -> Event:
    multiplier = entry["noise_scale"] / entry["sensitivity"]
    noise = DiscreteGaussian(multiplier, None, entry.get("noise_steps"))
    return Event(noise, count=entry["count"], adjacency=entry["adjacency"])


def _left(dossier: dict[str, Any]) -> Iterator[str]:
    """All of it: every released array by name and size, those that are not too large in full."""
    model = declaration(dossier["model"])
    yield "<h2>What was released</h2>"
    units = ", in the units of the columns (see Public limits)" if dossier["columns"] else ""
    yield (
        f"<p>The parameters of {escape(model.noun)}, computed from noisy sums{units}. In full:</p>"
    )
    shown = dict(_parameters(dossier, model))
    if warnings := _warnings(dossier):
        shown = {"warnings": "".join(f"<p>Warning: {escape(w)}.</p>" for w in warnings), **shown}
    lines, thing = [], escape(dossier["guarantee"]["thing"])
    for name, value in dossier["parameters"].items():
        what, here = _described(value)
        where = "below" if name in shown else "here" if here else DOSSIER
        lines.append(f"<tr><td>{escape(_spaced(name))}</td><td>{what}</td><td>{where}</td></tr>")
    if dossier["synthetic"] is not None:
        many = dossier["synthetic"]["rows"]
        lines.append(
            f"<tr><td>synthetic {thing}s</td><td>{many:,} {thing}s</td><td>synthetic.csv</td></tr>"
        )
    heads = "<tr><th>what</th><th>how much</th><th>where</th></tr>"
    yield f'<table class="left"><thead>{heads}</thead><tbody>{"".join(lines)}</tbody></table>'
    meanings = {k: text for k, text in model.meanings.items() if k in dossier["parameters"]}
    if meanings:
        terms = (f"<li>{_spaced(name)}: {escape(text)}</li>" for name, text in meanings.items())
        yield f"<ul>{''.join(terms)}</ul>"
    yield from shown.values()
    if dossier.get("told_apart"):  # releases of before do not say
        yield f"<p>{escape(str(dossier['told_apart']))}</p>"
    drawn = ""
    if dossier["synthetic"] is not None:
        drawn = f"The synthetic {thing}s are drawn from the parameters and describe nobody. "
    yield (
        f"<p>{drawn}Whatever is computed from the release costs nothing more: <code>dpcore apply "
        f"FOLDER NEW.csv</code> applies it as a model to other {thing}s.</p>"
    )


def _warnings(dossier: dict[str, Any]) -> list[str]:
    """What a model says of its release in whole sentences."""
    texts = dossier["parameters"].get("warnings")
    whole = isinstance(texts, list) and all(isinstance(text, str) for text in texts)
    return texts if whole else []


def _described(value: Any) -> tuple[str, bool]:
    """What a released part is, and whether that is all of it."""
    if value is None or value == []:
        return "none", True
    if isinstance(value, float | int):
        return show(float(value)), True
    array = _array(value)
    if array is not None:
        size = "no" if array.size == 0 else " x ".join(f"{side:,}" for side in array.shape)
        return f"{size} number{'' if size == '1' else 's'}", False
    words = value if isinstance(value, list) else [value]
    text = ", ".join(map(str, words))
    if len(text) <= MOST_LETTERS:
        return escape(text), True
    entries = "1 entry" if len(words) == 1 else f"{len(words):,} entries"
    return "a text" if isinstance(value, str) else entries, False


def _array(value: Any) -> Array | None:
    """A list of numbers, or of such lists, as an array; ``None`` for anything else: whatever a
    model releases is paid for by now, and has its line."""
    if not isinstance(value, list):
        return None
    try:
        array = np.array(value)
    except ValueError:
        return None
    return array.astype(float) if array.dtype.kind in "iuf" else None


def _odds(dossier: dict[str, Any]) -> str:
    """One line a column with its interval, where noise is known; the intercept last."""
    parameters, schema = dossier["parameters"], schema_of(dossier)
    outcome = None if schema is None else schema.outcome
    titles = [*map(_title, dossier["columns"]), "intercept"]
    values = [*parameters["coefficients"], parameters["intercept"]]
    intervals = parameters["intervals"]
    ends_of = intervals or [()] * len(values)
    cells = [[value, *ends] for value, ends in zip(values, ends_of, strict=True)]
    if len(cells) * len(cells[0]) > MOST_CELLS:
        return ""
    heads = ("", "log odds", "95% from", "to") if intervals else ("", "log odds")
    about = f"What one more unit of each column adds to the log odds of {outcome or 'a yes'}"
    if algorithm := dossier["settings"].get("algorithm"):
        about += f", as fitted by {algorithm}"
    return (
        f"<p>{escape(about)}; {escape(parameters['intervals_include'])}.</p>"
        f'<div class="wide">{_lines(heads, titles, cells)}</div>'
    )


def _topics(parameters: dict[str, Any], model: Model) -> str:
    """One line a topic: its share of all words, and its most likely words."""
    lines = "".join(
        f"<tr><td>{model.part} {k + 1}</td><td>{share:.1%}</td><td>{escape(', '.join(words))}</td>"
        "</tr>"
        for k, (share, words) in enumerate(
            zip(parameters["shares"], parameters["top_words"], strict=True)
        )
    )
    heads = "<tr><th></th><th>share of all words</th><th>most likely words</th></tr>"
    return f'<table class="left"><thead>{heads}</thead><tbody>{lines}</tbody></table>'


def _title(column: dict[str, Any]) -> str:
    """A column's name with its unit."""
    unit = column["unit"]
    return str(column["name"]) if unit is None else f"{column['name']} ({unit})"


def _dated(number: float, unit: str | None) -> str:
    """A number; a place in a column of dates with the nearest day.

    >>> _dated(16071.2, DAYS), _dated(9.05e-13, None)
    ('16,071 (2014-01-01)', '9.05e-13')
    """
    day = day_of(round(number)) if unit == DAYS and math.isfinite(number) else None
    text = f"{number:.3g}" if 0.0 < abs(number) < LEAST else show(number)
    return text if day is None else f"{text} ({day})"


def _lines(
    heads: Sequence[str],
    titles: Iterable[str],
    cells: Iterable[Sequence[float]],
    units: Iterable[str | None] = (),
) -> str:
    """A table with one line a column of the rows. units: of each line, where numbers are places."""
    top = "".join(f"<th>{escape(head)}</th>" for head in heads)
    lines = []
    for title, numbers, unit in zip_longest(titles, cells, units):
        numbers_row = "".join(f"<td>{_dated(number, unit)}</td>" for number in numbers)
        lines.append(f"<tr><td>{escape(title)}</td>{numbers_row}</tr>")
    return f"<table><thead><tr>{top}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


def schema_of(dossier: dict[str, Any]) -> Schema | None:
    """The schema; None where its text is longer than may be read back."""
    try:
        return Schema.parse(dossier["schema"])
    except InputError:
        return None


def _parameters(dossier: dict[str, Any], model: Model) -> Iterator[tuple[str, str]]:
    """Names of the arrays that are not too large, each with its table; those of a rule in one."""
    parameters = dossier["parameters"]
    names = parameters.get("vocabulary", parameters.get("columns", []))
    if "top_words" in parameters:
        yield from {"top_words": _topics(parameters, model), "shares": ""}.items()
        parameters = {name: value for name, value in parameters.items() if name != "shares"}
    if "coefficients" in parameters:
        odds = _odds(dossier)
        if odds:
            there = ("intercept", "intervals", "intervals_include")
            yield from {"coefficients": odds, **dict.fromkeys(there, "")}.items()
        return
    named = ((name, _array(value)) for name, value in parameters.items())
    arrays = [(name, array) for name, array in named if array is not None]
    parts, of_column = _parts(dossier, model), {c["name"]: c["unit"] for c in dossier["columns"]}
    if model.columns_first and len(parts) == len(names):
        return  # an array's shape does not say which is which
    for name, array in sorted(arrays, key=lambda table: table[1].ndim):
        heading, shape, value = _spaced(name), array.shape, array.tolist()
        units = [of_column.get(column) for column in names] if name in PLACES else []
        if not 0 < array.size <= MOST_CELLS:
            continue
        if stands := model.axes.get(name):
            yield name, _by_axes(heading, stands, array, model, names, units)
            continue
        if shape == (len(parts),) and not model.one_row:
            yield name, _table(heading, parts, ("",), [value])
        elif shape == (len(names),):
            yield name, _table(heading, ("",), names, array[:, None].tolist(), units)
        elif shape == (len(names), len(parts)) and model.columns_first:
            yield name, _table(heading, parts, names, value)
        elif shape == (len(parts), len(names)):  # parts across: names are long, and parts few
            yield name, _table(heading, parts, names, array.T.tolist(), units)
        elif shape == (len(parts), len(names), len(names)):
            tables = (
                _table(f"{heading}, {part}", names, names, matrix)
                for part, matrix in zip(parts, value, strict=True)
            )
            yield name, "".join(tables)


def _by_axes(
    heading: str,
    stands: Sequence[str],
    array: Array,
    model: Model,
    names: Sequence[str],
    units: Sequence[str | None],
) -> str:
    """A table of an array whose model says what its axes stand for; columns down. units: of these,
    where numbers are places."""
    if stands[-1] == "column" and array.ndim == 2:
        stands, array = stands[::-1], array.T
    down, across = (
        names
        if axis == "column"
        else [f"{model.part} {number + 1}" for number in range(array.shape[at])]
        for at, axis in ((0, stands[0]), (-1, stands[-1]))
    )
    if array.ndim == 1:
        return _table(heading, ("",), down, array[:, None].tolist(), units)
    return _table(heading, across, down, array.tolist())


def _parts(dossier: dict[str, Any], model: Model) -> list[str]:
    """Names of the parts of a model: its classes, or their numbers."""
    classes: list[str] = dossier["parameters"].get("classes", [])
    count = dossier["settings"].get("components", 1)
    numbers = range(1, min(count, MOST_CELLS + 1) + 1)  # a dossier may state any count
    return classes or [f"{model.part} {number}" for number in numbers]


def _spaced(name: str) -> str:
    return name.replace("_", " ")


def _table(
    name: str,
    across: Sequence[str],
    down: Sequence[str],
    cells: Sequence[Sequence[float]],
    units: Sequence[str | None] = (),
) -> str:
    """One table, or several that each fit the width of a page."""
    parts = (slice(at, at + MOST_ACROSS) for at in range(0, len(across), MOST_ACROSS))
    tables = (
        _lines((name, *across[part]), down, [row[part] for row in cells], units) for part in parts
    )
    return "".join(f'<div class="wide">{table}</div>' for table in tables)


def _budget(dossier: dict[str, Any]) -> Iterator[str]:
    ledger, line, stated = dossier["ledger"], dossier["line"], dossier["guarantee"]
    amounts = (
        ("total budget for all releases together", ledger["limit"], show_bound),
        ("most that one release could have spent just before", line["left_before"], show_most),
        ("this release", stated, show_bound),
        ("most that one release can spend afterwards", line["left_after"], show_most),
    )
    lines = [
        f"<tr><td>{what}</td><td>{shown(amount['epsilon'])}</td>"
        f"<td>{show_delta(amount['delta'], down=shown is show_most)}</td></tr>"
        for what, amount, shown in amounts
    ]
    yield "<h2>What it cost</h2>"
    yield (
        "<table><thead><tr><th></th><th>epsilon</th><th>delta</th></tr></thead>"
        f"<tbody>{''.join(lines)}</tbody></table>"
    )
    if (name := ledger["filter"]) in FILTERS and name != "sums":
        yield (
            f'<p class="quiet">The ledger composes releases by {FILTERS[name].title}, by which '
            "several together usually cost less than the sum of their epsilons.</p>"
        )


def _doors(dossier: dict[str, Any]) -> Iterator[str]:
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


def _checked(dossier: dict[str, Any]) -> Iterator[str]:
    """Who can check it, and how; what nobody can check."""
    ledger, line, guarantee = dossier["ledger"], dossier["line"], dossier["guarantee"]
    unit = guarantee["unit"]
    public = "limits below were public before anybody saw the data, or come from earlier releases"
    if "vocabulary" in dossier["parameters"]:
        public = "list of words was public before anybody saw the data"
    whose = f"no {unit} has more than {_as_many(guarantee)}"
    if guarantee.get("limited", False):
        whose = f"all rows of one {unit} share one id"
    checks = [
        "Anybody who has this folder, without the data: <code>dpcore verify FOLDER</code> replays "
        "the proof from the noise on record, compares every file with its hash and makes this page "
        f"again (dpcore {escape(str(dossier['versions']['dpcore']))}).",
        f"Whoever keeps the ledger {escape(ledger['name'])}: <code>dpcore verify FOLDER --ledger "
        f"LEDGER</code> shows that line {line['number']:d} paid for this very dossier. The "
        f"ledger's fingerprint was then <code>{escape(line['fingerprint'])}</code>. A copy of a "
        "ledger is a second budget: ask for the ledger that contains this line.",
        f"Only the controller can confirm that the {public}, and that {escape(whose)}.",
    ]
    if content := dossier.get("content"):
        checks.insert(
            1,
            "Whoever holds a signed copy of this page: the content of dossier.json has the SHA-256 "
            f"<code>{escape(content)}</code>, which <code>dpcore verify</code> compares.",
        )
    yield "<h2>Who can check it</h2>"
    yield "<ul>" + "".join(f"<li>{check}</li>" for check in checks) + "</ul>"


def _assumed(dossier: dict[str, Any]) -> Iterator[str]:
    yield "<h2>What is assumed</h2>"
    guarantee = dossier["guarantee"]
    lines = [*guarantee["assumptions"], *guarantee["notes"]]
    yield "<ul>" + "".join(f"<li>{escape(line)}</li>" for line in lines) + "</ul>"
    words = dossier["parameters"].get("vocabulary")
    if words is not None:
        yield "<h2>Public words</h2>"
        yield f"<p>{len(words):,}: {escape(', '.join(words[:MOST_WORDS]))}"
        yield ", and more in dossier.json.</p>" if len(words) > MOST_WORDS else ".</p>"
        return
    schema, many = schema_of(dossier), len(dossier["columns"])
    columns = dossier["columns"][: MOST_CELLS // 3]
    limits = [[column["lower"], column["upper"]] for column in columns]
    heads = ["", "from", "to"]
    if schema is not None and any(line.startswith(FILLED) for line in lines):
        heads.append(FILLED)
        for line, column in zip(limits, schema.numeric_columns(), strict=False):
            line.append(column.fill)
    titles, units = [*map(_title, columns)], [column["unit"] for column in columns]
    explained = _explained(schema, dossier)
    if (
        explained is not None
        and explained.is_number
        and math.isfinite(explained.high - explained.low)
    ):
        titles.append(
            f"{_title({'name': explained.name, 'unit': explained.unit})}, the {explained.role}"
        )
        units.append(explained.unit)
        limits.append([explained.low, explained.high])
        if len(heads) > 3 and explained.fill is not None:
            limits[-1].append(explained.fill)
    yield "<h2>Public limits</h2>"
    yield _lines(heads, titles, limits, units)
    if explained is not None and not explained.is_number:
        values = escape(", ".join(explained.categories or ("0", "1")))
        yield f"<p>Values of {escape(explained.name)}, the {explained.role}: {values}.</p>"
    if len(columns) < many:
        yield f"<p>dossier.json holds the limits of {many - len(columns):,} more columns.</p>"


def _explained(schema: Schema | None, dossier: dict[str, Any]) -> Column | None:
    """The label or target that the model reads beside the numbers; its limits are public too."""
    if schema is None:
        return None
    reads = declaration(dossier["model"]).reads
    role = "target" if reads == "outcome" else reads
    return next((column for column in schema.columns if column.role == role), None)
