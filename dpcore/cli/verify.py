"""``dpcore verify RELEASE``: does the proof replay, and are its files and ledger what it says?"""

from __future__ import annotations

import argparse
from typing import Any

from dpcore.cli.output import print_json, print_prose
from dpcore.errors import ReplayError
from dpcore.privacy.guarantee import delta_text, show_bound

OPTIONS = """
dossier RELEASE: a release's folder, with every file in it; or its dossier.json, with the files next
    to it
--ledger L: the ledger that paid for the release [not checked]
--json: one JSON object, also where a check failed [a few sentences]
---
The command replays the proof, checks each file against its hash in the dossier, regenerates the
report if this version wrote it, and lists what could not be verified. Exit codes: 0 everything
holds; 1 a check failed, named in one sentence (The guarantee does not match the proof; The dossier
was changed: the hash of its content differs from the hash it states; report.html is not the file
written with the dossier; The folder holds a.txt, which the dossier does not list; The ledger has no
release with the line number that the dossier states; and the like); 2 a file cannot be read.
"""


def run(args: argparse.Namespace) -> None:
    """Exit code 0 only where everything holds."""
    from dpcore.releases.dossier import verify

    try:
        record = verify(args.dossier, args.ledger)
    except ReplayError as failed:
        if args.json:
            print_json({"verified": False, "failed": str(failed)})
        raise
    if args.json:
        print_json({"verified": True, **record})
        return
    where = "" if args.ledger is None else ", and the ledger holds this exact dossier"
    print_prose(
        f"Verified: epsilon = {show_bound(record['epsilon'])} at delta = "
        f"{delta_text(record['delta'])} follows from the noise on record ({record['accountant']})"
        f"{where}."
    )
    _print_rest(record)


def _print_rest(record: dict[str, Any]) -> None:
    """How files were compared, and what nothing vouches for."""
    if record["files"]:
        files = "; ".join(f"{name}: {how}" for name, how in record["files"].items())
        print_prose(f"Checks of the files that the dossier lists: {files}.")
    if record["unvouched"]:
        remedy = (
            " To check the release against its ledger, give --ledger."
            if record["ledger"] is None
            else ""
        )
        print_prose(f"Not verified here: {', '.join(record['unvouched'])}.{remedy}")
