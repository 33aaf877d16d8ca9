"""Exercises of the lesson notebooks: each answer is right, or it is told what it probably is.

Neither right answers nor slips are stored as numbers: they are computed when an answer is checked.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr

from dpcore.accounting import calibrate, compose, epsilon_of, guess_rate
from dpcore.arrays import Array
from dpcore.checks import one_of
from dpcore.privacy import Event, Gaussian

AnyFunction = Callable[
    ..., Any
]  # an answer from what the exercise is about, or the function asked for

EMPTY = "Fill in the cell above: replace the dots with your answer, then run both cells."
DELTA = 1e-5  # in every exercise
ROUNDED = 0.01  # how far an answer may be from the right one, relative to it


@dataclass(frozen=True)
class Exercise:
    """What an answer is compared with.

    right: the answer. because: why it is right. slips: what may be computed instead, each with the
    sentence that says so. at: arguments at which a function is compared; empty where a number is
    asked for.
    """

    right: AnyFunction
    because: str
    slips: tuple[tuple[AnyFunction, str], ...]
    at: tuple[tuple[Any, ...], ...] = ()

    def expected(self, function: AnyFunction, arguments: Sequence[Any] = ()) -> Array:
        """The numbers ``(n,)`` of the right answer or of a slip, flat."""
        return _flat(self.values(function if self.at else function(*arguments)))

    def values(self, answer: Any) -> list[Any]:
        """An answer, or what a function answers."""
        if not self.at:
            return [answer]
        return [answer(*(np.copy(argument)[()] for argument in arguments)) for arguments in self.at]


def check(name: str, answer: Any, *arguments: Any) -> None:
    """Print :func:`verdict`. Raises InputError for an unknown name."""
    print(verdict(name, answer, *arguments))


def verdict(name: str, answer: Any, *arguments: Any) -> str:
    """One sentence: right and why, what was probably computed instead, or that it is to be done.

    answer: a number, several numbers or a function; ``...`` and ``None`` are no answer. arguments:
    what the exercise is about, where the notebook made it. Raises InputError for an unknown name.

    >>> verdict("sampled", 0.1)[:8], verdict("sampled", 0.1586)[:6]
    ('Not yet:', 'Right:')
    >>> verdict("sampled", ...) == EMPTY
    True
    """
    exercise = EXERCISES[one_of("exercise", name, EXERCISES)]
    if _empty(answer):
        return EMPTY
    if exercise.at and not callable(answer):
        return "Not yet: the answer should be a function."
    with np.errstate(all="ignore"):
        try:
            values = exercise.values(answer)
            if any(map(_empty, values)):
                return EMPTY
            answered = _flat(values)
        except Exception as error:
            if not exercise.at:
                return "Not yet: the answer should be a number."
            return f"Not yet: the function stops with {type(error).__name__}: {error}."
        right = exercise.expected(exercise.right, arguments)
        if answered.shape != right.shape:
            wanted = "one number is" if right.size == 1 else f"{right.size} numbers are"
            return f"Not yet: {wanted} asked for, not {answered.size}."
        if _close(answered, right).all():
            return f"Right: {exercise.because}"
        for slip, sentence in exercise.slips:
            if _close(answered, exercise.expected(slip, arguments)).all():
                return f"Not yet: {sentence}"
    return f"Not yet: {_apart(answered, right)}."


def _empty(answer: Any) -> bool:
    """Whether the dots still stand there."""
    if isinstance(answer, tuple | list):
        return any(map(_empty, answer))
    return answer is None or answer is ...


def _flat(values: Sequence[Any]) -> Array:
    """Numbers and arrays as one row."""
    return np.concatenate([np.ravel(np.asarray(value, float)) for value in values])


def _close(first: Array, second: Array) -> Any:
    """Where two answers of one shape agree, as rounded by hand."""
    return np.isclose(first, second, ROUNDED, 1e-9, equal_nan=True)


def _apart(answered: Array, right: Array) -> str:
    """How an answer that is no known slip differs."""
    wrong = int(np.argmin(_close(answered, right)))
    here, there = float(answered[wrong]), float(right[wrong])
    what = (
        "it is" if answered.size == 1 else f"value {wrong + 1} of {answered.size}, {here:.4g}, is"
    )
    if not math.isfinite(here):
        return f"{what} not finite"
    size = "large" if here > there else "small"
    times = f"{max(here, there) / min(here, there):.3g} times " if min(here, there) > 0.0 else ""
    return f"{what} {times}too {size}"


# ---------------------------------------------------------------- what is asked


def _noise(count: int = 1, method: str = "exact") -> float:
    """The multiplier of normal noise with which so many releases have epsilon 1 in all."""
    return float(calibrate([Event(Gaussian(1.0), count=count)], 1.0, DELTA, method))


def _fifty(method: str) -> float:
    """Epsilon of fifty releases with noise multiplier 20."""
    return float(compose([Event(Gaussian(20.0), count=50)], method, delta=DELTA).epsilon)


def _one() -> float:
    """Epsilon of one of these, at the whole delta."""
    return float(epsilon_of(DELTA, 1.0 / 20.0))


_ADDED = "that adds up the epsilons; their sum is far above the exact cost."


def _guess() -> float:
    """How often the best attacker is right about a release with noise multiplier 3."""
    return float(guess_rate([Event(Gaussian(3.0))]))


def _delta(noise: float, epsilon: float) -> Any:
    """Balle, Wang 2018, Theorem 8, for sensitivity 1."""
    tail = ndtr(0.5 / noise - epsilon * noise)
    return tail - np.exp(epsilon) * ndtr(-0.5 / noise - epsilon * noise)


def _clipped(rows: Array, bound: float) -> Any:
    """Rows scaled back to a length of at most ``bound``."""
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True) / bound, 1.0)


_ROWS = np.array([[3.0, 4.0], [0.3, 0.4], [0.0, 0.0], [-1.5, 0.2]])

EXERCISES = {
    # ------------------------------------------------ 01 what epsilon means
    "guess": Exercise(
        _guess,
        "the best rule guesses 'with' above 100.5, and the noise leaves the count on the correct "
        "side of this threshold with probability Phi(1 / (2 z)).",
        (
            (
                lambda: ndtr(1.0 / 3.0),
                "that is Phi(1 / z); the threshold is 0.5 away from each count, not 1.",
            ),
            (
                lambda: ndtr(1.0 / 18.0),
                "that is Phi(1 / (2 z^2)); the multiplier is a standard deviation, not a variance.",
            ),
            (lambda: 1.0 - _guess(), "that is how often the guess is wrong."),
            (
                lambda: 1.0 / (1.0 + math.exp(-float(epsilon_of(DELTA, 1.0 / 3.0)))),
                "that is e^epsilon / (1 + e^epsilon), the bound for any mechanism with this "
                "epsilon and delta 0; Gaussian noise stays below it.",
            ),
        ),
    ),
    "noise": Exercise(
        _noise,
        "with this noise, epsilon is exactly 1 at delta 1e-5; less noise exceeds the budget.",
        (
            (
                lambda: math.sqrt(2.0 * math.log(1.25 / DELTA)),
                "that is the classical sqrt(2 ln(1.25 / delta)) / epsilon, which adds more noise "
                "than the curve requires.",
            ),
            (lambda: 1.0, "that is 1 / epsilon, the scale of Laplace noise."),
            (lambda: _noise() ** 2, "that is the variance; the multiplier is its square root."),
        ),
    ),
    "delta": Exercise(
        _delta,
        "delta is the area by which one density exceeds e^epsilon times the other.",
        (
            (
                lambda noise, epsilon: 2.0 * ndtr(0.5 / noise) - 1.0,
                "e^epsilon is missing; that is the area by which one density exceeds the other, "
                "which is delta at epsilon 0.",
            ),
            (
                lambda noise, epsilon: ndtr(0.5 / noise - epsilon * noise),
                "that is the probability of a privacy loss above epsilon; subtract e^epsilon times "
                "its probability under the other density.",
            ),
        ),
        at=((1.0, 1.0), (2.0, 0.5), (4.0, 0.1)),
    ),
    # ------------------------------------------------ 02 composition
    "fifty": Exercise(
        lambda: _fifty("exact"),
        "fifty releases with multiplier 20 cost as much as one with multiplier 20 / sqrt(50).",
        (
            (lambda: 50.0 * _one(), _ADDED),
            (lambda: _fifty("linear"), _ADDED),
            (lambda: _fifty("zcdp"), "that is zCDP's upper bound; the exact cost is lower."),
            (
                lambda: math.sqrt(50.0) * _one(),
                "that is one release's epsilon times sqrt(50), but it is the multiplier that is "
                "divided by sqrt(50).",
            ),
            (
                lambda: float(epsilon_of(DELTA, 1.0 / (20.0 * math.sqrt(50.0)))),
                "that is one release with more noise; many releases are like one with less noise.",
            ),
        ),
    ),
    "black_boxes": Exercise(
        lambda: (1.0, 10.0 * DELTA),
        "in basic composition, the epsilons and the deltas both add up.",
        (
            (lambda: (1.0, DELTA), "the deltas add up as well."),
            (
                lambda: (0.1 * math.sqrt(10.0), 10.0 * DELTA),
                "basic composition adds epsilons; the square root is from advanced composition, "
                "which also adds a delta of its own.",
            ),
        ),
    ),
    "sampled": Exercise(
        lambda: math.log1p(0.1 * math.expm1(1.0)),
        "you are outside the sample with probability 0.9, so probabilities change by a factor of "
        "at most 0.9 + 0.1 e.",
        (
            (
                lambda: 0.1,
                "that is q times epsilon, the limit for small epsilons; at epsilon 1 it is too "
                "small.",
            ),
            (
                lambda: 0.1 * math.expm1(1.0),
                "that is q (e^epsilon - 1), an upper bound; add 1 and take the logarithm.",
            ),
            (lambda: 1.0, "that is the cost without sampling."),
        ),
    ),
    # ------------------------------------------------ 03 private EM from scratch
    "sensitivity": Exercise(
        lambda: 2.0,
        "each of the two vectors has length at most sqrt(2), and the angle between them is at most "
        "90 degrees.",
        (
            (
                lambda: 2.0 * math.sqrt(2.0),
                "that treats the two vectors as opposite, but the angle between them is at most 90 "
                "degrees.",
            ),
            (
                lambda: math.sqrt(2.0),
                "that is the greatest length of one row's vector; a replacement takes one such "
                "vector away and adds another.",
            ),
            (lambda: math.sqrt(6.0), "that includes the squares, which are not released here."),
        ),
    ),
    "forty_steps": Exercise(
        lambda: _noise(40),
        "four times the steps need twice the noise.",
        (
            (
                lambda: 4.0 * _noise(10),
                "that is four times the noise of ten steps; noise grows with the square root of "
                "the number of steps.",
            ),
            (lambda: _noise(10), "with the noise of ten steps, forty cost more than epsilon 1."),
            (
                lambda: _noise(40, "linear"),
                "that gives each step epsilon 1 / 40; with exact composition, less noise is "
                "enough.",
            ),
        ),
    ),
    "mean_of": Exercise(
        lambda count, total: np.clip(total / np.maximum(count, 1.0), -1.0, 1.0),
        "whatever the noise, the mean stays within its limits.",
        (
            (
                lambda count, total: total / np.maximum(count, 1.0),
                "noise may push the sum beyond the count, so that the mean leaves its limits.",
            ),
            (
                lambda count, total: np.clip(total / count, -1.0, 1.0),
                "a noisy count may be 0 or negative; treat it as at least 1.",
            ),
            (
                lambda count, total: total / count,
                "a noisy count may be 0 or negative, and a noisy sum may exceed it.",
            ),
        ),
        at=((4.0, 2.0), (0.5, -0.4), (0.0, 0.3), (-3.0, 0.6), (10.0, -40.0)),
    ),
    # ------------------------------------------------ 04 clipping and subsampling
    "noise_of_mean": Exercise(
        lambda: _noise() * 100.0 / 2000.0,
        "one person moves the mean by at most C / n, and the noise is the multiplier times that.",
        (
            (
                lambda: _noise() * 100.0,
                "that is the noise in the sum; divide it by n for the mean.",
            ),
            (
                lambda: _noise() * 200.0 / 2000.0,
                "that assumes one person changes the sum by 2 C; for values between 0 and C, the "
                "change is at most C.",
            ),
            (lambda: 100.0 / 2000.0, "that is the sensitivity; multiply it by the multiplier."),
            (
                lambda: _noise() / 2000.0,
                "C is missing; the multiplier is relative to the sensitivity.",
            ),
        ),
    ),
    "clip_rows": Exercise(
        _clipped,
        "long rows are scaled back to the bound, and short ones stay as they are.",
        (
            (
                lambda rows, bound: rows * bound / np.linalg.norm(rows, axis=1, keepdims=True),
                "rows within the bound must stay as they are.",
            ),
            (
                lambda rows, bound: np.clip(rows, -bound, bound),
                "that clips each column alone; with two columns, a row's norm may still be "
                "sqrt(2) times the bound.",
            ),
            (lambda rows, bound: rows / bound, "that rescales all rows and clips none."),
        ),
        at=((_ROWS, 1.0), (_ROWS, 2.0)),
    ),
    # ------------------------------------------------ 05 release and audit
    "attack": Exercise(
        lambda: math.log((0.9 - DELTA) / 0.1),
        "0.9 is at most e^epsilon times 0.1, plus delta.",
        (
            (lambda: 9.0, "that is e^epsilon; epsilon is its logarithm."),
            (lambda: math.log10(9.0), "that is the logarithm to base 10; take the natural one."),
            (
                lambda: math.log(0.9 / 0.5),
                "compare with the rate of false alarms, 0.1, not with a coin toss.",
            ),
        ),
    ),
    "never_wrong": Exercise(
        lambda: 1.0 - 0.05 ** (1.0 / 1000.0),
        "at any higher rate, 1,000 trials show at least one false alarm with a probability above "
        "95%.",
        (
            (lambda: 0.0, "what did not occur in 1,000 trials may still happen."),
            (
                lambda: 0.001,
                "at a rate of 0.001, more than a third of such experiments show no false alarm.",
            ),
            (
                lambda: 1.0 - 0.025 ** (1.0 / 1000.0),
                "that leaves 2.5% on each side; a limit on one side may leave all 5% there.",
            ),
        ),
    ),
    # ------------------------------------------------ 06 use a release
    "ten_years": Exercise(
        lambda coefficient: math.exp(10.0 * coefficient),
        "yearly changes in the log odds add up, so the factors for the odds multiply.",
        (
            (
                lambda coefficient: 10.0 * coefficient,
                "that is the change in the log odds; the factor for the odds is its exponential.",
            ),
            (lambda coefficient: math.exp(coefficient), "that is the factor for one year."),
            (
                lambda coefficient: 1.0 + 10.0 * math.expm1(coefficient),
                "that adds up ten yearly changes; factors multiply.",
            ),
        ),
    ),
}
"""The exercises by name, lesson by lesson."""
