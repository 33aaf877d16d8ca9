"""Factor analysis of faces: which epsilon shows anything, by noise as stated, coded and proved.

Park, Foulds, Chaudhuri, Welling 2017, section 6 and Figure 5, on the Olivetti faces. Measured is
what the released second moment shows, before any fit: its leading subspace. The authors' program
draws noise with the variance in the place of the deviation, and bounds columns, not rows; centre
and scale are read from the faces there and in its curves here: an exhibit, not a release.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dpcore.accounting import best_proof, mu_of
from dpcore.arrays import Array
from dpcore.datasets.load import load
from dpcore.papers.claims import Row, holds, points
from dpcore.papers.drawing import png
from dpcore.papers.reproduction import Run, experiment, values
from dpcore.privacy.guarantee import delta_text
from dpcore.schema import Image, Schema, pool
from dpcore.wall.data import FeatureRows
from dpcore.wall.noise import NoiseSource
from dpcore.wall.session import Noise, Session
from dpcore.wall.statistics.second_moments import SecondMoments

FACTORS = 10
DELTA = 1e-4
EPSILONS = (0.2, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
SIDE = 64
POOLS = (4, 8)  # squares of so many pixels each way
DENSE = 512  # up to here all eigenvectors are found; beyond, only the leading ones
STATED, CODED, PROVED = "stated noise", "noise of the authors' program", "proved"
CHANCE = "chance"
EXACT = "without privacy"
# Whose ten loadings are drawn as faces, of the first noise draw, and at which epsilon.
DRAWN = ((STATED, 0.3), (CODED, 0.3), (CODED, 1.0), (PROVED, 0.3), (PROVED, 100.0))
DRAWN_POOLED = 10.0
PIXELS = 32  # of a drawn face each way, at most
HALF = 0.5  # of the subspace: what is called seen


@experiment(
    "DP-EM, Figure 5: faces",
    holds(
        "half of the faces' subspace is recovered at epsilon 0.2 and 0.3 with the stated noise",
        lambda rows: (y >= HALF for (_, x), y in points(rows, STATED).items() if 0.1 < x < 0.5),
    ),
    holds(
        "the noise of the authors' program is enough for the epsilon that the program states",
        lambda rows: (y <= x for (_, x), y in points(rows, (CODED, "proved_epsilon")).items()),
    ),
)
def figure_5(run: Run) -> str:
    """Factor analysis of 400 faces: the ten loadings as faces, and how much of them is shown.

    Needs ``olivetti_faces.npz``; a minute a draw. Loadings are those of the first draw, in the
    order of the exact ones, with their absolute cosines.
    """
    pictures = run.ask.array("olivetti_faces.npz", "images")
    return compare(run, pictures.reshape(len(pictures), -1), SIDE, EPSILONS, POOLS)


def compare(
    run: Run, pictures: Array, side: int, epsilons: Sequence[float], pools: Sequence[int]
) -> str:
    """Every curve on square pictures ``(n, side * side)``."""
    scaled = _as_in_the_program(pictures)
    normed = _unit(pictures - pictures.mean(axis=1, keepdims=True))  # needs no other picture
    curves = {STATED: scaled, CODED: scaled, PROVED: normed}
    for factor in pools:
        name = f"{PROVED}, pooled to {side // factor} x {side // factor}"
        curves[name] = _unit(pool(normed, Image(side, side), factor))
    exact = _principal(scaled)
    run.panel(EXACT, "", "", kind="points")
    _faces(run, EXACT, exact, exact)
    pooled = [(name, DRAWN_POOLED) for name in curves if name not in (STATED, CODED, PROVED)]
    for name, epsilon in (*DRAWN, *pooled):
        if epsilon in epsilons:
            run.panel(_row_of_faces(name, epsilon), "", "", kind="points")
    run.panel(
        "affinity",
        f"nominal epsilon (delta = {delta_text(DELTA)}, one image replaced)",
        "affinity of the ten leading directions with the exact ones, 0 to 1",
        "How much of the faces' subspace is recovered",
    )
    for name, faces in run.progress(curves.items()):
        _curve(run, name, faces, epsilons, _noises(name, epsilons, pictures))
    chance = FACTORS / pictures.shape[1]
    for epsilon in epsilons:
        run.row(CHANCE, epsilon, chance, panel="affinity", proved_epsilon=0.0, chance=chance)
    return finding(run.rows)


def _centred(pictures: Array) -> Array:
    """Without the mean face and each picture's own mean, as in the authors' program."""
    faces = pictures - pictures.mean(axis=0)
    return np.asarray(faces - faces.mean(axis=1, keepdims=True))


def _as_in_the_program(pictures: Array) -> Array:
    """Centred by the data, and scaled so that the largest row has norm 1."""
    faces = _centred(pictures)
    return np.asarray(faces / np.linalg.norm(faces, axis=1).max())


def _unit(rows: Array) -> Array:
    norm = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(norm > 0.0, norm, 1.0))


def _noises(name: str, epsilons: Sequence[float], pictures: Array) -> list[Noise]:
    """Noise of the sum of y y', relative to its true sensitivity sqrt 2, for rows of norm 1."""
    targets = np.asarray(epsilons, dtype=float)
    if name not in (STATED, CODED):
        factors = 1.0 / np.asarray(mu_of(targets, DELTA))
        return [Noise("gaussian", float(factor)) for factor in factors]
    count = len(pictures)
    deviation = 2.0 * math.sqrt(2.0 * math.log(1.25 / DELTA)) / (targets * count)
    if name == CODED:  # the variance instead; columns of norm 1 leave rows of norm ``reach``
        faces = _centred(pictures)
        reach = np.linalg.norm(faces, axis=1).max() / np.linalg.norm(faces, axis=0).max()
        deviation = deviation**2 / reach**2
    wide = math.sqrt(2.0)  # an upper triangle of equal variances, mirrored
    return [
        Noise("gaussian", float(scale) * count / math.sqrt(2.0), widen_off_diagonal=wide)
        for scale in deviation
    ]


