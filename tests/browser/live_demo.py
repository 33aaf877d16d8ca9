"""A page with made-up numbers for the browser tests of the live component (no model, no data)."""

from __future__ import annotations

from dataclasses import replace
from time import sleep

import numpy as np
import streamlit as st

from app.live import live
from dpcore.figures.density import Density, levels_of
from dpcore.figures.heatmap import Heat
from dpcore.figures.layers import Cells
from dpcore.figures.marginals import Marginals
from dpcore.figures.scene import (
    Axis,
    Cursor,
    Curve,
    Ellipses,
    Mark,
    Panel,
    Points,
    Ring,
    Rule,
    Scene,
    Spots,
)

STEPS, DRAWS = 53, 13
CENTRES = np.array([[32.0, 18.0], [58.0, 48.0], [86.0, 25.0]])
COVARIANCES = np.array([[60.0, 20.0, 30.0], [70.0, -25.0, 45.0], [40.0, 5.0, 60.0]])
AGE, VISITS = Axis("age (years)", (5.0, 112.0)), Axis("visits per year", (-4.0, 72.0))
METHODS = (("exact", 1.0), ("basic", 3.3), ("zCDP", 1.3), ("advanced", 6.8), ("moments", 1.4))


def groups(noise: np.ndarray, epsilon: np.ndarray) -> np.ndarray:
    """Six numbers a group, (S, draws, 3, 6), further from the truth where epsilon is small."""
    exact = np.concatenate([CENTRES, COVARIANCES, np.full((3, 1), 1 / 3)], axis=1)
    params = exact + noise * (2.2 / epsilon**0.6)[:, None, None, None]
    wide = 1 + 0.5 / epsilon[:, None, None]
    for k in (2, 4):
        params[..., k] = np.maximum(np.abs(params[..., k]), 15) * wide
    most = 0.8 * np.sqrt(params[..., 2] * params[..., 4])
    params[..., 3] = np.clip(params[..., 3], -most, most)
    return params


def more(epsilon: np.ndarray, fits: np.ndarray) -> tuple[Panel, ...]:
    """Centres with moving borders and ghosts, ten moving images beside ten still ones, and the fits
    as a density, column by column and in numbers."""
    rng = np.random.default_rng(7)
    steps = len(epsilon)
    far = 1 / epsilon[:, None, None]
    truth = rng.uniform([20, 5], [100, 60], (10, 2))
    found = truth + far * rng.normal(size=(1, 10, 2))
    ghosts = truth + far[..., None] * rng.normal(size=(1, 12, 10, 2))
    corners = rng.uniform([5, -4], [112, 72], (1, 75, 2)) + far
    corners[:, 2::3] = np.nan
    names = tuple(f"centre {k + 1}" for k in range(10))
    clouds = [Points(ghosts[:, :, k, 0], ghosts[:, :, k, 1], colour=k % 6) for k in range(10)]
    centres = Panel(
        "centres",
        "Centres",
        "every kind of layer that moves",
        "Ten centres.",
        AGE,
        VISITS,
        (
            *clouds,
            Spots([40.0, 42.0, 90.0], [30.0, 30.5, 50.0], PLACES, labels=PLACES, colours=()),
            Curve(corners[..., 0], corners[..., 1], colour=None),
            Spots(found[..., 0], found[..., 1], names, labels=names),
        ),
    )
    exact = np.linspace(-1, 1, 16)[:, None] * np.linspace(0.1, 1, 10)[:, None, None] * np.ones(16)
    private = exact + (0.3 * far)[..., None] * rng.normal(size=(1, 10, 16, 16))
    images = tuple(f"factor {k + 1}" for k in range(10))
    notes = tuple(tuple(f"{k} at {value:.3g}" for k in range(10)) for value in epsilon)
    pixels = Axis("column", (0, 1)), Axis("row", (0, 1))
    heat = Panel(
        "heat",
        "Images",
        "",
        "Ten images.",
        *pixels,
        (Heat(private, 1.0, "loading", images, notes, across=5),),
        bare=True,
    )
    table = Panel(
        "cells",
        "Two columns",
        "",
        "Four cells.",
        *pixels,
        (
            Heat(
                [[[[0.5], [-1.0]], [[0.0], [1.0]]]], 1.0, "loading", ("a", "b"), rows=("up", "down")
            ),
        ),
        bare=True,
    )
    assert private.shape == (steps, 10, 16, 16)
    bold, names = fits[:, :1], ("one", "two", "three")
    levels = levels_of(fits[-1, 0], AGE.range, VISITS.range)
    density = Panel(
        "density", "Density", "", "One density.", AGE, VISITS, (Density(bold, levels, names),)
    )
    spread = np.sqrt(fits[..., [2, 4]])
    ranges = [AGE.range, VISITS.range]
    columns = Panel(
        "marginals",
        "Marginals",
        "",
        "Two columns.",
        *pixels,
        (
            Marginals(
                fits[..., 5],
                fits[..., :2],
                spread,
                ranges,
                (0.03, 0.05),
                (AGE.label, VISITS.label),
                rng.random((2, 24)) * 0.03,
            ),
        ),
        bare=True,
    )
    texts = tuple(tuple(f"{number:.3g}" for number in one[0].T.ravel()[:6]) for one in fits)
    numbers = Panel(
        "numbers",
        "Numbers",
        "",
        "Six numbers.",
        *pixels,
        (Cells(names, ("mean age", "mean visits"), texts),),
        bare=True,
    )
    return centres, heat, table, density, columns, numbers


