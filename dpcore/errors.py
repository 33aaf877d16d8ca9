"""What can go wrong, and what to do about it.

::

    DPCoreError
    ├── InputError        bad input: names the field, what was found, the remedy (exit code 2)
    │   └── NotCovered    a method asked about a mechanism it has no theorem for; names one that has
    ├── BudgetExceeded    the budget does not allow the release (exit code 3)
    ├── ReplayError       a ledger does not give the epsilon that stands beside it
    └── WallError         code tried to take rows past the wall
        └── RowError      a model's function of rows failed

No message ever holds a value or a count of the data.
"""

from __future__ import annotations

from typing import Any


class DPCoreError(Exception):
    """Base of every error this package raises on purpose."""

    exit_code = 1


class InputError(DPCoreError, ValueError):
    """Bad input in one sentence: ``field: problem; remedy.``

    >>> str(InputError("epsilon", "0 is not above 0", "give a positive number, for example 1"))
    'epsilon: 0 is not above 0; give a positive number, for example 1.'
    """

    exit_code = 2

    def __init__(self, field: str, problem: str, remedy: str) -> None:
        self.field, self.problem, self.remedy = field, problem, remedy
        text = f"{field}: {problem}; {remedy}."  # a value in it may be a page of numbers
        super().__init__(text if len(text) <= 1000 else f"{text[:500]} [...] {text[-500:]}")

    def __reduce__(self) -> tuple[Any, ...]:
        """As its message and its parts; from a message alone it cannot be made again, and a pool of
        processes would wait for it for ever."""
        return type(self).__new__, (type(self), *self.args), vars(self)


class NotCovered(InputError):
    """A method has no theorem for what it was asked; the remedy names a method that has."""


class BudgetExceeded(DPCoreError):
    """The budget on record does not allow this release; nothing was spent."""

    exit_code = 3


class ReplayError(DPCoreError):
    """The ledger's events do not give the epsilon that the guarantee states."""


class WallError(DPCoreError):
    """Code outside the wall reached for rows."""


class RowError(WallError, ValueError):
    """A model's function of rows failed or returned numbers of the wrong shape. A row may be the
    cause, so a release is paid for."""
