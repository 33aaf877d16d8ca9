"""Bundled tables that need no file, or would need a large one: drawn when asked for, the same every
time.

The schema is there without drawing a row; a fixed seed gives the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpcore.datasets.faces import WHITE, faces_like
from dpcore.datasets.generators import gaussian_mixture, stroke_like
from dpcore.datasets.gradient_models import (
    incomplete_regression,
    symmetric_mixture,
    two_regressions,
)
from dpcore.datasets.heavy_tails import student
from dpcore.datasets.places import COLUMNS, check_ins
from dpcore.schema import Column, Image, Schema

if TYPE_CHECKING:
    import pandas as pd

FACES = 2_000
FACE = Image(32, 32)
CHECK_INS = 1_256_384  # as many as in Figure 4 of Park et al. 2017
PATIENTS, COMPONENTS = 50_000, 100
RADIUS = 5.0  # of the ball before it is scaled to 1; the farthest row lies at 4.6


@dataclass(frozen=True)
class Drawn:
    """A public schema, and how to draw the rows that follow it."""

    schema: Schema
    rows: Callable[[], pd.DataFrame]


PEOPLE = (
    Column("age", lower=0, upper=110, unit="years"),
    Column("income", lower=0, upper=200, unit="thousand per year"),
)
FAR, AROUND = 50, (4.0, 6.0)  # people who live as the rare person does, and how much they differ
CAMPS = (
    Column("cities", lower=-10, upper=10, unit="points"),
    Column("crowds", lower=-10, upper=10, unit="points"),
)
DOSES = (
    Column("dose", lower=-4, upper=4, unit="standard deviations from the average"),
    Column("pressure", role="target", lower=-60, upper=60, unit="change in mmHg"),
)
ANSWERS = (
    *(
        Column(name, lower=-4, upper=4, unit="standard deviation", missing="role")
        for name in ("pay", "hours", "team", "travel")
    ),
    Column("content", role="target", lower=-50, upper=50, unit="points about the average"),
)
GAINS = (Column("gain", lower=-100_000, upper=100_000, unit="euros"),)
MISSING = 1 / 3  # share of the answers
PARTIES = ("Lake", "Hill", "Coast", "Woods", "Town")
VOTES = (
    Column("age", lower=18, upper=98, unit="years"),
    Column("income", lower=0, upper=120, unit="1,000 a year"),
    Column("party", role="label", type="category", categories=PARTIES),
)
VOTERS = (  # of each party: its share, then mean and deviation of age and of income, correlation
    (0.30, (36, 34), (8, 9), 0.55),
    (0.25, (54, 56), (11, 9), -0.5),
    (0.20, (66, 34), (8, 9), 0.3),
    (0.15, (40, 62), (8, 10), 0.6),
    (0.10, (70, 68), (7, 8), -0.4),
)
STAYS = (
    Column("pressure", lower=80, upper=220, unit="mmHg"),
    Column("age", lower=18, upper=100, unit="years"),
    Column("stay", lower=1, upper=30, unit="days"),
    Column("earlier visits", lower=0, upper=10, unit="in two years"),
    Column("ward", type="category", categories=("surgery", "heart", "lungs")),
    Column("comes back", role="target", type="category", categories=("no", "yes")),
)
WARDS = {"surgery": (0.45, -0.3), "heart": (0.33, 0.5), "lungs": (0.22, 1.1)}  # share, log odds


QUESTIONS = (  # chance of a yes among students, families, and the retired
    ("has a car", 0.25, 0.92, 0.70),
    ("takes the train", 0.80, 0.35, 0.30),
    ("cycles to work", 0.60, 0.25, 0.02),
    ("works from home", 0.20, 0.45, 0.03),
    ("has children at home", 0.04, 0.85, 0.05),
    ("lives in a city", 0.85, 0.40, 0.45),
    ("flies every year", 0.65, 0.45, 0.25),
    ("owns a home", 0.05, 0.60, 0.75),
    ("has a garden", 0.10, 0.65, 0.60),
    ("reads a newspaper", 0.15, 0.30, 0.80),
)
HOUSEHOLDS = (0.3, 0.45, 0.25)  # shares of the three
CARE = (  # most in a year; mean of the well, of those with a long illness, of the injured
    ("visits", 30, 2.0, 12.0, 5.0),
    ("phone calls", 30, 1.0, 8.0, 2.0),
    ("prescriptions", 40, 1.5, 18.0, 3.0),
    ("nights in hospital", 30, 0.1, 3.0, 7.0),
    ("X-rays", 15, 0.3, 1.0, 4.0),
)
PATIENT_GROUPS = (0.6, 0.25, 0.15)
HOUSES, WINDOWS = 20_000, Image(4, 4)
USED, MISTAKEN = 0.35, 0.05  # how often a room is used; windows that are otherwise


def _people() -> pd.DataFrame:
    """The crowd about the rare person, fifty times as large, and fifty people in that place."""
    from dpcore.datasets.make import rare_person

    rng = np.random.default_rng(5_250)
    covariances = np.array(rare_person.COVARIANCES)
    crowd, far = 50 * rare_person.CROWD, rng.standard_normal((FAR, len(AROUND)))
    rows, _ = gaussian_mixture(crowd, rare_person.WEIGHTS, rare_person.MEANS, covariances, rng)
    rows = np.vstack([rows, rare_person.RARE_PERSON + far * AROUND])
    return _inside(PEOPLE, rows.round(1))


def _camps() -> pd.DataFrame:
    """People who like cities and crowds, and as many who dislike both."""
    rows = symmetric_mixture(400, [4.5, 2.5], 2.0, np.random.default_rng(400))
    return _inside(CAMPS, rows)


def _doses() -> pd.DataFrame:
    """A drug that raises the pressure of some by as much as it lowers that of others."""
    rows, change = two_regressions(260, [10.0], 4.5, np.random.default_rng(401))
    return _inside(DOSES, np.column_stack([rows, change]))


def _answers() -> pd.DataFrame:
    """A survey with gaps, and a score that depends on all answers."""
    rng = np.random.default_rng(2_001)
    rows, score = incomplete_regression(2_000, [6.0, -4.0, 3.0, -2.0], 5.0, MISSING, rng)
    return _inside(ANSWERS, np.column_stack([rows, score]))


def _votes() -> pd.DataFrame:
    """Voters whose age and income say something about their party, and not everything."""
    rng = np.random.default_rng(500)
    share, middle, spread, together = map(np.array, zip(*VOTERS, strict=True))
    party = rng.choice(len(PARTIES), 2_000, p=share)
    rows = rng.standard_normal((2_000, 2))
    own = together[party]
    rows[:, 1] = own * rows[:, 0] + np.sqrt(1.0 - own**2) * rows[:, 1]
    frame = _inside(VOTES[:2], (middle[party] + spread[party] * rows).round(1))
    frame["party"] = np.array(PARTIES)[party]
    return frame


def _stays() -> pd.DataFrame:
    """Patients of three wards; whether they come back depends on all columns."""
    rng, count = np.random.default_rng(2_002), 2_000
    age = np.clip(rng.normal(61.0, 15.0, count), 18.0, 100.0).round()
    stay = (rng.gamma(2.2, 2.4, count) + 1.0).round()
    earlier = rng.poisson(1.1 + 0.02 * np.maximum(age - 50.0, 0.0)).astype(float)
    pressure = rng.normal(118.0 + 0.3 * (age - 40.0), 16.0).round()
    shares, moves = map(np.array, zip(*WARDS.values(), strict=True))
    ward = rng.choice(len(WARDS), count, p=shares)
    frame = _inside(STAYS[:4], np.column_stack([pressure, age, stay, earlier]))
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


def _households() -> pd.DataFrame:
    """Answers of three kinds of households, each question answered on its own."""
    import pandas as pd

    rng = np.random.default_rng(4_010)
    chances = np.array([row[1:] for row in QUESTIONS]).T
    group = rng.choice(len(HOUSEHOLDS), 4_000, p=HOUSEHOLDS)
    answers = (rng.random((len(group), len(QUESTIONS))) < chances[group]).astype(int)
    return pd.DataFrame(answers, columns=[name for name, *_ in QUESTIONS])


def _care() -> pd.DataFrame:
    """A year's events of three kinds of patients, each kind of event on its own."""
    import pandas as pd

    rng = np.random.default_rng(4_005)
    most, rates = np.array([row[1] for row in CARE]), np.array([row[2:] for row in CARE]).T
    group = rng.choice(len(PATIENT_GROUPS), 4_000, p=PATIENT_GROUPS)
    counts = np.minimum(rng.poisson(rates[group]), most)
    return pd.DataFrame(counts, columns=[name for name, *_ in CARE])


