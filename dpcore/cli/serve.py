"""``dpcore serve``: the explorer for a class, on an address of a network or behind a proxy."""

from __future__ import annotations

import argparse
import json
import os
import re
import socket
from errno import EADDRINUSE

from dpcore.checks import whole
from dpcore.cli.explore import demand_app, start
from dpcore.errors import InputError

HERE = "127.0.0.1"
LOCK, UPLOADS, LEDGERS = "DPCORE_LOCK_TRUTH", "DPCORE_UPLOADS", "DPCORE_LEDGERS"
OPTIONS = f"""
--host H={HERE}: address to listen on; 0.0.0.0 for all addresses of this machine [{HERE}]
--port P=8501: port [8501]
--base-path /X=: path under which a proxy serves the explorer, for example /dp [the root]
--allow-upload: let visitors open their own files, with ledgers in the folder that {LEDGERS}
    names [only on {HERE}]
--unlock: show exact values of an upload to whoever opened it [only on {HERE}]
--json: print the address as JSON [a readable line]
---
On {HERE} this is the explorer that 'dpcore explore' starts. On any other host, without
--allow-upload, visitors cannot open their own files, and budget ledgers are for practice: each
belongs to one session, is held in memory where the system allows it, and is deleted with the
session. Without --unlock, exact values of an upload never reach a browser there.
"""


def run(args: argparse.Namespace) -> None:
    """Serve until interrupted.

    Raises InputError without the explorer, and for an address or a path that cannot be served.
    """
    port, base = whole("port", args.port, most=65535), _path(args.base_path)
    demand_app("serve")
    _demand_free(args.host, port)
    from app.settings import flags

    local = args.host == HERE
    uploads = local or args.allow_upload
    os.environ.update(environment(args.host, uploads=uploads, unlock=args.unlock))
    server = {"address": args.host, "port": port, "baseUrlPath": base}
    if not uploads:
        server["maxUploadSize"] = 0
    if not local:  # a proxy names the host by which browsers know it
        server["allowedHosts"] = ["*"]
    locked = os.environ.get(LOCK, "") not in ("", "0")
    name = f"[{args.host}]" if ":" in args.host else args.host
    url = f"http://{name}:{port}/{base}{'/' if base else ''}"
    record = {"url": url, "uploads": uploads, "locked": locked}
    line = (
        f"dpcore explorer: {url}  (uploads {'on' if uploads else 'off'}, exact values of uploads "
        f"{'locked' if locked else 'not locked'}; Ctrl+C stops it)"
    )
    print(json.dumps(record) if args.json else line, flush=True)
    start(flags(**server))


def environment(host: str, *, uploads: bool, unlock: bool) -> dict[str, str]:
    """What the served explorer is told, in words of its environment.

    >>> environment("127.0.0.1", uploads=True, unlock=False)
    {}
    >>> environment("0.0.0.0", uploads=False, unlock=False)
    {'DPCORE_LOCK_TRUTH': '1', 'DPCORE_UPLOADS': '0'}
    >>> environment("0.0.0.0", uploads=True, unlock=True)
    {'DPCORE_LOCK_TRUTH': '0', 'DPCORE_UPLOADS': '1'}
    """
    if host == HERE:
        return {LOCK: "0"} if unlock else {}
    return {LOCK: "0" if unlock else "1", UPLOADS: "1" if uploads else "0"}


def _path(text: str) -> str:
    """A base path without the strokes at its ends."""
    base = text.strip("/")
    if not re.fullmatch(r"[\w./-]*", base) or ".." in base or "//" in base:
        raise InputError("base_path", "it is not a URL path", "give one like /dp")
    return base


def _demand_free(host: str, port: int) -> None:
    """Raise InputError where nobody can listen there."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as problem:
        if problem.errno == EADDRINUSE:
            finding, remedy = f"{port} is taken on {host}", "give another with --port"
            raise InputError("port", finding, remedy) from None
        raise InputError(
            "host",
            f"this machine cannot listen on {host}, port {port}",
            "give one of this machine's addresses, or 0.0.0.0",
        ) from None
