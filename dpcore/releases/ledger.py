"""The budget ledger: a file that knows what a budget was, what has been spent, and on what.

It is an SQLite database of lines, each carrying the hash of the one before, so that a line changed
alone shows; a chain rewritten as a whole shows beside the dossiers that left before, which carry
its fingerprint. A release is paid for in one line before its noise is drawn, and everything that
leaves is written down in another: before the first nothing is drawn, before the second nothing has
left, after it nothing can be lost. Where the second never comes, because the release failed or its
process died, the first counts. A copy of the file is a second budget; no file can prevent that.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from shutil import disk_usage
from typing import Any

from dpcore.checks import one_of, path_of, positive, probability, rows_of_one, whole
from dpcore.errors import BudgetExceeded, InputError
from dpcore.privacy import Ledger
from dpcore.privacy.adjacency import ADJACENCIES, protects
from dpcore.privacy.guarantee import delta_text, show_most
from dpcore.privacy.ledger import LedgerEntry
from dpcore.releases.filter import FILTERS, USUAL, Amount, Filter, filter_of, total

FORMAT = "dpcore budget ledger 1"
PATIENCE = 4.0  # seconds to wait for other writers before nothing is spent
PAID_PATIENCE = 60.0  # once it is, to write down what leaves
SPARE = 16 << 20  # bytes that the disk has free when a release is paid for
RESERVED = {"reserved": True}  # output of a line that paid for what is not drawn yet
BUSY = ("SQLITE_BUSY", "SQLITE_LOCKED")  # names of SQLite's errors begin so
UNWRITTEN = ("SQLITE_READONLY", "SQLITE_FULL", "SQLITE_IOERR", "SQLITE_CANTOPEN")
BESIDE = ("-journal", "-wal", "-shm")  # SQLite's own files, which it deletes, are called so
SQLITE = (3, 37)  # the first with STRICT tables; an older one takes a ledger for a damaged file
ALL_SPENT = "the whole budget is spent, and nothing more can be released"
START = "0" * 64  # what the first line names as the line before it

_UP_TO = {
    "replace_one": "replacing up to {rows} {thing}s of one {unit}",
    "add_remove": "adding or removing up to {rows} {thing}s of one {unit}",
    "label": "replacing the labels of up to {rows} rows of one {unit}",
    "feature": "replacing the features of up to {rows} rows of one {unit}",
}

_TABLES = """
CREATE TABLE lines (
    number INTEGER PRIMARY KEY, time TEXT NOT NULL, kind TEXT NOT NULL, body TEXT NOT NULL,
    previous TEXT NOT NULL, hash TEXT NOT NULL
) STRICT;
CREATE TABLE outputs (hash TEXT PRIMARY KEY, content TEXT NOT NULL) STRICT;
CREATE TRIGGER lines_stay BEFORE UPDATE ON lines BEGIN SELECT RAISE(ABORT, 'append only'); END;
CREATE TRIGGER lines_last BEFORE DELETE ON lines BEGIN SELECT RAISE(ABORT, 'append only'); END;
CREATE TRIGGER outputs_stay BEFORE UPDATE ON outputs BEGIN SELECT RAISE(ABORT, 'append only'); END;
CREATE TRIGGER outputs_last BEFORE DELETE ON outputs BEGIN SELECT RAISE(ABORT, 'append only'); END;
"""


def covered(
    adjacency: str, unit: str = "person", rows_per_person: int = 1, thing: str = "row"
) -> str:
    """The protected change of a whole ledger: of each release, whether an id column limits the rows
    of a unit or somebody's word does.

    >>> covered("replace_one"), covered("add_remove", "patient", 3)
    ("replacing one person's row", 'adding or removing up to 3 rows of one patient')
    """
    if rows_per_person == 1:
        return protects(adjacency, unit, thing=thing)
    return _UP_TO[adjacency].format(unit=unit, rows=rows_per_person, thing=thing)


class TamperedError(InputError):
    """The ledger's lines do not follow from one another: somebody or something changed the file."""

    def __init__(self, problem: str) -> None:
        super().__init__("ledger", problem, "restore it from an intact copy")