def _gains() -> pd.DataFrame:
    """Gains with heavy tails: Student t of 3 degrees of freedom, about 500."""
    tail = student(3.0).drawn(np.random.default_rng(4_006), 400)
    return _inside(GAINS, (500.0 + 2_000.0 * tail)[:, None])


def _windows() -> pd.DataFrame:
    """Windows of houses with four rooms of four windows each; a used room is lit."""
    import pandas as pd

    rng = np.random.default_rng(20_000)
    used = rng.random((HOUSES, 2, 2)) < USED
    lit = np.repeat(np.repeat(used, 2, axis=1), 2, axis=2).reshape(HOUSES, -1)
    lit ^= rng.random(lit.shape) < MISTAKEN
    return pd.DataFrame(lit.astype(int), columns=list(WINDOWS.names))


def _inside(columns: tuple[Column, ...], rows: NDArray[np.float64]) -> pd.DataFrame:
    """Rows to two decimals, drawn into their bounds."""
    import pandas as pd

    low, high = (np.array([getattr(c, end) for c in columns]) for end in ("lower", "upper"))
    return pd.DataFrame(np.clip(rows.round(2), low, high), columns=[c.name for c in columns])


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


def _places() -> pd.DataFrame:
    """Simulated check-ins, to a thousandth of a degree, each of another person."""
    import pandas as pd

    points, _ = check_ins(CHECK_INS, np.random.default_rng(CHECK_INS))
    return pd.DataFrame(points.round(3), columns=[column.name for column in COLUMNS])


