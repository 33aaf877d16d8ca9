"""Options of fits that truncate: how often that may fail, and how many rows there may be."""

from __future__ import annotations

from typing import Any

from dpcore.checks import probability, whole
from dpcore.options import UNLESS_GIVEN, Dial, Slide, option


def failure_option(help: str, *methods: str) -> Any:
    """The failure probability ``zeta`` at which a truncation aims; methods: that have one."""
    return option(
        0.05,
        lambda name, value: probability(name, value, example="0.05"),
        help,
        metavar="Z",
        dial=Dial(
            "Failure probability ζ of the truncation",
            "A smaller probability lowers the truncation threshold: more is truncated, and less "
            "noise is needed. In gradient EM, the method *Robust means, all rows in every step* "
            "has a fixed threshold.",
            *(1e-6, 0.9, 0.01, "%.3g"),
            methods=methods,
            slide=Slide(
                "Failure probability ζ",
                "failure probability",
                ("surer", "less sure"),
                (1e-4, 3e-4, 0.001, 0.003, 0.01, 0.03, 0.05, 0.1, 0.2, 0.3),
            ),
        ),
    )


def rows_option(*methods: str) -> Any:
    """A public guess of how many rows there are; methods: that need it, empty: all."""
    return option(
        None,
        whole,
        "a public guess of the number of rows, where it is private [none]",
        metavar="N",
        dial=Dial(
            "Public guess of the number of rows",
            "Some truncation thresholds depend on this number; give a guess where it is private.",
            *(1, 10**9, 100, "%d"),
            methods=methods,
            empty="the actual number, where it is public",
            still=UNLESS_GIVEN,
        ),
    )
