"""The worst pair of output laws of a release: whoever cannot tell these two apart learns nothing.

A pair (P, Q) dominates a mechanism when no pair of neighbouring tables is easier to tell apart, at
any epsilon; then its powers dominate repeated, adaptive releases (Dong, Roth, Su 2022; Zhu, Dong,
Wang 2022, Theorem 10). The pairs here:

- normal noise: N(mu/2, 1) against N(-mu/2, 1), mu = 1 / noise multiplier; Laplace noise of scale
  1/s, on a number or a vector (lemma of :func:`laplace`): two Laplace laws s apart; a black box:
  randomised response with a chance delta of giving all away (Kairouz, Oh, Viswanath 2015, proof of
  Theorem 3.3); discrete normal noise: two integer shifts of it.
- a Poisson sample with rate r, one row added or removed: (1-r) Q + r P against Q, and the same
  turned round (Zhu, Dong, Wang 2022, Theorem 11). Neither is worse at every epsilon: both are kept.
- a sample of fixed size, one row replaced: for epsilon >= 0 the curve of (1-r) Q + r P against Q,
  and for epsilon < 0 its mirror image (Balle, Barthe, Gaboardi 2018, Theorem 9: advanced joint
  convexity; Zhu, Dong, Wang 2022, Proposition 30). That curve is that of one symmetric pair: the
  losses above 0 are those of the first pair, those below 0 of the second, the rest is exactly 0.
- a Poisson sample, one row replaced, normal noise: (1-r) N(0) + r N(+m) against
  (1-r) N(0) + r N(-m), where a row contributes at most m = half the sensitivity in any direction
  (rows clipped to a ball around 0). After Schuchardt et al. 2024; that it is the worst of all such
  rows is their theorem, tried here on a grid of rows, not proved again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.special import expit, log_expit, ndtr

from dpcore.arrays import Array, Mask
from dpcore.errors import NotCovered
from dpcore.privacy.events import (
    DiscreteGaussian,
    EpsilonDelta,
    Event,
    Gaussian,
    Laplace,
)

Curve = Callable[[Array], Array]
_MOST_POINTS = 2**22  # of a discrete law
_LARGEST = 600.0  # exponent


@dataclass(frozen=True, eq=False)
class Piece:
    """A stretch of outputs with densities: the loss increases along it.

    low, high: ends of the stretch. width: length over which nothing changes much. log_p, log_q:
    log densities. loss: log p/q. position: its inverse (infinite where no output has that loss).
    """

    low: float
    high: float
    width: float
    log_p: Curve
    log_q: Curve
    loss: Curve
    position: Curve


@dataclass(frozen=True, eq=False)
class Pair:
    """P against Q: outputs with densities, and single outputs with probabilities (p, q).

    loss: log p/q of single outputs, also where p or q is too small to be written down; infinite
    where one of them cannot occur. tail: probability, under either law, of outputs left out.
    filled: the rest of P has loss 0.
    """

    pieces: tuple[Piece, ...] = ()
    p: Array = field(default_factory=lambda: np.zeros(0))
    q: Array = field(default_factory=lambda: np.zeros(0))
    loss: Array = field(default_factory=lambda: np.zeros(0))
    tail: float = 0.0
    filled: bool = False


def pairs_of(event: Event, reach: float) -> tuple[Pair, ...]:
    """The dominating pair, or the two of them where neither is worse: row removed, row added.

    reach: standard deviations beyond which normal noise is left out.
    Raises NotCovered where no theorem names the pair.
    """
    check_sampling(event)
    plain = _plain(event, reach)
    rate = event.sampling_rate
    if event.sampling == "none" or rate == 1.0:
        return (plain,)
    if event.sampling == "without_replacement":
        return (_mirrored(_sampled(plain, rate)),)
    if event.adjacency == "add_remove":
        sampled = _sampled(plain, rate)
        return (sampled, _turned(sampled))
    assert isinstance(event.mechanism, Gaussian)  # all else is refused above
    return (_replaced(_mu(event.mechanism.noise_multiplier), rate, reach),)


def check_sampling(event: Event) -> None:
    """Raise NotCovered, naming what to ask instead, where no theorem names the pair.

    Of a vector with discrete noise none is known. Under ``label`` and ``feature`` the noise covers
    the change of a label (or of features) alone. Whether the row is in the sample shows as a larger
    change, so a sample hides nothing more.
    """
    if isinstance(event.mechanism, DiscreteGaussian) and event.mechanism.steps is None:
        raise _no_worst_pair()
    if event.sampling == "none":
        return
    if event.adjacency in ("label", "feature"):
        raise NotCovered(
            "sampling",
            "noise that covers only part of a row does not hide whether the row is in a sample",
            "choose adjacency replace_one or add_remove, or leave the sampling out (sampling none)",
        )
    if event.sampling == "without_replacement" and event.adjacency == "add_remove":
        raise NotCovered(
            "sampling",
            "none of the theorems used covers fixed-size samples when a row is added or removed",
            "choose adjacency replace_one, or sampling poisson",
        )
    if replaced_in_poisson(event) and not isinstance(event.mechanism, Gaussian):
        raise NotCovered(
            "sampling",
            "for Poisson samples under replace_one, the theorem covers Gaussian noise only",
            "choose adjacency add_remove, or sampling without_replacement",
        )


def replaced_in_poisson(event: Event) -> bool:
    """Whether a pair is used that needs rows in a ball around 0."""
    return event.sampling == "poisson" and event.adjacency == "replace_one"


def _mu(noise: object) -> float:
    return 1.0 / float(noise)  # type: ignore[arg-type]


def _plain(event: Event, reach: float) -> Pair:
    """Without sampling."""
    match event.mechanism:
        case Gaussian(noise_multiplier=noise):
            return gaussian(_mu(noise), reach)
        case Laplace(scale=scale):
            return laplace(_mu(scale))
        case DiscreteGaussian(noise_multiplier=noise, steps=steps):
            if steps is None:
                raise _no_worst_pair()
            return discrete(float(noise) * steps, steps, reach)
        case EpsilonDelta(epsilon=epsilon, delta=delta):
            return box(float(epsilon), delta)


def _no_worst_pair() -> NotCovered:
    return NotCovered(
        "mechanism",
        "no dominating pair is known for discrete Gaussian noise on a vector",
        "choose zcdp_tight or rdp",
    )


def gaussian(mu: float, reach: float) -> Pair:
    """N(mu/2, 1) against N(-mu/2, 1); the loss at x is mu x."""
    half, constant = 0.5 * mu, 0.5 * np.log(2.0 * np.pi)
    return Pair(
        (
            Piece(
                low=-half - reach,
                high=half + reach,
                width=min(1.0, 1.0 / mu),
                log_p=lambda x: -0.5 * np.square(x - half) - constant,
                log_q=lambda x: -0.5 * np.square(x + half) - constant,
                loss=lambda x: mu * x,
                position=lambda loss: loss / mu,
            ),
        ),
        tail=float(ndtr(-reach)),
    )


def laplace(shift: float) -> Pair:
    """Two Laplace laws ``shift`` scales apart, by their loss: atoms at both ends, e^(x/2) between.

    Under P: 1/2 at +shift, e^-shift / 2 at -shift, density e^((x - shift)/2) / 4 between.

    **Lemma.** The pair dominates that of a vector with independent noise whose entries move by
    ``a, b, ...`` with ``a + b + ... <= shift``.

    *Proof.* Let R_s be P/Q at shift s, with its law under Q, and ``Z_s = s - 2 min(E, s)``, E
    exponential of mean 1. The loss is s or Z_s under P, each with probability 1/2, and minus that
    under Q, so for convex f and c > 0 the derivative of ``E f(c R_s)`` in s is
    ``c E[f'(c e^s) - f'(c e^Z_s)] / 2 >= 0``: a larger shift dominates a smaller one. Let
    ``V(a, b) = E f(R_a R_b)``. With that, once under the law of R_b and once under that of R_a,

        dV/da - dV/db = E[f'(e^(a + Z_b)) - f'(e^(b + Z_a))] / 2,

    as all else cancels. It is not negative for ``a >= b``, where ``min(E, b) <= min(E, a)``. So
    ``V(a + b - t, t)`` falls while t grows from 0 to half of ``a + b``, and
    ``V(a, b) <= V(a + b, 0)``: two entries are dominated by one, and, as another independent factor
    leaves f convex, so are several. With ``f(x) = (x - e^epsilon)_+`` it is delta. QED.
    """
    ends = np.array([0.5, 0.5 * np.exp(-shift)])
    start = -np.log(4.0) - 0.5 * shift
    piece = Piece(
        low=-shift,
        high=shift,
        width=1.0,
        log_p=lambda x: start + 0.5 * x,
        log_q=lambda x: start - 0.5 * x,
        loss=lambda x: x,
        position=lambda loss: loss,
    )
    return Pair((piece,), p=ends, q=ends[::-1], loss=np.array([shift, -shift]))


def box(epsilon: float, delta: float) -> Pair:
    """Randomised response; with probability delta the answer is given away, either way round."""
    likely, unlikely = (1.0 - delta) * expit(epsilon), (1.0 - delta) * expit(-epsilon)
    p = np.array([likely, unlikely, delta, 0.0])
    q = np.array([unlikely, likely, 0.0, delta])
    loss = np.array([epsilon, -epsilon, np.inf, -np.inf])
    positive = (p > 0.0) | (q > 0.0)
    return Pair(p=p[positive], q=q[positive], loss=loss[positive])


def discrete(scale: float, steps: int, reach: float) -> Pair:
    """Discrete normal noise of ``scale`` around ``steps`` and around 0, on the whole numbers.

    Its moment generating function is at most the normal law's (Canonne, Kamath, Steinke 2020), so
    both tails together hold at most 2 exp(-reach^2 / 2).
    Raises NotCovered for a lattice too long to hold.
    """
    far = int(np.ceil(reach * scale)) + steps + 1
    if 2 * far + steps > _MOST_POINTS:
        raise NotCovered(
            "mechanism", "the noise has too many values for one lattice", "choose zcdp_tight"
        )
    whole = np.arange(-far, far + steps + 1, dtype=float)
    noise = np.exp(-0.5 * np.square(whole / scale))
    moved = np.exp(-0.5 * np.square((whole - steps) / scale))
    total = float(np.sum(noise))
    loss = (whole - 0.5 * steps) * (steps / scale**2)
    return Pair(
        p=moved / total, q=noise / total, loss=loss, tail=2.0 * float(np.exp(-0.5 * reach**2))
    )


def _sampled(pair: Pair, rate: float) -> Pair:
    """(1-r) Q + r P against Q: what a random sample leaves of a pair."""
    pieces = tuple(_sampled_piece(piece, rate) for piece in pair.pieces)
    mixed = (1.0 - rate) * pair.q + rate * pair.p
    return replace(pair, pieces=pieces, p=mixed, loss=_mixed(pair.loss, rate))


def _sampled_piece(piece: Piece, rate: float) -> Piece:
    def loss(x: Array) -> Array:
        return _mixed(piece.loss(x), rate)

    return replace(
        piece,
        log_p=lambda x: piece.log_q(x) + loss(x),
        loss=loss,
        position=lambda value: piece.position(_unmixed(value, rate)),
    )


def _mixed(loss: Array, rate: float) -> Array:
    """log(1 - r + r e^loss); near 0 by a form that keeps small losses, else without cancelling."""
    if rate <= 0.5:  # the sum is at least 1/2, so one form has all digits
        rise = rate * np.expm1(np.minimum(loss, _LARGEST))
        return np.asarray(np.log1p(rise) + np.maximum(loss - _LARGEST, 0.0))
    mixed = np.log1p(rate * np.expm1(np.clip(loss, -1.0, 1.0)))
    far = np.abs(loss) > 1.0
    return np.asarray(np.where(far, _mixed_far(loss, rate, far), mixed))


def _mixed_far(loss: Array, rate: float, far: Mask) -> Array:
    """log(1 - r + r e^loss) where ``far``; the rest is not worked out."""
    start = np.zeros(np.shape(loss))
    return np.asarray(np.logaddexp(np.log1p(-rate), np.log(rate) + loss, out=start, where=far))


def _unmixed(value: Array, rate: float) -> Array:
    """The inverse of :func:`_mixed`; -infinity at and below log(1 - r)."""
    with np.errstate(divide="ignore", over="ignore"):
        near = np.log1p(np.maximum(np.expm1(np.clip(value, -1.0, 1.0)) / rate, -1.0))
        remaining = np.log1p(-np.minimum((1.0 - rate) * np.exp(-value), 1.0))
    return np.asarray(np.where(np.abs(value) > 1.0, value - np.log(rate) + remaining, near))


def _turned(pair: Pair) -> Pair:
    """Q against P."""
    pieces = tuple(map(_turned_piece, pair.pieces))
    return replace(pair, pieces=pieces, p=pair.q, q=pair.p, loss=-pair.loss)


def _turned_piece(piece: Piece) -> Piece:
    return Piece(
        low=-piece.high,
        high=-piece.low,
        width=piece.width,
        log_p=lambda x: piece.log_q(-x),
        log_q=lambda x: piece.log_p(-x),
        loss=lambda x: -piece.loss(-x),
        position=lambda loss: -piece.position(-loss),
    )


def _mirrored(pair: Pair) -> Pair:
    """The symmetric pair whose losses above 0 are those of ``pair``; what is left has loss 0."""
    above = tuple(
        replace(piece, low=max(piece.low, float(piece.position(np.zeros(())))))
        for piece in pair.pieces
    )
    revealing = pair.loss > 0.0
    p, q, loss = pair.p[revealing], pair.q[revealing], pair.loss[revealing]
    return Pair(
        pieces=(*above, *map(_turned_piece, above)),
        p=np.append(p, q),
        q=np.append(q, p),
        loss=np.append(loss, -loss),
        tail=pair.tail,
        filled=True,
    )


def _replaced(mu: float, rate: float, reach: float) -> Pair:
    """(1-r) N(0, 1) + r N(m, 1) against (1-r) N(0, 1) + r N(-m, 1), with m = mu / 2."""
    half, constant = 0.5 * mu, 0.5 * np.log(2.0 * np.pi)
    stay, go = np.log1p(-rate), np.log(rate) - 0.5 * half**2

    def log_side(x: Array, sign: float) -> Array:
        return np.asarray(np.logaddexp(stay, go + sign * half * x) - 0.5 * np.square(x) - constant)

    def loss(x: Array) -> Array:
        """log[(1 + k e^(mx)) / (1 + k e^(-mx))], k = e^(go - stay), without cancellation at 0."""
        gap, weight = mu * np.abs(x), go - stay + half * np.abs(x)
        near = -np.log1p(np.expm1(-np.minimum(gap, 1.0)) * expit(weight))
        far = -np.logaddexp(log_expit(-weight), log_expit(weight) - gap)
        return np.asarray(np.sign(x) * np.where(gap > 1.0, far, near))

    def position(value: Array) -> Array:
        """The root r = e^(m x) of k r^2 + (1 - e^v) r - k e^v = 0, for v >= 0; odd in v."""
        size = np.minimum(np.abs(value), 300.0)
        with np.errstate(divide="ignore"):
            gain = np.log(np.expm1(size))
        root = 0.5 * np.logaddexp(2.0 * gain, np.log(4.0) + 2.0 * (go - stay) + size)
        far = np.abs(value) - size  # above 300 the root is e^v / k
        scaled = np.logaddexp(gain, root) - np.log(2.0) - (go - stay) + far
        return np.asarray(np.sign(value) * np.maximum(scaled, 0.0) / half)

    piece = Piece(
        low=-half - reach,
        high=half + reach,
        width=min(1.0, 1.0 / mu),
        log_p=lambda x: log_side(x, 1.0),
        log_q=lambda x: log_side(x, -1.0),
        loss=loss,
        position=position,
    )
    return Pair((piece,), tail=float(ndtr(-reach)))
