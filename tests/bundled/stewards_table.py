"""A steward's table: 20,000 simulated patients as a clinic's file would show them.

Skewed columns, different units, missing cells and a category, over three groups of patients.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from .files import GeneratedFile, public_draws, schema_of

ROWS = 20_000
SHARES = (0.42, 0.36, 0.22)
REGION_SHARES = ((0.40, 0.30, 0.20, 0.10), (0.20, 0.30, 0.30, 0.20), (0.10, 0.15, 0.30, 0.45))

SCHEMA = schema_of("stewards_table.csv")

# One row a column: the value in each of the three groups (young, middle, old).
AGE = (29.0, 50.0, 74.0)
AGE_SD = (6.0, 8.0, 7.0)
MEDIAN_INCOME = (34.0, 58.0, 24.0)
VISITS = (3.0, 6.0, 18.0)
BODY_MASS_INDEX = (23.5, 28.5, 26.5)
PRESSURE = (117.0, 131.0, 149.0)
MEDIAN_DISTANCE = (3.0, 8.0, 16.0)
SATISFACTION = (6.4, 5.6, 7.6)


def make() -> tuple[GeneratedFile, ...]:
    """The table, clipped into its public bounds and rounded as a clinic would write it."""
    rng = public_draws(20_000)
    group = rng.choice(len(SHARES), size=ROWS, p=SHARES)
    age = _normal(AGE, AGE_SD, group, rng)
    older = (age - np.take(AGE, group)) / np.take(AGE_SD, group)  # within the patient's own group
    income = np.take(MEDIAN_INCOME, group) * np.exp(0.45 * rng.standard_normal(ROWS) + 0.1 * older)
    pressure = _normal(PRESSURE, (10.0, 13.0, 15.0), group, rng) + 3 * older
    distance = np.take(MEDIAN_DISTANCE, group) * np.exp(0.6 * rng.standard_normal(ROWS))
    satisfaction = _normal(SATISFACTION, (1.4, 1.6, 1.2), group, rng)
    frame = pd.DataFrame(
        {
            "age": _whole(age, "age"),
            "income": _missing(_tenths(income, "income"), 0.03, rng),
            "visits": rng.poisson(rng.gamma(2.5, np.take(VISITS, group) / 2.5)),
            "body_mass_index": _missing(_body_mass(group, rng), 0.01, rng),
            "systolic_pressure": _whole(pressure, "systolic_pressure"),
            "distance_to_clinic": _tenths(distance, "distance_to_clinic"),
            "satisfaction": _missing(_whole(satisfaction, "satisfaction"), 0.12, rng),
            "region": _regions(group, rng),
            "group": group + 1,
        }
    )
    frame["visits"] = frame["visits"].clip(0, 60)
    return (GeneratedFile("stewards_table.csv", frame),)


def _normal(
    means: tuple[float, ...],
    spreads: tuple[float, ...],
    group: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """One Gaussian draw per patient, by group."""
    draws = rng.standard_normal(len(group))
    return np.asarray(np.take(means, group) + np.take(spreads, group) * draws)


def _body_mass(group: np.ndarray, rng: np.random.Generator) -> pd.Series:
    """Body mass indices, skewed to the right."""
    middle = np.take(BODY_MASS_INDEX, group)
    return _tenths(middle * np.exp(0.15 * rng.standard_normal(len(group))), "body_mass_index")


def _regions(group: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A region per patient, by the shares of the group."""
    steps = np.cumsum(REGION_SHARES, axis=1)[group]
    position = (rng.random((len(group), 1)) > steps[:, :-1]).sum(axis=1)
    return np.asarray(np.array(SCHEMA.column("region").categories)[position])


def _clipped(values: np.ndarray, name: str) -> np.ndarray:
    column = SCHEMA.column(name)
    return np.asarray(np.clip(values, column.low, column.high))


def _tenths(values: np.ndarray, name: str) -> pd.Series:
    return pd.Series(_clipped(values, name).round(1))


def _whole(values: np.ndarray, name: str) -> pd.Series:
    return pd.Series(_clipped(values, name).round().astype(int))


def _missing(values: pd.Series, share: float, rng: np.random.Generator) -> pd.Series:
    """A share of the cells left empty, at random."""
    nullable = values.astype("Int64" if values.dtype.kind == "i" else float)
    return nullable.mask(rng.random(len(values)) < share)
