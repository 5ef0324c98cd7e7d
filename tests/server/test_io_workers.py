"""I/O workers do their work while sessions wait for it: what they do is in no session's time, and their share is shown.

One session reads a table that its server's buffers do not hold, through the workers, as long as the profile lasts.
If any of the workers' time were in the sessions' there would be more of it than one session has.
"""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from small_experiment import command

from dbdyno.targets.embedded import EmbeddedServer

pytestmark = [pytest.mark.server, pytest.mark.timed]

SECONDS = 3
LEAST_BUSY = 0.02


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Iterator[dict[str, Any]]:
    """The findings of some seconds of it."""
    with EmbeddedServer(settings={"shared_buffers": "16MB", "io_method": "worker", "io_workers": 3}) as server:
        server.execute("CREATE TABLE large AS SELECT repeat('x', 1900) FROM generate_series(1, 40000)")
        server.vacuum(("large",))
        over = threading.Event()
        reader = threading.Thread(target=read_until, args=(server, over))
        reader.start()
        out = tmp_path_factory.mktemp("profiles") / "io-workers"
        arguments = command("profile", server.endpoint.display(), "--seconds", SECONDS, "--out", out, "--json")
        ended = subprocess.run(arguments, capture_output=True, text=True, timeout=60, check=False)
        over.set()
        reader.join()
        assert ended.returncode == 0, ended.stderr
        yield json.loads(ended.stdout)


def read_until(server: EmbeddedServer, over: threading.Event) -> None:
    """Scan the table in one process, again and again."""
    with server.connect() as session:
        session.execute("SET max_parallel_workers_per_gather = 0")
        while not over.is_set():
            session.execute("SELECT count(*) FROM large")


def test_workers_have_a_busy_share_of_their_own(profile: dict[str, Any]) -> None:
    """Among the processes in the background, at work all the time."""
    (workers,) = [process for process in profile["background"] if process["backend_type"] == "io worker"]

    assert workers["processes"] == 3
    assert workers["busiest"] > LEAST_BUSY
    assert workers["waits"]["Activity:IoWorkerMain"] > 0


def test_their_time_is_in_no_session(profile: dict[str, Any]) -> None:
    """One session has at most the length of the profile, and nobody else has any database time."""
    whole = profile["database_time_ns"]["estimate"]

    assert 0.5 * SECONDS * 1e9 < whole <= 1.001 * profile["seconds"] * 1e9
    assert [kind["name"] for kind in profile["by_backend_type"]] == ["client backend"]
    assert [session["backend_type"] for session in profile["by_session"] if session["ns"]["estimate"]] == [
        "client backend"
    ]
    assert "Activity:IoWorkerMain" not in profile["profile_ns"]["waits"]


def test_sessions_parts_are_their_time(profile: dict[str, Any]) -> None:
    """Of the whole and of each session: the parts sum to it, none but the remainder is negative."""
    assert_sums(profile["profile_ns"], profile["database_time_ns"]["estimate"])
    for session in profile["by_session"]:
        assert_sums(session["profile_ns"], session["ns"]["estimate"])


def assert_sums(parts: dict[str, Any], whole: float) -> None:
    """CPU, waits and all others against what they are parts of."""
    known = {part: value for part, value in parts.items() if part not in ("waits", "unaccounted") and value is not None}
    known |= parts["waits"]

    assert sum(known.values()) + parts["unaccounted"] == pytest.approx(whole)
    assert min(known.values()) >= 0
