"""Run tests on changed code without starting Python anew.

One process collects all quick tests. For each change it forks, and the child exchanges the code of
the changed functions in place: whoever imported them has them, and nothing is imported again. What
changes outside functions (a constant, a default, a decorator) is refused.
"""

from __future__ import annotations

import gc
import os
import shutil
import signal
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NoReturn

from .lanes import LEAST_SECONDS, ROOT, TIMES

REFUSED = "refused: "  # begins what a child says that could not run the tests


class Warm:
    """All quick tests, collected once in this process."""

    def __init__(self) -> None:
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
        import _pytest.config
        import pytest

        words = ["-q", "-s", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:cov", "-x"]
        self._config = _pytest.config._prepareconfig([*words, "--assert=plain"])
        self._config._do_configure()
        self._session = pytest.Session.from_config(self._config)
        self._config.hook.pytest_sessionstart(session=self._session)
        self._config.hook.pytest_collection(session=self._session)
        self._items = {item.nodeid: item for item in self._session.items}
        gc.collect()
        self._functions: dict[tuple[str, str, int], list[FunctionType]] = {}
        for thing in gc.get_objects():
            if isinstance(thing, FunctionType):
                code = thing.__code__
                key = (code.co_filename, code.co_qualname, code.co_firstlineno)
                self._functions.setdefault(key, []).append(thing)
        gc.freeze()
        self._sound: dict[str, bool] = {}

    def exchange(self, file: str, source: str) -> bool:
        """Exchange the code of the file's functions; False where something else changes."""
        path = str(ROOT / file)
        known = compile((ROOT / file).read_text(encoding="utf-8"), path, "exec")
        mutated = compile(source, path, "exec")
        if _shell(known) != _shell(mutated):
            return False
        changed = False
        for before, after in zip(_outermost(known), _outermost(mutated), strict=True):
            if before == after:
                continue
            key = (before.co_filename, before.co_qualname, before.co_firstlineno)
            functions = self._functions.get(key, [])
            if not functions:
                return False
            for function in functions:
                function.__code__ = after
            changed = True
        return changed

    def fails(self, tests: Sequence[str]) -> str | None:
        """The first of the tests that fails."""
        self._session.items = [self._items[test] for test in tests if test in self._items]
        self._session.testscollected = len(self._session.items)
        failed: list[str] = []

        class Noted:
            def pytest_runtest_logreport(self, report: Any) -> None:
                if report.failed:
                    failed.append(report.nodeid)

        self._config.pluginmanager.register(Noted())
        try:
            self._config.hook.pytest_runtestloop(session=self._session)
        except BaseException:
            if not failed:
                raise
        return failed[0] if failed else None

    def verdict(
        self, file: str, source: str, tests: Sequence[str], seconds: float, scratch: Path
    ) -> str | None:
        """The first of the tests that fails on the changed file, and alone passes on the whole one.

        ``None``: none fails. What begins with :data:`REFUSED` is no verdict.
        """
        told = self._verdict(file, source, tests, seconds, scratch)
        if told in self._items:
            if told not in self._sound:
                whole = (ROOT / file).read_text(encoding="utf-8")
                self._sound[told] = self._verdict(file, whole, [told], seconds, scratch) is None
            if not self._sound[told]:
                return f"{REFUSED}{told} fails here on whole code"
        return told

    def _verdict(
        self, file: str, source: str, tests: Sequence[str], seconds: float, scratch: Path
    ) -> str | None:
        """What a forked process says."""
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            self._tell(writing, file, source, tests, scratch)
        os.close(writing)
        end = time.monotonic() + LEAST_SECONDS + TIMES * seconds
        told = ""
        while os.waitpid(child, os.WNOHANG) == (0, 0):
            if time.monotonic() > end:
                os.killpg(child, signal.SIGKILL)
                os.waitpid(child, 0)
                told = "the time limit"
                break
            time.sleep(0.02)
        told = told or os.read(reading, 4000).decode()
        os.close(reading)
        return told or None

    def _tell(
        self, writing: int, file: str, source: str, tests: Sequence[str], scratch: Path
    ) -> NoReturn:
        """In the child: change the code, run the tests, say what fails, and end."""
        os.setsid()
        told = f"{REFUSED}it changes more than functions"
        try:
            shutil.rmtree(scratch, ignore_errors=True)
            self._config._tmp_path_factory._given_basetemp = scratch  # type: ignore[attr-defined]
            quiet = os.open(os.devnull, os.O_WRONLY)
            os.dup2(quiet, 1)
            os.dup2(quiet, 2)
            if source == (ROOT / file).read_text(encoding="utf-8") or self.exchange(file, source):
                told = self.fails(tests) or ""
        except BaseException as problem:
            told = f"{REFUSED}{problem!r}"
        finally:
            os.write(writing, told.encode()[:4000])
            os._exit(0)


def _shell(code: CodeType) -> tuple[Any, ...]:
    """What a module or class body does itself: all but the code of its functions."""
    constants = tuple(
        (_shell(one) if _is_class(one) else one.co_qualname)
        if isinstance(one, CodeType)
        else (type(one), one)
        for one in code.co_consts
    )
    return (code.co_code, code.co_names, constants)


def _outermost(code: CodeType) -> Iterator[CodeType]:
    """The functions of a module and of its classes, without those inside functions."""
    for one in code.co_consts:
        if isinstance(one, CodeType):
            if _is_class(one):
                yield from _outermost(one)
            else:
                yield one


def _is_class(code: CodeType) -> bool:
    return "__qualname__" in code.co_names and not code.co_flags & 0x2  # no fast locals
