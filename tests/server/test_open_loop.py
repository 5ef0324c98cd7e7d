"""An open loop does not hide a stall: response time runs from the intended start."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from dbdyno import engine
from dbdyno.analysis.histograms import quantiles_ns
from dbdyno.runner.spec import OPEN_LATENCY_LIMIT_NS
from dbdyno.targets.embedded import EmbeddedServer

pytestmark = [pytest.mark.server, pytest.mark.timed]

RATE_PER_S = 1000
STALL_S = 1.0


def stalled_trial(server: EmbeddedServer, tmp_path: Path) -> dict[str, Any]:
    """6 s at 1,000 units/s, in the middle of which another connection holds the table for 1 s."""
    spec = {
        "target": {"host": server.endpoint.host, "port": server.endpoint.port, "user": "dbdyno", "dbname": "dbdyno"},
        "scripts": [{"name": "read.sql", "text": "SELECT n FROM held;", "weight": 1}],
        "clients": 4,
        "arrival": {"kind": "open", "process": "constant", "start_per_s": RATE_PER_S, "end_per_s": RATE_PER_S},
        "seed": 1,
        "warm_up_ns": 200_000_000,
        "window_ns": 6_000_000_000,
        "latency_limit_ns": OPEN_LATENCY_LIMIT_NS,
        "waits": {"route": "auto", "postmaster_pid": server.postmaster_pid, "period_ns": 1_000_000},
    }

    def hold() -> None:
        time.sleep(2.0)
        with server.connect() as other, other.transaction():
            other.execute("LOCK TABLE held IN ACCESS EXCLUSIVE MODE")
            time.sleep(STALL_S)

    holder = threading.Thread(target=hold)
    holder.start()
    outcome = engine.run_trial(spec, None)
    holder.join()
    (tmp_path / "outcome.json").write_text(json.dumps(outcome))
    return outcome


def test_a_stall_shows_as_the_late_units_that_it_caused(tmp_path: Path) -> None:
    """About 1,000 units are late and p99 is hundreds of ms; by the other clock almost none would be."""
    with EmbeddedServer() as server:
        server.execute("CREATE TABLE held (n int); INSERT INTO held VALUES (1)")
        outcome = stalled_trial(server, tmp_path)
    units = outcome["units"]
    p99_response, p99_service = (
        quantiles_ns(outcome[clock]["histogram"], [0.99])[0] for clock in ("response_time", "service_time")
    )

    # Of the 1,000 that arrive during the stall, those of its last 50 ms wait less than the limit of 50 ms; units that
    # arrive while the queue drains are late too, if that takes so long: 950 and, on a busy machine, some more.
    assert 940 <= units["late"] <= 1150
    assert 300e6 < p99_response < 1100e6
    assert p99_service < 100e6
    assert units["skipped"] == 0
    assert units["successful"] == pytest.approx(6 * RATE_PER_S, abs=1)
    assert outcome["profile"]["queue_ns"] > 0.8 * outcome["profile"]["total_ns"]
