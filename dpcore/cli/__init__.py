"""The ``dpcore`` command: every command prints a readable table, or JSON with ``--json``.

Exit codes: 0 done; 1 a check failed; 2 bad input; 3 more than the budget allows. What is wrong is
one sentence on standard error.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from difflib import get_close_matches
from importlib import import_module
from typing import Any, NoReturn

from dpcore.checks import one_of
from dpcore.cli.options import declare_command
from dpcore.errors import DPCoreError, InputError

# name -> (module with a text ``OPTIONS`` and ``run(args) -> None``, what it does)
COMMANDS = {
    "explore": ("dpcore.cli.explore", "start the explorer in a browser"),
    "serve": ("dpcore.cli.serve", "the explorer for a class, on a network or behind a proxy"),
    "site": ("dpcore.cli.site", "the explorer's opening views as pages that need no server"),
    "notebooks": ("dpcore.cli.notebooks", "lessons with exercises, and a notebook for each paper"),
    "data": ("dpcore.cli.published", "the papers' data sets: how to get and add them"),
    "schema": ("dpcore.cli.schema", "a schema file to fill in, from the header"),
    "fit": ("dpcore.cli.fit", "private fit: parameters, guarantee, ledger"),
    "account": ("dpcore.cli.account", "epsilon of a composition, by any or all methods"),
    "calibrate": ("dpcore.cli.calibrate", "smallest noise that meets a budget"),
    "sweep": ("dpcore.cli.sweep", "privacy-utility table"),
    "plan": ("dpcore.cli.plan", "split one budget among several planned releases"),
    "audit": ("dpcore.cli.audit", "what an attack shows, next to claim and proof"),
    "release": ("dpcore.cli.release", "spend budget once and write files that may be published"),
    "verify": ("dpcore.cli.verify", "replay a release's proof"),
    "apply": ("dpcore.cli.apply", "apply a release to other rows, each by itself"),
    "ledger": ("dpcore.cli.ledger", "what has been spent and what is left"),
    "fuzz": ("dpcore.cli.fuzz", "random neighbouring files, checked against stated sensitivities"),
    "reproduce": ("dpcore.cli.reproduce", "a figure or table of a paper, regenerated"),
    "cite": ("dpcore.cli.cite", "the papers behind what you used"),
    "bench": ("dpcore.cli.bench", "speed and quality against peers, in one run"),
    "reference": ("dpcore.cli.reference", "the public API, as pages made from the docstrings"),
}
_ABOUT = "Differentially private latent-variable models."
_MORE = (
    "'dpcore COMMAND --help' names every option with its default [in brackets]. Exit codes: "
    "0 done; 1 a check failed; 2 bad input, explained in one sentence; 3 budget exceeded."
)


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence instead of printing the usage."""

    @property
    def flags(self) -> list[str]:
        """All options."""
        return list(self._option_string_actions)

    def error(self, message: str) -> NoReturn:
        raise InputError("command line", message, f"see {self.prog} --help")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    _ready_streams()
    if os.path.expanduser("~") == "~":  # a user without a home folder; containers set it to this
        os.environ["HOME"] = os.sep
    try:
        _run(words)
        sys.stdout.flush()
    except DPCoreError as error:
        return _refuse(str(error), error.exit_code)
    except MemoryError:
        return _refuse("memory: there is not enough; use fewer rows, columns or runs.", 2)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader has seen enough, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:  # a full disk, a name that is too long
        reason = error.strerror or "an unknown error"
        return _refuse(
            f"file: the system reports {reason!r}; check paths, permissions and the disk.", 2
        )
    return 0


class _Unheard:
    """Standard error, on which nothing fails: where its reader has gone or its disk is full, a note
    or a refusal is lost, but neither the work nor the exit code."""

    def __init__(self, stream: Any) -> None:
        self._inner = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def write(self, text: str) -> int:
        with suppress(OSError):
            self._inner.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError):
            self._inner.flush()


