"""A quick audit of the private mixture: fit two neighbouring tables many times, tell them apart.

Everybody but one person stands at the centre of the limits; that person stands in one of two
neighbouring corners, whose rows are orthogonal and so nearly attain the sensitivity, or in a corner
or nowhere. The attacker knows all of this and sees every iteration's parameters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpcore.accounting import epsilon_of
from dpcore.auditing.estimate import mu_lower_bound
from dpcore.errors import InputError
from dpcore.fitting.api import fit_grid
from dpcore.privacy import Evidence, Privacy
from dpcore.schema import Schema
from dpcore.wall.table import PrivateTable

if TYPE_CHECKING:
    from dpcore.models.gmm import Mixture

Array = NDArray[np.float64]

CROWD = 200
_SCENES = {
    "replace_one": "one person in either of two corners of the limits",
    "add_remove": "one person in a corner of the limits, or absent",
}


def audit_mixture(
    privacy: Privacy,
    *,
    runs: int = 2000,
    confidence: float = 0.95,
    seed: int = 0,
    n_components: int = 2,
    **options: Any,
) -> Evidence:
    """Attack the mixture fit under ``privacy``; the lower bound it shows, at its delta.

    **Guarantee:** if every iteration's release is Gaussian with the noise that the ledger states,
    the bound exceeds the true epsilon with probability at most ``1 - confidence``.
    Raises InputError without a delta, and for Laplace noise, which this estimate does not cover.

    >>> evidence = audit_mixture(Privacy(epsilon=8.0, delta=1e-5), runs=600, iterations=1)
    >>> 1.0 < evidence.lower < 8.0
    True
    """
    if privacy.delta is None:
        raise InputError("delta", "none was given", "give one, for example 0.00001")
    if options.get("combination", "GGG") != "GGG":
        raise InputError("combination", "the attack assumes Gaussian noise", "choose GGG")
    clouds = [
        _outputs(table, privacy, runs, seed + i, n_components, options)
        for i, table in enumerate(_neighbours(privacy.adjacency))
    ]
    mu = mu_lower_bound(clouds[0], clouds[1], confidence)
    lower = float(epsilon_of(privacy.delta, mu)) if mu > 0.0 else 0.0
    return Evidence(
        lower=lower,
        delta=privacy.delta,
        confidence=confidence,
        runs=2 * runs,
        attack=f"{_SCENES[privacy.adjacency]}, all iterations seen, Fisher's direction",
    )


def _neighbours(adjacency: str) -> tuple[PrivateTable, PrivateTable]:
    """Everybody at the centre, and one person in either of two corners, or there and absent."""
    rows = np.zeros((CROWD, 2))
    rows[0] = 1.0, 1.0
    if adjacency == "add_remove":
        return _sealed(rows[1:]), _sealed(rows)
    other = rows.copy()
    other[0] = 1.0, -1.0
    return _sealed(other), _sealed(rows)


def _sealed(rows: Array) -> PrivateTable:
    import pandas as pd

    schema = Schema.from_bounds({"x": (-1.0, 1.0), "y": (-1.0, 1.0)})
    frame = pd.DataFrame(rows, columns=["x", "y"])
    return PrivateTable.seal(frame, schema, open_to_all=True)


def _outputs(
    table: PrivateTable,
    privacy: Privacy,
    runs: int,
    seed: int,
    components: int,
    options: dict[str, Any],
) -> Array:
    """What the attacker sees of each run ``(runs, p)``: parameters after every iteration."""
    grid = fit_grid(
        "gmm",
        table,
        privacy=(privacy,),
        draws=range(runs),
        seed=seed,
        n_components=components,
        **options,
    )
    return np.concatenate([_flat(step) for step in grid.runs.history], axis=1)


def _flat(mixture: Mixture) -> Array:
    shares = np.log(np.maximum(mixture.weights, 1e-12))
    sums = mixture.weights[..., None] * mixture.means
    squares = mixture.weights[..., None, None] * (
        mixture.covariances + mixture.means[..., None] * mixture.means[..., None, :]
    )
    parts = (mixture.weights, shares, sums, mixture.means, squares, mixture.covariances)
    return np.concatenate([part.reshape(mixture.runs, -1) for part in parts], axis=1)
