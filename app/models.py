"""How the screen speaks of the models, and the named methods that each of them has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dpcore.accounting import accountant
from dpcore.schema import Schema

METHODS = ("exact", "zcdp", "ma", "linear", "advanced")  # ways of counting, in the order shown
MAX_COMPONENTS = 10
WIDEST = 20  # columns of a labelled table whose classes are fitted while one waits


@dataclass(frozen=True)
class Kind:
    """How the screen speaks of a model, and how it begins with a table that says nothing of it.

    one, many: its title with one part and with more. least, most: of the parts. components,
    iterations, words: to begin with. target: it explains one. plane: its picture is a plane of two
    columns. clips: rows are clipped as such. label: its rows have a class. answer: what it explains
    is a yes or no. adjacencies: what it can protect, the usual one first. own: options of its
    recommended method. clip: to begin with. documents: it reads them, not rows. pixels: it reads
    what is on or off. ghosts: its picture shows other draws. cost: what a visit of a row takes,
    beside one of a mixture's; where it is large, fewer budgets and draws must do.
    """

    one: str
    many: str = ""
    least: int = 1
    most: int = MAX_COMPONENTS
    components: int = 3
    iterations: int = 5
    words: str = ""
    target: bool = False
    plane: bool = True
    clips: bool = True
    label: bool = False
    answer: bool = False
    adjacencies: tuple[str, ...] = ("replace_one", "add_remove")
    own: tuple[tuple[str, Any], ...] = ()
    clip: float = 1.0
    documents: bool = False
    pixels: bool = False
    ghosts: bool = True
    cost: float = 1.0

    def reads(self, schema: Schema) -> bool:
        """Whether a table has the columns that the model reads, or there are documents for it."""
        if self.documents or schema.thing == "document":
            return self.documents and schema.thing == "document"
        if self.pixels:
            features = [schema.column(name) for name in schema.features]
            return schema.image is not None or all(one.type == "binary" for one in features)
        target = None if schema.target is None else schema.column(schema.target)
        if self.answer:
            return target is not None and (target.type == "binary" or len(target.categories) == 2)
        if self.label:
            return schema.label is not None and len(schema.features) <= WIDEST
        return not self.target or (target is not None and target.type == "number")


def _coefficients(title: str, *, target: bool) -> Kind:
    """A gradient model; in a table that is not made for it, it sees shares of the limits."""
    return Kind(
        title,
        most=1,
        components=1,
        iterations=10,
        words="sigma:0.3;own:0",
        target=target,
        plane=not target,
        clips=False,
    )


MODELS = {
    "gmm": Kind("One Gaussian", "Gaussian mixture, {} groups"),
    "kmeans": Kind("k-means, 1 centre", "k-means, {} centres", least=2),
    "fa": Kind(
        "Factor analysis, 1 factor", "Factor analysis, {} factors",
        components=1, iterations=20, plane=False, ghosts=False,
    ),
    "symmetric-mixture": _coefficients("Two mirrored clouds", target=False),
    "mixture-regression": _coefficients("Two opposite lines", target=True),
    "missing-regression": _coefficients("Regression with gaps", target=True),
    "gmm-release": Kind(
        "Classes, one Gaussian each", most=1, components=1, label=True,
        adjacencies=("label", "replace_one", "add_remove", "feature"),
        own=(("method", "staged"),),
    ),
    "logistic": Kind(
        "Yes or no (logistic regression)", most=1, components=1, iterations=10,
        target=True, plane=False, clips=False, answer=True,
        adjacencies=("replace_one", "add_remove", "label"),
    ),
    "lda": Kind(
        "One list of words", "{} topics", iterations=10, words="rate:1;length:100;forgetting:0.3",
        plane=False, clip=0.1, documents=True, ghosts=False, cost=150.0,
    ),
    "sbn": Kind(
        "Belief network, 1 hidden unit", "Belief network, {} hidden units", components=4,
        iterations=10, words="rate:1;forgetting:0.2", plane=False, clip=0.3, pixels=True,
        ghosts=False, cost=15.0,
    ),
}  # fmt: skip
SAMPLED = ("lda", "sbn")  # their steps may read samples
GRADIENT = ("symmetric-mixture", "mixture-regression", "missing-regression")
MIRRORED = GRADIENT[:2]


@dataclass(frozen=True)
class Recipe:
    """A named way of fitting: what a reader picks as *Method*.

    models: those it is for. ways: how its cost can be counted. algorithm: ``None`` for the model's
    own. words: pairs of further options, which nobody can change. adjacencies: what it protects;
    empty: in paper mode the replacement of a row, else whatever the model can. cost: of a visit of
    a row, beside the model's usual one.
    """

    title: str
    badge: str
    mode: str
    models: tuple[str, ...]
    ways: tuple[str, ...] = METHODS
    combination: str = "GGG"
    algorithm: str | None = None
    words: tuple[tuple[str, Any], ...] = ()
    adjacencies: tuple[str, ...] = ()
    cost: float = 1.0


# No paper claims anything by exact counting.
RECIPES = {
    "recommended": Recipe("Recommended", "proved", "proved", tuple(MODELS)),
    "dpem_gaussian": Recipe(
        "DP-EM, Gaussian noise", "as published", "paper", ("gmm",), METHODS[1:]
    ),
    "dpem_laplace": Recipe(
        "DP-EM, Laplace and Gaussian noise", "as published", "paper", ("gmm",), METHODS[1:],
        combination="LLG",
    ),
    "dplloyd": Recipe(
        "DPLloyd", "as published", "paper", ("kmeans",), ("linear", "zcdp"), algorithm="dplloyd"
    ),
    "dpem_kmeans": Recipe(
        "DP-EM's k-means", "as published", "paper", ("kmeans",), ("zcdp", "linear"),
        algorithm="paper",
    ),
    "dpem_kmeans_paid": Recipe(
        "DP-EM's k-means, its counts paid for", "proved", "proved", ("kmeans",), METHODS[1:],
        algorithm="paper",
    ),
    "dpem_factors": Recipe(
        "DP-EM's factor analysis", "as published", "paper", ("fa",), ("linear",)
    ),
    "robust_means": Recipe(
        "Robust means", "as published", "paper", GRADIENT, ("zcdp",), algorithm="robust"
    ),
    "robust_means_exact": Recipe(
        "Robust means, all rows in every step", "proved", "proved", GRADIENT, algorithm="robust"
    ),
    "vips_sums": Recipe(
        "VIPS", "as published", "paper", SAMPLED, ("wbk27", "advanced"), words=(("delay", 1.0),)
    ),
    "clipped_at_1": Recipe(
        "Clipping at 1", "as published", "paper", GRADIENT, ("zcdp",),
        algorithm="clipped", words=(("threshold", 1.0),),
    ),
    "public_shapes": Recipe(
        "Shapes of the public columns", "proved", "proved", ("gmm-release",),
        words=(("method", "public_features"),), adjacencies=("label",),
    ),
    "plain_gaussian": Recipe(
        "Plain Gaussian noise", "proved", "proved", ("gmm-release",),
        words=(("method", "gaussian"),),
    ),
    "plain_laplace": Recipe(
        "Plain Laplace noise", "proved", "proved", ("gmm-release",), ("linear",),
        words=(("method", "laplace"),),
    ),
    "least_trace": Recipe(
        "Noise shaped by the rows", "as published", "paper", ("gmm-release",), ("linear",),
        words=(("method", "paper"),), adjacencies=("label",),
    ),
    "vips": Recipe(
        "VIPS", "as published", "paper", ("logistic",), ("ma", "zcdp", "advanced", "linear"),
        algorithm="vips", words=(("rate", 1.0), ("delay", 0.0)),
    ),
    "vips_proved": Recipe(
        "Steps of VIPS", "proved", "proved", ("logistic",), algorithm="vips",
        words=(("rate", 1.0),),
    ),
    "objective": Recipe(
        "Noise in the objective", "proved", "proved", ("logistic",), ("linear",),
        algorithm="objective", adjacencies=("replace_one", "add_remove"),
    ),
    "dpvi": Recipe(
        "Noise in the gradients (DPVI)", "proved", "proved", ("logistic",), algorithm="dpvi",
        words=(("rate", 1.0), ("iterations", 50)), adjacencies=("replace_one", "add_remove"),
        cost=40.0,
    ),
}  # fmt: skip


def model_title(model: str, parts: int) -> str:
    """A model with its number of parts, in the words of the screen.

    >>> model_title("kmeans", 4), model_title("gmm", 1)
    ('k-means, 4 centres', 'One Gaussian')
    """
    kind = MODELS[model]
    return kind.one if parts == 1 else kind.many.format(parts)


def method_title(name: str) -> str:
    """A way of counting in the words of the screen."""
    return accountant(name).title
