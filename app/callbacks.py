"""Callbacks of widgets that come to their end."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

from streamlit.runtime.scriptrunner import RerunException

Args = ParamSpec("Args")
TRIES = 10  # each is broken off by one more request of the browser


def unbroken(callback: Callable[Args, None]) -> Callable[Args, None]:
    """The callback, which has to be one that can be repeated, done to its end.

    Whenever a callback reads or writes the session, Streamlit looks whether the browser has asked
    for something else meanwhile, and if so breaks it off: what the reader chose would be forgotten,
    and the slider would spring back. So the callback is called again; what the browser asked for
    follows after it.
    """

    @wraps(callback)
    def repeated(*words: Args.args, **named: Args.kwargs) -> None:
        broken_off: RerunException | None = None
        for _ in range(TRIES):
            try:
                callback(*words, **named)
            except RerunException as request:
                broken_off = request
            else:
                break
        if broken_off is not None:
            raise broken_off

    return repeated
