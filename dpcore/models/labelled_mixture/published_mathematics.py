"""The labelled release as its paper prints it: noise designed from the private rows themselves.

Liu, Scaglione, Peisert 2025: weights by a random mapping to nearby class sizes (their section 3),
means with Gaussian noise of optimised shape (problem 23), covariances with Wishart noise (9), the
budget reallocated by Algorithm 1; and the four rivals of their figures. Nothing here is private:
the size and shape of the noise depend on the rows, Wishart noise of ``d + 1`` degrees has one-sided
support, and a label touches two classes. It is run to be compared and attacked.

*Read as*: equation (21) with ``d ln gamma`` (as printed, ``d gamma``, its optimum is not (22));
the mapping (26), (27), which does not define probabilities, normalised: even over the class sizes
one flip away and the true ones, mixed with share 0.001 of all sizes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, ndtr

from dpcore.arrays import Array, Indices
from dpcore.errors import InputError
from dpcore.mechanisms.gaussian import symmetric_size
from dpcore.models.labelled_mixture.min_trace import min_trace_covariance
from dpcore.models.shared.moments import floored_eigenvalues

SMOOTHING = 1e-3  # lambda: share of the mapping that is even over all class sizes
PLAIN_FLOOR = 1e-3  # least eigenvalue of the rivals' covariances
NEIGHBOURS = ("all", "leave", "ball", "scalable")
STEPS = 50
SETTLED = 1e-3  # of objective (12), in the paper


@dataclass(frozen=True)
class Class:
    """Exact moments of one class and what a flip may do to them.

    shifts ``(m, d)`` of the mean, spreads ``(m, d, d)`` of the covariance. shape ``(d, d)``: of
    least trace around the shifts, in terms of the class's own covariance; plain: in those of
    identity.
    """

    count: int
    mean: Array
    covariance: Array
    shifts: Array
    spreads: Array
    shape: Array
    plain: Array


def classes_of(
    rows: Array,
    codes: Indices,
    number: int,
    neighbours: str,
    radius: float | None = None,
    solver: str = "exact",
) -> list[Class]:
    """Each class of rows ``(n, d)`` in own units.

    neighbours: ``leave`` = equation (10) as printed, rows that leave a class; ``all`` = Lemma 1,
    rows that join it too; ``ball`` = (32), features replaced within a public ball of that radius;
    ``scalable`` = the noise of (32) for labels, which no program has to design.
    Raises InputError where a class has fewer than d + 2 rows, as the estimator demands, or where
    its covariance has no inverse and the noise is shaped by it.
    """
    classes = []
    for which in range(number):
        own, others = rows[codes == which], rows[(codes != which) & (codes >= 0)]
        count, dim = own.shape
        if count < dim + 2:
            raise InputError(
                "label",
                "as published, every class needs at least two more rows than there are columns",
                "leave small classes out of the schema, or choose the proved mode",
            )
        mean = own.mean(axis=0)
        covariance = np.cov(own.T).reshape(dim, dim)
        away = own - mean
        shifts = -away / (count - 1)
        outer = away[:, :, None] * away[:, None, :]
        spreads = covariance / (count - 2) - count / ((count - 1) * (count - 2)) * outer
        if neighbours == "all" and len(others):
            joining = others - mean
            outer = joining[:, :, None] * joining[:, None, :]
            shifts = np.concatenate([shifts, joining / (count + 1)])
            spreads = np.concatenate([spreads, -covariance / count + outer / (count + 1)])
        if radius is not None:  # (32), as printed: B, not its square
            shape = 4.0 * radius / count**2 * np.eye(dim)
        else:
            _demand_inverse(covariance)
            shape = min_trace_covariance(shifts, covariance, solver=solver).covariance
        plain = min_trace_covariance(shifts, solver=solver).covariance
        classes.append(Class(count, mean, covariance, shifts, spreads, shape, plain))
    return classes


def _demand_inverse(covariance: Array) -> None:
    try:
        np.linalg.cholesky(covariance)
    except np.linalg.LinAlgError:
        raise InputError(
            "columns",
            "the published method needs columns that, within each class, are neither constant nor "
            "a linear combination of others",
            "leave columns that are constant or a linear combination of others out of the schema, "
            "or choose the proved mode",
        ) from None


@dataclass(frozen=True)
class Design:
    """Algorithm 1's answer for one budget: epsilon of the mapping, and per class of the mean; gamma
    ``(K,)`` of the Wishart noise; objective (12) after each step."""

    mapping: float
    means: Array
    gammas: Array
    objective: tuple[float, ...]


def design(classes: list[Class], epsilon: float, delta: float, *, mapped: bool = True) -> Design:
    """The budget as Algorithm 1 divides it; mapped: whether weights take a share of it.

    Raises InputError where a class's covariance has no inverse.
    """
    for cls in classes:
        _demand_inverse(cls.covariance)
    dim = len(classes[0].mean)
    counts = np.array([cls.count for cls in classes], dtype=float)
    traces = np.array([np.trace(np.linalg.inv(cls.covariance)) for cls in classes])
    mapping = epsilon / 3.0 if mapped else 0.0
    means = np.full(len(classes), epsilon / 3.0 if mapped else epsilon / 2.0)
    objective: list[float] = []
    gammas = np.ones(len(classes))
    for _ in range(STEPS):
        cap = (dim + 1) / dim * traces
        gammas = np.minimum(cap, 2.0 * counts * (epsilon - mapping - means) / 3.0)
        means = epsilon - mapping - 1.5 * gammas / counts
        objective.append(_objective(classes, counts / counts.sum(), gammas, means, delta))
        if len(objective) > 1 and abs(objective[-1] - objective[-2]) <= SETTLED:
            break
    return Design(mapping, means, gammas, tuple(objective))


def _objective(
    classes: list[Class], weights: Array, gammas: Array, means: Array, delta: float
) -> float:
    """Objective (12) but for its constants; the mapping's part is 0 at the true weights."""
    total = 0.0
    for cls, weight, gamma, epsilon in zip(classes, weights, gammas, means, strict=True):
        dim = len(cls.mean)
        inverse = np.linalg.inv(cls.covariance)
        noise = 2.0 * math.log(2.0 / delta) / epsilon**2 * np.trace(inverse @ cls.shape)
        wishart = dim * math.log(gamma) + (dim + 1) / gamma * np.trace(inverse)
        total += 0.5 * weight * float(wishart + noise)
    return total