PLACES = ("Here", "Quite near", "Far away")
MARKS = ((0.3, "nothing before"), (0.9, "first"), (0.95, "second"), (1.0, "third"), (9.5, "last"))


def demo(seed: int, current: int, exact_value: float | None, everything: bool) -> Scene:
    rng = np.random.default_rng(seed)
    epsilon = np.geomspace(0.1, 10.0, STEPS)
    positions = tuple(range(STEPS))
    if exact_value is not None:
        epsilon, current = np.append(epsilon, exact_value), STEPS
    labels = tuple(f"{value:.3g}" for value in epsilon)
    noise = rng.normal(size=(1, DRAWS, 3, 6)) * [2, 2, 5, 2, 5, 0]
    fits = groups(noise, epsilon)
    plain = groups(noise[:, :1] * 0, np.array([1e6]))
    rows = [
        rng.multivariate_normal(m, [[c[0], c[1]], [c[1], c[2]]], 167)
        for m, c in zip(CENTRES, COVARIANCES, strict=True)
    ]
    rows = np.concatenate(rows)[:500]
    grid = np.geomspace(0.1, 10.0, STEPS)

    def utility(at: np.ndarray) -> np.ndarray:
        return 1 / (1 + (0.42 / at) ** 1.9)

    curves = [
        Curve(
            grid,
            utility(grid / factor),
            lo=utility(grid / 1.2) - 0.01 if not k else None,
            hi=np.minimum(utility(grid * 1.2), 1.0) if not k else None,
            colour=k,
            label=tuple(f"{name}: ε = {value * factor:.2g}" for value in epsilon),
            bold=not k,
            name=name,
        )
        for k, (name, factor) in enumerate(METHODS)
    ]
    return Scene(
        steps=tuple(epsilon),
        step_labels=labels,
        positions=positions,
        step=current,
        panels=(
            Panel(
                "exact",
                "Exact fit",
                "sees everyone",
                "Three groups.",
                AGE,
                VISITS,
                (
                    Points(rows[:, 0], rows[:, 1]),
                    Ellipses(plain, centre=False),
                    Ring(58, 32, 48, 34, "rows are clipped at this ring", "clip"),
                ),
                link="map",
            ),
            Panel(
                "private",
                "Private fit",
                "hides each person · faint: 12 other noise draws",
                tuple(f"Three groups at ε = {label}." for label in labels),
                AGE,
                VISITS,
                (
                    Ellipses(fits[:, 1:], levels=(2.0,), style="ghost", fill=False, centre=False),
                    Ellipses(fits[:, :1]),
                ),
                link="map",
            ),
            Panel(
                "curve",
                "What each ε buys",
                "same noise, same picture; only the counting differs",
                tuple(f"Utility {utility(value):.2f} at ε = {value:.3g}." for value in epsilon),
                Axis("ε (δ = 10⁻⁵, replacing one person)", (0.1, 10.0), "log"),
                Axis("share of the exact fit", (-0.03, 1.08)),
                (
                    *curves,
                    Rule(1.03, "exact fit (converged)"),
                    Rule(0.18, "one Gaussian (the baseline to beat)", side="right"),
                    *(Mark(x, label) for x, label in MARKS if everything),
                    Cursor(epsilon, utility(epsilon)),
                ),
                width="full",
            ),
            *(more(epsilon, fits) if everything else ()),
        ),
        live_text={
            "sentence": tuple(f"At **ε = {label}** <i>nothing</i> is lost." for label in labels)
        },
    )


st.set_page_config(layout="wide")
st.html(
    "<style>.stMainBlockContainer{padding:56px 40px 16px;max-width:none}"
    "[data-testid=stHtml] p{margin:0;font-size:15px}</style>"
)
position = st.select_slider(
    "ε",
    list(range(STEPS)),
    26,
    format_func=lambda p: f"{0.1 * 100 ** (p / 52):.3g}",
    key="eps ilon",
)
st.html('<p data-live="sentence"></p>')
left, middle, right, last = st.columns(4)
seed = left.selectbox("seed", [0, 1, 2])
exact = middle.checkbox("1.07 exactly")
late = last.empty()
everything = "everything" in st.query_params
scene = demo(seed, position, 1.07 if exact else None, everything)
above, below = st.container(), st.container()


def second() -> None:
    """Another picture, with a text of the same name."""
    text = {"sentence": tuple(f"Said twice at {step}." for step in range(STEPS))}
    with below:
        st.select_slider("other", list(range(STEPS)), 26, key="other")
        live({"other": replace(scene, live_text=text)}, key="twice")


twice = st.query_params.get("twice")
if twice == "below":
    second()
    sleep(2)  # so that a browser draws it first
with above:
    result = live({"eps ilon": scene}, key="demo")
if twice == "above":
    second()
if right.button("run again"):
    st.html('<p data-live="sentence" id="late"></p>')
late.html(f'<p id="python">python:{position} ring:{result.ring}</p>')
