"""Probabilistic PCA by variational Bayes, which finds how many factors there are (Bishop 1999).

VIPS names it among the models that its recipe covers (Park et al. 2020)."""

from __future__ import annotations

from dataclasses import dataclass

from dpcore.declaration import (
    LOG_LIKELIHOOD,
    SCALED,
    Metric,
    Model,
    Opening,
    Picture,
    Statement,
    World,
)
from dpcore.options import FITTED, Settings, from_zero, option

MOST_FACTORS = 10


@dataclass(frozen=True)
class PCASettings(Settings):
    """Public choices; none may be read from the data.

    most_factors: how many factors a fit may have. It has fewer where the release does not support
    them, and always fewer than columns.
    """

    most_factors: int = option(
        MOST_FACTORS,
        from_zero,
        f"how many factors a fit may have; it finds how many there are [{MOST_FACTORS}]",
        metavar="K",
        read=from_zero,
        not_asked=FITTED,
    )


MODEL = Model(
    name="ppca",
    package=__name__,
    settings=PCASettings,
    title="Probabilistic PCA",
    single_title="Probabilistic PCA",
    noun="a probabilistic PCA",
    part="factor",
    parts="factors",
    papers=("bishop1999", "park2020"),
    statement=Statement(
        adds="a constant 1, the row and its square: *joint diameter of counts, sums and squares on "
        "simplex weights and a clipped ball*",
        proved="one release, in a ball found by three earlier ones; factors and their number are "
        "post-processing",
        claim="VIPS 2020 names the model among those that its recipe covers, and prints no "
        "sensitivity for it",
    ),
    opening=Opening(components=1),
    most=1,
    plane=False,
    ghosts=False,
    shown="Loadings",
    pictures={
        "reconstructions": Picture(
            "Reconstructions", "picture:RECONSTRUCTIONS", ghosts=False, images=True
        )
    },
    columns_first=True,
    no_intervals="factors below the noise are set to 0 before the release, so the released "
    "numbers do not show how uncertain they were",
    metrics=(
        LOG_LIKELIHOOD,
        SCALED,
        Metric("reconstruction_error", "Reconstruction", "reconstruction error", falls=True),
    ),
    worlds=(World(common=0.8), World(0.8, 0.5, 0.7), World(0.01, 0.3, 0.4)),
    decides="how much of their variance the columns share, and how much of its limits each column "
    "fills",
    audits={"ppca": "attack:PPCA"},
)