def draws_needed(dim: int, number: int) -> int:
    """Standard normal numbers that one release takes."""
    return number * (2 * dim + (dim + 1) * dim + symmetric_size(dim)) + 3 * number + 2


def release(
    classes: list[Class],
    epsilon: float,
    delta: float,
    method: str,
    normals: Array,
    *,
    mapped: bool = True,
) -> tuple[Array, Array, Array]:
    """One release: weights ``(K,)``, means ``(K, d)``, covariances ``(K, d, d)`` in own units.

    method: paper | laplace | gaussian | colored | r1smg. normals: at least :func:`draws_needed`.
    mapped: whether class sizes are mapped at random; else they leave as they are.
    """
    take = _Draws(normals)
    if method == "paper":
        return _optimised(classes, epsilon, delta, take, mapped)
    return _rival(classes, epsilon / 3.0, delta, method, take)


class _Draws:
    """Standard normal numbers, handed out once each."""

    def __init__(self, normals: Array) -> None:
        self._left = normals

    def normal(self, *shape: int) -> Array:
        size = math.prod(shape)
        taken, self._left = self._left[:size], self._left[size:]
        return taken.reshape(shape)

    def uniform(self, *shape: int) -> Array:
        return np.asarray(ndtr(self.normal(*shape)))

    def laplace(self, *shape: int) -> Array:
        share = self.uniform(*shape) - 0.5
        return np.asarray(-np.sign(share) * np.log1p(-2.0 * np.abs(share)))


def _optimised(
    classes: list[Class], epsilon: float, delta: float, take: _Draws, mapped: bool
) -> tuple[Array, Array, Array]:
    plan = design(classes, epsilon, delta, mapped=mapped)
    dim = len(classes[0].mean)
    means, covariances = [], []
    for cls, own, gamma in zip(classes, plan.means, plan.gammas, strict=True):
        shape = 2.0 * math.log(2.0 / delta) / own**2 * cls.shape
        values, vectors = np.linalg.eigh(shape)
        means.append(cls.mean + vectors @ (np.sqrt(np.maximum(values, 0.0)) * take.normal(dim)))
        wishart = take.normal(dim + 1, dim)
        covariances.append(cls.covariance + wishart.T @ wishart / gamma)
    counts = np.array([cls.count for cls in classes])
    if mapped:
        counts = mapped_counts(counts, take.uniform(len(counts) + 2))
    weights = counts / counts.sum()
    return weights, np.array(means), np.array(covariances)


