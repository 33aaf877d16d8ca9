"""The picture of a plan: what each release takes of the budget and keeps, at every total."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from dpcore.arrays import Array
from dpcore.figures.layers import Bars, Cursor, Curve
from dpcore.figures.scene import Axis, Panel, Scene
from dpcore.planning.export import percent, summary
from dpcore.planning.plan import PlannedRelease, ReleasePlan
from dpcore.privacy.guarantee import show, show_delta, show_most

AROUND, ROW = 80, 44  # pixels of a card of bars, and of each bar
NO_ROOM = "the requests do not fit"
SAYS = "plan"  # the live text of what a plan comes to


def plan_scene(plans: Sequence[ReleasePlan], step: int) -> Scene:
    """Bars of shares and curves of accuracy over the totals of some plans of the same releases."""
    totals = [plan.budget.epsilon for plan in plans]
    names = [
        release.name if release.times == 1 else f"{release.name} (×{release.times})"
        for release in plans[0].releases
    ]
    fits = np.array([plan.feasible for plan in plans])[:, None]

    def numbers(field: str) -> Array:
        return np.where(fits, [[getattr(o, field) for o in p.releases] for p in plans], np.nan)

    low, middle, high = (numbers(field) for field in ("low", "median", "high"))
    layers = [
        layer
        for k, (name, release) in enumerate(zip(names, plans[0].releases, strict=True))
        for layer in (
            Curve(
                totals, middle[:, k], lo=low[:, k], hi=high[:, k], colour=k % 6,
                dash=(k + k // 6) % 6, label=release.name, name=name, bold=True,
            ),
            Cursor(totals, middle[:, k], colour=k % 6, line=k == 0),
        )
    ]  # fmt: skip
    delta = show_delta(plans[0].budget.delta)
    return Scene(
        steps=tuple(totals),
        step_labels=tuple(map(show, totals)),
        step=step,
        panels=(
            Panel(
                id="plan_shares",
                title="Share of the budget",
                subtitle=f"each ε at δ = {delta}",
                alt=tuple(_alt(plan) for plan in plans),
                x=Axis("share of the budget (ρ)", (0.0, 1.0)),
                y=Axis("release", (0.0, 1.0)),
                layers=(
                    Bars(
                        numbers("budget_share"),
                        names=tuple(names),
                        labels=tuple(
                            tuple(percent(release.budget_share) if plan.feasible else "does not fit"
                                  for release in plan.releases) for plan in plans
                        ),
                        notes=tuple(
                            tuple(_kept(release) if plan.feasible else ""
                                  for release in plan.releases) for plan in plans
                        ),
                    ),
                ),
                width="full",
                height=AROUND + ROW * len(names),
                bare=True,
            ),
            Panel(
                id="plan_accuracy",
                title="What each release keeps",
                subtitle="share of its exact fit's gain; bands: from hard to easy rows",
                alt=tuple(_alt(plan) for plan in plans),
                x=Axis(f"total ε (δ = {delta})", (min(totals), max(totals)), scale="log",
                       ticks=(0.1, 0.3, 1.0, 3.0, 10.0)),
                y=Axis("accuracy (share of the gain)", (0.0, 1.0)),
                layers=tuple(layers),
                width="full",
                height=320,
            ),
        ),
        live_text={SAYS: tuple(in_symbols(" ".join(summary(plan))) for plan in plans)},
    )  # fmt: skip


def in_symbols(text: str) -> str:
    """What a terminal says of epsilon and delta, as the explorer writes it; names in quotes stay.

    >>> in_symbols("80% for 'delta' takes epsilon = 1 at delta = 1e-05")
    "80% for 'delta' takes ε = 1 at δ = 1e-05"
    """
    symbols = {"epsilon": "ε", "delta": "δ"}
    quoted_or_word = r"(?<!\w)(['\"]).*?\1(?!\w)|\b(?:epsilon|delta)\b"
    return re.sub(quoted_or_word, lambda match: symbols.get(match[0], match[0]), text)


def _kept(release: PlannedRelease) -> str:
    often = " each" if release.times > 1 else ""
    return f"ε {show_most(release.epsilon)}{often}, keeps {release.median:.0%}"


def _alt(plan: ReleasePlan) -> str:
    if not plan.feasible:
        return f"At a total of ε = {show(plan.budget.epsilon)}, {NO_ROOM}."
    parts = "; ".join(
        f"{release.name} {percent(release.budget_share)}, {_kept(release)}"
        for release in plan.releases
    )
    return f"Of a total of ε = {show(plan.budget.epsilon)}: {parts}."
