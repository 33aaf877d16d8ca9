"""A frame: the coordinates in which rows are clipped and noise is isotropic.

A frame is an affine map built from public values or from already noisy statistics, never from
rows. In it each row is put inside a ball of a public radius.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dpcore.arrays import Array
from dpcore.wall.data.clipping import clip_to_ball
from dpcore.wall.kernels.threads import Memory, eigh


@dataclass(frozen=True)
class Frame:
    """``y = matrix (u - center)``, then clipped to ``|y| <= radius``.

    center ``(F, d)``, matrix ``(F, d, d)`` symmetric, inverse ``(F, d, d)``: F is 1 (one frame for
    every run) or the number of runs. Of a frame that only stretches they are ``(F, 1, 1)``.
    radius: public; infinite = no clipping (only without noise). plain: the map changes nothing, and
    need not be applied.
    """

    center: Array
    matrix: Array
    inverse: Array
    radius: float
    plain: bool = False

    @classmethod
    def identity(cls, dim: int, radius: float) -> Frame:
        """The public unit coordinates themselves, with a ball of ``radius``."""
        eye = np.eye(dim)[None]
        return cls(np.zeros((1, dim)), eye, eye, radius, plain=True)

    @classmethod
    def balls(cls, middle: Array, radius: Array) -> Frame:
        """The frame in which a ball of each run, ``(F, d)`` and ``(F,)``, is the unit ball."""
        scale = radius[:, None, None]
        return cls(middle, 1.0 / scale, scale, 1.0)

    @classmethod
    def ellipsoids(cls, middle: Array, axes: Array) -> Frame:
        """The frame in which an ellipsoid of each run along the columns, middle ``(F, d)`` and axes
        ``(F, d)``, is the unit ball."""
        eye = np.eye(middle.shape[1])
        return cls(middle, eye / axes[:, None], eye * axes[:, None], 1.0)

    @classmethod
    def whitening(cls, mean: Array, covariance: Array, radius: float) -> Frame:
        """The frame in which released moments ``(F, d)``, ``(F, d, d)`` are 0 and the identity."""
        return cls(mean, *whitening(covariance), radius)

    @property
    def runs(self) -> int:
        """How many frames there are, F."""
        return int(self.center.shape[0])

    def apply(self, units: Array, runs: slice = slice(None), memory: Memory | None = None) -> Array:
        """Clipped coordinates ``(F, d, n)`` of rows ``(n, d)`` for the chosen frames. memory: where
        the result may lie, until the next takes its place."""
        if self.plain:
            return clip_to_ball(units.T[None], self.radius, axis=-2)
        center, memory = self.center[runs, :, None], memory or Memory()
        moved = np.subtract(units.T, center, out=memory("moved", len(center), *units.T.shape))
        if self.matrix.shape[-1] < moved.shape[-2]:
            moved *= self.matrix[runs]
        else:
            moved = np.matmul(self.matrix[runs], moved, out=memory("framed", *moved.shape))
        return clip_to_ball(moved, self.radius, axis=-2, out=moved)

    def first(self) -> Frame:
        """That of the first run."""
        return replace(
            self, center=self.center[:1], matrix=self.matrix[:1], inverse=self.inverse[:1]
        )

    def means_back(self, means: Array) -> Array:
        """Means ``(B, K, d)`` from this frame to unit coordinates."""
        return np.asarray(self.center[:, None] + means @ self.inverse)

    def covariances_back(self, covariances: Array) -> Array:
        """Covariances ``(B, K, d, d)`` from this frame to unit coordinates."""
        inverse = self.inverse[:, None]
        return np.asarray(inverse @ covariances @ inverse)


def whitening(covariances: Array) -> tuple[Array, Array]:
    """Symmetric roots of the inverses of covariances ``(..., d, d)``, and of themselves."""
    values, vectors = eigh(covariances)
    root, turned = np.sqrt(values)[..., None, :], np.swapaxes(vectors, -1, -2)
    return (vectors / root) @ turned, (vectors * root) @ turned
