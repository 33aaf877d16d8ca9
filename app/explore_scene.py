"""Explore's picture: a study's numbers, and the words around them, as one scene."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from app import compute, intervals, parts
from app.components import guarantee_line
from app.compute import Study
from app.parts import ByParts
from app.result_store import Data
from app.scenario import PARTS, Scenario, opening
from app.sweeps import DELTAS, NOISE, Sliding
from app.tables import badge, provenance, store_of
from app.texts import explore as texts
from app.texts.frame import LOSSES, OWN_TABLE, STAND_IN
from dpcore.accounting import guess_rate
from dpcore.accounting.base import Events
from dpcore.arrays import Array
from dpcore.datasets.cities import CITIES
from dpcore.declaration import Picture
from dpcore.evaluation.steps import takes_steps
from dpcore.evaluation.study import BudgetGrid, References
from dpcore.evaluation.verdict import attack_sentences, found_sentences, verdicts
from dpcore.evaluation.yardstick import metric_of, yardstick
from dpcore.figures.budget import Words, budget_scene, pair_of_panels
from dpcore.figures.frames import Frames, greyed
from dpcore.figures.model_plot import Drawing, Subject, portrait
from dpcore.figures.parts import parts_frames
from dpcore.figures.scene import Choice, Panel, Points, Scene, text_at
from dpcore.figures.utility_curve import Marks, axis_of
from dpcore.models.gaussian_mixture.mathematics import Mixture
from dpcore.privacy import Guarantee, Ledger
from dpcore.privacy.guarantee import show, show_delta
from dpcore.wall.data import target_frame, with_target

Choices = Mapping[str, tuple[Choice, tuple[Any, ...]]]

SEES = {
    "simulated": "sees everyone",
    "public": "sees everyone",
    "upload": OWN_TABLE,
    "stand-in": STAND_IN,
}


def picture(scenario: Scenario, data: Data, study: Study) -> Scene:
    """The scene of the scenario over epsilon, as far as its study is worked out."""
    store = store_of(data)
    key = (
        data.key,
        without_epsilon(scenario),
        study.grid.utility.shape[1],
        study.grid.refusals,
        study.curves is None,
        study.references.complete,
        tuple(intervals.by_budget(scenario, data, store, study.grid.epsilons)),
    )
    study, step = compute.with_extra_budget(study, scenario, data, store)
    positions = len(scenario.budgets(data.rows))
    typed = scenario.epsilon if step >= positions else None
    return store.scenes.get((key, typed), lambda: scene_of(scenario, data, study, positions)).at(
        step
    )


def swept_picture(scenario: Scenario, data: Data, dial: Sliding, study: Study) -> Scene:
    """The scene of the scenario over another dial."""
    if dial.name == "fitted_rows":
        data = data.every or data  # which points are drawn does not move
    elsewhere = replace(without_epsilon(scenario), epsilon=scenario.epsilon)
    setting = replace(elsewhere, **dial.put(dial.stops[-1], scenario))
    key = (data.key, setting, dial.name, study.grid.refusals, study.grid.utility.shape[1])
    typed = dial.value if dial.typed else None
    drawn = store_of(data).scenes.get(
        (key, typed), lambda: scene_of(scenario, data, study, len(dial.stops))
    )
    return drawn.at(len(dial.stops) if dial.typed else dial.place)


def parts_picture(
    scenario: Scenario, data: Data, dial: Sliding, fitted: ByParts, now: Study
) -> Frames | None:
    """The frames of the scenario over the number of parts, as far as they are worked out; ``None``
    where none is there. now: the study over epsilon, which has the current number's fits."""
    stops, store = tuple(map(int, dial.stops)), store_of(data)
    all_fits = {scenario.components: parts.current_study(scenario, data, store, now)} | fitted
    studies = {stop: fits for stop in stops if isinstance(fits := all_fits.get(stop), Study)}
    if not studies:
        return None
    view = replace(without_epsilon(scenario), epsilon=scenario.epsilon, components=1)
    draws = tuple((stop, study.grid.utility.shape[1]) for stop, study in studies.items())

    def make() -> Frames:
        usual = opening(scenario.data, scenario.model).components
        around = min(studies, key=lambda stop: abs(stop - usual))  # it soon stays the same
        held = (studies[around].references.converged, window(scenario, data)[1])
        late = {stop: str(all_fits.get(stop, texts.COMING)) for stop in stops}
        stills = {
            stop: scene_of(
                replace(scenario, components=stop),
                data,
                studies.get(stop) or parts.without_fit(studies[around], stop, late[stop]),
                1,
                held,
            )
            for stop in stops
        }
        fitted_grids = {n: (study.grid, study.references) for n, study in studies.items()}
        return parts_frames(stills, fitted_grids)

    drawn = store.scenes.get((PARTS, data.key, view, stops, draws), make)
    return replace(drawn, step=dial.place)


