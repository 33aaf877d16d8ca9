"""The ways in which the fuzzer fits mixtures of Bernoullis and of Poissons."""

from __future__ import annotations

from dpcore.fuzzing.schemas import Needs
from dpcore.fuzzing.ways import Way

BERNOULLI = (Way({}, needs=Needs(box=True), grid=True, blocks=True),)
POISSON = (Way({}, needs=Needs(box=True, counts=True), grid=True, blocks=True),)
