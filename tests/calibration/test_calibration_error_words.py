"""What stands in the way of a calibration, for real: what is printed, and the exit code or what it falls back to.

File systems are mounted in a mount namespace of the child's own, so nobody else sees them.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dbdyno.calibration.existing_file import opened
from dbdyno.calibration.place import inspect
from dbdyno.errors import DynoError
from dbdyno.probes.storage import find_storage, mount_of

HERE = Path(__file__).parent
SMALL = ("--file-size", "0.0625", "--byte-budget", "0.25")
Ended = subprocess.CompletedProcess[str]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """An empty directory on a disk."""
    if find_storage(tmp_path).in_memory:
        pytest.skip("the tests' directory is in memory")
    directory = tmp_path / "place"
    directory.mkdir()
    return directory


def calibrated(
    place: Path, *more: str, by: tuple[str, ...] = (sys.executable, "-m", "dbdyno"), before: tuple[str, ...] = ()
) -> Ended:
    """The command on a small file, with `before` in front of it."""
    out = ("--out", str(place.parent / "out"), "--json")
    return subprocess.run(
        [*before, *by, "calibrate", str(place), *SMALL, *out, *more],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def mounted(mount: str, place: Path, *more: str) -> Ended:
    """The command beneath a mount of its own, where we may make one."""
    if os.geteuid() != 0:
        pytest.skip("mounting needs root")
    marker = "mounted for the test"
    script = f'{mount} && echo "{marker}" >&2 && exec "$@"'
    told = calibrated(place, *more, before=("unshare", "-m", "sh", "-c", script, "sh"))
    if marker not in told.stderr:
        pytest.skip(f"this cannot be mounted here: {told.stderr.strip()}")
    return subprocess.CompletedProcess(told.args, told.returncode, told.stdout, told.stderr.replace(f"{marker}\n", ""))


def image(path: Path, mebibytes: int) -> Path:
    """An empty ext4 in a file."""
    if shutil.which("mkfs.ext4") is None:
        pytest.skip("no mkfs.ext4")
    with path.open("wb") as file:
        file.truncate(mebibytes << 20)
    subprocess.run(["mkfs.ext4", "-q", "-F", path], check=True)
    return path


def refused(told: Ended, words: str) -> None:
    """One line, exit code 2, no directory of results."""
    assert told.returncode == 2, told.stderr
    assert words in told.stderr.splitlines()[-1]
    assert told.stdout == ""
    out = Path(told.args[told.args.index("--out") + 1])
    assert not out.exists()


def warned(told: Ended) -> list[str]:
    """The codes of what limits the figures of a calibration that was made."""
    assert told.returncode == 0, told.stderr
    return [warning["code"] for warning in json.loads(told.stdout)["warnings"]]


def test_memory() -> None:
    """tmpfs is no storage."""
    if not Path("/dev/shm").is_dir() or not find_storage(Path("/dev/shm")).in_memory:
        pytest.skip("no tmpfs at /dev/shm")

    with pytest.raises(DynoError) as raised:
        inspect(Path("/dev/shm"), 1 << 20)

    assert raised.value.exit_code == 2
    assert raised.value.message == "/dev/shm: is on tmpfs, which is memory; name a directory on a disk"


def test_a_file_system_that_keeps_no_files() -> None:
    """/proc, which is not 100 % full."""
    with pytest.raises(DynoError, match="/proc: its file system keeps no files; name a directory on a disk"):
        inspect(Path("/proc"), 1 << 20)


def test_mounted_read_only(place: Path) -> None:
    """A bind mount; what is there can be measured all the same."""
    told = mounted(f"mount --bind {place} {place} && mount -o remount,bind,ro {place}", place)

    refused(told, f"{place}: is mounted read-only; --read-only FILE measures a file that is there")


def test_too_little_space(place: Path, tmp_path: Path) -> None:
    """A file system of 100 MiB: less than three times the file."""
    told = mounted(f"mount -o loop {image(tmp_path / 'image', 100)} {place}", place)

    refused(told, "GiB free, 0.2 are wanted (3 times the file); give a smaller one with --file-size")


def test_nearly_full(place: Path, tmp_path: Path) -> None:
    """Space for three times the file, and more than nine tenths in use."""
    fill = f"fallocate -l 3300M {place}/others"
    told = mounted(f"mount -o loop {image(tmp_path / 'image', 4000)} {place} && {fill}", place)

    refused(told, "% full; above 90% we do not write")


def test_an_overlay_is_measured_and_said(place: Path, tmp_path: Path) -> None:
    """A container's layers."""
    for name in ("lower", "upper", "work"):
        (tmp_path / name).mkdir()
    options = f"lowerdir={tmp_path}/lower,upperdir={tmp_path}/upper,workdir={tmp_path}/work"
    told = mounted(f"mount -t overlay overlay -o {options} {place}", place)

    assert "overlay" in warned(told)
    assert list((tmp_path / "upper").iterdir()) == []


