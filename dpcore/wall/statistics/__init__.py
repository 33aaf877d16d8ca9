"""What may be released: one file a kind, with its set, its projection and its sensitivity."""

from typing import TYPE_CHECKING

from dpcore.lazy import attach

if TYPE_CHECKING:
    from dpcore.wall.kernels.bounded_sums import EStep
    from dpcore.wall.kernels.group_sums import InGroups, Sharing
    from dpcore.wall.kernels.row_blocks import TREE_DIM, Block
    from dpcore.wall.statistics.class_moments import ClassFrames, LabelledMoments
    from dpcore.wall.statistics.class_radii import LabelledRadii
    from dpcore.wall.statistics.class_vectors import ByLabel, LabelledVectors
    from dpcore.wall.statistics.cluster_moments import (
        BallClusters,
        ClusterMoments,
        InBalls,
        MixtureSums,
        NoisyClusters,
    )
    from dpcore.wall.statistics.column_bins import ColumnBins
    from dpcore.wall.statistics.gradients import RowGradient
    from dpcore.wall.statistics.group_moments import TOGETHER, GroupMoments
    from dpcore.wall.statistics.labelled_exhibit import exhibit_labelled
    from dpcore.wall.statistics.local_vectors import (
        LocalParts,
        epsilon_of_a_bit,
        randomise,
        randomise_bits,
    )
    from dpcore.wall.statistics.logistic_statistics import (
        Curvature,
        CurvatureMoments,
        NoisyOutcomes,
        OutcomeMoments,
        OutcomeSums,
        Weighing,
        WeightedRows,
    )
    from dpcore.wall.statistics.mixture_moments import InFrame, MixtureMoments, NoisyMoments
    from dpcore.wall.statistics.perturbed_objective import PerturbedObjective
    from dpcore.wall.statistics.row_radii import FromMiddle, RowRadii
    from dpcore.wall.statistics.row_vectors import (
        FREE_WEIGHT,
        BallVector,
        BoxVector,
        NoisyVectors,
        Parts,
        VectorRows,
        Vectors,
    )
    from dpcore.wall.statistics.second_moments import SecondMoments
    from dpcore.wall.statistics.sigmoid_belief import (
        STEEPEST,
        BeliefMoments,
        NoisyBelief,
        pairs_of,
    )
    from dpcore.wall.statistics.statistic import STRUCTURES, Structure
    from dpcore.wall.statistics.topic_words import NoisyTopics, SharedOut, TopicWords, reaches
else:
    __getattr__ = attach(__name__)

__all__ = [
    "FREE_WEIGHT",
    "STEEPEST",
    "STRUCTURES",
    "TOGETHER",
    "TREE_DIM",
    "BallClusters",
    "BallVector",
    "BeliefMoments",
    "Block",
    "BoxVector",
    "ByLabel",
    "ClassFrames",
    "ClusterMoments",
    "ColumnBins",
    "Curvature",
    "CurvatureMoments",
    "EStep",
    "FromMiddle",
    "GroupMoments",
    "InBalls",
    "InFrame",
    "InGroups",
    "LabelledMoments",
    "LabelledRadii",
    "LabelledVectors",
    "LocalParts",
    "MixtureMoments",
    "MixtureSums",
    "NoisyBelief",
    "NoisyClusters",
    "NoisyMoments",
    "NoisyOutcomes",
    "NoisyTopics",
    "NoisyVectors",
    "OutcomeMoments",
    "OutcomeSums",
    "Parts",
    "PerturbedObjective",
    "RowGradient",
    "RowRadii",
    "SecondMoments",
    "SharedOut",
    "Sharing",
    "Structure",
    "TopicWords",
    "VectorRows",
    "Vectors",
    "Weighing",
    "WeightedRows",
    "epsilon_of_a_bit",
    "exhibit_labelled",
    "pairs_of",
    "randomise",
    "randomise_bits",
    "reaches",
]
