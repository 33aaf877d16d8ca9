"""Latent Dirichlet allocation: VIPS as published (Park et al. 2020), and a proved fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcore.arrays import Array, Indices
from dpcore.checks import whole
from dpcore.declaration import Method, Metric, Model, Opening, Statement
from dpcore.errors import InputError
from dpcore.fitting.minibatch import SampledSettings, epochs_option, forgetting_option
from dpcore.models.topics.mathematics import step_size
from dpcore.options import BY_MODEL, UNLESS_GIVEN, Dial, Slide, option
from dpcore.privacy.events import Sampling


@dataclass(frozen=True)
class TopicSettings(SampledSettings):
    """Public choices of a topic fit; none may be read from the documents.

    length: words that each document stands for. keep: how many words of the public list are kept,
    chosen by their released frequencies; ``None``: all. sampling: how minibatches are drawn, worked
    out with the rest.
    """

    components: int = option(
        3, whole, "number of topics [3]", flag="topics", metavar="K", not_asked=BY_MODEL
    )
    epochs: int = epochs_option(3)
    length: int = option(
        500,
        whole,
        "length to which each document is scaled, in words [500]",
        metavar="N",
        dial=Dial(
            "Scaled document length",
            "Every document counts as this many words, whatever its length.",
            *(1, 100_000, 50, "%d"),
            slide=Slide(
                "Words of a document",
                "scaled document length in words",
                ("less noise", "more words"),
                (10, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000),
            ),
        ),
    )
    keep: int | None = option(
        None,
        whole,
        "number of vocabulary words to keep, chosen by noisy frequencies [all]",
        metavar="V",
        dial=Dial(
            "Vocabulary words to keep",
            "Chosen by their released frequencies; the others keep only their prior share.",
            *(1, 1_000_000, 100, "%d"),
            empty="all of them",
            still=UNLESS_GIVEN,
            methods=("recommended",),
        ),
    )
    forgetting: float = forgetting_option(0.6)
    sampling: Sampling = "none"

    @classmethod
    def together(cls, chosen: dict[str, Any], mode: str) -> dict[str, Any]:
        if "keep" in chosen and mode == "paper":
            raise InputError(
                "keep",
                "the paper fixes the vocabulary",
                "leave this option out, or give a list of words",
            )
        return super().together(chosen, mode)

    @property
    def prior(self) -> float:
        """Both concentrations: 1/K."""
        return 1.0 / self.components

    @property
    def looks(self) -> bool:
        """Whether frequencies of words are released first: more topics share one word's noise."""
        return self.mode != "paper" and (self.components > 1 or self.keep is not None)

    def step(self, iteration: int) -> float:
        """The weight of a step's words."""
        return step_size(iteration, self.delay, self.forgetting)

    def weights(self, iterations: Indices) -> Array:
        """The same of many runs ``(B,)``, each at its own iteration; 0 before the first."""
        return np.array([self.step(at) if at > 0 else 0.0 for at in iterations.tolist()])


MODEL = Model(
    name="lda",
    package=__name__,
    settings=TopicSettings,
    title="Latent Dirichlet allocation, {} topics",
    single_title="Word frequencies (1 topic)",
    noun="a latent Dirichlet allocation (each topic is a distribution over words)",
    meanings={
        "mass": "words that each topic was found to have written, those of the prior included"
    },
    part="topic",
    parts="topics",
    papers=("park2020", "blei2003", "balle2018b"),
    statement=Statement(
        adds="its word counts, divided among the topics: *diameter of non-negative matrices in a "
        "ball, a document's words shared among topics*",
        proved="one release of word frequencies, then steps on secret samples of the documents",
        claim="VIPS 2020, equation 28: the noise covers an added or removed document. A replaced "
        "document can move the sum sqrt 2 times as far; whether the printed epsilon still holds "
        "depends on the settings",
    ),
    reads="documents",
    clip="how far a document can move a step's sums, as a share of the maximum [0.1]",
    opening=Opening(iterations=10, words="rate:1;length:100;forgetting:0.3", clip=0.1),
    methods={
        "vips_sums": Method("VIPS", "paper", ("wbk27", "wbk9", "advanced"), words=(("delay", 1.0),))
    },
    compared=10,
    plane=False,
    ghosts=False,
    cost=150.0,
    no_intervals="how topics mix in a document is not released, so documents like the fitted ones "
    "cannot be simulated",
    metrics=(
        Metric("test_perplexity", "Perplexity", "perplexity", falls=True),
        Metric(
            "test_completion_perplexity",
            "Completion perplexity",
            "completion perplexity",
            falls=True,
        ),
        Metric("test_log_likelihood", "Log-likelihood", "log-likelihood per word (nats)"),
    ),
    audits={"lda": "attack:LDA"},
)
