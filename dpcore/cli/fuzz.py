"""``dpcore fuzz``: neighbouring files at random, and by how much a release of them differs."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dpcore.cli.output import print_json, print_progress, print_prose, print_table
from dpcore.errors import DPCoreError, InputError

OPTIONS = """
--seconds S=60: how long to run, in seconds [60]
--model M: only this model [all in turn]
--seed S: seed of all pairs [a fresh one, which is printed]
--pair N: only this pair, generated again [all]
--keep FOLDER: with --pair, a new folder for its files [not kept]
--json: one JSON object [readable tables]
---
examples:
  dpcore fuzz --seconds 600                every model, for ten minutes
  dpcore fuzz --model gmm --seed 7         one model, the same pairs in every run with this seed
  dpcore fuzz --seed 7 --pair 1203 --keep pair    one pair again, with its two files
"""


def run(args: argparse.Namespace) -> None:
    """Exit code 1 where a pair violates what is proved; Ctrl-C ends it, and the rest is shown.
    Raises DPCoreError in the first case, once all is printed."""
    from dpcore.fuzzing.run import fuzz

    with _ended_in_order():
        tally = fuzz(
            args.seconds,
            model=args.model,
            seed=args.seed,
            only=args.pair,
            keep=_new_folder(args),
            on_share=print_progress,
            on_violation=_say,
        )
    record = tally.as_dict()
    if args.json:
        print_json(record)
    else:
        _show(record)
    if tally.violations:
        raise DPCoreError(
            f"violations: {tally.violations:,}, the first: {_told(tally.violated[0])}"
        )


@contextmanager
def _ended_in_order() -> Iterator[None]:
    """A signal to terminate, such as that of ``timeout``, works as Ctrl-C does."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _new_folder(args: argparse.Namespace) -> Path | None:
    """Where the files of the one pair are kept."""
    if args.keep is None:
        return None
    if args.pair is None:
        raise InputError("keep", "no pair was named", "name one with --pair N")
    if Path(args.keep).exists():
        raise InputError("keep", "it already exists", "name a new folder")
    return Path(args.keep)


def _say(violation: dict[str, Any]) -> None:
    """At once, on the side of errors: a run takes hours."""
    print(_told(violation), file=sys.stderr, flush=True)


def _told(violation: dict[str, Any]) -> str:
    """A violation, with the words that make it anew."""
    return (
        f"dpcore fuzz --seed {violation['seed']} --pair {violation['pair']} ({violation['model']}, "
        f"{violation['adjacency']}, {violation['file']}): {violation['found']}"
    )


def _show(record: dict[str, Any]) -> None:
    for by in ("model", "adjacency", "file"):
        print_table(
            [
                {
                    by: kind,
                    "pairs": f"{count['pairs']:,}",
                    "compared": f"{count['compared']:,}",
                    "worst ratio": f"{count['worst_ratio']:.9f}",
                }
                for kind, count in record[f"by_{by}"].items()
            ]
        )
        print()
    pair = "" if record["worst_pair"] is None else f" (pair {record['worst_pair']})"
    print_prose(
        f"Seed {record['seed']}, {record['seconds']:,} seconds. Pairs of neighbouring files: "
        f"{record['pairs']:,}; compared: {record['compared']:,} (their releases: "
        f"{record['releases']:,}); with both files refused: {record['refused']:,}; with one "
        f"refused because it had a word among its numbers: {record['refused_one']:,}. Worst ratio: "
        "the largest change in an exact sum, as a share of the sensitivity stated in its ledger "
        f"entry: {record['worst_ratio']:.9f}{pair}. Violations: {record['violations']:,}."
    )
    print_prose(f"Not covered: {'; '.join(record['not_covered'])}.")
