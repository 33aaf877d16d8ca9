"""Covariance, correlations and principal components of all columns, from one proved release
(Dwork, Talwar, Thakurta and Zhang 2014)."""

from __future__ import annotations

from dpcore.declaration import Metric, Model, Opening, Statement, World
from dpcore.options import Settings

MODEL = Model(
    name="covariance",
    package=__name__,
    settings=Settings,
    title="Covariance and PCA",
    single_title="Covariance and PCA",
    noun="a covariance matrix",
    part="component",
    parts="components",
    papers=("dwork2014gauss",),
    statement=Statement(
        adds="a constant 1, the row and its square: *joint diameter of counts, sums and squares on "
        "simplex weights and a clipped ball*; before that, one count in each of three histograms "
        "of distances",
        proved="two releases, the second in the ball or ellipsoid that the first and four others "
        "find; covariance, correlations and principal components are post-processing",
        claim="Analyze Gauss (Dwork, Talwar, Thakurta, Zhang 2014) releases only the second "
        "moments, without a mean: its principal components are those of uncentred rows. Its noise "
        "suffices where a row is added or removed, not where one is replaced",
    ),
    opening=Opening(components=1),
    most=1,
    plane=False,
    ghosts=False,
    shown="Correlations",
    holds_out=False,
    metrics=(
        Metric(
            "correlation_error",
            "Error of the correlations",
            "error of a correlation",
            falls=True,
            of_rows=False,
        ),
        Metric(
            "first_component",
            "Share of the first component",
            "share of the variance",
            of_rows=False,
        ),
    ),
    axes={
        "mean": ("column",),
        "covariance": ("column", "column"),
        "correlation": ("column", "column"),
        "components": ("component", "column"),
        "explained_variance": ("component",),
        "explained_variance_ratio": ("component",),
    },
    uncertainty="uncertainty:UNCERTAINTY",
    worlds=(World(common=0.95, spread=2.5, alike=0.8), World(0.8, 0.5, 0.7), World(0.01, 0.3, 0.4)),
    decides="how strongly the columns are correlated, and how much of its range each column fills",
    audits={"covariance": "attack:COVARIANCE"},
)
