"""The dossier: one JSON document that says what left, for whom, under which promise, and proves it.

It holds only what passed a door or was public before: two neighbouring tables with the same noise
give dossiers that differ in noisy values alone. Anybody can replay its proof without the data.
"""

from __future__ import annotations

import hashlib
import json
import platform
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from dpcore.accounting import replay
from dpcore.errors import InputError, ReplayError
from dpcore.fitting.result import Fit
from dpcore.privacy import Guarantee, Ledger, Proof
from dpcore.privacy.ledger import LedgerEntry
from dpcore.releases.ledger import BudgetLedger, State, Terms
from dpcore.schema import Schema
from dpcore.wall.grid import MOST_ROWS

FORMAT = "dpcore dossier 1"
CHOSEN = {
    "unsaid": "nobody said what was looked at while settings were chosen",
    "stand-in": "settings were chosen while looking at a stand-in drawn from public bounds",
    "real data": "settings were chosen while looking at exact values of these rows, which no "
    "guarantee covers",
}
NOISE = (
    "noise is a whole number drawn exactly from the discrete Gaussian law with the operating "
    "system's entropy, and sums are put on a grid before it is added"
)
_FLOATING = "noise is drawn in floating point"


def dossier_of(
    fit: Fit, schema: Schema, terms: Terms, chosen_on: str, synthetic: str | None, rows: int
) -> dict[str, Any]:
    """What is written into the ledger: all but what the ledger itself adds to it.

    terms: of the ledger. synthetic: the rows' file as text; rows: how many it has.
    """
    import dpcore

    guarantee = fit.guarantee.as_dict()
    kept = [line for line in guarantee["assumptions"] if not line.startswith(_FLOATING)]
    guarantee["assumptions"] = [*kept, NOISE, *_more(fit), CHOSEN[chosen_on]]
    return {
        "format": FORMAT,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "model": fit.model,
        "title": schema.title or schema.id or "",
        "settings": {**fit.settings, "chosen_on": chosen_on},
        "schema": schema.to_toml(),
        "columns": [
            {"name": c.name, "unit": c.unit, "lower": c.lower, "upper": c.upper}
            for c in schema.numeric_columns()
        ],
        "parameters": fit.parameters.as_dict(),
        "guarantee": guarantee,
        "entries": [_entry(entry) for entry in fit.ledger],
        "ledger": {
            "name": terms.name,
            "filter": terms.filter,
            "limit": asdict(terms.limit),
        },
        "synthetic": None
        if synthetic is None
        else {"rows": rows, "sha256": _sha256(synthetic.encode())},
        "versions": {
            "dpcore": dpcore.__version__,
            "python": platform.python_version(),
            "numpy": np.__version__,
        },
    }


def _more(fit: Fit) -> tuple[str, ...]:
    """What is taken for granted where other rows may move up a place, in the table or in a class;
    and where public limits stand for the number of rows."""
    hidden = fit.guarantee.adjacency == "add_remove"
    moves = hidden or (fit.model == "gmm-release" and fit.guarantee.adjacency != "feature")
    same = ("each row's numbers come out the same wherever in the table the row stands",)
    cap = (f"the table has 1 to {MOST_ROWS:,} rows",)  # a file without any is refused
    return (same if moves else ()) + (cap if hidden else ())


def _entry(entry: LedgerEntry) -> dict[str, Any]:
    record = asdict(entry)
    record["noise_scale"] = float(np.asarray(entry.noise_scale).reshape(-1)[0])
    return record


def with_line(unpaid: dict[str, Any], state: State, number: int) -> dict[str, Any]:
    """The dossier as it is handed over: with its line in the ledger, and what was left."""
    line, before, after = state.lines[number - 1], state.up_to(number - 1), state.up_to(number)
    return {
        **unpaid,
        "line": {
            "number": line.number,
            "hash": line.hash,
            "time": line.time,
            "left_before": asdict(before.left_amount),
            "left_after": asdict(after.left_amount),
            "fingerprint": after.fingerprint,
        },
    }


def read_dossier(path: str | Path) -> dict[str, Any]:
    """A dossier's record. Raises InputError for a file that is none."""
    try:
        text = Path(path).read_text(encoding="utf-8")
        found = json.loads(text, object_pairs_hook=_once)
    except OSError as problem:
        raise InputError(
            "dossier", f"it cannot be read ({problem.strerror})", "name the file dossier.json"
        ) from None
    except (ValueError, RecursionError):
        raise InputError("dossier", "the file is no JSON", "name the file dossier.json") from None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise InputError("dossier", "the file is no dossier of this kind", "name dossier.json")
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object; ValueError where a key stands there twice: readers would not agree on it."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands there twice")
    return found


