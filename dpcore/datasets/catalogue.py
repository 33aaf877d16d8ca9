"""The tables that come with the package: small, public or simulated, each with its schema.

The files lie in ``sample_data`` beside the package ``dpcore``, in a checkout and installed alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dpcore.errors import InputError
from dpcore.schema import Schema


@dataclass(frozen=True)
class BundledTable:
    """One bundled table and how to begin with it.

    rows, features: its size, public because the table is. components: groups worth looking for.
    provenance: ``"simulated"`` (no real person) or ``"public"`` (published data). iterations,
    covariance: with these, the same steps without noise end where a converged fit does.
    """

    name: str
    title: str
    story: str
    file: str
    rows: int
    features: int
    components: int
    provenance: str
    iterations: int = 5
    covariance: str = "full"

    @property
    def path(self) -> Path:
        """Where the data file lies."""
        return home() / self.file

    @property
    def schema(self) -> Schema:
        """The public bounds beside the data file."""
        return Schema.from_toml(home() / f"{self.name}.toml")


BUNDLED = (
    BundledTable(
        "three_groups",
        "Three groups",
        "Three groups of people by age and visits a year: the picture to start with.",
        "three_groups.csv",
        rows=5_000,
        features=2,
        components=3,
        provenance="simulated",
    ),
    BundledTable(
        "rare_person",
        "One rare person",
        "A small crowd and one person far away, whom an exact fit gives away.",
        "rare_person.csv",
        rows=105,
        features=2,
        components=2,
        provenance="simulated",
    ),
    BundledTable(
        "rare_person_50x",
        "One rare person, fifty times the crowd",
        "The same crowd fifty times as large: it can be learned, the one person still cannot.",
        "rare_person_50x.csv",
        rows=5_201,
        features=2,
        components=2,
        provenance="simulated",
    ),
    BundledTable(
        "stewards_table",
        "A steward's table",
        "Patients as a data steward meets them: skewed, with units, gaps and a category.",
        "stewards_table.csv",
        rows=20_000,
        features=7,
        components=3,
        provenance="simulated",
        iterations=10,
        covariance="diag",
    ),
    BundledTable(
        "life_science_like",
        "Like Life Science",
        "Ten columns in three overlapping groups, in the shape of a published benchmark.",
        "life_science_like.csv.gz",
        rows=26_733,
        features=10,
        components=3,
        provenance="simulated",
        iterations=10,
    ),
    BundledTable(
        "iris",
        "Iris",
        "Fisher's 150 flowers of three species (1936): too few rows for much privacy.",
        "iris.csv",
        rows=150,
        features=4,
        components=3,
        provenance="public",
        iterations=10,
    ),
    BundledTable(
        "wine",
        "Wine",
        "Chemistry of 178 wines from three cultivars (Forina et al. 1991), wider than iris.",
        "wine.csv",
        rows=178,
        features=13,
        components=3,
        provenance="public",
        iterations=10,
        covariance="diag",
    ),
)


def bundled() -> tuple[BundledTable, ...]:
    """Every bundled table, in the order in which a newcomer should meet them.

    >>> bundled()[0].title
    'Three groups'
    """
    return BUNDLED


def find(name: str) -> BundledTable:
    """The bundled table of this name; InputError if there is none.

    >>> find("iris").provenance
    'public'
    """
    for table in BUNDLED:
        if table.name == name:
            return table
    known = ", ".join(table.name for table in BUNDLED)
    raise InputError("data", f"{name!r} is not a bundled table", f"choose one of {known}")


def path_of(name: str) -> Path:
    """The data file of a bundled table, for ``dpcore.load``."""
    return find(name).path


def home() -> Path:
    """The folder of the bundled tables: ``sample_data`` beside the package."""
    return Path(__file__).resolve().parents[2] / "sample_data"