@dataclass(frozen=True)
class Protected:
    """Whom a release protects: under which adjacency, one of what, with how many rows at most."""

    adjacency: str
    unit: str
    rows: int = 1


@dataclass(frozen=True)
class Terms:
    """What a ledger is for, fixed for life. limit: all that may ever be spent."""

    name: str
    limit: Amount
    who: Protected
    filter: str

    def demand(self, who: Protected) -> None:
        """Raise InputError for a release that protects others, or fewer rows of theirs."""
        own = self.who
        if who.adjacency != own.adjacency:
            whom = covered(own.adjacency, own.unit, own.rows)
            raise InputError(
                "adjacency",
                f"this ledger's is {own.adjacency} ({whom})",
                f"choose {own.adjacency}, or another ledger",
            )
        if who.unit != own.unit:
            raise InputError(
                "unit",
                f"this ledger protects one {own.unit}, but each row is about one {who.unit}",
                "name the same unit in the schema, or use another ledger",
            )
        if who.rows < own.rows:
            raise InputError(
                "rows_per_person",
                f"this ledger protects one {own.unit} with up to {own.rows} rows",
                "protect at least as many in each release",
            )


@dataclass(frozen=True)
class Line:
    """One line: the terms, a release that is paid for, or what left of it. body: its record."""

    number: int
    time: str
    kind: str
    body: dict[str, Any]
    hash: str


@dataclass(frozen=True)
class State:
    """A ledger as it stands; fingerprint: name and hash of its last line."""

    terms: Terms
    lines: tuple[Line, ...]
    spent: tuple[int, ...]
    budget: tuple[int, ...]

    @property
    def releases(self) -> tuple[Line, ...]:
        """The lines that paid, each with what left of it where that stands in a later line."""
        ends = {line.body["line"]: line.body for line in self.lines if line.kind == "end"}
        return tuple(
            replace(line, body={**line.body, **ends.get(line.number, {})})
            for line in self.lines
            if line.kind == "release"
        )

    @property
    def open(self) -> tuple[int, ...]:
        """Lines that reserved budget for a release that has not ended; maybe it never will."""
        return tuple(line.number for line in self.releases if line.body["output"] == _RESERVED_HASH)

    @property
    def fingerprint(self) -> str:
        """Name of the ledger and hash of its last line."""
        return f"{self.terms.name}-{len(self.lines)}-{self.lines[-1].hash[:16]}"

    @property
    def spent_amount(self) -> Amount:
        """What was spent, as an epsilon and a delta."""
        return self._filter.amount(self.spent, self.terms.limit)

    @property
    def left_amount(self) -> Amount:
        """What one more release at the limit's delta could have at most; 0 where all is spent."""
        return self.left_for(1)

    def left_for(self, releases: int) -> Amount:
        """What each of ``releases`` more releases, all alike, could have at most: an epsilon at the
        limit's delta (of a ledger of sums also a share of delta), rounded down. Raises
        InputError for a number that is not a whole one above 0.
        """
        rest = tuple(
            max(0, b - s) // whole("releases", releases)
            for b, s in zip(self.budget, self.spent, strict=True)
        )
        return self._filter.amount(rest, self.terms.limit)

    def up_to(self, number: int) -> State:
        """The ledger as it stood after line ``number``."""
        lines = self.lines[:number]
        return replace(self, lines=lines, spent=_costs(lines, len(self.budget)))

    @property
    def _filter(self) -> Filter:
        return filter_of(self.terms.filter)

    def admits(self, cost: tuple[int, ...]) -> bool:
        """Whether a release of this cost still fits. cost: in the ledger's integer units, one per
        quantity that it adds up, as :meth:`Filter.cost` gives them.
        """
        return all(s + c <= b for s, c, b in zip(self.spent, cost, self.budget, strict=True))


