"""Wine: the chemistry of 178 wines from three cultivars (Forina et al. 1991), from scikit-learn."""

from __future__ import annotations

import pandas as pd

from .files import GeneratedFile, schema_of

# Ranges a chemist would write down for table wine, without looking at a bottle.
SCHEMA = schema_of("wine.csv")


def make() -> tuple[GeneratedFile, ...]:
    """The table with its cultivar as the label."""
    from sklearn.datasets import load_wine

    source = load_wine()
    frame = pd.DataFrame(source.data, columns=list(SCHEMA.features))
    frame["cultivar"] = [SCHEMA.column("cultivar").categories[number] for number in source.target]
    return (GeneratedFile("wine.csv", frame),)
