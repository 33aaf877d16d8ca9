"""People use the explorer in a browser: ``python -m tests.studio.journeys FOLDER``.

A newcomer starts it and drags; a lecturer sends a link; a student walks one lesson; a steward takes
a table from the upload to a release that verifies, and then five that nobody prepared. Each way
leaves numbered pictures of what its person sees, and a count of clicks and keys. Seconds are the
machine's: nobody stops to think.
"""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from time import perf_counter
from typing import Any
from zipfile import ZipFile

import numpy as np
import pandas as pd
import wording

from app.texts import frame as frame_texts
from app.texts import learn as learn_texts
from app.texts import release as release_texts
from app.texts import upload as upload_texts
from dpcore.datasets.files import home

from .latency import BOX, OPEN
from .stage import SIZE, Visits, browser, free_port, grasp, serve, wait_for_health, wait_until_still

PATIENCE = 60_000  # ms
ALL_DRAWS = """document.querySelector('[data-panel="private"]').innerText.includes("faint: 12")"""
REFUSED = "[data-testid=stException], [data-testid=stAlertContentError]"
FILES = "[data-testid=stFileUploader] input[type=file]"
ONE_LEFT = "document.querySelectorAll('#portal [role=option]').length === 1"
COMMAND = "dpcore explore"  # what the README's one command ends with


# ---------------------------------------------------------------- walking


@dataclass
class Walk:
    """One person's way: pictures and files, and at which second; clicks and keys; requests that
    tried to leave this machine, and errors that a page showed or wrote down.
    """

    folder: Path
    chromium: Any
    clicks: int = 0
    keys: int = 0
    files: dict[str, float] = field(default_factory=dict)
    visits: Visits = field(default_factory=Visits)
    began: float = field(default_factory=perf_counter)
    contexts: list[Any] = field(default_factory=list)
    page: Any = None

    @property
    def faults(self) -> list[str]:
        """Everything that went wrong."""
        return [*self.visits.errors, *(f"asked for {url}" for url in self.visits.outside)]

    def open(self, url: str) -> Any:
        """Open an address as somebody who was never here; the page is the one that is walked on."""
        context = self.chromium.new_context(
            viewport=SIZE,
            accept_downloads=True,
            permissions=["clipboard-read", "clipboard-write"],
        )
        self.contexts.append(context)
        self.page = context.new_page()
        self.page.set_default_timeout(PATIENCE)
        self.visits.watch(self.page)
        self.page.goto(url)
        return self.page

    def close(self) -> None:
        """Close every page of the way."""
        while self.contexts:
            self.contexts.pop().close()

    def click(self, target: Any) -> None:
        target.click()
        self.clicks += 1

    def button(self, name: str) -> None:
        """Click the first button that is called so."""
        self.click(self.page.get_by_role("button", name=name).first)

    def choose(self, label: str, option: str) -> None:
        """Choose from a list by its label."""
        self.click(self.page.get_by_role("combobox", name=label, exact=True))
        self.click(self.page.get_by_role("option", name=option).first)

    def enter(self, target: Any, text: str) -> None:
        """Type into a field and press Enter."""
        self.click(target)
        target.fill(text)
        self.press("Enter")
        self.keys += len(text)

    def press(self, key: str, times: int = 1) -> None:
        for _ in range(times):
            self.page.keyboard.press(key)
        self.keys += times

    def hand_in(self, place: int, path: Path) -> None:
        """Choose a file of this machine."""
        self.page.locator(FILES).nth(place).set_input_files(str(path))
        self.page.get_by_text(path.name).first.wait_for()
        self.clicks += 1

    def hold(self, share: float) -> None:
        """Take the thumb to a share of the slider, and keep hold of it."""
        _, y, left, width = grasp(self.page)
        self.page.mouse.move(left + width * share, y, steps=12)
        self.page.wait_for_timeout(60)
        self.clicks += 1

    def drag(self, share: float) -> None:
        self.hold(share)
        self.page.mouse.up()
        self.rest()

    def rest(self) -> None:
        wait_until_still(self.page)

    def drawn(self) -> None:
        """Wait until Explore has every draw and every curve."""
        self.page.wait_for_function(f"{OPEN} && {ALL_DRAWS}")
        self.rest()

    def keep(self, what: str, kind: str = "png") -> Path:
        """The next number's file; as a picture, of what is on the screen now."""
        path = self.folder / f"{len(self.files) + 1:02d}-{what}.{kind}"
        if kind == "png":
            self.visits.errors += self.page.locator(REFUSED).all_inner_texts()
            self.page.screenshot(path=str(path))
        self.files[path.name] = perf_counter() - self.began
        return path


