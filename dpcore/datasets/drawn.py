"""Bundled tables too wide to keep as files: drawn when they are asked for, the same every time.

The schema is there without drawing a row; a fixed seed gives the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from dpcore.datasets.faces import WHITE, faces_like
from dpcore.datasets.generators import stroke_like
from dpcore.schema import Column, Image, Schema

if TYPE_CHECKING:
    import pandas as pd

FACES = 2_000
FACE = Image(32, 32)
PATIENTS, COMPONENTS = 50_000, 100
RADIUS = 5.0  # of the ball before it is scaled to 1; the farthest row lies at 4.6


@dataclass(frozen=True)
class Drawn:
    """A public schema, and how to draw the rows that follow it."""

    schema: Schema
    rows: Callable[[], pd.DataFrame]


def _faces() -> pd.DataFrame:
    """Simulated faces in grey levels, which differ in ten ways."""
    import pandas as pd

    rows, _ = faces_like(FACES, FACE.height, rng=np.random.default_rng(2_000))
    return pd.DataFrame(rows, columns=list(FACE.names))


def _patients() -> pd.DataFrame:
    """Principal components of simulated patients in the unit ball, and the group of each.

    Only the shape of the Stroke data of Park, Foulds, Chaudhuri and Welling, DP-EM (AISTATS 2017),
    section 8, is imitated: they are not public.
    """
    import pandas as pd

    rng = np.random.default_rng(50_000)
    rows, group, _ = stroke_like(PATIENTS, COMPONENTS, decay=0.66, between=0.2, rng=rng)
    reach = np.linalg.norm(rows, axis=1, keepdims=True) * (1 + 1e-12)  # no rounding leads outside
    frame = pd.DataFrame(rows / np.maximum(RADIUS, reach), columns=list(_BALL.features))
    frame["group"] = group + 1
    return frame


_BALL = Schema.ball_of([f"component_{i + 1}" for i in range(COMPONENTS)], None, 1, unit="patient")

TABLES = {
    "faces_like": Drawn(
        Schema(
            FACE.columns(0, WHITE, unit="grey level"),
            unit="image",
            image=FACE,
            title="Simulated faces",
            id="faces-like",
        ),
        _faces,
    ),
    "stroke_like": Drawn(
        replace(
            _BALL,
            columns=(*_BALL.columns, Column("group", role="ignore")),
            title="Like Stroke",
            id="stroke-like",
        ),
        _patients,
    ),
}
