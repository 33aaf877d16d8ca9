"""What a fit found, as tables for people: parts down, columns across; of many columns, the telling.

A model joins by one function from its JSON record to a heading and lines.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

FEW_COLUMNS = 20  # which are told one by one
STRONGEST = 4  # columns of a part that are named where there are more

Lines = tuple[str, list[dict[str, Any]]]


def _titles(record: dict[str, Any]) -> list[str]:
    """The columns with their units."""
    names = zip(record["parameters"]["columns"], record["units"], strict=True)
    return [name if unit is None else f"{name} ({unit})" for name, unit in names]


def _groups(record: dict[str, Any]) -> Lines:
    parameters, titles = record["parameters"], _titles(record)
    if len(titles) > FEW_COLUMNS:
        return _apart("group", record, parameters["means"], parameters["weights"])
    lines = []
    for k, (share, mean, covariance) in enumerate(
        zip(parameters["weights"], parameters["means"], parameters["covariances"], strict=True)
    ):
        line: dict[str, Any] = {"group": k + 1, "share": f"{share:.1%}"}
        for i, title in enumerate(titles):
            line[title] = f"{mean[i]:.4g} ± {covariance[i][i] ** 0.5:.3g}"
        lines.append(line)
    return "Each group: its share of the rows; mean ± standard deviation of each column.", lines


def _centres(record: dict[str, Any]) -> Lines:
    parameters, titles = record["parameters"], _titles(record)
    if len(titles) > FEW_COLUMNS:
        return _apart("centre", record, parameters["centers"], parameters["shares"])
    lines = []
    for k, (share, centre) in enumerate(
        zip(parameters["shares"], parameters["centers"], strict=True)
    ):
        place = {title: f"{x:.4g}" for title, x in zip(titles, centre, strict=True)}
        lines.append({"centre": k + 1, "share": f"{share:.1%}", **place})
    return "Each centre: the share of the rows nearest to it, and where it stands.", lines


def _apart(part: str, record: dict[str, Any], places: Any, shares: Any) -> Lines:
    """Of many columns, as of pictures: those where each part is farthest from the average.

    places ``(K, d)``, shares ``(K,)``; distances count as shares of the public bounds.
    """
    names, where = record["parameters"]["columns"], np.array(places)
    lower, upper = np.array(record["bounds"], dtype=float).T
    away = np.abs(where - np.average(where, axis=0, weights=shares)) / (upper - lower)
    lines = [
        {
            part: str(k + 1),
            "share": f"{share:.1%}",
            "farthest in": ", ".join(
                f"{names[i]} {where[k, i]:.4g}" for i in np.argsort(-away[k])[:STRONGEST]
            ),
        }
        for k, share in enumerate(shares)
    ]
    about = (
        f"Each {part}: its share of the rows, and where it stands in those of {len(names)} columns "
        "in which it is farthest from the average (all of them: --json)."
    )
    return about, lines


def _factors(record: dict[str, Any]) -> Lines:
    """Few columns: one line each. Many, as of pictures: one line a factor."""
    parameters, titles = record["parameters"], _titles(record)
    loadings = np.array(parameters["loadings"])
    seen = np.flatnonzero(np.any(loadings != 0.0, axis=0))
    asked = loadings.shape[1]
    hidden = ""
    if not len(seen):
        hidden = f" None of the {asked} factors can be told from noise: all are 0."
    elif len(seen) < asked:
        hidden = f" {len(seen)} of {asked} factors can be told from noise; the rest is 0."
    if len(titles) <= FEW_COLUMNS:
        lines = _column_lines(parameters, titles, seen)
        about = "Each column: its mean, its loading on each factor, and the deviation of its own."
    else:
        lines = _factor_lines(parameters, seen)
        about = (
            "Each factor: the share of a column's variance that it explains, averaged over "
            f"{len(titles)} columns, and the columns where that is most, with their loadings."
        )
    return about + hidden, lines


def _column_lines(
    parameters: dict[str, Any], titles: list[str], seen: NDArray[np.intp]
) -> list[dict[str, Any]]:
    return [
        {
            "column": title,
            "mean": f"{mean:.4g}",
            **{f"factor {k + 1}": f"{loadings[k]:+.3g}" for k in seen},
            "its own": f"{own**0.5:.3g}",
        }
        for title, mean, loadings, own in zip(
            titles,
            parameters["mean"],
            parameters["loadings"],
            parameters["noise_variance"],
            strict=True,
        )
    ]


def _factor_lines(parameters: dict[str, Any], seen: NDArray[np.intp]) -> list[dict[str, Any]]:
    """Shares of variances, because columns may have different units."""
    names = parameters["columns"]
    loadings, own = np.array(parameters["loadings"]), np.array(parameters["noise_variance"])
    shares = loadings**2 / (own + np.sum(loadings**2, axis=1))[:, None]
    lines = [
        {
            "factor": str(k + 1),
            "share": f"{shares[:, k].mean():.1%}",
            "strongest columns": ", ".join(
                f"{names[i]} {loadings[i, k]:+.3g}" for i in np.argsort(-shares[:, k])[:STRONGEST]
            ),
        }
        for k in seen
    ]
    rest = {"factor": "none", "share": f"{1.0 - shares.sum(axis=1).mean():.1%}"}
    return [*lines, {**rest, "strongest columns": "each column's own"}]


def _coefficients(heading: str, *names: str) -> Callable[[dict[str, Any]], Lines]:
    """One line a column: its coefficient, and with two names the opposite one."""

    def told(record: dict[str, Any]) -> Lines:
        parameters, titles = record["parameters"], _titles(record)
        beta = np.array(parameters["beta"])
        kept = np.sort(np.argsort(-np.abs(beta), kind="stable")[:FEW_COLUMNS])
        lines = [
            {
                "column": titles[i],
                **{
                    name: f"{sign * beta[i]:+.4g}"
                    for name, sign in zip(names, (1, -1), strict=False)
                },
            }
            for i in kept
        ]
        less = f" The largest {len(kept)} of {len(beta)} (all of them: --json)."
        return heading + (less if len(kept) < len(beta) else ""), lines

    return told


def _means(record: dict[str, Any]) -> Lines:
    means = zip(_titles(record), record["parameters"]["mean"], strict=True)
    return "Each column's mean.", [{"column": c, "mean": f"{mean:.4g}"} for c, mean in means]


def _topics(record: dict[str, Any]) -> Lines:
    parameters = record["parameters"]
    lines: list[dict[str, Any]] = [
        {"topic": str(k + 1), "share": f"{share:.1%}", "most likely words": ", ".join(words)}
        for k, (share, words) in enumerate(
            zip(parameters["shares"], parameters["top_words"], strict=True)
        )
    ]
    return (
        "Each topic: its share of all words, and the words that are most likely in it (all of "
        f"{len(parameters['vocabulary'])}: --json).",
        lines,
    )


def _units(record: dict[str, Any]) -> Lines:
    """A hidden unit's weights are told by the pixels that they move most."""
    parameters = record["parameters"]
    names, weights = parameters["columns"], np.array(parameters["weights"])
    often = 1.0 / (1.0 + np.exp(-np.array(parameters["hidden_bias"])))
    lines: list[dict[str, Any]] = [
        {
            "hidden unit": str(k + 1),
            "on": f"{often[k]:.1%}",
            "strongest columns": ", ".join(
                f"{names[i]} {weights[i, k]:+.3g}"
                for i in np.argsort(-np.abs(weights[:, k]), kind="stable")[:STRONGEST]
            ),
        }
        for k in range(weights.shape[1])
    ]
    return (
        "Each hidden unit: how often it is on, and the columns whose log odds it moves most (all "
        f"{len(names)}: --json).",
        lines,
    )


