"""Questions to the accountants, as JSON records or options, and their answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from dpcore.accounting import (
    ACCOUNTANTS,
    Accountant,
    accountant,
    calibrate,
    compose,
    most_repeats,
)
from dpcore.accounting.base import scaled
from dpcore.checks import nonnegative, one_of, positive, probability, whole
from dpcore.errors import DPCoreError, InputError
from dpcore.privacy.adjacency import ADJACENCIES
from dpcore.privacy.events import (
    DiscreteGaussian,
    EpsilonDelta,
    Event,
    Gaussian,
    Laplace,
    Mechanism,
)

MECHANISMS = ("gaussian", "laplace", "discrete_gaussian", "epsilon_delta")
_NOISE = {
    "gaussian": "noise_multiplier",
    "discrete_gaussian": "noise_multiplier",
    "laplace": "scale",
}
_OWNERS = {"l2_ratio": "laplace", "steps": "discrete_gaussian", "noise_steps": "discrete_gaussian"}
SAMPLINGS = ("none", "poisson", "without_replacement")
SOLVABLE = ("noise_multiplier", "count")
MOST_COUNT = 10**12  # of one event; beyond it an answer takes minutes
CONVERSIONS = ("classic", "best")
HIGHEST_LAMBDA = 1_000_000
_CONVERSIONS = {"wbk9": CONVERSIONS, "wbk27": CONVERSIONS, "ma": ("classic",), "rdp": ("best",)}
_FIELDS = {
    "mechanism", "noise_multiplier", "scale", "l2_ratio", "steps", "noise_steps", "epsilon",
    "delta_each", "sampling", "sampling_rate", "count", "group", "parallel", "adjacency",
}  # fmt: skip
_REMARKS = {"what", "noise_scale", "sensitivity", "proof"}  # what a fit's ledger says besides


def answer(question: Any) -> dict[str, Any]:
    """One answer, or ``{"error": sentence}``."""
    try:
        return ask(question)
    except DPCoreError as error:
        return {"error": str(error)}


def answers(questions: Sequence[Any]) -> list[dict[str, Any]]:
    """Answers in order; raises what is wrong with the first where none can be answered."""
    results = [answer(question) for question in questions]
    if questions and all("error" in result for result in results):
        ask(questions[0])
    return results


def ask(question: Any) -> dict[str, Any]:
    """A bound; the smallest noise or the most repeats where the question says ``solve``.

    Raises InputError.
    """
    if not isinstance(question, dict):
        raise InputError("question", "it is not an object", "give events, delta and method")
    delta = _delta(question)
    method = _method(question)
    records = _records(question)
    adjacency = adjacency_of(question, records)
    solve = question.get("solve")
    if solve is None:
        return _cost([event(record, adjacency) for record in records], delta, method)
    one_of("solve", solve, SOLVABLE)
    if solve == "count":
        return _most(question, [event(record, adjacency) for record in records], delta, method)
    events = [event(record, adjacency, solving=True) for record in records]
    return _least_noise(question, events, delta, method)


def adjacency_of(question: dict[str, Any], records: Sequence[Any]) -> str:
    """The question's adjacency; where it names none, that of its first event that does."""
    stated = [record.get("adjacency") for record in records if isinstance(record, dict)]
    first = next((adjacency for adjacency in stated if adjacency is not None), "replace_one")
    chosen = question.get("adjacency")
    return one_of("adjacency", first if chosen is None else chosen, ADJACENCIES)


def _cost(events: Sequence[Event], delta: float, method: Accountant) -> dict[str, Any]:
    """The epsilon of the events, with what a reader needs to judge it."""
    bound = compose(events, method, delta=delta)
    return {
        "epsilon": float(bound.epsilon),
        "lower": None if bound.lower is None else float(bound.lower),
        "kind": bound.kind,
        "assumptions": list(bound.assumptions),
        "source": bound.source,
    }


def _least_noise(
    question: dict[str, Any], events: Sequence[Event], delta: float, method: Accountant
) -> dict[str, Any]:
    """The smallest noise that meets the budget, and the epsilon it gives."""
    epsilon = _budget(question)
    if not events:
        raise InputError(
            "events",
            "there are no events whose noise could be solved for",
            "give at least one event",
        )
    stated = [noise_of_event(event) for event in events]
    factor = float(calibrate(events, epsilon, delta, method))
    reached = _cost(scaled(events, factor), delta, method)
    noises = [factor * noise for noise in stated]
    return {"noise_multiplier": noises[0], "noise_multipliers": noises, **reached}


def _most(
    question: dict[str, Any], events: Sequence[Event], delta: float, method: Accountant
) -> dict[str, Any]:
    """How often all events may be repeated within the budget, and the epsilon they cost then."""
    epsilon = _budget(question)
    if not any(event.count for event in events):
        raise InputError("events", "there are no events to repeat", "give at least one event")
    count = most_repeats(events, epsilon, delta, method)
    repeats = [replace(event, count=event.count * count) for event in events]
    return {"count": count, **_cost(repeats, delta, method)}


def _budget(question: dict[str, Any]) -> float:
    if question.get("epsilon") is None:
        raise InputError("epsilon", "none was given", "give the budget")
    return positive("epsilon", question["epsilon"])


def _method(question: dict[str, Any]) -> Accountant:
    name = one_of("method", question.get("method", "exact"), ACCOUNTANTS)
    conversion = question.get("conversion")
    if conversion is not None:
        return _converted(name, conversion, question)
    cap = question.get("max_lambda")
    if cap is None:
        return accountant(name)
    if name != "ma":
        raise InputError("max_lambda", f"method {name} has no highest order", "leave it out")
    from dpcore.accounting.moments import MomentsAccountant

    return MomentsAccountant(max_lambda=whole("max_lambda", cap, most=HIGHEST_LAMBDA))


