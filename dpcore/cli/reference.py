"""``dpcore reference FOLDER``: everything public, as pages made from the docstrings.

Pages are made by pdoc. It looks for names where they are, and dpcore's are imported when first
used; so each is used once before.
"""

from __future__ import annotations

import argparse
from importlib.util import find_spec
from pathlib import Path

from dpcore.cli.output import print_json
from dpcore.cli.pages import place_for_folder
from dpcore.errors import InputError

# What users and those who add a model import from; `dpcore` itself holds most of it.
MODULES = (
    "dpcore",
    "dpcore.errors",
    "dpcore.privacy",
    "dpcore.accounting",
    "dpcore.sklearn",
    "dpcore.registry",
    "dpcore.checks",
    "dpcore.declaration",
    "dpcore.options",
    "dpcore.fitting.recipe",
    "dpcore.fitting.reopened",
    "dpcore.releases.filter",
    "dpcore.releases.opened",
    "dpcore.evaluation.yardstick",
    "dpcore.evaluation.alignment",
    "dpcore.models.exponential_family.picture",
    "dpcore.auditing.fits",
    "dpcore.auditing.neighbours",
    "dpcore.fuzzing.schemas",
    "dpcore.fuzzing.ways",
    "dpcore.wall.session",
    "dpcore.wall.data",
    "dpcore.wall.statistics",
    "dpcore.wall.custodian",
)
OPTIONS = """
folder FOLDER: folder for the pages; those of an earlier run are replaced
--json: print the modules and the path of the first page as JSON [the path]
"""


def run(args: argparse.Namespace) -> None:
    """Write the pages, ``index.html`` first.

    Raises InputError without the package pdoc, and where a file stands in the folder's place.
    """
    folder = place_for_folder(args.folder)
    if find_spec("pdoc") is None:
        raise InputError(
            "reference",
            "the package pdoc is not installed",
            "install its extra with pip install '.[docs]'",
        )
    _make(folder)
    index = str(folder / "index.html")
    if args.json:
        print_json({"index": index, "modules": MODULES})
    else:
        print(index)


def _make(folder: Path) -> None:
    import pdoc

    import dpcore

    for name in dpcore.__all__:
        setattr(dpcore, name, getattr(dpcore, name))
    only = [f"!{module}\\..*" for module in MODULES if "." in module]
    pdoc.pdoc(*MODULES, *only, output_directory=folder)
