"""The mean of heavy-tailed columns, central or local (Wang et al. 2023; Duchi et al. 2018)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dpcore.checks import positive
from dpcore.declaration import Method, Metric, Model, Opening, Statement, World
from dpcore.errors import InputError
from dpcore.models.mean.mathematics import METHODS
from dpcore.models.shared.truncated_options import failure_option, rows_option
from dpcore.options import BY_METHOD, Dial, Settings, Slide, option, word

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

    trust: str = option("central", word(*TRUSTS), not_asked=BY_METHOD)
    method: str = option(
        "clip",
        word(*METHODS),
        "truncation: clip or bound; in paper mode older or improved [clip; improved]",
        metavar="M",
        paper="improved",
        not_asked=BY_METHOD,
    )
    tau: float | None = option(
        None,
        positive,
        "a public bound on a column's mean square about the middle of its limits [from the limits]",
        metavar="T",
        dial=Dial(
            "Public bound on a column's mean square",
            "Measured about the middle of the column's limits, in squared units. The truncation "
            "threshold is proportional to the bound's square root, and numbers are not clipped "
            "beyond the limits; a wrong value harms accuracy, never privacy.",
            *(1e-12, 1e15, 1.0, "%.4g"),
            empty="what the limits allow",
            slide=Slide("Bound on the mean square", "bound", ("less noise", "less clipping")),
        ),
    )
    failure: float = failure_option(
        "the failure probability that sets the truncation [0.05]",
        *("bound", "lemma_1", "theorem_2", "local_theorem_2"),
    )
    rows: int | None = rows_option()

    @classmethod
    def together(cls, chosen: dict[str, Any], mode: str) -> dict[str, Any]:
        bits, method = chosen.get("trust") == "local_onebit", chosen.get("method")
        if mode == "paper" and (bits or method not in (None, "older", "improved")):
            where = "trust" if bits else "method"
            remedy = "choose central or local" if bits else "choose older or improved"
            raise InputError(where, "this choice is not from the paper", remedy)
        if bits and method not in (None, "clip"):
            raise InputError(
                "method", "random bits are sent for clipped numbers only", "choose clip"
            )
        return chosen


MODEL = Model(
    name="mean",
    package=__name__,
    settings=MeanSettings,
    title="Column means",
    single_title="Column means",
    noun="a mean",
    papers=("wang2023", "duchi2018"),
    statement=Statement(
        adds="a clipped or softly truncated number for each column: *diameter of a box of "
        "truncated coordinates and a count*",
        proved="one release; in the local model, each person adds noise or sends one random bit "
        "for each number",
        claim="Wang et al. 2023, Lemma 1 and Theorem 2: the privacy that both state holds",
    ),
    clip="",
    clips_rows=False,
    opening=Opening(components=1),
    most=1,
    methods={
        "bound": Method("Soft truncation, least provable error", words=(("method", "bound"),)),
        "local": Method("Local model, noise from each person", words=(("trust", "local"),)),
        "one_bit": Method(
            "Local model, one random bit for each number",
            accountants=("linear",),
            words=(("trust", "local_onebit"),),
        ),
        "lemma_1": Method(
            "Truncated mean, Lemma 1", "paper", ("zcdp",), words=(("method", "older"),)
        ),
        "theorem_2": Method(
            "Truncated mean, Theorem 2", "paper", ("zcdp",), words=(("method", "improved"),)
        ),
        "local_theorem_2": Method(
            "Local model, Theorem 2",
            "paper",
            ("zcdp",),
            words=(("trust", "local"), ("method", "improved")),
        ),
    },
    plane=False,
    one_row=True,
    uncertainty="uncertainty:UNCERTAINTY",
    holds_out=False,
    metrics=(
        Metric(
            "standardised_error",
            "Error in standard deviations",
            "error (standard deviations)",
            falls=True,
            of_rows=False,
        ),
        Metric(
            "estimation_error",
            "Error in half ranges",
            "error (half ranges)",
            falls=True,
            of_rows=False,
        ),
    ),
    worlds=(World(0.2), World(), World(apart=0.25)),
    decides="how far the means are from the middle of their limits",
    audits={
        "mean": "attack:MEAN",
        "mean-local": "attack:MEAN_LOCAL",
        "mean-one-bit": "attack:MEAN_ONE_BIT",
    },
)
