"""Metrics computed from exact rows: for the custodian's eyes, never part of a release.

A metric on private rows is itself a release (Park et al. 2017 report held-out likelihood of private
data). Nothing here enters a fit, and on a server that locks exact values everything here refuses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpcore.evaluation.yardstick import scorer_of, yardstick
from dpcore.wall.custodian import custodian_documents, custodian_rows
from dpcore.wall.data.corpus import PrivateCorpus
from dpcore.wall.table import PrivateTable

if TYPE_CHECKING:
    from dpcore.fitting.result import Fit


def metrics(fit: Fit, table: PrivateTable | PrivateCorpus) -> dict[str, float]:
    """Every metric of the model on a table, by the name that scripts use; empty without rows."""
    judge, scorer = yardstick(fit.model), scorer_of(fit.model, table, fit.settings, most=None)
    if not len(scorer.rows):
        return {}
    batch = fit.parameters.in_units(scorer.public)
    return {name: float(judge.measure(batch, scorer, name)[0]) for name in judge.metrics}


def loneliest_row(table: PrivateTable | PrivateCorpus) -> int:
    """Position of the row farthest from all others together (Mahalanobis): the one most exposed; of
    documents the one whose words are the rarest."""
    if isinstance(table, PrivateCorpus):
        return _loneliest_document(table)
    _, rows = custodian_rows(table, once=True)
    centred = rows - rows.mean(axis=0)
    spread = centred.T @ centred / len(rows) + 1e-9 * np.eye(rows.shape[1])
    return int(np.argmax(np.einsum("ni,ni->n", centred, np.linalg.solve(spread, centred.T).T)))


def _loneliest_document(corpus: PrivateCorpus) -> int:
    """Position of the document whose words are, on average, the least frequent in all."""
    words, bags = custodian_documents(corpus)
    often = np.bincount(bags.words, bags.counts, minlength=words.size)
    rare = -np.log(often[bags.words] / max(float(often.sum()), 1.0))
    surprise = np.bincount(bags.owner, bags.counts * rare, minlength=bags.count)
    return int(np.argmax(surprise / np.maximum(bags.lengths, 1.0)))