@contextmanager
def walking(folder: Path, chromium: Any) -> Iterator[Walk]:
    """A way that begins now and keeps its pictures in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    walk = Walk(folder, chromium)
    try:
        yield walk
    finally:
        walk.close()


@dataclass(frozen=True)
class View:
    """What Explore shows: the budget, every shape of both fits, the lines that follow the slider,
    the panels, and how far down these begin.
    """

    epsilon: str
    fits: tuple[str, ...]
    sentence: str | None
    promise: str | None
    panels: tuple[str, ...]
    top: float


SHOWN = """
() => {
  const words = (name) => document.querySelector(`[data-live="${name}"]`)?.innerText ?? null;
  const shapes = document.querySelectorAll(":is([data-panel=exact], [data-panel=private]) path");
  return {
    epsilon: document.querySelector(".dpl").dataset.epsilon,
    fits: [...shapes].map((one) => `${one.getAttribute("d")} ${one.getAttribute("transform")}`),
    sentence: words("sentence"),
    promise: words("guarantee"),
    panels: [...document.querySelectorAll("[data-panel]")].map((one) => one.dataset.panel),
    top: document.querySelector(".dpl").getBoundingClientRect().top,
  };
}
"""


def view(page: Any) -> View:
    """What a page of Explore shows now."""
    shown = page.evaluate(SHOWN)
    return View(**shown | {name: tuple(shown[name]) for name in ("fits", "panels")})


def tool(*words: str) -> list[str]:
    """The command ``dpcore`` of this installation, with its words."""
    return [str(Path(sys.executable).with_name("dpcore")), *words]


@contextmanager
def started() -> Iterator[str]:
    """The README's command, until Ctrl+C; the address that it prints."""
    port = free_port()
    command = tool(*COMMAND.split()[1:], "--no-browser", "--port", str(port))
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None  # it is a pipe
            url = next(word for word in process.stdout.readline().split() if "://" in word)
            wait_for_health(f"http://127.0.0.1:{port}", process)
            yield url
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=20)
    if process.returncode != 0:
        raise RuntimeError(f"Ctrl+C ended the explorer with exit code {process.returncode}")


# ---------------------------------------------------------------- the four


def newcomer(walk: Walk) -> list[View]:
    """From the README's command to a changed slider; what was seen at once, when all was drawn,
    while the slider was held, after it was let go, and with much to spend.
    """
    views = []
    with started() as url:
        page = walk.open(url)
        page.wait_for_selector(".dpl[data-step]")
        views.append(view(page))
        walk.keep("first-picture")
        walk.drawn()
        walk.keep("first-screen")
        views.append(view(page))
        walk.hold(0.12)
        walk.keep("slider-held")
        views.append(view(page))
        page.mouse.up()
        walk.rest()
        walk.keep("little-to-spend")
        views.append(view(page))
        walk.drag(0.9)
        walk.keep("much-to-spend")
        views.append(view(page))
        walk.close()
    return views


QUESTION = (("Data", "Iris"), ("Model", "k-means, 3 centres"), ("Method", "DPLloyd"))
COVERED = (frame_texts.HIDEABLE["explore"]["says"], "the guarantee")


def lecturer(walk: Walk, url: str) -> list[View]:
    """A question put together, sent as a link, opened by a pupil; then a sheet to print. What the
    lecturer sees, what the pupil sees, and what the pupil sees once the cover is off.
    """
    page = walk.open(url)
    walk.drawn()
    for label, option in QUESTION:
        walk.choose(label, option)
        walk.rest()
    walk.enter(page.locator(BOX), "0.5")
    walk.drawn()
    walk.keep("question")
    views = [view(page)]
    walk.button(frame_texts.SHARE)
    for name in COVERED:
        walk.button(name)
        walk.rest()
    walk.keep("link")
    code = page.get_by_test_id("stPopoverBody").get_by_test_id("stCode").first
    code.hover()
    walk.click(code.get_by_role("button"))
    link = page.evaluate("navigator.clipboard.readText()")

    pupil = walk.open(link)
    walk.drawn()
    walk.keep("the-pupil-is-asked")
    views.append(view(pupil))
    walk.button("Show it")
    pupil.locator('[data-live="sentence"]').wait_for()
    walk.drawn()
    walk.keep("the-pupil-sees")
    views.append(view(pupil))

    printed(walk, url)
    return views


