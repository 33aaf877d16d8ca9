"""Rebuild the bundled files: ``python -m tests.bundled [FOLDER]``."""

from __future__ import annotations

import sys
from pathlib import Path

from dpcore.datasets.files import home

from . import docstrings, make_all


def main(arguments: list[str]) -> None:
    """Write every file into the folder named, or into ``sample_data``."""
    folder = Path(arguments[0]) if arguments else home()
    folder.mkdir(parents=True, exist_ok=True)
    for file in make_all():
        file.write(folder)
    docstrings.write(folder)


if __name__ == "__main__":
    main(sys.argv[1:])
