"""What an exhibit is: a printed claim, a case that it does not cover, and the remedy in that case.

Each names two tables, what an attacker looks for, and the delta that the mechanism has at least at
the epsilon claimed: exact where a formula is known. A delta above the claimed one refutes the claim
at that epsilon; the corrected mechanism meets the same attack and stands.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dpcore.accounting import delta_of, mu_of
from dpcore.arrays import Array
from dpcore.privacy.guarantee import delta_text, show

DRAWS = 2000  # of each cloud of a picture


@dataclass(frozen=True, repr=False)
class Picture:
    """One number that leaves, drawn often under each of the two tables ``(draws,)``."""

    axis: str
    first: Array
    second: Array


@dataclass(frozen=True)
class Counterexample:
    """What an exhibit shows.

    epsilon, delta: claimed. attained: a delta that the mechanism has at least, at that epsilon.
    confidence: of ``attained``; 1 where it is exact. tables: the two, in words. event: what the
    attacker looks for. counted: how often it was seen under each, of how many runs.
    """

    claim: str
    epsilon: float
    delta: float
    attained: float
    confidence: float
    tables: tuple[str, str]
    event: str
    counted: tuple[int, int, int] | None = None

    @property
    def refuted(self) -> bool:
        """Whether the claim fails here."""
        return self.attained > self.delta


@dataclass(frozen=True)
class Exhibit:
    """A claim that does not cover a case.

    shown: claim, tables, event and the delta attained. source: paper and place. assumption: what
    the claim takes for granted. correction: what is done instead; corrected: the delta that this
    has, at most, at the same epsilon. stated, true: the amount stated and the real one, where it is
    one amount. case: what the claim does not cover, for everybody. published_picture,
    corrected_picture: what leaves, by the printed mechanism and by the corrected one.
    """

    name: str
    shown: Counterexample
    source: str
    assumption: str
    correction: str
    corrected: float
    case: str
    published_picture: Picture
    corrected_picture: Picture
    stated: float | None = None
    true: float | None = None

    @property
    def refuted(self) -> bool:
        """Whether the claim fails here."""
        return self.shown.refuted

    @property
    def sentence(self) -> str:
        """The case in a sentence."""
        return f"The printed bound does not cover this case: {self.case}"

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready, without the pictures."""
        shown = asdict(self.shown)
        return {
            **{"found" if key == "attained" else key: value for key, value in shown.items()},
            "refuted": self.refuted,
            "name": self.name,
            "source": self.source,
            "assumption": self.assumption,
            "correction": self.correction,
            "corrected": self.corrected,
            "said": self.stated,
            "true": self.true,
            "sentence": self.sentence,
        }

    def sentences(self) -> tuple[str, ...]:
        """The exhibit in sentences."""
        shown = self.shown
        sure = "exact" if shown.confidence == 1.0 else f"{shown.confidence:.0%} confidence"
        counts = ""
        if shown.counted is not None:
            here, there, runs = shown.counted
            counts = (
                f" It occurred in {here:,} of {runs:,} runs under the first table and in "
                f"{there:,} of {runs:,} under the second."
            )
        return (
            f"Claim: {shown.claim}: epsilon {show(shown.epsilon)}, delta {_delta(shown.delta)}.",
            f"Printed in: {self.source}.",
            f"It assumes: {self.assumption}.",
            f"Two tables: {shown.tables[0]}; {shown.tables[1]}.",
            f"The attacker looks for: {shown.event}.{counts}",
            f"Shown: delta is at least {_delta(shown.attained, down=True)} at that epsilon "
            f"({sure}).",
            f"Corrected: {self.correction}. Then delta is at most {_delta(self.corrected)}.",
            self.sentence,
        )


def _delta(delta: float, *, down: bool = False) -> str:
    """As :func:`delta_text`; zero is no rounded number."""
    return delta_text(delta, down=down) if delta else "0"


def of_normal_noise(
    name: str,
    *,
    claim: str,
    epsilon: float,
    delta: float,
    published: float,
    corrected: float,
    tables: tuple[str, str],
    event: str = "a release whose likelihood ratio exceeds e^epsilon",
    stated: float | None = None,
    true: float | None = None,
    **words: str,
) -> Exhibit:
    """An exhibit of normal noise: published and corrected are true change / deviation, both mu.

    Exact, by Balle, Wang 2018, Theorem 8.
    """
    return Exhibit(
        name,
        Counterexample(
            claim, epsilon, delta, float(delta_of(epsilon, published)), 1.0, tables, event
        ),
        corrected=float(delta_of(epsilon, corrected)),
        stated=stated,
        true=true,
        published_picture=normal_picture(published),
        corrected_picture=normal_picture(corrected),
        **words,
    )


def normal_picture(mu: float) -> Picture:
    """Two clouds of normal noise, mu deviations apart."""
    noise = np.random.default_rng(0).standard_normal((2, DRAWS))
    return Picture("released value (standard deviations of the noise)", noise[0], mu + noise[1])


def stated_mu(epsilon: float, delta: float) -> float:
    """The largest mu that meets a claim: whoever computes noise exactly spends this much."""
    return float(mu_of(epsilon, delta))
