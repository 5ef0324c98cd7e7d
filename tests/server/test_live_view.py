"""A trial seen while it runs: what the engine shows a watcher once a second."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from dbdyno import engine
from dbdyno.targets.embedded import EmbeddedServer

pytestmark = [pytest.mark.server, pytest.mark.timed]


def spec(server: EmbeddedServer, window_ns: int) -> dict[str, Any]:
    """Two scripts, one of which fails every time."""
    endpoint = server.endpoint
    return {
        "target": {"host": endpoint.host, "port": endpoint.port, "user": endpoint.user, "dbname": endpoint.dbname},
        "scripts": [
            {"name": "sleep.sql", "text": "SELECT pg_sleep(0.01);"},
            {"name": "fail.sql", "text": "SELECT 1 / 0;"},
        ],
        "clients": 3,
        "arrival": {"kind": "closed"},
        "seed": 1,
        "warm_up_ns": 0,
        "window_ns": window_ns,
        "continue_on_error": True,
        "waits": {"route": "auto", "postmaster_pid": server.postmaster_pid},
    }


def test_a_watcher_sees_what_the_outcome_says_in_the_end(server: EmbeddedServer) -> None:
    """Units and failures grow up to the outcome's, percentiles are those of the sleep, and so is the wait."""
    views: list[Mapping[str, Any]] = []

    outcome = engine.run_trial(spec(server, 3_500_000_000), None, views.append)

    assert len(views) >= 2
    slept = [view["scripts"][0]["units"] for view in views]
    failed = [view["scripts"][1]["failed"] for view in views]
    assert slept == sorted(slept)
    assert 0 < slept[-1] <= outcome["scripts"][0]["successful"]
    assert 0 < failed[-1] <= outcome["scripts"][1]["failed"]
    assert views[-1]["scripts"][1]["response_time_ns"] is None
    assert views[-1]["scripts"][0]["response_time_ns"]["p50"] >= 10_000_000
    assert max(views[-1]["waits"], key=views[-1]["waits"].__getitem__) == "Timeout:PgSleep"
    assert sum(views[-1]["waits"].values()) == pytest.approx(1.0)
    assert {view["phase"] for view in views} == {"window"}
    assert views[-1]["clients"] == 3


def test_a_watcher_that_fails_ends_the_trial(server: EmbeddedServer) -> None:
    """Its error is what the caller sees, long before the window is over."""

    def fail(view: Mapping[str, Any]) -> None:
        raise RuntimeError("no terminal any more")

    with pytest.raises(RuntimeError, match="no terminal any more"):
        engine.run_trial(spec(server, 60_000_000_000), None, fail)