def scene_of(
    scenario: Scenario,
    data: Data,
    study: Study,
    positions: int,
    fixed_window: tuple[Mixture, Array | None] | None = None,
) -> Scene:
    """Words and numbers of a study, as one moving picture.

    positions: of its slider. fixed_window: what the axes must hold [:func:`window`].
    """
    grid, best = study.grid, study.references.converged
    judge, setting = yardstick(scenario.model), scenario.setting(data.secret)
    single = np.full(len(grid.epsilons), -np.inf) if study.curves is None else study.curves.single
    chances = np.array(
        [_chance(*terms) for terms in zip(grid.guarantees, grid.ledgers, strict=True)]
    )
    attacks = attack_sentences(chances, data.unit, scenario.adjacency, data.schema.thing)
    groups = found_sentences(grid)
    classes = judge.budget_notes(setting, grid, best)
    own = provenance(data) == "upload"
    eyes = " (for the custodian only)" if own else ""
    judged = [v.text + eyes for v in verdicts(grid, study.held, single)]
    ghosts = grid.utility.shape[1] - 1
    sees, thing = SEES[provenance(data)], data.schema.thing
    whole = study.references if grid.dial == "fitted_rows" else study.whole
    if data.every is not None and grid.dial not in (*scenario.offered(), PARTS):
        whole = compute.references_of(setting, data.every, store_of(data))
    words = Words(
        verdicts=tuple(
            texts.COMPARING if study.curves is None or why == texts.COMING else verdict
            for verdict, why in zip(judged, grid.refusals, strict=True)
        ),
        live_text={
            "sentence": tuple(
                g if g == texts.COMING else f"{a} {g}{c}"
                for a, g, c in zip(attacks, groups, classes, strict=True)
            ),
            "guarantee": tuple(
                guarantee_line(g, r) for g, r in zip(grid.guarantees, grid.refusals, strict=True)
            ),
            **lost(study, whole),
        },
        exact_subtitle=tuple(
            sees + (f" · clipping would shorten {cut:.0%} of {thing}s" if cut > 0.005 else "")
            for cut in (references.clipped_share for references in study.held)
        ),
        private_subtitle=(
            _hidden(scenario, data)
            if any(g is not None and g.epsilon is not None for g in grid.guarantees)
            else "nothing is proved"
        )
        + (" · rehearsal" if own else "")
        + _faint(scenario, ghosts),
        unit=data.unit if data.is_one_row(scenario.rows_per_person) else data.schema.thing,
        method_titles=scenario.titles(scenario.curves()),
        judged=("in-sample" if data.held_out is None else f"on held-out {thing}s")
        if metric_of(scenario.model, setting.metric).of_rows
        else "",
    )
    scene = budget_scene(
        grid,
        study.by_stop or study.references,
        study.curves,
        words,
        pair=pair(scenario, data),
        rows=compute.shown_rows(data, store_of(data), scenario.model),
        clip=scenario.clip,
        chosen=scenario.count_by,
        held=_held(scenario, grid.dial),
        positions=tuple(range(positions)),
        window=fixed_window or window(scenario, data),
        image=image(data),
        places=CITIES,
        outlines=not own and not _asks_for_the_exact_fit(scenario),
        marks=_rare(data.rows)
        if grid.dial == "delta"
        else judge.marks(grid)
        if grid.dial == "epsilon" and not compute.coming(grid)  # a mark needs every budget below it
        else (),
        show=_shown(scenario, data),
        intervals=intervals.at_stops(scenario, data, store_of(data), grid.epsilons)
        if grid.dial == "epsilon"
        else None,
    )
    return with_nearest(scene, grid)


