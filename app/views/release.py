"""Release: what may leave, and what is left? Plan a budget, review, spend once."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

import streamlit as st

from app import compute, releasing, several, upload
from app.callbacks import unbroken
from app.components import brand, look_again, to_page
from app.releasing import Plan
from app.result_store import Data
from app.scenario import UPLOAD, Scenario
from app.settings import uploads_allowed
from app.state import change, left_on_explore, taken_on
from app.tables import data_of, demand_column, judged_on, provenance, store_of, whole_table
from app.texts import release as texts
from app.texts.frame import literal
from app.texts.upload import TABLE_FIRST
from dpcore.errors import DPCoreError
from dpcore.privacy.adjacency import ADJACENCIES
from dpcore.privacy.guarantee import show_bound, show_delta, show_most
from dpcore.releases.filter import Amount, filter_of
from dpcore.releases.ledger import BudgetLedger, State, covered, told_open
from dpcore.releases.paid import PaidError, UnwrittenError
from dpcore.releases.whatif import counted_otherwise
from dpcore.schema import Schema
from dpcore.wall.data.corpus import PrivateCorpus
from dpcore.wall.table import PrivateTable, locked

Pending = Callable[[], bool] | None  # whether there is more to show
NAMED, LOCK = "Release to come", "Locked at ε"
FAILED = "failed"  # in the session: the ledger that paid for nothing, and why


def page() -> None:
    """Top to bottom: what for, then the three steps."""
    scenario, arriving = taken_on("release", own=[several.PLAN])
    several.linked(scenario, arriving=arriving)
    data = whole_table(scenario)
    brand("none" if data is None else provenance(data))
    st.html(f'<h1 class="dp-title">{texts.TITLE}</h1>')
    if data is None:
        st.html(f'<p class="dp-lead">{TABLE_FIRST}</p>')
        to_explore()
        return
    lead = texts.lead(escape(scenario.title), escape(data.title))
    earnest = uploads_allowed()  # else ledgers are for practice
    framed = f'<p class="dp-framed">{texts.FRAMED}</p>' if earnest else ""
    st.html(f'<p class="dp-lead">{lead}</p>{framed}')
    try:
        releasing.demand_releasable(scenario)
        demand_column(scenario, data)
        table, chosen_on = releasing.table_of(scenario, data)
    except DPCoreError as refusal:
        st.error(literal(str(refusal)))
        to_explore()
        return
    with st.container(key="in_earnest" if earnest else "practice"):
        waiting = steps(scenario, data, table, chosen_on)
    if waiting:  # one after another: each uses every core
        look_again(waiting[-1], every=0.3)


def steps(
    scenario: Scenario, data: Data, table: PrivateTable | PrivateCorpus, chosen_on: str
) -> list[Callable[[], bool]]:
    """Plan, review, spend; what asks whether there is more to show.

    table: to release from; chosen_on: what was looked at."""
    above = st.container()
    plan, pending = planning(scenario, data)
    with above:  # what a page asks for last is worked out first
        if isinstance(table.schema, Schema):
            pending.append(several.panel(scenario, data, table.schema))
        else:
            st.caption(texts.OF_DOCUMENTS)
    with st.container(border=True):
        st.html("<h2>2 · Review</h2>")
        for line in releasing.review(scenario, table, chosen_on):
            st.markdown(line)
    with st.container(border=True):
        st.html("<h2>3 · Spend</h2>")
        if plan is None:
            st.caption(texts.LEDGER_FIRST)
        else:
            rows = None if locked() else data.public_rows(scenario.adjacency)
            spending(scenario, plan, table, chosen_on, rows, data.title)
    return [more for more in pending if more is not None]


def to_explore() -> None:
    """The way back to the choices."""
    to_page("explore", {}, "Choose on Explore", ":material/arrow_back:")


def planning(scenario: Scenario, data: Data) -> tuple[Plan | None, list[Pending]]:
    """Step 1: the ledger, this release's budget, and what it would buy; what is still worked on."""
    with st.container(border=True):
        st.html("<h2>1 · Plan</h2>")
        left, right = st.columns(2, gap="large")
        with left:
            budget(scenario)
            pending = buys(scenario)
        with right:
            thing = data.schema.thing
            state = ledger(data.unit, scenario.adjacency, scenario.rows_per_person, thing)
            if state is None:
                return None, pending
            plan = releasing.planned(state, scenario)
            bar(plan, scenario.epsilon, thing)
            return plan, pending


