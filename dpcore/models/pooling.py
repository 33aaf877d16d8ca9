"""A picture may be made smaller before it is released, by a rule that everybody may know.

Fewer numbers need less noise in all. Each map here has orthonormal rows ``P P' = I``, so that
``P'P`` is a projection and ``|P x| <= |x|``: a bound on the norm of a record stays one. ``P'``
draws what was learned at full size again. Both maps look at one record at a time and know no data.
Source of the cosine transform: Ahmed, Natarajan, Rao 1974.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.fft import dctn, idctn

from dpcore.errors import InputError

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Pooling:
    """Sums over ``factor x factor`` squares of pixels, divided by ``factor``.

    shape: rows and columns of the picture, in pixels. A square's row of ``P`` holds ``factor^2``
    entries ``1 / factor`` (norm 1), and squares do not overlap (orthogonal).

    >>> Pooling((2, 4), 2).shrink(np.ones((1, 8)))
    array([[2., 2.]])
    """

    shape: tuple[int, int]
    factor: int

    @property
    def small(self) -> tuple[int, int]:
        """Rows and columns of the smaller picture."""
        return self.shape[0] // self.factor, self.shape[1] // self.factor

    def shrink(self, pictures: Array) -> Array:
        """Pictures ``(..., d)``, row after row, as ``(..., m)``."""
        high, wide = self.small
        split = pictures.reshape(*pictures.shape[:-1], high, self.factor, wide, self.factor)
        return np.asarray(split.sum(axis=(-3, -1)) / self.factor).reshape(
            *pictures.shape[:-1], high * wide
        )

    def grow(self, pictures: Array) -> Array:
        """Small pictures ``(..., m)`` drawn at full size ``(..., d)``, by the transpose."""
        small = pictures.reshape(*pictures.shape[:-1], *self.small) / self.factor
        large = small.repeat(self.factor, axis=-2).repeat(self.factor, axis=-1)
        return np.asarray(large).reshape(*pictures.shape[:-1], self.shape[0] * self.shape[1])


@dataclass(frozen=True)
class Cosines:
    """The ``keep x keep`` coarsest cosine waves of a picture.

    shape: rows and columns of the picture, in pixels. The orthonormal transform is a rotation;
    some of its rows are orthonormal.

    >>> Cosines((2, 2), 1).shrink(np.ones((1, 4))).round(9)
    array([[2.]])
    """

    shape: tuple[int, int]
    keep: int

    @property
    def small(self) -> tuple[int, int]:
        """How many waves down and across."""
        return self.keep, self.keep

    def shrink(self, pictures: Array) -> Array:
        """Pictures ``(..., d)``, row after row, as ``(..., m)``."""
        image = pictures.reshape(*pictures.shape[:-1], *self.shape)
        waves = dctn(image, axes=(-2, -1), norm="ortho")[..., : self.keep, : self.keep]
        return np.asarray(waves).reshape(*pictures.shape[:-1], self.keep**2)

    def grow(self, pictures: Array) -> Array:
        """Waves ``(..., m)`` drawn as pictures ``(..., d)``, by the transpose."""
        waves = np.zeros((*pictures.shape[:-1], *self.shape))
        small = pictures.reshape(*pictures.shape[:-1], *self.small)
        waves[..., : self.keep, : self.keep] = small
        image = idctn(waves, axes=(-2, -1), norm="ortho")
        return np.asarray(image).reshape(*pictures.shape[:-1], self.shape[0] * self.shape[1])


def pooling(shape: tuple[int, int], factor: int) -> Pooling:
    """Public pooling of pictures of ``shape`` pixels.

    Raises InputError where squares of ``factor x factor`` pixels do not fill the picture.

    >>> pooling((64, 64), 8).small
    (8, 8)
    """
    if factor < 1 or min(shape) < 1 or shape[0] % factor or shape[1] % factor:
        remedy = "choose a whole number >= 1 that divides both its height and its width"
        raise InputError("pooling", f"{factor} does not divide the picture {shape}", remedy)
    return Pooling(shape, factor)


def dct(shape: tuple[int, int], keep: int) -> Cosines:
    """The public choice of the ``keep x keep`` coarsest waves of pictures of ``shape`` pixels.

    Raises InputError where a picture has fewer waves.

    >>> dct((64, 64), 8).small
    (8, 8)
    """
    if not 1 <= keep <= min(shape):
        remedy = "choose from 1 to the shorter side in pixels"
        raise InputError("keep", f"{keep} waves do not fit the picture {shape}", remedy)
    return Cosines(shape, keep)