def with_nearest(scene: Scene, grid: BudgetGrid, moving: Collection[str] = ("private",)) -> Scene:
    """The scene with the nearest fit, under its own label, where one is still being worked out.

    moving: the panels that show the fit.
    """
    late = compute.coming(grid)
    there = [i for i, why in enumerate(grid.refusals) if why is None]
    if not late or not there:
        return scene
    log = axis_of(grid.model, grid.dial).scale == "log"
    place = np.log(grid.stops) if log else np.array(grid.stops)
    nearest = tuple(
        min(there, key=lambda other: abs(place[other] - place[i])) if stop in late else i
        for i, stop in enumerate(grid.stops)
    )

    def held(panel: Panel) -> Panel:
        words = [
            (
                greyed(scene.symbol, scene.step_labels[at]),
                f"{text_at(panel.alt, i)} Shown instead, greyed: {text_at(panel.alt, at)}",
            )
            if at != i
            else (text_at(panel.subtitle, i), text_at(panel.alt, i))
            for i, at in enumerate(nearest)
        ]
        subtitles, alts = zip(*words, strict=True)
        return replace(panel, subtitle=subtitles, alt=alts, nearest=nearest)

    panels = (held(panel) if panel.id in moving else panel for panel in scene.panels)
    return replace(scene, panels=tuple(panels))


def walked_panels(
    scenario: Scenario, data: Data, exact: Any, plain: Any, private: Any
) -> tuple[Panel, ...]:
    """The fits ``(T, 1, ...)`` after each step, without noise beside with it; nothing where a link
    hides the exact fit, a batch of one."""
    if _asks_for_the_exact_fit(scenario):
        return ()
    own, public = provenance(data) == "upload", data.public
    if scenario.declared.reads == "target":
        public = with_target(public, target_frame(data.schema))

    def drawn(fits: Any) -> tuple[Drawing, tuple[Panel, ...]]:
        drawing = portrait(scenario.model, _shown(scenario, data))(
            Subject(
                public=public,
                exact=exact,
                private=fits,
                pair=pair(scenario, data),
                rows=compute.shown_rows(data, store_of(data), scenario.model),
                clip=(scenario.clip,),
                window=window(scenario, data),
                unit=data.unit,
                image=image(data),
                places=CITIES,
                outlines=not own,
            )
        )
        steps = tuple(f"step {step + 1}" for step in range(len(drawing.private_alts)))
        words = Words((), {}, private_subtitle=f"hides each {data.unit}")
        return drawing, pair_of_panels(drawing, words, steps, (None,) * len(steps))

    drawing, (_, left) = drawn(plain)
    _, (_, right) = drawn(private)
    rows = tuple(layer for layer in drawing.exact if isinstance(layer, Points))
    left = replace(
        left,
        id="plain",
        title="Without noise",
        subtitle=f"the same steps{badge(data)}",
        layers=(*rows, *left.layers),
        alt=tuple(alt.replace("Private fit", "Without noise") for alt in left.alt),
    )
    return left, replace(right, film=True)


def _shown(scenario: Scenario, data: Data) -> str:
    """The picture that is shown: the usual one, of a table that another does not suit."""
    return scenario.show if scenario.show in _pictures(scenario, data) else ""


