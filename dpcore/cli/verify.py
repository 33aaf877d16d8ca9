"""``dpcore verify RELEASE``: does the proof replay, and are its files and ledger what it says?"""

from __future__ import annotations

import argparse
from typing import Any

from dpcore.cli.output import print_json, print_prose
from dpcore.privacy.guarantee import show_bound

_MORE = (
    "It replays the proof, checks each file against its hash in the dossier, makes the report "
    "again, and lists what could not be verified. Exit codes: 0 everything holds; 1 a check "
    "failed, named in one sentence (The guarantee does not match the proof; The dossier was "
    "changed: the hash of its content is not the one it states; report.html is not the file "
    "written with the dossier; The folder holds a.txt, which the dossier does "
    "not list; The ledger has no such line; and the like); 2 a file cannot be read."
)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.epilog = _MORE
    parser.add_argument(
        "dossier",
        metavar="RELEASE",
        help="a release's folder, with every file in it; or its dossier.json, with the files next "
        "to it",
    )
    parser.add_argument("--ledger", metavar="L", help="the ledger that paid [not checked]")
    parser.add_argument("--json", action="store_true", help="one JSON object [a few sentences]")


def run(args: argparse.Namespace) -> None:
    """Exit code 0 only where everything holds."""
    from dpcore.releases.dossier import verify

    found = verify(args.dossier, args.ledger)
    if args.json:
        print_json({"verified": True, **found})
        return
    where = "" if args.ledger is None else ", and the ledger holds this exact dossier"
    print_prose(
        f"Verified: epsilon = {show_bound(found['epsilon'])} at delta = "
        f"{show_bound(found['delta'])} follows from the noise on record ({found['accountant']})"
        f"{where}."
    )
    _print_rest(found)


def _print_rest(found: dict[str, Any]) -> None:
    """How files were compared, and what nothing vouches for."""
    if found["files"]:
        told = "; ".join(f"{name}: {how}" for name, how in found["files"].items())
        print_prose(f"Files checked against the dossier: {told}.")
    if found["unvouched"]:
        remedy = " A ledger does (--ledger)." if found["ledger"] is None else ""
        print_prose(f"Not verified here: {', '.join(found['unvouched'])}.{remedy}")