class BudgetLedger:
    """A ledger file. Open an existing one, or :meth:`create` one.

    >>> import tempfile
    >>> import dpcore as dp
    >>> path = tempfile.mkdtemp() + "/budget.sqlite"
    >>> dp.BudgetLedger.create(path, dp.Amount(1.0, 1e-5)).state().left_amount.delta
    1e-05
    """

    def __init__(self, path: str | Path) -> None:
        self.path = path_of("ledger", path)
        if self.path.is_dir():
            raise InputError("ledger", "it is a folder", "name the ledger file")
        if not self.path.is_file():
            raise InputError(
                "ledger",
                "there is no such file",
                "check the path; dpcore ledger FILE --create makes a new one",
            )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.path)!r})"

    def __deepcopy__(self, memo: dict[int, Any]) -> BudgetLedger:
        """Itself: a copy would name the same file, and clones of an estimator share its ledger."""
        return self

    @classmethod
    def create(
        cls,
        path: str | Path,
        limit: Amount,
        *,
        adjacency: str = "replace_one",
        unit: str = "person",
        rows_per_person: int = 1,
        filter: str = USUAL,
    ) -> BudgetLedger:
        """A new ledger; its terms never change. Raises InputError where the file already exists or
        would be taken for one of SQLite's own.

        limit: epsilon and delta of everything that will ever leave, together. rows_per_person: how
        many rows of one are protected together, at least, in every release.
        """
        if not isinstance(limit, Amount):
            raise InputError("limit", "it is not an Amount", "give dpcore.Amount(epsilon, delta)")
        epsilon, delta = positive("epsilon", limit.epsilon), probability("delta", limit.delta)
        one_of("adjacency", adjacency, ADJACENCIES)
        one_of("filter", filter, tuple(FILTERS))
        rows = rows_of_one(rows_per_person)
        if not isinstance(unit, str) or not unit.strip():
            raise InputError("unit", "it is not a word", "say who is protected, for example person")
        place = path_of("ledger", path)
        if place.name.lower().endswith(BESIDE):  # on some disks A is a
            raise InputError(
                "ledger", "SQLite deletes files whose names end like this", "give it another name"
            )
        try:
            place.touch(exist_ok=False)
        except FileExistsError:
            raise InputError(
                "ledger", "the file already exists", "name another, or leave out --create"
            ) from None
        except OSError as problem:
            raise InputError(
                "ledger", f"it cannot be written ({problem.strerror})", "name another place"
            ) from None
        terms = {
            "format": FORMAT,
            "name": secrets.token_hex(8),
            "epsilon": epsilon,
            "delta": delta,
            "adjacency": adjacency,
            "unit": unit.strip(),
            "rows_per_person": rows,
            "filter": filter,
        }
        ledger = cls(place)
        try:
            with ledger._writing(new=True) as database:
                _append(database, (), "terms", terms)
        except InputError:  # a full disk: what is left is no ledger
            place.unlink()
            raise
        return ledger

    def state(self) -> State:
        """The ledger as it stands. Raises TamperedError where lines do not follow."""
        with closing(self._connect()) as database:
            return _state(database)

    def demand_intact(self) -> State:
        """As :meth:`outputs`, without what left."""
        return self.outputs()[0]

    def outputs(self) -> tuple[State, dict[int, dict[str, Any]]]:
        """The same, and by line what left, as it was written down: every output is compared with
        its hash and charged once more.

        A hash shows what was changed by accident or in part. Whoever may write the file can write
        all of it anew: then dossiers that were handed out no longer find their lines.

        Raises TamperedError for an output that is missing or does not match its line.
        """
        with closing(self._connect()) as database:
            state = _state(database)
            rows = _read(database, "SELECT hash, content FROM outputs")
        contents = {hash: content for hash, content in rows if _hash(str(content)) == hash}
        outputs = {}
        for line in state.releases:
            if line.body["output"] not in contents:
                raise TamperedError(f"the output of line {line.number} has been changed")
            with sound():
                outputs[line.number] = json.loads(contents[line.body["output"]])
                _demand_charged(line, outputs[line.number], state.terms.filter)
        return state, outputs

    def output(self, number: int) -> dict[str, Any]:
        """What left in line ``number``.

        Raises InputError for a line that is no release, TamperedError for a changed ledger.
        """
        outputs = self.outputs()[1]
        if number not in outputs:
            raise InputError(
                "line",
                f"{number} is not the line of a release",
                "list the lines with dpcore ledger FILE",
            )
        return outputs[number]

    def check(self, ledger: Ledger, stated: Amount, who: Protected, size: int = 0) -> State:
        """Raise, before anything is drawn, where a release of this cost could not be admitted.

        size: bytes of what leaves, beyond :data:`SPARE`. Raises InputError for other people and
        where the disk could not take down what leaves, BudgetExceeded for too high a cost.
        """
        state = self.state()
        disk = disk_usage(self.path.resolve().parent)  # a link may lead to another disk
        if disk.free < SPARE + size and disk.total > 0:  # 0: the system does not tell
            raise InputError(
                "ledger",
                f"its disk has less than {(SPARE + size) / 2**20:.0f} MB free, and what is paid "
                "for is recorded there",
                "free some space",
            )
        _demand_room(state, _due(state, ledger, stated, who))
        return state

    def reserve(self, ledger: Ledger, stated: Amount, who: Protected) -> State:
        """Pay for a release before its noise is drawn; its line is the last of the state returned.

        **Guarantee:** from now on its cost counts, whatever becomes of it; a process that dies
        changes nothing. Raises as :meth:`spend`; then nothing was paid for.
        """
        return self.spend(ledger, stated, who, RESERVED)

    def complete(self, number: int, ledger: Ledger, output: dict[str, Any]) -> State:
        """Write down all that leaves of the release that line ``number`` reserved budget for.

        ledger: of what was drawn, which may not cost more than was reserved. output: what leaves,
        JSON-ready. Nothing is spent. **Guarantee:** when this returns, it is on disk; when it
        raises, or the process dies, it is not. Raises InputError for a line that is not open,
        BudgetExceeded for a cost that is not covered.
        """
        content = _canonical(output)
        with self._writing(patience=PAID_PATIENCE) as database:
            state = _state(database)
            if number not in state.open:
                raise InputError("line", f"{number} is not reserved", "see dpcore ledger FILE")
            _demand_covered(state.lines[number - 1], ledger, state.terms.filter)
            body = {"line": number, "output": _hash(content)}
            events = {"events": ledger.as_list()} if len(ledger) else {}
            line = _append(database, state.lines, "end", {**body, **events})
            _keep(database, content)
        return replace(state, lines=(*state.lines, line))

    def spend(
        self, ledger: Ledger, stated: Amount, who: Protected, output: dict[str, Any]
    ) -> State:
        """Pay for a release and write down all of it, in one transaction; the ledger after it.

        output: what leaves, JSON-ready. **Guarantee:** when this returns, cost and output are on
        disk; when it raises, or the process dies, neither is. Whatever the order and number of
        processes, costs never come to more than the budget.
        """
        content = _canonical(output)
        with self._writing() as database:
            state = _state(database)
            cost = _due(state, ledger, stated, who)
            _demand_room(state, cost)
            body = {
                "epsilon": stated.epsilon,
                "delta": stated.delta,
                "cost": [str(units) for units in cost],
                "events": ledger.as_list(),
                "output": _hash(content),
            }
            line = _append(database, state.lines, "release", body)
            _keep(database, content)
            lines = (*state.lines, line)
        return replace(state, lines=lines, spent=_costs(lines, len(state.budget)))

    def _connect(self, patience: float | None = None) -> sqlite3.Connection:
        if sqlite3.sqlite_version_info < SQLITE:
            raise InputError(
                "ledger",
                f"this Python has SQLite {sqlite3.sqlite_version}, which cannot read it",
                "use a Python with SQLite 3.37 or newer",
            )
        wait = PATIENCE if patience is None else patience
        place = f"{self.path.absolute().as_uri()}?mode=rw"  # never a new and empty file
        try:
            database = sqlite3.connect(place, timeout=wait, isolation_level=None, uri=True)
        except sqlite3.Error as problem:
            raise InputError(
                "ledger", f"it cannot be opened ({problem})", "check its place and permissions"
            ) from None
        try:
            _read(database, "PRAGMA synchronous = EXTRA")
        except BaseException:
            database.close()
            raise
        return database

    @contextmanager
    def _writing(
        self, *, new: bool = False, patience: float | None = None
    ) -> Iterator[sqlite3.Connection]:
        """One transaction; nobody else writes meanwhile. Undone when anything goes wrong.

        patience: seconds to wait for other writers [:data:`PATIENCE`]."""
        with closing(self._connect(patience)) as database:
            try:
                database.execute("BEGIN IMMEDIATE")
                for statement in _TABLES.split(";\n") if new else ():
                    database.execute(statement)  # a whole script would end the transaction
                yield database
                database.execute("COMMIT")
            except (sqlite3.DatabaseError, UnicodeError) as problem:
                raise _unusable(problem) from None


