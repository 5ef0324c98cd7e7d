"""`dbdyno calibrate --read-only`: files that are there, left as they are; and what is no such file."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dbdyno.calibration.existing_file import LEAST_BYTES, opened
from dbdyno.errors import DynoError
from dbdyno.probes.storage import find_storage

MIB = 1 << 20
COMMAND = [sys.executable, "-m", "dbdyno", "calibrate"]


def ended(*arguments: str | Path, before: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """The command, as a user runs it."""
    return subprocess.run(
        [*before, *COMMAND, *map(str, arguments)], capture_output=True, text=True, timeout=240, check=False
    )


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """A file of 20 MiB and a bit."""
    path = tmp_path / "written"
    path.write_bytes(os.urandom(20 * MIB + 8192))
    if find_storage(path).in_memory:
        pytest.skip("the tests' directory is in memory")
    return path


def refusal(*names: Path) -> tuple[str, str]:
    """Code and message of the refusal."""
    with pytest.raises(DynoError) as raised, opened(names):
        pass
    assert raised.value.exit_code == 2
    return raised.value.code, raised.value.message


def test_two_files_side_by_side(written: Path, tmp_path: Path) -> None:
    """One full, one half of holes: both as they were, nothing written, and the holes are told."""
    holes = tmp_path / "holes"
    holes.write_bytes(os.urandom(16 * MIB))
    os.truncate(holes, 32 * MIB)
    before = [(path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_blocks) for path in (written, holes)]

    told = ended("--read-only", written, "--read-only", holes, "--byte-budget", "4", "--out", tmp_path / "out")

    assert told.returncode == 0, told.stderr
    after = [(path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_blocks) for path in (written, holes)]
    assert after == before
    found = json.loads((tmp_path / "out" / "calibration.json").read_text())
    assert (found["bytes_written"], found["flush"], found["file_bytes"]) == (0, [], 32 * MIB)
    assert [(file["path"], file["bytes_"]) for file in found["files"]] == [
        (str(written), 20 * MIB),
        (str(holes), 32 * MIB),
    ]
    assert found["files"][0]["zero_share"] == 0
    assert found["files"][1]["zero_share"] > 0.5  # holes answer at once, so more of the reads meet them
    assert [third["first_byte"] % 8192 for file in found["files"] for third in file["thirds"]] == [0] * 6
    assert "zeros" in [verdict["code"] for verdict in found["verdicts"]]
    assert "writes nothing, measures for about" in told.stderr
    lines = told.stdout.splitlines()
    assert any(line.startswith("Per file: small random reads") for line in lines)
    assert f"All other figures are of {holes}, the largest." in " ".join(told.stdout.split())
    assert "No flush" in told.stdout


def test_it_is_only_ever_opened_for_reading(written: Path, tmp_path: Path) -> None:
    """Seen in its system calls; a device is looked at and not opened, not even for reading."""
    if shutil.which("strace") is None:
        pytest.skip("no strace")
    devices = [path for path in Path("/dev").glob("loop[0-9]") if path.is_block_device()]
    log = tmp_path / "calls"
    trace = ("strace", "-f", "-o", str(log), "-e", "trace=open,openat,openat2")

    told = ended("--read-only", written, "--byte-budget", "0.0625", "--out", tmp_path / "out", before=trace)
    if told.returncode and "ptrace" in told.stderr:
        pytest.skip("strace is not allowed here")

    assert told.returncode == 0, told.stderr
    opens = [line for line in log.read_text().splitlines() if str(written) in line]
    assert len(opens) == 1
    assert "O_PATH" in opens[0]
    again = [line for line in log.read_text().splitlines() if re.search(r'"/proc/self/fd/\d+"', line)]
    assert again
    assert [line for line in again if re.search("O_RDWR|O_WRONLY|O_CREAT|O_TRUNC", line)] == []

    for device in devices[:1]:
        assert ended("--read-only", device, before=trace).returncode == 2
        opens = [line for line in log.read_text().splitlines() if f'"{device}"' in line]
        assert opens
        assert all("O_PATH" in line for line in opens)


def test_what_is_no_file_to_measure_is_refused(written: Path, tmp_path: Path) -> None:
    """One line each, with what it is."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "small").write_bytes(b"x" * (LEAST_BYTES - 1))
    (tmp_path / "link").symlink_to("/dev/null")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket")) if len(str(tmp_path)) < 90 else (tmp_path / "socket").mkdir()
        refused = {name: refusal(tmp_path / name) for name in ("absent", "pipe", "socket", "small", "link")}

    assert {name: code for name, (code, _) in refused.items()} == {
        "absent": "no_file",
        "pipe": "no_regular_file",
        "socket": "no_regular_file",
        "small": "file_too_small",
        "link": "no_regular_file",
    }
    assert refusal(tmp_path) == ("no_regular_file", f"--read-only {tmp_path}: is a directory; name the files in it")
    assert refused["small"][1].endswith("has 16.0 MiB, 16 are needed; name a larger one")
    assert refused["link"][1].endswith("is a character device; name a regular file")
    assert refusal(written, tmp_path / "." / "written")[0] == "same_file"


def test_flags_that_do_not_go_with_it(written: Path, tmp_path: Path) -> None:
    """A directory to write into, or the size of a file that is made."""
    for more in ([tmp_path], ["--file-size", "1"]):
        told = ended(*more, "--read-only", written)
        assert told.returncode == 2
        assert "measures what is there; leave out" in told.stderr


def test_a_file_that_is_truncated_meanwhile_is_told_by_its_name(written: Path, tmp_path: Path) -> None:
    """Somebody else's TRUNCATE: exit code 1, one line, no number of a descriptor."""
    process = subprocess.Popen(
        [*COMMAND, "--read-only", str(written), "--out", str(tmp_path / "out")],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    process.stderr.readline()  # what it is about to do
    process.stderr.readline()  # that it does it
    os.truncate(written, MIB)
    _, stderr = process.communicate(timeout=120)

    assert process.returncode == 1
    assert stderr.splitlines()[-1].startswith(f"dbdyno: {written}: ")
    assert "/proc/self/fd" not in stderr


@pytest.mark.parametrize("delay_s", [0.5, 1.5])
def test_a_kill_leaves_the_file_and_nothing_else(written: Path, tmp_path: Path, delay_s: float) -> None:
    """kill -9 while it starts and while it reads."""
    before = written.read_bytes()
    process = subprocess.Popen(
        [*COMMAND, "--read-only", str(written), "--out", str(tmp_path / "out")],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    time.sleep(delay_s)
    process.send_signal(signal.SIGKILL)
    process.wait()

    assert written.read_bytes() == before
    assert {path.name for path in tmp_path.iterdir()} <= {"written", "out"}
    assert not (tmp_path / "out").exists() or list((tmp_path / "out").iterdir()) == []
