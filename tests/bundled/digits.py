"""Digits: 1,797 handwritten digits of 8 x 8 pixels (Alpaydin and Kaynak 1998), from scikit-learn.

Each pixel counts the inked dots of a 4 x 4 square of the scan, so it lies in 0 to 16.
"""

from __future__ import annotations

import pandas as pd

from .files import GeneratedFile, schema_of

SCHEMA = schema_of("digits.csv.gz")


def make() -> tuple[GeneratedFile, ...]:
    """The table, row by row of each picture, with the digit it shows as the label."""
    from sklearn.datasets import load_digits

    source = load_digits()
    frame = pd.DataFrame(source.data.astype(int), columns=list(SCHEMA.features))
    frame["digit"] = source.target
    return (GeneratedFile("digits.csv.gz", frame),)
