"""Stacks of backends: they reach their root, name the plan's nodes, and the server goes on whatever becomes of us."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from query_stacks import busy, session, share_with
from small_experiment import arm_of, command, run_experiment, write_experiment

from dbdyno import engine
from dbdyno.errors import DynoError
from dbdyno.targets.account import server_account
from dbdyno.targets.embedded import EmbeddedServer

pytestmark = [pytest.mark.server, pytest.mark.timed]

RECORD = "import json, sys; from dbdyno import _core; print(_core.record_stacks(sys.argv[1]))"


def spec(server: EmbeddedServer, pid: int, **changes: Any) -> dict[str, Any]:
    """A second of one backend."""
    base = {"pids": [pid], "postmaster_pid": server.postmaster_pid, "seconds_ns": 1_000_000_000, "frequency_hz": 199}
    return {**base, **changes}


@pytest.mark.parametrize("route", ["perf", "stop"])
def test_stacks_of_a_query_reach_their_root_and_name_its_nodes(server: EmbeddedServer, route: str) -> None:
    """Seq scan, hash join and sort are found by both routes, 95 % of the stacks from PostgresMain on."""
    with busy(server) as pid:
        record = engine.record_stacks(spec(server, pid, route=route))

    if record["route"] is None:
        pytest.skip(record["note"])
    assert record["route"] == route
    assert share_with(record, "cpu", "PostgresMain") >= 0.95
    assert share_with(record, "cpu", "[cut]") <= 0.05
    assert share_with(record, "cpu", "ExecHashJoin") > 0.2
    assert share_with(record, "cpu", "ExecSort", "tuplesort_puttupleslot", "tuplesort_performsort") > 0.1
    assert share_with(record, "cpu", "heap_getnextslot", "SeqNext", "ExecSeqScan", "ExecSeqScanWithQualProject") > 0.01
    # A process that has not stopped in time goes on without its stack; that is rare, also on a busy host.
    assert record["lost"] <= 0.03 * sum(count for *_, count in record["stacks"])
    assert (record["pause_ns"] is not None) == (route == "stop")


def test_a_sleeping_backend_is_seen_where_it_sleeps_and_in_which_event(server: EmbeddedServer) -> None:
    """A wait stack ends in the C library's wait, carries the wait event, and costs no stop."""
    with session(server) as idle:
        record = engine.record_stacks(spec(server, idle.info.backend_pid, seconds_ns=300_000_000))

    waits = [(event, [record["frames"][at] for at in frames]) for _, _, event, frames, _ in record["stacks"]]
    assert [event for event, _ in waits] == ["Client:ClientRead"]
    functions = waits[0][1]
    assert functions[-1] == "epoll_wait"
    assert functions.index("PostgresMain") < functions.index("secure_read") < functions.index("WaitEventSetWait")


def test_all_processes_of_a_server_are_followed(server: EmbeddedServer) -> None:
    """Without process ids: background processes too, and a backend that comes while we record."""
    arguments = json.dumps(spec(server, 0, pids=None, seconds_ns=1_500_000_000))
    recorder = subprocess.Popen([sys.executable, "-c", RECORD, arguments], stdout=subprocess.PIPE, text=True)
    time.sleep(0.5)
    with session(server) as late:
        pid = late.info.backend_pid
        output, _ = recorder.communicate(timeout=60)
    record = json.loads(output)

    assert pid in {stack[0] for stack in record["stacks"]}
    assert share_with(record, "wait", "CheckpointerMain") > 0


@pytest.mark.parametrize("route", ["perf", "stop"])
def test_the_backend_goes_on_when_the_recorder_is_killed(server: EmbeddedServer, route: str) -> None:
    """kill -9 at any moment: the backend is neither stopped nor traced, and works on."""
    with busy(server) as pid:
        for delay_s in (0.35, 0.405, 0.5):
            arguments = json.dumps(spec(server, pid, route=route, seconds_ns=60_000_000_000, frequency_hz=5000))
            recorder = subprocess.Popen([sys.executable, "-c", RECORD, arguments], stdout=subprocess.DEVNULL)
            time.sleep(delay_s)
            recorder.kill()
            recorder.wait()
            assert_untouched(pid)


def test_the_backend_goes_on_when_the_tracer_is_killed(server: EmbeddedServer) -> None:
    """The same for the tracing of system calls, in which the process stands most of the time."""
    program = "import sys; from dbdyno import _core; _core.trace_calls(sys.argv[1])"
    with busy(server) as pid:
        arguments = json.dumps({"pid": pid, "seconds_ns": 60_000_000_000, "calls": 10**9})
        tracer = subprocess.Popen([sys.executable, "-c", program, arguments])
        time.sleep(0.5)
        tracer.kill()
        tracer.wait()
        assert_untouched(pid)


