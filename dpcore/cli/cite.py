"""``dpcore cite``: the papers behind what you used, ready for a list of references."""

from __future__ import annotations

import argparse
import tomllib
from pathlib import Path

from dpcore.checks import one_of
from dpcore.cli.output import print_json, print_prose
from dpcore.declaration import declarations

PAPERS = tomllib.loads((Path(__file__).parent / "references.toml").read_text("utf-8"))
USED = {
    **{name: model.papers for name, model in declarations().items()},
    "linear": ("dwork2014",),
    "advanced": ("dwork2014",),
    "kov": ("kairouz2015",),
    "zcdp": ("bun2016",),
    "zcdp_tight": ("bun2016", "canonne2020", "feldman2021"),
    "ma": ("abadi2016",),
    "rdp": ("mironov2017",),
    "exact": ("balle2018a", "dong2022"),
    "pld": ("koskela2020", "balle2018b"),
    "wbk9": ("wang2019",),
    "wbk27": ("wang2019",),
    "release": ("canonne2020", "dong2022", "smith2022", "koskela2023", "regev2009"),
}
OPTIONS = """
names [NAME ...]: models, composition methods or the word release [all]
--json: a JSON list [one line for each]
"""


def run(args: argparse.Namespace) -> None:
    """Print the references, each once, and how to name this package."""
    names = [one_of("name", name, tuple(USED)) for name in args.names] or list(USED)
    keys = sorted({key for name in names for key in USED[name]})
    own = f"dpcore {_version()}: differentially private latent-variable models. Software."
    references = [*(PAPERS[key] for key in keys), own]
    if args.json:
        print_json(references)
        return
    for line in references:
        print_prose(line)


def _version() -> str:
    import dpcore

    return dpcore.__version__
