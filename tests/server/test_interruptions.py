"""kill -9 at random moments: nothing of ours stays, no trial is lost or doubled, the run can be finished."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from small_experiment import SMALL, command, trials_of, write_experiment

pytestmark = [pytest.mark.server, pytest.mark.timed]

KILLS = 20
GONE_LIMIT_S = 5.0


def our_processes(cache: Path) -> list[str]:
    """Command lines of servers whose data lies in `cache`."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if str(entry.joinpath("cwd").readlink()).startswith(str(cache)):
                    found.append(entry.joinpath("cmdline").read_text())
            except OSError:
                continue
    return found


def abandoned_memory() -> set[str]:
    """Shared memory that no process uses: System V segments by id, PostgreSQL's POSIX ones by name.

    Those of servers that others run on this machine are in use, and come and go.
    """
    rows = [line.split() for line in Path("/proc/sysvipc/shm").read_text().splitlines()[1:]]
    names = {path.name for path in Path("/dev/shm").glob("PostgreSQL.*")}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                maps = (entry / "maps").read_text()
            except OSError:
                continue
            names = {name for name in names if f"/dev/shm/{name}" not in maps}
    return {row[1] for row in rows if row[6] == "0"} | names


def sockets(cache: Path) -> list[Path]:
    """Sockets and their lock files below `cache`: a server that ends in order removes its own."""
    walked = os.walk(cache)  # which passes over directories that vanish meanwhile
    return [Path(where) / name for where, _, names in walked for name in names if name.startswith(".s.PGSQL.")]


@pytest.fixture
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A cache of this test's own, so that what is left in it is ours. The server's user must reach it."""
    cache = tmp_path_factory.mktemp("cache")
    for directory in (cache, *cache.parents):
        if directory.stat().st_uid == os.getuid() and directory != Path("/"):
            directory.chmod(directory.stat().st_mode | 0o711)
    return {**os.environ, "DBDYNO_CACHE_DIR": str(cache)}


@pytest.mark.nightly
def test_killed_at_random_moments(tmp_path: Path, environment: dict[str, str]) -> None:
    """20 kills, each followed by --resume; the last --resume finishes."""
    kill_and_resume(tmp_path, environment, KILLS, blocks=100, seed=20261120)


@pytest.mark.nightly
def test_killed_at_three_random_moments(tmp_path: Path, environment: dict[str, str]) -> None:
    """The short form of the proof."""
    kill_and_resume(tmp_path, environment, 3, blocks=25, seed=7)


def kill_and_resume(directory: Path, environment: dict[str, str], kills: int, blocks: int, seed: int) -> None:
    text = SMALL.replace("blocks = 6", f"blocks = {blocks}\nlooks = []")
    experiment = write_experiment(directory / "experiment", text)
    cache = Path(environment["DBDYNO_CACHE_DIR"])
    out = directory / "run"
    moments = random.Random(seed)
    memory_before = abandoned_memory()
    seen: list[dict[str, object]] = []

    def next_command() -> list[str]:
        """Go on, or begin where no kill came late enough for a first record."""
        begun = (out / "journal.jsonl").exists()
        return command("run", *(["--resume", out] if begun else [experiment, "--out", out, "--seed", 1]))

    for _ in range(kills):
        run = subprocess.Popen(next_command(), env=environment, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        time.sleep(moments.uniform(0.1, 5.0))
        run.send_signal(signal.SIGKILL)
        assert run.wait() == -signal.SIGKILL, "the run was over before the kill: give it more blocks"
        assert_gone(cache, memory_before)
        trials = trials_of_torn(out)
        assert trials[: len(seen)] == seen, "a recorded trial changed or was lost"
        seen = trials
        if out.exists() and not (out / "journal.jsonl").exists():
            shutil.rmtree(out)  # killed before the first record: nothing was measured

    done = subprocess.run(next_command(), env=environment, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr

    trials = trials_of(out)
    ok = [trial for trial in trials if trial["status"] == "ok"]
    assert trials[: len(seen)] == seen
    assert sorted((trial["block"], trial["arm"]) for trial in ok) == [
        (block, arm) for block in range(blocks) for arm in ("one", "two")
    ]


def trials_of_torn(out: Path) -> list[dict[str, object]]:
    """The whole trial records of a journal that may end in a torn line."""
    journal = out / "journal.jsonl"
    if not journal.exists():
        return []
    lines = journal.read_text().splitlines(keepends=True)
    records = [json.loads(line) for line in lines if line.endswith("\n")]
    return [record["body"] for record in records if record["kind"] == "trial"]


def assert_gone(cache: Path, memory_before: set[str]) -> None:
    """Within 5 s no server process, socket or abandoned shared memory is left."""
    limit = time.monotonic() + GONE_LIMIT_S
    while time.monotonic() < limit:
        if not our_processes(cache) and abandoned_memory() <= memory_before and not sockets(cache):
            return
        time.sleep(0.1)
    assert our_processes(cache) == []
    assert abandoned_memory() - memory_before == set()
    assert sockets(cache) == []


def test_ctrl_c_ends_in_order_and_can_be_resumed(tmp_path: Path, environment: dict[str, str]) -> None:
    """Exit code 130, one line, an `interrupted` record; the run goes on afterwards."""
    experiment = write_experiment(tmp_path / "experiment")
    out = tmp_path / "run"
    run = subprocess.Popen(
        command("run", experiment, "--out", out, "--seed", 1), env=environment, stderr=subprocess.PIPE, text=True
    )
    limit = time.monotonic() + 60
    while not trials_of_torn(out) and time.monotonic() < limit:
        time.sleep(0.02)
    run.send_signal(signal.SIGINT)
    _, messages = run.communicate(timeout=30)

    assert run.returncode == 130
    assert "Traceback" not in messages
    assert f"--resume {out}" in messages.splitlines()[-1]
    assert json.loads((out / "journal.jsonl").read_text().splitlines()[-1])["body"]["reason"] == "interrupted"

    subprocess.run(command("run", "--resume", out), env=environment, check=True, timeout=240, capture_output=True)

    assert len(trials_of(out)) == 12
