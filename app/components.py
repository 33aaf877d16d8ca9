"""Pieces every page uses; the only place that prints a guarantee."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape
from typing import Any

import numpy as np
import streamlit as st

from app.callbacks import unbroken
from app.frame import brand_html
from app.texts import frame as texts
from dpcore.accounting.gaussian import all_gaussian
from dpcore.errors import DPCoreError
from dpcore.figures.scene import Scene
from dpcore.privacy import Event, Guarantee, Laplace, Ledger
from dpcore.privacy.events import noise_of
from dpcore.privacy.guarantee import show, show_delta


def brand(provenance: str) -> None:
    """The product's name and what the data on this page is; what of the address is not known."""
    st.html(brand_html(texts.PROVENANCE[provenance]))
    names = ", ".join(st.session_state.get("misread", ()))
    if names:
        st.warning(texts.misread(texts.literal(names)), icon=":material/link_off:")


def ends(low: str, high: str) -> None:
    """What the ends of the slider above mean."""
    st.html(ends_html(low, high))


def ends_html(low: str, high: str) -> str:
    """The same as HTML."""
    return f'<p class="dp-ends"><span>◂ {low}</span><span>{high} ▸</span></p>'


def toggle(title: str, key: str, help: str) -> None:
    """A button that shows what is called so, or hides it; the session's state says under the key
    whether it is shown."""
    shown = bool(st.session_state.get(key))

    @unbroken
    def turn() -> None:
        st.session_state[key] = not shown

    st.button(
        f"Hide {title[0].lower()}{title[1:]}" if shown else title,
        help=help,
        on_click=turn,
    )


def live_line(name: str, css: str, text: str) -> None:
    """A line whose text follows the hand: the live picture replaces it at every step."""
    st.html(live_line_html(name, css, text))


def loss_bar(scene: Scene, worth: str, *, rows: bool) -> None:
    """What the fit loses against the exact one, as a bar whose parts follow the hand.

    worth: in what the loss is measured. rows: whether fewer rows can be fitted than the exact fit
    has, which is one part more.
    """
    losses = {name: title for name, title in texts.LOSSES.items() if rows or name != "rows"}

    def now(name: str) -> str:
        return scene.live_text[name][scene.step]

    bar = "".join(
        f'<i class="dp-{name}" data-live-width="wide {name}" style="width:{now(f"wide {name}")}">'
        "</i>"
        for name in losses
    )
    parts = " · ".join(
        f'<span><i class="dp-{name}"></i>{title} <b data-live="lost {name}">'
        f"{now(f'lost {name}')}</b></span>"
        for name, title in losses.items()
    )
    st.html(
        f'<div class="dp-loss" title="{texts.whole_bar(escape(worth))}">'
        f"<p>{texts.LOSS} {parts}"
        f'<span data-live="lost note">{now("lost note")}</span></p><div>{bar}</div></div>'
    )


def live_line_html(name: str, css: str, text: str) -> str:
    """The same as HTML."""
    return f'<p class="{css}" data-live="{name}">{marked(text)}</p>'


def marked(text: str) -> str:
    """``**bold**`` as HTML, everything else escaped."""
    parts = escape(text).split("**")
    return "".join(f"<b>{part}</b>" if i % 2 else part for i, part in enumerate(parts))


def guarantee_line(guarantee: Guarantee | None, refusal: str | None = None) -> str:
    """A guarantee in one line, with its claim first where a paper makes one; ``**`` marks bold."""
    if guarantee is None:
        return texts.no_fit(refusal)
    sentence = guarantee.sentence(show_delta)
    claim = guarantee.claim
    sentence += "".join(f" Note: {note}." for note in guarantee.notes)
    if claim is None:
        head, comma, rest = sentence.partition(", replacing")
        head, comma, rest = (head, comma, rest) if comma else sentence.partition(", adding")
        return f"**{head}**{comma}{rest}" if comma else sentence
    return texts.claim_with_guarantee(claim.epsilon, sentence, closed=guarantee.epsilon is not None)


def guarantee_details(guarantee: Guarantee) -> None:
    """Claim, proof, assumptions and notes: what stands behind the line."""
    if guarantee.claim is not None:
        st.markdown(texts.claim(guarantee.claim.epsilon, guarantee.claim.source))
        for reason in guarantee.claim.reasons:
            st.markdown(f"- {reason}")
    if guarantee.proof is not None:
        proof = guarantee.proof
        st.markdown(texts.proof(proof.epsilon, proof.delta, proof.kind, proof.source))
    else:
        st.markdown(texts.NOTHING_PROVED)
    st.markdown("**Assuming** that " + texts.literal("; ".join(guarantee.assumptions)) + ".")
    for note in guarantee.notes:
        st.markdown(f"**Note:** {texts.literal(note)}.")


def spending(ledger: Ledger) -> str:
    """What each release of a fit spends, as a table in Markdown; equal ones in a row share a line.

    Noise: scale / sensitivity. Share: of mu squared, where all noise is Gaussian (Dong, Roth, Su
    2022: squares add up).
    """
    lines: list[tuple[list[str], Event]] = []
    for entry in ledger:
        what, event = texts.literal(entry.what), entry.event
        if lines and lines[-1][1] == event:
            lines[-1][0].append(what)
        else:
            lines.append(([what], event))
    amounts = np.array([float(noise_of(event)) for _, event in lines])
    counts = np.array([len(whats) for whats, _ in lines])
    gaussian = all_gaussian([event for _, event in lines]) and bool(np.all(amounts > 0.0))
    table = [f"| {' | '.join(texts.SPENDING)} |", "| --- | ---: | ---: |"]
    for i, (whats, event) in enumerate(lines):
        releases = whats[0] if len(whats) == 1 else f"{whats[0]} … {whats[-1]} ({len(whats)} alike)"
        law = "Laplace " if isinstance(event.mechanism, Laplace) else ""
        noise = f"{law}{show(amounts[i])}" if amounts[i] > 0.0 else "none"
        share = "–"
        if gaussian:
            part = amounts[i] ** -2.0 / np.sum(counts / amounts**2)
            share = f"{part:.1%}" if counts[i] == 1 else f"{part:.1%} each"
        table.append(f"| {releases} | {noise} | {share} |")
    return "\n".join(table)


def look_again(more: Callable[[], bool], every: float) -> None:
    """Draw the page anew once there is more to show, without holding it up: asked every so often,
    more seldom where many visitors wait.

    At the end of a page: there its coming and going moves nothing, and swallows no click that
    something below it has not answered yet.
    """

    from app.result_store import pause  # with imports that a page which waits for nothing needs not
    from app.state import delivered

    @st.fragment(run_every=pause(every))
    def look() -> None:
        try:
            ready = more()
        except DPCoreError:
            ready = True  # the page itself says what is wrong
        if ready:
            delivered()  # the page has come to its end, and a hand may be on it
            st.rerun()

    look()


def to_page(page: str, query: Mapping[str, str], label: str, icon: str) -> None:
    """A link to a page in the state that a query names."""
    pages: dict[str, Any] = st.session_state.get("pages", {})
    if page in pages:
        st.page_link(pages[page], label=label, icon=icon, query_params=dict(query))
