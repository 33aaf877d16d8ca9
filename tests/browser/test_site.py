"""Pages that need no server, opened from a disk with the network cut, as a student opens them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from commands import written
from studio.stage import Visits

from app.scenario import offered
from dpcore.cli import main

# Waited for by selectors: these pages allow no function to be made of text.
DRAWN = ".dpl[data-step]"
DRAWINGS = "all => all.map((one) => one.innerHTML)"
STEP = "document.querySelector('.dpl').dataset.step"
GROUND = "getComputedStyle(document.body).backgroundColor"
THEME = "document.querySelector('.dpl').dataset.theme"
PATH = "document.querySelector('[data-panel=private] .dpl-bold .dpl-ellipse').getAttribute('d')"


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages of a small table and of Compose, by the public command."""
    folder = tmp_path_factory.mktemp("site")
    assert main(["site", str(folder), "--only", "iris", "--only", "compose"]) == 0
    return folder


@pytest.fixture
def disk(browser: Any) -> Iterator[Any]:
    """``disk(file, fragment)`` opens a file where there is no network; errors fail the test."""
    visits, opened = Visits(), []

    def open_file(file: Path, fragment: str = "", **shape: Any) -> Any:
        context = browser.new_context(**shape)
        context.set_offline(True)
        context.route(
            re.compile(r"^(?!file:)"), lambda route: pytest.fail(f"asked {route.request.url}")
        )
        opened.append(context)
        page = context.new_page()
        visits.watch(page)
        page.goto(f"{file.as_uri()}{fragment}")
        return page

    yield open_file
    for context in opened:
        context.close()
    assert (visits.outside, visits.errors) == ([], [])


def test_a_page_opens_from_a_disk_follows_the_hand_and_keeps_its_state_in_the_link(
    disk: Any, pages: Path
) -> None:
    file = pages / "iris.html"
    assert 100_000 < file.stat().st_size < 5_000_000
    page = disk(file)
    page.locator(DRAWN).first.wait_for()
    before = page.evaluate(STEP), page.evaluate(PATH), page.inner_text('[data-live="sentence"]')
    track = page.locator("#epsilon").bounding_box()
    page.mouse.move(track["x"] + track["width"] / 2, track["y"] + track["height"] / 2)
    page.mouse.down()
    seen = set()
    for share in (0.4, 0.3, 0.2, 0.1):  # the picture moves while the thumb is held
        page.mouse.move(track["x"] + share * track["width"], track["y"] + 5, steps=3)
        page.wait_for_timeout(60)
        seen.add(page.evaluate(PATH))
    assert len(seen) == 4
    page.mouse.up()
    after = page.evaluate(STEP), page.evaluate(PATH), page.inner_text('[data-live="sentence"]')
    assert all(one != other for one, other in zip(before, after, strict=True))
    told = page.get_attribute("#epsilon", "aria-valuetext")
    assert told in page.inner_text('[data-live="guarantee"]')
    assert "Rehearsal: not a release" in page.inner_text('[data-live="guarantee"]')
    address = page.evaluate("location.hash")
    assert address.startswith("#epsilon=")
    assert page.get_attribute("a[data-link]", "href") == address
    again = disk(file, address)
    again.locator(f".dpl[data-step='{after[0]}']").wait_for()
    assert again.evaluate(PATH) == after[1]


def test_each_slider_has_its_own_pictures_and_puts_the_others_back(disk: Any, pages: Path) -> None:
    page = disk(pages / "iris.html", "#epsilon=10")
    opened = page.evaluate("Number(document.querySelector('#epsilon').value)")
    for name, title in (("clip", "each clipping norm buys"), ("delta", "each δ buys")):
        page.focus(f"#{name}")
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("ArrowLeft")
        page.locator('[data-panel="curve"] strong', has_text=title).wait_for()
        assert page.evaluate("location.hash").startswith(f"#{name}=")
        assert page.evaluate("Number(document.querySelector('#epsilon').value)") < opened
    page.evaluate("location.hash = '#clip=0.5&hide=curve,says'")
    page.get_by_text("Hidden by this link: the sentence under the slider and the curve").wait_for()
    assert page.locator('[data-panel="curve"]').count() == 0
    page.get_by_role("button", name="Show it").click()
    page.locator('[data-panel="curve"]').wait_for()
    assert page.get_attribute("#clip", "aria-valuetext") == "0.50"


