"""How a bench measures: repetitions that take turns, the least of each, memory in a fresh process;
and what a row of it holds.

On a shared machine noise only ever adds time, so the least of several repetitions is the steadiest
figure; taking turns lets a slow spell meet both sides. Short answers can be repeated so often that
their median is steady too, and it says what a person waits.
"""

from __future__ import annotations

import math
import pickle
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

import dpcore
from dpcore.bench import peers
from dpcore.errors import InputError


def least_seconds(jobs: Sequence[Callable[[], object]], repetitions: int) -> list[float]:
    """The least seconds of each job; in every repetition each is run once, in turn."""
    return [clock for clock, _ in least_processor_seconds(jobs, repetitions)]


def least_processor_seconds(
    jobs: Sequence[Callable[[], object]], repetitions: int
) -> list[tuple[float, float]]:
    """The least seconds of each job by the clock and of this process's cores together; the second
    hardly changes where other programs are at work. Turns as in :func:`least_seconds`."""
    least = [(float("inf"), float("inf"))] * len(jobs)
    for _ in range(repetitions):
        for i, job in enumerate(jobs):
            begun, worked = perf_counter(), process_time()
            job()
            clock, cores = perf_counter() - begun, process_time() - worked
            least[i] = min(least[i][0], clock), min(least[i][1], cores)
    return least


def median_seconds(
    jobs: Sequence[tuple[Callable[[], object], Callable[[], object]]],
    seconds: float,
    least: int = 3,
    most: int = 1000,
) -> list[float]:
    """The median seconds of each job, given with what to do, unmeasured, before each of its runs.

    seconds: how long to repeat; ``least`` and ``most`` rounds, in each of which every job has one
    turn.
    """
    taken: list[list[float]] = [[] for _ in jobs]
    end = perf_counter() + seconds
    for done in range(most):
        if done >= least and perf_counter() >= end:
            break
        for (prepare, job), times in zip(jobs, taken, strict=True):
            prepare()
            begun = perf_counter()
            job()
            times.append(perf_counter() - begun)
    return [median(times) for times in taken]


def peer_version(package: str) -> str:
    """Installed version of a peer; raises InputError when it is missing."""
    try:
        return version(package)
    except PackageNotFoundError:
        raise InputError(
            "peer",
            f"{package} is not installed",
            f"install it, for example with pip install {package}",
        ) from None


def peak_mib(job: Callable[[], object]) -> float:
    """Peak resident memory in MiB of a fresh process that does the job.

    All of it counts: interpreter, libraries, data and fit. job: a function of a module, a method
    of a value of plain fields, or a ``partial`` of one: it is pickled by name.
    """
    return _peak_mib(pickle.dumps(job))


@cache
def _peak_mib(job: bytes) -> float:
    call = (
        "import pickle, sys; pickle.load(sys.stdin.buffer)();"
        "from dpcore.bench.measure import own_peak_mib; print(own_peak_mib())"
    )
    words = [sys.executable, "-c", call]
    done = subprocess.run(words, input=job, capture_output=True, check=True)
    return float(done.stdout.split()[-1])


def own_peak_mib() -> float:
    """Peak resident memory of this process in MiB.

    Linux tells it apart from the parent's (``VmHWM``); elsewhere the usual counter is read.
    """
    status = Path("/proc/self/status")
    if status.exists():
        lines = status.read_text(encoding="ascii").splitlines()
        return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 1024
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (2**20 if sys.platform == "darwin" else 2**10)


Row = dict[str, Any]


class Case(ABC):
    """One case of a bench: called, it measures both sides and gives a row.

    A subclass is a frozen dataclass of the case's settings.
    """

    package = "dpcore"  # of the peer; "dpcore": this package in another setting
    peer_model = ""  # of the peer, after its package
    optional = False  # whether the case may be left out where the peer is not installed

    def why_missing(self) -> str | None:
        """``None`` where it can be measured here, else why not, naming the peer."""
        return peers.why_missing(self.package) if self.optional else None

    @property
    def peer_title(self) -> str:
        """The peer, as a row names it."""
        return f"{self.package} {self.peer_model}".rstrip()

    @abstractmethod
    def measure(self) -> Row:
        """Both sides, by turns: a row of :meth:`row`."""

    def installed(self) -> str:
        """The peer's version. Raises InputError where it is missing."""
        return dpcore.__version__ if self.package == "dpcore" else peer_version(self.package)

    def __call__(self) -> Row:
        """A row as :func:`dpcore.bench.run` tells; without the peer, before anything is measured,
        an InputError."""
        self.installed()
        return self.measure()

    def row(
        self,
        case: str,
        per: str,
        seconds: tuple[float, float],
        qualities: tuple[float, float],
        alone: Callable[[], object],
        one_core: float | None = None,
        **facts: Any,
    ) -> Row:
        """seconds, qualities: ours and the peer's, seconds on every core; one_core: the peer's on
        one. alone: what a fresh process does whose memory is measured. facts: what only some
        benches say. A difference of two short fits may come out below 0 and has no ratio.
        """
        ours, theirs = seconds
        return {
            "case": case,
            "per": per,
            "ours_seconds": ours,
            "peer": self.peer_title,
            "peer_version": self.installed(),
            "peer_seconds": theirs,
            "peer_seconds_one_core": one_core,
            "ratio": theirs / ours if ours > 0 else math.nan,
            "quality_ours": qualities[0],
            "quality_peer": qualities[1],
            "peak_mib": peak_mib(alone),
            **facts,
        }


def fastest_ratio(ours: float, every_core: float, one_core: float | None) -> float:
    """The peer's seconds at its faster setting / ours."""
    return min(every_core, one_core or math.inf) / ours if ours > 0 else math.nan
