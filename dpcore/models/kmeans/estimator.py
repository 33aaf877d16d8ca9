"""Released centres as an estimator: the nearest one, and how far away each is."""

from dpcore.fitting.reopened import Reopened
from dpcore.models.kmeans.parameters import KMeansParameters
from dpcore.sklearn import DPKMeans

ESTIMATOR = Reopened(
    KMeansParameters,
    DPKMeans.of_fit,
    coordinate="distance to {part} {number} (in half ranges of the limits)",
)