def budget(scenario: Scenario) -> None:
    """Epsilon and delta of this release; the same as on Explore."""
    left, right = st.columns(2)
    epsilon = left.number_input(
        "ε of this release", texts.LEAST_EPSILON, 100.0, scenario.epsilon, 0.1, format="%.3g"
    )
    delta = right.number_input("δ of this release", 1e-12, 0.5, scenario.delta, 1e-6, format="%e")
    if (epsilon, delta) != (scenario.epsilon, scenario.delta):
        change(epsilon=float(epsilon), delta=float(delta))
        st.rerun()
    with st.popover("Published deployments"):
        st.markdown(
            "\n".join(
                f"- {stated.product}: ε = {stated.epsilon:g}, "
                f"δ = {show_delta(stated.delta) if stated.delta else 0}, for {stated.unit} "
                f"({stated.source})"
                for stated in releasing.deployments()
            )
        )
        st.caption(texts.UNITS_DIFFER)


def buys(scenario: Scenario) -> list[Pending]:
    """The least epsilon, and the least rows, for a wanted accuracy: simulated, with its range, on
    the rows that Explore fits; of stand-ins also over rows of other kinds. Returns what asks
    whether there is more to show.
    """
    data = data_of(scenario)
    assert data is not None  # as the whole table is there
    wanted = st.select_slider(
        texts.WANTED,
        releasing.WANTED,
        0.9,
        format_func=lambda share: f"{share:.0%}",
        help=texts.WANTED_HELP,
    )
    try:
        study = compute.study(scenario, data, store_of(data))
        reached = releasing.reached(study, scenario, wanted, data.rows)
    except DPCoreError as refusal:
        st.caption(literal(str(refusal)))
        return []
    things = f"{data.schema.thing}s"
    draws = study.grid.utility.shape[1]
    clipped = scenario.clip < 1.0
    st.markdown(_bought(reached, wanted, scenario.epsilon, draws, things, clipped=clipped))
    st.caption(texts.simulated_on(things, judged_on(scenario, data)))
    pending: list[Pending] = [None if study.complete else lambda: more_of(study, scenario)]
    if provenance(data) == "stand-in" and isinstance(data.schema, Schema):
        ranges = several.over_worlds(scenario, data, data.schema, wanted)
        st.caption(" ".join(ranges or (texts.SIMULATING_WORLDS,)))
        if ranges is None:
            pending.append(
                lambda: several.over_worlds(scenario, data, data.schema, wanted) is not None
            )
    return pending


def more_of(shown: compute.Study, scenario: Scenario) -> bool:
    """Whether more of that study is there than was seen."""
    data = data_of(scenario)
    return data is not None and compute.more_of(shown, scenario, data, store_of(data))


def _bought(
    reached: releasing.Reached,
    wanted: float,
    epsilon: float,
    draws: int,
    things: str = "rows",
    *,
    clipped: bool = False,
) -> str:
    """What a wanted accuracy takes, in words; of fewer draws, that there are too few."""
    if reached.epsilon is None and reached.most < wanted:
        return texts.short_without_noise(reached.most, clipped=clipped)
    if draws < compute.FEW_DRAWS:
        return texts.FEW_DRAWS
    if reached.epsilon is None:
        return texts.no_epsilon(wanted, things)
    enough = texts.enough(reached.epsilon, draws, reached.low, reached.high)
    if reached.rows is None:
        return enough
    return f"{enough} {texts.rows_needed(epsilon, _round(reached.rows), things)}"