def verify(path: str | Path, ledger: str | Path | None = None) -> dict[str, Any]:
    """Replay a dossier's proof from its own entries, and find it in its ledger.

    path: the dossier's file. ledger: the budget ledger's; without it only the proof is replayed.
    Returns ``{"epsilon", "delta", "accountant", "ledger"}``. The rows beside the dossier are
    compared with it where they are there. How many rows of one person the entries' sensitivities
    cover, only the ledger tells. Raises ReplayError, in one sentence, where anything does
    not hold; InputError for files that cannot be read.
    """
    record = read_dossier(path)
    try:
        told = _ledger_of(record)
        stated = record["guarantee"]
        proof = Proof(**stated["proof"])
        agreed = stated["epsilon"] == proof.epsilon and stated["delta"] == proof.delta
        worded = _worded(stated, proof)
        adjacency = {entry.adjacency for entry in told}
        rehearsal = stated["rehearsal"]
        bound = replay(told, proof)
    except ReplayError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError):
        raise InputError("dossier", "a part of it is missing or odd", "ask for it again") from None
    if not agreed or adjacency != {stated["adjacency"]} or rehearsal:
        raise ReplayError("The guarantee is not the one that the proof is about.")
    if worded != (stated.get("protects"), stated.get("sentence")):
        raise ReplayError("The guarantee's sentence does not say what its numbers say.")
    _compare_rows(Path(path).parent / "synthetic.csv", record)
    if ledger is not None:
        _find(record, BudgetLedger(ledger))
    return {
        "epsilon": float(bound.epsilon),
        "delta": proof.delta,
        "accountant": proof.accountant,
        "ledger": None if ledger is None else record["ledger"]["name"],
    }


def _worded(stated: dict[str, Any], proof: Proof) -> tuple[str, str]:
    """Whom a guarantee protects, and its sentence, as its other fields have them.

    Other words for the same need another :data:`FORMAT`, or dossiers that are out fail.
    """
    terms = (stated["adjacency"], stated["unit"], stated["rows_per_person"])
    told = Guarantee(
        stated["epsilon"], stated["delta"], *terms, None, proof, (), False, thing=stated["thing"]
    )
    return told.protects, told.sentence()


def _ledger_of(record: dict[str, Any]) -> Ledger:
    entries = tuple(LedgerEntry(**entry) for entry in record["entries"])
    if not entries or not all(map(_is_sound, entries)):
        raise ReplayError("An entry is not one that a release writes.")
    if not isinstance(record["guarantee"]["proof"]["ledger"], str):
        raise ValueError("a proof of no ledger")
    return Ledger(entries)


def _is_sound(entry: LedgerEntry) -> bool:
    """Whether an entry is one that a release writes."""
    numbers = (entry.noise_scale, entry.sensitivity)
    finite = all(isinstance(n, float) and 0.0 < n < np.inf for n in numbers)
    return finite and entry.noise == "discrete_gaussian" and entry.count == 1


def _compare_rows(path: Path, record: dict[str, Any]) -> None:
    if not path.is_file():
        return
    known = record.get("synthetic")
    stated = known.get("sha256") if isinstance(known, dict) else None
    if stated != _sha256(path.read_bytes()):
        raise ReplayError("The synthetic rows beside the dossier are not the ones it names.")


def _find(record: dict[str, Any], ledger: BudgetLedger) -> None:
    """The dossier, word for word, in the line it names."""
    line, unpaid = record.get("line"), {k: v for k, v in record.items() if k != "line"}
    state = ledger.demand_intact()
    number = line.get("number") if isinstance(line, dict) else None
    if number not in [one.number for one in state.releases]:
        raise ReplayError("The ledger has no such line.")
    assert isinstance(number, int)  # it is one of theirs
    if ledger.output(number).get("dossier") != unpaid:
        raise ReplayError("The ledger's line is about another dossier.")
    then = with_line(unpaid, state, number)["line"]
    if json.loads(json.dumps(then)) != line:
        raise ReplayError("The dossier tells of another line than the ledger.")


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
