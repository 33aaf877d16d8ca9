"""Callbacks of widgets that are not cut short by the next request of the browser."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

from streamlit.runtime.scriptrunner import RerunException

Args = ParamSpec("Args")
TRIES = 10  # each is interrupted by one more request of the browser


def unbroken(callback: Callable[Args, None]) -> Callable[Args, None]:
    """A callback that runs to its end; it must be safe to repeat.

    Whenever a callback reads or writes the session, Streamlit checks whether the browser has sent
    another request, and if so interrupts the callback: the reader's choice would be lost, and the
    slider would spring back. So the callback is called again; the other request is served after it.
    """

    @wraps(callback)
    def repeated(*words: Args.args, **named: Args.kwargs) -> None:
        interruption: RerunException | None = None
        for _ in range(TRIES):
            try:
                callback(*words, **named)
            except RerunException as request:
                interruption = request
            else:
                break
        if interruption is not None:
            raise interruption

    return repeated