def printed(walk: Walk, url: str) -> None:
    """The sheet with answers, as it comes out of the printer."""
    page = walk.open(f"{url}/learn")
    page.get_by_role("button", name=learn_texts.SOLVED_SHEET).scroll_into_view_if_needed()
    walk.rest()
    walk.keep("sheets")
    with page.expect_download() as download:
        walk.button(learn_texts.SOLVED_SHEET)
    sheet = walk.keep("sheet", "html")
    download.value.save_as(sheet)
    walk.open(sheet.as_uri())
    walk.keep("sheet-on-screen")
    walk.page.pdf(path=str(walk.keep("sheet", "pdf")), prefer_css_page_size=True)


LESSON = "1 · What does ε hide?"


def student(walk: Walk, url: str) -> str:
    """One lesson: look, guess, read the answer, see it, and come back; the answer that was read."""
    page = walk.open(f"{url}/learn")
    card = page.locator("[data-testid=stVerticalBlock]").filter(has_text=LESSON).last
    card.get_by_role("link", name="Look first").wait_for()
    walk.rest()
    walk.keep("questions")
    walk.click(card.get_by_role("link", name="Look first"))
    walk.drawn()
    walk.keep("look")
    walk.click(page.get_by_role("link", name="Learn", exact=True))
    thumb = card.get_by_role("slider", name="Your guess")
    thumb.wait_for()
    walk.rest()
    thumb.focus()
    walk.press("ArrowLeft", 2)
    walk.rest()
    walk.keep("guess")
    walk.click(card.get_by_role("button", name=learn_texts.MY_GUESS))
    card.get_by_text("You said 4").wait_for()
    walk.rest()
    walk.keep("answer")
    answer = str(card.inner_text())
    walk.click(card.get_by_role("link", name="See it"))
    walk.drawn()
    walk.keep("see-it")
    walk.drag(0.3)
    walk.drawn()
    walk.keep("dragged")
    walk.click(page.get_by_role("link", name="Learn", exact=True))
    card.get_by_text("You said 4").wait_for()
    walk.rest()
    walk.keep("back-again")
    return answer


def steward(walk: Walk, url: str, place: Path, ledger: str = "") -> Path:
    """From an upload to a release that verifies; its dossier.

    place: the ledger's file. ledger: what is typed to name it [its whole path].
    """
    table = home() / "stewards_table.csv"
    uploaded(walk, url, table)
    walk.hand_in(1, table.with_suffix(".toml"))
    walk.page.get_by_text("sets limits, units").wait_for()
    walk.rest()
    walk.keep("limits-from-a-file")
    planned(walk)
    return released(walk, place, ledger)


def uploaded(walk: Walk, url: str, table: Path) -> None:
    """From the first screen to the form of an upload."""
    page = walk.open(url)
    walk.drawn()
    walk.choose("Data", "Your own file")
    page.get_by_text("No table in use yet").wait_for()
    page.get_by_text(upload_texts.NOTHING_READ).wait_for()
    walk.rest()
    walk.keep("upload")
    walk.hand_in(0, table)
    page.get_by_text(wording.LOOKED_AT).wait_for()
    walk.rest()
    walk.keep("limits-empty")


def planned(walk: Walk) -> None:
    """From a form that is filled in to a plan on stand-in rows."""
    walk.button("Use these")
    walk.page.wait_for_selector(".dpl[data-step]", timeout=180_000)  # a million rows beside others
    walk.rest()
    walk.keep("stand-in-rows")


def released(walk: Walk, place: Path, ledger: str = "") -> Path:
    """From a plan to a release that verifies; its dossier."""
    page = walk.page
    walk.click(page.get_by_role("link", name="Release"))
    named = page.get_by_role("textbox", name="Budget ledger")
    named.wait_for()
    walk.rest()
    walk.keep("release")
    walk.enter(named, ledger or str(place))
    page.get_by_text(release_texts.NO_LEDGER).wait_for()
    walk.rest()
    walk.button("Start this ledger")
    page.get_by_text("left after it").wait_for()
    walk.rest()
    walk.keep("plan")
    walk.click(page.get_by_text("I have read this"))
    release = page.get_by_role("button", name="Release", exact=True)
    walk.rest()
    release.scroll_into_view_if_needed()
    walk.keep("review-and-spend")
    walk.click(release)
    page.get_by_text("line 2 of the ledger").wait_for()
    walk.rest()
    release.scroll_into_view_if_needed()
    walk.keep("released")
    with page.expect_download() as download:
        walk.button("dossier.json")
    dossier = walk.keep("dossier", "json")
    download.value.save_as(dossier)
    command = tool("verify", str(dossier), "--ledger", str(place))
    verified = subprocess.run(command, capture_output=True, text=True, timeout=60)
    walk.keep("verified", "txt").write_text(verified.stdout + verified.stderr, encoding="utf-8")
    if verified.returncode != 0:
        raise RuntimeError(verified.stderr)
    return dossier


