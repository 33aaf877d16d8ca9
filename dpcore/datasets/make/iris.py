"""Iris: 150 flowers of three species (Fisher 1936, after Anderson), as scikit-learn ships them."""

from __future__ import annotations

import pandas as pd

from dpcore.datasets.make.files import GeneratedFile
from dpcore.schema import Column, Schema

SPECIES = ("setosa", "versicolor", "virginica")
# A flower of this genus fits in a hand: no part is longer than 10 cm or wider than 5 cm.
SCHEMA = Schema(
    (
        Column("sepal_length", lower=0, upper=10, unit="cm"),
        Column("sepal_width", lower=0, upper=5, unit="cm"),
        Column("petal_length", lower=0, upper=10, unit="cm"),
        Column("petal_width", lower=0, upper=5, unit="cm"),
        Column("species", role="label", type="category", categories=SPECIES),
    ),
    unit="flower",
    title="Iris",
)


def make() -> tuple[GeneratedFile, ...]:
    """The table with its species as the label."""
    from sklearn.datasets import load_iris

    source = load_iris()
    frame = pd.DataFrame(source.data, columns=list(SCHEMA.features))
    frame["species"] = [SPECIES[number] for number in source.target]
    return (GeneratedFile("iris.csv", frame, SCHEMA),)
