"""The storage through a database for real: a tiny table, what was counted, and that nothing is left behind."""

from __future__ import annotations

import dataclasses
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dbdyno.analysis.calibration.database.analyse import analyse
from dbdyno.analysis.calibration.database.findings import Database
from dbdyno.calibration.budget import MIB, MS
from dbdyno.calibration.database.budget import QUICK
from dbdyno.calibration.database.procedure import Devices, measure
from dbdyno.calibration.database.server import EMBEDDED, Wanted, remove_what_was_left
from dbdyno.calibration.own_file import OwnFile
from dbdyno.calibration.phases import SEGMENT_BYTES
from dbdyno.calibration.place import inspect
from dbdyno.calibration.storage import Storage
from dbdyno.errors import DynoError
from dbdyno.targets.account import server_account
from dbdyno.targets.embedded import EmbeddedServer

pytestmark = pytest.mark.server

TABLE_BYTES = 32 * MIB
# A window in which a lookup ends even where the storage stands still for a moment.
TINY = dataclasses.replace(
    QUICK, blocks=2, window_ns=250 * MS, sessions=(1, 4), committers=(1,), scanned_bytes=TABLE_BYTES // 2
)


class Patience:
    """A foreground that loses it after so many steps of the schedule, those of building the table left out."""

    def __init__(self, steps: int = 10**9) -> None:
        self.left = steps
        self.said: list[str] = []

    def begin(self, what: str, left_ns: int) -> None:
        """Count what is not building."""
        self.said.append(what)
        self.left -= "build" not in what

    def go_on(self) -> bool:
        """Until it is lost."""
        return self.left > 0


@pytest.fixture
def place(cache: Path) -> Iterator[Path]:
    """A directory on a disk that the server's account can enter."""
    directory = Path(tempfile.mkdtemp(prefix="dbdyno-test-place-", dir="/var/tmp"))
    directory.chmod(0o755)
    yield directory
    shutil.rmtree(directory)


def measured(wanted: Wanted, directory: Path, foreground: Patience | None = None) -> dict[str, Any]:
    """The record's `database`, without the phases that come before it."""
    try:
        where = inspect(directory, TABLE_BYTES)
    except DynoError as error:
        pytest.skip(error.message)
    with OwnFile(directory) as data, OwnFile(directory) as log:
        storages = []
        for own, bytes_ in ((data, TABLE_BYTES), (log, SEGMENT_BYTES)):
            storage = Storage.of_file(own.path, where.block_device, direct=where.direct, write=True, engine_name="auto")
            storage.fill(bytes_, 1, lambda: True)
            storages.append(storage)
        devices = Devices(storages[0], storages[1], where)
        return measure(wanted, devices, TINY, TABLE_BYTES, 1, foreground or Patience())


def findings(record: dict[str, Any]) -> Database:
    """What is concluded from it."""
    found = analyse(record, seed=1)
    assert found is not None
    return found


def shares(found: Database, arm: str) -> list[float | None]:
    """Of the reads by sessions: the part that came from the page cache; None where nobody counted it."""
    every = (one.page_cache_share for one in found.reads if one.arm == arm)
    return [None if share is None else share.estimate for share in every]


