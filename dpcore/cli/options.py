"""A command's options, declared by the text that its readers see."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import Any

from dpcore.registry import MODELS


def declare(parser: argparse.ArgumentParser, text: str) -> None:
    """Declare the options that a command's text lists.

    An option begins a line and ends its names with a colon; its help may go on in indented lines.
    Blocks are separated by empty lines; one that begins with ``# title`` is a group of that title.
    What follows a line ``---`` is printed below the options: examples as they are, prose wrapped.

    ==================  ====================================================================
    ``file FILE``       a positional argument and its name in the help
    ``file [FILE]``     the same, which may be left out; ``[NAME ...]``: any number of them
    ``--json``          a flag
    ``--port P=8501``   an option with its metavar, and its default if it is not ``None``
    ``--ledger L!``     an option that must be given
    ``--only NAME+``    an option that may be given several times
    ==================  ====================================================================

    >>> parser = argparse.ArgumentParser()
    >>> declare(parser, '''
    ... file [FILE]: what to read
    ...
    ... # address
    ... --port P=8501: where to
    ...     listen [8501]
    ... --json: print JSON [text]
    ... ''')
    >>> vars(parser.parse_args(["--json"]))
    {'file': None, 'port': '8501', 'json': True}
    """
    options, _, epilog = text.partition("\n---\n")
    if epilog.startswith("examples:"):
        parser.formatter_class, parser.epilog = argparse.RawDescriptionHelpFormatter, epilog.strip()
    elif epilog:
        parser.epilog = " ".join(epilog.split())
    for block in options.strip().split("\n\n"):
        group: argparse._ActionsContainer = parser
        if block.startswith("# "):
            title, _, block = block.removeprefix("# ").partition("\n")
            group = parser.add_argument_group(title)
        for entry in re.split(r"\n(?=\S)", block.strip()):
            _declare_one(group, " ".join(entry.split()))


def _declare_one(group: argparse._ActionsContainer, entry: str) -> None:
    names, _, explained = entry.partition(": ")
    name, _, value = names.partition(" ")
    metavar, _, default = value.rstrip("!+").partition("=")
    settings: dict[str, Any] = {"help": explained}
    if not value:
        settings["action"] = "store_true"
    elif not name.startswith("--"):
        settings["metavar"] = value.strip("[]").removesuffix(" ...")
        if value.startswith("["):
            settings["nargs"] = "*" if "..." in value else "?"
    else:
        settings |= {"metavar": metavar, "default": default if "=" in value else None}
        settings |= {"required": value.endswith("!")}
        settings |= {"action": "append"} if value.endswith("+") else {}
    group.add_argument(name, **settings)


def declare_command(parser: argparse.ArgumentParser, text: str, words: Sequence[str]) -> None:
    """Declare a command's options. words: the command line; where the command takes a model, the
    options of the one that it names are declared as well, and no others."""
    declare(parser, text)
    if "\nmodel MODEL:" not in text:
        return
    model = next((word for word in words if word in MODELS), None)
    if model is None:
        command = parser.prog.split()[-1]
        parser.epilog = f"'dpcore {command} MODEL --help' shows the options of that model as well."
        return
    from dpcore.declaration import declaration

    group = parser.add_argument_group(f"the model {model}")
    for flag, option in declaration(model).flags().items():
        group.add_argument(f"--{flag}", metavar=option.metavar, help=option.help)
