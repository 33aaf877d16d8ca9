"""The tables that come with the package: small, public or simulated, each with its schema.

The files lie in ``sample_data`` beside the package ``dpcore``, in a checkout and installed alike;
wide or long simulated tables have no file and are drawn when they are asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpcore.checks import choose
from dpcore.errors import InputError
from dpcore.schema import Schema

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Opening:
    """How one model (``"gmm"``, ``"kmeans"``, ``"fa"``, ...) begins with a table.

    components: groups, centres or factors worth looking for. iterations, covariance: with these,
    the same steps without noise end where a converged fit does; a model without them does not read
    them. pool: squares of so many pixels a side are averaged first, where rows are pictures. words:
    pairs of further options, as :func:`dpcore.fit` takes them. epsilon: where the first picture
    begins to show something.
    """

    model: str
    components: int
    iterations: int = 5
    covariance: str = "full"
    pool: int = 1
    words: tuple[tuple[str, Any], ...] = ()
    epsilon: float = 1.0


@dataclass(frozen=True)
class BundledTable:
    """One bundled table and how to begin with it.

    rows, features: its size, public because the table is. provenance: ``"simulated"`` (no real
    person) or ``"public"`` (published data). openings: the models that suit it, best first. file:
    where it lies in ``sample_data``; None if it is drawn when asked for. listed: whether
    :func:`bundled` shows it; ``bundled:NAME`` loads it either way.
    """

    name: str
    title: str
    story: str
    file: str | None
    rows: int
    features: int
    provenance: str
    openings: tuple[Opening, ...]
    listed: bool = True

    @property
    def models(self) -> tuple[str, ...]:
        """The models that suit the table, best first."""
        return tuple(opening.model for opening in self.openings)

    def opening(self, model: str) -> Opening:
        """How this model begins with the table; InputError if it does not suit it.

        >>> find("digits").opening("fa").components
        5
        """
        for opening in self.openings:
            if opening.model == model:
                return opening
        raise InputError(
            "model", f"{self.name} does not suit {model!r}", "choose " + " or ".join(self.models)
        )

    @property
    def path(self) -> Path:
        """Where the data file lies; InputError if the table is drawn."""
        if self.file is None:
            raise InputError(
                "data", f"{self.name} is generated and has no file", f"load bundled:{self.name}"
            )
        return home() / self.file

    @property
    def schema(self) -> Schema:
        """The public bounds: beside the data file, or those the rows are drawn in."""
        if self.file is not None:
            return Schema.from_toml(home() / f"{self.name}.toml")
        from dpcore.datasets.drawn import TABLES

        return TABLES[self.name].schema

    def source(self) -> tuple[Path | pd.DataFrame, Schema | None]:
        """The file, whose schema lies beside it, or the rows drawn now with theirs."""
        if self.file is not None:
            return self.path, None
        from dpcore.datasets.drawn import TABLES

        drawn = TABLES[self.name]
        return drawn.rows(), drawn.schema


BUNDLED = (
    BundledTable(
        "three_groups",
        "Three groups",
        "Three groups of people by age and visits a year: the picture to start with.",
        "three_groups.csv",
        rows=5_000,
        features=2,
        provenance="simulated",
        openings=(Opening("gmm", 3), Opening("kmeans", 3)),
    ),
    BundledTable(
        "rare_person",
        "One rare person",
        "A small crowd and one person far away, whom an exact fit exposes.",
        "rare_person.csv",
        rows=105,
        features=2,
        provenance="simulated",
        openings=(Opening("gmm", 3, iterations=30, covariance="spherical", epsilon=10.0),),
    ),
    BundledTable(
        "rare_person_50x",
        "One rare person, fifty times the crowd",
        "The same crowd fifty times as large: the crowd can be learned, the one person still "
        "cannot.",
        "rare_person_50x.csv",
        rows=5_201,
        features=2,
        provenance="simulated",
        openings=(Opening("gmm", 2),),
    ),
    BundledTable(
        "rare_people",
        "Fifty rare people",
        "The same large crowd and fifty people far away: together they are found, none alone is.",
        None,
        rows=5_250,
        features=2,
        provenance="simulated",
        openings=(Opening("kmeans", 3, iterations=3, epsilon=5.0),),
    ),
    BundledTable(
        "places",
        "Places",
        "Check-ins of 4,000 people in and around large cities: where are people?",
        "places.csv.gz",
        rows=4_000,
        features=2,
        provenance="simulated",
        openings=(Opening("kmeans", 6, iterations=10),),
    ),
    BundledTable(
        "million_places",
        "A million places",
        "Check-ins of 1.26 million people: with so many, how small may epsilon be?",
        None,
        rows=1_256_384,
        features=2,
        provenance="simulated",
        openings=(Opening("kmeans", 6, iterations=10),),
    ),
    BundledTable(
        "faces_like",
        "Simulated faces",
        "Two thousand drawn faces that differ in ten ways: how many rows does one way need?",
        None,
        rows=2_000,
        features=1_024,
        provenance="simulated",
        openings=(Opening("fa", 5, iterations=20, pool=4, epsilon=10.0),),
    ),
    BundledTable(
        "digits",
        "Digits",
        "Handwritten digits of 8 x 8 pixels (Alpaydin and Kaynak 1998): a small real table.",
        "digits.csv.gz",
        rows=1_797,
        features=64,
        provenance="public",
        openings=(Opening("fa", 5, iterations=20, epsilon=4.0),),
    ),
    BundledTable(
        "two_clouds",
        "Two clouds",
        "How people like cities and crowds, from -10 to 10: two opposite camps of equal size.",
        None,
        rows=400,
        features=2,
        provenance="simulated",
        openings=(Opening("symmetric-mixture", 1, iterations=8, words=(("sigma", 2.0),)),),
    ),
    BundledTable(
        "two_lines",
        "Two lines",
        "More of a drug raises the blood pressure of half of the patients and lowers that of half.",
        None,
        rows=260,
        features=1,
        provenance="simulated",
        openings=(Opening("mixture-regression", 1, iterations=10, words=(("sigma", 4.5),)),),
    ),
    BundledTable(
        "missing_answers",
        "Missing answers",
        "What makes people content at work, from a survey with a third of the answers missing.",
        None,
        rows=2_000,
        features=4,
        provenance="simulated",
        openings=(Opening("missing-regression", 1, iterations=7, words=(("sigma", 5.0),)),),
    ),
    BundledTable(
        "five_parties",
        "Five parties",
        "Age and income of 2,000 voters are known; each voter's choice among five parties is "
        "secret.",
        None,
        rows=2_000,
        features=2,
        provenance="simulated",
        openings=(Opening("gmm-release", 1),),
    ),
    BundledTable(
        "who_comes_back",
        "Who comes back?",
        "Patients discharged from a hospital: which of them return within a month, and why?",
        None,
        rows=2_000,
        features=5,
        provenance="simulated",
        openings=(Opening("logistic", 1, iterations=10),),
    ),
    BundledTable(
        "gains_and_losses",
        "Gains and losses",
        "What 400 small investors gained in a year: most of them little, a few a fortune. And on "
        "average?",
        None,
        rows=400,
        features=1,
        provenance="simulated",
        openings=(Opening("mean", 1, words=(("tau", 8e6),)),),
    ),
    BundledTable(
        "lit_windows",
        "Lit windows",
        "Which of sixteen windows are lit in 20,000 houses with four rooms, each used or not.",
        None,
        rows=20_000,
        features=16,
        provenance="simulated",
        openings=(Opening("sbn", 4, 10, words=(("rate", 1.0), ("forgetting", 0.2)), epsilon=2.5),),
    ),
    BundledTable(
        "households",
        "Yes or no",
        "Ten yes-or-no questions put to 4,000 households: which kinds of households are there?",
        None,
        rows=4_000,
        features=10,
        provenance="simulated",
        openings=(Opening("bernoulli", 3, iterations=10),),
    ),
    BundledTable(
        "a_year_of_care",
        "A year of care",
        "How often 4,000 patients were seen, called, treated and X-rayed in a year: are there "
        "three kinds?",
        None,
        rows=4_000,
        features=5,
        provenance="simulated",
        openings=(Opening("poisson", 3, iterations=10),),
    ),
    BundledTable(
        "stewards_table",
        "A steward's table",
        "Patient data as a data steward meets them: skewed, with units, gaps and a category.",
        "stewards_table.csv",
        rows=20_000,
        features=7,
        provenance="simulated",
        openings=(Opening("gmm", 3, iterations=10, covariance="diag"),),
    ),
    BundledTable(
        "life_science_like",
        "Like Life Science",
        "Ten columns in three overlapping groups, modelled on a published benchmark.",
        "life_science_like.csv.gz",
        rows=26_733,
        features=10,
        provenance="simulated",
        openings=(Opening("gmm", 3, iterations=10),),
    ),
    BundledTable(
        "iris",
        "Iris",
        "Fisher's 150 flowers (1936), two of three species alike: too few rows for much privacy.",
        "iris.csv",
        rows=150,
        features=4,
        provenance="public",
        openings=(Opening("gmm", 2, iterations=10, covariance="spherical", epsilon=4.0),),
    ),
    BundledTable(
        "wine",
        "Wine",
        "Chemistry of 178 wines from three cultivars (Forina et al. 1991), wider than iris.",
        "wine.csv",
        rows=178,
        features=13,
        provenance="public",
        openings=(Opening("gmm", 3, iterations=10, covariance="spherical", epsilon=10.0),),
    ),
    BundledTable(
        "stroke_like",
        "Like Stroke",
        "A hundred columns in ten overlapping groups, modelled on a file that is not public.",
        None,
        rows=50_000,
        features=100,
        provenance="simulated",
        openings=(Opening("gmm", 10, iterations=20),),
        listed=False,
    ),
)


def bundled(model: str | None = None) -> tuple[BundledTable, ...]:
    """The listed tables, or those that suit a model, in the order in which a newcomer should meet
    them.

    >>> bundled()[0].title, bundled("kmeans")[-1].title
    ('Three groups', 'A million places')
    """
    return tuple(table for table in BUNDLED if table.listed and model in (None, *table.models))


def find(name: str) -> BundledTable:
    """The bundled table of this name; InputError if there is none.

    >>> find("iris").provenance
    'public'
    """
    for table in BUNDLED:
        if table.name == name:
            return table
    known = [table.name for table in BUNDLED]
    raise InputError("data", f"{name!r} is not a bundled table", choose(name, known))


def home() -> Path:
    """The folder of the bundled tables: ``sample_data`` beside the package."""
    return Path(__file__).resolve().parents[2] / "sample_data"
