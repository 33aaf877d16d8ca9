"""What each figure or table says, and at how many of our points it holds: a verdict by counting.

Statements are ours, in words, of what a figure or table is there to show (Park et al. 2017 and
2020; Wang et al. 2023; Liu et al. 2025). A statement is checked at every point where our rows have
what it speaks of; nothing here knows a result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from dpcore.checks import one_of
from dpcore.papers import (
    dpem_faces,
    dpem_kmeans,
    dpem_rare_person,
    gradient_settings,
    heavy_means,
    labelled_runs,
    vips_belief,
    vips_epsilon,
    vips_logistic,
    vips_topics,
)
from dpcore.papers.counting import CURVES, WORDS
from dpcore.papers.dpem_mixture import ORDER, SAME
from dpcore.papers.reproduction import Row
from dpcore.registry import PAPERS

Points = dict[tuple[str, float], float]
AGREES, PARTLY, DIFFERS = "agrees", "agrees in part", "differs"
NEAR = 1.0  # standard deviations of a crowd: a centre that sits on a person


@dataclass(frozen=True)
class Check:
    """One statement, and at how many of our points it holds.

    ours: added by us, beside what the paper says; it is told and does not judge.
    """

    says: str
    holds: int
    of: int
    ours: bool = False

    @property
    def throughout(self) -> bool:
        return 0 < self.of == self.holds

    @property
    def sentence(self) -> str:
        """The statement with its count."""
        return f"{self.says}: at {self.holds} of {self.of}"


@dataclass(frozen=True)
class Verdict:
    """What became of one figure or table.

    stands_in: data that stand for some that are not public; empty where ours are the paper's.
    """

    name: str
    checks: tuple[Check, ...]
    stands_in: str = ""

    @property
    def word(self) -> str:
        """``agrees`` where every statement of the paper holds throughout; ``differs`` where none
        holds at more than half of its points; else ``agrees in part``."""
        said = [check for check in self.checks if not check.ours]
        if all(check.throughout for check in said):
            return AGREES
        most = any(2 * check.holds > check.of for check in said)
        return PARTLY if most else DIFFERS

    @property
    def sentence(self) -> str:
        """The verdict with its reasons."""
        data = f" ({self.stands_in})" if self.stands_in else ""
        said = "; ".join(check.sentence for check in self.checks if not check.ours)
        more = "; ".join(check.sentence for check in self.checks if check.ours)
        beside = f" Beside the paper: {more}." if more else ""
        return f"{self.word.capitalize()}{data}. The paper: {said}.{beside}"


def verdict(name: str, rows: Sequence[Row]) -> Verdict:
    """The verdict on one regenerated figure or table, from its rows.

    Raises InputError for a name that is not registered.
    """
    one_of("name", name, tuple(PAPERS))
    return Verdict(name, tuple(CHECKS[name](rows)), STANDS_IN.get(name, ""))


def points(rows: Sequence[Row], curve: str, fact: str = "y") -> Points:
    """One curve: (panel, x) to a number, without what could not be."""
    return {
        (each["panel"], each["x"]): float(each[fact])
        for each in rows
        if each["curve"] == curve and each.get(fact) is not None
    }


def less(says: str, low: Points, high: Points, slack: float = 0.0) -> Check:
    """Whether one curve lies below another, where both have a point."""
    both = [(low[at], high[at]) for at in low if at in high]
    return Check(says, sum(one < other + slack for one, other in both), len(both))


def chain(says: str, *curves: Points, slack: float = 0.0) -> Check:
    """Whether curves lie above one another in this order, where all have a point."""
    common = [at for at in curves[0] if all(at in curve for curve in curves)]
    kept = [all(one[at] < other[at] + slack for one, other in pairwise(curves)) for at in common]
    return Check(says, sum(kept), len(kept))


def beside(check: Check) -> Check:
    """A statement that is ours, not the paper's."""
    return replace(check, ours=True)


def each(says: str, truths: Iterable[bool]) -> Check:
    """A statement about every one of some points."""
    known = list(truths)
    return Check(says, sum(known), len(known))


