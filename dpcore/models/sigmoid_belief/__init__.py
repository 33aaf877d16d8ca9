"""Sigmoid belief networks: VIPS as published (Park et al. 2020), and a proved fit."""

from __future__ import annotations

from dataclasses import dataclass

from dpcore.checks import share_below_one, whole
from dpcore.declaration import Method, Metric, Model, Opening, Picture, Statement
from dpcore.fitting.minibatch import (
    ALL_ROWS,
    SampledSettings,
    Steps,
    epochs_option,
    forgetting_option,
)
from dpcore.options import BY_MODEL, FITTED, Dial, option


@dataclass(frozen=True)
class BeliefSettings(SampledSettings):
    """Public choices of a fit; none may be read from the data.

    components: hidden units. threshold: a pixel is on above this share of its bounds. steps: how
    rows are drawn, worked out once their number is known.
    """

    components: int = option(
        3, whole, "number of hidden units [3]", flag="units", metavar="K", not_asked=BY_MODEL
    )
    epochs: int = epochs_option(5)
    forgetting: float = forgetting_option(0.4)
    threshold: float = option(
        0.5,
        share_below_one,
        "threshold above which a pixel is on, as a share of its range [0.5]",
        metavar="T",
        dial=Dial(
            "Threshold above which a pixel is on",
            "As a share of its range; this model treats pixels as black or white.",
            *(0.0, 0.99, 0.05, "%.2f"),
            still=FITTED,
        ),
    )
    steps: Steps = ALL_ROWS


MODEL = Model(
    name="sbn",
    package=__name__,
    settings=BeliefSettings,
    title="Sigmoid belief network, {} hidden units",
    single_title="Sigmoid belief network, 1 hidden unit",
    noun="a sigmoid belief network",
    part="hidden unit",
    parts="hidden units",
    papers=("park2020",),
    statement=Statement(
        adds="five statistics of pixels and hidden units: *joint diameter of five non-negative "
        "statistics in their box, cut by a ball*",
        proved="the pixels' sums; their mean and second moments, in a ball found by three "
        "releases; then steps on secret samples of the rows",
        claim="VIPS 2020: the authors' program carries hidden units from one sample into the "
        "next, which no composition theorem covers. Where hidden units start afresh in each step, "
        "as here, the claim holds: seven sums are charged, and five are needed",
    ),
    reads="pixels",
    clip="how far a row can move a step's sums, as a share of the maximum [0.3]",
    opening=Opening(components=4, iterations=10, words="rate:1;forgetting:0.2", clip=0.3),
    methods={
        "vips_sums": Method("VIPS", "paper", ("wbk27", "wbk9", "advanced"), words=(("delay", 1.0),))
    },
    compared=10,
    plane=False,
    ghosts=False,
    shown="Weights",
    pictures={
        "reconstructions": Picture(
            "Reconstructions", "picture:RECONSTRUCTIONS", ghosts=False, images=True
        )
    },
    columns_first=True,
    cost=15.0,
    no_intervals="no simulation has been validated for this model, whose steps average their noise",
    metrics=(Metric("pixel_accuracy", "Share reconstructed", "pixels reconstructed"),),
    audits={"sbn": "attack:SBN"},
)
