"""Behind the Release page: which ledger, what a release would cost, and the release itself."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from itertools import chain, count
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any, NamedTuple
from weakref import finalize

import numpy as np
import streamlit as st

from app import upload
from app.compute import Study
from app.result_store import Data
from app.scenario import UPLOAD, Scenario
from app.settings import is_served, uploads_allowed
from app.texts import release as texts
from app.texts.frame import literal
from dpcore.checks import path_of
from dpcore.errors import InputError
from dpcore.evaluation.study import Setting
from dpcore.privacy import Privacy
from dpcore.privacy.adjacency import protects
from dpcore.releases.api import Release, planned_noise, recorded, release
from dpcore.releases.beside import FILES
from dpcore.releases.filter import Amount, filter_of
from dpcore.releases.ledger import BudgetLedger, State
from dpcore.releases.paid import protected
from dpcore.schema import Schema
from dpcore.wall.data.corpus import PrivateCorpus, Vocabulary
from dpcore.wall.table import PrivateTable, locked

LONGEST = 50  # letters of a ledger's name in that of a release's folder: a name has 255 bytes
HOME = "DPCORE_LEDGERS"  # the folder of ledgers on a shared server
SLOT, MEMORY = "practice", "/dev/shm"
NARROWER = "narrower.toml"
WANTED = (0.5, 0.75, 0.9, 0.95, 0.99)
SURE = 0.9  # of the draws


class Deployment(NamedTuple):
    """What others stated about a release: ``epsilon`` and ``delta`` protect one ``unit``."""

    product: str
    epsilon: float
    delta: float
    unit: str
    source: str


@cache
def deployments() -> tuple[Deployment, ...]:
    """The published deployments in ``deployments.toml``, in its order."""
    text = Path(__file__).with_name("deployments.toml").read_text(encoding="utf-8")
    return tuple(Deployment(**entry) for entry in tomllib.loads(text)["deployments"])


def place(text: str) -> Path:
    """Where a ledger lies: any path on one's own machine; on a shared server a name in its folder,
    or for practice in its session's.

    Raises InputError for anything else, and for a name that the system refuses.
    """
    name = text.strip()
    if not name:
        raise InputError("ledger", *texts.UNNAMED)
    if not for_others():
        return path_of("ledger", os.path.expanduser(name))
    folder = os.environ.get(HOME, "") if uploads_allowed() else _of_session()
    if not folder:
        raise InputError("ledger", *texts.no_folder(HOME))
    if Path(name).name != name or name.startswith("."):
        raise InputError("ledger", *texts.NAMES_FOLDER)
    return path_of("ledger", Path(folder) / name)


def for_others() -> bool:
    """Whether others than its owner may use this server: they learn nothing of its folders."""
    return locked() or is_served()


class Practice:
    """A folder that goes when nobody holds it: in memory, where the system keeps files there.

    Its ledgers and releases are about bundled data alone: where files are taken, none is practice.
    """

    def __init__(self) -> None:
        memory = MEMORY if os.access(MEMORY, os.W_OK) else None
        try:
            self.folder = mkdtemp(prefix="dpcore-practice-", dir=memory)
        except OSError:  # nothing on the server may be written
            raise InputError("ledger", *texts.no_folder("TMPDIR")) from None
        finalize(self, rmtree, self.folder, ignore_errors=True)


def _of_session() -> str:
    """The folder for practice of this session, which goes with it."""
    if SLOT not in st.session_state:
        st.session_state[SLOT] = Practice()
    mine: Practice = st.session_state[SLOT]
    return mine.folder


def table_of(scenario: Scenario, data: Data) -> tuple[PrivateTable | PrivateCorpus, str]:
    """The rows or documents to release from, and what was looked at while settings were chosen.

    Raises InputError where an upload is no longer in use.
    """
    if scenario.data != UPLOAD:
        return data.table, "real data"
    sealed = upload.sealed()
    if sealed is None:
        raise InputError("data", *texts.NO_FILE)
    table, looked = sealed
    if scenario.pool > 1 and isinstance(table, PrivateTable):
        table = table.pooled(scenario.pool)
    return table, "real data" if looked else "stand-in"


def demand_releasable(scenario: Scenario) -> None:
    """Raise InputError for choices on Explore that no release can have."""
    recipe = scenario.recipe
    if scenario.method != "recommended":
        published = recipe.mode == "paper"
        raise InputError("method", *texts.other_method(recipe.title, published=published))
    if scenario.without:
        raise InputError("rows", *texts.ROW_REMOVED)


@dataclass(frozen=True)
class Plan:
    """Shares of the whole budget, between 0 and 1: spent before, and what this release takes."""

    state: State
    spent: float
    share: float

    @property
    def fits(self) -> bool:
        return self.spent + self.share <= 1.0


def planned(state: State, scenario: Scenario) -> Plan:
    """What a release at the scenario's epsilon and delta would take of a ledger's budget."""
    cost = _cost(state, Amount(scenario.epsilon, scenario.delta))
    shares = [
        (spent / whole, part / whole)
        for spent, part, whole in zip(state.spent, cost, state.budget, strict=True)
    ]
    worst = max(shares, key=sum)
    return Plan(state, *worst)


def refused(plan: Plan, scenario: Scenario, table: PrivateTable | PrivateCorpus) -> str:
    """Why the ledger does not pay for a release: it protects others, or too little is left; or
    nothing."""
    assert table.schema is not None  # it was fitted on Explore
    request = scenario.setting().request(scenario.epsilon)
    try:
        plan.state.terms.demand(protected(request, table.schema))
    except InputError as refusal:
        return str(refusal)
    left = plan.state.left_amount
    return "" if plan.fits else texts.does_not_fit(left.epsilon, left.delta)


def _cost(state: State, stated: Amount) -> tuple[int, ...]:
    """What a release of an epsilon and a delta takes, in the ledger's units."""
    terms, way = state.terms, filter_of(state.terms.filter)
    privacy = Privacy(
        epsilon=stated.epsilon,
        delta=stated.delta,
        adjacency=terms.who.adjacency,
        accountant=way.accountant,
    )
    return way.cost(planned_noise(privacy, stated), stated)


