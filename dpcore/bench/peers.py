"""Other people's programs, each asked the project's questions in its own words.

What asks an accountant returns a function without arguments that answers once. Imports happen
before, so that what is measured is the answer alone. Under each name stand the conventions that
differ from ours; all noise multipliers are standard deviation / sensitivity under the question's
adjacency.

==============  ===============================================================================
dp-accounting   ``noise_multiplier`` of a sample of fixed size is relative to the replaced row
autodp          classic conversion wherever a sample is drawn (``anaRDPacct``)
dp-accelerator  Rényi orders 1.01 to 512 in one call to Rust; its wheel is for few Pythons
opacus          its analysis file alone, read without the package, which needs PyTorch
prv_accountant  the upper of its three numbers; Poisson: one direction only
opendp          the tight conversion of a zCDP cost
diffprivlib     wants an older scikit-learn: asked in a process of another interpreter
==============  ===============================================================================
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np

from dpcore.arrays import Array

Answer: TypeAlias = Callable[[], float]
Table: TypeAlias = Callable[[], Array]  # (noises, deltas)

FIRST = "dp-accounting"  # the peer without which there is nothing to compare
INTERVAL = 1e-4  # dp-accounting's default step of a privacy-loss distribution
_ERROR = 0.01  # of epsilon, asked of prv_accountant
_TABLE = 100_000  # rows where a peer wants a sample as two counts


def why_missing(package: str) -> str | None:
    """``None`` where the peer can be asked, else why not.

    >>> why_missing("a-peer-that-is-not-there")
    'a-peer-that-is-not-there is not installed'
    """
    try:
        version(package)
    except PackageNotFoundError:
        return f"{package} is not installed"
    try:
        _loaded(package)
    except ImportError:
        return f"{package} is installed but cannot be imported here"
    return None


_MODULES = {  # where it is not the package's own name
    "dp-accelerator": "dp_accelerator",
    "dp-accounting": "dp_accounting",
    "autodp": "autodp.rdp_acct",
    "opendp": "opendp.prelude",
    "prv-accountant": "prv_accountant",
}


@cache
def _loaded(package: str) -> ModuleType:
    """The peer's module; its warnings at import are its own business."""
    with _quiet():
        if package == "opacus":
            return _opacus_analysis()
        return import_module(_MODULES.get(package, package))


@contextmanager
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _opacus_analysis() -> ModuleType:
    package = find_spec("opacus")
    if package is None or not package.submodule_search_locations:
        raise ImportError("opacus")
    path = Path(package.submodule_search_locations[0]) / "accountants" / "analysis" / "rdp.py"
    spec = spec_from_file_location("opacus_analysis_rdp", path)
    if spec is None or spec.loader is None:
        raise ImportError("opacus")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# --- dp-accounting -------------------------------------------------------------------------------


def google_exact(noise: float, count: int, delta: float) -> Answer:
    """Epsilon of ``count`` Gaussian releases by its exact formula."""
    solve = _loaded("dp-accounting").get_epsilon_gaussian
    return lambda: float(solve(noise / math.sqrt(count), delta))


def google_exact_table(noises: Array, deltas: Array) -> Table:
    """The same for noises ``(n,)`` of one release and deltas ``(m,)``: a table ``(n, m)``."""
    solve = _loaded("dp-accounting").get_epsilon_gaussian
    return lambda: np.array([[solve(z, d) for d in deltas] for z in noises.tolist()])


def google_sigma(epsilon: float, delta: float) -> Answer:
    """The noise multiplier of one Gaussian release for a budget."""
    solve = _loaded("dp-accounting").get_sigma_gaussian
    return lambda: float(solve(epsilon, delta))


def _google_events() -> Any:
    return import_module("dp_accounting.dp_event")


def google_poisson(noise: float, rate: float) -> Any:
    """The peer's event of one release on a Poisson sample."""
    events = _google_events()
    return events.PoissonSampledDpEvent(rate, events.GaussianDpEvent(noise))


def google_fixed_size(noise: float, rate: float) -> Any:
    """The peer's event of one release on a sample of fixed size."""
    events = _google_events()
    sample = round(rate * _TABLE)
    return events.SampledWithoutReplacementDpEvent(_TABLE, sample, events.GaussianDpEvent(noise))


