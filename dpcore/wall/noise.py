"""The noise source: the only entropy used for privacy. No stream of it leaves this module.

Without a seed it reads the operating system's entropy. With a seed every draw can be repeated,
which is a rehearsal and no release: whoever knows the seed can subtract the noise.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from dpcore.arrays import Array, Indices
from dpcore.errors import InputError, WallError
from dpcore.mechanisms.discrete_gaussian import SCALE, Integers, discrete_gaussian


class SecretCoins:
    """The coins of one stream: who is in a sample, which of its words a document keeps.

    pay: called before each toss; where it raises, nothing is tossed.
    """

    def __init__(self, stream: np.random.Generator, pay: Callable[[], None] = lambda: None) -> None:
        self._stream, self._pay = stream, pay

    def random(self, shape: int | tuple[int, ...]) -> Array:
        """Uniform numbers in ``[0, 1)``, of this shape."""
        self._pay()
        return self._stream.random(shape)

    def choice(self, rows: int, size: int) -> Indices:
        """``size`` different ones of so many rows, each set of them as likely as any other."""
        self._pay()
        return self._stream.choice(rows, size, replace=False, shuffle=False)

    def __reduce__(self) -> str | tuple[object, ...]:
        raise TypeError("secret random numbers are never copied: used twice, they are not secret")


class PublicCoins(SecretCoins):
    """The same where nothing is protected: anybody can toss them again from the seed."""

    def __init__(self, seed: int) -> None:
        super().__init__(np.random.default_rng(seed))


class NoiseSource:
    """One independent stream of noise for each draw.

    seed: ``None`` for the operating system's entropy, else a number (a rehearsal).
    draws: identities of the draws; stream ``i`` of a seed is the same whatever else is drawn, so
    fits at different budgets share it (common random numbers).
    secret: mixed into the key, so that a seed alone does not give the noise.
    pay: called once, before the first number is drawn; where it raises, nothing is drawn.
    Raises WallError where the child of a fork draws: it has the same streams as its parent, which
    would know nothing of what leaves.

    >>> one, many = NoiseSource(7, [2]), NoiseSource(7, [0, 1, 2])
    >>> bool(np.all(one.normal((3,))[0] == many.normal((3,))[2]))
    True
    """

    on_grid = False  # whether sums are put on a grid and get whole numbers as noise

    def __init__(
        self,
        seed: int | None,
        draws: Sequence[int] = (0,),
        secret: bytes = b"",
        pay: Callable[[], None] | None = None,
    ) -> None:
        if not isinstance(secret, bytes) or len(secret) > hashlib.blake2b.MAX_KEY_SIZE:
            raise InputError("secret", "it is not bytes, or more than 64", "give at most 64")
        self.rehearsal, self._process = seed is not None, os.getpid()
        self._pay, self.drawn = pay, False
        self._streams = [self._stream(seed, draw, secret) for draw in draws]

    @staticmethod
    def _stream(seed: int | None, draw: int, secret: bytes) -> np.random.Generator:
        if seed is None:
            key = secrets.randbits(128)
        else:
            text = f"{seed}/{draw}/".encode()
            key = int.from_bytes(hashlib.blake2b(text, digest_size=16, key=secret).digest())
        return np.random.Generator(np.random.Philox(key=key))

    def _paid(self) -> None:
        if os.getpid() != self._process:
            raise WallError("noise can be drawn only in the process that began the fit")
        if self._pay is not None and not self.drawn:
            self._pay()
        self.drawn = True

    def normal(self, shape: tuple[int, ...]) -> Array:
        """Standard normal noise ``(draws, *shape)``."""
        self._paid()
        out = np.empty((len(self._streams), *shape))
        for at, stream in enumerate(self._streams):
            stream.standard_normal(out=out[at : at + 1])
        return out

    def laplace(self, shape: tuple[int, ...]) -> Array:
        """Standard Laplace noise ``(draws, *shape)``."""
        self._paid()
        return np.stack([stream.laplace(size=shape) for stream in self._streams])

    def long_tailed(self, dim: int) -> Array:
        """Vectors ``(draws, dim)`` of density proportional to ``exp(-|b|)``: any direction, and a
        length with the Gamma law of shape ``dim`` (Chaudhuri, Monteleoni, Sarwate 2011)."""
        direction = self.normal((dim,))
        length = np.array([stream.standard_gamma(dim) for stream in self._streams])
        return np.asarray(length[:, None] * direction / np.linalg.norm(direction, axis=1)[:, None])

    @property
    def coins(self) -> list[SecretCoins]:
        """The coins of each draw, from the stream of its noise; the first toss pays."""
        return [SecretCoins(stream, self._paid) for stream in self._streams]

    def __repr__(self) -> str:
        return f"NoiseSource({'seeded' if self.rehearsal else 'system entropy'})"

    def __reduce__(self) -> str | tuple[object, ...]:
        raise TypeError(
            "a noise source is never copied: the same noise used twice protects nothing"
        )


class GridNoise(NoiseSource):
    """Noise of a release: whole numbers drawn exactly from the operating system's own generator.

    One draw, never repeated. ``drawn``: whether anything is; ``steps``: of the grid, in one
    standard deviation.
    """

    on_grid, steps = True, SCALE

    def __init__(self, pay: Callable[[], None] | None = None) -> None:
        super().__init__(None, pay=pay)

    def whole_numbers(self, count: int) -> Integers:
        """Discrete Gaussian noise; see :func:`~dpcore.mechanisms.discrete_gaussian`."""
        self._paid()
        return discrete_gaussian(count, _words)


def _words(count: int) -> NDArray[np.uint64]:
    """Uniform 64-bit words from the operating system."""
    return np.frombuffer(bytearray(secrets.token_bytes(8 * count)), dtype=np.uint64)
