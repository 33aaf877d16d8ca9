"""Mixtures of Gaussians: DP-EM as published, and a proved fit (Park et al. 2017)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from dpcore.checks import nonnegative, whole
from dpcore.declaration import (
    ACCOUNTANTS,
    LOG_LIKELIHOOD,
    SCALED,
    Method,
    Model,
    Picture,
    Statement,
)
from dpcore.errors import InputError
from dpcore.models.gaussian_mixture.mathematics import Prior
from dpcore.options import (
    BY_METHOD,
    BY_MODEL,
    Dial,
    Settings,
    Slide,
    even_option,
    iterations_option,
    option,
    start_option,
    word,
)
from dpcore.wall.statistics import STRUCTURES, Structure


def _prior(name: str, value: Any) -> Prior | None:
    """``map``: a maximum of the posterior; ``mle``: maximum likelihood."""
    return Prior() if word("map", "mle")(name, value) == "map" else None


@dataclass(frozen=True)
class MixtureSettings(Settings):
    """Public choices of a mixture fit; none may be read from the data.

    prior: ``None`` for maximum likelihood; the paper's figures use its prior, the proved recipe
    needs none. prior_strength: the power to which it is raised; 0 is maximum likelihood. start:
    seed of the data-free start. even: whether all steps have the same noise.
    """

    components: int = option(3, whole, "number of groups [3]", metavar="K", not_asked=BY_MODEL)
    iterations: int = iterations_option(10)
    covariance: Structure = option(
        "full",
        word(*STRUCTURES),
        "full, diag or spherical [full]",
        metavar="C",
        dial=Dial(
            "Shapes",
            "Simpler shapes need fewer numbers, so each number has less noise.",
            choices={
                "full": "tilted ellipses",
                "diag": "upright ellipses",
                "spherical": "circles",
            },
        ),
    )
    combination: str = option(
        "GGG",
        word("GGG", "LLG"),
        "for paper mode: noise for counts, means and covariances, GGG (all Gaussian) or LLG "
        "(Laplace for the first two) [GGG]",
        metavar="N",
        not_asked=BY_METHOD,
    )
    prior: Prior | None = option(
        None,
        _prior,
        "map or mle [map in paper mode, otherwise mle]",
        metavar="P",
        paper=Prior(),
        read=word("map", "mle"),
        dial=Dial(
            "Estimate",
            "With or without the paper's prior. The proved method needs no prior; the paper's "
            "figures use one.",
            choices={
                "mle": "maximum likelihood (MLE)",
                "map": "maximum a posteriori (MAP)",
            },
            usual=lambda options, columns: "map" if options.get("mode") == "paper" else "mle",
        ),
    )
    prior_strength: float = option(
        1.0,
        nonnegative,
        "for map: the power to which the prior is raised [1]",
        metavar="S",
        dial=Dial(
            "Strength of the prior",
            "The power to which the paper's prior is raised: 1 gives the paper's own prior, 0 no "
            "prior. A stronger prior pulls groups towards the middle and makes them rounder.",
            *(0.0, 1000.0, 0.5, "%.3g"),
            only=("prior", "map"),
            slide=Slide("Strength of the prior", "strength of the prior", ("weaker", "stronger")),
        ),
    )
    start: int = start_option()
    even: bool = even_option()

    @classmethod
    def together(cls, chosen: dict[str, Any], mode: str) -> dict[str, Any]:
        if "prior_strength" in chosen and chosen.get("prior", mode == "paper" or None) is None:
            raise InputError(
                "prior_strength",
                "maximum likelihood has no prior",
                "leave this option out, or choose map",
            )
        return chosen

    @property
    def held_prior(self) -> Prior | None:
        """The prior with its strength; ``None`` for maximum likelihood."""
        return self.prior and replace(self.prior, strength=self.prior_strength)


PICTURES = {
    "density": Picture("Density", "picture:DENSITY", ghosts=False, plane=True, columns=2),
    "marginals": Picture("Marginals", "picture:MARGINALS", columns=2),
    "numbers": Picture("Numbers", "picture:NUMBERS", ghosts=False, plane=True),
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
    statement=Statement(
        adds="its group weights (responsibilities), the weights times the row, and the weights "
        "times its square, in coordinates scaled to each group: *joint diameter of counts, sums "
        "and squares on simplex weights and clipped balls*",
        proved="one release for each step, after those that show where all rows lie",
        claim="DP-EM 2017, section 5. Equations 12 and 16 divide by exact counts, which the noise "
        "does not cover, and the norm bound is computed from the data. With released counts and a "
        "public bound the claim holds, with room to spare: a step is composed as 2K + 1 releases, "
        "but is one",
    ),
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
