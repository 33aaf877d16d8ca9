"""How soon the explorer answers, measured inside the page: ``python -m tests.studio.latency``.

A clock starts with the browser's own time stamp of the event (the release, the key, the click) and
stops in the first task after the frame that shows the answer. *Picture* is the main picture at the
wanted budget; *page* is everything: exact box, guarantee, link, and no run of the script left. A
time-out is a failure, not a long time.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from dpcore.privacy.guarantee import show

from .stage import COMPLETE, IDLE, SIZE, browser, grasp, serve, thumb, wait_until_complete

THUMB = thumb("epsilon_step")
BOX = ".st-key-epsilon_exact input"
WARM_UP = 5
PATIENCE = 30_000  # ms
LOOKED_AT_FIRST = 3000  # ms between a complete page and a choice

# Armed before the event, so that nothing is missed.
ARM = """
({kind, picture, page}) => {
  const timing = (window.timing = {});
  const shows = {picture: new Function(`return ${picture}`), page: new Function(`return ${page}`)};
  const stop = (name) => {
    const {port1, port2} = new MessageChannel();
    port1.onmessage = () => (timing[name] = performance.now() - timing.start);
    port2.postMessage(0);
  };
  const look = () => {
    const open = Object.keys(shows).filter((name) => !shows[name]());
    Object.keys(shows).filter((name) => !open.includes(name)).forEach((name) => {
      delete shows[name];
      stop(name);
    });
    if (open.length) requestAnimationFrame(look);
  };
  document.addEventListener(kind, (event) => {
    timing.start = event.timeStamp;
    requestAnimationFrame(look);
  }, {capture: true, once: true});
}
"""

DRAWN = "document.querySelector('.dpl').dataset.epsilon"
SCENE = "document.querySelector('.dpl').dataset.scene"
# Every composition method has its curve once nothing more comes.
OPEN = (
    f"{IDLE} && document.querySelectorAll('[data-panel=\"curve\"] .dpl-label').length > 2"
    " && !document.body.textContent.includes('comparing')"
)
EVERYWHERE = (
    f"Number(document.querySelector('{BOX}').value) === {{wanted}}"
    " && Number(new URLSearchParams(location.search).get('epsilon') ?? {wanted}) === {wanted}"
    " && document.querySelector('[data-live=guarantee]').textContent.includes('{label}')"
    f" && {IDLE}"
)


@dataclass(frozen=True)
class Answer:
    """Milliseconds from an event to the picture and to the whole page."""

    picture: float
    page: float


def timed(page: Any, kind: str, picture: str, whole: str, act: Callable[[], None]) -> Answer:
    """Do something and time the answer; the conditions are JavaScript expressions."""
    page.evaluate(ARM, {"kind": kind, "picture": picture, "page": whole})
    act()
    page.wait_for_function(
        "window.timing.picture !== undefined && window.timing.page !== undefined", timeout=PATIENCE
    )
    timing = page.evaluate("window.timing")
    return Answer(timing["picture"], timing["page"])


def release(page: Any, share: float) -> Answer:
    """Drag the thumb to a share of the track in small steps and let go."""
    x, y, left, width = grasp(page)
    goal = left + width * share
    for i in range(1, 13):
        page.mouse.move(x + (goal - x) * i / 12, y)
    page.wait_for_timeout(50)
    label = page.locator(THUMB).first.get_attribute("aria-valuetext")
    picture, whole = _conditions(label)
    return timed(page, "pointerup", picture, whole, page.mouse.up)


def key(page: Any, name: str) -> Answer:
    """Press an arrow key on the slider."""
    slider = page.locator(THUMB).first
    slider.focus()
    before = slider.get_attribute("aria-valuetext")
    now = f"document.querySelector('{THUMB.split(',')[1].strip()}').getAttribute('aria-valuetext')"
    moved = f"{now} !== '{before}' && {DRAWN} === {now}"
    whole = f"{moved} && Number(document.querySelector('{BOX}').value) === Number({now}) && {IDLE}"
    return timed(page, "keydown", moved, whole, lambda: page.keyboard.press(name))


def typed(page: Any, value: float) -> Answer:
    """Type a budget that is not on the slider's grid: it has to be fitted first."""
    box = page.locator(BOX)
    box.fill(f"{value:g}")
    picture, whole = _conditions(show(value))
    return timed(page, "keydown", picture, whole, lambda: box.press("Enter"))


