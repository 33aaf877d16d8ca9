"""Audit: run a private method many times on two neighbouring tables and try to tell them apart.

What an attacker achieves is a lower bound on epsilon: it can refute a claim, never prove one.
"""

from __future__ import annotations

from typing import Any

from dpcore.auditing.audit import Audit, Auditable, audited
from dpcore.checks import one_of, probability, whole
from dpcore.declaration import declarations
from dpcore.privacy import Privacy
from dpcore.privacy.budget import MODES, demand_privacy
from dpcore.registry import load

# What can be attacked by name: mechanisms, and whole fits as the models declare.
AUDITS = {
    "gaussian": "dpcore.auditing.mechanisms:GAUSSIAN",
    "laplace": "dpcore.auditing.mechanisms:LAPLACE",
    "discrete-gaussian": "dpcore.auditing.mechanisms:DISCRETE_GAUSSIAN",
    **{
        name: f"{model.package}.{place}"
        for model in declarations().values()
        for name, place in model.audits.items()
    },
}
MOST = 10**9  # runs of each table
LEAST = 20  # runs of each table: fewer say nothing at any confidence


def audit(
    name: str,
    privacy: Privacy | None = None,
    *,
    mode: str = "proved",
    runs: int | None = None,
    seed: int = 0,
    confidence: float = 0.95,
    half: bool = True,
    **options: Any,
) -> Audit:
    """The lower bound that an attack on a mechanism or a whole fit shows, with its confidence.

    name: one of :data:`AUDITS`. privacy: what is attacked; ``None`` for the audit's own
    budget in ``mode``. runs: of each of the two tables; ``None`` for the audit's own. half: also
    run it at half its noise, which the attack should catch. seed: of tables, noise and attack;
    noise on a grid comes from the operating system whatever the seed.
    options: the model's own, in place of the audit's.

    **Guarantee.** If what the ledger says of the noise is true, the bound exceeds the true epsilon
    with a chance of at most ``1 - confidence``; ``lower_any`` does, whatever the noise is.
    Raises InputError for a name without an attack, for an option that the model does not have, and
    for a privacy that is no :class:`dpcore.Privacy` or has no delta.

    >>> found = audit("gmm", Privacy(epsilon=1.0, delta=1e-5), runs=400, iterations=2)
    >>> found.lower < 1.0, found.contradicts_proof
    (True, False)
    """
    subject = _subject(name)
    if privacy is not None:
        demand_privacy(privacy)
    request = subject.request(privacy, one_of("mode", mode, MODES))
    return audited(
        name,
        subject,
        request,
        runs=subject.runs if runs is None else whole("runs", runs, least=LEAST, most=MOST),
        seed=whole("seed", seed, least=0),
        confidence=probability("confidence", confidence, example="0.95"),
        half=half,
        **options,
    )


def modes(name: str) -> tuple[str, ...]:
    """The modes (``proved``, ``paper``) in which a mechanism or model can be attacked by
    :func:`audit`. Raises InputError for an unknown name.
    """
    return _subject(name).modes


def audits() -> dict[str, str]:
    """What can be audited: name, and a line."""
    return {name: str(load(target).about) for name, target in AUDITS.items()}


def budget(name: str, mode: str = "proved") -> Privacy:
    """The budget that :func:`audit` attacks by default. Raises InputError for an unknown name or
    mode.
    """
    return _subject(name).request(None, one_of("mode", mode, MODES))


def _subject(name: str) -> Auditable:
    subject: Auditable = load(AUDITS[one_of("model", name, tuple(AUDITS))])
    return subject
