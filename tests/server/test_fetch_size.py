"""Fetching in portions from a distant server: each fetch costs one round trip, and the profile says so."""

from __future__ import annotations

from typing import Any

import pytest
from delaying_proxy import DelayingProxy, delaying_proxy

from dbdyno import engine
from dbdyno.targets.embedded import EmbeddedServer

pytestmark = [pytest.mark.server, pytest.mark.timed]

DELAY_S = 0.05
ROWS = 199


def fetched(server: EmbeddedServer, proxy: DelayingProxy, fetch_rows: int | None) -> dict[str, Any]:
    """One execution that returns 199 rows, through the proxy."""
    spec = {
        "target": {"host": "127.0.0.1", "port": proxy.port, "user": "dbdyno", "dbname": "dbdyno", "sslmode": "disable"},
        "scripts": [{"name": "read.sql", "text": f"SELECT generate_series(1, {ROWS})", "weight": 1}],
        "mode": "prepared",
        "clients": 1,
        "arrival": {"kind": "closed", "think_time_ns": 0},
        "seed": 1,
        "warm_up_ns": 0,
        "window_ns": 60_000_000_000,
        "fixed_units": 1,
        "fetch_rows": fetch_rows,
        "waits": {"route": "auto", "postmaster_pid": server.postmaster_pid, "period_ns": 1_000_000},
    }
    outcome = engine.run_trial(spec, None)
    assert outcome["scripts"][0]["statements"][0]["rows"] == ROWS
    return outcome


def test_a_delay_is_paid_once_a_fetch_and_belongs_to_client_and_network(server: EmbeddedServer) -> None:
    """20 fetches of 10 rows and the commit behind them, against all rows at once: 20 round trips of 100 ms more.

    A busy machine holds bytes longer than it should, so the proxy's own account is the truth; what it cannot see is
    how long it took to notice them.
    """
    socket = f"{server.endpoint.host}/.s.PGSQL.{server.endpoint.port}"
    with delaying_proxy(socket, DELAY_S) as far, delaying_proxy(socket, DELAY_S) as near:
        in_portions, at_once = fetched(server, far, 10), fetched(server, near, None)
    network_s = [outcome["profile"]["client_and_network_ns"] / 1e9 for outcome in (in_portions, at_once)]

    assert far.requests - near.requests == 20
    assert network_s[0] - network_s[1] >= 20 * 2 * DELAY_S
    assert network_s[0] - network_s[1] == pytest.approx(far.held_s - near.held_s, rel=0.05)
    assert network_s[1] == pytest.approx(2 * DELAY_S, rel=0.2)
    assert network_s[0] > 0.95 * in_portions["profile"]["total_ns"] / 1e9
