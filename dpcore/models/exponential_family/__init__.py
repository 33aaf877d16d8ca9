"""Mixtures of Bernoullis, for answers of yes or no, and of Poissons, for counts of events: DP-EM's
general recipe for exponential families (Park et al. 2017, Eqs. 9, 10).

Within a group columns are independent, each with one parameter. Another such model brings its
:class:`~dpcore.models.exponential_family.mathematics.Family` and a declaration.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from dpcore.checks import whole
from dpcore.declaration import Model, Statement, World, places
from dpcore.options import (
    BY_MODEL,
    Settings,
    even_option,
    iterations_option,
    option,
    start_option,
)


@dataclass(frozen=True)
class FamilySettings(Settings):
    """Public choices of a fit; none may be read from the data.

    start: seed of the data-free directions of the start. even: whether all steps have the same
    noise.
    """

    components: int = option(3, whole, "number of groups [3]", metavar="K", not_asked=BY_MODEL)
    iterations: int = iterations_option(10)
    start: int = start_option()
    even: bool = even_option()


_STATEMENT = Statement(
    adds="its group weights, and the weights times the row: *joint diameter of counts and sums "
    "on simplex weights and a clipped ball*",
    proved="one release for each step, after a release of the mean; the starting values are spread "
    "around this mean",
    claim="DP-EM 2017 covers any exponential family (equations 9 and 10), but is worked out only "
    "for Gaussians",
)


def _mixture(name: str, laws: str, **more: Any) -> Model:
    """A mixture of laws, such as "Bernoullis"."""
    return Model(
        name=name,
        package=__name__,
        settings=FamilySettings,
        title=f"Mixture of {laws}, {{}} groups",
        single_title=f"Independent {laws}",
        noun=f"a mixture of {laws}",
        papers=("park2017",),
        compared=6,  # more take half a minute each
        plane=False,
        ghosts=False,
        audits={name: f"attack:{name.upper()}"},
        uncertainty=f"uncertainty:{name.upper()}",
        table=f"parameters:{name}_table",
        **places(name.upper()),
        **more,
    )


BERNOULLI = _mixture(
    "bernoulli",
    "Bernoullis",
    statement=_STATEMENT,
    reads="answers",
    worlds=(World(apart=1.5), World(), World(0.6, 0.6, 0.5)),
    decides="how much the groups' answers differ",
)
POISSON = _mixture(
    "poisson",
    "Poissons",
    statement=replace(
        _STATEMENT,
        adds=f"{_STATEMENT.adds}; before that, one count in each of two histograms of distances, "
        "from the middle of the limits and from the mean",
        proved="one release for each step, after three that locate the rows and set the clipping "
        "norm; the starting values are spread around the mean",
    ),
    reads="counts",
    worlds=(
        World(counts=True),
        World(0.4, 0.8, counts=True),
        World(0.1, 0.5, even=3.0, counts=True),
    ),
)
