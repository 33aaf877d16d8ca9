"""Iris: 150 flowers of three species (Fisher 1936, after Anderson), as scikit-learn ships them."""

from __future__ import annotations

import pandas as pd

from .files import GeneratedFile, schema_of

# A flower of this genus fits in a hand: no part is longer than 10 cm or wider than 5 cm.
SCHEMA = schema_of("iris.csv")


def make() -> tuple[GeneratedFile, ...]:
    """The table with its species as the label."""
    from sklearn.datasets import load_iris

    source = load_iris()
    frame = pd.DataFrame(source.data, columns=list(SCHEMA.features))
    frame["species"] = [SCHEMA.column("species").categories[number] for number in source.target]
    return (GeneratedFile("iris.csv", frame),)