def test_without_direct_io_it_goes_through_the_page_cache_and_says_so(place: Path, tmp_path: Path) -> None:
    """ext4 that journals data takes the flag and does not do it; the kernel says so from 6.1 on."""
    told = mounted(f"mount -o loop,data=journal {image(tmp_path / 'image', 300)} {place}", place)
    if tuple(map(int, os.uname().release.split(".")[:2])) < (6, 1):
        pytest.skip("this kernel does not say")

    assert "no_direct_io" in warned(told)
    assert json.loads(told.stdout)["inventory"]["direct"] is False


def test_where_io_uring_is_forbidden_threads_do_it(place: Path) -> None:
    """A seccomp filter, as of containers: said in the report; asked for by name it is refused."""
    by = (sys.executable, str(HERE / "without_io_uring.py"))
    told = calibrated(place, by=by)
    if "no seccomp filter" in told.stderr:
        pytest.skip("no seccomp here")

    assert "no_io_uring" in warned(told)
    assert json.loads(told.stdout)["engine"] == "threads"
    shutil.rmtree(place.parent / "out")
    refused(calibrated(place, "--engine", "io_uring", by=by), "io_uring: Operation not permitted (os error 1); use")
    assert list(place.iterdir()) == []


def test_where_too_little_memory_may_be_locked_threads_do_it(place: Path) -> None:
    """64 KiB, as on older systems: enough for one read, and found out before anything is measured."""
    before = ("prlimit", "--memlock=65536:65536")
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("no setpriv to give up CAP_IPC_LOCK")
        before += ("setpriv", "--bounding-set", "-ipc_lock", "--inh-caps", "-ipc_lock")
    told = calibrated(place, before=before)
    if json.loads(told.stdout or "{}").get("engine") == "io_uring":
        pytest.skip("this kernel does not count what io_uring locks")

    assert "no_io_uring" in warned(told)
    shutil.rmtree(place.parent / "out")
    words = "its buffers take 8 MiB of locked memory, ulimit -l allows 0.0625; raise it, or use threads"
    refused(calibrated(place, "--engine", "io_uring", before=before), words)


def test_a_limit_of_file_sizes(place: Path) -> None:
    """ulimit -f, like a quota: told before it is measured."""
    before = ("prlimit", f"--fsize={10 << 20}:{resource.getrlimit(resource.RLIMIT_FSIZE)[1]}")

    refused(calibrated(place, before=before), f"{place}: File too large; give a smaller file with --file-size")


@pytest.mark.parametrize(
    ("call", "injected"),
    [
        ("fallocate", "fallocate:error=ENOSPC"),  # somebody was faster
        ("pwrite64", "pwrite64:error=ENOSPC:when=30+"),  # in the middle of filling, as on a thin volume
        ("pwrite64", "pwrite64:error=EDQUOT:when=30+"),
    ],
)
def test_space_that_runs_out_although_it_was_there(place: Path, call: str, injected: str) -> None:
    """The error is put into the system call."""
    if shutil.which("strace") is None:
        pytest.skip("no strace")
    before = ("strace", "-f", "-o", "/dev/null", "-e", f"trace={call}", "-e", f"inject={injected}")
    told = calibrated(place, before=before)
    if "ptrace" in told.stderr:
        pytest.skip("strace is not allowed here")

    refused(told, "; give a smaller file with --file-size")
    assert f"{place}: " in told.stderr.splitlines()[-1]
    assert list(place.iterdir()) == []


def as_nobody(call: Callable[[], tuple[str, str]]) -> tuple[str, str]:
    """What a call says under another uid."""
    if os.geteuid() != 0:
        pytest.skip("only root can be somebody else")
    reader, writer = os.pipe()
    if os.fork() == 0:
        os.setgroups([])
        os.setresuid(65534, 65534, 65534)
        os.write(writer, json.dumps(call()).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as results:
        said = results.read()
    os.wait()
    code, message = json.loads(said)
    return code, message


def test_no_rights() -> None:
    """A directory of root's, which others may read and not write into; and a file that they may not read."""
    place = Path("/usr")

    def say() -> tuple[str, str]:
        try:
            inspect(place, 1 << 20)
        except DynoError as error:
            return error.code, error.message
        return "", ""

    def say_of_a_file() -> tuple[str, str]:
        try:
            with opened([Path("/etc/shadow")]):
                pass
        except DynoError as error:
            return error.code, error.message
        return "", ""

    assert as_nobody(say) == ("no_rights", f"{place}: we may not write there; name another, or run as its owner")
    assert as_nobody(say_of_a_file) == (
        "unreadable",
        "--read-only /etc/shadow: cannot be read: Permission denied; run as its owner",
    )


@pytest.mark.parametrize("file_system", ["nfs4", "cifs", "ceph", "9p", "virtiofs", "fuse.sshfs"])
def test_a_network_file_system_is_known_by_the_kernels_word(file_system: str) -> None:
    """None can be mounted here: the kernel's list of mounts, as it would be."""
    mountinfo = (
        "22 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n"
        f"40 22 0:44 / /mnt/data rw,relatime shared:2 - {file_system} filer:/export rw,vers=4.2\n"
    )
    mount = mount_of(Path("/mnt/data/postgres"), mountinfo)
    storage = find_storage(Path("/"))

    found = type(storage)(mount.file_system, mount.source, None, mount.options)

    assert (mount.file_system, mount.source) == (file_system, "filer:/export")
    assert found.on_network
    assert not find_storage(Path("/proc")).on_network
