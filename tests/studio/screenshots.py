"""The explorer as pictures for the documents: ``python -m tests.studio.screenshots``."""

from __future__ import annotations

import argparse
import io
from pathlib import Path
from typing import Any

from .latency import THUMB
from .stage import SIZE, browser, serve, wait_until_complete

FOLDER = Path(__file__).parents[2] / "app" / "docs"
THEMES = ("light", "dark")
WIDTH = SIZE["width"]
# Of the film: slider steps and milliseconds a frame, and its width in pixels.
STRIDE, MILLISECONDS, FILM = 2, 180, 960


def shoot(folder: Path) -> list[Path]:
    """Write the first screen in both themes, and a drag of its slider."""
    folder.mkdir(parents=True, exist_ok=True)
    pictures: dict[str, bytes] = {}
    with browser() as chromium, serve() as url:
        for theme in THEMES:
            page = chromium.new_page(viewport=SIZE, color_scheme=theme, device_scale_factor=1)
            page.goto(url)
            wait_until_complete(page)
            pictures[f"explore-{theme}.png"] = _whole(page)
            if theme == "light":
                pictures["drag.webp"] = _drag(page)
            page.close()
    for name, picture in pictures.items():
        (folder / name).write_bytes(picture)
    return [folder / name for name in pictures]


def _whole(page: Any) -> bytes:
    """The page from top to bottom, with no toolbar and no readout."""
    height = page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight")
    page.set_viewport_size({"width": WIDTH, "height": int(height)})
    page.mouse.move(2, 2)
    page.wait_for_timeout(500)
    return _small(page.screenshot())


def _drag(page: Any) -> bytes:
    """The slider from end to end, as an animated picture of the live part."""
    from PIL import Image  # comes with Streamlit

    thumb = page.locator(THUMB).first
    thumb.focus()
    page.keyboard.press("Home")
    page.wait_for_timeout(1500)
    live = page.locator(".dpl").first.bounding_box()
    top = page.locator(".st-key-epsilon_step").first.bounding_box()
    high = min(live["y"], top["y"]) - 8
    low = max(live["y"] + live["height"], top["y"] + top["height"]) + 8
    shown = {"x": 0, "y": high, "width": WIDTH, "height": low - high}
    last = int(float(thumb.get_attribute("aria-valuemax") or thumb.get_attribute("max") or 40))
    frames = []
    for _ in range(0, last + 1, STRIDE):
        frames.append(Image.open(io.BytesIO(page.screenshot(clip=shown))).convert("RGB"))
        for _ in range(STRIDE):
            page.keyboard.press("ArrowRight")
        page.wait_for_timeout(150)
    size = (FILM, round(frames[0].height * FILM / WIDTH))
    first, *rest = [frame.resize(size, Image.Resampling.LANCZOS) for frame in frames]
    times = [MILLISECONDS] * len(rest) + [10 * MILLISECONDS]
    file = io.BytesIO()
    first.save(
        file,
        "webp",
        save_all=True,
        append_images=rest,
        duration=times,
        loop=0,
        quality=60,
        method=6,
    )
    return file.getvalue()


def _small(picture: bytes) -> bytes:
    """The same picture with 256 colours: a third of the size, and no difference to the eye."""
    from PIL import Image  # comes with Streamlit

    sheet = Image.open(io.BytesIO(picture)).convert("RGB")
    file = io.BytesIO()
    sheet.quantize(256, dither=Image.Dither.NONE).save(file, "png", optimize=True)
    return file.getvalue()


def main() -> None:
    """Make the pictures and say where they are."""
    parser = argparse.ArgumentParser(prog="python -m tests.studio.screenshots", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER, help="[app/docs]")
    for path in shoot(parser.parse_args().folder):
        print(f"{path.name}: {path.stat().st_size / 1024:.0f} kB")


if __name__ == "__main__":
    main()
