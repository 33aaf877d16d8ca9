"""Accounting against the peers: the same question to both, its answer beside its seconds.

Seconds are medians of rounds in which the two take turns, everything imported. Before each of our
answers all caches of :mod:`dpcore.accounting` are emptied, so that nothing is answered from memory;
the peers get fresh accountants. What imports cost is a case of its own: a process from its start to
its first answer.

Quality is the answer: the epsilon, or the noise multiplier that a budget needs. Of two upper bounds
the smaller is the better one. For a grid it is the mean over the cells both answered; the peer
is asked for every tenth noise only, in the best loop its interface allows, and its seconds are
multiplied by ten.

A peer that is not installed is left out, and every row of the same question names it.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any, TypeAlias

import numpy as np

from dpcore.accounting import accountant, calibrate, compose
from dpcore.accounting.base import Accountant, Events
from dpcore.accounting.pld_bounds import PldBounds
from dpcore.accounting.rdp import RENYI
from dpcore.accounting.wbk import THEOREM_27
from dpcore.bench import peers
from dpcore.bench.measure import Case, Row, median_seconds
from dpcore.privacy import EpsilonDelta, Event, Gaussian, Laplace

Answer: TypeAlias = Callable[[], Any]  # a number, or a table (noises, deltas)

DELTA = 1e-5
RATE, STEPS = 0.01, 10_000
EVERY = 10  # of the noises of a grid, the peer is asked for one in so many
NOISES, DELTAS = np.geomspace(1.0, 100.0, 100), np.geomspace(1e-10, 1e-3, 100)
_ASKED = NOISES[::EVERY]
_GRID = f"{NOISES.size} noises x {DELTAS.size} deltas; peer: {_ASKED.size} noises, scaled"


@dataclass(frozen=True)
class Question:
    """One question. ours: our answer. peers: package to a function that prepares its answer.

    quality: what the answer is. scale: by how much the peer's seconds are multiplied; above 1 the
    answers are tables and the peer's has every scale-th row of ours.
    """

    name: str
    ours: Answer
    peers: Mapping[str, Callable[[], Answer]]
    quality: str = "epsilon"
    scale: int = 1

    def left_out(self) -> list[str]:
        """A sentence for each peer that cannot be asked here."""
        reasons = [peers.why_missing(package) for package in self.peers]
        return [why for why in reasons if why is not None]


@dataclass(frozen=True)
class Answered(Case):
    """An answer of ours beside one peer's. package: the peer; the first one may not be missing."""

    package: str = field()

    @property
    def optional(self) -> bool:  # type: ignore[override]
        """Whether the peer is not the first one."""
        return self.package != peers.FIRST


@dataclass(frozen=True)
class QuestionCase(Answered):
    """A question to us and to one peer."""

    question: Question
    seconds: float = 2.0

    def measure(self) -> Row:
        question, theirs = self.question, self.question.peers[self.package]()
        answers = question.ours(), theirs()  # unmeasured: everything is imported now
        ours_seconds, peer_seconds = median_seconds(
            [(_forget, question.ours), (_nothing, theirs)], self.seconds
        )
        return self.row(
            question.name,
            "answer",
            (ours_seconds, peer_seconds * question.scale),
            (_number(answers[0], question.scale), _number(answers[1], 1)),
            partial(run_alone, question.name),
            quality=question.quality,
            left_out=question.left_out(),
        )


@dataclass(frozen=True)
class FirstAnswer(Answered):
    """Seconds of a whole process that imports, answers one question and ends."""

    name: str
    ours: str
    theirs: str
    rounds: float = 4.0

    def measure(self) -> Row:
        jobs = [partial(_process, script) for script in (self.ours, self.theirs)]
        answers = jobs[0](), jobs[1]()
        ours_seconds, peer_seconds = median_seconds([(_nothing, job) for job in jobs], self.rounds)
        return self.row(
            self.name,
            "process, from start to first answer",
            (ours_seconds, peer_seconds),
            answers,
            partial(run_alone, QUESTIONS[0].name),
            quality="epsilon",
            left_out=[],
        )


def _process(script: str) -> float:
    words = [sys.executable, "-W", "ignore", "-c", script]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])


def _number(answer: Any, every: int) -> float:
    """The answer, or the mean over every so many-th row of a table."""
    table = np.asarray(answer, dtype=float)
    return float(np.mean(table[::every] if table.ndim else table))


