"""``dpcore verify RELEASE``: does the proof replay, and are its files and ledger what it says?"""

from __future__ import annotations

import argparse
from typing import Any

from dpcore.cli.output import print_json, print_prose
from dpcore.privacy.guarantee import show_bound

_MORE = (
    "It replays the proof, compares each file with its hash in the dossier, makes the report anew, "
    "and lists what nothing vouches for. Exit codes: 0 everything holds; 1 a check failed, which "
    "one sentence names (The guarantee is not the one that the proof is about; The dossier was "
    "changed: its content has another hash than it states; report.html is not the file that the "
    "dossier was written with; The folder holds a.txt, which the dossier does "
    "not list; The ledger has no such line; and the like); 2 a file cannot be read as what it is."
)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.epilog = _MORE
    parser.add_argument(
        "dossier",
        metavar="RELEASE",
        help="a release's folder, with every file in it; or its dossier.json, with those beside it",
    )
    parser.add_argument("--ledger", metavar="L", help="the ledger that paid [not looked at]")
    parser.add_argument("--json", action="store_true", help="one JSON object [a few sentences]")


def run(args: argparse.Namespace) -> None:
    """Exit code 0 only where everything holds."""
    from dpcore.releases.dossier import verify

    found = verify(args.dossier, args.ledger)
    if args.json:
        print_json({"verified": True, **found})
        return
    where = "" if args.ledger is None else ", and the ledger holds this very dossier"
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
        print_prose(f"Files compared with the dossier: {told}.")
    if found["unvouched"]:
        remedy = " A ledger does (--ledger)." if found["ledger"] is None else ""
        print_prose(f"Nothing here vouches for {', '.join(found['unvouched'])}.{remedy}")
