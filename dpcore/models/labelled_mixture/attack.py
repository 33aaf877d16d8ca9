"""The labelled release under attack: one row's label is changed, many times over.

Of the proved methods, everybody sits near the middle of the ball and one row far out has one label
or the other. As published, the covariance that comes out is compared with the exact one that it
could not be below if the far row were in that class (see the exhibit of one-sided noise).
What is attacked: Liu, Scaglione, Peisert 2025.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcore.auditing.audit import Clouds
from dpcore.auditing.exhibits.labelled import far_row, sealed
from dpcore.auditing.fits import FitAttack, Pair
from dpcore.auditing.neighbours import DELTA, seal
from dpcore.auditing.observe import ShortNoise, observe
from dpcore.errors import InputError
from dpcore.fitting.api import fit_grid
from dpcore.privacy import Privacy
from dpcore.schema import Ball, Column, Schema

CROWD = 40  # rows of each class


@dataclass(frozen=True)
class LabelledAttack(FitAttack):
    """As any fit where it is proved; as published, by what only one table can give."""

    def clouds(
        self, privacy: Privacy, runs: int, seed: int, share: float, **options: Any
    ) -> Clouds:
        """Raises InputError, as published, under an adjacency in which no label changes."""
        if privacy.mode == "proved":
            return super().clouds(privacy, runs, seed, share, **options)
        if privacy.adjacency not in ("label", "replace_one"):
            raise InputError(
                "adjacency", "the attack changes a label", "choose label or replace_one"
            )
        rows, inside, outside, exact = far_row()
        scores = []
        for own, kinds in enumerate((inside, outside)):
            noise = ShortNoise(2 * seed + own, range(runs), share)
            observed = observe(self.model, sealed(rows, kinds), privacy, noise, runs, **options)
            spread = float(2.0 * np.linalg.norm(rows, axis=1).max())  # radius of the public ball
            above = spread**2 * observed.runs.final.covariances[:, 0] - exact
            scores.append(-np.linalg.eigvalsh(above)[:, 0])
        words = {"privacy": (privacy,), "seed": 0, **options}
        stated = fit_grid(self.model, sealed(rows, inside), **words).guarantee()
        scene = (
            "a distant row in a small class or in the other class; only the released covariance is "
            "observed"
        )
        return Clouds(scores[0], scores[1], False, stated.claim, stated.proof, scene)


def _labels(adjacency: str) -> Pair:
    """A row far out has one label or the other, other features, or is absent."""
    label = Column("kind", role="label", type="category", categories=("0", "1"))
    schema = Schema((Column("x"), Column("y"), label), ball=Ball((0.0, 0.0), 1.0))
    crowd = 0.01 * np.random.default_rng(0).standard_normal((2 * CROWD, 2))
    kinds = np.repeat(["0", "1"], CROWD)

    def rows(first: tuple[float, float], kind: str) -> dict[str, Any]:
        x, y = np.concatenate([[first], crowd]).T
        return {"x": x, "y": y, "kind": [kind, *kinds]}

    there = seal(rows((0.0, 1.0), "0"), schema)
    if adjacency == "add_remove":
        absent = {name: column[1:] for name, column in rows((0.0, 1.0), "0").items()}
        return Pair(seal(absent, schema), there, "one distant row, present or absent")
    if adjacency == "feature":
        turned = seal(rows((1.0, 0.0), "0"), schema)
        return Pair(turned, there, "one row at an end of the first axis or of the second")
    slant = (0.7, 0.7)  # long in every norm
    first, second = (seal(rows(slant, kind), schema) for kind in ("1", "0"))
    return Pair(first, second, "one distant row with one label or the other")


GMM_RELEASE = LabelledAttack(
    "gmm-release",
    "labelled mixture",
    _labels,
    {
        "proved": Privacy(epsilon=4.0, delta=DELTA, adjacency="label"),
        "paper": Privacy(epsilon=1.0, delta=DELTA, adjacency="label", mode="paper"),
    },
    of_mode={"proved": {"method": "staged"}},
)
