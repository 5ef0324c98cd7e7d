"""What watching all processes of a server costs: CPU per sweep by route, adding up included, with 100 active sessions.

Every session sleeps and computes in turn some hundred times a second, so that most sweeps see most of them change.
At the default budget the share of the host's CPU must stay within it; at a fixed period the cost per sweep is the
figure to compare.

    make bench, or: python benches/watch_cost.py [--seconds 5] [--sessions 100]
"""

from __future__ import annotations

import argparse
import contextlib
import json
import threading
import time
from collections.abc import Iterator
from typing import Any

import psycopg

from dbdyno import _core
from dbdyno.targets.embedded import EmbeddedServer

NAPS = "DO $$ BEGIN LOOP PERFORM pg_sleep(0.003); FOR i IN 1..500 LOOP END LOOP; END LOOP; END $$"
ROUTES = ("mapped", "sysv", "contiguous", "mem", "sql")
# One look in four sweeps is the least there is: the sweep alone is measured.
NO_BUDGET = 1e-6


@contextlib.contextmanager
def napping(server: EmbeddedServer, sessions: int) -> Iterator[None]:
    """So many sessions, each active."""

    def nap(session: psycopg.Connection[Any]) -> None:
        with contextlib.suppress(psycopg.Error):
            session.execute(NAPS)

    with contextlib.ExitStack() as stack:
        connections = [stack.enter_context(server.connect()) for _ in range(sessions)]
        threads = [threading.Thread(target=nap, args=(connection,)) for connection in connections]
        for thread in threads:
            thread.start()
        time.sleep(1)
        yield
        for connection in connections:
            connection.cancel_safe()
        for thread in threads:
            thread.join()


def watch(server: EmbeddedServer, seconds: float, **changes: object) -> dict[str, Any]:
    """The outcome."""
    endpoint = server.endpoint
    target = {"host": endpoint.host, "port": endpoint.port, "user": endpoint.user, "dbname": endpoint.dbname}
    spec = {"target": target, "postmaster_pid": server.postmaster_pid, "seconds_ns": round(seconds * 1e9)} | changes
    return dict(json.loads(_core.watch_server(json.dumps(spec), None)))


def line(route: str, outcome: dict[str, Any]) -> str:
    """One row."""
    sampler = outcome["sampler"]
    return (
        f"{route:<12} {outcome['period_ns'] / 1000:>10.0f} {sampler['cpu_ns_per_sweep'] / 1000:>12.1f} "
        f"{100 * sampler['host_share']:>10.2f} {100 * sampler['budget']:>10.2f}"
    )


def main() -> None:
    """Each route at the default budget, then at 1 and 10 kHz."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--sessions", type=int, default=100)
    options = parser.parse_args()
    settings = {"max_connections": options.sessions + 20, "shared_memory_type": "sysv"}
    with EmbeddedServer(settings=settings) as server, napping(server, options.sessions):
        print(f"{'route':<12} {'period us':>10} {'us per sweep':>12} {'% of host':>10} {'budget %':>10}")
        for changes in ({}, {"period_ns": 1_000_000, "budget": NO_BUDGET}, {"period_ns": 100_000, "budget": NO_BUDGET}):
            for route in ROUTES if not changes else ROUTES[:-1]:
                try:
                    print(line(route, watch(server, options.seconds, route=route, **changes)), flush=True)
                except _core.CoreError as error:
                    print(f"{route:<12} {error.args[1]}")


if __name__ == "__main__":
    main()
