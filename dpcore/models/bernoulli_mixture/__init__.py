"""Mixtures of Bernoullis, for answers of yes or no: DP-EM's general recipe (Park et al. 2017)."""

from __future__ import annotations

from dataclasses import dataclass

from dpcore.checks import whole
from dpcore.models.declaration import Model
from dpcore.models.options import Settings, from_zero, option, yes_or_no


@dataclass(frozen=True)
class BernoulliSettings(Settings):
    """Public choices of a fit; none may be read from the data.

    start: seed of the data-free directions of the start. even: whether all steps have the same
    noise.
    """

    components: int = option(3, whole, "number of groups [3]", flag="components", metavar="K")
    iterations: int = option(
        10, whole, "steps, fixed in advance [10]", flag="iterations", metavar="J"
    )
    start: int = option(0, from_zero)
    even: bool = option(False, yes_or_no)


MODEL = Model(
    name="bernoulli",
    package=__name__,
    settings=BernoulliSettings,
    title="Mixture of Bernoullis, {} groups",
    single_title="Independent Bernoullis",
    noun="a mixture of Bernoullis",
    papers=("park2017",),
    reads="answers",
    plane=False,
    ghosts=False,
    audits={"bernoulli": "attack:BERNOULLI"},
)
