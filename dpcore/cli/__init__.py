"""The ``dpcore`` command: every command prints a readable table, or JSON with ``--json``.

Exit codes: 0 done; 2 bad input, one sentence on standard error; 3 the budget does not allow it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

from dpcore.errors import DPCoreError, InputError

# name -> (module with ``arguments(parser)`` and ``run(args) -> None``, what it does)
COMMANDS = {
    "explore": ("dpcore.cli.explore", "start the explorer in a browser"),
    "fit": ("dpcore.cli.fit", "private fit: parameters, guarantee, ledger"),
    "account": ("dpcore.cli.account", "epsilon of a composition, by any or all methods"),
    "calibrate": ("dpcore.cli.calibrate", "smallest noise that meets a budget"),
    "sweep": ("dpcore.cli.sweep", "privacy-utility table"),
    "bench": ("dpcore.cli.bench", "speed and quality against peers, in one run"),
}


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence instead of printing the usage."""

    def error(self, message: str) -> NoReturn:
        raise InputError("command line", message, f"see {self.prog} --help")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        _run(words)
    except DPCoreError as error:
        print(f"dpcore: {error}", file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:
        return 0
    return 0


def _run(words: list[str]) -> None:
    parser = _Parser(prog="dpcore", description="Differentially private latent-variable models.")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser)
    chosen = next((word for word in words if word in COMMANDS), None)
    for name, (target, summary) in COMMANDS.items():
        sub = commands.add_parser(name, help=summary, description=summary[0].upper() + summary[1:])
        if name == chosen:  # only the chosen command is imported
            module = import_module(target)
            module.arguments(sub)
            sub.set_defaults(run=module.run)
    args = parser.parse_args(words)
    if args.command is None:
        parser.print_help()
        return
    args.run(args)


__all__ = ["COMMANDS", "main"]
