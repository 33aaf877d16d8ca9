"""The mean of heavy-tailed columns, by a trusted curator or from what persons send themselves.

*central*: numbers are bent at a public scale, summed, and one noise is added. *local*: every person
adds noise to an own number. *local_onebit*: every person sends one random bit a number, which is
epsilon with delta 0 and the most accurate of the local ones. Wang, Ding, Hu, Xie, Pan, Xu 2023,
section 4; Duchi, Jordan, Wainwright 2018.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from dpcore.accounting.published import PublishedBudget
from dpcore.arrays import Array
from dpcore.errors import InputError
from dpcore.fitting.recipe import SEVERAL, Printed, Recipe, Runs, demand_replacement
from dpcore.models.gradient_em.private import PAPER, printed_multiplier
from dpcore.models.mean import MeanSettings
from dpcore.models.mean import mathematics as heavy_tails
from dpcore.models.mean.mathematics import Bent
from dpcore.models.mean.parameters import MeanParameters, Means
from dpcore.models.shared.truncation import LIMIT
from dpcore.privacy import Event, Gaussian, Guarantee, Laplace, Ledger, Privacy
from dpcore.schema import Schema
from dpcore.wall.data import MaskedRows, PublicFrame
from dpcore.wall.session import Noise, Session
from dpcore.wall.statistics import (
    FREE_WEIGHT,
    BoxVector,
    VectorRows,
    Vectors,
    epsilon_of_a_bit,
    randomise,
    randomise_bits,
)

CLIPPED, TRUNCATED = "sum of clipped numbers", "sum of truncated numbers"
COUNTED = ", and their number"


class MeanRecipe(Recipe):
    """One mean, central or local; see the module."""

    options = MeanSettings
    opens = MaskedRows

    def events(self, settings: MeanSettings) -> tuple[Event, ...]:
        """One release; of bits it is epsilon = 1/multiplier, as of Laplace noise."""
        return (Event(Laplace(1.0) if settings.trust == "local_onebit" else Gaussian(1.0)),)

    def accountants(self, settings: MeanSettings) -> tuple[str, ...]:
        """Bits are planned as Laplace noise; where only epsilon counts, the two cost the same."""
        return ("linear",) if settings.trust == "local_onebit" else ()

    def published(
        self, requests: Sequence[Privacy], settings: MeanSettings, delta_each: float | None
    ) -> PublishedBudget:
        """``rho = e^2`` of zCDP, ``e = sqrt(ln(1/delta) + epsilon) - sqrt(ln(1/delta))``."""
        demand_replacement(requests)
        multiplier = np.array([printed_multiplier(p, releases=1) for p in requests])
        return PublishedBudget(1.0 / multiplier, multiplier, None, 1)

    def printed(self, request: Privacy, settings: MeanSettings) -> Printed | None:
        place = "Theorem 2" if settings.method == "improved" else "Lemma 1"
        return Printed(
            f"{PAPER}, {place}",
            ("its noise is composed here as in the paper's Algorithm 2, by zCDP",),
        )

    def assumptions(
        self, settings: MeanSettings, guarantee: Guarantee, schema: Schema
    ) -> tuple[str, ...]:
        """The usual lines, what persons add, and what was chosen."""
        lines = guarantee.assumptions
        if settings.trust != "central":
            lines = (*lines, "each person randomises the numbers: nobody collects an exact row")
        return (*lines, "tau was chosen without looking at the data")

    def as_made(
        self, settings: MeanSettings, ledger: Ledger, rows_of_one: int
    ) -> MeanSettings | None:
        """Numbers were once clipped at a scale that could lie beyond the limits, or was that of one
        row for each person; and a count that is not public had a smaller weight."""
        if settings.trust != "central":
            return settings
        entry = ledger.entries[-1]
        counts = entry.adjacency == "add_remove" or "; 0 to " in (entry.proof or "")
        labels = (CLIPPED,) if settings.method == "clip" else (CLIPPED, TRUNCATED)
        now = [label + SEVERAL * (rows_of_one > 1) + COUNTED * counts for label in labels]
        return settings if entry.what in now else None

    def takes_persons(self, settings: MeanSettings) -> bool:
        return settings.mode == "proved" and settings.trust == "central"

    def fit(
        self,
        session: Session[Any],
        settings: MeanSettings,
        noise: Array,
        published: PublishedBudget | None,
    ) -> Runs[Means]:
        assert isinstance(session.source, MaskedRows)  # the kind this recipe asks for
        multiplier = np.asarray(noise if published is None else published.noise_multiplier)
        public = session.public
        spread = np.full(public.dim, 1.0)
        if settings.tau is not None:
            spread = math.sqrt(settings.tau) / public.half_range
        if not session.private and not session.as_private:
            estimate, scale = _plain(session), np.full((session.runs, public.dim), math.inf)
        else:
            way = _central
            if session.private and settings.trust != "central":
                way = _one_bit if settings.trust == "local_onebit" else _local
            estimate, scale = way(session, settings, multiplier, spread)
        inside = np.clip(estimate, -1.0, 1.0)  # no mean is outside the bounds
        mean = Means(inside, scale, np.full_like(inside, np.nan))
        return Runs(mean, (mean,))

    def parameters(self, batch: Means, run: int, public: PublicFrame) -> MeanParameters:
        return MeanParameters(public.names, public.center + public.half_range * batch.mean[run])


def _plain(session: Session[MaskedRows]) -> Array:
    """The mean of all rows, which privacy does not protect."""

    def rows(block: VectorRows, runs: slice) -> Array:
        return np.repeat(block.rows[None], runs.stop - runs.start, axis=0)

    noise = Noise("gaussian", 0.0)
    contribution = BoxVector(session.public.dim, math.inf)
    noisy = session.release("mean", contribution, Vectors(rows, own=False), noise)
    return np.asarray(noisy.sums / noisy.counts[:, None])


def _central(
    session: Session[MaskedRows], settings: MeanSettings, multiplier: Array, spread: Array
) -> tuple[Array, Array]:
    """One noisy sum of bent numbers: their mean and where they bend ``(B, d)``. spread ``(d,)``:
    ``sqrt tau`` in units of the limits, as all three are."""
    dim = session.public.dim
    most = 1 if settings.mode == "paper" else session.rows_per_person  # what the noise grows by
    bent = heavy_tails.central(
        settings.method, multiplier * most, _expected_rows(session, settings), dim, settings.failure
    ).within(spread)
    summed = (CLIPPED if bent.smoothing is None else TRUNCATED) + SEVERAL * (most > 1)
    noisy = session.release(
        summed if session.rows else summed + COUNTED,
        BoxVector(dim, bent.largest, _count_weight(session)),
        Vectors(partial(_bent, bent), own=False),
        Noise("gaussian", _of_bound(multiplier, bent, settings)),
    )
    count = np.full(session.runs, float(session.rows)) if session.rows else noisy.counts
    return bent.scale * noisy.sums / np.maximum(count, 1.0)[:, None], bent.scale


def _count_weight(session: Session[Any]) -> float:
    """Of the number of rows beside their sum, where it is not public.

    The mean m of d numbers, in units of where they bend, has an error of variance in proportion to
    ``(1 + a^2) (1 + m^2 / a^2 d)`` a number, which is least at ``a^2 = m / sqrt d``; m is taken to
    be 1/2. Where persons are replaced the first factor is not there.
    """
    if session.persons is not None:
        return FREE_WEIGHT
    return math.sqrt(0.5 / math.sqrt(session.public.dim))


def _local(
    session: Session[MaskedRows], settings: MeanSettings, multiplier: Array, spread: Array
) -> tuple[Array, Array]:
    """The same of what persons send, each with own noise."""
    rows = _expected_rows(session, settings)
    dim = session.public.dim
    bent = heavy_tails.local(settings.method, multiplier, rows, dim, settings.failure)
    bent = bent.within(spread)
    sent = randomise(
        session,
        "each row's truncated numbers, with their own noise",
        bent.largest,
        partial(_bent, bent),
        Noise("gaussian", _of_bound(multiplier, bent, settings)),
    )
    return bent.scale * sent.mean(axis=1), bent.scale


def _one_bit(
    session: Session[MaskedRows], settings: MeanSettings, multiplier: Array, spread: Array
) -> tuple[Array, Array]:
    """The same of random bits, of the size that makes them right on average."""
    epsilon = epsilon_of_a_bit(session, multiplier)
    scale = heavy_tails.one_bit_scale(epsilon, _expected_rows(session, settings))
    bent = Bent(scale, None).within(spread)
    bits = randomise_bits(
        session,
        "one random bit for each of a row's numbers",
        partial(_bent, bent),
        multiplier,
    )
    size = bent.scale * heavy_tails.inflation(epsilon)[:, None]
    return size * (2.0 * bits.mean(axis=1) - 1.0), bent.scale


def _of_bound(multiplier: Array, bent: Bent, settings: MeanSettings) -> Array:
    """The paper's noise is relative to the bound of phi, not to the smaller one of its mean."""
    return multiplier * (LIMIT / bent.largest) if settings.mode == "paper" else multiplier


def _bent(bent: Bent, block: VectorRows, runs: slice) -> Array:
    return bent.of(block.rows, runs)


def _expected_rows(session: Session[MaskedRows], settings: MeanSettings) -> float:
    count = session.rows if session.rows is not None else settings.rows or session.persons
    if count is None:
        raise InputError(
            "rows",
            "the truncation threshold depends on the number of rows, which is not public here",
            "give a public guess of that number",
        )
    return max(1.0, float(count))


RECIPE: Any = MeanRecipe()
