"""Each way of counting as a formula with the numbers filled in: one short function a method."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from dpcore.accounting import Bound
from dpcore.accounting.base import Events
from dpcore.accounting.gaussian import total_mu
from dpcore.accounting.pairs import pairs
from dpcore.accounting.zcdp import total_rho
from dpcore.privacy.guarantee import show, show_bound


def formula(name: str, events: Events, bound: Bound) -> str:
    """The method's formula for these events, ending in its epsilon."""
    return f"{_FORMULAS[name](events, bound)} = {show_bound(float(bound.epsilon))}"


def _log(bound: Bound) -> str:
    """ln(1/δ) as a number."""
    return show(-math.log(bound.delta))


def _linear(events: Events, bound: Bound) -> str:
    found = pairs(events, bound.delta)
    parts = zip(found.counts, np.ravel(found.epsilons), strict=True)
    return "Σ εᵢ = " + " + ".join(f"{count:,.0f} × {show(float(each))}" for count, each in parts)


def _advanced(events: Events, bound: Bound) -> str:
    found = pairs(events, bound.delta)
    squares = float(found.counts @ np.square(found.epsilons))
    drift = float(found.counts @ (found.epsilons * np.expm1(found.epsilons)))
    return (
        f"√(2 ln(1/δ′) Σ εᵢ²) + Σ εᵢ(e^εᵢ − 1), δ′ = δ − Σ δᵢ = {show(float(found.slack))}: "
        f"√(2 × {show(-math.log(float(found.slack)))} × {show(squares)}) + {show(drift)}"
    )


def _kov(events: Events, bound: Bound) -> str:
    found = pairs(events, bound.delta)
    return (
        "least ε with δ = 1 − Π(1 − δᵢ) · (1 − δ₀(ε)), δ₀ of randomised response: "
        f"Π(1 − δᵢ) ≈ 1 − {show(float(found.spent))}; ε"
    )


def _zcdp(events: Events, bound: Bound) -> str:
    rho = float(total_rho(events))
    return (
        f"ρ = Σ 1/(2σ²) = {show(rho)}; ρ + 2√(ρ ln(1/δ)): "
        f"{show(rho)} + 2√({show(rho)} × {_log(bound)})"
    )


def _zcdp_tight(events: Events, bound: Bound) -> str:
    return (
        f"ρ = {show(float(total_rho(events)))}; least ε with, for some α > 1, "
        "δ ≥ e^((α−1)(αρ−ε)) (1−1/α)^α / (α−1): ε"
    )


def _ma(events: Events, bound: Bound) -> str:
    return f"least over whole λ of (α(λ) + ln(1/δ))/λ, ln(1/δ) = {_log(bound)}: ε"


def _rdp(events: Events, bound: Bound) -> str:
    return (
        "least over α > 1 of τ(α) + ln(1 − 1/α) + (ln(1/δ) − ln α)/(α − 1), "
        f"ln(1/δ) = {_log(bound)}: ε"
    )


def _wbk(events: Events, bound: Bound) -> str:
    releases = sum(event.count for event in events)
    return (
        f"as Rényi, with {releases:,} × τ(α) of a sampled release, "
        "bounded by powers of the sampled share: ε"
    )


def _exact(events: Events, bound: Bound) -> str:
    mu = show(float(total_mu(events)))
    return f"μ = √(Σ 1/σ²) = {mu}; δ = Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ) solved for ε"


def _pld(events: Events, bound: Bound) -> str:
    ends = ""
    if bound.lower is not None and float(bound.lower) < float(bound.epsilon):
        ends = f", between {show(float(bound.lower))} and {show_bound(float(bound.epsilon))}"
    return f"δ(ε) = E[1 − e^(ε − L)]₊, L the sum of all privacy losses{ends}; upper end"


_FORMULAS: dict[str, Callable[[Events, Bound], str]] = {
    "linear": _linear,
    "advanced": _advanced,
    "kov": _kov,
    "zcdp": _zcdp,
    "zcdp_tight": _zcdp_tight,
    "ma": _ma,
    "rdp": _rdp,
    "exact": _exact,
    "pld": _pld,
    "wbk9": _wbk,
    "wbk27": _wbk,
}
