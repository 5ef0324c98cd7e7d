"""How the embedded server's memory is read, and that reading it never keeps the server from starting again."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from dbdyno import engine
from dbdyno.targets.embedded import EmbeddedServer

pytestmark = pytest.mark.server


def trial(server: EmbeddedServer, route: str) -> dict[str, Any]:
    """Sleeps, for a tenth of a second."""
    endpoint = server.endpoint
    spec = {
        "target": {"host": endpoint.host, "port": endpoint.port, "user": endpoint.user, "dbname": endpoint.dbname},
        "scripts": [{"name": "sleep.sql", "text": "SELECT pg_sleep(0.01);"}],
        "clients": 2,
        "arrival": {"kind": "closed"},
        "seed": 1,
        "warm_up_ns": 0,
        "window_ns": 100_000_000,
        "waits": {"route": route, "postmaster_pid": server.postmaster_pid},
    }
    return dict(engine.run_trial(spec, None))


def attached(server: EmbeddedServer) -> int:
    """Processes attached to the server's System V segment."""
    segment = (server.data_directory / "cluster" / "postmaster.pid").read_text().splitlines()[6].split()
    rows = (row.split() for row in Path("/proc/sysvipc/shm").read_text().splitlines()[1:])
    return next(int(row[6]) for row in rows if row[:2] == segment)


def test_an_ordinary_user_reads_a_system_v_segment_and_lets_go_of_it(cache: Path) -> None:
    """The route works where mapping is forbidden; afterwards nobody but the server is attached, and it restarts."""
    with EmbeddedServer(settings={"shared_memory_type": "sysv", "shared_buffers": "16MB"}) as server:
        profiles = [trial(server, "sysv")["profile"], trial(server, "auto")["profile"]]
        # The postmaster and each of its children; a trial's own sessions may just be ending.
        children = Path(f"/proc/{server.postmaster_pid}/task/{server.postmaster_pid}/children").read_text().split()
        assert attached(server) <= 1 + len(children)
        server.restart()
        profiles.append(trial(server, "sysv")["profile"])
    assert [profile["route"] for profile in profiles] == ["sysv", "mapped" if os.geteuid() == 0 else "sysv", "sysv"]
    for profile in profiles:
        assert max(profile["waits_ns"], key=profile["waits_ns"].__getitem__) == "Timeout:PgSleep"


def test_the_usual_shared_memory_is_no_segment(server: EmbeddedServer) -> None:
    """A route that cannot work says why."""
    with pytest.raises(Exception, match="sysv: the server's shared memory is no System V segment"):
        trial(server, "sysv")
