"""The portrait of a sigmoid belief network: what each hidden unit switches on, as small images."""

from __future__ import annotations

from dpcore.figures.parts import Parts, cosines, drawing
from dpcore.figures.portrait import Drawing, Portrait, Subject


def draw(subject: Subject) -> Drawing:
    """Weights of the hidden units, exact beside private."""
    truth, private = subject.exact.weights[0], subject.private.weights[:, 0]
    return drawing(
        Parts(
            exact=truth,
            private=private,
            label="weight (log odds of a pixel)",
            part="unit",
            columns=subject.public.names,
            verb="switches on",
            likeness=cosines(private, truth),
            note="cos {:.2f}",
            alike="cosine {:.2f} with the exact one",
        ),
        subject.image,
    )


PORTRAIT: Portrait = draw
