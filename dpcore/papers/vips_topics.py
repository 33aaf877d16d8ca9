"""Private topics on two real corpora: what the published ways and the proved one leave of them.

Park, Foulds, Chaudhuri, Welling 2020, section 4.2, Figures 2 and 3 and Table 3. The paper's corpus
is not published. Here stand a slice of Wikipedia and film reviews; minibatches are the paper's
shares of the documents, and the vocabulary is cut so that a minibatch has as many documents for
each cell of the topics as in the paper.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcore.arrays import Array, Indices
from dpcore.datasets.documents import load_documents
from dpcore.evaluation.yardstick import Scorer, yardstick
from dpcore.fitting.api import Grid, fit_grid
from dpcore.models.topics.mathematics import Topics, bound, top_words
from dpcore.models.topics.private import DELTA_EACH, published_epsilon, published_noise
from dpcore.models.topics.scoring import YARDSTICK, distances, per_word
from dpcore.papers.claims import Points, Row, at_the_end, ordered, points, trend
from dpcore.papers.reproduction import Ask, Run, experiment, values
from dpcore.papers.vips_epsilon import SIGMAS, TOPICS, settings_of
from dpcore.privacy import Privacy
from dpcore.wall.data.corpus import PrivateCorpus

DELTA = 1e-4
SHARES = (0.0125, 0.025, 0.05)  # 5,000, 10,000 and 20,000 of 400,000 documents
TEST = 0.1
CLEAREST = 5  # topics that are shown as words
HEADLINE = 1.24  # the paper's sigma at epsilon 2.38
EXACT = "without privacy, the paper's steps"
CLIPPED = "as published: clipped"
STRONG = "strong composition, clipped"
UNCLIPPED = "as published without clipping"
PROVED = "proved, same epsilon"
NOISED = (CLIPPED, STRONG, UNCLIPPED, PROVED)
FREQUENCIES = "word frequencies, exact"
COMPLETED = ", one half predicted from the other"


@dataclass(frozen=True)
class Texts:
    """One corpus: its file, how many of its words are counted, and the shares of a step."""

    name: str
    file: str
    words: int
    shares: tuple[float, ...] = SHARES


CORPORA = (Texts("Wikipedia", "wikipedia.npz", 610), Texts("IMDB", "imdb_reviews.npz", 2_000))
ALL_WORDS = Texts("Wikipedia, 10,000 words", "wikipedia.npz", 10_000, SHARES[-1:])


@dataclass(frozen=True)
class Halves:
    """Documents to fit, those held out, and how many of the first there are: it is public."""

    train: PrivateCorpus
    test: Scorer
    documents: int
    words: tuple[str, ...]


def halves(ask: Ask, texts: Texts) -> Halves:
    """One corpus, a tenth held out."""
    ask.file(texts.file.replace(".npz", ".vocab.txt"))
    corpus = load_documents(ask.file(texts.file), words=texts.words)
    train, test = corpus.split(TEST, seed=0)
    return Halves(train, Scorer.of(test), len(Scorer.of(train, None).rows), corpus.schema.words)


OTHER_TEXTS = "other texts in place of an unpublished slice of Wikipedia"
ORDER = (
    ordered("the fit without privacy is better than the private clipped one", EXACT, CLIPPED),
    ordered("the moments accountant is better than strong composition", CLIPPED, STRONG),
    ordered("clipping is better than no clipping", CLIPPED, UNCLIPPED),
)


@experiment(
    "VIPS, Figure 2: topics",
    *ORDER,
    ordered("the private clipped fit is better than exact word frequencies", CLIPPED, FREQUENCIES),
    trend("more noise gives higher perplexity", CLIPPED, 1),
    stands_in=OTHER_TEXTS,
)
def figure_2(run: Run) -> str:
    """Perplexity of topics on Wikipedia and film reviews against noise, by method and minibatch.

    Needs ``wikipedia`` and ``imdb_reviews`` (``.npz`` and ``.vocab.txt``). "10,000 words" are all
    that the corpus has. The perplexity is that of the variational bound, as in the paper; of the
    largest minibatches that of one half of each document given the other half is shown as well.
    Five draws of the noise, a quarter of an hour each.
    """
    for texts in run.progress((*CORPORA, ALL_WORDS)):
        half = halves(run.ask, texts)
        for share in run.progress(texts.shares):
            epsilon, _ = counted(half, share, SIGMAS)
            for draw in run.progress(range(run.ask.drawn(5))):
                draws = range(draw, draw + 1)
                grids = _noised(half, share, SIGMAS, draws)
                if not draw:
                    grids |= _without_noise(half, share)
                for more in ("", COMPLETED) if share == max(texts.shares) else ("",):
                    run.panel(
                        f"{texts.name}, {share:.2%} a step{more}",
                        "noise: sigma, relative to the printed sensitivity",
                        f"perplexity of held-out {'halves' if more else 'documents'}",
                        log_x=False,
                    )
                    _measure(run, half.test, grids, epsilon, bool(more))
    return finding(run.rows)


@experiment(
    "VIPS, Figure 3: topics step by step",
    *map(at_the_end, ORDER),
    trend("perplexity falls over the steps", CLIPPED, -1),
    stands_in=OTHER_TEXTS,
)
def figure_3(run: Run) -> str:
    """Perplexity after each step at the paper's sigma 1.24, by method, on both corpora.

    Needs what figure 2 needs. Five draws of the noise, four minutes each.
    """
    sentences = []
    for texts in run.progress(CORPORA):
        run.panel(texts.name, "steps", "perplexity of held-out documents", log_x=False)
        half = halves(run.ask, texts)
        for draw in run.progress(range(run.ask.drawn(5))):  # one by one: each has all its steps
            draws = range(draw, draw + 1)
            fits = {} if draw else _exact(half)
            fits |= _noised(half, SHARES[-1], [HEADLINE], draws)
            for name, grid in fits.items():
                for step, batch in enumerate(grid.runs.history, start=1):
                    run.scores(name, step, _perplexity(batch, half.test))
        curves = {name: values(run.rows, name, texts.name) for name in (EXACT, *NOISED)}
        perplexities = "; ".join(
            f"{name} {curve[max(curve)]:.0f}" for name, curve in curves.items()
        )
        sentences.append(f"{texts.name}, perplexity after the last step: {perplexities}")
    return ". ".join(sentences) + "."


def _first_words(curve: str) -> Callable[[Sequence[Row]], Points]:
    """Each topic's first word's probability."""
    return lambda rows: {at: y for at, y in points(rows, curve).items() if at[1] == 1.0}


@experiment(
    "VIPS, Table 3: topics as words",
    ordered(
        "the first word's probability falls in the order: no privacy, clipping, strong "
        "composition, no clipping",
        *map(_first_words, (UNCLIPPED, STRONG, CLIPPED, EXACT)),
    ),
    stands_in=OTHER_TEXTS,
    one_draw=True,
)
def table_3(run: Run) -> str:
    """The ten likeliest words of the clearest topics, by method, on Wikipedia at sigma 1.24.

    Needs ``wikipedia.npz`` and ``wikipedia.vocab.txt``; one draw. Private topics are matched to the
    exact ones.
    """
    half = halves(run.ask, CORPORA[0])
    fits = {name: grid.runs.final for name, grid in headline(half).items()}
    exact = fits[EXACT]
    shared = []
    for place, topic in enumerate(_clearest(exact), start=1):
        run.panel(f"topic {place}", "rank", "probability of the word", kind="words")
        lists = {}
        for name, batch in fits.items():
            words = YARDSTICK.align(batch, exact)[0].words[0, topic]
            lists[name] = top_words(words, 10)
            for rank, word in enumerate(lists[name], start=1):
                run.row(name, rank, float(words[word]), note=half.words[word])
        shared.append({name: len({*top} & {*lists[EXACT]}) for name, top in lists.items()})
    run.ask.say(1.0)
    counts = "; ".join(
        f"{name} {sum(topic[name] for topic in shared)}" for name in fits if name != EXACT
    )
    return (
        f"Of the {10 * len(shared)} top words of the clearest exact topics, each fit finds: "
        f"{counts}."
    )


def headline(half: Halves) -> dict[str, Grid]:
    """Every method at the paper's sigma 1.24 with the largest minibatch, one draw."""
    return _exact(half) | _noised(half, SHARES[-1], [HEADLINE], range(1))


