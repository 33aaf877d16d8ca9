"""How often the range of a plan holds on real rows: the table of results-intervals.md.

``python -m tests.studio.plans [MODEL ...]`` prints a line of Markdown for each model and table: the
range that a plan states from public limits and the number of rows, and the median that releases
from the real rows keep, by epsilon. Limits are written down here as one would before seeing rows.
Worlds were tuned on the tables of one half alone (:func:`tuned`).
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from typing import Any
from zlib import crc32

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from support import shared_data

from dpcore.accounting.gaussian import rho_of
from dpcore.arrays import Array
from dpcore.datasets import load
from dpcore.datasets.catalogue import find
from dpcore.declaration import declarations
from dpcore.planning.curves import STOPS_DELTA, kept_shares, release_setting, utility_curve
from dpcore.schema import Column, Schema
from dpcore.wall.table import PrivateTable

Limits = dict[str, tuple[float, float]]

EPSILONS = (0.1, 0.3, 1.0, 3.0)
DRAWS, DRAWS_SLOW = 7, 4
ROUNDED = 0.005  # ranges are stated in whole percent
MOST_ROWS = 8_000


def _array(file: str, name: str) -> Any:
    with np.load(shared_data(file), allow_pickle=False) as arrays:
        return arrays[name]


@cache
def _csv(file: str) -> pd.DataFrame:
    return pd.read_csv(shared_data(file), na_values=["?", "N/A"])


def _some(frame: pd.DataFrame) -> pd.DataFrame:
    """At most so many rows, by a fixed coin."""
    return frame if len(frame) <= MOST_ROWS else frame.sample(MOST_ROWS, random_state=0)


def _numbers(
    frame: pd.DataFrame, limits: Limits, *more: Column
) -> tuple[pd.DataFrame, tuple[Column, ...]]:
    names = [*limits, *(column.name for column in more)]
    columns = tuple(Column(name, lower=a, upper=b) for name, (a, b) in limits.items())
    return _some(frame[names].reset_index(drop=True)), (*columns, *more)


def _matrix(rows: Any, low: float, high: float) -> tuple[pd.DataFrame, tuple[Column, ...]]:
    names = [f"x{i + 1}" for i in range(rows.shape[1])]
    return _numbers(pd.DataFrame(np.asarray(rows, float), columns=names),
                    dict.fromkeys(names, (low, high)))  # fmt: skip


def _answers(rows: Any) -> tuple[pd.DataFrame, tuple[Column, ...]]:
    names = [f"x{i + 1}" for i in range(rows.shape[1])]
    frame = pd.DataFrame(np.asarray(rows, float), columns=names)
    return _some(frame), tuple(Column(name, type="binary") for name in names)


def _outcome(name: str, *choices: str) -> Column:
    return Column(name, role="target", type="category", categories=choices)


def _label(name: str, values: Sequence[Any]) -> Column:
    return Column(name, role="label", type="category", categories=tuple(map(str, values)))


AGE = (0, 110)
ADULT: Limits = {"age": AGE, "education-num": (0, 20), "hours-per-week": (0, 100)}
STROKE: Limits = {"age": AGE, "avg_glucose_level": (40, 400), "bmi": (10, 80)}
BRFSS: Limits = {"BMI": (10, 80), "PhysicalHealth": (0, 30), "MentalHealth": (0, 30),
                 "SleepTime": (0, 24)}  # fmt: skip
CARE: Limits = {
    "time_in_hospital": (0, 30), "num_lab_procedures": (0, 150), "num_procedures": (0, 20),
    "num_medications": (0, 100), "number_outpatient": (0, 50), "number_emergency": (0, 50),
    "number_inpatient": (0, 50), "number_diagnoses": (0, 20),
}  # fmt: skip
HEART: Limits = {"age": AGE, "trestbps": (60, 260), "chol": (50, 600), "thalach": (40, 220),
                 "oldpeak": (0, 10)}  # fmt: skip
CANCER: Limits = {
    "mean radius": (0, 40), "mean texture": (0, 50), "mean perimeter": (0, 250),
    "mean area": (0, 3000), "mean smoothness": (0, 0.3), "mean compactness": (0, 0.5),
    "mean concavity": (0, 0.6), "mean concave points": (0, 0.3), "mean symmetry": (0, 0.5),
    "mean fractal dimension": (0, 0.2),
}  # fmt: skip


def _adult(*more: Column) -> Any:
    frame = _csv("adult.csv.gz").dropna(subset=["marital-status"])
    return _numbers(frame, ADULT, *more)


def _care() -> pd.DataFrame:
    return _csv("diabetes_130us.csv.gz").drop_duplicates("patient_nbr")


def _diabetes(*more: Column) -> Any:
    frame = _care()
    soon = np.where(frame["readmitted"] == "<30", "yes", "no")
    return _numbers(frame.assign(soon=soon, when=frame["readmitted"]), CARE, *more)


def _heart(*more: Column) -> Any:
    frame = _csv("heart_cleveland.csv.gz")
    return _numbers(frame.assign(sick=np.where(frame["num"] > 0, "yes", "no")), HEART, *more)


def _of_others(frame: pd.DataFrame, limits: Limits, name: str) -> Any:
    """One of the columns as the target of the others."""
    others = {column: ends for column, ends in limits.items() if column != name}
    return _numbers(frame, others, _target(name, *limits[name]))


def _target(name: str, low: float, high: float) -> Column:
    return Column(name, role="target", lower=low, upper=high)


def _classes(frame: pd.DataFrame, limits: Limits, name: str) -> Any:
    """A column of few values as the label of the numbers."""
    frame = frame.dropna(subset=[name]).astype({name: str})
    return _numbers(frame, limits, _label(name, sorted(frame[name].unique())))


def _faces() -> Any:
    images = _array("olivetti_faces.npz", "images").astype(float)
    return _matrix(images.reshape(400, 8, 8, 8, 8).mean(axis=(2, 4)).reshape(400, 64), 0, 255)


def _digits() -> Any:
    images = _array("mnist.npz", "test_images").astype(float)
    return _matrix(images.reshape(-1, 7, 4, 7, 4).mean(axis=(2, 4)).reshape(-1, 49), 0, 255)


def _days() -> Any:
    hourly, clean = (_array("swiss_smart_meter.npz", name) for name in ("hourly_wh", "clean"))
    days = hourly[clean.astype(bool)].mean(axis=1)
    return _matrix(days, 0, 5000)


def _cancer() -> Any:
    names = _array("classic_small.npz", "breast_cancer_feature_names").astype(str)
    frame = pd.DataFrame(_array("classic_small.npz", "breast_cancer_X"), columns=list(names))
    diagnosis = np.where(_array("classic_small.npz", "breast_cancer_y") == 1, "benign", "malignant")
    return _numbers(frame.assign(found=diagnosis), CANCER, _outcome("found", "benign", "malignant"))


def _screened(*more: Column) -> Any:
    rows = _array("lifesci.npz", "X").astype(float)
    limits: Limits = {f"x{i + 1}": (-16.25, 16.25) for i in range(10)}
    active = np.where(_array("lifesci.npz", "y") == 1, "yes", "no")
    return _numbers(pd.DataFrame(rows, columns=list(limits)).assign(active=active), limits, *more)


def _census() -> Any:
    rows = _array("ipums_br.npz", "X")
    frame, columns = _answers(rows[:, [j for j in range(52) if rows[:, j].max() == 1]])
    rich = np.where(_array("ipums_br.npz", "y") == 1, "yes", "no")
    return _some(frame.assign(rich=rich[frame.index])), (*columns, _outcome("rich", "no", "yes"))


def _points(file: str, array: str, x: tuple[float, float], y: tuple[float, float],
            scale: float = 1.0) -> Any:  # fmt: skip
    rows = _array(file, array) / scale
    return _numbers(pd.DataFrame(rows, columns=["x", "y"]), {"x": x, "y": y})


REAL = {  # rows and limits
    "lifesci": _screened,
    "lifesci activity": lambda: _screened(_outcome("active", "no", "yes")),
    "gowalla": lambda: _points("gowalla_points.npz", "users_latlon", (-90, 90), (-180, 180)),
    "uber": lambda: _points("uber_nyc_2014.npz", "latlon_e4", (40, 42), (-75, -72), 1e4),
    "old_faithful": lambda: _numbers(
        _csv("old_faithful.csv.gz"), {"eruptions_min": (0, 10), "waiting_min": (0, 120)}
    ),
    "waiting": lambda: _numbers(
        _csv("old_faithful.csv.gz"), {"eruptions_min": (0, 10)}, _target("waiting_min", 0, 120)
    ),
    "s1": lambda: _points("clusters2d.npz", "s1_xy", (0, 1e6), (0, 1e6)),
    "engytime": lambda: _points("clusters2d.npz", "engytime_xy", (-20, 20), (-20, 20)),
    "joensuu": lambda: _points("clusters2d.npz", "mopsi_joensuu_xy", (62, 63), (29, 31)),
    "adult": _adult,
    "adult income": lambda: _adult(_outcome("income", "<=50K", ">50K")),
    "adult families": lambda: _adult(
        _label("marital-status", sorted(_csv("adult.csv.gz")["marital-status"].unique()))
    ),
    "adult hours": lambda: _of_others(_csv("adult.csv.gz"), ADULT, "hours-per-week"),
    "stroke": lambda: _numbers(_csv("stroke_prediction.csv.gz"), STROKE),
    "stroke outcome": lambda: _numbers(
        _csv("stroke_prediction.csv.gz").replace({"stroke": {0: "no", 1: "yes"}}),
        STROKE,
        _outcome("stroke", "no", "yes"),
    ),
    "brfss": lambda: _numbers(_csv("brfss2020_heart.csv.gz"), BRFSS),
    "brfss heart": lambda: _numbers(
        _csv("brfss2020_heart.csv.gz"), BRFSS, _outcome("HeartDisease", "No", "Yes")
    ),
    "brfss days": lambda: _numbers(
        _csv("brfss2020_heart.csv.gz"),
        {name: BRFSS[name] for name in ("PhysicalHealth", "MentalHealth", "SleepTime")},
    ),
    "diabetes": _diabetes,
    "diabetes return": lambda: _diabetes(_outcome("soon", "no", "yes")),
    "diabetes when": lambda: _diabetes(_label("when", ("NO", ">30", "<30"))),
    "heart": _heart,
    "heart outcome": lambda: _heart(_outcome("sick", "no", "yes")),
    "heart rate": lambda: _of_others(_csv("heart_cleveland.csv.gz"), HEART, "thalach"),
    "heart pressure": lambda: _of_others(_csv("heart_cleveland.csv.gz"), HEART, "trestbps"),
    "heart kinds": lambda: _classes(_csv("heart_cleveland.csv.gz"), HEART, "num"),
    "brfss BMI": lambda: _of_others(_csv("brfss2020_heart.csv.gz"), BRFSS, "BMI"),
    "brfss age": lambda: _classes(_csv("brfss2020_heart.csv.gz"), BRFSS, "AgeCategory"),
    "brfss health": lambda: _classes(_csv("brfss2020_heart.csv.gz"), BRFSS, "GenHealth"),
    "stroke glucose": lambda: _of_others(
        _csv("stroke_prediction.csv.gz"), STROKE, "avg_glucose_level"
    ),
    "stroke bmi": lambda: _of_others(_csv("stroke_prediction.csv.gz").dropna(), STROKE, "bmi"),
    "stroke work": lambda: _classes(_csv("stroke_prediction.csv.gz"), STROKE, "work_type"),
    "stroke smoking": lambda: _classes(_csv("stroke_prediction.csv.gz"), STROKE, "smoking_status"),
    "diabetes medications": lambda: _of_others(_care(), CARE, "num_medications"),
    "diabetes stay": lambda: _of_others(_care(), CARE, "time_in_hospital"),
    "diabetes lab": lambda: _of_others(_care(), CARE, "num_lab_procedures"),
    "diabetes age": lambda: _classes(_care(), CARE, "age"),
    "cancer": _cancer,
    "ipums": _census,
    "nltcs": lambda: _answers(_array("nltcs.npz", "X")),
    "acs": lambda: _answers(_array("acs.npz", "X")),
    "olivetti": _faces,
    "mnist": _digits,
    "swiss": _days,
}
GROUPS: dict[str, dict[str, int]] = {  # tables of each model, and parts to look for
    "gmm": {
        "lifesci": 3, "gowalla": 3, "uber": 3, "old_faithful": 2, "adult": 3, "stroke": 3,
        "brfss": 3, "diabetes": 3, "heart": 2, "engytime": 2, "joensuu": 3, "s1": 5,
        "bundled:iris": 3, "bundled:wine": 3, "bundled:three_groups": 3, "bundled:places": 4,
        "bundled:stewards_table": 3, "bundled:life_science_like": 3,
    },
    "kmeans": {
        "lifesci": 3, "gowalla": 5, "uber": 5, "old_faithful": 2, "adult": 3, "stroke": 3,
        "brfss": 3, "diabetes": 3, "heart": 3, "joensuu": 4, "s1": 15, "swiss": 3,
        "bundled:iris": 3, "bundled:wine": 3, "bundled:three_groups": 3, "bundled:places": 6,
        "bundled:stewards_table": 3, "bundled:life_science_like": 3,
    },
    "fa": {
        "olivetti": 5, "mnist": 5, "swiss": 3, "lifesci": 3, "nltcs": 3, "diabetes": 2,
        "adult": 1, "bundled:digits": 5, "bundled:wine": 2,
    },
    "covariance": {
        "adult": 1, "stroke": 1, "brfss": 1, "diabetes": 1, "heart": 1, "cancer": 1, "lifesci": 1,
        "swiss": 1, "nltcs": 1, "old_faithful": 1, "gowalla": 1, "olivetti": 1, "mnist": 1,
        "bundled:iris": 1, "bundled:wine": 1, "bundled:life_science_like": 1,
    },
    "gmm-release": {
        "adult families": 1, "diabetes when": 1, "bundled:five_parties": 1, "bundled:iris": 1,
        "bundled:wine": 1, "heart kinds": 1, "brfss age": 1, "brfss health": 1, "stroke work": 1,
        "stroke smoking": 1, "diabetes age": 1,
    },
    "logistic": {
        "adult income": 1, "stroke outcome": 1, "brfss heart": 1, "diabetes return": 1,
        "heart outcome": 1, "cancer": 1, "ipums": 1, "lifesci activity": 1,
        "bundled:who_comes_back": 1,
    },
    "mean": {
        "adult": 1, "stroke": 1, "brfss": 1, "diabetes": 1, "heart": 1, "lifesci": 1,
        "gowalla": 1, "swiss": 1, "bundled:iris": 1, "bundled:wine": 1,
    },
    "bernoulli": {"nltcs": 3, "acs": 3, "bundled:households": 3},
    "poisson": {"diabetes": 3, "brfss days": 2, "bundled:a_year_of_care": 3},
    "sbn": {"nltcs": 4, "acs": 4, "mnist": 8, "bundled:lit_windows": 4},
    "symmetric-mixture": {"adult": 1, "old_faithful": 1, "lifesci": 1, "bundled:two_clouds": 1},
    "mixture-regression": {"heart rate": 1, "adult hours": 1, "bundled:two_lines": 1},
    "missing-regression": {
        "waiting": 1, "heart rate": 1, "adult hours": 1, "bundled:missing_answers": 1,
        "brfss BMI": 1, "stroke glucose": 1, "diabetes medications": 1, "stroke bmi": 1,
        "diabetes stay": 1, "diabetes lab": 1, "heart pressure": 1,
    },
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """One model on one table."""

    model: str
    table: str
    parts: int

    @property
    def options(self) -> tuple[tuple[str, Any], ...]:
        if self.model.endswith(("c-mixture", "regression")):  # sigma is a public guess
            return ("n_components", 1), ("sigma", 0.3), ("own", False)
        if self.model == "sbn":  # as it opens on the explorer: all rows in each step
            return ("n_components", self.parts), ("rate", 1.0), ("iterations", 10), ("clip", 0.3)
        return (("n_components", self.parts),)

    @property
    def tuned(self) -> bool:
        """Whether worlds were tuned on its table."""
        return sha256(self.table.encode()).digest()[0] % 2 == 0


def cases(models: Sequence[str]) -> Iterator[Case]:
    for model in models:
        for table, parts in GROUPS.get(model, {}).items():
            yield Case(model, table, parts)


@cache
def sealed(name: str) -> PrivateTable:
    if name.startswith("bundled:"):
        return load.load(name)
    frame, columns = REAL[name]()
    return PrivateTable.seal(frame, Schema(columns), open_to_all=True)


def rows_of(name: str) -> int:
    return find(name[8:]).rows if name.startswith("bundled:") else len(REAL[name]()[0])


def real(case: Case) -> Array:
    """The median share ``(E,)`` that releases from the real rows keep."""
    table, slow = sealed(case.table), declarations()[case.model].cost > 1.0
    assert table.schema is not None
    setting = release_setting(case.model, table.schema, "replace_one", dict(case.options))
    setting = replace(setting, seed=crc32(case.table.encode()) % 1000 + 1000)
    return np.median(kept_shares(table, setting, EPSILONS, DRAWS_SLOW if slow else DRAWS), axis=1)


def stated(case: Case) -> Array:
    """Low, median and high ``(3, E)`` that a plan states."""
    schema = sealed(case.table).schema
    assert schema is not None
    curve = utility_curve(case.model, schema, rows_of(case.table), options=case.options)
    rho = np.asarray(rho_of(np.array(EPSILONS), STOPS_DELTA))
    return np.array([curve.at(float(point)) for point in rho]).T


def holds(range_: Array, reached: Array) -> NDArray[np.bool_]:
    """Whether the real median lies in the range ``(E,)``, as both are shown."""
    return np.asarray((range_[0] - ROUNDED <= reached) & (reached <= range_[2] + ROUNDED))


def main() -> None:
    """Print the table, and what holds in each half."""
    groups = sys.argv[1:] or list(GROUPS)
    held: dict[tuple[str, bool], list[Array]] = {}
    for case in cases(groups):
        start = time.process_time()
        range_, reached = stated(case), real(case)
        inside = holds(range_, reached)
        cells = " | ".join(
            f"{100 * low:.0f} to {100 * high:.0f}: {'' if ok else '**'}{100 * share:.0f}"
            f"{'' if ok else '**'}"
            for low, high, share, ok in zip(range_[0], range_[2], reached, inside, strict=True)
        )
        half = "tuned" if case.tuned else "other"
        seconds = time.process_time() - start
        print(f"| {case.model} | {case.table} | {half} | {cells} | {seconds:.0f} |", flush=True)
        for key in ((case.model, case.tuned), ("all", case.tuned)):
            held.setdefault(key, []).append(np.array([inside, range_[2] - range_[0]]))
    for (model, tuned), results in held.items():
        share, width = np.concatenate(results, axis=1).mean(axis=1)
        half = "tuned" if tuned else "other"
        print(
            f"| **{model}** | {len(results)} tables | {half} | {share:.0%} hold, "
            f"mean width {width:.0%} |"
        )


if __name__ == "__main__":
    main()