def _unusable(problem: Exception) -> InputError:
    name = getattr(problem, "sqlite_errorname", "")
    if name.startswith(BUSY):
        return InputError("ledger", "another program is using it", "try again later")
    if name.startswith(UNWRITTEN):
        return InputError(
            "ledger", f"it cannot be written ({problem})", "check its permissions and the disk"
        )
    return TamperedError("the file is not a ledger, or is damaged")


def _read(database: sqlite3.Connection, query: str, *values: object) -> list[tuple[Any, ...]]:
    try:
        return database.execute(query, values).fetchall()
    except (sqlite3.DatabaseError, UnicodeError) as problem:
        raise _unusable(problem) from None


def _state(database: sqlite3.Connection) -> State:
    """The lines, checked one against the next, and what they add up to."""
    parts = {
        _plain(*row) for row in _read(database, "SELECT sql FROM sqlite_master WHERE sql > ''")
    }
    if not parts <= set(map(_plain, _TABLES.split(";\n"))):  # such as a trigger that drops lines
        raise TamperedError("it has a table or a trigger that no ledger has")
    rows = _read(
        database, "SELECT number, time, kind, body, previous, hash FROM lines ORDER BY number"
    )
    with sound():
        return _state_of(rows)


def _plain(statement: str) -> str:
    """A statement of SQL without what its spaces and ends of lines are."""
    return " ".join(statement.split())


