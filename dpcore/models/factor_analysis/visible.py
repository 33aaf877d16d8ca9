"""What noise leaves visible: which eigenvalues of a released matrix it could not have made.

Sources: Wigner 1958; Baik, Ben Arous, Peche 2005; Capitaine, Donati-Martin, Feral 2009; Donoho,
Gavish 2014.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dpcore.arrays import Array
from dpcore.models.shared.moments import TINY
from dpcore.models.shared.second_moments import Dense, Diagonal, SecondMoment, Spiked, transposed
from dpcore.models.shared.threads import thin_product

FULL_SPECTRUM_DIM = 512  # up to here every eigenvalue is found; beyond, only the largest ones
SPARE = 10  # eigenpairs sought beyond the factors where not all are


def noise_edge(sd: float, dim: int) -> float:
    """Largest eigenvalue of isometric noise alone, for large ``dim``: ``sd sqrt(2 dim)``.

    Entries beside the diagonal have deviation ``s = sd / sqrt 2``, and a symmetric matrix of them
    has its eigenvalues within ``2 s sqrt(dim)`` (Wigner 1958; the diagonal does not matter).

    >>> round(noise_edge(0.01, 5000), 9)
    1.0
    """
    return sd * math.sqrt(2.0 * dim)


def least_visible(sd: float, dim: int) -> float:
    """The weakest factor that leaves any trace in a released matrix: ``sd sqrt(dim / 2)``.

    Below it the released matrix has no eigenvalue outside the noise, and its leading vectors are
    as good as random (Baik, Ben Arous, Peche 2005). Units: those of the second moment.
    """
    return noise_edge(sd, dim) / 2


def visible_part(
    matrix: Array,
    level: Array,
    factors: int,
    total: Array,
    least: Array,
    rows: Array | None,
) -> tuple[SecondMoment, Array, Array]:
    """The part of noisy covariances ``(B, d, d)`` that shows through noise, with the eigenpairs
    ``(B, k)`` and ``(B, d, k)`` of its largest eigenvalues, 0 where those cannot be seen.

    level ``(B,)``: noise deviation beside the diagonal, s; total ``(B,)``: the most that all
    variances can sum to, from the bound on a row; least ``(B,)``: the least that the bulk's centre
    can be. An eigenvalue lies at a distance y from the bulk's centre. If ``|y| <= 2 s sqrt d``,
    noise could have made it: it is put at the centre. Otherwise it is drawn in to ``sqrt(y^2 - 4
    s^2 d)``, which is nearest to the truth in squared error (Donoho, Gavish 2014; Benaych-Georges,
    Nadakuditi 2011): the true distance ``(y + sqrt(y^2 - 4 s^2 d)) / 2`` times the squared cosine
    between the vector and the true one.
    The diagonal then gets back what its own noise cannot explain. rows ``(B,)``: how many,
    where the rows' own noise is the same in all directions; then the bulk is sought from below
    (:func:`lower_centre`), and nothing is given back.
    Beyond :data:`FULL_SPECTRUM_DIM` only the largest eigenvalues are looked at; where all those
    are visible, the rest stays as it is.
    """
    edge = 2 * level * math.sqrt(matrix.shape[-1])
    most = total / matrix.shape[-1]
    if matrix.shape[-1] > FULL_SPECTRUM_DIM:
        return _largest_part(matrix, level, factors, least, most, rows is None)
    values, vectors = np.linalg.eigh(matrix)
    centre = bulk_centre(values, edge) if rows is None else lower_centre(values, edge, rows)
    centre = _plausible(centre, least, most)
    moved = np.maximum(centre[:, None] + _drawn_in(values - centre[:, None], edge), 0.0)
    part = Spiked(
        Diagonal(np.broadcast_to(centre[:, None], values.shape)), vectors, moved - centre[:, None]
    )
    repaired = _own_variances(part, matrix, level) if rows is None else part
    top = slice(-1, -factors - 1, -1)
    visible = np.where(moved > centre[:, None], moved, 0.0)
    return Dense(_formed(repaired)), visible[:, top], np.ascontiguousarray(vectors[..., top])


def _drawn_in(distance: Array, edge: Array) -> Array:
    """Distances ``(B, m)`` from the centre, without what noise adds."""
    return np.asarray(
        np.sign(distance) * np.sqrt(np.maximum(distance**2 - edge[:, None] ** 2, 0.0))
    )


def bulk_centre(values: Array, edge: Array) -> Array:
    """``(B,)``: mean of the eigenvalues ``(B, d)`` that lie within ``edge`` of it; never < 0."""
    centre = np.median(values, axis=-1)
    for _ in range(5):
        near = np.abs(values - centre[:, None]) <= edge[:, None]
        count = near.sum(axis=-1)
        centre = np.where(
            count > 0, np.where(near, values, 0.0).sum(axis=-1) / np.maximum(count, 1), centre
        )
    return np.maximum(centre, 0.0)


def lower_centre(values: Array, edge: Array, rows: Array) -> Array:
    """``(B,)``: mean of the smallest of rising eigenvalues ``(B, d)``, up to the first that lies
    further above the mean m of those before it than noise and the chance of ``(B,)`` rows explain:
    the root of ``edge^2 + 4 d m^2 / rows`` (Marchenko, Pastur 1967); never < 0.

    Where nothing lies below the bulk, this finds it however many eigenvalues lie above.
    """
    means = np.cumsum(values, axis=-1) / np.arange(1.0, values.shape[-1] + 1.0)
    drawn = 4.0 * values.shape[-1] / np.maximum(rows, 1.0)[:, None] * means[:, :-1] ** 2
    apart = values[:, 1:] - means[:, :-1] > np.sqrt(edge[:, None] ** 2 + drawn)
    last = np.where(apart.any(axis=-1), apart.argmax(axis=-1), values.shape[-1] - 1)
    return np.maximum(np.take_along_axis(means, last[:, None], axis=-1)[:, 0], 0.0)


def _plausible(centre: Array, least: Array, most: Array) -> Array:
    """Centres ``(B,)`` at least as large as can be and at most what the bound allows."""
    return np.asarray(np.minimum(np.maximum(centre, least), most))


def _own_variances(part: Spiked, matrix: Array, level: Array) -> Spiked:
    """Give each coordinate back the variance that exceeds the noise of its diagonal entry."""
    rest = np.diagonal(matrix, axis1=-2, axis2=-1) - part.diagonal()
    noise = 2.0 * level**2
    spread = np.var(rest, axis=-1)
    share = np.maximum(spread - noise, 0.0) / np.maximum(spread, TINY * TINY)
    back = part.base.diagonal() + share[:, None] * rest
    return Spiked(Diagonal(back), part.vectors, part.gain)


def _formed(part: Spiked) -> Array:
    """The matrices of a part with few dimensions."""
    full = (part.vectors * part.gain[:, None, :]) @ transposed(part.vectors)
    step = np.arange(full.shape[-1])
    full[:, step, step] += part.base.diagonal()
    return np.asarray(full)


def _largest_part(
    matrix: Array, level: Array, factors: int, least: Array, most: Array, own: bool
) -> tuple[SecondMoment, Array, Array]:
    """:func:`visible_part` from the largest eigenvalues alone, one run after the other."""
    runs, dim = matrix.shape[:2]
    edge = 2 * level * math.sqrt(dim)
    wanted = min(dim, factors + SPARE)
    values, vectors = np.empty((runs, wanted)), np.empty((runs, dim, wanted))
    for run in range(runs):
        values[run], vectors[run] = largest(matrix[run], float(edge[run]), wanted)
    trace = np.trace(matrix, axis1=-2, axis2=-1)
    centre = np.maximum(trace / dim, 0.0)
    for _ in range(3):
        visible = values - centre[:, None] > edge[:, None]
        rest = trace - np.where(visible, values, 0.0).sum(-1)
        centre = _plausible(rest / np.maximum(dim - visible.sum(-1), 1), least, most)
    above = _drawn_in(np.maximum(values - centre[:, None], 0.0), edge)
    whole = (above[:, -1] > 0.0)[:, None]  # all that was sought is there: little noise, keep all
    gain = np.where(whole, above + centre[:, None] - values, above)
    base = Dense(matrix) if whole.all() else Diagonal(np.repeat(centre[:, None], dim, axis=1))
    if whole.any() and not whole.all():
        base = Dense(np.where(whole[..., None], matrix, centre[:, None, None] * np.eye(dim)))
    part = Spiked(base, vectors, gain)
    if own and not whole.any():
        part = _own_variances(part, matrix, level)
    top = slice(0, factors)
    largest_values = np.where(above > 0.0, above + centre[:, None], 0.0)
    return part, largest_values[:, top], np.ascontiguousarray(vectors[..., top])


def largest(matrix: Array, edge: float, wanted: int) -> tuple[Array, Array]:
    """The largest eigenpairs of one symmetric matrix, falling: ``(m,)`` and ``(d, m)``.

    Subspace iteration with a Chebyshev polynomial that is small where noise has its eigenvalues
    (Zhou, Saad, Tiago, Chelikowsky 2006). Pairs inside the noise need not be exact: they are not
    used. The polynomial only finds the subspace, in single precision; eigenvalues come from the
    matrix itself. The start is random and knows no data.
    """
    dim = len(matrix)
    single = matrix.astype(np.float32)
    rng = np.random.default_rng([dim, wanted])
    basis = np.linalg.qr(rng.standard_normal((dim, wanted)))[0]
    trace = float(np.trace(matrix))
    centre, done, before = trace / dim, 0, np.zeros(wanted)
    while done < PRODUCTS:
        values, basis = _ritz(single, basis)
        moved = np.abs(values - before)[: max(1, wanted - SPARE)]
        if edge == 0.0 and moved.max() <= SETTLED * abs(values[0]):
            break
        before = values
        outside = values[values - centre > edge]
        centre = (trace - float(outside.sum())) / max(1, dim - len(outside))
        half = max(edge, float(values[-1]) - centre, SINGLE * abs(centre), TINY)
        strong = int(np.sum(values - centre > STRONG * half)) if done >= PRODUCTS / 3 else 0
        strong = min(strong, wanted - 1)
        reach = max(1.001, (float(values[strong]) - centre) / half)
        degree = int(np.clip(math.log(GROWTH) / math.acosh(reach), 2, 12))
        pairs_kept, distances = np.split(basis, [strong], axis=1)[0], values[:strong] - centre
        sought = _chebyshev(
            single, basis[:, strong:], (pairs_kept, distances), (centre, half), degree
        )
        basis = np.linalg.qr(np.concatenate([pairs_kept, sought], axis=1))[0]
        done += degree + 1
    return _ritz(matrix, basis)


PRODUCTS = 60  # with the matrix, for one run
GROWTH = 1e5  # of the largest eigenvalue in one polynomial; more drowns the others in rounding
STRONG = 1.5  # times the noise's edge: such pairs are found first, then kept out of the polynomial
SETTLED = 1e-6  # of the largest: without noise, a round that moves factors by less is the last
SINGLE = 1e-6  # of the centre: narrower bands drown in single precision


def _ritz(matrix: NDArray[np.floating], basis: Array) -> tuple[Array, Array]:
    """What a subspace knows of the eigenpairs, falling."""
    product = np.asarray(thin_product(matrix, basis.astype(matrix.dtype)), dtype=np.float64)
    values, turn = np.linalg.eigh(basis.T @ product)
    return values[::-1], np.ascontiguousarray(basis @ turn[:, ::-1])


def _chebyshev(
    matrix: NDArray[np.float32],
    thin: Array,
    converged: tuple[Array, Array],
    band: tuple[float, float],
    degree: int,
) -> Array:
    """A Chebyshev polynomial of the matrix without its known pairs, at most 1 within the band.

    known: vectors ``(d, m)`` and their distances ``(m,)`` from the centre; band: centre and half.
    """
    vectors, distances = converged[0].astype(np.float32), converged[1].astype(np.float32)[:, None]
    middle, slope = np.float32(band[0]), np.float32(1.0 / band[1])

    def moved(some: NDArray[np.float32]) -> NDArray[np.float32]:
        away = (
            thin_product(matrix, some) - middle * some - vectors @ (distances * (vectors.T @ some))
        )
        return np.asarray(slope * away, dtype=np.float32)

    before = thin.astype(np.float32)
    now = moved(before)
    for _ in range(degree - 1):
        before, now = now, np.float32(2.0) * moved(now) - before
        size = np.linalg.norm(now.astype(np.float64), axis=0)  # its square is no single number
        scale = (1.0 / np.maximum(size, 1e-30)).astype(np.float32)
        before, now = before * scale, now * scale
    return np.asarray(now, dtype=np.float64)
