"""Pairs one after another for as long as it is told, and what became of them."""

from __future__ import annotations

import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from dpcore.checks import one_of, positive, whole
from dpcore.errors import InputError
from dpcore.fuzzing.pairs import Pair, Verdict, examine, pair
from dpcore.fuzzing.requests import MODEL_NAMES

LISTED = 100  # violations that are listed, and sentences of refusals that are counted apart
LARGEST_SEED = 1 << 32
NOT_COVERED = (
    "mechanisms as published (mode paper)",
    "tables on a cluster (engine dask)",
    "the noise distributions, which the fuzzer replaces",
)


@dataclass
class Count:
    """Pairs of one kind."""

    pairs: int = 0
    compared: int = 0
    worst_ratio: float = 0.0

    def add(self, verdict: Verdict) -> None:
        """Count one pair of the kind."""
        self.pairs += 1
        self.compared += verdict.outcome == "compared"
        self.worst_ratio = max(self.worst_ratio, verdict.ratio)


@dataclass
class Tally:
    """What became of all pairs of a run.

    violations: those of which a release moved by more than is booked, or something else differed;
    violated lists the first of them. refusals: sentences of refusals, with how often.
    """

    seed: int
    seconds: float = 0.0
    violations: int = 0
    releases: int = 0
    worst_pair: int | None = None
    total: Count = field(default_factory=Count)
    outcomes: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    violated: list[dict[str, Any]] = field(default_factory=list)
    by: dict[str, dict[str, Count]] = field(
        default_factory=lambda: {"model": {}, "adjacency": {}, "file": {}}
    )

    def add(self, examined: Pair, verdict: Verdict) -> None:
        """Count one pair."""
        if verdict.ratio > self.total.worst_ratio:
            self.worst_pair = examined.number
        self.releases += verdict.releases
        self.outcomes[verdict.outcome] += 1
        kinds = {
            "model": examined.model,
            "adjacency": examined.adjacency,
            "file": examined.tables.label,
        }
        for tallied in (self.total, *(self._of(by, kind) for by, kind in kinds.items())):
            tallied.add(verdict)
        if verdict.outcome == "violation":
            self._violated(examined, verdict, kinds)
        elif verdict.finding and (verdict.finding in self.refusals or len(self.refusals) < LISTED):
            self.refusals[verdict.finding] += 1

    def _of(self, by: str, kind: str) -> Count:
        return self.by[by].setdefault(kind, Count())

    def _violated(self, examined: Pair, verdict: Verdict, kinds: dict[str, str]) -> None:
        self.violations += 1
        if len(self.violated) < LISTED:
            where = {"seed": examined.seed, "pair": examined.number}
            self.violated.append(
                {**where, **kinds, "ratio": verdict.ratio, "found": verdict.finding}
            )

    def as_dict(self) -> dict[str, Any]:
        """Numbers for a script."""
        return {
            "pairs": self.total.pairs,
            "worst_ratio": self.total.worst_ratio,
            "violations": self.violations,
            "compared": self.total.compared,
            "refused": self.outcomes["refused"],
            "refused_one": self.outcomes["refused one"],
            "releases": self.releases,
            "seed": self.seed,
            "worst_pair": self.worst_pair,
            "seconds": round(self.seconds, 1),
            "violated": self.violated,
            **{
                f"by_{by}": {kind: vars(kinds[kind]) for kind in sorted(kinds)}
                for by, kinds in self.by.items()
            },
            "refusals": dict(self.refusals.most_common()),
            "not_covered": list(NOT_COVERED),
        }


def fuzz(
    seconds: float = 60.0,
    *,
    model: str | None = None,
    seed: int | None = None,
    only: int | None = None,
    keep: Path | None = None,
    on_share: Callable[[float], None] = lambda share: None,
    on_violation: Callable[[dict[str, Any]], None] = lambda violation: None,
) -> Tally:
    """Examine pairs until the time is over, or somebody interrupts.

    model: its pairs alone. seed: ``None`` for a fresh one. only: that pair alone, whatever the
    time; keep: a folder for its files. on_share: told the share of the time that is over;
    on_violation: told every violation that is listed, at once.
    Raises InputError on a word or number that means nothing here.
    """
    seconds = positive("seconds", seconds, example="60")
    if model is not None and only is not None:
        raise InputError(
            "model", "the number of the pair already fixes its model", "leave the model out"
        )
    if model is not None:
        one_of("model", model, MODEL_NAMES)
    if seed is None:
        seed = secrets.randbelow(LARGEST_SEED)
    tally = Tally(whole("seed", seed, least=0))
    only = None if only is None else whole("pair", only, least=0)
    began = time.monotonic()
    try:
        for place in _places(model, only):
            examined = pair(tally.seed, place)
            listed = len(tally.violated)
            tally.add(examined, examine(examined, keep))
            for violation in tally.violated[listed:]:
                on_violation(violation)
            over = (time.monotonic() - began) / seconds
            on_share(min(over, 1.0))
            if over >= 1.0:
                break
    except KeyboardInterrupt:
        pass
    tally.seconds = time.monotonic() - began
    return tally


def _places(model: str | None, only: int | None) -> Iterator[int]:
    """Numbers of pairs, without an end: models take turns."""
    if only is not None:
        yield only
        return
    step = 1 if model is None else len(MODEL_NAMES)
    yield from count(0 if model is None else MODEL_NAMES.index(model), step)
