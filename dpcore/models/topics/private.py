"""Private topics: one noisy sum of a minibatch's words in topics a step, averaged, cut off last.

*proved*: the noise is scaled to what a document can change; frequencies of words are released once,
and the raw noisy sums of the steps are averaged before anything below 0 is cut off. Where noise is
strong, some steps release words that are not shared out among topics: the first ones, as many as
the released frequencies of words say, and all that are left where topics hardly differ once a
quarter of the steps have had topics, or once half of the steps are done. *paper*: Park, Foulds,
Chaudhuri, Welling 2020, Algorithm 3: documents are resampled to a fixed length, the sensitivity is
printed without its ``sqrt 2``, every noisy sum is cut off at 0 before it is mixed in, counted by
Wang, Balle, Kasiviswanathan 2019 or by strong composition.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from dpcore.accounting import accountant as registered
from dpcore.accounting import calibrate, compose
from dpcore.accounting.published import PublishedBudget
from dpcore.accounting.wbk import as_printed
from dpcore.arrays import Array, Indices, Mask
from dpcore.checks import one_of
from dpcore.errors import InputError
from dpcore.fitting.minibatch import steps_of
from dpcore.fitting.plan import groups
from dpcore.fitting.recipe import Later, Printed, Recipe, Runs
from dpcore.models.topics import TopicSettings
from dpcore.models.topics import mathematics as lda
from dpcore.models.topics.cells import hidden, sharpened
from dpcore.models.topics.mathematics import Topics
from dpcore.models.topics.parameters import TopicParameters
from dpcore.privacy import EpsilonDelta, Event, Gaussian, Guarantee, Privacy
from dpcore.schema import Schema
from dpcore.wall.data import Bags, Documents
from dpcore.wall.session import Noise, Session
from dpcore.wall.statistics import SharedOut, TopicWords
from dpcore.wall.subsample import Minibatches, Sample

LOOK = 2.0  # noise of the release of word frequencies, in units of a step's
CLEAR = 0.7  # mean count of a word, in deviations of its noise: half of the steps have no topics
UNCLEAR = 3.0  # the same, below which steps end in words alone unless topics are seen to differ
CLIP = 0.1  # of a document's length: the paper's a
MOST_HISTORY = 1 << 22  # numbers of the history
DELTA_EACH = 1e-6  # of a release in the paper's strong composition
PUBLISHED = ("wbk27", "wbk9", "advanced")
SOURCE = "Park, Foulds, Chaudhuri, Welling 2020, Algorithm 3"


class TopicRecipe(Recipe):
    """Latent Dirichlet allocation, proved and as published; see the module."""

    options = TopicSettings
    in_own_units = TopicParameters.from_batch
    clip = CLIP
    sampled = True

    def session(self, settings: TopicSettings, table: Any, **words: Any) -> Session[Documents]:
        """A session on documents. Raises InputError for rows of numbers."""
        if table.things != "documents":
            raise InputError(
                "data",
                "topics are found in documents, not in rows of numbers",
                "give a CSV with a column of texts, a folder of .txt files, or a bag-of-words .npz",
            )
        published = settings.mode == "paper" and words["noise"] is not None
        opens = partial(Documents, length=settings.length, resample=published)
        return Session(table, opens, **words)

    def sized(self, settings: TopicSettings, rows: int | None, adjacency: str) -> TopicSettings:
        steps = steps_of(settings, settings.epochs, rows, adjacency)
        return replace(
            settings,
            rate=steps.sample.rate,
            iterations=steps.count,
            sampling=steps.sample.sampling,
        )

    def events(self, settings: TopicSettings) -> tuple[Event, ...]:
        steps = _releases(settings, 1.0)
        if not settings.looks:
            return (steps,)
        return (Event(Gaussian(LOOK), adjacency=steps.adjacency), steps)

    def published(
        self, requests: Sequence[Privacy], settings: TopicSettings, delta_each: float | None
    ) -> PublishedBudget:
        """Noise of each release relative to the paper's sensitivity, equation 28.

        Raises InputError unless a document is replaced.
        """
        if any(request.adjacency != "replace_one" for request in requests):
            raise InputError(
                "adjacency", "the paper's guarantee is for a replaced document", "use replace_one"
            )
        noise = np.array([request.noise_multiplier or np.nan for request in requests])
        for name, delta, members, targets in groups(requests):
            name = name if name in PUBLISHED else "wbk27"  # the paper's own counting
            noise[members] = published_noise(
                settings, targets, delta, name, delta_each or DELTA_EACH
            )
        return PublishedBudget(1.0 / noise, noise, delta_each, settings.iterations or 0)

    def printed(self, request: Privacy, settings: TopicSettings) -> Printed | None:
        return Printed(
            f"{SOURCE}, equation 28",
            (
                "its noise is scaled to the largest norm of a document's contribution, which is "
                "the most by which adding or removing a document can change the sum",
            ),
            unless=(
                "replacing a document can change the sum by sqrt 2 times as much, where the two "
                "documents have different words in different topics",
            ),
        )

    def assumptions(
        self, settings: TopicSettings, guarantee: Guarantee, schema: Schema
    ) -> tuple[str, ...]:
        """What is assumed of documents."""
        lines = [
            "the vocabulary, the scaled length, the number of topics, the start and all steps "
            "were chosen without looking at the documents",
        ]
        if settings.sampling == "none":
            lines.append("noise is drawn in floating point, which the proof treats as exact")
        else:
            lines.append(
                "noise and samples are drawn in floating point, which the proof treats as exact"
            )
            lines.append("the documents drawn in a step stay secret")
        if guarantee.adjacency == "replace_one":
            lines.append("the number of documents is public")
        many = guarantee.rows_per_person
        documents = "one document" if many == 1 else f"at most {many} documents"
        return (*lines, f"each {guarantee.unit} has {documents}")

    def fit(
        self,
        session: Session[Documents],
        settings: TopicSettings,
        noise: Array,
        published: PublishedBudget | None,
    ) -> Runs[Topics]:
        """As :class:`dpcore.fitting.recipe.Recipe` says; of large topics the last alone is kept."""
        printed = published is not None
        multiplier = noise if published is None else np.asarray(published.noise_multiplier)
        words, topics = session.public.size, settings.components
        radius = settings.length if math.isinf(session.radius) else session.radius
        contribution = TopicWords(topics, words, float(radius))
        if printed:  # the noise of equation 28, stated relative to the true sensitivity
            multiplier = multiplier / contribution.l2_sensitivity(session.adjacency)
        sample = Sample(settings.sampling, settings.rate or 1.0)
        batches = Minibatches(session, sample, settings.start)
        start = estimate = lda.start(session.runs, topics, words, settings.start)
        words_known = _looked(session, settings, multiplier)
        share = 1.0 if words_known is None else words_known.allowed
        steps = settings.iterations or 1
        clear = np.full(session.runs, np.inf) if words_known is None else words_known.clearness
        alone, quarter, half = _steps_alone(clear, topics, steps), max(1, steps // 4), steps // 2
        one_list = np.zeros((topics, words))
        one_list[0] = 1.0
        memory = lda.nothing(start)
        history: list[Callable[[], Topics]] = []
        clipping: list[Array] = []
        for iteration in range(1, steps + 1):
            near = estimate if settings.mode == "paper" else lda.begun(estimate, start, memory)
            emission = lda.expected(near) * share
            due = (clear < UNCLEAR) & ((iteration == alone + quarter + 1) | (iteration == half + 1))
            if due.any():
                alone = np.where(due & hidden(memory, words_known), steps, alone)
            words_alone = iteration <= alone
            emission[words_alone] = one_list

            def e_step(
                bags: Bags,
                runs: Sequence[int],
                emission: Array = emission,
                words_alone: Mask = words_alone,
            ) -> Array:
                weights = np.ones((len(runs), bags.count, topics))
                shared = ~words_alone[runs]
                emissions = emission[runs][shared]
                weights[shared] = lda.weights_of_runs(bags, emissions, settings.prior)
                return weights

            released = session.release(
                f"step {iteration}: words in topics",
                contribution,
                SharedOut(emission, e_step),
                Noise("gaussian", multiplier),
                batches,
            )
            rate = batches.rate
            final: Callable[[], Topics]
            if settings.mode == "paper":
                step = settings.step(iteration)
                estimate = lda.published_step(released, rate, estimate, settings.prior, step)
                final = partial(Topics, estimate.concentration)
            else:
                if words_known is not None:
                    words_known = words_known.beside(released, rate, words_alone)
                memory = lda.remember(released, rate, memory, settings.weights(iteration - alone))
                estimate = lda.topics_of(memory, settings.prior, words_known)
                final = partial(sharpened, memory, settings.prior, words_known)
            history.append(final)
            clipping.append(emission[0])
            if iteration * estimate.concentration.size > MOST_HISTORY:
                history, clipping = [final], []
        later = Later(tuple(history))
        return Runs(later[-1], later, clipping)


def _steps_alone(clearness: Array, topics: int, steps: int) -> Indices:
    """How many of the first steps ``(B,)`` release words that are not shared out among topics.

    clearness ``(B,)``: a word's mean in deviations of the noise in what was looked at. A word has
    the noise of one cell in such steps, not of K: half of the steps are such at :data:`CLEAR`, more
    with more noise. The last step has topics. What a document adds is the same, and so is its
    sensitivity: the public topics of such a step give all of its words to the first.
    """
    part = 1.0 / (1.0 + (clearness / CLEAR) ** 2)
    return np.asarray(np.minimum(steps * part, steps - 1 if topics > 1 else 0).astype(np.intp))


def _looked(
    session: Session[Documents], settings: TopicSettings, factor: Array
) -> lda.Frequencies | None:
    """Released frequencies of words and which each run keeps: the most frequent.

    One release on all documents, of each document's share of words, noise factor x :data:`LOOK`.
    """
    if not settings.looks or not (session.private or settings.keep):
        return None
    words = session.public.size
    radius = settings.length if math.isinf(session.radius) else session.radius
    every = np.ones((session.runs, 1, words))

    def alone(bags: Bags, runs: Sequence[int]) -> Array:
        return np.ones((len(runs), bags.count, 1))

    released = session.release(
        "frequencies of words",
        TopicWords(1, words, float(radius)),
        SharedOut(every, alone),
        Noise("gaussian", factor * LOOK),
        Minibatches(session, Sample("none", 1.0)),
    )
    if settings.keep is None:
        return lda.Frequencies(released.counts, released.counts_sd, every)
    order = np.argsort(-released.counts, axis=2, kind="stable")
    shares = np.zeros_like(every)
    np.put_along_axis(shares, order[..., : settings.keep], 1.0, axis=2)
    return lda.Frequencies(released.counts, released.counts_sd, shares)


def published_noise(
    settings: TopicSettings, epsilon: Array, delta: float, name: str, delta_each: float
) -> Array:
    """The paper's sigma ``(budgets,)`` for each epsilon, by one of its composition methods."""
    one_of("accountant", name, PUBLISHED)
    if name == "advanced":
        return _strong(settings, epsilon, delta, delta_each)
    return np.asarray(calibrate((_releases(settings, 1.0),), epsilon, delta, as_printed(name)))