def trend(says: str, curve: Points, sign: int, panels: Iterable[str] | None = None) -> Check:
    """Whether a curve goes up (1) or down (-1) from the first to the last point of a panel."""
    wanted = dict.fromkeys(panel for panel, _ in curve) if panels is None else panels
    truths = []
    for panel in wanted:
        line = [y for (where, _), y in sorted(curve.items()) if where == panel]
        if len(line) > 1:
            truths.append(sign * (line[-1] - line[0]) > 0)
    return each(says, truths)


def best(says: str, wanted: Points, others: Sequence[Points]) -> Check:
    """Whether a curve has the least value of all, where it has a point."""
    truths = [all(y < other[at] for other in others if at in other) for at, y in wanted.items()]
    return each(says, truths)


def _noise(rows: Sequence[Row]) -> list[Check]:
    gaussian = [row for row in rows if row.get("proved_epsilon") is not None]
    published = [row for row in gaussian if row["curve"].startswith("GGG")]
    at_least = points(rows, "GGG, zCDP")
    capped = points(rows, "GGG, moments accountant, orders to 100")
    advanced = {(r["panel"], r["curve"]): r for r in rows if r["curve"].endswith(", advanced")}
    smallest = min(x for _, x in at_least)
    low = {at: y for at, y in at_least.items() if at[1] == smallest}
    return [
        each(
            "the epsilon of every published count of Gaussian releases holds",
            (row["proved_epsilon"] <= row["x"] for row in published),
        ),
        each(
            "zCDP asks for less noise than the moments accountant at the smallest epsilon",
            (at not in capped or y < 0.99 * capped[at] for at, y in low.items()),
        ),
        each(
            "the printed delta of a release can be counted by advanced composition",
            ("refused" not in row["note"] for row in advanced.values()),
        ),
    ]


def _rare_person(rows: Sequence[Row]) -> list[Check]:
    few, many = dpem_rare_person.TABLES.values()
    exact, private = dpem_rare_person.EXACT, dpem_rare_person.PRIVATE
    hidden = points(rows, f"{private}, {few}")
    crowd, alone = (points(rows, f"{name}, {many}") for name in (private, exact))
    return [
        each(
            "without privacy a centre sits on the rare person",
            (y < NEAR for y in points(rows, f"{exact}, {few}").values()),
        ),
        each("with privacy none does", (y > NEAR for y in hidden.values())),
        each(
            "in a crowd fifty times as large the private centres are where the exact ones are",
            (abs(crowd[at] - alone[at]) < NEAR for at in crowd),
        ),
        beside(
            each(
                "no measured attack is better than what is proved allows",
                (row["low"] <= row["ceiling"] for row in rows if "ceiling" in row),
            )
        ),
    ]


def _mixture(rows: Sequence[Row]) -> list[Check]:
    curve = {one.name: points(rows, one.name) for one in CURVES}
    checks, ways = [], [WORDS[method] for method in ORDER]
    for kind in ("GGG", "LLG"):
        says = f"{kind}: linear below advanced below the moments accountant below zCDP"
        checks.append(chain(says, *(curve[f"{kind}, {way}"] for way in ways), slack=SAME))
    for way in ways:
        low, high = curve[f"LLG, {way}"], curve[f"GGG, {way}"]
        checks.append(less(f"Gaussian noise alone is better under {way}", low, high, SAME))
    return checks


def _kmeans(rows: Sequence[Row]) -> list[Check]:
    linear, zcdp, printed = (points(rows, dpem_kmeans.WAYS[i].name) for i in (0, 1, 2))
    if not printed:  # what leaves without noise was refused
        printed = points(rows, dpem_kmeans.WAYS[3].name)
    return [
        less("DPLloyd is better counted by zCDP than linearly", zcdp, linear),
        less("the paper's k-means is better than DPLloyd with zCDP", printed, zcdp),
    ]