def _exact(half: Halves) -> dict[str, Grid]:
    return {EXACT: _fit(half, SHARES[-1], None)}


def _noised(half: Halves, share: float, sigmas: Sequence[float], draws: range) -> dict[str, Grid]:
    """Every private method at some of the paper's noises."""
    epsilon, strong = counted(half, share, sigmas)
    return {
        CLIPPED: _fit(half, share, _noises(sigmas), draws=draws),
        STRONG: _fit(half, share, _noises(strong), draws=draws),
        UNCLIPPED: _fit(half, share, _noises(sigmas), clip=1.0, draws=draws),
        PROVED: _proved(half, epsilon, draws),
    }


def counted(half: Halves, share: float, sigmas: Sequence[float]) -> tuple[Array, Array]:
    """The printed epsilon of each sigma, and the sigma that strong composition asks for it."""
    settings = settings_of(_size(half, share), half.documents)
    epsilon = np.array([published_epsilon(settings, sigma, DELTA) for sigma in sigmas])
    return epsilon, published_noise(settings, epsilon, DELTA, "advanced", DELTA_EACH)


def _without_noise(half: Halves, share: float) -> dict[str, Grid]:
    """The exact fit, and no topic but the frequencies of the words."""
    frequencies: dict[str, Any] = {"n_components": 1, "rate": 1.0, "iterations": 1}
    return {
        EXACT: _fit(half, share, None),
        FREQUENCIES: fit_grid("lda", half.train, privacy=None, **frequencies),
    }