def new_noise(page: Any) -> Answer:
    """Draw the noise again: the current point first, then its grid and the other draws."""
    changed = f"{SCENE} !== '{page.evaluate(SCENE)}'"
    button = page.get_by_role("button", name="New noise").first
    return timed(page, "click", changed, f"{changed} && ({COMPLETE.strip()})()", button.click)


def _conditions(label: str) -> tuple[str, str]:
    wanted = EVERYWHERE.format(wanted=float(label), label=f"epsilon = {label}")
    return f"{DRAWN} === '{label}'", wanted


def _slider(page: Any, releases: int) -> Iterator[tuple[str, list[Answer]]]:
    rng = np.random.default_rng(0)
    shares = 0.05 + 0.9 * rng.permutation(np.linspace(0, 1, WARM_UP + releases))
    yield "slider released", [release(page, share) for share in shares][WARM_UP:]
    yield "arrow key", [key(page, ("ArrowLeft", "ArrowRight")[i % 2]) for i in range(releases)]


def _series(page: Any, releases: int) -> Iterator[tuple[str, list[Answer]]]:
    yield from _slider(page, releases)
    some = max(3, releases // 3)
    yield "exact box, off the grid", [typed(page, 0.53 + 0.07 * i) for i in range(some)]
    yield "New noise", [new_noise(page) for _ in range(some)]


def measure(releases: int = 30) -> list[dict[str, Any]]:
    """One row an action: how many, and median and 95th percentile in ms of picture and page."""
    with browser() as chromium, serve() as url:
        page = chromium.new_page(viewport=SIZE)
        page.goto(url)
        wait_until_complete(page)
        return [_row(action, answers) for action, answers in _series(page, releases)]


def tables(names: Sequence[str], releases: int = 10) -> list[dict[str, Any]]:
    """The slider alone, on each table as it opens: one row a table and action.

    A table counts as open when nothing is left to run and nothing more is being worked out.
    """
    rows = []
    with browser() as chromium, serve() as url:
        for name in names:
            page = chromium.new_page(viewport=SIZE)
            page.goto(f"{url}/?data={name}")
            page.wait_for_function(OPEN, timeout=10 * PATIENCE)
            rows += [_row(f"{name}: {act}", times) for act, times in _slider(page, releases)]
            page.close()
    return rows


def starts(names: Sequence[str]) -> list[dict[str, Any]]:
    """Milliseconds from the start of the server's process, and from a visit to a warm server, to
    the first picture; a browser is already running, every visit begins without its cache.

    names: tables that nobody has opened on that server yet, one after the other.
    """
    measured: dict[str, list[float]] = {}
    with browser() as chromium:
        for _ in range(5):
            begun = perf_counter()
            with serve() as url:
                visits = {"process start": (url, COMPLETE), "warm server": (url, COMPLETE)}
                visits |= {name: (f"{url}/?data={name}", OPEN) for name in names}
                for visit, page in visits.items():
                    measured.setdefault(visit, []).append(_first_picture(chromium, *page, begun))
                    begun = perf_counter()
    return [
        {"action": name, "times": len(ms), "p50": round(np.median(ms)), "most": round(max(ms))}
        for name, ms in measured.items()
    ]


# The first time of each state of the curve and of the private panel under the hand, in ms.
WATCH = """
({ epsilon, scene }) => {
  const began = performance.now(), seen = (window.seen = { empty: 0 });
  let last = began;
  const look = () => {
    const now = performance.now();
    const set = document.querySelector(".dpl")?.dataset ?? {};
    const line = document.querySelector("[data-panel=curve] .dpl-strong")?.getAttribute("d") ?? "";
    const { min, max } = document.querySelector("input[type=range]") ?? {};
    const card = document.querySelector("[data-panel=private]");
    const stops = line.split(/[ML]/).length - 1, every = max - min + 1;
    const empty = card?.querySelector("svg").getAttribute("aria-label").endsWith("worked out.");
    const shows = {
      five: stops >= Math.min(5, every),
      whole: stops >= every,
      current: card && !empty && !card.classList.contains("dpl-late")
        && set.epsilon !== epsilon,
    };
    if (empty) seen.empty += now - last;
    last = now;
    for (const name in shows) if (shows[name] && set.scene !== scene) seen[name] ??= now - began;
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}
"""


def drags(names: Sequence[str], share: float = 0.3) -> list[dict[str, Any]]:
    """The slider dragged at once after each table has opened, and held: milliseconds until the fit
    of the stop under the hand is there, how many of them the private panel is empty, and until the
    curve has five stops and has all."""
    rows = []
    with browser() as chromium, serve() as url:
        for name in names:
            page = chromium.new_context(viewport=SIZE).new_page()
            page.goto(f"{url}/?data={name}", wait_until="commit")
            page.wait_for_selector(".dpl[data-epsilon]", timeout=4 * PATIENCE)
            page.evaluate(WATCH, {"epsilon": page.evaluate(DRAWN)})
            _, y, left, width = grasp(page)
            page.mouse.move(left + width * share, y, steps=6)
            page.wait_for_function("window.seen.current", timeout=4 * PATIENCE)
            page.mouse.up()
            rows.append(_watched(page, name))
            page.context.close()
    return rows


def changes(names: Sequence[str]) -> list[dict[str, Any]]:
    """One part fewer chosen on each table, three seconds after its page is complete: milliseconds
    from the choice as :func:`drags` has them. No fit of the new setting is stored."""
    rows = []
    with browser() as chromium, serve() as url:
        for name in names:
            page = chromium.new_context(viewport=SIZE).new_page()
            page.goto(f"{url}/?data={name}")
            wait_until_complete(page)
            page.wait_for_timeout(LOOKED_AT_FIRST)
            page.get_by_role("combobox", name="Model").click()
            options = page.get_by_role("option")
            current = options.evaluate_all("all => all.findIndex((o) => o.ariaSelected === 'true')")
            option = options.nth(current - 1)
            action = f"{name}: {option.inner_text()}"
            page.evaluate(WATCH, {"scene": page.evaluate(SCENE)})
            option.click()
            rows.append(_watched(page, action))
            page.context.close()
    return rows


def _watched(page: Any, action: str) -> dict[str, Any]:
    """What :data:`WATCH` saw, once the curve is whole."""
    page.wait_for_function("window.seen.whole", timeout=10 * PATIENCE)
    timing = page.evaluate("window.seen")
    columns = ("current", "empty", "five", "whole")
    return {"action": action, **{column: round(timing[column]) for column in columns}}


def _first_picture(chromium: Any, url: str, whole: str, begun: float) -> float:
    """Milliseconds since ``begun``; returns once the whole page is there, as the next visitor finds
    a server that rests."""
    page = chromium.new_context(viewport=SIZE).new_page()
    page.goto(url, wait_until="commit")
    page.wait_for_selector(".dpl[data-epsilon]", timeout=PATIENCE)
    spent = 1000 * (perf_counter() - begun)
    page.wait_for_function(whole, timeout=10 * PATIENCE)
    page.context.close()
    return spent


def _row(action: str, answers: list[Answer]) -> dict[str, Any]:
    def middle_and_worst(name: str) -> dict[str, float]:
        times = np.array([getattr(answer, name) for answer in answers])
        p50, p95 = np.percentile(times, [50, 95])
        return {f"{name}_p50": round(float(p50)), f"{name}_p95": round(float(p95))}

    return {
        "action": action,
        "times": len(answers),
        **middle_and_worst("picture"),
        **middle_and_worst("page"),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.studio.latency", description=__doc__)
    parser.add_argument("--releases", type=int, default=30, metavar="N")
    parser.add_argument("--starts", action="store_true", help="measure the first picture instead")
    parser.add_argument("--drags", action="store_true", help="drag at once after opening instead")
    parser.add_argument("--changes", action="store_true", help="choose one part fewer instead")
    parser.add_argument("--data", nargs="+", metavar="NAME", help="that, or the slider, of tables")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    if args.drags or args.changes:
        rows = (drags if args.drags else changes)(args.data or ("three_groups",))
    elif args.starts:
        rows = starts(args.data or ())
    else:
        rows = tables(args.data, args.releases) if args.data else measure(args.releases)
    if args.json:
        print(json.dumps(rows, indent=2))
        return
    columns = [name for name in rows[0] if name != "action"]
    wide = max(24, *(len(row["action"]) + 1 for row in rows))
    print(f"{'ms from the event':<{wide}}" + "".join(f"{name:>13}" for name in columns))
    for row in rows:
        print(f"{row['action']:<{wide}}" + "".join(f"{row[name]:>13}" for name in columns))


if __name__ == "__main__":
    main()
