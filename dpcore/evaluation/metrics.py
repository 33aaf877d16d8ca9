"""Metrics computed from exact rows: for the custodian's eyes, never part of a release.

A metric on private rows is itself a release (Park et al. 2017 report held-out likelihood of private
data). Nothing here enters a fit, and on a server that locks exact values everything here refuses.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpcore.evaluation.yardstick import scorer_of, yardstick
from dpcore.models.gmm import Mixture
from dpcore.wall.corpus import PrivateCorpus
from dpcore.wall.custodian import custodian_rows
from dpcore.wall.custodian_documents import custodian_documents

if TYPE_CHECKING:
    from dpcore.fitting.result import Fit
    from dpcore.wall.table import PrivateTable

Array = NDArray[np.float64]


def score(fit: Fit, table: PrivateTable | PrivateCorpus) -> float:
    """What the fit is worth on a table, as the model's yardstick has it: more is better."""
    scorer = scorer_of(fit.model, table, fit.settings, most=None)
    return float(yardstick(fit.model).score(fit.parameters.in_units(scorer.public), scorer)[0])


def metrics(fit: Fit, table: PrivateTable | PrivateCorpus) -> dict[str, float]:
    """Every metric of the model on a table, by the name that scripts use; empty without rows."""
    judge, scorer = yardstick(fit.model), scorer_of(fit.model, table, fit.settings, most=None)
    if not len(scorer.rows):
        return {}
    batch = fit.parameters.in_units(scorer.public)
    return {name: float(judge.measure(batch, scorer, name)[0]) for name in judge.metrics}


def clipped_share(table: PrivateTable, clip: float) -> float:
    """Share of rows that a clipping ball of ``clip`` times the public radius would move."""
    public, rows = custodian_rows(table)
    norms = np.linalg.norm(rows, axis=1)
    return float(np.mean(norms > public.radius * clip)) if len(norms) else 0.0


def affinity(one: Mixture, other: Mixture) -> Array:
    """Bhattacharyya coefficient of every pair of components, ``(B, K, L)``: 1 alike, 0 apart.

    One of the batches may hold a single mixture. The integral of ``sqrt(p q)`` of two Gaussians.
    """
    first = replace(one, means=one.means[:, :, None], covariances=one.covariances[:, :, None])
    second = replace(other, means=other.means[:, None], covariances=other.covariances[:, None])
    middle = (first.covariances + second.covariances) / 2
    gap = np.broadcast_to(first.means - second.means, middle.shape[:-1])
    distance = np.einsum("...i,...i->...", gap, np.linalg.solve(middle, gap[..., None])[..., 0]) / 8
    log_dets = [np.linalg.slogdet(c)[1] for c in (middle, first.covariances, second.covariances)]
    shape = 0.5 * (log_dets[0] - 0.5 * (log_dets[1] + log_dets[2]))
    return np.asarray(np.exp(-distance - shape))


def loneliest_row(table: PrivateTable | PrivateCorpus) -> int:
    """Position of the row farthest from all others together (Mahalanobis): the one most exposed; of
    documents the one whose words are the rarest."""
    if isinstance(table, PrivateCorpus):
        return _loneliest_document(table)
    _, rows = custodian_rows(table)
    centred = rows - rows.mean(axis=0)
    spread = centred.T @ centred / len(rows) + 1e-9 * np.eye(rows.shape[1])
    return int(np.argmax(np.einsum("ni,ni->n", centred, np.linalg.solve(spread, centred.T).T)))


def _loneliest_document(corpus: PrivateCorpus) -> int:
    """Position of the document whose words are, on average, the least frequent in all."""
    words, bags = custodian_documents(corpus)
    often = np.bincount(bags.words, bags.counts, minlength=words.size)
    rare = -np.log(often[bags.words] / max(float(often.sum()), 1.0))
    told = np.bincount(bags.owner, bags.counts * rare, minlength=bags.count)
    return int(np.argmax(told / np.maximum(bags.lengths, 1.0)))
