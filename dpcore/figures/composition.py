"""The picture of what releases cost together: five bars at one number of repeats, one curve beside.

Every epsilon drawn is one that some theorem gives; between two counts the picture jumps.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from dpcore.accounting.gaussian import all_gaussian, total_mu
from dpcore.accounting.moments import MomentsAccountant
from dpcore.arrays import Array, Mask
from dpcore.evaluation.composition import (
    Amplification,
    Attack,
    Loss,
    Moments,
    Orders,
    Picture,
    Prices,
    Profile,
    Way,
    repeated,
)
from dpcore.figures.derivation import DERIVATIONS
from dpcore.figures.scene import Axis, Bars, Cursor, Curve, Layer, Panel, Rule, Scene, Spots
from dpcore.figures.tail import Tail
from dpcore.privacy.adjacency import protects
from dpcore.privacy.guarantee import show, show_bound, show_delta, show_most

COLOURS = {
    "exact": 0, "zcdp": 1, "ma": 2, "linear": 3, "advanced": 4, "wbk9": 5, "pld": 6, "rdp": 7,
    "kov": 8, "zcdp_tight": 9, "wbk27": 10, "wbk27 classic": 11,
}  # fmt: skip
"""A composition method's own colour, whatever else is shown, here and on Explore."""
_SLOTS = {"basic": "linear"}  # colour of a slot whose method has no theorem


def colour_of(way: Way) -> int:
    """The colour of the method that stands for a way."""
    classic = " classic" if getattr(way.method, "conversion", "") == "classic" else ""
    return COLOURS[way.name + classic if way.name else _SLOTS.get(way.slot, way.slot)]


BARS, CURVE = "bars", "curve"
HEIGHT = 470
TIPS = {
    "linear": "Adds up the epsilons and the deltas of all releases.",
    "advanced": "With a small ε per release, the total grows with the square root of the number "
    "of releases rather than linearly; for few releases it exceeds the plain sum.",
    "zcdp": "Zero-concentrated DP: adds up one number per release (ρ), then converts the sum to ε.",
    "ma": "Adds up log moments of the privacy loss and takes the best order. Orders are whole "
    "numbers up to a cap; where the best order is the cap, the bound is looser than necessary.",
    "rdp": "Rényi DP: adds up the Rényi divergence at every order and takes the best order.",
    "kov": "Composes (ε, δ) pairs optimally (Kairouz, Oh, Viswanath 2015).",
    "zcdp_tight": "Like zCDP, but with the tight conversion to ε.",
    "wbk9": "Adds up Rényi divergences of releases from fixed-size samples (Wang et al. 2019, "
    "Theorem 9).",
    "wbk27": "Adds up Rényi divergences of releases from fixed-size samples (Wang et al. 2019, "
    "Theorem 27).",
    "exact": "Composes the whole distribution of the privacy loss: no composition method can "
    "prove a smaller ε.",
    "pld": "Composes the whole distribution of the privacy loss numerically, with an upper "
    "and a lower bound on ε.",
}
_TICKS = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0, 10000.0)
_DECADES = tuple(10.0**p for p in range(-9, 7))
LEAST = 1e-6  # of an epsilon beside its bar: the zeros of smaller ones would take the bars' room
_SHARES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
_BUMPS = (1, 10, 100, 1000, 10_000)  # counts whose densities of the privacy loss stay in view
_FILM = 100  # the longest list in view over the shortest one
_CUT = 10  # the longest over the shortest whose density is in view to its top


@dataclass(frozen=True)
class Texts:
    """Words of the scene besides numbers.

    repeats: what is counted, in the plural; run_title: in the singular. live_text: texts elsewhere
    on the page, one a count. dials: CSS class of the dial of a symbol.
    """

    repeats: str = "releases"
    run_title: str = "release"
    live_text: dict[str, tuple[str, ...]] | None = None
    dials: dict[str, str] = field(default_factory=dict)

    def counted(self, count: int) -> str:
        """A number of them.

        >>> Texts().counted(1), Texts().counted(2000)
        ('1 release', '2,000 releases')
        """
        return f"{count:,} {self.run_title if count == 1 else self.repeats}"


