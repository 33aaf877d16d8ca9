"""How a made table becomes two files: the rows as CSV, and the schema that lies in sample_data."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from dpcore.datasets.files import home
from dpcore.schema import Schema


def schema_of(file: str) -> Schema:
    """The public limits of a bundled file: what could be written down without seeing a row."""
    return Schema.from_toml(home() / f"{file.split('.')[0]}.toml")


@dataclass(frozen=True)
class GeneratedFile:
    """The rows of a simulated or public table; ``file`` ends in .csv or .csv.gz."""

    file: str
    frame: pd.DataFrame

    def contents(self) -> dict[str, bytes]:
        """The text of both files, by file name, before compression."""
        rows: str = self.frame.to_csv(index=False, lineterminator="\n")
        schema_file = self.file.split(".")[0] + ".toml"
        return {self.file: rows.encode(), schema_file: schema_of(self.file).to_toml().encode()}

    def write(self, folder: Path) -> None:
        """Write both files; one whose content is right already is left as it is."""
        for name, content in self.contents().items():
            path = folder / name
            if not path.exists() or read_content(path) != content:
                path.write_bytes(_packed(name, content))


def read_content(path: Path) -> bytes:
    """The bytes of a file before compression."""
    raw = path.read_bytes()
    return gzip.decompress(raw) if path.suffix == ".gz" else raw


def public_draws(seed: int) -> np.random.Generator:
    """The random numbers of a simulation, the same wherever it runs."""
    return np.random.Generator(np.random.PCG64(seed))


def _packed(name: str, content: bytes) -> bytes:
    """Compressed without a time stamp where the name says so."""
    return gzip.compress(content, mtime=0) if name.endswith(".gz") else content