def _nothing() -> None:
    """What a peer forgets: its accountants are made anew for every answer."""


def _forget() -> None:
    """Empty every cache of ours but the list of accountants that are imported."""
    for clear in _caches(len(sys.modules)):
        clear()


@cache
def _caches(_modules: int) -> list[Callable[[], None]]:
    ours = [
        module
        for name, module in sys.modules.items()
        if name.startswith("dpcore.accounting.") and name != "dpcore.accounting.catalogue"
    ]
    held = [value for module in ours for value in vars(module).values()]
    return [value.cache_clear for value in held if hasattr(value, "cache_clear")]


def run_alone(name: str) -> None:
    """Answer one question: what a fresh process does whose memory is measured."""
    next(question for question in QUESTIONS if question.name == name).ours()


# --- our side ------------------------------------------------------------------------------------


def _epsilon(events: Events, method: str | Accountant, delta: float = DELTA) -> Answer:
    return lambda: compose(events, method, delta=delta).epsilon


def _at_equal_step(events: Events, delta: float = DELTA) -> Answer:
    """The upper end alone, on a lattice with the peer's step, one pass, no refinement."""

    def answer() -> float:
        sides = PldBounds(tuple(events), delta, 0)
        sides.step = peers.INTERVAL
        return max(composition.epsilon(delta) for composition in sides.above())

    return answer


def _table(method: str, release: Callable[[Any], Event]) -> Answer:
    """All cells in one call."""
    events = [release(NOISES[:, None])]
    return lambda: accountant(method).epsilon(events, DELTAS)


def _noise(events: Events, method: str) -> Answer:
    return lambda: calibrate(events, 1.0, DELTA, method)


def _poisson(noise: Any, count: int) -> Event:
    return Event(
        Gaussian(noise), count, sampling="poisson", sampling_rate=RATE, adjacency="add_remove"
    )


_GAUSSIANS = [Event(Gaussian(50.0), 1000)]
_POISSON = [_poisson(1.0, STEPS)]
_CALIBRATED = [_poisson(1.0, 1000)]
_FIXED_SIZE = [
    Event(Gaussian(1.0), STEPS, sampling="without_replacement", sampling_rate=RATE),
]
_MIXTURE = [Event(Laplace(10.0), 40), Event(Gaussian(61.06), 30)]
_PAIRS = [Event(EpsilonDelta(0.1), 500)]


# --- their side ----------------------------------------------------------------------------------


def _peer_gaussians() -> peers.Releases:
    return [(peers.google_gaussian(50.0), 1000)]


def _peer_poisson() -> peers.Releases:
    return [(peers.google_poisson(1.0, RATE), STEPS)]


def _peer_fixed_size() -> peers.Releases:
    return [(peers.google_fixed_size(1.0, RATE), STEPS)]


def _accelerated(rate: float, count: int) -> Callable[[], Answer]:
    return partial(peers.accelerator_rdp_table, rate, _ASKED, DELTAS, count)


def _peer_mixture() -> peers.Releases:
    return [(peers.google_laplace(10.0), 40), (peers.google_gaussian(61.06), 30)]


def _sampled(noise: float) -> Any:
    return peers.google_poisson(noise, RATE)


_MANY = "1,000 Gaussians, noise 50"
_SAMPLES = "Poisson samples, q 0.01, noise 1, 10,000 times"
_FIXED = "samples of fixed size, q 0.01, noise 1, 10,000 times"
_LLG = "40 Laplace 10 with 30 Gaussian 61.06"
_MEET = "noise of 1,000 Poisson samples, q 0.01, for epsilon 1"
_STEP = f"PLD at the peer's step {peers.INTERVAL:g}, upper end"
_BOTH = "PLD, both ends as by default"

