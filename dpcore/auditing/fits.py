"""Whole fits under attack: a model, two neighbouring tables that it tells apart best, and a budget.

A model joins by its ``attack.py`` and one line in the registry; what
its fits release, how an attacker weighs it, and what claim and proof say is the same for all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpcore.arrays import Array
from dpcore.auditing.audit import Clouds
from dpcore.auditing.observe import Observed, ShortNoise, Table, log_likelihood_ratios, observe
from dpcore.errors import InputError
from dpcore.fitting.api import fit_grid
from dpcore.fitting.recipe import recipe
from dpcore.options import demand_options
from dpcore.privacy import Privacy

MOST = 4000  # runs that are fitted together


@dataclass(frozen=True)
class Pair:
    """Two neighbouring tables, the row that differs first, and what differs, in words."""

    first: Table
    second: Table
    scene: str


@dataclass(frozen=True)
class FitAttack:
    """One model as an audit attacks it.

    tables: the pair for an adjacency; tables_in_paper: another one, where paper mode needs it.
    requests: the budget of each mode, if none is given. options: of the fit, for both modes and for
    each. outcome_alone: whether the mean that comes out is all that is seen, as where noise is not
    added to a sum; one direction of it must tell the tables apart.
    """

    model: str
    about: str
    tables: Callable[[str], Pair]
    requests: Mapping[str, Privacy]
    options: Mapping[str, Any] = field(default_factory=dict)
    of_mode: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    runs: int = 2000
    outcome_alone: bool = False
    tables_in_paper: Callable[[str], Pair] | None = None

    @property
    def modes(self) -> tuple[str, ...]:
        """As :class:`dpcore.auditing.audit.Auditable` says."""
        return tuple(self.requests)

    def request(self, privacy: Privacy | None, mode: str) -> Privacy:
        """As :class:`dpcore.auditing.audit.Auditable` says.

        Raises InputError for a mode that no paper prints and for a missing delta.
        """
        if privacy is None:
            if mode not in self.requests:
                raise InputError(
                    "mode", f"no paper prints a bound for {self.model}", "choose proved"
                )
            privacy = self.requests[mode]
        if privacy.delta is None:
            raise InputError("delta", "none was given", "give one, for example 1e-5")
        return privacy

    def clouds(
        self, privacy: Privacy, runs: int, seed: int, share: float, **options: Any
    ) -> Clouds:
        """Fit both tables, in portions, and weigh all that was released, or look at the outcome.

        Raises InputError for options that the model does not have.
        """
        demand_options(self.model, recipe(self.model).options, options)
        words = {**self.options, **self.of_mode.get(privacy.mode, {}), **options}
        in_paper = self.tables_in_paper if privacy.mode == "paper" else None
        pair = (in_paper or self.tables)(privacy.adjacency)
        tables = (pair.first, pair.second)
        scores: list[list[Array]] = [[], []]
        normal = not self.outcome_alone
        for first in range(0, runs, MOST):
            draws = range(first, min(first + MOST, runs))
            for own, table in enumerate(tables):
                noise = ShortNoise(2 * seed + own, draws, share)
                observed = observe(self.model, table, privacy, noise, len(draws), **words)
                normal = normal and all_normal(observed)
                scores[own].append(
                    observed.runs.final.mean
                    if self.outcome_alone
                    else log_likelihood_ratios(self.model, tables, privacy, observed, own, **words)
                )
        stated = fit_grid(self.model, pair.first, privacy=(privacy,), seed=0, **words).guarantee()
        return Clouds(
            np.concatenate(scores[0]),
            np.concatenate(scores[1]),
            normal=normal,
            claim=stated.claim,
            proof=stated.proof,
            scene=f"{pair.scene}; {'the outcome' if self.outcome_alone else 'all releases'} seen",
        )


def all_normal(observed: Observed) -> bool:
    """Whether all noise is normal and on all rows: then every run is of one mu or less."""
    entries = observed.ledger.entries
    return all(e.noise == "gaussian" and not hasattr(e, "sampling_rate") for e in entries)
