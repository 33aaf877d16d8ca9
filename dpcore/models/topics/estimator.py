"""Released topics in use: shares of topics in other texts, without the documents.

The private estimator is :class:`dpcore.sklearn.DPLatentDirichletAllocation`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dpcore.fitting.reopened import Reopened
from dpcore.models.topics.parameters import TopicParameters

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dpcore.fitting.result import Fit
    from dpcore.schema import Schema

LETTERS = r"[^\W\d_]+"  # a word, as texts were read for the fit


class _Reopened(Reopened):
    """Topics, whose words and probabilities a dossier calls by other names."""

    def read(
        self, record: Mapping[str, Any], schema: Schema, settings: Mapping[str, Any]
    ) -> TopicParameters:
        """As :class:`~dpcore.fitting.reopened.Reopened` says."""
        words = tuple(map(str, record["vocabulary"]))
        topics, mass = (np.asarray(record[name], dtype=float) for name in ("topics", "mass"))
        if topics.shape != (len(mass), len(words)) or not np.all(topics > 0.0):
            raise ValueError("topics over other words")
        return TopicParameters(words, topics, mass)


def reader(fit: Fit, schema: Schema) -> Any:
    """scikit-learn's pipeline from texts to shares of topics ``(n, K)``, which has seen no data: a
    count in the public words, and latent Dirichlet allocation with the released topics."""
    from scipy.special import psi
    from sklearn.decomposition import LatentDirichletAllocation
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.pipeline import make_pipeline

    released: TopicParameters = fit.parameters
    topics = len(released.mass)
    prior = 1.0 / topics
    count = CountVectorizer(vocabulary=list(released.columns), token_pattern=LETTERS)
    model = LatentDirichletAllocation(topics, doc_topic_prior=prior, topic_word_prior=prior)
    model.components_ = released.probabilities * released.mass[:, None]
    logs = psi(model.components_) - psi(released.mass)[:, None]
    model.exp_dirichlet_component_ = np.exp(logs)
    model.doc_topic_prior_ = model.topic_word_prior_ = prior
    model.n_features_in_, model.n_iter_, model.n_batch_iter_ = len(released.columns), 0, 0
    model.random_state_ = np.random.RandomState(0)
    return make_pipeline(count, model)


ESTIMATOR = _Reopened(
    TopicParameters,
    reader,
    without={
        "score_samples": "gives no density for a text",
        "score": "has no score for a text: dpcore fit judges topics on documents",
    },
)
