"""The process: see `dbdyno.peers`."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from dbdyno.peers.peer import Peer
from dbdyno.probes.own_thread import OwnClock


def main() -> None:
    """One trial's work."""
    try:
        spec = json.loads(sys.stdin.readline())
        if "load" in spec:
            _load(spec)
            return
        peer = _opened(spec)
        _read_programs()
        _say({"settings": peer.settings(), "version": peer.version})
        if sys.stdin.readline() != "go\n":
            return
        clock = OwnClock()
        started_at_ns = time.time_ns()
        before = clock.read()
        row = peer.row()
        after = clock.read()
        times = {name: None if now is None else now - before[name] for name, now in after.items()}
        _say({"started_at_ns": started_at_ns, **times, "row": row})
        sys.stdin.readline()  # until we have been looked at
    except Exception as error:  # of whatever library: the other side has to tell it
        _say({"error": next(iter(str(error).splitlines()), type(error).__name__)})


def _load(spec: Mapping[str, Any]) -> None:
    """Makes the file; only DuckDB has its tables loaded here."""
    from dbdyno.peers.duckdb import load

    load(spec["path"], spec["load"])
    _say({"loaded": len(spec["load"])})


def _read_programs() -> None:
    """What lies idle leaves the page cache in time, and a page of a library would be fetched within the time."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    for name in {line.split(maxsplit=5)[5] for line in lines if " r-xp " in line and "/" in line}:
        with suppress(OSError), Path(name).open("rb", buffering=0) as program:
            while program.read(1 << 20):
                pass


def _opened(spec: Mapping[str, Any]) -> Peer:
    """Imports that engine alone."""
    match spec["engine"]:
        case "duckdb":
            from dbdyno.peers.duckdb import DuckDb

            return DuckDb(spec)
        case "sqlite":
            from dbdyno.peers.sqlite import Sqlite

            return Sqlite(spec)
        case _:
            from dbdyno.peers.ndv_copy import NdvCopy

            return NdvCopy(spec)


def _say(what: Mapping[str, Any]) -> None:
    sys.stdout.write(json.dumps(what, default=str) + "\n")
    sys.stdout.flush()


main()