def _curve(
    run: Run, name: str, faces: Array, epsilons: Sequence[float], noises: Sequence[Noise]
) -> None:
    """Affinity by budget; one budget at a time, since a matrix of 4,096 columns is large."""
    names = [f"x{i + 1}" for i in range(faces.shape[1])]
    table = load(faces, schema=Schema.ball_of(names, None, 1.0))
    exact = _principal(faces)
    for epsilon, noise in zip(epsilons, noises, strict=True):
        for draw in range(run.ask.drawn(1)):
            session: Session[FeatureRows] = Session(
                table,
                adjacency="replace_one",
                noise=NoiseSource(0, [draw]),
                draws=np.zeros(1, dtype=int),
            )
            contribution = SecondMoments(faces.shape[1], session.radius)
            noisy = session.release("second moments", contribution, None, noise)
            private = leading(noisy.squares[0], FACTORS)
            if draw == 0 and (panel := _row_of_faces(name, epsilon)) in run.panels:
                _faces(run, panel, private, exact)
            affinity = np.sum((private.T @ exact) ** 2) / FACTORS
            proved = best_proof(session.ledger.at(0).events, DELTA).epsilon
            facts = {"proved_epsilon": proved, "chance": FACTORS / faces.shape[1]}
            run.scores(name, epsilon, np.atleast_1d(affinity), panel="affinity", **facts)


def _row_of_faces(name: str, epsilon: float) -> str:
    return f"{name}, epsilon {epsilon:g}"


def _principal(faces: Array) -> Array:
    """The exact loadings ``(d, FACTORS)``: the leading directions."""
    return np.asarray(np.linalg.svd(faces, full_matrices=False)[2][:FACTORS].T)


def _faces(run: Run, panel: str, loadings: Array, exact: Array) -> None:
    """Loadings ``(d, FACTORS)`` as pictures, each below the exact one that it is nearest to."""
    from scipy.optimize import linear_sum_assignment

    cosines = exact.T @ loadings
    _, partner = linear_sum_assignment(-np.abs(cosines))
    side = math.isqrt(len(loadings))
    for place, column in enumerate(partner):
        cosine = float(cosines[place, column])
        face = np.sign(cosine) * loadings[:, column]
        if side > PIXELS:
            face = pool(face[None], Image(side, side), side // PIXELS)[0]
        shades = 0.5 + 0.5 * face / np.abs(face).max()
        wide = math.isqrt(len(face))
        run.row(
            panel,
            place + 1.0,
            None,
            panel=panel,
            note=f"cosine {abs(cosine):.2f}",
            png=png(shades.reshape(wide, wide)),
            box=[float(place), 0.0, place + 0.94, 1.0],
        )


def leading(matrix: Array, count: int) -> Array:
    """The eigenvectors ``(d, count)`` of the largest eigenvalues of a symmetric matrix.

    >>> leading(np.diag([1.0, 3.0, 2.0]), 1).round(9).__abs__().tolist()
    [[0.0], [1.0], [0.0]]
    """
    if len(matrix) <= DENSE:
        return np.asarray(np.linalg.eigh(matrix)[1][:, -count:])
    from scipy.sparse.linalg import eigsh

    begin = np.random.default_rng(0).standard_normal(len(matrix))
    return np.asarray(eigsh(matrix, count, which="LA", v0=begin, tol=1e-6)[1])


def finding(rows: Sequence[Row]) -> str:
    """What the printed budgets show, and from where half of the subspace is seen."""
    chance = max(values(rows, CHANCE).values())
    small = [epsilon for epsilon in values(rows, STATED) if epsilon < 1.0]
    stated = max(values(rows, STATED)[epsilon] for epsilon in small)
    coded = [
        f"{row['y']:.4f} at nominal epsilon {row['x']:g} (proved: {row['proved_epsilon']:.3g})"
        for row in rows
        if row["curve"] == CODED and row["x"] <= 1.0
    ]
    thresholds = []
    curves = dict.fromkeys(row["curve"] for row in rows if row["panel"] == "affinity")
    for name in (curve for curve in curves if curve != CHANCE):
        reached = [epsilon for epsilon, y in values(rows, name).items() if y >= HALF]
        alone = next(row["chance"] for row in rows if row["curve"] == name)
        when = f"from epsilon {min(reached):g}" if reached else "never"
        thresholds.append(f"{name}, {when} (chance {alone:.3f})")
    return (
        f"Below epsilon 1, at most {stated:.4f} of the subspace is recovered with the stated noise "
        f"(chance: {chance:.4f}). With the noise of the authors' program: {', '.join(coded)}. "
        "Half of the subspace is recovered, by kind of noise: "
        f"{'; '.join(thresholds)}."
    )