def mapped_counts(counts: NDArray[np.int_], uniforms: Array) -> NDArray[np.int_]:
    """Class sizes by the normalised random mapping; uniforms ``(K + 2,)``."""
    number = len(counts)
    if uniforms[0] < SMOOTHING:  # even over all sizes: a random set of cuts between rows (Floyd)
        rows, cuts = int(counts.sum()), set[int]()
        for last, share in zip(range(rows - number + 1, rows), uniforms[2:], strict=False):
            cut = min(1 + int(share * last), last)
            cuts.add(last if cut in cuts else cut)
        return np.diff([0, *sorted(cuts), rows])
    nearby = [counts] + [
        counts + np.eye(number, dtype=int)[into] - np.eye(number, dtype=int)[out]
        for out in range(number)
        for into in range(number)
        if into != out and counts[out] > 1
    ]
    return np.asarray(nearby[min(int(uniforms[1] * len(nearby)), len(nearby) - 1)])


def _rival(
    classes: list[Class], epsilon: float, delta: float, method: str, take: _Draws
) -> tuple[Array, Array, Array]:
    """A third of the budget for each of weights, means and covariances, by sensitivities of D."""
    counts = np.array([cls.count for cls in classes], dtype=float)
    dim, rows = len(classes[0].mean), counts.sum()
    size = math.sqrt(2.0 * math.log(2.0 / delta)) / epsilon
    upper = np.triu_indices(dim)

    def noise(l1: float, *shape: int) -> Array:
        if method == "laplace":
            return l1 / epsilon * take.laplace(*shape)
        return l1 * size * take.normal(*shape)

    weights = _simplex(counts / rows + noise(2.0 / rows, len(classes)))
    means, covariances = [], []
    for cls in classes:
        longest = float(np.abs(cls.shifts).sum(axis=1).max())
        means.append(cls.mean + _mean_noise(cls, method, take, noise, longest, epsilon, delta))
        entries = float(np.abs(cls.spreads[:, upper[0], upper[1]]).sum(axis=1).max())
        drawn = noise(entries, symmetric_size(dim))
        error = np.zeros((dim, dim))
        error[upper] = drawn
        error = error + np.triu(error, 1).T
        covariances.append(cls.covariance + error)
    shapes = floored_eigenvalues(np.array(covariances), np.full(len(classes), PLAIN_FLOOR))
    return weights, np.array(means), shapes


def _mean_noise(
    cls: Class,
    method: str,
    take: _Draws,
    noise: Callable[..., Array],
    longest: float,
    epsilon: float,
    delta: float,
) -> Array:
    dim = len(cls.mean)
    if method == "colored":
        values, vectors = np.linalg.eigh(cls.plain)
        size = math.sqrt(2.0 * math.log(2.0 / delta)) / epsilon
        return np.asarray(vectors @ (np.sqrt(np.maximum(values, 0.0)) * take.normal(dim)) * size)
    if method == "r1smg":
        l2 = float(np.linalg.norm(cls.shifts, axis=1).max())
        direction = take.normal(dim)
        direction = direction / max(float(np.linalg.norm(direction)), 1e-300)
        return np.asarray(r1smg_scale(l2, epsilon, delta, dim) * take.normal(1) * direction)
    return noise(longest, dim)


def r1smg_scale(sensitivity: float, epsilon: float, delta: float, dim: int) -> float:
    """Deviation of rank-1 singular multivariate Gaussian noise (Ji, Li 2024): the root of its
    expected squared error ``2 sensitivity^2 / (epsilon psi)``, as their abstract has it, with
    ``psi = (delta Gamma((dim-1)/2) / (sqrt(pi) Gamma(dim/2)))^(2/(dim-2))``.

    Raises InputError below three dimensions, where it states none.

    >>> round(r1smg_scale(1.0, 1.0, 1e-5, 1000), 2)
    1.44
    """
    if dim < 3:
        raise InputError("method", "r1smg needs three columns or more", "choose another method")
    log = math.log(delta) + gammaln((dim - 1) / 2) - 0.5 * math.log(math.pi) - gammaln(dim / 2)
    psi = math.exp(2.0 / (dim - 2) * log)
    return math.sqrt(2.0 * sensitivity**2 / (epsilon * psi))


def _simplex(weights: Array) -> Array:
    """The nearest point with entries >= 0 that sum to 1; none below 1e-6 afterwards."""
    ordered = np.sort(weights)[::-1]
    excess = (np.cumsum(ordered) - 1.0) / np.arange(1, len(weights) + 1)
    shift = excess[np.count_nonzero(ordered > excess) - 1]
    floored = np.maximum(weights - shift, 1e-6)
    return np.asarray(floored / floored.sum())
