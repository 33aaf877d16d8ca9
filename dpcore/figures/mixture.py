"""The picture of a budget study: exact beside private, and what each epsilon buys.

Everything drawn is a fit that exists; between two budgets the picture jumps, it does not glide.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dpcore.evaluation.study import BudgetGrid, Curves, References, Study
from dpcore.evaluation.verdict import found_sentences, verdicts
from dpcore.figures.scene import (
    Axis,
    Cursor,
    Curve,
    Ellipses,
    Panel,
    Points,
    Ring,
    Rule,
    Scene,
)
from dpcore.models.gmm import Mixture
from dpcore.privacy.guarantee import show
from dpcore.wall.clip import PublicFrame

Array = NDArray[np.float64]

MAP, CURVE = "map", "curve"
TICKS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0)


@dataclass(frozen=True)
class Words:
    """Texts of a study's scene, one a budget where plural; empty where there is nothing to say."""

    verdicts: tuple[str, ...]
    slots: dict[str, tuple[str, ...]]
    exact_subtitle: str = "sees everyone"
    private_subtitle: str = "hides each person"
    unit: str = "person"
    method_titles: dict[str, str] = field(default_factory=dict)


def budget_scene(
    grid: BudgetGrid,
    references: References,
    curves: Curves | None,
    words: Words,
    *,
    pair: tuple[int, int] = (0, 1),
    rows: Array | None = None,
    clip: float = 1.0,
    chosen: str = "exact",
    delta_text: str = "",
    positions: tuple[int, ...] | None = None,
    window: tuple[Mixture, Array | None] | None = None,
) -> Scene:
    """The scene of a study.

    rows ``(n, d)``: exact rows in own units to draw behind the exact fit (``None``: none may be).
    pair: which two columns. chosen: the method whose curve is bold. positions: the budget of each
    position of the slider. window: a mixture and rows ``(n, d)`` that the axes must hold [the
    converged fit].
    """
    framed, framed_rows = window or (references.converged, None)
    axes = _axes(grid.public, framed, framed_rows, pair)
    cloud = () if rows is None else (Points(rows[:, pair[0]], rows[:, pair[1]], name=words.unit),)
    ring = _ring(grid.public, pair, clip)
    exact = _params(references.converged, grid.public, pair)[None]
    private = _params(grid.fits, grid.public, pair)
    names = tuple(f"group {k + 1}" for k in range(grid.fits.weights.shape[-1]))
    ghosts: tuple[Ellipses, ...] = ()
    if private.shape[1] > 1:
        ghosts = (
            Ellipses(
                private[:, 1:], levels=(2.0,), style="ghost", fill=False, centre=False, names=names
            ),
        )
    budgets = [show(e) for e in grid.epsilons]
    panels = [
        Panel(
            id="exact",
            title="Exact fit",
            subtitle=words.exact_subtitle,
            alt="Exact fit. " + _described(exact[0, 0], axes),
            x=axes[0],
            y=axes[1],
            layers=(*cloud, *ring, Ellipses(exact, names=names)),
            link=MAP,
        ),
        Panel(
            id="private",
            title="Private fit",
            subtitle=words.private_subtitle,
            alt=tuple(
                f"Private fit at epsilon {budget}. " + _described(params, axes)
                for budget, params in zip(budgets, private[:, 0], strict=True)
            ),
            x=axes[0],
            y=axes[1],
            layers=(*ring, *ghosts, Ellipses(private[:, :1], names=names)),
            link=MAP,
        ),
        _curve_panel(grid, references, curves, words, chosen, delta_text),
    ]
    return Scene(
        steps=grid.epsilons,
        step_labels=tuple(budgets),
        panels=tuple(panels),
        slots=words.slots,
        positions=positions,
    )


def study_scene(found: Study, *, pair: tuple[int, int] = (0, 1)) -> Scene:
    """The scene of a whole study, at epsilon 1: exact fits are in it, rows are not."""
    grid = found.grid
    judged = tuple(v.text for v in verdicts(grid, found.references, found.curves.single))
    unit = next((g.unit for g in grid.guarantees if g is not None), "person")
    scene = budget_scene(
        grid,
        found.references,
        found.curves,
        Words(judged, {"found": found_sentences(grid)}, unit=unit),
        pair=pair,
        clip=found.setting.clip,
        chosen=found.setting.accountant,
        delta_text=f"(δ = {show(found.setting.delta)})",
    )
    return scene.at(int(np.argmin(np.abs(np.log(grid.epsilons)))))


def _params(mixture: Mixture, public: PublicFrame, pair: tuple[int, int]) -> Array:
    """``(..., K, 6)``: mean x, mean y, covariance xx, xy, yy, weight, in own units."""
    i, j = pair
    spread, center = public.half_range, public.center
    means, shapes = mixture.means, mixture.covariances
    return np.stack(
        [
            center[i] + spread[i] * means[..., i],
            center[j] + spread[j] * means[..., j],
            spread[i] ** 2 * shapes[..., i, i],
            spread[i] * spread[j] * shapes[..., i, j],
            spread[j] ** 2 * shapes[..., j, j],
            mixture.weights,
        ],
        axis=-1,
    )