def prices_scene(
    prices: Prices,
    texts: Texts | None = None,
    picture: Picture | Prices | None = None,
    *,
    count: int | None = None,
    positions: tuple[int, ...] | None = None,
    pinned: Mapping[str, Prices] | None = None,
    undrawn: Collection[int] = (),
) -> Scene:
    """Bars at the current count beside a picture: the prices against the count, unless another is
    given (other prices, such as the noise that a budget needs, are drawn against the count too).

    count: the current one [the first]. positions: the count of each position of the slider.
    pinned: other lists' prices at one count each, which leave a mark on the bars' axis where they
    are amounts of the same. undrawn: the counts without a picture.
    """
    texts = texts or Texts()
    step = prices.counts.index(count) if count is not None else 0
    if picture is None or isinstance(picture, Prices):
        beside: tuple[Panel, ...] = (_curve_panel(picture or prices, texts),)
    else:
        panels = _picture_panels(picture, prices, prices.counts[step])
        beside = tuple(_told_undrawn(panel, prices.counts, undrawn) for panel in panels)
    return Scene(
        steps=tuple(float(k) for k in prices.counts),
        step_labels=tuple(f"{k:,}" for k in prices.counts),
        panels=(_bars_panel(prices, texts, pinned or {}), *beside),
        live_text=texts.live_text or {},
        step=step,
        positions=positions,
        symbol="k",
    )


def _told_undrawn(panel: Panel, counts: Sequence[int], undrawn: Collection[int]) -> Panel:
    """The panel, with a note at the counts without a picture."""
    if not undrawn:
        return panel
    subtitles, alts = (
        (text,) * len(counts) if isinstance(text, str) else text
        for text in (panel.subtitle, panel.alt)
    )
    gone = "no picture: the privacy losses are spread too widely"
    return replace(
        panel,
        subtitle=tuple(gone if k in undrawn else t for k, t in zip(counts, subtitles, strict=True)),
        alt=tuple(
            f"k = {k:,}: {gone}." if k in undrawn else text
            for k, text in zip(counts, alts, strict=True)
        ),
    )


def _held(prices: Prices) -> str:
    """At which delta, and who is protected."""
    return f"δ = {show_delta(prices.delta)}, {protects(prices.events[0].adjacency)}"


def _shown(prices: Prices) -> dict[str, Array]:
    """Epsilons, or amounts of noise where the budget is held."""
    unit = 1.0 if prices.epsilon is None else prices.unit
    return {slot: unit * values for slot, values in prices.values.items()}


def numbers_of(prices: Prices) -> dict[str, float]:
    """Title of each method -> its number at the first of the counts."""
    shown = _shown(prices)
    return {way.title: float(shown[way.slot][0]) for way in prices.ways}


def amount_of(prices: Prices) -> str:
    """What the numbers are amounts of."""
    return _value_label(prices).partition(" (")[0]


def _ghosts(prices: Prices, pinned: Mapping[str, Prices]) -> dict[str, tuple[float | None, ...]]:
    """The pinned lists' numbers, bar by bar, of those that count the same."""
    same = {
        n: numbers_of(pinned_prices)
        for n, pinned_prices in pinned.items()
        if amount_of(pinned_prices) == amount_of(prices)
    }
    return {
        name: tuple(
            float(f"{value:.5g}") if np.isfinite(value := numbers.get(way.title, np.nan)) else None
            for way in prices.ways
        )
        for name, numbers in same.items()
    }


