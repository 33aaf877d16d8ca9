"""Speed beside quality, against peers, all measured in one run on one machine.

A row is one case: seconds of ours and of the peer (of several repetitions in which the two take
turns; each bench says whether the least or the median), the quality both reached, and the peak
memory of a process that runs ours alone. Utility without a peer is measured by
:mod:`dpcore.bench.utility`.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Protocol, runtime_checkable

from dpcore.checks import one_of

Row = dict[str, Any]
Case = Callable[[], Row]  # measures when called


@runtime_checkable
class Optional(Protocol):
    """A case that may be left out."""

    def why_missing(self) -> str | None:
        """``None`` where it can be measured here, else why not, naming the peer."""


# name -> module with a list ``CASES``; one that compares fits says under which ``CONDITIONS`` both
# sides run, and what they are ``JUDGED_BY``
BENCHES = {
    "gmm": "dpcore.bench.gmm",
    "kmeans": "dpcore.bench.kmeans",
    "fa": "dpcore.bench.factors",
    "topics": "dpcore.bench.topics",
    "accounting": "dpcore.bench.accounting",
    "release": "dpcore.bench.release",
    "large": "dpcore.bench.large",
    "loading": "dpcore.bench.loading",
    "privacy": "dpcore.bench.privacy",
    "growth": "dpcore.bench.growth",
}


def run(name: str | None = None, on_case: Callable[[int, int], None] | None = None) -> list[Row]:
    """Measure every case of a bench (of all without a name), one row each.

    Cases against a peer that the bench can do without are left out where it is not installed.
    on_case: told the number of each case and of all, before it is measured.

    Row: ``bench``, ``case``, ``per`` (what the seconds are of), ``ours_seconds``, ``peer``,
    ``peer_version``, ``peer_seconds``, ``peer_seconds_one_core``, ``ratio`` (peer / ours, both on
    every core), ``quality_ours``, ``quality_peer``, ``peak_mib``. ``peer_seconds_one_core`` is
    ``None`` where it was not measured. Some benches add ``quality`` (what both qualities are),
    ``ratio_fastest`` (to whichever of the peer's settings is faster), ``left_out`` (a sentence for
    every peer that could not be asked), ``apart`` (how far the centres of both sides lie apart, at
    most). Topics add ``ours_tokens_per_second``, ``peer_tokens_per_second`` (at its faster setting)
    and the same questions' ``ours_processor_seconds`` and ``peer_processor_seconds`` (on one core),
    which other programs hardly change; growth adds ``curve``, ``axis`` and ``size``.
    Raises InputError on an unknown name or when a peer is not installed.
    """
    names = list(BENCHES) if name is None else [one_of("bench", name, BENCHES)]
    every = [(chosen, case) for chosen in names for case in import_module(BENCHES[chosen]).CASES]
    cases = [
        pair for pair in every if not (isinstance(pair[1], Optional) and pair[1].why_missing())
    ]
    rows = []
    for i, (chosen, case) in enumerate(cases, start=1):
        if on_case is not None:
            on_case(i, len(cases))
        rows.append({"bench": chosen, **case()})
    return rows