def google_gaussian(noise: float) -> Any:
    """The peer's event of one Gaussian release."""
    return _google_events().GaussianDpEvent(noise)


def google_laplace(scale: float) -> Any:
    """The peer's event of one Laplace release."""
    return _google_events().LaplaceDpEvent(scale)


def _google_rdp(*, replaced: bool) -> Callable[[], Any]:
    """Makes fresh Rényi accountants with the peer's default orders."""
    _loaded("dp-accounting")
    accountant_class = import_module("dp_accounting.rdp").RdpAccountant
    relation = import_module("dp_accounting.privacy_accountant").NeighboringRelation
    chosen = relation.REPLACE_ONE if replaced else relation.ADD_OR_REMOVE_ONE
    return lambda: accountant_class(neighboring_relation=chosen)


def _google_pld() -> Callable[[], Any]:
    """Makes fresh accountants of privacy-loss distributions."""
    _loaded("dp-accounting")
    accountant_class = import_module("dp_accounting.pld").PLDAccountant
    return lambda: accountant_class(value_discretization_interval=INTERVAL)


Releases: TypeAlias = Sequence[tuple[Any, int]]  # the peer's events with their counts


def _asked(fresh: Callable[[], Any], releases: Releases, delta: float) -> Answer:
    def answer() -> float:
        accountant = fresh()
        for event, count in releases:
            accountant.compose(event, count)
        return float(accountant.get_epsilon(delta))

    return answer


def google_rdp(releases: Callable[[], Releases], delta: float, *, replaced: bool = False) -> Answer:
    """Epsilon by its Rényi accountant; replaced: neighbours differ by a replaced row."""
    fresh = _google_rdp(replaced=replaced)
    return _asked(fresh, releases(), delta)


def google_rdp_table(
    release: Callable[[float], Any], noises: Array, deltas: Array, count: int
) -> Table:
    """Epsilons ``(noises, deltas)``: one accountant for each noise, asked for every delta, which is
    the peer's best loop."""
    fresh = _google_rdp(replaced=False)

    def answer() -> Array:
        rows = []
        for noise in noises.tolist():
            accountant = fresh().compose(release(noise), count)
            rows.append([accountant.get_epsilon(delta) for delta in deltas.tolist()])
        return np.array(rows)

    return answer


def google_pld(releases: Callable[[], Releases], delta: float) -> Answer:
    """Epsilon by its privacy-loss distributions, an upper bound."""
    fresh = _google_pld()
    return _asked(fresh, releases(), delta)


def google_kov(epsilon: float, count: int, delta: float) -> Answer:
    """Its form of the optimal composition of pure releases (values on its grid only)."""
    _loaded("dp-accounting")
    pair = import_module("dp_accounting.pld.common").DifferentialPrivacyParameters
    solve = import_module("dp_accounting.pld.accountant").advanced_composition
    return lambda: float(solve(pair(epsilon, 0.0), count, delta))


def google_kov_pld(epsilon: float, count: int, delta: float) -> Answer:
    """The same by its privacy-loss distribution with steps of epsilon, which is exact."""
    _loaded("dp-accounting")
    pair = import_module("dp_accounting.pld.common").DifferentialPrivacyParameters
    law = import_module("dp_accounting.pld.privacy_loss_distribution").from_privacy_parameters

    def answer() -> float:
        single = law(pair(epsilon, 0.0), value_discretization_interval=epsilon)
        return float(single.self_compose(count).get_epsilon_for_delta(delta))

    return answer


def google_calibrate(
    method: str, release: Callable[[float], Any], count: int, epsilon: float, delta: float
) -> Answer:
    """Its own search between two noise multipliers, to its tolerance of 1e-4."""
    peer = _loaded("dp-accounting")
    fresh = _google_rdp(replaced=False) if method == "rdp" else _google_pld()
    bracket = peer.ExplicitBracketInterval(0.4, 60.0)
    composed = _google_events().SelfComposedDpEvent

    def answer() -> float:
        multiplier = peer.calibrate_dp_mechanism(
            fresh,
            lambda noise: composed(release(noise), count),
            epsilon,
            delta,
            bracket_interval=bracket,
            tol=1e-4,
        )
        return float(multiplier)

    return answer