def _bars_panel(prices: Prices, texts: Texts, pinned: Mapping[str, Prices]) -> Panel:
    shown, ghosts = _shown(prices), _ghosts(prices, pinned)
    marked = np.array([v for ghost in ghosts.values() for v in ghost if v is not None])
    counts = range(len(prices.counts))
    table = np.stack([shown[way.slot] for way in prices.ways], axis=1)
    labels = tuple(
        tuple(_label(prices, way, float(shown[way.slot][s])) for way in prices.ways) for s in counts
    )
    notes = tuple(tuple(_note(prices, way, s) for way in prices.ways) for s in counts)
    budget = prices.epsilon is not None
    what = "Noise needed" if budget else "Total ε"
    who = protects(prices.events[0].adjacency)
    held = f"δ = {show_delta(prices.delta)}"
    at = f"ε = {show(prices.epsilon or 0)}, " if budget else ""
    noise = f"noise {show(prices.unit)}, " if prices.unit != 1.0 and not budget else ""
    return Panel(
        id=BARS,
        title=what,
        subtitle=tuple(
            f"k = {k:,}, " + (f"{at}{held}" if budget else f"{noise}{held}, {who}")
            for k in prices.counts
        ),
        alt=tuple(
            f"{texts.counted(k)} at {at}{_held(prices)}: "
            + "; ".join(
                f"{way.title} {label}" for way, label in zip(prices.ways, labels[s], strict=True)
            )
            + "."
            + "".join(f" Pinned {name}: {_told(prices, ghost)}." for name, ghost in ghosts.items())
            for s, k in enumerate(prices.counts)
        ),
        x=Axis(
            f"{_value_label(prices)}, logarithmic",
            _range([*(shown[w.slot] for w in prices.ways), marked]),
            "log",
            _DECADES,
        ),
        y=Axis("composition method", (0.0, 1.0)),
        layers=(
            Bars(
                np.where(np.isfinite(table), table, np.nan),
                names=tuple(way.title for way in prices.ways),
                labels=labels,
                notes=notes,
                tips=tuple(way.refusal or TIPS[way.name] for way in prices.ways),
                colours=tuple(map(colour_of, prices.ways)),
                derivations=tuple(DERIVATIONS.get(way.name, ()) for way in prices.ways),
                dials=texts.dials,
                ghosts=ghosts,
            ),
        ),
        height=HEIGHT,
        bare=True,
    )


def _told(prices: Prices, ghost: Sequence[float | None]) -> str:
    """A pinned list's numbers in words."""
    pairs = zip(prices.ways, ghost, strict=True)
    finite = [f"{way.title} {show_bound(value)}" for way, value in pairs if value is not None]
    return "; ".join(finite) or "no bound"


def _label(prices: Prices, way: Way, value: float) -> str:
    """A bar's number, or in a few words why there is none."""
    if 0.0 < value < LEAST:
        return f"under {show(LEAST)}"
    if np.isfinite(value):
        return show_bound(value)
    if way.method is None:
        return "no theorem for these releases"
    if np.isinf(value) and prices.epsilon is not None:
        return "no amount of noise is enough"
    if np.isinf(value):
        return "δ is used up: no ε" if way.slot in ("basic", "advanced") else "no bound"
    return "working it out…" if way.slot in prices.waiting else "computed when you let go"


def _note(prices: Prices, way: Way, step: int) -> str:
    """Exact or upper bound; with its lower end where there is one."""
    value, low = prices.values[way.slot][step], prices.lowers[way.slot][step]
    if not np.isfinite(value):
        return ""
    kind = prices.bound_kind(way)
    if isinstance(way.method, MomentsAccountant) and prices.epsilon is None:
        highest = way.method.highest(prices.events)
        events = repeated(prices.events, prices.counts[step])
        if way.method.best_order(events, prices.delta) == highest:
            return f"cap of {highest} orders"
    if np.isfinite(low) and show_bound(float(low)) != show_bound(float(value)):
        return f"true ε at least {show_most(float(low))}"
    return kind