QUESTIONS = (
    Question(
        f"{_MANY}: exact",
        _epsilon(_GAUSSIANS, "exact"),
        {
            "dp-accounting": lambda: peers.google_exact(50.0, 1000, DELTA),
            "autodp": lambda: peers.autodp_exact(50.0, 1000, DELTA),
        },
    ),
    Question(
        f"{_MANY}: zCDP, tight",
        _epsilon(_GAUSSIANS, "zcdp_tight"),
        {"opendp": lambda: peers.opendp_curve(0.2, DELTA)},
    ),
    Question(
        f"{_MANY}: Rényi",
        _epsilon(_GAUSSIANS, "rdp"),
        {
            "dp-accounting": lambda: peers.google_rdp(_peer_gaussians, DELTA),
            "opacus": lambda: peers.opacus_rdp(50.0, 1.0, 1000, DELTA),
            "dp-accelerator": lambda: peers.accelerator_rdp(50.0, 1.0, 1000, DELTA),
        },
    ),
    Question(
        f"{_MANY}: Rényi, classic",
        _epsilon(_GAUSSIANS, replace(RENYI, conversion="classic")),
        {"autodp": lambda: peers.autodp_rdp("plain", 50.0, 1.0, 1000, DELTA)},
    ),
    Question(
        f"{_MANY}: {_STEP}",
        _at_equal_step(_GAUSSIANS),
        {"dp-accounting": lambda: peers.google_pld(_peer_gaussians, DELTA)},
    ),
    Question(
        f"{_MANY}: {_BOTH}",
        _epsilon(_GAUSSIANS, "pld"),
        {
            "dp-accounting": lambda: peers.google_pld(_peer_gaussians, DELTA),
            "prv-accountant": lambda: peers.prv_epsilon(
                lambda peer: [(peer.GaussianMechanism(50.0), 1000)], DELTA
            ),
        },
    ),
    Question(
        "noise of one Gaussian for epsilon 1: exact",
        _noise([Event(Gaussian(1.0))], "exact"),
        {
            "dp-accounting": lambda: peers.google_sigma(1.0, DELTA),
            "autodp": lambda: peers.autodp_sigma(1.0, DELTA),
        },
        quality="noise multiplier",
    ),
    Question(
        f"{_SAMPLES}: Rényi",
        _epsilon(_POISSON, "rdp"),
        {
            "dp-accounting": lambda: peers.google_rdp(_peer_poisson, DELTA),
            "opacus": lambda: peers.opacus_rdp(1.0, RATE, STEPS, DELTA),
            "dp-accelerator": lambda: peers.accelerator_rdp(1.0, RATE, STEPS, DELTA),
        },
    ),
    Question(
        f"{_SAMPLES}: Rényi, classic",
        _epsilon(_POISSON, replace(RENYI, conversion="classic")),
        {"autodp": lambda: peers.autodp_rdp("poisson", 1.0, RATE, STEPS, DELTA)},
    ),
    Question(
        f"{_FIXED}: WBK Theorem 27",
        _epsilon(_FIXED_SIZE, "wbk27"),
        {"dp-accounting": lambda: peers.google_rdp(_peer_fixed_size, DELTA, replaced=True)},
    ),
    Question(
        f"{_FIXED}: WBK Theorem 27, classic",
        _epsilon(_FIXED_SIZE, replace(THEOREM_27, conversion="classic")),
        {"autodp": lambda: peers.autodp_rdp("fixed size", 1.0, RATE, STEPS, DELTA)},
    ),
    Question(
        f"{_SAMPLES}: {_STEP}",
        _at_equal_step(_POISSON),
        {"dp-accounting": lambda: peers.google_pld(_peer_poisson, DELTA)},
    ),
    Question(
        f"{_SAMPLES}: {_BOTH}",
        _epsilon(_POISSON, "pld"),
        {
            "dp-accounting": lambda: peers.google_pld(_peer_poisson, DELTA),
            "prv-accountant": lambda: peers.prv_epsilon(
                lambda peer: [(peer.PoissonSubsampledGaussianMechanism(RATE, 1.0), STEPS)], DELTA
            ),
        },
    ),
    Question(
        f"{_LLG}: Rényi",
        _epsilon(_MIXTURE, "rdp", 1e-4),
        {"dp-accounting": lambda: peers.google_rdp(_peer_mixture, 1e-4)},
    ),
    Question(
        f"{_LLG}: {_STEP}",
        _at_equal_step(_MIXTURE, 1e-4),
        {"dp-accounting": lambda: peers.google_pld(_peer_mixture, 1e-4)},
    ),
    Question(
        f"{_LLG}: {_BOTH}",
        _epsilon(_MIXTURE, "pld", 1e-4),
        {
            "dp-accounting": lambda: peers.google_pld(_peer_mixture, 1e-4),
            "prv-accountant": lambda: peers.prv_epsilon(
                lambda peer: [
                    (peer.LaplaceMechanism(mu=0.1), 40),
                    (peer.GaussianMechanism(61.06), 30),
                ],
                1e-4,
            ),
        },
    ),
    Question(
        "500 black boxes, epsilon 0.1: optimal (KOV), by formula",
        _epsilon(_PAIRS, "kov"),
        {"dp-accounting": lambda: peers.google_kov(0.1, 500, DELTA)},
    ),
    Question(
        "500 black boxes, epsilon 0.1: optimal (KOV), peer by its exact PLD",
        _epsilon(_PAIRS, "kov"),
        {"dp-accounting": lambda: peers.google_kov_pld(0.1, 500, DELTA)},
    ),
    Question(
        f"{_MEET}: Rényi",
        _noise(_CALIBRATED, "rdp"),
        {
            "dp-accounting": lambda: peers.google_calibrate("rdp", _sampled, 1000, 1.0, DELTA),
        },
        quality="noise multiplier",
    ),
    Question(
        f"{_MEET}: PLD",
        _noise(_CALIBRATED, "pld"),
        {
            "dp-accounting": lambda: peers.google_calibrate("pld", _sampled, 1000, 1.0, DELTA),
            "prv-accountant": lambda: peers.prv_noise(RATE, 1000, 1.0, DELTA),
        },
        quality="noise multiplier",
    ),
    Question(
        f"100 Gaussians, exact: {_GRID}",
        _table("exact", lambda noise: Event(Gaussian(noise), 100)),
        {"dp-accounting": lambda: peers.google_exact_table(_ASKED / 10.0, DELTAS)},
        scale=EVERY,
    ),
    Question(
        f"100 Gaussians, zCDP, tight: {_GRID}",
        _table("zcdp_tight", lambda noise: Event(Gaussian(noise), 100)),
        {"opendp": lambda: peers.opendp_table(50.0 / _ASKED**2, DELTAS)},
        scale=EVERY,
    ),
    *(
        Question(
            f"{name}, Rényi: {_GRID}",
            _table("rdp", ours),
            {
                "dp-accounting": partial(peers.google_rdp_table, theirs, _ASKED, DELTAS, count),
                **({} if rate is None else {"dp-accelerator": _accelerated(rate, count)}),
            },
            scale=EVERY,
        )
        for name, ours, theirs, count, rate in (
            ("100 Gaussians", lambda z: Event(Gaussian(z), 100), peers.google_gaussian, 100, 1.0),
            ("100 Laplace", lambda z: Event(Laplace(z), 100), peers.google_laplace, 100, None),
            ("1,000 Poisson samples, q 0.01", lambda z: _poisson(z, 1000), _sampled, 1000, RATE),
        )
    ),
)

