"""What an audit finds: claim, proof and a measured lower bound of one mechanism, side by side.

Every audit plays the attack twice: on the mechanism as it is, and on the same one drawing half its
noise while its ledger states all of it. An attack that misses the second says little by passing the
first. Nor do runs say much that are too few: each audit states what as many would show of a
mechanism that hides nothing.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any, Protocol

import numpy as np

from dpcore.arrays import Array
from dpcore.auditing.estimate import epsilon_lower_bound, gaussian_lower_bound
from dpcore.privacy import Claim, Evidence, Privacy, Proof

HALF = 0.5
SLACK = 1e-6  # relative: epsilons are rounded
MOST_RUNS = 4_000_000  # of each table, that are looked at to say how many would be enough


@dataclass(frozen=True)
class Clouds:
    """What an attacker has to go by under two neighbouring tables, and what is said about it.

    first, second ``(runs,)``: scores, or ``(runs, p)``: outputs. normal: whether all noise is
    normal and on all rows, so that mu says everything. scene: the two tables and what was seen, in
    words.
    """

    first: Array
    second: Array
    normal: bool
    claim: Claim | None
    proof: Proof | None
    scene: str


class Auditable(Protocol):
    """One mechanism or model, as the registry names it. about: one line for a list. runs: of
    each table, if nobody says how many."""

    about: str
    runs: int

    @property
    def modes(self) -> tuple[str, ...]:
        """In which it can be attacked without a budget of one's own."""

    def request(self, privacy: Privacy | None, mode: str) -> Privacy:
        """What is attacked unless somebody asks for something else. Raises InputError for what
        cannot be."""

    def clouds(
        self, privacy: Privacy, runs: int, seed: int, share: float, **options: Any
    ) -> Clouds:
        """Run both tables so many times, drawing a share of the noise."""


@dataclass(frozen=True)
class Audit(Evidence):
    """An audited mechanism; the measured bound and how it was got are those of its bases.

    lower_any: the same without a word about the noise. half_lower: the bound with half the noise;
    ``None`` if that was not run. largest_detectable: the bound had the two tables never given the
    same; as many runs show no more of any mechanism. runs_needed: of each table, about, where the
    runs are too few to say anything; ``None`` where they are not, or no number is enough.
    """

    name: str = ""
    mode: str = "proved"
    adjacency: str = "replace_one"
    claim: Claim | None = None
    proof: Proof | None = None
    lower_any: float = 0.0
    half_lower: float | None = None
    largest_detectable: float = math.inf
    runs_needed: int | None = None

    @property
    def contradicts_claim(self) -> bool:
        """Whether the attack shows more than the paper states."""
        return self.claim is not None and self.lower > self.claim.epsilon * (1.0 + SLACK)

    @property
    def contradicts_proof(self) -> bool:
        """Whether the attack shows more than is proved: then something is broken."""
        return self.proof is not None and self.lower > self.proof.epsilon * (1.0 + SLACK)

    @property
    def caught_half(self) -> bool | None:
        """Whether half the noise shows as more than is proved (or, without a proof, claimed)."""
        if self.half_lower is None or self.stated is None:
            return None
        return self.half_lower > self.stated

    @property
    def stated(self) -> float | None:
        """The epsilon that an attack has to exceed: what is proved or, without a proof, claimed."""
        promise = self.proof or self.claim
        return None if promise is None else promise.epsilon * (1.0 + SLACK)

    @property
    def inconclusive(self) -> bool:
        """Whether nothing is contradicted by runs that would not contradict much worse either: half
        the noise, or none of it."""
        if self.contradicts_claim or self.contradicts_proof or self.stated is None:
            return False
        return self.caught_half is False or self.largest_detectable <= self.stated

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready; ``claim`` and ``proof`` are epsilons or null."""
        return {
            **asdict(self),
            "claim": None if self.claim is None else self.claim.epsilon,
            "claim_source": None if self.claim is None else self.claim.source,
            "proof": None if self.proof is None else self.proof.epsilon,
            "contradicts_claim": self.contradicts_claim,
            "contradicts_proof": self.contradicts_proof,
            "caught_half": self.caught_half,
            "inconclusive": self.inconclusive,
        }


def audited(
    name: str,
    subject: Auditable,
    privacy: Privacy,
    *,
    runs: int,
    seed: int,
    confidence: float,
    half: bool,
    **options: Any,
) -> Audit:
    """Attack one subject under a request; ``privacy.delta`` is there."""
    delta = float(privacy.delta or 0.0)
    honest = subject.clouds(privacy, runs, seed, 1.0, **options)
    # other draws than those of the honest run
    halved = subject.clouds(privacy, runs, seed + 1000, HALF, **options) if half else None
    apart = replace(honest, first=np.zeros_like(honest.first), second=np.ones_like(honest.second))
    result = Audit(
        lower=_bound(honest, delta, confidence),
        delta=delta,
        confidence=confidence,
        runs=len(honest.first) + len(honest.second),
        attack=honest.scene,
        name=name,
        mode=privacy.mode,
        adjacency=privacy.adjacency,
        claim=honest.claim,
        proof=honest.proof,
        lower_any=epsilon_lower_bound(honest.first, honest.second, delta, confidence),
        half_lower=None if halved is None else _bound(halved, delta, confidence),
        largest_detectable=_bound(apart, delta, confidence),
    )
    if not result.inconclusive:
        return result
    return replace(result, runs_needed=_runs_needed(halved or apart, result))


def _runs_needed(weaker: Clouds, result: Audit) -> int | None:
    """The first doubling of the runs with which the weaker mechanism, going by what was seen of it,
    shows more than is stated of the whole one."""
    times = 2
    while times * len(weaker.first) <= MOST_RUNS:
        more = replace(
            weaker,
            first=np.concatenate([weaker.first] * times),
            second=np.concatenate([weaker.second] * times),
        )
        if _bound(more, result.delta, result.confidence) > (result.stated or 0.0):
            return times * len(weaker.first)
        times *= 2
    return None


def _bound(clouds: Clouds, delta: float, confidence: float) -> float:
    """Which of the two readings applies is settled by the ledger, not by what they show."""
    find = gaussian_lower_bound if clouds.normal else epsilon_lower_bound
    bound = find(clouds.first, clouds.second, delta, confidence)
    return bound if math.isfinite(bound) else 0.0
