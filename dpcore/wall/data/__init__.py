"""From a schema to bounded numbers: rows, labels, targets, documents, and their parts.

What is named here is for whoever fits: public values, sealed documents, and ways to open a table.
"""

from typing import TYPE_CHECKING

from dpcore.lazy import attach

if TYPE_CHECKING:
    from dpcore.wall.data.clipping import PublicFrame, clip_to_ball, demand_squares
    from dpcore.wall.data.clipping_frame import Frame, whitening
    from dpcore.wall.data.corpus import Documents, PrivateCorpus, Vocabulary
    from dpcore.wall.data.design_matrix import LogisticRows
    from dpcore.wall.data.labels import LabelledRows
    from dpcore.wall.data.number_rows import NumberRows
    from dpcore.wall.data.regression_target import MaskedRows, target_frame, with_target
    from dpcore.wall.data.sources import BinaryRows, FeatureRows
    from dpcore.wall.data.word_counts import Bags
else:
    __getattr__ = attach(__name__)

__all__ = [
    "Bags",
    "BinaryRows",
    "Documents",
    "FeatureRows",
    "Frame",
    "LabelledRows",
    "LogisticRows",
    "MaskedRows",
    "NumberRows",
    "PrivateCorpus",
    "PublicFrame",
    "Vocabulary",
    "clip_to_ball",
    "demand_squares",
    "target_frame",
    "whitening",
    "with_target",
]
