"""Options of models as data: each is declared once, with its default, check, help and dial.

The command line's flags, the words of :func:`dpcore.fit`, the explorer's dials, links and refusals
are all read from the dataclass of a model's settings.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import Field, dataclass, field, fields
from functools import cache
from typing import Any, Self

from dpcore.checks import one_of, whole
from dpcore.errors import InputError

Check = Callable[[str, Any], Any]


@dataclass(frozen=True)
class Slide:
    """How an option slides on the explorer, where it leaves the exact fit as it is.

    name: of the slider and of the curve's axis. buys: the curve's title is "What each {buys} buys".
    ends: what more of either end means. stops: its positions; empty: a decade to each side of the
    usual value, on a logarithmic axis.
    """

    name: str
    buys: str
    ends: tuple[str, str]
    stops: tuple[float, ...] = ()


@dataclass(frozen=True)
class Dial:
    """How the explorer asks for an option.

    low, high, step, form: of its box; without a form it is a choice between two, or (choices:
    titles by value) one of several. usual: the value where none is given, from the other options
    and the number of columns; ``None``: the option's default, and where that is ``None`` too the
    box is empty. empty: what an empty box means. methods: names of the methods with which it is
    offered; empty: all. only: the option, and its value, with which alone it is offered. slide: how
    it slides beside epsilon; still: why a number does not.

    The other options that ``usual`` reads have the mode of the fit among them.
    """

    label: str
    help: str
    low: float = 0.0
    high: float = 1.0
    step: float = 1.0
    form: str = ""
    choices: Mapping[Any, str] | None = None
    usual: Callable[[Mapping[str, Any], int], Any] | None = None
    empty: str = ""
    methods: tuple[str, ...] = ()
    only: tuple[str, Any] | None = None
    slide: Slide | None = None
    still: str = ""

    def takes(self, value: Any) -> bool:
        """Whether the explorer may show a value."""
        if self.choices is not None:
            return value in self.choices
        if not self.form:
            return isinstance(value, bool)
        return isinstance(value, int | float) and self.low <= value <= self.high


@dataclass(frozen=True)
class Option:
    """One public choice of a model.

    name: as :func:`dpcore.fit` takes it. check: from the name and a value to the value, or
    InputError. flag: its name on the command line; empty: it has none. read, write: from the
    command line's text and back. dial: how the explorer asks for it; not_asked: why it does not.
    """

    name: str
    default: Any
    paper: Any
    check: Check
    help: str
    flag: str
    metavar: str
    read: Check
    write: Callable[[Any], str]
    dial: Dial | None
    not_asked: str


def option(
    default: Any,
    check: Check,
    help: str = "",
    *,
    flag: str = "",
    metavar: str = "",
    paper: Any = None,
    read: Check | None = None,
    write: Callable[[Any], str] = str,
    dial: Dial | None = None,
    not_asked: str = "",
) -> Any:
    """A field of a model's settings that may be chosen.

    flag: its name on the command line, where that is not the field's; without a metavar it has
    none. paper: its default in paper mode, where that is another. dial, not_asked: one of the two.
    """
    return field(
        default=default,
        metadata={
            "check": check,
            "paper": default if paper is None else paper,
            "help": help,
            "flag": flag,
            "metavar": metavar,
            "read": read or check,
            "write": write,
            "dial": dial,
            "not_asked": not_asked,
        },
    )


def word(*allowed: str) -> Check:
    """A check that a value is one of some words."""
    return lambda name, value: one_of(name, value, allowed)


def from_zero(name: str, value: Any) -> int:
    """A whole number of 0 or more."""
    return whole(name, value, least=0)


def yes_or_no(name: str, value: Any) -> bool:
    """Yes or no, as a word or a truth value.

    >>> yes_or_no("even", "no"), yes_or_no("even", True)
    (False, True)
    """
    if not isinstance(value, Hashable) or value not in (True, False):
        return one_of(name, value, ("yes", "no")) == "yes"
    return bool(value)


COUNTS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 25, 30, 40, 50)  # where numbers of steps stop
BY_METHOD = "each value is an entry of the list *Method*"
BY_MODEL = (
    "the list *Model* offers the usual numbers, and a box takes any other; the exact fit depends "
    "on the number"
)
FITTED = "the exact fit depends on it"
UNLESS_GIVEN = "it is computed from public facts unless given"


def steps_dial(help: str, ends: tuple[str, str]) -> Dial:
    """How many steps a fit takes."""
    slide = Slide("Iterations", "number of iterations", ends, COUNTS)
    return Dial("Iterations", help, *(1, 50, 1, "%d"), slide=slide)


ITERATIONS = steps_dial(
    "Each iteration costs privacy. The number is fixed in advance: stopping when the fit looks "
    "good would leak information.",
    ("less noise a step", "more steps"),
)
START = Dial(
    "Start",
    "Selects one of the public random starts, none of which depends on the rows.",
    *(0, 999, 1, "%d"),
    still="the number only selects one of the possible starts",
)
EVEN = Dial(
    "The same noise in every step",
    "Otherwise later steps get more of the budget, since the last ones decide where a fit ends.",
)


def steps(name: str, value: Any) -> int:
    """How many steps a fit takes: a whole number, 1 to 1,000,000."""
    return whole(name, value, most=1_000_000)


def iterations_option(usual: int) -> Any:
    """How many steps a fit takes; each costs privacy."""
    help = f"steps, fixed in advance [{usual}]"
    return option(usual, steps, help, metavar="J", dial=ITERATIONS)


def start_option(dial: Dial = START) -> Any:
    """Which public start a fit begins with."""
    return option(0, from_zero, "which of the public random starts [0]", metavar="S", dial=dial)


def switch_option(help: str, dial: Dial) -> Any:
    """A choice between yes and no, which is no unless given."""
    return option(
        False,
        yes_or_no,
        f"{help}: yes or no [no]",
        metavar="Y",
        write=lambda chosen: "yes" if chosen else "no",
        dial=dial,
    )


def even_option(dial: Dial = EVEN) -> Any:
    """Whether all steps have the same noise."""
    return switch_option("whether all steps have the same noise", dial)


@dataclass(frozen=True)
class Settings:
    """Public choices of a fit; none may be read from the data. mode: ``proved`` | ``paper``."""

    components: int = 1
    mode: str = "proved"

    @classmethod
    @cache
    def options(cls) -> dict[str, Option]:
        """The options by name, in the order of their declaration."""
        kind: Any = cls  # mypy takes the hash of its instances for its own
        return dict(_options(kind))

    @classmethod
    def parse(cls, *, mode: str = "proved", **words: Any) -> Self:
        """Settings from plain words, each checked; ``None`` stands for the usual.

        Raises InputError for a word that cannot be, or that does not go with another; TypeError for
        one that is no option.
        """
        options = cls.options()
        if unknown := words.keys() - options.keys() - {"components"}:
            raise TypeError(f"{cls.__name__} has no option {min(unknown)}")
        checked = {
            name: options[name].check("n_components" if name == "components" else name, value)
            for name, value in words.items()
            if name in options and value is not None
        }
        usual = {
            name: option.paper if mode == "paper" else option.default
            for name, option in options.items()
        }
        return cls(mode=mode, **{**usual, **cls.together(checked, mode)})

    @classmethod
    def together(cls, chosen: dict[str, Any], mode: str) -> dict[str, Any]:
        """The options given, with what follows from them; InputError where two contradict."""
        return chosen


@cache
def _options(settings: type[Settings]) -> dict[str, Option]:
    """The options of a kind of settings, which a page asks for again and again."""
    return {
        attribute.name: Option(attribute.name, attribute.default, **_named(attribute))
        for attribute in fields(settings)
        if attribute.metadata
    }


def _named(attribute: Field[Any]) -> dict[str, Any]:
    """A field's metadata with its flag."""
    facts = dict(attribute.metadata)
    if facts["metavar"] and not facts["flag"]:
        facts["flag"] = attribute.name.replace("_", "-")
    return facts


def demand_options(model: str, settings: type[Settings], words: Mapping[str, Any]) -> None:
    """Raise InputError for an option that a model does not have, among them a number of parts,
    unless it is left out (``None``) or 1."""
    own = ["n_components" if name == "components" else name for name in settings.options()]
    for name, value in words.items():
        if name not in own and not (name == "n_components" and value in (None, 1)):
            takes = f"it takes {', '.join(own)}" if own else "leave it out"
            raise InputError(name, f"model {model!r} takes no such option", takes)