@contextmanager
def sound() -> Iterator[None]:
    """Raises TamperedError where what a line or an output says is not what a ledger writes: whoever
    made the file may have made its hashes as well."""
    try:
        yield
    except TamperedError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError):
        raise TamperedError("a line or an output is not one that a ledger writes") from None


def _state_of(rows: Sequence[tuple[Any, ...]]) -> State:
    previous, lines = START, list[Line]()
    for place, (number, time, kind, body, before, hash) in enumerate(rows, start=1):
        follows = before == previous and number == place
        follows = follows and all(isinstance(text, str) for text in (time, kind, body))
        if not follows or hash != _line_hash(before, number, time, kind, body):
            raise TamperedError(f"line {place} does not follow from the line before it")
        lines.append(Line(number, time, kind, json.loads(body), hash))
        previous = hash
    if any(line.kind not in ("release", "end") for line in lines[1:]):
        raise TamperedError("a line is of an unknown kind, so what was spent is not known")
    _demand_ends(lines)
    if not lines or lines[0].kind != "terms" or lines[0].body.get("format") != FORMAT:
        raise TamperedError("the file is not a ledger, or its first line is missing")
    body = lines[0].body
    limit = Amount(positive("epsilon", body["epsilon"]), probability("delta", body["delta"]))
    adjacency = one_of("adjacency", body["adjacency"], ADJACENCIES)
    who = Protected(adjacency, str(body["unit"]), rows_of_one(body["rows_per_person"]))
    if not body["name"].isalnum():  # it stands on pages and in dossiers
        raise ValueError("name")
    terms = Terms(body["name"], limit, who, body["filter"])
    budget = filter_of(terms.filter).budget(limit)
    return State(terms, tuple(lines), _costs(lines, len(budget)), budget)


def _demand_ends(lines: Sequence[Line]) -> None:
    """Raise TamperedError where a line ends what no earlier line has reserved, or ends it twice."""
    waiting: set[int] = set()
    for line in lines:
        if line.kind == "release" and line.body["output"] == _RESERVED_HASH:
            waiting.add(line.number)
        elif line.kind == "end":
            if line.body["line"] not in waiting:
                raise TamperedError(
                    f"line {line.number} ends a release for which nothing was reserved"
                )
            waiting.remove(line.body["line"])


