"""The first screen as pictures for the documents: ``python -m app.scripts.screenshots``."""

from __future__ import annotations

import argparse
import io
from pathlib import Path

from app.scripts.stage import browser, serve, wait_until_complete

FOLDER = Path(__file__).parent.parent / "docs"
THEMES = ("light", "dark")
WIDTH = 1280


def shoot(folder: Path) -> list[Path]:
    """Write ``explore-light.png`` and ``explore-dark.png``, the whole page at device scale 1."""
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    with browser() as chromium, serve() as url:
        for theme in THEMES:
            page = chromium.new_page(
                viewport={"width": WIDTH, "height": 1000},
                color_scheme=theme,
                device_scale_factor=1,
            )
            page.goto(url)
            wait_until_complete(page)
            height = page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight")
            page.set_viewport_size({"width": WIDTH, "height": int(height)})
            page.mouse.move(2, 2)  # no toolbar, no readout
            page.wait_for_timeout(500)
            target = folder / f"explore-{theme}.png"
            target.write_bytes(_small(page.screenshot()))
            made.append(target)
            page.close()
    return made


def _small(picture: bytes) -> bytes:
    """The same picture with 256 colours: a third of the size, and no difference to the eye."""
    from PIL import Image  # comes with Streamlit

    sheet = Image.open(io.BytesIO(picture)).convert("RGB")
    file = io.BytesIO()
    sheet.quantize(256, dither=Image.Dither.NONE).save(file, "png", optimize=True)
    return file.getvalue()


def main() -> None:
    """Make the pictures and say where they are."""
    parser = argparse.ArgumentParser(prog="python -m app.scripts.screenshots", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER, help="[app/docs]")
    for path in shoot(parser.parse_args().folder):
        print(f"{path.name}: {path.stat().st_size / 1024:.0f} kB")


if __name__ == "__main__":
    main()
