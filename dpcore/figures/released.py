"""The picture of what left: the portrait of released parameters, with nothing exact beside it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dpcore.evaluation.yardstick import mapped
from dpcore.figures.model_plot import Places, Subject, portrait
from dpcore.figures.scene import Panel, Ring, Scene
from dpcore.privacy.guarantee import show_bound
from dpcore.wall.data.clipping import PublicFrame

HEIGHT = 380  # pixels of a card that stands alone
MOST_PAIRS = 6  # of columns that are drawn, where a picture is a plane


def released_scene(
    model: str,
    fit: Any,
    public: PublicFrame,
    *,
    epsilon: float,
    unit: str,
    protects: str,
    image: tuple[int, int] | None = None,
    places: Places = (),
) -> Scene:
    """One step, and a card for each pair of columns where the picture is a plane, else one card.

    fit: a batch of one in public unit coordinates. public: the columns, with the target of a
    regression as the last. unit: who one row is about. protects: what the guarantee does, in
    words. image, places: as of a :class:`~dpcore.figures.model_plot.Subject`.
    """
    panels: dict[tuple[str, str], Panel] = {}
    for start in range(0, public.dim, 2)[:MOST_PAIRS]:
        first = max(min(start, public.dim - 2), 0)
        second = min(first + 1, public.dim - 1)  # of one column, that column twice
        drawn = portrait(model)(
            Subject(
                public=public,
                exact=fit,
                private=mapped(fit, lambda array: array[None]),
                pair=(first, second),
                rows=None,
                clip=(1.0,),
                window=(fit, None),
                unit=unit,
                image=image,
                places=places,
                outlines=False,
            )
        )
        alike = (drawn.x.label, drawn.y.label)
        panels.setdefault(
            alike,
            Panel(
                id=f"released-{first + 1}",
                title="Released fit",
                subtitle=protects,
                alt=f"Released fit. {drawn.exact_alt}",
                x=drawn.x,
                y=drawn.y,
                layers=tuple(layer for layer in drawn.exact if not isinstance(layer, Ring)),
                bare=drawn.bare,
                height=drawn.height,
            ),
        )
    if len(panels) == 1:  # it has the page's width, and keeps its height
        ((alike, panel),) = panels.items()
        panels = {alike: replace(panel, width="full", height=panel.height or HEIGHT)}
    return Scene((epsilon,), (show_bound(epsilon),), tuple(panels.values()))