def _converted(name: str, conversion: Any, question: dict[str, Any]) -> Accountant:
    """The method with the asked way from moments to (epsilon, delta), where it has that way."""
    ways = _CONVERSIONS.get(name)
    if ways is None:
        raise InputError(
            "conversion", f"method {name} has no choice of conversions", "leave it out"
        )
    if one_of("conversion", conversion, CONVERSIONS) not in ways:
        raise InputError(
            "conversion",
            f"method {name} has only the {ways[0]} conversion",
            "leave it out, or choose method wbk27 (both), ma (classic) or rdp (best)",
        )
    plain = _method({name: value for name, value in question.items() if name != "conversion"})
    if len(ways) == 1:
        return plain
    return replace(plain, conversion=conversion)  # type: ignore[type-var]


def _delta(question: dict[str, Any]) -> float:
    delta = nonnegative("delta", question.get("delta", 0.0))
    return 0.0 if delta == 0.0 else probability("delta", delta)


def _records(question: dict[str, Any]) -> Sequence[dict[str, Any]]:
    events = question.get("events")
    if not isinstance(events, list):
        raise InputError("events", "there is no list of events", "give a list, which may be empty")
    return events


def event(record: Any, adjacency: str, *, solving: bool = False) -> Event:
    """An event from its record; while solving, noise that is not given counts as 1. Raises
    InputError for a field that no event has and for values that it cannot have."""
    if not isinstance(record, dict):
        raise InputError("event", "it is not an object", "give one with mechanism, noise and count")
    unknown = sorted(set(record) - _FIELDS - _REMARKS)
    if unknown:
        raise InputError(
            "event", f"{unknown[0]!r} is not known", "use " + ", ".join(sorted(_FIELDS))
        )
    stated = {name: value for name, value in record.items() if value is not None}
    fields = {"steps": None, **stated} if "steps" in record else stated  # None: of a vector
    if fields.get("adjacency", adjacency) != adjacency:
        raise InputError(
            "adjacency",
            "an event's adjacency differs from the question's",
            "give all events and the question the same adjacency",
        )
    sampling = one_of("sampling", fields.get("sampling", "none"), SAMPLINGS)
    black_box = fields.get("mechanism") == "epsilon_delta"
    return Event(
        _mechanism(fields, solving),
        count=whole("count", fields.get("count", 1), least=0, most=MOST_COUNT),
        delta_each=None if black_box else fields.get("delta_each"),
        sampling=sampling,  # type: ignore[arg-type]  # checked just above
        sampling_rate=_rate(fields, sampling),
        group=None if fields.get("group") is None else str(fields["group"]),
        parallel=fields.get("parallel", False),
        adjacency=adjacency,
    )


def _rate(record: dict[str, Any], sampling: str) -> float:
    if "sampling_rate" not in record and sampling != "none":
        raise InputError("sampling_rate", "none was given", "give the sampled share of the rows")
    return positive("sampling_rate", record.get("sampling_rate", 1.0))


def _mechanism(record: dict[str, Any], solving: bool) -> Mechanism:
    kind = one_of("mechanism", record.get("mechanism"), MECHANISMS)
    field = _NOISE.get(kind, "epsilon")
    for other in {"noise_multiplier", "scale", "epsilon"} - {field}:
        if other in record:
            raise InputError(other, f"{kind} events have none", f"give {field}")
    for other, owner in _OWNERS.items():
        if other in record and kind != owner:
            raise InputError(other, f"{kind} events have none", f"leave it out, or say {owner}")
    value = record.get(field, 1.0 if solving and kind != "epsilon_delta" else None)
    if value is None:
        raise InputError(field, "none was given", f"give the {field} of the {kind} event")
    amount = nonnegative(field, value)
    if kind == "gaussian":
        return Gaussian(amount)
    if kind == "discrete_gaussian":
        fine = record.get("noise_steps")
        return DiscreteGaussian(amount, record.get("steps", 1 if fine is None else None), fine)
    if kind == "laplace":
        return Laplace(amount, positive("l2_ratio", record.get("l2_ratio", 1.0)))
    delta = nonnegative("delta_each", record.get("delta_each", 0.0))
    return EpsilonDelta(amount, 0.0 if delta == 0.0 else probability("delta_each", delta))


def noise_of_event(event: Event) -> float:
    """The noise that is solved for; raises InputError for a black box."""
    match event.mechanism:
        case Gaussian(noise_multiplier=noise) | DiscreteGaussian(noise_multiplier=noise):
            return float(noise)
        case Laplace(scale=noise):
            return float(noise)
    raise InputError(
        "solve",
        "an epsilon_delta event has no noise to solve for",
        "describe its mechanism instead",
    )


def methods(text: str) -> list[str]:
    """Method names with commas between them, or ``all``. Raises InputError for a name that is not
    registered."""
    if text.strip() == "all":
        return list(ACCOUNTANTS)
    names = [word.strip() for word in text.split(",") if word.strip()]
    if not names:
        raise InputError("method", "none was named", "name one or more, or all")
    return [one_of("method", name, ACCOUNTANTS) for name in names]


def by_each_method(
    names: Sequence[str], question: Callable[[str], dict[str, Any]]
) -> list[dict[str, Any]]:
    """A question's answers by several methods, each with the method's name."""
    results = answers([question(name) for name in names])
    return [{"method": name, **result} for name, result in zip(names, results, strict=True)]
