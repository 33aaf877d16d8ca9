"""Explore's picture: a study's numbers, and the words around them, as one scene."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from app import compute
from app.components import guarantee_line
from app.compute import Study
from app.desks import Data
from app.models import MODELS, RECIPES, method_title
from app.scenario import Scenario
from app.tables import desk_of, provenance
from dpcore.accounting import guess_rate
from dpcore.datasets.cities import CITIES
from dpcore.evaluation.verdict import attack_sentences, found_sentences, verdicts
from dpcore.evaluation.yardstick import mapped, yardstick
from dpcore.figures.budget import Words, budget_scene
from dpcore.figures.scene import Scene
from dpcore.models.factor_analysis.scoring import sight
from dpcore.models.gaussian_mixture.mathematics import Mixture
from dpcore.models.labelled_mixture.parameters import warned
from dpcore.models.labelled_mixture.scoring import divergence, noise_alone
from dpcore.privacy import Guarantee, Ledger
from dpcore.privacy.guarantee import show, show_bound

Array = NDArray[np.float64]

SEES = {
    "simulated": "sees everyone",
    "public": "sees everyone",
    "upload": "sees everyone · for the custodian only",
    "stand-in": "of stand-in rows",
}
NOT_KNOWN = ("public_shapes", "plain_laplace", "least_trace")  # no rule says what noise costs them


def picture(scenario: Scenario, data: Data, found: Study) -> Scene:
    """The scene of the scenario, as far as its study is worked out."""
    desk = desk_of(data)
    key = (
        data.key,
        without_epsilon(scenario),
        found.grid.utility.shape[1],
        found.grid.refusals,
        found.curves is None,
    )
    found, step = compute.with_extra_budget(found, scenario, data, desk)
    typed = scenario.epsilon if step >= len(scenario.budgets(data.rows)) else None
    drawn: Scene = desk.scenes.get((key, typed), lambda: scene_of(scenario, data, found))
    return drawn.at(step)


def scene_of(scenario: Scenario, data: Data, found: Study) -> Scene:
    """Words and numbers of a study, as one moving picture."""
    grid = found.grid
    single = np.full(len(grid.epsilons), -np.inf) if found.curves is None else found.curves.single
    chances = np.array([_chance(*one) for one in zip(grid.guarantees, grid.ledgers, strict=True)])
    attacks = attack_sentences(chances, data.unit, scenario.adjacency, data.schema.thing)
    groups = found_sentences(grid)
    classes = told_of_classes(scenario, found)
    own = provenance(data) == "upload"
    eyes = " (for the custodian only)" if own else ""
    judged = [v.text + eyes for v in verdicts(grid, found.references, single)]
    ghosts = grid.utility.shape[1] - 1
    cut = found.references.clipped_share
    words = Words(
        verdicts=tuple(judged) if found.curves is not None else (compute.COMPARING,) * len(judged),
        slots={
            "sentence": tuple(
                g if g == compute.COMING else f"{a} {g}{c}"
                for a, g, c in zip(attacks, groups, classes, strict=True)
            ),
            "guarantee": tuple(
                guarantee_line(g, r) for g, r in zip(grid.guarantees, grid.refusals, strict=True)
            ),
            "split": loss_split(found),
        },
        exact_subtitle=SEES[provenance(data)]
        + (f", clipping would move {cut:.0%} of {data.schema.thing}s" if cut > 0.005 else ""),
        private_subtitle=(
            _hidden(scenario, data)
            if any(g is not None and g.epsilon is not None for g in grid.guarantees)
            else "nothing is proved"
        )
        + (" · rehearsal" if own else "")
        + _faint(scenario, ghosts),
        unit=data.unit if scenario.rows_per_person == 1 else data.schema.thing,
        method_titles={m: method_title(m) for m in scenario.methods()},
    )
    return budget_scene(
        grid,
        found.references,
        found.curves,
        words,
        pair=pair(scenario, data),
        rows=compute.shown_rows(data, desk_of(data), scenario.model),
        clip=scenario.clip,
        chosen=scenario.count_by,
        delta_text=f"(δ = {show_bound(scenario.delta)})",
        positions=tuple(range(len(scenario.budgets(data.rows)))),
        window=window(scenario, data),
        image=image(data),
        places=CITIES,
        marks=marks(scenario, data, found),
    )


def _hidden(scenario: Scenario, data: Data) -> str:
    """Who or what a proved fit hides."""
    name = data.schema.label or data.schema.target
    if scenario.adjacency == "label":
        return f"hides “{name}” · the other columns are public"
    if scenario.adjacency == "feature":
        return f"hides each {data.unit} · “{name}” is public"
    return f"hides each {data.unit}"


def _faint(scenario: Scenario, ghosts: int) -> str:
    """What the faint draws are; left out where more has to be said."""
    said = scenario.adjacency in ("label", "feature")
    if said or not ghosts or not MODELS[scenario.model].ghosts:
        return ""
    return f" · faint: {ghosts} other draws"


def _chance(guarantee: Guarantee | None, ledger: Ledger | None) -> float:
    """The best attacker's rate of success; NaN where nothing is proved."""
    if guarantee is None or guarantee.epsilon is None or ledger is None:
        return np.nan
    return float(guess_rate(ledger.events))


