"""Wine: the chemistry of 178 wines from three cultivars (Forina et al. 1991), from scikit-learn."""

from __future__ import annotations

import pandas as pd

from dpcore.datasets.make.files import GeneratedFile
from dpcore.schema import Column, Schema

CULTIVARS = ("first", "second", "third")
# Ranges a chemist would write down for table wine, without looking at a bottle.
SCHEMA = Schema(
    (
        Column("alcohol", lower=8, upper=16, unit="% by volume"),
        Column("malic_acid", lower=0, upper=10, unit="g/L"),
        Column("ash", lower=0, upper=5, unit="g/L"),
        Column("alcalinity_of_ash", lower=0, upper=50, unit="meq/L"),
        Column("magnesium", lower=0, upper=200, unit="mg/L"),
        Column("total_phenols", lower=0, upper=6, unit="index"),
        Column("flavanoids", lower=0, upper=6, unit="index"),
        Column("nonflavanoid_phenols", lower=0, upper=1, unit="index"),
        Column("proanthocyanins", lower=0, upper=5, unit="index"),
        Column("color_intensity", lower=0, upper=20, unit="absorbance"),
        Column("hue", lower=0, upper=2, unit="ratio"),
        Column("od280_od315", lower=0, upper=5, unit="ratio"),
        Column("proline", lower=0, upper=2000, unit="mg/L"),
        Column("cultivar", role="label", type="category", categories=CULTIVARS),
    ),
    unit="wine",
    title="Wine",
)


def make() -> tuple[GeneratedFile, ...]:
    """The table with its cultivar as the label."""
    from sklearn.datasets import load_wine

    source = load_wine()
    frame = pd.DataFrame(source.data, columns=list(SCHEMA.features))
    frame["cultivar"] = [CULTIVARS[number] for number in source.target]
    return (GeneratedFile("wine.csv", frame, SCHEMA),)
