"""Bundled tables that need no file, or would need a large one: drawn when asked for, the same every
time.

The schema is there without drawing a row, in the catalogue or, where it has a column for each pixel
or component, here; a fixed seed gives the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcore.arrays import Array
from dpcore.datasets.columnar import schema_of_bytes
from dpcore.datasets.faces import faces_like
from dpcore.datasets.generators import covariance_2d, gaussian_mixture, stroke_like
from dpcore.datasets.gradient_models import (
    incomplete_regression,
    symmetric_mixture,
    two_regressions,
)
from dpcore.datasets.heavy_tails import student
from dpcore.datasets.places import check_ins
from dpcore.schema import Column, Image, Schema

if TYPE_CHECKING:
    import pandas as pd

FACE = Image(32, 32)
CHECK_INS = 1_256_384  # as many as in Figure 4 of Park et al. 2017
PATIENTS, COMPONENTS = 50_000, 100
RADIUS = 5.0  # of the ball before it is scaled to 1; the farthest row lies at 4.6
CROWD = 104  # people about the rare person, in two clouds
CROWD_WEIGHTS = (0.55, 0.45)
CROWD_MEANS = ((29.0, 38.0), (52.0, 74.0))
CROWD_COVARIANCES = (covariance_2d(4.5, 8.0, 0.35), covariance_2d(6.0, 10.0, -0.25))
RARE_PERSON = (91.0, 176.0)
FAR, AROUND = 50, (4.0, 6.0)  # people who live as the rare person does, and how much they differ
MISSING = 1 / 3  # share of the answers
VOTERS = (  # of each party: its share, then mean and deviation of age and of income, correlation
    (0.30, (36, 34), (8, 9), 0.55),
    (0.25, (54, 56), (11, 9), -0.5),
    (0.20, (66, 34), (8, 9), 0.3),
    (0.15, (40, 62), (8, 10), 0.6),
    (0.10, (70, 68), (7, 8), -0.4),
)
WARDS = {"surgery": (0.45, -0.3), "heart": (0.33, 0.5), "lungs": (0.22, 1.1)}  # share, log odds
QUESTIONS = {  # chance of a yes among students, families, and the retired
    "has a car": (0.25, 0.92, 0.70),
    "takes the train": (0.80, 0.35, 0.30),
    "cycles to work": (0.60, 0.25, 0.02),
    "works from home": (0.20, 0.45, 0.03),
    "has children at home": (0.04, 0.85, 0.05),
    "lives in a city": (0.85, 0.40, 0.45),
    "flies every year": (0.65, 0.45, 0.25),
    "owns a home": (0.05, 0.60, 0.75),
    "has a garden": (0.10, 0.65, 0.60),
    "reads a newspaper": (0.15, 0.30, 0.80),
}
HOUSEHOLDS = (0.3, 0.45, 0.25)  # shares of the three
CARE = {  # mean in a year of the well, of those with a long illness, of the injured
    "visits": (2.0, 12.0, 5.0),
    "phone calls": (1.0, 8.0, 2.0),
    "prescriptions": (1.5, 18.0, 3.0),
    "nights in hospital": (0.1, 3.0, 7.0),
    "X-rays": (0.3, 1.0, 4.0),
}
PATIENT_GROUPS = (0.6, 0.25, 0.15)
USED, MISTAKEN = 0.35, 0.05  # how often a room is used; windows that are otherwise


def _people(schema: Schema) -> pd.DataFrame:
    """The crowd about the rare person, fifty times as large, and fifty people in that place."""
    rng = np.random.default_rng(5_250)
    covariances = np.array(CROWD_COVARIANCES)
    crowd, far = 50 * CROWD, rng.standard_normal((FAR, len(AROUND)))
    rows, _ = gaussian_mixture(crowd, CROWD_WEIGHTS, CROWD_MEANS, covariances, rng)
    rows = np.vstack([rows, RARE_PERSON + far * AROUND])
    return _inside(schema, rows.round(1))


def _camps(schema: Schema) -> pd.DataFrame:
    """People who like cities and crowds, and as many who dislike both."""
    rows = symmetric_mixture(400, [4.5, 2.5], 2.0, np.random.default_rng(400))
    return _inside(schema, rows)


def _doses(schema: Schema) -> pd.DataFrame:
    """A drug that raises the pressure of some by as much as it lowers that of others."""
    rows, change = two_regressions(260, [10.0], 4.5, np.random.default_rng(401))
    return _inside(schema, np.column_stack([rows, change]))


def _answers(schema: Schema) -> pd.DataFrame:
    """A survey with gaps, and a score that depends on all answers."""
    rng = np.random.default_rng(2_001)
    rows, score = incomplete_regression(2_000, [6.0, -4.0, 3.0, -2.0], 5.0, MISSING, rng)
    return _inside(schema, np.column_stack([rows, score]))


def _votes(schema: Schema) -> pd.DataFrame:
    """Voters whose age and income say something about their party, and not everything."""
    rng, parties = np.random.default_rng(500), schema.column("party").categories
    share, middle, spread, together = map(np.array, zip(*VOTERS, strict=True))
    party = rng.choice(len(parties), 2_000, p=share)
    rows = rng.standard_normal((2_000, 2))
    own = together[party]
    rows[:, 1] = own * rows[:, 0] + np.sqrt(1.0 - own**2) * rows[:, 1]
    frame = _inside(schema, (middle[party] + spread[party] * rows).round(1))
    frame["party"] = np.array(parties)[party]
    return frame


def _stays(schema: Schema) -> pd.DataFrame:
    """Patients of three wards; whether they come back depends on all columns."""
    rng, count = np.random.default_rng(2_002), 2_000
    age = np.clip(rng.normal(61.0, 15.0, count), 18.0, 100.0).round()
    stay = (rng.gamma(2.2, 2.4, count) + 1.0).round()
    earlier = rng.poisson(1.1 + 0.02 * np.maximum(age - 50.0, 0.0)).astype(float)
    pressure = rng.normal(118.0 + 0.3 * (age - 40.0), 16.0).round()
    shares, moves = map(np.array, zip(*WARDS.values(), strict=True))
    ward = rng.choice(len(WARDS), count, p=shares)
    frame = _inside(schema, np.column_stack([pressure, age, stay, earlier]))
    odds = moves[ward] - 2.2
    for name, slope, usual in (
        ("age", 0.035, 60.0),
        ("stay", 0.16, 6.0),
        ("earlier visits", 0.55, 1.5),
        ("pressure", -0.012, 125.0),
    ):
        odds = odds + slope * (frame[name].to_numpy() - usual)
    back = rng.random(count) < 1.0 / (1.0 + np.exp(-odds))
    frame["ward"] = np.array(list(WARDS))[ward]
    frame["comes back"] = np.where(back, "yes", "no")
    return frame


def _households(schema: Schema) -> pd.DataFrame:
    """Answers of three kinds of households, each question answered on its own."""
    rng = np.random.default_rng(4_010)
    chances = np.array(list(QUESTIONS.values())).T
    group = rng.choice(len(HOUSEHOLDS), 4_000, p=HOUSEHOLDS)
    answers = (rng.random((len(group), len(QUESTIONS))) < chances[group]).astype(int)
    return _table(schema, answers)


def _care(schema: Schema) -> pd.DataFrame:
    """A year's events of three kinds of patients, each kind of event on its own."""
    rng = np.random.default_rng(4_005)
    most = [column.upper for column in schema.columns]
    rates = np.array(list(CARE.values())).T
    group = rng.choice(len(PATIENT_GROUPS), 4_000, p=PATIENT_GROUPS)
    counts = np.minimum(rng.poisson(rates[group]), np.array(most, dtype=int))
    return _table(schema, counts)


