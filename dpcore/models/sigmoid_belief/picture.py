"""The portrait of a sigmoid belief network: what each hidden unit switches on, as small images; and
pictures beside what networks give back of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from dpcore.arrays import Array
from dpcore.evaluation.yardstick import mapped
from dpcore.figures import component_images
from dpcore.figures.component_images import aligned, drawing
from dpcore.figures.heatmap import Heat, images_across
from dpcore.figures.model_plot import Drawing, Portrait, Subject
from dpcore.figures.scene import Axis, Panel, Scene
from dpcore.models.sigmoid_belief.mathematics import reconstructed
from dpcore.models.sigmoid_belief.parameters import BeliefParameters
from dpcore.models.sigmoid_belief.scoring import blank
from dpcore.privacy.guarantee import show

SHOWN = 8  # rows that are reconstructed


def draw(subject: Subject) -> Drawing:
    """Weights of the hidden units, exact beside private."""
    truth, private = subject.exact.weights[0], subject.private.weights[:, 0]
    label, names = "weight (change in a pixel's log odds)", subject.public.names
    parts = aligned(truth, private, label, "unit", names, "switches on", own_scale=True)
    alike = np.where(blank(subject.exact)[0], np.nan, parts.likeness)
    return drawing(replace(parts, likeness=alike), subject.image)


def draw_reconstructions(subject: Subject) -> Drawing:
    """Rows that are pictures, as their expected hidden units draw them."""
    public, rows, image = subject.public, subject.rows, subject.image
    if rows is None or image is None or not subject.outlines:  # what is given back tells of rows
        return draw(subject)
    binary = (rows[:SHOWN] > public.center).astype(float)
    bold = mapped(subject.private, lambda array: array[:, 0])
    private = np.full((bold.runs, *binary.shape), np.nan)
    for run in np.flatnonzero(np.isfinite(bold.weights).all(axis=(1, 2))):
        private[run] = reconstructed(binary, bold, int(run))
    exact = reconstructed(binary, subject.exact, 0)
    return component_images.given_back(
        binary, exact, private, image, 1.0, "probability of being on"
    )


def given_back(
    pictures: Array, fits: Mapping[float, BeliefParameters], image: tuple[int, int]
) -> Scene:
    """Pictures beside what networks make of them, a step for each epsilon.

    pictures ``(n, J)``: in own units, of rows that may be shown. fits: by their epsilon; infinite
    without noise. image: height and width, J pixels.
    """
    originals = np.asarray(pictures, dtype=float)
    any_fit = next(iter(fits.values()))
    shown = (originals - any_fit.lower) / (any_fit.upper - any_fit.lower)
    chances = np.stack([fit.given_back(originals) for fit in fits.values()])
    right = np.mean((chances > 0.5) == (shown > 0.5), axis=(1, 2))
    side = Axis("picture", (0.5, len(originals) + 0.5)), Axis("pixel row", (0.0, float(image[0])))

    def panel(name: str, values: Array, captions: tuple[str, ...]) -> Panel:
        names = tuple(f"picture {i + 1}" for i in range(len(originals)))
        tiles = values.reshape(len(values), len(originals), *image)
        across = images_across(len(originals), image)
        heat = Heat(tiles, 1.0, "probability of being on", names, across=across, above=True)
        return Panel(name, name.capitalize(), captions, captions, *side, (heat,), bare=True)

    captions = tuple(f"{share:.0%} of these pixels reconstructed" for share in right)
    return Scene(
        tuple(float(i) for i in range(len(fits))),
        tuple("∞, no noise" if np.isinf(fit) else show(fit) for fit in fits),
        (
            panel("seen", shown[None], (f"{len(originals)} pictures",) * len(fits)),
            panel("reconstructed", chances, captions),
        ),
        step=max((i for i, fit in enumerate(fits) if np.isfinite(fit)), default=0),
    )


PORTRAIT: Portrait = draw
RECONSTRUCTIONS: Portrait = draw_reconstructions