def test_compose_and_the_index_open_too(disk: Any, pages: Path) -> None:
    page = disk(pages / "index.html")
    assert page.locator(".dp-list a").count() == 2
    page.get_by_role("link", name="Composition").click()
    page.locator(DRAWN).first.wait_for()
    bar = page.inner_text('[data-live="promise"]')
    page.focus("#k")
    page.keyboard.press("End")
    page.locator(".dpl[data-epsilon='10,000']").first.wait_for()
    assert page.inner_text('[data-live="promise"]') != bar
    assert page.evaluate("location.hash") == "#k=10000"
    loss = page.locator('[data-panel="loss"]')
    loss.locator("figcaption", has_text="k = 10,000").wait_for()
    loss.get_by_role("button", name="Play").click()
    loss.locator("figcaption", has_text=re.compile(r"k = \d:")).wait_for()
    loss.get_by_role("button", name="Stop").click()
    loss.locator("figcaption", has_text="k = 10,000").wait_for()


@pytest.mark.full
@pytest.mark.parametrize("name", [table.name for table in offered()])
def test_every_page_follows_each_of_its_sliders(disk: Any, tmp_path: Path, name: str) -> None:
    assert main(["site", str(tmp_path), "--only", name]) == 0
    file = tmp_path / f"{name}.html"
    assert file.stat().st_size < 5_000_000
    page = disk(file)
    page.locator(DRAWN).first.wait_for()
    sliders = page.locator("input[type=range]:enabled").all()
    assert len(sliders) >= 2
    for slider in sliders:
        track, seen = slider.bounding_box(), set()
        stops = 1 + int(slider.get_attribute("max")) - int(slider.get_attribute("min"))
        height = track["y"] + track["height"] / 2
        page.mouse.move(track["x"] + track["width"] / 2, height)
        page.mouse.down()
        for share in range(1, 13):
            page.mouse.move(track["x"] + track["width"] * share / 13, height, steps=2)
            page.wait_for_timeout(40)
            seen.add(
                "".join(
                    page.locator(".dpl svg").evaluate_all("all => all.map((one) => one.innerHTML)")
                )
            )
        page.mouse.up()
        assert len(seen) >= min(8, stops), slider.get_attribute("id")


def test_on_a_phone_in_either_theme_nothing_is_cut_and_axe_finds_nothing(
    disk: Any, pages: Path
) -> None:
    shape = {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"}
    page = disk(pages / "iris.html", bypass_csp=True, **shape)
    page.locator(DRAWN).first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    labels = page.locator('[data-panel="curve"] .dpl-label').all()
    assert len(labels) > 3
    assert all(one.bounding_box()["x"] + one.bounding_box()["width"] <= 390 for one in labels)
    axe = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    page.evaluate(axe)
    for theme, ground in (("dark", "rgb(15, 20, 25)"), ("light", "rgb(255, 255, 255)")):
        page.wait_for_function(f"{GROUND} === '{ground}' && {THEME} === '{theme}'")
        told = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
        assert len(told["passes"]) > 10
        assert [rule["id"] for rule in told["violations"]] == []
        page.evaluate("location.hash = '#theme=light'")  # which outranks the system


def test_a_release_is_a_page_of_what_left_and_holds_no_row(disk: Any, tmp_path: Path) -> None:
    rows = "".join(f"{10 + i % 7}.{731 + i},{20 + i % 5}\n" for i in range(300))
    schema = "[columns.age]\nlower = 0\nupper = 110\n[columns.visits]\nlower = 0\nupper = 80\n"
    table = written(tmp_path, "people.csv", f"age,visits\n{rows}", schema)
    book, out, site = (str(tmp_path / name) for name in ("b.sqlite", "out", "site"))
    budget = ("--epsilon", "1", "--delta", "1e-5")
    assert main(["ledger", book, "--create", *budget]) == 0
    spend = ("--components", "2", "--ledger", book, "--out", out, "--yes")
    assert main(["release", "gmm", str(table), *budget, *spend]) == 0
    assert main(["site", site, "--release", out]) == 0
    file = Path(site) / "release.html"
    text = file.read_text(encoding="utf-8")
    synthetic = (Path(out) / "synthetic.csv").read_text(encoding="utf-8").splitlines()[1:]
    there = set(re.findall(r"[\d.]+", text))
    for some in (rows.splitlines(), synthetic):  # a short number may be there by chance
        assert sum(row.split(",")[0] in there for row in some) < 10
        assert not any(row in text or row.replace(",", ", ") in text for row in some)
    page = disk(file)
    page.locator(".dpl[data-step='0']").wait_for()
    dossier = json.loads((Path(out) / "dossier.json").read_text(encoding="utf-8"))
    centres = page.locator(".dpl-bold .dpl-ellipse[data-level='2']").evaluate_all(
        "all => all.map((one) => Number(one.dataset.cx))"
    )
    means = [mean[0] for mean in dossier["parameters"]["means"]]
    assert sorted(centres) == pytest.approx(sorted(means), rel=1e-4)
    assert "replacing one person's row. Proved." in page.inner_text("main").replace("\n", " ")
    (Path(out) / "report.html").write_text("other", encoding="utf-8")
    assert main(["site", site, "--release", out]) == 1
