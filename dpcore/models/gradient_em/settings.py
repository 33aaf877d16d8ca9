"""Public choices of a gradient fit: what they are, and which go together."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpcore.checks import one_of, positive, probability, share_below_one, whole
from dpcore.errors import InputError
from dpcore.models.gradient_em.mathematics import default_tau
from dpcore.models.options import Dial, Settings, from_zero, option, word, yes_or_no

ALGORITHMS = ("em", "clipped", "robust")
FORMS = ("first", "second")
BENDS = ("typical", "printed")
PRINTED_THRESHOLD = 1.0  # C of Algorithm 1 in the paper's figures


def default_threshold(known: Mapping[str, Any], columns: int) -> float:
    """``sqrt(d tau)``, from the other options."""
    return math.sqrt(columns * _tau(known, columns))


def _tau(known: Mapping[str, Any], columns: int) -> float:
    return float(known.get("tau", default_tau(known.get("sigma", 1.0))))


def _sigma(known: Mapping[str, Any], columns: int) -> float:
    return float(known.get("sigma", 1.0))


def _own(name: str, text: str) -> bool:
    return one_of(name, text, ("own", "unit")) == "own"


_START = Dial(
    "Start",
    "Which of the public random starts: none of them knows the rows.",
    *(0, 999, 1, "%d"),
)
_START_NORM = Dial(
    "How far from 0 it starts",
    "Gradient EM finds the answer only from a start that is near enough, and not too near 0.",
    *(1e-3, 1e6, 0.5, "%.4g"),
    usual=_sigma,
)


@dataclass(frozen=True)
class GradientSettings(Settings):
    """Public choices of a gradient fit; none may be read from the data.

    algorithm: ``None`` is clipped under privacy and em without. sigma: the known noise level. tau:
    bound on the mean square of a gradient's coordinate, ``None`` for ``4 sigma^2``. threshold:
    largest norm of a gradient, ``None`` for ``sqrt(d tau)``; of the robust algorithm the scale of
    its truncation, ``None`` for that of ``bend``. norm: largest ``|beta|``. initial: where to
    start, ``None`` for a start by the seed ``start`` of norm ``start_norm`` (``None``: sigma). own:
    whether all these are in the data's own units about 0, not in public unit coordinates. split:
    whether every step has rows of its own. failure: the probability ``zeta`` at which the
    truncation aims. bend: its scale, twice the typical coordinate (``2 sqrt tau``) or as printed.
    form: which printed noise. rows: a public guess of how many rows there are, where that is not
    public. missing_rate: share of the numbers to hide on top.
    """

    iterations: int = option(
        15, whole, "steps, fixed in advance [15]", flag="iterations", metavar="J"
    )
    algorithm: str | None = option(
        None,
        word(*ALGORITHMS),
        "em (without privacy), clipped or robust [clipped; robust in paper mode]",
        flag="algorithm",
        metavar="A",
    )
    sigma: float = option(
        1.0,
        positive,
        "the known noise level, in the data's own units [1]",
        flag="sigma",
        metavar="SD",
        dial=Dial(
            "Noise level of the model",
            "How far rows lie from a cloud or a line. The model takes it as known, so it must be "
            "known from elsewhere, never from these rows.",
            *(0.001, 1e6, 0.5, "%.4g"),
        ),
    )
    tau: float | None = option(
        None,
        positive,
        "a public bound on the mean square of a gradient's coordinate [4 sigma^2]",
        flag="tau",
        metavar="T",
        dial=Dial(
            "Public bound on a gradient's mean square",
            "How strongly one row may pull at one coefficient, squared and on average; 4 times the "
            "squared noise level unless you know better. A wrong one hurts the fit, never privacy.",
            *(1e-6, 1e12, 1.0, "%.4g"),
            usual=_tau,
        ),
    )
    threshold: float | None = option(
        None,
        positive,
        "largest norm that a gradient keeps; of robust the scale of its truncation [sqrt(d tau)]",
        flag="clip",
        metavar="C",
        dial=Dial(
            "Longest pull that counts fully",
            "A row that pulls harder at the coefficients is drawn in to this length: less noise is "
            "needed, but strong pulls count less.",
            *(1e-6, 1e6, 1.0, "%.4g"),
            usual=default_threshold,
            methods=("recommended",),
        ),
    )
    norm: float | None = option(None, positive)
    step_size: float = option(1.0, positive)
    initial: tuple[float, ...] | None = option(None, lambda name, values: _finite(values))
    missing_rate: float = 0.0
    start: int = option(0, from_zero)
    start_norm: float | None = option(None, positive)
    own: bool = option(
        True,
        yes_or_no,
        "own: the columns' units, about 0; unit: shares of their limits, about the middle [own]",
        flag="coordinates",
        metavar="W",
        read=_own,
        write=lambda own: "own" if own else "unit",
        dial=Dial(
            "Measured in the columns' own units, about 0",
            "Otherwise in shares of the limits, about their middle.",
        ),
    )
    split: bool = option(False, yes_or_no)
    failure: float = option(0.05, lambda name, value: probability(name, value, example="0.05"))
    bend: str = option("typical", word(*BENDS))
    form: str = option("first", word(*FORMS))
    rows: int | None = option(None, whole)

    @classmethod
    def together(cls, given: dict[str, Any], mode: str) -> dict[str, Any]:
        """As :class:`Settings` says; components are not asked for: there is one beta."""
        together = dict(given)
        if mode == "paper":
            algorithm, split, bend = _as_printed(
                *(given.get(name) for name in ("algorithm", "split", "bend"))
            )
            together.update(algorithm=algorithm, split=split, bend=bend)
            if algorithm == "clipped":
                together.setdefault("threshold", PRINTED_THRESHOLD)
        second = given.get("form") == "second"
        if second and given.get("failure", 0.05) > math.exp(-1.0):
            raise InputError(
                "form",
                "the second printed noise is too small to be private for a failure above 1/e",
                "choose the first form or a smaller failure",
            )
        if second and (mode != "paper" or together.get("algorithm") != "robust"):
            raise InputError(
                "form", "only the robust algorithm as printed has two", "leave it at first"
            )
        if together.get("split") and together.get("algorithm") == "em":
            raise InputError("split", "em needs no parts", "choose clipped or robust")
        return together

    @property
    def public_tau(self) -> float:
        return default_tau(self.sigma) if self.tau is None else self.tau

    def radius(self, dim: int) -> float:
        """The largest norm that a clipped gradient keeps."""
        return math.sqrt(dim * self.public_tau) if self.threshold is None else self.threshold


@dataclass(frozen=True)
class MirroredSettings(GradientSettings):
    """Of the two models that are the same with the sign of beta changed: where they start."""

    start: int = option(
        0,
        from_zero,
        "which of the public random starts [0]",
        flag="start",
        metavar="S",
        dial=_START,
    )
    start_norm: float | None = option(
        None,
        positive,
        "how far from 0 that start lies [sigma]",
        flag="start-norm",
        metavar="R",
        dial=_START_NORM,
    )


@dataclass(frozen=True)
class MissingSettings(GradientSettings):
    """Of the regression with missing cells: how many to hide on top."""

    missing_rate: float = option(
        0.0,
        share_below_one,
        "share of the numbers to hide on top, by a public coin [0]",
        flag="missing-rate",
        metavar="P",
        dial=Dial(
            "Share of the answers to hide on top",
            "A coin that reads no answer hides so many of those that are there.",
            *(0.0, 0.9, 0.05, "%.2f"),
        ),
    )


def _as_printed(
    algorithm: str | None, split: bool | None, bend: str | None
) -> tuple[str | None, bool, str]:
    """The algorithm as a paper prints it: all rows for Algorithm 1, parts for Algorithm 2."""
    robust = algorithm in (None, "robust")
    if split is not None and split != robust:
        raise InputError(
            "split",
            "as printed, the robust algorithm splits the rows and the clipped one does not",
            "leave it out or choose the proved mode",
        )
    if bend not in (None, "printed"):
        raise InputError("bend", "the paper prints another", "leave it out")
    return "robust" if algorithm is None else algorithm, robust, "printed"


def _finite(values: Sequence[float]) -> tuple[float, ...]:
    try:
        found = tuple(map(float, values))
    except (TypeError, ValueError):
        found = ()
    if not found or not all(map(math.isfinite, found)):
        raise InputError("initial", "it is not a list of numbers", "give one number a column")
    return found