def _value_label(prices: Prices) -> str:
    held = f"δ = {show_delta(prices.delta)}"
    if prices.epsilon is None:
        return f"ε ({held})"
    what = "noise / sensitivity" if prices.unit != 1.0 else "noise scale factor"
    return f"{what} (ε = {show(prices.epsilon)}, {held})"


def _curve_panel(prices: Prices, texts: Texts) -> Panel:
    shown = _shown(prices)
    order = np.argsort(prices.counts)
    counts = np.array(prices.counts, dtype=float)
    curves: list[Layer] = []
    for way in prices.ways:
        values = np.where(np.isfinite(shown[way.slot]), shown[way.slot], np.nan)
        if not np.isfinite(values).any():
            continue
        colour = colour_of(way)
        finite = order[np.isfinite(values[order])]
        curves.append(
            Curve(
                counts[finite],
                values[finite],
                colour=colour,
                label=way.title,
                bold=way.slot == "exact",
                name=way.title,
            )
        )
    priced = [way for way in prices.ways if np.isfinite(shown[way.slot]).any()]
    cursors = (
        Cursor(counts, shown[way.slot], colour=colour_of(way), line=way is priced[0])
        for way in priced
    )
    ends = [end for way in prices.ways for end in _end(prices, way)]
    reasons = Spots(
        [x for x, _, _ in ends],
        [y for _, y, _ in ends],
        names=tuple(notes for *_, notes in ends),
        labels=tuple(notes for *_, notes in ends),
        colours=(),
    )
    budget = prices.epsilon is not None
    return Panel(
        id=CURVE,
        title="Noise against k" if budget else "ε against k",
        subtitle="more releases need more noise" if budget else "both axes logarithmic",
        alt=tuple(f"{len(curves)} composition methods; k is {k:,}." for k in prices.counts),
        x=Axis(
            f"number of {texts.repeats} k",
            (float(counts.min()), max(float(counts.max()), 2.0)),
            "log",
            _TICKS,
        ),
        y=Axis(_value_label(prices), _range([shown[way.slot] for way in prices.ways]), "log"),
        layers=(*curves, *cursors, *([reasons] if ends else [])),
        height=HEIGHT,
    )


def _end(prices: Prices, way: Way) -> list[tuple[float, float, str]]:
    """Where a curve stops before the longest list, and why; empty where it does not."""
    values = _shown(prices)[way.slot]
    order = np.argsort(prices.counts)
    finite = order[np.isfinite(values[order])]
    after = order[np.isposinf(values[order])]
    if not finite.size or not after.size or finite[-1] == order[-1]:
        return []
    count = prices.counts[finite[-1]]
    why = "δ is used up" if way.slot in ("basic", "advanced", "kov") else "no bound is computed"
    if prices.epsilon is not None:
        why = "no amount of noise is enough"
    return [(float(count), float(values[finite[-1]]), f"{way.title}: {why} beyond k = {count:,}")]


def _range(series: Sequence[Array]) -> tuple[float, float]:
    """A log range that holds the finite values, within reason."""
    values = np.concatenate(list(series))
    values = values[np.isfinite(values) & (values > 0.0)]
    if not len(values):
        return 0.1, 10.0
    low = max(float(values.min()), float(values.max()) * 1e-7)
    return low * 0.8, float(values.max()) * 1.25


def _picture_panels(picture: Picture, prices: Prices, count: int) -> tuple[Panel, ...]:
    match picture:
        case Profile():
            return (_profile_panel(picture, prices),)
        case Attack():
            return (_attack_panel(picture, prices),)
        case Loss():
            return (_loss_panel(picture, prices, count),)
        case Moments():
            return (_moments_panel(picture, prices, count),)
        case Orders():
            return (_orders_panel(picture, prices, count),)
        case Amplification():
            return _rates_panel(picture, prices, count), _row_panel(picture)


def _epsilon_range(picture: Profile) -> tuple[float, float]:
    """Where the curves are, without the far left end that only huge deltas reach."""
    low, high = _range(list(picture.epsilons.values()))
    return max(low, min(0.01, high / 10.0)), high


