"""One Gaussian for each class of a label: KL-optimal release (Liu, Scaglione, Peisert 2025)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dpcore.declaration import (
    LOG_LIKELIHOOD,
    Method,
    Metric,
    Model,
    Opening,
    Statement,
    World,
)
from dpcore.errors import InputError
from dpcore.models.gaussian_mixture import PICTURES
from dpcore.models.labelled_mixture.min_trace import SOLVERS
from dpcore.models.labelled_mixture.published_mathematics import NEIGHBOURS
from dpcore.options import BY_METHOD, Dial, Settings, option, word

PROVED = ("auto", "staged", "mte", "public_features", "laplace", "gaussian", "colored", "pooled")
PUBLISHED = ("paper", "laplace", "gaussian", "colored", "r1smg")
TARGETS = ("reverse", "forward")


@dataclass(frozen=True)
class ReleaseSettings(Settings):
    """Public choices of a release; none may be read from the data.

    components: not chosen; there is one for each class of the schema. method: see ``private``.
    target: the divergence that post-processing serves, ``reverse`` or ``forward``. neighbours: of
    the published mechanism. solver: of the minimum-trace problem, where noise is shaped by rows.
    """

    method: str = option(
        "auto",
        word(*dict.fromkeys((*PROVED, *PUBLISHED))),
        "auto, staged, public_features, mte, gaussian, laplace, colored or pooled; in paper mode "
        "paper, laplace, gaussian, colored or r1smg [auto; paper]",
        metavar="M",
        paper="paper",
        not_asked=BY_METHOD,
    )
    target: str = option(
        "reverse",
        word(*TARGETS),
        "divergence to minimise: reverse (of the release from the exact classes) or forward "
        "[reverse]",
        flag="divergence",
        metavar="D",
        dial=Dial(
            "Divergence to minimise",
            "Reverse: that of the release from the exact classes, which penalises shapes that are "
            "too wide. Forward: that of the exact classes from the release, which penalises shapes "
            "that are too narrow.",
            choices={"reverse": "reverse", "forward": "forward"},
            methods=("recommended", "plain_gaussian", "plain_laplace", "colored", "mte", "pooled"),
        ),
    )
    neighbours: str = option(
        "all",
        word(*NEIGHBOURS),
        "neighbours in paper mode: all, leave, ball or scalable [all]",
        metavar="N",
        not_asked=BY_METHOD,
    )
    solver: str = option(
        "exact",
        word(*SOLVERS),
        "for noise shaped by rows (methods mte, colored, paper): exact or cvxpy [exact]",
        metavar="S",
        dial=Dial(
            "Solver for the minimum-trace problem",
            "Both find the same noise; cvxpy is a general solver and takes longer.",
            choices={"exact": "our own", "cvxpy": "cvxpy"},
            methods=("mte", "colored", "least_trace", "leave", "printed_colored"),
        ),
    )

    @classmethod
    def together(cls, chosen: dict[str, Any], mode: str) -> dict[str, Any]:
        method = chosen.get("method")
        if mode == "paper" and method not in (None, *PUBLISHED):
            raise InputError(
                "method", f"no paper prints {method}", "choose " + ", ".join(PUBLISHED)
            )
        if mode != "paper" and method not in (None, *PROVED):
            raise InputError(
                "method",
                f"{method} is not proved",
                "choose mode paper, or one of " + ", ".join(PROVED),
            )
        return chosen


def _printed(title: str, method: str, *more: tuple[str, Any], protects: str = "label") -> Method:
    """One of those that the paper prints."""
    words = (("method", method), *more)
    return Method(title, "paper", ("linear",), words=words, adjacencies=(protects,))


MODEL = Model(
    name="gmm-release",
    package=__name__,
    settings=ReleaseSettings,
    title="Labelled Gaussian mixture",
    single_title="Labelled Gaussian mixture",
    noun="a labelled Gaussian mixture (one Gaussian for each class)",
    meanings={
        "doubt": "what the noise is expected to cost each class, as a divergence in nats; above 1 "
        "it has changed the class beyond recognition",
        "expected_divergence": "the mean of doubt over the classes, by their weights",
        "sizes": "rows of each class, as released",
        "weights": "shares of the classes in the mixture, where classes in doubt count less",
    },
    papers=("liu2025",),
    statement=Statement(
        adds="a constant 1, the row and its square, for its class: *joint diameter of counts, "
        "sums and squares by class in a clipped ball*; in one release, one count in a histogram "
        "of distances: *a row is in one bin of one class*; where only labels are protected and "
        "the budget is small, *two classes change by a vector of bounded length each; features "
        "are public*",
        proved="seven releases, each after the first in frames computed from earlier ones; where "
        "only labels are protected and the budget is small, one release",
        claim="Liu, Scaglione, Peisert 2025, Theorem 1: refuted (see below)",
    ),
    reads="label",
    opening=Opening(components=1),
    most=1,
    adjacencies=("label", "replace_one", "add_remove", "feature"),
    recommended=(("method", "staged"),),
    methods={
        "public_shapes": Method(
            "Shapes of the public columns",
            words=(("method", "public_features"),),
            adjacencies=("label",),
            cost=200.0,
        ),
        "plain_gaussian": Method("Plain Gaussian noise", words=(("method", "gaussian"),)),
        "plain_laplace": Method(
            "Plain Laplace noise", accountants=("linear",), words=(("method", "laplace"),)
        ),
        "colored": Method("Shaped noise on the means alone", words=(("method", "colored"),)),
        "mte": Method(
            "Noise shaped by the public columns",
            words=(("method", "mte"),),
            adjacencies=("label",),
            cost=2000.0,
        ),
        "pooled": Method("One Gaussian for all classes", words=(("method", "pooled"),)),
        "least_trace": _printed("Noise shaped by the rows", "paper"),
        "scalable": _printed(
            "Noise shaped by a norm bound, for labels", "paper", ("neighbours", "scalable")
        ),
        "leave": _printed(
            "Noise shaped by the rows, one row removed", "paper", ("neighbours", "leave")
        ),
        "ball": _printed(
            "Noise shaped by a norm bound, for features",
            "paper",
            ("neighbours", "ball"),
            protects="feature",
        ),
        "printed_laplace": _printed("Laplace noise", "laplace"),
        "printed_gaussian": _printed("Gaussian noise", "gaussian"),
        "printed_colored": _printed("Shaped noise on the means alone", "colored"),
        "r1smg": _printed("Noise along one direction (R1SMG)", "r1smg"),
    },
    shown="Classes",
    pictures=PICTURES,
    uncertainty="uncertainty:UNCERTAINTY",
    worlds=(World(), World(0.6, 0.6, 0.5), World(0.5, 0.6, 0.5, even=1.0, edges=0.05)),
    decides="how many cells are at their limits, how small the smallest class is, and how much of "
    "its range each column fills",
    metrics=(
        Metric(
            "reverse_kl",
            "KL divergence",
            "KL divergence (nats)",
            falls=True,
            of_rows=False,
        ),
        LOG_LIKELIHOOD,
        Metric("accuracy", "Accuracy", "share classified correctly"),
    ),
    audits={"gmm-release": "attack:GMM_RELEASE"},
)