def _gains(schema: Schema) -> pd.DataFrame:
    """Gains with heavy tails: Student t of 3 degrees of freedom, about 500."""
    tail = student(3.0).drawn(np.random.default_rng(4_006), 400)
    return _inside(schema, (500.0 + 2_000.0 * tail)[:, None])


def _windows(schema: Schema) -> pd.DataFrame:
    """Windows of houses with four rooms of four windows each; a used room is lit."""
    rng = np.random.default_rng(20_000)
    used = rng.random((20_000, 2, 2)) < USED
    lit = np.repeat(np.repeat(used, 2, axis=1), 2, axis=2).reshape(len(used), -1)
    lit ^= rng.random(lit.shape) < MISTAKEN
    return _table(schema, lit.astype(int))


def _table(schema: Schema, rows: Array) -> pd.DataFrame:
    """Rows ``(n, d)`` as the schema's features."""
    import pandas as pd

    return pd.DataFrame(rows, columns=list(schema.features))


def _inside(schema: Schema, rows: Array) -> pd.DataFrame:
    """Rows ``(n, d)`` to two decimals, clipped to the bounds of the schema's first d columns."""
    import pandas as pd

    columns = schema.columns[: rows.shape[1]]
    low, high = (np.array([getattr(c, end) for c in columns]) for end in ("lower", "upper"))
    return pd.DataFrame(np.clip(rows.round(2), low, high), columns=[c.name for c in columns])


