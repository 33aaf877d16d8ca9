"""Mixtures of Bernoullis, for answers of yes or no: DP-EM's general recipe (Park et al. 2017)."""

from __future__ import annotations

from dpcore.declaration import Model, World
from dpcore.models.exponential_family import STATEMENT, FamilySettings

MODEL = Model(
    name="bernoulli",
    package=__name__,
    settings=FamilySettings,
    title="Mixture of Bernoullis, {} groups",
    single_title="Independent Bernoullis",
    noun="a mixture of Bernoullis",
    papers=("park2017",),
    statement=STATEMENT,
    reads="answers",
    compared=6,  # more take half a minute each
    plane=False,
    ghosts=False,
    uncertainty="uncertainty:UNCERTAINTY",
    worlds=(World(apart=1.5), World(), World(0.6, 0.6, 0.5)),
    decides="how much the groups' answers differ",
    audits={"bernoulli": "attack:BERNOULLI"},
)
