"""Every composition method in Compose's drawer: its answer, and its formula with the numbers in."""

from __future__ import annotations

import math
from collections.abc import Callable
from html import escape

import numpy as np
import streamlit as st

from app.composing import Composition
from app.texts import compose as texts
from dpcore.accounting import ACCOUNTANTS, Bound, accountant
from dpcore.accounting.base import Events
from dpcore.accounting.gaussian import total_mu
from dpcore.accounting.pairs import pairs
from dpcore.accounting.zcdp import total_rho
from dpcore.evaluation.composition import Row, agreements, repeated
from dpcore.privacy.adjacency import protects
from dpcore.privacy.guarantee import show, show_bound, show_most


def drawer_open() -> bool:
    """Whether the table of all methods is asked for."""
    return bool(st.session_state.get("more_methods", False))


def more_methods(composition: Composition, rows: tuple[Row, ...]) -> None:
    """Every method's answer for the current count, with its formula; worked out when opened."""
    drawer = st.expander("More methods", key="more_methods", on_change="rerun")
    if not drawer.open:
        return
    with drawer:
        st.html(methods_table(rows, composition))
        for sentence in agreements(rows, composition.events):
            st.markdown(f"- {sentence}")
        if len(rows) < len(ACCOUNTANTS):
            st.caption(texts.COMPUTING_OTHERS)


def methods_table(rows: tuple[Row, ...], composition: Composition) -> str:
    """The answers as a table; refusals are greyed and say why."""
    terms = texts.terms(composition.delta, protects(composition.adjacency))
    held = texts.methods_caption(composition.k, terms, budget=composition.hold == "budget")
    heads = ("Method", "ε", "at least", "", "Formula", "Assumes", "Source")
    head = "".join(f"<th>{escape(text)}</th>" for text in heads)
    events = repeated(composition.events, composition.k)
    body = "".join(_method_row(row, events) for row in rows)
    return (
        f'<table class="dp-methods"><caption>{escape(held)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def _method_row(row: Row, events: Events) -> str:
    name = f"<td>{escape(full_title(row.name))}</td>"
    if row.bound is None:
        return f'<tr class="dp-refused">{name}<td colspan="6">{escape(row.refusal)}</td></tr>'
    bound = row.bound
    lower = "" if bound.lower is None else show_most(float(bound.lower))
    cells = (
        show_bound(float(bound.epsilon)),
        lower,
        bound.kind,
        formula(row.name, events, bound),
        "; ".join(bound.assumptions),
        bound.source,
    )
    return f"<tr>{name}" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"


def full_title(name: str) -> str:
    """A method's title; two that share one are told apart."""
    return {"zcdp_tight": "zCDP, tight", "zcdp": "zCDP, classic"}.get(name, accountant(name).title)


def formula(name: str, events: Events, bound: Bound) -> str:
    """The method's formula for these events, ending in its epsilon."""
    return f"{_FORMULAS[name](events, bound)} = {show_bound(float(bound.epsilon))}"


def _log(bound: Bound) -> str:
    """ln(1/δ) as a number."""
    return show(-math.log(bound.delta))


def _linear(events: Events, bound: Bound) -> str:
    composed = pairs(events, bound.delta)
    parts = zip(composed.counts, np.ravel(composed.epsilons), strict=True)
    return "Σ εᵢ = " + " + ".join(
        f"{count:,.0f} × {show(float(epsilon))}" for count, epsilon in parts
    )


def _advanced(events: Events, bound: Bound) -> str:
    composed = pairs(events, bound.delta)
    squares = float(composed.counts @ np.square(composed.epsilons))
    drift = float(composed.counts @ (composed.epsilons * np.expm1(composed.epsilons)))
    return (
        f"√(2 ln(1/δ′) Σ εᵢ²) + Σ εᵢ(e^εᵢ − 1), δ′ = δ − Σ δᵢ = {show(float(composed.slack))}: "
        f"√(2 × {show(-math.log(float(composed.slack)))} × {show(squares)}) + {show(drift)}"
    )


def _kov(events: Events, bound: Bound) -> str:
    composed = pairs(events, bound.delta)
    return (
        "least ε with δ = 1 − Π(1 − δᵢ) · (1 − δ₀(ε)), δ₀ from randomised response: "
        f"Π(1 − δᵢ) ≈ 1 − {show(float(composed.spent))}; ε"
    )


def _zcdp(events: Events, bound: Bound) -> str:
    rho = float(total_rho(events))
    return (
        f"ρ = Σ 1/(2σ²) = {show(rho)}; ρ + 2√(ρ ln(1/δ)): "
        f"{show(rho)} + 2√({show(rho)} × {_log(bound)})"
    )


def _zcdp_tight(events: Events, bound: Bound) -> str:
    return (
        f"ρ = {show(float(total_rho(events)))}; least ε such that, for some α > 1, "
        "δ ≥ e^((α−1)(αρ−ε)) (1−1/α)^α / (α−1): ε"
    )


def _ma(events: Events, bound: Bound) -> str:
    return f"least over integers λ of (α(λ) + ln(1/δ))/λ, ln(1/δ) = {_log(bound)}: ε"


def _rdp(events: Events, bound: Bound) -> str:
    return (
        "least over α > 1 of τ(α) + ln(1 − 1/α) + (ln(1/δ) − ln α)/(α − 1), "
        f"ln(1/δ) = {_log(bound)}: ε"
    )


def _wbk(events: Events, bound: Bound) -> str:
    releases = sum(event.count for event in events)
    return (
        f"as for Rényi, with τ(α) summed over {releases:,} releases, each bounded by a "
        "series in the sampling rate: ε"
    )


def _exact(events: Events, bound: Bound) -> str:
    mu = show(float(total_mu(events)))
    return f"μ = √(Σ 1/σ²) = {mu}; δ = Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ) solved for ε"


def _pld(events: Events, bound: Bound) -> str:
    ends = ""
    if bound.lower is not None and float(bound.lower) < float(bound.epsilon):
        ends = f" (between {show_most(float(bound.lower))} and {show_bound(float(bound.epsilon))})"
    return f"δ(ε) = E[(1 − e^(ε − L))₊], L the sum of all privacy losses; upper end of ε{ends}"


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
