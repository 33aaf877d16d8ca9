"""Private sigmoid belief networks: one joint release of five sums over a minibatch each step.

*proved*: the sums share one sensitivity, and each row's vector is drawn into a ball. *paper*: the
noise of Park, Foulds, Chaudhuri, Welling 2020, Algorithm 6, which counts seven sums, as printed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpcore.accounting import Accountant, calibrate
from dpcore.accounting.published import PublishedBudget
from dpcore.accounting.wbk import FixedSizeAccountant
from dpcore.checks import positive, share_below_one, whole
from dpcore.errors import InputError
from dpcore.fitting.minibatch import Steps, forgotten, share_of_a_step, steps_of
from dpcore.fitting.plan import groups
from dpcore.fitting.recipe import Printed, Runs, demand_replacement
from dpcore.models.sigmoid_belief import mathematics as belief
from dpcore.models.sigmoid_belief.mathematics import Network, Posterior, Sums
from dpcore.privacy import Event, Guarantee, Privacy
from dpcore.wall.belief import BeliefMoments, BeliefSession, measure_belief
from dpcore.wall.clip import PublicFrame
from dpcore.wall.doors import Noise
from dpcore.wall.sampling import Minibatches, Sample
from dpcore.wall.table import PrivateTable

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.float64]

SOURCE = "Park, Foulds, Chaudhuri, Welling 2020, Algorithm 6"
EQUAL = (1.0, 1.0, 1.0, 1.0, 1.0)
WEIGHTS = (0.3, 0.3, 0.3, 1.0, 1.0)  # the sums with most coordinates get most of the budget
PRINTED_PARTS = 7  # sums that the paper counts, each with noise of its own size times sqrt 7
WHOLE = Steps(1, Sample("none", 1.0))


@dataclass(frozen=True)
class BeliefSettings:
    """Public choices of a fit; none may be read from the data.

    components: hidden units. minibatch, rate: rows of a step, or each row's chance to be in it.
    iterations: steps; ``None``: ``epochs`` passes over the rows. delay, forgetting: step t weighs
    ``(delay + t)^-forgetting``. start: seed of the data-free start. threshold: a pixel is on above
    this share of its bounds. steps: how rows are drawn, worked out once their number is known.
    """

    components: int = 50
    minibatch: int | None = None
    rate: float | None = None
    iterations: int | None = None
    epochs: int = 5
    delay: float = 1.0
    forgetting: float = 0.4
    start: int = 0
    threshold: float = 0.5
    mode: str = "proved"
    steps: Steps = WHOLE


class BeliefRecipe:
    """A sigmoid belief network, proved and as published; see the module."""

    words = (
        "minibatch",
        "rate",
        "iterations",
        "epochs",
        "delay",
        "forgetting",
        "start",
        "threshold",
    )
    clip = 0.3

    def settings(
        self,
        *,
        components: int = 50,
        minibatch: int | None = None,
        rate: float | None = None,
        iterations: int | None = None,
        epochs: int | None = None,
        delay: float | None = None,
        forgetting: float | None = None,
        start: int = 0,
        threshold: float = 0.5,
        mode: str = "proved",
    ) -> BeliefSettings:
        """Settings from plain words; in paper mode one pass with the authors' program's steps."""
        usual = (1, 1024.0, 0.7) if mode == "paper" else (5, 1.0, 0.4)
        minibatch, rate = share_of_a_step(minibatch, rate)
        if minibatch is None and rate is None:
            rate = 0.25
        return BeliefSettings(
            whole("components", components),
            minibatch,
            rate,
            None if iterations is None else whole("iterations", iterations),
            whole("epochs", usual[0] if epochs is None else epochs),
            positive("delay", usual[1] if delay is None else delay),
            forgotten(usual[2] if forgetting is None else forgetting),
            whole("start", start, least=0),
            share_below_one("threshold", threshold),
            mode,
        )

    def session(self, settings: BeliefSettings, table: PrivateTable, **words: Any) -> BeliefSession:
        """A session on binary rows."""
        return BeliefSession(table, threshold=settings.threshold, **words)

    def sized(self, settings: BeliefSettings, rows: int | None, adjacency: str) -> BeliefSettings:
        """The settings with the steps that minibatches make of them."""
        if adjacency not in ("replace_one", "add_remove"):
            raise InputError(
                "adjacency",
                f"it reads rows whole, and {adjacency} sets a column apart",
                "choose replace_one or add_remove",
            )
        steps = steps_of(
            minibatch=settings.minibatch,
            rate=settings.rate,
            iterations=settings.iterations,
            epochs=settings.epochs,
            rows=rows,
            adjacency=adjacency,
        )
        return replace(settings, steps=steps)

    def assumptions(self, settings: BeliefSettings, guarantee: Guarantee) -> tuple[str, ...]:
        """Those of a table, and that samples stay secret."""
        if settings.steps.sample.sampling == "none":
            return guarantee.assumptions
        return (*guarantee.assumptions, "which rows a step drew stays secret")

    def events(self, settings: BeliefSettings) -> tuple[Event, ...]:
        return settings.steps.events()

    def published(
        self, requests: Sequence[Privacy], settings: BeliefSettings, delta_each: float | None
    ) -> PublishedBudget:
        """The paper's sigma, by the accountant asked for, with its classic conversion."""
        demand_replacement(requests)
        sigma = np.empty(len(requests))
        for i, request in enumerate(requests):
            if request.noise_multiplier is not None:
                sigma[i] = request.noise_multiplier
        for (accountant, delta), members in groups(requests).items():
            targets = np.array([requests[i].epsilon for i in members], dtype=float)
            method = as_printed(accountant)
            sigma[members] = calibrate(settings.steps.events(), targets, delta, method)
        return PublishedBudget(1.0 / sigma, sigma, None, settings.steps.count)

    def printed(self, request: Privacy, settings: BeliefSettings) -> Printed | None:
        if request.mode != "paper":
            return None
        return Printed(
            SOURCE,
            (
                "it counts seven sums; one of them reads released numbers only and one is the "
                "diagonal of another, so the five that are left have the noise of 1.18 sigma",
                "the authors' program carries hidden units from one minibatch into the next, "
                "which no composition covers; here every row begins anew",
            ),
        )

    def fit(
        self,
        session: BeliefSession,
        settings: BeliefSettings,
        noise: Array,
        published: PublishedBudget | None,
    ) -> Runs[Network]:
        paper = settings.mode == "paper"
        shape = BeliefMoments(
            settings.components,
            session.visible,
            EQUAL if paper else WEIGHTS,
            1.0 if paper else session.share,
        )
        if published is not None:
            noise = math.sqrt(PRINTED_PARTS / 5.0) * np.asarray(published.noise_multiplier)
        known = [belief.start(shape.hidden, shape.visible, settings.start)] * session.runs
        batches = Minibatches(session, settings.steps.sample)
        sums: list[Sums] | None = None
        history = []
        for iteration in range(1, settings.steps.count + 1):
            released = measure_belief(
                session,
                f"iteration {iteration}: hidden units, pixels and their products",
                shape,
                Noise("gaussian", noise),
                _e_step(known, single=session.adjacency != "add_remove"),
                batches,
            )
            share = settings.steps.sample.rate
            now = [Sums.of(released, r, share, as_printed=paper) for r in range(session.runs)]
            if paper and session.private:
                now = [one.in_range() for one in now]
            weight = (settings.delay + iteration) ** -settings.forgetting
            if sums is not None:
                now = [old.averaged(new, weight) for old, new in zip(sums, now, strict=True)]
            sums = now
            known = [belief.m_step(one, before) for one, before in zip(sums, known, strict=True)]
            history.append(belief.network(known))
        return Runs(history[-1], tuple(history))

    def parameters(self, batch: Network, run: int, public: PublicFrame) -> BeliefParameters:
        return BeliefParameters.from_units(batch, run, public)


