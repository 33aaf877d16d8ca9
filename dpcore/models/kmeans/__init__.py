"""k-means as published (DPLloyd: Su et al. 2016; DP-EM: Park et al. 2017), and a proved fit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from dpcore.checks import whole
from dpcore.declaration import ACCOUNTANTS, Method, Metric, Model, Picture, Statement
from dpcore.errors import InputError
from dpcore.options import (
    BY_METHOD,
    BY_MODEL,
    EVEN,
    Settings,
    even_option,
    iterations_option,
    option,
    start_option,
    word,
)

ALGORITHMS = ("proved", "dplloyd", "paper")


@dataclass(frozen=True)
class KMeansSettings(Settings):
    """Public choices of a k-means fit; none may be read from the data.

    start: seed of the data-free start. even: whether all steps have the same noise.
    """

    components: int = option(3, whole, "number of centres [3]", metavar="K", not_asked=BY_MODEL)
    iterations: int = iterations_option(10)
    algorithm: str = option(
        "proved",
        word(*ALGORITHMS),
        "proved, dplloyd or paper [proved; paper in paper mode]",
        metavar="A",
        paper="paper",
        not_asked=BY_METHOD,
    )
    start: int = start_option()
    even: bool = even_option(replace(EVEN, methods=("recommended",)))

    @classmethod
    def together(cls, chosen: dict[str, Any], mode: str) -> dict[str, Any]:
        if mode == "paper" and chosen.get("algorithm") == "proved":
            raise InputError(
                "algorithm", "the proved algorithm is not from a paper", "choose dplloyd or paper"
            )
        return chosen


MODEL = Model(
    name="kmeans",
    package=__name__,
    settings=KMeansSettings,
    title="k-means, {} centres",
    single_title="k-means, 1 centre",
    noun="centres (k-means)",
    part="centre",
    parts="centres",
    papers=("park2017", "su2016"),
    statement=Statement(
        adds="a count and a sum at the nearest centre: *joint diameter of counts and sums of "
        "rows by nearest centre in a clipped ball*; before that, one count in each of two "
        "histograms of distances, from the middle of the limits and from the mean",
        proved="one release for each step, one for the starting centres, and three that locate "
        "the rows and set the clipping norm",
        claim="DP-EM 2017, section 7: counts are used without noise and are not charged, so "
        "nothing is proved. DPLloyd (Su et al. 2016) is proved where a row is added or removed, "
        "not where one is replaced",
    ),
    least=2,
    fixed_cost=2e5,  # released cells are clustered
    methods={
        "dplloyd": Method("DPLloyd", "paper", ("linear", "zcdp"), algorithm="dplloyd"),
        "dplloyd_proved": Method(
            "DPLloyd, noise for what is protected",
            accountants=("linear", *ACCOUNTANTS[1:3], "advanced"),
            algorithm="dplloyd",
        ),
        "dpem_kmeans": Method("DP-EM's k-means", "paper", ("zcdp", "linear"), algorithm="paper"),
        "dpem_kmeans_paid": Method(
            "DP-EM's k-means, with its counts charged",
            accountants=ACCOUNTANTS[1:],
            algorithm="paper",
        ),
    },
    shown="Cells",
    pictures={"numbers": Picture("Numbers", "picture:NUMBERS", ghosts=False)},
    uncertainty="uncertainty:UNCERTAINTY",
    metrics=(
        Metric("nicv", "NICV", "NICV", falls=True),
        Metric("explained", "Share of the spread", "share of the spread explained"),
    ),
    audits={"kmeans": "attack:KMEANS"},
)