def _axes(
    public: PublicFrame, exact: Mixture, rows: Array | None, pair: tuple[int, int]
) -> tuple[Axis, Axis]:
    """Ranges that hold the exact fit with room around it, and rows, inside the public bounds."""
    return _axis(public, exact, rows, pair[0]), _axis(public, exact, rows, pair[1])


def _axis(public: PublicFrame, exact: Mixture, rows: Array | None, i: int) -> Axis:
    means, deviations = exact.means[0, :, i], np.sqrt(exact.covariances[0, :, i, i])
    room = 3.6 * deviations
    low, high = float((means - room).min()), float((means + room).max())
    center, spread = public.center[i], public.half_range[i]
    if rows is not None and len(rows):
        cells = (rows[:, i] - center) / spread
        low, high = min(low, float(cells.min()) - 0.03), max(high, float(cells.max()) + 0.03)
    low, high = max(low, -1.04), min(high, 1.04)
    return Axis(column_title(public, i), (center + spread * low, center + spread * high))


def column_title(public: PublicFrame, i: int) -> str:
    """A column's name with its unit.

    A unit that says no more than the name is left out.
    """
    unit = public.units[i]
    return f"{public.names[i]} ({unit})" if unit else public.names[i]


def _ring(public: PublicFrame, pair: tuple[int, int], clip: float) -> tuple[Ring, ...]:
    """The clipping ball's outline in the plane of two columns; drawn once it cuts anything."""
    if clip >= 0.999:
        return ()
    i, j = pair
    radius = public.radius * clip
    return (
        Ring(
            cx=float(public.center[i]),
            cy=float(public.center[j]),
            rx=float(public.half_range[i] * radius),
            ry=float(public.half_range[j] * radius),
            label="clipping: drag",
            name="clip",
            limits=(0.1 / clip, 1.0 / clip),
        ),
    )


def _described(params: Array, axes: tuple[Axis, Axis]) -> str:
    """Each group in words: share and centre."""
    if not np.all(np.isfinite(params)):
        return "No fit at this budget."
    parts = [
        f"group {k + 1}: {p[5]:.0%} at {axes[0].label} {show(round(float(p[0]), 1))}, "
        f"{axes[1].label} {show(round(float(p[1]), 1))}"
        for k, p in enumerate(params)
    ]
    return "; ".join(parts) + "."


def _curve_panel(
    grid: BudgetGrid,
    references: References,
    curves: Curves | None,
    words: Words,
    chosen: str,
    delta_text: str,
) -> Panel:
    known = [i for i in np.argsort(grid.epsilons) if np.isfinite(grid.noise[i])]
    epsilons = np.array(grid.epsilons)
    middle = np.median(grid.utility, axis=1)
    low, high = references.bounds_utility, references.converged_utility
    span = high - low
    worst = np.nanmin(middle, initial=low)  # shown, unless that would flatten all the rest
    low = max(worst if curves is None else np.nanmin(curves.single, initial=worst), low - span / 2)
    layers: list[Rule | Curve | Cursor] = [
        Rule(high, "exact fit (converged)"),
        Rule(references.clipped_utility, "our steps, clipped, without noise", side="right"),
    ]
    if curves is not None:
        order = np.argsort(epsilons)
        for colour, (name, values) in enumerate(curves.methods.items()):
            if name != chosen and np.isfinite(values).any():
                layers.append(
                    Curve(
                        epsilons[order],
                        values[order],
                        colour=colour,
                        label=_says(words, name, curves.says[name]),
                        name=words.method_titles.get(name, name),
                    )
                )
        layers.append(
            Curve(
                epsilons[order],
                curves.single[order],
                colour=5,
                dash=3,
                label="one private Gaussian",
                name="one private Gaussian",
            )
        )
    if known:
        band = np.quantile(grid.utility[known], [0.1, 0.9], axis=1)
        names = [] if curves is None else list(curves.methods)
        layers.append(
            Curve(
                epsilons[known],
                middle[known],
                lo=band[0],
                hi=band[1],
                colour=names.index(chosen) if chosen in names else 0,
                dash=0,
                label=_says(words, chosen, epsilons, sign="="),
                bold=True,
                name=words.method_titles.get(chosen, chosen),
            )
        )
    layers.append(Cursor(epsilons, middle))
    return Panel(
        id=CURVE,
        title="What each ε buys",
        subtitle=words.verdicts,
        alt=tuple(
            f"At epsilon {show(e)} the median private fit has log-likelihood {u:.2f} per row; "
            f"the exact fit {high:.2f}. {verdict}"
            for e, u, verdict in zip(grid.epsilons, middle, words.verdicts, strict=True)
        ),
        x=Axis(
            f"ε {delta_text}".strip(),
            (min(grid.epsilons), max(grid.epsilons)),
            scale="log",
            ticks=TICKS,
        ),
        y=Axis(f"log-likelihood per {words.unit}", (low - 0.06 * span, high + 0.1 * (high - low))),
        layers=tuple(layers),
        width="full",
    )


def _says(words: Words, name: str, epsilons: Array, sign: str = "≈") -> tuple[str, ...]:
    """What a method states; ``≈`` where it is read off a curve and so is no upper bound."""
    title = words.method_titles.get(name, name)
    return tuple(f"{title} says ε {sign} {show(e)}" if np.isfinite(e) else title for e in epsilons)
