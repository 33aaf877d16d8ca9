"""Probabilistic PCA by variational Bayes, which finds how many factors there are (Bishop 1999).

VIPS names it among the models that its recipe covers (Park et al. 2020)."""

from __future__ import annotations

from dataclasses import dataclass

from dpcore.declaration import Model, Opening, Statement
from dpcore.models.factor_analysis import MODEL as FACTOR_ANALYSIS
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
        f"largest number of factors; the fit itself finds how many it uses [{MOST_FACTORS}]",
        metavar="K",
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
        claim="VIPS 2020 names the model among those that its recipe covers, but prints no "
        "sensitivity for it",
    ),
    opening=Opening(components=1),
    most=1,
    plane=False,
    ghosts=False,
    shown="Loadings",
    pictures=FACTOR_ANALYSIS.pictures,
    columns_first=True,
    no_intervals=FACTOR_ANALYSIS.no_intervals,
    noise_sentence="parameters:noise_sentence",
    metrics=FACTOR_ANALYSIS.metrics,
    worlds=FACTOR_ANALYSIS.worlds,
    decides=FACTOR_ANALYSIS.decides,
    audits={"ppca": "attack:PPCA"},
)