def _faces(schema: Schema) -> pd.DataFrame:
    """Simulated faces in grey levels, which differ in ten ways."""
    rows, _ = faces_like(2_000, FACE.height, rng=np.random.default_rng(2_000))
    return _table(schema, rows)


def _patients(schema: Schema) -> pd.DataFrame:
    """Principal components of simulated patients in the unit ball, and the group of each.

    Only the shape of the Stroke data of Park, Foulds, Chaudhuri and Welling, DP-EM (AISTATS 2017),
    section 8, is imitated: they are not public.
    """
    rng = np.random.default_rng(50_000)
    rows, group, _ = stroke_like(PATIENTS, COMPONENTS, decay=0.66, between=0.2, rng=rng)
    reach = np.linalg.norm(rows, axis=1, keepdims=True) * (1 + 1e-12)  # no rounding leads outside
    frame = _table(schema, rows / np.maximum(RADIUS, reach))
    frame["group"] = group + 1
    return frame


def _places(schema: Schema) -> pd.DataFrame:
    """Simulated check-ins, to a thousandth of a degree, each of another person."""
    points, _ = check_ins(CHECK_INS, np.random.default_rng(CHECK_INS))
    return _table(schema, points.round(3))


def drawn_schema(name: str, sections: Mapping[str, Any], title: str) -> Schema:
    """The schema of a table that is drawn. sections: those of its schema file; empty for tables
    with a column for each pixel or component."""
    if name in WIDE:
        return replace(WIDE[name](), title=title)
    return replace(Schema.of_sections(sections), title=title)


def _components() -> Schema:
    names = [f"component_{i + 1}" for i in range(COMPONENTS)]
    ball = Schema.ball_of(names, None, 1, unit="patient")
    return replace(ball, columns=(*ball.columns, Column("group", role="ignore")))


WIDE: dict[str, Callable[[], Schema]] = {
    "faces_like": lambda: schema_of_bytes(FACE),
    "stroke_like": _components,
}
ROWS: dict[str, Callable[[Schema], pd.DataFrame]] = {
    "faces_like": _faces,
    "rare_people": _people,
    "two_clouds": _camps,
    "two_lines": _doses,
    "missing_answers": _answers,
    "five_parties": _votes,
    "who_comes_back": _stays,
    "gains_and_losses": _gains,
    "lit_windows": _windows,
    "households": _households,
    "a_year_of_care": _care,
    "million_places": _places,
    "stroke_like": _patients,
}