# --- autodp --------------------------------------------------------------------------------------


def autodp_exact(noise: float, count: int, delta: float) -> Answer:
    """Epsilon of ``count`` Gaussian releases by its exact formula."""
    _loaded("autodp")
    with _quiet():
        mechanism = import_module("autodp.mechanism_zoo").ExactGaussianMechanism
        composed = import_module("autodp.transformer_zoo").ComposeGaussian
    return lambda: float(composed()([mechanism(sigma=noise)], [count]).get_approxDP(delta))


def autodp_sigma(epsilon: float, delta: float) -> Answer:
    """The noise multiplier of one Gaussian release for a budget."""
    _loaded("autodp")
    solve = import_module("autodp.privacy_calibrator").ana_gaussian_mech
    return lambda: float(solve(epsilon, delta)["sigma"])


def autodp_rdp(kind: str, noise: float, rate: float, count: int, delta: float) -> Answer:
    """kind: ``plain``, ``poisson`` or ``fixed size`` (Theorem 27)."""
    fresh = _loaded("autodp").anaRDPacct
    curve = import_module("autodp.rdp_bank").RDP_gaussian

    def divergence(order: float) -> Any:
        return curve({"sigma": noise}, order)

    def answer() -> float:
        with _quiet(), np.errstate(all="ignore"):
            accountant = fresh()
            if kind == "plain":
                accountant.compose_mechanism(divergence, count)
            elif kind == "poisson":
                accountant.compose_poisson_subsampled_mechanisms(divergence, rate, coeff=count)
            else:
                accountant.compose_subsampled_mechanism(
                    divergence, rate, coeff=count, improved_bound_flag=True
                )
            return float(accountant.get_eps(delta))

    return answer


# --- the others ----------------------------------------------------------------------------------


def opacus_rdp(noise: float, rate: float, count: int, delta: float) -> Answer:
    """Orders as in its RDPAccountant: 1.1, 1.2, .. 10.9, 12, 13, .. 63."""
    peer = _loaded("opacus")
    orders = [1 + x / 10.0 for x in range(1, 100)] + list(range(12, 64))

    def answer() -> float:
        curve = peer.compute_rdp(q=rate, noise_multiplier=noise, steps=count, orders=orders)
        return float(peer.get_privacy_spent(orders=orders, rdp=curve, delta=delta)[0])

    return answer


def accelerator_rdp(noise: float, rate: float, count: int, delta: float) -> Answer:
    """Its accountant's own orders, at a sampling rate instead of two sizes."""
    peer = _loaded("dp-accelerator")
    orders = peer.DPSGDAccountant(noise, 1, 1).orders
    return lambda: float(peer.compute_epsilon_batch(rate, noise, [count], orders, delta)[0])


def accelerator_rdp_table(rate: float, noises: Array, deltas: Array, count: int) -> Table:
    """A table ``(noises, deltas)`` by one call for each cell; it has none for several."""
    peer = _loaded("dp-accelerator")
    orders = peer.DPSGDAccountant(1.0, 1, 1).orders

    def answer() -> Array:
        return np.array(
            [
                [
                    peer.compute_epsilon_batch(rate, z, [count], orders, d)[0]
                    for d in deltas.tolist()
                ]
                for z in noises.tolist()
            ]
        )

    return answer


def prv_epsilon(laws: Callable[[Any], Sequence[tuple[Any, int]]], delta: float) -> Answer:
    """laws: given its module, its mechanisms with their counts."""
    peer = _loaded("prv-accountant")

    def answer() -> float:
        mechanisms, counts = zip(*laws(peer), strict=True)
        with _quiet(), np.errstate(all="ignore"):
            accountant = peer.PRVAccountant(
                prvs=list(mechanisms),
                max_self_compositions=list(counts),
                eps_error=_ERROR,
                delta_error=delta * 1e-3,
            )
            return float(accountant.compute_epsilon(delta, list(counts))[2])

    return answer