def _classes(record: dict[str, Any]) -> Lines:
    """As groups, by the names of their classes; what noise has eaten is said."""
    parameters = record["parameters"]
    _, lines = _groups(record)
    named = [
        {"class" if key == "group" else key: value for key, value in line.items()} for line in lines
    ]
    for name, line in zip(parameters["classes"], named, strict=True):
        line["class"] = name
    about = "Each class: its share of the rows; mean ± standard deviation of each column."
    if len(_titles(record)) > FEW_COLUMNS:
        about = "Each class: its share, and the columns in which it is farthest from the average."
    return about + "".join(f" Warning: {one}." for one in parameters["warnings"]), named


def _odds(record: dict[str, Any]) -> Lines:
    """One line a column with its interval, where noise is known; the intercept last."""
    parameters = record["parameters"]
    titles = [*_titles(record), "intercept"]
    values = [*parameters["coefficients"], parameters["intercept"]]
    lines = [
        {"column": title, "log odds": f"{value:+.4g}"}
        for title, value in zip(titles, values, strict=True)
    ]
    if parameters["intervals"] is not None:
        for line, (low, high) in zip(lines, parameters["intervals"], strict=True):
            line["95% interval"] = f"{low:+.4g} to {high:+.4g}"
    outcome = parameters["outcome"] or "a yes"
    about = f"What one unit of each column adds to the log odds of {outcome}; "
    return f"{about}{parameters['intervals_include']}.", lines


FOUND: dict[str, Callable[[dict[str, Any]], Lines]] = {
    "gmm": _groups,
    "kmeans": _centres,
    "fa": _factors,
    "symmetric-mixture": _coefficients(
        "Two clouds, one at each of these places.", "one", "the other"
    ),
    "mixture-regression": _coefficients(
        "Two lines: what the target changes by with one unit of each column.", "one", "the other"
    ),
    "missing-regression": _coefficients(
        "What the target changes by with one unit of each column.", "coefficient"
    ),
    "mean": _means,
    "gmm-release": _classes,
    "logistic": _odds,
    "lda": _topics,
    "sbn": _units,
}
