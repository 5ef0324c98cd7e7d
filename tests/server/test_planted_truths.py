"""The time profile against times that we know: a sleep, a spin, a held lock."""

from __future__ import annotations

import pytest
from host_pauses import SHARE_MAX, late_share
from small_experiment import arm_of, run_experiment, write_experiment

pytestmark = pytest.mark.server

ATTEMPTS = 3
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
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, object], float]:
    """One run of all planted truths and how late this machine woke up beside it; on a late one the last of three."""
    for _ in range(ATTEMPTS):
        directory = tmp_path_factory.mktemp("planted")
        before = late_share()
        found = run_experiment(write_experiment(directory, PLANTED, FILES), directory / "run")
        late = max(before, late_share())
        if late <= SHARE_MAX:
            break
    return found, late


@pytest.fixture(scope="module")
def findings(measured: tuple[dict[str, object], float]) -> dict[str, object]:
    """The run, for what must hold on any machine."""
    return measured[0]


@pytest.fixture
def timely(measured: tuple[dict[str, object], float]) -> dict[str, object]:
    """The run, for lengths of time: on a machine that wakes up late they are not what was planted."""
    found, late = measured
    if late > SHARE_MAX:
        pytest.skip(f"this machine wakes up late: naps of 2 ms took {late:.1%} more; times cannot be told")
    return found


def test_a_sleep_is_its_wait_event(timely: dict[str, object]) -> None:
    """pg_sleep(0.02) is Timeout:PgSleep, 20 ms within 5 %."""
    profile = arm_of(timely, "sleep")["profile_ns"]

    assert profile["waits"]["Timeout:PgSleep"] == pytest.approx(20e6, rel=0.05)


def test_a_spin_is_cpu(timely: dict[str, object]) -> None:
    """CPU and run queue are 95 % of a loop that never sleeps, and CPU is what the kernel counted."""
    arm = arm_of(timely, "spin")
    profile = arm["profile_ns"]

    assert profile["cpu"] + profile["run_queue"] == pytest.approx(arm["profile_total_ns"], rel=0.05)
    assert sum(profile["waits"].values()) < 0.05 * arm["profile_total_ns"]


def test_a_held_row_lock_is_named(timely: dict[str, object]) -> None:
    """Two clients take turns with one row, so each waits half of its time for the other: whatever the machine does."""
    arm = arm_of(timely, "lock")
    waits = arm["profile_ns"]["waits"]
    locked = {name: ns for name, ns in waits.items() if name.startswith("Lock:")}

    assert set(locked) <= {"Lock:transactionid", "Lock:tuple"}
    assert sum(locked.values()) == pytest.approx(arm["profile_total_ns"] / 2, rel=0.05)
    assert waits["Timeout:PgSleep"] == pytest.approx(10e6, rel=0.05)


def test_think_time_is_not_response_time(timely: dict[str, object]) -> None:
    """The same spin with 20 ms between units: the pause is in no part of the profile."""
    spin, think = arm_of(timely, "spin"), arm_of(timely, "think")

    busy = think["profile_ns"]["cpu"] + think["profile_ns"]["run_queue"]
    assert busy == pytest.approx(think["profile_total_ns"], rel=0.1)
    assert think["profile_total_ns"] < spin["profile_total_ns"] + 10e6
    assert think["profile_ns"]["client_and_network"] < 2e6


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
def test_little_is_unaccounted(timely: dict[str, object], name: str) -> None:
    """At most 10 % of the response time, either way."""
    arm = arm_of(timely, name)

    assert abs(arm["profile_ns"]["unaccounted"]) <= 0.10 * arm["profile_total_ns"]
