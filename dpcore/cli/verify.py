"""``dpcore verify DOSSIER``: does the proof replay, and does the ledger know the release?"""

from __future__ import annotations

import argparse

from dpcore.cli.output import print_json, print_prose
from dpcore.privacy.guarantee import show_bound


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("dossier", metavar="DOSSIER", help="the file dossier.json of a release")
    parser.add_argument("--ledger", metavar="L", help="the ledger that paid [not looked at]")
    parser.add_argument("--json", action="store_true", help="one JSON object [a sentence]")


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