def _faces(rows: Sequence[Row]) -> list[Check]:
    printed = {at: y for at, y in points(rows, dpem_faces.STATED).items() if 0.1 < at[1] < 0.5}
    coded = points(rows, dpem_faces.CODED, "proved_epsilon")
    return [
        each(
            "half of the faces' subspace is seen at epsilon 0.2 and 0.3 with the stated noise",
            (y >= dpem_faces.HALF for y in printed.values()),
        ),
        each(
            "the noise of the released program has the epsilon that it names",
            (epsilon <= x for (_, x), epsilon in coded.items()),
        ),
    ]


def _epsilons(rows: Sequence[Row]) -> list[Check]:
    printed, tight = (points(rows, c) for c in (vips_epsilon.PRINTED, vips_epsilon.TIGHT))
    return [less("the printed epsilon holds", tight, printed, 1e-9)]


def _topic_order(rows: Sequence[Row]) -> list[Check]:
    found = {
        name: points(rows, name)
        for name in (
            vips_topics.EXACT,
            vips_topics.CLIPPED,
            vips_topics.STRONG,
            vips_topics.UNCLIPPED,
        )
    }
    exact, clipped, strong, wild = found.values()
    return [
        less("without privacy is better than clipped with privacy", exact, clipped),
        less("moments accounting is better than strong composition", clipped, strong),
        less("clipped is better than not clipped", clipped, wild),
    ]


def _topics(rows: Sequence[Row]) -> list[Check]:
    words = points(rows, vips_topics.FREQUENCIES)
    clipped = points(rows, vips_topics.CLIPPED)
    return [
        *_topic_order(rows),
        less("clipped is better than exact word frequencies", clipped, words),
        trend("more noise, more perplexity", clipped, 1),
    ]


def _topic_steps(rows: Sequence[Row]) -> list[Check]:
    last = max(row["x"] for row in rows)
    return [
        *_topic_order([row for row in rows if row["x"] == last]),
        trend("perplexity falls with the steps", points(rows, vips_topics.CLIPPED), -1),
    ]


def _topic_words(rows: Sequence[Row]) -> list[Check]:
    names = (vips_topics.UNCLIPPED, vips_topics.STRONG, vips_topics.CLIPPED, vips_topics.EXACT)
    return [
        chain(
            "the first word's probability shrinks from exact to clipped to strong to unclipped",
            *(points(rows, name) for name in names),
        )
    ]


def _regression(rows: Sequence[Row]) -> list[Check]:
    plain = points(rows, vips_logistic.PLAIN)
    ma, strong = (points(rows, name) for name in vips_logistic.PRINTED.values())
    rival = points(rows, vips_logistic.OBJECTIVE_PRINTED)
    ours = points(rows, vips_logistic.ONE_RELEASE)
    return [
        less("without privacy is better than with it", ma, plain),
        less("moments accounting is better than strong composition", strong, ma),
        trend("a larger budget is better", ma, 1),
        less("VIPS is better than objective perturbation", rival, ma),
        beside(less("one release, proved, is better than VIPS as printed", ma, ours)),
    ]


def _adult(rows: Sequence[Row]) -> list[Check]:
    printed = points(rows, vips_logistic.MINIBATCHES)
    proved = points(rows, vips_logistic.MINIBATCHES, "proved_epsilon")
    return [
        trend("less noise is better", printed, 1),
        each("the printed epsilon holds", (y <= x for (_, x), y in proved.items())),
        less("VIPS is better than DPVI", points(rows, vips_logistic.GRADIENTS), printed),
    ]


def _digits(rows: Sequence[Row]) -> list[Check]:
    plain, printed, strong = (
        points(rows, name) for name in (vips_belief.PLAIN, vips_belief.PRINTED, vips_belief.STRONG)
    )
    claimed = points(rows, vips_belief.PRINTED, "claimed")
    proved = points(rows, vips_belief.PRINTED, "proved_epsilon")
    return [
        less("without privacy is better than with it", printed, plain),
        less("moments accounting is better than strong composition", strong, printed),
        trend("larger samples are better", printed, 1),
        less("the printed epsilon holds", proved, claimed, 1e-9),
    ]


