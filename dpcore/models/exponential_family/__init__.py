"""DP-EM's general recipe for exponential families (Park et al. 2017, Eqs. 9, 10): no model itself.

A mixture whose columns are independent within a group, each with one parameter. A model brings its
:class:`~dpcore.models.exponential_family.mathematics.Family` and a declaration.
"""

from __future__ import annotations

from dataclasses import dataclass

from dpcore.checks import whole
from dpcore.declaration import Statement
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


STATEMENT = Statement(
    adds="its group weights, and the weights times the row: *joint diameter of counts and sums "
    "on simplex weights and a clipped ball*",
    proved="one release for each step, after a release of the mean; the starting values are spread "
    "around this mean",
    claim="DP-EM 2017 covers any exponential family (equations 9 and 10), but is worked out only "
    "for Gaussians",
)
