"""The portraits of labelled classes: those of a mixture, whose groups have names here."""

from dpcore.models.gaussian_mixture.picture import (
    DENSITY,
    MARGINALS,
    NUMBERS,
    PORTRAIT,
    SYNTHETIC,
)

__all__ = ["DENSITY", "MARGINALS", "NUMBERS", "PORTRAIT", "SYNTHETIC"]
