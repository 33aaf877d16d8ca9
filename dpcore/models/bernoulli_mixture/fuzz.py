"""The ways in which the fuzzer fits mixtures of Bernoullis."""

from __future__ import annotations

from dpcore.fuzzing.schemas import Needs
from dpcore.fuzzing.ways import Way

WAYS = (Way({}, needs=Needs(box=True), grid=True, blocks=True),)