_BALL = Schema.ball_of([f"component_{i + 1}" for i in range(COMPONENTS)], None, 1, unit="patient")

TABLES = {
    "faces_like": Drawn(
        Schema(
            FACE.columns(0, WHITE, unit="grey level"),
            unit="image",
            image=FACE,
            title="Simulated faces",
        ),
        _faces,
    ),
    "rare_people": Drawn(Schema(PEOPLE, unit="person", title="Fifty rare people"), _people),
    "two_clouds": Drawn(Schema(CAMPS, unit="person", title="Two clouds"), _camps),
    "two_lines": Drawn(Schema(DOSES, unit="patient", title="Two lines"), _doses),
    "missing_answers": Drawn(Schema(ANSWERS, unit="person", title="Missing answers"), _answers),
    "five_parties": Drawn(Schema(VOTES, unit="voter", title="Five parties"), _votes),
    "who_comes_back": Drawn(Schema(STAYS, unit="patient", title="Who comes back?"), _stays),
    "gains_and_losses": Drawn(Schema(GAINS, unit="investor", title="Gains and losses"), _gains),
    "lit_windows": Drawn(
        Schema(
            WINDOWS.columns(0, 1, unit="lit"),
            unit="house",
            image=WINDOWS,
            title="Lit windows",
        ),
        _windows,
    ),
    "households": Drawn(
        Schema(
            tuple(Column(name, type="binary") for name, *_ in QUESTIONS),
            unit="household",
            title="Yes or no",
        ),
        _households,
    ),
    "a_year_of_care": Drawn(
        Schema(
            tuple(Column(name, lower=0, upper=most, unit="a year") for name, most, *_ in CARE),
            unit="patient",
            title="A year of care",
        ),
        _care,
    ),
    "million_places": Drawn(Schema(COLUMNS, unit="person", title="A million places"), _places),
    "stroke_like": Drawn(
        replace(
            _BALL,
            columns=(*_BALL.columns, Column("group", role="ignore")),
            title="Like Stroke",
        ),
        _patients,
    ),
}
