"""The path of Learn, walked as a student: ``python -m tests.studio.path FOLDER`` prints a table.

Each screen is read, its mark dragged with the mouse, a curve drawn through the middle of the panel,
the truth laid over it, and the sentence about the error read. The seconds are the program's, from
the click on *Next* to the last picture; thinking is left out. The folder gets each screen as it
stands at its end.
"""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from .journeys import Walk, walking
from .stage import browser, serve

MINUTE = 200  # words that are read in one


@dataclass(frozen=True)
class Passed:
    """A screen that was walked: words to read, seconds, and what was said of the drawn curve."""

    name: str
    words: int
    seconds: float
    before: str
    after: str
    verdict: str


def walk_path(walk: Walk, url: str) -> list[Passed]:
    """Every screen, from the first to the last."""
    page = walk.open(f"{url}/learn")
    page.locator(".dpp-mark").wait_for()
    passed = []
    for at in range(page.locator(".dpp-dots button").count()):
        began = perf_counter()
        if at:
            walk.click(page.get_by_role("button", name="Next"))
            page.locator(f".dpp-dots button:nth-child({at + 1})[aria-current]").wait_for()
        value = page.locator(".dpp-dial output")
        before = value.inner_text()
        drag_mark(walk)
        draw_across(walk)
        walk.click(page.get_by_role("button", name="Show the truth"))
        words = page.locator(".dpp-told")
        page.wait_for_function("document.querySelector('.dpp-told').innerText.length > 20")
        seconds = perf_counter() - began
        walk.rest()
        read = " ".join(page.locator(".dpp h2, .dpp > p").all_inner_texts())
        title = page.locator(".dpp h2").inner_text()
        sentence = words.inner_text().split(". ")[0] + "."
        walk.keep(f"screen-{at + 1}")
        passed.append(
            Passed(title, len(read.split()), seconds, before, value.inner_text(), sentence)
        )
    return passed


def drag_mark(walk: Walk) -> None:
    """Take the mark a little to the right and up: some go along an upright line."""
    page, mark = walk.page, walk.page.locator(".dpp-mark")
    mark.scroll_into_view_if_needed()
    box = mark.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 60, y - 40, steps=8)
    page.mouse.up()
    walk.clicks += 1


def draw_across(walk: Walk) -> None:
    """Draw a straight line through the middle of the panel."""
    page, pad = walk.page, walk.page.locator(".dpp-pad")
    box = pad.bounding_box()
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 2, y)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 2, y, steps=20)
    page.mouse.up()
    walk.clicks += 1


def table(passed: list[Passed]) -> str:
    """The screens as the results on the explorer have them."""
    lines = [
        "| screen | words | seconds | the mark | sentence about a straight line |",
        "| --- | ---: | ---: | --- | --- |",
        *(
            f"| {screen.name} | {screen.words} | {screen.seconds:.1f} "
            f"| {screen.before} to {screen.after} | {screen.verdict} |"
            for screen in passed
        ),
    ]
    words, seconds = (
        sum(screen.words for screen in passed),
        sum(screen.seconds for screen in passed),
    )
    lines.append(f"| all: {words / MINUTE:.0f} minutes to read | {words} | {seconds:.1f} | | |")
    return "\n".join(lines)


def main() -> int:
    """Walk and print the table; 1 where anything went wrong on the page."""
    parser = argparse.ArgumentParser(prog="python -m tests.studio.path", description=__doc__)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="for the pictures")
    folder = parser.parse_args().folder
    with browser() as chromium, serve() as url, walking(folder, chromium) as walk:
        print(table(walk_path(walk, url)))
        faults: list[Any] = [fault for fault in walk.faults if not re.search("404", str(fault))]
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
