"""The accountants, by the name scripts use: one line each, imported when first asked for."""

from __future__ import annotations

from functools import cache

from dpcore.accounting.base import Accountant
from dpcore.checks import one_of
from dpcore.registry import load

ACCOUNTANTS = {
    "linear": "dpcore.accounting.linear:LINEAR",
    "advanced": "dpcore.accounting.advanced:ADVANCED",
    "kov": "dpcore.accounting.kov:KOV",
    "zcdp": "dpcore.accounting.zcdp:CLASSIC",
    "zcdp_tight": "dpcore.accounting.zcdp:TIGHT",
    "ma": "dpcore.accounting.moments:MOMENTS",
    "rdp": "dpcore.accounting.rdp:RENYI",
    "wbk9": "dpcore.accounting.wbk:THEOREM_9",
    "wbk27": "dpcore.accounting.wbk:THEOREM_27",
    "exact": "dpcore.accounting.gaussian:EXACT",
    "pld": "dpcore.accounting.pld:PLD",
}


def accountant(name: str | Accountant) -> Accountant:
    """The accountant of a registered name; an accountant passes through.

    >>> accountant("zcdp").title
    'zCDP'
    """
    if isinstance(name, Accountant):
        return name
    return _registered(one_of("accountant", name, ACCOUNTANTS))


@cache
def _registered(name: str) -> Accountant:
    method: Accountant = load(ACCOUNTANTS[name])
    return method
