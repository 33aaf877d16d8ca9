"""From a schema to bounded numbers: rows, labels, targets, documents, and their parts.

What is named here is for whoever fits: public values, sealed documents, and ways to open a table.
"""

from dpcore.wall.data.clipping import PublicFrame, clip_to_ball, demand_squares
from dpcore.wall.data.clipping_frame import Frame
from dpcore.wall.data.corpus import PrivateCorpus, Vocabulary, demand_loaded
from dpcore.wall.data.regression_target import target_frame, with_target
from dpcore.wall.data.sources import (
    BinaryRows,
    Documents,
    FeatureRows,
    LabelledRows,
    LogisticRows,
    MaskedRows,
)
from dpcore.wall.data.word_counts import Bags

__all__ = [
    "Bags",
    "BinaryRows",
    "Documents",
    "FeatureRows",
    "Frame",
    "LabelledRows",
    "LogisticRows",
    "MaskedRows",
    "PrivateCorpus",
    "PublicFrame",
    "Vocabulary",
    "clip_to_ball",
    "demand_loaded",
    "demand_squares",
    "target_frame",
    "with_target",
]
