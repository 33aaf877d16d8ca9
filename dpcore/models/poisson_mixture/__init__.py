"""Mixtures of Poissons, for counts of events: DP-EM's general recipe (Park et al. 2017)."""

from __future__ import annotations

from dataclasses import replace

from dpcore.declaration import Model, World
from dpcore.models.exponential_family import STATEMENT, FamilySettings

MODEL = Model(
    name="poisson",
    package=__name__,
    settings=FamilySettings,
    title="Mixture of Poissons, {} groups",
    single_title="Independent Poissons",
    noun="a mixture of Poissons",
    papers=("park2017",),
    statement=replace(
        STATEMENT,
        adds=f"{STATEMENT.adds}; before that, one count in each of two histograms of distances, "
        "from the middle of the limits and from the mean",
        proved="one release for each step, after three that locate the rows and set the clipping "
        "norm; the starting values are spread around the mean",
    ),
    reads="counts",
    compared=6,  # more take half a minute each
    plane=False,
    ghosts=False,
    uncertainty="uncertainty:UNCERTAINTY",
    worlds=(
        World(counts=True),
        World(0.4, 0.8, counts=True),
        World(0.1, 0.5, even=3.0, counts=True),
    ),
    audits={"poisson": "attack:POISSON"},
)
