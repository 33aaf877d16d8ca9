"""Each composition method's derivation in a few lines, as MathML that a page builds from lists.

A formula is a list ``[tag, part, ...]`` whose parts are lists or, at the leaves, texts; so nothing
in it can become other markup. Symbols: k repeats of the list, sigma the noise multiplier of a
release, L the privacy loss, mu of Gaussian differential privacy.

Sources: Dwork, Roth 2014 (basic); Dwork, Rothblum, Vadhan 2010 (advanced); Kairouz, Oh, Viswanath
2015; Bun, Steinke 2016; Canonne, Kamath, Steinke 2020; Abadi et al. 2016; Mironov 2017; Dong, Roth,
Su 2022; Wang, Balle, Kasiviswanathan 2019; Sommer, Meiser, Mohammadi 2019.
"""

from __future__ import annotations

from typing import Any

Formula = list[Any]

_OPERATORS = frozenset("=+−·()[]<>,∑∏∼")

_FUNCTIONS = ("ln", "min", "max")  # as operators, for the space around them


def token(text: str) -> Formula:
    """A number, an operator, a symbol or a word.

    >>> token("2"), token("="), token("ε"), token("ln")
    (['mn', '2'], ['mo', '='], ['mi', 'ε'], ['mo', 'ln'])
    """
    if text.isdigit():
        return ["mn", text]
    if text in _OPERATORS or text in _FUNCTIONS:
        return ["mo", text]
    return ["mtext", text] if " " in text else ["mi", text]


def row(*parts: str | Formula) -> Formula:
    """Parts side by side; a text of several words splits into its symbols.

    >>> row("ε =", frac("1", "σ"))
    ['mrow', ['mi', 'ε'], ['mo', '='], ['mfrac', ['mrow', ['mn', '1']], ['mrow', ['mi', 'σ']]]]
    """
    formula: Formula = ["mrow"]
    for part in parts:
        formula += map(token, part.split()) if isinstance(part, str) else [part]
    return formula


def frac(above: str | Formula, below: str | Formula) -> Formula:
    """A fraction."""
    return ["mfrac", row(above), row(below)]


def root(inside: str | Formula) -> Formula:
    """A square root."""
    return ["msqrt", row(inside)]


def power(base: str | Formula, exponent: str | Formula) -> Formula:
    """A power."""
    return ["msup", row(base), row(exponent)]


def part(symbol: str, index: str = "i") -> Formula:
    """A symbol of one release."""
    return ["msub", token(symbol), token(index)]


def least(over: str) -> Formula:
    """The minimum over a symbol."""
    return ["munder", token("min"), row(over)]


_SUM = "k ∑"  # over the releases of the list
_LOG = row("ln", frac("1", "δ"))
_RHO = row(f"ρ = {_SUM}", frac("1", row("2", power("σ", "2"))))
_RENYI_PRICE = row(
    "ε =", least("α > 1"), "τ ( α ) + ln", frac("α − 1", "α"), "−", frac("ln δ + ln α", "α − 1")
)

DERIVATIONS: dict[str, tuple[Formula, ...]] = {
    "linear": (
        row(f"ε = {_SUM}", part("ε")),
        row(f"δ = {_SUM}", part("δ")),
    ),
    "advanced": (
        row("δ =", power("δ", "′"), f"+ {_SUM}", part("δ")),
        row(
            "ε =",
            root(row("2 ln", frac("1", power("δ", "′")), f"· {_SUM}", power(part("ε"), "2"))),
            f"+ {_SUM}",
            part("ε"),
            "(",
            power("e", part("ε")),
            "− 1 )",
        ),
    ),
    "kov": (
        row("1 − δ =", ["msup", token("∏"), token("k")], "( 1 −", part("δ"), ") · ( 1 −",
            part("δ", "0"), "( ε ) )"),
        row(part("δ", "0"), "( ε ) =", ["mtext",
            "the δ of composed randomised responses, one for each εᵢ"]),
    ),
    "zcdp": (
        _RHO,
        row("ε = ρ + 2", root(row("ρ", _LOG))),
    ),
    "zcdp_tight": (
        _RHO,
        row("δ =", least("α > 1"), frac(power("e", "( α − 1 ) ( α ρ − ε )"), "α − 1"),
            power(row("(", "1 −", frac("1", "α"), ")"), "α")),
    ),
    "rdp": (
        row(f"τ ( α ) = {_SUM}", part("τ"), "( α )"),
        row("( α − 1 ) τ ( α ) = ln E [", power("e", "( α − 1 ) L"), "]"),
        _RENYI_PRICE,
    ),
    "ma": (
        row(f"α ( λ ) = {_SUM} ln E [", power("e", row("λ", part("L"))), "]"),
        row("δ =", least("λ"), power("e", "α ( λ ) − λ ε")),
        row("ε =", least("λ"), frac(row("α ( λ ) +", _LOG), "λ")),
    ),
    "exact": (
        row(power("μ", "2"), f"= {_SUM}", frac("1", power("σ", "2"))),
        row("L ∼ N (", frac(power("μ", "2"), "2"), ",", power("μ", "2"), ")"),
        row("δ = Φ (", frac("μ", "2"), "−", frac("ε", "μ"), ") −", power("e", "ε"),
            "Φ ( −", frac("μ", "2"), "−", frac("ε", "μ"), ")"),
    ),
    "pld": (
        row(f"L = {_SUM}", part("L")),
        row("δ = E [ max ( 0 , 1 −", power("e", "ε − L"), ") ]"),
    ),
    "wbk9": (
        row(f"τ ( α ) = {_SUM}", part("τ"), "( α )",
            ["mtext", ", where Theorem 9 bounds the terms of sampled releases"]),
        _RENYI_PRICE,
    ),
    "wbk27": (
        row(f"τ ( α ) = {_SUM}", part("τ"), "( α )",
            ["mtext", ", where Theorem 27 bounds the terms of sampled releases"]),
        _RENYI_PRICE,
    ),
}  # fmt: skip
"""The lines of each registered method."""
