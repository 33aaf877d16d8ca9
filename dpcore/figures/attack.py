"""The picture of an attack: two clouds of outputs, hits against false alarms, a ruler.

At budgets not yet played it holds what is proved and claimed, and says what is being done.
"""

from __future__ import annotations

import numpy as np

from dpcore.auditing.attack import USUAL, Attack
from dpcore.auditing.exhibits import Exhibit, Picture
from dpcore.figures.scene import Axis, Bars, Curve, Layer, Panel, Points, Scene
from dpcore.privacy.guarantee import show, show_bound, show_most

REACH = 6.0  # deviations that the clouds' axes hold
HEIGHT, RULER, BINS = 330, 190, 40
PLAYING = "the attack is running"


def attack_scene(
    attack: Attack, *, who: str, other: str, live_text: dict[str, tuple[str, ...]] | None = None
) -> Scene:
    """Everything about an attack, for every budget it was played at.

    who, other: the two tables in words, "this person" and "no such person".
    """
    return Scene(
        steps=attack.epsilons,
        step_labels=tuple(show(epsilon) for epsilon in attack.epsilons),
        panels=(_clouds(attack, who, other), _curve(attack), _ruler(attack)),
        live_text=live_text or {},
    )


def _clouds(attack: Attack, who: str, other: str) -> Panel:
    along, across = (np.clip(cloud, -REACH, REACH) for cloud in (attack.along, attack.across))
    apart = attack.along[:, 1].mean(axis=-1) - attack.along[:, 0].mean(axis=-1)
    return Panel(
        id="clouds",
        title="Two clouds of releases",
        subtitle=f"blue: {other} · orange: {who}",
        alt=tuple(
            f"At epsilon {show(epsilon)} "
            + (
                f"the two clouds are {gap:.1f} standard deviations apart."
                if np.isfinite(gap)
                else f"{PLAYING}."
            )
            for epsilon, gap in zip(attack.epsilons, apart, strict=True)
        ),
        x=Axis("the attacker's statistic (standard deviations of the noise)", (-REACH, REACH)),
        y=Axis("another direction", (-REACH, REACH)),
        layers=tuple(
            Points(along[:, k], across[:, k], colour=k, opacity=0.5, name=name)
            for k, name in enumerate((other, who))
        ),
        height=HEIGHT,
    )


def _curve(attack: Attack) -> Panel:
    percent = 100.0 * attack.alarms
    at = int(np.searchsorted(attack.alarms, USUAL))
    layers: list[Layer] = [Curve(percent, percent, colour=5, label="blind guess")]
    if np.isfinite(attack.ceiling).any():
        layers.append(Curve(percent, 100.0 * attack.ceiling, colour=0, label="proved ceiling"))
    named = tuple("measured" if played else "" for played in attack.played)
    low, high = (100.0 * edge for edge in attack.band)
    layers.append(Curve(percent, 100.0 * attack.hits, low, high, colour=1, label=named, bold=True))
    return Panel(
        id="hits",
        title="Hits against false alarms",
        subtitle="band: 95% confidence",
        alt=tuple(
            f"At epsilon {show(epsilon)}, with {USUAL:.0%} false alarms: "
            + (f"the attacker hits {hit:.0%}; " if np.isfinite(hit) else f"{PLAYING}; ")
            + (
                f"no attacker hits more than {show_bound(100.0 * most)}%."
                if np.isfinite(most)
                else "no upper bound is proved."
            )
            for epsilon, hit, most in zip(
                attack.epsilons, attack.hits[:, at], attack.ceiling[:, at], strict=True
            )
        ),
        x=Axis("false alarms (%)", (0.0, 100.0)),
        y=Axis("hits (%)", (0.0, 100.0)),
        layers=tuple(layers),
        height=HEIGHT,
    )


def _ruler(attack: Attack) -> Panel:
    """An attack shows at least, we can prove at most, the paper says."""
    proved = [np.nan if g.epsilon is None else g.epsilon for g in attack.guarantees]
    claims = [np.nan if g.claim is None else g.claim.epsilon for g in attack.guarantees]
    values = np.column_stack([attack.shown, proved, claims])
    names = ["An attack shows at least", "We can prove at most", "The paper says"]
    if not np.isfinite(values[:, 2]).any():
        values, names = values[:, :2], names[:2]
    texts = (_shown, _proved, _claimed)
    labels = tuple(tuple(texts[k](float(v)) for k, v in enumerate(line)) for line in values)
    return Panel(
        id="ruler",
        title="Bounds on the true ε",
        subtitle="an attack can refute a guarantee but never prove one (95% confidence)",
        alt=tuple(
            f"At epsilon {show(epsilon)}: "
            + "; ".join(f"{name} {label}" for name, label in zip(names, line, strict=True))
            + "."
            for epsilon, line in zip(attack.epsilons, labels, strict=True)
        ),
        x=Axis("ε", (0.0, 1.0)),
        y=Axis("who says", (0.0, 1.0)),
        layers=(Bars(values, names=tuple(names), labels=labels, colours=(1, 0, 3)[: len(names)]),),
        width="full",
        height=RULER,
        bare=True,
    )


def _shown(value: float) -> str:
    if not np.isfinite(value):
        return f"{PLAYING}…"
    return show_most(value) if value > 0.0 else "nothing yet"


def _proved(value: float) -> str:
    return show_bound(value) if np.isfinite(value) else "nothing"


def _claimed(value: float) -> str:
    return show_bound(value) if np.isfinite(value) else "–"


def exhibit_scene(shown: Exhibit) -> Scene:
    """What leaves either of two neighbouring tables, as published and corrected."""
    panels = (
        _histograms("published", "As published", shown.published_picture),
        _histograms("corrected", "Corrected", shown.corrected_picture),
    )
    return Scene(steps=(0.0,), step_labels=("",), panels=panels)


def _histograms(name: str, title: str, picture: Picture) -> Panel:
    both = np.concatenate([picture.first, picture.second])
    low, high = np.quantile(both[np.isfinite(both)], [0.002, 0.998])
    edges = np.linspace(low, max(high, low + 1e-9), BINS + 1)
    layers, top = [], 0.0
    for colour, (label, cloud) in enumerate(
        (("first table", picture.first), ("second table", picture.second))
    ):
        share = 100.0 * np.histogram(np.clip(cloud, edges[0], edges[-1]), edges)[0] / len(cloud)
        top = max(top, float(share.max()))
        layers.append(
            Curve(np.repeat(edges, 2)[1:-1], np.repeat(share, 2), colour=colour, label=label)
        )
    return Panel(
        id=name,
        title=title,
        subtitle="",
        alt=f"{title}: {picture.axis} under two neighbouring tables.",
        x=Axis(picture.axis, (float(edges[0]), float(edges[-1]))),
        y=Axis("releases (%)", (0.0, 1.1 * top)),
        layers=tuple(layers),
        height=HEIGHT - 60,
    )
