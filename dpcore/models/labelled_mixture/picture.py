"""The portrait of labelled classes: that of a mixture, whose groups have names here."""

from dpcore.models.gaussian_mixture.picture import PORTRAIT

__all__ = ["PORTRAIT"]