def first_weights(hidden: int, visible: int, seed: int) -> Array:
    """Weights ``(J, K)`` of the public start, before any row was seen."""
    return belief.start(hidden, visible, seed).weights


def _e_step(known: list[Posterior], *, single: bool) -> Any:
    """The wall's view of the model: rows and a run in, a belief out."""
    return lambda rows, run: belief.e_step(rows, known[run], single=single)


def as_printed(accountant: str) -> str | Accountant:
    """The papers' accountant with the conversion it was printed with; any other as it is."""
    theorem = {"wbk9": 9, "wbk27": 27}.get(accountant)
    if theorem is None:
        return accountant
    return FixedSizeAccountant(theorem, accountant, accountant, SOURCE, "classic")


@dataclass(frozen=True)
class BeliefParameters:
    """One network: weights ``(J, K)``, visible_bias ``(J,)``, hidden_bias ``(K,)``.

    Of binary rows, so it has no units: a pixel is on or off.
    """

    columns: tuple[str, ...]
    lower: Array
    upper: Array
    weights: Array
    visible_bias: Array
    hidden_bias: Array

    @classmethod
    def from_units(cls, batch: Network, run: int, public: PublicFrame) -> BeliefParameters:
        """One run of a batch; pixels that are off and on are the columns' bounds."""
        return cls(
            public.names,
            public.center - public.half_range,
            public.center + public.half_range,
            batch.weights[run],
            batch.visible_bias[run],
            batch.hidden_bias[run],
        )

    def in_units(self, public: PublicFrame) -> Network:
        """The same as a batch of one."""
        return self._network()

    def given_back(self, rows: Array, threshold: float = 0.5) -> Array:
        """Chance of each pixel to be on ``(n, J)``, by what the network makes of rows ``(n, J)``.

        Rows are in own units; threshold: the share of its bounds above which a pixel is on.
        """
        rows = np.asarray(rows, dtype=float)
        if rows.ndim != 2 or rows.shape[1] != len(self.columns):
            raise InputError(
                "rows", f"they do not have {len(self.columns)} columns", "give one a pixel"
            )
        on = rows > self.lower + threshold * (self.upper - self.lower)
        return belief.reconstructed(on.astype(float), self._network(), 0)

    def _network(self) -> Network:
        return Network(self.weights[None], self.visible_bias[None], self.hidden_bias[None])

    def as_dict(self) -> dict[str, Any]:
        return {
            "columns": list(self.columns),
            "weights": self.weights.tolist(),
            "visible_bias": self.visible_bias.tolist(),
            "hidden_bias": self.hidden_bias.tolist(),
        }

    def sample(self, count: int, rng: np.random.Generator) -> pd.DataFrame:
        """Synthetic rows, each pixel at its lower or upper bound."""
        import pandas as pd

        on = belief.sample(self._network(), count, rng)
        return pd.DataFrame(self.lower + on * (self.upper - self.lower), columns=list(self.columns))


RECIPE: Any = BeliefRecipe()