def _profile_panel(picture: Profile, prices: Prices) -> Panel:
    layers: list[Layer] = [Rule(prices.delta, f"δ of the bars: {show_delta(prices.delta)}")]
    for way in prices.ways:
        epsilons = picture.epsilons[way.slot]
        if np.isfinite(epsilons).any():
            deltas = np.broadcast_to(picture.deltas, epsilons.shape)
            layers.append(
                Curve(
                    epsilons,
                    np.where(np.isfinite(epsilons), deltas, np.nan),
                    colour=colour_of(way),
                    label=way.title,
                    bold=way.slot == "exact",
                    name=way.title,
                )
            )
    return Panel(
        id="profile",
        title="δ against ε",
        subtitle="the same releases satisfy a whole curve of (ε, δ) pairs",
        alt=tuple(
            f"At each ε, the smallest δ that each method proves for k = {k:,}."
            for k in prices.counts
        ),
        x=Axis("ε", _epsilon_range(picture), "log", _DECADES),
        y=Axis(
            "δ",
            (float(picture.deltas[0]), float(picture.deltas[-1])),
            "log",
            (1e-9, 1e-7, 1e-5, 1e-3, 1e-1),
        ),
        layers=tuple(layers),
        height=HEIGHT,
    )


def _attack_panel(picture: Attack, prices: Prices) -> Panel:
    alarms, misses = picture.false_alarms, picture.misses
    polygons = [
        Curve(*polygon(prices.values[way.slot], prices.delta), colour=colour_of(way),
              label=way.title, name=way.title)
        for way in prices.ways
        if prices.epsilon is None and np.isfinite(prices.values[way.slot]).any()
    ]  # fmt: skip
    at = [float(np.interp(0.05, alarms, row)) for row in misses]
    return Panel(
        id="attack",
        title="Trade-off function",
        subtitle=tuple(
            "each (ε, δ) pair allows every attack above its lines"
            if np.isfinite(row).any()
            else "working it out…"
            for row in misses
        ),
        alt=tuple(
            f"k = {k:,}: at 5% false alarms, at least {show_most(100.0 * m)}% misses; blind "
            "guessing misses 95%."
            if np.isfinite(m)
            else f"k = {k:,}: not computed yet."
            for k, m in zip(prices.counts, at, strict=True)
        ),
        x=Axis("false alarms (share)", (0.0, 1.0)),
        y=Axis("misses (share)", (0.0, 1.0)),
        layers=(
            Curve([0.0, 1.0], [1.0, 0.0], colour=5, label="blind guess", name="blind guess"),
            *polygons,
            Curve(
                np.broadcast_to(alarms, misses.shape),
                misses,
                colour=None,
                dash=0,
                label="the mechanism",
                bold=True,
                name="the mechanism",
            ),
        ),
        height=HEIGHT,
    )


def polygon(epsilons: Array, delta: float) -> tuple[Array, Array]:
    """Corners ``(S, 3)`` of the trade-off that each (epsilon, delta) allows: false alarms, misses.

    Source: Wasserman, Zhou 2010: misses >= 1 - delta - e^epsilon a and e^-epsilon (1 - delta - a).

    >>> polygon(np.array([0.0]), 0.2)[0].round(2)
    array([[0. , 0.4, 0.8]])
    """
    finite = np.where(np.isfinite(epsilons), np.minimum(epsilons, 40.0), np.nan)
    middle = (1.0 - delta) / (1.0 + np.exp(finite))
    end = np.where(np.isfinite(middle), 1.0 - delta, np.nan)
    nothing = np.where(np.isfinite(middle), 0.0, np.nan)
    return np.stack([nothing, middle, end], axis=1), np.stack([end, middle, nothing], axis=1)


