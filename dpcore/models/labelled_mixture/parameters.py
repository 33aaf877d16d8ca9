"""What a labelled release found, in own units: one Gaussian for each class, by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcore.arrays import Array
from dpcore.fitting.result_table import FEW_COLUMNS, Table, column_titles, group_table
from dpcore.models.gaussian_mixture import mathematics as gmm
from dpcore.models.gaussian_mixture.mathematics import Mixture
from dpcore.models.labelled_mixture.mathematics import LabelledMixture
from dpcore.wall.data import PublicFrame

if TYPE_CHECKING:
    import pandas as pd


UNUSABLE = 1.0  # of expected divergence: beyond it noise has changed the class beyond recognition
CLASS_COLUMN = "class"  # of synthetic rows, where the label has no name of its own


@dataclass(frozen=True)
class ReleaseParameters:
    """One labelled mixture: weights ``(K,)``, means ``(K, d)``, covariances ``(K, d, d)``.

    classes: their names, in the order of the schema. sizes ``(K,)``: rows of each class, noisy.
    doubt ``(K,)``: divergence that the noise is expected to cost each class, worked out from
    released values alone. label: the name of their column.
    """

    columns: tuple[str, ...]
    classes: tuple[str, ...]
    weights: Array
    means: Array
    covariances: Array
    sizes: Array
    doubt: Array
    label: str = CLASS_COLUMN

    @classmethod
    def from_units(
        cls, mixture: LabelledMixture, run: int, public: PublicFrame
    ) -> ReleaseParameters:
        """One run of a batch in public unit coordinates, put in own units."""
        spread = public.half_range
        return cls(
            public.names,
            tuple(str(name) for name in mixture.names[run]),
            mixture.weights[run],
            public.center + spread * mixture.means[run],
            mixture.covariances[run] * spread[:, None] * spread[None, :],
            mixture.sizes[run],
            mixture.doubt[run],
            public.label or CLASS_COLUMN,
        )

    def in_units(self, public: PublicFrame) -> LabelledMixture:
        """The same as a batch of one in public unit coordinates."""
        spread = public.half_range
        return LabelledMixture(
            self.weights[None],
            public.to_units(self.means)[None],
            (self.covariances / (spread[:, None] * spread[None, :]))[None],
            self.sizes[None],
            self.doubt[None],
            np.array(self.classes)[None],
        )

    @property
    def expected_divergence(self) -> float:
        """What the noise is expected to cost in all, by its own released values."""
        return float(self.weights @ self.doubt)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a user should be told in plain words; free, because it reads released values."""
        return warned(self.classes, self.doubt)

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready, in the data's own units."""
        return {
            "columns": list(self.columns),
            "label": self.label,
            "classes": list(self.classes),
            "weights": self.weights.tolist(),
            "means": self.means.tolist(),
            "covariances": self.covariances.tolist(),
            "sizes": self.sizes.tolist(),
            "doubt": self.doubt.tolist(),
            "expected_divergence": self.expected_divergence,
            "warnings": list(self.warnings),
        }

    def sample(self, count: int, rng: np.random.Generator) -> pd.DataFrame:
        """Synthetic rows with their class, in a column named as the label is."""
        import pandas as pd

        mixture = Mixture(self.weights[None], self.means[None], self.covariances[None])
        rows, which = gmm.sample(mixture, count, rng)
        frame = pd.DataFrame(rows, columns=list(self.columns))
        frame[self.label] = np.array(self.classes)[which]
        return frame


def warned(classes: tuple[str, ...], doubts: Array) -> tuple[str, ...]:
    """What a user should be told of classes and their doubt ``(K,)``.

    >>> warned(("cat", "dog"), np.array([0.1, 3.0]))
    ('the noise outweighs the data on dog: too few rows, or columns that hardly vary there',)
    """
    lost = [name for name, doubt in zip(classes, doubts, strict=True) if doubt > UNUSABLE]
    if not lost:
        return ()
    if len(lost) == len(classes):
        return (
            "the noise outweighs every class: this budget is too small for these rows, or columns "
            "determine one another, as all values of a category do (leave one of them out)",
        )
    names = ", ".join(lost)
    return (
        f"the noise outweighs the data on {names}: too few rows, or columns that hardly vary there",
    )


def result_table(record: dict[str, Any]) -> Table:
    """As groups, by the names of their classes; what noise has eaten is said.

    Shares are those of the noisy sizes: a class in doubt weighs less in the mixture.
    """
    sizes = np.array(record["parameters"]["sizes"])
    parameters = record["parameters"] | {"weights": sizes / sizes.sum()}
    _, lines = group_table(record | {"parameters": parameters}, "class")
    for name, line in zip(parameters["classes"], lines, strict=True):
        line["class"] = name
    about = "Each class: its share of the rows, and mean ± standard deviation of each column."
    if len(column_titles(record)) > FEW_COLUMNS:
        about = (
            "Each class: its share of the rows, and the columns in which it is farthest from the "
            "average."
        )
    return about + "".join(f" Warning: {warning}." for warning in parameters["warnings"]), lines
