"""Public choices of a gradient fit: what they are, and which go together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dpcore.checks import one_of, positive, probability, share_below_one, whole
from dpcore.errors import InputError
from dpcore.models.gradient_em.mathematics import default_tau

ALGORITHMS = ("em", "clipped", "robust")
FORMS = ("first", "second")
BENDS = ("typical", "printed")
PRINTED_THRESHOLD = 1.0  # C of Algorithm 1 in the paper's figures


@dataclass(frozen=True)
class GradientSettings:
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

    components: int = 1
    iterations: int = 15
    algorithm: str | None = None
    sigma: float = 1.0
    tau: float | None = None
    threshold: float | None = None
    norm: float | None = None
    step_size: float = 1.0
    initial: tuple[float, ...] | None = None
    start: int = 0
    start_norm: float | None = None
    own: bool = True
    split: bool = False
    failure: float = 0.05
    bend: str = "typical"
    form: str = "first"
    rows: int | None = None
    missing_rate: float = 0.0
    mode: str = "proved"

    @classmethod
    def parse(
        cls,
        *,
        components: int = 1,
        iterations: int | None = None,
        algorithm: str | None = None,
        sigma: float = 1.0,
        tau: float | None = None,
        threshold: float | None = None,
        norm: float | None = None,
        step_size: float = 1.0,
        initial: Sequence[float] | None = None,
        start: int = 0,
        start_norm: float | None = None,
        own: bool = True,
        split: bool | None = None,
        failure: float = 0.05,
        bend: str | None = None,
        form: str = "first",
        rows: int | None = None,
        missing_rate: float = 0.0,
        mode: str = "proved",
    ) -> GradientSettings:
        """Settings from plain words; components are not asked for: there is one beta."""
        if algorithm is not None:
            one_of("algorithm", algorithm, ALGORITHMS)
        if mode == "paper":
            algorithm, split, bend = _as_printed(algorithm, split, bend)
            if algorithm == "clipped" and threshold is None:
                threshold = PRINTED_THRESHOLD
        failure = probability("failure", failure, example="0.05")
        one_of("form", form, FORMS)
        if form == "second" and failure > math.exp(-1.0):
            raise InputError(
                "form",
                "the second printed noise is too small to be private for a failure above 1/e",
                "choose the first form or a smaller failure",
            )
        if form == "second" and (mode != "paper" or algorithm != "robust"):
            raise InputError(
                "form", "only the robust algorithm as printed has two", "leave it at first"
            )
        if split and algorithm == "em":
            raise InputError("split", "em needs no parts", "choose clipped or robust")
        return cls(
            components=1,
            iterations=whole("iterations", 15 if iterations is None else iterations),
            algorithm=algorithm,
            sigma=positive("sigma", sigma),
            tau=None if tau is None else positive("tau", tau),
            threshold=None if threshold is None else positive("threshold", threshold),
            norm=None if norm is None else positive("norm", norm),
            step_size=positive("step_size", step_size),
            initial=None if initial is None else _finite(initial),
            start=whole("start", start, least=0),
            start_norm=None if start_norm is None else positive("start_norm", start_norm),
            own=bool(own),
            split=bool(split),
            failure=failure,
            bend=one_of("bend", bend or "typical", BENDS),
            form=form,
            rows=None if rows is None else whole("rows", rows),
            missing_rate=share_below_one("missing_rate", missing_rate),
            mode=mode,
        )

    @property
    def public_tau(self) -> float:
        return default_tau(self.sigma) if self.tau is None else self.tau

    def radius(self, dim: int) -> float:
        """The largest norm that a clipped gradient keeps."""
        return math.sqrt(dim * self.public_tau) if self.threshold is None else self.threshold


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