# ---------------------------------------------------------------- tables that nobody prepared

FORM = tuple(upload_texts.LABELS.values())
BLOOD, DAYS = ("60", "220"), ("2024-01-01", "2024-12-31")
Answers = dict[tuple[int, str], str]  # what is typed into the form, by line and column


def _ends(line: int, low: str, high: str) -> Answers:
    return {(line, "Lower limit"): low, (line, "Upper limit"): high}


MESSY: dict[str, Answers] = {
    "english": {(0, "Use as"): "ignore", **_ends(1, "0", "110"), **_ends(2, *BLOOD),
                **_ends(3, "0", "20000"), **_ends(4, *DAYS)},
    "german": {**_ends(0, "0", "110"), **_ends(1, *BLOOD), **_ends(2, "0", "20000"),
               **_ends(3, *DAYS), (4, "Use as"): "label", (4, "Public values"): "ja, nein"},
    "persons": {(0, "Use as"): "person id", (1, "Use as"): "ignore", **_ends(2, "30", "200"),
                **_ends(3, "100", "230")},
    "million": {**_ends(0, "0", "100"), **_ends(1, "0", "100")},
    "documents": {},
}  # fmt: skip
WORDS = (
    ("cat", "dog", "pet", "vet", "fur"),
    ("bank", "loan", "rate", "money", "debt"),
    ("ball", "goal", "team", "coach", "match"),
)


def messy_file(kind: str, folder: Path) -> Path:
    """A table as an office keeps it, or letters in a zip; the same every time."""
    rng = np.random.default_rng(7)
    rows = 1_000_000 if kind == "million" else 900
    groups = rng.integers(0, 3, rows)
    age = np.clip(np.array([30, 55, 75])[groups] + rng.normal(0, 5, rows), 18, 100)
    blood = np.array([115, 150, 135])[groups] + rng.normal(0, 8, rows)
    if kind == "million":
        place = folder / "million.csv"
        pd.DataFrame({"x": age.round(2), "y": (blood - 90).round(2)}).to_csv(place, index=False)
        return place
    if kind == "documents":
        place = folder / "letters.zip"
        with ZipFile(place, "w") as archive:
            for number, group in enumerate(groups):
                text = rng.choice(WORDS[group], 30)
                archive.writestr(f"letters/{number}.txt", " ".join(text))
        (folder / "words.txt").write_text("\n".join(sum(WORDS, ())), encoding="utf-8")
        return place
    if kind == "persons":
        place, person = folder / "visits.csv", np.arange(rows) // 2
        weight = np.array([60, 80, 100])[person % 3] + rng.normal(0, 4, rows)
        height = np.array([160, 175, 185])[person % 3] + rng.normal(0, 4, rows)
        columns = {"person": [f"P{i:04d}" for i in person], "visit": np.arange(rows) % 2 + 1}
        columns |= {"weight": weight.round(1), "height": height.round(1)}
        pd.DataFrame(columns).sample(frac=1, random_state=0).to_csv(place, index=False)
        return place
    days = [date(2024, 1, 1) + timedelta(int(day)) for day in rng.integers(0, 365, rows)]
    cost, again = rng.gamma(2, 800, rows), rng.choice(["yes", "no"], rows)
    if kind == "english":
        place = folder / "patients.csv"
        pd.DataFrame({
            "Patient": np.arange(rows), "age": age.round(), "sbp": blood.round(1),
            "cost": [f"${amount:,.2f}" for amount in cost], "admitted": days, "readmitted": again,
        }).to_csv(place, index=False)  # fmt: skip
        return place
    place = folder / "patienten.csv"
    comma = str.maketrans(".,", ",.")
    lines = ["Alter;Blutdruck;Kosten;Aufnahme;Wieder da"]
    for i in range(rows):
        level = "n. a." if i % 20 == 0 else f"{blood[i]:.1f}".translate(comma)
        paid = f"{cost[i]:,.2f}".translate(comma)
        yes = {"yes": "ja", "no": "nein"}[again[i]]
        lines.append(f"{age[i]:.0f};{level};{paid} €;{days[i]:%d.%m.%Y};{yes}")
    place.write_text("\n".join(lines), encoding="utf-8")
    return place


