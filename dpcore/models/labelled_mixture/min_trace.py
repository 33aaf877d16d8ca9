"""The least noise that hides every one of given changes: a minimum-trace ellipsoid around them.

A Gaussian release whose answer may change by any of the vectors ``v_n`` is as private in all those
directions as a release of sensitivity 1, if its noise has covariance ``G`` with
``v_n^T G^{-1} v_n <= 1``. Of these G the one with the least ``tr(Sigma^{-1} G)`` distorts a mean
with covariance Sigma least (Liu, Scaglione, Peisert 2025, problem 23, there a semidefinite program
solved by general software).

*Method.* With ``u_n = Sigma^{-1/2} v_n`` the problem is ``min tr H`` subject to
``u_n^T H^{-1} u_n <= 1``. Stationarity of the Lagrangian gives ``H = M(l)^{1/2}`` for
``M(l) = sum_n l_n u_n u_n^T``, and the dual ``max 2 tr M(l)^{1/2} - sum l`` over ``l >= 0``; for
``l = t p`` with p on the simplex the best t gives ``(tr M(p)^{1/2})^2`` (Kiefer 1974, the phi_p
criterion with p = 1/2). So every p on the simplex is a certificate: with
``kappa_n = u_n^T M^{-1/2} u_n / tr M^{1/2}``

    ``(tr M^{1/2})^2  <=  optimum  <=  max_n kappa_n  (tr M^{1/2})^2``,

and ``max kappa  tr(M^{1/2}) M^{1/2}`` is feasible: that is what is returned, whatever the gap. The
dual is solved by a primal-dual interior-point method on a few of the vectors, to which the worst
violators among all are added until the gap closes. With ``solver="cvxpy"`` general software
(CLARABEL, through cvxpy) solves the semidefinite program; its answer gets the same certificate.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from dpcore.arrays import Array, Indices
from dpcore.checks import one_of
from dpcore.errors import InputError
from dpcore.models.shared.threads import one_thread

RANK_CUT = 1e-8  # of the longest axis; shorter ones are covered by the residual alone
RESIDUAL_SHARE = 1e-6  # by which the ellipsoid grows where vectors leave their main plane
ROUNDING = 1.0 + 1e-11  # feasibility holds beyond rounding
FEW = 8  # rows an axis, up to which all are looked at together
FAINT = 1e-12  # least axis of M's root, of its longest
ROUNDS = 40
NEWTON_STEPS = 60
SOLVERS = ("exact", "cvxpy")
MOST_AXES = 40  # that general software solves while one waits


@dataclass(frozen=True)
class MinTrace:
    """A covariance ``(d, d)`` that covers all vectors, and how far it may be from the least one.

    lower, upper: bounds on the least ``tr(Sigma^{-1} G)``; upper is what ``covariance`` has.
    """

    covariance: Array
    lower: float
    upper: float

    @property
    def gap(self) -> float:
        """Relative distance of the two bounds; 0 where all vectors are zero."""
        return self.upper / self.lower - 1.0 if self.lower > 0.0 else 0.0


@one_thread()
def min_trace_covariance(
    vectors: ArrayLike,
    weight: ArrayLike | None = None,
    *,
    tolerance: float = 1e-9,
    solver: str = "exact",
) -> MinTrace:
    """The G of least ``tr(weight^{-1} G)`` with ``v^T G^{-1} v <= 1`` for all vectors ``(N, d)``.

    weight ``(d, d)``: positive definite, default the identity. tolerance: relative gap at which the
    search ends; the answer covers all vectors in any case, also where the search ends early.
    solver: ``exact``, ours, or ``cvxpy``, which agrees to 1e-6.

    ====================================  ======================================================
    all vectors zero                      the zero matrix
    vectors in a plane                    a matrix of that rank
    vectors almost in a plane             main plane enlarged by 1e-6, and what covers the rest
    ====================================  ======================================================

    Raises InputError on vectors that are not finite, a weight that is not positive definite, or
    more axes than general software can hold.

    >>> corners = [[1.0, 1.0], [1.0, -1.0]]
    >>> found = min_trace_covariance(corners, np.diag([4.0, 1.0]))
    >>> np.round(np.diag(found.covariance), 6), found.gap < 1e-8
    (array([3. , 1.5]), True)
    """
    from scipy.linalg.lapack import dtrtrs

    rows = np.array(vectors, dtype=float, ndmin=2)
    dim = rows.shape[1]
    if not np.all(np.isfinite(rows)):
        raise InputError("vectors", "some are not finite", "leave them out")
    root = _root(weight, dim)
    moved = dtrtrs(root, rows.T, lower=1)[0].T if weight is not None else rows
    size = float(np.sqrt(np.max(_squared(moved), initial=0.0)))
    if size == 0.0:
        return MinTrace(np.zeros((dim, dim)), 0.0, 0.0)
    moved = moved / size
    basis, sizes, rest = _main_axes(moved)
    flat = moved @ basis
    if one_of("solver", solver, SOLVERS) == "cvxpy":
        shape, lower = _by_general_software(flat)
    else:
        shape, lower = _ellipsoid(flat, _first_guess(flat, sizes), tolerance)
    full = basis @ shape @ basis.T
    if rest > 0.0:
        across = np.eye(dim) - basis @ basis.T
        grown = 1.0 + RESIDUAL_SHARE
        full = grown * full + (1.0 + 1.0 / RESIDUAL_SHARE) * rest**2 * across
    full *= ROUNDING * size**2
    upper = float(np.trace(full))
    covariance = root @ full @ root.T
    return MinTrace((covariance + covariance.T) / 2, lower * size**2, upper)


def _root(weight: ArrayLike | None, dim: int) -> Array:
    """Lower triangular root of the weight."""
    if weight is None:
        return np.eye(dim)
    try:
        return np.asarray(np.linalg.cholesky(np.asarray(weight, dtype=float)))
    except np.linalg.LinAlgError:
        raise InputError(
            "weight", "it is not positive definite", "give a covariance matrix of full rank"
        ) from None


def _main_axes(rows: Array) -> tuple[Array, Array, float]:
    """Orthonormal axes ``(d, r)`` of rows ``(N, d)``, the length ``(r,)`` of all rows along each,
    and the longest part that they leave out."""
    triangle = np.linalg.qr(rows, mode="r") if len(rows) > rows.shape[1] else rows
    _, sizes, axes = np.linalg.svd(triangle, full_matrices=False)
    rank = int(np.count_nonzero(sizes > RANK_CUT * sizes[0]))
    basis = axes[:rank].T
    if rank == rows.shape[1]:
        return basis, sizes, 0.0
    rest = rows - (rows @ basis) @ basis.T
    return basis, sizes[:rank], float(np.sqrt(np.max(_squared(rest)))) * ROUNDING


def _ellipsoid(rows: Array, active: Indices, tolerance: float) -> tuple[Array, float]:
    """Feasible H ``(r, r)`` and a lower bound of the optimum, rows of full rank."""
    best, lower, upper = None, 0.0, np.inf
    weights = np.full(len(active), 1.0)
    for _ in range(ROUNDS):
        weights = _maximise(rows[active], weights, tolerance / 4)
        shape, dual, kappa = _certified(rows, active, weights)
        lower = max(lower, dual)
        if float(np.trace(shape)) < upper:
            upper, best = float(np.trace(shape)), shape
        if upper / lower - 1.0 <= tolerance:
            break
        active, weights = _exchanged(kappa, active, weights, rows.shape[1])
    assert best is not None  # the first round finds one
    return best, lower


def _certified(rows: Array, active: Indices, weights: Array) -> tuple[Array, float, Array]:
    """What any weights of the active rows prove: a feasible H ``(r, r)``, a lower bound of the
    optimum, and kappa of all rows."""
    values, vectors = _spectrum(rows[active], weights)
    roots, share = np.sqrt(values), float(weights.sum())
    trace = float(roots.sum())
    kappa = _squared(rows @ (vectors / np.sqrt(roots))) / trace * share
    shape = (vectors * (float(kappa.max()) * trace / share * roots)) @ vectors.T
    return shape, trace**2 / share, kappa


def _by_general_software(rows: Array) -> tuple[Array, float]:
    """The same as :func:`_ellipsoid`, as a semidefinite program in ``P = H^{-1}``: ``min tr H``,
    ``u^T P u <= 1``, ``[[P, I], [I, H]] >= 0``. Its P is enlarged until it is feasible beyond
    rounding; its dual values are weights, which prove the lower bound.
    """
    import warnings

    import cvxpy

    dim = rows.shape[1]
    if dim > MOST_AXES:
        raise InputError(
            "solver",
            f"cvxpy would take too long for more than {MOST_AXES} numbers per vector (here {dim})",
            "choose exact",
        )
    inverse = cvxpy.Variable((dim, dim), symmetric=True)
    shape = cvxpy.Variable((dim, dim), symmetric=True)
    outer = (rows[:, :, None] * rows[:, None, :]).reshape(len(rows), -1)
    covers = outer @ cvxpy.vec(inverse, order="C") <= 1
    block = cvxpy.bmat([[inverse, np.eye(dim)], [np.eye(dim), shape]])
    problem = cvxpy.Problem(cvxpy.Minimize(cvxpy.trace(shape)), [covers, block >> 0])
    try:
        with warnings.catch_warnings():  # how accurate it is, the gap says
            warnings.simplefilter("ignore", UserWarning)
            problem.solve(solver="CLARABEL")
        best = np.linalg.inv(inverse.value)
        np.linalg.cholesky(best)
    except (cvxpy.SolverError, np.linalg.LinAlgError, TypeError):
        raise InputError("solver", "cvxpy found no solution", "choose exact") from None
    best *= float(np.einsum("nd,de,ne->n", rows, inverse.value, rows).max())
    dual = np.maximum(np.asarray(covers.dual_value, dtype=float), 0.0)
    support = np.flatnonzero(dual > 1e-9 * dual.max())
    _, lower, _ = _certified(rows, support, dual[support])
    return (best + best.T) / 2, lower


def _squared(rows: Array) -> Array:
    return np.asarray(np.einsum("nd,nd->n", rows, rows))


@one_thread()
def _spectrum(rows: Array, weights: Array) -> tuple[Array, Array]:
    """Eigenvalues ``(r,)`` and vectors ``(r, r)`` of ``M``, from the singular values of its root.

    Fewer rows than axes leave axes without any: they count as almost none, not as absent, so that
    no row seen along them can pass for covered.
    """
    from scipy.linalg.lapack import dgesdd

    root = np.sqrt(weights)[:, None] * rows
    missing = rows.shape[1] - len(rows)
    if missing > 0:
        root = np.concatenate([root, np.zeros((missing, rows.shape[1]))])
    _, sizes, axes, failed = dgesdd(root, full_matrices=0)
    if failed:
        raise np.linalg.LinAlgError("no singular values")
    return np.maximum(sizes, FAINT * sizes[0]) ** 2, axes.T


def _first_guess(rows: Array, sizes: Array) -> Indices:
    """The rows farthest out in many directions of their own whitened coordinates.

    sizes ``(r,)``: of all rows along each of their axes.
    """
    dim = rows.shape[1]
    if len(rows) <= FEW * dim:
        return np.arange(len(rows))
    reach = np.abs(rows @ (_directions(dim) / sizes[:, None]))
    picked = np.append(np.argmax(reach, axis=0), np.argmax(_squared(rows)))
    return np.unique(picked)


@lru_cache(maxsize=64)
def _directions(dim: int) -> Array:
    """The axes, and as many directions at random, always the same ones, as make a good start."""
    drawn = np.random.default_rng(0).standard_normal((dim, 5 * dim))
    return np.concatenate([drawn, np.eye(dim)], axis=1)


def _exchanged(kappa: Array, active: Indices, weights: Array, dim: int) -> tuple[Indices, Array]:
    """Rows without weight leave, the worst violators come in."""
    keep = weights > 1e-9 * weights.max()
    stay = active[keep]
    worst = kappa.copy()
    worst[stay] = -np.inf
    count = min(6 * dim, len(worst))
    new = np.argpartition(-worst, count - 1)[:count]
    new = new[worst[new] > 1.0]
    start = np.append(weights[keep], np.full(len(new), 1e-2 * weights.mean()))
    return np.append(stay, new), start


def _maximise(rows: Array, start: Array, tolerance: float) -> Array:
    """Weights ``(n,) > 0`` near the maximum of ``2 tr M^{1/2} - sum``: Mehrotra's Newton steps.

    The gradient is ``g = u^T M^{-1/2} u - 1``; with slacks ``s = -g`` in the limit, a step solves
    ``(F F^T + diag(s / l)) dl = g + mu / l`` where ``-F F^T`` is the Hessian.
    """
    from scipy.linalg.lapack import dposv

    values, _ = _spectrum(rows, start)
    weights = start * (np.sqrt(values).sum() / start.sum()) ** 2  # the best size of this shape
    slack = np.full(len(rows), 0.3)
    for _ in range(NEWTON_STEPS):
        values, vectors = _spectrum(rows, weights)
        projected = rows @ vectors
        gradient = _squared(projected / values**0.25) - 1.0
        product, size = float(weights @ slack), float(weights.sum())
        if product <= tolerance * size and float((gradient + slack).max()) <= tolerance:
            break
        left = min(product / size, 1.0)
        barrier = min(0.1, left**0.5) * product / len(rows)
        curve = _curvature(projected, values)
        matrix = curve @ curve.T
        diagonal = matrix.ravel()[:: len(rows) + 1]
        diagonal += slack / weights + 1e-15 * float(diagonal.sum())
        _, step, failed = dposv(matrix, gradient + barrier / weights, lower=1)
        if failed:
            break
        slack_step = (barrier - slack * step) / weights - slack
        # Of the way to the border, nearly all near the end, and never all: it is divided by.
        short = min(max(0.95, 1.0 - left), 1.0 - 1e-12)
        length = min(1.0, short / _reached(weights, step), short / _reached(slack, slack_step))
        weights, slack = weights + length * step, slack + length * slack_step
    return np.asarray(weights)


def _reached(values: Array, step: Array) -> float:
    """Which part of the way to zero a whole step takes the value that it takes farthest."""
    return max(float((-step / values).max()), 1e-300)


def _curvature(projected: Array, values: Array) -> Array:
    """``F (n, r(r+1)/2)``: minus the Hessian is ``F F^T``; ``projected (n, r)`` in M's own axes."""
    first, second, times = _pairs(len(values))
    roots = np.sqrt(values)
    left, right = roots[first], roots[second]
    return np.asarray(
        projected[:, first]
        * projected[:, second]
        * np.sqrt(times / (left * right * (left + right)))
    )


@lru_cache(maxsize=64)
def _pairs(dim: int) -> tuple[Indices, Indices, Array]:
    """The pairs of axes, and how often each counts."""
    first, second = np.triu_indices(dim)
    return first, second, np.where(first == second, 1.0, 2.0)