def shared(state: State, locks: Sequence[float | None]) -> tuple[float, ...]:
    """Epsilons of releases to come: a locked one keeps its own, the others share the rest alike.

    All at the delta that each of so many has. Raises InputError where the locked ones do not fit.
    """
    delta = state.left_for(len(locks)).delta
    rest = [b - s for b, s in zip(state.budget, state.spent, strict=True)]
    for lock in locks:
        if lock is not None:
            if delta <= 0.0:
                raise InputError("split", *texts.NOTHING_LEFT)
            cost = _cost(state, Amount(lock, delta))
            rest = [r - c for r, c in zip(rest, cost, strict=True)]
    if min(rest) < 0:
        raise InputError("split", *texts.LOCKED_TOO_MUCH)
    free = sum(lock is None for lock in locks)
    left_each = tuple(r // max(free, 1) for r in rest)
    epsilon = filter_of(state.terms.filter).amount(left_each, state.terms.limit).epsilon
    return tuple(epsilon if lock is None else lock for lock in locks)


@dataclass(frozen=True)
class Reached:
    """The least budget of the slider at which nearly all draws keep a wanted share; ``None``: none.

    low, high: range of the share kept at it. rows: how many rows would do at the budget asked for.
    most: the share that the same steps keep without noise.
    """

    epsilon: float | None
    low: float
    high: float
    rows: int | None
    most: float


def reached(study: Study, scenario: Scenario, wanted: float, rows: int | None) -> Reached:
    """Solve for epsilon, and for rows, by the simulated fits of the study.

    The share is that of what the model adds to its simplest rival. Noise matters relative to the
    rows, so a fit with less noise stands for one with as many more rows.
    """
    references, grid = study.references, study.grid
    gain = references.converged_utility - references.single_utility
    most = float(references.clipped_utility - references.single_utility) / max(gain, 1e-9)
    count = len([e for e in grid.epsilons if np.isfinite(e)])
    shares = (grid.utility[:count] - references.single_utility) / max(gain, 1e-9)
    enough = np.mean(shares >= wanted, axis=1) >= SURE
    always = np.flip(np.logical_and.accumulate(np.flip(enough)))  # from here on
    if not always.any():
        return Reached(None, 0.0, 0.0, None, most)
    first = int(np.argmax(always))
    needed = None
    if rows is not None:
        here = float(scenario.setting().noise([scenario.epsilon], scenario.count_by)[0])
        needed = int(np.ceil(rows * here / grid.noise[first]))
    low, high = float(shares[first].min()), float(shares[first].max())
    return Reached(grid.epsilons[first], low, high, needed, most)


def review(
    scenario: Scenario, table: PrivateTable | PrivateCorpus, chosen_on: str
) -> tuple[str, ...]:
    """Exactly what will be written, for whom, and under which promise; one line each."""
    schema = table.schema
    assert schema is not None  # it was fitted on Explore
    rows, thing, unit = scenario.rows_per_person, schema.thing, literal(schema.unit)
    documents, persons = isinstance(schema, Vocabulary), schema.person is not None
    size = schema.size if isinstance(schema, Vocabulary) else len(schema.numeric_columns())
    synthetic = scenario.declared.reads != "outcome"
    return (
        texts.what_leaves(
            scenario.title,
            thing,
            size,
            documents=documents,
            persons=persons,
            equal=unit if schema.equal_weight else "",
            synthetic=synthetic,
        ),
        texts.for_whom(protects(scenario.adjacency, unit, rows, thing, limited=persons)),
        texts.guarantee(scenario.epsilon, scenario.delta),
        texts.assumptions(
            unit,
            rows,
            thing,
            adjacency=scenario.adjacency,
            documents=documents,
            persons=persons,
        ),
        texts.chosen_on_stand_ins(thing) if chosen_on == "stand-in" else texts.CHOSEN_ON_DATA,
    )


def spend(
    scenario: Scenario,
    table: PrivateTable | PrivateCorpus,
    chosen_on: str,
    ledger: Path,
    **statements: str,
) -> Release:
    """The release that was reviewed, into a folder beside the ledger.

    said: the data's ``file``, the ``controller`` and the ``purpose``, for the report.
    """
    setting: Setting = scenario.setting()
    options: dict[str, Any] = {**setting.options(), **statements}
    number = len(BudgetLedger(ledger).state().lines) + 1
    stem = f"{ledger.stem[:LONGEST]}-release-{number}"
    names = chain([stem], (f"{stem}-{more}" for more in count(2)))
    folder = next(p for p in (ledger.parent / name for name in names) if not p.exists())
    return release(
        scenario.model,
        table,
        privacy=Privacy(
            epsilon=scenario.epsilon,
            delta=scenario.delta,
            adjacency=scenario.adjacency,
            rows_per_person=scenario.rows_per_person,
        ),
        ledger=ledger,
        out=folder,
        chosen_on=chosen_on,
        clip=scenario.clip,
        **options,
    )


def on_record(ledger: Path, number: int) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The dossier of a line of a ledger, and the release's files by name. Raises InputError for a
    line that has none."""
    dossier, texts = recorded(ledger, number)
    return dossier, {name: texts[name].encode() for name in FILES if name in texts}


def files(released: Release) -> dict[str, bytes]:
    """The files of a release by name, and the schema with the limits that it released."""
    places = (released.folder / name for name in FILES)
    contents = {place.name: place.read_bytes() for place in places if place.is_file()}
    narrowed = getattr(released.fit.parameters, "narrowed", None)
    if narrowed is not None:
        schema: Schema = narrowed(released.fit.schema, released.fit.guarantee)
        contents[NARROWER] = schema.to_toml().encode()
    return contents


def differ_in_limits(schema: Schema | Vocabulary | None, other: Schema) -> bool:
    """Whether two schemas say the same but for limits and fills: of the same people above all."""
    if not isinstance(schema, Schema):
        return False
    limits = {"lower": None, "upper": None, "missing": None}
    rest, others = (
        [asdict(column) | limits for column in stated.columns] for stated in (schema, other)
    )
    return rest == others and replace(other, columns=schema.columns) == schema
