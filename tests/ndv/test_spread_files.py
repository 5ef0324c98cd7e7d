"""Files counted on the workers of a cluster: the sketches of one pass, whatever becomes of a worker."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from called import Told, called

from dbdyno import engine
from dbdyno.errors import DynoError
from dbdyno.ndv.files import cluster as cluster_module
from dbdyno.ndv.files.plan import plan_files
from dbdyno.ndv.files.spread import count_spread
from dbdyno.ndv.sources import Files, recognise

FILES, ROWS = 100, 3000
CLUSTER = Path(__file__).parent.parent / "local_cluster.py"


def write_file(path: Path, number: int, **more: Any) -> None:
    """One of the parts: a key, few values, values that come with the rows, some of them NULL."""
    place = np.arange(number * ROWS, (number + 1) * ROWS)
    columns = {
        "id": place,
        "status": place % 7,
        "customer": pa.array(place // 3, mask=place % 10 == 0),
        "name": [f"name {one % 5000}" for one in place],
    }
    pq.write_table(pa.table({**columns, **more}), path)


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With the parts."""
    made = tmp_path_factory.mktemp("parts")
    for number in range(FILES):
        write_file(made / f"part-{number}.parquet", number)
    return made


@pytest.fixture
def cluster() -> Iterator[subprocess.Popen[str]]:
    """Somebody's, with four worker processes."""
    with subprocess.Popen(
        [sys.executable, CLUSTER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process
        if process.poll() is None:
            process.communicate("\n", timeout=60)


def files_in(directory: Path) -> Files:
    """As the command takes them."""
    found = recognise([str(directory)])
    assert isinstance(found, Files)
    return found


def ndv(*arguments: str | Path) -> Told:
    """The command on these arguments."""
    return called("ndv", *arguments)


def test_a_worker_that_is_killed_in_the_middle(directory: Path, cluster: subprocess.Popen[str]) -> None:
    """100 files on four processes, one of which gets SIGKILL: its parts are counted again, no byte is different."""
    assert cluster.stdin is not None
    assert cluster.stdout is not None
    address, *workers = cluster.stdout.readline().split()
    plan = plan_files(files_in(directory), None, ["status,customer"], 14)
    alone, sketches = engine.scan_files(plan.spec(plan.files.paths))
    done: list[Path] = []

    def watch(path: Path) -> None:
        done.append(path)
        if len(done) == FILES // 2:
            os.kill(int(workers[0]), signal.SIGKILL)

    outcome, spread = count_spread(plan, address, 1, watch)

    cluster.stdin.write("\n")
    cluster.stdin.flush()
    times = json.loads(cluster.stdout.readline())
    assert spread == sketches
    assert [outcome[key] for key in ("rows", "bytes", "not_counted")] == [
        alone[key] for key in ("rows", "bytes", "not_counted")
    ]
    for one, other in zip(
        (*outcome["columns"], *outcome["groups"]), (*alone["columns"], *alone["groups"]), strict=True
    ):
        assert {key: one[key] for key in ("name", "type", "nulls", "ndv", "exact")} == {
            key: other[key] for key in ("name", "type", "nulls", "ndv", "exact")
        }
    assert sum(times.values()) > len(times)  # some task came to its end more than once


def test_a_cluster_in_this_process(directory: Path, tmp_path: Path) -> None:
    """The default where there are several files and CPUs: the same sketches and figures, and growth by the files."""
    told = {workers: ndv(directory, "--workers", workers, "--json", "--out", tmp_path / workers) for workers in "14"}

    found = {workers: json.loads(one.stdout) for workers, one in told.items()}
    sketches = [(tmp_path / workers / "sketches.ndv").read_bytes() for workers in "14"]
    assert sketches[0] == sketches[1]
    assert [(one["column"], one["nulls"], one["ndv"]) for one in found["1"]["columns"]] == [
        (one["column"], one["nulls"], one["ndv"]) for one in found["4"]["columns"]
    ]
    assert (found["4"]["rows"], found["4"]["files"], found["4"]["table"]) == (FILES * ROWS, FILES, str(directory))
    customer = found["4"]["columns"][2]
    assert [point["rows"] for point in customer["growth"]["points"]] == [
        FILES * ROWS * tenth // 10 for tenth in range(1, 11)
    ]
    assert [(one["column"], one["growth"]["evidence"]) for one in found["4"]["columns"]] == [
        ("id", "unique"), ("status", "saturates"), ("customer", "grows"), ("name", "saturates"),
    ]  # fmt: skip
    assert told["4"].stderr == ""


def test_nothing_listens_and_nothing_is_left(tmp_path: Path) -> None:
    """Of a cluster in this process: neither a port that is open nor a file."""
    script = """
import os, sys, tempfile
import psutil
from dbdyno.ndv.files.cluster import connected
with connected(None, 3) as client:
    assert client.submit(sum, [1, 2]).result() == 3
    assert len(client.scheduler_info()["workers"]) == 3
    print([one.laddr for one in psutil.Process().net_connections("inet") if one.status == "LISTEN"])
    print(os.listdir(tempfile.gettempdir()))
"""
    environment = os.environ | {"TMPDIR": str(tmp_path)}

    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment)

    assert (told.stdout, told.stderr) == ("[]\n[]\n", "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_an_early_end_leaves_nothing(directory: Path, tmp_path: Path, number: signal.Signals) -> None:
    """Ctrl-C ends it soon, kill -9 at once; no process, no file, no directory."""
    many = tmp_path / "many"
    many.mkdir()
    for copy in range(4000):
        os.link(directory / "part-0.parquet", many / f"part-{copy}.parquet")
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    with subprocess.Popen(
        [sys.executable, "-m", "dbdyno", "ndv", many, "--workers", "2", "--out", tmp_path / "out"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"TMPDIR": str(temporary)},
        start_new_session=True,
    ) as process:
        _wait_for(lambda: (tmp_path / "out").exists())
        time.sleep(2)
        assert process.poll() is None
        began = time.monotonic()
        process.send_signal(number)
        stdout, stderr = process.communicate(timeout=30)

    assert time.monotonic() - began < 10
    assert list(temporary.iterdir()) == []
    assert not _processes_of(process.pid)
    assert stdout == ""
    if number == signal.SIGINT:
        assert (process.returncode, stderr) == (130, "dbdyno: interrupted\n")
        assert not (tmp_path / "out").exists()


@pytest.mark.nightly
def test_a_scheduler_that_is_killed(
    directory: Path, cluster: subprocess.Popen[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line; the run failed."""
    monkeypatch.setattr(cluster_module, "_CONNECT_LIMIT_S", 5)
    assert cluster.stdout is not None
    address, *_ = cluster.stdout.readline().split()
    plan = plan_files(files_in(directory), None, [], 14)
    done: list[Path] = []

    def watch(path: Path) -> None:
        done.append(path)
        if len(done) == 10:
            cluster.kill()

    with pytest.raises(DynoError, match=r"^--scheduler: the connection was lost") as told:
        count_spread(plan, address, 1, watch)

    assert (told.value.code, told.value.exit_code) == ("scheduler_lost", 1)


def test_files_that_are_no_one_table(tmp_path: Path) -> None:
    """One line that names the file and the column, whether they are counted here or by workers."""
    write_file(tmp_path / "a.parquet", 0)
    write_file(tmp_path / "b.parquet", 1, id=[str(one) for one in range(ROWS)])

    for workers in ("1", "2"):
        told = ndv(tmp_path, "--workers", workers, "--out", tmp_path / "out")

        assert (told.returncode, told.stdout, told.stderr.count("\n")) == (2, "", 1)
        assert "b.parquet" in told.stderr
        assert "column id" in told.stderr
        assert not (tmp_path / "out").exists()


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    """By a worker, too."""
    write_file(tmp_path / "a.parquet", 0)
    (tmp_path / "b.parquet").write_bytes((tmp_path / "a.parquet").read_bytes()[:-100])

    told = ndv(tmp_path, "--workers", "2", "--out", tmp_path / "out")

    assert (told.stdout, told.stderr.count("\n")) == ("", 1)
    assert told.stderr.startswith(f"dbdyno: {tmp_path / 'b.parquet'}: ")


def test_a_scheduler_that_is_not_there(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line with the address."""
    monkeypatch.setattr(cluster_module, "_CONNECT_LIMIT_S", 0.5)
    plan = plan_files(files_in(directory), None, [], 14)

    with pytest.raises(DynoError, match=r"--scheduler tcp://127\.0\.0\.1:1: cannot be reached") as told:
        count_spread(plan, "tcp://127.0.0.1:1", 1, lambda path: None)

    assert (told.value.code, told.value.exit_code) == ("no_scheduler", 2)


def _wait_for(condition: Any) -> None:
    ends = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < ends
        time.sleep(0.05)


def _processes_of(session: int) -> list[str]:
    """Those that belong to a session."""
    found = subprocess.run(["ps", "-o", "pid=", "-s", str(session)], capture_output=True, text=True, check=False)
    return found.stdout.split()