def _moments_panel(picture: Moments, prices: Prices, count: int) -> Panel:
    """alpha(lambda), and the line from ln delta of slope epsilon, which touches it."""
    orders, foot, steps = picture.orders, float(np.log(prices.delta)), range(len(prices.counts))
    slopes = (picture.moments - foot) / orders
    best = np.argmin(slopes, axis=1)
    epsilons = slopes[steps, best]
    now = int(best[prices.counts.index(count)])
    far = float(min(orders[-1], max(8.0, 4.0 * orders[now])))
    ends = np.array([0.0, far])
    touch = picture.moments[steps, best]
    top = 3.0 * max(-foot, float(touch[prices.counts.index(count)]))
    sentences = [
        f"λ = {orders[best[s]]:.0f}: (α(λ) + ln(1/δ)) / λ = {show_bound(float(epsilons[s]))}"
        for s in steps
    ]
    return Panel(
        id="moments",
        title="Moments accountant",
        subtitle=tuple(sentences),
        alt=tuple(
            f"k = {k:,}: the line of slope ε from ln δ touches the log moments at {text}."
            for k, text in zip(prices.counts, sentences, strict=True)
        ),
        x=Axis("moment λ (a whole number)", (0.0, far)),
        y=Axis("log moment α(λ)", (1.15 * foot, top)),
        layers=(
            Curve(
                orders, picture.moments, colour=COLOURS["ma"], label="α(λ)", bold=True, name="α(λ)"
            ),
            Curve(
                ends,
                foot + np.multiply.outer(epsilons, ends),
                colour=6,
                label=tuple(f"slope ε = {show_bound(float(e))}" for e in epsilons),
                name="line of slope ε",
            ),
            Spots([0.0], [foot], names=("ln δ",), labels=(f"ln δ = −{show(-foot)}",), colours=()),
            Cursor(orders[best], touch, colour=COLOURS["ma"]),
        ),
        height=HEIGHT,
        film=True,
    )


def _orders_panel(picture: Orders, prices: Prices, count: int) -> Panel:
    """epsilon at every order with the best one, over the divergence; zCDP is a straight line."""
    alphas, steps = picture.alphas, range(len(prices.counts))
    safe = np.where(np.isfinite(picture.epsilons), picture.epsilons, np.inf)
    best = np.argmin(safe, axis=1)
    least = np.maximum(safe[steps, best], 1e-12)
    now = prices.counts.index(count)
    sentences = [
        f"best order α = {show(float(alphas[best[s]]))}: ε = {show_bound(float(least[s]))}"
        for s in steps
    ]
    lines = [
        Curve(
            alphas,
            np.multiply.outer(picture.rho, alphas),
            colour=COLOURS["zcdp"],
            label="zCDP: ρα",
            name="zCDP: ρα",
        )
    ]
    low = max(
        float(np.nanmin(np.where(picture.divergences[now] > 0, picture.divergences[now], np.nan))),
        1e-9,
    )
    return Panel(
        id="orders",
        title="Rényi curve",
        subtitle=tuple(sentences),
        alt=tuple(f"k = {k:,}: {text}." for k, text in zip(prices.counts, sentences, strict=True)),
        x=Axis("order α", (float(alphas[0]), float(alphas[-1])), "log"),
        y=Axis(
            f"τ(α), and ε(α) at δ = {show_delta(prices.delta)}",
            (0.8 * low, max(30.0 * float(least[now]), 2.0 * low)),
            "log",
            _DECADES,
        ),
        layers=(
            Curve(
                alphas,
                np.where(picture.divergences > 0.0, picture.divergences, np.nan),
                colour=COLOURS["rdp"],
                dash=3,
                label="Rényi: τ(α)",
                name="Rényi divergence τ(α)",
            ),
            *(lines if np.isfinite(picture.rho).any() else []),
            Curve(
                alphas,
                np.where(safe > 0.0, safe, np.nan),
                colour=COLOURS["rdp"],
                label="Rényi: ε(α)",
                bold=True,
                name="ε(α)",
            ),
            Cursor(alphas[best], least, colour=COLOURS["rdp"]),
        ),
        height=HEIGHT,
        film=True,
    )


