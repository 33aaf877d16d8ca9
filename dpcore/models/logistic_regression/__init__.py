"""Bayesian logistic regression: VIPS as published (Park et al. 2020), proved fits and rivals."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from dpcore.checks import nonnegative, positive, whole
from dpcore.declaration import Method, Metric, Model, Opening, Statement, World
from dpcore.errors import InputError
from dpcore.fitting.minibatch import (
    ALL_ROWS,
    BY_SHARE,
    Steps,
    delay_dial,
    demand_one_size,
    forgetting_dial,
    forgetting_exponent,
    rate_dial,
    sampling_rate,
)
from dpcore.options import BY_METHOD, ITERATIONS, UNLESS_GIVEN, Dial, Settings, option, steps, word

ALGORITHMS = ("one_shot", "vb", "vips", "objective", "dpvi")
SAMPLED = ("vips", "dpvi")  # those that draw minibatches
PUBLISHED = ("vips", "objective")  # those that run as printed
STEPS = {"vb": 5, "vips": None, "dpvi": 50}  # that take steps, and how many; vips: one pass


@dataclass(frozen=True)
class LogisticSettings(Settings):
    """Public choices of a fit; none may be read from the data.

    iterations: steps, of those that take any; ``None`` for one pass over the rows (vips).
    minibatch: rows of a step, where their number is public; rate: each row's chance to be in it.
    delay, forgetting: step t weighs ``(delay + t)^-forgetting``; by default all weigh alike, in
    paper mode as in the authors' program. ridge: of objective perturbation, the least prior
    precision; ``None`` for one that grows with the noise. steps, only_labels: how rows are drawn
    and whether features are public, filled in once the rows and the adjacency are known.
    """

    algorithm: str = option(
        "one_shot",
        word(*ALGORITHMS),
        "one_shot, vb, vips, objective or dpvi [one_shot; vips in paper mode]",
        metavar="A",
        paper="vips",
        not_asked=BY_METHOD,
    )
    iterations: int | None = option(
        None,
        steps,
        "steps of vb, vips and dpvi; the others have none [5, one pass over the rows, 50]",
        metavar="J",
        dial=replace(ITERATIONS, methods=("vb", "vips", "vips_proved")),
    )
    minibatch: int | None = option(
        None,
        whole,
        "rows per step of vips or dpvi, where the row count is public [all rows]",
        metavar="S",
        not_asked=BY_SHARE,
    )
    rate: float | None = option(
        None,
        sampling_rate,
        "instead of minibatch: the probability that a row is in a step [1]",
        metavar="Q",
        dial=rate_dial(1.0, "vips", "vips_proved", "dpvi"),
    )
    delay: float = option(
        0.0,
        nonnegative,
        "step t has weight (delay + t)^-forgetting [0; 1024 in paper mode]",
        metavar="T0",
        paper=1024.0,
        dial=delay_dial(0.0, "vips", "vips_proved"),
    )
    forgetting: float = option(
        1.0,
        forgetting_exponent,
        "forgetting exponent in the weight of --delay [1; 0.7 in paper mode]",
        metavar="K",
        paper=0.7,
        dial=forgetting_dial("vips", "vips_proved"),
    )
    ridge: float | None = option(
        None,
        positive,
        "for objective: the minimum prior precision [one that grows with the noise]",
        metavar="L",
        dial=Dial(
            "Minimum prior precision",
            "Minimum prior precision of a coefficient; a larger minimum needs less noise.",
            *(1e-6, 1e6, 1.0, "%.4g"),
            empty="one that grows with the noise",
            still=UNLESS_GIVEN,
            methods=("objective", "printed_objective"),
        ),
    )
    steps: Steps = ALL_ROWS
    only_labels: bool = False

    @classmethod
    def together(cls, chosen: dict[str, Any], mode: str) -> dict[str, Any]:
        paper = mode == "paper"
        algorithm = chosen.get("algorithm", "vips" if paper else "one_shot")
        if paper and algorithm not in PUBLISHED:
            raise InputError(
                "algorithm", "this algorithm is not from a paper", "choose vips or objective"
            )
        if algorithm not in STEPS and "iterations" in chosen:
            raise InputError(
                "iterations",
                f"{algorithm} reads the rows once",
                "leave it out, or choose vb, vips or dpvi",
            )
        if algorithm not in SAMPLED and {"minibatch", "rate"} & chosen.keys():
            raise InputError(
                "minibatch", "this algorithm does not use minibatches", "choose vips or dpvi"
            )
        if algorithm != "objective" and "ridge" in chosen:
            raise InputError(
                "ridge", "only objective perturbation has this option", "choose objective"
            )
        demand_one_size(chosen)
        return {"iterations": STEPS.get(algorithm), **chosen}


MODEL = Model(
    name="logistic",
    package=__name__,
    settings=LogisticSettings,
    title="Bayesian logistic regression",
    single_title="Bayesian logistic regression",
    noun="a logistic regression",
    meanings={
        "covariance": "of the errors of the coefficients and, last, of the intercept",
        "noise_covariance": "the part of this that is privacy noise",
    },
    papers=("park2020", "chaudhuri2011", "jalko2017"),
    statement=Statement(
        adds="the row times its outcome, and the row's square: *joint diameter of outcome sums and "
        "curvature-weighted squares in a clipped ball*; the row times the distance of its chance "
        "from a line: *diameter of the rows of a clipped ball, each with a weight between -1 and "
        "1*",
        proved="one release, in a ball found by three earlier ones, and three small ones that lead "
        "from a linear discriminant to the regression; all else is post-processing",
        claim="VIPS 2020: two sums, each with its own noise, are composed as one release. The "
        "claim holds because the stated sensitivities are larger than the true ones",
    ),
    reads="outcome",
    clips_rows=False,
    opening=Opening(components=1, iterations=10),
    most=1,
    adjacencies=("replace_one", "add_remove", "label"),
    methods={
        "vb": Method(
            "Variational steps on all rows",
            algorithm="vb",
            adjacencies=("replace_one", "add_remove"),
        ),
        "vips": Method(
            "VIPS",
            "paper",
            ("ma", "zcdp", "advanced", "linear"),
            algorithm="vips",
            words=(("rate", 1.0), ("delay", 0.0)),
        ),
        "vips_proved": Method(
            "Steps of VIPS",
            algorithm="vips",
            words=(("rate", 1.0),),
            adjacencies=("replace_one", "add_remove"),
        ),
        "objective": Method(
            "Noise in the objective",
            accountants=("linear",),
            algorithm="objective",
            adjacencies=("replace_one", "add_remove"),
        ),
        "printed_objective": Method(
            "Noise in the objective", "paper", ("linear",), algorithm="objective"
        ),
        "dpvi": Method(
            "Noise in the gradients (DPVI)",
            algorithm="dpvi",
            words=(("rate", 1.0), ("iterations", 50)),
            adjacencies=("replace_one", "add_remove"),
            cost=40.0,
        ),
    },
    plane=False,
    no_intervals="the bias of the fit depends on the rows, which are not released, so no interval "
    "can be corrected for it (those among its parameters leave the bias out)",
    noise_sentence="parameters:noise_sentence",
    metrics=(
        Metric("test_auc", "AUC", "AUC (chance: 0.5)"),
        Metric("test_log_loss", "Log loss", "log loss (nats)", falls=True),
        Metric("test_calibration_error", "Calibration error", "calibration error", falls=True),
    ),
    worlds=(
        World(common=0.8, related=6.0),
        World(0.6, 0.6, 0.5, related=1.0, yes=0.3),
        World(0.35, 0.5, 0.5, related=0.5, yes=0.1),
    ),
    decides="how well the columns predict the outcome, and how rare the rarer outcome is",
    audits={"logistic": "attack:LOGISTIC", "logistic-objective": "attack:LOGISTIC_OBJECTIVE"},
)
