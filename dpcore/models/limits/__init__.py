"""Narrower limits of columns, found privately before anything else is released (compare Wilson et
al. 2020, who bound sums so)."""

from __future__ import annotations

from dpcore.declaration import Metric, Model, Opening, Statement, World
from dpcore.options import Settings

MODEL = Model(
    name="limits",
    package=__name__,
    settings=Settings,
    title="Narrower limits",
    single_title="Narrower limits",
    noun="narrower limits",
    meanings={
        "outside_at_most": "share of a column's numbers outside the narrower limits, at most, with "
        "95% confidence for each column",
    },
    papers=("wilson2020",),
    statement=Statement(
        adds="one count in one bin of each column: *a number is in one bin of its column*",
        proved="four releases, each of a histogram between the limits that the one before it "
        "leaves; the limits are post-processing",
        claim="no paper describes these steps; Wilson et al. 2020 find limits by one histogram "
        "whose bins double in width",
    ),
    clip="",
    clips_rows=False,
    opening=Opening(components=1),
    most=1,
    plane=False,
    one_row=True,
    shown="Limits",
    holds_out=False,
    metrics=(
        Metric(
            "limit_error",
            "Distance from the exact limits",
            "error (doublings of width)",
            falls=True,
            of_rows=False,
        ),
        Metric("cells_outside", "Share of numbers cut", "share of numbers cut", falls=True),
    ),
    worlds=(World(0.02), World(0.2), World()),
    decides="how little of their limits the columns fill",
    noise_sentence="parameters:noise_sentence",
    no_intervals="limits are chosen to hold nearly all numbers, and estimate nothing",
    audits={"limits": "attack:LIMITS"},
)
