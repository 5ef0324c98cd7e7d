"""Around the watch: who may end it, what becomes of the stacks, and the record where there is no connection."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from fake_watch import FakeWatch

from dbdyno import _core
from dbdyno.attach.find import FoundServer
from dbdyno.attach.measure import Wish, measure
from dbdyno.errors import DynoError

SERVER = FoundServer("pid", "postgres-7", "process 7", 7, None, None, "no connection: nobody is admitted")
WISH = Wish(seconds=30.0, budget=0.02, route="auto", stacks=False)


class Watching:
    """A foreground that keeps the steps and does something at the second one."""

    def __init__(self, act: Callable[[], bool] = lambda: True) -> None:
        self.steps: list[Mapping[str, Any]] = []
        self._act = act

    def take_step(self, step: Mapping[str, Any]) -> None:
        """Keep it."""
        self.steps.append(step)

    def take_sessions(self, sessions: Sequence[object], blocking: Mapping[int, object]) -> None:
        """There is no connection."""

    def tick(self) -> bool:
        """Act once there are two steps."""
        return self._act() if len(self.steps) >= 2 else True


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> FakeWatch:
    """The engine's watch, of steps that take no time to speak of."""
    fake = FakeWatch(steps=40, step_s=0.02)
    monkeypatch.setattr(_core, "watch_server", fake, raising=False)
    return fake


def test_the_engine_is_asked_for_what_was_wished(watch: FakeWatch, tmp_path: Path) -> None:
    """And the record says why there are no sessions and no counters; every step reaches the foreground."""
    watch.steps = 3
    foreground = Watching()

    record = measure(SERVER, WISH, tmp_path / "s.parquet", foreground)

    assert watch.spec == {
        "target": None, "postmaster_pid": 7, "route": "auto", "period_ns": None, "budget": 0.02,
        "seconds_ns": 30_000_000_000, "step_ns": 1_000_000_000, "ignore_pids": [],
        "snapshots_path": str(tmp_path / "s.parquet"),
    }  # fmt: skip
    assert watch.password is None
    assert (record["watch"]["ended"], record["interrupted"], record["stacks"]) == ("time", False, None)
    assert record["sessions"]["note"] == SERVER.note
    assert {view["note"] for view in record["counters"].values()} == {"there is no connection"}
    assert record["server"]["cpus"] == len(os.sched_getaffinity(0))
    assert [step["step"] for step in foreground.steps] == [0, 1, 2]
    json.dumps(record, allow_nan=False)


def test_the_foreground_may_end_it(watch: FakeWatch, tmp_path: Path) -> None:
    """The key q."""
    record = measure(SERVER, WISH, tmp_path / "s.parquet", Watching(lambda: False))

    assert (record["watch"]["ended"], record["interrupted"]) == ("stopped", False)
    assert 2 <= len(record["watch"]["steps"]) < 40


def test_ctrl_c_ends_it_and_the_old_handler_is_back(watch: FakeWatch, tmp_path: Path) -> None:
    """What was seen is in the record."""
    handler = signal.getsignal(signal.SIGINT)
    sent: list[int] = []

    def interrupt() -> bool:
        if not sent:
            sent.append(1)
            os.kill(os.getpid(), signal.SIGINT)
        return True

    record = measure(SERVER, WISH, tmp_path / "s.parquet", Watching(interrupt))

    assert (record["watch"]["ended"], record["interrupted"]) == ("stopped", True)
    assert signal.getsignal(signal.SIGINT) == handler


def test_a_second_ctrl_c_gives_up(watch: FakeWatch, tmp_path: Path) -> None:
    """The watch is over before the exception leaves."""

    def interrupt() -> bool:
        os.kill(os.getpid(), signal.SIGINT)
        return True

    with pytest.raises(KeyboardInterrupt):
        measure(SERVER, WISH, tmp_path / "s.parquet", Watching(interrupt))
    assert (tmp_path / "s.parquet").exists()


def test_a_foreground_that_fails_ends_the_watch(watch: FakeWatch, tmp_path: Path) -> None:
    """Its error is what the caller sees."""

    def fail() -> bool:
        raise RuntimeError("no terminal any more")

    with pytest.raises(RuntimeError, match="no terminal any more"):
        measure(SERVER, WISH, tmp_path / "s.parquet", Watching(fail))


def test_without_rights_and_connection_both_ways_in_are_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The engine's reason, and what to do; exit code 2."""

    def refuse(spec: str, password: str | None, live: object) -> str:
        raise _core.CoreError("unsupported_server", "route: mapped: permission denied")

    monkeypatch.setattr(_core, "watch_server", refuse, raising=False)
    with pytest.raises(DynoError) as raised:
        measure(SERVER, WISH, tmp_path / "s.parquet", Watching())

    assert raised.value.exit_code == 2
    assert raised.value.message == (
        "process 7: route: mapped: permission denied; run as the server's account or as root, or give --as-url"
    )


def test_stacks_end_with_the_watch_and_may_fail_alone(
    watch: FakeWatch, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """They are asked for the same time; where there are none a note says why, and the profile stands."""
    watch.steps = 3
    asked: list[dict[str, Any]] = []

    def record_stacks(spec: str, go_on: Callable[[], bool]) -> str:
        asked.append(json.loads(spec))
        while go_on():
            pass
        return json.dumps({"format": 1, "frames": ["main"]})

    def refuse(spec: str, go_on: Callable[[], bool]) -> str:
        raise _core.CoreError("stacks", "perf is not installed")

    wish = Wish(seconds=30.0, budget=0.02, route="auto", stacks=True)
    monkeypatch.setattr(_core, "record_stacks", record_stacks, raising=False)
    record = measure(SERVER, wish, tmp_path / "s.parquet", Watching())
    assert record["stacks"]["frames"] == ["main"]
    assert asked == [
        {"pids": None, "postmaster_pid": 7, "seconds_ns": 30_000_000_000, "frequency_hz": 99, "route": "auto"}
    ]

    monkeypatch.setattr(_core, "record_stacks", refuse, raising=False)
    record = measure(SERVER, wish, tmp_path / "s.parquet", Watching())
    assert (record["stacks"]["route"], record["stacks"]["note"]) == (None, "perf is not installed")