def _rates_panel(picture: Amplification, prices: Prices, count: int) -> Panel:
    """epsilon against the sampling rate: a smaller sample hides who was in it."""
    steps, names = range(len(prices.counts)), {"rdp": "Rényi", "ma": "Moments accountant"}
    now = prices.counts.index(count)
    least = picture.epsilons["rdp"]
    sentences = [f"1% samples: ε = {show_bound(float(least[s][_percent(picture)]))}" for s in steps]
    window = _range([rows[now] for rows in picture.epsilons.values()])
    return Panel(
        id="amplification",
        title="Amplification by sampling",
        subtitle=tuple(sentences),
        alt=tuple(
            f"k = {k:,} on Poisson samples: {text}; without sampling {show_bound(float(row[-1]))}."
            for k, text, row in zip(prices.counts, sentences, least, strict=True)
        ),
        x=Axis("Poisson sampling rate q (add or remove a row)", (1e-3, 1.0), "log", _SHARES),
        y=Axis(
            f"ε (δ = {show_delta(prices.delta)})",
            window,
            "log",
        ),
        layers=(
            *(
                Curve(
                    picture.rates,
                    np.where(rows > 0.0, rows, np.nan),
                    colour=COLOURS[name],
                    label=names[name],
                    bold=name == "rdp",
                    name=names[name],
                )
                for name, rows in picture.epsilons.items()
            ),
            *_floor(picture, prices.delta, window),
        ),
        height=HEIGHT,
        film=True,
    )


def _floor(picture: Amplification, delta: float, window: tuple[float, float]) -> list[Layer]:
    """The least epsilon that the moments accountant proves on samples, however small, if in view:
    ln(1/delta) over its highest order.
    """
    orders = picture.orders
    least = -np.log(delta) / orders
    if not window[0] <= least <= window[1]:
        return []
    return [Rule(least, f"cap of {orders} orders", side="right")]


def _row_panel(picture: Amplification) -> Panel:
    """What a smaller sample costs: the noise is shared by fewer rows."""
    noise = picture.noise / picture.rates
    return Panel(
        id="row",
        title="Noise per sampled row",
        subtitle="the same noise on a sum of qn rows is 1/q times as much per row",
        alt=f"Of all rows: {show(noise[-1])}; on samples of 0.1%: {show(noise[0])}.",
        x=Axis("sampling rate q", (1e-3, 1.0), "log", _SHARES),
        y=Axis("noise per row, times n", _range([noise]), "log", _DECADES),
        layers=(Curve(picture.rates, noise, colour=0, label="σ / q", name="σ / q"),),
        width="full",
    )


def _percent(picture: Amplification) -> int:
    """Which rate is 1%."""
    return int(np.argmin(np.abs(np.log(picture.rates / 0.01))))


def _loss_panel(picture: Loss, prices: Prices, count: int) -> Panel:
    """The density of the current count, over those of shorter and longer lists, and its tail."""
    counts = prices.counts
    ready = [s for s in range(len(counts)) if np.isfinite(picture.losses[s]).any()]
    longest = max(count, _FILM)
    held = (
        sorted(
            (s for s in ready if longest / _FILM <= counts[s] <= longest), key=counts.__getitem__
        )
        or ready
    )
    low, high, top = _extent(picture, counts, held)
    bumps = [s for s in held if counts[s] in _BUMPS]
    sides = [_side(picture.density[s]) for s in bumps]
    window = (picture.epsilons > max(low, 0.0)) & (picture.epsilons <= high)
    deltas = picture.deltas[:, window]
    return Panel(
        id="loss",
        title="The privacy loss",
        subtitle=tuple(_moments(picture, prices, s) for s in range(len(counts))),
        alt=tuple(_tail_text(picture, prices, s, window) for s in range(len(counts))),
        x=Axis("privacy loss L = ln P(x|D) / P(x|D′)", (low, high)),
        y=Axis("density (strong: the part that counts towards δ)", (0.0, 1.08 * top)),
        layers=(
            *(
                Curve(picture.losses[s], picture.density[s], colour=5, name=f"k = {counts[s]:,}")
                for s in bumps
            ),
            Spots(
                [picture.losses[s][at] for s, at in zip(bumps, sides, strict=True)],
                [picture.density[s][at] for s, at in zip(bumps, sides, strict=True)],
                names=tuple(f"k = {counts[s]:,}" for s in bumps),
                labels=tuple(f"k = {counts[s]:,}" for s in bumps),
                colours=(),
                side="left",
            ),
            Curve(
                picture.losses,
                picture.density,
                colour=0,
                bold=True,
                name="current k",
            ),
            Tail(
                picture.losses,
                picture.density,
                picture.epsilons[window],
                _rounded_up(deltas),
                start=[_start(picture, s, window) for s in range(len(counts))],
            ),
        ),
        height=HEIGHT,
        film=True,
    )