def _thresholds(rows: Sequence[Row]) -> list[Check]:
    end = [row for row in rows if row["x"] == _last(rows, row["panel"])]
    one = points(end, gradient_settings.clipped_at(1.0).name)
    others = [points(end, gradient_settings.clipped_at(c).name) for c in (0.1, 0.5, 5.0, 10.0)]
    robust = points(end, gradient_settings.ROBUST.name)
    return [
        best("of five thresholds C = 1 is the best", one, others),
        less("Algorithm 2 is more accurate than Algorithm 1 with C = 1", robust, one),
    ]


def _last(rows: Sequence[Row], panel: str) -> float:
    return max(float(row["x"]) for row in rows if row["panel"] == panel)


def _gradient(rows: Sequence[Row]) -> list[Check]:
    em, robust, one = (
        points(rows, way.name)
        for way in (
            gradient_settings.EM,
            gradient_settings.ROBUST,
            gradient_settings.clipped_at(1.0),
        )
    )
    ours, exact = (
        points(rows, way.name) for way in (gradient_settings.OURS, gradient_settings.EXACT)
    )
    checks = [
        less("without privacy is more accurate than Algorithm 2", em, robust),
        less("Algorithm 2 is more accurate than Algorithm 1 with C = 1", robust, one),
        beside(
            less("Algorithm 2 is more accurate than clipping that knows the same tau", robust, ours)
        ),
        beside(
            less(
                "Algorithm 2 as printed is more accurate than with the least noise of its promise",
                robust,
                exact,
            )
        ),
    ]
    panels = {panel for panel, _ in robust}
    if "columns" in panels:
        checks.append(trend("more columns, more error", robust, 1, ("columns",)))
        checks.append(
            trend("more rows or a larger epsilon, less error", robust, -1, ("epsilon", "rows"))
        )
    else:
        checks.append(trend("a larger epsilon, less error", robust, -1))
    return checks


def _means(rows: Sequence[Row]) -> list[Check]:
    older, improved = (points(rows, heavy_means.CENTRAL[i].name, "mean") for i in (0, 1))
    clip, exact = (points(rows, heavy_means.CENTRAL[i].name, "mean") for i in (4, 2))
    return [
        less("Theorem 2 errs less than Lemma 1", improved, older),
        beside(less("Theorem 2 errs less than plain clipping with as much noise", exact, clip)),
    ]


def _printed(rows: Sequence[Row]) -> dict[str, Points]:
    """The published methods of the labelled release, by curve; the proposed one first."""
    here = [row for row in rows if row["panel"] == labelled_runs.PRINTED]
    return {name: points(here, name) for name in dict.fromkeys(row["curve"] for row in here)}


def _proposed(rows: Sequence[Row], *, up: bool = False) -> list[Check]:
    """The proposed release against the other printed methods, nearest first."""
    found = _printed(rows)
    ours = next((line for name, line in found.items() if name.startswith("proposed")), {})
    rivals = [line for name, line in found.items() if not name.startswith("proposed")]
    if up:
        ours, rivals = _turned(ours), [_turned(rival) for rival in rivals]
    return [best("the proposed release is the best of the printed methods", ours, rivals)]


def _turned(line: Points) -> Points:
    return {at: -y for at, y in line.items()}


def _over(sign: int, says: str, *, up: bool = False) -> Callable[[Sequence[Row]], list[Check]]:
    """The proposed release against its rivals, and how it moves along the axis."""

    def found(rows: Sequence[Row]) -> list[Check]:
        curves = _printed(rows)
        ours = next((line for name, line in curves.items() if name.startswith("proposed")), {})
        rivals = len(curves) > sum(name.startswith("proposed") for name in curves)
        compared = _proposed(rows, up=up) if rivals else []
        return [*compared, trend(says, ours, sign)]

    return found


def _marginals(rows: Sequence[Row]) -> list[Check]:
    exact = points(rows, "exact")
    names = dict.fromkeys(row["curve"] for row in rows if row["curve"].startswith("proposed"))
    truths = []
    for name in names:
        released = points(rows, name)
        for panel in dict.fromkeys(where for where, _ in released):
            here = [at for at in exact if at[0] == panel and at in released]
            total = sum(exact[at] for at in here)
            apart = sum(abs(exact[at] - released[at]) for at in here)
            truths.append(apart < total / 2.0)  # half of it is the overlap that is lost
    return [each("the released density overlaps the exact one by three quarters", truths)]