def _round(count: int) -> int:
    """Two figures: it is an estimate."""
    size = int(10 ** max(0, len(str(count)) - 2))
    return -(-count // size) * size


def ledger(unit: str, adjacency: str, rows: int, thing: str = "row") -> State | None:
    """The budget ledger in use: opened, or started with terms for life."""
    text = st.text_input(
        texts.LEDGER,
        st.session_state.get("ledger_path", "budget.sqlite"),
        key="ledger_text",
        help=texts.LEDGER_HELP,
    )
    st.session_state["ledger_path"] = text
    if not uploads_allowed():
        st.caption(texts.PRACTICE)
    try:
        path = releasing.place(text)
        if path.exists():
            return BudgetLedger(path).state()
    except DPCoreError as refusal:
        st.error(literal(str(refusal)))
        return None
    st.caption(texts.NO_LEDGER)
    start(path, unit, adjacency, rows, thing)
    return None


def start(path: Path, unit: str, adjacency: str, rows: int, thing: str) -> None:
    """The terms of a new ledger."""
    left, right = st.columns(2)
    chosen = st.selectbox(
        "Neighbouring datasets",
        ADJACENCIES,
        ADJACENCIES.index(adjacency),
        format_func=lambda name: covered(name, unit, rows, thing),
    )
    epsilon = left.number_input(texts.TOTAL_EPSILON, 0.01, 100.0, 2.0, 0.5)
    usual = left_on_explore().delta
    if left_on_explore().data == UPLOAD:
        usual = upload.delta_under(chosen, usual)
    delta = right.number_input(texts.TOTAL_DELTA, 1e-12, 0.5, usual, format="%e")
    needed = left_on_explore().epsilon
    if epsilon < needed:
        left.warning(texts.total_too_small(needed))
    if st.button("Start this ledger", type="primary"):
        try:
            BudgetLedger.create(
                path, Amount(epsilon, delta), adjacency=chosen, unit=unit, rows_per_person=rows
            )
        except DPCoreError as refusal:
            st.error(texts.ALREADY_STARTED if path.exists() else literal(str(refusal)))
            return
        st.rerun()


def bar(plan: Plan, epsilon: float, thing: str) -> None:
    """Spent, this release (of an epsilon), and left, as shares of the whole budget.

    thing: what one row is called.
    """
    state, fits = plan.state, plan.fits
    spent = min(1.0, plan.spent)
    share = max(0.0, min(1.0 - spent, plan.share))
    limit, who = state.terms.limit, state.terms.who
    st.html(
        '<div class="dp-budget" role="img" aria-label="'
        f'{spent:.0%} of the budget is spent, this release takes {plan.share:.0%}">'
        f'<i class="spent" style="width:{100 * spent:.1f}%"></i>'
        f'<i class="{"asked" if fits else "over"}" style="width:{100 * share:.1f}%"></i></div>'
        f'<p class="dp-ends"><span>spent {spent:.0%}</span><span>this release '
        f"{plan.share:.0%}</span><span>left after it "
        f"{max(0.0, 1.0 - plan.spent - plan.share):.0%}</span></p>"
    )
    protected = literal(covered(who.adjacency, who.unit, who.rows, thing))
    st.markdown(texts.total(limit.epsilon, limit.delta, protected, len(state.releases)))
    if plan.fits:
        split(state, epsilon)
    for number in state.open:
        st.caption(told_open(number))
    st.caption(texts.ledger_rule(state.fingerprint, filter_of(state.terms.filter).title))
    otherwise(state)


def split(state: State, epsilon: float) -> None:
    """What is left, among releases to come: lock one at an epsilon, and the others share."""
    first: list[dict[str, Any]] = [
        {NAMED: "this one", LOCK: epsilon},
        {NAMED: "the next", LOCK: None},
    ]
    lines = st.data_editor(
        first,
        column_config={
            LOCK: st.column_config.NumberColumn(
                min_value=0.001, max_value=100.0, format="%.3g", help=texts.LOCK_HELP
            )
        },
        num_rows="dynamic",
        hide_index=True,
        placeholder=texts.SHARES,
        key="split",
    )
    locks = [row.get(LOCK) for row in lines] or [None]
    try:
        epsilons = releasing.shared(state, locks)
    except DPCoreError as refusal:
        st.error(literal(str(refusal)))
        return
    named = [str(row.get(NAMED) or "another") for row in lines] or ["this one"]
    allowed = ", ".join(
        f"{literal(name)} **ε = {show_most(epsilon)}**{'' if lock is None else ' (locked)'}"
        for name, epsilon, lock in zip(named, epsilons, locks, strict=True)
    )
    st.markdown(texts.left_allows(allowed))


def otherwise(state: State) -> None:
    """Spent and left by every composition method; the ledger's own decides."""
    with st.popover("Other composition methods"):
        lines = [
            f"| {row.title}{' (decides)' if row.decides else ''} "
            f"| {'unknown' if row.spent is None else show_bound(row.spent)} "
            f"| {'unknown' if row.left is None else show_most(row.left)} |"
            for row in counted_otherwise(state)
        ]
        st.markdown(
            "| Composition | ε spent | ε left |\n| --- | ---: | ---: |\n" + "\n".join(lines)
        )
        st.caption(texts.comparison(state.terms.limit.delta))


def spending(
    scenario: Scenario,
    plan: Plan,
    table: PrivateTable | PrivateCorpus,
    chosen_on: str,
    rows: int | None,
    title: str,
) -> None:
    """Step 3: confirm once, spend, take the files. rows: how many, where that is public. title:
    of the data."""
    path = releasing.place(st.session_state["ledger_path"])
    ledger, failure, line = st.session_state.get(FAILED, (None, "", None))
    if ledger == path:
        st.error(literal(failure))
    taken(scenario, table)
    earlier(path, plan.state, line if ledger == path else None)
    left_column, right_column = st.columns(2)
    statements = {
        "file": title,
        "controller": left_column.text_input(texts.CONTROLLER, help=texts.FOR_REPORT),
        "purpose": right_column.text_input(texts.PURPOSE, help=texts.FOR_REPORT),
    }
    refused = releasing.refused(plan, scenario, table)
    if refused:
        st.error(literal(refused))
    sure = st.checkbox(
        texts.confirmation(scenario.epsilon, again="released" in st.session_state),
        key=f"sure_{plan.state.fingerprint}_{scenario.as_query()}",  # to anything else: not yet
    )
    large = rows is not None and scenario.delta * rows > 1.0
    if large:
        thing = "row" if table.schema is None else table.schema.thing
        st.error(texts.delta_too_large(thing))
    ready = sure and not refused and not large
    if st.button("Release", type="primary", disabled=not ready) and ready:
        try:
            release = releasing.spend(scenario, table, chosen_on, path, **statements)
        except UnwrittenError as failure:  # the budget above is no longer what is left
            _keep_failure(path, texts.unwritten(failure.line, failure.reason), failure.line)
            st.rerun()
        except PaidError as failure:
            _keep_failure(path, str(failure), None)
            st.rerun()
        except DPCoreError as refusal:
            st.error(literal(str(refusal)))
            return
        folder = "" if releasing.for_others() else str(release.folder)
        _hand_over(release.dossier, folder, releasing.files(release))
        st.rerun()


@unbroken
def _hand_over(*released: Any) -> None:
    """A click while the release was made ends the run here: what is paid for is not lost by it."""
    st.session_state.pop(FAILED, None)
    st.session_state["released"] = released


@unbroken
def _keep_failure(ledger: Path, failure: str, line: int | None) -> None:
    """What became of a release that is paid for and failed, for as long as none is made. line:
    under which it is on record, if it is."""
    st.session_state[FAILED] = ledger, failure, line


def files_of(dossier: dict[str, Any], folder: str, files: dict[str, bytes]) -> None:
    """What a release is, and its files to download."""
    line, sentence = dossier["line"]["number"], dossier["guarantee"]["sentence"]
    st.success(texts.outcome(line, literal(sentence), literal(folder)))
    if dossier.get("told_apart"):  # earlier formats did not say it
        st.info(literal(dossier["told_apart"]), icon=":material/query_stats:")
    for column, (name, content) in zip(st.columns(max(3, len(files))), files.items(), strict=False):
        key = f"{dossier['line']['fingerprint']}_{name}"
        column.download_button(name, content, name, width="stretch", key=key)
    st.caption(texts.ANYONE_CAN_CHECK)


def earlier(ledger: Path, state: State, first: int | None) -> None:
    """The files of releases that a ledger has on record: also where the page was closed before
    they were downloaded, or nothing could be written beside the ledger.

    first: the line that is opened until another is chosen."""
    dossier = st.session_state.get("released", ({"line": {"hash": ""}},))[0]
    lines = {
        line.number: texts.earlier(line.number, line.body["epsilon"], line.time)
        for line in state.releases
        if line.number not in state.open and line.hash != dossier["line"]["hash"]
    }
    if not lines:
        return
    number = st.selectbox(
        texts.EARLIER,
        list(lines),
        list(lines).index(first) if first in lines else None,
        format_func=lines.__getitem__,
        key=f"earlier_{first}",
        placeholder=texts.CHOOSE_LINE,
    )
    if number is None:
        return
    try:
        dossier, files = releasing.on_record(ledger, number)
    except DPCoreError as refusal:
        st.error(literal(str(refusal)))
        return
    files_of(dossier, "", files)


def taken(scenario: Scenario, table: PrivateTable | PrivateCorpus) -> None:
    """The last release's files; limits that it found can be taken into use for the upload at once,
    while nothing else is stated of it than was then, such as whose a row is.

    table: that the next release is about."""
    if "released" not in st.session_state:
        return
    dossier, folder, files = st.session_state["released"]
    files_of(dossier, folder, files)
    content = files.get(releasing.NARROWER)
    if content is None or scenario.data != UPLOAD:
        return
    narrower = Schema.parse(content.decode())
    if table.schema == narrower:
        st.caption(texts.NARROWER_IN_USE)
    elif releasing.differ_in_limits(table.schema, narrower) and st.button(texts.USE_NARROWER):
        try:
            upload.use_schema(releasing.NARROWER, content)
        except DPCoreError as refusal:
            st.error(literal(str(refusal)))
            return
        st.rerun()
