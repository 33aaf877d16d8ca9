"""Mixtures of Gaussians: DP-EM as published, and a proved fit (Park et al. 2017)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dpcore.checks import whole
from dpcore.models.declaration import ACCOUNTANTS, LOG_LIKELIHOOD, SCALED, Method, Model, Picture
from dpcore.models.gaussian_mixture.mathematics import Prior
from dpcore.models.options import Settings, from_zero, option, word, yes_or_no
from dpcore.wall.statistics import STRUCTURES, Structure


def _prior(name: str, value: Any) -> Prior | None:
    """``map``: a maximum of the posterior; ``mle``: maximum likelihood."""
    return Prior() if word("map", "mle")(name, value) == "map" else None


@dataclass(frozen=True)
class MixtureSettings(Settings):
    """Public choices of a mixture fit; none may be read from the data.

    prior: ``None`` for maximum likelihood; the paper's figures use its prior, the proved recipe
    needs none. start: seed of the data-free start. even: whether all steps have the same noise.
    """

    components: int = option(3, whole, "number of groups [3]", flag="components", metavar="K")
    iterations: int = option(
        10, whole, "steps, fixed in advance [10]", flag="iterations", metavar="J"
    )
    covariance: Structure = option(
        "full", word(*STRUCTURES), "full, diag or spherical [full]", flag="covariance", metavar="C"
    )
    combination: str = option(
        "GGG",
        word("GGG", "LLG"),
        "noise of paper mode for counts, means, covariances: GGG (all Gaussian) or LLG (Laplace "
        "twice) [GGG]",
        flag="combination",
        metavar="N",
    )
    prior: Prior | None = option(
        None,
        _prior,
        "map or mle [map in paper mode, else mle]",
        flag="prior",
        metavar="P",
        paper=Prior(),
        read=word("map", "mle"),
    )
    start: int = option(0, from_zero)
    even: bool = option(False, yes_or_no)


PICTURES = {
    "density": Picture("Density", "picture:DENSITY", ghosts=False, plane=True, columns=2),
    "marginals": Picture("Marginals", "picture:MARGINALS"),
    "numbers": Picture("Numbers", "picture:NUMBERS", ghosts=False),
    "synthetic": Picture("Synthetic rows", "picture:SYNTHETIC", ghosts=False, plane=True),
}

MODEL = Model(
    name="gmm",
    package=__name__,
    settings=MixtureSettings,
    title="Gaussian mixture, {} groups",
    single_title="One Gaussian",
    noun="a mixture of Gaussians",
    papers=("park2017",),
    methods={
        "dpem_gaussian": Method("DP-EM, Gaussian noise", "paper", ACCOUNTANTS[1:]),
        "dpem_laplace": Method(
            "DP-EM, Laplace and Gaussian noise", "paper", ACCOUNTANTS[1:], combination="LLG"
        ),
    },
    shown="Groups",
    pictures=PICTURES,
    uncertainty="uncertainty:UNCERTAINTY",
    metrics=(LOG_LIKELIHOOD, SCALED),
    audits={"gmm": "attack:GMM"},
)