def _measure(
    run: Run, held_out: Scorer, grids: dict[str, Grid], epsilon: Array, completed: bool
) -> None:
    """One measure of every method; what there is without noise is the same at every noise."""
    for name, grid in grids.items():
        private = name not in (EXACT, FREQUENCIES)
        perplexities = _perplexity(grid.runs.final, held_out, completed)
        measured = (
            perplexities.reshape(len(SIGMAS), -1)
            if private
            else np.tile(perplexities, (len(SIGMAS), 1))
        )
        for i, (sigma, perplexity) in enumerate(zip(SIGMAS, measured, strict=True)):
            run.scores(
                name,
                sigma,
                perplexity,
                claimed_epsilon=float(epsilon[i]) if private else None,
                proved_epsilon=grid.guarantee(i).epsilon if private else None,
            )


def _noises(sigmas: Sequence[float] | Array) -> tuple[Privacy, ...]:
    return tuple(
        Privacy(noise_multiplier=float(sigma), delta=DELTA, mode="paper") for sigma in sigmas
    )


def _fit(
    half: Halves,
    share: float,
    requests: tuple[Privacy, ...] | None,
    clip: float | None = None,
    draws: range = range(1),
) -> Grid:
    """The paper's algorithm: one pass in minibatches of its share."""
    options: dict[str, Any] = {"mode": "paper"}
    if requests is not None:
        options = {"seed": 0, "clip": clip, "draws": draws}
    size = _size(half, share)
    return fit_grid(
        "lda", half.train, privacy=requests, n_components=TOPICS, minibatch=size, **options
    )


def _proved(half: Halves, epsilon: Array, draws: range) -> Grid:
    """The default fit, at the same budgets."""
    requests = tuple(Privacy(epsilon=float(epsilon_i), delta=DELTA) for epsilon_i in epsilon)
    words: dict[str, Any] = {"n_components": TOPICS, "seed": 0, "draws": draws}
    return fit_grid("lda", half.train, privacy=requests, **words)


def _size(half: Halves, share: float) -> int:
    return max(1, int(share * half.documents))


def _perplexity(batch: Topics, held_out: Scorer, completed: bool = False) -> Array:
    """By the variational bound, as in the paper, or by document completion."""
    if completed:
        return np.asarray(yardstick("lda").measure(batch, held_out, "test_completion_perplexity"))
    return np.asarray(np.exp(-per_word(batch, held_out.rows, bound)))


def _clearest(topics: Topics) -> Indices:
    """The topics farthest from the words of all topics together."""
    everything = Topics(topics.concentration.sum(axis=1, keepdims=True))
    away = distances(topics, everything)[0, :, 0]
    return np.argsort(-away, kind="stable")[:CLEAREST]


def finding(rows: list[Row]) -> str:
    """The order of the methods at the paper's sigma, least perplexity first."""
    panels = []
    for panel in dict.fromkeys(row["panel"] for row in rows):
        here = [row for row in rows if (row["panel"], row["x"]) == (panel, HEADLINE)]
        ranked = sorted(here, key=lambda row: float(row["y"]))
        values_at = "; ".join(f"{row['curve']} {row['y']:.0f}" for row in ranked)
        panels.append(f"{panel}: {values_at}")
    return f"Perplexity at sigma {HEADLINE:g}. " + ". ".join(panels) + "."
