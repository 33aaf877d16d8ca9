"""The picture of a budget study: exact beside private, and what each stop of a dial buys.

Everything drawn is a fit that exists; between two stops the picture jumps, it does not glide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpcore.arrays import Array
from dpcore.evaluation.study import BudgetGrid, Curves, References, Study
from dpcore.evaluation.verdict import found_sentences, verdicts
from dpcore.figures.model_plot import Drawing, Places, Subject, portrait
from dpcore.figures.scene import Panel, Scene
from dpcore.figures.utility_curve import Marks, axis_of, buys_panel
from dpcore.privacy.guarantee import show_delta

MAP = "map"
NOTE = "note"  # live text: what has to be said of the picture


@dataclass(frozen=True)
class Words:
    """Texts of a study's scene, one a stop where plural; empty where there is nothing to say.

    exact_subtitle: one, or one a stop. judged: on which rows utility is measured.
    """

    verdicts: tuple[str, ...]
    live_text: dict[str, tuple[str, ...]]
    exact_subtitle: str | tuple[str, ...] = "sees everyone"
    private_subtitle: str = "hides each person"
    unit: str = "person"
    method_titles: dict[str, str] = field(default_factory=dict)
    judged: str = ""


def budget_scene(
    grid: BudgetGrid,
    references: References | Sequence[References],
    curves: Curves | None,
    words: Words,
    *,
    pair: tuple[int, int] = (0, 1),
    rows: Array | None = None,
    clip: float = 1.0,
    chosen: str = "exact",
    held: str = "",
    positions: tuple[int, ...] | None = None,
    window: tuple[Any, Array | None] | None = None,
    image: tuple[int, int] | None = None,
    places: Places = (),
    outlines: bool = True,
    marks: Marks = (),
    show: str = "",
    intervals: Array | None = None,
) -> Scene:
    """The scene of a study, whatever the model and the dial.

    references: of all stops, or of each. rows ``(n, d)``: exact rows in own units to draw behind
    the exact fit (``None``: none may be). pair: which two columns. clip: the ring's, where clipping
    is not the dial. chosen: the method whose curve is bold. held: what the other dials say.
    positions: the stop of each position of the slider. window: a fit and rows ``(n, d)`` that the
    axes must hold [the converged fit]. image: height and width, where the columns are the pixels of
    an image, row after row. places: names, longitudes and latitudes to show where the columns are
    such. outlines: whether the private panel shows the exact fit too. marks: stops to mark on the
    curves, each with its label. show: which of the model's pictures [the usual one].
    intervals: as of a :class:`~dpcore.figures.model_plot.Subject`.
    """
    by_stop = (references,) if isinstance(references, References) else tuple(references)
    dial = axis_of(grid.model, grid.dial)
    drawing = portrait(grid.model, show)(
        Subject(
            public=grid.public,
            exact=by_stop[0].converged,
            private=grid.fits,
            pair=pair,
            rows=rows,
            clip=grid.stops if grid.dial == "clip" else (clip,),
            window=window or (by_stop[0].converged, None),
            unit=words.unit,
            image=image,
            places=places,
            outlines=outlines,
            intervals=intervals,
        )
    )
    stops = tuple(map(dial.show, grid.stops))
    curve = buys_panel(
        grid,
        by_stop,
        curves,
        verdicts=words.verdicts,
        unit=words.unit,
        titles=words.method_titles,
        chosen=chosen,
        held=held,
        marks=marks,
        judged=words.judged,
    )
    return Scene(
        steps=grid.stops,
        step_labels=stops,
        panels=(
            *pair_of_panels(drawing, words, tuple(map(dial.alt.format, stops)), grid.refusals),
            curve,
        ),
        live_text=words.live_text | ({NOTE: (drawing.note,) * len(stops)} if drawing.note else {}),
        positions=positions,
        symbol=dial.symbol,
    )


def study_scene(study: Study) -> Scene:
    """The scene of a whole study, at epsilon 1: exact fits are in it, rows are not."""
    grid = study.grid
    judged = tuple(v.text for v in verdicts(grid, study.references, study.curves.single))
    unit = next((g.unit for g in grid.guarantees if g is not None), "person")
    scene = budget_scene(
        grid,
        study.references,
        study.curves,
        Words(judged, {"found": found_sentences(grid)}, unit=unit),
        pair=(0, min(1, grid.public.dim - 1)),  # one column: that column twice
        clip=study.setting.clip,
        chosen=study.setting.accountant,
        held=f"(δ = {show_delta(study.setting.delta)})",
    )
    return scene.at(int(np.argmin(np.abs(np.log(grid.epsilons)))))


def pair_of_panels(
    drawing: Drawing, words: Words, stops: tuple[str, ...], refusals: tuple[str | None, ...]
) -> tuple[Panel, ...]:
    """Two cards of one size on the same axes; they share zoom and pan.

    stops: each in words. refusals: why a stop has no fit, or ``None``.
    """
    shape: dict[str, Any] = {
        "x": drawing.x,
        "y": drawing.y,
        "bare": drawing.bare,
        "height": drawing.height,
        "link": MAP,
    }
    private_subtitle = " · ".join(filter(None, (words.private_subtitle, drawing.key)))
    return (
        Panel(
            id="exact",
            title="Exact fit",
            subtitle=words.exact_subtitle,
            alt="Exact fit. " + drawing.exact_alt,
            layers=drawing.exact,
            **shape,
        ),
        Panel(
            id="private",
            title="Private fit",
            subtitle=tuple(
                (f"{beyond} · " if beyond else "") + private_subtitle
                for beyond in drawing.outside or ("",) * len(stops)
            ),
            alt=tuple(
                f"Private fit at {stop}. {refusal or alt}"
                for stop, alt, refusal in zip(stops, drawing.private_alts, refusals, strict=True)
            ),
            layers=drawing.private,
            **shape,
        ),
    )