def published_epsilon(
    settings: TopicSettings, noise: float, delta: float, name: str = "wbk27"
) -> float:
    """The epsilon that the paper states for its noise sigma."""
    return float(compose((_releases(settings, noise),), as_printed(name), delta=delta).epsilon)


def _strong(settings: TopicSettings, epsilon: Array, delta: float, delta_each: float) -> Array:
    """Strong composition of classical Gaussian releases of (epsilon_0, delta_each) on samples."""
    method = registered("advanced")
    multipliers = []
    for target in epsilon:
        low, high = 1e-6, 50.0
        for _ in range(80):
            middle = math.sqrt(low * high)
            event = replace(_releases(settings, 1.0), mechanism=EpsilonDelta(middle, delta_each))
            enough = float(compose((event,), method, delta=delta).epsilon) <= target
            low, high = (middle, high) if enough else (low, middle)
        multipliers.append(math.sqrt(2.0 * math.log(1.25 / delta_each)) / low)
    return np.array(multipliers)


def _releases(settings: TopicSettings, noise: float) -> Event:
    """All releases of a fit at one noise multiplier."""
    return Event(
        Gaussian(noise),
        count=settings.iterations or 1,
        sampling=settings.sampling,
        sampling_rate=1.0 if settings.sampling == "none" else (settings.rate or 1.0),
        adjacency="add_remove" if settings.sampling == "poisson" else "replace_one",
    )


RECIPE: Any = TopicRecipe()
