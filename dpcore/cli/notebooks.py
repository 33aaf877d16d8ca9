"""``dpcore notebooks FOLDER``: the lessons and the papers as notebooks of one's own."""

from __future__ import annotations

import argparse
import shutil
from importlib.util import find_spec
from pathlib import Path

from dpcore.cli.output import print_json
from dpcore.cli.pages import place_for_folder
from dpcore.errors import InputError

HOME = Path(__file__).resolve().parents[2] / "notebooks"  # in a checkout and installed alike
NEEDED = ("ipykernel", "ipywidgets", "plotly", "jupyterlab")
OPTIONS = """
folder FOLDER: folder for the notebooks; no file is overwritten
--json: print the paths of the files as JSON [how to open them]
---
Lessons 01 to 06 have cells to fill in, each with a check. Each of the other notebooks reproduces
the figures and tables of a paper. With DPCORE_FAST=1 in the environment, all
notebooks run a short version.
"""


def run(args: argparse.Namespace) -> None:
    """Copy the notebooks and what they open.

    Raises InputError where one of the files is there already, or a file stands in the folder's
    place.
    """
    folder = place_for_folder(args.folder)
    names = [
        path.relative_to(HOME)
        for path in sorted((*HOME.glob("*.ipynb"), *HOME.glob("first_release/*")))
    ]
    there = next((name for name in names if (folder / name).exists()), None)
    if there is not None:
        raise InputError("folder", f"{there} already exists", "name another folder")
    try:
        for name in names:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(HOME / name, folder / name)
    except BaseException:  # a full disk: what is there would be refused at the next try
        for name in names:
            (folder / name).unlink(missing_ok=True)
        raise
    if args.json:
        print_json({"files": [str(folder / name) for name in names]})
        return
    count = sum(name.suffix == ".ipynb" for name in names)
    print(f"{count} notebooks are in {folder}. Open them with: jupyter lab {folder}")
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        print(f"Some packages are missing; install them with: pip install {' '.join(missing)}")
