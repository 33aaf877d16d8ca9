"""Public choices of a gradient fit: what they are, and which go together."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpcore.checks import one_of, positive, share_below_one
from dpcore.errors import InputError
from dpcore.models.gradient_em.mathematics import default_tau
from dpcore.models.shared.truncated_options import failure_option, rows_option
from dpcore.options import (
    BY_METHOD,
    FITTED,
    START,
    UNLESS_GIVEN,
    Dial,
    Settings,
    Slide,
    from_zero,
    iterations_option,
    option,
    start_option,
    switch_option,
    word,
    yes_or_no,
)

ALGORITHMS = ("em", "clipped", "robust")
FORMS = ("first", "second")
BENDS = ("typical", "printed")
TRUSTS = ("central", "local")
PRINTED_THRESHOLD = 1.0  # C of Algorithm 1 in the paper's figures


def default_threshold(options: Mapping[str, Any], columns: int) -> float:
    """``sqrt(d tau)``, from the other options."""
    return math.sqrt(columns * _tau(options, columns))


def _tau(options: Mapping[str, Any], columns: int) -> float:
    return float(options.get("tau", default_tau(options.get("sigma", 1.0))))


def _sigma(options: Mapping[str, Any], columns: int) -> float:
    return float(options.get("sigma", 1.0))


def _own(name: str, text: str) -> bool:
    return one_of(name, text, ("own", "unit")) == "own"


_START_NORM = Dial(
    "Distance of the start from 0",
    "Gradient EM finds the answer only from a start that is near it and not too near 0.",
    *(1e-3, 1e6, 0.5, "%.4g"),
    usual=_sigma,
    slide=Slide("Distance of the start", "distance of the start", ("nearer to 0", "farther")),
)
_ONE_START = "this model starts at 0"
_ROBUST = ("robust_means", "robust_means_exact")


@dataclass(frozen=True)
class GradientSettings(Settings):
    """Public choices of a gradient fit; none may be read from the data.

    algorithm: ``None`` is clipped under privacy and em without. sigma: the known noise level. tau:
    bound on the mean square of a gradient's coordinate, ``None`` for ``4 sigma^2``. threshold:
    largest norm of a gradient, ``None`` for ``sqrt(d tau)`` or less; of the robust algorithm
    the scale of its truncation, ``None`` for that of ``bend``. norm: largest ``|beta|``. initial:
    where to start, ``None`` for a start by the seed ``start`` of norm ``start_norm`` (``None``:
    sigma). own: whether all these are in the data's own units about 0, not in public unit
    coordinates. split: whether every step has its own rows. failure: the probability ``zeta`` at
    which the truncation aims. bend: its scale, twice the typical coordinate (``2 sqrt tau``) or as
    printed. trust: who adds the noise; in the ``local`` model each person, to the own gradient,
    which is sent once: rows are split. form: which printed noise. rows: a public guess of how many
    rows there are, where that is not public. missing_rate: share of the numbers to hide on top.
    """

    iterations: int = iterations_option(15)
    algorithm: str | None = option(
        None,
        word(*ALGORITHMS),
        "em (without privacy), clipped or robust [clipped; robust in paper mode]",
        metavar="A",
        not_asked=BY_METHOD,
    )
    sigma: float = option(
        1.0,
        positive,
        "the model's known noise level, in the units of --coordinates [1]",
        metavar="SD",
        dial=Dial(
            "Noise level of the model",
            "Standard deviation of rows around a cloud's centre or a line. The model treats it as "
            "known, so it must come from elsewhere, never from these rows.",
            *(0.001, 1e6, 0.5, "%.4g"),
            still=FITTED,
        ),
    )
    tau: float | None = option(
        None,
        positive,
        "a public bound on the mean square of a gradient coordinate [4 sigma^2]",
        metavar="T",
        dial=Dial(
            "Public bound on a gradient's mean square",
            "Bound on the mean, over rows, of a coefficient's squared gradient; by default 4 "
            "times the squared noise level. A wrong value harms the fit, never privacy.",
            *(1e-6, 1e12, 1.0, "%.4g"),
            usual=_tau,
            slide=Slide("Bound on mean squares", "bound on mean squares", ("smaller", "larger")),
        ),
    )
    threshold: float | None = option(
        None,
        positive,
        "largest norm of a gradient [sqrt(d tau), less where noise is strong; paper mode 1]; for "
        "robust, the scale of its truncation [2 sqrt(tau)]",
        flag="clip",
        metavar="C",
        dial=Dial(
            "Clipping norm of the gradients",
            "Longer gradients are scaled back to this norm: a smaller norm needs less noise but "
            "distorts more gradients. Until you set it, it is smaller than this where noise is "
            "strong.",
            *(1e-6, 1e6, 1.0, "%.4g"),
            usual=default_threshold,
            methods=("recommended",),
            slide=Slide("Clipping norm", "clipping norm", ("less noise", "less clipping")),
        ),
    )
    norm: float | None = option(
        None,
        positive,
        "largest norm of the coefficients [what the limits allow]",
        metavar="R",
        dial=Dial(
            "Largest norm of the coefficients",
            "Longer coefficient vectors are scaled back to this norm after each step.",
            *(1e-6, 1e6, 1.0, "%.4g"),
            empty="what the limits allow",
            still=UNLESS_GIVEN,
        ),
    )
    step_size: float = option(
        1.0,
        positive,
        "length of a step; 1 is a full EM step (for regressions, with uncorrelated standardised "
        "covariates) [1]",
        metavar="A",
        dial=Dial(
            "Step size",
            "1 is a full EM step (for regressions, with uncorrelated standardised covariates); "
            "smaller steps move less, and add less of each step's noise. In a proved fit, once "
            "a step has clearly overshot, all later steps are half as long.",
            *(0.01, 10.0, 0.1, "%.3g"),
            slide=Slide("Step size", "step size", ("smaller", "larger")),
        ),
    )
    initial: tuple[float, ...] | None = option(
        None,
        lambda name, values: _finite(values),
        not_asked="it is a list of numbers, one per column",
    )
    trust: str = option("central", word(*TRUSTS), not_asked=BY_METHOD)
    missing_rate: float = 0.0
    start: int | None = option(0, from_zero, not_asked=_ONE_START)
    start_norm: float | None = option(None, positive, not_asked=_ONE_START)
    own: bool = option(
        True,
        yes_or_no,
        "own (the columns' units, from 0) or unit (half ranges of their limits, from the middle) "
        "[own]",
        flag="coordinates",
        metavar="W",
        read=_own,
        write=lambda own: "own" if own else "unit",
        dial=Dial(
            "Measured in the columns' own units, from 0",
            "Otherwise, columns are measured in half ranges of their limits, from the middle.",
        ),
    )
    split: bool = switch_option(
        "whether every step has its own rows",
        Dial(
            "Separate rows for every step",
            "Each row is then read only once, so a step needs less noise but has fewer rows.",
            methods=("recommended", "robust_means_exact"),
        ),
    )
    failure: float = failure_option(
        "for robust: the failure probability that sets its truncation [0.05]", *_ROBUST
    )
    bend: str = option("typical", word(*BENDS), not_asked=BY_METHOD)
    form: str = option(
        "first",
        word(*FORMS),
        "for robust in paper mode: which printed form of the noise, first or second [first]",
        metavar="F",
        dial=Dial(
            "Printed form of the noise",
            "The variances of the two printed forms differ by a factor of ln(1/ζ).",
            choices={"first": "first", "second": "second"},
            methods=_ROBUST[:1],
        ),
    )
    rows: int | None = rows_option(*_ROBUST)

    @classmethod
    def together(cls, chosen: dict[str, Any], mode: str) -> dict[str, Any]:
        """As :class:`Settings` says; components are not asked for: there is one beta.

        Raises InputError for choices that exclude each other.
        """
        together = dict(chosen)
        if together.get("trust", "central") == "local":
            together["split"] = _one_message(mode, together)
        if mode == "paper":
            algorithm, split, bend = _as_printed(
                *(chosen.get(name) for name in ("algorithm", "split", "bend"))
            )
            together.update(algorithm=algorithm, split=split, bend=bend)
            if algorithm == "clipped":
                together.setdefault("threshold", PRINTED_THRESHOLD)
        second = chosen.get("form") == "second"
        if second and chosen.get("failure", 0.05) > math.exp(-1.0):
            raise InputError(
                "form",
                "noise in the second printed form can be too small for privacy where the "
                "failure probability is above 1/e",
                "choose the first form or a smaller failure probability",
            )
        if second and (mode != "paper" or together.get("algorithm") != "robust"):
            raise InputError(
                "form",
                "only the paper's robust algorithm has two printed forms of the noise",
                "leave this option at its default",
            )
        if together.get("split") and together.get("algorithm") == "em":
            raise InputError("split", "em does not split the rows", "choose clipped or robust")
        return together

    @property
    def public_tau(self) -> float:
        """The public bound on the mean square of a gradient coordinate, as given or by default."""
        return default_tau(self.sigma) if self.tau is None else self.tau

    def radius(self, dim: int) -> float:
        """The largest norm that a clipped gradient keeps, where there is no noise."""
        return math.sqrt(dim * self.public_tau) if self.threshold is None else self.threshold


@dataclass(frozen=True)
class MirroredSettings(GradientSettings):
    """Of the two models that are the same with the sign of beta changed: where they start."""

    start: int | None = start_option()
    start_norm: float | None = option(
        None,
        positive,
        "distance of the start from 0 [sigma]",
        metavar="R",
        dial=_START_NORM,
    )


@dataclass(frozen=True)
class RegressionsSettings(MirroredSettings):
    """Of the mixture of two regressions: a start that the first release finds, or a public one."""

    start: int | None = option(
        None,
        from_zero,
        "which of the public random starts [the first step finds one; 0 where it cannot]",
        metavar="S",
        dial=Dial(
            START.label,
            f"{START.help} If empty, the first step finds the direction in which targets are "
            "large. This takes a proved fit of 2 to 64 columns with at least 3 steps, each of "
            "which uses all rows; otherwise, and where noise hides the direction, it is start 0.",
            *(0, 999, 1, "%d"),
            empty="found by the first step, where it can be",
            still=START.still,
        ),
    )


@dataclass(frozen=True)
class MissingSettings(GradientSettings):
    """Of the regression with missing cells: how many to hide on top."""

    missing_rate: float = option(
        0.0,
        share_below_one,
        "extra share of the cells to hide, at random and independently of the data [0]",
        metavar="P",
        dial=Dial(
            "Extra share of the cells to hide",
            "Hides this share of the non-missing cells, at random and independently of their "
            "values.",
            *(0.0, 0.9, 0.05, "%.2f"),
            still=FITTED,
        ),
    )


def _one_message(mode: str, chosen: Mapping[str, Any]) -> bool:
    """In the local model the rows are split: a person sends once, in the step of a group."""
    if mode == "paper":
        raise InputError("trust", "the paper has no local gradient EM", "choose the proved mode")
    if chosen.get("algorithm") == "em":
        raise InputError("algorithm", "em does not bound its gradients", "choose clipped or robust")
    if chosen.get("split") is False:
        raise InputError(
            "split", "in the local model each person sends one gradient", "leave it out"
        )
    return True


def _as_printed(
    algorithm: str | None, split: bool | None, bend: str | None
) -> tuple[str | None, bool, str]:
    """The algorithm as a paper prints it: all rows for Algorithm 1, parts for Algorithm 2."""
    robust = algorithm in (None, "robust")
    if split is not None and split != robust:
        raise InputError(
            "split",
            "as printed, the robust algorithm splits the rows, but the clipped one does not",
            "leave it out or choose the proved mode",
        )
    if bend not in (None, "printed"):
        raise InputError("bend", "the paper truncates differently", "leave it out")
    return "robust" if algorithm is None else algorithm, robust, "printed"


def _finite(values: Sequence[float]) -> tuple[float, ...]:
    try:
        numbers = tuple(map(float, values))
    except (TypeError, ValueError):
        numbers = ()
    if not numbers or not all(map(math.isfinite, numbers)):
        raise InputError("initial", "it is not a list of numbers", "give one number per column")
    return numbers