def _pictures(scenario: Scenario, data: Data) -> dict[str, Picture]:
    """The pictures of the model that the table has enough columns for, or images."""
    return {
        name: picture_of
        for name, picture_of in scenario.declared.shows().items()
        if picture_of.columns <= data.public.dim and not (picture_of.images and image(data) is None)
    }


def choices(scenario: Scenario, data: Data) -> Choices:
    """What can be chosen in the head of a card: the picture, and the columns of a plane; each with
    the values that its items stand for."""
    dim, offered = data.public.dim, dict[str, tuple[Choice, tuple[Any, ...]]]()
    pictures = _pictures(scenario, data)
    shown = _shown(scenario, data)
    if len(pictures) > 1:
        titles = tuple(candidate.title for candidate in pictures.values())
        at = list(pictures).index(shown)
        offered["show"] = Choice("show", "Show", titles, at), tuple(pictures)
    if pictures[shown].plane and dim > 2:
        for name, label, at in zip("xy", ("Across", "Up"), pair(scenario, data), strict=True):
            offered[name] = Choice(name, label, data.public.names, at), tuple(range(dim))
    return offered


def picked_of(picked: Mapping[str, Any], offered: Choices, scenario: Scenario) -> dict[str, Any]:
    """The scenario's fields after an item was picked; of two equal columns, the other moves."""
    name, item = picked["name"], picked["item"]
    if name not in offered or not 0 <= item < len(offered[name][1]):
        return {}  # of a list that is no longer there
    chosen = {name: offered[name][1][item]}
    other = {"x": "y", "y": "x"}.get(name)
    if other is not None and chosen[name] == getattr(scenario, other):
        chosen[other] = getattr(scenario, name)
    return chosen


def with_choices(scene: Scene, offered: tuple[Choice, ...]) -> Scene:
    """The scene with lists in the head of its first panel, where that is a fit's."""
    first, *others = scene.panels
    if first.id not in ("exact", "private") or not offered:
        return scene
    return replace(scene, panels=(replace(first, choices=offered), *others))


def _held(scenario: Scenario, dial: str) -> str:
    """What the dials of the promise say that do not slide."""
    budget, delta = f"ε = {show(scenario.epsilon)}", f"δ = {show_delta(scenario.delta)}"
    says = {"epsilon": delta, NOISE: delta, "delta": budget}.get(dial, f"{budget}, {delta}")
    return f"({says})"


def _rare(rows: int | None) -> Marks:
    """Deltas to hold against: one over the number of rows and over its square, where public."""
    if rows is None:
        return ()
    marks = ((rows**-2.0, "1/n²"), (1.0 / rows, "1/n"))
    return tuple(mark for mark in marks if DELTAS[0] <= mark[0] <= DELTAS[-1])


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
    stated_elsewhere = scenario.adjacency in ("label", "feature")
    if stated_elsewhere or not ghosts or not scenario.declared.shows()[scenario.show].ghosts:
        return ""
    return f" · faint: {ghosts} other draws"


def _chance(guarantee: Guarantee | None, ledger: Ledger | None) -> float:
    """The best attacker's rate of success; NaN where nothing is proved."""
    if guarantee is None or guarantee.epsilon is None or ledger is None:
        return np.nan
    return _guess_rate(ledger.events)


@lru_cache(maxsize=1024)
def _guess_rate(events: Events) -> float:
    """Held, because a picture is drawn anew whenever more of its stops are there."""
    return float(guess_rate(events))


def without_epsilon(scenario: Scenario) -> Scenario:
    """What a picture depends on besides the slider."""
    hide = "exact" if _asks_for_the_exact_fit(scenario) else ""
    return replace(scenario, epsilon=1.0, hide=hide, dial="epsilon", third="", pins="")


def _asks_for_the_exact_fit(scenario: Scenario) -> bool:
    """Whether a link hides the exact fit: then no panel may show it."""
    return "exact" in scenario.hide.split(",")


