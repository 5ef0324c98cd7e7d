"""Plain reads and writes: all bytes once, the outcome of a trial, and an account of the time that adds up."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from dbdyno.design.file_work import FileWork
from dbdyno.errors import DynoError
from dbdyno.runner import plain_io
from dbdyno.targets.target import Target

MIB = 1 << 20
BYTES = 2 * MIB + 8192  # the last request is a short one


class OneRelation:
    """A server whose only table lies in two files of these paths."""

    def __init__(self, directory: Path) -> None:
        self.data_directory = directory
        for name, size in (("16384", MIB), ("16384.1", BYTES - MIB)):
            (directory / name).write_bytes(os.urandom(size))

    @contextmanager
    def connect(self) -> Iterator[Any]:
        """Whatever is asked, it answers where that table is."""
        yield self

    def execute(self, _: str, names: list[str]) -> OneRelation:
        self._known = names == ["web_returns"]
        return self

    def fetchone(self) -> tuple[str, str | None]:
        return str(self.data_directory), "16384" if self._known else None


def work(**changes: Any) -> FileWork:
    """A buffered read of the table in order, unless changed."""
    as_it_is = {"relation": "web_returns", "access": "read", "order": "sequential", "request_bytes": MIB}
    return FileWork(**{**as_it_is, "open": "buffered", **changes})


def done(directory: Path, what: FileWork, units: int = 1) -> tuple[dict[str, Any], dict[str, Any]]:
    """Outcome and record."""
    target = cast("Target", OneRelation(directory))
    with plain_io.opened(target, what, units, seed=1) as opened:
        return opened.run(), opened.record()


@pytest.mark.parametrize(("access", "how"), [("read", "buffered"), ("write", "buffered"), ("write", "synchronous")])
def test_a_unit_is_all_bytes_of_the_relation(tmp_path: Path, access: str, how: str) -> None:
    """Of both files; as many are written, and nothing is left of them."""
    outcome, record = done(tmp_path, work(access=access, open=how), units=3)

    assert (outcome["units"]["successful"], outcome["fixed_units"]) == (3, 3)
    assert (record["bytes"], record["file_bytes"]) == (3 * BYTES, BYTES)
    assert outcome["throughput_per_s"] == 3 / outcome["elapsed_ns"] * 1e9
    assert sorted(path.name for path in tmp_path.iterdir()) == ["16384", "16384.1"]


def test_what_was_read_is_in_the_page_cache_and_was_not_read_again(tmp_path: Path) -> None:
    """The files have just been written: no byte comes from the storage."""
    _, record = done(tmp_path, work())

    assert record["read_bytes"] == 0
    assert record["resident_bytes_before"] == record["resident_bytes_after"] == BYTES


def test_random_requests_go_to_as_many_places_once_each(tmp_path: Path) -> None:
    """A unit is one of them."""
    outcome, record = done(tmp_path, work(order="random", request_bytes=8192), units=BYTES // 8192)

    assert outcome["units"]["successful"] == BYTES // 8192
    assert record["bytes"] == BYTES


def test_the_parts_of_the_time_add_up(tmp_path: Path) -> None:
    """CPU and run queue by the thread's clocks, sleep in the one call that there is, and a signed remainder."""
    profile = done(tmp_path, work(access="write", open="synchronous"))[0]["profile"]

    assert set(profile["waits_ns"]) <= {"IO:pwritev"}
    named = profile["cpu_ns"] + profile["run_queue_ns"] + sum(profile["waits_ns"].values())
    assert named + profile["unaccounted_ns"] == profile["total_ns"]
    assert profile["cpu_ns"] > 0


@pytest.mark.parametrize(
    ("changes", "units", "said"),
    [
        ({"relation": "orders"}, 1, "file.relation = 'orders': there is no such table"),
        ({"order": "random"}, 4, "has 3 places of 1048576 bytes, and 4 are to be read once each"),
    ],
)
def test_what_cannot_be_done_is_said(tmp_path: Path, changes: dict[str, Any], units: int, said: str) -> None:
    """With the key, and what to do."""
    with pytest.raises(DynoError) as caught:
        done(tmp_path, work(**changes), units)

    assert said in caught.value.message
    assert caught.value.exit_code == 1


def test_a_file_that_became_shorter_is_no_result(tmp_path: Path) -> None:
    """A request that is cut short ends the trial."""
    target = cast("Target", OneRelation(tmp_path))
    with plain_io.opened(target, work(), 1, seed=1) as opened:
        os.truncate(tmp_path / "16384", 5)
        with pytest.raises(DynoError, match="preadv: 5 of 1048576 bytes at 0"):
            opened.run()