def _side(density: Array) -> int:
    """Where the left side of a density has three quarters of its height: there, what is written to
    its left lies above the rising curve and not on it, and the line of the tail is to its right."""
    return int(np.flatnonzero(density >= 0.75 * np.nanmax(density))[0])


def _extent(
    picture: Loss, counts: Sequence[int], held: Sequence[int]
) -> tuple[float, float, float]:
    """Lowest and highest loss of some counts, and a density above which only the first ones are."""
    if not held:
        return -1.0, 1.0, 1.0
    losses = picture.losses[list(held)]
    low, high = float(np.nanmin(losses)), float(np.nanmax(losses))
    tall = next(s for s in held if counts[s] >= counts[held[-1]] / _CUT)
    top = float(np.nanmax(picture.density[tall]))
    return low, max(high, low + 1e-6), top or 1.0


def _start(picture: Loss, step: int, window: Mask) -> float:
    """The first epsilon in view that is a standard deviation above the mean of the loss, where the
    tail has an area that can be seen; NaN where there is none.
    """
    losses, density = picture.losses[step], picture.density[step]
    mean = np.trapezoid(losses * density, losses)
    spread = np.sqrt(np.trapezoid((losses - mean) ** 2 * density, losses))
    beyond = np.flatnonzero(window & (picture.epsilons >= mean + spread))
    return float(picture.epsilons[beyond[0]]) if beyond.size else np.nan


def _rounded_up(values: Array) -> Array:
    """Numbers with three figures, none smaller than it was; 1e-20 for all below it but 0."""
    size = np.where(values > 0.0, np.maximum(values, 1e-20), 1.0)
    unit = 10.0 ** (np.floor(np.log10(size)) - 2.0)
    up = np.ceil(size / unit * (1.0 - 1e-12)) * unit
    return np.asarray(np.where(values > 0.0, up, values))


def _moments(picture: Loss, prices: Prices, step: int) -> str:
    """What a picture says beside its title: how far the density has moved."""
    if not np.isfinite(picture.losses[step]).any():
        return "working it out…"
    k = f"k = {prices.counts[step]:,}"
    if not all_gaussian(prices.events):
        return f"{k}: convolved {prices.counts[step] - 1:,} times"
    mu2 = prices.counts[step] * float(total_mu(prices.events)) ** 2
    return f"{k}: mean {show(0.5 * mu2)}, variance {show(mu2)}"


def _tail_text(picture: Loss, prices: Prices, step: int, window: Mask) -> str:
    """The picture in words."""
    k, epsilon = prices.counts[step], _start(picture, step, window)
    if np.isnan(epsilon):
        return f"Density of the privacy loss at k = {k:,}."
    delta = float(picture.deltas[step][picture.epsilons == epsilon][0])
    return (
        f"Density of the privacy loss at k = {k:,}: the weighted tail "
        f"beyond ε = {show(epsilon)} has the area δ = {show_delta(delta)}."
    )
