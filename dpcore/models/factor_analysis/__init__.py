"""Factor analysis: DP-EM's as published (Park et al. 2017), and a proved fit.

And probabilistic PCA by variational Bayes, which finds how many factors there are (Bishop 1999);
VIPS names it among the models that its recipe covers (Park et al. 2020).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from dpcore.checks import whole
from dpcore.declaration import (
    LOG_LIKELIHOOD,
    SCALED,
    Method,
    Metric,
    Model,
    Opening,
    Picture,
    Statement,
    World,
    places,
)
from dpcore.models.factor_analysis.mathematics import PsiUpdate
from dpcore.options import (
    BY_MODEL,
    FITTED,
    START,
    Dial,
    Settings,
    from_zero,
    option,
    start_option,
    steps,
    steps_dial,
    word,
)


@dataclass(frozen=True)
class FactorSettings(Settings):
    """Public choices of a factor analysis; none may be read from the data.

    components: factors; 0 leaves independent columns. iterations: EM steps, free of charge. update:
    in paper mode, the loadings with which the noise variance is computed. ball: in proved mode,
    the ball to which rows are clipped: one that released distances show, or that of the public
    limits. start: of paper mode.
    """

    components: int = option(
        3,
        from_zero,
        "number of factors [3]",
        flag="factors",
        metavar="K",
        read=whole,
        not_asked=BY_MODEL,
    )
    iterations: int = option(
        50,
        steps,
        "EM steps, at no privacy cost [50]",
        metavar="J",
        dial=steps_dial(
            "These steps cost no privacy: all releases come before them.", ("fewer", "more")
        ),
    )
    update: PsiUpdate = option(
        "paper",
        word("paper", "exact"),
        "for paper mode: compute the model's noise variances from the loadings before the step "
        "(paper) or after it (exact) [paper]",
        flag="psi-update",
        metavar="U",
        dial=Dial(
            "Loadings used to compute the model's noise variances",
            "The paper uses the loadings before the step; exact EM uses those after it.",
            choices={"paper": "before the step, as printed", "exact": "after the step"},
            methods=("dpem_factors",),
        ),
    )
    ball: Literal["released", "limits"] = option(
        "released",
        word("released", "limits"),
        "for proved mode: how to set the ball to which rows are clipped: from released distances "
        "(released) or from the public limits (limits) [released]",
        metavar="B",
        dial=Dial(
            "Ball to which rows are clipped",
            "Releasing distances and a mean costs 10% of the budget, but the ball is usually "
            "smaller than that of the limits, and noise grows with the square of the radius. Where "
            "columns differ in width, an ellipsoid takes its place.",
            choices={"released": "from released distances", "limits": "from the public limits"},
            methods=("recommended",),
        ),
    )
    start: int = start_option(replace(START, methods=("dpem_factors",)))


MOST_FACTORS = 10


@dataclass(frozen=True)
class PCASettings(Settings):
    """Public choices of a probabilistic PCA; none may be read from the data.

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


FACTOR_ANALYSIS = Model(
    name="fa",
    package=__name__,
    settings=FactorSettings,
    title="Factor analysis, {} factors",
    single_title="Factor analysis, 1 factor",
    noun="a factor analysis",
    part="factor",
    parts="factors",
    papers=("park2017", "donoho2014"),
    statement=Statement(
        adds="a constant 1, the row and its square: *joint diameter of counts, sums and squares on "
        "simplex weights and a clipped ball*; before that, one count in each of three histograms "
        "of distances",
        proved="two releases, the second in the ball or ellipsoid that the first and four others "
        "find (one, where rows are clipped to the public limits); all later steps are "
        "post-processing",
        claim="DP-EM 2017, section 6, states no sensitivity, uses a noise formula that is proved "
        "only for epsilon below 1, and centres the rows at their own mean. Its program takes "
        "the sensitivity to be 2/N, which is more than the true sqrt(2)/N, but uses a variance as "
        "the standard deviation of the noise",
    ),
    opening=Opening(components=1, iterations=20),
    below_columns=True,
    methods={"dpem_factors": Method("DP-EM's factor analysis", "paper", ("linear",))},
    plane=False,
    ghosts=False,
    shown="Loadings",
    pictures={
        "around": Picture(
            "Mean ± 2 loadings", "picture:AROUND_THE_MEAN", ghosts=False, images=True
        ),
        "reconstructions": Picture(
            "Reconstructions", "picture:RECONSTRUCTIONS", ghosts=False, images=True
        ),
    },
    columns_first=True,
    no_intervals="factors that cannot be told from noise are set to 0, so the released numbers do "
    "not show how uncertain these factors were",
    noise_sentence="parameters:factors_and_variances",
    metrics=(
        LOG_LIKELIHOOD,
        SCALED,
        Metric(
            "reconstruction_error",
            "Reconstruction error",
            "reconstruction error",
            falls=True,
        ),
    ),
    worlds=(World(common=0.95, spread=2.5, alike=0.8), World(0.8, 0.5, 0.7), World(0.01, 0.3, 0.4)),
    decides="how much of their variance the columns share, and how much of its range each column "
    "fills",
    audits={"fa": "attack:FACTOR_ANALYSIS"},
    **places("FACTOR_ANALYSIS"),
)
PROBABILISTIC_PCA = replace(
    FACTOR_ANALYSIS,
    name="ppca",
    settings=PCASettings,
    title="Probabilistic PCA",
    single_title="Probabilistic PCA",
    noun="a probabilistic PCA",
    axes={"loadings": ("column", "component")},
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
    below_columns=False,
    methods={},
    pictures={
        **FACTOR_ANALYSIS.pictures,
        "around": replace(
            FACTOR_ANALYSIS.pictures["around"], place="picture:FEWER_AROUND_THE_MEAN"
        ),
    },
    noise_sentence="parameters:noise_sentence",
    audits={"ppca": "attack:PROBABILISTIC_PCA"},
    **places("PROBABILISTIC_PCA"),
)