_OURS = (
    "from dpcore.accounting import compose; from dpcore.privacy import Event, Gaussian;"
    "print(compose([Event(Gaussian(50.0), 1000)], '{}', delta=1e-5).epsilon)"
)
_THEIRS = {
    "dp-accounting": "import dp_accounting; noise = 50.0 / 1000**0.5;"
    "print(dp_accounting.get_epsilon_gaussian(noise, 1e-5))",
    "autodp": "from autodp.mechanism_zoo import ExactGaussianMechanism as Gaussian;"
    "from autodp.transformer_zoo import ComposeGaussian;"
    "print(ComposeGaussian()([Gaussian(sigma=50.0)], [1000]).get_approxDP(1e-5))",
    "prv-accountant": "from prv_accountant import PRVAccountant, GaussianMechanism;"
    "made = PRVAccountant(prvs=[GaussianMechanism(50.0)], max_self_compositions=[1000],"
    "eps_error=0.01, delta_error=1e-8); print(made.compute_epsilon(1e-5, [1000])[2])",
}
_METHODS = {"prv-accountant": "pld"}

CASES: tuple[QuestionCase | FirstAnswer, ...] = (
    *(QuestionCase(package, question) for question in QUESTIONS for package in question.peers),
    *(
        FirstAnswer(
            package,
            f"{_MANY}: first answer of a fresh process",
            _OURS.format(_METHODS.get(package, "exact")),
            script,
        )
        for package, script in _THEIRS.items()
    ),
)