def prv_noise(rate: float, count: int, epsilon: float, delta: float) -> Answer:
    """The noise multiplier of ``count`` releases on Poisson samples for a budget."""
    _loaded("prv-accountant")
    solve = import_module("prv_accountant.dpsgd").find_noise_multiplier

    def answer() -> float:
        with _quiet(), np.errstate(all="ignore"):
            return float(solve(rate, count, epsilon, delta, eps_error=_ERROR))

    return answer


def opendp_curve(rho: float, delta: float) -> Answer:
    """Epsilon of a zCDP cost by the tight conversion."""
    curve_of = _opendp_curves()
    return lambda: float(curve_of(rho).epsilon(delta))


def opendp_table(rhos: Array, deltas: Array) -> Table:
    """Epsilons ``(rhos, deltas)``: one curve for each zCDP cost, asked for every delta."""
    curve_of = _opendp_curves()

    def answer() -> Array:
        curves = map(curve_of, rhos.tolist())
        return np.array([[curve.epsilon(delta) for delta in deltas.tolist()] for curve in curves])

    return answer


def _opendp_curves() -> Callable[[float], Any]:
    """Makes the privacy curve of a zCDP cost."""
    peer = _loaded("opendp")
    peer.enable_features("contrib")
    space = peer.atom_domain(T=float, nan=False), peer.absolute_distance(T=float)

    def curve_of(rho: float) -> Any:
        release = peer.m.make_gaussian(*space, scale=math.sqrt(0.5 / rho))
        return peer.c.make_zCDP_to_approxDP(release).map(1.0)

    return curve_of


# --- fits ----------------------------------------------------------------------------------------


def on_one_core(job: Callable[[], object]) -> Callable[[], object]:
    """The same job with its threads limited to one."""

    def alone() -> object:
        from threadpoolctl import threadpool_limits

        with threadpool_limits(1):
            return job()

    return alone


ELSEWHERE = "DPCORE_PEERS_PYTHON"  # the interpreter of peers that our own pins do not allow


def why_missing_elsewhere(package: str) -> str | None:
    """``None`` where the interpreter that :data:`ELSEWHERE` names has the peer, else why not."""
    return _why_missing_in(os.environ.get(ELSEWHERE, ""), package)


@cache
def _why_missing_in(interpreter: str, package: str) -> str | None:
    if not interpreter:
        return (
            f"{package} needs its own environment; set {ELSEWHERE} to the path of that "
            "environment's interpreter"
        )
    words = [interpreter, "-W", "ignore", "-c", f"import {package}.models"]
    try:
        done = subprocess.run(words, capture_output=True, check=False)
    except OSError:
        return f"{ELSEWHERE} does not name an interpreter that can be run"
    return (
        f"{package} cannot be imported by the interpreter that {ELSEWHERE} names"
        if done.returncode
        else None
    )


@dataclass(frozen=True, eq=False)
class PrivateCentres:
    """What a peer's private k-means found: centres ``(draws, K, d)``, and the least seconds of a
    fit, without imports."""

    centres: Array
    seconds: float
    version: str


def private_centres(rows: Array, components: int, epsilon: float, draws: int) -> PrivateCentres:
    """diffprivlib's k-means of rows ``(n, d)`` in ``[-1, 1]^d``, which it is told."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.npy"
        np.save(path, rows)
        words = [os.environ[ELSEWHERE], "-W", "ignore", "-c", _PRIVATE_KMEANS, str(path)]
        words += [str(components), str(epsilon), str(draws)]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
    record = json.loads(done.stdout.splitlines()[-1])
    return PrivateCentres(np.array(record["centres"]), min(record["seconds"]), record["version"])


_PRIVATE_KMEANS = """
import json, sys, time
import numpy as np
from importlib.metadata import version
from diffprivlib.models import KMeans
rows = np.load(sys.argv[1])
components, epsilon, draws = int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
bounds = np.full(rows.shape[1], -1.0), np.full(rows.shape[1], 1.0)
seconds, centres = [], []
for draw in range(draws):
    model = KMeans(components, epsilon=epsilon, bounds=bounds, random_state=draw)
    begun = time.perf_counter()
    model.fit(rows)
    seconds.append(time.perf_counter() - begun)
    centres.append(model.cluster_centers_.tolist())
print(json.dumps({"seconds": seconds, "centres": centres, "version": version("diffprivlib")}))
"""
