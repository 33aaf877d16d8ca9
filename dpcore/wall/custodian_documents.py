"""The custodian's exit for documents: exact bags of words for whoever already holds the corpus.

As :mod:`dpcore.wall.custodian`: refused while ``DPCORE_LOCK_TRUTH`` is set.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dpcore.wall.bags import Bags
from dpcore.wall.corpus import PrivateCorpus


def custodian_documents(corpus: PrivateCorpus, most: int | None = None) -> tuple[Any, Bags]:
    """The vocabulary and the documents; at most so many of them, by a fixed coin.

    Raises WallError on a server that locks exact values.
    """
    corpus.demand_open()
    bags = corpus._bags
    if most is not None and bags.count > most:
        bags = bags.take(np.random.default_rng(0).choice(bags.count, most, replace=False))
    return corpus.schema, bags
