"""Gradient EM of three models with one vector of coefficients (Wang et al. 2023)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from dpcore.declaration import (
    LOG_LIKELIHOOD,
    Method,
    Metric,
    Model,
    Opening,
    Statement,
    World,
    places,
)
from dpcore.models.gradient_em.settings import (
    GradientSettings,
    MirroredSettings,
    MissingSettings,
    RegressionsSettings,
)

_METHODS = {
    "robust_means": Method("Robust means", "paper", ("zcdp",), algorithm="robust"),
    "robust_means_exact": Method("Robust means, all rows in every step", algorithm="robust"),
    "local": Method("Local model, noise from each person", words=(("trust", "local"),)),
    "clipped_at_1": Method(
        "Clipping at 1", "paper", ("zcdp",), algorithm="clipped", words=(("threshold", 1.0),)
    ),
}


_WORLDS = (
    World(mirrored=True),
    World(0.6, related=1.5, mirrored=True),
    World(0.35, related=0.5, mirrored=True),
)
_DECIDES = (
    "the norm of the coefficients relative to sigma, and how much of its range each column fills"
)
STATEMENT = Statement(
    adds="a clipped gradient: *diameter of a ball of clipped vectors and a count*; of two "
    "regressions on several columns, before that, the square of a row's direction, alone and "
    "weighted by the size of its target: *the same*",
    proved="every step uses all rows; gradients are clipped to norm sqrt(d tau), where tau bounds "
    "a coordinate's mean square, or less where noise is strong",
    claim="Wang et al. 2023, Algorithm 2 and Theorem 3: the claim holds where each row is used in "
    "only one step. The two printed forms of the noise variance differ by a factor of ln(1/zeta), "
    "where zeta is the failure probability; the second is smaller for zeta above 1/e, and too "
    "small for zeta near 1",
)


def _gradient_model(
    name: str,
    title: str,
    noun: str,
    settings: type[GradientSettings],
    audits: Mapping[str, str] = MappingProxyType({}),
    **more: Any,
) -> Model:
    """One of the three; in a table that is not made for it, it sees shares of the limits."""
    constant = name.upper().replace("-", "_")
    return Model(
        name=name,
        package=__name__,
        settings=settings,
        title=title,
        single_title=title,
        noun=noun,
        papers=("wang2023",),
        statement=STATEMENT,
        clip="",
        clips_rows=False,
        opening=Opening(components=1, iterations=10, words="sigma:0.3;own:0"),
        most=1,
        methods=_METHODS,
        one_row=True,
        holds_out=False,
        metrics=(
            Metric(
                "estimation_error",
                "Estimation error",
                "distance from exact",
                falls=True,
                of_rows=False,
            ),
            Metric("share", "Share of the way", "share of the way to exact", of_rows=False),
            LOG_LIKELIHOOD,
        ),
        audits={name: f"attack:{constant}", **audits},
        **places(constant),
        **{
            "worlds": _WORLDS,
            "decides": _DECIDES,
            "uncertainty": "uncertainty:UNCERTAINTY",
            **more,
        },
    )


SYMMETRIC_MIXTURE = _gradient_model(
    "symmetric-mixture",
    "Symmetric Gaussian mixture",
    "a symmetric Gaussian mixture (two mirrored clouds)",
    MirroredSettings,
    {"symmetric-mixture-local": "attack:SYMMETRIC_MIXTURE_LOCAL"},
    uncertainty="uncertainty:CLOUDS",
    table="parameters:cloud_table",
    meanings={
        "beta": "how far the centre of one cloud lies from the point between the two; that of the "
        "other lies as far on the opposite side",
        "origin": "the point between the two clouds",
    },
)
MIXTURE_REGRESSION = _gradient_model(
    "mixture-regression",
    "Mixture of two regressions",
    "a mixture of two regressions (two lines with opposite slopes)",
    RegressionsSettings,
    {"mixture-regression-direction": "attack:MIXTURE_REGRESSION_DIRECTION"},
    worlds=(World(edges=0.3, mirrored=True), *_WORLDS[1:]),
    reads="target",
    plane=False,
    table="parameters:lines_table",
    meanings={
        "beta": "what one more unit of each column adds to the target on one line, and takes from "
        "it on the other",
        "origin": "where the two lines meet",
        "target_origin": "the target there",
    },
)
MISSING_REGRESSION = _gradient_model(
    "missing-regression",
    "Regression with missing covariates",
    "a linear regression (with missing covariates)",
    MissingSettings,
    meanings={
        "beta": "what one more unit of each column adds to the target, which is 0 for a row of "
        "zeros unless an origin is stated",
        "origin": "a row for which the target is known without beta",
        "target_origin": "the target of that row",
    },
    reads="target",
    plane=False,
    table="parameters:line_table",
    uncertainty="uncertainty:MISSING_REGRESSION",
    worlds=(
        World(related=0.3, away=0.5),
        World(related=1.0),
        World(0.25, related=1.0, counts=True),
    ),
    decides="how far the columns are from 0 relative to their limits, and how large the target's "
    "mean is compared with its spread",
)
