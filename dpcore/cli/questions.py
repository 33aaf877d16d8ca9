"""Questions to the accountants, as JSON records or options, and their answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpcore.accounting import ACCOUNTANTS, Accountant, accountant, calibrate, compose
from dpcore.checks import one_of, positive, probability, whole
from dpcore.errors import DPCoreError, InputError
from dpcore.privacy.adjacency import ADJACENCIES
from dpcore.privacy.events import EpsilonDelta, Event, Gaussian, Laplace, Mechanism

_FIELDS = {
    "mechanism", "noise_multiplier", "scale", "l2_ratio", "epsilon", "delta_each", "sampling",
    "sampling_rate", "count", "group", "parallel",
}  # fmt: skip


def answer(question: Any) -> dict[str, Any]:
    """One answer, or ``{"error": sentence}``."""
    try:
        return ask(question)
    except DPCoreError as error:
        return {"error": str(error)}


def answers(questions: Sequence[Any]) -> list[dict[str, Any]]:
    """Answers in order; a question that stands alone raises what is wrong with it."""
    return [ask(questions[0])] if len(questions) == 1 else [answer(q) for q in questions]


def ask(question: Any) -> dict[str, Any]:
    """A bound, or the smallest noise where the question says ``solve``; raises InputError."""
    if not isinstance(question, dict):
        raise InputError("question", "it is not an object", "give events, delta and method")
    delta = _delta(question)
    method = _method(question)
    one_of("adjacency", question.get("adjacency", "replace_one"), ADJACENCIES)
    solve = question.get("solve")
    events = [event(record, solving=solve is not None) for record in _events(question)]
    if solve is None:
        bound = compose(events, method, delta=delta)
        return {
            "epsilon": float(bound.epsilon),
            "lower": None if bound.lower is None else float(bound.lower),
            "kind": bound.kind,
            "assumptions": list(bound.assumptions),
            "source": bound.source,
        }
    one_of("solve", solve, ("noise_multiplier",))
    epsilon = positive("epsilon", question.get("epsilon"))
    factor = float(calibrate(events, epsilon, delta, method))
    noises = [factor * float(_noise(e.mechanism)) for e in events]
    return {
        "noise_multiplier": noises[0],
        "noise_multipliers": noises,
        "kind": method.kind,
        "assumptions": list(method.assumptions),
        "source": method.source,
    }


def _method(question: dict[str, Any]) -> Accountant:
    name = one_of("method", question.get("method", "exact"), ACCOUNTANTS)
    cap = question.get("max_lambda")
    if cap is None:
        return accountant(name)
    if name != "ma":
        raise InputError("max_lambda", f"method {name} has no such cap", "leave it out")
    from dpcore.accounting.moments import MomentsAccountant

    return MomentsAccountant(max_lambda=whole("max_lambda", cap))


def _delta(question: dict[str, Any]) -> float:
    delta = question.get("delta", 0.0)
    return 0.0 if delta == 0 else probability("delta", delta)


def _events(question: dict[str, Any]) -> Sequence[dict[str, Any]]:
    events = question.get("events")
    if not isinstance(events, list):
        raise InputError("events", "there is no list of events", "give a list, possibly empty")
    return events


def event(record: dict[str, Any], *, solving: bool = False) -> Event:
    """An event from its record; while solving, noise that is not given counts as 1."""
    if not isinstance(record, dict):
        raise InputError("event", "it is not an object", "give mechanism, noise and count")
    unknown = set(record) - _FIELDS
    if unknown:
        raise InputError(
            "event", f"{sorted(unknown)[0]!r} is not known", "use " + ", ".join(sorted(_FIELDS))
        )
    sampling = one_of(
        "sampling", record.get("sampling", "none"), ("none", "poisson", "without_replacement")
    )
    each = record.get("delta_each")
    if each is not None:
        probability("delta_each", each)
    return Event(
        _mechanism(record, solving),
        count=whole("count", record.get("count", 1), least=0),
        delta_each=None if record.get("mechanism") == "epsilon_delta" else each,
        sampling=sampling,  # type: ignore[arg-type]  # checked just above
        sampling_rate=float(record.get("sampling_rate", 1.0)),
        group=record.get("group"),
        parallel=bool(record.get("parallel", False)),
    )


def _mechanism(record: dict[str, Any], solving: bool) -> Mechanism:
    kind = one_of("mechanism", record.get("mechanism"), ("gaussian", "laplace", "epsilon_delta"))
    if kind == "epsilon_delta":
        delta = record.get("delta_each", 0.0)
        return EpsilonDelta(
            positive("epsilon", record.get("epsilon")), 0.0 if delta == 0 else float(delta)
        )
    field = "noise_multiplier" if kind == "gaussian" else "scale"
    noise = record.get(field, 1.0 if solving else None)
    if noise is None:
        raise InputError(field, "none was given", "give the noise divided by the sensitivity")
    amount = 0.0 if noise == 0 else positive(field, noise)
    if kind == "gaussian":
        return Gaussian(amount)
    return Laplace(amount, float(record.get("l2_ratio", 1.0)))


def _noise(mechanism: Mechanism) -> Any:
    match mechanism:
        case Gaussian(noise_multiplier=noise) | Laplace(scale=noise):
            return noise
        case EpsilonDelta():
            raise InputError(
                "solve", "a black box has no noise to solve for", "describe the mechanism"
            )


def methods(text: str) -> list[str]:
    """Method names with commas between them, or ``all``."""
    if text == "all":
        return list(ACCOUNTANTS)
    names = [word.strip() for word in text.split(",") if word.strip()]
    for name in names:
        one_of("method", name, ACCOUNTANTS)
    return names
