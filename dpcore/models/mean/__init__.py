"""The mean of heavy-tailed columns, central or local (Wang et al. 2023; Duchi et al. 2018)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dpcore.checks import positive, probability, whole
from dpcore.errors import InputError
from dpcore.models.declaration import Metric, Model, Opening, World
from dpcore.models.mean.mathematics import METHODS
from dpcore.models.options import Settings, option, word

TRUSTS = ("central", "local", "local_onebit")


@dataclass(frozen=True)
class MeanSettings(Settings):
    """Public choices of a mean; none may be read from the data.

    trust: who adds the noise. method: where numbers are bent, see
    :func:`dpcore.models.mean.mathematics.central`. tau: public bound on the mean square of a column
    about the middle of its bounds, in its own units squared; ``None``: what the bounds allow.
    failure: the probability at which the bend aims. rows: a public guess of how many rows there
    are, where that is not public.
    """

    trust: str = option("central", word(*TRUSTS))
    method: str = option("clip", word(*METHODS), paper="improved")
    tau: float | None = option(
        None,
        positive,
        "a public bound on a column's mean square about the middle of its limits [the limits']",
        flag="tau",
        metavar="T",
    )
    failure: float = option(0.05, lambda name, value: probability(name, value, example="0.05"))
    rows: int | None = option(
        None,
        whole,
        "a public guess of how many rows there are, where their number is private [none]",
        flag="rows",
        metavar="N",
    )

    @classmethod
    def together(cls, given: dict[str, Any], mode: str) -> dict[str, Any]:
        bits, method = given.get("trust") == "local_onebit", given.get("method")
        if mode == "paper" and (bits or method not in (None, "older", "improved")):
            raise InputError(
                "method", "the paper prints another", "choose older or improved, with noise"
            )
        if bits and method not in (None, "clip"):
            raise InputError("method", "one bit is sent of a clipped number", "choose clip")
        return given


MODEL = Model(
    name="mean",
    package=__name__,
    settings=MeanSettings,
    title="Column means",
    single_title="Column means",
    noun="a mean",
    papers=("wang2023", "duchi2018"),
    clip="",
    clips_rows=False,
    opening=Opening(components=1),
    most=1,
    plane=False,
    one_row=True,
    uncertainty="uncertainty:UNCERTAINTY",
    holds_out=False,
    metrics=(
        Metric(
            "estimation_error",
            "Error",
            "error (half ranges)",
            falls=True,
            of_rows=False,
        ),
    ),
    worlds=(World(0.2), World(), World(apart=0.25)),
    decides="how far the means lie from the middle of their limits",
    audits={
        "mean": "attack:MEAN",
        "mean-local": "attack:MEAN_LOCAL",
        "mean-one-bit": "attack:MEAN_ONE_BIT",
    },
)
