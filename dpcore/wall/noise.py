"""The noise source: the only entropy used for privacy.

Without a seed it reads the operating system's entropy. With a seed every draw can be repeated,
which is a rehearsal and no release: whoever knows the seed can subtract the noise.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class NoiseSource:
    """One independent stream of noise for each draw.

    seed: ``None`` for the operating system's entropy, else a number (a rehearsal).
    draws: identities of the draws; stream ``i`` of a seed is the same whatever else is drawn, so
    fits at different budgets share it (common random numbers).
    secret: mixed into the key, so that a seed alone does not give the noise.

    >>> one, many = NoiseSource(7, [2]), NoiseSource(7, [0, 1, 2])
    >>> bool(np.all(one.normal((3,))[0] == many.normal((3,))[2]))
    True
    """

    def __init__(self, seed: int | None, draws: Sequence[int] = (0,), secret: bytes = b"") -> None:
        self.rehearsal = seed is not None
        self._streams = [self._stream(seed, draw, secret) for draw in draws]

    @staticmethod
    def _stream(seed: int | None, draw: int, secret: bytes) -> np.random.Generator:
        if seed is None:
            key = secrets.randbits(128)
        else:
            text = f"{seed}/{draw}/".encode()
            key = int.from_bytes(hashlib.blake2b(text, digest_size=16, key=secret).digest())
        return np.random.Generator(np.random.Philox(key=key))

    def normal(self, shape: tuple[int, ...]) -> Array:
        """Standard normal noise ``(draws, *shape)``."""
        out = np.empty((len(self._streams), *shape))
        for at, stream in enumerate(self._streams):
            stream.standard_normal(out=out[at : at + 1])
        return out

    def laplace(self, shape: tuple[int, ...]) -> Array:
        """Standard Laplace noise ``(draws, *shape)``."""
        return np.stack([stream.laplace(size=shape) for stream in self._streams])

    def __repr__(self) -> str:
        return f"NoiseSource({'seeded' if self.rehearsal else 'system entropy'})"

    def __reduce__(self) -> str | tuple[object, ...]:
        raise TypeError("a noise source is never copied: the same noise twice is no noise")