def assert_untouched(pid: int) -> None:
    """Runs or sleeps, nobody traces it, and it uses CPU time."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    assert fields["TracerPid"] == "0"
    assert fields["State"][0] in "RSD", fields["State"]
    before = cpu_ns(pid)
    deadline = time.monotonic() + 10
    while cpu_ns(pid) == before:
        assert time.monotonic() < deadline, "the backend does nothing any more"
        time.sleep(0.05)


def cpu_ns(pid: int) -> int:
    """Its time on a CPU."""
    return int(Path(f"/proc/{pid}/schedstat").read_text(encoding="utf-8").split()[0])


def test_an_ordinary_user_sees_its_own_server(server: EmbeddedServer) -> None:
    """As the account of the server, without any capability: stacks of both kinds."""
    account = server_account()
    drop = (
        f"import os; os.setgroups([]); os.setgid({account.gid}); os.setuid({account.uid}); " if account.changes else ""
    )
    with busy(server) as pid:
        done = subprocess.run(
            [sys.executable, "-c", RECORD.replace("print", drop + "print"), json.dumps(spec(server, pid))],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    if record["route"] is None:
        pytest.skip(record["note"])
    assert share_with(record, "cpu", "ExecHashJoin") > 0.2
    assert share_with(record, "cpu", "[cut]") <= 0.05
    paranoid = int(Path("/proc/sys/kernel/perf_event_paranoid").read_text(encoding="utf-8"))
    if record["route"] == "perf" and paranoid >= 2:
        assert record["kernel"]["seen"] is False
        assert "no stacks of time in the kernel" in record["note"]


def test_system_calls_of_a_backend(server: EmbeddedServer) -> None:
    """What a backend asks the kernel for: counts, bytes, times, and the file behind each descriptor."""
    with busy(server, "SELECT 1") as pid:
        record = engine.trace_calls({"pid": pid, "calls": 200, "seconds_ns": 5_000_000_000})

    calls = {call["call"]: call for call in record["calls"]}
    assert record["ended"] == "calls"
    assert calls["recv"]["count"] > 10
    assert calls["send"]["bytes"] > 0
    assert calls["send"]["files"][0]["file"].startswith("socket:")
    assert 0 < record["held_ns"] < record["elapsed_ns"]


COMMITS = """
question = "Where does a commit wait?"
baseline = { load = "commit" }
[workload]
schema = "one.sql"
[design]
blocks = 1
reset = []
warm_up = "100 ms"
window = "1 s"
[factors.load]
commit = { script = "commit.sql", clients = 1, set = { synchronous_commit = "on" } }
"""
FILES = {
    "one.sql": "CREATE TABLE one (id int PRIMARY KEY, n int) WITH (fillfactor = 10);\nINSERT INTO one VALUES (1, 0);\n",
    "commit.sql": "UPDATE one SET n = n + 1 WHERE id = 1;\n",
}


def test_the_widest_wait_of_a_commit_bound_load_is_the_flush(tmp_path: Path) -> None:
    """`run --stacks`: the graph adds up to the profile, and its widest wait leaf is IO:WalSync beneath XLogFlush."""
    findings = run_experiment(write_experiment(tmp_path, COMMITS, FILES), tmp_path / "run", "--stacks")

    arm = arm_of(findings, "commit")
    stacks = arm["stacks"]
    named = [([stacks["frames"][at] for at in frames], us) for frames, us in stacks["widths"]]
    waits = [(frames, us) for frames, us in named if ":" in frames[-1] and not frames[-1].startswith("Client:")]
    leaves: dict[str, int] = {}
    for frames, us in waits:
        leaves[frames[-1]] = leaves.get(frames[-1], 0) + us
    assert max(leaves, key=leaves.__getitem__) == "IO:WalSync"
    assert all("XLogFlush" in frames for frames, us in waits if frames[-1] == "IO:WalSync" and us > 10_000)
    parts = arm["profile_ns"]
    drawn_ns = sum(ns for part, ns in parts.items() if part not in ("waits",) and ns and ns > 0)
    drawn_ns += sum(parts["waits"].values())
    units = arm["units"]["successful"] + arm["units"]["failed"]
    assert sum(us for _, us in named) == stacks["total_us"] == round(drawn_ns * units / 1e3)


def test_a_process_that_is_not_there_is_said() -> None:
    """A wrong process id for the tracing of calls is one line with what was seen."""
    with pytest.raises(DynoError, match=f"--syscalls {2**22 - 1}: no such process"):
        engine.trace_calls({"pid": 2**22 - 1})


def test_a_profile_of_a_server_with_stacks_and_system_calls(server: EmbeddedServer, tmp_path: Path) -> None:
    """`dbdyno profile --stacks --syscalls`: the stacks are as wide as the database time, the calls stand below."""
    with busy(server) as pid:
        arguments = [
            server.postmaster_pid,
            "--seconds",
            3,
            "--stacks",
            "--syscalls",
            pid,
            "--out",
            tmp_path / "profile",
        ]
        done = subprocess.run(command("profile", *arguments), capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "profile" / "profile.json").read_text(encoding="utf-8"))

    times = found["stacks"]
    parts = {**found["profile_ns"], **found["profile_ns"]["waits"]}
    drawn_ns = sum(ns for part, ns in parts.items() if part != "waits" and ns is not None and ns > 0)
    assert sum(us for _, us in times["widths"]) == times["total_us"] == round(drawn_ns / 1e3)
    assert "ExecHashJoin" in times["frames"]
    assert f"System calls of process {pid}" in done.stdout
    assert "ExecHashJoin" in done.stdout or "ExecScanHashBucket" in done.stdout
    assert "section-stacks" in (tmp_path / "profile" / "profile.html").read_text(encoding="utf-8")


def test_only_processes_of_the_profiled_server_are_traced(server: EmbeddedServer) -> None:
    """A process of somebody else is refused before anything is watched."""
    arguments = [server.postmaster_pid, "--seconds", 1, "--syscalls", 1]
    done = subprocess.run(command("profile", *arguments), capture_output=True, text=True, timeout=60, check=False)

    assert done.returncode == 2
    assert "--syscalls 1: is no process of" in done.stderr