def _ready_streams() -> None:
    """Whatever is printed can be: to nowhere where a stream is closed, into a file in UTF-8 as the
    files that a command writes, and to a terminal that lacks a character as its number."""
    for name in ("stdin", "stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, io.StringIO())
        elif name != "stdin" and isinstance(stream, io.TextIOWrapper):
            encoding = stream.encoding if stream.isatty() else "utf-8"
            stream.reconfigure(encoding=encoding, errors="backslashreplace")
            if name == "stderr":
                setattr(sys, name, _Unheard(stream))


def _refuse(sentence: str, code: int) -> int:
    from dpcore.cli.output import visible  # with numpy, which no other start needs

    print("dpcore:", visible(" ".join(sentence.split())), file=sys.stderr)
    return code


def _run(words: Sequence[str]) -> None:
    args = parse(words)
    if args is not None:
        args.run(args)


def parse(words: Sequence[str]) -> argparse.Namespace | None:
    """The command and its options; prints the help and gives ``None`` where there is no command.

    Raises InputError on words that no command takes.
    """
    chosen = next((word for word in words if not word.startswith("-")), None)
    if chosen is not None:
        one_of("command", chosen, COMMANDS)
    parser = _parser(chosen, words)
    args, strange = parser.parse_known_args(_joined(words))
    if args.command is None:
        if strange:
            parser.error(f"there is no option {strange[0]} without a command")
        parser.print_help()
        return None
    if strange:
        _refuse_strange(args, strange)
    return args


def _parser(chosen: str | None, words: Sequence[str]) -> _Parser:
    """The parser of all commands; only the chosen one's module is imported."""
    import dpcore

    parser = _Parser(prog="dpcore", description=_ABOUT, epilog=_MORE, allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"dpcore {dpcore.__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser)
    for name, (target, summary) in COMMANDS.items():
        about = f"{summary[0].upper()}{summary[1:]}."
        sub = commands.add_parser(name, help=summary, description=about, allow_abbrev=False)
        if name == chosen:
            module = import_module(target)
            declare_command(sub, module.OPTIONS, words)
            sub.set_defaults(run=module.run, flags=sub.flags)
    return parser


def _joined(words: Sequence[str]) -> list[str]:
    """An option and a value that starts with a minus, such as ``--center -1,2``, as one word."""
    joined: list[str] = []
    for word in words:
        negative = word[:1] == "-" and word[1:2] in tuple("0123456789.")
        if negative and joined and joined[-1][:2] == "--" and "=" not in joined[-1]:
            joined[-1] += f"={word}"
        else:
            joined.append(word)
    return joined


def _refuse_strange(args: argparse.Namespace, strange: list[str]) -> NoReturn:
    """Words that are left over: an unknown model is said first, since options belong to models; but
    not where an option is nearly one of the command's, whose value may stand for the model."""
    word = next((word.partition("=")[0] for word in strange if word.startswith("-")), None)
    finding = f"argument {strange[0]!r} is not expected"
    if word is not None:
        finding = f"{args.command} has no option {word}"
    remedy = f"see dpcore {args.command} --help"
    if word in args.flags:
        raise InputError("command line", f"{word} comes after --", "put options before it")
    near = get_close_matches(word or "", args.flags, 1, 0.8)
    if (name := getattr(args, "model", None)) is not None:
        from dpcore.declaration import declaration, declarations

        if near and name not in declarations():
            raise InputError("command line", finding, f"try {near[0]}")
        model = declaration(name)
        remedy = f"see dpcore {args.command} {model.name} --help"
        if word is not None:
            finding = f"model {model.name!r} takes no option {word}"
            flags = [f"--{flag}" for flag in model.flags()]
            remedy = f"use {', '.join(flags)}" if flags else remedy
    raise InputError("command line", finding, f"try {near[0]}" if near else remedy)


__all__ = ["COMMANDS", "main", "parse"]
