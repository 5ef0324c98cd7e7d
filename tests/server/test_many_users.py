"""Five hundred users of order-entry with think time: nothing fails, all is consistent, the driver stays small.

`DBDYNO_TEST_USERS_WINDOW="10 min" make test-nightly` holds them for longer than the minute of the nightly tests.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from small_experiment import run_experiment, trials_of, write_experiment

from dbdyno import workloads

pytestmark = [pytest.mark.server, pytest.mark.nightly]

WINDOW = os.environ.get("DBDYNO_TEST_USERS_WINDOW", "60 s")
USERS = 500
MEMORY_BYTES_MAX = 200_000_000

MANY_USERS = f"""
question = "Do five hundred users hold?"
metric = "throughput_per_s"
baseline = {{ users = "many" }}
[target]
settings = {{ max_connections = 600, shared_buffers = "256MB" }}
[workload]
schema = "order-entry"
script = "builtin:order-entry"
clients = {USERS}
threads = 2
think_time = {{ exponential = "500 ms", minimum = "50 ms", maximum = "2 s" }}
connect_ramp = "2 s"
[design]
blocks = 1
reset = ["checkpoint"]
warm_up = "3 s"
window = "{WINDOW}"
[factors.users]
many = {{}}
"""


@pytest.mark.timeout(3600)
def test_five_hundred_users_hold(cache: Path, tmp_path: Path) -> None:
    """Every unit is done, all nine kinds are, the invariants hold, and the whole driver has at most 200 MB."""
    workload = workloads.find("order-entry")
    assert workload is not None

    findings = run_experiment(write_experiment(tmp_path / "many", MANY_USERS), tmp_path / "run", timeout_s=3000)
    (trial,) = trials_of(tmp_path / "run")
    outcome = trial["outcome"]
    units = outcome["units"]
    driver = outcome["driver"]
    print(f"{outcome['throughput_per_s']:.0f} units/s, driver {driver}")  # for whoever holds them longer, with -s

    assert trial["status"] == "ok"
    assert (units["failed"], units["skipped"], units["retried"]) == (0, 0, 0)
    assert {script["name"] for script in outcome["scripts"] if script["successful"] > 0} == {
        name for name, _, _ in workload.scripts
    }
    assert trial["invariants"] == dict.fromkeys(workload.invariants, 0)
    assert 0 < driver["memory_bytes_max"] <= MEMORY_BYTES_MAX
    assert findings["arms"][0]["driver"]["lateness_ns_p99"] == driver["lateness_ns"]["p99"]