def _taught(rows: Sequence[Row]) -> list[Check]:
    found = {row["curve"] for row in rows}
    real = points(rows, "real rows")
    proposed = next((name for name in found if name.startswith("proposed")), "")
    ours, rival = points(rows, proposed), points(rows, labelled_runs.RIVAL)
    return [
        less("a network taught by the proposed rows is better than by Gaussian noise", rival, ours),
        less("and worse than one taught by real rows", ours, real),
        trend("a larger budget is better", ours, 1),
    ]


def _bounds(rows: Sequence[Row]) -> list[Check]:
    proposed = (row["curve"] for row in rows if row["curve"].startswith("proposed"))
    line = points(rows, next(proposed, ""))
    ordered = [y for _, y in sorted(line.items())]
    inside = len(ordered) > 2 and min(ordered[1:-1]) < min(ordered[0], ordered[-1])
    return [each("a bound inside the range is better than both of its ends", [inside])]


CHECKS: Mapping[str, Callable[[Sequence[Row]], list[Check]]] = {
    "dp-em-table-noise": _noise,
    "dp-em-figure-1": _rare_person,
    "dp-em-figure-2": _mixture,
    "dp-em-figure-3": _mixture,
    "dp-em-figure-4": _kmeans,
    "dp-em-table-kmeans": _kmeans,
    "dp-em-figure-5": _faces,
    "vips-table-epsilon": _epsilons,
    "vips-figure-2": _topics,
    "vips-figure-3": _topic_steps,
    "vips-table-3": _topic_words,
    "vips-figure-5": _regression,
    "vips-figure-6": _adult,
    "vips-figure-8": _digits,
    "robust-em-figure-1": _thresholds,
    "robust-em-figure-2": _gradient,
    "robust-em-figure-3": _gradient,
    "robust-em-figure-4": _gradient,
    "robust-em-figure-5": _gradient,
    "robust-em-means": _means,
    "gmm-release-figure-1": _over(-1, "a larger budget is better"),
    "gmm-release-figure-2": _over(-1, "a larger budget is better"),
    "gmm-release-figure-3": _over(-1, "more rows are better"),
    "gmm-release-figure-4": _over(1, "more classes are worse"),
    "gmm-release-figure-5": _over(1, "more columns are worse"),
    "gmm-release-figure-6": _over(-1, "a larger budget is better"),
    "gmm-release-figure-7": _marginals,
    "gmm-release-figure-8": _over(-1, "a larger budget is better"),
    "gmm-release-figure-9": _marginals,
    "gmm-release-figure-10": _over(-1, "a larger budget is better"),
    "gmm-release-figure-11": _over(1, "a larger budget is better", up=True),
    "gmm-release-figure-12": _taught,
    "gmm-release-figure-13": _bounds,
}

STANDS_IN: Mapping[str, str] = {
    "dp-em-figure-1": "simulated persons for a survey that is not public",
    "dp-em-figure-2": "a simulated table for Stroke, which is not public",
    "dp-em-figure-4": "points drawn from a published grid of the check-ins",
    "dp-em-table-kmeans": "points drawn from a published grid of the check-ins",
    "vips-figure-2": "other texts for a slice of Wikipedia that is not published",
    "vips-figure-3": "other texts for a slice of Wikipedia that is not published",
    "vips-table-3": "other texts for a slice of Wikipedia that is not published",
    "vips-figure-5": "two public medical tables for Stroke, which is not public",
    "robust-em-figure-1": "settings of ours: the paper names hardly any",
    "robust-em-figure-2": "settings of ours: the paper names hardly any",
    "robust-em-figure-3": "settings of ours: the paper names hardly any",
    "robust-em-figure-4": "settings of ours: the paper names hardly any",
    "robust-em-figure-5": "the best fit for the truth, and one census table for another",
    "robust-em-means": "heavy tails of ours: the paper proves and does not plot",
    "gmm-release-figure-8": "published Swiss profiles for meters that are not public",
    "gmm-release-figure-9": "published Swiss profiles for meters that are not public",
}