def without_epsilon(scenario: Scenario) -> Scenario:
    """What a picture depends on besides the slider."""
    return replace(scenario, epsilon=1.0, hide="")


def pair(scenario: Scenario, data: Data) -> tuple[int, int]:
    """The two columns on the axes; with one column, that column twice."""
    dim = data.public.dim
    x, y = min(scenario.x, dim - 1), min(scenario.y, dim - 1)
    return (x, y) if x != y else (0, min(1, dim - 1))


def window(scenario: Scenario, data: Data) -> tuple[Mixture, Array | None]:
    """What the axes must hold: the exact fit to everybody, and the rows where all are shown."""
    data = data.whole or data
    best = compute.references_of(scenario.setting(data.secret), data, desk_of(data)).converged
    rows = compute.shown_rows(data, desk_of(data), scenario.model)
    return best, rows if len(rows) == data.rows else None


def image(data: Data) -> tuple[int, int] | None:
    """Height and width, where rows are pictures."""
    shape = data.schema.image
    return None if shape is None else (shape.height, shape.width)


def marks(scenario: Scenario, data: Data, found: Study) -> tuple[tuple[float, str], ...]:
    """The epsilons from which something can be seen at all, for a proved factor analysis."""
    if scenario.model != "fa" or RECIPES[scenario.method].mode == "paper" or data.rows is None:
        return ()
    known = sight(scenario.setting(data.secret), data.public, data.rows, found.references.converged)
    shown = [(known.any_data, "below, no factor of any data shows")]
    shown += [
        (one, f"factor {k}" + (" can show from here" if k == 1 else ""))
        for k, one in enumerate(known.each, start=1)
    ]
    return tuple((epsilon, label) for epsilon, label in shown if np.isfinite(epsilon))


def told_of_classes(scenario: Scenario, found: Study) -> tuple[str, ...]:
    """How far each budget's bold release is from the exact classes, and what noise has eaten."""
    grid = found.grid
    if scenario.model != "gmm-release":
        return ("",) * len(grid.epsilons)
    exact, known = found.references.converged, np.full(len(grid.epsilons), np.nan)
    if scenario.method not in NOT_KNOWN:
        known = noise_alone(grid.noise, exact, scenario.adjacency, scenario.rows_per_person)
    bold = mapped(grid.fits, lambda one: one[:, 0])
    told = []
    away_all = np.where(np.isfinite(grid.noise), divergence(bold, exact), np.nan)
    for away, least, doubts in zip(away_all, known, bold.doubt, strict=True):
        text = f" Divergence from exact: {show(float(away))}" if np.isfinite(away) else ""
        if text and np.isfinite(least):
            text += f"; were every shape known, noise alone would cost about {show(float(least))}"
        warnings = "".join(f" Warning: {one}." for one in warned(tuple(exact.names[0]), doubts))
        told.append((f"{text}." if text else "") + warnings)
    return tuple(told)


def loss_split(found: Study) -> tuple[str, ...]:
    """What the private fit loses against the exact one, and to what."""
    known, worth = found.references, yardstick(found.grid.model).wording.worth
    steps = known.converged_utility - known.own_steps_utility
    clipping = known.own_steps_utility - known.clipped_utility
    noise = known.clipped_utility - np.median(found.grid.utility, axis=1)
    return tuple(
        f"Lost against the exact fit, in {worth}: "
        f"{steps:.2f} to stopping early, {clipping:.2f} to clipping, {lost:.2f} to noise."
        if np.isfinite(lost)
        else ""
        for lost in noise
    )
