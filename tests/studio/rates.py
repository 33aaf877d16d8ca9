"""How fast each dial's picture follows the hand on each table: ``python -m tests.studio.rates``.

A thumb is dragged over its whole track. *Updates* are drawings a second while it moves; *stops* how
many stops there are a second of the drag, which bounds them; *picture* and *page* are milliseconds
from the release until the picture stands at the thumb's stop and until the run that it begins has
ended. Beside other work on the machine the numbers say little.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from app.scenario import offered

from .latency import OPEN, PATIENCE, timed
from .stage import IDLE, SIZE, browser, grasp, serve, thumb, wait_until_still

MOVES = 90  # of the mouse
READY = OPEN.replace("> 2", "> 0")  # where rows are sampled, one way of composing covers the fit
COUNTED = "Number(document.querySelector('.dpl').dataset.updates)"
SHOWN = "document.querySelector('.dpl').dataset.epsilon"
RUNS = """() => {
  window.ran = false;
  const app = document.querySelector("[data-testid=stApp]");
  const look = () => { window.ran ||= app.dataset.testScriptState === "running"; };
  new MutationObserver(look).observe(app, { attributes: true });
}"""


def dragged(page: Any, key: str, share: float) -> dict[str, float | str]:
    """Drag a thumb from end to end, then to a share of its track, and let go; its numbers."""
    _, y, left, width = grasp(page, key)
    page.mouse.move(left + 4, y, steps=4)
    page.wait_for_timeout(200)
    before, begun = page.evaluate(f"[{COUNTED}, performance.now()]")
    page.mouse.move(left + width - 4, y, steps=MOVES)
    after, ended = page.evaluate(f"[{COUNTED}, performance.now()]")
    page.mouse.move(left + width * share, y, steps=4)
    page.wait_for_timeout(100)
    stops = int(page.locator(thumb(key)).first.get_attribute("max") or 0) + 1
    label = page.locator(thumb(key)).first.get_attribute("aria-valuetext")
    seconds = (ended - begun) / 1000
    page.evaluate(RUNS)
    there = f"{SHOWN} === '{label}'"
    answer = timed(page, "pointerup", there, f"window.ran && {IDLE}", page.mouse.up)
    return {
        "updates": round((after - before) / seconds),
        "stops": round(stops / seconds),
        "picture": round(answer.picture),
        "page": round(answer.page),
    }


def elsewhere(page: Any, key: str) -> float:
    """A share of the track whose stop is not the one where the thumb stands: else no run begins."""
    slider = page.locator(thumb(key)).first
    last, at = int(slider.get_attribute("max") or 0), int(slider.evaluate("n => n.value"))
    return next(share for share in (0.66, 0.85) if round(share * last) != at)


def rates(names: list[str], third: str = "") -> Iterator[dict[str, float | str]]:
    """One row for each dial of each table as it opens, or with another third one."""
    with browser() as chromium, serve() as url:
        for name in names:
            page = chromium.new_page(viewport=SIZE)
            page.goto(f"{url}/?data={name}&third={third}")
            page.wait_for_function(READY, timeout=10 * PATIENCE)
            keys = page.evaluate("""[...document.querySelectorAll('[class*="_step"]')]
                .flatMap((one) => [...one.classList])
                .filter((one) => /^st-key-.*_step$/.test(one)).map((one) => one.slice(7))""")
            keys = [key for key in keys if page.locator(thumb(key)).count()]
            for key in dict.fromkeys(keys):
                row: dict[str, float | str] = {"table": name, "dial": key.removesuffix("_step")}
                if page.locator(thumb(key)).first.is_disabled():
                    yield row | {"updates": "cannot slide"}
                    continue
                try:
                    dragged(page, key, elsewhere(page, key))  # asks for its stops
                    page.wait_for_timeout(4000)
                    wait_until_still(page, 10 * PATIENCE / 1000)
                    yield row | dragged(page, key, 0.4)
                except Exception as error:  # a table that cannot be measured is said, not left out
                    yield row | {"updates": type(error).__name__}
                    page.mouse.up()
            page.close()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.studio.rates", description=__doc__)
    every = [table.name for table in offered()]
    parser.add_argument("names", nargs="*", default=every, metavar="TABLE", help="[all]")
    parser.add_argument("--third", default="", metavar="DIAL", help="as in a link [clip]")
    columns = ("updates", "stops", "picture", "page")
    print("| table | dial | " + " | ".join(columns) + " |")
    print("| --- | --- " + "| ---: " * len(columns) + "|")
    arguments = parser.parse_args()
    for row in rates(arguments.names, arguments.third):
        cells = (row["table"], row["dial"], *(row.get(column, "") for column in columns))
        print("| " + " | ".join(map(str, cells)) + " |", flush=True)


if __name__ == "__main__":
    main()