def messy(walk: Walk, url: str, place: Path, kind: str) -> Path:
    """From a table as it lies there, without a schema file, or from texts and a list of words, to a
    release that verifies. Its dossier."""
    table = messy_file(kind, walk.folder)
    walk.began = perf_counter()
    uploaded(walk, url, table)
    for (line, column), text in MESSY[kind].items():
        fill_in(walk, line, column, text)
    if kind == "documents":
        walk.hand_in(1, table.with_name("words.txt"))
    walk.rest()
    walk.keep("limits-filled-in")
    planned(walk)
    return released(walk, place)


def fill_in(walk: Walk, line: int, column: str, text: str) -> None:
    """Type into a cell of the form: from its first cell there by the arrow keys."""
    grid = walk.page.get_by_test_id("data-grid-canvas").first
    grid.scroll_into_view_if_needed()
    corner = grid.bounding_box()
    wanted = grid.get_by_test_id(f"glide-cell-{FORM.index(column)}-{line}")
    for _ in range(5):  # a key that comes while the grid is drawn anew is lost
        # A scroller lies above the canvas.
        walk.page.mouse.click(corner["x"] + 60, corner["y"] + 35 * 1.5)
        walk.clicks += 1
        walk.press("ArrowDown", line)
        walk.press("ArrowRight", FORM.index(column))
        walk.page.wait_for_timeout(60)
        if wanted.get_attribute("aria-selected") == "true":
            break
    walk.press("Enter")
    box = walk.page.locator("#portal :is(input, textarea)").first
    box.wait_for()
    walk.page.keyboard.type(text, delay=20)  # as fast as nobody types it would be lost
    walk.keys += len(text)
    walk.page.wait_for_timeout(60)
    if box.get_attribute("role") == "combobox":  # a list is narrowed to what was typed
        for _ in range(5):  # letters that came before it took any are lost
            if box.input_value() == text:
                break
            box.fill("")
            walk.page.keyboard.type(text, delay=60)
        walk.page.wait_for_function(ONE_LEFT)
    walk.press("Enter")
    box.wait_for(state="detached")
    walk.rest()


# ---------------------------------------------------------------- all of them


def walk_all(folder: Path) -> dict[str, Walk]:
    """Every journey, each with its pictures in a folder of its own."""
    walks = {}
    with browser() as chromium:
        with walking(folder / "newcomer", chromium) as walks["newcomer"]:
            newcomer(walks["newcomer"])
        with serve() as url:
            with walking(folder / "lecturer", chromium) as walks["lecturer"]:
                lecturer(walks["lecturer"], url)
            with walking(folder / "student", chromium) as walks["student"]:
                student(walks["student"], url)
            with walking(folder / "steward", chromium) as walks["steward"]:
                place = (folder / "steward" / "budget.sqlite").resolve()
                steward(walks["steward"], url, place)
            for kind in MESSY:
                with walking(folder / kind, chromium) as walks[kind]:
                    messy(walks[kind], url, (folder / kind / "budget.sqlite").resolve(), kind)
    return walks


def table(walks: dict[str, Walk]) -> str:
    """Seconds, clicks and keys of every journey, and at which second each file was written."""
    lines = [f"{'':<10}{'seconds':>9}{'clicks':>8}{'keys':>6}{'faults':>8}"]
    for name, walk in walks.items():
        counts = f"{walk.clicks:>8}{walk.keys:>6}{len(walk.faults):>8}"
        lines.append(f"{name:<10}{max(walk.files.values()):>9.1f}{counts}")
    for name, walk in walks.items():
        lines += [f"{second:6.1f} s  {name}/{file}" for file, second in walk.files.items()]
        lines += [f"on the way of the {name}: {fault}" for fault in walk.faults]
    return "\n".join(lines)


def main() -> int:
    """Walk, and print the table; 1 where anything went wrong on a page."""
    parser = argparse.ArgumentParser(prog="python -m tests.studio.journeys", description=__doc__)
    parser.add_argument(
        "folder", type=Path, metavar="FOLDER", help="a new folder, for the pictures"
    )
    folder = parser.parse_args().folder
    if folder.is_dir() and any(folder.iterdir()):
        parser.error(f"{folder} is not empty; name a new folder")
    walks = walk_all(folder)
    print(table(walks))
    return int(any(walk.faults for walk in walks.values()))


if __name__ == "__main__":
    sys.exit(main())