def _costs(lines: Sequence[Line], width: int) -> tuple[int, ...]:
    """What the releases among lines cost together. Raises ValueError for a cost that gives budget
    back, or is not in the ledger's units."""
    costs = [tuple(map(int, line.body["cost"])) for line in lines if line.kind == "release"]
    if any(len(cost) != width or min(cost) < 0 for cost in costs):
        raise ValueError("cost")
    return total(costs, width)


def _append(
    database: sqlite3.Connection, lines: tuple[Line, ...], kind: str, body: dict[str, Any]
) -> Line:
    number = len(lines) + 1
    time = datetime.now(UTC).isoformat(timespec="seconds")
    previous = lines[-1].hash if lines else START
    text = _canonical(body)
    hash = _line_hash(previous, number, time, kind, text)
    database.execute(
        "INSERT INTO lines VALUES (?, ?, ?, ?, ?, ?)", (number, time, kind, text, previous, hash)
    )
    return Line(number, time, kind, json.loads(text), hash)


def _keep(database: sqlite3.Connection, content: str) -> None:
    """Write an output down under its hash."""
    database.execute("INSERT OR IGNORE INTO outputs VALUES (?, ?)", (_hash(content), content))


def _canonical(value: Any) -> str:
    """JSON with one spelling."""
    return json.dumps(value, sort_keys=True, allow_nan=False, separators=(",", ":"))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


_RESERVED_HASH = _hash(_canonical(RESERVED))


def _line_hash(previous: str, number: int, time: str, kind: str, body: str) -> str:
    return _hash(_canonical([previous, number, time, kind, body]))


def _demand_charged(line: Line, output: dict[str, Any], name: str) -> None:
    """Raise TamperedError where a line paid less than its own entries cost."""
    entries = output.get("dossier", {}).get("entries", [])
    entries_of = Ledger(tuple(LedgerEntry(**entry) for entry in entries))
    if len(entries_of) and not _covers(line, entries_of, name):
        raise TamperedError(f"line {line.number} was charged less than its entries cost")


def _demand_covered(line: Line, ledger: Ledger, name: str) -> None:
    if len(ledger) and not _covers(line, ledger, name):
        raise BudgetExceeded(f"budget: line {line.number} reserved less than the release costs.")


def _covers(line: Line, ledger: Ledger, name: str) -> bool:
    """Whether a line paid for everything in a ledger."""
    due = filter_of(name).cost(ledger, Amount(line.body["epsilon"], line.body["delta"]))
    return all(paid >= units for paid, units in zip(map(int, line.body["cost"]), due, strict=True))


def _due(state: State, ledger: Ledger, stated: Amount, who: Protected) -> tuple[int, ...]:
    """What a release costs, in the units of its ledger. Raises InputError for one that protects
    others than it says or than the ledger does, and for one that would cost nothing."""
    state.terms.demand(who)
    positive("epsilon", stated.epsilon)
    probability("delta", stated.delta)
    if any(entry.adjacency != who.adjacency for entry in ledger):
        raise InputError(
            "adjacency", "that of an entry is not the release's", f"choose {who.adjacency} for both"
        )
    cost = filter_of(state.terms.filter).cost(ledger, stated)
    if min(cost) <= 0:
        raise InputError("cost", "none of the release's noise is stated", "give its entries")
    return cost


def _demand_room(state: State, cost: tuple[int, ...]) -> None:
    if state.admits(cost):
        return
    left = state.left_amount
    rest = f": {ALL_SPENT}"
    if left.epsilon > 0.0:
        epsilon, delta = show_most(left.epsilon), delta_text(left.delta, down=True)
        rest = f": at most epsilon = {epsilon} is left at delta = {delta}; "
        rest += "ask for no more than that, and for no larger delta"
    waiting = "".join(f"{told_open(number)} " for number in state.open)
    raise BudgetExceeded(
        f"budget: the release costs more than is left{rest}. {waiting}Nothing was spent or "
        "released."
    )


def told_open(number: int) -> str:
    """Why a line counts although nothing has left for it."""
    return f"Line {number} counts as spent: its release is under way, or ended unrecorded."
