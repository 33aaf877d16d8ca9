"""Make the reference of everything public from its docstrings: ``python -m app.scripts.reference``.

Pages are made by pdoc. It looks for names where they are, and dpcore's are imported when first
used; so each is used once before.
"""

from __future__ import annotations

import sys
from pathlib import Path

import dpcore

# What users and those who add a model import from; `dpcore` itself holds most of it.
MODULES = (
    "dpcore",
    "dpcore.errors",
    "dpcore.privacy",
    "dpcore.accounting",
    "dpcore.sklearn",
    "dpcore.registry",
    "dpcore.fitting.recipe",
    "dpcore.wall.session",
    "dpcore.wall.statistics.row_vectors",
)


def make(folder: Path) -> None:
    """Write the pages, ``index.html`` first."""
    import pdoc

    for name in dpcore.__all__:
        setattr(dpcore, name, getattr(dpcore, name))
    only = [f"!{module}\\..*" for module in MODULES if "." in module]
    pdoc.pdoc(*MODULES, *only, output_directory=folder)


def main(words: list[str]) -> int:
    """Into the folder of the one argument [reference]; 2 where pdoc is absent."""
    folder = Path(words[0] if words else "reference")
    try:
        make(folder)
    except ImportError as missing:
        if missing.name != "pdoc":
            raise
        print("pdoc is not installed: pip install '.[docs]'", file=sys.stderr)
        return 2
    print(folder / "index.html")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
