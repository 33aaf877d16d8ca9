"""A plan as a file: CSV for a spreadsheet, JSON for a script, a page of HTML for people."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from html import escape

import pandas as pd

from dpcore.planning.curves import WORLDS
from dpcore.planning.plan import ReleasePlan
from dpcore.privacy.guarantee import delta_text, show_bound, show_delta, show_most
from dpcore.releases.report import html_page
from dpcore.releases.sheet import as_csv

WhatIfs = Sequence[tuple[str, ReleasePlan]]
HOW = (
    "Accuracy is the share of the exact fit's gain over the model's simplest baseline that a "
    "release keeps. It is simulated on rows drawn from the public limits: the median on medium "
    "rows, and the range from the tenth to the ninetieth percentile over easy, medium and hard "
    "rows. No row of any table was read, and nothing was spent."
)


def percent(share: float) -> str:
    """A share of the budget as people read it.

    >>> percent(0.0), percent(0.003), percent(0.97)
    ('0%', 'under 1%', '97%')
    """
    return "under 1%" if 0.0 < share < 0.005 else f"{share:.0%}"


def lines(plan: ReleasePlan) -> list[dict[str, str]]:
    """One line a release, as people read it."""
    return [
        {
            "release": release.name,
            "model": release.model,
            "times": str(release.times),
            "epsilon of each": show_most(release.epsilon),
            "accuracy": f"{release.median:.0%}",
            "range": f"{release.low:.0%} to {release.high:.0%}",
            "of the budget": percent(release.budget_share),
        }
        for release in plan.releases
    ]


def summary(plan: ReleasePlan) -> tuple[str, ...]:
    """What a plan comes to, its prices and what to know, in sentences."""
    if plan.conflict is not None:
        return (f"The requests do not fit: {plan.conflict}.", *plan.ranges(), *plan.notes)
    return (
        f"Planned: epsilon = {show_bound(plan.spent.epsilon)} of {show_bound(plan.budget.epsilon)} "
        f"at delta = {delta_text(plan.budget.delta)}, as a budget ledger composes it.",
        *plan.sentences(),
        *plan.notes,
    )


def changes(plan: ReleasePlan, what_ifs: WhatIfs) -> list[dict[str, str]]:
    """One line a change: the accuracy of each release then, under its name in quotation marks:
    a release may be called "mean"."""
    if plan.conflict is not None:
        return []
    return [
        {"what if": change, "mean": f"{then.mean_share:.0%}"}
        | {
            f"'{release.name}'": "-" if then.conflict else f"{release.median:.0%}"
            for release in then.releases
        }
        for change, then in (("as planned", plan), *what_ifs)
    ]


def as_json(plan: ReleasePlan, what_ifs: WhatIfs = ()) -> str:
    """All of a plan; infinite noise (of a release that gets nothing) is null."""
    record = plan.as_dict()
    record["what_if"] = [
        {
            "change": change,
            "feasible": then.feasible,
            "utility": {release.name: release.median for release in then.releases},
        }
        for change, then in what_ifs
    ]
    for release in record["releases"]:
        if math.isinf(release["noise_multiplier"]):
            release["noise_multiplier"] = None
    return json.dumps(record, indent=2, allow_nan=False)


def how(plan: ReleasePlan) -> str:
    """What decides the ranges, and how a plan was made."""
    return " ".join((*plan.decided(), HOW))


def plan_csv(plan: ReleasePlan) -> str:
    """One line a release, numbers in full."""
    flat = [line | line.pop("utility") for line in plan.as_dict()["releases"]]
    for line in flat:
        for name in ("needed", "rows_needed"):
            utility = line.pop(name) or {}
            line |= {f"{name}_{world}": utility.get(world) for world in WORLDS}
    return as_csv(pd.DataFrame(flat))


def plan_page(plan: ReleasePlan, what_ifs: WhatIfs = ()) -> str:
    """A page that needs nothing else, for the file."""
    limit, title = plan.budget, "A plan of releases"
    parts = [
        f"<h1>{title}</h1>",
        f'<div class="promise"><p><strong>epsilon = {show_bound(limit.epsilon)}, delta = '
        f"{show_delta(limit.delta)}</strong> for all of them together, "
        f"{escape(plan.protects)}.</p></div>",
        _table(lines(plan)),
        "<ul>" + "".join(f"<li>{escape(line)}</li>" for line in summary(plan)) + "</ul>",
    ]
    if what_ifs and plan.feasible:
        parts += ["<h2>What if</h2>", _table(changes(plan, what_ifs))]
    return html_page(title, [*parts, f'<p class="quiet">{escape(how(plan))}</p>'])


def _table(rows: Sequence[dict[str, str]]) -> str:
    cells = [
        "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in line)
        for tag, line in (("th", tuple(rows[0])), *(("td", tuple(row.values())) for row in rows))
    ]
    return f'<div class="wide"><table>{"".join(f"<tr>{line}</tr>" for line in cells)}</table></div>'
