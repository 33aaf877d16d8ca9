"""How a bench measures: repetitions that take turns, the least of each, memory in a fresh process;
and what a row of it holds.

On a shared machine noise only ever adds time, so the least of several repetitions is the steadiest
figure; taking turns lets a slow spell meet both sides. Short answers can be repeated so often that
their median is steady too, and it says what a person waits.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

from dpcore.errors import InputError


def least_seconds(jobs: Sequence[Callable[[], object]], repetitions: int) -> list[float]:
    """The least seconds of each job; in every repetition each is run once, in turn."""
    least = [float("inf")] * len(jobs)
    for _ in range(repetitions):
        for i, job in enumerate(jobs):
            begun = perf_counter()
            job()
            least[i] = min(least[i], perf_counter() - begun)
    return least


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
            "peer", f"{package} is not installed", f"install it, for example: pip install {package}"
        ) from None


def peak_mib(module: str, function: str, **arguments: Any) -> float:
    """Peak resident memory in MiB of a fresh process that calls ``module.function(**arguments)``.

    All of it counts: interpreter, libraries, data and fit. arguments: plain numbers and texts.
    """
    call = (
        "import importlib, json, sys; module, function, arguments = sys.argv[1:];"
        "getattr(importlib.import_module(module), function)(**json.loads(arguments));"
        "from dpcore.bench.measure import own_peak_mib; print(own_peak_mib())"
    )
    words = [sys.executable, "-c", call, module, function, json.dumps(arguments)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
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


def row(
    case: str,
    per: str,
    *,
    seconds: tuple[float, float],
    one_core: float | None = None,
    peer: str,
    version: str,
    qualities: tuple[float, float],
    peak: float,
    **facts: Any,
) -> dict[str, Any]:
    """A row as :func:`dpcore.bench.run` tells; facts: what only some benches say.

    seconds, qualities: ours and the peer's, seconds on every core; one_core: the peer's on one. A
    difference of two short fits may come out below 0 and has no ratio.
    """
    ours, theirs = seconds
    return {
        "case": case,
        "per": per,
        "ours_seconds": ours,
        "peer": peer,
        "peer_version": version,
        "peer_seconds": theirs,
        "peer_seconds_one_core": one_core,
        "ratio": theirs / ours if ours > 0 else float("nan"),
        "quality_ours": qualities[0],
        "quality_peer": qualities[1],
        "peak_mib": peak,
        **facts,
    }
