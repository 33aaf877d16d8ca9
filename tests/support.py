"""What tests may need from outside the checkout, and whether its absence skips or fails.

``DPCORE_REQUIRE=data,browser,node`` turns the skips into failures.
"""

from __future__ import annotations

import ast
import inspect
import os
from collections.abc import Callable, Iterable, Sequence
from functools import cache, wraps
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent


@cache
def syntax(path: Path) -> ast.Module:
    """The syntax tree of a file, parsed once in a process."""
    return ast.parse(path.read_text(encoding="utf-8"))


def require(what: str, found: bool, reason: str) -> None:
    """Go on if found; otherwise skip with the reason, or fail where ``what`` is required."""
    if found:
        return
    if what in os.environ.get("DPCORE_REQUIRE", "").split(","):
        pytest.fail(reason)
    pytest.skip(reason)


def examples(number: int) -> settings:
    """So many examples of a property; of the quick lane the share that its profile gives."""
    most = settings.get_profile("thorough").max_examples
    return settings(max_examples=max(5, number * settings().max_examples // most))


def split_lanes(names: str, cases: Iterable[Any], *, merge: int) -> pytest.MarkDecorator:
    """``pytest.mark.parametrize`` for slow cases: the first ``merge`` of them are met in the merge
    lane, the others in the full lane."""
    lanes = [pytest.mark.merge] * merge
    return pytest.mark.parametrize(
        names,
        [
            pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=lane)
            for case, lane in zip_longest(cases, lanes, fillvalue=pytest.mark.full)
        ],
    )


def every(names: str, cases: Iterable[Any]) -> Callable[..., Any]:
    """``pytest.mark.parametrize`` as one test: it runs every case, and says which of them fail.

    For quick cases that skip nothing. Each gets a ``monkeypatch`` of its own; other fixtures are
    shared by all.
    """
    words = names.split(", ")
    named = type(pytest.param())
    plain = (case.values if isinstance(case, named) else case for case in cases)
    values = [tuple(case) if len(words) > 1 else (case,) for case in plain]
    assert values, "there is no case"

    def once(test: Callable[..., None]) -> Callable[..., None]:
        @wraps(test)
        def run(**fixtures: Any) -> None:
            errors: list[Exception] = []
            for case in values:
                with pytest.MonkeyPatch.context() as patch:
                    fresh = {"monkeypatch": patch} if "monkeypatch" in fixtures else {}
                    try:
                        test(**{**fixtures, **fresh, **dict(zip(words, case, strict=True))})
                    except (Exception, pytest.fail.Exception) as error:
                        failed = error if isinstance(error, Exception) else AssertionError(error)
                        failed.add_note(f"case: {', '.join(map(repr, case))}")
                        errors.append(failed)
            if errors:
                raise ExceptionGroup(f"{len(errors)} of {len(values)} cases", errors)

        known = inspect.signature(test)
        others = [one for name, one in known.parameters.items() if name not in words]
        run.__signature__ = known.replace(parameters=others)  # type: ignore[attr-defined]
        return run

    return once


def shared(name: str) -> Path:
    """A file of the folder ``shared`` beside the checkout (or at ``DPCORE_SHARED``)."""
    home = Path(os.environ.get("DPCORE_SHARED", ROOT.parent / "shared"))
    path = home / name
    require("data", path.exists(), f"benchmark data {name} is not beside the checkout")
    return path


def shared_data(name: str) -> Path:
    """A benchmark data set."""
    return shared(f"data/{name}")


def keeps_up(seen: Sequence[dict[str, Any]], began: float) -> float:
    """Updates a second of a drag, from what the page saw of it (``time`` and ``ms`` of each).

    There are 20 and more; where a busy machine moves the mouse too slowly for that, drawing takes
    less than half of the time, so that it is not what the hand waits for.
    """
    milliseconds = seen[-1]["time"] - began
    rate: float = 1000 * len(seen) / milliseconds
    drawing = sum(one["ms"] for one in seen) / milliseconds
    print(f"{len(seen)} updates, {rate:.0f} a second, drawing {drawing:.0%} of the time")
    assert rate >= 20 or drawing < 0.5
    return rate