def test_an_embedded_server(place: Path) -> None:
    """Every level once a block by every arm; past the page cache nothing comes from it; the directory is empty."""
    record = measured(Wanted(EMBEDDED), place)
    found = findings(record)

    assert record["failed"] is None
    assert list(place.iterdir()) == []
    assert found.version.split(".")[0] >= "14"
    assert found.arms == ("buffered", "direct")
    for block in range(TINY.blocks):
        cells = [(cell["arm"], cell["kind"], cell["sessions"]) for cell in record["cells"] if cell["block"] == block]
        reading = [("reads", 1), ("reads", 4), ("scan", 1)]
        assert sorted(cells) == sorted(
            [(arm, *level) for arm in ("device", "buffered", "direct") for level in reading]
            + [("buffered", "commits", 1), ("device", "commits", 1)]
        )
    assert found.reads_counted_by == "processes"
    assert [(one.arm, one.sessions) for one in found.reads] == [(arm, n) for arm in found.arms for n in TINY.sessions]
    assert shares(found, "direct") == pytest.approx([0.0, 0.0], abs=0.05)
    assert [one.reads_per_lookup for one in found.reads] == pytest.approx([0.93] * 4, abs=0.08)
    cold = [cell["cold"]["resident_bytes"] for cell in record["cells"] if cell.get("cold")]
    assert cold == [0] * (3 * TINY.blocks)
    scanned = [sum(cell["pages"].values()) for cell in record["cells"] if cell["kind"] == "scan" and "pages" in cell]
    assert scanned == pytest.approx([TINY.scanned_bytes // 8192] * 4, rel=0.05)
    assert [one.commits_per_s.estimate > 1 for one in found.commits] == [True]


def test_a_server_of_somebody_else(place: Path) -> None:
    """A table that was just built is in the page cache, and the counters say so; the schema is gone afterwards."""
    with EmbeddedServer(settings={"shared_buffers": "4MB"}, data_dir=place) as theirs:
        record = measured(Wanted(theirs.endpoint.display(), allow_write=True), place)
        with theirs.connect() as session:
            left = session.execute("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'dbdyno%'").fetchall()
    found = findings(record)

    assert (record["failed"], left) == (None, [])
    assert (found.arms, [one.arm for one in found.left_out]) == (("buffered",), ["direct"])
    assert shares(found, "buffered") == pytest.approx([1.0, 1.0], abs=0.05)
    assert found.warnings == ()


def test_writing_must_be_allowed(place: Path) -> None:
    """One line, exit code 2, and nothing is made, neither there nor here."""
    url = "postgres://guest:do-not-show@127.0.0.1:1/lab"
    arguments = ["calibrate", str(place), "--target", url, "--out", str(place / "out")]

    ended = subprocess.run(
        [sys.executable, "-m", "dbdyno", *arguments], capture_output=True, text=True, timeout=60, check=False
    )

    assert (ended.returncode, ended.stderr.count("\n")) == (2, 1)
    assert "--target postgres://guest@127.0.0.1:1/lab" in ended.stderr
    assert "give --allow-write" in ended.stderr
    assert "do-not-show" not in ended.stderr + ended.stdout
    assert list(place.iterdir()) == []


def test_a_directory_that_the_server_cannot_enter(place: Path) -> None:
    """Told before anything is measured."""
    if server_account().uid == place.stat().st_uid:
        pytest.skip("the server runs under this very account")
    closed = place / "closed"
    closed.mkdir(mode=0o700)

    ended = subprocess.run(
        [sys.executable, "-m", "dbdyno", "calibrate", str(closed / "."), "--target", "embedded"],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip

    assert (ended.returncode, ended.stderr.count("\n")) == (2, 1)
    assert f"--target embedded: PATH {closed}" in ended.stderr
    assert list(closed.iterdir()) == []


def test_an_interruption_keeps_what_was_measured(place: Path) -> None:
    """Five cells, a server that is gone, an empty directory."""
    record = measured(Wanted(EMBEDDED), place, Patience(steps=5))

    assert (len(record["cells"]), record["failed"]) == (5, None)
    assert list(place.iterdir()) == []
    assert findings(record).blocks == 1


KILLED = """
import sys
sys.path.insert(0, {tests!r})
from pathlib import Path
import test_calibrate_database as tested
tested.measured(tested.Wanted("embedded"), Path({place!r}))
"""


def test_nothing_is_left_of_one_that_was_killed(place: Path) -> None:
    """What a kill -9 leaves goes at the next start in the same directory."""
    script = KILLED.format(tests=str(Path(__file__).parent), place=str(place))
    killed = subprocess.Popen([sys.executable, "-c", script])
    limit = time.monotonic() + 60
    while not list(place.glob("dbdyno-*/cluster/postmaster.pid")):
        assert time.monotonic() < limit
        assert killed.poll() is None
        time.sleep(0.05)
    time.sleep(1)
    killed.send_signal(signal.SIGKILL)
    killed.wait()

    assert list(place.glob("dbdyno-*"))
    remove_what_was_left(place)
    assert list(place.iterdir()) == []
