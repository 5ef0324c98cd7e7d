"""The time profile against times that we know: a sleep, a spin, a held lock.

Here with bounds that hold on a machine that others keep busy; test_selftest.py finds the same within 3 % at night.
"""

from __future__ import annotations

import pytest
from small_experiment import arm_of, run_experiment, write_experiment

pytestmark = [pytest.mark.server, pytest.mark.timed]

PLANTED = """
question = "Does the profile tell the truth?"
baseline = { truth = "sleep" }
[workload]
schema = "planted.sql"
[design]
blocks = 2
reset = []
warm_up = "200 ms"
window = "2 s"
[factors.truth]
sleep = { script = "sleep.sql" }
spin = { script = "spin.sql" }
lock = { script = "lock.sql", clients = 2 }
think = { script = "spin.sql", think_time = "20 ms" }
"""
FILES = {
    "planted.sql": """
CREATE TABLE one (id int PRIMARY KEY, n int);
INSERT INTO one VALUES (1, 0);
CREATE FUNCTION spin(rounds int) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE x float8 := 0;
BEGIN FOR i IN 1 .. rounds LOOP x := x + sqrt(i); END LOOP; RETURN x; END $$;
""",
    "sleep.sql": "SELECT pg_sleep(0.02);\n",
    "spin.sql": "SELECT spin(100000);\n",
    # Each of two clients holds the row for 10 ms: half of each unit is waiting for the other.
    "lock.sql": "BEGIN;\nUPDATE one SET n = n + 1 WHERE id = 1;\nSELECT pg_sleep(0.01);\nCOMMIT;\n",
}


@pytest.fixture(scope="module")
def findings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """One run of all planted truths."""
    directory = tmp_path_factory.mktemp("planted")
    return run_experiment(write_experiment(directory, PLANTED, FILES), directory / "run")


def share(arm: dict[str, object], ns: float) -> float:
    """Of the mean response time."""
    return ns / arm["profile_total_ns"]


def test_a_sleep_is_its_wait_event(findings: dict[str, object]) -> None:
    """pg_sleep(0.02) is Timeout:PgSleep, and hardly anything beside it."""
    arm = arm_of(findings, "sleep")
    slept_ns = arm["profile_ns"]["waits"]["Timeout:PgSleep"]

    assert slept_ns >= 15e6
    assert share(arm, slept_ns) >= 0.75


def test_a_spin_is_cpu(findings: dict[str, object]) -> None:
    """CPU and run queue are what a loop takes that never sleeps."""
    arm = arm_of(findings, "spin")
    profile = arm["profile_ns"]

    assert share(arm, profile["cpu"] + profile["run_queue"]) >= 0.75
    assert share(arm, sum(profile["waits"].values())) < 0.05


def test_a_held_row_lock_is_named(findings: dict[str, object]) -> None:
    """Two clients take turns with one row, so each waits half of its time for the other: whatever the machine does."""
    arm = arm_of(findings, "lock")
    waits = arm["profile_ns"]["waits"]
    locked = {name: ns for name, ns in waits.items() if name.startswith("Lock:")}

    assert set(locked) <= {"Lock:transactionid", "Lock:tuple"}
    assert 0.40 <= share(arm, sum(locked.values())) <= 0.60
    assert 0.25 <= share(arm, waits["Timeout:PgSleep"]) <= 0.60


def test_think_time_is_not_response_time(findings: dict[str, object]) -> None:
    """The same spin with 20 ms between units: the pause is in no part of the profile."""
    arm = arm_of(findings, "think")
    profile = arm["profile_ns"]

    assert share(arm, profile["cpu"] + profile["run_queue"]) >= 0.75
    assert profile["client_and_network"] < 5e6


@pytest.mark.parametrize("name", ["sleep", "spin", "lock", "think"])
def test_parts_sum_to_the_whole(findings: dict[str, object], name: str) -> None:
    """Exactly; nothing but unaccounted negative; Little's law within 3 %."""
    arm = arm_of(findings, name)
    profile = arm["profile_ns"]
    parts = [value for part, value in profile.items() if part != "waits"] + list(profile["waits"].values())

    assert sum(parts) == pytest.approx(arm["profile_total_ns"], rel=1e-9)
    assert min(value for part, value in profile.items() if part not in ("waits", "unaccounted")) >= 0
    assert min(profile["waits"].values(), default=0) >= 0
    assert arm["little_discrepancy"] <= 0.03


@pytest.mark.parametrize("name", ["sleep", "spin", "lock", "think"])
def test_little_is_unaccounted(findings: dict[str, object], name: str) -> None:
    """At most a quarter of the response time, either way."""
    arm = arm_of(findings, name)

    assert abs(share(arm, arm["profile_ns"]["unaccounted"])) <= 0.25