def pair(scenario: Scenario, data: Data) -> tuple[int, int]:
    """The two columns on the axes; with one column, that column twice."""
    dim = data.public.dim
    x, y = min(scenario.x, dim - 1), min(scenario.y, dim - 1)
    return (x, y) if x != y else (0, min(1, dim - 1))


def window(scenario: Scenario, data: Data) -> tuple[Mixture, Array | None]:
    """What the axes must hold: the exact fit to everybody, and the rows where all are shown."""
    data = data.whole or data
    best = compute.converged_of(scenario.setting(data.secret), data, store_of(data))
    rows = compute.shown_rows(data, store_of(data), scenario.model)
    return best, rows if len(rows) == data.rows else None


def image(data: Data) -> tuple[int, int] | None:
    """Height and width, where rows are pictures."""
    shape = data.schema.image
    return None if shape is None else (shape.height, shape.width)


def lost(study: Study, whole: References | None = None) -> dict[str, tuple[str, ...]]:
    """What the private fit loses against the exact one, to each of :data:`LOSSES`, one text a stop.

    whole: the references of all rows, where the fits have fewer.

    "lost ..." are signed numbers; "wide ..." the shares of a bar whose length is what the exact fit
    gains over the public limits, or all that is lost where that is more: a gain has no width.
    """
    middle = np.median(study.grid.utility, axis=1)
    references = study.held
    own = np.array([reference.own_steps_utility for reference in references])
    with_all = np.full(own.shape, whole.own_steps_utility) if whole else own
    rows, steps = with_all - own, study.references.converged_utility - with_all
    clipped = np.array([reference.clipped_utility for reference in references])
    parts = np.stack([rows, steps, own - clipped, clipped - middle])
    parts = np.where(np.isfinite(middle), parts, np.nan)
    gain = np.array(
        [reference.converged_utility - reference.bounds_utility for reference in references]
    )
    places = _places(np.maximum(gain, 0.0))
    parts = np.stack([np.round(part, places) for part in parts])  # what is written has its width
    drawn = np.maximum(np.nan_to_num(parts), 0.0)
    gone = np.round(drawn.sum(axis=0), places)
    beyond = gone > np.round(np.maximum(gain, 0.0), places)  # as both are written
    length = np.maximum(np.maximum(gone, gain), np.finfo(float).tiny)
    live_text = {}
    for name, part, share in zip(LOSSES, parts, drawn / length, strict=True):
        live_text[f"lost {name}"] = tuple(_signed(float(number), places) for number in part)
        live_text[f"wide {name}"] = tuple(f"{number:.2%}" for number in share)
    negative = np.any(np.nan_to_num(parts) < 0.0, axis=0)
    taken = parts[1][~np.isnan(parts[1])]  # by steps, where that is known
    once = read_once(study.grid) and taken.size > 0 and not np.any(taken)
    if once:
        live_text["lost steps"] = ("–",) * len(middle)
    live_text["lost note"] = tuple(
        texts.gained(_signed(float(total), places) if total > 0.0 else "", beyond=bool(more))
        + (texts.BELOW_ZERO if less else "")
        + (texts.READ_ONCE if once else "")
        for total, more, less in zip(gain, beyond, negative, strict=True)
    )
    return live_text


def read_once(grid: BudgetGrid) -> bool:
    """Whether a fit reads its rows once, as far as its ledgers tell."""
    ledgers = [ledger for ledger in grid.ledgers if ledger is not None]
    return bool(ledgers) and not takes_steps(ledgers[0])


def _places(gains: Array) -> int:
    """Decimals that show a thousandth of the largest gain; two where it is 1 to 100."""
    most = float(np.max(gains, initial=0.0))
    if most <= 0.0:
        return 2
    power = int(np.floor(np.log10(most)))
    return int(np.clip(2 - power + (power > 0), 0, 6))


def _signed(value: float, places: int) -> str:
    """So many decimals with the minus sign of print; of no number a dash."""
    if value != value:
        return "–"
    return f"{round(value, places) + 0.0:,.{places}f}".replace("-", "−")
